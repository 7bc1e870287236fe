//! Rusty Hearts: the walled town Lindenhall, three dungeons, and a game folder that holds them.

mod town;

use super::picture::{Area, Colour, Point, Polygon, picture};
use crate::make::{Put, Stopped, each};
use crate::rusty_hearts::{pack_folder, wdata};
use assetq_core::table::Value;
use assetq_rusty_hearts::game_folder::layout::KEY;
use wdata::{FieldValues, Spec, Written};

/// The rows of a map, by table.
type Rows = Vec<(&'static str, FieldValues)>;

/// The ground of a box: its middle, its size along and across, and the direction of the first.
#[derive(Debug, Clone, Copy)]
struct Ground {
    middle: Point,
    size: Point,
    along: Point,
}

impl Ground {
    fn new(middle: Point, size: Point) -> Self {
        Self { middle, size, along: [1.0, 0.0] }
    }

    /// A strip from one point to another.
    fn strip([ax, az]: Point, [bx, bz]: Point, width: f32) -> Self {
        let [dx, dz] = [bx - ax, bz - az];
        let length = (dx * dx + dz * dz).sqrt();
        Self { middle: [(ax + bx) / 2.0, (az + bz) / 2.0], size: [length, width], along: [dx / length, dz / length] }
    }

    /// Turns the ground by 45 degrees.
    fn turned(self) -> Self {
        let half = 0.5_f32.sqrt();
        Self { along: [half, half], ..self }
    }

    /// The point at a distance along and to the left of the middle.
    fn at(&self, along: f32, left: f32) -> Point {
        let [dx, dz] = self.along;
        [self.middle[0] + dx * along - dz * left, self.middle[1] + dz * along + dx * left]
    }

    /// A record: the place of a box of this height on the ground, then other fields.
    fn row(
        &self,
        name: &str,
        height: f32,
        fields: impl IntoIterator<Item = (&'static str, Value<'static>)>,
    ) -> FieldValues {
        // Half of the angle, by its cosine and sine: turning around y leads from x away from z.
        let [cos, sin] = [self.along[0], -self.along[1]];
        let [half_cos, half_sin] = [1.0 + cos, 1.0 - cos].map(|twice| (twice.max(0.0) / 2.0).sqrt());
        let numbers = [
            ("pos_x", self.middle[0]),
            ("pos_y", height / 2.0),
            ("pos_z", self.middle[1]),
            ("scale_x", 1.0),
            ("scale_y", 1.0),
            ("scale_z", 1.0),
            ("rot_x", 0.0),
            ("rot_y", if sin < 0.0 { -half_sin } else { half_sin }),
            ("rot_z", 0.0),
            ("rot_w", half_cos),
            ("ext_x", self.size[0] / 2.0),
            ("ext_y", height / 2.0),
            ("ext_z", self.size[1] / 2.0),
        ];
        let place = numbers.map(|(name, number)| (name, Value::F32(number)));
        [("name", text(name))].into_iter().chain(place).chain(fields).collect()
    }
}

fn text(text: &str) -> Value<'static> {
    Value::owned(text.to_owned())
}

fn texts<'t>(all: impl IntoIterator<Item = &'t str>) -> Value<'static> {
    Value::List(all.into_iter().map(text).collect())
}

