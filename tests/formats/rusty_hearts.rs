//! Rusty Hearts folders: generated ones against a second reader, and damaged ones.

use crate::common::{run, writer};
use assetq::formats::rusty_hearts::game_folder::layout::{KEY, LIST};
use assetq::formats::rusty_hearts::game_folder::{Key, RustyHeartsArchive};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::query::archive;
use assetq::query::archive::Archive;
use assetq::{Asset, Options, Source};
use assetq_sample::Size;
use assetq_sample::rusty_hearts::{ListRecords, folder, hash, pack, pack_folder, volume_of};
use serde_json::Value as Json;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

type Files = Vec<(String, Vec<u8>)>;

fn game() -> (TempDir, Files) {
    let dir = TempDir::new().unwrap();
    let files = folder(7, Size::Small, &KEY, writer(dir.path()));
    (dir, files)
}

fn open(path: &Path) -> Asset {
    Asset::open_at(path, &Options::default()).unwrap()
}

/// A record as a plain reader finds it.
#[derive(Debug, PartialEq)]
struct Plain {
    path: String,
    volume: u8,
    size: i32,
    crc: u32,
    offset: i64,
}

/// Reads a list as the published program does: byte after byte, all of it at once.
fn plain(dat: &[u8]) -> Vec<Plain> {
    let mut stream = dat.to_vec();
    for i in 0..stream.len() {
        stream[i] ^= KEY[i & 255];
    }
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(&stream[..]).read_to_end(&mut bytes).unwrap();
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let n = bytes[at] as usize + bytes[at + 1] as usize * 256;
        at += 2;
        let units: Vec<u16> = (0..n).map(|i| u16::from_le_bytes([bytes[at + 2 * i], bytes[at + 2 * i + 1]])).collect();
        at += 2 * n;
        found.push(Plain {
            path: String::from_utf16(&units).unwrap().split('\\').collect::<Vec<_>>().join("/"),
            volume: bytes[at],
            size: i32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()),
            crc: u32::from_le_bytes(bytes[at + 5..at + 9].try_into().unwrap()) ^ 0xFFFF_FFFF,
            offset: i64::from_le_bytes(bytes[at + 9..at + 17].try_into().unwrap()),
        });
        at += 17;
    }
    found
}

/// CRC-32 bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = 0xFFFF_FFFFu32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    crc ^ 0xFFFF_FFFF
}

#[test]
fn the_archive_says_what_a_plain_reader_finds() {
    let (dir, files) = game();
    let asset = open(dir.path());
    assert_eq!(asset.format(), assetq::formats::rusty_hearts::RUSTY_HEARTS);
    let archive = asset.reader().archive().unwrap();
    let expected = plain(&fs::read(dir.path().join(LIST)).unwrap());
    assert_eq!((archive.len().unwrap(), expected.len()), (files.len(), files.len()));
    for (n, (plain, (name, bytes))) in expected.iter().zip(&files).enumerate() {
        let file = archive.file(n).unwrap();
        assert_eq!((&*file.path, file.size, file.stored_size), (&*plain.path, plain.size as u64, plain.size as u64));
        assert_eq!(file.volume.as_deref(), Some(&*format!("{:03}.pck", plain.volume)));
        assert_eq!((file.offset, file.crc32, file.installed), (Some(plain.offset as u64), Some(plain.crc), true));
        assert_eq!((plain.volume, plain.crc), (volume_of(name), crc(bytes)));
        assert_eq!(archive.find(&plain.path).unwrap().as_ref(), Some(&file));
        assert_eq!(archive::open(archive, &file, "GAME").unwrap().bytes(), bytes);
    }
    let volumes = archive.volumes().unwrap();
    assert_eq!((volumes.len(), volumes.iter().map(|v| v.files).sum::<u64>()), (10, files.len() as u64));
    let report = asset.reader().verify(&Default::default());
    assert!(report.is_ok(), "{report:?}");
}

