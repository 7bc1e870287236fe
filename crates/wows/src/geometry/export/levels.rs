//! Levels of detail in glTF: the finest is the scene, and each other one is a scene of its own, to which the extension
//! [`MSFT_lod`](https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod) of the finest leads.

use super::glb::Tree;
use super::{Node, Scene};
use std::collections::BTreeSet;

pub(super) const EXTENSION: &str = "MSFT_lod";

/// Moves the coarser levels of `scene` out of the scenes of `tree`, into scenes of their own. Returns whether there are any.
pub(super) fn add(scene: &Scene<'_>, tree: &mut Tree<'_>) -> bool {
    let all: BTreeSet<usize> = scene.parts.iter().flat_map(|part| part.lods.iter().copied()).collect();
    let Some(finest) = all.first().copied() else { return false };
    // A scene of one level has no part that its finest level lacks.
    if scene.parts.iter().all(|part| part.lods.is_empty() || part.lods.contains(&finest)) {
        return false;
    }
    let scenes = tree.scenes.len();
    for &number in scene.roots.iter().filter(|&&number| has_levels(scene, number)) {
        let mut taken = BTreeSet::new();
        let levels = all.iter().map(|&level| Level { scene, level, taken: &mut taken }.children(number, tree));
        let mut levels = levels.collect::<Vec<_>>().into_iter().zip(&all);
        let first = levels.next();
        for (children, level) in levels {
            let name = format!("{} lod{level}", scene.nodes[number].name).into();
            let node = tree.push(Node { name, children, ..scene.nodes[number].clone() });
            tree.scenes.push(node);
            tree.coarser.entry(number).or_default().push(node);
        }
        tree.nodes.to_mut()[number].children = first.map_or_else(Vec::new, |(children, _)| children);
    }
    tree.scenes.len() > scenes
}

/// The levels that show the part of a node; empty if they are not known.
fn lods<'s>(scene: &'s Scene<'_>, node: usize) -> &'s [usize] {
    scene.nodes[node].part.map_or(&[], |part| &scene.parts[part].lods)
}

/// Whether the levels of a part below a node are known.
fn has_levels(scene: &Scene<'_>, node: usize) -> bool {
    !lods(scene, node).is_empty() || scene.nodes[node].children.iter().any(|&child| has_levels(scene, child))
}

/// A level of detail whose nodes are being chosen.
struct Level<'l, 'a> {
    scene: &'l Scene<'a>,
    level: usize,
    /// The nodes that a finer level has. A node has one parent, so this level gets copies of them.
    taken: &'l mut BTreeSet<usize>,
}

impl Level<'_, '_> {
    /// The children of a node in this level. A model with fewer levels shows its coarsest.
    fn children(&mut self, node: usize, tree: &mut Tree<'_>) -> Vec<usize> {
        let children = &self.scene.nodes[node].children;
        let coarsest = children.iter().flat_map(|&child| lods(self.scene, child)).max();
        let mut placed = Vec::new();
        for &child in children {
            let lods = lods(self.scene, child);
            if coarsest.is_some_and(|coarsest| !lods.is_empty() && !lods.contains(&self.level.min(*coarsest))) {
                continue;
            }
            let children = self.children(child, tree);
            if self.taken.insert(child) {
                tree.nodes.to_mut()[child].children = children;
                placed.push(child);
            } else {
                placed.push(tree.push(Node { children, ..self.scene.nodes[child].clone() }));
            }
        }
        placed
    }
}
