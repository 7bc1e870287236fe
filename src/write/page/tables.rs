//! Tables in a page: every column in stretches of rows, ids and their texts once for all tables.
//!
//! What a column says that another one implies is left out: the text of an id is kept with the id, the name at the end of a
//! path with the path.

use super::column::{self, Cells, Lists, ROWS, Texts};
use super::{Block, Page, Part};
use crate::error::{Error, Result};
use crate::table::{Column, Kind, Role, RowCursor, Table, Value};
use crate::threads::{self, prelude::*};
use crate::write::plain;
use hashbrown::HashTable;
use serde_json::json;
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a table that a page has.
const MOST_ROWS: usize = 1 << 22;
/// Bytes of a table's cells, before they are compressed, that a page has.
const MOST_BYTES: usize = 256 << 20;

/// How a column is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    /// By itself.
    Own,
    /// Ids, with the texts that another column has for them. `Some(true)` where an id has one text wherever it stands.
    Ids { text: Option<usize>, is_of_id: bool },
    /// The texts of the ids in another column.
    OfId(usize),
    /// The names at the ends of the paths in another column.
    Name(usize),
}

fn plans(table: &dyn Table) -> Vec<Plan> {
    let columns = table.columns();
    let is_id = |column: &Column| matches!(column.kind, Kind::Id64 | Kind::Id32);
    let mut plans = vec![Plan::Own; columns.len()];
    for (n, column) in columns.iter().enumerate().filter(|(_, column)| is_id(column)) {
        let is_free = |text: &usize| plans.get(*text) == Some(&Plan::Own);
        let text = |n: usize| columns.get(n).is_some_and(|column| column.kind == Kind::Text);
        // Beside a key, any text is about it; beside other ids, one that is said to be theirs.
        let of_it =
            |n: usize| column.role == Role::Key || columns.get(n).is_some_and(|text| text.role == Role::Resolved);
        let path = (0..columns.len()).find(|&path| column.role == Role::Key && table.name_of_path(path).is_some());
        let beside = n.checked_add(1).filter(|&n| text(n) && of_it(n) && table.name_of_path(n).is_none());
        let chosen = path.filter(|path| text(*path)).filter(is_free).or(beside.filter(is_free));
        let is_of_id = chosen.and_then(|text| columns.get(text)).is_some_and(|text| text.role == Role::Resolved);
        // The path of a row is that of its key by no declaration.
        let is_of_id = is_of_id && chosen == n.checked_add(1);
        if let Some(plan) = plans.get_mut(n) {
            *plan = Plan::Ids { text: chosen, is_of_id };
        }
        if let Some(plan) = chosen.and_then(|text| plans.get_mut(text)) {
            *plan = Plan::OfId(n);
        }
    }
    for path in 0..columns.len() {
        if let Some(name) = table.name_of_path(path)
            && matches!(plans.get(path), Some(Plan::OfId(_)))
            && let Some(plan @ Plan::Own) = plans.get_mut(name)
        {
            *plan = Plan::Name(path);
        }
    }
    plans
}

/// The ids of a stretch of rows.
#[derive(Debug, Default)]
struct LocalIds {
    all: Vec<LocalId>,
    texts: String,
    known: HashTable<u32>,
    rows: Vec<u32>,
}

#[derive(Debug, Clone)]
struct LocalId {
    id: u64,
    text: Said<Range<usize>>,
}

/// What is said of an id.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said<T> {
    /// Nothing.
    Nothing,
    /// That it has no text.
    Null,
    Text(T),
}

impl LocalIds {
    fn push(
        &mut self,
        id: Option<u64>,
        text: impl FnOnce(&mut String) -> Result<Said<()>>,
        is_of_id: bool,
    ) -> Result<()> {
        let Some(id) = id else {
            self.rows.push(0);
            return Ok(());
        };
        let Self { all, texts, known, rows } = self;
        let get = |place: u32| all.get(place as usize);
        if is_of_id {
            let last =
                rows.last().and_then(|last| last.checked_sub(1)).filter(|last| get(*last).is_some_and(|l| l.id == id));
            if let Some(place) =
                last.or_else(|| known.find(spread(id), |place| get(*place).is_some_and(|l| l.id == id)).copied())
            {
                rows.push(place.saturating_add(1));
                return Ok(());
            }
        }
        let begin = texts.len();
        let (said, damage) = match text(texts) {
            Ok(said) => (said, Ok(())),
            Err(error) => (Said::Null, Err(error)),
        };
        let text = match said {
            Said::Nothing => Said::Nothing,
            Said::Null => Said::Null,
            Said::Text(()) => Said::Text(begin..texts.len()),
        };
        let place = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let of = |place: u32| get(place).map_or(0, |local| spread(local.id));
        if is_of_id {
            known.insert_unique(spread(id), place, |place| of(*place));
        }
        all.push(LocalId { id, text });
        rows.push(place.saturating_add(1));
        damage
    }
}

