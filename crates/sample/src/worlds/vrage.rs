//! Space Engineers 2: a station above a river, two ships, the definitions of their blocks, and a mod with a new ore.

use super::picture::{Area, Colour, Disc, Line, Polygon, picture};
use crate::make::{Put, Stopped};
use crate::se2::{self, BLOCK, Block, CONTENT, Def, Grid, ITEM, guid};
use assetq_core::table::Guid;

/// Blocks: name, the block that it takes values from, mass in kilograms, and what it does.
const BLOCKS: [(&str, &str, u32, &str); 16] = [
    ("ArmorBlock", "", 25, "Keeps air inside and rocks outside."),
    ("ArmorSlope", "ArmorBlock", 14, "An edge for hulls."),
    ("Antenna", "", 120, "Sends a name and a place."),
    ("Assembler", "", 900, "Makes components out of ingots."),
    ("Battery", "", 750, "Stores power."),
    ("CargoContainer", "", 400, "Holds items."),
    ("SmallCargoContainer", "CargoContainer", 120, "Holds fewer items."),
    ("Cockpit", "", 300, "A seat with controls."),
    ("Door", "", 160, "Opens and closes."),
    ("Drill", "", 350, "Digs ore out of rocks."),
    ("Gyroscope", "", 250, "Turns a ship."),
    ("Reactor", "", 1200, "Makes power out of uranium."),
    ("Refinery", "", 1500, "Makes ingots out of ore."),
    ("SolarPanel", "", 80, "Makes power out of light."),
    ("Thruster", "", 600, "Pushes a ship."),
    ("SmallThruster", "Thruster", 180, "Pushes a small ship."),
];

/// Items: name, kilograms of one.
const ITEMS: [(&str, f32); 9] = [
    ("IronOre", 1.0),
    ("NickelOre", 1.0),
    ("SiliconOre", 1.0),
    ("Ice", 0.5),
    ("IronIngot", 0.8),
    ("SiliconWafer", 0.3),
    ("SteelPlate", 12.0),
    ("Motor", 18.0),
    ("UraniumIngot", 0.1),
];

fn block(name: &str) -> Guid {
    guid(BLOCKS.iter().position(|(of, ..)| *of == name).expect("a block") as u32)
}

fn item(name: &str) -> Guid {
    guid(100 + ITEMS.iter().position(|(of, _)| *of == name).expect("an item") as u32)
}

/// The named blocks of a grid: name, block, cell, items.
type Part = (&'static str, &'static str, [i32; 3], &'static [(&'static str, i32)]);

const STATION: &[Part] = &[
    ("Reactor, main", "Reactor", [2, 1, 2], &[("UraniumIngot", 40)]),
    ("Battery, north", "Battery", [6, 1, 2], &[]),
    ("Battery, south", "Battery", [6, 1, 6], &[]),
    ("Cargo, ore", "CargoContainer", [2, 1, 6], &[("IronOre", 12_400), ("NickelOre", 3150), ("SiliconOre", 860)]),
    ("Cargo, ingots", "CargoContainer", [3, 1, 6], &[("IronIngot", 5200), ("SiliconWafer", 410)]),
    ("Cargo, components", "SmallCargoContainer", [4, 1, 6], &[("SteelPlate", 310), ("Motor", 24)]),
    ("Refinery", "Refinery", [4, 1, 2], &[("IronOre", 300)]),
    ("Assembler", "Assembler", [4, 1, 4], &[("IronIngot", 90)]),
    ("Control room", "Cockpit", [2, 1, 4], &[]),
    ("Air lock, dock 1", "Door", [0, 1, 4], &[]),
    ("Air lock, dock 2", "Door", [8, 1, 4], &[]),
    ("Beacon", "Antenna", [4, 2, 0], &[]),
    ("Solar panel, east", "SolarPanel", [9, 2, 2], &[]),
    ("Solar panel, west", "SolarPanel", [-1, 2, 2], &[]),
];

const MINER: &[Part] = &[
    ("Cockpit", "Cockpit", [1, 1, 3], &[]),
    ("Drill, left", "Drill", [0, 0, 5], &[("IronOre", 40)]),
    ("Drill, right", "Drill", [2, 0, 5], &[("Ice", 15)]),
    ("Ore hold", "SmallCargoContainer", [1, 0, 2], &[("IronOre", 780), ("Ice", 220)]),
    ("Thruster, left", "SmallThruster", [0, 0, 0], &[]),
    ("Thruster, right", "SmallThruster", [2, 0, 0], &[]),
    ("Gyroscope", "Gyroscope", [1, 1, 1], &[]),
    ("Battery", "Battery", [1, 0, 0], &[]),
];

const FERRY: &[Part] = &[
    ("Bridge", "Cockpit", [2, 2, 8], &[]),
    ("Reactor", "Reactor", [2, 1, 2], &[("UraniumIngot", 8)]),
    ("Hold, port", "CargoContainer", [1, 1, 5], &[("SteelPlate", 120)]),
    ("Hold, starboard", "CargoContainer", [3, 1, 5], &[("Motor", 60)]),
    ("Thruster, port", "Thruster", [1, 1, 0], &[]),
    ("Thruster, starboard", "Thruster", [3, 1, 0], &[]),
    ("Gyroscope", "Gyroscope", [2, 1, 4], &[]),
    ("Passenger door", "Door", [0, 1, 5], &[]),
];

