//! The two structs of a map that have a fixed size; everything else is a sequence of fields (see `shapes`).

use crate::bytes::le;
use crate::schema;

schema! {
    /// A row of the event-box table (docs/formats/wdata.md §4.1): the range of the boxes of one type.
    pub struct IndexEntry: 8 {
        /// The offset from the start of the file; of no meaning without boxes.
        pub offset: le::U32,
        /// The number of boxes.
        pub count: le::U32,
    }

    /// The place of a box, which follows the name in every record that has a place (§4.2).
    pub struct Obb: 0x34 {
        /// The centre; Y is up.
        pub position: [le::F32; 3],
        /// Factors for `extents`.
        pub scale: [le::F32; 3],
        /// The rotation as a quaternion, in the order x, y, z, w.
        pub rotation: [le::F32; 4],
        /// Half of the size along each axis, before `scale`.
        pub extents: [le::F32; 3],
    }
}
