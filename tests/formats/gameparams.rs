//! Parameters and texts of World of Warships: pickles by every protocol, hostile ones, tables, and plates of models.

use crate::common::samples;
use assetq::formats::Reader;
use assetq::formats::report::Progress;
use assetq::formats::wows::gameparams::{NodeKind, Params, Pickle};
use assetq::query::archive::names::NameSources;
use assetq::table::{Tree, Value};
use assetq::{Asset, Options, Source};
use assetq_sample::gameparams::{GUN, HULL, demo, demo_mo, entities, file, mir_korabley, mo, root};
use assetq_sample::geometry::{battleship, gun};
use assetq_sample::pickle::Data;
use assetq_sample::{Size, wows};
use std::sync::Arc;
use std::time::Instant;

/// One ship, written by CPython in every protocol and with every root; and texts of Python 2. Three lines each: a title, the
/// pickle, and the file.
const VECTORS: &str = include_str!("vectors/gameparams.txt");

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The title of each vector, the pickle, and the file.
fn vectors() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let lines: Vec<&str> = VECTORS.lines().collect();
    lines.chunks(3).map(|three| (three[0].to_owned(), bytes(three[1]), bytes(three[2]))).collect()
}

fn params(bytes: Vec<u8>) -> Params {
    Params::open(Source::from_vec("GameParams.data", bytes)).unwrap()
}

fn pickle(bytes: &[u8]) -> assetq::Result<Pickle> {
    Pickle::read(Source::from_vec("pickle", bytes.to_vec()))
}

/// All cells of a table, as texts.
fn rows(reader: &dyn Reader, name: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let table = reader.table(name).unwrap_or_else(|| panic!("no table {name}"));
    let number = |name: &&str| table.columns().iter().position(|c| c.name == *name).unwrap_or_else(|| panic!("{name}"));
    let columns: Vec<usize> = columns.iter().map(number).collect();
    let mut cursor = table.cursor(0);
    let mut rows = Vec::new();
    while cursor.advance().unwrap() {
        let row: Vec<String> = columns.iter().map(|c| cursor.value(*c).unwrap().to_string()).collect();
        for (cell, column) in row.iter().zip(&columns) {
            assert_eq!(table.value(cursor.row(), *column).unwrap().to_string(), *cell, "{name} {}", cursor.row());
        }
        rows.push(row);
    }
    assert_eq!(table.len().unwrap(), rows.len());
    rows
}

#[test]
fn every_protocol_and_root_reads_the_same_ship() {
    let mut all = vectors();
    let (_, _, python2) = all.pop().unwrap();
    assert_eq!(
        rows(&params(python2), "fields", &["entity", "path", "kind", "value"]),
        [["name", "", "text", "Kl\u{e9}b."]]
    );
    assert_eq!(all.len(), 12);
    for (what, pickle, stored) in all {
        assert_eq!(self::pickle(&pickle).unwrap().source().bytes(), pickle, "{what}");
        let params = params(stored);
        assert_eq!(params.pickle().unwrap().source().bytes(), pickle, "{what}: the file holds the pickle");
        let fields: Vec<String> =
            rows(&params, "fields", &["path", "kind", "value"]).into_iter().map(|row| row.join(" ")).collect();
        let expected = [
            "name text PJSD999_Test",
            "index text PJSD999",
            "id int 4179506384",
            "level int 10",
            "isPaperShip bool false",
            "typeinfo.type text Ship",
            "typeinfo.nation text Japan",
            "typeinfo.species text Destroyer",
            "A_Hull.model text content/gameplay/japan/ship/destroyer/JSD999/JSD999.model",
            "A_Hull.armor[1] float 0",
            "A_Hull.armor[65583] float 20",
            "A_Hull.armor[131128] float 19",
            "A_Hull.health float 18500",
            "A_Hull.burnNodes[0][0] float 0.5",
            "A_Hull.burnNodes[0][1] float 0.3",
            "A_Hull.burnNodes[0][2] float 30",
            "A_Hull.x null ",
        ];
        assert_eq!(fields, expected, "{what}");
        assert!(params.verify(&Default::default()).is_ok(), "{what}");
        for query in ["PJSD999_Test", "PJSD999", "4179506384"] {
            assert_eq!(params.find(query).unwrap().unwrap().name().unwrap(), "PJSD999_Test", "{what} {query}");
        }
        assert_eq!(
            rows(&params, "armor", &["ship", "component", "layer", "material_id", "thickness"]),
            [["PJSD999_Test", "A_Hull", "1", "47", "20"], ["PJSD999_Test", "A_Hull", "2", "56", "19"]],
            "{what}"
        );
    }
}

#[test]
fn every_cut_of_every_vector_is_an_error() {
    for (what, whole, _) in vectors() {
        for end in 0..whole.len() {
            assert!(pickle(&whole[..end]).is_err(), "{what} {end}");
        }
    }
}

