//! Appended instances and models of a space, and deleted last ones.

use super::edit::{asset, cell, findings, refused};
use super::items::{between, edits, like, made, patched, rows_of};
use assetq::edit::{ColumnValues, TableEdits};
use assetq::table::{RowEdits, Table, Value, column_index};
use assetq::{Asset, Format, Source};
use assetq_sample::Size;
use assetq_sample::space::{models_bin, space_bin};

const SPACE: &str = "space.bin";
const MODELS: &str = "models.bin";

fn set(table: &dyn Table, cells: &[(&str, Value<'static>)]) -> ColumnValues {
    let mut set: ColumnValues =
        cells.iter().map(|(name, value)| (column_index(table, name).unwrap(), value.clone())).collect();
    set.sort_by_key(|(at, _)| *at);
    set
}

/// The format by the bytes alone: a file without rows keeps the pointers that tell it.
fn format_of(bytes: &[u8]) -> &'static str {
    Format::detect(&Source::from_vec("x", bytes.to_vec())).unwrap().name()
}

fn matrix(x: f32) -> Value<'static> {
    Value::floats([1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., x, 2., 3., 1.])
}

fn instance(bytes: &[u8], id: u64, name: Option<&str>, x: f32) -> ColumnValues {
    let opened = asset(bytes, SPACE);
    let table = opened.reader().table("instances").unwrap();
    let mut cells = vec![("id", Value::Id64(id)), ("transform", matrix(x)), ("flags", 7u64.into())];
    cells.extend(name.map(|name| ("name", Value::owned(name.to_owned()))));
    set(&*table, &cells)
}

#[test]
fn instances_come_behind_all_others_and_go_from_there() {
    let old = space_bin(3, Size::Small);
    let count = rows_of(&old, SPACE, "instances").len();
    let add = vec![instance(&old, 5, Some("NEW.ONE"), 1.0), instance(&old, 6, None, 4.0)];
    let (new, undo) = made(&old, SPACE, vec![TableEdits { add, ..edits("instances") }]).unwrap();
    let (before, after) = (rows_of(&old, SPACE, "instances"), rows_of(&new, SPACE, "instances"));
    assert_eq!(after[..count], before);
    assert_eq!(rows_of(&new, SPACE, "point_lights"), rows_of(&old, SPACE, "point_lights"));
    assert_eq!((after.len(), findings(&new, SPACE)), (count + 2, vec![]));
    assert_eq!(cell(&new, SPACE, "instances", count, "name"), "NEW.ONE".into());
    assert_eq!(cell(&new, SPACE, "instances", count, "x"), Value::F32(1.0));
    assert_eq!(cell(&new, SPACE, "instances", count + 1, "name"), Value::Null);
    // The unnamed bytes are 0, and every old record is unchanged except for its pointer.
    assert_eq!(new[0x60 + count * 0x70..][0x5C..0x70], [0; 0x14]);
    (0..count).for_each(|at| assert_eq!(new[0x60 + at * 0x70..][..0x48], old[0x60 + at * 0x70..][..0x48]));
    assert_eq!(rows_of(&patched(&new, SPACE, &undo), SPACE, "instances"), before);
    let again = patched(&old, SPACE, &between(&old, &new, SPACE));
    assert_eq!(rows_of(&again, SPACE, "instances"), after);
    let last = TableEdits { remove: vec![count, count + 1], ..edits("instances") };
    let (back, undo) = made(&new, SPACE, vec![last]).unwrap();
    assert_eq!(rows_of(&back, SPACE, "instances"), before);
    assert_eq!(rows_of(&patched(&back, SPACE, &undo), SPACE, "instances"), after);
    // All of them, and one again.
    let all = TableEdits { remove: (0..count).collect(), ..edits("instances") };
    let (none, _) = made(&old, SPACE, vec![all]).unwrap();
    assert_eq!((&none[..4], format_of(&none)), (&[0; 4][..], "space"));
    let one = TableEdits { add: vec![instance(&old, 5, Some("A"), 1.0)], ..edits("instances") };
    let (one, _) = made(&none, SPACE, vec![one]).unwrap();
    assert_eq!((cell(&one, SPACE, "instances", 0, "name"), one[0x20]), ("A".into(), 0x60));
    assert_eq!(Asset::open(Source::from_vec("a", one)).unwrap().format().to_string(), "space");
}

