//! The formats: one folder each, independent of each other.

pub mod bwdb;
pub mod dds;
pub mod gameparams;
pub mod geometry;
pub mod gtex;
#[cfg(feature = "mfm")]
pub mod mfm;
pub mod mo;
pub mod rusty_hearts;
#[cfg(feature = "se2")]
pub mod se2;
pub mod vrb;
pub mod wdata;
pub mod wdb;
pub mod white;
pub mod wows;

use crate::asset::Format;

/// Declares the built-in formats, each with its reader. Those without a magic are asked in this order.
macro_rules! formats {
    ($($(#[doc = $about:literal])* $(#[cfg($when:meta)])? $name:ident = $reader:ty;)*) => {
        impl Format {
            $($(#[doc = $about])* $(#[cfg($when)])? pub const $name: Self = Self::of::<$reader>();)*

            /// All built-in formats.
            pub const BUILT_IN: &'static [Self] = &[$($(#[cfg($when)])? Self::$name),*];
        }
    };
}

formats! {
    /// World of Warships prototype database, `assets.bin`.
    BWDB = bwdb::Database;
    /// VRage 3 archive, `.vrb`.
    VRB = vrb::VrbArchive;
    /// FINAL FANTASY XIII trilogy sheet, `.wdb`.
    WDB = wdb::Sheet;
    /// FINAL FANTASY XIII trilogy pack that holds no sheet.
    WPD = wdb::Pack;
    /// Rusty Hearts map, `.wdata`.
    WDATA = wdata::Map;
    /// World of Warships geometry, `.geometry`.
    GEOMETRY = geometry::Geometry;
    /// World of Warships merged models of a space, `models.bin`.
    MODELS = bwdb::Models;
    /// World of Warships instances of a space, `space.bin`.
    SPACE = bwdb::Space;
    /// World of Warships hit-location boxes, `.splash`.
    SPLASH = geometry::Splash;
    /// World of Warships material of a mod, `.mfm`.
    #[cfg(feature = "mfm")]
    MFM = mfm::Material;
    /// DirectDraw Surface texture, `.dds`.
    DDS = dds::Dds;
    /// Textures of the FINAL FANTASY XIII trilogy, `.trb` and `.txbh` with `.imgb`.
    GTEX = gtex::Textures;
    /// World of Warships parameters, `GameParams.data`.
    GAMEPARAMS = gameparams::Params;
    /// Texts of a game, GNU MO.
    MO = mo::Catalog;
    /// World of Warships archive: the game's folder, or an `.idx` of it.
    WOWS = wows::WowsArchive;
    /// FINAL FANTASY XIII trilogy data folder, or a list `filelist*.bin`.
    WHITE = white::WhiteArchive;
    /// Rusty Hearts folder, or its list `f00X.dat`.
    RUSTY_HEARTS = rusty_hearts::RustyHeartsArchive;
    /// Space Engineers 2 content folder, or the game's folder that has one.
    #[cfg(feature = "se2")]
    SE2 = se2::Se2Archive;
}