#[test]
fn what_pickles_can_do_besides_data_is_refused_with_its_offset() {
    for (bytes, error) in [
        (
            &b"cos\nsystem\n(S'true'\ntR."[..],
            "the global os.system, which parameters of the game do not use, is not supported (at offset 0x0)",
        ),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "the global os.system"),
        (
            b"ccopy_reg\n_reconstructor\n(cGameParams\nGPData\nc__builtin__\nobject\nI1\ntR.",
            "takes a class, object and None",
        ),
        (b"cGameParams\nGPData\n)R.", "a class is called"),
        (b"cGameParams\nGPData\nK\x01\x85\x81.", "an object is made with arguments"),
        (b"cGameParams\nGPData\n)\x81K\x01b.", "the attributes of an object are a value"),
        (b"cGameParams\nGPData\n)\x81}b}b.", "an object gets attributes twice"),
        (b"}K\x01K\x02sb.", "nothing is on the stack"),
        (b"]K\x01s.", "nothing is on the stack"),
        (b"}]K\x01s.", "a list is a key"),
        (b"](K\x01u.", "a dictionary is needed to put values into, not a list"),
        (b"}(K\x01u.", "a key without a value"),
        (b"}K\x01a.", "a list is needed to put values into, not a dictionary"),
        (b"e.", "no mark is set"),
        (b"0.", "nothing is on the stack"),
        (b"(.", "nothing is on the stack"),
        (b"K\x01K\x02.", "more than one value is left"),
        (b"K\x01(.", "nothing is on the stack"),
        (b"h\x07.", "slot 7 of the memo is empty"),
        (b"]r\xF0\xFF\xFF\xFF.", "slot of the memo: 4294967280 is more than the limit"),
        (b"]p-1\n.", "\"-1\" is no slot of the memo"),
        (b"T\xFF\xFF\xFF\xFFabc.", "4294967295 bytes needed"),
        (b"X\x04\0\0\0abc", "4 bytes needed, 3 left (at offset 0x5)"),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffa.", "bytes needed"),
        (b"\x80\x09.", "protocol: 9 is not allowed"),
        (b"Pid\n.", "the opcode 0x50 (PERSID) is not supported"),
        (b"Q.", "BINPERSID"),
        (b"(ios\nsystem\n.", "INST"),
        (b"\x82\x01.", "EXT1"),
        (b"\x83\x01\0.", "EXT2"),
        (b"\x84\x01\0\0\0.", "EXT4"),
        (b"\x92.", "NEWOBJ_EX"),
        (b"\x96.", "BYTEARRAY8"),
        (b"\x97.", "NEXT_BUFFER"),
        (b"\x98.", "READONLY_BUFFER"),
        (b"K\x01K\x02\x93.", "a global is named by two texts"),
        (b"K\x01)\x81.", "an object is made of a value without values in it"),
        (b"])\x81.", "an object is made of a list"),
        (b"))\x81.", "an object is made of a tuple"),
        (b"\x8f)\x81.", "an object is made of a set"),
        (b"})\x81.", "an object is made of a dictionary"),
        (b"cGameParams\nGPData\n)\x81)\x81.", "an object is made of an object"),
        (b"ccopy_reg\n_reconstructor\n)\x81.", "an object is made of copy_reg._reconstructor"),
        (b"c__builtin__\nobject\n)\x81.", "an object is made of __builtin__.object"),
        (b"\xff.", "the opcode 0xff (which Python does not have)"),
        (b"K\x01", "the pickle ends without STOP (at offset 0x2)"),
        (b"\x95\xff\0\0\0\0\0\0\0N.", "255 bytes needed"),
    ] {
        let found = pickle(bytes).unwrap_err().to_string();
        assert!(found.contains(error), "{bytes:?}: {found}");
        assert!(found.starts_with("pickle: ") && found.contains("(at offset 0x"), "{found}");
    }
}

/// Opcodes of old protocols, and those that move values on the stack, leave what Python leaves.
#[test]
fn values_are_put_together_as_python_does() {
    for (value, fields) in [
        (&b"(K\x01K\x02d"[..], &["b[1] int 2"][..]),
        (b"(K\x01K\x02l", &["b[0] int 1", "b[1] int 2"]),
        (b"(K\x01K\x02\x91", &["b[0] int 1", "b[1] int 2"]),
        // A value twice, one taken away, all of them up to a mark, and a mark alone.
        (b"(K\x052l", &["b[0] int 5", "b[1] int 5"]),
        (b"]K\x01K\x020a", &["b[0] int 1"]),
        (b"]K\x01(K\x02K\x031a", &["b[0] int 1"]),
        (b"K\x07(0", &["b int 7"]),
        // Two stretches of one list, and nothing between them.
        (b"](K\x01e(e]0(K\x02e", &["b[0] int 1", "b[1] int 2"]),
        (b"\x8c\x0aGameParams\x8c\x06GPData\x93)\x81}U\x01cNsb", &["b.c null "]),
        (b"X\x0a\0\0\0GameParamsX\x06\0\0\0GPData\x93)\x81}U\x01cNsb", &["b.c null "]),
    ] {
        let params = params(file(&[b"}U\x01a}U\x01b", value, b"ss."].concat()));
        let found = rows(&params, "fields", &["path", "kind", "value"]);
        assert_eq!(found.iter().map(|row| row.join(" ")).collect::<Vec<_>>(), fields, "{value:?}");
    }
}

