use super::progress::Unit;
use super::{Context, Exit, Failure, Outcome, export};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind};
use crate::report::Progress;
use crate::scene::{Drawing, Options, SceneFormat, TextureMode};
use crate::write::page::{Page, image, scene, tables, tree};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// View a file in the browser
///
/// The page is a single file that needs no network and can be passed on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq view assets.bin                       all tables: sort, filter, follow references
  assetq view hull.geometry --with assets.bin  meshes and armour, with the names that the database has
  assetq view savegame.vrb --to save.html      a page to keep or to pass on; its graph unfolds, branch by branch
  assetq view hull_a.dds                       a texture, level by level
  assetq view town.wdata --to town.png         a picture of a map or of meshes
  assetq view GAME:content/assets.bin          a file in an archive
  assetq view GAME --ship Iowa                 a whole ship")]
pub(super) struct Args {
    /// The file; with ARCHIVE:INNER one in an archive
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the page to this file instead of opening it in the browser, '-' for standard output; OUT.png is a picture of
    /// meshes, armour or a map, OUT.svg a plan of a map
    #[arg(long, value_name = "OUT")]
    to: Option<PathBuf>,
    /// For geometry: a database that names and pairs its meshes (assets.bin or models.bin)
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// For geometry: more files that know of it, such as the models.bin and space.bin of a space, or GameParams.data, which
    /// states how thick armour is
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

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if let Some(query) = &args.ship.ship {
        return ship(args, query, context);
    }
    let asset = context.open_with(&args.file, args.with.iter())?;
    match &args.to {
        Some(to) => match form(to)? {
            Some(kind) => picture(args, &asset, to, kind, context)?,
            None => write(args, &asset, to, args.force, context)?,
        },
        None => {
            let to = place(&args.file)?;
            write(args, &asset, &to, false, context)?;
            show_page(&to, context)?;
        }
    }
    context.warn(&asset);
    Ok(Exit::Done)
}

/// The form that the ending of OUT stands for; `None` for a page.
fn form(to: &Path) -> Result<Option<SceneFormat>, Failure> {
    let ending = to.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        None | Some("html" | "htm") => Ok(None),
        Some("png") => Ok(Some(SceneFormat::Png)),
        Some("svg") => Ok(Some(SceneFormat::Svg)),
        Some(other) => {
            let what = format!("{}: view writes .html, .png and .svg, not .{other}", to.display());
            Err(Failure::new(Exit::Usage, what))
        }
    }
}

/// A number of bytes for people: 170.7 MB.
fn size(bytes: usize) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(unit, _)| bytes as f64 >= *unit);
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit))
}

/// Names a page, and opens it in the browser.
fn show_page(page: &Path, context: &Context) -> Result<(), Failure> {
    let mut lines = context.page();
    lines.line(&page.to_string_lossy())?;
    lines.flush()?;
    if !open(page) {
        context.say("no browser could be started: open that file in one");
    }
    Ok(())
}

/// Shows a whole ship.
fn ship(args: &Args, query: &str, context: &Context) -> Outcome {
    let opened = args.ship.open(query, &args.file, context)?;
    let options = Options { textures: TextureMode::Base, texture_size: TEXTURE_SIZE, ..Options::default() };
    let drawing = opened.draw(options)?;
    let name = &opened.ship.name;
    drawing.notes().iter().for_each(|note| context.note(name, note));
    drawing.damage().iter().for_each(|error| context.damaged(name, error));
    let (to, is_kept) = match &args.to {
        Some(to) => (to.clone(), true),
        None => (place(Path::new(name))?, false),
    };
    let form = form(&to)?;
    context.create(&to, args.force, |out| {
        if let Some(kind) = form {
            drawing.write(kind, out).map_err(|error| Failure::in_file(name, &error))?;
            return Ok(());
        }
        let mut page = Page::new(out, name, &format!("World of Warships · {}", opened.ship.hull))?;
        scene::add(&mut page, &*drawing)?;
        Ok(page.finish()?)
    })?;
    if !is_kept {
        show_page(&to, context)?;
    }
    Ok(Exit::Done)
}

