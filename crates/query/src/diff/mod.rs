//! Differences between two files of one format: rows added, removed and changed, by key, with the fields that changed.
//!
//! ```no_run
//! # fn main() -> assetq::Result<()> {
//! use assetq::{Asset, diff};
//! let (old, new) = (Asset::open("old/assets.bin")?, Asset::open("new/assets.bin")?);
//! for table in diff::tables(&old, &new, &[])? {
//!     for change in table.changes()? {
//!         println!("{} {change}", table.name());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - Columns with [`Role::Key`](crate::table::Role) pair the rows of both files. For repeated keys, and in a table
//!   without keys, equal rows are paired first, and then the others in order.
//! - Positions and the texts of ids are not compared, nor are columns that only one of the files has.
//! - Archives of any kind are compared by their files; a plain folder is an archive, too
//!   ([`Folder`](crate::archive::Folder)).
//! - A format may have its own comparison ([`Comparison`]): prototype databases compare the contents of records and of
//!   their arrays, at any position, as `record::differ` does. Records without a resource are paired by their
//!   contents. Records of an unknown layout are compared by their own bytes without pointers, if their size is known.
//!
//! Rows are not kept in memory: only a few numbers for each while a table is compared, and then the numbers of rows
//! that differ.

mod archive;
mod pair;
mod table;

pub use table::Seeker;
pub(super) use table::path_of_key;

pub use crate::compare::{
    Comparable, ComparedParts, Comparison, Damaged, DifferenceKind, Differences, Each, Faults, FieldChange, Finder,
    Keys, Pair, Side, Special, Verdict, same_value,
};

use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::files::hint_of_describing_files;
use crate::report::Progress;
use crate::suggest;
use crate::table::{Table, Value};
use crate::writable::refused;
use std::collections::BTreeMap;
use std::fmt;

/// A row that differs, in words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangedRow<'a> {
    /// Whether it was added, removed or changed.
    pub kind: DifferenceKind,
    /// The changed row's key: the one value, or a map of all. An id with a known path is shown as the path.
    pub key: Value<'a>,
    /// The changed row's kind, if its table has kinds: the type of a resource.
    pub what: Option<String>,
    /// The changed row's fields that changed; all of them when it was added or removed.
    pub fields: Vec<FieldChange<'a>>,
}

impl fmt::Display for ChangedRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.key)?;
        for FieldChange { name, old, new } in &self.fields {
            match self.kind {
                DifferenceKind::Added => write!(f, ", {name}: {new}")?,
                DifferenceKind::Removed => write!(f, ", {name}: {old}")?,
                DifferenceKind::Changed => write!(f, ", {name}: {old} -> {new}")?,
            }
        }
        Ok(())
    }
}

/// A table of both files, or of one of them.
pub struct TableDiff<'a> {
    name: String,
    /// The table of each [`Side`].
    sides: [Option<Box<dyn Table + 'a>>; 2],
    special: Option<Box<dyn Special + 'a>>,
    finder: Option<Finder<'a>>,
    /// Why one side may have the table, and does not show it.
    damage: Option<(Side, Error)>,
}

