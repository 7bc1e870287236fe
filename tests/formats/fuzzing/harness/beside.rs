//! Several files at once: companions, patterns of files, and the camouflages of a ship.

use super::folder::{Folder, unmapped};
use super::input::{any, below, one_of, text_of_tags};
use super::{ask, read};
use arbitrary::Unstructured;
use assetq::Asset;
use assetq::formats::wows::ship::{Query, Ship};
use assetq::query::{Address, files};
use assetq::sql::{Input, Session};
use assetq::view::scene::{Context, Drawing as _, Options, SceneFormat, Shapes};
use assetq_sample::{FILES, Size, WORLD};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Reads, asks or draws a file of a folder in which one file is changed: itself, or one that completes it.
pub fn companions(data: &[u8]) {
    static FOLDER: LazyLock<Mutex<Folder>> = LazyLock::new(|| {
        Mutex::new(Folder::new(|put| {
            for (name, _, make) in WORLD.files {
                put(name, &make(1, Size::Small)).unwrap();
            }
            (WORLD.beside)(1, Size::Small, put).unwrap();
        }))
    });
    const MAIN: [&str; 10] = [
        "ship.geometry",
        "turret.geometry",
        "models.geometry",
        "GameParams.data",
        "models.bin",
        "space.bin",
        "icons.trb",
        "ship.visual",
        "turret.model",
        "ship_Hull.mfm",
    ];
    let mut u = Unstructured::new(data);
    let mut folder = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let main = folder.path().join(one_of(&mut u, &MAIN));
    // Textures complete nothing but pictures.
    let paths = folder.files(|name| !name.ends_with(".dds"));
    let path = if any::<u8>(&mut u) & 3 == 0 { main.clone() } else { one_of(&mut u, &paths).clone() };
    let is_text = [".visual", ".model", ".mfm", ".info"].iter().any(|ending| path.to_string_lossy().ends_with(ending));
    let is_valid = !if is_text && any::<u8>(&mut u) & 1 == 0 {
        folder.change(&path, |bytes| text_of_tags(&mut u, bytes) > 0)
    } else {
        folder.lie(&mut u, &path)
    };
    let Ok(asset) = Asset::open_at(&main, &unmapped()) else {
        assert!(!is_valid, "{} cannot be opened", main.display());
        return;
    };
    match any::<u8>(&mut u) % 4 {
        0 => ask::search(&asset, "e"),
        1 => ask::references(&mut u, &asset),
        2 => asset.reader().facet::<dyn Shapes>().into_iter().for_each(|shapes| ask::draw(&mut u, shapes)),
        _ => read::ask(&mut u, &asset, is_valid),
    }
}

/// Changes one file of a pattern; reads, searches and asks all of them, as one file or as schemas of one session.
pub fn several(data: &[u8]) {
    static FOLDER: LazyLock<Mutex<Folder>> = LazyLock::new(|| {
        Mutex::new(Folder::new(|put| {
            for seed in 1..=3 {
                for (name, _, make) in FILES {
                    put(&format!("{seed}/{name}"), &make(seed, Size::Small)).unwrap();
                }
            }
            assetq_sample::BESIDE
                .iter()
                .for_each(|(name, make)| put(&format!("1/{name}"), &make(1, Size::Small)).unwrap());
        }))
    });
    let mut u = Unstructured::new(data);
    let mut folder = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let name = one_of(&mut u, FILES).0;
    let paths = folder.files(|other| other == name);
    let path = one_of(&mut u, &paths).clone();
    let is_valid = !folder.lie(&mut u, &path);
    let options = unmapped();
    if any::<u8>(&mut u) & 3 > 0 {
        let Ok(asset) = files::open(&folder.path().join("*").join(name), &options) else { return };
        return match any::<u8>(&mut u) % 3 {
            0 => read::ask(&mut u, &asset, is_valid && name != "model.trb"),
            1 => ask::search(&asset, "e"),
            _ => ask::statements_over(&mut u, &asset, is_valid && name != "model.trb"),
        };
    }
    let opened =
        paths.iter().filter_map(|path| Some((path.display().to_string(), Asset::open_at(path, &options).ok()?)));
    let inputs: Vec<(String, Input)> = opened.map(|(name, asset)| (name, Input::Asset(asset))).collect();
    let Ok(session) = Session::new(inputs, any::<u8>(&mut u) & 1 == 0) else { return };
    let tables: Vec<String> = session.tables().map(|table| table.shown()).collect();
    for _ in 0..3 {
        let Some(first) = tables.get(below(&mut u, tables.len())) else { return };
        let second = &tables[below(&mut u, tables.len())];
        let _ = ask::run(&session, &format!("SELECT count(*) FROM {first}"));
        let _ = ask::run(&session, &format!("SELECT * FROM {first} a JOIN {second} b ON a.rowid = b.rowid LIMIT 40"));
        let _ = ask::run(&session, &format!("SELECT 1 FROM {first} UNION ALL SELECT 2 FROM {second} LIMIT 40"));
    }
    session.take_left_out();
}

/// A ship with its camouflages, whose file is changed, as a binary glTF.
pub fn camouflages(data: &[u8]) {
    struct Game {
        folder: Folder,
        files: [Asset; 3],
    }
    static GAME: LazyLock<Mutex<Game>> = LazyLock::new(|| {
        let folder = Folder::new(|put| {
            assetq_sample::ship::folder(&mut *put).unwrap();
            for (version, dialect) in [
                ("1.0.0.0", assetq_sample::text_models::Dialect::Old),
                ("1.0.0.1", assetq_sample::text_models::Dialect::New),
            ] {
                let text = assetq_sample::ship::camouflages(dialect);
                put(&format!("res_mods/{version}/camouflages.xml"), text.as_bytes()).unwrap();
            }
        });
        let root = folder.path();
        let within = |inner: &str| Address::within(&root, inner);
        let addresses = [root.clone(), within("content/GameParams.data"), within("content/assets.bin")];
        let files = addresses.map(|address| files::open(&address, &unmapped()).unwrap());
        Mutex::new(Game { folder, files })
    });
    let mut u = Unstructured::new(data);
    let mut game = GAME.lock().unwrap_or_else(PoisonError::into_inner);
    let Game { folder, files: [game, params, database] } = &mut *game;
    // Of two folders of mods, the game reads the later one.
    let paths = folder.files(|name| name == "camouflages.xml");
    let other = std::fs::read(&paths[usize::from(any::<u8>(&mut u) & 1)]).unwrap();
    let is_valid = !folder.change(&paths[1], |bytes| {
        *bytes = other;
        text_of_tags(&mut u, bytes);
        true
    });
    let mut query = Query::default();
    query.ship = assetq_sample::ship::SHIP.to_owned();
    query.camouflages = Some(Vec::new());
    let Ok(ship) = Ship::open(game, params, database, &query, &unmapped()) else {
        assert!(!is_valid);
        return;
    };
    let options = Options::default();
    let context = Context::from_assets([&*database]).unwrap();
    let Ok(scene) = ship.scene(&context, &options) else { return };
    let mut glb = Vec::new();
    if scene.write(SceneFormat::Glb, &mut glb).is_ok() {
        assert!(glb.starts_with(b"glTF"));
    }
}
