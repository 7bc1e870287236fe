//! Armour models (docs/formats/geometry.md §6.2): a flat list of plates, each a box and triangles of one material.

use super::layout::{ARMOR_TAG, ArmorHeader, ArmorVertex, PlateHeader};
use super::places::{PiecePosition, Places};
use super::{Blob, Geometry};
use crate::bytes::{Cursor, View};
use crate::error::{ErrorKind, Result};

/// An armour model.
#[derive(Debug, Clone, Copy)]
pub struct ArmorModel<'a> {
    pub(super) blob: Blob<'a>,
}

/// A plate of an armour model.
#[derive(Debug, Clone, Copy)]
pub struct Plate<'a> {
    header: &'a PlateHeader,
    vertices: &'a [ArmorVertex],
    at: View<'a>,
}

impl<'a> ArmorModel<'a> {
    /// The start of its data: the box around all plates and their count.
    ///
    /// # Errors
    /// As [`ArmorModel::span`], and `BadMagic` when the data is not of this kind.
    pub fn header(&self) -> Result<&'a ArmorHeader> {
        let start = self.blob.data()?;
        let header = start.read::<ArmorHeader>().map_err(|e| self.blob.named(e))?;
        match header.tag.get() {
            ARMOR_TAG => Ok(header),
            found => {
                let kind = ErrorKind::BadMagic { expected: ARMOR_TAG.into(), found: found.into() };
                Err(self.blob.named(start.error(kind)))
            }
        }
    }

    /// Iterates over its plates; ends after the first error.
    pub fn plates(&self) -> Result<Plates<'a>> {
        let header = self.header()?;
        let start = self.blob.data()?;
        let cursor = Cursor::new(start.part("plate").skip(size_of::<ArmorHeader>()));
        Ok(Plates { model: *self, cursor, left: header.plates.get(), next: 0 })
    }
}

/// The plates of an armour model.
#[derive(Debug, Clone)]
pub struct Plates<'a> {
    model: ArmorModel<'a>,
    cursor: Cursor<'a>,
    left: u32,
    next: usize,
}

impl<'a> Plates<'a> {
    /// The bytes after the plates that have been read.
    pub fn rest(&self) -> &'a [u8] {
        self.cursor.view().rest()
    }

    fn read(&mut self) -> Result<Plate<'a>> {
        let at = self.cursor.view();
        let header = self.cursor.read::<PlateHeader>()?;
        let vertices = self.cursor.array(header.vertices.get() as usize)?;
        Ok(Plate { header, vertices, at })
    }
}

impl<'a> Iterator for Plates<'a> {
    type Item = Result<Plate<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let plate = self.read();
        if plate.is_err() {
            self.left = 0;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Some(plate.map_err(|e| self.model.blob.named(e.context(format_args!("plate {number}")))))
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

/// The place of every plate of a file; its items are triangles.
pub(super) fn places(geometry: &Geometry) -> Places {
    Places::find_all(geometry.armor_prototypes().map(<[_]>::len), geometry, |model, add| {
        let model = geometry.armor_model(model)?;
        add.begin(model.span()?.1)?;
        model.plates()?.try_for_each(|plate| plate.map(|p| add.piece(p.at, p.triangles().len())))
    })
}

impl<'a> Plate<'a> {
    /// The plate at `place`.
    pub(super) fn at(geometry: &'a Geometry, place: &PiecePosition) -> Result<Self> {
        let at = geometry.view("plate").at(place.position);
        let header = at.read::<PlateHeader>()?;
        let vertices = at.skip(size_of::<PlateHeader>()).array(header.vertices.get() as usize)?;
        Ok(Plate { header, vertices, at })
    }
}
