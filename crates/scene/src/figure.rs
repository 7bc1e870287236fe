//! Figures: the shapes of drawings, in terms of no format, for pages.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use super::outline::{Point, area};
use crate::error::Error;
use crate::plates::PlateUse;
use std::borrow::Cow;
use std::ops::Deref;

/// A boxed iterator: solids of different formats have different ones.
pub type Iter<'s, T> = Box<dyn Iterator<Item = T> + 's>;

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a drawing has one")]
pub enum Figure<'d> {
    Solids(Solids<'d>),
    /// Boxes on a map.
    Chart(&'d Chart),
}

/// The axes of solids whose directions have no words.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// How solids of two models or versions stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// They are of one model, or of files that are shown together.
    #[default]
    Together,
    /// Two versions in one place, whose materials say how they differ.
    Overlay,
    /// Two models, of a file each, beside each other.
    Beside,
}

/// Solids, and where they stand.
#[derive(Debug, Clone)]
pub struct Solids<'d> {
    pub name: &'d str,
    /// The name of each file and the number of its solids, if they are of several files.
    pub files: Vec<(&'d str, usize)>,
    /// How solids of two models or versions stand to each other.
    pub arrangement: Arrangement,
    pub materials: Vec<SolidMaterial<'d>>,
    pub solids: Vec<PaintedSolid<'d>>,
    /// Each place at which one of them is shown.
    pub places: Vec<SolidInstance<'d>>,
    /// The joints of solids whose vertices hang on some.
    pub rigs: Vec<Vec<Joint<'d>>>,
    /// The length of a unit of the coordinates in metres, if known.
    pub metres: Option<f32>,
    /// Words for the directions of the axes x, y and z.
    pub axes: [&'d str; 3],
    /// For each file, the ships and components that have its plates. Plates show the thickness of the first one.
    pub armor: Vec<&'d [PlateUse]>,
    /// Guesses and parts that were left out, in words.
    pub notes: Cow<'d, [String]>,
    /// Errors of parts that are left out as they cannot be read.
    pub damage: Cow<'d, [Error]>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolidMaterial<'d> {
    pub name: &'d str,
    /// Red, green, blue and opacity, from 0 to 1.
    pub colour: [f32; 4],
    /// Whether triangles are visible from both sides.
    pub two_sided: bool,
    /// The PNG of its base colour.
    pub image: Option<&'d [u8]>,
    /// Further images with the same texture coordinates.
    pub maps: SurfaceMaps<'d>,
}

/// The images of a material that say how its surface reflects light, as PNG, with the channels of glTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SurfaceMaps<'d> {
    /// The direction of the surface.
    pub normal: Option<&'d [u8]>,
    /// Roughness in green, metal in blue.
    pub metal_roughness: Option<&'d [u8]>,
    /// The share of light from all around, in red.
    pub occlusion: Option<&'d [u8]>,
}

/// A place at which a solid is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolidInstance<'d> {
    /// The solid, by number.
    pub solid: usize,
    /// The name of the model that it is part of; empty where it is part of none.
    pub group: &'d str,
    /// Columns of a matrix for column vectors; `None` where the solid stands as it is.
    pub matrix: Option<&'d [f32; 16]>,
    /// The instance's row in the table `instances` of a space.
    pub row: Option<usize>,
}

/// A solid and its material.
#[derive(Debug, Clone, Copy)]
pub struct PaintedSolid<'d> {
    pub solid: &'d dyn Solid,
    /// The material, by number.
    pub material: usize,
    /// The joints that [`Solid::influences`] names, by number in [`Solids::rigs`].
    pub rig: Option<usize>,
}

/// A node that moves the vertices that hang on it, and the joints below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint<'d> {
    pub name: &'d str,
    /// The joint above it, by number in its rig.
    pub parent: Option<usize>,
    /// Columns of the matrix from the joint to the solid, where the file puts it.
    pub rest: [f32; 16],
}

/// Joints of a vertex by number in a rig, with their weights, whose sum is 255. A weight of 0 is no joint.
pub type Influences = [(u8, u8); 3];

impl<'d> Deref for PaintedSolid<'d> {
    type Target = dyn Solid + 'd;

