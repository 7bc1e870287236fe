//! `.vrb` archives as whole files: generated ones, hostile ones, and real ones where there are any.
#![cfg(feature = "sample")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    missing_docs
)]

use assetq::report::{Progress, Report};
use assetq::sample::Size;
use assetq::sample::vrb::builtin::{BOOLEAN, BYTE, GUID, INT32, LIST, NULLABLE, STRING, TYPE};
use assetq::sample::vrb::{
    ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, demo, entities, flags, member, mesh, placed, polymorphic, seal,
    world, world_values,
};
use assetq::table::{Guid, Tree, Value};
use assetq::vrb::{Archive, MAIN, ModelId, Options, Path, TypeId};
use assetq::{Asset, Error, ErrorKind, Reader, Result, Source};

const TYPE_ENTRY: usize = 52;
const MAIN_ENTRY: usize = 132;

fn open(bytes: &[u8]) -> Result<Archive> {
    Archive::open(Source::from_vec("test.vrb", bytes.to_vec()))
}

fn cat(archive: &Archive, entry: &str) -> Result<Option<Value<'static>>> {
    let mut tree = Tree::default();
    Ok(archive.cat(entry, &mut tree)?.then(|| tree.into_value()))
}

fn verify(bytes: &[u8]) -> Report {
    open(bytes).unwrap().verify(&Progress::default())
}

fn findings(report: &Report) -> Vec<String> {
    report.checks.iter().flat_map(|c| c.findings().iter().map(move |e| format!("{}: {e}", c.name))).collect()
}

fn assert_ok(bytes: &[u8]) {
    assert_eq!(findings(&verify(bytes)), Vec::<String>::new());
}

/// Everything that can be asked of an archive; errors are fine.
fn use_all(archive: &Archive) {
    let _ = archive.verify(&Progress::default());
    let _ = (archive.sections(), archive.facts());
    let _ = cat(archive, MAIN);
    for table in archive.tables() {
        let mut rows = table.cursor(0);
        while let Ok(true) = rows.advance() {
            (0..table.columns().len()).for_each(|c| drop(rows.value(c)));
        }
        let _ = table.len();
    }
}

/// The smallest archive whose main chunk holds one value of a model.
fn archive_of(types: &TypesBuilder, root: ModelId, data: &[u8]) -> Vec<u8> {
    ArchiveBuilder::new(types, root, Codec::None, data.to_vec()).build()
}

/// What reading that value says is wrong, with the raw chunk still there.
fn refusal(types: &TypesBuilder, root: ModelId, data: &[u8]) -> Error {
    let archive = open(&archive_of(types, root, data)).unwrap();
    assert!(archive.main().data().unwrap().bytes() == data, "the raw chunk stays readable");
    let error = cat(&archive, MAIN).expect_err("must be refused");
    assert!(!archive.verify(&Progress::default()).ok(), "{error}");
    error
}

/// A class with one member.
fn holder(types: &mut TypesBuilder, value: ModelId) -> ModelId {
    let ty = types.named(0, 0, "Test:Holder");
    types.composite(ty, flags::CLASS, 0, &[member("Value", value)])
}

mod generated {
    use super::*;

    #[test]
    fn every_kind_of_value_comes_out_as_it_went_in() {
        let world = world();
        let data = world_values(&world, 7, 2);
        let bytes = ArchiveBuilder::new(&world.types, world.world, Codec::Brotli, data.clone()).build();
        assert_ok(&bytes);
        let archive = open(&bytes).unwrap();
        assert_eq!(archive.main().data().unwrap().bytes(), data);
        let get = |path: &str| cat(&archive, path).unwrap().unwrap_or_else(|| panic!("{path}"));
        let text = |t: &str| Value::owned(t.to_owned());
        assert_eq!(get("Name"), text("Verdure"));
        assert_eq!(get("Subtitle"), Value::Null);
        assert_eq!(get("Seed"), Value::Uint(7));
        assert_eq!(get("Created"), Value::Int(638_000_000_000_000_000));
        assert_eq!(get("Version"), Value::Int(-3));
        assert_eq!(get("Port"), Value::Uint(27_016));
        assert_eq!(get("Players"), Value::Uint(4_000_000_000));
        assert_eq!(get("Time"), Value::F64(0.1));
        assert_eq!(get("Paused"), Value::Bool(true));
        assert_eq!(get("Mode"), Value::Int(-1));
        assert_eq!(get("Level"), Value::Uint(4));
        assert_eq!(get("Bounds.Min.X"), Value::F32(-1.5));
        assert_eq!(get("Bounds.Solid"), Value::Bool(true));
        assert_eq!(get("Bounds.Max.Y"), Value::F32(2.5));
        assert_eq!(get("Handle"), text("{G}7e9ebc0b-f48a-4f33-9a2e-8d54ea2603a0"));
        assert_eq!(get("MaybeHandle"), Value::Null);
        assert_eq!(get("MaybeTyped"), text("mesh"));
        assert_eq!(get("NoTyped"), Value::Null);
        assert_eq!(get("Tile.Label"), text("tile \"seven\""));
        assert_eq!(get("NoTile"), Value::Null);
        let handle = "VRage:Keen.VRage.Library.Utils.ResourceHandle`1<VRage:Keen.VRage.Library.Mathematics.Vector3>";
        assert_eq!(get("Owner"), text(handle));
        assert_eq!(get("NoOwner"), Value::Null);
        assert_eq!(get("Sets[\"North.Pole\"].Y"), Value::Int(2));
        assert_eq!(get("Sets[1].X"), Value::Int(3));
        assert_eq!(get("ById[2].Guid"), get("ById[2]#key"));
        assert_eq!(get(&format!("ById[\"{}\"].Guid", get("ById[1]#key"))), get("ById[1]#key"));
        assert_eq!(get("Counters.drops"), Value::Int(-1));
        assert_eq!(get("Note.Text"), text("a note"));
        assert_eq!(get("Nothing"), Value::Null);
        assert_eq!(get("Unit"), Value::Map(vec![]));
        assert_eq!(get("Icon[0]"), Value::Uint(137));
        assert_eq!(get("NoIcon"), Value::Null);
        assert_eq!(get("Entities[0].Child.Child.Child"), Value::Null);
        assert_eq!(get("[Main].Entities[1].Child"), Value::Null);
        let missing =
            ["Nope", "Name.x", "Entities[2]", "Sets[0]#key", "Sets[\"x\"]", "[Main]x", "Entities..Id", "Icon[4]"];
        for missing in missing {
            assert_eq!(cat(&archive, missing).unwrap(), None, "{missing}");
        }
    }

