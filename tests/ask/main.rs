//! Tests of questions to tables of any format.
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

mod diff;
mod find;
mod sql;
