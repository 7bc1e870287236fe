//! Slots of unions: a kind, and a pointer to the value that the kind chooses. The base of the pointer is the slot.

use super::differ::Differ;
use super::types::Type;
use super::walker::{Leaf, Walker, Wanted};
use crate::budget::BudgetShare;
use crate::bytes::{View, le};
use crate::error::Result;

/// The member of a slot that says its kind: a word of the reader's where the kind has one.
pub(in crate::bwdb) const KIND: &str = "kind";

#[derive(Debug, Clone, Copy)]
pub(in crate::bwdb) struct UnionKind {
    pub(in crate::bwdb) kind: i32,
    pub(in crate::bwdb) name: &'static str,
    pub(in crate::bwdb) of: &'static Type,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Slot<'a> {
    view: View<'a>,
    pub(super) kind: i32,
    pointer: i64,
}

impl<'a> Slot<'a> {
    pub(super) const SIZE: usize = 0x10;

    pub(super) fn read(view: View<'a>) -> Result<Self> {
        let [kind, pointer] = [view.skip(0), view.skip(8)];
        Ok(Self { view, kind: kind.read::<le::I32>()?.get(), pointer: pointer.read::<le::I64>()?.get() })
    }

    /// The slot's kind, if it is one with a value. -1 has none.
    ///
    /// # Errors
    /// `BadValue` for any other kind.
    fn known(self, kinds: &[UnionKind]) -> Result<Option<UnionKind>> {
        match kinds.iter().find(|known| known.kind == self.kind) {
            None if self.kind != -1 => Err(self.view.bad_value("kind without a known layout", self.kind)),
            known => Ok(known.copied()),
        }
    }

    fn value(self) -> Result<View<'a>> {
        self.view.follow(self.pointer)
    }

    /// Shows the kind by name, and the value.
    pub(super) fn walk(self, kinds: &[UnionKind], walker: &mut dyn Walker<'a>) {
        let known = match self.known(kinds) {
            Ok(Some(known)) => known,
            other => {
                walker.leaf(KIND, Leaf::Value(self.kind.into()));
                return other.err().into_iter().for_each(|error| walker.damage("value", error));
            }
        };
        if walker.wanted() == Wanted::Texts && !known.of.traits.texts.any() {
            return;
        }
        walker.leaf(KIND, Leaf::Value(known.name.into()));
        match self.value() {
            Ok(view) => {
                walker.target(view, known.of.size);
                known.of.walk(view, "value", walker);
            }
            Err(error) => walker.damage("value", error),
        }
    }

    pub(super) fn same(self, other: Self, kinds: &[UnionKind], share: &mut BudgetShare<'_>) -> Result<bool> {
        if self.kind != other.kind {
            return Ok(false);
        }
        self.known(kinds)?.map_or(Ok(true), |known| known.of.same(self.value()?, other.value()?, share))
    }

    /// Shows the differences of the values of two slots of one kind.
    pub(super) fn differ(self, other: Self, kinds: &[UnionKind], differ: &mut Differ<'a, '_>) -> Result<()> {
        if let Some(known) = self.known(kinds)? {
            differ.within("value", |differ| known.of.differ(self.value()?, other.value()?, differ));
        }
        Ok(())
    }
}
