//! World of Warships archives: what the library reads of indexes, volumes and a game's folder, and what it makes of
//! damaged ones.

use assetq::formats::report::Progress;
use assetq::formats::wows::game_folder::{Variant, WowsArchive};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::query::archive;
use assetq::query::archive::{Archive as _, AtBuild, Cache, Codec, Game as _};
use assetq::table::{Tree, Value};
use assetq::{Asset, Options, Source};
use assetq_core::codec::{cityhash64, crc32};
use assetq_sample::Size;
use assetq_sample::wows::{self as build, FileEntry, How, NameEntry, Package};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const VARIANTS: [Variant; 2] = [Variant::V2, Variant::V1];

fn write(dir: &Path, path: &str, bytes: &[u8]) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn write_package(dir: &Path, name: &str, package: &Package) {
    write(dir, name, &package.index());
    package.volumes.iter().filter(|(name, _)| !name.contains("..")).for_each(|(name, bytes)| write(dir, name, bytes));
}

fn open(path: &Path) -> WowsArchive {
    WowsArchive::open(Options::default().source(path).unwrap(), &Options::default()).unwrap()
}

fn game_folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    build::game::<()>(1, Size::Small, |path, bytes| {
        write(dir.path(), path, bytes);
        Ok(())
    })
    .unwrap();
    dir
}

fn bytes(game: &WowsArchive, path: &str) -> assetq::Result<Vec<u8>> {
    let file = game.find(path)?.unwrap_or_else(|| panic!("no {path}"));
    Ok(archive::open(game, &file, "GAME")?.bytes().to_vec())
}

/// All entries of the archive: paths, or errors.
fn listing(game: &WowsArchive) -> Vec<Result<String, String>> {
    let file = |n| game.file(n).map(|file| file.path.into_owned()).map_err(|error| error.to_string());
    (0..game.len().unwrap()).map(file).collect()
}

fn findings(game: &WowsArchive) -> Vec<String> {
    let report = game.verify(&Progress::default());
    report.checks.iter().flat_map(|c| c.findings().iter().map(|e| format!("{}: {e}", c.name))).collect()
}

/// A few files in folders, stored in every way.
fn package(variant: Variant) -> (Package, Vec<(String, Vec<u8>)>) {
    let mut package = Package::new(variant, "one_0001.pkg");
    let long: Vec<u8> = (0..200_000u32).flat_map(|i| (i / 90).to_le_bytes()).collect();
    let files = vec![
        ("readme.txt".to_owned(), b"read me".to_vec()),
        ("content/ship/hull.dds".to_owned(), long),
        ("content/ship/empty.xml".to_owned(), Vec::new()),
        ("content/ship/deep/er/é.xml".to_owned(), b"<x/>".repeat(99)),
    ];
    for (n, (path, bytes)) in files.iter().enumerate() {
        let how = if n % 2 == 1 { How::Deflated } else { How::Stored };
        package.file(path, bytes, how);
        if n == 1 {
            package.volume("two_0001.pkg");
        }
    }
    (package, files)
}

/// Id, size, stored size, method and codec, CRC, volume, and offset of a file.
type Plain = (u64, u64, u64, [u64; 2], u64, String, u64);

