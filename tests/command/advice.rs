//! Advice in the prose of messages works: each message is caused by a wrong command line, and its advice is followed.
//! `tests/loops/advice.rs` follows the advice about names, for every format.

use crate::common::program;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Three lines each: a wrong command line, a part of its message, and the command line that follows the advice.
/// `TEXT | LINE` gives a text as standard input.
const FOLLOWED: &str = r#"
ls enemy.wdb --where "uHp in (1, null)"
no value equals null; use 'is null'
ls enemy.wdb --where "uHp is null"

ls enemy.wdb --where "uHp in (MANY)"
comparisons; IN (…) in `assetq sql` takes more
sql "SELECT count(*) FROM records WHERE uHp IN (MANY)" enemy.wdb

patch enemy.wdb new.csv --to n1.wdb
not found; --insert adds rows
patch enemy.wdb new.csv --to n1.wdb --insert

set savegame.vrb Hours 7 --to n2.vrb
ENTRY is what `assetq cat` takes, with .NAME or [NUMBER] after it
set savegame.vrb [Main].HoursPlayed 7 --to n2.vrb

ls .
--format-of chooses one
ls . --format-of wdb

sql "ATTACH 'x.sqlite' AS y" enemy.wdb
--into writes a new database
sql "SELECT * FROM records" enemy.wdb --into n3.sqlite

sql "INSERT INTO \"values\" (chunk, path, type, value) VALUES ('[None]', 'a', 'String', 'x')" savegame.vrb --to n4.vrb
chunk "[None]" is not there; `assetq ls FILE` shows those that are
ls savegame.vrb

sql "INSERT INTO \"values\" (chunk, path, type, value) VALUES ('[Main]', 'a..b', 'String', 'x')" savegame.vrb --to n5.vrb
path "a..b" is not one; `assetq ls FILE -t values` shows some
ls savegame.vrb -t values

export space.bin --to n6.svg
--with models.bin states how large models are.
export space.bin --to n6.svg --with models.bin --force

ls GameParams.data -t ships --no-companions
a global.mo beside the file, or --names global.mo, shows them
ls GameParams.data -t ships --no-companions --names global.mo

export lone/ship.geometry --to n8.glb --with ship.visual
is not at hand: --with FILE.mfm or --with FOLDER finds it there
export lone/ship.geometry --to n8.glb --with ship.visual --with wows --force

cat enemy.wdb e_wolf --raw
this entry is no stretch of bytes; `assetq info` lists sections
info enemy.wdb

cat enemy.wdb nothing
`assetq ls enemy.wdb` lists what there is
ls enemy.wdb

ls assets.bin --tree -f csv
without --tree, -f writes the rows
ls assets.bin -f csv

set enemy.wdb e_wolf.uHp 7
nothing is written without --to NEW or --in-place; --dry-run shows what would change
set enemy.wdb e_wolf.uHp 7 --dry-run

set wows:content/assets.bin PATH.visual.lods[0].extent 7 --in-place
files in this archive are not written in place; --to NEW writes the file by itself
set wows:content/assets.bin PATH.visual.lods[0].extent 7 --to n9.bin

set wows:content/assets.bin PATH.visual.lods[0].extent 7 --to res_mods
--to res_mods is for files of the newest build in a World of Warships folder that has res_mods/VERSION
set wows:content/assets.bin PATH.visual.lods[0].extent 7 --to n10.bin

patch enemy.wdb old.ndjson --to n11.wdb --strict
nothing is written, as --strict says
patch enemy.wdb old.ndjson --to n11.wdb

set enemy.wdb e_wolf.uHp 7 --to assets.bin
it exists; --force writes over it
set enemy.wdb e_wolf.uHp 7 --to n1.wdb --force

set locked.wdb e_wolf.uHp 7 --in-place
it is read-only; --force replaces it
set locked.wdb e_wolf.uHp 8 --in-place --force

set enemy.wdb e_wolf.uHp 7 --to n12.wdb --undo new.csv
it exists, and may be the only way back from an earlier edit; give --undo another name
set enemy.wdb e_wolf.uHp 7 --to n12.wdb --undo n12.ndjson

set enemy.wdb e_wolf.uHp 7 --to n13.wdb --undo n13.wdb
the new file and --undo are one file; give them different names
set enemy.wdb e_wolf.uHp 7 --to n13.wdb --undo n13.ndjson

export wows --ship Aurora --ship Borealis --to n14.glb
export writes one ship: --ship is given twice
export wows --ship Aurora --to n14.glb

