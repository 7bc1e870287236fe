//! Meshes: pairs of vertices and indices, their names, and their placement in a space.
//!
//! A `.geometry` file does not pair vertex mappings with index mappings: the render sets of a visual do. With render
//! sets ([`Model`]) the pairs are exact; without, they follow the file's own hints, and each [`Group`] names its hint.

use super::layout::Mapping;
use super::{Attribute, Geometry, Indices, Vertices};
use crate::error::{Error, ErrorKind, Result};
use crate::models::{Drawn, Mesh, Meshes, Model, ModelFiles};
use crate::relations::IdTexts as _;
use crate::scene::Context;
use crate::scene::vector::{cross, dot, minus};
use crate::text_models::Companions;
use crate::threads::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A render group: vertices, and triangles over them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The group's name: the render set's, or one made from the id of its index mapping.
    pub name: String,
    /// The group's vertex mapping, by number.
    pub vertices: usize,
    /// The group's index mapping, by number.
    pub indices: usize,
    /// How the two were found to belong together.
    pub pairing: Pairing,
    /// The name of its material, if a render set contains it.
    pub material: Option<String>,
    /// The id of its material, if a render set contains it.
    pub mfm: Option<u64>,
    /// The model that it is part of, by number in [`Groups::models`].
    pub model: Option<usize>,
    /// The levels of detail of its model that show it.
    pub lods: Vec<usize>,
    /// The names of the nodes that move its vertices, by the number of the bone; empty if they are not known.
    pub bones: Vec<String>,
    /// The transform from the node that the group hangs on to the model, if it has one: see
    /// [`Placement::transform`](crate::models::Placement::transform).
    pub transform: Option<[f32; 16]>,
}

impl Group {
    /// A group without a model and without a known render set.
    pub(super) fn new(name: String, vertices: usize, indices: usize, pairing: Pairing) -> Self {
        let (material, mfm, model, lods, bones, transform) = (None, None, None, Vec::new(), Vec::new(), None);
        Self { name, vertices, indices, pairing, material, mfm, model, lods, bones, transform }
    }
}

/// How a pair was found, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Pairing {
    /// A render set names both.
    RenderSet,
    /// Both have the same id.
    SameId,
    /// No other vertex mapping has this texel density and the number of vertices that the indices need.
    Count,
    /// The normals of this vertex mapping, of several that fit, agree with the triangles.
    Normals,
    /// A guess: this vertex mapping is at this position among several equally good ones.
    Order,
}

impl fmt::Display for Pairing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RenderSet => "render set",
            Self::SameId => "same id",
            Self::Count => "texel density and count",
            Self::Normals => "normals",
            Self::Order => "order in the file (a guess)",
        })
    }
}

/// The render groups of a file.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Groups {
    /// The groups, in the order of their index mappings, or of the render sets that name them.
    pub groups: Vec<Group>,
    /// Names of their models, if render sets contain them.
    pub models: Vec<String>,
    /// Places of the first model where other models are put, such as `HP_gunFire1`.
    pub hard_points: Vec<HardPoint>,
    /// The nodes of the first model, each after the node above it.
    pub skeleton: Vec<SkeletonNode>,
    /// Guesses, and mappings that were left out, in words.
    pub notes: Vec<String>,
}

/// A place in a model where another model is put.
#[derive(Debug, Clone, PartialEq)]
pub struct HardPoint {
    /// The name of its node.
    pub name: String,
    /// As [`Group::transform`].
    pub transform: [f32; 16],
}

/// A node of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct SkeletonNode {
    pub name: String,
    /// The node above it, by number.
    pub parent: Option<usize>,
    /// The transform to the node above it, as [`Group::transform`].
    pub transform: [f32; 16],
}

/// The product *((b - a) x (c - a)) · normal* for the corners *a*, *b*, *c* of a triangle: positive where the normal lies on
/// the side to which the formula of docs/formats/geometry.md §6.3 points.
pub(super) fn side([a, b, c]: [[f32; 3]; 3], normal: [f32; 3]) -> f32 {
    dot(cross(minus(b, a), minus(c, a)), normal)
}

