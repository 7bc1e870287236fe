//! Records as lists of fields, and walks over them: past a record, to one field, through all fields.
//!
//! A record of this format stores no length; it ends after its last field. Each kind of record is described once (in
//! `shapes`), and every reader of records uses that description.

use super::tables::RecordTable;
use crate::bytes::{Cursor, Utf16};
use crate::error::{Error, ErrorKind, Result};
use crate::report::Check;
use crate::table::Value;
use std::borrow::Cow;

/// The versions that decide which fields a record has. A version that a file does not state is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// The version of the file, 1 to 22.
    pub main: i32,
    /// The version of the event boxes, 1 to 9; stated from main version 7 on.
    pub event_box: i32,
    /// The version of the animated backgrounds, up to 5; stated from main version 7 on.
    pub ani_bg: i32,
    /// The version of the item boxes, up to 3; stated from main version 7 on.
    pub item_box: i32,
    /// The version of the gimmicks; any value is valid, because nothing depends on it; stored from main version 8 on.
    pub gimmick: i32,
}

#[derive(Debug, Clone, Copy)]
pub struct MapField {
    /// The name in docs/formats/wdata.md.
    pub name: &'static str,
    pub kind: StoredKind,
    pub gate: Gate,
    /// The table of the records that its texts or numbers refer to, if any: by name, resources by key or alias, waypoints by id.
    pub names: Option<RecordTable>,
    /// Whether people know the record by it.
    pub is_label: bool,
    /// Whether no two records may have the same value.
    pub is_unique: bool,
    /// Whether short listings leave it out.
    pub is_aside: bool,
    /// The number that it has in an inserted record unless the edit states another.
    pub default: f32,
}

impl MapField {
    /// Whether it counts the items of lists, which store their own lengths in outputs.
    pub(super) fn is_count(&self) -> bool {
        matches!(self.kind, StoredKind::Count)
    }
}

/// The kind of values that a field stores.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum StoredKind {
    /// An i32; every value except 0 is true.
    Bool,
    /// An i32.
    Int,
    /// A u32.
    Uint,
    /// An f32.
    Float,
    /// A u16 count and that many UTF-16 units. The last unit may be a NUL.
    Text,
    /// An i32 that counts the items of a later list.
    Count,
    /// A fixed number of items.
    Array(&'static StoredKind, usize),
    /// As many items as the record's count with that number (its first count is number 0).
    List(&'static StoredKind, usize),
    Record(&'static [MapField]),
}

/// When a field is stored. Ranges of versions include both ends.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Gate {
    Always,
    /// Stored in these main versions.
    Main(i32, i32),
    /// Stored in these event-box versions.
    EventBox(i32, i32),
    /// Stored in the first of several records, and from this event-box version on in all of them.
    FirstOrEventBox(i32),
    /// Stored from this version of the animated backgrounds on.
    AniBg(i32),
    /// Stored from this item-box version on.
    ItemBox(i32),
    /// Stored in all but the last of several records.
    NotLast,
    /// Stored if the record's count with this number is not 0.
    Any(usize),
}

/// A field that is always stored.
pub const fn field(name: &'static str, kind: StoredKind) -> MapField {
    MapField {
        name,
        kind,
        gate: Gate::Always,
        names: None,
        is_label: false,
        is_unique: false,
        is_aside: false,
        default: 0.0,
    }
}

impl MapField {
    /// Stores the field only if `gate` allows it.
    #[must_use]
    pub const fn when(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Declares that the texts or numbers of the field name other records.
    #[must_use]
    pub const fn names(mut self, table: RecordTable) -> Self {
        self.names = Some(table);
        self
    }

    /// Marks the field as the label of the record.
    #[must_use]
    pub const fn label(mut self) -> Self {
        self.is_label = true;
        self
    }

    /// Declares that no two records may have the same value.
    #[must_use]
    pub const fn unique(mut self) -> Self {
        self.is_unique = true;
        self
    }

    /// Leaves the field out of short listings.
    #[must_use]
    pub const fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }

    /// Sets the number of the field in an inserted record.
    #[must_use]
    pub const fn by_default(mut self, number: f32) -> Self {
        self.default = number;
        self
    }
}

/// The counts of one record, in the order in which they are stored.
#[derive(Debug, Default)]
pub(super) struct Counts {
    values: [usize; Counts::MOST],
    pub(super) len: usize,
}

impl Counts {
    /// The counts of a camera, which has the most.
    const MOST: usize = 11;

    pub(super) fn push(&mut self, value: usize) {
        if let Some(slot) = self.values.get_mut(self.len) {
            *slot = value;
            self.len = self.len.saturating_add(1);
        }
    }

    pub(super) fn get(&self, number: usize) -> usize {
        *self.values.get(number).expect("no shape has more counts")
    }
}

/// The place of a record among several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListPosition {
    pub(super) first: bool,
    pub(super) last: bool,
}

