//! Prototype databases: what the builder writes is what the reader says, and what a plain reader of the bytes says.

use crate::common::field;
use assetq::formats::wows::bwdb::prototypes::{Prototype, PrototypeType};
use assetq::formats::wows::bwdb::{Database, Models, State};
use assetq::formats::wows::game_folder::Variant;
use assetq::formats::{ErrorKind, Reader};
use assetq::table::{Tree, Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::bwdb::{DatabaseBuilder, demo, demo_of, systems_that_share};
use assetq_sample::prototypes::{BlobWriter, u16s, u32s, u64s};
use assetq_sample::space::models_that_share;
use assetq_sample::wows::Package;
use assetq_sample::{self as sample, Size, gameparams};

fn open(bytes: Vec<u8>) -> Database {
    Database::open(Source::from_vec("assets.bin", bytes)).unwrap()
}

/// A reader of the same bytes that knows nothing but docs/formats/bwdb.md: plain offsets, no hashing, no probing.
struct Plain<'a>(&'a [u8]);

impl Plain<'_> {
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }
    fn target(&self, pointer_at: usize, base: usize) -> usize {
        (base as i64 + self.u64(pointer_at) as i64) as usize
    }
    fn nul_terminated(&self, at: usize) -> String {
        self.0[at..].iter().take_while(|&&b| b != 0).map(|&b| b as char).collect()
    }
    /// Name id and text of every string.
    fn strings(&self) -> Vec<(u32, String)> {
        let (capacity, buckets) = (self.u32(0x10) as usize, self.target(0x18, 0x10));
        let (values, pool) = (self.target(0x20, 0x10), self.target(0x30, 0x10));
        let used = (0..capacity).filter(|i| self.u32(buckets + i * 8 + 4) != 0);
        used.map(|i| {
            let offset = self.u32(values + i * 4) as usize;
            (self.u32(buckets + i * 8), self.nul_terminated(pool + offset))
        })
        .collect()
    }
    /// Id, database, record and state of every resource.
    fn resources(&self) -> Vec<(u64, usize, usize, u32)> {
        let (capacity, buckets) = (self.u32(0x38) as usize, self.target(0x40, 0x38));
        let values = self.target(0x48, 0x38);
        let used = (0..capacity).filter(|i| self.u64(buckets + i * 16 + 8) != 0);
        used.map(|i| {
            let value = self.u32(values + i * 4);
            (self.u64(buckets + i * 16), (value >> 2 & 63) as usize, (value >> 8) as usize, value & 3)
        })
        .collect()
    }
    /// Id and whole path of every path.
    fn paths(&self) -> Vec<(u64, String)> {
        let (count, entries) = (self.u32(0x50) as usize, self.target(0x58, 0x50));
        let at = |i: usize| entries + i * 32;
        let find = |id: u64| (0..count).find(|&i| self.u64(at(i)) == id);
        let join = |i: usize| {
            let mut path = self.nul_terminated(self.target(at(i) + 0x18, at(i) + 0x10));
            let mut parent = find(self.u64(at(i) + 8));
            while let Some(p) = parent {
                path = format!("{}/{path}", self.nul_terminated(self.target(at(p) + 0x18, at(p) + 0x10)));
                parent = find(self.u64(at(p) + 8));
            }
            path
        };
        (0..count).map(|i| (self.u64(at(i)), join(i))).collect()
    }
}

#[test]
fn agrees_with_a_plain_reader_about_every_entry() {
    let bytes = demo(3, Size::Small);
    let db = open(bytes.clone());
    let plain = Plain(&bytes);

    let strings = plain.strings();
    assert!(strings.len() >= 40);
    for (id, text) in &strings {
        assert_eq!(db.string(*id).unwrap(), Some(text.as_str()));
        assert_eq!(Database::name_id(text), *id);
    }
    let listed: Vec<_> = db.strings().map(|(id, text)| (id, text.unwrap().to_owned())).collect();
    assert_eq!(listed, strings);

    let resources = plain.resources();
    assert!(resources.len() >= 29);
    for &(id, database, record, state) in &resources {
        let resource = db.lookup(id).unwrap().unwrap();
        assert_eq!((resource.database_index(), resource.record_index()), (database, record));
        assert_eq!(resource.state(), if state == 0 { State::Valid } else { State::Deleted });
    }
    assert_eq!(db.resources().count(), resources.len());

    let paths = plain.paths();
    for (id, path) in &paths {
        assert_eq!(db.path(*id).unwrap().as_ref(), Some(path));
        assert_eq!(Database::path_id(path), *id);
        let resource = db.lookup_path(path).unwrap().map(|r| r.id());
        assert_eq!(resource, resources.iter().map(|r| r.0).find(|r| r == id));
    }
    let table = db.table("paths").unwrap();
    let mut cursor = table.cursor(0);
    for (id, path) in &paths {
        assert!(cursor.advance().unwrap());
        assert_eq!(cursor.value(0).unwrap(), Value::Id64(*id));
        assert_eq!(cursor.value(3).unwrap(), Value::text(path));
    }
    assert!(!cursor.advance().unwrap());
}

