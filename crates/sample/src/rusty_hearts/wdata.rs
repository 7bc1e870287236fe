//! Builds Rusty Hearts maps, in every version and both trigger layouts.
//!
//! Written out from docs/formats/wdata.md field after field, without the descriptions that the reader works from, so
//! that the two check each other: [`write()`] gives the values that it wrote along with the bytes.
//! A map has random records, or the described records of [`Spec::described`].

mod scenes;

use crate::random::Rng;
use crate::writer::bytes;
use crate::{Size, Writer};
use assetq_core::table::Value;
use assetq_rusty_hearts::wdata::TriggerLayout;
use std::f32::consts::TAU;

/// The contents of a map.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The main version. From main version 7 on a file stores the versions of event boxes, animated backgrounds and item boxes, from
    /// main version 8 on the version of gimmicks.
    pub main: i32,
    pub event_box: i32,
    pub ani_bg: i32,
    pub item_box: i32,
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
    pub ani_bgs: u32,
    pub item_boxes: u32,
    pub gimmicks: u32,
    /// The number of triggers, or of scripts in each of the three lists.
    pub trigger_count: u32,
    pub scenes: u32,
    pub scene_resources: u32,
    /// Values of every kind a field can hold, rather than believable ones.
    pub wild: bool,
    pub seed: u64,
    /// The path of the files of the map, without an ending.
    pub path: String,
    /// The records of a described map, by table. A field that a record leaves out is 0, false or empty.
    pub rows: Vec<(&'static str, FieldValues)>,
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
            path: r".\world\town\town".to_owned(),
            rows: Vec::new(),
        }
    }

    /// A map of these records, of the newest versions.
    pub fn described(path: &str, rows: Vec<(&'static str, FieldValues)>) -> Self {
        let count = |table| rows.iter().filter(|(of, _)| *of == table).count() as u32;
        Self {
            boxes: BOXES.map(|(table, _)| count(table)),
            ani_bgs: count("ani_bgs"),
            item_boxes: count("item_boxes"),
            gimmicks: count("gimmicks"),
            trigger_count: count("triggers"),
            scenes: count("scenes"),
            scene_resources: count("scene_resources"),
            wild: false,
            path: path.to_owned(),
            rows,
            ..Self::new(22, 9)
        }
    }

    fn is_described(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The fields given for a record, or null.
    fn given(&self, table: &str, index: u32) -> Value<'static> {
        let mut rows = self.rows.iter().filter(|(of, _)| *of == table);
        rows.nth(index as usize).map_or(Value::Null, |(_, row)| map(row.clone()))
    }

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
        let (sin, cos) = libm::sincosf(turn);
        [middle + radius * cos, middle + radius * sin]
    }
}

/// The fields of one record, as a reader should give them. Fields that the version does not have are left out.
pub type FieldValues = Vec<(&'static str, Value<'static>)>;

