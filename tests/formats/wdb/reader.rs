//! Sheets and packs, whole files: generated and real ones.

use super::sheets::*;
use assetq::formats::ff13::wdb::{FieldKind, KnownFields, Naming, Pack, Sheet};
use assetq::formats::{ErrorKind, Reader};
use assetq::query::archive;
use assetq::query::archive::{choose, open_inside};
use assetq::table::{Tree, Value};
use assetq::{Asset, Options, Source};
use assetq_sample::Size;
use assetq_sample::wdb::{self as build, Cell, Game};

mod generated {
    use super::*;

    /// The value that a cell must come back as, from the field's name.
    fn expected(name: &str, cell: &Cell) -> Value<'static> {
        match (cell, &name[..1]) {
            (Cell::Text(text), _) => Value::owned(String::from_utf8(text.clone()).unwrap()),
            (Cell::Float(value), _) => Value::F32(*value),
            (Cell::Int(value), "u") => Value::Uint(*value as u64),
            (Cell::Int(value), _) => Value::Int(*value),
        }
    }

    fn compare(sheet: &Sheet, built: &build::Sheet) {
        let names: Vec<_> = built.field_names().collect();
        assert_eq!(sheet.fields().iter().map(|f| &*f.name).collect::<Vec<_>>(), names);
        let table = sheet.table("records").unwrap();
        assert_eq!(table.len().unwrap(), built.records().len());
        let mut cursor = table.cursor(0);
        for (row, (name, cells)) in built.records().iter().enumerate() {
            assert!(cursor.advance().unwrap());
            assert_eq!(cursor.row(), row);
            assert_eq!(cursor.value(0).unwrap().as_text().unwrap().as_bytes(), name);
            for (column, (cell, field)) in cells.iter().zip(&names).enumerate() {
                assert_eq!(cursor.value(column + 1).unwrap(), expected(field, cell), "record {row}, {field}");
                assert_eq!(table.value(row, column + 1).unwrap(), expected(field, cell));
            }
        }
        assert!(!cursor.advance().unwrap());
        assert!(cursor.value(0).is_ok(), "the last row stays");
        assert!(table.value(built.records().len(), 0).is_err());
        assert!(table.value(0, names.len() + 1).is_err());
    }

    #[test]
    fn every_cell_comes_back() {
        for (seed, fields) in [(1, 60), (2, 26), (3, 1), (4, 7), (5, 113)] {
            let built = build::generated(seed, Game::Later, 300, fields);
            let sheet = sheet(built.build());
            assert_eq!(sheet.naming(), &Naming::Sheet);
            compare(&sheet, &built);
            assert_eq!(findings(&sheet), [""; 0]);
        }
    }

    /// Arrays of texts have those that records name.
    #[test]
    fn a_sheet_without_records_has_empty_arrays_and_is_whole() {
        let mut arrays = 0;
        for seed in 0..8 {
            let sheet = sheet(build::generated(seed, Game::Later, 0, 20).build());
            assert_eq!(sheet.table("records").unwrap().len().unwrap(), 0);
            assert_eq!(findings(&sheet), [""; 0]);
            let sections = Reader::sections(&sheet);
            arrays += usize::from(sections.iter().any(|part| part.name == "!!strArray" && part.size == 0));
        }
        assert!(arrays > 0);
    }

    #[test]
    fn the_first_game_reads_with_a_list_of_names() {
        let built = build::generated(9, Game::First, 200, 40);
        let names: Vec<_> = built.field_names().collect();
        let list = KnownFields::parse(&format!("[generated]\n{}\n", names.join("\n")), "mine").unwrap();
        let known = KnownFields::builtin().extended(list);
        let source = Source::from_vec("db/Generated.wdb", built.build());
        let sheet = Sheet::open_with(source, &known).unwrap();
        assert_eq!(sheet.naming(), &Naming::Known { note: None, confirmed: true });
        compare(&sheet, &built);
        assert_eq!(findings(&sheet), [""; 0]);
    }

    #[test]
    fn opening_says_what_it_is() {
        let bytes = small();
        let asset = Asset::open(Source::from_vec("small.wdb", bytes.clone())).unwrap();
        assert_eq!(asset.format(), assetq::formats::ff13::WDB);
        let reader = asset.reader();
        assert_eq!(reader.version(), "0x12345678");
        let facts = reader.facts();
        assert_eq!(facts[0], ("sheet".into(), Value::text("Small")));
        let tables: Vec<_> = reader.tables().iter().map(|t| (t.name().to_owned(), t.len().unwrap())).collect();
        assert_eq!(tables, [("records".into(), 3), ("sections".into(), 9), ("fields".into(), 8)]);
        let sections = reader.table("sections").unwrap();
        assert_eq!(sections.value(4, 0).unwrap(), Value::text("!!string"));
        assert_eq!(sections.value(4, 1).unwrap(), Value::Uint(at(&bytes, "!!string") as u64));
        let fields = reader.table("fields").unwrap();
        let field = |row| (0..6).map(|c| fields.value(row, c).unwrap().to_string()).collect::<Vec<_>>();
        assert_eq!(field(2), ["2", "u9SaveIndex", "uint", "9", "4", "7"]);
        assert_eq!(field(7), ["7", "s4Family", "string array", "4", "20", "0"]);
    }

    #[test]
    fn one_record_is_shown_whole() {
        let sheet = sheet(small());
        let mut tree = Tree::default();
        assert!(sheet.cat("a", &mut tree).unwrap());
        let text = "{record: a, sName: one, u7Race: 5, u9SaveIndex: 300, i8Random: -3, fScale: 0.5, uFlags: 7, \
                    iDelta: -1, s4Family: flan}";
        assert_eq!(tree.into_value().to_string(), text);
        assert!(!sheet.cat("d", &mut Tree::default()).unwrap());
    }

    #[test]
    fn columns_have_names_of_their_own() {
        let bytes = build::Sheet::new(Game::Later, "Twice")
            .fields(["uA", "uA", "uA_2", "record", "uA"])
            .record("r", [1, 2, 3, 4, 5].map(Cell::Int))
            .build();
        let sheet = sheet(bytes);
        let table = sheet.table("records").unwrap();
        let names: Vec<_> = table.columns().iter().map(|c| c.name.to_string()).collect();
        assert_eq!(names, ["record", "uA", "uA_3", "uA_2", "record_2", "uA_4"]);
    }
}

