//! Writing: an edit can be undone to the last byte, and the difference of two files makes one of the other.

use super::cases;
use crate::common::made::undone;
use assetq::edit::read::{self, ChangesFormat, InputRow};
use assetq::edit::{Editor, Outcome, Restore, patch};
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::table::{Accepts, Column, Kind, Role, Table, Value, Visitor as _};
use assetq::write::atomic_file::Overwrite;
use assetq::{Asset, Options, Source};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::prototypes::{BlobWriter, u16s, u32s, u64s};
use assetq_sample::{ALTERED, FILES, Size};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Where an edit is made, and the row whose cell of that column the row gets.
type Pick = [Index; 4];

fn picks(most: usize) -> impl Strategy<Value = Vec<Pick>> {
    proptest::collection::vec(any::<[Index; 4]>(), 1..most)
}

/// A file after one edit, and what brings the old one back; `None` where the edit is refused or changes nothing.
fn edited(name: &str, bytes: &[u8], [table, row, column, from]: Pick) -> Option<(Vec<u8>, Restore)> {
    let asset = Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap();
    let tables = asset.reader().tables();
    let written: Vec<_> = tables
        .iter()
        .map(|table| {
            let columns = table.columns().iter().enumerate();
            let written = columns.filter(|(_, column)| column.accepts != Accepts::Nothing).map(|(at, _)| at);
            (table, written.collect::<Vec<usize>>())
        })
        .filter(|(table, columns)| !columns.is_empty() && table.len().is_ok_and(|len| len > 0))
        .collect();
    let (table, columns) = (!written.is_empty()).then(|| &written[table.index(written.len())])?;
    let len = table.len().unwrap();
    let (row, column, from) = (row.index(len), columns[column.index(columns.len())], from.index(len));
    let value: Value<'static> = table.value(from, column).unwrap().into_owned();
    let mut editor = Editor::new(&asset).unwrap();
    // A key that another row has, or a value that is derived here, is refused.
    let Ok(Outcome::Done) = editor.set_cell(table.name(), row, column, value) else { return None };
    let plan = editor.finish().ok()?;
    let dir = TempDir::new().unwrap();
    let to = dir.path().join(name);
    // Read back and compared on the way.
    let written = plan.write(&to, Overwrite::Refuse).ok()?;
    let undo = plan.undo(&written);
    written.commit().unwrap();
    Some((fs::read(&to).unwrap(), undo))
}

fn assetq(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assetq"));
    let out = command.current_dir(dir).args(args).stdin(Stdio::null()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    (out.status.code(), said)
}

/// Whether the format of a file has a writer.
fn is_written(name: &str, bytes: &[u8]) -> bool {
    Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap().reader().writable().is_some()
}

/// That a property was tried on enough files to mean something.
fn tried(many: usize, of: usize) {
    assert!(many * 4 >= of, "{many} edits of {of} were made");
}

#[test]
fn an_edit_and_its_undo_give_the_first_bytes() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(4));
    let (mut made, mut of) = (0, 0);
    let counts = std::cell::RefCell::new((&mut made, &mut of));
    let strategy = (any::<u64>(), picks(5));
    let ran = runner.run(&strategy, |(seed, picks)| {
        for (name, _, make) in FILES {
            let mut bytes = make(seed, Size::Small);
            if !is_written(name, &bytes) {
                continue;
            }
            for pick in &picks {
                *counts.borrow_mut().1 += 1;
                let Some((new, undo)) = edited(name, &bytes, *pick) else { continue };
                *counts.borrow_mut().0 += 1;
                prop_assert!(undone(name, &new, &undo) == bytes, "{}", name);
                bytes = new;
            }
        }
        Ok(())
    });
    ran.unwrap();
    // Some edits change nothing.
    tried(made, of);
}

