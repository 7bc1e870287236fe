//! The part of a condition that the table answers itself: chosen when SQLite plans a statement, evaluated when it runs.
//!
//! SQLite checks every condition again, except the ones of [`Operator::is_exact`], whose meanings agree exactly. For the others a plan
//! may let additional rows through, but never drop one.

use super::cells::{self, ID_COLLATION};
use super::first::{self, FirstRows, SortKey};
use super::large_numbers::LargeNumbers;
use super::pending::is_text_of_id;
use crate::id;
use crate::table::filter::pattern::{LONGEST, LikePattern};
use crate::table::filter::{Bound, Compare, Op};
use crate::table::{Column, Kind, Table};
use rusqlite::types::ValueRef;
use rusqlite::vtab::{Filters, IndexConstraintOp, IndexFlags, IndexInfo};
use std::ffi::c_int;
use std::fmt::Write as _;

/// How the rows are found that the conditions are checked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// By the number in the first term.
    Row,
    /// By the table's own index of the column of the first term.
    Probe,
    /// By an index of the column of the first term, built at the second lookup: for joins.
    Hash,
    /// A scan from the number in the first term on.
    Offset,
    Scan,
}

/// A way to answer a statement, as far as the table is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryPlan {
    pub(super) access: Access,
    pub(super) terms: Vec<Term>,
    pub(super) columns: Vec<usize>,
    /// The rows that are needed of an order, if the table keeps it.
    pub(super) first: Option<FirstRows>,
}

/// A condition with a value that is known when the statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// `None` for the number of the row.
    pub(super) column: Option<usize>,
    kind: Kind,
    op: Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `=` and the other operators that null never satisfies.
    Compare(Op),
    Is,
    /// `IS NULL`, and with `true` `IS NOT NULL`.
    Null(bool),
    Like,
    Glob,
    /// The number of rows to leave out first.
    Offset,
}

impl Operator {
    fn of(op: IndexConstraintOp) -> Option<Self> {
        use IndexConstraintOp as C;
        Some(match op {
            C::SQLITE_INDEX_CONSTRAINT_EQ => Self::Compare(Op::Eq),
            C::SQLITE_INDEX_CONSTRAINT_NE => Self::Compare(Op::Ne),
            C::SQLITE_INDEX_CONSTRAINT_LT => Self::Compare(Op::Lt),
            C::SQLITE_INDEX_CONSTRAINT_LE => Self::Compare(Op::Le),
            C::SQLITE_INDEX_CONSTRAINT_GT => Self::Compare(Op::Gt),
            C::SQLITE_INDEX_CONSTRAINT_GE => Self::Compare(Op::Ge),
            C::SQLITE_INDEX_CONSTRAINT_IS => Self::Is,
            C::SQLITE_INDEX_CONSTRAINT_ISNULL => Self::Null(false),
            C::SQLITE_INDEX_CONSTRAINT_ISNOTNULL => Self::Null(true),
            C::SQLITE_INDEX_CONSTRAINT_LIKE => Self::Like,
            C::SQLITE_INDEX_CONSTRAINT_GLOB => Self::Glob,
            C::SQLITE_INDEX_CONSTRAINT_OFFSET => Self::Offset,
            _ => return None,
        })
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Compare(Op::Eq) => "=",
            Self::Compare(Op::Ne) => "!=",
            Self::Compare(Op::Lt) => "<",
            Self::Compare(Op::Le) => "<=",
            Self::Compare(Op::Gt) => ">",
            Self::Compare(Op::Ge) => ">=",
            Self::Compare(Op::Glob | Op::NotGlob | Op::SqlGlob) | Self::Glob => "GLOB",
            Self::Is => "IS",
            Self::Null(false) => "IS NULL",
            Self::Null(true) => "IS NOT NULL",
            Self::Compare(Op::Like) | Self::Like => "LIKE",
            Self::Offset => "OFFSET",
        }
    }

    const fn is_equal(self) -> bool {
        matches!(self, Self::Compare(Op::Eq) | Self::Is)
    }

    /// Whether [`Term::check`] gives a condition with exactly SQLite's meaning, so that SQLite need not read the cell again.
    fn is_exact(self, kind: Kind, other: ValueRef<'_>) -> bool {
        match (self, kind, other) {
            (Self::Like | Self::Glob | Self::Compare(_), Kind::Text, other) => text(other).is_some(),
            (Self::Compare(_), Kind::Int, ValueRef::Integer(_)) => true,
            (Self::Compare(_), Kind::Uint, ValueRef::Integer(number)) => number >= 0,
            _ => false,
        }
    }
}

