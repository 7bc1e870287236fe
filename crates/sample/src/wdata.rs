//! Builds Rusty Hearts maps, in every version and both trigger layouts.
//!
//! Written out from docs/formats/wdata.md field after field, without the descriptions that the reader works from, so
//! that the two check each other: [`write()`] gives the values that it wrote along with the bytes.

mod scenes;

use super::{Size, Writer};
use assetq_core::table::Value;
use assetq_rusty_hearts::wdata::TriggerLayout;
use fastrand::Rng;
use std::f32::consts::TAU;

/// The contents of a map.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The main version.
    pub main: i32,
    /// The event-box version, written from main version 7 on, as the next two.
    pub event_box: i32,
    /// The version of animated backgrounds.
    pub ani_bg: i32,
    /// The item-box version.
    pub item_box: i32,
    /// The gimmick version, written from main version 8 on.
    pub gimmick: i32,
    /// The script counts of the header, as far as the version has them.
    pub header_counts: [i32; 4],
    /// Whether text counts include a terminating NUL.
    pub counts_nul: bool,
    /// The layout after the name of the main script; scripts exist from main version 9 on.
    pub triggers: TriggerLayout,
    /// Whether the file ends after the triggers.
    pub server_side: bool,
    /// The number of rows of the event-box table.
    pub box_types: u32,
    /// The number of boxes of each type, written from main version 7 on.
    pub boxes: [u32; 19],
    /// The order of the types' boxes in the file.
    pub block_order: [usize; 19],
    /// The number of animated backgrounds.
    pub ani_bgs: u32,
    /// The number of item boxes.
    pub item_boxes: u32,
    /// The number of gimmicks.
    pub gimmicks: u32,
    /// The number of triggers, or of scripts in each of the three lists.
    pub trigger_count: u32,
    /// The number of scenes.
    pub scenes: u32,
    /// The number of scene resources.
    pub scene_resources: u32,
    /// Values of every kind a field can hold, rather than believable ones.
    pub wild: bool,
    /// The seed that all values follow from.
    pub seed: u64,
}

impl Spec {
    /// A few records of every kind.
    pub fn new(main: i32, event_box: i32) -> Self {
        Self {
            main,
            event_box,
            ani_bg: 5,
            item_box: 3,
            gimmick: 1,
            header_counts: [3, 2, 1, 1],
            counts_nul: true,
            triggers: TriggerLayout::Triggers,
            server_side: false,
            box_types: 19,
            boxes: [2, 3, 1, 3, 2, 2, 3, 2, 1, 2, 2, 1, 1, 2, 0, 1, 1, 5, 2],
            block_order: std::array::from_fn(|i| i),
            ani_bgs: 3,
            item_boxes: 2,
            gimmicks: 2,
            trigger_count: 3,
            scenes: 2,
            scene_resources: 3,
            wild: true,
            seed: 1,
        }
    }
}

impl Spec {
    /// The length and width of a believable map: no more crowded with many boxes than with few.
    fn side(&self) -> f32 {
        let boxes = self.boxes.iter().sum::<u32>() + self.ani_bgs + self.item_boxes + self.gimmicks;
        180.0 * (boxes as f32).sqrt()
    }

    /// The number of records with such names, as targets of references.
    fn named(&self, stem: &str) -> u32 {
        match stem {
            "ani_bg" => self.ani_bgs,
            "item_box" => self.item_boxes,
            "gimmick" => self.gimmicks,
            "trigger" => self.boxes[3],
            "resource" => self.scene_resources,
            _ => 40,
        }
    }

    /// Waypoints are equally spaced on a spiral around the middle of the map.
    fn waypoint(&self, index: u32) -> [f32; 2] {
        let (middle, of_type) = (self.side() / 2.0, self.boxes[17].max(1) as f32);
        let turn = (TAU * (index as f32 + 1.0)).sqrt();
        let radius = 0.9 * middle * turn / (TAU * of_type).sqrt();
        [middle + radius * turn.cos(), middle + radius * turn.sin()]
    }
}

/// The fields of one record, as a reader should give them. Fields that the version does not have are left out.
pub type FieldValues = Vec<(&'static str, Value<'static>)>;

