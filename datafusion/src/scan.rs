//! The plan that reads rows of a table.

use crate::external;
use crate::source::{Counts, Piece, Request, Source};
use assetq::table::filter::Bound;
use assetq::table::{Column, RowCursor};
use assetq::write::arrow::ArrowBatches;
use assetq::write::rows::RowSink as _;
use assetq::{Error, ErrorKind};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Batches that a partition decodes ahead.
const AHEAD: usize = 2;

/// Reads some columns of the rows of a table that satisfy the conditions that were pushed down.
#[derive(Debug, Clone)]
pub struct AssetScan {
    source: Arc<Source>,
    projection: Vec<usize>,
    request: Request,
    conditions: Vec<String>,
    partitions: Arc<[Vec<Piece>]>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl AssetScan {
    pub(crate) fn new(
        source: Arc<Source>,
        projection: Vec<usize>,
        request: Request,
        conditions: &[Expr],
        partitions: Vec<Vec<Piece>>,
    ) -> Result<Self> {
        let schema = Arc::new(source.schema().project(&projection)?);
        let partitioning = Partitioning::UnknownPartitioning(partitions.len());
        let rows = EquivalenceProperties::new(schema);
        // The stream of a partition is a channel, which yields to other tasks.
        let properties = PlanProperties::new(rows, partitioning, EmissionType::Incremental, Boundedness::Bounded)
            .with_scheduling_type(SchedulingType::Cooperative);
        Ok(Self {
            source,
            projection,
            request,
            conditions: conditions.iter().map(|condition| condition.human_display().to_string()).collect(),
            partitions: partitions.into(),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// Whether an index of the format finds the rows.
    pub fn is_probe(&self) -> bool {
        self.source.is_probe(&self.request.bound)
    }

    /// The number of files that are read, of those that the table has.
    pub fn files(&self) -> (usize, usize) {
        let mut files: Vec<usize> = self.partitions.iter().flatten().map(|piece| piece.file).collect();
        files.dedup();
        (files.len(), self.source.files())
    }

    /// Reads rows of the pieces, and hands them over as batches.
    fn read(
        &self,
        pieces: &[Piece],
        mut hand_over: impl FnMut(RecordBatch) -> assetq::Result<()>,
        is_wanted: &dyn Fn() -> bool,
        counts: &Counts,
    ) -> assetq::Result<()> {
        if self.projection.is_empty() {
            let mut rows = 0usize;
            let mut count = |_: &dyn RowCursor| {
                rows = rows.saturating_add(1);
                Ok(())
            };
            self.source.read(pieces, &self.request, &mut count, is_wanted, counts)?;
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(self.schema(), Vec::new(), &options);
            return hand_over(batch.map_err(|error| Error::io("cannot count rows", io::Error::other(error)))?);
        }
        let columns = self.source.columns();
        let chosen: Vec<Column> = self.projection.iter().filter_map(|column| columns.get(*column).cloned()).collect();
        let mut batches = ArrowBatches::new(&chosen, hand_over);
        let mut add = |row: &dyn RowCursor| batches.row_of(row, &self.projection);
        self.source.read(pieces, &self.request, &mut add, is_wanted, counts)?;
        batches.finish()
    }

    /// The number of rows in a partition, or in all, before conditions.
    fn len(&self, partition: Option<usize>) -> Option<usize> {
        let lens = |pieces: &[Piece]| pieces.iter().map(|piece| piece.len).sum::<Option<usize>>();
        match partition {
            Some(partition) => lens(self.partitions.get(partition)?),
            None => {
                let (files, all) = self.files();
                let known = || if files == all { self.source.known_len() } else { None };
                self.partitions.iter().map(|pieces| lens(pieces)).sum::<Option<usize>>().or_else(known)
            }
        }
    }
}

impl DisplayAs for AssetScan {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (files, all) = self.files();
        let (file, table) = (self.source.asset().source().name(), self.source.name());
        let conditions = self.conditions.join(" AND ");
        let access = if self.is_probe() { "probe" } else { "filter" };
        if format == DisplayFormatType::TreeRender {
            writeln!(f, "table={table}")?;
            writeln!(f, "files={files} of {all}")?;
            return if conditions.is_empty() { Ok(()) } else { writeln!(f, "{access}={conditions}") };
        }
        let schema = self.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "AssetScan: {table} of {file}, columns=[{}], files={files} of {all}", names.join(", "))?;
        write!(f, ", partitions={}", self.partitions.len())?;
        if !conditions.is_empty() {
            write!(f, ", {access}=[{conditions}]")?;
        }
        self.request.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for AssetScan {
    fn name(&self) -> &str {
        "AssetScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan of assetq has no children") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(pieces) = self.partitions.get(partition).cloned() else {
            return internal_err!("a scan of {} partitions has no partition {partition}", self.partitions.len());
        };
        let metric = || MetricBuilder::new(&self.metrics);
        let counts = Counts {
            files: metric().counter("files_opened", partition),
            rows: metric().counter("rows_read", partition),
        };
        let output = metric().output_rows(partition);
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema(), AHEAD);
        let (sender, scan) = (stream.tx(), self.clone());
        stream.spawn_blocking(move || {
            let is_wanted = || !sender.is_closed();
            let hand_over = |batch: RecordBatch| {
                output.add(batch.num_rows());
                sender.blocking_send(Ok(batch)).map_err(|_| no_consumer())
            };
            let read = scan.read(&pieces, hand_over, &is_wanted, &counts);
            // Nothing receives an error after the query has ended.
            read.or_else(|error| if is_wanted() { Err(external(error)) } else { Ok(()) })
        });
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let is_all = matches!(&self.request.bound, Bound::And(all) if all.is_empty());
        let is_exact = is_all && self.source.is_strict() && self.request.limit.is_none();
        let num_rows = match self.len(args.partition()) {
            Some(rows) if is_exact => Precision::Exact(rows),
            Some(rows) => Precision::Inexact(rows),
            None => Precision::Absent,
        };
        Ok(Arc::new(Statistics { num_rows, ..Statistics::new_unknown(&self.schema()) }))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let request = Request { limit, ..self.request.clone() };
        Some(Arc::new(Self { request, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.request.limit
    }
}

/// Ends the reading after the consumer was dropped.
fn no_consumer() -> Error {
    Error::of_part(ErrorKind::Damaged { what: "the rows have no consumer".into() }, "")
}