/// A term that a plan may use, with its properties.
struct Offer {
    constraint: usize,
    term: Term,
    /// One of several values in turn, from `IN`.
    listed: bool,
    /// Whether the other side is known now, so that no other table has a part in it.
    constant: bool,
    exact: bool,
}

impl Offer {
    /// How the rows are found if this term is the first one; `None` for a scan.
    fn access(&self, table: &dyn Table) -> Option<Access> {
        match self.term {
            Term { op: Operator::Offset, .. } => Some(Access::Offset),
            Term { op, .. } if !op.is_equal() => None,
            Term { column: None, .. } => Some(Access::Row),
            Term { column: Some(column), .. } if table.finds(column) => Some(Access::Probe),
            // Other parts are not opened.
            Term { column: Some(column), .. } if table.parts().is_some_and(|p| p.common(0, column).is_some()) => {
                Some(Access::Probe)
            }
            Term { kind, .. } if !self.constant && !self.listed && cells::can_hash(kind) => Some(Access::Hash),
            _ => None,
        }
    }
}

/// The assumed number of rows of a table of unknown length.
const UNKNOWN_ROWS: usize = 200_000;

/// How statements see a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableView {
    /// The column that the hidden one after all others stands for.
    pub(super) alias: Option<usize>,
    /// Whether rowids are the numbers of the rows.
    pub(super) is_numbered: bool,
    /// Whether the table has the texts of all ids whose texts are known.
    pub(super) has_all_texts: bool,
    /// Whether rows with a damaged cell are left out.
    pub(super) leaves_out: bool,
    /// Whether LIKE may distinguish case: SQLite checks it again then.
    pub(super) may_distinguish_case: bool,
}

/// Chooses how a table answers, and informs SQLite.
pub(super) fn best(info: &mut IndexInfo, table: &dyn Table, view: &TableView) -> rusqlite::Result<QueryPlan> {
    let mut offers = offers(info, table, view)?;
    // Positions are counted without the rows that are left out, which are known once the rows are read.
    if view.leaves_out || table.parts().is_some() {
        offers.retain(|offer| offer.term.op != Operator::Offset);
    }
    // A condition whose other side is in a table that SQLite reads later cannot be used here.
    let joined = offers.iter().any(|offer| offer.term.op.is_equal() && !offer.constant)
        || info.constraints().any(|given| !given.is_usable());
    // For a single table the number of rows does not matter, and counting them may take long.
    let rows = joined.then(|| table.known_len()).flatten().unwrap_or(UNKNOWN_ROWS);
    let first = offers.iter().filter_map(|offer| Some((offer.constraint, offer.access(table)?)));
    let first = first.min_by_key(|(_, access)| *access);
    let (first, access) = first.map_or((None, Access::Scan), |(at, access)| (Some(at), access));
    // The values of a list arrive one by one: a scan for each of them would be slower than one that SQLite checks.
    let mut used: Vec<&Offer> = offers.iter().filter(|o| Some(o.constraint) == first || !o.listed).collect();
    used.retain(|o| o.term.column.is_some() || Some(o.constraint) == first);
    used.sort_by_key(|offer| Some(offer.constraint) != first);
    for (argument, offer) in (1..).zip(&used) {
        let mut usage = info.constraint_usage(offer.constraint);
        usage.set_argv_index(argument);
        // An index may find other rows, too, and they are not compared again.
        let is_found = argument == 1 && matches!(access, Access::Probe | Access::Hash);
        usage.set_omit(offer.exact && !is_found);
    }
    let terms: Vec<Term> = used.iter().map(|offer| offer.term).collect();
    costs(info, access, &terms, rows);
    // Every walk is in the order of row numbers. `IN` begins several walks.
    let by_row = view.is_numbered
        && info.num_of_order_by() == 1
        && info.order_bys().all(|term| term.column() < 0 && !term.is_order_by_desc())
        && !used.iter().any(|offer| offer.listed);
    // A walk that is in the order ends after the first rows.
    let first = if access == Access::Scan && !by_row { first_rows(info, table, view, &offers)? } else { None };
    info.set_order_by_consumed(by_row || first.is_some());
    let mask = info.col_used();
    // The last bit includes all columns from there on.
    let is_used = |column: usize| mask & (1 << column.min(63)) != 0;
    let count = table.columns().len();
    let mut columns: Vec<usize> =
        (0..count).filter(|at| is_used(*at) || view.alias == Some(*at) && is_used(count)).collect();
    // A count leaves out the rows that a list of them leaves out.
    if view.leaves_out && columns.is_empty() && table.parts().is_none() {
        columns = (0..count).collect();
    }
    Ok(QueryPlan { access, terms, columns, first })
}

