//! Records of prototype databases: references of effects, their lights, and layouts versus damage.

use crate::common::{field, utf16};
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::formats::wows::bwdb::{Database, Layouts};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::table::{Tree, Value};
use assetq::{Asset, Source, diff};
use assetq_sample::Size;
use assetq_sample::bwdb::{DatabaseBuilder, demo};
use assetq_sample::prototypes::{BlobWriter, floats, u64s};
use assetq_sample::space::{models_bin, space_bin};
use serde_json::Value as Json;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

fn open(bytes: Vec<u8>) -> Database {
    Database::open(Source::from_vec("assets.bin", bytes)).unwrap()
}

fn findings(db: &Database) -> Vec<String> {
    db.verify(&Default::default()).checks.iter().flat_map(|c| c.findings()).map(ToString::to_string).collect()
}

/// Runs the command in `dir`; gives standard output and standard error.
fn assetq(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_assetq")).current_dir(dir).args(args).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

/// How a reference of an action holds its text.
#[derive(Clone, Copy)]
enum Form {
    /// A packed string, its text elsewhere.
    Packed,
    /// A packed string, directly followed by its text.
    Inline,
    /// A pointer, relative to eight bytes before the reference, to a text without a length.
    Bare,
}

/// An effect with a system for each reference, which has one action that refers, and one light. `pad` bytes shift all.
fn effects(references: &[(Form, &str)], radius: f32, pad: usize) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let id = builder.path("particles/splash.xml/high");
    builder.path("particles/foam.xml");
    let mut blob = BlobWriter::new(PrototypeType::Effect, 1);
    blob.data.zeros(pad);
    let effect = blob.record(0);
    blob.data.patch(effect + 4, (references.len() as u32).to_le_bytes());
    let systems = blob.structs(effect, 8, references.len(), 0x1C8);
    for (&(form, text), system) in references.iter().zip((0..).map(|i| systems + i * 0x1C8)) {
        for scalar in [0xA0, 0xD0, 0xE0, 0xF0, 0x100, 0x110] {
            blob.data.patch(system + scalar, (-1i32).to_le_bytes());
        }
        blob.data.patch(system + 0x1B8, 2i32.to_le_bytes());
        let components = blob.structs(system, 0x1C0, 2, 0x10);
        // A spawner among the system actions: a ramp, followed by the spawned system.
        blob.data.patch(components, 3i32.to_le_bytes());
        let action = blob.structs(components, 8, 1, 0x10);
        blob.data.patch(action, 1i32.to_le_bytes());
        let reference = blob.structs(action, 8, 1, 0x20) + 0x10;
        match form {
            Form::Packed => {
                blob.data.zeros(24);
                blob.text(reference, text);
            }
            Form::Inline => {
                blob.text(reference, text);
                assert_eq!(blob.data.bytes()[reference + 8..reference + 16], 0x10u64.to_le_bytes());
            }
            Form::Bare => {
                let at = blob.data.position();
                blob.data.patch(reference, u64s([(at + 8 - reference) as u64, 1]));
                blob.data.push(text);
                blob.data.push([0]);
            }
        }
        let light = components + 0x10;
        blob.data.patch(light, 1i32.to_le_bytes());
        let body = blob.structs(light, 8, 1, 0x10);
        // Its fields may be anywhere, like the fields of actions.
        blob.data.zeros(pad + 8);
        let fields = blob.structs(body, 8, 1, 0x70);
        blob.data.patch(fields + 0x10, 1i32.to_le_bytes());
        blob.array(fields + 0x10, 8, floats(&[0.5, 1.0, 0.0, 0.0, 1.0]));
        blob.floats(fields + 0x60, &[radius]);
    }
    builder.database(PrototypeType::Effect.magic(), 0, blob.finish());
    builder.resource(id, 0, 0, 0);
    builder.build()
}

