//! Arrays that get another number of elements, and elements that are new, with all that they point to.

use super::super::declared::Type;
use super::super::record::{Form, follow};
use super::value::leaf_bytes;
use super::writer::{Place, Struct, To, Writer};
use crate::error::Result;
use crate::table::Value;

impl<'a> Writer<'_, 'a> {
    /// Makes the array that the pointer `at` bytes behind the start of `owner` leads to one of these elements: those that it
    /// had first, as far as they did not change, and new ones behind them.
    pub fn lay_anew(
        &mut self,
        (owner, at): (Place<'a>, usize),
        element: &'static Type,
        before: &[Value<'_>],
        after: &[Value<'_>],
    ) -> Result<()> {
        let kept = before.len().min(after.len());
        let view = follow(owner.view, at, kept, element.size)?;
        let to = self.copied(view, element, kept, after.len())?;
        self.point(owner.to, at, to)?;
        let old = before.iter().map(Some).chain(std::iter::repeat(None));
        for (i, (new, old)) in after.iter().zip(old).enumerate() {
            let skip = i.saturating_mul(element.size);
            match old {
                Some(old) => self.set_value(Place { view: view.skip(skip), to: to.skip(skip) }, element, old, new)?,
                None => self.fresh(to.skip(skip), element, new)?,
            }
        }
        Ok(())
    }

    /// Writes a value where there are zeros so far.
    fn fresh(&mut self, to: To, of: &'static Type, new: &Value<'_>) -> Result<()> {
        if of.name == "text" {
            return self.fresh_text(to, new);
        }
        if of.fields.is_empty() {
            let bytes = self.leaf(of, &Value::Null, new)?;
            return self.put(to, &bytes);
        }
        let Value::Map(members) = new else { return Err(self.refuse("an object of its members fits")) };
        let this = Struct::of(of);
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (field, info) in of.fields.iter().enumerate() {
            if this.is_count(info.name) {
                // It follows from the lists.
                continue;
            }
            let value = members.iter().find(|(name, _)| name == info.name).map(|(_, value)| value);
            let value = value.ok_or_else(|| self.refuse(format_args!("its member {:?} is missing", info.name)))?;
            let inner = this.type_of(field);
            let inner = inner.ok_or_else(|| self.refuse("values of this type are not written"))?;
            let (count, items) = match (info.form, value) {
                (Form::Inline, value) => {
                    self.fresh(to.skip(info.at), inner, value)?;
                    continue;
                }
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
                        self.fresh_count((to, this), count, items.len())?;
                        counts.push((count, items.len()));
                    }
                }
            }
            if items.is_empty() {
                continue;
            }
            let array = self.room(inner, items.len())?;
            self.point(to, info.at, array)?;
            for (i, item) in items.iter().enumerate() {
                self.fresh(array.skip(i.saturating_mul(inner.size)), inner, item)?;
            }
        }
        Ok(())
    }

    /// Writes how many elements an array of a struct has.
    fn fresh_count(&mut self, (to, this): (To, Struct), count: &str, len: usize) -> Result<()> {
        let field = this.field(count).and_then(|field| this.fields.get(field));
        let field = field.ok_or_else(|| self.refuse("the number of its elements is not known"))?;
        let bytes = leaf_bytes(field.of, &Value::Null, &len.into());
        let bytes = bytes.map_err(|fits| self.refuse(format_args!("{len} elements: {fits} fits")))?;
        self.put(to.skip(field.at), &bytes)
    }
}
