//! Tables of files, each in its own output file.

use super::super::bar::Unit;
use super::super::output::is_stdout;
use super::super::rows::SelectedRows;
use super::super::{Context, Exit, Failure, Format, Outcome};
use super::args::{Args, KindArg, given, in_folder, kind_of};
use crate::asset::Asset;
use crate::error::Error;
use crate::files::FilePattern;
use crate::report::{Progress, counted};
use crate::table::{Column, Table};
use crate::write::hive::file_name;
use crate::write::json::JsonWriter;
use crate::write::rows::{Header, RowFormat, RowSink, RowWriter, SinkEvent};
use crate::write::text::Style;
#[cfg(feature = "parquet")]
use crate::write::{arrow::ArrowRows, parquet};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The number of rows between updates of the progress bar.
const STEP: usize = 1024;

/// Where tables go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Stdout,
    /// One table, one file.
    File,
    /// A file for each table.
    Folder,
    /// A folder for each table, with a file for each source file.
    Set,
}

/// A file, and the outputs of its tables.
struct Job<'a> {
    file: &'a Path,
    /// The only file, kept open: a pipe cannot be opened again, and a file may have been replaced.
    asset: Option<Asset>,
    tables: Vec<(String, PathBuf)>,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let given = given(args, context);
    let all = all_in_one(args, &given, context)?;
    let files = if all.is_some() { given } else { context.files_without_archives(&given)? };
    context.reads(&files);
    let target = target(args, files.len());
    if matches!(target, Target::Folder | Target::Set) {
        context.writes_folder(&args.to);
    }
    let kind = match (args.kind, target) {
        (Some(kind), _) => kind,
        (None, Target::File) => kind_of(&args.to)?,
        (None, _) => {
            let what = format!("{}: --as says how to write tables there, as in --as csv", args.to.to_string_lossy());
            return Err(Failure::new(Exit::Usage, what));
        }
    };
    if let [file] = &*files
        && kind == KindArg::Json
        && all.is_none()
        && matches!(target, Target::File | Target::Stdout)
        && args.is_of_whole_file()
    {
        let asset = context.open_with(file, args.with.iter())?;
        if let Some(entry) = asset.reader().graphs().and_then(|graphs| graphs.document()) {
            return document(entry, &asset, args, context);
        }
    }
    let jobs = jobs(args, &files, all.as_ref(), target, kind, context)?;
    let count = jobs.iter().map(|job| job.tables.len()).sum::<usize>();
    if target == Target::Stdout && count != 1 {
        let what = format!("standard output takes one table, not {count}; --to FOLDER/ takes all");
        return Err(Failure::new(Exit::Usage, what));
    }
    let several = jobs.len() > 1;
    context.with_progress_of("export", Unit::Rows, |progress| {
        for job in jobs {
            let asset = match job.asset.map_or_else(|| context.open_with(job.file, args.with.iter()), Ok) {
                Ok(asset) => asset,
                Err(failure) if several => {
                    context.failed(&failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            for (table, to) in &job.tables {
                let write = || {
                    let export = Export::new(args, context, &asset, table, progress)?;
                    context.create(to, args.force, |out| export.write(to, kind, out))
                };
                match write() {
                    // The failure of one table does not affect the others.
                    Err(failure) if count > 1 && failure.exit != Exit::Io => context.failed(&failure),
                    other => other?,
                }
            }
            context.warn(&asset);
        }
        Ok(Exit::Done)
    })
}

/// Writes the entry that is the whole of `asset` as a JSON document, as `cat` shows it and `patch --entry` takes it.
fn document(entry: &str, asset: &Asset, args: &Args, context: &Context) -> Outcome {
    let file = asset.source().name();
    context.check_new(&args.to, args.force)?;
    context.create(&args.to, args.force, |out| {
        let mut json = JsonWriter::pretty(out);
        asset.reader().cat(entry, &mut json).map_err(Failure::of_file(file))?;
        json.end_line()?;
        Ok(json.flush()?)
    })?;
    let entries = context.table(asset, None)?;
    let others = entries.len().map_err(Failure::of_file(file))?.saturating_sub(1);
    if others > 0 {
        let (name, others) = (entries.name(), counted(others, "other row"));
        context.note(file, &format!("{entry} is written, without {others} of {name}; --table {name} writes the table"));
    }
    context.warn(asset);
    Ok(Exit::Done)
}

/// Writes the main table of `asset` in the kind of the output's ending.
pub(super) fn main(args: &Args, asset: &Asset, context: &Context) -> Result<(), Failure> {
    let kind = table_kind(&args.to)?;
    let name = context.table(asset, None)?.name().to_owned();
    let progress = Progress::default();
    let export = Export::new(args, context, asset, &name, &progress)?;
    context.create(&args.to, args.force, |out| export.write(&args.to, kind, out))
}

/// The kind of file for a table, by the ending of `to`.
pub(in crate::cli) fn table_kind(to: &Path) -> Result<KindArg, Failure> {
    kind_of(to).ok().filter(|kind| !kind.is_drawing()).ok_or_else(|| {
        let what = "a table is written as .csv, .json, .ndjson, .parquet, .arrow, .feather or .arrows";
        Failure::new(Exit::Usage, format!("{}: {what}", to.to_string_lossy()))
    })
}

fn target(args: &Args, files: usize) -> Target {
    let text = args.to.to_string_lossy();
    if is_stdout(&args.to) {
        Target::Stdout
    } else if files > 1 || !args.partition.is_empty() {
        Target::Set
    } else if args.all_tables || args.table.len() > 1 || text.ends_with(['/', '\\']) || args.to.is_dir() {
        Target::Folder
    } else {
        Target::File
    }
}

/// The files of a pattern as one file, if their rows go into one file.
fn all_in_one(args: &Args, given: &[PathBuf], context: &Context) -> Result<Option<Asset>, Failure> {
    let is_file = args.partition.is_empty() && target(args, 1) != Target::Folder;
    match given {
        [pattern]
            if is_file && FilePattern::of(pattern).is_many() && (kind_of(&args.to).is_ok() || is_stdout(&args.to)) =>
        {
            context.open_all_with(pattern, args.with.iter()).map(Some)
        }
        _ => Ok(None),
    }
}

/// Everything that is to be written, checked before the first of it is.
fn jobs<'a>(
    args: &Args,
    files: &'a [PathBuf],
    all: Option<&Asset>,
    target: Target,
    kind: KindArg,
    context: &Context,
) -> Result<Vec<Job<'a>>, Failure> {
    let mut jobs = Vec::new();
    let mut taken = HashSet::new();
    for file in files {
        let mut tables = args.table.clone();
        let mut only = all.cloned();
        if tables.is_empty() {
            let opened = || context.open_with(file, args.with.iter());
            let asset = match all.map_or_else(opened, |all| Ok(all.clone())) {
                Err(failure) if files.len() == 1 => return Err(failure),
                // An unreadable file among several has no tables; its error is reported in its turn.
                opened => opened.ok(),
            };
            let names = asset.iter().flat_map(|asset| asset.reader().tables());
            tables.extend(names.map(|table| table.name().to_owned()));
            if !args.all_tables {
                tables.truncate(1);
            }
            only = asset.filter(|_| files.len() == 1);
        }
        let mut job = Job { file, asset: only, tables: Vec::new() };
        for table in tables {
            let to = path(args, file, &table, target, kind);
            context.check_new(&to, args.force)?;
            if !taken.insert(to.clone()) {
                let what = format!("{}: more than one table would be written there", to.to_string_lossy());
                return Err(Failure::new(Exit::Usage, what));
            }
            job.tables.push((table, to));
        }
        jobs.push(job);
    }
    Ok(jobs)
}

