//! The library as C sees it: a program in C, built with the machine's compiler, and the header.
#![allow(clippy::arithmetic_side_effects, clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array as _, StringArray};
use assetq::edit::AssetEdit as _;
use assetq::{Asset, Source};
use assetq_sample::{self as sample, Size};
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../../tests/common/damage.rs"]
mod damage;

/// The folder that the library was built into: that of this test.
fn built() -> PathBuf {
    std::env::current_exe().expect("a test has a file").parent().expect("it is in a folder").to_owned()
}

/// A program of this folder, built with a C compiler of its machine. `None` without a compiler that can link the library.
fn built_program(source: &str, links: &[&str]) -> Option<PathBuf> {
    let name = if cfg!(windows) { "gcc" } else { "cc" };
    if cfg!(target_env = "msvc") || Command::new(name).arg("--version").output().is_err() {
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = folder.join("tests").join(source);
    let stem = source.file_stem().expect("it has a name");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem).with_extension(std::env::consts::EXE_EXTENSION);
    let mut compiler = Command::new(name);
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"]).arg(folder.join("include"));
    compiler.arg(&source).arg("-o").arg(&program).arg("-L").arg(built()).args(links);
    if cfg!(unix) {
        compiler.arg(format!("-Wl,-rpath,{}", built().display()));
    }
    let done = compiler.output().expect("the compiler runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(program)
}

/// The program `use.c`, built once.
fn program() -> Option<PathBuf> {
    static BUILT: std::sync::OnceLock<Option<PathBuf>> = std::sync::OnceLock::new();
    // A compiler of Linux cannot be started under Wine: `.ci/windows` builds the program before.
    let build = || match std::env::var_os("ASSETQ_C_PROGRAM") {
        Some(program) => Some(program.into()),
        None => built_program("use.c", &["-lassetq_c"]),
    };
    BUILT.get_or_init(build).clone()
}

/// The output of the program with these arguments. `None` if it cannot be built.
fn run(arguments: &[&Path]) -> Option<String> {
    let Some(program) = program() else {
        eprintln!("skipped: there is no C compiler that links this library");
        return None;
    };
    let mut command = Command::new(&program);
    if cfg!(windows) {
        // Windows looks for libraries beside the program and on the path.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(built()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("a path"));
    }
    let done = command.args(arguments).output().expect("the program runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // Text of Windows has two characters at the end of a line.
    Some(String::from_utf8(done.stdout).expect("it writes text").replace("\r\n", "\n"))
}

#[test]
fn a_program_in_c_reads_what_the_library_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("assets.bin");
    let bytes = sample::bwdb::demo(1, Size::Small);
    std::fs::write(&path, &bytes).expect("a file");
    let Some(said) = run(&[&path]) else { return };

    let asset = Asset::open(Source::from_vec("assets.bin", bytes)).expect("it opens");
    let tables = asset.reader().tables();
    let mut expected = vec![format!("format bwdb, {} tables, the first is {}", tables.len(), tables[0].name())];
    for table in &tables {
        expected.push(format!(
            "table {}: {} rows, {} columns",
            table.name(),
            table.len().unwrap(),
            table.columns().len()
        ));
    }
    let db: &assetq::formats::wows::bwdb::Database = asset.get().expect("it is a database");
    let big = db.resources().filter(|r| r.bytes().is_ok_and(|b| b.is_some_and(|b| b.len() > 100))).count();
    expected.push(format!("resources of more than 100 bytes: {big}, 2 columns"));
    let valid = db.resources().filter(|r| r.state() == assetq::formats::wows::bwdb::State::Valid).count();
    expected.push(format!(
        "of {} ids {} are there, {valid} of them valid",
        db.resource_count() + 1,
        db.resource_count()
    ));
    for line in &expected {
        assert!(said.lines().any(|said| said == line), "{line:?} is not in\n{said}");
    }
    assert!(said.contains("cat content: {\"id\":\"0xA33046442D8327FC\",\"path\":\"content\""), "{said}");
    assert!(said.contains("lookup_path: 1, with the id of its path"), "{said}");
}

#[test]
fn errors_say_what_and_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new.bin");
    let mut bytes = sample::bwdb::demo(1, Size::Small);
    bytes[7] = 9;
    std::fs::write(&path, bytes).expect("a file");
    let Some(said) = run(&[&path]) else { return };
    assert!(said.starts_with("bad_version at 0x"), "{said}");
    let Some(said) = run(&[&folder.path().join("nothing")]) else { return };
    assert!(said.starts_with("io without an offset: "), "{said}");
}

#[test]
fn the_header_is_that_of_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let made = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/lib.rs"))
        .generate()
        .expect("a header can be made");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("text");
    let header = folder.join("include/assetq.h");
    if std::env::var_os("ASSETQ_BLESS").is_some() {
        std::fs::write(&header, &text).expect("it can be written");
    }
    let found = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(found == text, "{} differs; with ASSETQ_BLESS=1 this test writes it:\n{text}", header.display());
}

