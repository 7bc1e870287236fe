//! The edited copy of a file, which `set`, `patch` and `sql` write: where it goes, its undo patch, and the changes that are shown.

use super::changes::{self, print_patch, side_of};
use super::file_names::{Inside, check_fit};
use super::output_files::{check_patch_name, leave_nothing_when_ended, undo_refused};
use super::stdout::{RowForm, is_stdout};
use super::{Context, Exit, Failure, Format, Outcome, complain};
use crate::archive::{Address, holder, open_inside};
use crate::asset::Asset;
use crate::atomic_file::{AtomicFile, Overwrite, changed, output_of};
use crate::diff::{self, Pair, Side, TableDiff};
use crate::edit::{EditPlan, Editor, Reached, ReadBack, TableEdits, Written};
use crate::error::Error;
use crate::paths::{joined, resolved};
use crate::reader::Enriched;
use crate::report::counted;
use crate::source::FileState;
use crate::table::{Column, Role, Table, Visitor as _};
use crate::write::json::JsonWriter;
use crate::write::text::TextPage;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
pub(super) struct EditOutput {
    /// The new file; for a file in a World of Warships folder, res_mods is its place in the game's folder of mods
    #[arg(long, value_name = "NEW", conflicts_with = "in_place")]
    pub(super) to: Option<PathBuf>,
    /// Replace FILE, once the new file is complete and compared
    #[arg(long)]
    pub(super) in_place: bool,
    /// Write nothing, only show what would change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write over files that exist
    #[arg(long)]
    pub(super) force: bool,
    /// Write the patch that restores the old file, byte for byte; - for standard output, in place of the changes
    #[arg(long, value_name = "FILE")]
    pub(super) undo: Option<PathBuf>,
}

/// How the changes of a file are shown.
#[derive(Clone, Copy)]
pub(super) struct ShownAs<'n> {
    /// The name of the file before the names of its tables, if it is one of many.
    pub(super) table_prefix: Option<&'n str>,
    pub(super) has_header: bool,
}

impl Default for ShownAs<'_> {
    fn default() -> Self {
        Self { table_prefix: None, has_header: true }
    }
}

impl EditOutput {
    /// Whether a file is written, or shown as if written.
    pub(super) fn is_given(&self) -> bool {
        self.to.is_some() || self.in_place || self.dry_run
    }

    /// Refuses to go on if no file is written or shown.
    pub(super) fn check_given(&self) -> Result<(), Failure> {
        if self.is_given() {
            return Ok(());
        }
        let what = "nothing is written without --to NEW or --in-place; --dry-run shows what would change";
        Err(Failure::usage(what))
    }
}

/// The edited file, and the file that contains it.
pub(super) struct EditTarget {
    pub(super) asset: Asset,
    /// The file that contains it, if that is rewritten, and its name in it.
    outer: Option<(Asset, String)>,
    /// The path of the new file; `None` for a dry run.
    to: Option<PathBuf>,
    overwrite: Overwrite,
    /// Whether the path is in a folder of mods; the user gets a note if so.
    is_mod: bool,
}

impl EditTarget {
    pub(super) fn open(file: &Path, output: &EditOutput, context: &Context) -> Result<Self, Failure> {
        output.check_given()?;
        let asset = context.open(file)?;
        Self::new(file, asset, output, context)
    }

