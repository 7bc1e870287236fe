//! Formats: what their readers give for files that the builders write, for damaged files and for real ones.
#![cfg(feature = "sample")]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

#[path = "../common/mod.rs"]
mod common;

mod bwdb;
mod damage;
#[cfg(feature = "texture")]
mod dds;
mod floors;
#[cfg(all(feature = "cli", feature = "parquet"))]
mod fuzzing;
mod gameparams;
mod geometry;
#[cfg(feature = "texture")]
mod gtex;
#[cfg(feature = "cli")]
mod properties;
#[cfg(feature = "cli")]
mod rusty_hearts;
#[cfg(feature = "cli")]
mod se2;
mod threads;
mod vrb;
mod wdata;
mod wdb;
#[cfg(feature = "cli")]
mod white;
mod wows;
