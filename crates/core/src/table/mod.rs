//! Tables, which all commands and outputs read.
//!
//! A [`Table`] is a lazy view of rows in a format's own layout. Building one copies nothing: a cell is read from the
//! map on demand.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "numbers of rows, bytes and texts in memory, which cannot overflow; no file decides what tables declare"
)]

mod convert;
pub mod filter;
pub mod glob;
mod kind;
pub mod parts;
pub mod path;
pub mod place;
mod plain;
mod records;
mod row_ends;
mod rows;
pub mod rules;
pub mod search;
mod shape;
mod validate;
mod value;
mod visit;

pub use kind::Kind;
pub use parts::{TablePart, TableParts};
pub use place::{OrientedBox, Region};
pub use plain::{CellSink, PlainCell};
pub use records::{Row, RowBuffer, Rows};
pub use row_ends::RowEnds;
pub use rows::DeclaredTable;
pub use rows::Find;
pub use search::{Anchor, Literal};
pub use shape::ValueShape;
pub use shape::member;
pub use validate::validate;
pub use value::{Guid, Value};
pub use visit::{Tree, Visitor};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::Field;
use std::borrow::Cow;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Column {
    /// The column's name in queries and outputs.
    pub name: Cow<'static, str>,
    /// The kind of its cells. Any cell may be null instead.
    pub kind: Kind,
    /// Whether short listings for people include it.
    pub brief: bool,
    /// The role of its cells in their row.
    pub role: Role,
    /// Whether unsigned integers in it may need all 64 bits. In all other columns 63 bits suffice, as in a signed type.
    pub wide: bool,
    /// The values that can be written to it.
    pub accepts: Accepts,
    /// Whether its paths identify rows, so that folders group them.
    pub folders: bool,
    /// The shape of its nested values if all have the same, so that typed outputs store lists and structs.
    pub shape: Option<ValueShape>,
    /// Whether no two rows may have the same value.
    pub unique: bool,
    /// The table whose unique column has each of its values, or each item of its lists.
    pub refers_to: Option<&'static str>,
    /// The declared field that stores its cells: in-place edits write there.
    pub field: Option<&'static Field>,
    /// The column of the ids whose texts its cells are. Default: the previous column, if this one has [`Role::Resolved`].
    pub text_for: Option<&'static str>,
    /// The column of ids whose texts its cells are in rows with such an id; other rows have other texts.
    pub texts_of: Option<&'static str>,
    /// The column whose texts are the last components of its paths: the part after the last '/', or the whole path.
    pub ends_in: Option<&'static str>,
    /// The column with the type of its values, if the type differs between rows.
    pub typed_by: Option<&'static str>,
    /// The other file that its cells are read from, in words: no edit of this file changes them.
    pub read_from: Option<&'static str>,
    /// Whether a thing has a row for each of its values, as a plate has one for each ship that uses it: a count of rows is a count of
    /// things only for one of them.
    pub repeats: bool,
    /// Whether its cells can be texts or contain texts, if the kind does not say it.
    pub holds_text: Option<bool>,
}

/// The values that can be written to a column, all of the column's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Accepts {
    /// Nothing: its cells are derived from others, or from positions in the file.
    #[default]
    Nothing,
    /// Any value of its kind.
    Any,
    /// Any value of its kind, or null.
    OrNull,
    /// Whole numbers with this number of bits, signed if the kind is.
    Bits(u8),
    /// Texts of at most this number of bytes.
    Bytes(u32),
    /// Lists of exactly this number of numbers, such as positions.
    Numbers(u8),
    /// Paths; their ids in the previous column are written.
    Path,
    /// Names; their ids in the previous column are written.
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Role {
    /// A property of the row.
    #[default]
    Value,
    /// A key, which identifies the row in other files, too. The cells of all key columns together identify a row;
    /// without key columns, its number does.
    Key,
    /// The position of the row or its data in this file, such as an offset or a record number: an equal row of another
    /// file may have another position.
    Place,
    /// An id of an entry that the row refers to.
    Reference,
    /// The text of an id in another column of the row.
    Resolved,
}

