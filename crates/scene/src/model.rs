//! A model that is ready to be written: parts, the nodes that show them, and materials with their images.
//!
//! [`glb`](crate::glb), [`obj`](crate::obj) and [`svg`](crate::svg) write it, and [`Model::solids`] is what pages and pictures show of
//! it. A format fills it.

#![allow(clippy::indexing_slicing, reason = "numbers are positions in lists of a model in memory")]

use crate::figure::{Iter, PaintedSolid, Solid, SolidInstance, SolidMaterial, SurfaceMaps};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A part of a model: a solid of one material, and what a file can hold of it besides.
pub trait Part: Solid {
    /// The number of its material.
    fn material(&self) -> usize;

    /// The attributes of its vertices, in the order of the file.
    fn attributes(&self) -> Vec<Attribute<'_>>;

    /// The number of its indices; `None` where each three vertices are a triangle.
    fn index_count(&self) -> Option<usize>;

    /// The greatest index.
    fn greatest_index(&self) -> u32;

    /// The lines that it consists of, by vertices; `None` if it has triangles.
    fn edges(&self) -> Option<Vec<[u32; 2]>> {
        None
    }

    /// Other statements about its mesh, such as its origin.
    fn extras(&self) -> Option<serde_json::Value> {
        None
    }
}

/// An attribute of vertices, under its name in glTF. One without a meaning there has a name of its own, with `_` in front.
#[derive(Debug)]
pub struct Attribute<'p> {
    pub semantic: &'static str,
    pub values: Values<'p>,
}

/// The values of an attribute, one for each vertex.
#[allow(missing_debug_implementations, reason = "iterators")]
pub enum Values<'p> {
    Scalar(Iter<'p, [f32; 1]>),
    Vec2(Iter<'p, [f32; 2]>),
    Vec3(Iter<'p, [f32; 3]>),
    Vec4(Iter<'p, [f32; 4]>),
    Bytes(Iter<'p, [u8; 4]>),
    /// Parts of 255.
    Shares(Iter<'p, [u8; 4]>),
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Values").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Node {
    pub name: Arc<str>,
    pub part: Option<usize>,
    /// The joints of the part's vertices.
    pub rig: Option<usize>,
    pub children: Vec<usize>,
    /// Columns of a matrix for column vectors, right-handed.
    pub matrix: Option<[f32; 16]>,
    /// The number of the instance of a space.
    pub row: Option<usize>,
}

/// The joints of a mesh: the bones of its vertices by number, then the nodes above them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rig {
    /// Numbers of nodes.
    pub joints: Vec<usize>,
    /// For each, the matrix from the model to it.
    pub inverse: Vec<[f32; 16]>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    pub name: String,
    /// Red, green, blue and opacity, from 0 to 1.
    pub colour: [f32; 4],
    pub double_sided: bool,
    /// Whether it has its colour without any light, as lines do.
    pub is_unlit: bool,
    pub skin: Option<Skin>,
}

/// The images and values of a material.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    pub alpha: Alpha,
    /// The image of each role, by number in [`Model::images`].
    pub images: BTreeMap<Role, usize>,
    /// The scale and the offset of the coordinates of the base colour, if they differ from the others.
    pub transform: Option<([f32; 2], [f32; 2])>,
    /// The strength of its own light.
    pub emissive: f32,
    /// Other statements of the file about the material.
    pub extras: serde_json::Value,
}

/// The part of a material that an image gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Colour.
    Base,
    /// Colour with opacity.
    Transparent,
    /// The direction of the surface.
    Normal,
    /// Metal in blue, roughness in green.
    MetalRoughness,
    /// The share of light from all around, in red.
    Occlusion,
    /// Light of its own: colour where the paint mask is set.
    Emissive,
}

/// How the opacity of a material counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alpha {
    Opaque,
    /// Texels of less than this opacity are left out.
    Mask(f32),
    Blend,
}

/// An image of one or several materials.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Its name without an ending.
    pub name: String,
    pub png: Vec<u8>,
}

