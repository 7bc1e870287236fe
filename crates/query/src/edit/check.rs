//! Reads a written file back and compares it with the edits.

use super::resolve::misfit;
use super::{Cells, Pieces, Reached, ReadBack, TableEdits, refused};
use crate::asset::Asset;
use crate::compare::same_value;
use crate::diff;
use crate::error::{Error, Result};
use crate::reader::{Enriched, Reader};
use crate::report::{self, Progress};
use crate::table::{Accepts, Column, Kind, Role, RowCursor, Table, Tree, Value, rules};
use crate::writable::{agrees, differs, short};
use std::collections::{BTreeSet, HashMap};

/// Compares the rows of the edited tables with the old rows and the edits, and the rows of all other tables with the old ones:
/// the rows that can differ, or all.
pub(super) fn check(
    old: &Asset,
    new: &Asset,
    edits: &[TableEdits],
    pieces: &Pieces,
    reached: Option<&Reached>,
    progress: &Progress,
) -> Result<()> {
    let writable = old.reader().writable();
    let keying = writable.and_then(|writable| writable.keying());
    let keying = keying.filter(|keying| edits.iter().any(|edit| edit.table == *keying));
    for edit in edits {
        let (before, after) = (old.reader().table(&edit.table), new.reader().table(&edit.table));
        if before.as_ref().map(|table| table.columns().len()) != after.as_ref().map(|table| table.columns().len()) {
            return Err(differs(format!("table {} has other columns", edit.table)));
        }
        let (Some(before), Some(after)) = (before, after) else { continue };
        if pieces.vouched.contains(&edit.table) {
            continue;
        }
        if let Some(writable) = writable.filter(|_| pieces.read_back == ReadBack::Parts)
            && writable.compare(new.reader(), edit)?
        {
            continue;
        }
        let follows = pieces.follows.iter().filter(|(table, _)| *table == edit.table).map(|(_, column)| *column);
        let follows: Vec<usize> = follows.collect();
        let free = Free { follows, keys: keying.is_some_and(|keying| keying != edit.table) };
        let added = pieces.added.iter().find(|(table, _)| *table == edit.table).map(|(_, rows)| &**rows);
        match reached {
            Some(reached) => rows(&*before, &*after, edit, reached.rows_of(&edit.table), &free)?,
            None => whole(&*before, &*after, edit, added, &free)?,
        }
    }
    let is_free =
        |name: &str| edits.iter().any(|edit| edit.table == name) || pieces.also.iter().any(|also| also == name);
    if let Some(reached) = reached {
        for (name, at) in reached.rows.iter().filter(|(name, _)| !is_free(name)) {
            if let (Some(before), Some(after)) = (old.reader().table(name), new.reader().table(name)) {
                rows(&*before, &*after, &TableEdits::default(), at, &Free { follows: Vec::new(), keys: false })?;
            }
        }
        return Ok(());
    }
    // An entry that the format has written by itself says not which rows it changes.
    if pieces.read_back == ReadBack::Parts || edits.is_empty() {
        return Ok(());
    }
    for table in diff::tables(old, new, &[])? {
        let name = table.name();
        if is_free(name) {
            continue;
        }
        if let Some(pair) = table.find(progress, 0).pairs().next() {
            let key = table.key(pair).map_or_else(|error| error.to_string(), |key| key.to_string());
            return Err(differs(format!("{name} {key} was {}, too", pair.kind().name())));
        }
    }
    Ok(())
}

/// Whether a cell of a row must keep its value unless it was edited.
fn stays(column: &Column, is_edited: bool) -> bool {
    match column.role {
        Role::Place | Role::Resolved => false,
        _ => column.accepts != Accepts::Nothing || !is_edited,
    }
}

