//! Sheets and packs: every kind of cell, rows in and out, read back through the offsets of the document.

use crate::common::files_in;
use crate::common::made::{cells, edited, undone};
use assetq::edit::{Change, Edit, Outcome};
use assetq::table::Value;
use assetq_sample::Size;
use assetq_sample::wdb::{Cell, Game, Sheet, demo_pack, generated};

/// A sheet as the document describes it, read without the library: records and their cells.
mod plain {
    use std::collections::HashMap;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// The entries: name and data.
    pub fn entries(bytes: &[u8]) -> Vec<(String, &[u8])> {
        assert_eq!(&bytes[..4], b"WPD\0");
        let mut end = 16 + 32 * word(bytes, 4) as usize;
        (0..word(bytes, 4) as usize)
            .map(|i| {
                let at = 16 + 32 * i;
                let name = String::from_utf8(bytes[at..at + 16].iter().copied().take_while(|&b| b != 0).collect());
                let (start, size) = (word(bytes, at + 16) as usize, word(bytes, at + 20) as usize);
                assert!(start >= end && start % 4 == 0, "entry {i} begins at {start}, before {end}");
                assert!(bytes[end..start].iter().all(|&b| b == 0), "the gap is zero");
                end = start + size;
                (name.unwrap(), &bytes[start..start + size])
            })
            .collect()
    }

    fn text(pool: &[u8], at: usize) -> String {
        String::from_utf8(pool[at..].iter().copied().take_while(|&b| b != 0).collect()).unwrap()
    }

    /// The records of a sheet with these fields; cells as text.
    pub fn records(bytes: &[u8], fields: &[String]) -> Vec<(String, Vec<String>)> {
        let entries = entries(bytes);
        let count = entries.iter().take_while(|(name, _)| name.starts_with('!')).count();
        let sections: HashMap<&str, &[u8]> = entries[..count].iter().map(|(n, d)| (&**n, *d)).collect();
        if let Some(names) = sections.get("!structitem") {
            let names: Vec<String> = names.split(|&b| b == 0).map(|n| String::from_utf8_lossy(n).into()).collect();
            assert_eq!(names[..names.len() - 1], *fields);
        }
        let kinds: Vec<u32> = match sections.get("!!strtypelistb") {
            Some(kinds) => kinds.iter().map(|&k| k.into()).collect(),
            None => sections["!!strtypelist"].chunks(4).map(|k| word(k, 0)).collect(),
        };
        let pool = sections["!!string"];
        let array = |field: usize, index: usize| {
            let (words, info) = (sections["!!strArray"], sections["!!strArrayInfo"]);
            let start = word(sections["!!strArrayList"], 4 * field) as usize;
            let (per_word, bits) = (info[2] as usize, info[3] as usize);
            let word = word(words, start + 4 * (index / per_word));
            text(pool, (word as usize >> (bits * (index % per_word))) & ((1 << bits) - 1))
        };
        entries[count..]
            .iter()
            .map(|(name, data)| {
                assert_eq!(data.len(), kinds.len() * 4);
                let (mut next, mut used, mut arrays) = (0, 32, 0);
                let cells = fields.iter().map(|field| {
                    let digits: String = field[1..].chars().take(2).take_while(char::is_ascii_digit).collect();
                    let width: usize = digits.parse().unwrap_or(32);
                    if used + width > 32 {
                        next += 1;
                        used = 0;
                    }
                    let (word, kind, letter) = (word(data, 4 * (next - 1)), kinds[next - 1], field.as_bytes()[0]);
                    let bits = word.checked_shr(used as u32).unwrap() & (u32::MAX >> (32 - width));
                    used += width;
                    match (kind, letter) {
                        (1, _) => f32::from_bits(word).to_string(),
                        (2, _) => text(pool, word as usize),
                        (0, b's') => {
                            arrays += 1;
                            array(arrays - 1, bits as usize)
                        }
                        (_, b'i' | b'f') => (((bits << (32 - width)) as i32) >> (32 - width)).to_string(),
                        _ => bits.to_string(),
                    }
                });
                (name.clone(), cells.collect())
            })
            .collect()
    }
}

fn names(sheet: &Sheet) -> Vec<String> {
    sheet.field_names().map(str::to_owned).collect()
}

fn set(key: &str, change: [(&'static str, Value<'static>); 1]) -> Edit {
    Edit::new(None, key.to_owned().into(), Change::Set(cells(change)))
}

