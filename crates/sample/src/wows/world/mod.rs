//! The world of a sample: the cruiser *Aurora*, what stands on her, the harbour that she lies in, and the database, parameters and
//! texts that name all of it.
//!
//! `cruiser` is the ship as data, in metres, and `shape` turns data into triangles. `model` adds nodes, levels of detail and armour,
//! `paint` the textures, `database` and `parameters` what lists and names them, `harbour` a space, and `game` writes the files.
//! Nothing is random and nothing is of a game. Paths and names have the form of the game's own.

mod cruiser;
mod database;
mod game;
mod harbour;
mod model;
mod paint;
mod parameters;
mod shape;

pub use cruiser::Skin;
pub use database::{AURORA, Build, database};
pub use game::{
    BUILDS, beside, folder, material, ship_geometry, ship_model, ship_visual, turret_geometry, turret_model,
    turret_visual,
};
pub use harbour::{geometry as harbour_geometry, models as harbour_models, space as harbour_space};
pub use paint::albedo;
pub use parameters::{parameters, titles};

/// The hit boxes of the *Aurora*.
pub fn ship_splash() -> Vec<u8> {
    model::hit_boxes(&cruiser::FLEET[0])
}