export wows wows --ship Aurora --to n15.glb
--ship takes one game
export wows --ship Aurora --to n15.glb

export wows --ship Aurora --to n16.csv
a ship is written as glb, obj or svg; assetq view GAME --ship SHIP shows it and saves pictures
view wows --ship Aurora --to n16.html

export pack.bin --to n17
'assetq extract pack.bin --to n17' writes the files in it
extract pack.bin --to n17

export assets.bin --to n18.db
for a database: assetq sql QUERY FILE --into OUT
sql "SELECT * FROM paths" assets.bin --into n18.db

export enemy.wdb --to n19.html
for a page: assetq view FILE --to OUT
view enemy.wdb --to n19.html

export enemy.wdb --to n20
by the ending of OUT or by --as KIND
export enemy.wdb --to n20 --as csv

export "*.geometry" --to n21.glb
files are drawings of their own: --to FOLDER takes them
export "*.geometry" --to n21/ --as glb

export ship.geometry --to n22.png
assetq view ship.geometry shows its shapes and saves pictures
view ship.geometry --to n22.html

export icons.trb --to n23.png
textures are files of their own: --to FOLDER/ --as png takes them
export icons.trb --to n23/ --as png

export enemy.wdb --all-tables --to n24.csv
--as says how to write tables there, as in --as csv
export enemy.wdb --all-tables --to n24 --as csv

export assets.bin -t paths -t lods --to - --as csv
more than one table would be written there
export assets.bin --all-tables --to n25/ --as csv

export enemy.wdb --to n27.json --bom
--bom is for csv
export enemy.wdb --to n27.csv --bom

extract wows content/assets.bin --to made
it exists; --force writes over it
extract wows content/assets.bin --to made --force

find gameplay/ assets.bin
"gameplay" finds the folder, --full-path all that is in it
find gameplay/ assets.bin --full-path

find -e aurora assets.bin
-i ignores case
find -e aurora assets.bin -i

find *XSC501*.visual assets.bin
-p also searches the folders of paths
find -p *XSC501*.visual assets.bin

find *xSC501*.visual assets.bin
-i -p ignores case, and searches folders
find -i -p *xSC501*.visual assets.bin

refs ship.geometry .
--tree shows the files of
refs ship.geometry . --tree

refs PATH.geometry wows --tree
which uses it; --from lists all that do
refs PATH.geometry wows --from

export ship.geometry --to n58.png
assetq refs ship.geometry . --tree names its textures, which are written so, and
refs ship.geometry . --tree

find Borealis wows
or 'wows@*:*' for all its builds
find Borealis wows@*:*

history Aurora wows
rows of long tables are counted; -f csv lists them
history Aurora wows -f csv

diff wows@7000000 wows -w "title = 'Aurora'"
--deep also compares the tables of files in it
diff wows@7000000 wows -w "title = 'Aurora'" --deep

ls GameParams.data -t armor -w "thickness > 100"
"component = 'A_Hull'" in --where selects one, which may lack things of others
ls GameParams.data -t armor -w "thickness > 100 and component = 'A_Hull'"

ls enemy.wdb fields
fields is a table: -t fields lists it
ls enemy.wdb -t fields

diff enemy.wdb locked.wdb -f patch --to n29.csv
a patch is written as .ndjson or .jsonl
diff enemy.wdb locked.wdb -f patch --to n29.ndjson

patch enemy.wdb old.ndjson --to n30.wdb --delete-missing
--delete-missing is for exported rows
patch enemy.wdb new.csv --to n30.wdb --delete-missing --insert

refs PATH.visual
refs takes an ID and the files to look in, or --dangling and files
refs PATH.visual assets.bin

refs --dangling models.bin
--names GAME looks in a game, too
refs --dangling models.bin --names wows

snapshot wows --to made
it exists; --force replaces it
snapshot wows --to made --force

ls enemy.wdb --sort uHp:up
"up" is no order; there are asc and desc
ls enemy.wdb --sort uHp:desc

sql "SELECT 1" enemy.wdb --into n31.txt
--into writes a database of SQLite: .db, .sqlite or .sqlite3; --to OUT writes .csv
sql "SELECT 1" enemy.wdb --to n31.csv

sql "SELECT 1; SELECT 2" enemy.wdb --into n32.db
--into keeps the rows of one statement
sql "SELECT 1" enemy.wdb --into n32.db

