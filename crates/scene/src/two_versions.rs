//! Two versions of solids in one scene: the unchanged ones, and on top the plates and meshes that one of them lacks.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use super::figure::{
    Arrangement, Figure, Iter, PaintedSolid, Plated, Solid, SolidInstance, SolidKind, SolidMaterial, Solids,
    SurfaceMaps,
};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The materials of an overlay, by number.
const SAME: usize = 0;
const OLD: usize = 1;
const NEW: usize = 2;
/// The colours of both versions: grey glass, and two that people with any colour vision tell apart. The old version does not hide the new one.
const COLOURS: [[f32; 4]; 3] = [[0.62, 0.64, 0.68, 0.22], [0.84, 0.27, 0.1, 0.55], [0.1, 0.45, 0.85, 1.0]];

#[derive(Debug)]
pub struct TwoVersions<'d> {
    title: String,
    kept: Vec<Kept<'d>>,
    names: [String; 3],
    metres: Option<f32>,
    axes: [&'d str; 3],
    notes: Vec<String>,
}

/// Plates of a solid, or all of it.
#[derive(Debug)]
struct Kept<'d> {
    solid: &'d dyn Solid,
    material: usize,
    /// The kept plates, with their vertices; `None` for the whole solid.
    plates: Option<Vec<(Plated, Range<usize>)>>,
    matrices: Vec<Option<&'d [f32; 16]>>,
}

/// A key by which two plates or solids are equal: kind, material, layer and exact coordinates.
type Key = (SolidKind, String, u16, Vec<[u32; 3]>);

fn exact(points: &[[f32; 3]]) -> Vec<[u32; 3]> {
    // No negative zeros.
    points.iter().map(|point| point.map(|v| (v + 0.0).to_bits())).collect()
}

/// A plate with its vertices, or a whole solid.
type Piece = (Option<(Plated, Range<usize>)>, Key);

/// The plates of a solid; the solid itself if it has none.
fn pieces(solids: &Solids<'_>, solid: &PaintedSolid<'_>) -> Vec<Piece> {
    let material = solids.materials[solid.material].name;
    let points: Vec<[f32; 3]> = solid.positions().collect();
    let (plates, mut first) = (solid.plates(), 0);
    if plates.is_empty() || solid.is_indexed() {
        let mut key = exact(&points);
        key.extend(solid.triangles());
        return vec![(None, (solid.kind(), material.to_owned(), 0, key))];
    }
    let pieces = plates.into_iter().map(|plate| {
        let vertices = first..first + plate.triangles * 3;
        first = vertices.end;
        let key = exact(&points[vertices.clone()]);
        (Some((plate, vertices)), (solid.kind(), solid.name().to_owned(), plate.layer, key))
    });
    pieces.collect()
}

/// A number for each equal piece of a version.
fn counts(solids: &Solids<'_>) -> HashMap<Key, usize> {
    let mut counts = HashMap::new();
    for solid in &solids.solids {
        for (_, key) in pieces(solids, solid) {
            let count: &mut usize = counts.entry(key).or_default();
            *count += 1;
        }
    }
    counts
}

