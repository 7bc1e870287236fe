//! Fields of structs: how they are read, walked, compared, and shown side by side.

use super::values::{NameLookup, ValueBuilder};
use super::walker::{HeldTexts, Leaf, ListInfo, PathId, Walker};
use crate::budget::{Budget, BudgetShare};
use crate::bytes::{View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Value};
use std::fmt;
use std::marker::PhantomData;

/// The type of a field, as the format documents write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    U8,
    U16,
    I16,
    U32,
    I32,
    U64,
    F32,
    F32x2,
    F32x3,
    F32x4,
    F32x16,
    Flag,
    /// The id of a text.
    Name,
    /// The id of a path.
    Path,
    /// A packed string.
    Text,
    /// A struct, or one of several that its value chooses.
    Struct(&'static str),
}

impl FieldType {
    /// Its name in the notation of the format documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F32x2 => "f32x2",
            Self::F32x3 => "f32x3",
            Self::F32x4 => "f32x4",
            Self::F32x16 => "f32x16",
            Self::Flag => "flag",
            Self::Name => "name",
            Self::Path => "path",
            Self::Text => "text",
            Self::Struct(name) => name,
        }
    }

    /// The number of its numbers, if it is a vector or a matrix.
    pub const fn floats(self) -> Option<u8> {
        match self {
            Self::F32x2 => Some(2),
            Self::F32x3 => Some(3),
            Self::F32x4 => Some(4),
            Self::F32x16 => Some(16),
            _ => None,
        }
    }
}

/// A type of fields in structs.
pub trait Field<'a>: Copy {
    /// The field's size in the file, in bytes.
    const SIZE: usize;
    /// The field's type, as the format documents write it.
    const TYPE: FieldType;
    /// How a table shows it.
    const SHOWN: FieldColumns;
    /// Whether it has no references and no pointers.
    const PLAIN: bool = false;
    /// Whether it has no parts with names of their own.
    const LEAF: bool = Self::PLAIN;
    /// Whether its bytes are its whole contents: it has no pointers.
    const FLAT: bool = Self::LEAF;
    /// Whether it, or the data that it points to, may refer to a resource, by id or by the text of its path.
    const REFERS: bool = false;
    /// The texts that it, or the data at its pointers, may hold.
    const TEXTS: HeldTexts = HeldTexts::NONE;

    /// Reads it at the position of `view`.
    ///
    /// # Errors
    /// When it does not fit.
    fn read(view: View<'a>) -> Result<Self>;

    /// Shows it to a walker.
    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>);

    /// Whether the values at both positions are equal. The positions may be in different files.
    ///
    /// # Errors
    /// When its contents cannot be read at one of them.
    #[inline]
    fn same(old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        let _ = share;
        Ok(old.take(Self::SIZE)? == new.take(Self::SIZE)?)
    }

    /// Shows its differences between two places.
    ///
    /// # Errors
    /// When it cannot be read at one of them.
    fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        if !differ.same::<Self>(old, new)? {
            differ.whole(Some(Self::read(old)?), Some(Self::read(new)?));
        }
        Ok(())
    }
}

/// How a table shows a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldColumns {
    /// One column of plain values.
    Plain(Kind),
    /// Two columns: the id and its text.
    Name,
    /// Two columns: the id and its path.
    Path,
}

/// An array outside of the record, read element by element.
pub struct List<'a, T> {
    view: View<'a>,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<'_, T> {}

impl<T> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} at {:?})", self.len, self.view)
    }
}

/// The elements of a [`List`], in order.
#[derive(Debug, Clone)]
pub struct ListIter<'a, T> {
    list: List<'a, T>,
    next: usize,
}

