//! Edits of one file, and the file that they make.

use super::fit::From;
use super::read::Given;
use super::resolve::{Outcome, Resolved};
use super::restore::Restore;
use super::{Cells, Check, Edit, EntryEdit, Pieces, TableEdits, Writable, check, copy, refused};
use crate::archive;
use crate::asset::Asset;
use crate::codec::xxh64;
use crate::error::{Error, ErrorKind, Result};
use crate::reader::Options;
use crate::report::Progress;
use crate::source::Source;
use crate::suggest;
use crate::table::{Table, Value, column_index};
use crate::threads;
use crate::write::atomic_file::{AtomicFile, Overwrite};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;

/// Takes the edits of a file, each resolved against its rows, and makes the new file of them.
///
/// ```
/// # #[cfg(feature = "sample")]
/// # fn main() -> assetq::Result<()> {
/// use assetq::edit::{Change, Edit, Editor};
/// use assetq::write::atomic_file::Overwrite;
/// use assetq::{Asset, Source, sample};
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
/// # #[cfg(not(feature = "sample"))]
/// # fn main() {}
/// ```
pub struct Editor<'a> {
    asset: &'a Asset,
    writable: &'a dyn Writable,
    options: Options,
    tables: Vec<Resolved<'a>>,
    /// The file with the edits of the table that decides by which keys rows of others are known, once they were asked for.
    known: Option<Asset>,
    main: Option<String>,
    /// The whole file, where the format writes it itself.
    pieces: Option<Pieces>,
    /// An entry, and what is to be shown of it.
    shown: Option<(String, Value<'static>)>,
    restored: Option<u64>,
    done: u64,
    held: u64,
    left_out: Vec<String>,
    /// A derived cell that was asked to be another.
    derived: Option<String>,
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

    /// As [`Editor::new`], for a file that was opened with more than itself to go by.
    pub fn with_options(asset: &'a Asset, options: &Options) -> Result<Self> {
        let format = asset.format();
        let writable = asset.reader().writable();
        let writable = writable.ok_or_else(|| refused(format!("{format} files are read and not written")))?;
        Ok(Self {
            asset,
            writable,
            options: options.clone(),
            tables: Vec::new(),
            known: None,
            main: None,
            pieces: None,
            shown: None,
            restored: None,
            done: 0,
            held: 0,
            left_out: Vec::new(),
            derived: None,
        })
    }

    /// Bytes of the file.
    pub(super) fn size(&self) -> usize {
        self.asset.source().bytes().len()
    }

    /// The number of the table called `name`, or of the main one.
    fn table(&mut self, name: Option<&str>) -> Result<usize> {
        let name = match (name, &self.main) {
            (Some(name), _) => name.to_owned(),
            (None, Some(main)) => main.clone(),
            (None, None) => {
                let tables = self.asset.reader().tables();
                let main = tables.first().map(|table| table.name().to_owned()).unwrap_or_default();
                self.main.insert(main).clone()
            }
        };
        if let Some(at) = self.tables.iter().position(|table| table.table.name() == name) {
            return Ok(at);
        }
        let reader = self.asset.reader();
        let table = reader.table(&name).ok_or_else(|| refused(suggest::no_table(reader, &name)))?;
        self.tables.push(Resolved::new(table));
        Ok(self.tables.len().saturating_sub(1))
    }

    fn resolved(&mut self, name: Option<&str>) -> Result<&mut Resolved<'a>> {
        let at = self.table(name)?;
        self.tables.get_mut(at).ok_or_else(|| refused("no table"))
    }

    /// A table whose rows are asked for by their keys: those that they have behind the edits of the table that decides it.
    fn keyed(&mut self, name: Option<&str>) -> Result<&mut Resolved<'a>> {
        let at = self.table(name)?;
        let is_keying =
            self.tables.get(at).is_some_and(|resolved| self.writable.keying() == Some(resolved.table.name()));
        if is_keying && let Some(keying) = self.writable.keying().filter(|_| self.known.is_some()) {
            let what = format!("rows of {keying} come before those of the tables whose rows are known by them");
            return Err(refused(what));
        }
        let known = if is_keying { None } else { self.known()? };
        let resolved = self.tables.get_mut(at).ok_or_else(|| refused("no table"))?;
        known.iter().for_each(|known| resolved.know(known));
        Ok(resolved)
    }

    /// The file whose keys rows are known by from now on; `None` where no edit makes them others.
    ///
    /// # Errors
    /// When the edits that decide it cannot be made.
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
            self.known = Some(with_edits(self.asset, self.writable, &self.options, &[edits])?);
        }
        Ok(self.known.clone())
    }

    /// The edits of a table that cannot be made, next to the edits of the table by whose rows others are known: their
    /// numbers, in order, and why. Takes none of them. There may be more of them once these are left out.
    ///
    /// # Errors
    /// Why one of them cannot, where it does not show which.
    pub(super) fn refusals(&mut self, table: &str, edits: impl Iterator<Item = Edit>) -> Result<Vec<(usize, Error)>> {
        let wanted = self.asset.reader().table(table).ok_or_else(|| refused(format!("no table {table:?}")))?;
        let mut resolved = Resolved::new(wanted);
        let known = if self.writable.keying() == Some(table) { None } else { self.known()? };
        let by_keys = known.as_ref().and_then(|known| known.reader().table(table));
        let (mut places, mut found) = (HashMap::new(), Vec::new());
        for (number, edit) in edits.enumerate() {
            match resolved.edit(edit, From::Typed, by_keys.as_deref()) {
                Ok(Outcome::LeftOut(why)) => found.push((number, refused(why))),
                Ok(Outcome::Done) => places.extend(resolved.last.take().map(|at| (at, number))),
                Ok(Outcome::Held) => {}
                Err(error) => found.push((number, error)),
            }
        }
        let edits = resolved.finish();
        if !found.is_empty() || edits.is_empty() {
            return Ok(found);
        }
        for (at, error) in self.writable.refusals(&edits)? {
            match places.get(&at) {
                Some(number) => found.push((*number, error)),
                None => return Err(error),
            }
        }
        found.sort_by_key(|(number, _)| *number);
        Ok(found)
    }

    fn note(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done => self.done = self.done.saturating_add(1),
            Outcome::Held => self.held = self.held.saturating_add(1),
            Outcome::LeftOut(why) => self.left_out.push(why.clone()),
        }
    }

    /// Takes an edit.
    ///
    /// # Errors
    /// `Syntax` where it is wrong usage: a column that is derived, a value that does not fit, a second edit of one cell.
    /// The damage in the row.
    pub fn edit(&mut self, edit: Edit) -> Result<Outcome> {
        let table = edit.table.clone();
        let outcome = edited(self.keyed(table.as_deref())?, edit, None)?;
        self.note(&outcome);
        Ok(outcome)
    }

    /// Takes many edits, in order, each as [`Editor::edit`] does.
    ///
    /// # Errors
    /// As [`Editor::edit`], of the first that fails.
    pub fn edits(&mut self, edits: impl IntoIterator<Item = Edit>) -> Result<()> {
        let mut edits = edits.into_iter().peekable();
        while let Some(first) = edits.next() {
            let name = first.table.clone();
            self.keyed(name.as_deref())?;
            let at = self.table(name.as_deref())?;
            let known = self.known.clone();
            let Some(resolved) = self.tables.get_mut(at) else { return Err(refused("no table")) };
            // The table that has the keys is made once for all rows.
            let known = known.filter(|_| resolved.is_known());
            let by_keys = known.as_ref().and_then(|known| known.reader().table(resolved.table.name()));
            let mut outcomes = vec![edited(resolved, first, by_keys.as_deref())?];
            while let Some(next) = edits.next_if(|next| next.table == name) {
                outcomes.push(edited(resolved, next, by_keys.as_deref())?);
            }
            outcomes.iter().for_each(|outcome| self.note(outcome));
        }
        Ok(())
    }

    /// Checks that rows with these columns can be rows of a table: that it has one of them at least.
    ///
    /// # Errors
    /// `Syntax` if it has none.
    pub fn exported_columns(&mut self, table: Option<&str>, names: &[&str]) -> Result<()> {
        let table = &*self.resolved(table)?.table;
        if names.iter().any(|name| column_index(table, name).is_some()) {
            return Ok(());
        }
        let columns: Vec<&str> = table.columns().iter().map(|column| &*column.name).collect();
        let given = super::fit::short(&Value::text(&names.join(",")));
        Err(refused(format!("{given} names no column of {}; it has {}", table.name(), columns.join(", "))))
    }

    /// Takes a row as it was exported: cells by the names of columns, of which some may be left out. A row with a new key
    /// needs `insert`.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn exported(&mut self, table: Option<&str>, cells: Given<'_>, from: From, insert: bool) -> Result<Outcome> {
        let outcome = self.keyed(table)?.exported(cells, from, insert)?;
        self.note(&outcome);
        Ok(outcome)
    }

    /// Removes the rows that no exported row has named.
    ///
    /// # Errors
    /// `Syntax` where rows of the table cannot go.
    pub fn delete_missing(&mut self, table: Option<&str>) -> Result<()> {
        let gone = self.resolved(table)?.delete_missing()?;
        self.done = self.done.saturating_add(gone as u64);
        Ok(())
    }

    /// Makes one cell of a row another, by the numbers of row and column.
    ///
    /// # Errors
    /// As [`Editor::edit`].
    pub fn set_cell(&mut self, table: &str, row: usize, column: usize, value: Value<'static>) -> Result<Outcome> {
        let outcome = self.resolved(Some(table))?.set_cell(row, column, value)?;
        self.note(&outcome);
        Ok(outcome)
    }

    /// Takes edits that are resolved already: numbers of rows and columns, and values that fit, as [`check_cell`] gives them.
    ///
    /// # Errors
    /// `Syntax` for two edits of a row, and damage of one.
    ///
    /// [`check_cell`]: super::check_cell
    pub fn resolved_edits(&mut self, edits: TableEdits) -> Result<()> {
        let count = edits.set.len().saturating_add(edits.add.len()).saturating_add(edits.remove.len());
        self.resolved(Some(&edits.table.clone()))?.take(edits)?;
        self.done = self.done.saturating_add(count as u64);
        Ok(())
    }

    /// Makes `entry` what `new` is: the tree that `cat ENTRY -f json` shows, edited.
    ///
    /// # Errors
    /// As [`Editor::edit`], and `NotFound`.
    pub fn entry(&mut self, entry: &str, new: Value<'static>) -> Result<()> {
        match self.writable.entry(entry, &new)? {
            Some(EntryEdit::Pieces(pieces)) => {
                self.done = self.done.saturating_add(1);
                self.pieces = Some(pieces);
                Ok(())
            }
            Some(EntryEdit::Shown(pieces, shown)) => {
                self.done = self.done.saturating_add(1);
                self.pieces = Some(pieces);
                self.shown = Some((entry.to_owned(), shown));
                Ok(())
            }
            Some(EntryEdit::Edits(edits)) => edits.into_iter().try_for_each(|edit| self.edit(edit).map(drop)),
            None => {
                let Value::Map(cells) = new else { return Err(refused("an entry is an object of columns")) };
                let resolved = self.resolved(None)?;
                let table = &*resolved.table;
                let label = table.columns().get(table.label()).map(|column| column.name.clone());
                let at = label.as_deref().and_then(|name| column_index(table, name)).unwrap_or(0);
                let key = cells.iter().find(|(name, _)| Some(name) == label.as_ref()).map(|(_, key)| key.clone());
                let key = key.unwrap_or_else(|| Value::owned(entry.to_owned()));
                let known = table.find(at, &Value::text(entry)).transpose()?.is_none_or(|rows| !rows.is_empty());
                if !known {
                    let what = format!("entry {entry:?}");
                    return Err(Error::without_offset(ErrorKind::NotFound { what }, ""));
                }
                if key.as_text().as_deref() != Some(entry) {
                    return Err(refused(format!("the entry is {entry:?}, and its new form is of {key}")));
                }
                self.exported(None, cells, From::Typed, false).map(drop)
            }
        }
    }

    /// Takes the meshes of a binary glTF.
    ///
    /// # Errors
    /// As [`Writable::with_meshes`], and `Syntax` for a file that has no meshes.
    pub fn meshes(&mut self, glb: &[u8]) -> Result<()> {
        let format = self.asset.format();
        let pieces = self.writable.with_meshes(glb)?;
        let mut pieces = pieces.ok_or_else(|| refused(format!("{format} files take no meshes from glTF")))?;
        self.left_out.append(&mut pieces.left_out);
        self.pieces = Some(pieces);
        self.done = self.done.saturating_add(1);
        Ok(())
    }

    /// Takes what an undo file says of the bytes. `false` where the file is not the one that it was made for: the rows
    /// behind it are edits like any others then.
    ///
    /// # Errors
    /// `Syntax` for one that cannot be understood.
    pub fn restore(&mut self, restore: &Restore) -> Result<bool> {
        let bytes = self.asset.source().bytes();
        if bytes.len() as u64 != restore.old.size || xxh64(bytes, 0) != restore.old.content {
            return Ok(false);
        }
        let pieces = restore.pieces(bytes.len())?;
        self.pieces = Some(pieces);
        self.restored = Some(restore.new.content);
        self.done = self.done.saturating_add(1);
        Ok(true)
    }

    /// Whether the bytes are known already, so that edits need not be taken.
    pub fn is_restored(&self) -> bool {
        self.restored.is_some()
    }

    /// Edits that are made, those that the file has already, and those that are left out, each with the reason.
    pub fn summary(&self) -> (u64, u64, &[String]) {
        (self.done, self.held, &self.left_out)
    }

    /// The new file that the edits make.
    ///
    /// # Errors
    /// `Syntax` for edits that the format has no room for; damage in what they need.
    pub fn finish(self) -> Result<Plan<'a>> {
        let mut edits = Vec::new();
        let mut derived = self.derived;
        for mut resolved in self.tables {
            resolved.check_rows()?;
            derived = derived.or(resolved.derived.clone());
            let table = resolved.finish();
            if !table.is_empty() {
                edits.push(table);
            }
        }
        if let Some(what) = derived.filter(|_| edits.is_empty() && self.left_out.is_empty() && self.pieces.is_none()) {
            return Err(refused(what));
        }
        let mut pieces = match self.pieces {
            Some(_) if !edits.is_empty() && self.restored.is_none() => {
                return Err(refused("an entry and rows cannot be written at once"));
            }
            Some(pieces) => pieces,
            None if edits.is_empty() => Pieces::whole(self.asset.source().bytes().len()),
            None => {
                self.writable.settle(&mut edits)?;
                self.writable.write(&edits)?
            }
        };
        // Of a small file all is compared in no time.
        if self.asset.source().bytes().len() < SMALL {
            pieces.check = Check::All;
        }
        let by_rows = !edits.is_empty();
        Ok(Plan {
            asset: self.asset,
            options: self.options,
            edits,
            pieces,
            shown: self.shown,
            by_rows,
            restored: self.restored,
            outer: None,
        })
    }
}

