//! The tables of sheets and packs.

use super::pack::Pack;
use super::{Entry, Field, FieldKind, Record, Sheet};
use crate::error::Result;
use crate::table::{Column, Kind, RowCursor, Table, Value, no_cell};
use std::collections::{HashMap, HashSet};

/// Fields that short listings show.
const BRIEF: usize = 8;

/// The columns of `records`: the record's name, then the fields. A name that is there already gets a number.
pub(super) fn record_columns(fields: &[Field]) -> Vec<Column> {
    let mut taken: HashSet<&str> = fields.iter().map(|field| &*field.name).collect();
    taken.insert("record");
    let mut seen: HashMap<&str, u64> = HashMap::from([("record", 1)]);
    let mut columns = vec![Column::new("record", Kind::Text).brief().key()];
    columns.extend(fields.iter().enumerate().map(|(index, field)| {
        let times = seen.entry(&field.name).and_modify(|times| *times = times.saturating_add(1)).or_insert(1);
        let mut name = field.name.clone();
        while *times > 1 {
            name = format!("{}_{times}", field.name);
            if !taken.contains(&*name) {
                break;
            }
            *times = times.saturating_add(1);
        }
        let column = Column::named(name, column_kind(field.kind));
        let column = if field.kind == FieldKind::Wide { column.wide() } else { column };
        if index < BRIEF { column.brief() } else { column }
    }));
    columns
}

fn column_kind(kind: FieldKind) -> Kind {
    match kind {
        FieldKind::Uint | FieldKind::Wide => Kind::Uint,
        FieldKind::Int => Kind::Int,
        FieldKind::Float => Kind::F32,
        FieldKind::Text | FieldKind::ArrayText(_) => Kind::Text,
        FieldKind::Raw => Kind::Id32,
        FieldKind::Fault(_) => Kind::Any,
    }
}

/// The tables of a sheet. Those of a sheet inside of a pack are called after its entry there.
pub(super) fn of_sheet<'a>(sheet: &'a Sheet, entry: Option<&'a str>) -> Vec<Box<dyn Table + 'a>> {
    match entry {
        Some(name) => vec![Box::new(Records { sheet, name })],
        None => vec![
            Box::new(Records { sheet, name: "records" }),
            Box::new(Rows {
                name: "sections",
                columns: &SECTION_COLUMNS,
                rows: sheet.section_entries(),
                cell: section_cell,
                of: sheet,
            }),
            Box::new(Rows {
                name: "fields",
                columns: &FIELD_COLUMNS,
                rows: sheet.fields(),
                cell: field_cell,
                of: sheet,
            }),
        ],
    }
}

/// The tables of a pack: its entries, and, where some of them are sheets, what they are and their records.
pub(super) fn of_pack(pack: &Pack) -> Vec<Box<dyn Table + '_>> {
    let mut tables: Vec<Box<dyn Table + '_>> = vec![Box::new(Rows {
        name: "entries",
        columns: &ENTRY_COLUMNS,
        rows: pack.entries(),
        cell: entry_cell,
        of: pack,
    })];
    let sheets = pack.sheets();
    if !sheets.is_empty() {
        tables.push(Box::new(Rows {
            name: "sheets",
            columns: &SHEET_COLUMNS,
            rows: sheets,
            cell: sheet_cell,
            of: pack,
        }));
        for sheet in sheets {
            if let Some((table, opened)) = sheet.opened() {
                tables.extend(of_sheet(opened, Some(table)));
            }
        }
    }
    tables
}

struct Records<'a> {
    sheet: &'a Sheet,
    name: &'a str,
}

/// The cell of `column`: the name, then the fields.
#[inline]
fn record_cell<'a>(record: &Record<'a>, column: usize) -> Result<Value<'a>> {
    match column.checked_sub(1) {
        None => Ok(Value::Text(record.name())),
        Some(field) => record.value(field),
    }
}

impl Table for Records<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> &[Column] {
        &self.sheet.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.sheet.records().len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        match self.sheet.record(row) {
            Some(record) => record_cell(&record, column),
            None => Err(no_cell(self.name, row, column)),
        }
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        let rest = self.sheet.records().get(first..).unwrap_or_default();
        Box::new(RecordCursor { table: self, rest, next: first, current: None })
    }

    fn finds(&self, column: usize) -> bool {
        column == 0
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        match (column, key.as_text()) {
            // A name with escaped bytes may be meant either way: comparing all of them is right.
            (0, Some(name)) if !name.contains("\\x") => Some(Ok(self.sheet.rows_named(&name).collect())),
            (0, None) => Some(Ok(Vec::new())),
            _ => None,
        }
    }

    fn label(&self) -> usize {
        0
    }
}

struct RecordCursor<'a> {
    table: &'a Records<'a>,
    rest: &'a [Entry],
    /// One more than the current row, once there is one.
    next: usize,
    current: Option<Record<'a>>,
}

