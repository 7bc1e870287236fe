//! Rusty Hearts maps, `.wdata`.
//!
//! A map is one sequence of records without lengths, so that a record is found by a walk over the earlier records.
//! Walks read lengths only. They run on demand, and stop at the end of the requested records; the positions of records
//! are kept. Event boxes are found by their table: the boxes of one type, without the others.
//!
//! [`Map::open`] reads the versions, the paths and the event-box table. Records before any later damage can be read.

mod cat;
mod drawing;
mod fields;
mod glb;
pub mod layout;
mod reader;
mod record;
mod record_run;
pub mod shapes;
mod skip_plan;
mod space;
mod tables;
mod trailing;
mod verify;
mod waypoints;
mod writer;

pub use crate::table::OrientedBox;
pub use fields::{Gate, MapField, StoredKind, Versions};
pub use record::MapRecord;
pub use record_run::MapRecords;
pub use shapes::{BoxType, RecordShape};
pub use space::Hits;
pub use trailing::{Choice, Section, TriggerLayout};
pub use waypoints::Link;

use crate::bytes::{Cursor, Utf16, View};
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::Lazy;
use crate::source::Source;
use crate::threads::prelude::*;
use assetq_core::{Openable, Options};
use layout::IndexEntry;
use record_run::RecordRun;
use trailing::TrailingSections;

const SIGNATURE: &str = "stairwaygames.";

/// The way to count the texts of a file (docs/formats/wdata.md §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// The count includes a terminating NUL, as reported for the game's own files.
    CountsNul,
    /// There is no NUL, as in files of the published program.
    NoNul,
}

impl TextForm {
    pub const fn name(self) -> &'static str {
        match self {
            Self::CountsNul => "counted with a NUL",
            Self::NoNul => "counted without a NUL",
        }
    }
}

#[derive(Debug)]
pub struct Map {
    source: Source,
    text_form: TextForm,
    versions: Versions,
    header: RecordRun,
    paths: RecordRun,
    boxes: [Lazy<RecordRun>; BoxType::COUNT],
    sections: [Lazy<RecordRun>; Section::LEADING],
    tail: Lazy<TrailingSections>,
    scripts: Lazy<Vec<tables::Script>>,
    graph: Lazy<waypoints::Graph>,
}

impl Map {
    /// Opens `source`: reads the versions, finds the paths and the event-box table.
    ///
    /// # Errors
    /// `Damaged` for a wrong signature, `BadVersion` for a main version outside of 1 to 22, `OutOfBounds` when the file
    /// ends within the versions, `Limit` when it has more bytes than its own offsets can count.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let (value, limit) = (source.bytes().len() as u64, u32::MAX.into());
        if value > limit {
            return Err(Error::of_part(ErrorKind::Limit { what: "size of a map", value, limit }, "header"));
        }
        let mut cursor = Cursor::new(source.view("signature"));
        let signature = fields::read_text(&mut cursor)?;
        if signature.trim_nul() != SIGNATURE {
            return Err(source.view("signature").error(ErrorKind::damaged("this is not the signature of a map")));
        }
        let counts_nul = signature.units().last().is_some_and(|u| u.get() == 0);
        let text_form = if counts_nul { TextForm::CountsNul } else { TextForm::NoNul };

