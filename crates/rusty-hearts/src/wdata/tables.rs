//! The tables of a map, derived from the descriptions that read its records.

use super::fields::MapField;
use super::record_run::RecordRun;
use super::shapes::{self, RecordShape};
use super::waypoints::id_of;
use super::{BoxType, Map, MapRecord, MapRecords, Section, StoredKind as Stored, is_path};
use crate::bytes::Utf16;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::table::{Accepts, Column, DeclaredTable, Kind, Role, Table, Value, ValueShape, no_cell};
use std::sync::Arc;

/// The error for a record that was counted but is not there.
#[cold]
pub(super) fn no_record(what: &'static str) -> Error {
    Error::of_part(ErrorKind::NotFound { what: "record not found".to_owned() }, what)
}

/// The records that are the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordTable {
    EventBoxes,
    Boxes(BoxType),
    Section(Section),
}

impl RecordTable {
    /// All tables of records, each record in one of them: without the table of all boxes.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        use Section::{AniBgs, Gimmicks, ItemBoxes, SceneResources, Scenes, Triggers};
        let boxes = BoxType::ALL.into_iter().filter(|t| *t != BoxType::UnusedBox).map(Self::Boxes);
        boxes.chain([AniBgs, ItemBoxes, Gimmicks, Triggers, Scenes, SceneResources].map(Self::Section))
    }

    pub(super) fn name(self) -> &'static str {
        if self == Self::EventBoxes { "event_boxes" } else { self.shape().name }
    }

    pub(super) fn shape(self) -> &'static RecordShape {
        match self {
            // All boxes have this in common.
            Self::EventBoxes => BoxType::ObstacleBox.shape(),
            Self::Boxes(box_type) => box_type.shape(),
            Self::Section(section) => section.shape(),
        }
    }

    /// The run of the records; `None` if there are several runs, or no such records in the file.
    pub(super) fn run(self, map: &Map) -> Result<Option<&RecordRun>> {
        match self {
            Self::EventBoxes => Ok(None),
            Self::Boxes(box_type) => map.box_run(box_type).map(Some),
            Self::Section(section) => map.any_run(section),
        }
    }

    /// Adds the records that can be read to `parts`.
    ///
    /// # Errors
    /// The error of the first unreadable record.
    fn read<'m>(self, map: &'m Map, parts: &mut Vec<TypedRecords<'m>>) -> Result<()> {
        if self == Self::EventBoxes {
            map.find_all_boxes();
            let mut outcome = Ok(());
            for box_type in map.box_types()? {
                outcome = outcome.and(Self::Boxes(box_type).read(map, parts));
            }
            return outcome;
        }
        let Some(run) = self.run(map)? else { return Ok(()) };
        let box_type = if let Self::Boxes(box_type) = self { Some(box_type) } else { None };
        parts.push(TypedRecords { box_type, records: MapRecords::new(map, run) });
        run.check(map)
    }
}

#[derive(Debug, Clone, Copy)]
struct TypedRecords<'m> {
    box_type: Option<BoxType>,
    records: MapRecords<'m>,
}

/// A record of a table: its type if it is a box, and its number in its type or section.
pub(super) struct RecordRow<'m> {
    pub(super) box_type: Option<BoxType>,
    pub(super) number: usize,
    pub(super) record: MapRecord<'m>,
}

/// The records of a table, as far as they can be read.
pub(super) struct Found<'m> {
    map: &'m Map,
    rows: RecordTable,
    parts: Lazy<Vec<TypedRecords<'m>>>,
}

impl<'m> Found<'m> {
    pub(super) fn new(map: &'m Map, rows: RecordTable) -> Self {
        Self { map, rows, parts: Lazy::default() }
    }

    fn parts(&self) -> &[TypedRecords<'m>] {
        // By rayon, so without a lock.
        self.parts.get_or_make(|| {
            let mut parts = Vec::new();
            // `fault` reports why other rows cannot be read.
            let _ = self.rows.read(self.map, &mut parts);
            parts
        })
    }