/// A map and its contents.
#[derive(Debug, Default)]
pub struct Written {
    pub bytes: Vec<u8>,
    /// The rows of its tables, by table and in file order. Scenes appear twice, as `scenes` and `scene_elements`.
    pub rows: Vec<(&'static str, FieldValues)>,
    pub starts: Vec<(&'static str, usize)>,
}

impl Written {
    pub fn table(&self, name: &str) -> Vec<&FieldValues> {
        self.rows.iter().filter(|(table, _)| *table == name).map(|(_, row)| row).collect()
    }

    pub fn start(&self, name: &str) -> usize {
        self.starts.iter().find(|(section, _)| *section == name).map(|(_, at)| *at).unwrap()
    }
}

pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    let times = size.pick(1, 40);
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

pub fn write(spec: &Spec) -> Written {
    let mut out = Out::new(spec);
    out.header();
    out.paths(spec.main);
    if spec.main >= 7 {
        out.event_boxes();
    }
    out.records("ani_bgs", spec.ani_bgs, Out::ani_bg);
    out.records("item_boxes", spec.item_boxes, Out::item_box);
    out.records("gimmicks", spec.gimmicks, Out::gimmick);
    out.trailing_paths();
    out.triggers();
    if !spec.server_side {
        out.scenes();
        out.records("scene_resources", spec.scene_resources, Out::scene_resource);
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
    /// The description of the next value; null in a random map.
    given: Value<'static>,
}

impl<'s> Out<'s> {
    fn new(spec: &'s Spec) -> Self {
        Self {
            spec,
            file: Writer::new(),
            written: Written::default(),
            rng: Rng::with_seed(spec.seed),
            row: FieldValues::new(),
            given: Value::Null,
        }
    }

    fn start(&mut self, section: &'static str) {
        self.written.starts.push((section, self.file.position()));
    }

    /// A section of `count` records, each a row of the table of this name.
    fn records(&mut self, table: &'static str, count: u32, record: fn(&mut Self, u32)) {
        self.start(table);
        self.count(count);
        (0..count).for_each(|index| self.record(table, index, record));
    }

    /// A record, which is a row of the table of this name.
    fn record(&mut self, table: &'static str, index: u32, record: impl FnOnce(&mut Self, u32)) {
        let given = self.spec.given(table, index);
        self.within(given.clone(), |out| record(out, index));
        if self.spec.is_described() {
            let row = map(self.row.clone());
            assert!(holds(&row, &given), "{table}: the record has {row:?}, and not all of {given:?}");
        }
        self.end_row(table);
    }

    fn end_row(&mut self, table: &'static str) {
        self.written.rows.push((table, std::mem::take(&mut self.row)));
    }

    /// Writes values that `given` describes.
    fn within<T>(&mut self, given: Value<'static>, write: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.given, given);
        let written = write(self);
        self.given = outer;
        written
    }

    /// Writes the member `name` of the described value.
    fn member<T>(&mut self, name: &str, write: impl FnOnce(&mut Self) -> T) -> T {
        let member = match &self.given {
            Value::Map(members) => members.iter().find(|(of, _)| of == name).map(|(_, value)| value.clone()),
            _ => None,
        };
        self.within(member.unwrap_or(Value::Null), write)
    }

    /// The next value: as described, else a default in a described map, else random.
    fn next<T: Default>(
        &mut self,
        given: impl FnOnce(&Value<'static>) -> Option<T>,
        random: impl FnOnce(&mut Rng, bool) -> T,
    ) -> T {
        match given(&self.given) {
            Some(value) => value,
            None if self.spec.is_described() => T::default(),
            None => random(&mut self.rng, self.spec.wild),
        }
    }

    fn set(&mut self, name: &'static str, value: Value<'static>) {
        self.row.push((name, value));
    }

    // Values: each function writes one and returns it.

    fn text(&mut self, text: &str) -> Value<'static> {
        let nul = self.spec.counts_nul.then_some(0);
        let units: Vec<u16> = text.encode_utf16().chain(nul).collect();
        self.file.add(units.len() as u16);
        self.file.all(units);
        Value::owned(text.to_owned())
    }

    /// A text that starts like this in believable files and is anything in wild ones.
    fn some_text(&mut self, stem: &str) -> Value<'static> {
        let named = self.spec.named(stem).max(1);
        let text = self.next(
            |given| given.as_text().map(|text| text.to_string()),
            |rng, wild| {
                if wild {
                    let letters: Vec<char> = "abcXYZ019_.\\/ <>&\"'äß가나다던전😀𐍈".chars().collect();
                    (0..rng.usize(0..14)).map(|_| letters[rng.usize(0..letters.len())]).collect()
                } else {
                    format!("{stem}_{:03}", rng.u32(0..named))
                }
            },
        );
        self.text(&text)
    }

    fn int_of(&mut self, value: i32) -> Value<'static> {
        self.file.add(value);
        value.into()
    }

    fn int(&mut self) -> Value<'static> {
        let value = self.next(
            |given| if let Value::Int(value) = given { Some(*value as i32) } else { None },
            |rng, wild| if wild { rng.i32(..) } else { rng.i32(0..200) },
        );
        self.int_of(value)
    }

