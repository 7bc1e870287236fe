//! The cruiser *Aurora* as data: stations of a hull, blocks, tubes and mounts, in metres.
//! The bow is at positive z, starboard at positive x, and the waterline at y = 0.

use super::shape::{Mesh, Point, Prism, UNIT, add, circle, scale};
use crate::geometry::PlateShape;

/// The materials of the ship: what they are called, and how far a texture of each reaches, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skin {
    Hull,
    Deck,
    House,
    Glass,
    Gun,
}

impl Skin {
    pub const ALL: [Self; 5] = [Self::Hull, Self::Deck, Self::House, Self::Glass, Self::Gun];

    /// The name of its material's file. The names of the game decide what a camouflage paints.
    pub fn material(self) -> &'static str {
        ["ship_Hull", "ship_Deck", "ship_DeckHouse", "ship_Glass", "XGM101_Gun"][self as usize]
    }

    /// The name of the part of the ship.
    pub fn part(self) -> &'static str {
        ["Hull", "Deck", "DeckHouse", "Glass", "Gun"][self as usize]
    }

    /// The name of its material in render sets.
    pub fn shader(self) -> String {
        format!("SHIPMAT_PBS_{}", self.part())
    }

    /// The beginning of the names of its textures.
    pub fn texture(self) -> &'static str {
        ["hull", "deck", "house", "glass", "gun"][self as usize]
    }

    fn tile(self) -> f32 {
        [16.0, 4.0, 8.0, 4.0, 6.0][self as usize]
    }
}

/// A part of the hull, which the game keeps in a visual of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Bow,
    Midship,
    Stern,
}

impl Section {
    pub const ALL: [Self; 3] = [Self::Bow, Self::Midship, Self::Stern];

    /// Where it begins and ends.
    fn reach(self) -> [f32; 2] {
        [[48.0, 96.0], [-52.0, 48.0], [-96.0, -52.0]][self as usize]
    }

    fn at(z: f32) -> Self {
        Self::ALL.into_iter().find(|section| z >= section.reach()[0]).unwrap_or(Self::Stern)
    }
}

/// A station of the hull: its z, the half widths at the keel, the bilge, the waterline and the deck, the heights of keel and
/// deck, and how far its top leans forward.
const STATIONS: [[f32; 8]; 17] = [
    [-93.0, 0.1, 0.5, 1.4, 2.8, 0.4, 6.6, -1.2],
    [-91.0, 0.1, 0.8, 2.8, 4.3, -0.6, 6.5, -0.8],
    [-85.0, 0.2, 1.6, 5.2, 6.3, -2.6, 6.4, 0.0],
    [-75.0, 0.3, 3.2, 7.2, 7.8, -4.6, 6.4, 0.0],
    [-64.0, 0.8, 5.2, 8.5, 8.7, -5.6, 6.3, 0.0],
    [-52.0, 2.2, 7.1, 9.2, 9.2, -6.0, 6.3, 0.0],
    [-36.0, 4.0, 8.4, 9.7, 9.6, -6.0, 6.3, 0.0],
    [-18.0, 5.2, 9.0, 9.9, 9.7, -6.0, 6.3, 0.0],
    [0.0, 5.4, 9.1, 9.9, 9.7, -6.0, 6.4, 0.0],
    [18.0, 4.8, 8.7, 9.8, 9.7, -6.0, 6.5, 0.0],
    [34.0, 3.6, 7.4, 9.0, 9.4, -6.0, 6.7, 0.0],
    [48.0, 2.2, 5.6, 7.6, 8.8, -6.0, 7.0, 0.1],
    [62.0, 1.0, 3.5, 5.5, 7.7, -6.0, 7.6, 0.5],
    [74.0, 0.4, 1.8, 3.4, 6.1, -6.0, 8.2, 1.2],
    [84.0, 0.15, 0.7, 1.6, 4.0, -5.8, 8.8, 2.2],
    [90.0, 0.1, 0.25, 0.6, 2.1, -4.8, 9.2, 3.2],
    [92.0, 0.06, 0.1, 0.15, 0.9, -3.6, 9.4, 3.8],
];

/// A smooth curve through four points, between the middle two; they are `gaps` apart.
fn curve(p: [f32; 4], gaps: [f32; 3], t: f32) -> f32 {
    let slope = |i: usize| {
        if gaps[i - 1] + gaps[i] > 0.0 { (p[i + 1] - p[i - 1]) / (gaps[i - 1] + gaps[i]) * gaps[1] } else { 0.0 }
    };
    let (from, to) = (slope(1), slope(2));
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * p[1] + (t3 - 2.0 * t2 + t) * from + (3.0 * t2 - 2.0 * t3) * p[2] + (t3 - t2) * to
}

/// Steps between two stations, and between two lines of a station, for each level of detail.
const STEPS: [usize; 3] = [3, 2, 1];
/// The steps between lines of plates of armour, which have one step between stations.
const PLATES: usize = 2;

/// The hull's frames from stern to bow, each from the keel to the deck, at starboard.
fn frames(steps: usize, rows: usize) -> Vec<Vec<Point>> {
    let last = STATIONS.len() - 1;
    let mut all = Vec::new();
    for (n, step) in (0..last).flat_map(|n| (0..steps).map(move |step| (n, step))).chain([(last - 1, steps)]) {
        let around = [n.saturating_sub(1), n, n + 1, (n + 2).min(last)].map(|n| STATIONS[n]);
        let gaps = [0, 1, 2].map(|i| around[i + 1][0] - around[i][0]);
        let t = step as f32 / steps as f32;
        let [_, keel, bilge, water, deck, low, high, lean] =
            std::array::from_fn(|i| curve(around.map(|station| station[i]), gaps, t));
        let z = around[1][0] + t * gaps[1];
        let afloat = (low + 0.8).max(0.0);
        let lines = [[keel, low], [bilge, low + (afloat - low) * 0.4], [water, afloat], [deck, high]];
        let mut points = vec![[0.0, low, z]];
        for (line, step) in (0..3).flat_map(|line| (0..rows).map(move |step| (line, step))).chain([(2, rows)]) {
            let around = [line.max(1) - 1, line, line + 1, (line + 2).min(3)].map(|line| lines[line]);
            let gaps = [f32::from(u8::from(line > 0)), 1.0, f32::from(u8::from(line < 2))];
            let t = step as f32 / rows as f32;
            let [x, y] = [0, 1].map(|axis| curve(around.map(|point| point[axis]), gaps, t));
            let up = ((y - low) / (high - low)).max(0.0);
            points.push([x.max(0.03), y, z + lean * up]);
        }
        all.push(points);
    }
    all
}

