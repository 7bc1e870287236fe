//! Inserted and deleted rows of lists, by SQL, by a spreadsheet, and by the difference of two files.

use super::command::{read, run};
use assetq_sample::Size;
use assetq_sample::bwdb::demo;
use assetq_sample::space::{models_bin, space_bin};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("models.bin"), models_bin(7, Size::Small)).unwrap();
    fs::write(dir.path().join("assets.bin"), demo(7, Size::Small)).unwrap();
    fs::write(dir.path().join("space.bin"), space_bin(7, Size::Small)).unwrap();
    dir
}

fn csv(dir: &Path, query: &str, file: &str) -> String {
    run(dir, 0, &["sql", query, file, "-f", "csv"]).0.replace('\r', "").lines().skip(1).collect::<Vec<_>>().join(" ")
}

const EXTENTS: &str = "SELECT extent FROM lods WHERE model = 2 ORDER BY \"index\"";

#[test]
fn levels_of_detail_come_and_go_in_sql() {
    let dir = folder();
    let dir = dir.path();
    let query = "INSERT INTO lods(model, extent, casts_shadow, render_sets) VALUES (2, 4000, 0, '[]');
                 INSERT INTO lods(id, \"index\", extent, casts_shadow, render_sets)
                 SELECT id, 0, 25, casts_shadow, render_sets FROM lods WHERE model = 2 AND extent = 1000;
                 DELETE FROM lods WHERE model = 3";
    make_folders(dir, &["again", "back", "new", "other"]);
    run(dir, 0, &["sql", query, "models.bin", "--to", "new/models.bin", "--undo", "undo.ndjson"]);
    assert_eq!(csv(dir, EXTENTS, "new/models.bin"), "25 1000 4000");
    assert_eq!(csv(dir, "SELECT lod_count FROM models", "new/models.bin"), "1 1 3 0 1 1");
    assert!(run(dir, 0, &["verify", "new/models.bin"]).0.contains("models ok"));
    let (patch, _) = run(dir, 1, &["diff", "models.bin", "new/models.bin", "-f", "patch"]);
    fs::write(dir.join("patch.ndjson"), patch).unwrap();
    run(dir, 0, &["patch", "models.bin", "patch.ndjson", "--to", "again/models.bin", "--strict"]);
    run(dir, 0, &["diff", "new/models.bin", "again/models.bin"]);
    run(dir, 0, &["patch", "new/models.bin", "undo.ndjson", "--to", "back.bin"]);
    assert!(fs::read(dir.join("back.bin")).unwrap() == fs::read(dir.join("models.bin")).unwrap());
    // Of a file that changed since, its rows are undone.
    let other = "UPDATE models SET misc_type = 1 WHERE \"index\" = 0";
    run(dir, 0, &["sql", other, "new/models.bin", "--to", "other/models.bin"]);
    run(dir, 0, &["patch", "other/models.bin", "undo.ndjson", "--to", "back/models.bin", "--strict"]);
    assert_eq!(csv(dir, EXTENTS, "back/models.bin"), "1000");
    assert_eq!(csv(dir, "SELECT lod_count FROM models", "back/models.bin"), "1 1 1 1 1 1");
}

#[test]
fn what_a_row_that_comes_lacks_is_named_and_nothing_is_written() {
    let dir = folder();
    for (values, what) in [
        ("(extent) VALUES (5)", "lods: an inserted row names its list: model, id"),
        ("(model, extent) VALUES (2, 5)", "these are missing: casts_shadow, render_sets"),
        ("(model, extent) VALUES (77, 5)", "lods: column model: 77 has no such list"),
        ("(model, id) SELECT 2, id FROM models LIMIT 1", "has another list than the columns before it say"),
        (
            "(model, \"index\", extent, casts_shadow, render_sets) VALUES (2, 5, 5, 1, '[]')",
            "index 5: the list has 2 items then",
        ),
        (
            "(model, \"index\") VALUES (2, 'x')",
            "lods: column index: \"x\" does not fit: a whole number that is not negative",
        ),
        ("(model, render_set_count) VALUES (2, 3)", "column render_set_count: 3 does not fit: it takes nothing"),
    ] {
        let query = format!("INSERT INTO lods{values}");
        let (_, said) = run(dir.path(), 2, &["sql", &query, "models.bin", "--to", "new.bin"]);
        assert!(said.contains(what) && !dir.path().join("new.bin").exists(), "{query}: {said}");
    }
    let systems = "INSERT INTO effect_systems SELECT * FROM effect_systems LIMIT 1";
    run(dir.path(), 2, &["sql", systems, "assets.bin", "--to", "new.bin"]);
}

#[test]
fn rows_come_and_go_in_a_spreadsheet() {
    let dir = folder();
    run(dir.path(), 0, &["export", "models.bin", "-t", "lods", "--to", "lods.csv"]);
    let sheet = String::from_utf8(read(&dir, "lods.csv")).unwrap();
    let mut lines: Vec<&str> = sheet.lines().collect();
    let third = lines.remove(3);
    let index = lines[0].split(',').position(|name| name == "index").unwrap();
    let more: Vec<&str> = third.split(',').enumerate().map(|(at, cell)| if at == index { "1" } else { cell }).collect();
    let (more, less) = (format!("{sheet}{}\r\n", more.join(",")), lines.join("\r\n"));
    fs::write(dir.path().join("more.csv"), more).unwrap();
    fs::write(dir.path().join("less.csv"), less).unwrap();
    let dir = dir.path();
    make_folders(dir, &["less", "more", "none"]);
    let (_, said) = run(dir, 1, &["patch", "models.bin", "more.csv", "-t", "lods", "--to", "none/models.bin"]);
    assert!(said.contains("--insert adds rows"), "{said}");
    run(dir, 0, &["patch", "models.bin", "more.csv", "-t", "lods", "--insert", "--to", "more/models.bin"]);
    assert_eq!(csv(dir, EXTENTS, "more/models.bin"), "1000 1000");
    run(dir, 0, &["patch", "models.bin", "less.csv", "-t", "lods", "--delete-missing", "--to", "less/models.bin"]);
    assert_eq!(csv(dir, EXTENTS, "less/models.bin"), "");
    assert!(run(dir, 0, &["verify", "less/models.bin"]).0.contains("models ok"));
}

/// A property of a material, in a database whose other records keep their bytes.
#[test]
fn a_property_of_a_material_comes_by_its_path() {
    let dir = folder();
    let dir = dir.path();
    let path = csv(dir, "SELECT path FROM materials WHERE record = 1", "assets.bin");
    let before = csv(dir, "SELECT count(*) FROM material_properties", "assets.bin");
    let query = format!(
        "INSERT INTO material_properties(path, \"index\", name, type, value) VALUES ('{path}', 0, 'of_mine', 'texture', 'content/mine.dds');
         INSERT INTO material_properties(record, name, type, value) VALUES (1, 'more', 'vec2', '[1, 0.5]')"
    );
    run(dir, 0, &["sql", &query, "assets.bin", "--to", "new.bin", "--undo", "undo.ndjson"]);
    let after = csv(dir, "SELECT count(*) FROM material_properties", "new.bin");
    assert_eq!(after.parse::<usize>().unwrap(), before.parse::<usize>().unwrap() + 2);
    let ids = "SELECT texture_id FROM material_properties WHERE record = 1 AND \"index\" = 0";
    let id = assetq::table::Value::Id64(assetq::formats::id::of_path("content/mine.dds")).to_string();
    assert_eq!(csv(dir, ids, "new.bin"), id);
    assert!(run(dir, 0, &["verify", "new.bin"]).0.contains("bwdb ok"));
    run(dir, 0, &["patch", "new.bin", "undo.ndjson", "--in-place"]);
    assert!(fs::read(dir.join("new.bin")).unwrap() == fs::read(dir.join("assets.bin")).unwrap());
}

/// A model, what it has, and an instance of it, each copied from another one.
#[test]
fn a_model_and_its_instances_come_in_sql() {
    let dir = folder();
    let dir = dir.path();
    let query =
        "INSERT INTO models(path, skeleton_index, first_geometry, geometry_count, visual_id, misc_type, geometry_id,
                                    underwater, abovewater, min, max)
                 SELECT 'content/mine.model', skeleton_index, first_geometry, geometry_count, visual_id, misc_type,
                        geometry_id, underwater, abovewater, min, max FROM models WHERE \"index\" = 1";
    make_folders(dir, &["again", "one", "two"]);
    run(dir, 0, &["sql", query, "models.bin", "--to", "one/models.bin", "--undo", "one.ndjson"]);
    assert_eq!(csv(dir, "SELECT count(*), sum(lod_count) FROM models", "one/models.bin"), "7,6");
    let query = "INSERT INTO lods(model, extent, casts_shadow, render_sets)
                 SELECT 6, extent, casts_shadow, render_sets FROM lods WHERE model = 1";
    run(dir, 0, &["sql", query, "one/models.bin", "--to", "two/models.bin"]);
    assert_eq!(csv(dir, "SELECT count(*), sum(lod_count) FROM models", "two/models.bin"), "7,7");
    // As a patch, both in one step.
    let (patch, _) = run(dir, 1, &["diff", "models.bin", "two/models.bin", "-f", "patch"]);
    fs::write(dir.join("patch.ndjson"), patch).unwrap();
    run(dir, 0, &["patch", "models.bin", "patch.ndjson", "--to", "again/models.bin", "--strict"]);
    run(dir, 0, &["diff", "two/models.bin", "again/models.bin"]);
    let query = "INSERT INTO instances(path, name, transform, flags)
                 SELECT 'content/mine.model', 'MINE', transform, flags FROM instances WHERE \"index\" = 0;
                 UPDATE instances SET x = 12.5 WHERE name = 'MINE'";
    run(dir, 0, &["sql", query, "space.bin", "--to", "one/space.bin", "--undo", "undo.ndjson"]);
    let last = "SELECT x, json_extract(transform, '$[12]'), name FROM instances ORDER BY \"index\" DESC LIMIT 1";
    assert_eq!(csv(dir, last, "one/space.bin"), "12.5,12.5,MINE");
    assert!(run(dir, 0, &["verify", "one/space.bin"]).0.contains("space ok"));
    run(dir, 0, &["patch", "one/space.bin", "undo.ndjson", "--to", "back.bin"]);
    assert!(fs::read(dir.join("back.bin")).unwrap() == fs::read(dir.join("space.bin")).unwrap());
    let (_, said) = run(
        dir,
        2,
        &["sql", "DELETE FROM instances WHERE name = 'MINE' OR \"index\" = 3", "one/space.bin", "--to", "x.bin"],
    );
    assert!(said.contains("row 3 cannot be deleted") && said.contains("only the last rows can be deleted"), "{said}");
    run(dir, 0, &["sql", "DELETE FROM instances WHERE name = 'MINE'", "one/space.bin", "--to", "two/space.bin"]);
    run(dir, 0, &["diff", "space.bin", "two/space.bin"]);
}

