//! Named models of pieces (docs/formats/geometry.md §6): armour of plates, collision models of hulls.

use super::layout::ModelPrototype;
use super::{Geometry, data, get, string_bytes};
use crate::budget::Budget;
use crate::bytes::{Cursor, Overlay, View};
use crate::error::{Error, ErrorKind, Result};
use crate::packed_string::PackedString;
use std::marker::PhantomData;

/// A piece of a model. Each piece begins at the end of the previous one.
pub trait Piece<'a>: Sized + 'a {
    /// The kind of the models that have such pieces.
    const MODEL: &'static str;
    /// The name of a piece in errors.
    const NAME: &'static str;
    /// The first number of the data of a model.
    const TAG: u32;
    /// The start of the data of a model.
    type Head: Overlay;

    /// The tag of a model, and the number of its pieces.
    fn counted(head: &Self::Head) -> [u32; 2];

    /// The structs of the models.
    fn prototypes(geometry: &Geometry) -> Result<&[ModelPrototype]>;

    /// Reads a piece.
    fn read(cursor: &mut Cursor<'a>) -> Result<Self>;

    /// The position of the piece.
    fn view(&self) -> View<'a>;

    /// The number of its items: triangles, or corners.
    fn items(&self) -> usize;
}

/// A named model.
#[derive(Debug)]
pub struct PieceModel<'a, P> {
    index: usize,
    prototype: &'a ModelPrototype,
    at: View<'a>,
    pieces: PhantomData<P>,
}

impl<P> Clone for PieceModel<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for PieceModel<'_, P> {}

impl<'a, P: Piece<'a>> PieceModel<'a, P> {
    /// Model `index` of its kind.
    pub(super) fn new(geometry: &'a Geometry, index: usize) -> Result<Self> {
        let prototype = get(P::prototypes(geometry)?, index, format_args!("{} model", P::MODEL))?;
        Ok(Self { index, prototype, at: geometry.view(P::MODEL).locate(prototype), pieces: PhantomData })
    }

    /// All models of the kind; none if their structs cannot be read.
    pub(super) fn all(geometry: &'a Geometry) -> impl Iterator<Item = Self> {
        let at = geometry.view(P::MODEL);
        let all = P::prototypes(geometry).into_iter().flatten().enumerate();
        all.map(move |(index, prototype)| Self { index, prototype, at: at.locate(prototype), pieces: PhantomData })
    }

    /// The model's number.
    pub fn index(&self) -> usize {
        self.index
    }

    fn name_view(&self) -> View<'a> {
        self.at.locate(&self.prototype.name)
    }

    pub(super) fn name_bytes(&self) -> Result<&'a [u8]> {
        string_bytes(&self.prototype.name, self.name_view())
    }

    /// The model's name, such as `CM_PA_united.armor`; empty if it has none.
    ///
    /// # Errors
    /// When the text leaves the file, does not end, or is not UTF-8.
    pub fn name(&self) -> Result<&'a str> {
        PackedString::text_at(&self.name_view()).map_err(|e| self.named(e))
    }

    /// The place of its data; the data of the view ends with the model.
    fn data(&self) -> Result<View<'a>> {
        let size = self.prototype.size_in_bytes.get();
        let size = usize::try_from(size).map_err(|_| self.named(self.at.bad_value("size", size)))?;
        let start = data(self.at, self.prototype.data.get(), size).map_err(|e| self.named(e))?;
        Ok(start.until(start.position().saturating_add(size)))
    }

    /// The model's data.
    pub(super) fn bytes(&self) -> Result<&'a [u8]> {
        Ok(self.data()?.rest())
    }

    /// The absolute file offset of its data, and the number of bytes.
    ///
    /// # Errors
    /// When it is not in the file after its header.
    pub fn span(&self) -> Result<(u64, u64)> {
        let data = self.data()?;
        Ok((data.offset(), data.rest().len() as u64))
    }

    /// The start of its data.
    ///
    /// # Errors
    /// As [`PieceModel::span`], and `BadMagic` when the data is not of this kind.
    pub fn header(&self) -> Result<&'a P::Head> {
        let start = self.data()?;
        let header = start.read().map_err(|e| self.named(e))?;
        match P::counted(header) {
            [tag, _] if tag == P::TAG => Ok(header),
            [tag, _] => {
                let kind = ErrorKind::BadMagic { expected: P::TAG.into(), found: tag.into() };
                Err(self.named(start.error(kind)))
            }
        }
    }

    /// Iterates over its pieces; ends after the first error.
    ///
    /// # Errors
    /// As [`PieceModel::header`].
    pub fn pieces(&self) -> Result<Pieces<'a, P>> {
        let [_, left] = P::counted(self.header()?);
        let cursor = Cursor::new(self.data()?.part(P::NAME).skip(size_of::<P::Head>()));
        Ok(Pieces { model: *self, cursor, left, next: 0 })
    }

    /// `error`, in this model.
    fn named(&self, error: Error) -> Error {
        error.context(format_args!("{} model {}", P::MODEL, self.index))
    }
}