#[test]
fn a_map_opens_by_its_address_and_other_files_are_shown() {
    let (dir, files) = game();
    let name = dir.path().to_str().unwrap();
    let map = open(Path::new(&format!("{name}:world/town/town_01.wdata")));
    assert_eq!((map.format(), map.source().bytes()), (assetq::formats::rusty_hearts::WDATA, &files[0].1[..]));
    let (out, _) = run(dir.path(), 0, &["cat", ".", "world/town/town_01.wdata", "-f", "json"]);
    let shown: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["crc32"], format!("0x{:08X}", crc(&files[0].1)));
    let (out, _) = run(dir.path(), 0, &["sql", "SELECT path FROM files WHERE size = 0", ".", "-f", "csv"]);
    assert_eq!(out, "path\r\nempty.txt\r\n");
    let (_, err) = run(dir.path(), 1, &["info", "f00X.dat:World/Town/town_01.wdata"]);
    assert!(err.contains("did you mean \"world/town/town_01.wdata\"?"), "{err}");
    run(dir.path(), 0, &["extract", ".", "*", "--to", "out"]);
    for (name, bytes) in &files {
        assert_eq!(&fs::read(dir.path().join("out").join(name.replace('\\', "/"))).unwrap(), bytes, "{name}");
    }
}

#[test]
fn the_list_alone_and_a_missing_volume_say_what_is_not_there() {
    let (dir, files) = game();
    let town = "world/town/town_01.wdata";
    let missing = format!("{:03}.pck", volume_of(&files[0].0));
    fs::remove_file(dir.path().join(&missing)).unwrap();
    let asset = open(dir.path());
    let archive = asset.reader().archive().unwrap();
    let file = archive.find(town).unwrap().unwrap();
    assert!(!file.installed);
    let error = archive.stored(&file).unwrap_err();
    assert_eq!(error.to_string(), format!("{missing} is not installed"));
    let report = asset.reader().verify(&Default::default());
    assert!(report.is_ok() && report.checks[2].detail.ends_with("not installed"), "{report:?}");
    let (_, err) = run(dir.path(), 1, &["info", &format!(".:{town}")]);
    assert_eq!(err, format!("assetq: .:{town}: {missing} is not installed\n"));

    // Without a name, its bytes identify it; without a folder, it has no volumes.
    let dat = fs::read(dir.path().join(LIST)).unwrap();
    let alone = Asset::open(Source::from_vec("x", dat)).unwrap();
    assert_eq!(alone.format(), assetq::formats::rusty_hearts::RUSTY_HEARTS);
    let archive = alone.reader().archive().unwrap();
    assert_eq!(archive.len().unwrap(), files.len());
    assert!((0..files.len()).all(|n| !archive.file(n).unwrap().installed));
}

#[test]
fn a_list_under_another_key_wants_that_key() {
    let dir = TempDir::new().unwrap();
    let key: [u8; 256] = std::array::from_fn(|i| (i * 7 + 3) as u8);
    let files = folder(1, Size::Small, &key, writer(dir.path()));
    let asset = open(dir.path());
    let error = asset.reader().archive().unwrap().damage().remove(0);
    assert!(error.to_string().contains("list: zlib: "), "{error}");
    assert!(!asset.reader().verify(&Default::default()).is_ok());
    let hex: Vec<String> = key.chunks(16).map(|row| row.iter().map(|byte| format!("{byte:02X} ")).collect()).collect();
    fs::write(dir.path().join("key.bin"), key).unwrap();
    fs::write(dir.path().join("key.txt"), hex.join("\n")).unwrap();
    fs::write(dir.path().join("short.txt"), "00 01").unwrap();
    for file in ["key.bin", "key.txt"] {
        assert_eq!(Key::parse(&fs::read(dir.path().join(file)).unwrap()).unwrap(), Key::new(key));
        let (out, _) = run(dir.path(), 0, &["ls", ".", "-f", "csv", "--key", file]);
        assert_eq!(out.lines().count(), files.len() + 1);
    }
    let (_, err) = run(dir.path(), 2, &["ls", ".", "--key", "short.txt"]);
    assert_eq!(err, "assetq: short.txt: key: a key is 256 bytes, or 512 hexadecimal digits\n");
    let options = Options::default().with(Arc::new(Key::new(key)));
    assert_eq!(RustyHeartsArchive::open(Source::of_folder(dir.path()), &options).unwrap().len().unwrap(), files.len());
}

/// An archive of these records, whose volume 0 has 100 bytes.
fn with_records(records: &[u8]) -> (TempDir, Asset) {
    let dir = TempDir::new().unwrap();
    writer(dir.path())(LIST, pack(records, &KEY));
    writer(dir.path())("000.pck", (0..100).collect());
    let asset = open(dir.path());
    (dir, asset)
}

