//! Files that know something of the file beside them: what happens if they are damaged, or are no files.

use crate::common::run;
use assetq_sample::Size;
use std::fs;
use tempfile::TempDir;

/// A geometry beside a visual that is cut: names and materials of its groups are unknown.
fn with_cut_visual() -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("turret.geometry"), assetq_sample::geometry::demo(1, Size::Small)).unwrap();
    let visual = assetq_sample::text_models::demo_visual(1, Size::Small);
    fs::write(dir.path().join("turret.visual"), &visual[..visual.len() / 2]).unwrap();
    dir
}

#[test]
fn every_command_reports_a_damaged_companion() {
    let dir = with_cut_visual();
    let dir = dir.path();
    fs::create_dir(dir.join("alone")).unwrap();
    fs::copy(dir.join("turret.geometry"), dir.join("alone/turret.geometry")).unwrap();
    let commands: [&[&str]; 11] = [
        &["info", "turret.geometry"],
        &["ls", "turret.geometry"],
        &["ls", "turret.geometry", "-t", "render_groups"],
        &["ls", "turret.geometry", "-t", "render_groups", "-n", "1"],
        &["sql", "SELECT name FROM render_groups LIMIT 1", "turret.geometry"],
        &["sql", "SELECT count(*) FROM render_groups", "turret.geometry"],
        &["sql", "SELECT count(*) FROM render_groups", "*.geometry"],
        &["export", "turret.geometry", "-t", "render_groups", "--to", "groups.csv"],
        &["export", "turret.geometry", "--to", "turret.obj"],
        &["find", "PBS", "turret.geometry"],
        &["diff", "turret.geometry", "alone/turret.geometry"],
    ];
    for command in commands {
        let (_, said) = run(dir, 3, command);
        assert!(said.contains("in turret.visual at 0x") && said.contains(": line "), "{command:?}: {said}");
        let alone: Vec<&str> = [command, &["--no-companions", "--force"]].concat();
        let alone = &alone[..alone.len() - usize::from(command[0] != "export")];
        let out = std::process::Command::new(crate::common::program()).current_dir(dir).args(alone).output().unwrap();
        assert!(matches!(out.status.code(), Some(0 | 1)), "{alone:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    // The rows are there, as the file itself knows them.
    let (rows, _) = run(dir, 3, &["ls", "turret.geometry", "-t", "render_groups", "-f", "csv"]);
    let (own, _) = run(dir, 0, &["ls", "alone/turret.geometry", "-t", "render_groups", "-f", "csv"]);
    assert!(rows == own && rows.lines().count() > 2, "{rows}");
}

#[cfg(unix)]
#[test]
fn a_companion_that_is_no_file_cannot_be_read() {
    let dir = with_cut_visual();
    let dir = dir.path();
    fs::remove_file(dir.join("turret.visual")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.join("turret.visual")).status().unwrap().success());
    let (_, said) = run(dir, 4, &["ls", "turret.geometry", "-t", "render_groups"]);
    assert!(said.contains("turret.visual: cannot open: it is a pipe or a device"), "{said}");
    // A folder of that name is no companion.
    fs::remove_file(dir.join("turret.visual")).unwrap();
    fs::create_dir(dir.join("turret.visual")).unwrap();
    run(dir, 0, &["ls", "turret.geometry", "-t", "render_groups"]);
}

#[test]
fn texts_beside_parameters_are_their_titles() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    fs::create_dir(dir.join("alone")).unwrap();
    let params = assetq_sample::gameparams::demo(1, Size::Small);
    for file in ["GameParams.data", "alone/GameParams.data"] {
        fs::write(dir.join(file), &params).unwrap();
    }
    let texts = assetq_sample::gameparams::demo_mo(1, Size::Small);
    fs::write(dir.join("global.mo"), &texts).unwrap();
    let ships = |code: i32, file: &str, options: &[&str]| {
        run(dir, code, &[&["ls", file, "-t", "ships", "-c", "title", "-f", "csv"], options].concat())
    };
    let (titles, said) = ships(0, "GameParams.data", &[]);
    assert!(titles.contains("Nowhere") && said.is_empty(), "{titles}{said}");
    // Without texts a message says where titles are, and what it advises shows them.
    for (file, options) in [("alone/GameParams.data", &[][..]), ("GameParams.data", &["--no-companions"])] {
        let (titles, said) = ships(0, file, options);
        assert!(!titles.contains("Nowhere") && said.contains("--names global.mo"), "{titles}{said}");
    }
    assert!(ships(0, "alone/GameParams.data", &["--names", "global.mo"]).0.contains("Nowhere"));
    // The file itself is the same one everywhere.
    assert_eq!(run(dir, 0, &["diff", "GameParams.data", "alone/GameParams.data"]).0, "no differences\n");
    fs::write(dir.join("global.mo"), &texts[..20]).unwrap();
    let (titles, said) = ships(3, "GameParams.data", &[]);
    assert!(!titles.contains("Nowhere") && said.contains("global.mo"), "{titles}{said}");
}

