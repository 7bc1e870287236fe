//! The rows of `values` that differ between two archives. Both are walked at once, and equal bytes are passed over.

use super::graph::{Event, Walker};
use super::{Chunk, VrbArchive, verify};
use crate::compare::{ComparedParts, Comparison, Differences, Finder, Special, same_value};
use crate::error::Result;

/// Two archives.
pub(super) struct ArchiveComparison<'a> {
    pub old: &'a VrbArchive,
    pub new: &'a VrbArchive,
}

impl<'a> Comparison<'a> for ArchiveComparison<'a> {
    fn table(&self, _: &str, _: bool) -> Option<Box<dyn Special + 'a>> {
        None
    }

    fn finder(&self, table: &str) -> Option<Finder<'a>> {
        let Self { old, new } = *self;
        (table == "values").then(|| Box::new(move |parts| differences(old, new, parts).ok().flatten()) as Finder<'a>)
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The rows with other values. `None` if the archives differ in more than their values: rows then have other keys.
fn differences(old: &VrbArchive, new: &VrbArchive, parts: ComparedParts) -> Result<Option<Differences>> {
    let (before, after) = (old.chunks()?, new.chunks()?);
    let has_same_chunks = before.iter().map(Chunk::name).eq(after.iter().map(Chunk::name));
    if !has_same_chunks || !old.has_types_of(new)? {
        return Ok(None);
    }
    let (mut found, mut first, mut uncounted) = (Differences::default(), 0usize, Vec::new());
    for (old, new) in before.iter().zip(&after) {
        if old.is_stored_as(new) {
            uncounted.push(old);
            continue;
        }
        for chunk in uncounted.drain(..) {
            first = first.saturating_add(chunk.leaves()?);
        }
        if old.root_model()? != new.root_model()? {
            return Ok(None);
        }
        match differing_rows(old.root()?.walk(), new.root()?.walk(), first, &mut found.changed)? {
            Some(()) => uncounted.push(old),
            None => return Ok(None),
        }
    }
    if parts == ComparedParts::All {
        verify::check_all_values(old)?;
        verify::check_all_values(new)?;
    }
    Ok(Some(found))
}

/// Adds the numbers of the leaves that differ; `first` is the number of the first leaf of the walks. `None` if the walks differ in more
/// than their leaves, or a number does not fit.
fn differing_rows<'a>(
    mut before: Walker<'a>,
    mut after: Walker<'a>,
    first: usize,
    changed: &mut Vec<(u32, u32)>,
) -> Result<Option<()>> {
    let mut row = first;
    // The end of the bytes that are equal on both sides, and how far they are apart.
    let (mut end, mut apart) = (0usize, 0usize);
    loop {
        if let Some((old, new)) = before.rest().zip(after.rest()) {
            let at = before.position();
            if at >= end || apart != after.position().wrapping_sub(at) {
                let equal = equal_bytes(old, new);
                if equal == old.len() && equal == new.len() {
                    return Ok(Some(()));
                }
                (end, apart) = (at.saturating_add(equal), after.position().wrapping_sub(at));
            }
            if at < end {
                let Some(passed) = before.pass_until(end)? else { return Ok(None) };
                row = row.saturating_add(passed);
                after = before.moved_to(&after, apart);
            }
        }
        match (before.next()?, after.next()?) {
            (None, None) => {
                before.expect_end()?;
                return after.expect_end().map(Some);
            }
            (Some(Event::Leaf(model, was)), Some(Event::Leaf(other_model, is))) if model == other_model => {
                if !same_value(&was, &is) {
                    let Ok(number) = u32::try_from(row) else { return Ok(None) };
                    changed.push((number, number));
                }
                row = row.saturating_add(1);
            }
            (Some(was), Some(is)) if was == is => {}
            _ => return Ok(None),
        }
    }
}

/// The number of bytes at the start that are equal.
fn equal_bytes(old: &[u8], new: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = old.chunks(BLOCK).zip(new.chunks(BLOCK)).take_while(|(a, b)| a == b);
    let start: usize = blocks.map(|(a, _)| a.len()).fold(0, usize::saturating_add);
    let rest = old.iter().zip(new).skip(start).take_while(|(a, b)| a == b);
    start.saturating_add(rest.count())
}
