//! Maps in a real browser: their canvas, small boxes, and spaces with their models.

use super::browser::{Browser, Tab};
use super::sample;
use super::scene::{DRAW, VIEW, look, on_canvas};
use crate::common::{cubes, run, samples};
use assetq_sample::Size;
use assetq_sample::space::model_ids;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// JavaScript that counts the pixels of the map that are not empty.
const DRAWN: &str = "(({ pen, plan: { width, height } }) => { const all = pen.getImageData(0, 0, width, height).data; \
     let count = 0; for (let i = 3; i < all.length; i += 4) if (all[i] > 200) count++; return count; })";

/// Draws the map, and returns how many of its pixels are not empty.
fn drawn(tab: &Tab<'_>) -> u64 {
    tab.eval(&format!("{VIEW}.drawPlan(), {DRAWN}({VIEW})")).as_u64().unwrap()
}

#[test]
fn a_map_that_is_drawn_slowly_gets_a_canvas_in_memory() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Small);
    let tab = look(&browser, dir.path(), "town.wdata");
    let canvas = |milliseconds: i32| {
        tab.eval(&format!(
            "(() => {{ const v = {VIEW}; Object.assign(v, {{ judged: 0, inMemory: false }}); const old = v.plan; old.focus(); \
             for (let i = 0; i < 3; i++) v.judge(performance.now() - {milliseconds}); \
             return [v.inMemory, v.plan !== old, v.plan.isConnected && !old.isConnected, \
                     document.activeElement === v.plan, {DRAWN}(v) > 100]; }})()"
        ))
    };
    // A frame that ended before it began is a fast one, however slow this machine is.
    assert_eq!(canvas(-9999), json!([false, false, false, true, true]));
    // The new canvas shows the map at once, keeps the focus, and follows the pointer.
    assert_eq!(canvas(100), json!([true, true, true, true, true]));
    let before = tab.eval(&format!("{VIEW}.shift"));
    let (x, y) = on_canvas(&tab, 0.5, 0.5);
    super::scene::drag(&tab, (x, y), (80.0, 10.0));
    assert!(tab.eval(&format!("{VIEW}.shift")) != before);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn what_shows_all_shows_all_in_a_window_of_another_size() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Small);
    sample(dir.path(), "ship.geometry", Size::Small);
    let frames = "(async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); })()";
    for (file, at) in [("town.wdata", "[v.scale, ...v.shift]"), ("ship.geometry", "v.camera.eye")] {
        let tab = look(&browser, dir.path(), file);
        let place = || tab.eval(&format!("(async (v) => {{ await {frames}; return {at}; }})({VIEW})"));
        let wide = place();
        tab.size(900, 800);
        let narrow = place();
        assert_ne!(wide, narrow, "{file}");
        tab.eval(&format!("(async () => {{ await {VIEW}.fit(); }})()"));
        assert_eq!(narrow, place(), "{file}");
        // A map that was moved stays where it is.
        super::scene::drag(&tab, on_canvas(&tab, 0.5, 0.5), (30.0, 10.0));
        let moved = place();
        assert_ne!(moved, narrow, "{file}");
        tab.size(1280, 800);
        assert_eq!(moved, place(), "{file}");
        assert_eq!(tab.errors(), [""; 0]);
    }
}