#[test]
fn an_instance_that_others_may_know_by_its_number_stays() {
    let old = space_bin(3, Size::Small);
    let remove = |bytes: &[u8], row| {
        made(bytes, SPACE, vec![TableEdits { remove: vec![row], ..edits("instances") }]).map(|made| made.0)
    };
    refused(remove(&old, 4), &["instances: row 4 cannot be deleted", "only the last rows can be deleted"]);
    let last = rows_of(&old, SPACE, "instances").len() - 1;
    assert!(remove(&old, last).is_ok());
    // An entry of the second array has the number of an instance.
    let mut known = old.clone();
    known[4] = 1;
    known[0x28..0x30].copy_from_slice(&(old.len() as u64).to_le_bytes());
    known.extend([0; 0x58]);
    known[old.len() + 0x40..][..2].copy_from_slice(&(last as u16).to_le_bytes());
    refused(remove(&known, last), &[&format!("row {last} cannot go: entry 0 of array_04 lies at it")]);
    let mut less = instance(&old, 5, None, 1.0);
    less.truncate(1);
    let less = TableEdits { add: vec![less], ..edits("instances") };
    refused(made(&old, SPACE, vec![less]).map(|made| made.0), &["these columns are missing: transform, flags"]);
}

#[test]
fn an_instance_loses_its_name_and_gets_another_model() {
    let old = space_bin(3, Size::Small);
    let opened = asset(&old, SPACE);
    let table = opened.reader().table("instances").unwrap();
    let [id, name] = ["id", "name"].map(|name| column_index(&*table, name).unwrap());
    let named = (0..20).find(|row| !table.value(*row, name).unwrap().is_null()).unwrap();
    let change = vec![(named, vec![(id, Value::Id64(77)), (name, Value::Null)])];
    let (new, undo) = made(&old, SPACE, vec![TableEdits { set: change, ..edits("instances") }]).unwrap();
    assert_eq!(cell(&new, SPACE, "instances", named, "name"), Value::Null);
    assert_eq!(new[0x60 + named * 0x70 + 0x40..][..0x10], [0; 0x10]);
    assert_eq!(new.len(), old.len());
    // One changed row, not a deleted and an inserted row: other parts may know it by its number.
    let patch = between(&old, &new, SPACE);
    assert_eq!(patch.len(), 1);
    assert!(patched(&old, SPACE, &patch) == new);
    assert_eq!(rows_of(&patched(&new, SPACE, &undo), SPACE, "instances"), rows_of(&old, SPACE, "instances"));
}

