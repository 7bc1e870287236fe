//! The values of a chunk as a walk (docs/formats/vrb.md §5): nothing is built, and how deep values nest costs entries
//! of an explicit stack, up to a limit.

use super::builtin::{Builtin, Extent};
use super::shape::Shape;
use super::types::{Member, ModelId, TypeModel};
use crate::bytes::{Cursor, Utf16, View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::report::counted;
use crate::table::{Guid, Value};
use std::ops::Range;

/// The bytes of a chunk and the models that explain them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Graph<'a> {
    pub types: &'a TypeModel,
    /// The first byte of the chunk.
    pub view: View<'a>,
    /// The name of the chunk in errors.
    pub label: &'a str,
    pub depth: usize,
}

/// A value in a chunk: its model is known, its bytes have not been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingValue {
    pub model: ModelId,
    /// The value begins with the number of its actual model.
    pub polymorphic: bool,
    /// The value is inside of the image of a blittable composite.
    pub image: bool,
}

impl PendingValue {
    pub fn plain(model: ModelId) -> Self {
        Self { model, polymorphic: false, image: false }
    }
}

/// One step of a walk. An event that introduces a value directly precedes the value.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A class, struct or nullable begins.
    BeginRecord(ModelId),
    /// The member of this name follows.
    Member(&'a str),
    EndRecord,
    /// A list with this number of elements begins.
    BeginList(ModelId, u32),
    /// The element of this number follows.
    Item(u32),
    EndList,
    /// A dictionary with this number of entries begins.
    BeginDictionary {
        model: ModelId,
        count: u32,
        /// Whether its keys are strings: then [`Event::Key`] contains the key.
        named: bool,
    },
    /// The value of this string key follows.
    Key(Utf16<'a>),
    /// The key of the entry of this number follows.
    EntryKey(u32),
    /// The value of the same entry follows.
    EntryValue(u32),
    EntryEnd,
    /// The dictionary ends.
    EndDictionary {
        named: bool,
    },
    /// A value without branches, or null in place of one with branches.
    Leaf(ModelId, Value<'a>),
}

/// Receives the steps of a walk. Inlined at each step, so that no event is built only to be matched.
pub(super) trait Sink<'a> {
    fn event(&mut self, event: Event<'a>) -> Result<()>;
}

impl<'a, F: FnMut(Event<'a>) -> Result<()>> Sink<'a> for F {
    #[inline(always)]
    fn event(&mut self, event: Event<'a>) -> Result<()> {
        self(event)
    }
}

#[derive(Debug, Clone)]
enum Frame<'a> {
    Record { members: std::slice::Iter<'a, Member>, image: Option<Image> },
    List { element: PendingValue, next: u32, count: u32 },
    Dictionary { key: ModelId, value: ModelId, next: u32, count: u32, named: bool, turn: DictionaryStep },
}

/// The bytes of a blittable composite.
#[derive(Debug, Clone, Copy)]
struct Image {
    start: usize,
    size: u32,
}

/// The next part of the current dictionary entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DictionaryStep {
    Key,
    Value,
    End,
}

/// Values that need not be looked at one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skim {
    /// None: every value is shown.
    None,
    /// Values that are valid whatever their bytes: to check a chunk, and to count leaves.
    Opaque,
    /// Values of a fixed size: to skip a value.
    Fixed,
}

/// Rules that were followed though no real file shows them at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inferred {
    /// Class instances in polymorphic members, read with a prefix byte of their own.
    pub polymorphic_classes: u64,
    /// Values of built-ins with a width derived from their position among the others.
    pub built_ins: u64,
}

impl Inferred {
    pub(super) fn add(&mut self, other: Self) {
        self.polymorphic_classes = self.polymorphic_classes.saturating_add(other.polymorphic_classes);
        self.built_ins = self.built_ins.saturating_add(other.built_ins);
    }

