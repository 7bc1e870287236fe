//! Edits of maps: records are written by their descriptions, and all other bytes are copied (docs/formats/wdata.md
//! §12).

mod edits;
mod encode;

use super::layout::IndexEntry;
use super::record_run::RecordRun;
use super::shapes::{self, RecordShape};
use super::tables::{Found, RecordTable, SCRIPT_DIR, SCRIPT_LISTS, no_record, path_rows, records};
use super::{BoxType, Map, MapRecord, Section};
use crate::compare::same_value;
use crate::error::Result;
use crate::table::{Table, Tree, Value, column_index};
use crate::writable::{
    Change, ColumnValues, Edit, EntryEdit, Pieces, TableEdits, Writable, cell_named, is_same, no_entry, refused,
    short_text,
};
use edits::{FieldValues, RecordEdit, RunEdit};
use encode::Encoder;
use std::collections::BTreeMap;
use std::ops::Range;

/// The column of a box's type in the table of all boxes.
const TYPE: &str = "type_name";

/// The word of the format for no path.
const NO_PATH: &str = ".\\";

/// Whether a path reads as null: an empty text does, too.
fn is_no_path(value: &Value<'_>) -> bool {
    value.is_null() || matches!(value, Value::Text(text) if text.is_empty())
}

impl Writable for Map {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut writer = Writer { map: self, runs: BTreeMap::new(), stretches: Vec::new() };
        let mut also: Vec<String> = vec!["waypoint_links".to_owned()];
        let mut added = Vec::new();
        for edit in edits {
            match &*edit.table {
                "paths" => writer.paths(edit)?,
                "scripts" => added.push((edit.table.clone(), writer.scripts(edit)?)),
                _ => writer.take(edit)?,
            }
        }
        also.extend(writer.runs.keys().map(|rows| rows.name().to_owned()));
        let mut pieces = writer.finish()?;
        (pieces.also, pieces.added) = (also, added);
        Ok(pieces)
    }

    /// Moves edits of the table of all boxes to the tables of their types, where the same box may be edited, too.
    fn settle(&self, edits: &mut Vec<TableEdits>) -> Result<()> {
        let Some(at) = edits.iter().position(|edit| edit.table == RecordTable::EventBoxes.name()) else {
            return Ok(());
        };
        for edit in by_types(self, &edits.remove(at))? {
            match edits.iter_mut().find(|other| other.table == edit.table) {
                Some(other) => merge(other, edit),
                None => edits.push(edit),
            }
        }
        Ok(())
    }

    /// The cells of a record that its new form has otherwise.
    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let found = super::cat::find(self, entry)?;
        let Some(&(rows, row)) = found.first() else { return Err(no_entry(entry)) };
        let mut now = Tree::default();
        super::cat::show(self, &found, &mut now)?;
        let (Value::Map(now), Value::Map(new)) = (now.into_value(), new) else {
            return Err(refused("an entry is an object of columns"));
        };
        let mut cells = Vec::new();
        for (name, given) in new {
            let old = now.iter().find(|(old, _)| old == name).map(|(_, old)| old);
            let old = old.ok_or_else(|| refused(format!("the entry has no {}", short_text(name))))?;
            if !is_same(old, given) {
                if matches!(&**name, "table" | "references" | "also") {
                    return Err(refused(format!("{name} follows from others and is not written")));
                }
                cells.push((name.clone(), given.clone()));
            }
        }
        if cells.is_empty() {
            return Ok(Some(EntryEdit::Edits(Vec::new())));
        }
        let table = records(self, rows);
        let key = crate::writable::key_of(&*table, row)?;
        Ok(Some(EntryEdit::Edits(vec![Edit::new(Some(rows.name()), key, Change::Set(cells))])))
    }
}

struct Writer<'m> {
    map: &'m Map,
    runs: BTreeMap<RecordTable, RunEdit>,
    stretches: Vec<Stretch>,
}

/// A replaced range of the file.
struct Stretch {
    range: Range<usize>,
    bytes: Vec<u8>,
    /// The type of boxes that had none before: they follow all other inserted records at this position, in the order of
    /// their types.
    first: Option<BoxType>,
}

impl Stretch {
    fn key(&self) -> (usize, usize, Option<BoxType>) {
        (self.range.start, self.range.end, self.first)
    }

    /// The position or size `at`, as this stretch changes it.
    fn moved(&self, at: usize) -> usize {
        at.saturating_sub(self.range.len()).saturating_add(self.bytes.len())
    }
}

