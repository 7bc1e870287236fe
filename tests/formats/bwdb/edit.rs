//! Edited databases, models and spaces.

use crate::common::tree::at;
use assetq::edit::{EditPosition, Editor, Pieces, ReadBack, TableEdits, Writable};
use assetq::formats::report::Progress;
use assetq::formats::wows::bwdb::Database;
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::formats::{ErrorKind, Reader};
use assetq::table::{Accepts, Kind, Value, Visitor as _, column_index};
use assetq::write::atomic_file::Overwrite;
use assetq::{Asset, Options, Result, Source};
use assetq_sample::Size;
use assetq_sample::bwdb::{DatabaseBuilder, demo};
use assetq_sample::prototypes::{BlobWriter, floats, u16s, u32s, u64s};
use assetq_sample::space::{models_bin, models_that_share, space_bin};
use fastrand::Rng;
use std::collections::HashMap;

pub fn asset(bytes: &[u8], name: &str) -> Asset {
    Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap()
}

/// The file with cells set by rows and names of columns, written, read back and compared.
fn set(bytes: &[u8], name: &str, cells: &[(&str, usize, &str, Value<'static>)]) -> Result<Vec<u8>> {
    let asset = asset(bytes, name);
    let mut editor = Editor::new(&asset)?;
    for (table, row, column, value) in cells {
        let at = column_index(&*asset.reader().table(table).unwrap(), column).unwrap();
        editor.set_cell(table, *row, at, value.clone())?;
    }
    let plan = editor.finish()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(name);
    plan.write(&to, Overwrite::Refuse)?.commit()?;
    let new = std::fs::read(to).unwrap();
    let pieces = plan.pieces().clone().with_seal(asset.source())?;
    assert!(pieces.bytes(bytes) == new && pieces.inverse(bytes).bytes(&new) == bytes);
    Ok(new)
}

pub fn refused(result: Result<Vec<u8>>, words: &[&str]) {
    let error = result.expect_err("must be refused");
    assert!(matches!(error.kind(), ErrorKind::Syntax { .. }), "{error:?}");
    let text = error.to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not say {word:?}"));
}

pub fn cell(bytes: &[u8], name: &str, table: &str, row: usize, column: &str) -> Value<'static> {
    let asset = asset(bytes, name);
    let table = asset.reader().table(table).unwrap();
    table.value(row, column_index(&*table, column).unwrap()).unwrap().into_owned()
}

pub fn findings(bytes: &[u8], name: &str) -> Vec<String> {
    let report = asset(bytes, name).reader().verify(&Progress::default());
    report.checks.iter().flat_map(|c| c.findings().iter().map(move |e| format!("{}: {e}", c.name))).collect()
}

/// A database of two materials, followed by a database with a light. If `shared`, the materials share their textures.
fn materials(textures: [u64; 2], flags: u32, shared: bool, name: &str) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let property = builder.string("diffuseMap");
    let ids = ["content/one.mfm", "content/two.mfm", "content/fx.xml"].map(|path| builder.path(path));
    let mut blob = BlobWriter::new(PrototypeType::Material, 2);
    for (index, texture) in textures.into_iter().enumerate() {
        let at = blob.record(index);
        blob.data.patch(at, u16s([1]));
        blob.data.patch(at + 6, [1]);
        blob.data.patch(at + 0x70, flags.to_le_bytes());
        blob.array(at, 0x10, u32s([property]));
        blob.array(at, 0x18, u16s([4]));
        if shared && index == 1 {
            let first = blob.record(0);
            let target =
                first + i64::from_le_bytes(blob.data.bytes()[first + 0x40..][..8].try_into().unwrap()) as usize;
            blob.data.point(at + 0x40, at, target);
        } else {
            blob.array(at, 0x40, u64s([texture]));
        }
    }
    let first = builder.database(PrototypeType::Material.magic(), 0xA954_14D5, blob.finish());
    let mut blob = BlobWriter::new(PrototypeType::EffectMetadata, 1);
    let at = blob.record(0);
    blob.data.patch(at, 1u32.to_le_bytes());
    let parameter = blob.structs(at, 8, 1, 0x20);
    blob.text(parameter, name);
    let second = builder.database(PrototypeType::EffectMetadata.magic(), 0, blob.finish());
    let mut blob = BlobWriter::new(PrototypeType::VelocityField, 1);
    let at = blob.record(0);
    blob.data.patch(at + 12, 3u32.to_le_bytes());
    blob.array(at, 0x10, u16s([1, 2, 3]));
    let third = builder.database(PrototypeType::VelocityField.magic(), 0, blob.finish());
    builder.resource(ids[0], first, 0, 0);
    builder.resource(ids[1], first, 1, 0);
    builder.resource(ids[2], second, 0, 0);
    builder.resource(builder_id("content/field.vf"), third, 0, 0);
    builder.build()
}

fn builder_id(path: &str) -> u64 {
    Database::path_id(path)
}

pub const BIN: &str = "assets.bin";

