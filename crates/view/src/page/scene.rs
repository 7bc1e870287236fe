//! Shapes in a page, which its scripts draw, as small as it gets without loss that a screen shows.
//!
//! A *solid* is packed into bytes of a block as: for each axis its positions, as 16 bits between the least and the
//! greatest, first all low bytes and then all high bytes; for vertices with normals their two octahedral coordinates, 8 bits
//! each; and for indexed solids the indices as varints. Each number is the difference to the one before it, folded so that
//! small ones of either sign have few bits: numbers that are alike get small when the block is compressed. The texture
//! coordinates of a solid whose material has an image follow: first all u, then all v, as positions are. Of a solid with joints, the
//! numbers of the three joints of all vertices follow, and their weights: first all first ones, then all second ones, 8 bits each.

use super::column::short;
use super::{Page, PageSection};
use crate::error::Result;
use crate::scene::figure::{
    Arrangement, Chart, Figure, Joint, PaintedSolid, Solid, SolidKind, SolidMaterial, Solids, SurfaceMaps,
};
use crate::scene::plates::{self, PlateUse};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Bytes after which a block is followed by another one.
const BLOCK: usize = 4 << 20;

/// Adds a part that shows `figure`. A page has one scene and one map at most.
///
/// # Errors
/// When the page cannot be written.
pub fn add(page: &mut Page<'_>, figure: &Figure<'_>) -> Result<()> {
    let (part, blocks) = shown(figure);
    blocks.iter().try_for_each(|(name, bytes)| page.block(name, bytes))?;
    page.part(part);
    Ok(())
}

/// A part of a page, and the blocks that it names.
type Part = (PageSection, Vec<(String, Vec<u8>)>);

fn shown(figure: &Figure<'_>) -> Part {
    match figure {
        Figure::Solids(solids) => scene(solids),
        Figure::Chart(chart) => map(chart),
    }
}

/// Unfinished blocks. Solids that are shown together are stored together, so that the page decodes no more than it
/// shows.
struct Blocks {
    /// The beginning of their names.
    id: &'static str,
    all: Vec<(String, Vec<u8>)>,
    /// For each kind and first level of detail, the block that is being filled.
    open: HashMap<(SolidKind, Option<usize>), usize>,
    /// The blocks of images, which materials may share.
    images: HashMap<*const [u8], String>,
}

impl Blocks {
    fn new(id: &'static str) -> Self {
        Self { id, all: Vec::new(), open: HashMap::new(), images: HashMap::new() }
    }

    fn add(&mut self, bytes: Vec<u8>) -> String {
        let name = format!("{}-{}", self.id, self.all.len());
        self.all.push((name.clone(), bytes));
        name
    }

    /// The name of the block of an image, which is added if it is new.
    fn image(&mut self, png: Option<&[u8]>) -> Option<String> {
        let png = png?;
        if let Some(name) = self.images.get(&std::ptr::from_ref(png)) {
            return Some(name.clone());
        }
        let name = self.add(png.to_vec());
        self.images.insert(png, name.clone());
        Some(name)
    }

    /// Packs `solid`, and gives its block and where it begins there.
    fn pack(&mut self, solid: &PaintedSolid<'_>, uvs: Option<Range>) -> (String, usize) {
        let key = (solid.kind(), solid.lods().first().copied());
        let known = self.open.get(&key).copied().filter(|&block| self.all[block].1.len() < BLOCK);
        let block = known.unwrap_or_else(|| {
            self.open.insert(key, self.all.len());
            self.add(Vec::new());
            self.all.len() - 1
        });
        let (name, bytes) = &mut self.all[block];
        let at = bytes.len();
        pack(solid.solid, uvs, bytes);
        if solid.rig.is_some() {
            pack_influences(solid.solid, bytes);
        }
        (name.clone(), at)
    }
}

