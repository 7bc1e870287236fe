//! Edits of one file, and the resulting file.

use super::read::Given;
use super::resolve::{Outcome, Resolved};
use super::restore::Restore;
use super::{
    Cells, Edit, EditPosition, EntryEdit, Pieces, Reached, ReadBack, TableEdits, Writable, check, copy, patch, refused,
    rules,
};
use crate::archive;
use crate::asset::{Asset, Format};
use crate::atomic_file::{AtomicFile, Overwrite, is_stream};
use crate::codec::xxh64;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::source::Source;
use crate::table::{Value, column_index};
use crate::threads;
use crate::writable::{ValueSource, differs, edit_of_row, no_entry, short_text};
use crate::write::cannot_write;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;

/// Collects the edits of a file, resolves each against its rows, and builds the new file.
///
/// ```
/// # fn main() -> assetq::Result<()> {
/// use assetq::edit::{Change, Edit, Editor};
/// use assetq::write::atomic_file::Overwrite;
/// use assetq::{Asset, Source};
/// use assetq_sample as sample;
///
/// let folder = std::env::temp_dir();
/// let old = folder.join(format!("assetq-{}.wdb", std::process::id()));
/// let new = old.with_extension("new.wdb");
/// std::fs::write(&old, sample::wdb::demo(1, sample::Size::Small)).expect("it is writable");
///
/// let asset = Asset::open(Source::open(&old)?)?;
/// let mut editor = Editor::new(&asset)?;
/// let change = Change::Set(vec![("u9SaveIndex".into(), 300u64.into())]);
/// editor.edit(Edit::new(Some("records"), "r0000005".into(), change))?;
/// let plan = editor.finish()?;
/// // Read back and compared before it gets its name.
/// plan.write(&new, Overwrite::Replace)?.commit()?;
/// # std::fs::remove_file(&old).and_then(|()| std::fs::remove_file(&new)).expect("they are there");
/// # Ok(())
/// # }
/// ```
pub struct Editor<'a> {
    pub(super) asset: &'a Asset,
    /// The archive that contains the file and is rewritten, if any, and the name of the file in it.
    outer: Option<(&'a Asset, String)>,
    pub(super) writable: &'a dyn Writable,
    options: Options,
    tables: Vec<Resolved<'a>>,
    /// The file with the edits of the table that keys the rows of other tables, once needed.
    known: Option<Asset>,
    main: Option<String>,
    /// The whole file, if the format writes it itself.
    pieces: Option<Pieces>,
    /// An entry, and the tree that `cat` must show of it.
    shown: Option<(String, Value<'static>)>,
    row_shown: Option<RowShown>,
    restored: Option<Restored>,
    /// The number of the reason why the bytes of an undo are left out, until rows of the patch undo the same.
    unrestored: Option<usize>,
    /// Whether the rows of the undo undo all that its bytes do.
    rows_undo: bool,
    /// The tables that were edited in steps, if the file was made in steps: each was compared with its edits.
    stepped: Option<Vec<String>>,
    done: u64,
    held: u64,
    left_out: Vec<String>,
    /// A derived cell that an edit tried to change.
    derived: Option<String>,
}

/// The pieces that an undo file brings back.
#[derive(Debug)]
struct Restored {
    pieces: Pieces,
    /// The digest of the restored file.
    content: u64,
    /// Whether they are pieces of the archive that contains the file.
    is_outer: bool,
}

/// An edited entry that is a row, and the cells that it must have.
#[derive(Debug)]
struct RowShown {
    table: String,
    row: usize,
    cells: Cells,
}

impl std::fmt::Debug for Editor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").field("asset", &self.asset).finish_non_exhaustive()
    }
}

impl<'a> Editor<'a> {
    /// An editor without edits.
    ///
    /// # Errors
    /// `Syntax` for a file of a format that is not written.
    pub fn new(asset: &'a Asset) -> Result<Self> {
        Self::with_options(asset, &Options::default())
    }

    /// As [`Editor::new`], for a file that was opened with options.
    pub fn with_options(asset: &'a Asset, options: &Options) -> Result<Self> {
        Ok(Self {
            asset,
            outer: None,
            writable: writable(asset)?,
            options: options.clone(),
            tables: Vec::new(),
            known: None,
            main: None,
            pieces: None,
            shown: None,
            row_shown: None,
            restored: None,
            unrestored: None,
            rows_undo: false,
            stepped: None,
            done: 0,
            held: 0,
            left_out: Vec::new(),
            derived: None,
        })
    }

    /// Has the new file be `outer`, with the edited file in place of `inner` in it.
    #[must_use]
    pub fn within(self, outer: &'a Asset, inner: &str) -> Self {
        Self { outer: Some((outer, inner.to_owned())), ..self }
    }

