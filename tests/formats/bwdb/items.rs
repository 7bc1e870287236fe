//! Inserted and deleted rows of lists in records: render sets, levels of detail, dyes, parameters, properties of materials, nodes.

use super::edit::{BIN, asset, cell, findings, json, refused};
use assetq::edit::read::{ChangesFormat, InputRow};
use assetq::edit::{Change, ColumnValues, Edit, Editor, Outcome, TableEdits, patch};
use assetq::table::{Accepts, Role, Table, Value, column_index};
use assetq::write::atomic_file::Overwrite;
use assetq::{Options, Result};
use assetq_sample::Size;
use assetq_sample::bwdb::demo;
use assetq_sample::space::models_bin;
use fastrand::Rng;

const MODELS: &str = "models.bin";

/// The file with these edits, written, read back and compared; and what undoes them, as rows.
pub fn made(bytes: &[u8], name: &str, edits: Vec<TableEdits>) -> Result<(Vec<u8>, Vec<Value<'static>>)> {
    let asset = asset(bytes, name);
    let mut editor = Editor::new(&asset)?;
    edits.into_iter().try_for_each(|edits| editor.resolved_edits(edits))?;
    let plan = editor.finish()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(name);
    let written = plan.write(&to, Overwrite::Refuse)?;
    let restore = plan.undo(&written);
    written.commit()?;
    let new = std::fs::read(to).unwrap();
    assert!(restored(&new, name, &restore) == bytes);
    let mut rows = Vec::new();
    patch::undo(&asset, plan.edits(), &mut |row| {
        rows.push(row);
        Ok(())
    })?;
    Ok((new, rows))
}

fn restored(bytes: &[u8], name: &str, restore: &assetq::edit::Restore) -> Vec<u8> {
    let asset = asset(bytes, name);
    let mut editor = Editor::new(&asset).unwrap();
    assert!(editor.restore(restore).unwrap());
    editor.finish().unwrap().pieces().bytes(bytes)
}

/// The file after rows of a patch; each must be made.
pub fn patched(bytes: &[u8], name: &str, rows: &[Value<'static>]) -> Vec<u8> {
    let asset = asset(bytes, name);
    let mut editor = Editor::new(&asset).unwrap();
    for row in rows {
        let text = format!("{}\n", json(row));
        let mut take = |row: InputRow<'_>| match row {
            InputRow::Edit(edit) => {
                let outcome = editor.edit(edit)?;
                assert!(matches!(outcome, Outcome::Done | Outcome::Held), "{text}: {outcome:?}");
                Ok(())
            }
            other => panic!("{other:?}"),
        };
        assetq::edit::read::rows(&mut text.as_bytes(), ChangesFormat::Ndjson, &mut take)
            .unwrap_or_else(|e| panic!("{text}{e}"));
    }
    let plan = editor.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join(name);
    plan.write(&to, Overwrite::Refuse).unwrap_or_else(|e| panic!("{rows:?}: {e}")).commit().unwrap();
    std::fs::read(to).unwrap()
}

/// The patch from one file to the other, which leaves nothing.
pub fn between(old: &[u8], new: &[u8], name: &str) -> Vec<Value<'static>> {
    let (old, new) = (asset(old, name), asset(new, name));
    let mut rows = Vec::new();
    let damaged = &mut |_, error| panic!("{error}");
    let mut each = |row| {
        rows.push(row);
        Ok(())
    };
    let left = patch::between(&old, &new, &Options::default(), &[], damaged, &mut each).unwrap();
    assert!(left.is_empty(), "{left:?}\n{rows:?}");
    rows
}

/// All cells that say something of their own, as text, row by row.
pub fn rows_of(bytes: &[u8], name: &str, table: &str) -> Vec<Vec<String>> {
    let asset = asset(bytes, name);
    let table = asset.reader().table(table).unwrap();
    let columns: Vec<usize> = (0..table.columns().len())
        .filter(|at| !matches!(table.columns()[*at].role, Role::Place | Role::Resolved))
        .collect();
    let row = |row| columns.iter().map(|at| table.value(row, *at).unwrap().to_string()).collect();
    (0..table.len().unwrap()).map(row).collect()
}

