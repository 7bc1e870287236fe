//! The armour of a believable ship: sides, decks, bulkheads, barbettes and a bridge, each of the material of its place.

use std::f32::consts::TAU;

type Point = [f32; 3];

/// Half of its length. The bow is at `z` = `HALF`.
const HALF: f32 = 10.0;
/// Frames, from the stern to the bow.
const FRAMES: usize = 40;
/// The frames at which the citadel begins and ends.
const CITADEL: [usize; 2] = [10, 30];

/// Lines along the ship, from the keel to the deck: how wide and how high it is there.
const LINES: [(f32, f32); 5] = [(0.12, -0.85), (0.72, -0.62), (0.96, -0.12), (1.0, 0.25), (0.98, 0.62)];

/// A point of a line at a frame, on the left or on the right.
fn on(line: usize, frame: usize, side: f32) -> Point {
    let (wide, high) = LINES[line];
    let t = frame as f32 / FRAMES as f32 * 2.0 - 1.0;
    // The bow is sharp, the stern is round.
    let beam = if t > 0.0 { 1.0 - libm::powf(t, 2.4) } else { 0.35 + 0.65 * (1.0 - libm::powf(-t, 3.0)) };
    let ahead = t.max(0.0);
    let sheer = 0.28 * (ahead * ahead) * (high + 0.85) / 1.47;
    // The stem leans forward, and the keel rises at both ends.
    let lean = if t > 0.7 { (t - 0.7) * (high + 0.85) * 1.2 } else { 0.0 };
    let keel = if high < -0.2 { 0.5 * (t.abs() - 0.75).max(0.0) } else { 0.0 };
    [side * wide * (1.05 * beam + 0.02), high + sheer + keel, t * HALF * 0.94 + lean]
}

fn quad([a, b, c, d]: [Point; 4]) -> [[Point; 3]; 2] {
    [[a, b, c], [a, c, d]]
}

/// A quad on a side, from a line to the one above.
fn strip(line: usize, f: usize, side: f32) -> [Point; 4] {
    [on(line, f, side), on(line + 1, f, side), on(line + 1, f + 1, side), on(line, f + 1, side)]
}

/// A quad from side to side.
fn across(line: usize, f: usize) -> [Point; 4] {
    [on(line, f, -1.0), on(line, f, 1.0), on(line, f + 1, 1.0), on(line, f + 1, -1.0)]
}

/// A plate of many quads.
fn plate(material: u16, layer: u16, quads: impl IntoIterator<Item = [Point; 4]>) -> PlateShape {
    PlateShape { material, layer, triangles: quads.into_iter().flat_map(quad).collect() }
}

/// An upright tube of a dozen sides with a lid, around a point of the deck.
fn tube(materials: [u16; 2], [x, y, z]: Point, radius: f32, height: f32) -> [PlateShape; 2] {
    let [low, high] = [0.0, height].map(|up| {
        let points = (0..=12).map(|step| {
            let (sin, cos) = libm::sincosf(step as f32 / 12.0 * TAU);
            [x + radius * cos, y + up, z + radius * sin]
        });
        points.collect::<Vec<Point>>()
    });
    let wall = (0..12).map(|s| [low[s], high[s], high[s + 1], low[s + 1]]);
    let lid = (0..12).map(|s| [[x, y + height, z], high[s], high[s + 1], [x, y + height, z]]);
    [plate(materials[0], 1, wall), plate(materials[1], 1, lid)]
}

/// An upright box: its sides and its top.
fn cabin(materials: [u16; 2], [x, y, z]: Point, [wide, high, long]: Point) -> [PlateShape; 2] {
    let [low, top] = [0.0, high].map(|up| {
        let corners = [(-wide, -long), (-wide, long), (wide, long), (wide, -long)];
        corners.map(|(dx, dz)| [x + dx, y + up, z + dz])
    });
    let walls = (0..4).map(|i| [low[i], top[i], top[(i + 1) % 4], low[(i + 1) % 4]]);
    [plate(materials[0], 1, walls), plate(materials[1], 1, [top])]
}

/// All plates of the ship.
pub(super) fn ship() -> Vec<PlateShape> {
    let mut all = Vec::new();
    // For each stretch, from its first frame to its last: bottom, bulge, belt and side above it; and the deck.
    let stretches = [
        (0, CITADEL[0], [92, 92, 91, 93], 94),
        (CITADEL[0], CITADEL[1], [62, 63, 61, 69], 57),
        (CITADEL[1], FRAMES, [47, 47, 46, 48], 49),
    ];
    for (from, to, strakes, deck) in stretches {
        for (line, material) in strakes.into_iter().enumerate() {
            all.extend([-1.0, 1.0].map(|side| plate(material, 1, (from..to).map(|f| strip(line, f, side)))));
        }
        all.push(plate(deck, 1, (from..to).map(|f| across(LINES.len() - 1, f))));
        all.push(plate(strakes[0], 1, (from..to).map(|f| across(0, f))));
        if deck == 57 {
            // Within the citadel lie a second deck and a second belt.
            all.push(plate(64, 2, (from..to).map(|f| across(2, f))));
            all.extend([-1.0, 1.0].map(|side| plate(67, 2, (from..to).map(|f| strip(1, f, side * 0.8)))));
        }
    }
    // Bulkheads, where the citadel ends.
    for (frame, material) in CITADEL.into_iter().zip([59, 65]) {
        let rungs = (0..LINES.len() - 1).map(|line| {
            [on(line, frame, -1.0), on(line, frame, 1.0), on(line + 1, frame, 1.0), on(line + 1, frame, -1.0)]
        });
        all.push(plate(material, 1, rungs));
    }
    for (z, high) in [(5.6, 0.32), (4.0, 0.52), (-4.4, 0.4), (-6.0, 0.32)] {
        all.extend(tube([97, 45], [0.0, 0.62, z], 0.55, high));
    }
    all.extend(cabin([89, 90], [0.0, 0.62, 0.0], [0.62, 0.45, 2.9]));
    all.extend(cabin([53, 54], [0.0, 1.07, 1.9], [0.45, 0.75, 0.6]));
    all.extend(tube([36, 90], [0.0, 1.07, 0.2], 0.32, 0.8));
    all.extend(tube([36, 90], [0.0, 1.07, -1.4], 0.32, 0.7));
    all.push(plate(82, 1, [[[0.0, -0.3, -9.4], [0.0, -0.3, -8.9], [0.0, -0.85, -8.9], [0.0, -0.85, -9.3]]]));
    all
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlateShape {
    pub material: u16,
    /// From 1.
    pub layer: u16,
    pub triangles: Vec<[[f32; 3]; 3]>,
}
