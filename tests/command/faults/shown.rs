//! Outputs are inputs of others: what names and texts of files may do to a terminal, a browser, a shell and a folder, which
//! is nothing.

use super::{Ended, end, names, skipped};
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::geometry::{GeometryBuilder, HullShape, Mapping, PlateShape, pack_vertices, splash, surface};
use assetq_sample::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin, flags, member};
use assetq_sample::wdb::{self, Cell, Game};
use assetq_sample::wows::{How, Package};
use assetq_sample::{rusty_hearts, se2, wdata, white};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A title for the terminal's window, a colour, a line break, an override of direction and a mark that is not seen.
const HOSTILE: &str = "\x1b]0;x\x07\u{9b}31m\n\r\u{202e}e\u{200b}";

/// Whether a terminal may take a character for a command, or it makes other text look different.
fn is_unfit(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn write(dir: &Path, path: &str, bytes: &[u8]) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn sheet(text: &str) -> Vec<u8> {
    let sheet = wdb::Sheet::new(Game::Later, "Hostile").fields(["sName", "f\x1b]0;\x07\n", "s4Kind"]);
    sheet.record("r\x1b[1m\n", [Cell::from(text), 1.5.into(), Cell::from(text)]).build()
}

fn ship(text: &str) -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let (vertices, indices) = surface(2, 3, 20.0, 1);
    let format = "set3/xyznuvtbpc";
    builder.vertex_buffer(format, 28, &pack_vertices(format, 28, &vertices), false);
    builder.index_buffer(2, &indices, false);
    let mapping = |count: usize| Mapping { id: 1, buffer: 0, density: 0, start: 0, count: count as u32 };
    builder.vertex_mapping(mapping(vertices.len()));
    builder.index_mapping(mapping(indices.len()));
    let triangles = vec![[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]];
    builder.armor(text, vec![PlateShape { material: 1, layer: 1, triangles }]);
    builder.collision(text, vec![HullShape::cuboid([-1.0; 3], [1.0; 3])]);
    builder.build()
}

fn saved(text: &str) -> Vec<u8> {
    let mut types = TypesBuilder::new();
    let root = types.next_model();
    let ty = types.named(0, 0, &format!("Any:Any.{text}"));
    types.composite(ty, flags::CLASS, 0, &[member(text, builtin::STRING)]);
    let mut data = ValuesBuilder::new();
    data.present().string(text);
    let data = data.into_bytes();
    let mut builder = ArchiveBuilder::new(&types, root, Codec::Zlib, data.clone());
    builder.bundles.push((text.to_owned(), [1, 2, 3, 4]));
    builder.chunk(text, root, Codec::None, data).build()
}

fn database(text: &str) -> Vec<u8> {
    let mut builder = DatabaseBuilder::with_capacities(16, 16);
    let id = builder.path(&format!("root/{text}/leaf{text}"));
    builder.resource(id, 0, 0, 3);
    builder.string(text);
    builder.raw_path(4, 99, text);
    builder.build()
}

