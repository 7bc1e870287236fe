//! World of Warships geometry, `.geometry`: merged vertex and index buffers, armour and collision models. And hit
//! boxes, `.splash`.
//!
//! [`Geometry::open`] reads the header alone; everything else is located on demand. Buffers are raw or packed
//! (ENCD): raw ones are borrowed, packed ones are decoded on first use and kept.

mod armor;
mod buffers;
mod collision;
mod content;
pub mod encd;
pub mod export;
pub mod layout;
pub mod mesh;
mod models;
mod reader;
mod splash;
mod tables;
mod verify;
mod vertex;
mod writer;

pub use crate::materials::material_name;
pub use armor::{ArmorModel, Plate};
pub use buffers::{Buffer, BufferPrototype, IndexBuffer, Indices, VertexBuffer};
pub use collision::{CollisionModel, Face, Hull};
pub use models::{Piece, PieceModel, Pieces};
pub use splash::Splash;
pub use vertex::{Attribute, VertexFormat, Vertices, half, unpack_normal};

use crate::archive::names::NameSources;
use crate::armor::{PlateUse, Plating};
use crate::budget::{self, Budget};
use crate::bytes::{Overlay, View};
use crate::error::{Error, ErrorKind, Result};
use crate::hole::no_hole;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::packed_string::PackedString;
use crate::reader::Section;
use crate::source::Source;
use crate::text_models::Companions;
use assetq_core::Openable;
use buffers::Decoded;
use layout::{ArrayField, GeometryHeader};
use models::Places;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// The length of a unit of a model in metres.
pub(crate) const METRES: f32 = 15.0;
/// Words for the directions of the axes of a model.
pub(crate) const AXES: [&str; 3] = ["port", "up", "bow"];

/// The setting that a geometry is read alone, without the text models beside it.
#[derive(Debug, Clone, Copy)]
pub struct NoCompanions;

/// An open `.geometry` file.
#[derive(Debug)]
pub struct Geometry {
    source: Source,
    /// Other files. Some may state how thick plates are.
    names: Option<Arc<NameSources>>,
    options: Options,
    /// Whether text models beside the file are read.
    reads_companions: bool,
    made: Box<Made>,
}

/// Indexes and decoded buffers, each computed on first use.
#[derive(Debug, Default)]
struct Made {
    decoded: Arc<Lazy<Decoded>>,
    armor: OnceLock<Places>,
    collision: OnceLock<Places>,
    groups: Lazy<mesh::Groups>,
    uses: OnceLock<Result<Vec<PlateUse>>>,
    companions: OnceLock<Result<Option<Companions>>>,
    alone: OnceLock<Geometry>,
}

