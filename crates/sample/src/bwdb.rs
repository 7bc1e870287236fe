//! Builds prototype databases: any that a test wants, and one of the size of the games' own.

use super::prototypes::{BlobWriter, Resources, records};
use super::{Size, Writer};
use assetq_core::codec::{cityhash64, murmur3};
use assetq_core::threads::prelude::*;
use assetq_wows::bwdb::layout::MAGIC;
use assetq_wows::bwdb::prototypes::{Layout, PrototypeType};
use fastrand::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Builds a prototype database.
///
/// ```
/// use assetq_sample::bwdb::DatabaseBuilder;
/// let mut builder = DatabaseBuilder::default();
/// let name = builder.string("diffuseMap");
/// let path = builder.path("content/gameplay/hull.visual");
/// let db = assetq::formats::wows::bwdb::Database::open(assetq::Source::from_vec("assets.bin", builder.build()))?;
/// assert_eq!(db.string(name)?, Some("diffuseMap"));
/// assert_eq!(db.path(path)?.as_deref(), Some("content/gameplay/hull.visual"));
/// # Ok::<(), assetq::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DatabaseBuilder {
    /// Slots of the strings map; as many as are needed for half of them to be empty, if not given.
    string_capacity: Option<u32>,
    /// Slots of the resources map; as `string_capacity`.
    resource_capacity: Option<u32>,
    strings: Vec<(u32, String)>,
    string_ids: HashSet<u32>,
    paths: Vec<PathSpec>,
    path_ids: HashSet<u64>,
    resources: Vec<(u64, u32)>,
    databases: Vec<(u32, u32, Vec<u8>)>,
}

/// The places of sections in the body header, and the base of the pointer to databases.
struct BodyOrder {
    packed: u8,
    strings: usize,
    resources: usize,
    paths: usize,
    databases: usize,
    databases_base: usize,
}

const PC: BodyOrder =
    BodyOrder { packed: 1, strings: 0, resources: 0x28, paths: 0x40, databases: 0x50, databases_base: 0 };

const LEGENDS: BodyOrder =
    BodyOrder { packed: 0, strings: 0x28, resources: 0, paths: 0x18, databases: 0x50, databases_base: 0x50 };

#[derive(Debug, Clone)]
struct PathSpec {
    id: u64,
    parent: u64,
    name: String,
}

impl DatabaseBuilder {
    /// A database with this number of slots in its maps.
    pub fn with_capacities(strings: u32, resources: u32) -> Self {
        Self { string_capacity: Some(strings), resource_capacity: Some(resources), ..Self::default() }
    }

    /// Adds a text; returns its name id. A text with the id of an earlier one is skipped.
    pub fn string(&mut self, text: &str) -> u32 {
        let id = murmur3(text.as_bytes());
        if self.string_ids.insert(id) {
            self.strings.push((id, text.to_owned()));
        }
        id
    }

    /// Adds a path with all of its folders; returns its id.
    pub fn path(&mut self, path: &str) -> u64 {
        let id = cityhash64(path.as_bytes());
        if self.path_ids.insert(id) {
            let (parent, name) = match path.rsplit_once('/') {
                Some((folder, name)) => (self.path(folder), name),
                None => (0, path),
            };
            self.raw_path(id, parent, name);
        }
        id
    }

    /// Adds an unchecked path entry: for intentionally wrong ids and parents.
    pub fn raw_path(&mut self, id: u64, parent: u64, name: &str) {
        self.path_ids.insert(id);
        self.paths.push(PathSpec { id, parent, name: name.to_owned() });
    }

    /// Says which record a resource has. States: 0 valid, 3 deleted.
    pub fn resource(&mut self, id: u64, database: usize, record: usize, state: u32) {
        self.resources.push((id, (record as u32) << 8 | (database as u32) << 2 | state));
    }

