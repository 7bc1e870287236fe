//! Two models side by side, in a real browser.

use super::browser::{Browser, Scheme, Tab};
use super::scene::{VIEW, plate};
use crate::common::{run, writer};
use assetq_sample::geometry::GeometryBuilder;
use assetq_sample::ship::{SHIP, folder};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn look<'b>(browser: &'b Browser, dir: &Path, args: &[&str]) -> Tab<'b> {
    run(dir, 0, &[&["view"], args, &["--compare", "--to", "page.html", "--force"]].concat());
    let tab = browser.open(&dir.join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    tab.wait(&format!("{VIEW}.signs?.length === 2"));
    tab
}

/// Whether the first model ends along x before the second one begins.
fn is_beside(tab: &Tab<'_>) -> bool {
    let x = format!(
        "(async () => {{ const v = {VIEW}; const of = (file) => v.contents.bounds(v.contents.models.filter((m) => m.file === file)); \
         return of(0).max[0] < of(1).min[0]; }})()"
    );
    tab.eval(&x) == true
}

#[test]
fn two_files_stand_side_by_side_and_their_plates_are_compared() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, plates) in [
        ("old/hull.geometry", vec![plate(12, 1, 0.0), plate(47, 1, 3.0)]),
        ("new/hull.geometry", vec![plate(12, 1, 0.0), plate(12, 1, 3.0), plate(47, 1, 5.0), plate(2, 3, -4.0)]),
    ] {
        let mut builder = GeometryBuilder::new();
        builder.armor("hull.armor", plates);
        fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(name), builder.build()).unwrap();
    }
    let tab = look(&browser, dir.path(), &["old/hull.geometry", "new/hull.geometry"]);
    assert_eq!(
        tab.eval(&format!("{VIEW}.signs.map(({{ name }}) => name)")),
        json!(["old/hull.geometry", "new/hull.geometry"])
    );
    assert!(is_beside(&tab));
    let lines = "[...document.querySelectorAll('.scene-differences .scene-difference')].map((e) => [...e.children].map((c) => c.textContent))";
    let found = tab.eval(lines);
    assert_eq!(found.as_array().unwrap().len(), 2, "the bow has one plate in both: {found}");
    assert_eq!([&found[0][1], &found[1][1]], ["none → 1", "1 → 2"]);
    // One material has one colour.
    let colours = tab.eval(&format!(
        "new Set({VIEW}.contents.models.filter((m) => m.material.name.startsWith('12 ')).map((m) => String(m.colour))).size"
    ));
    assert_eq!(colours, 1);
    tab.eval("document.querySelectorAll('.scene-differences .scene-line')[1].click()");
    tab.wait(&format!("{VIEW}.contents.models.filter((m) => m.isShown).length === 2"));
    tab.shot("compare");
    assert_eq!(tab.errors(), [""; 0]);
    // Refusals.
    let (_, error) = run(dir.path(), 2, &["view", "old/hull.geometry", "--compare", "--to", "x.html"]);
    assert!(error.contains("--compare shows two files, two ships of a game"), "{error}");
    run(dir.path(), 2, &["view", "old/hull.geometry", "new/hull.geometry", "--to", "x.html"]);
    run(dir.path(), 2, &["view", "old/hull.geometry", "new/hull.geometry", "--compare", "--to", "x.svg"]);
}

#[test]
fn two_ships_and_two_builds_of_a_ship_stand_side_by_side() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for game in ["old", "new"] {
        let mut write = writer(dir.path());
        folder::<std::convert::Infallible>(|path, bytes| {
            write(&format!("{game}/{path}"), bytes.to_vec());
            Ok(())
        })
        .unwrap();
    }
    for (args, names) in [
        (&["old", "--ship", SHIP, "--ship", SHIP][..], [format!("{SHIP} of old"), format!("{SHIP} of old")]),
        (&["old", "new", "--ship", SHIP][..], [format!("{SHIP} of old"), format!("{SHIP} of new")]),
    ] {
        let tab = look(&browser, dir.path(), args);
        assert_eq!(tab.eval(&format!("{VIEW}.signs.map(({{ name }}) => name)")), json!(names));
        assert!(is_beside(&tab));
        let kinds = tab
            .eval(&format!("[...new Set({VIEW}.contents.models.map((m) => `${{m.file}} ${{m.part.kind}}`))].sort()"));
        assert_eq!(kinds, json!(["0 armor", "0 mesh", "1 armor", "1 mesh"]));
        // Ships are in metres, and equal ones have no differences.
        assert_eq!(tab.eval(&format!("{VIEW}.meta.metres")), 15);
        assert_eq!(tab.eval("document.querySelectorAll('.scene-differences .scene-line').length"), 0);
        // Meshes appear in their textures, though plates have colours by thickness.
        tab.eval("document.querySelector('[aria-label=\"Show meshes\"]').click()");
        tab.wait(&format!("{VIEW}.contents.models.every((m) => m.solid)"));
        tab.wait(&format!("[...{VIEW}.renderer.programs.keys()].some((needs) => needs.includes('SURFACE'))"));
        tab.shot("compare-ships");
        assert_eq!(tab.errors(), [""; 0]);
    }
}
