//! Armour as a tree: zones of the ship, their parts and plates.

use super::scene::{VIEW, battleship, hover, look, on_canvas, plate};
use super::*;
use assetq_sample::geometry::GeometryBuilder;

/// The lines of the tree that are laid out and seen, as a person reads them, indented by their level.
fn lines(tab: &Tab<'_>) -> Vec<String> {
    let js = "[...document.querySelectorAll('.scene-zones [role=treeitem]')].filter((e) => e.checkVisibility()).map((e) => \
              '  '.repeat(e.ariaLevel - 1) + [...e.firstChild.querySelectorAll('.name, .count, .scene-count')].map((e) => e.textContent).filter(Boolean).join(' | '))";
    serde_json::from_value(tab.eval(js)).unwrap()
}

/// The item on which keys act, as a screen reader gets it.
fn said(tab: &Tab<'_>) -> Value {
    tab.eval(
        "((tree) => { const e = document.getElementById(tree.getAttribute('aria-activedescendant')); \
         return [e.role, e.querySelector('.name').textContent + ', ' + e.ariaDescription, e.ariaLevel, e.ariaExpanded, e.ariaChecked, e.ariaSelected]; })(document.querySelector('.scene-zones'))",
    )
}

/// The plates that are marked as chosen: their rows in `armor_plates` on the present ship.
fn marked(tab: &Tab<'_>) -> Vec<u64> {
    let js = format!(
        "(({{ contents, store: {{ now }} }}) => contents.plates.filter((plate) => {{ const [first, count] = plate.model.twins ?? [0, 0]; return plate.id >= first && plate.id < first + count; }}) \
         .map((plate) => contents.rowOf(plate, now.use)).sort((a, b) => a - b))({VIEW})"
    );
    serde_json::from_value(tab.eval(&js)).unwrap()
}

