//! The tables of a map, made from the same descriptions of records that it is read by.

use super::layout::Obb;
use super::shapes::{self, Shape};
use super::waypoints::id_of;
use super::{BoxType, Kind as Stored, Map, Record, Records, cat, is_path, tail, verify};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::reader::{FileFormat, Likeness, Options, Reader, Section};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Column, IndexCursor, Kind, Place, RowCursor, Table, Value, Visitor, no_cell};
use std::borrow::Cow;

/// The error for a record that was counted but is not there.
#[cold]
pub(super) fn no_record(what: &'static str) -> Error {
    Error::without_offset(ErrorKind::NotFound { what: "record".to_owned() }, what)
}

/// Where the cell of a column comes from.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Type,
    TypeName,
    Index,
    Name,
    Obb(usize),
    Field(usize),
    /// A field of the second record that a scene has.
    Element(usize),
    Offset,
}

/// Which records are the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    EventBoxes,
    Boxes(BoxType),
    AniBgs,
    ItemBoxes,
    Gimmicks,
    Triggers,
    Scenes,
    SceneResources,
}

impl Rows {
    pub(super) const OTHERS: [Self; 6] =
        [Self::AniBgs, Self::ItemBoxes, Self::Gimmicks, Self::Triggers, Self::Scenes, Self::SceneResources];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::EventBoxes => "event_boxes",
            other => other.shape().name,
        }
    }

    fn shape(self) -> &'static Shape {
        match self {
            // All boxes have this in common.
            Self::EventBoxes => BoxType::ObstacleBox.shape(),
            Self::Boxes(box_type) => box_type.shape(),
            Self::AniBgs => &shapes::ANI_BGS,
            Self::ItemBoxes => &shapes::ITEM_BOXES,
            Self::Gimmicks => &shapes::GIMMICKS,
            Self::Triggers => &shapes::TRIGGERS,
            Self::Scenes => &shapes::SCENES,
            Self::SceneResources => &shapes::SCENE_RESOURCES,
        }
    }

    /// The field that rows without a place in space are known by.
    const fn known_by(self) -> Option<&'static str> {
        match self {
            Self::Triggers => Some("name"),
            Self::Scenes => Some("file"),
            Self::SceneResources => Some("key"),
            _ => None,
        }
    }

    /// Adds the records that can be read to `parts`.
    ///
    /// # Errors
    /// What keeps others from being read.
    fn read<'m>(self, map: &'m Map, parts: &mut Vec<Part<'m>>) -> Result<()> {
        if self == Self::EventBoxes {
            map.find_all_boxes();
            let mut outcome = Ok(());
            for box_type in map.box_types()? {
                let added = map.boxes(box_type).and_then(|records| {
                    parts.push(Part { box_type: Some(box_type), records });
                    records.check()
                });
                outcome = outcome.and(added);
            }
            return outcome;
        }
        let (box_type, records) = match self {
            Self::EventBoxes => return Ok(()),
            Self::Boxes(box_type) => (Some(box_type), Some(map.boxes(box_type)?)),
            Self::AniBgs => (None, Some(map.ani_bgs()?)),
            Self::ItemBoxes => (None, Some(map.item_boxes()?)),
            Self::Gimmicks => (None, Some(map.gimmicks()?)),
            Self::Triggers => (None, map.triggers()?),
            Self::Scenes => (None, map.scenes()?),
            Self::SceneResources => (None, map.scene_resources()?),
        };
        let Some(records) = records else { return Ok(()) };
        parts.push(Part { box_type, records });
        records.check()
    }
}

#[derive(Debug, Clone, Copy)]
struct Part<'m> {
    box_type: Option<BoxType>,
    records: Records<'m>,
}

/// A table whose rows are records.
pub(super) struct RecordTable<'m> {
    map: &'m Map,
    rows: Rows,
    columns: Vec<Column>,
    cells: Vec<Cell>,
    parts: Lazy<Vec<Part<'m>>>,
}