/// A reader as simple as can be, of an index that is sound: its files by their paths.
fn read_plainly(data: &[u8]) -> BTreeMap<String, Plain> {
    let number = |at: usize, len: usize| (0..len).rev().fold(0u64, |n, i| n << 8 | u64::from(data[at + i]));
    let (u32, u64) = (|at: usize| number(at, 4), |at: usize| number(at, 8));
    let text = |at: u64, len: u64| String::from_utf8(data[at as usize..(at + len - 1) as usize].to_vec()).unwrap();
    let variant = u32(4);
    let wide = |n: usize| if variant == 0x0101_0004 { u32(16 + n * 4) } else { u64(16 + n * 8) };
    let (counts, places) = match variant {
        0x0200_0000 => ([u32(16), u32(20), u32(24)], [u64(32), u64(40), u64(48)]),
        _ => ([wide(0), wide(2), wide(4)], [wide(1), wide(3), wide(5)]),
    };
    let entries = |table: usize, size: u64| (0..counts[table]).map(move |n| (16 + places[table] + n * size) as usize);
    let (mut names, mut volumes) = (BTreeMap::new(), BTreeMap::new());
    for at in entries(0, if variant == 0x0101_0004 { 24 } else { 32 }) {
        let (id, parent, len, pointer) = match variant {
            0x0200_0000 => (u64(at + 16), u64(at + 24), u64(at), u64(at + 8)),
            0x0101_0004 => (u64(at), u64(at + 8), u32(at + 16), 16 + u32(at + 20)),
            _ => (u64(at), u64(at + 8), u64(at + 16), 16 + u64(at + 24)),
        };
        names.insert(id, (parent, text(at as u64 + pointer, len)));
    }
    for at in
        entries(2, [24, 16, 32][[0x0200_0000, 0x0101_0004, 0x0101_0005].iter().position(|v| *v == variant).unwrap()])
    {
        let (id, len, pointer) = match variant {
            0x0200_0000 => (u64(at + 16), u64(at), u64(at + 8)),
            0x0101_0004 => (u64(at), u32(at + 8), 8 + u32(at + 12)),
            _ => (u64(at), u64(at + 16), 16 + u64(at + 24)),
        };
        volumes.insert(id, text(at as u64 + pointer, len).trim_start_matches("//.//").to_owned());
    }
    let mut files = BTreeMap::new();
    for at in entries(1, 48) {
        let (id, volume, offset, how, stored, crc, size) = match variant {
            0x0200_0000 => (at, at + 8, at + 16, at + 24, at + 32, at + 36, u64(at + 40)),
            _ => (at + 32, at + 40, at, at + 24, at + 12, at + 16, u32(at + 20)),
        };
        let (mut path, mut next) = (String::new(), u64(id));
        while let Some((parent, name)) = names.get(&next) {
            path = if path.is_empty() { name.clone() } else { format!("{name}/{path}") };
            next = *parent;
        }
        let how = [u32(how), u32(how + 4)];
        files.insert(path, (u64(id), size, u32(stored), how, u32(crc), volumes[&u64(volume)].clone(), u64(offset)));
    }
    files
}

#[test]
fn every_variant_gives_its_files_back() {
    for variant in VARIANTS {
        let dir = tempfile::tempdir().unwrap();
        let (package, files) = package(variant);
        write_package(dir.path(), "one.idx", &package);
        for place in [dir.path().to_owned(), dir.path().join("one.idx")] {
            let asset = Asset::open_at(&place, &Options::default()).unwrap();
            assert_eq!(asset.format(), assetq::formats::wows::WOWS);
            let game = asset.get::<WowsArchive>().unwrap();
            for (path, wanted) in &files {
                assert_eq!(&bytes(game, path).unwrap(), wanted, "{variant:?} {path}");
                let file = game.find(path).unwrap().unwrap();
                assert_eq!((file.id, file.crc32), (Some(cityhash64(path.as_bytes())), Some(crc32(wanted))));
            }
            assert!(!game.has_tree(), "a file is found without the tree");
            assert_eq!(listing(game), files.iter().map(|(path, _)| Ok(path.clone())).collect::<Vec<_>>());
            for (n, (path, _)) in files.iter().enumerate() {
                assert_eq!(game.position(path).unwrap(), Some(n));
                assert_eq!(game.file(n).unwrap(), game.find(path).unwrap().unwrap());
            }
            let mut report = game.verify(&Progress::default());
            archive::verify_deep(game, &mut report, &Progress::default());
            assert!(report.is_ok(), "{variant:?} {report:?}");
        }
    }
}

#[test]
fn what_is_stored_is_not_copied() {
    let dir = tempfile::tempdir().unwrap();
    write_package(dir.path(), "one.idx", &package(Variant::V2).0);
    let game = open(dir.path());
    let file = game.find("readme.txt").unwrap().unwrap();
    let [first, again] = [0, 1].map(|_| archive::open(&game, &file, "GAME").unwrap());
    assert_eq!(first.bytes().as_ptr(), again.bytes().as_ptr());
    assert_eq!((first.bytes(), first.name()), (&b"read me"[..], "GAME:readme.txt"));
}

#[test]
fn reads_rather_than_maps_when_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let (package, files) = package(Variant::V2);
    write_package(dir.path(), "one.idx", &package);
    let mut options = Options::default();
    options.no_mmap = true;
    let game = WowsArchive::open(options.source(dir.path()).unwrap(), &options).unwrap();
    for (path, wanted) in &files {
        assert_eq!(&bytes(&game, path).unwrap(), wanted);
    }
    assert!(findings(&game).is_empty());
}

