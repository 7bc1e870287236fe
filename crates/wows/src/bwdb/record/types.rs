//! Types of fields and records as data: how they are read, walked, compared and shown.

use super::differ::Differ;
use super::leaves::text_bytes;
use super::list::{follow, follow_one};
use super::union::{Slot, UnionKind};
use super::walker::{HeldTexts, Leaf, Walker, Wanted};
use crate::budget::BudgetShare;
use crate::bytes::{View, le};
use crate::error::Result;
use crate::table::Kind;
use std::fmt;

/// The kind of a type's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeKind {
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
    /// A reference to a resource by a text.
    Resource,
    /// A struct, or one of several that its value chooses, or a value without a known layout.
    Parts,
}

impl TypeKind {
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

    /// The least and the greatest of its numbers, if they are whole.
    pub(in crate::bwdb) fn integers(self) -> Option<(i128, i128)> {
        match self {
            Self::U8 => Some((0, u8::MAX.into())),
            Self::U16 => Some((0, u16::MAX.into())),
            Self::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            Self::U32 => Some((0, u32::MAX.into())),
            Self::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            Self::U64 => Some((0, u64::MAX.into())),
            _ => None,
        }
    }
}

/// Reads a value without parts.
type ReadLeaf = for<'a> fn(View<'a>) -> Result<Leaf<'a>>;

/// A type of fields, of the elements of arrays, or of whole records: built in, or declared by a layouts file. It lives as long
/// as the process, so that records, columns and errors borrow its names from it.
#[derive(Clone, Copy)]
pub struct Type {
    /// Its name in the notation of the format documents.
    pub name: &'static str,
    /// Its size in the file, in bytes.
    pub size: usize,
    /// The table with a row for each record of the type, or for each element of arrays of it, if any.
    pub table: Option<&'static str>,
    /// Whether a layouts file declares it.
    pub(in crate::bwdb) is_declared: bool,
    pub(in crate::bwdb) traits: Traits,
    body: Body,
}

/// How a type is read.
#[derive(Clone, Copy)]
enum Body {
    /// A value without parts.
    Leaf { kind: TypeKind, shown: Kind, read: ReadLeaf },
    /// A struct.
    Fields(&'static [FieldInfo]),
    /// A kind, and a pointer to the value of this kind.
    Kinds(&'static [UnionKind]),
}

/// Properties of all values of a type.
#[derive(Debug, Clone, Copy)]
pub(in crate::bwdb) struct Traits {
    /// Whether it has no references and no pointers.
    pub(in crate::bwdb) plain: bool,
    /// Whether it has no parts with names of their own.
    pub(in crate::bwdb) leaf: bool,
    /// Whether its bytes are its whole contents: it has no pointers.
    pub(in crate::bwdb) flat: bool,
    /// Whether it, or the data that it points to, may refer to a resource, by id or by the text of its path.
    pub(in crate::bwdb) refers: bool,
    /// The texts that it, or the data at its pointers, may hold.
    pub(in crate::bwdb) texts: HeldTexts,
}

impl Traits {
    /// Adds the properties of a part.
    const fn with(self, part: Self, is_inline: bool) -> Self {
        Self {
            flat: self.flat && is_inline && part.flat,
            refers: self.refers || part.refers,
            texts: self.texts.or(part.texts),
            ..self
        }
    }

    const PARTS: Self = Self { plain: false, leaf: false, flat: true, refers: false, texts: HeldTexts::NONE };
}

/// How a field holds values of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One value, in place.
    Inline,
    /// A pointer to as many values as another field states.
    Array {
        /// The number of this field.
        count: usize,
    },
    /// A pointer to one value.
    One,
}

/// A declared field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldInfo {
    /// The field's name.
    pub name: &'static str,
    /// The field's place in the struct.
    pub at: usize,
    /// Its type, or its elements' type.
    pub of: &'static Type,
    /// Whether it is a pointer to them.
    pub form: Form,
    /// The table or the column that shows it, where the table of its struct has no column for it.
    pub told_in: Option<&'static str>,
}

impl FieldInfo {
    /// A field of a built-in struct. The table of its elements shows an array, unless `told_in` names another one.
    pub(in crate::bwdb) const fn new(
        name: &'static str,
        at: usize,
        of: &'static Type,
        form: Form,
        told_in: Option<&'static str>,
    ) -> Self {
        let told_in = match (told_in, form) {
            (None, Form::Array { .. }) => of.table,
            _ => told_in,
        };
        Self { name, at, of, form, told_in }
    }

    /// Whether it is a value in place.
    pub const fn is_inline(&self) -> bool {
        matches!(self.form, Form::Inline)
    }