/// Files and folders of all formats whose names and texts are all `text`, each below `dir`.
fn hostile(dir: &Path, text: &str) -> Vec<String> {
    let name = |ending: &str| format!("a\x1b[31m\u{202e}{ending}");
    let mut made = Vec::new();
    let boxes = [(text, [-1.0f32; 3], [1.0f32; 3])];
    let pack = wdb::pack(&[("p\x1b]0;\x07\n", "wdb", sheet(text)), ("q\x1b[1m", "x\x1b[2m", vec![1])]);
    let map = wdata::write(&wdata::Spec { wild: true, seed: text.len() as u64, ..wdata::Spec::new(22, 9) }).bytes;
    for (ending, bytes) in [
        (".wdb", sheet(text)),
        ("_pack.bin", pack),
        (".geometry", ship(text)),
        (".splash", splash(&boxes)),
        (".vrb", saved(text)),
        ("_assets.bin", database(text)),
        (".wdata", map),
    ] {
        write(dir, &name(ending), &bytes);
        made.push(name(ending));
    }
    let mut package = Package::new(assetq::formats::wows::game_folder::Variant::V2, &format!("v{text}.pkg"));
    package.file(&format!("c/{text}/{text}.xml"), b"<x/>", How::Stored).file(
        "c/plain.xml",
        text.as_bytes(),
        How::Deflated,
    );
    write(dir, "wows/any.idx", &package.index());
    let mut image = white::Image::default();
    let path = format!("c/{}.bin", text.replace(':', ";"));
    let listed = white::Listed { code: 0x0100_0000, kind: 0, text: image.add(&path, text.as_bytes(), true) };
    let list = white::list(white::layout_of(assetq::formats::ff13::white::GameKind::First), &[listed], 4096);
    write(dir, "ff13/white_data/sys/filelistu.win32.bin", &list);
    write(dir, "ff13/white_data/sys/white_imgu.win32.bin", &image.into_bytes());
    let mut records = rusty_hearts::ListRecords::new();
    records.record(&format!("c\\{text}.dds"), 0, text.len() as i32, rusty_hearts::hash(text.as_bytes()), 0);
    let key = [7; 256];
    write(dir, "rusty/f00X.dat", &rusty_hearts::pack(records.bytes(), &key));
    write(dir, "rusty/000.pck", text.as_bytes());
    write(dir, "key", &key);
    let file = format!("Blocks/{text}.def");
    let def = se2::Def { guid: se2::guid(1), ty: se2::BLOCK, file: file.clone(), parent: None };
    let content = dir.join("se2").join(se2::CONTENT);
    write(&content, "definitionsets.vrb", &se2::definition_sets(&[def]));
    write(&content, &file, se2::def(se2::guid(1), se2::BLOCK).as_bytes());
    made.extend(["wows", "ff13", "rusty", "se2"].map(str::to_owned));
    made
}

fn run(dir: &Path, args: &[String]) -> Ended {
    let mut command = Command::new(crate::common::program());
    command.current_dir(dir).args(args).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", dir.join("cache"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end(command.spawn().unwrap(), &format!("{args:?}"))
}

/// The lines of a command, with FILE for a file, OTHER for another build of it, OUT for a new name, and TEXT for a hostile text.
const SHOWN: &[&str] = &[
    "info FILE",
    "ls FILE",
    "ls FILE --long",
    "ls FILE --tree",
    "ls FILE -t no-such-table",
    "cat FILE TEXT",
    "cat FILE r\x1b[1m\n",
    "cat FILE [Main]",
    "cat FILE c/plain.xml",
    "verify FILE",
    "find e FILE",
    "find -e . FILE --count",
    "find e FILE --full-path",
    "refs 0x1 FILE",
    "refs 0x0000000000000004 FILE --tree",
    "refs --dangling FILE",
    "resolve TEXT 0x0000000000000004 --db FILE",
    "string TEXT 0x00000001 --db FILE",
    "diff FILE OTHER",
    "diff FILE OTHER --stat",
    "diff FILE OTHER -f markdown",
    "diff FILE OTHER -f html",
    "history TEXT FILE OTHER",
    "history r\x1b[1m\n FILE OTHER",
    "textconv FILE",
    "sql SELECT+1+AS+\"TEXT\" FILE",
    "sql SELECT+TEXT FILE",
    "export FILE --to OUT.csv",
    "export FILE --to OUT.parquet --table TEXT",
    "export FILE --to OUT.svg --as svg",
    "patch FILE rows.ndjson --to OUT",
    "patch FILE rows.ndjson --dry-run",
    "extract FILE --to OUT",
    "extract FILE TEXT --to OUT",
    "snapshot FILE --to OUT",
    "info sheet.wdb --names FILE",
    "info FILE --fields rows.ndjson",
    "paths-inside FILE:c/",
    "info FILE:TEXT",
    "TEXT FILE",
];