fn map(members: impl IntoIterator<Item = (&'static str, Value<'static>)>) -> Value<'static> {
    Value::Map(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// The waypoints of a round, which lead to each other in both directions. The first has the number `first`.
fn round(rows: &mut Rows, name: &str, first: i64, points: &[Point], closed: bool) {
    let count = points.len();
    for (n, point) in points.iter().enumerate() {
        let before = if n > 0 { Some(n - 1) } else { closed.then(|| count - 1) };
        let after = if n + 1 < count { Some(n + 1) } else { closed.then_some(0) };
        let links: Vec<usize> = before.into_iter().chain(after).collect();
        let distance = |to: &usize| {
            let [dx, dz] = [0, 1].map(|axis| points[*to][axis] - point[axis]);
            Value::F32((dx * dx + dz * dz).sqrt())
        };
        let fields = [
            ("id", Value::Int(first + n as i64)),
            ("range", 12.0_f32.into()),
            ("link_distances", Value::List(links.iter().map(distance).collect())),
            ("links", Value::List(links.iter().map(|to| Value::Int(first + *to as i64)).collect())),
        ];
        rows.push(("waypoint_boxes", Ground::new(*point, [5.0; 2]).row(&format!("{name} {}", n + 1), 4.0, fields)));
    }
}

/// A trigger: its name, why it is there, and its events, conditions and actions.
fn trigger(name: &str, comment: &str, [events, conditions, actions]: [&[&str]; 3]) -> (&'static str, FieldValues) {
    let lists = [("events", events), ("conditions", conditions), ("actions", actions)];
    let lists = lists.map(|(name, all)| (name, texts(all.iter().copied())));
    ("triggers", [("name", text(name)), ("comment", text(comment))].into_iter().chain(lists).collect())
}

fn portal(name: &str, ground: Ground, id: i64, [map, portal]: [i64; 2], to: &str) -> (&'static str, FieldValues) {
    let fields = [
        ("warp_map_name", text(to)),
        ("id", Value::Int(id)),
        ("warp_map_id", Value::Int(map)),
        ("warp_portal_id", Value::Int(portal)),
        ("active", true.into()),
    ];
    ("portal_boxes", ground.row(name, 30.0, fields))
}

fn start(name: &str, middle: Point, id: i64) -> (&'static str, FieldValues) {
    ("start_point_boxes", Ground::new(middle, [14.0; 2]).row(name, 4.0, [("id", Value::Int(id))]))
}

/// Enemies: their place, their name, and how many.
fn enemies(place: &str, ground: Ground, enemy: &str, count: i64) -> (&'static str, FieldValues) {
    let fields = [
        ("total_enemy_num", Value::Int(count * 3)),
        ("enemy_num", Value::Int(count)),
        ("enemy_name", text(enemy)),
        ("respawn_time", 30.0_f32.into()),
        ("respawn_motion", text("Appear")),
        ("in_check", true.into()),
        ("random_direction", true.into()),
        ("difficulty", Value::List([true, true, true, false, false].map(Value::Bool).to_vec())),
    ];
    ("respawn_boxes", ground.row(place, 6.0, fields))
}

/// A chest, whose contents the game's table names.
fn chest(name: &str, middle: Point) -> (&'static str, FieldValues) {
    let fields = [
        ("model", text(r".\model\chest_oak.mgm")),
        ("motion", text("Closed")),
        ("table_path", text(r".\table\chest.rh")),
        ("open_enable", true.into()),
    ];
    ("item_boxes", Ground::new(middle, [8.0, 6.0]).row(name, 6.0, fields))
}

fn gimmick(name: &str, ground: Ground, height: f32, motion: &str, template: i64) -> (&'static str, FieldValues) {
    let fields = [
        ("model", text(&format!(r".\model\{}.mgm", name.to_lowercase().replace(' ', "_")))),
        ("motion", text(motion)),
        ("loop_flag", Value::Int(1)),
        ("template_id", Value::Int(template)),
    ];
    ("gimmicks", ground.row(name, height, fields))
}

fn scenery(name: &str, ground: Ground, height: f32) -> (&'static str, FieldValues) {
    let fields = [
        ("model", text(&format!(r".\model\{}.mgm", name.to_lowercase().replace(' ', "_")))),
        ("motion", text("Idle")),
        ("loop", true.into()),
        ("shadow", true.into()),
        ("pvs_rad", ground.size[0].max(ground.size[1]).into()),
    ];
    ("ani_bgs", ground.row(name, height, fields))
}

fn area(name: &str, ground: Ground, map: &str, id: i64) -> (&'static str, FieldValues) {
    let fields = [("warp_map_name", text(map)), ("id", Value::Int(id)), ("active", true.into())];
    ("in_area_boxes", ground.row(name, 2.0, fields))
}

/// A dungeon: halls along a way, from the portal to the strongest enemy and its chest.
#[derive(Debug)]
struct Dungeon {
    /// The name of its map, and the number.
    map: &'static str,
    id: i64,
    /// Halls in the order of the way: name, middle, size, enemy and its number.
    halls: &'static [(&'static str, Point, Point, &'static str, i64)],
    /// A machine: name, middle, motion.
    machine: (&'static str, Point, &'static str),
    treasure: &'static str,
}

const DUNGEONS: [Dungeon; 3] = [
    Dungeon {
        map: "sunken_mill",
        id: 101,
        halls: &[
            ("Flooded Cellar", [100.0, 100.0], [140.0, 110.0], "Cellar Rat", 5),
            ("Grain Store", [330.0, 100.0], [160.0, 130.0], "Mill Imp", 6),
            ("Wheel House", [330.0, 340.0], [180.0, 150.0], "Drowned Miller", 4),
            ("Under the Millstone", [620.0, 340.0], [190.0, 190.0], "The Millstone Golem", 1),
        ],
        machine: ("Mill Wheel", [280.0, 380.0], "Turn"),
        treasure: "Chest of the miller",
    },
    Dungeon {
        map: "crystal_mine",
        id: 102,
        halls: &[
            ("Mouth of the Mine", [100.0, 300.0], [150.0, 120.0], "Cave Bat", 8),
            ("Cart Junction", [320.0, 300.0], [140.0, 140.0], "Pick Kobold", 6),
            ("Glowing Gallery", [320.0, 90.0], [240.0, 110.0], "Shard Spider", 5),
            ("Foreman's Shaft", [560.0, 300.0], [150.0, 120.0], "Kobold Foreman", 2),
            ("Heart of the Mountain", [800.0, 300.0], [210.0, 210.0], "Crystal Wyrm", 1),
        ],
        machine: ("Ore Lift", [560.0, 330.0], "Rise"),
        treasure: "Chest of the wyrm",
    },
    Dungeon {
        map: "bell_crypt",
        id: 103,
        halls: &[
            ("Stair of Silence", [300.0, 60.0], [90.0, 100.0], "Restless Novice", 3),
            ("Hall of Names", [300.0, 250.0], [220.0, 160.0], "Bone Sexton", 5),
            ("Ossuary", [90.0, 250.0], [110.0, 140.0], "Candle Wisp", 9),
            ("Belfry Below", [300.0, 500.0], [230.0, 200.0], "The Bell Warden", 1),
        ],
        machine: ("Cracked Bell", [300.0, 520.0], "Swing"),
        treasure: "Chest of the bell founders",
    },
];

impl Dungeon {
    /// The map of the dungeon of this number.
    fn spec(&self, number: i64) -> Spec {
        let mut rows = Rows::new();
        let mut middles: Vec<Point> = Vec::new();
        for ((n, (name, middle, size, enemy, count)), id) in self.halls.iter().enumerate().zip(1..) {
            let ground = Ground::new(*middle, *size);
            rows.push(area(name, ground, self.map, id));
            rows.push(enemies(
                &format!("{enemy}, {name}"),
                Ground { size: size.map(|side| side * 0.5), ..ground },
                enemy,
                *count,
            ));
            let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
            for [x, z] in corners {
                let middle = ground.at(x * (size[0] / 2.0 - 12.0), z * (size[1] / 2.0 - 12.0));
                rows.push(("obstacle_boxes", Ground::new(middle, [10.0; 2]).row("Pillar", 30.0, [])));
            }
            if let Some(before) = n.checked_sub(1).map(|n| self.halls[n].1) {
                rows.push(area(
                    &format!("Passage to {name}"),
                    Ground::strip(before, *middle, 24.0),
                    self.map,
                    100 + id,
                ));
            }
            middles.push(*middle);
        }
        let [first, last] = [self.halls[0], self.halls[self.halls.len() - 1]];
        let [x, z] = first.1;
        rows.push(portal(
            "Back to Lindenhall",
            Ground::new([x - 30.0, z], [16.0, 40.0]),
            1,
            [town::ID, number + 2],
            town::MAP,
        ));
        rows.push(start("Entrance", [x, z], 1));
        rows.push(chest(self.treasure, [last.1[0] + 50.0, last.1[1]]));
        rows.push(gimmick(
            self.machine.0,
            Ground::new(self.machine.1, [30.0, 20.0]),
            25.0,
            self.machine.2,
            500 + number,
        ));
        round(&mut rows, "Way", 100, &middles, false);
        let action = format!("OpenBox({})", self.treasure);
        let is_dead = format!("IsDead({})", last.3);
        rows.push(trigger("The last enemy falls", "Opens its chest.", [&["OnEnemyDead"], &[&is_dead], &[&action]]));
        Spec::described(&format!(r".\world\dungeon\{0}\{0}", self.map), rows)
    }
}

/// The map of the town.
pub fn town() -> Spec {
    Spec::described(r".\world\town\town", town::rows())
}

/// The colours of a map's boxes in a picture, from the ground up.
const PAINTS: [(&str, Colour); 6] = [
    ("skid_boxes", [96, 148, 190]),
    ("environment_reverb_boxes", [122, 158, 92]),
    ("in_area_boxes", [206, 190, 150]),
    ("cutoff_boxes", [104, 104, 100]),
    ("obstacle_boxes", [142, 84, 60]),
    ("ani_bgs", [92, 116, 76]),
];

/// A picture of a map from above, 1500 units wide.
fn minimap(written: &Written) -> Vec<u8> {
    let mut areas = Vec::new();
    for (table, colour) in PAINTS {
        for row in written.table(table) {
            let number = |name: &str| match row.iter().find(|(of, _)| *of == name) {
                Some((_, Value::F32(number))) => *number,
                other => panic!("{name}: {other:?}"),
            };
            let [sin, cos] = ["rot_y", "rot_w"].map(number);
            let ground = Ground {
                middle: ["pos_x", "pos_z"].map(number),
                size: ["ext_x", "ext_z"].map(|name| 2.0 * number(name)),
                along: [cos * cos - sin * sin, -2.0 * sin * cos],
            };
            let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
            let corners = corners.map(|[along, left]| ground.at(along * ground.size[0], left * ground.size[1]));
            areas.push((Polygon(corners.map(|[x, z]| [x / 1500.0, 0.83 - z / 1500.0]).to_vec()) as Area, colour));
        }
    }
    picture(256, [150, 176, 112], &areas)
}

/// The contents of the chests, first of the dungeons.
const LOOT: [&str; 6] =
    ["Millstone Ring", "Wyrm Scale", "Bell Founder's Hammer", "20 gold", "Rope", "Letter of the guild"];

/// Lines of a table: a tab between fields. The game enciphers its tables in a way that no public page describes.
fn table<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> Vec<u8> {
    rows.into_iter().map(|row| row.join("\t") + "\r\n").collect::<String>().into_bytes()
}

/// Writes the game's folder: the town, the dungeons, tables and a picture.
///
/// # Errors
/// If a file is refused.
pub fn folder(put: &mut Put<'_>) -> Result<(), Stopped> {
    let town = wdata::write(&town());
    let names = |map: &Written, table: &str, fields: [&str; 2]| -> Vec<[String; 2]> {
        let rows = map.table(table).into_iter();
        let field = |row: &FieldValues, name: &str| {
            let value = row.iter().find(|(of, _)| *of == name);
            value.map_or_else(String::new, |(_, value)| value.to_string())
        };
        rows.map(|row| fields.map(|name| field(row, name))).collect()
    };
    let dungeons: Vec<Written> =
        (0..).zip(&DUNGEONS).map(|(number, dungeon)| wdata::write(&dungeon.spec(number))).collect();
    let maps = [(town::ID, town::MAP)].into_iter().chain(DUNGEONS.iter().map(|dungeon| (dungeon.id, dungeon.map)));
    let enemies =
        dungeons.iter().chain([&town]).flat_map(|map| names(map, "respawn_boxes", ["enemy_name", "enemy_num"]));
    let chests = dungeons.iter().chain([&town]).flat_map(|map| names(map, "item_boxes", ["name", "motion"]));
    let chests = chests.zip(LOOT).map(|([name, _], loot)| [name, loot.to_owned()]);
    let mut files = vec![
        (r"table\map.rh".to_owned(), table(maps.map(|(id, map)| [id.to_string(), map.to_owned()]))),
        (r"table\npc.rh".to_owned(), table(names(&town, "npc_boxes", ["id", "npc_name"]))),
        (r"table\enemy.rh".to_owned(), table(enemies)),
        (r"table\chest.rh".to_owned(), table(chests)),
        (r"texture\ui\minimap_town.dds".to_owned(), minimap(&town)),
        (r"world\town\town.wdata".to_owned(), town.bytes),
    ];
    let dungeons = DUNGEONS.iter().zip(dungeons);
    files.extend(
        dungeons.map(|(dungeon, written)| (format!(r"world\dungeon\{0}\{0}.wdata", dungeon.map), written.bytes)),
    );
    each(put, |write| pack_folder(&files, &KEY, write))
}
