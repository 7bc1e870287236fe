//! Two models side by side.

use super::super::diff::short_names;
use super::super::export::report;
use super::{Context, Failure, Outcome, ViewArgs, drawing, options, show_page, target};
use crate::asset::Asset;
use crate::scene::beside::Beside;
use crate::scene::figure::{Figure, Solids};
use crate::scene::{Drawing, Options};
use assetq_view::page::{Page, scene};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &ViewArgs, context: &Context) -> Outcome {
    let (file, other) = (&args.file, args.other.as_ref());
    match (other, &*args.ship.ship) {
        (Some(other), []) => files(args, [file, other], context),
        (None, [left, right]) => ships(args, [(file, left), (file, right)], context),
        (Some(other), [ship]) => ships(args, [(file, ship), (other, ship)], context),
        (Some(other), [left, right]) => ships(args, [(file, left), (other, right)], context),
        _ => Err(Failure::usage("--compare shows two files, two ships of a game, or one ship of two games or builds")),
    }
}

fn files(args: &ViewArgs, paths: [&PathBuf; 2], context: &Context) -> Outcome {
    let [left, right] = paths.map(|path| context.open_with(path, &args.with));
    let assets = [left?, right?];
    let drawings = [drawn(args, &assets[0], paths[0], context)?, drawn(args, &assets[1], paths[1], context)?];
    let paths = paths.map(|path| path.to_string_lossy());
    let [first, second] = &paths;
    let (first, second) = short_names(first, second);
    write(args, [first, second], drawings.each_ref().map(|drawing| &**drawing), context)
}

fn drawn<'a>(
    args: &ViewArgs,
    asset: &'a Asset,
    path: &Path,
    context: &Context,
) -> Result<Box<dyn Drawing + 'a>, Failure> {
    let others: Vec<&PathBuf> = args.db.iter().chain(&args.with).collect();
    let drawing = drawing(asset, path, &others, context)?;
    drawing
        .ok_or_else(|| Failure::usage(format!("{}: no shapes to compare; assetq diff compares tables", path.display())))
}

fn ships(args: &ViewArgs, wanted: [(&PathBuf, &String); 2], context: &Context) -> Outcome {
    let [left, right] = wanted.map(|(game, query)| args.ship.open(query, game, context));
    let mut ships = [left?, right?];
    ships.iter_mut().for_each(|ship| ship.armor = true);
    let options = Options { lod: Some(0), ..options() };
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

/// Writes the page of two drawings, with their names.
fn write(args: &ViewArgs, names: [&str; 2], drawings: [&dyn Drawing; 2], context: &Context) -> Outcome {
    for (name, drawing) in names.into_iter().zip(drawings) {
        report(drawing, name, context);
    }
    let [left, right] = names;
    let [first, second] = drawings;
    let beside = Beside::new(names, [solids(left, first)?, solids(right, second)?]);
    let together = Figure::Solids(beside.together());
    let title = format!("{left} and {right}");
    let to = target(args, Path::new(&title))?;
    context.create(&to, args.force, |out| {
        let mut page = Page::new(out, &title, "side by side")?;
        scene::add(&mut page, &together)?;
        Ok(page.finish()?)
    })?;
    show_page(args, &to, context)
}

fn solids<'d>(name: &str, drawing: &'d dyn Drawing) -> Result<Solids<'d>, Failure> {
    match drawing.figure().map_err(Failure::of_file(name))? {
        Some(Figure::Solids(solids)) => Ok(solids),
        _ => Err(Failure::usage(format!("{name}: no shapes to compare; assetq diff compares tables"))),
    }
}
