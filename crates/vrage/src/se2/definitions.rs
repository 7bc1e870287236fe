//! Definitions: put together from the list of them, from the files that hold them, and from the list of files with GUIDs
//! (docs/formats/se2.md §2 to §4).

use super::Se2Archive;
use super::parts::{StoredDefinition, definition_of, guid_of, records};
use super::relations::{Owner, id_of};
use crate::archive::{self, Archive};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::table::{Guid, Value};
use crate::threads::prelude::*;
use std::collections::HashMap;

/// The file by which a content folder is known: which definitions there are.
pub(super) const SETS: &str = "definitionsets.vrb";

/// The GUIDs of all files.
pub(super) const CACHE: &str = "contentcache.vrb";

/// Whether a file of this name holds a definition.
pub(super) fn is_definition(name: &str) -> bool {
    has_ending(name, "def") || is_partial(name)
}

/// Whether a file of this name holds the source of a definition: the members in which it differs from its parent.
fn is_partial(name: &str) -> bool {
    has_ending(name, "partialdef")
}

fn has_ending(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case(wanted))
}

/// Something that the game has, by its GUID: a block, an item, a material.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Definition {
    pub guid: Guid,
    /// The full name of its type, with its assembly.
    pub ty: Option<String>,
    /// The name of its file without the ending.
    pub name: Option<String>,
    /// The file that holds it: the `.def`, or else the `.partialdef`.
    pub file: Option<String>,
    /// The definition that it takes values from.
    pub parent: Option<Guid>,
    /// Whether it is there for others to take values from only.
    pub is_abstract: Option<bool>,
    /// The definition's flags, whose meaning no public source states.
    pub flags: Option<u64>,
    /// The number that says how it completes its parent.
    pub partial_kind: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asset {
    pub guid: Guid,
    /// The asset's path in the content folder, with `/` between parts.
    pub path: String,
}

/// All definitions, and the files that have GUIDs.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) definitions: Vec<Definition>,
    pub(super) assets: Vec<Asset>,
    by_guid: HashMap<Guid, usize>,
    /// Definitions and files by the hashes of their GUIDs.
    pub(super) owners: HashMap<u64, Owner>,
    /// Definitions by name; `None` for a name that several have.
    by_name: HashMap<String, Option<usize>>,
    /// Files that have the GUID of an earlier one.
    pub(super) repeated: Vec<String>,
    pub(super) failed: Vec<Error>,
}

/// The name of the file at `path` without its ending.
fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

impl Definitions {
    /// Reads all files that contain definitions, and skips unreadable files.
    pub(super) fn gather(game: &Se2Archive, options: &Options) -> Self {
        let mut all = Self::default();
        all.take_sets(game, options);
        for partial in [false, true] {
            all.take_files(game, partial);
        }
        all.take_cache(game, options);
        let files = all.assets.iter().enumerate().map(|(n, asset)| (id_of(asset.guid), Owner::File(n)));
        let definitions = all.definitions.iter().enumerate();
        let definitions = definitions.map(|(n, found)| (id_of(found.guid), Owner::Definition(n)));
        all.owners = files.chain(definitions).collect();
        for (n, definition) in all.definitions.iter().enumerate() {
            if let Some(name) = &definition.name {
                all.by_name.entry(name.clone()).and_modify(|known| *known = None).or_insert(Some(n));
            }
        }
        all
    }

    fn note<T>(&mut self, path: &str, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failed.push(error.context(path))).ok()
    }

    /// The definition with this GUID, made where it is missing.
    fn entry(&mut self, guid: Guid) -> &mut Definition {
        let n = *self.by_guid.entry(guid).or_insert_with(|| {
            self.definitions.push(Definition { guid, ..Definition::default() });
            self.definitions.len().saturating_sub(1)
        });
        self.definitions.get_mut(n).expect("the number of a definition")
    }

    /// Reads `definitionsets.vrb`: the definitions, and the parents that they take values from.
    fn take_sets(&mut self, game: &Se2Archive, options: &Options) {
        let wanted = ["Guid", "Type", "BaseGuid", "IsAbstract", "Flags", "PartialKind"];
        let read = read_part(game, options, SETS, "DefinitionSets", &wanted, |fields| {
            let [guid, ty, base, is_abstract, flags, partial_kind] = fields else { return };
            let (Some(guid), Some(ty)) = (guid_of(guid), ty.as_text()) else { return };
            let definition = self.entry(guid);
            definition.ty = Some(ty.into_owned());
            definition.parent = guid_of(base).filter(|base| *base != Guid([0; 16]));
            definition.is_abstract = is_abstract.clone().try_into().ok();
            definition.flags = flags.clone().try_into().ok();
            definition.partial_kind = partial_kind.clone().try_into().ok();
        });
        self.note(SETS, read);
    }

    /// The `.def` files, or with `partial` the `.partialdef` files, which complete what is known of their definitions.
    fn take_files(&mut self, game: &Se2Archive, partial: bool) {
        let paths = game.loose.files().iter().map(|file| &*file.path);
        let files: Vec<&str> = paths.filter(|path| is_definition(path) && is_partial(path) == partial).collect();
        let read = files.par_iter().map(|path| {
            let file = game.find(path)?.ok_or_else(|| archive::no_file(usize::MAX))?;
            definition_of(&game.stored(&file)?, partial)
        });
        let read: Vec<_> = read.collect();
        for (path, read) in files.into_iter().zip(read) {
            let Some(StoredDefinition { guid, ty, parent }) = self.note(path, read) else { continue };
            let definition = self.entry(guid);
            let is_taken = definition.file.as_deref().is_some_and(|file| is_partial(file) == partial);
            definition.ty = definition.ty.take().or(ty);
            definition.parent = definition.parent.or(parent);
            if definition.file.is_none() {
                definition.name = Some(stem(path));
                definition.file = Some(path.to_owned());
            } else if is_taken {
                self.repeated.push(path.to_owned());
            }
        }
    }

    /// `contentcache.vrb`: the names of definitions whose files are not there, or could not be read.
    fn take_cache(&mut self, game: &Se2Archive, options: &Options) {
        let mut assets = Vec::new();
        let read = read_part(game, options, CACHE, "Mapping", &["ResourceHandle", "FileHandle"], |fields| {
            let [guid, path] = fields else { return };
            if let (Some(guid), Some(path)) = (guid_of(guid), path.as_text()) {
                assets.push(Asset { guid, path: path.replace('\\', "/") });
            }
        });
        self.note(CACHE, read);
        for asset in assets.iter().filter(|asset| is_definition(&asset.path)) {
            self.entry(asset.guid).name.get_or_insert_with(|| stem(&asset.path));
        }
        self.assets = assets;
    }

    pub(super) fn position(&self, guid: Guid) -> Option<usize> {
        self.by_guid.get(&guid).copied()
    }

    /// The number of the definition with the GUID that `text` is, else of the only one of that name.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        let by_guid = Guid::parse(text).and_then(|guid| self.position(guid));
        by_guid.or_else(|| self.by_name.get(text).copied().flatten())
    }
}

/// The records of one entry of one file of the content, where it has that file and that entry.
fn read_part(
    game: &Se2Archive,
    options: &Options,
    path: &str,
    entry: &str,
    wanted: &[&str],
    mut take: impl FnMut(&[Value<'static>]),
) -> Result<()> {
    let Some(file) = game.find(&game.in_content(path))? else { return Ok(()) };
    let opened = archive::open_file(game, &file, path, options)?;
    records(opened.reader(), entry, wanted, &mut take)
}