impl fmt::Debug for TableDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableDiff").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> TableDiff<'a> {
    /// The table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The table on one side, if present.
    pub fn side(&self, side: Side) -> Option<&(dyn Table + 'a)> {
        self.sides[side as usize].as_deref()
    }

    /// The damage for which one side may have the table, and does not show it. No row is then added or removed.
    pub fn damage(&self) -> Option<&(Side, Error)> {
        self.damage.as_ref()
    }

    /// The tables of both sides, if both have one.
    fn both(&self) -> Option<[&dyn Table; 2]> {
        Some([self.side(Side::Old)?, self.side(Side::New)?])
    }

    /// Columns that only one of the tables has, by side: they are not compared.
    pub fn lone_columns(&self) -> [Vec<String>; 2] {
        self.both().map_or_else(Default::default, |[old, new]| table::lone_columns(old, new))
    }

    /// The rows that differ, if the format finds them itself.
    fn found(&self, parts: ComparedParts) -> Option<Differences> {
        self.finder.as_ref().and_then(|find| find(parts))
    }

    /// Finds the rows that differ, if an edit has made the new file of the old one.
    pub fn find_edited(&self) -> Differences {
        self.found(ComparedParts::Edited).unwrap_or_else(|| self.find(&Progress::default(), 0))
    }

    /// Finds the rows that differ, on all cores. `progress` advances by `steps` in all.
    pub fn find(&self, progress: &Progress, steps: u64) -> Differences {
        if let Some(damage) = &self.damage {
            return Differences { faults: vec![damage.clone()], fault_count: 1, ..Differences::default() };
        }
        if let Some(found) = self.found(ComparedParts::All) {
            progress.advance(steps);
            return found;
        }
        match (&self.special, self.both()) {
            (Some(special), _) => {
                let mut found = pair::differences(&**special, progress, steps);
                special.settle(&mut found);
                found
            }
            (None, Some([old, new])) => pair::differences(&table::Columns::new(old, new), progress, steps),
            (None, None) => {
                let mut found = Differences::default();
                for side in [Side::Old, Side::New] {
                    let Some(table) = self.side(side) else { continue };
                    let (count, fault) = table::count(table);
                    let rows = if fault.is_none() { (0..count).collect() } else { Vec::new() };
                    found.fault_count += u64::from(fault.is_some());
                    found.faults.extend(fault.map(|fault| (side, fault)));
                    match side {
                        Side::Old => (found.removed, found.rows_old) = (rows, count.into()),
                        Side::New => (found.added, found.rows_new) = (rows, count.into()),
                    }
                }
                found
            }
        }
    }

    /// Finds the rows that differ among the rows with one of these cells in the key column `key`, by probes. `None` if
    /// the tables have no probe for it, or several rows with one key.
    pub(crate) fn find_among(&self, key: &str, cells: &[Value<'_>]) -> Option<Differences> {
        let [old, new] = self.both().filter(|_| self.special.is_none())?;
        table::Columns::new(old, new).among(key, cells)
    }

    /// The key of a row that differs, with the text of an id if known: from the new file, if that has the row.
    ///
    /// # Errors
    /// When the key is damaged.
    pub fn key(&self, pair: Pair) -> Result<Value<'_>> {
        if let Some(key) = self.special.as_ref().and_then(|special| special.key(pair)) {
            return Ok(key);
        }
        match (self.side(Side::Old).zip(pair.old), self.side(Side::New).zip(pair.new)) {
            (_, Some((table, row))) | (Some((table, row)), None) => table::key(table, row),
            (None, None) => Ok(Value::Null),
        }
    }

    /// A row that differs, as a description. A cell that cannot be read is null, and `damaged` gets its error.
    pub fn change(&self, pair: Pair, damaged: &mut Damaged<'_>) -> ChangedRow<'_> {
        let side = pair.side();
        let key = self.key(pair).unwrap_or_else(|error| {
            damaged(side, error);
            Value::Null
        });
        let mut fields = Vec::new();
        match (pair.old.zip(pair.new), self.side(side)) {
            (Some(rows), _) => {
                let says_all = self.special.as_ref().is_some_and(|special| special.says_all());
                if let Some([old, new]) = self.both().filter(|_| !says_all) {
                    table::fields(old, new, rows, &mut fields, damaged);
                }
                if let Some(special) = &self.special {
                    special.fields(rows, &mut fields, damaged);
                }
            }
            (None, Some(table)) => table::lone_fields(table, pair, &mut fields, damaged),
            (None, None) => {}
        }
        ChangedRow { kind: pair.kind(), key, what: self.what(pair), fields }
    }

    /// All rows that differ, as descriptions.
    ///
    /// # Errors
    /// The first damage of either file. [`TableDiff::find`] and [`TableDiff::change`] continue after damage.
    pub fn changes(&self) -> Result<Vec<ChangedRow<'_>>> {
        let found = self.find(&Progress::default(), 0);
        let mut fault = found.faults.first().map(|(_, error)| error.clone());
        let changes = found.pairs().map(|pair| {
            self.change(pair, &mut |_, error| {
                fault.get_or_insert(error);
            })
        });
        let changes = changes.collect();
        fault.map_or(Ok(changes), Err)
    }

    /// The kind of a row, if its table has kinds: the type of a resource.
    pub fn what(&self, pair: Pair) -> Option<String> {
        self.special.as_ref().and_then(|special| special.what(pair))
    }

    /// Limits of the comparison so far, as messages, each with the side that causes it: missing files.
    pub fn notes(&self) -> Vec<(Side, String)> {
        self.special.as_ref().map_or_else(Vec::new, |special| special.notes())
    }

    /// Whether its rows are known by paths, so that folders group them.
    pub fn has_paths(&self) -> bool {
        let table = self.sides.iter().flatten().next();
        table.is_some_and(|table| table.columns().iter().any(|column| column.folders))
    }

    /// Keeps the pairs whose row `filter`, bound to each of the tables, matches on either side. `damaged` takes the damage of a
    /// cell that decides: its pair is removed unless the other row matches.
    pub fn retain_matching(
        &self,
        pairs: &mut Vec<Pair>,
        filter: &[Option<crate::table::filter::Bound>; 2],
        damaged: &mut dyn FnMut(Side, Error),
    ) {
        let mut sides = [Side::Old, Side::New].map(|side| {
            let rows = self.side(side).map(table::Seeker::new);
            (side, rows.zip(filter[side as usize].as_ref()))
        });
        pairs.retain(|pair| {
            sides.iter_mut().zip([pair.old, pair.new]).any(|((side, rows), row)| {
                let (Some((rows, filter)), Some(row)) = (rows, row) else { return false };
                let matches = rows.seek(row as usize).and_then(|row| filter.matches(row));
                matches.unwrap_or_else(|error| {
                    damaged(*side, error);
                    false
                })
            })
        });
    }
}

