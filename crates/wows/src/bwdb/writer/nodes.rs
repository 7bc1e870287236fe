//! Inserted and deleted nodes of skeletons, and their names: five arrays with one count. Two of them are the map from names to nodes.

use super::super::prototypes as p;
use super::super::record::{Type, Typed as _};
use super::area::{EditedPosition, Writer};
use super::job::{Job, Listed, PARENT, Wrong, column_name};
use crate::error::Result;
use crate::table::{Table, Value};
use crate::writable::{ColumnValues, EditPosition, Item, Lists, TableEdits};
use std::collections::BTreeMap;

struct Node {
    name: u32,
    parent: u16,
    matrix: Vec<u8>,
}

/// Adds renumbered parents to the edits, so that kept nodes keep their parents.
pub(super) fn settle(table: &dyn Table, lists: &Lists, edits: &mut TableEdits) -> Result<()> {
    let Some(column) = table.columns().iter().position(|column| column.name == PARENT) else { return Ok(()) };
    let mut sets: BTreeMap<usize, ColumnValues> = std::mem::take(&mut edits.set).into_iter().collect();
    for list in lists.0.values() {
        // An impossible list is refused when it is written.
        let Ok(items) = list.order(&edits.table) else { continue };
        let kept = items.iter().enumerate().filter_map(|(at, item)| match item {
            Item::Kept(old) => Some((*old, at)),
            Item::New(_) => None,
        });
        let numbers: BTreeMap<usize, usize> = kept.collect();
        for old in numbers.keys() {
            let row = list.first.saturating_add(*old);
            let Value::Uint(parent) = table.value(row, column)? else { continue };
            let Ok(parent) = usize::try_from(parent) else { continue };
            let is_told = sets.get(&row).is_some_and(|set| set.iter().any(|(at, _)| *at == column));
            match numbers.get(&parent) {
                Some(now) if *now != parent && !is_told => {
                    sets.entry(row).or_default().push((column, Value::Uint(*now as u64)));
                }
                _ => {}
            }
        }
    }
    edits.set = sets.into_iter().collect();
    Ok(())
}

impl<'a> Job<'_, 'a> {
    /// Writes the skeleton at `place`.
    pub fn nodes(&mut self, place: EditedPosition<'a>, Listed { list, items }: Listed<'_>) -> Result<(), Wrong> {
        let (name, of) = (self.table.name(), p::Skeleton::OF);
        let old = old_nodes(place)?;
        let is_sorted = order_of_names(&self.out, place, &old)?;
        let mut numbers: Vec<Option<u16>> = vec![None; old.len()];
        for (number, item) in (0u16..).zip(items) {
            if let Item::Kept(at) = item
                && let Some(slot) = numbers.get_mut(*at)
            {
                *slot = Some(number);
            }
        }
        let count = items.len();
        let mut new = Vec::with_capacity(count);
        for (number, item) in items.iter().enumerate() {
            let (at, cells, kept) = match item {
                Item::New(place) => (Some(EditPosition::Add(*place)), self.edits.add.get(*place), None),
                Item::Kept(at) => match self.edited(list, *at) {
                    Some((row, cells)) => (Some(EditPosition::Set(*row)), Some(cells), old.get(*at)),
                    None => (None, None, old.get(*at)),
                },
            };
            self.out.what = format!("{name}: node {number}");
            let (mut node_name, mut parent, mut matrix) = (kept.map(|node| node.name), None, None);
            for (column, value) in cells.into_iter().flatten() {
                match (column_name(self.table, *column), value) {
                    ("name_id", Value::Id32(name)) => node_name = Some(*name),
                    (PARENT, Value::Null) => parent = Some(p::NO_PARENT),
                    (PARENT, Value::Uint(of)) => {
                        let fits = u16::try_from(*of).ok().filter(|of| usize::from(*of) < count);
                        let what = format_args!("column {PARENT}: {of} is not one of the {count} nodes");
                        parent = Some(fits.ok_or_else(|| Wrong { at, error: self.out.refuse(what) })?);
                    }
                    ("matrix", value) => {
                        let ty = of.field(p::Skeleton::number_of("matrices")).of;
                        matrix = Some(self.out.leaf(ty, &Value::Null, value).map_err(|error| Wrong { at, error })?);
                    }
                    _ => {}
                }
            }
            let parent = match (parent, kept) {
                (Some(parent), _) => parent,
                (None, None) => p::NO_PARENT,
                (None, Some(node)) if node.parent == p::NO_PARENT => p::NO_PARENT,
                (None, Some(node)) => numbers.get(usize::from(node.parent)).copied().flatten().ok_or_else(|| {
                    let what = format_args!("it cannot stay alone: node {}, which is its parent, goes", node.parent);
                    self.out.refuse(what)
                })?,
            };
            let matrix = matrix.or_else(|| kept.map(|node| node.matrix.clone()));
            match (node_name, matrix) {
                (Some(name), Some(matrix)) => new.push(Node { name, parent, matrix }),
                (name, _) => {
                    let missing = if name.is_none() { "name_id" } else { "matrix" };
                    return Err(Wrong { at, error: self.out.refuse(format_args!("column {missing} is missing")) });
                }
            }
        }
        self.out.what = name.to_owned();
        Ok(write(&mut self.out, place, of, &new, is_sorted)?)
    }
}