#[test]
fn what_is_not_there_is_none() {
    let db = open(demo(1, Size::Small));
    assert!(db.lookup(1).unwrap().is_none());
    assert!(db.lookup_path("content/no/such.model").unwrap().is_none());
    assert_eq!(db.string(1).unwrap(), None);
    assert_eq!(db.path(1).unwrap(), None);
}

#[test]
fn paths_are_found_however_people_write_them() {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("content/ship/Hull.model");
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 1).finish());
    builder.resource(id, 0, 0, 0);
    let db = open(builder.build());
    for path in [
        "content/ship/Hull.model",
        "/content/ship/Hull.model",
        "res/content/ship/Hull.model",
        "content\\ship\\Hull.model",
    ] {
        assert_eq!(db.lookup_path(path).unwrap().map(|r| r.id()), Some(id), "{path}");
    }
    assert!(db.lookup_path("content/ship/hull.model").unwrap().is_none(), "case matters");
}

#[test]
fn a_file_that_hashes_paths_in_another_way_is_searched_by_name() {
    let mut builder = DatabaseBuilder::default();
    builder.raw_path(11, 0, "content");
    // One of that name lies in another folder, and comes first.
    builder.raw_path(13, 0, "hull.model");
    builder.raw_path(12, 11, "hull.model");
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 2).finish());
    builder.resource(12, 0, 0, 0);
    builder.resource(13, 0, 1, 0);
    let db = open(builder.build());
    assert_eq!(db.lookup_path("content/hull.model").unwrap().map(|r| r.id()), Some(12));
    assert!(db.lookup_path("content/deck.model").unwrap().is_none());
    for table in ["paths", "resources", "models"] {
        let table = db.table(table).unwrap();
        let path = assetq::table::column_index(&*table, "path").unwrap();
        assert_eq!(table.finds(path), table.find(path, &"content/hull.model".into()).is_some());
        assert!(!table.finds(path), "{}: a path does not find its row there", table.name());
    }
}

#[test]
fn lookup_many_says_what_lookup_says() {
    let db = open(demo(5, Size::Small));
    let mut ids: Vec<u64> = db.resources().map(|r| r.id()).collect();
    ids.extend([0, 1, u64::MAX, 42]);
    for count in [0, 1, 3, ids.len()] {
        let mut out = vec![None; count];
        let found = db.lookup_many(&ids[..count], &mut out).unwrap();
        assert_eq!(found, out.iter().flatten().count());
        for (id, many) in ids.iter().zip(&out) {
            let one = db.lookup(*id).unwrap();
            assert_eq!(
                one.map(|r| (r.database_index(), r.record_index())),
                many.map(|r| (r.database_index(), r.record_index()))
            );
        }
    }
    let error = db.lookup_many(&ids, &mut []).unwrap_err().to_string();
    assert_eq!(error, "lookup_many: length of the output: 0 is not allowed");
    // Several cores share 50,000 of them.
    let many: Vec<u64> = ids.iter().copied().cycle().take(50_000).collect();
    let (mut one, mut all) = (vec![None; ids.len()], vec![None; many.len()]);
    db.lookup_many(&ids, &mut one).unwrap();
    let found = db.lookup_many(&many, &mut all).unwrap();
    assert_eq!(found, all.iter().flatten().count());
    assert!(all.iter().eq(one.iter().cycle().take(many.len())));
}