/// Whether a cell has the requested value. Where no text is null, an empty one is null, too.
fn is_written(column: &Column, value: &Value<'_>, wanted: &Value<'static>) -> bool {
    let is_no_text = |value: &Value<'_>| value.is_null() || value.as_text().is_some_and(|text| text.is_empty());
    let is_null = column.kind == Kind::Text && column.accepts == Accepts::OrNull;
    agrees(value, wanted) || is_null && is_no_text(value) && is_no_text(wanted)
}

/// Whether two cells are equal; unreadable cells are equal on both sides.
fn same(old: Result<Value<'_>>, new: Result<Value<'_>>) -> bool {
    match (old, new) {
        (Ok(old), Ok(new)) => same_value(&old, &new),
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

fn other_cell(table: &dyn Table, row: usize, column: &Column) -> Error {
    differs(format!("{}: row {row}: column {} differs", table.name(), column.name))
}

/// Columns of an edited table whose cells may differ from the edits.
struct Free {
    /// The derived columns of edited rows, by their numbers.
    follows: Vec<usize>,
    /// Whether all keys that cannot be written may change, because an edit of another table decides them.
    keys: bool,
}

/// Compares a row with the old row and its edit.
fn row(
    table: &dyn Table,
    old: &dyn RowCursor,
    new: &dyn RowCursor,
    asked: Option<&[(usize, Value<'static>)]>,
    free: &Free,
) -> Result<()> {
    for (at, column) in table.columns().iter().enumerate() {
        let is_decided = free.keys && column.role == Role::Key && column.accepts == Accepts::Nothing;
        if is_decided || (asked.is_some() && free.follows.contains(&at)) {
            continue;
        }
        let wanted = asked.and_then(|asked| asked.iter().find(|(column, _)| *column == at));
        let holds = match wanted {
            Some((_, wanted)) => new.value(at).is_ok_and(|value| is_written(column, &value, wanted)),
            None => !stays(column, asked.is_some()) || same(old.value(at), new.value(at)),
        };
        if !holds {
            return Err(other_cell(table, new.row(), column));
        }
    }
    Ok(())
}

/// The requested cells of edited rows.
struct Asked<'e> {
    rows: HashMap<usize, &'e [(usize, Value<'static>)]>,
    /// By the rows that are stored: all rows of a stored row follow an edit of one of them.
    of_stored: HashMap<usize, &'e [(usize, Value<'static>)]>,
}

impl<'e> Asked<'e> {
    fn new(old: &dyn Table, edit: &'e TableEdits) -> Self {
        let rows: HashMap<usize, &[_]> = edit.set.iter().map(|(row, set)| (*row, &**set)).collect();
        let of_stored = rows.iter().map(|(row, set)| (old.repeated(*row).unwrap_or(*row), *set)).collect();
        Self { rows, of_stored }
    }

    fn of(&self, old: &dyn Table, row: usize) -> Option<&'e [(usize, Value<'static>)]> {
        self.rows.get(&row).or_else(|| self.of_stored.get(&old.repeated(row).unwrap_or(row))).copied()
    }
}

/// Compares the edited rows, and the rows at `reached`.
fn rows(old: &dyn Table, new: &dyn Table, edit: &TableEdits, reached: &[usize], free: &Free) -> Result<()> {
    // Rows are counted on demand: an earlier lookup may have counted the old rows.
    if let (Some(before), Some(after)) = (known_rows(old), known_rows(new))
        && before != after
    {
        return Err(other_rows(new));
    }
    let (mut before, mut after) = (diff::Seeker::new(old), diff::Seeker::new(new));
    let stored = old.stored_len();
    let reached = reached.iter().copied().filter(|row| stored.is_none_or(|stored| *row < stored));
    let numbers: BTreeSet<usize> = edit.set.iter().map(|(row, _)| *row).chain(reached).collect();
    let asked = Asked::new(old, edit);
    for number in numbers {
        row(new, before.seek(number)?, after.seek(number)?, asked.of(old, number), free)?;
    }
    Ok(())
}

