//! Collision models (docs/formats/geometry.md §6.3): convex hulls with corners, edges and faces.

use super::Geometry;
use super::layout::{COLLISION_TAG, CollisionHeader, Corner, Edge, ModelPrototype};
use super::models::{Piece, PieceModel, PiecePosition, Pieces};
use crate::bytes::{Cursor, View, le};
use crate::error::Result;

pub type CollisionModel<'a> = PieceModel<'a, Hull<'a>>;

/// A convex hull.
#[derive(Debug, Clone, Copy)]
pub struct Hull<'a> {
    vertices: &'a [Corner],
    edges: &'a [Edge],
    face_count: usize,
    at: View<'a>,
    faces: View<'a>,
}

/// A face of a hull: a polygon. For its corners *a*, *b*, *c* the vector *(b - a) x (c - a)* points out of the hull
/// (docs/formats/geometry.md §6.3).
#[derive(Debug, Clone, Copy)]
pub struct Face<'a> {
    /// The face's corners by number.
    pub vertices: &'a [le::U32],
    /// The face's edges by number; edge `i` joins corner `i` and the next, the last one joins the first.
    pub edges: &'a [le::U32],
    /// A reserved number, 0 in all known files.
    pub reserved: u32,
}

impl<'a> CollisionModel<'a> {
    /// Iterates over its hulls; ends after the first error.
    ///
    /// # Errors
    /// As [`PieceModel::header`].
    pub fn hulls(&self) -> Result<Pieces<'a, Hull<'a>>> {
        self.pieces()
    }
}

impl<'a> Hull<'a> {
    /// The hull's corners.
    pub fn vertices(&self) -> &'a [Corner] {
        self.vertices
    }

    /// The hull's edges, two corners each.
    pub fn edges(&self) -> &'a [Edge] {
        self.edges
    }

    /// The number of its faces.
    pub fn face_count(&self) -> usize {
        self.face_count
    }

    /// The hull's faces. They have been walked over already, so that none is missing.
    pub fn faces(&self) -> impl Iterator<Item = Face<'a>> + use<'a> {
        let mut cursor = Cursor::new(self.faces);
        (0..self.face_count).map_while(move |_| Face::read(&mut cursor).ok())
    }

    /// The absolute file offset of its first count.
    pub fn offset(&self) -> u64 {
        self.at.offset()
    }

    /// The corners of the hull at `place`, without a look at its faces.
    pub(super) fn corners_at(geometry: &'a Geometry, place: &PiecePosition) -> Result<&'a [Corner]> {
        let mut cursor = Cursor::new(geometry.view("hull").at(place.position));
        let count = cursor.count("corners", size_of::<Corner>())?;
        cursor.array(count)
    }

    /// The box around its corners.
    pub fn bounds(&self) -> Option<([f32; 3], [f32; 3])> {
        crate::scene::vector::bounds(self.vertices.iter().map(|v| v.map(|c| c.get())))
    }
}

impl<'a> Face<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let sides = cursor.count("sides of a face", 8)?;
        let vertices = cursor.array(sides)?;
        let edges = cursor.array(sides)?;
        let reserved = cursor.u32()?;
        Ok(Self { vertices, edges, reserved })
    }
}

impl<'a> Piece<'a> for Hull<'a> {
    const MODEL: &'static str = "collision";
    const NAME: &'static str = "hull";
    const TAG: u32 = COLLISION_TAG;
    type Head = CollisionHeader;

    fn counted(head: &CollisionHeader) -> [u32; 2] {
        [head.tag.get(), head.hulls.get()]
    }

    fn prototypes(geometry: &Geometry) -> Result<&[ModelPrototype]> {
        geometry.collision_prototypes()
    }

    /// The hull at the cursor, with its faces walked over.
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let at = cursor.view();
        let count = cursor.count("corners", size_of::<Corner>())?;
        let vertices = cursor.array(count)?;
        let count = cursor.count("edges", size_of::<Edge>())?;
        let edges = cursor.array(count)?;
        // A face has at least its count and the reserved number.
        let face_count = cursor.count("faces", 8)?;
        let faces = cursor.view();
        for _ in 0..face_count {
            Face::read(cursor)?;
        }
        Ok(Self { vertices, edges, face_count, at, faces })
    }

    fn view(&self) -> View<'a> {
        self.at
    }

    fn items(&self) -> usize {
        self.vertices.len()
    }
}
