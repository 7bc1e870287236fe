//! The machinery of prototype views: a declaration of a struct's fields gives typed getters, a walk over all of
//! them, and the columns of its table.

mod declare;
pub mod differ;

pub use declare::{FieldInfo, Form, Prototype};
pub(super) use declare::{prototype, tile};

use crate::bytes::View;
use crate::bytes::le;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Kind, Value};
use differ::{BudgetShare, Differ};
use std::fmt;
use std::marker::PhantomData;

/// The MurmurHash3 of a name; the text is in the database's string pool, if anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct NameId(pub u32);

/// The CityHash64 of a path: a reference to another resource. 0 refers to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PathId(pub u64);

/// A byte that is a truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag(pub bool);

/// A leaf that a walk meets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Leaf<'a> {
    /// A plain value.
    Value(Value<'a>),
    /// A reference to a name.
    Name(NameId),
    /// A reference to a path.
    Path(PathId),
}

/// Visits the fields of a struct, with their nesting. Damage is reported in place, and the walk continues.
pub trait Walker<'a> {
    /// A field without parts.
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>);

    /// A struct begins; its fields follow.
    fn begin(&mut self, name: &'static str);

    /// The struct that began last ends.
    fn end(&mut self);

    /// An array begins. With `true` its elements follow and then [`Walker::end_list`]; with `false` neither.
    fn begin_list(&mut self, name: &'static str, list: &ListInfo<'a>) -> bool;

    /// The array that began last ends.
    fn end_list(&mut self);

    /// A field that cannot be read.
    fn damage(&mut self, name: &'static str, error: Error);

    /// Whether fields without texts, and without ids of texts ([`Field::TEXTS`]), are skipped, with their targets.
    fn texts_only(&self) -> bool {
        false
    }
}

/// An array, announced to a walker before its elements.
#[derive(Debug, Clone, Copy)]
pub struct ListInfo<'a> {
    /// The place of the elements.
    pub view: View<'a>,
    /// The number of elements.
    pub len: usize,
    /// Bytes of an element.
    pub stride: usize,
    /// Whether its elements are plain values without references.
    pub plain: bool,
    /// Whether its elements may refer to resources.
    pub refers: bool,
    /// The texts that its elements may hold.
    pub texts: HeldTexts,
}

impl ListInfo<'_> {
    /// Bytes of all elements.
    pub fn bytes(&self) -> usize {
        self.len.saturating_mul(self.stride)
    }
}

/// The texts that a value, or the data at its pointers, may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldTexts {
    /// Texts in the value's own database.
    pub own: bool,
    /// Ids of texts.
    pub by_id: bool,
}

impl HeldTexts {
    pub(super) const NONE: Self = Self { own: false, by_id: false };
    pub(super) const OWN: Self = Self { own: true, by_id: false };
    pub(super) const BY_ID: Self = Self { own: false, by_id: true };

    /// The texts of two values together.
    pub(super) const fn or(self, other: Self) -> Self {
        Self { own: self.own || other.own, by_id: self.by_id || other.by_id }
    }

    /// Whether there are any.
    pub(super) const fn any(self) -> bool {
        self.own || self.by_id
    }
}

/// A type of fields in structs.
pub trait Field<'a>: Copy {
    /// Its size in the file, in bytes.
    const SIZE: usize;
    /// Its name in the notation of the format documents.
    const NOTATION: &'static str;
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

macro_rules! plain_fields {
    ($($notation:literal $type:ty, $raw:ty, $kind:ident, |$value:ident| $make:expr, $to:expr;)+) => {$(
        impl<'a> Field<'a> for $type {
            const SIZE: usize = size_of::<$raw>();
            const NOTATION: &'static str = $notation;
            const SHOWN: FieldColumns = FieldColumns::Plain(Kind::$kind);
            const PLAIN: bool = true;

            #[inline]
            fn read(view: View<'a>) -> Result<Self> {
                let $value = view.read::<$raw>()?;
                Ok($make)
            }

            #[inline]
            fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
                let to: fn(Self) -> Value<'a> = $to;
                walker.leaf(name, Leaf::Value(to(self)));
            }
        }
    )+};
}
plain_fields! {
    "u8" u8, u8, Uint, |v| *v, Value::from;
    "u16" u16, le::U16, Uint, |v| v.get(), Value::from;
    "i16" i16, le::I16, Int, |v| v.get(), Value::from;
    "u32" u32, le::U32, Uint, |v| v.get(), Value::from;
    "i32" i32, le::I32, Int, |v| v.get(), Value::from;
    "u64" u64, le::U64, Uint, |v| v.get(), Value::from;
    "f32" f32, le::F32, F32, |v| v.get(), Value::from;
    "f32x2" [f32; 2], [le::F32; 2], Nested, |v| v.map(|x| x.get()), Value::floats;
    "f32x3" [f32; 3], [le::F32; 3], Nested, |v| v.map(|x| x.get()), Value::floats;
    "f32x4" [f32; 4], [le::F32; 4], Nested, |v| v.map(|x| x.get()), Value::floats;
    "f32x16" [f32; 16], [le::F32; 16], Nested, |v| v.map(|x| x.get()), Value::floats;
}

impl<'a> Field<'a> for Flag {
    const SIZE: usize = 1;
    const NOTATION: &'static str = "flag";
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Bool);
    const PLAIN: bool = true;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(*view.read::<u8>()? != 0))
    }

    #[inline]
    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value(Value::Bool(self.0)));
    }

    #[inline]
    fn same(old: View<'a>, new: View<'a>, _: &mut BudgetShare<'_>) -> Result<bool> {
        Ok(Self::read(old)? == Self::read(new)?)
    }
}