    /// Its bytes in the struct.
    pub const fn size(&self) -> usize {
        if self.is_inline() { self.of.size } else { 8 }
    }

    /// Whether its bytes are its whole contents: it has no pointers.
    pub(in crate::bwdb) const fn is_flat(&self) -> bool {
        self.is_inline() && self.of.traits.flat
    }

    fn is_wanted(&self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::All => true,
            Wanted::Texts => self.of.traits.texts.any(),
            Wanted::Pointers => !self.is_flat(),
        }
    }

    /// The kind of its cells.
    pub(in crate::bwdb) fn shown(&self) -> Kind {
        self.of.shown().filter(|_| self.is_inline()).unwrap_or(Kind::Nested)
    }

    /// Its value in a struct, if it has no parts.
    #[inline]
    pub(in crate::bwdb) fn leaf<'a>(&self, of: View<'a>) -> Option<Result<Leaf<'a>>> {
        if self.is_inline() { self.of.read_leaf(of.skip(self.at)) } else { None }
    }
}

impl PartialEq for Type {
    /// The compiler may place a built-in type several times.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.name, self.size, self.table, self.is_declared, self.fields())
                == (other.name, other.size, other.table, other.is_declared, other.fields())
    }
}

impl Eq for Type {}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:X}", self.name, self.size)
    }
}

/// The type as a layouts file declares it: its name and size, and a line for each field with its offset and type.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{self:?}")?;
        for FieldInfo { name: field, at, of, form, .. } in self.fields() {
            let of = of.name;
            match form {
                Form::Inline => writeln!(f, "{at:02X} {of} {field}")?,
                Form::Array { count } => writeln!(f, "{at:02X} [{of}; {}] {field}", self.field(*count).name)?,
                Form::One => writeln!(f, "{at:02X} [{of}] {field}")?,
            }
        }
        Ok(())
    }
}

impl Type {
    /// A type of values without parts.
    pub(in crate::bwdb) const fn leaf(
        name: &'static str,
        size: usize,
        kind: TypeKind,
        shown: Kind,
        read: ReadLeaf,
    ) -> Self {
        let texts = match kind {
            TypeKind::Name | TypeKind::Path => HeldTexts::BY_ID,
            TypeKind::Text | TypeKind::Resource => HeldTexts::OWN,
            _ => HeldTexts::NONE,
        };
        let leaf = !matches!(kind, TypeKind::Parts);
        let flat = leaf && !texts.own;
        let refers = texts.own || matches!(kind, TypeKind::Path);
        let traits = Traits { plain: flat && !texts.by_id, leaf, flat, refers, texts };
        Self { name, size, table: None, is_declared: false, traits, body: Body::Leaf { kind, shown, read } }
    }

    /// A struct with these fields.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the index is below the length")]
    pub(in crate::bwdb) const fn of_fields(
        name: &'static str,
        size: usize,
        table: Option<&'static str>,
        fields: &'static [FieldInfo],
    ) -> Self {
        let (mut traits, mut i) = (Traits::PARTS, 0);
        while i < fields.len() {
            traits = traits.with(fields[i].of.traits, fields[i].is_inline());
            i += 1;
        }
        Self { name, size, table, is_declared: false, traits, body: Body::Fields(fields) }
    }

    /// The slot of a union of these kinds.
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the index is below the length")]
    pub(in crate::bwdb) const fn of_kinds(name: &'static str, kinds: &'static [UnionKind]) -> Self {
        let (mut traits, mut i) = (Traits::PARTS, 0);
        while i < kinds.len() {
            traits = traits.with(kinds[i].of.traits, false);
            i += 1;
        }
        Self { name, size: Slot::SIZE, table: None, is_declared: false, traits, body: Body::Kinds(kinds) }
    }

    /// The type, as a layouts file declares it.
    pub(in crate::bwdb) const fn declared(self) -> Self {
        Self { is_declared: true, ..self }
    }

    /// The kind of its values.
    pub const fn kind(&self) -> TypeKind {
        match self.body {
            Body::Leaf { kind, .. } => kind,
            _ => TypeKind::Parts,
        }
    }

    /// The kind of cells with its values, if these have no parts.
    pub(in crate::bwdb) const fn shown(&self) -> Option<Kind> {
        match self.body {
            Body::Leaf { shown, .. } => Some(shown),
            _ => None,
        }
    }

