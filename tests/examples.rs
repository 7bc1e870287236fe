//! The examples: each runs without arguments, and every command works on the format that one of them adds.
//!
//! Each example runs in a separate process, because its output is compared: this test starts itself, and a variable names the example.
//! There is no test harness, because it would print, too.
#![allow(missing_docs, dead_code, clippy::pedantic, clippy::restriction)]

#[path = "../examples/assets_bin.rs"]
mod assets_bin;
#[path = "../examples/custom_format/main.rs"]
mod custom_format;
#[path = "../examples/custom_table.rs"]
mod custom_table;
#[path = "../examples/embedding.rs"]
mod embedding;
#[path = "../examples/first.rs"]
mod first;
#[path = "../examples/geometry.rs"]
mod geometry;
#[path = "../examples/vrb.rs"]
mod vrb;
#[path = "../examples/wdata.rs"]
mod wdata;
#[path = "../examples/wdb.rs"]
mod wdb;

use custom_format::toy;
use std::path::Path;
use std::process::{Command, ExitCode, Termination as _};
use std::{env, fs};

/// Names the example that this process is.
const EXAMPLE: &str = "ASSETQ_TEST_EXAMPLE";

fn main() -> ExitCode {
    let Ok(example) = env::var(EXAMPLE) else {
        let tests: [(&str, fn()); 4] = [
            ("the first programs are short", the_first_programs_are_short),
            ("every example runs without arguments", every_example_runs_without_arguments),
            ("every command works on an added format", every_command_works_on_an_added_format),
            ("damage in an added format is reported and skipped", damage_in_an_added_format_is_reported_and_skipped),
        ];
        for (name, test) in tests {
            println!("{name}");
            test();
        }
        return ExitCode::SUCCESS;
    };
    match example.as_str() {
        "assets_bin" => assets_bin::main().report(),
        "custom_format" => custom_format::main().report(),
        "custom_table" => custom_table::main().report(),
        "embedding" => embedding::main().report(),
        "first" => first::main().report(),
        "geometry" => geometry::main().report(),
        "vrb" => vrb::main().report(),
        "wdata" => wdata::main().report(),
        "wdb" => wdb::main().report(),
        _ => panic!("{example} is no example"),
    }
}

/// Exit code, standard output and standard error of an example.
fn run(example: &str, arguments: &[&str], dir: &Path) -> (i32, String, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    let out = command.args(arguments).current_dir(dir).env(EXAMPLE, example).env("TMPDIR", dir).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn every_example_runs_without_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let shows: [(&str, &[&str]); 9] = [
        ("assets_bin", &["29 resources, 40 strings", ".mfm"]),
        (
            "custom_format",
            &["$ assetq info ", "robot     40    1.25      2", "price: 7 -> 9", "3 references to makers"],
        ),
        ("custom_table", &["folder,records,bytes", "content/gameplay/usa/ship/submarine/USS000_Antenna,4,392"]),
        ("embedding", &["8 rows", "min: [-0.634616, -1, -7.5]", "24 bytes needed, 23 left (at offset 0x128)"]),
        (
            "first",
            &[
                "records: 24 rows",
                "r0000005 has index 280",
                ".mfm",
                "81 vertices",
                "GLB with",
                "VisualPrototype: ",
                "records: changed r0000005, u9SaveIndex: 280 -> 300",
                " bytes\n",
            ],
        ),
        ("geometry", &["81 vertices, 128 triangles", "Tur9GkTop: 2 triangles"]),
        ("vrb", &["Bounds, in [Main] at 0x3b", "\"Y\": 2.5"]),
        ("wdata", &["waypoint_002 -> waypoint_003", "616.9 in all", "there: WaypointBox waypoint_003"]),
        ("wdb", &["24 records of 26 fields", "u9SaveIndex (uint, 9 bits): 280", "(string array, 4 bits): flan"]),
    ];
    for (example, lines) in shows {
        let (code, out, err) = run(example, &[], dir.path());
        assert_eq!((code, err.as_str()), (0, ""), "{example}");
        for line in lines {
            assert!(out.contains(line), "{example} does not show {line:?} but\n{out}");
        }
    }
}

