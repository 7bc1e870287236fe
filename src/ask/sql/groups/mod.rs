//! Questions about groups of rows, answered by all threads: `SELECT type, count(*), sum(size) FROM resources GROUP BY type`.
//!
//! SQLite asks a virtual table for one row after another, by one thread. A SELECT of one table whose columns are
//! aggregates and grouped columns is recognized in the words of a statement: the groups and their aggregates are
//! computed from shares of the rows, and the statement takes its rows from a virtual table of the groups. Two tables
//! that are joined by a pair of ids or whole numbers are one table here: shares of the rows of the larger one are
//! walked, and an index finds the rows of the other. Other joins take groups of one of their tables. Everything around,
//! such as HAVING, ORDER BY and LIMIT, remains SQLite's.
//!
//! The answer is SQLite's own. What could differ is left to SQLite, which runs the statement as it was given: sums of
//! floats, which depend on the order of rows, comparisons that convert types, numbers of more than 63 bits, sums that
//! overflow, damage, and more groups than memory is set apart for.

mod answer;
mod clauses;
mod condition;
mod joined;
mod shape;
mod token;
mod vtab;

pub(super) use shape::rewrite;
pub(super) use vtab::{GroupTables, MODULE};