/// Against a reader that shares nothing with the library.
#[test]
fn a_plain_reader_sees_the_same() {
    let mut rng = fastrand::Rng::with_seed(3);
    for round in 0..60 {
        let variant = VARIANTS[round % 2];
        let mut package = Package::new(variant, "//.//a_0001.pkg");
        for n in 0..rng.usize(..40) {
            let depth = rng.usize(..5);
            let folders: String = (0..depth).map(|_| format!("f{}/", rng.u8(..3))).collect();
            let how = [How::Stored, How::Deflated, How::StoredAs6, How::Oodle][rng.usize(..4)];
            let bytes: Vec<u8> = (0..rng.usize(..500)).map(|_| rng.u8(..4)).collect();
            package.file(&format!("{folders}file{n}.dds"), &bytes, how);
            if rng.u8(..8) == 0 {
                package.volume(&format!("v{n}.pkg"));
            }
        }
        // No table has an order.
        rng.shuffle(&mut package.names);
        rng.shuffle(&mut package.files);
        let index = package.index();
        let game = WowsArchive::open(Source::from_vec("x.idx", index.clone()), &Options::default()).unwrap();
        let plain = read_plainly(&index);
        assert_eq!(game.len().unwrap(), plain.len());
        for n in 0..plain.len() {
            let file = game.file(n).unwrap();
            let (id, size, stored, [method, codec], crc, volume, offset) = &plain[&*file.path];
            assert_eq!((file.id, file.size, file.stored_size), (Some(*id), *size, *stored));
            assert_eq!((file.crc32.map(u64::from), file.offset), (Some(*crc), Some(*offset)));
            assert_eq!(file.volume.as_deref(), Some(&**volume));
            let named = match (method, codec) {
                (0 | 6, 0) => Codec::None,
                (5, 1) => Codec::Deflate,
                _ => Codec::Oodle,
            };
            assert_eq!((file.codec, file.installed), (named, false));
            assert_eq!(game.find(&file.path).unwrap().unwrap(), file);
        }
    }
}

#[test]
fn a_games_folder_is_its_newest_build_unless_said() {
    let dir = game_folder();
    let game = open(dir.path());
    let [old, new] = build::BUILDS;
    assert_eq!((game.current_build(), game.version()), (Some(new), new.to_owned()));
    let at = |build: &str| {
        let options = Options::default().with(Arc::new(AtBuild(build.to_owned())));
        WowsArchive::open(options.source(dir.path()).unwrap(), &options)
    };
    let older = at(old).unwrap();
    assert!(older.find("content/removed.xml").unwrap().is_some());
    assert!(game.find("content/removed.xml").unwrap().is_none());
    assert_ne!(bytes(&older, "content/assets.bin").unwrap(), bytes(&game, "content/assets.bin").unwrap());
    let error = at("1").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}");
    assert!(error.to_string().contains(&format!("{new}, {old}")), "{error}");
    let builds = game.builds();
    let shown = builds.iter().map(|b| (&*b.name, b.indexes.clone().unwrap(), b.files.clone().unwrap()));
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown, [(new, 3, game.len().unwrap() as u64), (old, 1, older.len().unwrap() as u64)]);
}

#[test]
fn loose_files_win_over_the_index_and_mods_over_both() {
    let dir = game_folder();
    let [old, new] = build::BUILDS;
    let game = open(dir.path());
    assert_eq!(bytes(&game, "content/mods.xml").unwrap(), b"<mods><all/></mods>", "10 is a later version than 9");
    let file = game.find("content/mods.xml").unwrap().unwrap();
    assert_eq!((file.volume.clone(), file.offset, file.crc32), (None, None, None));
    assert_eq!((file.id, file.installed, file.size), (Some(cityhash64(b"content/mods.xml")), true, 19));
    write(dir.path(), &format!("bin/{new}/res/content/mods.xml"), b"loose");
    assert_eq!(bytes(&open(dir.path()), "content/mods.xml").unwrap(), b"<mods><all/></mods>");
    fs::remove_dir_all(dir.path().join("res_mods")).unwrap();
    let game = open(dir.path());
    assert_eq!(bytes(&game, "content/mods.xml").unwrap(), b"loose");
    // One row for a path, wherever it comes from; and rows for what only lies loose.
    let paths: Vec<String> = listing(&game).into_iter().map(Result::unwrap).collect();
    for path in ["content/mods.xml", "texts/en/LC_MESSAGES/global.mo"] {
        assert_eq!(paths.iter().filter(|p| *p == path).count(), 1, "{path}");
        let n = game.position(path).unwrap().unwrap();
        assert_eq!(game.file(n).unwrap(), game.find(path).unwrap().unwrap());
    }
    // A build that is not the newest has no mods.
    write(dir.path(), "res_mods/1.0/content/assets.bin", b"mod");
    let options = Options::default().with(Arc::new(AtBuild(old.to_owned())));
    let older = WowsArchive::open(options.source(dir.path()).unwrap(), &options).unwrap();
    assert!(older.find("content/assets.bin").unwrap().unwrap().volume.is_some());
    assert!(open(dir.path()).find("content/assets.bin").unwrap().unwrap().volume.is_none());
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let dir = game_folder();
    let new = build::BUILDS[1];
    write(dir.path(), &format!("bin/{new}/secret.txt"), b"secret");
    let game = open(dir.path());
    let absolute = dir.path().join("bin").join(new).join("secret.txt");
    for path in ["../secret.txt", "texts/../../secret.txt", "./texts", "", "/", "texts\0", absolute.to_str().unwrap()] {
        assert!(game.find(path).unwrap().is_none(), "{path:?}");
        assert_eq!(game.position(path).unwrap(), None);
    }
    let mut forged = game.find("texts/en/LC_MESSAGES/global.mo").unwrap().unwrap();
    forged.path = "../secret.txt".into();
    assert!(game.stored(&forged).is_err());
}