/// The value of a component's action or light.
fn component(db: &Database, system: usize, component: usize) -> Value<'static> {
    let table = db.table("effect_systems").unwrap();
    let column = table.columns().iter().position(|c| c.name == "components").unwrap();
    let cell = table.value(system, column).unwrap().into_owned();
    let Value::List(mut components) = cell else { panic!("{cell}") };
    let Value::Map(parts) = components.swap_remove(component) else { panic!() };
    parts.into_iter().find(|(name, _)| name == "value").unwrap().1
}

#[test]
fn every_form_of_a_reference_has_its_text() {
    let texts = [(Form::Packed, "particles/foam.xml"), (Form::Inline, "particles/mist.xml"), (Form::Bare, "a b/c.xml")];
    let db = open(effects(&texts, 2.0, 0));
    assert_eq!(findings(&db), [""; 0]);
    for (system, (_, text)) in texts.iter().enumerate() {
        let spawner = component(&db, system, 0);
        assert_eq!(field(&spawner, "kind"), &Value::text("spawner"));
        assert_eq!(field(field(&spawner, "value"), "resource"), &Value::text(text));
    }
}

#[test]
fn a_reference_that_is_of_no_form_is_damage_and_not_a_guess() {
    let text = "particles/foam.xml";
    let bytes = effects(&[(Form::Packed, text)], 2.0, 0);
    let at = memchr::memmem::find(&bytes, text.as_bytes()).unwrap();
    let reference = at - 24 - 0x10;
    // Without its NUL, and with a length whose upper half marks it as invalid.
    for (at, byte) in [(at + text.len(), b'!'), (reference + 4, 1)] {
        let mut bad = bytes.clone();
        bad[at] = byte;
        let found = findings(&open(bad));
        let offset = format!("0x{:x}", if at == reference + 4 { at } else { reference });
        assert!(found.iter().any(|f| f.contains("resource") && f.contains(&offset)), "{offset}: {found:?}");
    }
}

#[test]
fn texts_of_references_are_listed_found_and_compared() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(dir.path().join(name), bytes).unwrap();
    let of = |text, pad| effects(&[(Form::Packed, text), (Form::Inline, "particles/mist.xml")], 2.0, pad);
    write("old.bin", of("particles/foam.xml", 0));
    write("moved.bin", of("particles/foam.xml", 40));
    write("new.bin", of("particles/foal.xml", 0));
    let json = |code, args: &[&str]| -> Json { serde_json::from_str(&assetq(dir.path(), code, args).0).unwrap() };

    let rows = json(0, &["ls", "old.bin", "-t", "effect_systems", "-f", "json"]);
    assert_eq!(rows[0]["components"][0]["value"]["value"]["resource"], "particles/foam.xml");
    let entry = json(0, &["cat", "old.bin", "particles/splash.xml/high", "-f", "json"]);
    assert_eq!(
        entry["value"]["systems"][1]["components"][0]["value"]["value"]["resource"], "particles/mist.xml",
        "{entry}"
    );
    let found = json(0, &["find", "foam", "old.bin", "-f", "json"]);
    let columns: Vec<_> = found.as_array().unwrap().iter().map(|hit| hit["column"].as_str().unwrap()).collect();
    assert_eq!(columns, ["path", "components[0].value.value.resource"]);
    let refs = json(0, &["refs", "particles/foam.xml", "old.bin", "--from", "-f", "json"]);
    assert_eq!(refs[0]["column"], "systems[0].components[0].value.value.resource");

    // Where texts lie does not matter; what they say does.
    for table in ["effect_systems", "resources"] {
        assert_eq!(assetq(dir.path(), 0, &["diff", "old.bin", "moved.bin", "-t", table, "-f", "ndjson"]).0, "");
        let rows = assetq(dir.path(), 1, &["diff", "old.bin", "new.bin", "-t", table, "-f", "ndjson"]).0;
        assert_eq!(rows.lines().count(), 1, "{rows}");
        assert!(rows.contains("foam.xml") && rows.contains("foal.xml"), "{rows}");
    }
}