/// A map and its contents.
#[derive(Debug, Default)]
pub struct Written {
    /// The file.
    pub bytes: Vec<u8>,
    /// The rows of its tables, by table and in file order. Scenes appear twice, as `scenes` and `scene_elements`.
    pub rows: Vec<(&'static str, FieldValues)>,
    /// The start of each section.
    pub starts: Vec<(&'static str, usize)>,
}

impl Written {
    /// The rows of one table.
    pub fn table(&self, name: &str) -> Vec<&FieldValues> {
        self.rows.iter().filter(|(table, _)| *table == name).map(|(_, row)| row).collect()
    }

    /// The start of the section of this name.
    pub fn start(&self, name: &str) -> usize {
        self.starts.iter().find(|(section, _)| *section == name).map(|(_, at)| *at).unwrap()
    }
}

/// A believable map.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    let times = match size {
        Size::Small => 1,
        Size::Full => 40,
    };
    let boxes = [2, 12, 2, 8, 3, 4, 8, 4, 1, 4, 4, 3, 3, 3, 0, 4, 3, 30, 8].map(|count| count * times);
    let spec = Spec { wild: false, seed, boxes, ani_bgs: 8 * times, gimmicks: 4 * times, ..Spec::new(22, 9) };
    write(&Spec { item_boxes: 5 * times, trigger_count: 4 * times, scenes: 2, scene_resources: 4, ..spec }).bytes
}

/// The spec of a map of `boxes` event boxes and about 500 bytes for each: a fifth are cameras, which are long, and one
/// in a hundred is a portal.
pub fn large(boxes: u32) -> Spec {
    let hundredth = boxes / 100;
    let per = [18, 10, 1, 10, 2, 4, 15, 1, 1, 4, 6, 2, 2, 2, 0, 2, 2, 16, 2].map(|parts| parts * hundredth);
    Spec { wild: false, boxes: per, seed: 7, ..Spec::new(22, 9) }
}

/// Writes a map.
pub fn write(spec: &Spec) -> Written {
    let mut out = Out::new(spec);
    out.header();
    out.paths(spec.main);
    if spec.main >= 7 {
        out.event_boxes();
    }
    out.start("ani_bgs");
    out.count(spec.ani_bgs);
    (0..spec.ani_bgs).for_each(|i| out.ani_bg(i));
    out.start("item_boxes");
    out.count(spec.item_boxes);
    (0..spec.item_boxes).for_each(|i| out.item_box(i));
    out.start("gimmicks");
    out.count(spec.gimmicks);
    (0..spec.gimmicks).for_each(|i| out.gimmick(i));
    out.trailing_paths();
    out.triggers();
    if !spec.server_side {
        out.scenes();
        out.start("scene_resources");
        out.count(spec.scene_resources);
        (0..spec.scene_resources).for_each(|i| out.scene_resource(i));
    }
    let mut written = out.written;
    written.bytes = out.file.into_bytes();
    written
}

struct Out<'s> {
    spec: &'s Spec,
    file: Writer,
    written: Written,
    rng: Rng,
    row: FieldValues,
}

impl<'s> Out<'s> {
    fn new(spec: &'s Spec) -> Self {
        Self {
            spec,
            file: Writer::new(),
            written: Written::default(),
            rng: Rng::with_seed(spec.seed),
            row: FieldValues::new(),
        }
    }

    fn start(&mut self, section: &'static str) {
        self.written.starts.push((section, self.file.position()));
    }

    fn end_row(&mut self, table: &'static str) {
        self.written.rows.push((table, std::mem::take(&mut self.row)));
    }

    fn set(&mut self, name: &'static str, value: Value<'static>) {
        self.row.push((name, value));
    }

    // Values: each function writes one and returns it.

