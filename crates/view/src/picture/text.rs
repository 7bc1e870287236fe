//! Short texts in a picture, in DejaVu Sans. A character without a letter in it is a box.

use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The font: see `font/README.md`.
static FONT: &[u8] = include_bytes!("font/DejaVuSans.subset.ttf");

pub(super) const LINE: f32 = 18.0;
/// The height of capitals above the base line is about 0.73 of it.
const SIZE: f32 = 12.5;
/// The base line, below the upper edge of the line.
const BASE: f32 = 10.5;
const INK: Color = Color::BLACK;

/// The outline of a letter, from font units to pixels.
struct Pen<'p> {
    path: &'p mut PathBuilder,
    at: [f32; 2],
    scale: f32,
}

impl Pen<'_> {
    fn map(&self, x: f32, y: f32) -> (f32, f32) {
        let [left, base] = self.at;
        (left + x * self.scale, base - y * self.scale)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.map(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.map(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.map(x1, y1), self.map(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.map(x1, y1), self.map(x2, y2), self.map(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// A text with the glyph and the width of each letter.
struct Line<'f> {
    face: Face<'f>,
    scale: f32,
    glyphs: Vec<(GlyphId, f32)>,
}

impl Line<'_> {
    /// The letters of `text` that fit into `room`, with an ellipsis if some do not.
    fn new(text: &str, size: f32, room: f32) -> Option<Self> {
        let face = Face::parse(FONT, 0).ok()?;
        let scale = size / f32::from(face.units_per_em());
        let ellipsis = glyph(&face, scale, '\u{2026}');
        let mut glyphs: Vec<(GlyphId, f32)> = Vec::new();
        let (mut width, mut fits) = (0.0, 0usize);
        for next in text.chars().map(|letter| glyph(&face, scale, letter)) {
            width += next.1;
            if width > room {
                glyphs.truncate(fits);
                glyphs.push(ellipsis);
                break;
            }
            glyphs.push(next);
            if width + ellipsis.1 <= room {
                fits = glyphs.len();
            }
        }
        Some(Self { face, scale, glyphs })
    }

    fn width(&self) -> f32 {
        self.glyphs.iter().map(|(_, width)| width).sum()
    }

    /// Draws the text with its left end on the base line at a point, on a halo of the page's colour if there is `halo`.
    fn draw(&self, page: &mut Pixmap, [mut left, base]: [f32; 2], halo: Option<Color>) {
        let mut path = PathBuilder::new();
        for (glyph, width) in &self.glyphs {
            self.face.outline_glyph(*glyph, &mut Pen { path: &mut path, at: [left, base], scale: self.scale });
            left += width;
        }
        let Some(path) = path.finish() else { return };
        let mut paint = Paint::default();
        if let Some(halo) = halo {
            paint.set_color(halo);
            let stroke = Stroke { width: 3.0, line_join: tiny_skia::LineJoin::Round, ..Stroke::default() };
            page.stroke_path(&path, &paint, &stroke, Transform::identity(), None);
        }
        paint.set_color(INK);
        page.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
    }
}

/// A letter's glyph, or the box, and its width.
fn glyph(face: &Face<'_>, scale: f32, letter: char) -> (GlyphId, f32) {
    let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
    (glyph, f32::from(face.glyph_hor_advance(glyph).expect("the font has the widths of its glyphs")) * scale)
}

/// Writes `text` with its upper left corner at `x`, `y`, no wider than `room`.
pub(super) fn write(page: &mut Pixmap, text: &str, [x, y]: [f32; 2], room: f32) {
    if let Some(line) = Line::new(text, SIZE, room) {
        line.draw(page, [x, y + BASE], None);
    }
}

/// The height of a label's line, and of its letters.
pub(super) const LABEL: f32 = 11.0;

pub(super) fn label_width(text: &str, room: f32) -> f32 {
    Line::new(text, LABEL, room).map_or(0.0, |line| line.width())
}

/// Writes a label with the middle of its base line at a point.
pub(super) fn label(page: &mut Pixmap, text: &str, [x, y]: [f32; 2], room: f32) {
    if let Some(line) = Line::new(text, LABEL, room) {
        line.draw(page, [x - line.width() / 2.0, y], Color::from_rgba(1.0, 1.0, 1.0, 0.85));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_ends_with_an_ellipsis() {
        let width = |text: &str, room: f32| Line::new(text, SIZE, room).unwrap().width();
        let all = width("Casemate \u{416}\u{e9}", f32::MAX);
        assert!((60.0..100.0).contains(&all), "{all}");
        assert!((width("Casemate \u{416}\u{e9}", all + 0.01) - all).abs() < 0.01);
        let line = Line::new("Casemate \u{416}\u{e9}", SIZE, all - 1.0).unwrap();
        assert!(line.width() < all && line.glyphs.last().unwrap().0 == line.face.glyph_index('\u{2026}').unwrap());
        // A letter that the font lacks is a box as wide as others.
        assert!(width("\u{4e00}", f32::MAX) > 4.0);
        assert_eq!(width("any", 0.0), width("\u{2026}", f32::MAX));
    }

    #[test]
    fn letters_are_drawn_with_smooth_edges() {
        let mut page = Pixmap::new(60, 20).unwrap();
        page.fill(Color::WHITE);
        write(&mut page, "Ship", [2.0, 2.0], 50.0);
        let greys: std::collections::BTreeSet<u8> = page.pixels().iter().map(|pixel| pixel.red()).collect();
        assert!(greys.len() > 20 && greys.contains(&0), "{greys:?}");
    }
}