fn write(args: &Args, asset: &Asset, to: &Path, force: bool, context: &Context) -> Result<(), Failure> {
    let (name, version) = (asset.source().name(), asset.reader().version());
    // A folder has no bytes of its own.
    let is_folder = asset.source().path().is_some_and(Path::is_dir);
    let size = if is_folder { String::new() } else { format!("· {}", size(asset.source().bytes().len())) };
    let about = [asset.format().name(), &version, &size].join(" ");
    let drawing = drawing(args, asset, context)?;
    let progress = Progress::default();
    let page = |out: &mut (dyn Write + Send)| {
        let out = &mut Counted { out, progress: &progress };
        // The folder of the file is private: the page may be passed on.
        let title = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let mut page = Page::new(out, title, &about)?;
        let mut damage = Damage::default();
        if let Some(drawing) = &drawing {
            // A map that cannot be drawn still has tables.
            match scene::add(&mut page, &**drawing) {
                Err(error) if !matches!(error.kind(), ErrorKind::Io { .. }) => {
                    context.damaged(name, &error);
                    damage.add(&error);
                }
                added => added?,
            }
            for error in drawing.damage() {
                context.damaged(name, error);
                damage.add(error);
            }
        }
        if let Some(texture) = asset.reader().texture() {
            match image::add(&mut page, texture) {
                Err(error) if !matches!(error.kind(), ErrorKind::Io { .. }) => {
                    context.damaged(name, &error);
                    damage.add(&error);
                }
                added => added?,
            }
        }
        let has_graphs = tree::add(&mut page, asset.reader(), &mut |error| {
            context.damaged(name, &error);
            damage.add(&error);
        })?;
        let (tables, file) = (asset.reader().tables(), args.file.to_string_lossy());
        let mut met = |errors: Vec<Error>, count: u64| {
            let further = count.saturating_sub(errors.len() as u64);
            context.more_damaged(further);
            damage.count = damage.count.saturating_add(further);
            for error in &errors {
                context.damaged(name, error);
                damage.add(error);
            }
        };
        tables::add(tables::TableLimits::SHOWN, &mut page, &tables, has_graphs, &file, &mut met)?;
        if damage.count > 0 {
            page.fact("damage", json!({ "count": damage.count, "errors": damage.errors }));
        }
        Ok(page.finish()?)
    };
    context.watch("view", Unit::Bytes, &progress, || context.create(to, force, page))
}

/// An output whose bytes are counted.
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
#[derive(Default)]
struct Damage {
    count: u64,
    /// The first ones, each once.
    errors: Vec<String>,
}

impl Damage {
    /// Errors that a page lists.
    const LISTED: usize = 20;

    fn add(&mut self, error: &Error) {
        let text = error.to_string();
        // Several tables may be made of one record.
        if self.errors.contains(&text) {
            return;
        }
        self.count = self.count.saturating_add(1);
        if self.errors.len() < Self::LISTED {
            self.errors.push(text);
        }
    }
}

/// The drawing of a file's shapes for a page or a picture: all levels of detail of all of them.
fn drawing<'a>(args: &Args, asset: &'a Asset, context: &Context) -> Result<Option<Box<dyn Drawing + 'a>>, Failure> {
    let file = asset.source().name();
    let mut others = args.db.iter().chain(&args.with).peekable();
    let Some(shapes) = asset.reader().shapes() else {
        return match others.peek() {
            Some(_) => Err(Failure::new(Exit::Usage, format!("{file}: other files know nothing of this one"))),
            None => Ok(None),
        };
    };
    let options = Options { lod: None, textures: TextureMode::Base, texture_size: TEXTURE_SIZE, ..Options::default() };
    if others.peek().is_some() {
        match export::draw(asset, shapes, &args.file, others, options, context) {
            // The other levels draw nothing of it: it is shown alone, with a note.
            Err(failure) if failure.exit == Exit::NotFound => context.failed(&failure),
            Ok(drawing) if matches!(drawing.figure(), Ok(None)) => {
                context.not_found(&format!("{file}: the other files draw nothing of it"));
            }
            drawn => return drawn.map(Some),
        }
    }
    match export::draw(asset, shapes, &args.file, std::iter::empty(), options, context) {
        Ok(drawing) => Ok(Some(drawing)),
        Err(failure) => {
            context.failed(&failure);
            Ok(None)
        }
    }
}

fn picture(args: &Args, asset: &Asset, to: &Path, kind: SceneFormat, context: &Context) -> Result<(), Failure> {
    let file = asset.source().name();
    if let Some(texture) = asset.reader().texture().filter(|_| matches!(kind, SceneFormat::Png)) {
        return export::image(texture, export::LevelArgs::default(), asset, to, args.force, context);
    }
    let Some(drawing) = drawing(args, asset, context)? else {
        let what =
            format!("{file}: a {} file has no shape to be drawn; OUT.html is a page of its tables", asset.format());
        return Err(Failure::new(Exit::Usage, what));
    };
    drawing.damage().iter().for_each(|error| context.damaged(file, error));
    context.create(to, args.force, |out| {
        let notes = drawing.write(kind, out).map_err(|error| Failure::in_file(file, &error))?;
        notes.iter().for_each(|note| context.note(file, note));
        Ok(())
    })
}

/// The path of a temporary page: in a private folder of this user.
fn place(file: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::from(Error::io("cannot make a folder for the page", error));
    let mut folder = tempfile::Builder::new();
    folder.prefix("assetq-");
    // The page must be no more readable than the file.
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = folder.tempdir().map_err(failed)?.keep();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
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
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