impl Column {
    /// A column outside of short listings.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        let name = Cow::Borrowed(name);
        Self {
            name,
            kind,
            brief: false,
            role: Role::Value,
            wide: false,
            accepts: Accepts::Nothing,
            folders: false,
            shape: None,
            unique: false,
            refers_to: None,
            field: None,
            text_for: None,
            texts_of: None,
            ends_in: None,
            typed_by: None,
            repeats: false,
            read_from: None,
            holds_text: None,
        }
    }

    /// A column with a name from run time.
    pub fn named(name: String, kind: Kind) -> Self {
        Self { name: Cow::Owned(name), ..Self::new("", kind) }
    }

    /// A column of lists of single-precision floats, such as positions and matrices.
    pub fn floats(name: &'static str) -> Self {
        Self::nested(name).shaped(Some(ValueShape::list(ValueShape::of(Kind::F32))))
    }

    /// A column of lists of small whole numbers, such as bytes.
    pub fn numbers(name: &'static str) -> Self {
        Self::nested(name).shaped(Some(ValueShape::list(ValueShape::of(Kind::Uint))))
    }

    /// Sets the shape of all its nested values; `None` if they differ.
    pub fn shaped(mut self, shape: Option<ValueShape>) -> Self {
        self.shape = shape;
        self
    }

    /// Whether its cells can be texts, or contain texts.
    pub fn may_hold_text(&self) -> bool {
        self.holds_text.unwrap_or(matches!(self.kind, Kind::Text | Kind::Any | Kind::Nested))
    }

    /// Makes the column writable, with any value of its kind.
    pub const fn writable(self) -> Self {
        self.accepts(Accepts::Any)
    }
}

/// Columns of one kind, and what is declared of a column.
impl Column {
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

    /// Marks the column's paths as the identity of rows, grouped by folders.
    pub const fn in_folders(mut self) -> Self {
        self.folders = true;
        self
    }

    /// Includes the column in short listings.
    pub const fn brief(mut self) -> Self {
        self.brief = true;
        self
    }

    /// Declares that its unsigned integers may need all 64 bits.
    pub const fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    /// Sets the values that can be written to the column.
    pub const fn accepts(mut self, accepts: Accepts) -> Self {
        self.accepts = accepts;
        self
    }

    /// Marks the column as a key, which identifies its rows in other files, too.
    pub const fn key(mut self) -> Self {
        self.role = Role::Key;
        self
    }

    /// Marks the column as a position in this file.
    pub const fn place(mut self) -> Self {
        self.role = Role::Place;
        self
    }

    /// Marks the column as ids that its rows refer to.
    pub const fn reference(mut self) -> Self {
        self.role = Role::Reference;
        self
    }

    /// Marks the column as the texts of another column's ids.
    pub const fn resolved(mut self) -> Self {
        self.role = Role::Resolved;
        self
    }

    /// Declares that no two rows may have the same value. An edit that breaks this rule is refused.
    pub const fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// Declares that each value, or each item of a list, is the value of a row of `table` in its unique column. An edit that
    /// breaks this rule is refused.
    pub const fn refers_to(mut self, table: &'static str) -> Self {
        self.refers_to = Some(table);
        self
    }

    /// Declares the column of the ids whose texts its cells are, if it is not the previous column.
    pub const fn text_for(mut self, ids: &'static str) -> Self {
        self.text_for = Some(ids);
        self
    }

    /// As [`Column::text_for`], for rows with such an id; other rows have other texts.
    pub const fn texts_of(mut self, ids: &'static str) -> Self {
        self.texts_of = Some(ids);
        self
    }

    /// Declares that its paths end in the texts of column `name`.
    pub const fn ends_in(mut self, name: &'static str) -> Self {
        self.ends_in = Some(name);
        self
    }

    /// Declares that its cells are read from another file, named in words.
    pub const fn read_from(mut self, other: &'static str) -> Self {
        self.read_from = Some(other);
        self
    }

    /// Declares that a thing has a row for each of its values.
    pub const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Declares that column `types` holds the type of its values.
    pub const fn typed_by(mut self, types: &'static str) -> Self {
        self.typed_by = Some(types);
        self
    }
}

