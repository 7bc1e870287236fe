mod about;
mod compare;

use super::{Context, Failure, Format, Outcome, Unit, export};
use crate::archive::Address;
use crate::asset::Asset;
use crate::error::{Error, ErrorKind};
use crate::models::Meshes;
use crate::report::Progress;
use crate::scene::figure::{Arrangement, Figure, Solids};
use crate::scene::{Drawing, Options, ShapeData, Shapes, TextureMode};
use crate::texture::{self, Texture};
use crate::texture_files::TextureFiles;
use assetq_view::page::{Page, image, scene, tables, tree};
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The command writes files or a script, in no format of `-f`.
pub(super) const FORMATS: &[Format] = &[];

/// View a file in the browser
///
/// The page is a single file that needs no network and can be passed on. `assetq FILE` is `assetq view FILE`, so that a file can be
/// dropped on the program.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq view assets.bin                       all tables: sort, filter, follow references
  assetq view ship.geometry --with assets.bin  meshes and armour, with the names that the database has
  assetq view ship.geometry --with turret.geometry --with ship.splash
                                               several files in one scene
  assetq view space.bin --with models.bin --with models.geometry
                                               a map of the instances, and their models in 3D
  assetq view savegame.vrb --to save.html      a page to keep or to pass on; its graph unfolds, branch by branch
  assetq view hull_a.dds                       a texture, level by level
  assetq view wows:content/assets.bin          a file in an archive
  assetq view wows --ship Aurora               a whole ship
  assetq view ship.geometry turret.geometry --compare
                                               two models side by side, and how their plates differ
  assetq view wows --ship Aurora --ship Borealis --compare
                                               two ships
  assetq view wows@7000000 wows --ship Aurora --compare
                                               a ship in two builds")]
pub(super) struct ViewArgs {
    /// The file; with ARCHIVE:INNER one in an archive
    file: PathBuf,
    /// For --compare: the file or game of the second model
    #[arg(value_name = "OTHER")]
    other: Option<PathBuf>,
    /// Show two models side by side, and list how their plates differ: of two files, two ships of a game, or one ship of two
    /// games or builds
    #[arg(long)]
    compare: bool,
    /// Write the page to this file instead of opening it in the browser, '-' for standard output
    #[arg(long, value_name = "OUT.html")]
    to: Option<PathBuf>,
    /// For geometry: a database that names and pairs its meshes (assets.bin or models.bin)
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// More files to show with it: for geometry and hit boxes, further ones in the same scene, the models.bin and space.bin of
    /// a space, or GameParams.data, which states how thick armour is; for a space.bin, its models.bin and models.geometry
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    ship: export::ShipArgs,
    /// Write over a file that exists
    #[arg(long, requires = "to")]
    force: bool,
}

/// The greatest width and height of textures in a page, to keep it small.
const TEXTURE_SIZE: u32 = 512;
/// The greatest number of textures of an archive that its page shows, the most bytes that they take, and their greatest width
/// and height.
const PREVIEWS: usize = 1000;
const PREVIEW_BYTES: usize = 8 << 20;
const PREVIEW_SIZE: u32 = 128;

pub(super) fn run(args: &ViewArgs, context: &Context) -> Outcome {
    if args.compare {
        return compare::run(args, context);
    }
    if let Some(other) = &args.other {
        let what =
            "view shows one file: --compare shows two, GAME:PATH shows a file of a game, and --ship SHIP a ship of it";
        return Err(Failure::usage(format!("{}: {what}", other.display())));
    }
    match &*args.ship.ship {
        [] => {}
        [query] => return ship(args, query, context),
        _ => return Err(Failure::usage("view shows one ship; --compare shows two side by side")),
    }
    let asset = context.open_with(&args.file, &args.with)?;
    let to = target(args, &args.file)?;
    write(args, &asset, &to, context)?;
    show_page(args, &to, context)?;
    context.warn(&asset);
    Ok(())
}

/// The page to write: OUT, or a temporary one about `what`.
fn target(args: &ViewArgs, what: &Path) -> Result<PathBuf, Failure> {
    let Some(to) = &args.to else { return place(what) };
    let ending = to.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let instead = match ending.as_deref() {
        None | Some("html" | "htm") => return Ok(to.clone()),
        Some("png") => "; Save PNG in the page saves a picture, and assetq export FILE --to OUT.png writes a texture",
        Some("svg" | "glb" | "obj") => "; assetq export FILE --to OUT writes shapes",
        Some(_) => "",
    };
    Err(Failure::usage(format!("{}: view writes a page, .html{instead}", to.display())))
}

