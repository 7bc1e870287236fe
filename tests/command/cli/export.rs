//! Tables written as files for other programs, read back by the readers of those formats.

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use assetq::table::{Column, Kind, Value};
use assetq::write::parquet as written;
use assetq::write::rows::RowSink as _;
use assetq_sample::wdb as sheets;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The sample files, made once by the command itself.
fn samples() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        assert!(assetq(dir.path(), &["sample", ".", "--seed", "5"]).status.success());
        dir
    })
    .path()
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args).stdin(Stdio::null());
    command
}

fn assetq(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// Runs `assetq export` among the samples, and gives what it says on standard error.
fn export(code: i32, args: &[&str]) -> String {
    let out = assetq(samples(), &[&["export"], args].concat());
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(code), "assetq export {args:?}\n{said}");
    said
}

/// Every file below a folder, as paths relative to it.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(folder).unwrap().to_owned();
                files.insert(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    files
}

/// A folder for output, and the text of a path in it.
struct Out(TempDir);

impl Out {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn files(&self) -> BTreeSet<String> {
        files_below(self.0.path())
    }
}

fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

fn csv_of(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
    (header, rows.collect())
}

fn parquet(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

/// Whether a field of Parquet says what a field of CSV says.
fn same(field: &Field, text: &str) -> bool {
    match field {
        Field::Null => text.is_empty(),
        Field::Str(value) => value == text,
        Field::Bool(value) => value.to_string() == text,
        Field::Long(value) => value.to_string() == text,
        Field::ULong(value) => value.to_string() == text,
        Field::Float(value) => text.parse() == Ok(*value),
        Field::Double(value) => text.parse() == Ok(*value),
        // A list or a map of one shape. CSV has its JSON, which may lack members that are null here.
        Field::ListInternal(_) | Field::Group(_) => same_json(field, &serde_json::from_str(text).unwrap()),
        other => panic!("{other:?}"),
    }
}

fn same_json(field: &Field, json: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (field, json) {
        (Field::ListInternal(list), Json::Array(items)) => {
            list.len() == items.len() && list.elements().iter().zip(items).all(|(field, json)| same_json(field, json))
        }
        (Field::Group(row), Json::Object(map)) => {
            let has = |name: &str| row.get_column_iter().any(|(other, _)| other == name);
            map.keys().all(|name| has(name))
                && row.get_column_iter().all(|(name, field)| same_json(field, map.get(name).unwrap_or(&Json::Null)))
        }
        (Field::Null, json) => json.is_null(),
        (Field::Bool(value), json) => json == value,
        (Field::Long(value), json) => json == value,
        (Field::ULong(value), json) => json == value,
        (Field::Float(value), json) => json.to_string().parse() == Ok(*value),
        (Field::Str(value), json) => json == value,
        other => panic!("{other:?}"),
    }
}

/// Engines unnest lists; a shape that varies stays JSON.
#[test]
fn lists_of_one_shape_are_lists() {
    let out = Out::new();
    for (file, table, column, expected) in [
        ("assets.bin", "skeleton_nodes", "matrix", "List(Float32)"),
        ("assets.bin", "visuals", "min", "List(Float32)"),
        ("assets.bin", "render_sets", "nodes", "List(Struct(\"id\": Utf8, \"text\": Utf8))"),
        ("assets.bin", "skeleton_extenders", "matrices", "List(List(Float32))"),
        ("assets.bin", "effect_systems", "components", "Utf8"),
        ("assets.bin", "material_properties", "value", "Utf8"),
        ("space.bin", "instances", "transform", "List(Float32)"),
        ("ship.geometry", "vertices", "tangent", "List(Float32)"),
        ("ship.geometry", "vertices", "bones", "List(Int64)"),
        ("town.wdata", "waypoint_boxes", "links", "List(Int64)"),
        ("town.wdata", "triggers", "events", "List(Utf8)"),
        ("town.wdata", "scenes", "render_bg_user", "List(Struct(\"category\": Int64, \"key\": Utf8))"),
        ("savegame.vrb", "models", "parts", "Utf8"),
    ] {
        let to = format!("{file}-{table}.arrow");
        export(0, &[file, "-t", table, "--to", &out.text(&to), "--force"]);
        let schema = FileReader::try_new(File::open(out.path(&to)).unwrap(), None).unwrap().schema();
        let kind = schema.field_with_name(column).unwrap().data_type().to_string();
        assert_eq!(kind, expected, "{file} {table}.{column}");
    }
}

/// All tables of real files, whose nested cells must fit the shape that their columns declare.
#[test]
fn nested_cells_of_real_files_have_the_shape_of_their_columns() {
    let Some(samples) = std::env::var_os("ASSETQ_SAMPLES") else {
        return eprintln!("skipped: ASSETQ_SAMPLES is not set");
    };
    let out = Out::new();
    let mut files = 0;
    for folder in ["geometry", "models_bin", "space_bin", "splash"] {
        for entry in fs::read_dir(Path::new(&samples).join(folder)).unwrap().take(6) {
            let file = entry.unwrap().path();
            export(0, &[file.to_str().unwrap(), "--all-tables", "--to", &out.text("all"), "--as", "arrow", "--force"]);
            files += 1;
        }
    }
    assert!(files > 6, "{files}");
}

#[test]
fn every_table_of_every_format_is_the_same_in_parquet_arrow_and_csv() {
    let out = Out::new();
    let files: Vec<PathBuf> = fs::read_dir(samples()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let (mut tables, mut cells) = (0, 0);
    // The pixels of a .trb are no file of their own.
    for file in files.iter().filter(|path| path.is_file() && path.extension().is_none_or(|ending| ending != "imgb")) {
        let file = file.file_name().unwrap().to_str().unwrap();
        for kind in ["csv", "parquet", "arrow", "arrows"] {
            export(0, &[file, "--all-tables", "--to", &out.text(&format!("{file}/{kind}")), "--as", kind]);
        }
        for name in files_below(&out.path(&format!("{file}/csv"))) {
            let table = name.strip_suffix(".csv").unwrap();
            let path = |kind: &str| out.path(&format!("{file}/{kind}/{table}.{kind}"));
            let (header, rows) = csv_of(&path("csv"));
            let reader = parquet(&path("parquet"));
            let mut count = 0;
            for (row, expected) in reader.get_row_iter(None).unwrap().zip(&rows) {
                let row = row.unwrap();
                let (names, fields): (Vec<&String>, Vec<&Field>) = row.get_column_iter().unzip();
                assert!(names.iter().copied().eq(&header), "{file} {table}: {names:?}");
                for (field, text) in fields.iter().zip(expected) {
                    assert!(same(field, text), "{file} {table} {count}: {field:?} {text:?}");
                    cells += 1;
                }
                count += 1;
            }
            assert_eq!(count, rows.len(), "{file} {table}");

            let open = |kind: &str| File::open(path(kind)).unwrap();
            let batches: Vec<RecordBatch> = ParquetRecordBatchReaderBuilder::try_new(open("parquet"))
                .unwrap()
                .build()
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let columns = |batch: &RecordBatch| batch.columns().to_vec();
            let from_parquet: Vec<_> = batches.iter().map(columns).collect();
            let from_file = FileReader::try_new(open("arrow"), None).unwrap();
            let from_stream = StreamReader::try_new(open("arrows"), None).unwrap();
            assert_eq!(from_file.schema(), from_stream.schema());
            // The samples' tables are small: one batch each, or none.
            assert_eq!(from_file.map(|batch| columns(&batch.unwrap())).collect::<Vec<_>>(), from_parquet);
            assert_eq!(from_stream.map(|batch| columns(&batch.unwrap())).collect::<Vec<_>>(), from_parquet);
            tables += 1;
        }
    }
    assert!(tables > 60 && cells > 10_000, "{tables} tables, {cells} cells");
}

#[test]
fn a_parquet_file_says_where_it_comes_from_and_what_is_in_its_columns() {
    let out = Out::new();
    export(0, &["assets.bin", "--table", "resources", "--to", &out.text("r.parquet")]);
    let reader = parquet(&out.path("r.parquet"));
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().unwrap();
    let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.as_deref().unwrap();
    assert_eq!(value("assetq.file"), "assets.bin");
    assert_eq!((value("assetq.format"), value("assetq.format_version")), ("bwdb", "1.1"));
    assert_eq!((value("assetq.table"), value("assetq.version")), ("resources", env!("CARGO_PKG_VERSION")));
    assert_eq!(metadata.created_by(), Some(concat!("assetq version ", env!("CARGO_PKG_VERSION"))));
    let group = reader.metadata().row_group(0);
    for column in group.columns() {
        assert_eq!(column.compression().to_string(), "ZSTD(ZstdLevel(1))");
        assert!(column.dictionary_page_offset().is_some(), "{}", column.column_path());
        assert!(column.statistics().unwrap().min_bytes_opt().is_some(), "{}", column.column_path());
    }
}

#[test]
fn a_glb_names_the_version_of_the_command() {
    let out = Out::new();
    for file in ["ship.geometry", "town.wdata"] {
        export(0, &[file, "--to", &out.text("a.glb"), "--force"]);
        let glb = gltf::Gltf::open(out.path("a.glb")).unwrap().document.into_json();
        let generator = concat!("assetq ", env!("CARGO_PKG_VERSION"));
        assert_eq!(glb.asset.generator.as_deref(), Some(generator), "{file}");
    }
}

#[test]
fn groups_are_bounded_and_numbers_keep_their_64_bits() {
    let columns =
        [Column::new("wide", Kind::Uint).wide(), Column::new("count", Kind::Uint), Column::new("place", Kind::F32)];
    let mut file = tempfile::tempfile().unwrap();
    written::write(&mut file, &columns, &[], |mut rows| {
        for row in 0..130_000u64 {
            let place = if row == 2 { f32::NAN } else { row as f32 };
            rows.row(&[Value::Uint(u64::MAX - row), Value::Uint(row), Value::F32(place)])?;
        }
        let error = rows.row(&[Value::Uint(1), Value::Uint(1 << 63), Value::Null]).unwrap_err();
        assert_eq!(error.to_string(), "count: 9223372036854775808 does not fit into the type of the column");
        let error = rows.row(&[Value::Uint(1), Value::text("one"), Value::Null]).unwrap_err();
        assert_eq!(error.to_string(), "count: one does not fit into the type of the column");
        rows.finish()
    })
    .unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [122_880, 130_000 - 122_880]);
    for (row, read) in (0u64..).zip(reader.get_row_iter(None).unwrap()) {
        let place = if row == 2 { Field::Null } else { Field::Float(row as f32) };
        let fields: Vec<Field> = read.unwrap().into_columns().into_iter().map(|(_, field)| field).collect();
        assert_eq!(fields, [Field::ULong(u64::MAX - row), Field::Long(row as i64), place]);
    }
}

#[test]
fn an_output_that_fails_is_the_error_and_rows_that_fail_are() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no room"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let columns = [Column::new("count", Kind::Uint)];
    let many = |mut rows: written::ParquetRows| {
        (0..1_000_000u64).try_for_each(|row| rows.row(&[Value::Uint(row)]))?;
        rows.finish()
    };
    let error = written::write(Full, &columns, &[], many).unwrap_err();
    assert_eq!(error.to_string(), "cannot write: no room");
    let error = written::write(Vec::new(), &columns, &[], |mut rows| rows.row(&[Value::text("one")])).unwrap_err();
    assert_eq!(error.to_string(), "count: one does not fit into the type of the column");
}

