//! Many files of one format as one file, whose tables have the rows of all of them.

use super::list::FileList;
use super::table::{OpenTable, SetTable};
use crate::asset::{Asset, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;
use crate::report::{Check, Progress, Report};
use crate::source::Source;
use crate::table::{Accepts, Column, Kind, Table, TablePart, Value, Visitor};
use crate::threads::{lock, prelude::*};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

/// The name of the format of the files that a pattern selects, given by [`Options::with`](crate::options::Options::with).
/// Without one, a pattern that matches files of several formats is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatOf(pub String);

/// The table that is wanted of the files that a pattern selects, given by [`Options::with`](crate::options::Options::with). If the
/// files have several formats, the one format that has the table is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTable(pub String);

/// Open tables that are kept for further cells of their rows.
const KEPT: usize = 16;
/// Files that are opened at once, to count rows or compare columns.
const AT_ONCE: usize = 64;

/// Damaged files, each with the table that cannot be read, or without one if the file cannot be opened.
type LeftOut = BTreeMap<(usize, Option<Arc<str>>), Error>;
/// An open table: the number of its file, and its name.
type Kept = (usize, Arc<str>, Arc<dyn TablePart>);

/// Many files of one format. Its tables are the tables of the files, with a first column `file` and, for several builds of
/// a game, a second one `build`. A file is opened when its rows are read, and closed after them.
pub struct FileSet {
    source: Source,
    format: Format,
    list: FileList,
    is_strict: bool,
    schemas: Vec<Schema>,
    left_out: Mutex<LeftOut>,
    /// The tables that were opened last, for cells of single rows.
    kept: Mutex<Vec<Kept>>,
}

impl std::fmt::Debug for FileSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileSet").field("source", &self.source).field("list", &self.list).finish_non_exhaustive()
    }
}

pub(super) struct Schema {
    pub(super) name: Arc<str>,
    pub(super) columns: Arc<[Column]>,
    /// The names of the files' own columns, after `build` and `file`.
    pub(super) own_names: Vec<String>,
    pub(super) label: usize,
    /// Other words for its rows.
    pub(super) also: &'static [&'static str],
    /// For each column, whether the files have an index of it. Empty for many files, which are not all kept open.
    pub(super) finds: Vec<bool>,
    counts: Mutex<Counts>,
}

/// A table of the files, with all columns that it has in them.
struct FilesTable {
    name: String,
    columns: Vec<Column>,
    label: usize,
    also: &'static [&'static str],
}

/// The numbers of rows as far as they are known.
struct Counts {
    lens: BTreeMap<usize, usize>,
    /// The number of the first row of each file, from the first file on; one more than the files that are counted.
    starts: Vec<usize>,
}

impl Schema {
    fn new(table: &FilesTable, has_builds: bool) -> Self {
        let FilesTable { name, columns, label, also } = table;
        let is_brief = columns.iter().any(|column| column.brief);
        let common = ["file", "build"].into_iter().take(if has_builds { 2 } else { 1 });
        let common = common.map(|name| if is_brief { Column::text(name).brief() } else { Column::text(name) }.key());
        let mut all: Vec<Column> = common.collect();
        let label = label + all.len();
        let own_names = columns.iter().map(|column| column.name.to_string()).collect();
        let own = named_beside(&all, columns);
        all.extend(own.into_iter().map(|column| column.accepts(Accepts::Nothing)));
        let counts = Mutex::new(Counts { lens: BTreeMap::new(), starts: vec![0] });
        Self { name: name.as_str().into(), columns: all.into(), own_names, label, also, finds: Vec::new(), counts }
    }

    pub(super) fn keep_len(&self, part: usize, len: usize) {
        let mut counts = lock(&self.counts);
        if counts.starts.len() <= part + 1 {
            counts.lens.insert(part, len);
        }
    }

    /// The number of the first row of `part`. Counts the rows of earlier files by `count`.
    pub(super) fn start(&self, part: usize, count: &(dyn Fn(usize) -> Result<usize> + Sync)) -> Result<usize> {
        loop {
            let missing: Vec<usize> = {
                let mut counts = lock(&self.counts);
                let mut next = counts.starts.len() - 1;
                while let Some(len) = counts.lens.remove(&next) {
                    let start = counts.starts[next] + len;
                    counts.starts.push(start);
                    next += 1;
                }
                if let Some(start) = counts.starts.get(part) {
                    return Ok(*start);
                }
                (next..part).filter(|part| !counts.lens.contains_key(part)).take(AT_ONCE).collect()
            };
            let counted: Vec<Result<usize>> = missing.par_iter().with_max_len(1).map(|part| count(*part)).collect();
            for (part, len) in missing.into_iter().zip(counted) {
                self.keep_len(part, len?);
            }
        }
    }
}