/// Of the triangles, how many have the normal of their first corner on the positive [`side`], and how many on the other.
/// Looks at no more than a few thousand.
pub(super) fn turns(vertices: &Vertices<'_>, indices: &Indices<'_>) -> (usize, usize) {
    let (mut left, mut right) = (0usize, 0usize);
    let step = (indices.len() / 3 / 2048).max(1);
    for corners in indices.triangles().step_by(step) {
        let corners = corners.map(|corner| {
            let one = vertices.slice(corner as usize, 1)?;
            Some((one.positions()?.next()?, one.normals()?.next()?))
        });
        let [Some((a, normal)), Some((b, _)), Some((c, _))] = corners else { continue };
        let side = side([a, b, c], normal);
        left = left.saturating_add(usize::from(side > 0.0));
        right = right.saturating_add(usize::from(side < 0.0));
    }
    (left, right)
}

impl Geometry {
    /// The render groups as text models beside the file name them. Others are paired by the file's own hints: the same id,
    /// else the texel density and how many vertices the indices ask for, else how well triangles and normals agree. Found
    /// once and kept. A damaged text model is a note.
    ///
    /// # Errors
    /// When the mappings do not lie in the file, or name more items than the file can have.
    pub fn groups(&self) -> Result<&Groups> {
        self.made.groups.get_or_try_init(|| match self.companions() {
            Ok(Some(companions)) => self.groups_beside(companions),
            Ok(None) => pair_by_hints(self),
            Err(error) => {
                let mut groups = pair_by_hints(self)?;
                groups.notes.push(error.to_string());
                Ok(groups)
            }
        })
    }

    /// The render groups that the text models beside the file name, then the others.
    fn groups_beside(&self, companions: &Companions) -> Result<Groups> {
        let mut named = self.groups_of(std::slice::from_ref(companions.model()))?;
        let mappings = self.vertex_mappings()?;
        for group in &mut named.groups {
            let id = mappings.get(group.vertices).map(|mapping| mapping.mapping_id.get());
            let found = id.and_then(|id| companions.transform(id));
            let is_skinned = self.mapped_vertices(group.vertices).is_ok_and(|v| v.format().has(Attribute::Bones));
            group.transform = found.filter(|found| is_skinned || !found.is_world).map(|found| found.transform);
            group.bones = id.map_or_else(Vec::new, |id| companions.bones(id).to_vec());
        }
        named.hard_points = companions.hard_points().to_vec();
        named.skeleton = companions.skeleton().to_vec();
        let used: BTreeSet<usize> = named.groups.iter().map(|group| group.indices).collect();
        if used.len() < self.index_mappings()?.len() {
            let by_hints = pair_by_hints(self)?;
            named.groups.extend(by_hints.groups.into_iter().filter(|group| !used.contains(&group.indices)));
        }
        Ok(named)
    }

    /// The render groups as the files in `context` name and pair them. If none of these files draws this one, the render
    /// groups are those of [`Geometry::groups`], with a note.
    ///
    /// # Errors
    /// As [`Geometry::groups`], and when a file in `context` cannot be read.
    pub fn groups_in(&self, context: &Context<'_>) -> Result<Cow<'_, Groups>> {
        self.groups_by(&self.models_in(&ModelFiles::new(context), context.is_implied)?)
    }

    pub(super) fn groups_by(&self, known: &KnownModels) -> Result<Cow<'_, Groups>> {
        let mut groups = match &*known.models {
            [] => Cow::Borrowed(self.groups()?),
            models => Cow::Owned(self.groups_of(models)?),
        };
        if let Some(note) = &known.note {
            groups.to_mut().notes.push(note.clone());
        }
        Ok(groups)
    }

