//! The textures of the ship, by formulas: plates and rivets of the hull, planks of the deck, panels of the houses.

use super::cruiser::Skin;
use crate::dds::painted;

/// The side of a texture.
const SIDE: u32 = 256;

/// A point of a surface.
#[derive(Debug, Clone, Copy)]
struct Surface {
    colour: [i32; 3],
    height: i32,
    gloss: i32,
    metal: i32,
}

/// A number from 0 to 255 that looks random, the same for the same place.
fn noise(x: u32, y: u32) -> i32 {
    let mut bits = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    bits = (bits ^ bits >> 15).wrapping_mul(0x2C1B_3C6D);
    bits = (bits ^ bits >> 12).wrapping_mul(0x297A_2D39);
    ((bits ^ bits >> 15) & 0xFF) as i32
}

/// Noise that changes over `cell` texels.
fn cloud(x: u32, y: u32, cell: u32) -> i32 {
    let at = |dx: u32, dy: u32| noise((x / cell + dx) % (SIDE / cell), (y / cell + dy) % (SIDE / cell));
    let (fx, fy, cell) = ((x % cell) as i32, (y % cell) as i32, cell as i32);
    let along = |dy: u32| (at(0, dy) * (cell - fx) + at(1, dy) * fx) / cell;
    (along(0) * (cell - fy) + along(1) * fy) / cell
}

fn surface(skin: Skin, x: u32, y: u32) -> Surface {
    let dirt = (cloud(x, y, 64) + cloud(x, y, 16) - 255) / 24;
    let grain = (noise(x, y) - 128) / 40;
    // Seams of plates, `wide` by `high` texels, each row of them shifted by half of one, and rivets beside the seams.
    let plates = |wide: u32, high: u32| {
        let shifted = x + y / high % 2 * (wide / 2);
        let (column, row) = (shifted % wide, y % high);
        let is_seam = column == 0 || row == 0;
        let is_rivet =
            (row == 4 || row == high - 4) && column % 8 < 2 || (column == 4 || column == wide - 4) && row % 8 < 2;
        (is_seam, is_rivet, (noise(shifted / wide, y / high + 77) - 128) / 24)
    };
    let plain = |colour: [i32; 3], (is_seam, is_rivet, tone): (bool, bool, i32), gloss: i32, metal: i32| {
        let light = tone + dirt + grain - if is_seam { 26 } else { 0 } + if is_rivet { 10 } else { 0 };
        let height = if is_seam {
            -5
        } else if is_rivet {
            3
        } else {
            0
        };
        Surface { colour: colour.map(|c| c + light), height, gloss: gloss + dirt, metal }
    };
    match skin {
        Skin::Hull => {
            // The waterline is at ten sixteenths; above it are two rows of portholes.
            let seams = plates(128, 32);
            if y >= 164 {
                return plain([112, 48, 42], seams, 70, 20);
            }
            if y >= 154 {
                return plain([34, 36, 40], (false, false, 0), 80, 10);
            }
            let rows = [78, 112].into_iter().find(|row| y.abs_diff(*row) < 5);
            let from = rows.map(|row| (x % 32).abs_diff(16).pow(2) + y.abs_diff(row).pow(2));
            match from {
                Some(0..8) => Surface { colour: [26, 30, 36], height: -4, gloss: 200, metal: 0 },
                Some(8..17) => Surface { colour: [150, 156, 160], height: 4, gloss: 120, metal: 60 },
                _ => {
                    // Rust below some of the portholes.
                    let rust = noise(x / 2, 9) > 225 && y > 84 && (y - 84) as i32 * 4 < noise(x / 2, 5) * 2;
                    let colour = if rust { [124, 114, 106] } else { [118, 128, 136] };
                    plain(colour, seams, 92, 30)
                }
            }
        }
        Skin::Deck => {
            let (plank, along) = (x / 16, y + noise(x / 16, 3) as u32);
            let is_seam = x.is_multiple_of(16) || along.is_multiple_of(128);
            let tone = (noise(plank, along / 128 + 11) - 128) / 8 + (cloud(x, y / 8 * 8, 8) - 128) / 16;
            let colour = [164, 134, 98].map(|c| c + tone + dirt + grain - if is_seam { 66 } else { 0 });
            Surface { colour, height: if is_seam { -4 } else { 0 }, gloss: 46 + tone / 2, metal: 0 }
        }
        Skin::House => plain([146, 154, 160], plates(128, 64), 88, 30),
        Skin::Gun => plain([126, 134, 140], plates(128, 128), 110, 60),
        Skin::Glass => {
            let is_frame = x % 64 < 6;
            let colour = if is_frame { [70, 76, 82] } else { [24, 32, 42] };
            Surface { colour, height: if is_frame { 6 } else { 0 }, gloss: if is_frame { 80 } else { 225 }, metal: 0 }
        }
    }
}

fn byte(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}

/// The colours.
pub fn albedo(skin: Skin) -> Vec<u8> {
    painted(SIDE, |[x, y]| surface(skin, x, y).colour.map(byte))
}

/// The colours of a mod: another grey, a little blue.
pub fn repainted(skin: Skin) -> Vec<u8> {
    painted(SIDE, |[x, y]| {
        let [r, g, b] = surface(skin, x, y).colour;
        [r * 2 / 3, g * 3 / 4, b].map(byte)
    })
}

/// The normals: red along a row, green up. Blue is a mask.
pub fn normals(skin: Skin) -> Vec<u8> {
    painted(SIDE, |[x, y]| {
        let height = |x: u32, y: u32| surface(skin, x % SIDE, y % SIDE).height;
        let across = height(x + SIDE - 1, y) - height(x + 1, y);
        let up = height(x, y + 1) - height(x, y + SIDE - 1);
        [byte(128 + 9 * across), byte(128 + 9 * up), 0]
    })
}

/// Gloss in red, metal in green.
pub fn metal_gloss(skin: Skin) -> Vec<u8> {
    painted(SIDE / 2, |[x, y]| {
        let Surface { gloss, metal, .. } = surface(skin, 2 * x, 2 * y);
        [byte(gloss), byte(metal), 0]
    })
}

/// A pattern of splinters in black, red, green and blue, which stand for the colours of a scheme.
pub fn splinters() -> Vec<u8> {
    painted(64, |[x, y]| {
        let [x, y] = [x as i32, y as i32];
        let sides = [x + 2 * y > 96, 2 * x - y > 40, x - 3 * y > -60];
        match sides {
            [true, true, _] => [0, 0, 255],
            [true, false, _] => [0, 255, 0],
            [false, _, true] => [255, 0, 0],
            [false, _, false] => [0, 0, 0],
        }
    })
}
