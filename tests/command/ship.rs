//! Whole ships, from the folder of a game to one file.

use crate::common::{run, writer};
use assetq_sample::ship::{BUILD, COLOURS, SHIP, camouflages, folder};
use assetq_sample::text_models::Dialect;
use std::collections::{BTreeMap, BTreeSet};

/// A folder with the made ship.
fn game() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut write = writer(dir.path());
    folder::<std::convert::Infallible>(|path, bytes| {
        write(path, bytes.to_vec());
        Ok(())
    })
    .unwrap();
    drop(write);
    dir
}

fn export(dir: &tempfile::TempDir, more: &[&str]) -> (gltf::Gltf, String) {
    let to = dir.path().join("ship.glb");
    let args = [&["export", ".", "--to", "ship.glb", "--force"], more].concat();
    let (_, said) = run(dir.path(), 0, &args);
    (gltf::Gltf::from_slice(&std::fs::read(to).unwrap()).unwrap(), said)
}

/// The names of the nodes below the root of a scene, and their positions.
fn places(scene: &gltf::Scene<'_>) -> BTreeMap<String, [f32; 3]> {
    let root = scene.nodes().next().unwrap();
    let place = |node: gltf::Node<'_>| (node.name().unwrap().to_owned(), node.transform().decomposed().0);
    root.children().map(place).collect()
}

#[test]
fn hull_and_mounts_stand_in_their_places() {
    let dir = game();
    for name in [SHIP, "PASB999", "sample", "999000001"] {
        let (glb, said) = export(&dir, &["--ship", name]);
        let found = places(&glb.default_scene().unwrap());
        // Right-handed: x is turned around. The turrets stand on the deck, which lies one metre up.
        let expected = [
            ("Bow", [0.0, 0.0, 0.0]),
            ("HP_AGM_1", [-0.5, 1.5, 6.0]),
            ("HP_AGM_2", [0.0, 1.5, -6.0]),
            ("HP_AGT_1", [-1.0, 1.0, 0.0]),
            ("Hull", [0.0, 0.0, 0.0]),
            ("Stern", [0.0, 0.0, 0.0]),
        ];
        assert_eq!(found, expected.map(|(name, at)| (name.to_owned(), at)).into(), "{name}");
        assert!(said.contains("HP_AGM_9") && said.contains("1 render sets of damaged states"), "{said}");
        assert_eq!(glb.scenes().count(), 1);
    }
}

#[test]
fn meshes_and_images_are_written_once() {
    let dir = game();
    let (glb, _) = export(&dir, &["--ship", SHIP]);
    let mut names: Vec<&str> = glb.meshes().filter_map(|mesh| mesh.name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["bow", "deck", "stern", "tube", "turret", "window"], "both turrets share a mesh");
    assert_eq!((glb.materials().len(), glb.images().len()), (3, 12));
    for (name, _) in COLOURS {
        let material = glb.materials().find(|material| material.name() == Some(name)).unwrap();
        assert!(material.pbr_metallic_roughness().base_color_texture().is_some(), "{name}");
        assert_eq!(material.double_sided(), name == "glass");
    }
    let size = |args: &[&str]| {
        let (glb, _) = export(&dir, &[&["--ship", SHIP], args].concat());
        let base = glb.images().find(|image| image.name() == Some("hull_a.base")).unwrap();
        let gltf::image::Source::View { view, .. } = base.source() else { panic!() };
        let png = &glb.blob.as_ref().unwrap()[view.offset()..][..view.length()];
        u32::from_be_bytes(png[16..20].try_into().unwrap())
    };
    assert_eq!([size(&[]), size(&["--texture-size", "64"]), size(&["--texture-size", "16"])], [128, 64, 16]);
    let (glb, _) = export(&dir, &["--ship", SHIP, "--textures", "none"]);
    assert_eq!((glb.materials().len(), glb.images().len()), (3, 0));
}

#[test]
fn a_hull_brings_its_own_mounts_and_parts_are_chosen() {
    let dir = game();
    let names = |args: &[&str]| {
        let (glb, _) = export(&dir, &[&["--ship", SHIP], args].concat());
        places(&glb.default_scene().unwrap()).into_keys().collect::<Vec<_>>()
    };
    for hull in ["PAUH999_A", "A_Hull"] {
        assert_eq!(names(&["--hull", hull]), ["Bow", "HP_AGM_1", "HP_AGT_1", "Hull", "Stern"]);
    }
    assert_eq!(names(&["--parts", "guns"]), ["HP_AGM_1", "HP_AGM_2"]);
    assert_eq!(names(&["--parts", "hull,torpedoes"]), ["Bow", "HP_AGT_1", "Hull", "Stern"]);
}