    /// The error of missing rows.
    pub(super) fn fault(&self) -> Result<()> {
        self.rows.read(self.map, &mut Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.parts().iter().map(|part| part.records.len()).sum()
    }

    /// The records of a row: one, and the second one of a scene if readable.
    pub(super) fn records_of(&self, row: &RecordRow<'m>) -> impl Iterator<Item = MapRecord<'m>> {
        let is_scene = self.rows == RecordTable::Section(Section::Scenes);
        let more = if is_scene { scene_element(self.map, row.number).ok().flatten() } else { None };
        std::iter::once(row.record).chain(more)
    }

    pub(super) fn place_of(&self, row: usize) -> Result<(BoxType, usize)> {
        let place = self.get(row).and_then(|found| Some((found.box_type?, found.number)));
        place.ok_or_else(|| no_cell(self.rows.name(), row, 0))
    }

    pub(super) fn get(&self, row: usize) -> Option<RecordRow<'m>> {
        let mut number = row;
        for part in self.parts() {
            if let Some(record) = part.records.get(number) {
                return Some(RecordRow { box_type: part.box_type, number, record });
            }
            number = number.checked_sub(part.records.len())?;
        }
        None
    }
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

/// The shape of a field's values, if they are nested.
fn shape_of(stored: &Stored) -> Option<ValueShape> {
    fn shape(stored: &Stored) -> ValueShape {
        match stored {
            Stored::Array(item, _) | Stored::List(item, _) => ValueShape::list(shape(item)),
            Stored::Record(fields) => {
                let shown = fields.iter().filter(|field| !field.is_count());
                ValueShape::Map(shown.map(|field| (field.name.into(), shape(&field.kind))).collect())
            }
            leaf => ValueShape::of(kind_of(leaf)),
        }
    }
    (kind_of(stored) == Kind::Nested).then(|| shape(stored))
}

/// The values that can be written to a field.
fn accepts(stored: &Stored) -> Accepts {
    match stored {
        Stored::Count => Accepts::Nothing,
        Stored::Int | Stored::Uint => Accepts::Bits(32),
        Stored::Array(Stored::Float | Stored::Int | Stored::Uint, count) => {
            u8::try_from(*count).map_or(Accepts::Any, Accepts::Numbers)
        }
        _ => Accepts::Any,
    }
}

fn column_of(field: &'static MapField) -> Column {
    let mut column =
        Column::new(field.name, kind_of(&field.kind)).shaped(shape_of(&field.kind)).accepts(accepts(&field.kind));
    (column.brief, column.unique) = (!field.is_aside, field.is_unique);
    if field.is_label {
        column.role = Role::Key;
    }
    if field.names == Some(RecordTable::Boxes(BoxType::WaypointBox)) {
        column.refers_to = Some(BoxType::WaypointBox.shape().name);
    }
    column
}

/// The second record that a scene has, in files that have such records.
fn scene_element(map: &Map, number: usize) -> Result<Option<MapRecord<'_>>> {
    let elements = map.section(Section::SceneElements)?.filter(|elements| elements.count() != 0);
    let Some(elements) = elements else { return Ok(None) };
    match elements.get(number) {
        Some(element) => Ok(Some(element)),
        None => Err(elements.check().err().unwrap_or_else(|| no_record(shapes::SCENE_ELEMENTS.name))),
    }
}

/// A table with a row for each record.
pub(super) fn records(map: &Map, rows: RecordTable) -> Box<dyn Table + '_> {
    let shape = rows.shape();
    let found = Arc::new(Found::new(map, rows));
    let (of_count, of_damage) = (Arc::clone(&found), Arc::clone(&found));
    let mut table = DeclaredTable::new(rows.name(), move || Ok(of_count.len()), move |row| Ok(found.get(row)))
        .damaged(move || of_damage.fault().err());
    if rows == RecordTable::EventBoxes {
        table = table
            .column(Column::uint("type"), |row| Ok(row.box_type.map(BoxType::number).into()))
            .column(Column::text("type_name").brief().key().writable(), |row| {
                Ok(row.box_type.map(BoxType::name).into())
            })
            .derived();
    }
    table = table.column(Column::uint("index").brief().place(), |row| Ok(row.number.into()));
    if shape.placed {
        table = table.placed(move |row, place| match row.record.volume() {
            Ok(Some(volume)) => Ok(volume.is_at(place)),
            Ok(None) => Err(row.record.error(ErrorKind::damaged("a place that describes no space"))),
            Err(error) => Err(error),
        });
    }
    // Lists store their own lengths; the boxes' counts are columns in the order of the document.
    for (number, field) in shape.fields.iter().enumerate().filter(|(_, field)| !field.is_count() || shape.placed) {
        table = table.column(column_of(field), move |row| row.record.get(number));
        if field.is_label {
            table = table.label();
        }
    }
    if rows == RecordTable::Section(Section::Scenes) {
        // The fields of the second record that a scene has.
        for (number, field) in shapes::SCENE_ELEMENTS.fields.iter().enumerate().filter(|(_, field)| !field.is_count()) {
            table = table.column(Column { role: Role::Value, ..column_of(field) }, move |row| {
                scene_element(map, row.number)?.map_or(Ok(Value::Null), |element| element.get(number))
            });
        }
    }
    let offset = Column::uint("offset").place();
    Box::new(table.column(offset, |row| Ok(row.record.offset().into())).with_writable_rows())
}

/// The paths that the version has: the number of each field, its name, and whether it is one of the leading ones.
pub(super) fn path_rows(map: &Map) -> Vec<(usize, &'static str, bool)> {
    let leading = shapes::LEADING_PATHS.fields.iter().enumerate().map(|(number, field)| (number, field, true));
    let trailing = shapes::TRAILING_PATHS.fields.iter().enumerate().map(|(number, field)| (number, field, false));
    let stored = leading.chain(trailing).filter(|(_, field, _)| field.gate.decide(map.versions()) == Some(true));
    stored.map(|(number, field, leading)| (number, field.name, leading)).collect()
}

