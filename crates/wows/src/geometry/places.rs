//! The positions of the pieces of all models of a file: plates of armour, hulls of collision models. Found by one walk,
//! because each piece begins at the end of the previous one.

use super::Geometry;
use crate::budget::Budget;
use crate::bytes::View;
use crate::error::{Error, Result};

/// The places of all pieces of a kind.
#[derive(Debug)]
pub(super) struct Places {
    pub all: Vec<PiecePosition>,
    /// Items (triangles, corners) of all pieces.
    pub items: u64,
    /// The error that kept a model from being read to its end.
    pub damage: Option<Error>,
}

/// The place of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct PiecePosition {
    pub model: u32,
    /// The piece's number in its model.
    pub number: u32,
    pub position: usize,
    /// Items of the pieces before it.
    first_item: u64,
}

/// Takes the pieces of one model.
pub(super) struct Add<'p> {
    places: &'p mut Places,
    budget: &'p Budget,
    model: u32,
    number: u32,
}

impl Add<'_> {
    /// Begins a model of `bytes` bytes.
    pub(super) fn begin(&mut self, bytes: u64) -> Result<()> {
        spend(self.budget, bytes)
    }

    /// The next piece, with its number of items.
    pub(super) fn piece(&mut self, at: View<'_>, items: usize) {
        let (model, number, first_item) = (self.model, self.number, self.places.items);
        self.places.all.push(PiecePosition { model, number, position: at.position(), first_item });
        self.places.items = first_item.saturating_add(items as u64);
        self.number = number.saturating_add(1);
    }
}

/// Takes a model of `bytes` bytes from the budget.
pub(super) fn spend(budget: &Budget, bytes: u64) -> Result<()> {
    budget.spend(bytes).map_err(|kind| Error::of_part(kind, "models"))
}

impl Places {
    /// The pieces of all models. A damaged model does not affect the others.
    pub(super) fn find_all(
        models: Result<usize>,
        geometry: &Geometry,
        mut pieces: impl FnMut(usize, &mut Add<'_>) -> Result<()>,
    ) -> Self {
        let mut places = Self { all: Vec::new(), items: 0, damage: None };
        let models = models.unwrap_or_else(|error| {
            places.damage = Some(error);
            0
        });
        let budget = geometry.models_budget();
        for (number, index) in (0u32..).zip(0..models) {
            let mut add = Add { places: &mut places, budget: &budget, model: number, number: 0 };
            if let Err(error) = pieces(index, &mut add) {
                if budget.is_spent() {
                    places.damage = Some(error);
                    break;
                }
                places.damage.get_or_insert(error);
            }
        }
        places
    }

    /// The piece that has item `number` of all, and the item's number in it.
    pub(super) fn find(&self, number: u64) -> Option<(&PiecePosition, usize)> {
        let behind = self.all.partition_point(|p| p.first_item <= number);
        let place = self.all.get(behind.checked_sub(1)?)?;
        Some((place, usize::try_from(number.checked_sub(place.first_item)?).ok()?))
    }
}