    pub(super) fn take_entry(&mut self, entry: &str, edit: EntryEdit) -> Result<()> {
        match edit {
            EntryEdit::Pieces(pieces) => self.whole(pieces),
            EntryEdit::Shown(pieces, shown) => {
                self.whole(pieces);
                self.shown = Some((entry.to_owned(), shown));
            }
            EntryEdit::Edits(edits) => edits.into_iter().try_for_each(|edit| self.edit(edit).map(drop))?,
        }
        Ok(())
    }

    /// The number of table `name`, or of the main table.
    fn table(&mut self, name: Option<&str>) -> Result<usize> {
        let reader = self.asset.reader();
        let name = match name.or(self.main.as_deref()) {
            Some(name) => name.to_owned(),
            None => {
                let main = reader.tables().into_iter().next().ok_or_else(|| refused("the file has no tables"))?;
                self.main.insert(main.name().to_owned()).clone()
            }
        };
        if let Some(at) = self.tables.iter().position(|table| table.table.name() == name) {
            return Ok(at);
        }
        let table = reader.table(&name).ok_or_else(|| refused(crate::reader::no_table(reader, &name)))?;
        self.tables.push(Resolved::new(table));
        Ok(self.tables.len() - 1)
    }

    pub(super) fn resolved(&mut self, name: Option<&str>) -> Result<&mut Resolved<'a>> {
        let at = self.table(name)?;
        Ok(&mut self.tables[at])
    }

    /// A table whose rows are found by their keys after the edits of the table that keys them.
    fn keyed(&mut self, name: Option<&str>) -> Result<&mut Resolved<'a>> {
        let at = self.table(name)?;
        match self.writable.keying().filter(|keying| *keying == self.tables[at].table.name()) {
            Some(keying) if self.known.is_some() => {
                return Err(refused(format!("edits of {keying} must precede edits of the tables that it keys")));
            }
            Some(_) => {}
            None => {
                if let Some(known) = self.known()? {
                    self.tables[at].know(&known);
                }
            }
        }
        Ok(&mut self.tables[at])
    }

    /// The file whose keys identify rows from now on; `None` if no edit changes keys.
    pub(super) fn known(&mut self) -> Result<Option<Asset>> {
        if self.known.is_some() {
            return Ok(self.known.clone());
        }
        let Some(keying) = self.writable.keying() else { return Ok(None) };
        let mut tables = self.tables.iter_mut();
        let resolved = tables.find(|resolved| resolved.table.name() == keying && !resolved.is_empty());
        let Some(resolved) = resolved else { return Ok(None) };
        let edits = resolved.finish();
        resolved.take(edits.clone())?;
        if !edits.is_empty() {
            let source = self.asset.source();
            let bytes = self.writable.write(&[edits])?.bytes(source.bytes());
            self.known = Some(Asset::open_with(Source::from_vec("", bytes).in_place_of(source), self.asset.options())?);
        }
        Ok(self.known.clone())
    }

    /// The edits of a table that cannot be applied together with the edits of the keying table: their numbers, in
    /// order, and the reasons. Applies nothing. After these edits are removed, others may turn out to be refused.
    ///
    /// # Errors
    /// Why an edit cannot be applied, if the error does not show which.
    pub(super) fn refusals(&mut self, table: &str, edits: impl Iterator<Item = Edit>) -> Result<Vec<(usize, Error)>> {
        let wanted =
            self.asset.reader().table(table).ok_or_else(|| refused(format!("no table {}", short_text(table))))?;
        let mut resolved = Resolved::new(wanted);
        let known = if self.writable.keying() == Some(table) { None } else { self.known()? };
        known.iter().for_each(|known| resolved.know(known));
        let (mut places, mut found) = (HashMap::<EditPosition, Vec<usize>>::new(), Vec::new());
        for (number, edit) in edits.enumerate() {
            match resolved.edit(edit) {
                Ok(Outcome::LeftOut(why)) => found.push((number, refused(why))),
                Ok(Outcome::Done) => {
                    resolved.last.take().into_iter().for_each(|at| places.entry(at).or_default().push(number))
                }
                Ok(Outcome::Held) => {}
                Err(error) => found.push((number, error)),
            }
        }
        let mut refused: Vec<(EditPosition, Error)> = resolved.unshared().collect();
        let edits = resolved.finish();
        if found.is_empty() && refused.is_empty() && !edits.is_empty() {
            refused = self.writable.refusals(&edits)?;
            let broken = rules::violations(self.asset.reader(), std::slice::from_ref(&edits))?;
            refused.extend(broken.into_iter().filter(|broken| broken.table == table).map(|b| (b.at, b.error)));
        }
        for (at, error) in refused {
            match places.get(&at) {
                Some(numbers) => found.extend(numbers.iter().map(|number| (*number, error.clone()))),
                None => return Err(error),
            }
        }
        found.sort_by_key(|(number, _)| *number);
        found.dedup_by_key(|(number, _)| *number);
        Ok(found)
    }

    pub(super) fn note(&mut self, outcome: &Outcome) {
        if self.rows_undo
            && let Some(at) = self.unrestored.take()
        {
            self.left_out.remove(at);
        }
        match outcome {
            Outcome::Done => self.done += 1,
            Outcome::Held => self.held += 1,
            Outcome::LeftOut(why) => self.left_out.push(why.clone()),
        }
    }

    /// Adds an edit.
    ///
    /// # Errors
    /// `Syntax` for wrong usage: a derived column, a value that does not fit, a second edit of one cell.
    /// The damage in the row.
    pub fn edit(&mut self, edit: Edit) -> Result<Outcome> {
        let table = edit.table.clone();
        let outcome = self.keyed(table.as_deref())?.edit(edit)?;
        self.note(&outcome);
        Ok(outcome)
    }

    /// Adds many edits, in order, each as [`Editor::edit`] does.
    ///
    /// # Errors
    /// As [`Editor::edit`], of the first that fails.
    pub fn edits(&mut self, edits: impl IntoIterator<Item = Edit>) -> Result<()> {
        edits.into_iter().try_for_each(|edit| self.edit(edit).map(drop))
    }

    /// Checks that the table has at least one of these columns.
    ///
    /// # Errors
    /// `Syntax` if it has none.
    pub fn exported_columns(&mut self, table: Option<&str>, names: &[&str]) -> Result<()> {
        let table = &*self.resolved(table)?.table;
        if names.iter().any(|name| column_index(table, name).is_some()) {
            return Ok(());
        }
        let columns: Vec<&str> = table.columns().iter().map(|column| &*column.name).collect();
        let given = short_text(&names.join(","));
        Err(refused(format!("{given} names no column of {}; it has {}", table.name(), columns.join(", "))))
    }

    /// Adds an exported row: cells by the names of columns, possibly without some columns. A row with a new key needs
    /// `insert`. [`Editor::match_exported`] must follow the last row.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn exported(&mut self, table: Option<&str>, cells: Given<'_>, from: ValueSource, insert: bool) -> Result<()> {
        let outcome = self.keyed(table)?.exported(cells, from, insert)?;
        outcome.iter().for_each(|outcome| self.note(outcome));
        Ok(())
    }

    /// Adds an exported row without any text if the file has such a row that no exported row is yet; else it does nothing, as
    /// spreadsheets add such rows.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn exported_blank(&mut self, table: Option<&str>, cells: Given<'_>, from: ValueSource) -> Result<()> {
        match self.keyed(table)?.take_blank(&cells, from)? {
            true => self.exported(table, cells, from, false),
            false => Ok(()),
        }
    }

    /// Decides which rows the exported rows are whose keys several rows have: the row that is equal in full, else the row at
    /// the stated position, such as `index`.
    ///
    /// # Errors
    /// `Syntax` for a row that is neither, and as [`Editor::edit`].
    pub fn match_exported(&mut self) -> Result<()> {
        for at in 0..self.tables.len() {
            let outcomes = self.tables[at].match_exported()?;
            outcomes.iter().for_each(|outcome| self.note(outcome));
        }
        Ok(())
    }

    /// Deletes the rows that no exported row names.
    ///
    /// # Errors
    /// `Syntax` if rows of the table cannot be deleted.
    pub fn delete_missing(&mut self, table: Option<&str>) -> Result<()> {
        self.match_exported()?;
        let gone = self.resolved(table)?.delete_missing()?;
        self.done += gone as u64;
        Ok(())
    }

    /// Changes one cell of a row, by the numbers of row and column.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn set_cell(&mut self, table: &str, row: usize, column: usize, value: Value<'static>) -> Result<Outcome> {
        let outcome = self.resolved(Some(table))?.set_cell(row, column, value, ValueSource::Typed)?;
        self.note(&outcome);
        Ok(outcome)
    }

    /// Adds resolved edits: numbers of rows and columns, and values that fit, as [`check_cell`] returns them.
    ///
    /// # Errors
    /// `Syntax` for two edits of a row, and damage of one.
    ///
    /// [`check_cell`]: super::check_cell
    pub fn resolved_edits(&mut self, edits: TableEdits) -> Result<()> {
        let rows = (edits.add.len() + edits.remove.len()) as u64;
        let (done, held) = self.resolved(Some(&edits.table.clone()))?.take(edits)?;
        (self.done, self.held) = (self.done + rows + done, self.held + held);
        Ok(())
    }

    /// Changes `entry` to `new`: the edited tree of `cat ENTRY -f json`.
    ///
    /// # Errors
    /// As [`Editor::edit`], and `NotFound`.
    pub fn entry(&mut self, entry: &str, new: Value<'static>) -> Result<()> {
        match self.writable.entry(entry, &new)? {
            Some(edit) => self.take_entry(entry, edit),
            None => {
                let Some((table, row)) = self.asset.reader().entry_row(entry)? else { return Err(no_entry(entry)) };
                let Value::Map(cells) = new else { return Err(refused("an entry is an object of columns")) };
                match edit_of_row(&*table, row, &cells)? {
                    Some(edit) => {
                        self.row_shown = Some(RowShown { table: table.name().to_owned(), row, cells });
                        self.edit(edit).map(drop)
                    }
                    None => {
                        self.note(&Outcome::Held);
                        Ok(())
                    }
                }
            }
        }
    }

    /// Sets the new file to the result of several steps; each step edits the file that the steps before it made.
    pub fn steps(&mut self, steps: Steps) {
        let Steps { pieces, tables, done } = steps;
        self.whole(pieces);
        if done > 0 {
            (self.done, self.held) = (done, 0);
        }
        self.stepped = Some(tables);
    }

    /// Replaces meshes by the meshes of a binary glTF.
    ///
    /// # Errors
    /// As [`Writable::with_meshes`], and `Syntax` for a file that has no meshes.
    pub fn meshes(&mut self, glb: &[u8]) -> Result<()> {
        let format = self.asset.format();
        let pieces = self.writable.with_meshes(glb)?;
        let mut pieces = pieces.ok_or_else(|| refused(format!("{format} files take no meshes from glTF")))?;
        self.left_out.append(&mut pieces.left_out);
        self.whole(pieces);
        Ok(())
    }

    /// Replaces the file `inner` of an archive by a file with these bytes, of any format.
    ///
    /// # Errors
    /// As [`Writable::replaced`], and `Syntax` for a format that is no archive.
    pub fn file(&mut self, inner: &str, bytes: Vec<u8>) -> Result<()> {
        let mut pieces = Pieces::new();
        pieces.insert(bytes);
        let replaced = self.writable.replaced(inner, pieces)?;
        let format = self.asset.format();
        self.whole(
            replaced.ok_or_else(|| refused(format!("{format} files hold no other files that can be replaced")))?,
        );
        Ok(())
    }

    /// Sets the whole new file, which is an edit unless its bytes equal the old ones.
    fn whole(&mut self, pieces: Pieces) {
        let old = self.asset.source().bytes();
        let mut rest = old;
        let is_same = pieces.len() == old.len()
            && pieces.slices(old, 0).all(|slice| rest.split_off(..slice.len()).is_some_and(|there| there == slice));
        let count = if is_same { &mut self.held } else { &mut self.done };
        *count += 1;
        self.pieces = Some(pieces);
    }

    /// Applies the byte patch of an undo file, to the file or to the archive that contains it. Returns `false` if neither is
    /// the file that it was made for: the following rows are then ordinary edits. Without such rows, the undo is left out.
    ///
    /// # Errors
    /// `Syntax` for an undo file that cannot be parsed.
    pub fn restore(&mut self, restore: &Restore) -> Result<bool> {
        let outer = self.outer.as_ref().filter(|(_, inner)| restore.inner.as_ref() == Some(inner));
        let files = [Some((self.asset, false)), outer.map(|(outer, _)| (*outer, true))];
        for (file, is_outer) in files.into_iter().flatten() {
            let bytes = file.source().bytes();
            let pieces = if restore.new.is_of(bytes) {
                self.held += 1;
                Pieces::whole(bytes.len())
            } else if restore.old.is_of(bytes) {
                self.done += 1;
                restore.pieces(bytes.len())?
            } else {
                continue;
            };
            self.restored = Some(Restored { pieces, content: restore.new.content, is_outer });
            if let Some(at) = self.unrestored.take() {
                self.left_out.remove(at);
            }
            return Ok(true);
        }
        if self.unrestored.is_none() {
            let why = "the bytes of this undo patch are for another file, or for one that has changed since";
            self.rows_undo = restore.unpatched.is_empty();
            let rows = match &*restore.unpatched {
                [] => String::new(),
                left => format!(", and its rows do not undo all changes: {}", left.join(", ")),
            };
            self.unrestored = Some(self.left_out.len());
            self.left_out.push(format!("{why}{rows}"));
        }
        Ok(false)
    }

    /// Whether the new bytes are known already, so that no edits are needed.
    pub fn is_restored(&self) -> bool {
        self.restored.is_some()
    }

    /// The outcomes: edits that are applied, edits that the file contains already, and skipped edits with their
    /// reasons.
    pub fn summary(&self) -> (u64, u64, &[String]) {
        (self.done, self.held, &self.left_out)
    }

    /// The first damage in the tables with edits: no row after it is found.
    pub fn damage(&self) -> Option<Error> {
        self.tables.iter().find_map(Resolved::damage)
    }

    /// Facts about the new file that its format states: see [`Pieces::notes`].
    pub fn notes(&self) -> &[String] {
        self.pieces.as_ref().map_or(&[], |pieces| &pieces.notes)
    }

    /// Builds the new file.
    ///
    /// # Errors
    /// `Syntax` for edits that the format cannot store; damage in the parts that they need.
    pub fn finish(self) -> Result<EditPlan<'a>> {
        self.built(true)
    }

    /// Builds the new file of a step. Rules between rows need not hold before the last step.
    ///
    /// # Errors
    /// As [`Editor::finish`].
    pub fn finish_step(self) -> Result<EditPlan<'a>> {
        self.built(false)
    }

    fn built(mut self, has_rules: bool) -> Result<EditPlan<'a>> {
        self.match_exported()?;
        if let Some(Restored { pieces, content, is_outer }) = self.restored {
            let Self { asset, options, outer, .. } = self;
            let plan = EditPlan { restored: Some(content), ..EditPlan::new(asset, options, pieces) };
            return plan.within(outer, is_outer);
        }
        let mut edits = Vec::new();
        let mut derived = self.derived;
        for mut resolved in self.tables {
            if let Some((_, error)) = resolved.unshared().next() {
                return Err(error);
            }
            derived = derived.or(resolved.derived.take());
            let table = resolved.finish();
            if !table.is_empty() {
                edits.push(table);
            }
        }
        if let Some(what) = derived.filter(|_| edits.is_empty() && self.left_out.is_empty() && self.pieces.is_none()) {
            return Err(refused(what));
        }
        let pieces = match self.pieces {
            Some(_) if !edits.is_empty() => {
                return Err(refused("an entry and rows cannot be written at once"));
            }
            Some(pieces) => pieces,
            None if edits.is_empty() => Pieces::whole(self.asset.source().bytes().len()),
            None => {
                self.writable.settle(&mut edits)?;
                if has_rules && let Some(broken) = rules::violations(self.asset.reader(), &edits)?.into_iter().next() {
                    return Err(broken.error);
                }
                self.writable.write(&edits)?
            }
        };
        let Self { asset, options, shown, row_shown, outer, .. } = self;
        let is_stepped = self.stepped.is_some();
        let tables = self.stepped.into_iter().flatten();
        edits.extend(tables.map(|table| TableEdits { table, ..TableEdits::default() }));
        let plan = EditPlan { edits, shown, row_shown, is_stepped, ..EditPlan::new(asset, options, pieces) };
        plan.within(outer, false)
    }
}