#[test]
fn a_box_that_is_too_small_to_see_gets_a_dot() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Small);
    let tab = look(&browser, dir.path(), "town.wdata");
    tab.eval(&format!("Object.assign({VIEW}, {{ labels: false, links: false, isFitted: false }}), 0"));
    // From afar all boxes together are smaller than a pixel. A few get a dot, and many a disc with their number.
    let far = |boxes: &str| {
        tab.eval(&format!("(() => {{ const v = {VIEW}; globalThis.all ??= v.boxes; v.boxes = {boxes}; v.scale = 1e-7; v.center([0, 0, 0]); v.drawPlan(); }})()"));
        drawn(&tab)
    };
    let empty = far("[]");
    let dots = far("all.slice(0, 3)") - empty;
    assert!((9..100).contains(&dots), "{dots} pixels of dots");
    assert!(far("all") - empty > 200, "a disc");
    assert_eq!(tab.eval(&format!("{VIEW}.clusters.length")), 1);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_space_is_a_map_of_its_instances_which_lead_to_their_models() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for name in ["space.bin", "models.bin"] {
        sample(dir.path(), name, Size::Small);
    }
    fs::write(dir.path().join("cubes.geometry"), cubes()).unwrap();
    // Alone, the space has no sizes.
    let tab = look(&browser, dir.path(), "space.bin");
    assert_eq!(tab.eval(&format!("{VIEW}.boxes.length")), 26);
    assert_eq!(tab.eval(&format!("{VIEW}.boxes.every((box) => box.reach === 0)")), true);
    assert_eq!(
        tab.eval("document.querySelector('.scene-side').innerText.includes('24 instances without a known size')"),
        true
    );
    assert!(drawn(&tab) > 26 * 9, "each instance has a dot");
    let labels = format!(
        "((v) => {{ v.off.add(v.kinds.findIndex(({{ name }}) => name === 'point lights')); const counts = [true, false].map((on) => \
         {{ v.labels = on; v.drawPlan(); return {DRAWN}(v); }}); return counts[0] - counts[1]; }})({VIEW})"
    );
    assert_eq!(tab.eval(&labels), 0, "ids are no names");
    drop(tab);
    let args = ["space.bin", "--with", "models.bin", "--with", "cubes.geometry", "--to", "page.html", "--force"];
    run(dir.path(), 0, &[&["view"], &args[..]].concat());
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, super::Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    assert_eq!(
        tab.eval("assetq.page.parts.slice(1, 4).map((part) => part.id)"),
        json!(["map", "scene", "table=instances"])
    );
    // A box lies around its instance as the model's bounds say, moved by the matrix.
    let (rows, _) = run(
        dir.path(),
        0,
        &[
            "sql",
            "SELECT i.id, i.\"index\" AS row, i.x, i.z, m.min, m.max FROM instances i JOIN models m ON m.id = i.id ORDER BY m.path, i.\"index\"",
            "space.bin",
            "models.bin",
            "-f",
            "json",
        ],
    );
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows.len(), 24);
    let first = format!("0x{:016X}", model_ids(Size::Small)[0]);
    let mut placed = None;
    for row in &rows {
        let number = row["row"].as_u64().unwrap();
        let found = tab.eval(&format!(
            "{VIEW}.boxes.find((box) => box.row === {number} && {VIEW}.kinds[box.kind].table === 'instances')"
        ));
        for (axis, at) in [(0, "x"), (2, "z")] {
            let [min, max] = ["min", "max"].map(|end| row[end][axis].as_f64().unwrap());
            let [center, half] = [&found["center"][axis], &found["sides"][axis][axis]].map(|v| v.as_f64().unwrap());
            assert!((row[at].as_f64().unwrap() + f64::midpoint(min, max) - center).abs() < 1e-2, "{row} {found}");
            assert!(((max - min) / 2.0 - half).abs() < 1e-2, "{row} {found}");
        }
        if row["id"] == first {
            placed.get_or_insert(number);
        }
    }
    // The scene and the map are in metres, and so are the cards of boxes.
    for kind in ["map", "scene"] {
        let view = format!("assetq.page.parts.find(({{ kind }}) => kind === '{kind}')");
        assert_eq!(tab.eval(&format!("{view}.meta.metres")), 15, "{kind}");
    }
    assert_eq!(tab.eval(&format!("{VIEW}.length(2)")), "30 m");
    let at = tab.eval(&format!(
        "(({{ center }}) => center.map((v) => (v * 15).toLocaleString('en', {{ maximumFractionDigits: 2 }})).join(', ') + ' m')({VIEW}.boxes[0])"
    ));
    assert_eq!(tab.eval(&format!("{VIEW}.facts({VIEW}.boxes[0]).find(([name]) => name === 'at')[1]")), at);
    // The card of an instance leads to its model, and the model to its row.
    let row = placed.expect("an instance of the first model");
    super::visit(&tab, &format!("#map&table=instances&row={row}"));
    tab.wait("document.querySelector('.scene-other') !== null");
    tab.eval("document.querySelector('.scene-other').click()");
    tab.wait("document.querySelector('.scene.part:not([hidden]) .scene-chosen a') !== null");
    let href = tab.eval("document.querySelector('.scene.part:not([hidden]) .scene-chosen a').getAttribute('href')");
    assert_eq!(href, format!("#table=instances&row={row}"));
    tab.wait(&format!("location.hash.startsWith('#scene&instance={row}')"));
    // The outline is that of all of its parts: no other number than the chosen one is seen of them.
    let parts = tab.eval(&format!(
        "(() => {{ const v = assetq.page.parts.find(({{ kind }}) => kind === 'scene').view; {DRAW}(v); const {{ gl, screen }} = v.renderer; \
         gl.bindFramebuffer(gl.FRAMEBUFFER, screen.frame); const all = new Uint8Array(screen.width * screen.height * 4); \
         gl.readPixels(0, 0, screen.width, screen.height, gl.RGBA, gl.UNSIGNED_BYTE, all); gl.bindFramebuffer(gl.FRAMEBUFFER, null); \
         const seen = new Set(new Uint32Array(all.buffer)); const parts = v.contents.partsOf({row}, (model) => model.isShown); \
         return [parts.length, parts.filter((id) => seen.has(id)).length, seen.has(v.store.now.chosen)]; }})()"
    ));
    assert!(parts[0].as_u64().unwrap() > 1 && parts[1] == 1 && parts[2] == true, "{parts}");
    tab.shot("space-models");
    assert_eq!(tab.errors(), [""; 0]);
}

