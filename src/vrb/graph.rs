//! The values of a chunk as a walk (VR3B facts, section 5): nothing is built, and how deep values nest costs entries
//! of an explicit stack, up to a limit.

use super::builtin::Builtin;
use super::shape::Shape;
use super::types::{Member, ModelId, TypeModel, utf16};
use crate::bytes::{Cursor, Utf16, View};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Guid, Value};

/// The bytes of a chunk and the models that explain them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Graph<'a> {
    pub types: &'a TypeModel,
    /// The first byte of the chunk.
    pub view: View<'a>,
    /// What errors call the chunk.
    pub label: &'a str,
    /// How deep values may nest.
    pub depth: usize,
}

/// A value that lies somewhere in a chunk: its model is known, its bytes have not been looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub model: ModelId,
    /// The value begins with the number of its actual model.
    pub polymorphic: bool,
    /// It lies in the image of a blittable composite.
    pub image: bool,
}

impl Slot {
    pub fn plain(model: ModelId) -> Self {
        Self { model, polymorphic: false, image: false }
    }
}

/// One step of a walk. What introduces a value comes right before the value.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A class, struct or nullable begins.
    BeginRecord(ModelId),
    /// The member of this name follows.
    Member(&'a str),
    /// The record ends.
    EndRecord,
    /// A list of so many elements begins.
    BeginList(ModelId, u32),
    /// The element of this number follows.
    Item(u32),
    /// The list ends.
    EndList,
    /// A dictionary of so many entries begins.
    BeginDictionary {
        /// Its model.
        model: ModelId,
        /// Entries.
        count: u32,
        /// Whether its keys are strings: then [`Event::Key`] stands for the key.
        named: bool,
    },
    /// The value of this string key follows.
    Key(Utf16<'a>),
    /// The key of the entry of this number follows.
    EntryKey(u32),
    /// The value of the same entry follows.
    EntryValue(u32),
    /// The entry ends.
    EntryEnd,
    /// The dictionary ends.
    EndDictionary {
        /// As where it began.
        named: bool,
    },
    /// A value without branches, or null in place of one with branches.
    Leaf(ModelId, Value<'a>),
}

#[derive(Debug, Clone)]
enum Frame<'a> {
    Record { members: std::slice::Iter<'a, Member>, image: Option<Image> },
    List { element: Slot, next: u32, count: u32 },
    Dictionary { key: ModelId, value: ModelId, next: u32, count: u32, named: bool, turn: Turn },
}

/// The bytes of a blittable composite.
#[derive(Debug, Clone, Copy)]
struct Image {
    start: usize,
    size: u32,
}

/// What comes next of the current dictionary entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Key,
    Value,
    End,
}

/// Lists whose elements need not be looked at one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skim {
    /// None: every value is shown.
    None,
    /// Those whose elements are valid whatever their bytes: to check a chunk.
    Opaque,
    /// Those whose elements take a fixed number of bytes: to get past a value.
    Fixed,
}

/// Rules that were followed though no real file shows them at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inferred {
    /// Class instances in polymorphic members, read with a prefix byte of their own.
    pub polymorphic_classes: u64,
    /// Values of built-ins whose width follows from their place among the others.
    pub built_ins: u64,
}

impl Inferred {
    /// Counts those of another walk too.
    pub(super) fn add(&mut self, other: Self) {
        self.polymorphic_classes = self.polymorphic_classes.saturating_add(other.polymorphic_classes);
        self.built_ins = self.built_ins.saturating_add(other.built_ins);
    }

    /// In words; `None` when there were none.
    pub fn describe(&self) -> Option<String> {
        let parts = [
            (self.polymorphic_classes, "class instances in polymorphic members"),
            (self.built_ins, "values of built-in types known by their position only"),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        (!parts.is_empty()).then(|| format!("{} read by a rule that no known file confirms", parts.join(" and ")))
    }
}

/// A walk over a value and everything in it. Cheap to clone: that keeps a place to come back to.
#[derive(Debug, Clone)]
pub struct Walker<'a> {
    graph: Graph<'a>,
    cursor: Cursor<'a>,
    stack: Vec<Frame<'a>>,
    pending: Option<Slot>,
    /// Values that may still be read. Most values take bytes, but structs without members take none, and a file could
    /// ask for any number of them.
    fuel: u64,
    skim: Skim,
    inferred: Inferred,
}

impl<'a> Walker<'a> {
    pub(super) fn new(graph: Graph<'a>, slot: Slot, position: usize) -> Self {
        let fuel = most_values(graph.view);
        let cursor = Cursor::new(graph.view.at(position));
        let (stack, skim, inferred) = (Vec::new(), Skim::None, Inferred::default());
        Self { graph, cursor, stack, pending: Some(slot), fuel, skim, inferred }
    }

