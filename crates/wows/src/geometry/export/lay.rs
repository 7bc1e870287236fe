//! Meshes of a GLB as vertices and indices of the groups that they were written from.
//!
//! A vertex equal to one of the group, within rounding, keeps the bytes of that vertex, whatever its number: other programs renumber
//! vertices, split them where normals differ, and round.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::back::{Mesh, Motion};
use super::part::{ATTRIBUTES, PartShape, ScenePart, mirror};
use super::tangents;
use super::vertex_search::VertexSearch;
use crate::error::Result;
use crate::geometry::content::turned;
use crate::geometry::mesh::Group;
use crate::geometry::{Attribute, Geometry, METRES, VertexFormat, Vertices};
use crate::report::counted;
use crate::scene::figure::{Influences, Solid as _};
use crate::scene::glb::read::{Glb, Surface, plain};
use crate::scene::matrix::Matrix;
use crate::scene::vector::{cross, unit};
use crate::writable::refused;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The change of a group by a mesh; `None` if it does not change.
#[derive(Default)]
pub(in crate::geometry) struct GroupChange {
    pub vertices: Option<Vec<u8>>,
    pub indices: Option<Vec<u32>>,
    /// Computed, added and ignored data, in words.
    pub notes: Vec<String>,
    /// Data of the mesh that the group cannot hold and that the user made, in words.
    pub left_out: Vec<String>,
}

/// Vertices as a GLB has them: right-handed, in the space of their group. A list that is absent has no values.
#[derive(Default)]
pub(super) struct Corners {
    pub positions: Vec<[f32; 3]>,
    pub normals: Option<Vec<[f32; 3]>>,
    pub tangents: Option<Vec<[f32; 4]>>,
    pub uvs: Option<Vec<[f32; 2]>>,
    uv2s: Option<Vec<[f32; 2]>>,
    /// Absent for a vertex whose joints are no bones of the group.
    influences: Option<Vec<Option<Influences>>>,
    radii: Option<Vec<[f32; 1]>>,
    ids: Option<Vec<[f32; 1]>>,
    colours: Option<Vec<[f32; 4]>>,
}

/// The greatest distance of two directions that count as one: a degree. A byte of a packed direction is half of it.
const DIRECTION: f32 = 0.0175;
/// The part of a texture coordinate that other programs round away, as they turn it upside down.
const ROUNDED_UV: f32 = 2e-6;
/// The part of the greatest coordinate by which programs that move vertices with their node, or with bones, round them.
const ROUNDED: f32 = 2e-6;
/// Vertices of a mesh, besides a two-hundredth of them, whose normals Blender may fail to compute.
const UPRIGHT: usize = 4;

fn is_near<const N: usize>(a: [f32; N], b: [f32; N], limit: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= limit)
}

fn is_near_uv(a: [f32; 2], b: [f32; 2]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= ROUNDED_UV * b.abs().max(1.0))
}

fn is_near_influences(a: &Influences, b: &Influences) -> bool {
    let weight_in = |all: &Influences, bone: u8| {
        all.iter()
            .filter(|(other, _)| *other == bone)
            .fold(0u16, |sum, (_, weight)| sum.saturating_add((*weight).into()))
    };
    a.iter().chain(b).all(|(bone, _)| weight_in(a, *bone).abs_diff(weight_in(b, *bone)) <= 1)
}

/// Whether values of two vertices are the same, if both have one.
fn is_same<T: Copy>(
    old: Option<&Vec<T>>,
    at: usize,
    new: Option<&Vec<T>>,
    number: usize,
    same: impl Fn(T, T) -> bool,
) -> bool {
    match (old.and_then(|all| all.get(at)), new.and_then(|all| all.get(number))) {
        (Some(old), Some(new)) => same(*old, *new),
        _ => true,
    }
}

