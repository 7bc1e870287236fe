//! `refs`: the pass over records agrees with the tables and with the command.

use assetq::formats::wows::bwdb::Database;
use assetq::formats::wows::bwdb::prototypes::PrototypeType;
use assetq::query::refs;
use assetq::query::refs::{By, Edge, PARENT};
use assetq::table::{Table, Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::bwdb::{DatabaseBuilder, demo};
use assetq_sample::geometry::{GeometryBuilder, Mapping};
use assetq_sample::prototypes::{BlobWriter, u64s};
use assetq_sample::{Size, space};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn open(name: &str, bytes: Vec<u8>) -> Asset {
    Asset::open(Source::from_vec(name, bytes)).unwrap()
}

fn table<'a>(asset: &'a Asset, name: &str) -> Box<dyn Table + 'a> {
    asset.reader().table(name).unwrap()
}

/// The ids in a cell: one id, or the ids of a list of references.
fn ids(value: &Value<'_>) -> Vec<u64> {
    match value {
        Value::Id64(0) => Vec::new(),
        Value::Id64(id) => vec![*id],
        Value::List(values) => values.iter().flat_map(ids).collect(),
        Value::Map(fields) => fields.iter().flat_map(|(_, value)| ids(value)).collect(),
        _ => Vec::new(),
    }
}

/// The edges that the columns of a table describe.
fn by_table(asset: &Asset, name: &str, key: &str, columns: &[&str], edges: &mut BTreeSet<(u64, u64)>) {
    let table = table(asset, name);
    let column = |name: &str| column_index(&*table, name).unwrap_or_else(|| panic!("no column {name}"));
    for row in 0..table.len().unwrap() {
        let Value::Id64(from) = table.value(row, column(key)).unwrap() else { continue };
        for name in columns {
            let to = table.value(row, column(name)).unwrap();
            edges.extend(ids(&to).into_iter().map(|to| (from, to)));
        }
    }
}

fn by_tables(asset: &Asset) -> BTreeSet<(u64, u64)> {
    let mut edges = BTreeSet::new();
    for (table, columns) in [
        ("visuals", &["geometry_id"][..]),
        ("render_sets", &["mfm_id"]),
        ("materials", &["fx_id"]),
        ("material_properties", &["texture_id"]),
        ("models", &["visual_id", "skeleton_extenders", "animations"]),
        ("dyes", &["tint_mfms"]),
        ("effect_presets", &["high_id", "low_id"]),
    ] {
        by_table(asset, table, "id", columns, &mut edges);
    }
    edges
}

fn by_scan(asset: &Asset) -> Vec<Edge> {
    let found = refs::scan(asset, &|_, by| by == By::Id);
    assert_eq!((found.damage.found(), found.notes), (0, vec![]));
    found.edges
}

fn pairs<'e>(edges: impl IntoIterator<Item = &'e Edge>) -> BTreeSet<(u64, u64)> {
    edges.into_iter().map(|edge| (edge.from.unwrap(), edge.to)).collect()
}

#[test]
fn a_pass_over_a_database_finds_what_its_tables_say() {
    let asset = open("assets.bin", demo(11, Size::Small));
    let edges = by_scan(&asset);
    let (folders, others): (Vec<_>, Vec<_>) = edges.into_iter().partition(|edge| edge.column == PARENT);
    let expected = by_tables(&asset);
    assert!(expected.len() > 40, "{}", expected.len());
    // A texture that no property has is in the record and in no table.
    let unused = |edge: &&Edge| edge.column.starts_with("textures[");
    assert_eq!(pairs(others.iter().filter(|edge| !unused(edge))), expected);

    let mut parents = BTreeSet::new();
    by_table(&asset, "paths", "id", &["parent_id"], &mut parents);
    assert_eq!(pairs(&folders), parents);
}

#[test]
fn what_an_entry_refers_to_is_what_the_pass_finds_from_it() {
    let asset = open("assets.bin", demo(12, Size::Small));
    let edges = by_scan(&asset);
    let entries: BTreeSet<u64> = edges.iter().filter_map(|edge| edge.from).collect();
    assert!(entries.len() > 50);
    for entry in entries {
        let of: Vec<Edge> = refs::references_of(&asset, entry).edges;
        let passed: Vec<&Edge> = edges.iter().filter(|edge| edge.from == Some(entry)).collect();
        assert_eq!(of.iter().collect::<Vec<_>>(), passed);
    }
}

