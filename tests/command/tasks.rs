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
