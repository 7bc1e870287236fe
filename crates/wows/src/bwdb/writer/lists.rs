//! Arrays with a changed number of elements, and new elements with all their targets.

use super::super::record::{Elements, FieldType, Form, Type};
use super::area::{ALIGNMENT, ArrayField, EditedPosition, To, Writer};
use super::value::leaf_bytes;
use crate::error::Result;
use crate::table::Value;

impl<'a> Writer<'_, 'a> {
    /// Rewrites the array whose pointer is `at` bytes after the start of `owner`: unchanged old elements first, then new elements.
    pub fn lay_anew(
        &mut self,
        owner: EditedPosition<'a>,
        at: usize,
        array: Elements<'a>,
        before: &[Value<'_>],
        after: &[Value<'_>],
    ) -> Result<()> {
        let Elements { of: element, view, .. } = array;
        let kept = before.len().min(after.len());
        let elements = (0..after.len()).map(|element| (element < kept).then_some(element));
        let to = self.arranged(array, elements)?;
        self.point(owner.to, at, to)?;
        let old = before.iter().map(Some).chain(std::iter::repeat(None));
        for (i, (new, old)) in after.iter().zip(old).enumerate() {
            let skip = i.saturating_mul(element.size);
            match old {
                Some(old) => {
                    self.set_value(EditedPosition { view: view.skip(skip), to: to.skip(skip) }, element, old, new)?
                }
                None => self.fresh(to.skip(skip), element, new)?,
            }
        }
        Ok(())
    }

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
            for pointer in &pointers {
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
        if new == len { Ok(()) } else { self.fresh_count(owner.to, of, count, new) }
    }

    /// Writes a value over zeros.
    pub fn fresh(&mut self, to: To, of: &'static Type, new: &Value<'_>) -> Result<()> {
        if of.kind() == FieldType::Text {
            return self.fresh_text(to, new);
        }
        if of.fields().is_empty() {
            let bytes = self.leaf(of, &Value::Null, new)?;
            return self.put(to, &bytes);
        }
        let Value::Map(members) = new else { return Err(self.refuse("an object of its members fits")) };
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for (field, info) in of.fields().iter().enumerate() {
            if of.is_count(field) {
                // It follows from the lists.
                continue;
            }
            let value = members.iter().find(|(name, _)| name == info.name).map(|(_, value)| value);
            let value = value.ok_or_else(|| self.refuse(format_args!("its member {:?} is missing", info.name)))?;
            self.fresh_field(to, of, field, value, &mut counts)?;
        }
        Ok(())
    }

    /// Writes a field of a struct over zeros. `counts` has the numbers of written elements.
    pub fn fresh_field(
        &mut self,
        to: To,
        this: &'static Type,
        field: usize,
        value: &Value<'_>,
        counts: &mut Vec<(usize, usize)>,
    ) -> Result<()> {
        let info = this.field(field);
        let inner = info.of;
        let (count, items) = match (info.form, value) {
            (Form::Inline, value) => return self.fresh(to.skip(info.at), inner, value),
            (Form::One, value) => (None, std::slice::from_ref(value)),
            (Form::Array { count }, Value::List(items)) => (Some(count), &items[..]),
            (Form::Array { .. }, _) => return Err(self.refuse(format_args!("{}: a list fits", info.name))),
        };
        if let Some(count) = count {
            match counts.iter().find(|(other, _)| *other == count) {
                Some((_, len)) if *len != items.len() => {
                    let what = format!("{} has {} elements, and {len} are beside them", info.name, items.len());
                    return Err(self.refuse(what));
                }
                Some(_) => {}
                None => {
                    self.fresh_count(to, this, count, items.len())?;
                    counts.push((count, items.len()));
                }
            }
        }
        if items.is_empty() {
            return Ok(());
        }
        let array = self.room(inner, items.len())?;
        self.point(to, info.at, array)?;
        for (i, item) in items.iter().enumerate() {
            self.fresh(array.skip(i.saturating_mul(inner.size)), inner, item)?;
        }
        Ok(())
    }

    /// Writes how many elements an array of a struct has.
    pub fn fresh_count(&mut self, to: To, this: &'static Type, count: usize, len: usize) -> Result<()> {
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
