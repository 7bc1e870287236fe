//! Every table of some real files, compared with assetq's own SQL.

use super::*;
use assetq::table::Kind;

/// Files that are larger take too long in a build for development.
const MOST_BYTES: u64 = 8 << 20;

#[test]
fn tables_of_real_files_answer_as_in_assetq() {
    let Some(samples) = std::env::var_os("ASSETQ_SAMPLES") else {
        return eprintln!("skipped: ASSETQ_SAMPLES is not set");
    };
    let mut compared = 0;
    for folder in ["geometry", "splash", "models_bin", "space_bin", "wdb", "dds"] {
        let files = std::fs::read_dir(Path::new(&samples).join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.metadata().unwrap().len() < MOST_BYTES).collect();
        files.sort();
        for path in files.iter().take(4) {
            let Ok(asset) = Asset::open_at(path, &assetq::Options::default()) else { continue };
            let session = session_of(&asset, 3);
            for table in asset.reader().tables() {
                // Texts, whole numbers and ids have the same text in both.
                let is_same = |kind| !matches!(kind, Kind::F32 | Kind::F64 | Kind::Nested | Kind::Any | Kind::Bool);
                let columns = table.columns().iter().filter(|column| is_same(column.kind) && !column.wide);
                let columns = columns.take(6).map(|column| format!("\"{0}\"", column.name));
                let facts: Vec<_> = columns.map(|c| format!("count({c}), min({c}), max({c})")).collect();
                if facts.is_empty() {
                    continue;
                }
                let query = format!("SELECT count(*), {} FROM \"{}\"", facts.join(", "), table.name());
                let file = path.display();
                assert_eq!(ask(&session, &query).unwrap(), ask_assetq(&asset, &query), "{file}: {query}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}