mod lookup {
    use super::*;

    fn with_names(names: &[&str]) -> Sheet {
        let empty = build::Sheet::new(Game::Later, "Names").fields(["uRow"]);
        let add = |sheet: build::Sheet, (row, name): (usize, &&str)| sheet.record(name, [Cell::Int(row as i64)]);
        sheet(names.iter().enumerate().fold(empty, add).build())
    }

    #[test]
    fn names_in_order_and_not() {
        let sorted = ["a", "a1", "b", "sixteen_letters_", "z"];
        for names in [sorted, ["z", "b", "sixteen_letters_", "a", "a1"]] {
            let sheet = with_names(&names);
            for (row, name) in names.iter().enumerate() {
                assert_eq!(sheet.find(name), Some(row), "{name}");
            }
            for name in ["", "A", "a0", "a11", "zz", "sixteen_letters", "seventeen_letters", "a\0"] {
                assert_eq!(sheet.find(name), None, "{name:?}");
            }
        }
        assert_eq!(with_names(&[]).find("a"), None);
    }

    #[test]
    fn all_rows_of_a_name_are_found() {
        for names in [["a", "b", "b", "c"], ["b", "c", "a", "b"]] {
            let sheet = with_names(&names);
            let rows: Vec<_> = (0..4).filter(|&row| names[row] == "b").collect();
            assert_eq!(sheet.rows_named("b").collect::<Vec<_>>(), rows);
            let table = sheet.table("records").unwrap();
            assert_eq!(table.find(0, &Value::text("b")).unwrap().unwrap(), rows);
            assert!(table.find(1, &Value::Uint(1)).is_none());
            assert_eq!(findings(&sheet).len(), 1);
        }
    }