    /// The counts in words; `None` when all are 0.
    pub fn describe(&self) -> Option<String> {
        let parts = [(self.polymorphic_classes, "object"), (self.built_ins, "number")];
        let parts: Vec<String> =
            parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun)).collect();
        (!parts.is_empty()).then(|| {
            let parts = parts.join(" and ");
            format!("{parts} of kinds that no known real file contains, read as the format's other rules suggest")
        })
    }
}

/// A walk over a value and all its parts. A clone is cheap, and keeps a position to return to.
#[derive(Debug, Clone)]
pub struct Walker<'a> {
    graph: Graph<'a>,
    pub(super) data: &'a [u8],
    /// The place of the next byte.
    at: usize,
    stack: Vec<Frame<'a>>,
    /// The next value, directly after the step that introduces it.
    pub(super) pending: Option<PendingValue>,
    /// The limit of values that may still be read. Most values take bytes, but structs without members take none, so
    /// that a file could have any number of them.
    fuel: u64,
    skim: Skim,
    /// Leaves of values that were passed over without being looked at.
    passed: usize,
    /// Remaining budget for look-ahead that [`Walker::pass`] may discard.
    tries: u64,
    /// The rules without confirmation that were followed so far.
    pub inferred: Inferred,
}

impl<'a> Walker<'a> {
    pub(super) fn new(graph: Graph<'a>, slot: PendingValue, position: usize) -> Self {
        Self {
            graph,
            data: graph.view.data(),
            at: position,
            stack: Vec::new(),
            pending: Some(slot),
            fuel: most_values(graph.view),
            skim: Skim::None,
            passed: 0,
            tries: most_values(graph.view),
            inferred: Inferred::default(),
        }
    }

