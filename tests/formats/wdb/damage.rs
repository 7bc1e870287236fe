//! Sheets and packs that are damaged, by accident or on purpose.

use super::sheets::*;
use assetq::Source;
use assetq::formats::ErrorKind;
use assetq::formats::ff13::wdb::{Pack, Sheet};
use assetq::table::Value;
use assetq_sample::wdb::{self as build, Cell, Game};

mod damaged {
    use super::*;

    /// The cells of the record that `break_it` does not touch are the same as before; gives those that are not.
    fn broken(break_it: impl Fn(&mut Vec<u8>)) -> Vec<String> {
        let whole = sheet(small());
        let mut bytes = small();
        break_it(&mut bytes);
        let sheet = sheet(bytes);
        let mut errors = Vec::new();
        for row in 0..3 {
            for (was, is) in cells(&whole, row).into_iter().zip(cells(&sheet, row)) {
                match is.strip_prefix('!') {
                    Some(error) => errors.push(error.to_owned()),
                    None => assert_eq!(was, is),
                }
            }
        }
        assert!(!findings(&sheet).is_empty(), "verify says nothing");
        errors
    }

    #[test]
    fn a_text_offset_outside_of_the_pool() {
        let errors = broken(|bytes| {
            let record = at(bytes, "b");
            patch(bytes, record, &9999u32.to_be_bytes());
        });
        let record = at(&small(), "b");
        assert_eq!(
            errors,
            [format!("record b, field sName: cell: offset in !!string: 9999 is not allowed (at offset {record:#x})")]
        );
    }

