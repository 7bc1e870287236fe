//! Rows of `values` set, inserted and deleted, in one walk over a chunk.
//!
//! A row is a leaf. Deleting all leaves of a list item or dictionary entry deletes it, and inserting its leaves inserts it. Lists,
//! dictionaries and records without leaves have no rows: a list that loses all items becomes empty, and members without rows are empty.

use super::super::graph::{Event, PendingValue, Walker};
use super::super::node::{TYPE, VALUE};
use super::super::path::{Path, Step};
use super::super::shape::Shape;
use super::super::types::ModelId;
use super::super::values::column;
use super::encode::{Encoder, same_leaf, shown};
use super::merge::astray;
use crate::error::{Error, Result};
use crate::table::Value;
use crate::writable::{ColumnValues, EditPosition, TableEdits, cell, refused, short_text};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::iter::Peekable;

/// The changed and deleted rows of all chunks, in order, and the position of the walk.
#[derive(Debug)]
pub(super) struct RowEdits<'e> {
    pub row: usize,
    set: Peekable<std::slice::Iter<'e, (usize, ColumnValues)>>,
    remove: Peekable<std::slice::Iter<'e, usize>>,
    /// Whether items moved up after deletions before them.
    pub shifted: bool,
    /// Rows that cannot get their requested values or be deleted, if such rows are noted and kept. Items that would move up
    /// refuse the deletions before them: rows with their old paths would get other values.
    pub refused: Option<Vec<(EditPosition, Error)>>,
}

impl<'e> RowEdits<'e> {
    pub fn new(edits: &'e TableEdits) -> Self {
        let (set, remove) = (edits.set.iter().peekable(), edits.remove.iter().peekable());
        Self { row: 0, set, remove, shifted: false, refused: None }
    }

    pub fn are_left(&mut self) -> bool {
        self.set.peek().is_some() || self.remove.peek().is_some()
    }

    /// Unchanged rows before the next edited row.
    pub fn ahead(&mut self) -> usize {
        let set = self.set.peek().map(|(row, _)| *row);
        let next = set.into_iter().chain(self.remove.peek().map(|row| **row)).min();
        next.map_or(usize::MAX, |next| next.saturating_sub(self.row))
    }

    pub fn pass(&mut self, rows: usize) {
        self.row = self.row.saturating_add(rows);
    }

    /// Notes that the deletion of a value is refused: of its first leaf, so that the value is kept. Its other leaves and lists may
    /// still be deleted.
    ///
    /// # Errors
    /// `error`, if refused rows are not noted.
    pub fn refuse(&mut self, value: Tally, error: Error) -> Result<()> {
        let Some(refused) = &mut self.refused else { return Err(error) };
        refused.push((EditPosition::Remove(value.first), error));
        Ok(())
    }

    pub fn next(&mut self) -> (Option<&'e ColumnValues>, bool) {
        let row = self.row;
        self.row = row.saturating_add(1);
        (
            self.set.next_if(|set| set.0 == row).map(|(_, cells)| cells),
            self.remove.next_if(|&&remove| remove == row).is_some(),
        )
    }
}

/// Inserted leaves, by the steps to them.
#[derive(Debug, Default)]
pub(super) struct Adds {
    leaf: Option<Value<'static>>,
    /// Members and entries with string keys, in the order of their first rows.
    named: Vec<(String, Adds)>,
    by_name: HashMap<String, usize>,
    items: BTreeMap<u32, Adds>,
    keys: BTreeMap<u32, Adds>,
}

impl Adds {
    /// Adds a leaf at `path`, which nests at most `depth` deep.
    pub fn add(&mut self, path: &str, cells: &ColumnValues, depth: usize) -> Result<()> {
        let Some(parsed) = Path::parse(path).filter(|parsed| parsed.steps().len() <= depth) else {
            return Err(refused(format!(
                "values: path {} is not one; `assetq ls FILE -t values` shows some",
                short_text(path)
            )));
        };
        let mut at = self;
        for step in parsed.steps() {
            at = match step {
                Step::Index(index) => at.items.entry(*index).or_default(),
                Step::Key(index) => at.keys.entry(*index).or_default(),
                Step::Name(name) => {
                    let next = at.named.len();
                    let found = *at.by_name.entry(name.to_string()).or_insert(next);
                    if found == next {
                        at.named.push((name.to_string(), Self::default()));
                    }
                    &mut at.named.get_mut(found).expect("a name that is new was just added").1
                }
            };
        }
        if at.leaf.is_some() {
            return Err(refused(format!("values: a row with the path {} is added twice", short_text(path))));
        }
        let value = cell(cells, column::VALUE).unwrap_or(&Value::Null).clone();
        at.leaf = Some(typed(cell(cells, column::TYPE), value));
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.leaf.is_none() && self.named.is_empty() && self.items.is_empty() && self.keys.is_empty()
    }

