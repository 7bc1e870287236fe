//! The on-disk structs of `.idx` indexes (docs/formats/wows.md).
//!
//! All little-endian, and no table is aligned. A pointer of [`v2::Metadata`] and its like counts from the end of the
//! [`Header`]; a pointer to a name counts from the base that the struct says.

use crate::bytes::le::{I64, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The first bytes of an index.
pub const MAGIC: [u8; 4] = *b"ISFP";

/// The file header (§1), at offset 0 of every variant.
#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 4],
    /// One of [`super::Variant`].
    pub variant: U32,
    /// MurmurHash3 of everything after the header.
    pub checksum: U32,
    /// Bits of a pointer: 64, or 32 in [`v1`].
    pub pointer_width: U32,
}
const _: () = assert!(size_of::<Header>() == 16);

/// The trailer of a blob in a volume (§5).
#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Trailer {
    /// Zero.
    pub zero: U32,
    /// CRC-32 of the decoded bytes, as in the index.
    pub crc32: U32,
    /// The decoded size in bytes, as in the index.
    pub size: U64,
}
const _: () = assert!(size_of::<Trailer>() == 16);

/// Today's variant, 0x02000000 (§2).
pub mod v2 {
    use super::*;

    /// Counts and places of the tables.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Metadata {
        /// Folders and files that are named.
        pub resources: U32,
        /// Files that have bytes.
        pub files: U32,
        /// Volumes.
        pub volumes: U32,
        /// Zero.
        pub reserved: U32,
        /// Pointer to the resources.
        pub resources_at: U64,
        /// Pointer to the files.
        pub files_at: U64,
        /// Pointer to the volumes.
        pub volumes_at: U64,
    }
    const _: () = assert!(size_of::<Metadata>() == 40);

    /// The name of a folder or a file.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Resource {
        /// Bytes of the name, its NUL included.
        pub name_len: U64,
        /// Pointer to the name, from this struct.
        pub name: I64,
        /// CityHash64 of the path.
        pub id: U64,
        /// The id of its folder.
        pub parent: U64,
    }
    const _: () = assert!(size_of::<Resource>() == 32);

    /// The place of a file's bytes.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct File {
        /// The id of its resource.
        pub id: U64,
        /// The id of its volume.
        pub volume: U64,
        /// The file's first byte in the volume.
        pub offset: U64,
        /// How it is stored, with `codec`.
        pub method: U32,
        /// How it is stored, with `method`.
        pub codec: U32,
        /// Bytes in the volume.
        pub stored_size: U32,
        /// CRC-32 of the decoded bytes.
        pub crc32: U32,
        /// The decoded size in bytes.
        pub size: U64,
    }
    const _: () = assert!(size_of::<File>() == 48);

    /// A volume.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Volume {
        /// Bytes of the name, its NUL included.
        pub name_len: U64,
        /// Pointer to the name, from this struct.
        pub name: I64,
        /// CityHash64 of the name.
        pub id: U64,
    }
    const _: () = assert!(size_of::<Volume>() == 24);
}

/// The variant of 32 bits, 0x01010004 (§3).
pub mod v1 {
    use super::*;

    /// Counts and places of the tables.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Metadata {
        /// Folders and files that are named.
        pub resources: U32,
        /// Pointer to the resources.
        pub resources_at: U32,
        /// Files that have bytes.
        pub files: U32,
        /// Pointer to the files.
        pub files_at: U32,
        /// Volumes.
        pub volumes: U32,
        /// Pointer to the volumes.
        pub volumes_at: U32,
    }
    const _: () = assert!(size_of::<Metadata>() == 24);

    /// The name of a folder or a file.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Resource {
        /// CityHash64 of the path.
        pub id: U64,
        /// The id of its folder.
        pub parent: U64,
        /// Bytes of the name, its NUL included.
        pub name_len: U32,
        /// Pointer to the name, from `name_len`.
        pub name: U32,
    }
    const _: () = assert!(size_of::<Resource>() == 24);

    /// The place of a file's bytes; [`super::legends`] has the same.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct File {
        /// The file's first byte in the volume.
        pub offset: U64,
        /// Zero.
        pub reserved: U32,
        /// Bytes in the volume.
        pub stored_size: U32,
        /// CRC-32 of the decoded bytes.
        pub crc32: U32,
        /// The decoded size in bytes.
        pub size: U32,
        /// How it is stored, with `codec`.
        pub method: U32,
        /// How it is stored, with `method`.
        pub codec: U32,
        /// The id of its resource.
        pub id: U64,
        /// The id of its volume.
        pub volume: U64,
    }
    const _: () = assert!(size_of::<File>() == 48);

    /// A volume.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Volume {
        /// CityHash64 of the name.
        pub id: U64,
        /// Bytes of the name, its NUL included.
        pub name_len: U32,
        /// Pointer to the name, from `name_len`.
        pub name: U32,
    }
    const _: () = assert!(size_of::<Volume>() == 16);
}

/// The variant of World of Warships: Legends, 0x01010005 (§4).
pub mod legends {
    use super::*;

    pub use super::v1::File;

    /// Counts and places of the tables.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Metadata {
        /// Folders and files that are named.
        pub resources: U64,
        /// Pointer to the resources.
        pub resources_at: U64,
        /// Files that have bytes.
        pub files: U64,
        /// Pointer to the files.
        pub files_at: U64,
        /// Volumes.
        pub volumes: U64,
        /// Pointer to the volumes.
        pub volumes_at: U64,
    }
    const _: () = assert!(size_of::<Metadata>() == 48);

    /// The name of a folder or a file.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Resource {
        /// CityHash64 of the path.
        pub id: U64,
        /// The id of its folder.
        pub parent: U64,
        /// Bytes of the name, its NUL included.
        pub name_len: U64,
        /// Pointer to the name, from `name_len`.
        pub name: I64,
    }
    const _: () = assert!(size_of::<Resource>() == 32);

    /// A volume.
    #[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
    #[repr(C)]
    pub struct Volume {
        /// CityHash64 of the name.
        pub id: U64,
        /// Not known.
        pub unknown: U64,
        /// Bytes of the name, its NUL included.
        pub name_len: U64,
        /// Pointer to the name, from `name_len`.
        pub name: I64,
    }
    const _: () = assert!(size_of::<Volume>() == 32);
}
