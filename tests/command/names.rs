//! Names for ids that a file does not name itself: from the archive that it lies in, from lists, from other files.

use assetq::formats::id::{of_name, of_path};
use assetq::query::archive::Archive as _;
use assetq::query::archive::names::NameSources;
use assetq::table::{Table, Value};
use assetq::{Asset, Options, Source};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::prototypes::BlobWriter;
use assetq_sample::{Size, space, wows};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

const MODEL: &str = "content/location/space_models/rock_0002.model";
const MATERIAL: &str = "content/location/rock.mfm";

fn game() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join("game").join(path);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, bytes)
    };
    wows::game(1, Size::Small, write).unwrap();
    fs::write(dir.path().join("models.bin"), space::models_bin(1, Size::Small)).unwrap();
    fs::write(dir.path().join("space.bin"), space::space_bin(1, Size::Small)).unwrap();
    dir
}

fn assetq(dir: &Path, args: &[&str]) -> Output {
    Command::new(crate::common::program()).current_dir(dir).args(args).output().unwrap()
}

fn said(dir: &Path, args: &[&str]) -> String {
    let out = assetq(dir, args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn cell(table: &dyn Table, row: usize, column: &str) -> Value<'static> {
    let at = table.columns().iter().position(|c| c.name == column).unwrap();
    match table.value(row, at).unwrap() {
        Value::Text(text) => Value::owned(text.into_owned()),
        Value::Null => Value::Null,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_lies_in_a_game_has_its_names_without_asking() {
    let dir = game();
    let open =
        |inner: &str| Asset::open_at(format!("{}/game:{inner}", dir.path().display()), &Options::default()).unwrap();
    let models = open("spaces/sample/models.bin");
    let table = models.reader().table("models").unwrap();
    assert_eq!(cell(&*table, 2, "path"), Value::text(MODEL));
    let column = table.columns().iter().position(|c| c.name == "path").unwrap();
    assert_eq!(table.find(column, &Value::text(MODEL)).unwrap().unwrap(), [2]);
    assert_eq!(table.find(column, &Value::text("content/no.model")).unwrap().unwrap(), [] as [usize; 0]);
    let sets = models.reader().table("render_sets").unwrap();
    assert_eq!(cell(&*sets, 0, "mfm_path"), Value::text(MATERIAL));
    let space = open("spaces/sample/space.bin");
    let instances = space.reader().table("instances").unwrap();
    let Value::Text(path) = cell(&*instances, 0, "path") else { panic!("the model has a path") };
    assert!(path.starts_with("content/location/space_models/rock_"), "{path}");
    // By itself the same file names nothing.
    let alone = Asset::open_at(dir.path().join("models.bin"), &Options::default()).unwrap();
    let table = alone.reader().table("models").unwrap();
    assert_eq!(cell(&*table, 2, "path"), Value::Null);
    assert_eq!(table.find(column, &Value::text(MODEL)).unwrap().unwrap(), [] as [usize; 0]);
}

#[test]
fn a_database_shows_the_paths_of_what_it_only_refers_to() {
    let (visual, geometry, node) = ("content/a/ship.visual", "content/a/ship.geometry", "Turret_01");
    let mut builder = DatabaseBuilder::default();
    let mut blob = BlobWriter::new(assetq::formats::wows::bwdb::prototypes::PrototypeType::Visual, 1);
    let at = blob.record(0);
    blob.data.patch(at, 1i32.to_le_bytes());
    blob.array(at, 0x18, of_name(node).to_le_bytes());
    blob.array(at, 0x08, of_name(node).to_le_bytes());
    blob.array(at, 0x10, [0, 0]);
    blob.array(at, 0x20, [0; 64]);
    blob.array(at, 0x28, [0xFF, 0xFF]);
    blob.data.patch(at + 0x30, of_path(geometry).to_le_bytes());
    builder.database(assetq::formats::wows::bwdb::prototypes::PrototypeType::Visual.magic(), 0, blob.finish());
    builder.resource(of_path(visual), 0, 0, 0);
    let bytes = builder.build();
    let open = |options: &Options| Asset::open_with(Source::from_vec("assets.bin", bytes.clone()), options).unwrap();
    let mut names = NameSources::default();
    names.add_lines(&[visual, geometry, node].join("\n")).unwrap();
    let named = open(&Options::default().with(Arc::new(names)));
    let alone = open(&Options::default());
    let shown = |asset: &Asset, table: &str, column: &str| cell(&*asset.reader().table(table).unwrap(), 0, column);
    for (table, column, text) in [
        ("resources", "path", visual),
        ("visuals", "path", visual),
        ("visuals", "geometry_path", geometry),
        ("skeleton_nodes", "name", node),
    ] {
        assert_eq!(shown(&named, table, column), Value::text(text), "{table}.{column}");
        assert_eq!(shown(&alone, table, column), Value::Null, "{table}.{column}");
    }
    let mut tree = assetq::table::Tree::default();
    assert!(named.reader().cat(visual, &mut tree).unwrap());
    let entry = format!("{:?}", tree.into_value());
    assert!(entry.contains(geometry) && entry.contains(node) && entry.contains(visual), "{entry}");
}

#[test]
fn the_command_takes_names_from_lists_archives_and_databases() {
    let dir = game();
    let dir = dir.path();
    fs::write(dir.join("list.txt"), format!("{MODEL}\r\nres/{MATERIAL}\n")).unwrap();
    let ls = |more: &[&str]| said(dir, &[&["ls", "models.bin", "-f", "ndjson"], more].concat());
    assert!(!ls(&[]).contains("rock_0002"));
    fs::write(dir.join("marked.txt"), format!("\u{FEFF}{MODEL}\r\n")).unwrap();
    for names in ["list.txt", "marked.txt", "game", "game/bin/7100000/idx/spaces.idx"] {
        assert!(ls(&["--names", names]).contains(MODEL), "{names}");
    }
    // People see the column where there is something in it.
    assert!(!said(dir, &["ls", "space.bin"]).contains("PATH") && !said(dir, &["ls", "space.bin"]).contains("path"));
    assert!(said(dir, &["ls", "space.bin", "--names", "game"]).contains("rock_0002.model"));
    let query = format!("SELECT count(*) AS n FROM instances WHERE path = '{MODEL}'");
    let count = |more: &[&str]| said(dir, &[&["sql", &query, "space.bin", "-f", "csv"], more].concat());
    assert_eq!(count(&[]).trim_end(), "n\r\n0");
    assert_ne!(count(&["--names", "list.txt"]).trim_end(), "n\r\n0");
    // A database has names too, also one in an archive; a sheet has none.
    fs::write(dir.join("assets.bin"), {
        let mut builder = DatabaseBuilder::default();
        builder.path(MODEL);
        builder.string("Scene Root");
        builder.build()
    })
    .unwrap();
    let string = said(dir, &["string", "0x10C30510", "--db", "assets.bin", "--names", "list.txt", "-f", "csv"]);
    assert!(string.contains("Scene Root"), "{string}");
    let cat = said(dir, &["cat", "models.bin", MODEL, "-f", "json", "--names", "assets.bin"]);
    assert!(cat.contains(MODEL), "{cat}");
    let nodes = said(dir, &["ls", "models.bin", "-t", "skeleton_nodes", "-f", "csv", "--names", "assets.bin"]);
    assert!(nodes.contains("Scene Root"), "{nodes}");
    let out = assetq(dir, &["ls", "models.bin", "--names", "space.bin:x"]);
    assert_eq!(out.status.code(), Some(2), "{}", String::from_utf8_lossy(&out.stderr));
    fs::write(dir.join("noise"), [0xFF; 64]).unwrap();
    let out = assetq(dir, &["ls", "models.bin", "--names", "noise"]);
    assert_eq!(out.status.code(), Some(3), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn references_are_shown_with_their_paths() {
    let dir = game();
    let out = said(
        dir.path(),
        &["refs", MODEL, "game:spaces/sample/models.bin", "game:spaces/sample/space.bin", "-f", "csv"],
    );
    assert!(out.contains("spaces/sample/models.geometry") && out.contains(MATERIAL), "{out}");
}

#[test]
fn few_questions_make_no_tree_of_the_game() {
    let dir = game();
    let game = Asset::open_at(dir.path().join("game"), &Options::default()).unwrap();
    let mut names = NameSources::default();
    names.add_asset(game.clone());
    use assetq::formats::relations::IdTexts as _;
    assert_eq!(names.path(of_path(MODEL)).unwrap().as_deref(), Some(MODEL));
    let game = game.get::<assetq::formats::wows::game_folder::WowsArchive>().unwrap();
    assert!(!game.has_tree());
    assert!(game.len().unwrap() > 0 && game.has_tree());
}

/// A path from a list is a path of its row for patterns, too.
#[test]
fn patterns_find_resources_by_the_paths_of_a_list() {
    let dir = game();
    let mut bytes = assetq_sample::bwdb::demo(1, Size::Small);
    fs::write(dir.path().join("whole.bin"), &bytes).unwrap();
    let query = "SELECT path FROM resources WHERE path LIKE '%.visual' LIMIT 1";
    let path = said(dir.path(), &["sql", query, "whole.bin", "-f", "csv"]).lines().nth(1).unwrap().to_owned();
    // Each other place of the id leads to the resource: the entry among the paths has another id.
    let id = of_path(&path).to_le_bytes();
    let listed = |bytes: &[u8]| {
        fs::write(dir.path().join("part.bin"), bytes).unwrap();
        let query = format!("SELECT count(*) FROM paths WHERE id = '0x{:016X}'", of_path(&path));
        assetq(dir.path(), &["sql", &query, "part.bin", "-f", "csv"]).stdout != b"count(*)\r\n0\r\n"
    };
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|at| bytes[*at..at + 8] == id).collect();
    let entry = places.into_iter().find(|at| {
        let mut part = bytes.clone();
        part[*at] ^= 1;
        !listed(&part)
    });
    bytes[entry.unwrap()] ^= 1;
    fs::write(dir.path().join("part.bin"), &bytes).unwrap();
    fs::write(dir.path().join("names.txt"), format!("{path}\n")).unwrap();
    let stem = path.rsplit('/').next().unwrap();
    let query = format!("SELECT path FROM resources WHERE path LIKE '%{stem}'");
    let found = said(dir.path(), &["sql", &query, "part.bin", "--names", "names.txt", "-f", "csv"]);
    assert_eq!(found, format!("path\r\n{path}\r\n"));
}
