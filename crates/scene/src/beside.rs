//! Two models beside each other, in one scale and with one colour for each material.

#![allow(clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use super::figure::{Arrangement, SolidInstance, Solids};

/// The room between both models, as a share of the longest side.
const GAP: f32 = 0.06;
const IDENTITY: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Two models, the second one moved along x.
#[derive(Debug)]
pub struct Beside<'d> {
    names: [&'d str; 2],
    models: [Solids<'d>; 2],
    /// The matrices of the second model's places.
    matrices: Vec<[f32; 16]>,
    places: Vec<SolidInstance<'d>>,
}

impl<'d> Beside<'d> {
    /// Puts the second model where it does not overlap the first one.
    pub fn new(names: [&'d str; 2], models: [Solids<'d>; 2]) -> Self {
        let [first, second] = &models;
        let boxes = [bounds(first), bounds(second)];
        let longest = boxes.iter().flat_map(|(min, max)| min.iter().zip(max)).map(|(low, high)| high - low);
        let longest = longest.fold(0.0, f32::max);
        let [(_, [end, ..]), ([begin, ..], _)] = boxes;
        let shift = end + longest * GAP - begin;
        let mut is_placed = vec![false; second.solids.len()];
        for place in &second.places {
            is_placed[place.solid] = true;
        }
        let mut places = second.places.clone();
        let lone = is_placed.iter().enumerate().filter(|(_, placed)| !**placed);
        places.extend(lone.map(|(solid, _)| SolidInstance { solid, group: "", matrix: None, row: None }));
        let matrices = places.iter().map(|place| {
            let mut matrix = *place.matrix.unwrap_or(&IDENTITY);
            matrix[12] += shift;
            matrix
        });
        Self { names, matrices: matrices.collect(), places, models }
    }

    /// Both models as one scene.
    pub fn together(&self) -> Solids<'_> {
        let [first, second] = &self.models;
        let places = self.places.iter().zip(&self.matrices);
        let places = places.map(|(place, matrix)| SolidInstance { matrix: Some(matrix), ..*place }).collect();
        let second = Solids { places, ..second.clone() };
        let [left, right] = self.names;
        Solids::together(Arrangement::Beside, vec![(left, first.clone()), (right, second)])
    }
}

/// The box around all places of all solids.
pub fn bounds(solids: &Solids<'_>) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for place in &solids.places {
        let (min, max) = solids.solids[place.solid].bounds();
        let [a, b, c] = [0, 1, 2].map(|axis: usize| [min[axis], max[axis]]);
        for (x, y, z) in a.into_iter().flat_map(|x| b.map(|y| (x, y))).flat_map(|(x, y)| c.map(|z| (x, y, z))) {
            let m = place.matrix.unwrap_or(&IDENTITY);
            let [m0, m1, m2, _, m4, m5, m6, _, m8, m9, m10, _, m12, m13, m14, _] = *m;
            let corner =
                [m0 * x + m4 * y + m8 * z + m12, m1 * x + m5 * y + m9 * z + m13, m2 * x + m6 * y + m10 * z + m14];
            for ((v, low), high) in corner.into_iter().zip(&mut low).zip(&mut high) {
                (*low, *high) = (low.min(v), high.max(v));
            }
        }
    }
    if low.iter().zip(&high).all(|(low, high)| low <= high) { (low, high) } else { ([0.0; 3], [0.0; 3]) }
}
