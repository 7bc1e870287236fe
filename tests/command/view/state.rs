//! The one state of a scene: its address, and what a page shows that is opened there.

use super::scene::{DRAW, VIEW, battleship, look};
use super::*;
use assetq_sample::ship::{SHIP, folder};

/// JavaScript that puts random values into a state of the scene, as a person could, and returns the states that their address does not lead to.
const WRONG: &str = r##"(({ contents }, count) => {
  const { models, layers, lods, owners, colourings, joints, isMovable } = contents;
  const store = new assetq.shapes.Store(contents);
  let seed = 7;
  const random = (most) => ((seed = (seed * 1103515245 + 12345) % 2147483648), Math.floor(seed / 65536) % most);
  const one = (all) => all[random(all.length)];
  const some = (all) => all.filter(() => random(2));
  const indices = models.map(({ index }) => index);
  const degrees = () => one([-180, -7, 1, 90]);
  const plain = (now) => JSON.stringify({ ...now, parts: [...now.parts].sort(), only: now.only && [...now.only].sort(), turns: Object.entries(now.turns).sort() });
  const wrong = [];
  let chosen = 0;
  for (let n = 0; n < count; n++) {
    store.change({
      parts: new Set(random(3) ? some(indices) : indices), only: random(3) ? null : new Set(some(indices)), level: one([null, ...lods]),
      hidden: random(2) ? 0 : some([...layers.keys()]).reduce((bits, layer) => (bits | (1 << Math.min(layer, 31))) >>> 0, 0), by: one(colourings), use: random(Math.max(owners.length, 1)),
      range: layers.size && !random(3) ? [one([null, 0, 16.001]), one([null, 400])] : [null, null],
      cut: random(2) ? null : { axis: random(3), at: random(1001), side: one([1, -1]) }, eye: one([[-0.9, 0.35], [0, 1.57], [3.14159, -0.5, 12.25, 0.001, -7, 1e-7]]), apart: isMovable ? random(101) : 0,
      grid: !random(2), wireframe: !random(2), seeThrough: !random(2), turns: Object.fromEntries(some(joints.flatMap((_, i) => ["x", "y", "z"].map((axis) => i + axis))).map((key) => [key, degrees()])), chosen: null,
    });
    store.change({ chosen: random(contents.count), whole: one([null, "part", "zone"]) });
    if (store.now.chosen !== null) chosen++;
    const address = assetq.page.link("scene", store.write());
    const said = [];
    const read = store.read(new URLSearchParams(address.slice("#scene&".length)), (text) => said.push(text));
    if (plain(read) !== plain(store.now) || said.length) wrong.push([address, plain(store.now), plain(read), ...said]);
  }
  return { wrong: wrong.slice(0, 2), isChosen: chosen > count / 20 };
})"##;

#[test]
fn every_state_of_a_scene_has_an_address_that_leads_back_to_it() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let right = |tab: &Tab<'_>| {
        assert_eq!(tab.eval(&format!("{WRONG}({VIEW}, 400)")), json!({ "wrong": [], "isChosen": true }));
        assert_eq!(tab.errors(), [""; 0]);
    };
    // Plates with owners and thickness; joints; levels of detail; places and instances; several files.
    right(&battleship(&browser, dir.path()));
    fs::write(dir.path().join("gun.geometry"), assetq_sample::geometry::turret()).unwrap();
    fs::write(dir.path().join("gun.visual"), assetq_sample::text_models::turret_visual()).unwrap();
    sample(dir.path(), "ship.geometry", Size::Small);
    for file in ["gun.geometry", "ship.geometry"] {
        right(&look(&browser, dir.path(), file));
    }
    let mut write = crate::common::writer(dir.path());
    folder::<std::convert::Infallible>(|path, bytes| {
        write(&format!("game/{path}"), bytes.to_vec());
        Ok(())
    })
    .unwrap();
    run(dir.path(), 0, &["view", "game", "--ship", SHIP, "--ship", SHIP, "--compare", "--to", "both.html"]);
    let tab = browser.open(&dir.path().join("both.html"), 1280, 800, Scheme::Light);
    tab.wait("!!document.querySelector('[data-ready]')");
    right(&tab);
}

/// The picture, the lists and the legend of a scene.
fn seen(tab: &Tab<'_>) -> Value {
    tab.eval(&format!(
        "(async (view) => {{ await view.decoded; {DRAW}(view); \
         return [view.canvas.toDataURL(), [...document.querySelectorAll('.scene-side input[type=checkbox]')].map((e) => e.checked), \
         [...document.querySelectorAll('.scene select')].map((e) => e.value).join(), document.querySelector('.scene-legend').innerText, document.querySelector('.scene-chosen').innerText]; }})({VIEW})"
    ))
}

#[test]
fn a_link_shows_in_a_fresh_page_what_it_was_copied_from() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    let page = format!("file://{}", dir.path().join("page.html").canonicalize().unwrap().display());
    let mut before = seen(&tab);
    for (patch, part) in [
        ("apart: 40, grid: false, wireframe: true", "&apart=40&grid=false&wire=true"),
        ("apart: 0, wireframe: false, use: 3, range: [100, null], cut: { axis: 2, at: 300, side: -1 }", "&use=3"),
        ("by: 'layer', hidden: 2, seeThrough: true, eye: [0.5, 0.2, 20, 1, 2, 3]", "&eye=0.5%2C0.2%2C20%2C1%2C2%2C3"),
    ] {
        tab.eval(&format!("{VIEW}.store.change({{ {patch} }})"));
        tab.wait(&format!("location.hash.includes({})", json!(part)));
        let here = seen(&tab);
        assert!(here[0] != before[0], "{patch} changes the picture");
        let hash = tab.eval("location.hash");
        let fresh = browser.open_address(&format!("{page}{}", hash.as_str().unwrap()), 1280, 800, Scheme::Light);
        fresh.wait("!!document.querySelector('[data-ready]')");
        assert_eq!(fresh.eval("location.hash"), hash);
        let there = seen(&fresh);
        assert!(there[0] == here[0], "{patch} shows another picture");
        assert_eq!(there.as_array().unwrap()[1..], here.as_array().unwrap()[1..], "{patch}");
        assert_eq!(fresh.errors(), [""; 0]);
        before = here;
    }
}