#[test]
fn a_light_of_an_effect_lies_behind_the_header_of_its_body() {
    let db = open(effects(&[(Form::Packed, "particles/foam.xml")], 7.5, 16));
    assert_eq!(findings(&db), [""; 0]);
    let light = component(&db, 0, 1);
    assert_eq!(field(&light, "kind"), &Value::Int(0));
    let light = field(&light, "value");
    assert_eq!(field(light, "radius"), &Value::F32(7.5));
    let keys = field(field(field(light, "color_curve"), "ramp"), "keys");
    assert_eq!(keys.to_string(), "[{time: 0.5, color: [1, 0, 0, 1]}]");
    // The keys of its ramp, where they lie outside of the database.
    let mut bytes = effects(&[(Form::Packed, "particles/foam.xml")], 7.5, 16);
    let radius = memchr::memmem::find(&bytes, &7.5f32.to_le_bytes()).unwrap();
    let ramp = radius - 0x60 + 0x10;
    bytes[ramp + 8 + 3] = 0x7F;
    let found = findings(&open(bytes));
    assert!(
        found.iter().any(|f| f.contains("keys") && f.contains(&format!("(at offset 0x{:x})", ramp + 8))),
        "{ramp:x} {found:?}"
    );
}

#[test]
fn samples_have_values_that_the_format_knows() {
    for seed in 0..8 {
        let db = open(demo(seed, Size::Small));
        assert_eq!(findings(&db), [""; 0]);
        let systems = db.table("effect_systems").unwrap();
        let column = systems.columns().iter().position(|c| c.name == "renderer").unwrap();
        for row in 0..systems.len().unwrap() {
            let renderer = systems.value(row, column).unwrap();
            for (name, values) in [("blend", 0..=9), ("rotation_center", 0..=3), ("lighting", 0..=2)] {
                let Value::Int(value) = *field(&renderer, name) else { panic!("{renderer}") };
                assert!(values.contains(&value), "{name}: {value}");
            }
        }
        let materials = db.table("materials").unwrap();
        let column = materials.columns().iter().position(|c| c.name == "sort_order").unwrap();
        let orders = (0..materials.len().unwrap()).map(|row| materials.value(row, column).unwrap());
        assert!(orders.into_iter().all(|order| matches!(order, Value::Int(0..8))));
    }
}

/// A database of visuals with the given numbers of render sets, and the offsets of the pointers to them.
fn visuals(sets: &[u16], checksum: u32) -> (Vec<u8>, Vec<usize>) {
    let mut builder = DatabaseBuilder::default();
    let mut blob = BlobWriter::new(PrototypeType::Visual, sets.len());
    for (index, &sets) in sets.iter().enumerate() {
        let at = blob.record(index);
        blob.data.patch(at + 0x30, 0xA5A5_0000_0000_0000u64.to_le_bytes());
        blob.data.patch(at + 0x3A, sets.to_le_bytes());
        blob.structs(at, 0x60, sets.into(), 0x28);
    }
    builder.database(PrototypeType::Visual.magic(), checksum, blob.finish());
    for index in 0..sets.len() {
        let id = builder.path(&format!("content/{index}.visual"));
        builder.resource(id, 0, index, 0);
    }
    let bytes = builder.build();
    let mark = 0xA5A5_0000_0000_0000u64.to_le_bytes();
    let first = memchr::memmem::find(&bytes, &mark).unwrap();
    let pointers = (0..sets.len()).map(|record| first + 0x30 + record * 0x70).collect();
    (bytes, pointers)
}

fn break_pointers(bytes: &mut [u8], pointers: &[usize]) {
    pointers.iter().for_each(|&at| bytes[at..at + 8].copy_from_slice(&0x7000_0000u64.to_le_bytes()));
}

#[test]
fn a_pointer_of_a_header_that_leaves_the_file_is_named_with_its_offset() {
    let samples = [
        ("assets.bin", demo(7, Size::Small), 0x18, "strings.buckets"),
        ("models.bin", models_bin(3, Size::Small), 0x10, "skeletons"),
        ("space.bin", space_bin(3, Size::Small), 0x20, "instances"),
    ];
    for (name, mut bytes, at, part) in samples {
        bytes[at..][..8].copy_from_slice(&0x7FFF_FFFFi64.to_le_bytes());
        let error = Asset::open(Source::from_vec(name, bytes)).unwrap_err();
        assert_eq!((error.part(), error.offset()), (part, Some(at as u64)), "{error}");
    }
}

