//! Aids for reading scenes and maps: grid, scale and axes, parts by themselves, ranges of thickness, the ruler, pictures, paths.

use super::scene::{DRAW, VIEW, battleship, look, on_canvas};
use super::*;

/// The number of pixels of a canvas over the scene that are drawn.
const DRAWN_OVER: &str = "(({ over }) => { const { data } = over.getContext('2d').getImageData(0, 0, over.width, over.height); \
     let count = 0; for (let i = 3; i < data.length; i += 4) if (data[i]) count++; return count; })";

/// Keeps what the page saves, as `[name, width, height]` of its picture.
fn keep_pictures(tab: &Tab<'_>) {
    tab.eval("assetq.page.save = async (name, blob) => { const { width, height } = await createImageBitmap(blob); globalThis.saved = [name, width, height]; }, 0");
}

#[test]
fn a_scene_has_a_grid_in_metres_a_scale_and_axes_with_words() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Full);
    for (width, scheme) in [(1280, Scheme::Light), (1920, Scheme::Dark), (390, Scheme::Light)] {
        run(dir.path(), 0, &["view", "ship.geometry", "--to", "page.html", "--force"]);
        let tab = browser.open(&dir.path().join("page.html"), width, 800, scheme);
        tab.wait("document.querySelector('[data-ready]')?.dataset.frames > 0");
        tab.wait(&format!("!!{VIEW}.grid"));
        assert_eq!(tab.eval(&format!("{VIEW}.meta.axes")), json!(["port", "up", "bow"]));
        // A cell is 1, 2 or 5 metres wide, or ten times that, and so on.
        let step = tab.eval(&format!("{VIEW}.grid.step * {VIEW}.unit")).as_f64().unwrap();
        let digit = step / 10f64.powf(step.log10().floor());
        assert!([1.0, 2.0, 5.0].iter().any(|round| (digit - round).abs() < 1e-6), "{step}");
        assert!(tab.eval(&format!("{DRAWN_OVER}({VIEW})")).as_u64().unwrap() > 200);
        tab.shot(&format!("scene-{width}"));
        let picture = |tab: &Tab<'_>| tab.eval(&format!("{DRAW}({VIEW}), {VIEW}.canvas.toDataURL()"));
        let with = picture(&tab);
        tab.eval("document.querySelector('.scene-canvas').focus()");
        tab.key("g");
        assert_ne!(picture(&tab), with);
        assert_eq!(tab.eval(&format!("{DRAWN_OVER}({VIEW})")), 0);
        assert_eq!(tab.errors(), [""; 0]);
    }
}