/// Sets for each part its group and its places. Returns the blocks of the matrices and of the rows, and the groups.
fn places<'d>(solids: &Solids<'d>, parts: &mut [Value], blocks: &mut Blocks) -> ([Option<String>; 2], Vec<&'d str>) {
    let mut groups: Vec<&str> = Vec::new();
    // The matrices of a part lie together: it is drawn at all of its places at once.
    let mut matrices: Vec<Vec<(&[f32; 16], Option<usize>)>> = vec![Vec::new(); parts.len()];
    let mut numbers = HashMap::new();
    for place in &solids.places {
        let group = *numbers.entry(place.group).or_insert_with(|| {
            groups.push(place.group);
            groups.len() - 1
        });
        parts[place.solid]["group"] = group.into();
        matrices[place.solid].extend(place.matrix.map(|matrix| (matrix, place.row)));
    }
    let (mut bytes, mut rows) = (Vec::new(), Vec::new());
    for (part, matrices) in parts.iter_mut().zip(&matrices).filter(|(_, matrices)| !matrices.is_empty()) {
        part["places"] = json!([bytes.len() / 48, matrices.len()]);
        for (matrix, row) in matrices {
            // Rows of instances, from 1 on.
            rows.extend_from_slice(&row.map_or(0, |row| short(row + 1)).to_le_bytes());
            // The last row is 0, 0, 0, 1.
            let (columns, _) = matrix.as_chunks::<4>();
            columns.iter().flat_map(|[x, y, z, _]| [x, y, z]).for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()));
        }
    }
    let has_rows = rows.iter().any(|byte| *byte != 0);
    let placed = (!bytes.is_empty()).then(|| blocks.add(bytes));
    ([placed, has_rows.then(|| blocks.add(rows))], groups)
}

fn scene(solids: &Solids<'_>) -> Part {
    let mut blocks = Blocks::new("shapes");
    let mut parts: Vec<Value> = solids.solids.iter().map(|solid| part(solid, &solids.materials, &mut blocks)).collect();
    let ([placed, rows], groups) = places(solids, &mut parts, &mut blocks);
    let used: HashSet<usize> = solids.solids.iter().map(|solid| solid.material).collect();
    let materials: Vec<Value> = solids
        .materials
        .iter()
        .enumerate()
        .map(|(number, material)| {
            let [r, g, b, a] = material.colour;
            // A camouflage that no solid wears has images, too.
            let base = material.image.filter(|_| used.contains(&number));
            let maps = base.map_or_else(SurfaceMaps::default, |_| material.maps);
            let maps = [maps.normal, maps.metal_roughness, maps.occlusion].map(|png| blocks.image(png));
            json!({ "name": material.name, "colour": [r, g, b, a], "twoSided": material.two_sided,
                "image": blocks.image(base), "maps": maps })
        })
        .collect();
    let damage = solids.damage.iter().map(|error| error.to_string().into());
    let mut meta = json!({
        "name": solids.name,
        "metres": solids.metres,
        "axes": solids.axes,
        "materials": materials,
        "parts": parts,
        "groups": groups,
        "places": placed,
        "rows": rows,
        "files": solids.files,
        "overlay": solids.arrangement == Arrangement::Overlay,
        "beside": solids.arrangement == Arrangement::Beside,
        "armor": solids.armor.iter().map(|uses| uses.iter().map(armor_use).collect()).collect::<Vec<Value>>(),
        "scale": plates::SCALE,
        "notes": solids.notes,
        "damage": damage.collect::<Vec<Value>>(),
    });
    if !solids.rigs.is_empty() {
        meta["rigs"] = solids.rigs.iter().map(|rig| rig.iter().map(joint).collect::<Value>()).collect();
    }
    (PageSection { id: "scene".to_owned(), kind: "scene", title: "Shapes".to_owned(), meta }, blocks.all)
}

/// A ship or component that has the plates: its name, its ship or gun, and millimetres by layer × 65536 + material.
fn armor_use(found: &PlateUse) -> Value {
    let mut name = found.label();
    if let [first, others @ ..] = &*found.mounts {
        let more = if others.is_empty() { "" } else { ", …" };
        name = format!("{name} {first}{more}");
    }
    let mut plates = Map::new();
    for ((layer, material), mm) in found.plates() {
        plates.insert((u32::from(layer) << 16 | u32::from(material)).to_string(), Value::from(mm));
    }
    json!({ "name": name, "of": found.entity, "plates": plates })
}

