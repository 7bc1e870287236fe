//! A file as lines of text in a stable order, for `git diff` and `git log -p`.
//!
//! Tables have the order of the reader, rows the order of their keys, and each cell has one line. Positions and encodings are left out,
//! so that equal contents give equal text. The key of a row begins a line, and its cells are indented below it. A hash with a known text
//! is shown as the text.
//!
//! Only the keys of one table are kept in memory, with shared parts of neighbouring keys stored once, and some hundred rows as text.
//! Rows that only a walk finds ([`Nature::sequential`](crate::table::Nature::sequential)) keep the order of the file.

mod order;

use crate::asset::Asset;
use crate::diff;
use crate::error::{Error, ErrorKind, Result};
use crate::escape::escape;
use crate::table::{Role, RowCursor, Table, Value, advance};
use crate::threads::{self, Parallel as _, prelude::*};
use crate::writable::keys;
use crate::write::plain::push_escaped;
use std::io::{self, Write};
use std::ops::Range;

/// Rows that are formatted at once.
const UNIT: u32 = 128;
/// Units for each thread that are formatted while earlier ones are written.
const UNITS: usize = 16;
/// Rows whose keys are read at once.
const SHARE: usize = 1 << 13;

/// Writes `asset` as lines. Damaged cells and rows are a line with this fact, and `damaged` gets their errors.
///
/// # Errors
/// When `out` fails.
pub fn write(asset: &Asset, out: &mut (dyn Write + Send), mut damaged: impl FnMut(Error)) -> io::Result<()> {
    let version = asset.reader().version();
    writeln!(out, "format: {}", asset.format())?;
    if !version.is_empty() {
        writeln!(out, "version: {}", escape(&version))?;
    }
    for table in asset.reader().tables() {
        writeln!(out, "\n[{}]", escape(table.name()))?;
        let lines = Lines::new(&*table);
        if table.nature().sequential {
            lines.walk(out, &mut damaged)?;
        } else {
            lines.table(out, &mut damaged)?;
        }
    }
    Ok(())
}

struct Lines<'t> {
    table: &'t dyn Table,
    keys: Vec<KeyColumn>,
    cells: Vec<CellColumn>,
}

struct KeyColumn {
    column: usize,
    /// The column of the paths of its ids.
    path: Option<usize>,
}

struct CellColumn {
    column: usize,
    label: Label,
    /// The column of the texts of its hashes.
    text: Option<(usize, Label)>,
}

/// The name of a column, cleaned, as a line of its cells begins.
struct Label(String);

impl Label {
    fn new(name: &str) -> Self {
        Self(format!("\t{}: ", escape(name)))
    }

    fn name(&self) -> &str {
        &self.0["\t".len()..self.0.len() - ": ".len()]
    }
}

/// Consecutive rows whose keys differ only in the last part, a number that increases by one with each row.
struct Run {
    /// The first row's key without that number, in the shared text: each part ends with a NUL.
    head: Range<usize>,
    number: Option<u64>,
    row: u32,
    len: u32,
}

impl Run {
    /// At most [`UNIT`] rows of this run, after the first `skip`.
    fn piece(&self, skip: u32) -> Self {
        Self {
            head: self.head.clone(),
            number: self.number.map(|number| number + u64::from(skip)),
            row: self.row + skip,
            len: (self.len - skip).min(UNIT),
        }
    }
}

#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
    /// The numbers of the runs in the order of their keys.
    order: Vec<u32>,
    texts: String,
    /// Whether a part of a key is missing among the texts in its shown form.
    is_coded: bool,
    fault: Option<Error>,
}

#[derive(Default)]
struct Unit {
    runs: Vec<Run>,
    text: String,
    /// The shared key of the rows of a run, in its shown form.
    head: String,
    /// The name of the part of a cell that is being written.
    name: String,
    faults: Vec<Error>,
}