BEGIN; | sql - enemy.wdb --into n33.db
--into needs a statement that gives rows
sql "SELECT * FROM records" enemy.wdb --into n33.db

sql "UPDATE records SET uHp = 7" enemy.wdb
--to NEW writes the change to a new file, --in-place to this one, and --dry-run only shows it
sql "UPDATE records SET uHp = 7" enemy.wdb --to n34.wdb

sql "SELECT 1" enemy.wdb --in-place
SQL: these statements change nothing: their answer goes to --to OUT, without
sql "SELECT 1" enemy.wdb --to n35.csv

sql "SELECT 1; SELECT 2" enemy.wdb --to n36.csv
--to OUT takes the answer of one statement
sql "SELECT 1" enemy.wdb --to n36.csv

sql enemy.wdb "SELECT 1"
the query comes before the files, as in: assetq sql "SELECT * FROM
sql "SELECT 1" enemy.wdb

sql "UPDATE records SET uHp = 7" two --to n37.wdb
--to NEW is for one file; --in-place changes each of the files, and --dry-run shows the changes
sql "UPDATE records SET uHp = 7" two --in-place --dry-run

sql "UPDATE records SET uHp = 7" two --in-place --undo -
--undo - is for one file; --undo FOLDER writes a patch for each of the files
sql "UPDATE records SET uHp = 7" two --in-place --undo n38

sql "UPDATE records SET uHp = 8" two --in-place --dry-run -f json
-f json is for one file; -f ndjson writes the changes of many
sql "UPDATE records SET uHp = 8" two --in-place --dry-run -f ndjson

.open x | sql enemy.wdb
files are arguments: leave, and run assetq sql FILE...
.tables | sql enemy.wdb assets.bin

.read x | sql enemy.wdb
statements of a file: assetq sql - FILE < statements.sql
SELECT 1 | sql - enemy.wdb

.import x | sql enemy.wdb
assetq sql new.db
.tables | sql n3.sqlite

.output x | sql enemy.wdb
an answer is written by: assetq sql QUERY FILE --to OUT.csv, also json, parquet and arrow
sql "SELECT 1" enemy.wdb --to n39.parquet

.save x | sql enemy.wdb
rows are kept by: assetq sql QUERY FILE --into OUT.sqlite
sql "SELECT 1" enemy.wdb --into n40.sqlite

.dump | sql enemy.wdb
rows are written by: assetq export FILE --all-tables --to OUT/ --as csv
export enemy.wdb --all-tables --to n41/ --as csv

sql "SELECT 1" enemy.wdb --engine duckdb --into n42.db
leave out --into, --with and the options that write a file
sql "SELECT 1" enemy.wdb --into n42.db

view wows --ship Aurora --ship Borealis --to n43.html
view shows one ship; --compare shows two side by side
view wows --ship Aurora --ship Borealis --compare --to n43.html

view hull_a.dds --to n44.png
Save PNG in the page saves a picture, and assetq export FILE --to OUT.png writes a texture
export hull_a.dds --to n44.png

view ship.geometry --to n45.glb
assetq export FILE --to OUT writes shapes
export ship.geometry --to n45.glb

view enemy.wdb wows --compare --to n46.html
no shapes to compare
view ship.geometry turret.geometry --compare --to n46.html

history Aurora assets.bin models.bin
did you mean
history PATH.visual assets.bin models.bin

history nowhere.dds assets.bin models.bin
'assetq find TEXT FILE...' finds parts of names and texts
find dds assets.bin models.bin

diff assets.bin models.bin Aurora
'assetq find TEXT OLD NEW' finds names in several files
find Aurora assets.bin models.bin

cat assets.bin models.bin PATH.visual
'assetq history ENTRY OLD NEW' compares one entry
history PATH.visual assets.bin models.bin

find . -name "*Aurora*"
'assetq find TEXT FILE...' finds names and texts, and 'assetq ls FILE GLOB' lists names
find "*Aurora*" .

find --name "*Aurora*" assets.bin
'assetq find TEXT FILE...' finds names and texts, and 'assetq ls FILE GLOB' lists names
ls assets.bin "*Aurora*"

ls assets.bin models.bin space.bin
several files go by a folder or by a pattern in quotes, as in 'assetq ls "*.bin"'
ls "*.bin" --format-of bwdb

ls enemy.wdb --output n47.csv
'--to OUT' names the output, of commands that write one
export enemy.wdb --to n47.csv

ls enemy.wdb --json
'-f json' writes this format
ls enemy.wdb -f json

