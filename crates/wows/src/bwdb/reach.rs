//! The records that hold some bytes or point to them, the rows that show these records, and their checks. An edit in place needs no other comparison and no other check.

use super::record::{Elements, Leaf, Walker, Wanted};
use super::{Blob, Database, tables, verify};
use crate::budget::Budget;
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::lazy;
use crate::report::Report;
use crate::writable::Reached;
use std::ops::Range;

/// Some records of a database.
pub(super) struct SomeRecords<'a> {
    pub(super) blob: Blob<'a>,
    pub(super) records: Vec<usize>,
}

/// As [`Writable::reached`](crate::writable::Writable::reached). Bytes outside of records may decide anything: which records
/// there are, and how they are named.
pub(super) fn reached(db: &Database, changed: &[Range<usize>]) -> Option<Reached> {
    let blobs: Vec<Blob<'_>> = db.databases().collect::<Result<_>>().ok()?;
    let origin = db.source().view("").offset();
    let sections: Vec<Range<u64>> = verify::all_sections(db)
        .into_iter()
        .map(|section| section.offset.saturating_sub(origin)..section.offset.saturating_add(section.size))
        .collect();
    let is_of_records = changed.iter().all(|range| {
        let (start, end) = (range.start as u64, range.end as u64);
        // No part of the file may overlap the database.
        sections.iter().filter(|section| section.start < end && start < section.end).count() == 1
            && blobs.iter().any(|blob| {
                blob.layout().is_some() && blob.records().position() <= range.start && range.end <= blob.end()
            })
    });
    if !is_of_records {
        return None;
    }
    let budget = Budget::of_arrays(db.source().bytes().len());
    // No pointer of a record leads past the end of its database.
    let first = changed.first().map_or(0, |range| range.start);
    let reaching = blobs
        .into_iter()
        .filter(|blob| blob.end() > first)
        .map(|blob| SomeRecords { blob, records: records(db, blob, changed, &budget) });
    let reaching: Vec<SomeRecords<'_>> = reaching.filter(|some| !some.records.is_empty()).collect();
    let checks = reaching.iter().map(|some| verify::some_records(db, some)).collect();
    Some(Reached { rows: tables::rows_of_records(db, &reaching)?, report: Report { checks } })
}

/// The records of a database that reach one of the ranges, or that cannot be read.
fn records(db: &Database, blob: Blob<'_>, changed: &[Range<usize>], budget: &Budget) -> Vec<usize> {
    let parts = lazy::parts_for(blob.len(), 1 << 10);
    let share = blob.len().div_ceil(parts);
    let is_reaching = |record: &usize| {
        let mut reach = Reach { file: db.source().view(""), changed, budget, is_met: false };
        let Ok((view, size)) = blob.record_span(*record) else { return false };
        reach.meet(view.position(), size);
        if !reach.is_met {
            match blob.record(*record) {
                Ok(Some(typed)) => typed.walk_fields(&mut reach),
                Ok(None) => {}
                Err(_) => reach.is_met = true,
            }
        }
        reach.is_met
    };
    let found = lazy::parts(parts, |part| {
        let first = part.saturating_mul(share);
        (first..first.saturating_add(share).min(blob.len())).filter(is_reaching).collect::<Vec<_>>()
    });
    found.concat()
}

/// Notes whether a record reaches one of some ranges: whether it has them, or an array, a text or a struct that it points to. A
/// record whose pointers cannot be followed counts as one that does.
struct Reach<'a, 'r> {
    file: View<'a>,
    /// In order, and disjoint.
    changed: &'r [Range<usize>],
    budget: &'r Budget,
    is_met: bool,
}

impl Reach<'_, '_> {
    fn meet(&mut self, start: usize, len: usize) {
        let behind = self.changed.partition_point(|range| range.end <= start);
        self.is_met |= self.changed.get(behind).is_some_and(|range| range.start < start.saturating_add(len));
    }
}