impl Corners {
    /// The vertices of a part as they are written.
    fn of_part(part: &ScenePart<'_>, vertices: &Vertices<'_>) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "as they are written")]
        let ids = vertices.ids().map(|all| all.map(|id| [id as f32]).collect());
        Self {
            positions: part.positions().collect(),
            normals: part.normals().map(Iterator::collect),
            tangents: part.tangents().map(Iterator::collect),
            uvs: vertices.uvs().map(Iterator::collect),
            uv2s: vertices.uv2s().map(Iterator::collect),
            influences: vertices.influences().map(|all| all.map(Some).collect()),
            radii: vertices.radii().map(|all| all.map(|radius| [radius]).collect()),
            ids,
            colours: vertices.colours().map(|all| all.map(|colour| colour.map(f32::from)).collect()),
        }
    }

    /// The vertices of a mesh, moved into the space of its group.
    fn of_mesh(glb: &Glb<'_>, mesh: &Mesh<'_>, positions: Vec<[f32; 3]>, by: Option<&Matrix>) -> Result<Self> {
        let mut all = Self {
            positions,
            normals: glb.values(mesh, "NORMAL")?,
            tangents: glb.values(mesh, "TANGENT")?,
            uvs: glb.values(mesh, "TEXCOORD_0")?,
            uv2s: glb.values(mesh, "TEXCOORD_1")?,
            influences: None,
            radii: glb.values(mesh, "_RADIUS")?,
            ids: glb.values(mesh, "_ID")?,
            colours: glb.values(mesh, "_COLOUR")?,
        };
        if let Some(by) = by {
            all.move_by(by);
        }
        Ok(all)
    }

    #[allow(clippy::cast_possible_truncation, reason = "as singles, which files have")]
    fn move_by(&mut self, by: &Matrix) {
        let placed = |v: &mut [f32; 3]| *v = by.placed(v.map(f64::from)).map(|v| v as f32);
        self.positions.iter_mut().for_each(placed);
        if let (Some(normals), Some(back)) = (&mut self.normals, by.inverse()) {
            let turned = back.transposed();
            normals.iter_mut().for_each(|v| *v = normalized(turned.turned(v.map(f64::from)).map(|v| v as f32)));
        }
        for tangent in self.tangents.iter_mut().flatten() {
            let [x, y, z, side] = *tangent;
            let [x, y, z] = normalized(by.turned([x, y, z].map(f64::from)).map(|v| v as f32));
            *tangent = [x, y, z, if by.determinant() < 0.0 { -side } else { side }];
        }
    }

    fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether vertex `at` is vertex `number` of `new`, in all that both have.
    fn is(&self, at: usize, new: &Self, number: usize, limit: f32) -> bool {
        let is_turned = |a, b| is_near(a, normalized(b), DIRECTION);
        self.is_but_for_its_normal(at, new, number, limit)
            && is_same(self.normals.as_ref(), at, new.normals.as_ref(), number, is_turned)
    }

    fn is_but_for_its_normal(&self, at: usize, new: &Self, number: usize, limit: f32) -> bool {
        let both = self.positions.get(at).zip(new.positions.get(number));
        both.is_some_and(|(old, new)| is_near(*old, *new, limit))
            && is_same(self.uvs.as_ref(), at, new.uvs.as_ref(), number, is_near_uv)
            && is_same(self.uv2s.as_ref(), at, new.uv2s.as_ref(), number, is_near_uv)
            && is_same(self.tangents.as_ref(), at, new.tangents.as_ref(), number, is_same_tangent)
            && is_same(self.influences.as_ref(), at, new.influences.as_ref(), number, is_same_influences)
            && is_same(self.radii.as_ref(), at, new.radii.as_ref(), number, is_same_number)
            && is_same(self.ids.as_ref(), at, new.ids.as_ref(), number, is_same_number)
            && is_same(self.colours.as_ref(), at, new.colours.as_ref(), number, |a, b| is_near(a, b, 0.5))
    }
}

fn is_same_tangent([a, b, c, side]: [f32; 4], [x, y, z, other]: [f32; 4]) -> bool {
    is_near([a, b, c], normalized([x, y, z]), DIRECTION) && (side < 0.0) == (other < 0.0)
}

fn is_same_influences(old: Option<Influences>, new: Option<Influences>) -> bool {
    old.zip(new).is_none_or(|(old, new)| is_near_influences(&old, &new))
}

fn is_same_number([old]: [f32; 1], [new]: [f32; 1]) -> bool {
    (old - new).abs() <= old.abs() * 1e-6
}

