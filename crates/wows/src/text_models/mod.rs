//! Text models of World of Warships, as mods and the publisher's Mods SDK have them: `.visual`, `.model` and `.mfm`, and the lists of
//! models, `.info`. The game's own are records of `assets.bin`.
//!
//! Two dialects exist: older files have `renderSet` elements with the names of buffers, newer ones mirror the records of the
//! database. Both give the same tables.

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
