//! Game-asset files as tables of [Apache DataFusion](datafusion), read in place.
//!
//! [`register`] adds all tables of a file, of a game, or of all files that a pattern matches:
//!
//! ```
//! # fn main() -> datafusion::error::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # for name in ["bow", "stern"] {
//! #     let bytes = assetq::sample::geometry::splash(&[(name, [-1.0; 3], [1.0; 3])]);
//! #     std::fs::write(folder.path().join(format!("{name}.splash")), bytes)?;
//! # }
//! # let pattern = folder.path().join("*.splash");
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use datafusion::prelude::SessionContext;
//!
//! let session = SessionContext::new();
//! assetq_datafusion::register(&session, &pattern)?;
//! let boxes = session.sql("SELECT name, max_x FROM boxes WHERE file LIKE '%stern%'").await?;
//! assert_eq!(boxes.count().await?, 1);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! A scan reads the requested columns only. It is divided into partitions by files and ranges of rows, and each partition
//! decodes its batches in a blocking thread while they are consumed. Conditions are pushed down as far as
//! assetq's comparisons mean the same as DataFusion's:
//!
//! | condition | effect |
//! |---|---|
//! | any deterministic expression of `file` and `build` | files are left out before they are opened |
//! | `=` and `IN` on a column that the format has an index of | a probe of that index |
//! | comparisons of whole numbers, truths, texts, ids and GUIDs with literals; `IS NULL`; `AND`, `OR` | rows are left out by assetq alone |
//! | comparisons of floats with literals | rows are left out, and DataFusion checks the rest |
//! | everything else | checked by DataFusion |
//!
//! Ids and GUIDs are texts in the form of all outputs, such as `'0x000000000000002A'`. Other forms of an id equal no row.

mod catalog;
mod pushdown;
mod scan;
mod source;
mod table;

pub use catalog::{AssetCatalog, register};
pub use scan::AssetScan;
pub use table::AssetTable;

use datafusion::error::DataFusionError;

/// An error of assetq, as an error of a query.
fn external(error: assetq::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