#[test]
fn armour_is_below_a_node_of_its_own_in_colours_by_thickness() {
    let dir = game();
    let (glb, _) = export(&dir, &["--ship", SHIP, "--armor"]);
    assert_eq!(glb.scenes().count(), 1);
    let root = glb.default_scene().unwrap().nodes().nth(1).unwrap();
    assert_eq!(root.name(), Some("PASB999_Sample armor"));
    let mut plates: Vec<String> = root
        .children()
        .flat_map(|part| part.children().collect::<Vec<_>>())
        .filter_map(|node| node.mesh()?.primitives().next()?.material().name().map(str::to_owned))
        .collect();
    plates.sort();
    // The hull's plates once, and the turrets' plates at both places: their faces differ. The hull states the thickness that a turret lacks.
    let expected = [
        "armor 26 mm",
        "armor 26 mm",
        "armor 307 mm",
        "armor 38 mm",
        "armor 400 mm",
        "armor 430 mm",
        "armor no stated thickness",
        "armor no stated thickness",
        "armor no stated thickness",
    ];
    assert_eq!(plates, expected);
    // The game shows plates up to 399 mm as #DC4E30. Factors of glTF are linear.
    let belt = glb.materials().find(|material| material.name() == Some("armor 307 mm")).unwrap();
    let channels = belt.pbr_metallic_roughness().base_color_factor();
    let srgb = channels.map(|c| ((1.055 * f64::from(c).powf(1.0 / 2.4) - 0.055) * 255.0).round() as u8);
    assert_eq!(srgb, [0xDC, 0x4E, 0x30, 255]);
}

/// In the game each plate has a row for each use, with the thickness there. Its bytes are what is compared and edited.
#[test]
fn a_file_of_the_game_equals_its_copy_outside_and_takes_a_patch_that_was_made_there() {
    let dir = game();
    let gun = ".:content/gameplay/usa/gun/main/AGM999/AGM999.geometry";
    let run = |code, args: &[&str]| run(dir.path(), code, args);
    run(0, &["extract", ".", "*/AGM999.geometry", "--to", "out"]);
    let copy = "out/content/gameplay/usa/gun/main/AGM999/AGM999.geometry";
    assert_ne!(run(0, &["ls", gun, "-t", "armor_plates"]).0.lines().count(), 1 + 3, "a row for each use");
    for pair in [[gun, copy], [copy, gun]] {
        assert_eq!(run(0, &["diff", pair[0], pair[1], "-f", "ndjson"]).0, "");
        assert_eq!(run(0, &["diff", pair[0], pair[1], "-f", "ndjson", "-t", "armor_plates"]).0, "");
    }
    run(0, &["sql", "UPDATE armor_plates SET material_id = 77 WHERE rowid = 1", copy, "--to", "edited.geometry"]);
    let (patch, _) = run(1, &["diff", copy, "edited.geometry", "-f", "patch"]);
    std::fs::write(dir.path().join("p.ndjson"), patch).unwrap();
    run(0, &["patch", gun, "p.ndjson", "--to", "patched.geometry"]);
    let bytes = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(bytes("patched.geometry") == bytes("edited.geometry"));
}

#[test]
fn camouflages_are_variants_of_materials_in_both_dialects() {
    let dir = game();
    camouflages_are_variants(&dir);
    // A loose file of the build wins over the file in the index.
    let loose = format!("bin/{BUILD}/res/camouflages.xml");
    writer(dir.path())(&loose, camouflages(Dialect::New).into_bytes());
    camouflages_are_variants(&dir);
    let old = camouflages(Dialect::Old).replace("sample", "\u{416}");
    let in_windows_1251 = old.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(0xC6)).collect();
    writer(dir.path())(&loose, in_windows_1251);
    camouflages_are_variants(&dir);
    let (_, said) = export(&dir, &["--ship", SHIP, "--camouflages"]);
    assert_eq!(said.matches("camouflages.xml is not UTF-8").count(), 1, "{said}");
}