/// Titles of entities, names of meshes and thickness of armour come from other files of the game.
#[test]
fn a_file_of_a_game_equals_its_copy_outside_of_the_game() {
    let dir = crate::world::world();
    let dir = dir.path();
    let files = [
        ("content/GameParams.data", false),
        ("content/assets.bin", true),
        ("content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship.geometry", true),
        ("content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship.splash", true),
    ];
    for (file, is_written) in files {
        run(dir, 0, &["extract", "wows", file, "--to", "out"]);
        let (inside, copy) = (format!("wows:{file}"), format!("out/{file}"));
        for sides in [[&*inside, &*copy], [&*copy, &*inside]] {
            let (out, _) = run(dir, 0, &["diff", sides[0], sides[1]]);
            assert_eq!(out, "no differences\n", "{sides:?}");
            run(dir, 0, &["diff", sides[0], sides[1], "--stat"]);
            if is_written {
                assert_eq!(run(dir, 0, &["diff", sides[0], sides[1], "-f", "patch"]).0, "", "{sides:?}");
            }
        }
    }
    // The game shows the titles all the same.
    let titles = ["SELECT count(title) > 0 AS n FROM entities", "wows:content/GameParams.data"];
    assert_eq!(run(dir, 0, &["sql", titles[0], titles[1], "-f", "csv"]).0, "n\r\n1\r\n");
}

/// The parameters of a game repeat plates: without them there are fewer rows, and no thickness.
#[test]
fn parameters_that_are_not_installed_are_named() {
    let dir = crate::world::world();
    let dir = dir.path();
    let ship = "wows:content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship.geometry";
    let commands: [&[&str]; 8] = [
        &["info", ship],
        &["ls", ship, "-t", "armor_plates"],
        &["ls", ship, "-t", "armor_triangles", "-c", "x0"],
        &["sql", "SELECT sum(thickness) FROM armor_plates", ship],
        &["sql", "SELECT count(*) FROM armor_plates", "wows:content/*.geometry"],
        &["export", ship, "-t", "armor_plates", "--to", "plates.csv"],
        &["cat", ship, "armor_plates/0"],
        &["ls", "ship.geometry", "-t", "armor_plates", "--with", "wows"],
    ];
    let named = "content/GameParams.data: content_0001.pkg is not installed";
    for command in commands {
        assert!(!run(dir, 0, command).1.contains("not installed"), "{command:?}");
    }
    fs::remove_file(dir.join("plates.csv")).unwrap();
    fs::remove_file(dir.join("wows/res_packages/content_0001.pkg")).unwrap();
    for command in commands {
        let (_, said) = run(dir, 1, command);
        assert!(said.contains(named), "{command:?}: {said}");
    }
    // Other tables have no use for parameters.
    assert_eq!(run(dir, 0, &["ls", ship, "-t", "vertex_buffers", "-l", "-q"]).1, "");
}

/// Render groups are paired by the visual, or else by the densities of their mappings.
#[test]
fn an_edit_keeps_a_file_whole_without_its_companions() {
    let dir = crate::world::world();
    let dir = dir.path();
    fs::create_dir(dir.join("alone")).unwrap();
    let set = |table: &str| format!("UPDATE {table} SET texel_density = 1 WHERE \"index\" = 0");
    let (indices, vertices) = (set("index_mappings"), set("vertex_mappings"));
    let (row, _) = run(dir, 0, &["ls", "turret.geometry", "-t", "index_mappings", "-n", "1", "-l", "-f", "ndjson"]);
    let mut row: serde_json::Value = serde_json::from_str(&row).unwrap();
    row["texel_density"] = 1.into();
    fs::write(dir.join("row.ndjson"), row.to_string()).unwrap();
    let mapping = row["mapping_id"].as_str().unwrap();
    let commands: [&[&str]; 4] = [
        &["sql", &indices, "turret.geometry"],
        &["sql", &vertices, "turret.geometry"],
        &["patch", "turret.geometry", "row.ndjson", "-t", "index_mappings"],
        &["set", "turret.geometry", &format!("{mapping}.texel_density"), "1"],
    ];
    for command in commands {
        let (_, said) = run(dir, 2, &[command, &["--to", "alone/turret.geometry"]].concat());
        assert!(said.contains("would be damaged by these edits"), "{command:?}: {said}");
        assert!(said.contains("verify of the file alone, indices in range"), "{command:?}: {said}");
        assert!(!dir.join("alone/turret.geometry").exists());
    }
    // Another edit of the same file is kept, and is whole without the visual.
    let layer = "UPDATE armor_plates SET layer = 2 WHERE \"index\" = 0";
    run(dir, 0, &["sql", layer, "turret.geometry", "--to", "alone/turret.geometry"]);
    run(dir, 0, &["verify", "alone/turret.geometry"]);
}
