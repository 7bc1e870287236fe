//! Writes Space Engineers 2 content folders and blueprints (docs/formats/se2.md).

use super::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin::*, demo, flags, members, placed};
use crate::Size;
use assetq_core::table::Guid;
use assetq_vrage::vrb::{ModelId, TypeId};

/// The folder of the content in the game's.
pub const CONTENT: &str = "GameData/Vanilla/Content";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Def {
    pub guid: Guid,
    /// The full name of its type, with its assembly.
    pub ty: &'static str,
    /// The path of its `.def` file; empty if it has none.
    pub file: String,
    /// The definition that it inherits values from.
    pub parent: Option<Guid>,
}

impl Def {
    pub fn new(n: u32, ty: &'static str, file: String, parent: Option<Guid>) -> Self {
        Self { guid: guid(n), ty, file, parent }
    }
}

/// The GUID number `n` of a fictional game.
pub fn guid(n: u32) -> Guid {
    Guid(
        (u128::from(n) << 96 | 0x5E2_0000_4000_8000_0000 | u128::from(n.wrapping_mul(0x9E37_79B9)) << 64).to_le_bytes(),
    )
}

/// A `.def` with an icon.
pub fn def(guid: Guid, ty: &str) -> String {
    def_of(guid, ty, &[("Icon", format!("\"{{G}}{guid}\""))])
}

/// A `.def` with these members, whose values are JSON.
pub fn def_of(guid: Guid, ty: &str, members: &[(&str, String)]) -> String {
    let members: String = members.iter().map(|(name, value)| format!(",\r\n    \"{name}\": {value}")).collect();
    format!(
        "{{\r\n  \"$Bundles\": {{\r\n    \"Game2\": \"2.0.2.47\"\r\n  }},\r\n  \"$Type\": \"{ty}ObjectBuilder\",\r\n  \"$Value\": {{\r\n    \"Guid\": \"{guid}\"{members}\r\n  }}\r\n}}"
    )
}

/// A `.partialdef`, the source of a `.def`.
pub fn partial_def(guid: Guid, ty: &str, parent: Guid) -> String {
    partial_def_of(guid, ty, parent, &[])
}

/// A `.partialdef` with these members, whose values are JSON.
pub fn partial_def_of(guid: Guid, ty: &str, parent: Guid, members: &[(&str, String)]) -> String {
    let members: String = members.iter().map(|(name, value)| format!(",\r\n      \"{name}\": {value}")).collect();
    format!(
        "{{\r\n  \"$Type\": \"VRage:Keen.VRage.ContentPipeline.Definitions.PartialDefinitionDiff\",\r\n  \"$Value\": {{\r\n    \"BaseDefinition\": \"{parent}\",\r\n    \"PartialDefinitionKind\": \"Copy\",\r\n    \"Manipulator\": {{\r\n      \"Guid\": \"{guid}\"{members}\r\n    }},\r\n    \"DefinitionType\": \"{ty}\"\r\n  }}\r\n}}"
    )
}

fn definition_type(t: &mut TypesBuilder, name: &str) -> TypeId {
    t.named(1, 0, &format!("VRage:Keen.VRage.Library.Definitions.Definition{name}"))
}

