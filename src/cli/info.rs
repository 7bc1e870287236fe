use super::{Context, Exit, Failure, Outcome};
use crate::format::Asset;
use crate::table::{Value, Visitor};
use std::path::PathBuf;

/// Show what files are: format, version, sections, tables
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  assetq info assets.bin\n  assetq info -f json *.geometry")]
pub(super) struct Args {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let opened = args.files.iter().map(|file| context.open(file));
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
    if !assets.is_empty() {
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
