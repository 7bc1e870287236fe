//! Edited archives: values set, inserted and deleted, and whole entries.

use super::*;
use crate::common::tree::at;
use assetq::diff::{self, Differences, same_value};
use assetq::edit::{EditPosition, EntryEdit, Pieces, TableEdits, Writable};
use assetq::formats::reader::Graphs as _;
use fastrand::Rng;

const PATH: usize = 0;
const TYPE_NAME: usize = 1;
const VALUE: usize = 2;
const CHUNK: usize = 3;

type ValueRow = [Value<'static>; 4];

fn rows(archive: &VrbArchive) -> Vec<ValueRow> {
    let table = archive.table("values").unwrap();
    let mut cursor = table.cursor(0);
    let mut rows = Vec::new();
    while cursor.advance().unwrap() {
        rows.push([0, 1, 2, 3].map(|column| cursor.value(column).unwrap().into_owned()));
    }
    rows
}

fn row_of(rows: &[ValueRow], chunk: &str, path: &str) -> usize {
    let found = rows.iter().position(|row| row[PATH] == path.into() && row[CHUNK] == chunk.into());
    found.unwrap_or_else(|| panic!("no row {path}"))
}

fn written(bytes: &[u8], pieces: &Pieces) -> Vec<u8> {
    let new = pieces.bytes(bytes);
    assert_ok(&new);
    assert_eq!(pieces.inverse(bytes).bytes(&new), bytes);
    new
}

fn edited(bytes: &[u8], edits: TableEdits) -> Result<Vec<u8>> {
    let edits = TableEdits { table: "values".into(), ..edits };
    Ok(written(bytes, &open(bytes)?.write(&[edits])?))
}

fn set(row: usize, value: Value<'static>) -> TableEdits {
    TableEdits { set: vec![(row, vec![(VALUE, value)])], ..TableEdits::default() }
}

fn set_at(bytes: &[u8], path: &str, value: impl Into<Value<'static>>) -> Result<Vec<u8>> {
    let row = row_of(&rows(&open(bytes)?), MAIN, path);
    edited(bytes, set(row, value.into()))
}

fn remove_all(bytes: &[u8], gone: impl Fn(&str) -> bool) -> Result<Vec<u8>> {
    let all = rows(&open(bytes)?);
    let remove = (0..all.len()).filter(|&row| gone(&all[row][PATH].to_string())).collect();
    edited(bytes, TableEdits { remove, ..TableEdits::default() })
}

fn add(bytes: &[u8], rows: &[(&str, Value<'static>)]) -> Result<Vec<u8>> {
    let cells = |(path, value): &(&str, Value<'static>)| {
        vec![(PATH, Value::owned((*path).to_owned())), (VALUE, value.clone()), (CHUNK, MAIN.into())]
    };
    edited(bytes, TableEdits { add: rows.iter().map(cells).collect(), ..TableEdits::default() })
}

fn put(bytes: &[u8], entry: &str, tree: &Value<'static>) -> Result<Vec<u8>> {
    match open(bytes)?.entry(entry, tree)? {
        Some(EntryEdit::Pieces(pieces)) => Ok(written(bytes, &pieces)),
        other => panic!("{other:?}"),
    }
}

fn typed(bytes: &[u8], entry: &str) -> Value<'static> {
    let mut tree = Tree::default();
    assert!(open(bytes).unwrap().show_typed(entry, &mut tree).unwrap(), "{entry}");
    tree.into_value()
}

fn plain(bytes: &[u8], entry: &str) -> Value<'static> {
    cat(&open(bytes).unwrap(), entry).unwrap().unwrap()
}

fn decoded(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let archive = open(bytes).unwrap();
    let chunks = archive.chunks().unwrap();
    chunks.iter().map(|c| (c.name().to_owned(), c.data().unwrap().bytes().to_vec())).collect()
}

fn list<'t>(tree: &'t mut Value<'static>, path: &[&str]) -> &'t mut Vec<Value<'static>> {
    match at(tree, path) {
        Value::List(items) => items,
        other => panic!("{other}"),
    }
}

fn map<'t>(
    tree: &'t mut Value<'static>,
    path: &[&str],
) -> &'t mut Vec<(std::borrow::Cow<'static, str>, Value<'static>)> {
    match at(tree, path) {
        Value::Map(entries) => entries,
        other => panic!("{other}"),
    }
}

fn refused(result: Result<Vec<u8>>, words: &[&str]) {
    let error = result.expect_err("must be refused");
    assert!(matches!(error.kind(), ErrorKind::Syntax { .. }), "{error:?}");
    let text = error.to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not say {word:?}"));
}

#[test]
fn an_entry_that_was_not_edited_keeps_every_byte() {
    let bytes = demo(3, Size::Small);
    for entry in [MAIN, "Vertex_0", "Vertex_1", "[Entities]", "[Entities][0].Tags", "Bounds", "Nothing", "Sets.South"] {
        assert!(put(&bytes, entry, &plain(&bytes, entry)).unwrap() == bytes, "{entry}");
        assert!(put(&bytes, entry, &typed(&bytes, entry)).unwrap() == bytes, "{entry} with types");
    }
}

/// Before a new save gets its name, every byte that no edit names is compared.
#[test]
fn a_value_that_was_not_asked_for_is_found_when_two_archives_are_compared() {
    let bytes = demo(3, Size::Small);
    let archive = open(&bytes).unwrap();
    let all = rows(&archive);
    let asked = [row_of(&all, MAIN, "Seed"), row_of(&all, "Entities", "[1].Name")];
    let edits = |seed: u64, name: &'static str| {
        let set = vec![(asked[0], vec![(VALUE, seed.into())]), (asked[1], vec![(VALUE, name.into())])];
        TableEdits { table: "values".into(), set, ..TableEdits::default() }
    };
    let right = edited(&bytes, edits(77, "a longer name than it had")).unwrap();
    assert!(archive.compare(&open(&right).unwrap(), &edits(77, "a longer name than it had")).unwrap());
    for (new, seed, name) in [(&right, 78, "a longer name than it had"), (&right, 77, "another"), (&bytes, 77, "x")] {
        archive.compare(&open(new).unwrap(), &edits(seed, name)).expect_err("it is not what was asked");
    }
    // Any other row of both chunks.
    let mut rng = Rng::with_seed(3);
    for _ in 0..40 {
        let row = rng.usize(..all.len());
        let new = match &all[row][VALUE] {
            Value::Int(number) => Value::Int(number ^ 1),
            Value::Uint(number) => Value::Uint(number ^ 1),
            Value::Bool(truth) => Value::Bool(!truth),
            Value::F32(_) => Value::F32(0.1),
            _ => continue,
        };
        if asked.contains(&row) || new == all[row][VALUE] || row > asked[1] {
            continue;
        }
        let wrong = edited(&right, set(row, new)).unwrap();
        let error = archive.compare(&open(&wrong).unwrap(), &edits(77, "a longer name than it had"));
        error.expect_err(&format!("{:?} is another", all[row][PATH]));
    }
}

