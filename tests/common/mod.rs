//! Tools that several test files need.
#![allow(dead_code)]

pub mod damage;
pub mod made;
pub mod maps;
pub mod tree;

use assetq::formats::ErrorKind;
use assetq::table::{Tree, Value, validate};
use assetq::{Asset, Error, Source};
use assetq_sample::geometry::{GeometryBuilder, Mapping, Vertex, pack_vertices};
use std::path::{Path, PathBuf};

/// The folder of real files. Without one, prints that the test is skipped.
pub fn samples() -> Option<PathBuf> {
    let dir = std::env::var_os("ASSETQ_SAMPLES").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("skipped: ASSETQ_SAMPLES is not set");
    }
    dir
}

/// The files in a folder of real files.
pub fn files_in(folder: &str) -> Vec<PathBuf> {
    let Some(dir) = samples() else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Opens bytes as whatever they are, and reads everything in them: see [`errors_of`]. Gives the number of errors met; that
/// nothing panics or hangs is what callers want to see.
pub fn read_everything(name: &str, bytes: Vec<u8>) -> usize {
    Asset::open(Source::from_vec(name, bytes)).map_or(1, |asset| errors_of(&asset).len())
}

/// Rows of a table that are read: hostile counts may promise any number.
const ROWS: usize = 200;

/// Reads everything of an open file: its headers, cells, entries, files and checks. Returns the errors met, without those of
/// files that lie in a missing one.
pub fn errors_of(asset: &Asset) -> Vec<Error> {
    let reader = asset.reader();
    let mut errors = Vec::new();
    reader.version();
    reader.sections();
    reader.facts();
    reader.warnings();
    let tables = reader.tables();
    let mut contradictions = validate(&tables);
    // Names of tables that the file states can be damaged.
    contradictions.retain(|fault| !fault.ends_with("has no name of its own"));
    assert_eq!(contradictions, [""; 0]);
    for table in tables {
        let mut cursor = table.cursor(0);
        for _ in 0..ROWS {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    errors.push(error);
                    break;
                }
            }
            for column in 0..table.columns().len() {
                match cursor.value(column) {
                    Ok(value) if column == table.label() => {
                        // A label may name two entries, which is no damage.
                        let shown = reader.cat(&value.to_string(), &mut Tree::default());
                        errors.extend(shown.err().filter(|e| !matches!(e.kind(), ErrorKind::Syntax { .. })));
                    }
                    Ok(_) => {}
                    Err(error) => errors.push(error),
                }
            }
        }
        assert!(table.value(usize::MAX, 0).is_err());
    }
    if let Some(archive) = reader.archive() {
        for n in 0..archive.len().unwrap_or(1).min(1000) {
            match archive.file(n) {
                Ok(file) => {
                    let found = archive.find(&file.path);
                    // A damaged path is not the path whose hash the id is.
                    assert!(file.id.is_some() || found.unwrap().is_some(), "{} is not found", file.path);
                    errors.extend(assetq::query::archive::open(archive, &file, "GAME").err());
                }
                Err(error) => errors.push(error),
            }
        }
        errors.extend(archive.damage());
        assert!(archive.file(usize::MAX).is_err());
        let _ = archive.volumes();
    }
    let report = reader.verify(&Default::default());
    errors.extend(report.checks.iter().flat_map(|check| check.findings()).cloned());
    errors.retain(|error| !matches!(error.kind(), ErrorKind::NotInstalled { .. }));
    errors
}

/// A file with something wrong: bytes of chance, a number as large as can be or close to it, a part that is gone or
/// stands twice.
pub fn damaged(rng: &mut fastrand::Rng, whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..rng.usize(1..5) {
        let at = rng.usize(..bytes.len().saturating_sub(8).max(1));
        // Counts and pointers stand in front more often than not.
        let at = if rng.bool() { at % 256.min(bytes.len()) } else { at };
        let number = *rng.choice(&[u64::MAX, 1 << 63, 1 << 31, 0x7FFF_FFFF, 0x00FF_FFFF, 0xFFFF, 0, 1]).unwrap();
        let width = *rng.choice(&[1, 2, 4, 8]).unwrap();
        match rng.u8(..8) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.extend_from_within(at..),
            2 => bytes[at] = rng.u8(..),
            3 => bytes[at] ^= 1 << rng.u8(..8),
            4 => number.to_be_bytes()[8 - width..].iter().zip(&mut bytes[at..]).for_each(|(new, old)| *old = *new),
            _ => number.to_le_bytes()[..width].iter().zip(&mut bytes[at..]).for_each(|(new, old)| *old = *new),
        }
    }
    bytes
}

/// The first two models of the sample's `models.bin`, as cubes.
pub fn cubes() -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let corners = (0..8).map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -8.0 } else { 8.0 }));
    let vertices: Vec<Vertex> =
        corners.map(|position| Vertex { position, normal: [0.0, 1.0, 0.0], ..Vertex::default() }).collect();
    let faces =
        [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];
    let format = "set3/xyznuvtbpc";
    for model in 0..2u16 {
        builder.vertex_buffer(format, 28, &pack_vertices(format, 28, &vertices), true);
        builder.index_buffer(2, &faces, true);
        for set in 0..4 {
            let mapping = |what: &str, count: usize| Mapping {
                id: mur3::murmurhash3_x86_32(format!("rock_{model}_{set}.{what}").as_bytes(), 0),
                buffer: model,
                density: model * 8 + set,
                start: 0,
                count: count as u32,
            };
            builder.vertex_mapping(mapping("vertices", vertices.len()));
            // Three triangles of the cube each.
            let part = mapping("indices", faces.len() / 4);
            builder.index_mapping(Mapping { start: u32::from(set) * part.count, ..part });
        }
    }
    builder.build()
}

/// A text as `>` of Windows PowerShell 5 writes it: UTF-16 with a byte order mark.
pub fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Writes files under `dir`, in folders that are made for them.
pub fn writer(dir: &Path) -> impl FnMut(&str, Vec<u8>) {
    move |path, bytes| {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// The command: the one that is built with the tests, or the program that `ASSETQ_RUNNER` names in its place.
#[cfg(feature = "cli")]
pub fn program() -> &'static str {
    static PROGRAM: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        std::env::var("ASSETQ_RUNNER").unwrap_or_else(|_| env!("CARGO_BIN_EXE_assetq").to_owned())
    });
    &PROGRAM
}

/// Runs the command in `dir`, asserts its exit code, and returns standard output and standard error.
#[cfg(feature = "cli")]
pub fn run(dir: &Path, code: i32, args: &[&str]) -> (String, String) {
    let mut command = std::process::Command::new(program());
    let command = command.current_dir(dir).args(args).env_remove("ASSETQ_DB").env_remove("COLUMNS");
    let out = command.stdin(std::process::Stdio::null()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    assert_eq!(out.status.code(), Some(code), "assetq {args:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

/// As [`run`], for a command that succeeds and writes one document of JSON.
#[cfg(feature = "cli")]
pub fn json(dir: &Path, args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&run(dir, 0, args).0).unwrap()
}

/// A folder with the files and folders of `assetq sample`.
#[cfg(feature = "cli")]
pub fn sample_folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), 0, &["sample", ".", "--seed", "1"]);
    dir
}

/// The value of a field in a map.
pub fn field<'v>(value: &'v Value<'_>, name: &str) -> &'v Value<'v> {
    match value {
        Value::Map(fields) => fields.iter().find(|(n, _)| n == name).map(|(_, v)| v).unwrap_or(&Value::Null),
        _ => &Value::Null,
    }
}
