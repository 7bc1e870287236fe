//! Builds `GameParams.data` and `global.mo` as a test wants them, and the ones of a believable game.

use super::geometry::few_plates;
use super::pickle::{Data, dict, members};
use crate::{Size, Writer, deflate};

/// The path of the model of the sample's battleship.
pub const HULL: &str = "content/gameplay/usa/ship/battleship/ASB900/ASB900.model";
/// The path of the model of its guns.
pub const GUN: &str = "content/gameplay/usa/gun/main/AGM900/AGM900.model";

/// The path of the model of the sample's destroyer, whose meshes are `ship.geometry`.
pub const DESTROYER: &str = "content/gameplay/japan/ship/destroyer/JSD999/ship.model";

/// Armour of the battleship's hull: layer, material, millimetres. The sample's armour has plates of these and of others.
const PLATES: [(u16, u16, f64); 22] = [
    (1, 45, 250.0),
    (1, 46, 32.0),
    (1, 47, 32.0),
    (1, 48, 38.0),
    (1, 49, 37.0),
    (1, 53, 440.0),
    (1, 54, 184.0),
    (1, 57, 37.0),
    (1, 59, 287.0),
    (1, 61, 307.0),
    (1, 62, 16.0),
    (1, 63, 26.0),
    (1, 65, 287.0),
    (1, 69, 38.0),
    (1, 82, 13.0),
    (1, 89, 16.0),
    (1, 90, 13.0),
    (1, 91, 26.0),
    (1, 92, 19.0),
    (1, 93, 32.0),
    (2, 64, 0.0),
    (2, 67, 152.0),
];

/// Armour of its guns.
const GUN_PLATES: [(u16, u16, f64); 4] = [(1, 32, 495.0), (1, 33, 241.0), (1, 35, 184.0), (1, 99, 305.0)];

/// Armour of the destroyer: all plates of a small `ship.geometry`, and two others.
fn destroyer_plates(seed: u64) -> Vec<(u16, u16, f64)> {
    let plates = few_plates(seed).into_iter().map(|plate| (plate.layer, plate.material, 20.0 + f64::from(plate.layer)));
    let mut all: Vec<(u16, u16, f64)> = plates.chain([(1, 47, 20.0), (2, 56, 19.0)]).collect();
    all.sort_by_key(|(layer, material, _)| (*layer, *material));
    all.dedup_by_key(|(layer, material, _)| (*layer, *material));
    all
}

/// A file of this pickle in the form of Mir Korabley. No real file was at hand: docs/formats/clients.md.
pub fn mir_korabley(pickle: &[u8]) -> Vec<u8> {
    [b"%bin", &*file(pickle)].concat()
}

/// A file of this pickle: deflated, and backwards.
pub fn file(pickle: &[u8]) -> Vec<u8> {
    let mut out = deflate(pickle, 6, true);
    out.reverse();
    out
}

/// The parameters of a small game, with more of everything in a full one.
pub fn demo(seed: u64, size: Size) -> Vec<u8> {
    file(&root(entities(seed, size, &[])).pickle())
}

/// The small parameters of an earlier build: each ship's belt is 2 mm thinner.
pub fn demo_before(seed: u64) -> Vec<u8> {
    file(&root(entities_with(belt(seed) - 2.0, seed, Size::Small, &[])).pickle())
}

/// As [`demo`], where a thing of the game names these paths of other files.
pub fn demo_naming(seed: u64, size: Size, paths: &[String]) -> Vec<u8> {
    file(&root(entities(seed, size, paths)).pickle())
}

/// The root of the files of today: a list of a dictionary, whose one key is empty.
pub fn root(entities: Data) -> Data {
    Data::List(vec![dict! { "": entities }])
}

pub(super) fn info(kind: &str, nation: &str, species: Option<&str>) -> Data {
    let species = species.map_or(Data::None, Data::from);
    Data::Object("TypeInfo", members! { "nation": nation, "species": species, "type": kind })
}

/// The part of a name before its first `_`.
pub(super) fn index_of(name: &str) -> &str {
    name.split_once('_').map_or(name, |(index, _)| index)
}

pub(super) fn texts(names: &[&str]) -> Data {
    names.iter().map(|name| Data::from(*name)).collect::<Vec<_>>().into()
}

pub(super) fn put(all: &mut Vec<(Data, Data)>, name: &str, id: i64, info: Data, more: Vec<(Data, Data)>) {
    let mut members = members! { "id": id, "index": index_of(name), "name": name, "typeinfo": info };
    members.extend(more);
    all.push((name.into(), Data::Object("GPData", members)));
}

pub(super) fn armor(plates: &[(u16, u16, f64)]) -> Data {
    let plates = plates
        .iter()
        .map(|(layer, material, mm)| (Data::Int(i64::from(*layer) << 16 | i64::from(*material)), Data::from(*mm)));
    Data::Dict(plates.collect())
}

/// Armour, and the plate without armour.
pub(super) fn whole_armor(plates: &[(u16, u16, f64)]) -> Data {
    armor(&[&[(0, 1, 0.0)], plates].concat())
}

