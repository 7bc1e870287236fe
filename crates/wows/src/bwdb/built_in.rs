//! The built-in types by their names in layouts files, and the shapes of their values.

use super::prototypes::{ColorRamp, ParticleAction, PrototypeType, SystemAction};
use super::record::{FieldInfo, Flag, Form, NameId, PathId, ResourceRef, Text, Type, TypeKind, Typed};
use crate::table::{Kind, ValueShape};
use std::sync::LazyLock;

/// The built-in types that layouts may name: values without parts, the unions, and the structs of prototypes.
static BUILT_IN: LazyLock<Vec<&'static Type>> = LazyLock::new(|| {
    let mut all = vec![
        u8::OF,
        u16::OF,
        i16::OF,
        u32::OF,
        i32::OF,
        u64::OF,
        f32::OF,
        <[f32; 2]>::OF,
        <[f32; 3]>::OF,
        <[f32; 4]>::OF,
        <[f32; 16]>::OF,
        Flag::OF,
        NameId::OF,
        PathId::OF,
        Text::OF,
        ResourceRef::OF,
        // Only values of unions have these.
        ParticleAction::OF,
        SystemAction::OF,
        ColorRamp::OF,
    ];
    all.extend(PrototypeType::ALL.iter().map(|prototype| prototype.of()));
    let mut next = 0usize;
    while let Some(of) = all.get(next) {
        let parts = of.fields().iter().map(|field| field.of);
        let new: Vec<_> = parts.filter(|part| all.iter().all(|known| known.name != part.name)).collect();
        all.extend(new);
        next = next.saturating_add(1);
    }
    all
});

impl Type {
    pub(super) fn built_in(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|of| of.name == name).copied()
    }
}

/// The built-in types that have fields.
pub(super) fn built_in_structs() -> impl Iterator<Item = &'static Type> {
    BUILT_IN.iter().copied().filter(|of| !of.fields().is_empty())
}

/// The deepest nesting of structs that a shape describes. No built-in type nests deeper.
const NESTED_STRUCTS: usize = 8;

/// The shape of a field's values, if it is the same for all.
pub(super) fn shape(info: &FieldInfo) -> Option<ValueShape> {
    shape_within(info, 0)
}

fn shape_within(info: &FieldInfo, depth: usize) -> Option<ValueShape> {
    let element = match info.of.shown() {
        Some(Kind::Id32) => ValueShape::reference(Kind::Id32, "text"),
        Some(Kind::Id64) => ValueShape::reference(Kind::Id64, "path"),
        Some(Kind::Nested) => ValueShape::list(ValueShape::of(Kind::F32)),
        Some(Kind::Any) => return None,
        Some(kind) => ValueShape::Value { kind, wide: info.of.kind() == TypeKind::U64 },
        // A type without fields is one of several, depending on its value.
        None if info.of.fields().is_empty() || info.of.is_declared || depth >= NESTED_STRUCTS => return None,
        None => {
            let members = info.of.fields().iter();
            let members = members.map(|field| Some((field.name.into(), shape_within(field, depth.saturating_add(1))?)));
            ValueShape::Map(members.collect::<Option<_>>()?)
        }
    };
    Some(if let Form::Array { .. } = info.form { ValueShape::list(element) } else { element })
}