#[test]
fn a_bad_pointer_in_any_record_is_named_and_hides_nothing() {
    let (whole, pointers) = visuals(&[1; 6], 0);
    for record in 0..6 {
        let mut bytes = whole.clone();
        break_pointers(&mut bytes, &pointers[record..=record]);
        let db = open(bytes);
        let found = findings(&db);
        let place = format!("record {record}: render_sets");
        let offset = format!("(at offset 0x{:x})", pointers[record]);
        assert!(found.iter().any(|f| f.contains(&place) && f.contains(&offset)), "{place} {offset}: {found:?}");
        assert_eq!(db.table("visuals").unwrap().len().unwrap(), 6);
        assert!(db.cat("content/5.visual", &mut Tree::default()).is_ok() || record == 5);
    }
    // One record, one array: nothing else could tell.
    let (mut bytes, pointers) = visuals(&[1], 0);
    break_pointers(&mut bytes, &pointers);
    assert!(findings(&open(bytes)).iter().any(|f| f.contains("record 0: render_sets")));
}

#[test]
fn a_pointer_of_a_record_ends_with_its_database() {
    let (mut bytes, pointers) = visuals(&[1], 0);
    // Bytes of the file, but of no database.
    let behind = bytes.len() - (pointers[0] - 0x60);
    bytes.extend([0; 0x100]);
    bytes[pointers[0]..pointers[0] + 8].copy_from_slice(&(behind as u64).to_le_bytes());
    let db = open(bytes);
    let table = db.table("render_sets").unwrap();
    let name = table.columns().iter().position(|column| column.name == "name_id").unwrap();
    let error = table.value(0, name).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{error}");
    assert!(db.cat("content/0.visual", &mut Tree::default()).is_err());
}

#[test]
fn a_pointer_to_no_elements_says_nothing() {
    let (mut bytes, pointers) = visuals(&[0, 0, 0, 1], 0);
    break_pointers(&mut bytes, &pointers[..3]);
    let db = open(bytes);
    assert!(findings(&db).iter().all(|f| f.contains("checksum")), "{:?}", findings(&db));
    assert_eq!(db.table("render_sets").unwrap().len().unwrap(), 1);
}

#[test]
fn a_known_schema_says_how_records_are_laid_out_however_many_are_damaged() {
    const VISUAL: u32 = 0x3167_064B;
    let (mut bytes, pointers) = visuals(&[1; 6], VISUAL);
    break_pointers(&mut bytes, &pointers);
    let found = findings(&open(bytes));
    assert_eq!(found.iter().filter(|f| f.contains("render_sets")).count(), 6, "{found:?}");
    // More records than the database has room for are no other layout then.
    let (bytes, pointers) = visuals(&[1; 6], VISUAL);
    for (checksum, damaged) in [(VISUAL, true), (1, false)] {
        let mut bytes = bytes.clone();
        let entry = memchr::memmem::find(&bytes, &VISUAL.to_le_bytes()).unwrap();
        bytes[entry..entry + 4].copy_from_slice(&checksum.to_le_bytes());
        let count = pointers[0] - 0x60 - 0x10;
        bytes[count..count + 8].copy_from_slice(&9u64.to_le_bytes());
        let db = open(bytes);
        let found = findings(&db);
        assert_eq!(found.iter().any(|f| f.contains("9 records of 0x70 bytes do not fit")), damaged, "{found:?}");
        assert!(db.facts().iter().any(|(name, _)| name == "notes"));
    }
}

#[test]
fn records_are_looked_at_from_the_first_to_the_last_and_half_of_them_may_be_damaged() {
    for (records, sound, is_laid_out) in [(6, 3, true), (6, 2, false), (40, 17, false)] {
        let (mut bytes, pointers) = visuals(&vec![1; records], 0);
        break_pointers(&mut bytes, &pointers[sound..]);
        assert_eq!(open(bytes).table("visuals").is_some(), is_laid_out, "{sound} of {records}");
    }
}

