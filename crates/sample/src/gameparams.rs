//! Builds `GameParams.data` and `global.mo` as a test wants them, and the ones of a believable game.

use super::geometry::few_plates;
use super::pickle::Data;
use super::{Size, Writer};
use flate2::{Compress, Compression, FlushCompress};

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

/// A file of this pickle in the form of Mir Korabley. No real file was at hand: docs/formats/legends.md.
pub fn mir_korabley(pickle: &[u8]) -> Vec<u8> {
    [b"%bin", &*file(pickle)].concat()
}

/// A file of this pickle in the form of World of Warships: Legends. No real file was at hand: docs/formats/legends.md.
pub fn legends(pickle: &[u8]) -> Vec<u8> {
    [b"%bin", pickle].concat()
}

/// A file of this pickle: deflated, and backwards.
pub fn file(pickle: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pickle.len() / 2 + 64);
    let mut state = Compress::new(Compression::new(6), true);
    loop {
        let read = state.total_in() as usize;
        out.reserve(64 + (pickle.len() - read) / 4);
        let status = state.compress_vec(&pickle[read..], &mut out, FlushCompress::Finish);
        if status.expect("memory does for an output") == flate2::Status::StreamEnd {
            break;
        }
    }
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
    Data::List(vec![Data::dict([("", entities)])])
}

fn info(kind: &str, nation: &str, species: Option<&str>) -> Data {
    let species = species.map_or(Data::None, Data::from);
    Data::object("TypeInfo", [("nation", nation.into()), ("species", species), ("type", kind.into())])
}

fn texts(names: &[&str]) -> Data {
    names.iter().map(|name| Data::from(*name)).collect::<Vec<_>>().into()
}