/// A grid with these parts on a floor of armour.
fn grid(
    name: &'static str,
    owner: &'static str,
    is_static: bool,
    position: [f32; 3],
    floor: [i32; 2],
    parts: &[Part],
) -> Grid {
    let part = |(name, of, cell, items): &Part| Block {
        name: (*name).to_owned(),
        definition: block(of),
        cell: *cell,
        is_on: *name != "Solar panel, west",
        inventory: items.iter().map(|(name, amount)| (item(name), *amount)).collect(),
    };
    let [width, length] = floor;
    let cells = (0..width).flat_map(|x| (0..length).map(move |z| [x, 0, z]));
    let free = cells.filter(|cell| parts.iter().all(|(_, _, of, _)| of != cell));
    let armor = free.map(|cell| {
        let [x, _, z] = cell;
        let is_edge = x == 0 || z == 0 || x == width - 1 || z == length - 1;
        let definition = block(if is_edge { "ArmorSlope" } else { "ArmorBlock" });
        Block { name: format!("Floor {x}/{z}"), definition, cell, is_on: true, inventory: Vec::new() }
    });
    Grid { name, owner, is_static, position, blocks: parts.iter().map(part).chain(armor).collect() }
}

/// A save with the station and the ships.
pub fn save() -> Vec<u8> {
    let grids = [
        grid("Linde Station", "Mirabel", true, [1200.0, 340.0, -800.0], [9, 9], STATION),
        grid("Miner Pell", "Garrick", false, [1480.0, 310.0, -640.0], [3, 5], MINER),
        grid("Ferry Rourke", "Mirabel", false, [1215.0, 342.0, -812.0], [5, 10], FERRY),
    ];
    let players = [("Mirabel", [1204.0, 341.0, -804.0]), ("Garrick", [1481.0, 311.0, -637.0])];
    se2::save("Harbour above the Lind", 61.5, &players, &grids)
}

/// JSON of a text.
fn json(text: &str) -> String {
    format!("\"{text}\"")
}

fn handle(guid: Guid) -> String {
    format!("\"{{G}}{guid}\"")
}

/// Plates with rivets, in this colour.
fn plates(colour: Colour) -> Vec<u8> {
    let dark = colour.map(|c| c / 2);
    let seams = [0.0, 0.5, 1.0]
        .into_iter()
        .flat_map(|at| [Line([at, 0.0], [at, 1.0], [0.02; 2]), Line([0.0, at], [1.0, at], [0.02; 2])]);
    let at = [0.06, 0.25, 0.44, 0.56, 0.75, 0.94];
    let rivets = at.into_iter().flat_map(|x| [0.06, 0.44, 0.56, 0.94].map(|y| Disc([x, y], 0.015)));
    let areas: Vec<(Area, Colour)> = seams.chain(rivets).map(|area| (area, dark)).collect();
    picture(128, colour, &areas)
}

/// The type of materials.
const MATERIAL: &str = "VRage:Keen.VRage.Core.Render.Materials.Templates.PBRMaterialDefinition";
/// The number of the material of stones.
const STONE: u32 = 902;

/// Writes the game's folder: definitions, textures, the save, and a blueprint.
///
/// # Errors
/// If a file is refused.
pub fn folder(put: &mut Put<'_>) -> Result<(), Stopped> {
    let mut content: Vec<(String, Vec<u8>)> = Vec::new();
    let mut defs: Vec<Def> = Vec::new();
    let [panel, ore] = [guid(900), guid(901)];
    for (n, (name, parent, mass, use_of)) in (0..).zip(BLOCKS) {
        let def = Def::new(n, BLOCK, format!("Blocks/{name}/{name}.def"), (!parent.is_empty()).then(|| block(parent)));
        let members = [
            ("DisplayName", json(name)),
            ("Description", json(use_of)),
            ("Mass", mass.to_string()),
            ("ColorMetalTexture", handle(panel)),
        ];
        content.push((def.file.clone(), se2::def_of(def.guid, BLOCK, &members).into_bytes()));
        defs.push(def);
    }
    for (n, (name, mass)) in (100..).zip(ITEMS) {
        let folder = if name.ends_with("Ore") || name == "Ice" { "Ores" } else { "Components" };
        let def = Def::new(n, ITEM, format!("Items/{folder}/{name}.def"), None);
        let members = [("DisplayName", json(name)), ("Icon", handle(ore)), ("MassPerUnit", mass.to_string())];
        content.push((def.file.clone(), se2::def_of(def.guid, ITEM, &members).into_bytes()));
        defs.push(def);
    }
    let stone = Def::new(STONE, MATERIAL, "Materials/StonePBR.def".to_owned(), None);
    let members = [("ColorMetalTexture", handle(ore)), ("EmissivityMultiplier", "0".to_owned())];
    content.push((stone.file.clone(), se2::def_of(stone.guid, MATERIAL, &members).into_bytes()));
    defs.push(stone);
    let mut mapping: Vec<(Guid, String)> = defs.iter().map(|def| (def.guid, def.file.clone())).collect();
    for (guid, file, bytes) in [
        (panel, "Textures/Armor_cm.dds", plates([128, 138, 146])),
        (ore, "Textures/Icons/Ore.dds", ore_icon([150, 120, 96])),
    ] {
        mapping.push((guid, file.to_owned()));
        content.push((file.to_owned(), bytes));
    }
    content.push(("definitionsets.vrb".to_owned(), se2::definition_sets(&defs)));
    content.push(("contentcache.vrb".to_owned(), se2::content_cache(&mapping)));
    for (path, bytes) in content {
        put(&format!("{CONTENT}/{path}"), &bytes)?;
    }
    let miner: Vec<Guid> = MINER.iter().map(|(_, of, ..)| block(of)).collect();
    put("Blueprints/Miner Pell/grid.json.vrb", &se2::blueprint(&miner))?;
    put("SaveGames/Harbour above the Lind/savegame.vrb", &save())
}

