//! Statements that change many files: they run on each file by itself.

use super::answers::failure_in;
use super::{Session, SqlArgs, all, edited, finish, open_one, write};
use crate::archive::Address;
use crate::archive::loose::below;
use crate::asset::Asset;
use crate::atomic_file::{FileId, replace_link};
use crate::cli::edited_file::{EditOutput, EditTarget, PreparedEdit, ShownAs};
use crate::cli::files::path_below;
use crate::cli::{Context, Exit, Failure, Format, Outcome, Unit};
use crate::files::FileSet;
use crate::paths::resolved;
use crate::report::counted;
use crate::sql::{Fault, FileEdits, statements};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A file that the statements change.
struct ChangedFile {
    path: PathBuf,
    /// The name of the file before the names of its tables.
    name: String,
    target: EditTarget,
    edits: FileEdits,
    output: EditOutput,
    /// Further names of the file on disk, and their undo patches.
    links: Vec<(PathBuf, Option<PathBuf>)>,
    /// Whether another entry of the same pack is written before: this one is then read again from the new pack.
    is_later: bool,
}

impl ChangedFile {
    /// Whether `name` is a name of the file on disk that does not get the new file yet.
    fn lacks(&self, name: &Path) -> bool {
        self.target.written_path().is_some_and(|to| to != name) && self.links.iter().all(|(link, _)| link != name)
    }
}

/// Changes the files of `set`, which the argument `given` selects. No file is changed before all new files and undo patches are
/// written.
pub(super) fn run(text: &str, given: &Path, set: &FileSet, args: &SqlArgs, context: &Context) -> Outcome {
    check(&args.output, context)?;
    let changed = context.with_progress_of("sql", Unit::Files, |progress| {
        progress.announce(set.list().len() as u64);
        changed_files(text, given, set, args, context, &|| progress.advance(1))
    })?;
    if changed.is_empty() {
        return Err(Failure::new(Exit::NotFound, "SQL: nothing is written: these statements match no row"));
    }
    raise_limit_of_files();
    let mut prepared = Vec::with_capacity(changed.len());
    for file in &changed {
        let ready = if file.is_later { None } else { Some(prepare(file, context)?) };
        prepared.push((file, ready));
    }
    let all = changed.len();
    for (number, (file, ready)) in prepared.into_iter().enumerate() {
        let shown = ShownAs { table_prefix: Some(&file.name), has_header: number == 0 };
        let done = match ready {
            Some(ready) => commit(file, ready, shown, context),
            None => write_again(text, file, args, shown, context),
        };
        done.map_err(|failure| stopped(failure, number, all, &args.output))?;
    }
    context.say(&format!("{}: {} changed", given.to_string_lossy(), counted(all as u64, "file")));
    Ok(())
}

fn check(output: &EditOutput, context: &Context) -> Result<(), Failure> {
    let what = if output.to.as_deref().is_some_and(|to| to != Path::new("res_mods")) {
        "--to NEW is for one file; --in-place changes each of the files, and --dry-run shows the changes"
    } else if output.undo.as_deref().is_some_and(crate::cli::stdout::is_stdout) {
        "--undo - is for one file; --undo FOLDER writes a patch for each of the files"
    } else if context.format() == Format::Json {
        "-f json is for one file; -f ndjson writes the changes of many"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("SQL: many files are changed: {what}")))
}

/// The files that the statements change, each once, however many names it has.
fn changed_files(
    text: &str,
    given: &Path,
    set: &FileSet,
    args: &SqlArgs,
    context: &Context,
    advance: &dyn Fn(),
) -> Result<Vec<ChangedFile>, Failure> {
    if let Some(undo) = &args.output.undo {
        context.writes_folder(undo);
    }
    let mut changed: Vec<ChangedFile> = Vec::new();
    let (mut known, mut written, mut undos) = (HashMap::new(), HashSet::new(), HashSet::new());
    // A file is named by its own name rather than by a link.
    let (links, files): (Vec<_>, Vec<_>) = set.list().addresses().partition(|path| path.is_symlink());
    for path in files.into_iter().chain(links) {
        advance();
        let address = Address::parse(&path);
        let [build, inner] = [address.build(), address.inner()].map(|part| part.map(str::to_owned));
        let identity = FileId::of(address.outer()).map(|id| (id, build, inner));
        let first = identity.as_ref().and_then(|identity| known.get(identity)).copied();
        let undo = undo_of(given, &path, &args.output)?;
        if let Some(first) = first {
            let first: Option<&mut ChangedFile> = changed.get_mut::<usize>(first);
            let name = resolved(&path).filter(|_| address.inner().is_none());
            if let Some((first, name)) = first.zip(name).filter(|(first, name)| first.lacks(name)) {
                take_undo(undo.as_deref(), &mut undos)?;
                first.links.push((name, undo));
            }
            continue;
        }
        let Some((asset, edits)) = edits_of(text, &path, args, context)? else { continue };
        take_undo(undo.as_deref(), &mut undos)?;
        let name = path_below(&[given.to_owned()], &path).to_string_lossy().into_owned();
        let output = EditOutput { undo, ..args.output.clone() };
        let target = EditTarget::new(&path, asset, &output, context)?;
        let is_later = target.written_path().is_some_and(|to| !written.insert(to.to_owned()));
        if let Some(identity) = identity {
            known.insert(identity, changed.len());
        }
        changed.push(ChangedFile { path, name, target, edits, output, links: Vec::new(), is_later });
    }
    Ok(changed)
}

