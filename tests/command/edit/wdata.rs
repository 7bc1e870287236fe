//! Maps: every field of every record, records in and out, read back through the offsets of the document, and compared with
//! files that were written without the reader's descriptions.

use crate::common::made::{cells, edited, undone};
use assetq::edit::read::{ChangesFormat, InputRow, rows};
use assetq::edit::{Change, Edit, Editor, EntryEdit, Outcome, patch};
use assetq::formats::rusty_hearts::wdata::{BoxType, TriggerLayout};
use assetq::table::{Accepts, Kind, Role, RowEdits, Table, Tree, Value, Visitor as _};
use assetq::{Asset, Options, Source};
use assetq_sample::Size;
use assetq_sample::wdata::{Spec, demo, write};

fn open(bytes: &[u8]) -> Asset {
    Asset::open(Source::from_vec("town.wdata", bytes.to_vec())).unwrap()
}

/// A map of the newest version as the document describes it, read without the library.
mod plain {
    pub fn u32(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    /// Reads a counted text, and returns the position after it.
    pub fn text(bytes: &[u8], at: usize) -> (String, usize) {
        let units = usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()));
        let end = at + 2 + 2 * units;
        let units: Vec<u16> = bytes[at + 2..end].chunks(2).map(|u| u16::from_le_bytes(u.try_into().unwrap())).collect();
        (String::from_utf16(&units).unwrap().trim_end_matches('\0').to_owned(), end)
    }

    /// Offset and count of a type in the table of event boxes.
    pub fn index(bytes: &[u8], number: usize) -> (usize, usize) {
        let (signature, mut at) = text(bytes, 0);
        assert_eq!(signature, "stairwaygames.");
        // Nine versions and counts, and four paths.
        at += 9 * 4;
        for _ in 0..4 {
            at = text(bytes, at).1;
        }
        let row = at + 4 + 8 * number;
        (u32(bytes, row), u32(bytes, row + 4))
    }

    /// The portals: name, position, name of the map, and five numbers.
    pub fn portals(bytes: &[u8]) -> Vec<(String, [f32; 3], String, Vec<i32>)> {
        let (mut at, count) = index(bytes, 7);
        let portal = |_| {
            let (name, behind) = text(bytes, at);
            let float = |n: usize| f32::from_bits(u32(bytes, behind + 4 * n) as u32);
            let (map, behind) = text(bytes, behind + 13 * 4);
            at = behind + 5 * 4;
            (name, [0, 1, 2].map(float), map, (0..5).map(|n| u32(bytes, behind + 4 * n) as i32).collect())
        };
        (0..count).map(portal).collect()
    }
}

#[test]
fn a_portal_is_moved_and_leads_elsewhere() {
    for counts_nul in [true, false] {
        let mut spec = Spec::new(22, 9);
        spec.counts_nul = counts_nul;
        let old = write(&spec).bytes;
        let mut wanted = plain::portals(&old);
        assert!(wanted.len() > 1);
        let change = [
            ("pos_x", Value::F32(12.5)),
            ("warp_map_name", "a map with a longer name".into()),
            ("warp_map_id", Value::Int(-7)),
            ("active", (wanted[1].3[4] == 0).into()),
        ];
        let edit = Edit::new(Some("portal_boxes"), wanted[1].0.clone().into(), Change::Set(cells(change)));
        let made = edited("town.wdata", &old, vec![edit]).unwrap();
        wanted[1].1[0] = 12.5;
        wanted[1].2 = "a map with a longer name".to_owned();
        wanted[1].3[2] = -7;
        wanted[1].3[4] = 1 - wanted[1].3[4].min(1);
        assert_eq!(plain::portals(&made.bytes), wanted);
        // All texts are counted as they were.
        let text = open(&made.bytes).get::<assetq::formats::rusty_hearts::wdata::Map>().unwrap().text_form();
        assert_eq!(text, open(&old).get::<assetq::formats::rusty_hearts::wdata::Map>().unwrap().text_form());
        assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old);
        // The main table says the same of all boxes.
        let key = Value::Map(cells([("type_name", "PortalBox".into()), ("name", wanted[0].0.clone().into())]));
        let edit = Edit::new(None, key, Change::Set(cells([("pos_z", Value::F32(-3.0))])));
        let made = edited("town.wdata", &made.bytes, vec![edit]).unwrap();
        wanted[0].1[2] = -3.0;
        assert_eq!(plain::portals(&made.bytes), wanted);
    }
}