pub(super) const ALONE: ListPosition = ListPosition { first: true, last: true };

impl ListPosition {
    /// The place of record `number` among `count`.
    pub(super) fn of(number: usize, count: usize) -> Self {
        Self { first: number == 0, last: number.saturating_add(1) == count }
    }
}

impl Gate {
    /// Whether a file of these versions stores the field; `None` if that depends on the record, too.
    #[inline]
    pub fn decide(self, versions: &Versions) -> Option<bool> {
        match self {
            Self::Always => Some(true),
            Self::Main(from, to) => Some((from..=to).contains(&versions.main)),
            Self::EventBox(from, to) => Some((from..=to).contains(&versions.event_box)),
            Self::AniBg(from) => Some(versions.ani_bg >= from),
            Self::ItemBox(from) => Some(versions.item_box >= from),
            Self::FirstOrEventBox(from) if versions.event_box >= from => Some(true),
            Self::FirstOrEventBox(_) | Self::NotLast | Self::Any(_) => None,
        }
    }

    #[inline]
    pub(super) fn holds(self, versions: &Versions, place: ListPosition, counts: &Counts) -> bool {
        self.decide(versions).unwrap_or(match self {
            Self::NotLast => !place.last,
            Self::Any(number) => counts.get(number) != 0,
            _ => place.first,
        })
    }
}

impl StoredKind {
    /// The kind's size in bytes, if that does not depend on the file.
    pub(super) const fn size(&self) -> Option<usize> {
        match self {
            Self::Bool | Self::Int | Self::Uint | Self::Float | Self::Count => Some(4),
            Self::Array(item, count) => match item.size() {
                Some(size) => Some(size.saturating_mul(*count)),
                None => None,
            },
            Self::Text | Self::List(..) | Self::Record(_) => None,
        }
    }

    /// The kind's minimum size in bytes.
    pub(super) const fn least(&self) -> usize {
        match self {
            Self::Text => 2,
            Self::Array(item, count) => item.least().saturating_mul(*count),
            Self::List(..) | Self::Record(_) => 0,
            _ => 4,
        }
    }
}

/// A visitor of the fields of a record, in order.
trait Action<'a> {
    /// One value that is not a count, not a record and not several of these. Must move the cursor past it.
    fn leaf(&mut self, kind: StoredKind, cursor: &mut Cursor<'a>) -> Result<()>;

    /// Whether many values of a fixed size may be left out unseen.
    const SKIPS: bool;
}

/// Walks over `fields` from the cursor on.
fn walk<'a, A: Action<'a>>(
    fields: &[MapField],
    cursor: &mut Cursor<'a>,
    versions: &Versions,
    place: ListPosition,
    action: &mut A,
) -> Result<()> {
    let mut counts = Counts::default();
    fields.iter().try_for_each(|field| step(field, cursor, versions, place, &mut counts, action))
}

#[inline]
fn step<'a, A: Action<'a>>(
    field: &MapField,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
    place: ListPosition,
    counts: &mut Counts,
    action: &mut A,
) -> Result<()> {
    if !field.gate.holds(versions, place, counts) {
        if matches!(field.kind, StoredKind::Count) {
            counts.push(0);
        }
        return Ok(());
    }
    let done = match field.kind {
        StoredKind::Count => read_count(cursor).map(|count| counts.push(count)),
        StoredKind::Array(item, count) => items(item, count, cursor, versions, action),
        StoredKind::List(item, number) => items(item, counts.get(number), cursor, versions, action),
        StoredKind::Record(fields) => walk(fields, cursor, versions, ALONE, action),
        leaf => action.leaf(leaf, cursor),
    };
    done.map_err(|e| e.context(field.name))
}