/// A file that several steps have made.
#[derive(Debug, Clone)]
pub struct Steps {
    /// The new file, with its seal.
    pub pieces: Pieces,
    /// The edited tables.
    pub tables: Vec<String>,
    /// The number of rows that differ.
    pub done: u64,
}

impl Steps {
    /// The new file, in memory.
    ///
    /// # Errors
    /// As [`Asset::open_with`].
    pub fn open(&self, old: &Asset, options: &Options) -> Result<Asset> {
        let source = old.source();
        Asset::open_with(Source::from_vec("", self.pieces.bytes(source.bytes())).in_place_of(source), options)
    }
}

pub(crate) fn writable(asset: &Asset) -> Result<&dyn Writable> {
    let writable = asset.reader().writable();
    writable.ok_or_else(|| refused(format!("{} files are read and not written", asset.format())))
}

/// A new file that is not written yet.
#[derive(Debug)]
pub struct EditPlan<'a> {
    asset: &'a Asset,
    options: Options,
    edits: Vec<TableEdits>,
    pieces: Pieces,
    shown: Option<(String, Value<'static>)>,
    row_shown: Option<RowShown>,
    restored: Option<u64>,
    /// Whether steps made the file. The edits are then the edited tables alone.
    is_stepped: bool,
    outer: Option<Outer<'a>>,
}