/// An id as a hash: many are hashes already, and others are small numbers.
fn spread(id: u64) -> u64 {
    let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed.rotate_right(32)
}

/// The ids of all tables, each once for each text that it has.
#[derive(Debug, Default)]
struct Ids {
    all: Vec<u64>,
    said: Vec<Said<Range<usize>>>,
    texts: String,
    /// The first place of each id.
    known: HashTable<u32>,
    /// The places of further texts of ids.
    others: HashTable<u32>,
}

fn said<'t>(of: &Said<Range<usize>>, texts: &'t str) -> Said<&'t str> {
    match of {
        Said::Nothing => Said::Nothing,
        Said::Null => Said::Null,
        Said::Text(range) => Said::Text(texts.get(range.clone()).unwrap_or_default()),
    }
}

impl Ids {
    /// The places of ids among all.
    fn add(&mut self, local: &LocalIds) -> Vec<u32> {
        let places: Vec<u32> = local.all.iter().map(|of| self.place(of, &local.texts)).collect();
        let place = |row: &u32| {
            let place = row.checked_sub(1).and_then(|local| places.get(local as usize));
            place.map_or(0, |place| place.saturating_add(1))
        };
        local.rows.iter().map(place).collect()
    }

    fn place(&mut self, local: &LocalId, texts: &str) -> u32 {
        let text = said(&local.text, texts);
        let first =
            self.known.find(spread(local.id), |place| self.all.get(*place as usize) == Some(&local.id)).copied();
        let Some(first) = first else {
            let place = self.new_place(local.id, text);
            let Self { all, known, .. } = self;
            let hash_of = |place: &u32| spread(all.get(*place as usize).copied().unwrap_or(0));
            known.insert_unique(spread(local.id), place, hash_of);
            return place;
        };
        let own = self.said.get(first as usize).map_or(Said::Nothing, |own| said(own, &self.texts));
        // Nothing said is said by whatever else is known of the id.
        if text == Said::Nothing || own == text {
            return first;
        }
        if own == Said::Nothing {
            let text = self.keep(text);
            if let Some(own) = self.said.get_mut(first as usize) {
                *own = text;
            }
            return first;
        }
        let hash = |id: u64, text: Said<&str>| match text {
            Said::Text(text) => spread(id) ^ column::hash(text.as_bytes()),
            _ => !spread(id),
        };
        let Self { all, said: own, texts, others, .. } = self;
        let of = |place: u32| {
            let text = own.get(place as usize).map_or(Said::Nothing, |own| said(own, texts));
            (all.get(place as usize).copied().unwrap_or(0), text)
        };
        if let Some(place) = others.find(hash(local.id, text), |place| of(*place) == (local.id, text)) {
            return *place;
        }
        let place = self.new_place(local.id, text);
        let Self { all, said: own, texts, others, .. } = self;
        let hash_of = |place: &u32| {
            let text = own.get(*place as usize).map_or(Said::Nothing, |own| said(own, texts));
            hash(all.get(*place as usize).copied().unwrap_or(0), text)
        };
        others.insert_unique(hash(local.id, text), place, hash_of);
        place
    }

    fn new_place(&mut self, id: u64, text: Said<&str>) -> u32 {
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let text = self.keep(text);
        self.all.push(id);
        self.said.push(text);
        place
    }

    fn keep(&mut self, text: Said<&str>) -> Said<Range<usize>> {
        match text {
            Said::Nothing => Said::Nothing,
            Said::Null => Said::Null,
            Said::Text(text) => {
                let begin = self.texts.len();
                self.texts.push_str(text);
                Said::Text(begin..self.texts.len())
            }
        }
    }