/// A sheet with a cell of every kind, in each game's form.
fn every_kind(game: Game) -> Sheet {
    let mut fields = vec!["sName", "fScale", "u7Race", "u9Index", "i8Random", "u8More", "f16Rate", "uFlags", "iDelta"];
    if game == Game::Later {
        fields.push("s4Family");
        fields.push("s3Kind");
    }
    let row = |name: &str, texts: [&str; 3]| {
        let mut cells = vec![Cell::from(texts[0]), 0.5.into(), 5.into(), 300.into(), (-3).into(), 200.into()];
        cells.extend([Cell::Int(-1000), 7.into(), (-1).into()]);
        if game == Game::Later {
            cells.extend([Cell::from(texts[1]), Cell::from(texts[2])]);
        }
        (name.to_owned(), cells)
    };
    let rows = [
        row("a", ["one", "beast", "x"]),
        row("b", ["two", "flan", "y"]),
        row("c", ["", "", "x"]),
        row("sixteen_letters_", ["one", "beast", "y"]),
    ];
    rows.into_iter().fold(Sheet::new(game, "Every").fields(fields), |sheet, (name, cells)| sheet.record(name, cells))
}

#[test]
fn every_kind_of_cell_can_become_another() {
    let sheet = every_kind(Game::Later);
    let (old, fields) = (sheet.build(), names(&sheet));
    let edits: [(&'static str, Value<'static>, &str); 15] = [
        ("sName", "a text that is new".into(), "a text that is new"),
        ("sName", "two".into(), "two"),
        ("sName", "".into(), ""),
        ("fScale", 1.25f32.into(), "1.25"),
        ("u7Race", 127u64.into(), "127"),
        ("u9Index", 0u64.into(), "0"),
        ("i8Random", (-128i64).into(), "-128"),
        ("u8More", 255u64.into(), "255"),
        ("f16Rate", 32_767i64.into(), "32767"),
        ("uFlags", 0xFFFF_FFFFu64.into(), "4294967295"),
        ("iDelta", i64::from(i32::MIN).into(), "-2147483648"),
        ("s4Family", "flan".into(), "flan"),
        ("s4Family", "machine".into(), "machine"),
        ("s3Kind", "beast".into(), "beast"),
        ("s3Kind", "".into(), ""),
    ];
    for (field, value, shown) in edits {
        let made = edited("every.wdb", &old, vec![set("a", [(field, value)])]).unwrap();
        assert_eq!(made.outcomes, [Outcome::Done], "{field}");
        let mut wanted = plain::records(&old, &fields);
        let at = fields.iter().position(|f| f == field).unwrap();
        wanted[0].1[at] = shown.to_owned();
        assert_eq!(plain::records(&made.bytes, &fields), wanted, "{field} {shown}");
        assert_eq!(undone("every.wdb", &made.bytes, &made.undo), old, "{field} {shown}");
    }
}

#[test]
fn a_sheet_of_the_first_game_is_written_in_its_own_form() {
    let sheet = every_kind(Game::First);
    let (old, fields) = (sheet.build(), names(&sheet));
    // Packed words with unknown fields are written whole.
    let edits = vec![
        set("b", [("field_0", "new".into())]),
        set("c", [("field_1", 2.5f32.into())]),
        set("a", [("field_2", Value::Id32(5 | 301 << 7))]),
    ];
    let made = edited("mystery.wdb", &old, edits).unwrap();
    let mut wanted = plain::records(&old, &fields);
    wanted[1].1[0] = "new".to_owned();
    wanted[2].1[1] = "2.5".to_owned();
    wanted[0].1[3] = "301".to_owned();
    // The other fields of the word are those that were given.
    wanted[0].1[4] = "0".to_owned();
    wanted[0].1[5] = "0".to_owned();
    let found = plain::records(&made.bytes, &fields);
    assert_eq!(found[1..], wanted[1..]);
    assert_eq!(found[0].1[..4], wanted[0].1[..4]);
    assert_eq!(undone("mystery.wdb", &made.bytes, &made.undo), old);
}