#[test]
fn what_is_not_there_is_said_and_no_failure_of_the_rest() {
    let dir = game_folder();
    let game = open(dir.path());
    let gone = game.find("gui/battle/aim.xml").unwrap().unwrap();
    assert!(!gone.installed);
    let error = archive::open(&game, &gone, "GAME").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotInstalled { .. }), "{error}");
    assert!(error.to_string().contains(build::MISSING_VOLUME), "{error}");
    let oodle = game.find(build::OODLE_FILE).unwrap().unwrap();
    assert_eq!((oodle.codec, oodle.size, oodle.installed), (Codec::Oodle, 3000, true));
    let error = archive::open(&game, &oodle, "GAME").unwrap_err();
    assert!(error.to_string().contains("--oodle LIBRARY"), "{error}");
    let volumes = game.volumes().unwrap();
    let missing: Vec<_> = volumes.iter().filter(|v| !v.is_installed()).map(|v| (&*v.name, v.files)).collect();
    assert_eq!(missing, [(build::MISSING_VOLUME, 2)]);
    let mut report = game.verify(&Progress::default());
    archive::verify_deep(&game, &mut report, &Progress::default());
    assert!(report.is_ok(), "{report:?}");
    let facts: BTreeMap<_, _> = game.facts().into_iter().map(|(name, value)| (name, value.to_string())).collect();
    assert_eq!((&*facts["game"], &*facts["files_not_installed"]), ("World of Warships", "2"));
    assert!(facts["volumes_not_installed"].contains(build::MISSING_VOLUME), "{facts:?}");
}

#[test]
fn an_entry_shows_what_is_known_of_it() {
    let dir = game_folder();
    let game = open(dir.path());
    let path = build::OODLE_FILE;
    for entry in [path.to_owned(), format!("{:#018X}", cityhash64(path.as_bytes()))] {
        let mut tree = Tree::default();
        assert!(game.cat(&entry, &mut tree).unwrap());
        let shown = tree.into_value();
        let field = |name| crate::common::field(&shown, name).to_string();
        assert_eq!((&*field("path"), &*field("codec"), &*field("index")), (path, "oodle", "content.idx"));
        assert_eq!((&*field("method"), &*field("codec_number"), &*field("size")), ("6", "7", "3000"));
    }
    assert!(!game.cat("no/such.file", &mut Tree::default()).unwrap());
}

#[test]
fn ids_have_paths_with_and_without_the_tree() {
    let dir = game_folder();
    let (game, other) = (open(dir.path()), open(dir.path()));
    let paths: Vec<String> = listing(&other).into_iter().map(Result::unwrap).collect();
    let folders = ["content", "content/gameplay", "spaces/sample", "gui/battle"].map(String::from);
    assert!(other.has_tree());
    for (n, path) in paths.iter().chain(&folders).enumerate() {
        let id = cityhash64(path.as_bytes());
        if n < 8 {
            assert!(!game.has_tree(), "few questions make no tree");
        }
        assert_eq!(game.path_of(id).unwrap().as_deref(), Some(&**path));
        assert_eq!(other.path_of(id).unwrap().as_deref(), Some(&**path));
    }
    assert!(game.has_tree(), "many of them do");
    assert_eq!(game.path_of(12345).unwrap(), None);
    assert_eq!(open(dir.path()).path_of(12345).unwrap(), None);
}

#[test]
fn an_index_finds_the_volumes_of_its_game() {
    let dir = game_folder();
    let index = dir.path().join("bin").join(build::BUILDS[1]).join("idx");
    for place in [index.join("content.idx"), index] {
        let game = open(&place);
        assert!(game.build_names().is_empty());
        assert!(bytes(&game, "content/assets.bin").unwrap().starts_with(b"BDWB"));
        assert!(game.find("texts/en/LC_MESSAGES/global.mo").unwrap().is_none(), "loose files are a game's");
    }
}

