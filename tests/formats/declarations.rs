//! The tables of every file declare nothing that contradicts itself: [`validate`].

use crate::common::writer;
use assetq::edit::Editor;
use assetq::formats::wows::bwdb::Database;
use assetq::formats::wows::gameparams::Params;
use assetq::query::refs::KnownIds;
use assetq::sql::{Input, Session};
use assetq::table::{Column, DeclaredTable, validate};
use assetq::{Asset, Source, diff};
use assetq_sample::{Size, bwdb, gameparams, wdb};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Adds what is wrong with the tables of a file, and of the files in it, by format. Returns the number of tables.
fn tables_below(asset: &Asset, faults: &mut BTreeSet<String>) -> usize {
    let (format, tables) = (asset.format().name(), asset.reader().tables());
    faults.extend(validate(&tables).into_iter().map(|fault| format!("{format}: {fault}")));
    let Ok(archive) = asset.archive() else { return tables.len() };
    let files = (0..archive.len().unwrap()).filter_map(|number| archive.file(number).ok());
    let files = files.filter_map(|file| Asset::open(asset.read(&file.path).ok()?).ok());
    tables.len() + files.map(|asset| tables_below(&asset, faults)).sum::<usize>()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, files) } else { files.push(path) }
    }
}

#[test]
fn samples_have_valid_tables() {
    let (dir, mut faults) = (TempDir::new().unwrap(), BTreeSet::new());
    for (name, _, make) in assetq_sample::FILES {
        let asset = Asset::open(Source::from_vec(name, make(3, Size::Small))).unwrap();
        assert!(tables_below(&asset, &mut faults) > 0, "{name}");
    }
    for (name, _, make) in assetq_sample::FOLDERS {
        let folder = dir.path().join(name);
        let mut write = writer(&folder);
        make(3, Size::Small, &mut |path, bytes| {
            write(path, bytes.to_vec());
            Ok(())
        })
        .unwrap();
        assert!(tables_below(&Asset::open(&*folder).unwrap(), &mut faults) > 1, "{name}");
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn real_files_have_valid_tables() {
    let Some(samples) = crate::common::samples() else { return };
    let (mut files, mut faults) = (Vec::new(), BTreeSet::new());
    files_below(&samples, &mut files);
    let assets = files.iter().filter_map(|path| Asset::open(&**path).ok());
    assert!(assets.map(|asset| tables_below(&asset, &mut faults)).sum::<usize>() > 0);
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Programs print values in their logs: a name and numbers say which value it is, without bytes of the file.
#[test]
fn debug_output_of_what_reads_a_file_is_one_short_line() {
    let sheet = Asset::open(Source::from_vec("sheet.wdb", wdb::demo(1, Size::Small))).unwrap();
    let database = Database::open(Source::from_vec("assets.bin", bwdb::demo(1, Size::Small))).unwrap();
    let params = Params::open(Source::from_vec("GameParams.data", gameparams::demo(1, Size::Small))).unwrap();
    let (resource, pickle) = (database.resources().next().unwrap(), params.pickle().unwrap());
    let (size, state) = (sheet.source().bytes().len(), resource.state());
    let records = sheet.reader().table("records").unwrap();
    let row = records.rows().next().unwrap().unwrap();
    let declared = DeclaredTable::over("numbers", &[1u64]).column(Column::uint("number"), |(_, n)| Ok((**n).into()));
    let known = KnownIds::new([&sheet, &sheet]);
    let session = Session::new(vec![("sheet".into(), Input::Asset(sheet.clone()))], false).unwrap();
    for (shown, expected) in [
        (format!("{:?}", sheet.source()), format!("Source {{ name: \"sheet.wdb\", len: {size} }}")),
        (format!("{:?}", sheet.format()), "Format(\"wdb\")".to_owned()),
        (format!("{:?}", sheet.source().view("records").at(32)), format!("View(records at 0x20 of {size:#x})")),
        (format!("{:?}", records.rows()), "Rows { table: \"records\", .. }".to_owned()),
        (format!("{row:?}"), "Row { table: \"records\", number: 0, .. }".to_owned()),
        (format!("{declared:?}"), "DeclaredTable { name: \"numbers\", columns: [Column { name: \"number\"".to_owned()),
        (
            format!("{:?}", diff::tables(&sheet, &sheet, &[]).unwrap()[0]),
            "TableDiff { name: \"records\", .. }".to_owned(),
        ),
        (
            format!("{:?}", Editor::new(&sheet).unwrap()),
            "Editor { asset: Asset { name: \"sheet.wdb\", format: \"wdb\", .. }, .. }".to_owned(),
        ),
        (format!("{known:?}"), "KnownIds { files: ".to_owned()),
        (format!("{session:?}"), "Session { schemas: [(\"sheet\"".to_owned()),
        (format!("{resource:?}"), format!("Resource {{ id: 0x{:016X}, state: {state:?}, database: ", resource.id())),
        (format!("{pickle:?}"), format!("Pickle {{ size: {}, protocol: ", pickle.source().bytes().len())),
        (format!("{:?}", pickle.root()), "Node(list 0x".to_owned()),
    ] {
        assert!(shown.starts_with(&expected) && shown.len() < 700 && !shown.contains('\n'), "{shown}");
    }
}