    fn name(&self, name: &str) -> Option<&Self> {
        self.by_name.get(name).and_then(|&at| self.named.get(at)).map(|(_, inner)| inner)
    }

    fn tree(&self, out: &Encoder<'_>) -> Result<Value<'static>> {
        let kinds = [self.leaf.is_some(), !self.named.is_empty(), !self.items.is_empty() || !self.keys.is_empty()];
        if kinds.iter().filter(|&&kind| kind).count() > 1 {
            return Err(out.refuse("rows that are added say that it is of several kinds"));
        }
        if let Some(leaf) = &self.leaf {
            return Ok(leaf.clone());
        }
        if !self.named.is_empty() {
            let fields = self.named.iter().map(|(name, inner)| Ok((name.clone().into(), inner.tree(out)?)));
            return Ok(Value::Map(fields.collect::<Result<_>>()?));
        }
        self.sequence(0, out).map(Value::List)
    }

    /// The items or entries from number `first` on, which must follow each other.
    fn sequence(&self, first: u32, out: &Encoder<'_>) -> Result<Vec<Value<'static>>> {
        let mut next = first;
        let mut items = Vec::new();
        let none = Self::default();
        let last = self.items.last_key_value().into_iter().chain(self.keys.last_key_value()).map(|(n, _)| *n).max();
        while last.is_some_and(|last| next <= last) {
            let item = match (self.items.get(&next), self.keys.get(&next)) {
                (None, None) => return Err(out.refuse(format_args!("the next item that can be inserted is [{next}]"))),
                (Some(item), None) => item.tree(out)?,
                (item, Some(key)) => {
                    let fields = [("key".into(), key.tree(out)?), ("value".into(), item.unwrap_or(&none).tree(out)?)];
                    Value::Map(fields.into())
                }
            };
            items.push(item);
            next = next.saturating_add(1);
        }
        Ok(items)
    }

    /// The number of the first item or entry from `count` on.
    fn first_from(&self, count: u32) -> Option<u32> {
        [&self.items, &self.keys].into_iter().filter_map(|among| among.range(count..).next()).map(|(n, _)| *n).min()
    }
}

fn typed(type_name: Option<&Value<'static>>, value: Value<'static>) -> Value<'static> {
    match type_name {
        Some(name) if !name.is_null() && !value.is_null() => {
            Value::Map(vec![(TYPE.into(), name.clone()), (VALUE.into(), value)])
        }
        _ => value,
    }
}

/// Leaves of a value: the number of its own leaves, how many of them were deleted, and the row of the first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    leaves: usize,
    removed: usize,
    first: usize,
    /// It was null itself.
    null: bool,
}

impl Tally {
    /// A kept value.
    const KEPT: Self = Self { leaves: 1, removed: 0, first: 0, null: false };

    /// Whether all of them were deleted.
    pub fn gone(self) -> bool {
        self.leaves > 0 && self.leaves == self.removed
    }

    fn add(&mut self, other: Self) {
        if self.leaves == 0 {
            self.first = other.first;
        }
        self.leaves = self.leaves.saturating_add(other.leaves);
        self.removed = self.removed.saturating_add(other.removed);
    }
}

/// The items of a list that are kept: their number, their leaves, and the deleted items after them.
#[derive(Default)]
struct KeptItems {
    count: usize,
    leaves: usize,
    dropped: Vec<Tally>,
}

/// A value with edited rows: its slot, its actual model, and the starts of its old and its new bytes.
#[derive(Clone, Copy)]
struct EditedValue {
    slot: PendingValue,
    actual: Option<ModelId>,
    start: usize,
    mark: usize,
}

/// A member that lost all leaves, and the position of its bytes.
struct GoneMember {
    tally: Tally,
    start: usize,
    end: usize,
    slot: PendingValue,
    name: String,
}

impl<'a> Encoder<'a> {
    /// Writes the next value of `old` with the edits of its rows.
    pub fn apply(&mut self, old: &mut Walker<'a>, rows: &mut RowEdits<'_>, adds: Option<&Adds>) -> Result<Tally> {
        self.deeper(|this| this.apply_in(old, rows, adds))
    }