    #[test]
    fn maps_and_lists_follow_the_keys() {
        let world = world();
        let bytes = archive_of(&world.types, world.world, &world_values(&world, 7, 1));
        let Value::Map(root) = cat(&open(&bytes).unwrap(), MAIN).unwrap().unwrap() else { panic!("a record is a map") };
        let get = |name: &str| root.iter().find(|(n, _)| n == name).map(|(_, v)| v).unwrap();
        let Value::Map(sets) = get("Sets") else { panic!("string keys make a map") };
        assert_eq!(sets.iter().map(|(n, _)| &**n).collect::<Vec<_>>(), ["North.Pole", "South"]);
        let Value::List(ids) = get("ById") else { panic!("other keys make a list") };
        let Value::Map(entry) = &ids[0] else { panic!("of maps") };
        assert_eq!(entry.iter().map(|(n, _)| &**n).collect::<Vec<_>>(), ["key", "value"]);
        assert!(matches!(entry[0].1, Value::Guid(_)));
    }

    #[test]
    fn chunks_of_every_codec_read_the_same() {
        let world = world();
        let data = entities(&world, 3, 100);
        let hull = mesh(3, 50);
        let codecs = [Codec::None, Codec::Zlib, Codec::Deflate, Codec::Brotli];
        for tables in codecs {
            let mut builder = ArchiveBuilder::new(&world.types, world.entities, Codec::None, data.clone());
            builder.tables = tables;
            for (i, codec) in codecs.into_iter().enumerate() {
                builder = builder.chunk(&format!("Entities_{i}"), world.entities, codec, data.clone());
                builder = builder.chunk(&format!("Mesh_{i}"), world.mesh, codec, hull.clone());
            }
            let bytes = builder.build();
            assert_ok(&bytes);
            let archive = open(&bytes).unwrap();
            assert_eq!(archive.chunks().unwrap().len(), 9);
            let expected = cat(&archive, MAIN).unwrap().unwrap();
            for i in 0..codecs.len() {
                assert_eq!(cat(&archive, &format!("Entities_{i}")).unwrap().unwrap(), expected);
                let x = cat(&archive, &format!("Mesh_{i}.Vertices[49].X")).unwrap();
                assert!(matches!(x, Some(Value::F32(_))), "{x:?}");
            }
            assert_eq!(archive.warnings(), Vec::<String>::new());
        }
    }

    #[test]
    fn stored_chunks_are_borrowed_from_the_file() {
        let world = world();
        let source = Source::from_vec("test.vrb", archive_of(&world.types, world.mesh, &mesh(1, 100)));
        let archive = Archive::open(source.clone()).unwrap();
        let stored = archive.main().data().unwrap().bytes();
        assert!(source.bytes().as_ptr_range().contains(&stored.as_ptr()));
    }

    #[test]
    fn rows_of_values_are_the_leaves_under_their_paths() {
        let archive = open(&demo(5, Size::Small)).unwrap();
        let table = archive.table("values").unwrap();
        assert_eq!(table.known_len(), None);
        let mut rows = table.cursor(0);
        let mut count = 0;
        while rows.advance().unwrap() {
            let text = |column| rows.value(column).unwrap().to_string();
            let (path, chunk) = (text(0), archive.chunk(&text(3)).unwrap().unwrap());
            let node = chunk.root().unwrap().find(&Path::parse(&path).unwrap()).unwrap();
            let leaf = node.unwrap_or_else(|| panic!("{path}")).leaf().unwrap().unwrap();
            // As text, since NaN is in it.
            assert_eq!(format!("{leaf:?}"), format!("{:?}", rows.value(2).unwrap()), "{path}");
            assert_eq!(rows.row(), count);
            count += 1;
        }
        assert_eq!(table.len().unwrap(), count);
        assert_eq!(table.known_len(), Some(count));
        assert!(count > 600);
    }

    #[test]
    fn rows_by_number_are_the_rows_of_the_walk() {
        let world = world();
        let archive = open(&archive_of(&world.types, world.entities, &entities(&world, 9, 4000))).unwrap();
        let table = archive.table("values").unwrap();
        let show = |v: Result<Value<'_>>| format!("{:?}", v.unwrap().into_owned());
        let mut rows = table.cursor(0);
        let mut all = Vec::new();
        while rows.advance().unwrap() {
            all.push((show(rows.value(0)), show(rows.value(2))));
        }
        assert!(all.len() > 40_000, "more than the rows between two kept places: {}", all.len());
        for row in [0, 5, 4, all.len() - 1, 16_383, 16_384, 16_385, 3, 40_000, 20_000, 20_001] {
            assert_eq!((show(table.value(row, 0)), show(table.value(row, 2))), all[row], "{row}");
        }
        for first in [1, 17_000, all.len() - 1] {
            let mut rows = table.cursor(first);
            assert!(rows.advance().unwrap());
            assert_eq!((rows.row(), show(rows.value(0))), (first, all[first].0.clone()));
        }
        assert!(!table.cursor(all.len()).advance().unwrap());
        assert!(table.value(all.len(), 0).is_err());
        assert!(table.value(0, 9).is_err());
    }

