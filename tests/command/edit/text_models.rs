//! Text models: values are replaced by key, and all other bytes are kept.

use super::command::run;
use assetq_sample::Size;
use assetq_sample::text_models::{self as build, Property};
use std::fs;
use tempfile::TempDir;

fn text(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).unwrap()
}

fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let mut write = crate::common::writer(dir.path());
    write("a.visual", build::demo_visual(1, Size::Small));
    write("old.visual", build::demo_old_visual(1, Size::Small));
    write("a.model", build::demo_model(1, Size::Small));
    for (name, texture, glow) in [("gun/hull", "mod/hull_a.dds", "0.5000"), ("gun/lods/deck", "mod/deck_a.dds", "1")] {
        let properties = [
            Property { name: "diffuseMap", kind: "Texture", value: texture },
            Property { name: "glow", kind: "Float", value: glow },
            Property { name: "tint", kind: "Vector3", value: "1.0 0.5 0.0" },
            Property { name: "on", kind: "Bool", value: "false" },
        ];
        write(&format!("{name}.mfm"), build::material("hull", "a.fx", &properties));
    }
    drop(write);
    dir
}

#[test]
fn values_are_replaced_between_their_tabs() {
    let dir = folder();
    for (file, query, old, new) in [
        (
            "gun/hull.mfm",
            "UPDATE properties SET value = 'mod/a&b.dds' WHERE name = 'diffuseMap'",
            "<Texture>\tmod/hull_a.dds\t</Texture>",
            "<Texture>\tmod/a&amp;b.dds\t</Texture>",
        ),
        (
            "gun/hull.mfm",
            "UPDATE properties SET value = 0.75 WHERE name = 'glow'",
            "<Float>\t0.5000\t</Float>",
            "<Float>\t0.75\t</Float>",
        ),
        ("gun/hull.mfm", "UPDATE properties SET value = '[0.5,0,1]' WHERE name = 'tint'", "1.0 0.5 0.0", "0.5 0 1"),
        ("gun/hull.mfm", "UPDATE properties SET value = 1 WHERE name = 'on'", "\tfalse\t", "\ttrue\t"),
        ("a.model", "UPDATE models SET extent = 7.5", "<extent>\t5.0000\t", "<extent>\t7.5\t"),
        (
            "a.model",
            "UPDATE models SET visual = 'mods/b.visual'",
            "<nodefullVisual>\tPnFMods/Sample/gun/turret\t",
            "<nodefullVisual>\tmods/b\t",
        ),
        ("a.visual", "UPDATE lods SET extent = 9 WHERE \"index\" = 0", "<extent>\t4.0000\t", "<extent>\t9\t"),
        (
            "old.visual",
            "UPDATE render_sets SET mfm = 'mods/c.mfm' WHERE \"index\" = 0",
            "<mfm>\tPnFMods/Sample/gun/0director.mfm\t",
            "<mfm>\tmods/c.mfm\t",
        ),
    ] {
        let args = ["sql", query, file, "--to", "new", "--undo", "undo.ndjson", "--force"];
        run(dir.path(), 0, &args);
        assert_eq!(text(&dir, "new"), text(&dir, file).replacen(old, new, 1), "{query}");
        let name = format!("undone-{}", file.replace('/', "-"));
        fs::rename(dir.path().join("new"), dir.path().join(&name)).unwrap();
        run(dir.path(), 0, &["patch", &name, "undo.ndjson", "--in-place"]);
        assert_eq!(text(&dir, &name), text(&dir, file), "{query}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let dir = folder();
    for (file, query, what) in [
        ("gun/hull.mfm", "UPDATE properties SET value = 'x' WHERE name = 'glow'", "\"x\" does not fit"),
        ("gun/hull.mfm", "UPDATE properties SET value = '' WHERE name = 'diffuseMap'", "\"\" does not fit"),
        ("gun/hull.mfm", "UPDATE properties SET kind = 'Int'", "column kind: \"Int\" does not fit: it takes nothing"),
        ("gun/hull.mfm", "DELETE FROM properties", "rows of properties can neither be added nor removed"),
        ("a.model", "UPDATE models SET visual = 'mods/b'", "\"mods/b\" does not fit: a path that ends in .visual does"),
        ("a.model", "UPDATE models SET extent = 'far'", "column extent: \"far\" does not fit"),
        ("a.visual", "UPDATE nodes SET name = 'x'", "column name: \"x\" does not fit: it takes nothing"),
    ] {
        let (_, said) = run(dir.path(), 2, &["sql", query, file, "--to", "new"]);
        assert!(said.contains(what) && !dir.path().join("new").exists(), "{query}: {said}");
    }
}

#[test]
fn one_statement_changes_all_files_of_a_glob() {
    let dir = folder();
    let old = ["gun/hull.mfm", "gun/lods/deck.mfm"].map(|name| text(&dir, name));
    let query = "UPDATE properties SET value = replace(value, 'mod/', 'mods/x/') WHERE value LIKE 'mod/%'";
    let (shown, said) = run(dir.path(), 0, &["sql", query, "gun/**/*.mfm", "--in-place", "--undo", "undo"]);
    assert!(
        shown.contains("~ hull.mfm:properties diffuseMap\n    value: mod/hull_a.dds -> mods/x/hull_a.dds"),
        "{shown}"
    );
    assert!(said.contains("gun/**/*.mfm: 2 files changed"), "{said}");
    for (old, name) in old.iter().zip(["hull.mfm", "lods/deck.mfm"]) {
        let file = format!("gun/{name}");
        assert_eq!(text(&dir, &file), old.replace("\tmod/", "\tmods/x/"));
        run(dir.path(), 0, &["patch", &file, &format!("undo/{name}.ndjson"), "--in-place"]);
        assert_eq!(text(&dir, &file), *old);
    }
    // A value that fits into some of the files changes none.
    let query = "UPDATE properties SET value = iif(value = 1, 'x', 2) WHERE name = 'glow'";
    let (_, said) = run(dir.path(), 2, &["sql", query, "gun/**/*.mfm", "--in-place"]);
    assert!(said.contains("deck.mfm") && text(&dir, "gun/hull.mfm") == old[0], "{said}");
    for (args, what) in
        [(&["--to", "new"][..], "--to NEW is for one file"), (&["--in-place", "-f", "json"], "-f json is for one file")]
    {
        let args = [&["sql", "UPDATE properties SET value = 'x'", "gun/**/*.mfm"][..], args].concat();
        let (_, said) = run(dir.path(), 2, &args);
        assert!(said.contains(what), "{said}");
    }
    run(dir.path(), 1, &["sql", "UPDATE properties SET value = 1 WHERE name = '?'", "gun/**/*.mfm", "--in-place"]);
    // Undo patches have the folders of their files.
    let query = "UPDATE properties SET value = 'mods/b.dds' WHERE name = 'diffuseMap'";
    run(dir.path(), 0, &["sql", query, "**/*.mfm", "--in-place", "--undo", "undo-all"]);
    assert!(dir.path().join("undo-all/gun/lods/deck.mfm.ndjson").exists());
    // A patch that is there already is an error before the first file is changed.
    let before = text(&dir, "gun/hull.mfm");
    std::fs::create_dir_all(dir.path().join("taken/lods")).unwrap();
    std::fs::write(dir.path().join("taken/lods/deck.mfm.ndjson"), "mine").unwrap();
    let query = "UPDATE properties SET value = 'mods/c.dds' WHERE name = 'diffuseMap'";
    let (_, said) = run(dir.path(), 4, &["sql", query, "gun/**/*.mfm", "--in-place", "--undo", "taken"]);
    assert!(said.contains("deck.mfm.ndjson: it exists, and may be the only way back"), "{said}");
    assert_eq!(text(&dir, "gun/hull.mfm"), before);
}

/// A folder with two files. One has a symbolic link and a second name.
#[cfg(unix)]
fn linked() -> TempDir {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    std::os::unix::fs::symlink("hull.mfm", at("gun/hull-link.mfm")).unwrap();
    fs::hard_link(at("gun/hull.mfm"), at("gun/hull-same.mfm")).unwrap();
    dir
}

#[cfg(unix)]
#[test]
fn a_file_with_several_names_is_changed_once() {
    let dir = linked();
    let old = text(&dir, "gun/hull.mfm");
    let query = "UPDATE properties SET value = 'x_' || value WHERE name = 'diffuseMap'";
    let (_, said) = run(dir.path(), 0, &["sql", query, "gun/**/*.mfm", "--in-place", "--undo", "undo"]);
    assert!(said.contains("gun/**/*.mfm: 2 files changed"), "{said}");
    for name in ["gun/hull.mfm", "gun/hull-link.mfm", "gun/hull-same.mfm"] {
        assert_eq!(text(&dir, name), old.replace("\tmod/", "\tx_mod/"), "{name}");
    }
    assert!(fs::symlink_metadata(dir.path().join("gun/hull-link.mfm")).unwrap().is_symlink());
    for name in ["hull", "hull-same"] {
        run(dir.path(), 0, &["patch", &format!("gun/{name}.mfm"), &format!("undo/{name}.mfm.ndjson"), "--in-place"]);
        assert_eq!(text(&dir, &format!("gun/{name}.mfm")), old);
    }
}

#[test]
fn many_files_stay_if_one_undo_patch_cannot_be_written() {
    let dir = folder();
    // The name of its patch is longer than a name may be.
    let long = format!("gun/z{}.mfm", "z".repeat(245));
    fs::copy(dir.path().join("gun/hull.mfm"), dir.path().join(&long)).unwrap();
    let old = ["gun/hull.mfm", "gun/lods/deck.mfm", &long].map(|name| text(&dir, name));
    let query = "UPDATE properties SET value = 'mods/c.dds' WHERE name = 'diffuseMap'";
    run(dir.path(), 4, &["sql", query, "gun/**/*.mfm", "--in-place", "--undo", "undo"]);
    assert_eq!(["gun/hull.mfm", "gun/lods/deck.mfm", &long].map(|name| text(&dir, name)), old);
}

#[test]
fn characters_that_xml_cannot_hold_are_refused() {
    let dir = folder();
    for character in ["\u{1}", "\u{FFFF}"] {
        let query = format!("UPDATE properties SET value = 'mod/a{character}.dds' WHERE name = 'diffuseMap'");
        let (_, said) = run(dir.path(), 2, &["sql", &query, "gun/hull.mfm", "--to", "new.mfm"]);
        assert!(said.contains("does not fit: XML has no way to write such a character"), "{said}");
        assert!(!dir.path().join("new.mfm").exists());
    }
}
