//! Space Engineers 2 folders: what definitions are called, in a folder that is made and in files that are damaged.

use crate::common::{errors_of, json, run, writer};
use assetq::formats::ErrorKind;
use assetq::formats::vrage::se2::Se2Archive;
use assetq::query::archive;
use assetq::{Asset, Options, Source};
use assetq_sample::Size;
use assetq_sample::se2::{self as build, BLOCK, CONTENT, Def, ITEM, folder, guid};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn game() -> (TempDir, Vec<Def>) {
    let dir = TempDir::new().unwrap();
    let defs = folder(3, Size::Small, writer(dir.path()));
    (dir, defs)
}

fn open(path: &Path) -> Asset {
    Asset::open_at(path, &Options::default()).unwrap()
}

/// All files below `dir`, with `/` between parts.
fn below(dir: &Path) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            files.extend(below(&path).into_iter().map(|(inner, path)| (format!("{name}/{inner}"), path)));
        } else {
            files.insert(name, path);
        }
    }
    files
}

#[test]
fn the_archive_has_the_files_of_the_folder() {
    let (dir, _) = game();
    let content = dir.path().join(CONTENT);
    let expected = below(&content);
    for folder in [dir.path(), &content] {
        let asset = open(folder);
        assert_eq!(asset.format(), assetq::formats::vrage::SE2);
        let archive = asset.reader().archive().unwrap();
        let paths: Vec<String> =
            (0..archive.len().unwrap()).map(|n| archive.file(n).unwrap().path.into_owned()).collect();
        assert_eq!(paths, expected.keys().cloned().collect::<Vec<_>>());
        for (n, (path, file)) in expected.iter().enumerate() {
            let found = archive.find(path).unwrap().unwrap();
            let bytes = fs::read(file).unwrap();
            assert_eq!((found.size, found.volume.as_deref(), found.id), (bytes.len() as u64, None, None));
            assert_eq!(archive::open(archive, &found, "GAME").unwrap().bytes(), bytes);
            assert_eq!(archive.position(path).unwrap(), Some(n));
        }
        for outside in ["../Content/definitionsets.vrb", "/etc/passwd", "Items/..", "", "Items", "nothing.def"] {
            assert_eq!(archive.find(outside).unwrap(), None, "{outside}");
            let file = archive::File::new(outside, 0, 0);
            assert!(archive.stored(&file).is_err(), "{outside}");
        }
        let report = asset.reader().verify(&Default::default());
        assert!(report.is_ok(), "{report:?}");
        assert!(errors_of(&asset).is_empty());
    }
    let model = format!("{}:Models/Hull.mwm", dir.path().display());
    assert_eq!(open(Path::new(&model)).format(), assetq::formats::vrage::VRB);
}

#[test]
fn definitions_are_joined_from_all_that_tells_of_them() {
    let (dir, defs) = game();
    let rows = json(dir.path(), &["ls", ".", "-t", "definitions", "-f", "json"]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), defs.len());
    for (row, def) in rows.iter().zip(&defs) {
        assert_eq!(row["guid"], def.guid.to_string());
        assert_eq!(row["type"], def.ty);
        let file = Some(def.file.as_str()).filter(|file| !file.is_empty());
        let stem = file.and_then(|file| file.rsplit('/').next()?.strip_suffix(".def"));
        // The cache has the name of a file that is not there.
        let name = if def.guid == guid(91) { Some("LostItem") } else { stem };
        assert_eq!((row["name"].as_str(), row["file"].as_str()), (name, file), "{def:?}");
        assert_eq!(row["parent_guid"].as_str(), def.parent.map(|parent| parent.to_string()).as_deref());
        assert_eq!((&row["abstract"], &row["flags"]), (&Json::Null, &0.into()));
        assert_eq!(row["partial_kind"], if def.parent.is_some() { 2 } else { 0 });
    }
    assert_eq!(rows.iter().filter(|row| row["type"] == BLOCK).count(), 8);
    let drill = json(dir.path(), &["cat", ".", "Drill", "-f", "json"]);
    assert_eq!(drill, rows[3]);
    assert_eq!(json(dir.path(), &["cat", ".", drill["guid"].as_str().unwrap(), "-f", "json"]), drill);
    let file = json(dir.path(), &["cat", ".", "Blocks/Drill/Drill.def", "-f", "json"]);
    assert_eq!((&file["path"], &file["codec"]), (&"Blocks/Drill/Drill.def".into(), &"none".into()));
    run(dir.path(), 1, &["cat", ".", "Nothing"]);
    let assets =
        json(dir.path(), &["ls", ".", "-t", "assets", "-w", "path ~ \"*.dds\" or installed = false", "-f", "json"]);
    let assets: Vec<_> =
        assets.as_array().unwrap().iter().map(|a| (a["path"].as_str().unwrap(), &a["installed"])).collect();
    assert_eq!(assets, [("Items/Lost/LostItem.def", &false.into()), ("Textures/Armor_cm.dds", &true.into())]);
}