#[test]
fn records_come_and_go_and_get_other_names() {
    let sheet = every_kind(Game::Later);
    let (old, fields) = (sheet.build(), names(&sheet));
    let add = Change::Add(cells([("sName", "two".into()), ("u7Race", 3u64.into()), ("s3Kind", "z".into())]));
    let edits = vec![
        Edit::new(Some("records"), "b".into(), Change::Remove),
        Edit::new(Some("records"), "new".into(), add),
        set("c", [("record", "d".into())]),
    ];
    let made = edited("every.wdb", &old, edits).unwrap();
    let found = plain::records(&made.bytes, &fields);
    let called: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
    assert_eq!(called, ["a", "d", "sixteen_letters_", "new"]);
    assert_eq!(found[3].1, ["two", "0", "3", "0", "0", "0", "0", "0", "0", "", "z"]);
    assert_eq!(found[0], plain::records(&old, &fields)[0]);
    assert_eq!(undone("every.wdb", &made.bytes, &made.undo), old);
}

/// Any edits, and then their undo.
#[test]
fn any_edits_are_what_was_asked_and_come_back() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let game = if rng.bool() { Game::Later } else { Game::First };
        let count = rng.usize(1..22);
        let sheet = generated(seed, game, rng.usize(1..30), count);
        // The first game's fields have no names in the file; one word each has the kind that is seen without.
        let (old, fields) = (sheet.build(), names(&sheet));
        let mut wanted = plain::records(&old, &fields);
        let mut edits = Vec::new();
        let mut taken = std::collections::HashSet::new();
        for _ in 0..rng.usize(1..12) {
            let (row, at) = (rng.usize(..wanted.len()), rng.usize(..fields.len()));
            let (field, key) = (fields[at].clone(), format!("r{row:07}"));
            let known = game == Game::Later || field.starts_with("sName") || field.starts_with("fScale");
            if !known || !taken.insert((row, at)) {
                continue;
            }
            let digits: String = field[1..].chars().take(2).take_while(char::is_ascii_digit).collect();
            let bits: u32 = digits.parse().unwrap_or(32);
            let value: Value<'static> = match (field.as_bytes()[0], digits.is_empty()) {
                (b's', true) => format!("text_{:03}", rng.u32(..400)).into(),
                (b's', false) => ["beast", "wolf", "", "golem"][rng.usize(..4)].to_owned().into(),
                (b'f', true) => (rng.i32(-99..99) as f32 / 4.0).into(),
                (b'i' | b'f', _) => Value::Int((rng.i32(..) >> (32 - bits)).into()),
                _ => Value::Uint((rng.u32(..) >> (32 - bits)).into()),
            };
            // By the number of its word, where there are no names.
            let column = if game == Game::Later { field.clone() } else { continue };
            wanted[row].1[at] = value.to_string();
            edits.push(Edit::new(None, key.into(), Change::Set(vec![(column.into(), value)])));
        }
        for _ in 0..rng.usize(..3) {
            let row = rng.usize(..wanted.len());
            if wanted.len() > 1 && taken.iter().all(|(other, _)| *other != row) && taken.insert((row, 0)) {
                edits.push(Edit::new(None, format!("r{row:07}").into(), Change::Remove));
                wanted[row].0.clear();
            }
        }
        wanted.retain(|(name, _)| !name.is_empty());
        let made = edited("any.wdb", &old, edits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(plain::records(&made.bytes, &fields), wanted, "seed {seed}");
        assert_eq!(undone("any.wdb", &made.bytes, &made.undo), old, "seed {seed}");
    }
}

#[test]
fn what_does_not_fit_is_named_with_what_does() {
    let old = every_kind(Game::Later).build();
    let refused = |edit: Edit| match edited("every.wdb", &old, vec![edit]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was made"),
    };
    for (change, what) in [
        (("u7Race", Value::Uint(128)), "column u7Race: 128 does not fit: a whole number from 0 to 127"),
        (("i8Random", Value::Int(128)), "column i8Random: 128 does not fit: a whole number from -128 to 127"),
        (("u7Race", "five".into()), "column u7Race: \"five\" does not fit"),
        (("fScale", Value::Null), "column fScale: null does not fit"),
        (("sName", "a\0b".into()), "column sName: \"a\\0b\" does not fit: a text without NUL"),
        (("record", "b".into()), "column record: \"b\" does not fit: another row has this value"),
        (("record", "!x".into()), "sections begin with !"),
        (("record", "seventeen_letters".into()), "a text of at most 16 bytes"),
        (("nothing", Value::Uint(1)), "no column \"nothing\""),
    ] {
        let error = refused(set("a", [change]));
        assert!(error.contains(what), "{error}");
    }
    let error = refused(Edit::new(Some("sections"), "!!string".into(), Change::Set(cells([("offset", 1u64.into())]))));
    assert!(error.contains("column offset: 1 does not fit: it takes nothing"), "{error}");
    let error = refused(Edit::new(Some("fields"), "sName".into(), Change::Remove));
    assert!(error.contains("neither be added nor removed"), "{error}");
}

