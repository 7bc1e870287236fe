//! The structs of a texture of the FINAL FANTASY XIII trilogy (docs/formats/textures.md §4). Big-endian.

use crate::bytes::be;
use crate::schema;

schema! {
    /// The header of a texture.
    pub struct GtexHeader: 24 {
        /// `GTEX`.
        pub magic: [u8; 4],
        /// The version.
        pub version: u8,
        /// Not known.
        pub unknown_5: u8,
        /// How texels are stored: 3 and 4 RGBA8, 0x18 BC1, 0x19 BC2, 0x1A BC3.
        pub format: u8,
        /// Levels.
        pub mips: u8,
        /// Not known.
        pub unknown_8: u8,
        /// 0 flat, 1 a cube map, 2 a volume.
        pub kind: u8,
        /// Width of the largest level.
        pub width: be::U16,
        /// Height of the largest level.
        pub height: be::U16,
        /// Slices of a volume.
        pub depth: be::U16,
        /// The place of the levels' entries, from the header.
        pub levels: be::U32,
        /// 0.
        pub zero: be::U32,
    }

    /// The place of a level in the `.imgb` file.
    pub struct LevelEntry: 8 {
        /// The level's first byte.
        pub offset: be::U32,
        /// The level's bytes.
        pub size: be::U32,
    }
}

/// The magic of a texture.
pub const MAGIC: [u8; 4] = *b"GTEX";
/// The magic of the files that hold textures.
pub const FILE_MAGIC: [u8; 4] = *b"SEDB";
/// Bytes of the header of such a file.
pub const HEADER_SIZE: usize = 0x30;
