//! Installed games, found in homes that are made up as Steam, the game centers and Wine make them.

use crate::common::writer;
use assetq_sample as sample;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A home folder without games.
fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A run of the command by the user whose home this is, in a folder of its own.
fn assetq(home: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(crate::common::program());
    let here = home.join("here");
    fs::create_dir_all(&here).unwrap();
    for name in ["ASSETQ_WOWS", "ASSETQ_SE2", "ASSETQ_FF13", "ASSETQ_FF13_2", "ASSETQ_LR", "ASSETQ_RUSTY_HEARTS"] {
        command.env_remove(name);
    }
    command.current_dir(here).env("HOME", home).env_remove("WINEPREFIX").env("ASSETQ_CACHE", home.join("cache"));
    command.env("ProgramData", home.join("ProgramData"));
    command.envs(variables.iter().copied()).args(args).output().unwrap()
}

/// Writes the sample game called `name` into `folder`.
fn install(folder: &Path, name: &str) {
    let (_, _, make) = sample::FOLDERS.iter().find(|(game, ..)| *game == name).unwrap();
    let mut write = writer(folder);
    let mut put = |path: &str, bytes: &[u8]| {
        write(path, bytes.to_vec());
        Ok(())
    };
    make(1, sample::Size::Small, &mut put).unwrap();
}

