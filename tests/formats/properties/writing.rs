//! Writing: an edit can be undone to the last byte, and the difference of two files makes one of the other.

use super::cases;
use crate::common::made::undone;
use assetq::edit::{Editor, Outcome, Restore};
use assetq::sample::{FILES, Size};
use assetq::table::{Takes, Value};
use assetq::write::atomic_file::Overwrite;
use assetq::{Asset, Source};
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
            let written = columns.filter(|(_, column)| column.takes != Takes::Nothing).map(|(at, _)| at);
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
    // Some formats are written nowhere, and some edits change nothing.
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
    if code == Some(2) {
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
            prop_assert!(code != Some(2), "{}: {}", name, left);
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
                if !table.columns().iter().any(|column| column.takes != Takes::Nothing) {
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
