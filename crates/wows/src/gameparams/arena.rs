//! Flat arenas of a pickle: every value is one cell of 32 bits.
//!
//! The cell of a leaf is the offset of the opcode that made it, and the leaf is decoded from the pickle's own bytes when
//! it is read. The cell of a container has the high bit set; the rest is its number. A container is a range of cells.
//! Shared and cyclic values cost nothing, and no access follows more than one reference.

use super::leaf::{self, Leaf, NodeKind};
use crate::bytes::{View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use crate::table::Value;
use bytes::Bytes;
use std::borrow::Cow;
use std::fmt;
use zerocopy::{Immutable, IntoBytes};

/// The bit of cells of containers.
pub(super) const CONTAINER: u32 = 1 << 31;

/// The kind of a container, in the low bits of its second word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContainerKind {
    List,
    Tuple,
    Set,
    /// Keys and values in turns.
    Dict,
    /// The name of the class, and the dictionary of its attributes once it was built.
    Object,
    /// `copy_reg._reconstructor`.
    Reconstructor,
    /// `__builtin__.object`.
    Base,
    /// A class of `GameParams`, whose name it holds.
    Class,
}

impl ContainerKind {
    const ALL: [Self; 8] =
        [Self::List, Self::Tuple, Self::Set, Self::Dict, Self::Object, Self::Reconstructor, Self::Base, Self::Class];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "a list",
            Self::Tuple => "a tuple",
            Self::Set => "a set",
            Self::Dict => "a dictionary",
            Self::Object => "an object",
            Self::Reconstructor => "copy_reg._reconstructor",
            Self::Base => "__builtin__.object",
            Self::Class => "a class",
        }
    }
}

/// A container: where its cells begin, and how many there are, with its shape in the low bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Container {
    pub start: u32,
    word: u32,
}

impl Container {
    /// Marks a container whose cells are in several places while the pickle is read.
    const SCATTERED: u32 = 1 << 3;
    const LEN: u32 = 4;
    pub(super) const MOST: u32 = u32::MAX >> Self::LEN;

    pub(super) fn new(shape: ContainerKind, start: u32, len: u32) -> Self {
        let (number, _) =
            (0u32..).zip(ContainerKind::ALL).find(|(_, known)| *known == shape).expect("all shapes are listed");
        Self { start, word: len << Self::LEN | number }
    }

    pub(super) fn shape(self) -> ContainerKind {
        ContainerKind::ALL.get(self.word as usize & 7).copied().unwrap_or(ContainerKind::List)
    }

    pub(super) fn len(self) -> u32 {
        self.word >> Self::LEN
    }

    pub(super) fn is_scattered(self) -> bool {
        self.word & Self::SCATTERED != 0
    }

    pub(super) fn scatter(&mut self) {
        self.word |= Self::SCATTERED;
    }

    /// Moves the cells, now all in one place, to `start`.
    pub(super) fn gather(&mut self, start: u32) {
        self.start = start;
        self.word &= !Self::SCATTERED;
    }

    /// Adds `more` cells. `None` for more than a container can have.
    pub(super) fn grow(&mut self, more: u32) -> Option<()> {
        let len = self.len().checked_add(more).filter(|len| *len <= Self::MOST)?;
        self.word = len << Self::LEN | self.word & 0xF;
        Some(())
    }

    pub(super) fn to_words(self) -> [le::U32; 2] {
        [le::U32::new(self.start), le::U32::new(self.word)]
    }
}

/// Little-endian words of 32 bits: made by the reader of pickles, or mapped from the cache.
#[derive(Clone)]
pub(super) struct Words(Bytes);

impl Words {
    pub(super) fn new<T: IntoBytes + Immutable + Send + 'static>(words: Vec<T>) -> Self {
        struct Owner<T>(Vec<T>);
        impl<T: IntoBytes + Immutable> AsRef<[u8]> for Owner<T> {
            fn as_ref(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }
        Self(Bytes::from_owner(Owner(words)))
    }

    pub(super) fn of_bytes(bytes: Bytes) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[inline]
    fn all<const N: usize>(&self) -> &[[u8; N]] {
        self.0.as_chunks().0
    }
}

/// A pickle that has been read.
pub struct Pickle {
    pub(super) data: Source,
    pub(super) cells: Words,
    pub(super) containers: Words,
    pub(super) root: u32,
    pub(super) protocol: u8,
    /// The end of the pickle in `data`.
    pub(super) end: u32,
}

impl fmt::Debug for Pickle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pickle").field("size", &self.data.bytes().len()).field("protocol", &self.protocol).finish()
    }
}

/// The part that errors name; their offsets count from the first byte of the pickle.
pub(super) const PART: &str = "pickle";

