//! Types whose fields are data: the types of a layouts file, and beside them the built-in ones by their names in such a
//! file.

use super::prototypes as p;
use super::record::differ::{BudgetShare, Differ};
use super::record::{
    self, Count as _, Field, FieldColumns, FieldInfo, Flag, Form, ListInfo, NameId, PathId, Prototype, Text, Traits,
    Walker,
};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Kind, ValueShape};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A type of fields, of the elements of arrays, or of whole records. It lives as long as the process, like the built-in
/// ones, so that records, columns and errors borrow its names from it.
pub struct Type {
    pub(super) name: &'static str,
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
    /// The field at `at`, of the type with this name; `None` unless the type is a count.
    pub(super) fn of(at: usize, type_name: &str) -> Option<Self> {
        let read: for<'a> fn(View<'a>) -> Result<usize> = match type_name {
            "u8" => |view| u8::read(view)?.count(view),
            "u16" => |view| u16::read(view)?.count(view),
            "u32" => |view| u32::read(view)?.count(view),
            "i32" => |view| i32::read(view)?.count(view),
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

/// The type as a layouts file declares it: its name and size, and a line for each field with its offset and type.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {:X}", self.name, self.size)?;
        let name = |of: &'static str| Self::built_in(of).map_or(of, |of| of.name);
        for FieldInfo { name: field, at, of, form, .. } in self.fields {
            let of = name(of);
            match form {
                Form::Inline => writeln!(f, "{at:02X} {of} {field}")?,
                Form::Array { count } => writeln!(f, "{at:02X} [{of}; {count}] {field}")?,
                Form::One => writeln!(f, "{at:02X} [{of}] {field}")?,
            }
        }
        Ok(())
    }
}

impl Type {
    /// The built-in type with this name.
    pub(super) fn built_in(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|(other, of)| *other == name || of.name == name).map(|(_, of)| of)
    }

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
                    let element = |a, b, share: &mut BudgetShare<'_>| of.same(a, b, share);
                    record::same_arrays(of.size, of.traits, old, new, share, element)?
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

    fn walk_array(&self, (view, len): (View<'a>, usize), walker: &mut dyn Walker<'a>) {
        Type::walk_array(self, view, len, "", walker);
    }

    fn same(&self, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
        Type::same(self, old, new, share)
    }

    fn differ(&self, old: View<'a>, new: View<'a>, differ: &mut Differ<'a, '_>) -> Result<()> {
        Type::differ(self, old, new, differ)
    }
}

