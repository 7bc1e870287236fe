//! Tables, which every command and every output reads.
//!
//! A [`Table`] is a lazy view of rows that a format lays out in its own way. Nothing is copied to make one: a cell is
//! read from the map when it is asked for.

#[cfg(feature = "filter")]
pub mod filter;
#[cfg(any(feature = "filter", feature = "find"))]
pub mod glob;
pub(crate) mod place;
mod rows;
pub(crate) mod search;
mod shape;
mod value;
mod visit;

pub use place::{Place, Volume};
pub(crate) use rows::Find;
pub use rows::TableOf;
pub use search::{Anchor, Literal};
pub use shape::ValueShape;
#[cfg(feature = "parquet")]
pub(crate) use shape::member;
#[cfg(feature = "export")]
pub(crate) use value::write_digits;
pub use value::{Guid, Value};
pub use visit::{Tree, Visitor};

use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::ops::Range;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Its name, as queries and outputs use it.
    pub name: Cow<'static, str>,
    /// The kind of its cells. Any cell may be null besides.
    pub kind: Kind,
    /// Whether short listings for people show it.
    pub brief: bool,
    /// The role of its cells in their row.
    pub role: Role,
    /// Whether unsigned integers in it may need all 64 bits. In all other columns 63 are enough, as in a signed type.
    pub wide: bool,
    /// The values that may be written to it.
    pub takes: Takes,
    /// Whether rows are known by the paths in it, so that folders group them.
    pub folders: bool,
    /// The shape of its nested values if all have the same, so that typed outputs store lists and structs.
    pub shape: Option<ValueShape>,
}

/// The values that may be written to a column, all of the column's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Takes {
    /// Nothing: its cells follow from others, or from where things lie.
    #[default]
    Nothing,
    /// Any value of its kind.
    Any,
    /// Any value of its kind, or null.
    OrNull,
    /// Whole numbers of so many bits, with a sign where the kind has one.
    Bits(u8),
    /// Texts of at most so many bytes.
    Bytes(u32),
    /// Lists of exactly so many numbers, as a position is.
    Numbers(u8),
    /// Paths whose ids the column before it holds: that one is written.
    Path,
    /// Names whose ids the column before it holds: that one is written.
    Name,
}

/// The role of a column's cells in their row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Role {
    /// Something about it.
    #[default]
    Value,
    /// A key, by which the row is known in other files as well. The cells of all such columns together name a row; where there is
    /// none, its place in the order of rows does.
    Key,
    /// Where it or its data lie in this file, as offsets and record numbers do: a row of another file may say the same
    /// from another place.
    Place,
    /// An id of an entry that it refers to.
    Reference,
    /// The text of an id in another column of the row.
    Resolved,
}

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A single-precision float.
    F32,
    /// A double-precision float.
    F64,
    /// A 64-bit id, shown as `0x` and 16 digits.
    Id64,
    /// A 32-bit hash, shown as `0x` and 8 digits.
    Id32,
    /// A GUID, shown in lower case with dashes.
    Guid,
    /// Text.
    Text,
    /// A list or a map of further values.
    Nested,
    /// A value that says itself what it is.
    Any,
}