/// The frames of a section.
fn of_section(frames: &[Vec<Point>], section: Section) -> Vec<Vec<Point>> {
    let [from, to] = section.reach();
    let keel = |frame: &&Vec<Point>| frame[0][2] >= from - 0.01 && frame[0][2] <= to + 0.01;
    frames.iter().filter(keel).cloned().collect()
}

/// Both sides of the hull, as a skin, and the deck.
fn hull(section: Section, detail: usize) -> [Mesh; 2] {
    let frames = of_section(&frames(STEPS[detail], STEPS[detail]), section);
    let mut side = Mesh::default();
    side.skin(&frames, |[_, y, z]| [z / Skin::Hull.tile(), (10.0 - y) / Skin::Hull.tile()]);
    side.join(&side.mirrored());
    let ends = [(Section::Stern, frames.first(), true), (Section::Bow, frames.last(), false)];
    for (_, frame, is_stern) in ends.into_iter().filter(|(of, ..)| *of == section) {
        let frame = frame.expect("a section has frames");
        for pair in frame[1..].windows(2) {
            let [low, high] = [pair[0], pair[1]];
            let mut corners = [low, high, [-high[0], high[1], high[2]], [-low[0], low[1], low[2]]];
            if !is_stern {
                corners.reverse();
            }
            side.flat(&corners, Skin::Hull.tile());
        }
    }
    let edge: Vec<Point> = frames.iter().map(|frame| frame[frame.len() - 1]).collect();
    let rows = edge.iter().map(|[x, y, z]| {
        [-1.0, -0.5, 0.0, 0.5, 1.0].map(|part: f32| [-x * part, y + 0.12 * (1.0 - part * part), *z]).to_vec()
    });
    let mut deck = Mesh::default();
    deck.skin(&rows.collect::<Vec<_>>(), |[x, _, z]| [x / Skin::Deck.tile(), z / Skin::Deck.tile()]);
    [side, deck]
}

/// The plan of a block.
#[derive(Debug, Clone, Copy)]
pub enum Plan {
    /// A box with cut corners.
    Box,
    /// A box whose front is half of a circle.
    Bridge,
    /// A circle of sixteen sides, or an ellipse.
    Round,
    /// Pointed at both ends.
    Boat,
    /// The house of a turret: narrow in front.
    Turret,
}

impl Plan {
    fn corners(self, size: Point, detail: usize) -> Vec<[f32; 2]> {
        match self {
            Self::Box => {
                let cut = |side: f32| if detail == 0 { 0.5 - (0.35 / side).min(0.2) } else { 0.5 };
                let [x, z] = [cut(size[0]), cut(size[2])];
                let corners = [[0.5, -z], [0.5, z], [x, 0.5], [-x, 0.5], [-0.5, z], [-0.5, -z], [-x, -0.5], [x, -0.5]];
                if detail == 0 { corners.to_vec() } else { vec![[0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]] }
            }
            Self::Bridge => {
                let front = circle(16).into_iter().filter(|[_, z]| *z > -1e-6).map(|[x, z]| [x * 0.5, z * 0.5]);
                front.chain([[-0.5, -0.5], [0.5, -0.5]]).collect()
            }
            Self::Round => circle(if size[0] < 4.5 { [12, 8, 4] } else { [16, 8, 6] }[detail])
                .into_iter()
                .map(|point| point.map(|c| c * 0.5))
                .collect(),
            Self::Boat => vec![
                [0.5, -0.25],
                [0.5, 0.15],
                [0.3, 0.38],
                [0.0, 0.5],
                [-0.3, 0.38],
                [-0.5, 0.15],
                [-0.5, -0.25],
                [-0.25, -0.5],
                [0.25, -0.5],
            ],
            Self::Turret => vec![
                [0.5, -0.3],
                [0.5, 0.12],
                [0.34, 0.5],
                [-0.34, 0.5],
                [-0.5, 0.12],
                [-0.5, -0.3],
                [-0.36, -0.5],
                [0.36, -0.5],
            ],
        }
    }
}

/// A piece of the ship: its material and its shape; `both` is a piece at starboard and its mirror image at port.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    skin: Skin,
    both: bool,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A plan, the middle of its bottom, its width, height and length, how narrow it is at the top, how far the top leans
    /// forward, and its bevel.
    Block(Plan, Point, Point, f32, f32, f32),
    /// From one point to another, with both radii.
    Tube(Point, Point, [f32; 2]),
}
use Plan::{Boat, Box as Boxed, Bridge, Round, Turret};
use Shape::{Block, Tube};

const fn one(skin: Skin, shape: Shape) -> Piece {
    Piece { skin, both: false, shape }
}

const fn two(skin: Skin, shape: Shape) -> Piece {
    Piece { skin, both: true, shape }
}

const fn house(plan: Plan, at: Point, size: Point) -> Piece {
    one(Skin::House, Block(plan, at, size, 1.0, 0.0, 0.25))
}