macro_rules! built_in {
    ($(leaf $leaf:literal $leaf_type:ty,)+ $(slot $slot:ident,)+ $(fields $name:literal $type:ident $($table:literal)?,)+) => {
        /// The built-in types, each with its name in this crate and its name in documents.
        static BUILT_IN: &[(&str, Type)] = &[
            $(($leaf, built_in!(@type $leaf, $leaf_type, None, &[], |_, _, _| {})),)+
            $((stringify!($slot), built_in!(@type stringify!($slot), p::$slot<'_>, None, &[], |_, _, _| {})),)+
            $((stringify!($type), built_in!(
                @type $name, p::$type<'_>, built_in!(@table $($table)?), <p::$type<'_> as Prototype<'_>>::FIELDS,
                |view, field, walker| match <p::$type<'_> as Field<'_>>::read(view) {
                    Ok(value) => value.walk_field(field, walker),
                    Err(error) => walker.damage("", error),
                }
            )),)+
        ];
    };
    (@table $table:literal) => { Some($table) };
    (@table) => { None };
    (@type $name:expr, $type:ty, $table:expr, $fields:expr, $walk_field:expr) => {
        Type {
            name: $name,
            size: <$type as Field<'_>>::SIZE,
            shown: <$type as Field<'_>>::SHOWN,
            traits: Traits::of::<$type>(),
            table: $table,
            fields: $fields,
            body: Body::BuiltIn {
                walk: |view, name, walker| match <$type as Field<'_>>::read(view) {
                    Ok(value) => value.walk(name, walker),
                    Err(error) => walker.damage(name, error),
                },
                walk_field: $walk_field,
                same: |old, new, share| <$type as Field<'_>>::same(old, new, share),
                differ: |old, new, differ| <$type as Field<'_>>::differ(old, new, differ),
            },
        }
    };
}

built_in! {
    leaf "u8" u8,
    leaf "u16" u16,
    leaf "i16" i16,
    leaf "u32" u32,
    leaf "i32" i32,
    leaf "u64" u64,
    leaf "f32" f32,
    leaf "f32x2" [f32; 2],
    leaf "f32x3" [f32; 3],
    leaf "f32x4" [f32; 4],
    leaf "f32x16" [f32; 16],
    leaf "flag" Flag,
    leaf "name" NameId,
    leaf "path" PathId,
    leaf "text" Text<'_>,
    slot ResourceRef,
    slot Scalar,
    slot Volume,
    slot Component,
    slot ParticleAction,
    slot SystemAction,
    fields "MaterialPrototype" Material "materials",
    fields "VisualPrototype" Visual "visuals",
    fields "SkeletonExtenderPrototype" SkeletonExtender "skeleton_extenders",
    fields "ModelPrototype" Model "models",
    fields "PointLightPrototype" PointLight "point_lights",
    fields "EffectPrototype" Effect "effects",
    fields "VelocityFieldPrototype" VelocityField "velocity_fields",
    fields "EffectPresetPrototype" EffectPreset "effect_presets",
    fields "EffectMetadataPrototype" EffectMetadata "effect_metadata",
    fields "AtlasContourProto" AtlasContour "atlas_contours",
    fields "Skeleton" Skeleton,
    fields "RenderSet" RenderSet "render_sets",
    fields "Lod" Lod "lods",
    fields "Dye" Dye "dyes",
    fields "ColorCurve" ColorCurve,
    fields "RadiusCurve" RadiusCurve,
    fields "LightColorRamp" LightColorRamp,
    fields "LightColorKey" LightColorKey,
    fields "LightRamp" LightRamp,
    fields "EffectParameter" EffectParameter "effect_parameters",
    fields "Contour" Contour,
    fields "System" System "effect_systems",
    fields "Renderer" Renderer,
    fields "Emitter" Emitter,
    fields "Animation" Animation,
    fields "General" General,
    fields "Distance" Distance,
    fields "Intensities" Intensities,
    fields "IntensityChannel" IntensityChannel,
    fields "IntensityConfig" IntensityConfig,
    fields "Ramp" Ramp,
    fields "ColorRamp" ColorRamp,
    fields "ColorKey" ColorKey,
    fields "Volumes" Volumes,
}

/// The built-in types that have fields.
pub(super) fn built_in_structs() -> impl Iterator<Item = &'static Type> {
    BUILT_IN.iter().map(|(_, of)| of).filter(|of| !of.fields.is_empty())
}

/// The shape of a field's values, if it is the same for all. `fields` are the fields of the type that the field belongs to.
pub(super) fn shape(fields: &'static [FieldInfo], info: &FieldInfo) -> Option<ValueShape> {
    // A layouts file may reuse the name of a built-in type.
    let is_built_in = built_in_structs().any(|of| std::ptr::eq(of.fields, fields));
    shape_of(info, is_built_in, 0)
}

/// The deepest nesting of structs that a shape describes. No built-in type nests deeper.
const NESTED_STRUCTS: usize = 8;

fn shape_of(info: &FieldInfo, is_built_in: bool, depth: usize) -> Option<ValueShape> {
    let element = match info.of {
        "u8" | "u16" | "u32" => ValueShape::of(Kind::Uint),
        "u64" => ValueShape::Value { kind: Kind::Uint, wide: true },
        "i16" | "i32" => ValueShape::of(Kind::Int),
        "f32" => ValueShape::of(Kind::F32),
        "f32x2" | "f32x3" | "f32x4" | "f32x16" => ValueShape::list(ValueShape::of(Kind::F32)),
        "flag" => ValueShape::of(Kind::Bool),
        "name" => ValueShape::reference(Kind::Id32, "text"),
        "path" => ValueShape::reference(Kind::Id64, "path"),
        "text" | "ResourceRef" => ValueShape::of(Kind::Text),
        of if is_built_in && depth < NESTED_STRUCTS => {
            // A type without fields is one of several, depending on its value.
            let of = Type::built_in(of).filter(|of| !of.fields.is_empty())?;
            let member = |field: &FieldInfo| Some((field.name.into(), shape_of(field, true, depth.saturating_add(1))?));
            ValueShape::Map(of.fields.iter().map(member).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(match info.form {
        Form::Array { .. } => ValueShape::list(element),
        Form::Inline | Form::One => element,
    })
}

/// How a table shows a struct.
pub(super) const NESTED: FieldColumns = FieldColumns::Plain(Kind::Nested);