#[test]
fn verify_names_the_entity_and_what_is_wrong_with_it() {
    for (root, expected) in [
        (&b"}U\x01a}U\x04nameU\x01bss."[..], "entities: a: pickle: its name is not its key (at offset 0x1)"),
        (b"}K\x07}U\x01xNss.", "entities: : pickle: its key is no text (at offset 0x1)"),
        (b"}(U\x01a}U\x01xNsU\x01a}U\x01yNsu.", "entities: a: pickle: an earlier entity has its name (at offset 0xb)"),
        (
            b"}(U\x01a}U\x02idK\x05sU\x01b}U\x02idK\x05su.",
            "entities: b: pickle: an earlier entity has its id, 5 (at offset 0xd)",
        ),
        (
            b"}U\x01a}(U\x01xNU\x01xNus.",
            "values: a: pickle: a key that the dictionary has already: the last one counts (at offset 0xa)",
        ),
        (b"}U\x01a}U\x01xFy\nss.", "values: a: pickle: \"y\" is no number (at offset 0x8)"),
        (b"}U\x01a}X\x01\0\0\0\xE4Nss.", "values: a: pickle: "),
        (
            b"]K\x01a.",
            "entities: pickle: the root is of kind list, and no dictionary of entities is in it (at offset 0x1)",
        ),
        (b"}.N", "pickle: pickle: 1 bytes after its end (at offset 0x2)"),
    ] {
        let report = params(file(root)).verify(&Progress::default());
        let found: Vec<String> =
            report.checks.iter().flat_map(|c| c.findings().iter().map(|e| format!("{}: {e}", c.name))).collect();
        assert!(found.len() == 1 && found[0].starts_with(expected), "{root:?}: {found:?}");
    }
    // A dictionary that the root lists twice has its entities once.
    let shared = params(file(b"](}q\0U\x01a}U\x02idK\x05ssh\0e."));
    assert_eq!(shared.len().unwrap(), 1);
    assert!(shared.verify(&Progress::default()).is_ok());
}

/// Python takes a tuple as a key, whatever is in it; a class in it has no text.
#[test]
fn a_key_with_a_class_in_it_is_damage() {
    let params = params(file(b"}U\x01a}cGameParams\nGPData\n\x85K\x01ss."));
    let error = params.cat("a", &mut Tree::default()).unwrap_err().to_string();
    assert!(error.contains("a class is part of a key"), "{error}");
    assert!(!params.verify(&Default::default()).is_ok());
}

#[test]
fn lists_that_double_and_nest_cost_what_they_take_in_the_file() {
    // Each list holds the one before twice: 2 to the power of 60 leaves.
    let mut bomb = b"}U\x01a]K\x01aq\x00".to_vec();
    for n in 0..60u8 {
        bomb.extend([b']', b'q', n + 1, b'h', n, b'a', b'h', n, b'a']);
        // The stack keeps the newest alone.
        bomb.extend([b'q', n + 1, b'0', b'0', b'h', n + 1]);
    }
    bomb.extend(b"s.");
    let params = params(file(&bomb));
    assert_eq!(params.len().unwrap(), 1);
    let error = params.table("fields").unwrap().len().unwrap_err().to_string();
    assert!(error.contains("values, which are shared"), "{error}");
    assert!(params.cat("a", &mut Tree::default()).is_err());
    assert!(!params.verify(&Default::default()).is_ok());
    // Two million lists in each other, of a byte and of seven for each.
    for (open, close) in [(&b"]"[..], &b"a"[..]), (b"]q\x00", b"a")] {
        let nested = [b"}U\x01a".to_vec(), open.repeat(2_000_000), close.repeat(1_999_999), b"s.".to_vec()].concat();
        match pickle(&nested) {
            // More memory than such a pickle may take.
            Err(error) => assert!(error.to_string().contains("bytes of values in memory"), "{error}"),
            Ok(read) => {
                assert!(read.arena_size() < nested.len() * 8);
                let params = self::params(file(&nested));
                let fields = params.table("fields").unwrap();
                assert_eq!(fields.len().unwrap(), 1);
                assert!(fields.value(0, 3).unwrap_err().to_string().contains("depth of values in values"));
            }
        }
    }
    let deep = [b"(".repeat(3_000_000), b"t".repeat(3_000_000), b".".to_vec()].concat();
    assert!(pickle(&deep).is_ok() || pickle(&deep).unwrap_err().to_string().contains("bytes of values in memory"));
}