/// Everything on the deck that does not turn.
const PIECES: &[Piece] = &[
    // The long deckhouse, and the houses below the superfiring turrets.
    house(Boxed, [0.0, 6.3, 4.0], [12.4, 2.7, 66.0]),
    house(Bridge, [0.0, 6.5, 41.0], [11.0, 2.6, 17.0]),
    house(Boxed, [0.0, 6.2, -36.0], [10.4, 2.8, 18.0]),
    // The bridge, floor upon floor.
    house(Bridge, [0.0, 9.0, 27.0], [10.4, 2.8, 17.0]),
    house(Bridge, [0.0, 11.8, 27.0], [9.2, 2.8, 14.0]),
    house(Bridge, [0.0, 14.6, 27.4], [8.2, 2.7, 11.0]),
    one(Skin::Glass, Block(Bridge, [0.0, 17.3, 27.6], [7.6, 1.1, 10.2], 1.0, 0.0, 0.0)),
    house(Bridge, [0.0, 18.4, 27.4], [8.8, 0.6, 11.6]),
    two(Skin::House, Block(Boxed, [5.4, 14.6, 27.0], [3.4, 1.2, 3.0], 1.0, 0.0, 0.15)),
    two(Skin::House, Block(Round, [3.4, 17.3, 22.0], [2.6, 1.5, 2.6], 0.8, 0.0, 0.1)),
    house(Round, [0.0, 19.0, 27.2], [5.6, 2.4, 5.6]),
    // Directors with their range-finders.
    house(Round, [0.0, 21.4, 27.2], [4.4, 2.2, 4.4]),
    one(Skin::House, Tube([-4.2, 22.6, 27.2], [4.2, 22.6, 27.2], [0.42, 0.42])),
    house(Round, [0.0, 12.2, -27.0], [4.6, 3.2, 4.6]),
    house(Round, [0.0, 15.4, -27.0], [3.9, 2.0, 3.9]),
    one(Skin::House, Tube([-3.6, 16.4, -27.0], [3.6, 16.4, -27.0], [0.36, 0.36])),
    // The tower aft, and platforms.
    house(Boxed, [0.0, 9.0, -26.0], [8.6, 3.2, 12.0]),
    house(Boxed, [0.0, 9.0, 3.0], [9.0, 2.4, 36.0]),
    // Funnels: their casings, shells, caps and pipes.
    house(Boxed, [0.0, 11.4, 9.0], [6.4, 1.6, 10.0]),
    one(Skin::House, Block(Round, [0.0, 13.0, 9.0], [5.2, 9.0, 8.2], 0.86, -1.3, 0.0)),
    one(Skin::Glass, Block(Round, [0.0, 22.0, 7.7], [4.7, 0.7, 7.3], 0.96, -0.1, 0.3)),
    one(Skin::House, Tube([0.0, 12.6, 13.6], [0.0, 22.4, 11.9], [0.3, 0.25])),
    house(Boxed, [0.0, 11.4, -9.0], [6.0, 1.4, 9.0]),
    one(Skin::House, Block(Round, [0.0, 12.8, -9.0], [4.8, 8.0, 7.4], 0.86, -1.2, 0.0)),
    one(Skin::Glass, Block(Round, [0.0, 20.8, -10.2], [4.3, 0.7, 6.6], 0.96, -0.1, 0.3)),
    one(Skin::House, Tube([0.0, 12.4, -4.9], [0.0, 21.0, -6.4], [0.28, 0.24])),
    // The foremast: three legs, a crow's nest, a topmast and yards.
    one(Skin::House, Tube([0.0, 9.0, 19.4], [0.0, 31.0, 18.4], [0.5, 0.32])),
    two(Skin::House, Tube([3.2, 11.0, 15.0], [0.3, 27.0, 18.4], [0.34, 0.24])),
    house(Round, [0.0, 26.4, 18.6], [3.2, 1.4, 3.2]),
    one(Skin::House, Tube([0.0, 31.0, 18.4], [0.0, 41.0, 18.0], [0.28, 0.08])),
    one(Skin::House, Tube([-7.0, 31.4, 18.4], [7.0, 31.4, 18.4], [0.13, 0.13])),
    one(Skin::House, Tube([-4.6, 35.0, 18.2], [4.6, 35.0, 18.2], [0.1, 0.1])),
    // The mainmast.
    one(Skin::House, Tube([0.0, 9.0, -18.0], [0.0, 26.0, -18.6], [0.44, 0.28])),
    two(Skin::House, Tube([2.8, 11.0, -21.6], [0.25, 22.0, -18.5], [0.3, 0.2])),
    one(Skin::House, Tube([0.0, 26.0, -18.6], [0.0, 35.0, -18.9], [0.24, 0.07])),
    one(Skin::House, Tube([-5.0, 27.0, -18.6], [5.0, 27.0, -18.6], [0.1, 0.1])),
    house(Round, [0.0, 22.0, -18.5], [2.6, 1.2, 2.6]),
    // Cranes, boats and their davits.
    two(Skin::House, Tube([5.4, 9.0, -17.0], [5.4, 14.6, -17.0], [0.4, 0.3])),
    two(Skin::House, Tube([5.4, 14.2, -17.0], [5.0, 16.8, -6.0], [0.26, 0.14])),
    two(Skin::Hull, Block(Boat, [5.3, 9.3, 6.6], [2.2, 1.1, 8.4], 1.25, 0.0, 0.0)),
    two(Skin::Hull, Block(Boat, [5.3, 9.3, -4.0], [2.2, 1.1, 8.4], 1.25, 0.0, 0.0)),
    two(Skin::House, Tube([6.0, 9.0, 3.4], [6.3, 12.0, 3.4], [0.12, 0.1])),
    two(Skin::House, Tube([6.0, 9.0, 9.6], [6.3, 12.0, 9.6], [0.12, 0.1])),
    two(Skin::House, Tube([6.0, 9.0, -7.0], [6.3, 12.0, -7.0], [0.12, 0.1])),
    // Searchlights.
    two(Skin::House, Block(Round, [2.9, 14.6, 1.0], [1.9, 2.0, 1.9], 0.9, 0.0, 0.1)),
    two(Skin::Glass, Tube([2.9, 17.0, 0.3], [2.9, 17.0, 1.7], [0.8, 0.8])),
    house(Boxed, [0.0, 11.4, 0.2], [8.6, 3.2, 3.6]),
    // Light guns in their tubs.
    two(Skin::House, Block(Round, [6.0, 11.8, 21.0], [3.4, 1.0, 3.4], 1.1, 0.0, 0.0)),
    two(Skin::Gun, Tube([5.7, 13.0, 21.0], [5.7, 15.0, 23.4], [0.12, 0.09])),
    two(Skin::Gun, Tube([6.3, 13.0, 21.0], [6.3, 15.0, 23.4], [0.12, 0.09])),
    two(Skin::House, Block(Round, [4.6, 12.2, -31.0], [3.2, 1.0, 3.2], 1.1, 0.0, 0.0)),
    two(Skin::Gun, Tube([4.3, 13.2, -31.0], [4.3, 15.0, -33.4], [0.12, 0.09])),
    two(Skin::Gun, Tube([4.9, 13.2, -31.0], [4.9, 15.0, -33.4], [0.12, 0.09])),
    // Breakwater, anchors, capstans, bollards and hatches on the decks.
    two(Skin::House, Block(Boxed, [2.9, 7.8, 70.0], [5.6, 1.1, 0.3], 1.0, 0.0, 0.0)),
    two(Skin::Gun, Block(Round, [1.6, 8.2, 78.0], [1.3, 0.9, 1.3], 0.8, 0.0, 0.1)),
    two(Skin::Gun, Tube([1.3, 8.5, 79.0], [2.6, 9.0, 88.0], [0.14, 0.14])),
    two(Skin::Gun, Block(Boxed, [3.9, 6.2, 86.0], [0.5, 1.8, 1.2], 1.0, 0.0, 0.1)),
    two(Skin::Gun, Block(Round, [5.4, 8.1, 75.0], [0.5, 0.7, 0.5], 1.0, 0.0, 0.1)),
    two(Skin::Gun, Block(Round, [6.6, 6.4, -76.0], [0.5, 0.7, 0.5], 1.0, 0.0, 0.1)),
    two(Skin::Gun, Block(Round, [8.4, 6.4, -44.0], [0.5, 0.7, 0.5], 1.0, 0.0, 0.1)),
    house(Boxed, [0.0, 6.4, -72.0], [3.0, 0.9, 3.6]),
    house(Boxed, [0.0, 6.4, -82.0], [2.2, 0.8, 2.6]),
    one(Skin::House, Tube([0.0, 6.5, -92.6], [0.0, 12.0, -93.6], [0.14, 0.06])),
    one(Skin::House, Tube([0.0, 9.3, 94.6], [0.0, 13.6, 95.0], [0.14, 0.06])),
    // Shafts, struts, screws and the rudder.
    two(Skin::Gun, Tube([3.4, -4.2, -58.0], [3.4, -4.4, -80.0], [0.35, 0.3])),
    two(Skin::Gun, Tube([3.4, -4.3, -77.0], [3.4, -2.4, -77.0], [0.25, 0.3])),
    two(Skin::Gun, Block(Boxed, [3.4, -6.3, -80.4], [0.8, 3.8, 0.3], 1.0, 0.0, 0.0)),
    two(Skin::Gun, Block(Boxed, [3.4, -4.8, -80.4], [3.8, 0.8, 0.3], 1.0, 0.0, 0.0)),
    one(Skin::Hull, Block(Boxed, [0.0, -5.4, -85.4], [0.5, 4.4, 4.6], 1.0, -0.4, 0.0)),
];

