use super::super::Database;
use super::*;
use crate::reader::Reader as _;
use std::collections::HashSet;
use zerocopy::FromZeros as _;

fn sample() -> Source {
    Source::from_vec("assets.bin", assetq_sample::bwdb::demo_of(1, 1_000_000))
}

/// The price until the index is there, the comparison that reaches the price included.
fn most(db: &Database) -> usize {
    db.paths().len() * (SCANS + 1)
}

/// Some columns resolve one path id in each row: a linear search for each takes minutes in a file of the usual size.
#[test]
fn a_walk_over_any_one_column_uses_the_index() {
    let source = sample();
    let db = Database::open(source.clone()).unwrap();
    let tables = db.tables();
    let columns = tables.iter().flat_map(|table| {
        let name = table.name().to_owned();
        (0..table.columns().len()).map(move |column| (name.clone(), column)).collect::<Vec<_>>()
    });
    let mut indexed = HashSet::new();
    for (name, column) in columns.collect::<Vec<_>>() {
        let db = Database::open(source.clone()).unwrap();
        let table = db.table(&name).unwrap();
        let mut cursor = table.cursor_over(0, Some(&[column]));
        while cursor.advance().unwrap() {
            drop(cursor.value(column).unwrap());
        }
        let (name, scanned) = (&table.columns()[column].name, db.path_indexes.scans.paid());
        assert!(scanned <= most(&db), "{} {name}: {scanned} comparisons", table.name());
        if db.path_indexes.by_id.get().is_some() {
            indexed.insert(format!("{}.{name}", table.name()));
        }
    }
    for column in ["render_sets.mfm_path", "materials.fx_path", "visuals.geometry_path", "models.visual_path"] {
        assert!(indexed.contains(column), "{column} is not among {indexed:?}");
    }
}

/// A question about one resource counts no others, and builds no index.
#[test]
fn one_resource_and_its_path_are_read_without_a_list_of_all() {
    let db = Database::open(sample()).unwrap();
    let table = db.table("resources").unwrap();
    let row = db.resources().count() / 2;
    let id = db.resources().nth(row).unwrap().id();
    let rows = table.find(0, &Value::Id64(id)).unwrap().unwrap();
    assert_eq!(rows, [row]);
    let path = table.value(rows[0], 1).unwrap();
    assert_eq!(path.as_text().map(|path| cityhash64(path.as_bytes())), Some(id));
    assert!(
        db.resource_count.get().is_none() && db.resource_rows.get().is_none() && db.path_indexes.by_id.get().is_none()
    );
    assert!(table.value(table.len().unwrap(), 0).is_err());
}

/// A walk over all resources reads paths one by one at first, and then out of one text.
#[test]
fn paths_of_rows_are_joined_at_once_and_match_patterns() {
    let db = Database::open(sample()).unwrap();
    let joined: Vec<String> = db.resources().map(|resource| db.path(resource.id()).unwrap().unwrap()).collect();
    let db = Database::open(sample()).unwrap();
    let table = db.table("resources").unwrap();
    let (mut rows, column) =
        (table.cursor_over(0, None), table.columns().iter().position(|column| column.name == "path").unwrap());
    for path in &joined {
        assert!(rows.advance().unwrap());
        assert_eq!(rows.value(column).unwrap().as_text().as_deref(), Some(&**path));
    }
    let kept = db.row_paths.get().unwrap();
    assert!(joined.iter().enumerate().all(|(row, path)| kept.get(row).is_none_or(|kept| kept == path)));
    assert!((0..joined.len()).filter(|row| kept.get(*row).is_some()).count() > joined.len() / 2);
    for pattern in
        ["%turret%deck%", "%.visual", "content/%/ship/%", "%/_s%", "%", "x%", "%ship/%a%"].map(LikePattern::like)
    {
        let matching = (0..joined.len()).filter(|row| pattern.matches(&joined[*row])).collect::<Vec<_>>();
        assert_eq!(table.texts(column).unwrap().matching(&pattern), Some(matching), "{pattern:?}");
    }
}