/// The number of stored rows, if it is known without a walk.
fn known_rows(table: &dyn Table) -> Option<usize> {
    table.known_len().map(|len| table.stored_len().unwrap_or(len))
}

fn other_rows(table: &dyn Table) -> Error {
    differs(format!("table {} has another number of rows", table.name()))
}

fn advance(rows: &mut dyn RowCursor, stored: Option<usize>) -> Result<bool> {
    Ok(rows.advance()? && stored.is_none_or(|stored| rows.row() < stored))
}

/// Compares all rows: kept rows are in order, and inserted rows are where the format puts them, or last.
fn whole(old: &dyn Table, new: &dyn Table, edit: &TableEdits, added: Option<&[usize]>, free: &Free) -> Result<()> {
    let asked = Asked::new(old, edit);
    let mut removed = edit.remove.iter().copied().peekable();
    let came: HashMap<usize, usize> = added.into_iter().flatten().copied().zip(0..).collect();
    let (mut before, mut after) = (old.cursor(0), new.cursor(0));
    let (stored_before, stored_after) = (old.stored_len(), new.stored_len());
    let mut come = 0usize;
    loop {
        let more = advance(&mut *after, stored_after);
        if matches!(more, Ok(true))
            && let Some(number) = came.get(&after.row())
        {
            is_new(new, &*after, edit.add.get(*number))?;
            come += 1;
            continue;
        }
        let stayed = loop {
            match advance(&mut *before, stored_before) {
                Ok(true) if removed.next_if_eq(&before.row()).is_some() => {}
                other => break other,
            }
        };
        match (stayed, more) {
            (Ok(true), Ok(true)) => {
                row(new, &*before, &*after, asked.of(old, before.row()), free)?;
            }
            (Ok(false), Ok(true)) if added.is_none() => {
                is_new(new, &*after, edit.add.get(come))?;
                come += 1;
            }
            // After damage nothing can be compared, on both sides.
            (Ok(false), Ok(false)) | (Err(_), Err(_)) => break,
            _ => return Err(other_rows(new)),
        }
    }
    if come == edit.add.len() && removed.next().is_none() { Ok(()) } else { Err(other_rows(new)) }
}

fn is_new(table: &dyn Table, at: &dyn RowCursor, asked: Option<&super::ColumnValues>) -> Result<()> {
    let Some(asked) = asked else {
        return Err(differs(format!("table {} has a row more at {}", table.name(), at.row())));
    };
    for (column, wanted) in asked {
        let Some(of) = table.columns().get(*column) else {
            return Err(differs(format!("table {} has other columns", table.name())));
        };
        if !at.value(*column).is_ok_and(|value| is_written(of, &value, wanted)) {
            return Err(other_cell(table, at.row(), of));
        }
    }
    Ok(())
}

/// Checks that `cat` shows the requested tree of an entry.
pub(super) fn entry(new: &Asset, entry: &str, shown: &Value<'static>) -> Result<()> {
    let mut tree = Tree::default();
    let is_there = new.reader().cat(entry, &mut tree)?;
    if is_there && agrees(&tree.into_value(), shown) {
        return Ok(());
    }
    Err(differs(format!("entry {entry:?} differs")))
}

/// Checks that row `row` has the cells of its edited entry: some cells show others, and may contradict them.
pub(super) fn row_entry(table: &dyn Table, row: usize, cells: &Cells) -> Result<()> {
    for (name, wanted) in cells {
        let Some((at, column)) = table.columns().iter().enumerate().find(|(_, column)| column.name == *name) else {
            continue;
        };
        if matches!(column.accepts, Accepts::Nothing | Accepts::Path | Accepts::Name) {
            continue;
        }
        let now = table.value(row, at)?;
        if !is_written(column, &now, wanted) {
            let what = format!("does not fit: by another cell of the entry it is {}", short(&now));
            return Err(misfit(table, column, wanted, what));
        }
    }
    Ok(())
}