pub(super) fn hit_location(kind: &str, max_hp: f64, boxes: &[&str]) -> Data {
    dict! { "hlType": kind, "maxHP": max_hp, "parentHL": "", "regeneratedHPPart": 0.5, "splashBoxes": texts(boxes) }
}

fn hull(model: &str, health: f64, plates: &[(u16, u16, f64)]) -> Data {
    dict! {
        "Bow": hit_location("simple_hitlocation", health / 8.0, &["CM_SB_bow_0", "CM_SB_bow_1"]),
        "Cit": hit_location("citadel_hitlocation", health / 2.0, &["CM_SB_cit_4"]),
        "armor": whole_armor(plates),
        "barbettes": dict! { "HP_AGM_1": vec![65670i64, 65710] },
        "burnNodes": vec![Data::Tuple(vec![0.5.into(), 0.3.into(), 30.0.into()])],
        "draft": 11.0, "effects": dict! {}, "health": health, "mass": 57_540_000.0, "maxSpeed": 33.0, "model": model,
        "size": vec![270.4, 33.0, 64.0], "visibilityFactor": 15.8,
    }
}

fn gun(name: &str, id: i64, model: &str, plates: &[(u16, u16, f64)]) -> Data {
    let members = members! {
        "id": id, "index": index_of(name), "name": name, "typeinfo": info("Gun", "USA", Some("Main")),
        "ammoList": texts(&["PAPA901_406_AP", "PAPA902_406_HE"]), "armor": whole_armor(plates), "barrelDiameter": 0.406,
        "deadMesh": model.replace(".model", "_dead.model"), "model": model, "numBarrels": 3,
        "rotationSpeed": vec![4.0, 4.0], "shotDelay": 30.0,
    };
    Data::Object("GPData", members)
}

pub(super) fn upgrade(kind: &str, prev: &str, components: Data) -> Data {
    dict! { "components": components, "nextShips": Data::List(Vec::new()), "prev": prev, "ucType": kind }
}

/// A battleship, with two hulls of one model in the first.
fn battleship(all: &mut Vec<(Data, Data)>, name: &str, id: i64, model: &str, belt: f64) {
    let [plates, thin] = [belt, belt - 20.0]
        .map(|belt| PLATES.map(|(layer, material, mm)| (layer, material, if material == 61 { belt } else { mm })));
    let gun = gun("PAGM900_406mm_50", 4_280_000_000, GUN, &GUN_PLATES);
    let guns = members! { "HP_AGM_1": gun.clone(), "HP_AGM_2": gun.clone(), "HP_AGM_3": gun, "maxDist": 23_000.0 };
    let [a, b, artillery] = ["HULL_A", "HULL_B", "ART"].map(|end| format!("{}_{end}", index_of(name)));
    let [first, second] =
        ["A_Hull", "B_Hull"].map(|hull| dict! { "artillery": texts(&["A_Artillery"]), "hull": texts(&[hull]) });
    let upgrades = Data::dict([
        (a.as_str(), upgrade("_Hull", "", first)),
        (b.as_str(), upgrade("_Hull", &a, second)),
        (artillery.as_str(), upgrade("_Artillery", "", dict! { "artillery": texts(&["A_Artillery"]) })),
        ("costXP", 1000.into()),
    ]);
    let more = members! {
        "A_Artillery": Data::Object("GPData", guns),
        "A_Hull": hull(model, 70_000.0, &thin), "B_Hull": hull(model, 78_300.0, &plates), "ShipUpgradeInfo": upgrades,
        "group": "upgradeable", "isPaperShip": false, "level": 9,
    };
    put(all, name, id, info("Ship", "USA", Some("Battleship")), more);
}

/// Millimetres of the first ship's belt.
fn belt(seed: u64) -> f64 {
    306.0 + (seed % 64) as f64
}

/// The entities of [`demo`], for tests that change them.
pub fn entities(seed: u64, size: Size, paths: &[String]) -> Data {
    entities_with(belt(seed), seed, size, paths)
}