impl Pickle {
    /// The value that the pickle holds.
    pub fn root(&self) -> Node<'_> {
        self.node(self.root)
    }

    /// The protocol that it is written in: 0 for one that states none, as protocols 0 and 1 do.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// The pickle's bytes.
    pub fn source(&self) -> &Source {
        &self.data
    }

    /// Bytes after the end of the pickle.
    pub fn left(&self) -> usize {
        self.data.bytes().len().saturating_sub(self.end as usize)
    }

    /// The number of containers.
    pub fn containers(&self) -> usize {
        self.containers.all::<8>().len()
    }

    /// Bytes of the arenas, without the pickle.
    pub fn arena_size(&self) -> usize {
        self.cells.bytes().len().saturating_add(self.containers.bytes().len())
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(self.data.bytes(), PART)
    }

    pub(super) fn node(&self, cell: u32) -> Node<'_> {
        Node { pickle: self, cell }
    }

    fn container(&self, cell: u32) -> Option<Container> {
        let words = self.containers.all::<8>().get((cell & !CONTAINER) as usize)?;
        let [a, b, c, d, e, f, g, h] = *words;
        Some(Container { start: u32::from_le_bytes([a, b, c, d]), word: u32::from_le_bytes([e, f, g, h]) })
    }

    fn cells_of(&self, container: Container) -> &[[u8; 4]] {
        let start = container.start as usize;
        let end = start.saturating_add(container.len() as usize);
        self.cells.all().get(start..end).unwrap_or_default()
    }
}

/// A value in a pickle.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pickle: &'a Pickle,
    cell: u32,
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} {:#x})", self.kind().name(), self.cell)
    }
}

impl PartialEq for Node<'_> {
    /// Whether both are the same value, and not two values that are alike.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.pickle, other.pickle) && self.cell == other.cell
    }
}

impl<'a> Node<'a> {
    pub(super) fn cell(self) -> u32 {
        self.cell
    }

    fn container(self) -> Option<Container> {
        if self.cell & CONTAINER == 0 { None } else { self.pickle.container(self.cell) }
    }

    pub fn kind(self) -> NodeKind {
        if self.cell & CONTAINER == 0 {
            return leaf::kind(self.pickle.data.bytes(), self.cell as usize);
        }
        match self.container().map(Container::shape) {
            Some(ContainerKind::Dict) => NodeKind::Dict,
            Some(ContainerKind::Object) => NodeKind::Object,
            Some(ContainerKind::List | ContainerKind::Tuple | ContainerKind::Set) => NodeKind::List,
            Some(ContainerKind::Reconstructor | ContainerKind::Base | ContainerKind::Class) | None => NodeKind::Text,
        }
    }

    /// The offset in the pickle of a leaf; of a container, the offset of its first leaf, if it begins with one.
    pub(super) fn offset(self) -> u64 {
        let mut cell = self.cell;
        // Containers may be empty, and may contain themselves.
        for _ in 0..8 {
            if cell & CONTAINER == 0 {
                break;
            }
            match self.pickle.node(cell).cells().next() {
                Some(first) => cell = first.cell,
                None => return 0,
            }
        }
        u64::from(cell & !CONTAINER)
    }

    #[cold]
    pub(super) fn error(self, kind: ErrorKind) -> Error {
        Error::new(kind, PART, self.offset())
    }

