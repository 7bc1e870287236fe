//! Types whose fields are data: the types of a layouts file, and the form of the built-in ones.

use super::record::{
    self, Count as _, Differ, Field as _, FieldColumns, FieldInfo, FieldType, ListInfo, Traits, Walker,
};
use crate::budget::BudgetShare;
use crate::bytes::View;
use crate::error::Result;
use crate::table::Kind;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A type of fields, of the elements of arrays, or of whole records. It lives as long as the process, like the built-in
/// ones, so that records, columns and errors borrow its names from it.
pub struct Type {
    pub(super) name: &'static str,
    pub(super) kind: FieldType,
    pub(super) size: usize,
    pub(super) shown: FieldColumns,
    pub(super) traits: Traits,
    /// The table with a row for each, if arrays of it have one.
    pub(super) table: Option<&'static str>,
    pub(super) fields: &'static [FieldInfo],
    pub(super) body: Body,
}

/// How a type is read.
pub(super) enum Body {
    /// A built-in type, read by its declaration in this crate.
    BuiltIn {
        walk: for<'a> fn(View<'a>, &'static str, &mut dyn Walker<'a>),
        walk_field: for<'a> fn(View<'a>, usize, &mut dyn Walker<'a>),
        same: for<'a> fn(View<'a>, View<'a>, &mut BudgetShare<'_>) -> Result<bool>,
        differ: for<'a, 'd, 'o> fn(View<'a>, View<'a>, &'d mut Differ<'a, 'o>) -> Result<()>,
    },
    /// Field by field: one for each of the type's `fields`.
    Members(Vec<Member>),
}

/// A field of a type that a layouts file declares.
pub(super) enum Member {
    /// A value in place.
    Inline(&'static Type),
    /// An array outside of the struct; another field contains its number of elements.
    Array { of: &'static Type, count: CountField },
}

/// A field with the number of elements of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountField {
    pub(super) at: usize,
    pub(super) read: for<'a> fn(View<'a>) -> Result<usize>,
}

impl CountField {
    /// The field at `at`; `None` unless its type is a count.
    pub(super) fn of(at: usize, of: FieldType) -> Option<Self> {
        let read: for<'a> fn(View<'a>) -> Result<usize> = match of {
            FieldType::U8 => |view| u8::read(view)?.count(view),
            FieldType::U16 => |view| u16::read(view)?.count(view),
            FieldType::U32 => |view| u32::read(view)?.count(view),
            FieldType::I32 => |view| i32::read(view)?.count(view),
            _ => return None,
        };
        Some(Self { at, read })
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Type {}

impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:X}", self.name, self.size)
    }
}

impl Type {
    /// Shows a value to a walker.
    pub(super) fn walk<'a>(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>) {
        match &self.body {
            Body::BuiltIn { walk, .. } => walk(view, name, walker),
            Body::Members(_) => {
                walker.begin(name);
                self.walk_fields(view, walker);
                walker.end();
            }
        }
    }

    /// Shows all fields to a walker.
    pub(super) fn walk_fields<'a>(&self, view: View<'a>, walker: &mut dyn Walker<'a>) {
        (0..self.fields.len()).for_each(|field| self.walk_field(view, field, walker));
    }

    /// Shows one field to a walker.
    pub(super) fn walk_field<'a>(&self, view: View<'a>, field: usize, walker: &mut dyn Walker<'a>) {
        let members = match &self.body {
            Body::BuiltIn { walk_field, .. } => return walk_field(view, field, walker),
            Body::Members(members) => members,
        };
        let (Some(member), Some(info)) = (members.get(field), self.fields.get(field)) else { return };
        match member {
            Member::Inline(of) => of.walk(view.skip(info.at), info.name, walker),
            Member::Array { of, .. } => match self.array(view, field) {
                Ok((view, len)) => of.walk_array(view, len, info.name, walker),
                Err(error) => walker.damage(info.name, error),
            },
        }
    }

    /// The type of the elements of a field that is an array of a declared type.
    pub(super) fn element(&self, field: usize) -> Option<&'static Type> {
        match &self.body {
            Body::Members(members) => match members.get(field)? {
                Member::Array { of, .. } => Some(of),
                Member::Inline(_) => None,
            },
            Body::BuiltIn { .. } => None,
        }
    }

    /// The place of an array's elements, and their number; none for a field that is no array of a declared type.
    pub(super) fn array<'a>(&self, view: View<'a>, field: usize) -> Result<(View<'a>, usize)> {
        match (&self.body, self.fields.get(field)) {
            (Body::Members(members), Some(info)) => match members.get(field) {
                Some(Member::Array { of, count }) => {
                    let len = (count.read)(view.skip(count.at))?;
                    Ok((record::follow(view, info.at, len, of.size)?, len))
                }
                _ => Ok((view, 0)),
            },
            _ => Ok((view, 0)),
        }
    }

    fn walk_array<'a>(&self, view: View<'a>, len: usize, name: &'static str, walker: &mut dyn Walker<'a>) {
        let Traits { plain, refers, texts, .. } = self.traits;
        if walker.begin_list(name, &ListInfo { view, len, stride: self.size, plain, refers, texts }) {
            (0..len).for_each(|i| self.walk(view.skip(i.saturating_mul(self.size)), "", walker));
            walker.end_list();
        }
    }

    /// Whether two values have equal contents.
    pub(super) fn same<'a>(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        let members = match &self.body {
            Body::BuiltIn { same, .. } => return same(old, new, share),
            Body::Members(members) => members,
        };
        for (field, (member, info)) in members.iter().zip(self.fields).enumerate() {
            let same = match member {
                Member::Inline(of) => of.same(old.skip(info.at), new.skip(info.at), share)?,
                Member::Array { of, .. } => {
                    let (old, new) = (self.array(old, field)?, self.array(new, field)?);
                    record::same_arrays(of.size, of.traits, old, new, share, |a, b, share| of.same(a, b, share))?
                }
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Shows the differences of two values.
    pub(super) fn differ<'a>(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        let members = match &self.body {
            Body::BuiltIn { differ: show, .. } => return show(old, new, differ),
            Body::Members(members) => members,
        };
        for (field, (member, info)) in members.iter().zip(self.fields).enumerate() {
            differ.within(info.name, |differ| match member {
                Member::Inline(of) => of.differ(old.skip(info.at), new.skip(info.at), differ),
                Member::Array { of, .. } => differ.arrays(of, self.array(old, field)?, self.array(new, field)?),
            });
        }
        Ok(())
    }
}

impl<'a> record::Element<'a> for &'static Type {
    fn size(&self) -> usize {
        self.size
    }

    fn traits(&self) -> Traits {
        self.traits
    }

    fn walk(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>) {
        Type::walk(self, view, name, walker);
    }

    fn walk_array(&self, view: View<'a>, len: usize, walker: &mut dyn Walker<'a>) {
        Type::walk_array(self, view, len, "", walker);
    }

    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        Type::same(self, old, new, share)
    }

    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        Type::differ(self, old, new, differ)
    }
}

/// How a table shows a struct.
pub(super) const NESTED: FieldColumns = FieldColumns::Plain(Kind::Nested);