    fn uint(&mut self) -> Value<'static> {
        let value = self.next(
            |given| if let Value::Uint(value) = given { Some(*value as u32) } else { None },
            |rng, wild| if wild { rng.u32(..) } else { rng.u32(0..20) },
        );
        self.file.add(value);
        value.into()
    }

    fn flag(&mut self) -> Value<'static> {
        let value =
            self.next(|given| if let Value::Bool(value) = given { Some(*value) } else { None }, |rng, _| rng.bool());
        self.file.add(i32::from(value));
        value.into()
    }

    fn float_of(&mut self, value: f32) -> Value<'static> {
        self.file.add(value);
        value.into()
    }

    fn float(&mut self) -> Value<'static> {
        let value = self.next(
            |given| if let Value::F32(value) = given { Some(*value) } else { None },
            |rng, wild| {
                let value = if wild { f32::from_bits(rng.u32(..)) } else { rng.i32(0..400) as f32 / 10.0 };
                if value.is_finite() { value } else { -0.0 }
            },
        );
        self.float_of(value)
    }

    fn count(&mut self, count: u32) -> Value<'static> {
        self.int_of(count as i32)
    }

    fn counts(&mut self, counts: &[u32]) {
        counts.iter().for_each(|count| drop(self.count(*count)));
    }

    /// The number of items for the list `name`.
    fn few(&mut self, name: &str) -> u32 {
        let given =
            |given: &Value<'static>| if let Value::List(items) = given { Some(items.len() as u32) } else { None };
        self.member(name, |out| out.next(given, |rng, _| rng.u32(0..4)))
    }

    /// The items of the list `name`.
    fn list(&mut self, name: &str, count: u32, item: impl FnMut(&mut Self) -> Value<'static>) -> Value<'static> {
        self.member(name, |out| out.items(count, item))
    }

    fn items(&mut self, count: u32, mut item: impl FnMut(&mut Self) -> Value<'static>) -> Value<'static> {
        let mut given = if let Value::List(items) = &self.given { items.clone() } else { Vec::new() }.into_iter();
        Value::List((0..count).map(|_| self.within(given.next().unwrap_or(Value::Null), &mut item)).collect())
    }

    /// A value of a kind: `int`, `uint`, `flag`, `float`, a text that starts like this, or, with `*` and a count, a list.
    fn value(&mut self, kind: &str) -> Value<'static> {
        if let Some((kind, count)) = kind.split_once('*') {
            return self.items(count.parse().expect("a count"), |out| out.value(kind));
        }
        match kind {
            "int" => self.int(),
            "uint" => self.uint(),
            "flag" => self.flag(),
            "float" => self.float(),
            stem => self.some_text(stem),
        }
    }

    /// Fields, each as its name and its kind.
    fn values(&mut self, fields: &'static str) -> FieldValues {
        let fields = fields.split_whitespace().map(|field| field.split_once(':').expect("a name and a kind"));
        fields.map(|(name, kind)| (name, self.member(name, |out| out.value(kind)))).collect()
    }

    fn fields(&mut self, fields: &'static str) {
        let values = self.values(fields);
        self.row.extend(values);
    }

    /// A count, and a list of that many values.
    fn counted(&mut self, name: &'static str, item: impl FnMut(&mut Self) -> Value<'static>) {
        let count = self.few(name);
        self.count(count);
        let values = self.list(name, count, item);
        self.set(name, values);
    }

    /// A category, if the version has one, and a key.
    fn entry(&mut self, stem: &str) -> Value<'static> {
        let category = if self.spec.main >= 22 { self.member("category", Self::uint) } else { Value::Null };
        Value::Map(vec![("category".into(), category), ("key".into(), self.member("key", |out| out.some_text(stem)))])
    }

    fn named(&mut self, name: &'static str, stem: &str) -> Value<'static> {
        let category = self.member("category", Self::uint);
        Value::Map(vec![("category".into(), category), (name.into(), self.member(name, |out| out.some_text(stem)))])
    }

    // Sections, in file order.

    fn header(&mut self) {
        let spec = self.spec;
        self.text("stairwaygames.");
        self.file.add(spec.main);
        let versions = [spec.event_box, spec.ani_bg, spec.item_box, spec.gimmick].into_iter().chain(spec.header_counts);
        for (since, number) in [7, 7, 7, 8, 9, 16, 18, 18].into_iter().zip(versions) {
            if spec.main >= since {
                self.file.add(number);
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
        let path = &self.spec.path;
        self.path("model_path", &format!("{path}.mmp"));
        self.path("nav_mesh_path", &format!("{path}.navi"));
        if main >= 2 {
            self.path("nav_height_path", &format!("{path}.height"));
        }
        self.path("event_box_path", ".\\");
    }

    fn event_boxes(&mut self) {
        let spec = self.spec;
        self.start("event_box_index");
        self.file.add(spec.box_types);
        let table = self.file.zeros(8 * spec.box_types as usize);
        for &number in spec.block_order.iter().filter(|&&n| n < spec.box_types as usize) {
            let offset = self.file.position();
            self.start(BOXES[number].0);
            for index in 0..spec.boxes[number] {
                self.record(BOXES[number].0, index, |out, index| out.event_box(number, index));
            }
            self.file.patch(table + 8 * number, bytes([offset as u32, spec.boxes[number]]));
        }
    }

    /// A name and a place. Believable maps begin at 0 along x and z.
    fn place(&mut self, stem: &str, number: u32) {
        if self.spec.is_described() {
            return self.fields(
                "name:text pos_x:float pos_y:float pos_z:float scale_x:float scale_y:float scale_z:float rot_x:float \
                 rot_y:float rot_z:float rot_w:float ext_x:float ext_y:float ext_z:float",
            );
        }
        let name = if self.spec.wild { self.some_text(stem) } else { self.text(&format!("{stem}_{number:03}")) };
        self.set("name", name);
        let (wild, side) = (self.spec.wild, self.spec.side());
        let [mut x, mut z] = [(); 2].map(|()| if wild { self.rng.f32() * 4e4 - 2e4 } else { self.rng.f32() * side });
        if !wild && stem == "waypoint" {
            [x, z] = self.spec.waypoint(number);
        }
        let y = self.rng.f32() * 40.0;
        let half = self.rng.f32() * TAU / 2.0;
        let (sin, cos) = libm::sincosf(half);
        let mut turn = [0.0, sin, 0.0, cos];
        if wild {
            turn = std::array::from_fn(|_| self.rng.f32() - 0.5);
        }
        let size = if stem == "waypoint" { 8.0 } else { 25.0 };
        let extents: [f32; 3] = std::array::from_fn(|_| size + self.rng.f32() * size);
        let scale = if wild { [1.0, 2.0, 0.5] } else { [1.0; 3] };
        let numbers = [x, y, z].into_iter().chain(scale).chain(turn).chain(extents);
        let names = "pos_x pos_y pos_z scale_x scale_y scale_z rot_x rot_y rot_z rot_w ext_x ext_y ext_z";
        for (name, number) in names.split(' ').zip(numbers) {
            let value = self.float_of(number);
            self.set(name, value);
        }
    }

    fn event_box(&mut self, number: usize, index: u32) {
        let (table, fields) = BOXES[number];
        self.place(table.trim_end_matches("_boxes"), index);
        self.fields(fields);
        let version = self.spec.event_box;
        match number {
            0 => self.camera(),
            3 if version >= 9 => {
                self.fields("signpost_text_id:int signpost_pos_x:float signpost_pos_y:float signpost_pos_z:float");
            }
            5 => {
                let counts = ["hit_times", "temp_hit_times"].map(|name| self.few(name));
                for (name, count) in ["hit_count", "temp_hit_count"].into_iter().zip(counts) {
                    let count = self.count(count);
                    self.set(name, count);
                }
                for (name, count) in ["hit_times", "temp_hit_times"].into_iter().zip(counts) {
                    let times = self.list(name, count, Self::float);
                    self.set(name, times);
                }
            }
            13 => {
                self.fields(if version < 8 { "name_deprecated:Target" } else { "name_text_id:int" });
                if version >= 2 {
                    self.fields("target_local_pc:flag");
                }
            }
            17 if self.spec.is_described() => {
                self.fields("id:int range:float");
                let count = self.few("links");
                let links = self.count(count);
                self.set("link_count", links);
                let links = self.list("links", count, Self::int);
                self.set("links", links);
                let distances = self.list("link_distances", count, Self::float);
                self.set("link_distances", distances);
            }
            17 => self.waypoint(index),
            _ => {}
        }
    }

    /// Ids start at 100; each waypoint has links to its neighbours, and the last one to the first.
    fn waypoint(&mut self, index: u32) {
        let of_type = self.spec.boxes[17];
        let mut links: Vec<u32> = Vec::new();
        links.extend(index.checked_sub(1));
        links.extend(Some(index + 1).filter(|next| *next < of_type));
        links.extend(Some(0).filter(|_| index + 1 == of_type && index > 1));
        let id = self.int_of(100 + index as i32);
        self.set("id", id);
        self.fields("range:float");
        let count = self.count(links.len() as u32);
        self.set("link_count", count);
        let ids = links.iter().map(|link| self.int_of(100 + *link as i32)).collect();
        self.set("links", Value::List(ids));
        let [x, z] = self.spec.waypoint(index);
        let distances = links.iter().map(|link| {
            let there = self.spec.waypoint(*link);
            self.float_of(libm::hypotf(x - there[0], z - there[1]))
        });
        let distances = Value::List(distances.collect());
        self.set("link_distances", distances);
    }

    fn camera(&mut self) {
        if self.spec.event_box >= 7 {
            self.fields("category:uint");
        }
        let mut numbers = 0..4;
        let infos = self.list("camera_infos", 4, |out| out.camera_info(numbers.next().expect("four infos")));
        self.set("camera_infos", infos);
    }

    fn camera_info(&mut self, number: usize) -> Value<'static> {
        let version = self.spec.event_box;
        let has_target = version >= 3 || number == 0;
        let target = if has_target { self.member("camera_target", |out| out.some_text("Bip01")) } else { Value::Null };
        let mut info = vec![("camera_target", target)];
        info.extend(self.values(
            "camera_name:Camera camera_pos_x:float camera_pos_y:float camera_pos_z:float camera_rot_x:float \
             camera_rot_y:float camera_rot_z:float fov:float frustum:float*14",
        ));
        info.push(("build_pvs", if version >= 5 { self.member("build_pvs", Self::flag) } else { Value::Null }));
        let lists = "render_bg_list render_ani_list render_item_list render_gimmick_list \
                     no_render_bg_list no_render_ani_list no_render_item_list no_render_gimmick_list";
        if version >= 4 {
            let names = ["pvs_bg_ids", "pvs_event_entries"].into_iter().chain(lists.split_whitespace());
            let counts: Vec<u32> = names.chain(["build_pos_list"]).map(|name| self.few(name)).collect();
            self.counts(&counts);
            info.push(("pvs_bg_ids", self.list("pvs_bg_ids", counts[0], Self::uint)));
            let (ids, entries) = if version < 6 {
                (self.items(counts[1], Self::uint), Value::Null)
            } else {
                let event = |out: &mut Self| out.named("name", "trigger");
                (Value::Null, self.list("pvs_event_entries", counts[1], event))
            };
            info.extend([("pvs_event_box_ids", ids), ("pvs_event_entries", entries)]);
            info.extend(self.shown(lists, &counts[2..10]));
            info.push(("build_pos_list", self.list("build_pos_list", counts[10], |out| out.value("float*3"))));
        } else {
            let absent = ["pvs_bg_ids", "pvs_event_box_ids", "pvs_event_entries"].into_iter();
            let absent = absent.chain(lists.split_whitespace()).chain(["build_pos_list"]);
            info.extend(absent.map(|name| (name, Value::Null)));
        }
        map(info)
    }

    /// Lists of the things to show and to hide.
    fn shown(&mut self, names: &'static str, counts: &[u32]) -> FieldValues {
        let stems = ["bg", "ani_bg", "item_box", "gimmick"].into_iter().cycle();
        let lists = names.split_whitespace().zip(counts).zip(stems);
        lists.map(|((name, count), stem)| (name, self.list(name, *count, |out| out.entry(stem)))).collect()
    }

    fn ani_bg(&mut self, index: u32) {
        self.place("ani_bg", index);
        let version = if self.spec.main >= 7 { self.spec.ani_bg } else { 0 };
        self.fields("model:model motion:motion loop:flag light_index:int cover_index:int");
        for (since, field) in [(3, "shadow:flag"), (4, "move_weight:flag"), (5, "pvs_rad:float")] {
            if version >= since {
                self.fields(field);
            }
        }
    }

    fn item_box(&mut self, index: u32) {
        self.place("item_box", index);
        self.fields("model:model motion:motion table_path:table_path loop:flag");
        if self.spec.main >= 7 && self.spec.item_box >= 3 {
            self.fields("open_enable:flag");
        }
    }

    fn gimmick(&mut self, index: u32) {
        self.place("gimmick", index);
        self.fields(
            "model:model motion:motion loop_flag:int light_index:int cover_index:int shadow:int move_weight:int",
        );
        self.fields("template_id:int");
    }

    fn trailing_paths(&mut self) {
        self.start("trailing_paths");
        if self.spec.main >= 2 {
            self.path("obstacle_path", &format!("{}.obstacle", self.spec.path));
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
        self.file.add(0);
        self.script("script_dir", ".\\");
        self.file.add(0);
        let stem = self.spec.path.rsplit('\\').next().expect("a last part");
        self.script("main_script", &format!("{stem}_main.lua"));
        let count = self.spec.trigger_count;
        if self.spec.triggers == TriggerLayout::Triggers {
            return self.records("triggers", count, Self::trigger);
        }
        self.start(self.spec.triggers.name());
        self.counts(&[count; 3]);
        for kind in ["event", "condition", "action"] {
            (0..count).for_each(|i| self.script(kind, &format!(".\\script\\{kind}_{i}.lua")));
        }
    }

    fn trigger(&mut self, _: u32) {
        self.fields("name:name comment:comment");
        let lists = ["events", "conditions", "actions"];
        let counts = lists.map(|name| self.few(name));
        self.counts(&counts);
        for (name, count) in lists.into_iter().zip(counts) {
            let value = self.list(name, count, |out| out.some_text("On"));
            self.set(name, value);
        }
    }
}

fn map(fields: FieldValues) -> Value<'static> {
    Value::Map(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// Whether a written value holds all that is given.
fn holds(written: &Value<'_>, given: &Value<'_>) -> bool {
    match (written, given) {
        (Value::Map(written), Value::Map(given)) => {
            given.iter().all(|(name, given)| written.iter().any(|(of, written)| of == name && holds(written, given)))
        }
        (Value::List(written), Value::List(given)) => {
            written.len() == given.len() && written.iter().zip(given).all(|(written, given)| holds(written, given))
        }
        (_, Value::Null) => true,
        _ => written == given,
    }
}

/// The tables of the box types, in the order of their numbers, and the fields that they have in every version.
const BOXES: [(&str, &str); 19] = [
    ("camera_boxes", ""),
    (
        "respawn_boxes",
        "total_enemy_num:int enemy_num:int enemy_name:Goblin respawn_time:float respawn_motion:Spawn in_check:flag \
         random_direction:flag difficulty:flag*5",
    ),
    ("start_point_boxes", "id:int"),
    ("trigger_boxes", "state:int action_motion:Act motion:Idle"),
    ("skid_boxes", "state:int velocity:float*3 end_time:float duration:float"),
    ("event_hit_boxes", "state:uint ani_bg_name:ani_bg damage:float direction:float*3 damage_motion:Hit"),
    ("npc_boxes", "npc_name:Npc id:int instance_id:int"),
    ("portal_boxes", "warp_map_name:Dungeon id:int msg_type:int warp_map_id:int warp_portal_id:int active:flag"),
    ("select_map_portal_boxes", "id:int msg_type:int active:flag"),
    ("in_area_boxes", "warp_map_name:Area id:int active:flag"),
    ("etc_boxes", "id:int"),
    ("camera_block_boxes", ""),
    ("cutoff_boxes", "cutoff_type:int"),
    ("camera_target_boxes", ""),
    ("unused_boxes", ""),
    ("mini_map_icon_boxes", "icon_type:int"),
    ("environment_reverb_boxes", "reverb_type:int"),
    ("waypoint_boxes", ""),
    ("obstacle_boxes", ""),
];