/// A model is inserted with its lists in one step, and its skeleton is already in the file.
#[test]
fn models_come_with_what_they_have_and_go_with_it() {
    let old = models_bin(3, Size::Small);
    let opened = asset(&old, MODELS);
    let table = |name: &str| opened.reader().table(name).unwrap();
    let models = table("models");
    let count = models.len().unwrap();
    let model = |id: u64, skeleton: u64| {
        let mut cells = Vec::new();
        for (at, column) in models.columns().iter().enumerate() {
            use assetq::table::Accepts;
            if !matches!(column.accepts, Accepts::Nothing | Accepts::Name | Accepts::Path) {
                cells.push((&*column.name, models.value(1, at).unwrap().into_owned()));
            }
        }
        let replaced = [("id", Value::Id64(id)), ("skeleton_index", skeleton.into())];
        cells.retain(|(name, _)| replaced.iter().all(|(other, _)| other != name));
        set(&*models, &[&cells[..], &replaced].concat())
    };
    let list = |name: &str, indexes: std::ops::Range<usize>| TableEdits {
        add: indexes
            .map(|index| {
                let mut set = like(&*table(name), index, 1, Some(index));
                set.iter_mut().take(1).for_each(|(_, number)| *number = count.into());
                set.retain(|(at, _)| *at != 1);
                set
            })
            .collect(),
        ..edits(name)
    };
    let of_models = || TableEdits { add: vec![model(99, 0)], ..edits("models") };
    let asked = vec![of_models(), list("render_sets", 0..2), list("lods", 0..1)];
    let (new, undo) = made(&old, MODELS, asked).unwrap();
    assert_eq!(findings(&new, MODELS), Vec::<String>::new());
    let lists = ["models", "render_sets", "lods", "dyes", "skeleton_nodes"];
    let all = |bytes: &[u8]| lists.map(|name| rows_of(bytes, MODELS, name));
    for (before, after) in all(&old).iter().zip(all(&new)) {
        assert_eq!(after[..before.len()], before[..]);
    }
    assert_eq!(cell(&new, MODELS, "models", count, "render_set_count").to_string(), "2");
    let sets = rows_of(&new, MODELS, "render_sets");
    assert_eq!(sets[sets.len() - 1][0], "0x0000000000000063");
    let patch = between(&old, &new, MODELS);
    assert_eq!(all(&patched(&old, MODELS, &patch)), all(&new));
    assert_eq!(all(&patched(&new, MODELS, &undo)), all(&old));
    // It goes with its lists, and comes back with them.
    let (gone, undo) = made(&new, MODELS, vec![TableEdits { remove: vec![count], ..edits("models") }]).unwrap();
    assert_eq!((all(&gone), findings(&gone, MODELS)), (all(&old), vec![]));
    assert_eq!(all(&patched(&gone, MODELS, &undo)), all(&new));
    assert_eq!(all(&patched(&new, MODELS, &between(&new, &gone, MODELS))), all(&old));
    let between_others = TableEdits { remove: vec![2], ..edits("models") };
    refused(made(&old, MODELS, vec![between_others]).map(|made| made.0), &["models: row 2 cannot be deleted"]);
    let lost = TableEdits { add: vec![model(99, 5)], ..edits("models") };
    refused(
        made(&old, MODELS, vec![lost]).map(|made| made.0),
        &["skeleton_index: 5 does not fit: there are 1 skeletons"],
    );
    let bare = TableEdits { add: vec![set(&*models, &[("id", Value::Id64(1))])], ..edits("models") };
    refused(
        made(&old, MODELS, vec![bare]).map(|made| made.0),
        &["these columns are missing: skeleton_index", "min, max"],
    );
}

#[test]
fn a_model_comes_to_a_file_without_models() {
    let full = models_bin(3, Size::Small);
    let count = rows_of(&full, MODELS, "models").len();
    let all = TableEdits { remove: (0..count).collect(), ..edits("models") };
    let (none, undo) = made(&full, MODELS, vec![all]).unwrap();
    assert_eq!((&none[..4], format_of(&none)), (&[0; 4][..], "models"));
    assert_eq!(rows_of(&none, MODELS, "skeleton_nodes"), rows_of(&full, MODELS, "skeleton_nodes"));
    let back = patched(&none, MODELS, &undo);
    assert!(between(&full, &back, MODELS).is_empty());
    assert_eq!(findings(&back, MODELS), Vec::<String>::new());
}

#[test]
fn instances_and_models_come_to_real_files() {
    let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
        println!("skipped: ASSETQ_SAMPLES is not set");
        return;
    };
    for (kind, table) in [("space_bin", "instances"), ("models_bin", "models")] {
        for file in std::fs::read_dir(std::path::Path::new(&folder).join(kind)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let old = std::fs::read(&path).unwrap();
            let opened = asset(&old, &name);
            let rows = opened.reader().table(table).unwrap();
            let count = rows.len().unwrap();
            let of_other = space_bin(1, Size::Small);
            let mut set = if count == 0 && table == "instances" {
                instance(&of_other, 5, Some("A.B"), 1.0)
            } else if count == 0 {
                continue;
            } else {
                let mut set = ColumnValues::new();
                for (at, column) in rows.columns().iter().enumerate() {
                    use assetq::table::Accepts;
                    let value = rows.value(count / 2, at).unwrap();
                    if !matches!(column.accepts, Accepts::Nothing | Accepts::Name | Accepts::Path) && !value.is_null() {
                        set.push((at, value.into_owned()));
                    }
                }
                set
            };
            // No two models have one id.
            let id = column_index(&*rows, "id").unwrap();
            set.iter_mut().filter(|(at, _)| *at == id).for_each(|(_, cell)| *cell = Value::Id64(0x7777_7777_7777));
            let (new, _) = made(&old, &name, vec![TableEdits { add: vec![set], ..edits(table) }]).unwrap();
            assert_eq!(rows_of(&new, &name, table)[..count], rows_of(&old, &name, table));
            let patch = between(&old, &new, &name);
            assert_eq!(patch.len(), 1);
            assert!(between(&patched(&old, &name, &patch), &new, &name).is_empty());
        }
    }
}

