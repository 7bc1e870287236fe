//! Meshes named, paired and placed by databases and spaces.

use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::formats::wows::geometry::export::Options;
use assetq::formats::wows::geometry::export::scene;
use assetq::formats::wows::geometry::mesh::Pairing;
use assetq::formats::wows::geometry::{Geometry, export};
use assetq::formats::wows::models::ModelFiles;
use assetq::view::scene::Context;
use assetq::{Asset, Source};
use assetq_sample::bwdb::DatabaseBuilder as Builder;
use assetq_sample::prototypes::{BlobWriter, u32s};
use std::path::PathBuf;

fn glb(scene: &export::Scene<'_>) -> gltf::Gltf {
    let mut out = Vec::new();
    assetq::view::scene::glb::write(&scene.model(), &mut out).unwrap();
    gltf::Gltf::from_slice(&out).unwrap()
}

/// A database with one visual of two render sets that draws the file at `path`.
fn database(path: &str, pairs: [(u32, u32); 2]) -> Asset {
    database_of(path, ["bow_set", "stern_set"], pairs)
}

/// The same, whose render sets have these names. The first level of detail shows both, the second one the second.
fn database_of(path: &str, [first, second]: [&str; 2], pairs: [(u32, u32); 2]) -> Asset {
    let mut db = Builder::with_capacities(64, 64);
    let names = [first, second, "steel"].map(|text| db.string(text));
    let geometry = db.path(path);
    let visual = db.path("content/ship/Ship.visual");
    let mut blob = BlobWriter::new(PrototypeType::Visual, 1);
    let at = blob.record(0);
    blob.data.patch(at + 0x30, geometry.to_le_bytes());
    blob.data.patch(at + 0x3A, 2u16.to_le_bytes());
    blob.data.patch(at + 0x3C, [2]);
    let sets = blob.structs(at, 0x60, 2, 0x28);
    for (i, (vertices, indices)) in pairs.into_iter().enumerate() {
        blob.data.patch(sets + 0x28 * i, u32s([names[i], names[2], vertices, indices]));
    }
    let lods = blob.structs(at, 0x68, 2, 0x10);
    blob.data.patch(lods + 6, 2u16.to_le_bytes());
    blob.array(lods, 8, u32s([names[0], names[1]]));
    blob.data.patch(lods + 0x10 + 6, 1u16.to_le_bytes());
    blob.array(lods + 0x10, 8, u32s([names[1]]));
    let database = db.database(PrototypeType::Visual.magic(), 0, blob.finish());
    db.resource(visual, database, 0, 0);
    Asset::open(Source::from_vec("assets.bin", db.build())).unwrap()
}

fn ship(name: &str) -> Geometry {
    let bytes = assetq_sample::geometry::many(3, 60, 1);
    Geometry::open(Source::from_vec(name, bytes)).unwrap()
}

#[test]
fn a_database_names_and_pairs() {
    // Crosswise: hints would pair equal ids.
    let db = database("content/ship/Ship.geometry", [(1, 0), (0, 1)]);
    // Found by the id of its path, by its name alone where it lies elsewhere, and not under another name.
    let windows = r"C:\games\res\content\ship\Ship.geometry";
    for name in ["/games/wows/res/content/ship/Ship.geometry", windows, "elsewhere/Ship.geometry"] {
        let g = ship(name);
        let scene = scene(&g, &Context::from_assets([&db]).unwrap(), Options::default()).unwrap();
        assert_eq!(scene.notes, ["1 index mappings are named by no render set"]);
        let read = glb(&scene);
        let names: Vec<_> =
            read.document.nodes().filter(|n| n.mesh().is_some()).map(|n| n.name().unwrap().to_owned()).collect();
        assert_eq!(names, ["bow_set", "stern_set"]);
        assert_eq!(read.document.materials().next().unwrap().name(), Some("steel"));
        assert!(read.document.nodes().any(|n| n.name() == Some("content/ship/Ship.visual")));
        let mut options = Options::default();
        options.lod = Some(1);
        let coarse = export::scene(&g, &Context::from_assets([&db]).unwrap(), options);
        assert_eq!(glb(&coarse.unwrap()).document.meshes().count(), 1);
    }
}

#[test]
fn a_geometry_that_no_visual_draws_has_its_own_groups_and_a_note() {
    let db = database("content/ship/Ship.geometry", [(1, 0), (0, 1)]);
    let mut context = Context::from_assets([&db]).unwrap();
    let g = ship("Other.geometry");
    let note = "no visual of the database draws Other.geometry; its meshes have no names";
    let groups = g.groups_in(&context).unwrap();
    assert_eq!((&groups.groups, &groups.notes), (&g.groups().unwrap().groups, &vec![note.to_owned()]));
    // The levels of detail of such groups are guessed, as another note says.
    assert_eq!(scene(&g, &context, Options::default()).unwrap().notes[0], note);
    // The user did not name the database of the game.
    context.is_implied = true;
    assert!(scene(&g, &context, Options::default()).unwrap().notes.iter().all(|known| known != note));
}