/// The archive that contains the edited file and is rewritten.
#[derive(Debug)]
struct Outer<'a> {
    asset: &'a Asset,
    /// The name of the edited file in it.
    inner: String,
    /// The new edited file; `None` if an undo file has restored the archive.
    pieces: Option<Pieces>,
}

impl<'a> EditPlan<'a> {
    /// The plan for these pieces of the edited file.
    fn new(asset: &'a Asset, options: Options, pieces: Pieces) -> Self {
        let (edits, shown, row_shown) = (Vec::new(), None, None);
        Self { asset, options, edits, pieces, shown, row_shown, restored: None, is_stepped: false, outer: None }
    }

    /// The edits of each table.
    pub fn edits(&self) -> &[TableEdits] {
        &self.edits
    }

    /// The new file, still without its seal.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Whether the new file equals the old one.
    pub fn is_same(&self) -> bool {
        self.pieces == Pieces::whole(self.file().source().bytes().len())
    }

    /// Whether the new file consists of these bytes, ignoring its seal.
    pub(super) fn makes(&self, bytes: &[u8]) -> bool {
        let seal = self.pieces.seal_range();
        let mut rest = bytes;
        let mut at = 0;
        let is_same = self.pieces.slices(self.asset.source().bytes(), 0).all(|slice| {
            let end = at + slice.len();
            let (start, after) = (seal.start.clamp(at, end) - at, seal.end.clamp(at, end) - at);
            at = end;
            rest.split_off(..slice.len())
                .is_some_and(|there| slice[..start] == there[..start] && slice[after..] == there[after..])
        });
        is_same && rest.is_empty()
    }

