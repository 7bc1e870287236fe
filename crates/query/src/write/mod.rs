//! Rows and entries written out. A new output is one file here, and works on every format.
//!
//! All that writes fails with [`ErrorKind::Io`](crate::error::ErrorKind::Io) when its output cannot be written.

#[cfg(feature = "parquet")]
pub mod arrow;
#[cfg(feature = "parquet")]
mod batch;
mod bytes;
pub mod hive;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod rows;
mod shares;
#[cfg(feature = "parquet")]
pub mod stream;
pub mod text;

pub use plain::text as cell_text;

pub(crate) use assetq_core::write::cannot_write;

#[doc(inline)]
pub use assetq_core::atomic_file;
pub use assetq_core::write::{json, plain};