    pub(super) fn new(file: &Path, asset: Asset, output: &EditOutput, context: &Context) -> Result<Self, Failure> {
        let address = Address::parse(file);
        let mut outer = None;
        let mut to = output.to.clone();
        let mut is_mod = false;
        let mut on_disk = address.outer().to_owned();
        if let Some(inner) = address.inner() {
            let failed = Failure::of_file(&file);
            let archive = context.archive(&address).map_err(failed)?;
            let (holding, name) = holder(&archive, inner, context.options()).map_err(failed)?;
            let is_direct = name == inner;
            let is_written = holding.reader().writable().is_some();
            let in_place = is_written && holding.source().path().is_some();
            if to.as_deref() == Some(Path::new("res_mods")) {
                let archive = holding.reader().archive().filter(|_| is_direct);
                let folder = archive.and_then(|archive| archive.game()?.mods());
                let folder = folder.ok_or_else(|| {
                    let what = "--to res_mods is for files of the newest build in a World of Warships folder that has res_mods/VERSION";
                    Failure::usage(format!("{}: {what}", address.outer().to_string_lossy()))
                })?;
                let place = joined(&folder, name);
                check_fit(name, &address.outer().to_string_lossy(), "written")?;
                Inside::new(&folder).check(name, &place)?;
                to = Some(place);
                is_mod = true;
            } else if output.in_place && !in_place {
                // No option writes a format that is only read.
                Editor::with_options(&asset, context.options()).map_err(failed)?;
                let what = "files in this archive are not written in place; --to NEW writes the file by itself";
                return Err(Failure::usage(format!("{}: {what}", file.to_string_lossy())));
            } else if is_written {
                is_unchanged(&asset, &holding, name, context).map_err(failed)?;
                // The whole pack is written, even if it is in a game's archive.
                on_disk = holding.source().path().map(Path::to_owned).unwrap_or(on_disk);
                outer = Some((holding, name.to_owned()));
            }
        }
        let mut overwrite = Overwrite::if_forced(output.force);
        if output.in_place {
            // A link is kept, and its target is written.
            to = Some(resolved(&on_disk).unwrap_or(on_disk));
            let read = outer.as_ref().map_or(&asset, |(outer, _)| outer);
            overwrite = Overwrite::IfUnchanged(read.source().state());
            check_writable(to.as_deref(), output.force)?;
        } else if let Some(to) = to.as_deref().filter(|_| !is_mod) {
            context.check_new(to, output.force)?;
        }
        // A dry run writes no file.
        if let Some(undo) = output.undo.as_deref().filter(|_| !output.dry_run) {
            context.check_new_undo(undo, output.force)?;
            to.iter().try_for_each(|to| context.check_different([to, undo], "the new file and --undo"))?;
            check_patch_name(undo)?;
        }
        Ok(Self { asset, outer, to: to.filter(|_| !output.dry_run), overwrite, is_mod })
    }

