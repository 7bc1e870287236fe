//! Differences between two files: what a builder changes is what is reported, and nothing else.

use crate::common::{run, writer};
use assetq::diff::{self, DifferenceKind, Side};
use assetq::edit::Editor;
use assetq::formats::ErrorKind;
use assetq::formats::report::Progress;
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::table::{Accepts, Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::bwdb::{Altered, DatabaseBuilder, altered, demo, systems_that_share};
use assetq_sample::geometry::{GeometryBuilder, HullShape, Mapping, PlateShape, splash};
use assetq_sample::prototypes::{BlobWriter, u32s, u64s};
use assetq_sample::wdb::{Game, Sheet, pack};
use assetq_sample::{FILES, Size};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn open(name: &str, bytes: &[u8]) -> Asset {
    Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap()
}

/// All differences, a line each: table, mark, key, fields. Panics where something is damaged.
fn lines_of(name: &str, old: &[u8], new: &[u8], tables: &[&str]) -> Vec<String> {
    let (old, new) = (open(name, old), open(name, new));
    let wanted: Vec<String> = tables.iter().map(|t| t.to_string()).collect();
    let mut lines = Vec::new();
    for table in diff::tables(&old, &new, &wanted).unwrap() {
        let found = table.find(&Progress::default(), 0);
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        for pair in found.pairs() {
            let change = table.change(pair, &mut |side, error| panic!("{side:?}: {error}"));
            let mark = match change.kind {
                DifferenceKind::Added => "+",
                DifferenceKind::Removed => "-",
                DifferenceKind::Changed => "~",
            };
            let fields: Vec<String> = change
                .fields
                .iter()
                .map(|f| match change.kind {
                    DifferenceKind::Added => format!("{}={}", f.name, f.new),
                    DifferenceKind::Removed => format!("{}={}", f.name, f.old),
                    DifferenceKind::Changed => format!("{}: {} -> {}", f.name, f.old, f.new),
                })
                .collect();
            lines.push(format!("{} {mark} {} {}", table.name(), change.key, fields.join(", ")).trim_end().to_owned());
        }
    }
    lines
}

fn lines(name: &str, old: &[u8], new: &[u8]) -> Vec<String> {
    lines_of(name, old, new, &[])
}

#[test]
fn a_file_does_not_differ_from_itself() {
    for &(name, _, make) in FILES {
        for seed in [1, 2] {
            let bytes = make(seed, Size::Small);
            assert_eq!(lines(name, &bytes, &bytes), [""; 0], "{name}");
            let tables: Vec<String> =
                open(name, &bytes).reader().tables().iter().map(|t| t.name().to_owned()).collect();
            let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
            assert_eq!(lines_of(name, &bytes, &bytes, &tables), [""; 0], "{name}, all tables");
        }
        assert_ne!(lines(name, &make(1, Size::Small), &make(2, Size::Small)), [""; 0], "{name}");
    }
}

/// Neither the path of a file nor the files beside it are its contents.
#[test]
fn a_file_equals_its_copy_in_another_folder() {
    let dir = TempDir::new().unwrap();
    let at = |folder: &str, name: &str| dir.path().join(folder).join(name);
    for &(name, _, make) in FILES {
        let bytes = make(1, Size::Small);
        writer(dir.path())(&format!("all/{name}"), bytes.clone());
        writer(dir.path())(&format!("alone/{name}/{name}"), bytes);
    }
    for &(name, ..) in FILES {
        let old = Asset::open(Source::open(at("all", name)).unwrap()).unwrap();
        let new = Asset::open(Source::open(at("alone", name).join(name)).unwrap()).unwrap();
        for (old, new) in [(&old, &new), (&new, &old)] {
            for table in diff::tables(old, new, &[]).unwrap() {
                let found = table.find(&Progress::default(), 0);
                assert!(found.is_empty() && found.fault_count == 0, "{name}, {}: {found:?}", table.name());
            }
        }
    }
}

#[test]
fn a_texture_that_changed_is_changed_in_two_folders() {
    use assetq_sample::dds::flat;
    let dir = TempDir::new().unwrap();
    let mut write = writer(dir.path());
    for (folder, colour) in [("old", [1, 2, 3]), ("new", [200, 2, 3])] {
        write(&format!("{folder}/tex/hull.dds"), flat(16, colour));
        write(&format!("{folder}/tex/same.dds"), flat(16, [9, 9, 9]));
    }
    drop(write);
    let (rows, _) = run(dir.path(), 1, &["diff", "old", "new", "--deep", "-f", "ndjson"]);
    let rows: Vec<Json> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let all: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row["table"].as_str().unwrap(), row["change"].as_str().unwrap())).collect();
    assert_eq!(all, BTreeSet::from([("files", "changed"), ("tex/hull.dds:levels", "changed")]));
}

fn database(asset: &Asset) -> &assetq::formats::wows::bwdb::Database {
    asset.get().expect("an assets.bin")
}

