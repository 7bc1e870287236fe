//! A tree laid over the value that it was shown of: what stayed the same keeps its bytes, and its type.

use super::super::Node;
use super::super::graph::{Event, PendingValue, Walker};
use super::super::path::is_shown;
use super::super::shape::Shape;
use super::super::types::ModelId;
use super::encode::{Encoder, fit_for_dictionary, same_leaf, shown};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The number of items that are searched for an item after deletions.
const AHEAD: usize = 64;

/// The error for a walk that does not go on as values do.
#[cold]
pub(super) fn astray(old: &Walker<'_>) -> Error {
    let what = "a value is not where the walk over the chunk stands".into();
    Error::new(ErrorKind::Damaged { what }, "values", old.position() as u64)
}

impl<'a> Encoder<'a> {
    pub fn copy(&mut self, old: &Walker<'a>, range: Range<usize>) {
        self.out.extend_from_slice(old.bytes(range));
    }

    /// Writes `new` in place of the next value of `old`, and moves `old` past it.
    pub fn merge(&mut self, old: &mut Walker<'a>, new: &Value<'_>) -> Result<()> {
        self.deeper(|this| this.merge_in(old, new))
    }

    fn merge_in(&mut self, old: &mut Walker<'a>, new: &Value<'_>) -> Result<()> {
        let Some(slot) = old.pending else { return Err(astray(old)) };
        let start = old.position();
        let actual = if slot.polymorphic { old.stated_model() } else { Some(slot.model) };
        let (named, inner) = self.typed(slot, actual, new)?;
        let kept = named.is_none() || named == actual;
        let Some(event) = old.next()? else { return Err(astray(old)) };
        let body = old.position();
        match event {
            Event::Leaf(_, value) if kept && same_leaf(&value, inner) => {
                self.copy(old, start..body);
                Ok(())
            }
            Event::Leaf(..) => self.fresh(slot, new, actual),
            _ if !kept || inner.is_null() => {
                old.leave()?;
                self.fresh(slot, new, actual)
            }
            Event::BeginRecord(model) => {
                self.copy(old, start..body);
                self.record(old, model, inner)
            }
            Event::BeginList(model, count) => {
                let Value::List(items) = inner else { return Err(self.unfit(inner, model, "a list")) };
                self.head(old, start..body, "elements", items.len())?;
                let Shape::List(element) = self.settled(model) else { return Err(astray(old)) };
                self.items(old, count as usize, element, items)
            }
            Event::BeginDictionary { model, named, .. } => {
                let Shape::Dictionary(key, of) = self.settled(model) else { return Err(astray(old)) };
                match inner {
                    Value::Map(entries) if named => {
                        self.head(old, start..body, "entries", entries.len())?;
                        self.named_entries(old, of, entries)
                    }
                    Value::List(pairs) if !named => {
                        self.head(old, start..body, "entries", pairs.len())?;
                        self.entries(old, key, of, pairs)
                    }
                    _ => Err(self.unfit(inner, model, fit_for_dictionary(named))),
                }
            }
            _ => Err(astray(old)),
        }
    }

    /// Writes the bytes before the elements of a list or dictionary, with another count.
    fn head(&mut self, old: &Walker<'a>, range: Range<usize>, what: &str, count: usize) -> Result<()> {
        let count = self.number(what, count)?;
        self.copy(old, range.start..range.end.saturating_sub(4));
        self.out.extend(count);
        Ok(())
    }

    /// Runs `write` for each member of the current record of `old`, whose head is written.
    pub fn each_member(
        &mut self,
        old: &mut Walker<'a>,
        model: ModelId,
        mut write: impl FnMut(&mut Self, &mut Walker<'a>, &'a str) -> Result<()>,
    ) -> Result<()> {
        let start = old.position();
        let image = match self.types.shape(model) {
            Shape::Image { size, .. } => Some(size),
            _ => None,
        };
        let base = self.out.len();
        if let Some(size) = image {
            // Padding does not change.
            self.copy(old, start..start.saturating_add(size as usize));
        }
        loop {
            match old.next()? {
                Some(Event::Member(name)) => match image {
                    Some(size) => {
                        let at = old.position().saturating_sub(start);
                        self.at_name(name, |this| this.in_image(base, size, at, |this| write(this, old, name)))?;
                    }
                    None => self.at_name(name, |this| write(this, old, name))?,
                },
                Some(Event::EndRecord) => return Ok(()),
                _ => return Err(astray(old)),
            }
        }
    }

