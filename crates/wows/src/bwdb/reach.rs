//! The records that hold some bytes or point to them, the rows that show these records, and their checks. An edit in place needs no other comparison and no other check.

use super::record::{Elements, Leaf, Walker, Wanted};
use super::{Blob, Database, tables, verify};
use crate::budget::Budget;
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::lazy;
use crate::report::Report;
use crate::threads::lock;
use crate::writable::Reached;
use std::collections::BTreeSet;
use std::ops::Range;

/// Some records of a database.
pub(super) struct SomeRecords<'a> {
    pub(super) blob: Blob<'a>,
    pub(super) records: Vec<usize>,
}

/// Records of a database of the old file that reach a range, or that cannot be read.
#[derive(Debug)]
pub(super) struct Reaching {
    pub(super) database: usize,
    pub(super) range: Range<usize>,
    pub(super) records: Vec<usize>,
}

/// As [`Writable::reached`](crate::writable::Writable::reached). Bytes outside of records may decide anything: which records
/// there are, and how they are named.
///
/// A record is read the same in both files unless it reaches a changed byte in the old one.
pub(super) fn reached(db: &Database, old: &Database, changed: &[Range<usize>]) -> Option<Reached> {
    let blobs = |db| Database::databases(db).collect::<Result<Vec<_>>>().ok();
    let (blobs, before) = (blobs(db)?, blobs(old)?);
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
    // The records decide the layout if nothing else does.
    let is_laid_out_alike = blobs.iter().map(Blob::layout).eq(before.iter().map(Blob::layout));
    if !is_of_records || !is_laid_out_alike {
        return None;
    }
    // No pointer of a record leads out of its database.
    let reaching = blobs.into_iter().zip(before).filter_map(|(blob, before)| {
        let is_inside = |range: &&Range<usize>| blob.view().position() <= range.start && range.end <= blob.end();
        let inside: Vec<Range<usize>> = changed.iter().filter(is_inside).cloned().collect();
        (!inside.is_empty()).then(|| SomeRecords { blob, records: records(old, before, &inside) })
    });
    let reaching: Vec<SomeRecords<'_>> = reaching.collect();
    let checks = reaching.iter().map(|some| verify::some_records(db, some)).collect();
    Some(Reached { rows: tables::rows_of_records(db, &reaching)?, report: Report { checks } })
}

/// The records of a database that hold one of the ranges; if some bytes follow all records, those that reach a range or cannot be read.
fn records(db: &Database, blob: Blob<'_>, changed: &[Range<usize>]) -> Vec<usize> {
    // No pointer leads to a record.
    if let Some((size, end)) = blob.record_size().zip(blob.records_end())
        && changed.iter().all(|range| range.end <= end)
    {
        let start = blob.records().position();
        let numbers = changed.iter().flat_map(|range| {
            let [first, end] = [range.start, range.end].map(|at| at.saturating_sub(start));
            first.checked_div(size).unwrap_or(0)..end.div_ceil(size.max(1))
        });
        return numbers.collect::<BTreeSet<_>>().into_iter().collect();
    }
    let budget = Budget::of_arrays(db.source().bytes().len());
    let is_reaching = |record: &usize| {
        let mut reach = Reach::new(db.source().view(""), changed, &budget);
        reach.walk(blob, *record);
        reach.is_met || reach.spent.is_some()
    };
    let is_known = |known: &&Reaching| {
        let is_in = |range: &Range<usize>| known.range.start <= range.start && range.end <= known.range.end;
        known.database == blob.index() && changed.iter().all(is_in)
    };
    if let Some(known) = lock(&db.reaching).iter().find(is_known) {
        return known.records.iter().copied().filter(is_reaching).collect();
    }
    let parts = lazy::parts_for(blob.len(), 1 << 10);
    let share = blob.len().div_ceil(parts);
    let found = lazy::parts(parts, |part| {
        let first = part.saturating_mul(share);
        (first..first.saturating_add(share).min(blob.len())).filter(is_reaching).collect::<Vec<_>>()
    });
    found.concat()
}

/// Notes whether a record reaches one of some ranges: whether it has them, or an array, a text or a struct that it points to. A
/// record whose pointers cannot be followed counts as one that does.
pub(super) struct Reach<'a, 'r> {
    file: View<'a>,
    /// In order, and disjoint.
    ranges: &'r [Range<usize>],
    budget: &'r Budget,
    pub(super) is_met: bool,
    /// The arrays and texts that overlap one of the ranges.
    pub(super) met: Vec<(usize, usize)>,
    /// The error of arrays that overlap excessively.
    pub(super) spent: Option<Error>,
}

impl<'a, 'r> Reach<'a, 'r> {
    pub(super) fn new(file: View<'a>, ranges: &'r [Range<usize>], budget: &'r Budget) -> Self {
        Self { file, ranges, budget, is_met: false, met: Vec::new(), spent: None }
    }

    pub(super) fn walk(&mut self, blob: Blob<'a>, record: usize) {
        let Ok((view, size)) = blob.record_span(record) else { return };
        self.meet(view.position(), size);
        match blob.record(record) {
            Ok(Some(typed)) => typed.walk_fields(self),
            Ok(None) => {}
            Err(_) => self.is_met = true,
        }
    }

    fn meet(&mut self, start: usize, len: usize) -> bool {
        let behind = self.ranges.partition_point(|range| range.end <= start);
        let meets = self.ranges.get(behind).is_some_and(|range| range.start < start.saturating_add(len));
        self.is_met |= meets;
        meets
    }
}

