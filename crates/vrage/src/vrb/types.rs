//! The type table (docs/formats/vrb.md §4): types, and the models that describe the storage of their values.
//!
//! Types and models are numbered separately, both from 0x200 on; numbers below are built into the engine and mean the
//! same in both. [`TypeId`] and [`ModelId`] keep them apart.

use super::builtin::{Builtin, Extent, NULLABLE};
use super::shape::{Shape, extents};
use crate::bytes::{Cursor, Utf16, le};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::table::Value;
use std::fmt::{self, Write as _};
use std::ops::Range;

/// The first number in a file.
pub(super) const FIRST: u32 = 0x200;

/// The limits of a name that is built from generic arguments: its size in bytes, and its number of parts.
const NAME_LIMIT: usize = 16 << 10;

/// Numbers of types or models: those below 0x200 are built into the engine, the others are positions in the type table.
macro_rules! numbers {
    ($name:ident, $format:literal) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub(super) fn at(position: usize) -> Self {
                Self(FIRST.saturating_add(position.try_into().expect("the table counts by 31 bits")))
            }

            /// The position in the type table; `None` for a built-in.
            pub fn position(self) -> Option<usize> {
                self.0.checked_sub(FIRST).map(|at| at as usize)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $format, self.0)
            }
        }
    };
}

numbers!(TypeId, "type {:#x}");
numbers!(ModelId, "model {:#x}");

/// A type as the table defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeDef {
    /// `N`: a type with its own name.
    Named {
        /// 0 class, 1 struct or enum, 2 interface.
        kind: u8,
        /// Type parameters, for an open generic.
        arity: u8,
        /// The place of the name in the table.
        name: Range<usize>,
    },
    /// `G`: a closed generic.
    Generic { definition: TypeId, arguments: Vec<TypeId> },
    /// `A`: an array.
    Array { element: TypeId, rank: u8 },
}