/// The count of each block, in one statement.
const BLOCKS: &str = "SELECT name, count(*) AS n FROM \"values\" JOIN definitions ON guid = replace(value, '{G}', '') \
                      WHERE definitions.type LIKE '%BlockDefinition' GROUP BY name ORDER BY n DESC";

#[test]
fn blocks_of_a_blueprint_are_counted_by_name_in_one_line() {
    let (dir, _) = game();
    let (out, err) = run(dir.path(), 0, &["sql", BLOCKS, "Blueprints/Miner/grid.json.vrb", ".", "-f", "csv"]);
    let expected =
        ["name,n", "Wheel,7", "Thruster,6", "Reactor,5", "Gyroscope,4", "Drill,3", "CargoContainer,2", "Battery,1"];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected, "{err}");
    // Definitions are found by their GUID, not sought among all.
    let (plan, _) =
        run(dir.path(), 0, &["sql", &format!("EXPLAIN QUERY PLAN {BLOCKS}"), "Blueprints/Miner/grid.json.vrb", "."]);
    let probes = plan.lines().filter(|line| line.contains("definitions") && line.contains("guid")).count();
    assert_eq!(probes, 1, "{plan}");
}

#[test]
fn what_cannot_be_read_does_not_hide_the_rest() {
    let (dir, defs) = game();
    let content = dir.path().join(CONTENT);
    fs::write(content.join("Blocks/Drill/Drill.def"), "{\"$Type\": \"x\"").unwrap();
    fs::write(content.join("Blocks/Wheel/Copy.def"), build::def(guid(7), BLOCK)).unwrap();
    fs::write(content.join("Items/New.DEF"), build::def(guid(77), ITEM)).unwrap();
    let asset = open(dir.path());
    let game = asset.get::<Se2Archive>().unwrap();
    let of = |n: u32| game.definitions().iter().find(|def| def.guid == guid(n)).unwrap();
    // The name is known from the cache; that the file holds the definition is not.
    assert_eq!((of(3).name.as_deref(), of(3).file.as_deref()), (Some("Drill"), None));
    assert_eq!((of(7).name.as_deref(), of(7).file.as_deref()), (Some("Copy"), Some("Blocks/Wheel/Copy.def")));
    assert_eq!((of(77).ty.as_deref(), of(77).name.as_deref()), (Some(ITEM), Some("New")));
    assert_eq!(game.definitions().len(), defs.len() + 1);
    // The definition in a damaged file may be missing, so that they cannot be counted.
    let error = asset.table("definitions").unwrap().len().unwrap_err().to_string();
    assert!(error.starts_with("Blocks/Drill/Drill.def: definition: EOF"), "{error}");
    assert!(asset.table("assets").unwrap().len().is_ok());
    let report = asset.reader().verify(&Default::default());
    let found: Vec<String> = report.checks[0].findings().iter().map(|error| error.to_string()).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].starts_with("Blocks/Wheel/Wheel.def: its GUID is that of an earlier file"), "{found:?}");
    let (_, err) = run(dir.path(), 3, &["ls", ".", "-t", "definitions"]);
    assert!(err.contains(": Blocks/Drill/Drill.def: definition: EOF"), "{err}");
}