impl<'a> Walker<'a> for Reach<'a, '_> {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        if let Leaf::Text(text) = leaf {
            let (start, len) = (self.file.locate(text).position(), text.len().saturating_add(1));
            if self.meet(start, len) && !text.is_empty() {
                self.met.push((start, start.saturating_add(len)));
            }
        }
    }

    fn target(&mut self, view: View<'a>, size: usize) {
        self.meet(view.position(), size);
    }

    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        if list.len == 0 || self.spent.is_some() {
            return false;
        }
        let (start, len) = (list.view.position(), list.bytes());
        if self.meet(start, len) {
            self.met.push((start, start.saturating_add(len)));
        }
        let descends = !list.of.traits.flat;
        if descends && let Err(error) = self.budget.spend_at(list.view, list.bytes()) {
            self.spent = Some(error);
        }
        descends && self.spent.is_none()
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
    use super::super::prototypes::{Prototype, Visual};
    use super::super::record::Typed as _;
    use super::*;
    use crate::reader::Reader;
    use crate::report::{Check, Progress};
    use crate::source::Source;
    use crate::table::{Value, column_index};
    use crate::writable::{TableEdits, Writable as _};
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
            let Some(reached) = reached(&new, &old, std::slice::from_ref(&(at..at + 1))) else { continue };
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

    /// Records that an edit has walked over are not walked over again.
    #[test]
    fn an_edit_reaches_the_records_that_it_has_met_as_a_walk_would() {
        let bytes = demo(3, Size::Small);
        let (db, other) = (open(&bytes), open(&bytes));
        let table = Reader::table(&db, "lods").unwrap();
        let column = column_index(&*table, "extent").unwrap();
        let mut met = 0;
        for row in 0..table.len().unwrap().min(20) {
            let set = vec![(row, vec![(column, Value::F32(0.125))])];
            let pieces = db.write(&[TableEdits { table: "lods".into(), set, ..TableEdits::default() }]).unwrap();
            let Some(changed) = pieces.changed(bytes.len()).filter(|changed| !changed.is_empty()) else { continue };
            assert!(lock(&db.reaching).iter().any(|known| !known.records.is_empty()));
            let [known, walked] = [&db, &other].map(|old| reached(&db, old, &changed).unwrap());
            assert_eq!(known.rows, walked.rows);
            assert!(known.rows_of("lods").contains(&row));
            met += 1;
        }
        assert!(met > 0);
    }

    #[test]
    fn a_pointer_to_a_record_or_out_of_its_database_is_damage() {
        let bytes = demo(3, Size::Small);
        let db = open(&bytes);
        let is_of_visuals = |blob: &Blob<'_>| blob.type_name() == Some("VisualPrototype");
        let blob = db.databases().flatten().find(is_of_visuals).unwrap();
        let record = blob.record_span(1).unwrap().0.position();
        let at = record + Visual::OF.field(Visual::number_of("lods")).at;
        let after = blob.records_end().unwrap();
        for (target, is_sound) in [
            (after, true),
            (after - 1, false),
            (record, false),
            (blob.records().position(), false),
            (blob.view().position() - 0x40, false),
            (blob.end() + 1, false),
        ] {
            let mut changed = bytes.clone();
            let pointer = target as i64 - record as i64;
            changed[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
            let db = open(&changed);
            let record = db.database(blob.index()).unwrap().record(1).unwrap();
            let Some(Prototype::Visual(visual)) = record else { panic!("it is a visual") };
            assert_eq!(visual.lods().is_ok(), is_sound, "{target:#x}");
        }
    }

    /// Nothing but the record itself leads to its bytes, so that no other record is read again.
    #[test]
    fn bytes_of_records_reach_these_records_alone() {
        let bytes = demo(3, Size::Small);
        let db = open(&bytes);
        for blob in db.databases().flatten().filter(|blob| blob.len() > 2) {
            let at = |record: usize| blob.record_span(record).unwrap().0.position();
            let reach = |changed: Range<usize>| records(&db, blob, std::slice::from_ref(&changed));
            assert_eq!(reach(at(1)..at(1) + 1), [1]);
            assert_eq!(reach(at(1) - 1..at(2) + 1), [0, 1, 2]);
            assert_eq!(reach(at(0)..blob.records_end().unwrap()).len(), blob.len());
            assert_eq!(records(&db, blob, &[at(0)..at(0) + 1, at(2) - 1..at(2)]), [0, 1]);
        }
    }

    #[test]
    fn bytes_outside_of_records_may_decide_anything() {
        let bytes = demo(3, Size::Small);
        let db = open(&bytes);
        let blob = db.database(0).unwrap();
        let place = |at: usize| reached(&db, &db, std::slice::from_ref(&(at..at + 1))).is_some();
        assert!(place(blob.records().position()) && place(blob.end() - 1));
        for at in [0, 0x40, blob.view().position(), db.paths().view(&db.paths().entries()[1]).position()] {
            assert!(!place(at), "{at:#x}");
        }
        let check = |reached: Reached| reached.report.checks.iter().map(Check::is_ok).collect::<Vec<_>>();
        let record = blob.record_span(1).unwrap().0.position();
        let reached = reached(&db, &db, &[record..record + 1, record + 2..record + 3]).unwrap();
        assert!(reached.rows_of("resources").len() <= 1 && !reached.rows_of("materials").is_empty(), "{reached:?}");
        assert_eq!(check(reached), [true]);
    }
}
