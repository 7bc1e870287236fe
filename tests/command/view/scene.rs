//! Meshes, armour and maps in a real browser.

use super::browser::{Browser, Scheme, Tab};
use super::sample;
use crate::common::run;
use assetq_sample::Size;
use assetq_sample::geometry::{GeometryBuilder, HullShape, PlateShape, many};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The page of `file`, once what it shows was decoded.
pub(super) fn look<'b>(browser: &'b Browser, dir: &Path, file: &str) -> Tab<'b> {
    run(dir, 0, &["view", file, "--to", "page.html", "--force"]);
    let tab = browser.open(&dir.join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!!document.querySelector('[data-ready]')");
    tab.wait("Number(document.querySelector('[data-ready]').dataset.frames) > 0");
    tab
}

/// The picture on the screen, once it is stable.
pub(super) fn picture(tab: &Tab<'_>) -> String {
    tab.eval("(async () => { for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); })()");
    let shot = tab.call("Page.captureScreenshot", json!({ "format": "png" }));
    shot["data"].as_str().unwrap().to_owned()
}

/// A point of the canvas, from its left and upper edges in shares of its size.
pub(super) fn on_canvas(tab: &Tab<'_>, x: f64, y: f64) -> (f64, f64) {
    let js = "(() => { const b = document.querySelector('.scene-canvas:not([hidden])').getBoundingClientRect(); \
              return [b.left, b.top, b.width, b.height]; })()";
    let [left, top, width, height]: [f64; 4] = serde_json::from_value(tab.eval(js)).unwrap();
    (left + x * width, top + y * height)
}

/// The text for the shape at a point.
pub(super) fn hover(tab: &Tab<'_>, (x, y): (f64, f64)) -> String {
    tab.mouse("mouseMoved", x, y, "none");
    tab.eval("(async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); })()");
    let js = "(() => { const tip = document.querySelector('.scene-tip'); return tip.hidden ? '' : tip.innerText; })()";
    tab.eval(js).as_str().unwrap().to_owned()
}

pub(super) fn drag(tab: &Tab<'_>, (x, y): (f64, f64), (dx, dy): (f64, f64)) {
    tab.mouse("mousePressed", x, y, "left");
    for step in 1..=4 {
        tab.mouse("mouseMoved", x + dx * f64::from(step) / 4.0, y + dy * f64::from(step) / 4.0, "left");
    }
    tab.mouse("mouseReleased", x + dx, y + dy, "left");
}

/// A square plate that lies flat, with its middle at `x`.
pub(super) fn plate(material: u16, layer: u16, x: f32) -> PlateShape {
    let [a, b, c, d] = [[x - 1.0, 0.0, -1.0], [x - 1.0, 0.0, 1.0], [x + 1.0, 0.0, 1.0], [x + 1.0, 0.0, -1.0]];
    PlateShape { material, layer, triangles: vec![[a, b, c], [a, c, d]] }
}

/// Armour of two plates beside each other, and a hull above them, under a name that would be a script.
fn armour(dir: &Path) {
    let mut builder = GeometryBuilder::new();
    builder.armor("<script>hit=1</script><img src=x onerror=hit=2>", vec![plate(12, 3, -1.0), plate(2, 1, 1.0)]);
    builder.collision("default", vec![HullShape::cuboid([-2.0, 1.0, -1.0], [2.0, 2.0, 1.0])]);
    fs::write(dir.join("ship.geometry"), builder.build()).unwrap();
}

