//! How people name a value in a chunk: `DefinitionSets.World._definitions[3].Guid`.

use crate::bytes::Utf16;
pub use crate::table::path::{Path, Step};
pub(super) use crate::table::path::{push_index, push_name};

/// Whether outputs show `text` as `shown`: surrogates without their partners have a form of their own.
pub(super) fn is_shown(text: Utf16<'_>, shown: &str) -> bool {
    text == *shown || (text.first_unpaired().is_some() && format!("{text}") == shown)
}
