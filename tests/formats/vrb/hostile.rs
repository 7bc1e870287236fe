//! Damaged and hostile archives: an error that names the place, never a panic, a hang or a big allocation.

use super::*;

/// How many rows of `values` a walk shows, and the error with which it ends.
fn values_until_an_error(archive: &VrbArchive) -> (usize, Error) {
    let table = archive.table("values").unwrap();
    let (mut rows, mut seen) = (table.cursor(0), 0);
    loop {
        match rows.advance() {
            Ok(true) => seen += 1,
            Ok(false) => panic!("{seen} rows"),
            Err(error) => return (seen, error),
        }
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
        let mut options = Options::default();
        options.strict = true;
        VrbArchive::open_with(Source::from_vec("test.vrb", bytes.to_vec()), options)
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
        assert!(!archive.verify(&Progress::default()).is_ok());
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

/// Many chunks that expand to little enough each: what all of them may take is bounded, and which of them are refused
/// does not depend on which are asked for first.
#[test]
fn many_small_bombs_share_one_limit() {
    let (count, size) = (16, 2 << 20);
    let bytes = bombs(count, size);
    let limit = (16 << 20) + 128 * bytes.len() as u64;
    let archive = open(&bytes).unwrap();
    let last = archive.chunk("C15").unwrap().unwrap();
    let error = last.data().unwrap_err();
    let ErrorKind::Limit { value, limit: said, .. } = *error.kind() else { panic!("{error}") };
    assert_eq!(said, limit);
    assert!(value > limit && error.to_string().contains("chunk C15: decompressed size of all parts"), "{error}");

    let decoded = |archive: &VrbArchive| {
        let all: Vec<bool> = archive.chunks().unwrap().iter().rev().map(|c| c.data().is_ok()).collect();
        all.into_iter().rev().collect::<Vec<_>>()
    };
    let good = decoded(&archive);
    let fit = 1 + (limit / (size as u64 + 5)) as usize;
    assert!(fit < count && good == (0..=count).map(|i| i < fit).collect::<Vec<_>>(), "{good:?}");

    // A walk over the values shows those that fit, and says why it ends.
    let (seen, error) = values_until_an_error(&archive);
    assert!(seen == fit && matches!(error.kind(), ErrorKind::Limit { .. }), "{seen} rows, {error}");
    let report = archive.verify(&Progress::default());
    let values = report.checks.iter().find(|c| c.name == "chunk values").unwrap();
    assert_eq!(values.found() as usize, count + 1 - fit);

    // Who knows better may say so.
    let mut options = Options::default();
    options.limits.ratio = 2000;
    let archive = VrbArchive::open_with(Source::from_vec("test.vrb", bytes), options).unwrap();
    assert!(decoded(&archive).iter().all(|&good| good));
}

/// A long name in front of every value: rows are few, but the text of their paths would have no end.
#[test]
fn long_names_in_all_values_end_with_an_error() {
    let mut types = TypesBuilder::new();
    let name = "N".repeat(1 << 20);
    let ty = types.named(1, 0, "Test:S");
    let item = types.composite(ty, flags::STRUCT, 0, &[member(&name, BYTE)]);
    let list = types.generic(LIST, &[ty]);
    let list = types.list(list, item);
    let mut data = ValuesBuilder::new();
    data.count(200_000).bytes(vec![0; 200_000]);
    let mut builder = ArchiveBuilder::new(&types, list, Codec::Brotli, data.into_bytes());
    builder.tables = Codec::Zlib;
    let bytes = builder.build();
    let archive = open(&bytes).unwrap();
    assert_ok(&bytes);
    let (seen, error) = values_until_an_error(&archive);
    let ErrorKind::Limit { limit, .. } = *error.kind() else { panic!("{error}") };
    assert!(seen > 30 && (seen as u64) < limit >> 20, "{seen} rows");
    assert!(error.to_string().starts_with("chunk [Main], decompressed: bytes of the paths"), "{error}");
}

#[test]
fn a_stream_shorter_than_declared() {
    let world = world();
    let mut bytes = ArchiveBuilder::new(&world.types, world.mesh, Codec::Brotli, mesh(1, 4)).build();
    bytes[MAIN_ENTRY + 24..MAIN_ENTRY + 32].copy_from_slice(&(12i64 << 20).to_le_bytes());
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
        assert!(!archive.verify(&Progress::default()).is_ok());
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
    assert!(!archive.verify(&Progress::default()).is_ok());
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
    assert!(!archive.verify(&Progress::default()).is_ok());
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
    // Nor are their bytes hashed again and again.
    let chunks = archive.table("chunks").unwrap();
    assert_eq!(chunks.value(1, 7).unwrap(), Value::Bool(true));
    assert!(chunks.value(2, 7).unwrap_err().to_string().contains("belong to another part"));
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
    // A class instance is read, with a note that no known file confirms the rule.
    let mut data = ValuesBuilder::new();
    data.present().count(0x201).present().null();
    let archive = open(&archive_of(&types, model, &data.into_bytes())).unwrap();
    assert!(cat(&archive, MAIN).unwrap().is_some());
    let notes = archive.notes();
    assert!(
        archive.warnings().is_empty() && notes[0].starts_with("1 object of kinds that no known real file"),
        "{notes:?}"
    );
}
