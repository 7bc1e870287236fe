//! FINAL FANTASY XIII trilogy folders: generated ones against a second reader, and damaged ones.

use crate::common::{run, writer};
use assetq::formats::ff13::white::layout::EntryLayout;
use assetq::formats::ff13::white::{GameKind, WhiteArchive};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::query::archive;
use assetq::query::archive::{Archive as _, Codec};
use assetq::{Asset, Format, Options, Source};
use assetq_sample::white::{self as build, Image, Listed, Written, folder};
use assetq_sample::{FILES, Size};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The published programs' way from an enciphered list to a plain one, step by step: a table of 33 keys by halves, eight
/// rounds of a substitution for each byte, subtraction with a borrow.
mod published {
    fn halves(value: u64) -> (u32, u32) {
        (value as u32, (value >> 32) as u32)
    }

    fn table(base: &[u8]) -> Vec<u8> {
        // Four bytes of the seed as a signed number, widened, reversed, and its halves turned.
        let signed = i32::from_be_bytes([base[9], base[12], base[2], base[0]]);
        let mut seed = (i64::from(signed) as u64).to_le_bytes();
        seed.reverse();
        let half_a = u32::from_le_bytes(seed[0..4].try_into().unwrap());
        let half_b = u32::from_le_bytes(seed[4..8].try_into().unwrap());
        let half_a = half_a.rotate_left(8);
        let half_b = half_b.rotate_left(16);
        let mut block = [half_b.to_le_bytes(), half_a.to_le_bytes()].concat();
        block[0] = (u32::from(block[0]) + 0x45) as u8;
        for i in 1..8 {
            let mut tmp = i32::from(block[i]) + 0xD4 + i32::from(block[i - 1]);
            tmp ^= i32::from(block[i - 1]) << 2;
            tmp ^= 0x45;
            block[i] = tmp as u8;
        }
        let mut table = block.clone();
        let mut previous = u64::from_le_bytes(block.try_into().unwrap());
        for _ in 1..33 {
            let (low, high) = halves(previous);
            let mut a = previous.wrapping_mul(5);
            a ^= u64::from(high) << 32;
            let tmp_low = low ^ a as u32;
            let tmp_high = (a >> 32) as u32;
            a = u64::from(low) | (a & 0xFFFF_FFFF_0000_0000);
            let next_low = (a ^ u64::from(tmp_low)) as u32;
            let next_high = tmp_high ^ high;
            table.extend(next_low.to_le_bytes());
            table.extend(next_high.to_le_bytes());
            previous = u64::from(next_low) | u64::from(next_high) << 32;
        }
        table
    }

    fn eight_rounds(mut byte: u32, keys: &[u8]) -> u8 {
        for key in keys {
            let substituted = (byte as i32 + 120) & 0xFF;
            byte = (substituted - i32::from(*key)) as u32 & 0xFF;
        }
        byte as u8
    }

    /// All blocks after the header of 32 bytes.
    pub fn decrypt(file: &[u8]) -> Vec<u8> {
        let table = table(&file[..16]);
        let size = u32::from_be_bytes(file[16..20].try_into().unwrap()) as usize + 8;
        let mut out = Vec::new();
        for n in 0..size / 8 {
            let counter = 8 * n as u32;
            let bytes = &file[32 + 8 * n..40 + 8 * n];
            let offset = (counter as u16 >> 3 << 3) as usize & 0xF8;
            let keys = &table[offset..offset + 8];
            let mut plain = [0; 8];
            for i in 0..8 {
                let mixed = if i == 0 {
                    (counter >> 3 ^ 69) & 255 ^ u32::from(bytes[0])
                } else {
                    u32::from(bytes[i - 1] ^ bytes[i])
                };
                plain[i] = eight_rounds(mixed, keys);
            }
            let mut low = i64::from(u32::from_le_bytes(plain[0..4].try_into().unwrap()));
            let mut high = i64::from(u32::from_le_bytes(plain[4..8].try_into().unwrap()));
            let key_low = i64::from(u32::from_le_bytes(keys[0..4].try_into().unwrap()));
            let key_high = i64::from(u32::from_le_bytes(keys[4..8].try_into().unwrap()));
            let (a, b) = halves(u64::from(counter) << 10);
            let (c, d) = halves(u64::from(counter) << 20);
            let (e, f) = halves(u64::from(counter) << 30);
            let (e, f) = (e | counter | c | a, f | d | b);
            let carry = i64::from(e > !0xA165_2347);
            let special_low = i64::from(e) + 0xA165_2347;
            let special_high = i64::from(f) + carry;
            let borrow = i64::from(low < key_low);
            low -= key_low;
            high -= key_high;
            high -= borrow;
            low ^= special_low;
            high ^= special_high;
            low ^= key_low;
            high ^= key_high;
            out.extend((high as u32).to_le_bytes());
            out.extend((low as u32).to_le_bytes());
        }
        out
    }
}

