use std::borrow::Cow;

/// How the texels of a texture are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TexelFormat {
    /// Blocks of 8 bytes: colours of 5, 6 and 5 bits, with or without a transparent one. Also called DXT1.
    Bc1,
    /// Blocks of 16 bytes: BC1 and 4 bits of opacity. Also called DXT3.
    Bc2,
    /// Blocks of 16 bytes: BC1 and interpolated opacity. Also called DXT5.
    Bc3,
    /// Blocks of 8 bytes: one channel. Also called ATI1.
    Bc4 {
        /// Whether values reach from -1 to 1.
        signed: bool,
    },
    /// Blocks of 16 bytes: two channels. Also called ATI2.
    Bc5 {
        /// Whether values reach from -1 to 1.
        signed: bool,
    },
    /// Blocks of 16 bytes: three floats of 16 bits.
    Bc6h {
        /// Whether values may be negative.
        signed: bool,
    },
    /// Blocks of 16 bytes: colour and opacity of 4 to 8 bits.
    Bc7,
    /// Integers of 8 to 32 bits whose channels are bit masks.
    Masked(Masks),
    /// Integers of 8 to 32 bits whose channels are bit masks, each signed and from -1 to 1: `V8U8`.
    Signed(Masks),
    /// A format of DXGI that is not decoded, by its number.
    Dxgi(u32),
    /// A format that is not decoded, by its four characters.
    FourCc([u8; 4]),
}

/// The bits of each channel in a texel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Masks {
    /// Bits of a texel: 8, 16, 24 or 32.
    pub bits: u32,
    /// Bits of red, green, blue and opacity; 0 for a channel that is absent.
    pub channels: [u32; 4],
    /// Whether the first channel stands for red, green and blue.
    pub is_grey: bool,
}

impl Masks {
    /// Red, green, blue and opacity of 8 bits each, in this order.
    pub const RGBA8: Self = Self { bits: 32, channels: [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000], is_grey: false };

    fn name(&self) -> String {
        let letters = if self.is_grey { ['L', ' ', ' ', 'A'] } else { ['R', 'G', 'B', 'A'] };
        let present = self.present(letters);
        if present.iter().all(|(_, width)| *width == 8) {
            return present.iter().map(|(letter, _)| *letter).chain(['8']).collect();
        }
        present.iter().map(|(letter, width)| format!("{letter}{width}")).collect()
    }

    /// The letter and the bits of each channel that is present.
    fn present(&self, letters: [char; 4]) -> Vec<(char, u32)> {
        let widths = self.channels.map(u32::count_ones);
        letters.into_iter().zip(widths).filter(|(_, width)| *width > 0).collect()
    }

    /// The name in Direct3D of these masks of signed channels: the last channel is first.
    fn signed_name(&self) -> String {
        self.present(['U', 'V', 'W', 'Q']).iter().rev().map(|(letter, width)| format!("{letter}{width}")).collect()
    }
}

impl TexelFormat {
    /// The format that DXGI numbers so.
    pub const fn from_dxgi(number: u32) -> Self {
        const fn masked(bits: u32, channels: [u32; 4]) -> TexelFormat {
            TexelFormat::Masked(Masks { bits, channels, is_grey: false })
        }
        match number {
            27..=29 => Self::Masked(Masks::RGBA8),
            48 | 49 => masked(16, [0xFF, 0xFF00, 0, 0]),
            60 | 61 => Self::Masked(Masks { bits: 8, channels: [0xFF, 0, 0, 0], is_grey: true }),
            65 => masked(8, [0, 0, 0, 0xFF]),
            70..=72 => Self::Bc1,
            73..=75 => Self::Bc2,
            76..=78 => Self::Bc3,
            79 | 80 => Self::Bc4 { signed: false },
            81 => Self::Bc4 { signed: true },
            82 | 83 => Self::Bc5 { signed: false },
            84 => Self::Bc5 { signed: true },
            85 => masked(16, [0xF800, 0x07E0, 0x001F, 0]),
            86 => masked(16, [0x7C00, 0x03E0, 0x001F, 0x8000]),
            87 | 90 | 91 => masked(32, [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]),
            88 | 92 | 93 => masked(32, [0xFF_0000, 0xFF00, 0xFF, 0]),
            94 | 95 => Self::Bc6h { signed: false },
            96 => Self::Bc6h { signed: true },
            97..=99 => Self::Bc7,
            115 => masked(16, [0x0F00, 0x00F0, 0x000F, 0xF000]),
            other => Self::Dxgi(other),
        }
    }

    /// The format with these four characters.
    pub const fn from_four_cc(four_cc: [u8; 4]) -> Self {
        match &four_cc {
            b"DXT1" => Self::Bc1,
            b"DXT2" | b"DXT3" => Self::Bc2,
            b"DXT4" | b"DXT5" => Self::Bc3,
            b"ATI1" | b"BC4U" => Self::Bc4 { signed: false },
            b"BC4S" => Self::Bc4 { signed: true },
            b"ATI2" | b"BC5U" => Self::Bc5 { signed: false },
            b"BC5S" => Self::Bc5 { signed: true },
            _ => Self::FourCc(four_cc),
        }
    }

    /// The name that outputs use: `BC1` to `BC7`, `RGBA8`, `R5G6B5`, `DXGI 10`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Bc1 => "BC1".into(),
            Self::Bc2 => "BC2".into(),
            Self::Bc3 => "BC3".into(),
            Self::Bc4 { signed } => if signed { "BC4S" } else { "BC4" }.into(),
            Self::Bc5 { signed } => if signed { "BC5S" } else { "BC5" }.into(),
            Self::Bc6h { signed } => if signed { "BC6HS" } else { "BC6H" }.into(),
            Self::Bc7 => "BC7".into(),
            Self::Masked(masks) => masks.name().into(),
            Self::Signed(masks) => masks.signed_name().into(),
            Self::Dxgi(number) => format!("DXGI {number}").into(),
            Self::FourCc(text) => format!("FourCC {}", text.escape_ascii()).into(),
        }
    }

    /// Bytes of a block of 4 by 4 texels; `None` for a format without blocks.
    pub const fn block_size(self) -> Option<usize> {
        match self {
            Self::Bc1 | Self::Bc4 { .. } => Some(8),
            Self::Bc2 | Self::Bc3 | Self::Bc5 { .. } | Self::Bc6h { .. } | Self::Bc7 => Some(16),
            Self::Masked(_) | Self::Signed(_) | Self::Dxgi(_) | Self::FourCc(_) => None,
        }
    }

    /// Bytes of `width` by `height` texels. `None` if texels have no known size.
    pub fn size(self, width: u32, height: u32) -> Option<u64> {
        match self {
            Self::Masked(masks) | Self::Signed(masks) => {
                let row = u64::from(width).checked_mul(masks.bits.into())?.div_ceil(8);
                row.checked_mul(height.into())
            }
            Self::Dxgi(_) | Self::FourCc(_) => None,
            _ => {
                let [across, down] = [width, height].map(|size| u64::from(size.div_ceil(4).max(1)));
                across.checked_mul(down)?.checked_mul(self.block_size()? as u64)
            }
        }
    }
}
