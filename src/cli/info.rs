use super::entries::object;
use super::files::are_many;
use super::{Context, Failure, Format, Outcome, environment};
use crate::asset::Asset;
use crate::files::describing_files;
use crate::table::{Table, Value, Visitor};
use crate::threads::prelude::*;
use crate::write::text::{Aligned, AlignedColumn, Fit, TextPage};
use std::io::Write;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Show the format, version, sections and tables of files
///
/// Rows are `-` (null for programs) if counting them needs a walk through the file: `assetq sql "SELECT count(*) FROM
/// TABLE" FILE` counts them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq info assets.bin
  assetq info blue-hull-mod                    all files below a folder
  assetq info -f json *.geometry | jq '.[] | {file, size}'
  assetq info pack.bin:item.wdb                a file in an archive")]
pub(super) struct Args {
    /// The files; a folder means all files below it, a glob in quotes the matching files
    #[arg(required_unless_present = "environment", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Show this program instead: version, target, features, threads and cache, for reports of faults
    #[arg(long, conflicts_with = "files")]
    environment: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if args.environment {
        return environment::run(context);
    }
    let files = context.files(&args.files)?;
    // A file that cannot be opened does not affect the others.
    let assets = files.iter().filter_map(|file| context.or_failed(context.open(file)));
    if context.format() == Format::Text {
        let mut out = context.stdout();
        for (index, asset) in assets.enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            text(&mut out, &asset, context)?;
            warn(&asset, context);
        }
        out.flush()?;
        return Ok(());
    }
    let mut entries = context.entries(are_many(&args.files))?;
    for asset in assets {
        entries.add(|out| Ok(show(&asset, out)?))?;
        warn(&asset, context);
    }
    entries.finish()
}

fn warn(asset: &Asset, context: &Context) {
    context.warn(asset);
    context.report_hidden(asset);
    context.notes(asset.source().name(), &asset.reader().notes());
    let describing = describing_files(asset);
    if !describing.is_empty() {
        let what = format!(
            "{} have tables, too, which -t of ls, export and diff and sql take for the game",
            describing.join(" and ")
        );
        context.note(asset.source().name(), &what);
    }
}

/// Describes a file for people: a heading, the facts, and two lists.
fn text(out: &mut impl Write, asset: &Asset, context: &Context) -> Result<(), Failure> {
    let reader = asset.reader();
    let (name, version, size) = (asset.source().name(), reader.version(), asset.source().bytes().len());
    let space = if version.is_empty() { "" } else { " " };
    let (style, width) = (context.settings.style, context.settings.width);
    let mut page = TextPage::new(&mut *out, style);
    // A folder has no bytes.
    let bytes = if is_folder(asset) { String::new() } else { format!(", {size} bytes") };
    page.line(&format!("{name}: {}{space}{version}{bytes}", asset.format()))?;
    for (name, value) in reader.facts() {
        match value {
            Value::List(values) => values.iter().try_for_each(|value| page.line(&format!("  {name}: {value}")))?,
            value => page.line(&format!("  {name}: {value}"))?,
        }
    }
    let list = reader.sections();
    if !list.is_empty() {
        let mut columns = vec![AlignedColumn::text("section", Fit::Whole)];
        columns.extend(["offset", "size", "count"].map(AlignedColumn::number));
        let mut sections = Aligned::new(&mut *out, columns, style).fit_into(width);
        for section in list {
            let offset = format!("{:#x}", section.offset);
            sections.row(vec![section.name.into_owned(), offset, section.size.to_string(), text_of(section.count)])?;
        }
        sections.finish()?;
    }
    let columns = vec![
        AlignedColumn::text("table", Fit::Whole),
        AlignedColumn::number("rows"),
        AlignedColumn::text("columns", Fit::Wrap),
    ];
    let mut tables = Aligned::new(&mut *out, columns, style).fit_into(width);
    for (table, rows) in counted(asset) {
        let columns: Vec<&str> = table.columns().iter().map(|c| c.name.as_ref()).collect();
        tables.row(vec![table.name().to_owned(), text_of(rows), columns.join(" ")])?;
    }
    Ok(tables.finish()?)
}

/// A number that may be unknown.
fn text_of(number: Option<impl std::fmt::Display>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// The tables, with the number of rows if known: in a large file counting takes time, on all cores.
fn counted(asset: &Asset) -> Vec<(Box<dyn Table + '_>, Option<usize>)> {
    const LARGE: usize = 16 << 20;
    let tables = asset.reader().tables();
    let counts: Vec<_> = if asset.source().bytes().len() < LARGE {
        tables.iter().map(|table| table.known_len()).collect()
    } else {
        tables.par_iter().map(|table| table.known_len()).collect()
    };
    tables.into_iter().zip(counts).collect()
}

fn is_folder(asset: &Asset) -> bool {
    asset.source().path().is_some_and(std::path::Path::is_dir)
}

fn show(asset: &Asset, out: &mut dyn Visitor) -> crate::Result<()> {
    let reader = asset.reader();
    out.begin_map()?;
    out.field("file", &asset.source().name().into())?;
    out.field("format", &asset.format().name().into())?;
    out.field("version", &reader.version().into())?;
    let size = if is_folder(asset) { Value::Null } else { asset.source().bytes().len().into() };
    out.field("size", &size)?;
    for (name, value) in reader.facts() {
        out.field(&name, &value)?;
    }
    let sections = reader.sections();
    let sections = sections.iter().map(|section| {
        object([
            ("name", Value::text(&section.name)),
            ("offset", section.offset.into()),
            ("size", section.size.into()),
            ("count", section.count.into()),
        ])
    });
    out.field("sections", &Value::List(sections.collect()))?;
    let tables = counted(asset);
    let tables = tables.iter().map(|(table, rows)| {
        let columns = table.columns().iter().map(|column| Value::text(&column.name));
        let columns = Value::List(columns.collect());
        object([("name", table.name().into()), ("rows", (*rows).into()), ("columns", columns)])
    });
    out.field("tables", &Value::List(tables.collect()))?;
    out.end_map()
}