/// The path in field `number` of the leading or the trailing paths.
fn stored_path(map: &Map, number: usize, leading: bool) -> Result<Utf16<'_>> {
    let run = if leading { &map.paths } else { map.section_run(Section::TrailingPaths)? };
    MapRecords::new(map, run).damaged_or_not().text(number)?.ok_or_else(|| no_record("paths"))
}

/// The paths of the map: a row for each that the version has.
pub(super) fn paths(map: &Map) -> Box<dyn Table + '_> {
    let all = path_rows(map);
    let count = all.len();
    let table = DeclaredTable::new("paths", move || Ok(count), move |row| Ok(all.get(row).copied()))
        .column(Column::text("name").brief().key(), |(_, name, _)| Ok((*name).into()))
        .column(Column::text("value").brief().accepts(Accepts::OrNull), move |(number, _, leading)| {
            Ok(Some(stored_path(map, *number, *leading)?).filter(|p| is_path(*p)).into())
        })
        .column(Column::text("stored"), move |(number, _, leading)| Ok(stored_path(map, *number, *leading)?.into()));
    Box::new(table)
}

/// One entry of the script lists: its field in the head or in the lists, and its number there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Script {
    pub(super) kind: &'static str,
    /// The number of its field in the head.
    pub(super) in_head: Option<usize>,
    at: u32,
}

pub(super) const SCRIPT_DIR: usize = shapes::TRIGGER_HEAD.number("script_dir");
const MAIN_SCRIPT: usize = shapes::TRIGGER_HEAD.number("main_script");
/// The script lists: their kinds, and the numbers of the fields that count them.
pub(super) const SCRIPT_LISTS: [(&str, usize); 3] = [
    ("event", shapes::SCRIPTS.number("event_script_count")),
    ("condition", shapes::SCRIPTS.number("condition_script_count")),
    ("action", shapes::SCRIPTS.number("action_script_count")),
];

impl Map {
    /// The scripts of the map, each once.
    pub(super) fn script_rows(&self) -> Result<&[Script]> {
        let rows = self.scripts.get_or_try_init(|| {
            let head = [("script_dir", SCRIPT_DIR), ("main_script", MAIN_SCRIPT)];
            let mut rows = Vec::from(head.map(|(kind, field)| Script { kind, in_head: Some(field), at: 0 }));
            if let Some(scripts) = self.section(Section::Scripts)? {
                let record = scripts.first()?;
                let start = record.offset();
                let (mut cursor, _) = record.locate("event_script_paths")?;
                for (kind, count) in SCRIPT_LISTS {
                    for _ in 0..u32::try_from(record.get(count)?)? {
                        let at = cursor.view().offset().saturating_sub(start);
                        let at = at.try_into().expect("opening a map limits its size to that of a u32");
                        rows.push(Script { kind, in_head: None, at });
                        super::fields::read_text(&mut cursor)?;
                    }
                }
            }
            Ok::<_, Error>(rows)
        })?;
        Ok(rows)
    }
}

/// The directory of the scripts, the main script, and the script lists, if present.
pub(super) fn scripts(map: &Map) -> Box<dyn Table + '_> {
    let table =
        DeclaredTable::new("scripts", || map.script_rows().map(<[Script]>::len), |row| Ok(map.script_rows()?.get(row)))
            .column(Column::text("kind").brief().key().writable(), |script| Ok(script.kind.into()))
            .column(Column::text("path").brief().key().in_folders().accepts(Accepts::OrNull), |script| {
                if let Some(field) = script.in_head {
                    let head = MapRecords::new(map, map.section_run(Section::TriggerHead)?);
                    let path = head.first()?.text(field)?;
                    return Ok(path.filter(|p| field != SCRIPT_DIR || is_path(*p)).into());
                }
                let scripts = map.section(Section::Scripts)?.ok_or_else(|| no_record("scripts"))?;
                let mut cursor = scripts.first()?.cursor;
                cursor.skip(script.at as usize)?;
                super::fields::read_text(&mut cursor).map(|text| text.trim_nul().into())
            })
            .label()
            .with_writable_rows();
    Box::new(table)
}

/// The graph of waypoints: a row for each link.
pub(super) fn links(map: &Map) -> Box<dyn Table + '_> {
    let table = DeclaredTable::new("waypoint_links", || Ok(map.graph()?.links.len()), |row| map.link(row))
        .column(Column::int("from_id").brief().key(), |link| Ok(id_of(&link.from.1)?.into()))
        .column(Column::text("from_name").brief().resolved(), |link| Ok(link.from.1.name()?.into()))
        .column(Column::int("to_id").brief().key(), |link| Ok(link.to_id.into()))
        .column(Column::text("to_name").brief().resolved(), |link| {
            Ok(link.to.map(|(_, record)| record.name()).transpose()?.into())
        })
        .column(Column::f32("distance").brief(), |link| Ok(link.distance.into()))
        .column(Column::uint("from_index").place(), |link| Ok(link.from.0.into()))
        .column(Column::uint("to_index").place(), |link| Ok(link.to.map(|(number, _)| number).into()));
    Box::new(table)
}
