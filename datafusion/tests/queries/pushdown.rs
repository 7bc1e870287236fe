//! Conditions, columns and limits that are decided while rows are read.

use super::*;
use assetq::table::{Kind, column_index};
use datafusion::datasource::MemTable;

/// The cell of a row, as text.
fn cell(asset: &Asset, table: &str, row: usize, column: &str) -> String {
    let table = asset.reader().table(table).unwrap();
    table.value(row, column_index(&*table, column).unwrap()).unwrap().to_string()
}

#[test]
fn an_id_or_a_path_is_a_probe_that_reads_one_row() {
    let asset = sample("assets.bin");
    let session = session_of(&asset, 4);
    let (id, path) = (cell(&asset, "resources", 7, "id"), cell(&asset, "resources", 7, "path"));
    for condition in [format!("id = '{id}'"), format!("path = '{path}'"), format!("'{id}' = id AND size > 0")] {
        let query = format!("SELECT path, type FROM resources WHERE {condition}");
        let scan = scan_of(&session, &query);
        assert!(scan.contains("probe=[") && scan.contains("partitions=1"), "{scan}");
        assert!(!explain(&session, &query).contains("FilterExec"));
        let (rows, read, _) = read_by(&session, &query);
        assert_eq!((rows, read), (vec![vec![path.clone(), cell(&asset, "resources", 7, "type")]], 1), "{condition}");
    }
    let other = cell(&asset, "resources", 3, "id");
    let (rows, read, _) =
        read_by(&session, &format!("SELECT id FROM resources WHERE id IN ('{id}', '{other}', '0x00')"));
    assert_eq!((rows.len(), read), (2, 2));
    // Other forms of the id equal no row.
    let lower = id.to_ascii_lowercase();
    assert_eq!(read_by(&session, &format!("SELECT id FROM resources WHERE id = '{lower}'")), (Vec::new(), 0, 1));
}

#[test]
fn only_requested_columns_are_read() {
    let asset = sample("assets.bin");
    let scan = scan_of(&session_of(&asset, 1), "SELECT size FROM resources WHERE type = 'VisualPrototype'");
    assert!(scan.contains("columns=[size]") && scan.contains("filter=[type = "), "{scan}");
}

#[test]
fn floats_are_checked_again() {
    let session = session_of(&sample("ship.geometry"), 1);
    let query = "SELECT x FROM vertices WHERE x > 0.1";
    let plan = explain(&session, query);
    assert!(plan.contains("FilterExec") && plan.contains("filter=["), "{plan}");
    let (rows, read, _) = read_by(&session, query);
    assert!(!rows.is_empty() && read > rows.len());
}

#[test]
fn a_limit_ends_the_reading() {
    let asset = sample("assets.bin");
    let session = session_of(&asset, 2);
    let (rows, read, _) = read_by(&session, "SELECT id FROM resources LIMIT 3");
    assert_eq!(rows.len(), 3);
    assert!(read <= 6, "{read}");
    // The condition is assetq's alone, so that the limit is, too.
    let scan = scan_of(&session, "SELECT id FROM resources WHERE type = 'VisualPrototype' LIMIT 3");
    assert!(scan.contains("limit=3"), "{scan}");
    let rows = ask(&session, "SELECT id FROM resources ORDER BY id LIMIT 3 OFFSET 2").unwrap();
    assert_eq!(rows, ask_assetq(&asset, "SELECT id FROM resources ORDER BY id LIMIT 3 OFFSET 2"));
}

#[test]
fn rows_are_counted_without_reading_where_their_number_is_known() {
    let asset = sample("assets.bin");
    let session = session_of(&asset, 2);
    let plan = explain(&session, "SELECT count(*) FROM resources");
    assert!(!plan.contains("AssetScan"), "{plan}");
    for query in ["SELECT count(*) FROM resources", "SELECT count(*) FROM paths WHERE name > 'm'"] {
        assert_eq!(ask(&session, query).unwrap(), ask_assetq(&asset, query));
    }
}

