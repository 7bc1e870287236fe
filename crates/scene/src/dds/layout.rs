//! The structs of a DDS file (docs/formats/textures.md §1).

use crate::bytes::le;
use crate::schema;

schema! {
    /// The magic and the header.
    pub struct DdsHeader: 128 {
        /// `DDS `.
        pub magic: [u8; 4],
        /// 124.
        pub size: le::U32,
        /// The fields that are used: see [`DEPTH`].
        pub flags: le::U32,
        /// Height of the largest level, in texels.
        pub height: le::U32,
        /// Width of the largest level, in texels.
        pub width: le::U32,
        /// Bytes of a row or of the largest level. Tools disagree, so it is not used.
        pub pitch: le::U32,
        pub depth: le::U32,
        /// Levels; 0 means 1.
        pub mips: le::U32,
        /// Not used.
        pub reserved: [u8; 44],
        /// How texels are stored.
        pub format: PixelFormat,
        /// Not used.
        pub caps: le::U32,
        /// Whether it is a cube map or a volume: see [`CUBE`].
        pub caps2: le::U32,
        /// Not used.
        pub reserved2: [u8; 12],
    }

    /// How texels are stored.
    pub struct PixelFormat: 32 {
        /// 32.
        pub size: le::U32,
        /// The fields that are used: see [`FOUR_CC`].
        pub flags: le::U32,
        pub four_cc: [u8; 4],
        /// Bits of a texel.
        pub bits: le::U32,
        /// Bits of red, green, blue and opacity.
        pub masks: [le::U32; 4],
    }

    /// The header that follows if the four characters are `DX10`.
    pub struct Dx10: 20 {
        pub format: le::U32,
        /// 2, 3 or 4: lines, planes or volumes.
        pub dimension: le::U32,
        /// Whether it is a cube map: see [`DX10_CUBE`].
        pub misc: le::U32,
        /// Textures, or cube maps.
        pub array_size: le::U32,
        /// The meaning of the alpha channel.
        pub misc2: le::U32,
    }
}

pub const MAGIC: [u8; 4] = *b"DDS ";
pub const HEADER_SIZE: u32 = 124;
/// [`DdsHeader::flags`]: the depth is used.
pub const DEPTH: u32 = 0x80_0000;
/// [`PixelFormat::flags`]: the texels have opacity.
pub const ALPHA_PIXELS: u32 = 0x1;
/// [`PixelFormat::flags`]: the texels are opacity only.
pub const ALPHA: u32 = 0x2;
/// [`PixelFormat::flags`]: the four characters are used.
pub const FOUR_CC: u32 = 0x4;
/// [`PixelFormat::flags`]: red, green and blue have masks.
pub const RGB: u32 = 0x40;
/// [`PixelFormat::flags`]: masks of signed channels, from -1 to 1, as `V8U8` has.
pub const SIGNED: u32 = 0x8_0000;
/// [`PixelFormat::flags`]: palettes, YUV, and signed channels with a shade of grey.
pub const NOT_READ: u32 = 0x20 | 0x200 | 0x4_0000;
/// [`PixelFormat::flags`]: the first mask is of a shade of grey.
pub const LUMINANCE: u32 = 0x2_0000;
/// [`DdsHeader::caps2`]: a cube map.
pub const CUBE: u32 = 0x200;
/// [`DdsHeader::caps2`]: its six faces.
pub const FACES: u32 = 0xFC00;
pub const VOLUME: u32 = 0x20_0000;
pub const DX10_CUBE: u32 = 0x4;
pub const DX10_VOLUME: u32 = 4;
/// The number at [`PREPARED_AT`] of a file that only a proprietary library restores ("bc7prep").
pub const PREPARED: u32 = 0x7BC;
/// See [`PREPARED`].
pub const PREPARED_AT: usize = 148;