impl<'m> Writer<'m> {
    /// Adds the edits of a table of records.
    fn take(&mut self, edit: &TableEdits) -> Result<()> {
        let rows = RecordTable::all().find(|rows| rows.name() == edit.table);
        let rows =
            rows.ok_or_else(|| refused(format!("table {} follows from others and is not written", edit.table)))?;
        let table = records(self.map, rows);
        let run = self.runs.entry(rows).or_default();
        for (row, set) in &edit.set {
            run.set.entry(*row).or_default().put_all(rows, &*table, set)?;
        }
        run.remove.extend(&edit.remove);
        for set in &edit.add {
            let mut record = RecordEdit::default();
            record.put_all(rows, &*table, set)?;
            run.add.push(record);
        }
        Ok(())
    }

    /// The types with boxes now or after the edit, and their positions, in order.
    fn box_places(&self, runs: &BTreeMap<RecordTable, RunEdit>) -> Result<Vec<(BoxType, usize)>> {
        let entries = self.map.box_index()?;
        let mut places: Vec<(BoxType, usize)> = BoxType::ALL
            .into_iter()
            .zip(entries)
            .filter(|(_, entry)| entry.count.get() != 0)
            .map(|(box_type, entry)| (box_type, entry.offset.get() as usize))
            .collect();
        let ascends = places.is_sorted_by_key(|(_, at)| *at);
        places.sort_by_key(|(_, at)| *at);
        let filled: Vec<(BoxType, usize)> = places.clone();
        for (rows, edit) in runs {
            let RecordTable::Boxes(box_type) = *rows else { continue };
            if edit.add.is_empty() || filled.iter().any(|(other, _)| *other == box_type) {
                continue;
            }
            // In the order of their numbers, if the file has this order, otherwise last. Damaged boxes hide their end.
            let end = self.map.boxes_end()?;
            let next = filled.iter().find(|(other, _)| ascends && *other > box_type);
            let at = next.map_or(end, |(_, at)| *at);
            let before = places.iter().position(|(other, place)| *place >= at && (*place > at || *other > box_type));
            places.insert(before.unwrap_or(places.len()), (box_type, at));
        }
        Ok(places)
    }

    fn finish(mut self) -> Result<Pieces> {
        let runs = std::mem::take(&mut self.runs);
        let places = self.box_places(&runs)?;
        for (rows, edit) in &runs {
            self.records(*rows, edit, &places)?;
        }
        self.table(&runs)?;
        let len = self.map.source().bytes().len();
        if self.stretches.iter().fold(len, |len, stretch| stretch.moved(len)) > u32::MAX as usize {
            return Err(refused("the map would have more than 4 GB"));
        }
        self.stretches.sort_by_key(Stretch::key);
        Pieces::replaced(len, self.stretches.into_iter().map(|stretch| (stretch.range, stretch.bytes)))
    }

    fn replace(&mut self, range: Range<usize>, bytes: impl Into<Vec<u8>>) {
        self.stretches.push(Stretch { range, bytes: bytes.into(), first: None });
    }

    /// Makes the stretches of the records of one kind, and of their count.
    fn records(&mut self, rows: RecordTable, edit: &RunEdit, places: &[(BoxType, usize)]) -> Result<()> {
        let Some(run) = rows.run(self.map)? else {
            let why = if rows == RecordTable::Section(Section::Triggers) {
                "lists scripts instead of triggers"
            } else {
                "ends after the triggers"
            };
            return Err(refused(format!("{}: this map {why}, so that it has no such rows", rows.name())));
        };
        let elements = match rows {
            RecordTable::Section(Section::Scenes) if self.map.versions().main >= 20 => {
                self.map.any_run(Section::SceneElements)?
            }
            _ => None,
        };
        self.of_run(run, edit, |record| &record.fields, rows.shape(), places)?;
        if let Some(elements) = elements {
            self.of_run(elements, edit, |record| &record.element, &shapes::SCENE_ELEMENTS, places)?;
        } else {
            let cells = edit.set.values().chain(&edit.add).flat_map(|record| &record.element);
            let written = cells.filter(|(_, value)| !value.is_null()).map(|(field, _)| *field).next();
            if let Some(field) = written.and_then(|field| shapes::SCENE_ELEMENTS.fields.get(field)) {
                let (name, version) = (field.name, self.map.versions().main);
                return Err(refused(format!(
                    "scenes: column {name}: a map of version {version} has none; from 20 on maps do"
                )));
            }
        }
        let count = run.count.saturating_sub(edit.remove.len()).saturating_add(edit.add.len());
        let is_counted = !matches!(rows, RecordTable::Boxes(_));
        if is_counted && count != run.count {
            let at = run.start.saturating_sub(4);
            let count = i32::try_from(count).map_err(|_| refused("too many rows"))?;
            self.replace(at..run.start, count.to_le_bytes());
        }
        Ok(())
    }

