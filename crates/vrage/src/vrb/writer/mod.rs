//! Edits of archives: values set, inserted and deleted, chunks encoded with their old compression, and the derived sizes, offsets and
//! checksums. Unedited parts keep their bytes.

mod compare;
mod encode;
mod merge;
mod rows;

use super::layout::ArchiveHeader;
use super::part::{ArchivePart, Compression};
use super::values::{Values, column};
use super::{Chunk, ChunkArchiveEntry, MAGIC, VrbArchive, verify};
use crate::codec;
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table as _, Value};
use crate::threads;
use crate::writable::{
    ColumnValues, EditPosition, EntryEdit, Pieces, ReadBack, TableEdits, Writable, cell, no_entry, refused, short,
    short_text,
};
use encode::Encoder;
use rows::{Adds, RowEdits};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use zerocopy::IntoBytes as _;

const HEADER: usize = size_of::<ArchiveHeader>();

/// The limit of encodings of the chunk table while its own size moves the chunks that it lists.
const ROUNDS: usize = 16;

/// The chunk and the path of an inserted row.
fn place_of(cells: &ColumnValues) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let chunk = cell(cells, column::CHUNK).and_then(Value::as_text);
    Some((chunk.unwrap_or(super::MAIN.into()), cell(cells, column::PATH)?.as_text()?))
}

impl Writable for VrbArchive {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        if let Some(other) = edits.iter().find(|edits| edits.table != "values") {
            return Err(refused(format!("rows of {} follow from the rows of values: edit values", other.table)));
        }
        let Some(edits) = edits.first() else { return Ok(Pieces::whole(self.source.bytes().len())) };
        let adds = self.adds(edits, &mut |_, error| Err(error))?;
        let mut rows = RowEdits::new(edits);
        let mut pieces = self.rebuilt(self.applied(&mut rows, adds)?)?;
        if edits.add.is_empty() && edits.remove.is_empty() {
            pieces.read_back = ReadBack::Parts;
        }
        if !edits.add.is_empty() {
            pieces.added = vec![("values".into(), self.rows_of(&edits.add, &pieces)?)];
        }
        if rows.shifted {
            // Items that moved up have other rows now.
            pieces.vouched.push("values".into());
        }
        Ok(pieces)
    }

    /// Applies the edits without encoding, which would take a hundred times as long.
    fn refusals(&self, edits: &TableEdits) -> Result<Vec<(EditPosition, Error)>> {
        if edits.table != "values" {
            return self.write(std::slice::from_ref(edits)).map(|_| Vec::new());
        }
        let mut found = Vec::new();
        let adds = self.adds(edits, &mut |at, error| {
            found.push((at, error));
            Ok(())
        })?;
        if found.is_empty() {
            let mut rows = RowEdits::new(edits);
            rows.refused = Some(Vec::new());
            for (chunk, _) in self.applied(&mut rows, adds)? {
                self.check_whole(&chunk)?;
            }
            found = rows.refused.expect("refused rows are noted");
        }
        Ok(found)
    }

    fn compare(&self, new: &dyn Any, edits: &TableEdits) -> Result<bool> {
        new.downcast_ref().map_or(Ok(false), |new| compare::compare(self, new, edits))
    }

    fn verify_edited(&self, old: &dyn Any, progress: &Progress) -> Option<Report> {
        Some(verify::verify(self, Some(old.downcast_ref()?), progress))
    }

    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let Some((chunk, node)) = self.find(entry)? else { return Err(no_entry(entry)) };
        self.check_whole(&chunk)?;
        let mut out = self.encoder(&chunk)?;
        let mut walker = node.walk();
        out.merge(&mut walker, new)?;
        let (head, tail) = (0..node.position(), walker.position()..walker.data.len());
        let data = [walker.bytes(head), &out.out, walker.bytes(tail)].concat();
        let written = Source::from_vec(chunk.part().label(), data);
        let mut again = self.encoder(&chunk)?;
        again.trial = true;
        if again.merge(&mut node.moved_to(&written).walk(), new).is_err() {
            let what = format!("what was written of {} does not read as what was asked", short_text(entry));
            return Err(Error::of_part(ErrorKind::Damaged { what: what.into() }, "read back"));
        }
        self.rebuilt(vec![(chunk, written)]).map(EntryEdit::Pieces).map(Some)
    }
}

