//! A pattern in place of a file: the tables of all its files.

use crate::archives::write_game;
use crate::common::run;
use assetq::formats::report::Progress;
use assetq::query::files;
use assetq::query::files::{FilePattern, FileSet};
use assetq::table::filter::Filter;
use assetq::table::{Table, Value, column_index};
use assetq::write::stream::Selection;
use assetq::{Asset, Options};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::wdb::{Cell, Game, Sheet};
use assetq_sample::wows::BUILDS;
use assetq_sample::{FILES, Size, geometry::splash};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// All cells of a table from column `from` on, as they are walked, and as they are read one by one.
fn cells(table: &dyn Table, from: usize) -> Vec<Vec<String>> {
    let columns: Vec<usize> = (0..table.columns().len()).collect();
    let shown = |value: assetq::Result<Value<'_>>| {
        value.map_or_else(|error| format!("damaged: {}", error.kind()), |v| format!("{:?}", v.into_owned()))
    };
    let mut all = Vec::new();
    let (mut over, mut any) = (table.cursor_over(0, Some(&columns)), table.cursor(0));
    while over.advance().unwrap() {
        assert!(any.advance().unwrap());
        assert_eq!((over.row(), any.row()), (all.len(), all.len()));
        let row: Vec<String> = columns.iter().map(|&column| shown(over.value(column))).collect();
        if all.len() < 40 {
            assert_eq!(row, columns.iter().map(|&column| shown(any.value(column))).collect::<Vec<_>>());
            assert_eq!(row, columns.iter().map(|&column| shown(table.value(over.row(), column))).collect::<Vec<_>>());
        }
        all.push(row[from..].to_vec());
    }
    assert!(!any.advance().unwrap());
    assert_eq!(table.len().unwrap(), all.len());
    all
}

#[test]
fn a_table_of_many_files_has_the_rows_of_each() {
    for (name, format, make) in FILES {
        let dir = TempDir::new().unwrap();
        let paths = [1, 2, 3].map(|seed| {
            let path = dir.path().join(format!("{seed}-{name}"));
            fs::write(&path, make(seed, Size::Small)).unwrap();
            path
        });
        let set = files::open(dir.path(), &Options::default()).unwrap();
        assert_eq!((set.format(), set.get::<FileSet>().unwrap().list().len()), (*format, 3), "{name}");
        let single = paths.each_ref().map(|path| Asset::open_at(path, &Options::default()).unwrap());
        assert_eq!(set.reader().tables().len(), single[0].reader().tables().len(), "{name}");
        for table in set.reader().tables() {
            let mut expected = Vec::new();
            let mut starts = Vec::new();
            for (path, asset) in paths.iter().zip(&single) {
                let own = asset.reader().table(table.name()).unwrap();
                starts.push(expected.len());
                for row in cells(&*own, 0) {
                    expected.push([vec![format!("{:?}", Value::text(path.to_str().unwrap()))], row].concat());
                }
            }
            assert_eq!(table.columns()[0].name, "file");
            assert_eq!(cells(&*table, 0), expected, "{name} {}", table.name());
            let mut from = table.cursor_over(starts[1], Some(&[0]));
            let is_any = from.advance().unwrap();
            assert_eq!(
                (is_any, from.row()),
                (starts[1] < expected.len(), if is_any { starts[1] } else { 0 }),
                "{name}"
            );
        }
        assert!(set.reader().verify(&Progress::default()).is_ok(), "{name}");
        let size: u64 = paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        let facts = set.reader().facts().into_iter().map(|(fact, value)| format!("{fact} {value}"));
        assert_eq!(facts.collect::<Vec<_>>(), ["files 3".to_owned(), format!("unpacked_size {size}")], "{name}");
        assert_eq!(set.reader().warnings(), [""; 0], "{name}");
    }
}

fn ships(names: &[&str]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (number, name) in names.iter().enumerate() {
        let boxes: Vec<_> =
            (0..=number).map(|n| (["bow", "stern", "deck"][n], [n as f32; 3], [n as f32 + 1.0; 3])).collect();
        fs::write(dir.path().join(format!("{name}.splash")), splash(&boxes)).unwrap();
    }
    dir
}