    fn of_run(
        &mut self,
        run: &'m RecordRun,
        edit: &RunEdit,
        fields_of: impl Fn(&RecordEdit) -> &FieldValues,
        shape: &'static RecordShape,
        places: &[(BoxType, usize)],
    ) -> Result<()> {
        let comes_or_goes = !edit.add.is_empty() || !edit.remove.is_empty();
        if comes_or_goes {
            run.check(self.map)?;
        }
        for (number, record) in &edit.set {
            if edit.remove.contains(number) {
                return Err(refused(format!("{}: row {number} is changed and removed", shape.name)));
            }
            let fields = fields_of(record);
            if fields.is_empty() {
                continue;
            }
            let cursor = run.cursor(self.map, *number).ok_or_else(|| crate::table::no_cell(shape.name, *number, 0))?;
            let old = MapRecord::new(self.map, shape, cursor);
            let bytes = Encoder(self.map).record(shape, fields, Some(&old));
            let bytes = bytes.map_err(|error| error.context(format_args!("{}: row {number}", shape.name)))?;
            self.replace(range_of(run, *number), bytes);
        }
        for &number in &edit.remove {
            self.replace(range_of(run, number), []);
        }
        if !edit.add.is_empty() {
            let mut bytes = Vec::new();
            for (number, record) in edit.add.iter().enumerate() {
                let new = Encoder(self.map).record(shape, fields_of(record), None);
                let new = new.map_err(|error| error.context(format_args!("{}: new row {number}", shape.name)));
                bytes.append(&mut new?);
            }
            let (at, first) = self.place_of_new(run, shape, places)?;
            self.stretches.push(Stretch { range: at..at, bytes, first });
        }
        Ok(())
    }

    /// The position for inserted records: after the last record, or where the records of an empty type belong.
    fn place_of_new(
        &self,
        run: &RecordRun,
        shape: &'static RecordShape,
        places: &[(BoxType, usize)],
    ) -> Result<(usize, Option<BoxType>)> {
        let of_shape = BoxType::ALL.into_iter().find(|t| std::ptr::eq(t.shape(), shape));
        let Some(box_type) = of_shape.filter(|_| run.count == 0) else { return Ok((run.found_end, None)) };
        if self.map.box_index()?.get(usize::from(box_type.number())).is_none() {
            return Err(refused(format!("{}: the table of event boxes of this map has no such type", shape.name)));
        }
        let place = places.iter().find(|(other, _)| *other == box_type);
        let (_, at) = place.expect("a type without boxes that gets some has a place");
        Ok((*at, Some(box_type)))
    }

    /// The table of event boxes: offsets and counts.
    fn table(&mut self, runs: &BTreeMap<RecordTable, RunEdit>) -> Result<()> {
        let entries = self.map.box_index()?;
        let table_end = self.map.index_end()?;
        let stretches = self.stretches.iter();
        let mut bytes = Vec::with_capacity(size_of_val(entries));
        for (box_type, entry) in BoxType::ALL.into_iter().zip(entries) {
            let (offset, count) = (entry.offset.get() as usize, entry.count.get() as usize);
            let edit = runs.get(&RecordTable::Boxes(box_type));
            let (added, removed) = edit.map_or((0, 0), |edit| (edit.add.len(), edit.remove.len()));
            let count = count.saturating_sub(removed).saturating_add(added);
            let own = self.stretches.iter().find(|stretch| stretch.first == Some(box_type));
            // After all records that are inserted before it or at it.
            let offset = match own {
                Some(own) => {
                    let before = stretches.clone().filter(|stretch| stretch.key() < own.key());
                    before.fold(own.range.start, |at, stretch| stretch.moved(at))
                }
                None if offset < table_end || offset > self.map.source().bytes().len() => offset,
                None => {
                    let before = stretches.clone().filter(|stretch| stretch.range.end <= offset);
                    before.fold(offset, |at, stretch| stretch.moved(at))
                }
            };
            bytes.extend_from_slice(&number(offset)?);
            bytes.extend_from_slice(&number(count)?);
        }
        let start = table_end.saturating_sub(entries.len().saturating_mul(size_of::<IndexEntry>()));
        let range = start..start.saturating_add(bytes.len());
        if self.map.source().bytes().get(range.clone()) != Some(&bytes) {
            self.replace(range, bytes);
        }
        Ok(())
    }

