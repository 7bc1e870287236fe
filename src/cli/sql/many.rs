//! Statements that change many files: they run on each file by itself.

use super::answers::failure_in;
use super::{Args, Session, all, finish, open_one, write};
use crate::cli::files::path_below;
use crate::cli::patch::{Output, edited};
use crate::cli::{Context, Exit, Failure, Format, Outcome, Unit};
use crate::files::FileSet;
use crate::report::counted;
use crate::sql::{Fault, statements};
use std::path::{Path, PathBuf};

/// Changes the files of `set`, which the argument `given` selects. No file is written unless the edits of every file fit.
pub(super) fn run(text: &str, given: &Path, set: &FileSet, args: &Args, context: &Context) -> Outcome {
    check(&args.output, context)?;
    let files: Vec<PathBuf> = set.list().addresses().collect();
    let changed = context.with_progress_of("sql", Unit::Files, |progress| {
        progress.announce(files.len() as u64);
        let mut changed = Vec::new();
        for file in files {
            progress.advance(1);
            if is_changed(text, &file, args, context)? {
                changed.push(file);
            }
        }
        Ok::<_, Failure>(changed)
    })?;
    if changed.is_empty() {
        return Err(Failure::new(Exit::NotFound, "SQL: nothing is written: these statements match no row"));
    }
    if let Some(undo) = &args.output.undo {
        context.writes_folder(undo);
    }
    // A name that is taken is an error before the first file is changed.
    for undo in changed.iter().filter_map(|file| undo_of(given, file, &args.output)) {
        context.check_new(&undo, args.output.force)?;
    }
    for file in &changed {
        let name = path_below(&[given.to_owned()], file);
        let undo = undo_of(given, file, &args.output);
        let output = Output { undo, table_prefix: Some(name.to_string_lossy().into_owned()), ..args.output.clone() };
        let session = session(file, args, context)?;
        let ran = all(text, args, &session, context);
        finish(&session, ran, context)?;
        write(&session, std::slice::from_ref(file), &output, context)?;
        context.headers.set(false);
    }
    context.say(&format!("{}: {} changed", given.to_string_lossy(), counted(changed.len() as u64, "file")));
    Ok(())
}

fn check(output: &Output, context: &Context) -> Result<(), Failure> {
    let what = if output.to.as_deref().is_some_and(|to| to != Path::new("res_mods")) {
        "--to NEW is for one file; --in-place changes each of the files, and --dry-run shows the changes"
    } else if output.undo.as_deref().is_some_and(crate::cli::output::is_stdout) {
        "--undo - is for one file; --undo FOLDER writes a patch for each of the files"
    } else if context.format() == Format::Json {
        "-f json is for one file; -f ndjson writes the changes of many"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("SQL: many files are changed: {what}")))
}

/// The undo patch of `file` in the folder of `--undo`.
fn undo_of(given: &Path, file: &Path, output: &Output) -> Option<PathBuf> {
    let mut name = path_below(&[given.to_owned()], file).as_os_str().to_owned();
    name.push(".ndjson");
    Some(output.undo.as_ref()?.join(name))
}

fn session(file: &Path, args: &Args, context: &Context) -> Result<Session, Failure> {
    let input = open_one(None, file, args, context)?;
    Ok(Session::for_writing(vec![input], args.skip_damaged)?)
}

/// Whether the statements change `file`. A damaged file is reported and left out.
///
/// # Errors
/// When an edit does not fit.
fn is_changed(text: &str, file: &Path, args: &Args, context: &Context) -> Result<bool, Failure> {
    let session = match session(file, args, context) {
        Err(failure) if failure.exit == Exit::Damaged && !context.options.strict => {
            context.failed(&failure);
            return Ok(false);
        }
        session => session?,
    };
    for statement in statements(text) {
        let mut answer = session.ask(statement).map_err(|fault| failure_in(text, fault))?;
        if !answer.columns().is_empty() {
            return Err(Failure::usage("SQL: statements that change many files have no answers"));
        }
        answer.rows::<Fault>(|_| Ok(())).map_err(|fault| {
            let Failure { exit, message, .. } = fault.into();
            Failure::new(exit, format!("{}: {message}", file.to_string_lossy()))
        })?;
    }
    let Some(edits) = session.edits().into_values().next() else { return Ok(false) };
    let asset = session.assets().next().ok_or_else(|| Failure::usage("SQL: there is no file to write"))?;
    let failed = Failure::of_file(&file);
    edited(asset, edits, context).and_then(crate::edit::Editor::finish).map_err(failed)?;
    Ok(true)
}