#[test]
fn sidecars_are_nothing_and_damaged_indexes_hide_files() {
    let dir = game_folder();
    let indexes = format!("bin/{}/idx", build::BUILDS[1]);
    let sidecar = [0, 5, 0x16, 7, 0, 2, 0, 0];
    write(dir.path(), &format!("{indexes}/._content.idx"), &sidecar);
    let game = open(dir.path());
    assert!(game.damage().is_empty());
    write(dir.path(), &format!("{indexes}/aaa.idx"), &sidecar);
    let game = open(dir.path());
    let damage: Vec<String> = game.damage().iter().map(ToString::to_string).collect();
    assert!(damage.len() == 1 && damage[0].starts_with("aaa.idx: header: "), "{damage:?}");
    assert!(bytes(&game, "content/assets.bin").is_ok());
    assert!(findings(&game).iter().any(|finding| finding.starts_with("indexes: aaa.idx")), "{:?}", findings(&game));
    let mut strict = Options::default();
    strict.strict = true;
    assert!(WowsArchive::open(strict.source(dir.path()).unwrap(), &strict).is_err());
}

#[test]
fn a_folder_without_indexes_is_no_game() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "bin/notes/idx/a.idx", b"ISFP");
    write(dir.path(), "pack-1234.idx", b"\xfftOc");
    let error = Asset::open_at(dir.path(), &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownFolder), "{error}");
}

#[test]
fn a_checksum_is_verified_and_not_in_the_way() {
    let (package, _) = package(Variant::V2);
    let mut index = package.index();
    index[8] ^= 1;
    let game = WowsArchive::open(Source::from_vec("x.idx", index.clone()), &Options::default()).unwrap();
    assert!(
        findings(&game).iter().any(|f| f.starts_with("checksums: x.idx: header: MurmurHash3")),
        "{:?}",
        findings(&game)
    );
    let mut strict = Options::default();
    strict.strict = true;
    assert!(WowsArchive::open(Source::from_vec("x.idx", index), &strict).is_err());
}

#[test]
fn parents_may_be_in_another_index() {
    let dir = tempfile::tempdir().unwrap();
    let (mut files, mut folders) = (Package::new(Variant::V2, "a.pkg"), Package::new(Variant::V1, "b.pkg"));
    files.file("content/ship/a.txt", b"a", How::Stored);
    files.names.retain(|entry| entry.name == b"a.txt");
    folders.name("content/ship");
    // The name of a file, too.
    files.file("b.txt", b"b", How::Stored);
    files.names.retain(|entry| entry.name != b"b.txt");
    folders.name("b.txt");
    write_package(dir.path(), "1.idx", &files);
    let only = open(dir.path());
    let shown = listing(&only);
    assert!(shown.iter().all(|file| file.is_err()), "{shown:?}");
    assert!(shown[0].as_ref().unwrap_err().contains("is in no index (at offset 0x"), "{shown:?}");
    write_package(dir.path(), "2.idx", &folders);
    for game in [open(dir.path()), {
        let game = open(dir.path());
        game.len().unwrap();
        game
    }] {
        assert_eq!(bytes(&game, "content/ship/a.txt").unwrap(), b"a");
        assert_eq!(bytes(&game, "b.txt").unwrap(), b"b");
        for path in ["content/ship/a.txt", "content/ship", "b.txt"] {
            assert_eq!(game.path_of(cityhash64(path.as_bytes())).unwrap().as_deref(), Some(path));
        }
    }
    let game = open(dir.path());
    assert_eq!(listing(&game), [Ok("content/ship/a.txt".to_owned()), Ok("b.txt".to_owned())]);
    assert!(findings(&game).is_empty(), "{:?}", findings(&game));
    // The indexes beside a single one name its folders, and add no files.
    let single = open(&dir.path().join("1.idx"));
    assert_eq!(listing(&single), listing(&game));
    assert_eq!(bytes(&single, "content/ship/a.txt").unwrap(), b"a");
    assert!(findings(&single).is_empty(), "{:?}", findings(&single));
    // Without them, all but the path is known.
    fs::remove_file(dir.path().join("2.idx")).unwrap();
    let single = open(&dir.path().join("1.idx"));
    let table = single.table("files").unwrap();
    let column = |name: &str| table.columns().iter().position(|column| column.name == name).unwrap();
    let error = table.value(0, column("path")).unwrap_err().to_string();
    assert!(error.contains("1.idx: file 0: ") && error.contains("is in no index"), "{error}");
    let id = Value::Id64(cityhash64(b"content/ship/a.txt"));
    for (name, value) in [("id", id), ("size", Value::Uint(1)), ("codec", "none".into()), ("volume", "a.pkg".into())] {
        assert_eq!(table.value(0, column(name)).unwrap(), value, "{name}");
    }
}

/// The library's reading of a package with changed entries.
fn altered(change: impl FnOnce(&mut Package)) -> (WowsArchive, Vec<Result<String, String>>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let (mut package, _) = package(Variant::V2);
    change(&mut package);
    write_package(dir.path(), "one.idx", &package);
    let game = open(dir.path());
    let (listing, findings) = (listing(&game), findings(&game));
    // Files are mapped when they are first asked for: the folder may go.
    (game, listing, findings)
}

