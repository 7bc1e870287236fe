//! Writes Space Engineers 2 content folders and blueprints (docs/formats/se2.md).

use super::Size;
use super::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin::*, demo, flags, member};
use assetq_core::table::Guid;
use assetq_vrage::vrb::{ModelId, TypeId};

/// The folder of the content in the game's.
pub const CONTENT: &str = "GameData/Vanilla/Content";

/// A definition for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Def {
    /// The definition's GUID.
    pub guid: Guid,
    /// The full name of its type, with its assembly.
    pub ty: &'static str,
    /// The path of its `.def` file; empty if it has none.
    pub file: String,
    /// The definition that it inherits values from.
    pub parent: Option<Guid>,
}

/// The GUID number `n` of a fictional game.
pub fn guid(n: u32) -> Guid {
    Guid(
        (u128::from(n) << 96 | 0x5E2_0000_4000_8000_0000 | u128::from(n.wrapping_mul(0x9E37_79B9)) << 64).to_le_bytes(),
    )
}

/// The text of a `.def` file.
pub fn def(guid: Guid, ty: &str) -> String {
    format!(
        "{{\r\n  \"$Bundles\": {{\r\n    \"Game2\": \"2.0.2.47\"\r\n  }},\r\n  \"$Type\": \"{ty}\",\r\n  \"$Value\": {{\r\n    \"Guid\": \"{guid}\",\r\n    \"Icon\": \"{{G}}{guid}\"\r\n  }}\r\n}}"
    )
}

fn of(model: ModelId) -> TypeId {
    TypeId(model.0)
}

/// A `definitionsets.vrb` that lists these.
pub fn definition_sets(defs: &[Def]) -> Vec<u8> {
    let mut t = TypesBuilder::new();
    let named = |name: &str| format!("VRage:Keen.VRage.Library.Definitions.{name}");
    let root = t.next_model();
    let [sets, list, by_guid, data, definition_flags, partial_kind, guids] =
        [1, 2, 3, 4, 5, 6, 7].map(|n| ModelId(root.0 + n));
    let root_type = t.named(1, 0, &named("DefinitionSetCollection"));
    t.composite(root_type, flags::STRUCT, 0, &[member("DefinitionSets", sets)]);
    let list_type = t.named(1, 0, &named("DefinitionList"));
    let ty = t.generic(DICTIONARY, &[of(STRING), list_type]);
    t.dictionary(ty, STRING, list);
    t.composite(list_type, flags::STRUCT, 0, &[member("_definitions", by_guid)]);
    let data_type = t.named(1, 0, &named("DefinitionLoadingData"));
    let ty = t.generic(DICTIONARY, &[of(GUID), data_type]);
    t.dictionary(ty, GUID, data);
    t.composite(
        data_type,
        flags::STRUCT,
        0,
        &[
            member("Guid", GUID),
            member("Type", TYPE),
            member("Flags", definition_flags),
            member("PartialKind", partial_kind),
            member("BaseGuid", GUID),
            member("PartialDefinitions", guids),
        ],
    );
    let ty = t.named(1, 0, &named("DefinitionFlags"));
    t.proxy(ty, flags::ENUM, INT32, 4);
    let ty = t.named(1, 0, &named("PartialDefinitionKind"));
    t.proxy(ty, flags::ENUM, INT32, 4);
    let ty = t.generic(LIST, &[of(GUID)]);
    t.list(ty, GUID);
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
    let [list, row, handle, file] = [1, 2, 3, 4].map(|n| ModelId(root.0 + n));
    let root_type = t.named(1, 0, "VRage:Keen.VRage.Core.ContentCache");
    t.composite(root_type, flags::STRUCT, 0, &[member("Mapping", list)]);
    let row_type = t.named(1, 0, "VRage:Keen.VRage.Core.ContentMapping");
    let ty = t.generic(LIST, &[row_type]);
    t.list(ty, row);
    t.composite(row_type, flags::STRUCT, 0, &[member("ResourceHandle", handle), member("FileHandle", file)]);
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
    let [list, block, handle] = [1, 2, 3].map(|n| ModelId(root.0 + n));
    let root_type = t.named(0, 0, "VRage:Keen.VRage.Core.Game.Systems.EntityBundle");
    t.composite(root_type, flags::CLASS, 0, &[member("Builders", list)]);
    let block_type = t.named(1, 0, "Game2:Keen.Game2.Simulation.WorldObjects.CubeGrids.BlockBuilder");
    let ty = t.generic(LIST, &[block_type]);
    t.list(ty, block);
    t.composite(block_type, flags::STRUCT, 0, &[member("EntityId", GUID), member("Definition", handle)]);
    let ty = t.named(1, 0, "VRage:Keen.VRage.Library.Utils.ResourceHandle");
    t.proxy(ty, flags::PLAIN, STRING, 0);
    let mut v = ValuesBuilder::new();
    v.present().count(blocks.len() as u32);
    for (n, definition) in (0x8000_0000..).zip(blocks) {
        v.guid(guid(n)).string(&format!("{{G}}{definition}"));
    }
    ArchiveBuilder::new(&t, root, Codec::Brotli, v.into_bytes()).build()
}