/// The tables of two files to compare: the ones called `wanted`, or without such names all that say something of their
/// own.
///
/// # Errors
/// `Syntax` when the files differ in format and are no archives, or neither has a table that is wanted; and the errors of
/// [`is_whole`].
pub fn tables<'a>(old: &'a Asset, new: &'a Asset, wanted: &[String]) -> Result<Vec<TableDiff<'a>>> {
    tables_among(old, new, wanted, |_| true)
}

/// The tables that say something of their own, and whose names `is_compared` accepts.
///
/// # Errors
/// As [`tables`].
pub fn tables_where<'a>(
    old: &'a Asset,
    new: &'a Asset,
    is_compared: impl Fn(&str) -> bool,
) -> Result<Vec<TableDiff<'a>>> {
    tables_among(old, new, &[], is_compared)
}

fn tables_among<'a>(
    old: &'a Asset,
    new: &'a Asset,
    wanted: &[String],
    is_compared: impl Fn(&str) -> bool,
) -> Result<Vec<TableDiff<'a>>> {
    let format = old.format();
    // Files of any two archives are compared by their paths.
    let archives = old.reader().archive().is_some() && new.reader().archive().is_some();
    if format != new.format() && !archives {
        return Err(refused(format!("files of two formats cannot be compared: {format} and {}", new.format())));
    }
    is_whole(old).and_then(|()| is_whole(new))?;
    let mut tables: Vec<TableDiff<'a>> = Vec::new();
    for (side, asset) in [(Side::Old, old), (Side::New, new)] {
        for table in asset.reader().alone().tables() {
            let at = tables.iter().position(|t| t.name == table.name()).unwrap_or_else(|| {
                tables.push(TableDiff {
                    name: table.name().to_owned(),
                    sides: [None, None],
                    special: None,
                    finder: None,
                    damage: None,
                });
                tables.len() - 1
            });
            tables[at].sides[side as usize].get_or_insert(table);
        }
    }
    for (name, asset) in wanted.iter().flat_map(|name| [(name, old), (name, new)]) {
        // Rows that one file has and shows raw are no rows that it lacks.
        if let Some(why) = asset.reader().absent(name) {
            let what = format!("table {name:?} cannot be compared: {why}").into();
            return Err(Error::of_part(ErrorKind::Unsupported { what }, asset.source().name().to_owned()));
        }
    }
    if let Some(missing) = wanted.iter().find(|name| tables.iter().all(|t| t.name != **name)) {
        let names = tables.iter().map(|table| &*table.name);
        let hint = suggest::hint_or_all(missing, "there are", names);
        let [old, new] = [old, new].map(|build| hint_of_describing_files(build, missing));
        let inside = if old == new { new } else { old + &new };
        return Err(refused(format!("no table {missing:?}{hint}{inside}")));
    }
    tables.retain(|table| is_compared(&table.name));
    let compared = comparison(old, new);
    for table in &mut tables {
        let own = compared.as_ref().and_then(|compared| compared.table(&table.name, wanted.is_empty()));
        table.finder = compared.as_ref().and_then(|compared| compared.finder(&table.name));
        table.special = own.or_else(|| archive::special(&table.name, old, new));
        table.damage = [(Side::Old, old), (Side::New, new)].into_iter().find_map(|(side, asset)| {
            let is_missing = table.side(side).is_none();
            let damage = is_missing.then(|| asset.reader().table_damage(&table.name)).flatten()?;
            Some((side, damage.context(format_args!("no table {}", table.name))))
        });
    }
    tables.retain(|table| match wanted {
        [] if table.damage.is_none() && absent(&table.name, &table.sides, [old, new]).is_some() => false,
        [] => {
            let is_derived = table.sides.iter().flatten().any(|table| table.nature().derived);
            // Other tables may leave out rows of a derived one: records that no resource names.
            table.special.is_some() || !is_derived
        }
        wanted => wanted.contains(&table.name),
    });
    Ok(tables)
}