    /// An editor of the file, whose result is the file that is written.
    pub(super) fn editor(&self, context: &Context) -> Result<Editor<'_>, Error> {
        let editor = Editor::with_options(&self.asset, context.options())?;
        Ok(match &self.outer {
            Some((outer, inner)) => editor.within(outer, inner),
            None => editor,
        })
    }

    /// Writes the edits of the editor, and shows them.
    pub(super) fn finish<'t>(&'t self, editor: Editor<'t>, output: &EditOutput, context: &Context) -> Outcome {
        self.prepare(editor, output, context)?.commit(output, ShownAs::default(), context)
    }

    /// Writes the new file and its undo patch, which get their names in [`PreparedEdit::commit`].
    pub(super) fn prepare<'t>(
        &'t self,
        editor: Editor<'t>,
        output: &EditOutput,
        context: &Context,
    ) -> Result<PreparedEdit<'t>, Failure> {
        let file = self.asset.source().name();
        let failed = Failure::of_file(file);
        let (done, held, left_out) = editor.summary();
        let summary =
            format!("{}, {held} that the file has already, {} left out", counted(done, "edit"), left_out.len());
        let left = left_out.len();
        context.notes(file, editor.notes());
        left_out.iter().take(SHOWN).for_each(|why| context.not_found(&format!("{file}: {why}")));
        if left > SHOWN {
            context.not_found(&format!("{file}: … and {} more", left - SHOWN));
        }
        // A missing entry may be in a part that cannot be read.
        let damage = if left > 0 { editor.damage() } else { None };
        damage.iter().for_each(|damage| context.damaged(file, damage));
        let exit = if damage.is_some() { Exit::Damaged } else { Exit::NotFound };
        if left > 0 && context.options().strict {
            return Err(Failure::new(exit, format!("{file}: nothing is written, as --strict says: {summary}")));
        }
        if left > 0 && done == 0 && held == 0 {
            return Err(Failure::new(exit, format!("{file}: nothing is written: {summary}")));
        }
        let plan = editor.finish().map_err(failed)?;
        // An interrupted command leaves no part of the file.
        leave_nothing_when_ended();
        let written = context.with_progress("writing", |progress| match &self.to {
            Some(to) => plan.write_with(to, self.overwrite, progress).map_err(|error| self.failure(&error)),
            None => plan.preview(progress).map_err(failed),
        })?;
        let mut prepared = PreparedEdit { target: self, plan, written, undo: Vec::new(), summary };
        if let Some(undo) = output.undo.as_deref().filter(|undo| !output.dry_run || is_stdout(undo)) {
            prepared.add_undo(undo, output, context)?;
        }
        Ok(prepared)
    }

    /// The path at which the new file gets its name; `None` for a dry run.
    pub(super) fn written_path(&self) -> Option<&Path> {
        self.to.as_deref()
    }

    /// The file on disk that holds the edited one.
    fn place_on_disk(&self) -> Option<&Path> {
        let holding = self.outer.as_ref().map_or(&self.asset, |(outer, _)| outer);
        holding.source().on_disk().map(|(path, _)| path)
    }

    fn failure(&self, error: &Error) -> Failure {
        let Some(to) = &self.to else { return Failure::from_error(error) };
        match error.kind() {
            crate::ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                let what = format!("{}: it exists; --force writes over it", to.to_string_lossy());
                Failure::new(Exit::Io, what)
            }
            crate::ErrorKind::Io { source, .. }
                if source.kind() != std::io::ErrorKind::UnexpectedEof || output_of(source).is_some() =>
            {
                Failure::in_file(to, error)
            }
            // Found in the file that the new one is derived from, or missing there.
            _ => Failure::in_file(self.asset.source().name(), error),
        }
    }
}

/// Refuses to replace a file that its user protects from writing.
fn check_writable(to: Option<&Path>, force: bool) -> Result<(), Failure> {
    // WASI has no permissions: the standard library takes every file for read-only there.
    let is_protected = cfg!(not(target_os = "wasi"))
        && to.is_some_and(|to| std::fs::metadata(to).is_ok_and(|meta| meta.is_file() && meta.permissions().readonly()));
    match to.filter(|_| is_protected && !force) {
        Some(to) => {
            let what = "it is read-only; --force replaces it, and the new file is read-only, too";
            Err(Failure::new(Exit::Io, format!("{}: {what}", to.to_string_lossy())))
        }
        None => Ok(()),
    }
}

/// The state of the file at `path`; `None` without one, and if it cannot be read.
fn state_of(path: &Path) -> Option<FileState> {
    FileState::read(path).ok().flatten()
}

/// The number of further names of a file: hard links, which a rename of a new file does not change.
fn other_names(path: &Path) -> u64 {
    #[cfg(unix)]
    return std::fs::metadata(path).map_or(0, |meta| std::os::unix::fs::MetadataExt::nlink(&meta).saturating_sub(1));
    #[cfg(not(unix))]
    {
        let _ = path;
        0
    }
}

/// A new file and its undo patches, which are written and compared, and have no names yet.
pub(super) struct PreparedEdit<'t> {
    target: &'t EditTarget,
    plan: EditPlan<'t>,
    written: Written,
    undo: Vec<(PathBuf, AtomicFile)>,
    summary: String,
}