/// Writes `old` and `new` into a folder, makes the patch between them, and applies it to `old`. Gives the exit code of
/// `diff -f patch`, and how many rows it says that the patch leaves as they are.
fn patched(name: &str, old: &[u8], new: &[u8]) -> (Option<i32>, String) {
    let dir = TempDir::new().unwrap();
    for (folder, bytes) in [("old", old), ("new", new)] {
        fs::create_dir(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join(name), bytes).unwrap();
    }
    fs::create_dir(dir.path().join("made")).unwrap();
    let [before, after, made] = ["old", "new", "made"].map(|folder| format!("{folder}/{name}"));
    let (code, said) = assetq(dir.path(), &["diff", &before, &after, "-f", "patch", "-q"]);
    let patch: String = said.lines().filter(|line| line.starts_with('{')).flat_map(|line| [line, "\n"]).collect();
    fs::write(dir.path().join("patch.ndjson"), patch).unwrap();
    // Whatever it leaves, `patch` takes each row of it.
    let (taken, why) = assetq(dir.path(), &["patch", &before, "patch.ndjson", "--to", &made, "--strict"]);
    assert_eq!(taken, Some(0), "{name}: {why}");
    let mut still = BTreeMap::<String, u64>::new();
    let (_, rows) = assetq(dir.path(), &["diff", &made, &after, "-f", "ndjson", "-q"]);
    for row in rows.lines().filter(|line| line.starts_with('{')) {
        let table = row.split('"').nth(3).unwrap();
        *still.entry(table.to_owned()).or_default() += 1;
    }
    if code == Some(5) {
        // It says so of each table that differs still.
        let left = said.lines().last().unwrap();
        for (table, count) in &still {
            let told = left.split(&format!(" {table} ")).nth(1).and_then(|rest| rest.split(',').next());
            let told = told.and_then(|told| told.parse::<u64>().ok());
            assert!(told.is_some_and(|told| told >= *count), "{name}: {table} {count}: {left}");
        }
        return (code, left.to_owned());
    }
    assert!(matches!(code, Some(0 | 1)) && still.is_empty(), "{name}: {still:?}: {said}");
    (code, String::new())
}

#[test]
fn a_difference_that_is_applied_gives_the_second_file() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(3));
    let (mut made, mut of) = (0, 0);
    let counts = std::cell::RefCell::new((&mut made, &mut of));
    let ran = runner.run(&(any::<u64>(), picks(6)), |(seed, picks)| {
        for (name, _, make) in FILES {
            let old = make(seed, Size::Small);
            if !is_written(name, &old) {
                continue;
            }
            let mut new = old.clone();
            *counts.borrow_mut().1 += 1;
            for pick in &picks {
                if let Some((edited, _)) = edited(name, &new, *pick) {
                    new = edited;
                }
            }
            if new == old {
                continue;
            }
            *counts.borrow_mut().0 += 1;
            let (code, left) = patched(name, &old, &new);
            prop_assert!(code != Some(5), "{}: {}", name, left);
        }
        Ok(())
    });
    ran.unwrap();
    tried(made, of);
}

/// Between two very different files, a patch may skip some rows: it reports how many, by table.
#[test]
fn a_patch_says_what_it_leaves() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let ran = runner.run(&(any::<u64>(), any::<u64>()), |(one, other)| {
        for (name, _, make) in FILES {
            let asset = Asset::open(Source::from_vec(name, make(one, Size::Small))).unwrap();
            if asset.reader().writable().is_some() {
                patched(name, &make(one, Size::Small), &make(other, Size::Small));
            }
        }
        Ok(())
    });
    ran.unwrap();
}

/// The old file with all that a patch can make of it.
fn patched_in_memory(name: &str, old: &Asset, new: &Asset) -> Asset {
    let mut text = Vec::new();
    let options = Options::default();
    let mut damaged = |side, error| panic!("{name}: {side:?}: {error}");
    patch::between(old, new, &options, &[], &mut damaged, &mut |row| {
        let mut json = assetq::write::json::JsonWriter::compact(&mut text);
        json.value(&row)?;
        json.end_line()
    })
    .unwrap();
    let mut edits = Vec::new();
    read::rows(&text[..], ChangesFormat::Ndjson, &mut |row| {
        if let InputRow::Edit(edit) = row {
            edits.push(edit);
        }
        Ok(())
    })
    .unwrap();
    let mut editor = Editor::new(old).unwrap();
    let given = String::from_utf8_lossy(&text);
    editor.edits(edits).unwrap_or_else(|error| panic!("{name}: {error}: {given}"));
    assert_eq!(editor.summary().2, [""; 0], "{name}: {given}");
    let dir = TempDir::new().unwrap();
    let to = dir.path().join(name);
    let plan = editor.finish().unwrap_or_else(|error| panic!("{name}: {error}: {given}"));
    // Read back and compared on the way.
    plan.write(&to, Overwrite::Refuse).unwrap_or_else(|error| panic!("{name}: {error}: {given}")).commit().unwrap();
    Asset::open(Source::from_vec(name, fs::read(&to).unwrap())).unwrap()
}

/// A value without the texts of ids in it, which follow from other tables.
fn without_texts(value: Value<'_>) -> Value<'_> {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(without_texts).collect()),
        Value::Map(parts) => {
            let has_id = parts.iter().any(|(name, _)| name == "id");
            let stays = |name: &str| !(has_id && matches!(name, "text" | "path"));
            let parts = parts.into_iter().filter(|(name, _)| stays(name));
            Value::Map(parts.map(|(name, part)| (name, without_texts(part))).collect())
        }
        other => other,
    }
}

