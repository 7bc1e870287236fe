//! The on-disk structs of `.idx` indexes (docs/formats/wows.md).
//!
//! All little-endian, and no table is aligned. A pointer of [`v2::Metadata`] and its like counts from the end of the
//! [`IndexHeader`]; a pointer to a name counts from the base that the struct says.

use crate::bytes::le::{I64, U32, U64};
use crate::schema;

/// The first bytes of an index.
pub const MAGIC: [u8; 4] = *b"ISFP";

schema! {
    /// The file header (§1), at offset 0 of every variant.
    pub struct IndexHeader: 16 {
        /// [`MAGIC`].
        pub magic: [u8; 4],
        /// One of [`super::Variant`].
        pub variant: U32,
        /// MurmurHash3 of everything after the header.
        pub checksum: U32,
        /// Bits of a pointer: 64, or 32 in [`v1`].
        pub pointer_width: U32,
    }

    /// The trailer of a blob in a volume (§5).
    pub struct Trailer: 16 {
        /// Zero.
        pub zero: U32,
        /// CRC-32 of the decoded bytes, as in the index.
        pub crc32: U32,
        /// The decoded size in bytes, as in the index.
        pub size: U64,
    }
}

/// Today's variant, 0x02000000 (§2).
pub mod v2 {
    use super::*;

    schema! {
        /// Counts and places of the tables.
        pub struct Metadata: 40 {
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

        /// The name of a folder or a file.
        pub struct ResourceRow: 32 {
            /// Bytes of the name, its NUL included.
            pub name_len: U64,
            /// Pointer to the name, from this struct.
            pub name: I64,
            /// CityHash64 of the path.
            pub id: U64,
            /// The id of its folder.
            pub parent: U64,
        }

        /// The place of a file's bytes.
        pub struct FileRow: 48 {
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

        /// A volume.
        pub struct VolumeRow: 24 {
            /// Bytes of the name, its NUL included.
            pub name_len: U64,
            /// Pointer to the name, from this struct.
            pub name: I64,
            /// CityHash64 of the name.
            pub id: U64,
        }
    }
}

/// The variant of 32 bits, 0x01010004 (§3). Fields that [`v2`] has, too, are described there.
pub mod v1 {
    use super::*;

    schema! {
        /// Counts and places of the tables.
        pub struct Metadata: 24 {
            pub resources: U32,
            pub resources_at: U32,
            pub files: U32,
            pub files_at: U32,
            pub volumes: U32,
            pub volumes_at: U32,
        }

        /// The name of a folder or a file.
        pub struct ResourceRow: 24 {
            pub id: U64,
            pub parent: U64,
            pub name_len: U32,
            /// Pointer to the name, from `name_len`.
            pub name: U32,
        }

        /// The place of a file's bytes.
        pub struct FileRow: 48 {
            pub offset: U64,
            /// Zero.
            pub reserved: U32,
            pub stored_size: U32,
            pub crc32: U32,
            pub size: U32,
            pub method: U32,
            pub codec: U32,
            pub id: U64,
            pub volume: U64,
        }

        /// A volume.
        pub struct VolumeRow: 16 {
            pub id: U64,
            pub name_len: U32,
            /// Pointer to the name, from `name_len`.
            pub name: U32,
        }
    }
}