/// The written file equals the file that a builder writes with the new value, including the checksum.
#[test]
fn values_in_place_are_the_bytes_of_a_builder() {
    let old = materials([7, 8], 5, false, "speed");
    let path = "content/textures/new.dds";
    let new = set(&old, BIN, &[("material_properties", 1, "texture_id", Value::Id64(Database::path_id(path)))]);
    assert!(new.unwrap() == materials([7, Database::path_id(path)], 5, false, "speed"));
    let cells = [("materials", 0, "collision_flags", 9u32.into()), ("materials", 1, "collision_flags", 9u32.into())];
    assert!(set(&old, BIN, &cells).unwrap() == materials([7, 8], 9, false, "speed"));
    let name = [("effect_parameters", 0, "name", "slows".into())];
    assert!(set(&old, BIN, &name).unwrap() == materials([7, 8], 5, false, "slows"));
    assert!(set(&old, BIN, &[]).unwrap() == old);
}

/// A patch names records by their own tables, even if the path of a texture is no longer known.
#[test]
fn a_patch_between_two_databases_makes_one_of_the_other() {
    let old = demo(6, Size::Small);
    let texture = asset(&old, BIN);
    let table = texture.reader().table("material_properties").unwrap();
    let id = column_index(&*table, "texture_id").unwrap();
    let row = (0..table.len().unwrap()).find(|&row| !table.value(row, id).unwrap().is_null()).unwrap();
    let cells = [
        ("material_properties", row, "texture_id", Value::Id64(12345)),
        ("materials", 2, "sort_order", 9.into()),
        ("effect_parameters", 0, "name", "a name that needs another place".into()),
    ];
    let new = set(&old, BIN, &cells).unwrap();
    let (before, after) = (asset(&old, BIN), asset(&new, BIN));
    let mut editor = Editor::new(&before).unwrap();
    let mut rows = 0;
    let mut take =
        |row: Value<'static>| {
            rows += 1;
            let text = format!("{}\n", json(&row));
            assetq::edit::read::rows(&mut text.as_bytes(), assetq::edit::read::ChangesFormat::Ndjson, &mut |row| {
                match row {
                    assetq::edit::read::InputRow::Edit(edit) => editor.edit(edit).map(drop),
                    other => panic!("{other:?}"),
                }
            })
        };
    let damaged = &mut |_, error| panic!("{error}");
    let left = assetq::edit::patch::between(&before, &after, &Options::default(), &[], damaged, &mut take).unwrap();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(rows, 3);
    let pieces = editor.finish().unwrap().pieces().clone().with_seal(before.source()).unwrap();
    assert!(pieces.bytes(&old) == new);
}

pub fn json(value: &Value<'_>) -> String {
    let mut out = Vec::new();
    let mut json = assetq::write::json::JsonWriter::compact(&mut out);
    json.value(value).unwrap();
    drop(json);
    String::from_utf8(out).unwrap()
}

/// An unfinished patch checks all of its rows in one pass.
#[test]
fn all_rows_that_cannot_be_written_are_named_at_once() {
    let named = |name: &str, bytes: &[u8], edits: TableEdits| {
        let asset = asset(bytes, name);
        let named = asset.reader().writable().unwrap().refusals(&edits).unwrap();
        named.into_iter().map(|(at, _)| at).collect::<Vec<EditPosition>>()
    };
    let add = |id, record: u32| vec![(0, Value::Id64(id)), (3, 0u32.into()), (4, record.into())];
    let edits = TableEdits {
        table: "resources".into(),
        set: vec![(0, vec![(4, 77u32.into())]), (1, vec![(5, "whatever".into())])],
        add: vec![add(1000, 98), add(1001, 99)],
        ..TableEdits::default()
    };
    let old = materials([7, 8], 5, false, "speed");
    assert_eq!(
        named(BIN, &old, edits),
        [EditPosition::Set(0), EditPosition::Set(1), EditPosition::Add(0), EditPosition::Add(1)]
    );
    let old = models_that_share(3, 4);
    let at = |table: &str, column: &str| {
        column_index(&*asset(&old, "models.bin").reader().table(table).unwrap(), column).unwrap()
    };
    let skeleton = at("models", "skeleton_index");
    let set = (0..3).map(|row| (row, vec![(skeleton, if row == 1 { 0u32 } else { 9999 }.into())])).collect();
    let edits = TableEdits { table: "models".into(), set, add: vec![vec![]], ..TableEdits::default() };
    let refused = named("models.bin", &old, edits);
    assert!(
        refused.contains(&EditPosition::Add(0))
            && refused.contains(&EditPosition::Set(0))
            && refused.contains(&EditPosition::Set(2))
    );
}