/// The cells of a row that one like it comes with, at another list.
pub fn like(table: &dyn Table, row: usize, list: usize, index: Option<usize>) -> ColumnValues {
    let item = table.nature().item().unwrap();
    let mut set = table.lists(0, &Value::from(list)).unwrap().remove(0).cells;
    set.extend(index.map(|index| (item, index.into())));
    for (at, column) in table.columns().iter().enumerate().skip(item + 1) {
        let value = table.value(row, at).unwrap();
        if !matches!(column.accepts, Accepts::Nothing | Accepts::Name | Accepts::Path) && !value.is_null() {
            set.push((at, value.into_owned()));
        }
    }
    set
}

/// Lists of a table: the number of what has each, its first row, and its length.
fn lists(table: &dyn Table) -> Vec<(usize, usize, usize)> {
    let mut lists: Vec<(usize, usize, usize)> = Vec::new();
    for row in 0..table.len().unwrap() {
        let Value::Uint(of) = table.value(row, 0).unwrap() else { panic!() };
        match lists.last_mut() {
            Some((last, _, len)) if *last == of as usize => *len += 1,
            _ => lists.push((of as usize, row, 1)),
        }
    }
    lists
}

/// Random inserts and deletes in some lists of a table.
fn chance(table: &dyn Table, rng: &mut Rng) -> TableEdits {
    let all = lists(table);
    let mut edits = TableEdits { table: table.name().to_owned(), ..TableEdits::default() };
    for _ in 0..rng.usize(1..4) {
        let (of, first, len) = all[rng.usize(..all.len())];
        let is_edited = |row: &usize| (first..first + len).contains(row);
        let is_here = edits.add.iter().any(|set| set[0].1 == Value::from(of));
        if is_here || edits.remove.iter().any(is_edited) {
            continue;
        }
        let gone: Vec<usize> = (first..first + len).filter(|_| rng.u8(..4) == 0).collect();
        let come = rng.usize(..3);
        let mut indexes: Vec<usize> = (0..len - gone.len() + come).collect();
        rng.shuffle(&mut indexes);
        for index in indexes.into_iter().take(come) {
            edits.add.push(like(table, rng.usize(..table.len().unwrap()), of, Some(index)));
        }
        edits.remove.extend(gone);
    }
    edits.remove.sort_unstable();
    edits
}

/// An inserted row has its position and all of its values, and every other row is kept. Undo restores bytes and rows, and a patch
/// between both files turns one into the other.
#[test]
fn rows_come_and_go_anywhere_in_their_lists() {
    let mut rng = Rng::with_seed(9);
    let (mut written, mut refused) = (std::collections::BTreeMap::<String, usize>::new(), 0);
    for seed in 0..3 {
        for (name, old) in [(BIN, demo(seed, Size::Small)), (MODELS, models_bin(seed, Size::Small))] {
            let opened = asset(&old, name);
            for table in opened.reader().tables().iter().filter(|table| table.nature().item().is_some()) {
                if lists(&**table).is_empty() {
                    continue;
                }
                for _ in 0..2 {
                    let edits = chance(&**table, &mut rng);
                    let (new, undo) = match made(&old, name, vec![edits.clone()]) {
                        Ok(made) => made,
                        Err(error) => {
                            let text = error.to_string();
                            // Some targets of systems of effects are not known, and children need their parents.
                            let known = ["are not written", "is not known, so that none is copied", "its parent, goes"];
                            assert!(known.iter().any(|known| text.contains(known)), "{name} {}: {text}", table.name());
                            refused += 1;
                            continue;
                        }
                    };
                    *written.entry(table.name().to_owned()).or_default() += 1;
                    assert_eq!(findings(&new, name), Vec::<String>::new());
                    let (before, after) = (rows_of(&old, name, table.name()), rows_of(&new, name, table.name()));
                    assert_eq!(after.len(), before.len() + edits.add.len() - edits.remove.len());
                    // A system of effects goes, and comes back with its bytes only.
                    if table.name() != "effect_systems" {
                        let back = patched(&new, name, &undo);
                        assert_eq!(rows_of(&back, name, table.name()), before);
                        assert!(between(&old, &back, name).is_empty());
                    }
                    let patch = between(&old, &new, name);
                    let again = patched(&old, name, &patch);
                    assert_eq!(rows_of(&again, name, table.name()), after);
                    // Once more, they are there already.
                    assert_eq!(patched(&again, name, &patch), again);
                }
            }
        }
    }
    for table in ["render_sets", "lods", "dyes", "effect_parameters", "material_properties", "skeleton_nodes"] {
        assert!(written.get(table).is_some_and(|count| *count > 1), "{table}: {written:?}");
    }
    assert!(refused * 2 < written.values().sum::<usize>(), "{written:?} {refused}");
}

