//! Colours of parts that a picture distinguishes.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "numbers of shapes in memory")]

/// Colours that distinguish things: the colour of number `rank` of `count`. Hues are evenly spread, and far from the
/// hues of neighbouring numbers; among many, colours of similar hues differ in brightness.
pub fn colour(rank: usize, count: usize) -> [f32; 3] {
    const FEW: usize = 8;
    const BRIGHTNESS: [f64; 3] = [1.0, 0.78, 0.6];
    let count = count.max(1);
    // Every number occurs once, in golden steps.
    let mut steps = (count * 618 / 1000).max(1)..count;
    let step = steps.find(|step| !(2..=*step).any(|f| step.is_multiple_of(f) && count.is_multiple_of(f))).unwrap_or(1);
    let place = rank * step % count;
    let hue = place as f64 / count as f64 * 6.0;
    // The last hue is next to the first one.
    let is_last = place + 1 == count && count % 3 == 1;
    let brightness = match place {
        _ if count <= FEW => 1.0,
        place => BRIGHTNESS[if is_last { 1 } else { place % 3 }],
    };
    [2.0, 0.0, -2.0].map(|shift| {
        let at: f64 = (hue + shift).rem_euclid(6.0);
        let rise = at.min(4.0 - at).clamp(0.0, 1.0);
        #[allow(clippy::cast_possible_truncation, reason = "a colour needs no more digits")]
        let value = ((0.36 + 0.56 * rise) * brightness) as f32;
        value
    })
}

/// The colour of something with a number of its own, the same in every picture. Consecutive numbers differ the most.
pub fn colour_of_id(id: u16) -> [f32; 3] {
    const COUNT: usize = 256;
    colour(usize::from(id) % COUNT, COUNT)
}

/// A channel of an sRGB colour as the linear number that factors of glTF and colours of camouflages are.
pub fn linear_channel(channel: f32) -> f32 {
    if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::{colour, colour_of_id};

    #[test]
    fn the_colours_of_ids_differ_the_most_from_those_of_their_neighbours() {
        let distance = |a: u16, b: u16| {
            let (a, b) = (colour_of_id(a), colour_of_id(b));
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        };
        for id in 0..256u16 {
            assert!((1..=4).all(|by| distance(id, id + by) > 0.25), "{id}");
            assert!((id + 1..256).all(|other| distance(id, other) > 0.01), "{id}");
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
