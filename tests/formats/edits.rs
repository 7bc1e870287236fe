//! Edits of rows that a file does not have, cannot get or has already, in the words of the library.

use assetq::edit::{AssetEdit as _, Cells, Change, Edit, Editor, NTH, Outcome, patch};
use assetq::table::Value;
use assetq::{Asset, Options, Source};
use assetq_sample::wdata::Spec;
use assetq_sample::wdb::{Cell, Game, Sheet};
use assetq_sample::{Size, geometry, space, vrb, wdata};

/// Records of these names and numbers.
fn sheet(records: &[(&str, i64)]) -> Asset {
    let sheet = Sheet::new(Game::Later, "Items").fields(["u9Index", "u9More"]);
    let sheet =
        records.iter().fold(sheet, |sheet, (name, number)| sheet.record(name, [Cell::Int(*number), Cell::Int(7)]));
    Asset::open(Source::from_vec("items.wdb", sheet.build())).unwrap()
}

fn town() -> Asset {
    let spec = Spec { wild: false, ..Spec::new(22, 9) };
    Asset::open(Source::from_vec("town.wdata", wdata::write(&spec).bytes)).unwrap()
}

fn cells(cells: &[(&'static str, Value<'static>)]) -> Cells {
    cells.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()
}

fn object(members: &[(&'static str, Value<'static>)]) -> Value<'static> {
    Value::Map(cells(members))
}

fn set(table: &str, key: Value<'static>, to: &[(&'static str, Value<'static>)]) -> Edit {
    Edit::new(Some(table), key, Change::Set(cells(to)))
}

fn add(table: &str, key: Value<'static>, to: &[(&'static str, Value<'static>)]) -> Edit {
    Edit::new(Some(table), key, Change::Add(cells(to)))
}

fn remove(table: &str, key: Value<'static>) -> Edit {
    Edit::new(Some(table), key, Change::Remove)
}

