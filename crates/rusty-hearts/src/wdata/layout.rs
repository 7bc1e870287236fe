//! The two structs of a map that have a fixed size; everything else is a sequence of fields (see `shapes`).

use crate::bytes::le;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// A row of the event-box table (docs/formats/wdata.md §4.1): the range of the boxes of one type.
#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct IndexEntry {
    /// The offset from the start of the file; of no meaning without boxes.
    pub offset: le::U32,
    /// The number of boxes.
    pub count: le::U32,
}
const _: () = assert!(size_of::<IndexEntry>() == 8);

/// The place of a box, which follows the name in every record that has a place (§4.2).
#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct Obb {
    /// The centre; Y is up.
    pub position: [le::F32; 3],
    /// Factors for `extents`.
    pub scale: [le::F32; 3],
    /// The rotation as a quaternion, in the order x, y, z, w.
    pub rotation: [le::F32; 4],
    /// Half of the size along each axis, before `scale`.
    pub extents: [le::F32; 3],
}
const _: () = assert!(size_of::<Obb>() == 0x34);

impl Obb {
    /// The names of its numbers, in file order.
    pub const NAMES: [&'static str; 13] = [
        "pos_x", "pos_y", "pos_z", "scale_x", "scale_y", "scale_z", "rot_x", "rot_y", "rot_z", "rot_w", "ext_x",
        "ext_y", "ext_z",
    ];

    /// The box's numbers, in file order.
    pub fn numbers(&self) -> impl Iterator<Item = f32> + '_ {
        self.position.iter().chain(&self.scale).chain(&self.rotation).chain(&self.extents).map(|v| v.get())
    }
}
