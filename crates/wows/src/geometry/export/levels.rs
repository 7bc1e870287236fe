//! Levels of detail in glTF: the finest is the scene, and each other one is a scene of its own, to which the extension
//! [`MSFT_lod`](https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod) of the finest leads.

use super::Scene;
use super::glb::index;
use gltf_json as json;
use json::Root;
use serde_json::json;
use std::collections::BTreeSet;

const EXTENSION: &str = "MSFT_lod";

/// A node of the finest level, and the nodes of the coarser ones.
pub(super) type Leads = (usize, Vec<usize>);

/// Moves the coarser levels of `scene` out of the scenes of `root`, into scenes of their own. Returns which node leads to which.
pub(super) fn add(scene: &Scene<'_>, root: &mut Root) -> Vec<Leads> {
    let all: BTreeSet<usize> = scene.parts.iter().flat_map(|part| part.lods.iter().copied()).collect();
    let mut leads = Vec::new();
    let Some(finest) = all.first().copied() else { return leads };
    // A scene of one level has no part that its finest level lacks.
    if scene.parts.iter().all(|part| part.lods.is_empty() || part.lods.contains(&finest)) {
        return leads;
    }
    for number in scene.roots.iter().copied().filter(|&number| has_levels(scene, number)) {
        let mut taken = BTreeSet::new();
        let mut children = |level, root: &mut Root| Level { scene, level, taken: &mut taken }.children(number, root);
        let first = children(finest, root);
        let others: Vec<_> = all.iter().skip(1).map(|&level| (level, children(level, root))).collect();
        let Some(top) = root.nodes.get(number).cloned() else { continue };
        let mut ids = Vec::new();
        for (level, children) in others {
            let name = top.name.as_ref().map(|name| format!("{name} lod{level}"));
            let node = root.push(json::Node { name: name.clone(), children: Some(children), ..top.clone() });
            ids.push(node.value());
            root.scenes.push(json::Scene { extensions: None, extras: None, name, nodes: vec![node] });
        }
        root.nodes.get_mut(number).into_iter().for_each(|node| node.children = Some(first.clone()));
        leads.push((number, ids));
    }
    if !leads.is_empty() {
        root.extensions_used.push(EXTENSION.into());
    }
    leads
}

/// The description as JSON, with the extension, which the types of glTF lack.
pub(super) fn to_json(root: &Root, leads: &[Leads]) -> Result<Vec<u8>, json::Error> {
    if leads.is_empty() {
        return json::serialize::to_vec(root);
    }
    let mut root = json::serialize::to_value(root)?;
    for (node, ids) in leads {
        let node = root.get_mut("nodes").and_then(|nodes| nodes.get_mut(*node)).and_then(|node| node.as_object_mut());
        node.into_iter().for_each(|node| drop(node.insert("extensions".into(), json!({ EXTENSION: { "ids": ids } }))));
    }
    json::serialize::to_vec(&root)
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
    fn children(&mut self, node: usize, root: &mut Root) -> Vec<json::Index<json::Node>> {
        let children = below(self.scene, node);
        let coarsest = children.iter().flat_map(|&child| lods(self.scene, child)).max().copied().unwrap_or(0);
        let mut placed = Vec::new();
        for &child in children {
            let lods = lods(self.scene, child);
            if !lods.is_empty() && !lods.contains(&self.level.min(coarsest)) {
                continue;
            }
            let below = self.children(child, root);
            let Some(mut copy) = root.nodes.get(child).cloned() else { continue };
            copy.children = (!below.is_empty()).then_some(below);
            if self.taken.insert(child) {
                root.nodes.get_mut(child).into_iter().for_each(|node| *node = copy.clone());
                placed.push(index(child));
            } else {
                placed.push(root.push(copy));
            }
        }
        placed
    }
}
