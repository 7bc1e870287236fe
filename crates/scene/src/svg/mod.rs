//! SVG: armour and collision hulls seen from above and from the side, and charts as plans.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of a model in memory")]

mod chart;

pub use chart::{PORTAL, WAYPOINT, write_chart};

use crate::error::{Error, ErrorKind, Result};
use crate::escape::Xml;
use crate::figure::SolidKind;
use crate::model::{Model, Part};
use crate::vector::{bounds, minus};
use crate::written;
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};

/// Width of the drawing without its margins.
const WIDTH: f32 = 1200.0;
const MARGIN: f32 = 24.0;

/// A view: the coordinates to the right and up on paper, and towards the eye.
struct View {
    title: &'static str,
    right: fn([f32; 3]) -> f32,
    up: fn([f32; 3]) -> f32,
    depth: fn([f32; 3]) -> f32,
}

const VIEWS: [View; 2] = [
    View { title: "from above", right: |[.., z]| z, up: |[x, ..]| x, depth: |[_, y, _]| y },
    View { title: "from the side", right: |[.., z]| z, up: |[_, y, _]| y, depth: |[x, ..]| -x },
];

/// A triangle on paper.
struct Face {
    depth: f32,
    part: usize,
    points: [[f32; 2]; 3],
}

/// Draws the armour and the hulls of `model` as SVG: plan and side view with a legend of the materials. Render groups
/// are not drawn.
///
/// # Errors
/// `NotFound` when the model has neither armour nor hulls, and `Io` when `out` fails.
pub fn write(model: &Model<'_>, out: &mut dyn Write) -> Result<()> {
    let parts = model.parts.iter().copied().enumerate();
    let drawn: Vec<(usize, &dyn Part)> = parts.filter(|(_, part)| part.kind() != SolidKind::Mesh).collect();
    if drawn.is_empty() {
        let what = "there are no armor and no collision hulls to draw".to_owned();
        return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
    }
    let (min, max) = bounds(drawn.iter().flat_map(|(_, part)| <[_; 2]>::from(part.bounds()))).expect("a part is drawn");
    let extent = minus(max, min).map(|extent| if extent.is_finite() { extent.max(1e-3) } else { 1.0 });
    // One scale for both views, so that they can be compared.
    let scale = (WIDTH / extent[2]).min(WIDTH / extent[0].max(extent[1]));
    let legend: BTreeSet<usize> = drawn.iter().map(|(_, part)| part.material()).collect();
    let rows = legend.len().div_ceil(4);
    #[allow(clippy::cast_precision_loss, reason = "a few hundred rows")]
    let legend_height = rows as f32 * 18.0;
    let views: f32 = VIEWS.iter().map(|view| (view.up)(extent) * scale + 2.0 * MARGIN).sum();
    let total = views + legend_height + 3.0 * MARGIN;
    let mut out = BufWriter::with_capacity(1 << 16, out);
    written((|| {
        writeln!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0} {total:.0}" font-family="sans-serif" font-size="12">"#,
            WIDTH + 2.0 * MARGIN
        )?;
        writeln!(out, r##"<rect width="100%" height="100%" fill="#fbfbf8"/>"##)?;
        writeln!(out, r#"<text x="{MARGIN}" y="{MARGIN}" font-size="16">{}</text>"#, Xml(model.name))?;
        let mut top = 2.0 * MARGIN;
        for view in &VIEWS {
            writeln!(out, r#"<text x="{MARGIN}" y="{:.1}">{}</text>"#, top + 8.0, view.title)?;
            top += MARGIN;
            draw(model, &drawn, view, [min, max], scale, top, &mut out)?;
            top += (view.up)(extent) * scale + MARGIN;
        }
        for (i, material) in legend.iter().map(|&material| &model.materials[material]).enumerate() {
            #[allow(clippy::cast_precision_loss, reason = "a few hundred rows")]
            let (x, y) = (MARGIN + (i % 4) as f32 * WIDTH / 4.0, top + (i / 4) as f32 * 18.0);
            writeln!(
                out,
                r#"<rect x="{x:.0}" y="{y:.0}" width="12" height="12" fill="{}"/><text x="{:.0}" y="{:.0}">{}</text>"#,
                hex(material.colour),
                x + 18.0,
                y + 10.0,
                Xml(&material.name)
            )?;
        }
        writeln!(out, "</svg>")?;
        out.flush()
    })())
}

fn draw(
    model: &Model<'_>,
    drawn: &[(usize, &dyn Part)],
    view: &View,
    [min, max]: [[f32; 3]; 2],
    scale: f32,
    top: f32,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut faces = Vec::new();
    for (number, part) in drawn {
        for triangle in part.positions().collect::<Vec<_>>().as_chunks::<3>().0 {
            let depth = triangle.iter().map(|p| (view.depth)(*p)).sum();
            let points = triangle.map(|p| {
                let x = MARGIN + ((view.right)(p) - (view.right)(min)) * scale;
                [x, top + ((view.up)(max) - (view.up)(p)) * scale]
            });
            faces.push(Face { depth, part: *number, points });
        }
    }
    // Faces nearer to the eye come last.
    faces.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    for same in faces.chunk_by(|a, b| a.part == b.part) {
        let part = model.parts[same[0].part];
        let colour = model.materials[part.material()].colour;
        write!(
            out,
            r##"<path fill="{}" fill-opacity="{}" stroke="#222" stroke-width="0.3" stroke-linejoin="round" d=""##,
            hex(colour),
            colour[3] * 0.85
        )?;
        for face in same {
            let [[ax, ay], [bx, by], [cx, cy]] = face.points;
            write!(out, "M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{cx:.1} {cy:.1}Z")?;
        }
        writeln!(out, r#""><title>{}</title></path>"#, Xml(part.name()))?;
    }
    Ok(())
}

fn hex([r, g, b, _]: [f32; 4]) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let [r, g, b] = [r, g, b].map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}