/// A list whose items are rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemList {
    /// The cells that identify the list, by their columns: equal for all of its items.
    pub cells: Vec<(usize, Value<'static>)>,
    pub len: usize,
    /// The same cells of all lists that are stored as one with this one, beginning with the one that edits are made to. Empty
    /// unless several keys share the list.
    pub shared: Vec<Vec<(usize, Value<'static>)>>,
}

/// The nearest columns, or all, as the end of a message that begins with `there_are`.
pub fn hint_of_columns(wanted: &str, there_are: &str, columns: &[Column]) -> String {
    crate::suggest::hint_or_all(wanted, there_are, columns.iter().map(|column| &*column.name))
}

/// The nearest names of rows of `table`, as the end of a message.
pub fn hint_of_rows(wanted: &str, table: &dyn Table) -> String {
    crate::suggest::hint_of(&nearest_rows(wanted, table))
}

/// The nearest names of rows of `table`. Rows that cannot be read have no name.
pub fn nearest_rows(wanted: &str, table: &dyn Table) -> Vec<String> {
    let label = table.label();
    let mut cursor = table.cursor_over(0, Some(&[label]));
    let names = std::iter::from_fn(|| {
        advance(&mut *cursor, drop).then_some(())?;
        Some(cursor.value(label).ok().and_then(|cell| Some(cell.as_text()?.into_owned())))
    });
    crate::suggest::nearest(wanted, names.flatten())
}

/// Properties of a whole table. The default is a table of independent rows that are read only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nature {
    /// Whether a walk may begin at any row without extra cost, so that several threads can each read a share of the rows.
    pub random_access: bool,
    /// Whether a row is found only by a walk from an earlier position, so that rows should be read in order.
    pub sequential: bool,
    /// Whether other tables of the file contain all data of these rows, so that a comparison of two files can skip them.
    pub derived: bool,
    /// Whether this table maps ids to the texts that all `Resolved` columns show (one row for each id).
    pub dictionary: bool,
    /// Whether all its texts occur in other tables of the file (such as paths and strings), or are words of the reader (such as
    /// names of types).
    pub texts_elsewhere: bool,
    /// The rows that edits can insert and delete.
    pub row_edits: RowEdits,
    /// The column that names a row for people: globs match it, `cat` searches it. Default: the first column of texts.
    pub label: Option<usize>,
    /// The columns with the data of the leaves of the reader's graphs, if there is a row for each leaf, in the order of the graphs.
    pub leaves: Option<Leaves>,
    /// Members of nested values whose texts are words of the reader, such as names of kinds, and not texts of the file.
    pub vocabulary: &'static [&'static str],
    /// Other words for its rows, by which users look for the table.
    pub also: &'static [&'static str],
    /// Whether a file is opened for each row, so that many rows take minutes.
    pub opens_files: bool,
}

impl Nature {
    /// The column that numbers the items of a list, if each row is an item: see [`RowEdits::Items`].
    pub fn item(self) -> Option<usize> {
        if let RowEdits::Items(item) = self.row_edits { Some(item) } else { None }
    }
}

/// The rows of a table that edits can insert and delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowEdits {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The last ones, because rows are referenced by number: a row with a changed key is still the same row.
    Last,
    /// All, each an item of one of [`StoredRows::lists`]. The column with this number, the last key, numbers the items of a list; the
    /// other keys identify the list. An insertion or deletion shifts the later items.
    Items(usize),
}

/// Rows that show stored rows under several keys, or items of lists.
pub trait StoredRows: Send + Sync {
    /// The rows that show one stored row under a key each, if there are several: `row` and the others, beginning with the row
    /// that edits are made to. Empty for a row that is stored for one key.
    fn sharing(&self, row: usize) -> Vec<usize>;

    /// The number of stored rows, if further rows follow that show some of them again under other keys.
    fn stored_len(&self) -> Option<usize>;

    /// The earlier row that shows the same stored row under the same key, beside other data of other files.
    fn repeated(&self, _row: usize) -> Option<usize> {
        None
    }

    /// The lists whose items all have, or would have, this cell in `column`, which precedes the number of the item.
    ///
    /// # Errors
    /// When the owner of a list is damaged.
    fn lists(&self, _column: usize, _cell: &Value<'_>) -> Result<Vec<ItemList>> {
        Ok(Vec::new())
    }
}

/// Answers about all texts of a column of a [`Table`]. Each may be `None`: then reading the cells is as fast, or needed.
pub trait ColumnTexts: Send + Sync {
    /// The rows whose text matches `pattern`, in order. Unreadable rows may be included.
    fn matching(&self, pattern: &filter::pattern::LikePattern) -> Option<Vec<usize>>;

    /// The first `len` of `rows` in the order of their texts, which compare by bytes; of equal texts the earlier rows. Returns
    /// indexes into `rows`.
    fn first(&self, rows: &[usize], len: usize, descends: bool) -> Option<Vec<usize>>;
}