fn camouflages_are_variants(dir: &tempfile::TempDir) {
    let (glb, said) = export(dir, &["--ship", SHIP, "--camouflages"]);
    let json = glb.document.as_json();
    let variants = &json.extensions.as_ref().unwrap().khr_materials_variants.as_ref().unwrap().variants;
    assert_eq!(variants.iter().map(|variant| &*variant.name).collect::<Vec<_>>(), ["Stripes"]);
    assert!(said.contains("texture content/gameplay/common/camouflage/textures/missing.dds is not at hand"), "{said}");
    assert!(!said.contains("camo_other"), "it is of another ship");
    for name in ["KHR_materials_variants", "KHR_texture_transform"] {
        assert!(json.extensions_used.iter().any(|used| used == name), "{name}");
    }
    let mut changed = BTreeSet::new();
    for primitive in json.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let before = &json.materials[primitive.material.unwrap().value()];
        let Some(extension) = primitive.extensions.as_ref().and_then(|all| all.khr_materials_variants.as_ref()) else {
            assert_eq!(before.name.as_deref(), Some("glass"), "glass keeps its look");
            continue;
        };
        let [mapping] = &*extension.mappings else { panic!("one variant changes it") };
        assert_eq!(mapping.variants, [0]);
        let after = &json.materials[mapping.material as usize];
        changed.insert((before.name.clone().unwrap(), after.name.clone().unwrap()));
        let base = after.pbr_metallic_roughness.base_color_texture.as_ref().unwrap();
        let transform = base.extensions.as_ref().unwrap().texture_transform.as_ref().unwrap();
        assert_eq!((transform.scale.0, transform.tex_coord), ([2.0, 2.0], Some(0)), "null is no number");
        assert_eq!(
            after.normal_texture.as_ref().unwrap().index.value(),
            before.normal_texture.as_ref().unwrap().index.value()
        );
        let image = glb.images().nth(json.textures[base.index.value()].source.value()).unwrap();
        let gltf::image::Source::View { view, .. } = image.source() else { panic!("it is in the GLB") };
        let png = &glb.blob.as_ref().unwrap()[view.offset()..view.offset() + view.length()];
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut texels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut texels).unwrap();
        // Black, red, green and blue of the texture stand for black, white, red and blue.
        let stripes: Vec<&[u8]> = texels[..16 * 3].chunks(4 * 3).map(|stripe| &stripe[..3]).collect();
        assert_eq!(stripes, [[0, 0, 0], [255, 255, 255], [255, 0, 0], [0, 0, 255]]);
    }
    let expected = [("gun", "gun Stripes"), ("hull", "hull Stripes")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(changed.into_iter().collect::<Vec<_>>(), expected);
    // A plain export writes no variants.
    let (plain, _) = export(dir, &["--ship", SHIP]);
    assert!(plain.document.as_json().extensions.is_none());
}

/// By title, or by the name in `camouflages.xml`; textures of the others are not missed.
#[test]
fn only_the_named_camouflages_are_variants() {
    let dir = game();
    for (names, misses) in [("Stripes", 0), ("CAMO_STRIPES", 0), ("camo_missing,Stripes", 1)] {
        let (glb, said) = export(&dir, &["--ship", SHIP, "--camouflages", names]);
        let extensions = glb.document.as_json().extensions.as_ref().unwrap();
        let variants = &extensions.khr_materials_variants.as_ref().unwrap().variants;
        assert_eq!(variants.iter().map(|variant| &*variant.name).collect::<Vec<_>>(), ["Stripes"], "{names}");
        assert_eq!(said.matches("missing.dds is not at hand").count(), misses, "{names}: {said}");
    }
    let args = ["export", ".", "--ship", SHIP, "--camouflages", "Stripe", "--to", "x.glb"];
    let (_, said) = run(dir.path(), 1, &args);
    assert!(said.contains("camouflage \"Stripe\" of PASB999_Sample: it has Stripes, "), "{said}");
    assert!(!dir.path().join("x.glb").exists());
}

#[test]
fn a_ship_that_is_not_there_is_named_with_the_nearest() {
    let dir = game();
    let (_, said) = run(dir.path(), 1, &["export", ".", "--ship", "PASB99", "--to", "x.glb"]);
    assert!(said.contains("did you mean PASB999_Sample?"), "{said}");
    // A misspelled title leads to the ship, and the index of another nation to none.
    let (_, said) = run(dir.path(), 1, &["export", ".", "--ship", "Sampel", "--to", "x.glb"]);
    assert!(said.contains("did you mean PASB999_Sample?"), "{said}");
    let (_, said) = run(dir.path(), 1, &["export", ".", "--ship", "PJSB999_Yamato", "--to", "x.glb"]);
    assert!(!said.contains("did you mean"), "{said}");
    let (_, said) = run(dir.path(), 1, &["export", ".", "--ship", SHIP, "--hull", "C_Hull", "--to", "x.glb"]);
    assert!(said.contains("PAUH999_A, PAUH999_B"), "{said}");
    let (_, said) = run(
        dir.path(),
        2,
        &["export", "bin/9000000/res/texts/en/LC_MESSAGES/global.mo", "--ship", SHIP, "--to", "x.glb"],
    );
    assert!(said.contains("the folder of World of Warships has"), "{said}");
}

#[test]
fn a_page_shows_the_ship_with_its_textures() {
    let dir = game();
    run(dir.path(), 0, &["view", ".", "--ship", SHIP, "--to", "ship.html"]);
    let page = std::fs::read_to_string(dir.path().join("ship.html")).unwrap();
    assert!(page.contains("\"HP_AGM_1\"") && page.contains("\"image\":\"shapes-"));
    // The page begins with what the parameters state.
    for fact in [&format!("[\"name\",\"{SHIP}\"]"), "[\"guns\",", "[\"length\",\""] {
        assert!(page.contains(fact), "{fact}");
    }
}
