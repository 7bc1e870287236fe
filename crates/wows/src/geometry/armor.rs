//! Armour models (docs/formats/geometry.md §6.2): a flat list of plates, each a box and triangles of one material.

use super::Geometry;
use super::layout::{ARMOR_TAG, ArmorHeader, ArmorVertex, ModelPrototype, PlateHeader};
use super::models::{Piece, PieceModel, Pieces};
use crate::bytes::{Cursor, View};
use crate::error::Result;

/// An armour model. Its header has the box around all plates.
pub type ArmorModel<'a> = PieceModel<'a, Plate<'a>>;

/// A plate of an armour model.
#[derive(Debug, Clone, Copy)]
pub struct Plate<'a> {
    header: &'a PlateHeader,
    vertices: &'a [ArmorVertex],
    at: View<'a>,
}

impl<'a> ArmorModel<'a> {
    /// Iterates over its plates; ends after the first error.
    ///
    /// # Errors
    /// As [`PieceModel::header`].
    pub fn plates(&self) -> Result<Pieces<'a, Plate<'a>>> {
        self.pieces()
    }
}

impl<'a> Plate<'a> {
    /// The plate's struct: material, layer, box.
    pub fn header(&self) -> &'a PlateHeader {
        self.header
    }

    /// The plate's vertices, three a triangle.
    pub fn vertices(&self) -> &'a [ArmorVertex] {
        self.vertices
    }

    /// The plate's triangles. Trailing vertices of an incomplete triangle are skipped; `verify` reports them.
    pub fn triangles(&self) -> &'a [[ArmorVertex; 3]] {
        self.vertices.as_chunks().0
    }

    /// The absolute file offset of its struct.
    pub fn offset(&self) -> u64 {
        self.at.offset()
    }
}

impl<'a> Piece<'a> for Plate<'a> {
    const MODEL: &'static str = "armor";
    const NAME: &'static str = "plate";
    const TAG: u32 = ARMOR_TAG;
    type Head = ArmorHeader;

    fn counted(head: &ArmorHeader) -> [u32; 2] {
        [head.tag.get(), head.plates.get()]
    }

    fn prototypes(geometry: &Geometry) -> Result<&[ModelPrototype]> {
        geometry.armor_prototypes()
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let at = cursor.view();
        let header = cursor.read::<PlateHeader>()?;
        let vertices = cursor.array(header.vertices.get() as usize)?;
        Ok(Plate { header, vertices, at })
    }

    fn view(&self) -> View<'a> {
        self.at
    }

    fn items(&self) -> usize {
        self.triangles().len()
    }
}
