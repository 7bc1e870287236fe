mod ship;
mod tables;

pub(super) use ship::ShipArgs;

use super::files::path_below;
use super::{Context, Exit, Failure, Outcome};
use crate::archive::{self, Address};
use crate::asset::Asset;
use crate::error::ErrorKind;
use crate::scene::{self, Drawing, Options, Shapes, TextureMode};
use crate::texture::{self, Texture};
use crate::texture_files::TextureFiles;
use crate::write::hive::{Partition, file_name};
use std::path::{Path, PathBuf};

/// Write tables, a mesh or a map as files for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq export assets.bin --to paths.parquet
  assetq export assets.bin --table render_sets --to sets.csv --columns path,name,mfm_path
  assetq export assets.bin --table resources --to ships.ndjson --where 'path ~ \"*/ship/*\" and size > 1k'
  assetq export assets.bin --all-tables --to tables/ --as parquet
  assetq export 15.2/assets.bin --table materials,visuals --to builds/ --as parquet --partition build=15.2
  assetq export assets.bin --to - --as csv | head
  assetq export hull.geometry --to hull.glb --lod 0
  assetq export GAME:content/…/hull.geometry --to hull.glb --texture-size 1024
  assetq export models.geometry --with models.bin --with space.bin --to space.glb
  assetq export town.wdata --to town.svg
  assetq export ship.geometry --to ship.png
  assetq export hull_a.dds --to hull_a.png
  assetq export GAME --ship Iowa --to iowa.glb --texture-size 1024
  assetq export GAME 'content/gameplay/*.geometry' --to ships/ --as glb

One table of one file becomes OUT. Into a folder (OUT ends with '/', or is one, or there are more tables or files) go
OUT/TABLE.csv, with several files OUT/TABLE/FILE.csv, and with --partition OUT/TABLE/build=15.2/FILE.csv.")]
pub(super) struct Args {
    /// The files; a folder means all files below it; after an archive, a path or a glob in it
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The file or folder to write, '-' for standard output; its ending selects the kind: csv, json, ndjson, parquet,
    /// arrow, feather, arrows (a stream), for geometry and maps glb, obj, svg, png, and for textures png
    #[arg(long, value_name = "OUT")]
    to: PathBuf,
    /// The kind of output, whatever the ending
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<KindArg>,
    /// These tables instead of the main one
    #[arg(long, short, value_name = "TABLE", value_delimiter = ',')]
    table: Vec<String>,
    /// All tables
    #[arg(long, conflicts_with = "table")]
    all_tables: bool,
    /// Write these columns, in this order
    #[arg(long, short = 'c', value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,
    /// Write only rows for which this holds, as in 'size > 10k and name ~ "*.dds"'
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Write at most this many rows of each table
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Put files into a folder of this name below that of their table, as the value of one more column for all rows
    #[arg(long, value_name = "KEY=VALUE")]
    partition: Vec<Partition>,
    /// Leave damaged rows out and count them, rather than fail at the first one; the exit code is still 3
    #[arg(long)]
    skip_damaged: bool,
    /// Write over files that exist
    #[arg(long)]
    force: bool,
    /// For geometry: a database that names and pairs its meshes (assets.bin or models.bin); for one in a game, the game's
    /// own is used without this
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// For geometry: more files that know of its meshes, such as the models.bin and space.bin of a space, a material
    /// (.mfm), a game or folder that has the textures, or GameParams.data, which states how thick armour is
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// For glb and obj of geometry: the form of textures; default: png
    #[arg(long, value_enum, value_name = "HOW")]
    textures: Option<TexturesArg>,
    /// For glb and obj of geometry: the greatest width and height of textures
    #[arg(long, value_name = "N", default_value_t = 2048)]
    texture_size: u32,
    /// For glb and obj of geometry: add an image of the light that materials emit
    #[arg(long)]
    emissive: bool,
    /// For geometry: which level of detail, 0 the finest, or all
    #[arg(long, value_name = "N", default_value = "0", value_parser = lod)]
    lod: Lod,
    /// For geometry: only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<PartArg>,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    ship: ShipArgs,
}

