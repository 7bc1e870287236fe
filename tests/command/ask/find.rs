//! `find`: what a search over the stretches of a file gives is what a look at every row gives.

use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::Database;
use assetq::query::find;
use assetq::query::find::{Pattern, PatternOptions, Syntax};
use assetq::table::Table;
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::bwdb::{DatabaseBuilder, demo};
use fastrand::Rng;
use std::convert::Infallible;
use std::ops::ControlFlow;

fn open(bytes: Vec<u8>) -> Database {
    Database::open(Source::from_vec("assets.bin", bytes)).unwrap()
}

/// Rows and texts that `find` returns, and the number of reported errors.
fn found(table: &dyn Table, column: usize, pattern: &Pattern) -> (Vec<(usize, String)>, usize) {
    let (mut hits, mut errors) = (Vec::new(), 0);
    let flow = find::each(
        table,
        &[column],
        pattern,
        |_| errors += 1,
        |hit| {
            hits.push((hit.row.row(), hit.text.to_string()));
            Ok::<_, Infallible>(ControlFlow::Continue(()))
        },
    );
    assert_eq!(flow, Ok(ControlFlow::Continue(())));
    (hits, errors)
}

/// A pattern, implemented in the plainest way.
#[derive(Debug, Clone)]
struct Plain<'a> {
    text: &'a str,
    syntax: Syntax,
    fold: bool,
    full: bool,
    regex: Option<regex::Regex>,
}

impl Plain<'_> {
    fn pattern(&self) -> Pattern {
        let mut options = PatternOptions::default();
        (options.syntax, options.ignore_case, options.full_path) = (self.syntax, self.fold, self.full);
        Pattern::new(self.text, options).unwrap()
    }

    fn matches(&self, text: &str) -> bool {
        let fold = |text: &str| if self.fold { text.to_ascii_lowercase() } else { text.to_owned() };
        match self.syntax {
            Syntax::Glob => wildcards(fold(self.text).as_bytes(), fold(text).as_bytes()),
            Syntax::Regex => self.regex.as_ref().unwrap().is_match(text),
            _ => fold(text).contains(&fold(self.text)),
        }
    }

    fn matches_path(&self, path: &str, name: &str) -> bool {
        let folders = path.len() - name.len();
        match self.syntax {
            _ if self.full => self.matches(path),
            _ if !self.text.contains('/') => self.matches(name),
            Syntax::Text => {
                // The match ends in the last component.
                (0..path.len()).any(|at| {
                    let end = at + self.text.len();
                    end > folders && path.as_bytes().get(at..end).is_some_and(|part| self.matches_whole(part))
                })
            }
            _ => self.matches(path),
        }
    }

    fn matches_whole(&self, part: &[u8]) -> bool {
        if self.fold { part.eq_ignore_ascii_case(self.text.as_bytes()) } else { part == self.text.as_bytes() }
    }
}

/// A glob of `*` and `?` only.
fn wildcards(glob: &[u8], text: &[u8]) -> bool {
    match (glob, text) {
        ([], _) => text.is_empty(),
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|skip| wildcards(rest, &text[skip..])),
        ([b'?', glob @ ..], [_, text @ ..]) => wildcards(glob, text),
        ([a, glob @ ..], [b, text @ ..]) => a == b && wildcards(glob, text),
        _ => false,
    }
}

/// The texts that a look at each row finds. A row that cannot be read is passed over.
fn looked_at(table: &dyn Table, column: usize, name: Option<usize>, plain: &Plain<'_>) -> Vec<(usize, String)> {
    let text = |row, column| table.value(row, column).ok().and_then(|value| value.as_text().map(|t| t.into_owned()));
    let row = |row| {
        let whole = text(row, column)?;
        let matches = match name {
            Some(name) => plain.matches_path(&whole, &text(row, name)?),
            None => plain.matches(&whole),
        };
        matches.then_some((row, whole))
    };
    (0..table.len().unwrap()).filter_map(row).collect()
}

/// Searches `needle` in the paths and strings of `db` in `ways` ways.
fn check(db: &Database, needle: &str, ways: usize, rng: &mut Rng) {
    let escaped = regex::escape(needle);
    let mut asked = [
        (needle.to_owned(), Syntax::Text),
        (format!("*{needle}"), Syntax::Glob),
        (format!("{needle}*"), Syntax::Glob),
        (format!("*{needle}*a"), Syntax::Glob),
        (format!("?*{needle}"), Syntax::Glob),
        (needle.to_owned(), Syntax::Glob),
        (escaped.clone(), Syntax::Regex),
        (format!("{escaped}$"), Syntax::Regex),
        (format!("^{escaped}"), Syntax::Regex),
        (format!("^{escaped}$"), Syntax::Regex),
        (format!("[ab]+(?:{escaped}){{1,2}}"), Syntax::Regex),
    ];
    rng.shuffle(&mut asked);
    let (paths, strings) = (db.table("paths").unwrap(), db.table("strings").unwrap());
    for (text, syntax) in asked.iter().take(ways) {
        let (fold, full, syntax) = (rng.bool(), rng.bool(), *syntax);
        let build = |text| regex::RegexBuilder::new(text).case_insensitive(fold).build().unwrap();
        let regex = (syntax == Syntax::Regex).then(|| build(text));
        let plain = Plain { text, syntax, fold, full, regex };
        let pattern = plain.pattern();
        assert_eq!(found(&*strings, 1, &pattern).0, looked_at(&*strings, 1, None, &plain), "{plain:?}");
        assert_eq!(found(&*paths, 3, &pattern).0, looked_at(&*paths, 3, Some(2), &plain), "{plain:?}");
    }
}