#[test]
fn a_later_build_differs_in_what_was_altered_and_not_in_what_only_moved() {
    for seed in 1..4 {
        let old = demo(seed, Size::Small);
        let Altered { bytes, added_paths, removed_paths, added, removed, changed, added_strings } =
            altered(seed, Size::Small);
        let (old, new) = (open("assets.bin", &old), open("assets.bin", &bytes));
        let path = |asset, id: &u64| database(asset).path(*id).unwrap().unwrap();
        let mut expected: BTreeSet<String> = BTreeSet::new();
        expected.extend(added_paths.iter().map(|p| format!("paths + {p}")));
        expected.extend(removed_paths.iter().map(|id| format!("paths - {}", path(&old, id))));
        expected.extend(added.iter().map(|id| format!("resources + {}", path(&new, id))));
        expected.extend(removed.iter().map(|id| format!("resources - {}", path(&old, id))));
        expected.extend(changed.iter().map(|(id, field)| format!("resources ~ {} {field}", path(&old, id))));
        let id = |text: &String| Value::Id32(assetq_core::codec::murmur3(text.as_bytes()));
        expected.extend(added_strings.iter().map(|text| format!("strings + {} text={text}", id(text))));
        assert!(changed.len() >= 7 && !removed.is_empty(), "{changed:?}");

        let mut found: BTreeSet<String> = BTreeSet::new();
        for table in diff::tables(&old, &new, &[]).unwrap() {
            let differences = table.find(&Progress::default(), 0);
            assert!(differences.faults.is_empty(), "{:?}", differences.faults);
            for pair in differences.pairs() {
                let change = table.change(pair, &mut |_, error| panic!("{error}"));
                let shown: Vec<String> = match (change.kind, table.name()) {
                    (DifferenceKind::Changed, _) => change.fields.iter().map(|f| f.name.to_string()).collect(),
                    (_, "strings") => change.fields.iter().map(|f| format!("{}={}", f.name, f.new)).collect(),
                    _ => Vec::new(),
                };
                let mark = ["+", "-", "~"][change.kind as usize];
                let line = format!("{} {mark} {} {}", table.name(), change.key, shown.join(", "));
                assert!(found.insert(line.trim_end().to_owned()));
            }
        }
        assert_eq!(found.difference(&expected).collect::<Vec<_>>(), Vec::<&String>::new(), "not known");
        assert_eq!(expected.difference(&found).collect::<Vec<_>>(), Vec::<&String>::new(), "not found");
    }
}

/// A visual whose two render sets have `names`, `mfms` and `nodes`; `pad` bytes lie between its arrays, in an order
/// that depends on `turned`.
fn visual(names: [&str; 2], mfms: [&str; 2], nodes: &[&str], pad: usize, turned: bool) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("content/ship.visual");
    let names = names.map(|name| builder.string(name));
    let mfms = mfms.map(|path| builder.path(path));
    let nodes: Vec<u32> = nodes.iter().map(|name| builder.string(name)).collect();
    let mut blob = BlobWriter::new(PrototypeType::Visual, 1);
    let at = blob.record(0);
    blob.data.patch(at + 0x3A, [2, 0, 1]);
    let lods = |blob: &mut BlobWriter| {
        blob.data.zeros(pad);
        let lod = blob.structs(at, 0x68, 1, 0x10);
        blob.floats(lod, &[250.0]);
        blob.data.patch(lod + 6, [2, 0]);
        blob.array(lod, 8, u32s(names));
    };
    if turned {
        lods(&mut blob);
    }
    blob.data.zeros(pad);
    let sets = blob.structs(at, 0x60, 2, 0x28);
    for (index, set) in [sets, sets + 0x28].into_iter().enumerate() {
        blob.data.patch(set, u32s([names[index]]));
        blob.data.patch(set + 0x10, u64s([mfms[index]]));
        blob.data.patch(set + 0x19, [nodes.len() as u8]);
        blob.data.zeros(pad);
        blob.array(set, 0x20, u32s(nodes.iter().copied()));
    }
    if !turned {
        lods(&mut blob);
    }
    builder.database(PrototypeType::Visual.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    builder.build()
}

#[test]
fn a_field_deep_in_a_record_is_named_with_both_texts() {
    let (names, mfms) = (["Hull", "Deck"], ["a.mfm", "b.mfm"]);
    let old = visual(names, mfms, &["Root", "Mast"], 0, false);
    assert_eq!(
        lines_of("assets.bin", &old, &visual(names, mfms, &["Root", "Mast"], 24, true), &["resources"]),
        [""; 0]
    );
    assert_eq!(
        lines_of("assets.bin", &old, &visual(names, ["a.mfm", "c.mfm"], &["Root", "Mast"], 8, false), &["resources"]),
        ["resources ~ content/ship.visual render_sets[1].mfm: b.mfm -> c.mfm"]
    );
    assert_eq!(
        lines_of("assets.bin", &old, &visual(names, mfms, &["Root"], 0, true), &["resources"]),
        ["resources ~ content/ship.visual render_sets[0].node_count: 2 -> 1, \
          render_sets[0].nodes: [Root, Mast] -> [Root], render_sets[1].node_count: 2 -> 1, \
          render_sets[1].nodes: [Root, Mast] -> [Root]"]
    );
    assert_eq!(
        lines("assets.bin", &old, &visual(["Hull", "Keel"], mfms, &["Root", "Mast"], 0, false)),
        [
            "resources ~ content/ship.visual render_sets[1].name: Deck -> Keel, \
             lods[0].render_sets: [Hull, Deck] -> [Hull, Keel]",
            "strings - 0x3A6D6A45 text=Deck",
            "strings + 0xD4F51F34 text=Keel",
        ]
        .map(|line| line.replace("0x3A6D6A45", &hash("Deck")).replace("0xD4F51F34", &hash("Keel")))
    );
}

fn hash(text: &str) -> String {
    Value::Id32(assetq_core::codec::murmur3(text.as_bytes())).to_string()
}

/// A material with float properties of these names and values, in this order.
fn material(properties: &[(&str, f32)]) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("content/hull.mfm");
    let names: Vec<u32> = properties.iter().map(|(name, _)| builder.string(name)).collect();
    let mut blob = BlobWriter::new(PrototypeType::Material, 1);
    let (at, count) = (blob.record(0), properties.len() as u8);
    blob.data.patch(at, [count, 0]);
    blob.data.patch(at + 5, [count]);
    blob.array(at, 0x10, u32s(names));
    blob.array(at, 0x18, (0..count).flat_map(|i| [i << 4 | 3, i >> 4]).collect::<Vec<u8>>());
    blob.array(at, 0x38, properties.iter().flat_map(|(_, v)| v.to_le_bytes()).collect::<Vec<u8>>());
    builder.database(PrototypeType::Material.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    builder.build()
}

#[test]
fn materials_differ_by_the_names_of_their_properties() {
    let old = material(&[("gloss", 0.5), ("alpha", 1.0), ("depth", f32::NAN)]);
    let compare = |new: &[(&str, f32)]| lines_of("assets.bin", &old, &material(new), &["resources"]);
    assert_eq!(compare(&[("depth", f32::NAN), ("gloss", 0.5), ("alpha", 1.0)]), [""; 0]);
    let lines = compare(&[("alpha", 0.25), ("scale", 3.0), ("depth", f32::NAN)]);
    assert_eq!(lines.len(), 1);
    let mut fields: Vec<&str> = lines[0].strip_prefix("resources ~ content/hull.mfm ").unwrap().split(", ").collect();
    fields.sort_unstable();
    assert_eq!(fields, ["properties.alpha: 1 -> 0.25", "properties.gloss: 0.5 -> ", "properties.scale:  -> 3"]);
}

