//! Checks everything in a `.geometry` file that can be checked.

use super::Geometry;
use super::armor::Plate;
use super::collision::Hull;
use super::mesh::{self, Groups};
use super::models::{Piece, PieceModel, spend};
use super::vertex::Attribute;
use crate::budget::Budget;
use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Check, Progress, Report, counted};
use crate::scene::vector::bounds;
use crate::threads::prelude::*;
use std::collections::HashSet;

/// The tolerance of a corner outside of its box, relative to the size of its coordinates.
const SLACK: f32 = 1e-4;

pub(super) fn verify(g: &Geometry, progress: &Progress) -> Report {
    let counts = [
        g.vertices_prototypes().map_or(0, <[_]>::len),
        g.indices_prototypes().map_or(0, <[_]>::len),
        g.collision_prototypes().map_or(0, <[_]>::len),
        g.armor_prototypes().map_or(0, <[_]>::len),
    ];
    progress.announce(counts.iter().map(|&n| n as u64).sum());
    let mut checks = vec![arrays(g), layout(g)];
    let found = "their formats are known, their positions are numbers";
    checks.push(buffers(g, progress, "vertex buffers", g.vertices_prototypes(), found, vertex_buffer));
    let found = "their indices fit their size";
    checks.push(buffers(g, progress, "index buffers", g.indices_prototypes(), found, index_buffer));
    checks.push(mappings(g));
    checks.push(groups(g));
    checks.extend(companions(g));
    checks.push(armor(g, progress));
    checks.push(collision(g, progress));
    Report { checks }
}

fn damaged(at: View<'_>, what: impl Into<String>) -> Error {
    at.error(ErrorKind::damaged(what.into()))
}

fn arrays(g: &Geometry) -> Check {
    let mut check = Check::new("header");
    let Some(header) = check.note(g.header()) else { return check };
    let [vm, im, vb, ib, cm, am] =
        header.arrays().map(|array| check.note(g.bytes_of(&array)).map_or(0, |_| array.count));
    check.with_detail(format!(
        "{vb} vertex and {ib} index buffers, {vm} and {im} mappings, {cm} collision and {am} armor models"
    ))
}

/// Checks that no two parts of the file overlap.
fn layout(g: &Geometry) -> Check {
    let mut check = Check::new("layout");
    let pieces = g.pieces();
    let mut end = 0u64;
    for piece in &pieces {
        if piece.offset < end {
            let at = usize::try_from(piece.offset).expect("a part of a mapped file");
            check.fail(damaged(g.view("layout").at(at), format!("{} lies on what comes before it", piece.name)));
        }
        end = end.max(piece.offset.saturating_add(piece.size));
    }
    let gaps: Vec<_> = super::with_gaps(pieces, g.source().bytes().len() as u64)
        .into_iter()
        .filter(|s| s.name == "unmapped")
        .collect();
    let bytes = gaps.iter().fold(0u64, |sum, s| sum.saturating_add(s.size));
    check.with_detail(format!("{bytes} bytes unmapped in {} stretches", gaps.len()))
}

/// Checks buffers on all cores, each with `one`.
fn buffers<P>(
    g: &Geometry,
    progress: &Progress,
    name: &'static str,
    prototypes: Result<&[P]>,
    found: &str,
    one: impl Fn(&Geometry, usize, &mut Check) -> Result<()> + Sync,
) -> Check {
    let count = match prototypes.and_then(|p| g.decoded_size().map(|_| p.len())) {
        Ok(count) => count,
        Err(error) => {
            let mut check = Check::new(name);
            check.fail(error);
            return check;
        }
    };
    let checks = (0..count).into_par_iter().with_max_len(1).map(|i| {
        let mut check = Check::new(name);
        let result = one(g, i, &mut check);
        check.note(result);
        progress.advance(1);
        check
    });
    let all = checks.reduce(|| Check::new(name), Check::merge);
    all.with_detail(format!("{count} buffers decode, {found}"))
}