ls enemy.wdb --parquet
'assetq export FILE --to OUT.parquet' writes this format
export enemy.wdb --to n48.parquet

ls enemy.wdb --order uHp
'assetq ls FILE --sort COLUMN:desc' sorts rows, and so does ORDER BY in 'assetq sql'
ls enemy.wdb --sort uHp:desc

ls enemy.wdb --filter "uHp > 1"
'--where CONDITION' selects rows
ls enemy.wdb --where "uHp > 1"

ls enemy.wdb -f csv --bom
'assetq export FILE --to OUT.csv --bom' writes it
export enemy.wdb --to n62.csv --bom

ls enemy.wdb --head 10
'assetq ls FILE --limit 10' shows the first rows, and so does LIMIT 10 in 'assetq sql'
ls enemy.wdb --limit 10

refs 0x1 assets.bin --ship Aurora
`assetq export GAME --ship NAME --to OUT` puts it together
export wows --ship Aurora --to n49.glb

diff wows@7000000 wows --ship Aurora
`assetq history NAME OLD NEW` shows what changed for a ship
history Aurora wows@7000000 wows -f csv

ls wows -t ships --ship Aurora
`assetq ls GAME -t armor -w "ship ~ '*NAME*'"` lists what a table has of it
ls wows -t armor -w "ship ~ '*Aurora*' and component = 'A_Hull'"

refs --missing assets.bin
'assetq refs --dangling FILE' lists references to what is missing
refs --dangling assets.bin

ls town.wdata --near 0
'assetq ls FILE --at 0,0,0' shows what is at a point, and --box what is in a box
ls town.wdata --at 0,0,0

tables enemy.wdb
'assetq ls FILE' lists rows
ls enemy.wdb

qqq enemy.wdb
'assetq ls FILE -t TABLE' lists a table
ls enemy.wdb -t fields

enemy.wdb fields
a command precedes the file, as in 'assetq info enemy.wdb'
info enemy.wdb

tree assets.bin
'assetq ls FILE --tree' shows folders as a tree
ls assets.bin --tree

schema enemy.wdb
'assetq info FILE' shows tables and columns
info enemy.wdb

grep wolf enemy.wdb
'assetq find TEXT FILE' finds texts
find wolf enemy.wdb

get enemy.wdb e_wolf
'assetq cat FILE ENTRY' shows an entry
cat enemy.wdb e_wolf

query "SELECT 1" enemy.wdb
'assetq sql QUERY FILE' runs SQL
sql "SELECT 1" enemy.wdb

unpack pack.bin
'assetq extract ARCHIVE --to DIR' unpacks files
extract pack.bin --to n50

convert enemy.wdb
'assetq export FILE --to OUT' writes a file of another kind
export enemy.wdb --to n51.csv

import enemy.wdb
'assetq patch FILE CHANGES --to NEW' puts rows, entries and meshes back
patch enemy.wdb n51.csv --to n51.wdb

edit enemy.wdb
'assetq set FILE PATH VALUE --to NEW' changes a value, and UPDATE in 'assetq sql' many
set enemy.wdb e_wolf.uHp 7 --to n52.wdb

delete enemy.wdb
INSERT and DELETE in 'assetq sql QUERY FILE --to NEW' add and remove rows
sql "DELETE FROM records WHERE record = 'e_wolf'" enemy.wdb --to n53.wdb --undo n53.ndjson

undo n53.wdb
'assetq patch FILE UNDO --in-place' takes an edit back, with the file that --undo wrote
patch n53.wdb n53.ndjson --in-place

compare enemy.wdb n53.wdb
'assetq diff OLD NEW' compares files
diff enemy.wdb n53.wdb

log enemy.wdb
'assetq history ENTRY GAME' compares builds
history content/assets.bin wows

open enemy.wdb
'assetq view FILE' shows a page
view enemy.wdb --to n54.html

check enemy.wdb
'assetq verify FILE' checks a file
verify enemy.wdb

lookup 0x1
'assetq resolve ID' looks ids and paths up
resolve PATH.visual

uses PATH.visual
'assetq refs ID FILE' lists references
refs PATH.visual assets.bin

backup wows
'assetq snapshot GAME --to DIR' keeps a build
snapshot wows --to n55

examples
'assetq sample DIR' writes a file of every format
sample n56

version
'assetq --version' prints the version
--version

resolve Aurora --db wows
of the parameters: --db
resolve Aurora --db wows:content/GameParams.data