/// Edits of damaged files are refused, or written into a file that may be readable or not.
#[test]
fn rows_of_hostile_files_come_and_go_or_are_refused() {
    use assetq::table::Accepts;
    let files = [
        ("assets.bin", assetq_sample::bwdb::demo(5, Size::Small)),
        (MODELS, models_bin(5, Size::Small)),
        (SPACE, space_bin(5, Size::Small)),
    ];
    let mut rng = fastrand::Rng::with_seed(11);
    let mut written = 0;
    for round in 0..240 {
        let (name, bytes) = &files[round % 3];
        let mut hostile = bytes.clone();
        for _ in 0..rng.usize(1..5) {
            // Where headers and records lie, or anywhere.
            let most = if rng.bool() { hostile.len() } else { 0x600.min(hostile.len()) };
            hostile[rng.usize(..most)] = rng.u8(..);
        }
        if *name == "assets.bin" {
            let sum = assetq_core::codec::murmur3(&hostile[16..]);
            hostile[8..12].copy_from_slice(&sum.to_le_bytes());
        }
        let Ok(asset) = Asset::open(Source::from_vec(name, hostile.clone())) else { continue };
        let Some(writable) = asset.reader().writable() else { continue };
        for table in asset.reader().tables().iter().filter(|table| table.nature().row_edits != RowEdits::None) {
            let Ok(len) = table.len() else { continue };
            if len == 0 {
                continue;
            }
            let row = if table.nature().row_edits == RowEdits::Last { len - 1 } else { rng.usize(..len) };
            let mut cells: ColumnValues = ColumnValues::new();
            for (at, column) in table.columns().iter().enumerate() {
                let is_key = table.nature().item().is_some_and(|item| at <= item);
                let is_told = is_key || !matches!(column.accepts, Accepts::Nothing | Accepts::Name | Accepts::Path);
                match table.value(row, at) {
                    Ok(value) if is_told && !value.is_null() => cells.push((at, value.into_owned())),
                    _ => {}
                }
            }
            for (add, remove) in [(vec![cells.clone()], vec![]), (vec![], vec![row]), (vec![cells], vec![row])] {
                let mut edits = vec![TableEdits { add, remove, ..edits(table.name()) }];
                let _ = writable.refusals(&edits[0]);
                let pieces = writable.settle(&mut edits).and_then(|()| writable.write(&edits));
                if let Ok(pieces) = pieces.and_then(|pieces| pieces.with_seal(asset.source())) {
                    written += 1;
                    if let Ok(new) = Asset::open(Source::from_vec(name, pieces.bytes(&hostile))) {
                        let _ = new.reader().verify(&Default::default());
                    }
                }
            }
        }
    }
    assert!(written > 300, "{written}");
}

/// Nodes of visuals, on which other models are mounted.
mod nodes {
    use assetq::formats::wows::bwdb::Database;
    use assetq::formats::wows::bwdb::prototypes::{Layout, PrototypeType};
    use assetq::formats::wows::models::Placements as _;
    use assetq::{Result, Source};
    use assetq_sample::bwdb::DatabaseBuilder;
    use assetq_sample::prototypes::{BlobWriter, u16s, u32s, u64s};

    const ROOT: u16 = 0xFFFF;

    /// A matrix that moves by `y`.
    fn up(y: f32) -> [f32; 16] {
        [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., y, 0., 1.]
    }

    fn matrices(heights: &[f32]) -> Vec<u8> {
        heights.iter().flat_map(|height| up(*height)).flat_map(f32::to_le_bytes).collect()
    }