/// Checks that `verify` has no finding in the new file that it does not have in the old one, and returns the number of
/// findings in the new file. The edits were compared by then, so a new finding means that the edits contradict each other
/// or the rest of the file. If the parts that can differ are known, and none of them has a finding, no other part is checked.
///
/// Files around the new file may state what the edits removed from it. Programs without these files read it, too: it is also
/// checked alone.
pub(super) fn verified(
    old: &Asset,
    new: &Asset,
    edits: &[TableEdits],
    reached: Option<&Reached>,
    progress: &Progress,
) -> Result<u64> {
    let found = verified_as(old.reader(), new.reader(), "verify", edits, reached, progress)?;
    let alone = [old, new].map(|file| file.reader().facet::<dyn Enriched>().and_then(|file| file.alone()));
    if let [Some(old), Some(new)] = alone {
        verified_as(old, new, "verify of the file alone", edits, reached, &Progress::default())?;
    }
    Ok(found)
}

/// As [`verified`], for one way to read both files, which messages call `verify`.
fn verified_as(
    old: &dyn Reader,
    new: &dyn Reader,
    verify: &str,
    edits: &[TableEdits],
    reached: Option<&Reached>,
    progress: &Progress,
) -> Result<u64> {
    let is_ok = match reached {
        Some(reached) => reached.report.is_ok(),
        None => {
            let edited = new.writable().and_then(|writable| writable.verify_edited(old, progress));
            edited.is_some_and(|report| report.is_ok())
        }
    };
    if is_ok {
        return Ok(0);
    }
    let report = new.verify(progress);
    if report.is_ok() {
        return Ok(0);
    }
    let before = old.verify(&Progress::default());
    // Rows get other numbers if rows before them are inserted or deleted.
    let renumbered = edits.is_empty() || edits.iter().any(|edit| !edit.add.is_empty() || !edit.remove.is_empty());
    no_new_finding(verify, &before.checks, &report.checks, renumbered)?;
    Ok(report.checks.iter().map(report::Check::found).sum())
}

/// Checks that the rules between rows hold in the new file, as far as they hold in the old one.
pub(super) fn rules(old: &Asset, new: &Asset) -> Result<()> {
    no_new_finding("verify", &rules::check(&old.reader().tables()), &rules::check(&new.reader().tables()), true)
}

fn no_new_finding(verify: &str, before: &[report::Check], after: &[report::Check], renumbered: bool) -> Result<()> {
    for check in after {
        let of_old = before.iter().find(|other| other.name == check.name);
        if let Some(finding) = new_finding(check, of_old, renumbered) {
            let what = "the file would be damaged by these edits, so nothing is kept";
            return Err(refused(format!("{what}: {verify}, {}: {finding}", check.name)));
        }
    }
    Ok(())
}

/// The first finding of a check that the check of the old file does not have. Further findings than a check keeps are
/// compared by their number only.
fn new_finding(check: &report::Check, old: Option<&report::Check>, renumbered: bool) -> Option<String> {
    let (kept, found) = old.map_or((&[][..], 0), |old| (old.findings(), old.found()));
    let mut left: HashMap<Finding, usize> = HashMap::new();
    for finding in kept {
        let known = left.entry(Finding::of(finding, renumbered)).or_default();
        *known += 1;
    }
    let is_complete = found == kept.len() as u64;
    let of_new = check.findings().iter().find(|finding| {
        let known = left.get_mut(&Finding::of(finding, renumbered)).filter(|known| **known > 0);
        known.map(|known| *known -= 1).is_none() && is_complete
    });
    match of_new {
        Some(finding) => Some(finding.to_string()),
        None if check.found() > found => Some(format!("{} more findings than before", check.found() - found)),
        None => None,
    }
}

