//! Shapes and textures as files.

use super::args::{ExportArgs, KindArg, LevelArgs, TexturesArg, given, in_folder, kind_of};
use crate::asset::Asset;
use crate::cli::file_names::check_fit;
use crate::cli::refs::command_of_tree;
use crate::cli::{Context, Exit, Failure, Outcome};
use crate::models::Meshes;
use crate::scene::{Drawing, Options, Shapes};
use crate::texture::Texture;
use crate::texture_files::TextureFiles;
use crate::write::hive::file_name;
use crate::{scene, texture};
use assetq_view::page::tables::quoted;
use std::path::{Path, PathBuf};

/// Draws files with a shape: one file as one drawing, the files of an archive as a drawing each, in a folder.
pub(super) fn drawings(args: &ExportArgs, context: &Context) -> Outcome {
    let kind = args.kind()?;
    let files = context.files_without_archives(&given(args, context))?;
    let into_folder = args.to.is_dir() || args.to.to_string_lossy().ends_with(['/', '\\']) || files.len() > 1;
    if files.len() > 1 && kind_of(&args.to).is_ok() {
        return Err(Failure::usage(format!("{} files are drawings of their own: --to FOLDER takes them", files.len())));
    }
    if into_folder {
        context.writes_folder(&args.to);
    }
    for file in &files {
        let to = if into_folder { in_folder(&args.to, args, file, kind) } else { args.to.clone() };
        let drawn = context.open_with(file, &args.with).and_then(|asset| {
            context.check_new(&to, args.force)?;
            let mut with = args.with.clone();
            let (path, asset) = context.shape_of(file, asset, &mut with)?;
            drawing(args, &with, kind, &asset, &path, &to, context)?;
            context.warn(&asset);
            Ok(())
        });
        match drawn {
            // A file that cannot be drawn does not affect the others.
            Err(failure) if files.len() > 1 && !failure.closed_pipe => context.failed(&failure),
            drawn => drawn?,
        }
    }
    Ok(())
}

/// The shapes of a file, such as geometry and maps.
fn drawing(
    args: &ExportArgs,
    with: &[PathBuf],
    kind: KindArg,
    asset: &Asset,
    path: &Path,
    to: &Path,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    if let (KindArg::Png, Some(texture)) = (kind, asset.reader().facet::<dyn Texture>()) {
        return image(texture, args.level, asset, to, args.force, context);
    }
    if kind == KindArg::Png {
        let several = texture::textures(asset.reader());
        if !several.is_empty() {
            return images(several, args, asset, to, context);
        }
    }
    let drawn = kind.drawing().zip(asset.reader().facet::<dyn Shapes>());
    let Some((kind, shapes)) = drawn.filter(|(kind, shapes)| shapes.kinds().contains(kind)) else {
        let format = asset.format();
        let what = match asset.reader().facet::<dyn Shapes>() {
            Some(_) if kind == KindArg::Png => {
                let has_meshes = asset.reader().facet::<dyn Meshes>().is_some();
                let tree = has_meshes.then(|| command_of_tree(path));
                let textures = tree.map(|tree| format!("{tree} names its textures, which are written so, and "));
                let textures = textures.unwrap_or_default();
                let shown = path.to_string_lossy();
                let shown = quoted(&shown);
                format!(
                    "{file}: a {format} file has no texture to write as png; {textures}assetq view {shown} shows its shapes \
                     and saves pictures"
                )
            }
            _ => format!(
                "{file}: a {format} file has no shape to write as that; csv, json, parquet and others write its tables"
            ),
        };
        return Err(Failure::usage(what));
    };
    let options = Options {
        lod: args.lod.0,
        textures: TexturesArg::mode_for(kind, args.textures),
        texture_size: args.texture_size,
        emissive: args.emissive,
        ..args.parts(kind)
    };
    let others = || args.db.iter().chain(with);
    let mut drawing = draw(asset, shapes, path, others(), options, context)?;
    if args.only.is_empty() && !options.armor && is_empty(&*drawing).map_err(Failure::of_file(file))? {
        let all = Options { armor: true, collision: true, ..options };
        let whole = draw(asset, shapes, path, others(), all, context)?;
        if !is_empty(&*whole).map_err(Failure::of_file(file))? {
            context.note(file, "it has no meshes: its armour and collision hulls are written");
        }
        drawing = whole;
    }
    save(&*drawing, kind, file, to, args.force, context)
}