/// Typed rows, read lazily. Row and column numbers start at 0; a number that is too large is an error, never a panic.
///
/// A table must implement [`Table::name`], [`Table::columns`], [`Table::len`] and [`Table::value`]. All else is optional: what holds for
/// the whole table is one [`Nature`], and what holds for a column is part of the [`Column`].
#[expect(
    clippy::len_without_is_empty,
    reason = "the number of rows may be an error, and nothing asks for none of them"
)]
pub trait Table: Send + Sync {
    /// The table's name, unique in its file.
    fn name(&self) -> &str;

    /// The table's columns, in the order of outputs.
    fn columns(&self) -> &[Column];

    /// The number of rows.
    ///
    /// # Errors
    /// When counting them meets damaged data.
    fn len(&self) -> Result<usize>;

    /// The number of rows, as [`Table::len`] returns it, if that is known without much decoding or walking: for `info`. A number that
    /// the file states is known once the rows are found, or proven to fit and to need no search.
    fn known_len(&self) -> Option<usize> {
        self.len().ok()
    }

    /// Reads one cell in place.
    ///
    /// # Errors
    /// When the bytes of this cell are damaged; other cells remain readable. `NotFound` for a row or column that does
    /// not exist.
    fn value(&self, row: usize, column: usize) -> Result<Value<'_>>;

    /// The properties of the whole table.
    fn nature(&self) -> Nature {
        Nature::default()
    }

    /// The rows from `first` on, in order, for callers that read only `columns`, if given; other columns may be slower. A table
    /// that finds rows by a walk implements its own cursor.
    fn cursor_over(&self, first: usize, _columns: Option<&[usize]>) -> Box<dyn RowCursor + '_> {
        let rows = (first..).map_while(|row| self.len().map(|len| (row < len).then_some(row)).transpose());
        Box::new(NumberedRows { table: self, rows, row: first })
    }

    /// The parts of the table, if it consists of tables that open one by one.
    fn parts(&self) -> Option<&dyn TableParts> {
        None
    }

    /// How rows are stored, if several rows show one stored row, or rows are items of lists.
    fn stored_rows(&self) -> Option<&dyn StoredRows> {
        None
    }

    /// Prefetches the memory that cells of these rows refer to, because memory serves many independent requests in the
    /// time of one. For rows in any order; a walk in order prefetches by itself.
    fn prefetch(&self, _rows: &[Range<usize>]) {}

    /// Whether [`Table::find`] supports this column. It may still decline single keys.
    fn finds(&self, _column: usize) -> bool {
        false
    }

    /// The rows whose `column` equals `key`, by an index or hash probe. `None` if the column has no index.
    fn find(&self, _column: usize, _key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        None
    }

    /// The rows whose text in `column`, or a text in its nested value, contains `literal`, in order: found by one
    /// search over the range of the file that holds all these texts, without building cells. Unreadable rows may be
    /// included. `None` if the texts are not consecutive.
    fn search(&self, _column: usize, _literal: &Literal) -> Option<Vec<usize>> {
        None
    }

    /// Answers about all texts of `column`, if the file has them without building cells; `None` if the cells must be read.
    fn texts(&self, _column: usize) -> Option<&dyn ColumnTexts> {
        None
    }

    /// Whether the row's position in space shares a point with `place`. `None` if rows of this table have no position.
    fn is_at(&self, _row: usize, _place: &Region) -> Option<Result<bool>> {
        None
    }
}

