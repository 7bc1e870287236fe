//! Fills triangles; the nearest one hides the others.

use crate::error::{Error, ErrorKind, Result};
use std::ops::Range;

/// The limit of dots that all triangles of a picture fill together: some seconds of work. Triangles of a ship are
/// small, and fill the picture a few dozen times.
const MOST: u64 = 4_000_000_000;

/// Dots with their distances from the eye.
#[derive(Debug)]
pub(super) struct Raster {
    pub(super) width: usize,
    pub(super) height: usize,
    depth: Vec<f32>,
    colour: Vec<[u8; 3]>,
    /// The columns of each row that triangles may have filled.
    filled: Vec<Range<usize>>,
    spent: u64,
}

/// A corner of a triangle: right, down, and towards the eye; and its light.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    pub(super) at: [f32; 3],
    pub(super) light: f32,
    /// Its place on a texture.
    pub(super) uv: [f32; 2],
}

/// An image that repeats over a surface. Its opacity is left out.
#[derive(Debug)]
pub(super) struct Texture {
    width: usize,
    height: usize,
    texels: Vec<[u8; 3]>,
}

impl Texture {
    /// Decodes a PNG of 8 bits a channel; `None` for others.
    pub(super) fn decode(png: &[u8]) -> Option<Self> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().ok()?;
        let mut bytes = vec![0; reader.output_buffer_size()?];
        let frame = reader.next_frame(&mut bytes).ok()?;
        let texels = match (frame.bit_depth, frame.color_type) {
            (png::BitDepth::Eight, png::ColorType::Rgba) => {
                bytes.as_chunks::<4>().0.iter().map(|&[r, g, b, _]| [r, g, b]).collect()
            }
            (png::BitDepth::Eight, png::ColorType::Rgb) => bytes.as_chunks::<3>().0.to_vec(),
            (png::BitDepth::Eight, png::ColorType::Grayscale) => bytes.iter().map(|&grey| [grey; 3]).collect(),
            _ => return None,
        };
        let [width, height] = [frame.width, frame.height].map(|size| size as usize);
        (!texels.is_empty() && texels.len() == width * height).then_some(Self { width, height, texels })
    }

    /// The colour at a place. The lower left of glTF's images is their last row.
    fn at(&self, [u, v]: [f32; 2]) -> [f32; 3] {
        #[expect(clippy::cast_precision_loss, reason = "a few thousand texels")]
        let [column, row] = [(u, self.width), (v, self.height)]
            .map(|(share, size)| within(share.rem_euclid(1.0) * size as f32, size - 1));
        self.texels[row * self.width + column].map(|c| f32::from(c) / 255.0)
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Surface<'t> {
    Plain([f32; 3]),
    Textured(&'t Texture),
}

impl Raster {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let (depth, colour) = (vec![f32::NEG_INFINITY; width * height], vec![[0; 3]; width * height]);
        Self { width, height, depth, colour, filled: vec![width..0; height], spent: 0 }
    }

    /// The columns that triangles may have filled in any of these rows. All dots outside of them are empty.
    pub(super) fn filled(&self, rows: Range<usize>) -> Range<usize> {
        let rows = &self.filled[rows];
        rows.iter().fold(self.width..0, |all, row| all.start.min(row.start)..all.end.max(row.end))
    }

    fn dot(&self, column: usize, row: usize) -> Option<[u8; 3]> {
        let at = row * self.width + column;
        self.depth[at].is_finite().then(|| self.colour[at])
    }

    /// The mean of the dots in a square of `side` by `side`, over the background colour.
    pub(super) fn mean(&self, column: usize, row: usize, side: usize, behind: [u8; 3]) -> [u8; 3] {
        let mut sum = [0usize; 3];
        for row in row..row + side {
            for column in column..column + side {
                let dot = self.dot(column, row).unwrap_or(behind);
                sum.iter_mut().zip(dot).for_each(|(sum, c)| *sum += usize::from(c));
            }
        }
        let dots = side * side;
        sum.map(|sum| u8::try_from((sum + dots / 2) / dots).expect("a mean of bytes"))
    }

    /// Fills a triangle, of either orientation.
    ///
    /// # Errors
    /// `Limit` when all triangles together exceed the limit of dots.
    pub(super) fn fill(&mut self, [a, b, c]: [Corner; 3], surface: Surface<'_>) -> Result<()> {
        let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (a.at, b.at, c.at);
        let area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        if area == 0.0 || !area.is_finite() {
            return Ok(());
        }
        let (left, right) = (within(ax.min(bx).min(cx), self.width), within(ax.max(bx).max(cx) + 1.0, self.width));
        let (top, bottom) = (within(ay.min(by).min(cy), self.height), within(ay.max(by).max(cy) + 1.0, self.height));
        self.spent += ((right - left) * (bottom - top)) as u64;
        if self.spent > MOST {
            let kind = ErrorKind::Limit { what: "dots of all triangles in a picture", value: self.spent, limit: MOST };
            return Err(Error::of_part(kind, ""));
        }
        for row in top..bottom {
            let filled = &mut self.filled[row];
            *filled = filled.start.min(left)..filled.end.max(right);
            let dots = row * self.width + left..row * self.width + right;
            let (depths, colours) = (&mut self.depth[dots.clone()], &mut self.colour[dots]);
            #[expect(clippy::cast_precision_loss, reason = "a few thousand dots")]
            let (y, first) = (row as f32 + 0.5, left as f32 + 0.5);
            let mut x = first;
            for (depth, dot) in depths.iter_mut().zip(colours) {
                // The shares of the corners in this dot; all are positive inside.
                let of_b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area;
                let of_c = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area;
                let of_a = 1.0 - of_b - of_c;
                x += 1.0;
                if of_a < 0.0 || of_b < 0.0 || of_c < 0.0 {
                    continue;
                }
                let near = of_a * az + of_b * bz + of_c * cz;
                if near > *depth {
                    *depth = near;
                    let light = of_a * a.light + of_b * b.light + of_c * c.light;
                    let colour = match surface {
                        Surface::Plain(colour) => colour,
                        Surface::Textured(texture) => {
                            let [[ua, va], [ub, vb], [uc, vc]] = [a.uv, b.uv, c.uv];
                            texture.at([of_a * ua + of_b * ub + of_c * uc, of_a * va + of_b * vb + of_c * vc])
                        }
                    };
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
                    let colour = colour.map(|c| (c * light * 255.0).round().clamp(0.0, 255.0) as u8);
                    *dot = colour;
                }
            }
        }
        Ok(())
    }
}