/// The level of a texture to write.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct LevelArgs {
    /// For a texture: which level, 0 the largest
    #[arg(long, value_name = "N", default_value_t = 0)]
    mip: u32,
    /// For an array of textures or a cube map: which of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    layer: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindArg {
    Csv,
    Json,
    Ndjson,
    /// Row groups, dictionaries, statistics, zstd
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrow IPC, a file
    #[cfg(feature = "parquet")]
    #[value(alias = "feather")]
    Arrow,
    /// Arrow IPC, a stream
    #[cfg(feature = "parquet")]
    Arrows,
    Glb,
    Obj,
    Svg,
    /// A picture, drawn without a GPU
    Png,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TexturesArg {
    /// Colours alone
    None,
    /// As PNG: in a GLB, beside an OBJ
    Png,
    /// As the game's own files, beside the GLB or OBJ, which names them but does not use them
    Files,
}

impl TexturesArg {
    /// What is written of textures: PNG if the file has materials and nothing else was asked for.
    fn mode_for(kind: scene::SceneFormat, asked: Option<Self>) -> TextureMode {
        match kind {
            scene::SceneFormat::Glb | scene::SceneFormat::Obj => asked.map_or(TextureMode::Png, Self::mode),
            _ => TextureMode::None,
        }
    }

    fn mode(self) -> TextureMode {
        match self {
            Self::None => TextureMode::None,
            Self::Png => TextureMode::Png,
            Self::Files => TextureMode::Files,
        }
    }
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

impl KindArg {
    /// The form of a drawing; other kinds are tables.
    fn drawing(self) -> Option<scene::SceneFormat> {
        match self {
            Self::Glb => Some(scene::SceneFormat::Glb),
            Self::Obj => Some(scene::SceneFormat::Obj),
            Self::Svg => Some(scene::SceneFormat::Svg),
            Self::Png => Some(scene::SceneFormat::Png),
            _ => None,
        }
    }

    fn is_drawing(self) -> bool {
        self.drawing().is_some()
    }

    /// The ending of files that are written so.
    fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
            #[cfg(feature = "parquet")]
            Self::Arrow => "arrow",
            #[cfg(feature = "parquet")]
            Self::Arrows => "arrows",
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// Writes the main table of `asset` in the kind of the ending of `to`.
pub(super) fn whole_table(asset: &Asset, to: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let args = Args {
        files: Vec::new(),
        to: to.to_owned(),
        kind: None,
        table: Vec::new(),
        all_tables: false,
        columns: Vec::new(),
        condition: None,
        limit: None,
        partition: Vec::new(),
        skip_damaged: false,
        force,
        db: None,
        with: Vec::new(),
        textures: None,
        texture_size: 2048,
        emissive: false,
        lod: Lod(Some(0)),
        only: Vec::new(),
        level: LevelArgs::default(),
        ship: ShipArgs::default(),
    };
    tables::main(&args, asset, context)
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if let Some(query) = &args.ship.ship {
        return ship::run(args, query, context);
    }
    if args.kind.is_some_and(KindArg::is_drawing) || args.kind.is_none() && kind_of(&args.to)?.is_drawing() {
        drawings(args, context)
    } else {
        tables::run(args, context)
    }
}

/// The kind of output for the ending of a file.
fn kind_of(path: &Path) -> Result<KindArg, Failure> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    <KindArg as clap::ValueEnum>::from_str(&ending, true).map_err(|_| {
        let what = format!("{}: its ending does not say how to write it; --as does", path.to_string_lossy());
        Failure::new(Exit::Usage, what)
    })
}

/// The arguments: after an archive, a path or a glob in it may replace `ARCHIVE:GLOB`.
fn given(args: &Args, context: &Context) -> Vec<PathBuf> {
    let mut given: Vec<PathBuf> = Vec::new();
    for file in &args.files {
        let inner = file.to_str().filter(|_| !Address::of(file).exists());
        match (inner, given.last_mut()) {
            (Some(inner), Some(last)) if context.holds_files(last) => *last = Address::within(last, inner),
            _ => given.push(file.clone()),
        }
    }
    given
}

/// Draws files with a shape: one file as one drawing, the files of an archive as a drawing each, in a folder.
fn drawings(args: &Args, context: &Context) -> Outcome {
    let kind = args.kind.map_or_else(|| kind_of(&args.to), Ok)?;
    let files = context.files_without_archives(&given(args, context))?;
    let into_folder = args.to.is_dir() || args.to.to_string_lossy().ends_with(['/', '\\']) || files.len() > 1;
    if files.len() > 1 && kind_of(&args.to).is_ok() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} files are drawings of their own: --to FOLDER takes them", files.len()),
        ));
    }
    for file in &files {
        let to = if into_folder { in_folder(&args.to, args, file, kind) } else { args.to.clone() };
        let draw = || {
            let asset = context.open_with(file, args.with.iter())?;
            context.check_new(&to, args.force)?;
            drawing(args, kind, &asset, file, &to, context)?;
            context.warn(&asset);
            Ok::<_, Failure>(())
        };
        match draw() {
            // A file that cannot be drawn does not affect the others.
            Err(failure) if files.len() > 1 && !failure.closed_pipe => context.failed(&failure),
            drawn => drawn?,
        }
    }
    Ok(Exit::Done)
}