/// A kind of mount: the names of its model, its shapes around its own middle, and the axis of its barrels.
#[derive(Debug)]
pub struct Mount {
    /// The name of its files.
    pub name: &'static str,
    /// The folder that the game has for its kind.
    pub folder: &'static str,
    /// Pieces that only turn.
    house: &'static [Piece],
    /// Pieces that are also lifted.
    barrels: &'static [Piece],
    /// Where the barrels are hinged.
    pub axis: Point,
    /// The ends of the barrels.
    pub muzzles: &'static [Point],
    /// The plates: material, millimetres.
    pub armor: &'static [(u16, f64)],
}

/// Triple guns, twin guns, and torpedo tubes.
pub const MOUNTS: [Mount; 3] = [
    Mount {
        name: "XGM101_152mm_Triple",
        folder: "gun/main",
        house: &[
            one(Skin::Gun, Block(Round, [0.0, -0.6, 0.0], [6.6, 0.8, 6.6], 1.0, 0.0, 0.0)),
            one(Skin::Gun, Block(Turret, [0.0, 0.2, -0.4], [7.2, 2.5, 9.4], 0.86, -0.5, 0.22)),
            two(Skin::Gun, Block(Boxed, [3.2, 1.4, -2.2], [1.2, 0.9, 1.5], 1.0, 0.0, 0.15)),
            two(Skin::Gun, Block(Round, [1.7, 2.6, -1.4], [1.0, 0.45, 1.0], 0.8, 0.0, 0.1)),
        ],
        barrels: &[
            one(Skin::Gun, Tube([0.0, 1.5, 3.2], [0.0, 1.5, 4.6], [0.52, 0.36])),
            one(Skin::Gun, Tube([0.0, 1.5, 4.6], [0.0, 1.5, 11.4], [0.3, 0.2])),
            two(Skin::Gun, Tube([1.5, 1.5, 3.2], [1.5, 1.5, 4.6], [0.52, 0.36])),
            two(Skin::Gun, Tube([1.5, 1.5, 4.6], [1.5, 1.5, 11.4], [0.3, 0.2])),
        ],
        axis: [0.0, 1.5, 2.6],
        muzzles: &[[-1.5, 1.5, 11.4], [0.0, 1.5, 11.4], [1.5, 1.5, 11.4]],
        armor: &[(34, 102.0), (32, 51.0), (35, 51.0), (33, 51.0), (97, 76.0)],
    },
    Mount {
        name: "XGS102_100mm_Twin",
        folder: "gun/secondary",
        house: &[
            one(Skin::Gun, Block(Round, [0.0, 0.0, 0.0], [3.6, 0.5, 3.6], 1.0, 0.0, 0.0)),
            one(Skin::Gun, Block(Turret, [0.0, 0.5, -0.3], [3.5, 2.1, 4.4], 0.8, -0.3, 0.18)),
        ],
        barrels: &[two(Skin::Gun, Tube([0.6, 1.6, 1.2], [0.6, 1.6, 5.6], [0.2, 0.12]))],
        axis: [0.0, 1.6, 1.0],
        muzzles: &[[-0.6, 1.6, 5.6], [0.6, 1.6, 5.6]],
        armor: &[(34, 13.0), (32, 13.0), (35, 13.0), (33, 13.0)],
    },
    Mount {
        name: "XGT103_533mm_Triple",
        folder: "gun/torpedo",
        house: &[
            one(Skin::Gun, Block(Round, [0.0, 0.0, 0.0], [2.4, 0.7, 2.4], 0.9, 0.0, 0.0)),
            one(Skin::Gun, Tube([0.0, 1.1, -4.0], [0.0, 1.1, 4.2], [0.36, 0.36])),
            two(Skin::Gun, Tube([0.85, 1.1, -4.0], [0.85, 1.1, 4.2], [0.36, 0.36])),
            one(Skin::Gun, Block(Boxed, [0.0, 1.3, -0.6], [2.0, 1.2, 1.8], 0.8, 0.0, 0.15)),
        ],
        barrels: &[],
        axis: [0.0, 1.1, 0.0],
        muzzles: &[[-0.85, 1.1, 4.2], [0.0, 1.1, 4.2], [0.85, 1.1, 4.2]],
        armor: &[],
    },
];