/// Few edits are looked for one by one, past all that they do not lie in; many by an index of all rows.
#[test]
fn a_row_is_found_by_its_path_as_by_a_scan() {
    let bytes = demo(4, Size::Small);
    let archive = open(&bytes).unwrap();
    let table = archive.table("values").unwrap();
    let all = rows(&archive);
    for (row, cells) in all.iter().enumerate().step_by(7) {
        let expected: Vec<usize> = (0..all.len()).filter(|at| all[*at][PATH] == cells[PATH]).collect();
        assert_eq!(table.find(PATH, &cells[PATH]).unwrap().unwrap(), expected, "{row}");
        let again = archive.table("values").unwrap();
        assert_eq!([0, 1, 2, 3].map(|column| again.value(row, column).unwrap().into_owned()), *cells, "{row}");
    }
    for path in ["", "Seed.X", "Bounds", "[0", "Bounds[0]", "[\"Seed\"]", "Sets.North.Pole.X"] {
        assert_eq!(table.find(PATH, &path.into()).unwrap().unwrap(), [0usize; 0], "{path}");
    }
    assert!(table.find(VALUE, &1.into()).is_none());
}

/// Every kind of value, with the bytes that the builder gives it.
#[test]
fn values_of_every_kind_are_stored_as_a_builder_stores_them() {
    let mut types = TypesBuilder::new();
    use assetq_sample::vrb::builtin::*;
    let enumeration = ModelId(0x201);
    let ty = types.named(0, 0, "Test:All");
    let kinds = [STRING, BOOLEAN, BYTE, INT16, UINT16, INT32, UINT32, INT64, UINT64, SINGLE, DOUBLE, GUID, TYPE];
    let names: Vec<String> = (0..kinds.len()).map(|i| format!("M{i}")).collect();
    let mut members: Vec<_> = names.iter().zip(kinds).map(|(name, kind)| member(name, kind)).collect();
    members.push(member("E", enumeration));
    let root = types.composite(ty, flags::CLASS, 0, &members);
    let ty = types.named(1, 0, "Test:E");
    types.proxy(ty, flags::ENUM, BYTE, 1);
    let guid = Guid([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let values = |full: bool| {
        let mut out = ValuesBuilder::new();
        out.present();
        match full {
            true => {
                out.string("ä€😀").bool(true).bytes([200]).bytes((-2i16).to_le_bytes()).bytes(65_535u16.to_le_bytes())
            }
            false => out.null().bool(false).bytes([0]).bytes([0; 2]).bytes([0; 2]),
        };
        match full {
            true => out.i32(i32::MIN).bytes(u32::MAX.to_le_bytes()).bytes(i64::MIN.to_le_bytes()).u64(u64::MAX),
            false => out.i32(0).i32(0).u64(0).u64(0),
        };
        match full {
            true => out.f32(0.1).bytes(1e300f64.to_le_bytes()).guid(guid).count(0x201).bytes([7]),
            false => out.f32(0.0).u64(0).bytes([0; 16]).null().bytes([0]),
        };
        out.into_bytes()
    };
    let (empty, full) = (archive_of(&types, root, &values(false)), archive_of(&types, root, &values(true)));
    let new: [Value<'static>; 14] = [
        "ä€😀".into(),
        true.into(),
        200.into(),
        Value::Int(-2),
        65_535.into(),
        i32::MIN.into(),
        u32::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        Value::F64(0.1),
        Value::F64(1e300),
        guid.into(),
        "Test:E".into(),
        7.into(),
    ];
    let texts = new.clone().map(|value| Value::owned(value.to_string()));
    for new in [new, texts] {
        let set = (0..new.len()).map(|row| (row, vec![(VALUE, new[row].clone())])).collect();
        assert_eq!(edited(&empty, TableEdits { set, ..TableEdits::default() }).unwrap(), full);
    }
    let tree = plain(&full, MAIN);
    assert_eq!(put(&empty, MAIN, &tree).unwrap(), full);
    assert_eq!(put(&full, MAIN, &plain(&empty, MAIN)).unwrap(), empty);
}

#[test]
fn a_changed_chunk_keeps_its_compression_and_the_others_their_bytes() {
    let bytes = demo(5, Size::Small);
    for (chunk, compression) in [(MAIN, 2), ("Vertex_0", 0), ("Vertex_1", 1), ("Entities", 1)] {
        let path = if chunk == "Entities" { "[0].Name" } else { "Name" };
        let row = row_of(&rows(&open(&bytes).unwrap()), chunk, path);
        let new = edited(&bytes, set(row, "quite another name, and a longer one".into())).unwrap();
        let (old, new) = (open(&bytes).unwrap(), open(&new).unwrap());
        for (old, new_chunk) in old.chunks().unwrap().iter().zip(new.chunks().unwrap()) {
            assert_eq!(new_chunk.part().entry().compression_type, old.part().entry().compression_type);
            let stored = |archive: &VrbArchive, c: &assetq::formats::vrage::vrb::Chunk<'_>| {
                c.part().stored(archive.source()).unwrap().bytes().to_vec()
            };
            let same = stored(&open(&bytes).unwrap(), old) == stored(&new, &new_chunk);
            assert_eq!(same, old.name() != chunk, "{chunk}: {}", old.name());
        }
        assert_eq!(new.chunk(chunk).unwrap().unwrap().part().entry().compression_type, compression);
        assert_eq!(rows(&new)[row][VALUE], "quite another name, and a longer one".into());
        // A bare deflate stream stays bare.
        let head = new.chunk(chunk).unwrap().unwrap().part().stored(new.source()).unwrap().bytes()[0];
        assert_eq!(head == 0x78, chunk == "Vertex_1", "{chunk}");
    }
}

#[test]
fn list_items_and_dictionary_entries_come_and_go_as_rows() {
    let bytes = demo(7, Size::Small);
    let count = |bytes: &[u8], entry: &str| match plain(bytes, &format!("{MAIN}.{entry}")) {
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        other => panic!("{other}"),
    };
    // An item is deleted with all of its rows, including the rows of its items; later items move up.
    let fewer = remove_all(&bytes, |path| path.starts_with("Entities[3].")).unwrap();
    assert_eq!(count(&fewer, "Entities"), count(&bytes, "Entities") - 1);
    assert_eq!(plain(&fewer, "[Main].Entities[3]"), plain(&bytes, "[Main].Entities[4]"));
    // An entry with a text as its key, and one with another key.
    let fewer = remove_all(&bytes, |path| path.starts_with("Sets.South.")).unwrap();
    assert_eq!(count(&fewer, "Sets"), 1);
    let fewer = remove_all(&bytes, |path| path.starts_with("ById[1]")).unwrap();
    assert_eq!((count(&fewer, "ById"), plain(&fewer, "ById[1]")), (2, plain(&bytes, "ById[2]")));

    let more = add(&bytes, &[("Entities[2].Tags[0]", "new".into())]);
    let tags = count(&bytes, "Entities[2].Tags");
    let last = format!("Entities[2].Tags[{tags}]");
    let more = if tags == 0 { more.unwrap() } else { add(&bytes, &[(&last, "new".into())]).unwrap() };
    assert_eq!(plain(&more, &format!("{MAIN}.{last}")), "new".into());
    assert_eq!(decoded(&remove_all(&more, |path| path == last).unwrap()), decoded(&bytes));

    let entry = [("Sets.East.X", 5.into()), ("Sets.East.Y", Value::Int(-6)), ("Sets.East.Label", "E".into())];
    let more = add(&bytes, &entry).unwrap();
    assert_eq!(count(&more, "Sets"), 3);
    assert_eq!(plain(&more, "Sets.East.Y"), Value::Int(-6));
    assert_eq!(decoded(&remove_all(&more, |path| path.starts_with("Sets.East.")).unwrap()), decoded(&bytes));

    let guid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    let entry = [("ById[3]#key", guid.into()), ("ById[3].Guid", guid.into()), ("ById[3].Level", 2.into())];
    let more = add(&bytes, &entry).unwrap();
    assert_eq!(count(&more, "ById"), 4);
    assert_eq!(plain(&more, &format!("ById[\"{guid}\"].Level")), Value::Uint(2));

    // A null gets its members, where its type is declared; and is null again.
    let all = rows(&open(&bytes).unwrap());
    let path = "Entities[1].Child";
    assert!(all[row_of(&all, MAIN, path)][VALUE].is_null());
    let members: Vec<(String, Value<'static>)> = all
        .iter()
        .filter_map(|row| Some((row[PATH].to_string().strip_prefix("Entities[2].")?.to_owned(), row[VALUE].clone())))
        .map(|(rest, value)| (format!("{path}.{rest}"), value))
        .collect();
    let come = |(path, value): &(String, Value<'static>)| {
        vec![(PATH, Value::owned(path.clone())), (VALUE, value.clone()), (CHUNK, MAIN.into())]
    };
    let coming = || TableEdits { add: members.iter().map(come).collect(), ..TableEdits::default() };
    refused(edited(&bytes, coming()), &["[Main].Entities[1].Child", "null", "own row"]);
    let remove = vec![row_of(&all, MAIN, path)];
    let more = edited(&bytes, TableEdits { remove, ..coming() }).unwrap();
    assert_eq!(plain(&more, &format!("{MAIN}.{path}")), plain(&bytes, "[Main].Entities[2]"));
    let all = rows(&open(&more).unwrap());
    let remove = (0..all.len()).filter(|&row| all[row][PATH].to_string().starts_with("Entities[1].Child.")).collect();
    let null = vec![vec![(PATH, path.into()), (VALUE, Value::Null), (CHUNK, MAIN.into())]];
    let back = edited(&more, TableEdits { remove, add: null, ..TableEdits::default() }).unwrap();
    assert_eq!(decoded(&back), decoded(&bytes));
}

#[test]
fn a_polymorphic_value_keeps_its_type_and_gets_another_by_name() {
    let bytes = demo(1, Size::Small);
    let mut tree = plain(&bytes, MAIN);
    map(&mut tree, &["Counters"]).insert(1, ("falls".into(), 3.into()));
    *at(&mut tree, &["Note", "Text"]) = "another note".into();
    let new = put(&bytes, MAIN, &tree).unwrap();
    assert_eq!(plain(&new, "Counters.falls"), 3.into());
    assert_eq!(plain(&new, "Note.Text"), "another note".into());

    // The null says no type; with one it can be filled, and a type changed.
    let note = Value::Map(vec![("Text".into(), "filled".into())]);
    *at(&mut tree, &["Nothing"]) = note;
    refused(put(&bytes, MAIN, &tree), &["[Main].Nothing", "$type", "--types"]);
    let mut tree = typed(&bytes, MAIN);
    let note = at(&mut tree, &["Note"]).clone();
    *at(&mut tree, &["Nothing"]) = note.clone();
    let counters = at(&mut tree, &["Counters"]).clone();
    *at(&mut tree, &["Note"]) = counters;
    *at(&mut tree, &["Counters"]) = note;
    let new = put(&bytes, MAIN, &tree).unwrap();
    assert_eq!(format!("{:?}", typed(&new, MAIN)), format!("{tree:?}"));
    assert_eq!((plain(&new, "Nothing.Text"), plain(&new, "Note.jumps")), ("a note".into(), 12.into()));
    assert_eq!(decoded(&put(&new, MAIN, &typed(&bytes, MAIN)).unwrap()), decoded(&bytes));

    *at(&mut tree, &["Nothing"]) = Value::Map(vec![("$type".into(), "No.Such".into())]);
    refused(put(&bytes, MAIN, &tree), &["[Main].Nothing", "No.Such", "models"]);
    let mut tree = typed(&bytes, MAIN);
    *at(&mut tree, &["Entities", "0", "$type"]) = "System.Int32".into();
    refused(put(&bytes, MAIN, &tree), &["[Main].Entities[0]", "Sample.World.Entity"]);
}

#[test]
fn a_null_gets_no_type_without_a_value() {
    let bytes = demo(1, Size::Small);
    let all = rows(&open(&bytes).unwrap());
    let nulls: Vec<usize> = (0..all.len()).filter(|&row| all[row][VALUE].is_null()).collect();
    assert!(nulls.len() > 1);
    for row in nulls {
        let set =
            |name: Value<'static>| TableEdits { set: vec![(row, vec![(TYPE_NAME, name)])], ..TableEdits::default() };
        refused(edited(&bytes, set("Sample.World.Note".into())), &["a null has no other type"]);
        if all[row][TYPE_NAME].as_text().is_some() {
            assert_eq!(decoded(&edited(&bytes, set(all[row][TYPE_NAME].clone())).unwrap()), decoded(&bytes));
        }
    }
}

/// Items with polymorphic members and hidden padding: a deleted item must not pass its type or its bytes to the next item.
#[test]
fn items_that_others_moved_up_to_keep_their_types_and_padding() {
    use assetq_sample::vrb::builtin::*;
    let mut types = TypesBuilder::new();
    let ty = types.named(0, 0, "Test:Root");
    let [list_model, item, any, one, two, image] = [0x201, 0x202, 0x203, 0x204, 0x205, 0x206].map(ModelId);
    let root = types.composite(ty, flags::CLASS, 0, &[member("Items", list_model)]);
    let item_type = types.named(0, 0, "Test:Item");
    let ty = types.generic(LIST, &[item_type]);
    types.list(ty, item);
    types.composite(
        item_type,
        flags::CLASS,
        0,
        &[member("Id", INT32), polymorphic("Any", any), member("Image", image)],
    );
    let ty = types.named(2, 0, "Test:IAny");
    types.proxy(ty, flags::INTERFACE, ModelId(0), 0);
    for name in ["Test:One", "Test:Two"] {
        let ty = types.named(0, 0, name);
        types.composite(ty, flags::CLASS, 0, &[member("Same", INT32)]);
    }
    let ty = types.named(1, 0, "Test:Image");
    types.composite(ty, flags::IMAGE, 8, &[placed("Flag", BOOLEAN, 0), placed("Number", INT32, 4)]);
    let build = |ids: &[i32]| {
        let mut out = ValuesBuilder::new();
        out.present().count(ids.len() as u32);
        for &id in ids {
            let model = if id % 2 == 0 { one } else { two };
            out.present().i32(id).count(model.0).present().i32(5);
            out.bytes([1, id as u8, 0xAA, 0xBB]).i32(id * 2);
        }
        archive_of(&types, root, &out.into_bytes())
    };
    let bytes = build(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let without = |gone: &[usize]| {
        let mut tree = plain(&bytes, MAIN);
        let mut number = 0;
        list(&mut tree, &["Items"]).retain(|_| {
            number += 1;
            !gone.contains(&(number - 1))
        });
        tree
    };
    assert_eq!(put(&bytes, MAIN, &without(&[0])).unwrap(), build(&[1, 2, 3, 4, 5, 6, 7, 8, 9]));
    assert_eq!(put(&bytes, MAIN, &without(&[2, 3, 7])).unwrap(), build(&[0, 1, 4, 5, 6, 8, 9]));
    assert_eq!(put(&bytes, MAIN, &without(&[0, 9])).unwrap(), build(&[1, 2, 3, 4, 5, 6, 7, 8]));
    // One item is deleted and the next one changes: which of the two was deleted is ambiguous.
    let mut tree = without(&[4]);
    *at(&mut tree, &["Items", "4", "Id"]) = 50.into();
    refused(put(&bytes, MAIN, &tree), &["[Main].Items[4].Any", "$type"]);
    // One item is deleted, and a distant one changes.
    let mut tree = without(&[4]);
    *at(&mut tree, &["Items", "7", "Image", "Number"]) = 99.into();
    let new = put(&bytes, MAIN, &tree).unwrap();
    assert_eq!(plain(&new, MAIN), tree);
    let typed_new = typed(&new, "Items[7].Any");
    assert_eq!(typed_new, typed(&bytes, "Items[8].Any"));
    // As rows: all of the item's, and the others move up with types and padding.
    let fewer = remove_all(&bytes, |path| path.starts_with("Items[4].")).unwrap();
    assert_eq!(fewer, build(&[0, 1, 2, 3, 5, 6, 7, 8, 9]));
    // Members that one type has only are its type.
    refused(add(&bytes, &[("Items[10].Any.Same", 1.into())]), &["[Main].Items[10]"]);
}

#[test]
fn values_that_do_not_fit_say_what_does() {
    let bytes = demo(2, Size::Small);
    refused(set_at(&bytes, "Version", 40_000), &["[Main].Version", "40000", "System.Int16", "-32768 to 32767"]);
    refused(set_at(&bytes, "Players", Value::Int(-1)), &["[Main].Players", "-1", "0 to 4294967295"]);
    refused(set_at(&bytes, "Level", 256), &["[Main].Level", "256", "Sample.World.Level", "0 to 255"]);
    refused(set_at(&bytes, "Paused", "maybe"), &["\"maybe\"", "System.Boolean", "true or false"]);
    refused(set_at(&bytes, "Name", 5), &["[Main].Name", "System.String", "a text or null"]);
    refused(set_at(&bytes, "Entities[0].Health", Value::F64(1e60)), &["[Main].Entities[0].Health", "System.Single"]);
    refused(set_at(&bytes, "Entities[0].Health", Value::Null), &["null", "System.Single"]);
    refused(set_at(&bytes, "Entities[0].Id", "no guid"), &["System.Guid"]);
    refused(set_at(&bytes, "Owner", "No.Such.Type"), &["No.Such.Type", "types"]);
    refused(add(&bytes, &[("Entities[99].Name", "far".into())]), &["[Main].Entities", "[12]"]);
    refused(add(&bytes, &[("Nowhere", 1.into())]), &["[Main]", "Nowhere"]);
    refused(add(&bytes, &[("Sets.East.X", 5.into())]), &["[Main].Sets.East.Y", "missing"]);
    refused(add(&bytes, &[("Name.Inner", 5.into())]), &["[Main].Name"]);
    let row = row_of(&rows(&open(&bytes).unwrap()), MAIN, "Version");
    for (at, name, to) in [(PATH, "path", "Players"), (CHUNK, "chunk", "Entities")] {
        let set = vec![(row, vec![(VALUE, 1.into()), (at, to.into())])];
        refused(
            edited(&bytes, TableEdits { set, ..TableEdits::default() }),
            &[&format!("column {name}: {to:?} does not fit"), "remove it there and add it here"],
        );
    }
    refused(remove_all(&bytes, |path| path == "Version"), &["[Main].Version", "cannot be deleted alone"]);
    refused(
        remove_all(&bytes, |path| path == "Entities[1].Mass"),
        &["[Main].Entities[1].Mass", "cannot be deleted alone"],
    );
    let mut tree = plain(&bytes, "[Entities][0]");
    map(&mut tree, &[]).retain(|(name, _)| name != "Mass");
    refused(put(&bytes, "[Entities][0]", &tree), &["Mass", "missing"]);
    let mut tree = plain(&bytes, "[Entities][0]");
    map(&mut tree, &[]).push(("Weight".into(), 5.into()));
    refused(put(&bytes, "[Entities][0]", &tree), &["Weight", "Mass"]);
    refused(put(&bytes, "Bounds", &Value::Null), &["null", "an object"]);
}

/// An unfinished patch checks all of its rows in one pass.
#[test]
fn all_values_that_do_not_fit_are_named_at_once() {
    let bytes = demo(2, Size::Small);
    let archive = open(&bytes).unwrap();
    let all = rows(&archive);
    let row = |path: &str| row_of(&all, MAIN, path);
    let cell = |path: &str, value: Value<'static>| (row(path), vec![(VALUE, value)]);
    let mut set = vec![
        cell("Version", 40_000.into()),
        cell("Name", "fits".into()),
        cell("Level", 256.into()),
        cell("Entities[0].Health", Value::F64(1e60)),
        cell("Entities[1].Mass", 7.into()),
    ];
    set.sort_by_key(|(row, _)| *row);
    let edits = TableEdits { table: "values".into(), set, ..TableEdits::default() };
    let named: Vec<EditPosition> = archive.refusals(&edits).unwrap().into_iter().map(|(at, _)| at).collect();
    let mut expected = ["Version", "Level", "Entities[0].Health"].map(row);
    expected.sort_unstable();
    assert_eq!(named, expected.map(EditPosition::Set));
    // A member of a record that is kept, and an item before others, which would move up.
    let gone = |path: &str| path == "Entities[1].Mass" || path.starts_with("Entities[3].");
    let is_gone = |row: &usize| all[*row][CHUNK] == MAIN.into() && gone(&all[*row][PATH].to_string());
    let remove: Vec<usize> = (0..all.len()).filter(is_gone).collect();
    let edits = TableEdits { table: "values".into(), remove: remove.clone(), ..TableEdits::default() };
    let named: Vec<(EditPosition, String)> =
        archive.refusals(&edits).unwrap().into_iter().map(|(at, error)| (at, error.to_string())).collect();
    let [(mass, alone), (first, moved)] = &named[..] else { panic!("{named:?}") };
    assert_eq!([*mass, *first], [remove[0], remove[1]].map(EditPosition::Remove));
    assert!(alone.contains("[Main].Entities[1].Mass: a member of a record cannot be deleted alone"), "{alone}");
    assert!(moved.contains("[Main].Entities: items after a deleted one are kept, and would move up"), "{moved}");
    let add = |path: &'static str| vec![(PATH, path.into()), (VALUE, 1.into()), (CHUNK, MAIN.into())];
    let edits = TableEdits {
        table: "values".into(),
        add: vec![add("Entities[12]"), add("a.."), add("[")],
        ..TableEdits::default()
    };
    let named: Vec<EditPosition> = archive.refusals(&edits).unwrap().into_iter().map(|(at, _)| at).collect();
    assert_eq!(named, [EditPosition::Add(1), EditPosition::Add(2)]);
}

/// Two archives rarely have their members in one order, so that rows are asked for back and forth.
#[test]
fn rows_are_read_in_any_order() {
    let bytes = demo(4, Size::Small);
    let archive = open(&bytes).unwrap();
    let (all, table) = (rows(&archive), archive.table("values").unwrap());
    let mut rng = Rng::with_seed(3);
    for _ in 0..2000 {
        let row = rng.usize(..all.len());
        for row in [row, row.saturating_sub(rng.usize(..40)), row] {
            assert_eq!(table.value(row, PATH).unwrap(), all[row][PATH], "{row}");
            assert_eq!(table.value(row, VALUE).unwrap().to_string(), all[row][VALUE].to_string(), "{row}");
        }
    }
}

/// Numbers that are not finite are null in every output, and stay where null is written.
#[test]
fn null_keeps_a_number_that_is_not_finite() {
    let bytes = demo(2, Size::Small);
    let mut tree = plain(&bytes, "Bounds");
    *at(&mut tree, &["Min", "Z"]) = Value::Null;
    *at(&mut tree, &["Max", "Z"]) = Value::Null;
    assert!(put(&bytes, "Bounds", &tree).unwrap() == bytes);
    *at(&mut tree, &["Min", "Z"]) = 3.into();
    let new = put(&bytes, "Bounds", &tree).unwrap();
    let data = |bytes: &[u8]| decoded(bytes)[0].1.clone();
    let changed: Vec<usize> = (0..data(&new).len()).filter(|&i| data(&bytes)[i] != data(&new)[i]).collect();
    let min_z = open(&bytes).unwrap().find("Bounds.Min.Z").unwrap().unwrap().1.position();
    assert!(!changed.is_empty() && changed.iter().all(|i| (min_z..min_z + 4).contains(i)), "{changed:?}");
    let row = row_of(&rows(&open(&new).unwrap()), MAIN, "Bounds.Min.Z");
    assert!(decoded(&edited(&new, set(row, "NaN".into())).unwrap()) == decoded(&bytes));
}

/// Any edits, then those that undo them, give the first bytes of every chunk.
#[test]
fn edits_and_their_undo_give_the_first_bytes() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let bytes = demo(seed, Size::Small);
        let all = rows(&open(&bytes).unwrap());
        let mut edits = TableEdits::default();
        let mut undo = TableEdits::default();
        for (row, cells) in all.iter().enumerate() {
            if !rng.u8(..).is_multiple_of(16) {
                continue;
            }
            let old = &cells[VALUE];
            let new: Value<'static> = match old {
                Value::Bool(old) => (!old).into(),
                Value::Uint(old) => (old ^ rng.u64(..4)).into(),
                Value::Int(old) => (old ^ rng.i64(0..100)).into(),
                Value::F32(old) if old.is_finite() => Value::F32(rng.f32() * 1000.0),
                Value::F64(_) => Value::F64(rng.f64()),
                Value::Guid(_) => Guid(rng.u128(..).to_le_bytes()).into(),
                Value::Text(_) if cells[TYPE_NAME] == "System.String".into() => {
                    let length = rng.usize(..40);
                    Value::owned((0..length).map(|_| rng.char(..)).collect())
                }
                _ => continue,
            };
            edits.set.push((row, vec![(VALUE, new)]));
            undo.set.push((row, vec![(VALUE, old.clone())]));
        }
        let new = edited(&bytes, edits.clone()).unwrap();
        let found = rows(&open(&new).unwrap());
        assert_eq!(found.len(), all.len());
        for (row, cells) in &edits.set {
            let (found, asked) = (&found[*row][VALUE], &cells[0].1);
            assert!(found == asked || found.to_string() == asked.to_string(), "{found:?} {asked:?}");
        }
        assert!(decoded(&edited(&new, undo).unwrap()) == decoded(&bytes), "seed {seed}");
    }
}