#[test]
fn a_longer_text_is_appended_to_its_database_and_what_lies_behind_moves() {
    let old = materials([7, 8], 5, false, "speed");
    let long = "a name that has no room where the old one lies";
    let new = set(&old, BIN, &[("effect_parameters", 0, "name", long.into())]).unwrap();
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    assert_eq!(cell(&new, BIN, "effect_parameters", 0, "name"), long.into());
    let (before, after) = (asset(&old, BIN), asset(&new, BIN));
    let size = |asset: &Asset, row| asset.reader().table("databases").unwrap().value(row, 6).unwrap().to_string();
    assert_eq!(size(&before, 0), size(&after, 0));
    let grown: usize = size(&after, 1).parse::<usize>().unwrap() - size(&before, 1).parse::<usize>().unwrap();
    assert_eq!(grown, new.len() - old.len());
    assert!((long.len() + 1..long.len() + 32).contains(&grown));
    assert_eq!(cell(&new, BIN, "velocity_fields", 0, "components"), Value::List([1i64, 2, 3].map(Value::from).into()));
    let array: Vec<Value<'static>> = (0..9i64).map(Value::from).collect();
    let new = set(&new, BIN, &[("velocity_fields", 0, "components", Value::List(array.clone()))]).unwrap();
    assert_eq!(cell(&new, BIN, "velocity_fields", 0, "components"), Value::List(array));
    assert_eq!(cell(&new, BIN, "velocity_fields", 0, "component_count"), 9u32.into());
    assert_eq!(cell(&new, BIN, "effect_parameters", 0, "name"), long.into());
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
}

#[test]
fn an_array_that_two_rows_share_is_copied_for_the_one_that_is_edited() {
    let old = materials([7, 7], 5, true, "speed");
    let id = |bytes: &[u8], row| cell(bytes, BIN, "material_properties", row, "texture_id");
    let new = set(&old, BIN, &[("material_properties", 1, "texture_id", Value::Id64(99))]).unwrap();
    assert_eq!((id(&new, 0), id(&new, 1)), (Value::Id64(7), Value::Id64(99)));
    assert!(new.len() > old.len());
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    // Not shared any more, so that the next edit is in place.
    let next = set(&new, BIN, &[("material_properties", 1, "texture_id", Value::Id64(100))]).unwrap();
    assert_eq!((next.len(), id(&next, 0), id(&next, 1)), (new.len(), Value::Id64(7), Value::Id64(100)));
}

/// Of structs that several models share, a copy keeps its own pointers right.
#[test]
fn structs_with_pointers_are_copied_with_what_they_point_to() {
    const NAME: &str = "models.bin";
    let old = models_that_share(3, 4);
    let count = asset(&old, NAME).reader().table("render_sets").unwrap().len().unwrap();
    assert_eq!(count, 12);
    let new = set(&old, NAME, &[("render_sets", 5, "material_name_id", Value::Id32(77))]).unwrap();
    let id = |row| cell(&new, NAME, "render_sets", row, "material_name_id");
    let changed: Vec<usize> = (0..count).filter(|&row| id(row) == Value::Id32(77)).collect();
    assert_eq!(changed, [5]);
    assert!(findings(&new, NAME).len() <= findings(&old, NAME).len());
    for row in 0..count {
        for column in ["nodes", "mfm_id", "name_id"] {
            assert_eq!(cell(&new, NAME, "render_sets", row, column), cell(&old, NAME, "render_sets", row, column));
        }
    }
}

#[test]
fn another_property_with_the_same_value_keeps_it() {
    let mut builder = DatabaseBuilder::default();
    let names = ["one", "two"].map(|name| builder.string(name));
    let mut blob = BlobWriter::new(PrototypeType::Material, 1);
    let at = blob.record(0);
    blob.data.patch(at, u16s([2]));
    blob.data.patch(at + 5, [1]);
    blob.array(at, 0x10, u32s(names));
    blob.array(at, 0x18, u16s([3, 3]));
    blob.array(at, 0x38, floats(&[0.5]));
    builder.database(PrototypeType::Material.magic(), 0xA954_14D5, blob.finish());
    let old = builder.build();
    let new = set(&old, BIN, &[("material_properties", 1, "value", Value::F32(2.0))]).unwrap();
    let value = |row| cell(&new, BIN, "material_properties", row, "value");
    assert_eq!((value(0), value(1)), (Value::F32(0.5), Value::F32(2.0)));
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
}

