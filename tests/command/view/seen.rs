//! Lists, links and paper of a scene show what its canvas shows.

use super::scene::{VIEW, battleship, look, plate};
use super::*;
use assetq_sample::geometry::{GeometryBuilder, HullShape};

/// Two parts of armour, and a hull.
fn ship(dir: &Path) {
    let mut builder = GeometryBuilder::new();
    builder.armor("ship.armor", vec![plate(12, 3, -1.0), plate(2, 1, 1.0)]);
    builder.collision("default", vec![HullShape::cuboid([-2.0, 1.0, -1.0], [2.0, 2.0, 1.0])]);
    fs::write(dir.join("ship.geometry"), builder.build()).unwrap();
}

/// Boxes of the lists that are ticked, and boxes of parts that are drawn.
fn assert_ticks(tab: &Tab<'_>, expected: &[(&str, bool)]) {
    for (name, is_ticked) in expected {
        let found = tab.eval(&format!(
            "(() => {{ const e = [...document.querySelectorAll('.scene-side input[type=checkbox]')].find((e) => (e.getAttribute('aria-label') ?? e.closest('label')?.innerText ?? '').includes({})); return e?.checked; }})()",
            json!(name)
        ));
        assert_eq!(found, *is_ticked, "{name}");
    }
}

fn tick(tab: &Tab<'_>, name: &str) {
    tab.eval(&format!(
        "[...document.querySelectorAll('.scene-side input[type=checkbox]')].find((e) => (e.getAttribute('aria-label') ?? e.closest('label')?.innerText ?? '').includes({})).click()",
        json!(name)
    ));
}