/// Materials of one float each. `owners` has the paths of each, and the map of resources has `capacity` slots.
fn owned_materials(materials: &[(f32, &[&str])], capacity: u32) -> Vec<u8> {
    let mut builder = DatabaseBuilder::with_capacities(7, capacity);
    let name = builder.string("roughness");
    let mut blob = BlobWriter::new(PrototypeType::Material, materials.len());
    for (record, (value, owners)) in materials.iter().enumerate() {
        let at = blob.record(record);
        blob.data.patch(at, 1u16.to_le_bytes());
        blob.data.patch(at + 5, [1]);
        blob.array(at, 0x10, u32s([name]));
        blob.array(at, 0x18, 3u16.to_le_bytes());
        blob.array(at, 0x38, value.to_le_bytes());
        for path in *owners {
            let id = builder.path(path);
            builder.resource(id, 0, record, 0);
        }
    }
    builder.database(PrototypeType::Material.magic(), 0, blob.finish());
    builder.build()
}

#[test]
fn which_of_its_paths_names_a_record_does_not_depend_on_the_map() {
    let shared: [(f32, &[&'static str]); 2] =
        [(1.0, &["b/red.mfm", "a/red.mfm", "c/red.mfm"]), (2.0, &["blue.mfm", "aqua.mfm"])];
    let old = owned_materials(&shared, 7);
    let path = |bytes: &[u8]| {
        let asset = open("assets.bin", bytes);
        let table = asset.reader().table("materials").unwrap();
        (0..2).map(|row| table.value(row, 2).unwrap().to_string()).collect::<Vec<_>>()
    };
    let smallest = |paths: &[&'static str]| {
        *paths.iter().min_by_key(|path| assetq_core::codec::cityhash64(path.as_bytes())).unwrap()
    };
    assert_eq!(path(&old), shared.map(|(_, paths)| smallest(paths)));
    for capacity in [5, 11, 13, 17, 23, 29, 101] {
        let new = owned_materials(&shared, capacity);
        for table in ["materials", "material_properties"] {
            assert_eq!(lines_of("assets.bin", &old, &new, &[table]), [""; 0], "{table}, {capacity} slots");
        }
    }
}

#[test]
fn records_that_nothing_names_are_compared_by_what_they_say() {
    let build = |values: &[f32]| {
        let mut records: Vec<(f32, &[&str])> = values.iter().map(|&value| (value, &[] as &[&str])).collect();
        records.insert(1, (9.0, &["named.mfm"]));
        owned_materials(&records, 7)
    };
    let old = build(&[1.0, 2.0, 3.0]);
    assert_eq!(lines("assets.bin", &old, &build(&[3.0, 1.0, 2.0])), [""; 0], "they only moved");
    assert_eq!(
        lines("assets.bin", &old, &build(&[3.0, 1.0, 2.5])),
        ["materials ~ {record: 3} properties.roughness: 2 -> 2.5"]
    );
    let mut raw = old.clone();
    let at = raw.windows(4).rposition(|bytes| bytes == PrototypeType::Material.magic().to_le_bytes()).unwrap();
    // A number of records that fits no known layout.
    let blob = at + i64::from_le_bytes(raw[at + 16..at + 24].try_into().unwrap()) as usize;
    raw[blob..blob + 8].copy_from_slice(&9u64.to_le_bytes());
    let lost = lines("assets.bin", &old, &raw);
    assert!(lost.len() == 1 && lost[0].starts_with("databases ~ "), "{lost:?}");
    let more = lines("assets.bin", &old, &build(&[3.0, 1.0, 2.0, 4.0]));
    assert_eq!(more[0], "databases ~ {type: MaterialPrototype, magic: 0x5069C471} records: 4 -> 5");
    assert!(more[1].starts_with("materials + {record: 4} property_count=1") && more.len() == 2, "{more:?}");
}

#[test]
fn records_of_a_layout_that_nobody_knows_are_compared_by_their_bytes_less_pointers() {
    // A number, a pointer to two numbers, another number and four bytes of padding.
    let build = |size: usize, numbers: [u32; 8], moved: usize| {
        let (mut builder, mut blob) = (DatabaseBuilder::default(), BlobWriter::with_size(size, 8));
        let records: Vec<usize> = (0..8).map(|record| blob.record(record)).collect();
        for index in 0..8 {
            let record = (index + moved) % 8;
            blob.data.patch(records[record], [7, 0, 0, 0]);
            blob.data.patch(records[record] + 16, numbers[record].to_le_bytes());
            blob.array(records[record], 8, u32s([1, 2]));
        }
        builder.database(assetq_core::codec::murmur3(b"TrailPrototype"), 5, blob.finish());
        for record in 0..8 {
            let id = builder.path(&format!("trails/{record}.xml"));
            builder.resource(id, 0, record, 0);
        }
        builder.build()
    };
    let numbers = [0, 1, 2, 3, 4, 5, 6, 0x0102_0304];
    let old = build(24, numbers, 0);
    assert_eq!(lines("assets.bin", &old, &build(24, numbers, 0)), [""; 0]);
    assert_eq!(lines("assets.bin", &old, &build(24, numbers, 3)), [""; 0], "only pointers differ");
    let mut others = numbers;
    others[7] = 9;
    let new = build(24, others, 3);
    assert_eq!(lines("assets.bin", &old, &new), ["resources ~ trails/7.xml bytes[0x10..0x14]: 04030201 -> 09000000"]);
    let notes = |new: &[u8]| diff::notes(&open("assets.bin", &old), &open("assets.bin", new)).join(", ");
    assert_eq!(notes(&old), "");
    assert!(
        notes(&new).starts_with("8 and 8 records of type TrailPrototype are compared by their own bytes less pointers")
    );
    let longer = build(32, numbers, 0);
    assert!(
        notes(&longer).starts_with("8 and 8 records of type TrailPrototype are not compared, though they may differ")
    );
}

#[test]
fn a_resource_that_was_deleted_or_got_another_type_is_a_change() {
    let build = |state, database| {
        let mut builder = DatabaseBuilder::default();
        let id = builder.path("content/a.light");
        builder.database(PrototypeType::PointLight.magic(), 0, BlobWriter::new(PrototypeType::PointLight, 1).finish());
        builder.database(
            PrototypeType::EffectPreset.magic(),
            0,
            BlobWriter::new(PrototypeType::EffectPreset, 1).finish(),
        );
        builder.resource(id, database, 0, state);
        builder.build()
    };
    assert_eq!(
        lines("assets.bin", &build(0, 0), &build(3, 0)),
        ["resources ~ content/a.light state: valid -> deleted, size: 112 ->"]
    );
    assert_eq!(
        lines("assets.bin", &build(0, 0), &build(0, 1)),
        ["resources ~ content/a.light type: PointLightPrototype -> EffectPresetPrototype, size: 112 -> 16"]
    );
}

#[test]
fn models_of_two_layouts_are_compared_by_the_fields_that_both_have() {
    let build = |checksum: u32, size: usize, misc: [(usize, u8); 1], visual: &str| {
        let mut builder = DatabaseBuilder::default();
        let id = builder.path("content/a.model");
        let mut blob = BlobWriter::with_size(size, 1);
        let at = blob.record(0);
        let visual = builder.path(visual);
        blob.data.patch(at, u64s([visual]));
        misc.iter().for_each(|(place, value)| blob.data.patch(at + place, [*value]));
        builder.database(PrototypeType::Model.magic(), checksum, blob.finish());
        builder.resource(id, 0, 0, 0);
        builder.build()
    };
    let old = build(0xD6B1_1569, 0x20, [(8, 2)], "content/a.visual");
    let same = build(0, 0x28, [(9, 2)], "content/a.visual");
    let size = "resources ~ content/a.model size: 32 -> 40";
    assert_eq!(lines_of("assets.bin", &old, &same, &["resources"]), [""; 0]);
    assert_eq!(
        lines_of("assets.bin", &old, &build(0, 0x28, [(9, 1)], "content/b.visual"), &["resources"]),
        [format!(
            "{size}, visual: content/a.visual -> content/b.visual, misc_type: 2 -> 1, misc_type_name: Optional -> Necessary"
        )]
    );
}

#[test]
fn records_of_a_sheet_are_known_by_name() {
    let sheet = |fields: &[&str]| Sheet::new(Game::Later, "item").fields(fields.iter().copied());
    let old = sheet(&["u8Kind", "fPrice", "sName"])
        .record("potion", [1.into(), 50f32.into(), "Potion".into()])
        .record("elixir", [2.into(), 900f32.into(), "Elixir".into()])
        .record("ether", [2.into(), 120f32.into(), "Ether".into()])
        .build();
    let new = sheet(&["u8Kind", "fPrice", "sName"])
        .record("ether", [2.into(), 120f32.into(), "Ether".into()])
        .record("potion", [1.into(), 60f32.into(), "Potion+".into()])
        .record("tonic", [3.into(), 10f32.into(), "Tonic".into()])
        .build();
    assert_eq!(
        lines("item.wdb", &old, &new),
        [
            "records ~ potion fPrice: 50 -> 60, sName: Potion -> Potion+",
            "records - elixir u8Kind=2, fPrice=900, sName=Elixir",
            "records + tonic u8Kind=3, fPrice=10, sName=Tonic",
        ]
    );
    let wider = sheet(&["u8Kind", "fPrice", "sName", "u8Rank"])
        .record("potion", [1.into(), 50f32.into(), "Potion".into(), 7.into()])
        .record("elixir", [2.into(), 900f32.into(), "Elixir".into(), 7.into()])
        .record("ether", [2.into(), 120f32.into(), "Ether".into(), 7.into()])
        .build();
    assert_eq!(lines("item.wdb", &old, &wider), ["fields + u8Rank kind=uint, bits=8, fault="]);
    let (old, wider) = (open("item.wdb", &old), open("item.wdb", &wider));
    let tables = diff::tables(&old, &wider, &[]).unwrap();
    assert_eq!(tables[0].lone_columns(), [vec![], vec!["u8Rank".to_owned()]]);
}

#[test]
fn an_entry_of_a_pack_differs_by_its_bytes() {
    let old = pack(&[("a", "txt", b"one!".to_vec()), ("b", "txt", b"two!".to_vec()), ("c", "", b"three".to_vec())]);
    let new = pack(&[("b", "txt", b"2222".to_vec()), ("a", "txt", b"one!".to_vec()), ("d", "", b"three".to_vec())]);
    let content = |text: &str| format!("0x{:016X}", assetq_core::codec::xxh64(text.as_bytes(), 0));
    assert_eq!(
        lines("pack.bin", &old, &new),
        [
            format!("entries ~ {{name: b, extension: txt}} content: {} -> {}", content("two!"), content("2222")),
            format!("entries - {{name: c, extension: }} size=5, content={}", content("three")),
            format!("entries + {{name: d, extension: }} size=5, content={}", content("three")),
        ]
    );
}

const SQUARE: [[f32; 3]; 4] = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];

fn geometry(corners: &[[f32; 3]], triangles: &[u32], packed: bool, first_mapping: u32) -> GeometryBuilder {
    let mut g = GeometryBuilder::new();
    let bytes: Vec<u8> =
        corners.iter().flat_map(|c| [c[0], c[1], c[2], 0., 0., 0.]).flat_map(f32::to_le_bytes).collect();
    let vertices = g.vertex_buffer("set3/xyznuvpc", 24, &bytes, packed);
    let indices = g.index_buffer(2, triangles, packed);
    let mapping = |id, buffer, count| Mapping { id, buffer, density: 0, start: 0, count };
    g.vertex_mapping(mapping(first_mapping, vertices, corners.len() as u32));
    g.index_mapping(mapping(2, indices, triangles.len() as u32));
    g
}

#[test]
fn a_mesh_differs_by_what_it_decodes_to() {
    let old = geometry(&SQUARE, &[0, 1, 2, 0, 2, 3], false, 1).build();
    // The packer turns triangles; the mesh is the same.
    assert_eq!(
        lines("a.geometry", &old, &geometry(&SQUARE, &[1, 2, 0, 3, 0, 2], true, 1).build()),
        ["vertex_buffers ~ set3/xyznuvpc encoded: false -> true", "index_buffers ~ 2 encoded: false -> true"]
    );
    let mut moved = SQUARE;
    moved[3][1] = 1.5;
    let lines = |new: GeometryBuilder| -> Vec<String> {
        let lines = lines("a.geometry", &old, &new.build());
        lines.iter().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(lines(geometry(&moved, &[0, 1, 2, 0, 2, 3], false, 1)), ["vertex_mappings ~ 0x00000001 content"]);
    assert_eq!(lines(geometry(&SQUARE, &[0, 2, 1, 0, 2, 3], false, 1)), ["index_mappings ~ 0x00000002 content"]);
    let other = lines(geometry(&SQUARE, &[0, 1, 2, 0, 2, 3], false, 9));
    assert_eq!(other.len(), 2);
    assert!(
        other[0].starts_with("vertex_mappings - 0x00000001") && other[1].starts_with("vertex_mappings + 0x00000009")
    );
}

/// A group is known by its triangles.
#[test]
fn a_group_differs_by_the_id_of_its_vertices() {
    let dir = TempDir::new().unwrap();
    for (name, id) in [("old.geometry", 1), ("new.geometry", 9)] {
        fs::write(dir.path().join(name), geometry(&SQUARE, &[0, 1, 2, 0, 2, 3], false, id).build()).unwrap();
    }
    let (out, _) = run(dir.path(), 1, &["diff", "old.geometry", "new.geometry", "-t", "render_groups"]);
    assert!(out.contains("vertices_id: 0x00000001 -> 0x00000009"), "{out}");
}

#[test]
fn hulls_and_plates_differ_by_model() {
    let build = |size: f32, layers: &[u16]| {
        let mut g = geometry(&SQUARE, &[0, 1, 2], false, 1);
        g.collision("hull", vec![HullShape::cuboid([0.; 3], [size, 1., 1.])]);
        let plate =
            |&layer: &u16| PlateShape { material: 5, layer, triangles: vec![[SQUARE[0], SQUARE[1], SQUARE[2]]] };
        g.armor("CM_PA_united.armor", layers.iter().map(plate).collect());
        g.build()
    };
    let lines = lines("a.geometry", &build(1., &[0, 1]), &build(2., &[1, 2]));
    let heads: Vec<&str> = lines.iter().map(|line| line.split(['=', ':']).next().unwrap()).collect();
    assert_eq!(heads[0], "collision_models ~ hull content");
    assert!(lines[1].starts_with("collision_hulls ~ {model: 0, index: 0} max: [1, 1, 1] -> [2, 1, 1]"), "{lines:?}");
    assert_eq!(heads[2], "armor_models ~ CM_PA_united.armor content");
    assert!(lines[3].starts_with("armor_plates - {model: 0, material_id: 5, layer: 0}"), "{lines:?}");
    assert!(lines[4].starts_with("armor_plates + {model: 0, material_id: 5, layer: 2}"), "{lines:?}");
    assert_eq!(lines.len(), 5);
}

#[test]
fn boxes_are_known_by_name_and_equal_ones_go_together() {
    let one = [1.; 3];
    let old = splash(&[("bow", [0.; 3], one), ("bow", [0.; 3], [2.; 3]), ("stern", [0.; 3], one)]);
    let new = splash(&[("stern", [0.; 3], one), ("bow", [0.; 3], [2.; 3]), ("bow", [0.; 3], [1., 1., 4.])]);
    assert_eq!(lines("a.splash", &old, &new), ["boxes ~ bow max_z: 1 -> 4"]);
    let fewer = splash(&[("bow", [0.; 3], [2.; 3]), ("stern", [0.; 3], one)]);
    assert_eq!(lines("a.splash", &old, &fewer), ["boxes - bow min_x=0, min_y=0, min_z=0, max_x=1, max_y=1, max_z=1"]);
}

#[test]
fn a_box_of_a_map_is_known_by_its_name() {
    let make = FILES.iter().find(|(name, ..)| *name == "town.wdata").unwrap().2;
    let old = make(1, Size::Small);
    let asset = open("town.wdata", &old);
    let table = asset.reader().table("respawn_boxes").unwrap();
    let column = |name: &str| table.columns().iter().position(|c| c.name == name).unwrap();
    let cell = |name| table.value(2, column(name)).unwrap();
    let (Value::Uint(offset), Value::F32(x)) = (cell("offset"), cell("pos_x")) else { panic!("a place") };
    let at = (offset as usize..).find(|&at| old[at..at + 4] == x.to_le_bytes()).unwrap();
    let mut new = old.clone();
    new[at..at + 4].copy_from_slice(&5f32.to_le_bytes());
    let name = cell("name");
    assert_eq!(lines("town.wdata", &old, &new), [format!("respawn_boxes ~ {name} pos_x: {x} -> 5")]);
    // All boxes again, if requested.
    assert_eq!(
        lines_of("town.wdata", &old, &new, &["event_boxes"]),
        [format!("event_boxes ~ {{type_name: RespawnBox, name: {name}}} pos_x: {x} -> 5")]
    );
}

#[test]
fn a_value_of_an_archive_is_known_by_its_path() {
    let make = FILES.iter().find(|(name, ..)| *name == "savegame.vrb").unwrap().2;
    let old = make(1, Size::Small);
    let lines = lines("savegame.vrb", &old, &make(2, Size::Small));
    let chunks: Vec<&String> = lines.iter().filter(|line| line.starts_with("chunks ~ ")).collect();
    assert_eq!(chunks.len(), 4, "{chunks:?}");
    assert!(lines.iter().any(|line| line.starts_with("values ~ {path: ")), "{lines:?}");
}

#[test]
fn instances_and_lights_are_paired_with_their_equals() {
    let make = FILES.iter().find(|(name, ..)| *name == "space.bin").unwrap().2;
    let old = make(1, Size::Small);
    let mut new = old.clone();
    let lights = open("space.bin", &old).reader().sections().into_iter().find(|s| s.name == "point_lights").unwrap();
    let radius = lights.offset as usize + 0xC0 + 0xB0;
    new[radius..radius + 4].copy_from_slice(&99f32.to_le_bytes());
    assert_eq!(lines("space.bin", &old, &new), ["point_lights ~ 1 radius: 12.5 -> 99"]);
}

#[test]
fn arrays_that_overlap_on_purpose_are_not_compared_without_end() {
    let file = || open("assets.bin", &systems_that_share(300));
    let (old, new) = (file(), file());
    let tables = diff::tables(&old, &new, &["resources".into()]).unwrap();
    let found = tables[0].find(&Progress::default(), 0);
    assert!(matches!(found.faults[..], [(_, ref e)] if matches!(e.kind(), ErrorKind::Limit { .. })), "{found:?}");
}

#[test]
fn no_damage_makes_it_panic() {
    let mut rng = fastrand::Rng::with_seed(11);
    for &(name, _, make) in FILES {
        let whole = make(3, Size::Small);
        let old = open(name, &whole);
        for round in 0..40 {
            let mut bytes = whole.clone();
            if round % 4 == 0 {
                bytes.truncate(rng.usize(..bytes.len()));
            } else {
                for _ in 0..rng.usize(1..6) {
                    let at = rng.usize(..bytes.len());
                    bytes[at] = rng.u8(..);
                }
            }
            let Ok(new) = Asset::open(Source::from_vec(name, bytes)) else { continue };
            for (a, b) in [(&old, &new), (&new, &old), (&new, &new)] {
                let Ok(tables) = diff::tables(a, b, &[]) else { continue };
                for table in tables {
                    let found = table.find(&Progress::default(), 0);
                    if std::ptr::eq(a, b) {
                        assert_eq!(found.len(), 0, "{name} {}: {:?}", table.name(), found);
                    }
                    for pair in found.pairs().take(50) {
                        table.change(pair, &mut |_: Side, error| assert!(!error.to_string().is_empty()));
                    }
                }
            }
        }
    }
}

fn assetq(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    let out = Command::new(crate::common::program()).current_dir(dir).args(args).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

/// A folder with two sheets, two databases and an archive.
fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(dir.path().join(name), bytes).unwrap();
    let sheet = |rows: &[(&str, i64, &str)]| {
        let sheet = Sheet::new(Game::Later, "item").fields(["u8Kind", "sName"]);
        let add =
            |sheet: Sheet, &(name, kind, text): &(&str, i64, &str)| sheet.record(name, [kind.into(), text.into()]);
        rows.iter().fold(sheet, add).build()
    };
    write("old.wdb", sheet(&[("potion", 1, "Potion"), ("elixir", 2, "Elixir")]));
    write("new.wdb", sheet(&[("potion", 1, "Po,tion"), ("tonic", 3, "Tonic")]));
    write("old.bin", demo(1, Size::Small));
    write("new.bin", altered(1, Size::Small).bytes);
    dir
}

#[test]
fn rows_for_machines_have_the_fixed_columns() {
    let dir = folder();
    let expected = json!([
        {"table": "records", "change": "changed", "key": "potion",
         "old": {"sName": "Potion"}, "new": {"sName": "Po,tion"}},
        {"table": "records", "change": "removed", "key": "elixir", "old": {"u8Kind": 2, "sName": "Elixir"}, "new": null},
        {"table": "records", "change": "added", "key": "tonic", "old": null, "new": {"u8Kind": 3, "sName": "Tonic"}},
    ]);
    let (out, err) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "json"]);
    assert_eq!((serde_json::from_str::<Json>(&out).unwrap(), err.as_str()), (expected.clone(), ""));
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "ndjson"]);
    let lines: Vec<Json> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Json::Array(lines), expected);
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-f", "csv"]);
    assert_eq!(
        out.lines().take(2).collect::<Vec<_>>(),
        ["table,change,key,old,new", r#"records,changed,potion,"{""sName"":""Potion""}","{""sName"":""Po,tion""}""#]
    );
    assert_eq!(assetq(dir.path(), 0, &["diff", "old.wdb", "old.wdb", "-f", "json"]).0, "[]\n");
    assert_eq!(assetq(dir.path(), 0, &["diff", "old.wdb", "old.wdb", "-f", "csv"]).0, "table,change,key,old,new\r\n");
}

