//! The database of the world: ships, guns, shells, an aircraft, islands and a lighthouse, with their materials and textures.

use super::cruiser::{FLEET, MOUNTS, PROPS, Section, Skin};
use super::model::{EXTENTS, LEVELS, Model, gun, prop, ship_section};
use crate::bwdb::DatabaseBuilder;
use crate::random::Rng;
use crate::wows::prototypes::{BlobWriter, Resources, records};
use crate::wows::records::{DrawnSet, DrawnVisual, SLOTS, material};
use assetq_core::codec::murmur3;
use assetq_wows::bwdb::prototypes::PrototypeType;
use std::sync::LazyLock;

/// A build of the game. Each differs from the one before as notes of a patch would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// Without the *Borealis*. The texture of glass is called after windows.
    Before,
    Now,
    /// The deck is of teak, turrets are drawn finely up to a greater distance, a light goes, and an effect comes.
    Next,
}

impl Build {
    /// The name of a texture's file without its ending.
    pub fn texture(self, skin: Skin, end: &str) -> String {
        let name = match (skin, self) {
            (Skin::Glass, Self::Before) => "windows",
            (Skin::Deck, Self::Next) => "teak",
            _ => skin.texture(),
        };
        format!("{TEXTURES}/{name}_{end}")
    }
}

/// The folder of the *Aurora*.
pub const AURORA: &str = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942";
const TEXTURES: &str = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/textures";

/// The path of a material.
pub fn material_path(skin: Skin) -> String {
    format!("{AURORA}/{}.mfm", skin.material())
}

/// A model with its path, without an ending.
#[derive(Debug)]
pub struct Item {
    pub path: String,
    pub model: Model,
    /// The first build with this model.
    pub since: Build,
}

/// The path of a mount's model without its ending.
pub fn mount_path(mount: usize) -> String {
    let mount = &MOUNTS[mount];
    format!("content/gameplay/common/{}/{}/{1}", mount.folder, mount.name)
}

/// All models, in the order of the database.
pub static ITEMS: LazyLock<Vec<Item>> = LazyLock::new(|| {
    let mut items = Vec::new();
    for ship in &FLEET {
        for section in Section::ALL {
            let end = if section == Section::Midship { String::new() } else { format!("_{section:?}") };
            let since = if ship.name.contains("Borealis") { Build::Now } else { Build::Before };
            items.push(Item { path: format!("{}{end}", ship.path()), model: ship_section(ship, section), since });
        }
    }
    items.extend((0..MOUNTS.len()).map(|mount| Item {
        path: mount_path(mount),
        model: gun(&MOUNTS[mount], false),
        since: Build::Before,
    }));
    items.extend(PROPS.iter().map(|(path, pieces)| Item {
        path: (*path).into(),
        model: prop(path, pieces),
        since: Build::Before,
    }));
    items
});

/// The resources that no model needs: the number of their type, and their path.
const OTHERS: [(usize, &str); 11] = [
    (4, "content/lights/harbour_lantern.light"),
    (4, "content/lights/searchlight.light"),
    (5, "particles/funnel_smoke.xml/high"),
    (5, "particles/muzzle_flash_152mm.xml/high"),
    (5, "particles/shell_splash.xml/high"),
    (6, "particles/fields/bow_wake.vf"),
    (7, "particles/presets/funnel_smoke.xml"),
    (8, "particles/meta/funnel_smoke.meta"),
    (8, "particles/meta/shell_splash.meta"),
    (9, "gui/atlas/ship_icons.contour"),
    (9, "gui/atlas/shell_icons.contour"),
];