/// A key that the table does not have is refused with the key that it has.
#[test]
fn a_key_of_another_form_is_refused_with_the_form_that_fits() {
    let (town, records) = (town(), sheet(&[("a", 1)]));
    for (asset, table, key, message) in [
        (&town, "event_boxes", "portal_000".into(), "the key of this table is an object of type_name, name"),
        (&town, "event_boxes", object(&[("name", "portal_000".into())]), "the key is type_name, name"),
        (&town, "event_boxes", object(&[]), "the key is type_name, name"),
        (&town, "event_boxes", object(&[("pos_x", 1.into())]), "pos_x 1 is no part of a key: that is type_name, name"),
        (&records, "records", object(&[("record", "a".into()), (NTH, "first".into())]), "nth is no number"),
        (&records, "records", Value::List(vec![]), "no record"),
        (&records, "records", object(&[("colour", "a".into())]), "no column \"colour\""),
    ] {
        let mut editor = Editor::new(asset).unwrap();
        let error = editor.edit(remove(table, key)).unwrap_err().to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
}

/// Edits of one row, one after the other, and the outcome of the last one.
#[test]
fn a_row_is_edited_once_and_only_as_far_as_it_differs() {
    let records = sheet(&[("a", 1), ("b", 2), ("twin", 3), ("twin", 4)]);
    let index = |number: u64| [("u9Index", number.into())];
    let both = |number: u64| [("u9Index", number.into()), ("u9More", 7u64.into())];
    let old = |edit: Edit, number: u64| Edit { old: Some(cells(&index(number))), ..edit };
    let twin = |nth: u64| object(&[("record", "twin".into()), (NTH, nth.into())]);
    for (edits, outcome) in [
        (vec![set("records", "a".into(), &index(5))], "done"),
        (vec![set("records", "a".into(), &index(1))], "held"),
        (vec![set("records", "c".into(), &index(1))], "not found"),
        (vec![old(set("records", "a".into(), &index(5)), 1)], "done"),
        (vec![old(set("records", "a".into(), &index(1)), 9)], "held"),
        (vec![old(set("records", "a".into(), &index(5)), 9)], "u9Index is 1, not 9"),
        (
            vec![set("records", "a".into(), &index(5)), set("records", "a".into(), &index(6))],
            "two edits of column u9Index",
        ),
        (vec![remove("records", "a".into())], "done"),
        (vec![old(remove("records", "a".into()), 1)], "done"),
        (vec![old(remove("records", "a".into()), 9)], "u9Index is 1, not 9"),
        (vec![old(remove("records", "c".into()), 1)], "held"),
        (vec![remove("records", "c".into())], "not found"),
        (vec![remove("records", "a".into()), remove("records", "a".into())], "two edits of this row"),
        (vec![set("records", "a".into(), &index(5)), remove("records", "a".into())], "two edits of this row"),
        (vec![remove("records", "a".into()), set("records", "a".into(), &index(5))], "two edits of column u9Index"),
        (vec![add("records", "c".into(), &both(5))], "done"),
        (vec![add("records", "a".into(), &both(1))], "held"),
        (vec![add("records", "a".into(), &both(5))], "it is there already, with other values"),
        (vec![add("records", "c".into(), &both(5)), add("records", "c".into(), &both(5))], "it is added twice"),
        // Of rows with one key, a number or the old values say which.
        (vec![set("records", "twin".into(), &index(5))], "2 rows have this key; \"nth\" in it says which"),
        (vec![set("records", twin(1), &index(5))], "done"),
        (vec![set("records", twin(2), &index(5))], "not found"),
        (vec![old(set("records", "twin".into(), &index(5)), 4)], "done"),
        (vec![old(remove("records", twin(5)), 4)], "held"),
        (vec![add("records", twin(1), &both(9))], "it is there already, with other values"),
    ] {
        let mut editor = Editor::new(&records).unwrap();
        let shown = edits.iter().cloned().map(|edit| match editor.edit(edit) {
            Ok(Outcome::Done) => "done".to_owned(),
            Ok(Outcome::Held) => "held".to_owned(),
            Ok(Outcome::LeftOut(why)) => why,
            Err(error) => error.to_string(),
        });
        let last = shown.last().unwrap();
        assert!(last.contains(outcome), "{edits:?}: {last}");
    }
}

/// Items of lists follow the last one, and their list must exist.
#[test]
fn an_item_of_no_list_or_after_a_gap_is_left_out() {
    let models = Asset::open(Source::from_vec("models.bin", space::models_bin(3, Size::Small))).unwrap();
    let lods = models.reader().table("lods").unwrap();
    // Models are known by their ids.
    let id = lods.columns().iter().position(|column| column.name == "id").unwrap();
    let first = lods.value(0, id).unwrap().into_owned();
    let last = (0..lods.len().unwrap()).filter(|row| lods.value(*row, id).unwrap() == first).count() as u64;
    let key = |id: Value<'static>, number: u64| object(&[("id", id), ("index", number.into())]);
    let extent = [("extent", Value::F32(50.0))];
    for (edit, outcome) in [
        (add("lods", key(first.clone(), last), &extent), None),
        (
            add("lods", key(first.clone(), last + 1), &extent),
            Some(format!("{} is beyond the next, which is {last}", last + 1)),
        ),
        (
            add("lods", key(Value::Id64(99_999), 0), &extent),
            Some("not found: nothing that has such a list is".to_owned()),
        ),
        (set("lods", key(first.clone(), 99), &extent), Some("not found".to_owned())),
    ] {
        match (Editor::new(&models).unwrap().edit(edit).unwrap(), outcome) {
            (Outcome::Done, None) => {}
            (Outcome::LeftOut(why), Some(outcome)) => assert!(why.contains(&outcome), "{outcome}: {why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn edits_of_two_kinds_do_not_go_together() {
    let save = Asset::open(Source::from_vec("save.vrb", vrb::demo(3, Size::Small))).unwrap();
    let mut editor = Editor::new(&save).unwrap();
    editor.set_value(None, "Bounds.Max.Y", "7.5").unwrap();
    editor
        .edit(set("values", object(&[("path", "Seed".into()), ("chunk", "[Main]".into())]), &[("value", 5.into())]))
        .unwrap();
    assert!(format!("{editor:?}").starts_with("Editor { asset: "));
    let error = editor.finish().unwrap_err().to_string();
    assert!(error.contains("an entry and rows cannot be written at once"), "{error}");
    let records = sheet(&[("a", 1)]);
    let mut editor = Editor::new(&records).unwrap();
    let error = editor.meshes(b"glTF").unwrap_err().to_string();
    assert!(error.contains("wdb files take no meshes from glTF"), "{error}");
    let error = editor.file("a", Vec::new()).unwrap_err().to_string();
    assert!(error.contains("wdb files hold no other files that can be replaced"), "{error}");
    let texts =
        Asset::open(Source::from_vec("global.mo", assetq_sample::gameparams::mo(&[("", "x"), ("A", "b")]))).unwrap();
    let error = Editor::new(&texts).unwrap_err().to_string();
    assert!(error.contains("mo files are read and not written"), "{error}");
}

#[test]
fn a_chain_of_edits_inserts_changes_and_deletes_rows() {
    let records = sheet(&[("a", 1), ("b", 2)]);
    let folder = tempfile::tempdir().unwrap();
    let chain = records.edit().delete("records", "b").unwrap().set("records", "a", "u9Index", 5).unwrap();
    let chain = chain.insert("records", "c", [("u9Index", Value::Uint(6)), ("u9More", Value::Uint(0))]).unwrap();
    let new = chain.write(folder.path().join("new.wdb")).unwrap();
    let table = new.reader().table("records").unwrap();
    let rows: Vec<String> = (0..table.len().unwrap())
        .map(|row| {
            format!(
                "{} {}",
                table.value(row, 0).unwrap(),
                new.table("records")
                    .unwrap()
                    .row(&*table.value(row, 0).unwrap().to_string())
                    .unwrap()
                    .get::<u64>("u9Index")
                    .unwrap()
            )
        })
        .collect();
    assert_eq!(rows, ["a 5", "c 6"]);
    let error = records.edit().delete("records", "z").unwrap_err().to_string();
    assert!(error.contains("records \"z\": not found"), "{error}");
}

/// The rows of a patch, and what it lacks.
fn between(old: &Asset, new: &Asset, tables: &[&str]) -> assetq::Result<(usize, patch::Unpatched, Vec<String>)> {
    let (mut rows, mut damage) = (0, Vec::new());
    let tables: Vec<String> = tables.iter().map(|table| (*table).to_owned()).collect();
    let mut each = |_| {
        rows += 1;
        Ok(())
    };
    let mut damaged = |side, error: assetq::Error| damage.push(format!("{side:?} {error}"));
    let left = patch::between(old, new, &Options::default(), &tables, &mut damaged, &mut each)?;
    Ok((rows, left, damage))
}

#[test]
fn a_patch_states_the_rows_that_it_cannot_have() {
    // Rows of fixed tables, and tables that follow from others.
    let [old, new] = [1, 2].map(|boxes| {
        let spec = |main| Spec { wild: false, scenes: boxes, ..Spec::new(main, 9) };
        Asset::open(Source::from_vec("town.wdata", wdata::write(&spec(22)).bytes)).unwrap()
    });
    assert!(between(&old, &new, &["scenes"]).unwrap().1.is_empty());
    let error = between(&old, &new, &["waypoint_links"]).unwrap_err().to_string();
    assert!(error.contains("table waypoint_links is derived from others, so that no patch contains it"), "{error}");
    let error = between(&old, &new, &["walls"]).unwrap_err().to_string();
    assert!(error.contains("no table \"walls\""), "{error}");
    let other =
        Asset::open(Source::from_vec("town.wdata", wdata::write(&Spec { wild: false, ..Spec::new(1, 9) }).bytes));
    let (_, left, _) = between(&old, &other.unwrap(), &["paths"]).unwrap();
    assert!(left.reasons.iter().any(|why| why == "rows of paths can neither be added nor removed"), "{left:?}");
    assert!(left.tables.iter().any(|(table, count)| table == "paths" && *count > 0), "{left:?}");
}

/// Unreadable data is damage of its own file, and the other rows are patched.
#[test]
fn a_patch_between_damaged_files_names_the_file_with_the_damage() {
    let whole = geometry::demo(3, Size::Small);
    let open = |bytes: &[u8]| Asset::open(Source::from_vec("ship.geometry", bytes.to_vec()));
    let mut met = 0;
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut damaged = whole.clone();
        let at = rng.usize(0x10..whole.len().min(0x4000) / 4) * 4;
        damaged[at..at + 4].fill([0xFF, 0x7F, 0x3E][seed as usize % 3]);
        let (Ok(damaged), whole) = (open(&damaged), open(&whole).unwrap()) else { continue };
        for (old, new, side) in [(&damaged, &whole, "Old "), (&whole, &damaged, "New ")] {
            let Ok((_, _, damage)) = between(old, new, &[]) else { continue };
            assert!(damage.iter().all(|error| error.starts_with(side)), "seed {seed}: {side} {damage:?}");
            met += usize::from(!damage.is_empty());
        }
    }
    assert!(met > 10, "{met}");
}