/// The rows that a query with `ORDER BY` and `LIMIT` needs, if the table decides all conditions and the order.
fn first_rows(
    info: &IndexInfo,
    table: &dyn Table,
    view: &TableView,
    offers: &[Offer],
) -> rusqlite::Result<Option<FirstRows>> {
    if info.num_of_order_by() == 0 || view.leaves_out || !view.has_all_texts || table.parts().is_some() {
        return Ok(None);
    }
    let (mut len, mut is_limited, mut conditions) = (0usize, false, 0usize);
    for (constraint, given) in info.constraints().enumerate() {
        let is_limit = given.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LIMIT;
        if !is_limit && given.operator() != IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_OFFSET {
            conditions += 1;
            continue;
        }
        // Without a number that is known now, and below 0, there is no limit.
        let Some(ValueRef::Integer(rows)) = info.rhs_value(constraint)? else { return Ok(None) };
        match usize::try_from(rows) {
            Ok(rows) => len = len.saturating_add(rows),
            Err(_) if is_limit => return Ok(None),
            Err(_) => {}
        }
        is_limited |= is_limit;
    }
    if !is_limited || len > first::MOST || offers.iter().filter(|offer| offer.exact).count() != conditions {
        return Ok(None);
    }
    let keys = info.order_bys().map(|term| {
        let column = usize::try_from(term.column()).ok();
        let column = column.map(|at| view.alias.filter(|_| at == table.columns().len()).unwrap_or(at));
        let is_ordered = match column {
            Some(column) => table.columns().get(column).is_some_and(|column| first::is_ordered(column.kind)),
            None => view.is_numbered,
        };
        is_ordered.then_some(SortKey { column, descends: term.is_order_by_desc() })
    });
    Ok(keys.collect::<Option<Vec<_>>>().map(|keys| FirstRows { keys, len }))
}

fn offers(info: &IndexInfo, table: &dyn Table, view: &TableView) -> rusqlite::Result<Vec<Offer>> {
    let mut offers = Vec::new();
    let mut others = false;
    for (constraint, given) in info.constraints().enumerate() {
        let Some(op) = Operator::of(given.operator()).filter(|_| given.is_usable()) else {
            let limit = IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LIMIT;
            others |= given.operator() != limit;
            continue;
        };
        if op == Operator::Offset {
            let term = Term { column: None, kind: Kind::Uint, op };
            offers.push(Offer { constraint, term, listed: false, constant: true, exact: true });
            continue;
        }
        others = true;
        let column = usize::try_from(given.column()).ok();
        let column = column.map(|at| view.alias.filter(|_| at == table.columns().len()).unwrap_or(at));
        if !view.has_all_texts && column.is_some_and(|column| is_text_of_id(&table.columns()[column])) {
            continue;
        }
        let kind = column.map_or(Kind::Int, |column| table.columns()[column].kind);
        let other = info.rhs_value(constraint)?;
        let listed = info.is_in_constraint(constraint)?;
        let is_like = matches!(op, Operator::Like | Operator::Compare(Op::Like));
        let is_usual = !listed && column.is_some() && !(is_like && view.may_distinguish_case);
        let exact = is_usual && other.is_some_and(|other| op.is_exact(kind, other));
        let collated = match (op, kind) {
            (Operator::Compare(_) | Operator::Is, Kind::Id64 | Kind::Id32) => {
                info.collation(constraint)? == ID_COLLATION
            }
            (Operator::Compare(_) | Operator::Is, Kind::Text) => info.collation(constraint)? == "BINARY",
            (Operator::Compare(_) | Operator::Is, Kind::Guid) => info.collation(constraint)? == "NOCASE",
            (Operator::Compare(_) | Operator::Is, kind) => !matches!(kind, Kind::Any | Kind::Nested),
            (Operator::Like | Operator::Glob, kind) => {
                matches!(kind, Kind::Text | Kind::Id64 | Kind::Id32 | Kind::Guid)
            }
            (Operator::Null(_), _) | (Operator::Offset, _) => true,
        };
        let rows = column.is_none() && !op.is_equal();
        if collated && !rows {
            offers.push(Offer {
                constraint,
                term: Term { column, kind, op },
                listed,
                constant: other.is_some(),
                exact,
            });
        }
    }
    // Rows can be skipped only if all others are returned, in the same order.
    if others || info.num_of_order_by() > 0 {
        offers.retain(|offer| offer.term.op != Operator::Offset);
    }
    Ok(offers)
}