impl VrbArchive {
    fn encoder<'a>(&'a self, chunk: &Chunk<'_>) -> Result<Encoder<'a>> {
        let types = self.types()?;
        let name = format!("values: {}", chunk.name());
        Ok(Encoder::new(types, &name, self.options.limits.depth, self.text_limit()))
    }

    /// The inserted rows by chunk. `refuse` gets each row that cannot be changed or inserted so.
    fn adds(
        &self,
        edits: &TableEdits,
        refuse: &mut dyn FnMut(EditPosition, Error) -> Result<()>,
    ) -> Result<HashMap<String, Adds>> {
        for (row, cells) in &edits.set {
            let place = [("path", column::PATH), ("chunk", column::CHUNK)];
            if let Some((name, to)) = place.into_iter().find_map(|(name, at)| Some((name, cell(cells, at)?))) {
                let why = "a value stays where it is: remove it there and add it here";
                let what = format!("values: row {row}: column {name}: {} does not fit: {why}", short(to));
                refuse(EditPosition::Set(*row), refused(what))?;
            }
        }
        let mut adds: HashMap<String, Adds> = HashMap::new();
        for (number, cells) in edits.add.iter().enumerate() {
            let added = match place_of(cells) {
                Some((chunk, path)) => {
                    adds.entry(chunk.into_owned()).or_default().add(&path, cells, self.options.limits.depth)
                }
                None => Err(refused("values: a row that is added has no path")),
            };
            added.or_else(|error| refuse(EditPosition::Add(number), error))?;
        }
        Ok(adds)
    }

    /// The chunks that these rows change, and their new bytes.
    fn applied(&self, rows: &mut RowEdits<'_>, mut adds: HashMap<String, Adds>) -> Result<Vec<(Chunk<'_>, Source)>> {
        let mut changed = Vec::new();
        for chunk in self.chunks()? {
            let added = adds.remove(chunk.name());
            if added.is_none() && !rows.are_left() {
                if adds.is_empty() {
                    break;
                }
                continue;
            }
            let root = chunk.root()?;
            let mut walker = root.walk();
            if added.is_none()
                && let Some(leaves) = walker.pass(rows.ahead())?
            {
                rows.pass(leaves);
                continue;
            }
            let mut out = self.encoder(&chunk)?;
            out.out.reserve(walker.data.len());
            out.lenient = true;
            let tally = out.apply(&mut walker, rows, added.as_ref())?;
            walker.expect_end()?;
            if tally.gone() {
                rows.refuse(tally, out.refuse("all rows of a chunk would go; it holds one value, which cannot"))?;
            }
            if out.out != walker.data {
                changed.push((chunk, Source::from_vec(chunk.part().label(), out.out)));
            }
        }
        if let Some(name) = adds.keys().next() {
            return Err(refused(format!(
                "values: chunk {} is not there; `assetq ls FILE` shows those that are",
                short_text(name)
            )));
        }
        Ok(changed)
    }

    /// The numbers of the inserted rows in the new archive.
    fn rows_of(&self, added: &[ColumnValues], pieces: &Pieces) -> Result<Vec<usize>> {
        let bytes = pieces.bytes(self.source.bytes());
        let new = Self::open_with(Source::from_vec(self.source.name(), bytes), self.options)?;
        // Base classes may have members of one name, so that a path may occur more than once.
        let mut wanted: HashMap<Cow<'_, str>, HashMap<Cow<'_, str>, Vec<usize>>> = HashMap::new();
        for (at, cells) in added.iter().enumerate().rev() {
            let (chunk, path) = place_of(cells).expect("other rows are refused");
            wanted.entry(chunk).or_default().entry(path).or_default().push(at);
        }
        let mut rows = vec![usize::MAX; added.len()];
        let table = Values::new(&new);
        let mut cursor = table.cursor_over(0, None);
        while cursor.advance()? {
            let (path, chunk) = (cursor.value(column::PATH)?, cursor.value(column::CHUNK)?);
            let (Some(path), Some(chunk)) = (path.as_text(), chunk.as_text()) else { continue };
            let found = wanted.get_mut(&*chunk).and_then(|paths| paths.get_mut(&*path)).and_then(Vec::pop);
            if let Some(row) = found.and_then(|at| rows.get_mut(at)) {
                *row = cursor.row();
            }
        }
        Ok(rows)
    }