#[test]
fn work_grows_with_the_values_and_not_with_their_square() {
    let long = [b"}U\x01a](".to_vec(), b"J\x01\0\0\0".repeat(400_000), b"es.".to_vec()].concat();
    let pairs = [b"}U\x01a}(".to_vec(), b"J\x01\0\0\0".repeat(400_000), b"us.".to_vec()].concat();
    for (bytes, leaves) in [(long, 400_000), (pairs, 200_000)] {
        let params = params(file(&bytes));
        assert_eq!(params.table("fields").unwrap().len().unwrap(), leaves);
        params.verify(&Default::default());
        assert!(params.cat("a", &mut Tree::default()).unwrap());
    }
    // One text of 64 KiB: each of 50,000 values, each of 50,000 keys, and a part of each of 50,000 paths.
    let text = [&b"X\0\0\x01\0"[..], &b"t".repeat(1 << 16), b"q\0"].concat();
    let values = [b"}U\x01a]".to_vec(), text.clone(), b"a(".to_vec(), b"h\0".repeat(50_000), b"es.".to_vec()].concat();
    let keys = [b"}U\x01a}".to_vec(), text.clone(), b"Ns(".to_vec(), b"h\0J\x01\0\0\0".repeat(50_000), b"us.".to_vec()]
        .concat();
    let paths = [b"}U\x01a}".to_vec(), text, b"](".to_vec(), b"J\x01\0\0\0".repeat(50_000), b"ess.".to_vec()].concat();
    for bytes in [values, keys, paths] {
        let params = params(file(&bytes));
        let fields = params.table("fields").unwrap();
        let mut cursor = fields.cursor(0);
        let error = loop {
            match cursor.advance() {
                Ok(more) => assert!(more, "all values are read"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("values, which are shared"), "{error}");
    }
}

#[test]
fn numbers_are_read_however_a_build_stores_them() {
    let mut all = entities(1, Size::Small, &[]);
    let ship = all.get_mut("PASB900_Nowhere");
    *ship.get_mut("level") = 9.0.into();
    *ship.get_mut("isPaperShip") = 1.into();
    let guns = ship.get_mut("A_Artillery");
    *guns.get_mut("HP_AGM_1").get_mut("numBarrels") = 4.0.into();
    *guns.get_mut("HP_AGM_2").get_mut("numBarrels") = 2.5.into();
    *guns.get_mut("HP_AGM_2").get_mut("rotationSpeed") = 7.5.into();
    let mod_of = all.get_mut("PCM001_MainGun_Mod_I");
    *mod_of.get_mut("slot") = 5.0.into();
    *mod_of.get_mut("shiplevel") = vec![9.0].into();
    let by_species =
        Data::dict([("AirCarrier", Data::from(0.87)), ("Cruiser", Data::List(vec![1.into(), Data::None]))]);
    *mod_of.get_mut("modifiers") = Data::dict([("GMRotationSpeed", by_species), ("one", 1.5.into())]);
    let params = params(file(&root(all).pickle()));
    assert_eq!(rows(&params, "ships", &["level", "paper"])[0], ["9", "true"]);
    let mounts = rows(&params, "mounts", &["barrels", "rotation_speed"]);
    assert_eq!(mounts[..3], [["4", "4"], ["2.5", "7.5"], ["3", "4"]]);
    let modifiers = "{GMRotationSpeed: {AirCarrier: 0.87, Cruiser: [1, ]}, one: 1.5}";
    assert_eq!(rows(&params, "modernizations", &["slot", "modifiers"])[0], ["5", modifiers]);
    let fitting = rows(&params, "modernization_ships", &["modernization", "ship", "slot"]);
    assert!(
        fitting.contains(&["PCM001_MainGun_Mod_I", "PASB900_Nowhere", "5"].map(String::from).to_vec()),
        "{fitting:?}"
    );
}

#[test]
fn parts_that_share_their_values_have_a_budget() {
    // 20,000 mounts that are one gun of 20,000 values.
    let gun = [&b"}(X\x05\0\0\0modelU\x01m"[..], &b"K\x01N".repeat(20_000), b"uq\0"].concat();
    let mounts = [&b"}(X\x03\0\0\0gun"[..], &gun, &b"X\x03\0\0\0HP_h\0".repeat(20_000), b"u"].concat();
    let params = params(file(&[&b"}U\x01a}X\x03\0\0\0art"[..], &mounts, b"ss."].concat()));
    let error = params.table("mounts").unwrap().len().unwrap_err().to_string();
    assert!(error.contains("values, which are shared"), "{error}");
}

#[test]
fn values_in_themselves_are_shown_once() {
    // {'a': {'b': <itself>}}
    let params = params(file(b"}U\x01a}q\x00U\x01bh\x00ss."));
    assert_eq!(rows(&params, "fields", &["path", "kind", "value"]), [["b", "dict", "-> "]]);
    let mut tree = Tree::default();
    assert!(params.cat("a", &mut tree).unwrap());
    assert_eq!(tree.into_value().to_string(), "{b: -> }");
}

#[test]
fn a_zlib_bomb_ends_at_the_limit() {
    let bomb = params(file(&vec![b'N'; 80 << 20]));
    let start = Instant::now();
    let error = bomb.pickle().unwrap_err().to_string();
    assert!(error.contains("decoded bytes") && error.contains("limit"), "{error}");
    // It goes off once, not for each table.
    let once = start.elapsed();
    let tables = bomb.tables();
    assert!(tables.len() > 10 && tables.iter().all(|table| table.len().is_err()));
    assert!(start.elapsed() < once * 4, "{:?} for one, {:?} for all", once, start.elapsed());
    let mut cut = file(b"]q\x00.");
    cut.remove(0);
    assert!(params(cut).pickle().unwrap_err().to_string().contains("zlib"));
    assert!(Params::open(Source::from_vec("GameParams.data", b"no zlib".to_vec())).is_err());
}

#[test]
fn keys_of_all_kinds_are_steps_of_paths() {
    let keys = [
        (Data::from("plain"), "plain"),
        (Data::from("0.5"), "[\"0.5\"]"),
        (Data::from(-3), "[-3]"),
        (Data::from(2.5), "[2.5]"),
        (Data::None, "[None]"),
        (Data::from(true), "[true]"),
        (Data::Tuple(vec![1.into(), "b".into()]), "[(1, b)]"),
    ];
    let dict = Data::Dict(keys.iter().map(|(key, _)| (key.clone(), Data::from(7))).collect());
    let params = params(file(&Data::dict([("a", Data::dict([("d", dict), ("empty", Data::List(vec![]))]))]).pickle()));
    let paths: Vec<String> = rows(&params, "fields", &["path"]).into_iter().map(|mut row| row.remove(0)).collect();
    let expected: Vec<String> = keys
        .iter()
        .map(|(_, step)| if step.starts_with('[') { format!("d{step}") } else { format!("d.{step}") })
        .chain(["empty".to_owned()])
        .collect();
    assert_eq!(paths, expected);
}

#[test]
fn tables_show_the_parts_of_ships() {
    let params = params(demo(1, Size::Small));
    let ship = |row: &Vec<String>| row[0] == "PASB900_Nowhere";
    let of_ship = |table: &str, columns: &[&str]| -> Vec<String> {
        rows(&params, table, columns).into_iter().filter(ship).map(|row| row[1..].join(" ")).collect()
    };
    assert_eq!(
        rows(&params, "ships", &["name", "index", "id", "nation", "species", "level", "group", "paper"])[0].join(" "),
        "PASB900_Nowhere PASB900 4179506384 USA Battleship 9 upgradeable false"
    );
    assert_eq!(
        of_ship("ship_upgrades", &["ship", "upgrade", "uc_type", "prev"]),
        ["PASB900_HULL_A _Hull ", "PASB900_HULL_B _Hull PASB900_HULL_A", "PASB900_ART _Artillery "]
    );
    assert_eq!(
        of_ship("ship_components", &["ship", "upgrade", "kind", "component"])[..2],
        ["PASB900_HULL_A artillery A_Artillery", "PASB900_HULL_A hull A_Hull"]
    );
    assert_eq!(
        of_ship("hulls", &["ship", "component", "model", "health"]),
        [format!("A_Hull {HULL} 70000"), format!("B_Hull {HULL} 78300")]
    );
    assert_eq!(
        of_ship("barbettes", &["ship", "component", "mount", "layer", "material_id"])[0],
        "A_Hull HP_AGM_1 1 134"
    );
    assert_eq!(
        of_ship("hit_locations", &["ship", "component", "name", "hl_type", "max_hp", "regenerated"])[0],
        "A_Hull Bow simple_hitlocation 8750 0.5"
    );
    assert_eq!(
        of_ship("hit_location_boxes", &["ship", "component", "hit_location", "box"])[..2],
        ["A_Hull Bow CM_SB_bow_0", "A_Hull Bow CM_SB_bow_1"]
    );
    assert_eq!(
        of_ship("mounts", &["ship", "component", "mount", "name", "model", "species", "barrels", "barrel_diameter"])[1],
        format!("A_Artillery HP_AGM_2 PAGM900_406mm_50 {GUN} Main 3 0.406")
    );
    assert_eq!(of_ship("ammo", &["ship", "component", "mount", "name"])[0], "A_Artillery HP_AGM_1 PAPA901_406_AP");
    assert_eq!(
        rows(&params, "projectiles", &["name", "ammo_type", "damage", "krupp", "burn_chance"])[1].join(" "),
        "PAPA902_406_HE HE 5700 2520 0.36"
    );
    assert_eq!(
        rows(&params, "modernization_ships", &["modernization", "ship"]),
        [["PCM001_MainGun_Mod_I", "PASB900_Nowhere"], ["PCM002_Own", "PJSD999_Test"]]
    );
    assert_eq!(
        rows(&params, "abilities", &["name", "variant", "reload_time"])[1].join(" "),
        "PCY013_Spotter Nowhere 180"
    );
    // A gun by itself has neither ship nor component.
    let guns = rows(&params, "armor", &["ship", "entity", "component", "mount", "thickness"]);
    assert!(guns.contains(&["", "PAGM900_406mm_50", "", "", "495"].map(str::to_owned).to_vec()));
    for (table, column, key, count) in [
        ("ships", "name", Value::text("PASB901_Somewhere"), 1),
        ("entities", "id", Value::Uint(4_179_506_400), 1),
        // Two plates, and the six of `ship.geometry`.
        ("armor", "ship", Value::text("PJSD999_Test"), 8),
        ("fields", "entity", Value::text("PJSD999_Test"), 44),
        ("fields", "entity", Value::text("nothing"), 0),
    ] {
        let table = params.table(table).unwrap();
        let column = table.columns().iter().position(|c| c.name == column).unwrap();
        let found = table.find(column, &key).unwrap().unwrap();
        assert_eq!(found.len(), count, "{} {key}", table.name());
        assert!(found.iter().all(|row| table.value(*row, column).unwrap() == key));
    }
}

/// A game's folder with the sample, opened.
fn game() -> (tempfile::TempDir, Asset) {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut write = crate::common::writer(dir.path());
        let put = |path: &str, bytes: &[u8]| {
            write(path, bytes.to_vec());
            Ok::<_, std::convert::Infallible>(())
        };
        wows::game(1, Size::Small, put).unwrap();
    }
    let asset = Asset::open_at(dir.path(), &Options::default()).unwrap();
    (dir, asset)
}

fn inside(dir: &tempfile::TempDir, path: &str) -> Asset {
    Asset::open_at(format!("{}:{path}", dir.path().display()), &Options::default()).unwrap()
}

#[test]
fn a_game_joins_titles_and_thickness() {
    let (dir, _) = game();
    let params = inside(&dir, "content/GameParams.data");
    assert_eq!(
        rows(params.reader(), "ships", &["name", "title"])[..2],
        [["PASB900_Nowhere", "Nowhere"], ["PASB901_Somewhere", "Somewhere"]]
    );
    assert_eq!(rows(params.reader(), "modernizations", &["title"])[0], ["Main Battery Modification 1"]);
    let geometry = inside(&dir, &HULL.replace(".model", ".geometry"));
    let plates = rows(geometry.reader(), "armor_plates", &["layer", "material_id", "thickness", "ship", "component"]);
    let belt: Vec<String> = plates.iter().filter(|row| row[1] == "61").take(4).map(|row| row[2..].join(" ")).collect();
    assert_eq!(
        belt,
        [
            "287 PASB900_Nowhere A_Hull",
            "307 PASB900_Nowhere B_Hull",
            "307 PASB901_Somewhere A_Hull",
            "327 PASB901_Somewhere B_Hull"
        ]
    );
    // 0 mm is a value, and a plate without an entry has none.
    let stated = |layer: &str, material: &str| {
        plates.iter().find(|row| row[0] == layer && row[1] == material).unwrap()[2].clone()
    };
    assert_eq!((stated("2", "64"), stated("1", "36")), ("0".to_owned(), String::new()));
    let triangles = geometry.reader().table("armor_triangles").unwrap();
    let own = Asset::open(Source::from_vec("ASB900.geometry", battleship())).unwrap();
    assert_eq!(triangles.len().unwrap(), 4 * own.reader().table("armor_triangles").unwrap().len().unwrap());
    // A mount's plates, and what the parameters do not know.
    let gun = inside(&dir, &GUN.replace(".model", ".geometry"));
    let plates = rows(gun.reader(), "armor_plates", &["material_id", "thickness", "ship", "component", "mounts"]);
    assert_eq!(plates[0].join(" "), "32 495 PASB900_Nowhere A_Artillery [HP_AGM_1, HP_AGM_2, HP_AGM_3]");
    assert_eq!(
        (plates.len(), plates[6].join(" ")),
        (8, "97  PASB900_Nowhere A_Artillery [HP_AGM_1, HP_AGM_2, HP_AGM_3]".to_owned())
    );
}

#[test]
fn a_file_by_itself_has_plates_once_and_no_thickness() {
    let alone = Asset::open(Source::from_vec("AGM900.geometry", gun())).unwrap();
    assert_eq!(
        rows(alone.reader(), "armor_plates", &["material_id", "thickness", "ship"])[0],
        ["32", "", ""].map(str::to_owned)
    );
    let mut names = NameSources::default();
    names.add_asset(Asset::from(params(demo(1, Size::Small))));
    let options = Options::default().with(Arc::new(names));
    let known = Asset::open_with(Source::from_vec("AGM900.geometry", gun()), &options).unwrap();
    assert_eq!(rows(known.reader(), "armor_plates", &["thickness", "ship"])[0], ["495", "PASB900_Nowhere"]);
    // Of a gun that is on no ship, the gun itself counts.
    let known = Asset::open_with(Source::from_vec("AGM901.geometry", gun()), &options).unwrap();
    assert_eq!(rows(known.reader(), "armor_plates", &["thickness", "entity"])[0], ["495", "PAGM901_On_No_Ship"]);
    // Damaged parameters are an error of these cells, and of no others.
    let mut names = NameSources::default();
    names.add_asset(Asset::from(params(file(b"K\x01"))));
    let options = Options::default().with(Arc::new(names));
    let broken = Asset::open_with(Source::from_vec("AGM900.geometry", gun()), &options).unwrap();
    let plates = broken.reader().table("armor_plates").unwrap();
    let column = plates.columns().iter().position(|c| c.name == "thickness").unwrap();
    assert!(plates.value(0, column).unwrap_err().to_string().contains("ends without STOP"));
    assert_eq!(plates.value(0, 2).unwrap(), Value::Uint(32));
}

/// gettext writes files in the byte order of the machine, and reads both.
#[test]
fn texts_of_the_other_byte_order_are_the_same_texts() {
    let bytes = demo_mo(1, Size::Small);
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (count, ids, texts) = (number(8), number(12), number(16));
    let mut swapped = bytes.clone();
    for range in [0..28, ids..ids + 8 * count, texts..texts + 8 * count] {
        for word in swapped[range].as_chunks_mut::<4>().0 {
            word.reverse();
        }
    }
    let [little, big] =
        [bytes, swapped.clone()].map(|bytes| Asset::open(Source::from_vec("global.mo", bytes)).unwrap());
    let [expected, found] =
        [&little, &big].map(|asset| rows(asset.reader(), "texts", &["id", "plural", "text", "offset"]));
    assert_eq!(found, expected);
    assert!(big.reader().verify(&Progress::default()).is_ok());
    assert_eq!(format!("{:?}", big.reader().sections()), format!("{:?}", little.reader().sections()));
    // Offsets beyond the file are errors there, too.
    swapped[12] = 0xFF;
    let error = Asset::open(Source::from_vec("global.mo", swapped)).unwrap_err();
    assert!(error.to_string().contains("ids"), "{error}");
}

#[test]
fn texts_are_found_by_their_ids() {
    let asset = Asset::open(Source::from_vec("global.mo", demo_mo(1, Size::Small))).unwrap();
    let texts = rows(asset.reader(), "texts", &["id", "plural", "text"]);
    assert!(texts.contains(&["IDS_PJSD999", "0", "Test\u{e4}"].map(str::to_owned).to_vec()));
    let shells: Vec<String> = texts.iter().filter(|row| row[0] == "IDS_SHELLS").map(|row| row[1..].join(" ")).collect();
    assert_eq!(shells, ["0 shell", "1 shells"]);
    let table = asset.reader().table("texts").unwrap();
    assert_eq!(table.find(0, &Value::text("IDS_SHELLS")).unwrap().unwrap().len(), 2);
    let titles = asset.reader().relations().unwrap().texts().unwrap();
    assert_eq!(titles.title("IDS_PASB900").unwrap().as_deref(), Some("Nowhere"));
    assert_eq!(titles.title("IDS_NOTHING").unwrap(), None);
    assert!(asset.reader().verify(&Default::default()).is_ok());
}

#[test]
fn damaged_texts_are_errors_of_their_own() {
    let whole = mo(&[("a", "one"), ("b", "two"), ("c", "three")]);
    let open = |bytes: Vec<u8>| Asset::open(Source::from_vec("global.mo", bytes));
    // More texts than the file has room for; a text that leaves it; one without a NUL.
    let with = |at: usize, value: u32| [&whole[..at], &value.to_le_bytes(), &whole[at + 4..]].concat();
    assert!(open(with(8, u32::MAX)).unwrap_err().to_string().starts_with("ids: "));
    for damaged in [with(28 + 4, 9999), with(28, 2), with(52 + 8, 2)] {
        let asset = open(damaged).unwrap();
        let report = asset.reader().verify(&Default::default());
        assert!(!report.is_ok());
    }
    // Tables of ids and texts that overlap, or begin in the header.
    for (at, value, part) in [(16, 28, "texts"), (16, 36, "texts"), (12, 8, "ids")] {
        let error = open(with(at, value)).unwrap_err().to_string();
        let expected = format!("{part}: the table of {part} overlaps another part (at offset {value:#x})");
        assert_eq!(error, expected);
    }
    // Out of order.
    let asset = open([&whole[..28], &whole[36..44], &whole[28..36], &whole[44..]].concat()).unwrap();
    assert!(!asset.reader().verify(&Default::default()).checks[1].is_ok());
}

/// A search does not end at a damaged id on its way. Of an id that is not found, it names the damage.
#[test]
fn a_text_is_found_beside_damaged_ids() {
    let whole = mo(&[("a", "one"), ("b", "two"), ("c", "three"), ("d", "four")]);
    let middle = 28 + 2 * 8 + 4;
    let damaged = [&whole[..middle], &9999u32.to_le_bytes(), &whole[middle + 4..]].concat();
    let asset = Asset::open(Source::from_vec("global.mo", damaged)).unwrap();
    let table = asset.reader().table("texts").unwrap();
    for (row, id) in [(0, "a"), (1, "b"), (3, "d")] {
        assert_eq!(table.find(0, &Value::text(id)).unwrap().unwrap(), [row], "{id}");
    }
    let error = table.find(0, &Value::text("c")).unwrap().unwrap_err().to_string();
    assert!(error.contains("(at offset 0x270f)"), "{error}");
}

/// A thousand ids that share one long text cost what the file is large, not a thousand times that.
#[test]
fn texts_that_overlap_have_a_budget() {
    let ids: Vec<String> = (0..1000).map(|n| format!("id{n:04}")).collect();
    let long = "x".repeat(100_000);
    let mut messages: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "")).collect();
    messages[0].1 = &long;
    let mut bytes = mo(&messages);
    let texts = 28 + 8 * 1000;
    let first = bytes[texts..texts + 8].to_vec();
    bytes[texts..texts + 8 * 1000].chunks_mut(8).for_each(|stretch| stretch.copy_from_slice(&first));
    let asset = Asset::open(Source::from_vec("global.mo", bytes)).unwrap();
    let error = asset.reader().table("texts").unwrap().len().unwrap_err().to_string();
    assert!(error.contains("bytes of texts, which overlap") && error.contains("(at offset 0x"), "{error}");
    assert!(!asset.reader().verify(&Default::default()).is_ok());
    let titles = asset.reader().relations().unwrap().texts().unwrap();
    assert_eq!(titles.title("id0500").unwrap().map(|text| text.len()), Some(100_000), "one text is found by its id");
}