/// Reports the cost of a plan to SQLite, in rows that are read.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn costs(info: &mut IndexInfo, access: Access, terms: &[Term], rows: usize) {
    let (cost, found) = match access {
        Access::Row => (1.0, 1),
        Access::Probe => (5.0, 2),
        Access::Hash => (20.0, 5),
        // To begin a walk costs as much as a lookup: the columns with an index are used in a small table, too.
        Access::Scan | Access::Offset => (rows as f64 + 20.0, rows),
    };
    let kept = terms.iter().fold(found, |rows, term| rows / if term.op.is_equal() { 10 } else { 2 }).max(1);
    info.set_estimated_cost(cost);
    info.set_estimated_rows(i64::try_from(kept).unwrap_or(i64::MAX));
    if access == Access::Row {
        info.set_idx_flags(IndexFlags::SQLITE_INDEX_SCAN_UNIQUE);
    }
}

/// A term with the argument of a running statement.
pub(super) enum TermOutcome {
    Never,
    /// Only SQLite can decide.
    Unknown,
    /// Rows for which this holds.
    Rows(Bound),
}

impl Term {
    /// The condition with its other side, which may be one of the `large` numbers.
    pub(super) fn check(self, value: ValueRef<'_>, large: &LargeNumbers) -> TermOutcome {
        let Some(column) = self.column else { return TermOutcome::Unknown };
        let is_compared = matches!(self.op, Operator::Compare(_) | Operator::Is) && self.kind == Kind::Id64;
        let number = if is_compared { large.number(value) } else { None };
        let number = number.map(|number| number.to_string());
        let value = number.as_ref().map_or(value, |number| ValueRef::Text(number.as_bytes()));
        let is_null = self.op == Operator::Null(false) || self.op == Operator::Is && value == ValueRef::Null;
        // A float that is not a number is null in SQL, and a value of a table.
        if is_null && matches!(self.kind, Kind::F32 | Kind::F64 | Kind::Any) {
            return TermOutcome::Unknown;
        }
        let compare = match self.op {
            Operator::Null(negated) => Some(Compare::null(column, self.kind, negated)),
            Operator::Is if value == ValueRef::Null => Some(Compare::null(column, self.kind, false)),
            // Whatever is compared with null is neither true nor false.
            _ if value == ValueRef::Null => return TermOutcome::Never,
            Operator::Compare(Op::Eq) | Operator::Is if self.is_no_id(value) => return TermOutcome::Never,
            Operator::Is => self.compare(column, Op::Eq, value),
            Operator::Compare(op) => self.compare(column, op, value),
            Operator::Like => text(value).map(|p| Compare::pattern(column, self.kind, LikePattern::like(p))),
            Operator::Glob => text(value).map(|p| Compare::pattern(column, self.kind, LikePattern::glob(p))),
            Operator::Offset => None,
        };
        compare.map_or(TermOutcome::Unknown, |compare| TermOutcome::Rows(Bound::Compare(compare)))
    }

    fn compare(self, column: usize, op: Op, value: ValueRef<'_>) -> Option<Compare> {
        Compare::with(column, self.kind, op, &cells::key(self.kind, value)?)
    }

    /// Whether an id is compared with text that is not an id, such as a path: no id equals that.
    fn is_no_id(self, value: ValueRef<'_>) -> bool {
        matches!(self.kind, Kind::Id64 | Kind::Id32) && text(value).is_some_and(|text| id::parse(text).is_none())
    }
}

fn text(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Text(text) if text.len() <= LONGEST => str::from_utf8(text).ok(),
        _ => None,
    }
}

impl QueryPlan {
    /// The text for `EXPLAIN QUERY PLAN`, as in `probe id =, name LIKE`.
    pub(super) fn describe(&self, columns: &[Column]) -> String {
        let mut text = String::from(match self.access {
            Access::Scan => "scan",
            Access::Probe => "probe",
            Access::Hash => "hash",
            Access::Row => "row",
            Access::Offset => "scan from",
        });
        for (index, term) in self.terms.iter().enumerate() {
            let column = term.column.and_then(|column| columns.get(column));
            let name = match (column, term.op) {
                (Some(column), _) => &*column.name,
                (None, Operator::Offset) => "",
                (None, _) => "rowid",
            };
            // To write to a text does not fail.
            let _ = write!(text, "{} {name}", if index == 0 { "" } else { "," });
            let space = if name.is_empty() { "" } else { " " };
            let _ = write!(text, "{space}{}", term.op.text());
        }
        if let Some(FirstRows { len, .. }) = &self.first {
            let _ = write!(text, ", first {len}");
        }
        text.replace('\0', "")
    }

    /// The value of the first term, as a whole number.
    pub(super) fn number(&self, arguments: &Filters<'_>) -> Option<i64> {
        match arguments.iter().next()? {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// The number by which SQLite hands a plan back.
    pub(super) fn number_of(at: usize) -> c_int {
        c_int::try_from(at).expect("a statement has few plans")
    }
}