/// A material written by hand, byte for byte as docs/formats/bwdb.md §6.1 says.
#[test]
fn material_properties_are_looked_up_by_kind() {
    let mut builder = DatabaseBuilder::default();
    let diffuse = builder.string("diffuseMap");
    let texture = builder.path("content/hull_a.dds");
    let id = builder.path("content/hull.mfm");
    let mut blob = BlobWriter::new(PrototypeType::Material, 1);
    let at = blob.record(0);
    // Three properties: a texture, a float, and a 4-vector.
    blob.data.patch(at, 3u16.to_le_bytes());
    blob.data.patch(at + 5, [2, 1, 0, 0, 1]);
    blob.array(at, 0x10, u32s([diffuse, Database::name_id("doubleSided"), 7]));
    blob.array(at, 0x18, u16s([4, 1 << 4 | 3, 7]));
    blob.array(at, 0x38, [0.25f32, 0.5].map(f32::to_le_bytes).concat());
    blob.array(at, 0x40, u64s([texture]));
    blob.array(at, 0x58, [1f32, 2., 3., 4.].map(f32::to_le_bytes).concat());
    blob.data.patch(at + 0x74, (-2i32).to_le_bytes());
    builder.database(PrototypeType::Material.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    let db = open(builder.build());

    let mut tree = Tree::default();
    assert!(db.cat("content/hull.mfm", &mut tree).unwrap());
    let value = tree.into_value();
    let Value::List(properties) = field(field(&value, "value"), "properties") else { panic!("{value}") };
    let shown: Vec<String> = properties.iter().map(|p| field(p, "value").to_string()).collect();
    assert_eq!(shown[0], format!("{{id: {}, path: content/hull_a.dds}}", Value::Id64(texture)));
    assert_eq!(shown[1..], ["0.5", "[1, 2, 3, 4]"]);
    let names: Vec<String> = properties.iter().map(|p| field(field(p, "name"), "text").to_string()).collect();
    // The second name is not in the file; its hash is a known one.
    assert_eq!(names, ["diffuseMap", "doubleSided", ""]);
    assert_eq!(*field(field(&value, "value"), "sort_order"), Value::Int(-2));

    let table = db.table("material_properties").unwrap();
    assert_eq!(table.len().unwrap(), 3);
    assert_eq!(table.value(0, 7).unwrap(), Value::text("content/hull_a.dds"));
    assert_eq!(table.find(1, &Value::Id64(id)).unwrap().unwrap(), [0, 1, 2]);
}

#[test]
fn visuals_have_their_render_sets_and_lods() {
    let mut builder = DatabaseBuilder::default();
    let hull = builder.string("hull");
    let mfm = builder.path("content/hull.mfm");
    let id = builder.path("content/hull.visual");
    let mut blob = BlobWriter::new(PrototypeType::Visual, 1);
    let at = blob.record(0);
    blob.data.patch(at + 0x39, [1]);
    blob.data.patch(at + 0x3A, 2u16.to_le_bytes());
    blob.data.patch(at + 0x3C, [1]);
    let sets = blob.structs(at, 0x60, 2, 0x28);
    blob.data.patch(sets + 0x28, u32s([hull, 2, 3, 4]));
    blob.data.patch(sets + 0x28 + 0x10, mfm.to_le_bytes());
    let lods = blob.structs(at, 0x68, 1, 0x10);
    blob.floats(lods, &[250.0]);
    blob.data.patch(lods + 6, 1u16.to_le_bytes());
    blob.array(lods, 8, u32s([hull]));
    builder.database(PrototypeType::Visual.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    let db = open(builder.build());

    let Some(Prototype::Visual(visual)) = db.lookup(id).unwrap().unwrap().record().unwrap() else { panic!() };
    let sets: Vec<_> = visual.render_sets().unwrap().iter().map(Result::unwrap).collect();
    assert_eq!(sets[1].name().unwrap().0, hull);
    assert_eq!(sets[1].mfm().unwrap().0, mfm);
    let lod = visual.lods().unwrap().get(0).unwrap().unwrap();
    assert_eq!((lod.extent().unwrap(), lod.render_sets().unwrap().len()), (250.0, 1));

    let table = db.table("render_sets").unwrap();
    let column = |name: &str| table.columns().iter().position(|c| c.name == name).unwrap();
    assert_eq!(table.value(1, column("name")).unwrap(), Value::text("hull"));
    assert_eq!(table.value(1, column("mfm_path")).unwrap(), Value::text("content/hull.mfm"));
    assert_eq!(table.value(1, column("path")).unwrap(), Value::text("content/hull.visual"));
}

#[test]
fn deleted_and_impossible_records_are_told_and_not_followed() {
    let mut builder = DatabaseBuilder::default();
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 2).finish());
    builder.resource(1, 0, 0, 3);
    // The first record and the first database that there are not.
    builder.resource(2, 0, 2, 0);
    builder.resource(3, 1, 0, 0);
    builder.resource(4, 0, 0, 1);
    let db = open(builder.build());
    let resource = |id| db.lookup(id).unwrap().unwrap();
    assert_eq!(resource(1).state(), State::Deleted);
    assert!(resource(1).record().unwrap().is_none());
    let error = resource(2).record().unwrap_err();
    assert!(error.to_string().contains("record 2 of 2 in database 0"), "{error}");
    let error = resource(3).record().unwrap_err();
    assert!(error.to_string().contains("number of a database: 1"), "{error}");
    assert_eq!(resource(4).state(), State::Unnamed(1));
    assert!(resource(4).bytes().unwrap().is_none());
    let report = db.verify(&Default::default());
    let findings: Vec<String> = report.checks.iter().flat_map(|c| c.findings()).map(|f| f.kind().to_string()).collect();
    assert!(findings.iter().any(|f| f.contains("record of a resource: 2")), "{findings:?}");
    assert!(findings.iter().any(|f| f.contains("database of a resource: 1")), "{findings:?}");
    assert_eq!(findings.len(), 2, "an unexplained state is invalid: {findings:?}");
}