fn items<'a, A: Action<'a>>(
    item: &StoredKind,
    count: usize,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
    action: &mut A,
) -> Result<()> {
    match (item, item.size()) {
        (_, Some(size)) if A::SKIPS => cursor.skip(count.saturating_mul(size)),
        (StoredKind::Record(fields), _) => (0..count).try_for_each(|i| {
            let place = ListPosition::of(i, count);
            walk(fields, cursor, versions, place, action)
        }),
        (StoredKind::Array(item, per), _) => (0..count).try_for_each(|_| items(item, *per, cursor, versions, action)),
        _ => (0..count).try_for_each(|_| action.leaf(*item, cursor)),
    }
}

/// A count of list items. Each item has at least two bytes.
fn read_count(cursor: &mut Cursor<'_>) -> Result<usize> {
    cursor.count("count", 2)
}

/// The stored text at the cursor.
#[inline]
pub fn read_text<'a>(cursor: &mut Cursor<'a>) -> Result<Utf16<'a>> {
    let start = *cursor;
    let units = cursor.u16()?;
    let text = cursor.utf16(units.into());
    if text.is_err() {
        *cursor = start;
    }
    text
}

struct Skip;

impl<'a> Action<'a> for Skip {
    const SKIPS: bool = true;

    #[inline]
    fn leaf(&mut self, kind: StoredKind, cursor: &mut Cursor<'a>) -> Result<()> {
        match kind {
            StoredKind::Text => {
                let units = cursor.u16()?;
                cursor.skip(usize::from(units).saturating_mul(2))
            }
            _ => cursor.skip(4),
        }
    }
}

/// Skips a record, reading only lengths.
///
/// # Errors
/// Names the field that does not fit.
#[inline]
pub fn skip(fields: &[MapField], cursor: &mut Cursor<'_>, versions: &Versions) -> Result<()> {
    walk(fields, cursor, versions, ALONE, &mut Skip)
}

/// Skips one field of a record. `counts` are the counts so far.
pub(super) fn skip_field(
    field: &MapField,
    cursor: &mut Cursor<'_>,
    versions: &Versions,
    place: ListPosition,
    counts: &mut Counts,
) -> Result<()> {
    step(field, cursor, versions, place, counts, &mut Skip)
}

/// Skips one item of a list or an array.
pub(super) fn skip_item(
    kind: &StoredKind,
    cursor: &mut Cursor<'_>,
    versions: &Versions,
    place: ListPosition,
) -> Result<()> {
    match kind {
        StoredKind::Record(fields) => walk(fields, cursor, versions, place, &mut Skip),
        other => items(other, 1, cursor, versions, &mut Skip),
    }
}

/// Field number `wanted`, found from the start of its record; null if this file does not store it.
///
/// # Errors
/// Names the field that does not fit.
pub fn value<'a>(
    fields: &[MapField],
    wanted: usize,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
) -> Result<Value<'a>> {
    let mut counts = skip_to(fields, wanted, cursor, versions)?;
    match fields.get(wanted) {
        Some(field) => decode(field, cursor, versions, ALONE, &mut counts),
        None => Ok(Value::Null),
    }
}

/// Skips the fields before number `wanted`. Returns their counts.
fn skip_to(fields: &[MapField], wanted: usize, cursor: &mut Cursor<'_>, versions: &Versions) -> Result<Counts> {
    let mut counts = Counts::default();
    for field in fields.iter().take(wanted) {
        step(field, cursor, versions, ALONE, &mut counts, &mut Skip)?;
    }
    Ok(counts)
}