    /// Adds a database; returns its number.
    pub fn database(&mut self, magic: u32, checksum: u32, blob: Vec<u8>) -> usize {
        self.databases.push((magic, checksum, blob));
        self.databases.len() - 1
    }

    /// The file, its sections in the order of docs/formats/bwdb.md §2.1 and without gaps.
    pub fn build(&self) -> Vec<u8> {
        self.build_in(&PC)
    }

    /// The file in the order of World of Warships: Legends. No real file was at hand: docs/formats/legends.md.
    pub fn build_legends(&self) -> Vec<u8> {
        self.build_in(&LEGENDS)
    }

    fn build_in(&self, order: &BodyOrder) -> Vec<u8> {
        let blobs: usize = self.databases.iter().map(|d| d.2.len()).sum();
        let mut w = Writer::with_capacity(blobs + (64 << 10) + self.paths.len() * 96 + self.strings.len() * 64);
        w.push(MAGIC);
        w.push([0, 0, order.packed, 1]);
        let checksum = w.u32(0);
        w.push([64, 0, 0, 0]);
        let body = w.zeros(0x60);
        let pointer = |w: &mut Writer, at: usize, base: usize, target: usize| w.point(body + at, body + base, target);

        let capacity = self.string_capacity.unwrap_or_else(|| roomy(self.strings.len()));
        let mut pool = Writer::new();
        let offsets: Vec<u32> = self
            .strings
            .iter()
            .map(|(_, text)| {
                let at = pool.push(text);
                pool.push([0]);
                at as u32
            })
            .collect();
        let slots = place(self.strings.iter().map(|(id, _)| u64::from(*id)), capacity);
        let at = order.strings;
        w.patch(body + at, capacity.to_le_bytes());
        let buckets = w.zeros(capacity as usize * 8);
        let values = w.zeros(capacity as usize * 4);
        for ((slot, (id, _)), offset) in slots.iter().zip(&self.strings).zip(&offsets) {
            w.patch(buckets + slot * 8, id.to_le_bytes());
            w.patch(buckets + slot * 8 + 4, (0x8000_0000u32).to_le_bytes());
            w.patch(values + slot * 4, offset.to_le_bytes());
        }
        pointer(&mut w, at + 0x08, at, buckets);
        pointer(&mut w, at + 0x10, at, values);
        w.patch(body + at + 0x18, (pool.position() as u32).to_le_bytes());
        let data = w.push(pool.bytes());
        pointer(&mut w, at + 0x20, at, data);

        let capacity = self.resource_capacity.unwrap_or_else(|| roomy(self.resources.len()));
        let slots = place(self.resources.iter().map(|(id, _)| *id), capacity);
        let at = order.resources;
        w.patch(body + at, capacity.to_le_bytes());
        let buckets = w.zeros(capacity as usize * 16);
        let values = w.zeros(capacity as usize * 4);
        for (slot, (id, value)) in slots.iter().zip(&self.resources) {
            w.patch(buckets + slot * 16, id.to_le_bytes());
            w.patch(buckets + slot * 16 + 8, (1u64 << 63).to_le_bytes());
            w.patch(values + slot * 4, value.to_le_bytes());
        }
        pointer(&mut w, at + 0x08, at, buckets);
        pointer(&mut w, at + 0x10, at, values);

        let at = order.paths;
        w.patch(body + at, (self.paths.len() as u32).to_le_bytes());
        let entries = w.zeros(self.paths.len() * 0x20);
        pointer(&mut w, at + 0x08, at, entries);
        for (index, path) in self.paths.iter().enumerate() {
            let entry = entries + index * 0x20;
            w.patch(entry, path.id.to_le_bytes());
            w.patch(entry + 8, path.parent.to_le_bytes());
            w.patch(entry + 0x10, (path.name.len() as u32 + 1).to_le_bytes());
            let name = w.push(&path.name);
            w.push([0]);
            w.point(entry + 0x18, entry + 0x10, name);
        }

        let at = order.databases;
        w.patch(body + at, (self.databases.len() as u32).to_le_bytes());
        let entries = w.zeros(self.databases.len() * 0x18);
        pointer(&mut w, at + 0x08, order.databases_base, entries);
        for (index, (magic, schema, blob)) in self.databases.iter().enumerate() {
            let entry = entries + index * 0x18;
            w.patch(entry, magic.to_le_bytes());
            w.patch(entry + 4, schema.to_le_bytes());
            w.patch(entry + 8, (blob.len() as u32).to_le_bytes());
            let at = w.push(blob);
            w.point(entry + 0x10, entry, at);
        }
        let sum = murmur3(&w.bytes()[0x10..]);
        w.patch(checksum, sum.to_le_bytes());
        w.into_bytes()
    }
}

