//! Parts of games and folders that cannot be read: an answer without them names them, and its exit code is not 0.

use crate::archives::write_game;
use crate::common::run;
use assetq_sample::space::models_bin;
use assetq_sample::wows::BUILDS;
use assetq_sample::{FOLDERS, Size, geometry, gtex, vrb, wdb};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A game of two builds in the folder `game`.
fn game() -> TempDir {
    let dir = TempDir::new().unwrap();
    write_game(&dir.path().join("game"));
    dir
}

fn index(dir: &TempDir, name: &str) -> PathBuf {
    dir.path().join("game/bin").join(BUILDS[1]).join("idx").join(name)
}

fn cut(path: &Path, len: usize) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..len]).unwrap();
}

/// Runs a command whose answer lacks something: its standard error names `what`.
fn lacking(dir: &TempDir, code: i32, what: &str, args: &[&str]) -> String {
    let (out, err) = run(dir.path(), code, args);
    assert!(format!("{out}{err}").contains(what), "{args:?}: {err}");
    out
}

#[test]
fn a_game_with_an_unreadable_index_is_not_whole() {
    let dir = game();
    let content = index(&dir, "content.idx");
    cut(&content, 100);
    let mut code = 3;
    loop {
        let named = "content.idx: ";
        for line in [
            "ls game",
            "ls game -f csv -t volumes",
            "ls game -t textures",
            "ls game -t builds",
            "ls game --tree",
            "info game",
            "find aim game",
            "export game --to files.csv --force",
            "view game --to page.html --force",
            "cat game content/assets.bin",
            "info game:content/assets.bin",
            "extract game content/assets.bin --to out",
            "extract game * --to out --force",
            "ls game:*.bin",
        ] {
            lacking(&dir, code, named, &line.split(' ').collect::<Vec<_>>());
        }
        lacking(&dir, 3, named, &["verify", "game"]);
        for query in ["SELECT count(*) FROM files", "SELECT path FROM files", "SELECT count(*) FROM volumes"] {
            let out = lacking(&dir, code, named, &["sql", query, "game", "-f", "csv"]);
            assert!(!query.contains("count") || !out.contains(char::is_numeric), "{out}");
        }
        // A file that another index names is not left out.
        run(dir.path(), 0, &["ls", "game", "gui/battle/aim.xml"]);
        #[cfg(unix)]
        if code == 3 {
            fs::remove_file(&content).unwrap();
            std::os::unix::fs::symlink("nothing", &content).unwrap();
            code = 4;
            continue;
        }
        break;
    }
}

/// Without its files, a build would seem to have lost them.
#[test]
fn a_build_that_is_not_whole_is_not_compared() {
    let dir = game();
    cut(&index(&dir, "content.idx"), 100);
    let old = format!("game@{}", BUILDS[0]);
    let named = "content.idx: ";
    for more in [&[][..], &["--stat"], &["-f", "json"], &["--deep"]] {
        for sides in [[&*old, "game"], ["game", &*old]] {
            let out = lacking(&dir, 3, named, &[&["diff"], &sides[..], more].concat());
            assert!(!out.contains("removed") && !out.contains("added"), "{out}");
        }
    }
    lacking(&dir, 3, named, &["snapshot", "game", "--to", "kept"]);
    assert!(!dir.path().join("kept/bin").join(BUILDS[1]).exists());
    let out = lacking(&dir, 3, named, &["history", "content/assets.bin", "game", "-f", "csv"]);
    assert!(out.contains("present") && !out.contains("removed"), "{out}");
    run(dir.path(), 0, &["snapshot", &old, "--to", "kept"]);
}

/// A name with a wrong letter hides no file, and the index differs from its checksum.
#[test]
fn a_build_whose_index_differs_from_its_checksum_is_not_compared() {
    let dir = game();
    let content = index(&dir, "content.idx");
    let mut bytes = fs::read(&content).unwrap();
    let at = bytes.windows(10).position(|name| name == b"assets.bin").unwrap();
    bytes[at] ^= 1;
    fs::write(&content, bytes).unwrap();
    let old = format!("game@{}", BUILDS[0]);
    let named = "content.idx: header: MurmurHash3 checksum is ";
    lacking(&dir, 3, named, &["diff", &old, "game"]);
    lacking(&dir, 3, named, &["diff", &old, "game", "--stat"]);
    lacking(&dir, 3, named, &["snapshot", "game", "--to", "kept"]);
    lacking(&dir, 3, named, &["history", "content/assets.bin", "game"]);
}

