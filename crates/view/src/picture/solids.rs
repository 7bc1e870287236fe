//! Solids, seen at an angle and from above.

use super::canvas::{self, MARGIN, SIZE};
use super::raster::{Corner, Raster, Surface, Texture};
use super::text::{self, LINE};
use crate::error::Result;
use crate::scene::figure::{PaintedSolid, SolidInstance, SolidKind, SolidMaterial, Solids};
use std::collections::BTreeSet;
use tiny_skia::{Color, Paint, Pixmap, PremultipliedColorU8, Rect, Transform};

type Point = [f32; 3];

/// Dots a pixel, along each side.
const FINE: usize = 2;

/// A view: the directions right, up and to the eye.
struct View {
    right: Point,
    up: Point,
    eye: Point,
}

/// The views: from the quarter, above the bow; and from above, the bow to the right.
fn views() -> [View; 2] {
    let (turn, tilt) = (0.9f32, 0.35f32);
    let eye = [-turn.sin() * tilt.cos(), tilt.sin(), turn.cos() * tilt.cos()];
    let right = [turn.cos(), 0.0, turn.sin()];
    let up = cross(eye, right);
    [View { right, up, eye }, View { right: [0.0, 0.0, 1.0], up: [1.0, 0.0, 0.0], eye: [0.0, 1.0, 0.0] }]
}

/// Draws the armour if present, else the finest meshes, else the hulls, because one would hide the other.
pub(super) fn draw(solids: &Solids<'_>) -> Result<Pixmap> {
    let kinds = [SolidKind::Armor, SolidKind::Mesh, SolidKind::Hull, SolidKind::Zone];
    let kind = kinds.into_iter().find(|kind| solids.solids.iter().any(|solid| solid.kind() == *kind));
    let shown: Vec<Shown<'_>> = solids
        .places
        .iter()
        .filter_map(|place| Some((solids.solids.get(place.solid)?, place)))
        .filter(|(solid, _)| Some(solid.kind()) == kind && (solid.lods().is_empty() || solid.lods().contains(&0)))
        .collect();
    let used: BTreeSet<usize> = shown.iter().map(|(solid, _)| solid.material).collect();
    let legend = used.iter().filter_map(|&number| solids.materials.get(number));
    // Colours of a texture need no names.
    let legend: Vec<&SolidMaterial<'_>> = legend.filter(|material| material.image.is_none()).collect();
    let textures = solids
        .materials
        .iter()
        .enumerate()
        .map(|(number, material)| material.image.filter(|_| used.contains(&number)).and_then(Texture::decode));
    let textures: Vec<Option<Texture>> = textures.collect();

    let framed = framed(&shown);
    let mut drawn = Vec::new();
    for view in views() {
        if let Some(raster) = look(solids, &textures, [&shown, &framed], &view)? {
            drawn.push(raster);
        }
    }
    let height: f32 = drawn.iter().map(|raster| pixels(raster.height) + MARGIN).sum();
    // A space has more materials than fit into a picture.
    let lines = legend.len().min(40).div_ceil(4) as f32 * LINE;
    let mut page = canvas::page(SIZE + 2.0 * MARGIN, height + lines + 3.0 * MARGIN)?;
    text::write(&mut page, solids.name, [MARGIN, MARGIN / 2.0], SIZE);
    let mut top = MARGIN * 1.5;
    for raster in &drawn {
        copy(raster, &mut page, [MARGIN + (SIZE - pixels(raster.width)) / 2.0, top]);
        top += pixels(raster.height) + MARGIN;
    }
    for (number, tint) in legend.iter().take(40).enumerate() {
        let x = MARGIN + (number % 4) as f32 * SIZE / 4.0;
        let y = top + (number / 4) as f32 * LINE;
        let [r, g, b, _] = tint.colour.map(|c| c.clamp(0.0, 1.0));
        let mut paint = Paint::default();
        paint.set_color(Color::from_rgba(r, g, b, 1.0).unwrap_or(Color::BLACK));
        if let Some(square) = Rect::from_xywh(x, y, 12.0, 12.0) {
            page.fill_rect(square, &paint, Transform::identity(), None);
        }
        text::write(&mut page, tint.name, [x + 18.0, y], SIZE / 4.0 - 26.0);
    }
    Ok(page)
}

fn pixels(dots: usize) -> f32 {
    (dots / FINE) as f32
}

type Shown<'s> = (&'s PaintedSolid<'s>, &'s SolidInstance<'s>);

/// The corners of a solid's box, at its place.
fn corners((solid, place): &Shown<'_>) -> [Point; 8] {
    let (min, max) = solid.bounds();
    [0u8, 1, 2, 3, 4, 5, 6, 7].map(|corner| {
        let point = [0, 1, 2].map(|axis| if corner >> axis & 1 == 0 { min[axis] } else { max[axis] });
        place.matrix.map_or(point, |m| moved(m, point))
    })
}