/// The rows of a table by their keys: all cells but those that tell where the row lies, and texts of ids. With `stored`, only
/// those that are written: a sum of other rows follows from them.
fn by_key(table: &dyn Table, stored: bool) -> BTreeMap<String, Vec<String>> {
    let columns = |is: &dyn Fn(&Column) -> bool| -> Vec<usize> {
        (0..table.columns().len()).filter(|at| is(&table.columns()[*at])).collect()
    };
    let is_stored = |column: &Column| !stored || column.accepts != Accepts::Nothing;
    let is_own = |column: &Column| matches!(column.role, Role::Value | Role::Reference) && is_stored(column);
    let (keys, cells) = (columns(&|column| column.role == Role::Key), columns(&is_own));
    let mut found = BTreeMap::<String, Vec<String>>::new();
    for row in 0..table.len().unwrap() {
        // A record that no resource leads to has no key.
        if keys.iter().any(|key| table.columns()[*key].kind == Kind::Id64 && table.value(row, *key).unwrap().is_null())
        {
            continue;
        }
        let shown = |columns: &[usize]| {
            let value = |at: usize| without_texts(table.value(row, at).unwrap());
            let cell = |at: &usize| format!("{} {:?}", table.columns()[*at].name, value(*at));
            columns.iter().map(cell).collect::<Vec<_>>().join(", ")
        };
        let key = if keys.is_empty() { row.to_string() } else { shown(&keys) };
        found.entry(key).or_default().push(shown(&cells));
    }
    found
}

/// That a patch neither deletes nor changes a row that is the same in both files, and that each row of the patched file is the old
/// or the new row of its key.
fn is_between(name: &str, old: &[u8], new: &[u8], stored: bool) -> usize {
    let open = |bytes: &[u8]| Asset::open(Source::from_vec(name, bytes.to_vec())).unwrap();
    let (old, new) = (open(old), open(new));
    let made = patched_in_memory(name, &old, &new);
    let mut same = 0;
    for table in made.reader().tables() {
        let rows =
            |asset: &Asset| asset.reader().table(table.name()).map(|table| by_key(&*table, stored)).unwrap_or_default();
        let (old, new, made) = (rows(&old), rows(&new), by_key(&*table, stored));
        for (key, rows) in &made {
            let (had, has) = (old.get(key), new.get(key));
            // Of rows that have one key, each is one of those.
            let is_one = rows.iter().all(|row| [had, has].into_iter().flatten().any(|rows| rows.contains(row)));
            assert!(is_one, "{name}: {} {key} is\n{rows:#?}\nneither\n{had:#?}\nnor\n{has:#?}", table.name());
            same += usize::from(had == has);
        }
        let lost = old.iter().find(|(key, rows)| new.get(*key) == Some(rows) && made.get(*key) != Some(rows));
        assert!(lost.is_none(), "{name}: {}: lost {lost:?}", table.name());
    }
    same
}

#[test]
fn a_patched_row_is_the_old_or_the_new_row_of_its_key() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(2));
    let same = std::cell::Cell::new(0);
    let ran = runner.run(&(any::<u64>(), any::<u64>(), picks(6)), |(one, other, picks)| {
        for (name, _, make) in FILES {
            let old = make(one, Size::Small);
            if Asset::open(Source::from_vec(name, old.clone())).unwrap().reader().writable().is_none() {
                continue;
            }
            let apply = |bytes: Vec<u8>, pick: &Pick| edited(name, &bytes, *pick).map_or(bytes, |(new, _)| new);
            let near = picks.iter().fold(old.clone(), apply);
            let far = make(other, Size::Small);
            same.set(same.get() + is_between(name, &old, &near, true) + is_between(name, &old, &far, true));
        }
        let altered = (ALTERED.2)(one, Size::Small);
        same.set(same.get() + is_between("assets.bin", &FILES[0].2(one, Size::Small), &altered, true));
        Ok(())
    });
    ran.unwrap();
    assert!(same.get() > 100, "{}", same.get());
}

/// A list whose items can be deleted only in part moves no other item up.
#[test]
fn a_patch_between_unlike_saves_has_rows_of_either() {
    let dir = TempDir::new().unwrap();
    assert_eq!(assetq(dir.path(), &["sample", "."]).0, Some(0));
    let files = ["savegame.vrb", "se2/Blueprints/Miner Pell/grid.json.vrb", "se2-mod/Content/definitionsets.vrb"];
    let files = files.map(|name| fs::read(dir.path().join(name)).unwrap());
    for old in &files {
        for new in files.iter().filter(|new| *new != old) {
            is_between("save.vrb", old, new, true);
        }
    }
}