/// A library of Steam in `library` that has World of Warships in it.
fn steam_library(library: &Path) {
    install(&library.join("steamapps/common/World of Warships"), "wows");
    let manifest = "\"AppState\"\n{\n\t\"appid\"\t\t\"552990\"\n\t\"installdir\"\t\t\"World of Warships\"\n\t\"buildid\"\t\t\"77\"\n}\n";
    fs::write(library.join("steamapps/appmanifest_552990.acf"), manifest).unwrap();
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// Standard output of a run that ends with 0.
    fn said(home: &Path, args: &[&str]) -> String {
        let out = assetq(home, &[], args);
        assert_eq!(out.status.code(), Some(0), "assetq {args:?}\n{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn rows(home: &Path) -> Vec<Json> {
        serde_json::from_str(&said(home, &["games", "-f", "json"])).unwrap()
    }

    #[test]
    fn a_game_in_another_library_of_steam_is_found() {
        let home = home();
        let library = home.path().join("mnt/games");
        steam_library(&library);
        let list =
            format!("\"libraryfolders\"\n{{\n\t\"1\"\n\t{{\n\t\t\"path\"\t\t\"{}\"\n\t}}\n}}\n", library.display());
        writer(home.path())(".local/share/Steam/steamapps/libraryfolders.vdf", list.into_bytes());
        let rows = rows(home.path());
        assert_eq!(rows.len(), 1, "{rows:?}");
        let folder = library.join("steamapps/common/World of Warships");
        assert_eq!(rows[0]["address"], "wows:");
        assert_eq!(rows[0]["game"], "World of Warships");
        assert_eq!(rows[0]["folder"], folder.to_str().unwrap());
        assert_eq!(rows[0]["found_by"], "steam");
        // The newest build in the folder, rather than Steam's number of it.
        let info: Json = serde_json::from_str(&said(home.path(), &["info", "wows:", "-f", "json"])).unwrap();
        assert_eq!(rows[0]["build"], info["version"]);
    }

    #[test]
    fn a_prefix_stands_for_the_folder_wherever_a_file_may_stand() {
        let home = home();
        let library = home.path().join(".local/share/Steam");
        steam_library(&library);
        let folder = library.join("steamapps/common/World of Warships");
        let folder = folder.to_str().unwrap();
        let by_path = said(home.path(), &["ls", folder, "*.geometry", "-f", "csv"]);
        assert!(by_path.lines().count() > 1);
        assert_eq!(said(home.path(), &["ls", "wows:", "*.geometry", "-f", "csv"]), by_path);
        let file = by_path.lines().nth(1).unwrap().split(',').next().unwrap();
        let whole = |args: &[&str]| said(home.path(), &[args, &["-f", "json"]].concat());
        assert!(whole(&["info", &format!("wows:{file}")]).contains("geometry"));
        assert!(whole(&["info", "wows:*.geometry"]).contains(file));
        let (begun, _) = file.split_at(file.len() - 1);
        assert_eq!(said(home.path(), &["paths-inside", &format!("wows:{begun}")]), format!("wows:{file}\n"));
        assert!(said(home.path(), &["paths-inside", "wows:"]).contains("wows:content/\n"));
        assert_eq!(whole(&["resolve", "content", "--db", "wows:"]), whole(&["resolve", "content", "--db", folder]));
        let builds: Json = serde_json::from_str(&whole(&["ls", "wows:", "-t", "builds"])).unwrap();
        for build in builds.as_array().unwrap() {
            let build = build["build"].as_str().unwrap();
            let info: Json = serde_json::from_str(&whole(&["info", &format!("wows@{build}:")])).unwrap();
            assert_eq!(info["version"], build);
        }
        assert!(!builds.as_array().unwrap().is_empty());
        // A folder of that name is what it says.
        install(&home.path().join("here/wows"), "wows");
        let info: Json = serde_json::from_str(&whole(&["info", "wows:content/assets.bin"])).unwrap();
        assert_eq!(info["file"], "wows:content/assets.bin");
    }

    #[test]
    fn a_game_of_a_game_center_under_wine_is_found() {
        let home = home();
        let drive = home.path().join("prefix/drive_c");
        install(&drive.join("Games/World_of_Warships_EU"), "wows");
        let hash = "prefix/drive_c/ProgramData/Wargaming.net/GameCenter/apps/wows.eu.production/0a1b";
        writer(home.path())(hash, b"C:\\Games\\World_of_Warships_EU".to_vec());
        install(&drive.join("Schiffe & mehr"), "wows");
        let preferences = "<protocol><application><games_manager><games><game><working_dir>C:\\Schiffe &amp; mehr</working_dir>\
                           </game><game><working_dir>C:\\gone</working_dir></game></games></games_manager></application></protocol>";
        let lesta = "prefix/drive_c/ProgramData/Lesta/GameCenter/preferences.xml";
        writer(home.path())(lesta, preferences.as_bytes().to_vec());
        let prefix = home.path().join("prefix");
        let out = assetq(home.path(), &[("WINEPREFIX", prefix.to_str().unwrap())], &["games", "-f", "csv"]);
        let csv = String::from_utf8(out.stdout).unwrap();
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(rows.len(), 2, "{csv}");
        assert!(rows[0].starts_with("wows:,") && rows[0].contains("World_of_Warships_EU,wargaming,"), "{csv}");
        assert!(rows[1].starts_with(",") && rows[1].contains("Schiffe & mehr,lesta,"), "{csv}");
    }

    #[test]
    fn steam_in_a_registry_of_wine_and_proton_are_searched() {
        let home = home();
        let windows = home.path().join(".wine/drive_c/Spiele/Steam");
        install(&windows.join("steamapps/common/FINAL FANTASY XIII"), "ff13");
        let manifest = "\"AppState\" { \"installdir\" \"FINAL FANTASY XIII\" \"buildid\" \"123\" }";
        fs::write(windows.join("steamapps/appmanifest_292120.acf"), manifest).unwrap();
        let registry = "WINE REGISTRY Version 2\n\n[Software\\\\Valve\\\\Steam] 1\n\"SteamPath\"=\"c:/spiele/steam\"\n";
        // Wine finds names in any letter case.
        fs::write(home.path().join(".wine/user.reg"), registry).unwrap();
        let proton = home.path().join(".steam/steam/steamapps/compatdata/9/pfx/drive_c");
        install(&proton.join("Games/Rusty"), "rusty-hearts");
        let rows = rows(home.path());
        let found: Vec<_> = rows.iter().map(|row| (&row["address"], &row["build"], &row["found_by"])).collect();
        assert_eq!(
            serde_json::json!(found),
            serde_json::json!([["ff13:", "123", "steam"], ["rusty-hearts:", null, "folder"]])
        );
    }

    /// `path` of a game's own file as a copy from Windows may spell it. Below `res` and in the content of Space Engineers 2
    /// are files under paths that the game's other files name: those keep their case.
    fn in_capitals(path: &str) -> String {
        let kept = ["/res/", "/Content/"].iter().find_map(|folder| Some(path.find(folder)? + folder.len()));
        let (own, content) = path.split_at(kept.unwrap_or(if path.starts_with("res_mods") { 0 } else { path.len() }));
        own.to_ascii_uppercase() + content
    }

    #[test]
    fn a_game_in_any_letter_case_is_complete() {
        let home = home();
        for (game, _, make) in sample::FOLDERS.iter().filter(|(game, ..)| *game != "wows-ship") {
            install(&home.path().join(format!("here/exact/{game}")), game);
            let copy = home.path().join(format!("here/capitals/{game}"));
            let mut write = writer(&copy);
            let mut put = |path: &str, bytes: &[u8]| {
                write(&in_capitals(path), bytes.to_vec());
                Ok(())
            };
            make(1, sample::Size::Small, &mut put).unwrap();
            // The names of lists differ.
            let [exact, capitals] = ["exact", "capitals"]
                .map(|folder| said(home.path(), &["ls", &format!("{folder}/{game}"), "-f", "csv"]).to_lowercase());
            assert_eq!(capitals, exact, "{game}");
            assert!(capitals.contains(",true") || *game == "se2", "{game}: {capitals}");
            said(home.path(), &["verify", &format!("capitals/{game}")]);
        }
        let builds = |game: &str| said(home.path(), &["ls", game, "-t", "builds", "-f", "csv"]);
        assert_eq!(builds("capitals/wows"), builds("exact/wows"));
        // A name in the exact case wins.
        fs::create_dir(home.path().join("here/capitals/wows/bin")).unwrap();
        let out = assetq(home.path(), &[], &["ls", "capitals/wows", "-t", "builds"]);
        assert_ne!(out.status.code(), Some(0), "{out:?}");
    }

    #[test]
    fn a_library_of_steam_in_another_letter_case_is_found() {
        let home = home();
        let library = home.path().join(".local/share/Steam");
        steam_library(&library);
        fs::rename(library.join("steamapps/common"), library.join("steamapps/Common")).unwrap();
        fs::rename(library.join("steamapps"), library.join("SteamApps")).unwrap();
        let rows = rows(home.path());
        let folder = library.join("SteamApps/Common/World of Warships");
        assert_eq!((rows.len(), &rows[0]["folder"]), (1, &folder.to_str().unwrap().into()));
    }

    #[test]
    fn nothing_found_says_where_it_looked() {
        let home = home();
        let out = assetq(home.path(), &[], &["games"]);
        let err = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), out.stdout.len(), err.lines().count()), (Some(1), 0, 1), "{err}");
        assert!(err.contains(".local/share/Steam/steamapps") && err.contains("ASSETQ_SE2"), "{err}");
        let out = assetq(home.path(), &[], &["info", "se2:GameData"]);
        let err = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(1), "{err}");
        assert!(err.starts_with("assetq: se2:GameData: Space Engineers 2 was not found: searched "), "{err}");
        assert!(err.ends_with("; set ASSETQ_SE2 to the folder of a game\n"), "{err}");
    }
}