/// Trees with items deleted, copied and moved, and back: with types, so that any item can be rebuilt.
#[test]
fn trees_and_their_undo_give_the_same_values() {
    fn mutate(tree: &mut Value<'static>, rng: &mut Rng) {
        match tree {
            Value::List(items) => {
                items.iter_mut().for_each(|item| mutate(item, rng));
                if items.len() > 1 && rng.u8(..) < 100 {
                    let at = rng.usize(..items.len());
                    match rng.u8(..3) {
                        0 => drop(items.remove(at)),
                        1 if !matches!(&items[0], Value::Map(m) if m.len() == 2 && m[0].0 == "key") => {
                            items.insert(at, items[0].clone());
                        }
                        _ => items.swap(0, at),
                    }
                }
            }
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| mutate(value, rng)),
            _ => {}
        }
    }
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        let bytes = demo(seed, Size::Small);
        let entry = [MAIN, "[Entities]", "Vertex_1"][rng.usize(..3)];
        let first = typed(&bytes, entry);
        let mut tree = first.clone();
        // A value that is not finite cannot be rebuilt from null.
        let finite = |tree: &mut Value<'static>| {
            if entry == MAIN {
                *at(tree, &["Bounds", "Min", "Z"]) = 1.5f32.into();
                *at(tree, &["Bounds", "Max", "Z"]) = 1.5f32.into();
            }
        };
        mutate(&mut tree, &mut rng);
        finite(&mut tree);
        let new = put(&bytes, entry, &tree).unwrap();
        assert_eq!(typed(&new, entry), tree, "seed {seed}");
        let mut first = first;
        finite(&mut first);
        let back = put(&new, entry, &first).unwrap();
        let direct = put(&bytes, entry, &first).unwrap();
        assert_eq!(typed(&back, entry), typed(&direct, entry), "seed {seed}");
        let lengths = |bytes: &[u8]| decoded(bytes).iter().map(|(_, data)| data.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&back), lengths(&direct));
    }
}