/// A file as a plain reader finds it.
#[derive(Debug, PartialEq)]
struct Plain {
    code: u32,
    offset: u64,
    size: u64,
    stored: u64,
    path: String,
}

/// Reads a list whole. Chunks of the later layout are counted, as the older programs do.
fn plain(file: &[u8], layout: EntryLayout) -> Vec<Plain> {
    let is_enciphered = file[20..24] == [0x78, 0x34, 0xE0, 0x1D];
    let deciphered = if is_enciphered { published::decrypt(file) } else { file.to_vec() };
    let list = &deciphered[..];
    let u32_at = |at: usize| u32::from_le_bytes(list[at..at + 4].try_into().unwrap()) as usize;
    let u16_at = |at: usize| u16::from_le_bytes(list[at..at + 2].try_into().unwrap()) as usize;
    let (info, data, files) = (u32_at(0), u32_at(4), u32_at(8));
    let mut chunks = Vec::new();
    for at in (info..data).step_by(12) {
        let mut texts = Vec::new();
        let from = data + u32_at(at + 8);
        let mut stream = flate2::read::ZlibDecoder::new(&list[from..from + u32_at(at + 4)]);
        stream.read_to_end(&mut texts).unwrap();
        assert_eq!(texts.len(), u32_at(at));
        chunks.push(texts);
    }
    let mut found = Vec::new();
    let mut current: isize = -1;
    for at in (12..).step_by(8).take(files) {
        let (chunk, position) = match layout {
            EntryLayout::First => (u16_at(at + 4), u16_at(at + 6)),
            EntryLayout::Later => {
                let word = u16_at(at + 4);
                if word == 0 || word == 0x8000 {
                    current += 1;
                }
                (current as usize, if word >= 0x8000 { word - 0x8000 } else { word })
            }
        };
        let text: Vec<u8> = chunks[chunk][position..].iter().copied().take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8(text).unwrap();
        let parts: Vec<&str> = text.split(':').collect();
        let hex = |part: &str| u64::from_str_radix(part, 16).unwrap();
        found.push(Plain {
            code: u32_at(at) as u32,
            offset: hex(parts[0]) * 2048,
            size: hex(parts[1]),
            stored: hex(parts[2]),
            path: parts[3].to_owned(),
        });
    }
    assert!(chunks.last().unwrap().ends_with(b"end\0"));
    found
}

fn open(path: &Path) -> Asset {
    Asset::open_at(path, &Options::default()).unwrap()
}

fn with_game(kind: GameKind) -> Options {
    Options::default().with(Arc::new(kind))
}

fn game(kind: GameKind) -> (TempDir, Vec<Written>) {
    let dir = TempDir::new().unwrap();
    let files = folder(5, Size::Small, kind, writer(dir.path()));
    (dir, files)
}

const LISTS: [&str; 4] = [
    "sys/filelistc.win32.bin",
    "sys/filelistu.win32.bin",
    "sys/filelist_scru.win32.bin",
    "zone/filelist_z001u.win32.bin",
];