/// The length of the diagonal of the box around all of `shown`.
fn extent(shown: &[Shown<'_>]) -> f32 {
    let nothing = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    let [low, high] = shown.iter().flat_map(corners).fold(nothing, |[low, high], point| {
        [[0, 1, 2].map(|axis| low[axis].min(point[axis])), [0, 1, 2].map(|axis| high[axis].max(point[axis]))]
    });
    let across = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    dot(across, across).sqrt()
}

/// The solids that a picture frames: all of `shown`, or the ones with 99 % of the triangles, if the others would make them
/// appear less than half as large. Some models have a sheet of two triangles far from the rest.
fn framed<'s>(shown: &[Shown<'s>]) -> Vec<Shown<'s>> {
    let all = shown.iter().map(|(solid, place)| {
        let triangles = if solid.is_indexed() { solid.triangles().count() } else { solid.vertices() / 3 };
        (triangles, (*solid, *place))
    });
    let mut all: Vec<(usize, Shown<'s>)> = all.collect();
    all.sort_by_key(|(triangles, _)| std::cmp::Reverse(*triangles));
    let sum: usize = all.iter().map(|(triangles, _)| triangles).sum();
    let mut held = 0usize;
    let most = all.iter().take_while(|(triangles, _)| {
        let is_needed = held < sum - sum / 100;
        held += triangles;
        is_needed
    });
    let mut kept: Vec<Shown<'s>> = most.map(|(_, one)| *one).collect();
    let size = extent(&kept);
    if size * 2.0 > extent(shown) {
        return shown.to_vec();
    }
    // Small parts beside the large ones are framed with them.
    for (_, one) in all.iter().skip(kept.len()) {
        kept.push(*one);
        if extent(&kept) > size * 1.25 {
            kept.pop();
        }
    }
    kept
}

/// The triangles of `shown` seen from `view`, in a frame around `framed`; `None` without any.
fn look(
    solids: &Solids<'_>,
    textures: &[Option<Texture>],
    [shown, framed]: [&[Shown<'_>]; 2],
    view: &View,
) -> Result<Option<Raster>> {
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for point in framed.iter().flat_map(corners) {
        for ((low, high), along) in low.iter_mut().zip(&mut high).zip([view.right, view.up]) {
            let at = dot(along, point);
            (*low, *high) = (low.min(at), high.max(at));
        }
    }
    let (width, height) = (high[0] - low[0], high[1] - low[1]);
    if !(width.is_finite() && height.is_finite()) {
        return Ok(None);
    }
    let scale = SIZE * FINE as f32 / width.max(height).max(f32::MIN_POSITIVE);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no more than the size of the page")]
    let [across, down] = [width, height].map(|v| ((v * scale).ceil() as usize).max(FINE).next_multiple_of(FINE));
    let mut raster = Raster::new(across, down);
    for (solid, place) in shown {
        let tint = solids.materials.get(solid.material);
        let [r, g, b, _] = tint.map_or([0.6, 0.6, 0.6, 1.0], |tint| tint.colour);
        let texture = textures.get(solid.material).and_then(Option::as_ref).filter(|_| solid.uvs().is_some());
        let surface = texture.map_or(Surface::Plain([r, g, b]), Surface::Textured);
        let (mut normals, mut uvs) = (solid.normals(), solid.uvs());
        let corners = solid.positions().map(|position| {
            let normal = normals.as_mut().and_then(Iterator::next);
            let (position, normal) = match place.matrix {
                Some(m) => (moved(m, position), normal.map(|n| turned(m, n))),
                None => (position, normal),
            };
            // The light comes from the eye, and a little from above. A plate has two sides: the visible one counts.
            let light = normal.map_or(0.8, |n| {
                let facing = dot(n, view.eye);
                0.35 + 0.5 * facing.abs() + 0.15 * (n[1] * facing.signum()).max(0.0)
            });
            let at = [
                (dot(view.right, position) - low[0]) * scale,
                (high[1] - dot(view.up, position)) * scale,
                dot(view.eye, position),
            ];
            // Without texture coordinates the surface is plain.
            Corner { at, light, uv: uvs.as_mut().and_then(Iterator::next).unwrap_or([0.0; 2]) }
        });
        let corners: Vec<Corner> = corners.collect();
        for triangle in solid.triangles() {
            let [Some(a), Some(b_), Some(c)] = triangle.map(|i| corners.get(i as usize).copied()) else { continue };
            raster.fill([a, b_, c], surface)?;
        }
    }
    Ok(Some(raster))
}

/// Copies the raster onto the page, with the mean of each square of dots as a pixel.
fn copy(raster: &Raster, page: &mut Pixmap, [left, top]: [f32; 2]) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand pixels")]
    let [left, top] = [left, top].map(|v| v.max(0.0) as usize);
    let width = page.width() as usize;
    for row in 0..raster.height / FINE {
        let start = (top + row) * width + left;
        // Most of a picture is empty.
        let filled = raster.filled(row * FINE..(row + 1) * FINE);
        for column in filled.start / FINE..filled.end.div_ceil(FINE).min(raster.width / FINE) {
            let pixel = &mut page.pixels_mut()[start + column];
            let behind = [pixel.red(), pixel.green(), pixel.blue()];
            let [r, g, b] = raster.mean(column * FINE, row * FINE, FINE, behind);
            if let Some(opaque) = PremultipliedColorU8::from_rgba(r, g, b, 255) {
                *pixel = opaque;
            }
        }
    }
}

fn dot([a, b, c]: Point, [x, y, z]: Point) -> f32 {
    a * x + b * y + c * z
}

fn cross([a, b, c]: Point, [x, y, z]: Point) -> Point {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

fn moved(m: &[f32; 16], [x, y, z]: Point) -> Point {
    let [a, b, c, _, d, e, f, _, g, h, i, _, j, k, l, _] = m;
    [a * x + d * y + g * z + j, b * x + e * y + h * z + k, c * x + f * y + i * z + l]
}

/// Transforms a direction to length 1, for lighting: a scale that differs between axes bends it a little.
fn turned(m: &[f32; 16], [x, y, z]: Point) -> Point {
    let [a, b, c, _, d, e, f, _, g, h, i, ..] = m;
    let [x, y, z] = [a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z];
    let length = (x * x + y * y + z * z).sqrt().max(f32::MIN_POSITIVE);
    [x / length, y / length, z / length]
}