fn the_first_programs_are_short() {
    let text = include_str!("../examples/first.rs");
    let programs: Vec<&str> = text.split("\nfn ").skip(1).collect();
    assert_eq!(programs.len(), 10);
    for program in programs {
        let lines = program.split("\n}").next().unwrap().lines().skip(1).count();
        assert!(lines <= 8, "{lines} lines:\n{program}");
    }
}

/// Runs the commands of a session with the format that the example adds, and compares the standard output, the standard error, and the
/// exit code in brackets unless it is 0.
fn session(dir: &Path, text: &str) {
    for shown in text.split("\n$ assetq ").skip(1) {
        let (line, wanted) = shown.split_once('\n').unwrap();
        // Every other stretch between quotes is one argument, with spaces and all.
        let stretches = line.split('\'').enumerate();
        let arguments = stretches.flat_map(|(n, text)| if n % 2 == 0 { text.split(' ').collect() } else { vec![text] });
        let arguments: Vec<&str> = arguments.filter(|argument| !argument.is_empty()).collect();
        let (code, out, err) = run("custom_format", &arguments, dir);
        let code = if code == 0 { String::new() } else { format!("[{code}]\n") };
        let shown = format!("{out}{err}{code}").replace('\r', "");
        assert_eq!(
            if cfg!(windows) { shown.replace(".\\", "./") } else { shown },
            wanted.trim_end_matches('\n').to_owned() + "\n",
            "assetq {line}"
        );
    }
}

fn every_command_works_on_an_added_format() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("old.toy"), toy::build(&[("kite", 7, 0.5, 1), ("marble", 1, 0.02, 1), ("robot", 40, 1.25, 2)]))
        .unwrap();
    // Detected by its magic, whatever its name.
    fs::write(dir.join("new.bin"), toy::build(&[("kite", 9, 0.5, 1), ("marble", 1, 0.02, 1), ("top", 3, 0.1, 1)]))
        .unwrap();
    session(
        dir,
        r#"
$ assetq info new.bin
new.bin: toy, 136 bytes
section  offset  size  count
header      0x0    12      -
items       0xc    84      3
makers     0x60    40      2
table   rows  columns
items      3  name price weight maker
makers     2  id name

$ assetq ls old.toy
name    price  weight  maker
kite        7     0.5      1
marble      1    0.02      1
robot      40    1.25      2
assetq: old.toy: other tables, by -t TABLE: makers

$ assetq ls old.toy *o* --where 'price > 3' -f ndjson
{"name":"robot","price":40,"weight":1.25,"maker":2}

$ assetq cat old.toy marble
name: marble
price: 1
weight: 0.02
maker: 1

$ assetq sql 'SELECT i.name, m.name AS maker FROM items i JOIN makers m ON i.maker = m.id WHERE price > 3' old.toy
name   maker
kite   Woodworks
robot  Tin & Son

$ assetq sql 'SELECT name, n.price - o.price AS more FROM o.items o JOIN n.items n USING (name)' o=old.toy n=new.bin
name    more
kite       2
marble     0

$ assetq find *o* .
file       table   key    column  text
./new.bin  items   top    name    top
./new.bin  makers  1      name    Woodworks
./new.bin  makers  2      name    Tin & Son
./old.toy  items   robot  name    robot
./old.toy  makers  1      name    Woodworks
./old.toy  makers  2      name    Tin & Son

$ assetq diff old.toy new.bin
items: 1 added, 1 removed, 1 changed
  ~ kite
      price: 7 -> 9
  - robot  price=40  weight=1.25  maker=2
  + top  price=3  weight=0.1  maker=1
[1]

$ assetq verify old.toy
old.toy: toy ok
  ok  items: 3 rows
  ok  makers: 2 rows
  ok  items.maker: 3 references to makers
  ok  makers.id: 2 different values

$ assetq export old.toy --to - --as csv
name,price,weight,maker
kite,7,0.5,1
marble,1,0.02,1
robot,40,1.25,2

$ assetq sql 'UPDATE items SET price = price + 1, maker = 2 WHERE price = 7' old.toy --to set.toy
~ items kite
    price: 7 -> 8
    maker: 1 -> 2
assetq: old.toy: 1 edit, 0 that the file has already, 0 left out

$ assetq sql 'INSERT INTO items VALUES (char(116, 111, 112), 2, 0.1, 1)' set.toy --to more.toy
+ items top
assetq: set.toy: 1 edit, 0 that the file has already, 0 left out

$ assetq sql 'DELETE FROM items WHERE price = 1' more.toy --to less.toy
- items marble
assetq: more.toy: 1 edit, 0 that the file has already, 0 left out

$ assetq ls less.toy
name   price  weight  maker
kite       8     0.5      2
robot     40    1.25      2
top        2     0.1      1
assetq: less.toy: other tables, by -t TABLE: makers

$ assetq sql 'UPDATE items SET maker = 9 WHERE price = 7' old.toy --to no.toy
assetq: old.toy: items "kite": column maker: 9 does not fit: no row of makers has this id
[2]

$ assetq sql 'DELETE FROM makers WHERE id = 2' old.toy --to no.toy
assetq: old.toy: makers: id 2 cannot go alone: items "robot" refers to it
[2]

$ assetq sql 'UPDATE makers SET id = 2 WHERE id = 1' old.toy --to no.toy
assetq: old.toy: makers: column id: 2 does not fit: another row has this value
[2]

$ assetq sql 'UPDATE items SET name = name || name || name || name || name WHERE price = 7' old.toy --to no.toy
assetq: SQL: row kite: items: column name: "kitekitekitekitekite" does not fit: a text of at most 16 bytes
[2]
"#,
    );
    let kinds: &[&str] = if cfg!(feature = "parquet") { &["json", "parquet", "arrow"] } else { &["json"] };
    for kind in kinds {
        let to = format!("out.{kind}");
        let (code, _, err) = run("custom_format", &["export", "old.toy", "--to", &to], dir);
        assert_eq!((code, err.as_str()), (0, ""), "{kind}");
        assert!(fs::metadata(dir.join(to)).unwrap().len() > 80, "{kind}");
    }
}