#[test]
fn the_archive_says_what_a_plain_reader_finds() {
    for kind in GameKind::ALL {
        let (dir, files) = game(kind);
        let data = dir.path().join(kind.folder());
        let expected = LISTS.map(|list| plain(&fs::read(data.join(list)).unwrap(), build::layout_of(kind)));
        assert!(expected[1].len() > 60, "there are several chunks");
        for folder in [dir.path(), &data] {
            let asset = open(folder);
            assert_eq!(
                (asset.format(), asset.get::<WhiteArchive>().unwrap().kind()),
                (assetq::formats::ff13::WHITE, Some(kind))
            );
            let archive = asset.reader().archive().unwrap();
            assert_eq!(archive.len().unwrap(), files.len());
            let mut n = 0;
            for (list, expected) in LISTS.iter().zip(&expected) {
                for (number, plain) in expected.iter().enumerate() {
                    let (file, written) = (archive.file(n).unwrap(), &files[n]);
                    let name = list.split('/').nth(1).unwrap();
                    let path = if plain.path == " " { format!("unnamed/{name}/{number}") } else { plain.path.clone() };
                    assert_eq!((&*file.path, file.offset, file.size), (&*path, Some(plain.offset), plain.size));
                    assert_eq!((file.stored_size, file.installed), (plain.stored, true));
                    assert_eq!(file.codec, if plain.size == plain.stored { Codec::None } else { Codec::Zlib });
                    assert_eq!((file.list.as_deref(), written.list), (Some(name), name));
                    let opened = archive::open(archive, &file, "GAME").unwrap();
                    assert_eq!(
                        (opened.bytes(), written.path.as_deref()),
                        (&written.bytes[..], Some(&*path).filter(|_| plain.path != " "))
                    );
                    n += 1;
                }
            }
            let report = asset.reader().verify(&Default::default());
            assert!(report.is_ok(), "{report:?}");
            let codes = asset.reader().table("entries").unwrap();
            assert_eq!(codes.value(3, 2).unwrap().to_string(), format!("0x{:08X}", expected[1][1].code));
        }
    }
}