ls wows Aurora
: assetq cat wows Aurora shows it
cat wows Aurora

export wows Aurora --to n59.glb
of the parameters, and --ship
export wows --ship Aurora --to n59.glb

view wows Aurora --to n60.html
--compare shows two, GAME:PATH shows a file of a game, and --ship SHIP a ship of it
view wows --ship Aurora --to n60.html

refs ship.model
refs takes an ID and the files to look in: assetq refs ship.model . --tree shows what
refs ship.model . --tree

find Aurora GameParams.data
with a key that is shown above; --wide and -f csv list each
find Aurora GameParams.data --wide

view wows --compare --to n57.html
--compare shows two files, two ships of a game, or one ship of two games or builds
view ship.geometry turret.geometry --compare --to n57.html
"#;

/// Parts of messages that other tests cause, or for which no sample has what they need.
const ELSEWHERE: &[(&str, &str)] = &[
    ("(--oodle LIBRARY or $ASSETQ_OODLE;", "tests/command/oodle"),
    ("--no-mmap reads it instead", "tests/command/faults/changing.rs"),
    (
        "--no-mmap reads the whole file into memory instead",
        "a file that cannot be mapped and is larger than a gigabyte",
    ),
    ("give --game ff13, ff13-2 or lr", "tests/formats/white.rs"),
    ("--delete-missing deletes all rows for the header line of a .csv, or [] in a .json", "tests/command/edit/undo.rs"),
    ("and assetq reads none: export it without compression", "a GLB of another program"),
    ("NAME first, as `cat --types` does", "a graph with a member of any type"),
    ("`patch --entry` can say its type", "a graph with a member of any type"),
    ("write the entry with `patch --entry`", "a graph with two fitting types"),
    ("--entry writes all of them at once", "a record with two lists of one count"),
    ("`assetq cache clear` removes it", "a kept file that another program cut"),
    (", and comes back with --no-companions", "tests/command/edit/meshes.rs"),
    ("is not at hand: --with FOLDER or --with GAME finds it there", "tests/command/view/scene.rs"),
    ("name one with --db FILE or --db GAME", "a folder without a database in it and around it"),
    ("is written; --layer chooses another", "a texture of several layers"),
    ("; --to FOLDER/ takes all", "a pattern of several textures on standard output"),
    ("--to - writes one file to standard output", "tests/command/edit/command.rs"),
    ("(`assetq info FILE` lists all)", "a file of more tables than are listed"),
    ("or use --no-pager", "a terminal"),
    ("--engine duckdb runs", "tests/command/ask/duckdb.rs"),
    ("--engine duckdb opens files without", "tests/command/ask/duckdb.rs"),
    ("--engine duckdb needs assetq.duckdb_extension", "tests/command/ask/duckdb.rs"),
    ("takes each back, with its patch in the folder of --undo", "tests/command/faults"),
    ("without --undo, no patch takes them back", "tests/command/faults"),
    ("--to OUT.html writes the page", "tests/command/view/mod.rs"),
    ("--into and --", "names of two options"),
    ("--db FILE", "tests/command/cli/people.rs"),
    ("; --skip-damaged writes the other rows", "tests/command/left_out.rs"),
];

