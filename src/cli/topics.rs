//! The pages of `assetq help` that are about no command.

use super::global::Global;
use super::help;
use clap::{Args as _, Command};
use std::ffi::OsString;

/// The first page, of at most 80 columns: the commands that people look for, each by an example.
pub(super) const EXAMPLES: &str = "\
Look
  assetq info assets.bin                     what a file holds: format, tables
  assetq ls assets.bin \"*.visual\"            rows of its main table
  assetq ls assets.bin -t lods --long        rows of another table
  assetq cat assets.bin PATH                 one entry, with its references
  assetq find \"*Turret*\" old.bin new.bin     names, texts and ids, and where
  assetq refs PATH assets.bin                what it refers to, and what to it
  assetq resolve ID_OR_PATH assets.bin       ids of paths, and paths of ids
  assetq sql \"SELECT * FROM lods\" models.bin
  assetq sql \"SELECT * FROM a.records JOIN b.records USING (record)\" a.wdb b.wdb
  assetq view ship.geometry                  tables and shapes in the browser

Compare and check
  assetq diff old.bin new.bin                files, builds or folders
  assetq history PATH old.bin new.bin        one entry through many builds
  assetq verify assets.bin                   what is damaged

Change: into a new file, or --in-place
  assetq set savegame.vrb HoursPlayed 7.5 --to new.vrb --undo undo.ndjson
  assetq set enemy.wdb e_wolf.u7DropRate 30 --dry-run
  assetq patch new.vrb undo.ndjson --in-place   undo; also edited csv and json

Export
  assetq export enemy.wdb --to enemy.csv     also json, parquet, arrow
  assetq export ship.geometry --to ship.glb  with textures; also obj, svg

Games and archives: their files are read where they are
  assetq games                               installed games: wows:, se2:, ff13:
  assetq ls wows: \"content/*.geometry\"       files of a game
  assetq cat wows:content/assets.bin PATH    an entry of one of them
  assetq extract wows: \"content/*.dds\" --to DIR
  assetq ls ship.geometry -t armor_plates --with GameParams.data   plates, in mm
  assetq export wows: --ship Iowa --to iowa.glb
";

const HEAD: &str = "\
Query, compare, change and export game-asset files in place.

Usage: assetq COMMAND [ARGUMENTS]

";

const MORE: &str = "
Try: assetq sample demo, and the examples above in the folder demo.
More: assetq COMMAND -h, and assetq help with --all, options, environment,
formats
";

/// The codes that other programs rely on.
const EXITS: &str = "
Exit codes: 0 done, 1 not found or different, 2 wrong usage, 3 damaged or
unknown file, 4 cannot read or write, 5 good but partial patch

More: assetq help options, help environment, help formats
";

const ENVIRONMENT: &str = "\
Variables of the environment:
  ASSETQ_DB       the database of resolve, string and refs, if no --db is given:
                  an assets.bin, or the folder of a game
  ASSETQ_WOWS     the folder of World of Warships, for wows: in place of a file
  ASSETQ_SE2      of Space Engineers 2, for se2:
  ASSETQ_FF13     of FINAL FANTASY XIII, for ff13:
  ASSETQ_FF13_2   of FINAL FANTASY XIII-2, for ff13-2:
  ASSETQ_LR       of LIGHTNING RETURNS, for lr:
  ASSETQ_RUSTY_HEARTS
                  of Rusty Hearts, for rusty-hearts:
  ASSETQ_CACHE    the folder for decoded files; assetq cache shows it
  ASSETQ_OODLE    the library that decodes Oodle, if no --oodle is given
  ASSETQ_PAGER    the pager, else PAGER, else less; --no-pager does without
  ASSETQ_DUCKDB_EXTENSION
                  the file that sql --engine duckdb loads
  NO_COLOR        if set, output has no colours
";

const FORMATS: &str = "\
Files that are read. A file is known by its first bytes, else by its name:
  World of Warships
    wows          the game's folder, .idx with its .pkg
    bwdb          assets.bin
    models        models.bin
    space         space.bin
    geometry      .geometry
    splash        .splash
    gameparams    GameParams.data
    mo            global.mo
    visual, model, mfm, info
                  text models of mods and of the Mods SDK
  Space Engineers 2
    se2           the content folder, .def
    vrb           .vrb and other archives of VRage 3: saves, models, blueprints
  FINAL FANTASY XIII trilogy
    white         a data folder, filelist*.bin
    wdb           sheets, .wdb
    wpd           packs of sheets and other files, .bin
    gtex          textures, .trb, .txbh with .imgb
  Rusty Hearts
    rusty-hearts  the game's folder
    wdata         maps, .wdata
  All of them
    dds           textures, .dds, .dd0, .dd1, .dd2

ARCHIVE:PATH is a file in a folder or archive, GAME@BUILD a build, and a folder
or a pattern in quotes means all its files as one: \"GAME:content/*.geometry\".

Files that are written
  export          csv, json, ndjson, parquet, arrow; glb, obj, svg; textures png
  set, patch, sql a changed copy of FILE: bwdb, models, space, geometry, splash,
                  vrb, wdb, wpd, wdata
  -f FORMAT       how every command prints: text, json, ndjson, csv
";

pub(super) fn short() -> String {
    format!("{HEAD}{EXAMPLES}{MORE}")
}

/// The page that a command line requests, if it is about no command.
pub(super) fn requested(root: impl FnOnce() -> Command, args: &[OsString]) -> Option<String> {
    let words: Vec<&str> = args.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    match words[..] {
        ["help" | "-h" | "--help"] => Some(short()),
        ["help", "--all" | "-a" | "all"] | ["-h" | "--help", "--all"] | ["--all", "-h" | "--help"] => {
            let all = help::without_global(root()).disable_help_flag(true).disable_version_flag(true);
            let mut all =
                all.help_template("{about-with-newline}\n{usage-heading} {usage}\n\nCommands:\n{subcommands}");
            Some(format!("{}\n{EXITS}", all.render_help().ansi()))
        }
        ["help", "options"] => {
            let options = Global::augment_args(Command::new("assetq").disable_help_flag(true));
            let mut options = options.max_term_width(help::WIDTH).help_template("{all-args}");
            Some(format!("{}\n", options.render_help().ansi()))
        }
        ["help", "environment"] => Some(ENVIRONMENT.to_owned()),
        ["help", "formats"] => Some(FORMATS.to_owned()),
        _ => None,
    }
}