    /// The same walk, which passes over list elements that are valid whatever their bytes are.
    #[must_use]
    pub(super) fn checking(mut self) -> Self {
        self.skim = Skim::Opaque;
        self
    }

    /// Where the next byte is read, from the start of the chunk.
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The rules without confirmation that were followed so far.
    pub fn inferred(&self) -> Inferred {
        self.inferred
    }

    /// The value that comes next, right after the step that introduces it.
    pub(super) fn pending(&self) -> Option<Slot> {
        self.pending
    }

    /// The next step; `None` behind the last one, and after an error.
    ///
    /// # Errors
    /// `BadValue` for an unknown prefix and a count that cannot be true, `Unsupported` for a value of which the format
    /// documents do not say how it is stored, `Limit` for values nested too deep and for too many that take no bytes,
    /// `OutOfBounds`.
    #[allow(clippy::should_implement_trait)] // fallible
    pub fn next(&mut self) -> Result<Option<Event<'a>>> {
        let result = match self.pending.take() {
            Some(slot) => self.read(slot).map(Some),
            None => self.step(),
        };
        result.map_err(|e| self.stop(e))
    }

    /// Passes over the value that comes next.
    ///
    /// # Errors
    /// As [`Walker::next`].
    pub fn skip(&mut self) -> Result<()> {
        let Some(slot) = self.pending else { return Ok(()) };
        let extent = self.graph.types.extent(slot.model);
        if extent.fixed && !slot.polymorphic {
            self.pending = None;
            return self.cursor.skip(extent.least as usize).map_err(|e| self.stop(e));
        }
        let (depth, skim) = (self.stack.len(), std::mem::replace(&mut self.skim, Skim::Fixed));
        while self.next()?.is_some() && (self.pending.is_some() || self.stack.len() > depth) {}
        self.skim = skim;
        Ok(())
    }

    /// That the walk has used up the chunk.
    ///
    /// # Errors
    /// `Damaged` with the number of bytes left over.
    pub fn expect_end(&self) -> Result<()> {
        self.cursor.expect_end().map_err(|e| e.within(self.graph.label))
    }

    /// Passes over up to `count` elements of the list that the walk is in, where they have a fixed size. Gives how
    /// many it passed.
    pub(super) fn skip_items(&mut self, wanted: u32) -> Result<u32> {
        let Some(Frame::List { element, next, count }) = self.stack.last_mut() else { return Ok(0) };
        let extent = self.graph.types.extent(element.model);
        if !extent.fixed || element.polymorphic {
            return Ok(0);
        }
        let passed = wanted.min(count.saturating_sub(*next));
        *next = next.saturating_add(passed);
        let bytes = (extent.least as usize).saturating_mul(passed as usize);
        self.cursor.skip(bytes).map_err(|e| self.stop(e))?;
        Ok(passed)
    }

    #[cold]
    fn stop(&mut self, error: Error) -> Error {
        self.stack.clear();
        self.pending = None;
        error.within(self.graph.label)
    }

    /// The step that comes after a value.
    fn step(&mut self) -> Result<Option<Event<'a>>> {
        let types = self.graph.types;
        let Some(frame) = self.stack.last_mut() else { return Ok(None) };
        let event = match frame {
            Frame::Record { members, image } => {
                let Some(member) = members.next() else {
                    if let Some(image) = image {
                        self.cursor.seek(image.start.saturating_add(image.size as usize));
                    }
                    self.stack.pop();
                    return Ok(Some(Event::EndRecord));
                };
                let mut slot = Slot { model: member.model, polymorphic: member.polymorphic, image: false };
                if let Some(image) = image {
                    let offset = member.offset.unwrap_or(0);
                    let extent = types.extent(member.model);
                    let inside = offset.checked_add(extent.least).is_some_and(|end| end <= image.size);
                    if !inside || !extent.fixed || member.polymorphic {
                        return Err(self
                            .graph
                            .view
                            .at(image.start)
                            .bad_value("offset of a member in an image", offset));
                    }
                    self.cursor.seek(image.start.saturating_add(offset as usize));
                    slot.image = true;
                }
                self.pending = Some(slot);
                Event::Member(types.member_name(member))
            }
            Frame::List { element, next, count } => {
                if next == count {
                    self.stack.pop();
                    return Ok(Some(Event::EndList));
                }
                let item = *next;
                *next = next.saturating_add(1);
                self.pending = Some(*element);
                Event::Item(item)
            }
            Frame::Dictionary { key, value, next, count, named, turn } => match *turn {
                Turn::Key if next == count => {
                    let named = *named;
                    self.stack.pop();
                    return Ok(Some(Event::EndDictionary { named }));
                }
                Turn::Key if *named => {
                    *next = next.saturating_add(1);
                    self.pending = Some(Slot::plain(*value));
                    let here = self.cursor.view();
                    Event::Key(string(&mut self.cursor)?.ok_or_else(|| here.bad_value("prefix of a string key", 0xFF))?)
                }
                Turn::Key => {
                    *turn = Turn::Value;
                    self.pending = Some(Slot::plain(*key));
                    Event::EntryKey(*next)
                }
                Turn::Value => {
                    *turn = Turn::End;
                    self.pending = Some(Slot::plain(*value));
                    Event::EntryValue(*next)
                }
                Turn::End => {
                    *turn = Turn::Key;
                    *next = next.saturating_add(1);
                    Event::EntryEnd
                }
            },
        };
        Ok(Some(event))
    }

    /// Reads the value in `slot`: all of a leaf, the head of everything else.
    fn read(&mut self, slot: Slot) -> Result<Event<'a>> {
        let types = self.graph.types;
        let start = self.cursor.view();
        let mut model = slot.model;
        if slot.polymorphic {
            let Some(actual) = optional_count(&mut self.cursor, "model index")? else {
                return Ok(Event::Leaf(model, Value::Null));
            };
            let known = i32::try_from(actual).ok().and_then(|id| types.model_id(id));
            model = known.ok_or_else(|| start.bad_value("model index", actual))?;
        }
        // What a leaf is shown as: the proxy rather than what it is stored as.
        let shown = model;
        let mut hops = 0usize;
        loop {
            self.fuel = self.fuel.checked_sub(1).ok_or_else(|| {
                let limit = most_values(start);
                start.error(ErrorKind::Limit { what: "values in a chunk", value: limit.saturating_add(1), limit })
            })?;
            let Some(stored) = types.model(model) else {
                let builtin =
                    Builtin::of(model.0).ok_or_else(|| unknown(start, model, "how a value of this is stored"))?;
                return Ok(Event::Leaf(shown, self.scalar(builtin, slot.image)?));
            };
            match stored.shape {
                Shape::Proxy { target, prefix } => {
                    hops = hops.saturating_add(1);
                    if hops > self.graph.depth {
                        return Err(start.error(ErrorKind::Cycle { at: model.0.into() }));
                    }
                    if prefix && !present(&mut self.cursor)? {
                        return Ok(Event::Leaf(shown, Value::Null));
                    }
                    model = target;
                }
                Shape::Enum(integer) => return Ok(Event::Leaf(shown, self.scalar(integer, slot.image)?)),
                Shape::Record { from, to, prefix } if !slot.image => {
                    if prefix {
                        let class = stored.flags & 0x04 == 0;
                        self.inferred.polymorphic_classes =
                            self.inferred.polymorphic_classes.saturating_add((slot.polymorphic && class).into());
                        if !present(&mut self.cursor)? {
                            return Ok(Event::Leaf(shown, Value::Null));
                        }
                    }
                    let members = types.members(from, to).iter();
                    self.push(start, Frame::Record { members, image: None })?;
                    return Ok(Event::BeginRecord(model));
                }
                Shape::Image { from, to, size } => {
                    let here = self.cursor.view();
                    here.take(size as usize)?;
                    let image = Some(Image { start: here.position(), size });
                    self.push(start, Frame::Record { members: types.members(from, to).iter(), image })?;
                    return Ok(Event::BeginRecord(model));
                }
                Shape::List(element) if !slot.image => {
                    let Some(count) = self.count("list count", types.extent(element).least)? else {
                        return Ok(Event::Leaf(shown, Value::Null));
                    };
                    let next = self.skimmed(element, count)?;
                    self.push(start, Frame::List { element: Slot::plain(element), next, count })?;
                    return Ok(Event::BeginList(model, count));
                }
                Shape::Dictionary(key, value) if !slot.image => {
                    let least = types.extent(key).least.saturating_add(types.extent(value).least);
                    let Some(count) = self.count("dictionary count", least)? else {
                        return Ok(Event::Leaf(shown, Value::Null));
                    };
                    let named = Builtin::of(key.0) == Some(Builtin::String);
                    self.push(start, Frame::Dictionary { key, value, next: 0, count, named, turn: Turn::Key })?;
                    return Ok(Event::BeginDictionary { model, count, named });
                }
                Shape::Unknown(what) => {
                    let error = unknown(start, model, what);
                    return Err(error
                        .within(format_args!("flags {:#04x}, at {:#x} of the type table", stored.flags, stored.at)));
                }
                Shape::Record { .. } | Shape::List(_) | Shape::Dictionary(..) => {
                    return Err(unknown(start, model, "how this is stored in an image"));
                }
            }
        }
    }

    fn push(&mut self, start: View<'a>, frame: Frame<'a>) -> Result<()> {
        if self.stack.len() >= self.graph.depth {
            let (value, limit) = ((self.stack.len() as u64).saturating_add(1), self.graph.depth as u64);
            return Err(start.error(ErrorKind::Limit { what: "depth of values", value, limit }));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// A count of things that take `least` bytes each, as the rest of the chunk must hold them.
    fn count(&mut self, what: &'static str, least: u32) -> Result<Option<u32>> {
        let here = self.cursor.view();
        let count = optional_count(&mut self.cursor, what)?;
        match count {
            Some(count) if u64::from(count).saturating_mul(least.into()) > self.cursor.view().rest().len() as u64 => {
                Err(here.bad_value(what, count))
            }
            count => Ok(count),
        }
    }

    /// How many elements of a list were passed over at once.
    fn skimmed(&mut self, element: ModelId, count: u32) -> Result<u32> {
        let extent = self.graph.types.extent(element);
        let skim = match self.skim {
            Skim::None => false,
            Skim::Opaque => extent.opaque,
            Skim::Fixed => extent.fixed,
        };
        if !skim {
            return Ok(0);
        }
        self.cursor.skip((extent.least as usize).saturating_mul(count as usize))?;
        Ok(count)
    }

    fn scalar(&mut self, builtin: Builtin, image: bool) -> Result<Value<'a>> {
        if builtin.by_position() {
            self.inferred.built_ins = self.inferred.built_ins.saturating_add(1);
        }
        let cursor = &mut self.cursor;
        let here = cursor.view();
        Ok(match builtin {
            Builtin::String | Builtin::Type if image => {
                return Err(here.error(ErrorKind::Damaged { what: "a reference in an image".into() }));
            }
            Builtin::String => string(cursor)?.into(),
            Builtin::Type => match optional_count(cursor, "type index")? {
                None => Value::Null,
                Some(index) => {
                    let types = self.graph.types;
                    let id = i32::try_from(index).ok().and_then(|id| types.type_id(id));
                    let id = id.ok_or_else(|| here.bad_value("type index", index))?;
                    types.type_name(id)?
                }
            },
            Builtin::Boolean => match cursor.u8()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => return Err(here.bad_value("boolean", other)),
            },
            Builtin::Byte => cursor.u8()?.into(),
            Builtin::Int16 => i16::from_le_bytes(*cursor.read()?).into(),
            Builtin::UInt16 => cursor.u16()?.into(),
            Builtin::Int32 => cursor.i32()?.into(),
            Builtin::UInt32 => cursor.u32()?.into(),
            Builtin::Int64 => i64::from_le_bytes(*cursor.read()?).into(),
            Builtin::UInt64 => u64::from_le_bytes(*cursor.read()?).into(),
            Builtin::Single => cursor.f32()?.into(),
            Builtin::Double => f64::from_le_bytes(*cursor.read()?).into(),
            Builtin::Guid => Guid(*cursor.read()?).into(),
        })
    }
}