#[test]
fn rows_are_divided_as_often_as_requested() {
    let asset = sample("assets.bin");
    for partitions in [1, 2, 5] {
        let session = session_of(&asset, partitions);
        let scan = scan_of(&session, "SELECT id FROM resources");
        assert!(scan.contains(&format!("partitions={partitions}")), "{scan}");
        let query = "SELECT * FROM resources ORDER BY id";
        assert_eq!(ask(&session, query).unwrap(), ask_assetq(&asset, query));
    }
}

/// Comparisons of a column with cells of it.
fn conditions(column: &str, kind: Kind, cells: [&ScalarValue; 2]) -> Vec<String> {
    let [a, b] = cells.map(|cell| match cell {
        cell if cell.is_null() => "NULL".to_owned(),
        ScalarValue::Utf8(Some(text)) => format!("'{}'", text.replace('\'', "''")),
        ScalarValue::Float32(Some(number)) => format!("{number:?}"),
        ScalarValue::Float64(Some(number)) => format!("{number:?}"),
        other => other.to_string(),
    });
    let c = format!("\"{column}\"");
    let mut all = vec![format!("{c} IS NULL"), format!("{c} IS NOT NULL")];
    if kind == Kind::Bool {
        all.extend([c.clone(), format!("NOT {c}"), format!("{c} IS FALSE"), format!("{c} IS NOT TRUE")]);
    }
    if kind != Kind::Nested {
        all.extend(["=", "<>", "<", "<=", ">", ">="].map(|op| format!("{c} {op} {a}")));
        all.extend(["=", "<>", "<"].map(|op| format!("NOT ({b} {op} {c})")));
        all.extend([
            format!("{c} IN ({a}, {b})"),
            format!("{c} NOT IN ({a}, {b})"),
            format!("{c} BETWEEN {a} AND {b}"),
            format!("{c} NOT BETWEEN {b} AND {a}"),
            format!("{c} = {a} OR {c} IS NULL"),
            format!("{c} <> {a} OR {c} = {b}"),
            format!("{c} IS DISTINCT FROM {a}"),
        ]);
    }
    all
}

#[test]
fn conditions_mean_what_they_mean_to_datafusion() {
    /// Columns of each kind that are compared in a file.
    const COLUMNS: usize = 2;
    let mut compared = 0;
    for (name, ..) in assetq::sample::FILES {
        let asset = sample(name);
        let session = session_of(&asset, 2);
        let mut kinds = std::collections::HashMap::new();
        for table in asset.reader().tables() {
            let wanted = table.columns().iter().enumerate().filter(|(_, column)| {
                let count = kinds.entry((column.kind, column.wide)).or_insert(0);
                *count += 1;
                *count <= COLUMNS
            });
            let wanted: Vec<_> = wanted.collect();
            if wanted.is_empty() || !(1..5000).contains(&table.len().unwrap()) {
                continue;
            }
            let query = format!("SELECT * FROM \"{}\"", table.name());
            let (schema, batches) = RUNTIME.block_on(async {
                let rows = session.sql(&query).await.unwrap();
                (rows.schema().inner().clone(), rows.collect().await.unwrap())
            });
            let memory = super::session(1);
            let rows = MemTable::try_new(schema, vec![batches.clone()]).unwrap();
            memory.register_table(format!("\"{}\"", table.name()), Arc::new(rows)).unwrap();
            for (number, column) in wanted {
                let cells = batches[0].column(number);
                let cell = |row| ScalarValue::try_from_array(cells, row).unwrap();
                let (a, b) = (cell(cells.len() / 2), cell(0));
                let each = conditions(&column.name, column.kind, [&a, &b]);
                let count =
                    |(n, condition)| format!("(SELECT count(*) FROM \"{}\" WHERE {condition}) AS c{n}", table.name());
                let query = format!("SELECT {}", each.iter().enumerate().map(count).collect::<Vec<_>>().join(", "));
                let (found, expected) = (ask(&session, &query).unwrap(), ask(&memory, &query).unwrap());
                for ((condition, found), expected) in each.iter().zip(&found[0]).zip(&expected[0]) {
                    assert_eq!(found, expected, "{name}: {}: {condition}", table.name());
                }
                compared += each.len();
            }
        }
    }
    assert!(compared > 500, "{compared}");
}