    /// Writes them as blocks `NAME.0`, `NAME.1`, …: a `u32` count, the ids, and the folders and the names that their texts
    /// consist of.
    fn write(&self, name: &str, page: &mut Page<'_>) -> Result<usize> {
        let stretch = |(ids, said): (&[u64], &[Said<Range<usize>>])| {
            let (mut folders, mut names) = (Texts::default(), Texts::default());
            for said in said {
                let text = match said {
                    Said::Text(range) => self.texts.get(range.clone()),
                    _ => None,
                };
                let cut = text.map(|text| text.split_at(text.rfind('/').map_or(0, |at| at.saturating_add(1))));
                folders.push(cut.map(|(folder, _)| folder));
                names.push(cut.map(|(_, name)| name));
            }
            let mut bytes = u32::try_from(ids.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
            let is_short = ids.iter().all(|id| u32::try_from(*id).is_ok());
            bytes.extend(if is_short { 4u32 } else { 8 }.to_le_bytes());
            let size = if is_short { 4 } else { 8 };
            ids.iter().for_each(|id| bytes.extend(id.to_le_bytes().iter().take(size)));
            for texts in [folders.to_bytes(), names.to_bytes()] {
                bytes.extend(u32::try_from(texts.len()).unwrap_or(u32::MAX).to_le_bytes());
                bytes.extend(texts);
            }
            Block::new(&bytes)
        };
        let stretches: Vec<_> = self.all.chunks(ROWS).zip(self.said.chunks(ROWS)).collect();
        let blocks: Vec<Result<Block>> = stretches.par_iter().copied().map(stretch).collect();
        for (n, block) in blocks.into_iter().enumerate() {
            page.add(&format!("{name}.{n}"), &block?)?;
        }
        Ok(self.all.chunks(ROWS).len())
    }
}

/// The cells of one column in a stretch of rows.
#[derive(Debug)]
enum Local {
    Own(Cells),
    Ids(LocalIds),
    /// Another column says them.
    Implied,
}

impl Local {
    fn new(column: &Column, plan: Plan) -> Self {
        match plan {
            Plan::OfId(_) | Plan::Name(_) => Self::Implied,
            Plan::Ids { .. } => Self::Ids(LocalIds::default()),
            Plan::Own => Self::Own(match column.kind {
                Kind::Bool | Kind::Int | Kind::Uint => Cells::Numbers { all: Vec::new(), nulls: Vec::new() },
                Kind::F32 => Cells::F32(Vec::new()),
                Kind::F64 => Cells::F64(Vec::new()),
                Kind::Nested => Cells::Lists(Lists::default()),
                _ => Cells::Texts(Texts::default()),
            }),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Own(cells) => cells.size(),
            Self::Ids(ids) => ids.texts.len().saturating_add(ids.rows.len().saturating_mul(8)),
            Self::Implied => 0,
        }
    }
}

/// A stretch of rows as it was read.
#[derive(Debug)]
struct Stretch {
    rows: usize,
    columns: Vec<Local>,
}

/// What came of reading some rows.
#[derive(Debug, Default)]
struct Rows {
    stretches: Vec<Stretch>,
    damage: Vec<Error>,
    damaged: u64,
}

/// Errors that are told one by one; the others are counted.
const TOLD: usize = 10;

impl Rows {
    fn met(&mut self, error: Error) {
        self.damaged = self.damaged.saturating_add(1);
        if self.damage.len() < TOLD {
            self.damage.push(error);
        }
    }
}

/// Reads `rows` of `table`, or fewer where they take more than `most` bytes.
fn read(table: &dyn Table, plans: &[Plan], rows: Range<usize>, most: usize) -> Rows {
    let columns = table.columns();
    let needed: Vec<usize> =
        plans.iter().enumerate().filter(|(_, plan)| !matches!(plan, Plan::Name(_))).map(|(n, _)| n).collect();
    let mut cursor = table.cursor_over(rows.start, &needed);
    let (mut all, mut bytes, mut left, mut scratch) = (Rows::default(), 0usize, rows.len(), String::new());
    while left > 0 && bytes < most {
        let new = columns.iter().zip(plans).map(|(column, plan)| Local::new(column, *plan)).collect();
        let mut stretch = Stretch { rows: 0, columns: new };
        let mut size = 0;
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
            row(&*cursor, plans, &mut stretch.columns, &mut scratch, &mut |error| all.met(error));
            stretch.rows = stretch.rows.saturating_add(1);
            left = left.saturating_sub(1);
            if stretch.rows.is_multiple_of(64) {
                size = stretch.columns.iter().map(Local::size).sum();
            }
        }
        bytes = bytes.saturating_add(stretch.columns.iter().map(Local::size).sum());
        if stretch.rows > 0 {
            all.stretches.push(stretch);
        }
    }
    all
}