    fn text(&mut self, text: &str) -> Value<'static> {
        let mut units: Vec<u16> = text.encode_utf16().collect();
        if self.spec.counts_nul {
            units.push(0);
        }
        self.file.u16(units.len() as u16);
        for unit in units {
            self.file.u16(unit);
        }
        Value::owned(text.to_owned())
    }

    /// A text that starts like this in believable files and is anything in wild ones.
    fn some_text(&mut self, stem: &str) -> Value<'static> {
        let text = if self.spec.wild {
            let letters: Vec<char> = "abcXYZ019_.\\/ <>&\"'äß가나다던전😀𐍈".chars().collect();
            (0..self.rng.usize(0..14)).map(|_| letters[self.rng.usize(0..letters.len())]).collect()
        } else {
            format!("{stem}_{:03}", self.rng.u32(0..self.spec.named(stem).max(1)))
        };
        self.text(&text)
    }

    fn int_of(&mut self, value: i32) -> Value<'static> {
        self.file.i32(value);
        value.into()
    }

    fn int(&mut self) -> Value<'static> {
        let value = if self.spec.wild { self.rng.i32(..) } else { self.rng.i32(0..200) };
        self.int_of(value)
    }

    fn uint(&mut self) -> Value<'static> {
        let value = if self.spec.wild { self.rng.u32(..) } else { self.rng.u32(0..20) };
        self.file.u32(value);
        value.into()
    }

    fn flag(&mut self) -> Value<'static> {
        let value = self.rng.bool();
        self.file.i32(value.into());
        value.into()
    }

    fn float_of(&mut self, value: f32) -> Value<'static> {
        self.file.f32s(&[value]);
        value.into()
    }

    fn float(&mut self) -> Value<'static> {
        let value = if self.spec.wild {
            let value = f32::from_bits(self.rng.u32(..));
            if value.is_finite() { value } else { -0.0 }
        } else {
            self.rng.i32(0..400) as f32 / 10.0
        };
        self.float_of(value)
    }

    fn floats(&mut self, count: usize) -> Value<'static> {
        Value::List((0..count).map(|_| self.float()).collect())
    }

    fn count(&mut self, count: u32) -> Value<'static> {
        self.int_of(count as i32)
    }

    fn counts(&mut self, counts: &[u32]) {
        counts.iter().for_each(|count| drop(self.count(*count)));
    }

    /// The number of items for a list.
    fn few(&mut self) -> u32 {
        self.rng.u32(0..4)
    }

    fn list(&mut self, count: u32, mut item: impl FnMut(&mut Self) -> Value<'static>) -> Value<'static> {
        Value::List((0..count).map(|_| item(self)).collect())
    }

    /// A category, if the version has one, and a key.
    fn entry(&mut self, stem: &str) -> Value<'static> {
        let category = if self.spec.main >= 22 { self.uint() } else { Value::Null };
        Value::Map(vec![("category".into(), category), ("key".into(), self.some_text(stem))])
    }

    fn named(&mut self, name: &'static str, stem: &str) -> Value<'static> {
        Value::Map(vec![("category".into(), self.uint()), (name.into(), self.some_text(stem))])
    }

    // Sections, in file order.

    fn header(&mut self) {
        let spec = self.spec;
        self.text("stairwaygames.");
        self.file.i32(spec.main);
        if spec.main >= 7 {
            self.file.i32(spec.event_box);
            self.file.i32(spec.ani_bg);
            self.file.i32(spec.item_box);
        }
        if spec.main >= 8 {
            self.file.i32(spec.gimmick);
        }
        for (since, count) in [9, 16, 18, 18].into_iter().zip(spec.header_counts) {
            if spec.main >= since {
                self.file.i32(count);
            }
        }
    }

    fn path(&mut self, name: &'static str, path: &str) {
        let value = self.text(path);
        self.set("name", name.into());
        self.set("value", if path == ".\\" { Value::Null } else { value });
        self.set("stored", Value::owned(path.to_owned()));
        self.end_row("paths");
    }

    fn paths(&mut self, main: i32) {
        self.start("paths");
        self.path("model_path", ".\\world\\town\\town.mmp");
        self.path("nav_mesh_path", ".\\world\\town\\town.navi");
        if main >= 2 {
            self.path("nav_height_path", ".\\world\\town\\town.height");
        }
        self.path("event_box_path", ".\\");
    }

    fn event_boxes(&mut self) {
        let spec = self.spec;
        self.start("event_box_index");
        self.file.u32(spec.box_types);
        let table = self.file.zeros(8 * spec.box_types as usize);
        for &number in spec.block_order.iter().filter(|&&n| n < spec.box_types as usize) {
            let offset = self.file.position();
            self.start(BOX_TABLES[number]);
            (0..spec.boxes[number]).for_each(|i| self.event_box(number, i));
            self.file.patch(table + 8 * number, (offset as u32).to_le_bytes());
            self.file.patch(table + 8 * number + 4, spec.boxes[number].to_le_bytes());
        }
    }

    /// A name and a place. Believable maps begin at 0 along x and z.
    fn place(&mut self, stem: &str, number: u32) {
        let name = if self.spec.wild { self.some_text(stem) } else { self.text(&format!("{stem}_{number:03}")) };
        self.set("name", name);
        let (wild, side) = (self.spec.wild, self.spec.side());
        let mut at = || if wild { self.rng.f32() * 4e4 - 2e4 } else { self.rng.f32() * side };
        let (mut x, mut z) = (at(), at());
        if !wild && stem == "waypoint" {
            [x, z] = self.spec.waypoint(number);
        }
        let y = self.rng.f32() * 40.0;
        let half = self.rng.f32() * TAU / 2.0;
        let mut turn = [0.0, half.sin(), 0.0, half.cos()];
        if wild {
            turn = std::array::from_fn(|_| self.rng.f32() - 0.5);
        }
        let size = if stem == "waypoint" { 8.0 } else { 25.0 };
        let extents: [f32; 3] = std::array::from_fn(|_| size + self.rng.f32() * size);
        let scale = if wild { [1.0, 2.0, 0.5] } else { [1.0; 3] };
        let numbers = [x, y, z].into_iter().chain(scale).chain(turn).chain(extents);
        let names = [
            "pos_x", "pos_y", "pos_z", "scale_x", "scale_y", "scale_z", "rot_x", "rot_y", "rot_z", "rot_w", "ext_x",
            "ext_y", "ext_z",
        ];
        for (name, number) in names.into_iter().zip(numbers) {
            let value = self.float_of(number);
            self.set(name, value);
        }
    }

    fn event_box(&mut self, number: usize, index: u32) {
        self.place(BOX_TABLES[number].trim_end_matches("_boxes"), index);
        let version = self.spec.event_box;
        macro_rules! fields {
            ($($name:literal: $value:expr),* $(,)?) => {{ $(let value = $value; self.set($name, value);)* }};
        }
        match number {
            0 => self.camera(),
            1 => fields! {
                "total_enemy_num": self.int(), "enemy_num": self.int(), "enemy_name": self.some_text("Goblin"),
                "respawn_time": self.float(), "respawn_motion": self.some_text("Spawn"), "in_check": self.flag(),
                "random_direction": self.flag(), "difficulty": self.list(5, Self::flag),
            },
            3 => {
                fields! {
                    "state": self.int(), "action_motion": self.some_text("Act"), "motion": self.some_text("Idle"),
                }
                if version >= 9 {
                    fields! {
                        "signpost_text_id": self.int(), "signpost_pos_x": self.float(),
                        "signpost_pos_y": self.float(), "signpost_pos_z": self.float(),
                    }
                }
            }
            4 => fields! {
                "state": self.int(), "velocity": self.floats(3), "end_time": self.float(), "duration": self.float(),
            },
            5 => {
                fields! {
                    "state": self.uint(), "ani_bg_name": self.some_text("ani_bg"), "damage": self.float(),
                    "direction": self.floats(3), "damage_motion": self.some_text("Hit"),
                }
                let (hits, more) = (self.few(), self.few());
                fields! {
                    "hit_count": self.count(hits), "temp_hit_count": self.count(more),
                    "hit_times": self.floats(hits as usize), "temp_hit_times": self.floats(more as usize),
                }
            }
            6 => fields! { "npc_name": self.some_text("Npc"), "id": self.int(), "instance_id": self.int() },
            7 => fields! {
                "warp_map_name": self.some_text("Dungeon"), "id": self.int(), "msg_type": self.int(),
                "warp_map_id": self.int(), "warp_portal_id": self.int(), "active": self.flag(),
            },
            8 => fields! { "id": self.int(), "msg_type": self.int(), "active": self.flag() },
            9 => fields! { "warp_map_name": self.some_text("Area"), "id": self.int(), "active": self.flag() },
            2 | 10 => fields! { "id": self.int() },
            12 => fields! { "cutoff_type": self.int() },
            13 => {
                if version < 8 {
                    fields! { "name_deprecated": self.some_text("Target") }
                } else {
                    fields! { "name_text_id": self.int() }
                }
                if version >= 2 {
                    fields! { "target_local_pc": self.flag() }
                }
            }
            15 => fields! { "icon_type": self.int() },
            16 => fields! { "reverb_type": self.int() },
            17 => {
                // Ids start at 100; each waypoint has links to its neighbours, and the last one to the first.
                let of_type = self.spec.boxes[17];
                let mut links: Vec<u32> = Vec::new();
                links.extend(index.checked_sub(1));
                links.extend(Some(index + 1).filter(|next| *next < of_type));
                links.extend(Some(0).filter(|_| index + 1 == of_type && index > 1));
                fields! { "id": self.int_of(100 + index as i32), "range": self.float() }
                fields! { "link_count": self.count(links.len() as u32) }
                let ids = links.iter().map(|link| self.int_of(100 + *link as i32)).collect();
                let here = self.spec.waypoint(index);
                let distance = |link: &u32| {
                    let there = self.spec.waypoint(*link);
                    (here[0] - there[0]).hypot(here[1] - there[1])
                };
                let distances: Vec<f32> = links.iter().map(distance).collect();
                let distances = distances.into_iter().map(|distance| self.float_of(distance)).collect();
                fields! { "links": Value::List(ids), "link_distances": Value::List(distances) }
            }
            _ => {}
        }
        self.end_row(BOX_TABLES[number]);
    }

    fn camera(&mut self) {
        if self.spec.event_box >= 7 {
            let category = self.uint();
            self.set("category", category);
        }
        let infos = (0..4).map(|i| self.camera_info(i)).collect();
        self.set("camera_infos", Value::List(infos));
    }

    fn camera_info(&mut self, number: usize) -> Value<'static> {
        let version = self.spec.event_box;
        let mut info: Vec<(&'static str, Value<'static>)> = Vec::new();
        let target = if version >= 3 || number == 0 { self.some_text("Bip01") } else { Value::Null };
        info.push(("camera_target", target));
        info.push(("camera_name", self.some_text("Camera")));
        let names = ["camera_pos_x", "camera_pos_y", "camera_pos_z", "camera_rot_x", "camera_rot_y", "camera_rot_z"];
        for name in names.into_iter().chain(["fov"]) {
            info.push((name, self.float()));
        }
        info.push(("frustum", self.floats(14)));
        info.push(("build_pvs", if version >= 5 { self.flag() } else { Value::Null }));
        let lists = [
            "render_bg_list",
            "render_ani_list",
            "render_item_list",
            "render_gimmick_list",
            "no_render_bg_list",
            "no_render_ani_list",
            "no_render_item_list",
            "no_render_gimmick_list",
        ];
        if version >= 4 {
            let counts: [u32; 11] = std::array::from_fn(|_| self.few());
            self.counts(&counts);
            info.push(("pvs_bg_ids", self.list(counts[0], Self::uint)));
            if version < 6 {
                info.push(("pvs_event_box_ids", self.list(counts[1], Self::uint)));
                info.push(("pvs_event_entries", Value::Null));
            } else {
                info.push(("pvs_event_box_ids", Value::Null));
                info.push(("pvs_event_entries", self.list(counts[1], |out| out.named("name", "trigger"))));
            }
            for (number, name) in lists.into_iter().enumerate() {
                info.push((name, self.list(counts[2 + number], |out| out.entry(SHOWN[number % 4]))));
            }
            info.push(("build_pos_list", self.list(counts[10], |out| out.floats(3))));
        } else {
            let absent = ["pvs_bg_ids", "pvs_event_box_ids", "pvs_event_entries"].into_iter().chain(lists);
            info.extend(absent.chain(["build_pos_list"]).map(|name| (name, Value::Null)));
        }
        Value::Map(info.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    fn ani_bg(&mut self, index: u32) {
        self.place("ani_bg", index);
        let version = if self.spec.main >= 7 { self.spec.ani_bg } else { 0 };
        for name in ["model", "motion"] {
            let value = self.some_text(name);
            self.set(name, value);
        }
        let looped = self.flag();
        self.set("loop", looped);
        for name in ["light_index", "cover_index"] {
            let value = self.int();
            self.set(name, value);
        }
        for (name, since) in [("shadow", 3), ("move_weight", 4)] {
            if version >= since {
                let value = self.flag();
                self.set(name, value);
            }
        }
        if version >= 5 {
            let radius = self.float();
            self.set("pvs_rad", radius);
        }
        self.end_row("ani_bgs");
    }

    fn item_box(&mut self, index: u32) {
        self.place("item_box", index);
        for name in ["model", "motion", "table_path"] {
            let value = self.some_text(name);
            self.set(name, value);
        }
        let looped = self.flag();
        self.set("loop", looped);
        if self.spec.main >= 7 && self.spec.item_box >= 3 {
            let open = self.flag();
            self.set("open_enable", open);
        }
        self.end_row("item_boxes");
    }

    fn gimmick(&mut self, index: u32) {
        self.place("gimmick", index);
        for name in ["model", "motion"] {
            let value = self.some_text(name);
            self.set(name, value);
        }
        for name in ["loop_flag", "light_index", "cover_index", "shadow", "move_weight", "template_id"] {
            let value = self.int();
            self.set(name, value);
        }
        self.end_row("gimmicks");
    }

    fn trailing_paths(&mut self) {
        self.start("trailing_paths");
        if self.spec.main >= 2 {
            self.path("obstacle_path", ".\\world\\town\\town.obstacle");
        }
        self.path("moc_path", ".\\");
        self.path("ani_bg_path", ".\\");
    }

    fn script(&mut self, kind: &'static str, path: &str) {
        let value = self.text(path);
        self.set("kind", kind.into());
        self.set("path", if path == ".\\" { Value::Null } else { value });
        self.end_row("scripts");
    }

    fn triggers(&mut self) {
        self.start("trigger_head");
        self.file.i32(0);
        self.script("script_dir", ".\\");
        self.file.i32(0);
        self.script("main_script", "town_main.lua");
        let count = self.spec.trigger_count;
        self.start(self.spec.triggers.name());
        if self.spec.triggers == TriggerLayout::Scripts {
            self.counts(&[count; 3]);
            for kind in ["event", "condition", "action"] {
                (0..count).for_each(|i| self.script(kind, &format!(".\\script\\{kind}_{i}.lua")));
            }
            return;
        }
        self.count(count);
        for _ in 0..count {
            for name in ["name", "comment"] {
                let value = self.some_text(name);
                self.set(name, value);
            }
            let counts = [self.few(), self.few(), self.few()];
            self.counts(&counts);
            for (name, count) in ["events", "conditions", "actions"].into_iter().zip(counts) {
                let value = self.list(count, |out| out.some_text("On"));
                self.set(name, value);
            }
            self.end_row("triggers");
        }
    }
}

/// Names in the lists of things to show and to hide, in their order.
const SHOWN: [&str; 4] = ["bg", "ani_bg", "item_box", "gimmick"];

/// The tables of the box types, in the order of their numbers.
const BOX_TABLES: [&str; 19] = [
    "camera_boxes",
    "respawn_boxes",
    "start_point_boxes",
    "trigger_boxes",
    "skid_boxes",
    "event_hit_boxes",
    "npc_boxes",
    "portal_boxes",
    "select_map_portal_boxes",
    "in_area_boxes",
    "etc_boxes",
    "camera_block_boxes",
    "cutoff_boxes",
    "camera_target_boxes",
    "unused_boxes",
    "mini_map_icon_boxes",
    "environment_reverb_boxes",
    "waypoint_boxes",
    "obstacle_boxes",
];