pub fn edits(table: &str) -> TableEdits {
    TableEdits { table: table.to_owned(), ..TableEdits::default() }
}

/// Levels of detail, by their extents: inserted first, in the middle, last, and without a number.
#[test]
fn an_item_comes_at_its_number_and_those_behind_it_move() {
    let old = models_bin(2, Size::Small);
    let opened = asset(&old, MODELS);
    let table = opened.reader().table("lods").unwrap();
    let extent = column_index(&*table, "extent").unwrap();
    let lod = |index: Option<usize>, value: f32| {
        let mut set = like(&*table, 0, 1, index);
        set.iter_mut().filter(|(at, _)| *at == extent).for_each(|(_, cell)| *cell = Value::F32(value));
        set
    };
    let extents = |bytes: &[u8]| -> Vec<String> {
        rows_of(bytes, MODELS, "lods")
            .into_iter()
            .filter(|row| row[0] == opened_id(&old, 1))
            .map(|row| row[2].clone())
            .collect()
    };
    assert_eq!(extents(&old), ["1000"]);
    let add = vec![lod(Some(0), 10.0), lod(None, 5000.0), lod(Some(2), 2000.0)];
    let (new, _) = made(&old, MODELS, vec![TableEdits { add, ..edits("lods") }]).unwrap();
    assert_eq!(extents(&new), ["10", "1000", "2000", "5000"]);
    assert_eq!(cell(&new, MODELS, "models", 1, "lod_count").to_string(), "4");
    let (none, _) = made(&new, MODELS, vec![TableEdits { remove: vec![1, 2, 3, 4], ..edits("lods") }]).unwrap();
    assert_eq!(extents(&none), Vec::<String>::new());
    // The last ones go by their number alone, and so does what nothing refers to any more at the end of the file.
    let (shorter, _) = made(&new, MODELS, vec![TableEdits { remove: vec![3, 4], ..edits("lods") }]).unwrap();
    assert!(extents(&shorter).len() == 2 && new.starts_with(&shorter[..0x18]) && shorter.len() < new.len());
    let twice = TableEdits { add: vec![lod(Some(1), 1.0), lod(Some(1), 2.0)], ..edits("lods") };
    refused(made(&old, MODELS, vec![twice]).map(|made| made.0), &["lods: index 1: two rows are inserted there"]);
    let beyond = TableEdits { add: vec![lod(Some(7), 1.0)], ..edits("lods") };
    refused(made(&old, MODELS, vec![beyond]).map(|made| made.0), &["index 7: the list has 2 items then"]);
    let mut less = lod(Some(1), 1.0);
    less.retain(|(at, _)| *at != extent);
    let less = TableEdits { add: vec![less], ..edits("lods") };
    refused(made(&old, MODELS, vec![less]).map(|made| made.0), &["lods", "missing: extent"]);
}

fn opened_id(bytes: &[u8], model: usize) -> String {
    cell(bytes, MODELS, "models", model, "id").to_string()
}

/// A patch for another build: an item for what is not there, or beyond the end of a list, is left out and named.
#[test]
fn an_item_without_its_list_is_left_out() {
    let old = models_bin(2, Size::Small);
    let opened = asset(&old, MODELS);
    let outcome = |id: Value<'static>, index: u64, extent: f32| {
        let key = Value::Map(vec![("id".into(), id), ("index".into(), index.into())]);
        let lod = [("extent", Value::F32(extent)), ("casts_shadow", true.into()), ("render_sets", Value::List(vec![]))];
        let cells = lod.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let mut editor = Editor::new(&opened).unwrap();
        editor.edit(Edit::new(Some("lods"), key, Change::Add(cells))).unwrap()
    };
    let id = || cell(&old, MODELS, "models", 1, "id");
    assert_eq!(outcome(id(), 1, 5.0), Outcome::Done);
    let left = |outcome, what: &str| match outcome {
        Outcome::LeftOut(why) => assert!(why.contains(what), "{why}"),
        other => panic!("{other:?}"),
    };
    left(outcome(Value::Id64(77), 0, 5.0), "not found: nothing that has such a list is 0x000000000000004D");
    left(outcome(id(), 2, 5.0), "2 is beyond the next, which is 1");
    left(outcome(id(), 0, 5.0), "it is there already, with other values");
}