fn damage_in_an_added_format_is_reported_and_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let good = toy::build(&[("kite", 7, 0.5, 1), ("marble", 1, 0.02, 2)]);
    let mut text = good.clone();
    text[13] = 0xFF;
    let mut lost = good.clone();
    lost[36] = 9;
    fs::write(dir.join("text.toy"), text).unwrap();
    fs::write(dir.join("lost.toy"), lost).unwrap();
    fs::write(dir.join("cut.toy"), good.split_last().unwrap().1).unwrap();
    session(
        dir,
        r#"
$ assetq ls text.toy
name    price  weight  maker
-           7     0.5      1
marble      1    0.02      2
assetq: text.toy: items: not valid UTF-8 after 1 units (at offset 0xc)
[3]

$ assetq verify text.toy
text.toy: toy damaged
  BAD items: 2 rows
        row 0: items: not valid UTF-8 after 1 units (at offset 0xc)
  ok  makers: 2 rows
  ok  items.maker: 2 references to makers
  ok  makers.id: 2 different values
[3]

$ assetq verify lost.toy
lost.toy: toy damaged
  ok  items: 2 rows
  ok  makers: 2 rows
  BAD items.maker: 2 references to makers
        items row 0: column maker: no row of makers is 9
  ok  makers.id: 2 different values
[3]

$ assetq info cut.toy
assetq: cut.toy: header: makers: 2 is not allowed (at offset 0x8)
[3]
"#,
    );
    for length in 0..good.len() {
        // Detected by its name, because the magic may be cut.
        fs::write(dir.join("short.toy"), &good[..length]).unwrap();
        let (code, out, err) = run("custom_format", &["ls", "short.toy"], dir);
        assert_eq!((code, out.as_str(), err.lines().count()), (3, "", 1), "{length} {err}");
    }
}