    /// Reads a value, if it has no parts.
    #[inline]
    pub(in crate::bwdb) fn read_leaf<'a>(&self, view: View<'a>) -> Option<Result<Leaf<'a>>> {
        match self.body {
            Body::Leaf { read, .. } => Some(read(view)),
            _ => None,
        }
    }

    /// Its declared fields, if it is a struct.
    pub const fn fields(&self) -> &'static [FieldInfo] {
        match self.body {
            Body::Fields(fields) => fields,
            _ => &[],
        }
    }

    pub(in crate::bwdb) fn field(&self, number: usize) -> &'static FieldInfo {
        self.fields().get(number).expect("the numbers of fields are the type's own")
    }

    pub(in crate::bwdb) fn field_named(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// The arrays whose number of elements the field with a number states.
    pub(in crate::bwdb) fn counted_by(&self, count: usize) -> impl Iterator<Item = &'static FieldInfo> {
        self.fields().iter().filter(move |field| field.form == Form::Array { count })
    }

    /// Whether a field states the number of elements of an array.
    pub(in crate::bwdb) fn is_count(&self, field: usize) -> bool {
        self.counted_by(field).next().is_some()
    }

    /// The numbers of the fields that only the table of the struct shows, without numbers of elements.
    pub(in crate::bwdb) fn own_fields(&'static self) -> impl Iterator<Item = usize> {
        let fields = self.fields().iter().enumerate();
        fields.filter(|(number, field)| field.told_in.is_none() && !self.is_count(*number)).map(|(number, _)| number)
    }

    /// The number of elements that the field `count` of a struct states.
    pub(in crate::bwdb) fn count(&self, view: View<'_>, count: usize) -> Result<usize> {
        let field = self.field(count);
        let here = view.skip(field.at);
        let number = match field.of.kind() {
            TypeKind::U8 => i128::from(*here.read::<u8>()?),
            TypeKind::U16 => here.read::<le::U16>()?.get().into(),
            TypeKind::I16 => here.read::<le::I16>()?.get().into(),
            TypeKind::U32 => here.read::<le::U32>()?.get().into(),
            TypeKind::I32 => here.read::<le::I32>()?.get().into(),
            TypeKind::U64 => here.read::<le::U64>()?.get().into(),
            _ => unreachable!("declarations are checked: a count is a whole number"),
        };
        usize::try_from(number).map_err(|_| here.bad_value("count", number))
    }

    pub(in crate::bwdb) fn array<'a>(&self, view: View<'a>, field: usize) -> Result<Elements<'a>> {
        self.elements(view, self.field(field))
    }

    fn elements<'a>(&self, view: View<'a>, field: &FieldInfo) -> Result<Elements<'a>> {
        let FieldInfo { at, of, form, .. } = *field;
        let len = if let Form::Array { count } = form { self.count(view, count)? } else { 1 };
        Ok(Elements { of, view: follow(view, at, len, of.size)?, len })
    }

    /// The offsets of the pointers of a value at an offset, each after the offset of its base; `None` if unknown.
    pub(in crate::bwdb) fn pointers(&self, at: usize, all: &mut Vec<(usize, usize)>) -> Option<()> {
        match self.body {
            Body::Leaf { kind: TypeKind::Text, .. } => {
                all.push((at, at.saturating_add(std::mem::offset_of!(crate::packed_string::PackedString, text))));
            }
            Body::Fields(fields) => {
                for field in fields {
                    let here = at.saturating_add(field.at);
                    if field.is_inline() { field.of.pointers(here, all)? } else { all.push((at, here)) }
                }
            }
            _ => return self.traits.flat.then_some(()),
        }
        Some(())
    }

    pub(in crate::bwdb) fn walk<'a>(&self, view: View<'a>, name: &'static str, walker: &mut dyn Walker<'a>) {
        match self.body {
            Body::Leaf { read, .. } => match read(view) {
                Ok(leaf) => walker.leaf(name, leaf),
                Err(error) => walker.damage(name, error),
            },
            Body::Fields(_) => match view.take(self.size) {
                Ok(_) => {
                    walker.begin(name);
                    self.walk_fields(view, walker);
                    walker.end();
                }
                Err(error) => walker.damage(name, error),
            },
            Body::Kinds(kinds) => match Slot::read(view) {
                Ok(slot) => {
                    walker.begin(name);
                    slot.walk(kinds, walker);
                    walker.end();
                }
                Err(error) => walker.damage(name, error),
            },
        }
    }

    pub(in crate::bwdb) fn walk_fields<'a>(&self, view: View<'a>, walker: &mut dyn Walker<'a>) {
        let wanted = walker.wanted();
        self.fields().iter().filter(|field| field.is_wanted(wanted)).for_each(|field| self.show(view, field, walker));
    }

    pub(in crate::bwdb) fn walk_field<'a>(&self, view: View<'a>, field: usize, walker: &mut dyn Walker<'a>) {
        self.show(view, self.field(field), walker);
    }

    fn show<'a>(&self, view: View<'a>, info: &FieldInfo, walker: &mut dyn Walker<'a>) {
        let shown = match info.form {
            Form::Inline => return info.of.walk(view.skip(info.at), info.name, walker),
            Form::One => follow_one(view, info.at).map(|view| {
                walker.target(view, info.of.size);
                info.of.walk(view, info.name, walker);
            }),
            Form::Array { .. } => self.elements(view, info).map(|array| array.walk(info.name, walker)),
        };
        if let Err(error) = shown {
            walker.damage(info.name, error);
        }
    }

    /// Whether the values at both positions have equal contents. The positions may be in different files.
    pub(in crate::bwdb) fn same<'a>(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        match self.body {
            Body::Leaf { kind: TypeKind::Flag, .. } => Ok((*old.read::<u8>()? != 0) == (*new.read::<u8>()? != 0)),
            Body::Leaf { kind, .. } => match (text_bytes(kind, old), text_bytes(kind, new)) {
                (Some(a), Some(b)) => {
                    let (a, b) = (a?, b?);
                    if a.len() == b.len() {
                        share.spend(old, a.len())?;
                    }
                    Ok(a == b)
                }
                _ => Ok(old.take(self.size)? == new.take(self.size)?),
            },
            Body::Fields(fields) => {
                let (a, b) = (old.take(self.size)?, new.take(self.size)?);
                if self.traits.flat && a == b {
                    return Ok(true);
                }
                for field in fields {
                    let same = match field.form {
                        Form::Inline => field.of.same(old.skip(field.at), new.skip(field.at), share)?,
                        Form::One => field.of.same(follow_one(old, field.at)?, follow_one(new, field.at)?, share)?,
                        Form::Array { .. } => self.elements(old, field)?.same(&self.elements(new, field)?, share)?,
                    };
                    if !same {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Body::Kinds(kinds) => Slot::read(old)?.same(Slot::read(new)?, kinds, share),
        }
    }

    /// Shows the differences of two values.
    pub(in crate::bwdb) fn differ<'a>(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        match self.body {
            Body::Leaf { read, .. } => {
                if !differ.same(self, old, new)? {
                    differ.leaf(read(old)?, read(new)?);
                }
            }
            Body::Fields(fields) => {
                old.take(self.size)?;
                new.take(self.size)?;
                for number in 0..fields.len() {
                    self.differ_field(old, new, number, differ);
                }
            }
            Body::Kinds(kinds) => {
                let (a, b) = (Slot::read(old)?, Slot::read(new)?);
                if a.kind == b.kind {
                    return a.differ(b, kinds, differ);
                }
                differ.whole(self, Some(old), Some(new))?;
            }
        }
        Ok(())
    }

    /// Shows the differences of the field with a number.
    pub(in crate::bwdb) fn differ_field<'a>(
        &self,
        old: View<'a>,
        new: View<'a>,
        number: usize,
        differ: &mut Differ<'a, '_>,
    ) {
        let field = self.field(number);
        differ.within(field.name, |differ| match field.form {
            Form::Inline => field.of.differ(old.skip(field.at), new.skip(field.at), differ),
            Form::One => field.of.differ(follow_one(old, field.at)?, follow_one(new, field.at)?, differ),
            Form::Array { .. } => differ.arrays(&self.elements(old, field)?, &self.elements(new, field)?),
        });
    }
}