const fn kind_of(stored: &Stored) -> Kind {
    match stored {
        Stored::Bool => Kind::Bool,
        Stored::Int | Stored::Count => Kind::Int,
        Stored::Uint => Kind::Uint,
        Stored::Float => Kind::F32,
        Stored::Text => Kind::Text,
        Stored::Array(..) | Stored::List(..) | Stored::Record(_) => Kind::Nested,
    }
}

impl<'m> RecordTable<'m> {
    pub(super) fn new(map: &'m Map, rows: Rows) -> Self {
        let mut all: Vec<(Column, Cell)> = Vec::new();
        let shape = rows.shape();
        if rows == Rows::EventBoxes {
            all.push((Column::new("type", Kind::Uint), Cell::Type));
            all.push((Column::new("type_name", Kind::Text).brief().key(), Cell::TypeName));
        }
        all.push((Column::new("index", Kind::Uint).brief().place(), Cell::Index));
        if shape.placed {
            all.push((Column::new("name", Kind::Text).brief().key(), Cell::Name));
            for (number, name) in Obb::NAMES.into_iter().enumerate() {
                let column = Column::new(name, Kind::F32);
                all.push((if number < 3 { column.brief() } else { column }, Cell::Obb(number)));
            }
        }
        let mut fields = |shape: &'static Shape, cell: fn(usize) -> Cell| {
            for (number, field) in shape.fields.iter().enumerate() {
                // Lists say themselves how long they are; the boxes' counts are shown as the document lists them.
                if !matches!(field.kind, Stored::Count) || shape.placed {
                    let column = Column::new(field.name, kind_of(&field.kind)).brief();
                    let is_key = !shape.placed && rows.known_by() == Some(field.name);
                    all.push((if is_key { column.key() } else { column }, cell(number)));
                }
            }
        };
        if rows != Rows::EventBoxes {
            fields(shape, Cell::Field);
        }
        if rows == Rows::Scenes {
            fields(&shapes::SCENE_ELEMENTS, Cell::Element);
        }
        all.push((Column::new("offset", Kind::Uint).place(), Cell::Offset));
        let (columns, cells) = all.into_iter().unzip();
        Self { map, rows, columns, cells, parts: Lazy::default() }
    }

    /// The records that can be read.
    fn parts(&self) -> &[Part<'m>] {
        let made: Result<&Vec<_>, std::convert::Infallible> = self.parts.get_or_try_init(|| {
            let mut parts = Vec::new();
            // What keeps others from being read is said by `fault`.
            let _ = self.rows.read(self.map, &mut parts);
            Ok(parts)
        });
        match made {
            Ok(parts) => parts,
        }
    }

    /// What keeps rows from being read, if anything does.
    fn fault(&self) -> Result<()> {
        self.rows.read(self.map, &mut Vec::new())
    }

    /// How many rows can be read.
    pub(super) fn readable(&self) -> usize {
        self.parts().iter().map(|part| part.records.len()).sum()
    }

    /// The record of a row, its type and its number in the type.
    pub(super) fn record(&self, row: usize) -> Option<(Option<BoxType>, usize, Record<'m>)> {
        let mut number = row;
        for part in self.parts() {
            if let Some(record) = part.records.get(number) {
                return Some((part.box_type, number, record));
            }
            number = number.checked_sub(part.records.len())?;
        }
        None
    }

    fn cell(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let found = self.record(row).zip(self.cells.get(column));
        let Some(((box_type, number, record), &cell)) = found else {
            return Err(no_cell(self.rows.name(), row, column));
        };
        Ok(match cell {
            Cell::Type => box_type.map(BoxType::number).into(),
            Cell::TypeName => box_type.map(BoxType::name).into(),
            Cell::Index => number.into(),
            Cell::Name => record.name()?.into(),
            Cell::Obb(number) => record.obb()?.and_then(|obb| obb.numbers().nth(number)).into(),
            Cell::Field(field) => record.value(field)?,
            Cell::Element(field) => match self.map.scene_elements()?.filter(|elements| elements.count() != 0) {
                Some(elements) => match elements.get(number) {
                    Some(element) => element.value(field)?,
                    None => return Err(elements.check().err().unwrap_or_else(|| no_record("scene_elements"))),
                },
                None => Value::Null,
            },
            Cell::Offset => record.offset().into(),
        })
    }
}