impl<'a> Field<'a> for NameId {
    const SIZE: usize = 4;
    const NOTATION: &'static str = "name";
    const SHOWN: FieldColumns = FieldColumns::Name;
    const LEAF: bool = true;
    const TEXTS: HeldTexts = HeldTexts::BY_ID;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(view.read::<le::U32>()?.get()))
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Name(self));
    }

    fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        let (old, new) = (Self::read(old)?, Self::read(new)?);
        if old != new {
            differ.leaf(Leaf::Name(old), Leaf::Name(new));
        }
        Ok(())
    }
}

impl<'a> Field<'a> for PathId {
    const SIZE: usize = 8;
    const NOTATION: &'static str = "path";
    const SHOWN: FieldColumns = FieldColumns::Path;
    const LEAF: bool = true;
    const REFERS: bool = true;
    const TEXTS: HeldTexts = HeldTexts::BY_ID;

    #[inline]
    fn read(view: View<'a>) -> Result<Self> {
        Ok(Self(view.read::<le::U64>()?.get()))
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Path(self));
    }

    fn differ(old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        let (old, new) = (Self::read(old)?, Self::read(new)?);
        if old != new {
            differ.leaf(Leaf::Path(old), Leaf::Path(new));
        }
        Ok(())
    }
}

/// A packed string (0x10 bytes) in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a>(pub &'a str);

impl<'a> Field<'a> for Text<'a> {
    const SIZE: usize = 0x10;
    const NOTATION: &'static str = "text";
    const SHOWN: FieldColumns = FieldColumns::Plain(Kind::Text);
    const LEAF: bool = true;
    const FLAT: bool = false;
    const REFERS: bool = true;
    const TEXTS: HeldTexts = HeldTexts::OWN;

    fn read(view: View<'a>) -> Result<Self> {
        view.packed_str().map(Self)
    }

    fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
        walker.leaf(name, Leaf::Value(Value::text(self.0)));
    }

    fn same(old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        let at = old;
        let (old, new) = (old.packed_bytes()?, new.packed_bytes()?);
        let same = old.len() == new.len();
        if same {
            share.spend(at, old.len())?;
        }
        Ok(same && old == new)
    }
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
    pub fn iter(&self) -> impl Iterator<Item = Result<T>> + use<'a, T> {
        let this = *self;
        (0..self.len).map_while(move |i| this.get(i))
    }

    /// Whether two lists have equal contents.
    pub(super) fn same(self, other: Self, share: &mut BudgetShare<'_>) -> Result<bool> {
        let (old, new) = ((self.view, self.len), (other.view, other.len));
        same_arrays(T::SIZE, Traits::of::<T>(), old, new, share, T::same)
    }

    /// Its place, and the number of its elements.
    pub(super) fn span(&self) -> (View<'a>, usize) {
        (self.view, self.len)
    }

    fn info(&self) -> ListInfo<'a> {
        let (plain, refers, texts) = (T::PLAIN, T::REFERS, T::TEXTS);
        ListInfo { view: self.view, len: self.len, stride: T::SIZE, plain, refers, texts }
    }

    pub(super) fn walk(self, name: &'static str, walker: &mut dyn Walker<'a>) {
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
pub(super) fn follow_one(base: View<'_>, at: usize) -> Result<View<'_>> {
    base.follow_field(base.skip(at).read::<le::I64>()?.get(), at)
}

/// The place of the `count` elements of `size` bytes that the pointer at `at` leads to, relative to `base`. Without
/// elements the pointer is not looked at.
pub(super) fn follow<'a>(base: View<'a>, at: usize, count: usize, size: usize) -> Result<View<'a>> {
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
pub(super) fn same_arrays<'a>(
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
pub(super) struct Traits {
    pub(super) plain: bool,
    pub(super) leaf: bool,
    pub(super) flat: bool,
    pub(super) refers: bool,
    pub(super) texts: HeldTexts,
}

impl Traits {
    pub(super) const fn of<'a, T: Field<'a>>() -> Self {
        Self { plain: T::PLAIN, leaf: T::LEAF, flat: T::FLAT, refers: T::REFERS, texts: T::TEXTS }
    }
}

/// The type of the elements of an array, for walks where speed does not matter: one that the compiler knows, or one that
/// a layouts file declares.
pub(super) trait Element<'a> {
    fn size(&self) -> usize;
    fn traits(&self) -> Traits;
    fn walk(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>);
    fn walk_array(&self, array: (View<'a>, usize), walker: &mut dyn Walker<'a>);
    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool>;
    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()>;
}

/// A type that the compiler knows, as an [`Element`].
pub(super) struct Typed<T>(pub(super) PhantomData<fn() -> T>);

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

    fn walk_array(&self, (view, len): (View<'a>, usize), walker: &mut dyn Walker<'a>) {
        List::<T> { view, len, element: PhantomData }.walk("", walker);
    }

    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        T::same(old, new, share)
    }

    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        T::differ(old, new, differ)
    }
}

/// A field that announces the number of elements.
pub(super) trait Count {
    fn count(self, view: View<'_>) -> Result<usize>;
}
impl Count for u8 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self.into())
    }
}
impl Count for u16 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self.into())
    }
}
impl Count for u32 {
    fn count(self, _: View<'_>) -> Result<usize> {
        Ok(self as usize)
    }
}
impl Count for i32 {
    fn count(self, view: View<'_>) -> Result<usize> {
        usize::try_from(self).map_err(|_| view.bad_value("count", self))
    }
}