    #[test]
    fn a_name_that_is_not_text_is_found_as_it_is_shown() {
        let built = build::Sheet::new(Game::Later, "Bytes").fields(["uRow"]).record(b"a\xFF", [Cell::Int(0)]);
        let sheet = sheet(built.build());
        assert_eq!(sheet.record(0).unwrap().name(), "a\\xff");
        assert_eq!(sheet.find("a\\xff"), Some(0));
        assert!(findings(&sheet)[0].contains("not UTF-8"));
    }
}

mod first_game {
    use super::*;

    fn chain() -> build::Sheet {
        build::Sheet::new(Game::First, "")
            .fields(build::CHAINS)
            .record("x", [1, 2, 3, 4, 5, 6, 7, 8, 9, 150].map(Cell::Int))
    }

    #[test]
    fn known_names_are_used_where_they_fit() {
        let sheet = named("db/resident/BT_Chainbonus.wdb", chain().build());
        assert_eq!(sheet.naming(), &Naming::Known { note: None, confirmed: true });
        assert_eq!(cells(&sheet, 0)[8..], ["Uint(9)", "Uint(150)"]);
        assert_eq!(sheet.sheet_name().unwrap(), None);
    }

    #[test]
    fn known_names_that_do_not_fit_are_not_believed() {
        let sheet = named("item.wdb", chain().build());
        assert_eq!(sheet.naming(), &Naming::Unknown);
        let shown: Vec<_> = sheet.fields().iter().map(|f| (&*f.name, f.kind)).collect();
        assert_eq!(shown, ["field_0", "field_1", "field_2"].map(|name| (name, FieldKind::Raw)));
        let word = 1 | 2 << 6 | 3 << 12 | 4 << 18 | 5 << 24;
        assert_eq!(cells(&sheet, 0)[0], format!("Id32({word})"));
        assert_eq!(findings(&sheet), [""; 0]);
    }

    #[test]
    fn kinds_of_unknown_fields_come_from_both_lists() {
        let built = build::Sheet::new(Game::First, "")
            .fields(["fA", "sB", "uC", "iD"])
            .packed_word("iE")
            .record("x", [1.5.into(), "text".into(), 9.into(), (-9).into(), (-5).into()]);
        let sheet = named("nobody.wdb", built.build());
        assert_eq!(cells(&sheet, 0), ["F32(1.5)", "Text(\"text\")", "Uint(9)", "Int(-9)", "Int(-5)"]);
    }

    #[test]
    fn the_word_count_decides_between_two_lists() {
        for (stem, which, words) in [
            ("bt_summon", "twice", 42),
            ("bt_summon", "once", 41),
            ("fieldcamera", "10 bits", 39),
            ("fieldcamera", "1 bit", 38),
        ] {
            let known = KnownFields::builtin();
            let list = known.lists_for(stem).find(|list| list.note.as_ref().unwrap().contains(which)).unwrap();
            let built = build::Sheet::new(Game::First, "").fields(list.fields.iter().map(String::as_str));
            let cells = list.fields.iter().map(|f| match (&f[..1], f.as_bytes()[1].is_ascii_digit()) {
                ("s", _) => Cell::from("x"),
                ("f", false) => Cell::Float(1.0),
                _ => Cell::Int(1),
            });
            let sheet = named(&format!("{stem}.wdb"), built.record("r", cells.collect::<Vec<_>>()).build());
            assert_eq!(sheet.record_size(), words * 4, "{stem} {which}");
            assert_eq!(sheet.naming(), &Naming::Known { note: list.note.clone(), confirmed: true });
        }
    }

