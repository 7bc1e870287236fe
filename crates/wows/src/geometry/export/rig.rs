//! Skins: the nodes of a visual as joints of the vertices that hang on several of them.

use super::{Scene, right_handed};
use crate::geometry::mesh::Groups;
use crate::scene::glb::read::plain;
use crate::scene::matrix::Matrix;
use crate::scene::model::{Node, Rig};
use std::collections::HashMap;

/// The beginning of the name of a bone whose node is not known.
const NUMBERED: &str = "bone ";

/// The number of a bone without a name of its own.
pub(super) fn number_of(name: &str) -> Option<u8> {
    plain(name).strip_prefix(NUMBERED)?.parse().ok()
}

/// Nodes of a skeleton that were added to a scene.
#[derive(Default)]
struct Joints {
    by_name: HashMap<String, usize>,
    /// The node above each, and the matrix of each to the model, by its number in the scene.
    above: HashMap<usize, usize>,
    matrices: HashMap<usize, Matrix>,
    /// As `matrices`, as the file has them: some mirror.
    stored: HashMap<usize, Matrix>,
    tops: Vec<usize>,
}

impl Scene<'_> {
    /// Adds the nodes of the visual, if bones move the vertices of any of `nodes`, and makes them their joints. Returns the topmost.
    pub(super) fn add_skeleton(&mut self, groups: &Groups, nodes: &mut [Node]) -> Vec<usize> {
        let parts: Vec<Option<usize>> =
            nodes.iter().map(|node| node.part.filter(|part| self.parts[*part].is_skinned())).collect();
        if parts.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut joints = Joints::default();
        let first = self.nodes.len();
        for bone in &groups.skeleton {
            let matrix = self.note_matrix(&bone.name, bone.transform);
            self.add_joint(&bone.name, matrix, bone.parent.map(|parent| first + parent), &mut joints);
        }
        for (node, part) in nodes.iter_mut().zip(parts) {
            let Some(part) = part.map(|part| &self.parts[part]) else { continue };
            let used = part.group_vertices().and_then(|vertices| vertices.influences());
            let used = used.into_iter().flatten().flatten().filter(|(_, weight)| *weight > 0);
            let count = used.map(|(bone, _)| usize::from(bone) + 1).max().unwrap_or(0);
            let bones = part.origin.as_ref().map_or(&[][..], |origin| &origin.bones).to_vec();
            let names = (0..count.max(bones.len()))
                .map(|number| bones.get(number).cloned().unwrap_or_else(|| format!("{NUMBERED}{number}")));
            let mut own: Vec<usize> = Vec::new();
            for name in names {
                let known = joints.by_name.get(&name).copied();
                own.push(known.unwrap_or_else(|| self.add_joint(&name, None, None, &mut joints)));
            }
            // A program that draws bones draws those above the bones, too.
            for joint in own.clone() {
                let mut above = joints.above.get(&joint);
                while let Some(node) = above.filter(|node| !own.contains(node)) {
                    own.push(*node);
                    above = joints.above.get(node);
                }
            }
            let inverse =
                own.iter().map(|joint| joints.matrices[joint].inverse().unwrap_or(Matrix::scale(1.0)).numbers());
            let rig = Rig { inverse: inverse.collect(), joints: own };
            node.rig = Some(self.rigs.iter().position(|known| *known == rig).unwrap_or_else(|| {
                self.rigs.push(rig);
                self.rigs.len() - 1
            }));
        }
        joints.tops
    }

    /// The matrix of a node, which is noted as damaged if it has none that can be taken back.
    fn note_matrix(&mut self, name: &str, transform: [f32; 16]) -> Option<[f32; 16]> {
        let matrix = right_handed(transform).filter(|matrix| Matrix::of_numbers(matrix).inverse().is_some());
        if matrix.is_none() {
            self.notes.push(format!("node {name} has no valid transform; it is placed at its parent"));
        }
        matrix.filter(|matrix| Matrix::of_numbers(matrix) != Matrix::scale(1.0))
    }

    fn add_joint(&mut self, name: &str, matrix: Option<[f32; 16]>, above: Option<usize>, joints: &mut Joints) -> usize {
        let number = self.nodes.len();
        let own = matrix.map_or(Matrix::scale(1.0), |matrix| Matrix::of_numbers(&matrix));
        let stored = above.map_or(own, |above| joints.stored[&above].after(&own));
        // Programs turn a bone that mirrors. The vertices are mirrored already: see `ScenePart::bind`.
        let to_model = stored.unmirrored();
        let is_mirrored =
            to_model != stored || above.is_some_and(|above| joints.matrices[&above] != joints.stored[&above]);
        let back = above.and_then(|above| joints.matrices[&above].inverse());
        let local = back.map_or(to_model, |back| back.after(&to_model)).numbers();
        let matrix = if is_mirrored { Some(local) } else { matrix };
        self.nodes.push(Node { name: name.into(), matrix, ..Node::default() });
        joints.stored.insert(number, stored);
        joints.matrices.insert(number, to_model);
        joints.by_name.entry(name.to_owned()).or_insert(number);
        match above {
            Some(above) => {
                self.nodes[above].children.push(number);
                joints.above.insert(number, above);
            }
            None => joints.tops.push(number),
        }
        number
    }
}