/// How many rows of a table have a greater number than `least` in this column.
fn count_above(asset: &Asset, table: &str, column: &str, least: f64) -> usize {
    let table = asset.reader().table(table).expect("it has the table");
    let column = table.columns().iter().position(|c| c.name == column).expect("it has the column");
    let rows = 0..table.len().expect("it is sound");
    let number = |row| match table.value(row, column).expect("it is sound") {
        assetq::table::Value::F64(number) => Some(number),
        _ => None,
    };
    rows.filter(|row| number(*row).is_some_and(|number| number > least)).count()
}

#[test]
fn plates_of_a_ship_in_a_game_have_millimetres() {
    let folder = tempfile::tempdir().expect("a folder");
    let game = folder.path().join("wows");
    sample::wows::game(1, Size::Small, |path: &str, bytes: &[u8]| put_below(&game, path, bytes)).expect("a game");
    for (inner, table) in [
        ("content/GameParams.data".to_owned(), "armor"),
        (sample::gameparams::HULL.replace(".model", ".geometry"), "armor_plates"),
    ] {
        let address = format!("{}:{inner}", game.display());
        let asset = Asset::open_at(&address, &assetq::Options::default()).expect("it opens");
        let expected = count_above(&asset, table, "thickness", 400.0);
        assert!(expected > 3, "{table}: {expected}");
        let arguments = [address.as_str(), table, "thickness", "thickness > 400"].map(Path::new);
        let Some(said) = run(&arguments) else { return };
        assert_eq!(said, format!("{table}: {expected} rows, 1 columns\n"));
    }
}

/// The libraries of the system that a program with the static library needs on Linux: `rustc --print native-static-libs`, and the
/// one of the mesh codec.
const STATIC: [&str; 7] = ["-l:libassetq_c.a", "-lstdc++", "-lgcc_s", "-lpthread", "-ldl", "-lm", "-lc"];