/// A database in which some resources share records: for each record its flags, and its list of names; and for each resource
/// the record that it leads to.
fn sharing(records: &[(u32, Vec<u8>)], resources: &[Index]) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let property = builder.string("diffuseMap");
    let mut materials = BlobWriter::new(PrototypeType::Material, records.len());
    let mut effects = BlobWriter::new(PrototypeType::EffectMetadata, records.len());
    for (index, (flags, names)) in records.iter().enumerate() {
        let at = materials.record(index);
        materials.data.patch(at, u16s([1]));
        materials.data.patch(at + 6, [1]);
        materials.data.patch(at + 0x70, flags.to_le_bytes());
        materials.array(at, 0x10, u32s([property]));
        materials.array(at, 0x18, u16s([4]));
        materials.array(at, 0x40, u64s([7]));
        let at = effects.record(index);
        effects.data.patch(at, (names.len() as u32).to_le_bytes());
        if names.is_empty() {
            continue;
        }
        let first = effects.structs(at, 8, names.len(), 0x20);
        for (number, name) in names.iter().enumerate() {
            effects.text(first + number * 0x20, &format!("name {name}"));
        }
    }
    let magics = [PrototypeType::Material.magic(), PrototypeType::EffectMetadata.magic()];
    let blobs = [materials.finish(), effects.finish()];
    let numbers: Vec<usize> =
        magics.into_iter().zip(blobs).map(|(magic, blob)| builder.database(magic, 0, blob)).collect();
    for (resource, record) in resources.iter().enumerate() {
        for (number, ending) in numbers.iter().zip(["mfm", "xml"]) {
            let id = builder.path(&format!("content/{resource}.{ending}"));
            builder.resource(id, *number, record.index(records.len()), 0);
        }
    }
    builder.build()
}

#[test]
fn resources_that_share_a_record_are_all_found_compared_and_patched() {
    let record = (0u32..3, proptest::collection::vec(0u8..3, 0..4));
    let records = proptest::collection::vec(record, 1..5);
    let resources = || proptest::collection::vec(any::<Index>(), 1..7);
    let strategy = (records.clone(), records, resources(), resources(), any::<bool>());
    let mut runner = proptest::test_runner::TestRunner::new(cases(64));
    let ran = runner.run(&strategy, |(before, after, leads, other_leads, is_same_map)| {
        // Records keep their number, and often resources keep their records.
        let after: Vec<_> = before.iter().enumerate().map(|(at, old)| after.get(at).unwrap_or(old).clone()).collect();
        let old = sharing(&before, &leads);
        is_between("assets.bin", &old, &sharing(&after, if is_same_map { &leads } else { &other_leads }), false);
        let asset = Asset::open(Source::from_vec("assets.bin", old)).unwrap();
        let table = asset.reader().table("materials").unwrap();
        for (resource, record) in leads.iter().enumerate() {
            let path = Value::owned(format!("content/{resource}.mfm"));
            let at = |name| table.columns().iter().position(|column| column.name == name).unwrap();
            let found = table.find(at("path"), &path).unwrap().unwrap();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(table.value(found[0], at("record")).unwrap(), record.index(before.len()).into());
            prop_assert_eq!(table.value(found[0], at("path")).unwrap(), path);
        }
        Ok(())
    });
    ran.unwrap();
}

/// A spreadsheet that saves what it was given changes no byte.
#[test]
fn rows_that_were_exported_and_not_edited_change_nothing() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let ran = runner.run(&any::<u64>(), |seed| {
        for (name, _, make) in FILES {
            let bytes = make(seed, Size::Small);
            let asset = Asset::open(Source::from_vec(name, bytes.clone())).unwrap();
            if asset.reader().writable().is_none() {
                continue;
            }
            let dir = TempDir::new().unwrap();
            fs::write(dir.path().join(name), &bytes).unwrap();
            for table in asset.reader().tables() {
                if !table.columns().iter().any(|column| column.accepts != Accepts::Nothing) {
                    continue;
                }
                let of = ["-t", table.name(), "-q", "--force", "--to"];
                let (code, said) = assetq(dir.path(), &[&["export", name], &of[..], &["rows.csv"]].concat());
                prop_assert_eq!(code, Some(0), "{}: {}: {}", name, table.name(), said);
                let (code, said) = assetq(dir.path(), &[&["patch", name, "rows.csv"], &of[..], &["made"]].concat());
                prop_assert_eq!(code, Some(0), "{}: {}: {}", name, table.name(), said);
                prop_assert!(fs::read(dir.path().join("made")).unwrap() == bytes, "{}: {}", name, table.name());
            }
        }
        Ok(())
    });
    ran.unwrap();
}