impl PreparedEdit<'_> {
    /// Writes the undo patch that is to be at `to`; on standard output at once.
    pub(super) fn add_undo(&mut self, to: &Path, output: &EditOutput, context: &Context) -> Result<(), Failure> {
        let asset = &self.target.asset;
        let write = |out: &mut dyn Write| {
            let mut json = JsonWriter::compact(out);
            let undone = self.plan.undo_rows(&self.written, &mut |row| {
                json.value(&row)?;
                json.end_line()
            });
            undone.map_err(Failure::of_file(asset.source().name()))
        };
        if is_stdout(to) {
            let mut out = context.stdout();
            let written = write(&mut out).and_then(|()| Ok(out.flush()?));
            // A closed output is no failure of other commands; this one would leave no way back.
            return written.map_err(|failure| Failure {
                message: format!("{}; nothing is written", failure.message),
                closed_pipe: false,
                ..failure
            });
        }
        let mut file = context.new_undo(to, output.force, self.target.place_on_disk())?;
        write(&mut file)?;
        file.flush()?;
        self.undo.push((to.to_owned(), file));
        Ok(())
    }

    /// Renames the files to their final names, and shows the changes.
    pub(super) fn commit(self, output: &EditOutput, shown: ShownAs<'_>, context: &Context) -> Outcome {
        let Self { target, plan, mut written, undo, summary } = self;
        let reached = written.take_reached();
        let file = target.asset.source().name();
        if written.findings() > 0 {
            let found = counted(written.findings(), "finding");
            complain(&format!("{file}: it is damaged, and so is the new file: verify has {found}"));
        }
        // A file with a new name can be undone: the undo patch has its name before.
        let mut named = Vec::new();
        let done = undo.into_iter().try_for_each(|(to, undo)| {
            let before = state_of(&to);
            let done = undo.commit().map_err(undo_refused);
            // A commit may fail after the rename, as the folder is synced then.
            if state_of(&to) != before {
                named.push(to);
            }
            done
        });
        let before = target.to.as_deref().map(state_of);
        let replaced = target.to.as_deref().filter(|_| output.in_place && shown.table_prefix.is_none());
        let other_names = replaced.map_or(0, other_names);
        let done = done.and_then(|()| written.commit().map_err(|error| target.failure(&error)));
        let new = done.inspect_err(|_| {
            // The patch of a file that is not changed. One that was replaced is gone, as --force says.
            if target.to.as_deref().map(state_of) == before {
                named.iter().for_each(|undo| drop(std::fs::remove_file(undo)));
            }
        })?;
        if !output.undo.as_deref().is_some_and(is_stdout) {
            let shown = show(&target.asset, &new, &plan, reached.as_ref(), shown, context);
            // The file has its name. A lost output, which the end of the command reports, stops no edit of further files.
            if context.lost.failure().is_some() {
                return Ok(());
            }
            shown?;
        }
        context.warn(&target.asset);
        if other_names > 0 {
            context.note(
                file,
                &format!("{} of the same file on disk: the old bytes stay there", counted(other_names, "other name")),
            );
        }
        let where_to = match &target.to {
            Some(to) if target.is_mod => format!("; the game takes {} over its own file", to.display()),
            Some(_) => String::new(),
            None => "; nothing is written".to_owned(),
        };
        context.say(&format!("{file}: {summary}{where_to}"));
        Ok(())
    }
}

/// Checks that the file `name` in `holding`, which was opened after `asset`, still has the bytes of `asset`.
fn is_unchanged(asset: &Asset, holding: &Asset, name: &str, context: &Context) -> Result<(), Error> {
    let inner = open_inside(holding, name, context.options())?;
    if inner.source().bytes() == asset.source().bytes() {
        return Ok(());
    }
    Err(Error::io("cannot write", changed()))
}

/// The number of skipped edits that are named.
const SHOWN: usize = 20;

/// The tables whose changes are shown: edited tables, and of the tables that `diff` compares the ones whose rows may differ.
fn tables<'a>(old: &'a Asset, new: &'a Asset, plan: &EditPlan<'_>) -> Result<Vec<TableDiff<'a>>, Failure> {
    let may_differ = |name: &str| {
        plan.edits().is_empty() || plan.is_compared(name) || plan.edits().iter().any(|edit| edit.table == name)
    };
    let mut tables = diff::tables_where(old, new, may_differ)?;
    for edit in plan.edits() {
        if tables.iter().all(|table| table.name() != edit.table) {
            tables.extend(diff::tables(old, new, std::slice::from_ref(&edit.table))?);
        }
    }
    Ok(tables)
}