#[test]
fn a_space_places_its_models() {
    let (models, space) =
        (open("models.bin", space::models_bin(3, Size::Small)), open("space.bin", space::space_bin(3, Size::Small)));
    let mut expected = BTreeSet::new();
    by_table(&models, "models", "id", &["visual_id", "geometry_id"], &mut expected);
    by_table(&models, "render_sets", "id", &["mfm_id"], &mut expected);
    assert_eq!(pairs(&by_scan(&models)), expected);

    let instances = table(&space, "instances");
    let edges = by_scan(&space);
    assert_eq!(edges.len(), instances.len().unwrap());
    for edge in &edges {
        assert_eq!((edge.table, edge.column.as_str(), edge.from), ("instances", "id", None));
        assert_eq!(instances.value(edge.row, 1).unwrap(), Value::Id64(edge.to));
    }
}

#[test]
fn all_owners_of_a_record_are_known_behind_records_that_have_none() {
    let mut builder = DatabaseBuilder::default();
    let mut owners = ["a/1.model", "a/2.model"].map(|path| builder.path(path));
    let blob = BlobWriter::new(PrototypeType::Model, 2);
    let database = builder.database(PrototypeType::Model.magic(), 0, blob.finish());
    owners.iter().for_each(|owner| builder.resource(*owner, database, 1, 0));
    let db = Database::open(Source::from_vec("assets.bin", builder.build())).unwrap();
    owners.sort_unstable();
    assert_eq!(db.owners(0, 1).collect::<Vec<_>>(), owners);
    assert_eq!(db.owner(0, 0), None);
}

/// Two models in one record, a deleted one, and tints that lie in each other.
#[test]
fn every_owner_of_a_record_refers_and_a_deleted_one_does_not() {
    let mut builder = DatabaseBuilder::default();
    let [visual, tint] = ["a/x.visual", "a/x.mfm"].map(|path| builder.path(path));
    let owners = ["a/1.model", "a/2.model", "a/3.model"].map(|path| builder.path(path));
    let mut blob = BlobWriter::new(PrototypeType::Model, 1);
    let at = blob.record(0);
    blob.data.patch(at, visual.to_le_bytes());
    blob.data.patch(at + 0x0A, [1, 1]);
    blob.array(at, 0x18, u64s([0xABCD]));
    let dye = blob.structs(at, 0x20, 1, 0x20);
    blob.data.patch(dye + 8, 2u32.to_le_bytes());
    blob.array(dye, 0x18, u64s([0, tint]));
    let database = builder.database(PrototypeType::Model.magic(), 0, blob.finish());
    builder.resource(owners[0], database, 0, 0);
    builder.resource(owners[1], database, 0, 0);
    builder.resource(owners[2], database, 0, 3);
    let asset = open("assets.bin", builder.build());

    let found = refs::scan(&asset, &|id, _| id == tint);
    let mut from: Vec<_> = found.edges.iter().map(|edge| (edge.from.unwrap(), edge.column.as_str())).collect();
    from.sort_unstable();
    let mut expected = vec![(owners[0], "dyes[0].tint_mfms[1]"), (owners[1], "dyes[0].tint_mfms[1]")];
    expected.sort_unstable();
    assert_eq!(from, expected);

    let deleted = refs::references_of(&asset, owners[2]);
    assert!(deleted.edges.iter().all(|edge| edge.column == PARENT) && deleted.notes.len() == 1, "{deleted:?}");
    let known = refs::KnownIds::new([&asset]);
    let dangling = refs::scan(&asset, &|id, by| by == By::Id && !known.has(id));
    assert_eq!(dangling.edges.len(), 2, "the animation, of both owners");
    assert!(dangling.edges.iter().all(|edge| edge.to == 0xABCD && edge.column == "animations[0]"));
}

#[test]
fn a_record_that_nothing_owns_refers_as_well() {
    let mut builder = DatabaseBuilder::default();
    let visual = builder.path("a/x.visual");
    let mut blob = BlobWriter::new(PrototypeType::Model, 1);
    let at = blob.record(0);
    blob.data.patch(at, visual.to_le_bytes());
    builder.database(PrototypeType::Model.magic(), 0, blob.finish());
    let asset = open("assets.bin", builder.build());
    let found = refs::scan(&asset, &|id, _| id == visual);
    let [edge] = &found.edges[..] else { panic!("{found:?}") };
    assert_eq!((edge.from, edge.to, edge.table, edge.row, edge.column.as_str()), (None, visual, "models", 0, "visual"));
}

