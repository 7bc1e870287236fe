//! A new file that edits make: what it has of the old one, its comparison with the edits, and its undo.

use super::restore::Restore;
use super::{Cells, Pieces, Reached, ReadBack, TableEdits, check, copy, patch, refused};
use crate::archive;
use crate::asset::{Asset, Format};
use crate::atomic_file::{AtomicFile, Overwrite, is_stream};
use crate::codec::xxh64;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::report::Progress;
use crate::source::Source;
use crate::table::Value;
use crate::threads;
use crate::writable::differs;
use crate::write::cannot_write;
use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

/// An edited entry that is a row, and the cells that it must have.
#[derive(Debug)]
pub(super) struct RowShown {
    pub(super) table: String,
    pub(super) row: usize,
    pub(super) cells: Cells,
}

/// A new file that is not written yet.
#[derive(Debug)]
pub struct EditPlan<'a> {
    asset: &'a Asset,
    options: Options,
    pub(super) edits: Vec<TableEdits>,
    pieces: Pieces,
    pub(super) shown: Option<(String, Value<'static>)>,
    pub(super) row_shown: Option<RowShown>,
    pub(super) restored: Option<u64>,
    /// Whether steps made the file. The edits are then the edited tables alone.
    pub(super) is_stepped: bool,
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
    pub(super) fn new(asset: &'a Asset, options: Options, pieces: Pieces) -> Self {
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
    pub(super) fn within(self, outer: Option<(&'a Asset, String)>, is_outer: bool) -> Result<Self> {
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
        new.reader().writable()?.reached(self.asset.reader(), &changed)
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
            // Cells that other rows decide follow from the rows.
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

    /// A file that was not written as planned is an error, and nothing is kept.
    #[test]
    fn a_new_file_with_other_bytes_than_planned_is_refused() {
        let sheet = |names: &[&str]| {
            let sheet = Sheet::new(Game::Later, "Items").fields(["u9Index"]);
            names.iter().fold(sheet, |sheet, name| sheet.record(name, [Cell::Int(1)])).build()
        };
        let (bytes, longer) = (sheet(&["a"]), sheet(&["a", "b"]));
        let asset = Asset::open(Source::from_vec("items.wdb", bytes.clone())).unwrap();
        let pieces = || Pieces::replaced(bytes.len(), vec![]).unwrap();
        let mut plan = EditPlan::new(&asset, Options::default(), pieces());
        let refused = |plan: &EditPlan, bytes: &[u8]| {
            let source = Source::from_vec("items.wdb", bytes.to_vec());
            plan.compared(source, pieces(), &Progress::default()).err().map(|error| error.to_string())
        };
        assert_eq!(refused(&plan, &bytes), None);
        let said = refused(&plan, &longer).unwrap();
        assert!(said.contains(&format!("it has {} bytes, not {}", longer.len(), bytes.len())), "{said}");
        plan.restored = Some(xxh64(&longer, 0));
        let said = refused(&plan, &bytes).unwrap();
        assert!(said.contains("it has other bytes than it had"), "{said}");
    }
}