impl Column {
    /// A column that short listings leave out.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        let name = Cow::Borrowed(name);
        Self {
            name,
            kind,
            brief: false,
            role: Role::Value,
            wide: false,
            takes: Takes::Nothing,
            folders: false,
            shape: None,
        }
    }

    /// A column whose name was made at run time.
    pub const fn named(name: String, kind: Kind) -> Self {
        let name = Cow::Owned(name);
        Self {
            name,
            kind,
            brief: false,
            role: Role::Value,
            wide: false,
            takes: Takes::Nothing,
            folders: false,
            shape: None,
        }
    }

    /// The same column, with the paths by which rows are known.
    #[must_use]
    pub const fn in_folders(mut self) -> Self {
        self.folders = true;
        self
    }

    /// A column of [`Kind::Bool`].
    pub const fn bool(name: &'static str) -> Self {
        Self::new(name, Kind::Bool)
    }

    /// A column of [`Kind::Uint`].
    pub const fn uint(name: &'static str) -> Self {
        Self::new(name, Kind::Uint)
    }

    /// A column of [`Kind::Int`].
    pub const fn int(name: &'static str) -> Self {
        Self::new(name, Kind::Int)
    }

    /// A column of [`Kind::F32`].
    pub const fn f32(name: &'static str) -> Self {
        Self::new(name, Kind::F32)
    }

    /// A column of [`Kind::Id64`].
    pub const fn id64(name: &'static str) -> Self {
        Self::new(name, Kind::Id64)
    }

    /// A column of [`Kind::Id32`].
    pub const fn id32(name: &'static str) -> Self {
        Self::new(name, Kind::Id32)
    }

    /// A column of [`Kind::Text`].
    pub const fn text(name: &'static str) -> Self {
        Self::new(name, Kind::Text)
    }

    /// A column of [`Kind::Nested`].
    pub const fn nested(name: &'static str) -> Self {
        Self::new(name, Kind::Nested)
    }

    /// A column of lists of single-precision floats, as positions and matrices are.
    pub fn floats(name: &'static str) -> Self {
        Self::nested(name).shaped(Some(ValueShape::list(ValueShape::of(Kind::F32))))
    }

    /// A column of lists of small whole numbers, such as bytes.
    pub fn numbers(name: &'static str) -> Self {
        Self::nested(name).shaped(Some(ValueShape::list(ValueShape::of(Kind::Uint))))
    }

    /// Sets the shape that all of its nested values have; `None` if they differ.
    #[must_use]
    pub fn shaped(mut self, shape: Option<ValueShape>) -> Self {
        self.shape = shape;
        self
    }

    /// Whether cells of this kind may be texts, or have some in them.
    pub(crate) const fn may_hold_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Any | Kind::Nested)
    }

    /// The same column, shown in short listings.
    #[must_use]
    pub const fn brief(mut self) -> Self {
        self.brief = true;
        self
    }

    /// The same column, whose unsigned integers may need all 64 bits.
    #[must_use]
    pub const fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    /// The same column, whose cells can be written: any value of its kind.
    #[must_use]
    pub const fn writable(self) -> Self {
        self.takes(Takes::Any)
    }

    /// The same column, to which this may be written.
    #[must_use]
    pub const fn takes(mut self, takes: Takes) -> Self {
        self.takes = takes;
        self
    }

    /// The same column as one of those that its rows are known by in other files as well.
    #[must_use]
    pub const fn key(mut self) -> Self {
        self.role = Role::Key;
        self
    }

    /// The same column as one that tells where its rows lie in this file.
    #[must_use]
    pub const fn place(mut self) -> Self {
        self.role = Role::Place;
        self
    }

    /// The same column as one of ids that its rows refer to.
    #[must_use]
    pub const fn reference(mut self) -> Self {
        self.role = Role::Reference;
        self
    }

    /// The same column as the texts of another column's ids.
    #[must_use]
    pub const fn resolved(mut self) -> Self {
        self.role = Role::Resolved;
        self
    }
}

/// A list whose items are rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemList {
    /// The cells that say which list it is, by their columns: the same ones for all of its items.
    pub cells: Vec<(usize, Value<'static>)>,
    /// How many items it has.
    pub len: usize,
}

/// As [`Table::text_of`], where nothing else is stated.
fn text_behind(columns: &[Column], column: usize) -> Option<usize> {
    let ids = columns.get(column).filter(|column| matches!(column.kind, Kind::Id64 | Kind::Id32));
    let next = ids.and_then(|_| column.checked_add(1))?;
    columns.get(next).filter(|next| next.role == Role::Resolved).map(|_| next)
}

/// Typed rows, read lazily. Row and column numbers start at 0; a number that is too large is an error, never a panic.
pub trait Table: Send + Sync {
    /// Its name, unique in its file.
    fn name(&self) -> &str;

    /// Its columns, in the order in which outputs show them.
    fn columns(&self) -> &[Column];

    /// How many rows there are.
    ///
    /// # Errors
    /// When counting them meets damaged data.
    fn len(&self) -> Result<usize>;

    /// Whether there are no rows.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// How many rows there are, where that is known without decoding or walking much: `info` asks for this.
    fn known_len(&self) -> Option<usize> {
        self.len().ok()
    }

    /// One cell, read in place.
    ///
    /// # Errors
    /// When the bytes of this cell are damaged; other cells stay readable. `NotFound` for a row or column that does
    /// not exist.
    fn value(&self, row: usize, column: usize) -> Result<Value<'_>>;

