//! Byte patches, relocated arrays and strings, and which of them are shared between records.
//!
//! Records point into an *area*: the blob of their database, or a whole `models.bin` or `space.bin`. A value that grows is appended to
//! the area, and its pointer is updated. Pointers are relative to their struct: an area may move as a whole, single values may not.

use super::super::reach::Reach;
use super::super::record::{Elements, FieldInfo, Flag, Form, Type, TypeKind, Typed as _};
use super::super::text_layouts;
use super::records::Records;
use super::value::leaf_bytes;
use crate::budget::Budget;
use crate::bytes::View;
use crate::compare::same_value;
use crate::error::{Error, ErrorKind, Result};
use crate::lazy::{self, Lazy};
use crate::packed_string::PackedString;
use crate::table::Value;
use crate::writable::patches::{Patches, two_edits};
use crate::writable::{refused, short, short_text};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;

/// An area's new end is a multiple of this, from its first byte: the largest alignment of anything that may follow it.
pub(super) const ALIGNMENT: usize = 16;

/// A place in the new file: one that the old file has, or one in what is appended to an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum To {
    Old(usize),
    New(usize),
    /// A position in the inserted records.
    Record(usize),
}

impl To {
    pub fn skip(self, count: usize) -> Self {
        match self {
            Self::Old(at) => Self::Old(at.saturating_add(count)),
            Self::New(at) => Self::New(at.saturating_add(count)),
            Self::Record(at) => Self::Record(at.saturating_add(count)),
        }
    }
}

/// An edited value: its old and its new position.
#[derive(Debug, Clone, Copy)]
pub(super) struct EditedPosition<'a> {
    pub view: View<'a>,
    pub to: To,
}

/// The bytes of a new value before its fields are written: as many as the longest struct has.
static ZEROS: [u8; text_layouts::MAX_SIZE as usize] = [0; text_layouts::MAX_SIZE as usize];

impl<'a> EditedPosition<'a> {
    /// A new value, whose bytes are 0.
    pub fn new(to: To) -> Self {
        Self { view: View::new(&ZEROS, "new value"), to }
    }

    pub fn old(view: View<'a>) -> Self {
        Self { view, to: To::Old(view.position()) }
    }

    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        Self { view: self.view.skip(count), to: self.to.skip(count) }
    }
}

/// The arrays and texts of an area, which distinguish shared data from data of a single record.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// By their starts.
    ranges: Vec<(usize, usize)>,
    /// For each, the furthest end of all up to it.
    ends: Vec<usize>,
}

impl Shares {
    fn of(mut ranges: Vec<(usize, usize)>) -> Self {
        ranges.sort_unstable();
        let mut furthest = 0;
        let ends = ranges.iter().map(|(_, end)| {
            furthest = furthest.max(*end);
            furthest
        });
        let ends = ends.collect();
        Self { ranges, ends }
    }

    /// Whether more than one pointer leads to bytes of a range.
    fn are_shared(&self, range: &Range<usize>) -> bool {
        let behind = self.ranges.partition_point(|(start, _)| *start < range.end);
        let mut met = 0usize;
        for at in (0..behind).rev() {
            if self.ends.get(at).is_none_or(|end| *end <= range.start) {
                break;
            }
            if self.ranges.get(at).is_some_and(|(_, end)| *end > range.start) {
                met = met.saturating_add(1);
                if met > 1 {
                    return true;
                }
            }
        }
        false
    }
}

/// The starts and ends of arrays and texts.
type Spans = Vec<(usize, usize)>;

/// Walks over all that the record with a number points to.
type Walk<'a> = Box<dyn Fn(usize, &mut Reach<'a, '_>) + Sync + 'a>;

/// The positions of shared data.
pub(super) struct Area<'a> {
    /// The area's bytes in the old file.
    pub range: Range<usize>,
    /// Appended to it.
    pub new: Vec<u8>,
    /// The records of its file, if some are inserted or deleted.
    pub array: Option<Records>,
    shares: Lazy<Shares>,
    /// The records that reach the ranges of questions that were answered by a walk of their own.
    asked: RefCell<Vec<(Range<usize>, Vec<usize>)>>,
    file: View<'a>,
    records: usize,
    /// Walks over all that a record points to, which an edit in place needs not.
    walk: Walk<'a>,
    /// Arrays that got a new place, by the place of their pointer.
    moved: HashMap<To, EditedPosition<'a>>,
    /// New numbers of elements, by the place of their struct and the number of the field that counts them.
    pub counts: HashMap<(To, usize), NewCount>,
}