impl<'t> Lines<'t> {
    fn new(table: &'t dyn Table) -> Self {
        let columns = table.columns();
        let keys = keys(table).map(|column| KeyColumn { column, path: diff::path_of_key(table, column) });
        let keys: Vec<KeyColumn> = keys.collect();
        // Keys are in the line of the row, and positions are left out.
        let mut shown: Vec<usize> = (0..columns.len()).collect();
        shown.retain(|at| !matches!(columns[*at].role, Role::Key | Role::Place));
        shown.retain(|at| keys.iter().all(|key| key.path != Some(*at)));
        shown.retain(|at| (0..columns.len()).all(|path| table.name_of_path(path) != Some(*at)));
        let cells = shown.into_iter().map(|column| {
            let text = table.text_of(column).map(|at| (at, Label::new(&columns[at].name)));
            CellColumn { column, label: Label::new(&columns[column].name), text }
        });
        Self { table, cells: cells.collect(), keys }
    }

    /// Writes all rows in the order of the file.
    fn walk(&self, out: &mut dyn Write, damaged: &mut dyn FnMut(Error)) -> io::Result<()> {
        let mut unit = Unit::default();
        let mut cursor = self.table.cursor(0);
        while advance(&mut *cursor, |error| unit.damage("rows", error)) {
            self.key(&*cursor, &mut unit);
            self.cells(&*cursor, &mut unit);
            unit.write(out, damaged)?;
        }
        unit.write(out, damaged)
    }

    /// Writes all rows in the order of their keys; without keys, in the order of the file.
    fn table(&self, out: &mut (dyn Write + Send), damaged: &mut dyn FnMut(Error)) -> io::Result<()> {
        let mut all = self.runs();
        if let Some(fault) = all.fault.take() {
            let mut unit = Unit::default();
            unit.damage("rows", fault);
            unit.write(out, damaged)?;
        }
        let in_order = all.order.iter().filter_map(|&run| all.runs.get(run as usize));
        let mut left = in_order.flat_map(|run| (0..run.len).step_by(UNIT as usize).map(|skip| run.piece(skip)));
        let units = threads::count() * UNITS;
        let (mut made, mut next) = (Vec::new(), Vec::new());
        made.resize_with(units, Unit::default);
        next.resize_with(units, Unit::default);
        next.iter_mut().for_each(|unit| unit.fill(&mut left));
        while made.iter().chain(&next).any(|unit| !unit.is_empty()) {
            // While some units are made, the units before them are written, and are given the rows to be made next.
            let (written, ()) = threads::join(
                || {
                    made.iter_mut().try_for_each(|unit| {
                        out.write_all(unit.text.as_bytes())?;
                        unit.text.clear();
                        unit.fill(&mut left);
                        io::Result::Ok(())
                    })
                },
                || next.as_mut_slice().into_par_iter().with_max_len(1).for_each(|unit| self.unit(&all, unit)),
            );
            written?;
            made.iter_mut().for_each(|unit| unit.faults.drain(..).for_each(&mut *damaged));
            std::mem::swap(&mut made, &mut next);
        }
        Ok(())
    }

    fn unit(&self, all: &Runs, unit: &mut Unit) {
        let mut seeker = diff::Seeker::new(self.table);
        let rows = unit.runs.iter().map(|run| run.row as usize..(run.row + run.len) as usize);
        self.table.prefetch(&rows.collect::<Vec<_>>());
        for run in std::mem::take(&mut unit.runs) {
            let is_shared = !run.head.is_empty() && !all.is_coded;
            if is_shared {
                unit.share(&all.texts[run.head]);
            }
            for at in 0..run.len {
                // A row is located once for all of its cells.
                let cursor = match seeker.seek((run.row + at) as usize) {
                    Ok(cursor) => cursor,
                    Err(error) => {
                        unit.damage("row", error);
                        continue;
                    }
                };
                match is_shared {
                    true => unit.key(run.number.map(|number| number + u64::from(at))),
                    false => self.key(cursor, unit),
                }
                self.cells(cursor, unit);
            }
        }
    }

