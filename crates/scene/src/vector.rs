//! Vectors of three numbers.

#![allow(clippy::arithmetic_side_effects, reason = "floats")]

pub fn zip([a, b, c]: [f32; 3], [x, y, z]: [f32; 3], with: impl Fn(f32, f32) -> f32) -> [f32; 3] {
    [with(a, x), with(b, y), with(c, z)]
}

pub fn minus([a, b, c]: [f32; 3], [x, y, z]: [f32; 3]) -> [f32; 3] {
    [a - x, b - y, c - z]
}

pub fn cross([a, b, c]: [f32; 3], [x, y, z]: [f32; 3]) -> [f32; 3] {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

pub fn dot([a, b, c]: [f32; 3], [x, y, z]: [f32; 3]) -> f32 {
    a * x + b * y + c * z
}

/// The box around points; `None` without any.
pub fn bounds(points: impl Iterator<Item = [f32; 3]>) -> Option<([f32; 3], [f32; 3])> {
    points.fold(None, |found, p| {
        let (min, max) = found.unwrap_or((p, p));
        Some((zip(min, p, f32::min), zip(max, p, f32::max)))
    })
}

/// The vector at length 1; `None` where it is next to nothing, as for vertices without a normal.
pub fn unit(v: [f32; 3]) -> Option<[f32; 3]> {
    let length = dot(v, v).sqrt();
    (length > 0.05 && length.is_finite()).then(|| v.map(|c| c / length))
}