/// Lays a mesh over the group that it was written from.
///
/// # Errors
/// Wrong usage for numbers that do not fit.
pub(in crate::geometry) fn lay(
    geometry: &Geometry,
    group: &Group,
    glb: &Glb<'_>,
    mesh: &Mesh<'_>,
) -> Result<GroupChange> {
    let vertices = geometry.mapped_vertices(group.vertices)?;
    let mut change = GroupChange { left_out: left_out(mesh), ..GroupChange::default() };
    let stated = mesh.origin.as_ref().filter(|origin| origin.ids().is_some());
    let transform = match stated {
        Some(origin) => origin.node.or(origin.bind),
        None => group.transform.and_then(super::right_handed),
    };
    let part = ScenePart::of_group(group, geometry, transform, &mut Vec::new())?;
    let bind = part.as_ref().and_then(|part| part.bind);
    let flip = part.as_ref().is_some_and(|part| matches!(part.shape, PartShape::Group { flip: true, .. }));
    let old = part.as_ref().map_or_else(Corners::default, |part| Corners::of_part(part, &vertices));
    let Surface { positions, mut triangles } = glb.surface(mesh)?;
    let motion = mesh.motion(&expected(transform.filter(|_| bind.is_none())))?;
    let by = match &motion {
        Motion::Still => None,
        Motion::By(by) => Some(by),
    };
    if stated.is_none() {
        check_companions(geometry, group, mesh, by.is_some())?;
    }
    let mut new = Corners::of_mesh(glb, mesh, positions, by)?;
    if by.is_some_and(|by| by.determinant() < 0.0) {
        triangles.iter_mut().for_each(|corners| *corners = flipped(*corners));
    }
    new.influences = influences(glb, mesh, group, &mut change.notes)?;
    let is_exact = by.is_none() && mesh.joints.is_none();
    let most = old.positions.iter().flatten().fold(0.0f32, |most, v| most.max(v.abs()));
    let limit = if is_exact { 0.0 } else { most * ROUNDED };
    let unbind = bind.and_then(|bind| bind.inverse());
    let laid = Laid { mesh, vertices, format: *vertices.format(), old, new, limit, unbind };
    let matched = laid.matched(&mut change.notes);
    if by.is_some() && matched.iter().flatten().count().saturating_mul(2) < matched.len() {
        change.notes.push(laid.says("its object was moved, turned or scaled, and so are its vertices"));
    }
    if mesh.primitives.len() > 1 {
        let count = counted(mesh.primitives.len(), "material");
        change.notes.push(laid.says(&format!("it has {count}; the render group draws all of it with its own one")));
    }
    let before: Vec<[u32; 3]> = part.iter().flat_map(|part| part.triangles()).collect();
    if laid.is_unchanged(&before, &triangles, &matched) {
        return Ok(change);
    }
    change.notes.extend(laid.unread());
    let (bytes, slots) = laid.vertices(&matched, &triangles, &mut change.notes)?;
    change.vertices = (bytes != laid.vertices.bytes()).then_some(bytes);
    let after: Vec<[u32; 3]> = triangles.iter().map(|corners| corners.map(|corner| slot(&slots, corner))).collect();
    if after != before {
        let stored = after.into_iter().map(|corners| if flip { flipped(corners) } else { corners });
        change.indices = Some(stored.flatten().collect());
    }
    Ok(change)
}

fn slot(slots: &[u32], corner: u32) -> u32 {
    *slots.get(corner as usize).expect("indices of the mesh were checked")
}

fn flipped([a, b, c]: [u32; 3]) -> [u32; 3] {
    [a, c, b]
}

/// Refuses a mesh that was exported with a `.visual` and comes back without it, or the other way around, as a visual puts vertices
/// elsewhere. Joints are nodes of the visual, or numbered without one; a mesh without joints has a name of the visual.
fn check_companions(geometry: &Geometry, group: &Group, mesh: &Mesh<'_>, is_moved: bool) -> Result<()> {
    let joints: Vec<&str> = mesh.joints.iter().flatten().flatten().copied().collect();
    let node = joints.iter().find(|name| super::rig::number_of(name).is_none());
    let is_skinned = geometry.mapped_vertices(group.vertices)?.format().has(Attribute::Bones) && !joints.is_empty();
    let visual = format!("{}.visual", geometry.source().stem());
    let (why, is_here) = match node {
        Some(node) if is_skinned && group.bones.is_empty() => (format!("its joint {node:?} is a node"), false),
        None if is_skinned && !group.bones.is_empty() => ("its joints are only numbered".to_owned(), true),
        _ if is_moved && !mesh.is_named(&group.name) => (
            format!("it is moved, and its name here is {:?}", group.name),
            matches!(geometry.companions(), Ok(Some(_))),
        ),
        _ => return Ok(()),
    };
    Err(mesh.refuse(if is_here {
        format!("{why}: it was exported without {visual}, and comes back with --no-companions")
    } else {
        format!("{why}: it was exported with {visual}, and comes back with this file beside the geometry")
    }))
}

/// The matrix of a group to a scene in metres. `node` is the matrix of its node, if any.
fn expected(node: Option<[f32; 16]>) -> Matrix {
    let metres = Matrix::scale(METRES.into());
    node.map_or(metres, |node| metres.after(&Matrix::of_numbers(&node)))
}

/// Names the data of a mesh that no render group can hold.
fn left_out(mesh: &Mesh<'_>) -> Vec<String> {
    let has_shapes = mesh.primitives.iter().any(|primitive| primitive.morph_targets().len() > 0);
    let what = "its shape keys (morph targets) are left out: render groups have none";
    has_shapes.then(|| format!("mesh {:?}: {what}", mesh.name)).into_iter().collect()
}