#[test]
fn a_mod_is_read_from_its_root_with_the_sources_of_its_definitions() {
    let dir = TempDir::new().unwrap();
    build::mod_folder(writer(dir.path()));
    let rows = json(dir.path(), &["ls", ".", "-t", "definitions", "-f", "json"]);
    let cells: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (&row["type"], &row["file"], &row["parent_guid"])).collect();
    let (item, game) = (guid(300).to_string(), guid(0).to_string());
    assert_eq!(
        cells,
        [
            (&ITEM.into(), &"Content/Items/Sulfur.def".into(), &game.clone().into()),
            (&ITEM.into(), &"Assets/Items/Next.partialdef".into(), &item.clone().into()),
        ]
    );
    let archive = open(dir.path());
    assert!(archive.reader().verify(&Default::default()).is_ok(), "a source has the GUID of its definition");
    // A new definition, which no list has, is of the same type.
    let new = build::def(guid(77), ITEM);
    fs::write(dir.path().join("Content/Items/New.def"), new).unwrap();
    let (counts, _) =
        run(dir.path(), 0, &["sql", "SELECT type, count(*) AS n FROM definitions GROUP BY type", ".", "-f", "csv"]);
    assert_eq!(counts.lines().collect::<Vec<_>>(), ["type,n".to_owned(), format!("{ITEM},3")]);
}

#[test]
fn references_of_definitions_are_their_parents_and_the_guids_in_their_files() {
    let dir = TempDir::new().unwrap();
    build::mod_folder(writer(dir.path()));
    let item = guid(300).to_string();
    let refs = |args: &[&str], code| {
        let (out, _) = run(dir.path(), code, &[&["refs"], args, &["-f", "ndjson"]].concat());
        let rows = out.lines().map(|row| serde_json::from_str::<Json>(row).unwrap());
        let text = |row: &Json, name: &str| row[name].as_str().unwrap().to_owned();
        rows.map(|row| [text(&row, "direction"), text(&row, "column"), text(&row, "path")]).collect::<Vec<_>>()
    };
    let game = guid(0).to_string();
    let expected = [
        ["to", "parent_guid", &game],
        ["to", "Icon", "Items/Sulfur_Icon.png"],
        ["from", "parent_guid", "Assets/Items/Next.partialdef"],
    ];
    for asked in [&*item, &item.to_uppercase(), "Sulfur"] {
        assert_eq!(refs(&[asked, "."], 0), expected, "{asked}");
    }
    assert_eq!(refs(&["--dangling", "."], 1), [["to", "parent_guid", &game]]);
    // A GUID is the same in any case.
    let upper = item.to_uppercase();
    let query = format!("SELECT * FROM definitions WHERE guid = '{upper}'");
    let condition = format!("guid = '{upper}'");
    for args in [&["cat", ".", &upper][..], &["sql", &query, "."], &["ls", ".", "-t", "definitions", "-w", &condition]]
    {
        assert!(run(dir.path(), 0, &[args, &["-f", "json"]].concat()).0.contains("Sulfur.def"), "{args:?}");
    }
}

#[test]
fn a_real_mod_is_read_whole() {
    let Some(samples) = crate::common::samples().map(|samples| samples.join("se2_mod")).filter(|path| path.is_dir())
    else {
        return;
    };
    let (_, err) = run(&samples, 0, &["ls", ".", "-t", "definitions"]);
    assert_eq!(err.matches("could not be read").count(), 0, "{err}");
    let rows = json(&samples, &["ls", ".", "-t", "definitions", "-f", "json"]);
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().all(|row| !row["type"].as_str().unwrap().ends_with("ObjectBuilder")));
    assert_eq!(rows.iter().filter(|row| row["file"].as_str().is_some_and(|file| file.ends_with(".def"))).count(), 8);
    let (refs, _) = run(&samples, 0, &["refs", "D1A8677C-AF6B-4D23-AF5C-A170F2029A8E", ".", "-f", "csv"]);
    assert!(refs.contains("SulfurOre_Icon.png") && refs.contains("parent_guid"), "{refs}");
}