/// The pieces of a model.
#[derive(Debug, Clone)]
pub struct Pieces<'a, P> {
    model: PieceModel<'a, P>,
    cursor: Cursor<'a>,
    left: u32,
    next: usize,
}

impl<'a, P> Pieces<'a, P> {
    /// The bytes after the pieces that have been read.
    pub fn rest(&self) -> &'a [u8] {
        self.cursor.view().rest()
    }
}

impl<'a, P: Piece<'a>> Iterator for Pieces<'a, P> {
    type Item = Result<P>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let piece = P::read(&mut self.cursor);
        if piece.is_err() {
            self.left = 0;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        Some(piece.map_err(|e| self.model.named(e.context(format_args!("{} {number}", P::NAME)))))
    }
}

/// The positions of the pieces of all models of a kind, found by one walk.
#[derive(Debug)]
pub(super) struct Places {
    pub all: Vec<PiecePosition>,
    /// Items of all pieces.
    pub items: usize,
    /// The error that kept a model from being read to its end.
    pub damage: Option<Error>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PiecePosition {
    pub model: u32,
    /// The piece's number in its model.
    pub number: u32,
    pub position: usize,
    /// Items of the pieces before it.
    first_item: usize,
}

impl PiecePosition {
    /// The piece here.
    pub(super) fn read<'a, P: Piece<'a>>(&self, geometry: &'a Geometry) -> Result<P> {
        P::read(&mut Cursor::new(geometry.view(P::NAME).at(self.position)))
    }
}

/// Charges the bytes of a model to the budget, as models may overlap.
pub(super) fn spend<'a, P: Piece<'a>>(budget: &Budget, model: &PieceModel<'a, P>) -> Result<()> {
    budget.spend(model.span()?.1).map_err(|kind| Error::of_part(kind, "models"))
}

impl Places {
    /// The pieces of all models. A damaged model does not affect the others.
    pub(super) fn find_all<'a, P: Piece<'a>>(geometry: &'a Geometry) -> Self {
        let mut places = Self { all: Vec::new(), items: 0, damage: P::prototypes(geometry).err() };
        let budget = geometry.models_budget();
        for (model, found) in (0..).zip(PieceModel::<P>::all(geometry)) {
            if let Err(error) = places.add(model, &found, &budget) {
                if budget.is_spent() {
                    places.damage = Some(error);
                    break;
                }
                places.damage.get_or_insert(error);
            }
        }
        places
    }

    fn add<'a, P: Piece<'a>>(&mut self, model: u32, found: &PieceModel<'a, P>, budget: &Budget) -> Result<()> {
        spend(budget, found)?;
        for (number, piece) in (0..).zip(found.pieces()?) {
            let piece = piece?;
            let (position, first_item) = (piece.view().position(), self.items);
            self.all.push(PiecePosition { model, number, position, first_item });
            self.items = first_item.saturating_add(piece.items());
        }
        Ok(())
    }

    /// The piece that has item `number` of all, and the item's number in it.
    pub(super) fn find(&self, number: usize) -> Option<(&PiecePosition, usize)> {
        let behind = self.all.partition_point(|p| p.first_item <= number);
        let place = self.all.get(behind.checked_sub(1)?)?;
        Some((place, number.checked_sub(place.first_item)?))
    }
}
