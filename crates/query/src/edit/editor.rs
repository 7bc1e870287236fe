//! Edits of one file.

use super::plan::{EditPlan, RowShown};
use super::read::Given;
use super::resolve::{Outcome, Resolved};
use super::restore::Restore;
use super::{Edit, EditPosition, EntryEdit, Pieces, TableEdits, Writable, refused, rules};
use crate::asset::Asset;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::source::Source;
use crate::table::{Value, column_index};
use crate::writable::{ValueSource, edit_of_row, no_entry, short_text};
use std::collections::HashMap;

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
        let what = format!("{given} names no column of {}; it has {}", table.name(), columns.join(", "));
        let other = self
            .asset
            .reader()
            .tables()
            .into_iter()
            .find(|other| names.iter().all(|name| column_index(&**other, name).is_some()));
        Err(refused(match other {
            Some(other) => format!("{what}; table {0} has them all: add -t {0}", other.name()),
            None => what,
        }))
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
            let mut plan = EditPlan::new(asset, options, pieces);
            plan.restored = Some(content);
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
        let mut plan = EditPlan::new(asset, options, pieces);
        (plan.edits, plan.shown, plan.row_shown, plan.is_stepped) = (edits, shown, row_shown, is_stepped);
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

/// Checks that files of the format of `asset` are written.
///
/// # Errors
/// `Syntax` if they are only read.
pub fn check_writable(asset: &Asset) -> Result<()> {
    writable(asset).map(drop)
}

pub(crate) fn writable(asset: &Asset) -> Result<&dyn Writable> {
    let writable = asset.reader().writable();
    writable.ok_or_else(|| refused(format!("{} files are read and not written", asset.format())))
}
