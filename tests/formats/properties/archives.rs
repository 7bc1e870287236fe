//! Archives: the files that were put in come out, and nothing else is there, in every variant.

use super::{bytes, cases, path};
use assetq::formats::ff13::white::GameKind;
use assetq::formats::wows::game_folder::Variant;
use assetq::query::archive;
use assetq::query::archive::Archive;
use assetq::table::Value;
use assetq::{Asset, Options, Source};
use assetq_core::codec::cityhash64;
use assetq_sample::wows::{How, Package};
use assetq_sample::{rusty_hearts, se2, white};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn write(dir: &Path, path: &str, bytes: &[u8]) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The files of an archive, all of them decoded.
fn files(asset: &Asset) -> BTreeMap<String, Vec<u8>> {
    let archive: &dyn Archive = asset.reader().archive().unwrap();
    let decoded = |n: usize| {
        let file = archive.file(n).unwrap();
        let found = archive.find(&file.path).unwrap().unwrap();
        assert_eq!(found.size, file.size);
        (file.path.to_string(), archive::open(archive, &file, "any").unwrap().bytes().to_vec())
    };
    (0..archive.len().unwrap()).map(decoded).collect()
}

/// No path that is also the folder of another one.
fn without_folders<T: Clone>(files: &BTreeMap<String, T>) -> BTreeMap<String, T> {
    let is_folder =
        |path: &str| files.keys().any(|other| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    files.iter().filter(|(path, _)| !is_folder(path)).map(|(path, of)| (path.clone(), of.clone())).collect()
}

fn open(dir: &Path) -> Asset {
    Asset::open(Options::default().source(dir).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn world_of_warships(given in btree_map(path(), (bytes(), 0usize..3), 1..12), variant in 0usize..2, split in 0usize..12) {
        let given = without_folders(&given);
        let variant = [Variant::V2, Variant::V1][variant];
        let mut package = Package::new(variant, "one_0001.pkg");
        for (at, (path, (bytes, how))) in given.iter().enumerate() {
            if at == split {
                package.volume("two_0001.pkg");
            }
            package.file(path, bytes, [How::Stored, How::StoredAs6, How::Deflated][*how]);
        }
        let dir = TempDir::new().unwrap();
        write(dir.path(), "any.idx", &package.index());
        package.volumes.iter().for_each(|(name, bytes)| write(dir.path(), name, bytes));
        let asset = open(dir.path());
        prop_assert_eq!(files(&asset), given.iter().map(|(path, (bytes, _))| (path.clone(), bytes.clone())).collect());
        let report = asset.reader().verify(&Default::default());
        prop_assert!(report.is_ok(), "{:?}", report);
        let table = asset.reader().table("files").unwrap();
        let id = assetq::table::column_index(&*table, "id").unwrap();
        let ids: BTreeSet<String> = (0..table.len().unwrap()).map(|row| table.value(row, id).unwrap().to_string()).collect();
        prop_assert_eq!(ids, given.keys().map(|path| format!("0x{:016X}", cityhash64(path.as_bytes()))).collect());
    }

    /// Plain lists and enciphered ones, of all three games, cut into chunks of any size.
    #[test]
    fn final_fantasy_xiii(
        given in btree_map(path(), (bytes(), any::<bool>()), 1..12),
        game in 0usize..3,
        chunk in 40usize..400,
        cipher in proptest::option::of(any::<[u8; 16]>()),
    ) {
        let game = GameKind::ALL[game];
        let mut image = white::Image::default();
        let listed: Vec<_> = given.iter().enumerate().map(|(at, (path, (bytes, deflated)))| white::Listed {
            code: 0x0100_0000 + at as u32,
            kind: (at % 5) as u8,
            text: image.add(path, bytes, *deflated),
        }).collect();
        let list = white::list(white::layout_of(game), &listed, chunk);
        let list = match cipher {
            Some(seed) if game != GameKind::First => white::encrypt(&list, seed),
            _ => list,
        };
        let dir = TempDir::new().unwrap();
        write(dir.path(), &format!("{}/sys/filelistu.win32.bin", game.folder()), &list);
        write(dir.path(), &format!("{}/sys/white_imgu.win32.bin", game.folder()), &image.into_bytes());
        let asset = open(dir.path());
        prop_assert_eq!(files(&asset), given.iter().map(|(path, (bytes, _))| (path.clone(), bytes.clone())).collect());
    }

    /// With the key of any region.
    #[test]
    fn rusty_hearts_of_any_region(given in btree_map(path(), bytes(), 1..12), key in vec(1u8.., 256)) {
        let key: [u8; 256] = key.try_into().unwrap();
        let mut volumes = vec![Vec::new(); rusty_hearts::VOLUMES.into()];
        let mut records = rusty_hearts::ListRecords::new();
        for (path, bytes) in &given {
            let name = path.replace('/', "\\");
            let number = rusty_hearts::volume_of(&name);
            let volume: &mut Vec<u8> = &mut volumes[usize::from(number)];
            records.record(&name, number, bytes.len() as i32, rusty_hearts::hash(bytes), volume.len() as i64);
            volume.extend_from_slice(bytes);
        }
        let dir = TempDir::new().unwrap();
        write(dir.path(), "f00X.dat", &rusty_hearts::pack(records.bytes(), &key));
        volumes.iter().enumerate().for_each(|(n, volume)| write(dir.path(), &format!("{n:03}.pck"), volume));
        let options = assetq::Format::configure("key", &key, "key", &Options::default()).unwrap();
        let asset = Asset::open_with(options.source(dir.path()).unwrap(), &options).unwrap();
        prop_assert_eq!(files(&asset), given);
    }

    #[test]
    fn space_engineers(given in btree_map(1u32..5000, (any::<bool>(), proptest::option::of(1u32..5000)), 1..20)) {
        let dir = TempDir::new().unwrap();
        let defs: Vec<se2::Def> = given.iter().map(|(&n, (block, parent))| se2::Def {
            guid: se2::guid(n),
            ty: if *block { se2::BLOCK } else { se2::ITEM },
            file: format!("Things/Thing_{n}.def"),
            parent: parent.map(se2::guid),
        }).collect();
        let content = dir.path().join(se2::CONTENT);
        write(&content, "definitionsets.vrb", &se2::definition_sets(&defs));
        let cache: Vec<_> = defs.iter().map(|def| (def.guid, def.file.clone())).collect();
        write(&content, "contentcache.vrb", &se2::content_cache(&cache));
        defs.iter().for_each(|def| write(&content, &def.file, se2::def(def.guid, def.ty).as_bytes()));
        let asset = open(dir.path());
        let table = asset.reader().table("definitions").unwrap();
        let column = |name: &str| assetq::table::column_index(&*table, name).unwrap();
        let cell = |row: usize, name: &str| match table.value(row, column(name)).unwrap() {
            Value::Null => None,
            value => Some(value.to_string()),
        };
        let found: BTreeSet<_> = (0..table.len().unwrap()).map(|row| (cell(row, "guid"), cell(row, "name"), cell(row, "parent_guid"))).collect();
        let expected = defs.iter().map(|def| {
            let stem = def.file.rsplit('/').next().unwrap().trim_end_matches(".def").to_owned();
            (Some(def.guid.to_string()), Some(stem), def.parent.map(|parent| parent.to_string()))
        });
        prop_assert_eq!(found, expected.collect());
    }
}

/// A source of no bytes is no folder.
#[test]
fn nothing_is_no_archive() {
    assert!(Asset::open(Source::from_vec("any.idx", Vec::new())).is_err());
}