/// `columns` by the names that they have beside the columns in `taken`: a number follows a name that is taken.
pub(crate) fn named_beside(taken: &[Column], columns: &[Column]) -> Vec<Column> {
    let mut named = columns.to_vec();
    for column in &mut named {
        if taken.iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
            let mut names = (2u32..).map(|number| format!("{}_{number}", column.name));
            let free =
                names.find(|name| taken.iter().chain(columns).all(|other| !other.name.eq_ignore_ascii_case(name)));
            column.name = free.expect("fewer names than numbers are taken").into();
        }
    }
    named
}

impl FileSet {
    /// Opens the files of `list` as one file called `name`. Files of other formats than the one in [`FormatOf`] are left
    /// out of the list. The tables are the tables of the first file, and of all files if the tables of the format depend
    /// on the file.
    ///
    /// # Errors
    /// `Syntax` for files of several formats, `NotFound` without a file, and the error of the first file if none can be
    /// opened.
    pub fn open(name: &str, mut list: FileList) -> Result<Asset> {
        let is_strict = list.options.strict;
        if let Some((file, error)) = list.damaged().first().filter(|_| is_strict || list.is_empty()) {
            return Err(error.clone().context(file));
        }
        let format = choose_format(&mut list)?;
        let source = Source::from_vec(name, Vec::new());
        let (left_out, kept) = (Mutex::default(), Mutex::default());
        let mut set = Self { source, format, list, is_strict, schemas: Vec::new(), left_out, kept };
        set.schemas = set.read_schemas()?;
        if set.list.len() <= KEPT {
            let finds: Vec<Vec<bool>> = set.schemas.iter().map(|schema| set.finds(schema)).collect::<Result<_>>()?;
            set.schemas.iter_mut().zip(finds).for_each(|(schema, finds)| schema.finds = finds);
        }
        Ok(Asset::of_format(format, set))
    }

    /// The files.
    pub fn list(&self) -> &FileList {
        &self.list
    }

    /// The columns of a table whose name in the files is the name of a column of this file, and which have another name here: both
    /// names.
    pub fn renamed_columns(&self, table: &str) -> Vec<(&str, &str)> {
        let schema = self.schemas.iter().find(|schema| &*schema.name == table);
        let renamed = schema.into_iter().flat_map(|schema| {
            let own = schema.columns.iter().skip(schema.columns.len() - schema.own_names.len());
            schema.own_names.iter().zip(own).map(|(name, column)| (&**name, &*column.name))
        });
        renamed.filter(|(own, shown)| own != shown).collect()
    }

    /// The damaged files that were left out so far: the name and the damage of each.
    pub fn left_out(&self) -> Vec<(String, Error)> {
        let mut seen = HashSet::new();
        let left_out = lock(&self.left_out);
        let first = left_out.iter().filter(|((file, _), _)| seen.insert(*file));
        first.map(|((file, _), error)| (self.list.name(*file), error.clone())).collect()
    }

    pub(super) fn leave_out(&self, file: usize, table: Option<&Arc<str>>, error: Error) -> Result<()> {
        if self.is_strict {
            return Err(error.context(self.list.name(file)));
        }
        lock(&self.left_out).entry((file, table.cloned())).or_insert(error);
        Ok(())
    }

    fn is_left_out(&self, file: usize, table: &Arc<str>) -> bool {
        let left_out = lock(&self.left_out);
        !left_out.is_empty()
            && (left_out.contains_key(&(file, None)) || left_out.contains_key(&(file, Some(Arc::clone(table)))))
    }

    /// Opens a file. `None` if it is damaged.
    fn open_file(&self, file: usize) -> Result<Option<Asset>> {
        let opened = self.list.open(file).and_then(|asset| match asset.format() {
            format if format == self.format => Ok(asset),
            other => {
                let what = format!("a {other} file among {} files", self.format);
                Err(Error::of_part(ErrorKind::Unsupported { what: what.into() }, ""))
            }
        });
        match opened {
            Ok(asset) => Ok(Some(asset)),
            Err(error) => self.leave_out(file, None, error).map(|()| None),
        }
    }

