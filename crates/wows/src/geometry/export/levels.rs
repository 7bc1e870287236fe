//! Levels of detail in glTF: the finest is the scene, and each other one is a scene of its own, to which the extension
//! [`MSFT_lod`](https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod) of the finest leads.

use super::glb::Tree;
use super::part::ScenePart;
use super::rig::Rig;
use super::{Node, Scene};
use crate::geometry::mesh::{dot, minus};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const EXTENSION: &str = "MSFT_lod";

/// The part of its diagonal by which the sides of the boxes of two levels of one thing differ at most.
const ALIKE: f32 = 0.04;

/// Gives levels of detail to meshes without any: those around which nearly the same box fits are levels of one thing, and the one with
/// the most triangles is the finest. The coarsest of a thing stands for its coarser levels, too. Returns the coarsest level of all, 0 if
/// nothing was guessed.
pub(super) fn guess(parts: &mut [&mut ScenePart<'_>]) -> usize {
    /// Things that are compared with each part.
    const MOST: usize = 4096;
    let mut order: Vec<usize> = (0..parts.len()).filter(|&part| parts[part].lods.is_empty()).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(parts[part].indices));
    let mut things: Vec<Vec<usize>> = Vec::new();
    for part in order {
        match things.iter_mut().take(MOST).find(|thing| is_alike(parts[thing[0]], parts[part])) {
            Some(thing) => thing.push(part),
            None => things.push(vec![part]),
        }
    }
    let coarsest = things.iter().map(|thing| thing.len() - 1).max().unwrap_or(0);
    if coarsest == 0 {
        return 0;
    }
    for thing in things {
        let last = thing.len() - 1;
        for (level, part) in thing.into_iter().enumerate() {
            parts[part].lods = (level..=if level == last { coarsest } else { level }).collect();
            parts[part].is_guessed = true;
        }
    }
    coarsest
}

fn is_alike(finer: &ScenePart<'_>, part: &ScenePart<'_>) -> bool {
    let size = minus(finer.max, finer.min);
    let limit = ALIKE * dot(size, size).sqrt();
    let both = finer.min.iter().zip(part.min).chain(finer.max.iter().zip(part.max));
    both.into_iter().all(|(a, b)| (a - b).abs() <= limit)
}

/// Moves the coarser levels of `scene` out of the scenes of `tree`, into scenes of their own. Returns whether there are any.
pub(super) fn add(scene: &Scene<'_>, tree: &mut Tree<'_>) -> bool {
    let all: BTreeSet<usize> = scene.parts.iter().flat_map(|part| stated(part).iter().copied()).collect();
    let Some(finest) = all.first().copied() else { return false };
    // A scene of one level has no part that its finest level lacks.
    if scene.parts.iter().all(|part| stated(part).is_empty() || part.lods.contains(&finest)) {
        return false;
    }
    let scenes = tree.scenes.len();
    for &number in scene.roots.iter().filter(|&&number| has_levels(scene, number)) {
        let mut taken = BTreeSet::new();
        let levels = all.iter().map(|&level| {
            let mut level = Level { scene, level, taken: &mut taken, placed: Vec::new(), copies: BTreeMap::new() };
            let children = level.children(number, tree);
            level.bind(tree);
            children
        });
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

/// The levels that show a part, unless they are guessed.
fn stated<'p>(part: &'p ScenePart<'_>) -> &'p [usize] {
    if part.is_guessed { &[] } else { &part.lods }
}

/// The levels that show the part of a node; empty if they are not known.
fn lods<'s>(scene: &'s Scene<'_>, node: usize) -> &'s [usize] {
    scene.nodes[node].part.map_or(&[], |part| stated(&scene.parts[part]))
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
    /// Its nodes.
    placed: Vec<usize>,
    /// The copies of nodes that a finer level has.
    copies: BTreeMap<usize, usize>,
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
                let copy = tree.push(Node { children, ..self.scene.nodes[child].clone() });
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
