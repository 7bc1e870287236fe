use super::rows::{SelectedRows, hint_of_values, text_of};
use super::sort::SortOrder;
use super::{Context, Failure, Format, Outcome, complain};
use crate::archive;
use crate::asset::Asset;
use crate::files::FileSet;
use crate::paths::glob_of;
use crate::report::counted;
use crate::table::glob::Glob;
use crate::table::{Column, Kind, Region, Role, Table};
use crate::write::text::more_columns;
use assetq_view::page::tables::quoted;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// List the rows of a table
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq ls assets.bin \"*/ship/*.model\"        paths that match ('*' also matches '/')
  assetq ls assets.bin content/gameplay        a folder and everything in it
  assetq ls assets.bin -t render_sets --long   another table, with all columns
  assetq ls models.bin -f csv                  as CSV, with all columns
  assetq ls enemy.wdb --where \"uHp > 1000 and record ~ 'e_g*'\"
  assetq ls wows \"content/*.geometry\" --sort size:desc -n 10   the largest
  assetq ls pack.bin:item.wdb                  a sheet inside of a pack
  assetq ls town.wdata --at 660,10,440         boxes that contain a point
  assetq ls ship.geometry -t armor_plates --with GameParams.data   plates with their millimetres
  assetq ls wows -t armor -w \"ship ~ '*Aurora*' and component in ('A_Hull', 'A_Artillery')\" --sort thickness:desc
                                               the thickest plates of a ship and its main guns, in millimetres
  assetq ls se2/SaveGames                      the files of a folder in the folder of a game")]
pub(super) struct Args {
    /// The file; a folder or a glob in quotes means the rows of all its files, with a column `file`
    file: PathBuf,
    /// Which rows: a glob ('*' also matches '/'; without upper-case letters it ignores case), or the exact name of a row
    /// or of a folder
    glob: Option<String>,
    /// Another table than the main one (`assetq info FILE` lists them)
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
    /// Only rows for which this holds, as in "size > 10k and name ~ '*.dds'": = != < <= > >= ~ !~ and or not ( ), and
    /// from SQL: like, glob, in, between, is null
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Show these columns, in this order
    #[arg(long, short = 'c', value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Order rows by these columns, as in size:desc,path; rows without a value come last
    #[arg(long, value_delimiter = ',', value_name = "COLUMN[:desc]")]
    sort: Vec<String>,
    /// Show folders as a tree
    #[arg(long, conflicts_with_all = ["columns", "long", "sort", "skip_damaged"])]
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
    /// Leave rows with damaged cells out and count them, rather than show these cells empty; the exit code is still 3
    #[arg(long)]
    skip_damaged: bool,
    /// Show at most this many rows
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// Parses this number of numbers, with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|n: &f64| n.is_finite())).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| format!("{N} numbers with commas between them are needed"))
}

impl Args {
    /// Whether the command is about the file as a whole: its user may not know its tables yet.
    fn is_plain(&self) -> bool {
        let is_about_rows = self.glob.is_some() || self.condition.is_some() || self.place().is_some();
        !is_about_rows && self.table.is_none() && self.columns.is_empty() && !self.tree
    }