#[test]
fn a_plate_is_named_under_the_pointer_and_hidden_by_its_material() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    armour(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    // From above, the bow to the right: x of the file leads to the left of what looks forward.
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("4");
    let (upper, lower) = (on_canvas(&tab, 0.5, 0.3), on_canvas(&tab, 0.5, 0.7));
    let found = [hover(&tab, upper), hover(&tab, lower)];
    let [bottom, side] = if found[0].contains("12 Bottom") { [0, 1] } else { [1, 0] };
    assert!(found[bottom].contains("material 12 Bottom\nlayer 3\nplate 0\ntriangles 2"), "{found:?}");
    assert!(found[side].contains("material 2 Dual_SSC_Bow_Side\nlayer 1\nplate 1"), "{found:?}");
    assert_eq!(hover(&tab, on_canvas(&tab, 0.02, 0.02)), "", "nothing is there");

    // A press chooses the plate, and leads to its row.
    let at = [upper, lower][bottom];
    tab.mouse("mousePressed", at.0, at.1, "left");
    tab.mouse("mouseReleased", at.0, at.1, "left");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('area 900 m²')");
    let link = tab.eval("document.querySelector('.scene-chosen a').getAttribute('href')");
    assert_eq!(link, "#table=armor_plates&row=0");

    // Its material is switched off, and then its layer rather than that.
    let lines = "[...document.querySelectorAll('.scene-zones .node, label.scene-line')].find((line) => line.innerText.includes('WHICH') && line.querySelector('input')).querySelector('input').click()";
    for which in ["12 Bottom", "Layer 3"] {
        tab.eval("document.querySelectorAll('.scene-side details').forEach((details) => (details.open = true))");
        tab.eval(&lines.replace("WHICH", which));
        assert_eq!(hover(&tab, at), "", "{which} is hidden");
        tab.eval(&lines.replace("WHICH", which));
        assert!(hover(&tab, at).contains("12 Bottom"), "{which} is back");
    }
    // The hull is shown when it is asked for, and lies above the armour.
    tab.eval("[...document.querySelectorAll('.folder-head')].find((s) => s.innerText.includes('hulls')).querySelector('input').click()");
    tab.wait("document.querySelector('.scene-status').textContent === ''");
    assert!(hover(&tab, at).contains("collision 0/hull 0"));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_hit_box_is_named_under_the_pointer() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.splash", Size::Small);
    let tab = look(&browser, dir.path(), "ship.splash");
    let (boxes, _) = run(dir.path(), 0, &["ls", "ship.splash", "-f", "json"]);
    let boxes: Vec<serde_json::Value> = serde_json::from_str(&boxes).unwrap();
    // From the front, the first box hides the others.
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("3");
    let reach = |row: &&serde_json::Value| (row["max_z"].as_f64().unwrap() * 1000.0) as i64;
    let foremost = boxes.iter().max_by_key(reach).unwrap()["name"].as_str().unwrap();
    let found = hover(&tab, on_canvas(&tab, 0.5, 0.5));
    assert!(found.starts_with(&format!("part {foremost}\n")), "{foremost}: {found}");
    // A line for each kind of box, by its name.
    let kinds = tab.eval("new Set([...document.querySelectorAll('.scene-side .scene-line')].map((line) => line.title.split(', of ')[1])).size");
    assert!(kinds.as_u64().unwrap() > 1);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_mesh_called_script_is_shown_and_not_run() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    armour(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    let tip = hover(&tab, on_canvas(&tab, 0.5, 0.5));
    assert!(tip.contains("<script>hit=1</script><img src=x onerror=hit=2>"), "{tip}");
    assert_eq!(tab.eval("typeof hit"), "undefined");
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script').length"), 0);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn mouse_fingers_and_keys_turn_and_cut_what_is_seen() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Full);
    let tab = look(&browser, dir.path(), "ship.geometry");
    let middle = on_canvas(&tab, 0.5, 0.5);
    let mut seen = picture(&tab);
    let mut changes = |what: &str, act: &dyn Fn()| {
        act();
        // A draft is followed by the whole within moments.
        tab.wait("document.querySelector('[data-ready]').dataset.draft === '0'");
        let now = picture(&tab);
        assert!(now != seen, "{what} changes nothing");
        seen = now;
    };
    let set = |selector: &str, value: &str, event: &str| {
        tab.eval(&format!(
            "(() => {{ const e = document.querySelector('{selector}'); e.value = '{value}'; \
             e.dispatchEvent(new Event('{event}')); }})()"
        ));
    };
    changes("a drag", &|| drag(&tab, middle, (80.0, 20.0)));
    changes("a wheel", &|| tab.wheel(middle.0, middle.1, -240.0));
    for key in ["ArrowRight", "ArrowUp", "+", "f", "2", "3", "4", "1", "w", "w"] {
        changes(key, &|| tab.key(key));
    }
    let fingers = |apart: f64| [(middle.0 - apart, middle.1), (middle.0 + apart, middle.1)];
    changes("two fingers", &|| {
        tab.touch("touchStart", &fingers(40.0));
        (4..9).for_each(|step| tab.touch("touchMove", &fingers(f64::from(step) * 12.0)));
        tab.touch("touchEnd", &[]);
    });
    changes("one finger", &|| {
        tab.touch("touchStart", &[middle]);
        (1..5).for_each(|step| tab.touch("touchMove", &[(middle.0 + 20.0 * f64::from(step), middle.1)]));
        tab.touch("touchEnd", &[]);
    });
    changes("a section", &|| set("select[title=\"Section plane\"]", "2", "change"));
    changes("another place of it", &|| set("input[type=range]", "250", "input"));
    changes("colours by layer", &|| set("select[title=\"Colour of armour\"]", "layer", "change"));
    tab.shot("ship-section");
    assert_eq!(tab.errors(), [""; 0]);
}

/// The page of a battleship's armour, with the thickness that parameters state.
pub(super) fn battleship<'b>(browser: &'b Browser, dir: &Path) -> Tab<'b> {
    sample(dir, "GameParams.data", Size::Small);
    fs::write(dir.join("ASB900.geometry"), assetq_sample::geometry::battleship()).unwrap();
    run(dir, 0, &["view", "ASB900.geometry", "--with", "GameParams.data", "--to", "page.html"]);
    let tab = browser.open(&dir.join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("!!document.querySelector('[data-ready]')");
    tab
}