/// The byte range of field number `wanted`, found in the same way.
///
/// # Errors
/// Names the field that does not fit.
pub fn locate(
    fields: &[MapField],
    wanted: usize,
    cursor: &mut Cursor<'_>,
    versions: &Versions,
) -> Result<(usize, usize)> {
    let mut counts = skip_to(fields, wanted, cursor, versions)?;
    let start = cursor.position();
    if let Some(field) = fields.get(wanted) {
        step(field, cursor, versions, ALONE, &mut counts, &mut Skip)?;
    }
    Ok((start, cursor.position()))
}

fn decode<'a>(
    field: &MapField,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
    place: ListPosition,
    counts: &mut Counts,
) -> Result<Value<'a>> {
    if !field.gate.holds(versions, place, counts) {
        if matches!(field.kind, StoredKind::Count) {
            counts.push(0);
        }
        return Ok(Value::Null);
    }
    let value = match field.kind {
        StoredKind::Count => read_count(cursor).map(|count| {
            counts.push(count);
            Value::Int(count.try_into().expect("counts have 31 bits"))
        }),
        StoredKind::List(item, number) => decode_items(item, counts.get(number), cursor, versions),
        ref kind => decode_kind(kind, cursor, versions, ALONE),
    };
    value.map_err(|e| e.context(field.name))
}

fn decode_items<'a>(
    item: &StoredKind,
    count: usize,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
) -> Result<Value<'a>> {
    let values = (0..count).map(|i| decode_kind(item, cursor, versions, ListPosition::of(i, count)));
    values.collect::<Result<Vec<_>>>().map(Value::List)
}

pub(super) fn decode_kind<'a>(
    kind: &StoredKind,
    cursor: &mut Cursor<'a>,
    versions: &Versions,
    place: ListPosition,
) -> Result<Value<'a>> {
    Ok(match *kind {
        StoredKind::Bool => Value::Bool(cursor.i32()? != 0),
        StoredKind::Int | StoredKind::Count | StoredKind::List(..) => Value::from(cursor.i32()?),
        StoredKind::Uint => Value::from(cursor.u32()?),
        StoredKind::Float => Value::F32(cursor.f32()?),
        StoredKind::Text => Value::Utf16(read_text(cursor)?.trim_nul()),
        StoredKind::Array(item, count) => decode_items(item, count, cursor, versions)?,
        StoredKind::Record(fields) => {
            let mut counts = Counts::default();
            let mut map = Vec::with_capacity(fields.len());
            for field in fields {
                let value = decode(field, cursor, versions, place, &mut counts)?;
                // The lists store their own lengths.
                if !matches!(field.kind, StoredKind::Count) {
                    map.push((Cow::Borrowed(field.name), value));
                }
            }
            Value::Map(map)
        }
    })
}

/// Counts of texts and flags that a walk through everything has met.
#[derive(Debug, Default)]
pub struct Seen {
    /// Texts with a count that includes a terminating NUL.
    pub with_nul: u64,
    /// Texts that are not empty and have none.
    pub without_nul: u64,
    /// Texts of no units.
    pub empty: u64,
    /// Truth values that are neither 0 nor 1.
    pub odd_flags: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.with_nul = self.with_nul.saturating_add(other.with_nul);
        self.without_nul = self.without_nul.saturating_add(other.without_nul);
        self.empty = self.empty.saturating_add(other.empty);
        self.odd_flags = self.odd_flags.saturating_add(other.odd_flags);
    }

    /// Notes a text and lists what is wrong with it.
    pub fn text(&mut self, text: Utf16<'_>, offset: u64, check: &mut Check) {
        let form = match text.units().last().map(|u| u.get()) {
            None => &mut self.empty,
            Some(0) => &mut self.with_nul,
            Some(_) => &mut self.without_nul,
        };
        *form = form.saturating_add(1);
        if let Some(at) = text.first_unpaired() {
            let kind = ErrorKind::Text { encoding: "UTF-16", valid_up_to: at as u64 };
            check.fail(Error::new(kind, "", offset));
        }
        if text.trim_nul().units().iter().any(|u| u.get() == 0) {
            check.fail(Error::new(ErrorKind::damaged("a NUL in the middle of a text"), "", offset));
        }
    }
}

struct Inspect<'c> {
    seen: &'c mut Seen,
    check: &'c mut Check,
}