/// A `definitionsets.vrb` that lists these.
pub fn definition_sets(defs: &[Def]) -> Vec<u8> {
    let mut t = TypesBuilder::new();
    let root = t.next_model();
    let [sets, list, by_guid, data, definition_flags, partial_kind, guids] =
        std::array::from_fn(|n| ModelId(root.0 + 1 + n as u32));
    let root_type = definition_type(&mut t, "SetCollection");
    t.composite(root_type, flags::STRUCT, 0, &members! { DefinitionSets: sets });
    let list_type = definition_type(&mut t, "List");
    t.dictionary_of([type_of(STRING), list_type], STRING, list);
    t.composite(list_type, flags::STRUCT, 0, &members! { _definitions: by_guid });
    let data_type = definition_type(&mut t, "LoadingData");
    t.dictionary_of([type_of(GUID), data_type], GUID, data);
    let members = members! {
        Guid: GUID, Type: TYPE, Flags: definition_flags, PartialKind: partial_kind, BaseGuid: GUID,
        PartialDefinitions: guids,
    };
    t.composite(data_type, flags::STRUCT, 0, &members);
    let ty = definition_type(&mut t, "Flags");
    t.proxy(ty, flags::ENUM, INT32, 4);
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Definitions.PartialDefinitionKind");
    t.proxy(ty, flags::ENUM, INT32, 4);
    t.list_of(type_of(GUID), GUID);
    let mut names: Vec<&str> = defs.iter().map(|def| def.ty).collect();
    names.sort_unstable();
    names.dedup();
    let types: Vec<TypeId> = names.iter().map(|name| t.named(0, 0, name)).collect();
    let mut v = ValuesBuilder::new();
    v.count(1).string("World").count(defs.len() as u32);
    for def in defs {
        let ty = types[names.binary_search(&def.ty).expect("it is there")];
        let parts: Vec<Guid> =
            defs.iter().filter(|other| other.parent == Some(def.guid)).map(|part| part.guid).collect();
        v.guid(def.guid).guid(def.guid).count(ty.0).i32(0).i32(if def.parent.is_some() { 2 } else { 0 });
        v.guid(def.parent.unwrap_or(Guid([0; 16]))).count(parts.len() as u32);
        for part in parts {
            v.guid(part);
        }
    }
    ArchiveBuilder::new(&t, root, Codec::Brotli, v.into_bytes()).build()
}

/// A `contentcache.vrb` that maps these GUIDs to these files.
pub fn content_cache(files: &[(Guid, String)]) -> Vec<u8> {
    let mut t = TypesBuilder::new();
    let root = t.next_model();
    let [list, row, handle, file] = std::array::from_fn(|n| ModelId(root.0 + 1 + n as u32));
    let root_type = t.named(1, 0, "VRage:Keen.VRage.Core.ContentCache");
    t.composite(root_type, flags::STRUCT, 0, &members! { Mapping: list });
    let row_type = t.named(1, 0, "VRage:Keen.VRage.Core.ContentMapping");
    t.list_of(row_type, row);
    t.composite(row_type, flags::STRUCT, 0, &members! { ResourceHandle: handle, FileHandle: file });
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Utils.ResourceHandle");
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Filesystem.FileHandle");
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let mut v = ValuesBuilder::new();
    v.count(files.len() as u32);
    for (guid, path) in files {
        v.string(&format!("{{G}}{guid}")).string(&path.replace('/', "\\"));
    }
    ArchiveBuilder::new(&t, root, Codec::Brotli, v.into_bytes()).build()
}

/// A blueprint of blocks with these definitions.
pub fn blueprint(blocks: &[Guid]) -> Vec<u8> {
    let mut t = TypesBuilder::new();
    let root = t.next_model();
    let [list, block, handle] = std::array::from_fn(|n| ModelId(root.0 + 1 + n as u32));
    let root_type = t.named(0, 0, "VRage:Keen.VRage.Core.Game.Systems.EntityBundle");
    t.composite(root_type, flags::CLASS, 0, &members! { Builders: list });
    let block_type = t.named(1, 0, "Game2:Keen.Game2.Simulation.WorldObjects.CubeGrids.BlockBuilder");
    t.list_of(block_type, block);
    t.composite(block_type, flags::STRUCT, 0, &members! { EntityId: GUID, Definition: handle });
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Utils.ResourceHandle");
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let mut v = ValuesBuilder::new();
    v.present().count(blocks.len() as u32);
    for (n, definition) in (0x8000_0000..).zip(blocks) {
        v.guid(guid(n)).string(&format!("{{G}}{definition}"));
    }
    ArchiveBuilder::new(&t, root, Codec::Brotli, v.into_bytes()).build()
}

/// A block of a grid.
#[derive(Debug, Clone)]
pub struct Block {
    pub name: String,
    pub definition: Guid,
    /// Its cell in the grid.
    pub cell: [i32; 3],
    pub is_on: bool,
    /// Items in it, and how many.
    pub inventory: Vec<(Guid, i32)>,
}

