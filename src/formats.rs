//! Formats: a module for each game, and the traits and parts that a format is made of.
//!
//! A format implements [`Reader`] and [`FileFormat`]; [`Format::add`] adds it to [`Asset::open`](crate::Asset::open) and every
//! command. [`schema!`] declares the structs of a file with their columns: `examples/custom_format`.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! use assetq::formats::{Reader as _, dds::Dds};
//! use assetq::{Asset, Source};
//!
//! let bytes = assetq_sample::dds::demo(1, assetq_sample::Size::Small);
//! let asset = Asset::open(Source::from_vec("hull_a.dds", bytes))?;
//! // The reader of one format has more than tables.
//! let texture = asset.get::<Dds>().expect("it is a texture");
//! assert!(texture.verify(&Default::default()).is_ok());
//! # Ok(())
//! # }
//! ```

pub use assetq_core::{
    BuiltIn, ErrorKind, FileFormat, Openable, Reader, archive, bytes, compare, error, id, reader, relations, report,
    schema, source, writable,
};
#[cfg(feature = "ff13")]
pub use assetq_ff13 as ff13;
#[cfg(feature = "rusty-hearts")]
pub use assetq_rusty_hearts as rusty_hearts;
pub use assetq_scene::{self as scene, dds, texture};
#[cfg(feature = "vrage")]
pub use assetq_vrage as vrage;
#[cfg(feature = "wows")]
pub use assetq_wows as wows;

pub mod games;

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

/// The same list for [`list`].
static LIST: BuiltIn = BuiltIn { formats: BUILT_IN, prefixes: games::PREFIXES, archive_tables: &[texture::in_archive] };

assetq_core::inventory::submit! {
    BuiltIn { formats: BUILT_IN, prefixes: games::PREFIXES, archive_tables: &[texture::in_archive] }
}

/// Makes [`Asset::open`](crate::Asset::open) know the built-in formats in a static library, from which a linker takes only what is
/// called: such a library calls this before it opens a file. Programs in Rust need no call.
pub fn list() {
    LIST.list();
}