/// The patch that makes of one map the other, as rows.
fn between(old: &[u8], new: &[u8]) -> Vec<Edit> {
    let mut text = Vec::new();
    let mut each = |row: Value<'static>| {
        assetq::write::json::JsonWriter::compact(&mut text).value(&row)?;
        text.push(b'\n');
        Ok(())
    };
    let damaged = &mut |_, error| panic!("{error}");
    patch::between(&open(old), &open(new), &Options::default(), &[], damaged, &mut each).unwrap();
    let mut edits = Vec::new();
    rows(&*text, ChangesFormat::Ndjson, &mut |row| {
        let InputRow::Edit(edit) = row else { panic!("{row:?}") };
        edits.push(edit);
        Ok(())
    })
    .unwrap();
    edits
}

/// The patch between two maps of one version turns one into the other, and its undo restores the first byte for byte: in every
/// version, in both forms of text and in both layouts of triggers. Every other cell of the maps differs.
#[test]
fn the_patch_between_two_maps_makes_the_one_of_the_other() {
    for main in 1..=22 {
        // An odd and an even version of event boxes for both forms of text; all four meet many versions of the file.
        for event_box in [[1, 3, 9][main as usize % 3], 6] {
            let mut spec = Spec::new(main, event_box);
            spec.counts_nul = (main + event_box) % 2 == 0;
            if main >= 9 && main % 2 == 1 {
                spec.triggers = TriggerLayout::Scripts;
            }
            let (old, new) = (write(&spec), write(&Spec { seed: spec.seed + 1, ..spec }));
            let edits = between(&old.bytes, &new.bytes);
            let made = edited("town.wdata", &old.bytes, edits).unwrap_or_else(|e| panic!("{main} {event_box}: {e}"));
            let left_out: Vec<_> = made.outcomes.iter().filter(|o| matches!(o, Outcome::LeftOut(_))).collect();
            assert_eq!(left_out, [&Outcome::Done; 0], "{main} {event_box}");
            assert!(between(&made.bytes, &new.bytes).is_empty(), "{main} {event_box}");
            assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old.bytes, "{main} {event_box}");
        }
    }
}