#[test]
fn a_pattern_is_a_table() {
    let dir = ships(&["a", "b", "c"]);
    let ok = |args: &[&str]| run(dir.path(), 0, args).0;
    let count = "SELECT file, count(*) AS n FROM boxes GROUP BY 1";
    let expected = "file,n\r\na.splash,1\r\nb.splash,2\r\nc.splash,3\r\n";
    assert_eq!(ok(&["sql", count, "*.splash", "-f", "csv"]), expected);
    assert_eq!(ok(&["sql", count, ".", "-f", "csv"]).replace("./", "").replace(".\\", ""), expected);
    let two = ok(&["ls", "*.splash", "-c", "file,name", "-f", "csv", "-n", "2"]);
    assert_eq!(two, "file,name\r\na.splash,bow\r\nb.splash,bow\r\n");
    let deck = ok(&["ls", "[bc].splash", "deck", "-c", "file,max_x", "-f", "csv"]);
    assert_eq!(deck, "file,max_x\r\nc.splash,3\r\n");
    let at = ok(&["ls", "*.splash", "--at", "1.5,1.5,1.5", "-c", "file,name", "-f", "csv"]);
    assert_eq!(at, "file,name\r\nb.splash,stern\r\nc.splash,stern\r\n");
    ok(&["export", "*.splash", "--to", "all.csv"]);
    assert_eq!(fs::read_to_string(dir.path().join("all.csv")).unwrap().lines().count(), 7);
    // A pattern that matches one file has the same columns.
    assert!(ok(&["ls", "a*.splash", "-f", "csv"]).starts_with("file,name,min_x"));
    assert!(run(dir.path(), 1, &["sql", count, "x*.splash"]).1.contains("no file of a known format matches"));
    let without = run(dir.path(), 2, &["ls", "a.splash@*:*.splash"]).1;
    assert!(without.contains("a.splash: a splash file has no builds"), "{without}");
    // Two patterns are two schemas, which join.
    let joined = "SELECT count(*) AS n FROM x.boxes JOIN y.boxes USING (file, name)";
    assert_eq!(ok(&["sql", joined, "x=[ab].splash", "y=[bc].splash", "-f", "csv"]), "n\r\n2\r\n");
}

#[test]
fn a_damaged_file_is_named_and_left_out_unless_no_row_of_it_is_wanted() {
    let dir = ships(&["a", "b", "c"]);
    fs::write(dir.path().join("b.splash"), [9; 3]).unwrap();
    let sql = |code: i32, rest: &str, more: &[&str]| {
        let query = format!("SELECT file, count(*) FROM boxes {rest} GROUP BY 1");
        run(dir.path(), code, &[&["sql", &query, "*.splash", "-f", "csv"], more].concat())
    };
    let (out, err) = sql(3, "", &[]);
    assert_eq!(out, "file,count(*)\r\na.splash,1\r\nc.splash,3\r\n");
    assert!(err.starts_with("assetq: b.splash: ") && err.lines().count() == 1, "{err}");
    let (out, err) = sql(3, "", &["--strict"]);
    assert!(out.is_empty() && err.contains("b.splash"), "{out}{err}");
    for rest in ["= 'c.splash'", "LIKE 'C%'", "IN ('c.splash', 'd')", "GLOB '[c-d]*'", "> 'b.splash'"] {
        let expected = ("file,count(*)\r\nc.splash,3\r\n".to_owned(), String::new());
        assert_eq!(sql(0, &format!("WHERE file {rest}"), &["--strict"]), expected, "{rest}");
    }
    let (out, _) = run(dir.path(), 0, &["ls", "*.splash", "-w", "file ~ 'c*'", "--strict", "-f", "ndjson"]);
    assert_eq!(out.lines().count(), 3);
    for args in [&["ls", "*.splash"][..], &["export", "*.splash", "--to", "x.csv"]] {
        assert!(run(dir.path(), 3, args).1.contains("b.splash"), "{args:?}");
    }
}

/// Two databases with this number of paths. One path of the first cannot be read.
fn one_damaged(paths: usize) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, is_damaged) in [("a.bin", true), ("b.bin", false)] {
        let mut builder = DatabaseBuilder::default();
        for n in 0..paths {
            builder.path(&format!("root/{name}/{n}"));
        }
        if is_damaged {
            builder.raw_path(4, 99, "lost");
        } else {
            builder.path("root/last");
        }
        fs::write(dir.path().join(name), builder.build()).unwrap();
    }
    dir
}

/// A damaged file is left out of counts and pages as it is left out of lists, however large it is.
#[test]
fn positions_are_counted_after_what_is_left_out() {
    for paths in [30, 4000] {
        let dir = one_damaged(paths);
        let all = |code: i32, args: &[&str]| -> Vec<String> {
            run(dir.path(), code, args).0.lines().skip(1).map(str::to_owned).collect()
        };
        let sql = |code: i32, query: &str| all(code, &["sql", query, "*.bin", "-f", "csv"]);
        let rows = sql(3, "SELECT path FROM paths");
        assert_eq!(rows.len(), paths + 3, "the paths of b.bin, and two folders");
        assert_eq!(all(3, &["ls", "*.bin", "-t", "paths", "-c", "path", "-f", "csv"]), rows);
        assert_eq!(all(3, &["ls", "*.bin", "-t", "paths", "-c", "file", "-f", "csv"]).len(), rows.len());
        let count = [rows.len().to_string()];
        for counted in ["*", "path", "file"] {
            assert_eq!(sql(3, &format!("SELECT count({counted}) FROM paths")), count, "count({counted})");
        }
        assert!(run(dir.path(), 3, &["sql", "SELECT count(*) FROM paths", "*.bin", "--strict"]).1.contains("a.bin"));
        let page = rows.len() / 3 + 1;
        let pages = (0..4).map(|n| sql(3, &format!("SELECT path FROM paths LIMIT {page} OFFSET {}", n * page)));
        let pages: Vec<Vec<String>> = pages.collect();
        assert_eq!((pages.concat(), pages[3].len()), (rows, 0));
        // A row has one number in each query.
        let first = sql(0, "SELECT rowid FROM paths WHERE file = 'b.bin' LIMIT 1");
        for query in ["SELECT rowid FROM paths LIMIT 1", "SELECT min(rowid) FROM paths WHERE path LIKE '%'"] {
            assert_eq!(sql(3, query), first, "{query}");
        }
        let set = files::open(&dir.path().join("*.bin"), &Options::default()).unwrap();
        let whole = Selection::new(set, "paths").unwrap().columns(&["path"]).unwrap();
        let slices = [0..5, 5..paths + 9, paths + 9..usize::MAX].map(|rows| whole.clone().slice(rows).count().unwrap());
        assert_eq!((slices[0], slices.iter().sum::<usize>()), (0, whole.count().unwrap()), "{slices:?}");
    }
}