pub(super) struct NewCount {
    of: &'static Type,
    len: usize,
    /// The number of arrays that have as many now.
    arrays: usize,
}

impl<'a> Area<'a> {
    /// The area that the `records` of a part of `file` point to, which `walk` walks over by their numbers.
    pub fn new(
        file: View<'a>,
        range: Range<usize>,
        records: usize,
        walk: impl Fn(usize, &mut Reach<'a, '_>) + Sync + 'a,
    ) -> Self {
        let (new, moved, counts) = (Vec::new(), HashMap::new(), HashMap::new());
        let (shares, asked, walk) = (Lazy::default(), RefCell::default(), Box::new(walk));
        Self { range, new, array: None, shares, asked, file, records, walk, moved, counts }
    }

    /// Whether more than one pointer leads to bytes of a range.
    pub fn are_shared(&self, range: &Range<usize>) -> Result<bool> {
        /// Questions for which arrays need not all be kept and put in order.
        const FEW: usize = 2;
        if self.asked.borrow().len() < FEW {
            let (ranges, records) = self.ranges(range)?;
            self.asked.borrow_mut().push((range.clone(), records));
            return Ok(ranges.len() > 1);
        }
        let shares = self.shares.get_or_try_init(|| self.ranges(&(0..usize::MAX)).map(|(all, _)| Shares::of(all)))?;
        Ok(shares.are_shared(range))
    }

    /// Some ranges, each with the records that reach it, or that cannot be read.
    pub fn known(&self) -> Vec<(Range<usize>, Vec<usize>)> {
        self.asked.take()
    }

    /// The arrays and texts that overlap `near`, and the records that reach it, or that cannot be read.
    ///
    /// # Errors
    /// `Limit` if arrays overlap excessively.
    fn ranges(&self, near: &Range<usize>) -> Result<(Spans, Vec<usize>)> {
        let budget = Budget::of_arrays(self.file.data().len());
        let (file, records, walk) = (self.file, self.records, &self.walk);
        let parts = lazy::parts_for(records, 1 << 10);
        let share = records.div_ceil(parts);
        let found = lazy::parts(parts, |number| {
            let first = number.saturating_mul(share);
            let (mut ranges, mut reaching) = (Vec::new(), Vec::new());
            for record in first..first.saturating_add(share).min(records) {
                let mut reach = Reach::new(file, std::slice::from_ref(near), &budget);
                walk(record, &mut reach);
                reach.spent.map_or(Ok(()), Err)?;
                ranges.append(&mut reach.met);
                reaching.extend(reach.is_met.then_some(record));
            }
            Ok((ranges, reaching))
        });
        let found: (Vec<_>, Vec<_>) = found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok((found.0.concat(), found.1.concat()))
    }

    /// The position of appended data, as if nothing moved.
    pub fn address(&self, to: To) -> usize {
        match to {
            To::Old(at) => self.array.as_ref().map_or(at, |records| records.moved(at)),
            To::New(at) => self.address(To::Old(self.range.end)).saturating_add(at),
            To::Record(at) => self.array.as_ref().map_or(at, |records| records.kept_end().saturating_add(at)),
        }
    }

    pub fn append(&mut self, bytes: &[u8], alignment: usize) -> usize {
        let from_start = self.address(To::New(self.new.len())).saturating_sub(self.range.start);
        let padding = from_start.next_multiple_of(alignment).saturating_sub(from_start);
        self.new.resize(self.new.len().saturating_add(padding), 0);
        let at = self.new.len();
        self.new.extend_from_slice(bytes);
        at
    }