#[test]
fn a_string_array_takes_as_many_texts_as_its_field_has_numbers() {
    let old = every_kind(Game::Later).build();
    let edit = |n: usize| set(["a", "b", "c", "sixteen_letters_"][n % 4], [("s3Kind", format!("kind {n}").into())]);
    // Two of eight are there.
    let mut bytes = old.clone();
    for n in 0..6 {
        bytes = edited("every.wdb", &bytes, vec![edit(n)]).unwrap_or_else(|e| panic!("{n}: {e}")).bytes;
    }
    let error = edited("every.wdb", &bytes, vec![edit(6)]).err().unwrap().to_string();
    assert!(error.contains("its array has room for 8 texts"), "{error}");
}

/// If an item needs more bits than the arrays have, all items are packed again.
#[test]
fn string_arrays_are_packed_again_for_larger_offsets() {
    let sheet = every_kind(Game::Later);
    let (old, fields) = (sheet.build(), names(&sheet));
    let edits = vec![
        set("a", [("sName", "x".repeat(5000).into())]),
        set("b", [("s4Family", "further".into())]),
        set("c", [("s3Kind", "furthest".into())]),
    ];
    let made = edited("every.wdb", &old, edits).unwrap();
    let mut wanted = plain::records(&old, &fields);
    wanted[0].1[0] = "x".repeat(5000);
    wanted[1].1[9] = "further".to_owned();
    wanted[2].1[10] = "furthest".to_owned();
    assert_eq!(plain::records(&made.bytes, &fields), wanted);
}

#[test]
fn a_sheet_in_a_pack_is_written_with_its_pack() {
    let old = demo_pack(7, Size::Small);
    let edit = |column: &'static str, value: Value<'static>| {
        Edit::new(Some("btscene"), "r0000003".into(), Change::Set(vec![(column.into(), value)]))
    };
    let made = edited("pack.bin", &old, vec![edit("sName", "a longer text than before".into())]).unwrap();
    assert!(made.bytes.len() > old.len() && made.bytes.len().is_multiple_of(128));
    let (before, after) = (plain::entries(&old), plain::entries(&made.bytes));
    for ((name, a), (_, b)) in before.iter().zip(&after) {
        assert_eq!(name == "btscene", a != b, "{name}");
        assert_eq!((a.as_ptr() as usize - old.as_ptr() as usize) % 128, 0);
        assert_eq!((b.as_ptr() as usize - made.bytes.as_ptr() as usize) % 128, 0);
    }
    assert_eq!(undone("pack.bin", &made.bytes, &made.undo), old);
}

#[test]
fn damage_elsewhere_does_not_keep_a_whole_part_from_being_written() {
    let mut old = every_kind(Game::Later).build();
    let at = 16 + 32 * (old[7] as usize - 1);
    // The last record leaves the file.
    old[at + 16..at + 20].copy_from_slice(&0x00FF_FFFCu32.to_be_bytes());
    let made = edited("every.wdb", &old, vec![set("a", [("u7Race", 9u64.into())])]).unwrap();
    assert_eq!(made.bytes.iter().zip(&old).filter(|(a, b)| a != b).count(), 1);
    // Moving entries has a separate message.
    let error = edited("every.wdb", &old, vec![set("a", [("sName", "further".into())])]).err().unwrap();
    assert!(error.to_string().contains("none can move"), "{error}");
    let error = edited("every.wdb", &old, vec![set("sixteen_letters_", [("u7Race", 9u64.into())])]).err().unwrap();
    assert!(error.offset().is_some(), "{error}");
}

#[test]
fn real_files_are_the_same_without_an_edit_and_come_back_after_one() {
    for folder in ["wdb", "wpd"] {
        for path in files_in(folder) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let old = std::fs::read(&path).unwrap();
            assert_eq!(edited(&name, &old, Vec::new()).unwrap().bytes, old, "{name}");
            if folder == "wdb" {
                let key = plain::entries(&old).last().unwrap().0.clone();
                let change = Change::Set(cells([("record", "renamed".into())]));
                let made = edited(&name, &old, vec![Edit::new(None, key.into(), change)]).unwrap();
                assert_eq!(undone(&name, &made.bytes, &made.undo), old, "{name}");
            }
        }
    }
}
