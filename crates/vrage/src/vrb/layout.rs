//! The fixed structs of an archive (docs/formats/vrb.md §1): little-endian, packed, cast in place.

use crate::bytes::le;
use crate::codec;
use crate::schema;
use zerocopy::IntoBytes;

/// "VR3B", and the seed of every checksum.
pub const MAGIC: u32 = 0x4233_5256;

/// The one version there is.
pub const VERSION: u32 = 1;

schema! {
    /// The place of the stored bytes of a table or chunk, and the way in which they are stored.
    #[derive(IntoBytes)]
    pub struct ArchiveEntry: 36 {
        /// The offset from the start of the file.
        pub offset: le::I64,
        /// XXH64 of the stored bytes, seeded with the magic.
        pub checksum: le::U64,
        /// Bytes in the file.
        pub entry_size: le::I64,
        /// Bytes after decompression.
        pub uncompressed_size: le::I64,
        /// 0 none, 1 zlib, 2 Brotli.
        pub compression_type: u8,
        /// Zero in every known file. In a chunk's entry this byte is most likely `DeltaEncoded`.
        pub delta_encoded: u8,
        /// Zero.
        pub padding: [u8; 2],
    }

    /// The entry of a chunk.
    #[derive(IntoBytes)]
    pub struct ChunkArchiveEntry: 40 {
        /// The place of its stored bytes, and how they are stored.
        pub entry: ArchiveEntry,
        /// Model index of the value that the chunk holds.
        pub root_type: le::I32,
    }

    /// The header: the first 192 bytes.
    #[derive(IntoBytes)]
    pub struct ArchiveHeader: 192 {
        /// [`MAGIC`].
        pub magic: le::U32,
        /// [`VERSION`].
        pub version: le::U32,
        /// XXH64 of the header with this field zero, seeded with the magic.
        pub checksum: le::U64,
        /// The bundle table.
        pub bundle_table: ArchiveEntry,
        /// The type table.
        pub type_table: ArchiveEntry,
        /// The chunk table; all zero when there are no extra chunks.
        pub chunk_table: ArchiveEntry,
        /// Records in the bundle table.
        pub bundle_count: le::I32,
        /// Records in the chunk table.
        pub chunk_count: le::I32,
        /// The main chunk.
        pub main_chunk: ChunkArchiveEntry,
        /// Zero in every known file.
        pub reserved: [u8; 20],
    }
}

impl ArchiveHeader {
    /// The checksum of the other fields.
    pub(super) fn computed_checksum(mut self) -> u64 {
        self.checksum = le::U64::ZERO;
        codec::xxh64(self.as_bytes(), MAGIC.into())
    }
}