/// Where a mount stands: its hard point, its kind, and whether it looks aft.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub node: &'static str,
    pub mount: usize,
    pub at: Point,
    pub aft: bool,
}

const fn place(node: &'static str, mount: usize, at: Point, aft: bool) -> Place {
    Place { node, mount, at, aft }
}

pub const PLACES: [Place; 10] = [
    place("HP_XGM_1", 0, [0.0, 8.2, 57.0], false),
    place("HP_XGM_2", 0, [0.0, 10.2, 43.0], false),
    place("HP_XGM_3", 0, [0.0, 10.0, -40.0], true),
    place("HP_XGM_4", 0, [0.0, 7.0, -55.0], true),
    place("HP_XGS_1", 1, [4.9, 11.4, 14.6], false),
    place("HP_XGS_2", 1, [-4.9, 11.4, 14.6], false),
    place("HP_XGS_3", 1, [4.5, 11.4, -13.0], true),
    place("HP_XGS_4", 1, [-4.5, 11.4, -13.0], true),
    place("HP_XGT_1", 2, [7.9, 6.4, -2.0], false),
    place("HP_XGT_2", 2, [-7.9, 6.4, -2.0], false),
];

/// The tubes of armour below the main turrets, from the citadel up: where they stand, and how high they reach.
const BARBETTES: [(f32, f32); 4] = [(57.0, 8.0), (43.0, 9.8), (-40.0, 9.6), (-55.0, 6.8)];

fn shape_of(piece: &Piece, detail: usize) -> Option<Mesh> {
    let mut mesh = Mesh::default();
    let smallest = [0.0, 2.5, 6.0][detail];
    match piece.shape {
        Block(plan, at, size, taper, lean, bevel) => {
            let bevel = if detail == 0 { bevel } else { 0.0 };
            if size.iter().fold(0.0f32, |most, side| most.max(*side)) < smallest {
                return None;
            }
            mesh.prism(&Prism { plan: &plan.corners(size, detail), at, size, taper, lean, bevel }, piece.skin.tile());
        }
        Tube(from, to, radii) => {
            let long = super::shape::sub(to, from).iter().fold(0.0f32, |most, side| most.max(side.abs()));
            if long < smallest {
                return None;
            }
            let sides = if radii[0] > 0.25 { [12, 6, 4][detail] } else { [6, 4, 4][detail] };
            mesh.tube(&[(from, radii[0]), (to, radii[1])], sides, piece.skin.tile());
        }
    }
    if piece.both {
        mesh.join(&mesh.mirrored());
    }
    Some(mesh)
}

/// Where a piece is along the ship.
fn middle(piece: &Piece) -> f32 {
    match piece.shape {
        Block(_, at, ..) => at[2],
        Tube(from, ..) => from[2],
    }
}

/// A ship: its name, its folder, and its size as factors of the *Aurora*.
#[derive(Debug)]
pub struct Sister {
    pub name: &'static str,
    pub folder: &'static str,
    pub size: Point,
    /// The hard points that she has.
    pub mounts: &'static [usize],
    /// The level of detail of the *Aurora* that her finest one is.
    pub detail: usize,
}

impl Sister {
    /// The path of her model without its ending. The one of the *Aurora* has the name of the mod beside the game.
    pub fn path(&self) -> String {
        let name = if self.detail == 0 { "ship" } else { &self.name[1..] };
        format!("{}/{name}", self.folder)
    }

    /// A place on the *Aurora* as a place on this ship.
    pub fn sized(&self, place: Point) -> Point {
        std::array::from_fn(|axis| place[axis] * self.size[axis])
    }
}

/// The ships: the *Aurora* as she is, and others that are larger or smaller.
pub const FLEET: [Sister; 4] = [
    Sister {
        name: "PXSC501_Aurora_1942",
        folder: "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942",
        size: [1.0; 3],
        mounts: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        detail: 0,
    },
    Sister {
        name: "PXSC502_Borealis_1944",
        folder: "content/gameplay/common/ship/cruiser/XSC502_Borealis_1944",
        size: [1.04, 1.0, 1.06],
        mounts: &[0, 1, 2, 3, 4, 5, 6, 7],
        detail: 1,
    },
    Sister {
        name: "PJSD511_Hoshikaze",
        folder: "content/gameplay/japan/ship/destroyer/JSD511_Hoshikaze",
        size: [0.56, 0.66, 0.6],
        mounts: &[0, 2, 8, 9],
        detail: 1,
    },
    Sister {
        name: "PGSB521_Nordmark_1939",
        folder: "content/gameplay/germany/ship/battleship/GSB521_Nordmark_1939",
        size: [1.6, 1.35, 1.28],
        mounts: &[0, 1, 2, 3, 4, 5, 6, 7],
        detail: 1,
    },
];