#[test]
fn that_a_table_is_raw_is_said_everywhere() {
    let dir = TempDir::new().unwrap();
    let (mut bytes, pointers) = visuals(&[1; 6], 0);
    std::fs::write(dir.path().join("whole.bin"), &bytes).unwrap();
    break_pointers(&mut bytes, &pointers[1..]);
    let sum = assetq_core::codec::murmur3(&bytes[16..]);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(dir.path().join("raw.bin"), bytes).unwrap();
    let why = "read as records of 0x70 bytes, 5 of 6 checked ones have arrays that do not lie after the records";
    for (code, args) in [
        (0, &["info", "raw.bin"][..]),
        (1, &["ls", "raw.bin", "-t", "visuals"]),
        (1, &["ls", "raw.bin", "-t", "render_sets"]),
        (0, &["ls", "raw.bin", "-t", "databases"]),
        (0, &["verify", "raw.bin"]),
        (1, &["diff", "whole.bin", "raw.bin"]),
        (3, &["diff", "raw.bin", "whole.bin", "-t", "visuals"]),
        (3, &["diff", "raw.bin", "raw.bin", "-t", "lods"]),
        (0, &["cat", "raw.bin", "content/1.visual"]),
        (2, &["sql", "select * from lods", "raw.bin"]),
    ] {
        let (out, err) = assetq(dir.path(), code, args);
        assert!(out.contains(why) || err.contains(why), "{args:?}\n{out}{err}");
    }
    // Rows of resources are listed, without unknown positions.
    let rows = assetq(dir.path(), 0, &["ls", "raw.bin", "-t", "resources", "-f", "ndjson"]).0;
    assert_eq!(rows.lines().filter(|row| row.contains("\"offset\":null")).count(), 6, "{rows}");
}