/// All images of materials, as large as a page shows them, and all levels of detail.
fn options() -> Options {
    Options { lod: None, textures: TextureMode::Png, texture_size: TEXTURE_SIZE, ..Options::default() }
}

/// A number of bytes for people: 170.7 MB.
fn size(bytes: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(unit, _)| bytes as f64 >= *unit);
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit))
}

/// Names a temporary page, and opens it in the browser.
fn show_page(args: &ViewArgs, page: &Path, context: &Context) -> Result<(), Failure> {
    if args.to.is_some() {
        return Ok(());
    }
    context.print_line(&page.to_string_lossy())?;
    if !open(page) {
        context.say("no browser could be started: open that file in one");
    }
    Ok(())
}

fn ship(args: &ViewArgs, query: &str, context: &Context) -> Outcome {
    let opened = args.ship.open(query, &args.file, context)?;
    let drawing = opened.draw(Options { lod: Some(0), ..options() })?;
    let name = &opened.ship.name;
    export::report(&*drawing, name, context);
    let to = target(args, Path::new(name))?;
    context.create(&to, args.force, |out| {
        let mut page = Page::new(out, name, &format!("World of Warships · {}", opened.ship.hull))?;
        let figure = drawing.figure()?;
        page.fact("about", about::ship(&opened.ship, figure.as_ref()));
        if let Some(figure) = figure {
            scene::add(&mut page, &figure)?;
        }
        Ok(page.finish()?)
    })?;
    show_page(args, &to, context)
}

fn write(args: &ViewArgs, asset: &Asset, to: &Path, context: &Context) -> Result<(), Failure> {
    let facts = about::facts(asset, last(asset.source().name()), context)?;
    let cast = Cast::open(args, asset, context)?;
    let drawings = cast.drawings(args, asset, context)?;
    let progress = Progress::default();
    context.watch("view", Unit::Bytes, &progress, || {
        context.create(to, args.force, |out| {
            let out = &mut Counted { out, progress: &progress };
            page(out, facts, &drawings, asset, &args.file.to_string_lossy(), context)
        })
    })
}