#[test]
fn tables_are_known_by_magic_and_unknown_ones_are_shown_raw() {
    let mut builder = DatabaseBuilder::default();
    builder.database(0x1234_5678, 0, BlobWriter::with_size(0x20, 3).finish());
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 1).finish());
    // Another build's visuals, 0x40 bytes a record: their data lies where longer records would.
    let mut other = BlobWriter::with_size(0x40, 4);
    for record in 0..4 {
        let at = other.record(record);
        other.data.patch(at, 9i32.to_le_bytes());
        other.array(at, 0x28, [1; 0x80]);
    }
    builder.database(PrototypeType::Visual.magic(), 0, other.finish());
    builder.resource(1, 0, 0, 0);
    builder.resource(2, 1, 0, 0);
    builder.resource(3, 2, 0, 0);
    let db = open(builder.build());
    let notes: Vec<_> = db.databases().map(|b| b.unwrap().note()).collect();
    assert!(notes[0].as_ref().unwrap().contains("its type is not known"), "{notes:?}");
    assert_eq!(notes[1], None);
    assert!(notes[2].as_ref().unwrap().contains("read as records of 0x70 bytes, "), "{notes:?}");
    assert!(matches!(db.lookup(2).unwrap().unwrap().record().unwrap(), Some(Prototype::Model(_))));
    assert!(db.lookup(1).unwrap().unwrap().record().unwrap().is_none());
    assert!(db.lookup(3).unwrap().unwrap().record().unwrap().is_none());
    assert!(db.verify(&Default::default()).is_ok());
}

#[test]
fn models_without_skeleton_extenders_are_told_by_their_schema() {
    let mut builder = DatabaseBuilder::default();
    let visual = builder.path("content/hull.visual");
    let id = builder.path("content/hull.model");
    let mut blob = BlobWriter::with_size(0x20, 2);
    let at = blob.record(1);
    blob.data.patch(at, visual.to_le_bytes());
    blob.data.patch(at + 8, [2, 1, 0]);
    blob.array(at, 0x10, u64s([77]));
    builder.database(PrototypeType::Model.magic(), 0xD6B1_1569, blob.finish());
    builder.resource(id, 0, 1, 0);
    let db = open(builder.build());
    let Some(Prototype::ModelV14(model)) = db.lookup(id).unwrap().unwrap().record().unwrap() else { panic!() };
    assert_eq!(model.visual().unwrap().0, visual);
    assert_eq!(model.animations().unwrap().get(0).unwrap().unwrap().0, 77);
    assert_eq!(db.table("models").unwrap().len().unwrap(), 2);
}

#[test]
fn the_checksum_may_be_either_of_two() {
    let bytes = demo(2, Size::Small);
    let check = |bytes: &[u8]| {
        let report = open(bytes.to_vec()).verify(&Default::default());
        let check = report.checks.into_iter().find(|c| c.name == "checksum").unwrap();
        (check.is_ok(), check.detail)
    };
    let (ok, detail) = check(&bytes);
    assert!(ok && detail.starts_with("MurmurHash3"), "{detail}");
    let mut crc = bytes.clone();
    let sum = assetq_core::codec::crc32(&bytes[16..]);
    crc[8..12].copy_from_slice(&sum.to_le_bytes());
    let (ok, detail) = check(&crc);
    assert!(ok && detail.starts_with("CRC-32"), "{detail}");
    crc[8] ^= 1;
    assert!(!check(&crc).0);
}

/// The parents of a path, changed so that they never end.
#[test]
fn cyclic_parents_end() {
    let mut builder = DatabaseBuilder::default();
    builder.raw_path(1, 3, "a");
    builder.raw_path(2, 1, "b");
    builder.raw_path(3, 2, "c");
    builder.raw_path(4, 9, "orphan");
    let db = open(builder.build());
    let error = db.path(2).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cycle { .. }), "{error}");
    let error = db.path(4).unwrap_err();
    assert!(error.to_string().contains("is not among the paths"), "{error}");
    let report = db.verify(&Default::default());
    let check = report.checks.iter().find(|c| c.name == "paths").unwrap();
    assert!(check.findings().iter().any(|f| matches!(f.kind(), ErrorKind::Cycle { .. })));
}

#[test]
fn paths_deeper_than_any_real_one_end() {
    let mut builder = DatabaseBuilder::default();
    (1..=200).for_each(|i| builder.raw_path(i, i - 1, "x"));
    let db = open(builder.build());
    assert!(matches!(db.path(200).unwrap_err().kind(), ErrorKind::Limit { .. }));
    assert_eq!(db.path(100).unwrap().unwrap().len(), 199);
}

/// Names of a hostile file may share their bytes, so that paths have no other bound.
#[test]
fn paths_longer_than_any_real_one_end() {
    let mut builder = DatabaseBuilder::default();
    let name = "x".repeat(400);
    (1..=100).for_each(|i| builder.raw_path(i, i - 1, &name));
    let db = open(builder.build());
    // Joined at first, and by the paths of folders once those are made.
    for id in (1..=100).chain(1..=100) {
        match db.path(id) {
            Ok(path) => assert_eq!(path.unwrap().len() as u64, 401 * id - 1),
            Err(error) => assert!(id > 81 && matches!(error.kind(), ErrorKind::Limit { .. }), "{id}: {error}"),
        }
    }
    assert!(db.path(81).is_ok() && db.path(82).is_err());
}