#[test]
fn what_a_record_lies_about_is_an_error_of_its_file() {
    let mut records = ListRecords::new();
    records.record("good", 0, 10, hash(&(20..30).collect::<Vec<u8>>()), 20);
    records.record("wrong crc", 0, 10, 7, 20);
    records.record("negative size", 0, -1, 0, 0);
    records.record("negative offset", 0, 1, 0, -1);
    records.record("too long", 0, 81, 0, 20);
    records.record("far", 0, 1, 0, i64::MAX);
    records.record("huge", 0, i32::MAX, 0, 0);
    records.record("", 0, 1, 0, 0);
    records.record("elsewhere", 255, 1, 0, 0);
    records.record("good", 0, 5, 0, 0);
    let (dir, asset) = with_records(records.bytes());
    let archive = asset.reader().archive().unwrap();
    assert_eq!(archive.len().unwrap(), 9, "a record without a name names no file");
    let said = |n: usize| {
        let opened = archive.file(n).and_then(|file| archive::open(archive, &file, "GAME"));
        opened.map(|source| source.bytes().to_vec()).map_err(|error| error.to_string())
    };
    assert_eq!(said(0).unwrap(), (20..30).collect::<Vec<u8>>());
    assert_eq!(said(2).unwrap_err(), "negative size: decoded list: size: -1 is not allowed (at offset 0x5d)");
    assert!(said(3).unwrap_err().contains("offset in the volume: -1 is not allowed"));
    assert_eq!(said(4).unwrap_err(), "data in 000.pck at 0x14: 81 bytes needed, 80 left");
    assert!(said(5).unwrap_err().contains("in 000.pck at 0x7fffffffffffffff: 1 bytes needed, 0 left"));
    assert!(said(6).unwrap_err().contains("2147483647 bytes needed, 100 left"));
    assert_eq!(said(7).unwrap_err(), "255.pck is not installed");
    assert_eq!(archive.find("good").unwrap().unwrap().size, 10, "the first of a name is found by it");
    let report = asset.reader().verify(&Default::default());
    let found: Vec<(&str, u64)> = report.checks.iter().map(|check| (&*check.name, check.found())).collect();
    assert_eq!(found, [("list", 0), ("paths", 1), ("files", 5)]);
    assert!(report.checks[0].detail.ends_with("9 files, 1 record without a name"), "{report:?}");
    let (_, err) = run(dir.path(), 3, &["extract", ".", "wrong crc", "--to", "-"]);
    assert!(err.contains("CRC-32 checksum is"), "{err}");
    // Entries that leave their volume are left out by name, and the sound ones are written.
    let (out, err) = run(dir.path(), 3, &["extract", ".", "--to", "all"]);
    assert_eq!(fs::read(dir.path().join("all/good")).unwrap(), (20..30).collect::<Vec<u8>>(), "{out}{err}");
    for name in ["negative size", "far", "huge", "too long"] {
        assert!(err.contains(name) && !dir.path().join("all").join(name).exists(), "{name}: {err}");
    }
    let (out, err) = run(dir.path(), 3, &["ls", ".", "-c", "path"]);
    assert!(out.contains("elsewhere") && err.contains("negative size"), "{out}{err}");
}

