//! Formats: a module for each game, and the traits and parts that a format is made of.
//!
//! A format implements [`Reader`] and [`FileFormat`]; [`Format::add`] adds it to [`Asset::open`](crate::Asset::open) and every
//! command: `examples/custom_format` is a small one.

pub use assetq_core::{
    BuiltIn, ErrorKind, FileFormat, Reader, archive, bytes, compare, dds, error, id, reader, relations, report, scene,
    texture, writable,
};
#[cfg(feature = "ff13")]
pub use assetq_ff13 as ff13;
#[cfg(feature = "rusty-hearts")]
pub use assetq_rusty_hearts as rusty_hearts;
#[cfg(feature = "vrage")]
pub use assetq_vrage as vrage;
#[cfg(feature = "wows")]
pub use assetq_wows as wows;

use assetq_core::Format;

/// DirectDraw Surface texture, `.dds`.
pub const DDS: Format = Format::of::<dds::Dds>();

/// The formats of all games. A file without a magic is offered to them in this order.
pub const BUILT_IN: &[&[Format]] = &[
    #[cfg(feature = "vrage")]
    vrage::FORMATS,
    #[cfg(feature = "ff13")]
    ff13::FORMATS,
    #[cfg(feature = "rusty-hearts")]
    rusty_hearts::FORMATS,
    #[cfg(feature = "wows")]
    wows::FORMATS,
    &[DDS],
];

assetq_core::inventory::submit! {
    BuiltIn { formats: BUILT_IN, prefixes: crate::games::PREFIXES }
}