    fn read_schemas(&self) -> Result<Vec<Schema>> {
        let mut tables: Vec<FilesTable> = Vec::new();
        let mut depends = true;
        let mut file = 0usize;
        while depends && file < self.list.len() {
            let next = if file == 0 { 1 } else { (file + AT_ONCE).min(self.list.len()) };
            let opened: Vec<_> = (file..next)
                .into_par_iter()
                .with_max_len(1)
                .map(|file| Ok(self.open_file(file)?.map(|asset| tables_of(&asset))))
                .collect::<Result<_>>()?;
            for (own, of_file) in opened.into_iter().flatten() {
                depends = own;
                of_file.into_iter().for_each(|table| add_table(&mut tables, table));
            }
            file = next;
        }
        if tables.is_empty()
            && let Some(error) = lock(&self.left_out).values().next()
        {
            return Err(error.clone().context(self.list.name(0)));
        }
        let has_builds = self.list.has_builds();
        Ok(tables.iter().map(|table| Schema::new(table, has_builds)).collect())
    }

    /// For each column of a table, whether the first file has an index of it. Empty if it has none at all.
    fn finds(&self, schema: &Schema) -> Result<Vec<bool>> {
        let Some(open) = self.open_table(0, schema)? else { return Ok(Vec::new()) };
        let table = open.table();
        let finds: Vec<bool> = (0..table.columns().len()).map(|column| table.finds(column)).collect();
        Ok(if finds.contains(&true) { finds } else { Vec::new() })
    }

    /// The cells of a file's own columns: its name, and its build.
    pub(super) fn common(&self, file: usize, column: usize) -> Option<Value<'static>> {
        match column {
            0 => Some(Value::owned(self.list.name(file))),
            1 if self.list.has_builds() => Some(self.list.build(file).map(|build| build.to_owned()).into()),
            _ => None,
        }
    }

    /// Opens a table of a file, or returns the one that was opened before.
    pub(super) fn open_table(&self, file: usize, schema: &Schema) -> Result<Option<Arc<dyn TablePart>>> {
        if self.is_left_out(file, &schema.name) {
            return Ok(None);
        }
        let Some(asset) = self.open_file(file)? else { return Ok(None) };
        let common = (0..).map_while(|column| self.common(file, column)).collect();
        Ok(Some(Arc::new(OpenTable::open(asset, schema, common))))
    }

    /// As [`FileSet::open_table`], for single cells: the tables that were opened last are kept.
    pub(super) fn kept_table(&self, file: usize, schema: &Schema) -> Result<Option<Arc<dyn TablePart>>> {
        let kept = lock(&self.kept);
        let known = kept.iter().find(|(n, table, _)| *n == file && *table == schema.name);
        if let Some((.., open)) = known {
            return Ok(Some(Arc::clone(open)));
        }
        drop(kept);
        let opened = self.open_table(file, schema)?;
        if let Some(open) = &opened {
            let mut kept = lock(&self.kept);
            if kept.len() >= KEPT {
                kept.remove(0);
            }
            kept.push((file, Arc::clone(&schema.name), Arc::clone(open)));
        }
        Ok(opened)
    }

    /// The number of rows of a file, whether the table is left out or not. A file that cannot be opened has none, and a table has those
    /// before damage after which no row can be found.
    pub(super) fn count_rows(&self, file: usize, schema: &Schema) -> Result<usize> {
        let Some(asset) = self.open_file(file)? else { return Ok(0) };
        let Some(table) = asset.reader().table(&schema.name) else { return Ok(0) };
        if let Ok(len) = table.len() {
            return Ok(len);
        }
        let (mut rows, mut count) = (table.cursor_over(0, Some(&[])), 0);
        loop {
            match rows.advance() {
                Ok(true) => count += 1,
                Ok(false) => return Ok(count),
                Err(error) => return self.leave_out(file, Some(&schema.name), error).map(|()| count),
            }
        }
    }
}

/// The tables of a file, and whether they depend on it.
fn tables_of(asset: &Asset) -> (bool, Vec<FilesTable>) {
    let tables = asset.reader().tables();
    let tables = tables.iter().map(|table| {
        let (name, columns) = (table.name().to_owned(), table.columns().to_vec());
        FilesTable { name, columns, label: table.label(), also: table.nature().also }
    });
    (asset.format().has_own_tables(), tables.collect())
}

/// Adds the columns of a file's table to the columns of all files, by name.
fn add_table(tables: &mut Vec<FilesTable>, table: FilesTable) {
    let Some(FilesTable { columns: known, .. }) = tables.iter_mut().find(|known| known.name == table.name) else {
        tables.push(table);
        return;
    };
    for column in table.columns {
        match known.iter_mut().find(|known| known.name == column.name) {
            None => known.push(column),
            Some(known) => {
                if known.kind != column.kind {
                    (known.kind, known.shape) = (Kind::Any, None);
                }
                if known.shape != column.shape {
                    known.shape = None;
                }
                known.wide |= column.wide;
            }
        }
    }
}