#[test]
fn text_for_people_has_marks_and_folders() {
    let dir = folder();
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb"]);
    assert_eq!(
        out,
        "records: 1 added, 1 removed, 1 changed\n  ~ potion\n      sName: Potion -> Po,tion\n  \
         - elixir  u8Kind=2  sName=Elixir\n  + tonic  u8Kind=3  sName=Tonic\n"
    );
    assert_eq!(assetq(dir.path(), 0, &["diff", "old.wdb", "old.wdb"]).0, "no differences\n");
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "-t", "paths"]);
    assert!(out.contains("\n  content/gameplay/added/\n    + 0000.model\n    + 0001.model\n"), "{out}");
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "--limit", "1", "-t", "strings"]);
    assert_eq!(out.lines().last(), Some("  … and 1 more"), "{out}");
}

#[test]
fn a_summary_counts_by_folder_and_type() {
    let dir = folder();
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "--stat", "-f", "json"]);
    let rows: Json = serde_json::from_str(&out).unwrap();
    let of = |table: &str, group: &str| {
        rows.as_array().unwrap().iter().find(|r| r["table"] == table && r["group"] == group).cloned().unwrap()
    };
    assert_eq!(
        of("paths", "content/gameplay/added"),
        json!({"table": "paths", "group": "content/gameplay/added", "added": 2, "removed": 0, "changed": 0})
    );
    assert_eq!(
        of("resources", "MaterialPrototype"),
        json!({"table": "resources", "group": "MaterialPrototype", "added": 0, "removed": 0, "changed": 4})
    );
    let (out, _) = assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "--stat", "--depth", "1", "-t", "paths"]);
    assert!(out.lines().skip(1).all(|line| line.split_whitespace().nth(1).unwrap().split('/').count() == 1), "{out}");
}

