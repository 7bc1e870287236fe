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
    // What the tree shows can be given to other commands.
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

/// A table in a folder with files of many formats is that of the one format that has it.
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
