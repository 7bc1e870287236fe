//! Scenes of several files, of two versions of a file, and with textures, in a real browser.

use super::browser::{Browser, Scheme};
use super::sample;
use super::scene::{VIEW, hover, look, on_canvas, picture, plate};
use crate::common::{run, writer};
use assetq_sample::Size;
use assetq_sample::geometry::{GeometryBuilder, many, splash};
use assetq_sample::ship::{SHIP, folder};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

#[test]
fn parts_of_several_files_and_hit_boxes_are_one_scene() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, x) in [("bow.geometry", -2.0), ("stern.geometry", 2.0)] {
        let mut builder = GeometryBuilder::new();
        builder.armor("hull.armor", vec![plate(12, 1, x), plate(47, 1, x * 2.0)]);
        fs::write(dir.path().join(name), builder.build()).unwrap();
    }
    fs::write(dir.path().join("hull.splash"), splash(&[("CM_SB_bow_1", [-3.0, -1.0, -1.0], [-1.0, 1.0, 1.0])]))
        .unwrap();
    let files = ["bow.geometry", "--with", "stern.geometry", "--with", "hull.splash", "--to"];
    run(dir.path(), 0, &[&["view"], &files[..], &["page.html"]].concat());
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    assert_eq!(
        tab.eval("assetq.page.parts[1].meta.files"),
        json!([["bow.geometry", 2], ["stern.geometry", 2], ["hull.splash", 1]])
    );
    // A material has one colour in all files.
    let colours = tab.eval(&format!("{VIEW}.contents.models.filter(({{ part }}) => part.kind === 'armor').map(({{ material }}) => material.name + material.colour)"));
    let colours: Vec<String> = serde_json::from_value(colours).unwrap();
    let distinct: std::collections::BTreeSet<&String> = colours.iter().collect();
    assert_eq!((colours.len(), distinct.len()), (4, 2));
    let titles = tab.eval(
        "[...document.querySelectorAll('.scene-zones > .item > .node .name')].map((e) => e.textContent.split(' · ')[0])",
    );
    let titles: Vec<String> = serde_json::from_value(titles).unwrap();
    assert!(titles.contains(&"bow.geometry".to_owned()) && titles.contains(&"stern.geometry".to_owned()), "{titles:?}");
    // Both ends are seen from above, each with its file.
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("4");
    picture(&tab);
    let at = |side: f64| {
        let js = format!("{VIEW}.renderer.project({VIEW}.camera, [-1 * {side} * 2, 0, 0])");
        let point = tab.eval(&js);
        let (left, top) = on_canvas(&tab, 0.0, 0.0);
        hover(&tab, (left + point[0].as_f64().unwrap(), top + point[1].as_f64().unwrap()))
    };
    assert!(at(-1.0).contains("file bow.geometry"), "{}", at(-1.0));
    assert!(at(1.0).contains("file stern.geometry"), "{}", at(1.0));
    tab.shot("several");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_ship_is_chosen_for_all_files_of_a_scene() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    super::sample(dir.path(), "GameParams.data", assetq_sample::Size::Small);
    let files = [
        ("ASB900.geometry", assetq_sample::geometry::battleship()),
        ("AGM900.geometry", assetq_sample::geometry::gun()),
    ];
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let with = ["--with", "AGM900.geometry", "--with", "GameParams.data", "--to", "page.html"];
    run(dir.path(), 0, &[&["view", "ASB900.geometry"], &with[..]].concat());
    let tab = browser.open(&dir.path().join("page.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    let ship = "document.querySelector('select[title=\"Ship and component\"]')";
    let names = tab.eval(&format!("[...{ship}.options].map((o) => o.text)"));
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    assert!(names.contains(&"PASB901_Somewhere B_Hull".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("PASB900_Nowhere A_Artillery")), "{names:?}");
    // Each plate has the thickness that its own file's rows have for the chosen ship: the gun the same on each hull.
    for (name, component) in [("PASB900_Nowhere A_Hull", "A_Hull"), ("PASB901_Somewhere B_Hull", "B_Hull")] {
        let place = names.iter().position(|one| one == name).unwrap();
        tab.eval(&format!("(() => {{ {ship}.value = '{place}'; {ship}.dispatchEvent(new Event('change')); }})()"));
        tab.wait(&format!("{VIEW}.store.now.use === {place}"));
        for (number, (file, component)) in
            [("ASB900.geometry", component), ("AGM900.geometry", "A_Artillery")].iter().enumerate()
        {
            let ship = name.split(' ').next().unwrap();
            let filter = format!("entity = '{ship}' and component = '{component}'");
            let args = ["-t", "armor_plates", "-w", &filter, "-c", "thickness", "-f", "json"];
            let (rows, _) = run(dir.path(), 0, &[&["ls", file, "--with", "GameParams.data"], &args[..]].concat());
            let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).unwrap();
            let mut rows: Vec<f64> = rows.iter().filter_map(|row| row["thickness"].as_f64()).collect();
            let shown = tab.eval(&format!(
                "{VIEW}.contents.models.filter((model) => model.file === {number} && model.part.plates).flatMap((model) => \
                 model.plates.map((plate) => {VIEW}.contents.thick(plate, {VIEW}.store.now.use))) \
                 .filter((thick) => thick !== null)"
            ));
            let mut shown: Vec<f64> = serde_json::from_value(shown).unwrap();
            rows.sort_by(f64::total_cmp);
            shown.sort_by(f64::total_cmp);
            assert!(!rows.is_empty() && rows == shown, "{name} {file}: {rows:?} {shown:?}");
        }
    }
    // Rows of both files have the same numbers: the address names the file, and only the first file has rows in the page.
    for (file, link) in [(1, serde_json::Value::Null), (0, json!("#table=armor_plates&row="))] {
        let plate = format!("{VIEW}.contents.models.find((model) => model.file === {file} && model.part.plates)");
        tab.eval(&format!("{VIEW}.choose({plate}.first)"));
        tab.wait("document.querySelector('.scene-chosen').innerText.includes('area')");
        let href =
            tab.eval("document.querySelector('.scene-chosen a')?.getAttribute('href').replace(/\\d+$/, '') ?? null");
        assert_eq!(href, link);
        let hash = tab.eval("location.hash");
        assert_eq!(hash.as_str().unwrap().contains("&file=1"), file == 1, "{hash}");
        tab.eval(&format!("{VIEW}.choose(null)"));
        super::visit(&tab, hash.as_str().unwrap());
        tab.wait(&format!("{VIEW}.store.now.chosen === {plate}.first"));
    }
    // A row of the table leads to the ship that it is of.
    super::visit(&tab, "#scene&plate=3");
    tab.wait(&format!("{VIEW}.store.now.chosen !== null && {VIEW}.contents.owners[{VIEW}.store.now.use].name === 'PASB901_Somewhere B_Hull'"));
    tab.shot("merged-ship");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_difference_of_geometry_shows_both_versions_in_one_scene() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let file = |name: &str, plates: Vec<_>| {
        let mut builder = GeometryBuilder::new();
        builder.armor("hull.armor", plates);
        fs::write(dir.path().join(name), builder.build()).unwrap();
    };
    // One plate stays, one moves, and one is new.
    file("old.geometry", vec![plate(12, 1, 0.0), plate(12, 1, 3.0)]);
    file("new.geometry", vec![plate(12, 1, 0.0), plate(12, 1, 5.0), plate(2, 1, -4.0)]);
    let (page, _) = run(dir.path(), 1, &["diff", "old.geometry", "new.geometry", "-f", "html"]);
    fs::write(dir.path().join("diff.html"), page).unwrap();
    let tab = browser.open(&dir.path().join("diff.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    let found = tab.eval(&format!(
        "{VIEW}.contents.models.map((model) => [{VIEW}.contents.tint(model), model.part.plates.length / 3, model.part.triangles]).sort()"
    ));
    assert_eq!(
        found,
        json!([
            ["only in the new version", 1, 2],
            ["only in the new version", 1, 2],
            ["only in the old version", 1, 2],
            ["unchanged", 1, 2]
        ])
    );
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("4");
    picture(&tab);
    let at = |x: f64| {
        let point = tab.eval(&format!("{VIEW}.renderer.project({VIEW}.camera, [{x}, 0, 0])"));
        let (left, top) = on_canvas(&tab, 0.0, 0.0);
        hover(&tab, (left + point[0].as_f64().unwrap(), top + point[1].as_f64().unwrap()))
    };
    for (x, name) in [(0.0, "unchanged"), (3.0, "only in the old"), (5.0, "only in the new"), (-4.0, "only in the new")]
    {
        // The file is left-handed.
        assert!(at(-x).contains(name), "{x}: {}", at(-x));
    }
    let legend = tab.eval("document.querySelector('.scene-legend').innerText.split('\\n').sort().join()");
    assert_eq!(legend, "only in the new version,only in the old version,unchanged");
    tab.shot("diff-geometry");
    assert_eq!(tab.errors(), [""; 0]);
    let (same, _) = run(dir.path(), 0, &["diff", "old.geometry", "old.geometry", "-f", "html"]);
    assert!(!same.contains(r#""kind":"scene""#));
}

#[test]
fn a_difference_of_meshes_shows_the_old_version_of_each_beside_the_new_one() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    for (name, seed) in [("old.geometry", 1), ("new.geometry", 11)] {
        fs::write(dir.path().join(name), many(3, 60, seed)).unwrap();
    }
    let (page, _) = run(dir.path(), 1, &["diff", "old.geometry", "new.geometry", "-f", "html"]);
    fs::write(dir.path().join("diff.html"), page).unwrap();
    let tab = browser.open(&dir.path().join("diff.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    let shown = |version: &str| {
        let js = format!(
            "{VIEW}.contents.models.filter((m) => m.isShown && {VIEW}.contents.tint(m) === 'only in the {version} version').map((m) => m.part.name).sort().join()"
        );
        tab.eval(&js).as_str().unwrap().to_owned()
    };
    for level in 0..3 {
        tab.eval(&format!("(() => {{ const e = document.querySelector('[aria-label=\"Level of detail\"]'); e.value = '{level}'; e.dispatchEvent(new Event('change')); }})()"));
        assert_eq!((shown("old"), shown("new")), (format!("group_0000000{level}"), format!("group_0000000{level}")));
    }
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_ship_has_its_textures_on() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let mut write = writer(dir.path());
    folder::<std::convert::Infallible>(|path, bytes| {
        write(path, bytes.to_vec());
        Ok(())
    })
    .unwrap();
    run(dir.path(), 0, &["view", ".", "--ship", SHIP, "--to", "ship.html"]);
    let tab = browser.open(&dir.path().join("ship.html"), 1280, 800, Scheme::Light);
    tab.wait("Number(document.querySelector('[data-ready]')?.dataset.frames) > 0");
    let images =
        tab.eval(&format!("{VIEW}.contents.models.filter((model) => model.isShown && model.images[0]).length"));
    assert!(images.as_u64().unwrap() > 2, "{images}");
    // The colours of the images are on the screen: the light changes how bright they are, and their hue by little.
    let hues = format!(
        "(async () => {{ const v = {VIEW}; v.renderer.plain = true; v.draw(false); const {{ width, height }} = v.canvas; \
         const hue = ([r, g, b]) => Math.round(Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b) * 18 / Math.PI); \
         const of = (source, w, h) => {{ const pen = new OffscreenCanvas(w, h).getContext('2d'); pen.drawImage(source, 0, 0); \
           const all = pen.getImageData(0, 0, w, h).data; const found = new Set(); \
           for (let i = 0; i < all.length; i += 4) {{ const c = all.subarray(i, i + 3); \
             if (all[i + 3] > 250 && Math.max(...c) - Math.min(...c) > 40) found.add(hue(c)); }} return found; }}; \
         const seen = of(v.canvas, width, height); const wanted = new Set(); \
         for (const {{ images: [image] }} of v.contents.models) if (image) for (const one of of(image, image.width, image.height)) wanted.add(one); \
         return [seen.size, [...seen].filter((one) => ![-2, -1, 0, 1, 2].some((by) => wanted.has(one + by))).length]; }})()"
    );
    let found = tab.eval(&hues);
    assert!(found[0].as_u64().unwrap() > 0 && found[1] == 0, "{found}");
    tab.shot("ship-textures");
    // Each image of a surface changes the picture: normals, metal with roughness, and occlusion.
    let replaced = |role: usize| {
        tab.eval(&format!(
            "(() => {{ const v = {VIEW}; v.draw(false); const before = v.canvas.toDataURL(), had = v.contents.models.filter((m) => m.images[{role}]); \
             for (const m of had) {{ m.kept = m.images; m.images = m.images.with({role}, Uint8Array.of(200, 60, 220, 255)); m.gpu = null; }} \
             v.draw(false); const after = v.canvas.toDataURL(); for (const m of had) {{ m.images = m.kept; m.gpu = null; }} \
             return had.length > 0 && after !== before; }})()"
        ))
    };
    assert_eq!([1, 2, 3].map(replaced), [true; 3]);
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn of_meshes_without_names_the_finest_level_is_shown_and_others_are_chosen() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "ship.geometry", Size::Full);
    let tab = look(&browser, dir.path(), "ship.geometry");
    tab.eval("document.querySelector('[aria-label=\"Show meshes\"]').click()");
    let shown = format!(
        "{VIEW}.contents.models.filter((m) => m.isShown && m.part.kind === 'mesh').map((m) => m.part.triangles)"
    );
    let all = tab.eval(&format!(
        "{VIEW}.contents.models.filter((m) => m.part.kind === 'mesh').map((m) => m.part.triangles).sort((a, b) => b - a)"
    ));
    assert_eq!(all.as_array().unwrap().len(), 5);
    assert_eq!(tab.eval(&shown), json!([all[0]]));
    let choose = |level: &str| {
        tab.eval(&format!(
            "(() => {{ const e = document.querySelector('[aria-label=\"Level of detail\"]'); e.value = '{level}'; e.dispatchEvent(new Event('change')); return e.selectedOptions[0].textContent; }})()"
        ))
    };
    assert_eq!(choose("4"), "Level of detail 4, guessed");
    assert_eq!(tab.eval(&shown), json!([all[4]]));
    assert_eq!(choose(""), "All levels");
    assert_eq!(tab.eval(&format!("{shown}.length")), 5);
    assert_eq!(tab.errors(), [""; 0]);
}
