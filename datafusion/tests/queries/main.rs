//! Answers of DataFusion over game files, compared with assetq's own SQL and with DataFusion over the same rows in memory.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]

mod answers;
mod damage;
mod files;
mod pushdown;
mod real;
#[path = "../../examples/shell.rs"]
mod shell;

use assetq::Asset;
use assetq::sql::{Fault, Input, Session, statements};
use assetq::table::Value;
use assetq_datafusion::{AssetCatalog, AssetScan};
use datafusion::arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::scalar::ScalarValue;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The cells of an answer, as text.
type Rows = Vec<Vec<String>>;

/// The sample called `name`, in memory.
fn sample(name: &str) -> Asset {
    let (_, _, make) = assetq::sample::FILES.iter().find(|(known, ..)| *known == name).expect("there is such a sample");
    Asset::open(assetq::Source::from_vec(name, make(1, assetq::sample::Size::Small))).unwrap()
}

/// A session with this number of partitions for a scan.
fn session(partitions: usize) -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions))
}

/// A session with the tables of a file, in partitions of at least four rows.
fn session_of(asset: &Asset, partitions: usize) -> SessionContext {
    let session = session(partitions);
    AssetCatalog::new(asset.clone()).partition_rows(4).register(&session).unwrap();
    session
}

/// A session with the tables of the files that a pattern matches.
fn session_at(pattern: &Path) -> SessionContext {
    let session = session(4);
    assetq_datafusion::register(&session, pattern).unwrap();
    session
}

fn text(cell: &ScalarValue) -> String {
    match cell {
        cell if cell.is_null() => "NULL".to_owned(),
        // As SQLite has them.
        ScalarValue::Boolean(Some(truth)) => u8::from(*truth).to_string(),
        ScalarValue::Float32(Some(number)) => Value::F32(*number).to_string(),
        ScalarValue::Float64(Some(number)) => Value::F64(*number).to_string(),
        other => other.to_string(),
    }
}

fn texts(batches: &[RecordBatch]) -> Rows {
    let row = |batch: &RecordBatch, row: usize| {
        batch.columns().iter().map(|column| text(&ScalarValue::try_from_array(column, row).unwrap())).collect()
    };
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |number| row(batch, number))).collect()
}

/// DataFusion's answer.
fn ask(session: &SessionContext, query: &str) -> Result<Rows> {
    RUNTIME.block_on(async { Ok(texts(&session.sql(query).await?.collect().await?)) })
}

/// The answer of assetq's own SQL.
fn ask_assetq(asset: &Asset, query: &str) -> Rows {
    let session = Session::new(vec![("file".to_owned(), Input::Asset(asset.clone()))], false).unwrap();
    let mut rows = Rows::new();
    let text = |cell: &Value<'_>| if cell.is_null() { "NULL".to_owned() } else { cell.to_string() };
    for statement in statements(query) {
        let mut answer = session.ask(statement).unwrap();
        let asked = answer.rows(|cells| {
            rows.push(cells.iter().map(text).collect());
            Ok::<(), Fault>(())
        });
        asked.unwrap();
    }
    rows
}

/// The plan of a query, line by line.
fn explain(session: &SessionContext, query: &str) -> String {
    let rows = ask(session, &format!("EXPLAIN {query}")).unwrap();
    rows.into_iter().find(|row| row[0] == "physical_plan").unwrap().remove(1)
}

/// The line of the plan that reads a table.
fn scan_of(session: &SessionContext, query: &str) -> String {
    let plan = explain(session, query);
    plan.lines().find(|line| line.contains("AssetScan")).unwrap_or_else(|| panic!("no scan: {plan}")).trim().to_owned()
}

/// The answer of a query, and the sums of `rows_read` and `files_opened` over all scans.
fn read_by(session: &SessionContext, query: &str) -> (Rows, usize, usize) {
    fn add(plan: &Arc<dyn ExecutionPlan>, rows: &mut usize, files: &mut usize) {
        if plan.is::<AssetScan>() {
            let metrics = plan.metrics().unwrap();
            let sum = |name: &str| metrics.sum_by_name(name).map_or(0, |value| value.as_usize());
            *rows += sum("rows_read");
            *files += sum("files_opened");
        }
        plan.children().into_iter().for_each(|child| add(child, rows, files));
    }
    RUNTIME.block_on(async {
        let plan = session.sql(query).await.unwrap().create_physical_plan().await.unwrap();
        let batches = collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
        let (mut rows, mut files) = (0, 0);
        add(&plan, &mut rows, &mut files);
        (texts(&batches), rows, files)
    })
}