impl<'a, T: Field<'a>> Iterator for ListIter<'a, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let element = self.list.get(self.next)?;
        self.next = self.next.saturating_add(1);
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.list.len.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl<'a, T: Field<'a>> IntoIterator for List<'a, T> {
    type Item = Result<T>;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Field<'a>> IntoIterator for &List<'a, T> {
    type Item = Result<T>;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Field<'a>> List<'a, T> {
    /// The `count` elements at the target of the pointer at `at`, relative to `base`.
    ///
    /// # Errors
    /// When the pointer or the elements leave the file.
    pub fn follow(base: View<'a>, at: usize, count: usize) -> Result<Self> {
        Ok(Self { view: follow(base, at, count, T::SIZE)?, len: count, element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the elements.
    pub fn view(&self) -> View<'a> {
        self.view
    }

    /// The element at `index`; `None` past the end.
    pub fn get(&self, index: usize) -> Option<Result<T>> {
        let skip = index.checked_mul(T::SIZE)?;
        (index < self.len).then(|| T::read(self.view.skip(skip)))
    }

    /// The elements in order.
    pub fn iter(&self) -> ListIter<'a, T> {
        ListIter { list: *self, next: 0 }
    }

    /// Whether two lists have equal contents.
    pub(in crate::bwdb) fn same(self, other: Self, share: &mut BudgetShare<'_>) -> Result<bool> {
        let (old, new) = ((self.view, self.len), (other.view, other.len));
        same_arrays(T::SIZE, Traits::of::<T>(), old, new, share, T::same)
    }

    /// The list's place, and the number of its elements.
    pub(in crate::bwdb) fn span(&self) -> (View<'a>, usize) {
        (self.view, self.len)
    }

    fn info(&self) -> ListInfo<'a> {
        let (plain, refers, texts) = (T::PLAIN, T::REFERS, T::TEXTS);
        ListInfo { view: self.view, len: self.len, stride: T::SIZE, plain, refers, texts }
    }

    pub(in crate::bwdb) fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        let info = self.info();
        if walker.begin_list(name, &info) {
            for element in self.iter() {
                match element {
                    Ok(element) => element.walk("", walker),
                    Err(error) => walker.damage("", error),
                }
            }
            walker.end_list();
        }
    }
}

/// The position of the single element at the target of the pointer at `at`, relative to `base`.
pub(in crate::bwdb) fn follow_one(base: View<'_>, at: usize) -> Result<View<'_>> {
    base.follow_field(base.skip(at).read::<le::I64>()?.get(), at)
}

/// The place of the `count` elements of `size` bytes that the pointer at `at` leads to, relative to `base`. Without
/// elements the pointer is not looked at.
pub(in crate::bwdb) fn follow<'a>(base: View<'a>, at: usize, count: usize, size: usize) -> Result<View<'a>> {
    if count == 0 {
        return Ok(base);
    }
    let view = follow_one(base, at)?;
    match count.checked_mul(size) {
        Some(bytes) => view.take(bytes).map(|_| view),
        None => Err(view.error(ErrorKind::OutOfBounds { need: u64::MAX, have: view.rest().len() as u64 })),
    }
}

