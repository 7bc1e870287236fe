use super::{Context, Exit, Failure, Format, Outcome};
use crate::error::Result as AssetResult;
use crate::table::filter::{Bound, Filter, glob};
use crate::table::{Column, Place, RowCursor, Table, Value};
use globset::GlobMatcher;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// List the rows of a table
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq ls assets.bin '*/ship/*.model'        paths that match ('*' also matches '/')
  assetq ls assets.bin content/gameplay        a folder and everything in it
  assetq ls assets.bin -t render_sets --long   another table, with all columns
  assetq ls models.bin -f csv                  as CSV, with all columns
  assetq ls monster_book.wdb --where 'u9SaveIndex > 10 and record ~ \"m0*\"'
  assetq ls wdbpack.bin:item.wdb               a sheet inside of a pack
  assetq ls town.wdata --at 120,0,-45.5        boxes that contain a point")]
pub(super) struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which rows: a glob ('*' also matches '/'), or the exact name of a row or of a folder
    #[arg(value_name = "GLOB")]
    glob: Option<String>,
    /// Another table than the main one (`assetq info FILE` lists them)
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
    /// Only rows for which this holds, as in 'size > 10k and name ~ "*.dds"': = != < <= > >= ~ !~ and or not ( ) null
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Show folders as a tree
    #[arg(long, conflicts_with = "long")]
    tree: bool,
    /// Show all columns also in text
    #[arg(long, short)]
    long: bool,
    /// Only rows whose place in space contains this point
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::<3>, allow_hyphen_values = true, group = "place")]
    at: Option<[f64; 3]>,
    /// Only rows whose place meets the box between these corners
    #[arg(long = "box", value_name = "X,Y,Z,X,Y,Z", value_parser = numbers::<6>, allow_hyphen_values = true, group = "place")]
    region: Option<[f64; 6]>,
    /// Only rows whose place meets the straight line between these points
    #[arg(long, value_name = "X,Y,Z,X,Y,Z", value_parser = numbers::<6>, allow_hyphen_values = true, group = "place")]
    line: Option<[f64; 6]>,
    /// Show at most this many rows
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// As many numbers as are asked for, with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let wrong = || format!("{N} numbers with commas between them are needed");
    let numbers: Vec<f64> = text.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let numbers: [f64; N] = numbers.try_into().map_err(|_| wrong())?;
    if numbers.iter().all(|n| n.is_finite()) { Ok(numbers) } else { Err(wrong()) }
}

impl Args {
    /// The place that rows are asked for.
    fn place(&self) -> Option<Place> {
        let halves = |[a, b, c, d, e, f]: [f64; 6]| ([a, b, c], [d, e, f]);
        let region = self.region.map(halves).map(|(a, b)| Place::Box(a, b));
        let line = self.line.map(halves).map(|(a, b)| Place::Segment(a, b));
        self.at.map(Place::Point).or(region).or(line)
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.file)?;
    let name = asset.source().name();
    let table = context.table(&asset, args.table.as_deref())?;
    let filter = args.condition.as_deref().map(|text| Filter::parse(text)?.bind(table.columns())).transpose()?;
    let (pattern, place) = (Pattern::new(args.glob.as_deref())?, args.place());
    let rows = Rows { table: &*table, filter, pattern, place, limit: args.limit };
    let found = if args.tree { tree(&rows, name, context)? } else { list(args, &rows, name, context)? };
    context.warn(&asset);
    let asked: Vec<_> = args.glob.iter().chain(&args.condition).map(|asked| format!("{asked:?}")).collect();
    if found == 0 && !asked.is_empty() {
        context.not_found(&format!("{name}: nothing in {} matches {}", table.name(), asked.join(" and ")));
    } else if found == 0 && place.is_some() {
        context.not_found(&format!("{name}: nothing in {} is there", table.name()));
    }
    Ok(Exit::Done)
}

/// The rows to show.
struct Rows<'a> {
    table: &'a dyn Table,
    filter: Option<Bound>,
    pattern: Pattern,
    place: Option<Place>,
    limit: Option<usize>,
}

enum Pattern {
    All,
    Glob(GlobMatcher),
    /// Without wildcards: the text itself, or a folder of that name.
    Exact(String),
}

