//! Queries of any format, through its tables.

#[cfg(all(feature = "export", feature = "mfm"))]
mod camouflage;
pub mod diff;
#[cfg(feature = "find")]
pub mod find;
#[cfg(feature = "cli")]
pub mod history;
#[cfg(feature = "export")]
pub mod lines;
pub mod refs;
#[cfg(any(feature = "find", feature = "sql"))]
mod regex;
#[cfg(feature = "export")]
pub mod ship;
#[cfg(feature = "sql")]
pub mod sql;