fn vertex_buffer(g: &Geometry, i: usize, check: &mut Check) -> Result<()> {
    let buffer = g.vertex_buffer(i)?;
    let vertices = g.vertices(i)?;
    let format = vertices.format();
    if !format.is_known() {
        let what = format!("format {} of {} bytes is not known", buffer.format_name()?, buffer.stride());
        check.fail(damaged(buffer.view(), what).context(format_args!("vertex buffer {i}")));
    } else {
        let flags = [
            ("skinned", buffer.prototype().is_skinned, Attribute::Bones),
            ("bumped", buffer.prototype().is_bumped, Attribute::Tangent),
        ];
        for (name, flag, attribute) in flags {
            if (flag != 0) != format.has(attribute) || flag > 1 {
                let what = format!("flag {name} is {flag}, which its format does not agree with");
                check.fail(damaged(buffer.view(), what).context(format_args!("vertex buffer {i}")));
            }
        }
    }
    if let Some(bad) = vertices.positions().and_then(|mut p| p.position(|p| !p.iter().all(|v| v.is_finite()))) {
        let what = format!("the position of vertex {bad} is not a number");
        check.fail(damaged(buffer.view(), what).context(format_args!("vertex buffer {i}")));
    }
    Ok(())
}

fn index_buffer(g: &Geometry, i: usize, check: &mut Check) -> Result<()> {
    let buffer = g.index_buffer(i)?;
    g.indices(i)?;
    if buffer.index_size()? == 2
        && let Some(greatest @ 0x1_0000..) = buffer.greatest_encoded()?
    {
        let error = buffer.view().bad_value("index, more than 16 bits hold", greatest);
        check.fail(error.context(format_args!("index buffer {i}")));
    }
    Ok(())
}

/// Checks that every mapping is in its buffer and has a unique id.
fn mappings(g: &Geometry) -> Check {
    let mut check = Check::new("mappings");
    // Each buffer's struct, and the number of its items, if known.
    let vertices = g.vertex_buffers().map(|buffer| (buffer.view(), buffer.count().ok())).collect();
    let indices = g.index_buffers().map(|buffer| (buffer.view(), buffer.count().ok())).collect();
    let kinds: [(_, _, Vec<_>); 2] =
        [("vertex mapping", g.vertex_mappings(), vertices), ("index mapping", g.index_mappings(), indices)];
    for (what, mappings, buffers) in kinds {
        // Arrays that cannot be read are findings of the header.
        let mut ids = HashSet::new();
        let mut ends = vec![0u64; buffers.len()];
        for (i, m) in mappings.into_iter().flatten().enumerate() {
            let at = g.view("mapping").locate(m);
            let mut fail = |error: Error| check.fail(error.context(format_args!("{what} {i}")));
            match buffers.get(usize::from(m.merged_buffer_index.get())) {
                None => fail(at.bad_value("merged buffer, which does not exist", m.merged_buffer_index.get())),
                Some((_, Some(count))) => {
                    let end = u64::from(m.items_offset.get()).saturating_add(u64::from(m.items_count.get()));
                    if end > *count as u64 {
                        fail(at.bad_value("end of its items, past the end of its buffer", end));
                    }
                    ends.get_mut(usize::from(m.merged_buffer_index.get())).into_iter().for_each(|e| *e = end.max(*e));
                }
                Some((_, None)) => {}
            }
            if !ids.insert(m.mapping_id.get()) {
                fail(at.bad_value("mapping id, which another one has", m.mapping_id.get()));
            }
        }
        // The codec packs vertices in groups and does not store how many vertices the last group has.
        for (i, (end, (at, count))) in ends.iter().zip(&buffers).enumerate() {
            if let Some(count) = count.filter(|&count| count as u64 > *end) {
                let what = format!("buffer {i} of the {what}s has {count} items, but only {end} are mapped");
                check.fail(damaged(*at, what));
            }
        }
    }
    check.with_detail("each lies in its buffer, no buffer has items after its last mapping, ids are unique")
}

/// Compares the names of the text models beside the file, if present, with its render groups. A file may have groups of
/// several visuals, so that a difference is no fault.
fn companions(g: &Geometry) -> Option<Check> {
    let mut check = Check::new("names of groups");
    let Some(companions) = check.note(g.companions()) else { return Some(check) };
    let companions = companions?;
    let Some(Groups { groups, .. }) = check.note(g.groups()) else { return Some(check) };
    let unnamed = groups.iter().filter(|group| group.pairing != mesh::Pairing::RenderSet);
    let unnamed: Vec<&str> = unnamed.map(|group| &*group.name).collect();
    let named = groups.len().saturating_sub(unnamed.len());
    let mut detail = format!("visuals name {named} of {} groups", groups.len());
    if !unnamed.is_empty() {
        detail = format!("{detail}, and not {}", unnamed.join(", "));
    }
    let known: HashSet<&str> = groups.iter().map(|group| &*group.name).collect();
    let sets = &companions.model().render_sets;
    let without: Vec<&str> = sets.iter().map(|set| &*set.name).filter(|name| !known.contains(name)).collect();
    if !without.is_empty() {
        detail = format!("{detail}; no group is called {}", without.join(", "));
    }
    Some(check.with_detail(detail))
}