    /// The new file in memory, as a preview.
    pub(super) fn asset(&self) -> Result<Asset> {
        let source = self.asset.source();
        let bytes = self.pieces.clone().with_seal(source)?.bytes(source.bytes());
        Asset::open_with(Source::from_vec("", bytes).in_place_of(source), self.asset.options())
    }

    /// The new file in memory, compared with the edits, and its pieces: the file that a further step edits.
    ///
    /// # Errors
    /// If the file differs from the edits.
    pub fn step(&self) -> Result<(Asset, Pieces)> {
        let old = self.asset.source();
        let pieces = self.pieces.clone().with_seal(old)?;
        let source = Source::from_vec("", pieces.bytes(old.bytes())).in_place_of(old);
        let new = Asset::open_with(source, self.asset.options()).map_err(|error| error.context("read back"))?;
        let reached = self.reached(&new, &pieces);
        self.check_edits(&new, &pieces, reached.as_ref(), &Progress::default())?;
        Ok((new, pieces))
    }

    /// The plan for the archive that contains the edited file, if any. With `is_outer`, the pieces are the archive's.
    ///
    /// # Errors
    /// `Syntax` if the archive cannot be written.
    fn within(self, outer: Option<(&'a Asset, String)>, is_outer: bool) -> Result<Self> {
        let Some((outer, inner)) = outer else { return Ok(self) };
        if is_outer {
            return Ok(Self { outer: Some(Outer { asset: outer, inner, pieces: None }), ..self });
        }
        let of_inner = self.pieces.clone().with_seal(self.asset.source())?;
        let pieces = if self.is_same() {
            Pieces::whole(outer.source().bytes().len())
        } else {
            let replaced = outer.reader().writable().map(|w| w.replaced(&inner, of_inner.clone())).transpose()?;
            let format = outer.format();
            replaced.flatten().ok_or_else(|| refused(format!("files in a {format} archive are not written")))?
        };
        Ok(Self { pieces, outer: Some(Outer { asset: outer, inner, pieces: Some(of_inner) }), ..self })
    }

    /// The file that is rewritten.
    fn file(&self) -> &'a Asset {
        self.outer.as_ref().map_or(self.asset, |outer| outer.asset)
    }