#[test]
fn sheets_with_different_fields_have_the_fields_of_all() {
    let dir = TempDir::new().unwrap();
    for (name, field) in [("a", "iPrice"), ("b", "iWeight")] {
        let sheet = Sheet::new(Game::Later, "S").fields([field]).record("r", [Cell::from(7i64)]);
        fs::write(dir.path().join(format!("{name}.wdb")), sheet.build()).unwrap();
    }
    let (out, _) = run(dir.path(), 0, &["sql", "SELECT * FROM records", "*.wdb", "-f", "csv"]);
    assert_eq!(out, "file,record,iPrice,iWeight\r\na.wdb,r,7,\r\nb.wdb,r,,7\r\n");
}

#[test]
fn files_of_several_formats_are_counted_until_one_is_chosen() {
    let dir = ships(&["a", "b"]);
    let sheet = Sheet::new(Game::Later, "S").fields(["iN"]).record("r", [Cell::from(1i64)]);
    fs::write(dir.path().join("s.wdb"), sheet.build()).unwrap();
    let count = &["sql", "SELECT count(*) AS n FROM boxes", "*", "-f", "csv"][..];
    let (_, err) = run(dir.path(), 2, count);
    assert!(err.contains("2 splash, 1 wdb; --format-of"), "{err}");
    assert_eq!(run(dir.path(), 0, &[count, &["--format-of", "splash"]].concat()).0, "n\r\n3\r\n");
    run(dir.path(), 1, &["ls", "*", "--format-of", "dds"]);
}

#[test]
fn builds_of_a_game_are_a_column() {
    let dir = TempDir::new().unwrap();
    write_game(&dir.path().join("game"));
    let sql = |query: &str, files: &str| {
        run(dir.path(), 0, &["sql", query, files, "-f", "csv", "--no-cache"]).0.replace("\r\n", " ")
    };
    let [old, new] = BUILDS;
    for (table, inner) in [("files", ""), ("resources", ":content/assets.bin")] {
        let count = format!("SELECT count(*) AS n FROM {table}");
        let of = |build: &str| sql(&count, &format!("game@{build}{inner}")).replace("n ", "");
        let query = format!("SELECT build, file, count(*) AS n FROM {table} GROUP BY 1, 2 ORDER BY 1");
        let all = sql(&query, &format!("game@*{inner}"));
        let expected = format!("build,file,n {old},game{inner},{}{new},game{inner},{}", of(old), of(new));
        assert_eq!(all, expected);
    }
    let plates = "SELECT count(DISTINCT file) AS n FROM vertex_buffers";
    assert_ne!(sql(plates, "game:content/**/*.geometry"), "n 0 ");
    // The newest build only: the older one has no geometry.
    let builds = "SELECT DISTINCT build FROM vertex_buffers";
    assert_eq!(sql(builds, "game@*:content/**/*.geometry"), format!("build {new} "));
}

/// A condition on the file is decided before any file is opened.
#[test]
fn other_files_are_not_opened() {
    let dir = ships(&["a", "b", "c"]);
    let pattern = dir.path().join("*.splash");
    let mut list = FilePattern::parse(&pattern).list(&pattern, &Options::default(), &Progress::default()).unwrap();
    assert_eq!((list.len(), list.size(1).is_some(), list.build(1)), (3, true, None));
    let set = files::open(&pattern, &Options::default()).unwrap();
    fs::write(dir.path().join("b.splash"), [9; 3]).unwrap();
    let table = set.reader().table("boxes").unwrap();
    let name = list.name(2);
    let bound = Filter::parse(&format!("file = '{name}'")).unwrap().bind(table.columns()).unwrap();
    let mut rows = bound.walk_over(&*table, None);
    assert!(rows.advance().unwrap());
    assert_eq!(rows.value(column_index(&*table, "name").unwrap()).unwrap(), Value::text("bow"));
    assert!(set.get::<FileSet>().unwrap().left_out().is_empty());
    list.retain(|file, _| Path::new(file).ends_with("c.splash"));
    assert_eq!((list.len(), list.name(0)), (1, name));
}
