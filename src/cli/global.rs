//! Options that every command has.

use crate::write::rows::RowFormat;
use clap::ValueEnum;
use std::io::IsTerminal as _;

#[derive(Debug, clap::Args)]
pub(super) struct Global {
    /// How output is written
    #[arg(long, short = 'f', global = true, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub(super) format: Format,
    /// Show no progress bar
    #[arg(long, short = 'q', global = true)]
    pub(super) quiet: bool,
    /// Do not fit tables to the width of the terminal
    #[arg(long, global = true)]
    pub(super) wide: bool,
    /// When output is bold and coloured
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,
    /// Write to the terminal itself rather than through $ASSETQ_PAGER, $PAGER or less
    #[arg(long, global = true)]
    pub(super) no_pager: bool,
    /// Use at most this many threads, and no more than four for each core
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
    /// Read files instead of mapping them: for network drives, and for files that another program is writing
    #[arg(long, global = true)]
    pub(super) no_mmap: bool,
    /// Decode files of archives again, instead of using and filling the cache: see `assetq cache`
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    /// Read a file alone: a geometry without the .visual, .model and .mfm files beside it, parameters without global.mo
    #[arg(long, global = true)]
    pub(super) no_companions: bool,
    /// Field names for FINAL FANTASY XIII sheets, tried before the known ones: lists that begin with [file stems]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) fields: Vec<std::path::PathBuf>,
    /// Layouts of records of other builds in prototype databases, tried before the built-in ones: see docs/formats
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) layouts: Vec<std::path::PathBuf>,
    /// More paths and names for ids whose texts a file lacks: a list with one a line, an archive, a database, or a folder
    #[arg(long = "names", global = true, value_name = "FILE_OR_ARCHIVE")]
    pub(super) more_names: Vec<std::path::PathBuf>,
    /// The language of titles of World of Warships, as in en, de or pt_br: else English, else whichever is there
    #[arg(long = "lang", global = true, value_name = "LANGUAGE")]
    pub(super) language: Option<String>,
    /// The game of a FINAL FANTASY XIII list, if neither it nor its folder shows the game
    #[arg(long, global = true, value_name = "GAME", value_parser = ["ff13", "ff13-2", "lr"])]
    pub(super) game: Option<String>,
    /// The key of a Rusty Hearts list of another region: a file with 256 bytes, or with their hexadecimal digits
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) key: Option<std::path::PathBuf>,
    /// The game's own library that decodes Oodle, as in Mir Korabley: oo2core_*_win64.dll or liboo2core*; else $ASSETQ_OODLE
    #[arg(long, global = true, value_name = "LIBRARY")]
    pub(super) oodle: Option<std::path::PathBuf>,
    /// Of files of several formats that a folder or a glob selects, only the files of this one
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) format_of: Option<String>,
    /// Treat warnings such as a wrong checksum as errors; reject a whole patch if one of its edits cannot be made
    #[arg(long, global = true)]
    pub(super) strict: bool,
    /// Whether `--` was given: arguments are in the documented order.
    #[arg(skip)]
    pub(super) keeps_order: bool,
}

impl Global {
    /// The given options that change how files are opened, and that the extension of DuckDB does not have.
    pub(super) fn file_settings(&self) -> Vec<&'static str> {
        let all = [
            ("--fields", !self.fields.is_empty()),
            ("--layouts", !self.layouts.is_empty()),
            ("--key", self.key.is_some()),
            ("--game", self.game.is_some()),
            ("--lang", self.language.is_some()),
            ("--oodle", self.oodle.is_some()),
            ("--no-companions", self.no_companions),
            ("--no-cache", self.no_cache),
        ];
        all.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: aligned, coloured on a terminal
    Text,
    /// One document: an array of the rows
    Json,
    /// An object a line
    Ndjson,
    /// RFC 4180 with a header line; cells are unchanged, even if a spreadsheet would run them (= + - @)
    Csv,
    /// For wikis and posts: `diff` writes it
    Markdown,
    /// A complete page: `diff` writes it
    Html,
    /// The input of `patch`: `diff` and `patch` write it
    Patch,
}

impl Format {
    /// The formats of rows, which most commands write.
    pub(super) const ROWS: &[Self] = &[Self::Text, Self::Json, Self::Ndjson, Self::Csv];
}

/// The format of rows on standard output.
impl From<Format> for RowFormat {
    fn from(format: Format) -> Self {
        match format {
            // Only one command writes the other formats, and has its own code for them.
            Format::Text | Format::Markdown | Format::Html => Self::Text,
            Format::Json => Self::Json,
            Format::Ndjson | Format::Patch => Self::Ndjson,
            Format::Csv if std::io::stdout().is_terminal() => Self::EscapedCsv,
            Format::Csv => Self::Csv,
        }
    }
}
