//! Formats: what their readers give for files that the builders write, for damaged files and for real ones.
#![allow(missing_docs, clippy::pedantic, clippy::restriction, clippy::field_reassign_with_default)]

#[path = "../common/mod.rs"]
mod common;

mod bwdb;
#[cfg(feature = "cli")]
mod codecs;
mod damage;
mod dds;
mod declarations;
mod detection;
mod documents;
mod edits;
#[cfg(all(feature = "cli", feature = "parquet"))]
mod fuzzing;
mod gameparams;
mod geometry;
mod gtex;
mod metres;
#[cfg(all(feature = "cli", feature = "parquet"))]
mod old;
#[cfg(feature = "cli")]
mod packages;
#[cfg(feature = "cli")]
mod pages;
#[cfg(feature = "cli")]
mod programs;
mod properties;
#[cfg(feature = "cli")]
mod rusty_hearts;
#[cfg(feature = "cli")]
mod se2;
mod text_models;
mod threads;
mod vrb;
mod wdata;
mod wdb;
#[cfg(feature = "cli")]
mod white;
#[cfg(feature = "cli")]
mod worlds;
mod wows;