/// The boxes of a real space lie around the models that the geometry has.
#[test]
fn boxes_of_a_real_space_lie_around_its_models() {
    let Some(files) = samples() else { return };
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let file = |folder: &str, ending: &str| files.join(folder).join(format!("r01_military_navigation.{ending}"));
    let [space, models, geometry] =
        [("space_bin", "space.bin"), ("models_bin", "models.bin"), ("geometry", "models.geometry")]
            .map(|(folder, ending)| file(folder, ending).to_str().unwrap().to_owned());
    run(dir.path(), 0, &["view", &space, "--with", &models, "--with", &geometry, "--to", "page.html"]);
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, super::Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    super::visit(&tab, "#scene");
    tab.wait("document.querySelector('.scene.part:not([hidden])')?.dataset.ready === '1' && assetq.page.parts.find(({ kind }) => kind === 'scene').view!== undefined");
    // The space is left-handed, the scene right-handed.
    let apart = tab.eval(
        "(async () => { const [map, scene] = ['map', 'scene'].map((kind) => assetq.page.parts.find((part) => part.kind === kind).view); let [seen, worst] = [0, 0]; \
         for (const box of map.boxes) { \
           const [id] = scene.contents.partsOf(box.row, () => true); if (id === undefined) continue; seen++; \
           const { min, max } = scene.contents.bounds([scene.contents.standing(id)]); \
           const reach = [0, 1, 2].map((k) => box.sides.reduce((sum, side) => sum + Math.abs(side[k]), 0)); \
           const size = Math.hypot(...reach); \
           const center = [-box.center[0], box.center[1], box.center[2]]; \
           [0, 1, 2].forEach((k) => { worst = Math.max(worst, (center[k] - reach[k] - min[k]) / size, (max[k] - center[k] - reach[k]) / size); }); \
         } return [seen, worst]; })()",
    );
    let (seen, worst) = (apart[0].as_u64().unwrap(), apart[1].as_f64().unwrap());
    println!("{seen} instances; the model that leaves its box the most leaves it by {worst} of its size");
    assert!(seen > 100 && worst < 0.05, "{apart}");
    tab.shot("real-space");
    assert_eq!(tab.errors(), [""; 0]);
}
