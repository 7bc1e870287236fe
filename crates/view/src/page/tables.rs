//! Tables in a page: every column in stretches of rows, and ids with their texts once for all tables.
//!
//! Derived columns are not stored: the text of an id is stored with the id, and the name at the end of a path with the
//! path.

use super::column::{self, Cells, ROWS};
use super::ids::{IdDictionaries, LocalIds};
use super::{Block, Page, PageSection};
use crate::error::{Error, Result};
use crate::table::{Column, Kind, Role, RowCursor, Table, Value};
use crate::threads::{self, prelude::*};
use crate::write::plain;
use serde_json::json;
use std::borrow::Cow;
use std::ops::Range;

/// Bounds of the tables in a page.
#[derive(Debug, Clone, Copy)]
pub struct TableLimits {
    /// Rows of a table.
    rows: usize,
    /// Bytes of a table's cells, before they are compressed.
    bytes: usize,
    /// Bytes of the cells of all tables, before they are compressed.
    all: usize,
}

impl TableLimits {
    /// Sizes that browsers can handle.
    pub const SHOWN: Self = Self { rows: 6_000_000, bytes: 256 << 20, all: 1 << 30 };
    /// Rows of a table that opens a file for each: further ones are left to a command, as a game has hundreds of thousands.
    const OPENED: usize = 2000;