/// A station or a ship.
#[derive(Debug, Clone)]
pub struct Grid {
    pub name: &'static str,
    pub owner: &'static str,
    pub is_static: bool,
    pub position: [f32; 3],
    pub blocks: Vec<Block>,
}

/// A save: its name and hours of play, players with their places, and a chunk for each grid. The names of its types are
/// made up, as no real save was public.
pub fn save(name: &str, hours: f64, players: &[(&str, [f32; 3])], grids: &[Grid]) -> Vec<u8> {
    const GRIDS: &str = "Game2:Keen.Game2.Simulation.WorldObjects.CubeGrids";
    let mut t = TypesBuilder::new();
    let root = t.next_model();
    let [players_list, player, vector, grid_names] = std::array::from_fn(|n| ModelId(root.0 + 1 + n as u32));
    let [grid, blocks, block, handle, cell, inventory, stack] = std::array::from_fn(|n| ModelId(root.0 + 5 + n as u32));
    let ty = t.named(0, 0, "Game2:Keen.Game2.Game.SaveGame");
    let members = members! { Name: STRING, HoursPlayed: DOUBLE, Players: players_list, Grids: grid_names };
    t.composite(ty, flags::CLASS, 0, &members);
    let ty = t.named(1, 0, "Game2:Keen.Game2.Game.SavedPlayer");
    t.list_of(ty, player);
    t.composite(ty, flags::STRUCT, 0, &members! { Name: STRING, Position: vector });
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Mathematics.Vector3");
    t.composite(ty, flags::IMAGE, 12, &[placed("X", SINGLE, 0), placed("Y", SINGLE, 4), placed("Z", SINGLE, 8)]);
    t.list_of(type_of(STRING), STRING);
    let ty = t.named(0, 0, &format!("{GRIDS}.GridBuilder"));
    let members = members! { Name: STRING, Owner: STRING, IsStatic: BOOLEAN, Position: vector, Blocks: blocks };
    t.composite(ty, flags::CLASS, 0, &members);
    let ty = t.named(1, 0, &format!("{GRIDS}.BlockBuilder"));
    t.list_of(ty, block);
    let members = members! {
        EntityId: GUID, Name: STRING, Definition: handle, Cell: cell, IsOn: BOOLEAN, Inventory: inventory,
    };
    t.composite(ty, flags::STRUCT, 0, &members);
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Utils.ResourceHandle");
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Mathematics.Vector3I");
    t.composite(ty, flags::IMAGE, 12, &[placed("X", INT32, 0), placed("Y", INT32, 4), placed("Z", INT32, 8)]);
    let ty = t.named(1, 0, "Game2:Keen.Game2.Simulation.WorldObjects.Items.ItemStack");
    t.list_of(ty, stack);
    t.composite(ty, flags::STRUCT, 0, &members! { Item: handle, Amount: INT32 });

    let mut v = ValuesBuilder::new();
    v.present().string(name).number(hours).count(players.len() as u32);
    for (name, [x, y, z]) in players {
        v.string(name).f32(*x).f32(*y).f32(*z);
    }
    v.count(grids.len() as u32);
    for grid in grids {
        v.string(grid.name);
    }
    let archive = ArchiveBuilder::new(&t, root, Codec::Brotli, v.into_bytes());
    let mut ids = 0x7000_0000..;
    let chunks = grids.iter().fold(archive, |archive, of| {
        let mut v = ValuesBuilder::new();
        let [x, y, z] = of.position;
        v.present().string(of.name).string(of.owner).bool(of.is_static).f32(x).f32(y).f32(z);
        v.count(of.blocks.len() as u32);
        for (block, id) in of.blocks.iter().zip(&mut ids) {
            v.guid(guid(id)).string(&block.name).string(&format!("{{G}}{}", block.definition));
            let [x, y, z] = block.cell;
            v.i32(x).i32(y).i32(z).bool(block.is_on).count(block.inventory.len() as u32);
            for (item, amount) in &block.inventory {
                v.string(&format!("{{G}}{item}")).i32(*amount);
            }
        }
        archive.chunk(of.name, grid, Codec::Brotli, v.into_bytes())
    });
    chunks.build()
}