#[cfg(feature = "cli")]
#[test]
fn the_command_answers_from_a_game_and_from_files() {
    use crate::common::run;
    let (dir, _) = game();
    let name = dir.path().file_name().unwrap().to_str().unwrap().to_owned();
    let place = dir.path().parent().unwrap();
    let hull = format!("{name}:{}", HULL.replace(".model", ".geometry"));
    let params = format!("{name}:content/GameParams.data");
    let plates = ["-t", "armor_plates", "-c", "thickness,ship,component", "-f", "csv"];
    let belt = |file: &str, more: &[&str]| {
        let args = [&["ls", file, "-w", "material_id = 61", "-n", "2", "--no-cache"][..], &plates, more].concat();
        run(place, 0, &args).0.replace("\r\n", "\n")
    };
    let expected = "thickness,ship,component\n287,PASB900_Nowhere,A_Hull\n307,PASB900_Nowhere,B_Hull\n";
    assert_eq!(belt(&hull, &[]), expected);
    let loose = dir.path().join("ASB900.geometry");
    std::fs::write(&loose, battleship()).unwrap();
    assert_eq!(belt(loose.to_str().unwrap(), &["--with", &params]), expected);
    assert_eq!(belt(loose.to_str().unwrap(), &[]), "thickness,ship,component\n,,\n,,\n");
    let (sql, _) =
        run(place, 0, &["sql", "SELECT count(*) AS n FROM armor_plates WHERE thickness = 0", &hull, "-f", "csv"]);
    assert_eq!(sql, "n\r\n4\r\n");
    // Drawings have the colours of the game's own view, and name them.
    let out = |ending: &str| dir.path().join(format!("out.{ending}")).to_str().unwrap().to_owned();
    let (_, said) = run(place, 0, &["export", &hull, "--to", &out("svg")]);
    assert!(
        said.contains("armour is as thick as that of PASB900_Nowhere A_Hull; it differs on PASB900_Nowhere B_Hull"),
        "{said}"
    );
    let svg = std::fs::read_to_string(out("svg")).unwrap();
    for part in ["#dc4e30", "160-399 mm", "thickness not stated", "61 Cit_Belt, 287 mm"] {
        assert!(svg.contains(part) || part.starts_with("61"), "{part}");
    }
    assert!(svg.contains(", 287 mm"), "parts say their thickness");
    run(place, 0, &["export", loose.to_str().unwrap(), "--with", &params, "--to", &out("glb")]);
    assert!(String::from_utf8_lossy(&std::fs::read(out("glb")).unwrap()).contains("160-399 mm"));
    let (json, _) = run(place, 0, &["cat", &params, "PASB900", "-f", "json"]);
    assert!(json.contains("\"health\": 78300.0") || json.contains("\"health\":78300"), "{json}");
    run(place, 1, &["cat", &params, "nothing"]);
    let texts = format!("{name}:texts/en/LC_MESSAGES/global.mo");
    assert!(run(place, 0, &["string", "IDS_PASB900", "--db", &texts]).0.contains("Nowhere"));
    assert!(run(place, 0, &["resolve", "IDS_PASB900", "--db", &texts]).0.contains("Nowhere"));
    assert!(run(place, 0, &["resolve", "PASB900", "--db", &params]).0.contains("PASB900_Nowhere"));
    // Who uses this model, and this gun.
    let refs = |of: &str| run(place, 0, &["refs", of, &params, "--from", "-f", "csv"]).0;
    assert!(refs(HULL).contains("PASB901_Somewhere,fields,B_Hull.model"), "{}", refs(HULL));
    assert!(refs("PAPA901_406_AP").contains("PASB900_Nowhere,fields,A_Artillery.HP_AGM_1.ammoList[0]"));
    // Another language than the folder has.
    let (ships, said) = run(place, 1, &["ls", &params, "-t", "ships", "-c", "title", "-f", "csv", "--lang", "de"]);
    assert!(ships.starts_with("title\r\n") && !ships.contains("Nowhere"), "{ships}");
    assert!(said.contains("no texts in the language \"de\"; there are en"), "{said}");
}

