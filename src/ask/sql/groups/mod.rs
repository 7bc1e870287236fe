//! Questions about groups of rows, answered by all threads: `SELECT type, count(*), sum(size) FROM resources GROUP BY type`.
//!
//! SQLite asks a virtual table for one row after another, by one thread. A SELECT of one table whose columns are
//! aggregates and grouped columns is recognized in the words of a statement: the groups and their aggregates are
//! computed from shares of the rows, and the statement takes its rows from a virtual table of the groups. A cell that
//! identifies a group is a number while rows are read, its code. If two tables are joined by a pair of ids or whole
//! numbers, the rows of one of them are grouped first, and each row of the other is joined with groups rather than with
//! rows. Other joins take groups of one of their tables. Everything around, such as HAVING, ORDER BY and LIMIT, remains
//! SQLite's.
//!
//! The answer is SQLite's own. What could differ is left to SQLite, which runs the statement as it was given: sums of
//! floats, which depend on the order of rows, comparisons that convert types, numbers of more than 63 bits, sums that
//! overflow, damage, and more groups than memory is set apart for.

mod answer;
mod clauses;
mod codes;
mod condition;
mod joined;
mod partitions;
mod read;
mod shape;
mod sources;
mod state;
mod stored;
mod token;
mod vtab;
mod walk;

pub(super) use shape::rewrite;
pub(super) use vtab::{GroupTables, MODULE};