    #[test]
    fn a_64_bit_field_takes_two_words() {
        let built = build::Sheet::new(Game::First, "")
            .fields(["sZoneName", "uCinemaSize", "u64CinemaStart"])
            .record("x", [Cell::from("z003"), 77.into(), 0x1_2345_6789_ABCD.into()]);
        let sheet = named("movie_items_us.ps3.wdb", built.build());
        assert!(matches!(sheet.naming(), Naming::Known { confirmed: true, .. }), "{:?}", sheet.naming());
        assert_eq!(
            cells(&sheet, 0),
            ["Text(\"z003\")".to_owned(), "Uint(77)".into(), format!("Uint({})", 0x1_2345_6789_ABCDu64)]
        );
        assert_eq!(findings(&sheet), [""; 0]);
    }

    #[test]
    fn every_known_list_reads_a_sheet_made_from_it() {
        for list in KnownFields::builtin().lists() {
            let built = build::Sheet::new(Game::First, "").fields(list.fields.iter().map(String::as_str));
            let cells = list.fields.iter().map(|f| match (&f[..1], f.as_bytes()[1].is_ascii_digit()) {
                ("s", false) => Cell::from("x"),
                ("f", false) => Cell::Float(1.0),
                ("i" | "f", _) => Cell::Int(-1),
                _ => Cell::Int(1),
            });
            let built = built.record("r", cells.collect::<Vec<_>>());
            let stem = list.stems[0].replace('#', "7");
            let sheet = named(&format!("{stem}.wdb"), built.build());
            assert!(matches!(sheet.naming(), Naming::Known { confirmed: true, .. }), "{stem}");
            let names: Vec<_> = sheet.fields().iter().map(|f| &f.name).collect();
            assert_eq!(names, list.fields.iter().collect::<Vec<_>>());
            for (field, cell) in list.fields.iter().zip(super::cells(&sheet, 0)) {
                let right = match &field[..1] {
                    "s" => "Text(\"x\")",
                    "f" if cell.starts_with("F32") => "F32(1.0)",
                    "i" | "f" => "Int(-1)",
                    _ => "Uint(1)",
                };
                assert_eq!(cell, right, "{stem}: {field}");
            }
        }
    }
}

mod packs {
    use super::*;

    #[test]
    fn entries_are_listed_and_opened_in_place() {
        let bytes = build::demo_pack(7, Size::Small);
        let asset = Asset::open(Source::from_vec("db/pack.bin", bytes.clone())).unwrap();
        assert_eq!(asset.format(), assetq::formats::ff13::WPD);
        let pack = asset.get::<assetq::formats::ff13::wdb::Pack>().unwrap();
        assert_eq!(findings(pack), [""; 0]);
        let entries = pack.table("entries").unwrap();
        let row = |row| (0..4).map(|c| entries.value(row, c).unwrap().to_string()).collect::<Vec<_>>();
        let clb = at(&bytes, "0cf22cd9a62847b5");
        assert_eq!(row(2), ["0cf22cd9a62847b5", "clb", &clb.to_string(), "840"]);
        assert_eq!(row(3)[..2], ["readme", ""]);
        for name in ["readme", "0cf22cd9a62847b5.clb", "0cf22cd9a62847b5"] {
            assert!(pack.open_entry(name).is_ok(), "{name}");
        }
        assert_eq!(pack.open_entry("readme").unwrap().bytes(), b"a file without extension");
        assert_eq!(pack.open_entry("0cf22cd9a62847b5.clb").unwrap().bytes(), &bytes[clb..clb + 840]);
        for name in ["readme.", "0cf22cd9a62847b5.cl", "READme", ""] {
            assert!(matches!(pack.open_entry(name).unwrap_err().kind(), ErrorKind::NotFound { .. }), "{name}");
        }
    }

