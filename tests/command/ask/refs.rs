//! References of the text models of a mod, by path.

use crate::common::run;
use assetq::formats::wows::game_folder::Variant;
use assetq_sample::Size;
use assetq_sample::text_models::{self as build, Dialect, Node, Property, RenderSet};
use assetq_sample::wows::{How, Package};
use std::fs;
use tempfile::TempDir;

const NODES: [Node<'_>; 1] = [Node { name: "Turret", parent: None, position: [0.0; 3] }];

fn visual(name: &str, mfms: &[&str]) -> Vec<u8> {
    let set = |mfm| RenderSet { name: "aShape", node: "Turret", material: "PBS_Gun", mfm, lod: 0 };
    build::visual(name, Dialect::Old, &NODES, &mfms.iter().map(|mfm| set(*mfm)).collect::<Vec<_>>())
}

/// A folder of a mod, `mod/gun`, whose paths begin with `PnFMods/Ship`. `hull.mfm` and some textures are missing.
fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut write = crate::common::writer(dir.path());
    let texture = |name, value| Property { name, kind: "Texture", value };
    let textures = [
        texture("diffuseMap", "PnFMods/Ship/gun/turret_a.tga"),
        texture("normalMap", "PnFMods/Ship/gun/turret_n.dds"),
        texture("detailMap", "content/common/detail.dds"),
    ];
    write("mod/gun/turret.mfm", build::material("turret", "a.fx", &textures));
    write("mod/gun/turret_a.dds", assetq_sample::dds::demo(1, Size::Small));
    write("mod/gun/turret.visual", visual("turret", &["PnFMods/Ship/gun/turret.mfm", "PnFMods/Ship/ship/hull.mfm"]));
    let next = Some("PnFMods/Ship/gun/lods/turret_lod1");
    write("mod/gun/turret.model", build::level("turret", "PnFMods/Ship/gun/turret", next, 6.0));
    write("mod/gun/lods/turret_lod1.visual", visual("turret_lod1", &["PnFMods/Ship/gun/turret.mfm"]));
    let level = build::level("turret_lod1", "PnFMods/Ship/gun/lods/turret_lod1", None, 20.0);
    write("mod/gun/lods/turret_lod1.model", level);
    // The index of a build whose volumes are not installed.
    let mut package = Package::new(Variant::V2, "common.pkg");
    package.file("content/common/detail.dds", b"DDS", How::Stored);
    write("game/bin/123/idx/common.idx", package.index());
    // A mod in the game.
    write("game/bin/123/res/PnFMods/Ship/gun/a.visual", visual("a", &["PnFMods/Ship/gun/a.mfm", "PnFMods/Ship/b.mfm"]));
    let textures = [texture("detailMap", "content/common/detail.tga")];
    write("game/bin/123/res/PnFMods/Ship/gun/a.mfm", build::material("a", "a.fx", &textures));
    drop(write);
    dir
}

/// A column of the answer.
fn paths(dir: &TempDir, code: i32, args: &[&str], column: &str) -> Vec<String> {
    let (out, _) = run(dir.path(), code, &[args, &["-f", "ndjson"]].concat());
    let rows = out.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
    rows.map(|row| row[column].as_str().unwrap_or_default().replace('\\', "/")).collect()
}