/// A model and its lists are edited at once: how many there are follows in rows that are edited or not.
#[test]
fn rows_come_while_those_that_have_them_are_edited() {
    let old = models_bin(2, Size::Small);
    let opened = asset(&old, MODELS);
    let models = opened.reader().table("models").unwrap();
    let lods = opened.reader().table("lods").unwrap();
    let misc = column_index(&*models, "misc_type").unwrap();
    let of_models = TableEdits { set: vec![(3, vec![(misc, 2u64.into())])], ..edits("models") };
    let of_lods = TableEdits {
        add: vec![like(&*lods, 0, 1, None), like(&*lods, 0, 3, Some(0))],
        set: vec![(5, vec![(column_index(&*lods, "extent").unwrap(), Value::F32(3.0))])],
        ..edits("lods")
    };
    let (new, _) = made(&old, MODELS, vec![of_models, of_lods]).unwrap();
    let counts = |bytes: &[u8]| {
        (0..6).map(|row| cell(bytes, MODELS, "models", row, "lod_count").to_string()).collect::<String>()
    };
    assert_eq!((counts(&old), counts(&new)), ("111111".into(), "121211".into()));
    assert_eq!(cell(&new, MODELS, "models", 3, "misc_type").to_string(), "2");
}

/// A property of another type, a value that two properties share, and values without a property.
#[test]
fn properties_get_other_types_and_leave_no_values() {
    let old = demo(4, Size::Small);
    let opened = asset(&old, BIN);
    let table = opened.reader().table("material_properties").unwrap();
    let [name, kind, value] = ["name_id", "type", "value"].map(|name| column_index(&*table, name).unwrap());
    let of_kind = |wanted: &str| {
        (0..table.len().unwrap()).find(|row| table.value(*row, kind).unwrap().to_string() == wanted).unwrap()
    };
    let row = of_kind("float");
    let set = vec![(name, Value::Id32(9)), (kind, "vec3".into()), (value, Value::floats([1.0, 2.0, 3.0]))];
    let (new, undo) =
        made(&old, BIN, vec![TableEdits { set: vec![(row, set)], ..edits("material_properties") }]).unwrap();
    assert_eq!(cell(&new, BIN, "material_properties", row, "type").to_string(), "vec3");
    assert_eq!(cell(&new, BIN, "material_properties", row, "value").to_string(), "[1, 2, 3]");
    assert_eq!(findings(&new, BIN), Vec::<String>::new());
    let back = patched(&new, BIN, &undo);
    assert_eq!(rows_of(&back, BIN, "material_properties"), rows_of(&old, BIN, "material_properties"));
    let alone = vec![(kind, "vec3".into())];
    let alone = TableEdits { set: vec![(row, alone)], ..edits("material_properties") };
    refused(made(&old, BIN, vec![alone]).map(|made| made.0), &["needs a value of that type"]);
    let mut coming = like(&*table, row, 0, None);
    coming.retain(|(at, _)| *at != value && *at != name);
    let coming = TableEdits { add: vec![coming], ..edits("material_properties") };
    refused(made(&old, BIN, vec![coming]).map(|made| made.0), &["missing: name_id, value"]);
    // A texture by a path that the file has not.
    let mut texture = like(&*table, of_kind("texture"), 0, Some(0));
    let id = column_index(&*table, "texture_id").unwrap();
    texture.retain(|(at, _)| ![value, id].contains(at));
    texture.push((value, "content/of/mine.dds".into()));
    let (new, _) = made(&old, BIN, vec![TableEdits { add: vec![texture], ..edits("material_properties") }]).unwrap();
    let shown = cell(&new, BIN, "material_properties", 0, "texture_id");
    assert_eq!(shown, Value::Id64(assetq::formats::id::of_path("content/of/mine.dds")));
}