/// Checks that the indices of every group are below the number of its vertices.
fn groups(g: &Geometry) -> Check {
    let mut check = Check::new("indices in range");
    let Some(groups) = check.note(g.groups()) else { return check };
    let Some(mappings) = check.note(g.index_mappings()) else { return check };
    let array = g.view("index mapping").locate(mappings);
    for (i, group) in groups.groups.iter().enumerate() {
        let at = mappings.get(group.indices).map_or(array, |mapping| array.locate(mapping));
        let both = g.mapped_vertices(group.vertices).and_then(|v| Ok((v, g.mapped_indices(group.indices)?)));
        let Some((vertices, indices)) = check.note(both) else { continue };
        if !indices.len().is_multiple_of(3) {
            let what = format!("group {i}: {} indices are not whole triangles", indices.len());
            check.fail(damaged(at, what));
        }
        if let Some(max) = indices.max().filter(|&max| max as usize >= vertices.len()) {
            let what = format!("group {i}: index {max} of {} vertices", vertices.len());
            check.fail(damaged(at, what));
        }
    }
    let left = mappings.len().saturating_sub(groups.groups.len());
    if left > 0 {
        check.fail(damaged(array, format!("{left} index mappings have no vertices that fit")));
    }
    use mesh::Pairing::{Count, Normals, Order, SameId};
    let [id, count, normals, order] = [SameId, Count, Normals, Order]
        .map(|pairing| groups.groups.iter().filter(|group| group.pairing == pairing).count());
    check.with_detail(format!(
        "{} groups: {id} paired by id, {count} by density and count, {normals} by normals, {order} by order",
        groups.groups.len()
    ))
}

/// Whether `point` is in the box, except for rounding errors.
fn in_box(point: [f32; 3], min: [f32; 3], max: [f32; 3]) -> bool {
    point.iter().zip(min.iter().zip(&max)).all(|(v, (min, max))| {
        let slack = SLACK * v.abs().max(1.0);
        *v >= min - slack && *v <= max + slack
    })
}

/// Checks models one by one, as long as their bytes are not met again and again: each piece with `each`, and that the last one ends
/// the model. A finding of `each` names the piece.
fn models<'g, P: Piece<'g>>(
    g: &'g Geometry,
    progress: &Progress,
    check: &mut Check,
    mut each: impl FnMut(&PieceModel<'g, P>, &P, &mut dyn FnMut(String)) -> Result<()>,
) {
    let budget = g.models_budget();
    for found in PieceModel::<P>::all(g) {
        let done = model(g, &found, &budget, check, &mut each);
        check.note(done);
        progress.advance(1);
        if budget.is_spent() {
            break;
        }
    }
}

fn model<'g, P: Piece<'g>>(
    g: &'g Geometry,
    model: &PieceModel<'g, P>,
    budget: &Budget,
    check: &mut Check,
    each: &mut impl FnMut(&PieceModel<'g, P>, &P, &mut dyn FnMut(String)) -> Result<()>,
) -> Result<()> {
    let i = model.index();
    model.name()?;
    spend(budget, model)?;
    let mut all = model.pieces()?;
    for (number, piece) in all.by_ref().enumerate() {
        let piece = piece?;
        each(model, &piece, &mut |what| {
            check.fail(damaged(piece.view(), format!("{} model {i}: {} {number}: {what}", P::MODEL, P::NAME)));
        })?;
    }
    if !all.rest().is_empty() {
        let what = format!("{} model {i}: {} bytes after the last {}", P::MODEL, all.rest().len(), P::NAME);
        check.fail(damaged(g.view(P::NAME).locate(all.rest()), what));
    }
    Ok(())
}

fn armor(g: &Geometry, progress: &Progress) -> Check {
    let mut check = Check::new("armor");
    let (mut plates, mut triangles) = (0usize, 0usize);
    models::<Plate<'_>>(g, progress, &mut check, |model, plate, fail| {
        let header = model.header()?;
        plates = plates.saturating_add(1);
        triangles = triangles.saturating_add(plate.triangles().len());
        check_plate(plate, fail);
        let (min, max) = (header.min.map(|v| v.get()), header.max.map(|v| v.get()));
        if plate.vertices().iter().any(|v| !in_box(v.position.map(|v| v.get()), min, max)) {
            fail("it leaves the model's box".to_owned());
        }
        Ok(())
    });
    check.with_detail(format!("{}, {}, each in its box", counted(plates, "plate"), counted(triangles, "triangle")))
}