/// How values of a type are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub ty: TypeId,
    /// `C` composite, `D` dictionary, `L` list, `T` stored as another type.
    pub tag: u8,
    /// The flags of a `C` or `T`, as stored.
    pub flags: u8,
    /// The size of a value in bytes, for a `C` or `T` with flag 0x10.
    pub size: Option<u32>,
    /// The members, elements or target.
    pub parts: Parts,
    /// The model's meaning for reading.
    pub shape: Shape,
    /// The place of the model in the table.
    pub at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parts {
    /// The members of a `C`: from, and up to, these numbers among all members.
    Members(u32, u32),
    /// Key and value of a `D`.
    Pair(ModelId, ModelId),
    /// Element of an `L`, or target of a `T`.
    One(ModelId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    name: Range<usize>,
    /// Whether the value states its own model.
    pub polymorphic: bool,
    /// The member's place in the image of a blittable composite.
    pub offset: Option<u32>,
    /// The member's model, or its declared type's.
    pub model: ModelId,
}

impl Member {
    /// The place of a member of an image.
    #[inline]
    pub(super) fn image_offset(&self) -> u32 {
        self.offset.expect("a model with a size has members with offsets")
    }
}

/// The whole table.
#[derive(Debug)]
pub struct TypeModel {
    /// The decoded table; names are borrowed from it.
    source: Source,
    types: Vec<TypeDef>,
    models: Vec<Model>,
    members: Vec<Member>,
    /// The member names as UTF-8, concatenated.
    names: String,
    extents: Vec<Extent>,
    /// The models that hold a value of themselves, which no value can: their values would never end.
    pub(super) recursive: Vec<ModelId>,
}

impl TypeModel {
    /// Reads the decoded table in `source`, which it must fill.
    ///
    /// # Errors
    /// `BadValue` for an unknown tag, kind or prefix, a count that cannot be true, or a reference to a type or model
    /// that does not exist; `OutOfBounds`; `Damaged` when bytes are left over.
    pub fn parse(source: Source) -> Result<Self> {
        let mut parser = Parser { cursor: Cursor::new(source.view("types")), types: 0, models: 0 };
        parser.types = parser.cursor.count("type count", 6)?;
        // The counts stand together in front, so this one is checked against the rest of both.
        parser.models = parser.cursor.count("model count", 8)?;
        let types = (0..parser.types).map(|_| parser.type_def()).collect::<Result<Vec<_>>>()?;
        parser.cursor.set_part("models");
        let (mut models, mut members, mut names) = (Vec::new(), Vec::new(), String::new());
        for _ in 0..parser.models {
            models.push(parser.model(&mut members, &mut names)?);
        }
        parser.cursor.expect_end()?;
        let mut this = Self { source, types, models, members, names, extents: Vec::new(), recursive: Vec::new() };
        let shapes: Vec<Shape> = this.models.iter().map(|m| Shape::of(m, &this)).collect();
        this.models.iter_mut().zip(shapes).for_each(|(model, shape)| model.shape = shape);
        (this.extents, this.recursive) = extents(&this);
        Ok(this)
    }

    /// The types, by position: type 0x200 first.
    pub fn types(&self) -> &[TypeDef] {
        &self.types
    }

    /// The models, by position: model 0x200 first.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model that a stored number means; `None` for a number without a model.
    pub fn model_id(&self, stored: i32) -> Option<ModelId> {
        let id = ModelId(u32::try_from(stored).ok()?);
        id.position().is_none_or(|at| at < self.models.len()).then_some(id)
    }

    /// The type that a stored number means; `None` for a number without a type.
    pub fn type_id(&self, stored: i32) -> Option<TypeId> {
        let id = TypeId(u32::try_from(stored).ok()?);
        id.position().is_none_or(|at| at < self.types.len()).then_some(id)
    }

    /// A model of the file; `None` for a built-in.
    #[inline]
    pub fn model(&self, id: ModelId) -> Option<&Model> {
        self.models.get(id.position()?)
    }

    /// How values of a model are read.
    #[inline]
    pub fn shape(&self, id: ModelId) -> Shape {
        match self.model(id) {
            Some(model) => model.shape,
            None => Builtin::from_id(id.0).map_or(Shape::Unknown("how a value of this is stored"), Shape::Scalar),
        }
    }

    /// A type of the file; `None` for a built-in.
    pub fn type_def(&self, id: TypeId) -> Option<&TypeDef> {
        self.types.get(id.position()?)
    }

    /// The members from number `from` up to `to`, as [`Parts::Members`] has them.
    #[inline]
    pub fn members(&self, from: u32, to: u32) -> &[Member] {
        self.members.get(from as usize..to as usize).expect("models have ranges of members that were read")
    }

    #[inline]
    pub fn member_name(&self, member: &Member) -> &str {
        self.names.get(member.name.clone()).expect("members have ranges of names that were read")
    }

    /// The size of values of a model in bytes: any size for an unknown one.
    #[inline]
    pub fn extent(&self, id: ModelId) -> Extent {
        let extent = match id.position() {
            Some(at) => self.extents.get(at).copied(),
            None => Builtin::from_id(id.0).map(Builtin::extent),
        };
        extent.unwrap_or_default()
    }

    pub fn type_of(&self, model: ModelId) -> TypeId {
        self.model(model).map_or(TypeId(model.0), |m| m.ty)
    }

    /// Whether a type is a closed `Nullable`.
    pub fn is_nullable(&self, id: TypeId) -> bool {
        matches!(self.type_def(id), Some(TypeDef::Generic { definition: TypeId(NULLABLE), .. }))
    }

    /// The name of a type with its own name, as stored in the table.
    fn own_name(&self, name: &Range<usize>) -> Utf16<'_> {
        let units = self.source.view("types").at(name.start).array::<le::U16>(name.len() / 2);
        Utf16::new(units.expect("the name was read from there"))
    }

    /// The full name of a model's type, as [`TypeModel::type_name`].
    pub(super) fn model_name(&self, id: ModelId) -> Result<Value<'_>> {
        self.type_name(self.type_of(id))
    }

    /// The full name of a type as a value, borrowed where it lies in the table as a whole: `Bundle:Namespace.Type`,
    /// ``Bundle:Type`1<Argument>``, `Bundle:Type[]`; the .NET name for a built-in.
    ///
    /// # Errors
    /// `Limit` for a name that does not end within 16 KiB, as of a generic that is its own argument.
    pub fn type_name(&self, id: TypeId) -> Result<Value<'_>> {
        match self.type_def(id) {
            Some(TypeDef::Named { name, .. }) => Ok(Value::Utf16(self.own_name(name))),
            Some(_) => self.composed_name(id).map(Value::owned),
            None => Ok(Value::Text(Builtin::name_of(id.0))),
        }
    }

    /// A name built from others, with an explicit stack, because the file decides how deep types nest.
    fn composed_name(&self, id: TypeId) -> Result<String> {
        enum NamePiece {
            Type(TypeId),
            Text(&'static str),
        }
        let mut name = String::new();
        let mut parts = vec![NamePiece::Type(id)];
        let mut steps = 0usize;
        while let Some(part) = parts.pop() {
            steps = steps.saturating_add(1);
            let length = name.len().max(steps);
            if length > NAME_LIMIT || parts.len() > NAME_LIMIT {
                return Err(too_long(id, length));
            }
            let part_id = match part {
                NamePiece::Text(text) => {
                    name.push_str(text);
                    continue;
                }
                NamePiece::Type(id) => id,
            };
            match self.type_def(part_id) {
                Some(TypeDef::Named { name: own, .. }) if own.len() > NAME_LIMIT => {
                    return Err(too_long(id, own.len()));
                }
                // Writing to a String cannot fail.
                Some(TypeDef::Named { name: own, .. }) => {
                    let _ = write!(name, "{}", self.own_name(own));
                }
                Some(TypeDef::Generic { definition, arguments }) => {
                    parts.push(NamePiece::Text(">"));
                    for (i, argument) in arguments.iter().enumerate().rev() {
                        parts.push(NamePiece::Type(*argument));
                        parts.push(NamePiece::Text(if i == 0 { "<" } else { ", " }));
                    }
                    parts.push(NamePiece::Type(*definition));
                }
                Some(TypeDef::Array { element, rank }) => {
                    parts.push(NamePiece::Text("]"));
                    parts.extend((1..*rank).map(|_| NamePiece::Text(",")));
                    parts.extend([NamePiece::Text("["), NamePiece::Type(*element)]);
                }
                None => name.push_str(&Builtin::name_of(part_id.0)),
            }
        }
        Ok(name)
    }
}