    #[test]
    fn a_value_is_passed_over_without_being_read() {
        let world = world();
        let data = world_values(&world, 7, 20);
        let archive = open(&archive_of(&world.types, world.world, &data)).unwrap();
        let root = archive.main().root().unwrap();
        assert_eq!(root.end().unwrap(), data.len());
        let find = |path| root.find(&Path::parse(path).unwrap()).unwrap().unwrap();
        let (first, second) = (find("Entities[0]"), find("Entities[1]"));
        assert_eq!(first.end().unwrap(), second.position());
        let mut tree = Tree::default();
        assert_eq!(first.visit(&mut tree).unwrap().0, second.position());
    }

    #[test]
    fn tables_have_the_columns_that_others_rely_on() {
        let asset = Asset::open(Source::from_vec("a.vrb", demo(1, Size::Small))).unwrap();
        let table = |name: &str| asset.reader().table(name).unwrap();
        let columns =
            |name: &str| -> Vec<String> { table(name).columns().iter().map(|c| c.name.to_string()).collect() };
        assert_eq!(columns("bundles"), ["name", "version"]);
        assert_eq!(columns("types"), ["id", "kind", "name"]);
        let chunks = ["name", "root_type", "offset", "stored_size", "size", "compression", "checksum", "checksum_ok"];
        assert_eq!(columns("chunks")[..8], chunks);
        assert_eq!(columns("values")[..3], ["path", "type", "value"]);
        assert_eq!(asset.reader().tables()[0].name(), "chunks");
        let cell = |name: &str, row, column| table(name).value(row, column).unwrap().to_string();
        assert_eq!(cell("bundles", 1, 1), "2.0.2.29");
        assert_eq!(cell("chunks", 0, 0), MAIN);
        assert_eq!(cell("chunks", 0, 1), "Sample:Sample.World.World");
        assert_eq!(cell("chunks", 0, 5), "brotli");
        assert_eq!(cell("chunks", 1, 5), "none");
        assert_eq!(cell("chunks", 2, 7), "true");
        assert_eq!((cell("types", 0, 0), cell("types", 0, 1)), ("0x00000200".into(), "class".into()));
    }

    #[test]
    fn the_same_seed_gives_the_same_file() {
        assert_eq!(demo(3, Size::Small), demo(3, Size::Small));
        assert_ne!(demo(3, Size::Small), demo(4, Size::Small));
    }
}

mod hostile {
    use super::*;

    #[test]
    fn every_truncation_is_found() {
        let bytes = demo(1, Size::Small);
        for end in 0..bytes.len() {
            match open(&bytes[..end]) {
                Err(_) => assert!(end < 192, "the header is all that opening needs"),
                Ok(archive) => {
                    assert!(!archive.verify(&Progress::default()).ok(), "{end}");
                    if end % 64 == 0 {
                        use_all(&archive);
                    }
                }
            }
        }
    }

    #[test]
    fn every_flipped_byte_is_found() {
        let bytes = demo(2, Size::Small);
        let mut rng = fastrand::Rng::with_seed(11);
        for _ in 0..1000 {
            let mut damaged = bytes.clone();
            let at = rng.usize(..damaged.len());
            damaged[at] ^= rng.u8(1..);
            if let Ok(archive) = open(&damaged) {
                assert!(!archive.verify(&Progress::default()).ok(), "byte {at:#x}");
            }
        }
    }

