//! Tests of prototype databases: reading, records of all forms, and references.

mod compared;
mod edit;
mod items;
mod placed;
mod reader;
#[cfg(feature = "cli")]
mod records;
#[cfg(feature = "cli")]
mod references;