#[cfg(unix)]
#[test]
fn a_build_that_cannot_be_listed_is_still_the_newest() {
    let dir = game();
    let newest = dir.path().join("game/bin/9000000");
    fs::create_dir(&newest).unwrap();
    std::os::unix::fs::symlink("nothing", newest.join("idx")).unwrap();
    lacking(&dir, 4, "9000000/idx: cannot read the folder: ", &["ls", "game"]);
    lacking(&dir, 4, "9000000/idx: cannot read the folder: ", &["diff", &format!("game@{}", BUILDS[1]), "game"]);
    let named = format!("game@{}", BUILDS[1]);
    run(dir.path(), 0, &["ls", &named]);
    let out = lacking(&dir, 4, "9000000/idx: ", &["ls", &named, "-t", "builds", "-f", "csv"]);
    assert!(out.contains("\n9000000,,\r\n") && out.contains(BUILDS[0]), "{out}");
}

#[test]
fn unreadable_mods_and_volumes_are_not_missing() {
    let dir = game();
    let volume = dir.path().join("game/res_packages/content_0001.pkg");
    fs::remove_file(&volume).unwrap();
    fs::create_dir(&volume).unwrap();
    let out = lacking(&dir, 4, "content_0001.pkg: cannot open: ", &["ls", "game", "-t", "volumes", "-f", "csv"]);
    assert!(out.contains("\ncontent_0001.pkg,,true,"), "{out}");
    let (out, _) = run(
        dir.path(),
        0,
        &["sql", "SELECT DISTINCT installed FROM files WHERE volume = 'content_0001.pkg'", "game", "-f", "csv"],
    );
    assert_eq!(out, "installed\r\ntrue\r\n");
    lacking(&dir, 4, "content_0001.pkg: cannot open: ", &["extract", "game", "content/assets.bin", "--to", "-"]);
    lacking(&dir, 3, "content_0001.pkg: cannot open: ", &["verify", "game"]);
    let mods = dir.path().join("game/res_mods");
    fs::remove_dir_all(&mods).unwrap();
    fs::write(&mods, "").unwrap();
    lacking(&dir, 4, "res_mods: cannot read the folder: ", &["ls", "game"]);
}