/// The bones of the vertices of a mesh by its joints and weights, if it has both.
fn influences(
    glb: &Glb<'_>,
    mesh: &Mesh<'_>,
    group: &Group,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<Option<Influences>>>> {
    let both = glb.values::<4>(mesh, "JOINTS_0")?.zip(glb.values::<4>(mesh, "WEIGHTS_0")?);
    let Some((joints, weights)) = both else { return Ok(None) };
    let bones =
        mesh.origin.as_ref().map(|origin| &origin.bones).filter(|bones| !bones.is_empty()).unwrap_or(&group.bones);
    let numbers: Option<Vec<Option<u8>>> = mesh
        .joints
        .as_ref()
        .map(|names| names.iter().map(|name| name.and_then(|name| bone_number(name, bones))).collect());
    let mut strangers = BTreeSet::new();
    let mut many = 0usize;
    let mut all = Vec::with_capacity(joints.len());
    for (joints, weights) in joints.into_iter().zip(weights) {
        let mut found: Vec<(u8, f32)> = Vec::new();
        for (joint, weight) in joints.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, and in range or no joint"
            )]
            let joint = joint as usize;
            let bone = match &numbers {
                Some(numbers) => numbers.get(joint).copied().flatten(),
                None => u8::try_from(joint).ok(),
            };
            match (bone.filter(|bone| *bone <= 85), found.iter_mut().find(|(other, _)| Some(*other) == bone)) {
                (None, _) => drop(strangers.insert(joint)),
                (Some(_), Some((_, sum))) => *sum += weight,
                (Some(bone), None) => found.push((bone, weight)),
            }
        }
        found.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        many = many.saturating_add(usize::from(found.len() > 3));
        found.truncate(3);
        all.push(in_bytes(&found));
    }
    if many > 0 {
        let what = "more than three bones; those with the greatest weights are kept";
        notes.push(format!("mesh {:?}: {} with {what}", mesh.name, vertices(many)));
    }
    let names = strangers.iter().filter_map(|joint| *mesh.joints.as_ref()?.get(*joint)?);
    let names: Vec<String> = names.take(8).map(|name| format!("{name:?}")).collect();
    if !names.is_empty() {
        notes.push(format!("mesh {:?}: no bones of its group: {}", mesh.name, names.join(", ")));
    }
    Ok(Some(all))
}

/// The number of the bone called `name`.
fn bone_number(name: &str, bones: &[String]) -> Option<u8> {
    let known =
        bones.iter().position(|bone| bone == name).or_else(|| bones.iter().position(|bone| bone == plain(name)));
    known.and_then(|at| u8::try_from(at).ok()).or_else(|| super::rig::number_of(name))
}

/// Weights as bytes whose sum is 255. `None` without any.
fn in_bytes(found: &[(u8, f32)]) -> Option<Influences> {
    let sum: f32 = found.iter().map(|(_, weight)| weight).sum();
    if found.is_empty() || !sum.is_normal() {
        return None;
    }
    let mut all: Influences = [(0, 0); 3];
    let mut left = 255u8;
    for ((bone, weight), (to, stored)) in found.iter().zip(&mut all) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
        let byte = (weight / sum * 255.0).round().clamp(0.0, 255.0) as u8;
        (*to, *stored) = (*bone, byte.min(left));
        left = left.saturating_sub(*stored);
    }
    // Rounding leaves one or two over.
    let [(_, first), ..] = &mut all;
    *first = first.saturating_add(left);
    Some(all)
}

/// A mesh while it is compared with its group.
struct Laid<'g, 'a> {
    mesh: &'g Mesh<'g>,
    vertices: Vertices<'a>,
    format: VertexFormat,
    old: Corners,
    new: Corners,
    /// The distance of two coordinates that count as one.
    limit: f32,
    /// From the model to the space of the file's vertices, if bones move them.
    unbind: Option<Matrix>,
}

impl Laid<'_, '_> {
    fn says(&self, what: &str) -> String {
        format!("mesh {:?}: {what}", self.mesh.name)
    }

    /// The place of a vertex in the file.
    fn stored(&self, position: [f32; 3]) -> [f32; 3] {
        mirror(self.unbind.map_or(position, |unbind| unbind.place(position)))
    }

    /// A direction in the file.
    fn stored_direction(&self, direction: [f32; 3]) -> [f32; 3] {
        mirror(self.unbind.map_or(direction, |unbind| unbind.turn(direction)))
    }

    /// The old vertex that each new one is. A few vertices that point straight up or down may be any vertex that points elsewhere.
    fn matched(&self, notes: &mut Vec<String>) -> Vec<Option<u32>> {
        let mut matched = self.matched_by(|old, at, new, number, limit| old.is(at, new, number, limit));
        let is_upright = |number: usize| {
            value(self.new.normals.as_ref(), Some(number))
                .is_some_and(|[x, y, z]| x.abs() < 1e-6 && z.abs() < 1e-6 && y.abs() == 1.0)
        };
        let upright = matched.iter().enumerate().filter(|(number, old)| old.is_none() && is_upright(*number)).count();
        if upright == 0 || upright > UPRIGHT.saturating_add(matched.len() / 200) {
            return matched;
        }
        let found = self.matched_by(|old, at, new, number, limit| {
            old.is(at, new, number, limit) || is_upright(number) && old.is_but_for_its_normal(at, new, number, limit)
        });
        let count = found.iter().flatten().count().saturating_sub(matched.iter().flatten().count());
        if count > 0 {
            let what = "keep their normals, in place of the upright one that Blender writes for a normal that it cannot compute";
            notes.push(self.says(&format!("{} {what}", vertices(count))));
            matched = found;
        }
        matched
    }