/// Whether two arrays, each a position and a number of elements, have equal contents.
pub(in crate::bwdb) fn same_arrays<'a>(
    size: usize,
    traits: Traits,
    old: (View<'a>, usize),
    new: (View<'a>, usize),
    share: &mut BudgetShare<'_>,
    mut same: impl FnMut(View<'a>, View<'a>, &mut BudgetShare<'_>) -> Result<bool>,
) -> Result<bool> {
    let ((old, len), (new, other)) = (old, new);
    if len != other {
        return Ok(false);
    }
    let bytes = len.saturating_mul(size);
    share.spend(old, bytes)?;
    // Elements with different bytes may still be equal, unless they are leaves.
    if traits.flat {
        let same = old.take(bytes)? == new.take(bytes)?;
        if same || traits.leaf {
            return Ok(same);
        }
    }
    for index in 0..len {
        let skip = index.saturating_mul(size);
        if !same(old.skip(skip), new.skip(skip), share)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Properties of all values of a type: see the constants of [`Field`].
#[derive(Debug, Clone, Copy)]
pub(in crate::bwdb) struct Traits {
    pub(in crate::bwdb) plain: bool,
    pub(in crate::bwdb) leaf: bool,
    pub(in crate::bwdb) flat: bool,
    pub(in crate::bwdb) refers: bool,
    pub(in crate::bwdb) texts: HeldTexts,
}

impl Traits {
    pub(in crate::bwdb) const fn of<'a, T: Field<'a>>() -> Self {
        Self { plain: T::PLAIN, leaf: T::LEAF, flat: T::FLAT, refers: T::REFERS, texts: T::TEXTS }
    }
}

/// The type of the elements of an array, for walks where speed does not matter: one that the compiler knows, or one that
/// a layouts file declares.
pub(in crate::bwdb) trait Element<'a> {
    fn size(&self) -> usize;
    fn traits(&self) -> Traits;
    fn walk(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>);
    fn walk_array(&self, view: View<'a>, len: usize, walker: &mut dyn Walker<'a>);
    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool>;
    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()>;
}

/// A type that the compiler knows, as an [`Element`].
pub(in crate::bwdb) struct Typed<T>(pub(in crate::bwdb) PhantomData<fn() -> T>);

impl<'a, T: Field<'a>> Element<'a> for Typed<T> {
    fn size(&self) -> usize {
        T::SIZE
    }

    fn traits(&self) -> Traits {
        Traits::of::<T>()
    }

    fn walk(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>) {
        match T::read(view) {
            Ok(value) => value.walk(name, walker),
            Err(error) => walker.damage(name, error),
        }
    }

    fn walk_array(&self, view: View<'a>, len: usize, walker: &mut dyn Walker<'a>) {
        List::<T> { view, len, element: PhantomData }.walk("", walker);
    }

    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        T::same(old, new, share)
    }

    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        T::differ(old, new, differ)
    }
}

/// Takes the name of each field that differs, and its value in both records: null in one that lacks it.
pub type Out<'a, 'o> = &'o mut dyn FnMut(&str, Value<'a>, Value<'a>);

/// A walk over two records that shows their differences.
pub struct Differ<'a, 'o> {
    pub(super) names: [&'a dyn NameLookup; 2],
    pub(super) out: Out<'a, 'o>,
    pub(super) path: String,
    /// Errors of parts that could not be read.
    pub(super) errors: Vec<Error>,
    pub(super) budget: &'o Budget,
}

impl fmt::Debug for Differ<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Differ").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The text of a name or a path, or its id.
pub(super) fn said<'a>(leaf: Leaf<'a>, names: &dyn NameLookup, errors: &mut Vec<Error>) -> Value<'a> {
    let (text, id) = match leaf {
        Leaf::Value(value) => return value,
        Leaf::Path(PathId(0)) => return Value::Null,
        Leaf::Name(id) => (names.name(id), Value::Id32(id.0)),
        Leaf::Path(id) => (names.path(id), Value::Id64(id.0)),
    };
    match text {
        Ok(text) => text.map_or(id, |text| Value::owned(text.into_owned())),
        Err(error) => {
            errors.push(error);
            id
        }
    }
}

/// `value` with the text of each reference in place of it and its id.
pub(super) fn plainly(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Map(mut parts) => match &mut *parts {
            [(id, id_value), (what, text)] if id == "id" && matches!(&**what, "text" | "path") => {
                std::mem::take(if text.is_null() { id_value } else { text })
            }
            _ => Value::Map(parts.into_iter().map(|(name, value)| (name, plainly(value))).collect()),
        },
        Value::List(values) => Value::List(values.into_iter().map(plainly).collect()),
        leaf => leaf,
    }
}

