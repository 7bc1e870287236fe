//! The built-in types by their names in layouts files, and the shapes of their values.

use super::declared::{Body, Type};
use super::prototypes as p;
use super::record::{Field, FieldInfo, FieldType, Flag, Form, NameId, PathId, Prototype, Text, Traits};
use crate::table::{Kind, ValueShape};
use std::fmt;

/// The type as a layouts file declares it: its name and size, and a line for each field with its offset and type.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {:X}", self.name, self.size)?;
        for FieldInfo { name: field, at, of, form, .. } in self.fields {
            let of = Self::built_in(of.name()).map_or(of.name(), |of| of.name);
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
}

macro_rules! built_in {
    ($(leaf $leaf_type:ty,)+ $(slot $slot:ident,)+ $(fields $name:literal $type:ident $($table:literal)?,)+) => {
        /// The built-in types, each with its name in this crate and its name in documents.
        static BUILT_IN: &[(&str, Type)] = &[
            $((<$leaf_type>::TYPE.name(), built_in!(@type <$leaf_type>::TYPE.name(), $leaf_type, None, &[], |_, _, _| {})),)+
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
            kind: <$type as Field<'_>>::TYPE,
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
    leaf u8,
    leaf u16,
    leaf i16,
    leaf u32,
    leaf i32,
    leaf u64,
    leaf f32,
    leaf [f32; 2],
    leaf [f32; 3],
    leaf [f32; 4],
    leaf [f32; 16],
    leaf Flag,
    leaf NameId,
    leaf PathId,
    leaf Text<'_>,
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
pub(super) const NESTED_STRUCTS: usize = 8;

pub(super) fn shape_of(info: &FieldInfo, is_built_in: bool, depth: usize) -> Option<ValueShape> {
    let element = match info.of {
        FieldType::U8 | FieldType::U16 | FieldType::U32 => ValueShape::of(Kind::Uint),
        FieldType::U64 => ValueShape::Value { kind: Kind::Uint, wide: true },
        FieldType::I16 | FieldType::I32 => ValueShape::of(Kind::Int),
        FieldType::F32 => ValueShape::of(Kind::F32),
        FieldType::F32x2 | FieldType::F32x3 | FieldType::F32x4 | FieldType::F32x16 => {
            ValueShape::list(ValueShape::of(Kind::F32))
        }
        FieldType::Flag => ValueShape::of(Kind::Bool),
        FieldType::Name => ValueShape::reference(Kind::Id32, "text"),
        FieldType::Path => ValueShape::reference(Kind::Id64, "path"),
        FieldType::Text => ValueShape::of(Kind::Text),
        of if of == p::ResourceRef::TYPE => ValueShape::of(Kind::Text),
        FieldType::Struct(of) if is_built_in && depth < NESTED_STRUCTS => {
            // A type without fields is one of several, depending on its value.
            let of = Type::built_in(of).filter(|of| !of.fields.is_empty())?;
            let members = of
                .fields
                .iter()
                .map(|field| Some((field.name.into(), shape_of(field, true, depth.saturating_add(1))?)));
            ValueShape::Map(members.collect::<Option<_>>()?)
        }
        FieldType::Struct(_) => return None,
    };
    Some(match info.form {
        Form::Array { .. } => ValueShape::list(element),
        Form::Inline | Form::One => element,
    })
}