#[test]
fn lists_tick_what_is_drawn_and_nothing_else() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    ship(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.eval("document.querySelectorAll('.scene-side details').forEach((details) => (details.open = true))");
    let all = |armour: bool, bottom: bool, side: bool, hull: bool| {
        assert_ticks(
            &tab,
            &[
                ("Show armour", armour),
                ("12 Bottom", bottom),
                ("Dual_SSC_Bow_Side", side),
                ("Layer 3", bottom),
                ("Layer 1", side),
                ("Show collision hulls", hull),
            ],
        );
    };
    all(true, true, true, false);
    // A kind that is hidden takes the ticks of its parts away, and a part brings its kind back.
    tick(&tab, "Show armour");
    all(false, false, false, false);
    tick(&tab, "12 Bottom");
    all(true, true, false, false);
    assert_eq!(
        tab.eval("document.querySelector('[aria-label=\"Show armour\"]').indeterminate"),
        true,
        "not all of it is drawn"
    );
    tick(&tab, "Dual_SSC_Bow_Side");
    tick(&tab, "Layer 3");
    all(true, false, true, false);
    tick(&tab, "Layer 3");
    tick(&tab, "Show collision hulls");
    all(true, true, true, true);
    // An isolated part is ticked alone, until all parts are shown again.
    tab.eval(&format!("{VIEW}.isolate([{VIEW}.contents.models[0].first])"));
    let [bottom, side] = ["12 Bottom", "2 Dual"]
        .map(|name| tab.eval(&format!("{VIEW}.contents.models[0].material.name.startsWith('{name}')")) == true);
    all(true, bottom, side, false);
    tab.eval(&format!("{VIEW}.isolate(null)"));
    all(true, true, true, true);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_link_to_a_part_shows_it_whatever_hides_it() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    ship(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.wait(&format!("!!{VIEW}.grid"));
    let is_shown = |row: u32| {
        tab.wait(&format!(
            "(() => {{ const {{ contents, store: {{ now }} }} = {VIEW}; if (now.chosen === null) return false; const {{ model, plate }} = contents.find(now.chosen); return contents.rowOf(plate, now.use) === {row} && model.isShown; }})()"
        ));
    };
    // Another part is isolated.
    tab.eval(&format!("{VIEW}.isolate([{VIEW}.contents.models.find((m) => m.part.plates?.[0] === 1).first])"));
    visit(&tab, "#scene&plate=0");
    is_shown(0);
    assert_eq!(tab.eval(&format!("{VIEW}.store.now.only")), serde_json::Value::Null);
    // Its kind is hidden, and its layer.
    tab.eval(&format!("(() => {{ const v = {VIEW}; v.choose(null); document.querySelector('[aria-label=\"Show armour\"]').click(); v.store.change({{ hidden: 2 }}); }})()"));
    visit(&tab, "#scene&plate=1");
    is_shown(1);
    assert_eq!(tab.eval(&format!("{VIEW}.renderer.hidden")), 0);
    // A link with an eye stays where it looks from.
    tab.eval(&format!("(() => {{ const v = {VIEW}; v.isolate([v.store.now.chosen]); }})()"));
    visit(&tab, "#scene&plate=0&eye=0.1,0.2,9,0,0,0");
    is_shown(0);
    assert_eq!(tab.eval(&format!("{VIEW}.camera.distance")), 9);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn the_address_holds_which_parts_and_layers_are_shown() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    ship(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.wait(&format!("!!{VIEW}.grid"));
    let shown = format!("{VIEW}.contents.models.map((model) => model.isDrawn).join()");
    let first = tab.eval(&shown);
    tick(&tab, "Show collision hulls");
    tick(&tab, "12 Bottom");
    tab.wait("location.hash.includes('show=armor%2Chull') && location.hash.includes('off=')");
    let state = (tab.eval("location.hash"), tab.eval(&shown));
    assert_ne!(state.1, first);
    super::reload(&tab);
    tab.wait(&format!("{VIEW}?.grid && {shown} === {}", state.1));
    // Other parts are isolated, a layer is hidden, and the earlier address shows what it showed.
    tab.eval(&format!("{VIEW}.isolate([{VIEW}.contents.models.find((model) => model.part.kind === 'hull').first])"));
    tab.wait("location.hash.includes('only=')");
    tick(&tab, "Show armour");
    tab.eval("document.querySelectorAll('.scene-side details').forEach((details) => (details.open = true))");
    tick(&tab, "Layer 1");
    tab.wait("location.hash.includes('hide=1')");
    visit(&tab, state.0.as_str().unwrap());
    tab.wait(&format!("{shown} === {}", state.1));
    visit(&tab, "#scene");
    tab.wait(&format!("{shown} === {first}"));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_range_of_thickness_is_in_the_address_and_escape_clears_it() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    tab.wait("document.querySelectorAll('.scene-range + .scene-list .scene-line').length === 9");
    let seen = || {
        tab.eval(&format!("(({{ renderer: {{ palette }}, contents: {{ count }} }}) => {{ let seen = 0; for (let i = 0; i < count; i++) if (palette[i * 4 + 3]) seen++; return seen; }})({VIEW})")).as_u64().unwrap()
    };
    let all = seen();
    tab.eval("(() => { const e = document.querySelector('[aria-label=\"Thickness from, in millimetres\"]'); e.value = '400'; e.dispatchEvent(new Event('input')); })()");
    let thick = seen();
    assert!(thick > 0 && thick < all);
    tab.wait("location.hash.includes('thick=400%2C')");
    let link = tab.eval("location.hash");
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("Escape");
    assert_eq!(seen(), all);
    tab.wait("!location.hash.includes('thick')");
    visit(&tab, link.as_str().unwrap());
    tab.wait(&format!("{VIEW}.store.now.range.join() === '400,'"));
    assert_eq!(seen(), thick);
    // In the field, too.
    tab.eval("(() => { const d = document.querySelector('.scene-range').closest('details'); d.open = true; document.querySelector('.scene-range input').focus(); })()");
    tab.key("Escape");
    assert_eq!((seen(), tab.eval(&format!("{VIEW}.store.now.range"))), (all, json!([null, null])));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn paper_keeps_the_form_of_a_scene_and_the_legend_of_a_map() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    ship(dir.path());
    sample(dir.path(), "town.wdata", Size::Small);
    for (file, legend) in [("ship.geometry", "12 Bottom"), ("town.wdata", "portal")] {
        let tab = look(&browser, dir.path(), file);
        // The lists were folded just now, and the next frame is not drawn before the page is printed.
        tab.eval("globalThis.requestAnimationFrame = () => 0; document.querySelector('.scene-fold').click()");
        // The form that the canvas has, and that of its place on the paper.
        tab.eval("matchMedia('print').addEventListener('change', ({ matches }) => { if (!matches) return; const canvas = document.querySelector('.scene-canvas:not([hidden])'); \
                  const { width, height } = canvas.getBoundingClientRect(); globalThis.forms = [canvas.width / canvas.height, width / height]; \
                  globalThis.printed = document.querySelector('.scene-paper')?.innerText ?? ''; }), 0");
        tab.call("Page.printToPDF", json!({ "preferCSSPageSize": false }));
        tab.wait("!!globalThis.forms");
        let [drawn, printed]: [f64; 2] = serde_json::from_value(tab.eval("forms")).unwrap();
        assert!((drawn / printed - 1.0).abs() < 0.02, "{file}: {drawn} is printed as {printed}");
        let printed = tab.eval("printed");
        assert!(printed.as_str().unwrap().to_lowercase().contains(&legend.to_lowercase()), "{file}: {printed}");
        assert_eq!(tab.errors(), [""; 0]);
    }
}

#[test]
fn colours_that_mean_something_stay_in_high_contrast() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    ship(dir.path());
    let tab = look(&browser, dir.path(), "ship.geometry");
    let colours =
        "[...document.querySelectorAll('.folder .scene-swatch')].map((e) => getComputedStyle(e).backgroundColor)";
    let before = tab.eval(colours);
    tab.call("Emulation.setEmulatedMedia", json!({ "features": [{ "name": "forced-colors", "value": "active" }] }));
    assert_eq!(tab.eval("matchMedia('(forced-colors: active)').matches"), true);
    assert_eq!(tab.eval(colours), before);
    // Bars of a histogram and of facets are seen.
    sample(dir.path(), "assets.bin", Size::Small);
    let tab = super::view(&browser, dir.path(), "assets.bin", 1280, Scheme::Light);
    tab.call("Emulation.setEmulatedMedia", json!({ "features": [{ "name": "forced-colors", "value": "active" }] }));
    go(&tab, "table=models");
    tab.eval("document.querySelector('.part:not([hidden]) .facets').click()");
    tab.wait("document.querySelector('.part:not([hidden]) .profile .share') !== null");
    let seen = "(() => { const style = (e) => getComputedStyle(e).backgroundColor; return style(document.querySelector('.profile .share')) !== style(document.body); })()";
    assert_eq!(tab.eval(seen), true);
    assert_eq!(tab.errors(), [""; 0]);
}