/// The type of the blocks that [`folder`] writes.
pub const BLOCK: &str = "Game2:Keen.Game2.Simulation.WorldObjects.CubeGrids.BlockDefinition";
/// The type of the other definitions that [`folder`] writes.
pub const ITEM: &str = "Game2:Keen.Game2.Simulation.WorldObjects.Items.ItemDefinition";

/// Writes a believable folder, file by file, with `write`: the content, and a blueprint, `Blueprints/Miner/grid.json.vrb`.
/// Gives the definitions in it, in the order of the list.
pub fn folder(seed: u64, size: Size, mut write: impl FnMut(&str, Vec<u8>)) -> Vec<Def> {
    let names = ["ArmorBlock", "Battery", "CargoContainer", "Drill", "Gyroscope", "Reactor", "Thruster", "Wheel"];
    let more = match size {
        Size::Small => 20,
        Size::Full => 17_000,
    };
    let new = |n: u32, ty, file: String, parent| Def { guid: guid(n), ty, file, parent };
    let mut defs: Vec<Def> = (0..)
        .zip(names)
        .map(|(n, name)| new(n, BLOCK, format!("Blocks/{name}/{name}.def"), (n > 0).then(|| guid(0))))
        .collect();
    defs.extend((100..100 + more).map(|n| new(n, ITEM, format!("Items/Ores/Ore{:02}/Ore_{n}.def", n % 40), None)));
    // One without a file, and one with a file that only the cache lists.
    defs.push(new(90, ITEM, String::new(), Some(guid(9999))));
    let lost = new(91, ITEM, String::new(), None);
    let mut mapping: Vec<(Guid, String)> =
        defs.iter().filter(|def| !def.file.is_empty()).map(|def| (def.guid, def.file.clone())).collect();
    mapping.push((lost.guid, "Items/Lost/LostItem.def".to_owned()));
    mapping.push((guid(5000), "Textures/Armor_cm.dds".to_owned()));
    defs.push(lost);
    let content = |path: &str| format!("{CONTENT}/{path}");
    write(&content("definitionsets.vrb"), definition_sets(&defs));
    write(&content("contentcache.vrb"), content_cache(&mapping));
    write(&content("Textures/Armor_cm.dds"), super::dds::demo(seed, super::Size::Small));
    write(&content("Models/Hull.vrm"), demo(seed, Size::Small));
    for def in defs.iter().filter(|def| !def.file.is_empty()) {
        write(&content(&def.file), self::def(def.guid, def.ty).into_bytes());
    }
    // Block n appears n times.
    let blocks: Vec<Guid> = (1..8u32).flat_map(|n| (0..n).map(move |_| guid(n))).collect();
    write("Blueprints/Miner/grid.json.vrb", blueprint(&blocks));
    defs
}