#[test]
fn plates_are_listed_by_the_thickness_that_parameters_state() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    tab.eval("[...document.querySelectorAll('.scene-side details')].find((d) => d.innerText.startsWith('Plates')).open = true");
    tab.wait("document.querySelector('details > .scene-list button.scene-line')?.innerText.includes('440 mm')");
    tab.click("details > .scene-list button.scene-line");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('thickness 440 mm')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_ship_is_chosen_where_several_have_the_plates() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    let names =
        tab.eval("[...document.querySelectorAll('select[title=\"Ship and component\"] option')].map((o) => o.text)");
    let expected =
        ["PASB900_Nowhere A_Hull", "PASB900_Nowhere B_Hull", "PASB901_Somewhere A_Hull", "PASB901_Somewhere B_Hull"];
    assert_eq!(names, json!(expected));
    // The belt is thicker on the other ship; its row in the table is the row of that ship.
    let (belt, _) = run(
        dir.path(),
        0,
        &[
            "ls",
            "ASB900.geometry",
            "--with",
            "GameParams.data",
            "-t",
            "armor_plates",
            "-w",
            "material_id = 61 and index = 14",
            "-c",
            "thickness",
            "-f",
            "csv",
        ],
    );
    assert_eq!(belt.lines().collect::<Vec<_>>(), ["thickness", "287", "307", "307", "327"]);
    tab.eval("(() => { location.hash = '#scene&plate=56'; })()");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('thickness 287 mm')");
    tab.eval("(() => { const e = document.querySelector('select[title=\"Ship and component\"]'); e.value = '3'; e.dispatchEvent(new Event('change')); })()");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('thickness 327 mm')");
    let link = tab.eval("document.querySelector('.scene-chosen a').getAttribute('href')");
    assert_eq!(link, "#table=armor_plates&row=59");
    tab.wait("location.hash.includes('plate=59')");
    // A row leads to the ship that it is of.
    tab.eval("(() => { location.hash = '#scene&plate=57'; })()");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('thickness 307 mm')");
    assert_eq!(tab.eval("document.querySelector('select[title=\"Ship and component\"]').value"), "1");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_toolbar_fits_a_wide_window_and_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    let lines = "new Set([...document.querySelectorAll('.scene-bar button, .scene-bar select')].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().top)).size";
    // Without a choice of ship, it fits a narrower window.
    armour(dir.path());
    look(&browser, dir.path(), "ship.geometry").wait(&format!("{lines} === 1"));
    let shown = |what: &str| tab.eval(&format!("document.querySelector('{what}').checkVisibility()"));
    tab.size(1440, 900);
    tab.wait(&format!("{lines} === 1"));
    assert_eq!((shown(".scene-more"), shown("select[title=\"Ship and component\"]")), (false.into(), true.into()));
    tab.size(390, 844);
    tab.wait(&format!("{lines} === 1"));
    assert_eq!((shown(".scene-more"), shown("select[title=\"Ship and component\"]")), (true.into(), false.into()));
    tab.click(".scene-more");
    tab.wait(&format!("{lines} > 1"));
    assert_eq!(tab.eval("document.querySelector('.scene-more').getAttribute('aria-expanded')"), "true");
    // Nothing is beyond the edge of the screen.
    let beyond = "[...document.querySelectorAll('.scene-bar *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth).length";
    assert_eq!(tab.eval(beyond), 0);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn plates_are_listed_by_area_where_no_thickness_is_at_hand() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    armour(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.eval("[...document.querySelectorAll('.scene-side details')].find((d) => d.innerText.startsWith('Plates')).open = true");
    tab.wait("document.querySelectorAll('button.scene-line').length === 2");
    let note = tab.eval("document.querySelector('.scene-side .scene-note code').innerText");
    assert_eq!(note, "assetq view FILE --with GameParams.data");
    assert_eq!(tab.eval("document.querySelector('input[type=file]') === null"), true, "the page asks for no file");
    assert_eq!(tab.eval("document.querySelector('select[title=\"Ship and component\"]') === null"), true);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_map_finds_names_and_shows_records_from_above_and_in_space() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Small);
    let tab = look(&browser, dir.path(), "town.wdata");
    tab.eval(
        "(() => { const e = document.querySelector('.bar input[type=search]'); e.value = 'PORTAL_002'; \
         e.dispatchEvent(new Event('input')); })()",
    );
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('name portal_002')");
    assert_eq!(tab.eval("document.querySelector('.scene-chosen a').getAttribute('href')"), "#table=portal_boxes&row=2");
    // The found box is in the middle; its record has more than the map draws.
    let middle = on_canvas(&tab, 0.5, 0.5);
    hover(&tab, middle);
    tab.wait("document.querySelector('.scene-tip').innerText.includes('warp_map_name')");
    let flat = picture(&tab);
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("v");
    assert!(picture(&tab) != flat);
    let tip = hover(&tab, on_canvas(&tab, 0.5, 0.5));
    assert!(tip.contains("name "), "a box is under the pointer in space as well: {tip}");
    tab.shot("town-space");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_page_is_no_larger_than_the_glb_and_a_third() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("many.geometry"), many(1, 150_000, 1)).unwrap();
    sample(dir.path(), "ship.geometry", Size::Full);
    for file in ["many.geometry", "ship.geometry"] {
        run(dir.path(), 0, &["export", file, "--to", "x.glb", "--lod", "all", "--force"]);
        run(dir.path(), 0, &["view", file, "--to", "x.html", "--force"]);
        let size = |name: &str| fs::metadata(dir.path().join(name)).unwrap().len();
        let (glb, page) = (size("x.glb"), size("x.html"));
        println!("{file}: GLB {glb}, page {page}");
        assert!(page * 10 < glb * 13, "{file}: GLB {glb}, page {page}");
    }
}