    /// Damage under checksums that match, so that it reaches the readers behind them.
    #[test]
    fn damage_behind_the_checksums_never_panics() {
        let world = world();
        let data = world_values(&world, 3, 4);
        let mut rng = fastrand::Rng::with_seed(5);
        for round in 0..2500 {
            let mut builder = ArchiveBuilder::new(&world.types, world.world, Codec::None, data.clone());
            builder.tables = Codec::None;
            let target = if round % 2 == 0 { &mut builder.types } else { &mut builder.chunks[0].data };
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(..target.len());
                target[at] = [rng.u8(..), 0xFF, 0, target[at] ^ 1, 0x7F][rng.usize(..5)];
            }
            use_all(&open(&builder.build()).unwrap());
        }
    }

    #[test]
    fn headers_of_random_numbers_never_panic() {
        let bytes = demo(4, Size::Small);
        let mut rng = fastrand::Rng::with_seed(6);
        for _ in 0..1000 {
            let mut damaged = bytes.clone();
            let at = 16 + 4 * rng.usize(..44);
            let value = [rng.i32(..), -1, i32::MAX, i32::MIN, 0, 1, rng.i32(0..5000)][rng.usize(..7)];
            damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            seal(&mut damaged);
            use_all(&open(&damaged).unwrap());
        }
    }

    #[test]
    fn magic_and_version() {
        let mut bytes = demo(1, Size::Small);
        bytes[4] = 2;
        assert_eq!(open(&bytes).unwrap_err().to_string(), "header: unknown version 2 (at offset 0x4)");
        bytes[0] = b'X';
        assert!(matches!(open(&bytes).unwrap_err().kind(), ErrorKind::BadMagic { expected: 0x4233_5256, .. }));
    }

    #[test]
    fn a_wrong_checksum_warns_when_reading_and_fails_verify_and_strict() {
        let strict = |bytes: &[u8]| {
            let options = Options { strict: true, ..Options::default() };
            Archive::open_with(Source::from_vec("test.vrb", bytes.to_vec()), options)
        };
        let world = world();
        let good = archive_of(&world.types, world.mesh, &mesh(1, 10));
        assert!(strict(&good).unwrap().main().data().is_ok());

        let mut header = good.clone();
        header[8] ^= 1;
        let archive = open(&header).unwrap();
        assert!(cat(&archive, MAIN).unwrap().is_some());
        assert_eq!(archive.warnings().len(), 1);
        assert!(matches!(strict(&header).unwrap_err().kind(), ErrorKind::Checksum { .. }));
        assert!(findings(&verify(&header))[0].starts_with("header: header: XXH64 checksum is"));

        // A float of the mesh: decodes all the same.
        let mut chunk = good;
        chunk[192 + 40] ^= 1;
        let archive = open(&chunk).unwrap();
        assert!(archive.warnings().is_empty(), "nothing was read yet");
        assert!(cat(&archive, MAIN).unwrap().is_some());
        assert!(cat(&archive, "Name").unwrap().is_some());
        assert_eq!(archive.warnings().len(), 1, "said once");
        assert!(archive.warnings()[0].contains("chunk [Main]: XXH64"), "{:?}", archive.warnings());
        let error = strict(&chunk).unwrap().main().data().unwrap_err();
        assert_eq!(error.offset(), Some(MAIN_ENTRY as u64 + 8));
        assert_eq!(findings(&verify(&chunk)).len(), 1);
    }

    #[test]
    fn sizes_beyond_the_file() {
        let world = world();
        let good = archive_of(&world.types, world.mesh, &mesh(1, 10));
        for (field, value, expected) in [
            (0, 1i64 << 40, "bytes needed, 0 left"),
            (0, -1, "offset: -1 is not allowed"),
            (16, 1 << 40, "bytes needed"),
            (16, i64::MAX, "bytes needed"),
            (16, -5, "stored size: -5 is not allowed"),
            (24, 7, "its size is said to be 7"),
            (24, -7, "size: -7 is not allowed"),
        ] {
            let mut bytes = good.clone();
            bytes[MAIN_ENTRY + field..MAIN_ENTRY + field + 8].copy_from_slice(&value.to_le_bytes());
            seal(&mut bytes);
            let archive = open(&bytes).unwrap();
            let error = archive.main().data().unwrap_err().to_string();
            assert!(error.starts_with("chunk [Main]") && error.contains(expected), "{error}");
            assert!(!archive.verify(&Progress::default()).ok());
            assert_eq!(archive.types().unwrap().types().len(), 26, "the tables stay readable");
        }
    }

    #[test]
    fn bombs_are_refused_before_they_go_off() {
        let world = world();
        let zeros = vec![0; 20 << 20];
        for codec in [Codec::Brotli, Codec::Zlib] {
            let mut bytes = ArchiveBuilder::new(&world.types, world.mesh, codec, zeros.clone()).build();
            for (declared, expected) in [
                (100i64 << 30, "more than the limit"),
                (i64::MAX, "more than the limit"),
                (1 << 20, "more than the declared 1048576 bytes come out"),
                (0, "more than the declared 0 bytes come out"),
            ] {
                bytes[MAIN_ENTRY + 24..MAIN_ENTRY + 32].copy_from_slice(&declared.to_le_bytes());
                seal(&mut bytes);
                let error = open(&bytes).unwrap().main().data().unwrap_err().to_string();
                assert!(error.contains(expected), "{error}");
            }
        }
    }

    #[test]
    fn a_stream_shorter_than_declared() {
        let world = world();
        let mut bytes = ArchiveBuilder::new(&world.types, world.mesh, Codec::Brotli, mesh(1, 4)).build();
        bytes[MAIN_ENTRY + 24..MAIN_ENTRY + 32].copy_from_slice(&(60i64 << 20).to_le_bytes());
        seal(&mut bytes);
        let error = open(&bytes).unwrap().main().data().unwrap_err().to_string();
        assert!(error.contains("brotli") && error.contains("are declared"), "{error}");
    }

    #[test]
    fn counts_that_cannot_be_true() {
        let mut types = TypesBuilder::new();
        let ty = types.generic(LIST, &[TypeId(INT32.0)]);
        let list = types.list(ty, INT32);
        let mut data = ValuesBuilder::new();
        data.count(0xFF_FFFF).bytes([0; 6]);
        let error = refusal(&types, list, &data.into_bytes());
        assert_eq!(error.to_string(), "chunk [Main]: values: list count: 16777215 is not allowed (at offset 0xc0)");

        // Elements that take no bytes: the count may be true, the work must end all the same.
        let mut types = TypesBuilder::new();
        let unit = types.named(1, 0, "Test:Unit");
        let unit = types.composite(unit, flags::STRUCT, 0, &[]);
        let ty = types.generic(LIST, &[TypeId(0x200)]);
        let list = types.list(ty, unit);
        let mut data = ValuesBuilder::new();
        data.count(0xFF_FFFF);
        let bytes = archive_of(&types, list, &data.into_bytes());
        let error = cat(&open(&bytes).unwrap(), MAIN).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { what: "values in a chunk", .. }), "{error}");
    }

    #[test]
    fn structs_that_multiply_without_bytes() {
        let mut types = TypesBuilder::new();
        let unit = types.named(1, 0, "Test:Unit");
        let mut model = types.composite(unit, flags::STRUCT, 0, &[]);
        for _ in 0..20 {
            let members: Vec<_> = (0..200).map(|_| member("M", model)).collect();
            model = types.composite(unit, flags::STRUCT, 0, &members);
        }
        let error = refusal(&types, model, &[]);
        assert!(matches!(error.kind(), ErrorKind::Limit { what: "values in a chunk", .. }), "{error}");
    }

    #[test]
    fn types_that_name_themselves() {
        // A generic that is its own argument has no name.
        let mut types = TypesBuilder::new();
        types.generic(LIST, &[TypeId(0x200)]);
        types.array(TypeId(0x201), 1);
        for index in [0x200, 0x201] {
            let mut data = ValuesBuilder::new();
            data.count(index);
            let error = refusal(&types, TYPE, &data.into_bytes());
            assert!(matches!(error.kind(), ErrorKind::Limit { what: "length of a type's name", .. }), "{error}");
        }

        // A generic over the one before it twice, thirty times over, has a name too long to write.
        let mut types = TypesBuilder::new();
        types.named(0, 0, "Test:A");
        for i in 0..30 {
            types.generic(LIST, &[TypeId(0x200 + i), TypeId(0x200 + i)]);
        }
        let archive = open(&archive_of(&types, GUID, &[0; 16])).unwrap();
        let table = archive.table("types").unwrap();
        assert!(table.value(30, 2).unwrap_err().to_string().contains("length of a type's name"));
        assert_eq!(table.value(2, 2).unwrap().to_string().matches("Test:A").count(), 4);
    }

    #[test]
    fn models_that_name_themselves() {
        // A struct that holds itself, alone and by way of another.
        for members in [&[0x200][..], &[0x201, 0x200]] {
            let mut types = TypesBuilder::new();
            let ty = types.named(1, 0, "Test:S");
            for inner in members {
                types.composite(ty, flags::STRUCT, 0, &[member("Self", ModelId(*inner))]);
            }
            let error = refusal(&types, ModelId(0x200), &[]);
            assert!(matches!(error.kind(), ErrorKind::Limit { what: "depth of values", .. }), "{error}");
            let found = findings(&verify(&archive_of(&types, ModelId(0x200), &[])));
            assert!(found.iter().any(|f| f.contains("type table") && f.contains("form a cycle")), "{found:?}");
        }
        // A proxy of itself.
        let mut types = TypesBuilder::new();
        let ty = types.named(1, 0, "Test:P");
        types.proxy(ty, flags::PLAIN, ModelId(0x200), 0);
        let error = refusal(&types, ModelId(0x200), &[0; 8]);
        assert!(matches!(error.kind(), ErrorKind::Cycle { at: 0x200 }), "{error}");
    }

    #[test]
    fn depth_is_bounded_by_the_limit() {
        let mut types = TypesBuilder::new();
        let ty = types.named(0, 0, "Test:Node");
        let node = types.composite(ty, flags::CLASS, 0, &[member("Next", ModelId(0x200))]);
        let chain = |n: usize| [vec![0; n], vec![0xFF]].concat();
        let limit = Options::default().limits.depth;
        assert_ok(&archive_of(&types, node, &chain(limit)));
        for deeper in [limit + 1, 1_000_000] {
            let error = refusal(&types, node, &chain(deeper));
            assert!(matches!(error.kind(), ErrorKind::Limit { what: "depth of values", .. }), "{error}");
        }
    }

    #[test]
    fn unknown_bytes_are_named_with_their_offset() {
        let mut types = TypesBuilder::new();
        let model = holder(&mut types, STRING);
        for (data, expected) in [
            (&[0, 1, 0, 0, 0, 0][..], "prefix of a value: 1 is not allowed (at offset 0xc1)"),
            (&[5], "prefix of a value: 5 is not allowed (at offset 0xc0)"),
            (&[0, 0, 3, 0, 0, 0, 65, 0, 66], "length of a UTF-16 string in bytes: 3 is not allowed (at offset 0xc2)"),
            (&[0, 0, 0xFF, 0xFF, 0xFF, 0xFF], "length of a string: -1 is not allowed (at offset 0xc2)"),
            (&[0, 0, 9, 0, 0, 0, 65, 0], "length of a string: 9 is not allowed (at offset 0xc2)"),
            (&[0, 0xFF, 9], "1 bytes left over (at offset 0xc2)"),
            (&[0], "1 bytes needed, 0 left (at offset 0xc1)"),
        ] {
            assert_eq!(refusal(&types, model, data).to_string(), format!("chunk [Main]: values: {expected}"));
        }
        for (model, data, expected) in [
            (TYPE, &[1, 0, 2, 0][..], "first byte of the type index: 1 is not allowed (at offset 0xc0)"),
            (TYPE, &[0, 1, 2, 0], "type index: 513 is not allowed (at offset 0xc0)"),
            (BOOLEAN, &[2], "boolean: 2 is not allowed (at offset 0xc0)"),
        ] {
            assert_eq!(refusal(&types, model, data).to_string(), format!("chunk [Main]: values: {expected}"));
        }
    }

    #[test]
    fn what_the_notes_leave_open_is_refused() {
        // Each model as the root, with plenty of zero bytes to guess from.
        type Make = fn(&mut TypesBuilder, TypeId) -> ModelId;
        let cases: [(&str, Make); 12] = [
            ("char or sbyte", |_, _| ModelId(5)),
            ("built-in 0x0E", |_, _| ModelId(0x0E)),
            ("no type", |_, _| ModelId(0)),
            ("unknown flag of a composite", |t, ty| t.composite(ty, 0x24, 0, &[])),
            ("image that is no value", |t, ty| t.composite(ty, 0x10, 4, &[])),
            ("interface", |t, ty| t.proxy(ty, flags::INTERFACE, ModelId(0), 0)),
            ("proxy with a size", |t, ty| t.proxy(ty, 0x1C, INT32, 4)),
            ("enum of a string", |t, ty| t.proxy(ty, flags::ENUM, STRING, 4)),
            ("enum of another width", |t, ty| t.proxy(ty, flags::ENUM, BYTE, 4)),
            ("nullable built-in", |t, _| {
                let ty = t.generic(NULLABLE, &[TypeId(INT32.0)]);
                t.proxy(ty, flags::PLAIN, INT32, 0)
            }),
            ("nullable enum", |t, ty| {
                let inner = t.proxy(ty, flags::ENUM, INT32, 4);
                let ty = t.generic(NULLABLE, &[ty]);
                t.proxy(ty, flags::PLAIN, inner, 0)
            }),
            ("array of two dimensions", |t, ty| {
                let ty = t.array(ty, 2);
                t.list(ty, INT32)
            }),
        ];
        for (what, make) in cases {
            let mut types = TypesBuilder::new();
            let ty = types.named(1, 0, "Test:T");
            let model = make(&mut types, ty);
            let error = refusal(&types, model, &[0; 64]);
            assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{what}: {error}");
            assert!(error.to_string().contains("guessing"), "{what}: {error}");
            assert_eq!(error.offset(), Some(192), "{what}: {error}");
        }
    }

    #[test]
    fn images_hold_their_members() {
        for (offset, model) in [(0, STRING), (1, INT32), (i32::MAX, INT32)] {
            let mut types = TypesBuilder::new();
            let ty = types.named(1, 0, "Test:I");
            let image = types.composite(ty, flags::IMAGE, 4, &[placed("M", model, offset)]);
            let error = refusal(&types, image, &[0; 4]);
            assert!(error.to_string().contains("offset of a member in an image"), "{error}");
        }
        // A struct that is no image itself has no known form in one.
        let mut types = TypesBuilder::new();
        let ty = types.named(1, 0, "Test:I");
        let inner = types.composite(ty, flags::PLAIN, 0, &[member("N", INT32)]);
        let image = types.composite(ty, flags::IMAGE, 4, &[placed("M", inner, 0)]);
        let error = refusal(&types, image, &[0; 4]);
        assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");

        let mut types = TypesBuilder::new();
        let ty = types.named(1, 0, "Test:I");
        let image = types.composite(ty, flags::IMAGE, 1000, &[]);
        assert!(matches!(refusal(&types, image, &[0; 4]).kind(), ErrorKind::OutOfBounds { need: 1000, have: 4 }));
        types.composite(ty, flags::IMAGE, -1, &[]);
        let error = open(&archive_of(&types, GUID, &[0; 16])).unwrap().types().unwrap_err();
        assert!(error.to_string().contains("size of a value: -1"), "{error}");
    }

    #[test]
    fn damaged_type_tables_leave_the_chunks_extractable() {
        let mut types = TypesBuilder::new();
        let model = holder(&mut types, STRING);
        let length = types.table().len();
        // The model is the last 8 bytes before its member of 4 + 10 + 4 + 4.
        let tag = length - 22 - 8;
        for (at, byte, expected) in [
            (8, b'X', "type tag: 88"),
            (9, 3, "type kind: 3"),
            (tag, b'Q', "model tag: 81"),
            (tag + 2, 9, "type of a model: 2304"),
            (length - 2, 2, "model of a member: 131074"),
            (length - 5, 1, "value prefix of a member: 16777216"),
            (0, 200, "type count: 200"),
            (3, 0x80, "type count: -2147483647"),
            (4, 0, "bytes left over"),
        ] {
            let mut builder = ArchiveBuilder::new(&types, model, Codec::None, vec![0, 0xFF]);
            builder.types[at] = byte;
            let archive = open(&builder.build()).unwrap();
            let error = archive.types().unwrap_err().to_string();
            assert!(error.contains(expected) && error.starts_with("type table, decompressed"), "{error}");
            assert_eq!(archive.main().data().unwrap().bytes(), [0, 0xFF]);
            assert_eq!(archive.bundles().unwrap().len(), 2);
            assert!(cat(&archive, MAIN).is_err());
            assert!(!archive.verify(&Progress::default()).ok());
        }
    }

    #[test]
    fn a_damaged_chunk_table_leaves_the_main_chunk() {
        let mut bytes = demo(1, Size::Small);
        bytes[128] = 200;
        seal(&mut bytes);
        let archive = open(&bytes).unwrap();
        assert_eq!(cat(&archive, "[Main].Name").unwrap().unwrap().to_string(), "Verdure");
        assert!(archive.chunk(MAIN).unwrap().is_some());
        for name in ["chunks", "values"] {
            let table = archive.table(name).unwrap();
            assert!(table.len().is_err());
            let mut rows = table.cursor(0);
            assert!(rows.advance().unwrap(), "what is known of {name} comes first");
            let error = loop {
                match rows.advance() {
                    Ok(true) => {}
                    Ok(false) => panic!("the damage must be said"),
                    Err(error) => break error,
                }
            };
            assert!(error.to_string().contains("chunk count: 200 is not allowed (at offset 0x80)"), "{error}");
        }
        assert!(!archive.verify(&Progress::default()).ok());
    }

    #[test]
    fn unknown_compression_and_delta_encoding() {
        let world = world();
        let good = archive_of(&world.types, world.mesh, &mesh(1, 10));
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            seal(&mut bytes);
            bytes
        };
        let error = open(&with(MAIN_ENTRY + 32, 3)).unwrap().main().data().unwrap_err();
        assert_eq!(error.to_string(), "chunk [Main]: compression type: 3 is not allowed (at offset 0xa4)");
        let archive = open(&with(MAIN_ENTRY + 33, 1)).unwrap();
        assert_eq!(archive.main().data().unwrap().bytes(), mesh(1, 10));
        let error = cat(&archive, MAIN).unwrap_err();
        assert_eq!(error.to_string(), "chunk [Main]: delta encoding (byte 0x01) is not supported (at offset 0xa5)");
        assert!(!archive.verify(&Progress::default()).ok());
        let found = findings(&verify(&with(180, 1)));
        assert_eq!(found, ["header: header: reserved byte: 1 is not allowed (at offset 0xb4)"]);
    }

    #[test]
    fn gaps_and_overlaps_are_found() {
        let world = world();
        let mut bytes = archive_of(&world.types, world.mesh, &mesh(1, 10));
        let longer = [&bytes[..], b"tail"].concat();
        assert!(findings(&verify(&longer))[0].contains("end of the file: 4 bytes before it belong to nothing"));
        let (head, tail) = bytes.split_at_mut(MAIN_ENTRY);
        head[TYPE_ENTRY..TYPE_ENTRY + 36].copy_from_slice(&tail[..36]);
        seal(&mut bytes);
        assert!(findings(&verify(&bytes)).iter().any(|f| f.starts_with("space: ")));
    }

    /// Any number of chunks over the same bytes, so that decoding all of them would never end.
    #[test]
    fn chunks_over_the_same_bytes_are_decoded_once() {
        let world = world();
        let builder = ArchiveBuilder::new(&world.types, world.mesh, Codec::None, mesh(1, 4));
        let mut builder = (0..500).fold(builder, |b, i| b.chunk(&format!("C{i}"), world.mesh, Codec::Zlib, mesh(1, 4)));
        builder.tables = Codec::None;
        let mut bytes = builder.build();
        // All entries become copies of the first one.
        let mut at = u64::from_le_bytes(bytes[88..96].try_into().unwrap()) as usize;
        let mut first = None;
        for _ in 0..500 {
            at += 4 + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let entry = *first.get_or_insert_with(|| <[u8; 40]>::try_from(&bytes[at..at + 40]).unwrap());
            bytes[at..at + 40].copy_from_slice(&entry);
            at += 40;
        }
        let archive = open(&bytes).unwrap();
        assert!(cat(&archive, "C0").unwrap().is_some());
        let error = cat(&archive, "C1").unwrap_err().to_string();
        assert!(error.contains("belong to another part"), "{error}");
        let report = archive.verify(&Progress::default());
        let values = report.checks.iter().find(|c| c.name == "chunk values").unwrap();
        assert_eq!(values.found(), 499);
    }

    #[test]
    fn errors_in_decompressed_parts_say_so() {
        let mut types = TypesBuilder::new();
        let model = holder(&mut types, STRING);
        for codec in [Codec::Brotli, Codec::Zlib] {
            let bytes = ArchiveBuilder::new(&types, model, codec, vec![0, 7]).build();
            let error = cat(&open(&bytes).unwrap(), MAIN).unwrap_err().to_string();
            let expected = "chunk [Main], decompressed: values: prefix of a value: 7 is not allowed (at offset 0x1)";
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn polymorphic_values_name_a_model_of_the_file() {
        let mut types = TypesBuilder::new();
        let any = types.named(2, 0, "Test:IAny");
        let any = types.proxy(any, flags::INTERFACE, ModelId(0), 0);
        let ty = types.named(0, 0, "Test:Holder");
        let model = types.composite(ty, flags::CLASS, 0, &[polymorphic("Any", any)]);
        let mut data = ValuesBuilder::new();
        data.present().count(0x2FF);
        let error = refusal(&types, model, &data.into_bytes());
        assert!(error.to_string().contains("model index: 767"), "{error}");
        // The interface itself is not an actual type.
        let mut data = ValuesBuilder::new();
        data.present().count(0x200);
        let error = refusal(&types, model, &data.into_bytes());
        assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
        // A class instance is read, and said to be read by a rule without confirmation.
        let mut data = ValuesBuilder::new();
        data.present().count(0x201).present().null();
        let archive = open(&archive_of(&types, model, &data.into_bytes())).unwrap();
        assert!(cat(&archive, MAIN).unwrap().is_some());
        assert!(archive.warnings()[0].contains("1 class instances in polymorphic members"), "{:?}", archive.warnings());
    }
}

mod real {
    use super::*;
    use std::path::PathBuf;

    fn samples() -> Vec<PathBuf> {
        let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
            println!("skipped: ASSETQ_SAMPLES is not set");
            return Vec::new();
        };
        let folder = std::fs::read_dir(PathBuf::from(folder).join("vrb")).unwrap();
        let mut files: Vec<_> = folder.map(|f| f.unwrap().path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "vrb"));
        files.sort();
        assert!(!files.is_empty());
        files
    }

    #[test]
    fn all_verify_and_use_up_every_byte() {
        for path in samples() {
            let archive = Archive::open(Source::open(&path).unwrap()).unwrap();
            let report = archive.verify(&Progress::default());
            assert_eq!(findings(&report), Vec::<String>::new(), "{}", path.display());
            let root = archive.main().root().unwrap();
            let length = archive.main().data().unwrap().bytes().len();
            assert_eq!(root.end().unwrap(), length);
            assert_eq!(root.visit(&mut Tree::default()).unwrap().0, length);
            assert!(cat(&archive, MAIN).unwrap().is_some());
            assert_eq!(archive.warnings(), Vec::<String>::new());
            assert!(archive.table("values").unwrap().len().unwrap() > 30);
        }
    }

    #[test]
    fn the_path_of_a_definition() {
        let Some(path) = samples().into_iter().find(|p| p.ends_with("definitionsets.vrb")) else { return };
        let archive = Archive::open(Source::open(path).unwrap()).unwrap();
        let get = |path: &str| cat(&archive, path).unwrap().unwrap();
        let guid = "318942e2-62c7-461c-9bf3-0687a49ec851";
        assert_eq!(get("DefinitionSets.World._definitions[3].Guid").to_string(), guid);
        assert_eq!(get("DefinitionSets.World._definitions[0].PartialDefinitions[0]").to_string(), guid);
        assert_eq!(get(&format!("DefinitionSets.World._definitions[\"{guid}\"].PartialKind")), Value::Int(2));
        let key = get("DefinitionSets.World._definitions[3]#key");
        assert!(matches!(key, Value::Guid(Guid([0xE2, 0x42, 0x89, 0x31, ..]))));
    }

    /// A flush before the end leaves an empty meta-block, in the game's streams and in the builder's.
    #[test]
    fn streams_end_as_the_builder_ends_them() {
        for path in samples() {
            let archive = Archive::open(Source::open(&path).unwrap()).unwrap();
            for part in archive.tables_of_contents().into_iter().take(2) {
                let decoded = part.decode(archive.source(), &Options::default().limits).unwrap();
                let (ours, theirs) = (Codec::Brotli.encode(decoded.bytes()), part.stored(archive.source()).unwrap());
                assert_eq!((ours.last(), theirs.bytes().last()), (Some(&3), Some(&3)), "{}", path.display());
            }
        }
    }

    #[test]
    fn every_flip_of_a_real_file_is_found() {
        let mut rng = fastrand::Rng::with_seed(8);
        for path in samples() {
            let bytes = std::fs::read(&path).unwrap();
            for _ in 0..300 {
                let mut damaged = bytes.clone();
                let at = rng.usize(..damaged.len());
                damaged[at] ^= rng.u8(1..);
                if let Ok(archive) = open(&damaged) {
                    assert!(!archive.verify(&Progress::default()).ok(), "{} {at:#x}", path.display());
                }
            }
        }
    }
}

