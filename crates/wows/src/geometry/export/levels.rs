//! Levels of detail of meshes whose file states none.

use super::part::ScenePart;
use super::{Options, Scene, origin};
use crate::geometry::Geometry;
use crate::geometry::mesh::Groups;
use crate::scene::vector::{dot, minus};
use std::collections::BTreeMap;

/// The part of its diagonal by which the sides of the boxes of two levels of one thing differ at most.
const ALIKE: f32 = 0.04;

/// Guesses the levels of detail of meshes without any. Meshes with nearly the same bounding box are levels of one object, and the
/// mesh with the most triangles is the finest. An object without a coarser mesh keeps its coarsest one at coarser levels. Returns the
/// coarsest level of all, 0 if nothing was guessed.
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

/// The levels of detail of each group, which a text model states, or a guess if `guesses`. A GLB shows a group without any in all
/// levels; `None` stands for a group that no GLB shows, and for one whose levels are not known.
pub(in crate::geometry) fn of_groups(geometry: &Geometry, groups: &Groups, guesses: bool) -> Vec<Option<Vec<usize>>> {
    let options = Options { lod: None, armor: false, collision: false, ..Options::default() };
    let parts = Scene::new("", geometry, groups, None, options).parts.into_iter();
    let parts = parts.filter(|part| guesses || !part.is_guessed && !part.lods.is_empty());
    let known: BTreeMap<(u32, u32), Vec<usize>> =
        parts.filter_map(|part| Some((part.origin?.ids()?, part.lods))).collect();
    groups.groups.iter().map(|group| known.get(&origin(geometry, group)?.ids()?).cloned()).collect()
}