#[test]
fn the_cipher_is_that_of_the_published_programs() {
    for seed in [[0; 16], [0xFF; 16], std::array::from_fn(|i| (i * 37 + 100) as u8), std::array::from_fn(|i| i as u8)] {
        // More blocks than keys, and enough for several threads.
        let bytes: Vec<u8> = (0..200_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let plain = build::with_crypt_header(&bytes, seed);
        let enciphered = build::encrypt(&bytes, seed);
        assert_eq!(published::decrypt(&enciphered), plain[32..]);
        let files = [Listed { code: 1, kind: 2, text: b"0:4:4:a.txt".to_vec() }];
        let list = build::list(EntryLayout::Later, &files, 512);
        let enciphered = build::encrypt(&[&list[..], &bytes].concat(), seed);
        let asset = Asset::open(Source::from_vec("filelistu.win32.bin", enciphered)).unwrap();
        assert_eq!(asset.reader().archive().unwrap().file(0).unwrap().path, "a.txt");
        assert!(asset.reader().warnings().is_empty(), "the sum over all of it is right");
    }
}

#[test]
fn chunks_are_told_by_number_and_not_by_order() {
    // Listed from the last chunk to the first: who counts chunks reads the wrong texts.
    let texts: Vec<Listed> =
        (0..40).map(|n| Listed { code: n, kind: n as u8, text: format!("{n:x}:1:1:file {n}").into_bytes() }).collect();
    let list = build::list(EntryLayout::Later, &texts, 40);
    let files = 40;
    let mut reversed = list.clone();
    for n in 0..files {
        let (from, to) = (12 + 8 * n, 12 + 8 * (files - 1 - n));
        reversed[to..to + 8].copy_from_slice(&list[from..from + 8]);
    }
    let game = WhiteArchive::open(Source::from_vec("x", reversed), &with_game(GameKind::LightningReturns)).unwrap();
    let paths: Vec<String> = (0..files).map(|n| game.file(n).unwrap().path.into_owned()).collect();
    assert_eq!(paths, (0..files).rev().map(|n| format!("file {n}")).collect::<Vec<_>>());
    assert!(game.table("lists").unwrap().value(0, 3).unwrap().to_string().parse::<usize>().unwrap() > 9);
    for n in 0..files {
        let found = game.find(&format!("file {n}")).unwrap().unwrap();
        assert_eq!(found, game.file(files - 1 - n).unwrap());
    }
}

#[test]
fn a_sheet_in_a_pack_opens_by_its_address_and_the_first_list_wins() {
    let (dir, files) = game(GameKind::Second);
    let (out, _) = run(dir.path(), 0, &["ls", "alba_data:db/resident/wdbpack.bin:bt_chainbonus.wdb", "-f", "csv"]);
    assert!(out.starts_with("record,u6WhoFrom") && out.contains("chain_a,"), "{out}");
    let bytes = |list: &str| {
        let is = |file: &&Written| file.list == list && file.path.as_deref() == Some("db/resident/item.wdb");
        &files.iter().find(is).unwrap().bytes
    };
    let first = open(&dir.path().join("alba_data"));
    let archive = first.reader().archive().unwrap();
    let name = |address: &str| dir.path().join(address).to_str().unwrap().to_owned();
    assert_eq!(archive.find("db/resident/item.wdb").unwrap().unwrap().list.unwrap(), "filelistc.win32.bin");
    for (address, list) in [
        ("alba_data:db/resident/item.wdb", "filelistc.win32.bin"),
        ("alba_data/sys/filelistc.win32.bin:db/resident/item.wdb", "filelistc.win32.bin"),
        ("alba_data/sys/filelistu.win32.bin:db/resident/item.wdb", "filelistu.win32.bin"),
    ] {
        assert_eq!(open(Path::new(&name(address))).source().bytes(), bytes(list), "{address}");
    }
    // The answer is the same before there is an index of all paths and with it.
    let item = archive.find("db/resident/item.wdb").unwrap().unwrap();
    assert_eq!(archive.file(archive.position("db/resident/item.wdb").unwrap().unwrap()).unwrap(), item);
    let unnamed = "unnamed/filelistu.win32.bin/3";
    let file = archive.find(unnamed).unwrap().unwrap();
    assert_eq!(archive.file(archive.position(unnamed).unwrap().unwrap()).unwrap(), file);
    for none in ["unnamed/filelistu.win32.bin/0", "unnamed/filelistu.win32.bin/03", "unnamed/x/3", "unnamed/", "", " "]
    {
        assert_eq!(archive.find(none).unwrap(), None, "{none:?}");
        assert_eq!(
            WhiteArchive::open(Source::of_folder(dir.path()), &Options::default()).unwrap().find(none).unwrap(),
            None
        );
    }
    let (out, _) = run(
        dir.path(),
        0,
        &[
            "sql",
            "SELECT count(*) AS n FROM files JOIN entries ON files.list = entries.list AND files.path = entries.path WHERE file_code < '0x01000002'",
            ".",
            "-f",
            "ndjson",
        ],
    );
    assert_eq!(out, "{\"n\":6}\n");
}

#[test]
fn one_list_is_told_by_its_bytes_and_wants_to_know_its_game() {
    let (dir, files) = game(GameKind::First);
    let list = fs::read(dir.path().join("white_data/sys/filelistu.win32.bin")).unwrap();
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    let there = dir.path().join("elsewhere");
    fs::write(there.join("filelistu.win32.bin"), &list).unwrap();
    let (_, err) = run(&there, 2, &["ls", "filelistu.win32.bin"]);
    assert_eq!(
        err,
        "assetq: filelistu.win32.bin: the list does not say which game it is of: give --game ff13, ff13-2 or lr\n"
    );
    let (out, _) = run(&there, 0, &["ls", "filelistu.win32.bin", "--game", "ff13", "-f", "csv"]);
    assert_eq!(out.lines().count(), 1 + files.iter().filter(|file| file.list == "filelistu.win32.bin").count());
    assert!(out.contains("white_imgu.win32.bin,0x0,false") || out.contains(",white_imgu.win32.bin,0,false,"), "{out}");
    let (_, err) = run(&there, 1, &["info", "--game", "ff13", "filelistu.win32.bin:db/resident/item.wdb"]);
    assert!(err.ends_with("db/resident/item.wdb: white_imgu.win32.bin is not installed\n"), "{err}");
    run(&dir.path().join("white_data/sys"), 0, &["ls", "filelistu.win32.bin"]);

    assert_eq!(Format::detect(&Source::from_vec("x", list.clone())).unwrap(), assetq::formats::ff13::WHITE);
    let enciphered = build::encrypt(&list, [7; 16]);
    assert_eq!(Format::detect(&Source::from_vec("x", enciphered.clone())).unwrap(), assetq::formats::ff13::WHITE);
    let game = WhiteArchive::open(Source::from_vec("x", enciphered), &with_game(GameKind::First)).unwrap();
    assert!(matches!(game.len().unwrap_err().kind(), ErrorKind::Syntax { .. }));
    for (name, format, make) in FILES {
        assert_ne!(*format, assetq::formats::ff13::WHITE, "{name}");
        assert_ne!(
            Format::detect(&Source::from_vec("x", make(9, Size::Small))).unwrap(),
            assetq::formats::ff13::WHITE,
            "{name}"
        );
    }
}

#[test]
fn a_list_whose_cipher_was_removed_is_read_as_it_is() {
    let (dir, _) = game(GameKind::LightningReturns);
    let path = dir.path().join("weiss_data/sys/filelistu.win32.bin");
    let enciphered = fs::read(&path).unwrap();
    let plain = [&enciphered[..32], &published::decrypt(&enciphered)].concat();
    let paths = |bytes: Vec<u8>| {
        let game = WhiteArchive::open(Source::from_vec("filelistu.win32.bin", bytes), &Options::default()).unwrap();
        (0..game.len().unwrap()).map(|n| game.file(n).unwrap().path.into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(plain), paths(enciphered));
}

#[test]
fn a_wrong_checksum_is_said_and_refused_when_strict() {
    let files = [Listed { code: 1, kind: 2, text: b"0:4:4:a.txt".to_vec() }];
    let list = build::list(EntryLayout::Later, &files, 512);
    let mut bytes = build::with_crypt_header(&list, [1; 16]);
    let trailer = bytes.len() - 8;
    bytes[32 + 12] ^= 1;
    let game = WhiteArchive::open(Source::from_vec("filelistu.win32.bin", bytes.clone()), &Options::default()).unwrap();
    assert_eq!(game.file(0).unwrap().path, "a.txt");
    let said = "sum of every fourth byte: checksum is";
    assert!(game.warnings()[0].contains(said), "{:?}", game.warnings());
    let report = game.verify(&Default::default());
    let found = report.checks[0].findings()[0].to_string();
    assert!(found.contains(said) && found.ends_with(&format!("(at offset {:#x})", trailer + 4)), "{found}");
    let mut strict = Options::default();
    strict.strict = true;
    assert!(WhiteArchive::open(Source::from_vec("x", bytes.clone()), &strict).unwrap().file(0).is_err());
    // A size that is not the header's: it was not deciphered rightly.
    bytes[trailer] ^= 8;
    let game = WhiteArchive::open(Source::from_vec("x", bytes), &Options::default()).unwrap();
    let error = game.len().unwrap_err().to_string();
    assert!(error.contains("size in the deciphered trailer, which is not that of the header"), "{error}");
}

#[test]
fn what_an_entry_lies_about_is_an_error_of_its_file() {
    let dir = TempDir::new().unwrap();
    let mut image = Image::default();
    let good = image.add("good.bin", b"0123456789", false);
    let deflated = image.add("deflated.bin", &[7; 1000], true);
    let mut lies = image.add("lies.bin", &[7; 1000], true);
    lies.splice(2..5, *b"3e9");
    let texts: [&[u8]; 9] = [
        &good,
        &deflated,
        &lies,
        b"FFFFFFFFFFFFFFFF:1:1:sector",
        b"ffff:1:1:behind",
        b"0:1:1",
        b"0:+1:1:sign",
        b"0:1:11111111111111111:digits",
        b"0:\xff:1:bytes",
    ];
    let listed: Vec<Listed> = texts.map(|text| Listed { code: 0, kind: 0, text: text.to_vec() }).to_vec();
    let mut list = build::list(EntryLayout::First, &listed, 512);
    writer(dir.path())("white_data/sys/white_imgu.win32.bin", image.into_bytes());
    writer(dir.path())("white_data/sys/filelistu.win32.bin", list.clone());
    let asset = open(dir.path());
    let archive = asset.reader().archive().unwrap();
    let said = |n: usize| {
        let opened = archive.file(n).and_then(|file| archive::open(archive, &file, "GAME"));
        opened.map(|source| source.bytes().to_vec()).map_err(|error| error.to_string())
    };
    assert_eq!((said(0).unwrap(), said(1).unwrap()), (b"0123456789".to_vec(), vec![7; 1000]));
    assert!(
        said(2)
            .unwrap_err()
            .contains("in white_imgu.win32.bin at 0x1000: zlib: 1000 bytes come out, 1001 are declared")
    );
    assert!(said(3).unwrap_err().starts_with("file 3: entries: its text is \"FFFFFFFFFFFFFFFF:1:1:sector\""));
    assert!(said(4).unwrap_err().contains("data in white_imgu.win32.bin at 0x7fff800: 1 bytes needed, 0 left"));
    for n in 5..9 {
        assert!(said(n).unwrap_err().contains("not SECTOR:SIZE:STORED:PATH (at offset 0x"), "{:?}", said(n));
    }
    // A missing chunk, and a position after the texts of its chunk.
    list[12 + 4] = 9;
    list[12 + 8 + 6..12 + 8 + 8].copy_from_slice(&0xFFFFu16.to_le_bytes());
    let game = WhiteArchive::open(Source::from_vec("x", list), &with_game(GameKind::First)).unwrap();
    assert_eq!(
        game.file(0).unwrap_err().to_string(),
        "file 0: entries: number of a chunk: 9 is not allowed (at offset 0x10)"
    );
    assert!(
        game.file(1)
            .unwrap_err()
            .to_string()
            .contains("position of a text in its chunk: 65535 is not allowed (at offset 0x18)")
    );
    assert_eq!(game.file(2).unwrap().path, "lies.bin");
}

/// Lists of this game have no checksums of files, and the images are not there.
#[test]
fn games_without_their_images_are_compared_by_their_lists() {
    let game = |texts: &[&str]| {
        let dir = TempDir::new().unwrap();
        let listed = |text: &&str| Listed { code: 0, kind: 0, text: text.as_bytes().to_vec() };
        let list = build::list(EntryLayout::First, &texts.iter().map(listed).collect::<Vec<_>>(), 512);
        writer(dir.path())("white_data/sys/filelistu.win32.bin", list);
        dir
    };
    let old = game(&["0:64:64:a.bin", "1:c8:64:b.bin", "2:c8:64:c.bin"]);
    let same = game(&["0:64:64:a.bin", "1:c8:64:b.bin", "7:c8:64:c.bin"]);
    let new = game(&["0:64:64:a.bin", "1:c8:70:b.bin", "2:c9:64:c.bin"]);
    let diff = |code, new: &TempDir| {
        let (out, err) = run(old.path(), code, &["diff", ".", new.path().to_str().unwrap(), "-f", "csv"]);
        assert_eq!(err.matches("is not installed").count(), 1, "{err}");
        (out, err)
    };
    let (out, err) = diff(0, &same);
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(err.contains("white_imgu.win32.bin is not installed: 3 files in it compared by the list alone"), "{err}");
    let (out, _) = diff(1, &new);
    assert!(!out.contains("a.bin"), "{out}");
    assert!(out.contains("b.bin") && out.contains("stored_size") && out.contains("112"), "{out}");
    assert!(out.contains("c.bin") && out.contains("201"), "{out}");
}

#[test]
fn counts_that_promise_too_much_are_refused() {
    let listed = [Listed { code: 0, kind: 0, text: b"0:1:1:a".to_vec() }];
    let list = build::list(EntryLayout::First, &listed, 512);
    let said = |list: Vec<u8>| {
        let game = WhiteArchive::open(Source::from_vec("x", list), &with_game(GameKind::First)).unwrap();
        game.len().and_then(|_| game.file(0)).unwrap_err().to_string()
    };
    let with = |at: usize, value: u32| {
        let mut list = list.clone();
        list[at..at + 4].copy_from_slice(&value.to_le_bytes());
        list
    };
    let len = list.len() - 12;
    assert_eq!(
        said(with(8, u32::MAX)),
        format!("entries: {} bytes needed, {len} left (at offset 0xc)", 8 * u64::from(u32::MAX))
    );
    assert_eq!(said(with(4, 0)), "header: chunk data offset: 0 is not allowed (at offset 0x4)");
    assert!(said(with(4, u32::MAX)).starts_with("chunk table: "));
    assert!(said(with(20, u32::MAX)).contains("bytes of all chunks together: "));
    assert!(said(with(20, 1 << 20)).contains("bytes of the texts of a chunk: 1048576 is more than the limit"));
    assert!(said(with(20, 3)).contains("more than the declared 3 bytes come out"));
    assert!(said(with(24, u32::MAX)).contains("chunk: 4294967295 bytes needed"));
    // Many rows of the table with one stream.
    let mut many = 12u32.to_le_bytes().to_vec();
    let rows = 10_000u32;
    many.extend((12 + 12 * rows).to_le_bytes());
    many.extend(0u32.to_le_bytes());
    let stream = assetq_sample::deflate(&vec![0; 100_000], 6, true);
    for _ in 0..rows {
        many.extend([100_000, stream.len() as u32, 0].into_iter().flat_map(u32::to_le_bytes));
    }
    many.extend(stream);
    assert!(said(many).contains("bytes of all chunks together: 1000000000 is more than the limit"));
}

#[test]
fn a_damaged_list_does_not_keep_others_from_being_read() {
    let (dir, files) = game(GameKind::Second);
    fs::write(dir.path().join("alba_data/sys/filelistu.win32.bin"), vec![0; 100]).unwrap();
    fs::remove_file(dir.path().join("alba_data/zone/white_z001u_img.win32.bin")).unwrap();
    let asset = open(dir.path());
    let archive = asset.reader().archive().unwrap();
    let others = files.iter().filter(|file| file.list != "filelistu.win32.bin").count();
    assert_eq!((archive.len().unwrap(), archive.damage().len()), (others, 1));
    let error = archive.damage().remove(0).to_string();
    assert!(error.starts_with("filelistu.win32.bin: "), "{error}");
    assert_eq!(archive.find("sys/script.clb").unwrap().unwrap().list.unwrap(), "filelist_scru.win32.bin");
    let zone = archive.find("zone/z001/event.bin").unwrap().unwrap();
    assert!(!zone.installed);
    let error = archive::open(archive, &zone, "GAME").unwrap_err().to_string();
    assert_eq!(error, "white_z001u_img.win32.bin is not installed");
    let (_, err) = run(dir.path(), 3, &["ls", ".", "--long"]);
    assert!(err.lines().count() == 1 && err.contains("filelistu.win32.bin: "), "{err}");
    let (out, _) = run(dir.path(), 3, &["verify", ".", "-f", "json"]);
    assert!(out.contains("not installed"), "{out}");
}

#[test]
fn unsafe_names_are_listed_and_lead_nowhere() {
    let dir = TempDir::new().unwrap();
    let mut image = Image::default();
    let names = ["../../out.txt", "/etc/out.txt", "C:/out.txt", "a\\..\\out.txt", "nul", "ok/fine.txt"];
    let listed: Vec<Listed> =
        names.iter().map(|name| Listed { code: 0, kind: 0, text: image.add(name, b"x", false) }).collect();
    writer(dir.path())("white_data/sys/white_imgu.win32.bin", image.into_bytes());
    writer(dir.path())("white_data/sys/filelistu.win32.bin", build::list(EntryLayout::First, &listed, 512));
    let (out, _) = run(dir.path(), 0, &["ls", ".", "-f", "csv", "-c", "path"]);
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), names);
    let (out, err) = run(dir.path(), 3, &["extract", ".", "--to", "a/b/c"]);
    assert_eq!((&*out.replace('\\', "/"), err.lines().count()), ("a/b/c/ok/fine.txt\n", 5), "{err}");
    assert!(!dir.path().join("a/out.txt").exists());
}

#[test]
fn a_folder_without_lists_is_no_archive() {
    let dir = TempDir::new().unwrap();
    writer(dir.path())("white_data/sys/white_imgu.win32.bin", vec![0; 100]);
    let error = Asset::open_at(dir.path(), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownFolder), "{error}");
    let error = WhiteArchive::open(Source::of_folder(dir.path()), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotInstalled { .. }), "{error}");
}