    #[test]
    fn a_text_without_nul() {
        let errors = broken(|bytes| {
            let (entry, _) = entry(bytes, "!!string");
            let size = u32::from_be_bytes(bytes[entry + 20..entry + 24].try_into().unwrap());
            patch(bytes, entry + 20, &(size - 1).to_be_bytes());
        });
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].starts_with("record b, field sName: ") && errors[0].contains("no terminating NUL"),
            "{errors:?}"
        );
    }

    #[test]
    fn a_pool_that_leaves_the_file() {
        let errors = broken(|bytes| {
            let (entry, _) = entry(bytes, "!!string");
            patch(bytes, entry + 16, &0xFFFF_0000u32.to_be_bytes());
        });
        assert_eq!(errors.len(), 6);
        assert!(
            errors[0].contains("record a, field sName: !!string: ") && errors[0].contains("0xffff0000"),
            "{}",
            errors[0]
        );
    }

    #[test]
    fn an_index_outside_of_its_array() {
        let errors = broken(|bytes| {
            let record = at(bytes, "c");
            bytes[record + 23] = 15;
        });
        let cell = at(&small(), "c") + 20;
        assert_eq!(
            errors,
            [format!(
                "record c, field s4Family: cell: index into a string array: 15 is not allowed (at offset {cell:#x})"
            )]
        );
    }

    #[test]
    fn an_info_section_of_another_size_or_with_other_numbers() {
        for (name, value) in [("size", 3u32), ("size", 8)] {
            let errors = broken(|bytes| {
                let (entry, _) = entry(bytes, "!!strArrayInfo");
                patch(bytes, entry + 20, &value.to_be_bytes());
            });
            assert_eq!(errors.len(), 3);
            assert!(errors[0].contains(name) && errors[0].contains("!!strArrayInfo"), "{}", errors[0]);
        }
        for numbers in [[0, 9], [3, 0], [3, 33], [4, 9], [255, 255]] {
            let errors = broken(|bytes| {
                let info = at(bytes, "!!strArrayInfo");
                patch(bytes, info + 2, &numbers);
            });
            assert_eq!(errors.len(), 3);
            assert!(errors[0].contains("items in a word and their bits"), "{}", errors[0]);
        }
    }

    #[test]
    fn as_many_arrays_as_fields_that_index_them() {
        for size in [0u32, 8] {
            let errors = broken(|bytes| {
                let (entry, _) = entry(bytes, "!!strArrayList");
                patch(bytes, entry + 20, &size.to_be_bytes());
            });
            assert_eq!(errors.len(), 3);
            assert!(errors[0].contains("arrays for 1 fields"), "{}", errors[0]);
        }
        let errors = broken(|bytes| {
            let list = at(bytes, "!!strArrayList");
            patch(bytes, list, &5u32.to_be_bytes());
        });
        assert!(errors.len() == 3 && errors[0].contains("start of a string array: 5"), "{errors:?}");
    }

    #[test]
    fn a_record_shorter_than_its_sheet_says() {
        let errors = broken(|bytes| {
            let (entry, _) = entry(bytes, "b");
            patch(bytes, entry + 20, &10u32.to_be_bytes());
        });
        assert_eq!(errors.len(), 4, "{errors:?}");
        let cell = at(&small(), "b") + 8;
        assert_eq!(
            errors[0],
            format!(
                "record b, field fScale: cell: the record has 10 bytes, its sheet's fields take 24 (at offset {cell:#x})"
            )
        );
    }

    #[test]
    fn a_record_that_leaves_the_file() {
        let errors = broken(|bytes| {
            let (entry, _) = entry(bytes, "c");
            let start = (bytes.len() - 8) as u32;
            let copy = bytes[at(bytes, "c")..at(bytes, "c") + 8].to_vec();
            let len = bytes.len();
            patch(bytes, len - 8, &copy);
            patch(bytes, entry + 16, &start.to_be_bytes());
        });
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(errors[0].contains("record c, field fScale: record: 24 bytes needed, 8 left"), "{}", errors[0]);
        let errors = broken(|bytes| {
            let (entry, _) = entry(bytes, "a");
            patch(bytes, entry + 16, &[0xFF; 8]);
        });
        assert_eq!(errors.len(), 8, "{errors:?}");
    }

    #[test]
    fn field_lists_of_another_length_than_the_words() {
        let names = ["uA", "uB"];
        let longer = build::Sheet::new(Game::Later, "x").fields(names).record("r", [1, 2].map(Cell::Int)).build();
        // One word kind less: the second field has none.
        let mut bytes = longer.clone();
        let (kinds, _) = entry(&bytes, "!!strtypelistb");
        patch(&mut bytes, kinds + 20, &1u32.to_be_bytes());
        let short = sheet(bytes);
        assert_eq!(cells(&short, 0)[0], "Uint(1)");
        assert!(cells(&short, 0)[1].starts_with("!record r, field uB: cell: the sheet lists more fields than words"));
        assert!(findings(&short).iter().any(|f| f.contains("uB")));
        // One name less: the second word belongs to no field, and is shown.
        let mut bytes = longer;
        let (names, _) = entry(&bytes, "!structitem");
        patch(&mut bytes, names + 20, &3u32.to_be_bytes());
        let long = sheet(bytes);
        assert_eq!(cells(&long, 0), ["Uint(1)", "Uint(2)"]);
        assert_eq!(long.fields()[1].name, "field_1");
        let found = findings(&long);
        assert!(
            found.iter().any(|f| f.contains("the last 1 words"))
                && found.iter().any(|f| f.contains("1 field names, 2 announced")),
            "{found:?}"
        );
    }

    /// The cells of a sheet whose field `was` is called `is`.
    fn renamed(was: &str, is: &str) -> Vec<String> {
        let names = ["u4A", "u8B", "u4C", "u32D", "uE", "sF"];
        let built = build::Sheet::new(Game::Later, "x").fields(names);
        let mut bytes =
            built.record("r", [1.into(), 2.into(), 3.into(), 4.into(), 5.into(), Cell::from("six")]).build();
        let from = at(&bytes, "!structitem");
        let place = bytes[from..].windows(was.len()).position(|w| w == was.as_bytes()).unwrap() + from;
        patch(&mut bytes, place, is.as_bytes());
        cells(&sheet(bytes), 0)
    }

    #[test]
    fn widths_that_no_word_has_room_for() {
        let shown = renamed("u32D", "u33D");
        assert_eq!(shown[..3], ["Uint(1)", "Uint(2)", "Uint(3)"]);
        assert!(shown[3].starts_with("!record r, field u33D: cell: its name gives a width"), "{}", shown[3]);
        assert_eq!(shown[4..], ["Uint(5)", "Text(\"six\")"]);
        let shown = renamed("u4C", "u0C");
        assert_eq!(shown[..2], ["Uint(1)", "Uint(2)"]);
        assert!(shown[2].starts_with("!record r, field u0C: "), "{}", shown[2]);
        assert_eq!(shown[3..], ["Uint(4)", "Uint(5)", "Text(\"six\")"]);
    }

    #[test]
    fn letters_that_stand_for_nothing() {
        let shown = renamed("u8B", "q8B");
        assert!(shown[1].contains("a letter that stands for no kind"), "{}", shown[1]);
        assert_eq!(shown[2..], ["Uint(3)", "Uint(4)", "Uint(5)", "Text(\"six\")"]);
        // In a word of its own the word's kind says what it is.
        assert_eq!(renamed("sF", "qF")[5], "Text(\"six\")");
        assert_eq!(renamed("uE", "iE")[4], "Int(5)");
    }

    #[test]
    fn text_that_is_not_utf8_is_shown_escaped() {
        let built =
            build::Sheet::new(Game::Later, "x").fields(["sA"]).record("r", [Cell::Text(b"a\x83\x5Cb\xFF".to_vec())]);
        let sheet = sheet(built.build());
        assert_eq!(sheet.record(0).unwrap().value(0).unwrap(), Value::text("a\\x83\\b\\xff"));
        assert!(findings(&sheet)[0].contains("not valid UTF-8 after 1 units"), "{:?}", findings(&sheet));
    }

    #[test]
    fn a_text_longer_than_any_is_an_error() {
        let build = |len: usize| {
            let built = build::Sheet::new(Game::Later, "x").fields(["sA", "uB"]);
            sheet(built.record("r", [Cell::Text(vec![b'x'; len]), Cell::Int(7)]).build())
        };
        assert!(cells(&build(65_535), 0)[0].starts_with("Text"));
        let long = build(65_536);
        assert!(
            cells(&long, 0)[0].contains("bytes of a text: 65537 is more than the limit of 65536"),
            "{}",
            cells(&long, 0)[0]
        );
        assert_eq!(cells(&long, 0)[1], "Uint(7)");
        assert!(findings(&long)[0].contains("bytes of a text"));
    }

    #[test]
    fn headers_that_lie() {
        let open = |bytes: Vec<u8>| Sheet::open(Source::from_vec("x.wdb", bytes)).unwrap_err();
        for count in [13u32, 0xFFFF_FFFF, 1_000_000] {
            let mut bytes = small();
            patch(&mut bytes, 4, &count.to_be_bytes());
            let sheet = Sheet::open(Source::from_vec("x.wdb", bytes));
            match sheet {
                // The data after the table is read as one more record.
                Ok(sheet) => assert!(count == 13 && !findings(&sheet).is_empty()),
                Err(error) => assert!(matches!(error.kind(), ErrorKind::OutOfBounds { .. }), "{error}"),
            }
        }
        let mut bytes = small();
        bytes[0] = b'X';
        assert!(matches!(open(bytes).kind(), ErrorKind::BadMagic { .. }));
        let mut bytes = small();
        let (kinds, _) = entry(&bytes, "!!strtypelistb");
        bytes[kinds + 2] = b'x';
        assert!(open(bytes).to_string().contains("neither !!strtypelist nor !!strtypelistb"));
        let mut bytes = small();
        let (names, _) = entry(&bytes, "!structitem");
        patch(&mut bytes, names + 16, &[0x7F; 4]);
        let error = open(bytes);
        assert!(error.part() == "!structitem" && error.offset() == Some(0x7F7F_7F7F), "{error}");
        // More sections than a sheet can have are not counted to their end.
        let mut bytes = b"WPD\0\0\0\0\x50\0\0\0\0\0\0\0\0".to_vec();
        bytes.extend([b'!'; 0x20 * 0x50]);
        assert!(matches!(open(bytes).kind(), ErrorKind::Limit { .. }));
    }

    #[test]
    fn too_many_fields_are_refused() {
        let mut bytes = small();
        let offset = bytes.len() as u32;
        bytes.extend(b"u\0".repeat(70_000));
        let (names, _) = entry(&bytes, "!structitem");
        patch(&mut bytes, names + 16, &offset.to_be_bytes());
        patch(&mut bytes, names + 20, &140_000u32.to_be_bytes());
        let error = Sheet::open(Source::from_vec("x.wdb", bytes)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { limit: 65_536, .. }), "{error}");
    }

    #[test]
    fn string_arrays_in_any_order() {
        // Two fields; both arrays have two words; in the second file the list is not ascending, in the third the
        // first array is empty.
        let names = ["s4A", "s4B"];
        let pairs = [("one", "uno"), ("two", "due"), ("three", "tre")];
        let built =
            pairs.iter().enumerate().fold(build::Sheet::new(Game::Later, "x").fields(names), |sheet, (i, (a, b))| {
                sheet.record(format!("r{i}"), [Cell::from(*a), Cell::from(*b)])
            });
        let bytes = built.build();
        let list = at(&bytes, "!!strArrayList");
        let values = |bytes: Vec<u8>| {
            let sheet = sheet(bytes);
            (0..3).map(|row| cells(&sheet, row)).collect::<Vec<_>>()
        };
        let right = values(bytes.clone());
        assert_eq!(right[2], ["Text(\"three\")", "Text(\"tre\")"]);
        let second: [u8; 4] = bytes[list + 4..list + 8].try_into().unwrap();
        assert_ne!(second, [0; 4]);
        let mut swapped = bytes.clone();
        patch(&mut swapped, list, &second);
        patch(&mut swapped, list + 4, &[0; 4]);
        let swapped = values(swapped);
        assert_eq!(swapped[1], ["Text(\"due\")", "Text(\"two\")"]);
        let mut empty = bytes;
        patch(&mut empty, list + 4, &[0; 4]);
        let empty = values(empty);
        assert!(empty[0][0].contains("index into a string array: 0"), "{}", empty[0][0]);
        assert_eq!(empty[1][1], "Text(\"two\")");
    }
}

