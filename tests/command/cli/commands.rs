//! The command, run as a user runs it: what the contract fixes.

use super::samples;
use assetq_sample::bwdb::DatabaseBuilder;
use serde_json::Value as Json;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args).env_remove("ASSETQ_DB").stdin(Stdio::null());
    command
}

fn assetq(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// Standard output of a run that ends with `code`; one line of standard error for each thing it complains of.
fn run(code: i32, args: &[&str]) -> (String, String) {
    let out = assetq(samples(), args);
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

fn json(args: &[&str]) -> Json {
    serde_json::from_str(&run(0, args).0).unwrap()
}

/// The path of the first visual, which has a prototype.
fn visual() -> String {
    json(&["ls", "assets.bin", "-t", "visuals", "-n", "1", "-f", "json"])[0]["path"].as_str().unwrap().to_owned()
}

#[test]
fn resolve_by_path_hex_and_decimal_is_one_answer() {
    let path = visual();
    let by_path = &json(&["resolve", &path, "-f", "json"])[0];
    let id = by_path["id"].as_str().unwrap();
    assert_eq!(id.len(), 18);
    assert_eq!(u64::from_str_radix(&id[2..], 16).unwrap(), assetq_core::codec::cityhash64(path.as_bytes()));
    assert_eq!(by_path["type"], "VisualPrototype");
    assert_eq!((by_path["state"].as_str(), by_path["size"].as_u64()), (Some("valid"), Some(0x70)));
    let decimal = u64::from_str_radix(&id[2..], 16).unwrap().to_string();
    for query in [id, &id[2..], &decimal] {
        let row = &json(&["resolve", query, "-f", "json"])[0];
        assert_eq!(row["query"], query);
        for column in ["id", "path", "type", "database", "record", "state", "offset", "size"] {
            assert_eq!(row[column], by_path[column], "{query} {column}");
        }
    }
    let without = &json(&["resolve", id, "--no-path", "-f", "json"])[0];
    assert_eq!(without.get("path"), None);
    assert_eq!(without["offset"], by_path["offset"]);
}

#[test]
fn what_is_not_found_is_said_and_the_rest_is_printed() {
    let path = visual();
    let (out, err) = run(1, &["resolve", "no/such.model", &path, "0x1", "-f", "ndjson"]);
    assert_eq!(out.lines().count(), 1);
    assert_eq!(err.lines().count(), 2);
    assert!(err.starts_with("assetq: assets.bin: \"no/such.model\" not found"), "{err}");
}

#[test]
fn a_path_without_a_prototype_is_still_found() {
    let row = &json(&["resolve", "content/gameplay", "-f", "json"])[0];
    assert_eq!(row["path"], "content/gameplay");
    assert_eq!(row["type"], Json::Null);
}

#[test]
fn arguments_come_from_standard_input() {
    let mut child = command(samples(), &["resolve", "-", "-f", "ndjson"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let path = visual();
    // A blank line is no query.
    writeln!(child.stdin.take().unwrap(), "{path}\n\n \r\ncontent").unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(String::from_utf8(out.stdout).unwrap().lines().count(), 2);
}

#[test]
fn the_database_is_found_in_parents_and_by_variable() {
    let nested = samples().join("deep/er");
    fs::create_dir_all(&nested).unwrap();
    assert_eq!(assetq(&nested, &["resolve", "content"]).status.code(), Some(0));
    let elsewhere = TempDir::new().unwrap();
    let out = assetq(elsewhere.path(), &["resolve", "content"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(String::from_utf8(out.stderr).unwrap().contains("--db"));
    let out = command(elsewhere.path(), &["resolve", "content"])
        .env("ASSETQ_DB", samples().join("assets.bin"))
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn models_bin_serves_as_a_database() {
    let id = json(&["ls", "models.bin", "-n", "1", "-f", "json"])[0]["id"].as_str().unwrap().to_owned();
    let row = &json(&["resolve", &id, "--db", "models.bin", "-f", "json"])[0];
    assert_eq!((row["type"].as_str(), row["record"].as_u64()), (Some("ModelPrototype"), Some(0)));
    assert_eq!((row["offset"].as_u64(), row["size"].as_u64()), (Some(24), Some(0xA8)));
    let (_, err) = run(2, &["resolve", &id, "--db", "space.bin"]);
    assert!(err.contains("is no database"), "{err}");
}

#[test]
fn strings_both_ways() {
    let rows = json(&["string", "0x820F0280", "diffuseMap", "-f", "json"]);
    assert_eq!(rows[0]["text"], "diffuseMap");
    assert_eq!(rows[1]["id"], "0x820F0280");
    assert_eq!(rows[1]["present"], true);
    let (out, _) = run(1, &["string", "noSuchName", "0x00000001", "-f", "ndjson"]);
    let rows: Vec<Json> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((rows[0]["present"].as_bool(), rows[0]["text"].as_str()), (Some(false), Some("noSuchName")));
    assert_eq!((rows[1]["present"].as_bool(), rows[1]["text"].as_str()), (Some(false), None));
}

#[test]
fn ls_filters_limits_and_formats() {
    let all = json(&["ls", "assets.bin", "-f", "json"]);
    let globbed = json(&["ls", "assets.bin", "*.visual", "-f", "json"]);
    let expected: Vec<&Json> =
        all.as_array().unwrap().iter().filter(|r| r["path"].as_str().unwrap().ends_with(".visual")).collect();
    assert_eq!(globbed.as_array().unwrap().iter().collect::<Vec<_>>(), expected);
    assert!(expected.len() >= 4);
    let (text, _) = run(0, &["ls", "assets.bin", "*.visual", "-n", "2"]);
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        expected[..2].iter().map(|r| r["path"].as_str().unwrap()).collect::<Vec<_>>()
    );
    let (csv, _) = run(0, &["ls", "assets.bin", "content", "-n", "1", "-f", "csv"]);
    assert!(csv.starts_with("id,parent_id,name,path\r\n0x"), "{csv}");
    let folder = json(&["ls", "assets.bin", "content/gameplay", "-f", "json"]);
    assert!(folder.as_array().unwrap().iter().all(|r| r["path"].as_str().unwrap().starts_with("content/gameplay")));
    let (_, err) = run(1, &["ls", "assets.bin", "*.nothing"]);
    assert!(err.contains("nothing in paths matches"), "{err}");
    let (_, err) = run(2, &["ls", "assets.bin", "-t", "nope"]);
    assert!(err.contains("no table \"nope\"; it has paths, resources"), "{err}");
    let (tree, _) = run(0, &["ls", "assets.bin", "--tree"]);
    assert!(tree.contains("└── ") && tree.lines().count() == all.as_array().unwrap().len(), "{tree}");
    let (_, err) = run(2, &["ls", "assets.bin", "--tree", "-f", "csv"]);
    assert!(err.contains("without --tree, -f writes the rows"), "{err}");
}

#[test]
fn every_table_of_every_sample_lists_in_every_format() {
    for file in fs::read_dir(samples()).unwrap().map(|e| e.unwrap()).filter(|e| e.path().is_file()) {
        let file = file.file_name().into_string().unwrap();
        // The pixels of a .trb.
        if file.ends_with(".imgb") {
            continue;
        }
        let info = json(&["info", &file, "-f", "json"]);
        assert_eq!(info["file"], file.as_str());
        // A text has no ranges with names.
        let is_text = [".info", ".mfm", ".model", ".visual"].iter().any(|ending| file.ends_with(ending));
        assert_eq!(info["sections"].as_array().unwrap().is_empty(), is_text, "{file}");
        for table in info["tables"].as_array().unwrap() {
            let name = table["name"].as_str().unwrap();
            let rows = json(&["ls", &file, "-t", name, "-f", "json"]);
            if let Some(count) = table["rows"].as_u64() {
                assert_eq!(rows.as_array().unwrap().len() as u64, count, "{file} {name}");
            }
            let (lines, _) = run(0, &["ls", &file, "-t", name, "-f", "ndjson"]);
            let lines: Vec<Json> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
            assert_eq!(&Json::Array(lines), &rows, "{file} {name}");
            let (csv, _) = run(0, &["ls", &file, "-t", name, "-f", "csv"]);
            let mut csv = csv::Reader::from_reader(csv.as_bytes());
            let columns: Vec<&str> = table["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
            assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>(), columns);
            assert_eq!(csv.records().map(Result::unwrap).count(), rows.as_array().unwrap().len());
            run(0, &["ls", &file, "-t", name, "--long"]);
        }
    }
}

#[test]
fn cat_shows_references_resolved() {
    let path = visual();
    let entry = json(&["cat", "assets.bin", &path, "-f", "json"]);
    assert_eq!(entry["path"], path.as_str());
    let set = &entry["value"]["render_sets"][0];
    assert!(set["name"]["text"].is_string() && set["mfm"]["path"].as_str().unwrap().ends_with(".mfm"), "{set}");
    let (text, _) = run(0, &["cat", "assets.bin", &path]);
    assert!(text.contains("render_sets:\n"), "{text}");
    let (_, err) = run(1, &["cat", "assets.bin", "no/such.visual"]);
    assert!(err.contains("no entry"), "{err}");
}

#[test]
fn verify_says_what_is_wrong_and_exits_3() {
    let good = json(&["verify", "assets.bin", "-f", "json"]);
    assert_eq!(good["ok"], true);
    assert!(good["checks"].as_array().unwrap().iter().all(|c| c["ok"] == true));
    let dir = TempDir::new().unwrap();
    let mut bytes = fs::read(samples().join("assets.bin")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let bad = dir.path().join("bad.bin");
    fs::write(&bad, bytes).unwrap();
    let (out, _) = run(3, &["verify", bad.to_str().unwrap(), "models.bin", "-f", "json"]);
    let reports: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((reports[0]["ok"].as_bool(), reports[1]["ok"].as_bool()), (Some(false), Some(true)));
    assert_eq!(reports[0]["checks"][0]["name"], "checksum");
    assert_eq!(reports[0]["checks"][0]["ok"], false);
}

#[test]
fn errors_are_one_line_with_file_and_offset() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let short = file("short.bin", &fs::read(samples().join("assets.bin")).unwrap()[..0x200]);
    for (path, code, part) in [
        (short, 3, "strings.buckets: 664 bytes needed"),
        (file("text.txt", b"hello world, this is no asset"), 3, "not a format that assetq knows"),
        (file("empty.bin", b""), 3, "the file is empty"),
        (dir.path().join("missing").to_str().unwrap().to_owned(), 4, "cannot open"),
    ] {
        let (out, err) = run(code, &["ls", &path]);
        assert!(out.is_empty());
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.starts_with(&format!("assetq: {path}: ")) && err.contains(part), "{err}");
        assert_eq!(err.contains("(at offset 0x"), code == 3, "{err}");
    }
    run(2, &["resolve"]);
    run(2, &["ls", "assets.bin", "--limit", "many"]);
}

#[test]
fn reading_instead_of_mapping_is_the_same() {
    let mapped = run(0, &["ls", "assets.bin", "-t", "materials", "-f", "csv"]);
    assert_eq!(run(0, &["ls", "assets.bin", "-t", "materials", "-f", "csv", "--no-mmap", "--threads", "1"]), mapped);
}

/// The process has the file mapped once it has answered the first query; then the file becomes shorter under it.
#[test]
#[cfg(unix)]
fn a_file_that_shrinks_while_it_is_mapped_is_one_line_and_exit_code_4() {
    use std::io::{BufRead as _, BufReader};
    let dir = TempDir::new().unwrap();
    // A name cannot do anything to the terminal.
    let file = dir.path().join("a\u{1b}[31m.bin");
    fs::copy(samples().join("assets.bin"), &file).unwrap();
    let mut child = command(dir.path(), &["resolve", "-", "--db", "a\u{1b}[31m.bin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    writeln!(stdin, "0x1").unwrap();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("not found"), "{line}");
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(0).unwrap();
    writeln!(stdin, "0x2").unwrap();
    line.clear();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with("assetq: a\\u{1b}[31m.bin: the file became shorter while it was mapped"), "{line}");
    assert!(line.contains("(at offset 0x"), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(4));
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(samples(), &["ls", "assets.bin", "-t", "skeleton_nodes", "-f", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn help_has_an_example_for_each_command() {
    for name in
        ["info", "ls", "cat", "resolve", "string", "set", "sql", "verify", "extract", "sample", "completions", "man"]
    {
        let (help, _) = run(0, &[name, "--help"]);
        assert!(help.contains(&format!("assetq {name}")) && help.contains("Example"), "{help}");
        let formats = ["ndjson", "markdown"].map(|format| help.contains(format));
        assert_eq!(formats, [!["export", "completions", "man"].contains(&name), name == "diff"], "{help}");
    }
}

#[test]
fn completions_and_man_pages_are_made() {
    let (script, _) = run(0, &["completions", "bash"]);
    assert!(script.contains("_assetq"));
    let dir = TempDir::new().unwrap();
    run(0, &["man", dir.path().to_str().unwrap()]);
    let page = fs::read_to_string(dir.path().join("assetq-resolve.1")).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH"), "{page}");
}

#[test]
fn the_same_seed_makes_the_same_files() {
    let (a, b) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for (dir, seed) in [(&a, "3"), (&b, "4")] {
        assert_eq!(assetq(dir.path(), &["sample", ".", "--seed", seed]).status.code(), Some(0));
    }
    for name in ["assets.bin", "models.bin", "space.bin"] {
        let bytes = |dir: &Path| fs::read(dir.join(name)).unwrap();
        assert_eq!(bytes(a.path()), bytes(samples()), "{name}");
        assert_ne!(bytes(b.path()), bytes(samples()), "{name}");
    }
}

#[test]
fn rows_are_found_by_where_they_are() {
    let (boxes, _) = run(0, &["ls", "town.wdata", "npc_000", "-f", "json"]);
    let boxes: Json = serde_json::from_str(&boxes).unwrap();
    let at = ["pos_x", "pos_y", "pos_z"].map(|axis| boxes[0][axis].as_f64().unwrap());
    let [x, y, z] = at;
    let names = |flag: &str, place: String| -> Vec<String> {
        let (rows, _) = run(0, &["ls", "town.wdata", flag, &place, "-f", "json"]);
        let rows: Vec<Json> = serde_json::from_str(&rows).unwrap();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let inside = names("--at", format!("{x},{y},{z}"));
    assert!(inside.contains(&"npc_000".to_owned()) && inside.len() < 10, "{inside:?}");
    assert!(names("--line", format!("{x},-500,{z},{x},500,{z}")).contains(&"npc_000".to_owned()));
    assert!(names("--box", "-9999,-9999,-9999,9999,9999,9999".to_owned()).len() > 100);

    let (_, said) = run(1, &["ls", "town.wdata", "--at", "-99999,0,0"]);
    assert!(said.contains("nothing in event_boxes is there"), "{said}");
    run(2, &["ls", "town.wdata", "--at", "1,2"]);
    run(2, &["ls", "town.wdata", "--at", "1,2,3", "--box", "1,2,3,4,5,6"]);
    let (_, said) = run(2, &["ls", "town.wdata", "-t", "paths", "--at", "1,2,3"]);
    assert!(said.contains("have no place"), "{said}");
}

/// Boxes of hits, plates of armour and instances, against their own columns.
#[test]
fn boxes_plates_and_instances_are_found_by_where_they_are() {
    let rows = |file: &str, table: &str, more: &[&str]| -> Vec<Json> {
        let args = [&["ls", file, "-t", table, "-f", "json"], more].concat();
        serde_json::from_str(&run(0, &args).0).unwrap()
    };
    let point = |row: &Json, names: [&str; 3]| names.map(|name| row[name].as_f64().unwrap());
    let text = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let (min, max) = (["min_x", "min_y", "min_z"], ["max_x", "max_y", "max_z"]);
    for (file, table) in [("ship.splash", "boxes"), ("ship.geometry", "armor_plates")] {
        let all = rows(file, table, &[]);
        let (least, most) = (point(&all[1], min), point(&all[1], max));
        let center: Vec<f64> = least.iter().zip(most).map(|(a, b)| (a + b) / 2.0).collect();
        let has_center = |row: &&Json| {
            let ends = point(row, min).into_iter().zip(point(row, max));
            ends.zip(&center).all(|((min, max), at)| (min..=max).contains(at))
        };
        let wanted: Vec<Json> = all.iter().filter(has_center).cloned().collect();
        assert!(!wanted.is_empty() && wanted.len() < all.len(), "{table}: {} of {}", wanted.len(), all.len());
        assert_eq!(rows(file, table, &["--at", &text(&center)]), wanted, "{table}");
        let through = [&[center[0], center[1], -1e6][..], &[center[0], center[1], 1e6]].concat();
        let hit = rows(file, table, &["--line", &text(&through)]);
        assert!(wanted.iter().all(|row| hit.contains(row)), "{table}");
        run(1, &["ls", file, "-t", table, "--box", "1e6,1e6,1e6,2e6,2e6,2e6"]);
    }
    let all = rows("space.bin", "instances", &[]);
    let at = point(&all[0], ["x", "y", "z"]);
    let region: Vec<f64> = at.iter().map(|v| v - 0.5).chain(at.iter().map(|v| v + 0.5)).collect();
    let near = |row: &&Json| point(row, ["x", "y", "z"]).iter().zip(at).all(|(a, b)| (a - b).abs() <= 0.5);
    let wanted: Vec<Json> = all.iter().filter(near).cloned().collect();
    assert_eq!(rows("space.bin", "instances", &["--box", &text(&region)]), wanted);
    for table in ["armor_triangles", "collision_hulls", "hull_vertices", "vertices"] {
        assert!(
            !rows("ship.geometry", table, &["--box", "-1e6,-1e6,-1e6,1e6,1e6,1e6", "-n", "3"]).is_empty(),
            "{table}"
        );
    }
    assert!(!rows("space.bin", "point_lights", &["--box", "-1e6,-1e6,-1e6,1e6,1e6,1e6"]).is_empty());
}

#[test]
fn cat_takes_what_ls_shows() {
    let (row, _) = run(0, &["cat", "ship.geometry", "0"]);
    assert_eq!(row, run(0, &["cat", "ship.geometry", "vertex_buffers/0"]).0);
    let (_, said) = run(1, &["cat", "ship.geometry", "999999"]);
    assert!(said.contains("`assetq ls ship.geometry`"), "{said}");

    let path = visual();
    let last = path.rsplit('/').next().unwrap();
    assert_eq!(run(0, &["cat", "assets.bin", last]).0, run(0, &["cat", "assets.bin", &path]).0);
    // A name of several entries: the first one in the folder of each ship.
    let (paths, _) = run(0, &["ls", "assets.bin", "-f", "csv", "-c", "path"]);
    let named = |name: &str| paths.lines().filter(|path| path.rsplit('/').next() == Some(name)).count();
    let shared = paths.lines().filter_map(|path| path.rsplit('/').next()).find(|name| named(name) > 1).unwrap();
    let (out, said) = run(1, &["cat", "assets.bin", shared]);
    assert!(out.is_empty() && said.contains("is the name of several entries: \""), "{said}");
    run(1, &["cat", "assets.bin", "no-such.visual"]);

    let (_, said) = run(1, &["cat", "savegame.vrb", "Sets.Nowhere"]);
    assert!(said.contains("`assetq ls savegame.vrb`") && said.contains("-t values"), "{said}");
}

#[test]
fn exports_are_whole_or_not_there() {
    let dir = TempDir::new().unwrap();
    let out = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (file, name, begins) in [
        ("assets.bin", "paths.csv", "id,parent_id,name,path\r\n"),
        ("assets.bin", "paths.json", "[{\"id\":"),
        ("ship.geometry", "ship.glb", "glTF"),
        ("ship.geometry", "ship.obj", "#"),
        ("ship.geometry", "ship.svg", "<svg"),
        ("town.wdata", "town.svg", "<svg"),
        ("space.bin", "space.svg", "<svg"),
        ("hull_a.dds", "hull_a.png", "\u{fffd}PNG\r\n"),
        ("town.wdata", "town.glb", "glTF"),
    ] {
        run(0, &["export", file, "--to", &out(name)]);
        let bytes = fs::read(out(name)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            text.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").starts_with(begins),
            "{name}: {text:.80}"
        );
    }
    let listed = run(0, &["ls", "assets.bin", "-f", "csv"]).0;
    assert_eq!(fs::read_to_string(out("paths.csv")).unwrap(), listed);
    let (_, err) = run(4, &["export", "assets.bin", "--to", &out("paths.csv")]);
    assert!(err.contains("--force"), "{err}");
    run(0, &["export", "assets.bin", "-t", "strings", "--to", &out("paths.csv"), "--force"]);
    assert!(fs::read_to_string(out("paths.csv")).unwrap().starts_with("id,text\r\n"));
    run(2, &["export", "assets.bin", "--to", &out("paths.glb")]);
    run(2, &["export", "assets.bin", "--to", &out("paths.unknown")]);
    run(2, &["export", "assets.bin", "-t", "nope", "--to", &out("nope.csv")]);
    // Nothing half-written is left, under no name.
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 9, "{names:?}");
}

/// The file and the entry of `cat`, `refs`, `find`, `resolve`, `string` and `history` in both orders.
#[test]
fn whichever_argument_exists_is_the_file() {
    let visual = visual();
    let name = visual.rsplit('/').next().unwrap();
    for (documented, swapped) in [
        (vec!["cat", "assets.bin", &visual], vec!["cat", &visual, "assets.bin"]),
        (vec!["cat", "assets.bin", name], vec!["cat", name, "assets.bin"]),
        (vec!["refs", &visual, "assets.bin"], vec!["refs", "assets.bin", &visual]),
        (vec!["find", name, "assets.bin", "sheet.wdb"], vec!["find", "assets.bin", name, "sheet.wdb"]),
        (vec!["resolve", &visual, "--db", "models.bin"], vec!["resolve", "models.bin", &visual]),
        (vec!["resolve", &visual, "--db", "assets.bin"], vec!["resolve", &visual, "assets.bin"]),
        (vec!["string", "diffuseMap", "--db", "assets.bin"], vec!["string", "assets.bin", "diffuseMap"]),
        (vec!["history", &visual, "assets.bin"], vec!["history", "assets.bin", &visual]),
    ] {
        let [expected, out] = [documented, swapped].map(|args| assetq(samples(), &args));
        assert_eq!(
            (expected.status.code(), String::from_utf8(expected.stdout)),
            (out.status.code(), String::from_utf8(out.stdout)),
            "{:?}",
            String::from_utf8(out.stderr)
        );
    }
}

/// An entry that also exists as a file: `--` keeps the documented order, and `--db` names the database.
#[test]
fn two_files_are_told_apart_by_an_option() {
    let dir = TempDir::new().unwrap();
    fs::copy(samples().join("assets.bin"), dir.path().join("assets.bin")).unwrap();
    fs::create_dir_all(dir.path().join("content/gameplay")).unwrap();
    let visual = visual();
    fs::create_dir_all(dir.path().join(&visual).parent().unwrap()).unwrap();
    fs::write(dir.path().join(&visual), "<visual/>").unwrap();
    for args in [["cat", "assets.bin", &visual], ["refs", &visual, "assets.bin"], ["find", &visual, "assets.bin"]] {
        let out = assetq(dir.path(), &args);
        let error = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), error.contains(" write -- ")), (Some(2), true), "{args:?}: {error}");
        let [command, first, second] = args;
        assert_eq!(assetq(dir.path(), &[command, "--", first, second]).status.code(), Some(0), "{args:?}");
    }
    let out = assetq(dir.path(), &["resolve", &visual, "assets.bin"]);
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!((out.status.code(), error.contains("--db FILE")), (Some(2), true), "{error}");
    // Without another database among the arguments, an unpacked file is an entry.
    for args in [vec!["resolve", &visual, "content"], vec!["resolve", &visual, "content", "--db", "assets.bin"]] {
        assert_eq!(assetq(dir.path(), &args).status.code(), Some(0), "{args:?}");
    }
}

/// The note about unconfirmed rules is shown once, by `info`; `verify` lists it in its check.
#[test]
fn only_info_notes_rules_that_no_real_file_confirms() {
    let (_, error) = run(0, &["info", "savegame.vrb"]);
    assert_eq!(error.matches("no known real file").count(), 1, "{error}");
    let (out, error) = run(0, &["verify", "savegame.vrb"]);
    assert!(out.contains("no known real file") && error.is_empty(), "{error}");
    for args in [["ls", "savegame.vrb", "-t", "values"].as_slice(), &["cat", "savegame.vrb", "[Main]"]] {
        assert_eq!(run(0, args).1, "", "{args:?}");
    }
}

/// An exact path of an archive is found by its index, and a folder still has its files.
#[test]
fn ls_of_one_path_of_an_archive_is_its_row() {
    let files = json(&["ls", "wows", "-f", "json"]);
    let path = files[0]["path"].as_str().unwrap();
    assert_eq!(json(&["ls", "wows", path, "-f", "json"]), Json::Array(vec![files[0].clone()]));
    let folder = path.split('/').next().unwrap();
    assert!(json(&["ls", "wows", folder, "-f", "json"]).as_array().unwrap().contains(&files[0]));
}

#[test]
fn a_glob_that_matches_nothing_says_how_globs_match() {
    let (_, error) = run(1, &["ls", "assets.bin", "gameplay*"]);
    assert!(error.contains("from the beginning") && error.contains("'*gameplay*'"), "{error}");
}

#[test]
fn samples_have_the_files_that_belong_together() {
    let (out, error) = run(0, &["verify", "model.trb"]);
    assert!(samples().join("model.imgb").exists() && !out.contains("imgb not"), "{out}{error}");
    run(0, &["export", "model.trb", "--to", "trb/", "--as", "png"]);
}

#[test]
fn keys_are_in_short_listings() {
    let (out, error) = run(0, &["ls", "GameParams.data", "-t", "armor", "-n", "1"]);
    assert!(out.starts_with("ship ") && out.lines().next().unwrap().contains(" entity "), "{out}");
    assert!(error.contains("more columns with --long: model model_id"), "{error}");
    assert!(run(0, &["ls", "savegame.vrb", "-t", "values", "-n", "1"]).0.contains("chunk"));
    let (plates, _) = run(0, &["ls", "ship.geometry", "-t", "armor_plates"]);
    assert!(plates.lines().next().unwrap().contains(" area "), "{plates}");
    assert_eq!(run(0, &["ls", "ship.geometry", "-t", "armor_plates", "--long"]).1, "");
}

#[test]
fn rows_are_sorted_by_any_column() {
    let cells = |args: &[&str]| -> Vec<Json> {
        let rows = json(&[&["ls", "assets.bin", "-t", "resources", "-f", "json"], args].concat());
        rows.as_array().unwrap().iter().map(|row| row["size"].clone()).collect()
    };
    let numbers = |cells: &[Json]| cells.iter().filter_map(Json::as_u64).collect::<Vec<_>>();
    let up = cells(&["--sort", "size"]);
    let mut sorted = numbers(&cells(&[]));
    sorted.sort_unstable();
    assert_eq!(numbers(&up), sorted);
    sorted.reverse();
    let down = cells(&["--sort", "size:desc,path"]);
    assert_eq!(numbers(&down), sorted);
    assert_eq!(numbers(&cells(&["--sort", "size:desc", "-n", "3"])), sorted[..3]);
    // Rows without a value come last in both orders.
    for cells in [up, down] {
        assert!(cells.iter().skip_while(|cell| !cell.is_null()).all(Json::is_null), "{cells:?}");
    }
    assert!(run(2, &["ls", "assets.bin", "--sort", "path:down"]).1.contains("there are asc and desc"));
    assert!(run(2, &["ls", "assets.bin", "--sort", "siz"]).1.contains("no column"));
}

#[test]
fn damaged_rows_are_left_out_if_asked() {
    let dir = TempDir::new().unwrap();
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    builder.path("root/a");
    builder.raw_path(4, 99, "lost");
    builder.path("root/b");
    fs::write(dir.path().join("bad.bin"), builder.build()).unwrap();
    let rows = |more: &[&str]| {
        let out = assetq(dir.path(), &[&["ls", "bad.bin", "-f", "ndjson"], more].concat());
        assert_eq!(out.status.code(), Some(3));
        (String::from_utf8(out.stdout).unwrap().lines().count(), String::from_utf8(out.stderr).unwrap())
    };
    let (all, _) = rows(&[]);
    for more in [&["--skip-damaged"][..], &["--skip-damaged", "--sort", "path"]] {
        let (left, error) = rows(more);
        assert!(left + 1 == all && error.ends_with("bad.bin: 1 damaged row of paths left out\n"), "{error}");
    }
}

#[test]
fn numbers_and_ids_are_found_as_well_as_texts() {
    let found = |args: &[&str]| {
        let rows = json(&[&["find"], args, &["-f", "json"]].concat());
        let hits =
            rows.as_array().unwrap().iter().map(|hit| format!("{} {} {}", hit["table"], hit["column"], hit["text"]));
        hits.map(|hit| hit.replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(found(&["27016", "savegame.vrb"]), ["values value 27016"]);
    let visual = visual();
    let id = json(&["resolve", &visual, "-f", "json"])[0]["id"].as_str().unwrap().to_owned();
    assert!(found(&[&id, "assets.bin"]).contains(&format!("paths id {id}")));
    assert!(found(&["4179506384", "GameParams.data"]).contains(&"entities id 4179506384".to_owned()));
    let rows = json(&["ls", "savegame.vrb", "-t", "values", "-w", "type = 'System.Guid'", "-n", "1", "-f", "json"]);
    let guid = rows[0]["value"].as_str().unwrap();
    assert!(found(&[guid, "savegame.vrb"]).contains(&format!("values value {guid}")));
    // Literally, it is a text.
    run(1, &["find", "-F", "27016", "savegame.vrb"]);
    // A number is equal or not: it is in no other number.
    run(1, &["find", "2701", "savegame.vrb"]);
}

#[test]
fn a_reference_that_is_a_text_is_its_own_path() {
    let rows = json(&["refs", "PASB900_Nowhere", "GameParams.data", "--to", "-f", "json"]);
    let models = rows.as_array().unwrap().iter().filter(|row| row["column"].as_str().unwrap().ends_with("_Hull.model"));
    let paths: Vec<&str> = models.map(|row| row["path"].as_str().unwrap()).collect();
    assert!(!paths.is_empty() && paths.iter().all(|path| path.ends_with("ASB900.model")), "{paths:?}");
}

#[test]
fn brackets_around_a_number_are_a_part_of_a_path_of_values() {
    let paths = |glob: &str| {
        let rows = json(&["ls", "savegame.vrb", "-t", "values", glob, "-f", "json"]);
        rows.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = paths("ById[1]*");
    assert!(found.len() > 1 && found.iter().all(|path| path.starts_with("ById[1]")), "{found:?}");
}

/// The save itself as JSON, which `patch --entry` takes; its tables if they are asked for.
#[test]
fn a_save_is_exported_as_one_document() {
    let dir = TempDir::new().unwrap();
    let to = dir.path().join("save.json");
    let (_, error) = run(0, &["export", "savegame.vrb", "--to", to.to_str().unwrap()]);
    assert!(error.contains("[Main] is written, without ") && error.contains("--table chunks"), "{error}");
    assert_eq!(fs::read_to_string(&to).unwrap(), run(0, &["cat", "savegame.vrb", "[Main]", "-f", "json"]).0);
    let chunks = json(&["export", "savegame.vrb", "--to", "-", "--as", "json", "--table", "chunks"]);
    assert_eq!(chunks[0]["name"], "[Main]");
}

/// Messages of wrong usage list what fits.
#[test]
fn errors_list_what_fits() {
    for (args, said) in [
        (&["export", "ship.geometry", "--to", "x.gltf"][..], "export writes csv, json, "),
        (&["export", "ship.geometry", "--to", "x.gltf"], "glb is glTF in one file"),
        (&["export", "assets.bin", "--to", "x.xlsx"], "spreadsheets open csv"),
        (&["export", "assets.bin", "--to", "x.sqlite"], "assetq sql QUERY FILE --into OUT"),
        (&["sql", "select * from nothing_here"], "no file was given: files follow the query"),
        (&["sql", "select * from wows/bin"], "wows/bin is a file: files follow the query"),
        (
            &["sql", "UPDATE ships SET level = 3", "GameParams.data", "--to", "n.data"],
            "gameparams files are read and not written",
        ),
        (&["x.wdb"], "a command precedes the file, as in 'assetq info x.wdb'; the commands are info, ls, cat"),
        (&["armor", "ship.geometry"], "the commands are info, ls, cat"),
        (&["ls", "GameParams.data", "-t", "shells"], "did you mean projectiles?"),
        (&["ls", "GameParams.data", "-t", "Modules"], "did you mean ship_components?"),
        (&["ls", "town.wdata", "-t", "portals"], "did you mean portal_boxes"),
        (&["ls", "town.wdata", "-t", "spawns"], "did you mean respawn_boxes"),
        (&["export", "pack.bin", "--to", "out"], "'assetq extract pack.bin --to out' writes the files in it"),
        (&["export", "sheet.wdb", "-o", "x.csv"], "'--to OUT' names the output"),
        (&["ls", "sheet.wdb", "--csv"], "'-f csv' writes this format"),
        (&["sql", "select 1", "--sort", "x"], "ORDER BY in 'assetq sql'"),
    ] {
        let (_, error) = run(2, args);
        assert!(error.contains(said), "{args:?}: {error}");
        assert!(!error.contains("--format'"), "{error}");
    }
    assert!(run(2, &["inof", "sheet.wdb"]).1.contains("'info'"));
}

/// The thickness of a plate is no cell of its file; the message says where it is.
#[test]
fn what_another_file_states_is_not_written() {
    let update = "UPDATE armor_plates SET thickness = 5 WHERE model = 0";
    let (_, said) = run(2, &["sql", update, "ship.geometry", "--dry-run"]);
    assert!(said.contains("it takes nothing, as it is read from the game's parameters (GameParams.data)"), "{said}");
    let (_, said) = run(2, &["sql", "UPDATE render_groups SET lod = 7", "ship.geometry", "--dry-run"]);
    assert!(said.contains("it takes nothing, as it is read from the visual of the geometry"), "{said}");
    // Coordinates have seven digits, and so has the area that they span.
    let (areas, _) = run(0, &["sql", "SELECT area FROM armor_plates", "ship.geometry", "-f", "csv"]);
    assert!(areas.lines().all(|area| area.len() <= 10), "{areas}");
}

#[test]
fn unknown_thickness_has_a_reason() {
    let dir = TempDir::new().unwrap();
    let copy = dir.path().join("shop.geometry");
    fs::copy(samples().join("ship.geometry"), &copy).unwrap();
    let plates = |file: &str| run(0, &["ls", file, "-t", "armor_plates", "--with", "GameParams.data", "-f", "ndjson"]);
    let (rows, error) = plates(copy.to_str().unwrap());
    assert!(rows.contains("\"thickness\":null"), "{rows}");
    let why = "the thickness of plates is unknown: no ship or gun of the parameters has the model shop.model; did you mean content/";
    assert!(error.contains(why), "{error}");
    let page = dir.path().join("page.html");
    run(0, &["view", copy.to_str().unwrap(), "--with", "GameParams.data", "--to", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains("has the model shop.model"));
    // The samples match each other.
    let (rows, error) = plates("ship.geometry");
    assert!(!rows.contains("\"thickness\":null") && !error.contains("unknown"), "{rows}{error}");
}

#[test]
fn ls_names_the_other_tables_of_a_file_to_people() {
    let other = "ship.geometry: other tables, by -t TABLE: index_buffers";
    assert!(run(0, &["ls", "ship.geometry"]).1.contains(other));
    for args in [&["-t", "armor_plates"][..], &["-f", "json"], &["--where", "index = 0"], &["-q"]] {
        let (_, said) = run(0, &[&["ls", "ship.geometry"], args].concat());
        assert!(!said.contains("other tables"), "{said}");
    }
}

/// The tables of ships are in a file of the game that its players do not know.
#[test]
fn ls_takes_the_tables_of_the_parameters_and_the_database_of_a_game() {
    let (rows, _) = run(0, &["ls", "wows-ship", "-t", "ships", "-f", "ndjson"]);
    assert!(rows.contains("\"title\":\"Sample\""), "{rows}");
    assert_eq!(rows, run(0, &["ls", "wows-ship:content/GameParams.data", "-t", "ships", "-f", "ndjson"]).0);
    assert!(run(0, &["ls", "wows", "-t", "lods", "-n", "1", "-f", "ndjson"]).0.contains("extent"));
    let (_, said) = run(2, &["ls", "wows-ship", "-t", "shops"]);
    assert!(said.contains("no table \"shops\"; it has files"), "{said}");
}

#[test]
fn an_address_that_ends_with_its_colon_is_the_folder() {
    assert_eq!(run(0, &["ls", "wows:", "-f", "json"]).0, run(0, &["ls", "wows", "-f", "json"]).0);
    let elsewhere = TempDir::new().unwrap();
    let out =
        command(elsewhere.path(), &["ls", "wows:"]).env_remove("ASSETQ_WOWS").env("HOME", elsewhere.path()).output();
    let said = String::from_utf8(out.unwrap().stderr).unwrap();
    assert!(said.starts_with("assetq: wows: World of Warships was not found"), "{said}");
}

#[test]
fn a_query_that_names_a_file_says_where_files_go() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("nested")).unwrap();
    fs::copy(samples().join("sheet.wdb"), dir.path().join("nested/sheet.wdb")).unwrap();
    let (_, said) = crate::common::run(dir.path(), 2, &["sql", "select * from nested/sheet.wdb"]);
    assert!(said.contains("nested/sheet.wdb is a file: files follow the query"), "{said}");
    let (_, said) = crate::common::run(dir.path(), 2, &["sql", "select * from 'nested/sheet.wdb'"]);
    assert!(said.contains("nested/sheet.wdb is a file: files follow the query"), "{said}");
    // In quotes it is a text, and no table.
    let query = "DELETE FROM records WHERE file = 'nested/sheet.wdb'";
    let (_, said) = crate::common::run(dir.path(), 2, &["sql", query, "nested", "--in-place"]);
    assert!(said.contains("no such column: file; ") && said.contains("run on each file by itself"), "{said}");
    assert!(!said.contains("files follow"), "{said}");
}

#[test]
fn an_entry_without_bytes_of_its_own_says_where_bytes_are() {
    let (_, said) = run(1, &["cat", "assets.bin", "--raw", &visual()]);
    assert!(said.contains("is no stretch of bytes") && said.contains("offset"), "{said}");
}
