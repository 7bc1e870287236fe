//! Thickness of armour plates: a file of meshes has the plates, a file of parameters has their millimetres.
//!
//! A format whose files state how thick plates are has the facet [`Plating`]. Both sides know a plate by its layer and its
//! material.

pub use crate::scene::plates::{PlateUse, SCALE, band};

use crate::error::Result;

/// Files that state the thickness of plates by the models that these are part of.
pub trait Plating: Sync {
    /// The ships, mounts and other things that use the model of the file of meshes called `file`, in order.
    fn armor_of(&self, file: &str) -> Result<Vec<PlateUse>>;

    /// Why [`Plating::armor_of`] is empty for `file`, with the nearest models.
    fn why_unknown(&self, file: &str) -> Result<String>;
}