    /// Writes one row, which has `value`.
    fn set_leaf(
        &mut self,
        old: &Walker<'a>,
        edited: EditedValue,
        value: &Value<'_>,
        cells: &ColumnValues,
    ) -> Result<()> {
        let (type_name, set) = (cell(cells, column::TYPE), cell(cells, column::VALUE));
        if matches!(set, Some(Value::Map(_) | Value::List(_))) {
            let what = "an object or a list is several rows: add those, or write the entry with `patch --entry`";
            return Err(self.refuse(what));
        }
        let new = set.cloned().unwrap_or_else(|| value.clone().into_owned());
        let shown = self.type_name(edited.actual.unwrap_or(edited.slot.model));
        let keeps_type = type_name.is_none_or(|name| name.as_text().is_none_or(|name| name == shown));
        if same_leaf(value, &new) && keeps_type {
            self.copy(old, edited.start..old.position());
            return Ok(());
        }
        // A null is written without the name of a type.
        if new.is_null() && !keeps_type {
            return Err(self.refuse("a null has no other type: set its value, too, or insert its rows"));
        }
        self.fresh(edited.slot, &typed(type_name, new), edited.actual)
    }

    fn apply_in(&mut self, old: &mut Walker<'a>, rows: &mut RowEdits<'_>, adds: Option<&Adds>) -> Result<Tally> {
        let Some(slot) = old.pending else { return Err(astray(old)) };
        let actual = if slot.polymorphic { old.stated_model() } else { Some(slot.model) };
        let (start, mark) = (old.position(), self.out.len());
        let ahead = if adds.is_none() { rows.ahead() } else { 0 };
        if ahead > 0
            && let Some(leaves) = old.pass(ahead)?
        {
            self.copy(old, start..old.position());
            rows.pass(leaves);
            return Ok(Tally { leaves, ..Tally::default() });
        }
        let edited = EditedValue { slot, actual, start, mark };
        let Some(event) = old.next()? else { return Err(astray(old)) };
        if let Event::Leaf(_, value) = event {
            return self.apply_leaf(old, edited, &value, rows, adds);
        }
        self.copy(old, start..old.position());
        let items = self.out.len();
        let kept = match event {
            Event::BeginRecord(model) => return self.apply_record(old, edited, model, rows, adds),
            Event::BeginList(model, count) => {
                let Shape::List(element) = self.settled(model) else { return Err(astray(old)) };
                self.apply_items(old, element, count, rows, adds)?
            }
            Event::BeginDictionary { model, count, named } => {
                let Shape::Dictionary(key, of) = self.settled(model) else { return Err(astray(old)) };
                match named {
                    true => self.apply_named(old, of, rows, adds)?,
                    false => self.apply_entries(old, key, of, count, rows, adds)?,
                }
            }
            _ => return Err(astray(old)),
        };
        if let Some(leaf) = adds.and_then(|adds| adds.leaf.as_ref()) {
            if kept.count > 0 {
                return Err(self.refuse("a row would replace this value, but not all of its rows are deleted"));
            }
            self.out.truncate(mark);
            self.fresh(slot, leaf, None)?;
            return Ok(Tally::KEPT);
        }
        let count = self.number("elements", kept.count)?;
        // The count precedes the items.
        if let Some(place) = items.checked_sub(4).and_then(|at| self.out.get_mut(at..items)) {
            place.copy_from_slice(&count);
        }
        Ok(Tally { leaves: kept.leaves, ..Tally::default() })
    }

    /// As [`Encoder::keep_item`], for an item that is known by its number.
    fn keep_numbered(
        &mut self,
        kept: &mut KeptItems,
        mark: usize,
        tally: Tally,
        rows: &mut RowEdits<'_>,
    ) -> Result<()> {
        if !tally.gone() && !kept.dropped.is_empty() {
            rows.shifted = true;
            let dropped = std::mem::take(&mut kept.dropped);
            if rows.refused.is_some() {
                let error = self.refuse("items after a deleted one are kept, and would move up");
                dropped.into_iter().try_for_each(|dropped| rows.refuse(dropped, error.clone()))?;
            }
        }
        self.keep_item(kept, mark, tally);
        Ok(())
    }

    /// Keeps the item whose new bytes begin at `mark`, unless it lost all leaves.
    fn keep_item(&mut self, kept: &mut KeptItems, mark: usize, tally: Tally) {
        if tally.gone() {
            self.out.truncate(mark);
            kept.dropped.push(tally);
            return;
        }
        kept.count = kept.count.saturating_add(1);
        kept.leaves = kept.leaves.saturating_add(tally.leaves);
    }