    /// A visual with the nodes Root, Deck and Mast, which have these parents, and three models of it: one with the extender, one
    /// of the layout before extenders, and one of a visual that the database lacks.
    fn database(parents: [u16; 3]) -> Database {
        let mut builder = DatabaseBuilder::default();
        let names = ["Root", "Deck", "Mast"].map(|name| builder.string(name));
        let mut visual = BlobWriter::new(PrototypeType::Visual, 1);
        let at = visual.record(0);
        visual.data.set(at, 3i32);
        for (field, bytes) in [
            (0x08, u32s(names)),
            (0x10, u16s([0, 1, 2])),
            (0x18, u32s(names)),
            (0x20, matrices(&[0.0, 2.0, 10.0])),
            (0x28, u16s(parents)),
        ] {
            visual.array(at, field, bytes);
        }
        visual.data.set(at + 0x30, builder.path("ship.geometry"));
        let mut extender = BlobWriter::new(PrototypeType::SkeletonExtender, 1);
        let at = extender.record(0);
        extender.data.set(at + 2, 3u16);
        let added = ["Radar", "Lamp", "Flag"].map(|name| builder.string(name));
        extender.array(at, 0x08, u32s(added));
        extender.array(at, 0x10, u32s([names[2], added[0], builder.string("Nowhere")]));
        extender.array(at, 0x18, matrices(&[1.0, 0.5, 7.0]));
        let ids =
            ["ship.visual", "ship.skel_ext", "ship.model", "old.model", "other.model"].map(|path| builder.path(path));
        let mut models = BlobWriter::new(PrototypeType::Model, 2);
        let [first, second] = [0, 1].map(|record| models.record(record));
        models.data.set(first, ids[0]);
        models.data.patch(first + 8, [2]);
        // An extender that the database lacks has no nodes.
        models.array(first, 0x10, u64s([ids[1], 999]));
        models.data.set(second, 999u64);
        let mut old = BlobWriter::with_size(Layout::ModelV14.size(), 1);
        old.data.set(old.record(0), ids[0]);
        for (prototype, checksum, blob) in [
            (PrototypeType::Visual, 0, visual),
            (PrototypeType::SkeletonExtender, 0, extender),
            (PrototypeType::Model, 0, models),
            (PrototypeType::Model, 0xD6B1_1569, old),
        ] {
            builder.database(prototype.magic(), checksum, blob.finish());
        }
        for (id, (database, record)) in ids.into_iter().zip([(0, 0), (1, 0), (2, 0), (3, 0), (2, 1)]) {
            builder.resource(id, database, record, 0);
        }
        Database::open(Source::from_vec("assets.bin", builder.build())).unwrap()
    }

    /// The nodes of a visual or model, and their heights above it.
    fn nodes(database: &Database, path: &str) -> Result<Option<Vec<(String, f32)>>> {
        let nodes = database.visual(path)?.map(|visual| visual.nodes);
        Ok(nodes.map(|nodes| nodes.into_iter().map(|(name, matrix)| (name, matrix[13])).collect()))
    }

    fn heights(nodes: &[(&str, f32)]) -> Vec<(String, f32)> {
        nodes.iter().map(|(name, height)| ((*name).to_owned(), *height)).collect()
    }

    /// Nodes of the extender stand on nodes of the visual and on each other; one without a known parent stands on the model.
    #[test]
    fn nodes_of_an_extender_stand_on_the_nodes_of_the_visual() {
        let database = database([ROOT, 0, 1]);
        let own = heights(&[("Root", 0.0), ("Deck", 2.0), ("Mast", 12.0)]);
        assert_eq!(nodes(&database, "ship.visual").unwrap().unwrap(), own);
        assert_eq!(nodes(&database, "old.model").unwrap().unwrap(), own);
        let more = heights(&[("Radar", 13.0), ("Lamp", 13.5), ("Flag", 7.0)]);
        assert_eq!(nodes(&database, "ship.model").unwrap().unwrap(), [own, more].concat());
        // A model without its visual, a record of another type, and a path that the database lacks.
        for path in ["other.model", "ship.skel_ext", "none.model"] {
            assert_eq!(nodes(&database, path).unwrap(), None, "{path}");
        }
        // The parent of a node may follow it.
        let reversed = self::database([1, 2, ROOT]);
        let own = heights(&[("Root", 12.0), ("Deck", 12.0), ("Mast", 10.0)]);
        assert_eq!(nodes(&reversed, "ship.visual").unwrap().unwrap(), own);
    }

    #[test]
    fn nodes_that_stand_on_each_other_or_on_none_are_damage() {
        for (parents, message) in [([2, 0, 1], "cycle"), ([ROOT, 3, 0], "parent of a node: 3 is not allowed")] {
            let error = nodes(&database(parents), "ship.visual").unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("0x"), "{error}");
        }
    }
}
