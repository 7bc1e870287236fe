//! Compares an archive with the one that it was derived from: both are walked at once, only down to the edited values.

use super::super::graph::{Event, Walker};
use super::super::values::column;
use super::super::{Chunk, VrbArchive};
use super::rows::RowEdits;
use crate::compare::same_value;
use crate::error::{Error, Result};
use crate::writable::{TableEdits, agrees, cell, differs};

/// Checks that `new` equals `old` except for the edits; `false` for edits other than changed values.
pub(super) fn compare(old: &VrbArchive, new: &VrbArchive, edits: &TableEdits) -> Result<bool> {
    let are_values = edits.set.iter().all(|(_, cells)| matches!(&cells[..], [(column::VALUE, _)]));
    if edits.table != "values" || !are_values || !edits.add.is_empty() || !edits.remove.is_empty() {
        return Ok(false);
    }
    let mut rows = RowEdits::new(edits);
    let (before, after) = (old.chunks()?, new.chunks()?);
    if before.len() != after.len() {
        return Err(differs(format!("{} chunks, not {}", after.len(), before.len())));
    }
    for (old, new) in before.iter().zip(&after) {
        chunk(old, new, &mut rows)?;
        if !rows.are_left() {
            // Later chunks were copied.
            return Ok(true);
        }
    }
    Err(differs(format!("values has no row {} any more", rows.row)))
}

fn chunk<'a>(old: &Chunk<'a>, new: &Chunk<'a>, rows: &mut RowEdits<'_>) -> Result<()> {
    if old.name() != new.name() || old.root_model()? != new.root_model()? {
        return Err(differs_at(new, 0, "another name or type"));
    }
    let (mut before, mut after): (Walker<'a>, Walker<'a>) = (old.root()?.walk(), new.root()?.walk());
    loop {
        let ahead = rows.ahead();
        if ahead == usize::MAX
            && let Some((old_rest, new_rest)) = before.rest().zip(after.rest())
        {
            // Both walks are at the same place of equal values, so that equal bytes are equal rows.
            return if old_rest == new_rest { Ok(()) } else { Err(differs_at(new, after.position(), UNEDITED)) };
        }
        if let Some(slot) = before.pending {
            let start = before.position();
            if ahead > 0
                && let Some(leaves) = before.pass(ahead)?
            {
                if !after.pass_same(slot, before.bytes(start..before.position())) {
                    return Err(differs_at(new, after.position(), UNEDITED));
                }
                rows.pass(leaves);
                continue;
            }
        }
        match (before.next()?, after.next()?) {
            (None, None) => return after.expect_end(),
            (Some(Event::Leaf(model, was)), Some(Event::Leaf(other_model, is))) => {
                let (set, _) = rows.next();
                let same = match set.and_then(|cells| cell(cells, column::VALUE)) {
                    Some(wanted) => agrees(&is, wanted) && (model == other_model || was.is_null()),
                    None => model == other_model && same_value(&was, &is),
                };
                if !same {
                    return Err(differs_at(new, after.position(), "a value is another than was asked"));
                }
            }
            (was, is) if was == is => {}
            _ => return Err(differs_at(new, after.position(), "values of other kinds")),
        }
    }
}

/// The difference of values that no edit changes.
const UNEDITED: &str = "values that were not edited differ";

#[cold]
fn differs_at(chunk: &Chunk<'_>, at: usize, what: &str) -> Error {
    differs(format!("chunk {}: {what} at {at:#x}", chunk.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::table::Value;
    use assetq_sample::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin, flags, member, placed};

    /// An archive with one value of a class: a pair in an image, whose second half is stored first, and a list of numbers.
    fn archive([first, second]: [i32; 2], items: [i32; 3]) -> VrbArchive {
        let mut types = TypesBuilder::new();
        let pair = types.named(1, 0, "Pair");
        let pair = types.composite(
            pair,
            flags::IMAGE,
            8,
            &[placed("First", builtin::INT32, 4), placed("Second", builtin::INT32, 0)],
        );
        let list = types.generic(builtin::LIST, &[builtin::type_of(builtin::INT32)]);
        let list = types.list(list, builtin::INT32);
        let root = types.named(0, 0, "Root");
        let root = types.composite(root, flags::CLASS, 0, &[member("Pair", pair), member("Items", list)]);
        let mut values = ValuesBuilder::new();
        values.present().i32(second).i32(first).count(3);
        for item in items {
            values.i32(item);
        }
        let bytes = ArchiveBuilder::new(&types, root, Codec::None, values.into_bytes()).build();
        VrbArchive::open(Source::from_vec("pair.vrb", bytes)).unwrap()
    }

    fn is_equal(new: ([i32; 2], [i32; 3]), edits: &[(usize, i32)]) -> bool {
        let set = edits.iter().map(|(row, value)| (*row, vec![(column::VALUE, Value::from(*value))])).collect();
        let edits = TableEdits { table: "values".into(), set, ..TableEdits::default() };
        compare(&archive([1, 2], [3, 4, 5]), &archive(new.0, new.1), &edits).is_ok_and(|compared| compared)
    }

    #[test]
    fn every_value_that_was_not_edited_is_compared() {
        assert!(is_equal(([7, 2], [3, 4, 5]), &[(0, 7)]));
        assert!(is_equal(([7, 2], [3, 4, 6]), &[(0, 7), (4, 6)]));
        assert!(!is_equal(([7, 8], [3, 4, 5]), &[(0, 7)]), "it is stored before the edited value, and walked after it");
        for items in [[0, 4, 5], [3, 0, 5], [3, 4, 0]] {
            assert!(!is_equal(([7, 2], items), &[(0, 7)]), "{items:?}");
        }
        assert!(!is_equal(([7, 2], [3, 4, 5]), &[(0, 6)]));
    }
}