#[test]
fn nothing_of_a_file_is_a_command_for_a_terminal() {
    let (dir, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let files = hostile(dir.path(), HOSTILE);
    hostile(other.path(), &format!("{HOSTILE}more"));
    write(dir.path(), "sheet.wdb", &sheet("plain"));
    let row = serde_json::json!({"table": "records", "change": "changed", "key": "r\x1b[1m\n",
        "old": {"sName": HOSTILE}, "new": {"sName": format!("{HOSTILE}{HOSTILE}")}});
    let none = serde_json::json!({"table": HOSTILE, "change": "changed", "key": HOSTILE, "new": {HOSTILE: HOSTILE}});
    write(dir.path(), "rows.ndjson", format!("{row}\n{none}\n").as_bytes());
    let mut shown = 0;
    for (number, line) in SHOWN.iter().enumerate() {
        for (at, file) in files.iter().enumerate() {
            let fill = |word: &str| {
                let other = other.path().join(file);
                let word = word.replace('+', " ").replace("OTHER", other.to_str().unwrap()).replace("FILE", file);
                word.replace("OUT", &format!("out{number}_{at}")).replace("TEXT", HOSTILE)
            };
            let mut args: Vec<String> = line.split(' ').map(fill).collect();
            if file == "rusty" {
                args.extend(["--key".to_owned(), "key".to_owned()]);
            }
            let Ended { status, out, err } = run(dir.path(), &args);
            assert!(matches!(status.code(), Some(0..=4)), "{args:?}: {status:?} {err}");
            assert!(!out.contains(is_unfit), "{args:?}\n{out:?}");
            assert!(!err.contains(is_unfit), "{args:?}\n{err:?}");
            // A line that a file breaks would be taken for one of the command's own.
            let own = err.lines().all(|line| line.starts_with("assetq: "));
            assert!(own || line.starts_with("TEXT"), "{args:?}\n{err}");
            shown += out.len();
        }
    }
    assert!(shown > 10_000, "{shown} bytes were shown");
}

/// Text that a browser would run, if it came to it.
const SCRIPT: &str = "</title></style>\"'><script>alert(1)</script><svg onload=alert(1)>";

#[test]
fn pictures_and_pages_carry_no_script_of_a_file() {
    let dir = TempDir::new().unwrap();
    let (name, other) = ("<script>x<&>.geometry", "<script>y.geometry");
    write(dir.path(), name, &ship(SCRIPT));
    write(dir.path(), other, &ship(&format!("{SCRIPT}2")));
    let (old, new) = ("<script>.wdb", "<script>2.wdb");
    write(dir.path(), old, &sheet(SCRIPT));
    write(dir.path(), new, &sheet(&format!("{SCRIPT}2")));
    let mut map = wdata::demo(1, assetq_sample::Size::Small);
    let script = b"<script>x/";
    let wide = |text: &[u8]| text.iter().flat_map(|&byte| [byte, 0]).collect::<Vec<u8>>();
    let mut changed = 0;
    for (from, to) in [(b"portal_000".to_vec(), script.to_vec()), (wide(b"portal_000"), wide(script))] {
        while let Some(at) = memchr::memmem::find(&map, &from) {
            map[at..at + to.len()].copy_from_slice(&to);
            changed += 1;
        }
    }
    assert!(changed > 0);
    write(dir.path(), "<script>.wdata", &map);
    for line in [
        format!("export {name} --to - --as svg"),
        format!("export {name} --to - --as svg --only armor"),
        "export <script>.wdata --to - --as svg".to_owned(),
        format!("diff {name} {other} -f html"),
        format!("diff {old} {new} -f html"),
    ] {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ended { status, out, err } = run(dir.path(), &args);
        assert!(matches!(status.code(), Some(0 | 1)), "{line}: {err}");
        is_harmless(&line, &out);
        if out.starts_with("<?xml") || out.starts_with("<svg") {
            let document = roxmltree::Document::parse(&out).unwrap();
            for element in document.descendants().filter(roxmltree::Node::is_element) {
                assert!(!["script", "foreignObject", "iframe"].contains(&element.tag_name().name()), "{line}");
                let is_fit = |name: &str| !name.starts_with("on");
                assert!(element.attributes().all(|attribute| is_fit(attribute.name())), "{line}: {element:?}");
            }
        }
    }
    for file in [name, "<script>.wdata", old] {
        let args = ["view", file, "--to", "page.html", "--force"].map(str::to_owned);
        let Ended { status, err, .. } = run(dir.path(), &args);
        assert!(status.success(), "{file}: {err}");
        is_harmless(file, &fs::read_to_string(dir.path().join("page.html")).unwrap());
    }
}

/// Checks that texts of a file are text, and that a page runs its own script and no other, whatever stood in it.
fn is_harmless(what: &str, page: &str) {
    assert!(page.contains("&lt;script&gt;"), "{what}: the name is in it");
    let lower = page.to_lowercase();
    for hostile in ["<script>", "alert(1)</script", "<svg onload", "javascript:"] {
        assert!(!lower.contains(hostile), "{what}: {hostile}");
    }
    if page.contains("<script") {
        assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"), "{what}");
        assert_eq!(page.matches("<script type=\"module\">").count(), 1, "{what}");
        let kinds = ["module", "application/octet-stream", "application/json"];
        let known: usize = kinds.map(|kind| page.matches(&format!("<script type=\"{kind}\"")).count()).iter().sum();
        assert_eq!(page.matches("<script").count(), known, "{what}");
    }
}

/// A cell that a spreadsheet would run is a cell as any other: what is read back is what the file has.
#[test]
fn cells_of_csv_are_those_of_the_file() {
    let dir = TempDir::new().unwrap();
    for text in ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "=HYPERLINK(\"http://x\",\"y\")", "'=1", "a\",\"b", "a\r\nb"]
    {
        write(dir.path(), "a.wdb", &sheet(text));
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let out = run(dir.path(), &words("ls a.wdb -f csv")).out;
        let mut rows = csv::Reader::from_reader(out.as_bytes());
        assert_eq!(&rows.records().next().unwrap().unwrap()[1], text);
        run(dir.path(), &words("export a.wdb --to a.csv --force"));
        let Ended { status, err, .. } = run(dir.path(), &words("patch a.wdb a.csv --to b.wdb --force"));
        assert!(status.success(), "{text:?}: {err}");
        assert_eq!(
            fs::read(dir.path().join("a.wdb")).unwrap(),
            fs::read(dir.path().join("b.wdb")).unwrap(),
            "{text:?}"
        );
    }
    let help = run(dir.path(), &["ls".to_owned(), "--help".to_owned()]).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("even if a spreadsheet would run them"), "{help}");
}