/// Another value for a cell, of those that its column takes.
fn another(rng: &mut fastrand::Rng, kind: Kind, takes: Accepts, now: &Value<'_>) -> Option<Value<'static>> {
    Some(match (kind, takes) {
        (_, Accepts::Nothing | Accepts::OrNull) => return None,
        _ if now.is_null() => return None,
        (Kind::Text, _) => "é".repeat(rng.usize(..9)).into(),
        (Kind::Bool, _) => rng.bool().into(),
        (Kind::Int, _) => rng.i32(..).into(),
        (Kind::Uint, _) => rng.u32(..).into(),
        (Kind::F32, _) => Value::F32(rng.i32(-999..999) as f32 / 8.0),
        (Kind::Nested, Accepts::Numbers(count)) => Value::floats((0..count).map(|_| rng.i8(..).into())),
        (Kind::Nested, _) => match now.clone().into_owned() {
            Value::List(mut items) => {
                match rng.u8(..4) {
                    0 => items.reverse(),
                    1 => drop(items.pop()),
                    2 => items.extend(items.clone()),
                    _ => items.clear(),
                }
                Value::List(items)
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Reasons for refusing random edits.
const REFUSED: [&str; 8] = [
    "the other list",
    "both have as many",
    "fit: a list of",
    "null does not fit",
    "do not store it",
    "cannot go alone",
    "another row has this value",
    "no row of waypoint_boxes has this id",
];

#[test]
fn any_edits_are_what_was_asked_and_come_back() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..120 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut spec = Spec::new(rng.i32(7..=22), rng.i32(1..=9));
        (spec.seed, spec.counts_nul) = (seed, rng.bool());
        spec.boxes[rng.usize(..14)] = 0;
        let old = write(&spec).bytes;
        let asset = open(&old);
        let mut edits = Vec::new();
        for table in asset
            .reader()
            .tables()
            .iter()
            .filter(|table| !table.nature().derived && table.nature().row_edits != RowEdits::None)
        {
            let len = table.len().unwrap();
            if len == 0 || rng.u8(..3) > 0 {
                continue;
            }
            let row = rng.usize(..len);
            let key = |row: usize| {
                let keys = table.columns().iter().enumerate().filter(|(_, c)| c.role == Role::Key);
                let parts: Vec<_> =
                    keys.map(|(at, c)| (c.name.clone(), table.value(row, at).unwrap().into_owned())).collect();
                Value::Map(parts)
            };
            if rng.u8(..4) == 0 && table.name() != "scripts" {
                edits.push(Edit::new(Some(table.name()), key(row), Change::Remove));
                continue;
            }
            for (at, column) in table.columns().iter().enumerate().filter(|(_, c)| c.role != Role::Key) {
                let now = table.value(row, at).unwrap();
                if rng.u8(..3) == 0
                    && let Some(value) = another(&mut rng, column.kind, column.accepts, &now)
                {
                    let change = Change::Set(vec![(column.name.clone(), value)]);
                    edits.push(Edit::new(Some(table.name()), key(row), change));
                }
            }
        }
        match edited("town.wdata", &old, edits) {
            Ok(made) => {
                done += 1;
                assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old, "seed {seed}");
            }
            // Two lists that must be of one length, and waypoints that others lead to.
            Err(error) => {
                refused += 1;
                let said = error.to_string();
                assert!(REFUSED.iter().any(|known| said.contains(known)), "seed {seed}: {said}");
            }
        }
    }
    assert!(done > refused, "{done} made, {refused} refused");
}

#[test]
fn records_come_and_go() {
    let mut spec = Spec::new(22, 9);
    // A type without boxes, and one before which it belongs.
    spec.boxes[BoxType::PortalBox as usize] = 0;
    let old = write(&spec).bytes;
    assert!(plain::portals(&old).is_empty());
    let add = |name: &str, map: &str| {
        let new = cells([("warp_map_name", map.to_owned().into()), ("pos_y", Value::F32(4.0)), ("id", Value::Int(9))]);
        Edit::new(Some("portal_boxes"), name.to_owned().into(), Change::Add(new))
    };
    let trigger = cells([("comment", "made".into()), ("events", Value::List(vec!["one".into(), "two".into()]))]);
    let mut edits = vec![add("first", "town"), add("second", "")];
    edits.push(Edit::new(Some("triggers"), "new trigger".into(), Change::Add(trigger)));
    let asset = open(&old);
    let scene = asset.reader().table("scenes").unwrap();
    let file = scene.columns().iter().position(|c| c.name == "file").unwrap();
    edits.push(Edit::new(Some("scenes"), scene.value(0, file).unwrap().into_owned(), Change::Remove));
    let made = edited("town.wdata", &old, edits).unwrap();
    let portals = plain::portals(&made.bytes);
    assert_eq!(portals[0], ("first".to_owned(), [0.0, 4.0, 0.0], "town".to_owned(), vec![9, 0, 0, 0, 0]));
    assert_eq!(portals[1].0, "second");
    // Later parts are at the offsets in the table.
    for number in 0..19 {
        let ((a, count), (b, now)) = (plain::index(&old, number), plain::index(&made.bytes, number));
        if number != 7 && count > 0 {
            assert_eq!(plain::text(&old, a).0, plain::text(&made.bytes, b).0);
            assert_eq!(count, now);
        }
    }
    let mut tree = Tree::default();
    assert!(open(&made.bytes).reader().cat("triggers/new trigger", &mut tree).unwrap());
    assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old);
}

/// In a map whose texts are counted with a NUL, new texts have one, too.
#[test]
fn new_texts_end_as_those_of_the_map() {
    for counts_nul in [true, false] {
        let old = write(&Spec { counts_nul, ..Spec::new(22, 9) }).bytes;
        let new = cells([("warp_map_name", "town".into())]);
        let add = Edit::new(Some("portal_boxes"), "gate".into(), Change::Add(new));
        let made = edited("town.wdata", &old, vec![add]).unwrap().bytes;
        let written = |text: &str| {
            let text = if counts_nul { format!("{text}\0") } else { text.to_owned() };
            let units: Vec<u16> = text.encode_utf16().collect();
            let count = u16::try_from(units.len()).unwrap();
            [count].into_iter().chain(units).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
        };
        for text in ["gate", "town"] {
            let text = written(text);
            assert!(made.windows(text.len()).any(|bytes| bytes == text), "{counts_nul} {text:?}");
        }
        assert_eq!(plain::portals(&made).last().unwrap().0, "gate");
    }
}

#[test]
fn a_box_comes_to_the_table_of_all_boxes_with_its_type() {
    let old = demo(3, Size::Small);
    let key = |name: &str, kind: &str| {
        Value::Map(cells([("type_name", kind.to_owned().into()), ("name", name.to_owned().into())]))
    };
    let add = |name, kind| Edit::new(None, key(name, kind), Change::Add(cells([("pos_x", Value::F32(1.0))])));
    let made =
        edited("town.wdata", &old, vec![add("here", "PortalBox"), add("there", "EtcBox"), add("too", "PortalBox")]);
    let names: Vec<String> = plain::portals(&made.unwrap().bytes).into_iter().map(|portal| portal.0).collect();
    assert!(names.ends_with(&["here".to_owned(), "too".to_owned()]), "{names:?}");
    let error = edited("town.wdata", &old, vec![add("x", "Door")]).err().unwrap().to_string();
    assert!(error.contains("column type_name: \"Door\" does not fit: it is one of CameraBox"), "{error}");
}

/// The table of all boxes shows the boxes of each type once more, and either of both may be edited.
#[test]
fn boxes_are_edited_in_the_table_of_all_and_in_that_of_their_type_at_once() {
    let old = demo(3, Size::Small);
    let asset = open(&old);
    let portals = asset.reader().table("portal_boxes").unwrap();
    let names: Vec<String> = plain::portals(&old).into_iter().map(|portal| portal.0).collect();
    let [first, second] = [0, 1].map(|row| names[row].clone());
    assert_eq!(first_name(&*portals), first.clone().into());
    let in_all = |name: &str| Value::Map(cells([("type_name", "PortalBox".into()), ("name", name.to_owned().into())]));
    let set = |column: &'static str, to: f32| Change::Set(cells([(column, Value::F32(to))]));
    let of_all = |name: &str, change| Edit::new(Some("event_boxes"), in_all(name), change);
    let of_type = |name: &str, change| Edit::new(Some("portal_boxes"), name.to_owned().into(), change);

    // Deleting a box from one table moves the later rows of the other table.
    let goes = vec![of_all(&first, Change::Remove), of_type(&second, set("pos_y", 8.5))];
    let made = edited("town.wdata", &old, goes).unwrap();
    let now = plain::portals(&made.bytes);
    assert_eq!((now.len(), &now[0].0, now[0].1[1]), (names.len() - 1, &second, 8.5));
    assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old);

    // Two cells of one box, and one cell twice.
    let both = vec![of_all(&first, set("pos_x", 1.5)), of_type(&first, set("pos_y", 2.5))];
    let made = edited("town.wdata", &old, both).unwrap();
    assert_eq!(plain::portals(&made.bytes)[0].1[..2], [1.5, 2.5]);
    let twice =
        |to| edited("town.wdata", &old, vec![of_all(&first, set("pos_x", 1.5)), of_type(&first, set("pos_x", to))]);
    assert_eq!(plain::portals(&twice(1.5).unwrap().bytes)[0].1[0], 1.5);
    let error = twice(2.5).err().unwrap().to_string();
    assert!(error.contains("column pos_x: there are two edits of it, by two tables"), "{error}");
    let gone = vec![of_all(&first, Change::Remove), of_type(&first, set("pos_x", 1.5))];
    let error = edited("town.wdata", &old, gone).err().unwrap().to_string();
    assert!(error.contains("portal_boxes: row 0 is changed and removed"), "{error}");
}

#[test]
fn of_a_row_that_is_refused_no_cell_is_taken() {
    let old = demo(3, Size::Small);
    let asset = open(&old);
    let table = asset.reader().table("portal_boxes").unwrap();
    let mut editor = Editor::new(&asset).unwrap();
    let twice = Change::Set(cells([("pos_x", Value::F32(1.5)), ("pos_y", 1.5.into()), ("pos_x", Value::F32(2.5))]));
    let error = editor.edit(Edit::new(Some("portal_boxes"), first_name(&*table), twice)).unwrap_err().to_string();
    assert!(error.contains("there are two edits of column pos_x"), "{error}");
    assert!(editor.finish().unwrap().edits().is_empty());
}

#[test]
fn what_does_not_fit_is_named() {
    let old = write(&Spec::new(22, 3)).bytes;
    let asset = open(&old);
    let name = |table: &str| asset.reader().table(table).map(|t| first_name(&*t)).unwrap();
    let refused = |table: &str, column: &'static str, value: Value<'static>| {
        let edit = Edit::new(Some(table), name(table), Change::Set(cells([(column, value)])));
        edited("town.wdata", &old, vec![edit]).err().unwrap_or_else(|| panic!("{column}")).to_string()
    };
    for (table, column, value, what) in [
        (
            "portal_boxes",
            "id",
            Value::Uint(1 << 31),
            "column id: 2147483648 does not fit: a whole number from -2147483648",
        ),
        ("portal_boxes", "offset", Value::Uint(1), "column offset: 1 does not fit: it takes nothing"),
        ("portal_boxes", "active", Value::Int(1), "column active: 1 does not fit: true or false"),
        ("skid_boxes", "velocity", Value::floats([1.0]), "column velocity: [1] does not fit: a list of 3 numbers"),
        ("waypoint_boxes", "links", Value::List(vec![]), "link_distances"),
        ("waypoint_boxes", "link_count", Value::Int(0), "it takes nothing"),
        // This version has no such field.
        ("trigger_boxes", "signpost_text_id", Value::Int(1), "maps of this version do not store it"),
        ("portal_boxes", "warp_map_name", "x".repeat(70_000).into(), "at most 65535"),
    ] {
        let error = refused(table, column, value);
        assert!(error.contains(what), "{table}.{column}: {error}");
    }
    let turn = ["rot_x", "rot_y", "rot_z", "rot_w"].map(|column| (column, Value::Uint(0)));
    let edit = Edit::new(Some("camera_boxes"), name("camera_boxes"), Change::Set(cells(turn)));
    let error = edited("town.wdata", &old, vec![edit]).err().unwrap().to_string();
    assert!(error.contains("camera_boxes: row 0: columns rot_x, rot_y, rot_z, rot_w: 0 0 0 0 does not fit"), "{error}");
    // As many rows may be edited, each refusal says its own.
    let error = refused("waypoint_boxes", "links", Value::List(vec![]));
    assert!(error.contains("waypoint_boxes: row 0: column link_distances"), "{error}");
}

/// A map of one layout has no rows of the other one, and rows keep their type.
#[test]
fn rows_that_a_map_cannot_hold_are_refused() {
    let map = |triggers: TriggerLayout, types: u32| {
        let mut spec = Spec { box_types: types, ..Spec::new(22, 9) };
        spec.triggers = triggers;
        spec.boxes[types as usize..].fill(0);
        write(&spec).bytes
    };
    let (scripts, triggers) = (map(TriggerLayout::Scripts, 19), map(TriggerLayout::Triggers, 12));
    let script =
        |kind: &'static str, path: &'static str| Value::Map(cells([("kind", kind.into()), ("path", path.into())]));
    let of_scripts = |key, change| Edit::new(Some("scripts"), key, change);
    let of_boxes = |kind: &str, name: &str, change| {
        let key = Value::Map(cells([("type_name", kind.to_owned().into()), ("name", name.to_owned().into())]));
        Edit::new(Some("event_boxes"), key, change)
    };
    let (dir, portal) = {
        let asset = open(&scripts);
        let table = asset.reader().table("scripts").unwrap();
        let [kind, path] = [0, 1].map(|column| table.value(0, column).unwrap().into_owned());
        let portal = first_name(&*asset.reader().table("portal_boxes").unwrap()).to_string();
        (Value::Map(cells([("kind", kind), ("path", path)])), portal)
    };
    let retyped = Change::Set(cells([("type_name", "EtcBox".into())]));
    for (map, edit, what) in [
        (&scripts, of_scripts(dir, Change::Remove), "scripts: script_dir cannot go"),
        (
            &scripts,
            of_scripts(script("nothing", "x.lua"), Change::Add(Vec::new())),
            "column kind: \"nothing\" does not fit: event, condition or action",
        ),
        (
            &triggers,
            of_scripts(script("event", "x.lua"), Change::Add(Vec::new())),
            "column kind: \"event\" does not fit: none, as this map lists triggers",
        ),
        (
            &triggers,
            of_boxes(BoxType::ALL[12].name(), "new", Change::Add(Vec::new())),
            "the table of event boxes of this map has no such type",
        ),
        (
            &scripts,
            of_boxes("PortalBox", &portal, retyped),
            "column type_name: the type of a box cannot change: remove it and add one",
        ),
    ] {
        let error = edited("town.wdata", map, vec![edit]).err().unwrap_or_else(|| panic!("{what}")).to_string();
        assert!(error.contains(what), "{what}: {error}");
    }
}

fn first_name(table: &dyn Table) -> Value<'static> {
    let at = table.columns().iter().position(|c| c.name == "name").unwrap();
    table.value(0, at).unwrap().into_owned()
}