#[test]
fn the_root_of_the_game_s_package_index_is_no_folder() {
    let mut builder = DatabaseBuilder::default();
    builder.raw_path(1, 0xDBB1_A1D1_B108_B927, "content");
    builder.raw_path(2, 1, "gameplay");
    let db = open(builder.build());
    assert_eq!(db.path(2).unwrap().as_deref(), Some("content/gameplay"));
    assert_eq!(db.path(1).unwrap().as_deref(), Some("content"));
}

#[test]
fn samples_of_a_size_are_sound_and_grow_with_it() {
    let [one, three] = [1_000_000, 3_000_000].map(|size| (size, demo_of(1, size)));
    for (size, bytes) in [one, three] {
        assert!(bytes.len().abs_diff(size) < size / 10, "{} bytes, not {size}", bytes.len());
        let db = open(bytes);
        // The full sample has 246,065 paths in 170,699,420 bytes.
        let paths = size * 246_065 / 170_699_420;
        assert!(db.paths().len().abs_diff(paths) < paths / 10, "{} paths, not {paths}", db.paths().len());
        assert!(db.verify(&Default::default()).is_ok());
    }
}

#[test]
fn the_magic_is_a_number_and_its_letters_may_stand_in_order_too() {
    let mut bytes = demo(1, Size::Small);
    assert_eq!(bytes[..4], 0x4257_4442u32.to_le_bytes());
    bytes[..4].copy_from_slice(b"BWDB");
    let asset = assetq::Asset::open(Source::from_vec("x", bytes.clone())).unwrap();
    assert_eq!(asset.format(), assetq::formats::wows::BWDB);
    bytes[..4].copy_from_slice(b"BDBW");
    let error = Database::open(Source::from_vec("x", bytes)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadMagic { expected: 0x4257_4442, .. }), "{error}");
}

#[test]
fn a_full_map_and_keys_in_wrong_slots_are_found() {
    let mut builder = DatabaseBuilder::with_capacities(3, 4);
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 1).finish());
    (0..4).for_each(|id| builder.resource(id * 4 + 1, 0, 0, 0));
    let full = builder.build();
    let db = open(full.clone());
    assert!(db.lookup(99).unwrap().is_none(), "looking ends although no slot is empty");
    let findings = |bytes: Vec<u8>| {
        let report = open(bytes).verify(&Default::default());
        let check = report.checks.into_iter().find(|c| c.name == "resources map").unwrap();
        check.findings().iter().map(|f| f.to_string()).collect::<Vec<_>>()
    };
    assert!(findings(full)[0].contains("no slot is empty"));

    let mut builder = DatabaseBuilder::with_capacities(3, 7);
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 1).finish());
    builder.resource(1, 0, 0, 0);
    builder.resource(3, 0, 0, 0);
    let mut bytes = builder.build();
    let buckets = Plain(&bytes).target(0x40, 0x38);
    // Key 1 moves from its slot to slot 5, with empty ones between.
    let bucket: [u8; 16] = bytes[buckets + 16..buckets + 32].try_into().unwrap();
    bytes[buckets + 16..buckets + 32].fill(0);
    bytes[buckets + 80..buckets + 96].copy_from_slice(&bucket);
    let found = findings(bytes);
    assert!(found[0].contains("key 0x1 in slot 5 cannot be reached from its slot 1"), "{found:?}");
}

#[test]
fn a_database_without_anything_opens() {
    let builder = DatabaseBuilder::with_capacities(0, 0);
    let db = open(builder.build());
    assert!(db.lookup(5).unwrap().is_none());
    assert_eq!(db.string(5).unwrap(), None);
    assert!(db.verify(&Default::default()).is_ok());
}

#[test]
fn counts_that_cannot_be_are_errors_that_name_the_part() {
    let bytes = demo(1, Size::Small);
    let cases = [
        (0x10, "strings.buckets"),
        (0x28, "strings.data"),
        (0x38, "resources.buckets"),
        (0x50, "paths"),
        (0x60, "databases"),
    ];
    for (at, part) in cases {
        let mut bad = bytes.clone();
        bad[at..at + 4].fill(0xFF);
        let error = Database::open(Source::from_vec("bad", bad)).unwrap_err();
        assert_eq!(error.part(), part);
        assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{error}");
    }
}

#[test]
fn sections_that_lie_over_one_another_are_found() {
    let mut bytes = demo(1, Size::Small);
    // The string values lie where the buckets are.
    bytes.copy_within(0x18..0x20, 0x20);
    let report = open(bytes).verify(&Default::default());
    let check = report.checks.iter().find(|c| c.name == "sections").unwrap();
    assert!(check.findings()[0].to_string().contains("begins inside of"), "{:?}", check.findings());
}