/// The dot that contains `place`, or the nearest dot at the edge.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float becomes the nearest integer")]
fn within(place: f32, dots: usize) -> usize {
    (place.max(0.0) as usize).min(dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f32, y: f32, z: f32) -> Corner {
        Corner { at: [x, y, z], light: 1.0, uv: [0.0; 2] }
    }

    #[test]
    fn the_nearer_triangle_is_seen_whichever_comes_first() {
        let near = [corner(0.0, 0.0, 2.0), corner(8.0, 0.0, 2.0), corner(0.0, 8.0, 2.0)];
        let far = [corner(0.0, 0.0, 1.0), corner(0.0, 16.0, 1.0), corner(16.0, 0.0, 1.0)];
        for order in
            [[(near, [1.0, 0.0, 0.0]), (far, [0.0, 1.0, 0.0])], [(far, [0.0, 1.0, 0.0]), (near, [1.0, 0.0, 0.0])]]
        {
            let mut raster = Raster::new(16, 16);
            for (triangle, colour) in order {
                raster.fill(triangle, Surface::Plain(colour)).unwrap();
            }
            assert_eq!(raster.dot(0, 0), Some([255, 0, 0]));
            assert_eq!(raster.dot(10, 0), Some([0, 255, 0]), "the far one reaches further");
            assert_eq!(raster.dot(15, 15), None, "neither covers the lower right");
            assert_eq!(raster.mean(14, 14, 2, [7, 8, 9]), [7, 8, 9], "the background is seen");
            assert_eq!(raster.filled(0..2), 0..16);
        }
    }

    /// Pixels outside of the filled columns keep the background, so that no dot may be missing from them.
    #[test]
    fn no_dot_lies_outside_of_the_filled_columns() {
        let mut raster = Raster::new(32, 32);
        assert!(raster.filled(0..32).is_empty());
        for (x, y) in [(3.0, 4.0), (20.5, 9.0), (-5.0, 30.0)] {
            let white = Surface::Plain([1.0; 3]);
            raster.fill([corner(x, y, 1.0), corner(x + 9.0, y, 1.0), corner(x, y + 7.0, 1.0)], white).unwrap();
        }
        for row in 0..32 {
            let dots: Vec<usize> = (0..32).filter(|column| raster.dot(*column, row).is_some()).collect();
            assert!(dots.iter().all(|dot| raster.filled(row..row + 1).contains(dot)), "{row}: {dots:?}");
        }
        assert_eq!(raster.filled(4..6), 3..13);
        assert_eq!(raster.filled(8..10), 3..30);
        assert!(raster.filled(17..29).is_empty());
    }

    #[test]
    fn a_texture_lies_on_its_triangle() {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 2, 2);
        encoder.set_color(png::ColorType::Rgba);
        // Transparent texels have colours, too.
        let texels = [255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 255, 9, 255, 255, 255, 255];
        encoder.write_header().unwrap().write_image_data(&texels).unwrap();
        let texture = Texture::decode(&png).unwrap();
        let mut raster = Raster::new(16, 16);
        let at = |x: f32, y: f32| Corner { uv: [x / 16.0, 1.0 + y / 16.0], ..corner(x, y, 0.0) };
        let [a, b, c, d] = [at(0.0, 0.0), at(16.0, 0.0), at(0.0, 16.0), at(16.0, 16.0)];
        raster.fill([a, b, c], Surface::Textured(&texture)).unwrap();
        raster.fill([b, d, c], Surface::Textured(&texture)).unwrap();
        let seen = [(2, 2), (13, 2), (2, 13), (13, 13)].map(|(column, row)| raster.dot(column, row).unwrap());
        assert_eq!(seen, [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255; 3]]);
        assert!(Texture::decode(b"no picture").is_none());
    }

    #[test]
    fn more_triangles_than_a_picture_can_take_are_an_error() {
        let mut raster = Raster::new(1000, 1000);
        raster.spent = MOST - 10;
        let all = [corner(0.0, 0.0, 2.0), corner(9999.0, 0.0, 2.0), corner(0.0, 9999.0, 2.0)];
        assert!(raster.fill(all, Surface::Plain([1.0; 3])).unwrap_err().to_string().contains("dots"));
    }
}
