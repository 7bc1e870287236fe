//! The arguments of `diff`.

use crate::cli::stdout::is_stdout;
use std::path::PathBuf;

/// Show what differs between two files, builds or folders
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rows are paired by what they are known by (path, name, id), wherever they lie.
Exit code 0: no difference, 1: some. With -f patch, 5: the patch is good, and
leaves some rows that no patch can tell of, which are counted on standard
error. A damaged file is 3: if not all rows of a table can be read, no row of
it is added or removed.

Examples:
  assetq diff old/assets.bin new/assets.bin          by folder, with the fields that changed
  assetq diff old/assets.bin new/assets.bin --stat   how many, by table and folder or type
  assetq diff OLD NEW -t resources -w \"type = 'VisualPrototype'\"
  assetq diff 0.10.2/CM001.geometry 0.11.5/CM001.geometry
  assetq diff old.wdb new.wdb -f json                objects of {table, change, key, old, new}
  assetq diff old.wdb new.wdb -f markdown            for a wiki or a post
  assetq diff old.wdb new.wdb -f patch --to mod.ndjson
                                                     what `assetq patch` takes, for this file or a later one
  assetq diff wows@7000000 wows -f html --to new.html
                                                     a page by itself, fields side by side
  assetq diff wows@7000000 wows --deep               two builds: their files, and what changed in those
  assetq history Aurora wows@7000000 wows            one ship, by name or title, with what all tables have of it
  assetq diff wows@7000000 wows --deep -w \"entity ~ '*Aurora*'\"   one ship of the parameters
  assetq diff wows@7000000 wows --deep -w \"path ~ '*Aurora*'\"     and her files
  assetq diff old/ new/ --stat --by folder,kind      two folders, by folder and by ending
  assetq sql \"SELECT name, o.shot_delay AS old, n.shot_delay AS new FROM old.mounts o JOIN new.mounts n USING (ship, mount, name) WHERE old <> new\" old=wows@7000000 new=wows
                                                     columns of your choice, for a spreadsheet")]
pub(in crate::cli) struct DiffArgs {
    /// The old file
    pub(super) old: PathBuf,
    /// The new file
    pub(super) new: PathBuf,
    /// Only this table, even if it is not compared by default; may be repeated (`assetq info FILE` lists them)
    #[arg(long = "table", short, value_name = "TABLE")]
    pub(super) tables: Vec<String>,
    /// Only rows that match this condition in one of the files, such as "type = 'VisualPrototype'"; tables that differ
    /// and lack its columns are named. With --deep a file that matches has all its rows shown
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    pub(super) condition: Option<String>,
    /// Only count them, by table and by folder or type
    #[arg(long)]
    pub(super) stat: bool,
    /// The groups of `--stat`: the folder, the kind (a type, or the ending of a file), or both. Default: the type if
    /// rows have one, else the folder
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',', requires = "stat")]
    pub(super) by: Vec<By>,
    /// The depth of the folders of `--stat`, from the topmost one on
    #[arg(long, value_name = "N", default_value_t = 4, requires = "stat")]
    pub(super) depth: usize,
    /// Show at most this many rows of each table
    #[arg(long, short = 'n', value_name = "N")]
    pub(super) limit: Option<usize>,
    /// For archives, also compare changed files of known formats
    #[arg(long)]
    pub(super) deep: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "OUT")]
    pub(super) to: Option<PathBuf>,
    /// Write over a file that exists
    #[arg(long, requires = "to")]
    pub(super) force: bool,
}

impl DiffArgs {
    /// Whether the output goes into a file.
    pub(in crate::cli) fn writes_file(&self) -> bool {
        self.to.as_deref().is_some_and(|to| !is_stdout(to))
    }
}

/// A property that rows are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum By {
    /// The folder of a path
    Folder,
    /// The type of a record, or the ending of a file's name
    Kind,
}