    fn apply_leaf(
        &mut self,
        old: &Walker<'a>,
        edited: EditedValue,
        value: &Value<'_>,
        rows: &mut RowEdits<'_>,
        adds: Option<&Adds>,
    ) -> Result<Tally> {
        let row = rows.row;
        let (set, removed) = rows.next();
        match (set, adds) {
            (Some(set), None) => {
                if let Err(error) = self.set_leaf(old, edited, value, set) {
                    let Some(refused) = &mut rows.refused else { return Err(error) };
                    refused.push((EditPosition::Set(row), error));
                    self.out.truncate(edited.mark);
                    self.copy(old, edited.start..old.position());
                }
                Ok(Tally::KEPT)
            }
            (None, Some(adds)) if removed => {
                let tree = adds.tree(self)?;
                self.fresh(edited.slot, &tree, None)?;
                Ok(Tally::KEPT)
            }
            (_, Some(_)) => Err(self.refuse(format_args!(
                "this is {}, and rows that are added would lie in it: its own row must go for them",
                shown(value)
            ))),
            (None, None) => {
                self.copy(old, edited.start..old.position());
                Ok(Tally { leaves: 1, removed: removed.into(), first: row, null: value.is_null() })
            }
        }
    }

    fn apply_record(
        &mut self,
        old: &mut Walker<'a>,
        edited: EditedValue,
        model: ModelId,
        rows: &mut RowEdits<'_>,
        adds: Option<&Adds>,
    ) -> Result<Tally> {
        let (tally, gone, unknown) = self.apply_members(old, model, rows, adds)?;
        let replaced = adds.filter(|adds| adds.leaf.is_some() || (tally.gone() && !adds.is_empty()));
        if let Some(adds) = replaced {
            if !tally.gone() {
                return Err(self.refuse("a row would replace this value, but not all of its rows are deleted"));
            }
            self.out.truncate(edited.mark);
            let tree = adds.tree(self)?;
            self.fresh(edited.slot, &tree, edited.actual.filter(|_| unknown.is_none()))?;
            return Ok(Tally::KEPT);
        }
        if let Some(name) = unknown {
            return Err(self.refuse(format_args!("there is no member {}", short_text(name))));
        }
        if tally.gone() || gone.is_empty() {
            return Ok(tally);
        }
        let image = matches!(self.settled(model), Shape::Image { .. });
        self.empty_members(gone, image, rows)?;
        Ok(Tally::KEPT)
    }

