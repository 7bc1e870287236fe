//! The small worlds of the samples: each file is whole, and files that name each other agree.

use crate::common::{errors_of, json, maps, run, writer};
use assetq::Asset;
use assetq::formats::ErrorKind;
use assetq_sample::{Contents, RANDOM, Size, WORLD, wdata, worlds};
use serde_json::Value as Json;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The files and folders of a sample.
fn written(contents: &Contents) -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut write = writer(dir.path());
    contents.files.iter().for_each(|(name, _, make)| write(name, make(1, Size::Small)));
    let mut put = |path: &str, bytes: &[u8]| {
        write(path, bytes.to_vec());
        Ok(())
    };
    (contents.beside)(1, Size::Small, &mut put).unwrap();
    for (name, _, make) in contents.folders {
        make(1, Size::Small, &mut |path, bytes| put(&format!("{name}/{path}"), bytes)).unwrap();
    }
    drop(write);
    dir
}

static DIR: LazyLock<TempDir> = LazyLock::new(|| written(&WORLD));

/// The rows of a question to files of the folder.
fn rows(question: &str, files: &[&str]) -> Vec<Json> {
    let answer = json(DIR.path(), &[&["sql", question, "-f", "json"], files].concat());
    answer.as_array().unwrap().clone()
}

/// The page of a folder lists the textures in it: a texture of noise is damage there, even if the archive is whole.
#[test]
fn every_table_of_the_samples_can_be_read() {
    for contents in [&WORLD, &RANDOM] {
        let dir = written(contents);
        let files = contents.files.iter().map(|(name, format, _)| (name, format));
        for (name, format) in files.chain(contents.folders.iter().map(|(name, format, _)| (name, format))) {
            let asset = Asset::open_at(dir.path().join(name), &Default::default()).unwrap();
            assert_eq!(asset.format(), *format, "{name}");
            let mut errors = errors_of(&asset);
            // Some files of a game need a library of their own.
            errors.retain(|error| !matches!(error.kind(), ErrorKind::Unsupported { .. }));
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
}

#[test]
fn the_town_is_read_as_it_was_described() {
    let spec = worlds::rusty_hearts::town();
    let written = wdata::write(&spec);
    maps::assert_all(&spec, &written);
    let described = spec.rows.iter().filter(|(table, _)| *table == "obstacle_boxes").count();
    assert_eq!(written.table("obstacle_boxes").len(), described);
}

#[test]
fn portals_lead_to_maps_of_the_folder_and_back() {
    let portals = "SELECT name, id, warp_map_name, warp_map_id, warp_portal_id FROM portal_boxes";
    let starts = |map: &str| rows("SELECT id, name FROM start_point_boxes", &[map]);
    let town = "rusty-hearts:world/town/town.wdata";
    let found = rows(portals, &[town]);
    assert_eq!(found.len(), 3);
    for portal in found {
        let map = portal["warp_map_name"].as_str().unwrap();
        let dungeon = format!("rusty-hearts:world/dungeon/{map}/{map}.wdata");
        assert!(starts(&dungeon).iter().any(|start| start["id"] == portal["warp_portal_id"]), "{portal}");
        let [back] = &rows(portals, &[&dungeon])[..] else { panic!("{map} has one way back") };
        let start = starts(town).into_iter().find(|start| start["id"] == back["warp_portal_id"]).unwrap();
        let place = portal["name"].as_str().unwrap().trim_start_matches("To the ");
        assert_eq!(
            (back["warp_map_name"].as_str(), start["name"].as_str()),
            (Some("town"), Some(&*format!("Back from the {place}")))
        );
    }
}

#[test]
fn rounds_are_walked_by_people_of_the_town() {
    let strangers = "SELECT DISTINCT w.name FROM waypoint_boxes w \
                     WHERE NOT EXISTS (SELECT 1 FROM npc_boxes n WHERE w.name LIKE n.npc_name || ' %')";
    assert_eq!(rows(strangers, &["town.wdata"]), [] as [Json; 0]);
    let walks = "SELECT n.npc_name, w.id FROM triggers t \
                 JOIN npc_boxes n ON t.conditions LIKE '%IsNpc(' || n.npc_name || ')%' \
                 JOIN waypoint_boxes w ON t.actions LIKE '%FollowWaypoints(' || n.npc_name || ', ' || w.id || ')%'";
    let walkers: Vec<String> = rows(walks, &["town.wdata"]).iter().map(|row| row["npc_name"].to_string()).collect();
    assert_eq!(walkers, ["\"Berrin\"", "\"Hedda\"", "\"Osric\"", "\"Captain Rourke\""]);
}

#[test]
fn sheets_join_by_their_records() {
    let drops = "SELECT e.record AS enemy, t.sEnglish AS item, e.u7DropRate AS percent FROM enemy e \
                 JOIN item i ON i.record = e.sDropItem JOIN text t ON t.record = i.sNameId ORDER BY e.record";
    let drops = rows(drops, &["pack.bin"]);
    assert_eq!(drops.len(), rows("SELECT record FROM enemy", &["pack.bin"]).len());
    assert_eq!(drops[0]["item"], "Potion");
    let offers = "SELECT s.sShop AS shop, t.sFrench AS item, i.u16Price AS price FROM shop s \
                  JOIN item i ON i.record = s.sItem JOIN text t ON t.record = i.sNameId WHERE i.s4Category = 'weapon'";
    let (answer, _) = run(DIR.path(), 0, &["sql", offers, "pack.bin", "-f", "csv"]);
    assert_eq!(answer, "shop,item,price\r\nsh_smithy,Épée de fer,600\r\nsh_smithy,Lame des rivières,2400\r\n");
    // An item has the number of a texture.
    let icons = "SELECT DISTINCT i.u3Icon FROM game.item i JOIN icons.textures t ON t.texture = i.u3Icon";
    assert_eq!(rows(icons, &["game=pack.bin", "icons=icons.trb"]).len(), 3);
    let met = "SELECT count(*) AS n FROM zone.records z JOIN pack.enemy e ON e.record = z.sEnemy";
    let zone = "zone=ff13:db/zone/z001/encounter.wdb";
    assert_eq!(rows(met, &[zone, "pack=pack.bin"])[0]["n"], 5);
}

#[test]
fn blocks_of_the_save_are_definitions_of_the_game() {
    let blocks = "SELECT d.name AS block, count(*) AS n FROM save.'values' v \
                  JOIN game.definitions d ON v.value = '{G}' || d.guid \
                  WHERE v.chunk = 'Miner Pell' AND v.path LIKE 'Blocks[%].Definition' \
                  AND d.name NOT LIKE 'Armor%' GROUP BY block ORDER BY n DESC, block LIMIT 3";
    let (answer, _) = run(DIR.path(), 0, &["sql", blocks, "save=savegame.vrb", "game=se2", "-f", "csv"]);
    assert_eq!(answer, "block,n\r\nDrill,2\r\nSmallThruster,2\r\nBattery,1\r\n");
    let strangers = "SELECT v.path FROM save.'values' v LEFT JOIN game.definitions d ON v.value = '{G}' || d.guid \
                     WHERE v.value LIKE '{G}%' AND d.guid IS NULL";
    assert_eq!(rows(strangers, &["save=savegame.vrb", "game=se2"]), [] as [Json; 0]);
}

#[test]
fn the_mod_takes_values_from_definitions_of_the_game() {
    run(DIR.path(), 0, &["refs", "--dangling", "se2-mod", "se2"]);
    let (tree, _) = run(DIR.path(), 0, &["refs", "LindeniteOrePBR", "se2-mod", "se2", "--tree"]);
    assert!(tree.contains("LindeniteOre_cm.dds"), "{tree}");
}
