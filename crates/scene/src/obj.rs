//! Wavefront OBJ: text that almost everything reads.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of a model in memory")]

use crate::error::{Error, ErrorKind, Result};
use crate::model::{Alpha, Image, Material, Model, PlacedPart, Role};
use crate::vector::{cross, unit};
use crate::written;
use std::io::{BufWriter, Write};

/// Writes `model` as OBJ: an object for each place at which a part is shown, with positions in metres, normals and texture
/// coordinates. Materials are described in a file of their own.
///
/// # Errors
/// `Unsupported` for a position that is no finite number in metres, and `Io` when `out` fails.
pub fn write(model: &Model<'_>, out: &mut dyn Write) -> Result<()> {
    model.shown().try_for_each(|shown| check_finite(model, &shown))?;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut counts = Counts::default();
    written((|| {
        writeln!(out, "# {}", one_line(model.name))?;
        if has_materials(model) {
            writeln!(out, "mtllib {}", library(model))?;
        }
        model.shown().try_for_each(|shown| object(model, shown, &mut counts, &mut out))?;
        out.flush()
    })())
}

/// Whether a material has more than a name.
fn has_materials(model: &Model<'_>) -> bool {
    model.materials.iter().any(|material| material.skin.is_some())
}

/// The name of the file of materials.
fn library(model: &Model<'_>) -> String {
    format!("{}.mtl", file_name(model.name))
}

/// The materials as `.mtl`, and their images. No files if no material has more than a name.
pub fn materials(model: &Model<'_>) -> Result<Vec<(String, Vec<u8>)>> {
    if !has_materials(model) {
        return Ok(Vec::new());
    }
    let mut text = Vec::new();
    written(model.materials.iter().try_for_each(|material| describe(model, material, &mut text)))?;
    let images = model.images.iter().map(|image| (picture(image), image.png.clone()));
    Ok(std::iter::once((library(model), text)).chain(images).collect())
}

/// A material. `Pr`, `Pm`, `map_Pr`, `map_Pm` and `norm` are the names that readers with metal and roughness know; roughness
/// lies in the green channel of its image and metal in the blue one.
fn describe(model: &Model<'_>, material: &Material, out: &mut impl Write) -> std::io::Result<()> {
    let images = material.skin.iter().flat_map(|skin| &skin.images);
    let has_base = material.image(Role::Base).is_some();
    let [r, g, b, a] = if has_base { [1.0; 4] } else { material.colour };
    writeln!(out, "newmtl {}\nKd {r} {g} {b}\nd {a}", one_word(&material.name))?;
    for (role, number) in images {
        let name = picture(&model.images[*number]);
        match role {
            Role::Base | Role::Transparent => writeln!(out, "map_Kd {name}")?,
            Role::Normal => writeln!(out, "norm {name}\nmap_Bump -bm 1 {name}")?,
            Role::MetalRoughness => {
                writeln!(out, "Pr 1\nPm 1\nmap_Pr -imfchan g {name}\nmap_Pm -imfchan b {name}")?;
            }
            Role::Occlusion => writeln!(out, "map_Ka -imfchan r {name}")?,
            Role::Emissive => writeln!(out, "map_Ke {name}")?,
        }
    }
    let alpha = material.skin.as_ref().map(|skin| skin.alpha);
    if let (true, Some(Alpha::Mask(_) | Alpha::Blend), Some(base)) =
        (has_base, alpha, model.image(material, Role::Base))
    {
        writeln!(out, "map_d -imfchan m {}", picture(base))?;
    }
    writeln!(out)
}

/// The file name of an image.
fn picture(image: &Image) -> String {
    format!("{}.png", file_name(&image.name))
}

/// The name with nothing in it that a file name or a word of the text cannot have.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn one_word(name: &str) -> String {
    one_line(name).replace(' ', "_")
}

/// Elements that have been written so far: faces count from the start of the file.
#[derive(Debug, Default)]
struct Counts {
    positions: u64,
    normals: u64,
    uvs: u64,
}

fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The place of a vertex in metres.
fn in_metres(model: &Model<'_>, matrix: Option<&[f32; 16]>, position: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = matrix.map_or(position, |matrix| point(matrix, position));
    [x * model.scale[0], y * model.scale[1], z * model.scale[2]]
}

/// A GLB has the numbers of the file and its scale apart; here their product may be too large.
fn check_finite(model: &Model<'_>, shown: &PlacedPart<'_>) -> Result<()> {
    for (vertex, position) in shown.part.positions().enumerate() {
        let placed = in_metres(model, shown.matrix, position);
        if !placed.iter().all(|v| v.is_finite()) {
            let what = format!("an OBJ with vertex {vertex} at {position:?}, which is no finite number in metres,");
            return Err(Error::of_part(ErrorKind::Unsupported { what: what.into() }, shown.node.name.to_string()));
        }
    }
    Ok(())
}

fn object(
    model: &Model<'_>,
    PlacedPart { node, part, matrix, .. }: PlacedPart<'_>,
    counts: &mut Counts,
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "o {}", one_line(&node.name))?;
    writeln!(out, "usemtl {}", one_word(&model.materials[part.material()].name))?;
    for position in part.positions() {
        let [x, y, z] = in_metres(model, matrix, position);
        writeln!(out, "v {x} {y} {z}")?;
    }
    let (normals, uvs) = (part.normals(), part.uvs());
    let (has_normals, has_uvs) = (normals.is_some(), uvs.is_some());
    for n in normals.into_iter().flatten() {
        let [x, y, z] = matrix.map_or(n, |m| direction(m, n));
        writeln!(out, "vn {x} {y} {z}")?;
    }
    for [u, v] in uvs.into_iter().flatten() {
        // Here v counts from the bottom.
        writeln!(out, "vt {u} {}", 1.0 - v)?;
    }
    // A matrix that mirrors turns the triangles around.
    let mirrors = matrix.is_some_and(|m| determinant(m) < 0.0);
    for [a, b, c] in part.triangles() {
        write!(out, "f")?;
        for corner in if mirrors { [a, c, b] } else { [a, b, c] } {
            let [position, uv, normal] =
                [counts.positions, counts.uvs, counts.normals].map(|before| before + u64::from(corner) + 1);
            match (has_uvs, has_normals) {
                (true, true) => write!(out, " {position}/{uv}/{normal}")?,
                (true, false) => write!(out, " {position}/{uv}")?,
                (false, true) => write!(out, " {position}//{normal}")?,
                (false, false) => write!(out, " {position}")?,
            }
        }
        writeln!(out)?;
    }
    let vertices = part.vertices() as u64;
    counts.positions += vertices;
    counts.normals += if has_normals { vertices } else { 0 };
    counts.uvs += if has_uvs { vertices } else { 0 };
    Ok(())
}

fn point(m: &[f32; 16], [x, y, z]: [f32; 3]) -> [f32; 3] {
    [
        m[0] * x + m[4] * y + m[8] * z + m[12],
        m[1] * x + m[5] * y + m[9] * z + m[13],
        m[2] * x + m[6] * y + m[10] * z + m[14],
    ]
}

/// The cofactors of the upper left of the matrix, column by column: the matrix that turns normals.
fn cofactors(m: &[f32; 16]) -> [[f32; 3]; 3] {
    let [a, b, c] = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
    [cross(b, c), cross(c, a), cross(a, b)]
}

fn determinant(m: &[f32; 16]) -> f32 {
    let [first, ..] = cofactors(m);
    m[0] * first[0] + m[1] * first[1] + m[2] * first[2]
}

fn direction(m: &[f32; 16], n: [f32; 3]) -> [f32; 3] {
    let columns = cofactors(m);
    let sign = if determinant(m) < 0.0 { -1.0 } else { 1.0 };
    let turned = [0, 1, 2].map(|row| columns.iter().zip(n).map(|(column, n)| column[row] * n * sign).sum::<f32>());
    let largest = turned.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
    unit(turned.map(|v| v / largest)).unwrap_or(n)
}