/// The path of a file's drawing or table in `folder`: below the file's folders in its archive, or in the given folder.
fn in_folder(folder: &Path, args: &Args, file: &Path, kind: KindArg) -> PathBuf {
    let address = Address::of(file);
    let below = || path_below(&args.files, file).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let inner = address.inner().map_or_else(below, str::to_owned);
    let mut to = folder.to_owned();
    let mut parts = inner.split(['/', archive::MARK]).peekable();
    while let Some(part) = parts.next() {
        match parts.peek() {
            Some(_) => to.push(file_name(part)),
            None => {
                let stem = Path::new(part).file_stem().unwrap_or_default().to_string_lossy();
                to.push(format!("{}.{}", file_name(&stem), kind.ending()));
            }
        }
    }
    to
}

/// The shapes of a file, such as geometry and maps.
fn drawing(
    args: &Args,
    kind: KindArg,
    asset: &Asset,
    path: &Path,
    to: &Path,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    if let (KindArg::Png, Some(texture)) = (kind, asset.reader().texture()) {
        return image(texture, args.level, asset, to, args.force, context);
    }
    if kind == KindArg::Png {
        let several = asset.reader().textures();
        if !several.is_empty() {
            return images(several, args, asset, to, context);
        }
    }
    let drawable = |kind: &scene::SceneFormat| asset.reader().shapes().filter(|shapes| shapes.kinds().contains(kind));
    let Some((kind, shapes)) = kind.drawing().and_then(|kind| Some((kind, drawable(&kind)?))) else {
        let what = format!(
            "{file}: a {} file has no shape to write as that; csv, json, parquet and others write its tables",
            asset.format()
        );
        return Err(Failure::new(Exit::Usage, what));
    };
    let wanted = |part| args.only.is_empty() || args.only.contains(&part);
    let options = Options {
        lod: args.lod.0,
        meshes: wanted(PartArg::Meshes),
        armor: wanted(PartArg::Armor),
        collision: wanted(PartArg::Collision),
        textures: TexturesArg::mode_for(kind, args.textures),
        texture_size: args.texture_size,
        emissive: args.emissive,
    };
    let drawing = draw(asset, shapes, path, args.db.iter().chain(&args.with), options, context)?;
    save(&*drawing, kind, file, to, args.force, context)
}

/// Writes a drawing, and the files that belong beside it.
fn save(
    drawing: &dyn Drawing,
    kind: scene::SceneFormat,
    file: &str,
    to: &Path,
    force: bool,
    context: &Context,
) -> Result<(), Failure> {
    let failed = |e: crate::Error| Failure::in_file(file, &e);
    for note in drawing.notes() {
        context.note(file, note);
    }
    for error in drawing.damage() {
        context.damaged(file, error);
    }
    let beside = drawing.beside(kind).map_err(failed)?;
    if to == Path::new("-") && !beside.is_empty() {
        let names: Vec<&str> = beside.iter().map(|(name, _)| name.as_str()).collect();
        context.note(file, &format!("standard output takes one file, so these are left out: {}", names.join(", ")));
    } else {
        for (name, bytes) in &beside {
            context.create(&to.with_file_name(name), force, |out| Ok(out.write_all(bytes)?))?;
        }
    }
    context.create(to, force, |out| {
        for note in drawing.write(kind, out).map_err(failed)? {
            context.note(file, &note);
        }
        Ok(())
    })
}