fn named<'p>(package: &'p mut Package, name: &str) -> &'p mut NameEntry {
    package.names.iter_mut().find(|entry| entry.name == name.as_bytes()).unwrap()
}

fn filed<'p>(package: &'p mut Package, path: &str) -> &'p mut FileEntry {
    package.files.iter_mut().find(|entry| entry.id == cityhash64(path.as_bytes())).unwrap()
}

#[test]
fn parents_that_lead_back_are_an_error_of_their_files() {
    let (game, listing, findings) = altered(|package| {
        named(package, "content").parent = cityhash64(b"content/ship/deep");
    });
    assert_eq!(listing[0].as_deref(), Ok("readme.txt"));
    for file in &listing[1..] {
        assert!(file.as_ref().unwrap_err().contains("form a cycle"), "{file:?}");
    }
    assert!(findings.iter().any(|finding| finding.contains("form a cycle")), "{findings:?}");
    assert!(game.path_of(cityhash64(b"content/ship/deep")).is_err());
    assert!(game.find("readme.txt").unwrap().is_some());
    let index = {
        let (mut p, _) = package(Variant::V2);
        named(&mut p, "content").parent = cityhash64(b"content");
        p.index()
    };
    let game = WowsArchive::open(Source::from_vec("x.idx", index), &Options::default()).unwrap();
    assert!(game.path_of(cityhash64(b"content/ship")).unwrap_err().to_string().contains("form a cycle"));
    assert!(!game.has_tree());
}

#[test]
fn paths_have_an_end() {
    let mut deep = Package::new(Variant::V2, "a.pkg");
    deep.file(&format!("{}x", "d/".repeat(300)), b"", How::Stored);
    let mut long = Package::new(Variant::V2, "a.pkg");
    long.file(&format!("{}x", format!("{}/", "n".repeat(250)).repeat(40)), b"", How::Stored);
    for (package, what) in [(deep, "folders of a path"), (long, "bytes of a path")] {
        let game = WowsArchive::open(Source::from_vec("x.idx", package.index()), &Options::default()).unwrap();
        let shown = listing(&game);
        assert!(shown[0].as_ref().unwrap_err().contains(what), "{shown:?}");
    }
}

#[test]
fn ids_that_are_no_hashes_are_found() {
    let other = cityhash64(b"other.txt");
    let (game, listing, findings) = altered(|package| {
        filed(package, "readme.txt").id = other;
        named(package, "readme.txt").id = other;
    });
    assert_eq!(listing[0].as_deref(), Ok("readme.txt"), "the name is what the index says");
    assert!(findings.iter().any(|finding| finding.contains("readme.txt: resource: CityHash64")), "{findings:?}");
    assert!(game.find("other.txt").unwrap().is_none(), "nothing there is called so");
    assert_eq!(game.path_of(other).unwrap(), None, "a path is proved by its hash");
}

#[test]
fn files_are_found_in_folders_whose_ids_are_no_hashes() {
    let (ship, other) = (cityhash64(b"content/ship"), 7);
    let (game, listing, findings) = altered(|package| {
        named(package, "ship").id = other;
        package.names.iter_mut().filter(|entry| entry.parent == ship).for_each(|entry| entry.parent = other);
    });
    assert!(findings.iter().any(|finding| finding.contains("content/ship: resource: CityHash64")), "{findings:?}");
    assert_eq!(listing.len(), 4);
    for (n, path) in listing.iter().enumerate() {
        let path = path.as_deref().unwrap();
        assert!(game.find(path).unwrap().is_some_and(|file| file.path == path), "{path}");
        assert_eq!(game.position(path).unwrap(), Some(n), "{path}");
    }
}

#[test]
fn of_two_files_with_one_id_the_first_counts() {
    let (game, listing, findings) = altered(|package| {
        let again = FileEntry { size: 5, ..package.files[0].clone() };
        package.files.push(again);
    });
    assert_eq!(listing.len(), 4);
    assert_eq!(game.find("readme.txt").unwrap().unwrap().size, 7);
    assert!(findings.iter().any(|finding| finding.contains("is there already, with other bytes")), "{findings:?}");
}

