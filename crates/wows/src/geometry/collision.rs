//! Collision models (docs/formats/geometry.md §6.3): convex hulls with corners, edges and faces.

use super::layout::{COLLISION_TAG, Corner, Edge};
use super::places::{PiecePosition, Places};
use super::{Blob, Geometry};
use crate::bytes::{Cursor, View, le};
use crate::error::{ErrorKind, Result};

/// A collision model.
#[derive(Debug, Clone, Copy)]
pub struct CollisionModel<'a> {
    pub(super) blob: Blob<'a>,
}

/// A convex hull.
#[derive(Debug, Clone, Copy)]
pub struct Hull<'a> {
    vertices: &'a [Corner],
    edges: &'a [Edge],
    face_count: u32,
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
    /// As [`CollisionModel::span`], and `BadMagic` when the data is not of this kind.
    pub fn hulls(&self) -> Result<Hulls<'a>> {
        let start = self.blob.data()?.part("hull");
        let mut cursor = Cursor::new(start);
        let tag = cursor.u32().map_err(|e| self.blob.named(e))?;
        if tag != COLLISION_TAG {
            let kind = ErrorKind::BadMagic { expected: COLLISION_TAG.into(), found: tag.into() };
            return Err(self.blob.named(start.error(kind)));
        }
        let left = cursor.u32().map_err(|e| self.blob.named(e))?;
        Ok(Hulls { model: *self, cursor, count: left, left, next: 0 })
    }
}

/// The hulls of a collision model.
#[derive(Debug, Clone)]
pub struct Hulls<'a> {
    model: CollisionModel<'a>,
    cursor: Cursor<'a>,
    count: u32,
    left: u32,
    next: usize,
}

impl<'a> Hulls<'a> {
    /// The bytes after the hulls that have been read.
    pub fn rest(&self) -> &'a [u8] {
        self.cursor.view().rest()
    }

    /// The number of hulls that the model states.
    pub fn stated(&self) -> u32 {
        self.count
    }
}

impl<'a> Iterator for Hulls<'a> {
    type Item = Result<Hull<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let hull = Hull::read(&mut self.cursor);
        if hull.is_err() {
            self.left = 0;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Some(hull.map_err(|e| self.model.blob.named(e.context(format_args!("hull {number}")))))
    }
}

impl<'a> Hull<'a> {
    /// The hull at the cursor, with its faces walked over.
    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let at = cursor.view();
        let count = cursor.count("corners", size_of::<Corner>())?;
        let vertices = cursor.array(count)?;
        let count = cursor.count("edges", size_of::<Edge>())?;
        let edges = cursor.array(count)?;
        // A face has at least its count and the reserved number.
        let face_count = u32::try_from(cursor.count("faces", 8)?).unwrap_or(u32::MAX);
        let faces = cursor.view();
        for _ in 0..face_count {
            Face::read(cursor)?;
        }
        Ok(Self { vertices, edges, face_count, at, faces })
    }

    /// The hull's corners.
    pub fn vertices(&self) -> &'a [Corner] {
        self.vertices
    }

    /// The hull's edges, two corners each.
    pub fn edges(&self) -> &'a [Edge] {
        self.edges
    }

    /// The number of its faces.
    pub fn face_count(&self) -> u32 {
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

    /// The box around its corners.
    pub fn bounds(&self) -> Option<([f32; 3], [f32; 3])> {
        super::mesh::bounds(self.vertices.iter().map(|v| v.map(|c| c.get())))
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

/// The place of every hull of a file; its items are corners.
pub(super) fn places(geometry: &Geometry) -> Places {
    Places::find_all(geometry.collision_prototypes().map(<[_]>::len), geometry, |model, add| {
        let model = geometry.collision_model(model)?;
        add.begin(model.span()?.1)?;
        model.hulls()?.try_for_each(|hull| hull.map(|h| add.piece(h.at, h.vertices.len())))
    })
}

impl<'a> Hull<'a> {
    /// The hull at `place`.
    pub(super) fn at(geometry: &'a Geometry, place: &PiecePosition) -> Result<Self> {
        Self::read(&mut Cursor::new(geometry.view("hull").at(place.position)))
    }

    /// The corners of the hull at `place`, without a look at its faces.
    pub(super) fn corners_at(geometry: &'a Geometry, place: &PiecePosition) -> Result<&'a [Corner]> {
        let mut cursor = Cursor::new(geometry.view("hull").at(place.position));
        let count = cursor.count("corners", size_of::<Corner>())?;
        cursor.array(count)
    }
}