#[test]
fn a_condition_holds_in_the_old_or_in_the_new_file() {
    let dir = folder();
    let keys = |condition: &str| -> Vec<String> {
        let (out, _) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-w", condition, "-f", "json"]);
        let rows: Json = serde_json::from_str(&out).unwrap();
        rows.as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys("sName = 'Potion'"), ["potion"]);
    assert_eq!(keys("sName = 'Po,tion'"), ["potion"]);
    assert_eq!(keys("u8Kind > 1"), ["elixir", "tonic"]);
    let (out, err) = assetq(dir.path(), 1, &["diff", "old.wdb", "new.wdb", "-w", "u8Kind > 9"]);
    assert_eq!((out.as_str(), err.as_str()), ("", "assetq: nothing that differs matches \"u8Kind > 9\"\n"));
    assetq(dir.path(), 2, &["diff", "old.wdb", "new.wdb", "-w", "nothing = 1"]);
    assetq(dir.path(), 2, &["diff", "old.wdb", "new.wdb", "-w", "u8Kind >"]);
    assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "-w", "type = 'MaterialPrototype'"]);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = folder();
    let (_, err) = assetq(dir.path(), 2, &["diff", "old.wdb", "old.bin"]);
    assert!(err.contains("two formats") && err.contains("wdb and bwdb"), "{err}");
    let (_, err) = assetq(dir.path(), 2, &["diff", "old.wdb", "new.wdb", "-t", "recods"]);
    assert!(err.contains("recods") && err.contains("records, sections, fields"), "{err}");
    assetq(dir.path(), 4, &["diff", "old.wdb", "none.wdb"]);
    assetq(dir.path(), 2, &["diff", "old.wdb"]);
}