/// Hit boxes and the instances of a space, in metres, where the geometry's GLB has its meshes.
#[test]
fn boxes_are_written_as_glb() {
    let dir = TempDir::new().unwrap();
    for (file, table) in [("ship.splash", "boxes"), ("space.bin", "instances")] {
        sample(dir.path(), file, Size::Small);
        run(dir.path(), 0, &["export", file, "--to", "x.glb", "--force"]);
        let glb = gltf::Gltf::open(dir.path().join("x.glb")).unwrap();
        let (document, binary) = (&glb.document, glb.blob.as_deref().unwrap());
        let scene = document.default_scene().unwrap();
        let [root] = &*scene.nodes().collect::<Vec<_>>() else { panic!("one root") };
        assert_eq!(root.transform().decomposed().2, [15.0; 3]);
        let (rows, _) = run(dir.path(), 0, &["sql", &format!("SELECT count(*) n FROM {table}"), file, "-f", "ndjson"]);
        let boxes = root.children().count();
        assert!(
            boxes as u64 >= serde_json::from_str::<serde_json::Value>(&rows).unwrap()["n"].as_u64().unwrap()
                && boxes > 0,
            "{file}"
        );
        assert!(root.children().all(|node| node.name().is_some_and(|name| !name.is_empty())));
        let cube = document.meshes().next().unwrap().primitives().next().unwrap();
        let reader = cube.reader(|_| Some(binary));
        assert_eq!(
            (reader.read_positions().unwrap().count(), reader.read_indices().unwrap().into_u32().count()),
            (24, 36)
        );
    }
    // The first box lies where its row says, with x mirrored.
    run(dir.path(), 0, &["export", "ship.splash", "--to", "x.glb", "--force"]);
    let document = gltf::Gltf::open(dir.path().join("x.glb")).unwrap();
    let (row, _) = run(dir.path(), 0, &["ls", "ship.splash", "-n", "1", "-f", "ndjson"]);
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    let node = document.nodes().find(|node| node.name() == row["name"].as_str()).unwrap();
    let (center, _, half) = node.transform().decomposed();
    let end = |name: &str| row[name].as_f64().unwrap() as f32;
    for (axis, sign) in [("x", -1.0), ("y", 1.0), ("z", 1.0)] {
        let at = ["x", "y", "z"].iter().position(|one| *one == axis).unwrap();
        let (min, max) = (end(&format!("min_{axis}")), end(&format!("max_{axis}")));
        assert!((center[at] - sign * (min + max) / 2.0).abs() < 1e-4, "{axis} {center:?} {row}");
        assert!((half[at].abs() - (max - min) / 2.0).abs() < 1e-4, "{axis} {half:?} {row}");
    }
}

