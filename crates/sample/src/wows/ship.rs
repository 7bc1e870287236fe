//! A small World of Warships folder with one ship: hull, bow and stern, two turrets and a torpedo launcher, three materials with
//! textures, armour, and the parameters that list them.

use super::bwdb::DatabaseBuilder;
use super::gameparams::{self, armor, index_of};
use super::geometry::{GeometryBuilder, Mapping, PlateShape, pack_vertices, surface};
use super::pickle::{Data, dict, members};
use super::prototypes::BlobWriter;
use super::records::{self, DrawnSet, DrawnVisual, SLOTS};
use super::text_models::{Dialect, Joint, Node};
use super::{How, Package};
use crate::dds::{DdsBuilder, Texels, flat, flat_block};
use assetq_core::codec::murmur3;
use assetq_scene::texture::Masks;
use assetq_wows::bwdb::prototypes::PrototypeType;
use assetq_wows::game_folder::Variant;

pub const BUILD: &str = "9000000";
pub const SHIP: &str = "PASB999_Sample";
/// The folder of the hull.
const FOLDER: &str = "content/gameplay/usa/ship/battleship/ASB999_Sample";
pub const HULL: &str = "content/gameplay/usa/ship/battleship/ASB999_Sample/ASB999_Sample.model";
pub const GUN: &str = "content/gameplay/usa/gun/main/AGM999/AGM999.model";
pub const TUBE: &str = "content/gameplay/usa/gun/torpedo/AGT999/AGT999.model";
/// The nodes of the hull: name, parent and position below the parent, left-handed.
pub const NODES: [(&str, Option<usize>, [f32; 3]); 5] = [
    ("Scene Root", None, [0.0, 0.0, 0.0]),
    ("Deck", Some(0), [0.0, 1.0, 0.0]),
    ("HP_AGM_1", Some(1), [0.5, 0.5, 6.0]),
    ("HP_AGM_2", Some(1), [0.0, 0.5, -6.0]),
    ("HP_AGT_1", Some(0), [1.0, 1.0, 0.0]),
];
/// The colours of the materials' textures.
pub const COLOURS: [(&str, [u8; 3]); 3] = [("hull", [96, 104, 112]), ("gun", [200, 40, 40]), ("glass", [40, 80, 200])];

/// The linear colours of the ship's striped camouflage, for black, red, green and blue of its texture.
pub const STRIPES: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
const STRIPES_PATH: &str = "content/gameplay/common/camouflage/textures/stripes.dds";