impl<'t> dyn Table + 't {
    /// The rows from `first` on, in order, with all columns.
    pub fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        self.cursor_over(first, None)
    }

    /// The column that names a row for people: [`Nature::label`], or the first column of texts, or the first one.
    pub fn label(&self) -> usize {
        let stated = self.nature().label;
        stated.or_else(|| self.columns().iter().position(|column| column.kind == Kind::Text)).unwrap_or(0)
    }

    /// The column with the texts of the ids in `column`: the one that states it, or the next one, if it holds texts of ids.
    pub fn text_of(&self, column: usize) -> Option<usize> {
        let columns = self.columns();
        let ids = columns.get(column)?;
        if let Some(stated) = columns.iter().position(|texts| texts.text_for.is_some_and(|name| name == ids.name)) {
            return Some(stated);
        }
        let next = column.checked_add(1)?;
        let is_text = matches!(ids.kind, Kind::Id64 | Kind::Id32) && columns.get(next)?.role == Role::Resolved;
        is_text.then_some(next)
    }

    /// The column of ids whose texts the cells of `column` are, in rows with such an id; other rows have other texts.
    pub fn ids_of(&self, column: usize) -> Option<usize> {
        column_index(self, self.columns().get(column)?.texts_of?)
    }

    /// The column whose text is the last component of the paths in `column`. `None` if its paths are not built from names.
    pub fn name_of_path(&self, column: usize) -> Option<usize> {
        column_index(self, self.columns().get(column)?.ends_in?)
    }

    /// The column with the type of the values in `column`, if the type differs between rows.
    pub fn typed_by(&self, column: usize) -> Option<usize> {
        column_index(self, self.columns().get(column)?.typed_by?)
    }

    /// As [`StoredRows::sharing`]; empty for a table without such rows.
    pub fn sharing(&self, row: usize) -> Vec<usize> {
        self.stored_rows().map_or_else(Vec::new, |stored| stored.sharing(row))
    }

    /// As [`StoredRows::stored_len`].
    pub fn stored_len(&self) -> Option<usize> {
        self.stored_rows()?.stored_len()
    }

    /// As [`StoredRows::repeated`].
    pub fn repeated(&self, row: usize) -> Option<usize> {
        self.stored_rows()?.repeated(row)
    }

    /// As [`StoredRows::lists`]; none for a table without lists.
    ///
    /// # Errors
    /// When the owner of a list is damaged.
    pub fn lists(&self, column: usize, cell: &Value<'_>) -> Result<Vec<ItemList>> {
        self.stored_rows().map_or_else(|| Ok(Vec::new()), |stored| stored.lists(column, cell))
    }
}

/// Columns of leaves: see [`Nature::leaves`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaves {
    /// The way to the leaf within its graph.
    pub path: usize,
    pub value: usize,
    /// The entry with the graph.
    pub graph: usize,
}

/// The number of column `name`.
pub fn column_index(table: &dyn Table, name: &str) -> Option<usize> {
    table.columns().iter().position(|c| c.name == name)
}

/// A walk over rows. Values borrow from the cursor, so that it can reuse one buffer.
pub trait RowCursor: Send {
    /// Moves to the next row (at the start, to the first one); returns `false` past the last.
    ///
    /// # Errors
    /// When the next row cannot be found; the walk then ends, unless [`RowCursor::skip_damage`] continues it.
    fn advance(&mut self) -> Result<bool>;

    /// After an error of [`RowCursor::advance`]: continues with the rows after the damage. Returns `false` if no further row can be
    /// found. Each damage is one error, so that a walk which skips all of them ends.
    fn skip_damage(&mut self) -> bool {
        false
    }

    fn row(&self) -> usize;

    fn value(&self, column: usize) -> Result<Value<'_>>;

    /// Passes one cell of the current row to `sink`: a plain field without a [`Value`].
    ///
    /// # Errors
    /// As [`RowCursor::value`], and the errors of `sink`.
    fn put(&self, column: usize, sink: &mut dyn CellSink) -> Result<()> {
        // By reference: to move a value right after it was made stalls the processor.
        match self.value(column) {
            Ok(ref cell) => sink.value(cell),
            Err(error) => Err(error),
        }
    }
}

/// Moves to the next row that can be found; returns `false` past the last. Each damage before it is passed to `damaged`.
pub fn advance(rows: &mut dyn RowCursor, mut damaged: impl FnMut(Error)) -> bool {
    loop {
        match rows.advance() {
            Ok(moved) => return moved,
            Err(error) => damaged(error),
        }
        if !rows.skip_damage() {
            return false;
        }
    }
}

/// A walk over the rows of a table with these numbers.
struct NumberedRows<'t, T: ?Sized, I> {
    table: &'t T,
    rows: I,
    row: usize,
}

impl<T: Table + ?Sized, I: Iterator<Item = Result<usize>> + Send> RowCursor for NumberedRows<'_, T, I> {
    fn advance(&mut self) -> Result<bool> {
        let next = self.rows.next().transpose()?;
        self.row = next.unwrap_or(self.row);
        Ok(next.is_some())
    }

    fn row(&self) -> usize {
        self.row
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.table.value(self.row, column)
    }
}

/// A cursor over no rows, whose first step fails with the error, if present.
pub struct NoRows(pub Option<Error>);

impl RowCursor for NoRows {
    fn advance(&mut self) -> Result<bool> {
        self.0.take().map_or(Ok(false), Err)
    }

    fn row(&self) -> usize {
        0
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        Err(no_cell("", 0, column))
    }
}

/// The error for a missing row or column.
#[cold]
pub fn no_cell(table: &str, row: usize, column: usize) -> Error {
    Error::of_part(ErrorKind::NotFound { what: format!("row {row}, column {column} not found") }, table.to_owned())
}
