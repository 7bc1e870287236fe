//! Parameters of World of Warships, `GameParams.data`: every ship, gun and shell with all of its values. Sections (§) in
//! these docs refer to docs/formats/gameparams.md.
//!
//! The file is a Python pickle, deflated and written backwards. [`Params`] reads it into flat arenas ([`Pickle`]) when it is
//! first asked, without a call of anything that the pickle names. [`Node`] is a value; [`Entity`] knows the parts of ships.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, gameparams::demo};
//! use assetq::Source;
//! use assetq::formats::wows::gameparams::Params;
//!
//! let params = Params::open(Source::from_vec("GameParams.data", demo(1, Size::Small)))?;
//! let ship = params.find("PASB900")?.expect("a ship of the sample");
//! assert_eq!(ship.name()?, "PASB900_Nowhere");
//! let hull = ship.hulls().next().expect("a ship has a hull");
//! assert_eq!(hull.model()?.as_deref(), Some("content/gameplay/usa/ship/battleship/ASB900/ASB900.model"));
//! let plate = hull.armor().find(|plate| (plate.layer, plate.material) == (1, 47)).expect("it has side plates");
//! assert_eq!(plate.thickness.number(), Some(32.0));
//! # Ok(())
//! # }
//! ```

mod arena;
mod catalog;
mod entities;
mod fields;
mod kept;
mod leaf;
mod machine;
mod op;
mod parts;
mod plating;
mod reader;
mod relations;
mod tables;
mod verify;
mod walk;

pub use arena::{Node, Pickle};
pub use entities::Entity;
pub use leaf::NodeKind;
pub use parts::{ArmorPlate, EntityPart, Upgrade};

use crate::archive::{self, names::NameSources};
use crate::budget::{self, Budget};
use crate::codec::ZlibSteps;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::NoCompanions;
use crate::lazy::Lazy;
use crate::mo;
use crate::options::Options;
use crate::relations::IdTexts as _;
use crate::source::Source;
use crate::table::RowEnds;
use assetq_core::Openable;
use catalog::{Catalog, EntityLists};
use entities::Entities;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// The file beside the parameters that has the titles of ships, as unpacked from a game.
const TEXTS: &str = "global.mo";

/// Decoded bytes for each byte of a file. The game's has 6.
const EXPANSION: u64 = 64;
/// Decoded bytes that any file may have.
const DECODED: u64 = 64 << 20;

/// An open `GameParams.data`. What needs its values has the errors of [`Params::pickle`].
#[derive(Debug)]
pub struct Params {
    source: Source,
    client: Client,
    names: Option<Arc<NameSources>>,
    options: Options,
    /// Whether texts beside the file are read.
    reads_companions: bool,
    /// The texts beside the file.
    texts: OnceLock<Result<Option<mo::Catalog>>>,
    /// This file without the texts of other files.
    alone: OnceLock<Box<Self>>,
    pickle: Lazy<Result<Pickle>>,
    entities: Lazy<Result<Entities>>,
    lists: Lazy<Result<EntityLists>>,
    catalog: Lazy<Result<Catalog>>,
    /// The rows of each entity in the table of fields.
    rows: Lazy<Result<RowEnds>>,
    /// The numbers of entities by their names and titles, in lower case.
    called: Lazy<Result<HashMap<String, Vec<usize>>>>,
}

/// Whether a zlib stream begins with these bytes.
fn is_zlib(head: [u8; 2]) -> bool {
    let [method, flags] = head;
    method & 0xF == 8 && method >> 4 <= 7 && flags & 0x20 == 0 && u16::from_be_bytes(head).is_multiple_of(31)
}

/// The first bytes of the zlib stream, from the end of a file.
fn head_of(data: &[u8]) -> Option<[u8; 2]> {
    let [.., second, first] = data else { return None };
    Some([*first, *second])
}

/// The first bytes of the files of other clients: Mir Korabley, and World of Warships: Legends.
const MARK: &[u8] = b"%bin";

/// Whether the file is of World of Warships: Legends: the pickle itself after [`MARK`]. A pickle ends with a byte that no zlib
/// stream begins with.
fn is_legends(data: &[u8]) -> bool {
    matches!(data.strip_prefix(MARK), Some([.., op::STOP]))
}

/// How a client stores the pickle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Client {
    /// A zlib stream, backwards.
    Pc,
    /// [`MARK`], then a zlib stream, backwards: Mir Korabley.
    MirKorabley,
}

impl Client {
    fn of(data: &[u8]) -> Option<Self> {
        match data.strip_prefix(MARK) {
            Some(stream) if head_of(stream).is_some_and(is_zlib) => Some(Self::MirKorabley),
            _ => head_of(data).is_some_and(is_zlib).then_some(Self::Pc),
        }
    }

    /// The bytes before the stored pickle.
    fn skipped(self) -> usize {
        if self == Self::Pc { 0 } else { MARK.len() }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Pc => "zlib stream, backwards",
            Self::MirKorabley => "zlib stream, backwards, after %bin (not checked with real files)",
        }
    }
}