/// Systems of an effect that all point to the same components, which would be walked over and over.
#[test]
fn arrays_that_overlap_on_purpose_are_not_walked_without_end() {
    let db = open(systems_that_share(500));
    let error = db.cat("particles/bomb.xml", &mut Tree::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let report = db.verify(&Default::default());
    let limit = report.checks.iter().flat_map(|c| c.findings()).any(|f| matches!(f.kind(), ErrorKind::Limit { .. }));
    assert!(limit);
}

/// Models that share one array of render sets have as many rows as there is file to justify, and then an error.
#[test]
fn rows_of_shared_arrays_end_with_an_error() {
    let bytes = models_that_share(400, 2000);
    let most = (bytes.len() * 8 + (1 << 16)) / 0x28;
    let models = Models::open(Source::from_vec("models.bin", bytes)).unwrap();
    let table = models.table("render_sets").unwrap();
    let (mut rows, mut count) = (table.cursor(0), 0);
    let error = loop {
        match rows.advance() {
            Ok(true) => count += 1,
            Ok(false) => panic!("{count} rows"),
            Err(error) => break error,
        }
    };
    assert!((most - 2000..=most).contains(&count) && count % 2000 == 0, "{count} rows, {most} at most");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let record = 0x18 + (count / 2000) as u64 * 0xA8;
    assert_eq!(error.offset(), Some(record), "the first model beyond: {error}");
    assert_eq!(table.len().unwrap_err().to_string(), error.to_string());
    assert_eq!(table.value(count - 1, 2).unwrap(), Value::Uint(1999));
    assert!(matches!(table.value(count, 2).unwrap_err().kind(), ErrorKind::Limit { .. }));
    // A lookup by key finds its row or returns the error, too.
    let find = |model: u64| table.find(0, &Value::Uint(model));
    assert_eq!(find(0).unwrap().unwrap(), (0..2000).collect::<Vec<_>>());
    assert!(matches!(find(399).unwrap().unwrap_err().kind(), ErrorKind::Limit { .. }));
    assert!(table.find(1, &Value::Id64(1)).unwrap().unwrap().is_empty());
    let sharing = models_that_share(8, 2000);
    let models = Models::open(Source::from_vec("models.bin", sharing)).unwrap();
    assert_eq!(models.table("render_sets").unwrap().len().unwrap(), 16_000, "some sharing is fair");
}

/// Cells that show one long array in every row: each can be read by itself, a walk over all of them ends.
#[test]
fn cells_of_shared_arrays_end_with_an_error() {
    let models = Models::open(Source::from_vec("models.bin", models_that_share(1, 60_000))).unwrap();
    let table = models.table("lods").unwrap();
    let column = table.columns().iter().position(|c| c.name == "render_sets").unwrap();
    let last = table.len().unwrap() - 1;
    assert!(matches!(table.value(last, column).unwrap(), Value::List(sets) if sets.len() == 60_000));
    let walk = |column: usize| {
        let (mut rows, mut good, mut limits) = (table.cursor(0), 0, 0);
        while rows.advance().unwrap() {
            match rows.value(column) {
                Ok(_) => good += 1,
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
                    limits += 1;
                }
            }
        }
        (good, limits)
    };
    assert_eq!(walk(2), (255, 0));
    let (good, limits) = walk(column);
    assert!(good > 10 && limits > 10, "{good} cells, {limits} errors");
}

#[test]
fn instances_stand_where_the_builder_put_them() {
    use assetq::formats::wows::bwdb::{Models, Space};
    let models = Models::open(Source::from_vec("models.bin", sample::space::models_bin(1, Size::Small))).unwrap();
    let space = Space::open(Source::from_vec("space.bin", sample::space::space_bin(1, Size::Small))).unwrap();
    assert_eq!(models.len(), 6);
    assert_eq!(space.instances().len(), 24);
    assert!(space.instances().iter().all(|i| models.find(i.id.get()).is_some()));
    assert_eq!(space.instances().iter().filter(|i| space.instance_name(i).unwrap().is_some()).count(), 5);
    assert_eq!(space.light(1).unwrap().radius().unwrap(), 12.5);
    assert_eq!(
        models.skeleton(0).unwrap().names().unwrap().get(0).unwrap().unwrap().0,
        Database::name_id("Scene Root")
    );
}

#[test]
fn real_models_and_spaces_read_to_their_end() {
    use assetq::formats::wows::bwdb::{Models, Space};
    let names = |folder| crate::common::files_in(folder);
    for path in names("models_bin") {
        let models = Models::open(Source::open(&path).unwrap()).unwrap();
        let report = models.verify(&Default::default());
        assert!(report.is_ok(), "{path:?}: {report:?}");
        let coverage = report.checks.iter().find(|c| c.name == "coverage").unwrap();
        assert_eq!(coverage.detail, "every byte accounted for", "{path:?}");
    }
    for path in names("space_bin") {
        let space = Space::open(Source::open(&path).unwrap()).unwrap();
        assert!(space.verify(&Default::default()).is_ok(), "{path:?}");
        let twin = path.to_str().unwrap().replace("space_bin", "models_bin").replace(".space.", ".models.");
        if let Ok(source) = Source::open(twin) {
            let models = Models::open(source).unwrap();
            let missing = space.instances().iter().filter(|i| models.find(i.id.get()).is_none()).count();
            assert_eq!(missing, 0, "{path:?}");
        }
    }
}