/// The rows of `armor_plates` for which a condition holds, on the first ship.
fn rows(dir: &Path, condition: &str) -> Vec<u64> {
    let file = ["ASB900.geometry", "--with", "GameParams.data"];
    let query = "SELECT row_number() OVER () - 1 AS n, * FROM armor_plates";
    let query =
        format!("SELECT n FROM ({query}) WHERE ship = 'PASB900_Nowhere' AND component = 'A_Hull' AND {condition}");
    let (found, _) = run(dir, 0, &[&["sql", &query], &file[..], &["-f", "csv"]].concat());
    found.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn armour_is_a_tree_of_zones_parts_and_plates_with_their_thickness() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let tab = battleship(&browser, dir.path());
    // Zones and parts: their plates, if there are several, and the thickness of these on the ship that is chosen.
    let citadel = [
        "Citadel | 12 | 0–287 mm",
        "  59 Cit_AftTrans | 287 mm",
        "  61 Cit_Belt | 2 | 287 mm",
        "  62 Cit_Bottom | 3 | 16 mm",
        "  63 Cit_Bulge | 2 | 26 mm",
        "  64 Cit_Deck | 0 mm",
    ];
    let all = lines(&tab);
    let at = all.iter().position(|line| line.starts_with("Citadel")).unwrap();
    assert_eq!(all[at..at + citadel.len()], citadel, "{all:?}");
    assert_eq!(all.last().unwrap(), "  97 TurretBarbette | 4", "the thickness of these is unknown");

    // Arrow keys choose a zone, a part and a plate, and the scene marks their plates.
    tab.eval("document.querySelector('.scene-zones').focus()");
    for _ in 0..=at {
        tab.key("ArrowDown");
    }
    assert_eq!(said(&tab), json!(["treeitem", "Citadel, 12 plates, 0 to 287 mm", "1", "true", "true", "true"]));
    assert_eq!(marked(&tab), rows(dir.path(), "material LIKE 'Cit%'"));
    tab.wait("location.hash.endsWith('&whole=zone')");
    for fact in ["zone Citadel\nparts 7\nplates 12\nthickness 0 to 287 mm\n", "area "] {
        tab.wait(&format!("document.querySelector('.scene-chosen').innerText.includes({})", json!(fact)));
    }
    tab.key("ArrowDown");
    tab.key("ArrowDown");
    assert_eq!(said(&tab), json!(["treeitem", "61 Cit_Belt, 2 plates, 287 mm", "2", "false", "true", "true"]));
    assert_eq!(marked(&tab), rows(dir.path(), "material = 'Cit_Belt'"));
    tab.wait("location.hash.endsWith('&whole=part')");
    let link = tab.eval("location.hash");
    tab.shot("zones");
    tab.key("ArrowRight");
    tab.key("ArrowRight");
    assert_eq!(said(&tab), json!(["treeitem", "Layer 1, plate, 287 mm", "3", null, null, "true"]));
    let belt = rows(dir.path(), "material = 'Cit_Belt'");
    assert_eq!(marked(&tab), belt[..1]);
    tab.wait(&format!("location.hash === '#scene&plate={}'", belt[0]));
    tab.key("ArrowLeft");
    tab.key("ArrowLeft");
    assert_eq!(said(&tab)[3], "false", "the part is folded");

    // The space key hides a part. Nothing is chosen then.
    tab.key(" ");
    assert_eq!(said(&tab), json!(["treeitem", "61 Cit_Belt, 2 plates, 287 mm", "2", "false", "false", null]));
    assert_eq!(marked(&tab), [0; 0]);
    tab.key("ArrowLeft");
    assert_eq!(said(&tab)[4], "mixed", "the zone is drawn in part");
    tab.key("ArrowDown");
    tab.key("ArrowDown");
    assert_eq!((said(&tab)[5].clone(), marked(&tab)), (Value::Null, vec![]), "what is hidden stays hidden");
    tab.key("Enter");
    assert_eq!((said(&tab)[4].clone(), marked(&tab)), ("true".into(), belt.clone()), "Enter shows it");

    // A link shows the part in a fresh page, and the tree is open there. On the other ship the belt is thicker.
    visit(&tab, "#scene");
    tab.wait(&format!("{VIEW}.store.now.chosen === null"));
    visit(&tab, link.as_str().unwrap());
    tab.wait("document.querySelector('.scene-zones [aria-selected]')?.ariaDescription === '2 plates, 287 mm'");
    assert_eq!(marked(&tab), belt);
    tab.eval(&format!("{VIEW}.store.change({{ use: 3 }})"));
    assert_eq!(said(&tab)[1], "61 Cit_Belt, 2 plates, 327 mm");
    tab.wait("document.querySelector('.scene-chosen').innerText.includes('thickness 327 mm')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn armour_without_parameters_is_a_tree_without_thickness() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    let mut builder = GeometryBuilder::new();
    builder.armor("hull", vec![plate(61, 3, -1.0), plate(61, 1, 1.0), plate(2, 1, 3.0)]);
    fs::write(dir.path().join("ship.geometry"), builder.build()).unwrap();
    let tab = look(&browser, dir.path(), "ship.geometry");
    assert_eq!(
        lines(&tab),
        ["Citadel | 2", "  61 Cit_Belt | 2", "On two parts", "  2 Dual_SSC_Bow_Side"],
        "no plate has a thickness"
    );
    // A click on a plate in the scene opens the tree there.
    tab.eval("document.querySelector('.scene-canvas').focus()");
    tab.key("4");
    tab.eval(&format!("{VIEW}.choose({VIEW}.contents.plates.find(({{ layer }}) => layer === 3).id)"));
    assert_eq!(lines(&tab)[2..4], ["    Layer 1", "    Layer 3"]);
    let selected = "document.querySelector('.scene-zones [aria-selected]').ariaDescription";
    assert_eq!(tab.eval(selected), "plate");
    // A box of the tree hides a part, and a filter leaves the parts that it names.
    let at = on_canvas(&tab, 0.5, 0.5);
    assert!(hover(&tab, at).contains("61 Cit_Belt"));
    tab.eval("document.querySelector('[aria-label=\"Show 61 Cit_Belt\"]').click()");
    assert_eq!(hover(&tab, at), "");
    assert_eq!(tab.errors(), [""; 0]);
}
