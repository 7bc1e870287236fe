//! Short texts in a picture, in an alphabet of 8 by 8 dots. A character without a letter in it is a box.

use font8x8::UnicodeFonts as _;
use tiny_skia::{Color, Paint, Pixmap, Rect, Transform};

/// The height of a line.
pub(super) const LINE: f32 = 18.0;
/// The width of a letter.
pub(super) const LETTER: f32 = 8.0;

const MISSING: [u8; 8] = [0x7e, 0x42, 0x42, 0x42, 0x42, 0x42, 0x7e, 0];

/// Writes `text` with its upper left corner at `x`, `y`, no more than `most` letters of it.
pub(super) fn write(page: &mut Pixmap, text: &str, [x, y]: [f32; 2], most: usize) {
    let mut paint = Paint { anti_alias: false, ..Paint::default() };
    paint.set_color(Color::from_rgba8(0x22, 0x22, 0x22, 0xff));
    let mut left = x.round();
    for letter in text.chars().take(most) {
        let found = font8x8::BASIC_FONTS.get(letter).or_else(|| font8x8::LATIN_FONTS.get(letter));
        for (line, dots) in found.unwrap_or(MISSING).into_iter().enumerate() {
            for dot in (0..8u8).filter(|dot| dots >> dot & 1 == 1) {
                #[expect(clippy::cast_precision_loss, reason = "eight lines")]
                let down = line as f32 * 1.5;
                let square = Rect::from_xywh(left + f32::from(dot), y.round() + down, 1.0, 1.5);
                if let Some(square) = square {
                    page.fill_rect(square, &paint, Transform::identity(), None);
                }
            }
        }
        left += LETTER;
    }
}
