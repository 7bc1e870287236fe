//! Joints of skinned meshes in a page.

use super::browser::Browser;
use super::scene::{VIEW, look};
use super::{Scheme, sample};
use crate::common::run;
use assetq_sample::Size;
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A turret beside its visual, without which its joints are only numbers.
fn turret(dir: &Path) {
    fs::write(dir.join("gun.geometry"), assetq_sample::geometry::turret()).unwrap();
    fs::write(dir.join("gun.visual"), assetq_sample::text_models::turret_visual()).unwrap();
}

/// Counts the pixels by which a frame differs from the one that the last call kept.
const CHANGED: &str = "(view) => { view.renderer.rests = false; view.draw(false); const pen = new OffscreenCanvas(view.canvas.width, view.canvas.height).getContext('2d'); \
     pen.drawImage(view.canvas, 0, 0); const now = pen.getImageData(0, 0, view.canvas.width, view.canvas.height).data; \
     const before = globalThis.kept; globalThis.kept = now; let count = 0; \
     for (let i = 0; before && i < now.length; i += 4) if ([0, 1, 2].some((c) => Math.abs(now[i + c] - before[i + c]) > 24)) count++; return count; }";

#[test]
fn a_turret_turns_by_the_keyboard_and_by_the_address() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    turret(dir.path());
    let tab = look(&browser, dir.path(), "gun.geometry");
    let joints = json!(["Scene Root", "Rotate_Y", "Rotate_Y_BlendBone", "Rotate_X", "Rotate_X_BlendBone"]);
    assert_eq!(tab.eval(&format!("{VIEW}.contents.joints")), joints, "the nodes that move vertices, the topmost first");
    let group = "document.querySelector('[role=group][aria-label=Joints]')";
    assert_eq!(tab.eval(&format!("{group}.querySelector('select').selectedOptions[0].textContent")), "Rotate_Y");
    let changed = || tab.eval(&format!("({CHANGED})({VIEW})")).as_u64().unwrap();
    changed();
    tab.eval(&format!("{group}.querySelector('input[type=range]').focus()"));
    tab.key("ArrowRight");
    tab.key("ArrowRight");
    tab.wait("location.hash === '#scene&turn=1y2'");
    assert_eq!(tab.eval(&format!("{group}.querySelector('output').textContent")), "2°");
    let turned = changed();
    assert!(turned > 0, "no pixel of a turret that turned");
    tab.eval(&format!("{group}.querySelector('button').click()"));
    tab.wait("location.hash === '#scene'");
    assert_eq!(changed(), turned, "it is at rest again");
    // A turret that turns by 40° is seen by an eye that turns with it as it was. The eye looks at a point of the axis.
    let seen = |turn: &str, yaw: i32| {
        tab.eval(&format!("(() => {{ location.hash = '#scene{turn}'; }})()"));
        tab.wait(&format!(
            "Object.entries({VIEW}.store.now.turns).flat().join('') === '{}'",
            turn.trim_start_matches("&turn=")
        ));
        let js = format!(
            "(() => {{ const view = {VIEW}; view.store.change({{ grid: false, \
             eye: [{yaw} * Math.PI / 180, 0.4, 40, 0, 0.5, 0] }}); return ({CHANGED})(view); }})()"
        );
        tab.eval(&js).as_u64().unwrap()
    };
    seen("", 20);
    let turned = seen("&turn=1y40", 20);
    assert!(turned > 2000, "{turned} pixels of a turret that turned");
    seen("", 20);
    let followed = seen("&turn=1y40", 60);
    assert!(followed * 20 < turned, "{followed} and {turned} pixels");
    // Vertices hang on the gun by 75 parts of 255: it lifts them by less than the turret would.
    seen("", 20);
    assert!(seen("&turn=3x-30", 20) > 1000);
    let moved = tab.eval(&format!(
        "(() => {{ const {{ pose }} = {VIEW}.contents.rigs[0]; const at = (joint) => Math.abs(pose[joint * 12 + 4] - 1); return [at(0), at(1)]; }})()"
    ));
    let [turret, gun]: [f64; 2] = serde_json::from_value(moved).unwrap();
    assert!(turret < 1e-6 && (gun - (1.0 - 30f64.to_radians().cos())).abs() < 1e-6, "{turret} {gun}");
    assert_eq!(tab.errors(), [""; 0]);
}

/// Pages of other meshes have neither joints nor controls for them, nor has a turret without its visual.
#[test]
fn a_page_without_joints_is_as_it_was() {
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    turret(dir.path());
    let page = |args: &[&str]| {
        run(dir.path(), 0, &[&["view"], args, &["--to", "page.html", "--force"]].concat());
        fs::read_to_string(dir.path().join("page.html")).unwrap()
    };
    assert!(page(&["gun.geometry"]).contains("\"rigs\":[[{\"name\":\"Rotate_Y_BlendBone\",\"parent\":"));
    for args in [&["ship.geometry"][..], &["gun.geometry", "--no-companions"]] {
        assert!(!page(args).contains("\"rig"), "{args:?}");
    }
    let Some(browser) = Browser::start() else { return };
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!!document.querySelector('[data-ready]')");
    assert_eq!(tab.eval("document.querySelector('[aria-label=Joints]')"), serde_json::Value::Null);
    assert_eq!(tab.errors(), [""; 0]);
}