impl<'a> Differ<'a, '_> {
    /// Goes into the field `name`.
    pub(in crate::bwdb) fn within(&mut self, name: &str, go: impl FnOnce(&mut Self) -> Result<()>) {
        let len = self.path.len();
        if !self.path.is_empty() && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(name);
        if let Err(error) = go(self) {
            self.errors.push(error.context(&self.path));
        }
        self.path.truncate(len);
    }

    /// The current field, if it has no parts.
    pub(in crate::bwdb) fn leaf(&mut self, old: Leaf<'a>, new: Leaf<'a>) {
        let [of_old, of_new] = self.names;
        let ids = match (&old, &new) {
            (Leaf::Name(a), Leaf::Name(b)) => Some((Value::Id32(a.0), Value::Id32(b.0))),
            (Leaf::Path(a), Leaf::Path(b)) => Some((Value::Id64(a.0), Value::Id64(b.0))),
            _ => None,
        };
        let mut values = (said(old, of_old, &mut self.errors), said(new, of_new, &mut self.errors));
        if let Some(ids) = ids
            && values.0 == values.1
        {
            // Two ids of one text.
            values = ids;
        }
        (self.out)(&self.path, values.0, values.1);
    }

    /// The current field as a whole.
    pub(in crate::bwdb) fn whole<T: Field<'a>>(&mut self, old: Option<T>, new: Option<T>) {
        self.out_of(
            |walker| old.into_iter().for_each(|old| old.walk("", walker)),
            |walker| new.into_iter().for_each(|new| new.walk("", walker)),
        );
    }

    /// Whether the walk need not go into a part.
    pub(in crate::bwdb) fn same<T: Field<'a>>(&mut self, old: View<'a>, new: View<'a>) -> Result<bool> {
        T::same(old, new, &mut BudgetShare::new(self.budget))
    }

    /// Marks the value at `view` as shown completely.
    pub(in crate::bwdb) fn afford<T: Field<'a>>(&mut self, view: View<'a>) -> Result<()> {
        // To compare it with itself costs its length.
        self.same::<T>(view, view).map(drop)
    }

    /// The number of plain values above which a list shows its elements one by one.
    const SHORT: usize = 16;

    /// The array that the walk is in.
    pub(in crate::bwdb) fn lists<T: Field<'a>>(&mut self, old: List<'a, T>, new: List<'a, T>) -> Result<()> {
        self.arrays(&Typed::<T>(PhantomData), old.span(), new.span())
    }

    /// The array that the walk is in, each a place and a number of elements.
    pub(in crate::bwdb) fn arrays(
        &mut self,
        of: &dyn Element<'a>,
        old: (View<'a>, usize),
        new: (View<'a>, usize),
    ) -> Result<()> {
        let traits = of.traits();
        if traits.leaf && (old.1 != new.1 || old.1 <= Self::SHORT) {
            let mut share = BudgetShare::new(self.budget);
            if !same_arrays(of.size(), traits, old, new, &mut share, |a, b, left| of.same(a, b, left))? {
                drop(share);
                self.out_of(|walker| of.walk_array(old.0, old.1, walker), |walker| of.walk_array(new.0, new.1, walker));
            }
            return Ok(());
        }
        for index in 0..old.1.max(new.1) {
            let skip = index.saturating_mul(of.size());
            let [a, b] = [old, new].map(|(view, len)| (index < len).then(|| view.skip(skip)));
            if let (Some(a), Some(b)) = (a, b)
                && of.same(a, b, &mut BudgetShare::new(self.budget))?
            {
                continue;
            }
            self.within(&format!("[{index}]"), |differ| {
                if let (Some(a), Some(b)) = (a, b) {
                    return of.differ(a, b, differ);
                }
                for view in [a, b].into_iter().flatten() {
                    // To compare it with itself costs its length.
                    of.same(view, view, &mut BudgetShare::new(differ.budget))?;
                }
                differ.out_of(
                    |walker| a.into_iter().for_each(|view| of.walk(view, "", walker)),
                    |walker| b.into_iter().for_each(|view| of.walk(view, "", walker)),
                );
                Ok(())
            });
        }
        Ok(())
    }

    /// Tells the field that the walk is in, with the values that a walker of each side is shown; null without any.
    fn out_of(&mut self, old: impl FnOnce(&mut dyn Walker<'a>), new: impl FnOnce(&mut dyn Walker<'a>)) {
        let [of_old, of_new] = self.names;
        let (old, new) = (self.shown(of_old, old), self.shown(of_new, new));
        (self.out)(&self.path, old, new);
    }

    fn shown(&mut self, names: &'a dyn NameLookup, walk: impl FnOnce(&mut dyn Walker<'a>)) -> Value<'a> {
        let mut shown = ValueBuilder::new(names, self.budget);
        walk(&mut shown);
        let (fields, errors) = shown.into_fields();
        self.errors.extend(errors);
        fields.into_iter().next().map_or(Value::Null, |(_, value)| plainly(value))
    }
}
