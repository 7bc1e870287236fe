//! The tour: commands about the files of a sample, each shown before it runs.

use super::{Context, Failure, Outcome};
use std::borrow::Cow;
use std::path::Path;

const COMMANDS: [&str; 14] = [
    "sample {}",
    "info {}/assets.bin",
    "ls {}/assets.bin *.visual --limit 5",
    "ls {}/assets.bin --table render_sets --limit 5",
    "resolve {visual} --db {}/assets.bin -f json",
    "string 0x820F0280 normalMap --db {}/assets.bin",
    "ls {}/ship.geometry --table armor_models",
    "export {}/ship.geometry --to {}/ship.glb --force",
    "ls {}/savegame.vrb",
    "ls {}/town.wdata --table portal_boxes --long -f csv",
    "export {}/town.wdata --to {}/town.svg --force",
    "ls {}/enemy.wdb --where uHp>1000 --limit 5",
    "ls {}/pack.bin",
    "verify {}/assets.bin {}/models.bin {}/space.bin {}/ship.geometry {}/savegame.vrb {}/town.wdata {}/enemy.wdb",
];

pub(super) fn run(folder: &Path, context: &Context) -> Outcome {
    let dir = folder.to_string_lossy();
    let mut visual = String::new();
    for command in COMMANDS {
        let words = command.split(' ').map(|word| word.replace("{visual}", &visual).replace("{}", &dir));
        let words: Vec<String> = std::iter::once("assetq".to_owned()).chain(words).collect();
        context.print_line("")?;
        context.print_line(&format!("$ {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")))?;
        context.worsen(super::run_in_tour(&words)?);
        if visual.is_empty() {
            visual = first_visual(folder, context)?;
        }
    }
    Ok(())
}

/// A word of a command line that can be pasted: in quotes, unless each of its characters is literal in every shell.
fn quoted(word: &str) -> Cow<'_, str> {
    if !word.is_empty() && word.chars().all(|c: char| c.is_ascii_alphanumeric() || "_-./:=,@+%".contains(c)) {
        Cow::Borrowed(word)
    } else if cfg!(windows) {
        // PowerShell and cmd both accept double quotes, and no name on Windows contains one.
        Cow::Owned(format!("\"{word}\""))
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

/// The path of a visual in the sample, for the commands about one.
fn first_visual(folder: &Path, context: &Context) -> Result<String, Failure> {
    let asset = context.open(&folder.join("assets.bin"))?;
    let table = context.table(&asset, Some("visuals"))?;
    Ok(table.value(0, table.label())?.to_string())
}