/// Adds an entity.
fn put(all: &mut Vec<(Data, Data)>, name: &str, id: i64, info: Data, more: Vec<(&'static str, Data)>) {
    let index = name.split('_').next().unwrap_or(name);
    let mut members = vec![("id", Data::from(id)), ("index", index.into()), ("name", name.into()), ("typeinfo", info)];
    members.extend(more);
    all.push((name.into(), Data::object("GPData", members)));
}

fn armor(plates: &[(u16, u16, f64)]) -> Data {
    let key = |layer: u16, material: u16| Data::Int(i64::from(layer) << 16 | i64::from(material));
    let plates = plates.iter().map(|(layer, material, thickness)| (key(*layer, *material), Data::from(*thickness)));
    Data::Dict(std::iter::once((key(0, 1), 0.0.into())).chain(plates).collect())
}

fn hit_location(kind: &str, max_hp: f64, boxes: &[&str]) -> Data {
    Data::dict([
        ("hlType", Data::from(kind)),
        ("maxHP", max_hp.into()),
        ("parentHL", "".into()),
        ("regeneratedHPPart", 0.5.into()),
        ("splashBoxes", texts(boxes)),
    ])
}

fn hull(model: &str, health: f64, plates: &[(u16, u16, f64)]) -> Data {
    Data::dict([
        ("Bow", hit_location("simple_hitlocation", health / 8.0, &["CM_SB_bow_0", "CM_SB_bow_1"])),
        ("Cit", hit_location("citadel_hitlocation", health / 2.0, &["CM_SB_cit_4"])),
        ("armor", armor(plates)),
        ("barbettes", Data::dict([("HP_AGM_1", Data::List(vec![65670.into(), 65710.into()]))])),
        ("burnNodes", Data::List(vec![Data::Tuple(vec![0.5.into(), 0.3.into(), 30.0.into()])])),
        ("draft", 11.0.into()),
        ("effects", Data::dict::<&str>([])),
        ("health", health.into()),
        ("mass", 57_540_000.0.into()),
        ("maxSpeed", 33.0.into()),
        ("model", model.into()),
        ("size", vec![270.4, 33.0, 64.0].into()),
        ("visibilityFactor", 15.8.into()),
    ])
}

fn gun(name: &str, id: i64, model: &str, plates: &[(u16, u16, f64)]) -> Vec<(&'static str, Data)> {
    let index = name.split('_').next().unwrap_or(name);
    vec![
        ("id", id.into()),
        ("index", index.into()),
        ("name", name.into()),
        ("typeinfo", info("Gun", "USA", Some("Main"))),
        ("ammoList", texts(&["PAPA901_406_AP", "PAPA902_406_HE"])),
        ("armor", armor(plates)),
        ("barrelDiameter", 0.406.into()),
        ("deadMesh", model.replace(".model", "_dead.model").into()),
        ("model", model.into()),
        ("numBarrels", 3.into()),
        ("rotationSpeed", vec![4.0, 4.0].into()),
        ("shotDelay", 30.0.into()),
    ]
}

/// A battleship, with two hulls of one model in the first.
fn battleship(all: &mut Vec<(Data, Data)>, name: &str, id: i64, model: &str, belt: f64) {
    let index = name.split('_').next().unwrap_or(name);
    let plates = PLATES.map(|(layer, material, mm)| (layer, material, if material == 61 { belt } else { mm }));
    let thin = plates.map(|(layer, material, mm)| (layer, material, if material == 61 { belt - 20.0 } else { mm }));
    let mounts = ["HP_AGM_1", "HP_AGM_2", "HP_AGM_3"]
        .map(|mount| (mount, Data::object("GPData", gun("PAGM900_406mm_50", 4_280_000_000, GUN, &GUN_PLATES))));
    let artillery = Data::object("GPData", mounts.into_iter().chain([("maxDist", 23_000.0.into())]));
    let upgrade = |kind: &str, prev: &str, components: Vec<(&'static str, Data)>| {
        Data::dict([
            ("components", Data::dict(components)),
            ("nextShips", Data::List(Vec::new())),
            ("prev", prev.into()),
            ("ucType", kind.into()),
        ])
    };
    let (a, b, guns) = (format!("{index}_HULL_A"), format!("{index}_HULL_B"), format!("{index}_ART"));
    let both = |hull: &'static str| vec![("artillery", texts(&["A_Artillery"])), ("hull", texts(&[hull]))];
    let upgrades = Data::dict([
        (a.as_str(), upgrade("_Hull", "", both("A_Hull"))),
        (b.as_str(), upgrade("_Hull", &a, both("B_Hull"))),
        (guns.as_str(), upgrade("_Artillery", "", vec![("artillery", texts(&["A_Artillery"]))])),
        ("costXP", 1000.into()),
    ]);
    put(
        all,
        name,
        id,
        info("Ship", "USA", Some("Battleship")),
        vec![
            ("A_Artillery", artillery),
            ("A_Hull", hull(model, 70_000.0, &thin)),
            ("B_Hull", hull(model, 78_300.0, &plates)),
            ("ShipUpgradeInfo", upgrades),
            ("group", "upgradeable".into()),
            ("isPaperShip", false.into()),
            ("level", 9.into()),
        ],
    );
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
    put(
        &mut all,
        "PJSD999_Test",
        4_179_506_416,
        info("Ship", "Japan", Some("Destroyer")),
        vec![
            ("Hull", hull(DESTROYER, 18_500.0, &destroyer_plates(seed))),
            ("group", "special".into()),
            ("isPaperShip", true.into()),
            ("level", 10.into()),
        ],
    );
    let mut own = gun("PAGM900_406mm_50", 4_280_000_000, GUN, &GUN_PLATES);
    all.push(("PAGM900_406mm_50".into(), Data::object("GPData", own.clone())));
    own[0].1 = 4_280_000_016.into();
    own[1].1 = "PAGM901".into();
    own[2].1 = "PAGM901_On_No_Ship".into();
    own[8].1 = "content/gameplay/usa/gun/main/AGM901/AGM901.model".into();
    all.push(("PAGM901_On_No_Ship".into(), Data::object("GPData", own)));
    for (name, id, kind, damage, burn) in [
        ("PAPA901_406_AP", 4_281_000_000, "AP", 13_500.0, -0.5),
        ("PAPA902_406_HE", 4_281_000_016, "HE", 5_700.0, 0.36),
    ] {
        let shell = vec![
            ("alphaDamage", Data::from(damage)),
            ("alphaPiercingHE", 67.0.into()),
            ("ammoType", kind.into()),
            ("bulletAirDrag", 0.352.into()),
            ("bulletDiametr", 0.406.into()),
            ("bulletKrupp", 2520.0.into()),
            ("bulletMass", 1225.0.into()),
            ("bulletSpeed", 762.0.into()),
            ("burnProb", burn.into()),
        ];
        put(&mut all, name, id, info("Projectile", "USA", Some("Artillery")), shell);
    }
    let modernization = |ships: &[&str], levels: &[i64], types: &[&str]| {
        vec![
            ("excludes", texts(&["PASB901_Somewhere"])),
            ("group", texts(&[])),
            ("modifiers", Data::dict([("GMRotationSpeed", 1.15.into())])),
            ("nation", texts(&[])),
            ("shiplevel", levels.to_vec().into()),
            ("ships", texts(ships)),
            ("shiptype", texts(types)),
            ("slot", 2.into()),
        ]
    };
    let common = |kind: &str| info(kind, "Common", None);
    put(
        &mut all,
        "PCM001_MainGun_Mod_I",
        4_290_000_000,
        common("Modernization"),
        modernization(&[], &[9], &["Battleship"]),
    );
    put(&mut all, "PCM002_Own", 4_290_000_016, common("Modernization"), modernization(&["PJSD999_Test"], &[], &[]));
    let variant = |reload: f64| {
        Data::dict([
            ("consumableType", Data::from("scout")),
            ("numConsumables", 3.into()),
            ("reloadTime", reload.into()),
            ("workTime", 100.0.into()),
        ])
    };
    let ability = vec![("Default", variant(240.0)), ("Nowhere", variant(180.0)), ("canBuy", false.into())];
    put(&mut all, "PCY013_Spotter", 4_291_000_000, common("Ability"), ability);
    if !paths.is_empty() {
        let textures = paths.iter().map(|path| Data::from(path.as_str())).collect::<Vec<_>>();
        put(&mut all, "PAES900_Paint", 4_292_000_000, common("Exterior"), vec![("textures", textures.into())]);
    }
    if size == Size::Full {
        let mut random = fastrand::Rng::with_seed(seed);
        for n in 0..10_000i64 {
            let numbers: Vec<f64> = (0..40).map(|_| random.f64() * 100.0).collect();
            let more = vec![
                ("values", numbers.into()),
                ("flag", random.bool().into()),
                ("modifiers", Data::dict((0..20).map(|i| (format!("modifier{i}"), Data::from(random.i64(0..500)))))),
            ];
            put(&mut all, &format!("PCXX{n:05}_Unit"), 4_000_000_000 + n, common("Unit"), more);
        }
    }
    Data::Dict(all)
}

/// A `.mo` of these ids and texts. Forms by number stand one after another, with a NUL between them.
pub fn mo(texts: &[(&str, &str)]) -> Vec<u8> {
    let mut texts = texts.to_vec();
    texts.sort_unstable();
    let count = texts.len();
    let mut w = Writer::new();
    for number in [0x9504_12DE, 0, count as u32, 28, 28 + count as u32 * 8, 0, 28 + count as u32 * 16] {
        w.u32(number);
    }
    let mut at = 28 + count * 16;
    for text in texts.iter().map(|(id, _)| id).chain(texts.iter().map(|(_, text)| text)) {
        w.u32(text.len() as u32);
        w.u32(at as u32);
        at += text.len() + 1;
    }
    for text in texts.iter().map(|(id, _)| id).chain(texts.iter().map(|(_, text)| text)) {
        w.push(text);
        w.push([0]);
    }
    w.into_bytes()
}

/// The texts of [`demo`].
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
    let more: Vec<(String, String)> = match size {
        Size::Small => Vec::new(),
        Size::Full => (0..30_000).map(|n| (format!("IDS_MORE_{n:05}"), format!("text number {n}"))).collect(),
    };
    texts.extend(more.iter().map(|(id, text)| (id.as_str(), text.as_str())));
    mo(&texts)
}