/// Shells, a torpedo, an aircraft, islands, a lighthouse and a buoy: their paths without an ending, and their pieces.
pub const PROPS: [(&str, &[Piece]); 8] = [
    (
        "content/gameplay/common/projectile/CPA101_Shell_152mm/CPA101_Shell_152mm",
        &[
            one(Skin::Gun, Tube([0.0, 0.0, -0.3], [0.0, 0.0, 0.1], [0.076, 0.076])),
            one(Skin::Gun, Tube([0.0, 0.0, 0.1], [0.0, 0.0, 0.4], [0.076, 0.01])),
        ],
    ),
    (
        "content/gameplay/common/projectile/CPA102_Shell_100mm/CPA102_Shell_100mm",
        &[
            one(Skin::Gun, Tube([0.0, 0.0, -0.2], [0.0, 0.0, 0.08], [0.05, 0.05])),
            one(Skin::Gun, Tube([0.0, 0.0, 0.08], [0.0, 0.0, 0.26], [0.05, 0.008])),
        ],
    ),
    (
        "content/gameplay/common/projectile/CPT103_Torpedo_533mm/CPT103_Torpedo_533mm",
        &[
            one(Skin::Gun, Tube([0.0, 0.0, -3.2], [0.0, 0.0, 3.1], [0.266, 0.266])),
            one(Skin::Gun, Tube([0.0, 0.0, 3.1], [0.0, 0.0, 3.6], [0.266, 0.1])),
            one(Skin::Gun, Block(Boxed, [0.0, -0.45, -3.4], [0.05, 0.9, 0.5], 1.0, 0.0, 0.0)),
            one(Skin::Gun, Block(Boxed, [0.0, -0.03, -3.4], [0.9, 0.06, 0.5], 1.0, 0.0, 0.0)),
        ],
    ),
    (
        "content/gameplay/common/aircraft/scout/CAS104_Kittiwake/CAS104_Kittiwake",
        &[
            one(Skin::House, Tube([0.0, 1.9, -4.6], [0.0, 2.0, 3.2], [0.22, 0.6])),
            one(Skin::House, Tube([0.0, 2.0, 3.2], [0.0, 2.0, 4.0], [0.6, 0.4])),
            one(Skin::House, Block(Boxed, [0.0, 1.7, 1.3], [12.6, 0.16, 1.9], 1.0, 0.0, 0.0)),
            one(Skin::House, Block(Boxed, [0.0, 3.2, 1.5], [12.6, 0.16, 1.9], 1.0, 0.0, 0.0)),
            one(Skin::House, Block(Boxed, [0.0, 1.9, -4.2], [4.2, 0.12, 1.1], 1.0, 0.0, 0.0)),
            one(Skin::House, Block(Boxed, [0.0, 1.9, -4.4], [0.12, 1.5, 1.2], 0.7, -0.3, 0.0)),
            two(Skin::House, Tube([4.4, 1.8, 1.4], [4.4, 3.2, 1.5], [0.06, 0.06])),
            two(Skin::House, Tube([1.3, 0.4, -2.0], [1.3, 0.5, 3.4], [0.2, 0.34])),
            two(Skin::House, Tube([1.3, 0.6, 1.0], [0.6, 1.8, 1.2], [0.07, 0.07])),
            one(Skin::Glass, Block(Boxed, [0.0, 2.3, 0.4], [0.7, 0.5, 1.6], 0.7, 0.0, 0.05)),
        ],
    ),
    (
        "content/location/harbour/island_north/island_north",
        &[
            one(Skin::Deck, Block(Round, [0.0, -12.0, 0.0], [420.0, 22.0, 260.0], 0.72, 0.0, 3.0)),
            one(Skin::Deck, Block(Round, [40.0, 8.0, 20.0], [220.0, 46.0, 150.0], 0.4, 14.0, 6.0)),
            one(Skin::Deck, Block(Round, [-90.0, 8.0, -10.0], [130.0, 22.0, 90.0], 0.5, 0.0, 3.0)),
        ],
    ),
    (
        "content/location/harbour/island_south/island_south",
        &[
            one(Skin::Deck, Block(Round, [0.0, -12.0, 0.0], [260.0, 18.0, 300.0], 0.7, 0.0, 2.0)),
            one(Skin::Deck, Block(Round, [10.0, 5.0, 30.0], [120.0, 30.0, 150.0], 0.4, -9.0, 4.0)),
        ],
    ),
    (
        "content/location/harbour/lighthouse/lighthouse",
        &[
            one(Skin::House, Block(Boxed, [0.0, 0.0, 0.0], [12.0, 4.0, 12.0], 0.9, 0.0, 0.4)),
            one(Skin::House, Block(Round, [0.0, 4.0, 0.0], [7.0, 22.0, 7.0], 0.62, 0.0, 0.0)),
            one(Skin::House, Block(Round, [0.0, 26.0, 0.0], [6.6, 0.6, 6.6], 1.0, 0.0, 0.0)),
            one(Skin::Glass, Block(Round, [0.0, 26.6, 0.0], [3.2, 3.0, 3.2], 1.0, 0.0, 0.0)),
            one(Skin::Hull, Block(Round, [0.0, 29.6, 0.0], [4.2, 1.8, 4.2], 0.1, 0.0, 0.0)),
        ],
    ),
    (
        "content/location/harbour/buoy/buoy",
        &[
            one(Skin::Hull, Block(Round, [0.0, -0.8, 0.0], [2.6, 1.6, 2.6], 0.9, 0.0, 0.2)),
            one(Skin::Gun, Block(Round, [0.0, 0.8, 0.0], [1.6, 3.4, 1.6], 0.2, 0.0, 0.0)),
            one(Skin::Glass, Block(Round, [0.0, 4.2, 0.0], [0.5, 0.5, 0.5], 0.8, 0.0, 0.0)),
        ],
    ),
];