#[cfg(feature = "cli")]
#[test]
fn arenas_are_kept_and_mapped() {
    use assetq::query::archive::Cache;
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(dir.path().join("cache"));
    let options = Options::default().with(Arc::new(cache.clone()));
    let bytes = demo(1, Size::Full);
    let open = || Params::open_with(Source::from_vec("GameParams.data", bytes.clone()), &options).unwrap();
    let first = open();
    let count = first.table("fields").unwrap().len().unwrap();
    let files = cache.files().unwrap();
    let [kept] = &files[..] else { panic!("{files:?}") };
    cache.check(kept).unwrap();
    let again = open();
    assert_eq!(again.pickle().unwrap().source().bytes(), first.pickle().unwrap().source().bytes());
    assert_eq!(again.table("fields").unwrap().len().unwrap(), count);
    assert_eq!(rows(&again, "armor", &["ship", "thickness"]), rows(&first, "armor", &["ship", "thickness"]));
    let mut damaged = std::fs::read(&kept.path).unwrap();
    drop((first, again));
    let start = damaged.len() - 200_000;
    damaged[start..].iter_mut().step_by(3).for_each(|byte| *byte = !*byte);
    std::fs::write(&kept.path, &damaged).unwrap();
    assert!(cache.check(kept).unwrap_err().to_string().contains("CRC-32"));
    assert_eq!(open().table("fields").unwrap().len().unwrap(), count, "a changed file is not used");
    std::fs::write(&kept.path, &damaged[..100]).unwrap();
    assert_eq!(open().len().unwrap(), 10_010);
    assert_eq!(cache.clear().unwrap(), 1);
}