#[test]
fn a_name_alone_is_not_enough_where_no_mapping_is_known() {
    let db = database("content/ship/Ship.geometry", [(77, 78), (79, 80)]);
    let context = Context::from_assets([&db]).unwrap();
    let notes = scene(&ship("elsewhere/Ship.geometry"), &context, Options::default()).unwrap().notes;
    assert_eq!(notes[0], "no visual of the database draws elsewhere/Ship.geometry; its meshes have no names");
    // Its path is.
    assert!(ship("content/ship/Ship.geometry").groups_in(&context).unwrap().groups.is_empty());
}

#[test]
fn levels_of_detail_show_the_first_render_set_of_a_name_and_once() {
    let db = database_of("Ship.geometry", ["hull", "hull"], [(1, 1), (0, 0)]);
    let g = ship("Ship.geometry");
    let groups = g.groups_in(&Context::from_assets([&db]).unwrap()).unwrap();
    let shown: Vec<_> = groups.groups.iter().map(|group| (group.vertices, &*group.lods)).collect();
    assert_eq!(shown, [(1, &[0, 1][..]), (0, &[])]);
}

#[test]
fn without_a_database_hints_pair() {
    let g = ship("Ship.geometry");
    let meshes = |lod| {
        let mut options = Options::default();
        options.lod = lod;
        let scene = scene(&g, &Context::default(), options).unwrap();
        (glb(&scene).document.meshes().count(), scene.notes.join("; "))
    };
    assert_eq!(meshes(None).0, 3);
    // No file states the levels of detail: one box fits around all.
    let (finest, notes) = meshes(Some(0));
    assert_eq!(finest, 1);
    assert!(notes.contains("2 of 3 meshes are of other levels"), "{notes}");
}

#[test]
fn instances_of_models_that_are_not_there_are_counted() {
    use assetq_sample::{Size, space};
    let models = Asset::open(Source::from_vec("models.bin", space::models_bin(1, Size::Small))).unwrap();
    let g = ship("models.geometry");
    let notes = |space: Vec<u8>| {
        let space = Asset::open(Source::from_vec("space.bin", space)).unwrap();
        scene(&g, &Context::from_assets([&models, &space]).unwrap(), Options::default()).unwrap().notes
    };
    let told = |notes: &[String]| notes.iter().find(|note| note.contains("models.bin does not have")).cloned();
    let bytes = space::space_bin(1, Size::Small);
    assert_eq!(told(&notes(bytes.clone())), None);
    let id = space::model_ids(Size::Small)[0].to_le_bytes();
    let mut strange = bytes.clone();
    let places: Vec<usize> = (0..bytes.len() - 7).filter(|&at| bytes[at..].starts_with(&id)).collect();
    places.iter().for_each(|&at| strange[at..at + 8].copy_from_slice(&7u64.to_le_bytes()));
    let expected = format!("{} instances of models that the models.bin does not have", places.len());
    assert!(!places.is_empty());
    assert_eq!(told(&notes(strange)), Some(expected));
}

#[test]
fn a_real_space_is_placed() {
    let Some(root) = std::env::var_os("ASSETQ_SAMPLES") else {
        println!("skipped: ASSETQ_SAMPLES is not set");
        return;
    };
    let root = PathBuf::from(root);
    let file = |path: &str| Source::open(root.join(path)).unwrap();
    let g = Geometry::open(file("geometry/r01_military_navigation.models.geometry")).unwrap();
    let models = Asset::open(file("models_bin/r01_military_navigation.models.bin")).unwrap();
    let space = Asset::open(file("space_bin/r01_military_navigation.space.bin")).unwrap();
    let merged =
        ModelFiles::new(&Context::from_assets([&models]).unwrap()).models().expect("a models.bin has some").unwrap();
    let groups = g.groups_of(&merged).unwrap();
    assert!(groups.notes.is_empty(), "{:?}", groups.notes);
    assert_eq!(groups.groups.len(), 35);
    // The render sets name the same groups as the hints.
    let hinted = &g.groups().unwrap().groups;
    for group in &groups.groups {
        assert_eq!(group.pairing, Pairing::RenderSet);
        assert_eq!(group.lods.len(), 1);
        assert!(hinted.iter().any(|h| (h.vertices, h.indices) == (group.vertices, group.indices)));
    }
    let placed = scene(&g, &Context::from_assets([&models, &space]).unwrap(), Options::default()).unwrap();
    assert!(placed.damage.is_empty(), "{:?}", placed.damage);
    let read = glb(&placed);
    let root = read.document.default_scene().unwrap().nodes().next().unwrap();
    let space = space.get::<assetq::formats::wows::bwdb::Space>().expect("a space.bin");
    let shown = space
        .instances()
        .iter()
        .filter(|i| merged.iter().any(|m| m.id == Some(i.id.get()) && !m.render_sets.is_empty()));
    assert_eq!(root.children().count(), shown.count());
    assert_eq!(read.document.meshes().count(), 7, "the finest level of each model with meshes");
    let alone = Context::from_assets([&Asset::open(file("space_bin/r01_military_navigation.space.bin")).unwrap()])
        .map(|context| scene(&g, &context, Options::default()).map(drop));
    assert!(alone.unwrap().is_err(), "instances need their models.bin");
}
