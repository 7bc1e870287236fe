//! Two models side by side.

use super::super::diff::short_names;
use super::{Args, Context, Exit, Failure, Outcome, TEXTURE_SIZE, drawing, form, place, show_page, textures};
use crate::picture::write as write_picture;
use crate::scene::beside::Beside;
use crate::scene::figure::{Figure, Solids};
use crate::scene::{Drawing, Options, SceneFormat};
use assetq_view::page::{Page, scene};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let (file, other) = (&args.file, args.other.as_ref());
    match (other, &*args.ship.ship) {
        (Some(other), []) => files(args, [file, other], context),
        (None, [left, right]) => ships(args, [(file, left), (file, right)], context),
        (Some(other), [ship]) => ships(args, [(file, ship), (other, ship)], context),
        (Some(other), [left, right]) => ships(args, [(file, left), (other, right)], context),
        _ => {
            let what = "--compare shows two files, two ships of a game, or one ship of two games or builds";
            Err(Failure::new(Exit::Usage, what))
        }
    }
}

fn files(args: &Args, paths: [&PathBuf; 2], context: &Context) -> Outcome {
    let [left, right] = paths.map(|path| context.open_with(path, args.with.iter()));
    let assets = [left?, right?];
    let others: Vec<&PathBuf> = args.db.iter().chain(&args.with).collect();
    let textures = textures(args)?;
    let [left, right] = &assets;
    let draw = |asset, path: &Path| match drawing(asset, path, &others, textures, context)? {
        Some(drawing) => Ok(drawing),
        None => Err(Failure::new(Exit::Usage, format!("{}: no shapes to compare", path.display()))),
    };
    let [first, second] = paths;
    let drawings = [draw(left, first)?, draw(right, second)?];
    let paths = paths.map(|path| path.to_string_lossy());
    let [first, second] = &paths;
    let (first, second) = short_names(first, second);
    write(args, [first, second], drawings.each_ref().map(|drawing| &**drawing), context)
}

fn ships(args: &Args, wanted: [(&PathBuf, &String); 2], context: &Context) -> Outcome {
    let open = |(game, query): (&PathBuf, &String)| {
        let mut ship = args.ship.open(query, game, context)?;
        ship.armor = true;
        Ok::<_, Failure>(ship)
    };
    let [left, right] = wanted.map(open);
    let ships = [left?, right?];
    let options = Options { textures: textures(args)?, texture_size: TEXTURE_SIZE, ..Options::default() };
    let [left, right] = &ships;
    let drawings = [left.draw(options)?, right.draw(options)?];
    let names = [&*left.ship.name, &*right.ship.name];
    let [game, other] = wanted.map(|(game, _)| game.to_string_lossy());
    // One ship of two builds has one name.
    let names = match names {
        [left, right] if left == right => {
            let (game, other) = short_names(&game, &other);
            [format!("{left} of {game}"), format!("{right} of {other}")]
        }
        names => names.map(str::to_owned),
    };
    write(args, names.each_ref().map(|name| &**name), drawings.each_ref().map(|drawing| &**drawing), context)
}

/// Writes the page or the picture of two drawings, with their names.
fn write(args: &Args, names: [&str; 2], drawings: [&dyn Drawing; 2], context: &Context) -> Outcome {
    for (name, drawing) in names.into_iter().zip(drawings) {
        drawing.notes().iter().for_each(|note| context.note(name, note));
        drawing.damage().iter().for_each(|error| context.damaged(name, error));
    }
    let [left, right] = names;
    let [first, second] = drawings;
    let beside = Beside::new(names, [solids(left, first)?, solids(right, second)?]);
    let together = beside.together();
    let title = format!("{left} and {right}");
    let (to, is_kept) = match &args.to {
        Some(to) => (to.clone(), true),
        None => (place(Path::new(&title))?, false),
    };
    let form = form(&to)?;
    if form == Some(SceneFormat::Svg) {
        return Err(Failure::new(Exit::Usage, "two models are compared in .html and .png, not .svg"));
    }
    context.create(&to, args.force, |out| {
        if form.is_some() {
            return Ok(write_picture(&together.as_figure(), out)?);
        }
        let mut page = Page::new(out, &title, "side by side")?;
        scene::add(&mut page, &together.as_figure())?;
        Ok(page.finish()?)
    })?;
    if !is_kept {
        show_page(&to, context)?;
    }
    Ok(Exit::Done)
}

/// The solids of a drawing.
fn solids<'d>(name: &str, drawing: &'d dyn Drawing) -> Result<Solids<'d>, Failure> {
    match drawing.figure().map_err(Failure::of_file(name))? {
        Some(Figure::Solids(solids)) => Ok(solids),
        _ => Err(Failure::new(Exit::Usage, format!("{name}: no shapes to compare"))),
    }
}