#[test]
fn models_with_one_id_are_all_found() {
    let models = Models::open(Source::from_vec("models.bin", models_that_share(3, 4))).unwrap();
    let mut asked = Vec::new();
    for table in models.tables().into_iter().filter(|table| table.len().unwrap() > 0) {
        let Some(id) = column_index(&*table, "id").filter(|&id| table.finds(id)) else { continue };
        asked.push(table.name().to_owned());
        let wanted = table.value(0, id).unwrap();
        let walked: Vec<usize> =
            (0..table.len().unwrap()).filter(|&row| table.value(row, id).unwrap() == wanted).collect();
        assert!(walked.len() >= 3, "{}", table.name());
        assert_eq!(table.find(id, &wanted).unwrap().unwrap(), walked, "{}", table.name());
    }
    assert_eq!(asked, ["models", "render_sets", "lods"]);
}

/// A database whose last path has the id of the one before it.
fn with_an_id_twice() -> (Vec<u8>, usize) {
    let mut bytes = sample::bwdb::demo(1, Size::Small);
    let db = Database::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let ids: Vec<u64> = db.paths().entries().iter().map(|entry| entry.self_id.get()).collect();
    let [.., kept, lost] = ids[..] else { panic!("two paths") };
    let parent = db.paths().entries().last().unwrap().parent_id.get();
    let entry = [lost.to_le_bytes(), parent.to_le_bytes()].concat();
    let at = bytes.windows(16).position(|bytes| *bytes == entry).unwrap();
    bytes[at..at + 8].copy_from_slice(&kept.to_le_bytes());
    (bytes, ids.len())
}

#[test]
fn paths_with_one_id_are_all_found() {
    let (bytes, count) = with_an_id_twice();
    let db = Database::open(Source::from_vec("assets.bin", bytes)).unwrap();
    let table = db.table("paths").unwrap();
    let [id, path] = ["id", "path"].map(|name| column_index(&*table, name).unwrap());
    let (twice, first, second) =
        (count - 2, table.value(count - 2, path).unwrap(), table.value(count - 1, path).unwrap());
    for _ in ["by a comparison of all", "by the index"] {
        assert_eq!(table.find(id, &table.value(twice, id).unwrap()).unwrap().unwrap(), [twice, twice + 1]);
        assert_eq!(table.find(path, &first).unwrap().unwrap(), [twice]);
        // Its id belongs to another path, so that nothing leads to it.
        assert_eq!(table.find(path, &second).unwrap().unwrap(), [0; 0]);
        db.paths().build_index();
    }
}

/// Of rows with one id, equal rows are the same row.
#[test]
fn databases_with_an_id_twice_are_compared() {
    let differences = |old: Vec<u8>, new: Vec<u8>, table: &str| {
        let [old, new] = [old, new].map(|bytes| Asset::open(Source::from_vec("assets.bin", bytes)).unwrap());
        let tables = assetq::diff::tables(&old, &new, &[table.to_owned()]).unwrap();
        let found = tables[0].find(&Default::default(), 0);
        (found.removed, found.added, found.changed, found.fault_count)
    };
    let (twice, count) = with_an_id_twice();
    let (last, demo) = (count as u32 - 1, demo(1, Size::Small));
    assert_eq!(differences(twice.clone(), demo.clone(), "paths"), (vec![last], vec![last], vec![], 0));
    assert_eq!(differences(demo, twice, "paths"), (vec![last], vec![last], vec![], 0));
    let deleted = |records: &[usize]| {
        let mut builder = DatabaseBuilder::default();
        builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 2).finish());
        records.iter().for_each(|record| builder.resource(7, 0, *record, 3));
        builder.build()
    };
    let (removed, added, changed, faults) = differences(deleted(&[0, 1]), deleted(&[1]), "resources");
    assert_eq!((removed.len(), added.len(), changed.len(), faults), (1, 0, 0, 0));
}

