//! Many files as one table, and games.

use super::*;
use assetq::Options;

/// A folder with five geometries.
fn ships() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (seed, name) in ["bow", "stern", "deck", "hull", "mast"].into_iter().enumerate() {
        let bytes = assetq::sample::geometry::demo(seed as u64, assetq::sample::Size::Small);
        std::fs::write(folder.path().join(format!("{name}.geometry")), bytes).unwrap();
    }
    folder
}

#[test]
fn files_of_a_pattern_answer_as_in_assetq() {
    let folder = ships();
    let pattern = folder.path().join("*.geometry");
    let session = session_at(&pattern);
    let asset = assetq::files::open(&pattern, &Options::default()).unwrap();
    for query in [
        "SELECT file, count(*) FROM vertices GROUP BY file ORDER BY file",
        "SELECT count(DISTINCT file), count(*) FROM vertices WHERE \"index\" < 10",
        "SELECT file, \"index\", x FROM vertices WHERE x > 0.5 AND file LIKE '%/ma%' ORDER BY 2 LIMIT 5",
    ] {
        let expected = ask_assetq(&asset, query);
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(ask(&session, query).unwrap(), expected, "{query}");
    }
}

#[test]
fn conditions_on_files_leave_files_out_before_they_are_opened() {
    let folder = ships();
    let session = session_at(folder.path());
    let hull = folder.path().join("hull.geometry").display().to_string();
    for (condition, wanted) in [
        (format!("file = '{hull}'"), 1),
        ("file LIKE '%deck%' OR right(file, 13) = 'mast.geometry'".to_owned(), 2),
        (format!("file <> '{hull}' AND index < 4"), 4),
        ("file IS NULL".to_owned(), 0),
        // Both sides matter.
        (format!("file = '{hull}' OR index = 3"), 5),
    ] {
        let query = format!("SELECT index FROM vertices WHERE {condition}");
        let (rows, _, opened) = read_by(&session, &query);
        assert_eq!((opened, rows.is_empty()), (wanted, wanted == 0), "{condition}");
        let scan = scan_of(&session, &query);
        assert!(scan.contains(&format!("files={wanted} of 5")), "{scan}");
    }
}

#[test]
fn files_are_divided_among_partitions() {
    let folder = ships();
    let session = session_at(folder.path());
    let scan = scan_of(&session, "SELECT x FROM vertices");
    assert!(scan.contains("partitions=4"), "{scan}");
}

#[test]
fn several_files_have_schemas_of_their_own() {
    let session = session(2);
    AssetCatalog::new(sample("assets.bin")).register_as(&session, "assets").unwrap();
    AssetCatalog::new(sample("models.bin")).register_as(&session, "models").unwrap();
    let query =
        "SELECT (SELECT count(*) FROM assets.resources) > 0 AS a, (SELECT count(*) FROM models.models) > 0 AS b";
    assert_eq!(ask(&session, query).unwrap(), [["1", "1"]]);
    let twice = AssetCatalog::new(sample("assets.bin"));
    twice.register(&session).unwrap();
    let error = twice.register(&session).unwrap_err().to_string();
    assert!(error.contains("exists"), "{error}");
}

#[test]
fn the_shell_answers_each_line() {
    let folder = ships();
    let hull = folder.path().join("hull.geometry").display().to_string();
    let asked = "SELECT min(index) AS first FROM vertices\nSELECT nothing\nSELECT 'last' AS word\n";
    let mut out = Vec::new();
    shell::run([hull, "--time".to_owned()], asked.as_bytes(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("| first |\n+-------+\n| 0     |") && out.contains("| last |"), "{out}");
    assert_eq!(out.matches("\n-- 0.").count(), 2, "{out}");
}

#[test]
fn games_have_tables() {
    let folder = tempfile::tempdir().unwrap();
    let mut put = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).map_err(|_| assetq::sample::Stopped)
    };
    assetq::sample::wows::game(1, assetq::sample::Size::Small, &mut put).unwrap();
    let game = assetq::files::open(folder.path(), &Options::default()).unwrap();
    let query = "SELECT count(*), sum(size) FROM files WHERE path LIKE 'content/%'";
    assert_eq!(ask(&session_at(folder.path()), query).unwrap(), ask_assetq(&game, query));
    let inside = folder.path().display().to_string() + ":content/**/*.geometry";
    let inside = session_at(Path::new(&inside));
    let rows = ask(&inside, "SELECT count(DISTINCT file) > 0, count(*) > 0 FROM vertices").unwrap();
    assert_eq!(rows, [["1", "1"]]);
}