#[test]
fn arrays_that_lie_on_each_other_are_not_walked_without_end() {
    const RECORDS: usize = 2000;
    let mut builder = DatabaseBuilder::default();
    let mut blob = BlobWriter::new(PrototypeType::Model, RECORDS);
    let dyes = blob.data.zeros(255 * 0x20);
    let tints = blob.data.zeros(1 << 16);
    for dye in (0..255).map(|i| dyes + i * 0x20) {
        blob.data.patch(dye + 8, (1u32 << 13).to_le_bytes());
        blob.data.point(dye + 0x10, dye, tints);
        blob.data.point(dye + 0x18, dye, tints);
    }
    for record in 0..RECORDS {
        let at = blob.record(record);
        blob.data.patch(at + 0x0B, [255]);
        blob.data.point(at + 0x20, at, dyes);
    }
    builder.database(PrototypeType::Model.magic(), 0, blob.finish());
    let asset = open("assets.bin", builder.build());
    let start = std::time::Instant::now();
    let found = refs::scan(&asset, &|_, _| true);
    assert!(found.damage.found() > 0);
    assert!(found.damage.findings()[0].to_string().contains("which overlap"), "{:?}", found.damage.findings()[0]);
    assert!(start.elapsed().as_secs() < 60);
}

/// Standard output and error of `assetq`, which ends with `code`.
fn assetq(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_assetq")).current_dir(dir).args(args).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

fn rows(dir: &Path, code: i32, args: &[&str]) -> Vec<Json> {
    let args: Vec<&str> = args.iter().copied().chain(["-f", "json"]).collect();
    serde_json::from_str(&assetq(dir, code, &args).0).unwrap()
}

#[test]
fn the_command_shows_both_directions_trees_and_what_dangles() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    assetq(dir, 0, &["sample", ".", "--seed", "3"]);
    let visuals = rows(dir, 0, &["ls", "assets.bin", "-t", "visuals"]);
    let (id, path) = (visuals[0]["id"].as_str().unwrap(), visuals[0]["path"].as_str().unwrap());
    let all = rows(dir, 0, &["refs", path, "assets.bin"]);
    assert_eq!(all, rows(dir, 0, &["refs", id, "assets.bin"]), "by path and by id");
    for column in ["direction", "id", "path", "table", "column", "file"] {
        assert!(all[0].get(column).is_some(), "{column}");
    }
    let one = |direction: &str, column: &str| {
        let found = all.iter().find(|row| row["direction"] == direction && row["column"] == column);
        found.unwrap_or_else(|| panic!("{direction} {column}"))
    };
    assert_eq!(one("to", "geometry")["id"], visuals[0]["geometry_id"]);
    assert_eq!(one("to", "geometry")["path"], visuals[0]["geometry_path"]);
    assert!(path.starts_with(one("to", "parent_id")["path"].as_str().unwrap()));
    let sets = rows(dir, 0, &["ls", "assets.bin", "-t", "render_sets", "--where", &format!("id = {id}")]);
    assert_eq!(one("to", "render_sets[0].mfm")["id"], sets[0]["mfm_id"]);
    let models = rows(dir, 0, &["ls", "assets.bin", "-t", "models", "--where", &format!("visual_id = {id}")]);
    let users: Vec<_> = all.iter().filter(|row| row["direction"] == "from").map(|row| &row["id"]).collect();
    assert_eq!(users, models.iter().map(|row| &row["id"]).collect::<Vec<_>>());

    let to = rows(dir, 0, &["refs", id, "assets.bin", "--to"]);
    assert!(to.iter().all(|row| row["direction"] == "to") && to.len() + users.len() == all.len());

    // Two at once say which one a row is about.
    std::fs::write(dir.join("ids"), format!("{id}\n{path}\n{}\n", models[0]["id"].as_str().unwrap())).unwrap();
    let mut many = Command::new(env!("CARGO_BIN_EXE_assetq"));
    many.current_dir(dir).args(["refs", "-", "assets.bin", "-f", "json"]);
    let many = many.stdin(std::fs::File::open(dir.join("ids")).unwrap()).output().unwrap();
    let many: Vec<Json> = serde_json::from_slice(&many.stdout).unwrap();
    let of_visual: Vec<_> = many.iter().filter(|row| row["entry"] == id && row["entry_path"] == path).collect();
    assert_eq!(of_visual.len(), all.len());
    assert!(many.len() > all.len());

    let (tree, _) = assetq(dir, 0, &["refs", models[0]["id"].as_str().unwrap(), "assets.bin", "--tree"]);
    assert!(tree.lines().next().unwrap().ends_with(".model"), "{tree}");
    assert!(tree.contains(&format!("visual  {path}")) && tree.contains("│   ├── geometry  "), "{tree}");
    let (flat, _) =
        assetq(dir, 0, &["refs", models[0]["id"].as_str().unwrap(), "assets.bin", "--tree", "--depth", "1"]);
    assert!(!flat.contains("geometry  "), "{flat}");

    // The sample's space has models of its own, whose own ids are no references.
    let place = rows(dir, 0, &["ls", "space.bin", "-n", "1"])[0]["id"].as_str().unwrap().to_owned();
    let placed = rows(dir, 0, &["refs", &place, "space.bin", "models.bin", "--from"]);
    assert!(placed.iter().any(|row| row["table"] == "instances" && row["id"].is_null()));
    assert!(placed.iter().all(|row| row["table"] != "models"), "{placed:?}");
    let dangling = rows(dir, 1, &["refs", "--dangling", "assets.bin", "space.bin", "models.bin"]);
    assert!(dangling.iter().any(|row| row["column"] == "visual.geometry"), "the space's own geometry is in no file");
    assert!(dangling.iter().all(|row| row["file"] == "models.bin"), "the instances are of the models");

    let (_, said) = assetq(dir, 1, &["refs", "no/such/path", "assets.bin"]);
    assert!(said.contains("in none of the files"), "{said}");
    let (_, said) = assetq(dir, 0, &["refs", id, "assets.bin", "sheet.wdb"]);
    assert!(said.contains("refs follows no references of wdb files"), "{said}");
    assetq(dir, 2, &["refs", id]);
    assert_eq!(Database::path_id(path), u64::from_str_radix(&id[2..], 16).unwrap());
}