/// The hit boxes of a `.splash` are below a node of its geometry's GLB, if they are asked for. The way back ignores them.
#[test]
fn a_geometry_goes_out_with_its_hit_boxes_and_comes_back_without() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let export = |more: &[&str]| {
        run(dir.path(), 0, &[&["export", "ship.geometry", "--to", "x.glb", "--force"], more].concat());
        gltf::Gltf::open(at("x.glb")).unwrap()
    };
    let tops = |glb: &gltf::Gltf| {
        assert_eq!(glb.scenes().count(), 1);
        glb.default_scene().unwrap().nodes().map(|node| node.name().unwrap().to_owned()).collect::<Vec<_>>()
    };
    sample(dir.path(), "ship.geometry", Size::Small);
    assert_eq!(tops(&export(&[])), ["ship"]);
    assert_eq!(tops(&export(&["--only", "meshes,armor,collision"])), ["ship", "ship armor", "ship hulls"]);
    let boxes = [("CM_SB_bow_1", [-1.0, 0.0, 2.0], [3.0, 1.0, 8.0]), ("CM_SB_stern", [-1.0; 3], [1.0; 3])];
    fs::write(at("ship.splash"), assetq_sample::geometry::splash(&boxes)).unwrap();
    assert_eq!(tops(&export(&[])), ["ship"]);
    let glb = export(&["--only", "meshes,armor,collision,splash"]);
    assert_eq!(tops(&glb), ["ship", "ship armor", "ship hulls", "hit boxes"]);
    let root = glb.default_scene().unwrap().nodes().last().unwrap();
    assert_eq!(root.transform().decomposed().2, [15.0; 3]);
    // The centre and the half size, with x mirrored.
    let placed = |node: gltf::Node<'_>| (node.name().unwrap().to_owned(), node.transform().decomposed());
    let [(bow, (center, _, half)), (stern, _)] = &*root.children().map(placed).collect::<Vec<_>>() else { panic!() };
    assert_eq!((bow.as_str(), stern.as_str()), ("CM_SB_bow_1", "CM_SB_stern"));
    assert_eq!((center, half.map(f32::abs)), (&[-1.0, 0.5, 5.0], [2.0, 0.5, 3.0]));
    let cube = root.children().next().unwrap().mesh().unwrap().primitives().next().unwrap();
    assert_eq!(cube.reader(|_| glb.blob.as_deref()).read_positions().unwrap().count(), 24);

    run(dir.path(), 0, &["patch", "ship.geometry", "x.glb", "--to", "back.geometry"]);
    assert!(fs::read(at("back.geometry")).unwrap() == fs::read(at("ship.geometry")).unwrap());
    assert_eq!(tops(&export(&["--only", "splash"])), ["hit boxes"]);
    // Another name must be given.
    fs::rename(at("ship.splash"), at("hull.splash")).unwrap();
    assert_eq!(tops(&export(&["--only", "meshes,splash"])), ["ship"]);
    assert_eq!(tops(&export(&["--with", "hull.splash"])), ["ship", "hit boxes"]);
    // Boxes that cannot be read keep no mesh from being written.
    fs::write(at("ship.splash"), [0xff; 8]).unwrap();
    let (_, said) = run(dir.path(), 3, &["export", "ship.geometry", "--only", "meshes,splash", "--to", "y.glb"]);
    assert!(said.contains("ship.splash"), "{said}");
    assert_eq!(tops(&gltf::Gltf::open(at("y.glb")).unwrap()), ["ship"]);
}

#[test]
fn pictures_of_scenes_are_taken_from_their_pages() {
    let dir = TempDir::new().unwrap();
    for (file, format) in [("ship.geometry", "geometry"), ("ship.splash", "splash"), ("town.wdata", "wdata")] {
        sample(dir.path(), file, Size::Small);
        let (_, error) = run(dir.path(), 2, &["export", file, "--to", "x.png"]);
        let textures = "assetq refs ship.geometry . --tree names its textures, which are written so, and ";
        let textures = if format == "geometry" { textures } else { "" };
        let advice = format!("{textures}assetq view {file} shows its shapes and saves pictures");
        assert_eq!(error, format!("assetq: {file}: a {format} file has no texture to write as png; {advice}\n"));
        run(dir.path(), 0, &["view", file, "--to", "x.html", "--force"]);
    }
    sample(dir.path(), "sheet.wdb", Size::Small);
    let (_, error) = run(dir.path(), 2, &["export", "sheet.wdb", "--to", "x.png"]);
    assert!(error.contains("has no shape"), "{error}");
    assert!(!dir.path().join("x.png").exists());
}