    /// Writes the new file, reads it back, and compares it with the edits. It gets its name in [`Written::commit`].
    ///
    /// # Errors
    /// If it cannot be written, or differs from the edits.
    pub fn write(&self, to: &Path, overwrite: Overwrite) -> Result<Written> {
        self.write_with(to, overwrite, &Progress::default())
    }

    /// As [`EditPlan::write`], and reports progress.
    pub fn write_with(&self, to: &Path, overwrite: Overwrite, progress: &Progress) -> Result<Written> {
        // Before it is opened: to open a pipe waits for its reader.
        if is_stream(to) {
            return Err(refused(format!("{} is no file, so what is written there cannot be read back", to.display())));
        }
        let mut file = AtomicFile::create_with_folders(to, overwrite).map_err(cannot_write)?;
        let old = self.file().source();
        let (copied, seal) = threads::join(|| copy::copy(&self.pieces, old, &mut file), || self.pieces.made_seal(old));
        let seal = seal?;
        copied?;
        let mut pieces = Cow::Borrowed(&self.pieces);
        if let Some((range, bytes)) = seal {
            file.write_at(range.start as u64, &bytes).map_err(cannot_write)?;
            copy::read_back(&mut file, range.start, &[&bytes], &mut vec![0; bytes.len()])?;
            pieces = Cow::Owned(pieces.into_owned().sealed(range.start, &bytes));
        }
        file.flush().map_err(cannot_write)?;
        let source = self.options.source(file.part_path().unwrap_or(to))?;
        let written = self.compared(source, pieces.into_owned(), progress)?;
        Ok(Written { file: Some(file), ..written })
    }

