//! Archives that the builders write.

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
    let missing = ["Nope", "Name.x", "Entities[2]", "Sets[0]#key", "Sets[\"x\"]", "[Main]x", "Entities..Id", "Icon[4]"];
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
    let archive = VrbArchive::open(source.clone()).unwrap();
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
    let columns = |name: &str| -> Vec<String> { table(name).columns().iter().map(|c| c.name.to_string()).collect() };
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