/// The elements of an array outside of its struct.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    pub of: &'static Type,
    /// The start of the first.
    pub view: View<'a>,
    pub len: usize,
}

impl<'a> Elements<'a> {
    /// The position of the element at `index`; `None` past the end.
    pub(in crate::bwdb) fn get(&self, index: usize) -> Option<View<'a>> {
        (index < self.len).then(|| self.view.skip(index.saturating_mul(self.of.size)))
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> usize {
        self.len.saturating_mul(self.of.size)
    }

    pub(super) fn walk(&self, name: &'static str, walker: &mut dyn Walker<'a>) {
        if walker.begin_list(name, self) {
            (0..self.len).filter_map(|index| self.get(index)).for_each(|view| self.of.walk(view, "", walker));
            walker.end_list();
        }
    }

    /// Whether two arrays have equal contents.
    pub(super) fn same(&self, other: &Self, share: &mut BudgetShare<'_>) -> Result<bool> {
        if self.len != other.len {
            return Ok(false);
        }
        share.spend(self.view, self.bytes())?;
        // Elements with different bytes may still be equal, unless they are leaves.
        if self.of.traits.flat {
            let same = self.view.take(self.bytes())? == other.view.take(self.bytes())?;
            if same || self.of.traits.leaf {
                return Ok(same);
            }
        }
        for (old, new) in (0..self.len).filter_map(|index| self.get(index).zip(other.get(index))) {
            if !self.of.same(old, new, share)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Typed, union::UnionKind};
    use super::*;

    /// A field of any whole number may count the elements of an array.
    #[test]
    fn a_count_is_a_whole_number_from_0() {
        for (of, bytes, counted) in [
            (<u8 as Typed>::OF, &[3][..], Some(3)),
            (<u16 as Typed>::OF, &[3, 1], Some(0x103)),
            (<i16 as Typed>::OF, &[3, 1], Some(0x103)),
            (<i16 as Typed>::OF, &[0xFF, 0xFF], None),
            (<u32 as Typed>::OF, &[3, 0, 1, 0], Some(0x10003)),
            (<i32 as Typed>::OF, &[0xFF; 4], None),
            (<u64 as Typed>::OF, &[3, 0, 0, 0, 1, 0, 0, 0], Some(0x1_0000_0003)),
        ] {
            let fields = Vec::leak(vec![FieldInfo::new("count", 0, of, Form::Inline, None)]);
            let whole = Type::of_fields("Whole", 8, None, fields);
            let count = whole.count(View::new(bytes, "record"), 0);
            assert_eq!(count.as_ref().ok().copied(), counted, "{of:?} {bytes:?}: {count:?}");
            let (least, greatest) = of.kind().integers().unwrap();
            assert!((least..=greatest).contains(&counted.map_or(-1, |count| count as i128)), "{of:?}");
        }
    }

    /// Texts and ids in a part are in the whole, and a pointer to the part keeps the bytes of the whole from being all of it.
    #[test]
    fn a_type_has_what_its_parts_have() {
        let [number, name, path, text] =
            [<u32 as Typed>::OF, super::super::NameId::OF, super::super::PathId::OF, super::super::Text::OF];
        let of = |of: &'static Type, form| {
            let parts = Vec::leak(vec![
                FieldInfo::new("count", 0, number, Form::Inline, None),
                FieldInfo::new("part", 8, of, form, None),
            ]);
            Type::of_fields("Whole", 0x18, None, parts).traits
        };
        for (part, texts, flat, refers) in [
            (number, HeldTexts::NONE, true, false),
            (name, HeldTexts::BY_ID, true, false),
            (path, HeldTexts::BY_ID, true, true),
            (text, HeldTexts::OWN, false, true),
        ] {
            let (inline, pointer) = (of(part, Form::Inline), of(part, Form::Array { count: 0 }));
            assert_eq!((inline.texts, inline.flat, inline.refers), (texts, flat, refers), "{part:?}");
            assert_eq!((pointer.texts, pointer.flat, pointer.refers), (texts, false, refers), "{part:?}");
            let kinds = Vec::leak(vec![UnionKind { kind: 3, name: "part", of: part }]);
            let chosen = Type::of_kinds("Choice", kinds).traits;
            assert_eq!((chosen.texts, chosen.flat, chosen.refers), (texts, false, refers), "{part:?}");
        }
    }

