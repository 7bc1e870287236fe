//! The fixed structs of an archive (docs/formats/vrb.md §1): little-endian, packed, cast in place.

use crate::bytes::le;
use crate::codec;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// "VR3B", and the seed of every checksum.
pub const MAGIC: u32 = 0x4233_5256;

/// The one version there is.
pub const VERSION: u32 = 1;

/// The place of the stored bytes of a table or chunk, and the way in which they are stored.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ArchiveEntry {
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
const _: () = assert!(size_of::<ArchiveEntry>() == 36);

/// The entry of a chunk.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ChunkArchiveEntry {
    /// The place of its stored bytes, and how they are stored.
    pub entry: ArchiveEntry,
    /// Model index of the value that the chunk holds.
    pub root_type: le::I32,
}
const _: () = assert!(size_of::<ChunkArchiveEntry>() == 40);

/// The header: the first 192 bytes.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct ArchiveHeader {
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
impl ArchiveHeader {
    /// The checksum of the other fields.
    pub(super) fn computed_checksum(mut self) -> u64 {
        self.checksum = le::U64::ZERO;
        codec::xxh64(self.as_bytes(), MAGIC.into())
    }
}

const _: () = assert!(size_of::<ArchiveHeader>() == 192);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, bundle_table) == 16);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, type_table) == 52);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, chunk_table) == 88);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, bundle_count) == 124);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, main_chunk) == 132);
const _: () = assert!(std::mem::offset_of!(ArchiveHeader, reserved) == 172);