/// A joint: its name, the joint above it, and the columns of its matrix: its axes, and its position.
fn joint(joint: &Joint<'_>) -> Value {
    let (columns, _) = joint.rest.as_chunks::<4>();
    let rest: Vec<&[f32]> = columns.iter().map(|column| &column[..3]).collect();
    json!({ "name": joint.name, "parent": joint.parent, "rest": rest })
}

/// A solid in the form of the page's list of parts.
fn part(solid: &PaintedSolid<'_>, materials: &[SolidMaterial<'_>], blocks: &mut Blocks) -> Value {
    let (min, max) = solid.bounds();
    let has_image = materials.get(solid.material).is_some_and(|material| material.image.is_some());
    let uvs = if has_image { solid.uvs().map(range) } else { None };
    let (block, at) = blocks.pack(solid, uvs);
    let kind = match solid.kind() {
        SolidKind::Mesh => "mesh",
        SolidKind::Armor => "armor",
        SolidKind::Hull => "hull",
        SolidKind::Zone => "zone",
    };
    let triangles = if solid.is_indexed() { solid.triangles().count() } else { solid.vertices() / 3 };
    let plates = solid.plates();
    let mut part = json!({
        "name": solid.name(),
        "kind": kind,
        "material": solid.material,
        "vertices": solid.vertices(),
        "triangles": triangles,
        "indexed": solid.is_indexed(),
        "normals": solid.normals().is_some(),
        "min": min,
        "max": max,
        "block": block,
        "at": at,
    });
    if let Some((low, high)) = uvs {
        part["uvs"] = json!([low, high]);
    }
    if let Some(rig) = solid.rig {
        part["rig"] = rig.into();
    }
    if !solid.lods().is_empty() {
        part["lods"] = solid.lods().into();
    }
    if solid.has_guessed_lods() {
        part["isGuess"] = true.into();
    }
    if let Some(region) = solid.region() {
        part["region"] = region.into();
    }
    if !plates.is_empty() {
        part["plates"] = plates.iter().flat_map(|plate| [plate.row, plate.layer.into(), plate.triangles]).collect();
        if plates.iter().any(|plate| plate.thickness.is_some()) {
            part["thickness"] = plates.iter().map(|plate| plate.thickness).collect();
        }
    }
    part
}

/// The least and the greatest texture coordinates.
type Range = ([f32; 2], [f32; 2]);

fn range(uvs: impl Iterator<Item = [f32; 2]>) -> Range {
    uvs.fold(([f32::MAX; 2], [f32::MIN; 2]), |([a, b], [c, d]), [u, v]| ([a.min(u), b.min(v)], [c.max(u), d.max(v)]))
}

/// Appends numbers between `low` and `high` as 16 bits each.
fn pack_numbers(numbers: impl Iterator<Item = f32>, low: f32, high: f32, out: &mut Vec<u8>) {
    let (low, high) = (f64::from(low), f64::from(high));
    let scale = if high > low { 65535.0 / (high - low) } else { 0.0 };
    let mut before = 0u16;
    let mut highs = Vec::with_capacity(numbers.size_hint().0);
    for number in numbers {
        let value = to_u16((f64::from(number) - low) * scale);
        let [small, large] = fold16(value.wrapping_sub(before)).to_le_bytes();
        out.push(small);
        highs.push(large);
        before = value;
    }
    out.append(&mut highs);
}

/// Appends a solid, as described above, with its texture coordinates if their range is given.
fn pack(solid: &dyn Solid, uvs: Option<Range>, out: &mut Vec<u8>) {
    let (min, max) = solid.bounds();
    for (axis, (low, high)) in min.into_iter().zip(max).enumerate() {
        let numbers = solid.positions().map(|v| v[axis]);
        pack_numbers(numbers, low, high, out);
    }
    if let Some(normals) = solid.normals() {
        let mut before = [0u8; 2];
        let mut seconds = Vec::with_capacity(solid.vertices());
        for normal in normals {
            let [u, v] = octahedral(normal);
            let [b, c] = before;
            out.push(u.wrapping_sub(b));
            seconds.push(v.wrapping_sub(c));
            before = [u, v];
        }
        out.append(&mut seconds);
    }
    if solid.is_indexed() {
        let mut before = 0u32;
        for index in solid.triangles().flatten() {
            varint(fold32(index.wrapping_sub(before)), out);
            before = index;
        }
    }
    if let (Some((low, high)), Some(_)) = (uvs, solid.uvs()) {
        for (axis, (low, high)) in low.into_iter().zip(high).enumerate() {
            let numbers = solid.uvs().into_iter().flatten().map(|uv| uv[axis]);
            pack_numbers(numbers, low, high, out);
        }
    }
}