#[test]
fn columns_come_as_they_are_named_and_rows_as_the_condition_says() {
    let out = Out::new();
    let to = out.text("some.csv");
    export(0, &["assets.bin", "--to", &to, "--columns", "path,id", "--where", "path ~ '*.visual'", "--limit", "3"]);
    let (header, rows) = csv_of(&out.path("some.csv"));
    assert_eq!(header, ["path", "id"]);
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row[0].ends_with(".visual") && row[1].starts_with("0x")), "{rows:?}");

    let one = format!("id = {}", rows[1][1]);
    export(0, &["assets.bin", "--to", &to, "--where", &one, "--columns", "path", "--force"]);
    assert_eq!(csv_of(&out.path("some.csv")).1, [[rows[1][0].clone()]]);

    let said = export(2, &["assets.bin", "--to", &out.text("x.csv"), "--columns", "path,size"]);
    assert_eq!(said, "assetq: assets.bin: paths has no column \"size\"; it has id, parent_id, name, path\n");
    export(2, &["assets.bin", "--to", &out.text("x.csv"), "--columns", "path,path"]);
    export(2, &["assets.bin", "--to", &out.text("x.csv"), "--where", "size > 1"]);
    let said = export(1, &["assets.bin", "--to", &out.text("x.csv"), "--where", "name = 'nothing'"]);
    assert_eq!(said, "assetq: assets.bin: nothing in paths matches \"name = 'nothing'\"; nothing is written\n");
    assert_eq!(out.files(), set(["some.csv"]));
}

