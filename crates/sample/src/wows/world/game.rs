//! The folder of the game, and the files beside it.

use super::cruiser::{FLEET, MOUNTS, Skin};
use super::database::{Build, ITEMS, database};
use super::model::{EXTENTS, LEVELS, gun, hit_boxes, whole_ship};
use super::parameters::{CAMOUFLAGE, LANGUAGES, parameters, titles};
use super::{harbour, paint};
use crate::make::{Put, Stopped};
use crate::wows::records::SLOTS;
use crate::wows::text_models::{self, Property, level};
use crate::wows::{How, Package};
use assetq_core::codec::cityhash64;
use assetq_wows::game_folder::Variant;
use std::sync::LazyLock;

/// The builds of the folder.
pub const BUILDS: [(&str, Build); 2] = [("7000000", Build::Before), ("7100000", Build::Now)];

/// The folder of mods in the game.
const MODS: &str = "PnFMods/Aurora";
const SPLINTERS: &str = "content/gameplay/common/camouflage/textures/splinters.dds";

/// The textures of a material: the ends of their names, and their bytes. They are painted once.
fn textures(skin: Skin) -> &'static [(&'static str, Vec<u8>)] {
    type Textures = [(&'static str, Vec<u8>); 3];
    static PAINTED: LazyLock<[Textures; 5]> = LazyLock::new(|| {
        Skin::ALL
            .map(|skin| [("a", paint::albedo(skin)), ("n", paint::normals(skin)), ("mg", paint::metal_gloss(skin))])
    });
    &PAINTED[skin as usize]
}

/// The `.mfm` of a material of the mod.
pub fn material(skin: Skin) -> Vec<u8> {
    let paths = ["a", "n", "mg"].map(|end| format!("{MODS}/{}_{end}.dds", skin.texture()));
    let mut properties: Vec<Property<'_>> =
        SLOTS.iter().zip(&paths).map(|((name, _), value)| Property { name, kind: "Texture", value }).collect();
    properties.push(Property { name: "g_detailAlbedoInfluence", kind: "Float", value: "0.2500" });
    properties.push(Property { name: "doubleSided", kind: "Bool", value: "false" });
    text_models::material(skin.material(), "shaders/std_effects/PBS_ship.fx", &properties)
}

fn mfm(skin: Skin) -> String {
    format!("{MODS}/{}.mfm", skin.material())
}

/// The mesh of the whole ship.
pub fn ship_geometry() -> Vec<u8> {
    whole_ship().geometry()
}

/// The text that names its groups, in the newer form.
pub fn ship_visual() -> Vec<u8> {
    whole_ship().visual("ship", None, mfm)
}

pub fn ship_model() -> Vec<u8> {
    text_models::model("ship", &format!("{MODS}/ship.visual"))
}

pub fn turret_geometry() -> Vec<u8> {
    gun(&MOUNTS[0], true).geometry()
}

/// A turret in the older form, in which each level of detail is a file.
pub fn turret_visual() -> Vec<u8> {
    gun(&MOUNTS[0], true).visual("turret", Some(0), mfm)
}

pub fn turret_model() -> Vec<u8> {
    level("turret", &format!("{MODS}/turret"), Some(&format!("{MODS}/lods/turret_lod1")), EXTENTS[0])
}

/// Writes what stands beside these files: materials, textures, the other levels of the turret, and
/// a mod of the game that changes one texture.
///
/// # Errors
/// As `write`.
pub fn beside(write: &mut Put<'_>) -> Result<(), Stopped> {
    for skin in Skin::ALL {
        write(&format!("{}.mfm", skin.material()), &material(skin))?;
        for (end, bytes) in textures(skin) {
            write(&format!("{}_{end}.dds", skin.texture()), bytes)?;
        }
    }
    let texture = Build::Now.texture(Skin::Hull, "a");
    write(&format!("blue-hull-mod/{texture}.dds"), &paint::repainted(Skin::Hull))?;
    let turret = gun(&MOUNTS[0], true);
    for (lod, extent) in EXTENTS.into_iter().enumerate().skip(1) {
        let name = format!("turret_lod{lod}");
        let parent = (lod + 1 < LEVELS).then(|| format!("{MODS}/lods/turret_lod{}", lod + 1));
        write(&format!("lods/{name}.visual"), &turret.visual(&name, Some(lod), mfm))?;
        write(&format!("lods/{name}.model"), &level(&name, &format!("{MODS}/lods/{name}"), parent.as_deref(), extent))?;
    }
    Ok(())
}

/// `camouflages.xml`, in the dialect of real files.
fn camouflages() -> String {
    let ships = FLEET.iter().map(|ship| ship.name).filter(|name| name.starts_with("PX")).collect::<Vec<_>>().join(" ");
    let [camouflage, _] = CAMOUFLAGE;
    format!(
        "<data>\n<ShipGroups><shipGroup><name>northern_ships</name><ships> {ships} </ships></shipGroup></ShipGroups>\n\
         <ColorSchemes><colorScheme><name>north</name><color0>0.08 0.10 0.12 1</color0><color1>0.42 0.46 0.50 1</color1>\
         <color2>0.20 0.27 0.33 1</color2><color3>0.66 0.69 0.70 1</color3></colorScheme></ColorSchemes>\n\
         <Camouflages>\n<camouflage><annotation>Northern Splinters</annotation><name>{camouflage}</name><tiled>true</tiled>\
         <colorSchemes>north</colorSchemes><shipGroups>northern_ships</shipGroups>\
         <UV><Tile>0.5 0.5</Tile><Gun>1.0 1.0</Gun></UV><Textures><Tile>{SPLINTERS}</Tile></Textures></camouflage>\n\
         </Camouflages>\n</data>\n"
    )
}

/// Writes the folder of the game: two builds, which share the files that did not change.
///
/// # Errors
/// As `write`.
pub fn folder(write: &mut Put<'_>) -> Result<(), Stopped> {
    let now = ships();
    for (number, (name, build)) in BUILDS.into_iter().enumerate() {
        let mut content = Package::new(Variant::V2, &format!("content_000{number}.pkg"));
        content.file("content/assets.bin", &database(build), How::Deflated);
        content.file("content/GameParams.data", &parameters(build), How::Stored);
        let ships = if build == Build::Now { now.clone() } else { earlier(&now) };
        let packages = [("content", content), ("ships", ships)];
        for (index, package) in &packages {
            write(&format!("bin/{name}/idx/{index}.idx"), &package.index())?;
        }
        let new = if build == Build::Now { &packages[..] } else { &packages[..1] };
        for (volume, bytes) in new.iter().flat_map(|(_, package)| &package.volumes) {
            write(&format!("res_packages/{volume}"), bytes)?;
        }
        for (number, language) in LANGUAGES.into_iter().enumerate() {
            write(&format!("bin/{name}/res/texts/{language}/LC_MESSAGES/global.mo"), &titles(number))?;
        }
    }
    Ok(())
}

/// The files of the build before: without the *Borealis*, and with another name of a texture.
fn earlier(now: &Package) -> Package {
    let mut earlier = now.clone();
    let is_later = |name: &[u8]| String::from_utf8_lossy(name).contains("Borealis");
    let later: Vec<u64> = earlier.names.iter().filter(|entry| is_later(&entry.name)).map(|entry| entry.id).collect();
    earlier.names.retain(|entry| !later.contains(&entry.id));
    earlier.files.retain(|file| !later.contains(&file.id));
    for end in ["a", "n", "mg"] {
        let [new, old] = [Build::Now, Build::Before].map(|build| format!("{}.dds", build.texture(Skin::Glass, end)));
        let [new, id] = [&new, &old].map(|path| cityhash64(path.as_bytes()));
        for entry in earlier.names.iter_mut().filter(|entry| entry.id == new) {
            (entry.id, entry.name) = (id, old.rsplit('/').next().unwrap_or(&old).into());
        }
        earlier.files.iter_mut().filter(|file| file.id == new).for_each(|file| file.id = id);
    }
    earlier
}

/// The models, the textures and the harbour of the newest build.
fn ships() -> Package {
    let mut ships = Package::new(Variant::V2, "ships_0001.pkg");
    for (number, item) in ITEMS.iter().enumerate() {
        if number == 3 {
            ships.volume("ships_0002.pkg");
        }
        ships.file(&format!("{}.geometry", item.path), &item.model.geometry(), How::Deflated);
        if item.model.is_hull() {
            let ship = FLEET.iter().find(|ship| item.path.starts_with(ship.folder)).expect("a hull is a ship's");
            ships.file(&format!("{}.splash", item.path), &hit_boxes(ship), How::Stored);
        }
    }
    ships.volume("textures_0001.pkg");
    for skin in Skin::ALL {
        for (end, bytes) in textures(skin) {
            ships.file(&format!("{}.dds", Build::Now.texture(skin, end)), bytes, How::Deflated);
        }
    }
    ships.file(SPLINTERS, &paint::splinters(), How::Deflated);
    ships.file("camouflages.xml", camouflages().as_bytes(), How::Deflated);
    ships.volume("spaces_0001.pkg");
    for (name, bytes) in
        [("models.bin", harbour::models()), ("space.bin", harbour::space()), ("models.geometry", harbour::geometry())]
    {
        ships.file(&format!("spaces/harbour/{name}"), &bytes, How::Deflated);
    }
    ships
}
