//! Whole ships of a game.

use super::args::{ExportArgs, ShipArgs, TexturesArg};
use super::drawings::save;
use crate::archive::Address;
use crate::archive::MARK;
use crate::asset::Asset;
use crate::cli::{Context, Failure, Outcome};
use crate::scene::{self, Options};
use crate::ship::{Query, Ship};
use crate::texture_files::TextureFiles;
use std::path::{Path, PathBuf};

pub(in crate::cli) struct Drawable {
    pub(in crate::cli) ship: Ship,
    database: Asset,
    files: TextureFiles,
    pub(in crate::cli) armor: bool,
}

impl ShipArgs {
    pub(in crate::cli) fn open(&self, query: &str, game: &Path, context: &Context) -> Result<Drawable, Failure> {
        // `GAME:` stands for the game as well.
        let text = game.to_string_lossy();
        let path = text.strip_suffix(MARK).map_or_else(|| game.to_owned(), PathBuf::from);
        let failed = Failure::of_file(&path);
        let game = context.open(&path)?;
        let parameters = game.reader().archive().and_then(|archive| archive.parameters());
        let Some(parameters) = parameters else {
            let what = format!("{}: a {} file has no ships; the folder of World of Warships has", text, game.format());
            return Err(Failure::usage(what));
        };
        let params = context.open(&Address::within(&path, parameters))?;
        let database = context.open(&context.database_in(path.clone())?)?;
        let query = Query {
            ship: query.to_owned(),
            hull: self.hull.clone(),
            parts: self.parts.iter().copied().map(Into::into).collect(),
            camouflages: self.camouflages.clone(),
        };
        let ship = Ship::open(&game, &params, &database, &query, context.options()).map_err(failed)?;
        let mut files = TextureFiles::new(context.options());
        files.add_archive(&game);
        Ok(Drawable { ship, database, files, armor: self.armor })
    }
}

impl Drawable {
    /// The ship as a drawing. Collision hulls are never part of it.
    pub(in crate::cli) fn draw(&self, options: Options) -> Result<Box<dyn scene::Drawing + '_>, Failure> {
        let failed = Failure::of_file(&self.ship.name);
        let mut known = scene::Context::from_assets([&self.database]).map_err(failed)?;
        known.textures = Some(&self.files);
        let options = Options { armor: self.armor, collision: false, ..options };
        Ok(Box::new(self.ship.scene(&known, &options).map_err(failed)?))
    }
}

pub(super) fn run(args: &ExportArgs, query: &str, context: &Context) -> Outcome {
    let Some(kind) = args.kind()?.drawing() else {
        let what = "a ship is written as glb, obj or svg; assetq view GAME --ship SHIP shows it and saves pictures";
        return Err(Failure::usage(what));
    };
    let [game] = &*args.files else {
        return Err(Failure::usage("--ship takes one game"));
    };
    let opened = args.ship.open(query, game, context)?;
    let options = Options {
        lod: args.lod.0,
        textures: TexturesArg::mode_for(kind, args.textures),
        texture_size: args.texture_size,
        emissive: args.emissive,
        ..Options::default()
    };
    let drawing = opened.draw(options)?;
    save(&*drawing, kind, &opened.ship.name, &args.to, args.force, context)?;
    Ok(())
}