    fn rows_of(self, table: &dyn Table) -> usize {
        if table.nature().opens_files { self.rows.min(Self::OPENED) } else { self.rows }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ColumnStorage {
    Own,
    /// The cells; null in rows with an id in another column, because its text is the cell.
    OwnOr(usize),
    /// Ids, with their texts from another column; `is_of_id` if an id has one text in all tables.
    Ids {
        text: Option<usize>,
        is_of_id: bool,
    },
    OfId(usize),
    /// The names at the ends of the paths in another column.
    Name(usize),
    /// The leaves of graphs contain it.
    Leaf(&'static str),
}

fn plans(table: &dyn Table, has_graphs: bool) -> Vec<ColumnStorage> {
    let columns = table.columns();
    let mut plans = vec![ColumnStorage::Own; columns.len()];
    for (n, column) in columns.iter().enumerate() {
        if !matches!(column.kind, Kind::Id64 | Kind::Id32) {
            continue;
        }
        let is_key = column.role == Role::Key;
        let path = (0..columns.len()).find(|&path| is_key && table.name_of_path(path).is_some());
        // Beside a key, any text belongs to it; beside other ids, a text column that is declared as theirs.
        let next = columns.get(n + 1).filter(|next| is_key || next.role == Role::Resolved);
        let beside = next.map(|_| n + 1).filter(|&next| table.name_of_path(next).is_none());
        let mut texts = [path, beside].into_iter().flatten();
        let chosen = texts.find(|&text| columns[text].kind == Kind::Text && plans[text] == ColumnStorage::Own);
        // No declaration states that the path of a row is the path of its key.
        let is_of_id = chosen.is_some_and(|text| text == n + 1 && columns[text].role == Role::Resolved);
        plans[n] = ColumnStorage::Ids { text: chosen, is_of_id };
        if let Some(text) = chosen {
            plans[text] = ColumnStorage::OfId(n);
        }
    }
    if let Some(leaves) = table.nature().leaves.filter(|_| has_graphs) {
        for (column, what) in [(leaves.path, "path"), (leaves.value, "value"), (leaves.graph, "graph")] {
            if plans[column] == ColumnStorage::Own {
                plans[column] = ColumnStorage::Leaf(what);
            }
        }
    }
    for column in 0..columns.len() {
        if let Some(ids) = table.ids_of(column)
            && matches!(plans[ids], ColumnStorage::Ids { .. })
            && plans[column] == ColumnStorage::Own
        {
            plans[column] = ColumnStorage::OwnOr(ids);
        }
    }
    for path in 0..columns.len() {
        if let Some(name) = table.name_of_path(path)
            && matches!(plans[path], ColumnStorage::OfId(_))
            && plans[name] == ColumnStorage::Own
        {
            plans[name] = ColumnStorage::Name(path);
        }
    }
    plans
}

#[derive(Debug)]
enum Local {
    Own(Cells),
    Ids(LocalIds),
    /// Another column contains them.
    Implied,
}

impl Local {
    /// Starts empty, for a column of `rows` rows.
    fn new(column: &Column, plan: ColumnStorage, rows: usize) -> Self {
        match plan {
            ColumnStorage::OfId(_) | ColumnStorage::Name(_) | ColumnStorage::Leaf(_) => Self::Implied,
            ColumnStorage::Ids { .. } => Self::Ids(LocalIds::of_rows(rows)),
            ColumnStorage::Own | ColumnStorage::OwnOr(_) => Self::Own(Cells::new(column.kind, rows)),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Own(cells) => cells.size(),
            Self::Ids(ids) => ids.size(),
            Self::Implied => 0,
        }
    }
}

#[derive(Debug)]
struct Stretch {
    rows: usize,
    columns: Vec<Local>,
}

impl Stretch {
    fn size(&self) -> usize {
        self.columns.iter().map(Local::size).sum()
    }
}

#[derive(Debug, Default)]
struct ReadRows {
    stretches: Vec<Stretch>,
    damage: Vec<Error>,
    damaged: u64,
}

/// The number of errors that are reported one by one; the others are counted.
const TOLD: usize = 10;

impl ReadRows {
    fn met(&mut self, error: Error) {
        self.damaged += 1;
        if self.damage.len() < TOLD {
            self.damage.push(error);
        }
    }
}

/// Reads `rows` of a table, or fewer if they exceed `most` bytes.
fn read(shown: &Shown<'_>, rows: Range<usize>, most: usize, dictionary: Option<&IdDictionaries>) -> ReadRows {
    let (table, plans) = (shown.table, &*shown.plans);
    // Ids are looked up in groups if their rows can be read again.
    let dictionary = dictionary.filter(|_| table.nature().random_access);
    // The walk does not prepare columns that are read rarely.
    let needed = plans.iter().enumerate().filter(|(_, plan)| match **plan {
        ColumnStorage::Own | ColumnStorage::OwnOr(_) | ColumnStorage::Ids { .. } => true,
        ColumnStorage::OfId(ids) => {
            !matches!(plans[ids], ColumnStorage::Ids { is_of_id: true, .. }) || dictionary.is_none()
        }
        ColumnStorage::Name(_) | ColumnStorage::Leaf(_) => false,
    });
    let needed: Vec<usize> = needed.map(|(n, _)| n).collect();
    let mut cursor = table.cursor_over(rows.start, Some(&needed));
    let (mut all, mut bytes, mut left, mut scratch) = (ReadRows::default(), 0usize, rows.len(), String::new());
    while left > 0 && bytes < most {
        // A table with an unknown number of rows may have few.
        let room = if table.nature().random_access { left.min(ROWS) } else { 0 };
        let new = table.columns().iter().zip(plans).map(|(column, plan)| Local::new(column, *plan, room)).collect();
        let mut stretch = Stretch { rows: 0, columns: new };
        let (mut size, mut first) = (0, None);
        while left > 0 && stretch.rows < ROWS && size < STRETCH {
            match cursor.advance() {
                Ok(true) => {}
                ended => {
                    if let Err(error) = ended {
                        all.met(error);
                    }
                    left = 0;
                    break;
                }
            }
            first.get_or_insert(cursor.row());
            row(&*cursor, plans, &mut stretch.columns, dictionary, &mut scratch, &mut |error| all.met(error));
            stretch.rows += 1;
            left -= 1;
            if stretch.rows.is_multiple_of(64) {
                size = stretch.size();
            }
        }
        settle(table, plans, &mut stretch.columns, dictionary, first, &mut all);
        bytes += stretch.size();
        if stretch.rows > 0 {
            all.stretches.push(stretch);
        }
    }
    all
}

/// Bytes of cells after which a stretch ends, whatever its rows.
const STRETCH: usize = 16 << 20;

/// Reads a row. Ids that may be in a dictionary are kept for [`settle`].
fn row(
    row: &dyn RowCursor,
    plans: &[ColumnStorage],
    columns: &mut [Local],
    dictionary: Option<&IdDictionaries>,
    scratch: &mut String,
    met: &mut dyn FnMut(Error),
) {
    for (n, (local, plan)) in columns.iter_mut().zip(plans).enumerate() {
        match (local, *plan) {
            (Local::Own(cells), plan) => {
                let cell = match (plan, dictionary) {
                    (ColumnStorage::OwnOr(ids), Some(known)) if row.value(ids).is_ok_and(|id| known.is_sure(&id)) => {
                        Ok(Value::Null)
                    }
                    _ => row.value(n),
                };
                if let Err(error) = cell.and_then(|cell| cells.push(&cell, scratch)) {
                    cells.push(&Value::Null, scratch).expect("null fits into every column");
                    met(error);
                }
            }
            (Local::Ids(ids), ColumnStorage::Ids { text, is_of_id }) => {
                let id = match row.value(n) {
                    Ok(Value::Id64(id)) => Some(id),
                    Ok(Value::Id32(id)) => Some(id.into()),
                    Ok(_) => None,
                    Err(error) => {
                        met(error);
                        None
                    }
                };
                if dictionary.is_some() && (is_of_id || text.is_none()) {
                    ids.push_later(id);
                    continue;
                }
                let scratch = &mut *scratch;
                let text = text.map(|text| move |texts: &mut String| push_text(&row.value(text)?, texts, scratch));
                ids.push(id, is_of_id, text).unwrap_or_else(&mut *met);
            }
            _ => {}
        }
    }
}

/// Looks up the ids of rows after reading. The first row of the stretch is the table's row `first`.
fn settle(
    table: &dyn Table,
    plans: &[ColumnStorage],
    columns: &mut [Local],
    dictionary: Option<&IdDictionaries>,
    first: Option<usize>,
    all: &mut ReadRows,
) {
    let (Some(dictionary), Some(first)) = (dictionary, first) else { return };
    for ((local, plan), column) in columns.iter_mut().zip(plans).zip(table.columns()) {
        let (Local::Ids(ids), ColumnStorage::Ids { text, .. }) = (local, *plan) else { continue };
        let mut scratch = String::new();
        let text = text.map(|text| {
            move |row: usize, texts: &mut String| push_text(&table.value(first + row, text)?, texts, &mut scratch)
        });
        ids.settle(dictionary.ids_of_kind(column.kind), text, &mut |error| all.met(error));
    }
}

/// Appends the text of a cell to `texts`; `false` for null.
fn push_text(cell: &Value<'_>, texts: &mut String, scratch: &mut String) -> Result<bool> {
    Ok(plain::text(cell, scratch)?.map(|text| texts.push_str(text)).is_some())
}

/// A table, and the share of it that has been written.
struct Shown<'f> {
    table: &'f dyn Table,
    plans: Vec<ColumnStorage>,
    rows: usize,
    bytes: usize,
    starts: Vec<usize>,
    widths: Vec<usize>,
    /// For each column whether it has cells that are texts.
    texts: Vec<bool>,
    damaged: u64,
    fault: Option<String>,
    /// Whether the limit is reached.
    full: bool,
}

#[derive(Debug, Clone)]
struct Job {
    table: usize,
    rows: Range<usize>,
}

struct TableWriter<'f, 'p, 'w> {
    tables: Vec<Shown<'f>>,
    most: TableLimits,
    /// Bytes of the cells of all tables.
    bytes: usize,
    page: &'p mut Page<'w>,
    met: &'p mut dyn FnMut(Vec<Error>, u64),
}

/// The cells of a block before it is compressed.
#[derive(Debug)]
enum Packed {
    Cells(Cells),
    Ids(Vec<u32>),
}

impl Packed {
    fn block(&self) -> Result<Block> {
        match self {
            Self::Cells(cells) if cells.are_texts() => Block::of_texts(&cells.to_bytes()),
            Self::Cells(cells) => Block::new(&cells.to_bytes()),
            Self::Ids(places) => Block::new(&column::ids(places)),
        }
    }
}

impl TableWriter<'_, '_, '_> {
    /// Writes the rows of `jobs`, in their order. The rows of a few jobs are read at once, and then their columns are
    /// compressed at once.
    fn run(&mut self, jobs: &[Job], dictionary: Option<&IdDictionaries>, ids: &mut IdDictionaries) -> Result<()> {
        for group in jobs.chunks(threads::count() * 2) {
            let wanted: Vec<&Job> = group.iter().filter(|job| !self.tables[job.table].full).collect();
            let (tables, most) = (&self.tables, self.most.bytes);
            let rows: Vec<ReadRows> = wanted
                .par_iter()
                .with_max_len(1)
                .map(|job| read(&tables[job.table], job.rows.clone(), most, dictionary))
                .collect();
            let mut columns = Vec::new();
            for (job, rows) in wanted.iter().zip(rows) {
                columns.extend(self.take(job.table, rows, dictionary, ids));
            }
            let blocks = columns.par_iter().with_max_len(1).map(|(name, cells)| Ok((name.clone(), cells.block()?)));
            self.page.add_all(blocks.collect())?;
        }
        Ok(())
    }