    fn place(&self) -> Option<Region> {
        let region = self.region.map(|[a, b, c, d, e, f]| Region::Box([a, b, c], [d, e, f]));
        let line = self.line.map(|[a, b, c, d, e, f]| Region::Segment([a, b, c], [d, e, f]));
        self.at.map(Region::Point).or(region).or(line)
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if args.tree && context.format() != Format::Text {
        return Err(Failure::usage("--tree draws folders as text; without --tree, -f writes the rows"));
    }
    let mut asset = context.open_all_with(&args.file, &args.with, args.table.as_deref())?;
    if let Some(table) = &args.table {
        asset = context.with_table(asset, table)?;
    }
    let name = asset.source().name();
    let place = args.place();
    let glob = match asset.reader().archive() {
        Some(_) => args.glob.as_deref().map(glob_of),
        None => args.glob.as_deref().map(Into::into),
    };
    let mut table = context.table(&asset, args.table.as_deref())?;
    if let Some(path) = glob.as_deref().filter(|glob| !Glob::is_glob(glob) && table.name() == archive::FILES)
        && let Some(one) = file_named(path, &asset)?
    {
        table = one;
    }
    let rows = SelectedRows::new(&*table)
        .with_condition(args.condition.as_deref())?
        .with_name(glob.as_deref())?
        .with_place(place);
    let all = rows.clone();
    let found =
        if args.tree { tree(&rows.with_limit(args.limit), name, context)? } else { list(args, rows, name, context)? };
    context.note_repeated(name, &all, &all.repeating(), "--where");
    context.warn(&asset);
    let renamed = asset.get::<FileSet>().map_or_else(Vec::new, |set| set.renamed_columns(table.name()));
    for (own, shown) in renamed {
        let what = format!("column {shown} is the column {own} of the table; {own} is that of the file in each row");
        context.note(name, &what);
    }
    // Titles may be null for all rows, and only notes say why.
    let has_titles = table.columns().iter().any(|column| column.name == "title");
    if crate::refs::states_paths(&asset) || has_titles {
        context.notes(name, &asset.reader().notes());
    }
    let asked: Vec<_> = args.glob.iter().chain(&args.condition).map(|asked| format!("{asked:?}")).collect();
    if found == 0 && !asked.is_empty() {
        let other = match (asset.reader().archive(), glob.as_deref()) {
            (Some(archive), Some(glob)) if table.name() == archive::FILES && args.condition.is_none() => {
                let wanted = Glob::smart_case(glob)?;
                archive::other_build_with(archive, |path| wanted.is_match(path))
            }
            _ => None,
        };
        let hint = match args.glob.as_deref() {
            _ if let Some(other) = &other => format!("; {other} has such files"),
            Some(exact) if has_table(exact, &asset, context) => {
                format!("; {exact} is a table: -t {exact} lists it")
            }
            Some(query) if let Ok(Some((parameters, found))) = context.entity_of_game(&args.file, query) => {
                let (game, query, of) = (args.file.to_string_lossy(), quoted(query), parameters.source().name());
                format!("; it is {found} of {of}: assetq cat {} {query} shows it", quoted(&game))
            }
            Some(exact) if !Glob::is_glob(exact) && args.condition.is_none() => {
                crate::table::hint_of_rows(exact, &*table)
            }
            Some(glob) => Glob::hint(glob),
            None => args.condition.as_deref().map_or_else(String::new, |condition| hint_of_values(condition, &*table)),
        };
        context.not_found(&format!("{name}: nothing in {} matches {}{hint}", table.name(), asked.join(" and ")));
    } else if found == 0 && place.is_some() {
        context.not_found(&format!("{name}: nothing in {} is there", table.name()));
    } else if args.is_plain() && context.format() == Format::Text && !context.has_failed() {
        name_other_tables(&asset, table.name(), context);
    }
    Ok(())
}

/// Whether -t takes `table`.
fn has_table(table: &str, asset: &Asset, context: &Context) -> bool {
    let is_word = table.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    asset.reader().table(table).is_some() || is_word && matches!(context.inside_with_table(asset, table), Ok(Some(_)))
}

/// The row of the file of an archive with exactly the requested path, found by the index. `None` for an archive with several
/// lists: several files may have one path there.
fn file_named<'a>(path: &str, asset: &'a Asset) -> Result<Option<Box<dyn Table + 'a>>, Failure> {
    let Some(archive) = asset.reader().archive().filter(|archive| !archive.has_lists()) else { return Ok(None) };
    let found = archive.find(path).map_err(Failure::of_file(asset.source().name()))?;
    Ok(found.map(|file| archive::file_table(archive, file)))
}

/// Whether a short listing has the column: keys identify rows, but a hash of a path or a name does so a second time.
fn is_short(column: &Column, table: &dyn Table) -> bool {
    let has_texts = table.columns().iter().any(|column| column.brief && column.kind == Kind::Text);
    let is_hash = matches!(column.kind, Kind::Id64 | Kind::Id32) && has_texts;
    column.brief || column.role == Role::Key && !is_hash
}