    /// Builds the new file in memory and compares it as [`EditPlan::write_with`] does. [`Written::commit`] then writes
    /// nothing.
    ///
    /// # Errors
    /// As [`EditPlan::write`].
    pub fn preview(&self, progress: &Progress) -> Result<Written> {
        let old = self.file().source();
        let pieces = self.pieces.clone().with_seal(old)?;
        let source = Source::from_vec("", pieces.bytes(old.bytes()));
        self.compared(source, pieces, progress)
    }

    /// Compares the new file in `source`, the result of `pieces`, with the edits.
    fn compared(&self, source: Source, pieces: Pieces, progress: &Progress) -> Result<Written> {
        let file = self.file();
        let old = file.source();
        let opened = Asset::open_with(source.in_place_of(old), file.options()).and_then(|outer| match &self.outer {
            Some(Outer { inner, .. }) => Ok((archive::open_inside(&outer, inner, &self.options)?, outer)),
            None => Ok((outer.clone(), outer)),
        });
        let (new, outer) = opened.map_err(|error| error.context("read back"))?;
        let len = outer.source().bytes().len();
        if len != pieces.len() {
            return Err(differs(format!("it has {len} bytes, not {}", pieces.len())));
        }
        if new.format() != self.asset.format() {
            return Err(differs(format!("it is a {} file now", new.format())));
        }
        // The new file may get another name: if the bytes of the old one tell the format, so must the new ones.
        let is_known = |source: &Source| Format::detect(&source.clone().named("")).ok() == Some(self.file().format());
        if is_known(old) && !is_known(outer.source()) {
            let what = "after these edits no byte tells the format of the file, so nothing is kept";
            return Err(refused(format!("{what}: leave a row")));
        }
        let (mut findings, mut reached) = (0, None);
        match self.restored {
            // The restored file is the edited one, or the archive that contains it.
            Some(content) if [&new, &outer].iter().all(|file| xxh64(file.source().bytes(), 0) != content) => {
                return Err(differs("it has other bytes than it had".to_owned()));
            }
            Some(_) => {}
            None => {
                if self.is_stepped {
                    check::rules(self.asset, &new)?;
                } else if !self.is_same() {
                    reached = self.reached(&new, &pieces);
                    self.check_edits(&new, &pieces, reached.as_ref(), progress)?;
                }
                if let Some(RowShown { table, row, cells }) = &self.row_shown
                    && let Some(table) = new.reader().table(table)
                {
                    check::row_entry(&*table, *row, cells)?;
                }
                if let Some((entry, shown)) = &self.shown {
                    check::entry(&new, entry, shown)?;
                }
                findings = check::verified(self.file(), &outer, &self.edits, reached.as_ref(), progress)?;
            }
        }
        Ok(Written { new, outer, pieces, findings, reached, file: None })
    }

    /// The rows of `new`, the file that `pieces` made, that depend on changed bytes; `None` if any row may.
    fn reached(&self, new: &Asset, pieces: &Pieces) -> Option<Reached> {
        let keeps_rows = self.edits.iter().all(|edit| edit.add.is_empty() && edit.remove.is_empty());
        if pieces.read_back != ReadBack::Rows || self.outer.is_some() || self.edits.is_empty() || !keeps_rows {
            return None;
        }
        let changed = pieces.changed(self.asset.source().bytes().len())?;
        new.reader().writable()?.reached(&changed)
    }

    /// Compares `new`, the edited file that `pieces` made, with the edits.
    fn check_edits(&self, new: &Asset, pieces: &Pieces, reached: Option<&Reached>, progress: &Progress) -> Result<()> {
        check::check(self.asset, new, &self.edits, pieces, reached, progress).map_err(|error| self.damaged_or(error))
    }

    /// `error` of the comparison, or the damage of the old file that the comparison has met.
    fn damaged_or(&self, error: Error) -> Error {
        let report = self.asset.reader().verify(&Progress::default());
        let finding = report.checks.iter().find_map(|check| check.findings().first());
        match finding {
            Some(damage) => damage.clone().context("the file is damaged, and these edits cannot be compared"),
            None => error,
        }
    }

    /// The bytes of an undo file, for a written file.
    pub fn undo(&self, written: &Written) -> Restore {
        let mut undo = Restore::new(&written.pieces, self.file().source().bytes(), written.outer.source().bytes());
        undo.inner = self.outer.as_ref().map(|outer| outer.inner.clone());
        undo
    }

