//! The meaning of the global options on this machine.

use super::Failure;
use super::global::{Color, Global};
use crate::archive::names::Language;
use crate::archive::{Cache, Oodle};
use crate::asset;
use crate::files::FormatOf;
use crate::options::Options;
use crate::source::bounded::Bounded;
use crate::write::text::Style;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

/// The settings that follow from the global options, the terminal and the environment.
pub(super) struct Settings {
    /// The options by which files are opened.
    pub(super) options: Options,
    /// Whether output may go through a pager, and if so, whether tables may be wider than the terminal.
    pub(super) pages: Option<bool>,
    /// Whether lines for people are bold and coloured.
    pub(super) style: Style,
    /// The width of the terminal for tables; `None` if cells are not cut.
    pub(super) width: Option<usize>,
    /// Whether a terminal shows the output.
    pub(super) is_terminal: bool,
}

impl Settings {
    /// With `is_diverted`, output goes into a file that the command names.
    pub(super) fn new(typed: &Global, is_diverted: bool) -> Result<Self, Failure> {
        let Global { no_mmap, no_cache, no_companions, strict, wide, color, no_pager, .. } = *typed;
        let mut options = Options::default();
        options.strict = strict;
        options.no_mmap = no_mmap;
        if let Some(folder) = Cache::default_folder().filter(|_| !no_cache) {
            options = options.with(Arc::new(Cache::in_folder(folder)));
        }
        for (setting, files) in
            [("fields", &*typed.fields), ("layouts", &*typed.layouts), ("key", typed.key.as_slice())]
        {
            for file in files {
                options = configured(setting, &bytes_of(file)?, &file.to_string_lossy(), &options)?;
            }
        }
        if no_companions {
            options = configured("companions", &[], "--no-companions", &options)?;
        }
        if let Some(library) = &typed.oodle {
            // Loaded when the first file needs it; a wrong path is an error at once.
            library.metadata().map_err(|error| Failure::io(library, "cannot open", error))?;
        }
        if let Some(oodle) = typed.oodle.as_ref().map(Oodle::in_library).or_else(Oodle::of_environment) {
            options = options.with(Arc::new(oodle));
        }
        if let Some(game) = &typed.game {
            options = configured("game", game.as_bytes(), "--game", &options)?;
        }
        if let Some(format) = &typed.format_of {
            options = options.with(Arc::new(FormatOf(format.clone())));
        }
        if let Some(language) = &typed.language {
            options = options.with(Arc::new(Language(language.clone())));
        }
        Ok(Self {
            options,
            pages: Some(wide).filter(|_| !no_pager && !is_diverted),
            style: if is_diverted { Style::Plain } else { style(color) },
            width: terminal_width().filter(|_| !wide && !is_diverted),
            is_terminal: !is_diverted && io::stdout().is_terminal(),
        })
    }
}

/// Adds the value of the command's option `setting` to `options`: from a file, or from the command line itself.
fn configured(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Options, Failure> {
    let configured = asset::Format::configure(setting, given, from, options);
    configured.map_err(|e| Failure::usage(e.to_string()))
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    /// The largest size of a file of settings: a device has no end.
    const MOST: u64 = 16 << 20;
    let open = std::fs::File::open(file).map(io::BufReader::new);
    let read = open.and_then(|open| Bounded::new(open, MOST).bytes());
    read.map_err(|error| Failure::io(file, "cannot read", error))
}

/// Whether lines for people are bold and coloured.
fn style(color: Color) -> Style {
    let is_bold = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            // A stream of `anstream` has a console of Windows take escape sequences, which it shows as they are otherwise.
            let stream = anstream::AutoStream::auto(io::stdout());
            stream.current_choice() == anstream::ColorChoice::AlwaysAnsi && io::stdout().is_terminal()
        }
    };
    if is_bold { Style::Bold } else { Style::Plain }
}

#[cfg(not(feature = "terminal"))]
fn terminal_width() -> Option<usize> {
    None
}

#[cfg(feature = "terminal")]
fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
    // Some programs provide terminals without a size.
    Some(usize::from(width)).filter(|width| *width > 0)
}
