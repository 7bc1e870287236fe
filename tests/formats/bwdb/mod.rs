//! Tests of prototype databases: reading, records of all forms, and references.

#[cfg(feature = "edit")]
mod edit;
#[cfg(feature = "edit")]
mod items;
#[cfg(feature = "edit")]
mod placed;
mod reader;
#[cfg(feature = "cli")]
mod records;
#[cfg(feature = "cli")]
mod references;