fn path(args: &Args, file: &Path, table: &str, target: Target, kind: KindArg) -> PathBuf {
    let name = |stem: &str| format!("{}.{}", file_name(stem), kind.ending());
    match target {
        Target::Stdout | Target::File => args.to.clone(),
        Target::Folder => args.to.join(name(table)),
        Target::Set => {
            let mut folder = args.to.join(file_name(table));
            folder.extend(args.partition.iter().map(ToString::to_string));
            in_folder(&folder, args, file, kind)
        }
    }
}

/// Rows on their way into a file.
pub(in crate::cli) trait RowSource {
    fn rows_into(self, sink: impl RowSink) -> Result<(), Failure>;
}

/// Writes `rows` to `to`, in a kind of file that holds a table; `metadata` is the origin of the rows, for kinds that keep it.
pub(in crate::cli) fn write(
    to: &Path,
    kind: KindArg,
    out: &mut (dyn Write + Send),
    columns: &[Column],
    metadata: &[(&str, String)],
    rows: impl RowSource,
) -> Result<(), Failure> {
    #[cfg(not(feature = "parquet"))]
    let _ = metadata;
    let text = |out, format| {
        let header = columns.iter().map(Header::from).collect::<Vec<_>>();
        RowWriter::new(out, format, &header, Style::Plain)
    };
    match kind {
        #[cfg(feature = "parquet")]
        KindArg::Parquet => parquet::write(out, columns, metadata, |sink| rows.rows_into(sink)),
        #[cfg(feature = "parquet")]
        KindArg::Arrow => rows.rows_into(ArrowRows::file(out, columns, metadata)?),
        #[cfg(feature = "parquet")]
        KindArg::Arrows => rows.rows_into(ArrowRows::stream(out, columns, metadata)?),
        KindArg::Json => rows.rows_into(text(out, RowFormat::Json)?),
        KindArg::Ndjson => rows.rows_into(text(out, RowFormat::Ndjson)?),
        // Drawings are handled elsewhere.
        KindArg::Csv | KindArg::Glb | KindArg::Obj | KindArg::Svg | KindArg::Png => {
            let format = if is_stdout(to) { RowFormat::from(Format::Csv) } else { RowFormat::Csv };
            rows.rows_into(text(out, format)?)
        }
    }
}

