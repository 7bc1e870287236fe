//! Tables of files, each in its own output file.

use super::super::rows::{SelectedRows, hint_of_values};
use super::super::stdout::is_stdout;
use super::super::view::last;
use super::super::{Context, Exit, Failure, Format, Outcome, Unit, complain};
use super::args::{ExportArgs, KindArg, RowArgs, given, in_folder, kind_of};
use crate::asset::Asset;
use crate::bytes::BOM;
use crate::error::Error;
use crate::files::FilePattern;
use crate::report::{Progress, counted};
use crate::table::{Column, Table};
use crate::write::hive::file_name;
use crate::write::json::JsonWriter;
use crate::write::rows::{RowFormat, RowSink, RowWriter, SinkEvent};
use crate::write::text::Style;
use std::cell::Cell;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

const STEP: usize = 1024;

/// Where tables go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Stdout,
    File,
    /// A file for each table.
    Folder,
    /// A folder for each table, with a file for each source file.
    Set,
}

struct Job<'a> {
    file: &'a Path,
    /// The only file, kept open: a pipe cannot be opened again, and a file may have been replaced.
    asset: Option<Asset>,
    tables: Vec<(String, PathBuf)>,
}

pub(super) fn run(args: &ExportArgs, context: &Context) -> Outcome {
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
            return Err(Failure::usage(what));
        }
    };
    check_bom(args.bom, Some(kind))?;
    if let [file] = &*files
        && kind == KindArg::Json
        && all.is_none()
        && matches!(target, Target::File | Target::Stdout)
        && args.is_of_whole_file()
    {
        let asset = context.open_with(file, &args.with)?;
        if let Some(entry) = asset.reader().graphs().and_then(|graphs| graphs.document()) {
            return document(entry, &asset, args, context);
        }
    }
    let jobs = jobs(args, &files, all.as_ref(), target, kind, context)?;
    let count = jobs.iter().map(|job| job.tables.len()).sum::<usize>();
    if target == Target::Stdout && count != 1 {
        return Err(Failure::usage(format!("standard output takes one table, not {count}; --to FOLDER/ takes all")));
    }
    let several = jobs.len() > 1;
    context.with_progress_of("export", Unit::Rows, |progress| {
        for job in jobs {
            let asset = match job.asset.map_or_else(|| context.open_with(job.file, &args.with), Ok) {
                Ok(asset) => asset,
                Err(failure) if several => {
                    context.failed(&failure);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            for (table, to) in &job.tables {
                let is_inside = asset.reader().table(table).is_none();
                let written = context.with_table(asset.clone(), table).and_then(|file| {
                    let export = Export::new(&args.rows, context, &file, table, progress)?;
                    context.create(to, args.force, |out| {
                        write_bom(args.bom, to, out)?;
                        export.write(to, kind, out)
                    })?;
                    if is_inside {
                        context.warn(&file);
                    }
                    Ok(())
                });
                match written {
                    // The failure of one table does not affect the others.
                    Err(failure) if count > 1 && failure.exit != Exit::Io => context.failed(&failure),
                    other => other?,
                }
            }
            context.warn(&asset);
        }
        Ok(())
    })
}

/// Writes the entry that is the whole of `asset` as a JSON document, as `cat` shows it and `patch --entry` takes it.
fn document(entry: &str, asset: &Asset, args: &ExportArgs, context: &Context) -> Outcome {
    let file = asset.source().name();
    context.check_new(&args.to, args.force)?;
    context.create(&args.to, args.force, |out| {
        let mut json = JsonWriter::pretty(out);
        asset.reader().cat(entry, &mut json).map_err(Failure::of_file(file))?;
        json.end_line()?;
        Ok(json.flush()?)
    })?;
    let entries = context.table(asset, None)?;
    let rows = entries.len().map_err(Failure::of_file(file))?;
    if rows > 1 {
        let (name, others) = (entries.name(), counted(rows - 1, "other row"));
        context.note(file, &format!("{entry} is written, without {others} of {name}; --table {name} writes the table"));
    }
    context.warn(asset);
    Ok(())
}

/// Writes the main table of `asset` in the kind of the ending of `to`.
pub(in crate::cli) fn whole_table(asset: &Asset, to: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let kind = table_kind(to)?;
    let name = context.table(asset, None)?.name().to_owned();
    let (rows, progress) = (RowArgs::default(), Progress::default());
    let export = Export::new(&rows, context, asset, &name, &progress)?;
    context.create(to, force, |out| export.write(to, kind, out))
}

/// Refuses the byte order mark for an output that is no CSV.
pub(in crate::cli) fn check_bom(is_wanted: bool, kind: Option<KindArg>) -> Result<(), Failure> {
    match is_wanted && kind != Some(KindArg::Csv) {
        true => Err(Failure::usage("--bom is for csv")),
        false => Ok(()),
    }
}

/// Begins a file with the byte order mark, if the user wants one.
pub(in crate::cli) fn write_bom(is_wanted: bool, to: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let mark = if is_wanted { BOM } else { "" };
    out.write_all(mark.as_bytes()).map_err(|error| Failure::io(to, "cannot write", error))
}

pub(in crate::cli) fn table_kind(to: &Path) -> Result<KindArg, Failure> {
    kind_of(to).ok().filter(|kind| !kind.is_drawing()).ok_or_else(|| {
        let what = "a table is written as .csv, .json, .ndjson, .parquet, .arrow or .arrows";
        Failure::usage(format!("{}: {what}", to.to_string_lossy()))
    })
}

fn target(args: &ExportArgs, files: usize) -> Target {
    let text = args.to.to_string_lossy();
    if is_stdout(&args.to) {
        Target::Stdout
    } else if files > 1 || !args.rows.partition.is_empty() {
        Target::Set
    } else if args.all_tables || args.table.len() > 1 || text.ends_with(['/', '\\']) || args.to.is_dir() {
        Target::Folder
    } else {
        Target::File
    }
}

/// The files of a pattern as one file, if their rows go into one file.
fn all_in_one(args: &ExportArgs, given: &[PathBuf], context: &Context) -> Result<Option<Asset>, Failure> {
    let is_file = args.rows.partition.is_empty() && target(args, 1) != Target::Folder;
    match given {
        [pattern]
            if is_file
                && FilePattern::parse(pattern).is_many()
                && (kind_of(&args.to).is_ok() || is_stdout(&args.to)) =>
        {
            let table = args.table.first().filter(|_| args.table.len() == 1);
            context.open_all_with(pattern, &args.with, table.map(String::as_str)).map(Some)
        }
        _ => Ok(None),
    }
}

/// Everything that is to be written, checked before the first of it is.
fn jobs<'a>(
    args: &ExportArgs,
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
            let asset = match all.map_or_else(|| context.open_with(file, &args.with), |all| Ok(all.clone())) {
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
                return Err(Failure::usage(what));
            }
            job.tables.push((table, to));
        }
        jobs.push(job);
    }
    Ok(jobs)
}