    #[test]
    fn all_sheets_are_tables_of_the_pack() {
        let pack = Pack::open(Source::from_vec("pack.bin", build::demo_pack(7, Size::Small))).unwrap();
        let names: Vec<_> = pack.tables().iter().map(|t| t.name().to_owned()).collect();
        assert_eq!(names, ["entries", "sheets", "bt_chainbonus", "btscene"]);
        let sheets = pack.table("sheets").unwrap();
        let row = |row| (0..5).map(|c| sheets.value(row, c).unwrap().to_string()).collect::<Vec<_>>();
        assert_eq!(row(0), ["bt_chainbonus.wdb", "bt_chainbonus", "", "2", "10"]);
        assert_eq!(row(1), ["btscene.wdb", "btscene", "Generated", "12", "20"]);
        // Known names are chosen by the name of the entry.
        let chain = pack.table("bt_chainbonus").unwrap();
        assert_eq!(chain.columns()[10].name, "u16Bonus");
        assert_eq!(chain.value(1, 10).unwrap(), Value::Uint(65_535));
        let mut tree = Tree::default();
        assert!(pack.cat("bt_chainbonus.wdb", &mut tree).unwrap());
        assert!(tree.into_value().to_string().contains("{record: chain_b, u6WhoFrom: 9, "));
    }

    #[test]
    fn a_sheet_inside_of_a_pack_names_offsets_of_its_own() {
        let inner = small();
        let record = at(&inner, "b");
        let outer = build::pack(&[("other", "bin", vec![1; 100]), ("small", "wdb", inner)]);
        let pack = build::pack(&[("outer", "bin", outer)]);
        let mut broken = pack.clone();
        let open = |pack| {
            let pack = Asset::open(Source::from_vec("pack.bin", pack)).unwrap();
            open_inside(&pack, "outer.bin:small.wdb", &Options::default()).unwrap()
        };
        let asset = open(pack);
        assert_eq!(asset.source().name(), "pack.bin:outer.bin:small.wdb");
        let sheet = asset.source().bytes();
        let start = broken.windows(sheet.len()).position(|bytes| bytes == sheet).unwrap();
        patch(&mut broken, start + record, &[0xFF; 4]);
        let asset = open(broken);
        let sheet = asset.get::<Sheet>().unwrap();
        let row = sheet.find("b").unwrap();
        let error = sheet.record(row).unwrap().value(0).unwrap_err();
        assert_eq!(error.offset(), Some(record as u64), "{error}");
    }

    #[test]
    fn names_of_entries_are_as_they_are_and_all_different() {
        let files = [
            ("../../up", "x", b"1".to_vec()),
            ("..", "", b"2".to_vec()),
            ("a/b\\c:d", "", b"3".to_vec()),
            ("Same", "bin", b"4".to_vec()),
            ("same", "bin", b"5".to_vec()),
            ("", "", b"6".to_vec()),
        ];
        let pack = Pack::open(Source::from_vec("pack.bin", build::pack(&files))).unwrap();
        let named = choose(&pack, |_| true, |error| panic!("{error}")).unwrap();
        let names: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["../../up.x", "..", "a/b\\c:d", "Same.bin", "same.bin~4", ""]);
        for ((_, file), (_, _, data)) in named.iter().zip(&files) {
            assert_eq!(archive::open(&pack, file, "pack.bin").unwrap().bytes(), data);
        }
        let ends_in_bin = choose(&pack, |file| file.path.ends_with(".bin"), |error| panic!("{error}")).unwrap();
        assert_eq!(ends_in_bin.len(), 2);
    }

    #[test]
    fn an_entry_that_leaves_the_file() {
        let mut bytes = build::demo_pack(7, Size::Small);
        let (readme, _) = entry(&bytes, "readme");
        patch(&mut bytes, readme + 20, &0x7FFF_FFFFu32.to_be_bytes());
        let pack = Pack::open(Source::from_vec("pack.bin", bytes)).unwrap();
        let error = pack.open_entry("readme").unwrap_err();
        assert!(error.to_string().starts_with("entry readme: data: 2147483647 bytes needed"), "{error}");
        assert!(findings(&pack)[0].contains("\"readme\" leaves the file"));
        assert!(pack.open_entry("btscene").is_ok());
    }
}

mod real {
    use super::*;
    use std::path::PathBuf;