    /// Adds rows of the table number `n`, and returns the cells of their columns as blocks to be compressed.
    fn take(
        &mut self,
        n: usize,
        rows: ReadRows,
        dictionary: Option<&IdDictionaries>,
        all_ids: &mut IdDictionaries,
    ) -> Vec<(String, Packed)> {
        let mut blocks = Vec::new();
        let shown = &mut self.tables[n];
        if shown.full {
            return blocks;
        }
        shown.damaged += rows.damaged;
        if let (None, Some(error)) = (&shown.fault, rows.damage.first()) {
            shown.fault = Some(error.to_string());
        }
        if rows.damaged > 0 {
            (self.met)(rows.damage, rows.damaged);
        }
        for stretch in rows.stretches {
            let size = stretch.size();
            shown.full |= shown.bytes >= self.most.bytes || self.bytes >= self.most.all;
            if shown.full {
                break;
            }
            self.bytes += size;
            shown.bytes += size;
            for (place, (local, column)) in stretch.columns.into_iter().zip(shown.table.columns()).enumerate() {
                let (cells, width) = match local {
                    Local::Implied => continue,
                    Local::Own(cells) => {
                        shown.texts[place] |= cells.are_texts();
                        let width = if cells.are_null() { 0 } else { cells.width().max(1) };
                        (Packed::Cells(cells), width)
                    }
                    Local::Ids(ids) => {
                        let places = all_ids.add(column.kind, ids, dictionary);
                        let width = if column.kind == Kind::Id64 { 18 } else { 10 };
                        let width = if places.iter().all(|place| *place == 0) { 0 } else { width };
                        (Packed::Ids(places), width)
                    }
                };
                shown.widths[place] = width.max(shown.widths[place]);
                blocks.push((format!("t{n}.{}.{place}", shown.starts.len()), cells));
            }
            shown.starts.push(shown.rows);
            shown.rows += stretch.rows;
        }
        blocks
    }
}