/// Paths and strings of few letters, so that needles are in many of them and across their edges.
fn random(rng: &mut Rng) -> DatabaseBuilder {
    let mut builder = DatabaseBuilder::default();
    let text = |rng: &mut Rng, letters: &str, most: usize| -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..rng.usize(1..=most)).map(|_| letters[rng.usize(..letters.len())]).collect()
    };
    for _ in 0..rng.usize(1..60) {
        let path: Vec<String> = (0..rng.usize(1..4)).map(|_| text(rng, "aAbé.", 4)).collect();
        builder.path(&path.join("/"));
        builder.string(&text(rng, "aAbB/é", 6));
    }
    builder
}

const LETTERS: [&str; 6] = ["a", "A", "b", "/", ".", "é"];

fn needle(rng: &mut Rng) -> String {
    (0..rng.usize(1..4)).map(|_| LETTERS[rng.usize(..LETTERS.len())]).collect()
}

#[test]
fn a_search_finds_what_a_look_at_each_row_finds() {
    let mut rng = Rng::with_seed(7);
    for _ in 0..40 {
        let db = open(random(&mut rng).build());
        let needle = needle(&mut rng);
        check(&db, &needle, 6, &mut rng);
    }
}

/// Names and strings that are moved into each other, share their bytes, or lose their ends.
#[test]
fn a_search_of_a_hostile_file_finds_what_a_look_at_each_row_finds() {
    let mut rng = Rng::with_seed(8);
    for _ in 0..100 {
        let mut bytes = random(&mut rng).build();
        let at = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (count, entries) = (at(&bytes, 0x50), 0x50 + at(&bytes, 0x58));
        let (capacity, values) = (at(&bytes, 0x10), 0x10 + at(&bytes, 0x20));
        for _ in 0..rng.usize(1..8) {
            let name = entries + rng.usize(..count) * 0x20 + 0x10;
            match rng.u8(..6) {
                // Its length, and so perhaps its NUL.
                0 => bytes[name] = rng.u8(..12),
                // Its place, near to where it was or in another name.
                1 => bytes[name + 8] = bytes[name + 8].wrapping_add(rng.u8(..8)).wrapping_sub(4),
                2 => {
                    let other = entries + rng.usize(..count) * 0x20 + 0x10;
                    let target = at(&bytes, other + 8) + other;
                    bytes[name + 8..name + 12].copy_from_slice(&((target - name) as u32).to_le_bytes());
                    bytes[name] = bytes[other];
                }
                // A byte in the middle of the names: a NUL, no UTF-8, or a letter where a NUL was.
                3 => {
                    let place = at(&bytes, name + 8) + name + rng.usize(..8);
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = [0, 0xFF, b'a', b'/'][rng.usize(..4)];
                    }
                }
                // A string that begins in another one.
                4 => bytes[values + rng.usize(..capacity) * 4] = rng.u8(..40),
                _ => bytes[name + 8 + rng.usize(..8)] = rng.u8(..),
            }
        }
        let db = open(bytes);
        let needle = needle(&mut rng);
        check(&db, &needle, 4, &mut rng);
    }
}

#[test]
fn a_search_of_a_sample_finds_what_a_look_at_each_row_finds() {
    let db = open(demo(5, Size::Small));
    for needle in ["content", "visual", "hip", "e", "content/gameplay", "/", "nothing like it", ".mfm", "s/"] {
        check(&db, needle, 11, &mut Rng::with_seed(9));
    }
}

#[test]
fn what_is_searched_is_no_copy_of_something_else() {
    let asset = Asset::open(Source::from_vec("assets.bin", demo(5, Size::Small))).unwrap();
    let mut searched = Vec::new();
    let pattern = Pattern::new("ship", PatternOptions::default()).unwrap();
    for (table, columns) in find::tables(&asset, &pattern) {
        let names = columns.iter().map(|&c| table.columns()[c].name.to_string());
        searched.push(format!("{}: {}", table.name(), names.collect::<Vec<_>>().join(" ")));
    }
    // Not the names of paths, which are in the paths, nor the texts of the ids in records.
    let systems = "effect_systems: renderer animation name components";
    assert_eq!(searched, ["paths: path", "strings: text", systems, "effect_parameters: name"]);
}

/// Ids that are places in their file, such as the ids of types of a save, are found in all tables.
#[test]
fn ids_are_found_without_a_table() {
    let dir = tempfile::TempDir::new().unwrap();
    let bytes = assetq_sample::vrb::demo(1, assetq_sample::Size::Small);
    std::fs::write(dir.path().join("savegame.vrb"), bytes).unwrap();
    let rows = crate::common::json(dir.path(), &["find", "0x200", "savegame.vrb", "-f", "json"]);
    let tables: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["table"].as_str().unwrap()).collect();
    assert!(tables.contains(&"types") && tables.contains(&"chunks"), "{tables:?}");
}