/// Refuses an archive whose files are not all known, or whose indexes differ from their checksums: files would seem to be
/// removed, added, or unchanged.
///
/// # Errors
/// The damage of its indexes, and the errors of folders that cannot be read.
pub fn is_whole(asset: &Asset) -> Result<()> {
    let Some(archive) = asset.reader().archive() else { return Ok(()) };
    let whole = crate::archive::damage(archive).map_or(Ok(()), Err);
    let whole = whole.and_then(|()| archive.game().map_or(Ok(()), crate::archive::Game::check_indexes));
    whole.map_err(|error| error.context(asset.source().name()))
}

/// The comparison of the format of two files, if they have one format with its own.
pub(crate) fn comparison<'a>(old: &'a Asset, new: &'a Asset) -> Option<Box<dyn Comparison<'a> + 'a>> {
    if old.format() == new.format() { old.reader().compared(new.reader()) } else { None }
}

/// Why one of two files lacks a table that the other one has, if it does contain the table's data.
fn absent(name: &str, sides: &[Option<Box<dyn Table + '_>>; 2], [old, new]: [&Asset; 2]) -> Option<String> {
    match sides {
        [None, Some(_)] => old.reader().absent(name),
        [Some(_), None] => new.reader().absent(name),
        _ => None,
    }
}

/// Reasons, other than damage, for which rows are not compared: of prototype databases, that records of some types are not
/// laid out, or that only one side has the file with the models.
pub fn notes(old: &Asset, new: &Asset) -> Vec<String> {
    let mut notes = comparison(old, new).map_or_else(Vec::new, |compared| compared.notes());
    if old.format() == new.format() {
        for [has, lacks] in [[old, new], [new, old]] {
            let names: Vec<String> = has.reader().tables().iter().map(|table| table.name().to_owned()).collect();
            let lacks = lacks.reader();
            let lacking = names.iter().filter(|name| lacks.table(name).is_none() && lacks.table_damage(name).is_none());
            let mut all: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            for name in lacking {
                if let Some(why) = lacks.absent(name) {
                    all.entry(why).or_default().push(name);
                }
            }
            notes.extend(all.into_iter().map(|(why, names)| format!("not compared: {}: {why}", names.join(", "))));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::table::filter::Filter;
    use crate::table::{Column, DeclaredTable, RowCursor};
    use assetq_sample::wdb::{Cell, Game, Sheet};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A table that counts its walks.
    struct Walked<'t>(&'t dyn Table, &'t AtomicUsize);

    impl Table for Walked<'_> {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn columns(&self) -> &[Column] {
            self.0.columns()
        }

        fn len(&self) -> Result<usize> {
            self.0.len()
        }

        fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
            self.0.value(row, column)
        }

        fn cursor_over(&self, first: usize, columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.cursor_over(first, columns)
        }
    }

    fn sheet(rows: &[(&str, i64)]) -> Asset {
        let sheet = Sheet::new(Game::Later, "Items").fields(["u9Index"]);
        let sheet = rows.iter().fold(sheet, |sheet, (name, number)| sheet.record(name, [Cell::Int(*number)]));
        Asset::open(Source::from_vec("items.wdb", sheet.build())).unwrap()
    }

    #[test]
    fn among_some_keys_the_same_rows_are_found_as_among_all() {
        let old = sheet(&[("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)]);
        let new = sheet(&[("a", 1), ("c", 30), ("d", 4), ("e", 50), ("f", 6)]);
        let tables = tables(&old, &new, &["records".to_owned()]).unwrap();
        let found = tables[0].find(&Progress::default(), 0);
        assert_eq!((&found.removed, &found.added, &found.changed), (&vec![1], &vec![4], &vec![(2, 1), (4, 3)]));
        let among = |names: &[&'static str]| {
            let cells: Vec<Value<'_>> = names.iter().map(|name| Value::text(name)).collect();
            let found = tables[0].find_among("record", &cells).unwrap();
            (found.removed, found.added, found.changed)
        };
        assert_eq!(among(&["f", "e", "d", "c", "b", "a"]), (found.removed, found.added, found.changed));
        assert_eq!(among(&["c", "d", "nothing"]), (vec![], vec![], vec![(2, 1)]));
        assert_eq!(among(&["b", "c", "f", "f", "c", "b"]), (vec![1], vec![4], vec![(2, 1)]));
        assert!(tables[0].find_among("u9Index", &[Value::from(3)]).is_none());
    }

    #[test]
    fn rows_of_a_condition_are_found_in_one_walk_of_each_table() {
        let rows = |add: i64| (0..500).map(|n| (format!("r{n:03}"), n + add)).collect::<Vec<_>>();
        let [old, new] = [rows(0), rows(1)]
            .map(|rows| sheet(&rows.iter().map(|(name, number)| (&**name, *number)).collect::<Vec<_>>()));
        let walks = [const { AtomicUsize::new(0) }; 2];
        let mut tables = tables(&old, &new, &["records".to_owned()]).unwrap();
        let of_files = tables.remove(0);
        let [before, after] = [Side::Old, Side::New].map(|side| of_files.side(side).unwrap());
        let mut counted: TableDiff<'_> = TableDiff {
            name: "records".into(),
            sides: [Some(Box::new(Walked(before, &walks[0]))), Some(Box::new(Walked(after, &walks[1])))],
            special: None,
            finder: None,
            damage: None,
        };
        let shown = counted.side(Side::Old).unwrap();
        assert_eq!((shown.name(), shown.len().unwrap()), ("records", 500));
        let filter = Filter::parse("u9Index = 7").unwrap();
        let filters = [before, after].map(|table| Some(filter.bind(table.columns()).unwrap()));
        let mut pairs: Vec<Pair> = of_files.find(&Progress::default(), 0).pairs().collect();
        assert_eq!(pairs.len(), 500);
        counted.retain_matching(&mut pairs, &filters, &mut |_, error| panic!("{error}"));
        // The row with this number in the old file, and the one in the new file.
        assert_eq!(
            pairs.iter().map(|pair| (pair.old, pair.new)).collect::<Vec<_>>(),
            [(Some(6), Some(6)), (Some(7), Some(7))]
        );
        assert_eq!(walks.each_ref().map(|walks| walks.load(Ordering::Relaxed)), [1, 1]);
        // A table of one file only.
        counted.sides[0] = None;
        counted.retain_matching(&mut pairs, &filters, &mut |_, error| panic!("{error}"));
        assert_eq!(pairs.iter().map(|pair| pair.new).collect::<Vec<_>>(), [Some(6)]);
        let found = counted.find(&Progress::default(), 0);
        assert_eq!((found.removed.len(), found.added.len(), found.rows_old, found.rows_new), (0, 500, 0, 500));
        let change = counted.change(found.pairs().nth(6).unwrap(), &mut |_, error| panic!("{error}"));
        assert_eq!((change.kind, &*change.key.to_string()), (DifferenceKind::Added, "r006"));
        let fields = change.fields.iter().map(|field| format!("{} {} {}", field.name, field.old, field.new));
        assert_eq!(fields.collect::<Vec<_>>(), ["u9Index  7"]);
        counted.sides.swap(0, 1);
        let found = counted.find(&Progress::default(), 0);
        assert_eq!((found.removed.len(), found.added.len(), found.rows_old, found.rows_new), (500, 0, 500, 0));
    }

    /// A cell that cannot be read is damage of its own file, and no difference.
    #[test]
    fn damaged_cells_are_faults_of_their_sides() {
        let rows = [0u64, 1, 2];
        let torn = |key: u64, cell: u64| -> Option<Box<dyn Table + '_>> {
            let read = move |row: u64, bad: u64| match row == bad {
                true => Err(Error::of_part(ErrorKind::Cycle { at: row }, "rows")),
                false => Ok(Value::Uint(row)),
            };
            let table = DeclaredTable::over("rows", &rows)
                .column(Column::uint("id").key(), move |(_, row)| read(**row, key))
                .column(Column::uint("value"), move |(_, row)| read(**row, cell));
            Some(Box::new(table))
        };
        let compared = |old, new| {
            let diff = TableDiff { name: "rows".into(), sides: [old, new], special: None, finder: None, damage: None };
            let found = diff.find(&Progress::default(), 0);
            let faults: Vec<String> = found.faults.iter().map(|(side, error)| format!("{side:?} {error}")).collect();
            assert_eq!((found.removed.len(), found.added.len(), found.changed.len()), (0, 0, 0));
            assert!(matches!(diff.changes().unwrap_err().kind(), ErrorKind::Cycle { .. }));
            (diff, faults)
        };
        const NONE: u64 = 9;
        let (diff, mut faults) = compared(torn(NONE, 0), torn(NONE, 2));
        faults.sort();
        assert_eq!(faults, ["New rows: references form a cycle at 0x2", "Old rows: references form a cycle at 0x0"]);
        // A row is selected by its other side.
        let filter = Filter::parse("value < 1").unwrap();
        let filters = [Side::Old, Side::New].map(|side| Some(filter.bind(diff.side(side).unwrap().columns()).unwrap()));
        let mut pairs: Vec<Pair> = (0..3).map(|row| Pair { old: Some(row), new: Some(row) }).collect();
        let mut damaged = Vec::new();
        diff.retain_matching(&mut pairs, &filters, &mut |side, error| damaged.push(format!("{side:?} {error}")));
        assert_eq!(
            (pairs.len(), &damaged[..]),
            (
                1,
                &["Old rows: references form a cycle at 0x0", "New rows: references form a cycle at 0x2"]
                    .map(String::from)[..]
            )
        );
        // Without its key, a row of one file may be any row of the other.
        let (_, faults) = compared(torn(1, NONE), torn(NONE, NONE));
        assert_eq!(faults, ["Old rows: references form a cycle at 0x1"]);
    }

    /// Rows 0, 1, ... of a table of one key. The walk cannot go on at row `end`.
    struct Cut {
        columns: Vec<Column>,
        end: usize,
    }

    impl Table for Cut {
        fn name(&self) -> &str {
            "rows"
        }

        fn columns(&self) -> &[Column] {
            &self.columns
        }

        fn len(&self) -> Result<usize> {
            Ok(4)
        }

        fn value(&self, row: usize, _: usize) -> Result<Value<'_>> {
            Ok(Value::from(row as u64))
        }

        fn cursor_over(&self, first: usize, _: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
            Box::new(CutWalk { next: first, end: self.end })
        }
    }

    struct CutWalk {
        next: usize,
        end: usize,
    }

    impl RowCursor for CutWalk {
        fn advance(&mut self) -> Result<bool> {
            if self.next == self.end {
                return Err(Error::of_part(ErrorKind::Cycle { at: self.end as u64 }, "rows"));
            }
            self.next += 1;
            Ok(self.next <= 4)
        }

        fn row(&self) -> usize {
            self.next - 1
        }

        fn value(&self, _: usize) -> Result<Value<'_>> {
            Ok(Value::from(self.row() as u64))
        }
    }

    /// The rows after the damage are neither added nor removed, and a row that cannot be found again is damage of its side.
    #[test]
    fn a_walk_that_cannot_go_on_is_damage_of_its_side() {
        let rows = |end| -> Box<dyn Table> { Box::new(Cut { columns: vec![Column::uint("id").key()], end }) };
        let diff =
            |old, new| TableDiff { name: "rows".into(), sides: [old, new], special: None, finder: None, damage: None };
        let faults = |found: &Differences| {
            found.faults.iter().map(|(side, error)| format!("{side:?} {error}")).collect::<Vec<_>>()
        };
        const WHOLE: usize = 9;
        for (old, new, fault) in [
            (Some(rows(2)), Some(rows(WHOLE)), "Old rows: references form a cycle at 0x2"),
            (Some(rows(WHOLE)), Some(rows(2)), "New rows: references form a cycle at 0x2"),
            (Some(rows(2)), None, "Old rows: references form a cycle at 0x2"),
            (None, Some(rows(2)), "New rows: references form a cycle at 0x2"),
        ] {
            let diff = diff(old, new);
            let found = diff.find(&Progress::default(), 0);
            assert_eq!((found.removed.len(), found.added.len(), found.changed.len()), (0, 0, 0), "{fault}");
            assert_eq!(faults(&found), [fault]);
            assert!(matches!(diff.changes().unwrap_err().kind(), ErrorKind::Cycle { at: 2 }));
        }
        let (cut, whole) = (rows(2), rows(WHOLE));
        for (old, new, side) in [(&cut, &whole, Side::Old), (&whole, &cut, Side::New)] {
            let mut verdicts = Vec::new();
            let columns = table::Columns::new(&**old, &**new);
            crate::compare::Comparable::compare(&columns, &[(1, 1), (3, 3)], &mut |rows, verdict| {
                verdicts.push((rows, verdict.map_err(|(side, error)| (side, error.to_string()))));
            });
            let damage = (side, "rows: references form a cycle at 0x2".to_owned());
            assert_eq!(verdicts, [((1, 1), Ok(crate::compare::Verdict::Same)), ((3, 3), Err(damage))]);
        }
        let error = table::Seeker::new(&*whole).seek(7).err().unwrap();
        assert_eq!(error.to_string(), "rows: row 7, column 0 not found");
    }

    /// A cell that a description shows, and that cannot be read, fails the whole list of changes.
    #[test]
    fn the_changes_fail_with_the_damage_of_a_cell_that_they_show() {
        let rows = [0u64, 1];
        let table = DeclaredTable::over("rows", &rows)
            .column(Column::uint("id").key(), |(_, row)| Ok(Value::Uint(**row)))
            .column(Column::uint("value"), |(_, row)| match **row {
                1 => Err(Error::of_part(ErrorKind::Cycle { at: 1 }, "rows")),
                row => Ok(Value::Uint(row)),
            });
        let diff = TableDiff {
            name: "rows".into(),
            sides: [None, Some(Box::new(table))],
            special: None,
            finder: None,
            damage: None,
        };
        assert_eq!(diff.find(&Progress::default(), 0).added, [0, 1]);
        assert_eq!(diff.changes().unwrap_err().to_string(), "rows: references form a cycle at 0x1");
    }
}