/// Takes an edit. `known` is the table whose keys rows are known by, where it is at hand.
fn edited(resolved: &mut Resolved<'_>, edit: Edit, known: Option<&dyn Table>) -> Result<Outcome> {
    // Tables of which nothing can be written follow from others; what tools tell of them need not be done.
    let is_told = edit.old.is_some() || matches!(edit.change, super::Change::Add(_));
    let takes = |column: &crate::table::Column| column.takes != crate::table::Takes::Nothing;
    if is_told && !resolved.table.takes_rows() && !resolved.table.columns().iter().any(takes) {
        return Ok(Outcome::Held);
    }
    resolved.edit(edit, From::Typed, known)
}

/// A new file that is not written yet.
#[derive(Debug)]
pub struct Plan<'a> {
    asset: &'a Asset,
    options: Options,
    edits: Vec<TableEdits>,
    pieces: Pieces,
    shown: Option<(String, Value<'static>)>,
    by_rows: bool,
    restored: Option<u64>,
    outer: Option<(&'a Asset, String)>,
}

impl<'a> Plan<'a> {
    /// The edits of each table.
    pub fn edits(&self) -> &[TableEdits] {
        &self.edits
    }

    /// The new file, as yet without its seal.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Whether the new file has the bytes of the old one.
    pub fn is_same(&self) -> bool {
        self.pieces == Pieces::whole(self.file().source().bytes().len())
    }

    /// Whether the new file has these bytes, but for its seal.
    pub(super) fn makes(&self, bytes: &[u8]) -> bool {
        let seal = self.pieces.seal_range();
        let mut at = 0usize;
        let mut is_there = |slice: &[u8]| {
            let end = at.saturating_add(slice.len());
            let sealed = [seal.start, seal.end].map(|place| place.clamp(at, end).saturating_sub(at));
            let there = bytes.get(at..end);
            at = end;
            there.is_some_and(|there| {
                let alike = |part: Range<usize>| slice.get(part.clone()) == there.get(part);
                alike(0..sealed[0]) && alike(sealed[1]..slice.len())
            })
        };
        self.pieces.slices(self.asset.source().bytes(), 0).all(&mut is_there) && at == bytes.len()
    }

    /// The new file, in memory: to look at, not to keep.
    ///
    /// # Errors
    /// When the old file is damaged, or the new one cannot be opened.
    pub(super) fn asset(&self) -> Result<Asset> {
        let source = self.asset.source();
        let bytes = self.pieces.clone().with_seal(source)?.bytes(source.bytes());
        Asset::open_with(Source::from_vec(source.name(), bytes), &self.options)
    }

    /// The same for the file that holds the edited one as `inner`.
    ///
    /// # Errors
    /// `Syntax` where that is no file that can be written.
    pub fn within(self, outer: &'a Asset, inner: &str) -> Result<Self> {
        let format = outer.format();
        let writable = outer.reader().writable();
        let pieces = self.pieces.clone().with_seal(self.asset.source())?;
        let replaced = writable.map(|w| w.replaced(inner, pieces)).transpose()?.flatten();
        let pieces = replaced.ok_or_else(|| refused(format!("files in a {format} archive are not written")))?;
        Ok(Self { pieces, outer: Some((outer, inner.to_owned())), ..self })
    }

    /// The file that is written anew.
    fn file(&self) -> &'a Asset {
        self.outer.as_ref().map_or(self.asset, |(outer, _)| outer)
    }

    /// Writes the new file, reads it back, and compares it with the edits. It has no name yet: see [`Written::commit`].
    ///
    /// # Errors
    /// If it cannot be written, or differs from what was asked.
    pub fn write(&self, to: &Path, overwrite: Overwrite) -> Result<Written> {
        self.write_with(to, overwrite, &Progress::default())
    }

    /// As [`Plan::write`], and reports progress.
    pub fn write_with(&self, to: &Path, overwrite: Overwrite, progress: &Progress) -> Result<Written> {
        let cannot = |e| Error::io("cannot write", e);
        let mut file = AtomicFile::create(to, overwrite).map_err(cannot)?;
        if file.part_path().is_none() {
            return Err(refused(format!("{} is no file, so what is written there cannot be read back", to.display())));
        }
        let old = self.file().source();
        let copied = || copy::copy(&self.pieces, old, &mut file);
        let (copied, seal) = threads::join(copied, || self.pieces.made_seal(old));
        let seal = seal?;
        copied?;
        let mut pieces = Cow::Borrowed(&self.pieces);
        if let Some((range, bytes)) = seal {
            file.write_at(range.start as u64, &bytes).map_err(cannot)?;
            copy::read_back(&mut file, range.start, &[&bytes], &mut vec![0; bytes.len()])?;
            pieces = Cow::Owned(pieces.into_owned().sealed(range.start, &bytes));
        }
        file.flush().map_err(cannot)?;
        let source = self.options.source(file.part_path().unwrap_or(to))?;
        let written = self.compared(source, pieces.into_owned(), progress)?;
        Ok(Written { file: Some(file), ..written })
    }

    /// Makes the new file in memory and compares it as [`Plan::write_with`] does. [`Written::commit`] writes nothing then.
    ///
    /// # Errors
    /// As [`Plan::write`].
    pub fn preview(&self, progress: &Progress) -> Result<Written> {
        let old = self.file().source();
        let pieces = self.pieces.clone().with_seal(old)?;
        let source = Source::from_vec(old.name(), pieces.bytes(old.bytes()));
        self.compared(source, pieces, progress)
    }

    /// The new file in `source`, which `pieces` make, after its comparison with the edits.
    fn compared(&self, source: Source, pieces: Pieces, progress: &Progress) -> Result<Written> {
        let failed = |error: Error| error.within("read back");
        let old = self.file().source();
        let outer = Asset::open_with(source.named(old.name()), &self.options).map_err(failed)?;
        let new = match &self.outer {
            Some((_, inner)) => archive::open_inside(&outer, inner, &self.options).map_err(failed)?,
            None => outer.clone(),
        };
        if outer.source().bytes().len() != pieces.len() {
            return Err(check::failed(format!("it has {} bytes, not {}", outer.source().bytes().len(), pieces.len())));
        }
        if new.format() != self.asset.format() {
            return Err(check::failed(format!("it is a {} file now", new.format())));
        }
        match self.restored {
            Some(content) if xxh64(new.source().bytes(), 0) != content => {
                return Err(check::failed("it has other bytes than it had".to_owned()));
            }
            Some(_) => {}
            None if self.is_same() => {}
            None => {
                check::check(self.asset, &new, &self.edits, &pieces, self.by_rows, progress)?;
                if let Some((entry, shown)) = &self.shown {
                    check::entry(&new, entry, shown)?;
                }
                if self.pieces.check != Check::Rows || old.bytes().len() < LARGE {
                    check::verified(self.file(), &outer, progress)?;
                }
            }
        }
        Ok(Written { new, outer, pieces, file: None })
    }

    /// The pieces of an undo file, for a new file that was written.
    pub fn undo(&self, written: &Written) -> Restore {
        Restore::new(&written.pieces, self.file().source().bytes(), written.outer.source().bytes())
    }

    /// Whether rows of a table that no edit names may have become others. Of an edit in place, all that changed is the row.
    pub fn is_compared(&self, table: &str) -> bool {
        match self.pieces.check {
            Check::All => true,
            Check::Parts => self.pieces.also.iter().any(|also| also == table),
            Check::Rows => false,
        }
    }

    /// How the new file was compared.
    pub fn check(&self) -> Check {
        self.pieces.check
    }
}