    #[test]
    fn a_leaf_is_shown_as_its_kind_and_a_struct_as_its_fields() {
        let leaf = Type::leaf("count", 4, TypeKind::U32, Kind::Uint, |view| {
            Ok(Leaf::Value(view.read::<le::U32>()?.get().into()))
        });
        assert_eq!((leaf.kind(), leaf.shown(), leaf.fields().len()), (TypeKind::U32, Some(Kind::Uint), 0));
        let bytes = 7u32.to_le_bytes();
        let read = leaf.read_leaf(View::new(&bytes, "record")).expect("a leaf").unwrap();
        assert!(matches!(read, Leaf::Value(value) if value.to_string() == "7"));
        let fields = Vec::leak(vec![
            FieldInfo::new("count", 0, <u32 as Typed>::OF, Form::Inline, None),
            FieldInfo::new("ids", 8, <u16 as Typed>::OF, Form::Array { count: 0 }, None),
            FieldInfo::new("name", 0x10, super::super::Text::OF, Form::One, None),
        ]);
        let whole = Type::of_fields("Row", 0x18, None, fields).declared();
        assert_eq!((whole.kind(), whole.shown(), whole.is_declared), (TypeKind::Parts, None, true));
        assert_eq!(whole.to_string(), "Row, 18\n00 u32 count\n08 [u16; count] ids\n10 [text] name\n");
    }
}