/// A value other than `old` that a column takes; `None` where it takes none, or where none is easily said.
fn another(kind: Kind, takes: Accepts, old: &Value<'_>) -> Option<Value<'static>> {
    Some(match (takes, old) {
        (Accepts::Nothing | Accepts::Path | Accepts::Name, _) => return None,
        (_, Value::Bool(old)) => (!old).into(),
        (_, Value::Uint(old)) => (old ^ 1).into(),
        (_, Value::Int(old)) => (old ^ 1).into(),
        (_, Value::F32(old)) => Value::F32(if old.is_finite() { old + 1.5 } else { 1.0 }),
        (_, Value::Id64(old)) => Value::Id64(old ^ 0xFF),
        (_, Value::Id32(old)) => Value::Id32(old ^ 0xFF),
        (_, Value::Text(old)) if kind == Kind::Text => Value::owned(format!("{old} and some more")),
        (_, Value::List(old)) => {
            let mut new: Vec<Value<'static>> = old.iter().cloned().map(Value::into_owned).collect();
            let first = new.first_mut()?;
            *first = another(Kind::Any, Accepts::Any, first)?;
            Value::List(new)
        }
        (_, Value::Map(old)) => {
            let mut new: Vec<_> =
                old.iter().map(|(k, v)| (k.clone().into_owned().into(), v.clone().into_owned())).collect();
            let leaf = |(name, value): &mut (std::borrow::Cow<'static, str>, Value<'static>)| {
                if name.ends_with("count") || ["kind", "text", "path"].contains(&&**name) {
                    return false;
                }
                match another(Kind::Any, Accepts::Any, value) {
                    Some(other) => *value = other,
                    None => return false,
                }
                true
            };
            if !new.iter_mut().any(leaf) {
                return None;
            }
            Value::Map(new)
        }
        _ => return None,
    })
}

/// Every column that can be written, in every table of the three formats: written, read back, compared, and set back.
#[test]
fn every_writable_cell_is_written_alone_and_comes_back() {
    let files = [
        ("assets.bin", demo(3, Size::Small)),
        ("models.bin", models_bin(3, Size::Small)),
        ("space.bin", space_bin(3, Size::Small)),
    ];
    let mut written = HashMap::new();
    for (name, old) in &files {
        let opened = asset(old, name);
        for table in opened.reader().tables() {
            let len = table.len().unwrap();
            for (at, column) in table.columns().iter().enumerate().filter(|_| len > 0) {
                for row in [len / 2] {
                    let value = table.value(row, at).unwrap();
                    let key =
                        table.name() == "resources" && at < 5 || ["skeleton_index", "type"].contains(&&*column.name);
                    let Some(new) = another(column.kind, column.accepts, &value).filter(|_| !key) else { continue };
                    let is_kind = |value: &Value<'_>| value.to_string().contains("kind");
                    // The sorted map of a slot's kinds is no value that is written.
                    let cells = [(table.name(), row, &*column.name, new.clone())];
                    let changed = match set(old, name, &cells) {
                        Ok(changed) => changed,
                        Err(error) => {
                            let text = error.to_string();
                            let slot = is_kind(&value) && text.contains("not written");
                            assert!(slot, "{name}: {} {row} {}: {text}", table.name(), column.name);
                            continue;
                        }
                    };
                    assert!(changed != *old, "{} {}", table.name(), column.name);
                    let back = set(&changed, name, &[(table.name(), row, &*column.name, value.clone().into_owned())]);
                    let back = back.unwrap_or_else(|e| panic!("{} {row} {}: {e}", table.name(), column.name));
                    if changed.len() == old.len() {
                        assert!(back == *old, "{} {row} {}", table.name(), column.name);
                    }
                    assert_eq!(cell(&back, name, table.name(), row, &column.name).to_string(), value.to_string());
                    assert!(findings(&back, name).len() <= findings(old, name).len());
                    *written.entry((name.to_string(), table.name().to_owned())).or_insert(0) += 1;
                }
            }
        }
    }
    let tables: Vec<&str> = written.keys().map(|(_, table)| &**table).collect();
    for table in ["materials", "material_properties", "visuals", "render_sets", "lods", "skeleton_nodes", "models"] {
        assert!(tables.contains(&table), "{tables:?}");
    }
    for table in ["dyes", "point_lights", "instances", "effect_parameters", "velocity_fields"] {
        assert!(tables.contains(&table), "{tables:?}");
    }
}

/// A database is padded for the next one. Nothing follows a `models.bin`, and `verify` reports bytes there as damage.
#[test]
fn a_list_of_another_length_ends_a_file_without_padding() {
    let old = models_bin(1, Size::Small);
    assert_eq!(findings(&old, "models.bin"), [""; 0]);
    let Value::List(sets) = cell(&old, "models.bin", "lods", 0, "render_sets") else { panic!("a list") };
    for len in [1, 0, 3] {
        let list: Vec<Value<'static>> = sets.iter().cycle().take(len).cloned().collect();
        let new = set(&old, "models.bin", &[("lods", 0, "render_sets", Value::List(list.clone()))]).unwrap();
        assert_eq!(cell(&new, "models.bin", "lods", 0, "render_sets"), Value::List(list));
        assert_eq!(findings(&new, "models.bin"), [""; 0]);
    }
}

#[test]
fn a_value_in_place_costs_no_more_than_its_bytes() {
    let old = demo(4, Size::Small);
    let db = Database::open(Source::from_vec(BIN, old.clone())).unwrap();
    let table = Reader::table(&db, "materials").unwrap();
    let sort = column_index(&*table, "sort_order").unwrap();
    let edits = TableEdits { table: "materials".into(), set: vec![(2, vec![(sort, 77.into())])], ..Default::default() };
    let pieces: Pieces = db.write(&[edits]).unwrap().with_seal(db.source()).unwrap();
    assert!(pieces.is_in_place(old.len()) && pieces.read_back == ReadBack::Rows);
    let new: usize = pieces.list().iter().map(|p| if let assetq::edit::Piece::New(b) = p { b.len() } else { 0 }).sum();
    assert_eq!(new, 8, "four bytes of the value, and four of the checksum");
}

#[test]
fn values_that_do_not_fit_say_what_does() {
    let old = materials([7, 8], 5, true, "speed");
    refused(set(&old, BIN, &[("materials", 0, "property_count", 2.into())]), &["property_count", "nothing"]);
    refused(
        set(&old, BIN, &[("materials", 0, "collision_flags", (1u64 << 32).into())]),
        &["collision_flags", "4294967295"],
    );
    refused(set(&old, BIN, &[("material_properties", 0, "value", 5.into())]), &["value", "a path"]);
    // The id of an empty path would be shown as no path.
    refused(set(&old, BIN, &[("material_properties", 0, "value", "".into())]), &["value", "a path"]);
    refused(
        set(&old, BIN, &[("material_properties", 0, "texture_id", Value::Null)]),
        &["null does not fit: the path of a texture, or its id, does"],
    );
    let whole = demo(4, Size::Small);
    let properties = asset(&whole, BIN);
    let properties = properties.reader().table("material_properties").unwrap();
    let kind = column_index(&*properties, "type").unwrap();
    let number = (0..).find(|row| properties.value(*row, kind).unwrap() != "texture".into()).unwrap();
    refused(
        set(&whole, BIN, &[("material_properties", number, "texture_id", Value::Id64(5))]),
        &["this property is no texture: its value is in the column value"],
    );
    refused(set(&old, BIN, &[("effect_parameters", 0, "name", "a\0b".into())]), &["effect_parameters", "NUL"]);
    let models = models_bin(3, Size::Small);
    refused(set(&models, "models.bin", &[("render_sets", 0, "mfm_path", "".into())]), &["mfm_path", "a path"]);
    refused(set(&models, "models.bin", &[("models", 0, "skeleton_index", 900u32.into())]), &["skeleton_index", "900"]);
    let dyes = asset(&models, "models.bin");
    let table = dyes.reader().table("dyes").unwrap();
    let at = column_index(&*table, "tint_names").unwrap();
    let row = (0..table.len().unwrap()).find(|&row| table.value(row, at).unwrap().to_string().len() > 2);
    if let Some(row) = row {
        // As many tints have a name as have a material.
        refused(set(&models, "models.bin", &[("dyes", row, "tint_names", Value::List(vec![]))]), &["tint_mfms"]);
    }
}

/// Random inserts, deletes and updates give the rows of a plain map, and probing finds every key.
#[test]
fn resources_come_and_go_as_in_a_map() {
    for (seed, capacity) in [(1u64, 11u32), (2, 13), (3, 23), (4, 64), (5, 101)] {
        let mut rng = Rng::with_seed(seed);
        let mut builder = DatabaseBuilder::with_capacities(7, capacity);
        let mut blob = BlobWriter::new(PrototypeType::EffectPreset, 8);
        blob.data.patch(16, [1]);
        builder.database(PrototypeType::EffectPreset.magic(), 0, blob.finish());
        let mut model: HashMap<u64, u32> = HashMap::new();
        for _ in 0..capacity * 2 / 3 {
            let (key, record) = (rng.u64(..40), rng.u32(..8));
            if model.insert(key, record).is_none() {
                builder.resource(key, 0, record as usize, 0);
            } else {
                model.insert(key, model[&key]);
            }
        }
        let mut bytes = DatabaseBuilder::with_capacities(7, capacity).build();
        if let Some((&key, _)) = model.iter().next() {
            let _ = key;
            // Rebuilt from the map, so that both agree on keys that were inserted twice.
            let mut builder = DatabaseBuilder::with_capacities(7, capacity);
            let mut blob = BlobWriter::new(PrototypeType::EffectPreset, 8);
            blob.data.patch(16, [1]);
            builder.database(PrototypeType::EffectPreset.magic(), 0, blob.finish());
            let mut keys: Vec<_> = model.iter().collect();
            keys.sort();
            keys.iter().for_each(|(key, record)| builder.resource(**key, 0, **record as usize, 0));
            bytes = builder.build();
        }
        for _ in 0..30 {
            let db = Database::open(Source::from_vec(BIN, bytes.clone())).unwrap();
            let mut edits = TableEdits { table: "resources".into(), ..Default::default() };
            let room = capacity as usize - 1 - model.len();
            let (mut before, mut add) = (model.clone(), rng.usize(..=room.min(3)));
            for row in 0..db.resource_count() {
                let key = db.resource_at_row(row).unwrap().id();
                match rng.u8(..5) {
                    0 => {
                        edits.remove.push(row);
                        model.remove(&key);
                    }
                    1 => {
                        let record = (before[&key] + 1) % 8;
                        edits.set.push((row, vec![(4, u64::from(record).into())]));
                        model.insert(key, record);
                    }
                    _ => {}
                }
            }
            while add > 0 {
                let key = rng.u64(..60);
                add -= 1;
                if before.contains_key(&key) {
                    continue;
                }
                let record = rng.u32(..8);
                before.insert(key, record);
                model.insert(key, record);
                let cells =
                    vec![(0, Value::Id64(key)), (3, 0u64.into()), (4, u64::from(record).into()), (5, "valid".into())];
                edits.add.push(cells);
            }
            let added = edits.add.clone();
            let pieces = db.write(&[edits]).unwrap().with_seal(db.source()).unwrap();
            assert!(pieces.is_in_place(bytes.len()));
            bytes = pieces.bytes(&bytes);
            let new = Database::open(Source::from_vec(BIN, bytes.clone())).unwrap();
            assert_eq!(findings(&bytes, BIN), Vec::<String>::new());
            assert_eq!(new.resource_count(), model.len());
            for (key, record) in &model {
                let found = new.lookup(*key).unwrap().expect("it is in the map");
                assert_eq!(found.record_index(), *record as usize);
            }
            for (cells, row) in added.iter().zip(pieces.added.iter().flat_map(|(_, rows)| rows)) {
                assert_eq!(Value::Id64(new.resource_at_row(*row).unwrap().id()), cells[0].1);
            }
        }
        // A search must end at an empty slot.
        let db = Database::open(Source::from_vec(BIN, bytes.clone())).unwrap();
        let new = |key: u64| vec![(0, Value::Id64(key)), (3, 0u64.into()), (4, 0u64.into())];
        let add = (1000..1000 + u64::from(capacity)).map(new).collect();
        let error = db.write(&[TableEdits { table: "resources".into(), add, ..Default::default() }]).unwrap_err();
        assert!(error.to_string().contains("but one are occupied"), "{error}");
    }
}

#[test]
fn a_checksum_of_the_other_kind_is_kept_and_a_wrong_one_refused() {
    let mut old = materials([7, 8], 5, false, "speed");
    let sum = assetq_core::codec::crc32(&old[16..]);
    old[8..12].copy_from_slice(&sum.to_le_bytes());
    let new = set(&old, BIN, &[("materials", 0, "sort_order", 3.into())]).unwrap();
    assert_eq!(new[8..12], assetq_core::codec::crc32(&new[16..]).to_le_bytes());
    old[8] ^= 1;
    let error = set(&old, BIN, &[("materials", 0, "sort_order", 3.into())]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
}

/// The output of `cat ENTRY -f json`, parsed.
fn shown(asset: &Asset, entry: &str) -> Value<'static> {
    let mut tree = assetq::table::Tree::default();
    assert!(asset.reader().cat(entry, &mut tree).unwrap(), "{entry}");
    assetq::edit::read::value(&json(&tree.into_value())).unwrap()
}

/// The database with an entry in another form, written, read back and compared, and what is shown of the entry then.
fn put(bytes: &[u8], entry: &str, tree: Value<'static>) -> Result<(Vec<u8>, Value<'static>)> {
    let before = asset(bytes, BIN);
    let mut editor = Editor::new(&before)?;
    editor.entry(entry, tree)?;
    let plan = editor.finish()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(BIN);
    plan.write(&to, Overwrite::Refuse)?.commit()?;
    let new = std::fs::read(to).unwrap();
    let now = shown(&asset(&new, BIN), entry);
    Ok((new, now))
}

/// Entries of a demo database by the type of their records.
fn entry_of(asset: &Asset, ty: &str) -> String {
    let table = asset.reader().table("resources").unwrap();
    let [path, of] = ["path", "type"].map(|name| column_index(&*table, name).unwrap());
    let row = (0..table.len().unwrap()).find(|row| table.value(*row, of).unwrap() == ty.into()).unwrap();
    table.value(row, path).unwrap().to_string()
}

#[test]
fn a_record_goes_out_as_json_and_comes_back_with_all_that_it_holds() {
    let old = demo(4, Size::Small);
    let before = asset(&old, BIN);
    for ty in ["MaterialPrototype", "VisualPrototype", "ModelPrototype", "EffectPrototype", "PointLightPrototype"] {
        let entry = entry_of(&before, ty);
        let (same, _) = put(&old, &entry, shown(&before, &entry)).unwrap();
        assert!(same == old, "{ty}");
    }
    // A number, a reference by its text, an item more in a list in a list, and a text that is longer.
    let model = entry_of(&before, "ModelPrototype");
    let mut tree = shown(&before, &model);
    *at(&mut tree, &["value", "misc_type"]) = 3.into();
    *at(&mut tree, &["value", "visual", "path"]) = "content/another.visual".into();
    let extenders = at(&mut tree, &["value", "skeleton_extenders"]);
    let Value::List(extenders) = extenders else { panic!("{extenders}") };
    extenders.push("content/more.skel_ext".into());
    let (new, now) = put(&old, &model, tree.clone()).unwrap();
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    let mut now = now;
    assert_eq!(at(&mut now, &["value", "misc_type"]).to_string(), "3");
    assert_eq!(at(&mut now, &["value", "visual", "id"]).to_string(), id("content/another.visual"));
    let Value::List(extenders) = at(&mut now, &["value", "skeleton_extenders"]) else { panic!() };
    assert!(json(extenders.last().unwrap()).contains(&id("content/more.skel_ext")));
    let effect = entry_of(&before, "EffectPrototype");
    let mut tree = shown(&before, &effect);
    let texture = &["value", "systems", "0", "renderer", "texture"];
    *at(&mut tree, texture) = "particles/textures/a_much_longer_name_than_it_had.dds".into();
    let (new, mut now) = put(&new, &effect, tree).unwrap();
    assert_eq!(at(&mut now, texture).to_string(), "particles/textures/a_much_longer_name_than_it_had.dds");
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    // The properties of a material.
    let material = entry_of(&before, "MaterialPrototype");
    let mut tree = shown(&before, &material);
    let Value::List(properties) = at(&mut tree, &["value", "properties"]) else { panic!() };
    let texture = properties.iter().position(|property| json(property).contains("\"kind\":\"texture\"")).unwrap();
    let texture = texture.to_string();
    let path = &["value", "properties", &texture, "value", "path"];
    *at(&mut tree, path) = "content/mine.dds".into();
    *at(&mut tree, &["value", "sort_order"]) = Value::Int(-7);
    let (new, mut now) = put(&new, &material, tree).unwrap();
    assert_eq!(at(&mut now, &["value", "properties", &texture, "value", "id"]).to_string(), id("content/mine.dds"));
    assert_eq!(at(&mut now, &["value", "sort_order"]).to_string(), "-7");
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
}

/// Lists whose elements point to lists of their own: what stays keeps what it pointed to, and what is new gets its own.
#[test]
fn elements_with_lists_come_and_go_with_all_that_they_hold() {
    let old = demo(4, Size::Small);
    let before = asset(&old, BIN);
    let table = before.reader().table("visuals").unwrap();
    let [path, sets] = ["path", "render_set_count"].map(|name| column_index(&*table, name).unwrap());
    let row = (0..table.len().unwrap()).find(|&row| table.value(row, sets).unwrap().to_string() != "0").unwrap();
    let visual = table.value(row, path).unwrap().to_string();
    let lists = |tree: &mut Value<'static>| ["render_sets", "lods"].map(|list| json(at(tree, &["value", list])));
    let mut tree = shown(&before, &visual);
    let first = lists(&mut tree);
    let mut set = at(&mut tree, &["value", "render_sets", "0"]).clone();
    *at(&mut set, &["mfm"]) = "content/mine.mfm".into();
    *at(&mut set, &["nodes"]) = Value::List(vec!["hull".into(), "a_node_of_mine".into()]);
    let Value::List(sets) = at(&mut tree, &["value", "render_sets"]) else { panic!() };
    sets.push(set);
    let count = sets.len();
    let lod = at(&mut tree, &["value", "lods", "0"]).clone();
    let Value::List(lods) = at(&mut tree, &["value", "lods"]) else { panic!() };
    lods.insert(0, lod.clone());
    lods.push(lod);
    let (new, mut now) = put(&old, &visual, tree).unwrap();
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    let last = (count - 1).to_string();
    assert_eq!(at(&mut now, &["value", "render_set_count"]).to_string(), count.to_string());
    assert_eq!(at(&mut now, &["value", "render_sets", &last, "mfm", "id"]).to_string(), id("content/mine.mfm"));
    let nodes = json(at(&mut now, &["value", "render_sets", &last, "nodes"]));
    assert!(nodes.contains("\"hull\"") || nodes.matches("\"id\"").count() == 2, "{nodes}");
    let [sets, lods] = lists(&mut now);
    assert!(sets.starts_with(first[0].trim_end_matches(']')), "{sets}");
    assert!(lods.contains(first[1].trim_matches(['[', ']'])), "{lods}");
    // Back to as many as there were.
    let (back, mut again) = put(&new, &visual, shown(&before, &visual)).unwrap();
    assert_eq!(lists(&mut again), first);
    assert_eq!(findings(&back, BIN), Vec::<String>::new());
    // A new element says all of its members.
    let mut tree = shown(&before, &visual);
    let Value::List(lods) = at(&mut tree, &["value", "lods"]) else { panic!() };
    lods.push(Value::Map(vec![("extent".into(), 5.into())]));
    refused(put(&old, &visual, tree).map(|(new, _)| new), &["member \"casts_shadow\" is missing"]);
}

fn id(path: &str) -> String {
    Value::Id64(assetq::formats::id::of_path(path)).to_string()
}

#[test]
fn what_cannot_become_another_in_a_record_is_refused() {
    let old = demo(4, Size::Small);
    let before = asset(&old, BIN);
    let material = entry_of(&before, "MaterialPrototype");
    let tree = || shown(&before, &material);
    let with = |path: &[&str], value: Value<'static>| {
        let mut tree = tree();
        *at(&mut tree, path) = value;
        put(&old, &material, tree).map(|(new, _)| new)
    };
    refused(with(&["record"], 3.into()), &["record: 3 does not fit", "which record this is"]);
    refused(with(&["value", "properties", "0", "kind"], "vec4".into()), &["properties[0]: kind", "vec4"]);
    refused(with(&["value", "properties"], Value::List(vec![])), &["properties:", "none comes or goes"]);
    refused(with(&["value", "sort_order"], Value::Uint(u64::MAX)), &["form"]);
    refused(with(&["value", "properties"], 5.into()), &["its form is another than that of the entry"]);
    refused(with(&["value", "properties", "0"], 5.into()), &["its form is another than that of the entry"]);
    let visual = entry_of(&before, "VisualPrototype");
    for path in [&["value", "render_sets"][..], &["value", "render_sets", "0"]] {
        let mut tree = shown(&before, &visual);
        *at(&mut tree, path) = 5.into();
        refused(put(&old, &visual, tree).map(|(new, _)| new), &["its form is another than that of the entry"]);
    }
    let model = entry_of(&before, "ModelPrototype");
    let mut tree = shown(&before, &model);
    *at(&mut tree, &["value", "misc_type_name"]) = "Best".into();
    refused(put(&old, &model, tree).map(|(new, _)| new), &["misc_type_name", "not one that is written"]);
    let error = put(&old, "content/nothing.mfm", shown(&before, &material)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
    // Where the record lies follows from the file.
    let mut moved = shown(&before, &material);
    *at(&mut moved, &["offset"]) = 5.into();
    assert!(put(&old, &material, moved).unwrap().0 == old);
}

#[test]
fn hostile_files_are_refused_or_written_and_never_panic() {
    let files = [
        ("assets.bin", demo(5, Size::Small)),
        ("models.bin", models_bin(5, Size::Small)),
        ("space.bin", space_bin(5, Size::Small)),
    ];
    let mut rng = Rng::with_seed(5);
    for round in 0..300 {
        let (name, bytes) = &files[round % 3];
        let mut hostile = bytes.clone();
        for _ in 0..rng.usize(1..5) {
            // Pointers and counts lie in the headers and the records.
            let at = rng.usize(..hostile.len());
            hostile[at] = rng.u8(..);
        }
        if *name == BIN {
            let sum = assetq_core::codec::murmur3(&hostile[16..]);
            hostile[8..12].copy_from_slice(&sum.to_le_bytes());
        }
        let source = Source::from_vec(name, hostile.clone());
        let Ok(asset) = Asset::open_with(source, &Options::default()) else { continue };
        let Some(writable) = asset.reader().writable() else { continue };
        for table in asset.reader().tables() {
            let Ok(len) = table.len() else { continue };
            for (at, column) in table.columns().iter().enumerate() {
                let row = rng.usize(..len.max(1));
                let Ok(value) = table.value(row, at) else { continue };
                let Some(new) = another(column.kind, column.accepts, &value) else { continue };
                let set = vec![(row, vec![(at, new)])];
                let edits = TableEdits { table: table.name().to_owned(), set, ..Default::default() };
                if let Ok(pieces) = writable.write(&[edits]).and_then(|pieces| pieces.with_seal(asset.source())) {
                    let _ = Asset::open(Source::from_vec(name, pieces.bytes(&hostile)));
                }
            }
        }
    }
}

#[test]
fn real_files_are_written_cell_by_cell() {
    let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
        println!("skipped: ASSETQ_SAMPLES is not set");
        return;
    };
    for kind in ["models_bin", "space_bin"] {
        for file in std::fs::read_dir(std::path::Path::new(&folder).join(kind)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let old = std::fs::read(&path).unwrap();
            assert!(set(&old, &name, &[]).unwrap() == old);
            if old.len() > 400_000 {
                continue;
            }
            let opened = asset(&old, &name);
            for table in opened.reader().tables() {
                let len = table.len().unwrap();
                for (at, column) in table.columns().iter().enumerate().filter(|_| len > 0) {
                    let row = len / 2;
                    let value = table.value(row, at).unwrap();
                    let new = another(column.kind, column.accepts, &value).filter(|_| column.name != "skeleton_index");
                    let Some(new) = new else { continue };
                    let changed = set(&old, &name, &[(table.name(), row, &column.name, new)])
                        .unwrap_or_else(|e| panic!("{name}: {} {row} {}: {e}", table.name(), column.name));
                    let value = value.into_owned();
                    let back = set(&changed, &name, &[(table.name(), row, &column.name, value)]).unwrap();
                    assert!(changed.len() != old.len() || back == old, "{name}: {} {}", table.name(), column.name);
                }
            }
        }
    }
}