/// A finding without what an edit elsewhere changes: positions, and values that are derived from the whole file.
#[derive(PartialEq, Eq, Hash)]
struct Finding {
    kind: &'static str,
    part: String,
    what: String,
}

impl Finding {
    fn of(error: &Error, renumbered: bool) -> Self {
        let part = if renumbered { without_digits(error.part()) } else { error.part().to_owned() };
        Self { kind: error.kind().name(), part, what: without_digits(&error.kind().to_string()) }
    }
}

/// The text without the digits of its numbers, which are decimal or hexadecimal.
fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_hexdigit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::source::Source;
    use crate::table::column_index;
    use assetq_sample::wdb::{Cell, Game, Sheet};

    fn check(findings: &[(&'static str, &'static str, u64)]) -> report::Check {
        let mut check = report::Check::new("mappings");
        for &(part, what, offset) in findings {
            check.fail(Error::new(ErrorKind::Damaged { what: what.into() }, part, offset));
        }
        check
    }

    #[test]
    fn a_finding_is_new_if_the_old_file_has_none_of_its_kind_in_its_row() {
        let old = check(&[("mapping 3", "ends at 0x10", 0x80), ("mapping 5", "ends at 0x20", 0xA0)]);
        let is_new = |findings, renumbered| new_finding(&check(findings), Some(&old), renumbered).is_some();
        // The same rows at other positions, or one less.
        assert!(!is_new(&[("mapping 3", "ends at 0x18", 0x90), ("mapping 5", "ends at 0x28", 0xB0)], false));
        assert!(!is_new(&[("mapping 5", "ends at 0x20", 0xA0)], false));
        // As many, and one of them in another row, or of another kind.
        assert!(is_new(&[("mapping 3", "ends at 0x10", 0x80), ("mapping 6", "ends at 0x20", 0xA8)], false));
        assert!(is_new(&[("mapping 3", "its id is there twice", 0x80)], false));
        assert!(is_new(&[("mapping 3", "ends at 0x10", 0x80), ("mapping 3", "ends at 0x10", 0x80)], false));
        // Rows before it were deleted.
        assert!(!is_new(&[("mapping 2", "ends at 0x10", 0x70), ("mapping 4", "ends at 0x20", 0x90)], true));
        assert!(is_new(&[("mapping 2", "its id is there twice", 0x70)], true));
        assert!(new_finding(&check(&[("mapping 3", "ends", 0)]), None, true).is_some());
    }

    /// A sheet with these records, each with its number.
    fn sheet(column: &str, records: &[(&str, u32)]) -> Asset {
        let sheet = Sheet::new(Game::Later, "Items").fields([column]);
        let sheet =
            records.iter().fold(sheet, |sheet, (name, number)| sheet.record(name, [Cell::Int((*number).into())]));
        Asset::open(Source::from_vec("items.wdb", sheet.build())).unwrap()
    }

    /// Files that a wrong writer could make for these edits.
    #[test]
    fn a_file_that_is_not_what_was_asked_is_named_with_what_differs() {
        let old = sheet("u9Index", &[("a", 1), ("b", 2)]);
        let records = old.reader().table("records").unwrap();
        let [name, number] = ["record", "u9Index"].map(|name| column_index(&*records, name).unwrap());
        let edit = |set: &[(usize, u32)], add: &[(&'static str, u32)], remove: &[usize]| TableEdits {
            table: "records".into(),
            set: set.iter().map(|(row, to)| (*row, vec![(number, (*to).into())])).collect(),
            add: add.iter().map(|(key, to)| vec![(name, (*key).into()), (number, (*to).into())]).collect(),
            remove: remove.to_vec(),
        };
        let compare = |edit: TableEdits, new: &Asset| {
            let pieces = Pieces::whole(old.source().bytes().len());
            super::check(&old, new, &[edit], &pieces, None, &Progress::default())
        };
        for (edit, column, rows, message) in [
            (edit(&[(0, 5)], &[], &[]), "u9Index", &[("a", 6), ("b", 2)][..], "records: row 0: column u9Index differs"),
            (edit(&[(0, 5)], &[], &[]), "u9Index", &[("a", 5), ("b", 3)], "records: row 1: column u9Index differs"),
            (edit(&[(0, 5)], &[], &[]), "u9Index", &[("a", 5)], "table records has another number of rows"),
            (
                edit(&[(0, 5)], &[], &[]),
                "u9Index",
                &[("a", 5), ("b", 2), ("c", 3)],
                "table records has a row more at 2",
            ),
            (edit(&[], &[("c", 3)], &[]), "u9Index", &[("a", 1), ("b", 2)], "table records has another number of rows"),
            (
                edit(&[], &[("c", 3)], &[]),
                "u9Index",
                &[("a", 1), ("b", 2), ("c", 4)],
                "records: row 2: column u9Index differs",
            ),
            (
                edit(&[], &[("c", 3)], &[]),
                "u9Index",
                &[("a", 1), ("b", 2), ("d", 3)],
                "records: row 2: column record differs",
            ),
            (edit(&[], &[], &[0]), "u9Index", &[("a", 1), ("b", 2)], "records: row 0: column record differs"),
            (edit(&[], &[], &[1]), "u9Index", &[("a", 1), ("b", 2)], "table records has a row more at 1"),
            (edit(&[], &[], &[7]), "u9Index", &[("a", 1), ("b", 2)], "table records has another number of rows"),
        ] {
            let error = compare(edit, &sheet(column, rows)).unwrap_err().to_string();
            assert!(error.contains(message), "{message}: {error}");
        }
        let added = edit(&[(0, 5)], &[("c", 3)], &[1]);
        assert!(compare(added, &sheet("u9Index", &[("a", 5), ("c", 3)])).is_ok());
        // Another file has tables with other columns, or rows of tables that no edit names.
        let more = Sheet::new(Game::Later, "Items").fields(["u9Index", "u9More"]);
        let more = more.record("a", [Cell::Int(5), Cell::Int(0)]).build();
        let more = Asset::open(Source::from_vec("items.wdb", more)).unwrap();
        let error = compare(edit(&[(0, 5)], &[], &[]), &more).unwrap_err().to_string();
        assert!(error.contains("table records has other columns"), "{error}");
        let error = compare(edit(&[], &[], &[]), &sheet("u9Other", &[("a", 1), ("b", 2)])).unwrap_err().to_string();
        assert!(error.contains("was ") && error.contains(", too"), "{error}");
    }

    #[test]
    fn an_entry_must_show_what_was_asked() {
        let file = sheet("u9Index", &[("a", 1)]);
        let shown = |number: u64| Value::Map(vec![("u9Index".into(), number.into())]);
        let whole = |number: u64| {
            let mut tree = Tree::default();
            assert!(file.reader().cat("a", &mut tree).unwrap());
            let Value::Map(mut members) = tree.into_value() else { panic!("an object") };
            members.iter_mut().filter(|(name, _)| name == "u9Index").for_each(|(_, value)| *value = number.into());
            Value::Map(members)
        };
        assert!(entry(&file, "a", &whole(1)).is_ok());
        for (name, shown) in [("a", whole(2)), ("b", shown(1))] {
            let error = entry(&file, name, &shown).unwrap_err().to_string();
            assert!(error.contains(&format!("entry {name:?} differs")), "{error}");
        }
        let table = file.reader().table("records").unwrap();
        let cells = |number: u64| vec![("no such column".into(), Value::Null), ("u9Index".into(), number.into())];
        assert!(row_entry(&*table, 0, &cells(1)).is_ok());
        let error = row_entry(&*table, 0, &cells(2)).unwrap_err().to_string();
        assert!(
            error.contains("records: column u9Index: 2 does not fit: by another cell of the entry it is 1"),
            "{error}"
        );
    }
}