/// A name in an archive that a shell would run stands in the line as a name, and those that a terminal would run are not offered.
#[test]
fn names_that_are_completed_are_no_commands_of_a_shell() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skipped("there is no bash");
    }
    let dir = TempDir::new().unwrap();
    let mut package = Package::new(assetq::formats::wows::game_folder::Variant::V2, "v.pkg");
    let hostile = ["$(touch run)", "`touch run`", "a;touch run", "a b", "x&touch run", "'q", "\x1b[31m", "new\nline"];
    for name in hostile {
        package.file(&format!("c/{name}"), b"", How::Stored);
    }
    write(dir.path(), "game/any.idx", &package.index());
    let args = ["completions".to_owned(), "bash".to_owned()];
    write(dir.path(), "script", run(dir.path(), &args).out.as_bytes());
    // The reply is inserted into a line, and the line is run.
    let test = format!(
        "source ./script; COMP_LINE='assetq ls game:c/'; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({} ls game:c/); \
         _assetq_inside assetq; for reply in \"${{COMPREPLY[@]}}\"; do eval \"printf '%s\\n' $reply\"; done",
        crate::common::program(),
    );
    let out = Command::new("bash").current_dir(dir.path()).args(["-c", &test]).output().unwrap();
    let (out, err) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
    let replied: std::collections::BTreeSet<&str> = out.lines().collect();
    let expected = hostile.iter().filter(|name| !name.contains(is_unfit) && !name.contains('\n'));
    let expected: Vec<String> = expected.map(|name| format!("c/{name}")).collect();
    assert_eq!(replied, expected.iter().map(String::as_str).collect(), "{err}");
    assert_eq!(names(dir.path()), ["game", "script"].map(str::to_owned).into());
}

