//! Exported rows whose keys repeat, and entries as `cat` shows them.

use super::command::{read, run, run_with};
use crate::common::sample_folder;
use assetq_sample::geometry::splash;
use std::fs;
use tempfile::TempDir;

/// A space in which three instances of one model have no name.
fn space() -> TempDir {
    let dir = sample_folder();
    let query = "UPDATE instances SET id = '0x00000000000000AA', name = NULL WHERE rowid IN (2, 5, 9)";
    run(dir.path(), 0, &["sql", query, "space.bin", "--in-place"]);
    dir
}

/// The exported instances, a line each.
fn instances(dir: &TempDir) -> Vec<String> {
    let (rows, _) = run(dir.path(), 0, &["ls", "space.bin", "--long", "-f", "ndjson"]);
    rows.lines().map(str::to_owned).collect()
}

fn patched(dir: &TempDir, code: i32, rows: &[String], more: &[&str]) -> (String, String) {
    let args = [&["patch", "space.bin", "-", "--to", "new.bin", "--force", "-f", "ndjson"], more].concat();
    run_with(dir.path(), code, &args, &rows.join("\n"))
}

#[test]
fn rows_that_are_left_out_or_sorted_move_no_other_row() {
    let dir = space();
    let all = instances(&dir);
    let mut without = all.clone();
    without.remove(2);
    let reversed = all.iter().rev().cloned().collect::<Vec<_>>();
    for rows in [without, reversed, vec![all[9].clone(), all[2].clone()]] {
        let (changes, _) = patched(&dir, 0, &rows, &[]);
        assert_eq!(changes, "");
        assert_eq!(read(&dir, "new.bin"), read(&dir, "space.bin"));
    }
    // Without their numbers, equal rows are found by their cells.
    let (rows, _) =
        run(dir.path(), 0, &["ls", "space.bin", "-c", "id,name,transform,flags", "-f", "ndjson", "--sort", "flags"]);
    let rows: Vec<String> = rows.lines().rev().map(str::to_owned).collect();
    let (changes, _) = patched(&dir, 0, &rows, &[]);
    assert_eq!((changes.as_str(), read(&dir, "new.bin")), ("", read(&dir, "space.bin")));
}