impl<'a> Action<'a> for Inspect<'_> {
    const SKIPS: bool = false;

    fn leaf(&mut self, kind: StoredKind, cursor: &mut Cursor<'a>) -> Result<()> {
        let offset = cursor.view().offset();
        match kind {
            StoredKind::Text => self.seen.text(read_text(cursor)?, offset, self.check),
            StoredKind::Float => {
                let value = cursor.f32()?;
                if !value.is_finite() {
                    let what = format!("{value} is not a finite number").into();
                    self.check.fail(Error::new(ErrorKind::Damaged { what }, "", offset));
                }
            }
            StoredKind::Bool => {
                let value = cursor.i32()?;
                if !(0..=1).contains(&value) {
                    self.seen.odd_flags = self.seen.odd_flags.saturating_add(1);
                }
            }
            _ => cursor.skip(4)?,
        }
        Ok(())
    }
}

/// Reads every value of a record and moves past it: lists faults in `check`, and counts the forms of texts and flags in `seen`.
///
/// # Errors
/// Names the field that does not fit; there is no way past it.
pub fn inspect(
    fields: &[MapField],
    cursor: &mut Cursor<'_>,
    versions: &Versions,
    seen: &mut Seen,
    check: &mut Check,
) -> Result<()> {
    walk(fields, cursor, versions, ALONE, &mut Inspect { seen, check })
}

#[cfg(test)]
mod tests {
    use super::super::BoxType;
    use super::StoredKind::{Array, Count, Float, Int, List, Text};
    use super::*;

    /// A record of a made-up kind: its name, a number of two versions of the file, and as many links as it counts.
    #[test]
    fn versions_and_counts_decide_which_values_a_record_has() {
        let fields = [
            field("name", Text).label(),
            field("id", Int).unique(),
            field("scale", Array(&Float, 2)).when(Gate::Main(3, 4)).aside().by_default(1.0),
            field("link_count", Count),
            field("reach", Float).when(Gate::Any(0)),
            field("links", List(&Int, 0)).names(RecordTable::Boxes(BoxType::WaypointBox)),
        ];
        let is = |has: fn(&MapField) -> bool| -> Vec<&str> {
            fields.iter().filter(|field| has(field)).map(|field| field.name).collect()
        };
        assert_eq!(is(|field| field.is_label), ["name"]);
        assert_eq!(is(|field| field.is_unique), ["id"]);
        assert_eq!(is(|field| field.is_aside && field.default == 1.0), ["scale"]);
        assert_eq!(is(|field| field.names.is_some()), ["links"]);
        assert_eq!(is(MapField::is_count), ["link_count"]);

        let name = [2, 0, b'u', 0, b'p', 0];
        let scale = [1.5f32, 2.5].map(f32::to_le_bytes).concat();
        let links = [2i32.to_le_bytes(), 0.5f32.to_le_bytes(), 7i32.to_le_bytes(), 8i32.to_le_bytes()].concat();
        let (id, no_links) = (5i32.to_le_bytes(), 0i32.to_le_bytes());
        for (main, bytes, shown) in [
            (2, [&name[..], &id, &links].concat(), ["up", "5", "", "2", "0.5", "[7, 8]"]),
            (3, [&name[..], &id, &scale, &links].concat(), ["up", "5", "[1.5, 2.5]", "2", "0.5", "[7, 8]"]),
            (4, [&name[..], &id, &scale, &no_links].concat(), ["up", "5", "[1.5, 2.5]", "0", "", "[]"]),
            (5, [&name[..], &id, &no_links].concat(), ["up", "5", "", "0", "", "[]"]),
        ] {
            let versions = Versions { main, event_box: 1, ani_bg: 1, item_box: 1, gimmick: 1 };
            let view = crate::bytes::View::new(&bytes, "record");
            for (number, shown) in shown.into_iter().enumerate() {
                let value = value(&fields, number, &mut Cursor::new(view), &versions).unwrap();
                assert_eq!(value.to_string(), shown, "version {main}: {}", fields[number].name);
            }
            let mut cursor = Cursor::new(view);
            skip(&fields, &mut cursor, &versions).unwrap();
            assert_eq!(cursor.position(), bytes.len(), "version {main}");
        }
    }
}