#[cold]
fn too_long(id: TypeId, len: usize) -> Error {
    let kind = ErrorKind::Limit { what: "length of a type's name", value: len as u64, limit: NAME_LIMIT as u64 };
    Error::of_part(kind, id.to_string())
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    types: usize,
    models: usize,
}

impl<'a> Parser<'a> {
    /// A number below `count` from 0x200 on, or a built-in's.
    fn reference(&mut self, what: &'static str, count: usize) -> Result<u32> {
        let here = self.cursor.view();
        let stored = self.cursor.i32()?;
        match u32::try_from(stored) {
            Ok(id) if id.checked_sub(FIRST).is_none_or(|at| (at as usize) < count) => Ok(id),
            _ => Err(here.bad_value(what, stored)),
        }
    }

    fn type_id(&mut self, what: &'static str) -> Result<TypeId> {
        self.reference(what, self.types).map(TypeId)
    }

    fn model_id(&mut self, what: &'static str) -> Result<ModelId> {
        self.reference(what, self.models).map(ModelId)
    }

    /// A string of a table: byte length, UTF-16, no prefix.
    fn text(&mut self) -> Result<(Range<usize>, Utf16<'a>)> {
        let text = table_text(&mut self.cursor)?;
        let end = self.cursor.position();
        Ok((end.saturating_sub(size_of_val(text.units()))..end, text))
    }