    /// Checks, once, that an edited chunk is not damaged: a new checksum would hide the damage.
    fn check_whole(&self, chunk: &Chunk<'_>) -> Result<()> {
        let check = || {
            self.check_header()?;
            chunk.check_alone()?;
            self.type_table.check_checksum(&self.source)?;
            chunk.check_checksum()?;
            let mut walker = chunk.root()?.walk();
            walker.check()?;
            walker.expect_end()
        };
        chunk.chunk.whole.get_or_try_init(check).copied()
    }

    /// The archive with the decoded bytes of some chunks replaced.
    fn rebuilt(&self, mut changed: Vec<(Chunk<'_>, Source)>) -> Result<Pieces> {
        let length = self.source.bytes().len();
        changed.retain(|(chunk, data)| chunk.data().map_or(true, |old| old.bytes() != data.bytes()));
        if changed.is_empty() {
            return Ok(Pieces::whole(length));
        }
        let chunks = self.chunks()?;
        let mut layout = Layout::new(self, &chunks)?;
        for (chunk, data) in &changed {
            let (checked, stored) = threads::join(
                || self.check_whole(chunk).and_then(|()| self.check_written(chunk, data)),
                || encoded(chunk.part(), &self.source, data.bytes()),
            );
            checked?;
            layout.replace(chunk.part(), stored?, data.bytes().len());
        }
        if chunks.len() > 1 {
            layout.list_chunks(self, &chunks)?;
        }
        let header = layout.header(self)?;
        let mut pieces = Pieces::replaced(length, std::iter::once((0..HEADER, header)).chain(layout.stretches()))?;
        pieces.also = vec!["chunks".into()];
        Ok(pieces)
    }

    /// Reads what was written for a chunk to its end.
    fn check_written(&self, chunk: &Chunk<'_>, data: &Source) -> Result<()> {
        let mut walker = chunk.root_in(data)?.walk();
        walker.check()?;
        walker.expect_end()
    }
}

/// `data` with the compression that `part` has.
fn encoded(part: &ArchivePart, file: &Source, data: &[u8]) -> Result<Vec<u8>> {
    let compressed = match part.compression()? {
        Compression::None => Ok(data.to_vec()),
        Compression::Zlib => codec::to_zlib(data, codec::is_wrapped(part.stored(file)?.bytes())),
        Compression::Brotli => codec::to_brotli_on_all_cores(data),
    };
    compressed.map_err(|error| Error::io("cannot compress", error))
}

/// A part of the file that is being laid out.
struct PartRange {
    range: Range<usize>,
    /// The part's new bytes, and their number when decoded.
    new: Option<(Vec<u8>, usize)>,
}

/// The positions of the parts of the new file.
struct Layout {
    /// By their old places.
    places: Vec<PartRange>,
}

/// The range of a part's stored bytes.
fn range(part: &ArchivePart) -> Option<Range<usize>> {
    let (start, end) = part.range()?;
    Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

impl Layout {
    fn new(archive: &VrbArchive, chunks: &[Chunk<'_>]) -> Result<Self> {
        let parts = archive.tables_of_contents().into_iter().chain(chunks.iter().map(Chunk::part));
        let mut places: Vec<PartRange> = parts
            .filter_map(range)
            .filter(|range| !range.is_empty())
            .map(|range| PartRange { range, new: None })
            .collect();
        places.sort_by_key(|place| place.range.start);
        let mut end = HEADER;
        for place in &places {
            if place.range.start < end || place.range.end > archive.source.bytes().len() {
                let what = "parts of the archive overlap, so that none can be rewritten".into();
                return Err(Error::new(ErrorKind::Damaged { what }, "archive", place.range.start as u64));
            }
            end = place.range.end;
        }
        Ok(Self { places })
    }

    /// Replaces the stored bytes of a part. Returns whether they are what they were replaced by before.
    fn replace(&mut self, part: &ArchivePart, stored: Vec<u8>, size: usize) -> bool {
        let range = range(part);
        let place = self.places.iter_mut().find(|place| Some(&place.range) == range.as_ref());
        let Some(place) = place else { return false };
        let before = place.new.replace((stored, size));
        before.is_some() && before == place.new
    }

    /// The entry of a part at its new position.
    fn entry(&self, part: &ArchivePart) -> Result<super::ArchiveEntry> {
        let mut entry = *part.entry();
        let Some(range) = range(part).filter(|range| !range.is_empty()) else { return Ok(entry) };
        let mut at = range.start;
        for place in &self.places {
            if place.range.start >= range.start {
                break;
            }
            if let Some((stored, _)) = &place.new {
                at = at.saturating_add(stored.len()).saturating_sub(place.range.len());
            }
        }
        entry.offset.set(number(at)?);
        let new = self.places.iter().find(|place| place.range == range).and_then(|place| place.new.as_ref());
        if let Some((stored, size)) = new {
            entry.checksum.set(codec::xxh64(stored, MAGIC.into()));
            entry.entry_size.set(number(stored.len())?);
            entry.uncompressed_size.set(number(*size)?);
        }
        Ok(entry)
    }

    /// Writes the chunk table, whose own size may move the chunks that it lists.
    fn list_chunks(&mut self, archive: &VrbArchive, chunks: &[Chunk<'_>]) -> Result<()> {
        archive.chunk_table.check_checksum(&archive.source)?;
        let source = archive.data(&archive.chunk_table)?;
        let (old, origin) = (source.bytes(), source.view("chunks").offset());
        for _ in 0..ROUNDS {
            let mut table = old.to_vec();
            for chunk in chunks.iter().skip(1) {
                let root_type = chunk.chunk.root.into();
                let entry = ChunkArchiveEntry { entry: self.entry(chunk.part())?, root_type };
                let at = usize::try_from(chunk.chunk.part.place.0.saturating_sub(origin)).ok();
                let bytes = at.and_then(|at| table.get_mut(at..at.checked_add(size_of::<ChunkArchiveEntry>())?));
                let Some(bytes) = bytes else {
                    let what = "an entry of the chunk table is not where it was read".into();
                    return Err(Error::of_part(ErrorKind::Damaged { what }, "chunk table"));
                };
                bytes.copy_from_slice(entry.as_bytes());
            }
            if table == old {
                return Ok(());
            }
            let stored = encoded(&archive.chunk_table, &archive.source, &table)?;
            if self.replace(&archive.chunk_table, stored, table.len()) {
                return Ok(());
            }
        }
        let what = "a compressed chunk table that lies before its chunks, and whose size changes as they move,".into();
        Err(Error::of_part(ErrorKind::Unsupported { what }, "chunk table"))
    }

    fn header(&self, archive: &VrbArchive) -> Result<Vec<u8>> {
        let mut header = *archive.header();
        header.bundle_table = self.entry(&archive.bundle_table)?;
        header.type_table = self.entry(&archive.type_table)?;
        header.chunk_table = self.entry(&archive.chunk_table)?;
        header.main_chunk.entry = self.entry(&archive.main.part)?;
        header.checksum.set(header.computed_checksum());
        Ok(header.as_bytes().to_vec())
    }

    fn stretches(self) -> impl Iterator<Item = (Range<usize>, Vec<u8>)> {
        self.places.into_iter().filter_map(|place| Some((place.range, place.new?.0)))
    }
}

/// An offset or a size of an entry.
fn number(n: usize) -> Result<i64> {
    i64::try_from(n).map_err(|_| refused("the archive would be larger than its offsets can say"))
}