    /// The rows from `first` on, one after another. A table that finds rows by walking offers its own cursor.
    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        Box::new(IndexCursor::new(self, first, |row| Ok(row < self.len()?)))
    }

    /// As [`Table::cursor`], for those who will read `columns` only; others may take longer to read.
    fn cursor_over(&self, first: usize, columns: &[usize]) -> Box<dyn RowCursor + '_> {
        let _ = columns;
        self.cursor(first)
    }

    /// Whether a walk may begin at any row and cost no more than one that comes there, so that several threads can
    /// each read a share of the rows.
    fn splits(&self) -> bool {
        false
    }

    /// Whether a row is found only by walking to it from a place far before, so that rows are best read in order.
    fn walks(&self) -> bool {
        false
    }

    /// Whether other tables of the file say as well all that these rows do, so that comparing two files need not look
    /// at them.
    fn is_derived(&self) -> bool {
        false
    }

    /// Whether its texts are those that every column of resolved texts of the file has for the ids that are its keys, as
    /// far as no two rows have the same id.
    fn resolves(&self) -> bool {
        false
    }

    /// The columns that say of the leaves of the reader's graphs what these say, where there is a row for each leaf, in the
    /// order of the graphs.
    fn leaves(&self) -> Option<Leaves> {
        None
    }

    /// Whether it has texts that neither another table of the file holds, as those of paths and strings, nor are words of
    /// the reader's, as names of types are.
    fn has_own_texts(&self) -> bool {
        true
    }

    /// Touches what cells of these rows refer to, before all of them are asked for: memory answers many questions in the
    /// time of one, where none waits for the answer to another. For rows in any order; a walk over rows as they lie looks
    /// ahead by itself.
    fn touch(&self, rows: &[Range<usize>]) {
        let _ = rows;
    }

    /// Whether rows may come and go when a file is written.
    fn takes_rows(&self) -> bool {
        false
    }

    /// Whether others know its rows by their numbers: those that come come last, only the last ones go, and one that gets another key
    /// stays the same row.
    fn by_number(&self) -> bool {
        false
    }

    /// The column that says of which type the values of another one are, where not all are of one.
    fn typed_by(&self, column: usize) -> Option<usize> {
        let _ = column;
        None
    }

    /// The column that numbers the items of a list, where each row is an item of one: the last of its keys, of which the others
    /// say the list. Rows that come or go move those behind them.
    fn item(&self) -> Option<usize> {
        None
    }

    /// The lists of which all items have, or would have, this cell in `column`, one before [`Table::item`].
    ///
    /// # Errors
    /// When what has a list is damaged.
    fn lists(&self, column: usize, cell: &Value<'_>) -> Result<Vec<ItemList>> {
        let _ = (column, cell);
        Ok(Vec::new())
    }

    /// Whether [`Table::find`] answers for this column. It may leave single keys to a comparison of all rows.
    fn finds(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// The rows whose `column` equals `key`, by an index or hash probe. `None` where there is none for that column.
    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let _ = (column, key);
        None
    }

    /// The rows whose text in `column`, or of whose nested value a text, has `literal`, in order, without making a cell
    /// of each: by one search over the stretch of the file that holds all of these texts, where they lie together. A row
    /// that cannot be read may be among them. `None` where there is no such way.
    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        let _ = (column, literal);
        None
    }

    /// Whether cells of `column` may be texts, or have some in them.
    fn holds_text(&self, column: usize) -> bool {
        self.columns().get(column).is_some_and(Column::may_hold_text)
    }

    /// The column of the texts that the ids in `column` stand for: the one behind it, if it is one of texts of ids.
    fn text_of(&self, column: usize) -> Option<usize> {
        text_behind(self.columns(), column)
    }

    /// The column of ids whose texts the cells of `column` are in rows that have one; in others they are something else.
    fn ids_of(&self, column: usize) -> Option<usize> {
        let _ = column;
        None
    }

    /// The column whose text is the last component of the paths in `column`: behind their last '/', and all of a path
    /// that has none. `None` where a column holds no paths that are put together from names.
    fn name_of_path(&self, column: usize) -> Option<usize> {
        let _ = column;
        None
    }

    /// Whether the row's place in space shares a point with `place`. `None` where rows of this table have no place.
    fn is_at(&self, row: usize, place: &Place) -> Option<Result<bool>> {
        let _ = (row, place);
        None
    }

    /// Members of nested values whose texts are words of the reader's, as names of kinds are, and no texts of the file.
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    /// The column by which people name a row: globs match it, `cat` looks in it.
    fn label(&self) -> usize {
        self.columns().iter().position(|c| c.kind == Kind::Text).unwrap_or(0)
    }
}

/// Columns of leaves: see [`Table::leaves`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaves {
    /// The way to the leaf within its graph.
    pub path: usize,
    /// The leaf.
    pub value: usize,
    /// The entry that has the graph.
    pub graph: usize,
}

/// The number of the column called `name`.
pub fn column_index(table: &dyn Table, name: &str) -> Option<usize> {
    table.columns().iter().position(|c| c.name == name)
}

/// A walk over rows. Values borrow from the cursor, so that it may keep one buffer for all of them.
pub trait RowCursor {
    /// Moves to the next row (to the first one at the start); `false` behind the last.
    ///
    /// # Errors
    /// When the next row cannot be found; the walk is over then.
    fn advance(&mut self) -> Result<bool>;

    /// The number of the current row.
    fn row(&self) -> usize;

    /// One cell of the current row.
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

/// A walk over rows by their numbers.
pub(crate) struct IndexCursor<'t, T: ?Sized, H> {
    /// One more than the current row, once there is one.
    next: usize,
    table: &'t T,
    has: H,
}

impl<'t, T: Table + ?Sized, H: Fn(usize) -> Result<bool>> IndexCursor<'t, T, H> {
    /// From `first` on, as long as `has` says that there is a row.
    pub(crate) fn new(table: &'t T, first: usize, has: H) -> Self {
        Self { next: first, table, has }
    }
}

impl<T: Table + ?Sized, H: Fn(usize) -> Result<bool>> RowCursor for IndexCursor<'_, T, H> {
    fn advance(&mut self) -> Result<bool> {
        if !(self.has)(self.next)? {
            return Ok(false);
        }
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    fn row(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.table.value(self.row(), column)
    }
}

/// The error for a row or column that a table does not have.
#[cold]
pub fn no_cell(table: &str, row: usize, column: usize) -> Error {
    Error::without_offset(ErrorKind::NotFound { what: format!("row {row}, column {column}") }, table.to_owned())
}