/// Bytes of cells after which a stretch ends, whatever its rows.
const STRETCH: usize = 16 << 20;

fn row(row: &dyn RowCursor, plans: &[Plan], columns: &mut [Local], scratch: &mut String, met: &mut dyn FnMut(Error)) {
    for (n, (local, plan)) in columns.iter_mut().zip(plans).enumerate() {
        match (local, *plan) {
            (Local::Own(cells), _) => {
                let pushed = match row.value(n) {
                    Ok(ref cell) => cells.push(cell, scratch),
                    Err(error) => cells.push(&Value::Null, scratch).and(Err(error)),
                };
                pushed.unwrap_or_else(&mut *met);
            }
            (Local::Ids(ids), Plan::Ids { text, is_of_id }) => {
                let id = match row.value(n) {
                    Ok(Value::Id64(id)) => Some(id),
                    Ok(Value::Id32(id)) => Some(id.into()),
                    Ok(_) => None,
                    Err(error) => {
                        met(error);
                        None
                    }
                };
                let text = |texts: &mut String| {
                    let Some(text) = text else { return Ok(Said::Nothing) };
                    let mut own = String::new();
                    Ok(match plain::text(&row.value(text)?, &mut own)? {
                        Some(text) => {
                            texts.push_str(text);
                            Said::Text(())
                        }
                        None => Said::Null,
                    })
                };
                ids.push(id, text, is_of_id).unwrap_or_else(&mut *met);
            }
            _ => {}
        }
    }
}

/// What of a table has been written.
#[derive(Debug, Default)]
struct Written {
    rows: usize,
    bytes: usize,
    /// The first row of each stretch.
    starts: Vec<usize>,
    widths: Vec<usize>,
    damaged: u64,
    fault: Option<String>,
    /// Whether there is no room for more.
    full: bool,
}

/// Bytes of the cells of all tables that a page has, before they are compressed.
const PAGE_BYTES: usize = 1 << 30;

