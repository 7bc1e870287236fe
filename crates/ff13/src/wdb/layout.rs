//! The fixed structs of the container (docs/formats/wdb.md §1), big-endian.

use crate::bytes::be;
use crate::schema;
use zerocopy::IntoBytes;

/// "WPD" and its NUL.
pub const MAGIC: [u8; 4] = *b"WPD\0";

schema! {
    /// The first bytes of the file.
    #[derive(IntoBytes)]
    pub struct WdbHeader: 0x10 {
        /// [`MAGIC`].
        pub magic: [u8; 4],
        /// Entries that follow, a sheet's sections included.
        pub count: be::U32,
        /// Zero.
        pub reserved: [u8; 8],
    }

    /// One entry: a section or a record of a sheet, or a file in a pack.
    #[derive(IntoBytes)]
    pub struct WdbEntry: 0x20 {
        /// Padded with NULs; a name of 16 bytes has none.
        pub name: [u8; 0x10],
        /// Where its data is, from the start of the file.
        pub offset: be::U32,
        /// Bytes of data, without the padding.
        pub size: be::U32,
        /// Zero in a sheet; the extension in a pack, padded with NULs.
        pub extension: [u8; 8],
    }

    /// The `!!strArrayInfo` section (§4).
    #[derive(IntoBytes)]
    pub struct ArrayInfo: 4 {
        /// Zero.
        pub reserved: [u8; 2],
        /// Items in each word of `!!strArray`.
        pub per_word: u8,
        /// Bits of each item.
        pub bits: u8,
    }
}