impl Geometry {
    /// Opens `source`. Reads the header: the arrays it points to are looked at when they are asked for, so that a file
    /// with one of them damaged still gives the others.
    ///
    /// # Errors
    /// `OutOfBounds` when the header does not fit, and the error of the first array when not one of them lies in the
    /// file: then it is no such file. `Damaged` when the header is all zeros, which an empty file is, and anything
    /// follows it.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let geometry =
            Self { source, names: None, options: Options::default(), reads_companions: false, made: Box::default() };
        geometry.view("header").read::<GeometryHeader>()?;
        no_hole(geometry.view("header"), size_of::<GeometryHeader>())?;
        let arrays = geometry.header()?.arrays().map(|array| geometry.bytes_of(&array).map(<[u8]>::is_empty));
        let has_any = arrays.iter().any(|is_empty| matches!(is_empty, Ok(false)));
        match arrays.into_iter().find_map(Result::err) {
            Some(error) if !has_any => Err(error),
            _ => Ok(geometry),
        }
    }

    /// As [`Geometry::open`], with other files: some may state how thick plates are, and text models beside `source` name
    /// its render groups.
    pub fn open_with(from: impl Openable, options: &Options) -> Result<Self> {
        let source = from.open_source(options)?;
        let reads_companions = options.get::<NoCompanions>().is_none();
        Ok(Self { names: options.get(), options: options.clone(), reads_companions, ..Self::open(source)? })
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The ships, mounts and other things that have plates of this file, with the thickness of these; none where no file of
    /// parameters is at hand.
    ///
    /// # Errors
    /// When the parameters cannot be read.
    pub fn armor_uses(&self) -> Result<&[PlateUse]> {
        self.made.uses.get_or_init(|| self.find_armor_uses()).as_ref().map(Vec::as_slice).map_err(Error::clone)
    }

    /// Why rows of plates are missing: plates cannot be located, or the parameters cannot be read, which repeat plates.
    fn armor_damage(&self) -> Option<Error> {
        self.armor_places().damage.clone().or_else(|| self.armor_uses().err())
    }

    fn find_armor_uses(&self) -> Result<Vec<PlateUse>> {
        // A file without armour has no use for parameters, which take a while to read.
        let has_armor = self.armor_prototypes().is_ok_and(|all| !all.is_empty());
        let Some(names) = self.names.as_ref().filter(|_| has_armor) else { return Ok(Vec::new()) };
        let mut uses = Vec::new();
        for plating in names.facets::<dyn Plating>(&self.options)? {
            // The first file of parameters that knows a component counts: the same file may be given and be in the game, too.
            let known: HashSet<_> = uses.iter().map(PlateUse::user).collect();
            let mut found = plating.armor_of(self.source.name())?;
            found.retain(|found| !known.contains(&found.user()));
            uses.extend(found);
        }
        Ok(uses)
    }

    /// Why the thickness of plates is unknown, if parameters were searched for it in vain.
    fn unknown_thickness(&self) -> Option<String> {
        let uses = self.made.uses.get()?.as_ref().ok()?;
        let names = self.names.as_ref().filter(|_| uses.is_empty())?;
        let all = names.facets::<dyn Plating>(&self.options).ok()?;
        let why: Vec<String> = all.iter().filter_map(|plating| plating.why_unknown(self.source.name()).ok()).collect();
        (!why.is_empty()).then(|| format!("the thickness of plates is unknown: {}", why.join("; ")))
    }

    /// The text models beside this file, which name its render groups; `None` without a visual of its name.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn companions(&self) -> Result<Option<&Companions>> {
        if !self.reads_companions {
            return Ok(None);
        }
        let found = self.made.companions.get_or_init(|| Companions::find(&self.source, &self.options));
        found.as_ref().map(Option::as_ref).map_err(Error::clone)
    }

    /// This file without text models and parameters; `None` if it is read without them already.
    fn alone(&self) -> Option<&Self> {
        if self.names.is_none() && !self.reads_companions {
            return None;
        }
        Some(self.made.alone.get_or_init(|| {
            let made = Made { decoded: Arc::clone(&self.made.decoded), ..Made::default() };
            let source = self.source.clone();
            Self { source, names: None, options: Options::default(), reads_companions: false, made: Box::new(made) }
        }))
    }

    /// The rows that each plate has in tables: one for each use, and one without any.
    fn rows_of_plate(&self) -> NonZeroUsize {
        self.armor_uses().ok().and_then(|uses| NonZeroUsize::new(uses.len())).unwrap_or(NonZeroUsize::MIN)
    }

    fn view(&self, part: &'static str) -> View<'_> {
        self.source.view(part)
    }

    fn header(&self) -> Result<&GeometryHeader> {
        self.view("header").read()
    }

    /// The structs that a pointer of the header leads to.
    fn array<'a, T: Overlay>(&'a self, array: ArrayField<'a>) -> Result<&'a [T]> {
        let view = self.view(array.part);
        if array.count == 0 {
            return Ok(&[]);
        }
        view.follow_stored(array.pointer)?.array(array.count)
    }

    fn bytes_of<'a>(&'a self, array: &ArrayField<'a>) -> Result<&'a [u8]> {
        self.array(ArrayField { count: array.count.saturating_mul(array.size), ..*array })
    }

    pub fn vertex_mapping(&self, id: u32) -> Result<Option<usize>> {
        Ok(self.vertex_mappings()?.iter().position(|m| m.mapping_id.get() == id))
    }

    pub fn index_mapping(&self, id: u32) -> Result<Option<usize>> {
        Ok(self.index_mappings()?.iter().position(|m| m.mapping_id.get() == id))
    }

    /// Vertex buffer `index`.
    ///
    /// # Errors
    /// `NotFound` without such a buffer, and as [`Geometry::vertices_prototypes`].
    pub fn vertex_buffer(&self, index: usize) -> Result<VertexBuffer<'_>> {
        let prototype = get(self.vertices_prototypes()?, index, "vertex buffer")?;
        Ok(VertexBuffer::new(index, prototype, self.view("vertices")))
    }

    /// All vertex buffers; none if their structs cannot be read.
    fn vertex_buffers(&self) -> impl Iterator<Item = VertexBuffer<'_>> {
        let all = self.vertices_prototypes().into_iter().flatten().enumerate();
        all.map(|(index, prototype)| VertexBuffer::new(index, prototype, self.view("vertices")))
    }

    /// Index buffer `index`.
    ///
    /// # Errors
    /// `NotFound` without such a buffer, and as [`Geometry::indices_prototypes`].
    pub fn index_buffer(&self, index: usize) -> Result<IndexBuffer<'_>> {
        let prototype = get(self.indices_prototypes()?, index, "index buffer")?;
        Ok(IndexBuffer::new(index, prototype, self.view("indices")))
    }

    /// All index buffers; none if their structs cannot be read.
    fn index_buffers(&self) -> impl Iterator<Item = IndexBuffer<'_>> {
        let all = self.indices_prototypes().into_iter().flatten().enumerate();
        all.map(|(index, prototype)| IndexBuffer::new(index, prototype, self.view("indices")))
    }

    /// Armour model `index`.
    ///
    /// # Errors
    /// `NotFound` without such a model, and as [`Geometry::armor_prototypes`].
    pub fn armor_model(&self, index: usize) -> Result<ArmorModel<'_>> {
        PieceModel::new(self, index)
    }

    /// Collision model `index`.
    ///
    /// # Errors
    /// `NotFound` without such a model, and as [`Geometry::collision_prototypes`].
    pub fn collision_model(&self, index: usize) -> Result<CollisionModel<'_>> {
        PieceModel::new(self, index)
    }

    fn armor_places(&self) -> &Places {
        self.made.armor.get_or_init(|| Places::find_all::<Plate<'_>>(self))
    }

    fn collision_places(&self) -> &Places {
        self.made.collision.get_or_init(|| Places::find_all::<Hull<'_>>(self))
    }

    /// The most bytes that all buffers together may decode to, or that all models together may span: far more than an
    /// honest file needs, and a bound for one with overlapping blobs.
    pub fn decode_limit(&self) -> u64 {
        budget::decoded(self.source.bytes().len() as u64, budget::EXPANSION)
    }

    /// The budget of a walk over all models of a kind.
    fn models_budget(&self) -> Budget {
        Budget::of_file("bytes of overlapping models", self.source.bytes().len())
    }

    /// Everything that lies in the file, in file order, with the stretches that nothing points to as `unmapped`. Parts
    /// that are damaged are left out.
    fn pieces(&self) -> Vec<Section> {
        let header = Section::new("header", 0, size_of::<GeometryHeader>() as u64, None);
        let mut found = Found { base: self.view("file"), all: vec![header] };
        for array in self.header().iter().flat_map(|header| header.arrays()) {
            found.add(array.part, self.bytes_of(&array), Some(array.count));
        }
        for (i, buffer) in self.vertex_buffers().enumerate() {
            found.add(format!("vertex data {i}"), buffer.stored(), buffer.count().ok());
            found.add(format!("format name {i}"), buffer.name_bytes(), None);
        }
        for (i, buffer) in self.index_buffers().enumerate() {
            found.add(format!("index data {i}"), buffer.stored(), buffer.count().ok());
        }
        found.models::<Hull<'_>>(self);
        found.models::<Plate<'_>>(self);
        found.all.sort_by_key(|s| s.offset);
        found.all
    }
}

/// The parts of a file that were found. Damaged and empty parts are left out.
struct Found<'g> {
    base: View<'g>,
    all: Vec<Section>,
}

