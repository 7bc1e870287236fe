//! Tests of FINAL FANTASY XIII sheets and packs: reading, damage, and the command line.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![cfg(feature = "sample")]

#[path = "../common/mod.rs"]
mod common;

mod command;
mod damage;
mod reader;
mod sheets;