#[test]
fn parts_are_moved_apart_and_shown_by_themselves() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Full);
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.wait(&format!("!!{VIEW}.grid"));
    let picture = || tab.eval(&format!("{DRAW}({VIEW}), {VIEW}.canvas.toDataURL()"));
    let explode = |share: u32| {
        tab.eval(&format!("(() => {{ const e = document.querySelector('[aria-label=\"Move parts apart\"]'); e.value = {share}; e.dispatchEvent(new Event('input')); }})()"));
    };
    let whole = picture();
    explode(60);
    assert!(picture() != whole, "parts moved");
    tab.shot("scene-apart");
    explode(0);
    assert!(picture() == whole, "parts are back");
    let shown =
        || tab.eval(&format!("{VIEW}.contents.models.filter((model) => model.isShown).length")).as_u64().unwrap();
    let all = shown();
    assert!(all > 1);
    tab.eval(&format!("{VIEW}.choose({VIEW}.contents.models.find((model) => model.isShown).first)"));
    tab.wait("[...document.querySelectorAll('.scene-chosen button')].some((e) => e.innerText === 'Only this')");
    tab.eval("[...document.querySelectorAll('.scene-chosen button')].find((e) => e.innerText === 'Only this').click()");
    tab.wait(&format!("{VIEW}.contents.models.filter((model) => model.isShown).length === 1"));
    tab.shot("scene-only");
    tab.eval("[...document.querySelectorAll('.scene-space button')].find((e) => e.checkVisibility()).click()");
    tab.wait(&format!("{VIEW}.contents.models.filter((model) => model.isShown).length === {all}"));
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn plates_out_of_a_range_of_thickness_are_hidden() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    tab.eval("[...document.querySelectorAll('.scene-side details')].find((d) => d.innerText.startsWith('Plates')).open = true");
    tab.wait("document.querySelectorAll('.scene-range + .scene-list .scene-line').length === 9");
    let seen = || {
        tab.eval(&format!("(({{ renderer: {{ palette }}, contents: {{ count }} }}) => {{ let seen = 0; for (let i = 0; i < count; i++) if (palette[i * 4 + 3]) seen++; return seen; }})({VIEW})")).as_u64().unwrap()
    };
    let all = seen();
    let set = |end: &str, value: &str| {
        tab.eval(&format!("(() => {{ const e = document.querySelector('[aria-label=\"Thickness {end}, in millimetres\"]'); e.value = '{value}'; e.dispatchEvent(new Event('input')); }})()"));
    };
    set("from", "400");
    let thick = seen();
    assert!(thick > 0 && thick < all, "{thick} of {all}");
    let listed = tab.eval("document.querySelector('.scene-side details[open] > .scene-list .scene-note').innerText");
    assert_eq!(listed, format!("{thick} plates"));
    tab.shot("scene-range");
    // A hidden plate is not under the pointer either.
    let found = tab.eval(&format!("((v) => {{ const box = v.canvas.getBoundingClientRect(); const ids = new Set(); \
        for (let x = 0; x < 24; x++) for (let y = 0; y < 16; y++) {{ const id = v.at(box.x + (x + 0.5) * box.width / 24, box.y + (y + 0.5) * box.height / 16, true); if (id !== null) ids.add(id); }} \
        return [...ids].every((id) => {{ return v.contents.thick(v.contents.find(id).plate, v.store.now.use) >= 400; }}); }})({VIEW})"));
    assert_eq!(found, true);
    // A line of the scale shows its band, and all again.
    set("from", "");
    assert_eq!(seen(), all);
    tab.eval("document.querySelector('.scene-range + .scene-list .scene-line').click()");
    assert!(seen() < all);
    tab.eval("document.querySelector('.scene-range + .scene-list .scene-line').click()");
    assert_eq!(seen(), all);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn what_was_measured_stays_and_a_picture_has_twice_the_size() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    tab.eval(&format!("(() => {{ const v = {VIEW}; v.ruler.measure(); v.ruler.points.push([0, 0, -1], [0, 0, 1], [0, 0, 0], [0, 0, 1]); v.ruler.measure(); }})()"));
    let lengths = "[...document.querySelectorAll('.scene-rule b')].map((e) => e.textContent)";
    assert_eq!(tab.eval(lengths), json!(["30 m", "15 m"]));
    // They move with the model, and Escape clears them.
    let place = "document.querySelector('.scene-rule b').style.left";
    let before = tab.eval(place);
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("ArrowRight");
    tab.wait(&format!("{place} !== {before}"));
    assert_eq!(tab.eval(lengths), json!(["30 m", "15 m"]));
    keep_pictures(&tab);
    tab.eval("[...document.querySelectorAll('.scene-bar button')].find((e) => e.innerText === 'Save PNG').click()");
    tab.wait("!!globalThis.saved");
    let size = tab.eval(&format!("[{VIEW}.canvas.clientWidth, {VIEW}.canvas.clientHeight]"));
    let saved = tab.eval("saved");
    assert_eq!(saved[1].as_u64().unwrap(), 2 * size[0].as_u64().unwrap());
    assert!(saved[2].as_u64().unwrap() > 2 * size[1].as_u64().unwrap(), "the legend is below: {saved}");
    tab.key("Escape");
    tab.wait("document.querySelector('.scene-rule').childElementCount === 0");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_map_says_where_the_pointer_is_and_groups_what_is_close() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "town.wdata", Size::Full);
    let tab = look(&browser, dir.path(), "town.wdata");
    let (x, y) = on_canvas(&tab, 0.5, 0.5);
    tab.mouse("mouseMoved", x, y, "none");
    let place = "document.querySelector('.map-place')";
    tab.wait(&format!("!{place}.hidden && /^x -?[\\d,.]+  z -?[\\d,.]+$/.test({place}.textContent)"));
    let clusters = tab.eval(&format!("{VIEW}.clusters.length")).as_u64().unwrap();
    assert!(clusters > 3, "{clusters}");
    tab.shot("map-far");
    // No name lies on another, or on a disc.
    let overlap = format!(
        "(({{ named }}) => named.some((a, i) => named.some((b, k) => k > i && a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1] && i >= {clusters} + 1)))({VIEW})"
    );
    assert_eq!(tab.eval(&overlap), false);
    tab.eval(&format!("(() => {{ const v = {VIEW}; v.zoom(40); v.draw(); }})()"));
    assert_eq!(tab.eval(&format!("{VIEW}.clusters.length")), 0);
    // The path that leads on from a waypoint.
    tab.eval(&format!("(() => {{ const v = {VIEW}; const at = v.linkList[0].from.join(); v.choose(v.boxes.find((box) => box.center.join() === at), true); }})()"));
    tab.wait("/path \\d+ waypoints/.test(document.querySelector('.scene-chosen').innerText)");
    assert!(tab.eval(&format!("{VIEW}.path.links.length")).as_u64().unwrap() > 0);
    tab.shot("map-path");
    assert_eq!(tab.errors(), [""; 0]);
}