impl<'g> Found<'g> {
    fn add(&mut self, name: impl Into<Cow<'static, str>>, part: Result<&'g [u8]>, count: Option<usize>) {
        if let Ok(part @ [_, ..]) = part {
            let (at, size) = (self.base.locate(part).position() as u64, part.len() as u64);
            self.all.push(Section::new(name, at, size, count.map(|count| count as u64)));
        }
    }

    fn models<P: Piece<'g>>(&mut self, geometry: &'g Geometry) {
        for (i, model) in PieceModel::<P>::all(geometry).enumerate() {
            self.add(format!("{} data {i}", P::MODEL), model.bytes(), None);
            self.add(format!("{} name {i}", P::MODEL), model.name_bytes(), None);
        }
    }
}

/// The entry `index` of `array`, or the error that there is no such `what`.
fn get<T>(array: &[T], index: usize, what: impl Display) -> Result<&T> {
    array
        .get(index)
        .ok_or_else(|| Error::of_part(ErrorKind::NotFound { what: format!("{what} {index} not found") }, ""))
}

/// `pieces` (in file order) with the stretches between them, up to `end`, as `unmapped`.
fn with_gaps(pieces: Vec<Section>, end: u64) -> Vec<Section> {
    let mut all = Vec::with_capacity(pieces.len());
    let mut at = 0u64;
    for piece in pieces {
        if piece.offset > at {
            all.push(Section::new("unmapped", at, piece.offset.saturating_sub(at), None));
        }
        at = at.max(piece.offset.saturating_add(piece.size));
        all.push(piece);
    }
    if end > at {
        all.push(Section::new("unmapped", at, end.saturating_sub(at), None));
    }
    all
}

/// The target of a struct's pointer: not in the header, which no data shares.
fn data<'a>(owner: View<'a>, pointer: i64, size: usize) -> Result<View<'a>> {
    let at = owner.follow(pointer)?;
    if at.position() < size_of::<GeometryHeader>() {
        return Err(owner.error(ErrorKind::damaged(format!("pointer {pointer} leads into the header"))));
    }
    at.take(size)?;
    Ok(at)
}

/// All bytes of a packed string, its NUL included.
fn string_bytes<'a>(string: &PackedString, at: View<'a>) -> Result<&'a [u8]> {
    match string.size.get() as usize {
        0 => Ok(&[]),
        size => at.follow(string.text.get())?.array(size),
    }
}