    /// Writes the only record of a section, with these changed fields.
    fn single(&mut self, run: &'m RecordRun, fields: FieldValues) -> Result<()> {
        let edit = RunEdit {
            set: BTreeMap::from([(0, RecordEdit { fields, ..RecordEdit::default() })]),
            ..RunEdit::default()
        };
        self.of_run(run, &edit, |record| &record.fields, run.shape, &[])
    }

    fn paths(&mut self, edit: &TableEdits) -> Result<()> {
        let rows = path_rows(self.map);
        for leading in [true, false] {
            let mut fields = BTreeMap::new();
            for (row, set) in &edit.set {
                let Some(&(field, ..)) = rows.get(*row).filter(|(.., is_leading)| *is_leading == leading) else {
                    continue;
                };
                for (_, value) in set {
                    fields.insert(field, if is_no_path(value) { Value::text(NO_PATH) } else { value.clone() });
                }
            }
            if !fields.is_empty() {
                let map = self.map;
                self.single(if leading { &map.paths } else { map.section_run(Section::TrailingPaths)? }, fields)?;
            }
        }
        Ok(())
    }

    /// The scripts in the head of the triggers and in the lists. Returns the rows of inserted scripts, which are the
    /// last ones in their lists.
    fn scripts(&mut self, edit: &TableEdits) -> Result<Vec<usize>> {
        let rows = self.map.script_rows()?;
        let scripts = super::tables::scripts(self.map);
        let mut head = BTreeMap::new();
        let mut lists: Vec<Vec<Value<'static>>> = vec![Vec::new(); SCRIPT_LISTS.len()];
        let table = self.map.section(Section::Scripts)?;
        let mut changed = false;
        for (row, script) in rows.iter().enumerate() {
            let set = edit.set.iter().find(|(other, _)| *other == row).map(|(_, set)| set);
            if set.is_some_and(|set| cell_named(&*scripts, set, "kind").is_some()) {
                return Err(refused("column kind: the kind of a script cannot change: remove it and add one"));
            }
            let path = match set.and_then(|set| cell_named(&*scripts, set, "path")).cloned() {
                Some(none) if is_no_path(&none) && script.in_head == Some(SCRIPT_DIR) => Some(Value::text(NO_PATH)),
                Some(Value::Null) => {
                    let why = "null does not fit: of all scripts, only script_dir may be null";
                    return Err(refused(format!("scripts: {} of row {row}: column path: {why}", script.kind)));
                }
                path => path,
            };
            let is_removed = edit.remove.contains(&row);
            match script.in_head {
                Some(_) if is_removed => return Err(refused(format!("scripts: {} cannot go", script.kind))),
                Some(field) => head.extend(path.map(|path| (field, path))),
                None => {
                    changed |= is_removed || path.is_some();
                    let list = list_of(script.kind).and_then(|list| lists.get_mut(list)).filter(|_| !is_removed);
                    let Some(list) = list else { continue };
                    let column = column_index(&*scripts, "path").expect("the table of scripts has this column");
                    list.push(path.map_or_else(|| scripts.value(row, column).map(Value::into_owned), Ok)?);
                }
            }
        }
        let mut come: Vec<(usize, usize)> = Vec::new();
        for set in &edit.add {
            let [kind, path] = ["kind", "path"].map(|name| cell_named(&*scripts, set, name));
            let (Some(kind), Some(path)) = (kind, path) else {
                return Err(refused("a new row of scripts needs a kind and a path"));
            };
            let kind = kind.to_string();
            let list = list_of(&kind).filter(|_| table.is_some()).ok_or_else(|| {
                let what =
                    if table.is_some() { "event, condition or action" } else { "none, as this map lists triggers" };
                refused(format!("column kind: {} does not fit: {what}", short_text(&kind)))
            })?;
            let paths = lists.get_mut(list).expect("there is a list of each kind");
            come.push((list, paths.len()));
            paths.push(path.clone());
            changed = true;
        }
        let in_head = rows.iter().filter(|script| script.in_head.is_some()).count();
        let come = come.into_iter().map(|(list, at)| {
            let before = lists.iter().take(list).map(Vec::len);
            before.chain([in_head, at]).fold(0, usize::saturating_add)
        });
        let come = come.collect();
        if !head.is_empty() {
            let run = self.map.section_run(Section::TriggerHead)?;
            self.single(run, head)?;
        }
        if changed {
            let run = self.map.any_run(Section::Scripts)?.ok_or_else(|| no_record("scripts"))?;
            const FIRST: usize = shapes::SCRIPTS.number("event_script_paths");
            let lists = (FIRST..).zip(lists).map(|(field, list)| (field, Value::List(list)));
            self.single(run, lists.collect())?;
        }
        Ok(come)
    }
}