/// An empty cell of a spreadsheet is no name: an instance of a model that had none yet.
#[test]
fn an_instance_without_a_name_comes_from_a_spreadsheet() {
    let dir = folder();
    run(dir.path(), 0, &["export", "space.bin", "-t", "instances", "--to", "all.csv"]);
    let sheet = String::from_utf8(read(&dir, "all.csv")).unwrap();
    let names: Vec<&str> = sheet.lines().next().unwrap().split(',').collect();
    let row = sheet.lines().nth(2).unwrap();
    let (id, name) = (names.iter().position(|n| *n == "id").unwrap(), names.iter().position(|n| *n == "name").unwrap());
    let cells: Vec<&str> = row.split(',').collect();
    assert_eq!(cells[name], "");
    let more = sheet.clone() + &row.replace(cells[id], "0x0000000000000007") + "\r\n";
    fs::write(dir.path().join("all.csv"), more).unwrap();
    run(dir.path(), 0, &["patch", "space.bin", "all.csv", "-t", "instances", "--insert", "--to", "new.bin"]);
    let last = "SELECT id, name IS NULL FROM instances ORDER BY \"index\" DESC LIMIT 1";
    assert_eq!(csv(dir.path(), last, "new.bin"), "0x0000000000000007,1");
}

fn make_folders(dir: &Path, names: &[&str]) {
    names.iter().for_each(|name| fs::create_dir_all(dir.join(name)).unwrap());
}