/// Rows that could not be read are not gone: in no output, and in neither direction.
#[test]
fn rows_that_cannot_be_read_are_neither_removed_nor_added() {
    let dir = TempDir::new().unwrap();
    let good = FILES.iter().find(|(name, ..)| *name == "savegame.vrb").unwrap().2(1, Size::Small);
    let chunks = open("good.vrb", &good);
    let chunks = chunks.reader().table("chunks").unwrap();
    let cell = |name: &str| -> usize {
        let column = column_index(&*chunks, name).unwrap();
        chunks.value(0, column).unwrap().to_string().parse().unwrap()
    };
    let mut bad = good.clone();
    let middle = cell("offset") + cell("stored_size") / 2;
    bad[middle..middle + 20].fill(0xFF);
    fs::write(dir.path().join("good.vrb"), &good).unwrap();
    fs::write(dir.path().join("bad.vrb"), &bad).unwrap();
    for [old, new] in [["good.vrb", "bad.vrb"], ["bad.vrb", "good.vrb"]] {
        for format in ["text", "json", "ndjson", "csv", "markdown", "patch"] {
            let (out, err) = run(dir.path(), 3, &["diff", old, new, "-f", format]);
            assert!(!out.contains("values"), "{old} {new} {format}: {out}");
            assert!(err.lines().any(|line| line.starts_with("assetq: bad.vrb: chunk [Main]: ")), "{format}: {err}");
            let of_good = err.lines().find(|line| line.starts_with("assetq: good.vrb: chunk"));
            assert_eq!(of_good, None, "{old} {new} {format}");
        }
        let (out, _) = run(dir.path(), 3, &["diff", old, new, "--stat", "-f", "csv", "-t", "values"]);
        assert_eq!(out.lines().count(), 1, "{out}");
        // Pages are made of these.
        let (old, new) = (
            open(old, if old == "bad.vrb" { &bad } else { &good }),
            open(new, if new == "bad.vrb" { &bad } else { &good }),
        );
        let [values] = &diff::tables(&old, &new, &["values".to_owned()]).unwrap()[..] else { panic!("one is named") };
        let found = values.find(&Progress::default(), 0);
        assert!(found.is_empty() && !found.faults.is_empty(), "{found:?}");
    }
}