/// A prime capacity that leaves about half of the slots empty.
fn roomy(count: usize) -> u32 {
    let is_prime = |n: usize| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (count * 2 + 3..).find(|&n| is_prime(n)).map_or(3, |n| n as u32)
}

/// The slot of each key, by linear probing in the order of the keys.
fn place(keys: impl Iterator<Item = u64>, capacity: u32) -> Vec<usize> {
    let mut taken = vec![false; capacity as usize];
    keys.map(|key| {
        let home = (key % u64::from(capacity)) as usize;
        let slot = (home..taken.len()).chain(0..home).find(|&s| !taken[s]).expect("room for every key");
        taken[slot] = true;
        slot
    })
    .collect()
}

/// How big the parts of a sample are.
struct SampleSizes {
    paths: usize,
    /// Bytes of all their names; 0 for as many as names of `name_bytes` have.
    path_bytes: usize,
    name_bytes: usize,
    strings: usize,
    string_bytes: usize,
    string_capacity: Option<u32>,
    resource_capacity: Option<u32>,
    /// Records of each type, in the order of `PrototypeType::ALL`.
    records: [usize; 10],
    /// Bytes of all blobs.
    blob_bytes: Option<usize>,
}

const SMALL: SampleSizes = SampleSizes {
    paths: 60,
    path_bytes: 0,
    name_bytes: 14,
    strings: 40,
    string_bytes: 0,
    string_capacity: None,
    resource_capacity: None,
    records: [8, 4, 2, 4, 2, 2, 1, 2, 2, 2],
    blob_bytes: None,
};

/// The size of the full plan's file.
const FULL_BYTES: usize = 170_699_420;

/// The sections of the real file in docs/formats/bwdb.md §2.1, 170,699,420 bytes in all. (Its figure for the blobs,
/// 131,408,654, does not fit its own offsets and size; those leave this many.)
const FULL: SampleSizes = SampleSizes {
    paths: 246_065,
    path_bytes: 7_014_374,
    name_bytes: 27,
    strings: 338_000,
    string_bytes: 7_669_544,
    string_capacity: Some(786_433),
    resource_capacity: Some(393_241),
    records: [56_000, 28_000, 2_600, 28_000, 1_400, 5_200, 60, 2_400, 2_400, 1_900],
    blob_bytes: Some(130_839_054),
};

impl SampleSizes {
    /// The full plan, its counts scaled to a file of about `bytes` bytes.
    fn of(bytes: usize) -> Self {
        let scaled = |count: usize| (count as f64 * bytes as f64 / FULL_BYTES as f64).ceil() as usize;
        Self {
            paths: scaled(FULL.paths),
            path_bytes: 0,
            name_bytes: FULL.name_bytes,
            strings: scaled(FULL.strings),
            string_bytes: scaled(FULL.string_bytes),
            string_capacity: FULL.string_capacity.map(|c| scaled(c as usize) as u32 | 1),
            resource_capacity: FULL.resource_capacity.map(|c| scaled(c as usize) as u32 | 1),
            records: FULL.records.map(scaled),
            blob_bytes: None,
        }
    }
}