#[test]
fn a_model_is_followed_to_its_textures() {
    let dir = folder();
    let (tree, _) = run(dir.path(), 0, &["refs", "mod/gun/turret.model", "mod", "--tree"]);
    let expected = "\
mod/gun/turret.model
├── visual  mod/gun/turret.visual
│   ├── mfm  mod/gun/turret.mfm
│   │   ├── diffuseMap  mod/gun/turret_a.dds  (for PnFMods/Ship/gun/turret_a.tga)
│   │   ├── normalMap  PnFMods/Ship/gun/turret_n.dds  (missing)
│   │   └── detailMap  content/common/detail.dds  (missing)
│   └── mfm  PnFMods/Ship/ship/hull.mfm  (missing)
└── parent  mod/gun/lods/turret_lod1.model
    └── visual  mod/gun/lods/turret_lod1.visual
        └── mfm  mod/gun/turret.mfm  (shown above)
";
    assert_eq!(tree.replace('\\', "/"), expected);
    // As rows, each with its depth; what a repeated file refers to stands below its first row.
    let (rows, _) = run(dir.path(), 0, &["refs", "mod/gun/turret.model", "mod", "--tree", "-f", "csv"]);
    let rows = rows.replace('\\', "/");
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows[..2], ["depth,column,path,found,repeated", "0,,mod/gun/turret.model,,false"]);
    assert_eq!(rows[2], "1,visual,PnFMods/Ship/gun/turret.visual,mod/gun/turret.visual,false");
    assert_eq!(rows[5], "3,normalMap,PnFMods/Ship/gun/turret_n.dds,,false");
    assert_eq!(rows[10..], ["3,mfm,PnFMods/Ship/gun/turret.mfm,mod/gun/turret.mfm,true"]);
    // A geometry refers to nothing: the tree begins at its model.
    fs::write(dir.path().join("mod/gun/turret.geometry"), assetq_sample::geometry::demo(1, Size::Small)).unwrap();
    let (tree, said) = run(dir.path(), 0, &["refs", "mod/gun/turret.geometry", "mod", "--tree"]);
    assert_eq!(tree.replace('\\', "/"), expected);
    assert!(said.contains("it refers to nothing; the tree is of "), "{said}");
}

#[test]
fn what_uses_a_file_of_a_mod_is_found() {
    let dir = folder();
    assert_eq!(paths(&dir, 0, &["refs", "turret_a.dds", "mod", "--from"], "column"), ["diffuseMap"]);
    let users = paths(&dir, 0, &["refs", "PnFMods/Ship/gun/turret.mfm", "mod", "--from"], "file");
    assert_eq!(users.len(), 2, "{users:?}");
    assert!(users[0].ends_with("turret_lod1.visual") && users[1].ends_with("turret.visual"), "{users:?}");
    let found = paths(&dir, 0, &["refs", "turret.mfm", "mod", "--to"], "found");
    assert!(found[0].ends_with("turret_a.dds") && found[1..] == ["", ""], "{found:?}");
}

#[test]
fn missing_files_of_a_mod_are_named() {
    let dir = folder();
    let dangling = |args: &[&str]| paths(&dir, 1, &[&["refs", "--dangling"], args].concat(), "path");
    let of_mod = ["PnFMods/Ship/gun/turret_n.dds", "PnFMods/Ship/ship/hull.mfm"];
    let detail = "content/common/detail.dds";
    assert_eq!(dangling(&["mod"]), [of_mod[0], detail, of_mod[1]]);
    // One file is looked at with the folder around it.
    assert_eq!(dangling(&["mod/gun/turret.visual"]), [of_mod[1]]);
    // The game has the texture.
    assert_eq!(dangling(&["mod", "--names", "game"]), of_mod);
    assert_eq!(dangling(&["mod", "game"]), of_mod);
    assert_eq!(dangling(&["mod", "--names", "game/bin/123/idx"]), of_mod);
    assert_eq!(dangling(&["game:PnFMods/*"]), ["PnFMods/Ship/b.mfm"]);
    let (_, said) = run(dir.path(), 1, &["refs", "--dangling", "mod", "--names", "game"]);
    assert!(said.contains("1 references name a .tga") && said.contains("game: note: its database is not"), "{said}");
    fs::remove_file(dir.path().join("mod/gun/turret_a.dds")).unwrap();
    assert_eq!(dangling(&["mod/gun/turret.mfm"]).len(), 3);
}

#[test]
fn a_visual_names_its_missing_materials() {
    let dir = folder();
    for command in ["ls", "info", "verify"] {
        let (out, said) = run(dir.path(), 0, &[command, "mod/gun/turret.visual"]);
        let all = out + &said;
        assert!(all.contains("not at hand: PnFMods/Ship/ship/hull.mfm"), "{command}: {all}");
        let (out, said) = run(dir.path(), 0, &[command, "mod/gun/lods/turret_lod1.visual"]);
        assert!(!(out + &said).contains("not at hand"));
    }
}