/// The triangles of a plate have one key and one position. Only cells that cannot be written tell them apart.
#[test]
fn rows_that_differ_in_derived_cells_are_sorted_and_left_out() {
    let dir = crate::world::world();
    let lines = |format: &str| {
        let (rows, _) = run(dir.path(), 0, &["ls", "turret.geometry", "-t", "armor_triangles", "-l", "-f", format]);
        rows.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let patched = |code: i32, rows: &str| {
        let args = ["patch", "turret.geometry", "-", "-t", "armor_triangles", "--to", "new.geometry", "--force"];
        run_with(dir.path(), code, &args, rows).1
    };
    let (objects, csv) = (lines("ndjson"), lines("csv"));
    let (head, csv) = csv.split_first().unwrap();
    assert_eq!((objects.len(), csv.len()), (46, 46));
    let reversed = |rows: &[String]| rows.iter().rev().cloned().collect::<Vec<_>>();
    let last = |rows: &[String]| rows[rows.len() - 3..].to_vec();
    for (objects, csv) in [(reversed(&objects), reversed(csv)), (last(&objects), last(csv))] {
        let json = format!("[{}]", objects.join(","));
        for rows in [objects.join("\n"), json, format!("{head}\n{}", csv.join("\n"))] {
            let said = patched(0, &rows);
            assert!(said.contains(&format!("0 edits, {} that the file has already", csv.len())), "{said}");
        }
    }
    // A cell that no row has is still refused.
    let said = patched(2, &objects[45].replace("\"x0\":", "\"x0\":9"));
    assert!(said.contains("column x0: 9") && said.contains("does not fit"), "{said}");
}

#[test]
fn an_edited_row_alone_is_the_one_at_its_index() {
    let dir = space();
    let edited = instances(&dir)[5].replace("\"flags\":", "\"flags\":1");
    let (changes, _) = patched(&dir, 0, std::slice::from_ref(&edited), &[]);
    assert!(changes.lines().count() == 1, "{changes}");
    let flags = "SELECT flags FROM instances WHERE rowid IN (2, 5, 9)";
    let flags = ["space.bin", "new.bin"].map(|file| run(dir.path(), 0, &["sql", flags, file, "-f", "csv"]).0);
    let flags = flags.each_ref().map(|flags| flags.lines().skip(1).collect::<Vec<_>>());
    assert!(flags[0][0] == flags[1][0] && flags[0][2] == flags[1][2], "{flags:?}");
    assert_eq!(flags[1][1], format!("1{}", flags[0][1]));
    // Without the index it could be any of the three.
    let at = edited.find("\"id\"").unwrap();
    let (_, said) = patched(&dir, 2, &[format!("{{{}", &edited[at..])], &[]);
    assert!(
        said.contains("3 rows have this key, and none of them equals this row: column index states which"),
        "{said}"
    );
}

#[test]
fn rows_that_are_missing_are_deleted_and_no_other_is_changed() {
    let dir = space();
    let mut rows = instances(&dir);
    rows.remove(23);
    rows.reverse();
    let (changes, _) = patched(&dir, 0, &rows, &["--delete-missing"]);
    assert!(changes.lines().count() == 1 && changes.contains("\"removed\""), "{changes}");
}

#[test]
fn boxes_of_one_name_are_told_apart_by_their_corners() {
    let dir = TempDir::new().unwrap();
    let boxes = [("bow", [0.0; 3], [1.0; 3]), ("bow", [2.0; 3], [3.0; 3]), ("stern", [4.0; 3], [5.0; 3])];
    fs::write(dir.path().join("a.splash"), splash(&boxes)).unwrap();
    let patch = |code, rows: &str| {
        let head = "name,min_x,min_y,min_z,max_x,max_y,max_z\n";
        run_with(dir.path(), code, &["patch", "a.splash", "-", "--to", "b.splash", "--force"], &format!("{head}{rows}"))
    };
    patch(0, "bow,2,2,2,3,3,3\nbow,0,0,0,1,1,1\n");
    assert_eq!(read(&dir, "b.splash"), read(&dir, "a.splash"));
    let (_, said) = patch(2, "bow,2,2,2,3,3,9\n");
    assert!(said.contains("boxes \"bow\": 2 rows have this key, and none of them equals this row"), "{said}");
    // More rows than there are in the file.
    let (_, said) = patch(1, "bow,2,2,2,3,3,3\nbow,0,0,0,1,1,1\nbow,6,6,6,7,7,7\n");
    assert!(said.contains("not found; --insert adds rows"), "{said}");
}

#[test]
fn rows_without_keys_are_known_by_their_index() {
    let dir = sample_folder();
    let (rows, _) = run(dir.path(), 0, &["ls", "space.bin", "--long", "-t", "point_lights", "-f", "ndjson"]);
    let rows: Vec<String> = rows.lines().rev().map(str::to_owned).collect();
    for rows in [&rows[..], &rows[..1]] {
        patched(&dir, 0, rows, &["-t", "point_lights"]);
        assert_eq!(read(&dir, "new.bin"), read(&dir, "space.bin"));
    }
    let edited = rows[0].replace("\"min_quality\":", "\"min_quality\":1");
    let (changes, _) = patched(&dir, 0, &[edited], &["-t", "point_lights"]);
    assert!(changes.lines().count() == 1 && changes.contains("\"key\":1"), "{changes}");
}

#[test]
fn an_entry_that_is_not_edited_gives_the_same_bytes() {
    let dir = sample_folder();
    let geometry =
        run(dir.path(), 0, &["ls", "ship.geometry", "-t", "vertex_mappings", "-c", "mapping_id", "-f", "csv"]).0;
    let mapping = geometry.lines().nth(1).unwrap().to_owned();
    // A path that has no record.
    let query = "SELECT id FROM paths WHERE id NOT IN (SELECT id FROM resources) LIMIT 1";
    let without_record =
        run(dir.path(), 0, &["sql", query, "assets.bin", "-f", "csv"]).0.lines().nth(1).unwrap().to_owned();
    for (file, entry) in [
        ("assets.bin", without_record.as_str()),
        ("models.bin", "0"),
        ("models.bin", "2"),
        ("space.bin", "3"),
        ("ship.geometry", "0"),
        ("ship.geometry", "armor_plates/0"),
        ("ship.geometry", &mapping),
        ("turret.mfm", "diffuseMap"),
        ("turret.visual", "0"),
        ("pack.bin", "btscene"),
        ("sheet.wdb", "r0000005"),
        ("ship.splash", "CM_SB_bow_0"),
        ("town.wdata", "portal_000"),
    ] {
        let (shown, _) = run(dir.path(), 0, &["cat", file, entry, "-f", "json"]);
        let args = ["patch", file, "-", "--entry", entry, "--to", "new.bin", "--force", "-q"];
        run_with(dir.path(), 0, &args, &shown);
        assert_eq!(read(&dir, "new.bin"), read(&dir, file), "{file} {entry}");
    }
}

#[test]
fn an_edited_entry_changes_what_differs() {
    let dir = sample_folder();
    for (file, entry, old, new, shown) in [
        ("models.bin", "2", "\"extent\": 1000.0", "\"extent\": 90.0", "extent: 1000 -> 90"),
        ("models.bin", "0", "\"misc_type\": 4", "\"misc_type\": 3", "misc_type: 4 -> 3"),
        ("space.bin", "0", "\"flags\": 67108865", "\"flags\": 5", "flags: 67108865 -> 5"),
        ("ship.geometry", "armor_plates/0", "\"layer\": 1", "\"layer\": 2", "layer"),
        ("pack.bin", "btscene", "\"u7Race\": 121", "\"u7Race\": 3", "u7Race: 121 -> 3"),
    ] {
        let text = run(dir.path(), 0, &["cat", file, entry, "-f", "json"]).0;
        assert!(text.contains(old), "{file} {entry}: {text}");
        let args = ["patch", file, "-", "--entry", entry, "--dry-run"];
        let (changes, _) = run_with(dir.path(), 0, &args, &text.replacen(old, new, 1));
        assert!(changes.contains(shown), "{file} {entry}: {changes}");
    }
    // A position that the matrix of the same entry contradicts.
    let text = run(dir.path(), 0, &["cat", "space.bin", "0", "-f", "json"]).0;
    let args = ["patch", "space.bin", "-", "--entry", "0", "--dry-run"];
    let (_, said) = run_with(dir.path(), 2, &args, &text.replacen("    314.0,", "    315.0,", 1));
    assert!(said.contains("column x: 314 does not fit: by another cell of the entry it is 315"), "{said}");
    // The form of another entry.
    let other = run(dir.path(), 0, &["cat", "space.bin", "1", "-f", "json"]).0;
    let args = ["patch", "space.bin", "-", "--entry", "0", "--dry-run"];
    let (_, said) = run_with(dir.path(), 2, &args, &other);
    assert!(said.contains("index is 0, so that 1 is of another row"), "{said}");
}

#[test]
fn the_count_of_a_list_follows_the_list() {
    let dir = sample_folder();
    let query = "UPDATE point_lights SET color_curve = json_insert(color_curve, '$.ramp.keys[#]', \
                 json('{\"time\": 0.75, \"color\": [1, 1, 1, 1]}')) WHERE rowid = 0";
    run(dir.path(), 0, &["sql", query, "space.bin", "--to", "more.bin"]);
    let count = "SELECT json_extract(color_curve, '$.ramp.count') AS n FROM point_lights LIMIT 1";
    assert_eq!(run(dir.path(), 0, &["sql", count, "more.bin", "-f", "csv"]).0.trim_end(), "n\r\n3");
    let query = "UPDATE atlas_contours SET frames = json_remove(frames, '$[0].points[0]') WHERE rowid = 0";
    run(dir.path(), 0, &["sql", query, "assets.bin", "--to", "less.bin"]);
    // A count that the list does not have is refused.
    let query = "UPDATE point_lights SET color_curve = json_set(color_curve, '$.ramp.count', 7) WHERE rowid = 0";
    let (_, said) = run(dir.path(), 2, &["sql", query, "space.bin", "--to", "no.bin"]);
    assert!(said.contains("count"), "{said}");
}

#[test]
fn an_empty_name_is_no_name() {
    let dir = sample_folder();
    for (file, query, shown) in [
        (
            "space.bin",
            "UPDATE instances SET name = '' WHERE rowid = 0",
            "SELECT name IS NULL AS n FROM instances LIMIT 1",
        ),
        ("town.wdata", "UPDATE paths SET value = ''", "SELECT min(value IS NULL) AS n FROM paths"),
    ] {
        run(dir.path(), 0, &["sql", query, file, "--to", "new.bin", "--force"]);
        assert_eq!(run(dir.path(), 0, &["sql", shown, "new.bin", "-f", "csv"]).0.trim_end(), "n\r\n1", "{file}");
    }
}

#[test]
fn a_file_without_rows_is_known_by_its_bytes() {
    let dir = sample_folder();
    for (file, table) in [("space.bin", "instances"), ("models.bin", "models")] {
        run(dir.path(), 0, &["sql", &format!("DELETE FROM {table}"), file, "--to", "other.name", "--force"]);
        run(dir.path(), 0, &["verify", "other.name"]);
        let (shown, _) = run(dir.path(), 0, &["info", "other.name"]);
        assert!(shown.contains(&format!("{table}  ")), "{shown}");
    }
}

#[test]
fn an_undo_of_another_file_is_left_out() {
    let dir = sample_folder();
    let args = ["set", "savegame.vrb", "Bounds.Max.Y", "7.5", "--to", "new.vrb", "--undo", "undo.ndjson"];
    run(dir.path(), 0, &args);
    let undo = String::from_utf8(read(&dir, "undo.ndjson")).unwrap();
    let restored = undo.lines().next().unwrap();
    run(dir.path(), 0, &["set", "savegame.vrb", "Bounds.Max.Y", "8.5", "--to", "other.vrb"]);
    let (_, said) = run_with(dir.path(), 1, &["patch", "other.vrb", "-", "--to", "back.vrb"], restored);
    assert!(said.contains("undo patch are for another file") && !dir.path().join("back.vrb").exists(), "{said}");
    run_with(dir.path(), 0, &["patch", "new.vrb", "-", "--to", "back.vrb"], restored);
    assert_eq!(read(&dir, "back.vrb"), read(&dir, "savegame.vrb"));
}

#[test]
fn a_script_that_got_another_path_is_a_row_of_a_patch() {
    let dir = sample_folder();
    for query in
        ["UPDATE scripts SET path = 'x.lua' WHERE kind = 'main_script'", "UPDATE scripts SET path = 'scripts/'"]
    {
        run(dir.path(), 0, &["sql", query, "town.wdata", "--to", "new.wdata", "--force"]);
        let (patch, _) = run(dir.path(), 1, &["diff", "town.wdata", "new.wdata", "-f", "patch"]);
        run_with(dir.path(), 0, &["patch", "town.wdata", "-", "--to", "back.wdata", "--force"], &patch);
        assert_eq!(read(&dir, "back.wdata"), read(&dir, "new.wdata"), "{patch}");
    }
}

#[test]
fn a_file_that_is_read_only_is_replaced_by_force_only() {
    let dir = sample_folder();
    let file = dir.path().join("sheet.wdb");
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    let before = read(&dir, "sheet.wdb");
    let args = ["set", "sheet.wdb", "r0000005.u7Race", "3", "--in-place"];
    let (_, said) = run(dir.path(), 4, &args);
    assert!(said.contains("sheet.wdb: it is read-only; --force replaces it"), "{said}");
    assert_eq!(read(&dir, "sheet.wdb"), before);
    if cfg!(unix) {
        run(dir.path(), 0, &[&args[..], &["--force"]].concat());
        assert!(read(&dir, "sheet.wdb") != before && fs::metadata(&file).unwrap().permissions().readonly());
    }
}

#[test]
fn a_row_that_damage_hides_is_an_error_of_the_file() {
    let dir = sample_folder();
    let mut bytes = read(&dir, "savegame.vrb");
    // Inside of the compressed main chunk.
    bytes[300..320].fill(0xFF);
    fs::write(dir.path().join("bad.vrb"), bytes).unwrap();
    let row = "{\"change\":\"changed\",\"key\":{\"path\":\"Bounds.Max.Y\",\"chunk\":\"[Main]\"},\"new\":{\"value\":7}}";
    let args = ["patch", "bad.vrb", "-", "--table", "values", "--to", "new.vrb"];
    let (_, said) = run_with(dir.path(), 3, &args, row);
    assert!(said.contains("bad.vrb: chunk [Main]") && !dir.path().join("new.vrb").exists(), "{said}");
}

#[test]
fn rows_whose_key_is_missing_or_there_twice_are_named_by_their_line() {
    let dir = crate::common::sample_folder();
    for (rows, what) in [
        ("u7Race\n5\n", "rows.csv: line 2: records: rows are known by column record, which is not there"),
        ("record,u7Race\nr0000005,5\nr0000005,6\n", "rows.csv: line 3: records \"r0000005\": there are two rows of it"),
    ] {
        std::fs::write(dir.path().join("rows.csv"), rows).unwrap();
        let (_, err) = crate::common::run(dir.path(), 2, &["patch", "sheet.wdb", "rows.csv", "--to", "new.wdb"]);
        assert!(err.contains(what), "{err}");
        assert!(!dir.path().join("new.wdb").exists());
    }
}

/// The text of an id is a cell like any other. Null requests nothing, because the text of an id may be unknown.
#[test]
fn a_text_of_an_id_that_does_not_fit_is_refused() {
    let dir = TempDir::new().unwrap();
    run(dir.path(), 0, &["sample", "."]);
    for (file, table, column) in [
        ("assets.bin", "visuals", "geometry_path"),
        ("models.bin", "skeleton_nodes", "name"),
        ("models.bin", "render_sets", "material_name"),
        ("space.bin", "instances", "path"),
    ] {
        let patch = |code: i32, rows: &str| {
            run_with(dir.path(), code, &["patch", file, "-", "-t", table, "--to", "new.bin", "--force"], rows).1
        };
        for format in ["ndjson", "csv"] {
            patch(0, &run(dir.path(), 0, &["ls", file, "-t", table, "--long", "-f", format]).0);
            assert!(read(&dir, "new.bin") == read(&dir, file), "{file} {table} {format}");
        }
        let (row, _) = run(dir.path(), 0, &["ls", file, "-t", table, "--long", "-n", "1", "-f", "ndjson"]);
        let is_path = column.ends_with("path");
        for value in ["123", "true", "[]", "0.5", "\"\""].into_iter().take(if is_path { 5 } else { 4 }) {
            let mut row: serde_json::Value = serde_json::from_str(&row).unwrap();
            row[column] = serde_json::from_str(value).unwrap();
            let said = patch(2, &row.to_string());
            let what = format!("column {column}: {value} does not fit: a {}", if is_path { "path" } else { "name" });
            assert!(said.contains(&what), "{file} {table} {value}: {said}");
            row[column] = serde_json::Value::Null;
            patch(0, &row.to_string());
            assert!(read(&dir, "new.bin") == read(&dir, file), "{file} {table}");
        }
    }
}