#[test]
fn a_database_of_no_bytes_is_empty() {
    let mut builder = DatabaseBuilder::default();
    builder.database(PrototypeType::Visual.magic(), 0, Vec::new());
    builder.database(0x1234_5678, 0, Vec::new());
    let mut bytes = builder.build();
    for magic in [PrototypeType::Visual.magic(), 0x1234_5678] {
        let entry = memchr::memmem::find(&bytes, &magic.to_le_bytes()).unwrap();
        bytes[entry + 0x10..entry + 0x18].fill(0);
    }
    let sum = assetq_core::codec::murmur3(&bytes[16..]);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    let db = open(bytes);
    assert_eq!(findings(&db), [""; 0]);
    assert_eq!(db.table("visuals").unwrap().len().unwrap(), 0);
    assert_eq!(db.database(1).unwrap().len(), 0);
    // With bytes, and a pointer to none, it is damaged; also with fewer than its header has.
    let (whole, _) = visuals(&[1], 0);
    let entry = memchr::memmem::find(&whole, &PrototypeType::Visual.magic().to_le_bytes()).unwrap();
    let with = |at: usize, value: u64, len: usize| {
        let mut bytes = whole.clone();
        bytes[entry + at..entry + at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        open(bytes).database(0).map(|_| ()).unwrap_err().to_string()
    };
    assert!(with(0x10, 0, 8).contains("pointer"), "{}", with(0x10, 0, 8));
    assert!(with(0x08, 8, 4).contains("16 bytes needed, 8"), "{}", with(0x08, 8, 4));
}

#[test]
fn states_that_nobody_explains_are_noted() {
    let mut builder = DatabaseBuilder::default();
    builder.database(PrototypeType::Model.magic(), 0, BlobWriter::new(PrototypeType::Model, 1).finish());
    for state in 0..4 {
        let id = builder.path(&format!("content/{state}.model"));
        builder.resource(id, 0, 0, state);
    }
    let db = open(builder.build());
    let report = db.verify(&Default::default());
    assert!(report.is_ok(), "{:?}", findings(&db));
    let check = report.checks.iter().find(|c| c.name == "resources map").unwrap();
    assert!(check.detail.contains("2 resources in state 1 or 2"), "{}", check.detail);
}

/// The document of the format, whose tables are a layouts file.
fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats/bwdb.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_document_says_of_every_struct_what_the_code_says() {
    let layouts = Layouts::parse(&document(), "bwdb.md").unwrap();
    for (name, declared) in Layouts::built_in() {
        assert_eq!(layouts.get(name), Some(declared), "{name}");
    }
}

/// Every cell of a table, a line each; damage as text.
fn cells(db: &Database, table: &str) -> Vec<String> {
    let table = db.table(table).unwrap_or_else(|| panic!("no table {table}"));
    let columns: Vec<_> = table.columns().iter().enumerate().collect();
    let mut lines = Vec::new();
    for row in 0..table.len().unwrap() {
        for (index, column) in &columns {
            let cell = table.value(row, *index).map_or_else(|error| error.to_string(), |cell| cell.to_string());
            lines.push(format!("{row} {}: {cell}", column.name));
        }
    }
    lines
}

#[test]
fn layouts_from_the_document_read_what_the_built_in_ones_read() {
    let layouts = Arc::new(Layouts::parse(&document(), "bwdb.md").unwrap());
    let bytes = demo(7, Size::Small);
    let built_in = open(bytes.clone());
    let declared = Database::open_with(Source::from_vec("assets.bin", bytes), layouts).unwrap();
    assert_eq!(findings(&declared), [""; 0]);
    for index in 0..declared.database_count() {
        assert_eq!(declared.database(index).unwrap().prototype(), None, "not the built-in layout");
    }
    for table in [
        "materials",
        "visuals",
        "render_sets",
        "lods",
        "skeleton_extenders",
        "models",
        "dyes",
        "point_lights",
        "effects",
        "effect_systems",
        "velocity_fields",
        "effect_presets",
        "effect_metadata",
        "effect_parameters",
        "atlas_contours",
    ] {
        let (all, shown) = (cells(&declared, table), cells(&built_in, table));
        // A declared table has all fields; some built-in ones leave out what other tables show.
        assert!(!shown.is_empty() && shown.iter().all(|cell| all.contains(cell)), "{table}");
    }
    // The two layouts give the same values. `cat` of the two records prints one text, except for facts that only the built-in
    // layouts have.
    let [old, new] = [built_in, declared].map(Asset::from);
    for table in diff::tables(&old, &new, &[]).unwrap() {
        let found = table.find(&Default::default(), 0);
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let materials = found.changed.len();
        assert!(found.added.is_empty() && found.removed.is_empty() && (materials == 0), "{}", table.name());
    }
}

/// Trails of another build, of a type that is not laid out here, in two databases of two sizes.
fn trails() -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let texture = builder.path("particles/trail.dds");
    let id = builder.path("particles/wake.trail");
    let other = builder.path("particles/short.trail");
    let mut blob = BlobWriter::with_size(0x20, 2);
    let at = blob.record(1);
    blob.data.patch(at, texture.to_le_bytes());
    blob.data.patch(at + 8, 2u32.to_le_bytes());
    let keys = blob.structs(at, 0x18, 2, 0x10);
    blob.text(keys + 0x10, "particles/trail.dds");
    builder.database(assetq_core::codec::murmur3(b"TrailPrototype"), 0x0A0B_0C0D, blob.finish());
    let mut blob = BlobWriter::with_size(0x08, 1);
    blob.data.patch(16, [7]);
    builder.database(assetq_core::codec::murmur3(b"WakePrototype"), 1, blob.finish());
    builder.resource(id, 0, 1, 0);
    builder.resource(other, 1, 0, 0);
    builder.build()
}

const TRAILS: &str = "\
# My build

**TrailKey, 10**
table: trail_keys

| offset | type | field |
|---|---|---|
| 00 | text | resource |

## TrailPrototype, 20
schema: 0A0B0C0D
table: trails

| offset | type | field |
|---|---|---|
| 00 | path | texture |
| 08 | u32 | key_count |
| 18 | `[TrailKey; key_count]` | keys |
";