/// Adds a part for each table. `file` is what the command was given, and `met` is told of damage: the number of faults, with
/// the first few of them.
pub fn add(
    page: &mut Page<'_>,
    tables: &[Box<dyn Table + '_>],
    file: &str,
    met: &mut dyn FnMut(Vec<Error>, u64),
) -> Result<()> {
    let plans: Vec<Vec<Plan>> = tables.iter().map(|table| plans(&**table)).collect();
    let mut written: Vec<Written> = Vec::new();
    let mut jobs: Vec<(usize, Range<usize>)> = Vec::new();
    for (n, table) in tables.iter().enumerate() {
        let mut shown = Written { widths: vec![0; table.columns().len()], ..Written::default() };
        match if table.splits() { table.len() } else { Ok(MOST_ROWS) } {
            Ok(rows) if table.splits() => {
                let begins = (0..rows.min(MOST_ROWS)).step_by(ROWS);
                jobs.extend(begins.map(|begin| (n, begin..begin.saturating_add(ROWS).min(rows).min(MOST_ROWS))));
            }
            Ok(rows) => jobs.push((n, 0..rows)),
            Err(error) => {
                shown.fault = Some(error.to_string());
                met(vec![error], 1);
            }
        }
        written.push(shown);
    }
    let (mut long, mut short, mut bytes) = (Ids::default(), Ids::default(), 0usize);
    for together in jobs.chunks(threads::count().saturating_mul(2).max(1)) {
        let read = |(n, rows): &(usize, Range<usize>)| match (tables.get(*n), plans.get(*n)) {
            (Some(table), Some(plans)) => read(&**table, plans, rows.clone(), MOST_BYTES),
            _ => Rows::default(),
        };
        let full = |(n, _): &&(usize, Range<usize>)| written.get(*n).is_some_and(|written| written.full);
        let wanted: Vec<_> = together.iter().filter(|job| !full(job)).cloned().collect();
        let all: Vec<Rows> = wanted.par_iter().map(read).collect();
        let mut blocks: Vec<(String, Ready)> = Vec::new();
        for ((n, _), rows) in wanted.into_iter().zip(all) {
            let (Some(table), Some(shown)) = (tables.get(n), written.get_mut(n)) else { continue };
            shown.damaged = shown.damaged.saturating_add(rows.damaged);
            if let (None, Some(error)) = (&shown.fault, rows.damage.first()) {
                shown.fault = Some(error.to_string());
            }
            if rows.damaged > 0 {
                met(rows.damage, rows.damaged);
            }
            for stretch in rows.stretches {
                let size: usize = stretch.columns.iter().map(Local::size).sum();
                shown.full |= shown.bytes >= MOST_BYTES || bytes >= PAGE_BYTES;
                if shown.full {
                    break;
                }
                bytes = bytes.saturating_add(size);
                shown.bytes = shown.bytes.saturating_add(size);
                for (place, (local, column)) in stretch.columns.into_iter().zip(table.columns()).enumerate() {
                    let name = format!("t{n}.{}.{place}", shown.starts.len());
                    let (ready, width) = match local {
                        Local::Implied => continue,
                        Local::Own(cells) => {
                            let width = cells.width();
                            (Ready::Cells(cells), width)
                        }
                        Local::Ids(ids) if column.kind == Kind::Id64 => (Ready::Ids(long.add(&ids)), 18),
                        Local::Ids(ids) => (Ready::Ids(short.add(&ids)), 10),
                    };
                    if let Some(most) = shown.widths.get_mut(place) {
                        *most = width.max(*most);
                    }
                    blocks.push((name, ready));
                }
                shown.starts.push(shown.rows);
                shown.rows = shown.rows.saturating_add(stretch.rows);
            }
        }
        let block = |(name, ready): &(String, Ready)| {
            let bytes = match ready {
                Ready::Cells(cells) => cells.to_bytes(),
                Ready::Ids(places) => column::ids(places),
            };
            Ok((name.clone(), Block::new(&bytes)?))
        };
        for block in blocks.par_iter().with_max_len(1).map(block).collect::<Vec<Result<_>>>() {
            let (name, block) = block?;
            page.add(&name, &block)?;
        }
    }
    for (name, ids) in [("i64", long), ("i32", short)] {
        let blocks = ids.write(name, page)?;
        page.fact(name, blocks.into());
    }
    for (n, ((table, plans), shown)) in tables.iter().zip(&plans).zip(written).enumerate() {
        page.part(part(&**table, plans, shown, n, file));
    }
    Ok(())
}

/// A column that is ready to be compressed.
#[derive(Debug)]
enum Ready {
    Cells(Cells),
    Ids(Vec<u32>),
}

fn part(table: &dyn Table, plans: &[Plan], shown: Written, n: usize, file: &str) -> Part {
    let columns: Vec<_> = (table.columns().iter().zip(plans).zip(&shown.widths))
        .map(|((column, plan), width)| {
            let (plan, of) = match *plan {
                Plan::Own => ("own", None),
                Plan::Ids { text, .. } => ("ids", text),
                Plan::OfId(ids) => ("text", Some(ids)),
                Plan::Name(path) => ("name", Some(path)),
            };
            let [kind, role] = [format!("{:?}", column.kind), format!("{:?}", column.role)];
            json!({ "name": column.name, "kind": kind, "role": role, "brief": column.brief, "width": width,
                "plan": plan, "of": of })
        })
        .collect();
    // A table that does not say how many rows there are has more where it was cut off.
    let of = if table.splits() { table.len().ok() } else { table.known_len() };
    let is_cut = of.map_or(shown.full || shown.rows >= MOST_ROWS, |of| of > shown.rows && shown.fault.is_none());
    let name = table.name();
    let more = is_cut.then(|| {
        let file: Cow<'_, str> = if file.chars().all(|c| c.is_alphanumeric() || "/._-:".contains(c)) {
            file.into()
        } else {
            format!("'{}'", file.replace('\'', "'\\''")).into()
        };
        json!({ "of": of, "command": format!("assetq export {file} --table {name} --to {name}.parquet") })
    });
    let meta = json!({ "table": name, "block": format!("t{n}"), "rows": shown.rows, "starts": shown.starts,
        "columns": columns, "count": shown.rows, "more": more, "fault": shown.fault, "damaged": shown.damaged });
    Part { id: format!("table={name}"), kind: "table", title: name.to_owned(), meta }
}