/// Whether a file is asked for meshes, and not for parameters alone.
fn is_of_meshes(asset: &Asset) -> bool {
    asset.reader().plating().is_none()
}

/// Writes a level of a texture as PNG.
pub(super) fn image(
    texture: &dyn Texture,
    level: LevelArgs,
    asset: &Asset,
    to: &Path,
    force: bool,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    let failed = |e: crate::Error| Failure::in_file(file, &e);
    let pixels = texture::decode(&texture.level(level.layer, level.mip).map_err(failed)?).map_err(failed)?;
    let shape = texture.shape();
    if shape.layers > 1 {
        context.note(file, &format!("layer {} of {} is written; --layer chooses another", level.layer, shape.layers));
    }
    if shape.depth > 1 {
        context.note(file, &format!("the first of {} slices is written", shape.depth));
    }
    context.create(to, force, |out| pixels.write_png(out).map_err(failed))
}

/// Writes each of several textures of a file as PNG: `to` with the texture's name before its ending.
fn images(
    several: Vec<(String, crate::Result<Box<dyn Texture + '_>>)>,
    args: &Args,
    asset: &Asset,
    to: &Path,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    if to == args.to && several.len() > 1 {
        let what =
            format!("{file}: {} textures are files of their own: --to FOLDER/ --as png takes them", several.len());
        return Err(Failure::new(Exit::Usage, what));
    }
    let stem = to.file_stem().unwrap_or_default().to_string_lossy();
    for (name, texture) in several {
        let written = match texture {
            Ok(texture) => {
                let to = to.with_file_name(format!("{stem}-{}.png", file_name(&name)));
                image(&*texture, args.level, asset, &to, args.force, context)
            }
            Err(error) => Err(Failure::in_file(file, &error)),
        };
        // A texture that cannot be written does not affect the others.
        if let Err(failure) = written {
            if failure.closed_pipe {
                return Err(failure);
            }
            context.failed(&failure);
        }
    }
    Ok(())
}

/// The drawing of a file's shapes, named, placed and textured with data from the files at `others`. For geometry in a
/// game, the default is the game's own database.
pub(super) fn draw<'a, 'o>(
    asset: &Asset,
    shapes: &'a dyn Shapes,
    path: &Path,
    others: impl Iterator<Item = &'o PathBuf>,
    options: Options,
    context: &Context,
) -> Result<Box<dyn Drawing + 'a>, Failure> {
    let failed = |e: crate::Error| Failure::in_file(asset.source().name(), &e);
    let mut files = TextureFiles::new(context.options());
    context.add_textures(path, &mut files)?;
    let mut assets = Vec::new();
    let mut has_others = false;
    for other in others {
        context.add_textures(other, &mut files)?;
        let database = context.database_in(other.clone())?;
        // A folder that is not a game's has textures at most.
        if !database.is_dir() {
            let opened = context.open(&database)?;
            // Parameters were read with the file itself.
            if is_of_meshes(&opened) {
                has_others = true;
                assets.push(opened);
            }
        } else {
            has_others = true;
        }
    }
    if !has_others && asset.reader().meshes().is_some() {
        assets.extend(context.database_beside(path)?);
    }
    let mut known = scene::Context::from_assets(&assets).map_err(failed)?;
    known.set_textures(&files);
    match shapes.draw(&known, options) {
        // The user did not name the game's own database.
        Err(error) if !has_others && matches!(error.kind(), ErrorKind::NotFound { .. }) => {
            let mut known = scene::Context::default();
            known.set_textures(&files);
            shapes.draw(&known, options).map_err(failed)
        }
        drawn => drawn.map_err(failed),
    }
}