    fn deref(&self) -> &Self::Target {
        self.solid
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SolidKind {
    Mesh,
    Armor,
    /// A hull that things collide with.
    Hull,
    /// A box in which hits count for a part of a ship.
    Zone,
}

/// A plate of armour: a number of triangles of its solid, after the triangles of the earlier plates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plated {
    /// The plate's first row in the table `armor_plates` of its file, which has a row for each use of [`Solids::armor`].
    pub row: usize,
    pub layer: u16,
    /// The plate's thickness in millimetres, if stated; the same for all plates of a solid.
    pub thickness: Option<f64>,
    pub triangles: usize,
}

/// Triangles of one material, right-handed with y up. All numbers are finite, and all indices lead to vertices.
pub trait Solid: std::fmt::Debug {
    fn name(&self) -> &str;
    fn kind(&self) -> SolidKind;
    /// The levels of detail that show it; empty where they are not known, or for a solid without any.
    fn lods(&self) -> &[usize] {
        &[]
    }
    /// Whether its levels of detail are guessed from its shape.
    fn has_guessed_lods(&self) -> bool {
        false
    }
    /// The box around it: the least coordinates and the greatest.
    fn bounds(&self) -> ([f32; 3], [f32; 3]);
    /// The number of its vertices.
    fn vertices(&self) -> usize;
    fn positions(&self) -> Iter<'_, [f32; 3]>;
    /// Normals of length 1; `None` where the vertices have none.
    fn normals(&self) -> Option<Iter<'_, [f32; 3]>>;
    /// Texture coordinates; `None` where the vertices have none.
    fn uvs(&self) -> Option<Iter<'_, [f32; 2]>> {
        None
    }
    /// The joints of each vertex; `None` where vertices hang on none.
    fn influences(&self) -> Option<Iter<'_, Influences>> {
        None
    }
    /// Triangles that share vertices; `None` if each three vertices are a triangle.
    fn indices(&self) -> Option<Iter<'_, [u32; 3]>>;
    /// Whether triangles share vertices.
    fn is_indexed(&self) -> bool {
        self.indices().is_some()
    }
    /// Triangles by vertices, turning left around their normals.
    fn triangles(&self) -> Iter<'_, [u32; 3]> {
        self.indices()
            .unwrap_or_else(|| Box::new((0u32..).step_by(3).map(|a| [a, a + 1, a + 2]).take(self.vertices() / 3)))
    }
    /// The plates that it is made of, in the order of their triangles.
    fn plates(&self) -> Vec<Plated> {
        Vec::new()
    }
    /// A word for the region of the model that its plates are in; `None` if the format has no regions.
    fn region(&self) -> Option<&'static str> {
        None
    }
}

/// Boxes on a map, left-handed: x leads to the right, z to the top, y to the eye.
#[derive(Debug, Default)]
pub struct Chart {
    pub name: String,
    /// The kinds of boxes.
    pub kinds: Vec<ChartKind>,
    /// The boxes, the largest first: see [`Chart::sort`].
    pub boxes: Vec<ChartBox>,
    /// Centres of waypoints, and how far they reach.
    pub ranges: Vec<([f64; 3], f64)>,
    /// Lines between waypoints.
    pub links: Vec<ChartLink>,
    /// The number of records that describe no space.
    pub without_place: usize,
    /// Gaps of the map, in words.
    pub notes: Vec<String>,
    /// The length of a unit of the coordinates in metres, if known.
    pub metres: Option<f32>,
}

impl Chart {
    pub fn sort(&mut self) {
        self.boxes.sort_by(|a, b| area(&b.outline).total_cmp(&area(&a.outline)));
    }

    /// The least and the greatest coordinates of all outlines.
    pub fn bounds(&self) -> [Point; 2] {
        if self.boxes.is_empty() {
            return [[0.0; 2], [1.0; 2]];
        }
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in self.boxes.iter().flat_map(|one| &one.outline) {
            for ((low, high), v) in low.iter_mut().zip(&mut high).zip(point) {
                (*low, *high) = (low.min(*v), high.max(*v));
            }
        }
        [low, high]
    }