/// The formats whose first file has the [`WantedTable`]; empty without one.
fn formats_with_table(list: &FileList, formats: &[Result<Format>]) -> Vec<Format> {
    let Some(wanted) = list.options.get::<WantedTable>() else { return Vec::new() };
    let mut seen = Vec::new();
    let firsts = (0..).zip(formats).filter_map(|(file, format)| {
        let format = *format.as_ref().ok().filter(|format| !seen.contains(*format))?;
        seen.push(format);
        Some((file, format))
    });
    let with_table =
        firsts.filter(|(file, _)| list.open(*file).is_ok_and(|asset| asset.reader().table(&wanted.0).is_some()));
    with_table.map(|(_, format)| format).collect()
}

/// The format of the files. Drops the files of other formats, if one is named in the options.
fn choose_format(list: &mut FileList) -> Result<Format> {
    let formats: Vec<Result<Format>> = (0..list.len()).into_par_iter().map(|file| list.format(file)).collect();
    let wanted = list.options.get::<FormatOf>();
    let mut counts: Vec<(Format, usize)> = Vec::new();
    for format in formats.iter().flatten() {
        match counts.iter_mut().find(|(known, _)| known == format) {
            Some((_, count)) => *count += 1,
            None => counts.push((*format, 1)),
        }
    }
    counts.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.name().cmp(b.name())));
    if wanted.is_none() && counts.len() > 1 {
        let with_table = formats_with_table(list, &formats);
        counts.retain(|(format, _)| with_table.is_empty() || with_table.contains(format));
    }
    let format = match (&wanted, counts.as_slice()) {
        (Some(wanted), counts) => counts.iter().find(|(format, _)| format.name() == wanted.0),
        (None, [one]) => Some(one),
        (None, []) => None,
        (None, _) => {
            let what = format!("files of several formats match: {}; --format-of chooses one", counted(&counts));
            return Err(Error::of_part(ErrorKind::Syntax { what: what.into() }, ""));
        }
    };
    if counts.is_empty()
        && let Some((file, error)) = (0..).zip(&formats).find_map(|(file, format)| Some((file, format.as_ref().err()?)))
    {
        return Err(error.clone().context(list.name(file)));
    }
    let Some((format, _)) = format.copied() else {
        let what = match wanted {
            Some(wanted) if !counts.is_empty() => {
                format!("no {} file matches; there are {}", wanted.0, counted(&counts))
            }
            _ => "no file of a known format matches".to_owned(),
        };
        return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
    };
    // A file that may have the format is kept, and reported when it is opened; so is one whose name promises the format.
    let is_kept = |(file, known): (usize, Result<Format>)| match known {
        Ok(known) if known == format => true,
        Err(error) if wanted.is_none() || !matches!(error.kind(), ErrorKind::UnknownFormat { .. }) => true,
        _ => Format::promised(&list.name(file)) == Some(format),
    };
    let mut kept = (0..).zip(formats).map(is_kept).collect::<Vec<bool>>().into_iter();
    list.files.retain(|_| kept.next() == Some(true));
    Ok(format)
}

/// The numbers of files of each format, for messages.
fn counted(counts: &[(Format, usize)]) -> String {
    counts.iter().map(|(format, count)| format!("{count} {format}")).collect::<Vec<_>>().join(", ")
}

impl Reader for FileSet {
    fn source(&self) -> &Source {
        &self.source
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        self.schemas.iter().map(|schema| Box::new(SetTable { set: self, schema }) as Box<dyn Table + '_>).collect()
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let size = (0..self.list.len()).filter_map(|file| self.list.size(file)).fold(0, u64::saturating_add);
        vec![("files".into(), self.list.len().into()), ("unpacked_size".into(), size.into())]
    }

    fn cat(&self, _: &str, _: &mut dyn Visitor) -> Result<bool> {
        Ok(false)
    }

    fn warnings(&self) -> Vec<String> {
        let list = self.list.damaged().iter().map(|(name, error)| format!("{name}: {error}"));
        list.chain(self.left_out().into_iter().map(|(name, error)| format!("{name} is left out: {error}"))).collect()
    }

    /// Checks every file; a check is a file.
    fn verify(&self, progress: &Progress) -> Report {
        let checks = (0..self.list.len()).into_par_iter().with_max_len(1).map(|file| {
            let mut all = Check::new(self.list.name(file));
            match self.list.open(file) {
                Ok(asset) => {
                    for check in asset.reader().verify(progress).checks {
                        let name = check.name.clone();
                        all = all.merge(check.context(name));
                    }
                }
                Err(error) => all.fail(error),
            }
            all
        });
        checks.collect::<Vec<_>>().into()
    }
}