/// A new file that has been written and compared, and has no name yet. It is removed if this is dropped.
#[derive(Debug)]
pub struct Written {
    new: Asset,
    outer: Asset,
    pieces: Pieces,
    /// `None` for a preview. Dropped last: Windows removes no file that is mapped.
    file: Option<AtomicFile>,
}

impl Written {
    /// The new file, or the edited file in it.
    pub fn asset(&self) -> &Asset {
        &self.new
    }

    /// Gives the file its name; of a preview, nothing is written.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn commit(self) -> Result<Asset> {
        if let Some(file) = self.file {
            file.commit().map_err(|e| Error::io("cannot write", e))?;
        }
        Ok(self.new)
    }
}

/// The file with these edits, in memory and without its seal: to look at, not to keep.
///
/// # Errors
/// As [`Writable::write`], and when what it makes cannot be opened.
pub(super) fn with_edits(
    asset: &Asset,
    writable: &dyn Writable,
    options: &Options,
    edits: &[TableEdits],
) -> Result<Asset> {
    let source = asset.source();
    let bytes = writable.write(edits)?.bytes(source.bytes());
    Asset::open_with(Source::from_vec(source.name(), bytes), options)
}

/// Bytes up to which a file is small.
const SMALL: usize = 1 << 20;

/// Bytes from which on a file is large.
const LARGE: usize = 16 << 20;

/// The cells of a row that can be written, with stored values: what a patch tells of a row that comes or goes.
///
/// # Errors
/// When one is damaged.
pub(super) fn stored(table: &dyn crate::table::Table, row: usize, keys: bool) -> Result<Cells> {
    let mut cells = Cells::new();
    for (at, column) in table.columns().iter().enumerate() {
        use crate::table::{Role, Takes};
        let is_key = column.role == Role::Key;
        if matches!(column.takes, Takes::Nothing | Takes::Path | Takes::Name) || is_key != keys {
            continue;
        }
        cells.push((column.name.clone(), table.value(row, at)?.into_owned()));
    }
    Ok(cells)
}

#[cfg(all(test, feature = "sample"))]
mod tests {
    use super::super::Seal;
    use super::*;
    use crate::sample::wdb::{Cell, Game, Sheet};

    /// Wherever its parts end, a plan makes the bytes of its pieces, whose seal may be any, and no others.
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
            let plan = Plan {
                asset: &asset,
                options: Options::default(),
                edits: Vec::new(),
                pieces,
                shown: None,
                by_rows: false,
                restored: None,
                outer: None,
            };
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
