//! The same questions to DataFusion and to assetq's own SQL.

use super::*;

#[test]
fn databases_answer_as_in_assetq() {
    let asset = sample("assets.bin");
    let session = session_of(&asset, 3);
    for query in [
        "SELECT type, count(*) AS n, sum(size) AS bytes FROM resources GROUP BY type ORDER BY n DESC, type",
        "SELECT name, count(*) AS n FROM skeleton_nodes GROUP BY name ORDER BY n DESC, name LIMIT 10",
        "SELECT name, type, count(*) AS n FROM material_properties GROUP BY name, type ORDER BY n DESC, name, type LIMIT 10",
        "SELECT m.path AS path, count(*) AS sets FROM render_sets s JOIN materials m ON m.id = s.mfm_id \
         GROUP BY m.path ORDER BY sets DESC, m.path LIMIT 5",
        "SELECT * FROM resources ORDER BY id",
        "SELECT id, size FROM resources WHERE size <> 112 ORDER BY id",
        "SELECT id FROM resources WHERE size NOT IN (112, 120) OR size IS NULL ORDER BY id",
        "SELECT count(*), count(size), count(path), min(id), max(path) FROM resources",
        "SELECT id, path FROM paths WHERE name > 'm' AND name <= 'v' ORDER BY id",
        "SELECT name, parent_id FROM paths WHERE parent_id >= '0x8000000000000000' ORDER BY id",
        "SELECT p.path FROM paths p LEFT JOIN resources r ON r.id = p.id WHERE r.id IS NULL ORDER BY 1",
        "SELECT type FROM resources GROUP BY type HAVING count(*) > 2 ORDER BY type",
        "SELECT DISTINCT type FROM resources WHERE path IN (SELECT path FROM paths WHERE name BETWEEN 'A' AND 'h') ORDER BY 1",
        "SELECT type, max(size) - min(size) FROM resources WHERE NOT (size = 112) GROUP BY type ORDER BY type",
        "SELECT id, row_number() OVER (PARTITION BY type ORDER BY id) FROM resources ORDER BY 1 LIMIT 20",
    ] {
        let expected = ask_assetq(&asset, query);
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(ask(&session, query).unwrap(), expected, "{query}");
    }
}

#[test]
fn lists_are_lists() {
    let asset = sample("models.bin");
    let session = session_of(&asset, 2);
    let list = asset.reader().tables().into_iter().find_map(|table| {
        let column = table.columns().iter().find(|column| column.shape.is_some())?;
        Some((table.name().to_owned(), column.name.to_string()))
    });
    let (table, column) = list.expect("a table has lists");
    let query = format!("SELECT array_length(\"{column}\"), \"{column}\"[1] FROM \"{table}\"");
    let expected = format!("SELECT json_array_length(\"{column}\"), \"{column}\" ->> 0 FROM \"{table}\"");
    assert_eq!(ask(&session, &query).unwrap(), ask_assetq(&asset, &expected), "{query}");
}

#[test]
fn unsigned_numbers_of_64_bits_are_numbers() {
    use assetq::sample::wdb::{Game, Sheet};
    let sheet = Sheet::new(Game::Later, "wide").fields(["u64Mask"]);
    let sheet = [("low", 7), ("high", -1), ("middle", i64::MIN)]
        .into_iter()
        .fold(sheet, |sheet, (name, mask)| sheet.record(name, [i64::into(mask)]));
    let asset = Asset::open(assetq::Source::from_vec("wide.wdb", sheet.build())).unwrap();
    let session = session_of(&asset, 1);
    let table = asset.reader().tables()[0].name().to_owned();
    let select = |condition: &str| {
        let query = format!("SELECT \"u64Mask\" FROM \"{table}\" WHERE {condition} ORDER BY 1");
        ask(&session, &query).unwrap().concat()
    };
    assert_eq!(select("true"), ["7", "9223372036854775808", "18446744073709551615"]);
    assert_eq!(select("\"u64Mask\" > 9223372036854775807"), ["9223372036854775808", "18446744073709551615"]);
    assert_eq!(select("\"u64Mask\" = 18446744073709551615"), ["18446744073709551615"]);
    assert_eq!(select("\"u64Mask\" < 8"), ["7"]);
    let rows = ask(&session, &format!("SELECT \"u64Mask\" FROM \"{table}\"")).unwrap();
    assert_eq!(rows, ask_assetq(&asset, &format!("SELECT \"u64Mask\" FROM \"{table}\"")));
}