    /// Calls `each` with the rows of an undo file for a written file: the bytes of the file, the bytes of the edited file in it
    /// if it is an archive, and rows, which restore the old rows whatever else changes later.
    ///
    /// # Errors
    /// As [`patch::undo`] and [`patch::between`].
    pub fn undo_rows(&self, written: &Written, each: &mut dyn FnMut(Value<'static>) -> Result<()>) -> Result<()> {
        // Only rows that were edited by themselves are known.
        let has_edits = !self.edits.is_empty() && !self.is_stepped;
        let (mut rows, mut unpatched) = (Vec::new(), Vec::new());
        if !has_edits && !self.is_same() {
            let mut keep = |row| {
                rows.push(row);
                Ok(())
            };
            let left = patch::between(&written.new, self.asset, &self.options, &[], &mut |_, _| {}, &mut keep)?;
            // What other rows decide follows from the rows.
            let reader = self.asset.reader();
            let is_decided = |name: &str| reader.table(name).is_some_and(|table| !patch::is_written(&*table));
            let tables = left.tables.into_iter().map(|(table, _)| table);
            unpatched.extend(tables.filter(|table| rows.is_empty() || !is_decided(table)));
            unpatched.extend(left.reasons);
        }
        let of_inner = self.outer.as_ref().and_then(|outer| {
            let new = written.new.source().bytes();
            Some(Restore::new(outer.pieces.as_ref()?, self.asset.source().bytes(), new))
        });
        for mut restore in [Some(self.undo(written)), of_inner].into_iter().flatten() {
            restore.unpatched.clone_from(&unpatched);
            each(restore.row())?;
        }
        if has_edits {
            return patch::undo(self.asset, &self.edits, each);
        }
        rows.into_iter().try_for_each(each)
    }

    /// Whether rows of an unedited table may differ.
    pub fn is_compared(&self, table: &str) -> bool {
        self.pieces.read_back == ReadBack::All || self.pieces.also.iter().any(|also| also == table)
    }

    /// The extent of the comparison of the new file.
    pub fn read_back(&self) -> ReadBack {
        self.pieces.read_back
    }
}

/// A new file that has been written and compared, but has no name yet. A drop removes it.
#[derive(Debug)]
pub struct Written {
    new: Asset,
    outer: Asset,
    pieces: Pieces,
    findings: u64,
    reached: Option<Reached>,
    /// `None` for a preview. Dropped last: Windows removes no file that is mapped.
    file: Option<AtomicFile>,
}

impl Written {
    /// The new file, or the edited file in it.
    pub fn asset(&self) -> &Asset {
        &self.new
    }

    /// The number of findings of `verify` in the new file, or in the rows that can differ if these have none. The old file has all of
    /// them.
    pub fn findings(&self) -> u64 {
        self.findings
    }

    /// The rows that can differ, and their checks; `None` if that may be any.
    pub fn take_reached(&mut self) -> Option<Reached> {
        self.reached.take()
    }

    /// Renames the file to its final name. A preview writes nothing.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit(self) -> Result<Asset> {
        if let Some(file) = self.file {
            file.commit().map_err(cannot_write)?;
        }
        Ok(self.new)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Seal;
    use super::*;
    use assetq_sample::wdb::{Cell, Game, Sheet};

    /// Wherever its parts end, a plan produces exactly the bytes of its pieces, with any seal.
    #[test]
    fn a_plan_makes_its_bytes_with_any_seal_and_no_others() {
        let sheet = Sheet::new(Game::Later, "Items").fields(["u9Index"]).record("a", [Cell::Int(1)]).build();
        let len = sheet.len();
        let asset = Asset::open(Source::from_vec("items.wdb", sheet.clone())).unwrap();
        for stretches in [
            vec![],
            vec![(40..44, vec![1; 4])],
            vec![(8..12, vec![2; 4])],
            vec![(6..10, vec![3; 7]), (11..13, vec![])],
            vec![(9..9, vec![4]), (len..len, vec![5; 3])],
            vec![(0..len, vec![6; 20])],
        ] {
            let mut pieces = Pieces::replaced(len, stretches).unwrap();
            pieces.seal = Some(Seal::new(8..12, |_, _| Ok(vec![0; 4])));
            let mut bytes = pieces.bytes(&sheet);
            let plan = EditPlan::new(&asset, Options::default(), pieces);
            assert!(plan.makes(&bytes));
            for at in 0..bytes.len() {
                bytes[at] ^= 0x55;
                assert_eq!(plan.makes(&bytes), (8..12).contains(&at), "{at}");
                bytes[at] ^= 0x55;
            }
            assert!(!plan.makes(&bytes[..bytes.len() - 1]) && !plan.makes(&[&bytes[..], &[0]].concat()));
        }
    }
}