/// The rows of `values` that differ; `is_edit` if an edit has made the new archive of the old one.
fn difference(old: &[u8], new: &[u8], is_edit: bool) -> Differences {
    let [old, new] = [old, new].map(|bytes| Asset::open(Source::from_vec("a.vrb", bytes.to_vec())).unwrap());
    let tables = diff::tables(&old, &new, &["values".to_owned()]).unwrap();
    if is_edit { tables[0].find_edited() } else { tables[0].find(&Progress::default(), 0) }
}

/// Both archives are walked at once, and equal bytes are passed over: texts may have other lengths, and images store their members in any
/// order.
#[test]
fn the_rows_that_edits_have_changed_are_found_and_no_others() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let bytes = demo(seed, Size::Small);
        let before = rows(&open(&bytes).unwrap());
        let mut edits = TableEdits { table: "values".into(), ..TableEdits::default() };
        let one_of = [2, 16, 256, before.len()][seed as usize % 4];
        for (row, cells) in before.iter().enumerate() {
            if rng.usize(..one_of) != 0 {
                continue;
            }
            let new = match &cells[VALUE] {
                Value::Bool(old) => Value::Bool(!old),
                Value::Uint(old) => Value::Uint(old ^ rng.u64(..4)),
                Value::F32(old) if old.is_finite() => Value::F32(rng.f32()),
                Value::Text(_) if cells[TYPE_NAME] == "System.String".into() => {
                    Value::owned("x".repeat(rng.usize(..9)))
                }
                _ => continue,
            };
            edits.set.push((row, vec![(VALUE, new)]));
        }
        let new = edited(&bytes, edits).unwrap();
        let after = rows(&open(&new).unwrap());
        let differing =
            (0u32..).zip(before.iter().zip(&after)).filter(|(_, (old, new))| !same_value(&old[VALUE], &new[VALUE]));
        let differing: Vec<(u32, u32)> = differing.map(|(row, _)| (row, row)).collect();
        for is_edit in [false, true] {
            let found = difference(&bytes, &new, is_edit);
            assert_eq!(found.changed, differing, "seed {seed}");
            assert!(found.added.is_empty() && found.removed.is_empty() && found.faults.is_empty());
        }
    }
}