/// A hostile database: an effect, `particles/bomb.xml`, with `systems` systems that all have the same 5,000 components.
pub fn systems_that_share(systems: usize) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("particles/bomb.xml");
    let mut blob = BlobWriter::new(PrototypeType::Effect, 1);
    let at = blob.record(0);
    blob.data.patch(at + 4, (systems as u32).to_le_bytes());
    let array = blob.structs(at, 8, systems, 0x1C8);
    // Components and scalars of kind -1 have no body.
    let components = blob.data.push(vec![0xFF; 5000 * 0x10]);
    for system in (0..systems).map(|i| array + i * 0x1C8) {
        for scalar in [0xA0, 0xD0, 0xE0, 0xF0, 0x100, 0x110] {
            blob.data.patch(system + scalar, (-1i32).to_le_bytes());
        }
        blob.data.patch(system + 0x1B8, 5000i32.to_le_bytes());
        blob.data.point(system + 0x1C0, system, components);
    }
    builder.database(PrototypeType::Effect.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    builder.build()
}

/// A believable `assets.bin`: the same bytes for the same seed. `Full` has the section sizes of the real
/// file in docs/formats/bwdb.md §2.1, 170,699,420 bytes.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    assemble(seed, size).build()
}

/// A [`demo`], and the paths of files that it names and that are not in it.
#[derive(Debug)]
pub(super) struct WithFiles {
    pub bytes: Vec<u8>,
    /// Textures and geometries.
    pub files: Vec<String>,
}

pub(super) fn demo_with_files(seed: u64, size: Size) -> WithFiles {
    let builder = assemble(seed, size);
    let entries: HashMap<u64, &PathSpec> = builder.paths.iter().map(|path| (path.id, path)).collect();
    let is_file = |path: &&PathSpec| path.name.ends_with(".dds") || path.name.ends_with(".geometry");
    let join = |path: &PathSpec| {
        let mut names = vec![&*path.name];
        let mut parent = path.parent;
        while let Some(folder) = entries.get(&parent) {
            names.push(&folder.name);
            parent = folder.parent;
        }
        names.reverse();
        names.join("/")
    };
    let files = builder.paths.iter().filter(is_file).map(join).collect();
    WithFiles { files, bytes: builder.build() }
}

fn assemble(seed: u64, size: Size) -> DatabaseBuilder {
    let plan = match size {
        Size::Small => &SMALL,
        Size::Full => &FULL,
    };
    planned(seed, plan)
}

/// A sample with everything scaled to about `bytes` bytes, a million at the least: to see how cost grows.
pub fn demo_of(seed: u64, bytes: usize) -> Vec<u8> {
    planned(seed, &SampleSizes::of(bytes.max(1_000_000))).build()
}

fn planned(seed: u64, plan: &SampleSizes) -> DatabaseBuilder {
    let mut rng = Rng::with_seed(seed);
    let mut builder = DatabaseBuilder {
        string_capacity: plan.string_capacity,
        resource_capacity: plan.resource_capacity,
        ..DatabaseBuilder::default()
    };
    let strings = name_strings(&mut builder, plan, &mut rng);
    let resources = name_paths(&mut builder, plan, &mut rng);
    let seeds: Vec<u64> = PrototypeType::ALL.iter().map(|_| rng.u64(..)).collect();
    let blob = |(index, &prototype): (usize, &PrototypeType)| {
        let mut rng = Rng::with_seed(seeds[index]);
        let mut blob = BlobWriter::new(prototype, plan.records[index]);
        records(&mut blob, prototype, &strings, &resources, &mut rng);
        blob.finish()
    };
    let mut blobs: Vec<Vec<u8>> = PrototypeType::ALL.par_iter().enumerate().map(blob).collect();
    if let Some(wanted) = plan.blob_bytes {
        let written: usize = blobs.iter().map(Vec::len).sum();
        assert!(written <= wanted, "the plan has room for {wanted} bytes of records, not {written}");
        // The last blob takes the remaining bytes after its records' data.
        let last = blobs.last_mut().expect("ten blobs");
        last.resize(last.len() + wanted - written, 0);
    }
    for (&prototype, blob) in PrototypeType::ALL.iter().zip(blobs) {
        builder.database(prototype.magic(), murmur3(prototype.table().as_bytes()), blob);
    }
    for (database, ids) in resources.by_type.iter().enumerate() {
        for (record, &id) in ids.iter().enumerate() {
            builder.resource(id, database, record, 0);
        }
    }
    for (record, &id) in resources.deleted.iter().enumerate() {
        builder.resource(id, 1, record, 3);
    }
    builder
}