impl Table for RecordTable<'_> {
    fn name(&self) -> &str {
        self.rows.name()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.fault()?;
        Ok(self.readable())
    }

    fn known_len(&self) -> Option<usize> {
        match self.rows {
            Rows::EventBoxes => {
                let counts = self.map.box_index().ok()?.iter().map(|entry| entry.count.get() as usize);
                Some(counts.fold(0, usize::saturating_add))
            }
            Rows::Boxes(box_type) => self.map.box_count(box_type).ok().map(|count| count as usize),
            _ => self.len().ok(),
        }
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        self.cell(row, column)
    }

    fn is_at(&self, row: usize, place: &Place) -> Option<Result<bool>> {
        if !self.rows.shape().placed {
            return None;
        }
        let Some((_, _, record)) = self.record(row) else { return Some(Err(no_cell(self.name(), row, 0))) };
        let is_at = record.volume().and_then(|volume| match volume {
            Some(volume) => Ok(volume.is_at(place)),
            None => Err(record.error(ErrorKind::Damaged { what: "a place that describes no space".into() })),
        });
        Some(is_at.map_err(|e| e.within(format!("{} {row}", self.name()))))
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        // The rows that can be read, and then what keeps the others from it.
        let has = |row| if row < self.readable() { Ok(true) } else { self.fault().map(|()| false) };
        Box::new(IndexCursor::new(self, first, has))
    }

    fn label(&self) -> usize {
        let name = if self.rows == Rows::Scenes { "file" } else { "name" };
        let by_name = self.columns.iter().position(|column| column.name == name);
        by_name.or_else(|| self.columns.iter().position(|column| column.kind == Kind::Text)).unwrap_or(0)
    }
}

/// The paths of the map: a row for each that the version has.
struct PathTable<'m> {
    map: &'m Map,
    columns: [Column; 3],
}

impl<'m> PathTable<'m> {
    fn new(map: &'m Map) -> Self {
        let text = |name| Column::new(name, Kind::Text);
        Self { map, columns: [text("name").brief().key(), text("value").brief(), text("stored")] }
    }

    /// The paths that this version has: their names and whether they come behind the versions.
    fn paths(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
        let versions = *self.map.versions();
        let of = move |shape: &'static Shape, leading| {
            let fields = shape.fields.iter().filter(move |field| field.gate.decide(&versions) == Some(true));
            fields.map(move |field| (field.name, leading))
        };
        of(&shapes::LEADING_PATHS, true).chain(of(&shapes::TRAILING_PATHS, false))
    }

    fn stored(&self, name: &'static str, leading: bool) -> Result<crate::bytes::Utf16<'m>> {
        let records = if leading { self.map.leading_paths() } else { self.map.trailing_paths()? };
        records.damaged_or_not().text(name)?.ok_or_else(|| no_record("paths"))
    }
}

impl Table for PathTable<'_> {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.paths().count())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let Some((name, leading)) = self.paths().nth(row) else { return Err(no_cell(self.name(), row, column)) };
        match column {
            0 => Ok(name.into()),
            1 => Ok(Some(self.stored(name, leading)?).filter(|p| is_path(*p)).into()),
            2 => Ok(self.stored(name, leading)?.into()),
            _ => Err(no_cell(self.name(), row, column)),
        }
    }
}

/// One entry of the script lists: its field in the head or in the lists, and its number there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Script {
    kind: &'static str,
    in_head: bool,
    at: u32,
}