/// A variant: a material for each material that it changes.
#[derive(Debug)]
pub struct Variant {
    pub name: String,
    /// The material of the variant, by the material of the model.
    pub materials: BTreeMap<usize, usize>,
}

impl Material {
    pub fn new(name: impl Into<String>, colour: [f32; 4]) -> Self {
        Self { name: name.into(), colour, double_sided: false, is_unlit: false, skin: None }
    }

    /// Its image for a role, by number.
    pub fn image(&self, role: Role) -> Option<usize> {
        self.skin.as_ref()?.images.get(&role).copied()
    }
}

#[derive(Debug)]
pub struct Model<'s> {
    pub name: &'s str,
    /// The factors from its coordinates to metres, right-handed.
    pub scale: [f32; 3],
    pub parts: Vec<&'s dyn Part>,
    pub materials: Vec<&'s Material>,
    pub images: &'s [Image],
    pub nodes: &'s [Node],
    pub rigs: &'s [Rig],
    /// The nodes without a parent.
    pub roots: &'s [usize],
    /// Further nodes without a parent, which are drawn in a GLB and in figures, and not elsewhere.
    pub glb_only: &'s [usize],
    pub variants: &'s [Variant],
}

/// A part where it is shown.
#[derive(Debug)]
pub struct PlacedPart<'s> {
    pub node: &'s Node,
    pub above: Option<&'s Node>,
    pub number: usize,
    pub part: &'s dyn Part,
    pub matrix: Option<&'s [f32; 16]>,
}

impl<'s> Model<'s> {
    /// Each node that shows a part, with the node above it and the matrix that puts it into place. Of nodes that lie below
    /// each other one at most has a matrix, as a model is two levels deep: a model and its parts.
    pub fn shown(&self) -> impl Iterator<Item = PlacedPart<'s>> {
        self.shown_below(&[])
    }

    /// As [`Self::shown`], also below the nodes `also`.
    fn shown_below(&self, also: &'s [usize]) -> impl Iterator<Item = PlacedPart<'s>> {
        let top = (None::<&Node>, None::<&[f32; 16]>);
        let mut open: Vec<_> = self.roots.iter().chain(also).rev().map(|&root| (root, top)).collect();
        std::iter::from_fn(move || {
            loop {
                let (number, (above, matrix)) = open.pop()?;
                let node = &self.nodes[number];
                let matrix = node.matrix.as_ref().or(matrix);
                open.extend(node.children.iter().rev().map(|&child| (child, (Some(node), matrix))));
                if let Some(number) = node.part {
                    return Some(PlacedPart { node, above, number, part: self.parts[number], matrix });
                }
            }
        })
    }

    /// The image of a material for a role.
    pub fn image(&self, material: &Material, role: Role) -> Option<&'s Image> {
        Some(&self.images[material.image(role)?])
    }

    /// The materials of a figure.
    pub fn figure_materials(&self) -> Vec<SolidMaterial<'s>> {
        let materials = self.materials.iter().map(|material| {
            let [image, normal, metal_roughness, occlusion] =
                [Role::Base, Role::Normal, Role::MetalRoughness, Role::Occlusion]
                    .map(|role| self.image(material, role).map(|image| &*image.png));
            SolidMaterial {
                name: &material.name,
                colour: material.colour,
                two_sided: material.double_sided,
                image,
                maps: SurfaceMaps { normal, metal_roughness, occlusion },
            }
        });
        materials.collect()
    }

    /// The solids of a figure.
    pub fn solids(&self) -> Vec<PaintedSolid<'s>> {
        self.parts.iter().map(|part| PaintedSolid { solid: *part, material: part.material(), rig: None }).collect()
    }

    /// The places of the solids of a figure.
    pub fn places(&self) -> Vec<SolidInstance<'s>> {
        let places = self.shown_below(self.glb_only).map(|shown| SolidInstance {
            solid: shown.number,
            group: shown.above.map_or("", |above| &above.name),
            matrix: shown.matrix,
            row: shown.above.and_then(|above| above.row),
        });
        places.collect()
    }
}