    /// The models that draw this file. Their absence is a note, unless the user named no file.
    pub(super) fn models_in(&self, files: &ModelFiles<'_>, is_implied: bool) -> Result<KnownModels> {
        if let Some(models) = files.models() {
            return Ok(KnownModels { models: models?, are_of_space: true, note: None });
        }
        let vertices: BTreeSet<u32> = self.vertex_mappings()?.iter().map(|m| m.mapping_id.get()).collect();
        let models = files.models_of(self.source().name(), &vertices).transpose();
        match models {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound { .. }) => {
                let has_names = matches!(self.companions(), Ok(Some(_)));
                let note = if has_names { error.to_string() } else { format!("{error}; its meshes have no names") };
                Ok(KnownModels { note: Some(note).filter(|_| !is_implied), ..KnownModels::default() })
            }
            models => Ok(KnownModels { models: models?.unwrap_or_default(), ..KnownModels::default() }),
        }
    }

    /// The render groups as render sets name them. Mappings that no render set names are left out, which the notes
    /// say.
    ///
    /// # Errors
    /// When the mappings do not lie in the file.
    pub fn groups_of(&self, models: &[Model]) -> Result<Groups> {
        let (vertices, indices) = (by_id(self.vertex_mappings()?), by_id(self.index_mappings()?));
        let mut out = Groups { models: models.iter().map(|m| m.name.clone()).collect(), ..Groups::default() };
        let mut missing = 0usize;
        let mut used = vec![false; self.index_mappings()?.len()];
        for (model, m) in models.iter().enumerate() {
            let mut shown_by = vec![Vec::new(); m.render_sets.len()];
            for (lod, sets) in m.lods.iter().enumerate() {
                for &set in sets {
                    if let Some(lods) = shown_by.get_mut(set).filter(|lods| lods.last() != Some(&lod)) {
                        lods.push(lod);
                    }
                }
            }
            for (set, lods) in m.render_sets.iter().zip(shown_by) {
                let (Some(&vertices), Some(&indices)) = (vertices.get(&set.vertices), indices.get(&set.indices)) else {
                    missing = missing.saturating_add(1);
                    continue;
                };
                used.get_mut(indices).into_iter().for_each(|u| *u = true);
                out.groups.push(Group {
                    material: set.material.clone(),
                    mfm: set.mfm,
                    model: Some(model),
                    lods,
                    ..Group::new(set.name.clone(), vertices, indices, Pairing::RenderSet)
                });
            }
        }
        let unused = used.iter().filter(|u| !**u).count();
        if missing > 0 {
            out.notes.push(format!("{missing} render sets name mappings that this file does not have"));
        }
        if unused > 0 {
            out.notes.push(format!("{unused} index mappings are named by no render set"));
        }
        Ok(out)
    }
}

/// The models of other files that draw a geometry.
#[derive(Default)]
pub(super) struct KnownModels {
    pub(super) models: Vec<Model>,
    /// Whether they are the models of a space, which has places for them.
    pub(super) are_of_space: bool,
    /// A note if the files that the user named contain no such models.
    note: Option<String>,
}

/// The numbers of mappings by their ids. The first mapping with an id is the one that counts.
fn by_id(mappings: &[Mapping]) -> HashMap<u32, usize> {
    mappings.iter().enumerate().rev().map(|(number, mapping)| (mapping.mapping_id.get(), number)).collect()
}

impl Meshes for Geometry {
    fn find(&self, drawn: &[Drawn]) -> Result<Vec<Mesh>> {
        let (vertices, indices) = (by_id(self.vertex_mappings()?), by_id(self.index_mappings()?));
        let mut meshes = Vec::new();
        for set in drawn {
            let both = [(set.vertices, "vertex_mappings", &vertices), (set.indices, "index_mappings", &indices)];
            for (id, table, rows) in both {
                meshes.extend(rows.get(&id).map(|&row| Mesh::new(id, set, table, row)));
            }
        }
        Ok(meshes)
    }
}

/// An index mapping, as far as pairing needs to know it.
struct Wanted {
    index: usize,
    density: u16,
    /// The number of vertices that the indices need: the greatest index plus one.
    needs: u64,
}

