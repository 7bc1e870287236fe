//! Colours of parts that a picture distinguishes.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

use std::f64::consts::TAU;

/// Colours that distinguish things: the colour of number `rank` of `count`. Hues are evenly spread, and far from the
/// hues of neighbouring numbers. Few colours are equally light; of many, similar hues differ in lightness.
pub fn colour(rank: usize, count: usize) -> [f32; 3] {
    const FEW: usize = 8;
    const LIGHTNESSES: [f64; 3] = [0.82, 0.68, 0.54];
    let count = count.max(1);
    // Every number occurs once, in golden steps.
    let mut steps = (count * 618 / 1000).max(1)..count;
    let step = steps.find(|step| !(2..=*step).any(|f| step.is_multiple_of(f) && count.is_multiple_of(f))).unwrap_or(1);
    let place = rank * step % count;
    // The last hue is next to the first one.
    let is_last = place + 1 == count && count % 3 == 1;
    let lightness = match place {
        _ if count <= FEW => LIGHTNESS,
        place => LIGHTNESSES[if is_last { 1 } else { place % 3 }],
    };
    oklch(lightness, place as f64 / count as f64 * TAU)
}

/// The colour of something with a number of its own, the same in every picture. All are equally light, so that none stands out;
/// hues turn by the golden angle, so that close numbers have distant hues.
pub fn colour_of_id(id: u16) -> [f32; 3] {
    const GOLDEN: f64 = 0.381_966_011_250_105_1;
    oklch(LIGHTNESS, f64::from(id) * GOLDEN * TAU)
}

/// The lightness at which sRGB has all hues in the same, largest chroma.
const LIGHTNESS: f64 = 0.74;
const CHROMA: f64 = 0.12;

/// An sRGB colour by its lightness and its hue in OKLCH (Ottosson, "A perceptual color space for image processing").
fn oklch(lightness: f64, hue: f64) -> [f32; 3] {
    let (a, b) = (CHROMA * hue.cos(), CHROMA * hue.sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ];
    linear.map(|channel: f64| {
        let channel = channel.clamp(0.0, 1.0);
        let curved = if channel <= 0.003_130_8 { channel * 12.92 } else { 1.055 * channel.powf(1.0 / 2.4) - 0.055 };
        #[allow(clippy::cast_possible_truncation, reason = "a colour needs no more digits")]
        let value = curved as f32;
        value
    })
}

/// A channel of an sRGB colour as the linear number that factors of glTF and colours of camouflages are.
pub fn linear_channel(channel: f32) -> f32 {
    if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::{colour, colour_of_id};

    #[test]
    fn the_colours_of_ids_are_equally_light_and_far_from_those_of_their_neighbours() {
        // The lightness of OKLab, by its definition.
        let lightness = |id: u16| {
            let [r, g, b] = colour_of_id(id).map(super::linear_channel);
            let l = 0.412_221_47 * r + 0.536_332_54 * g + 0.051_445_99 * b;
            let m = 0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b;
            let s = 0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b;
            0.210_454_26 * l.cbrt() + 0.793_617_8 * m.cbrt() - 0.004_072_047 * s.cbrt()
        };
        let distance = |a: u16, b: u16| {
            let (a, b) = (colour_of_id(a), colour_of_id(b));
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        };
        for id in 0..256u16 {
            assert!((lightness(id) - 0.74).abs() < 0.002, "{id}: {}", lightness(id));
            assert!((1..=4).all(|by| distance(id, id + by) > 0.22), "{id}");
            assert!((id + 1..256).all(|other| distance(id, other) > 0.002), "{id}");
        }
    }

    /// Colours of armour are distinguishable, whatever their number.
    #[test]
    fn no_two_colours_are_alike() {
        for count in 1..=64 {
            let all: Vec<[f32; 3]> = (0..count).map(|rank| colour(rank, count)).collect();
            let distance =
                |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
            for (n, a) in all.iter().enumerate() {
                for b in all.iter().skip(n + 1) {
                    assert!(distance(a, b) > 0.05, "{count}: {a:?} {b:?}");
                }
            }
            // Ids are consecutive in many files.
            for (a, b) in all.iter().zip(all.iter().skip(1)) {
                assert!(distance(a, b) > 0.25, "{count}: {a:?} {b:?}");
            }
        }
    }
}