impl Params {
    /// Opens `source`: looks at the last two bytes, with which the zlib stream begins, and at the first ones of the files of
    /// other clients.
    ///
    /// # Errors
    /// `Damaged` where these are no such beginning.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        Self::open_with(source, &Options::default())
    }

    /// As [`Params::open`], with names for titles.
    pub fn open_with(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        if is_legends(source.bytes()) {
            return Err(crate::legends(source.view("")));
        }
        let Some(client) = Client::of(source.bytes()) else {
            let what = "the file does not end with the header of a zlib stream, backwards".into();
            let end = source.bytes().len().saturating_sub(2);
            return Err(source.view("stream").at(end).error(ErrorKind::Damaged { what }));
        };
        let reads_companions = options.get::<NoCompanions>().is_none();
        Ok(Self::undecoded(source, client, options.clone(), reads_companions))
    }

    fn undecoded(source: Source, client: Client, options: Options, reads_companions: bool) -> Self {
        Self {
            source,
            client,
            names: options.get(),
            options,
            reads_companions,
            texts: OnceLock::new(),
            alone: OnceLock::new(),
            pickle: Lazy::default(),
            entities: Lazy::default(),
            lists: Lazy::default(),
            catalog: Lazy::default(),
            called: Lazy::default(),
            rows: Lazy::default(),
        }
    }

    /// The pickle, decoded and read on first use.
    ///
    /// # Errors
    /// As [`Pickle::read`], and `Codec` for a damaged stream.
    pub fn pickle(&self) -> Result<&Pickle> {
        self.pickle
            .get_or_keep(|| kept::pickle(self.options.get().as_deref(), &self.source, || Pickle::read(self.inflate()?)))
    }

    /// The decoded pickle.
    fn inflate(&self) -> Result<Source> {
        let skipped = self.client.skipped();
        let size = self.source.bytes().len();
        let stored = size.saturating_sub(skipped);
        let stored: Vec<u8> = self.source.bytes().iter().rev().take(stored).copied().collect();
        let limit = (stored.len() as u64).saturating_mul(EXPANSION).saturating_add(DECODED);
        let mut steps = ZlibSteps::new(&stored, limit);
        let mut pickle = Vec::new();
        // The stream runs backwards through the file.
        while steps.step(&mut pickle).map_err(|kind| {
            let unread = steps.unread().len().saturating_add(skipped);
            self.source.view("stream").at(unread).error(kind)
        })? {}
        pickle.shrink_to_fit();
        Ok(Source::from_vec(self.source.name(), pickle))
    }

    fn entities(&self) -> Result<&Entities> {
        let pickle = self.pickle()?;
        self.entities.get_or_keep(|| Entities::new(pickle))
    }

    fn lists(&self) -> Result<&EntityLists> {
        self.lists.get_or_keep(|| EntityLists::read(self))
    }

    fn catalog(&self) -> Result<&Catalog> {
        self.catalog.get_or_keep(|| Catalog::read(self))
    }

    fn rows(&self) -> Result<&RowEnds> {
        self.rows.get_or_keep(|| fields::rows_of_entities(self))
    }

    /// A budget for one walk over all values. Shared values are met more than once.
    fn budget(&self) -> Result<Budget> {
        let limit = budget::walked(self.pickle()?.source().bytes().len());
        Ok(Budget::new("values, which are shared", limit))
    }

    /// The number of entities.
    pub fn len(&self) -> Result<usize> {
        Ok(self.entities()?.len())
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Entity `number`, in the order of the file.
    pub fn entity(&self, number: usize) -> Result<Option<Entity<'_>>> {
        Ok(self.entities()?.get(self.pickle()?, number))
    }

    /// All entities, in the order of the file.
    pub fn all_entities(&self) -> Result<impl Iterator<Item = Entity<'_>>> {
        Ok(self.entities()?.all(self.pickle()?))
    }

    pub fn ships(&self) -> Result<impl Iterator<Item = Entity<'_>>> {
        Ok(self.all_entities()?.filter(|entity| entity.is("Ship")))
    }

    /// The entity that `query` names: by its name, its index or its id, else by its name or title in any case. A title of a ship
    /// and of other entities names the ship.
    ///
    /// # Errors
    /// As [`Params::pickle`], when texts are damaged, and `Syntax` if several have the title.
    pub fn find<'a>(&'a self, query: &'a str) -> Result<Option<Entity<'a>>> {
        self.find_among(query, |_| true)
    }

    /// The ship that `query` names, as [`Params::find`] does.
    ///
    /// # Errors
    /// As [`Params::find`].
    pub fn ship<'a>(&'a self, query: &'a str) -> Result<Option<Entity<'a>>> {
        self.find_among(query, |entity| entity.is("Ship"))
    }

    fn find_among<'a>(&'a self, query: &'a str, is_meant: impl Fn(&Entity<'_>) -> bool) -> Result<Option<Entity<'a>>> {
        if let Some(found) = self.entities()?.find(self.pickle()?, query).filter(&is_meant) {
            return Ok(Some(found));
        }
        // A number is no title.
        if crate::id::parse(query).is_some() {
            return Ok(None);
        }
        let called = self.called.get_or_keep(|| self.by_names_and_titles())?.get(&query.to_lowercase());
        let mut found = Vec::new();
        for number in called.into_iter().flatten() {
            found.extend(self.entity(*number)?.filter(&is_meant));
        }
        if found.iter().any(|entity| entity.is("Ship")) {
            found.retain(|entity| entity.is("Ship"));
        }
        match &*found {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            several => {
                let names = several.iter().map(Entity::name).collect::<Result<Vec<_>>>()?.join(", ");
                let what = format!("{query:?} is the title of {names}: give one of these names").into();
                Err(Error::of_part(ErrorKind::Syntax { what }, ""))
            }
        }
    }

    fn by_names_and_titles(&self) -> Result<HashMap<String, Vec<usize>>> {
        let mut called: HashMap<String, Vec<usize>> = HashMap::new();
        for entity in self.all_entities()? {
            let name = entity.name().ok().map(|name| name.to_lowercase());
            let title =
                self.title(&entity)?.map(|title| title.to_lowercase()).filter(|title| Some(title) != name.as_ref());
            for text in name.into_iter().chain(title) {
                called.entry(text).or_default().push(entity.number());
            }
        }
        Ok(called)
    }

    /// Checks that a walk over the parts of entities ends soon, as entities may share parts, and parts values.
    pub(crate) fn check_parts(&self) -> Result<()> {
        self.catalog().map(drop)
    }

    /// The first entity called `name`.
    pub(crate) fn named(&self, name: &str) -> Result<Option<Entity<'_>>> {
        self.numbers_of(name)?.first().map_or(Ok(None), |number| self.entity(*number))
    }

    /// The numbers of the entities called `name`.
    fn numbers_of(&self, name: &str) -> Result<Vec<usize>> {
        Ok(self.entities()?.named(self.pickle()?, name).map(|entity| entity.number()).collect())
    }

    /// The title of an entity in the language that was asked for, if texts are at hand (§5).
    ///
    /// # Errors
    /// When a file of texts is damaged.
    pub fn title(&self, entity: &Entity<'_>) -> Result<Option<Cow<'_, str>>> {
        // The damage of a companion is reported once, and not in each cell.
        let beside = self.texts_beside().unwrap_or_default();
        if self.names.is_none() && beside.is_none() {
            return Ok(None);
        }
        let name = entity.name()?.to_ascii_uppercase();
        let first = match entity.index()? {
            Some(index) if entity.is("Ship") => Some(format!("IDS_{index}")),
            _ if entity.is("Modernization") => Some(format!("IDS_TITLE_{name}")),
            _ => None,
        };
        for id in first.into_iter().chain([format!("IDS_{name}")]) {
            let of_names = self.names.as_ref().map_or(Ok(None), |names| names.title(&id, &self.options))?;
            let title =
                of_names.map_or_else(|| beside.map_or(Ok(None), |texts| texts.title(&id)), |title| Ok(Some(title)))?;
            if title.is_some() {
                return Ok(title);
            }
        }
        Ok(None)
    }

    /// The texts of the game's language, in a `global.mo` beside the file.
    ///
    /// # Errors
    /// When this file is damaged or cannot be read.
    fn texts_beside(&self) -> Result<Option<&mo::Catalog>> {
        if !self.reads_companions {
            return Ok(None);
        }
        let found = self.texts.get_or_init(|| {
            let file = archive::beside(&self.source, &self.options, TEXTS)?;
            file.map(|file| mo::Catalog::open(file).map_err(|error| error.in_file(TEXTS))).transpose()
        });
        found.as_ref().map(Option::as_ref).map_err(Error::clone)
    }

    /// This file without the texts of other files; `None` if no texts are at hand.
    fn alone(&self) -> Option<&Self> {
        if self.names.is_none() && self.texts_beside().is_ok_and(|texts| texts.is_none()) {
            return None;
        }
        Some(self.alone.get_or_init(|| {
            let bare = Self::undecoded(self.source.clone(), self.client, self.options.clone(), false);
            Box::new(Self { names: None, ..bare })
        }))
    }

    /// The build of the game's folder that the file lies in.
    fn build(&self) -> Option<&str> {
        self.names.as_ref()?.build()
    }

    /// How many entities there are of each type.
    fn types(&self) -> Result<BTreeMap<String, u64>> {
        let mut types = BTreeMap::new();
        for entity in self.all_entities()? {
            let kind = entity.info("type").and_then(|kind| kind.text().ok().flatten());
            let count: &mut u64 = types.entry(kind.unwrap_or_default().into_owned()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(types)
    }
}

/// An error in the entity called so.
fn in_entity(entity: &Entity<'_>, error: Error) -> Error {
    match entity.name() {
        Ok(name) => error.context(name),
        Err(_) => error,
    }
}
