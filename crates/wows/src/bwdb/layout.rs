//! The on-disk structs of `assets.bin`, `models.bin` and `space.bin` (docs/formats/bwdb.md).
//!
//! All little-endian. A pointer is an i64 relative to the struct that holds it (the sub-struct, where it is in one);
//! 0 is null.

use crate::bytes::le::{F32, I64, U16, U32, U64};
use crate::packed_string::PackedString;
use crate::schema;

/// The magic: the u32 0x42574442, "BWDB" from its highest byte down, so that the file begins with "BDWB".
pub const MAGIC: [u8; 4] = 0x4257_4442u32.to_le_bytes();
/// The letters of the magic in the order of the file. No packer is known to write them so; they are taken for the
/// magic.
pub const MAGIC_IN_ORDER: [u8; 4] = *b"BWDB";

schema! {
    /// The file header (§2.2), at offset 0.
    pub struct BwdbHeader: 0x10 {
        /// [`MAGIC`] or [`MAGIC_IN_ORDER`].
        pub magic: [u8; 4],
        /// Alignment of the packer.
        pub alignment: U16,
        /// 1; 0 in files of World of Warships: Legends, which are not read.
        pub packed: u8,
        /// 1.
        pub version: u8,
        /// MurmurHash3 of everything after the header (an older document states CRC-32: §2.3).
        pub checksum: U32,
        /// Bits of a pointer: 64.
        pub pointer_width: U16,
        /// 0 for little-endian.
        pub endianness: U16,
    }

    /// The body header (§2.4), at offset 0x10.
    pub struct Body: 0x60 {
        /// Base of its pointers: 0x10.
        pub strings: Strings,
        /// Base of its pointers: 0x38.
        pub resources: HashMap,
        /// Base of its pointer: 0x50.
        pub paths: Array,
        /// The base of its pointer is 0x10, unlike the other bases.
        pub databases: Array,
    }

    /// A hash map (§3.1) with open addressing: `capacity` buckets and as many values.
    pub struct HashMap: 0x18 {
        pub capacity: U32,
        _pad: [u8; 4],
        pub buckets: I64,
        pub values: I64,
    }

    /// The map from name ids to texts, and the pool that holds the texts.
    pub struct Strings: 0x28 {
        /// The map from a name id to the position of its text in the pool.
        pub offsets: HashMap,
        /// Bytes of the pool.
        pub size: U32,
        _pad: [u8; 4],
        pub data: I64,
    }

    pub struct Array: 0x10 {
        pub count: U32,
        _pad: [u8; 4],
        pub data: I64,
    }

    /// A bucket of the strings map (§3.2).
    pub struct StringBucket: 8 {
        /// MurmurHash3 of the text.
        pub key: U32,
        /// Bit 31 when occupied, 0 when empty.
        pub occupied: U32,
    }

    /// A bucket of the resource-to-prototype map (§3.3).
    pub struct ResourceBucket: 0x10 {
        pub key: U64,
        /// 1 or bit 63 when occupied, 0 when empty.
        pub occupied: U64,
    }

    /// One path (§4): a name below a parent.
    pub struct PathEntry: 0x20 {
        /// CityHash64 of the whole path.
        pub self_id: U64,
        /// The `self_id` of the folder; 0 for the root.
        pub parent_id: U64,
        /// The last component of the path.
        pub name: PackedString,
    }

    /// One table of records (§5.1).
    pub struct DatabaseEntry: 0x18 {
        /// MurmurHash3 of the prototype's type name.
        pub magic: U32,
        /// MurmurHash3 of the prototype's schema text.
        pub checksum: U32,
        /// Bytes of the blob.
        pub size: U32,
        _pad: [u8; 4],
        /// Pointer to the blob.
        pub data: I64,
    }

    /// The header of a blob (§5.2): fixed-size records, followed by the data that they point to.
    pub struct BlobHeader: 0x10 {
        pub count: I64,
        /// Pointer to the records: 0x10.
        pub records: I64,
    }

    /// The header of `models.bin` (§8). Base of its pointers: 0.
    pub struct ModelsHeader: 0x18 {
        pub models: U32,
        pub skeletons: U16,
        /// Number of bones in all.
        pub bones: U16,
        /// Pointer to the models, 0xA8 bytes each.
        pub models_data: I64,
        /// Pointer to the skeletons, 0x30 bytes each.
        pub skeletons_data: I64,
    }

    /// The header of `space.bin` (§9): counts, and the pointers that belong to them. Base of the pointers: 0.
    ///
    /// Public readers know the instances and the point lights. The other arrays are distinguished by their position; "probes" and "decals"
    /// are named after the names that they contain.
    pub struct SpaceHeader: 0x60 {
        /// Instances, 0x70 bytes each; second array (0x58 bytes each), third array (0x68 bytes each), point lights (0xC0
        /// bytes each), probes, decals (0x70 bytes each), and two that are 0 in every known file.
        pub counts: [U32; 8],
        /// Pointer to the arrays that the counts belong to.
        pub data: [I64; 8],
    }

    /// A model placed in a space (§9).
    pub struct Instance: 0x70 {
        /// Row-major 4 x 4; the last row is the position.
        pub transform: [F32; 16],
        /// An identifier that some instances carry.
        pub name: PackedString,
        /// Path id of the `.model`.
        pub id: U64,
        /// Flags that no reader names.
        pub flags: U32,
        _unknown: [u8; 20],
    }
}
