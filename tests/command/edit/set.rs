//! `assetq set`: one value of a file, named by its path.

use super::command::{read, run};
use crate::common::sample_folder;
use assetq_sample::wdb::{Cell, Game, Sheet};
use std::fs;
use tempfile::TempDir;

/// The output of a dry run.
fn tried(dir: &TempDir, line: &str) -> String {
    let args: Vec<&str> = line.split(' ').collect();
    run(dir.path(), 0, &[&["set"], &args[..], &["--dry-run"]].concat()).0
}

/// The message of a run that is refused.
fn refused(dir: &TempDir, code: i32, line: &str) -> String {
    let args: Vec<&str> = line.split(' ').collect();
    run(dir.path(), code, &[&["set"], &args[..], &["--to", "no.bin"]].concat()).1
}

#[test]
fn a_value_of_a_save_is_changed_and_undone() {
    let dir = sample_folder();
    let (shown, said) =
        run(dir.path(), 0, &["set", "savegame.vrb", "Bounds.Max.Y", "7.5", "--to", "new.vrb", "--undo", "undo.ndjson"]);
    assert!(shown.ends_with("~ values {path: Bounds.Max.Y, chunk: [Main]}\n    value: 2.5 -> 7.5\n"), "{shown}");
    assert!(said.contains("1 edit"), "{said}");
    assert_eq!(run(dir.path(), 0, &["cat", "new.vrb", "Bounds.Max.Y"]).0, "7.5\n");
    run(dir.path(), 0, &["patch", "new.vrb", "undo.ndjson", "--in-place"]);
    assert_eq!(read(&dir, "new.vrb"), read(&dir, "savegame.vrb"));
}

#[test]
fn an_entry_of_any_format_has_values_with_paths() {
    let dir = sample_folder();
    for (line, shown) in [
        ("sheet.wdb r0000005.u7Race 3", "~ records r0000005\n    u7Race: 63 -> 3\n"),
        ("savegame.vrb [Main].Entities[3].Mass -7", "    value: 64845 -> -7\n"),
        ("savegame.vrb Tile.Label 12", "    value: tile \"seven\" -> 12\n"),
        ("town.wdata portal_000.pos_x 1500", "    pos_x: 1482.0459 -> 1500\n"),
        ("models.bin 2.lods[0].extent 90", "    extent: 1000 -> 90\n"),
        ("space.bin 0.transform[12] 315", "    x: 314 -> 315\n"),
        ("pack.bin:bt_chainbonus.wdb chain_a.u16Bonus 7", "    u16Bonus: 150 -> 7\n"),
    ] {
        let found = tried(&dir, line);
        assert!(found.ends_with(shown), "{line}\n{found}");
    }
    // A record of a database, by its path or the last part of it.
    let (listed, _) =
        run(dir.path(), 0, &["ls", "assets.bin", "-t", "visuals", "-c", "path", "-n", "1", "-f", "ndjson"]);
    let path = listed.split('"').nth(3).unwrap();
    for name in [path, path.rsplit('/').next().unwrap()] {
        let found = tried(&dir, &format!("assets.bin {name}.lods[0].extent 90"));
        assert!(found.contains("extent: ") && found.contains(" -> 90\n"), "{found}");
        let found = tried(&dir, &format!("assets.bin {name}.geometry content/new.geometry"));
        assert!(found.contains("geometry_id: ") || found.contains("geometry: "), "{found}");
    }
    let (listed, _) = run(dir.path(), 0, &["ls", "models.bin", "-c", "id", "-n", "1", "-f", "ndjson"]);
    let id = listed.split('"').nth(3).unwrap();
    let found = tried(&dir, &format!("models.bin {id}.misc_type 3 --table models"));
    assert!(found.contains("misc_type: 4 -> 3"), "{found}");
    // An item of a list, by each name of the row that has the list.
    for row in [id, "0"] {
        let found = tried(&dir, &format!("models.bin {row}.lods[0].extent 90 --table models"));
        assert!(found.ends_with("extent: 1000 -> 90\n"), "{found}");
    }
    for (path, what) in [
        ("lods[7].extent", "with item [7]"),
        ("lods[0]", "is a whole row: name one of its values, as in ENTRY.NAME: extent, casts_shadow"),
        ("nope", "models: no column \"nope\"; there are index, id"),
    ] {
        let said = refused(&dir, 2, &format!("models.bin {id}.{path} 90 --table models"));
        assert!(said.contains(what), "{path}: {said}");
    }
}