impl Pattern {
    fn new(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            None => Ok(Self::All),
            Some(text) if !text.contains(['*', '?', '[', '{']) => Ok(Self::Exact(text.trim_end_matches('/').into())),
            Some(text) => Ok(Self::Glob(glob(text)?)),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::All => true,
            // A name may hold the characters of a glob, as `[Main]` does.
            Self::Glob(glob) => glob.is_match(text) || glob.glob().glob() == text,
            Self::Exact(exact) => {
                text.strip_prefix(exact.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

impl Rows<'_> {
    /// Whether a row is at the place that is asked for; `None` where rows have no place.
    fn is_there(&self, row: usize) -> Option<AssetResult<bool>> {
        self.place.as_ref().map_or(Some(Ok(true)), |place| self.table.is_at(row, place))
    }

    /// Hands each row that matches to `each`. Gives the number of rows.
    fn each(
        &self,
        file: &str,
        context: &Context,
        mut each: impl FnMut(&dyn RowCursor) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        let label = self.table.label();
        let (mut all, mut selected);
        let cursor: &mut dyn RowCursor = match &self.filter {
            Some(filter) => {
                selected = filter.select(self.table, |error| context.damaged(file, &error))?;
                &mut selected
            }
            None => {
                all = self.table.cursor(0);
                &mut *all
            }
        };
        let mut found = 0usize;
        let limit = self.limit.unwrap_or(usize::MAX);
        while found < limit {
            match cursor.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    context.damaged(file, &error);
                    break;
                }
            }
            if !matches!(self.pattern, Pattern::All) {
                match cursor.value(label) {
                    Ok(value) if self.pattern.matches(&text_of(&value)) => {}
                    Ok(_) => continue,
                    Err(error) => {
                        context.damaged(file, &error);
                        continue;
                    }
                }
            }
            match self.is_there(cursor.row()) {
                None => {
                    let message = format!("{file}: rows of {} have no place in space", self.table.name());
                    return Err(Failure::new(Exit::Usage, message));
                }
                Some(Ok(true)) => {}
                Some(Ok(false)) => continue,
                Some(Err(error)) => {
                    context.damaged(file, &error);
                    continue;
                }
            }
            each(cursor)?;
            found = found.saturating_add(1);
        }
        Ok(found)
    }
}

fn text_of<'v>(value: &'v Value<'_>) -> std::borrow::Cow<'v, str> {
    value.as_text().unwrap_or_else(|| value.to_string().into())
}

fn list(args: &Args, rows: &Rows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let all = args.long || context.format() != Format::Text;
    let shown = |column: &&(usize, &Column)| all || column.1.brief;
    let (mut indexes, mut columns): (Vec<usize>, Vec<Column>) = rows
        .table
        .columns()
        .iter()
        .enumerate()
        .collect::<Vec<_>>()
        .iter()
        .filter(shown)
        .map(|(index, column)| (*index, (*column).clone()))
        .unzip();
    if indexes.is_empty() {
        indexes = (0..rows.table.columns().len()).collect();
        columns = rows.table.columns().to_vec();
    }
    let mut out = context.rows(&columns)?;
    let found =
        rows.each(file, context, |row| Ok(out.row_of(row, &indexes, |error| context.damaged(file, &error))?))?;
    out.finish()?;
    Ok(found)
}

#[derive(Default)]
struct Folder(BTreeMap<String, Folder>);

fn tree(rows: &Rows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let mut root = Folder::default();
    let label = rows.table.label();
    let found = rows.each(file, context, |row| {
        match row.value(label) {
            Ok(cell) => {
                let mut at = &mut root;
                for part in text_of(&cell).split('/') {
                    at = at.0.entry(part.to_owned()).or_default();
                }
            }
            Err(error) => context.damaged(file, &error),
        }
        Ok(())
    })?;
    let mut out = context.stdout();
    // Depth first, without recursion: the depth of a path is the file's to choose.
    let mut open = vec![root.0.into_iter()];
    while let Some(folder) = open.last_mut() {
        match folder.next() {
            Some((name, children)) => {
                let last = folder.len() == 0;
                for level in open.iter().take(open.len().saturating_sub(1)) {
                    out.write_all(if level.len() > 0 { "│   ".as_bytes() } else { b"    " })?;
                }
                let branch = if last { "└── " } else { "├── " };
                writeln!(out, "{branch}{}", crate::export::text::clean(&name))?;
                open.push(children.0.into_iter());
            }
            None => {
                open.pop();
            }
        }
    }
    out.flush()?;
    Ok(found)
}
