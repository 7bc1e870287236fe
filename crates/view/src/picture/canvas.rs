//! The canvas of a picture.

use crate::error::{Error, ErrorKind, Result};
use tiny_skia::{Color, Pixmap};

/// The longer side of a picture, in pixels.
pub(super) const SIZE: f32 = 1200.0;

pub(super) const MARGIN: f32 = 24.0;

pub(super) fn page(width: f32, height: f32) -> Result<Pixmap> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand pixels")]
    let [width, height] = [width, height].map(|size| size.clamp(1.0, 8192.0) as u32);
    let mut page = Pixmap::new(width, height).ok_or_else(|| {
        let value = u64::from(width) * u64::from(height);
        Error::of_part(ErrorKind::Limit { what: "pixels of a picture", value, limit: 1 << 26 }, "")
    })?;
    page.fill(Color::from_rgba8(0xfb, 0xfb, 0xf8, 0xff));
    Ok(page)
}