/// Names of files in archives of every kind that would lead elsewhere: none is written, and nothing outside is.
#[test]
fn no_archive_writes_outside_of_the_folder() {
    let dir = TempDir::new().unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let absolute = outside.join("absolute").to_str().unwrap().to_owned();
    let hostile = [
        "../../outside/up",
        "c/../../../outside/up",
        "..",
        ".",
        "c/./x",
        &absolute,
        "C:/Windows/x",
        "C:x",
        "c/nul",
        "c/COM1.txt",
        "c/aux.x/y",
        "c/blank ",
        "c/dot.",
        "c//double",
        "c/line\nbreak",
        "c/a:stream",
        "c/star*",
        "c/tilde~1\u{202e}",
        "c\\..\\..\\..\\outside\\up",
    ];
    let good = "c/good.txt";
    let mut package = Package::new(assetq::formats::wows::game_folder::Variant::V2, "v.pkg");
    let mut image = white::Image::default();
    let mut listed = Vec::new();
    let mut records = rusty_hearts::ListRecords::new();
    for path in hostile.iter().copied().chain([good]) {
        package.file(path, b"x", How::Stored);
        let text = image.add(path, b"x", false);
        listed.push(white::Listed { code: 0x0100_0000 + listed.len() as u32, kind: 0, text });
        records.record(&path.replace('/', "\\"), 0, 1, rusty_hearts::hash(b"x"), listed.len() as i64 - 1);
    }
    let at = |path: &str| dir.path().join(path);
    write(&at("wows"), "any.idx", &package.index());
    package.volumes.iter().for_each(|(name, bytes)| write(&at("wows"), name, bytes));
    let list = white::list(white::layout_of(assetq::formats::ff13::white::GameKind::First), &listed, 4096);
    write(&at("ff13"), "white_data/sys/filelistu.win32.bin", &list);
    write(&at("ff13"), "white_data/sys/white_imgu.win32.bin", &image.into_bytes());
    write(&at("rusty"), "f00X.dat", &rusty_hearts::pack(records.bytes(), &[7; 256]));
    write(&at("rusty"), "000.pck", &vec![b'x'; listed.len()]);
    write(dir.path(), "key", &[7; 256]);
    for game in ["wows", "ff13", "rusty"] {
        for force in ["", " --force"] {
            let line = format!("extract {game} --to in/deep/{game} --key key{force}");
            let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let Ended { status, err, .. } = run(dir.path(), &args);
            assert_eq!(status.code(), Some(3), "{game}: {err}");
            assert!(names(&outside).is_empty(), "{game}: {:?}", names(&outside));
            let mut written = Vec::new();
            let mut open = vec![at(&format!("in/deep/{game}"))];
            while let Some(folder) = open.pop() {
                for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
                    if entry.is_dir() { open.push(entry) } else { written.push(entry) }
                }
            }
            for path in &written {
                let inside = path.strip_prefix(at("in/deep")).unwrap().to_str().unwrap();
                let name = path.file_name().unwrap().to_str().unwrap();
                let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~*".contains(&b));
                assert!(inside.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_plain, "{game}: {inside:?}");
                let is_device = ["nul", "com1", "aux"].iter().any(|device| inside.to_lowercase().contains(device));
                assert!(!is_device && !name.contains('*') && !name.ends_with('.'), "{game}: {inside:?}");
            }
            assert!(written.contains(&at(&format!("in/deep/{game}/{good}"))), "{game}: {written:?} {err}");
        }
    }
}

