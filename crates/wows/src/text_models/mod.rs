//! Text models of World of Warships, as mods and the publisher's Mods SDK have them: `.visual`, `.model` and `.mfm`, and the lists of
//! models, `.info`. The game's own are records of `assets.bin`.
//!
//! Two dialects exist: older files have `renderSet` elements with the names of buffers, newer ones mirror the records of the
//! database. Both give the same tables.

/// Opens files whose root element is named after the file, and has its ending.
macro_rules! text_format {
    ($type:ty, $name:literal, $ending:expr, $about:literal) => {
        impl $type {
            /// Opens `source`.
            ///
            /// # Errors
            /// `Unsupported` for packed XML; `Damaged`, with the line, if a file that is read at once is no XML.
            pub fn open(from: impl assetq_core::Openable) -> Result<Self> {
                <Self as crate::reader::FileFormat>::open_as(
                    from.open_source(&Options::default())?,
                    &Options::default(),
                )
            }
        }

        impl crate::reader::FileFormat for $type {
            const NAME: &'static str = $name;
            const GAME: &'static str = "World of Warships";
            const ABOUT: &'static str = $about;
            const ENDINGS: &'static [&'static str] = &[$ending];

            fn likeness(data: &[u8]) -> crate::reader::Likeness {
                crate::reader::Likeness::by_shape(super::document::has_root(data, $ending))
            }

            fn confirms_ending(head: &[u8]) -> bool {
                super::document::has_tags(head)
            }

            fn open_as(source: Source, options: &Options) -> Result<Self> {
                super::document::check_head(&source)?;
                Self::read(source, options)
            }
        }
    };
}
use text_format;

mod companions;
mod document;
mod info;
mod material;
mod model;
mod references;
mod visual;
mod writer;

pub use companions::Companions;
pub use info::ModelList;
pub use material::Material;
pub use model::ModelFile;
pub use visual::VisualFile;