    fn record(&mut self, old: &mut Walker<'a>, model: ModelId, new: &Value<'_>) -> Result<()> {
        let mut fields = self.fields(model, new)?;
        self.each_member(old, model, |this, old, name| match fields.take(name) {
            Some(value) => this.merge(old, value),
            None => Err(this.refuse("this member is missing: a record has all of its members")),
        })?;
        let members = match self.types.shape(model) {
            Shape::Record { from, to, .. } | Shape::Image { from, to, .. } => self.types.members(from, to),
            _ => &[],
        };
        self.all_taken(&fields, members)
    }

    /// Whether `new` equals the value at `node`; if so, its bytes are written.
    fn same(&mut self, node: Node<'a>, new: &Value<'_>) -> bool {
        let (mark, before) = (self.out.len(), std::mem::replace(&mut self.trial, true));
        let same = self.merge(&mut node.walk(), new).is_ok();
        self.trial = before;
        if !same {
            self.out.truncate(mark);
        }
        same
    }

    fn items(&mut self, old: &mut Walker<'a>, count: usize, element: ModelId, items: &[Value<'_>]) -> Result<()> {
        if items.len() == count {
            for (i, item) in items.iter().enumerate() {
                old.next()?;
                self.at_index(i, |this| this.merge(old, item))?;
            }
            old.next()?;
            return Ok(());
        }
        if self.trial {
            return Err(self.differs());
        }
        let mut nodes = Vec::new();
        while let Some(Event::Item(_)) = old.next()? {
            nodes.push(old.node().ok_or_else(|| astray(old))?);
            old.skip()?;
        }
        self.aligned(&nodes, element, items)
    }

    /// Writes items of a list that has more or fewer of them than before. Those that stayed the same are found, as the
    /// items around them are what they were before; the types of values in others are known only where as many stand
    /// between two of them as before.
    fn aligned(&mut self, old: &[Node<'a>], element: ModelId, items: &[Value<'_>]) -> Result<()> {
        let mark = self.out.len();
        let pairs = old.iter().rev().zip(items.iter().rev());
        let mut tail = 0usize;
        for (node, item) in pairs {
            if !self.same(*node, item) {
                break;
            }
            self.out.truncate(mark);
            tail = tail.saturating_add(1);
        }
        let ends = (old.len().saturating_sub(tail), items.len().saturating_sub(tail));
        let (mut old, old_tail) = old.split_at(ends.0);
        let (items, item_tail) = items.split_at(ends.1);
        // The new items since number `first` were not found among the rest of the old ones.
        let (mut first, mut new) = (0usize, items);
        for (i, item) in items.iter().enumerate() {
            let mark = self.out.len();
            let mut ahead = old.iter().take(AHEAD);
            if let Some(k) = ahead.position(|node| self.same(*node, item)) {
                let bytes = self.out.split_off(mark);
                let (unpaired, rest) = new.split_at(i.saturating_sub(first));
                let (gone, old_rest) = old.split_at(k);
                self.unpaired(gone, element, first, unpaired)?;
                self.out.extend(bytes);
                (first, new, old) = (i.saturating_add(1), rest.split_at(1).1, old_rest.split_at(1).1);
            }
        }
        self.unpaired(old, element, first, new)?;
        for (node, item) in old_tail.iter().zip(item_tail) {
            self.same(*node, item);
        }
        Ok(())
    }

    /// Writes items without a counterpart among the old items; the first has the number `first`.
    fn unpaired(&mut self, old: &[Node<'a>], element: ModelId, first: usize, items: &[Value<'_>]) -> Result<()> {
        for (i, item) in items.iter().enumerate() {
            self.at_index(first.saturating_add(i), |this| match old.get(i) {
                Some(node) if old.len() == items.len() => this.merge(&mut node.walk(), item),
                _ => this.fresh(PendingValue::plain(element), item, None),
            })?;
        }
        Ok(())
    }

    fn named_entries(
        &mut self,
        old: &mut Walker<'a>,
        of: ModelId,
        entries: &[(std::borrow::Cow<'_, str>, Value<'_>)],
    ) -> Result<()> {
        let mut next = 0usize;
        let mut others: HashMap<String, Vec<(Range<usize>, Node<'a>)>> = HashMap::new();
        loop {
            let before = old.position();
            let Some(Event::Key(key)) = old.next()? else { break };
            let bytes = before..old.position();
            match entries.get(next) {
                Some((name, value)) if others.is_empty() && is_shown(key, name) => {
                    self.copy(old, bytes);
                    self.at_name(name, |this| this.merge(old, value))?;
                    next = next.saturating_add(1);
                }
                _ if self.trial => return Err(self.differs()),
                _ => {
                    let node = old.node().ok_or_else(|| astray(old))?;
                    others.entry(key.to_string()).or_default().push((bytes, node));
                    old.skip()?;
                }
            }
        }
        let (done, rest) = entries.split_at(next);
        if rest.is_empty() {
            return Ok(());
        }
        if self.trial {
            return Err(self.differs());
        }
        let mut seen: HashSet<&str> = done.iter().map(|(name, _)| &**name).collect();
        for (name, value) in rest {
            if !seen.insert(name) {
                return Err(self.refuse(format_args!("the key {} is there twice", crate::writable::short_text(name))));
            }
            match others.get_mut(&**name).and_then(Vec::pop) {
                Some((bytes, node)) => {
                    self.copy(old, bytes);
                    self.at_name(name, |this| this.merge(&mut node.walk(), value))?;
                }
                None => {
                    self.string(name)?;
                    self.at_name(name, |this| this.fresh(PendingValue::plain(of), value, None))?;
                }
            }
        }
        Ok(())
    }

    fn entries(&mut self, old: &mut Walker<'a>, key: ModelId, of: ModelId, pairs: &[Value<'_>]) -> Result<()> {
        let mut next = 0usize;
        // By the texts of their keys; keys without a text are together.
        let mut others: HashMap<Option<String>, Vec<(Node<'a>, Node<'a>)>> = HashMap::new();
        while let Some(Event::EntryKey(_)) = old.next()? {
            let node = old.node().ok_or_else(|| astray(old))?;
            let pair = pairs.get(next).filter(|_| others.is_empty()).map(|pair| self.pair(pair)).transpose()?;
            let kept = pair.filter(|(key, _)| self.same(node, key));
            old.skip()?;
            old.next()?;
            match kept {
                Some((_, value)) => {
                    self.at_index(next, |this| this.merge(old, value))?;
                    next = next.saturating_add(1);
                }
                None if self.trial => return Err(self.differs()),
                None => {
                    let value = old.node().ok_or_else(|| astray(old))?;
                    let text = node.leaf()?.map(|key| key.to_string());
                    others.entry(text).or_default().push((node, value));
                    old.skip()?;
                }
            }
            old.next()?;
        }
        let (_, rest) = pairs.split_at(next);
        if self.trial && !rest.is_empty() {
            return Err(self.differs());
        }
        if rest.is_empty() {
            return Ok(());
        }
        for (i, pair) in (next..).zip(rest) {
            self.at_index(i, |this| {
                let (k, v) = this.pair(pair)?;
                let text = (!matches!(k, Value::Map(_) | Value::List(_))).then(|| k.to_string());
                let among = others.get_mut(&text);
                let found = among.and_then(|same| {
                    let at = same.iter().position(|(node, _)| this.same(*node, k))?;
                    Some(same.swap_remove(at).1)
                });
                match found {
                    Some(node) => this.merge(&mut node.walk(), v),
                    None => this.fresh_pair(key, of, pair),
                }
            })?;
        }
        self.keys_differ(pairs)
    }

    /// Checks that no two entries have one key.
    fn keys_differ(&self, pairs: &[Value<'_>]) -> Result<()> {
        let mut seen = HashSet::new();
        for pair in pairs {
            let (key, _) = self.pair(pair)?;
            if !matches!(key, Value::Map(_) | Value::List(_)) && !seen.insert(key.to_string()) {
                return Err(self.refuse(format_args!("the key {} is there twice", shown(key))));
            }
        }
        Ok(())
    }
}