impl Map {
    /// The scripts of the map, each found once.
    fn script_rows(&self) -> Result<&[Script]> {
        let rows = self.scripts.get_or_try_init(|| {
            let head = |kind| Script { kind, in_head: true, at: 0 };
            let mut rows = vec![head("script_dir"), head("main_script")];
            if let Some(scripts) = self.scripts()? {
                let record = scripts.first()?;
                let (start, lists) = (record.offset(), ["event", "condition", "action"]);
                let counts = ["event_script_count", "condition_script_count", "action_script_count"];
                let mut cursor = record.own_fields()?;
                cursor.skip(12)?;
                for (kind, count) in lists.into_iter().zip(counts) {
                    for _ in 0..record.int(count)?.unwrap_or(0) {
                        let at = cursor.view().offset().saturating_sub(start);
                        rows.push(Script { kind, in_head: false, at: u32::try_from(at).unwrap_or(u32::MAX) });
                        super::fields::read_text(&mut cursor)?;
                    }
                }
            }
            Ok::<_, Error>(rows)
        })?;
        Ok(rows)
    }
}

/// The directory of the scripts, the main script, and the script lists where the file has them.
struct ScriptTable<'m> {
    map: &'m Map,
    columns: [Column; 2],
}

impl<'m> ScriptTable<'m> {
    fn new(map: &'m Map) -> Self {
        Self {
            map,
            columns: [Column::new("kind", Kind::Text).brief().key(), Column::new("path", Kind::Text).brief().key()],
        }
    }
}

impl Table for ScriptTable<'_> {
    fn name(&self) -> &'static str {
        "scripts"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.map.script_rows().map(<[Script]>::len)
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let script = self.map.script_rows()?.get(row);
        match (script, column) {
            (Some(script), 0) => Ok(script.kind.into()),
            (Some(script), 1) if script.in_head => {
                let path = self.map.trigger_head()?.first()?.text(script.kind)?;
                Ok(path.filter(|p| script.kind != "script_dir" || is_path(*p)).into())
            }
            (Some(script), 1) => {
                let Some(scripts) = self.map.scripts()? else { return Err(no_record("scripts")) };
                let mut cursor = scripts.first()?.own_fields()?;
                cursor.skip(script.at as usize)?;
                super::fields::read_text(&mut cursor).map(|text| text.trim_nul().into())
            }
            _ => Err(no_cell(self.name(), row, column)),
        }
    }

    fn label(&self) -> usize {
        1
    }
}

/// The graph of waypoints: a row for each link.
struct LinkTable<'m> {
    map: &'m Map,
    columns: [Column; 7],
}

impl<'m> LinkTable<'m> {
    fn new(map: &'m Map) -> Self {
        let columns = [
            Column::new("from_id", Kind::Int).brief().key(),
            Column::new("from_name", Kind::Text).brief().resolved(),
            Column::new("to_id", Kind::Int).brief().key(),
            Column::new("to_name", Kind::Text).brief().resolved(),
            Column::new("distance", Kind::F32).brief(),
            Column::new("from_index", Kind::Uint).place(),
            Column::new("to_index", Kind::Uint).place(),
        ];
        Self { map, columns }
    }
}

impl Table for LinkTable<'_> {
    fn name(&self) -> &'static str {
        "waypoint_links"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        self.map.link_count()
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        let Some(link) = self.map.link(row)? else { return Err(no_cell(self.name(), row, column)) };
        Ok(match column {
            0 => id_of(&link.from.1)?.into(),
            1 => link.from.1.name()?.into(),
            2 => link.to_id.into(),
            3 => link.to.map(|(_, record)| record.name()).transpose()?.into(),
            4 => link.distance.into(),
            5 => link.from.0.into(),
            6 => link.to.map(|(number, _)| number).into(),
            _ => return Err(no_cell(self.name(), row, column)),
        })
    }
}

impl FileFormat for Map {
    const NAME: &'static str = "wdata";