#[test]
fn a_mesh_that_a_database_does_not_draw_is_shown_as_it_is() {
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    sample(dir.path(), "assets.bin", Size::Small);
    let args = ["ship.geometry", "--db", "assets.bin", "--to"];
    let (_, error) = run(dir.path(), 0, &[&["view"], &args[..], &["x.html"]].concat());
    let note = "assetq: ship.geometry: note: no visual of the database draws ship.geometry; its meshes have no names\n";
    assert!(error.contains(note), "{error}");
    let page = fs::read_to_string(dir.path().join("x.html")).unwrap();
    assert!(page.contains(r#""kind":"scene""#) && page.contains(r#""id":"table=vertices""#));
    let (_, same) = run(dir.path(), 0, &[&["export"], &args[..], &["x.glb"]].concat());
    assert!(same.contains(note) && dir.path().join("x.glb").exists(), "{same}");
}

/// The view of the first part.
pub(super) const VIEW: &str = "assetq.page.parts.find(({ kind }) => kind === 'scene' || kind === 'map').view";

/// Draws a frame with as many dots as the screen has, whether the view rests or not: a still of a view that rests has more.
pub(super) const DRAW: &str = "((view) => { view.renderer.rests = false; view.draw(false); })";

/// A closed box of armour with a plate inside.
fn enclosed(dir: &Path) {
    let mut builder = GeometryBuilder::new();
    let wall = |axis: usize, at: f32| {
        let corner = |u: f32, v: f32| {
            let mut point = [u, v, 0.0];
            point[2] = point[axis];
            point[axis] = at;
            point
        };
        let [a, b, c, d] = [corner(-2.0, -2.0), corner(-2.0, 2.0), corner(2.0, 2.0), corner(2.0, -2.0)];
        vec![[a, b, c], [a, c, d], [a, c, b], [a, d, c]]
    };
    let walls = (0..3).flat_map(|axis| [wall(axis, -2.0), wall(axis, 2.0)].concat()).collect();
    builder.armor("hull.armor", vec![PlateShape { material: 12, layer: 1, triangles: walls }, plate(2, 1, 0.0)]);
    fs::write(dir.join("box.geometry"), builder.build()).unwrap();
}

#[test]
fn a_cut_takes_the_half_toward_the_eye_away_and_can_be_flipped() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    enclosed(dir.path());
    let tab = look(&browser, dir.path(), "box.geometry");
    assert!(hover(&tab, on_canvas(&tab, 0.5, 0.5)).contains("12 Bottom"), "the box hides what is in it");
    for (axis, name) in [(0, "side"), (1, "above"), (2, "front")] {
        tab.eval(&format!(
            "(() => {{ const e = document.querySelector('select[title=\"Section plane\"]'); e.value = '{axis}'; \
             e.dispatchEvent(new Event('change')); }})()"
        ));
        let toward = tab.eval(&format!("{VIEW}.renderer.section[{axis}] * {VIEW}.camera.axes().eye[{axis}] > 0"));
        assert_eq!(toward, true, "{name}");
    }
    tab.eval("(() => { const e = document.querySelector('input[type=range]'); e.value = 450; e.dispatchEvent(new Event('input')); })()");
    // 5% of four units of 15 m from the middle.
    assert_eq!(tab.eval("document.querySelector('.scene-place').textContent"), "-3 m");
    tab.wait("location.hash.includes('cut=2%2C450')");
    let before = tab.eval(&format!("{VIEW}.renderer.section[2]")).as_f64().unwrap();
    tab.eval("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Flip').click()");
    assert_eq!(tab.eval(&format!("{VIEW}.renderer.section[2]")).as_f64().unwrap(), -before);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_plate_inside_is_seen_once_it_is_chosen_and_its_row_leads_to_it() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    enclosed(dir.path());
    let tab = look(&browser, dir.path(), "box.geometry");
    tab.eval("(() => { location.hash = '#table=armor_plates&row=1'; })()");
    tab.wait("document.querySelector('.part:not([hidden]) .detail .places a') !== null");
    let link = tab.eval("document.querySelector('.part:not([hidden]) .detail .places a').getAttribute('href')");
    assert_eq!(link, "#scene&plate=1");
    tab.eval("document.querySelector('.part:not([hidden]) .detail .places a').click()");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('plate 1')");
    let marked = format!(
        "(() => {{ {DRAW}({VIEW}); const pen = new OffscreenCanvas(1280, 800).getContext('2d'); pen.drawImage({VIEW}.canvas, 0, 0); \
         const all = pen.getImageData(0, 0, 1280, 800).data; let count = 0; \
         for (let i = 0; i < all.length; i += 4) if (all[i] > 240 && all[i + 1] < 60 && all[i + 2] > 150 && all[i + 2] < 200) count++; return count; }})()"
    );
    let outline = tab.eval(&marked).as_u64().unwrap();
    assert!(outline > 100, "{outline} pixels of the outline are seen");
    tab.key("Escape");
    tab.eval(&format!("{VIEW}.choose(null)"));
    assert_eq!(tab.eval(&marked), 0);
    tab.wait("!location.hash.includes('plate')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn drawing_gets_finer_again_once_it_is_fast() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.splash", Size::Small);
    let tab = look(&browser, dir.path(), "ship.splash");
    let after = |milliseconds: u32, frames: u32| {
        tab.eval(&format!("(() => {{ const r = {VIEW}.renderer; r.fence = {{}}; for (let i = 0; i < {frames}; i++) r.took({milliseconds}); return r.slowness; }})()"))
    };
    assert_eq!(after(20, 100), 0, "twenty milliseconds are fast enough");
    assert_eq!(after(50, 9), 3);
    assert_eq!(after(5, 36), 0);
    // Each failed try makes the next one wait longer.
    assert_eq!((after(50, 3), after(5, 12)), (1.into(), 1.into()));
    assert_eq!(after(5, 12), 0);
}

#[test]
fn legends_show_the_colours_that_are_seen() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    tab.wait("!document.querySelector('.scene-legend').hidden");
    // The bands of the game's own view that plates are in: no plate has 27 or 28 mm.
    let bands = [
        "0 to 14 mm",
        "14 to 16 mm",
        "16 to 24 mm",
        "24 to 26 mm",
        "28 to 33 mm",
        "33 to 75 mm",
        "75 to 160 mm",
        "160 to 399 mm",
        "399 to 999 mm",
        "unknown",
    ];
    assert_eq!(tab.eval("document.querySelector('.scene-legend').innerText"), bands.join("\n"));
    assert_eq!(tab.eval(&format!("{VIEW}.entries().map(([text]) => text)")), json!(bands));
    let belt = tab.eval("[...document.querySelectorAll('.scene-legend div')].find((e) => e.innerText === '160 to 399 mm').querySelector('i').style.background");
    assert_eq!(belt, "rgb(220, 78, 48)");
    let seen = "[...document.querySelectorAll('.scene-line .scene-swatch')].some((e) => e.checkVisibility())";
    assert_eq!(tab.eval(seen), false, "layers have other colours");
    let of_part = "(() => { const e = [...document.querySelectorAll('.scene-zones .node')].find((e) => e.innerText.includes('61 ')); return [e.querySelector('.scene-count').innerText, e.querySelector('.scene-swatch').style.background]; })()";
    let [thick, colour]: [String; 2] = serde_json::from_value(tab.eval(of_part)).unwrap();
    assert!(thick == "287 mm" && colour.contains("rgb(220, 78, 48)"), "{thick} {colour}");
    tab.eval(&format!("{VIEW}.store.change({{ by: 'material' }})"));
    // The tree names the colours of materials, so that the picture need not.
    let [_, material]: [String; 2] = serde_json::from_value(tab.eval(of_part)).unwrap();
    let own = tab.eval(&format!("assetq.shapes.css({VIEW}.contents.models.find((model) => model.material.name.startsWith('61 ')).colour).replaceAll(' ', ', ')"));
    assert!(material.contains(own.as_str().unwrap()), "{material} {own}");
    assert_eq!(tab.eval("document.querySelector('.scene-legend').hidden"), true);
    // Two points are 30 m apart: a plate is two units wide.
    let across = tab.eval(&format!(
        "(() => {{ const v = {VIEW}; v.camera.look(-Math.PI / 2, 1.57); v.ruler.measure(); \
         v.ruler.points.push([0, 0, -1], [0, 0, 1]); v.ruler.draw(); return document.querySelector('.scene-rule b').textContent; }})()"
    ));
    assert_eq!(across, "30 m");
    // The map's legend has the lighter colours of the dark map.
    sample(dir.path(), "town.wdata", Size::Small);
    run(dir.path(), 0, &["view", "town.wdata", "--to", "map.html"]);
    let tab = browser.open(&dir.path().join("map.html"), 1280, 800, Scheme::Dark);
    tab.wait("!!document.querySelector('[data-ready]')");
    let same = tab.eval(&format!("[...document.querySelectorAll('.scene-side .scene-swatch')].every((e, i) => e.style.background.replace(/, /g, ' ') === assetq.shapes.css({VIEW}.ink({VIEW}.kinds[i].colour)))"));
    assert_eq!(same, true);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn view_writes_pages_and_names_the_command_for_other_endings() {
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Small);
    run(dir.path(), 0, &["view", "town.wdata", "--to", "x.HTM"]);
    assert!(fs::read(dir.path().join("x.HTM")).unwrap().starts_with(b"<!DOCTYPE html>"));
    let picture = "; Save PNG in the page saves a picture, and assetq export FILE --to OUT.png writes a texture";
    let shapes = "; assetq export FILE --to OUT writes shapes";
    for (out, instead) in [("x.jpg", ""), ("x.PNG", picture), ("x.svg", shapes), ("x.glb", shapes)] {
        let (_, error) = run(dir.path(), 2, &["view", "town.wdata", "--to", out]);
        assert_eq!(error, format!("assetq: {out}: view writes a page, .html{instead}\n"));
        assert!(!dir.path().join(out).exists());
    }
    run(dir.path(), 0, &["export", "town.wdata", "--to", "x.svg"]);
}