#[test]
fn verify_names_the_text_and_the_path_that_are_wrong() {
    let findings = |bytes: &[u8], check: &str| -> Vec<String> {
        let report = open(bytes.to_vec()).verify(&Default::default());
        let check = report.checks.iter().find(|c| c.name == check).unwrap();
        check.findings().iter().map(ToString::to_string).collect()
    };
    let mut builder = DatabaseBuilder::default();
    builder.string("diffuseMap");
    let whole = builder.build();
    let text = whole.windows(11).position(|bytes| bytes == b"diffuseMap\0").unwrap();
    for (at, byte, finding, error) in [
        (text + 10, b'x', "strings.data: the last text does not end with a NUL", "text without a terminating NUL"),
        (text + 2, 0xFF, "strings.data: not valid UTF-8 after 0 units", "not valid UTF-8"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        let found = findings(&bytes, "string pool");
        assert_eq!(found, [format!("{finding} (at offset {at:#x})")]);
        let error_of = open(bytes).string(Database::name_id("diffuseMap")).unwrap_err().to_string();
        assert!(error_of.starts_with(&format!("strings.data: {error}")), "{error_of}");
    }
    let mut far = whole.clone();
    far.resize(whole.len() + (65 << 20), 0);
    let found = findings(&far, "checksum");
    assert_eq!(
        found,
        [format!("header: {} bytes after everything that the file refers to (at offset {:#x})", 65 << 20, whole.len())]
    );
    let (bytes, count) = with_an_id_twice();
    let id = open(bytes.clone()).paths().entries()[count - 1].self_id.get();
    let found = findings(&bytes, "paths");
    assert!(
        found[0].starts_with(&format!("paths: id {id:#018X} is used by an earlier path already").replace("0X", "0x")),
        "{found:?}"
    );
}

#[test]
fn a_resource_is_not_found_by_a_path_that_is_not_its_own() {
    let mut bytes = sample::bwdb::demo(1, Size::Small);
    let whole = Database::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let resources = whole.table("resources").unwrap();
    let path = column_index(&*resources, "path").unwrap();
    let old = resources.value(0, path).unwrap().to_string();
    // Its name ends otherwise, and its id stays.
    let name = [old.rsplit('/').next().unwrap().as_bytes(), &[0]].concat();
    let at = bytes.windows(name.len()).position(|bytes| *bytes == name).unwrap();
    bytes[at + name.len() - 2] ^= 1;
    let db = Database::open(Source::from_vec("assets.bin", bytes)).unwrap();
    let resources = db.table("resources").unwrap();
    assert_ne!(resources.value(0, path).unwrap().to_string(), old);
    assert_eq!(resources.find(path, &old.as_str().into()).unwrap().unwrap(), [0; 0]);
}

/// Headers without a magic are all zeros in an empty file, which is as long as they are.
#[test]
fn a_header_of_zeros_is_of_an_empty_file_or_of_none() {
    let open = |name: &str, len| Asset::open(Source::from_vec(name, vec![0; len]));
    for (name, header) in [("a.geometry", 0x48), ("models.bin", 0x18), ("space.bin", 0x60)] {
        let empty = open(name, header).unwrap();
        assert!(empty.reader().verify(&Default::default()).is_ok(), "{name}");
        for len in [header + 1, 4096] {
            let error = open(name, len).unwrap_err().to_string();
            let expected = "header: a header of zeros, as in an empty file, with more bytes after it (at offset 0x0)";
            assert_eq!(error, expected, "{name} {len}");
        }
    }
    // Without a name they look like an empty file or like nothing.
    for len in [5, 0x17, 0x19, 0x47, 0x49, 0x60, 4096] {
        let error = open("zeros", len).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownFormat { .. }), "{len}: {error}");
    }
    assert_eq!(open("zeros", 0x48).unwrap().format(), assetq::formats::wows::GEOMETRY);
    assert_eq!(open("zeros", 0x18).unwrap().format(), assetq::formats::wows::MODELS);
}

#[test]
fn files_of_legends_are_errors_that_name_the_game() {
    let mut database = DatabaseBuilder::default().build();
    database[6] = 0;
    let mut index = Package::new(Variant::V2, "a.pkg").index();
    index[4..8].copy_from_slice(&0x0101_0005u32.to_le_bytes());
    let parameters = [b"%bin", &*gameparams::root(gameparams::entities(1, Size::Small, &[])).pickle()].concat();
    for (name, bytes) in [
        ("assets.bin", database),
        ("content.idx", index),
        ("GameParams.data", parameters),
        ("prototypes.index.data", vec![0; 24]),
        ("prototypes.data", vec![0; 24]),
    ] {
        let error = Asset::open(Source::from_vec(name, bytes)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{name}: {error}");
        assert!(error.to_string().contains("a file of World of Warships: Legends is not supported"), "{name}: {error}");
    }
}

#[test]
fn a_database_with_an_unknown_header_is_an_error() {
    for (at, value, expected) in [
        (0x0, b'?', "header: magic is 0x4257443f, expected 0x42574442 (at offset 0x0)"),
        (0x6, 2, "header: unknown version 2 (at offset 0x6)"),
        (0x7, 3, "header: unknown version 3 (at offset 0x7)"),
        (0xC, 32, "header: pointer width: 32 is not allowed (at offset 0xc)"),
        (0xE, 1, "header: endianness: 1 is not allowed (at offset 0xe)"),
    ] {
        let mut bytes = DatabaseBuilder::default().build();
        bytes[at] = value;
        let error = Database::open(Source::from_vec("assets.bin", bytes)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{at:#x}: {error}");
    }
}