fn list(args: &Args, rows: SelectedRows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let table = rows.table;
    let all = args.long || context.format() != Format::Text || !args.columns.is_empty();
    let mut indexes = context.columns(file, table, &args.columns)?;
    let mut left_out = Vec::new();
    if !all && table.columns().iter().any(|column| column.brief) {
        let others = indexes.extract_if(.., |index| !is_short(&table.columns()[*index], table));
        left_out.extend(others.map(|index| table.columns()[index].name.to_string()));
    }
    let columns: Vec<Column> = indexes.iter().map(|&index| table.columns()[index].clone()).collect();
    let mut out = context.rows(&columns)?;
    // On a terminal the note is the last line of the table. A single column in a pipe is for programs.
    let note = more_columns(&left_out.iter().map(String::as_str).collect::<Vec<_>>(), "--long");
    let is_aside = !left_out.is_empty() && context.settings.width.is_none() != (columns.len() == 1);
    if context.settings.width.is_some() {
        out = out.without_columns(left_out, "--long");
    }
    let order = SortOrder::parse(&args.sort, file, table, context)?;
    let read: Vec<usize> = indexes.iter().copied().chain(order.columns()).collect();
    let (rows, mut skipped) = (rows.of_columns(&read), 0usize);
    let mut sorted = order.collect(args.limit);
    let mut found =
        rows.with_limit(args.limit.filter(|_| order.is_empty())).each(file, &context.say_damaged(file), |row| {
            if args.skip_damaged
                && let Some(error) = indexes.iter().find_map(|&index| row.value(index).err())
            {
                context.damaged(file, &error);
                skipped += 1;
                return Ok(false);
            }
            if order.is_empty() {
                out.row_of(row, &indexes, |error| context.damaged(file, &error))?;
            } else {
                sorted.add(row, &indexes, |error| context.damaged(file, &error));
            }
            Ok(true)
        })?;
    if !order.is_empty() {
        let rows = sorted.finish();
        rows.iter().try_for_each(|cells| out.row(cells))?;
        found = rows.len();
    }
    out.finish()?;
    if is_aside && found > 0 {
        context.say(&format!("{file}: {note}"));
    }
    if skipped > 0 {
        complain(&format!("{file}: {} of {} left out", counted(skipped, "damaged row"), table.name()));
    }
    Ok(found)
}

fn name_other_tables(asset: &Asset, main: &str, context: &Context) {
    /// Names that fit on a line or two.
    const MOST: usize = 12;
    let tables = asset.reader().tables();
    let mut others: Vec<&str> = tables.iter().map(|table| table.name()).filter(|name| *name != main).collect();
    if others.is_empty() {
        return;
    }
    if others.len() > MOST {
        others.truncate(MOST);
        others.push("… (`assetq info FILE` lists all)");
    }
    context.say(&format!("{}: other tables, by -t TABLE: {}", asset.source().name(), others.join(", ")));
}

#[derive(Default)]
struct Folder(BTreeMap<String, Folder>);

fn tree(rows: &SelectedRows<'_>, file: &str, context: &Context) -> Result<usize, Failure> {
    let mut root = Folder::default();
    let label = rows.table.label();
    let found = rows.each(file, &context.say_damaged(file), |row| {
        if let Some(cell) = context.or_damaged(file, row.value(label)) {
            let mut at = &mut root;
            for part in text_of(&cell).split('/') {
                at = at.0.entry(part.to_owned()).or_default();
            }
        }
        Ok(true)
    })?;
    let mut page = context.page();
    // Depth first, without recursion: the depth of a path is the file's to choose.
    let mut open = vec![root.0.into_iter()];
    while let Some(folder) = open.last_mut() {
        let Some((name, children)) = folder.next() else {
            open.pop();
            continue;
        };
        page.line(&format!("{}{name}", branch(&open)))?;
        open.push(children.0.into_iter());
    }
    page.flush()?;
    Ok(found)
}

/// The lines that lead to an item of a tree: `open` has the items that follow it, in each level above it and in its own.
pub(super) fn branch(open: &[impl ExactSizeIterator]) -> String {
    let Some((own, above)) = open.split_last() else { return String::new() };
    let above: String = above.iter().map(|level| if level.len() > 0 { "│   " } else { "    " }).collect();
    above + if own.len() > 0 { "├── " } else { "└── " }
}