#[test]
fn rows_with_other_keys_are_removed_and_added() {
    let bytes = demo(3, Size::Small);
    let mut tree = plain(&bytes, "Sets");
    for (name, removed) in [("Sooth", 3), ("a longer key", 3)] {
        let Value::Map(entries) = &mut tree else { panic!("{tree}") };
        entries.last_mut().unwrap().0 = name.into();
        let new = put(&bytes, "Sets", &tree).unwrap();
        for is_edit in [false, true] {
            let found = difference(&bytes, &new, is_edit);
            assert_eq!((found.removed.len(), found.added.len(), found.changed.len()), (removed, removed, 0), "{name}");
        }
    }
}

/// Chunks that an edit has copied are not read again. Any other comparison reads everything.
#[test]
fn a_chunk_that_both_archives_have_is_read_unless_an_edit_has_copied_it() {
    let mut damaged = demo(4, Size::Small);
    let place = open(&damaged).unwrap().chunk("Vertex_0").unwrap().unwrap().part().entry().offset.get() as usize;
    damaged[place] = 7;
    let row = row_of(&rows(&open(&demo(4, Size::Small)).unwrap()), MAIN, "Seed");
    let edits = TableEdits { table: "values".into(), ..set(row, 77u64.into()) };
    let new = open(&damaged).unwrap().write(&[edits]).unwrap().bytes(&damaged);
    assert!(!difference(&damaged, &new, false).faults.is_empty());
    let found = difference(&damaged, &new, true);
    assert_eq!((found.changed.len(), found.faults.len()), (1, 0));

    let verified = |old: &[u8]| open(&new).unwrap().verify_edited(&open(old).unwrap(), &Progress::default()).unwrap();
    assert!(!verify(&new).is_ok() && verified(&damaged).is_ok());
    assert!(!verified(&demo(4, Size::Small)).is_ok(), "this file has another chunk");
}

