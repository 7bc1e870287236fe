//! Levels of detail in glTF: the finest is the scene, and each other one is a scene of its own, to which the extension
//! [`MSFT_lod`](https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod) of the finest leads.

use super::Scene;
use super::glb::Tree;
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
    for number in scene.roots.iter().copied().filter(|&number| has_levels(scene, number)) {
        let mut taken = BTreeSet::new();
        let mut first = Vec::new();
        for &level in &all {
            let children = Level { scene, level, taken: &mut taken }.children(number, tree);
            if level == finest {
                first = children;
                continue;
            }
            let Some(mut copy) = tree.nodes.get(number).cloned() else { continue };
            (copy.name, copy.children) = (format!("{} lod{level}", copy.name).into(), children);
            copy.coarser = Vec::new();
            let node = tree.push(copy);
            tree.scenes.push(node);
            tree.nodes.get_mut(number).into_iter().for_each(|top| top.coarser.push(node));
        }
        if let Some(top) = tree.nodes.get_mut(number) {
            top.children = first;
        }
    }
    tree.scenes.len() > scenes
}

/// The levels that show the part of a node; empty if they are not known.
fn lods<'s>(scene: &'s Scene<'_>, node: usize) -> &'s [usize] {
    let part = scene.nodes.get(node).and_then(|node| scene.parts.get(node.part?));
    part.map_or(&[], |part| &part.lods)
}

/// The nodes below a node.
fn below<'s>(scene: &'s Scene<'_>, node: usize) -> &'s [usize] {
    scene.nodes.get(node).map_or(&[], |node| &node.children)
}

/// Whether the levels of a part below a node are known.
fn has_levels(scene: &Scene<'_>, node: usize) -> bool {
    !lods(scene, node).is_empty() || below(scene, node).iter().any(|&child| has_levels(scene, child))
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
        let children = below(self.scene, node);
        let coarsest = children.iter().flat_map(|&child| lods(self.scene, child)).max().copied().unwrap_or(0);
        let mut placed = Vec::new();
        for &child in children {
            let lods = lods(self.scene, child);
            if !lods.is_empty() && !lods.contains(&self.level.min(coarsest)) {
                continue;
            }
            let below = self.children(child, tree);
            let is_first = self.taken.insert(child);
            let Some(own) = tree.nodes.get_mut(child) else { continue };
            if is_first {
                own.children = below;
                placed.push(child);
            } else {
                let mut copy = own.clone();
                copy.children = below;
                placed.push(tree.push(copy));
            }
        }
        placed
    }
}