#[test]
fn tables_go_into_a_folder_and_builds_into_one_data_set() {
    let out = Out::new();
    export(0, &["assets.bin", "-t", "paths,visuals", "--to", &out.text("two"), "--as", "ndjson"]);
    export(0, &["assets.bin", "-t", "paths", "--to", &out.text("one/"), "--as", "json"]);
    export(0, &["models.bin", "space.bin", "--to", &out.text("set"), "--as", "csv"]);
    let build = ["--partition", "build=15/2", "--partition", "day=x"];
    export(0, &[&["assets.bin", "--to", &out.text("days"), "--as", "parquet"], &build[..]].concat());
    let expected = set([
        "two/paths.ndjson",
        "two/visuals.ndjson",
        "one/paths.json",
        "set/models/models.csv",
        "set/instances/space.csv",
        "days/paths/build=15%2F2/day=x/assets.parquet",
    ]);
    assert_eq!(out.files(), expected);

    // Wrong usage is reported before anything is written.
    for wrong in [
        &["assets.bin", "--to", "OUT/days", "--partition", "build=1"][..],
        &["assets.bin", "--to", "OUT/days", "--as", "csv", "--partition", "path=1"],
        &["assets.bin", "--to", "OUT/days", "--as", "csv", "--partition", "build"],
        &["assets.bin", "./assets.bin", "--to", "OUT/same", "--as", "csv"],
        &["assets.bin", "--all-tables", "--to", "-", "--as", "csv"],
        &["ship.geometry", "town.wdata", "--to", "OUT/x.glb"],
    ] {
        let args: Vec<String> = wrong.iter().map(|arg| arg.replace("OUT", out.0.path().to_str().unwrap())).collect();
        export(2, &args.iter().map(String::as_str).collect::<Vec<_>>());
    }
    export(4, &["assets.bin", "--all-tables", "--to", &out.text("two"), "--as", "ndjson"]);
    assert_eq!(out.files(), expected);
}