    fn matched_by(&self, is: impl Fn(&Corners, usize, &Corners, usize, f32) -> bool) -> Vec<Option<u32>> {
        let mut search = None;
        let mut last: Option<usize> = None;
        let numbers = 0..self.new.len();
        let found = numbers.map(|number| {
            // Most programs keep the order of vertices, and leave out those that no triangle has.
            let next = last.map_or(0, |last| last.saturating_add(1));
            let near = [next, number].into_iter().chain((1..4).map(|more| next.saturating_add(more))).chain(last);
            let mut near = near.filter(|at| *at < self.old.len());
            let at = near.find(|at| is(&self.old, *at, &self.new, number, self.limit)).or_else(|| {
                let search = search.get_or_insert_with(|| VertexSearch::new(&self.old.positions, self.limit));
                let place = *self.new.positions.get(number)?;
                search.at(place).find(|at| is(&self.old, *at, &self.new, number, self.limit))
            });
            last = at.or(last);
            at.and_then(|at| u32::try_from(at).ok())
        });
        found.collect()
    }

    /// The first vertex that is as each one, in all that the mesh has.
    fn twins(&self) -> Vec<u32> {
        let hidden = [
            (Attribute::Tangent, self.new.tangents.is_none()),
            (Attribute::Binormal, self.new.tangents.is_none()),
            (Attribute::Uv2, self.new.uv2s.is_none()),
            (Attribute::Bones, self.new.influences.is_none()),
            (Attribute::Weights, self.new.influences.is_none()),
            (Attribute::Radius, self.new.radii.is_none()),
            (Attribute::Id, self.new.ids.is_none()),
            (Attribute::Colour, self.new.colours.is_none()),
        ];
        let hidden = hidden.into_iter().filter(|(_, is_hidden)| *is_hidden);
        let hidden: Vec<(usize, usize)> =
            hidden.filter_map(|(attribute, _)| Some((self.format.offset(attribute)?, 4))).collect();
        let mut first: HashMap<Vec<u8>, u32> = HashMap::new();
        let stored = self.vertices.bytes().chunks_exact(self.format.stride().max(1));
        let twins = (0..).zip(stored).map(|(number, vertex): (u32, &[u8])| {
            let mut key = vertex.to_vec();
            for &(at, size) in &hidden {
                key.get_mut(at..at.saturating_add(size)).into_iter().for_each(|bytes| bytes.fill(0));
            }
            *first.entry(key).or_insert(number)
        });
        twins.collect()
    }

    /// Whether triangles and vertices equal the group's, except triangles that other programs drop: repeated ones, and ones
    /// without an area.
    fn is_unchanged(&self, before: &[[u32; 3]], triangles: &[[u32; 3]], matched: &[Option<u32>]) -> bool {
        let twins = self.twins();
        let twin = |corner: u32| twins.get(corner as usize).copied().unwrap_or(corner);
        let known = triangles.iter().map(|corners| {
            let [a, b, c] = corners.map(|corner| matched.get(corner as usize).copied().flatten());
            Some(turned([twin(a?), twin(b?), twin(c?)]))
        });
        let Some(mut after) = known.collect::<Option<Vec<[u32; 3]>>>() else { return false };
        let is_used: HashSet<u32> = triangles.iter().flatten().copied().collect();
        // A vertex that no triangle has may be edited, too.
        let unused = (0..).zip(matched).filter(|(number, old): &(u32, _)| old.is_none() && !is_used.contains(number));
        if unused.count() > 0 {
            return false;
        }
        after.sort_unstable();
        let sorted = |corners: Vec<[u32; 3]>| {
            let mut all: Vec<[u32; 3]> = corners.into_iter().map(|corners| turned(corners.map(twin))).collect();
            all.sort_unstable();
            all
        };
        if sorted(before.to_vec()) == after {
            return true;
        }
        let mut met = HashSet::new();
        let whole = before.iter().filter(|[a, b, c]| a != b && b != c && a != c);
        let whole = whole.filter(|corners| {
            let mut all = **corners;
            all.sort_unstable();
            met.insert(all)
        });
        sorted(whole.copied().collect()) == after
    }

