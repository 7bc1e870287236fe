//! Tasks of users who know the help alone: each wrong first try leads to the right command.

use crate::common::run;
use crate::world::world;
use std::fs;

const SHIP: &str = "content/gameplay/common/ship/cruiser/XSC501_Aurora_1942";

/// A modder wants the texture of the deck, and has the model.
#[test]
fn a_texture_of_a_loose_model_is_found_and_written() {
    let dir = world();
    let (_, said) = run(dir.path(), 2, &["export", "ship.geometry", "--to", "deck.png"]);
    assert!(said.contains("assetq refs ship.geometry . --tree names its textures"), "{said}");
    let (_, said) = run(dir.path(), 1, &["refs", "ship.geometry", "."]);
    assert!(said.contains("--tree shows the files of ./ship.model"), "{said}");
    let (tree, _) = run(dir.path(), 0, &["refs", "ship.geometry", ".", "--tree"]);
    // Other commands take the addresses of the tree.
    let deck = tree.lines().find(|line| line.contains("deck_a")).and_then(|line| line.split("  ").last()).unwrap();
    run(dir.path(), 0, &["export", deck, "--to", "deck.png"]);
    assert!(fs::read(dir.path().join("deck.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_texture_of_a_model_in_a_game_is_found_and_written() {
    let dir = world();
    let model = format!("{SHIP}/ship.geometry");
    let (_, said) = run(dir.path(), 2, &["export", &format!("wows:{model}"), "--to", "deck.png"]);
    assert!(said.contains(&format!("assetq refs {model} wows --tree")), "{said}");
    let (tree, said) = run(dir.path(), 0, &["refs", &model, "wows", "--tree"]);
    assert!(tree.starts_with(&format!("{SHIP}/ship.model\n")), "{tree}");
    assert!(said.contains("it refers to nothing; the tree is of") && said.contains("which uses it"), "{said}");
    let deck = tree.lines().find(|line| line.contains("deck_a")).and_then(|line| line.split("  ").last()).unwrap();
    run(dir.path(), 0, &["export", "wows", deck, "--to", "deck.png"]);
}

/// In a folder with files of many formats, a table is read from the files of its format.
#[test]
fn a_table_of_a_folder_chooses_the_format_of_its_files() {
    let dir = world();
    let (_, said) = run(dir.path(), 2, &["ls", ".", "-t", "textures"]);
    assert!(said.contains("files of several formats match: 16 dds, 1 gtex; --format-of chooses one"), "{said}");
    fs::remove_file(dir.path().join("icons.trb")).unwrap();
    let (rows, _) = run(dir.path(), 0, &["ls", ".", "-t", "textures", "-f", "csv"]);
    assert!(rows.lines().any(|row| row.starts_with("./deck_a.dds,")), "{rows}");
    let (rows, _) = run(dir.path(), 0, &["export", ".", "-t", "armor_plates", "--to", "-", "--as", "csv"]);
    assert!(rows.lines().skip(1).all(|row| row.contains(".geometry,")), "{rows}");
}

/// A data miner searches all files of all builds: files of other formats are passed over, as in a folder.
#[test]
fn a_search_in_all_files_of_all_builds_passes_over_unknown_formats() {
    let dir = world();
    let (found, said) = run(dir.path(), 0, &["find", "Borealis", "wows@*:*", "-c", "-f", "csv"]);
    let is_in = |build: &str| found.contains(&format!("wows@{build}:content/assets.bin,paths,"));
    assert!(is_in("7100000") && !is_in("7000000"), "{found}");
    assert_eq!(said, "");
    // A file that is named is opened.
    let (_, said) = run(dir.path(), 3, &["find", "Borealis", "wows:*.xml"]);
    assert!(said.contains("camouflages.xml: not a format that assetq knows"), "{said}");
    let (_, said) = run(dir.path(), 1, &["find", "Borealis", "wows:camou*"]);
    assert!(said.contains("no file of a known format matches"), "{said}");
}

/// The advice of a search that found nothing was tried.
#[test]
fn a_search_without_result_names_the_option_that_finds_something() {
    let dir = world();
    let said = |text: &str, file: &str| run(dir.path(), 1, &["find", text, file]).1;
    assert!(said("*XSC501*.visual", "assets.bin").contains("found; -p also searches the folders of paths\n"));
    assert!(
        said("Aurora*", "wows")
            .contains("found; a glob matches from the beginning to the end: '*Aurora*' matches anywhere\n")
    );
    assert!(said("SHIP.Visual", "assets.bin").contains("found; -i ignores case\n"));
    for (text, found) in [("/content/*.splash", "content/*.splash"), ("/content/gameplay", "content/gameplay")] {
        let said = said(text, "assets.bin");
        assert!(said.ends_with(&format!("found; paths begin without a '/': '{found}'\n")), "{said}");
        run(dir.path(), 0, &["find", found, "assets.bin"]);
    }
    assert!(said("Nobody*", "wows").ends_with("nothing with \"Nobody*\" was found\n"));
}

/// A ship goes by its title, its index and its name in any case, for every command about parameters.
#[test]
fn a_ship_is_named_in_one_way_for_all_commands() {
    let dir = world();
    for name in ["PXSC501_Aurora_1942", "pxsc501_aurora_1942", "PXSC501", "4180000000", "Aurora", "aurora"] {
        let (rows, _) = run(dir.path(), 0, &["history", name, "wows@7000000", "wows", "-f", "csv"]);
        let changed = rows.lines().filter(|row| row.contains(",changed,")).collect::<Vec<_>>();
        assert_eq!(changed.len(), 8, "{name}: {changed:?}");
        assert!(changed[0].contains("fields,A_Artillery.HP_XGM_1.shotDelay,value,8.5,7.5"), "{name}: {changed:?}");
        let (shown, _) = run(dir.path(), 0, &["cat", "GameParams.data", name, "-f", "json"]);
        assert!(shown.contains("\"PXSC501_Aurora_1942\""), "{name}");
        let (found, _) = run(dir.path(), 0, &["resolve", name, "--db", "GameParams.data", "-f", "csv"]);
        assert!(found.contains(",PXSC501_Aurora_1942,Ship,"), "{name}: {found}");
        run(dir.path(), 0, &["export", "wows", "--ship", name, "--parts", "hull", "--to", "ship.glb", "--force"]);
    }
    let (shown, said) = run(dir.path(), 0, &["history", "Aurora", "wows"]);
    assert!(said.contains("Aurora: note: it is PXSC501_Aurora_1942") && said.contains("-f csv lists them"), "{said}");
    assert!(
        shown.contains("  = fields  331 rows\n") && shown.contains("HP_XGM_1.shotDelay  value: 8.5 -> 7.5"),
        "{shown}"
    );
    // The titles are in texts beside the parameters.
    let (_, said) = run(dir.path(), 1, &["cat", "GameParams.data", "Aurora", "--no-companions"]);
    assert!(said.contains("did you mean PXSC501_Aurora_1942?"), "{said}");
}

/// A condition is answered for each table as far as its columns decide it; tables that differ and lack its columns are named.
#[test]
fn a_condition_of_a_comparison_names_the_tables_that_it_leaves_out() {
    let dir = world();
    let diff = |code, condition: &str| {
        run(dir.path(), code, &["diff", "wows@7000000", "wows", "--deep", "-w", condition, "-f", "csv"])
    };
    let (either, said) = diff(1, "title = 'Aurora' or entity ~ '*Aurora*'");
    assert_eq!(either.matches("shotDelay").count(), 4, "{either}");
    assert!(said.contains("left out, as they differ and lack title, entity: 9 rows of files,"), "{said}");
    assert!(!said.contains(":fields") && !said.contains(":entities"), "{said}");
    let (_, said) = diff(1, "title = 'Aurora'");
    assert!(said.contains("316 rows of content/GameParams.data:fields (it has entity, path, kind, value)"), "{said}");
    assert!(said.contains("nothing that differs matches"), "{said}");
    // A column that no table has is a mistake, also as one of two alternatives.
    let (_, said) = diff(2, "entity ~ '*Aurora*' or ship ~ '*Aurora*'");
    assert!(said.contains("there is no column ship in what is compared; files has path, id,"), "{said}");
    let (_, said) = run(dir.path(), 2, &["diff", "wows@7000000", "wows", "-w", "title = 'Aurora'"]);
    assert!(said.contains("; --deep also compares the tables of files in it"), "{said}");
    // A table that is left out is no reason to report that nothing differs.
    fs::write(dir.path().join("a.csv"), "record,uHp\ne_wolf,7\n").unwrap();
    run(dir.path(), 0, &["patch", "enemy.wdb", "a.csv", "--to", "new.wdb"]);
    let (_, said) = run(dir.path(), 1, &["diff", "enemy.wdb", "new.wdb", "-w", "record = 'e_golem'"]);
    assert!(said.contains("nothing that differs matches"), "{said}");
}

/// A player counts plates: a plate has a row for each ship and hull, and a note tells how to count each once.
#[test]
fn repeated_rows_are_noted_with_the_condition_that_counts_each_thing_once() {
    let dir = world();
    let thick = "thickness > 100";
    let plates = |more: &str| {
        let condition = format!("{thick}{more}");
        let args = ["ls", "wows:*Aurora*.geometry", "-t", "armor_plates", "-f", "csv", "-w", &condition];
        run(dir.path(), 0, &args)
    };
    let (all, said) = plates("");
    let one = "ship = 'PXSC501_Aurora_1942' and component = 'A_Hull'";
    let note = "note: rows of armor_plates repeat for each component; \"component = 'A_Hull'\" in --where selects one";
    assert!(said.contains(note), "{said}");
    let (once, said) = plates(&format!(" and {one}"));
    assert_eq!((said.as_str(), 2 * (once.lines().count() - 1)), ("", all.lines().count() - 1), "{once}");
    // The same for a question in SQL, and for an export.
    let sql = |code, condition: &str| {
        let query = format!("SELECT count(*) FROM armor_plates WHERE {condition}");
        run(dir.path(), code, &["sql", &query, "ship.geometry", "--with", "GameParams.data", "-f", "csv"])
    };
    let (count, said) = sql(0, thick);
    let note = format!(
        "rows of armor_plates repeat for each ship and component; \"{one}\" in WHERE selects one, which may lack things of others"
    );
    assert!(count.ends_with("\r\n8\r\n") && said.contains(&note), "{count} {said}");
    let (count, said) = sql(0, &format!("{thick} AND {one}"));
    assert_eq!((count.as_str(), said.as_str()), ("count(*)\r\n3\r\n", ""));
    let args = ["export", "GameParams.data", "-t", "armor", "-w", "thickness > 100", "--to", "armor.csv"];
    assert!(run(dir.path(), 0, &args).1.contains("rows of armor repeat for each component"));
}

/// A ship of a game is shown and followed by any of its names; a command that takes no ship leads to one that does.
#[test]
fn a_ship_of_a_game_is_named_without_its_file() {
    let dir = world();
    for name in ["PXSC501_Aurora_1942", "PXSC501", "4180000000", "Aurora", "aurora"] {
        let (shown, said) = run(dir.path(), 0, &["cat", "wows", name, "-f", "json"]);
        assert!(shown.contains("\"PXSC501_Aurora_1942\"") && said.is_empty(), "{name}: {said}");
        let (rows, said) = run(dir.path(), 0, &["refs", name, "wows", "-f", "csv"]);
        let model = format!("{SHIP}/ship.model,fields,A_Hull.model,wows:content/GameParams.data,");
        assert!(rows.contains(&model), "{name}: {rows}");
        assert!(said.contains(" of wows:content/GameParams.data\n"), "{name}: {said}");
        assert_eq!(run(dir.path(), 0, &["refs", name, "GameParams.data"]).1, "");
        let (_, said) = run(dir.path(), 1, &["resolve", name, "--db", "wows"]);
        let advice = "not found; it is PXSC501_Aurora_1942 of the parameters: --db wows:content/GameParams.data\n";
        assert!(said.ends_with(advice), "{name}: {said}");
        run(dir.path(), 0, &["resolve", name, "--db", "wows:content/GameParams.data"]);
        let (_, said) = run(dir.path(), 1, &["ls", "wows", name]);
        assert!(said.ends_with(&format!(": assetq cat wows {name} shows it\n")), "{said}");
        let (_, said) = run(dir.path(), 1, &["export", "wows", name, "--to", "ship.glb"]);
        assert!(said.ends_with(&format!("of the parameters, and --ship {name} writes a ship\n")), "{said}");
    }
    let (tree, _) = run(dir.path(), 0, &["refs", "Aurora", "wows", "--tree"]);
    assert!(tree.starts_with("PXSC501_Aurora_1942\n├── A_Hull.model  ") && tree.contains("hull_a.dds"), "{tree}");
    // An entry of the database is found without its file, too.
    let (shown, _) = run(dir.path(), 0, &["cat", "wows", &format!("{SHIP}/ship.visual")]);
    assert!(shown.contains("type: VisualPrototype"), "{shown}");
    let (_, said) = run(dir.path(), 2, &["view", "wows", "Aurora", "--to", "page.html"]);
    assert!(
        said.contains("Aurora: view shows one file: --compare shows two") && said.contains("--ship SHIP"),
        "{said}"
    );
    // A table of the parameters is listed by the same option as one of the game.
    let (_, said) = run(dir.path(), 1, &["ls", "wows", "hulls"]);
    assert!(said.ends_with("; hulls is a table: -t hulls lists it\n"), "{said}");
    run(dir.path(), 0, &["ls", "wows", "-t", "hulls"]);
}

/// A reader of the rows of a history wants to know which words its column `change` has.
#[test]
fn the_help_of_a_history_names_the_values_of_its_column_change() {
    let dir = world();
    let (help, _) = run(dir.path(), 0, &["history", "--help"]);
    let (rows, _) = run(dir.path(), 0, &["history", "Aurora", "wows", "-f", "csv"]);
    let (header, rows) = rows.split_once("\r\n").unwrap();
    assert!(
        help.replace(['\n', ' '], "").contains("columnsbuild,change,table,part,field,oldandnew"),
        "{header}: {help}"
    );
    let mut words: Vec<&str> = rows.lines().filter_map(|row| row.split(',').nth(1)).collect();
    words.extend(["added", "removed"]);
    assert!(words.iter().all(|word| help.contains(&format!("`{word}`"))), "{help}");
}

/// Each field of a ship has the ship's name in its key: a person sees the name once, a program each row.
#[test]
fn a_key_that_many_rows_repeat_is_found_once() {
    let dir = world();
    let find = |more: &[&str]| run(dir.path(), 0, &[&["find", "Aurora", "GameParams.data"], more].concat());
    let (shown, said) = find(&[]);
    let fields: Vec<&str> = shown.lines().filter(|line| line.contains("  entity  ")).collect();
    assert!(
        matches!(*fields, [first, more] if first.contains("[PXSC501_Aurora_1942, id]") && more.ends_with("… 330 more")),
        "{shown}"
    );
    assert_eq!(said, "assetq: 330 rows with a key that is shown above; --wide and -f csv list each\n");
    let (all, said) = find(&["-f", "csv"]);
    assert_eq!((all.matches(",entity,").count(), said.as_str()), (331, ""));
    let (wide, said) = find(&["--wide"]);
    assert_eq!((wide.lines().count(), said.as_str()), (all.lines().count(), ""));
    let (few, said) = find(&["-n", "20"]);
    assert_eq!((few.lines().count(), said.as_str()), (21, ""));
    // Other cells of one ship differ, however alike they are.
    let (shown, _) = run(dir.path(), 0, &["find", "PXPA101_152mm_AP", "GameParams.data"]);
    let guns = shown.lines().filter(|line| line.contains("[PXSC501_Aurora_1942, A_Artillery.HP_XGM_")).count();
    assert_eq!(guns, 4, "{shown}");
}

/// A modder has one file and does not know which files to look in.
#[test]
fn references_of_a_file_alone_lead_to_the_files_around_it() {
    let dir = world();
    let model = format!("{SHIP}/ship.geometry");
    let game = format!("wows:{model}");
    for (file, advice) in [
        ("ship.model", ["refs", "ship.model", ".", "--tree"]),
        ("ship.geometry", ["refs", "ship.geometry", ".", "--tree"]),
        (&game, ["refs", &model, "wows", "--tree"]),
    ] {
        let (_, said) = run(dir.path(), 2, &["refs", file]);
        let expected = format!(": assetq {} shows what {file} refers to\n", advice.join(" "));
        assert!(said.ends_with(&expected), "{said}");
        assert!(run(dir.path(), 0, &advice).0.contains("hull_a.dds"), "{file}");
    }
    let note = "note: only this file was searched; assetq refs ship.model . --tree follows it to others\n";
    assert!(run(dir.path(), 0, &["refs", "--", "ship.model", "ship.model"]).1.ends_with(note));
    assert!(run(dir.path(), 1, &["refs", "--", "ship.geometry", "ship.geometry"]).1.contains("only this file was"));
    // A database has entries, which its user has to name.
    assert!(run(dir.path(), 2, &["refs", "assets.bin"]).1.ends_with("or --dangling and files\n"));
}

/// A file that cannot be read may have the text.
#[test]
fn a_search_that_finds_nothing_says_that_not_all_was_read() {
    let dir = world();
    let (_, said) = run(dir.path(), 4, &["find", "Nemo", "missing.bin", "enemy.wdb"]);
    assert!(said.contains("missing.bin: cannot open: "), "{said}");
    assert!(said.ends_with("nothing with \"Nemo\" was found in what could be read\n"), "{said}");
    fs::write(dir.path().join("cut.wdb"), "WPD").unwrap();
    let (_, said) = run(dir.path(), 3, &["find", "Nemo", "cut.wdb", "enemy.wdb"]);
    assert!(said.ends_with("was found in what could be read\n"), "{said}");
    let (_, said) = run(dir.path(), 1, &["find", "Nemo", "enemy.wdb"]);
    assert_eq!(said, "assetq: nothing with \"Nemo\" was found\n");
}

/// The builds of a game list all builds, each in a column that has the name of the column with the build of its row.
#[test]
fn a_column_that_gets_a_number_is_explained() {
    let dir = world();
    let (rows, said) = run(dir.path(), 0, &["ls", "wows@*", "-t", "builds", "-f", "csv"]);
    assert!(rows.starts_with("file,build,build_2,"), "{rows}");
    let note = "note: column build_2 is the column build of the table; build is that of the file in each row\n";
    assert!(said.ends_with(note), "{said}");
    assert_eq!(run(dir.path(), 0, &["ls", "wows@*", "-t", "volumes", "-f", "csv"]).1, "");
}

/// The ships of a game are a table of its parameters: each command finds it there.
#[test]
fn a_table_of_the_parameters_is_found_from_the_game() {
    let dir = world();
    let (rows, _) = run(dir.path(), 0, &["ls", "wows@*", "-t", "ships", "-f", "csv"]);
    let of = |build: &str| rows.matches(&format!("wows:content/GameParams.data,{build},")).count();
    assert_eq!([of("7000000"), of("7100000")], [4, 5], "{rows}");
    for game in ["wows", "wows@*"] {
        let inside = format!("{game}:content/GameParams.data");
        let query = "SELECT count(*) FROM ships";
        assert_eq!(run(dir.path(), 0, &["sql", query, game]), run(dir.path(), 0, &["sql", query, &inside]));
        run(dir.path(), 0, &["export", game, "-t", "ships", "--to", "of_game.csv", "--force"]);
        let (_, said) = run(dir.path(), 2, &["ls", game, "-t", "shells"]);
        assert!(said.ends_with(&format!("; did you mean projectiles of {inside}?\n")), "{said}");
        run(dir.path(), 0, &["ls", game, "-t", "projectiles"]);
        run(dir.path(), 0, &["export", &inside, "-t", "ships", "--to", "ships.csv", "--force"]);
        let [of_game, of_file] = ["of_game.csv", "ships.csv"].map(|name| fs::read(dir.path().join(name)).unwrap());
        assert_eq!(of_game, of_file);
        let (_, said) = run(dir.path(), 2, &["ls", game, "-t", "xyz"]);
        let both = format!("; {inside} and {game}:content/assets.bin have tables of their own\n");
        assert!(said.ends_with(&both), "{said}");
    }
    let [old, new] = ["wows@7000000:content/GameParams.data", "wows:content/GameParams.data"];
    let of_files = run(dir.path(), 1, &["diff", old, new, "-t", "ships", "-f", "csv"]);
    assert_eq!(run(dir.path(), 1, &["diff", "wows@7000000", "wows", "-t", "ships", "-f", "csv"]), of_files);
}

/// Of two games, each schema has the tables of the files that describe its game.
#[test]
fn a_statement_compares_tables_of_the_parameters_of_two_games() {
    let dir = world();
    let query = "SELECT count(*) FROM old.fields o JOIN new.fields n USING (entity, path) WHERE o.value IS NOT n.value";
    let of_games = run(dir.path(), 0, &["sql", query, "old=wows@7000000", "new=wows", "-f", "csv"]);
    let [old, new] = ["old=wows@7000000:content/GameParams.data", "new=wows:content/GameParams.data"];
    assert_eq!(of_games, run(dir.path(), 0, &["sql", query, old, new, "-f", "csv"]));
    assert_ne!(of_games.0.lines().last(), Some("0"));
    // An edit is of the file that has the table.
    let query = "UPDATE visuals SET underwater = NOT underwater";
    let (said, _) = run(dir.path(), 0, &["sql", query, "wows", "--dry-run", "-f", "csv"]);
    assert_eq!(said, run(dir.path(), 0, &["sql", query, "wows:content/assets.bin", "--dry-run", "-f", "csv"]).0);
}

/// A statement may make its table itself. If no file has the table, a file that cannot be opened is named: it may have it.
#[test]
fn parameters_that_cannot_be_opened_are_named_for_a_missing_table() {
    let dir = world();
    let parameters = dir.path().join("wows/bin/7100000/res/content/GameParams.data");
    fs::create_dir_all(parameters.parent().unwrap()).unwrap();
    fs::write(parameters, "no parameters").unwrap();
    let made = "CREATE TEMP TABLE ships AS SELECT count(*) AS n FROM files; SELECT n > 0 AS n FROM ships";
    assert_eq!(run(dir.path(), 0, &["sql", made, "wows", "-f", "csv"]).0.lines().last(), Some("1"));
    let (_, said) = run(dir.path(), 2, &["sql", "SELECT * FROM ships", "wows"]);
    assert!(
        said.contains("no such table: ships") && said.contains("GameParams.data: stream: the file does not end"),
        "{said}"
    );
}

/// A header or the space between records may differ, and no row shows it.
#[test]
fn a_comparison_notes_bytes_outside_of_all_rows() {
    let dir = world();
    // A size that no column shows, and the space after the name of a file in a pack.
    for (old, new, at) in [("deck_a.dds", "other.dds", 0x20), ("pack.bin", "other.bin", 0x38)] {
        let mut bytes = fs::read(dir.path().join(old)).unwrap();
        bytes[at] ^= 1;
        fs::write(dir.path().join(new), bytes).unwrap();
        let (said, noted) = run(dir.path(), 0, &["diff", old, new]);
        assert_eq!(said, "no differences\n");
        assert_eq!(noted, format!("assetq: {new}: note: no row differs, but bytes do, the first at offset {at:#x}\n"));
    }
}

/// Parameters that are given and in the game, too, state the thickness of a plate once.
#[test]
fn plates_have_one_row_for_each_use_however_often_parameters_are_given() {
    let dir = world();
    let file = format!("wows:{SHIP}/ship.geometry");
    let plates = |with: &[&str]| {
        let args = [&["export", &file, "-t", "armor_plates", "--to", "-", "--as", "csv"], with].concat();
        run(dir.path(), 0, &args).0
    };
    let once = plates(&[]);
    assert!(once.lines().any(|row| row.contains("A_Hull")), "{once}");
    for with in ["wows", "wows:content/GameParams.data", "GameParams.data"] {
        assert_eq!(plates(&["--with", with]), once, "{with}");
    }
}

/// A file that is only read is the reason, and not the picture that a user wants to put into it.
#[test]
fn a_patch_of_a_format_that_is_not_written_says_so() {
    let dir = world();
    run(dir.path(), 0, &["export", "deck_a.dds", "--to", "deck.png"]);
    let (_, said) = run(dir.path(), 2, &["patch", "deck_a.dds", "deck.png", "--to", "new.dds"]);
    assert_eq!(said, "assetq: deck_a.dds: dds files are read and not written\n");
}

/// A value of a sheet is set in a pack: the message names the table that has the entry.
#[test]
fn an_entry_of_another_table_is_refused_with_its_name() {
    let dir = world();
    let (_, said) = run(dir.path(), 1, &["set", "pack.bin", "it_potion.u16Price", "55", "--dry-run"]);
    assert!(said.contains("; table item contains it: add -t item"), "{said}");
    run(dir.path(), 0, &["set", "pack.bin", "it_potion.u16Price", "55", "-t", "item", "--dry-run"]);
}

/// One statement joins tables of the game, of its parameters and of its database.
#[test]
fn a_statement_joins_tables_of_all_files_that_describe_a_game() {
    let dir = world();
    let query = "SELECT (SELECT count(*) FROM files) > 0, (SELECT count(*) FROM ships), count(*) > 0 FROM visuals";
    assert_eq!(run(dir.path(), 0, &["sql", query, "wows", "-f", "csv"]).0.lines().last(), Some("1,5,1"));
}

/// A search names the archive whose files it did not open. The sheets of a pack are its tables, and were searched.
#[test]
fn a_search_names_what_it_did_not_open() {
    let dir = world();
    let (rows, said) = run(dir.path(), 0, &["find", "potion", "pack.bin", "ff13", "-f", "csv"]);
    assert!(rows.lines().skip(1).all(|row| row.starts_with("pack.bin,")), "{rows}");
    assert!(said.contains("ff13: note: its files were not opened; write 'ff13:*'"), "{said}");
    let (_, said) = run(dir.path(), 0, &["find", "potion", "pack.bin", "ff13:*"]);
    assert_eq!(said, "");
    let (_, said) = run(dir.path(), 0, &["find", "potion", "se2", "ff13", "pack.bin", "-f", "csv"]);
    assert!(said.contains("se2: note: its files and the files of ff13 were not opened"), "{said}");
}

/// Patterns of a condition match the text of a number that rows show. SQLite has another text of a whole float, which the guide names.
#[test]
fn a_pattern_matches_the_text_of_a_number_that_rows_show() {
    let dir = world();
    let listed = |code, condition: &str| {
        let args = ["ls", "GameParams.data", "-t", "projectiles", "-c", "speed", "-f", "csv", "-w", condition];
        run(dir.path(), code, &args).0.lines().filter(|row| *row == "841").count()
    };
    assert_eq!(
        [listed(0, "speed like '841'"), listed(0, "speed glob '84[1-9]'"), listed(1, "speed like '%.0'")],
        [2, 2, 0]
    );
    let query = "SELECT speed FROM projectiles WHERE speed LIKE '841.0'";
    assert_eq!(run(dir.path(), 0, &["sql", query, "GameParams.data", "-f", "csv"]).0, "speed\r\n841\r\n841\r\n");
}

/// A translator patches a sheet of a pack, and does not name it.
#[test]
fn exported_rows_of_another_table_are_refused_with_its_name() {
    let dir = world();
    run(dir.path(), 0, &["export", "pack.bin", "-t", "item", "--to", "item.csv"]);
    let (_, said) = run(dir.path(), 2, &["patch", "pack.bin", "item.csv", "--to", "new.bin"]);
    assert!(
        said.contains("names no column of entries") && said.ends_with("; table item has them all: add -t item\n"),
        "{said}"
    );
    run(dir.path(), 0, &["patch", "pack.bin", "item.csv", "-t", "item", "--to", "new.bin"]);
}

/// A history is of one entry; the message names the command that compares all, and it was tried.
#[test]
fn a_glob_of_a_history_leads_to_a_comparison() {
    let dir = world();
    let (_, said) = run(dir.path(), 1, &["history", "*Aurora*", "wows"]);
    let command = said.split_once("and assetq ").and_then(|(_, rest)| rest.split_once(" compares all")).unwrap().0;
    let args: Vec<&str> = command.split(' ').map(|arg| arg.trim_matches('\'')).collect();
    assert_eq!(args[0], "diff", "{said}");
    run(dir.path(), 1, &args);
}