/// The type of the blocks that [`folder`] writes.
pub const BLOCK: &str = "Game2:Keen.Game2.Simulation.WorldObjects.CubeGrids.BlockDefinition";
/// The type of the other definitions that [`folder`] writes.
pub const ITEM: &str = "Game2:Keen.Game2.Simulation.WorldObjects.Items.ItemDefinition";

/// Writes the folder of a mod, file by file, with `write`: an item that takes values from one of the game and has an icon, and an item
/// that only its source describes.
pub fn mod_folder(mut write: impl FnMut(&str, Vec<u8>)) {
    let item = Def::new(300, ITEM, "Items/Sulfur.def".to_owned(), Some(guid(0)));
    let icon = guid(301);
    let json = def(item.guid, ITEM).replace(&format!("{{G}}{}", item.guid), &format!("{{G}}{icon}"));
    write("Sulfur.vrgproj", b"{\"$Value\": {\"Name\": \"Sulfur\", \"Type\": \"Mod\"}}".to_vec());
    write("Content/definitionsets.vrb", definition_sets(std::slice::from_ref(&item)));
    let cache = [(item.guid, item.file.clone()), (icon, "Items/Sulfur_Icon.png".to_owned())];
    write("Content/contentcache.vrb", content_cache(&cache));
    write(&format!("Content/{}", item.file), json.into_bytes());
    write("Assets/Items/Sulfur.partialdef", partial_def(item.guid, ITEM, guid(0)).into_bytes());
    write("Assets/Items/Next.partialdef", partial_def(guid(302), ITEM, item.guid).into_bytes());
}

/// Writes a believable folder, file by file, with `write`: the content, and a blueprint, `Blueprints/Miner/grid.json.vrb`.
/// Gives the definitions in it, in the order of the list.
pub fn folder(seed: u64, size: Size, mut write: impl FnMut(&str, Vec<u8>)) -> Vec<Def> {
    let names = ["ArmorBlock", "Battery", "CargoContainer", "Drill", "Gyroscope", "Reactor", "Thruster", "Wheel"];
    let mut defs: Vec<Def> = (0..)
        .zip(names)
        .map(|(n, name)| Def::new(n, BLOCK, format!("Blocks/{name}/{name}.def"), (n > 0).then(|| guid(0))))
        .collect();
    let others = 100..100 + size.pick(20, 17_000);
    defs.extend(others.map(|n| Def::new(n, ITEM, format!("Items/Ores/Ore{:02}/Ore_{n}.def", n % 40), None)));
    // One without a file, and one with a file that only the cache lists.
    defs.push(Def::new(90, ITEM, String::new(), Some(guid(9999))));
    let lost = Def::new(91, ITEM, String::new(), None);
    let mut mapping: Vec<(Guid, String)> =
        defs.iter().filter(|def| !def.file.is_empty()).map(|def| (def.guid, def.file.clone())).collect();
    mapping.push((lost.guid, "Items/Lost/LostItem.def".to_owned()));
    mapping.push((guid(5000), "Textures/Armor_cm.dds".to_owned()));
    defs.push(lost);
    let mut content = vec![
        ("definitionsets.vrb".to_owned(), definition_sets(&defs)),
        ("contentcache.vrb".to_owned(), content_cache(&mapping)),
        ("Textures/Armor_cm.dds".to_owned(), crate::dds::demo(seed, Size::Small)),
        ("Models/Hull.mwm".to_owned(), demo(seed, Size::Small)),
    ];
    let files = defs.iter().filter(|def| !def.file.is_empty());
    content.extend(files.map(|def| (def.file.clone(), self::def(def.guid, def.ty).into_bytes())));
    content.into_iter().for_each(|(path, bytes)| write(&format!("{CONTENT}/{path}"), bytes));
    // Block n appears n times.
    let blocks: Vec<Guid> = (1..8u32).flat_map(|n| (0..n).map(move |_| guid(n))).collect();
    write("Blueprints/Miner/grid.json.vrb", blueprint(&blocks));
    defs
}