#[test]
fn a_waypoint_that_others_lead_to_cannot_go_alone() {
    let old = write(&Spec::new(22, 9)).bytes;
    let asset = open(&old);
    let map = asset.get::<assetq::formats::rusty_hearts::wdata::Map>().unwrap();
    let link = map.link(0).unwrap().expect("the sample has links");
    let (_, to) = link.to.expect("it leads somewhere");
    let (to, from) = (to.name().unwrap().to_string(), link.from.1.name().unwrap().to_string());
    let gone = |name: &str| Edit::new(Some("waypoint_boxes"), name.to_owned().into(), Change::Remove);
    let error = edited("town.wdata", &old, vec![gone(&to)]).err().unwrap().to_string();
    assert!(error.contains("cannot go alone") && error.contains(&from), "{error}");
    // Links may lead to any waypoint that is kept.
    let count = link.from.1.ints("links").unwrap().iter().count();
    let leads = |to| {
        let cells = cells([("links", Value::List(vec![to; count]))]);
        edited("town.wdata", &old, vec![Edit::new(Some("waypoint_boxes"), from.clone().into(), Change::Set(cells))])
    };
    assert!(leads(link.from.1.get("id").unwrap().into_owned()).is_ok());
    let error = leads(Value::Int(999)).err().unwrap().to_string();
    assert!(error.contains("999") && error.contains("no row of waypoint_boxes has this id"), "{error}");
    // All of them may go together.
    let all = asset.reader().table("waypoint_boxes").unwrap();
    let name = all.columns().iter().position(|c| c.name == "name").unwrap();
    let edits = (0..all.len().unwrap()).map(|row| gone(&all.value(row, name).unwrap().to_string())).collect();
    let made = edited("town.wdata", &old, edits).unwrap();
    assert_eq!(plain::index(&made.bytes, 17).1, 0);
    assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old);
}