#[test]
fn real_values_read_as_published() {
    let Some(samples) = samples() else { return };
    let folder = samples.join("gameparams");
    let mut names = NameSources::default();
    names.add_file(&folder.join("global.mo"), &Options::default()).unwrap();
    let options = Options::default().with(Arc::new(names));
    let asset = Asset::open_at(folder.join("GameParams.data"), &options).unwrap();
    let params: &Params = asset.get().unwrap();
    assert_eq!((params.len().unwrap(), params.pickle().unwrap().left()), (13_801, 0));
    assert_eq!(params.table("fields").unwrap().len().unwrap(), 2_040_730);
    let ship = params.find("PZSD110").unwrap().unwrap();
    assert_eq!((ship.id(), params.title(&ship).unwrap().as_deref()), (Some(4_179_506_384), Some("Yueyang")));
    let hull = ship.hulls().next().unwrap();
    assert_eq!(hull.node.get("health").and_then(|health| health.number()), Some(18_500.0));
    assert_eq!(hull.armor().count(), 21);
    let plate = hull.armor().find(|plate| (plate.layer, plate.material) == (2, 56)).unwrap();
    assert_eq!(plate.thickness.number(), Some(19.0));
    assert_eq!(ship.mounts().filter(|mount| mount.component.unwrap().is_text("A1_Artillery")).count(), 3);
    assert_eq!(ship.node().kind(), NodeKind::Object);
}

/// Public readers describe these files; no real one was at hand.
#[test]
fn files_of_other_clients_hold_the_same_pickle() {
    let pickle = root(entities(1, Size::Small, &[])).pickle();
    let columns = ["name", "index", "title"];
    let of = |bytes: Vec<u8>| {
        let asset = Asset::open(Source::from_vec("x", bytes)).unwrap();
        assert_eq!(asset.format().name(), "gameparams");
        (rows(asset.reader(), "ships", &columns), asset.reader().sections()[0].name.to_string())
    };
    let (ships, section) = of(file(&pickle));
    assert_eq!(section, "zlib stream, backwards");
    let bytes = mir_korabley(&pickle);
    let section = "zlib stream, backwards, after %bin (not checked with real files)";
    assert_eq!(of(bytes.clone()), (ships, section.to_owned()));
    // Cut files end in errors at an offset.
    for end in (0..bytes.len()).step_by(997) {
        if let Ok(asset) = Asset::open(Source::from_vec("GameParams.data", bytes[..end].to_vec())) {
            assert!(asset.reader().table("ships").unwrap().len().is_err(), "{end} bytes");
        }
    }
}