    fn likeness(data: &[u8]) -> Likeness {
        // A counted UTF-16 "stairwaygames.", with or without its NUL.
        let signature = "stairwaygames.".encode_utf16().flat_map(u16::to_le_bytes);
        let signed = data.iter().skip(2).take(28).copied().eq(signature);
        Likeness::by_magic(matches!(data.first_chunk(), Some([14 | 15, 0])) && signed)
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Reader for Map {
    fn source(&self) -> &Source {
        self.source()
    }

    fn version(&self) -> String {
        self.versions().main.to_string()
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        let origin = self.view().at(0).offset();
        let mut add = |name: &'static str, start: usize, end: usize, count: Option<usize>| {
            let (offset, size) = (origin.saturating_add(start as u64), end.saturating_sub(start) as u64);
            sections.push(Section::new(name, offset, size, count.map(|c| c as u64)));
        };
        add("header", 0, self.paths.start, None);
        add("paths", self.paths.start, self.paths.found_end(), None);
        if self.versions().main >= 7
            && let (Ok(start), Ok(end), Ok(entries)) = (self.index_at(), self.index_end(), self.box_index())
        {
            add("event_box_index", start, end, Some(entries.len()));
            self.find_all_boxes();
            for box_type in self.box_types().unwrap_or_default() {
                if let Ok(run) = self.box_run(box_type) {
                    add(run.shape.name, run.start, run.found_end(), Some(run.count));
                }
            }
        }
        for section in tail::Section::ALL {
            if let Ok(run) = self.section_run(section) {
                // A count in front belongs to the section.
                let counted = section.has_count();
                let start = if counted { run.start.saturating_sub(4) } else { run.start };
                add(run.shape.name, start, run.found_end(), counted.then_some(run.count));
            }
        }
        if let Ok(tail) = self.tail() {
            for run in tail.runs() {
                let counted = !matches!(run.shape.name, "scripts" | "scene_elements");
                let start = if counted { run.start.saturating_sub(4) } else { run.start };
                add(run.shape.name, start, run.found_end(), counted.then_some(run.count));
            }
        }
        sections
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let mut tables: Vec<Box<dyn Table + '_>> = vec![Box::new(RecordTable::new(self, Rows::EventBoxes))];
        let boxes = BoxType::ALL.into_iter().filter(|t| *t != BoxType::UnusedBox).map(Rows::Boxes);
        for rows in boxes.chain(Rows::OTHERS) {
            tables.push(Box::new(RecordTable::new(self, rows)));
        }
        tables.push(Box::new(LinkTable::new(self)));
        tables.push(Box::new(PathTable::new(self)));
        tables.push(Box::new(ScriptTable::new(self)));
        tables
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let (versions, counts) = (self.versions(), self.header_counts());
        let since = |main: i32, version: i32| (versions.main >= main).then_some(version);
        let mut facts: Vec<(Cow<'static, str>, Value<'_>)> = vec![
            ("event_box_version".into(), since(7, versions.event_box).into()),
            ("ani_bg_version".into(), since(7, versions.ani_bg).into()),
            ("item_box_version".into(), since(7, versions.item_box).into()),
            ("gimmick_version".into(), since(8, versions.gimmick).into()),
            ("script_count1".into(), counts.script_count1.into()),
            ("script_condition_count1".into(), counts.script_condition_count1.into()),
            ("script_count2".into(), counts.script_count2.into()),
            ("script_condition_count2".into(), counts.script_condition_count2.into()),
            ("texts".into(), self.text_form().name().into()),
        ];
        match self.trigger_layout() {
            Ok((layout, choice)) => {
                facts.push(("trigger_layout".into(), layout.name().into()));
                facts.push(("trigger_layout_reason".into(), choice.reason().into()));
            }
            Err(error) => facts.push(("trigger_layout_reason".into(), Value::owned(error.to_string()))),
        }
        facts.push(("server_side".into(), self.is_server_side().ok().into()));
        match self.end() {
            Ok(end) => {
                let left = self.source().bytes().len().saturating_sub(end);
                facts.push(("bytes_left_over".into(), left.into()));
            }
            Err(error) => facts.push(("damage".into(), Value::owned(error.to_string()))),
        }
        facts
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        cat::cat(self, entry, out)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, progress)
    }
}