fn entities_with(belt: f64, seed: u64, size: Size, paths: &[String]) -> Data {
    let mut all = Vec::new();
    battleship(&mut all, "PASB900_Nowhere", 4_179_506_384, HULL, belt);
    // Another ship with the same model, and a thicker belt.
    battleship(&mut all, "PASB901_Somewhere", 4_179_506_400, HULL, belt + 20.0);
    let destroyer = members! {
        "Hull": hull(DESTROYER, 18_500.0, &destroyer_plates(seed)), "group": "special", "isPaperShip": true, "level": 10,
    };
    put(&mut all, "PJSD999_Test", 4_179_506_416, info("Ship", "Japan", Some("Destroyer")), destroyer);
    all.push(("PAGM900_406mm_50".into(), gun("PAGM900_406mm_50", 4_280_000_000, GUN, &GUN_PLATES)));
    let mut other = gun("PAGM901_On_No_Ship", 4_280_000_016, GUN, &GUN_PLATES);
    *other.get_mut("model") = "content/gameplay/usa/gun/main/AGM901/AGM901.model".into();
    all.push(("PAGM901_On_No_Ship".into(), other));
    for (name, id, kind, damage, burn) in [
        ("PAPA901_406_AP", 4_281_000_000, "AP", 13_500.0, -0.5),
        ("PAPA902_406_HE", 4_281_000_016, "HE", 5_700.0, 0.36),
    ] {
        let shell = members! {
            "alphaDamage": damage, "alphaPiercingHE": 67.0, "ammoType": kind, "bulletAirDrag": 0.352,
            "bulletDiametr": 0.406, "bulletKrupp": 2520.0, "bulletMass": 1225.0, "bulletSpeed": 762.0, "burnProb": burn,
        };
        put(&mut all, name, id, info("Projectile", "USA", Some("Artillery")), shell);
    }
    for (name, id, ships, levels, types) in [
        ("PCM001_MainGun_Mod_I", 4_290_000_000, &[][..], vec![9i64], &["Battleship"][..]),
        ("PCM002_Own", 4_290_000_016, &["PJSD999_Test"][..], Vec::new(), &[][..]),
    ] {
        let modernization = members! {
            "excludes": texts(&["PASB901_Somewhere"]), "group": texts(&[]), "modifiers": dict! { "GMRotationSpeed": 1.15 },
            "nation": texts(&[]), "shiplevel": levels, "ships": texts(ships), "shiptype": texts(types), "slot": 2,
        };
        put(&mut all, name, id, info("Modernization", "Common", None), modernization);
    }
    let [usual, short] = [240.0, 180.0].map(|reload| {
        dict! { "consumableType": "scout", "numConsumables": 3, "reloadTime": reload, "workTime": 100.0 }
    });
    let ability = members! { "Default": usual, "Nowhere": short, "canBuy": false };
    put(&mut all, "PCY013_Spotter", 4_291_000_000, info("Ability", "Common", None), ability);
    if !paths.is_empty() {
        let paint = members! { "textures": paths.to_vec() };
        put(&mut all, "PAES900_Paint", 4_292_000_000, info("Exterior", "Common", None), paint);
    }
    if size == Size::Full {
        many(&mut all, seed);
    }
    Data::Dict(all)
}

/// Ten thousand things with modifiers.
fn many(all: &mut Vec<(Data, Data)>, seed: u64) {
    let mut random = crate::random::Rng::with_seed(seed);
    for n in 0..10_000i64 {
        let numbers: Vec<f64> = (0..40).map(|_| random.f64() * 100.0).collect();
        let more = members! {
            "values": numbers,
            "flag": random.bool(),
            "modifiers": Data::dict((0..20).map(|i| (format!("modifier{i}"), Data::from(random.i64(0..500))))),
        };
        put(all, &format!("PCXX{n:05}_Unit"), 4_000_000_000 + n, info("Unit", "Common", None), more);
    }
}

/// A `.mo` of these ids and texts. Forms by number stand one after another, with a NUL between them.
pub fn mo(texts: &[(&str, &str)]) -> Vec<u8> {
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    let count = texts.len();
    let mut w = Writer::new();
    w.all([0x9504_12DE, 0, count as u32, 28, 28 + count as u32 * 8, 0, 28 + count as u32 * 16]);
    let mut at = 28 + count * 16;
    let all: Vec<&str> = texts.iter().map(|(id, _)| *id).chain(texts.iter().map(|(_, text)| *text)).collect();
    for text in &all {
        w.all([text.len() as u32, at as u32]);
        at += text.len() + 1;
    }
    for text in &all {
        w.text(text);
    }
    w.into_bytes()
}

pub fn demo_mo(seed: u64, size: Size) -> Vec<u8> {
    let header = "Content-Type: text/plain; charset=UTF-8\nLanguage: en\n";
    let year = (1937 + seed % 64).to_string();
    let mut texts = vec![
        ("", header),
        ("IDS_PASB900_YEAR", &year),
        ("IDS_PASB900", "Nowhere"),
        ("IDS_PASB900_FULL", "USS Nowhere"),
        ("IDS_PASB901", "Somewhere"),
        ("IDS_PJSD999", "Test\u{e4}"),
        ("IDS_PAGM900_406MM_50", "406 mm/50 Mk.7"),
        ("IDS_PAPA901_406_AP", "406 mm AP"),
        ("IDS_PAPA902_406_HE", "406 mm HE"),
        ("IDS_TITLE_PCM001_MAINGUN_MOD_I", "Main Battery Modification 1"),
        ("IDS_PCY013_SPOTTER", "Spotting Aircraft"),
        ("IDS_SHELLS\0IDS_SHELLS_PLURAL", "shell\0shells"),
    ];
    let more = (0..size.pick(0, 30_000)).map(|n| (format!("IDS_MORE_{n:05}"), format!("text number {n}")));
    let more: Vec<(String, String)> = more.collect();
    texts.extend(more.iter().map(|(id, text)| (id.as_str(), text.as_str())));
    mo(&texts)
}
