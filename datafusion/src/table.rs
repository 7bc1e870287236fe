//! A table of assetq as a table of DataFusion.

use crate::external;
use crate::pushdown::{Condition, condition, is_about_files};
use crate::scan::AssetScan;
use crate::source::{Request, Source};
use assetq::table::filter::Bound;
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, AsArray as _, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// A table of a file, or of all files of a pattern.
#[derive(Debug)]
pub struct AssetTable {
    source: Arc<Source>,
}

impl AssetTable {
    pub(crate) fn new(source: Source) -> Self {
        Self { source: Arc::new(source) }
    }

    /// For each file, whether its rows may satisfy conditions that are about files only. DataFusion decides them.
    fn wanted_files(&self, state: &dyn Session, conditions: &[&Expr]) -> Result<Option<Vec<bool>>> {
        if conditions.is_empty() {
            return Ok(None);
        }
        let cells = self.source.common_cells().map_err(external)?;
        let common = self.source.common_columns().len();
        let schema: SchemaRef =
            Arc::new(Schema::new(self.source.schema().fields().iter().take(common).cloned().collect::<Vec<_>>()));
        let columns = cells.into_iter().map(|cells| Arc::new(StringArray::from(cells)) as ArrayRef).collect();
        let files = RecordBatch::try_new(Arc::clone(&schema), columns)?;
        let schema = DFSchema::try_from(schema)?;
        let mut wanted = vec![true; files.num_rows()];
        for condition in conditions {
            let holds = state.create_physical_expr((*condition).clone(), &schema)?.evaluate(&files)?;
            let holds = cast(&holds.into_array(files.num_rows())?, &DataType::Boolean)?;
            for (wanted, holds) in wanted.iter_mut().zip(holds.as_boolean()) {
                *wanted &= holds == Some(true);
            }
        }
        Ok(Some(wanted))
    }
}

#[async_trait]
impl TableProvider for AssetTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.source.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match condition(filter, self.source.columns()) {
            _ if is_about_files(filter, self.source.common_columns()) => TableProviderFilterPushDown::Exact,
            Some(Condition { is_exact: true, .. }) => TableProviderFilterPushDown::Exact,
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let source = &self.source;
        let (of_files, of_rows): (Vec<&Expr>, Vec<&Expr>) =
            filters.iter().partition(|filter| is_about_files(filter, source.common_columns()));
        let wanted = self.wanted_files(state, &of_files)?;
        let bounds = of_rows.iter().filter_map(|filter| condition(filter, source.columns())).map(|known| known.bound);
        let bound = Bound::And(bounds.collect());
        let all: Vec<usize> = (0..source.columns().len()).collect();
        let projection = projection.unwrap_or(&all).clone();
        let mut columns = projection.clone();
        for named in of_rows.iter().flat_map(|filter| filter.column_refs()) {
            let column = source.columns().iter().position(|column| *column.name == *named.name);
            columns.extend(column.filter(|column| !columns.contains(column)));
        }
        let request = Request { columns, bound, limit };
        // Large files are opened to divide their rows.
        let (target, planned, bound) = (state.config().target_partitions(), Arc::clone(source), request.bound.clone());
        let partitions = SpawnedTask::spawn_blocking(move || {
            let is_wanted = |file: usize| wanted.as_ref().is_none_or(|wanted| wanted.get(file) == Some(&true));
            planned.partitions(&is_wanted, &bound, target).map_err(external)
        });
        let partitions = partitions.join().await.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??;
        let scan = AssetScan::new(Arc::clone(source), projection, request, filters, partitions)?;
        Ok(Arc::new(scan))
    }
}