/// A damaged chunk is not rewritten, because a correct checksum would hide its damage.
#[test]
fn a_damaged_chunk_is_refused_and_a_whole_one_beside_it_is_not() {
    let bytes = demo(4, Size::Small);
    let archive = open(&bytes).unwrap();
    let place = |name: &str| archive.chunk(name).unwrap().unwrap().part().entry().offset.get() as usize;
    let mut damaged = bytes.clone();
    // A name in a chunk that is stored as it is: it can be read, but its checksum is wrong.
    damaged[place("Vertex_0") + 6] ^= 1;
    let writer = open(&damaged).unwrap();
    let error = writer.entry("Vertex_0", &Value::Null).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
    let mut tree = plain(&damaged, "Vertex_1");
    *at(&mut tree, &["Name"]) = "whole".into();
    let Some(EntryEdit::Pieces(pieces)) = writer.entry("Vertex_1", &tree).unwrap() else { panic!() };
    let new = pieces.bytes(&damaged);
    assert_eq!(plain(&new, "Vertex_1.Name"), "whole".into());
    assert!(!verify(&new).is_ok(), "the other chunk is as damaged as before");

    let mut header = bytes.clone();
    header[180] = 1;
    let error = open(&header).unwrap().entry("Vertex_1", &tree).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
}

/// No bytes make the writer panic or give an archive that cannot be read.
#[test]
fn hostile_archives_are_refused_or_written() {
    let bytes = demo(6, Size::Small);
    let tree = typed(&bytes, MAIN);
    let mut rng = Rng::with_seed(1);
    for _ in 0..300 {
        let mut hostile = bytes.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..hostile.len());
            hostile[at] = rng.u8(..);
        }
        seal(&mut hostile);
        let Ok(archive) = open(&hostile) else { continue };
        for entry in [MAIN, "Vertex_0", "[Entities]"] {
            if let Ok(Some(EntryEdit::Pieces(pieces))) = archive.entry(entry, &tree) {
                use_all(&open(&pieces.bytes(&hostile)).unwrap());
            }
        }
        let edits = TableEdits { table: "values".into(), ..set(0, "name".into()) };
        if let Ok(pieces) = archive.write(&[edits]) {
            use_all(&open(&pieces.bytes(&hostile)).unwrap());
        }
    }
}

/// The full name of the type of a model whose name has all of these parts.
fn type_with(bytes: &[u8], parts: &[&str]) -> Value<'static> {
    let archive = open(bytes).unwrap();
    let table = archive.table("models").unwrap();
    let names = table.rows().map(|row| row.unwrap().get::<String>("type").unwrap());
    let mut found = names.into_iter().filter(|name| parts.iter().all(|part| name.contains(part)));
    Value::owned(found.next().unwrap_or_else(|| panic!("no type {parts:?}")))
}

/// `Nothing` may have any type: it is null in the sample.
fn with_nothing(bytes: &[u8], parts: &[&str], value: Value<'static>) -> Result<Vec<u8>> {
    let mut tree = typed(bytes, MAIN);
    let value = vec![("$type".into(), type_with(bytes, parts)), ("$value".into(), value)];
    *at(&mut tree, &["Nothing"]) = Value::Map(value);
    put(bytes, MAIN, &tree)
}