impl<'a> Walker<'a> for Reach<'a, '_> {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        if let Leaf::Text(text) = leaf {
            self.meet(self.file.locate(text).position(), text.len().saturating_add(1));
        }
    }

    fn target(&mut self, view: View<'a>, size: usize) {
        self.meet(view.position(), size);
    }

    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        if list.len == 0 || self.is_met {
            return false;
        }
        self.meet(list.view.position(), list.bytes());
        let descends = !self.is_met && !list.of.traits.flat;
        self.is_met |= descends && self.budget.spend_at(list.view, list.bytes()).is_err();
        descends && !self.is_met
    }

    fn damage(&mut self, _: &'static str, _: Error) {
        self.is_met = true;
    }

    fn wanted(&self) -> Wanted {
        Wanted::Pointers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;
    use crate::report::{Check, Progress};
    use crate::source::Source;
    use crate::table::Value;
    use assetq_sample::{Size, bwdb::demo};

    fn open(bytes: &[u8]) -> Database {
        Database::open(Source::from_vec("assets.bin", bytes.to_vec())).unwrap()
    }

    /// All cells of the tables, as text: a row for each.
    fn tables(db: &Database) -> Vec<(String, Vec<String>)> {
        let tables = Reader::tables(db);
        let rows = |table: &dyn crate::table::Table| {
            let (mut rows, mut all) = (table.cursor(0), Vec::new());
            while rows.advance().unwrap() {
                let cells = (0..table.columns().len()).map(|column| match rows.value(column) {
                    Ok(Value::Null) => "null".to_owned(),
                    Ok(value) => value.to_string(),
                    Err(_) => "damaged".to_owned(),
                });
                all.push(cells.collect::<Vec<_>>().join("|"));
            }
            all
        };
        tables.iter().map(|table| (table.name().to_owned(), rows(&**table))).collect()
    }

    /// Whatever byte of the records changes: all rows that differ are reached, and so is a new finding of `verify`.
    #[test]
    fn every_row_that_differs_and_every_finding_is_reached() {
        let bytes = demo(3, Size::Small);
        let old = open(&bytes);
        let before = tables(&old);
        assert!(Reader::verify(&old, &Progress::default()).is_ok());
        let mut rng = fastrand::Rng::with_seed(11);
        let (mut met, mut found) = (0, 0);
        for _ in 0..150 {
            let blob = old.database(rng.usize(..old.database_count())).unwrap();
            let at = rng.usize(blob.records().position()..blob.end());
            let mut changed = bytes.clone();
            changed[at] ^= 1 << rng.u8(..8);
            let Ok(new) = Database::open(Source::from_vec("assets.bin", changed)) else { continue };
            let Some(reached) = reached(&new, std::slice::from_ref(&(at..at + 1))) else { continue };
            for ((name, before), (_, after)) in before.iter().zip(tables(&new)) {
                if before.len() != after.len() {
                    // Lists are longer or shorter: later rows have other numbers.
                    assert!(!reached.rows_of(name).is_empty() || reached.rows.is_empty(), "{at:#x} {name}");
                    continue;
                }
                for (row, (before, after)) in before.iter().zip(&after).enumerate() {
                    let is_reached = reached.rows_of(name).contains(&row);
                    assert!(before == after || is_reached, "{at:#x} {name} {row}: {before} {after}");
                    met += usize::from(before != after);
                }
            }
            let report = Reader::verify(&new, &Progress::default());
            let is_damaged = report.checks.iter().filter(|check| check.name != "checksum").any(|check| !check.is_ok());
            assert_eq!(is_damaged, !reached.report.is_ok(), "{at:#x} {:?}", report.checks);
            found += usize::from(is_damaged);
        }
        assert!(met > 50 && found > 10, "{met} rows differed, {found} files were damaged");
    }

    #[test]
    fn bytes_outside_of_records_may_decide_anything() {
        let bytes = demo(3, Size::Small);
        let db = open(&bytes);
        let blob = db.database(0).unwrap();
        let place = |at: usize| reached(&db, std::slice::from_ref(&(at..at + 1))).is_some();
        assert!(place(blob.records().position()) && place(blob.end() - 1));
        for at in [0, 0x40, blob.view().position(), db.paths().view(&db.paths().entries()[1]).position()] {
            assert!(!place(at), "{at:#x}");
        }
        let check = |reached: Reached| reached.report.checks.iter().map(Check::is_ok).collect::<Vec<_>>();
        let record = blob.record_span(1).unwrap().0.position();
        let reached = reached(&db, &[record..record + 1, record + 2..record + 3]).unwrap();
        assert!(reached.rows_of("resources").len() <= 1 && !reached.rows_of("materials").is_empty(), "{reached:?}");
        assert_eq!(check(reached), [true]);
    }
}