    /// Makes its new end a multiple of what may follow it.
    pub fn finish(&mut self) {
        if !self.new.is_empty() {
            self.append(&[], ALIGNMENT);
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ArrayField<'a> {
    /// The offset of its pointer in the struct.
    pub at: usize,
    /// The number of the field with its number of elements.
    pub count: usize,
    pub elements: Elements<'a>,
}

pub(super) struct Writer<'p, 'a> {
    pub patches: &'p mut Patches,
    pub area: &'p mut Area<'a>,
    /// The table, row and column, for messages.
    pub what: String,
}

impl<'a> Writer<'_, 'a> {
    #[cold]
    pub fn refuse(&self, what: impl std::fmt::Display) -> Error {
        refused(format!("{}: {what}", self.what))
    }

    pub fn put(&mut self, to: To, bytes: &[u8]) -> Result<()> {
        match to {
            To::Old(at) => self.patches.write_at(at, bytes),
            To::New(at) | To::Record(at) => {
                let records = self.area.array.as_mut().map(|records| &mut records.new);
                let bytes_there = if let To::New(_) = to { Some(&mut self.area.new) } else { records };
                let place = bytes_there.and_then(|there| there.get_mut(at..at.saturating_add(bytes.len())));
                place.ok_or_else(two_edits)?.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Points the pointer at offset `at` of `owner` to `target`.
    pub fn point(&mut self, owner: To, at: usize, target: To) -> Result<()> {
        let (base, target) = (self.area.address(owner), self.area.address(target));
        let pointer =
            target.checked_signed_diff(base).ok_or_else(|| refused("the distance does not fit the pointer"))?;
        self.put(owner.skip(at), &(pointer as i64).to_le_bytes())
    }

    pub fn check_inside(&self, range: &Range<usize>, view: View<'a>) -> Result<()> {
        if self.area.range.start <= range.start && range.end <= self.area.range.end {
            return Ok(());
        }
        let what = "it lies outside of the records' own part of the file, so that it is not written".into();
        Err(view.error(ErrorKind::Damaged { what }).context(&self.what))
    }

    /// Appends zeros for `count` values of a type.
    pub fn room(&mut self, of: &'static Type, count: usize) -> Result<To> {
        let size = of.size.checked_mul(count).filter(|size| u32::try_from(*size).is_ok());
        let size = size.ok_or_else(|| self.refuse("an array of 4 GiB does not fit"))?;
        let at = self.area.append(&[], ALIGNMENT);
        self.area.new.resize(at.saturating_add(size), 0);
        Ok(To::New(at))
    }

    /// The array of the pointer at offset `at` of `owner`, for writing: a copy if the array is shared.
    pub fn own(&mut self, owner: EditedPosition<'a>, at: usize, elements: Elements<'a>) -> Result<EditedPosition<'a>> {
        if let Some(moved) = self.area.moved.get(&owner.to.skip(at)) {
            return Ok(*moved);
        }
        let view = elements.view;
        let range = view.position()..view.position().saturating_add(elements.bytes());
        self.check_inside(&range, view)?;
        if matches!(owner.to, To::Old(_)) && !self.area.are_shared(&range)? {
            return Ok(EditedPosition::old(view));
        }
        let to = self.arranged(elements, (0..elements.len).map(Some))?;
        self.point(owner.to, at, to)?;
        let place = EditedPosition { view, to };
        self.area.moved.insert(owner.to.skip(at), place);
        Ok(place)
    }

    /// The elements of the array that is a field, for writing, and their new position.
    pub fn elements(
        &mut self,
        owner: EditedPosition<'a>,
        of: &'static Type,
        field: usize,
    ) -> Result<(EditedPosition<'a>, Elements<'a>)> {
        let ArrayField { at, elements, .. } = self.array(owner, of, field)?;
        Ok((self.own(owner, at, elements)?, elements))
    }

    pub fn array(&self, owner: EditedPosition<'a>, of: &'static Type, field: usize) -> Result<ArrayField<'a>> {
        let FieldInfo { at, form, .. } = *of.field(field);
        let Form::Array { count } = form else { return Err(self.refuse("this is no array")) };
        Ok(ArrayField { at, count, elements: of.array(owner.view, field)? })
    }

    /// Changes the field of a struct from `old` to `new`; `old` is absent in a new struct.
    pub fn set(
        &mut self,
        owner: EditedPosition<'a>,
        of: &'static Type,
        field: usize,
        old: Option<&Value<'_>>,
        new: &Value<'_>,
    ) -> Result<()> {
        let info = of.field(field);
        match info.form {
            Form::Inline => self.set_value(owner.skip(info.at), info.of, old, new),
            Form::Array { .. } => self.set_array(owner, of, field, old, new),
            Form::One => Err(self.refuse("this is not written")),
        }
    }

    /// Changes an array, whose elements keep their order: the last ones are deleted, or new ones follow them.
    fn set_array(
        &mut self,
        owner: EditedPosition<'a>,
        of: &'static Type,
        field: usize,
        old: Option<&Value<'_>>,
        new: &Value<'_>,
    ) -> Result<()> {
        let (before, after) = match (old, new) {
            (None, Value::List(after)) => (&[][..], after),
            (Some(Value::List(before)), Value::List(after)) => (&before[..], after),
            _ => return Err(self.refuse("a list fits")),
        };
        let ArrayField { at, count, elements } = self.array(owner, of, field)?;
        let Elements { of: element, len, view } = elements;
        if len != before.len() {
            return Err(self.refuse("this array is not shown whole, so that it is not written"));
        }
        let to = if after.len() == len {
            if before.iter().zip(after).all(|(old, new)| same_value(old, new)) {
                return Ok(());
            }
            self.own(owner, at, elements)?.to
        } else {
            self.set_count(owner.to, of, count, after.len())?;
            if after.is_empty() {
                return Ok(());
            }
            let to = self.arranged(elements, (0..after.len()).map(|index| (index < len).then_some(index)))?;
            self.point(owner.to, at, to)?;
            to
        };
        for (index, new) in after.iter().enumerate() {
            let skip = index.saturating_mul(element.size);
            let (to, old) = (to.skip(skip), before.get(index));
            let place = old.map_or(EditedPosition::new(to), |_| EditedPosition { view: view.skip(skip), to });
            self.set_value(place, element, old, new)?;
        }
        Ok(())
    }

    /// Writes the number of elements of an array, which other arrays of the struct may share.
    fn set_count(&mut self, owner: To, of: &'static Type, count: usize, len: usize) -> Result<()> {
        let known = self.area.counts.entry((owner, count)).or_insert(NewCount { of, len, arrays: 0 });
        known.arrays = known.arrays.saturating_add(1);
        match *known {
            NewCount { len: wanted, .. } if wanted != len => {
                Err(self.refuse(format_args!("this would have {len} elements, and {wanted} beside it")))
            }
            NewCount { arrays: 1, .. } => self.put_count(owner, of, count, len),
            _ => Ok(()),
        }
    }

    /// Checks that arrays that have one count have as many elements each, now that all columns of a struct are written.
    pub fn check_counts(&mut self) -> Result<()> {
        for ((_, count), NewCount { of, arrays: written, .. }) in std::mem::take(&mut self.area.counts) {
            let arrays: Vec<&str> = of.counted_by(count).map(|field| field.name).collect();
            if written < arrays.len() {
                let names = arrays.join(" and ");
                return Err(self.refuse(format_args!("{names} have as many elements each: write all of them at once")));
            }
        }
        Ok(())
    }

    pub fn leaf(&self, of: &'static Type, old: &Value<'_>, new: &Value<'_>) -> Result<Vec<u8>> {
        leaf_bytes(of, old, new)
            .map_err(|fits| self.refuse(format_args!("value {} does not fit: {fits} does", short(new))))
    }

    /// Writes a value, which was shown as `old`, or is new.
    pub fn set_value(
        &mut self,
        place: EditedPosition<'a>,
        of: &'static Type,
        old: Option<&Value<'_>>,
        new: &Value<'_>,
    ) -> Result<()> {
        if old.is_some_and(|old| same_value(old, new)) {
            return Ok(());
        }
        if of.kind() == TypeKind::Text {
            return self.set_text(place, new);
        }
        if of.fields().is_empty() {
            let bytes = self.leaf(of, old.unwrap_or(&Value::Null), new)?;
            // A flag that remains true keeps its byte; in a vector, only changed numbers are written.
            if of.kind() == TypeKind::Flag && Flag::read(place.view)?.0 == (bytes != [0]) {
                return Ok(());
            }
            if of.kind().floats().is_none() {
                return self.put(place.to, &bytes);
            }
            let before = place.view.take(bytes.len())?;
            for (i, (old, new)) in before.chunks_exact(4).zip(bytes.chunks_exact(4)).enumerate() {
                if old != new {
                    self.put(place.to.skip(i.saturating_mul(4)), new)?;
                }
            }
            return Ok(());
        }
        match (old, new) {
            (Some(Value::Map(before)), Value::Map(after)) => self.set_members(place, of, Some(before), after),
            (None, Value::Map(after)) => {
                let mut needed = (0..).zip(of.fields()).filter(|(number, _)| !of.is_count(*number));
                match needed.find(|(_, field)| after.iter().all(|(name, _)| name != field.name)) {
                    Some((_, field)) => Err(self.refuse(format_args!("its member {:?} is missing", field.name))),
                    None => self.set_members(place, of, None, after),
                }
            }
            _ => Err(self.refuse("an object of its members fits")),
        }
    }

    /// Writes the members of a struct that differ from their shown values, or all members of a new one.
    pub fn set_members(
        &mut self,
        place: EditedPosition<'a>,
        this: &'static Type,
        before: Option<&Members>,
        after: &Members,
    ) -> Result<()> {
        let outer = std::mem::take(&mut self.area.counts);
        for (name, new) in after {
            let old = before.map(|before| member(before, name));
            if old.is_some_and(|old| same_value(old, new)) {
                continue;
            }
            let Some(field) = this.field_named(name) else {
                return Err(self.refuse(format_args!("member {} is not one that is written", short_text(name))));
            };
            if this.is_count(field) {
                // It follows from the lists.
                if before.is_none() {
                    continue;
                }
                let list = this.counted_by(field).next().map(|info| info.name);
                let list = after.iter().find(|(other, _)| Some(&**other) == list).map(|(_, list)| list);
                if !matches!(list, Some(Value::List(list)) if same_value(&list.len().into(), new)) {
                    return Err(self.refuse(format_args!("{name} is the number of elements that another member has")));
                }
                continue;
            }
            self.set(place, this, field, old, new)?;
        }
        self.check_counts()?;
        self.area.counts = outer;
        Ok(())
    }

    /// The stored form of a text, with its end, and its size.
    fn text_bytes(&self, new: &Value<'_>) -> Result<(Vec<u8>, u32)> {
        let text = match new {
            Value::Null => "".into(),
            other => other
                .as_text()
                .ok_or_else(|| self.refuse(format_args!("{} does not fit: a text does", short(other))))?,
        };
        if text.contains('\0') {
            return Err(self.refuse("a text with a NUL in it does not fit, as a NUL ends it"));
        }
        let bytes = [text.as_bytes(), &[0]].concat();
        let Ok(size) = u32::try_from(bytes.len()) else { return Err(self.refuse("a text of 4 GiB does not fit")) };
        Ok((bytes, size))
    }

    /// Writes a text at its packed string.
    pub fn set_text(&mut self, place: EditedPosition<'a>, new: &Value<'_>) -> Result<()> {
        let (bytes, size) = self.text_bytes(new)?;
        let old = PackedString::bytes_at(&place.view)?;
        if size == 1 && old.is_empty() {
            return Ok(());
        }
        if new.is_null() {
            // Encode an absent string as the game does: size zero, null pointer.
            self.put(place.to.skip(offset_of!(PackedString, text)), &[0; 8])?;
            return self.put(place.to, &[0; 4]);
        }
        let string = place.view.read::<PackedString>()?;
        let stored = string.size.get() as usize;
        let pointer = offset_of!(PackedString, text);
        let there = (stored > 0).then(|| place.view.follow_field(string.text.get(), pointer)).transpose()?;
        let fits = match there.filter(|_| bytes.len() <= stored && matches!(place.to, To::Old(_))) {
            Some(view) => {
                let range = view.position()..view.position().saturating_add(stored);
                (self.check_inside(&range, view).is_ok() && !self.area.are_shared(&range)?).then_some(view)
            }
            None => None,
        };
        match fits {
            Some(view) => self.put(To::Old(view.position()), &bytes)?,
            None => {
                let to = To::New(self.area.append(&bytes, 1));
                self.point(place.to, pointer, to)?;
            }
        }
        if stored == size as usize { Ok(()) } else { self.put(place.to, &size.to_le_bytes()) }
    }

    /// Writes an element of an array of elements without parts.
    pub fn set_element(
        &mut self,
        owner: EditedPosition<'a>,
        of: &'static Type,
        field: usize,
        index: usize,
        old: Option<&Value<'_>>,
        new: &Value<'_>,
    ) -> Result<()> {
        let (place, elements) = self.elements(owner, of, field)?;
        if index >= elements.len {
            return Err(self.refuse("there is no such element"));
        }
        self.set_value(place.skip(index.saturating_mul(elements.of.size)), elements.of, old, new)
    }

    /// Appends an element to an array with a count of its own; returns its number.
    pub fn push_element(
        &mut self,
        owner: EditedPosition<'a>,
        of: &'static Type,
        field: usize,
        new: &Value<'_>,
    ) -> Result<usize> {
        let ArrayField { at, count, elements } = self.array(owner, of, field)?;
        if self.area.moved.contains_key(&owner.to.skip(at)) {
            return Err(self.refuse("this is edited twice: write one edit, then the other"));
        }
        let mut bytes = elements.view.take(elements.bytes())?.to_vec();
        bytes.extend(self.leaf(elements.of, &Value::Null, new)?);
        let to = To::New(self.area.append(&bytes, ALIGNMENT));
        self.point(owner.to, at, to)?;
        self.area.moved.insert(owner.to.skip(at), EditedPosition { view: elements.view, to });
        self.put_count(owner.to, of, count, elements.len.saturating_add(1))?;
        Ok(elements.len)
    }
}

/// The shown members of a struct.
pub(super) type Members<'v> = [(Cow<'v, str>, Value<'v>)];

/// The member `name`; null if it is missing.
pub(super) fn member<'m, 'v>(members: &'m Members<'v>, name: &str) -> &'m Value<'v> {
    members.iter().find(|(other, _)| other == name).map_or(&Value::Null, |(_, value)| value)
}