/// Shows the changes as rows of `diff`.
fn show(
    old: &Asset,
    new: &Asset,
    plan: &EditPlan<'_>,
    reached: Option<&Reached>,
    shown: ShownAs<'_>,
    context: &Context,
) -> Result<(), Failure> {
    if context.format() == Format::Patch {
        return print_patch(old, new, &[], context).map(drop);
    }
    let mut page = context.page();
    let mut rows = match context.format() {
        Format::Text | Format::Markdown => None,
        _ => {
            let columns = changes::COLUMNS.map(|(name, kind)| Column::new(name, kind));
            Some(context.rows_in(RowForm { has_header: shown.has_header, ..context.row_form() }, &columns)?)
        }
    };
    if !plan.is_same() {
        let has_rows_of_edits = plan.read_back() != ReadBack::All
            && old.reader().facet::<dyn Enriched>().is_none_or(|file| file.alone().is_none());
        for table in tables(old, new, plan)? {
            let edit = plan.edits().iter().find(|edit| edit.table == table.name());
            let rows_reached = reached.filter(|_| edit.is_none()).map(|reached| reached.rows_of(table.name()));
            let pairs: Vec<Pair> = match (edit, table.side(Side::Old)) {
                // Rows that keep their positions and keys need no search.
                (Some(edit), Some(old)) if has_rows_of_edits && keeps_rows(edit, old) => {
                    let set = edit.set.iter().map(|(row, _)| *row);
                    let shared = set.clone().flat_map(|row| old.sharing(row).into_iter().skip(1));
                    let rows = set.chain(shared).filter_map(|row| u32::try_from(row).ok());
                    rows.map(|row| Pair { old: Some(row), new: Some(row) }).collect()
                }
                _ if let Some(rows) = rows_reached => {
                    let rows = rows.iter().filter_map(|row| u32::try_from(*row).ok());
                    rows.map(|row| Pair { old: Some(row), new: Some(row) }).collect()
                }
                _ => {
                    let found = table.find_edited();
                    changes::report_faults(&found, old, new, context);
                    found.pairs().collect()
                }
            };
            let name = shown
                .table_prefix
                .map_or_else(|| table.name().to_owned(), |prefix| format!("{prefix}:{}", table.name()));
            for pair in pairs {
                let change = table.change(pair, &mut |side, error| {
                    context.damaged(side_of(side, old, new).source().name(), &error);
                });
                if rows_reached.is_some() && change.fields.is_empty() {
                    continue;
                }
                match &mut rows {
                    Some(out) => out.row(&changes::cells(&name, pair, change))?,
                    None => line(&mut page, &name, pair, &change)?,
                }
            }
        }
    }
    match rows {
        Some(mut out) => Ok(out.finish()?),
        None => Ok(page.flush()?),
    }
}

/// A change for people, with its fields.
fn line(page: &mut TextPage<impl Write>, table: &str, pair: Pair, change: &diff::ChangedRow<'_>) -> crate::Result<()> {
    let (sign, mark) = changes::mark(change.kind);
    page.put_marked(&format!("{sign} {table} {}", change.key), mark)?;
    page.end_line()?;
    if pair.old.is_some() && pair.new.is_some() {
        for field in &change.fields {
            page.line(&format!("    {}: {} -> {}", field.name, field.old, field.new))?;
        }
    }
    Ok(())
}

/// Whether edits neither insert nor delete rows, nor change their keys.
fn keeps_rows(edit: &TableEdits, old: &dyn Table) -> bool {
    let mut cells = edit.set.iter().flat_map(|(_, cells)| cells);
    edit.add.is_empty() && edit.remove.is_empty() && !cells.any(|(at, _)| old.columns()[*at].role == Role::Key)
}