#[cfg(feature = "cli")]
mod command {
    use super::*;
    use std::process::{Command, Output};

    fn assetq(bytes: &[u8], arguments: &[&str]) -> Output {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.vrb");
        std::fs::write(&path, bytes).unwrap();
        let (command, rest) = arguments.split_first().unwrap();
        Command::new(env!("CARGO_BIN_EXE_assetq")).arg(command).arg(&path).args(rest).output().unwrap()
    }

    #[test]
    fn raw_gives_the_decompressed_bytes_also_of_what_cannot_be_read() {
        let mut builder = ArchiveBuilder::new(&TypesBuilder::new(), ModelId(0x200), Codec::Zlib, vec![1, 2, 3]);
        builder.types = b"not a type table".to_vec();
        let bytes = builder.build();
        let raw = assetq(&bytes, &["cat", "--raw", MAIN]);
        assert_eq!((raw.status.code(), &raw.stdout[..]), (Some(0), &[1u8, 2, 3][..]));
        assert_eq!(assetq(&bytes, &["cat", MAIN]).status.code(), Some(3));
        assert_eq!(assetq(&bytes, &["cat", "--raw", "Nope"]).status.code(), Some(1));
    }

    #[test]
    fn strict_refuses_what_is_a_warning_otherwise() {
        let world = world();
        let mut bytes = archive_of(&world.types, world.mesh, &mesh(1, 10));
        bytes[192 + 40] ^= 1;
        let warned = assetq(&bytes, &["cat", "Name", "-f", "json"]);
        assert_eq!((warned.status.code(), &warned.stdout[..]), (Some(0), &b"\"Hull\"\n"[..]));
        let message = String::from_utf8(warned.stderr).unwrap();
        assert!(message.contains("warning: chunk [Main]: XXH64 checksum") && message.lines().count() == 1, "{message}");
        let refused = assetq(&bytes, &["cat", "Name", "--strict"]);
        assert_eq!(refused.status.code(), Some(3));
        assert_eq!(refused.stdout, b"");
        assert_eq!(assetq(&bytes, &["verify"]).status.code(), Some(3));
    }

    #[test]
    fn the_whole_graph_is_one_json_document() {
        let out = assetq(&demo(1, Size::Small), &["cat", MAIN, "-f", "json"]);
        assert_eq!(out.status.code(), Some(0));
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(json["Sets"]["North.Pole"]["Y"], 2);
        assert_eq!(json["Bounds"]["Min"]["Z"], serde_json::Value::Null, "NaN");
        assert_eq!(json["ById"][0]["key"], json["ById"][0]["value"]["Guid"]);
        assert_eq!(json["Entities"].as_array().unwrap().len(), 12);
    }

    #[test]
    fn a_chunk_is_listed_by_its_name() {
        let out = assetq(&demo(1, Size::Small), &["ls", MAIN, "-f", "json"]);
        let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!((json[0]["name"].as_str(), json.as_array().unwrap().len()), (Some(MAIN), 1));
    }
}