/// Writes the page of a file. `file` is the command's argument.
fn page(
    out: &mut dyn Write,
    facts: Json,
    drawings: &[Named<'_>],
    asset: &Asset,
    file: &str,
    context: &Context,
) -> Result<(), Failure> {
    let (name, reader) = (asset.source().name(), asset.reader());
    let mut damage = Damage { file: name, context, count: 0, errors: Vec::new() };
    // The folder of the file is private: the page may be passed on.
    let mut page = Page::new(out, last(name), &about::line(asset))?;
    page.fact("about", facts);
    // A map that cannot be drawn still has tables.
    let shown = show(&mut page, name, asset, drawings);
    damage.note(shown)?;
    drawings.iter().flat_map(|(_, drawing)| drawing.damage()).for_each(|error| damage.add(error));
    drawings.iter().for_each(|(file, drawing)| context.notes(file, drawing.notes()));
    if let Some(texture) = reader.facet::<dyn Texture>() {
        let shown = image::add(&mut page, None, texture);
        damage.note(shown)?;
    }
    add_textures(&mut page, asset, &mut damage)?;
    add_previews(&mut page, asset, file, context)?;
    let has_graphs = tree::add(&mut page, reader, &mut |error| damage.add(&error))?;
    tables::add(tables::TableLimits::SHOWN, &mut page, &reader.tables(), has_graphs, file, &mut |errors, count| {
        let further = count - errors.len() as u64;
        context.more_damaged(further);
        damage.count += further;
        errors.iter().for_each(|error| damage.add(error));
    })?;
    let warnings = reader.warnings();
    if !warnings.is_empty() {
        page.fact("warnings", json!(warnings));
    }
    if damage.count > 0 {
        page.fact("damage", json!({ "count": damage.count, "errors": damage.errors }));
    }
    Ok(page.finish()?)
}

/// Adds the textures of a file that has several, unless their texels are in a file that is not at hand.
fn add_textures(page: &mut Page<'_>, asset: &Asset, damage: &mut Damage<'_>) -> crate::Result<()> {
    let textures = texture::textures(asset.reader());
    if textures.len() > image::TEXTURES {
        let note = format!("{} textures; the page shows the first {}", textures.len(), image::TEXTURES);
        damage.context.notes(damage.file, &[note]);
    }
    for (row, (_, texture)) in textures.into_iter().enumerate().take(image::TEXTURES) {
        match texture.and_then(|texture| image::add(page, Some(row), &*texture)) {
            Err(error) if matches!(error.kind(), ErrorKind::NotInstalled { .. }) => {
                damage.context.notes(damage.file, &[error.to_string()]);
                break;
            }
            shown => damage.note(shown)?,
        }
    }
    Ok(())
}

/// Adds small pictures of textures of an archive; of more than a page holds, some of all folders. Damage among them is for
/// `verify`. `file` is the command's argument.
fn add_previews(page: &mut Page<'_>, asset: &Asset, file: &str, context: &Context) -> crate::Result<()> {
    let Some(archive) = asset.reader().archive() else { return Ok(()) };
    let mut files = TextureFiles::new(context.options());
    files.add_archive(asset);
    let mut paths = Vec::new();
    for number in 0..archive.len()? {
        paths.extend(archive.file(number).ok().map(|file| file.path).filter(|path| path.ends_with(".dds")));
    }
    paths.sort_unstable();
    let (mut shown, mut bytes) = (Vec::new(), 0usize);
    // Many textures have no small level.
    for path in spread(paths.len()).take(4 * PREVIEWS).filter_map(|place| paths.get(place)) {
        // A texture without small levels would take more room than a preview is worth.
        let Ok(Some(pixels)) = files.pixels(path, PREVIEW_SIZE) else { continue };
        if pixels.width.max(pixels.height) > PREVIEW_SIZE {
            continue;
        }
        let (mut png, block) = (Vec::new(), format!("preview-{}", shown.len()));
        pixels.write_png(&mut png)?;
        page.block(&block, &png)?;
        bytes += png.len();
        shown.push(json!({ "path": path, "block": block }));
        if shown.len() >= PREVIEWS || bytes >= PREVIEW_BYTES {
            break;
        }
    }
    let command = format!("assetq view {}", tables::quoted(&format!("{file}:PATH")));
    page.fact("previews", json!({ "shown": shown, "command": command }));
    Ok(())
}

/// The numbers below `count`, in an order whose beginnings are spread evenly: 0, the middle, the quarters, and so on.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let size = count.next_power_of_two();
    // In two steps, because one number has no bits at all.
    let above = usize::BITS - size.trailing_zeros() - 1;
    (0..size).map(move |n| n.reverse_bits() >> 1 >> above).filter(move |n| *n < count)
}

struct Counted<'a> {
    out: &'a mut (dyn Write + Send),
    progress: &'a Progress,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.progress.advance(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The errors of a file that its page begins with.
struct Damage<'c> {
    file: &'c str,
    context: &'c Context,
    count: u64,
    /// The first ones, each once.
    errors: Vec<String>,
}

impl Damage<'_> {
    const LISTED: usize = 20;

    /// Notes why a part of the page was not added, unless the page could not be written.
    fn note(&mut self, added: crate::Result<()>) -> crate::Result<()> {
        if let Err(error) = &added
            && !matches!(error.kind(), ErrorKind::Io { .. })
        {
            self.add(error);
            return Ok(());
        }
        added
    }

    fn add(&mut self, error: &Error) {
        self.context.damaged(self.file, error);
        let text = error.to_string();
        // Several tables may be made of one record.
        if self.errors.contains(&text) {
            return;
        }
        self.count += 1;
        if self.errors.len() < Self::LISTED {
            self.errors.push(text);
        }
    }
}

/// The other files of the command line: files with shapes of their own, and files with data about shapes.
struct Cast<'a> {
    companions: Vec<(PathBuf, Asset)>,
    others: Vec<&'a PathBuf>,
}

type Named<'a> = (&'a str, Box<dyn Drawing + 'a>);

impl<'a> Cast<'a> {
    fn open(args: &'a ViewArgs, asset: &Asset, context: &Context) -> Result<Self, Failure> {
        let linked = context.linked_shape(&args.file, asset, &args.with)?;
        let mut cast = Self { companions: linked.into_iter().collect(), others: args.db.iter().collect() };
        for other in &args.with {
            // A pipe can be read once, and has data about shapes.
            if asset.reader().facet::<dyn Shapes>().is_none()
                || !other.is_file() && Address::parse(other).inner().is_none()
            {
                cast.others.push(other);
                continue;
            }
            let opened = context.open_with(other, args.with.iter().filter(|with| *with != other))?;
            match opened.reader().facet::<dyn Shapes>().is_some() && opened.reader().facet::<dyn ShapeData>().is_none()
            {
                true => cast.companions.push((other.clone(), opened)),
                false => cast.others.push(other),
            }
        }
        Ok(cast)
    }