/// The mesh of each material of these pieces.
pub fn meshes_of(pieces: &[Piece], detail: usize) -> Vec<(Skin, Mesh)> {
    let mut all: Vec<(Skin, Mesh)> = Vec::new();
    for piece in pieces {
        let Some(mesh) = shape_of(piece, detail) else { continue };
        match all.iter_mut().find(|(skin, _)| *skin == piece.skin) {
            Some((_, known)) => known.join(&mesh),
            None => all.push((piece.skin, mesh)),
        }
    }
    all
}

/// The mesh of each material of a section.
pub fn section(section: Section, detail: usize) -> Vec<(Skin, Mesh)> {
    let [side, deck] = hull(section, detail);
    let here = PIECES.iter().filter(|piece| Section::at(middle(piece)) == section);
    let mut barbettes = Vec::new();
    for (z, high) in BARBETTES.into_iter().filter(|(z, _)| Section::at(*z) == section) {
        let low = 6.0;
        barbettes.push(one(Skin::House, Block(Round, [0.0, low, z], [7.0, high - low, 7.0], 1.0, 0.0, 0.0)));
    }
    let pieces: Vec<Piece> = here.chain(&barbettes).copied().collect();
    let mut all = meshes_of(&pieces, detail);
    for (of, mesh) in [(Skin::Hull, side), (Skin::Deck, deck)] {
        match all.iter_mut().find(|(skin, _)| *skin == of) {
            Some((_, known)) => known.join(&mesh),
            None => all.push((of, mesh)),
        }
    }
    all.sort_by_key(|(skin, _)| *skin);
    all
}

impl Mount {
    /// The mesh that only turns, and the mesh that is also lifted.
    pub fn meshes(&self, detail: usize) -> [Mesh; 2] {
        [self.house, self.barrels].map(|pieces| {
            let mut mesh = Mesh::default();
            pieces.iter().filter_map(|piece| shape_of(piece, detail)).for_each(|piece| mesh.join(&piece));
            mesh
        })
    }

    /// Its plates: front, sides, back, roof, and the tube below.
    pub fn plates(&self) -> Vec<PlateShape> {
        let Some(Block(plan, at, size, taper, lean, _)) =
            self.house.iter().map(|piece| piece.shape).find(|shape| matches!(shape, Block(Turret, ..)))
        else {
            return Vec::new();
        };
        let mut house = Mesh::default();
        house.prism(&Prism { plan: &plan.corners(size, 0), at, size, taper, lean, bevel: 0.0 }, 1.0);
        let mut plates: Vec<PlateShape> = Vec::new();
        for triangle in house.triangles() {
            let [a, b, c] = triangle;
            let n = super::shape::normal(&[a, c, b]);
            let material = if n[1] > 0.9 {
                33
            } else if n[2] > 0.7 {
                34
            } else if n[2] < -0.7 {
                35
            } else {
                32
            };
            push(&mut plates, material, 1, [triangle]);
        }
        if self.armor.iter().any(|(material, _)| *material == 97) {
            let mut tube = Mesh::default();
            tube.prism(
                &Prism {
                    plan: &circle(12),
                    at: [0.0, -1.4, 0.0],
                    size: [3.4, 1.6, 3.4],
                    taper: 1.0,
                    lean: 0.0,
                    bevel: 0.0,
                },
                1.0,
            );
            let walls = tube.triangles().into_iter().filter(|[a, b, c]| super::shape::normal(&[*a, *c, *b])[1] < 0.5);
            push(&mut plates, 97, 1, walls);
        }
        plates
    }
}

fn push(plates: &mut Vec<PlateShape>, material: u16, layer: u16, triangles: impl IntoIterator<Item = [Point; 3]>) {
    match plates.iter_mut().find(|plate| (plate.material, plate.layer) == (material, layer)) {
        Some(plate) => plate.triangles.extend(triangles),
        None => plates.push(PlateShape { material, layer, triangles: triangles.into_iter().collect() }),
    }
}

/// The armour of the hull: layer, material, and millimetres.
pub const ARMOR: [(u16, u16, f64); 24] = [
    (1, 36, 8.0),
    (1, 47, 16.0),
    (1, 48, 16.0),
    (1, 49, 16.0),
    (1, 51, 25.0),
    (1, 59, 76.0),
    (1, 60, 102.0),
    (1, 61, 102.0),
    (1, 62, 13.0),
    (1, 64, 51.0),
    (1, 65, 89.0),
    (1, 67, 51.0),
    (1, 82, 16.0),
    (1, 86, 25.0),
    (1, 87, 25.0),
    (1, 89, 10.0),
    (1, 90, 10.0),
    (1, 92, 16.0),
    (1, 93, 16.0),
    (1, 94, 16.0),
    (1, 96, 25.0),
    (1, 107, 25.0),
    (1, 108, 51.0),
    (2, 64, 13.0),
];

/// The ends of the citadel.
const CITADEL: [f32; 2] = [-48.0, 50.0];