/// Formats are in a list that is filled before `main`, by code that no other code calls: a linker may leave it out.
#[test]
fn a_program_with_the_static_library_opens_every_format() {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || !built().join("libassetq_c.a").exists() {
        eprintln!("skipped: the libraries of the system that it needs are listed for Linux");
        return;
    }
    let Some(program) = built_program("formats.c", &STATIC) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, mut expected) = (Vec::new(), Vec::new());
    for (name, format, make) in sample::FILES {
        let path = folder.path().join(name);
        std::fs::write(&path, make(1, Size::Small)).expect("a file");
        files.push(path);
        expected.push(format.name());
    }
    for (name, format, make) in sample::FOLDERS {
        let game = folder.path().join(name);
        let mut put = |path: &str, bytes: &[u8]| {
            put_below(&game, path, bytes).expect("a file");
            Ok(())
        };
        make(1, Size::Small, &mut put).expect("a game");
        files.push(game.clone());
        expected.push(format.name());
    }
    let done = Command::new(program).args(&files).output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&done.stdout).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_short_program_answers_a_question() {
    let source =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/question.c")).expect("it is there");
    assert!(source.lines().count() <= 35, "it is no short program any more");
    let Some(program) = built_program("question.c", &["-lassetq_c"]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let pack = folder.path().join("pack.bin");
    std::fs::write(&pack, sample::wdb::demo_pack(1, Size::Small)).expect("a file");
    let mut archives = vec![pack];
    for (name, _, make) in sample::FOLDERS {
        let game = folder.path().join(name);
        let mut put = |path: &str, bytes: &[u8]| {
            put_below(&game, path, bytes).expect("a file");
            Ok(())
        };
        make(1, Size::Small, &mut put).expect("a game");
        archives.push(game);
    }
    for archive in archives {
        let asset = Asset::open(&archive).expect("it opens");
        let sizes = asset.archive().expect("it is an archive").files().map(|file| file.expect("it is sound").size);
        let sizes: Vec<u64> = sizes.collect();
        let done = Command::new(&program).arg(&archive).output().expect("the program runs");
        let expected = format!("{} files, {} bytes\n", sizes.len(), sizes.iter().sum::<u64>());
        assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Writes a file below `folder`, as the builders of games want it.
fn put_below(folder: &Path, path: &str, bytes: &[u8]) -> std::io::Result<()> {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("it is in a folder"))?;
    std::fs::write(path, bytes)
}

#[test]
fn the_header_compiles_as_c99_and_as_cpp() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/assetq.h");
    let strict = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic-errors"];
    for (compiler, language) in [("cc", ["-std=c99", "-xc"]), ("c++", ["-std=c++11", "-xc++"])] {
        let done = Command::new(compiler).args(strict).args(language).arg(&header).output();
        let Ok(done) = done else {
            eprintln!("skipped: there is no {compiler}");
            continue;
        };
        assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

/// A file of the C library.
fn opened(path: &Path) -> *mut assetq_c::File {
    let address = std::ffi::CString::new(path.to_str().expect("text")).expect("no NUL");
    // SAFETY: the address is a text, and no error is asked for.
    let file = unsafe { assetq_c::assetq_open(address.as_ptr(), std::ptr::null_mut()) };
    assert!(!file.is_null());
    file
}

/// The result of `ask`, and the cells of its first text column.
fn answered(ask: impl FnOnce(*mut FFI_ArrowArrayStream) -> i32) -> (i32, Vec<String>) {
    let mut stream = FFI_ArrowArrayStream::empty();
    let code = ask(&raw mut stream);
    let batches = ArrowArrayStreamReader::try_new(stream).expect("a stream");
    let mut cells = Vec::new();
    for batch in batches {
        let batch = batch.expect("it is sound");
        let column = batch.column(0).as_any().downcast_ref::<StringArray>().expect("texts");
        cells.extend(column.iter().map(|cell| cell.expect("no null").to_owned()));
    }
    (code, cells)
}

#[test]
fn sql_checks_and_differences_are_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let [old, new] = ["old.wdb", "new.wdb"].map(|name| folder.path().join(name));
    std::fs::write(&old, sample::wdb::demo(1, Size::Small)).expect("a file");
    let asset = Asset::open(&old).expect("it opens");
    asset.edit().set("records", "r0000005", "u7Race", 3).expect("it fits").write(&new).expect("it is written");
    let (old, new) = (opened(&old), opened(&new));
    let none = std::ptr::null_mut();
    let query = c"SELECT record, u7Race FROM records ORDER BY record LIMIT 2";
    // SAFETY: files are open, texts are texts, and each stream has a place.
    unsafe {
        let rows = answered(|out| assetq_c::assetq_sql(old, query.as_ptr(), out, none));
        assert_eq!(rows, (0, vec!["r0000000".to_owned(), "r0000001".to_owned()]));
        assert_eq!(assetq_c::assetq_sql(old, c"SELECT".as_ptr(), &mut FFI_ArrowArrayStream::empty(), none), -1);
        let (code, checks) = answered(|out| assetq_c::assetq_verify(new, out, none));
        assert!(code == 0 && checks.len() > 1, "{checks:?}");
        assert_eq!(answered(|out| assetq_c::assetq_diff(old, new, out, none)), (1, vec!["records".to_owned()]));
        assert_eq!(answered(|out| assetq_c::assetq_diff(old, old, out, none)), (0, Vec::new()));
        assetq_c::assetq_close(old);
        assetq_c::assetq_close(new);
    }
}

/// The number of rows of a table as a stream has them, and the message of its error.
fn streamed(file: *mut assetq_c::File, table: &str) -> (usize, Option<String>) {
    let name = std::ffi::CString::new(table).expect("no NUL");
    let (none, mut stream) = (std::ptr::null_mut(), FFI_ArrowArrayStream::empty());
    // SAFETY: the file is open, the name is a text, no column is chosen, and the stream has a place.
    let code = unsafe {
        assetq_c::assetq_table(file, name.as_ptr(), std::ptr::null(), 0, std::ptr::null(), &raw mut stream, none)
    };
    assert_eq!(code, 0, "{table}");
    let mut rows = 0;
    for batch in ArrowArrayStreamReader::try_new(stream).expect("a stream") {
        match batch {
            Ok(batch) => rows += batch.num_rows(),
            Err(error) => return (rows, Some(error.to_string())),
        }
    }
    (rows, None)
}

/// Every sample, and a copy of it with a damaged row: a table has the rows that the library has, or its error.
#[test]
fn every_table_has_the_rows_or_the_error_of_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, make) in sample::BESIDE {
        std::fs::write(folder.path().join(name), make(1, Size::Small)).expect("a file");
    }
    let mut damaged = 0;
    for (name, _, make) in sample::FILES {
        let path = folder.path().join(name);
        let whole = make(1, Size::Small);
        let copy = damage::with_damaged_row(name, name, &whole);
        for bytes in std::iter::once(whole).chain(copy) {
            std::fs::write(&path, bytes).expect("a file");
            let asset = Asset::open(&path).expect("it opens");
            let file = opened(&path);
            for table in asset.reader().tables() {
                let cells = (0..table.columns().len()).collect::<Vec<_>>();
                let (mut rows, mut errors) = (0, Vec::new());
                let mut cursor = table.cursor(0);
                loop {
                    match cursor.advance() {
                        Ok(true) => rows += 1,
                        Ok(false) => break,
                        Err(error) => {
                            errors.push(error.to_string());
                            break;
                        }
                    }
                    errors.extend(cells.iter().filter_map(|cell| Some(cursor.value(*cell).err()?.to_string())));
                }
                match streamed(file, table.name()) {
                    (streamed, None) => assert_eq!((streamed, &errors), (rows, &Vec::new()), "{name} {}", table.name()),
                    (_, Some(said)) => {
                        let is_known = errors.iter().any(|error| said.contains(&**error));
                        assert!(is_known, "{name} {}: {said}: {errors:?}", table.name());
                        damaged += 1;
                    }
                }
            }
            // SAFETY: the file is open, and is not used any more.
            unsafe { assetq_c::assetq_close(file) };
        }
    }
    assert!(damaged > 5, "{damaged} tables are damaged");
}
