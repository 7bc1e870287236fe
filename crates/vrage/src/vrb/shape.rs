//! The meaning of a model for reading, computed once for the whole type table (docs/formats/vrb.md §4 and §5).

use super::builtin::{Builtin, Extent};
use super::types::{Model, ModelId, Parts, TypeDef, TypeModel};

/// Flag of an abstract type or interface.
const ABSTRACT: u8 = 0x01;
/// Flag of a value type: no prefix.
const VALUE: u8 = 0x04;
/// The flag of a type that contains only values; it does not change the bytes.
const PLAIN: u8 = 0x08;
/// Flag of a value that is stored as its image in memory, with an explicit size.
pub(super) const BLITTABLE: u8 = 0x10;
const ENUM: u8 = 0x40;

/// How values of a model are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    Scalar(Builtin),
    /// Members, in order.
    Record {
        /// The first of its members, by number among all members.
        from: u32,
        /// The number after its last member.
        to: u32,
        /// Whether a leading byte marks its presence: for classes and nullables.
        prefix: bool,
    },
    /// Members at their places in `size` bytes.
    Image {
        /// The first of its members, by number among all members.
        from: u32,
        /// The number after its last member.
        to: u32,
        /// The size of the value in bytes, including padding.
        size: u32,
    },
    /// A count, and as many elements.
    List(ModelId),
    /// A count, and as many pairs.
    Dictionary(ModelId, ModelId),
    /// A value of another model.
    Proxy {
        target: ModelId,
        /// Whether a leading byte marks its presence.
        prefix: bool,
    },
    Enum(Builtin),
    /// Values that are read in no known way, with the reason.
    Unknown(&'static str),
}

impl Shape {
    /// The shape of `model`, which lies in `types`. Only models that are known from real files, or follow from those,
    /// have one.
    pub(super) fn of(model: &Model, types: &TypeModel) -> Self {
        let nullable = types.is_nullable(model.ty);
        match (model.tag, model.parts) {
            (b'C', Parts::Members(from, to)) => match (model.flags & !PLAIN, model.size) {
                (VALUE, None) => Self::Record { from, to, prefix: nullable },
                (0, None) => Self::Record { from, to, prefix: true },
                (flags, Some(_)) if flags == VALUE | BLITTABLE && nullable => {
                    Self::Unknown("how a nullable image is stored")
                }
                (flags, Some(size)) if flags == VALUE | BLITTABLE => Self::Image { from, to, size },
                _ => Self::Unknown("what its flags mean"),
            },
            (b'D', Parts::Pair(key, value)) => Self::Dictionary(key, value),
            (b'L', Parts::One(element)) => match types.type_def(model.ty) {
                Some(TypeDef::Array { rank, .. }) if *rank != 1 => {
                    Self::Unknown("how an array of more or less than one dimension is stored")
                }
                _ => Self::List(element),
            },
            (b'T', Parts::One(target)) => Self::of_proxy(model, target, nullable, types),
            _ => Self::Unknown("what its tag means"),
        }
    }

    fn of_proxy(model: &Model, target: ModelId, nullable: bool, types: &TypeModel) -> Self {
        if model.flags & ENUM != 0 {
            let underlying = Builtin::from_id(target.0).filter(|b| b.is_integer());
            return match (underlying, model.size) {
                _ if nullable => Self::Unknown("how a nullable enum is stored"),
                _ if model.flags & !(ENUM | BLITTABLE | VALUE | PLAIN) != 0 => Self::Unknown("what its flags mean"),
                (Some(integer), Some(size)) if integer.extent().least == size => Self::Enum(integer),
                _ => Self::Unknown("which integer this enum is"),
            };
        }
        match model.flags & !(VALUE | PLAIN) {
            0 if target.0 == 0 => Self::Unknown("which type this is stored as"),
            0 if !nullable => Self::Proxy { target, prefix: false },
            0 => match (types.model(target), Builtin::from_id(target.0)) {
                (Some(t), _) if t.flags & ENUM != 0 => Self::Unknown("how a nullable enum is stored"),
                (Some(_), _) => Self::Proxy { target, prefix: true },
                // The prefix of the string itself marks its presence.
                (None, Some(Builtin::String)) => Self::Proxy { target, prefix: false },
                (None, _) => Self::Unknown("how a nullable built-in is stored"),
            },
            ABSTRACT => Self::Unknown("the actual type of an abstract type or interface"),
            _ => Self::Unknown("what its flags mean"),
        }
    }
}

