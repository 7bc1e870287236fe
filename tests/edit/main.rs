//! Tests of writing: each format's writer against a plain reader of its bytes, and the command.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![cfg(feature = "cli")]

#[path = "../common/mod.rs"]
mod common;

mod command;
mod items;
mod made;
mod places;
mod sql;
mod wdata;
mod wdb;
