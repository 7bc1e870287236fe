//! The parameters of the world: five ships of three nations with their guns, shells and modules, and the texts that name them.

use super::cruiser::{ARMOR, FLEET, MOUNTS, PLACES, SPLASH};
use super::database::{Build, mount_path};
use crate::wows::gameparams::{self, hit_location, info, put, texts, upgrade, whole_armor};
use crate::wows::pickle::{Data, dict, members};

struct Ship {
    name: &'static str,
    /// Her model, by number in [`FLEET`].
    model: usize,
    nation: &'static str,
    species: &'static str,
    level: i64,
    health: f64,
    /// How thick her plates are, in hundredths of the plates of the *Aurora*.
    armor: f64,
    speed: f64,
    /// The first build that has her.
    since: Build,
    /// Her title in English and in German.
    titles: [&'static str; 2],
    year: &'static str,
}

const SHIPS: [Ship; 5] = [
    Ship {
        name: "PXSC501_Aurora_1942",
        model: 0,
        nation: "Events",
        species: "Cruiser",
        level: 7,
        health: 34_200.0,
        armor: 100.0,
        speed: 32.5,
        since: Build::Before,
        titles: ["Aurora", "Aurora"],
        year: "1942",
    },
    Ship {
        name: "PXSC502_Borealis_1944",
        model: 1,
        nation: "Events",
        species: "Cruiser",
        level: 8,
        health: 38_900.0,
        armor: 120.0,
        speed: 33.0,
        since: Build::Now,
        titles: ["Borealis", "Nordlicht"],
        year: "1944",
    },
    Ship {
        name: "PGSC522_Seeadler",
        model: 0,
        nation: "Germany",
        species: "Cruiser",
        level: 6,
        health: 31_500.0,
        armor: 90.0,
        speed: 32.0,
        since: Build::Before,
        titles: ["Seeadler", "Seeadler"],
        year: "1938",
    },
    Ship {
        name: "PGSB521_Nordmark_1939",
        model: 3,
        nation: "Germany",
        species: "Battleship",
        level: 8,
        health: 62_300.0,
        armor: 310.0,
        speed: 29.5,
        since: Build::Before,
        titles: ["Nordmark", "Nordmark"],
        year: "1939",
    },
    Ship {
        name: "PJSD511_Hoshikaze",
        model: 2,
        nation: "Japan",
        species: "Destroyer",
        level: 6,
        health: 13_900.0,
        armor: 20.0,
        speed: 37.5,
        since: Build::Before,
        titles: ["Hoshikaze", "Sternenwind"],
        year: "1936",
    },
];

/// The guns, torpedo tubes and their shells: the mount, the name, the kind, the calibre, the reload, and the shells.
const GUNS: [(&str, &str, f64, f64, &[&str]); 3] = [
    ("PXGM101_152mm_Triple", "Main", 0.152, 7.5, &["PXPA101_152mm_AP", "PXPA102_152mm_HE"]),
    ("PXGS102_100mm_Twin", "Secondary", 0.1, 4.0, &["PXPA103_100mm_HE"]),
    ("PXGT103_533mm_Triple", "Torpedo", 0.533, 92.0, &["PXPT104_533mm"]),
];

/// A shell or a torpedo: its name, its kind of ammunition, calibre, damage, mass, speed, and its chance of fire.
type Shell = (&'static str, &'static str, f64, f64, f64, f64, f64);

const SHELLS: [Shell; 4] = [
    ("PXPA101_152mm_AP", "AP", 0.152, 3_200.0, 50.8, 841.0, -0.5),
    ("PXPA102_152mm_HE", "HE", 0.152, 2_200.0, 50.8, 841.0, 0.12),
    ("PXPA103_100mm_HE", "HE", 0.1, 1_400.0, 15.9, 900.0, 0.06),
    ("PXPT104_533mm", "torpedo", 0.533, 16_100.0, 1_665.0, 32.0, 0.0),
];

/// A modernization: its name, slot, levels, types of ships, and titles.
type Module = (&'static str, i64, &'static [i64], &'static [&'static str], [&'static str; 2]);

const MODULES: [Module; 3] = [
    (
        "PCM001_MainGun_Mod_I",
        2,
        &[5, 6, 7, 8],
        &["Battleship", "Cruiser"],
        ["Main Battery Modification 1", "Hauptbatterie-Modifikation 1"],
    ),
    (
        "PCM002_Torpedo_Mod_I",
        2,
        &[6, 7, 8],
        &["Cruiser", "Destroyer"],
        ["Torpedo Tubes Modification 1", "Torpedowerfer-Modifikation 1"],
    ),
    ("PCM003_Engine_Mod_I", 3, &[], &[], ["Propulsion Modification 1", "Antriebs-Modifikation 1"]),
];

/// The name of the camouflage in `camouflages.xml`, and of what the ships wear.
pub const CAMOUFLAGE: [&str; 2] = ["camo_splinter_north", "PXEP105_Splinter"];

fn thickness(ship: &Ship) -> Vec<(u16, u16, f64)> {
    let scaled = ARMOR.iter().map(|(layer, material, mm)| (*layer, *material, (mm * ship.armor / 100.0).round()));
    // The plates of mounts that stand in the file of the whole ship.
    let mounts = MOUNTS[0].armor.iter().map(|(material, mm)| (1, *material, *mm));
    scaled.chain(mounts).collect()
}

fn hull(ship: &Ship, health: f64) -> Data {
    let boxes =
        |part: &str| SPLASH.iter().map(|(name, ..)| *name).filter(|name| name.contains(part)).collect::<Vec<_>>();
    let part = |kind: &str, share: f64, part: &str| hit_location(kind, (health * share).round(), &boxes(part));
    dict! {
        "Bow": part("simple_hitlocation", 0.12, "_bow_"),
        "Cit": part("citadel_hitlocation", 0.5, "_cit_"),
        "SS": part("simple_hitlocation", 0.15, "_ss_"),
        "St": part("simple_hitlocation", 0.12, "_stern_"),
        "armor": whole_armor(&thickness(ship)),
        "draft": 6.0, "health": health, "maxSpeed": ship.speed,
        "model": format!("{}.model", FLEET[ship.model].path()),
        "size": vec![186.0, 19.8, 47.0], "visibilityFactor": 11.4,
    }
}

fn mount(number: usize, build: Build) -> Data {
    let (name, species, calibre, reload, shells) = GUNS[number];
    let reload = if number == 0 && build == Build::Before { 8.5 } else { reload };
    let plates: Vec<(u16, u16, f64)> = MOUNTS[number].armor.iter().map(|(material, mm)| (1, *material, *mm)).collect();
    let members = members! {
        "id": 4_270_000_000 + number as i64, "index": gameparams::index_of(name), "name": name,
        "typeinfo": info("Gun", "Events", Some(species)), "ammoList": texts(shells), "armor": whole_armor(&plates),
        "barrelDiameter": calibre, "model": format!("{}.model", mount_path(number)),
        "numBarrels": MOUNTS[number].muzzles.len() as i64, "rotationSpeed": vec![8.0, 8.0], "shotDelay": reload,
    };
    Data::Object("GPData", members)
}

fn ship(all: &mut Vec<(Data, Data)>, ship: &Ship, id: i64, build: Build) {
    let index = gameparams::index_of(ship.name);
    let fitted = |number: usize| {
        let here = FLEET[ship.model].mounts.iter().map(|place| PLACES[*place]).filter(|place| place.mount == number);
        let mounts = here.map(|place| (Data::from(place.node), mount(number, build)));
        Data::Object("GPData", mounts.collect())
    };
    let components = [("A_Artillery", "artillery", 0), ("A_ATBA", "atba", 1), ("A_Torpedoes", "torpedoes", 2)];
    let has = |number: usize| FLEET[ship.model].mounts.iter().any(|place| PLACES[*place].mount == number);
    let sold = |hull: &str| {
        let fitted = components.iter().filter(|(.., number)| has(*number));
        let fitted = fitted.map(|(component, kind, _)| (Data::from(*kind), texts(&[component])));
        Data::Dict(fitted.chain([(Data::from("hull"), texts(&[hull]))]).collect())
    };
    let [a, b] = ["HULL_A", "HULL_B"].map(|end| format!("{index}_{end}"));
    let upgrades = Data::dict([
        (a.as_str(), upgrade("_Hull", "", sold("A_Hull"))),
        (b.as_str(), upgrade("_Hull", &a, sold("B_Hull"))),
    ]);
    let mut more = members! {
        "A_Hull": hull(ship, ship.health - 3_000.0), "B_Hull": hull(ship, ship.health), "ShipUpgradeInfo": upgrades,
        "group": if ship.nation == "Events" { "special" } else { "upgradeable" }, "isPaperShip": ship.nation == "Events",
        "level": ship.level,
    };
    more.extend(
        components
            .iter()
            .filter(|(.., number)| has(*number))
            .map(|(name, _, number)| ((*name).into(), fitted(*number))),
    );
    if ship.nation == "Events" {
        more.extend(members! { "nativePermoflage": CAMOUFLAGE[1], "permoflages": texts(&[CAMOUFLAGE[1]]) });
    }
    put(all, ship.name, id, info("Ship", ship.nation, Some(ship.species)), more);
}

/// The `GameParams.data` of a build.
pub fn parameters(build: Build) -> Vec<u8> {
    let mut all = Vec::new();
    for (ship, id) in SHIPS.iter().zip(4_180_000_000..).filter(|(ship, _)| ship.since <= build) {
        self::ship(&mut all, ship, id, build);
    }
    all.extend((0..GUNS.len()).map(|number| (GUNS[number].0.into(), mount(number, build))));
    for ((name, ammo, calibre, damage, mass, speed, burn), id) in SHELLS.into_iter().zip(4_281_000_000..) {
        let species = if ammo == "torpedo" { "Torpedo" } else { "Artillery" };
        let shell = members! {
            "alphaDamage": damage, "ammoType": ammo, "bulletAirDrag": 0.32, "bulletDiametr": calibre, "bulletKrupp": 2216.0,
            "bulletMass": mass, "bulletSpeed": speed, "burnProb": burn,
        };
        put(&mut all, name, id, info("Projectile", "Events", Some(species)), shell);
    }
    for ((name, slot, levels, types, _), id) in MODULES.into_iter().zip(4_290_000_000..) {
        let module = members! {
            "excludes": texts(&[]), "group": texts(&[]), "modifiers": dict! { "GMShotDelay": 0.95 }, "nation": texts(&[]),
            "shiplevel": levels.to_vec(), "ships": texts(&[]), "shiptype": texts(types), "slot": slot,
        };
        put(&mut all, name, id, info("Modernization", "Common", None), module);
    }
    let usual = dict! { "consumableType": "scout", "numConsumables": 3, "reloadTime": 240.0, "workTime": 100.0 };
    put(
        &mut all,
        "PCY013_Spotter",
        4_291_000_000,
        info("Ability", "Common", None),
        members! { "Default": usual, "canBuy": false },
    );
    let paint = members! { "camouflage": CAMOUFLAGE[0] };
    put(&mut all, CAMOUFLAGE[1], 4_292_000_000, info("Exterior", "Common", Some("Permoflage")), paint);
    gameparams::file(&gameparams::root(Data::Dict(all)).pickle())
}

/// The languages of the texts.
pub const LANGUAGES: [&str; 2] = ["en", "de"];

/// The `global.mo` of a language, by its number.
pub fn titles(language: usize) -> Vec<u8> {
    let header = format!("Content-Type: text/plain; charset=UTF-8\nLanguage: {}\n", LANGUAGES[language]);
    let mut all = vec![(String::new(), header)];
    for ship in &SHIPS {
        let index = gameparams::index_of(ship.name);
        all.push((format!("IDS_{index}"), ship.titles[language].to_owned()));
        all.push((format!("IDS_{index}_YEAR"), ship.year.to_owned()));
    }
    let things = [
        ("PXGM101_152mm_Triple", ["152 mm/50 in a triple turret", "152 mm/50 im Drillingsturm"]),
        ("PXGS102_100mm_Twin", ["100 mm/56 in a twin mount", "100 mm/56 in Doppellafette"]),
        ("PXGT103_533mm_Triple", ["533 mm triple torpedo tube", "533-mm-Drillingstorpedorohr"]),
        ("PXPA101_152mm_AP", ["152 mm AP", "152 mm Panzerbrechend"]),
        ("PXPA102_152mm_HE", ["152 mm HE", "152 mm Spreng"]),
        ("PXPA103_100mm_HE", ["100 mm HE", "100 mm Spreng"]),
        ("PXPT104_533mm", ["533 mm Mk. 7", "533 mm Mk. 7"]),
        ("PCY013_Spotter", ["Spotting Aircraft", "Aufklärungsflugzeug"]),
        ("PXEP105_Splinter", ["Northern Splinters", "Nordsplitter"]),
    ];
    all.extend(things.map(|(name, titles)| (format!("IDS_{}", name.to_uppercase()), titles[language].to_owned())));
    all.extend(
        MODULES.map(|(name, .., titles)| (format!("IDS_TITLE_{}", name.to_uppercase()), titles[language].to_owned())),
    );
    gameparams::mo(&all.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect::<Vec<_>>())
}
