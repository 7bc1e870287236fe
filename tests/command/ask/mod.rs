//! Tests of questions to tables of any format.

mod diff;
#[cfg(unix)]
mod duckdb;
mod find;
mod refs;
mod sql;