/// The `assets.bin` of a build.
pub fn database(build: Build) -> Vec<u8> {
    let mut builder = DatabaseBuilder::default();
    let items: Vec<&Item> = ITEMS.iter().filter(|item| item.since <= build).collect();
    let mut resources = Resources::default();
    let mut blobs: Vec<(PrototypeType, Vec<u8>)> = Vec::new();

    let mut blob = BlobWriter::new(PrototypeType::Material, Skin::ALL.len());
    for (record, skin) in Skin::ALL.into_iter().enumerate() {
        let textures = SLOTS[..3].iter().map(|(slot, end)| (*slot, format!("{}.dds", build.texture(skin, end))));
        let at = blob.record(record);
        let fx = if skin == Skin::Gun { "PBS_ship_skinned" } else { "PBS_ship" };
        let floats = [("g_detailAlbedoInfluence", 0.25), ("g_detailScaleU", 4.0)];
        material(
            &mut blob,
            at,
            &format!("shaders/std_effects/{fx}.fx"),
            &textures.collect::<Vec<_>>(),
            false,
            &floats,
            &mut builder,
        );
        resources.by_type[0].push(builder.path(&material_path(skin)));
    }
    blobs.push((PrototypeType::Material, blob.finish()));

    let mut visuals = BlobWriter::new(PrototypeType::Visual, items.len());
    for (record, item) in items.iter().enumerate() {
        let at = visuals.record(record);
        write_visual(item, build, &resources.by_type[0], &mut visuals, at, &mut builder);
        resources.by_type[1].push(builder.path(&format!("{}.visual", item.path)));
    }
    blobs.push((PrototypeType::Visual, visuals.finish()));

    let mut models = BlobWriter::new(PrototypeType::Model, items.len());
    for (record, item) in items.iter().enumerate() {
        let at = models.record(record);
        models.data.set(at, resources.by_type[1][record]);
        models.data.patch(at + 9, [4]);
        resources.by_type[3].push(builder.path(&format!("{}.model", item.path)));
    }
    blobs.push((PrototypeType::Model, models.finish()));

    let next = (build == Build::Next).then_some((5, "particles/depth_charge.xml/high"));
    let others = OTHERS.into_iter().filter(|(_, path)| build < Build::Next || !path.contains("searchlight"));
    for (kind, path) in others.chain(next) {
        resources.by_type[kind].push(builder.path(path));
    }
    let strings: Vec<u32> = ["Scene Root", "Smoke", "Spark", "Foam"].map(|text| builder.string(text)).to_vec();
    for (kind, prototype) in PrototypeType::ALL.iter().enumerate().skip(4) {
        let mut blob = BlobWriter::new(*prototype, resources.by_type[kind].len());
        // Effects that a build adds leave the others as they are.
        records(&mut blob, *prototype, &strings, &resources, &mut Rng::with_seed(kind as u64));
        blobs.push((*prototype, blob.finish()));
    }
    for (prototype, blob) in blobs {
        let database = builder.database(prototype.magic(), murmur3(prototype.table().as_bytes()), blob);
        let kind = PrototypeType::ALL.iter().position(|known| *known == prototype).expect("it is one of all");
        for (record, id) in resources.by_type[kind].iter().enumerate() {
            builder.resource(*id, database, record, 0);
        }
    }
    items.iter().for_each(|item| {
        if item.model.is_hull() {
            builder.path(&format!("{}.splash", item.path));
        }
    });
    builder.build()
}

/// Writes the record of a model's visual.
fn write_visual(
    item: &Item,
    build: Build,
    materials: &[u64],
    blob: &mut BlobWriter,
    at: usize,
    builder: &mut DatabaseBuilder,
) {
    let model = &item.model;
    let is_finer = build == Build::Next && item.path.contains("/gun/");
    let shaders: Vec<String> = model.groups.iter().map(|group| group.skin.shader()).collect();
    let sets = model.groups.iter().zip(&shaders).map(|(group, shader)| DrawnSet {
        name: &group.name,
        material: shader,
        mappings: ["vertices", "indices"].map(|what| murmur3(format!("{}.{what}", group.name).as_bytes())),
        mfm: materials[group.skin as usize],
        nodes: &group.nodes,
    });
    let sets = sets.collect();
    let lods = (0..LEVELS).map(|lod| {
        let extent = if lod == 0 && is_finer { 16.0 } else { EXTENTS[lod] };
        (extent, model.of_level(lod).map(|group| &*group.name).collect::<Vec<_>>())
    });
    let lods = lods.filter(|(_, sets)| !sets.is_empty()).collect();
    let geometry = format!("{}.geometry", item.path);
    let drawn = DrawnVisual { geometry: &geometry, joints: &model.joints, bounds: model.bounds(), sets, lods };
    drawn.write(blob, at, builder);
}