fn old_nodes(place: EditedPosition<'_>) -> Result<Vec<Node>> {
    let skeleton = p::Skeleton::read(place.view)?;
    let (names, parents, matrices) = (skeleton.names()?, skeleton.parents()?, skeleton.matrices()?);
    let bytes = matrices.view().take(matrices.len().saturating_mul(size_of::<[f32; 16]>()))?;
    let nodes = names.iter().zip(parents.iter()).zip(bytes.chunks_exact(64));
    nodes.map(|((name, parent), matrix)| Ok(Node { name: name?.0, parent: parent?, matrix: matrix.to_vec() })).collect()
}

/// Whether names are looked up in the order of their ids, as in the game's files; otherwise it is that of the nodes.
fn order_of_names(out: &Writer<'_, '_>, place: EditedPosition<'_>, nodes: &[Node]) -> Result<bool> {
    let skeleton = p::Skeleton::read(place.view)?;
    let (mut sorted, mut as_nodes, mut last) = (true, true, 0u32);
    for (number, (name, node)) in skeleton.name_map_names()?.iter().zip(skeleton.name_map_nodes()?.iter()).enumerate() {
        let (name, node) = (name?.0, usize::from(node?));
        let is_its = nodes.get(node).is_some_and(|node| node.name == name);
        sorted &= is_its && last <= name;
        as_nodes &= is_its && node == number;
        last = name;
    }
    if sorted || as_nodes {
        return Ok(sorted);
    }
    Err(out.refuse("its names are looked up in an order that is not known, so that none comes, goes or changes"))
}

fn write<'a>(
    out: &mut Writer<'_, 'a>,
    place: EditedPosition<'a>,
    of: &'static Type,
    new: &[Node],
    is_sorted: bool,
) -> Result<()> {
    let mut map: Vec<(u32, u16)> = new.iter().map(|node| node.name).zip(0u16..).collect();
    if map.len() != new.len() || new.len() >= usize::from(p::NO_PARENT) {
        return Err(out.refuse("a skeleton has no more than 65534 nodes"));
    }
    if is_sorted {
        map.sort_unstable();
    }
    let arrays: [(&str, Vec<u8>); 5] = [
        ("name_map_names", map.iter().flat_map(|(name, _)| name.to_le_bytes()).collect()),
        ("name_map_nodes", map.iter().flat_map(|(_, node)| node.to_le_bytes()).collect()),
        ("names", new.iter().flat_map(|node| node.name.to_le_bytes()).collect()),
        ("matrices", new.iter().flat_map(|node| node.matrix.iter().copied()).collect()),
        ("parents", new.iter().flat_map(|node| node.parent.to_le_bytes()).collect()),
    ];
    arrays.into_iter().try_for_each(|(array, bytes)| out.set_flat(place, of, p::Skeleton::number_of(array), &bytes))
}