/// The numbers of the first rows in the order of their texts, by a sort of all.
fn first_by_sort(texts: &[&str], len: usize, descends: bool) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..texts.len()).collect();
    sorted.sort_by(|a, b| if descends { texts[*b].cmp(texts[*a]) } else { texts[*a].cmp(texts[*b]) });
    sorted.truncate(len);
    sorted
}

/// A query for the first paths joins few of all.
#[test]
fn the_first_paths_are_found_by_their_folders() {
    let source = sample();
    let db = Database::open(source.clone()).unwrap();
    let joined: Vec<String> = db.resources().map(|resource| db.path(resource.id()).unwrap().unwrap()).collect();
    let mut rng = fastrand::Rng::with_seed(13);
    for _ in 0..40 {
        let db = Database::open(source.clone()).unwrap();
        let table = db.table("resources").unwrap();
        let column = table.columns().iter().position(|column| column.name == "path").unwrap();
        let part = rng.u8(..);
        let mut rows: Vec<usize> = (0..joined.len()).filter(|_| rng.u8(..) <= part).collect();
        if rng.bool() {
            rows.extend_from_within(..rows.len() / 2);
        }
        let (len, descends) = ([1, 12, 100, rows.len(), 2 * rows.len()][rng.usize(..5)], rng.bool());
        let texts: Vec<&str> = rows.iter().map(|row| &*joined[*row]).collect();
        match table.texts(column).unwrap().first(&rows, len, descends) {
            Some(first) => assert_eq!(first, first_by_sort(&texts, len, descends)),
            None => assert!(rows.len() < db.paths().len() / order::FEW),
        }
        assert!(db.row_paths.get().is_none());
    }
}

/// Patterns and orders are decided for damaged paths, repeated ids and cycles as rows are read, or not at all.
#[test]
fn patterns_and_orders_of_damaged_paths_are_decided_as_rows_are_read() {
    let bytes = assetq_sample::bwdb::demo(1, assetq_sample::Size::Small);
    let whole = Database::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let part = whole.sections().into_iter().find(|section| section.name == "paths").unwrap();
    let part = part.offset as usize..(part.offset + part.size) as usize;
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut decided, mut left, mut ordered) = (0, 0, 0);
    for _ in 0..300 {
        let mut bytes = bytes.clone();
        let words = part.clone().step_by(8).map(|at| at..at + 8).filter(|word| word.end <= part.end);
        let words: Vec<_> = words.collect();
        for _ in 0..rng.usize(..4) {
            let (to, from) = (rng.choice(&words).unwrap().clone(), rng.choice(&words).unwrap().clone());
            if rng.bool() { bytes.copy_within(from, to.start) } else { bytes[to.start] = rng.u8(..) }
        }
        let Ok(db) = Database::open(Source::from_vec("assets.bin", bytes)) else { continue };
        let table = db.table("resources").unwrap();
        let column = table.columns().iter().position(|column| column.name == "path").unwrap();
        let pattern = LikePattern::like(rng.choice(["%ship%", "%a%.visual", "content/%", "%/%/b%"]).unwrap());
        let (rows, descends) = ((0..table.len().unwrap()).collect::<Vec<_>>(), rng.bool());
        if let Some(first) = table.texts(column).unwrap().first(&rows, 9, descends) {
            let cells: Vec<_> = rows.iter().map(|row| table.value(*row, column).unwrap()).collect();
            let texts: Vec<_> = cells.iter().map(|cell| cell.as_text().unwrap()).collect();
            let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
            assert_eq!(first, first_by_sort(&texts, 9, descends));
            ordered += 1;
        }
        let Some(found) = table.texts(column).unwrap().matching(&pattern) else {
            left += 1;
            continue;
        };
        decided += 1;
        let matches = |row: &usize| {
            let cell = table.value(*row, column).unwrap();
            cell.as_text().is_some_and(|path| pattern.matches(&path))
        };
        assert_eq!(found, (0..table.len().unwrap()).filter(matches).collect::<Vec<_>>(), "{pattern:?}");
    }
    assert!(decided > 50 && left > 50 && ordered > 50, "{decided} {left} {ordered}");
}