    /// Names the attributes of the mesh that its group never had.
    fn unread(&self) -> Vec<String> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        for primitive in &self.mesh.primitives {
            let all = primitive.attributes().map(|(semantic, _)| semantic.to_string());
            names.extend(all.filter(|name| {
                !ATTRIBUTES.iter().any(|(known, attribute)| known == name && self.format.has(*attribute))
            }));
        }
        names
            .into_iter()
            .map(|name| self.says(&format!("{name} is left out: vertices of this group have none")))
            .collect()
    }

    /// The new vertices as bytes, and the number of each vertex of the mesh there.
    fn vertices(
        &self,
        matched: &[Option<u32>],
        triangles: &[[u32; 3]],
        notes: &mut Vec<String>,
    ) -> Result<(Vec<u8>, Vec<u32>)> {
        let stride = self.format.stride();
        let stored: Vec<&[u8]> = self.vertices.bytes().chunks_exact(stride.max(1)).collect();
        let kept: HashSet<u32> = matched.iter().flatten().copied().collect();
        let is_same_count = self.new.len() == stored.len();
        let free = |number: usize| is_same_count && u32::try_from(number).is_ok_and(|number| !kept.contains(&number));
        // Each vertex keeps its number if every one is itself or an edited one.
        let in_place = is_same_count
            && (0..)
                .zip(matched)
                .all(|(number, old): (u32, _)| old.map_or_else(|| free(number as usize), |old| old == number));
        let changed: Vec<usize> =
            (0..).zip(matched).filter(|(_, old)| old.is_none()).map(|(number, _)| number).collect();
        let tangents = self.tangents(triangles, matched, &changed, notes);
        let mut search = None;
        let mut donated = 0usize;
        let (mut out, mut slots) = (Vec::new(), Vec::with_capacity(matched.len()));
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        for (number, old) in matched.iter().enumerate() {
            let bytes = match old.and_then(|old| stored.get(old as usize)) {
                Some(bytes) => bytes.to_vec(),
                None => {
                    let own = free(number).then_some(number);
                    if own.is_none() && !self.format.is_known() {
                        let what = "its vertex format is not known, so that its vertices can move and no more";
                        return Err(self.mesh.refuse(what));
                    }
                    let donor = own.or_else(|| {
                        donated = donated.saturating_add(1);
                        let search = search.get_or_insert_with(|| VertexSearch::new(&self.old.positions, self.limit));
                        search.nearest(*self.new.positions.get(number)?)
                    });
                    let mut bytes =
                        donor.and_then(|at| stored.get(at)).map_or_else(|| vec![0; stride], |bytes| bytes.to_vec());
                    let tangent = tangents.as_ref().and_then(|all| all.get(number)).copied();
                    self.encode(number, donor, tangent, &mut bytes)?;
                    bytes
                }
            };
            let next =
                u32::try_from(slots_used(&out, stride)).map_err(|_| self.mesh.refuse("it has too many vertices"))?;
            if in_place {
                out.extend(bytes);
                slots.push(next);
                continue;
            }
            // Programs split vertices whose normals differ by less than a byte.
            slots.push(match known.entry(bytes) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(entry) => {
                    out.extend(entry.key());
                    *entry.insert(next)
                }
            });
        }
        if donated > 0 {
            notes.extend(self.donated(donated));
        }
        Ok((out, slots))
    }

    /// Names the attributes that new vertices take from the nearest old ones, as the mesh has none.
    fn donated(&self, count: usize) -> Option<String> {
        let missing = [
            (Attribute::Normal, "NORMAL", self.new.normals.is_none()),
            (Attribute::Uv, "TEXCOORD_0", self.new.uvs.is_none()),
            (Attribute::Uv2, "TEXCOORD_1", self.new.uv2s.is_none()),
            (Attribute::Bones, "JOINTS_0, WEIGHTS_0", self.new.influences.is_none()),
            (Attribute::Radius, "_RADIUS", self.new.radii.is_none()),
            (Attribute::Id, "_ID", self.new.ids.is_none()),
            (Attribute::Colour, "_COLOUR", self.new.colours.is_none()),
        ];
        let names = missing.into_iter().filter(|(attribute, _, is_missing)| *is_missing && self.format.has(*attribute));
        let names: Vec<&str> = names.map(|(_, name, _)| name).collect();
        let what = format!(
            "{} of {} are copied from the nearest old vertex, as the mesh has none",
            names.join(", "),
            vertices(count)
        );
        (!names.is_empty()).then(|| self.says(&what))
    }

    /// Tangents for vertices that have none, by number.
    fn tangents(
        &self,
        triangles: &[[u32; 3]],
        matched: &[Option<u32>],
        changed: &[usize],
        notes: &mut Vec<String>,
    ) -> Option<Vec<[f32; 4]>> {
        if changed.is_empty() || !self.format.has(Attribute::Tangent) {
            return None;
        }
        if self.new.tangents.is_some() {
            return self.new.tangents.clone();
        }
        let computed = tangents::compute(&self.new, triangles);
        let count = format!("{} that changed", vertices(changed.len()));
        let Some(mut computed) = computed else {
            notes.push(self.says(&format!("tangents of {count} are copied from the nearest old vertex: without normals and texture coordinates none can be computed")));
            return None;
        };
        notes.push(self.says(&format!("it has no TANGENT: computed for {count}")));
        if tangents::is_mirrored(&computed, self.old.tangents.as_deref(), matched) {
            computed.iter_mut().for_each(|[.., side]| *side = -*side);
        }
        Some(computed)
    }

    /// Writes the attributes of vertex `number` over `bytes`, except for values that vertex `donor`, whose bytes these are, has.
    fn encode(&self, number: usize, donor: Option<usize>, tangent: Option<[f32; 4]>, bytes: &mut [u8]) -> Result<()> {
        let (old, new) = (&self.old, &self.new);
        let own = Some(number);
        let mut put = |attribute: Attribute, encoded: &[u8]| {
            let place = self.format.offset(attribute).and_then(|at| bytes.get_mut(at..at.checked_add(encoded.len())?));
            place.into_iter().for_each(|place| place.copy_from_slice(encoded));
        };
        if let Some(position) = value(Some(&new.positions), own)
            && value(Some(&old.positions), donor) != Some(position)
        {
            put(Attribute::Position, self.stored(position).map(f32::to_le_bytes).as_flattened());
        }
        let normal = value(new.normals.as_ref(), own);
        if let Some(normal) = normal
            && !value(old.normals.as_ref(), donor).is_some_and(|old| is_near(old, normalized(normal), DIRECTION / 4.0))
        {
            put(Attribute::Normal, &packed(self.stored_direction(normal)));
        }
        let is_own = value(new.tangents.as_ref(), own)
            .zip(value(old.tangents.as_ref(), donor))
            .is_some_and(|(new, old)| is_same_tangent(old, new));
        if let Some([x, y, z, side]) = tangent.filter(|_| !is_own)
            && let Some(normal) = normal.or_else(|| value(old.normals.as_ref(), donor))
        {
            let ([a, b, c], [x, y, z]) = (normalized(normal), normalized([x, y, z]));
            put(Attribute::Tangent, &packed(self.stored_direction([x, y, z])));
            let binormal = cross([a, b, c], [x, y, z]).map(|v| if side < 0.0 { -v } else { v });
            put(Attribute::Binormal, &packed(self.stored_direction(binormal)));
        }
        for (attribute, new, old) in [(Attribute::Uv, &new.uvs, &old.uvs), (Attribute::Uv2, &new.uv2s, &old.uv2s)] {
            if let Some(uv) = value(new.as_ref(), own).filter(|_| self.format.has(attribute))
                && !value(old.as_ref(), donor).is_some_and(|old| is_near_uv(old, uv))
            {
                put(attribute, &halves(uv)?);
            }
        }
        if let Some(found) = value(new.influences.as_ref(), own).flatten()
            && !value(old.influences.as_ref(), donor).flatten().is_some_and(|old| is_near_influences(&old, &found))
        {
            let [(a, w), (b, v), (c, _)] = found;
            put(Attribute::Bones, &[c, b, a].map(|bone| bone.saturating_mul(3)));
            put(Attribute::Weights, &[0, v, w, 0]);
        }
        if let Some(radius) = value(new.radii.as_ref(), own) {
            put(Attribute::Radius, radius.map(f32::to_le_bytes).as_flattened());
        }
        if let Some([id]) = value(new.ids.as_ref(), own).filter(|_| self.format.has(Attribute::Id)) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
            let whole = (id.fract() == 0.0 && (0.0..16_777_216.0).contains(&id)).then_some(id as u32);
            let whole = whole.ok_or_else(|| refused(format!("_ID: {id} does not fit: a whole number does")))?;
            put(Attribute::Id, &whole.to_le_bytes());
        }
        if let Some(colour) = value(new.colours.as_ref(), own).filter(|_| self.format.has(Attribute::Colour)) {
            put(Attribute::Colour, &four_bytes("_COLOUR", colour)?);
        }
        Ok(())
    }
}

