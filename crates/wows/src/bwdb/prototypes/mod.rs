//! Views of every prototype record, as the current build lays them out (docs/formats/bwdb.md §6 and §7).
//!
//! The base of every pointer is the start of the struct that holds it.

mod effect;
mod light;
mod material;
mod other;
mod visual;

pub use effect::*;
pub use light::*;
pub use material::*;
pub use other::*;
pub use visual::*;

use super::record::{Type, Typed, Walker};
use crate::bytes::View;
use crate::error::Result;

macro_rules! prototype_types {
    ($($(#[$meta:meta])* $variant:ident = $magic:literal;)+) => {
        /// The prototype types whose records are laid out.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum PrototypeType { $($(#[$meta])* $variant,)+ }

        impl PrototypeType {
            /// All types, in the order of docs/formats/bwdb.md §5.3.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The type whose tables have this magic: the MurmurHash3 of its name.
            pub const fn from_magic(magic: u32) -> Option<Self> {
                match magic {
                    $($magic => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The magic of its tables.
            pub const fn magic(self) -> u32 {
                match self { $(Self::$variant => $magic,)+ }
            }

            /// The type of its records.
            pub const fn of(self) -> &'static Type {
                match self { $(Self::$variant => <$variant<'static> as Typed>::OF,)+ }
            }
        }

        /// A record of a known type.
        #[derive(Debug, Clone, Copy)]
        #[non_exhaustive]
        pub enum Prototype<'a> {
            $($(#[$meta])* $variant($variant<'a>),)+
            /// A model as packed before `skeleton_extenders` came.
            ModelV14(ModelV14<'a>),
            /// A record whose layout is declared by data.
            Declared(Declared<'a>),
        }

        impl<'a> Prototype<'a> {
            /// The record of `layout` that lies where `view` is.
            pub(super) fn read(layout: Layout, view: View<'a>) -> Result<Self> {
                Ok(match layout {
                    $(Layout::Current(PrototypeType::$variant) => Self::$variant(Typed::read(view)?),)+
                    Layout::ModelV14 => Self::ModelV14(Typed::read(view)?),
                    Layout::Declared(of) => {
                        view.take(of.size)?;
                        Self::Declared(Declared { of, view })
                    }
                })
            }

            fn located(&self) -> (&'static Type, View<'a>) {
                match self {
                    $(Self::$variant(record) => (<$variant<'static> as Typed>::OF, record.view()),)+
                    Self::ModelV14(record) => (<ModelV14<'static> as Typed>::OF, record.view()),
                    Self::Declared(record) => (record.of, record.view),
                }
            }
        }
    };
}

impl PrototypeType {
    /// The type's name in the engine.
    pub const fn name(self) -> &'static str {
        self.of().name
    }

    /// The name of its table here.
    pub fn table(self) -> &'static str {
        Layout::Current(self).table()
    }
}

impl<'a> Prototype<'a> {
    /// Shows its fields to a walker.
    pub fn walk_fields(&self, walker: &mut dyn Walker<'a>) {
        let (of, view) = self.located();
        of.walk_fields(view, walker);
    }
}

prototype_types! {
    /// Shader, textures and parameters of a surface.
    Material = 0x5069_C471;
    /// The render sets, LODs and skeleton of a mesh.
    Visual = 0x480D_C57B;
    /// Nodes that are added to a skeleton.
    SkeletonExtender = 0x1AE0_23FF;
    /// A visual with its animations and dyes.
    Model = 0xA957_6F28;
    PointLight = 0x0D36_65A4;
    /// Particle systems.
    Effect = 0xEB23_E0AF;
    /// A grid of vectors that moves particles.
    VelocityField = 0xAFD4_A63F;
    /// The effects for high and low settings.
    EffectPreset = 0x42E1_5336;
    /// The parameters of an effect.
    EffectMetadata = 0xDFC8_F8E0;
    /// Outlines of the frames of an atlas.
    AtlasContour = 0xF643_59AA;
}

/// A way in which records are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The layout of the current build.
    Current(PrototypeType),
    /// Models before `skeleton_extenders` came: known by the schema checksum 0xD6B11569.
    ModelV14,
    /// The layout that a layouts file declares.
    Declared(&'static Type),
}

/// A record whose layout is declared by data.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'a> {
    of: &'static Type,
    view: View<'a>,
}

impl Declared<'_> {
    /// How it is laid out.
    pub fn layout(&self) -> &'static Type {
        self.of
    }
}

/// Schema checksums of layouts: the type's schema, hashed, says that records are laid out so.
const CHECKSUMS: &[(u32, Layout)] = &[
    (0xA954_14D5, Layout::Current(PrototypeType::Material)),
    (0x3167_064B, Layout::Current(PrototypeType::Visual)),
    (0xD6B1_1569, Layout::ModelV14),
];

impl Layout {
    /// How records of the type with this magic are laid out, and whether that is known from the schema checksum.
    pub(super) fn known(magic: u32, checksum: u32) -> Option<(Self, bool)> {
        let prototype = PrototypeType::from_magic(magic)?;
        let known =
            CHECKSUMS.iter().find(|(known, layout)| *known == checksum && layout.prototype() == Some(prototype));
        Some(known.map_or((Self::Current(prototype), false), |(_, layout)| (*layout, true)))
    }

    /// The type with this layout, if built in.
    pub const fn prototype(self) -> Option<PrototypeType> {
        match self {
            Self::Current(prototype) => Some(prototype),
            Self::ModelV14 => Some(PrototypeType::Model),
            Self::Declared(_) => None,
        }
    }

    /// The type of the records.
    pub const fn of(self) -> &'static Type {
        match self {
            Self::Current(prototype) => prototype.of(),
            Self::ModelV14 => <ModelV14<'static> as Typed>::OF,
            Self::Declared(of) => of,
        }
    }

    /// Bytes of one record.
    pub const fn size(self) -> usize {
        self.of().size
    }

    /// Offsets of the pointers in it.
    pub fn pointers(self) -> impl Iterator<Item = usize> {
        self.of().fields().iter().filter(|field| !field.is_inline()).map(|field| field.at)
    }

    /// The table that shows records that are laid out so.
    pub fn table(self) -> &'static str {
        self.of().table.unwrap_or(self.of().name)
    }
}

/// Names of prototype types that occur in other builds; their records are shown raw.
const OTHER_TYPES: &[(u32, &str)] = &[
    (0xD9BB_9F4A, "SkeletonPrototype"),
    (0x42AF_895E, "TrailPrototype"),
    (0x2449_A5DE, "MiscTypePrototype"),
    (0xACE3_28C6, "MiscSettingsPrototype"),
    (0xCC72_00F5, "RootPrototype"),
    (0xDF80_CF54, "ModelFbxPrototype"),
    (0xCD88_0533, "VfxMaterialPrototype"),
];

/// The name of the prototype type with this magic, where it is known.
pub fn type_name(magic: u32) -> Option<&'static str> {
    match PrototypeType::from_magic(magic) {
        Some(known) => Some(known.name()),
        None => OTHER_TYPES.iter().find(|(m, _)| *m == magic).map(|(_, name)| *name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::murmur3;

    #[test]
    fn magics_are_hashes_of_the_type_names() {
        for &known in PrototypeType::ALL {
            assert_eq!(murmur3(known.name().as_bytes()), known.magic(), "{}", known.name());
            assert_eq!(PrototypeType::from_magic(known.magic()), Some(known));
        }
        for &(magic, name) in OTHER_TYPES {
            assert_eq!(murmur3(name.as_bytes()), magic, "{name}");
        }
    }

    #[test]
    fn record_sizes_are_those_of_the_document() {
        let sizes: Vec<usize> = PrototypeType::ALL.iter().map(|&t| Layout::Current(t).size()).collect();
        assert_eq!(sizes, [0x78, 0x70, 0x20, 0x28, 0x70, 0x10, 0x18, 0x10, 0x10, 0x10]);
    }

    #[test]
    fn a_field_without_a_column_is_told_in_the_table_or_the_column_that_it_names() {
        use crate::reader::Reader as _;

        let bytes = assetq_sample::bwdb::demo(1, assetq_sample::Size::Small);
        let db = crate::bwdb::Database::open(crate::source::Source::from_vec("assets.bin", bytes)).unwrap();
        let tables = db.tables();
        let table = |name: &str| tables.iter().find(|table| table.name() == name);
        for &prototype in PrototypeType::ALL {
            let of = prototype.of();
            let own = table(of.table.unwrap()).unwrap().columns();
            for (name, told_in) in of.fields().iter().filter_map(|field| Some((field.name, field.told_in?))) {
                let elsewhere = table(told_in).is_some() || own.iter().any(|column| column.name == told_in);
                assert!(elsewhere && own.iter().all(|column| column.name != name), "{name} of {prototype:?}");
            }
        }
    }
}