/// A count of rows reads what the rows read: damage in the cells of an inserted row ends both alike.
#[test]
fn a_summary_reports_the_damage_of_cells_as_the_rows_do() {
    let dir = TempDir::new().unwrap();
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.string("kept");
    fs::write(dir.path().join("old.bin"), builder.build()).unwrap();
    builder.string("lost");
    let mut bytes = builder.build();
    let at = memchr::memmem::find(&bytes, b"lost").unwrap();
    bytes[at] = 0xFF;
    fs::write(dir.path().join("new.bin"), bytes).unwrap();
    for [old, new] in [["old.bin", "new.bin"], ["new.bin", "old.bin"]] {
        let (rows, of_rows) = run(dir.path(), 3, &["diff", old, new, "-f", "csv"]);
        assert!(rows.lines().count() == 2 && of_rows.contains("new.bin: "), "{rows}{of_rows}");
        let (counts, of_counts) = run(dir.path(), 3, &["diff", old, new, "--stat", "-f", "csv"]);
        assert_eq!(of_counts, of_rows, "{counts}");
    }
}

/// A table that damage hides has no rows that are gone.
#[test]
fn a_table_that_cannot_be_shown_is_not_removed() {
    let dir = TempDir::new().unwrap();
    let sample = |name: &str| FILES.iter().find(|(of, ..)| *of == name).unwrap().2(1, Size::Small);
    // The number of records of the models, and the offset of the first entry.
    let assets = open("good.bin", &sample("assets.bin"));
    let databases = assets.reader().table("databases").unwrap();
    let [type_name, offset] = ["type", "offset"].map(|name| column_index(&*databases, name).unwrap());
    let row = (0..).find(|&row| databases.value(row, type_name).unwrap().to_string() == "ModelPrototype").unwrap();
    let of_models: usize = databases.value(row, offset).unwrap().to_string().parse().unwrap();
    for (name, at, table) in [("assets.bin", of_models, "models"), ("pack.bin", 0x20, "bt_chainbonus")] {
        let good = sample(name);
        let mut bad = good.clone();
        bad[at..at + 8].fill(0xFF);
        fs::write(dir.path().join("good.bin"), &good).unwrap();
        fs::write(dir.path().join("bad.bin"), &bad).unwrap();
        for [old, new] in [["good.bin", "bad.bin"], ["bad.bin", "good.bin"]] {
            let (out, err) = run(dir.path(), 3, &["diff", old, new, "-t", table, "-f", "ndjson"]);
            assert_eq!(out, "", "{name}: {old} {new}");
            assert!(err.starts_with(&format!("assetq: bad.bin: no table {table}: ")), "{err}");
        }
        run(dir.path(), 3, &["ls", "bad.bin", "-t", table]);
        let (_, err) = run(dir.path(), 3, &["sql", &format!("SELECT * FROM {table}"), "bad.bin"]);
        assert!(err.starts_with(&format!("assetq: bad.bin: no table {table}: ")), "{err}");
    }
}