fn check_plate(plate: &Plate<'_>, fail: &mut dyn FnMut(String)) {
    let (min, max) = (plate.header().min.map(|v| v.get()), plate.header().max.map(|v| v.get()));
    if !plate.vertices().len().is_multiple_of(3) {
        fail(format!("{} vertices are not whole triangles", plate.vertices().len()));
    }
    let points = plate.vertices().iter().map(|v| v.position.map(|v| v.get()));
    if let Some(bad) = points.clone().position(|p| !in_box(p, min, max)) {
        fail(format!("vertex {bad} leaves its box"));
    }
    if let Some((low, high)) = bounds(points)
        && !(in_box(min, low, high) && in_box(max, low, high))
    {
        fail("its box is larger than its vertices need".into());
    }
}

fn collision(g: &Geometry, progress: &Progress) -> Check {
    let mut check = Check::new("collision");
    let (mut hulls, mut open) = (0usize, 0usize);
    models::<Hull<'_>>(g, progress, &mut check, |_, hull, fail| {
        hulls = hulls.saturating_add(1);
        match check_hull(hull) {
            Ok(has_holes) => open = open.saturating_add(usize::from(has_holes)),
            Err(what) => fail(what),
        }
        Ok(())
    });
    check.with_detail(format!(
        "{hulls} hulls; corners - edges + faces is 2 in each, less the holes of the {open} that lack faces"
    ))
}

/// Checks that a hull is closed: its faces join at edges that exist, and V - E + F is 2; or 2 less one for each hole, as
/// faces are missing from some hulls of the game. Returns whether there are holes.
fn check_hull(hull: &Hull<'_>) -> Result<bool, String> {
    let (v, e, f) = (hull.vertices().len(), hull.edges().len(), hull.face_count());
    if let Some(bad) = hull.vertices().iter().position(|v| !v.iter().all(|c| c.get().is_finite())) {
        return Err(format!("corner {bad} is not a number"));
    }
    if let Some(bad) = hull.edges().iter().position(|e| !e.iter().all(|c| (c.get() as usize) < v)) {
        return Err(format!("edge {bad} has a corner that does not exist"));
    }
    let mut used = vec![0u8; e];
    for (number, face) in hull.faces().enumerate() {
        if face.vertices.len() < 3 || !face.vertices.iter().all(|c| (c.get() as usize) < v) {
            return Err(format!("face {number} has no three corners that exist"));
        }
        let next = face.vertices.iter().cycle().skip(1);
        for ((from, to), edge) in face.vertices.iter().zip(next).zip(face.edges) {
            let joins = hull.edges().get(edge.get() as usize).is_some_and(|&[a, b]| {
                let (a, b, from, to) = (a.get(), b.get(), from.get(), to.get());
                (a, b) == (from, to) || (b, a) == (from, to)
            });
            if !joins {
                return Err(format!("edge {} of face {number} does not join its corners", edge.get()));
            }
            used.get_mut(edge.get() as usize).into_iter().for_each(|n| *n = n.saturating_add(1));
        }
        if face.reserved != 0 {
            return Err(format!("face {number} ends with {}, not 0", face.reserved));
        }
    }
    if let Some(bad) = used.iter().position(|n| !(1..=2).contains(n)) {
        return Err(format!("edge {bad} does not belong to one or two faces"));
    }
    let open = hull.edges().iter().zip(&used).filter(|(_, n)| **n == 1).map(|(e, _)| e.map(|c| c.get() as usize));
    let holes = rings(v, open);
    let euler = (v as i128).saturating_sub(e as i128).saturating_add(f as i128);
    let expected = 2i128.saturating_sub(holes as i128);
    if euler != expected {
        return Err(format!("{v} corners - {e} edges + {f} faces is {euler}, not {expected}"));
    }
    Ok(holes > 0)
}

/// The number of connected components of the edges, over corners below `corners`.
fn rings(corners: usize, edges: impl Iterator<Item = [usize; 2]>) -> usize {
    let mut parent: Vec<usize> = (0..corners).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while let Some(&up) = parent.get(at).filter(|&&up| up != at) {
            // Halving the path on the way keeps all later walks short.
            let over = parent.get(up).copied().unwrap_or(up);
            parent.get_mut(at).into_iter().for_each(|p| *p = over);
            at = over;
        }
        at
    }
    let mut touched = Vec::new();
    for [a, b] in edges {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent.get_mut(a).into_iter().for_each(|p| *p = b);
        touched.push(b);
    }
    touched.iter().map(|&corner| root(&mut parent, corner)).collect::<HashSet<_>>().len()
}