    /// The rows in the order of their keys; without keys, in the order of the file.
    fn runs(&self) -> Runs {
        let len = self.table.len();
        if let (true, Ok(len)) = (self.keys.is_empty(), &len)
            && let Ok(len) = u32::try_from(*len)
        {
            let runs = vec![Run { head: 0..0, number: None, row: 0, len }];
            return Runs { runs, order: vec![0], ..Runs::default() };
        }
        let mut all = Runs::default();
        match len {
            Ok(len) if self.table.nature().random_access => {
                let shares: Vec<Range<usize>> =
                    (0..len).step_by(SHARE).map(|start| start..(start + SHARE).min(len)).collect();
                for together in shares.chunks(threads::count() * 4) {
                    let read: Vec<Runs> = together.par_iter().map(|rows| self.keys_of(rows.clone())).collect();
                    read.into_iter().for_each(|part| all.append(part));
                }
            }
            _ => all = self.keys_of(0..usize::MAX),
        }
        all.order = match self.keys.is_empty() {
            true => (0u32..).zip(&all.runs).map(|(run, _)| run).collect(),
            false => {
                let texts = &all.texts;
                order::by_text(
                    &all.runs,
                    |run| texts[run.head.clone()].as_bytes(),
                    |a, b| (a.number, a.row).cmp(&(b.number, b.row)),
                )
            }
        };
        all
    }

    /// The keys of the existing rows in a range.
    fn keys_of(&self, rows: Range<usize>) -> Runs {
        let mut found = Runs::default();
        let mut cursor = self.table.cursor(rows.start);
        let mut head = String::new();
        for row in rows {
            if !advance(&mut *cursor, |error| found.fault = Some(error)) {
                break;
            }
            let Ok(row) = u32::try_from(row) else {
                let (value, limit) = (row as u64, u32::MAX.into());
                let kind = ErrorKind::Limit { what: "rows in the order of their keys", value, limit };
                found.fault = Some(Error::of_part(kind, self.table.name().to_owned()));
                break;
            };
            head.clear();
            let number = self.sortable(&*cursor, &mut head, &mut found.is_coded).unwrap_or_else(|error| {
                head = error.to_string();
                None
            });
            let last = found.runs.last_mut().filter(|last| found.texts.get(last.head.clone()) == Some(&*head));
            let head = match last {
                Some(last)
                    if number.is_some() && last.number.and_then(|n| n.checked_add(last.len.into())) == number =>
                {
                    last.len += 1;
                    continue;
                }
                Some(last) => last.head.clone(),
                None => {
                    let start = found.texts.len();
                    found.texts.push_str(&head);
                    start..found.texts.len()
                }
            };
            found.runs.push(Run { head, number, row, len: 1 });
        }
        found
    }

    /// Appends the key of a row as a text with the same sort order, without a number at its end. Returns the number.
    fn sortable(&self, row: &dyn RowCursor, out: &mut String, is_coded: &mut bool) -> Result<Option<u64>> {
        for (at, key) in self.keys.iter().enumerate() {
            let number = match key.value(row)? {
                Value::Uint(number) if at + 1 == self.keys.len() => return Ok(Some(number)),
                Value::Uint(number) => Some(number),
                Value::Int(number) => Some(number.abs_diff(i64::MIN)),
                Value::Text(text) => {
                    *is_coded |= memchr::memchr(0, text.as_bytes()).is_some();
                    out.push_str(&text);
                    None
                }
                value => {
                    push_escaped(&value, out);
                    None
                }
            };
            if let Some(number) = number {
                *is_coded = true;
                out.push_str(&format!("{number:020}"));
            }
            // A NUL sorts before all bytes that may follow.
            out.push('\0');
        }
        Ok(None)
    }

    /// Makes the key of a row into a line.
    fn key(&self, row: &dyn RowCursor, unit: &mut Unit) {
        if self.keys.is_empty() {
            push_escaped(&row.row().into(), &mut unit.text);
        }
        for (at, key) in self.keys.iter().enumerate() {
            unit.text.push_str(if at == 0 { "" } else { "  " });
            match key.value(row) {
                Ok(value) => push_escaped(&value, &mut unit.text),
                Err(error) => unit.text.push_str(&escape(&error.to_string())),
            }
        }
        unit.text.push('\n');
    }

