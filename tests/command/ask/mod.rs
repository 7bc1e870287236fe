//! Tests of questions to tables of any format.

mod diff;
mod find;
mod sql;