#[test]
fn a_geometry_file_tells_which_of_its_meshes_a_visual_draws() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("assets.bin"), demo(3, Size::Small)).unwrap();
    let set = &rows(dir, 0, &["ls", "assets.bin", "-t", "render_sets"])[0];
    let text = |name: &str| set[name].as_str().unwrap();
    let number = |name: &str| u32::from_str_radix(&text(name)[2..], 16).unwrap();
    let visuals = rows(dir, 0, &["ls", "assets.bin", "-t", "visuals", "--where", &format!("id = {}", text("id"))]);

    let (vertices, indices) = (number("vertices_name_id"), number("indices_name_id"));
    let mapping = |id| Mapping { id, buffer: 0, density: 0, start: 0, count: 3 };
    let mut builder = GeometryBuilder::new();
    builder.vertex_buffer("set3/xyzpc", 16, &[0; 48], false);
    builder.index_buffer(2, &[0, 1, 2], false);
    builder.vertex_mapping(mapping(vertices ^ 1));
    builder.vertex_mapping(mapping(vertices));
    builder.index_mapping(mapping(indices));
    let own = visuals[0]["geometry_path"].as_str().unwrap().rsplit('/').next().unwrap();
    for name in [own, "other.geometry"] {
        std::fs::write(dir.join(name), builder.build()).unwrap();
    }

    let meshes = |file| {
        let mut rows = rows(dir, 0, &["refs", text("id"), "assets.bin", file, "--to"]);
        rows.retain(|row| row["file"] == file);
        rows
    };
    let mut found: Vec<_> = meshes(own).iter().map(|row| (row["id"].clone(), row["table"].clone())).collect();
    // Another of its render sets may draw the same ones.
    found.dedup();
    let expected = [("vertices_name_id", "vertex_mappings"), ("indices_name_id", "index_mappings")];
    assert_eq!(found, expected.map(|(column, table)| (set[column].clone(), table.into())));
    assert_eq!(meshes("other.geometry"), Vec::<Json>::new(), "the visual names another file");
}
