//! The order of arguments: commands take the files and the entry to find in them in either order. The argument that exists
//! is the file.

use super::{Context, Failure};
use crate::archive::{Address, is_archive};
use crate::asset::Asset;
use crate::error::Error;
use crate::files::FilePattern;
use crate::paths::is_url;
use crate::report::Progress;
use crate::source::bounded::Bounded;
use crate::source::text_input::TextInput;
use std::borrow::Cow;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

/// Whether a file serves as the database of a command; if not, the end of the message about it: "is no database".
pub(super) type DatabaseCheck = fn(&Asset) -> Result<(), &'static str>;

/// Whether an argument exists: as a file, a folder, a file in an archive, or a URL, whose error says what to do.
pub(super) fn exists(argument: &Path) -> bool {
    is_url(argument) || Address::parse(argument).exists()
}

/// Whether an argument exists as one file, which may be an archive.
fn is_one_file(argument: &Path) -> bool {
    exists(argument) && (!argument.is_dir() || is_archive(argument))
}

impl Context {
    /// The file and the entry of a command with the order FILE ENTRY.
    ///
    /// # Errors
    /// `Usage` if both exist as files, unless `--` precedes them.
    pub(super) fn file_and_entry<'a>(&self, file: &'a Path, entry: &'a Path) -> Result<(&'a Path, &'a Path), Failure> {
        if self.typed.keeps_order || !is_one_file(entry) {
            return Ok((file, entry));
        }
        if is_one_file(file) {
            Err(both(file, entry, &format!("-- {} {} if {0} is the file", file.display(), entry.display())))
        } else {
            Ok((entry, file))
        }
    }

    /// The entry and the files of a command with the order ENTRY FILE...
    ///
    /// # Errors
    /// `Usage` if all arguments exist as files, unless `--` precedes them.
    pub(super) fn entry_and_files<'a>(
        &self,
        entry: &'a Path,
        files: &'a [PathBuf],
    ) -> Result<(&'a Path, Vec<PathBuf>), Failure> {
        if self.typed.keeps_order || !exists(entry) {
            return Ok((entry, files.to_vec()));
        }
        let mut missing = (0..).zip(files).filter(|(_, argument)| !exists(argument) && !self.selects_files(argument));
        match (missing.next(), missing.next()) {
            (None, _) => {
                let last = files.last().map_or(entry, |file| file);
                Err(both(entry, last, &format!("-- {} {} if {1} is the file", entry.display(), last.display())))
            }
            (Some((at, found)), None) => {
                let others = (0..).zip(files).filter(|(other, _)| *other != at).map(|(_, file)| file.clone());
                Ok((found, std::iter::once(entry.to_owned()).chain(others).collect()))
            }
            // Whichever is the entry, a file is missing.
            (Some(_), Some(_)) => Ok((entry, files.to_vec())),
        }
    }

    /// Whether an argument is a glob that some file matches.
    fn selects_files(&self, argument: &Path) -> bool {
        let pattern = FilePattern::parse(argument);
        pattern.is_many()
            && pattern.list(argument, self.options(), &Progress::default()).is_ok_and(|list| !list.is_empty())
    }

    /// The database of a command that takes entries, and perhaps the database among them: `given`, else the argument that
    /// is one, else the default database.
    ///
    /// # Errors
    /// `Usage` if an argument is a database, and another one exists as a file, too.
    pub(super) fn database_and_entries<'a>(
        &self,
        arguments: &'a [String],
        given: Option<&Path>,
        check: DatabaseCheck,
    ) -> Result<(Asset, Vec<&'a String>), Failure> {
        let files: Vec<&String> = match given {
            None if arguments.len() > 1 && !self.typed.keeps_order => {
                arguments.iter().filter(|argument| is_one_file(Path::new(argument))).collect()
            }
            _ => Vec::new(),
        };
        let mut first_failure = None;
        for file in &files {
            match self.database_of(Path::new(file), check) {
                Ok(_) if files.len() > 1 => {
                    let other = files.iter().find(|other| *other != file).unwrap_or(file);
                    return Err(both(Path::new(file), Path::new(other), "--db FILE"));
                }
                Ok(database) => return Ok((database, arguments.iter().filter(|argument| argument != file).collect())),
                Err(failure) => drop(first_failure.get_or_insert(failure)),
            }
        }
        // An entry may exist as an unpacked file.
        let path = self.database_path(given).map_err(|failure| first_failure.unwrap_or(failure))?;
        Ok((self.database_of(&path, check)?, arguments.iter().collect()))
    }

    /// The arguments, with `-` replaced by the lines of standard input that are not blank.
    pub(super) fn arguments<'a>(
        &self,
        given: impl IntoIterator<Item = &'a String>,
    ) -> impl Iterator<Item = Result<Cow<'a, str>, Failure>> {
        given.into_iter().flat_map(|argument| {
            let from_stdin = argument == "-";
            let typed = (!from_stdin).then(|| Ok(argument.as_str().into()));
            let read = from_stdin.then(|| lines(io::stdin().lock())).into_iter().flatten();
            let read = read.filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()));
            typed.into_iter().chain(read.map(|line| match line {
                Ok(line) => Ok(line.into()),
                Err(error) => Err(Error::io("cannot read standard input", error).into()),
            }))
        })
    }

    /// Opens the file at `path`, or the database in the archive there.
    fn database_of(&self, path: &Path, check: DatabaseCheck) -> Result<Asset, Failure> {
        let asset = self.open(&self.database_in(path.to_owned())?)?;
        match check(&asset) {
            Ok(()) => Ok(asset),
            Err(why) => Err(Failure::usage(format!("{}: a {} file {why}", asset.source().name(), asset.format()))),
        }
    }
}

/// The failure for two arguments that may both be the file; `how` distinguishes them.
fn both(one: &Path, other: &Path, how: &str) -> Failure {
    let (one, other) = (one.display(), other.display());
    Failure::usage(format!("{one} and {other} both exist, and either may be the file: write {how}"))
}

/// The lines of a text; a line may be endless.
pub(super) fn lines(input: impl io::BufRead) -> impl Iterator<Item = io::Result<String>> {
    const LINE: u64 = 1 << 20;
    Bounded::new(TextInput::new(input), u64::MAX).with_lines(LINE).lines()
}
