//! Rows and entries written out. A new output is one file here, and works on every format.
//!
//! All that writes fails with [`ErrorKind::Io`](crate::ErrorKind::Io) when its output cannot be written.

#[cfg(feature = "parquet")]
pub mod arrow;
#[cfg(feature = "cli")]
pub mod atom;
#[cfg(feature = "parquet")]
mod batch;
pub mod csv;
pub mod hive;
pub mod json;
#[cfg(feature = "view")]
pub mod page;
#[cfg(feature = "parquet")]
pub mod parquet;
pub(crate) mod plain;
pub mod rows;
mod shares;
#[cfg(all(feature = "filter", feature = "parquet"))]
pub mod stream;
pub mod text;

#[doc(inline)]
pub use crate::atomic_file;
#[cfg(feature = "view")]
#[doc(inline)]
pub use crate::picture;