/// A number of the table of event boxes.
fn number(n: usize) -> Result<[u8; 4]> {
    u32::try_from(n).map(u32::to_le_bytes).map_err(|_| refused("the map would have more than 4 GB"))
}

fn range_of(run: &RecordRun, number: usize) -> Range<usize> {
    let start = run.positions.get(number).map_or(usize::MAX, |at| *at as usize);
    let next = run.positions.get(number.saturating_add(1)).map(|at| *at as usize);
    start..next.unwrap_or(run.found_end)
}

fn name_of(table: &dyn Table, column: usize) -> &str {
    &table.columns().get(column).expect("edits have columns of their table").name
}

/// The number of the list of scripts of this kind.
fn list_of(kind: &str) -> Option<usize> {
    SCRIPT_LISTS.iter().position(|(name, _)| *name == kind)
}

/// The edits of the table of all boxes, as edits of the tables of their types.
fn by_types(map: &Map, all: &TableEdits) -> Result<Vec<TableEdits>> {
    let (table, found) = (records(map, RecordTable::EventBoxes), Found::new(map, RecordTable::EventBoxes));
    let mut types: BTreeMap<BoxType, TableEdits> = BTreeMap::new();
    for (row, set) in &all.set {
        if set.iter().any(|(column, _)| name_of(&*table, *column) == TYPE) {
            return Err(refused("column type_name: the type of a box cannot change: remove it and add one"));
        }
        let (box_type, number) = found.place_of(*row)?;
        types.entry(box_type).or_default().set.push((number, set.clone()));
    }
    for row in &all.remove {
        let (box_type, number) = found.place_of(*row)?;
        types.entry(box_type).or_default().remove.push(number);
    }
    for set in &all.add {
        let mut set = set.clone();
        let given = set.extract_if(.., |(column, _)| name_of(&*table, *column) == TYPE).next();
        let Some((_, given)) = given else { return Err(refused("a new row of event_boxes needs a type_name")) };
        let given = given.to_string();
        let known = BoxType::ALL.into_iter().find(|t| t.name() == given && *t != BoxType::UnusedBox);
        let Some(known) = known else {
            let names = BoxType::ALL.map(BoxType::name).join(", ");
            let given = short_text(&given);
            return Err(refused(format!("column type_name: {given} does not fit: it is one of {names}")));
        };
        types.entry(known).or_default().add.push(set);
    }
    let by_type = types.into_iter().map(|(box_type, mut edits)| {
        let of_type = records(map, RecordTable::Boxes(box_type));
        let sets = edits.set.iter_mut().map(|(_, set)| set).chain(&mut edits.add);
        for column in sets.flatten().map(|(column, _)| column) {
            let name = name_of(&*table, *column);
            *column = column_index(&*of_type, name).ok_or_else(|| refused(format!("column {name} is not written")))?;
        }
        Ok(TableEdits { table: of_type.name().to_owned(), ..edits })
    });
    by_type.collect()
}

/// Adds further edits of the same table. A cell with two different edits is refused when it is written.
fn merge(edits: &mut TableEdits, more: TableEdits) {
    let mut sets: BTreeMap<usize, ColumnValues> = std::mem::take(&mut edits.set).into_iter().collect();
    for (row, set) in more.set {
        let cells = sets.entry(row).or_default();
        for (at, new) in set {
            if !cells.iter().any(|(column, value)| *column == at && same_value(value, &new)) {
                cells.push((at, new));
            }
        }
    }
    edits.set = sets.into_iter().collect();
    edits.add.extend(more.add);
    edits.remove.extend(more.remove);
    edits.remove.sort_unstable();
    edits.remove.dedup();
}
