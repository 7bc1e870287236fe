//! Levels of detail in glTF: the finest is the scene, and each other one is a scene of its own, to which the extension
//! [`MSFT_lod`](https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod) of the finest leads.

use super::Tree;
use crate::model::{Model, Node, Part, Rig};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const EXTENSION: &str = "MSFT_lod";
/// The text between the name of a scene and its level, in the name of a coarser level.
const SUFFIX: &str = " lod";

/// Whether a node has the name of a coarser level, which [`add`] gives.
pub(super) fn is_named(name: &str) -> bool {
    name.rsplit_once(SUFFIX)
        .is_some_and(|(_, level)| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Moves the coarser levels of `model` out of the scenes of `tree`, into scenes of their own. Returns whether there are any.
pub(super) fn add(model: &Model<'_>, tree: &mut Tree<'_>) -> bool {
    let all: BTreeSet<usize> = model.parts.iter().flat_map(|part| stated(*part).iter().copied()).collect();
    let Some(finest) = all.first().copied() else { return false };
    // A scene of one level has no part that its finest level lacks.
    if model.parts.iter().all(|part| stated(*part).is_empty() || part.lods().contains(&finest)) {
        return false;
    }
    let scenes = tree.scenes.len();
    for &number in model.roots.iter().filter(|&&number| has_levels(model, number)) {
        let mut taken = BTreeSet::new();
        let levels = all.iter().map(|&level| {
            let mut level = Level { model, level, taken: &mut taken, placed: Vec::new(), copies: BTreeMap::new() };
            let children = level.children(number, tree);
            level.bind(tree);
            children
        });
        let mut levels = levels.collect::<Vec<_>>().into_iter().zip(&all);
        let first = levels.next();
        for (children, level) in levels {
            let name = format!("{}{SUFFIX}{level}", model.nodes[number].name).into();
            let node = tree.push(Node { name, children, ..model.nodes[number].clone() });
            tree.scenes.push(node);
            tree.coarser.entry(number).or_default().push(node);
        }
        tree.nodes.to_mut()[number].children = first.map_or_else(Vec::new, |(children, _)| children);
    }
    tree.scenes.len() > scenes
}

/// The levels that show a part, unless they are guessed.
fn stated<'p>(part: &'p (dyn Part + 'p)) -> &'p [usize] {
    if part.has_guessed_lods() { &[] } else { part.lods() }
}

/// The levels that show the part of a node; empty if they are not known.
fn lods<'s>(model: &Model<'s>, node: usize) -> &'s [usize] {
    model.nodes[node].part.map_or(&[], |part| stated(model.parts[part]))
}

/// Whether the levels of a part below a node are known.
fn has_levels(model: &Model<'_>, node: usize) -> bool {
    !lods(model, node).is_empty() || model.nodes[node].children.iter().any(|&child| has_levels(model, child))
}

/// A level of detail whose nodes are being chosen.
struct Level<'l, 'a> {
    model: &'l Model<'a>,
    level: usize,
    /// The nodes that a finer level has. A node has one parent, so this level gets copies of them.
    taken: &'l mut BTreeSet<usize>,
    /// Its nodes.
    placed: Vec<usize>,
    /// The copies of nodes that a finer level has.
    copies: BTreeMap<usize, usize>,
}

impl Level<'_, '_> {
    /// The children of a node in this level. A model with fewer levels shows its coarsest.
    fn children(&mut self, node: usize, tree: &mut Tree<'_>) -> Vec<usize> {
        let children = &self.model.nodes[node].children;
        let coarsest = children.iter().flat_map(|&child| lods(self.model, child)).max();
        let mut placed = Vec::new();
        for &child in children {
            let lods = lods(self.model, child);
            if coarsest.is_some_and(|coarsest| !lods.is_empty() && !lods.contains(&self.level.min(*coarsest))) {
                continue;
            }
            let children = self.children(child, tree);
            if self.taken.insert(child) {
                tree.nodes.to_mut()[child].children = children;
                placed.push(child);
            } else {
                let copy = tree.push(Node { children, ..self.model.nodes[child].clone() });
                self.copies.insert(child, copy);
                placed.push(copy);
            }
        }
        self.placed.extend(&placed);
        placed
    }

    /// Makes the copies of joints the joints of the meshes of this level.
    fn bind(&self, tree: &mut Tree<'_>) {
        let mut known = BTreeMap::new();
        for &node in &self.placed {
            let Some(rig) = tree.nodes[node].rig else { continue };
            let new = *known.entry(rig).or_insert_with(|| {
                let Rig { joints, inverse } = tree.rigs[rig].clone();
                if !joints.iter().any(|joint| self.copies.contains_key(joint)) {
                    return rig;
                }
                let joints = joints.into_iter().map(|joint| self.copies.get(&joint).copied().unwrap_or(joint));
                tree.rigs.to_mut().push(Rig { joints: joints.collect(), inverse });
                tree.rigs.len() - 1
            });
            tree.nodes.to_mut()[node].rig = Some(new);
        }
    }
}