fn pair_by_hints(geometry: &Geometry) -> Result<Groups> {
    let (vertices, indices) = (geometry.vertex_mappings()?, geometry.index_mappings()?);
    check_total(geometry, indices)?;
    let mut out = Groups::default();
    let ids: HashMap<u32, usize> = vertices.iter().enumerate().map(|(i, m)| (m.mapping_id.get(), i)).collect();
    let same = ids.len() == vertices.len() && indices.iter().all(|m| ids.contains_key(&m.mapping_id.get()));
    let mut pairs: Vec<(usize, usize, Pairing)> = if same {
        let ids = indices.iter().map(|m| ids.get(&m.mapping_id.get()).expect("each id is among them"));
        ids.enumerate().map(|(index, vertices)| (index, *vertices, Pairing::SameId)).collect()
    } else {
        let wanted: Vec<Result<Wanted>> = (0..indices.len())
            .into_par_iter()
            .zip(indices)
            .map(|(index, mapping)| {
                let needs = geometry.mapped_indices(index)?.max().map_or(0, |max| u64::from(max).saturating_add(1));
                Ok(Wanted { index, density: mapping.packed_texel_density.get(), needs })
            })
            .collect();
        let known = wanted.into_iter().filter_map(|wanted| {
            let noted = wanted.map_err(|error| out.notes.push(error.to_string()));
            noted.ok()
        });
        pair_by_count(geometry, known.collect(), vertices)
    };
    pairs.sort_unstable_by_key(|&(index, _, _)| index);
    let guesses = pairs.iter().filter(|p| p.2 == Pairing::Order).count();
    let left = indices.len().saturating_sub(pairs.len());
    if guesses > 0 {
        out.notes.push(format!("{guesses} groups have more than one vertex range that fits; paired by their order"));
    }
    if left > 0 {
        out.notes.push(format!("{left} index mappings have no vertices that fit"));
    }
    out.groups = pairs
        .into_iter()
        .filter_map(|(index, vertex, pairing)| {
            let id = indices.get(index)?.mapping_id.get();
            let name = name_of(geometry, id).unwrap_or_else(|| format!("{UNNAMED}{id:08X}"));
            Some(Group::new(name, vertex, index, pairing))
        })
        .collect();
    Ok(out)
}

/// The beginning of the name of a group that no file names. The id of its indices follows.
const UNNAMED: &str = "group_";

/// The id of the indices of a group without a name.
pub(super) fn unnamed_id(name: &str) -> Option<u32> {
    u32::from_str_radix(name.strip_prefix(UNNAMED).filter(|id| id.len() == 8)?, 16).ok()
}

/// The name of the render set whose indices have this id, if other files name it.
fn name_of(geometry: &Geometry, id: u32) -> Option<String> {
    let name = geometry.names.as_ref()?.name(id).ok()??;
    name.strip_suffix(".indices").map(str::to_owned)
}

/// Checks that the mappings together name no more indices than a few times as many as the buffers have, so that looking
/// at all of them is no more work than the file is worth.
fn check_total(geometry: &Geometry, mappings: &[Mapping]) -> Result<()> {
    let counts = (0..geometry.indices_prototypes()?.len()).map(|i| geometry.index_buffer(i)?.count());
    let have = counts.flatten().fold(0u64, |sum, count| sum.saturating_add(count as u64));
    let named = mappings.iter().fold(0u64, |sum, m| sum.saturating_add(u64::from(m.items_count.get())));
    let limit = have.saturating_mul(4);
    if named > limit {
        let kind = ErrorKind::Limit { what: "indices that the mappings name", value: named, limit };
        return Err(Error::of_part(kind, "index mappings"));
    }
    Ok(())
}