impl RowCursor for RecordCursor<'_> {
    fn advance(&mut self) -> Result<bool> {
        let Some((entry, rest)) = self.rest.split_first() else { return Ok(false) };
        self.current = Some(Record::new(self.table.sheet, entry));
        self.rest = rest;
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    #[inline]
    fn value(&self, column: usize) -> Result<Value<'_>> {
        match &self.current {
            Some(record) => record_cell(record, column),
            None => Err(no_cell(self.table.name, self.row(), column)),
        }
    }
}

type Cell<'a, O, R> = fn(&'a O, usize, &'a R, usize) -> Option<Result<Value<'a>>>;

/// A table over a slice whose cells are made by a function.
struct Rows<'a, O, R> {
    name: &'static str,
    columns: &'static [Column],
    rows: &'a [R],
    cell: Cell<'a, O, R>,
    of: &'a O,
}

impl<O: Send + Sync, R: Send + Sync> Table for Rows<'_, O, R> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> &[Column] {
        self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.rows.len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let cell = self.rows.get(row).and_then(|item| (self.cell)(self.of, row, item, column));
        cell.unwrap_or_else(|| Err(no_cell(self.name, row, column)))
    }
}

/// A column that short listings show.
const fn brief(name: &'static str, kind: Kind) -> Column {
    Column::new(name, kind).brief()
}

/// A column by which rows are known, and one that tells where they lie.
const fn key(name: &'static str, kind: Kind) -> Column {
    Column::new(name, kind).brief().key()
}

/// See [`key`].
const fn place(name: &'static str, kind: Kind) -> Column {
    Column::new(name, kind).brief().place()
}

static SECTION_COLUMNS: [Column; 3] = [key("name", Kind::Text), place("offset", Kind::Uint), brief("size", Kind::Uint)];

fn section_cell<'a>(sheet: &'a Sheet, _: usize, entry: &'a Entry, column: usize) -> Option<Result<Value<'a>>> {
    Some(Ok(match column {
        0 => Value::Text(entry.name_text()),
        1 => sheet.source.view("").at(entry.offset.get() as usize).offset().into(),
        2 => entry.size.get().into(),
        _ => return None,
    }))
}

static FIELD_COLUMNS: [Column; 7] = [
    place("index", Kind::Uint),
    key("name", Kind::Text),
    brief("kind", Kind::Text),
    brief("bits", Kind::Uint),
    place("offset", Kind::Uint),
    place("bit", Kind::Uint),
    Column::new("fault", Kind::Text),
];

fn field_cell<'a>(_: &'a Sheet, row: usize, field: &'a Field, column: usize) -> Option<Result<Value<'a>>> {
    Some(Ok(match column {
        0 => row.into(),
        1 => Value::text(&field.name),
        2 => field.kind.name().into(),
        3 => field.bits.into(),
        4 => field.offset.into(),
        5 => field.shift.into(),
        6 => match field.kind {
            FieldKind::Fault(fault) => fault.to_string().into(),
            _ => Value::Null,
        },
        _ => return None,
    }))
}

static ENTRY_COLUMNS: [Column; 5] = [
    key("name", Kind::Text),
    key("extension", Kind::Text),
    place("offset", Kind::Uint),
    brief("size", Kind::Uint),
    Column::new("content", Kind::Id64),
];

fn entry_cell<'a>(pack: &'a Pack, row: usize, entry: &'a Entry, column: usize) -> Option<Result<Value<'a>>> {
    Some(Ok(match column {
        0 => Value::Text(entry.name_text()),
        1 => Value::Text(entry.extension_text()),
        2 => pack.source().view("").at(entry.offset.get() as usize).offset().into(),
        3 => entry.size.get().into(),
        4 => return Some(pack.content(row).map(Value::Id64)),
        _ => return None,
    }))
}

static SHEET_COLUMNS: [Column; 6] = [
    key("entry", Kind::Text),
    brief("table", Kind::Text),
    brief("sheet", Kind::Text),
    brief("records", Kind::Uint),
    brief("fields", Kind::Uint),
    Column::new("record_size", Kind::Uint),
];

fn sheet_cell<'a>(
    _: &'a Pack,
    _: usize,
    packed: &'a super::pack::PackedSheet,
    column: usize,
) -> Option<Result<Value<'a>>> {
    let opened = |cell: &dyn Fn(&'a Sheet) -> Value<'a>| packed.sheet().map(cell);
    Some(match column {
        0 => Ok(Value::text(packed.entry_name())),
        1 => Ok(packed.opened().map(|(table, _)| table).into()),
        2 => packed.sheet().and_then(|sheet| Ok(sheet.sheet_name()?.map_or(Value::Null, Value::Text))),
        3 => opened(&|sheet| sheet.records().len().into()),
        4 => opened(&|sheet| sheet.fields().len().into()),
        5 => opened(&|sheet| sheet.record_size().into()),
        _ => return None,
    })
}