    fn type_def(&mut self) -> Result<TypeDef> {
        let here = self.cursor.view();
        match self.cursor.u8()? {
            b'N' => {
                let here = self.cursor.view();
                let kind = self.cursor.u8()?;
                if kind > 2 {
                    return Err(here.bad_value("type kind", kind));
                }
                Ok(TypeDef::Named { kind, arity: self.cursor.u8()?, name: self.text()?.0 })
            }
            b'G' => {
                let definition = self.type_id("generic definition")?;
                let count = self.cursor.u8()?;
                let arguments = (0..count).map(|_| self.type_id("generic argument")).collect::<Result<_>>()?;
                Ok(TypeDef::Generic { definition, arguments })
            }
            b'A' => Ok(TypeDef::Array { element: self.type_id("array element")?, rank: self.cursor.u8()? }),
            tag => Err(here.bad_value("type tag", tag)),
        }
    }

    fn model(&mut self, members: &mut Vec<Member>, names: &mut String) -> Result<Model> {
        let here = self.cursor.view();
        let tag = self.cursor.u8()?;
        if !matches!(tag, b'C' | b'D' | b'L' | b'T') {
            return Err(here.bad_value("model tag", tag));
        }
        let ty = self.type_id("type of a model")?;
        let (mut flags, mut size) = (0, None);
        let parts = match tag {
            b'C' => {
                flags = self.cursor.u8()?;
                size = self.size(flags)?;
                let count = self.cursor.u16()?;
                let from = members.len();
                for _ in 0..count {
                    let member = self.member(size.is_some(), names)?;
                    members.push(member);
                }
                // A member takes at least 12 bytes, so that 2^32 of them need a table of 48 GB.
                match (u32::try_from(from), u32::try_from(members.len())) {
                    (Ok(from), Ok(to)) => Parts::Members(from, to),
                    _ => return Err(here.bad_value("members", members.len() as u64)),
                }
            }
            b'D' => Parts::Pair(self.model_id("key model")?, self.model_id("value model")?),
            b'L' => Parts::One(self.model_id("element model")?),
            _ => {
                flags = self.cursor.u8()?;
                let target = self.model_id("target model")?;
                size = self.size(flags)?;
                Parts::One(target)
            }
        };
        // The shape needs the whole table; it is added later.
        Ok(Model { ty, tag, flags, size, parts, shape: Shape::Unknown(""), at: here.position() })
    }

    fn size(&mut self, flags: u8) -> Result<Option<u32>> {
        if flags & super::shape::BLITTABLE == 0 {
            return Ok(None);
        }
        let here = self.cursor.view();
        let size = self.cursor.i32()?;
        u32::try_from(size).map(Some).map_err(|_| here.bad_value("size of a value", size))
    }

    fn member(&mut self, image: bool, names: &mut String) -> Result<Member> {
        let (_, text) = self.text()?;
        let from = names.len();
        // Writing to a String cannot fail.
        let _ = write!(names, "{text}");
        let here = self.cursor.view();
        let polymorphic = match self.cursor.i32()? {
            0 => false,
            1 => true,
            other => return Err(here.bad_value("value prefix of a member", other)),
        };
        let here = self.cursor.view();
        let offset = if image {
            let offset = self.cursor.i32()?;
            Some(u32::try_from(offset).map_err(|_| here.bad_value("offset of a member", offset))?)
        } else {
            None
        };
        Ok(Member { name: from..names.len(), polymorphic, offset, model: self.model_id("model of a member")? })
    }
}

/// A string of a table (§3): i32 length in bytes, UTF-16, neither prefix nor NUL.
pub(super) fn table_text<'a>(cursor: &mut Cursor<'a>) -> Result<Utf16<'a>> {
    let here = cursor.view();
    let length = cursor.count("length of a string", 1)?;
    if !length.is_multiple_of(2) {
        return Err(here.bad_value("length of a UTF-16 string in bytes", length as u64));
    }
    cursor.utf16(length / 2)
}