/// The names of a skeleton are looked up in the order of their ids, and parents are numbers of nodes.
#[test]
fn nodes_keep_their_parents_and_the_order_of_their_names() {
    let old = models_bin(2, Size::Small);
    let opened = asset(&old, MODELS);
    let table = opened.reader().table("skeleton_nodes").unwrap();
    let [name, parent] = ["name_id", "parent"].map(|name| column_index(&*table, name).unwrap());
    let node = |index, id, of: Option<u64>| {
        let mut set = like(&*table, 0, 0, Some(index));
        set.retain(|(at, _)| *at != name && *at != parent);
        set.push((name, Value::Id32(id)));
        set.extend(of.map(|of| (parent, of.into())));
        set
    };
    // A new root before the old one, which gets a child.
    let add = vec![node(0, 7, None), node(2, 3, Some(1))];
    let (new, undo) = made(&old, MODELS, vec![TableEdits { add, ..edits("skeleton_nodes") }]).unwrap();
    let names = |bytes: &[u8]| {
        let models =
            assetq::formats::wows::bwdb::Models::open(assetq::Source::from_vec(MODELS, bytes.to_vec())).unwrap();
        let skeleton = models.skeleton(0).unwrap();
        let names: Vec<u32> = skeleton.name_map_names().unwrap().iter().map(|name| name.unwrap().0).collect();
        let nodes: Vec<u16> = skeleton.name_map_nodes().unwrap().iter().map(Result::unwrap).collect();
        (names, nodes)
    };
    let root = assetq::formats::id::of_name("Scene Root");
    assert_eq!(names(&new), (vec![3, 7, root], vec![2, 0, 1]));
    assert_eq!(findings(&new, MODELS), Vec::<String>::new());
    let back = patched(&new, MODELS, &undo);
    assert_eq!(names(&back), (vec![root], vec![0]));
    // Where a node before them goes, the child keeps its parent, by another number.
    let gone = TableEdits { remove: vec![0], ..edits("skeleton_nodes") };
    let (less, undo) = made(&new, MODELS, vec![gone]).unwrap();
    assert_eq!(names(&less), (vec![3, root], vec![1, 0]));
    assert_eq!(cell(&less, MODELS, "skeleton_nodes", 1, "parent"), Value::Uint(0));
    let back = patched(&less, MODELS, &undo);
    assert_eq!(rows_of(&back, MODELS, "skeleton_nodes"), rows_of(&new, MODELS, "skeleton_nodes"));
    // The child becomes a root, and a child again.
    let set = |bytes: &[u8], to: Value<'static>| {
        made(bytes, MODELS, vec![TableEdits { set: vec![(2, vec![(parent, to)])], ..edits("skeleton_nodes") }])
    };
    let (root, undo) = set(&new, Value::Null).unwrap();
    assert_eq!(cell(&root, MODELS, "skeleton_nodes", 2, "parent"), Value::Null);
    assert_eq!(
        rows_of(&patched(&root, MODELS, &undo), MODELS, "skeleton_nodes"),
        rows_of(&new, MODELS, "skeleton_nodes")
    );
    refused(set(&new, Value::Uint(3)).map(|made| made.0), &["column parent: 3 is not one of the 3 nodes"]);
    // The old root is the parent of the last.
    let gone = TableEdits { remove: vec![1], ..edits("skeleton_nodes") };
    refused(made(&new, MODELS, vec![gone]).map(|made| made.0), &["node 1, which is its parent, goes"]);
    let lost = TableEdits { add: vec![node(1, 8, Some(9))], ..edits("skeleton_nodes") };
    refused(made(&old, MODELS, vec![lost]).map(|made| made.0), &["column parent: 9 is not one of the 2 nodes"]);
}

#[test]
fn rows_of_real_files_come_and_go() {
    let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
        println!("skipped: ASSETQ_SAMPLES is not set");
        return;
    };
    let mut rng = Rng::with_seed(1);
    for file in std::fs::read_dir(std::path::Path::new(&folder).join("models_bin")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let old = std::fs::read(&path).unwrap();
        let opened = asset(&old, &name);
        for table in opened.reader().tables().iter().filter(|table| table.nature().item().is_some()) {
            if lists(&**table).is_empty() || old.len() > 400_000 {
                continue;
            }
            let edits = chance(&**table, &mut rng);
            let new = match made(&old, &name, vec![edits]) {
                Ok((new, _)) => new,
                Err(error) if error.to_string().contains("its parent, goes") => continue,
                Err(error) => panic!("{name} {}: {error}", table.name()),
            };
            let patch = between(&old, &new, &name);
            let again = patched(&old, &name, &patch);
            assert!(between(&again, &new, &name).is_empty());
        }
    }
}