/// The plates of the hull, and with `turrets` the plates of the mounts in their places.
pub fn plates(turrets: bool) -> Vec<PlateShape> {
    let frames = frames(1, PLATES);
    let lines = frames[0].len();
    let mut plates = Vec::new();
    let near = |z: f32| frames.iter().position(|frame| frame[0][2] >= z - 1.0).unwrap_or(0);
    let [aft, fore] = CITADEL.map(near);
    let [bilge, water, deck] = [1 + PLATES, 1 + 2 * PLATES, lines - 1];
    let skin = |rows: &[Vec<Point>]| {
        let mut side = Mesh::default();
        side.skin(rows, |_| [0.0; 2]);
        side.join(&side.mirrored());
        side.triangles()
    };
    let strake = |from: usize, to: usize, low: usize, high: usize, inset: f32| {
        let rows = frames[from..=to]
            .iter()
            .map(|frame| frame[low..=high].iter().map(|p| [p[0] * inset, p[1], p[2]]).collect());
        skin(&rows.collect::<Vec<Vec<Point>>>())
    };
    let across = |from: usize, to: usize, line: usize, y: f32| {
        let rows = frames[from..=to].iter().map(|frame| {
            let [x, high, z] = frame[line];
            [-1.0, 0.0, 1.0].map(|side| [-side * x * 0.98, high + y, z]).to_vec()
        });
        let mut mesh = Mesh::default();
        mesh.skin(&rows.collect::<Vec<_>>(), |_| [0.0; 2]);
        mesh.triangles()
    };
    let end = frames.len() - 1;
    for (from, to, [bottom, side, top]) in
        [(0, aft, [92, 93, 94]), (aft, fore, [62, 86, 87]), (fore, end, [47, 48, 49])]
    {
        push(&mut plates, bottom, 1, strake(from, to, 0, bilge, 1.0));
        if bottom == 62 {
            push(&mut plates, 61, 1, strake(from, to, bilge, water + 1, 1.0));
            push(&mut plates, side, 1, strake(from, to, water + 1, deck, 1.0));
            push(&mut plates, 64, 1, across(from, to, water + 1, 0.0));
            push(&mut plates, 64, 2, across(from, to, water, -1.6));
            push(&mut plates, 67, 1, strake(from, to, 1, water, 0.72));
        } else {
            push(&mut plates, side, 1, strake(from, to, bilge, deck, 1.0));
        }
        push(&mut plates, top, 1, across(from, to, deck, 0.0));
    }
    for (frame, material, forward) in
        [(aft, 59, false), (fore, 65, true), (near(-78.0), 96, false), (near(72.0), 51, true)]
    {
        let frame = &frames[frame][..=water + 1];
        let mut bulkhead = Mesh::default();
        for pair in frame.windows(2).filter(|pair| pair[1][0] > 0.0) {
            let [low, high] = [pair[0], pair[1]];
            let mut corners = vec![low, high, [-high[0], high[1], high[2]], [-low[0], low[1], low[2]]];
            if low[0] == 0.0 {
                corners.pop();
            }
            if forward {
                corners.reverse();
            }
            bulkhead.flat(&corners, 1.0);
        }
        push(&mut plates, material, 1, bulkhead.triangles());
    }
    for (z, high) in BARBETTES {
        let mut tube = Mesh::default();
        tube.prism(
            &Prism {
                plan: &circle(12),
                at: [0.0, 2.8, z],
                size: [3.4, high - 2.8, 3.4],
                taper: 1.0,
                lean: 0.0,
                bevel: 0.0,
            },
            1.0,
        );
        push(&mut plates, 60, 1, tube.triangles());
    }
    for piece in PIECES {
        let Block(plan, at, size, taper, lean, _) = piece.shape else { continue };
        let is_house = piece.skin == Skin::House && size[0] > 4.0 && size[1] > 2.0;
        if !is_house {
            continue;
        }
        let mut block = Mesh::default();
        block.prism(&Prism { plan: &plan.corners(size, 1), at, size, taper, lean, bevel: 0.0 }, 1.0);
        let funnel = matches!(plan, Round) && size[1] > 7.0;
        let bridge = at[2] > 26.0 && at[1] > 14.0;
        let [side, top] = if funnel {
            [36, 90]
        } else if bridge {
            [108, 107]
        } else {
            [89, 90]
        };
        for triangle in block.triangles() {
            let [a, b, c] = triangle;
            let material = if super::shape::normal(&[a, c, b])[1] > 0.5 { top } else { side };
            push(&mut plates, material, 1, [triangle]);
        }
    }
    let mut rudder = Mesh::default();
    rudder.prism(
        &Prism {
            plan: &Plan::Box.corners([0.5, 4.4, 4.6], 1),
            at: [0.0, -5.4, -85.4],
            size: [0.5, 4.4, 4.6],
            taper: 1.0,
            lean: -0.4,
            bevel: 0.0,
        },
        1.0,
    );
    push(&mut plates, 82, 1, rudder.triangles());
    if turrets {
        for place in PLACES {
            let at = scale(place.at, 1.0 / UNIT);
            for plate in MOUNTS[place.mount].plates() {
                let turned = plate
                    .triangles
                    .iter()
                    .map(|corners| corners.map(|[x, y, z]| add(at, if place.aft { [-x, y, -z] } else { [x, y, z] })));
                push(&mut plates, plate.material, plate.layer, turned);
            }
        }
    }
    plates.sort_by_key(|plate| (plate.layer, plate.material));
    plates
}

/// The hit boxes, with both corners.
pub const SPLASH: [(&str, Point, Point); 12] = [
    ("CM_SB_bow_1", [-3.4, -5.8, 72.0], [3.4, 9.4, 95.0]),
    ("CM_SB_bow_2", [-7.6, -6.0, 50.0], [7.6, 8.2, 72.0]),
    ("CM_SB_cas_1", [-9.8, 0.0, -48.0], [9.8, 6.4, 50.0]),
    ("CM_SB_cit_1", [-7.2, -5.6, 24.0], [7.2, 2.4, 50.0]),
    ("CM_SB_cit_2", [-7.2, -5.6, -22.0], [7.2, 2.4, 24.0]),
    ("CM_SB_cit_3", [-7.2, -5.6, -48.0], [7.2, 2.4, -22.0]),
    ("CM_SB_engine_1", [-6.4, -5.4, -20.0], [6.4, 1.8, 6.0]),
    ("CM_SB_ss_1", [-6.2, 6.4, 16.0], [6.2, 24.0, 36.0]),
    ("CM_SB_ss_2", [-6.2, 6.4, -34.0], [6.2, 18.0, 16.0]),
    ("CM_SB_stern_1", [-8.8, -5.6, -70.0], [8.8, 6.4, -48.0]),
    ("CM_SB_stern_2", [-7.6, -3.0, -93.0], [7.6, 6.4, -70.0]),
    ("CM_SB_ruder_1", [-0.4, -5.4, -88.0], [0.4, -1.0, -83.0]),
];