    fn sample(path: &str) -> Option<PathBuf> {
        let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
            println!("skipped: ASSETQ_SAMPLES is not set");
            return None;
        };
        Some(PathBuf::from(folder).join(path))
    }

    fn text(sheet: &Sheet, record: &str, field: &str) -> String {
        let table = sheet.table("records").unwrap();
        let column = assetq::table::column_index(&*table, field).unwrap();
        table.value(sheet.find(record).unwrap(), column).unwrap().to_string()
    }

    #[test]
    fn a_sheet_of_xiii_2() {
        let Some(path) = sample("wdb/btstab00032.wdb") else { return };
        let sheet = Sheet::open(Source::open(path).unwrap()).unwrap();
        assert_eq!(sheet.sheet_name().unwrap().unwrap(), "BtSceneTable");
        assert_eq!((sheet.records().len(), sheet.fields().len(), sheet.record_size()), (5, 55, 128));
        assert_eq!(sheet.version(), "0x7C69B67A");
        assert_eq!(findings(&sheet), [""; 0]);
        assert!(sheet.find("gyca_msn01_00").is_some());
    }

    #[test]
    fn a_sheet_of_lightning_returns_with_string_arrays() {
        let Some(path) = sample("wdb/monster_book.wdb") else { return };
        let sheet = Sheet::open(Source::open(path).unwrap()).unwrap();
        assert_eq!((sheet.records().len(), sheet.fields().len(), sheet.record_size()), (191, 26, 76));
        assert_eq!(findings(&sheet), [""; 0]);
        assert_eq!(text(&sheet, "m012_break", "record"), "m012_break");
        let families: std::collections::BTreeSet<_> =
            sheet.records().iter().map(|r| text(&sheet, &r.name_text(), "s4CountToSpec")).collect();
        assert!(
            families.len() > 1
                && families.contains("")
                && families.iter().all(|f| f.is_empty() || f.starts_with('m') || f.starts_with('v')),
            "{families:?}"
        );
    }

    #[test]
    fn a_pack_of_lightning_returns() {
        let Some(path) = sample("wpd/btlclb.bin") else { return };
        let pack = Pack::open(Source::open(path).unwrap()).unwrap();
        assert_eq!(pack.entries().len(), 125);
        assert_eq!(findings(&pack), [""; 0]);
        assert!(pack.sheets().is_empty());
        assert_eq!(pack.tables().len(), 1);
        let entry = pack.open_entry("ca5de2270ec5fd96.clb").unwrap();
        assert_eq!((entry.bytes().len(), entry.view("").offset()), (20_664, 4096));
    }
}

mod filters {
    use super::*;
    use assetq::table::filter::Filter;

    fn select(sheet: &Sheet, text: &str) -> Vec<String> {
        let table = sheet.table("records").unwrap();
        let bound = Filter::parse(text).unwrap().bind(table.columns()).unwrap();
        let mut rows = bound.walk_over(&*table, None);
        let mut names = Vec::new();
        while rows.advance().unwrap() {
            if bound.matches(&*rows).unwrap() {
                names.push(rows.value(0).unwrap().to_string());
            }
        }
        names
    }

    #[test]
    fn records_are_chosen_by_their_fields() {
        let sheet = sheet(small());
        assert_eq!(select(&sheet, "u9SaveIndex > 10"), ["a", "b"]);
        assert_eq!(select(&sheet, "u9SaveIndex > 10 and not i8Random = -3"), ["b"]);
        assert_eq!(select(&sheet, "s4Family = ''"), ["b"]);
        assert_eq!(select(&sheet, "sName ~ 't*' or iDelta = 0"), ["b", "c"]);
        assert_eq!(select(&sheet, "record = 'c' and fScale = 0"), ["c"]);
    }

    #[test]
    fn a_record_by_its_name_is_a_probe() {
        let sheet = sheet(build::generated(1, Game::Later, 500, 5).build());
        let table = sheet.table("records").unwrap();
        let bound = Filter::parse("record = 'r0000444'").unwrap().bind(table.columns()).unwrap();
        assert_eq!(bound.candidates(&*table).unwrap(), [444]);
        assert_eq!(select(&sheet, "record = 'r0000444'"), ["r0000444"]);
        assert_eq!(select(&sheet, "record = 'nobody'"), [""; 0]);
    }
}