#[test]
fn ranges_volumes_and_trailers_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let say = |change: &dyn Fn(&mut Package)| {
        let (mut package, _) = package(Variant::V2);
        change(&mut package);
        write_package(dir.path(), "one.idx", &package);
        let game = open(dir.path());
        let file = game.find("readme.txt").and_then(|file| archive::open(&game, &file.unwrap(), "GAME").map(drop));
        (file.err().map(|error| error.to_string()).unwrap_or_default(), findings(&game).join("\n"))
    };
    let said = |(file, verify): (String, String), file_says: &str, verify_says: &str| {
        assert!(file.contains(file_says) && file.is_empty() == file_says.is_empty(), "{file}");
        assert!(verify.contains(verify_says), "{verify}");
    };
    let readme = |package: &mut Package, change: &dyn Fn(&mut FileEntry)| change(filed(package, "readme.txt"));
    said(
        say(&|p| readme(p, &|f| f.offset = 1 << 40)),
        "data in one_0001.pkg at 0x10000000000: 7 bytes needed, 0 left",
        "data in one_0001.pkg",
    );
    said(say(&|p| readme(p, &|f| f.offset = u64::MAX)), "bytes needed", "bytes needed");
    said(say(&|p| readme(p, &|f| f.stored_size = u32::MAX)), "4294967295 bytes needed", "bytes needed");
    said(
        say(&|p| readme(p, &|f| f.size = u64::MAX)),
        "stored size, which is not the size",
        "size, which the index has otherwise",
    );
    said(say(&|p| readme(p, &|f| f.crc32 ^= 1)), "", "checksum, which the index has otherwise");
    said(say(&|p| readme(p, &|f| f.volume = 7)), "volume 0x0000000000000007 is in no index", "is in no index");
    said(say(&|p| readme(p, &|f| f.method = 9)), "unknown-0x9 is not supported", "");
    said(say(&|p| p.volumes[0].1[7] = 1), "", "zero before the checksum");
    said(say(&|p| p.volumes[0].1.truncate(20)), "", "trailer");
    let outside = |p: &mut Package| {
        p.volumes[0].0 = "../one_0001.pkg".to_owned();
        p.files.iter_mut().take(2).for_each(|file| file.volume = build::volume_id("../one_0001.pkg"));
    };
    said(say(&outside), "is no name for a volume", "is no name for a volume");
}

#[test]
fn a_truncated_volume_leaves_the_list() {
    let dir = tempfile::tempdir().unwrap();
    for variant in VARIANTS {
        let mut package = Package::new(variant, "v.pkg");
        package.file("a/b.txt", b"some text, some text", How::Deflated);
        package.file("c.txt", b"plain", How::Stored);
        write_package(dir.path(), "x.idx", &package);
        let volume = &package.volumes[0].1;
        for end in 0..volume.len() {
            write(dir.path(), "v.pkg", &volume[..end]);
            let game = open(dir.path());
            assert_eq!(listing(&game).len(), 2);
            let (mut report, progress) = (game.verify(&Progress::default()), Progress::default());
            archive::verify_deep(&game, &mut report, &progress);
            // The trailers of other variants are not known.
            assert_eq!(report.is_ok(), variant != Variant::V2 && end >= volume.len() - 16, "{variant:?} {end}");
        }
    }
}

#[test]
fn names_that_no_file_can_have_are_listed_as_they_are() {
    let mut package = Package::new(Variant::V2, "v.pkg");
    package.file("a.txt", b"a", How::Stored);
    package.file("b.txt", b"b", How::Stored);
    named(&mut package, "a.txt").name = b"..".to_vec();
    let mut index = package.index();
    let game = WowsArchive::open(Source::from_vec("x.idx", index.clone()), &Options::default()).unwrap();
    assert_eq!(listing(&game), [Ok("..".to_owned()), Ok("b.txt".to_owned())]);
    // A name without its NUL, and one that is no text.
    let at = index.windows(3).position(|w| w == b"..\0").unwrap();
    index[at + 2] = b'x';
    let game = WowsArchive::open(Source::from_vec("x.idx", index.clone()), &Options::default()).unwrap();
    let shown = listing(&game);
    assert!(shown[0].as_ref().unwrap_err().contains("does not end with a NUL"), "{shown:?}");
    assert_eq!(shown[1].as_deref(), Ok("b.txt"));
    index[at..at + 3].copy_from_slice(b"\xff.\0");
    let game = WowsArchive::open(Source::from_vec("x.idx", index), &Options::default()).unwrap();
    assert!(listing(&game)[0].as_ref().unwrap_err().contains("not valid UTF-8"));
}