fn object<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Map(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

#[test]
fn a_value_of_any_type_is_written_where_there_was_none() {
    let bytes = demo(2, Size::Small);
    let guid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    let marker = || object([("Guid", guid.into()), ("Level", 2.into())]);
    for pair in
        [object([("key", guid.into()), ("value", marker())]), object([("value", marker()), ("key", guid.into())])]
    {
        let new = with_nothing(&bytes, &["Dictionary", "Marker"], Value::List(vec![pair])).unwrap();
        assert_eq!(plain(&new, &format!("Nothing[\"{guid}\"].Level")), Value::Uint(2));
    }
    let tags = Value::List(vec!["far".into(), Value::Null]);
    let new = with_nothing(&bytes, &["List", "ResourceHandle"], tags.clone()).unwrap();
    assert_eq!(plain(&new, "Nothing"), tags);
    let corner = || object([("X", 1.into()), ("Y", Value::F64(0.5)), ("Z", "-2.25".into())]);
    let bounds = object([("Max", corner()), ("Min", corner()), ("Solid", "true".into())]);
    let new = with_nothing(&bytes, &["Bounds"], bounds).unwrap();
    assert_eq!(plain(&new, "Nothing.Max.Z"), Value::F32(-2.25));
    assert_eq!(plain(&new, "Nothing.Solid"), true.into());
}

#[test]
fn a_part_of_a_new_value_that_cannot_be_stored_is_refused_by_its_path() {
    let bytes = demo(2, Size::Small);
    let entity = |name: &str, value: Value<'static>| {
        let mut entity = plain(&bytes, "[Main].Entities[1]");
        match value {
            Value::Null => map(&mut entity, &[]).retain(|(own, _)| own != name),
            value => match map(&mut entity, &[]).iter_mut().find(|(own, _)| own == name) {
                Some((_, old)) => *old = value,
                None => map(&mut entity, &[]).push((name.to_owned().into(), value)),
            },
        }
        with_nothing(&bytes, &["Entity"], entity)
    };
    entity("Name", "another".into()).unwrap();
    refused(entity("Mass", Value::Null), &["[Main].Nothing: its member \"Mass\" is missing"]);
    refused(entity("Weight", 5.into()), &["[Main].Nothing: there is no member \"Weight\"; there are Id, Kind, Name"]);
    refused(entity("Id", "no guid".into()), &["[Main].Nothing.Id", "System.Guid: a GUID with dashes does"]);
    refused(entity("Kind", "No.Such".into()), &["[Main].Nothing.Kind", "the name of a type", "or null"]);
    refused(entity("Name", 5.into()), &["[Main].Nothing.Name", "5", "a text or null does"]);
    refused(entity("Health", "high".into()), &["[Main].Nothing.Health", "a number of single precision does"]);
    refused(entity("Tags", "one".into()), &["[Main].Nothing.Tags", "a list does"]);
    refused(entity("Tags", Value::List(vec![7.into()])), &["[Main].Nothing.Tags[0]", "a text or null does"]);
    refused(entity("Position", 1.into()), &["[Main].Nothing.Position", "an object of its members does"]);

    let counters = |value| with_nothing(&bytes, &["Dictionary", "Int32"], value);
    refused(counters(object([("a", 1.into()), ("a", 2.into())])), &["[Main].Nothing: the key \"a\" is there twice"]);
    refused(counters(Value::List(vec![1.into()])), &["[Main].Nothing", "an object does"]);
    refused(counters(object([("a", true.into())])), &["[Main].Nothing.a", "-2147483648 to 2147483647"]);
    let markers = |value| with_nothing(&bytes, &["Dictionary", "Marker"], value);
    refused(markers(object([("a", 1.into())])), &["[Main].Nothing", "a list of {key, value} does"]);
    refused(markers(Value::List(vec!["a".into()])), &["[Main].Nothing[0]", "is no entry: {key, value} is"]);
    let half = object([("key", "00010203-0405-0607-0809-0a0b0c0d0e0f".into())]);
    refused(markers(Value::List(vec![half])), &["[Main].Nothing[0]: an entry that is not {key, value}"]);

    let mut tree = typed(&bytes, MAIN);
    *at(&mut tree, &["Nothing"]) = object([("$type", 7.into()), ("$value", 1.into())]);
    refused(put(&bytes, MAIN, &tree), &["[Main].Nothing: $type is 7; the full name of a type fits"]);
    refused(counters(Value::Null), &["[Main].Nothing: a null has no type: write null in place of $type and $value"]);
    let mut nested = plain(&bytes, "[Main].Entities[1]");
    for _ in 0..600 {
        let mut outer = plain(&bytes, "[Main].Entities[1]");
        *at(&mut outer, &["Child"]) = nested;
        nested = outer;
    }
    refused(with_nothing(&bytes, &["Entity"], nested), &["[Main].Nothing.Child.Child", "values nest too deep"]);
}

#[test]
fn rows_where_any_type_may_stand_get_the_only_type_that_fits() {
    let bytes = demo(2, Size::Small);
    let filled = |rows: &[(&str, Value<'static>)]| {
        let remove = vec![row_of(&self::rows(&open(&bytes).unwrap()), MAIN, "Nothing")];
        let cells = |(path, value): &(&str, Value<'static>)| {
            let path = Value::owned(format!("Nothing{path}"));
            vec![(PATH, path), (VALUE, value.clone()), (CHUNK, MAIN.into())]
        };
        edited(&bytes, TableEdits { remove, add: rows.iter().map(cells).collect(), ..TableEdits::default() })
    };
    let new = filled(&[(".Text", "found".into())]).unwrap();
    assert_eq!(typed(&new, "Nothing"), object([("$type", type_with(&bytes, &["Note"])), ("Text", "found".into())]));
    // Members without a row are empty lists.
    let new = filled(&[(".Name", "Hull".into())]).unwrap();
    assert_eq!(plain(&new, "Nothing.Vertices"), Value::List(Vec::new()));
    refused(filled(&[(".Depth", 1.into())]), &["[Main].Nothing", "no type of this archive has exactly these members"]);
    refused(filled(&[(".Text", 1.into())]), &["[Main].Nothing", "no type of this archive has exactly these members"]);
    refused(filled(&[("[0]", 1.into())]), &["[Main].Nothing", "the type of a list is not said"]);
    refused(filled(&[("[1]", 1.into())]), &["[Main].Nothing: the next item that can be inserted is [0]"]);
}

#[test]
fn rows_that_do_not_go_together_are_refused_with_the_reason() {
    let bytes = demo(2, Size::Small);
    let one = |path: &str| add(&bytes, &[(path, 1.into())]);
    refused(one("a.."), &["path \"a..\""]);
    refused(one("Sets[5].X"), &["[Main].Sets: entries of this dictionary go by their keys, not by numbers"]);
    refused(one("ById.East.Level"), &["[Main].ById: entries of this dictionary go by numbers: [0]#key and [0]"]);
    refused(one("Entities.Name"), &["[Main].Entities: a row that is added would lie in this list, without a number"]);
    let key = "ById[1]#key";
    refused(remove_all(&bytes, |path| path == key), &["[Main].ById[1]: key and value of an entry go together"]);
    for whole in ["Entities[1]", "Bounds", "Sets"] {
        let what = format!("[Main].{whole}: a row would replace this value, but not all of its rows are deleted");
        refused(add(&bytes, &[(whole, Value::Null)]), &[&what]);
    }
    let kinds = [("Sets.East.X", 5.into()), ("Sets.East[0]", 1.into())];
    refused(add(&bytes, &kinds), &["[Main].Sets", "rows that are added say that it is of several kinds"]);
    let twice = [("Sets.East.X", 5.into()), ("Sets.East.X", 6.into())];
    refused(add(&bytes, &twice), &["a row with the path \"Sets.East.X\" is added twice"]);
    let several = "an object or a list is several rows: add those, or write the entry with `patch --entry`";
    refused(set_at(&bytes, "Version", Value::List(vec![])), &["[Main].Version", several]);
    let unnamed = TableEdits { add: vec![vec![(VALUE, 1.into()), (CHUNK, MAIN.into())]], ..TableEdits::default() };
    refused(edited(&bytes, unnamed), &["values: a row that is added has no path"]);
    let other = TableEdits { table: "chunks".into(), remove: vec![0], ..TableEdits::default() };
    let written = open(&bytes).unwrap().write(&[other]).map(|pieces| pieces.bytes(&bytes));
    refused(written, &["rows of chunks follow from the rows of values: edit values"]);
    let mut tree = plain(&bytes, MAIN);
    map(&mut tree, &["Counters"]).push(("jumps".into(), 1.into()));
    refused(put(&bytes, MAIN, &tree), &["[Main].Counters: the key \"jumps\" is there twice"]);
    let mut tree = plain(&bytes, MAIN);
    let first = list(&mut tree, &["ById"])[0].clone();
    list(&mut tree, &["ById"]).push(first);
    refused(put(&bytes, MAIN, &tree), &["[Main].ById", "is there twice"]);

    // One item leaves the list, and another one is appended to it.
    let all = rows(&open(&bytes).unwrap());
    let of = |item: &'static str| {
        move |row: &&ValueRow| row[CHUNK] == MAIN.into() && row[PATH].to_string().starts_with(item)
    };
    let moved = |row: &ValueRow| {
        let path = row[PATH].to_string().replacen("Entities[4]", "Entities[12]", 1);
        vec![(PATH, Value::owned(path)), (VALUE, row[VALUE].clone()), (CHUNK, MAIN.into())]
    };
    let edits = TableEdits {
        remove: (0..all.len()).filter(|row| of("Entities[3].")(&&all[*row])).collect(),
        add: all.iter().filter(of("Entities[4].")).map(moved).collect(),
        ..TableEdits::default()
    };
    refused(edited(&bytes, edits), &["[Main].Entities: items of one list cannot both come and go at once"]);
}