mod hostile {
    use super::*;
    use std::time::{Duration, Instant};

    /// Whatever repeats itself on purpose costs no more than its file.
    #[test]
    fn what_overlaps_is_bounded() {
        let started = Instant::now();
        // Records that all are one record, with a text of megabytes.
        let mut bytes = b"WPD\0".to_vec();
        let (records, text) = (20_000u32, 3_000_000u32);
        bytes.extend((records + 4).to_be_bytes());
        bytes.extend([0; 8]);
        let table = 0x10 + (records as usize + 4) * 0x20;
        let mut add = |name: &[u8], offset: usize, size: u32| {
            let mut padded = [0u8; 16];
            padded[..name.len()].copy_from_slice(name);
            bytes.extend(padded);
            bytes.extend((offset as u32).to_be_bytes());
            bytes.extend(size.to_be_bytes());
            bytes.extend([0; 8]);
        };
        add(b"!!string", table, text + 1);
        add(b"!!strtypelistb", table + 3_000_004, 1000);
        add(b"!structitem", table + 3_001_004, 3000);
        add(b"!structitemnum", table, 4);
        (0..records).for_each(|_| add(b"same", table, text));
        bytes.resize(table + text as usize, b'x');
        bytes.extend([0; 4]);
        bytes.extend([2; 1000]);
        bytes.extend(b"sX\0".repeat(1000));
        let sheet = sheet(bytes.clone());
        assert_eq!(sheet.find("same"), Some(0));
        assert_eq!(sheet.rows_named("same").count(), 20_000);
        assert!(cells(&sheet, 7)[0].contains("offset in !!string: 2021161080"), "{}", cells(&sheet, 7)[0]);
        assert!(findings(&sheet).len() >= 100);
        // A pack of thousands of entries that all are that sheet.
        let inner = bytes;
        let mut pack = b"WPD\0".to_vec();
        pack.extend(5000u32.to_be_bytes());
        pack.extend([0; 8]);
        for _ in 0..5000 {
            pack.extend(b"sheet\0\0\0\0\0\0\0\0\0\0\0");
            pack.extend((0x10 + 5000 * 0x20u32).to_be_bytes());
            pack.extend((inner.len() as u32).to_be_bytes());
            pack.extend(b"wdb\0\0\0\0\0");
        }
        pack.extend(&inner);
        let pack = Pack::open(Source::from_vec("pack.bin", pack)).unwrap();
        assert_eq!(pack.sheets().iter().filter(|s| s.opened().is_some()).count(), 1);
        assert!(!findings(&pack).is_empty());
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}
