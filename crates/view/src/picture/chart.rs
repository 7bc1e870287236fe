//! A map from above: x leads to the right, z to the top.

use super::canvas::{self, MARGIN, SIZE};
use super::text::{self, LINE};
use crate::error::Result;
use crate::scene::figure::{Chart, ChartBox};
use crate::scene::outline::Taken;
use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

const LEGEND: f32 = 280.0;
const LINK: [u8; 3] = [0x0b, 0x6e, 0x4f];

/// A scale, and the corner of a map that is the upper left one on the page.
struct Paper {
    scale: f64,
    left: f64,
    top: f64,
}

impl Paper {
    #[expect(clippy::cast_possible_truncation, reason = "pixels need no more digits")]
    fn pixels(&self, from: f64, to: f64) -> f32 {
        ((to - from) * self.scale) as f32
    }

    fn place(&self, [x, z]: [f64; 2]) -> [f32; 2] {
        [MARGIN + self.pixels(self.left, x), 2.0 * MARGIN + self.pixels(z, self.top)]
    }
}

/// Draws outlines by type, the graph of waypoints, and a legend.
pub(super) fn draw(chart: &Chart) -> Result<Pixmap> {
    let [[left, bottom], [right, top]] = chart.bounds();
    let longest = (right - left).max(top - bottom);
    let scale = if longest > 0.0 { f64::from(SIZE) / longest } else { 1.0 };
    let paper = Paper { scale, left, top };
    let (width, height) = (paper.pixels(left, right), paper.pixels(bottom, top));
    let lines = chart.kinds.len() as f32 * LINE;
    let mut page = canvas::page(width + LEGEND + 3.0 * MARGIN, height.max(lines) + 3.0 * MARGIN)?;
    text::write(&mut page, &chart.name, [MARGIN, MARGIN / 2.0], width + LEGEND);

    for one in &chart.boxes {
        let [r, g, b] = chart.kinds.get(one.kind).map_or([0; 3], |kind| kind.colour);
        let points: Vec<[f32; 2]> = one.outline.iter().map(|point| paper.place(*point)).collect();
        let path = match is_dot(&points) {
            true => points.first().and_then(|[x, y]| PathBuilder::from_circle(*x, *y, 2.0)),
            false => path(points.into_iter(), true),
        };
        let Some(path) = path else { continue };
        page.fill_path(&path, &paint([r, g, b], 36), FillRule::Winding, Transform::identity(), None);
        page.stroke_path(&path, &paint([r, g, b], 255), &Stroke::default(), Transform::identity(), None);
    }
    for link in &chart.links {
        let ends = [link.from, link.to].map(|[x, _, z]| paper.place([x, z]));
        let Some(line) = path(ends.into_iter(), false) else { continue };
        let stroke = Stroke { width: 1.5, ..Stroke::default() };
        page.stroke_path(&line, &paint(LINK, 255), &stroke, Transform::identity(), None);
    }
    for ([x, _, z], _) in &chart.ranges {
        let [x, y] = paper.place([*x, *z]);
        if let Some(dot) = PathBuilder::from_circle(x, y, 2.5) {
            page.fill_path(&dot, &paint(LINK, 255), FillRule::Winding, Transform::identity(), None);
        }
    }
    labels(chart, &mut page, width, &paper);
    let x = (width + 2.0 * MARGIN).round();
    for (number, kind) in chart.kinds.iter().enumerate() {
        let y = 2.0 * MARGIN + number as f32 * LINE;
        if let Some(square) = Rect::from_xywh(x, y, 12.0, 12.0) {
            page.fill_rect(square, &paint(kind.colour, 255), Transform::identity(), None);
        }
        text::write(&mut page, &format!("{} ({})", kind.name, chart.count(number)), [x + 18.0, y], LEGEND - 18.0);
    }
    Ok(page)
}

/// Writes as many names as fit: boxes that lead elsewhere first, then the largest. An id is no name.
fn labels(chart: &Chart, page: &mut Pixmap, width: f32, paper: &Paper) {
    const ROOM: f32 = 220.0;
    let mut taken = Taken::default();
    let mut boxes: Vec<&ChartBox> = chart.boxes.iter().collect();
    boxes.sort_by_key(|one| one.target.is_none());
    for one in boxes {
        let id = one.name.strip_prefix("0x");
        if one.name.is_empty() || id.is_some_and(|id| id.chars().all(|c| c.is_ascii_hexdigit())) {
            continue;
        }
        let target = one.target.as_ref().map(|target| format!("\u{2192} {target}"));
        let lines: Vec<&str> = std::iter::once(&*one.name).chain(target.as_deref()).collect();
        let wide = lines.iter().map(|line| text::label_width(line, ROOM)).fold(0.0, f32::max);
        let [x, _, z] = one.center;
        let [x, y] = paper.place([x, z]);
        let x = x.clamp(MARGIN + wide / 2.0, (MARGIN + width - wide / 2.0).max(MARGIN + wide / 2.0));
        let high = lines.len() as f32 * (text::LABEL + 2.0);
        let middle = [x, y + (high - text::LABEL) / 2.0].map(f64::from);
        if !taken.take(middle, [wide + 4.0, high].map(f64::from)) {
            continue;
        }
        for (number, line) in lines.iter().enumerate() {
            let down = text::LABEL / 2.0 - 1.5 + number as f32 * (text::LABEL + 2.0);
            text::label(page, line, [x, y + down], ROOM);
        }
    }
}

/// Whether a box is too small to be seen as an outline.
fn is_dot(points: &[[f32; 2]]) -> bool {
    points.iter().all(|point| point.iter().zip(points[0]).all(|(v, first)| (v - first).abs() < 3.0))
}

fn paint([r, g, b]: [u8; 3], opacity: u8) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(Color::from_rgba8(r, g, b, opacity));
    paint
}

fn path(points: impl Iterator<Item = [f32; 2]>, close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (number, [x, y]) in points.enumerate() {
        if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if close {
        path.close();
    }
    path.finish()
}
