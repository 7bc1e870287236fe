//! The structs of a file of texts.

use crate::bytes::le;
use crate::schema;

/// The number that a file begins with.
pub const MAGIC: u32 = 0x9504_12DE;

schema! {
    /// The header (docs/formats/mo.md §1).
    pub struct MoHeader: 28 {
        /// [`MAGIC`].
        pub magic: le::U32,
        /// The version: its upper half tells layouts apart.
        pub revision: le::U32,
        /// The number of texts.
        pub count: le::U32,
        /// Where the places of ids are.
        pub ids: le::U32,
        /// Where the places of texts are.
        pub texts: le::U32,
        /// Entries of the hash table.
        pub hash_size: le::U32,
        /// Where the hash table is.
        pub hashes: le::U32,
    }

    /// The place of an id or a text.
    pub struct Stretch: 8 {
        /// Bytes, without the NUL after them.
        pub len: le::U32,
        /// Where they begin.
        pub at: le::U32,
    }
}
