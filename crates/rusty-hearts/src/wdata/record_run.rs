//! Consecutive records of one kind: the start of each, found by one walk.

use super::fields::{self, Versions};
use super::layout::Obb;
use super::record::MapRecord;
use super::shapes::RecordShape;
use super::skip_plan::SkipPlan;
use super::{Map, tables};
use crate::bytes::{Cursor, View};
use crate::error::{Error, ErrorKind, Result};
use crate::threads::prelude::*;

/// Where records begin. The walk that finds them stops at the first one that does not fit.
#[derive(Debug)]
pub(super) struct RecordRun {
    pub(super) shape: &'static RecordShape,
    pub(super) start: usize,
    /// The number of records that there should be.
    pub(super) count: usize,
    /// The starts of the complete records.
    pub(super) positions: Vec<u32>,
    /// The end of the last complete record.
    pub(super) found_end: usize,
    /// The place at which something else begins.
    limit: usize,
}

impl RecordRun {
    pub(super) const fn empty(shape: &'static RecordShape, at: usize) -> Self {
        Self { shape, start: at, count: 0, positions: Vec::new(), found_end: at, limit: at }
    }

    /// Finds `count` records from `start` on, all before `limit`.
    pub(super) fn walk(
        shape: &'static RecordShape,
        view: View<'_>,
        start: usize,
        count: usize,
        limit: usize,
        versions: &Versions,
    ) -> Self {
        let program = SkipPlan::new(shape.fields, versions);
        let data = view.data().get(..limit).unwrap_or(view.data());
        // A count is a claim: memory is allocated only for as many records as the bytes could hold.
        let room = limit.saturating_sub(start).checked_div(shape.least());
        let mut positions = Vec::with_capacity(room.map_or(0, |room| room.min(count)));
        let mut end = start;
        for _ in 0..count {
            let Some(next) = program.end(data, end) else { break };
            positions.push(end.try_into().expect("opening a map limits its size to that of a u32"));
            end = next;
        }
        Self { shape, start, count, positions, found_end: end, limit }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.positions.len() == self.count
    }

    /// Checks that all of them were found.
    pub(super) fn check(&self, map: &Map) -> Result<()> {
        if self.is_whole() { Ok(()) } else { Err(self.fault(map)) }
    }

    pub(super) fn end(&self, map: &Map) -> Result<usize> {
        self.check(map).map(|()| self.found_end)
    }

    /// The damage of the record after the last one that was found.
    #[cold]
    fn fault(&self, map: &Map) -> Error {
        let mut cursor = cursor(map.view(), self.found_end, self.limit);
        let which = format!("{} {}", self.shape.name, self.positions.len());
        let error = match fields::skip(self.shape.fields, &mut cursor, map.versions()) {
            Err(error) => error,
            // The walk that stopped here and this one read the same bytes.
            Ok(()) => map.view().at(self.found_end).error(ErrorKind::damaged("unreadable")),
        };
        if self.limit < map.source().bytes().len()
            && matches!(error.kind(), ErrorKind::OutOfBounds { .. })
            && let Some(offset) = error.offset()
        {
            let what = format!("runs into what begins at offset {:#x}", self.limit).into();
            let field = error.part().to_owned();
            return Error::new(ErrorKind::Damaged { what }, field, offset).context(which);
        }
        error.context(which)
    }

    pub(super) fn cursor<'a>(&self, map: &'a Map, number: usize) -> Option<Cursor<'a>> {
        let at = usize::try_from(*self.positions.get(number)?).ok()?;
        Some(cursor(map.view(), at, self.limit))
    }
}

/// A cursor at `at` that ends at `limit`.
fn cursor(view: View<'_>, at: usize, limit: usize) -> Cursor<'_> {
    let data = view.data().get(..limit).unwrap_or(view.data());
    Cursor::new(View::new(data, "").with_origin(view.at(0).offset()).at(at))
}

/// Records of one kind, found but not read.
#[derive(Debug, Clone, Copy)]
pub struct MapRecords<'a> {
    pub(super) map: &'a Map,
    run: &'a RecordRun,
}

impl<'a> MapRecords<'a> {
    pub(super) const fn new(map: &'a Map, run: &'a RecordRun) -> Self {
        Self { map, run }
    }

    /// Bytes of the records that can be read.
    pub(super) fn extent(&self) -> u64 {
        self.run.found_end.saturating_sub(self.run.start) as u64
    }

    pub fn shape(&self) -> &'static RecordShape {
        self.run.shape
    }

    /// The number of records that can be read; fewer than [`MapRecords::count`] if one is damaged, because later records
    /// cannot be found.
    pub fn len(&self) -> usize {
        self.run.positions.len()
    }

    /// Whether not one can be read.
    pub fn is_empty(&self) -> bool {
        self.run.positions.is_empty()
    }

    /// The number of records that there should be.
    pub fn count(&self) -> usize {
        self.run.count
    }

    /// Checks that all of them can be read.
    ///
    /// # Errors
    /// The damage of the first one that cannot.
    pub fn check(&self) -> Result<()> {
        self.run.check(self.map)
    }

    pub fn get(&self, number: usize) -> Option<MapRecord<'a>> {
        let cursor = self.run.cursor(self.map, number)?;
        Some(MapRecord::new(self.map, self.run.shape, cursor))
    }

    /// The records that can be read, in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = MapRecord<'a>> + use<'a> {
        let Self { map, run } = *self;
        run.positions.iter().map(move |&at| {
            // A position that was found is within the file.
            MapRecord::new(map, run.shape, cursor(map.view(), at as usize, run.limit))
        })
    }

    /// The places of the records that can be read, with their numbers. Nothing else of them is looked at.
    pub(super) fn places(&self) -> impl ParallelIterator<Item = (usize, &'a Obb)> + use<'a> {
        let data = self.map.source().bytes();
        let positions = if self.run.shape.placed { self.run.positions.as_slice() } else { &[] };
        positions.par_iter().with_min_len(4096).enumerate().filter_map(move |(number, &at)| {
            let mut cursor = Cursor::new(View::new(data, "").at(at as usize));
            fields::read_text(&mut cursor).ok()?;
            Some((number, cursor.read().ok()?))
        })
    }

    /// The only record of a section with one record, complete or not: the fields before the damage are readable.
    pub(super) fn damaged_or_not(&self) -> MapRecord<'a> {
        MapRecord::new(self.map, self.run.shape, cursor(self.map.view(), self.run.start, self.run.limit))
    }

    /// The only record of a section that has one.
    ///
    /// # Errors
    /// The record's damage.
    pub fn first(&self) -> Result<MapRecord<'a>> {
        self.check()?;
        self.get(0).ok_or_else(|| tables::no_record(self.run.shape.name))
    }
}
