//! Arrays with a changed number of elements.

use super::super::record::{Elements, Type};
use super::area::{ALIGNMENT, ArrayField, EditedPosition, To, Writer};
use super::value::leaf_bytes;
use crate::error::Result;
use crate::table::Value;

impl<'a> Writer<'_, 'a> {
    /// Appends an array. Each element is a copy of the given element of an old array, with adjusted pointers, or zeros.
    pub fn arranged(
        &mut self,
        array: Elements<'a>,
        elements: impl ExactSizeIterator<Item = Option<usize>>,
    ) -> Result<To> {
        let Elements { of, view, .. } = array;
        let mut pointers = Vec::new();
        if of.pointers(0, &mut pointers).is_none() {
            return Err(self.refuse(format_args!("where a {} points to is not known, so that none is copied", of.name)));
        }
        let to = self.room(of, elements.len())?;
        let new = self.area.address(to);
        let mut bytes = Vec::with_capacity(elements.len().saturating_mul(of.size));
        for element in elements {
            let at = bytes.len();
            let Some(old) = element.map(|old| view.skip(old.saturating_mul(of.size))) else {
                bytes.resize(at.saturating_add(of.size), 0);
                continue;
            };
            bytes.extend_from_slice(old.take(of.size)?);
            let from = self.area.address(To::Old(old.position()));
            for (_, pointer) in &pointers {
                let rebased = rebase(&mut bytes, at.saturating_add(*pointer), from, new.saturating_add(at));
                rebased.ok_or_else(|| old.bad_value("pointer", 0))?;
            }
        }
        self.put(to, &bytes)?;
        Ok(to)
    }

    /// Makes an array of values without pointers one of these bytes: in place where they have room and it is of one record.
    pub fn set_flat(&mut self, owner: EditedPosition<'a>, of: &'static Type, field: usize, bytes: &[u8]) -> Result<()> {
        let ArrayField { at, count, elements } = self.array(owner, of, field)?;
        let Elements { of: element, view, len } = elements;
        let old = view.take(elements.bytes())?;
        let new = bytes.chunks_exact(element.size).len();
        if !old.starts_with(bytes) {
            let range = view.position()..view.position().saturating_add(old.len());
            let fits = bytes.len() <= old.len() && self.check_inside(&range, view).is_ok();
            if fits && matches!(owner.to, To::Old(_)) && !self.area.are_shared(&range)? {
                self.put(To::Old(range.start), bytes)?;
            } else {
                let to = To::New(self.area.append(bytes, ALIGNMENT));
                self.point(owner.to, at, to)?;
            }
        }
        if new == len { Ok(()) } else { self.put_count(owner.to, of, count, new) }
    }

    /// Writes how many elements an array of a struct has.
    pub fn put_count(&mut self, to: To, this: &'static Type, count: usize, len: usize) -> Result<()> {
        let field = this.field(count);
        let bytes = leaf_bytes(field.of, &Value::Null, &len.into());
        let bytes = bytes.map_err(|fits| self.refuse(format_args!("{len} elements: {fits} fits")))?;
        self.put(to.skip(field.at), &bytes)
    }
}

/// Adjusts the pointer at `at` of bytes that moved from `old` to `new`, so that it keeps its target.
fn rebase(bytes: &mut [u8], at: usize, old: usize, new: usize) -> Option<()> {
    let place: &mut [u8; 8] = bytes.get_mut(at..)?.first_chunk_mut()?;
    let pointer = i64::from_le_bytes(*place);
    if pointer != 0 {
        let moved = i64::try_from(old).ok()?.checked_sub(i64::try_from(new).ok()?)?;
        *place = pointer.checked_add(moved)?.to_le_bytes();
    }
    Some(())
}