    fn at(self, cell: [u8; 4]) -> Node<'a> {
        self.pickle.node(u32::from_le_bytes(cell))
    }

    fn stored(self) -> &'a [[u8; 4]] {
        self.container().map_or(&[], |container| self.pickle.cells_of(container))
    }

    /// The stored items of a list; none of anything else.
    fn list(self) -> &'a [[u8; 4]] {
        if self.kind() == NodeKind::List { self.stored() } else { &[] }
    }

    /// The stored keys and values of a dictionary or an object; none of anything else.
    fn pairs(self) -> &'a [[[u8; 4]; 2]] {
        self.dict().map_or(&[], |dict| dict.stored().as_chunks().0)
    }

    /// The cells of a container, as they are.
    pub(super) fn cells(self) -> impl DoubleEndedIterator<Item = Node<'a>> + ExactSizeIterator {
        self.stored().iter().map(move |cell| self.at(*cell))
    }

    /// The dictionary that has its members: its own, or the dictionary of attributes of an object.
    fn dict(self) -> Option<Node<'a>> {
        match self.container()?.shape() {
            ContainerKind::Dict => Some(self),
            ContainerKind::Object => self.cells().nth(1).filter(|state| state.container().is_some()),
            _ => None,
        }
    }

    /// The class of an object, without its module.
    pub fn class(self) -> Result<Option<Cow<'a, str>>> {
        match self.container().map(Container::shape) {
            Some(ContainerKind::Object | ContainerKind::Class) => match self.cells().next() {
                Some(name) => name.name(),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The text of a leaf. The name of a class is one, too.
    fn name(self) -> Result<Option<Cow<'a, str>>> {
        Ok(match leaf::read(self.pickle.view().at(self.cell as usize))? {
            Leaf::Text(text) => Some(text),
            _ => None,
        })
    }

    /// How many values it has: items of a list, members of a dictionary or an object; 0 for a leaf.
    pub fn len(self) -> usize {
        // A leaf is not read.
        if self.cell & CONTAINER == 0 { 0 } else { self.list().len().max(self.pairs().len()) }
    }

    /// Whether it has no values in it.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The items of a list, in order; none of anything else.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Node<'a>> + ExactSizeIterator {
        self.list().iter().map(move |cell| self.at(*cell))
    }

    /// Item `number` of a list, by its position: iterators step through all items before it.
    pub(super) fn item(self, number: usize) -> Option<Node<'a>> {
        self.list().get(number).map(|cell| self.at(*cell))
    }

    /// Member `number` of a dictionary or an object, by its position.
    pub(super) fn member(self, number: usize) -> Option<(Node<'a>, Node<'a>)> {
        self.pairs().get(number).map(|pair| pair.map(|cell| self.at(cell)).into())
    }

    /// The bytes of the text or the digits that it is; 0 for a container.
    pub(super) fn text_size(self) -> u64 {
        if self.cell & CONTAINER != 0 { 0 } else { leaf::text_size(self.pickle.view().at(self.cell as usize)) as u64 }
    }

    /// The keys and values of a dictionary, or the names and values of an object's attributes, in order.
    pub fn members(self) -> impl DoubleEndedIterator<Item = (Node<'a>, Node<'a>)> + ExactSizeIterator {
        self.pairs().iter().map(move |pair| pair.map(|cell| self.at(cell)).into())
    }

    /// The member called `name`; the last one where several are.
    pub fn get(self, name: &str) -> Option<Node<'a>> {
        let is_ascii = name.is_ascii();
        self.members().rev().find(|(key, _)| key.is(name, is_ascii)).map(|(_, value)| value)
    }

    pub fn is_text(self, text: &str) -> bool {
        self.is(text, text.is_ascii())
    }

    #[inline]
    fn is(self, text: &str, is_ascii: bool) -> bool {
        self.cell & CONTAINER == 0 && leaf::is_text(self.pickle.view().at(self.cell as usize), text, is_ascii)
    }

    /// Whether it is a text that begins with `start`, which is ASCII.
    pub(super) fn begins_with(self, start: &str) -> bool {
        self.cell & CONTAINER == 0 && leaf::begins_with(self.pickle.view().at(self.cell as usize), start)
    }

    fn leaf(self) -> Result<Leaf<'a>> {
        if self.cell & CONTAINER != 0 {
            return Ok(Leaf::Null);
        }
        leaf::read(self.pickle.view().at(self.cell as usize))
    }

    /// The text that it is; `None` for anything else.
    ///
    /// # Errors
    /// When it is a damaged text.
    pub fn text(self) -> Result<Option<Cow<'a, str>>> {
        Ok(match self.leaf()? {
            Leaf::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the value as an integer, if it is one and fits. Truth values are 0 and 1; builds store whole numbers also as floats.
    pub fn int(self) -> Option<i64> {
        /// All whole floats below this are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self.leaf().ok()? {
            Leaf::Int(number) => Some(number),
            Leaf::Bool(truth) => Some(truth.into()),
            #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
            Leaf::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => Some(number as i64),
            _ => None,
        }
    }

    pub fn number(self) -> Option<f64> {
        match self.leaf().ok()? {
            Leaf::Float(number) => Some(number),
            #[allow(clippy::cast_precision_loss, reason = "numbers of the game are small")]
            Leaf::Int(number) => Some(number as f64),
            #[allow(clippy::cast_precision_loss, reason = "as above")]
            Leaf::Wide(number) => Some(number as f64),
            _ => None,
        }
    }

    /// The value of a leaf. A container has none: null.
    ///
    /// # Errors
    /// When the leaf is damaged.
    pub fn value(self) -> Result<Value<'a>> {
        Ok(match self.leaf()? {
            Leaf::Null => Value::Null,
            Leaf::Bool(truth) => truth.into(),
            Leaf::Int(number) => number.into(),
            Leaf::Wide(number) => number.into(),
            Leaf::Float(number) => number.into(),
            Leaf::Text(text) => Value::Text(text),
        })
    }
}