/// Adds a part for each table, of at most `most` rows and bytes. The leaves of whole graphs are left out if the page
/// `has_graphs`. `file` is the command's argument, and `met` gets the damage: the number of faults, with the first few
/// of them.
pub fn add(
    most: TableLimits,
    page: &mut Page<'_>,
    tables: &[Box<dyn Table + '_>],
    has_graphs: bool,
    file: &str,
    met: &mut dyn FnMut(Vec<Error>, u64),
) -> Result<()> {
    let mut all = TableWriter { tables: Vec::new(), most, bytes: 0, page, met };
    let [mut first, mut then]: [Vec<Job>; 2] = Default::default();
    for (n, table) in tables.iter().enumerate() {
        let (columns, nature) = (table.columns().len(), table.nature());
        let mut shown = Shown {
            table: &**table,
            plans: plans(&**table, has_graphs),
            rows: 0,
            bytes: 0,
            starts: Vec::new(),
            widths: vec![0; columns],
            texts: vec![false; columns],
            damaged: 0,
            fault: None,
            full: false,
        };
        let jobs = if nature.dictionary { &mut first } else { &mut then };
        let limit = most.rows_of(&**table);
        match if nature.random_access { table.len() } else { Ok(limit) } {
            Ok(rows) if nature.random_access => {
                let rows = rows.min(limit);
                let all = (0..rows).step_by(ROWS).map(|begin| begin..(begin + ROWS).min(rows));
                jobs.extend(all.map(|rows| Job { table: n, rows }));
            }
            Ok(rows) => jobs.push(Job { table: n, rows: 0..rows }),
            Err(error) => {
                shown.fault = Some(error.to_string());
                (all.met)(vec![error], 1);
            }
        }
        all.tables.push(shown);
    }
    let mut dictionary = IdDictionaries::default();
    all.run(&first, None, &mut dictionary)?;
    let mut others = dictionary.after();
    all.run(&then, Some(&dictionary), &mut others)?;
    let TableWriter { tables, page, .. } = all;
    page.add_all(dictionary.blocks())?;
    page.add_all(others.blocks())?;
    for (name, stretches) in others.counts() {
        page.fact(name, stretches.into());
    }
    page.fact("stretch", ROWS.into());
    for (n, mut shown) in tables.into_iter().enumerate() {
        for (width, plan) in shown.widths.iter_mut().zip(&shown.plans) {
            let plan = if let ColumnStorage::Name(path) = plan { &shown.plans[*path] } else { plan };
            if let ColumnStorage::OfId(ids) = plan {
                let kind = shown.table.columns()[*ids].kind;
                *width = dictionary.ids_of_kind(kind).longest.max(others.ids_of_kind(kind).longest);
            }
        }
        page.part(part(shown, n, file, most));
    }
    Ok(())
}

fn part(shown: Shown<'_>, n: usize, file: &str, most: TableLimits) -> PageSection {
    let table = shown.table;
    let columns: Vec<_> = (table.columns().iter().zip(&shown.plans).zip(shown.widths.iter().zip(&shown.texts)))
        .map(|((column, plan), (width, texts))| {
            let (plan, of) = match *plan {
                ColumnStorage::Own => ("own", json!(null)),
                ColumnStorage::OwnOr(ids) => ("own", json!(ids)),
                ColumnStorage::Ids { text, .. } => ("ids", json!(text)),
                ColumnStorage::OfId(ids) => ("text", json!(ids)),
                ColumnStorage::Name(path) => ("name", json!(path)),
                ColumnStorage::Leaf(what) => ("leaf", json!(what)),
            };
            let [kind, role] = [format!("{:?}", column.kind), format!("{:?}", column.role)];
            let is_empty = *width == 0 && shown.rows > 0 && matches!(plan, "own" | "ids") && of.is_null();
            json!({ "name": column.name, "kind": kind, "role": role, "brief": column.brief, "width": width,
                "texts": texts, "plan": plan, "of": of, "empty": is_empty })
        })
        .collect();
    // A table with an unknown number of rows has more of them where it was cut off.
    let of = if table.nature().random_access { table.len().ok() } else { table.known_len() };
    let is_cut =
        of.map_or(shown.full || shown.rows >= most.rows_of(table), |of| of > shown.rows && shown.fault.is_none());
    let name = table.name();
    let more = is_cut.then(|| {
        let file = quoted(file);
        json!({ "of": of, "command": format!("assetq export {file} --table {name} --to {name}.parquet") })
    });
    let meta = json!({ "table": name, "block": format!("t{n}"), "rows": shown.rows, "starts": shown.starts,
        "columns": columns, "count": shown.rows, "more": more, "fault": shown.fault, "damaged": shown.damaged,
        "isSought": !table.nature().also.is_empty() });
    PageSection { id: format!("table={name}"), kind: "table", title: name.to_owned(), meta }
}

/// An argument of a command as a shell takes it.
pub fn quoted(argument: &str) -> Cow<'_, str> {
    if argument.chars().all(|c| c.is_alphanumeric() || "/._-:".contains(c)) {
        argument.into()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''")).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::DeclaredTable;

    /// A page within `most`: its parts, and all of it.
    fn page(most: TableLimits, tables: &[Box<dyn Table + '_>]) -> (Vec<serde_json::Value>, String) {
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, "a", "").unwrap();
        let mut met = |errors: Vec<Error>, _| panic!("{errors:?}");
        add(most, &mut page, tables, false, "it's.bin", &mut met).unwrap();
        let parts = page.parts.clone();
        page.finish().unwrap();
        (parts, String::from_utf8(out).unwrap())
    }

    fn numbers<'a>(count: usize, splits: bool) -> Box<dyn Table + 'a> {
        let table = DeclaredTable::new("numbers", move || Ok(count), move |row| Ok((row < count).then_some(row)))
            .column(Column::uint("n"), |row| Ok((*row).into()))
            .column(Column::text("word"), |row| Ok(Value::owned(format!("word {row} of so many bytes"))));
        Box::new(if splits { table.random_access() } else { table.known(|| None) })
    }

    #[test]
    fn a_table_that_is_cut_says_of_how_many_rows_and_how_to_get_them() {
        let few = TableLimits { rows: 4, ..TableLimits::SHOWN };
        for (splits, of) in [(true, json!(10)), (false, json!(null))] {
            let (parts, page) = page(few, &[numbers(10, splits)]);
            let meta = &parts[0]["meta"];
            let more =
                json!({ "of": of, "command": "assetq export 'it'\\''s.bin' --table numbers --to numbers.parquet" });
            assert_eq!((&meta["rows"], &meta["more"]), (&json!(4), &more), "{meta}");
            assert!(page.contains("id=\"b:t0.0.0\"") && !page.contains("id=\"b:t0.1.0\""));
        }
        let (parts, _) = page(TableLimits::SHOWN, &[numbers(10, true)]);
        assert_eq!((&parts[0]["meta"]["rows"], &parts[0]["meta"]["more"]), (&json!(10), &json!(null)));
    }

    #[test]
    fn a_table_that_opens_a_file_for_each_row_has_its_first_rows_and_the_command_for_all() {
        let opened = std::sync::atomic::AtomicUsize::new(0);
        let table = DeclaredTable::new("textures", || Ok(700_000), |row| Ok((row < 700_000).then_some(row))).column(
            Column::uint("width"),
            |_| {
                opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(64u64.into())
            },
        );
        let (parts, _) = page(TableLimits::SHOWN, &[Box::new(table.known(|| None).opens_files())]);
        let meta = &parts[0]["meta"];
        assert_eq!((&meta["rows"], &meta["more"]["of"]), (&json!(TableLimits::OPENED), &json!(null)), "{meta}");
        assert_eq!(opened.into_inner(), TableLimits::OPENED);
    }

    #[test]
    fn tables_share_what_a_page_has_room_for() {
        let rows = ROWS + 7;
        let tables = || [numbers(rows, true), numbers(rows, true)];
        let rows_of = |most: TableLimits| -> Vec<u64> {
            page(most, &tables()).0.iter().map(|part| part["meta"]["rows"].as_u64().unwrap()).collect()
        };
        let (rows, first) = (rows as u64, ROWS as u64);
        assert_eq!(rows_of(TableLimits::SHOWN), [rows, rows]);
        // The stretch that reaches a limit is the last one.
        assert_eq!(rows_of(TableLimits { bytes: 1000, ..TableLimits::SHOWN }), [first, first]);
        assert_eq!(rows_of(TableLimits { all: 1000, ..TableLimits::SHOWN }), [first, 0]);
    }

    #[test]
    fn a_page_is_the_same_each_time() {
        let tables: Vec<Box<dyn Table>> = (0..40).map(|n| numbers(n * 1000, n % 3 > 0)).collect();
        let (_, first) = page(TableLimits::SHOWN, &tables);
        assert!((0..5).all(|_| page(TableLimits::SHOWN, &tables).1 == first));
    }
}