fn path(args: &ExportArgs, file: &Path, table: &str, target: Target, kind: KindArg) -> PathBuf {
    match target {
        Target::Stdout | Target::File => args.to.clone(),
        Target::Folder => args.to.join(format!("{}.{}", file_name(table), kind.ending())),
        Target::Set => {
            let mut folder = args.to.join(file_name(table));
            folder.extend(args.rows.partition.iter().map(ToString::to_string));
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
    let text = match kind {
        #[cfg(feature = "parquet")]
        KindArg::Parquet => return crate::write::parquet::write(out, columns, metadata, |sink| rows.rows_into(sink)),
        #[cfg(feature = "parquet")]
        KindArg::Arrow => return rows.rows_into(crate::write::arrow::ArrowRows::file(out, columns, metadata)?),
        #[cfg(feature = "parquet")]
        KindArg::Arrows => return rows.rows_into(crate::write::arrow::ArrowRows::stream(out, columns, metadata)?),
        KindArg::Json => RowFormat::Json,
        KindArg::Ndjson => RowFormat::Ndjson,
        // Drawings are handled elsewhere.
        KindArg::Csv | KindArg::Glb | KindArg::Obj | KindArg::Svg | KindArg::Png if is_stdout(to) => Format::Csv.into(),
        KindArg::Csv | KindArg::Glb | KindArg::Obj | KindArg::Svg | KindArg::Png => RowFormat::Csv,
    };
    rows.rows_into(RowWriter::new(out, text, columns, Style::Plain)?)
}

struct Export<'a> {
    args: &'a RowArgs,
    context: &'a Context,
    asset: &'a Asset,
    table: Box<dyn Table + 'a>,
    columns: Vec<usize>,
    progress: &'a Progress,
    left_out: Cell<usize>,
}

impl<'a> Export<'a> {
    fn new(
        args: &'a RowArgs,
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
                return Err(Failure::usage(what));
            }
        }
        match table.known_len() {
            Some(rows) => progress.announce(rows as u64),
            None => progress.announce_unknown(),
        }
        Ok(Self { args, context, asset, table, columns, progress, left_out: Cell::new(0) })
    }

    fn write(&self, to: &Path, kind: KindArg, out: &mut (dyn Write + Send)) -> Result<(), Failure> {
        let columns: Vec<Column> = self.columns.iter().map(|&index| self.table.columns()[index].clone()).collect();
        write(to, kind, out, &columns, &self.metadata(), self)
    }

    /// The origin of the rows, for formats that keep it.
    fn metadata(&self) -> [(&'static str, String); 5] {
        [
            ("assetq.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("assetq.file", last(self.asset.source().name()).to_owned()),
            ("assetq.format", self.asset.format().to_string()),
            ("assetq.format_version", self.asset.reader().version()),
            ("assetq.table", self.table.name().to_owned()),
        ]
    }

    /// Leaves a damaged row out if the arguments allow that, or rows that cannot be found.
    fn damaged(&self, row: Option<usize>, error: Error) -> Result<(), Failure> {
        let (file, name) = (self.asset.source().name(), self.table.name());
        let error = match row {
            Some(row) => error.in_row(name, row),
            None => error.in_table(name),
        };
        if !self.args.skip_damaged {
            let failure = Failure::in_file(file, &error);
            return Err(Failure { message: failure.message + "; --skip-damaged writes the other rows", ..failure });
        }
        self.context.damaged(file, &error);
        match row {
            Some(_) => self.left_out.set(self.left_out.get() + 1),
            None => complain(&format!("{file}: rows of {name} that cannot be found are left out")),
        }
        Ok(())
    }

    /// Leaves a row out that `sink` did not take, unless that cannot write.
    fn not_taken(&self, row: Option<usize>, error: Error) -> Result<(), Failure> {
        match error.kind() {
            crate::ErrorKind::Io { .. } => Err(error.into()),
            _ => self.damaged(row, error),
        }
    }

    /// Passes the selected rows to `sink`. Returns how many there are.
    fn each_row(&self, sink: &mut impl RowSink) -> Result<usize, Failure> {
        let rows = SelectedRows::new(&*self.table).with_condition(self.args.condition.as_deref())?;
        let rows = rows.with_limit(self.args.limit).of_columns(&self.columns);
        // Rows that were looked at, whether they match or not.
        let (mut seen, mut behind) = (0, 0);
        let written = rows.each(self.asset.source().name(), &|row, error| self.damaged(row, error), |row| {
            // The numbers of rows of several files are known once the rows before them are counted.
            seen = if self.table.parts().is_some() { seen + 1 } else { row.row() };
            if seen >= behind + STEP {
                self.progress.advance((seen - behind) as u64);
                behind = seen;
            }
            match sink.row_of(row, &self.columns) {
                Ok(()) => Ok(true),
                Err(error) => self.not_taken(Some(row.row()), error).map(|()| false),
            }
        });
        let all = self.table.known_len().unwrap_or(seen);
        self.progress.advance((all.max(behind) - behind) as u64);
        written
    }
}

impl RowSource for &Export<'_> {
    fn rows_into(self, mut sink: impl RowSink) -> Result<(), Failure> {
        let (file, name) = (self.asset.source().name(), self.table.name());
        let is_whole = self.args.condition.is_none() && self.args.limit.is_none();
        let at_once = is_whole.then(|| {
            sink.rows_of(&*self.table, &self.columns, |met| match met {
                SinkEvent::Rows(count) => {
                    self.progress.advance(count as u64);
                    Ok(())
                }
                SinkEvent::Damage(row, error) => self.not_taken(row, error),
            })
        });
        let written = match at_once.flatten() {
            Some(done) => done.map(|()| None)?,
            None => Some(self.each_row(&mut sink)?),
        };
        sink.finish()?;
        if self.left_out.get() > 0 {
            let (rows, are) = if self.left_out.get() == 1 { ("row", "is") } else { ("rows", "are") };
            let what = format!("{} damaged {rows} of {name} {are} left out", self.left_out.get());
            complain(&format!("{file}: {what}"));
        }
        if self.args.condition.is_some() {
            let all = SelectedRows::new(&*self.table).with_condition(self.args.condition.as_deref())?;
            self.context.note_repeated(file, &all, &all.repeating(), "--where");
        }
        match &self.args.condition {
            Some(condition) if written == Some(0) => {
                let hint = hint_of_values(condition, &*self.table);
                let what = format!("{file}: nothing in {name} matches {condition:?}; nothing is written{hint}");
                Err(Failure::new(Exit::NotFound, what))
            }
            _ => Ok(()),
        }
    }
}