        cursor.set_part("main version");
        let main = cursor.i32()?;
        if !(1..=22).contains(&main) {
            let at = cursor.position().saturating_sub(4);
            return Err(cursor.view().at(at).error(ErrorKind::BadVersion { found: main.into() }));
        }
        let (start, end) = (cursor.position(), source.bytes().len());
        let versions = Versions { main, event_box: 0, ani_bg: 0, item_box: 0, gimmick: 0 };
        let header = RecordRun::walk(&shapes::HEADER, source.view(""), start, 1, end, &versions);
        fields::skip(shapes::HEADER.fields, &mut Cursor::new(cursor.view().part("")), &versions)
            .map_err(|error| error.context("versions"))?;
        let mut stored = [0; 4];
        for (field, version) in shapes::HEADER.fields.iter().zip(&mut stored) {
            if field.gate.decide(&versions) == Some(true) {
                *version = cursor.i32()?;
            }
        }
        let [event_box, ani_bg, item_box, gimmick] = stored;
        let versions = Versions { main, event_box, ani_bg, item_box, gimmick };
        let paths = RecordRun::walk(&shapes::LEADING_PATHS, source.view(""), header.found_end, 1, end, &versions);
        Ok(Self {
            source,
            text_form,
            versions,
            header,
            paths,
            boxes: Default::default(),
            sections: Default::default(),
            tail: Lazy::default(),
            scripts: Lazy::default(),
            graph: Lazy::default(),
        })
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// The versions and the counts in its header: one record.
    pub fn header(&self) -> MapRecords<'_> {
        MapRecords::new(self, &self.header)
    }

    /// The counting of texts in its signature, and therefore most likely in all texts.
    pub fn text_form(&self) -> TextForm {
        self.text_form
    }

    /// The leading paths (`model_path`, `nav_mesh_path`, `nav_height_path`, `event_box_path`): one record.
    pub fn leading_paths(&self) -> MapRecords<'_> {
        MapRecords::new(self, &self.paths)
    }

    /// The path `name`, such as `model_path`; `None` if it is empty or `.\`, which is the format's form of no path, or
    /// absent in this version.
    ///
    /// # Errors
    /// `NotFound` for a name that is not a path's, and when the file is damaged there or before it.
    pub fn path(&self, name: &str) -> Result<Option<Utf16<'_>>> {
        let records = if shapes::LEADING_PATHS.field(name).is_some() {
            self.leading_paths()
        } else if shapes::TRAILING_PATHS.field(name).is_some() {
            MapRecords::new(self, self.section_run(Section::TrailingPaths)?)
        } else {
            return Err(Error::of_part(ErrorKind::NotFound { what: format!("path {name:?} not found") }, "paths"));
        };
        records.damaged_or_not().text(name).map(|path| path.filter(|p| is_path(*p)))
    }

    /// The start of the event-box table, after the leading paths.
    fn index_at(&self) -> Result<usize> {
        self.paths.end(self)
    }

    /// The event-box table: a row for each type, in the order of their numbers. Empty before main version 7.
    ///
    /// # Errors
    /// When it does not fit, or has more than 19 types.
    pub fn box_index(&self) -> Result<&[IndexEntry]> {
        if self.versions.main < 7 {
            return Ok(&[]);
        }
        let view = self.source.view("event-box table").at(self.index_at()?);
        let mut cursor = Cursor::new(view);
        let types = cursor.u32()?;
        match usize::try_from(types) {
            Ok(types) if types <= BoxType::COUNT => cursor.array(types),
            _ => Err(view.bad_value("number of box types; 19 are known", types)),
        }
    }

    fn index_end(&self) -> Result<usize> {
        let entries = self.box_index()?;
        let head = if self.versions.main < 7 { 0 } else { 4 };
        Ok(self.index_at()?.saturating_add(head).saturating_add(size_of_val(entries)))
    }

    /// The types that have boxes, in file order.
    pub fn box_types(&self) -> Result<Vec<BoxType>> {
        let entries = BoxType::ALL.into_iter().zip(self.box_index()?);
        let mut filled: Vec<_> = entries.filter(|(_, e)| e.count.get() != 0).collect();
        filled.sort_by_key(|(_, e)| e.offset.get());
        Ok(filled.into_iter().map(|(t, _)| t).collect())
    }

    /// The number of boxes of a type according to the event-box table.
    pub fn box_count(&self, box_type: BoxType) -> Result<u32> {
        Ok(self.box_index()?.get(usize::from(box_type.number())).map_or(0, |e| e.count.get()))
    }

    /// The event boxes of one type. Reads no box of another type.
    ///
    /// # Errors
    /// When the event-box table or its row for this type is damaged, and for a version with an unknown layout. Damage
    /// within a box is an error of this box.
    pub fn boxes(&self, box_type: BoxType) -> Result<MapRecords<'_>> {
        self.box_run(box_type).map(|run| MapRecords::new(self, run))
    }

    /// Finds the boxes of all types, in parallel: worth it before a query of all of them.
    pub fn find_all_boxes(&self) {
        // Damage of a type is reported again by its own boxes.
        BoxType::ALL.par_iter().for_each(|&t| drop(self.box_run(t)));
    }

    fn box_run(&self, box_type: BoxType) -> Result<&RecordRun> {
        let number = usize::from(box_type.number());
        let Some(lazy) = self.boxes.get(number) else { return Err(tables::no_record(box_type.name())) };
        lazy.get_or_try_init(|| self.find_boxes(box_type, number).map_err(|e| e.context(box_type.shape().name)))
    }

    fn find_boxes(&self, box_type: BoxType, number: usize) -> Result<RecordRun> {
        let (entries, table_end) = (self.box_index()?, self.index_end()?);
        let shape = box_type.shape();
        let entry = match entries.get(number) {
            Some(entry) if entry.count.get() != 0 => entry,
            _ => return Ok(RecordRun::empty(shape, table_end)),
        };
        let row = self.source.view("event-box table").locate(entry);
        if box_type == BoxType::UnusedBox {
            return Err(row.bad_value("number of boxes of type 14, which has no known layout", entry.count.get()));
        }
        if !(1..=9).contains(&self.versions.event_box) {
            let at = self.source.view("event-box version").at(self.header.start);
            return Err(at.error(ErrorKind::BadVersion { found: self.versions.event_box.into() }));
        }
        let (offset, count) = (entry.offset.get() as usize, entry.count.get() as usize);
        if offset < table_end || offset > self.source.bytes().len() {
            return Err(row.bad_value("offset outside of the event boxes", entry.offset.get()));
        }
        // Boxes end at the start of the next type's boxes.
        let mut limit = self.source.bytes().len();
        for (other, e) in BoxType::ALL.iter().zip(entries).filter(|(t, e)| **t != box_type && e.count.get() != 0) {
            let begins = e.offset.get() as usize;
            if begins == offset {
                let what = format!("the {} begin at the same offset {offset:#x}", other.shape().name).into();
                return Err(row.error(ErrorKind::Damaged { what }));
            }
            if begins > offset {
                limit = limit.min(begins);
            }
        }
        if count.saturating_mul(shape.least()) > limit.saturating_sub(offset) {
            let what = "number of boxes, more than fit";
            return Err(row.locate(&entry.count).bad_value(what, entry.count.get()));
        }
        Ok(RecordRun::walk(shape, self.source.view(""), offset, count, limit, &self.versions))
    }

    /// The end of the event boxes: the end of the last box in the file.
    fn boxes_end(&self) -> Result<usize> {
        match self.box_types()?.last() {
            Some(&last) => self.box_run(last)?.end(self),
            None => self.index_end(),
        }
    }

    /// A view of the whole file; its errors name only the parts that are added to it.
    fn view(&self) -> View<'_> {
        self.source.view("")
    }

    /// The records of a section after the event boxes; `None` in a file without the section.
    ///
    /// # Errors
    /// When the file is damaged before them, or in their number. Damage within a record is an error of this record.
    pub fn section(&self, section: Section) -> Result<Option<MapRecords<'_>>> {
        Ok(self.any_run(section)?.map(|run| MapRecords::new(self, run)))
    }

    /// The trigger layout of the file, and why it was chosen.
    ///
    /// # Errors
    /// When the file is damaged before the triggers.
    pub fn trigger_layout(&self) -> Result<(TriggerLayout, Choice)> {
        let tail = self.tail()?;
        Ok((tail.layout, tail.choice))
    }

    /// Whether the file ends directly after the triggers, as files of the game's servers do.
    pub fn is_server_side(&self) -> Result<bool> {
        self.tail().map(|tail| tail.server_side)
    }
}

/// Whether a stored path is one: not empty and not `.\`.
fn is_path(path: Utf16<'_>) -> bool {
    !path.is_empty() && path != ".\\"
}
