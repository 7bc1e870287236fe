//! Tests of `.geometry` and `.splash`: reading, drawings, and scenes of several files.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![cfg(feature = "sample")]

#[cfg(feature = "edit")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "edit")]
mod edit;
mod export;
mod reader;
mod scene;