/// A lump of ore.
fn ore_icon(colour: Colour) -> Vec<u8> {
    let shade = |by: u8| colour.map(|c| c.saturating_sub(by));
    let lump = vec![[0.2, 0.62], [0.3, 0.34], [0.52, 0.2], [0.76, 0.32], [0.84, 0.6], [0.66, 0.8], [0.36, 0.82]];
    let faces = [
        (Polygon(lump), shade(0)),
        (Polygon(vec![[0.2, 0.62], [0.46, 0.56], [0.36, 0.82]]), shade(50)),
        (Polygon(vec![[0.46, 0.56], [0.66, 0.8], [0.36, 0.82]]), shade(70)),
        (Polygon(vec![[0.46, 0.56], [0.84, 0.6], [0.66, 0.8]]), shade(40)),
        (Polygon(vec![[0.46, 0.56], [0.76, 0.32], [0.84, 0.6]]), shade(20)),
        (Polygon(vec![[0.3, 0.34], [0.52, 0.2], [0.46, 0.56]]), shade(10)),
    ];
    picture(64, [40, 44, 52], &faces)
}

/// Writes a mod in the form of published ones: an ore with its material, its textures and its sources.
///
/// # Errors
/// If a file is refused.
pub fn mod_folder(put: &mut Put<'_>) -> Result<(), Stopped> {
    const FOLDER: &str = "Items/Ores/LindeniteOre";
    let [item, material, icon, colour] = [1000, 1001, 1002, 1003].map(guid);
    // Both take values from definitions of the game.
    let [base_item, base_material] = [self::item("IronOre"), guid(STONE)];
    let definitions = [
        (
            item,
            ITEM,
            "LindeniteOre",
            base_item,
            vec![
                ("DisplayName", json("Lindenite Ore")),
                ("Description", json("Green crystals from the bed of the Lind.")),
                ("Icon", handle(icon)),
                ("MassPerUnit", "0.4".to_owned()),
                ("DefaultMetaData", "null".to_owned()),
            ],
        ),
        (
            material,
            MATERIAL,
            "LindeniteOrePBR",
            base_material,
            vec![
                ("PinTextures", "false".to_owned()),
                ("ColorMetalTexture", handle(colour)),
                ("EmissivityMultiplier", "0".to_owned()),
            ],
        ),
    ];
    let project = format!(
        "{{\r\n  \"$Type\": \"VRage:Keen.VRage.Core.Project.VRageProjectData\",\r\n  \"$Value\": {{\r\n    \"Name\": \"Lindenite\",\r\n    \
         \"Type\": \"Mod\",\r\n    \"ProjectID\": {{\r\n      \"Guid\": \"{}\"\r\n    }},\r\n    \"DefinitionSetNames\": [\r\n      \
         \"World\"\r\n    ],\r\n    \"GameExecutable\": \"SpaceEngineers2.exe\"\r\n  }}\r\n}}",
        guid(1004),
    );
    put("Lindenite.vrgproj", project.as_bytes())?;
    let mut defs = Vec::new();
    let mut mapping = Vec::new();
    for (guid, ty, name, base, members) in definitions {
        let file = format!("{FOLDER}/{name}.def");
        put(&format!("Content/{file}"), se2::def_of(guid, ty, &members).as_bytes())?;
        let source = se2::partial_def_of(guid, ty, base, &members);
        put(&format!("Assets/{FOLDER}/{name}.partialdef"), source.as_bytes())?;
        mapping.push((guid, file.clone()));
        defs.push(Def { guid, ty, file, parent: Some(base) });
    }
    for (guid, name, bytes) in [
        (icon, "LindeniteOre_Icon.dds", ore_icon([86, 190, 126])),
        (colour, "LindeniteOre_cm.dds", plates([86, 160, 120])),
    ] {
        let file = format!("{FOLDER}/{name}");
        put(&format!("Content/{file}"), &bytes)?;
        mapping.push((guid, file));
    }
    put("Content/definitionsets.vrb", &se2::definition_sets(&defs))?;
    put("Content/contentcache.vrb", &se2::content_cache(&mapping))
}
