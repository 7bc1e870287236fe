//! One value of a chunk, found by a path without building anything.

use super::graph::{Event, Graph, Inferred, PendingValue, Sink, Walker};
use super::path::{Path, Step};
use super::types::ModelId;
use crate::error::Result;
use crate::table::{Value, Visitor};
use std::fmt::Write as _;

/// The key of a map's first entry if that is the name of the value's type.
pub(super) const TYPE: &str = "$type";
/// The key of the value itself, in a map of two entries, unless it is a record.
pub(super) const VALUE: &str = "$value";

/// A value in a chunk: a model and a position. Its bytes are read on demand.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    graph: Graph<'a>,
    slot: PendingValue,
    position: usize,
}

impl<'a> Node<'a> {
    pub(super) fn new(graph: Graph<'a>, slot: PendingValue, position: usize) -> Self {
        Self { graph, slot, position }
    }

    /// The model of the value as declared: of a polymorphic member, the member's.
    pub fn model(&self) -> ModelId {
        self.slot.model
    }

    /// The start of the value, from the start of the decoded chunk.
    pub fn position(&self) -> usize {
        self.position
    }

    /// A walk over the value and everything in it.
    pub fn walk(&self) -> Walker<'a> {
        Walker::new(self.graph, self.slot, self.position)
    }

    /// The end of the value: it is passed over, not read.
    pub fn end(&self) -> Result<usize> {
        let mut walker = self.walk();
        walker.skip()?;
        Ok(walker.position())
    }

    /// The value itself, if it has no branches.
    pub fn leaf(&self) -> Result<Option<Value<'a>>> {
        match self.walk().next()? {
            Some(Event::Leaf(_, value)) => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Shows the value with everything in it; gives where it ends and which unconfirmed rules were followed. A record
    /// and a dictionary with string keys are maps, a list is a list, any other dictionary a list of `{key, value}`.
    ///
    /// # Errors
    /// As [`Walker::next`], and when `out` fails. The values that could be read have been shown.
    pub fn visit(&self, out: &mut dyn Visitor) -> Result<(usize, Inferred)> {
        let mut walker = self.walk();
        visit(&mut walker, out)?;
        Ok((walker.position(), walker.inferred))
    }

    /// As [`Node::visit`], with the name of its type as the first field, `$type`, of each record; and of each value that says
    /// itself which type it has and is no record, in a map of that and the value, `$value`.
    pub(super) fn visit_typed(&self, out: &mut dyn Visitor) -> Result<()> {
        let types = self.graph.types;
        let mut walker = self.walk();
        // For each open branch, whether a map of type and value must be closed after it.
        let mut wrapped = Vec::new();
        let mut show = Show { out, key: String::new() };
        loop {
            let stated = walker.stated_model();
            let Some(event) = walker.next()? else { break };
            let record = if let Event::BeginRecord(model) = event { Some(stated.unwrap_or(model)) } else { None };
            let leaf = matches!(event, Event::Leaf(..));
            let ends = matches!(event, Event::EndRecord | Event::EndList | Event::EndDictionary { .. });
            let begins = record.is_some() || matches!(event, Event::BeginList(..) | Event::BeginDictionary { .. });
            let wraps = stated.filter(|_| record.is_none());
            if let Some(model) = wraps {
                show.out.begin_map()?;
                show.out.field(TYPE, &types.model_name(model)?)?;
                show.out.key(VALUE)?;
            }
            show.event(event)?;
            if let Some(model) = record {
                show.out.field(TYPE, &types.model_name(model)?)?;
            }
            if begins {
                wrapped.push(wraps.is_some());
            }
            if (leaf && wraps.is_some()) || (ends && wrapped.pop() == Some(true)) {
                show.out.end_map()?;
            }
        }
        Ok(())
    }

    /// The node at the same place of other bytes of the chunk.
    pub(super) fn moved_to<'b>(&self, data: &'b crate::source::Source) -> Node<'b>
    where
        'a: 'b,
    {
        Node { graph: Graph { view: data.view("values"), ..self.graph }, slot: self.slot, position: self.position }
    }

    /// The value at `path` in this one; `None` without a value there.
    pub fn find(&self, path: &Path<'_>) -> Result<Option<Self>> {
        let mut node = *self;
        for step in path.steps() {
            match node.child(step)? {
                Some(child) => node = child,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    fn child(&self, step: &Step<'_>) -> Result<Option<Self>> {
        let mut walker = self.walk();
        match (walker.next()?, step) {
            (
                Some(Event::BeginList(_, count) | Event::BeginDictionary { count, .. }),
                Step::Index(index) | Step::Key(index),
            ) if *index >= count => return Ok(None),
            (Some(Event::BeginList(..)), Step::Index(index)) => walker.skip_items(*index)?,
            (Some(Event::BeginRecord(_)), Step::Name(_)) | (Some(Event::BeginDictionary { .. }), _) => {}
            _ => return Ok(None),
        }
        // The entries with string keys so far, and whether the key of the current entry is the wanted one.
        let (mut entries, mut found) = (0u32, false);
        while let Some(event) = walker.next()? {
            let leads = match (event, step) {
                (Event::Member(name), Step::Name(wanted)) => name == wanted,
                (Event::Key(key), Step::Name(wanted)) => key == **wanted,
                (Event::Key(_), Step::Index(index)) => {
                    entries = entries.saturating_add(1);
                    entries > *index
                }
                // Keys that are not strings go by their text.
                (Event::EntryKey(_), Step::Name(wanted)) => {
                    let key = self.pending(&walker).map_or(Ok(None), |node| node.leaf())?;
                    found = key.is_some_and(|key| key.to_string() == **wanted);
                    false
                }
                (Event::EntryValue(_), Step::Name(_)) => found,
                (Event::Item(at) | Event::EntryValue(at), Step::Index(index)) => at == *index,
                (Event::EntryKey(at), Step::Key(index)) => at == *index,
                (Event::EndRecord | Event::EndList | Event::EndDictionary { .. }, _) => return Ok(None),
                _ => false,
            };
            if leads {
                return Ok(self.pending(&walker));
            }
            walker.skip()?;
        }
        Ok(None)
    }

    fn pending(&self, walker: &Walker<'a>) -> Option<Self> {
        let slot = walker.pending?;
        Some(Self { slot, position: walker.position(), ..*self })
    }
}

/// Shows everything that is left of a walk.
pub(super) fn visit(walker: &mut Walker<'_>, out: &mut dyn Visitor) -> Result<()> {
    walker.drain(&mut Show { out, key: String::new() })
}

struct Show<'o> {
    out: &'o mut dyn Visitor,
    key: String,
}

impl<'a> Sink<'a> for Show<'_> {
    #[inline(always)]
    fn event(&mut self, event: Event<'a>) -> Result<()> {
        let out = &mut *self.out;
        match event {
            Event::Leaf(_, value) => out.leaf(&value),
            Event::Member(member) => out.key(member),
            Event::Key(key) => {
                self.key.clear();
                // Writing to a String cannot fail.
                let _ = write!(self.key, "{key}");
                out.key(&self.key)
            }
            Event::Item(_) => Ok(()),
            Event::BeginRecord(_) | Event::BeginDictionary { named: true, .. } => out.begin_map(),
            Event::EndRecord | Event::EndDictionary { named: true } | Event::EntryEnd => out.end_map(),
            Event::BeginList(..) | Event::BeginDictionary { .. } => out.begin_list(),
            Event::EndList | Event::EndDictionary { .. } => out.end_list(),
            Event::EntryKey(_) => {
                out.begin_map()?;
                out.key("key")
            }
            Event::EntryValue(_) => out.key("value"),
        }
    }
}