fn is_empty(drawing: &dyn Drawing) -> crate::Result<bool> {
    Ok(drawing.figure()?.is_none())
}

/// Writes a drawing, and the files that belong beside it.
pub(super) fn save(
    drawing: &dyn Drawing,
    kind: scene::SceneFormat,
    file: &str,
    to: &Path,
    force: bool,
    context: &Context,
) -> Result<(), Failure> {
    let failed = Failure::of_file(file);
    report(drawing, file, context);
    let beside = drawing.beside(kind).map_err(failed)?;
    if to == Path::new("-") && !beside.is_empty() {
        let names: Vec<&str> = beside.iter().map(|(name, _)| name.as_str()).collect();
        context.note(file, &format!("standard output takes one file, so these are left out: {}", names.join(", ")));
    } else {
        for (name, bytes) in &beside {
            // The rest is written, and the drawing refers to a file that is missing.
            let written = check_fit(name, file, "written")
                .and_then(|()| context.create(&to.with_file_name(name), force, |out| Ok(out.write_all(bytes)?)));
            match written {
                Err(failure) if failure.exit == Exit::Damaged => context.failed(&failure),
                other => other?,
            }
        }
    }
    context.create(to, force, |out| {
        context.notes(file, &drawing.write(kind, out).map_err(failed)?);
        Ok(())
    })
}

pub(in crate::cli) fn report(drawing: &dyn Drawing, name: &str, context: &Context) {
    context.notes(name, drawing.notes());
    drawing.damage().iter().for_each(|error| context.damaged(name, error));
}

/// The materials in a folder.
fn materials_in(folder: &Path) -> Vec<PathBuf> {
    /// Mods have a few dozen.
    const MOST: usize = 4096;
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "mfm")).take(MOST).collect();
    found.sort();
    found
}

/// Whether a file is asked for meshes, and not for parameters alone.
fn is_of_meshes(asset: &Asset) -> bool {
    asset.reader().facet::<dyn crate::armor::Plating>().is_none()
}

fn image(
    texture: &dyn Texture,
    level: LevelArgs,
    asset: &Asset,
    to: &Path,
    force: bool,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    let failed = Failure::of_file(file);
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
    args: &ExportArgs,
    asset: &Asset,
    to: &Path,
    context: &Context,
) -> Result<(), Failure> {
    let file = asset.source().name();
    if to == args.to && several.len() > 1 {
        let what =
            format!("{file}: {} textures are files of their own: --to FOLDER/ --as png takes them", several.len());
        return Err(Failure::usage(what));
    }
    let stem = to.file_stem().unwrap_or(to.as_os_str()).to_string_lossy();
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
pub(in crate::cli) fn draw<'a, 'o>(
    asset: &Asset,
    shapes: &'a dyn Shapes,
    path: &Path,
    others: impl Iterator<Item = &'o PathBuf>,
    options: Options,
    context: &Context,
) -> Result<Box<dyn Drawing + 'a>, Failure> {
    let failed = Failure::of_file(asset.source().name());
    let mut files = TextureFiles::new(context.options());
    context.add_textures(path, &mut files)?;
    let mut assets = Vec::new();
    let mut has_others = false;
    let format = shapes.companion().filter(|_| options.boxes);
    let mut companion = None;
    for other in others {
        context.add_textures(other, &mut files)?;
        let database = context.database_in(other.clone())?;
        // A folder that is not a game's has textures at most.
        if !database.is_dir() {
            let opened = context.open(&database)?;
            if format == Some(opened.format().name()) {
                companion = Some(opened);
            // Parameters were read with the file itself.
            } else if is_of_meshes(&opened) {
                has_others = true;
                assets.push(opened);
            }
        } else {
            has_others = true;
            for material in materials_in(&database) {
                assets.extend(context.or_failed(context.open(&material)));
            }
        }
    }
    if !has_others && asset.reader().facet::<dyn Meshes>().is_some() {
        assets.extend(context.database_beside(path)?);
    }
    if let (Some(format), None) = (format, &companion) {
        companion = context.companion_of(path, format);
    }
    let mut known = scene::Context::from_assets(&assets).map_err(failed)?;
    known.textures = Some(&files);
    known.companion = companion.as_ref();
    // The game's own database, which the user did not name.
    known.is_implied = !has_others;
    shapes.draw(&known, options).map_err(failed)
}