/// How many values a walk may read in all.
fn most_values(view: View<'_>) -> u64 {
    (view.data().len() as u64).saturating_mul(16).saturating_add(1 << 16)
}

#[cold]
fn unknown(view: View<'_>, model: ModelId, what: &'static str) -> Error {
    view.error(ErrorKind::Unsupported { what: format!("{model}: {what} is not known, and guessing it").into() })
}

/// The byte in front of a value: whether the value is there.
fn present(cursor: &mut Cursor<'_>) -> Result<bool> {
    let here = cursor.view();
    match cursor.u8()? {
        0x00 => Ok(true),
        0xFF => Ok(false),
        other => Err(here.bad_value("prefix of a value", other)),
    }
}

/// A "compact optional integer": 0xFF for null, or 0x00 and 24 bits.
fn optional_count(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Option<u32>> {
    let here = cursor.view();
    match cursor.u8()? {
        0x00 => {
            let &[a, b, c] = cursor.read::<[u8; 3]>()?;
            Ok(Some(u32::from_le_bytes([a, b, c, 0])))
        }
        0xFF => Ok(None),
        // The form of values from 2^24 on is not known.
        other => {
            let what = format!("first byte of the {what}").into();
            Err(here.error(ErrorKind::BadValue { what, value: other.into() }))
        }
    }
}

/// A string in a chunk: prefix, i32 length in bytes, UTF-16.
fn string<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Utf16<'a>>> {
    if !present(cursor)? {
        return Ok(None);
    }
    let here = cursor.view();
    let length = cursor.count("length of a string", 1)?;
    utf16(cursor, here, length).map(Some)
}