fn vertices(count: usize) -> String {
    if count == 1 { "1 vertex".to_owned() } else { format!("{count} vertices") }
}

fn value<T: Copy>(all: Option<&Vec<T>>, number: Option<usize>) -> Option<T> {
    all?.get(number?).copied()
}

fn slots_used(out: &[u8], stride: usize) -> usize {
    out.len().checked_div(stride).unwrap_or(0)
}

/// The vector with a length of 1. A vector without a direction stays.
pub(super) fn normalized(vector: [f32; 3]) -> [f32; 3] {
    // Squares of the smallest and the largest numbers do not fit.
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
    unit(vector.map(|v| v / largest)).unwrap_or(vector)
}

/// The direction of a vector in three bytes.
fn packed(vector: [f32; 3]) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
    let bytes = normalized(vector).map(|v| ((v + 1.0) * 127.5).round().clamp(0.0, 255.0) as u8);
    bytes.to_vec()
}

/// A texture coordinate as two half floats.
fn halves([u, v]: [f32; 2]) -> Result<Vec<u8>> {
    let pair = half(u - 0.5).zip(half(v - 0.5));
    let (u, v) = pair.ok_or_else(|| refused(format!("texture coordinate {u}, {v} does not fit a half float")))?;
    Ok([u.to_le_bytes(), v.to_le_bytes()].concat())
}