/// The extents of all models by position, and the models that hold a value of themselves. One walk with an explicit
/// stack, each model once.
pub(super) fn extents(types: &TypeModel) -> (Vec<Extent>, Vec<ModelId>) {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let count = types.models().len();
    let (mut extents, mut state) = (vec![Extent::default(); count], vec![NEW; count]);
    let mut recursive = Vec::new();
    // Models that are open, with the next member to look at and the sum of the members before.
    let mut stack: Vec<(usize, u32, Extent)> = Vec::new();
    for root in 0..count {
        if state.get(root) != Some(&NEW) {
            continue;
        }
        stack.push((root, 0, EMPTY));
        while let Some(&mut (at, ref mut next, ref mut sum)) = stack.last_mut() {
            if let Some(s) = state.get_mut(at) {
                *s = OPEN;
            }
            let Some(shape) = types.models().get(at).map(|m| m.shape) else { break };
            let child = inner(types, shape, *next);
            let Some(Inner { id, polymorphic, room }) = child else {
                let done = finish(shape, *sum);
                stack.pop();
                if let (Some(extent), Some(state)) = (extents.get_mut(at), state.get_mut(at)) {
                    (*extent, *state) = (done, DONE);
                }
                continue;
            };
            let extent = match id.position() {
                _ if polymorphic => Extent { least: 1, ..Extent::default() },
                None => types.extent(id),
                Some(inner) => match state.get(inner) {
                    Some(&NEW) => {
                        // Come back to this member when it is known.
                        stack.push((inner, 0, EMPTY));
                        continue;
                    }
                    Some(&DONE) => *extents.get(inner).expect("each model has an extent"),
                    _ => {
                        recursive.push(id);
                        Extent::default()
                    }
                },
            };
            *next = next.saturating_add(1);
            sum.least = sum.least.saturating_add(extent.least);
            sum.fixed &= extent.fixed && sum.least != u32::MAX;
            sum.leaves = sum.leaves.saturating_add(extent.leaves);
            // A fault of an image is a fault of every value of it, so a check must not pass over it.
            sum.opaque &= extent.opaque
                && room.is_none_or(|room| {
                    let shape = types.shape(id);
                    extent.least <= room && matches!(shape, Shape::Scalar(_) | Shape::Enum(_) | Shape::Image { .. })
                });
        }
    }
    recursive.sort_unstable();
    recursive.dedup();
    (extents, recursive)
}

/// The extent of no members.
const EMPTY: Extent = Extent { least: 0, fixed: true, opaque: true, leaves: 0 };

/// A model whose values are part of every value of another.
struct Inner {
    id: ModelId,
    polymorphic: bool,
    /// Bytes from the member's offset to the end of the image around it.
    room: Option<u32>,
}

/// Number `next` of the models whose values lie in every value of this shape.
fn inner(types: &TypeModel, shape: Shape, next: u32) -> Option<Inner> {
    match shape {
        Shape::Record { from, to, prefix: false } => {
            let member = types.members(from, to).get(next as usize)?;
            Some(Inner { id: member.model, polymorphic: member.polymorphic, room: None })
        }
        Shape::Image { from, to, size } => {
            let member = types.members(from, to).get(next as usize)?;
            let room = Some(size.saturating_sub(member.image_offset()));
            Some(Inner { id: member.model, polymorphic: member.polymorphic, room })
        }
        Shape::Proxy { target, prefix: false } => {
            (next == 0).then_some(Inner { id: target, polymorphic: false, room: None })
        }
        _ => None,
    }
}

/// The size of a shape whose inner values take `sum`.
fn finish(shape: Shape, sum: Extent) -> Extent {
    match shape {
        Shape::Record { prefix: false, .. } | Shape::Proxy { prefix: false, .. } => {
            Extent { opaque: sum.opaque && sum.fixed, ..sum }
        }
        Shape::Image { size, .. } => Extent { least: size, fixed: true, opaque: sum.opaque && sum.fixed, ..sum },
        Shape::Scalar(builtin) | Shape::Enum(builtin) => builtin.extent(),
        Shape::Record { .. } | Shape::Proxy { .. } | Shape::List(_) | Shape::Dictionary(..) => {
            Extent { least: 1, ..Extent::default() }
        }
        Shape::Unknown(_) => Extent::default(),
    }
}