/// A folder with the sample and the files that wrong command lines name.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let run = |line: &str| assert_eq!(ran(dir.path(), line).0, 0, "{line}");
    run("sample .");
    fs::write(at("new.csv"), "record,uHp\nnew_one,7\n").unwrap();
    let row = |key: &str, old: &str| {
        format!(r#"{{"table":"records","change":"changed","key":"{key}",{old}"new":{{"uHp":5}}}}"#) + "\n"
    };
    fs::write(at("old.ndjson"), row("e_wolf", r#""old":{"uHp":99999},"#) + &row("e_golem", "")).unwrap();
    for (from, to) in [("enemy.wdb", "two/a.wdb"), ("enemy.wdb", "two/b.wdb"), ("ship.geometry", "lone/ship.geometry")]
    {
        fs::create_dir_all(at(to).parent().unwrap()).unwrap();
        fs::copy(at(from), at(to)).unwrap();
    }
    run("set enemy.wdb e_wolf.uHp 6 --to locked.wdb");
    let mut permissions = fs::metadata(at("locked.wdb")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(at("locked.wdb"), permissions).unwrap();
    run("snapshot wows --to made");
    run("extract wows content/assets.bin --to made");
    dir
}

/// Runs a line of [`FOLLOWED`]. Returns the exit code and standard error.
fn ran(dir: &Path, line: &str) -> (i32, String) {
    let (input, line) = line.split_once(" | ").unwrap_or(("", line));
    let path = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942/ship";
    let line = line.replace("PATH", path).replace("MANY", &["1"; 3000].join(", "));
    let mut command = Command::new(program());
    command.current_dir(dir).args(words(&line)).env_remove("ASSETQ_DB").env("ASSETQ_CACHE", dir.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    // A command that fails at once reads no input.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    let output = running.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The words of a line, as a shell splits it: blanks in double quotes belong to a word, `\"` is a quote.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut is_quoted, mut chars) = (vec![String::new()], false, line.chars());
    while let Some(c) = chars.next() {
        let word = words.last_mut().unwrap();
        match c {
            '\\' => word.extend(chars.next()),
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => word.push(c),
        }
    }
    words
}

fn followed() -> impl Iterator<Item = [&'static str; 3]> {
    FOLLOWED.trim().split("\n\n").map(|three| {
        let lines: Vec<&str> = three.lines().collect();
        lines.try_into().unwrap_or_else(|_| panic!("three lines are expected: {three}"))
    })
}

#[test]
fn advice_in_prose_works() {
    let dir = folder();
    let mut faults = Vec::new();
    for [wrong, advice, right] in followed() {
        let (_, said) = ran(dir.path(), wrong);
        if !said.contains(advice) {
            faults.push(format!("{wrong}: {advice:?} is expected, not {said}"));
        }
        // A part of an edit may be left out, and an answer may be empty.
        let (code, said) = ran(dir.path(), right);
        if code > 1 || said.contains(advice) {
            faults.push(format!("{right}: {code} {said}"));
        }
    }
    assert_eq!(faults, [""; 0], "{}", faults.join("\n"));
}

/// A new message with the name of an option or a command line is followed, too.
#[test]
fn each_advice_in_prose_is_followed() {
    let mut known: Vec<&str> = followed().map(|[_, advice, _]| advice).collect();
    known.extend(ELSEWHERE.iter().map(|(part, _)| *part));
    let mut lacking = Vec::new();
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        for literal in literals(&text) {
            let parts = literal.split(['{', '}']).map(|part| part.trim_matches([' ', ';', ',']));
            for part in parts.filter(|part| is_advice(part)) {
                if !known.iter().any(|advice| part.contains(advice) || advice.contains(part)) {
                    lacking.push(format!("{}: {part}", file.display()));
                }
            }
        }
    }
    assert_eq!(lacking, [""; 0], "{}", lacking.join("\n"));
}

/// The sources that have messages: all but builders of samples, and texts of help that other tests run.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut open, mut files) = (vec![root.join("src"), root.join("crates")], Vec::new());
    let without = ["sample", "tests", "benches", "completions.rs", "topics.rs", "tour.rs", "tests.rs"];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if without.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The string literals outside of comments and unit tests, with joined lines.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let (code, mut all) = (code.join("\n"), Vec::new());
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A character in quotes may be a quote.
            '\'' => {
                let escaped = chars.next_if_eq(&'\\').is_some();
                if escaped || chars.peek() == Some(&'"') {
                    chars.next();
                }
            }
            '"' => {
                let mut literal = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' if chars.next_if_eq(&'\n').is_some() => {
                            while chars.next_if(|c| c.is_whitespace()).is_some() {}
                        }
                        '\\' => literal.extend(chars.next()),
                        c => literal.push(c),
                    }
                }
                all.push(literal);
            }
            _ => {}
        }
    }
    // Examples of help are run by the tests of documents.
    all.retain(|literal| ["Examples:", "[OPTIONS]", "Global options:"].iter().all(|part| !literal.contains(part)));
    all
}

/// Whether a text names an option or a command line among other words.
fn is_advice(part: &str) -> bool {
    let names_option = part.match_indices("--").any(|(at, _)| {
        let before = part[..at].chars().next_back();
        let after = part[at + 2..].chars().next();
        before.is_none_or(|c| " '`(".contains(c)) && after.is_some_and(|c| c.is_ascii_lowercase())
    });
    let names_command = part.match_indices("assetq ").any(|(at, name)| {
        let word = part[at + name.len()..].split(' ').next().unwrap();
        word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase()) && part[..at].ends_with(['`', '\''])
    });
    (names_option || names_command) && part.contains(' ')
}