#[test]
fn a_layouts_file_drives_every_command() {
    let dir = TempDir::new().unwrap();
    let mut bytes = trails();
    std::fs::write(dir.path().join("trails.bin"), &bytes).unwrap();
    std::fs::write(dir.path().join("mine.md"), TRAILS).unwrap();
    let run = |code, args: &[&str]| assetq(dir.path(), code, &[args, &["--layouts", "mine.md"]].concat());
    let json = |args: &[&str]| -> Json { serde_json::from_str(&run(0, &[args, &["-f", "json"]].concat()).0).unwrap() };
    assert!(assetq(dir.path(), 2, &["ls", "trails.bin", "-t", "trails"]).1.contains("no table \"trails\""));

    let rows = json(&["ls", "trails.bin", "-t", "trails"]);
    std::fs::write(dir.path().join("unicode.md"), utf16(TRAILS)).unwrap();
    let unicode = ["ls", "trails.bin", "-t", "trails", "--layouts", "unicode.md", "-f", "json"];
    assert_eq!(assetq(dir.path(), 0, &unicode).0, run(0, &["ls", "trails.bin", "-t", "trails", "-f", "json"]).0);
    assert_eq!(rows[1]["path"], "particles/wake.trail");
    assert_eq!(
        (rows[1]["texture_path"].as_str(), rows[1]["key_count"].as_u64()),
        (Some("particles/trail.dds"), Some(2))
    );
    let keys = json(&["sql", "select record, \"index\", resource from trail_keys", "trails.bin"]);
    assert_eq!(keys.as_array().unwrap().len(), 2);
    assert_eq!(keys[1]["resource"], "particles/trail.dds");
    let entry = json(&["cat", "trails.bin", "particles/wake.trail"]);
    assert_eq!(entry["value"]["keys"][1]["resource"], "particles/trail.dds");
    let refs = json(&["refs", "particles/trail.dds", "trails.bin", "--from"]);
    let columns: Vec<_> = refs.as_array().unwrap().iter().map(|row| row["column"].as_str().unwrap()).collect();
    assert_eq!(columns, ["texture", "keys[1].resource"], "{refs}");
    let info = run(0, &["info", "trails.bin"]).0;
    assert!(info.contains("trails ") && info.contains("its type is not known"), "{info}");
    assert!(run(0, &["verify", "trails.bin"]).0.contains("2 records"));

    // A record that says something else, and one that is damaged.
    let count = memchr::memmem::find(
        &bytes,
        &assetq::formats::wows::bwdb::Database::path_id("particles/trail.dds").to_le_bytes(),
    );
    let all: Vec<usize> = memchr::memmem::find_iter(&bytes, b"\x02\0\0\0\0\0\0\0").collect();
    let at = *all.iter().rev().find(|&&at| bytes[at + 16..at + 24] == 0x20u64.to_le_bytes()).unwrap_or(&0);
    assert!(count.is_some() && at > 0, "{all:x?}");
    bytes[at] = 1;
    std::fs::write(dir.path().join("new.bin"), &bytes).unwrap();
    let changes = run(1, &["diff", "trails.bin", "new.bin", "-t", "resources", "-f", "ndjson"]).0;
    assert!(changes.contains("key_count"), "{changes}");
    // No resource names the first record.
    let mut other = bytes.clone();
    other[at - 8 - 0x20] = 9;
    std::fs::write(dir.path().join("other.bin"), &other).unwrap();
    let changes = run(1, &["diff", "new.bin", "other.bin", "-f", "ndjson"]).0;
    assert!(changes.contains("\"table\":\"trails\""), "{changes}");
    bytes[at + 3] = 0x7F;
    std::fs::write(dir.path().join("bad.bin"), &bytes).unwrap();
    let (report, _) = run(3, &["verify", "bad.bin"]);
    assert!(report.contains("record 1: keys"), "{report}");

    std::fs::write(dir.path().join("bad.md"), TRAILS.replace("| 08 | u32", "| 06 | u32")).unwrap();
    let (_, error) = assetq(dir.path(), 2, &["info", "trails.bin", "--layouts", "bad.md"]);
    assert_eq!(error, "assetq: bad.md: line 17: key_count lies on the field of line 16\n");
}