/// A later build of the [`demo`] of a seed, and the differences of the two.
#[derive(Debug)]
pub struct Altered {
    /// The file.
    pub bytes: Vec<u8>,
    /// Paths that it has and the other has not.
    pub added_paths: Vec<String>,
    /// Ids of paths that it has no more.
    pub removed_paths: Vec<u64>,
    /// Ids of resources that it has and the other has not.
    pub added: Vec<u64>,
    /// Ids of resources that it has no more.
    pub removed: Vec<u64>,
    /// Ids of resources with a changed record, each with the changed field.
    pub changed: Vec<(u64, &'static str)>,
    /// Texts that it has and the other has not.
    pub added_strings: Vec<String>,
}

/// The [`demo`] of a seed with about one in a hundred records altered, some paths, resources and texts more or less,
/// and all records in other places: of materials and models, every other two have changed theirs, and the databases
/// lie in another order.
pub fn altered(seed: u64, size: Size) -> Altered {
    let mut builder = assemble(seed, size);
    let step = if size == Size::Full { 100 } else { 2 };
    let mut owners: Vec<HashMap<usize, u64>> = vec![HashMap::new(); builder.databases.len()];
    for &(id, value) in builder.resources.iter().filter(|(_, value)| value & 3 == 0) {
        owners[(value >> 2 & 0x3F) as usize].insert((value >> 8) as usize, id);
    }
    let mut changed = Vec::new();
    let f32_at = |blob: &[u8], at: usize| f32::from_le_bytes(blob[at..at + 4].try_into().expect("four bytes"));
    for (database, &prototype) in PrototypeType::ALL.iter().enumerate() {
        let record_size = Layout::Current(prototype).size();
        let blob = &mut builder.databases[database].2;
        for (number, (&record, &id)) in owners[database].iter().collect::<BTreeMap<_, _>>().into_iter().enumerate() {
            if number % step != 0 {
                continue;
            }
            let at = 16 + record * record_size;
            let target = |field: usize| {
                let pointer = i64::from_le_bytes(blob[at + field..at + field + 8].try_into().expect("eight bytes"));
                (at as i64 + pointer) as usize
            };
            let (place, field) = match prototype {
                PrototypeType::Material => (at + 0x74, "sort_order"),
                PrototypeType::Visual => (target(0x68), "lods[0].extent"),
                PrototypeType::PointLight => (at + 0x60, "radius"),
                PrototypeType::Effect => (at, "max_emitting_duration"),
                _ => continue,
            };
            if prototype == PrototypeType::Material {
                blob[place + 1] ^= 1;
            } else {
                let value = f32_at(blob, place) + 1.0;
                blob[place..place + 4].copy_from_slice(&value.to_le_bytes());
            }
            changed.push((id, field));
        }
    }
    // Two records are exchanged: their targets keep their positions, so that their pointers change.
    let mut moved: HashMap<(usize, usize), usize> = HashMap::new();
    for database in [0, 3] {
        let prototype = PrototypeType::ALL[database];
        let record_size = Layout::Current(prototype).size();
        let blob = &mut builder.databases[database].2;
        for first in (0..owners[database].len().saturating_sub(1)).step_by(4) {
            let (a, b) = (16 + first * record_size, 16 + (first + 1) * record_size);
            let (front, back) = blob.split_at_mut(b);
            front[a..].swap_with_slice(&mut back[..record_size]);
            for (at, by) in [(a, record_size as i64), (b, -(record_size as i64))] {
                for field in Layout::Current(prototype).pointers() {
                    let place = at + field..at + field + 8;
                    let pointer = i64::from_le_bytes(blob[place.clone()].try_into().expect("eight bytes"));
                    if pointer != 0 {
                        blob[place].copy_from_slice(&(pointer + by).to_le_bytes());
                    }
                }
            }
            moved.insert((database, first), first + 1);
            moved.insert((database, first + 1), first);
        }
    }
    let last = builder.databases.len() - 1;
    for (_, value) in &mut builder.resources {
        let (database, record) = ((*value >> 2 & 0x3F) as usize, (*value >> 8) as usize);
        let record = moved.get(&(database, record)).copied().unwrap_or(record);
        *value = (record as u32) << 8 | ((last - database) as u32) << 2 | *value & 3;
    }
    builder.databases.reverse();

    // Resources and their paths, of types without changes so far.
    let mut removed = Vec::new();
    for database in [2, 6, 9] {
        removed.extend(owners[database].iter().filter(|(record, _)| *record % step == 1).map(|(_, id)| *id));
    }
    removed.sort_unstable();
    let gone: HashSet<u64> = removed.iter().copied().collect();
    builder.resources.retain(|(id, _)| !gone.contains(id));
    let plain: Vec<u64> = builder.paths.iter().filter(|p| p.name.ends_with("_a.dds")).map(|p| p.id).collect();
    let mut removed_paths: Vec<u64> = plain.into_iter().step_by(step).chain(removed.iter().copied()).collect();
    removed_paths.sort_unstable();
    let gone: HashSet<u64> = removed_paths.iter().copied().collect();
    builder.paths.retain(|path| !gone.contains(&path.id));
    let count = if size == Size::Full { 500 } else { 2 };
    let (mut added, mut added_paths) = (Vec::new(), Vec::new());
    for index in 0..count {
        let before = builder.paths.len();
        let path = format!("content/gameplay/added/{index:04}.model");
        let id = builder.path(&path);
        builder.resource(id, last - 3, index, 0);
        added.push(id);
        let mut folder = path.as_str();
        for _ in before..builder.paths.len() {
            added_paths.push(folder.to_owned());
            folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
        // Not all at the end.
        let at = before / count * index;
        let entry = builder.paths.pop().expect("one was added");
        builder.paths.insert(at, entry);
    }
    let mut added_strings = Vec::new();
    for index in 0..count {
        let text = format!("added text {index}");
        let before = builder.strings.len();
        builder.string(&text);
        // Another text may have its hash.
        if builder.strings.len() > before {
            added_strings.push(text);
        }
    }
    Altered { bytes: builder.build(), added_paths, removed_paths, added, removed, changed, added_strings }
}

/// Words that fill names up to the requested length.
const WORDS: [&str; 16] = [
    "Hull", "Deck", "Turret", "Director", "Mast", "Funnel", "Boat", "Crane", "Radar", "Antenna", "Gun", "Torpedo",
    "Catapult", "Bridge", "Rail", "Anchor",
];

/// A unique name of about `len` characters, built from words and `index`.
fn name(prefix: &str, index: usize, len: usize, rng: &mut Rng) -> String {
    let mut name = format!("{prefix}{index:03}");
    while name.len() < len {
        name.push('_');
        name.push_str(WORDS[rng.usize(..WORDS.len())]);
    }
    let shortest = prefix.len() + format!("{index:03}").len();
    name.truncate(len.max(shortest));
    name
}

fn name_strings(builder: &mut DatabaseBuilder, plan: &SampleSizes, rng: &mut Rng) -> Vec<u32> {
    let known = ["Scene Root", "diffuseMap", "normalMap", "doubleSided", "metallicGlossMap", "set3/xyznuvtbpc"];
    let mut bytes = 0;
    for text in known {
        builder.string(text);
        bytes += text.len() + 1;
    }
    while builder.strings.len() < plan.strings {
        let left = plan.strings - builder.strings.len();
        // The bytes that are left are spread evenly, so that the last text fills the pool to its last byte.
        let room = plan.string_bytes.saturating_sub(bytes) / left;
        let jitter = if left > 8 && room > 12 { rng.usize(..9) } else { 4 };
        let wanted = if plan.string_bytes == 0 { 12 } else { (room + jitter).saturating_sub(5) };
        let text = name("n", builder.strings.len(), wanted, rng);
        let before = builder.strings.len();
        builder.string(&text);
        if builder.strings.len() > before {
            bytes += text.len() + 1;
        } else {
            // Another text has this hash: leave a name unused.
            builder.string(&name("m", before, wanted, rng));
            bytes += if builder.strings.len() > before { builder.strings[before].1.len() + 1 } else { 0 };
        }
    }
    if plan.string_bytes > bytes {
        let last = builder.strings.pop().expect("strings").1;
        builder.string_ids.remove(&murmur3(last.as_bytes()));
        let filler = "x".repeat(plan.string_bytes - bytes);
        builder.string(&format!("{last}{filler}"));
    }
    builder.strings.iter().map(|(id, _)| *id).collect()
}

const NATIONS: [&str; 10] =
    ["japan", "usa", "germany", "russia", "uk", "france", "italy", "poland", "pan_asia", "commonwealth"];
const CLASSES: [&str; 5] = ["destroyer", "cruiser", "battleship", "aircarrier", "submarine"];
/// The files in a ship's folder: an ending, and the type of its prototype.
const FILES: [(&str, Option<usize>); 7] = [
    (".visual", Some(1)),
    (".model", Some(3)),
    (".geometry", None),
    (".mfm", Some(0)),
    ("_a.dds", None),
    (".mfm", Some(0)),
    (".splash", None),
];

fn name_paths(builder: &mut DatabaseBuilder, plan: &SampleSizes, rng: &mut Rng) -> Resources {
    let mut resources = Resources::default();
    let mut bytes = 0;
    let mut counted = 0;
    let mut folder = String::new();
    let mut stem = String::new();
    let mut in_folder = FILES.len();
    let mut ships = 0;
    // A small sample has as many paths as its records need.
    let exact = plan.path_bytes > 0;
    let missing = |r: &Resources| !exact && (0..10).any(|t| r.by_type[t].len() < plan.records[t]);
    while builder.paths.len() < plan.paths || missing(&resources) {
        for path in &builder.paths[counted..] {
            bytes += path.name.len() + 1;
        }
        counted = builder.paths.len();
        let left = plan.paths.saturating_sub(counted).max(1);
        let room = plan.path_bytes.saturating_sub(bytes) / left;
        let wanted = if exact { room.saturating_sub(1) } else { plan.name_bytes };
        let need = |t: usize, r: &Resources| r.by_type[t].len() < plan.records[t];
        // Types without a place in a ship's folder have folders of their own.
        let other = [2, 4, 5, 6, 7, 8, 9].into_iter().find(|&t| need(t, &resources));
        if let Some(kind) = other.filter(|_| in_folder >= FILES.len() && (ships % 3 == 2 || left < 20)) {
            let (dir, ending) = [
                ("content/skeletons", ".skel_ext"),
                ("content/lights", ".light"),
                ("particles", ".xml/high"),
                ("particles/fields", ".vf"),
                ("particles/presets", ".xml"),
                ("particles/meta", ".meta"),
                ("gui/atlas", ".contour"),
            ][[2, 4, 5, 6, 7, 8, 9].iter().position(|&t| t == kind).expect("one of these")];
            let index = resources.by_type[kind].len();
            // An ending with a folder in it splits a name in two.
            let text = name("p", index, wanted.saturating_sub(ending.len()), rng);
            if ending.contains('/') && exact && left < 2 {
                continue;
            }
            let id = builder.path(&format!("{dir}/{text}{ending}"));
            resources.by_type[kind].push(id);
            if index % 4 == 3 {
                ships += 1;
            }
            continue;
        }
        if exact && in_folder >= FILES.len() && left == 1 && !folder.is_empty() {
            // Room for one more, not for a folder and a file.
            builder.path(&format!("{folder}/{}.txt", name("last", counted, wanted, rng)));
            continue;
        }
        if in_folder >= FILES.len() {
            let nation = NATIONS[rng.usize(..NATIONS.len())];
            let class = CLASSES[rng.usize(..CLASSES.len())];
            let code = format!("{}{}", nation[..1].to_uppercase(), class[..1].to_uppercase());
            stem = name(&format!("{code}S"), ships, wanted.clamp(12, 40), rng);
            folder = format!("content/gameplay/{nation}/ship/{class}/{stem}");
            ships += 1;
            in_folder = 0;
        }
        let (ending, kind) = FILES[in_folder];
        in_folder += 1;
        let kind = kind.filter(|&t| need(t, &resources));
        let wanted = wanted.saturating_sub(ending.len() + 1);
        let mut file = format!("{}{}", &stem[..stem.len().min(wanted.max(6))], in_folder);
        while file.len() < wanted {
            file.push_str(WORDS[rng.usize(..WORDS.len())]);
        }
        let before = builder.paths.len();
        let id = builder.path(&format!("{folder}/{file}{ending}"));
        if builder.paths.len() == before {
            continue;
        }
        match (kind, ending) {
            (Some(kind), _) => resources.by_type[kind].push(id),
            (None, ".geometry") => resources.geometries.push(id),
            (None, "_a.dds") => resources.textures.push(id),
            (None, _) if rng.u8(..) < 16 => resources.deleted.push(id),
            (None, _) => {}
        }
    }
    fit_path_bytes(builder, plan);
    // No packer promises an order.
    rng.shuffle(&mut builder.paths);
    for (kind, ids) in resources.by_type.iter().enumerate() {
        assert_eq!(ids.len(), plan.records[kind], "paths for all records of type {kind}");
    }
    resources
}

/// Makes the pool of names exactly as long as planned, by the names of files without a prototype.
fn fit_path_bytes(builder: &mut DatabaseBuilder, plan: &SampleSizes) {
    if plan.path_bytes == 0 {
        return;
    }
    let bytes: usize = builder.paths.iter().map(|p| p.name.len() + 1).sum();
    let mut excess = bytes as isize - plan.path_bytes as isize;
    let names: HashMap<u64, usize> = builder.paths.iter().enumerate().map(|(i, p)| (p.id, i)).collect();
    for index in (0..builder.paths.len()).rev() {
        if excess == 0 {
            break;
        }
        let path = &builder.paths[index];
        let Some(stem) = path.name.strip_suffix("_a.dds") else { continue };
        let keep = (stem.len() as isize - excess).clamp(stem.len().min(10) as isize, 120) as usize;
        let stem: String = stem.chars().chain(std::iter::repeat('x')).take(keep).collect();
        let renamed = format!("{stem}_a.dds");
        let mut folders = Vec::new();
        let mut parent = path.parent;
        while let Some(&at) = names.get(&parent) {
            folders.push(builder.paths[at].name.clone());
            parent = builder.paths[at].parent;
        }
        folders.reverse();
        folders.push(renamed.clone());
        let id = cityhash64(folders.join("/").as_bytes());
        if builder.path_ids.insert(id) {
            excess += renamed.len() as isize - path.name.len() as isize;
            builder.paths[index].id = id;
            builder.paths[index].name = renamed;
        }
    }
    assert_eq!(excess, 0, "the pool of names can be made to fit");
}
