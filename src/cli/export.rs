use super::{Context, Exit, Failure, Outcome};
use crate::export::mesh;
use crate::export::rows::{Header, RowFormat, RowWriter};
use crate::export::text::Style;
use crate::format::Asset;
use crate::geometry::export as geometry;
use crate::table::{RowCursor, Table, Value};
use std::io::Write;
use std::path::PathBuf;

/// Write a table, a mesh or a map as a file for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq export assets.bin --to paths.csv
  assetq export assets.bin --table render_sets --to sets.ndjson
  assetq export hull.geometry --to hull.glb --lod 0
  assetq export models.geometry --with models.bin --with space.bin --to space.glb
  assetq export town.wdata --to town.svg")]
pub(super) struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to write; its ending says how: csv, json, ndjson, and for geometry and maps glb, obj, svg
    #[arg(long, value_name = "OUT")]
    to: PathBuf,
    /// How to write it, whatever its ending
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<KindArg>,
    /// Another table than the main one
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
    /// For geometry: a database that names and pairs its meshes (assets.bin or models.bin)
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// For geometry: more files that know of its meshes, such as the models.bin and space.bin of a space
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// For geometry: which level of detail, 0 the finest, or all
    #[arg(long, value_name = "N", default_value = "0", value_parser = lod)]
    lod: Lod,
    /// For geometry: only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<PartArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindArg {
    Csv,
    Json,
    Ndjson,
    Glb,
    Obj,
    Svg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PartArg {
    Meshes,
    Armor,
    Collision,
}

/// A level of detail, or all of them.
#[derive(Debug, Clone, Copy)]
struct Lod(Option<usize>);

fn lod(text: &str) -> Result<Lod, String> {
    match text {
        "all" => Ok(Lod(None)),
        number => number.parse().map(|n| Lod(Some(n))).map_err(|_| "a number or `all` is needed".to_owned()),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let kind = match args.kind {
        Some(kind) => kind,
        None => kind_of(&args.to)?,
    };
    let asset = context.open(&args.file)?;
    let file = asset.source().name().to_owned();
    if args.to.exists() && !args.force {
        let what = format!("{}: it exists; --force writes over it", args.to.to_string_lossy());
        return Err(Failure::new(Exit::Io, what));
    }
    let rows = match kind {
        KindArg::Csv => RowFormat::Csv,
        KindArg::Json => RowFormat::Json,
        KindArg::Ndjson => RowFormat::Ndjson,
        KindArg::Glb | KindArg::Obj | KindArg::Svg => {
            drawing(args, kind, &asset, context)?;
            context.warn(&asset);
            return Ok(Exit::Done);
        }
    };
    let table = context.table(&asset, args.table.as_deref())?;
    context.create(&args.to, |out| table_rows(&*table, rows, &file, context, out))?;
    context.warn(&asset);
    Ok(Exit::Done)
}

fn kind_of(path: &std::path::Path) -> Result<KindArg, Failure> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    <KindArg as clap::ValueEnum>::from_str(&ending, true).map_err(|_| {
        let what = format!("{}: its ending does not say how to write it; --as does", path.to_string_lossy());
        Failure::new(Exit::Usage, what)
    })
}

/// All rows, with what is damaged said and written as null.
fn table_rows(
    table: &dyn Table,
    format: RowFormat,
    file: &str,
    context: &Context,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let header: Vec<Header> =
        table.columns().iter().map(|c| Header { name: c.name.to_string(), kind: c.kind }).collect();
    let mut rows = RowWriter::new(out, format, &header, Style::Plain)?;
    let mut cursor = table.cursor(0);
    loop {
        match cursor.advance() {
            Ok(true) => rows.row(&cells(&*cursor, header.len(), file, context))?,
            Ok(false) => break,
            Err(error) => {
                context.damaged(file, &error);
                break;
            }
        }
    }
    Ok(rows.finish()?)
}

fn cells<'c>(cursor: &'c dyn RowCursor, count: usize, file: &str, context: &Context) -> Vec<Value<'c>> {
    let cell = |column| {
        cursor.value(column).unwrap_or_else(|error| {
            context.damaged(file, &error);
            Value::Null
        })
    };
    (0..count).map(cell).collect()
}

/// What has a shape: geometry and maps.
fn drawing(args: &Args, kind: KindArg, asset: &Asset, context: &Context) -> Result<(), Failure> {
    let file = asset.source().name();
    let failed = |e: crate::Error| Failure::in_file(file, &e);
    match (asset, kind) {
        (Asset::Geometry(read), _) => {
            let others: Vec<Asset> =
                args.db.iter().chain(&args.with).map(|path| context.open(path)).collect::<Result<_, _>>()?;
            let known = mesh::Context::from_assets(&others).map_err(failed)?;
            let wanted = |part| args.only.is_empty() || args.only.contains(&part);
            let options = geometry::Options {
                lod: args.lod.0,
                meshes: wanted(PartArg::Meshes),
                armor: wanted(PartArg::Armor),
                collision: wanted(PartArg::Collision),
            };
            let scene = mesh::scene(read, known, options).map_err(failed)?;
            for note in &scene.notes {
                context.note(file, note);
            }
            for error in &scene.damage {
                context.damaged(file, error);
            }
            let write = match kind {
                KindArg::Glb => geometry::write_glb,
                KindArg::Obj => geometry::write_obj,
                _ => geometry::write_svg,
            };
            context.create(&args.to, |out| write(&scene, out).map_err(failed))
        }
        (Asset::Wdata(map), KindArg::Svg) => context.create(&args.to, |out| {
            let drawn = map.write_plan(out).map_err(failed)?;
            if drawn.without_place > 0 {
                context.note(file, &format!("{} entries without a place in space are not drawn", drawn.without_place));
            }
            Ok(())
        }),
        (Asset::Wdata(map), KindArg::Glb) => context.create(&args.to, |out| map.write_glb(out).map_err(failed)),
        _ => {
            let what = format!(
                "{file}: a {} file has no shape to write as that; csv, json and ndjson write its tables",
                asset.format()
            );
            Err(Failure::new(Exit::Usage, what))
        }
    }
}
