//! Tests of prototype databases: reading, records of all forms, and references.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![cfg(feature = "sample")]

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "edit")]
mod edit;
#[cfg(feature = "edit")]
mod items;
#[cfg(feature = "edit")]
mod placed;
mod reader;
mod records;
mod references;
#[cfg(feature = "edit")]
#[path = "../common/tree.rs"]
mod tree;
