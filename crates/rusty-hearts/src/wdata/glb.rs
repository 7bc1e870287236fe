//! The boxes of a map as named wireframes, for binary glTF.
//!
//! A map's axes are left-handed and glTF's axes are right-handed. The root node mirrors x, as viewers of the game's models
//! do; below it everything has the numbers of the file.

use super::drawing::placed;
use super::{Map, MapRecords};
use crate::error::Result;
use crate::scene::figure::{Iter, Solid, SolidKind};
use crate::scene::glb;
use crate::scene::model::{Attribute, Material, Model, Node, Part, Values};
use crate::scene::svg::WAYPOINT;
use crate::scene::vector::bounds;
use std::io::Write;

/// Writes the boxes, animated backgrounds, item boxes and gimmicks as wireframes with their names, a node for each,
/// below a node for each type; and the links of the waypoints as lines. Records that describe no space are left out.
pub(super) fn write(map: &Map, out: &mut dyn Write) -> Result<()> {
    let mut all = Wireframes::default();
    for (_, colour, records) in placed(map)? {
        all.add(records, colour)?;
    }
    all.add_links(map)?;
    let root = all.push(Node { name: "map".into(), children: all.groups.clone(), ..Node::default() });
    let model = Model {
        name: "map",
        scale: [-1.0, 1.0, 1.0],
        parts: all.parts.iter().map(|part| part as &dyn Part).collect(),
        materials: all.materials.iter().collect(),
        images: &[],
        nodes: &all.nodes,
        rigs: &[],
        roots: &[root],
        glb_only: &[],
        variants: &[],
    };
    glb::write(&model, out)
}

/// Lines of one colour.
#[derive(Debug)]
struct Wires {
    name: &'static str,
    material: usize,
    points: Vec<[f32; 3]>,
    edges: Vec<[u32; 2]>,
}

/// The wireframes of a map, and the nodes that show them.
#[derive(Default)]
struct Wireframes {
    parts: Vec<Wires>,
    materials: Vec<Material>,
    nodes: Vec<Node>,
    /// The nodes of the types.
    groups: Vec<usize>,
}

impl Wireframes {
    /// Adds a node. Returns its number.
    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len().saturating_sub(1)
    }

    /// Adds lines of one colour. Returns their number.
    fn part(
        &mut self,
        name: &'static str,
        colour: [u8; 3],
        points: Vec<[f32; 3]>,
        edges: impl Iterator<Item = [u32; 2]>,
    ) -> usize {
        let [r, g, b] = colour.map(|value| f32::from(value) / 255.0);
        // Lines have no normals, so that no light falls on them.
        self.materials.push(Material { is_unlit: true, ..Material::new(name, [r, g, b, 1.0]) });
        let material = self.materials.len().saturating_sub(1);
        self.parts.push(Wires { name, material, points, edges: edges.collect() });
        self.parts.len().saturating_sub(1)
    }

    fn add(&mut self, records: MapRecords<'_>, colour: [u8; 3]) -> Result<()> {
        let name = records.shape().name;
        let corners = (0..8u32).map(|corner| [1, 2, 4].map(|bit| if corner & bit == 0 { -1.0 } else { 1.0 }));
        // An edge connects two corners with numbers that differ in one bit.
        let edges = (0..8u32).flat_map(|corner| {
            [1, 2, 4].into_iter().filter(move |bit| corner & bit == 0).map(move |bit| [corner, corner | bit])
        });
        let cube = self.part(name, colour, corners.collect(), edges);
        let mut children = Vec::with_capacity(records.len());
        for record in records.iter() {
            let Some(volume) = record.volume()? else { continue };
            let [[a, b, c], [d, e, f], [g, h, i]] = volume.axes;
            let ([p, q, r], [x, y, z]) = (volume.half, volume.center);
            let matrix = [a * p, b * p, c * p, 0.0, d * q, e * q, f * q, 0.0, g * r, h * r, i * r, 0.0, x, y, z, 1.0];
            #[expect(clippy::cast_possible_truncation, reason = "files have floats of 32 bits")]
            let matrix = Some(matrix.map(|v| v as f32));
            let name = record.name()?.to_string().into();
            children.push(self.push(Node { name, part: Some(cube), matrix, ..Node::default() }));
        }
        self.group(name, children);
        Ok(())
    }

    fn group(&mut self, name: &str, children: Vec<usize>) {
        if !children.is_empty() {
            let group = self.push(Node { name: name.into(), children, ..Node::default() });
            self.groups.push(group);
        }
    }

    /// Each link as a line between the centres of its waypoints.
    fn add_links(&mut self, map: &Map) -> Result<()> {
        let mut points = Vec::new();
        for link in map.links() {
            let link = link?;
            let Some((_, to)) = link.to else { continue };
            let (Some(from), Some(to)) = (link.from.1.obb()?, to.obb()?) else { continue };
            let ends = [from, to].map(|obb| obb.position.map(|v| v.get()));
            if ends.as_flattened().iter().all(|number| number.is_finite()) {
                points.extend(ends);
            }
        }
        if !points.is_empty() {
            let edges = (0u32..).step_by(2).map(|point| [point, point.saturating_add(1)]).take(points.len() / 2);
            let part = Some(self.part("waypoint_links", WAYPOINT, points, edges));
            let node = self.push(Node { name: "links".into(), part, ..Node::default() });
            self.group("waypoint_links", vec![node]);
        }
        Ok(())
    }
}

impl Solid for Wires {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> SolidKind {
        SolidKind::Zone
    }

    fn bounds(&self) -> ([f32; 3], [f32; 3]) {
        bounds(self.points.iter().copied()).unwrap_or_default()
    }

    fn vertices(&self) -> usize {
        self.points.len()
    }

    fn positions(&self) -> Iter<'_, [f32; 3]> {
        Box::new(self.points.iter().copied())
    }

    fn normals(&self) -> Option<Iter<'_, [f32; 3]>> {
        None
    }

    fn indices(&self) -> Option<Iter<'_, [u32; 3]>> {
        None
    }
}

impl Part for Wires {
    fn material(&self) -> usize {
        self.material
    }

    fn attributes(&self) -> Vec<Attribute<'_>> {
        vec![Attribute { semantic: "POSITION", values: Values::Vec3(self.positions()) }]
    }

    fn index_count(&self) -> Option<usize> {
        None
    }

    fn greatest_index(&self) -> u32 {
        self.edges.iter().flatten().copied().max().unwrap_or(0)
    }

    fn edges(&self) -> Option<Vec<[u32; 2]>> {
        Some(self.edges.clone())
    }
}
