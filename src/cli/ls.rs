use super::rows::{SelectedRows, text_of};
use super::{Context, Exit, Failure, Format, Outcome};
use crate::paths::glob_of;
use crate::table::glob::Glob;
use crate::table::{Column, Region};
use std::collections::BTreeMap;
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
  assetq ls town.wdata --at 120,0,-45.5        boxes that contain a point
  assetq ls hull.geometry -t armor_plates --with GameParams.data   plates with their millimetres")]
pub(super) struct Args {
    /// The file; a folder or a glob in quotes means the rows of all its files, with a column `file`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which rows: a glob ('*' also matches '/'; without upper-case letters it ignores case), or the exact name of a row
    /// or of a folder
    #[arg(value_name = "GLOB")]
    glob: Option<String>,
    /// Another table than the main one (`assetq info FILE` lists them)
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
    /// Only rows for which this holds, as in 'size > 10k and name ~ "*.dds"': = != < <= > >= ~ !~ and or not ( ), and
    /// from SQL: like, glob, in, between, is null
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Show these columns, in this order
    #[arg(long, short = 'c', value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Show folders as a tree
    #[arg(long, conflicts_with_all = ["columns", "long"])]
    tree: bool,
    /// Show all columns also in text
    #[arg(long, short)]
    long: bool,
    /// Only rows whose place in space contains this point. Plates of armour and hulls are treated as the boxes around
    /// them, instances and vertices as points
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::<3>, allow_hyphen_values = true, group = "place")]
    at: Option<[f64; 3]>,
    /// Only rows whose place meets the box between these corners
    #[arg(long = "box", value_name = "X,Y,Z,X,Y,Z", value_parser = numbers::<6>, allow_hyphen_values = true, group = "place")]
    region: Option<[f64; 6]>,
    /// Only rows whose place meets the straight line between these points
    #[arg(long, value_name = "X,Y,Z,X,Y,Z", value_parser = numbers::<6>, allow_hyphen_values = true, group = "place")]
    line: Option<[f64; 6]>,
    /// For armour of geometry: the parameters that state how thick plates are (GameParams.data)
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Show at most this many rows
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// Parses this number of numbers, with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let wrong = || format!("{N} numbers with commas between them are needed");
    let numbers: Vec<f64> = text.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
    let numbers: [f64; N] = numbers.try_into().map_err(|_| wrong())?;
    if numbers.iter().all(|n| n.is_finite()) { Ok(numbers) } else { Err(wrong()) }
}

impl Args {
    /// The requested place.
    fn place(&self) -> Option<Region> {
        let halves = |[a, b, c, d, e, f]: [f64; 6]| ([a, b, c], [d, e, f]);
        let region = self.region.map(halves).map(|(a, b)| Region::Box(a, b));
        let line = self.line.map(halves).map(|(a, b)| Region::Segment(a, b));
        self.at.map(Region::Point).or(region).or(line)
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open_all_with(&args.file, args.with.iter())?;
    let name = asset.source().name();
    let table = context.table(&asset, args.table.as_deref())?;
    let place = args.place();
    let glob = match asset.reader().archive() {
        Some(_) => args.glob.as_deref().map(glob_of),
        None => args.glob.as_deref().map(Into::into),
    };
    let rows = SelectedRows::of(&*table)
        .with_condition(args.condition.as_deref())?
        .with_name(glob.as_deref())?
        .of_files(asset.reader().archive().is_some() && args.table.is_none())
        .with_place(place)
        .with_limit(args.limit);
    let found = if args.tree { tree(&rows, name, context)? } else { list(args, rows, name, context)? };
    context.warn(&asset);
    let asked: Vec<_> = args.glob.iter().chain(&args.condition).map(|asked| format!("{asked:?}")).collect();
    if found == 0 && !asked.is_empty() {
        let exact = args.glob.as_deref().filter(|glob| !Glob::is_glob(glob) && args.condition.is_none());
        let hint = exact.map_or_else(String::new, |exact| crate::table::hint_of_rows(exact, &*table));
        let starred = args.glob.as_deref().filter(|glob| Glob::is_glob(glob) && !glob.starts_with('*'));
        let hint = starred.map_or(hint, |glob| {
            format!(
                "; a glob must match from the beginning to the end: '*{}*' matches anywhere",
                glob.trim_end_matches('*')
            )
        });
        context.not_found(&format!("{name}: nothing in {} matches {}{hint}", table.name(), asked.join(" and ")));
    } else if found == 0 && place.is_some() {
        context.not_found(&format!("{name}: nothing in {} is there", table.name()));
    }
    Ok(Exit::Done)
}

fn list(args: &Args, rows: SelectedRows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let table = rows.table;
    let all = args.long || context.format() != Format::Text || !args.columns.is_empty();
    let mut indexes = context.columns(file, table, &args.columns)?;
    if !all && table.columns().iter().any(|column| column.brief) {
        indexes.retain(|&index| table.columns().get(index).is_some_and(|column| column.brief));
    }
    let columns: Vec<Column> = indexes.iter().filter_map(|&index| table.columns().get(index).cloned()).collect();
    let mut out = context.rows(&columns)?;
    let found = rows.of_columns(&indexes).each(file, &context.say_damaged(file), |row| {
        out.row_of(row, &indexes, |error| context.damaged(file, &error))?;
        Ok(true)
    })?;
    out.finish()?;
    Ok(found)
}

#[derive(Default)]
struct Folder(BTreeMap<String, Folder>);

fn tree(rows: &SelectedRows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let mut root = Folder::default();
    let label = rows.table.label();
    let found = rows.each(file, &context.say_damaged(file), |row| {
        match row.value(label) {
            Ok(cell) => {
                let mut at = &mut root;
                for part in text_of(&cell).split('/') {
                    at = at.0.entry(part.to_owned()).or_default();
                }
            }
            Err(error) => context.damaged(file, &error),
        }
        Ok(true)
    })?;
    let mut page = context.page();
    // Depth first, without recursion: the depth of a path is the file's to choose.
    let mut open = vec![root.0.into_iter()];
    while let Some(folder) = open.last_mut() {
        match folder.next() {
            Some((name, children)) => {
                let last = folder.len() == 0;
                for level in open.iter().take(open.len().saturating_sub(1)) {
                    page.put(if level.len() > 0 { "│   " } else { "    " })?;
                }
                let branch = if last { "└── " } else { "├── " };
                page.line(&format!("{branch}{name}"))?;
                open.push(children.0.into_iter());
            }
            None => {
                open.pop();
            }
        }
    }
    page.flush()?;
    Ok(found)
}