/// Appends the joints of a solid and their weights.
fn pack_influences(solid: &dyn Solid, out: &mut Vec<u8>) {
    for nth in 0..3 {
        out.extend(solid.influences().into_iter().flatten().map(|all| all[nth].0));
    }
    for nth in 0..3 {
        out.extend(solid.influences().into_iter().flatten().map(|all| all[nth].1));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float becomes the nearest integer")]
fn to_u16(value: f64) -> u16 {
    value.round() as u16
}

/// A difference, modulo 2^16, as a number that is small where its absolute value is: 0, -1, 1, -2, 2, …
fn fold16(difference: u16) -> u16 {
    (difference << 1) ^ 0u16.wrapping_sub(difference >> 15)
}

fn fold32(difference: u32) -> u32 {
    (difference << 1) ^ 0u32.wrapping_sub(difference >> 31)
}

/// Seven bits a byte, the least significant first; all but the last byte have bit 7.
fn varint(mut value: u32, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7F);
        }
        out.push(low | 0x80);
    }
}

/// A unit vector on the octahedron, unfolded into a square of 255 by 255 points around 0, 0, each a signed byte.
fn octahedral([x, y, z]: [f32; 3]) -> [u8; 2] {
    let sum = (x.abs() + y.abs() + z.abs()).max(f32::MIN_POSITIVE);
    let (x, y) = (x / sum, y / sum);
    let folded = if z < 0.0 { [(1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)] } else { [x, y] };
    #[expect(clippy::cast_possible_truncation, reason = "they are between -127 and 127")]
    folded.map(|v| ((v * 127.0).round() as i8).to_le_bytes()[0])
}

fn map(chart: &Chart) -> Part {
    let mut blocks = Blocks::new("map");
    let mut numbers = Vec::new();
    let mut rows = Vec::new();
    for one in &chart.boxes {
        floats(&[one.center], &mut numbers);
        floats(&one.sides, &mut numbers);
        for number in [one.kind, one.row] {
            rows.extend_from_slice(&short(number).to_le_bytes());
        }
    }
    let names: Vec<&str> = chart.boxes.iter().map(|one| &*one.name).collect();
    let targets: Vec<(usize, &str)> =
        chart.boxes.iter().enumerate().filter_map(|(number, one)| Some((number, one.target.as_deref()?))).collect();
    let mut links = Vec::new();
    for link in &chart.links {
        floats(&[link.from, link.to, [if link.back { 1.0 } else { 0.0 }, 0.0, 0.0]], &mut links);
    }
    let mut ranges = Vec::new();
    for (center, range) in &chart.ranges {
        floats(&[*center, [*range, 0.0, 0.0]], &mut ranges);
    }
    let texts = json!({"names": names, "targets": targets}).to_string().into_bytes();
    let kinds = chart.kinds.iter().map(|kind| json!({"name": kind.name, "table": kind.table, "colour": kind.colour}));
    let meta = json!({
        "name": chart.name,
        "metres": chart.metres,
        "kinds": kinds.collect::<Vec<_>>(),
        "count": chart.boxes.len(),
        "boxes": blocks.add(numbers),
        "rows": blocks.add(rows),
        "texts": blocks.add(texts),
        "links": blocks.add(links),
        "ranges": blocks.add(ranges),
        "withoutPlace": chart.without_place,
        "notes": chart.notes,
    });
    (PageSection { id: "map".to_owned(), kind: "map", title: "Map".to_owned(), meta }, blocks.all)
}

fn floats(points: &[[f64; 3]], out: &mut Vec<u8>) {
    #[expect(clippy::cast_possible_truncation, reason = "as the file has them")]
    points.as_flattened().iter().for_each(|v| out.extend_from_slice(&(*v as f32).to_le_bytes()));
}

#[cfg(test)]
mod tests;