/// The fragments of a real index and its volume. Unknown bytes are 0, so that only known entries say anything.
#[test]
fn real_entries_are_read_and_decoded() {
    let Some(samples) = crate::common::samples() else { return };
    let read = |name: &str| fs::read(samples.join("idx").join(name)).unwrap();
    let (index, mask, part) =
        (read("system_data.idx.partial"), read("system_data.idx.mask"), read("system_data_0001.pkg.0x21e0-0x24a0"));
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "system_data.idx", &index);
    let mut volume = vec![0; 0x21E0];
    volume.extend(part);
    write(dir.path(), "system_data_0001.pkg", &volume);
    let game = open(dir.path());
    let [index] = game.indexes() else { panic!("one index") };
    assert_eq!((index.resource_count(), index.file_count(), index.volume_count()), (311, 284, 1));
    let volume = index.volume(0).unwrap();
    assert_eq!((volume.id, volume.name().unwrap()), (0x77ED_330D_0703_1170, "system_data_0001.pkg"));
    let known = |view_at: u64, len: usize| mask[view_at as usize..][..len].iter().all(|&known| known == 0xFF);
    let mut names = 0;
    for n in 0..index.resource_count() {
        let at = 16 + 0x28 + n as u64 * 32;
        if known(at, 32)
            && let Ok(Some(path)) = game.path_of(index.resource(n).unwrap().id)
        {
            assert_eq!(cityhash64(path.as_bytes()), index.resource(n).unwrap().id);
            names += 1;
        }
    }
    assert!(names >= 2, "{names} names could be followed to the root");
    for (n, size, stored, crc) in [(2, 3245, 459, 0xC1DE_B96D), (3, 210, 101, 0x5A87_D2F1)] {
        let entry = index.file(n).unwrap();
        assert_eq!((entry.size, entry.stored_size, entry.crc32, entry.method, entry.codec), (size, stored, crc, 5, 1));
        // Its name is not among the known bytes.
        let mut file = archive::File::new("unnamed", entry.size, n as u64);
        (file.stored_size, file.codec, file.crc32) = (entry.stored_size, entry.codec(), Some(entry.crc32));
        let source = archive::open(&game, &file, "GAME").unwrap();
        assert_eq!((source.bytes().len() as u64, crc32(source.bytes())), (size, crc));
        game.check(&file).unwrap();
    }
}

#[test]
fn files_are_a_table() {
    let dir = game_folder();
    let asset = Asset::open_at(dir.path(), &Options::default()).unwrap();
    let table = asset.reader().table("files").unwrap();
    let key = Value::text("content/assets.bin");
    let rows = table.find(0, &key).unwrap().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(table.value(rows[0], 0).unwrap().to_string(), "content/assets.bin");
    assert_eq!(
        asset.reader().tables().iter().map(|t| t.name().to_owned()).collect::<Vec<_>>(),
        ["files", "volumes", "textures", "builds"]
    );
    let inner = Asset::open_at(format!("{}:content/assets.bin", dir.path().display()), &Options::default()).unwrap();
    assert_eq!(inner.format(), assetq::formats::wows::BWDB);
}

#[test]
fn a_question_to_a_kept_file_opens_no_index() {
    let dir = game_folder();
    let kept = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(kept.path()).with_limits(1, 1 << 30);
    let options = Options::default().with(Arc::new(cache.clone()));
    let address = dir.path().to_str().unwrap().to_owned() + ":content/assets.bin";
    let ask = || Asset::open_at(Path::new(&address), &options).map(|asset| asset.source().bytes().to_vec());
    let recall = || cache.recall(&open(dir.path()), "content/assets.bin", "GAME");
    assert!(recall().is_none(), "not asked before");
    let first = ask().unwrap();
    assert_eq!(recall().unwrap().bytes(), first);
    assert_eq!(recall().unwrap().name(), "GAME:content/assets.bin");
    assert!(cache.recall(&open(dir.path()), "content/models.bin", "GAME").is_none(), "another file");

    // Indexes that hold nothing any more, and look as they did.
    let build = fs::read_dir(dir.path().join("bin")).unwrap().map(|entry| entry.unwrap().path()).max().unwrap();
    for index in fs::read_dir(build.join("idx")).unwrap().map(|entry| entry.unwrap().path()) {
        let meta = fs::metadata(&index).unwrap();
        fs::write(&index, vec![0; meta.len() as usize]).unwrap();
        fs::File::options().write(true).open(&index).unwrap().set_modified(meta.modified().unwrap()).unwrap();
    }
    assert_eq!(ask().unwrap(), first);
    assert!(open(dir.path()).indexes().is_empty());

    // A loose file wins over what is known.
    let loose = build.join("res/content/assets.bin");
    write(&build, "res/content/assets.bin", b"mod");
    assert!(recall().is_none(), "a loose file");
    fs::remove_file(&loose).unwrap();
    assert!(recall().is_some());

    // An index that changed says nothing of what was known.
    let index = fs::read_dir(build.join("idx")).unwrap().next().unwrap().unwrap().path();
    let changed = fs::metadata(&index).unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
    fs::File::options().write(true).open(&index).unwrap().set_modified(changed).unwrap();
    assert!(recall().is_none(), "a changed index");
}