/// A table on its way into a file.
struct Export<'a> {
    args: &'a Args,
    context: &'a Context,
    asset: &'a Asset,
    table: Box<dyn Table + 'a>,
    columns: Vec<usize>,
    progress: &'a Progress,
}

impl<'a> Export<'a> {
    fn new(
        args: &'a Args,
        context: &'a Context,
        asset: &'a Asset,
        table: &str,
        progress: &'a Progress,
    ) -> Result<Self, Failure> {
        let file = asset.source().name();
        let table = context.table(asset, Some(table))?;
        let columns = context.columns(file, &*table, &args.columns)?;
        for partition in &args.partition {
            if table.columns().iter().any(|column| column.name.eq_ignore_ascii_case(&partition.key)) {
                let what = format!("{file}: {} has a column {:?} already", table.name(), partition.key);
                return Err(Failure::new(Exit::Usage, what));
            }
        }
        match table.known_len() {
            Some(rows) => progress.announce(rows as u64),
            None => progress.announce_unknown(),
        }
        Ok(Self { args, context, asset, table, columns, progress })
    }

    fn write(&self, to: &Path, kind: KindArg, out: &mut (dyn Write + Send)) -> Result<(), Failure> {
        let columns: Vec<Column> =
            self.columns.iter().filter_map(|&index| self.table.columns().get(index).cloned()).collect();
        write(to, kind, out, &columns, &self.metadata(), self)
    }

    /// The origin of the rows, for formats that keep it.
    fn metadata(&self) -> [(&'static str, String); 5] {
        [
            ("assetq.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("assetq.file", self.asset.source().name().rsplit(['/', '\\']).next().unwrap_or_default().to_owned()),
            ("assetq.format", self.asset.format().to_string()),
            ("assetq.format_version", self.asset.reader().version()),
            ("assetq.table", self.table.name().to_owned()),
        ]
    }
}

impl RowSource for &Export<'_> {
    fn rows_into(self, mut sink: impl RowSink) -> Result<(), Failure> {
        let (file, name) = (self.asset.source().name(), self.table.name());
        let rows =
            SelectedRows::of(&*self.table).with_condition(self.args.condition.as_deref())?.with_limit(self.args.limit);
        let rows = rows.of_columns(&self.columns);
        let skipped = Cell::new(0usize);
        let damaged = |row: Option<usize>, error: Error| {
            let error = match row {
                // Some errors name their row already.
                Some(row) if !error.part().starts_with(&format!("{name} {row}")) => {
                    error.context(format_args!("{name} row {row}"))
                }
                Some(_) => error,
                None => return Err(Failure::in_file(file, &error.context(name))),
            };
            if !self.args.skip_damaged {
                return Err(Failure::in_file(file, &error));
            }
            self.context.damaged(file, &error);
            skipped.set(skipped.get() + 1);
            Ok(())
        };
        let not_taken = |row, error: Error| match error.kind() {
            crate::ErrorKind::Io { .. } => Err(Failure::from(error)),
            _ => damaged(row, error),
        };
        let at_once = match (&self.args.condition, self.args.limit) {
            (None, None) => sink.rows_of(&*self.table, &self.columns, |met| match met {
                SinkEvent::Rows(count) => {
                    self.progress.advance(count as u64);
                    Ok(())
                }
                SinkEvent::Damage(row, error) => not_taken(row, error),
            }),
            _ => None,
        };
        // Rows that were looked at, whether they match or not.
        let (mut seen, mut behind) = (0usize, 0usize);
        let one_by_one = || {
            let written = rows.each(file, &damaged, |row| {
                // The numbers of rows of several files are known once the rows before them are counted.
                seen = if self.table.parts().is_some() { seen + 1 } else { row.row() };
                if seen.saturating_sub(behind) >= STEP {
                    self.progress.advance(seen.saturating_sub(behind) as u64);
                    behind = seen;
                }
                match sink.row_of(row, &self.columns) {
                    Ok(()) => Ok(true),
                    Err(error) => not_taken(Some(row.row()), error).map(|()| false),
                }
            });
            let all = self.table.known_len().unwrap_or(seen);
            self.progress.advance(all.saturating_sub(behind) as u64);
            written
        };
        let written = at_once.map_or_else(one_by_one, |done| done.map(|()| usize::MAX))?;
        sink.finish()?;
        let left_out = skipped.get();
        if left_out > 0 {
            let (rows, are) = if left_out == 1 { ("row", "is") } else { ("rows", "are") };
            self.context.complain(&format!("{file}: {left_out} damaged {rows} of {name} {are} left out"));
        }
        match &self.args.condition {
            Some(condition) if written == 0 => {
                let what = format!("{file}: nothing in {name} matches {condition:?}; nothing is written");
                Err(Failure::new(Exit::NotFound, what))
            }
            _ => Ok(()),
        }
    }
}