    fn cells(&self, row: &dyn RowCursor, unit: &mut Unit) {
        let mut said = None;
        for cell in self.cells.iter() {
            if said.take() == Some(cell.column) {
                continue;
            }
            if let Some((column, label)) = &cell.text {
                match row.value(*column) {
                    Ok(text) if !text.is_null() => {
                        unit.cell(label, &text);
                        said = Some(*column);
                        continue;
                    }
                    _ => {}
                }
            }
            match row.value(cell.column) {
                Ok(value) => unit.cell(&cell.label, &value),
                Err(error) => unit.damage(cell.label.name(), error),
            }
        }
    }
}

impl Runs {
    fn append(&mut self, part: Self) {
        let base = self.texts.len();
        let runs = part.runs.into_iter();
        self.runs.extend(runs.map(|run| Run { head: run.head.start + base..run.head.end + base, ..run }));
        self.texts.push_str(&part.texts);
        self.is_coded |= part.is_coded;
        self.fault = self.fault.take().or(part.fault);
    }
}

impl KeyColumn {
    /// The key of a row: the path of an id that has one.
    fn value<'r>(&self, row: &'r dyn RowCursor) -> Result<Value<'r>> {
        match self.path.map(|path| row.value(path)).transpose()? {
            Some(path) if !path.is_null() => Ok(path),
            _ => row.value(self.column),
        }
    }
}

impl Unit {
    /// Whether there is nothing to format, to write or to report.
    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.text.is_empty() && self.faults.is_empty()
    }

    fn fill(&mut self, left: &mut impl Iterator<Item = Run>) {
        let mut count = 0;
        while count < UNIT
            && let Some(run) = left.next()
        {
            count += run.len;
            self.runs.push(run);
        }
    }

    fn damage(&mut self, name: &str, error: Error) {
        self.text.push_str(&format!("\t{}: damaged: {}\n", name, escape(&error.to_string())));
        self.faults.push(error);
    }

    /// Stores the shared part of keys, whose parts end with NUL, in its shown form.
    fn share(&mut self, head: &str) {
        self.head.clear();
        for (at, part) in head.strip_suffix('\0').unwrap_or(head).split('\0').enumerate() {
            self.head.push_str(if at == 0 { "" } else { "  " });
            self.head.push_str(&escape(part));
        }
    }

    /// Makes the key that is shared, and a number, into a line.
    fn key(&mut self, number: Option<u64>) {
        self.text.push_str(&self.head);
        if let Some(number) = number {
            self.text.push_str("  ");
            push_escaped(&number.into(), &mut self.text);
        }
        self.text.push('\n');
    }

    /// Makes a cell into lines; a null becomes no line.
    fn cell(&mut self, label: &Label, value: &Value<'_>) {
        match value {
            Value::Null => {}
            Value::List(_) | Value::Map(_) => {
                self.name.clear();
                self.name.push_str(label.name());
                self.leaves(value);
            }
            value => {
                self.text.push_str(&label.0);
                push_escaped(value, &mut self.text);
                self.text.push('\n');
            }
        }
    }

    /// Makes `value` into a line for each part that is no list of plain values.
    fn leaves(&mut self, value: &Value<'_>) {
        let len = self.name.len();
        match value {
            Value::Null => {}
            Value::Map(_) if let Some(text) = value.named() => self.leaves(text),
            Value::Map(parts) => {
                for (part, value) in parts {
                    self.name.push('.');
                    self.name.push_str(&escape(part));
                    self.leaves(value);
                    self.name.truncate(len);
                }
            }
            Value::List(parts) if parts.iter().any(|part| matches!(part, Value::Map(_) | Value::List(_))) => {
                for (index, value) in parts.iter().enumerate() {
                    self.name.push('[');
                    push_escaped(&index.into(), &mut self.name);
                    self.name.push(']');
                    self.leaves(value);
                    self.name.truncate(len);
                }
            }
            value => {
                self.text.push('\t');
                self.text.push_str(&self.name);
                self.text.push_str(": ");
                push_escaped(value, &mut self.text);
                self.text.push('\n');
            }
        }
    }

    /// Writes the text, passes the faults to `damaged`, and clears both.
    fn write(&mut self, out: &mut dyn Write, damaged: &mut dyn FnMut(Error)) -> io::Result<()> {
        out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.faults.drain(..).for_each(damaged);
        Ok(())
    }
}