/// The undo patch of `file` in the folder of `--undo`.
fn undo_of(given: &Path, file: &Path, output: &EditOutput) -> Result<Option<PathBuf>, Failure> {
    let Some(folder) = &output.undo else { return Ok(None) };
    if let Some(inner) = Address::parse(file).inner() {
        let inner = format!("{inner}.ndjson");
        let place = below(folder, &inner);
        return place.map(Some).ok_or_else(|| Failure::usage(format!("{inner}: no path in a folder")));
    }
    let mut name = path_below(&[given.to_owned()], file).as_os_str().to_owned();
    name.push(".ndjson");
    Ok(Some(folder.join(name)))
}

fn take_undo(undo: Option<&Path>, undos: &mut HashSet<PathBuf>) -> Result<(), Failure> {
    match undo {
        Some(undo) if !undos.insert(undo.to_owned()) => {
            let what = "two files have this undo patch; change the files of one folder at a time";
            Err(Failure::usage(format!("{}: {what}", undo.to_string_lossy())))
        }
        _ => Ok(()),
    }
}

/// Why a statement that changes many files has no column with their names.
const OWN_NAME: &str = "; statements that change files run on each file by itself: name one file, or a glob for some";

fn session(file: &Path, args: &SqlArgs, context: &Context) -> Result<Session, Failure> {
    let input = open_one(None, file, args, context)?;
    Ok(Session::for_writing(vec![input], args.skip_damaged, context.options())?)
}

/// The edits that the statements make in `file`; `None` for no edit. A damaged file is reported and left out.
///
/// # Errors
/// When an edit does not fit.
fn edits_of(text: &str, file: &Path, args: &SqlArgs, context: &Context) -> Result<Option<(Asset, FileEdits)>, Failure> {
    let session = match session(file, args, context) {
        Err(failure) if failure.exit == Exit::Damaged && !context.options().strict => {
            context.failed(&failure);
            return Ok(None);
        }
        session => session?,
    };
    for statement in statements(text) {
        let mut answer = session.ask(statement).map_err(|fault| {
            let failure = failure_in(text, fault);
            let column =
                failure.message.split_once("no such column: ").and_then(|(_, rest)| rest.split([';', ' ']).next());
            let why = if column == Some("file") { OWN_NAME } else { "" };
            Failure { message: failure.message + why, ..failure }
        })?;
        if !answer.columns().is_empty() {
            return Err(Failure::usage("SQL: statements that change many files have no answers"));
        }
        answer.rows::<Fault>(|_| Ok(())).map_err(|fault| match fault {
            Fault::Damaged { error, .. } => Failure::in_file(file, &error),
            fault => {
                let Failure { exit, message, .. } = fault.into();
                Failure::new(exit, format!("{}: {message}", file.to_string_lossy()))
            }
        })?;
    }
    finish(&session, Ok(()), context)?;
    let Some(edits) = session.edits()?.into_values().next() else { return Ok(None) };
    let asset = session.assets().next().ok_or_else(|| Failure::usage("SQL: there is no file to write"))?;
    Ok(Some((asset.clone(), edits)))
}

fn prepare<'f>(file: &'f ChangedFile, context: &Context) -> Result<PreparedEdit<'f>, Failure> {
    let failed = Failure::of_file(&file.path);
    let editor = edited(&file.target, file.edits.clone(), context).map_err(failed)?;
    let mut prepared = file.target.prepare(editor, &file.output, context)?;
    for undo in file.links.iter().filter_map(|(_, undo)| undo.as_deref()) {
        context.check_new_undo(undo, file.output.force)?;
        prepared.add_undo(undo, &file.output, context)?;
    }
    Ok(prepared)
}

/// Renames the new file to all of its names.
fn commit(file: &ChangedFile, prepared: PreparedEdit<'_>, shown: ShownAs<'_>, context: &Context) -> Outcome {
    prepared.commit(&file.output, shown, context)?;
    let Some(to) = file.target.written_path() else { return Ok(()) };
    for (link, _) in &file.links {
        replace_link(to, link).map_err(|error| Failure::io(link, "cannot write", error))?;
    }
    Ok(())
}

/// Changes an entry of a pack after other entries of the pack: the pack is read again.
fn write_again(text: &str, file: &ChangedFile, args: &SqlArgs, shown: ShownAs<'_>, context: &Context) -> Outcome {
    let session = session(&file.path, args, context)?;
    all(text, args, &session, context)?;
    write(&session, std::slice::from_ref(&file.path), &file.output, shown, context)
}

/// The failure after which some of the files are changed: how many, and the way back.
fn stopped(failure: Failure, changed: usize, all: usize, output: &EditOutput) -> Failure {
    let back = match &output.undo {
        _ if changed == 0 || output.dry_run => "",
        Some(_) => "; `assetq patch FILE UNDO --in-place` takes each back, with its patch in the folder of --undo",
        None => "; without --undo, no patch takes them back",
    };
    let message = format!("{}; {changed} of {all} files were changed{back}", failure.message);
    Failure { message, ..failure }
}

/// Raises the limit of open files to the most that the system permits: all new files are open until the first is renamed.
fn raise_limit_of_files() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // With fewer, the error of the first that cannot be opened leaves all files unchanged.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_in_the_middle_states_how_many_files_are_changed_and_the_way_back() {
        let stop = |changed, undo: Option<&str>| {
            let undo = undo.map(PathBuf::from);
            let output = EditOutput { to: None, in_place: true, dry_run: false, force: false, undo };
            stopped(Failure::new(Exit::Io, "a.mfm: cannot write"), changed, 30, &output).message
        };
        assert_eq!(stop(0, Some("undo")), "a.mfm: cannot write; 0 of 30 files were changed");
        assert!(stop(13, Some("undo")).contains("13 of 30 files were changed; `assetq patch FILE UNDO --in-place`"));
        assert!(stop(13, None).ends_with("13 of 30 files were changed; without --undo, no patch takes them back"));
    }
}