#[test]
fn damaged_lists_of_definitions_leave_the_files() {
    let (dir, defs) = game();
    let content = dir.path().join(CONTENT);
    let sets = fs::read(content.join("definitionsets.vrb")).unwrap();
    let with_file = defs.iter().filter(|def| !def.file.is_empty()).count();
    for end in (0..sets.len()).step_by(7) {
        fs::write(content.join("definitionsets.vrb"), &sets[..end]).unwrap();
        let asset = open(dir.path());
        let game = asset.get::<Se2Archive>().unwrap();
        assert!(game.definitions().len() >= with_file, "{end}");
        assert!(asset.table("definitions").unwrap().len().is_err(), "{end}");
        assert!(!asset.reader().verify(&Default::default()).is_ok(), "{end}");
    }
    fs::remove_file(content.join("contentcache.vrb")).unwrap();
    fs::write(content.join("definitionsets.vrb"), &sets).unwrap();
    let asset = open(dir.path());
    assert_eq!(asset.get::<Se2Archive>().unwrap().definitions().len(), defs.len());
    assert!(
        asset.table("definitions").unwrap().len().is_ok() && asset.get::<Se2Archive>().unwrap().assets().is_empty()
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_not_followed() {
    let (dir, _) = game();
    let content = dir.path().join(CONTENT);
    let before = open(dir.path()).reader().archive().unwrap().len().unwrap();
    std::os::unix::fs::symlink(&content, content.join("Items/again")).unwrap();
    std::os::unix::fs::symlink("nowhere", content.join("Items/dead.def")).unwrap();
    assert_eq!(open(dir.path()).reader().archive().unwrap().len().unwrap(), before);
}

#[test]
fn a_folder_without_definitions_is_no_game() {
    let dir = TempDir::new().unwrap();
    writer(dir.path())("definitionsets.vrb", build::definition_sets(&[]));
    let error = Asset::open_at(dir.path(), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownFolder), "a folder of archives: {error}");
    let error = Se2Archive::open(Source::of_folder(Path::new("/nowhere")), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "definitionsets.vrb is not installed");
}

#[test]
fn real_lists_are_read_by_the_same_words() {
    let Some(samples) = crate::common::samples() else { return };
    let dir = TempDir::new().unwrap();
    let read = |name: &str| fs::read(samples.join("vrb").join(name)).unwrap();
    let mut write = writer(dir.path());
    write("definitionsets.vrb", read("definitionsets.vrb"));
    write("contentcache.vrb", read("contentcache_small.vrb"));
    write("Items/x.def", build::def(guid(1), ITEM).into_bytes());
    let asset = open(dir.path());
    let game = asset.get::<Se2Archive>().unwrap();
    assert!(asset.table("definitions").unwrap().len().is_ok());
    let of = |text: &str| game.definitions().iter().find(|def| def.guid.to_string() == text).unwrap();
    let item = of("d1a8677c-af6b-4d23-af5c-a170f2029a8e");
    assert_eq!(item.ty.as_deref(), Some(ITEM));
    assert_eq!((item.name.as_deref(), item.file.as_deref()), (Some("SulfurOre_Item"), None));
    assert_eq!(item.parent.unwrap().to_string(), "cb651320-76fb-413d-bdde-c46f35b7180d");
    assert_eq!((item.flags, item.partial_kind, item.is_abstract), (Some(0), Some(2), None));
    let parent = of("cb651320-76fb-413d-bdde-c46f35b7180d");
    assert_eq!((parent.name.as_deref(), parent.parent), (None, None));
    assert!(game.assets().iter().any(|asset| asset.path == "Items/Ores/SulfurOre/SulfurOre_Icon.png"));
}