/// Writes the sample of a game's folder into `game`.
fn sample(name: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let (_, _, make) = FOLDERS.iter().find(|(known, ..)| *known == name).unwrap();
    let mut put = |path: &str, bytes: &[u8]| {
        let path = dir.path().join("game").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        Ok(())
    };
    make(3, Size::Small, &mut put).unwrap();
    dir
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(below(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn rows_behind_damage_are_not_counted() {
    for (name, ending, table) in [
        ("ff13", "filelistu.win32.bin", "files"),
        ("rusty-hearts", "f00X.dat", "files"),
        ("se2", ".def", "definitions"),
    ] {
        let dir = sample(name);
        let files = below(&dir.path().join("game"));
        let file = files.iter().find(|path| path.to_str().unwrap().ends_with(ending)).expect(name);
        let count = format!("SELECT count(*) FROM {table}");
        run(dir.path(), 0, &["sql", &count, "game"]);
        cut(file, usize::try_from(file.metadata().unwrap().len()).unwrap() - 40);
        let args = ["sql", &count, "game", "-f", "csv"];
        let out = lacking(&dir, 3, "", &args);
        assert!(!out.contains(char::is_numeric), "{name}: {out}");
        let (out, _) = run(dir.path(), 3, &["ls", "game", "-t", table, "-f", "csv"]);
        assert!(out.lines().count() > 1, "{name}: {out}");
        if table == "files" {
            let out = lacking(&dir, 3, "", &["diff", "game", "game"]);
            assert!(!out.contains("no differences"), "{name}: {out}");
        }
    }
}

/// Three sheets of 24 records, and a file that is of no interest.
fn sheets() -> TempDir {
    let dir = TempDir::new().unwrap();
    for name in ["a", "b", "c"] {
        fs::write(dir.path().join(format!("{name}.wdb")), wdb::demo(1, Size::Small)).unwrap();
    }
    fs::write(dir.path().join("notes.txt"), "").unwrap();
    dir
}

#[test]
fn a_file_that_is_not_what_its_name_promises_is_left_out_and_named() {
    let dir = sheets();
    let count = |code: i32, from: &str, more: &[&str]| {
        let args = ["sql", "SELECT count(*) AS n FROM records", from, "-f", "csv"];
        run(dir.path(), code, &[&args[..], more].concat())
    };
    let (all, err) = count(0, ".", &[]);
    assert_eq!(err, "");
    let each = all.trim_end().rsplit('\n').next().unwrap().parse::<u64>().unwrap() / 3;
    for bytes in ["", "version https://git-lfs"] {
        fs::write(dir.path().join("b.wdb"), bytes).unwrap();
        for from in [".", "*.wdb", "[ab]*"] {
            let files = if from == "[ab]*" { 1 } else { 2 };
            for more in [&[][..], &["--format-of", "wdb"]] {
                let (out, err) = count(3, from, more);
                assert_eq!(out, format!("n\r\n{}\r\n", each * files), "{from} {more:?}");
                assert!(err.contains("b.wdb: ") && err.lines().count() == 1, "{from} {more:?}: {err}");
            }
            let (out, err) = count(3, from, &["--strict"]);
            assert!(out.is_empty() && err.contains("b.wdb"), "{from}: {out}{err}");
        }
        for line in ["verify .", "info *.wdb", "find e .", "ls *.wdb", "export *.wdb --to all.csv --force"] {
            lacking(&dir, 3, "b.wdb: ", &line.split(' ').collect::<Vec<_>>());
        }
    }
    // Without a good one, the damaged file is the answer.
    for name in ["a", "c"] {
        fs::write(dir.path().join(format!("{name}.wdb")), "").unwrap();
    }
    for from in [".", "*.wdb"] {
        assert!(count(3, from, &[]).1.contains("a.wdb: the file is empty"), "{from}");
        lacking(&dir, 3, "a.wdb: the file is empty", &["verify", from]);
    }
    // An empty file with the ending of a format was cut, even if other programs have files with that ending.
    for name in ["a.visual", "b.mfm", "c.model", "d.info"] {
        fs::write(dir.path().join(name), "").unwrap();
        for from in [".", "*"] {
            lacking(&dir, 3, &format!("{name}: the file is empty"), &["verify", from]);
        }
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    // A pattern with an ending names files, whatever the ending.
    for pattern in ["*.txt", "*.{txt,csv}", "{notes,other}.txt", "notes.[st]x?"] {
        lacking(&dir, 3, "notes.txt: the file is empty", &["verify", pattern]);
    }
    run(dir.path(), 1, &["verify", "notes*"]);
}

#[test]
fn a_chosen_format_leaves_out_no_file_whose_name_promises_it() {
    let dir = sheets();
    fs::write(dir.path().join("b.wdb"), geometry::demo(1, Size::Small)).unwrap();
    for from in [".", "*.wdb", "*"] {
        let args = ["sql", "SELECT count(*) FROM records", from, "--format-of", "wdb"];
        lacking(&dir, 3, "b.wdb: a geometry file among wdb files", &args);
    }
    fs::rename(dir.path().join("b.wdb"), dir.path().join("b.geometry")).unwrap();
    run(dir.path(), 0, &["sql", "SELECT count(*) FROM records", ".", "--format-of", "wdb"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_named_if_its_name_promises_a_file() {
    let dir = sheets();
    let link = |name: &str| std::os::unix::fs::symlink("nothing", dir.path().join(name)).unwrap();
    link("notes.lock");
    run(dir.path(), 0, &["verify", "."]);
    link("d.wdb");
    link("e.splash");
    for name in ["d.wdb", "e.splash"] {
        lacking(&dir, 4, &format!("{name}: cannot open: "), &["verify", "."]);
    }
    lacking(&dir, 4, "d.wdb: cannot open: ", &["sql", "SELECT count(*) FROM records", "*.wdb"]);
    let (out, err) = run(dir.path(), 4, &["ls", "*.wdb", "--strict"]);
    assert!(out.is_empty() && err.lines().count() == 1, "{out}{err}");
    lacking(&dir, 4, "e.splash: cannot open: ", &["sql", "SELECT count(*) FROM boxes", "*.splash"]);
}

/// The list of render sets of one model leads nowhere: how many it has is not known.
#[test]
fn rows_of_a_list_that_cannot_be_read_are_neither_counted_nor_compared() {
    const MODEL: usize = 168;
    const RENDER_SETS: usize = 144;
    let dir = TempDir::new().unwrap();
    let mut bytes = models_bin(3, Size::Small);
    fs::write(dir.path().join("old.bin"), &bytes).unwrap();
    bytes[24 + 3 * MODEL + RENDER_SETS..][..8].fill(0x7f);
    fs::write(dir.path().join("new.bin"), &bytes).unwrap();
    let asked = |code, query: &str, file| run(dir.path(), code, &["sql", query, file, "-f", "csv"]);
    for query in [
        "SELECT count(*) FROM render_sets",
        "SELECT sum(model) FROM render_sets",
        "SELECT count(*) FROM render_sets WHERE model = 3",
    ] {
        let (out, said) = asked(3, query, "new.bin");
        assert!(said.contains("render_sets") && !out.contains(char::is_numeric), "{query}: {out}{said}");
    }
    // Rows before and after it are read, found and changed.
    for condition in ["model = 2", "model = 4", "rowid = 0"] {
        let query = format!("SELECT * FROM render_sets WHERE {condition}");
        assert_eq!(asked(0, &query, "new.bin"), asked(0, &query, "old.bin"));
    }
    run(
        dir.path(),
        0,
        &["sql", "UPDATE render_sets SET material_name_id = 7 WHERE rowid = 0", "new.bin", "--to", "a.bin"],
    );
    // With damaged rows left out, all others are there, and what is missing is named.
    let (all, _) = asked(0, "SELECT model, \"index\" FROM render_sets WHERE model <> 3", "old.bin");
    let query = "SELECT model, \"index\" FROM render_sets";
    let (rows, said) = run(dir.path(), 3, &["sql", query, "new.bin", "-f", "csv", "--skip-damaged"]);
    assert!(rows == all && said.contains("rows of 1 table that cannot be found are left out"), "{rows}{said}");
    let export = ["export", "new.bin", "-t", "render_sets", "-c", "model,index", "--skip-damaged", "--to", "rows.csv"];
    let (_, said) = run(dir.path(), 3, &export);
    assert!(said.ends_with("new.bin: rows of render_sets that cannot be found are left out\n"), "{said}");
    assert_eq!((said.matches("render_sets").count(), said.lines().count()), (2, 2), "{said}");
    assert_eq!(fs::read_to_string(dir.path().join("rows.csv")).unwrap(), all);
    assert!(said.contains("new.bin: render_sets of record 3: model: pointer "), "{said}");
    // Without the option nothing is written, and the error names it.
    let (_, said) = run(dir.path(), 3, &["export", "new.bin", "-t", "render_sets", "--to", "none.csv"]);
    assert!(said.ends_with("; --skip-damaged writes the other rows\n") && said.contains("(at offset 0x"), "{said}");
    assert!(said.matches("render_sets").count() == 1 && !dir.path().join("none.csv").exists(), "{said}");
    for [old, new] in [["old.bin", "new.bin"], ["new.bin", "old.bin"]] {
        let (out, _) = run(dir.path(), 3, &["diff", old, new, "-t", "render_sets", "-f", "patch"]);
        assert_eq!(out, "");
    }
    // Of several such lists, the first one is named with their number.
    bytes[24 + 5 * MODEL + RENDER_SETS..][..8].fill(0x7f);
    fs::write(dir.path().join("new.bin"), &bytes).unwrap();
    let (_, said) = run(dir.path(), 3, &["sql", query, "new.bin", "--skip-damaged"]);
    assert!(said.contains("render_sets of record 3, the first of 2: model: pointer "), "{said}");
}

/// A pack names its sheets: one that cannot be read is damage, whatever its bytes begin with.
#[test]
fn a_damaged_sheet_of_a_pack_is_named_and_its_rows_are_not_removed() {
    let dir = TempDir::new().unwrap();
    let whole = wdb::demo_pack(3, Size::Small);
    fs::write(dir.path().join("old.bin"), &whole).unwrap();
    // The entry of the sheet btscene.wdb: its name takes 16 bytes, then its offset and its size.
    let entry = whole.windows(8).position(|bytes| bytes == b"btscene\0").unwrap();
    let number = |at: usize| u32::from_be_bytes(whole[at..][..4].try_into().unwrap()) as usize;
    let (start, size) = (number(entry + 16), number(entry + 20));
    let damages: [(usize, &[u8]); 5] = [
        (start, b"X"),
        (start + 16, b"x"),
        (entry + 16, &(start as u32 + 64).to_be_bytes()),
        (entry + 16, &(whole.len() as u32 - 64).to_be_bytes()),
        (entry + 20, &[0; 4]),
    ];
    for (at, bytes) in damages {
        let mut damaged = whole.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(dir.path().join("new.bin"), damaged).unwrap();
        for line in [
            "verify new.bin",
            "ls new.bin -t sheets",
            "ls new.bin -t btscene",
            "find chain new.bin",
            "cat new.bin btscene.wdb",
        ] {
            lacking(&dir, 3, "btscene.wdb: ", &line.split(' ').collect::<Vec<_>>());
        }
        for query in ["SELECT sum(records) FROM sheets", "SELECT count(*) FROM btscene"] {
            let out = lacking(&dir, 3, "btscene.wdb: ", &["sql", query, "new.bin", "-f", "csv"]);
            assert!(!out.contains(char::is_numeric), "{query}: {out}");
        }
        for sides in [["old.bin", "new.bin"], ["new.bin", "old.bin"]] {
            for more in ["--stat", "--format=patch"] {
                let out = lacking(&dir, 3, "no table btscene", &["diff", sides[0], sides[1], more]);
                assert!(
                    !out.contains("btscene  ") && !out.contains("removed\",") && !out.contains("added\","),
                    "{out}"
                );
            }
        }
        // The other sheet is read and edited.
        let (out, _) = run(dir.path(), 0, &["sql", "SELECT count(*) FROM bt_chainbonus", "new.bin", "-f", "csv"]);
        assert!(out.contains('2'), "{out}");
    }
    assert!(size > 64);
}

/// An archive whose second and third chunks are damaged: one cannot be decoded, the other has a boolean that is neither true nor false.
fn damaged_archive() -> Vec<u8> {
    let world = vrb::world();
    let values = vrb::world_values(&world, 5, 20);
    let mut broken = values.clone();
    // The boolean `Paused` follows the number `Time`.
    let time = values.windows(8).position(|bytes| bytes == 0.1f64.to_le_bytes()).unwrap();
    broken[time + 8] = 7;
    let codec = vrb::Codec::Zlib;
    let mut bytes = vrb::ArchiveBuilder::new(&world.types, world.world, codec, values)
        .chunk("Stream", world.entities, vrb::Codec::None, b"a text to replace".to_vec())
        .chunk("Boolean", world.world, codec, broken)
        .chunk("Last", world.entities, codec, vrb::entities(&world, 6, 30))
        .build();
    let stream = bytes.windows(6).position(|bytes| bytes == b"a text").unwrap();
    bytes[stream] = 9;
    bytes
}

#[test]
fn searches_and_scans_of_a_damaged_archive_give_the_same_rows() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("save.vrb"), damaged_archive()).unwrap();
    let ask = |code: i32, query: &str, more: &[&str]| {
        run(dir.path(), code, &[&["sql", query, "save.vrb", "-f", "csv"], more].concat())
    };
    let skip: &[&str] = &["--skip-damaged"];
    let (all, said) = ask(3, "SELECT chunk, path, value FROM \"values\"", skip);
    for chunk in ["Stream", "Boolean"] {
        assert!(said.contains(&format!("chunk {chunk}")), "{said}");
    }
    for chunk in ["[Main],", "Boolean,Name,", "Boolean,Time,", "Last,[29]"] {
        assert!(all.contains(&format!("\n{chunk}")), "{chunk}");
    }
    assert!(!all.contains("\nBoolean,Paused"), "a value after the damage of its chunk");
    let columns = "SELECT chunk, path, value FROM \"values\" WHERE";
    for (path, rows) in [("Name", 2), ("Paused", 1), ("[29].Name", 1), ("Nope.Nope", 0)] {
        let (scanned, _) = ask(3, &format!("{columns} +path = '{path}'"), skip);
        let (found, said) = ask(3, &format!("{columns} path = '{path}'"), skip);
        assert_eq!((&found, found.lines().count()), (&scanned, rows + 1), "{path}");
        assert!(said.contains("chunk Stream") && said.contains("chunk Boolean"), "{path}: {said}");
        let condition = format!("path = '{path}'");
        let (listed, _) =
            run(dir.path(), 3, &["ls", "save.vrb", "-t", "values", "-w", &condition, "-f", "csv", skip[0]]);
        assert_eq!(listed.lines().count(), rows + 1, "{path}: {listed}");
        // Nothing is left out unless the user allows it.
        ask(3, &format!("{columns} path = '{path}'"), &[]);
    }
    // A join, a row by its number, and a page after the damage.
    let (joined, _) = ask(
        3,
        "SELECT b.chunk, b.path, b.value FROM \"values\" a, \"values\" b WHERE a.chunk = 'Last' AND b.path = a.path AND b.chunk = 'Last'",
        skip,
    );
    let last: Vec<&str> = all.lines().filter(|line| line.starts_with("Last,")).collect();
    assert_eq!(joined.lines().skip(1).collect::<Vec<_>>(), last);
    let count = all.lines().count() - 1;
    for (clause, rows) in [(format!("WHERE rowid = {}", count - 1), 1), (format!("LIMIT 5 OFFSET {}", count - 5), 5)] {
        let query = format!("SELECT chunk, path, value FROM \"values\" {clause}");
        let (page, said) = ask(3, &query, skip);
        assert_eq!(page.lines().skip(1).collect::<Vec<_>>(), &last[last.len() - rows..], "{clause}");
        assert!(said.contains("chunk Stream"), "{clause}: {said}");
        ask(3, &query, &[]);
    }
    let (found, _) = run(dir.path(), 3, &["find", "[29].Name", "save.vrb", "-f", "csv"]);
    assert!(found.contains("Last"), "{found}");
}

#[test]
fn a_value_before_damage_is_edited_and_others_are_refused() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("save.vrb"), damaged_archive()).unwrap();
    let edited = |chunk: &str, path: &str, more: &[&str]| {
        let edit = format!("UPDATE \"values\" SET value = '77' WHERE path = '{path}' AND chunk = '{chunk}'");
        let said = lacking(
            &dir,
            3,
            "chunk Stream",
            &[&["sql", &edit, "save.vrb", "--to", "new.vrb", "--force"], more].concat(),
        );
        (said, dir.path().join("new.vrb").exists())
    };
    assert!(!edited("[Main]", "Seed", &[]).1);
    // The values of the other chunks cannot be compared with what was asked.
    assert!(!edited("Boolean", "Name", &["--skip-damaged"]).1);
    assert!(!edited("Last", "[3].Name", &["--skip-damaged"]).1);
    let (said, is_written) = edited("[Main]", "Seed", &["--skip-damaged"]);
    assert!(is_written && said.contains("5 -> 77"), "{said}");
}

/// A file that was cut between two textures has fewer of them.
#[test]
fn textures_after_a_cut_are_not_absent() {
    let dir = TempDir::new().unwrap();
    let whole = gtex::demo(1, Size::Small);
    fs::write(dir.path().join("a.imgb"), gtex::demo_imgb(1, Size::Small)).unwrap();
    for (len, rows) in [(whole.len() / 2, 1), (65, 0)] {
        fs::write(dir.path().join("a.trb"), &whole[..len]).unwrap();
        for line in ["verify a.trb", "export a.trb --to out/ --as png --force", "export a.trb --to a.csv"] {
            lacking(&dir, 3, "section", &line.split(' ').collect::<Vec<_>>());
        }
        let out = lacking(&dir, 3, "section", &["ls", "a.trb", "-f", "csv"]);
        assert_eq!(out.lines().count(), rows + 1, "{out}");
        let out = lacking(&dir, 3, "section", &["sql", "SELECT count(*) FROM textures", "a.trb", "-f", "csv"]);
        assert!(!out.contains(char::is_numeric), "{out}");
    }
}