#[test]
fn an_error_says_what_to_write() {
    let dir = sample_folder();
    let twins = Sheet::new(Game::Later, "Items").fields(["u9Index"]);
    let twins = twins.record("twin", [Cell::Int(1)]).record("twin", [Cell::Int(2)]);
    fs::write(dir.path().join("twins.wdb"), twins.build()).unwrap();
    for (code, line, what) in [
        (2, "sheet.wdb r0000005.u7Race 300", "column u7Race: \"300\" does not fit: a whole number from 0 to 127"),
        (2, "sheet.wdb r0000005.Race 3", "no value \"Race\"; did you mean u7Race or u7Race_1?"),
        (2, "sheet.wdb r0000005 3", "\"r0000005\" is an object: name one of its values, as in \"r0000005.s4Family\""),
        (1, "sheet.wdb r000005.u7Race 3", "did you mean r0000005.u7Race"),
        (2, "turret.mfm diffuseMap a", "\"diffuseMap\" is an object: name one of its values, as in \"diffuseMap."),
        (2, "town.wdata portal_000 1", "name one of its values, as in \"portal_000."),
        (2, "savegame.vrb Bounds.Max.Z2 3", "\"Bounds.Max\": no value \"Z2\"; there are X, Y, Z"),
        (2, "savegame.vrb Bounds.Max.Y seven", "\"Bounds.Max.Y\": \"seven\" does not fit: a number"),
        (2, "savegame.vrb Entities[3].Mass 1", "write [Entities][3].Mass or [Main].Entities[3].Mass"),
        (2, "savegame.vrb [Main].Entities[99].Mass 1", "no item [99]: it has "),
        (2, "savegame.vrb [Main].Entities 1", "\"[Main].Entities\": \"1\" does not fit: a list of "),
        (
            2,
            "twins.wdb twin.u9Index 3 --table records",
            "records: 2 rows are named \"twin\": `sql UPDATE` or `patch` says which",
        ),
        (2, "town.wdata portal_000.offset 1", "column offset: 1 does not fit"),
        (2, "global.mo IDS 1", "mo files are read and not written"),
    ] {
        let said = refused(&dir, code, line);
        assert!(said.contains(what) && said.lines().count() == 1, "{line}: {said}");
    }
    // The value that a message names can be set.
    for (file, entry) in [("turret.mfm", "diffuseMap"), ("town.wdata", "portal_000"), ("sheet.wdb", "r0000005")] {
        let said = refused(&dir, 2, &format!("{file} {entry} x"));
        let named = said.split("as in \"").nth(1).unwrap().split('"').next().unwrap();
        let steps = named.strip_prefix(&format!("{entry}.")).unwrap();
        assert_ne!(steps, "offset", "a derived value can be set to itself only");
        let (shown, _) = run(dir.path(), 0, &["cat", file, entry, "-f", "json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let value = steps.split('.').fold(&shown, |value, step| &value[step]);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        run(dir.path(), 0, &["set", file, named, &value, "--dry-run"]);
    }
    let (_, said) = run(dir.path(), 2, &["set", "sheet.wdb", "r0000005.u7Race", "3"]);
    assert!(said.contains("--to NEW"), "{said}");
    assert!(!dir.path().join("no.bin").exists());
    let before = fs::read_dir(dir.path()).unwrap().count();
    run(dir.path(), 0, &["set", "sheet.wdb", "r0000005.u7Race", "3", "--dry-run", "--undo", "undo.ndjson"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
}