#[test]
fn the_name_of_a_table_does_not_lead_out_of_the_folder() {
    let out = Out::new();
    let sheet = sheets::generated(1, sheets::Game::Later, 3, 2).build();
    fs::write(out.path("evil.bin"), sheets::pack(&[("../../evil", "wdb", sheet)])).unwrap();
    export(0, &[&out.text("evil.bin"), "--all-tables", "--to", &out.text("in/here"), "--as", "csv"]);
    let files = out.files();
    assert!(files.contains("in/here/%2E.%2F..%2Fevil.csv"), "{files:?}");
    assert!(files.iter().all(|file| file == "evil.bin" || file.starts_with("in/here/")), "{files:?}");
}

#[test]
fn standard_output_takes_any_format() {
    let run = |args: &[&str]| assetq(samples(), args).stdout;
    let csv = run(&["export", "assets.bin", "--to", "-", "--as", "csv"]);
    assert_eq!(csv, run(&["ls", "assets.bin", "-f", "csv"]));
    let stream = run(&["export", "assets.bin", "--to", "-", "--as", "arrows"]);
    let rows: usize = StreamReader::try_new(&*stream, None).unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, csv.split(|&b| b == b'\n').count() - 2);
    export(2, &["assets.bin", "--to", "-"]);
}

/// A database in which the name of one visual is not UTF-8. Gives the number of its row.
fn damaged(out: &Out) -> usize {
    let listed = assetq(samples(), &["ls", "assets.bin", "-f", "csv"]).stdout;
    let mut rows = csv::Reader::from_reader(&*listed);
    let names = rows.records().map(|row| row.unwrap()[2].to_owned());
    let (row, name) = names.enumerate().find(|(_, name)| name.ends_with(".visual")).unwrap();
    let mut bytes = fs::read(samples().join("assets.bin")).unwrap();
    let places: Vec<usize> = memchr::memmem::find_iter(&bytes, format!("{name}\0").as_bytes()).collect();
    assert_eq!(places.len(), 1);
    bytes[places[0]] = 0xFF;
    fs::write(out.path("bad.bin"), bytes).unwrap();
    row
}