/// Pairs within each texel density: the smallest need with the smallest range that has as many vertices. Where
/// several have equally many, the normals decide.
fn pair_by_count(geometry: &Geometry, mut wanted: Vec<Wanted>, vertices: &[Mapping]) -> Vec<(usize, usize, Pairing)> {
    let mut ranges: Vec<(u16, u32, usize)> =
        vertices.iter().enumerate().map(|(i, m)| (m.packed_texel_density.get(), m.items_count.get(), i)).collect();
    ranges.sort_unstable();
    wanted.sort_unstable_by_key(|w| (w.density, w.needs, w.index));
    let mut pairs = Vec::with_capacity(wanted.len());
    for of_density in wanted.chunk_by(|a, b| a.density == b.density) {
        let Some(density) = of_density.first().map(|w| w.density) else { continue };
        let from = ranges.partition_point(|r| r.0 < density);
        let to = ranges.partition_point(|r| r.0 <= density);
        let ranges = ranges.get(from..to).expect("both are in order");
        pair_sorted(geometry, of_density, ranges, &mut pairs);
    }
    pairs
}

/// Both slices are of one density and sorted by how many vertices they need and have.
fn pair_sorted(
    geometry: &Geometry,
    wanted: &[Wanted],
    ranges: &[(u16, u32, usize)],
    pairs: &mut Vec<(usize, usize, Pairing)>,
) {
    // The largest need gets the largest range, and so on: a need without a sufficient range cannot be met at all.
    let mut chosen: Vec<(&Wanted, u32, usize)> = Vec::with_capacity(wanted.len());
    let mut left = ranges.iter().rev().peekable();
    for want in wanted.iter().rev() {
        if let Some(&(_, count, range)) = left.next_if(|r| u64::from(r.1) >= want.needs) {
            chosen.push((want, count, range));
        }
    }
    chosen.reverse();
    for same in chosen.chunk_by(|a, b| a.1 == b.1) {
        match same {
            [(want, _, range)] => pairs.push((want.index, *range, Pairing::Count)),
            _ => pair_alike(geometry, same, pairs),
        }
    }
}

/// The agreement of the orientations of triangles, in thousandths: 1000 if all agree, 0 for what cannot be read.
fn agreement(geometry: &Geometry, want: &Wanted, range: usize) -> usize {
    let both = geometry.mapped_vertices(range).and_then(|v| Ok((v, geometry.mapped_indices(want.index)?)));
    let (left, right) = both.map_or((0, 0), |(v, i)| turns(&v, &i));
    left.abs_diff(right).saturating_mul(1000).div_euclid(left.saturating_add(right).max(1))
}

/// Ranges compared with each other at most; longer runs are paired by their order.
const MAX_ALIKE: usize = 16;

/// Pairs ranges with equal numbers of vertices: each need takes the range whose normals agree best with its triangles;
/// among equals, the first.
fn pair_alike(geometry: &Geometry, alike: &[(&Wanted, u32, usize)], pairs: &mut Vec<(usize, usize, Pairing)>) {
    let mut wants: Vec<&Wanted> = alike.iter().map(|(want, _, _)| *want).collect();
    let mut ranges: Vec<usize> = alike.iter().map(|&(_, _, range)| range).collect();
    wants.sort_unstable_by_key(|w| w.index);
    ranges.sort_unstable();
    if wants.len() > MAX_ALIKE {
        pairs.extend(wants.iter().zip(ranges).map(|(want, range)| (want.index, range, Pairing::Order)));
        return;
    }
    for want in wants {
        let scores: Vec<usize> = ranges.iter().map(|&range| agreement(geometry, want, range)).collect();
        let Some(best) = scores.iter().max() else { continue };
        // Less than a twentieth apart is no difference.
        let rivals = scores.iter().enumerate().filter(|(_, score)| score.saturating_add(50) >= *best);
        let mut rivals = rivals.map(|(at, _)| at);
        let at = rivals.next().expect("the best one is among them");
        let pairing = match (ranges.len(), rivals.next()) {
            (1, _) => pairs.last().map_or(Pairing::Normals, |p| p.2),
            (_, None) => Pairing::Normals,
            _ => Pairing::Order,
        };
        pairs.push((want.index, ranges.remove(at), pairing));
    }
}