/// Damage in a table that no patch contains is damage all the same: the sheets are whole, and two other entries are cut.
#[test]
fn a_patch_of_a_cut_pack_is_damaged() {
    let dir = TempDir::new().unwrap();
    let good = FILES.iter().find(|(name, ..)| *name == "pack.bin").unwrap().2(1, Size::Small);
    fs::write(dir.path().join("good.bin"), &good).unwrap();
    fs::write(dir.path().join("cut.bin"), &good[..3000]).unwrap();
    for [old, new] in [["good.bin", "cut.bin"], ["cut.bin", "good.bin"]] {
        let (out, err) = run(dir.path(), 3, &["diff", old, new, "-f", "patch"]);
        assert!(out.is_empty() && err.starts_with("assetq: cut.bin: entry "), "{old} {new}: {out}{err}");
    }
}

/// Other values of the kind of `value`.
fn others(value: &Value<'_>) -> Vec<Value<'static>> {
    let first_part = |parts: Vec<(Value<'static>, Vec<Value<'static>>)>,
                      join: &dyn Fn(Vec<Value<'static>>) -> Value<'static>| {
        let at = parts.iter().position(|(_, others)| !others.is_empty());
        let others = at.map_or_else(Vec::new, |at| parts[at].1.clone());
        let changed = others.into_iter().map(|other| {
            let parts =
                parts.iter().enumerate().map(|(n, (part, _))| if Some(n) == at { other.clone() } else { part.clone() });
            join(parts.collect())
        });
        changed.collect::<Vec<_>>()
    };
    match value {
        Value::Bool(truth) => vec![(!truth).into()],
        Value::Uint(number) => [number ^ 1, number.saturating_sub(1), number.saturating_add(1)].map(Value::from).into(),
        Value::Int(number) => [number ^ 1, 0, 1, 2].map(Value::from).into(),
        Value::F32(number) => vec![Value::F32(number + 1.0), Value::F32(1.0)],
        Value::F64(number) => vec![Value::F64(number + 1.0)],
        Value::Id64(id) => vec![Value::Id64(id ^ 1)],
        Value::Id32(id) => vec![Value::Id32(id ^ 1)],
        Value::Text(text) => vec![Value::owned(format!("{text}x")), Value::owned(format!("{text}.mfm"))],
        Value::List(items) => {
            first_part(items.iter().map(|item| (item.clone().into_owned(), others(item))).collect(), &Value::List)
        }
        Value::Map(parts) => {
            let names: Vec<_> = parts.iter().map(|(name, _)| name.to_string()).collect();
            first_part(parts.iter().map(|(_, part)| (part.clone().into_owned(), others(part))).collect(), &|parts| {
                Value::Map(names.iter().cloned().map(Into::into).zip(parts).collect())
            })
        }
        _ => Vec::new(),
    }
}

/// The file after an edit that gives a cell of a column another value: the first that the format takes.
fn edited(asset: &Asset, table: &dyn assetq::table::Table, column: usize) -> Option<Asset> {
    const ROWS: usize = 24;
    let rows = table.len().unwrap().min(ROWS);
    let values: Vec<_> = (0..rows).map(|row| table.value(row, column).unwrap().into_owned()).collect();
    let edits = values.iter().enumerate().flat_map(|(row, value)| {
        let of_rows = values.iter().filter(move |other| *other != value).take(2).cloned();
        others(value).into_iter().chain(of_rows).map(move |value| (row, value))
    });
    edits.into_iter().find_map(|(row, value)| {
        let mut editor = Editor::new(asset).unwrap();
        editor.set_cell(table.name(), row, column, value).ok()?;
        let (new, _) = editor.finish().ok()?.step().ok()?;
        (new.source().bytes() != asset.source().bytes()).then_some(new)
    })
}

/// An edit of any column is a difference, of the file and of the table that was edited.
#[test]
fn an_edit_of_each_column_is_a_difference() {
    let (mut seen, mut not_edited) = (0, Vec::new());
    for (name, _, make) in FILES {
        let asset = open(name, &make(1, Size::Small));
        if asset.reader().writable().is_none() {
            continue;
        }
        for table in asset.reader().tables() {
            for (at, column) in table.columns().iter().enumerate() {
                if column.accepts == Accepts::Nothing {
                    continue;
                }
                let Some(new) = edited(&asset, &*table, at) else {
                    not_edited.push(format!("{name}: {}.{}", table.name(), column.name));
                    continue;
                };
                seen += 1;
                for tables in [vec![], vec![table.name().to_owned()]] {
                    let found = diff::tables(&asset, &new, &tables).unwrap();
                    let found = found.iter().map(|table| table.find(&Progress::default(), 0).len()).sum::<usize>();
                    assert!(found > 0, "{name}: {}.{}: {tables:?}", table.name(), column.name);
                }
            }
        }
    }
    assert!(seen > 300 && not_edited.len() * 10 < seen, "{seen} were edited, these were not: {not_edited:#?}");
}