/// Of an archive and a folder that one stranger made, a path of the one may go through a link of the other.
#[test]
fn extracted_files_go_through_no_link_that_leads_out() {
    use std::os::unix::fs::symlink;
    let paths = ["out/x", "c/up/x", "c/loop/x", "c/nowhere/x", "stays/x", "c/file", "pipe", "plain"];
    let mut package = Package::new(assetq::formats::wows::game_folder::Variant::V2, "v.pkg");
    for path in paths {
        package.file(path, b"new", How::Stored);
    }
    for force in ["", " --force"] {
        let dir = TempDir::new().unwrap();
        let at = |path: &str| dir.path().join(path);
        write(dir.path(), "game/any.idx", &package.index());
        package.volumes.iter().for_each(|(name, bytes)| write(&at("game"), name, bytes));
        write(dir.path(), "outside/kept", b"old");
        fs::create_dir_all(at("to/c")).unwrap();
        fs::create_dir_all(at("to/real")).unwrap();
        symlink(at("outside"), at("to/out")).unwrap();
        symlink("../../outside", at("to/c/up")).unwrap();
        symlink("loop", at("to/c/loop")).unwrap();
        symlink("/nonexistent", at("to/c/nowhere")).unwrap();
        symlink("real", at("to/stays")).unwrap();
        symlink(at("outside/kept"), at("to/c/file")).unwrap();
        symlink("/dev/null", at("to/pipe")).unwrap();
        // The folder itself may be a link: who names it means where it leads.
        symlink("to", at("named")).unwrap();
        let line = format!("extract game --to named{force}");
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ended { status, out, err } = run(dir.path(), &args);
        assert_eq!(status.code(), Some(4), "{err}");
        assert_eq!(names(&at("outside")), ["kept".to_owned()].into(), "{err}");
        assert_eq!(fs::read(at("outside/kept")).unwrap(), b"old");
        for path in ["out", "c/up", "c/loop", "c/nowhere"] {
            let told = format!("assetq: named/{path}/x: the link named/{path} leads out of named\n");
            assert!(err.contains(&told), "{path}: {err}");
        }
        assert!(err.contains("assetq: named/pipe: it exists and is no file\n"), "{err}");
        assert_eq!(fs::read(at("to/real/x")).unwrap(), b"new");
        assert_eq!(fs::read(at("to/plain")).unwrap(), b"new");
        // A link to a file is a file that exists, and is itself what is replaced.
        let is_replaced = fs::symlink_metadata(at("to/c/file")).unwrap().is_file();
        assert_eq!(is_replaced, !force.is_empty(), "{err}");
        assert_eq!(out.lines().count(), 2 + usize::from(is_replaced), "{out}");
    }
}

/// A question that never ends is ended by a signal, as any command.
#[test]
fn a_question_without_end_can_be_stopped() {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = TempDir::new().unwrap();
    write(dir.path(), "a.wdb", &sheet("x"));
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, records";
    let mut command = Command::new(crate::common::program());
    let child = command.current_dir(dir.path()).args(["sql", endless, "a.wdb"]).stdin(Stdio::null());
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    super::signal(&child, "TERM");
    let ended = end(child, endless);
    assert_eq!(ended.status.signal().or(ended.status.code().map(|code| code - 128)), Some(15), "{ended:?}");
    // In a program of one's own by another thread.
    use assetq::sql::{Input, Session, statements};
    let asset = assetq::Asset::open(assetq::Source::from_vec("a.wdb", sheet("x"))).unwrap();
    let session = Session::new(vec![("a".to_owned(), Input::Asset(asset))], false).unwrap();
    let stop = session.stopper();
    let (begun, begins) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            begins.recv().unwrap();
            stop();
        });
        // The first row tells that it runs; without being stopped it would give rows for ever.
        let rows = endless.replace("count(*)", "i");
        let statement = statements(&rows).next().unwrap();
        let ended = session.ask(statement).unwrap().rows::<assetq::sql::Fault>(|_| {
            let _ = begun.send(());
            Ok(())
        });
        assert!(ended.unwrap_err().to_string().contains("interrupted"));
    });
}