    /// Applies the rows to the members of a record. Returns their leaves, the members that lost all leaves, and a missing member of a row.
    fn apply_members<'x>(
        &mut self,
        old: &mut Walker<'a>,
        model: ModelId,
        rows: &mut RowEdits<'_>,
        adds: Option<&'x Adds>,
    ) -> Result<(Tally, Vec<GoneMember>, Option<&'x str>)> {
        let (mut tally, mut gone) = (Tally::default(), Vec::new());
        let mut met = HashSet::new();
        self.each_member(old, model, |this, old, name| {
            let slot = old.pending.ok_or_else(|| astray(old))?;
            let start = this.out.len();
            let inner = adds.and_then(|adds| adds.name(name));
            if inner.is_some() {
                met.insert(name);
            }
            let member = this.apply(old, rows, inner)?;
            if member.gone() {
                let (end, name) = (this.out.len(), name.to_owned());
                gone.push(GoneMember { tally: member, start, end, slot, name });
            }
            tally.add(member);
            Ok(())
        })?;
        let mut named = adds.into_iter().flat_map(|adds| &adds.named).map(|(name, _)| name.as_str());
        let unknown = named.find(|name| !met.contains(name));
        let other = adds.is_some_and(|adds| !adds.items.is_empty() || !adds.keys.is_empty());
        Ok((tally, gone, unknown.or(other.then_some("[…]"))))
    }

    /// Empties members whose only row, null, was deleted; their record is kept.
    fn empty_members(&mut self, gone: Vec<GoneMember>, image: bool, rows: &mut RowEdits<'_>) -> Result<()> {
        for member in gone.into_iter().rev() {
            let emptied = self.at_name(&member.name, |this| {
                if image || !member.tally.null {
                    return Err(
                        this.refuse("a member of a record cannot be deleted alone; delete all rows of the record")
                    );
                }
                let tail = this.out.split_off(member.end.min(this.out.len()));
                this.out.truncate(member.start);
                let empty = this.empty(member.slot.model);
                let emptied = this.fresh(member.slot, &empty, None).map_err(|_| {
                    this.refuse("deleting the row leaves an empty value here, and values of this type are never empty")
                });
                this.out.extend(tail);
                emptied
            });
            emptied.or_else(|error| rows.refuse(member.tally, error))?;
        }
        Ok(())
    }

    /// Returns the present items of a list; their leaves are the leaves of old items.
    fn apply_items(
        &mut self,
        old: &mut Walker<'a>,
        element: ModelId,
        count: u32,
        rows: &mut RowEdits<'_>,
        adds: Option<&Adds>,
    ) -> Result<KeptItems> {
        let mut kept = KeptItems::default();
        while let Some(Event::Item(number)) = old.next()? {
            let mark = self.out.len();
            let inner = adds.and_then(|adds| adds.items.get(&number));
            let tally = self.at_index(number as usize, |this| this.apply(old, rows, inner))?;
            self.keep_numbered(&mut kept, mark, tally, rows)?;
        }
        let Some(adds) = adds else { return Ok(kept) };
        if !adds.named.is_empty() || !adds.keys.is_empty() {
            return Err(self.refuse("a row that is added would lie in this list, without a number"));
        }
        for item in self.appended(adds, count, kept.count)? {
            self.at_index(kept.count, |this| this.fresh(PendingValue::plain(element), &item, None))?;
            kept.count = kept.count.saturating_add(1);
        }
        Ok(kept)
    }

    /// The inserted items after `count` old items; `kept` of the old items remain.
    fn appended(&self, adds: &Adds, count: u32, kept: usize) -> Result<Vec<Value<'static>>> {
        let Some(first) = adds.first_from(count) else { return Ok(Vec::new()) };
        if first != count {
            return Err(self.refuse(format_args!("the next item that can be inserted is [{count}]")));
        }
        if kept < count as usize {
            return Err(self.refuse("items of one list cannot both come and go at once: write one, then the other"));
        }
        adds.sequence(first, self)
    }

    /// The entries of a dictionary with string keys.
    fn apply_named(
        &mut self,
        old: &mut Walker<'a>,
        of: ModelId,
        rows: &mut RowEdits<'_>,
        adds: Option<&Adds>,
    ) -> Result<KeptItems> {
        let mut kept = KeptItems::default();
        let mut met = HashSet::new();
        loop {
            let before = old.position();
            let Some(Event::Key(key)) = old.next()? else { break };
            let mark = self.out.len();
            self.copy(old, before..old.position());
            let key = key.to_string();
            let inner = adds.and_then(|adds| adds.name(&key));
            let tally = self.at_name(&key, |this| this.apply(old, rows, inner))?;
            if inner.is_some() {
                met.insert(key);
            }
            self.keep_item(&mut kept, mark, tally);
        }
        let Some(adds) = adds else { return Ok(kept) };
        if !adds.items.is_empty() || !adds.keys.is_empty() {
            return Err(self.refuse("entries of this dictionary go by their keys, not by numbers"));
        }
        for (name, inner) in adds.named.iter().filter(|(name, _)| !met.contains(name)) {
            let tree = inner.tree(self)?;
            self.string(name)?;
            self.at_name(name, |this| this.fresh(PendingValue::plain(of), &tree, None))?;
            kept.count = kept.count.saturating_add(1);
        }
        Ok(kept)
    }

    /// The entries of any other dictionary.
    fn apply_entries(
        &mut self,
        old: &mut Walker<'a>,
        key: ModelId,
        of: ModelId,
        count: u32,
        rows: &mut RowEdits<'_>,
        adds: Option<&Adds>,
    ) -> Result<KeptItems> {
        let mut kept = KeptItems::default();
        while let Some(Event::EntryKey(number)) = old.next()? {
            let mark = self.out.len();
            let tally = self.at_index(number as usize, |this| {
                let mut tally = this.apply(old, rows, adds.and_then(|adds| adds.keys.get(&number)))?;
                old.next()?;
                tally.add(this.apply(old, rows, adds.and_then(|adds| adds.items.get(&number)))?);
                old.next()?;
                if tally.removed > 0 && !tally.gone() {
                    return Err(this.refuse("key and value of an entry go together"));
                }
                Ok(tally)
            })?;
            self.keep_numbered(&mut kept, mark, tally, rows)?;
        }
        let Some(adds) = adds else { return Ok(kept) };
        if !adds.named.is_empty() {
            return Err(self.refuse("entries of this dictionary go by numbers: [0]#key and [0]"));
        }
        for pair in self.appended(adds, count, kept.count)? {
            self.at_index(kept.count, |this| this.fresh_pair(key, of, &pair))?;
            kept.count = kept.count.saturating_add(1);
        }
        Ok(kept)
    }
}