    /// The number of boxes of a kind.
    pub fn count(&self, kind: usize) -> usize {
        self.boxes.iter().filter(|one| one.kind == kind).count()
    }
}

/// A kind of boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartKind {
    pub name: String,
    /// The table that has the records.
    pub table: &'static str,
    /// Red, green and blue.
    pub colour: [u8; 3],
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChartBox {
    /// The box's kind, by number.
    pub kind: usize,
    /// The box's row in the table of its kind.
    pub row: usize,
    pub name: String,
    /// The target that it leads to, in words.
    pub target: Option<String>,
    /// The box's centre.
    pub center: [f64; 3],
    /// Vectors from the centre to the middles of three sides.
    pub sides: [[f64; 3]; 3],
    /// The box's outline seen from above, counterclockwise.
    pub outline: Vec<Point>,
}

/// A line between two waypoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChartLink {
    /// The waypoint that has the link.
    pub from: [f64; 3],
    /// The waypoint that it leads to.
    pub to: [f64; 3],
    /// Whether it leads back as well.
    pub back: bool,
}

/// The opacity of hit boxes around other solids.
const GLASS: f32 = 0.3;

impl<'d> Solids<'d> {
    /// The solids of all files in one scene, with the title of the first. Their materials have common numbers, and one colour a name.
    pub fn together(arrangement: Arrangement, all: Vec<(&'d str, Self)>) -> Self {
        let first = all.first().map(|(_, solids)| solids);
        let mut together = Self {
            name: first.map_or("", |solids| solids.name),
            files: Vec::new(),
            arrangement,
            materials: Vec::new(),
            solids: Vec::new(),
            places: Vec::new(),
            rigs: Vec::new(),
            metres: first.and_then(|solids| solids.metres),
            axes: first.map_or(AXES, |solids| solids.axes),
            armor: Vec::new(),
            notes: Cow::default(),
            damage: Cow::default(),
        };
        for (file, solids) in all {
            together.add(file, solids);
        }
        together.colour();
        if together.files.len() == 1 {
            together.files.clear();
        }
        together
    }

    fn add(&mut self, file: &'d str, solids: Self) {
        let mut numbers = Vec::new();
        for tint in solids.materials {
            // Images are of one file.
            let known = self.materials.iter().position(|known| tint.image.is_none() && known.name == tint.name);
            numbers.push(known.unwrap_or(self.materials.len()));
            if known.is_none() {
                self.materials.push(tint);
            }
        }
        self.files.push((file, solids.solids.len()));
        let first = self.solids.len();
        let places = solids.places.into_iter().map(|place| SolidInstance { solid: first + place.solid, ..place });
        self.places.extend(places);
        let painted = solids.solids.into_iter();
        let rigs = self.rigs.len();
        self.solids.extend(painted.map(|solid| PaintedSolid {
            material: numbers[solid.material],
            rig: solid.rig.map(|rig| rigs + rig),
            ..solid
        }));
        self.rigs.extend(solids.rigs);
        self.armor.push(solids.armor.first().map_or(&[], |uses| *uses));
        self.notes.to_mut().extend(solids.notes.iter().map(|note| format!("{file}: {note}")));
        self.damage.to_mut().extend(solids.damage.iter().map(|error| error.clone().context(file)));
        self.metres = self.metres.filter(|_| self.metres == solids.metres);
        if self.axes != solids.axes {
            self.axes = AXES;
        }
    }

    /// Colours hit boxes as if they were in one file. The materials of armour have the same colour in each file.
    fn colour(&mut self) {
        let zones: Vec<_> = self.solids.iter().filter(|solid| solid.kind() == SolidKind::Zone).collect();
        let opacity = if zones.len() == self.solids.len() { 1.0 } else { GLASS };
        let mut used: Vec<usize> = zones.iter().map(|zone| zone.material).collect();
        used.sort_by_key(|&number| self.materials[number].name);
        used.dedup();
        for (rank, number) in used.iter().enumerate() {
            let [r, g, b] = super::colour(rank, used.len());
            self.materials[*number].colour = [r, g, b, opacity];
        }
    }
}