#[test]
fn an_entry_is_edited_as_it_is_shown() {
    let old = demo(3, Size::Small);
    let asset = open(&old);
    let mut tree = Tree::default();
    assert!(asset.reader().cat("portal_001", &mut tree).unwrap());
    let Value::Map(mut entry) = tree.into_value() else { panic!("an object") };
    for (name, value) in &mut entry {
        match &**name {
            "pos_y" => *value = Value::F64(1.5),
            "warp_map_name" => *value = "elsewhere".into(),
            _ => {}
        }
    }
    let writable = asset.reader().writable().unwrap();
    let Some(EntryEdit::Edits(edits)) = writable.entry("portal_001", &Value::Map(entry.clone())).unwrap() else {
        panic!("edits of rows")
    };
    let made = edited("town.wdata", &old, edits).unwrap();
    let portal = plain::portals(&made.bytes).remove(1);
    assert_eq!((portal.1[1], &*portal.2), (1.5, "elsewhere"));
    entry.push(("more".into(), Value::Null));
    assert!(writable.entry("portal_001", &Value::Map(entry)).is_err());
}

#[test]
fn paths_and_scripts_are_written() {
    let mut spec = Spec::new(22, 9);
    spec.triggers = TriggerLayout::Scripts;
    let old = write(&spec).bytes;
    let path = |name: &str, value: Value<'static>| {
        Edit::new(Some("paths"), name.to_owned().into(), Change::Set(cells([("value", value)])))
    };
    let script = Value::Map(cells([("kind", "event".into()), ("path", ".\\script\\new.lua".into())]));
    let edits = vec![
        path("nav_mesh_path", "a\\longer\\path.nav".into()),
        path("moc_path", "x.moc".into()),
        path("obstacle_path", Value::Null),
        Edit::new(Some("scripts"), script, Change::Add(Vec::new())),
    ];
    let made = edited("town.wdata", &old, edits).unwrap();
    let asset = open(&made.bytes);
    let map = asset.get::<assetq::formats::rusty_hearts::wdata::Map>().unwrap();
    assert_eq!(map.path("nav_mesh_path").unwrap().unwrap().to_string(), "a\\longer\\path.nav");
    assert_eq!(map.path("moc_path").unwrap().unwrap().to_string(), "x.moc");
    assert!(map.path("obstacle_path").unwrap().is_none());
    assert_eq!(undone("town.wdata", &made.bytes, &made.undo), old);
    // Both read as null.
    let of = |none: Value<'static>| edited("town.wdata", &old, vec![path("moc_path", none)]).unwrap().bytes;
    assert!(of("".into()) == of(Value::Null));

    let table = asset.reader().table("scripts").unwrap();
    let path_of = |row: usize| table.value(row, 1).unwrap().into_owned();
    let none = |row: usize| {
        let key = Value::Map(cells([("kind", table.value(row, 0).unwrap().into_owned()), ("path", path_of(row))]));
        edited(
            "town.wdata",
            &made.bytes,
            vec![Edit::new(Some("scripts"), key, Change::Set(cells([("path", Value::Null)])))],
        )
    };
    let last = table.len().unwrap() - 1;
    for row in [1, last] {
        let error = none(row).err().unwrap().to_string();
        assert!(error.contains("column path: null does not fit"), "{error}");
    }
    assert!(none(0).is_ok());
}
