//! A week in minutes: files that are opened, queried, written and dropped leave no memory, map, descriptor or file.
//!
//! A few hundred files by default. `ASSETQ_SOAK=100000 cargo test --release --test memory -- --nocapture` runs it in full
//! and says what it measured.

use assetq::edit::Editor;
use assetq::sql::{Input, Session, statements};
use assetq::table::{Accepts, Tree};
use assetq::write::atomic_file::{AtomicFile, Overwrite};
use assetq::write::rows::{RowFormat, RowWriter};
use assetq::write::text::Style;
use assetq::{Asset, Source};
use assetq_sample::{FILES, Size};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Resources of the process: kilobytes of memory, maps and descriptors.
#[derive(Debug, Clone, Copy)]
struct Held {
    memory: u64,
    maps: usize,
    files: usize,
}

fn held() -> Held {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let memory = line.split_whitespace().next().unwrap().parse().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let maps = maps.lines().filter(|line| line.contains("assetq-dropped-")).count();
    Held { memory, maps, files: fs::read_dir("/proc/self/fd").unwrap().count() }
}

/// Opens a file, asks it one thing of each kind, and writes what it says.
fn one(path: &Path, number: usize) -> assetq::Result<()> {
    let asset = Asset::open(Source::open(path)?)?;
    let reader = asset.reader();
    for table in reader.tables() {
        let mut rows = table.cursor(0);
        let mut left = 4;
        while left > 0 && rows.advance()? {
            left -= 1;
            (0..table.columns().len()).for_each(|column| drop(rows.value(column)));
        }
    }
    let tables = reader.tables();
    let main = &tables[0];
    if main.len()? > 0 {
        reader.cat(&main.value(0, main.label())?.to_string(), &mut Tree::default())?;
    }
    if number.is_multiple_of(3) {
        assert!(reader.verify(&Default::default()).is_ok());
    }
    let to = path.with_extension("csv");
    let cannot = |error| assetq::Error::io("cannot write", error);
    let mut out = AtomicFile::create(&to, Overwrite::Replace).map_err(cannot)?;
    let mut rows = main.cursor(0);
    let columns: Vec<usize> = (0..main.columns().len()).collect();
    {
        let mut writer = RowWriter::new(&mut out, RowFormat::Csv, main.columns(), Style::Plain)?;
        while rows.advance()? {
            writer.row_of(&*rows, &columns, drop)?;
        }
        writer.finish()?;
    }
    out.commit().map_err(cannot)?;
    if number.is_multiple_of(5) {
        let session = Session::new(vec![("it".to_owned(), Input::Asset(asset.clone()))], false).unwrap();
        let query = format!("SELECT count(*) FROM \"{}\"", main.name());
        for statement in statements(&query) {
            session.ask(statement).unwrap().rows::<assetq::sql::Fault>(|_| Ok(())).unwrap();
        }
    }
    let written = tables.iter().find_map(|table| {
        let at = table.columns().iter().position(|column| column.accepts != Accepts::Nothing)?;
        (table.len().ok()? > 1).then_some((table, at))
    });
    if let Some((table, at)) = written.filter(|_| number.is_multiple_of(7)) {
        let mut editor = Editor::new(&asset)?;
        // A refused edit, such as a duplicate key, does not count.
        if editor.set_cell(table.name(), 0, at, table.value(1, at)?.into_owned()).is_ok()
            && let Ok(plan) = editor.finish()
            && let Ok(written) = plan.write(&path.with_extension("new"), Overwrite::Replace)
        {
            written.commit()?;
        }
    }
    Ok(())
}

pub fn files_that_were_dropped_leave_nothing() {
    let count: usize = std::env::var("ASSETQ_SOAK").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let dir = tempfile::Builder::new().prefix("assetq-dropped-").tempdir().unwrap();
    let files: Vec<_> =
        FILES.iter().map(|(name, _, make)| (*name, make(1, Size::Small), make(2, Size::Small))).collect();
    let begun = Instant::now();
    let round = |number: usize| {
        let (name, first, second) = &files[number % files.len()];
        let path = dir.path().join(format!("{number}-{name}"));
        // Every file is new, and some are damaged.
        let mut bytes = if number.is_multiple_of(2) { first.clone() } else { second.clone() };
        let is_damaged = number.is_multiple_of(11);
        if is_damaged {
            let at = number * 31 % bytes.len();
            bytes[at] ^= 0xFF;
            bytes.truncate(bytes.len() - number % 64);
        }
        fs::write(&path, bytes).unwrap();
        let asked = one(&path, if is_damaged { 1 } else { number });
        assert!(asked.is_ok() || is_damaged, "{name}: {asked:?}");
        for ending in ["", "csv", "new"] {
            let path = if ending.is_empty() { path.clone() } else { path.with_extension(ending) };
            let _ = fs::remove_file(path);
        }
    };
    // Threads and tables, which are created once, exist after the first rounds.
    (0..count / 5).for_each(&round);
    let before = held();
    (count / 5..count).for_each(&round);
    let after = held();
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    println!("{count} files in {:.0?}: {before:?}, {after:?}", begun.elapsed());
    assert!(left.is_empty(), "{left:?}");
    assert_eq!((after.maps, after.files), (0, before.files), "{before:?} {after:?}");
    // An allocator keeps some of what it was given back; a leak of a kilobyte for each file would be more.
    assert!(after.memory < before.memory + (4 << 10) + count as u64 / 20, "{before:?} {after:?}");
}