    /// Where the next byte is read, from the start of the chunk.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next step; `None` past the last one, and after an error.
    ///
    /// # Errors
    /// `BadValue` for an unknown prefix and an impossible count, `Unsupported` for a value whose storage the format
    /// documents do not describe, `Limit` for values nested too deep and for too many that take no bytes,
    /// `OutOfBounds`.
    #[allow(clippy::should_implement_trait)] // fallible
    pub fn next(&mut self) -> Result<Option<Event<'a>>> {
        let mut next = None;
        let step = self.step::<false>(&mut |event: Event<'a>| {
            next = Some(event);
            Ok(())
        });
        match step {
            Ok(_) => Ok(next),
            Err(error) => Err(self.stop(error)),
        }
    }

    /// Passes all remaining steps to `out`.
    pub(super) fn drain(&mut self, out: &mut impl Sink<'a>) -> Result<()> {
        loop {
            match self.step::<true>(out) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => return Err(self.stop(error)),
            }
        }
    }

    /// Checks all remaining steps, except values that are valid for any bytes.
    pub fn check(&mut self) -> Result<()> {
        self.skim = Skim::Opaque;
        self.drain(&mut |_: Event<'_>| Ok(()))
    }

    pub fn skip(&mut self) -> Result<()> {
        let Some(slot) = self.pending else { return Ok(()) };
        let extent = self.graph.types.extent(slot.model);
        if !extent.fixed || slot.polymorphic {
            return self.pass_over(self.stack.len(), usize::MAX, Skim::Fixed).map(drop);
        }
        self.pending = None;
        self.take(extent.least as usize).map(drop).map_err(|error| self.stop(error))
    }

    /// Skips one step, and further ones while more than `depth` values are open and at most `most` leaves were skipped. Values that
    /// `skim` selects are not read. Returns the number of leaves.
    fn pass_over(&mut self, depth: usize, most: usize, skim: Skim) -> Result<usize> {
        let skim = std::mem::replace(&mut self.skim, skim);
        self.passed = 0;
        let mut met = 0usize;
        let result = loop {
            let step = self.step::<true>(&mut |event: Event<'_>| {
                met = met.saturating_add(matches!(event, Event::Leaf(..)).into());
                Ok(())
            });
            let leaves = met.saturating_add(self.passed);
            match step {
                Ok(true) if self.stack.len() > depth && leaves <= most => {}
                Ok(_) => break Ok(leaves),
                Err(error) => break Err(error),
            }
        };
        self.skim = skim;
        result.map_err(|error| self.stop(error))
    }

    /// Skips the next value if it has at most `most` leaves, and returns their number. Returns `None`, without a move,
    /// if it has more, and after enough tries that single steps are cheaper. Fails if single steps would: searches and walks of all rows
    /// must meet the same damage.
    pub(super) fn pass(&mut self, most: usize) -> Result<Option<usize>> {
        let Some(slot) = self.pending.filter(|_| self.tries > 0) else { return Ok(None) };
        let (at, depth, fuel, inferred) = (self.at, self.stack.len(), self.fuel, self.inferred);
        let leaves = self.pass_over(depth, most, Skim::Opaque)?;
        if leaves <= most {
            return Ok(Some(leaves));
        }
        self.tries = self.tries.saturating_sub(fuel.saturating_sub(self.fuel).max(1));
        self.stack.truncate(depth);
        (self.at, self.fuel, self.inferred, self.pending) = (at, fuel, inferred, Some(slot));
        Ok(None)
    }

    /// Passes over all steps up to the first value that ends after `end`, and returns the number of their leaves; `None` if a key of a
    /// dictionary ends after `end`. Values of a fixed size are not read.
    pub(super) fn pass_until(&mut self, end: usize) -> Result<Option<usize>> {
        let skim = std::mem::replace(&mut self.skim, Skim::Fixed);
        self.passed = 0;
        let mut met = 0usize;
        let result = loop {
            let (at, fuel, inferred, pending) = (self.at, self.fuel, self.inferred, self.pending);
            let (depth, leaves) = (self.stack.len(), met.saturating_add(self.passed));
            let step = self.step::<false>(&mut |event: Event<'_>| {
                met = met.saturating_add(matches!(event, Event::Leaf(..)).into());
                Ok(())
            });
            match step {
                Ok(true) if self.at <= end => {}
                Ok(true) if pending.is_some() => {
                    self.stack.truncate(depth);
                    (self.at, self.fuel, self.inferred, self.pending) = (at, fuel, inferred, pending);
                    break Ok(Some(leaves));
                }
                Ok(true) => break Ok(None),
                Ok(false) => break Ok(Some(leaves)),
                Err(error) => break Err(error),
            }
        };
        self.skim = skim;
        result.map_err(|error| self.stop(error))
    }

    /// This walk over the data of `other`, `by` bytes further on. Both data have the same types, and equal bytes on the way to here.
    pub(super) fn moved_to(&self, other: &Self, by: usize) -> Self {
        let mut moved = Self { graph: other.graph, data: other.data, at: self.at.wrapping_add(by), ..self.clone() };
        for frame in &mut moved.stack {
            if let Frame::Record { image: Some(image), .. } = frame {
                image.start = image.start.wrapping_add(by);
            }
        }
        moved
    }

    /// Skips the next value if it is one of `slot` and has these bytes; returns whether it is.
    pub(super) fn pass_same(&mut self, slot: PendingValue, bytes: &[u8]) -> bool {
        let end = self.at.saturating_add(bytes.len());
        let same = self.pending == Some(slot) && self.data.get(self.at..end) == Some(bytes);
        if same {
            (self.at, self.pending) = (end, None);
        }
        same
    }

    /// Checks that the walk has used up the chunk.
    ///
    /// # Errors
    /// `Damaged` with the number of bytes left over.
    pub fn expect_end(&self) -> Result<()> {
        Cursor::new(self.view(self.at)).expect_end().map_err(|e| e.context(self.graph.label))
    }

    /// The next value, for a separate walk.
    pub(super) fn node(&self) -> Option<super::Node<'a>> {
        self.pending.map(|slot| super::Node::new(self.graph, slot, self.at))
    }

    /// The stated model of the next value, if any: values of polymorphic members have one.
    pub(super) fn stated_model(&self) -> Option<ModelId> {
        if !self.pending?.polymorphic {
            return None;
        }
        let &[0, a, b, c] = self.data.get(self.at..)?.first_chunk()? else { return None };
        Some(ModelId(u32::from_le_bytes([a, b, c, 0])))
    }

    /// A range of the bytes, between positions of walks over them.
    pub(super) fn bytes(&self, range: Range<usize>) -> &'a [u8] {
        self.data.get(range).expect("walks stay in the data, and go forward between such positions")
    }

    /// The bytes that are still to be walked over; `None` in an image, whose members may be stored in any order.
    pub(super) fn rest(&self) -> Option<&'a [u8]> {
        let in_image = self.stack.iter().any(|frame| matches!(frame, Frame::Record { image: Some(_), .. }));
        if in_image { None } else { self.data.get(self.at..) }
    }

    /// Passes over the rest of the record, list or dictionary that the walk is in.
    pub(super) fn leave(&mut self) -> Result<()> {
        self.pass_over(self.stack.len().saturating_sub(1), usize::MAX, Skim::Fixed).map(drop)
    }

    /// Passes over `count` of the next elements of the list that the walk is in, if they have a fixed size.
    pub(super) fn skip_items(&mut self, count: u32) -> Result<()> {
        let Some(Frame::List { element, next, count: all }) = self.stack.last_mut() else { return Ok(()) };
        let extent = self.graph.types.extent(element.model);
        if !extent.fixed {
            return Ok(());
        }
        let count = count.min(all.saturating_sub(*next));
        *next = next.saturating_add(count);
        let bytes = (extent.least as usize).saturating_mul(count as usize);
        self.take(bytes).map(drop).map_err(|error| self.stop(error))
    }

    #[cold]
    fn stop(&mut self, error: Error) -> Error {
        self.stack.clear();
        self.pending = None;
        // A failure of the output is no damage of the chunk.
        if matches!(error.kind(), ErrorKind::Io { .. }) { error } else { error.context(self.graph.label) }
    }

    fn view(&self, at: usize) -> View<'a> {
        self.graph.view.at(at)
    }

    #[cold]
    fn bad(&self, at: usize, what: &'static str, value: impl Into<i128>) -> Error {
        self.view(at).bad_value(what, value)
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        match self.data.get(self.at..end) {
            Some(bytes) => {
                self.at = end;
                Ok(bytes)
            }
            None => self.view(self.at).take(len),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.data.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => {
                self.at = self.at.saturating_add(N);
                Ok(*bytes)
            }
            None => self.view(self.at).read().copied(),
        }
    }

    /// Does the next step and passes it to `out`; returns `false` at the end of the walk. An `EAGER` step continues to
    /// the value that it introduces.
    #[inline]
    fn step<const EAGER: bool>(&mut self, out: &mut impl Sink<'a>) -> Result<bool> {
        if let Some(slot) = self.pending.take() {
            self.read(slot, out)?;
            return Ok(true);
        }
        let Some(frame) = self.stack.last_mut() else { return Ok(false) };
        let slot = match frame {
            Frame::Record { members, image } => {
                let Some(member) = members.next() else {
                    if let Some(image) = image {
                        self.at = image.start.saturating_add(image.size as usize);
                    }
                    self.stack.pop();
                    return out.event(Event::EndRecord).map(|()| true);
                };
                let image = *image;
                if let Some(image) = image {
                    self.seek_in_image(image, member)?;
                }
                out.event(Event::Member(self.graph.types.member_name(member)))?;
                PendingValue { model: member.model, polymorphic: member.polymorphic, image: image.is_some() }
            }
            Frame::List { element, next, count } => {
                if next == count {
                    self.stack.pop();
                    return out.event(Event::EndList).map(|()| true);
                }
                let (item, slot) = (*next, *element);
                *next = next.saturating_add(1);
                out.event(Event::Item(item))?;
                slot
            }
            Frame::Dictionary { key, value, next, count, named, turn } => match *turn {
                DictionaryStep::Key if next == count => {
                    let named = *named;
                    self.stack.pop();
                    return out.event(Event::EndDictionary { named }).map(|()| true);
                }
                DictionaryStep::Key if *named => {
                    *next = next.saturating_add(1);
                    let (slot, start) = (PendingValue::plain(*value), self.at);
                    let Some(key) = self.string()? else { return Err(self.bad(start, "prefix of a string key", 0xFF)) };
                    out.event(Event::Key(key))?;
                    slot
                }
                DictionaryStep::Key => {
                    *turn = DictionaryStep::Value;
                    out.event(Event::EntryKey(*next))?;
                    PendingValue::plain(*key)
                }
                DictionaryStep::Value => {
                    *turn = DictionaryStep::End;
                    out.event(Event::EntryValue(*next))?;
                    PendingValue::plain(*value)
                }
                DictionaryStep::End => {
                    *turn = DictionaryStep::Key;
                    *next = next.saturating_add(1);
                    out.event(Event::EntryEnd)?;
                    return Ok(true);
                }
            },
        };
        if EAGER {
            self.read(slot, out)?;
        } else {
            self.pending = Some(slot);
        }
        Ok(true)
    }

    /// Moves to the bytes of a member in an image.
    #[inline]
    fn seek_in_image(&mut self, image: Image, member: &Member) -> Result<()> {
        let offset = member.image_offset();
        let extent = self.graph.types.extent(member.model);
        let inside = offset.checked_add(extent.least).is_some_and(|end| end <= image.size);
        if !inside || !extent.fixed || member.polymorphic {
            return Err(self.bad(image.start, "offset of a member in an image", offset));
        }
        self.at = image.start.saturating_add(offset as usize);
        Ok(())
    }

    /// Reads the value in `slot`: all of a leaf, the head of everything else.
    #[inline(always)]
    fn read(&mut self, slot: PendingValue, out: &mut impl Sink<'a>) -> Result<()> {
        let types = self.graph.types;
        let start = self.at;
        let actual = if slot.polymorphic { self.actual_model()? } else { Some(slot.model) };
        let Some(mut model) = actual else { return out.event(Event::Leaf(slot.model, Value::Null)) };
        if self.skim != Skim::None && !slot.image {
            let extent = types.extent(model);
            if self.skims(extent) {
                self.passed = self.passed.saturating_add(extent.leaves);
                return self.take(extent.least as usize).map(drop);
            }
        }
        // The model that a leaf is shown with: the proxy rather than the model that it is stored as.
        let shown = model;
        let mut hops = 0usize;
        loop {
            let Some(fuel) = self.fuel.checked_sub(1) else { return Err(self.spent()) };
            self.fuel = fuel;
            match types.shape(model) {
                Shape::Scalar(builtin) | Shape::Enum(builtin) => {
                    let value = self.scalar(builtin, slot.image)?;
                    return out.event(Event::Leaf(shown, value));
                }
                Shape::Proxy { target, prefix } => {
                    hops = hops.saturating_add(1);
                    if hops > self.graph.depth {
                        return Err(self.view(start).error(ErrorKind::Cycle { at: model.0.into() }));
                    }
                    if prefix && !self.present()? {
                        break;
                    }
                    model = target;
                }
                Shape::Record { from, to, prefix } if !slot.image => {
                    if prefix && slot.polymorphic {
                        self.note_polymorphic(model);
                    }
                    if prefix && !self.present()? {
                        break;
                    }
                    self.push(start, Frame::Record { members: types.members(from, to).iter(), image: None })?;
                    return out.event(Event::BeginRecord(model));
                }
                Shape::Image { from, to, size } => {
                    let image = Some(Image { start: self.at, size });
                    self.view(self.at).take(size as usize)?;
                    self.push(start, Frame::Record { members: types.members(from, to).iter(), image })?;
                    return out.event(Event::BeginRecord(model));
                }
                Shape::List(element) if !slot.image => {
                    let Some(count) = self.count("list count", types.extent(element).least)? else { break };
                    let next = self.skimmed(element, count)?;
                    self.push(start, Frame::List { element: PendingValue::plain(element), next, count })?;
                    return out.event(Event::BeginList(model, count));
                }
                Shape::Dictionary(key, value) if !slot.image => {
                    let least = types.extent(key).least.saturating_add(types.extent(value).least);
                    let Some(count) = self.count("dictionary count", least)? else { break };
                    let (named, turn) = (Builtin::from_id(key.0) == Some(Builtin::String), DictionaryStep::Key);
                    self.push(start, Frame::Dictionary { key, value, next: 0, count, named, turn })?;
                    return out.event(Event::BeginDictionary { model, count, named });
                }
                Shape::Unknown(what) => return Err(self.unknown(start, model, what)),
                Shape::Record { .. } | Shape::List(_) | Shape::Dictionary(..) => {
                    return Err(self.unknown(start, model, "how this is stored in an image"));
                }
            }
        }
        out.event(Event::Leaf(shown, Value::Null))
    }

    /// The stated model of a polymorphic value; `None` for null.
    #[inline(always)]
    fn actual_model(&mut self) -> Result<Option<ModelId>> {
        let start = self.at;
        let Some(number) = self.optional_count("model index")? else { return Ok(None) };
        let model = i32::try_from(number).ok().and_then(|id| self.graph.types.model_id(id));
        model.map(Some).ok_or_else(|| self.bad(start, "model index", number))
    }

    #[cold]
    fn note_polymorphic(&mut self, model: ModelId) {
        let class = self.graph.types.model(model).is_some_and(|m| m.flags & 0x04 == 0);
        self.inferred.polymorphic_classes = self.inferred.polymorphic_classes.saturating_add(class.into());
    }

    #[cold]
    fn spent(&self) -> Error {
        let limit = most_values(self.graph.view);
        let value = limit.saturating_add(1);
        self.view(self.at).error(ErrorKind::Limit { what: "values in a chunk", value, limit })
    }

    #[cold]
    fn unknown(&self, at: usize, model: ModelId, what: &'static str) -> Error {
        let what = format!("{model}: {what} is not known, and guessing it").into();
        let error = self.view(at).error(ErrorKind::Unsupported { what });
        match self.graph.types.model(model) {
            Some(m) => error.context(format_args!("flags {:#04x}, at {:#x} of the type table", m.flags, m.at)),
            None => error,
        }
    }

    #[inline]
    fn push(&mut self, start: usize, frame: Frame<'a>) -> Result<()> {
        if self.stack.len() >= self.graph.depth {
            let (value, limit) = ((self.stack.len() as u64).saturating_add(1), self.graph.depth as u64);
            return Err(self.view(start).error(ErrorKind::Limit { what: "depth of values", value, limit }));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// The byte in front of a value: whether the value is there.
    #[inline]
    fn present(&mut self) -> Result<bool> {
        match self.array()? {
            [0x00] => Ok(true),
            [0xFF] => Ok(false),
            [other] => Err(self.bad(self.at.saturating_sub(1), "prefix of a value", other)),
        }
    }

    /// A "compact optional integer": 0xFF for null, or 0x00 and 24 bits.
    #[inline]
    fn optional_count(&mut self, what: &'static str) -> Result<Option<u32>> {
        match self.array()? {
            [0x00] => {
                let [a, b, c] = self.array()?;
                Ok(Some(u32::from_le_bytes([a, b, c, 0])))
            }
            [0xFF] => Ok(None),
            [other] => {
                // The form of values from 2^24 on is not known.
                let what = format!("first byte of the {what}").into();
                let kind = ErrorKind::BadValue { what, value: other.into() };
                Err(self.view(self.at.saturating_sub(1)).error(kind))
            }
        }
    }

    /// A count of items of at least `least` bytes each, checked against the rest of the chunk.
    #[inline]
    fn count(&mut self, what: &'static str, least: u32) -> Result<Option<u32>> {
        let start = self.at;
        let count = self.optional_count(what)?;
        let rest = self.data.len().saturating_sub(self.at) as u64;
        match count {
            Some(count) if u64::from(count).saturating_mul(least.into()) > rest => Err(self.bad(start, what, count)),
            count => Ok(count),
        }
    }

    /// A string: prefix, i32 length in bytes, UTF-16.
    #[inline]
    fn string(&mut self) -> Result<Option<Utf16<'a>>> {
        if !self.present()? {
            return Ok(None);
        }
        let start = self.at;
        let stored = i32::from_le_bytes(self.array()?);
        let length = usize::try_from(stored).ok().filter(|&n| n <= self.data.len().saturating_sub(self.at));
        let Some(length) = length else { return Err(self.bad(start, "length of a string", stored)) };
        if !length.is_multiple_of(2) {
            return Err(self.bad(start, "length of a UTF-16 string in bytes", stored));
        }
        let units = self.view(self.at).array::<le::U16>(length / 2)?;
        self.at = self.at.saturating_add(length);
        Ok(Some(Utf16::new(units)))
    }

    /// Whether values of this extent are passed over. Those without bytes never are, so that how many of them may be
    /// read does not depend on the kind of walk.
    #[inline]
    fn skims(&self, extent: Extent) -> bool {
        extent.least > 0
            && match self.skim {
                Skim::None => false,
                Skim::Opaque => extent.opaque,
                Skim::Fixed => extent.fixed,
            }
    }

    /// The number of elements of a list that were skipped at once.
    #[inline]
    fn skimmed(&mut self, element: ModelId, count: u32) -> Result<u32> {
        if self.skim == Skim::None {
            return Ok(0);
        }
        let extent = self.graph.types.extent(element);
        if !self.skims(extent) {
            return Ok(0);
        }
        self.take((extent.least as usize).saturating_mul(count as usize))?;
        self.passed = self.passed.saturating_add(extent.leaves.saturating_mul(count as usize));
        Ok(count)
    }

    #[inline(always)]
    fn scalar(&mut self, builtin: Builtin, image: bool) -> Result<Value<'a>> {
        if builtin.by_position() {
            self.inferred.built_ins = self.inferred.built_ins.saturating_add(1);
        }
        Ok(match builtin {
            Builtin::String | Builtin::Type if image => {
                return Err(self.view(self.at).error(ErrorKind::damaged("a reference in an image")));
            }
            Builtin::String => self.string()?.into(),
            Builtin::Type => self.type_value()?,
            Builtin::Boolean => match self.array()? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                [other] => return Err(self.bad(self.at.saturating_sub(1), "boolean", other)),
            },
            Builtin::Byte => u8::from_le_bytes(self.array()?).into(),
            Builtin::Int16 => i16::from_le_bytes(self.array()?).into(),
            Builtin::UInt16 => u16::from_le_bytes(self.array()?).into(),
            Builtin::Int32 => i32::from_le_bytes(self.array()?).into(),
            Builtin::UInt32 => u32::from_le_bytes(self.array()?).into(),
            Builtin::Int64 => i64::from_le_bytes(self.array()?).into(),
            Builtin::UInt64 => u64::from_le_bytes(self.array()?).into(),
            Builtin::Single => f32::from_le_bytes(self.array()?).into(),
            Builtin::Double => f64::from_le_bytes(self.array()?).into(),
            Builtin::Guid => Guid(self.array()?).into(),
        })
    }

    fn type_value(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        let Some(index) = self.optional_count("type index")? else { return Ok(Value::Null) };
        let types = self.graph.types;
        let id = i32::try_from(index).ok().and_then(|id| types.type_id(id));
        let id = id.ok_or_else(|| self.bad(start, "type index", index))?;
        // No one sees the name of a value that is skipped.
        if self.skim == Skim::Fixed { Ok(Value::Null) } else { types.type_name(id) }
    }
}

/// The limit of the values of a walk: a byte may be nested in a few structs and proxies, and values without bytes are
/// rare.
fn most_values(view: View<'_>) -> u64 {
    (view.data().len() as u64).saturating_mul(8).saturating_add(1 << 10)
}