/// Two resources with one id have one path, so that each is a row that matches.
#[test]
fn rows_with_one_path_all_have_it_and_match() {
    let mut bytes = assetq_sample::bwdb::demo(1, assetq_sample::Size::Small);
    let whole = Database::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let buckets = whole.sections().into_iter().find(|section| section.name == "resources.buckets").unwrap();
    let taken = |slot: &usize| whole.resource_buckets()[*slot].occupied.get() != 0;
    let slots: Vec<usize> = (0..whole.resource_buckets().len()).filter(taken).take(2).collect();
    let [from, to] = [slots[0], slots[1]].map(|slot| buckets.offset as usize + slot * 16);
    bytes.copy_within(from..from + 8, to);
    let db = Database::open(Source::from_vec("assets.bin", bytes)).unwrap();
    let table = db.table("resources").unwrap();
    let column = table.columns().iter().position(|column| column.name == "path").unwrap();
    let path = db.path(db.resource_buckets()[slots[0]].key.get()).unwrap().unwrap();
    let has_path = |row: &usize| table.value(*row, column).unwrap().as_text().as_deref() == Some(&*path);
    assert_eq!((0..table.len().unwrap()).filter(has_path).count(), 2);
    // Not decided, or both rows.
    let matching = table.texts(column).unwrap().matching(&LikePattern::like(&path));
    assert!(matching.is_none_or(|rows| rows.len() == 2));
    let mut rows = table.cursor_over(0, Some(&[column]));
    let mut met = 0;
    while rows.advance().unwrap() {
        met += usize::from(rows.value(column).unwrap().as_text().as_deref() == Some(&*path));
    }
    assert_eq!(met, 2);
}

#[test]
fn an_index_finds_the_first_entry_of_each_id_and_all_others() {
    let mut rng = fastrand::Rng::with_seed(5);
    for (len, ids) in [(0, 1), (1, 1), (2, 1), (500, 3), (3000, 2000)] {
        let ids: Vec<u64> = (0..ids).map(|id| if id % 2 == 0 { id } else { rng.u64(..) }).collect();
        let given: Vec<u64> = (0..len).map(|_| ids[rng.usize(..ids.len())]).collect();
        let entries: Vec<PathEntry> =
            given.iter().map(|id| PathEntry { self_id: (*id).into(), ..PathEntry::new_zeroed() }).collect();
        let index = Index::build(&entries);
        let wanted = ids.iter().map(|id| given.iter().position(|given| given == id).map_or(NO_PATH, |at| at as u32));
        assert_eq!(index.positions(ids.iter().map(|id| Some(*id))), wanted.collect::<Vec<_>>());
        for id in ids.iter().copied().chain([7, u64::MAX]) {
            let all = given.iter().enumerate().filter(|(_, given)| **given == id).map(|(at, _)| at as u32);
            assert_eq!(index.all(id).collect::<Vec<_>>(), all.collect::<Vec<_>>());
        }
    }
}

/// Ids are asked for one by one as well: by `resolve`, `refs`, `diff` and scenes.
#[test]
fn a_question_waits_for_no_index_and_many_share_one() {
    let db = Database::open(sample()).unwrap();
    let ids: Vec<u64> = db.paths().entries().iter().map(|entry| entry.self_id.get()).collect();
    let first = db.path(ids[ids.len() / 2]).unwrap();
    assert!(first.is_some() && db.path_indexes.by_id.get().is_none());
    for &id in &ids {
        assert_eq!(db.path(id).unwrap().map(|path| cityhash64(path.as_bytes())), Some(id));
        assert_eq!(db.path(!id).unwrap(), None);
    }
    assert!(db.path_indexes.by_id.get().is_some() && db.path_indexes.folders.get().is_some());
    assert!(db.path_indexes.scans.paid() <= most(&db));
}
