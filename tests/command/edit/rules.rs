//! Rules between rows: unique values, and references that lead somewhere, after all edits together.

use super::command::{folder, run};
use assetq_sample::wdata::{Spec, write};
use assetq_sample::{Size, bwdb, geometry, space, vrb};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Folders with a file of each format that has such rules.
fn files() -> TempDir {
    let dir = folder();
    let put = |name: &str, bytes: Vec<u8>| fs::write(dir.path().join(name), bytes).unwrap();
    put("ship.geometry", geometry::demo(1, Size::Small));
    // Larger than the files that are compared completely.
    put("large.geometry", [geometry::demo(1, Size::Small), vec![0; 17 << 20]].concat());
    put("town.wdata", write(&Spec { wild: false, ..Spec::new(22, 9) }).bytes);
    put("models.bin", space::models_bin(1, Size::Small));
    put("assets.bin", bwdb::demo(1, Size::Small));
    dir
}

/// The cells of a column, in order.
fn cells(dir: &Path, file: &str, table: &str, column: &str) -> Vec<String> {
    let query = format!("SELECT {column} FROM {table}");
    let (listed, _) = run(dir, 0, &["sql", &query, file, "-f", "csv"]);
    listed.lines().skip(1).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn two_rows_swap_their_values_in_one_statement() {
    let dir = files();
    for (file, table, column) in [
        ("old.wdb", "records", "record"),
        ("ship.geometry", "vertex_mappings", "mapping_id"),
        ("large.geometry", "vertex_mappings", "mapping_id"),
        ("town.wdata", "waypoint_boxes", "id"),
        ("models.bin", "models", "id"),
    ] {
        let before = cells(dir.path(), file, table, column);
        let (a, b) = (&before[0], &before[1]);
        let swap = format!(
            "UPDATE {table} SET {column} = CASE {column} WHEN '{a}' THEN '{b}' ELSE '{a}' END
             WHERE {column} IN ('{a}', '{b}')"
        );
        run(dir.path(), 0, &["sql", &swap, file, "--to", "swapped", "--force"]);
        let after = cells(dir.path(), "swapped", table, column);
        assert_eq!((&after[0], &after[1], &after[2..]), (b, a, &before[2..]), "{file}");
    }
}

#[test]
fn a_value_that_another_row_has_is_refused_in_files_of_every_size() {
    let dir = files();
    for (file, table, set) in [
        ("old.wdb", "records", "record = 'one'"),
        ("ship.geometry", "vertex_mappings", "mapping_id = '0x12345678'"),
        ("large.geometry", "vertex_mappings", "mapping_id = '0x12345678'"),
        ("large.geometry", "index_mappings", "mapping_id = '0x12345678'"),
        ("town.wdata", "waypoint_boxes", "id = 100"),
        ("models.bin", "models", "id = '0x0000000012345678'"),
    ] {
        let args = ["sql", &format!("UPDATE {table} SET {set}"), file, "--to", "out"];
        let (_, said) = run(dir.path(), 2, &args);
        assert!(said.contains("does not fit: another row has this value") && said.contains(table), "{file}: {said}");
        assert!(!dir.path().join("out").exists());
    }
    let twice = "INSERT INTO resources(id, database, record) SELECT id, database, record FROM resources LIMIT 1";
    let (_, said) = run(dir.path(), 2, &["sql", twice, "assets.bin", "--to", "out"]);
    assert!(said.contains("resources: column id: 0x") && said.contains("another row has this value"), "{said}");
}

#[test]
fn a_reference_leads_to_a_row_after_all_edits() {
    let dir = files();
    let said =
        |code: i32, query: &str| run(dir.path(), code, &["sql", query, "town.wdata", "--to", "out", "--force"]).1;
    let links = "UPDATE waypoint_boxes SET links = '[999]', link_distances = '[1]' WHERE id = 100";
    let lost = said(2, links);
    assert!(lost.contains("column links: 999 does not fit: no row of waypoint_boxes has this id"), "{lost}");
    assert!(said(2, "UPDATE waypoint_boxes SET id = 999 WHERE id = 101").contains("id 101 cannot go alone"));
    // With the id, its references change.
    said(
        0,
        &format!(
            "{links}; UPDATE waypoint_boxes SET id = 999 WHERE id = 100; DELETE FROM waypoint_boxes WHERE id <> 999"
        ),
    );
    assert_eq!(cells(dir.path(), "out", "waypoint_boxes", "id"), ["999"]);
}

#[test]
fn the_listed_changes_do_not_depend_on_the_size() {
    let dir = files();
    for set in [
        "UPDATE armor_plates SET material_id = 77",
        "UPDATE vertex_mappings SET mapping_id = '0x12345678' WHERE \"index\" = 0",
    ] {
        let list = |file: &str| run(dir.path(), 0, &["sql", set, file, "--dry-run", "-f", "csv"]).0;
        let listed = list("ship.geometry");
        assert_eq!(listed, list("large.geometry"), "{set}");
        assert!(listed.lines().count() > 2, "{listed}");
    }
}

#[test]
fn a_name_of_two_values_is_refused_with_a_name_for_each() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("save.vrb"), vrb::demo(1, Size::Small)).unwrap();
    let cat = |code: i32, entry: &str| run(dir.path(), code, &["cat", "save.vrb", entry, "-f", "json"]);
    let (_, said) = cat(2, "Entities[3].Mass");
    let both = "\"Entities[3].Mass\" names two values; write [Entities][3].Mass or [Main].Entities[3].Mass";
    assert!(said.contains(both), "{said}");
    assert!(cat(2, "Entities").1.contains("write [Entities] or [Main].Entities"));
    let [of_chunk, of_main] = ["[Entities][3].Mass", "[Main].Entities[3].Mass"].map(|entry| cat(0, entry).0);
    assert_ne!(of_chunk, of_main);
    fs::write(dir.path().join("mass.json"), "5").unwrap();
    let patch = |code: i32, entry: &str| {
        let args = ["patch", "save.vrb", "mass.json", "--entry", entry, "--to", "new.vrb", "--force", "-f", "ndjson"];
        run(dir.path(), code, &args)
    };
    assert!(patch(2, "Entities[3].Mass").1.contains(both));
    for (entry, chunk) in [("[Entities][3].Mass", "Entities"), ("[Main].Entities[3].Mass", "[Main]")] {
        let (shown, _) = patch(0, entry);
        assert!(
            shown.contains(&format!(r#""key":{{"path":"Entities[3].Mass","chunk":"{chunk}"}}"#))
                || shown.contains(&format!(r#""key":{{"path":"[3].Mass","chunk":"{chunk}"}}"#)),
            "{shown}"
        );
    }
    let (values, _) = run(dir.path(), 0, &["ls", "save.vrb", "-t", "values", "--wide", "--limit", "1"]);
    assert!(values.contains("chunk"), "{values}");
}