#[test]
fn a_still_has_twice_the_dots_and_a_shadow_on_the_ground() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    run(dir.path(), 0, &["view", "ship.geometry", "--to", "x.html"]);
    let tab = browser.open(&dir.path().join("x.html"), 900, 600, Scheme::Light);
    tab.eval("location.hash = 'scene'");
    tab.wait("!!document.querySelector('.scene-canvas') && !!document.querySelector('[data-ready]')");
    tab.wait(&format!("{VIEW}.renderer.fine === 2"));
    // How many dots there are for one of the screen, and the share of them that are not paper.
    let seen = |draw: &str| {
        let js = format!(
            "(() => {{ const v = {VIEW}; v.renderer.models.forEach((model) => {{ if (model.lines) model.isShown = false; }}); {draw}; const {{ canvas }} = v, width = canvas.clientWidth; \
             const pen = Object.assign(document.createElement('canvas'), {{ width, height: canvas.clientHeight }}).getContext('2d'); \
             pen.drawImage(canvas, 0, 0, width, canvas.clientHeight); const all = pen.getImageData(0, 0, width, canvas.clientHeight).data; \
             let inked = 0; for (let i = 0; i < all.length; i += 4) inked += Math.abs(all[i] - all[0]) > 8; \
             return [canvas.width / width, inked / all.length * 4]; }})()"
        );
        serde_json::from_value::<[f64; 2]>(tab.eval(&js)).unwrap()
    };
    let ([moved, model], [still, with_shadow]) =
        (seen("v.draw(true)"), seen("v.renderer.finest(1, () => v.draw(false))"));
    assert_eq!((moved, still), (1.0, 2.0));
    assert!(with_shadow > model * 1.02, "{model} {with_shadow}");
    assert_eq!(tab.errors(), [""; 0]);
}

