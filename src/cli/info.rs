use super::{Context, Exit, Failure, Format, Outcome};
use crate::asset::Asset;
use crate::table::{Value, Visitor};
use crate::write::text::{Aligned, clean};
use std::io::Write;
use std::path::PathBuf;

/// Show what files are: format, version, sections, tables
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  assetq info assets.bin\n  assetq info -f json *.geometry")]
pub(super) struct Args {
    /// The files; a folder stands for the files in it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let files = context.files(&args.files)?;
    let opened = files.iter().map(|file| context.open(file));
    // A file that cannot be opened does not keep the others from being shown.
    let mut failed: Option<Failure> = None;
    let mut assets = Vec::new();
    for asset in opened {
        match asset {
            Ok(asset) => assets.push(asset),
            Err(failure) => {
                if let Some(earlier) = failed.replace(failure) {
                    super::complain(&earlier.message);
                }
            }
        }
    }
    if context.format() == Format::Text {
        let mut out = context.stdout();
        for (index, asset) in assets.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            text(&mut out, asset)?;
        }
        out.flush()?;
    } else if !assets.is_empty() {
        context.entries(assets.len(), |index, out| match assets.get(index) {
            Some(asset) => {
                show(asset, out)?;
                context.warn(asset);
                Ok(())
            }
            None => Ok(()),
        })?;
    }
    failed.map_or(Ok(Exit::Done), Err)
}

/// For people: a heading, the facts, and two lists.
fn text(out: &mut impl Write, asset: &Asset) -> Result<(), Failure> {
    let reader = asset.reader();
    let (name, version, size) = (asset.source().name(), reader.version(), asset.source().bytes().len());
    let space = if version.is_empty() { "" } else { " " };
    writeln!(out, "{}: {}{space}{version}, {size} bytes", clean(name), asset.format())?;
    for (name, value) in reader.facts() {
        match value {
            Value::List(values) => {
                values.iter().try_for_each(|value| writeln!(out, "  {name}: {}", clean(&value.to_string())))?;
            }
            value => writeln!(out, "  {name}: {}", clean(&value.to_string()))?,
        }
    }
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let header = ["section", "offset", "size", "count"].map(str::to_owned).to_vec();
    let mut sections = Aligned::new(&mut *out, header, vec![false, true, true, true], super::context::style());
    for section in reader.sections() {
        let offset = format!("{:#x}", section.offset);
        sections.row(vec![
            clean(&section.name).into_owned(),
            offset,
            section.size.to_string(),
            number(section.count),
        ])?;
    }
    sections.finish()?;
    let header = ["table", "rows", "columns"].map(str::to_owned).to_vec();
    let mut tables = Aligned::new(&mut *out, header, vec![false, true, false], super::context::style());
    for table in reader.tables() {
        let columns: Vec<&str> = table.columns().iter().map(|c| c.name.as_ref()).collect();
        let rows = number(table.known_len().map(|n| n as u64));
        tables.row(vec![table.name().to_owned(), rows, clean(&columns.join(" ")).into_owned()])?;
    }
    Ok(tables.finish()?)
}

fn show(asset: &Asset, out: &mut dyn Visitor) -> crate::Result<()> {
    let reader = asset.reader();
    out.begin_map()?;
    out.field("file", &asset.source().name().into())?;
    out.field("format", &asset.format().name().into())?;
    out.field("version", &reader.version().into())?;
    out.field("size", &asset.source().bytes().len().into())?;
    for (name, value) in reader.facts() {
        out.field(&name, &value)?;
    }
    out.key("sections")?;
    out.begin_list()?;
    for section in reader.sections() {
        out.begin_map()?;
        out.field("name", &Value::text(&section.name))?;
        out.field("offset", &section.offset.into())?;
        out.field("size", &section.size.into())?;
        out.field("count", &section.count.into())?;
        out.end_map()?;
    }
    out.end_list()?;
    out.key("tables")?;
    out.begin_list()?;
    for table in reader.tables() {
        out.begin_map()?;
        out.field("name", &table.name().into())?;
        out.field("rows", &table.known_len().into())?;
        let columns = table.columns().iter().map(|c| Value::text(&c.name)).collect();
        out.field("columns", &Value::List(columns))?;
        out.end_map()?;
    }
    out.end_list()?;
    out.end_map()
}