    /// The drawings of the file and of its companions: all levels of detail of all shapes. The models of a space are placed
    /// by it.
    fn drawings(&'a self, args: &'a ViewArgs, asset: &'a Asset, context: &Context) -> Result<Vec<Named<'a>>, Failure> {
        let is_linked = asset.reader().facet::<dyn Shapes>().is_none() && !self.companions.is_empty();
        let own = if is_linked { None } else { drawing(asset, &args.file, &self.others, context)? };
        let mut drawings: Vec<Named<'a>> = own.map(|own| (asset.source().name(), own)).into_iter().collect();
        let mut others = self.others.clone();
        if asset.reader().facet::<dyn ShapeData>().is_some() {
            others.push(&args.file);
        }
        for (path, companion) in &self.companions {
            let others: &[&PathBuf] = if companion.reader().facet::<dyn Meshes>().is_some() { &others } else { &[] };
            if let Some(drawing) = drawing(companion, path, others, context)? {
                drawings.push((companion.source().name(), drawing));
            }
        }
        Ok(drawings)
    }
}

pub(super) fn last(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Adds the map of a file, and one scene of all solids of it and its companions.
fn show(page: &mut Page<'_>, name: &str, asset: &Asset, drawings: &[Named<'_>]) -> crate::Result<()> {
    let mut solids: Vec<(&str, Solids<'_>)> = Vec::new();
    for (file, drawing) in drawings {
        match drawing.figure().map_err(|error| if *file == name { error } else { error.context(last(file)) })? {
            Some(Figure::Solids(found)) => solids.push((last(file), found)),
            Some(chart) if *file == name => scene::add(page, &chart)?,
            _ => {}
        }
    }
    let scene = match <[_; 1]>::try_from(solids) {
        // Models of a space are named after the space, whose map precedes them.
        Ok([(_, only)]) if asset.reader().facet::<dyn ShapeData>().is_some() => {
            Solids { name: asset.source().stem(), ..only }
        }
        Ok([(_, only)]) => only,
        Err(solids) if solids.is_empty() => return Ok(()),
        Err(solids) => Solids::together(Arrangement::Together, solids),
    };
    scene::add(page, &Figure::Solids(scene))
}

/// The drawing of a file's shapes with data from `others`; `None` without shapes, or if they cannot be drawn.
fn drawing<'a>(
    asset: &'a Asset,
    path: &Path,
    others: &[&PathBuf],
    context: &Context,
) -> Result<Option<Box<dyn Drawing + 'a>>, Failure> {
    let file = asset.source().name();
    let Some(shapes) = asset.reader().facet::<dyn Shapes>() else {
        return match others.is_empty() {
            false => Err(Failure::usage(format!("{file}: other files know nothing of this one"))),
            true => Ok(None),
        };
    };
    if !others.is_empty() {
        match export::draw(asset, shapes, path, others.iter().copied(), options(), context) {
            // It is shown alone.
            Ok(drawing) if matches!(drawing.figure(), Ok(None)) => {
                context.note(file, "the other files draw nothing of it");
            }
            drawn => return drawn.map(Some),
        }
    }
    Ok(context.or_failed(export::draw(asset, shapes, path, std::iter::empty(), options(), context)))
}

/// The path of a temporary page: in a private folder of this user.
fn place(file: &Path) -> Result<PathBuf, Failure> {
    if cfg!(target_os = "wasi") {
        return Err(Failure::usage("there is no browser to open here: --to OUT.html writes the page"));
    }
    let mut folder = tempfile::Builder::new();
    folder.prefix("assetq-");
    // The page must be no more readable than the file.
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = folder.tempdir().map_err(|error| Error::io("cannot make a folder for the page", error))?.keep();
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    Ok(folder.join(format!("{name}.html")))
}

/// Opens `page` in the platform's browser. Returns whether a browser was found.
fn open(page: &Path) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    // With the separators of the system: to explorer a `/` begins an option, and $TMP may have some.
    command
        .arg(page.components().collect::<PathBuf>())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_an_order_are_spread_evenly() {
        assert_eq!(spread(8).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        for count in [0, 1, 2, 3, 1000, 1025] {
            let mut all: Vec<_> = spread(count).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count}");
        }
    }
}
