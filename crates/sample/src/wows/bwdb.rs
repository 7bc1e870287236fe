//! Builds prototype databases: any that a test wants, and one of the size of the games' own.

use super::prototypes::{BlobWriter, Resources, records};
use crate::random::Rng;
use crate::writer::{Number, bytes};
use crate::{Size, Writer};
use assetq_core::codec::{cityhash64, murmur3};
use assetq_core::threads::prelude::*;
use assetq_wows::bwdb::layout::MAGIC;
use assetq_wows::bwdb::prototypes::{Layout, PrototypeType};
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

    pub fn database(&mut self, magic: u32, checksum: u32, blob: Vec<u8>) -> usize {
        self.databases.push((magic, checksum, blob));
        self.databases.len() - 1
    }

    /// The file, its sections in the order of docs/formats/bwdb.md §2.1 and without gaps.
    pub fn build(&self) -> Vec<u8> {
        let blobs: usize = self.databases.iter().map(|d| d.2.len()).sum();
        let mut w = Writer::with_capacity(blobs + (64 << 10) + self.paths.len() * 96 + self.strings.len() * 64);
        w.push(MAGIC);
        w.push([0, 0, 1, 1]);
        let checksum = w.add(0);
        w.push([64, 0, 0, 0]);
        let body = w.zeros(0x60);
        let mut pool = Writer::new();
        let strings: Vec<_> = self.strings.iter().map(|(id, text)| (*id, pool.text(text) as u32)).collect();
        map(&mut w, body, self.string_capacity, 1u32 << 31, &strings);
        w.set(body + 0x18, pool.position() as u32);
        let data = w.push(pool.bytes());
        w.point(body + 0x20, body, data);
        map(&mut w, body + 0x28, self.resource_capacity, 1u64 << 63, &self.resources);

        let at = body + 0x40;
        w.set(at, self.paths.len() as u32);
        let entries = w.zeros(self.paths.len() * 0x20);
        w.point(at + 0x08, at, entries);
        for (index, path) in self.paths.iter().enumerate() {
            let entry = entries + index * 0x20;
            w.patch(entry, bytes([path.id, path.parent, path.name.len() as u64 + 1]));
            let name = w.text(&path.name);
            w.point(entry + 0x18, entry + 0x10, name);
        }

        let at = body + 0x50;
        w.set(at, self.databases.len() as u32);
        let entries = w.zeros(self.databases.len() * 0x18);
        w.point(at + 0x08, body, entries);
        for (index, (magic, schema, blob)) in self.databases.iter().enumerate() {
            let entry = entries + index * 0x18;
            w.patch(entry, bytes([*magic, *schema, blob.len() as u32]));
            let at = w.push(blob);
            w.point(entry + 0x10, entry, at);
        }
        let sum = murmur3(&w.bytes()[0x10..]);
        w.set(checksum, sum);
        w.into_bytes()
    }
}

/// Writes the header of a hash map at `at`, its buckets, marked as `taken`, and its values.
fn map<K: Number + Into<u64>>(w: &mut Writer, at: usize, capacity: Option<u32>, taken: K, entries: &[(K, u32)]) {
    let capacity = capacity.unwrap_or_else(|| roomy(entries.len()));
    let slots = place(entries.iter().map(|(key, _)| (*key).into()), capacity);
    let bucket = 2 * size_of::<K>();
    w.set(at, capacity);
    let buckets = w.zeros(capacity as usize * bucket);
    let values = w.zeros(capacity as usize * 4);
    for (slot, (key, value)) in slots.into_iter().zip(entries) {
        w.patch(buckets + slot * bucket, bytes([*key, taken]));
        w.set(values + slot * 4, value);
    }
    w.point(at + 0x08, at, buckets);
    w.point(at + 0x10, at, values);
}

/// A prime capacity that leaves about half of the slots empty.
fn roomy(count: usize) -> u32 {
    let prime = (count * 2 + 3..).find(|n| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d)));
    prime.expect("primes have no end") as u32
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
        Self {
            paths: scaled(FULL.paths, bytes),
            path_bytes: 0,
            strings: scaled(FULL.strings, bytes),
            string_bytes: scaled(FULL.string_bytes, bytes),
            string_capacity: FULL.string_capacity.map(|c| scaled(c as usize, bytes) as u32 | 1),
            resource_capacity: FULL.resource_capacity.map(|c| scaled(c as usize, bytes) as u32 | 1),
            records: FULL.records.map(|count| scaled(count, bytes)),
            blob_bytes: None,
            ..FULL
        }
    }
}

/// The part of a count of the full plan in a file of `bytes` bytes.
fn scaled(count: usize, bytes: usize) -> usize {
    (count as f64 * bytes as f64 / FULL_BYTES as f64).ceil() as usize
}