fn four_bytes(name: &str, values: [f32; 4]) -> Result<Vec<u8>> {
    let bytes: Option<Vec<u8>> = values.into_iter().map(byte).collect();
    bytes.ok_or_else(|| refused(format!("{name}: {values:?} does not fit: four bytes do")))
}

fn byte(number: f32) -> Option<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
    (number.fract() == 0.0 && (0.0..=255.0).contains(&number)).then_some(number as u8)
}

/// The half float nearest to a number; `None` if it is too large, infinite or NaN.
fn half(number: f32) -> Option<u16> {
    let bits = number.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).ok()?;
    let magnitude = f32::from_bits(bits & 0x7FFF_FFFF);
    if !magnitude.is_finite() {
        return None;
    }
    // Adding and taking away a number whose last digit has the worth of the half's last digit rounds to that digit.
    let exponent = (magnitude.to_bits() >> 23).max(113);
    let last = f32::from_bits(exponent.saturating_add(13) << 23);
    let rounded = (magnitude + last) - last;
    if rounded > 65504.0 {
        return None;
    }
    // Exact now: the exponent is moved to the half's bias by a multiplication, which also takes small ones along.
    let moved = rounded * f32::from_bits(0x0780_0000);
    Some(sign | u16::try_from(moved.to_bits() >> 13).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Scene};
    use super::*;
    use crate::geometry::half as to_float;
    use crate::source::Source;

    /// The angle between two directions of length 1, in degrees.
    fn degrees([a, b, c, _]: [f32; 4], [x, y, z, _]: [f32; 4]) -> f32 {
        (a * x + b * y + c * z).clamp(-1.0, 1.0).acos().to_degrees()
    }

    /// The games' exporter computed most tangents as MikkTSpace does: half of the vertices have theirs within a degree.
    #[test]
    fn computed_tangents_are_near_those_of_real_files() {
        let Some(samples) = std::env::var_os("ASSETQ_SAMPLES") else {
            eprintln!("skipped: ASSETQ_SAMPLES is not set");
            return;
        };
        for name in ["AF029_Periscope_1", "BRS057_Radar_Type_293p_Outfit_AQK"] {
            let path = std::path::Path::new(&samples).join(format!("geometry/{name}.geometry"));
            let geometry = Geometry::open(Source::open(path).unwrap()).unwrap();
            let scene = Scene::new(name, &geometry, geometry.groups().unwrap(), None, Options::default());
            let mut angles = Vec::new();
            for part in scene.parts.iter().filter(|part| part.has(Attribute::Tangent)) {
                let corners = Corners::of_part(part, part.group_vertices().unwrap());
                let triangles: Vec<[u32; 3]> = part.triangles().collect();
                let computed = tangents::compute(&corners, &triangles).unwrap();
                let own = corners.tangents.as_ref().unwrap();
                angles.extend(own.iter().zip(&computed).map(|(own, computed)| degrees(*own, *computed)));
            }
            angles.sort_by(f32::total_cmp);
            let median = angles[angles.len() / 2];
            println!("{name}: {} vertices, median {median}", angles.len());
            assert!(median < 1.0, "{name}: {median} degrees");
        }
    }

    #[test]
    fn every_half_comes_back_and_numbers_between_go_to_the_nearest() {
        for bits in 0..=u16::MAX {
            let value = to_float(bits);
            if value.is_finite() {
                assert_eq!(half(value), Some(bits), "{value}");
            } else {
                assert_eq!(half(value), None);
            }
        }
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let value = (rng.f32() - 0.5) * 2f32.powi(rng.i32(-24..15));
            let bits = half(value).unwrap();
            let near = (to_float(bits) - value).abs();
            for other in
                [bits.wrapping_sub(1), bits.wrapping_add(1)].map(to_float).into_iter().filter(|v| v.is_finite())
            {
                assert!(near <= (other - value).abs(), "{value}");
            }
        }
        assert_eq!((half(65519.0), half(65536.0)), (Some(0x7BFF), None));
    }

    #[test]
    fn packed_vectors_come_back() {
        for bits in 0..=255u8 {
            let [x, ..] = crate::geometry::unpack_normal([bits, 0, 0]);
            let y = (1.0 - x * x).max(0.0).sqrt();
            assert_eq!(packed([x, y, 0.0])[0], bits);
        }
        // Vectors of any length keep their direction.
        for length in [1e-30, 0.1, 10.0, 1e30] {
            assert_eq!(packed([0.6 * length, 0.8 * length, 0.0]), packed([0.6, 0.8, 0.0]), "{length}");
        }
    }
}