/// Takes one of the pieces that equal `key`, if one is left.
fn take(left: &mut HashMap<Key, usize>, key: &Key) -> bool {
    match left.get_mut(key) {
        Some(count @ 1..) => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

impl<'d> TwoVersions<'d> {
    /// Compares two versions. `None` if they have the same plates and meshes.
    pub fn new(old: &Solids<'d>, new: &Solids<'d>) -> Option<Self> {
        let mut overlay = Self {
            title: new.name.to_owned(),
            kept: Vec::new(),
            names: ["unchanged", "only in the old version", "only in the new version"].map(str::to_owned),
            metres: new.metres.filter(|_| old.metres == new.metres),
            axes: new.axes,
            notes: Vec::new(),
        };
        let mut changed = 0;
        for (side, other, material) in [(new, old, NEW), (old, new, OLD)] {
            let mut left = counts(other);
            let mut found = 0;
            for (number, solid) in side.solids.iter().enumerate() {
                let pieces = pieces(side, solid).into_iter();
                let (same, differing) = pieces.partition::<Vec<Piece>, _>(|(_, key)| take(&mut left, key));
                found += differing.len();
                let matrices: Vec<_> =
                    side.places.iter().filter(|place| place.solid == number).map(|place| place.matrix).collect();
                // Both versions have the unchanged pieces: one of them is enough.
                let same = if material == NEW { same } else { Vec::new() };
                for (pieces, material) in [(same, SAME), (differing, material)] {
                    if !pieces.is_empty() {
                        let plates = pieces.into_iter().map(|(plate, _)| plate).collect();
                        overlay.kept.push(Kept { solid: solid.solid, material, plates, matrices: matrices.clone() });
                    }
                }
            }
            changed += found;
            overlay.notes.push(format!("{found} plates and meshes are {}", overlay.names[material]));
        }
        (changed > 0).then_some(overlay)
    }

    pub fn as_figure(&self) -> Figure<'_> {
        let tints = self.names.iter().zip(COLOURS);
        let places = self.kept.iter().enumerate().flat_map(|(solid, kept)| {
            kept.matrices.iter().map(move |matrix| SolidInstance { solid, group: "", matrix: *matrix, row: None })
        });
        Figure::Solids(Solids {
            name: &self.title,
            files: Vec::new(),
            arrangement: Arrangement::Overlay,
            materials: tints
                .map(|(name, colour)| SolidMaterial {
                    name,
                    colour,
                    two_sided: true,
                    image: None,
                    maps: SurfaceMaps::default(),
                })
                .collect(),
            solids: self
                .kept
                .iter()
                .map(|kept| PaintedSolid { solid: kept, material: kept.material, rig: None })
                .collect(),
            places: places.collect(),
            rigs: Vec::new(),
            metres: self.metres,
            axes: self.axes,
            armor: Vec::new(),
            notes: self.notes.as_slice().into(),
            damage: Cow::default(),
        })
    }
}

impl Kept<'_> {
    /// The items of the kept plates, out of one for each vertex.
    fn of_kept<'s, T: 's>(&'s self, all: Iter<'s, T>) -> Iter<'s, T> {
        let Some(plates) = &self.plates else { return all };
        let mut ranges = plates.iter().map(|(_, vertices)| vertices.clone());
        let mut range = ranges.next();
        Box::new(all.enumerate().filter_map(move |(number, item)| {
            while range.as_ref().is_some_and(|range| range.end <= number) {
                range = ranges.next();
            }
            range.as_ref().is_some_and(|range| range.contains(&number)).then_some(item)
        }))
    }
}

impl Solid for Kept<'_> {
    fn name(&self) -> &str {
        self.solid.name()
    }

    fn kind(&self) -> SolidKind {
        self.solid.kind()
    }

    fn lods(&self) -> &[usize] {
        self.solid.lods()
    }

    fn has_guessed_lods(&self) -> bool {
        self.solid.has_guessed_lods()
    }

    fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        self.solid.bounds()
    }

    fn vertices(&self) -> usize {
        match &self.plates {
            None => self.solid.vertices(),
            Some(plates) => plates.iter().map(|(_, vertices)| vertices.len()).sum(),
        }
    }

    fn positions(&self) -> Iter<'_, [f32; 3]> {
        self.of_kept(self.solid.positions())
    }

    fn normals(&self) -> Option<Iter<'_, [f32; 3]>> {
        Some(self.of_kept(self.solid.normals()?))
    }

    fn indices(&self) -> Option<Iter<'_, [u32; 3]>> {
        // Only solids without indices are divided into plates.
        self.solid.indices()
    }

    fn plates(&self) -> Vec<Plated> {
        self.plates.iter().flatten().map(|(plate, _)| *plate).collect()
    }
}