/// A hostile database: an effect, `particles/bomb.xml`, with `systems` systems that all have the same 5,000 components.
pub fn systems_that_share(systems: usize) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("particles/bomb.xml");
    let mut blob = BlobWriter::new(PrototypeType::Effect, 1);
    let at = blob.record(0);
    blob.data.set(at + 4, systems as u32);
    let array = blob.each(at, 8, systems, 0x1C8);
    // Components and scalars of kind -1 have no body.
    let components = blob.data.push(vec![0xFF; 5000 * 0x10]);
    for system in array {
        for scalar in [0xA0, 0xD0, 0xE0, 0xF0, 0x100, 0x110] {
            blob.data.set(system + scalar, -1i32);
        }
        blob.data.set(system + 0x1B8, 5000i32);
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
    let files = builder.paths.iter().filter(|path| path.name.ends_with(".dds") || path.name.ends_with(".geometry"));
    let files = files.map(|path| {
        let folders = std::iter::successors(Some(path), |path| entries.get(&path.parent).copied());
        let names: Vec<&str> = folders.map(|path| &*path.name).collect();
        names.into_iter().rev().collect::<Vec<_>>().join("/")
    });
    WithFiles { files: files.collect(), bytes: builder.build() }
}

fn assemble(seed: u64, size: Size) -> DatabaseBuilder {
    planned(seed, size.pick(&SMALL, &FULL))
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
    let blobs = PrototypeType::ALL.par_iter().enumerate().map(|(index, &prototype)| {
        let mut rng = Rng::with_seed(seeds[index]);
        let mut blob = BlobWriter::new(prototype, plan.records[index]);
        records(&mut blob, prototype, &strings, &resources, &mut rng);
        blob.finish()
    });
    let mut blobs: Vec<Vec<u8>> = blobs.collect();
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
    let step = size.pick(2, 100);
    let mut owners: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); builder.databases.len()];
    for &(id, value) in builder.resources.iter().filter(|(_, value)| value & 3 == 0) {
        owners[(value >> 2 & 0x3F) as usize].insert((value >> 8) as usize, id);
    }
    let changed = change_records(&mut builder, &owners, step);
    exchange_records(&mut builder, &owners);

    // Resources and their paths, of types without changes so far.
    let removed = [2, 6, 9].into_iter().flat_map(|database| &owners[database]);
    let mut removed: Vec<u64> = removed.filter(|(record, _)| *record % step == 1).map(|(_, id)| *id).collect();
    removed.sort_unstable();
    builder.resources.retain(|(id, _)| removed.binary_search(id).is_err());
    let plain = builder.paths.iter().filter(|path| path.name.ends_with("_a.dds")).map(|path| path.id).step_by(step);
    let mut removed_paths: Vec<u64> = plain.chain(removed.iter().copied()).collect();
    removed_paths.sort_unstable();
    builder.paths.retain(|path| removed_paths.binary_search(&path.id).is_err());
    let count = size.pick(2, 500);
    let (mut added, mut added_paths) = (Vec::new(), Vec::new());
    for index in 0..count {
        let before = builder.paths.len();
        let path = format!("content/gameplay/added/{index:04}.model");
        let id = builder.path(&path);
        builder.resource(id, builder.databases.len() - 4, index, 0);
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

/// Changes a field of every `step`th record of four types; returns the resources, and their changed fields.
fn change_records(
    builder: &mut DatabaseBuilder,
    owners: &[BTreeMap<usize, u64>],
    step: usize,
) -> Vec<(u64, &'static str)> {
    let mut changed = Vec::new();
    for (database, &prototype) in PrototypeType::ALL.iter().enumerate() {
        let record_size = Layout::Current(prototype).size();
        let blob = &mut builder.databases[database].2;
        for (&record, &id) in owners[database].iter().step_by(step) {
            let at = 16 + record * record_size;
            let (place, field) = match prototype {
                PrototypeType::Material => {
                    blob[at + 0x75] ^= 1;
                    changed.push((id, "sort_order"));
                    continue;
                }
                PrototypeType::Visual => {
                    let pointer = i64::from_le_bytes(*blob[at + 0x68..].first_chunk().expect("eight bytes"));
                    ((at as i64 + pointer) as usize, "lods[0].extent")
                }
                PrototypeType::PointLight => (at + 0x60, "radius"),
                PrototypeType::Effect => (at, "max_emitting_duration"),
                _ => break,
            };
            let number = blob[place..].first_chunk_mut().expect("four bytes");
            *number = (f32::from_le_bytes(*number) + 1.0).to_le_bytes();
            changed.push((id, field));
        }
    }
    changed
}

/// Exchanges records with their neighbours, whose targets keep their positions, so that their pointers change; and reverses
/// the databases.
fn exchange_records(builder: &mut DatabaseBuilder, owners: &[BTreeMap<usize, u64>]) {
    let mut moved: HashMap<(usize, usize), usize> = HashMap::new();
    for database in [0, 3] {
        let layout = Layout::Current(PrototypeType::ALL[database]);
        let size = layout.size();
        let blob = &mut builder.databases[database].2;
        for second in (1..owners[database].len()).step_by(4) {
            let (a, b) = (16 + (second - 1) * size, 16 + second * size);
            let (front, back) = blob.split_at_mut(b);
            front[a..].swap_with_slice(&mut back[..size]);
            for (at, by) in [(a, size as i64), (b, -(size as i64))] {
                for field in layout.pointers() {
                    let pointer = blob[at + field..].first_chunk_mut().expect("eight bytes");
                    let old = i64::from_le_bytes(*pointer);
                    *pointer = if old == 0 { old } else { old + by }.to_le_bytes();
                }
            }
            moved.extend([((database, second - 1), second), ((database, second), second - 1)]);
        }
    }
    let last = builder.databases.len() - 1;
    for (_, value) in &mut builder.resources {
        let (database, record) = ((*value >> 2 & 0x3F) as usize, (*value >> 8) as usize);
        let record = moved.get(&(database, record)).copied().unwrap_or(record);
        *value = (record as u32) << 8 | ((last - database) as u32) << 2 | *value & 3;
    }
    builder.databases.reverse();
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
        let room = (plan.string_bytes.max(bytes) - bytes) / left;
        let jitter = if left > 8 && room > 12 { rng.usize(..9) } else { 4 };
        let wanted = if plan.string_bytes == 0 { 12 } else { (room + jitter).max(5) - 5 };
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

/// Types whose files are not in a ship's folder: their folders, and the endings of their names.
const OTHERS: [(usize, &str, &str); 7] = [
    (2, "content/skeletons", ".skel_ext"),
    (4, "content/lights", ".light"),
    (5, "particles", ".xml/high"),
    (6, "particles/fields", ".vf"),
    (7, "particles/presets", ".xml"),
    (8, "particles/meta", ".meta"),
    (9, "gui/atlas", ".contour"),
];

fn name_paths(builder: &mut DatabaseBuilder, plan: &SampleSizes, rng: &mut Rng) -> Resources {
    let mut resources = Resources::default();
    let (mut bytes, mut counted, mut ships) = (0, 0, 0);
    let (mut folder, mut stem) = (String::new(), String::new());
    let mut in_folder = FILES.len();
    // A small sample has as many paths as its records need.
    let exact = plan.path_bytes > 0;
    while builder.paths.len() < plan.paths || !exact && (0..10).any(|kind| resources.lacks(kind, plan)) {
        bytes += builder.paths[counted..].iter().map(|path| path.name.len() + 1).sum::<usize>();
        counted = builder.paths.len();
        let left = plan.paths.max(counted + 1) - counted;
        let room = (plan.path_bytes.max(bytes) - bytes) / left;
        let wanted = if exact { room.max(1) - 1 } else { plan.name_bytes };
        if in_folder >= FILES.len() {
            let other = OTHERS.into_iter().find(|(kind, ..)| resources.lacks(*kind, plan));
            if let Some((kind, dir, ending)) = other.filter(|_| ships % 3 == 2 || left < 20) {
                let index = resources.by_type[kind].len();
                let text = name("p", index, wanted.saturating_sub(ending.len()), rng);
                // An ending with a folder in it splits a name in two.
                if ending.contains('/') && exact && left < 2 {
                    continue;
                }
                resources.by_type[kind].push(builder.path(&format!("{dir}/{text}{ending}")));
                ships += usize::from(index % 4 == 3);
                continue;
            }
            if exact && left == 1 && !folder.is_empty() {
                // Room for one more, not for a folder and a file.
                builder.path(&format!("{folder}/{}.txt", name("last", counted, wanted, rng)));
                continue;
            }
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
        let kind = kind.filter(|&kind| resources.lacks(kind, plan));
        let wanted = wanted.saturating_sub(ending.len() + 1);
        let mut file = format!("{}{}", &stem[..stem.len().min(wanted.max(6))], in_folder);
        while file.len() < wanted {
            file.push_str(WORDS[rng.usize(..WORDS.len())]);
        }
        let id = builder.path(&format!("{folder}/{file}{ending}"));
        if builder.paths.len() == counted {
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

impl Resources {
    /// Whether the plan has more records of a type.
    fn lacks(&self, kind: usize, plan: &SampleSizes) -> bool {
        self.by_type[kind].len() < plan.records[kind]
    }
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