/// A visual, and a model that names it, stand for the geometry beside them. A material that is not at hand is named with the option that finds
/// it, and a folder holds it.
#[test]
fn a_visual_and_a_model_lead_to_their_shape_and_a_folder_to_its_materials() {
    use assetq_sample::text_models;
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("gun.geometry"), assetq_sample::geometry::turret()).unwrap();
    fs::write(at("gun.visual"), text_models::turret_visual()).unwrap();
    fs::write(at("gun.model"), text_models::model("gun", "PnFMods/Sample/gun/gun.visual")).unwrap();
    run(dir.path(), 0, &["export", "gun.geometry", "--to", "a.glb"]);
    for file in ["gun.visual", "gun.model"] {
        let (_, said) = run(dir.path(), 0, &["export", file, "--to", "b.glb", "--force"]);
        assert!(fs::read(at("a.glb")).unwrap() == fs::read(at("b.glb")).unwrap(), "{file}");
        assert!(said.contains("(PnFMods/Sample/gun/turret.mfm) is not at hand: --with turret.mfm"), "{said}");
        run(dir.path(), 0, &["view", file, "--to", "b.html", "--force"]);
    }
    fs::create_dir(at("materials")).unwrap();
    fs::write(at("materials/turret.mfm"), text_models::demo_material(1, Size::Small)).unwrap();
    let (_, said) = run(dir.path(), 0, &["export", "gun.geometry", "--with", "materials", "--to", "c.glb"]);
    assert!(said.contains("texture PnFMods/Sample/gun/turret_a.dds is not at hand"), "{said}");
    // A file without shapes of the chosen kind is no empty drawing.
    run(dir.path(), 1, &["export", "gun.geometry", "--only", "armor", "--to", "d.glb"]);
    assert!(!at("d.glb").exists());
}

/// Steel grey: if no visual names its material, if no `.mfm` is at hand, and if no texture of the `.mfm` is.
#[test]
fn a_mesh_without_its_texture_is_grey() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("gun.geometry"), assetq_sample::geometry::turret()).unwrap();
    fs::write(at("gun.visual"), assetq_sample::text_models::turret_visual()).unwrap();
    let browser = Browser::start();
    let linear = |v: f32| ((v + 0.055) / 1.055).powf(2.4);
    for (file, more) in [("lone", &["--no-companions"][..]), ("without", &[]), ("with", &[])] {
        if file == "with" {
            fs::write(at("turret.mfm"), assetq_sample::text_models::demo_material(1, Size::Small)).unwrap();
        }
        run(dir.path(), 0, &[&["export", "gun.geometry", "--to", "x.glb", "--force"], more].concat());
        let glb = gltf::Gltf::open(at("x.glb")).unwrap();
        let material = glb.meshes().next().unwrap().primitives().next().unwrap().material();
        let surface = material.pbr_metallic_roughness();
        assert!(surface.base_color_texture().is_none(), "{file}");
        for (factor, grey) in surface.base_color_factor().into_iter().zip([0.62, 0.64, 0.66]) {
            assert!((factor - linear(grey)).abs() < 1e-3, "{file}: {:?}", surface.base_color_factor());
        }
        run(dir.path(), 0, &[&["view", "gun.geometry", "--to", "page.html", "--force"], more].concat());
        let Some(browser) = &browser else { continue };
        let tab = browser.open(&at("page.html"), 800, 600, Scheme::Light);
        tab.wait("!!document.querySelector('[data-ready]')");
        let colour = tab.eval(&format!("{VIEW}.contents.models[0].colour.map((c) => Math.round(c * 100))"));
        assert_eq!(colour, json!([62, 64, 66, 100]), "{file}");
        let is_red = format!(
            "{VIEW}.contents.models.concat(Array.from({{ length: 40 }}, (_, i) => ({{ colour: assetq.shapes.colourOf({{ kind: 'mesh' }}, {{ name: 'unknown', colour: [0.62, 0.64, 0.66, 1] }}, i) }}))).some(({{ colour }}) => colour[0] > 0.63)"
        );
        assert_eq!(tab.eval(&is_red), false, "no mesh is pink");
    }
}