/// A type table can describe types whose values no image can store. The file has no such values, and gets none.
#[test]
fn a_value_of_a_type_that_stores_none_is_refused() {
    use assetq_sample::vrb::builtin::*;
    let mut types = TypesBuilder::new();
    let ty = types.named(0, 0, "Test:Root");
    let any = ModelId(types.next_model().0 + 1);
    let root = types.composite(ty, flags::CLASS, 0, &[polymorphic("Any", any)]);
    let ty = types.named(2, 0, "Test:IAny");
    types.proxy(ty, flags::INTERFACE, ModelId(0), 0);
    let item_type = types.named(0, 0, "Test:Item");
    let item = types.composite(item_type, flags::CLASS, 0, &[member("Id", INT32), member("Tag", STRING)]);
    let ty = types.named(0, 0, "Test:Twin");
    types.composite(ty, flags::CLASS, 0, &[member("Id", INT32), member("Tag", STRING)]);
    let ty = types.generic(LIST, &[item_type]);
    let list = types.list(ty, item);
    for (name, size, of) in [("OfList", 8, list), ("OfText", 8, STRING), ("OfItem", 8, item), ("Short", 4, INT64)] {
        let ty = types.named(1, 0, &format!("Test:{name}"));
        types.composite(ty, flags::IMAGE, size, &[placed("Part", of, 0)]);
    }
    let mut out = ValuesBuilder::new();
    out.present().null();
    let bytes = archive_of(&types, root, &out.into_bytes());
    let with = |name: &str, value: Value<'static>| {
        let value = object([("$type", Value::owned(format!("Test:{name}"))), ("$value", value)]);
        put(&bytes, MAIN, &object([("Any", value)]))
    };
    let part = |value: Value<'static>| object([("Part", value)]);
    let item = || object([("Id", 1.into()), ("Tag", Value::Null)]);
    for (name, value, words) in [
        ("OfList", part(Value::List(vec![])), &["[Main].Any.Part", "a value of this type cannot lie in an image"][..]),
        ("OfItem", part(item()), &["[Main].Any.Part", "a value of this type cannot lie in an image"]),
        ("OfText", part("x".into()), &["[Main].Any.Part", "a reference cannot lie in an image"]),
        ("Short", part(1.into()), &["[Main].Any.Part", "its place is not in the image that it belongs to"]),
        ("Item", part(1.into()), &["[Main].Any", "Id"]),
    ] {
        refused(with(name, value), words);
    }
    // Of two types with these members, only the name of one says which.
    let new = with("Item", item()).unwrap();
    assert_eq!(plain(&new, "Any.Tag"), Value::Null);
    let rows = [("Any.Id", 1.into()), ("Any.Tag", "x".into())].map(|(path, value): (&str, Value<'static>)| {
        vec![(PATH, Value::owned(path.to_owned())), (VALUE, value), (CHUNK, MAIN.into())]
    });
    let filled = edited(&bytes, TableEdits { remove: vec![0], add: rows.to_vec(), ..TableEdits::default() });
    refused(filled, &["this may be \"Test:Item\" or \"Test:Twin\"", "`patch --entry`"]);
}

/// Lists and dictionaries may be null, too, and the only row of a null one gives way to items or to nothing.
#[test]
fn lists_and_dictionaries_are_null_empty_or_filled() {
    use assetq_sample::vrb::builtin::*;
    let mut types = TypesBuilder::new();
    let ty = types.named(0, 0, "Test:Root");
    let first = types.next_model().0;
    let [list, map, item] = [1, 2, 3].map(|more| ModelId(first + more));
    let root = types.composite(ty, flags::CLASS, 0, &[member("List", list), member("Map", map), member("Item", item)]);
    let ty = types.generic(LIST, &[type_of(INT32)]);
    types.list(ty, INT32);
    let ty = types.generic(DICTIONARY, &[type_of(STRING), type_of(INT32)]);
    types.dictionary(ty, STRING, INT32);
    let ty = types.named(0, 0, "Test:Item");
    types.composite(ty, flags::CLASS, 0, &[member("Id", INT32)]);
    let build = |write: fn(&mut ValuesBuilder) -> &mut ValuesBuilder| {
        let mut out = ValuesBuilder::new();
        write(out.present()).null();
        archive_of(&types, root, &out.into_bytes())
    };
    let null = build(|out| out.null().null());
    let empty = build(|out| out.count(0).count(0));
    let filled = build(|out| out.count(1).i32(7).count(1).string("a").i32(8));
    for (from, to) in
        [(&null, &empty), (&empty, &filled), (&filled, &null), (&null, &filled), (&filled, &empty), (&empty, &null)]
    {
        assert_eq!(&put(from, MAIN, &plain(to, MAIN)).unwrap(), to);
    }
    // Without its row, null, a list is empty; an object that is null has no empty value.
    let gone = remove_all(&null, |path| path == "List" || path == "Map").unwrap();
    assert_eq!(decoded(&gone), decoded(&empty));
    refused(remove_all(&null, |path| path == "Item"), &["[Main].Item", "values of this type are never empty"]);
}