struct Visual {
    path: String,
    nodes: Vec<(&'static str, Option<usize>, [f32; 3])>,
    /// Names of render sets and the number of each one's material.
    sets: Vec<(&'static str, usize)>,
}

/// Gives all files of the folder to `write`, under their paths in it.
///
/// # Errors
/// The errors of `write`.
pub fn folder<E>(mut write: impl FnMut(&str, &[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut package = Package::new(Variant::V2, "ship_0001.pkg");
    let [hull, gun, tube] = [HULL, GUN, TUBE].map(|model| model.trim_end_matches(".model"));
    let visuals = [
        Visual {
            path: hull.into(),
            nodes: NODES.to_vec(),
            sets: vec![("deck", 0), ("window", 2), ("deck_crack_1", 0)],
        },
        Visual { path: format!("{hull}_Bow"), nodes: vec![NODES[0]], sets: vec![("bow", 0)] },
        Visual { path: format!("{hull}_Stern"), nodes: vec![NODES[0]], sets: vec![("stern", 0)] },
        Visual { path: gun.into(), nodes: vec![NODES[0]], sets: vec![("turret", 1)] },
        Visual { path: tube.into(), nodes: vec![NODES[0]], sets: vec![("tube", 1)] },
    ];
    package.file("content/assets.bin", &database(&visuals), How::Deflated);
    for (number, visual) in visuals.iter().enumerate() {
        package.file(&format!("{}.geometry", visual.path), &mesh(visual, number), How::Deflated);
    }
    for (name, colour) in COLOURS {
        package.file(&texture_path(name, "a"), &flat(64, colour), How::Stored);
        let level = DdsBuilder::new(Texels::FourCc(*b"DXT1"), 128, 128);
        let level = level.build(&level.blocks(|_, _| flat_block(colour)));
        package.file(&texture_path(name, "a").replace(".dds", ".dd2"), &level, How::Stored);
        for (ending, texel) in [("n", [128, 128, 0, 255]), ("mg", [155, 20, 0, 255]), ("ao", [220, 220, 220, 255])] {
            let builder = DdsBuilder::new(Texels::Masks(32, Masks::RGBA8.channels), 4, 4);
            package.file(&texture_path(name, ending), &builder.build(&texel.repeat(16)), How::Stored);
        }
    }
    package.file("content/GameParams.data", &parameters(), How::Stored);
    package.file("camouflages.xml", camouflages(Dialect::Old).as_bytes(), How::Deflated);
    package.file(STRIPES_PATH, &stripes(), How::Stored);
    let titles = [
        ("", "Content-Type: text/plain; charset=UTF-8\n"),
        ("IDS_PAEP999_STRIPES", "Stripes"),
        ("IDS_PASB999", "Sample"),
    ];
    write(&format!("bin/{BUILD}/res/texts/en/LC_MESSAGES/global.mo"), &gameparams::mo(&titles))?;
    write(&format!("bin/{BUILD}/idx/ship.idx"), &package.index())?;
    package.volumes.iter().try_for_each(|(name, bytes)| write(&format!("res_packages/{name}"), bytes))
}

/// Stripes of black, red, green and blue, four texels wide.
fn stripes() -> Vec<u8> {
    let builder = DdsBuilder::new(Texels::FourCc(*b"DXT1"), 16, 4);
    let colours = [[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]];
    builder.build(&builder.blocks(|_, [x, _]| flat_block(colours[x as usize % 4])))
}

/// Camouflages: stripes for all ships, stripes for the group of the ship, one of other ships, and one whose texture the folder
/// lacks. The old dialect is the one of real files.
pub fn camouflages(dialect: Dialect) -> String {
    let [black, red, green, blue] = STRIPES.map(|[r, g, b]| format!("{r} {g} {b} 1"));
    let ships = format!("<ships> {SHIP} PASB998_Nobody </ships>");
    let groups = match dialect {
        Dialect::Old => format!("<ShipGroups><shipGroup><name>USA_group</name>{ships}</shipGroup></ShipGroups>"),
        Dialect::New => format!("<shipgroups.xml><USA_group>{ships}</USA_group></shipgroups.xml>"),
    };
    let scheme = format!(
        "<colorScheme><name>scheme</name><color0>{black}</color0><color1>{red}</color1><color2>{green}</color2>\
         <color3>{blue}</color3></colorScheme>"
    );
    let all = [
        ("camo_stripes", "", "3 3", STRIPES_PATH),
        ("camo_stripes", "<shipGroups>USA_group</shipGroups>", "2 2", STRIPES_PATH),
        ("camo_other", "<targetShip>PJSB999_Other</targetShip>", "2 2", STRIPES_PATH),
        ("camo_missing", "", "2 2", "content/gameplay/common/camouflage/textures/missing.dds"),
    ];
    let all: String = all
        .map(|(name, of, scale, texture)| {
            let scale = match dialect {
                Dialect::Old => scale.to_owned(),
                Dialect::New => format!("<scale>{scale}</scale>"),
            };
            format!(
                "<camouflage><annotation>sample</annotation><name>{name}</name><tiled>true</tiled>\
                 <colorSchemes>scheme</colorSchemes>{of}<UV><Tile>{scale}</Tile></UV>\
                 <Textures><Tile>{texture}</Tile></Textures></camouflage>\n"
            )
        })
        .concat();
    format!(
        "<data>\n<!--//Ship groups-->\n{groups}\n<ColorSchemes>{scheme}</ColorSchemes>\n<Camouflages>\n{all}</Camouflages>\n</data>"
    )
}

fn texture_path(material: &str, ending: &str) -> String {
    format!("{FOLDER}/textures/{material}_{ending}.dds")
}

fn mapping_id(visual: &Visual, set: &str, what: &str) -> u32 {
    murmur3(format!("{}.{set}.{what}", visual.path).as_bytes())
}

fn mesh(visual: &Visual, number: usize) -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let (mut all, mut all_indices) = (Vec::new(), Vec::new());
    for (n, (set, _)) in visual.sets.iter().enumerate() {
        let length = if number < 3 { 20.0 } else { 2.0 };
        let (vertices, indices) = surface(8, 8, length, (number * 8 + n) as u64);
        for (what, mappings, start, count) in [
            ("vertices", &mut builder.vertex_mappings, all.len(), vertices.len()),
            ("indices", &mut builder.index_mappings, all_indices.len(), indices.len()),
        ] {
            let id = mapping_id(visual, set, what);
            mappings.push(Mapping { id, buffer: 0, density: 0, start: start as u32, count: count as u32 });
        }
        all.extend(vertices);
        all_indices.extend(indices);
    }
    builder.vertex_buffer("set3/xyznuvtbpc", 28, &pack_vertices("set3/xyznuvtbpc", 28, &all), true);
    builder.index_buffer(2, &all_indices, true);
    if number == 0 || number == 3 {
        let plates = [(47, 1, 0.0), (56, 2, 2.0), (99, 1, 4.0)].map(|(material, layer, z)| {
            let triangles = vec![[[0.0, 0.0, z], [0.0, 1.0, z], [0.0, 1.0, z + 1.0]]];
            PlateShape { material, layer, triangles }
        });
        builder.armor("CM_PA_united.armor", plates.to_vec());
    }
    builder.build()
}

fn database(visuals: &[Visual]) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let (materials, material_ids) = materials(&mut builder);
    let mut records = BlobWriter::new(PrototypeType::Visual, visuals.len());
    let mut models = BlobWriter::new(PrototypeType::Model, visuals.len());
    let mut ids = Vec::new();
    for (record, visual) in visuals.iter().enumerate() {
        let at = records.record(record);
        write_visual(&mut records, at, visual, &material_ids, &mut builder);
        let id = builder.path(&format!("{}.visual", visual.path));
        let model = models.record(record);
        models.data.set(model, id);
        ids.push((id, builder.path(&format!("{}.model", visual.path))));
    }
    let blobs =
        [(PrototypeType::Material, materials), (PrototypeType::Visual, records), (PrototypeType::Model, models)];
    for (prototype, blob) in blobs {
        builder.database(prototype.magic(), murmur3(prototype.table().as_bytes()), blob.finish());
    }
    material_ids.iter().enumerate().for_each(|(record, id)| builder.resource(*id, 0, record, 0));
    for (record, (visual, model)) in ids.into_iter().enumerate() {
        builder.resource(visual, 1, record, 0);
        builder.resource(model, 2, record, 0);
    }
    builder.build()
}

/// The records of the materials, and their ids.
fn materials(builder: &mut DatabaseBuilder) -> (BlobWriter, Vec<u64>) {
    let mut materials = BlobWriter::new(PrototypeType::Material, COLOURS.len());
    let mut ids = Vec::new();
    for (record, (name, _)) in COLOURS.iter().enumerate() {
        let textures = SLOTS.map(|(slot, ending)| (slot, texture_path(name, ending)));
        let fx = if *name == "glass" { "glass_material" } else { "PBS_ship" };
        let (at, fx) = (materials.record(record), format!("shaders/materials/{fx}.fx"));
        records::material(&mut materials, at, &fx, &textures, *name == "glass", &[], builder);
        ids.push(builder.path(&format!("{FOLDER}/{name}.mfm")));
    }
    (materials, ids)
}

fn write_visual(
    records: &mut BlobWriter,
    at: usize,
    visual: &Visual,
    material_ids: &[u64],
    builder: &mut DatabaseBuilder,
) {
    let joints: Vec<Joint> =
        visual.nodes.iter().map(|&(name, parent, position)| Joint::from(&Node { name, parent, position })).collect();
    let nodes = ["Scene Root".to_owned()];
    let sets = visual.sets.iter().map(|(name, material)| DrawnSet {
        name,
        material: COLOURS[*material].0,
        mappings: ["vertices", "indices"].map(|what| mapping_id(visual, name, what)),
        mfm: material_ids[*material],
        nodes: &nodes,
    });
    let drawn = DrawnVisual {
        geometry: &format!("{}.geometry", visual.path),
        joints: &joints,
        bounds: [[-2.0, -2.0, -10.0], [2.0, 2.0, 10.0]],
        sets: sets.collect(),
        lods: vec![(1000.0, visual.sets.iter().map(|(name, _)| *name).collect())],
    };
    drawn.write(records, at, builder);
}

fn info(kind: &str, species: &str) -> Data {
    Data::Object("TypeInfo", members! { "nation": "USA", "species": species, "type": kind })
}

fn mount(name: &str, model: &str, species: &str, plates: &[(u16, u16, f64)]) -> Data {
    let members = members! {
        "armor": armor(plates), "barrelDiameter": 0.406, "model": model, "name": name, "numBarrels": 3,
        "typeinfo": info("Gun", species),
    };
    Data::Object("GPData", members)
}

fn upgrade(prev: &str, hull: &str, guns: &str) -> Data {
    let components = dict! { "artillery": vec![guns], "hull": vec![hull], "torpedoes": vec!["AB_Torpedoes"] };
    dict! { "components": components, "prev": prev, "ucType": "_Hull" }
}

/// The `GameParams.data` that lists the ship: two upgrades of its hull. The second one has the stern turret.
pub fn parameters() -> Vec<u8> {
    let [gun, stern] = [430.0, 400.0].map(|face| mount("PAGM999_Sample", GUN, "Main", &[(1, 47, face), (2, 56, 26.0)]));
    let hull = members! { "armor": armor(&[(1, 47, 307.0), (2, 56, 38.0)]), "health": 60_000.0, "model": HULL };
    let hull = Data::Object("GPData", hull);
    let upgrades = dict! {
        "PAUH999_A": upgrade("", "A_Hull", "A_Artillery"),
        "PAUH999_B": upgrade("PAUH999_A", "B_Hull", "B_Artillery"),
    };
    let tubes = members! { "HP_AGT_1": mount("PAGT999_Sample", TUBE, "Torpedo", &[]) };
    let guns = members! { "HP_AGM_1": gun.clone(), "HP_AGM_2": stern, "HP_AGM_9": gun.clone() };
    let ship = members! {
        "AB_Torpedoes": Data::Object("GPData", tubes),
        "A_Artillery": Data::Object("GPData", members! { "HP_AGM_1": gun }), "A_Hull": hull.clone(),
        "B_Artillery": Data::Object("GPData", guns), "B_Hull": hull, "ShipUpgradeInfo": upgrades,
        "group": "upgradeable", "id": 999_000_001, "index": index_of(SHIP), "isPaperShip": false, "level": 9,
        "name": SHIP, "nativePermoflage": "PAEP999_Stripes",
        "permoflages": vec!["PAEP997_Other", "PAEP998_Missing", "PAEP999_Stripes"], "typeinfo": info("Ship", "Battleship"),
    };
    let mut entities = vec![(SHIP, Data::Object("GPData", ship))];
    for (name, id, camouflage) in [
        ("PAEP997_Other", 999_000_002, "camo_other"),
        ("PAEP998_Missing", 999_000_003, "camo_missing"),
        ("PAEP999_Stripes", 999_000_004, "camo_stripes"),
    ] {
        let paint = members! {
            "camouflage": camouflage, "id": id, "index": index_of(name), "name": name,
            "typeinfo": info("Exterior", "Permoflage"),
        };
        entities.push((name, Data::Object("GPData", paint)));
    }
    gameparams::file(&gameparams::root(Data::dict(entities)).pickle())
}