#[test]
fn a_damaged_row_is_an_error_that_names_it_or_is_left_out_and_counted() {
    let out = Out::new();
    let row = damaged(&out);
    let bad = out.text("bad.bin");
    for (kind, to) in ["csv", "json", "ndjson", "parquet", "arrow"].map(|kind| (kind, out.text(&format!("x.{kind}")))) {
        let said = export(3, &[&bad, "--to", &to]);
        let expected =
            format!("assetq: {bad}: paths row {row}: path name: not valid UTF-8 after 0 units (at offset 0x");
        assert!(said.starts_with(&expected) && said.lines().count() == 1, "{kind}: {said}");
    }
    export(3, &[&bad, "--to", &out.text("x.csv"), "--where", "path ~ '*.mfm'"]);
    assert_eq!(out.files(), set(["bad.bin"]));

    let said = export(3, &[&bad, "--to", &out.text("x.csv"), "--skip-damaged"]);
    assert!(said.starts_with(&format!("assetq: {bad}: paths row {row}: path name: not valid UTF-8")), "{said}");
    assert!(said.ends_with(&format!("assetq: {bad}: 1 damaged row of paths is left out\n")), "{said}");
    let whole = assetq(samples(), &["ls", "assets.bin", "-f", "csv"]).stdout;
    let mut expected: Vec<&[u8]> = whole.split_inclusive(|&b| b == b'\n').collect();
    expected.remove(row + 1);
    assert_eq!(fs::read(out.path("x.csv")).unwrap(), expected.concat());
    // A row is as good as the cells that are asked for.
    export(0, &[&bad, "--to", &out.text("ids.csv"), "--columns", "id,parent_id"]);
}

#[test]
fn what_is_wrong_with_one_table_does_not_keep_the_others_from_being_written() {
    let out = Out::new();
    damaged(&out);
    fs::write(out.path("noise.bin"), "no format at all").unwrap();
    let good = samples().join("assets.bin");
    let files = [out.text("noise.bin"), out.text("bad.bin"), good.to_str().unwrap().to_owned()];
    let files = files.each_ref().map(String::as_str);
    let said = export(3, &[&files[..], &["--to", &out.text("set"), "--as", "parquet"]].concat());
    assert!(said.contains("not a format that assetq knows") && said.contains("paths row "), "{said}");
    assert_eq!(out.files(), set(["bad.bin", "noise.bin", "set/paths/assets.parquet"]));
}