#[test]
fn a_list_that_cannot_be_read_is_one_error_and_no_rows() {
    let dir = TempDir::new().unwrap();
    writer(dir.path())(LIST, b"no list at all".to_vec());
    for (format, rows) in [("json", "[]\n"), ("ndjson", ""), ("csv", "path,")] {
        let (out, err) = run(dir.path(), 3, &["ls", ".", "-f", format]);
        assert!(out.starts_with(rows) && out.lines().count() <= 1, "{out}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    let (out, err) = run(dir.path(), 3, &["ls", "."]);
    assert!(!out.contains('-') && err.lines().count() == 1, "{out}{err}");
    let (_, err) = run(dir.path(), 3, &["info", ".:some.dds"]);
    assert!(err.contains("\"some.dds\" is not in the readable part of the list: list: zlib"), "{err}");
    let (out, _) = run(dir.path(), 3, &["verify", "."]);
    assert!(out.contains("BAD files"), "{out}");
}

#[test]
fn unsafe_names_are_listed_and_lead_nowhere() {
    let mut records = ListRecords::new();
    let names =
        [r"..\..\out.txt", r"C:\windows\out.txt", r"\etc\out.txt", "a/b.txt", "nul\0.txt", "con.txt", r"ok\fine.txt"];
    for name in names {
        records.record(name, 0, 4, hash(&[0, 1, 2, 3]), 0);
    }
    let (dir, _) = with_records(records.bytes());
    let (out, _) = run(dir.path(), 0, &["ls", ".", "-f", "ndjson", "-c", "path"]);
    assert!(out.starts_with("{\"path\":\"../../out.txt\"}\n{\"path\":\"C:/windows/out.txt\"}\n"), "{out}");
    let (out, err) = run(dir.path(), 3, &["extract", ".", "--to", "a/b/c"]);
    assert_eq!(out.replace('\\', "/").lines().collect::<Vec<_>>(), ["a/b/c/a/b.txt", "a/b/c/ok/fine.txt"]);
    assert_eq!(err.lines().count(), 5, "{err}");
    assert!(!dir.path().join("a/out.txt").exists() && !dir.path().join("a/b/out.txt").exists());
}

#[test]
fn a_list_cut_anywhere_keeps_what_comes_before() {
    let dir = TempDir::new().unwrap();
    let mut records = ListRecords::new();
    for n in 0..12 {
        records.record(&format!(r"folder\file {n}"), 0, 1, 0, n);
    }
    let dat = pack(records.bytes(), &KEY);
    writer(dir.path())("000.pck", vec![0; 100]);
    for end in 0..dat.len() {
        let source = Source::from_vec("f00X.dat", dat[..end].to_vec());
        let asset = RustyHeartsArchive::open(source, &Options::default()).map(Asset::from).unwrap();
        let archive = asset.reader().archive().unwrap();
        let files = archive.len().unwrap();
        assert!(files <= 12, "{end}: {files}");
        assert!((0..files).all(|n| archive.file(n).unwrap().path == format!("folder/file {n}")));
        assert!(archive.file(files).is_err() && archive.damage().len() == 1, "{end}");
    }
    for end in 0..records.bytes().len() {
        let (_dir, asset) = with_records(&records.bytes()[..end]);
        assert!(asset.reader().archive().unwrap().len().unwrap() <= 13);
        let report = asset.reader().verify(&Default::default());
        let starts: Vec<usize> = starts(&records);
        assert_eq!(report.is_ok(), starts.contains(&end), "{end}: {report:?}");
    }
}

/// Where records begin, and where the last one ends.
fn starts(records: &ListRecords) -> Vec<usize> {
    let (mut at, mut starts, bytes) = (0, vec![0], records.bytes());
    while at < bytes.len() {
        at += 2 + usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) * 2 + 17;
        starts.push(at);
    }
    starts
}

#[test]
fn a_list_that_decodes_to_more_than_a_list_can_is_refused_on_the_way() {
    let bomb = pack(&vec![0; 24 << 20], &KEY);
    assert!(bomb.len() < 100_000);
    let game = RustyHeartsArchive::open(Source::from_vec("f00X.dat", bomb), &Options::default()).unwrap();
    let error = game.damage().remove(0);
    assert!(error.to_string().contains("decoded bytes: "), "{error}");
    assert!(matches!(game.find("x"), Ok(None)));
}

#[test]
fn bytes_behind_the_stream_are_found_by_verify() {
    let mut records = ListRecords::new();
    records.record("a", 0, 1, hash(&[0]), 0);
    let mut dat = pack(records.bytes(), &KEY);
    let len = dat.len();
    dat.extend([1, 2, 3]);
    let game = RustyHeartsArchive::open(Source::from_vec("f00X.dat", dat), &Options::default()).unwrap();
    assert_eq!(game.file(0).unwrap().path, "a");
    let report = game.verify(&Default::default());
    let found = report.checks[0].findings()[0].to_string();
    assert_eq!(found, format!("list: 3 bytes left over after the stream (at offset {len:#x})"));
}

#[test]
fn a_folder_without_a_list_is_no_archive() {
    let dir = TempDir::new().unwrap();
    writer(dir.path())("000.pck", vec![0; 100]);
    let error = Asset::open_at(dir.path(), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownFolder), "{error}");
    let error = RustyHeartsArchive::open(Source::of_folder(dir.path()), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "f00X.dat is not installed");
}

/// A list may have a file twice: equal files are paired first.
#[test]
fn files_of_one_path_are_compared_by_their_contents() {
    let game = |texts: [&str; 3]| {
        let dir = TempDir::new().unwrap();
        let files = texts.map(|text| ("note.txt".to_owned(), text.as_bytes().to_vec()));
        pack_folder(&files, &KEY, writer(dir.path()));
        let asset = open(dir.path());
        (dir, asset)
    };
    let ((_old_dir, old), (_new_dir, new)) = (game(["one", "two", "six"]), game(["six", "one", "ten"]));
    let tables = assetq::diff::tables(&old, &new, &["files".to_owned()]).unwrap();
    let found = tables[0].find(&Default::default(), 0);
    assert_eq!((found.removed, found.added, found.changed), (vec![], vec![], vec![(1, 2)]));
}