#[test]
fn a_variable_wins_over_what_is_found() {
    let home = home();
    steam_library(&home.path().join(".local/share/Steam"));
    let own = home.path().join("own");
    install(&own, "wows");
    let variables = [("ASSETQ_WOWS", own.to_str().unwrap())];
    let out = assetq(home.path(), &variables, &["games", "-f", "json"]);
    let rows: Json = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&rows[0]["address"], &rows[0]["found_by"]), (&"wows:".into(), &"variable".into()));
    assert_eq!(rows[0]["folder"], own.to_str().unwrap());
    let out = assetq(home.path(), &variables, &["ls", "wows:", "-n", "1"]);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    // The prefix stands for all builds of the folder.
    let [of_prefix, of_folder] = ["wows:", own.to_str().unwrap()]
        .map(|game| assetq(home.path(), &variables, &["history", "content/assets.bin", game, "-f", "json"]));
    assert_eq!(of_prefix.status.code(), Some(0), "{of_prefix:?}");
    assert_eq!(of_prefix.stdout, of_folder.stdout);
    let out = assetq(home.path(), &[("ASSETQ_WOWS", "nowhere")], &["ls", "wows:"]);
    let err = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(err.contains("World of Warships was not found: $ASSETQ_WOWS is \"nowhere\", which is no folder"), "{err}");
}

/// Definitions of Space Engineers 2 refer to each other by GUIDs.
#[test]
fn a_definition_is_found_by_its_guid() {
    let dir = crate::common::sample_folder();
    let json = |args: &[&str]| crate::common::json(dir.path(), &[args, &["-f", "json"]].concat());
    let all = json(&["ls", "se2", "-t", "definitions", "-c", "guid,name,file,type"]);
    for definition in all.as_array().unwrap().iter().take(5) {
        let guid = definition["guid"].as_str().unwrap();
        let by_guid = format!("SELECT guid, name, file, type FROM definitions WHERE guid = '{guid}'");
        assert_eq!(json(&["sql", &by_guid, "se2"]), serde_json::json!([definition]));
        let found = &json(&["resolve", guid, "--db", "se2"])[0];
        assert_eq!((&found["path"], &found["type"]), (&definition["file"], &definition["type"]), "{found}");
    }
    assert!(all.as_array().unwrap().len() > 5);
}
