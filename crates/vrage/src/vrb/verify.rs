//! Checks everything: checksums, sizes, tables used up, every reference, every chunk to its last byte.

use super::graph::Inferred;
use super::part::ArchivePart;
use super::types::TypeModel;
use super::{ArchiveHeader, Chunk, VrbArchive};
use crate::error::{Error, ErrorKind, Result};
use crate::report::{Check, Progress, Report, counted};
use crate::threads::{self, prelude::*};

/// Checks `archive`; chunks are checked in parallel. Chunks that `old` has, too, are skipped.
pub(super) fn verify(archive: &VrbArchive, old: Option<&VrbArchive>, progress: &Progress) -> Report {
    let mut header = Check::new("header");
    header.note(archive.check_header());
    header.note(check_reserved(archive));
    let mut checks = vec![header];

    let [bundle_table, type_table, chunk_table] = archive.tables_of_contents();
    let mut bundles = check_part(archive, "bundle table", bundle_table);
    if let Some(found) = bundles.note(archive.bundles()) {
        bundles.detail = counted(found.len(), "bundle");
    }
    checks.push(bundles);

    let mut types = check_part(archive, "type table", type_table);
    let model = types.note(archive.types());
    if let Some(model) = model {
        types.detail = format!("{}, {}", counted(model.types().len(), "type"), counted(model.models().len(), "model"));
        check_models(model, &mut types);
    }
    checks.push(types);

    let mut table = Check::new("chunk table");
    let unused = archive.header().chunk_count.get() == 0;
    if !unused {
        table = check_part(archive, "chunk table", chunk_table);
    }
    table.note(check_unused(archive, chunk_table, unused));
    let (chunks, listed) = archive.known_chunks();
    if table.note(listed).is_some() {
        table.detail = format!("{} extra chunks", chunks.len().saturating_sub(1));
        if chunks.len() > 1 {
            table.detail.push_str(", read by a layout that no known file confirms");
        }
    }
    checks.push(table);
    checks.push(check_space(archive, &chunks));
    let mut checked = chunks;
    if let Some(old) = old.filter(|old| old.has_types_of(archive).unwrap_or(false)) {
        // Edits keep the chunks in order.
        let mut known = old.known_chunks().0.into_iter();
        checked.retain(|chunk| !known.next().is_some_and(|known| known.is_stored_as(chunk)));
        // The edits are shown next.
        checked.iter().for_each(|chunk| drop(chunk.data()));
    }
    checks.extend(check_chunks(&checked, model.is_some(), progress));
    Report { checks }
}

/// Checks the stored bytes of a part: padding, place and checksum.
fn check_part(archive: &VrbArchive, name: &'static str, part: &ArchivePart) -> Check {
    let mut check = Check::new(name);
    check.note(part.check_padding());
    check.note(part.check_checksum(archive.source()));
    check
}

fn check_reserved(archive: &VrbArchive) -> Result<()> {
    match archive.header().reserved.iter().find(|byte| **byte != 0) {
        None => Ok(()),
        Some(byte) => Err(archive.source().view("header").locate(byte).bad_value("reserved byte", *byte)),
    }
}

/// Checks that the entry of a chunk table that is not there is all zero.
fn check_unused(archive: &VrbArchive, part: &ArchivePart, unused: bool) -> Result<()> {
    let entry = part.entry();
    let zero = [entry.offset.get(), entry.entry_size.get(), entry.uncompressed_size.get()] == [0; 3]
        && entry.checksum.get() == 0
        && entry.compression_type == 0;
    if !unused || zero {
        return part.check_padding();
    }
    let view = archive.source().view("header").locate(&archive.header().chunk_table);
    Err(view.error(ErrorKind::damaged("there are no extra chunks, but a chunk table")))
}

fn check_models(types: &TypeModel, check: &mut Check) {
    for id in &types.recursive {
        let at = types.model(*id).map_or(0, |m| m.at as u64);
        let error = Error::new(ErrorKind::Cycle { at: id.0.into() }, id.to_string(), at);
        check.fail(error.context("type table, decompressed: a value that holds a value of its own kind"));
    }
}

/// Checks that header, tables and chunks fill the file without gap or overlap, as in every known file.
fn check_space(archive: &VrbArchive, chunks: &[Chunk<'_>]) -> Check {
    let mut check = Check::new("space");
    let length = archive.source().bytes().len() as u64;
    let parts = archive.tables_of_contents().into_iter().chain(chunks.iter().map(Chunk::part));
    let mut ranges: Vec<(u64, u64, &str)> =
        parts.filter_map(|p| p.range().filter(|(start, end)| start < end).map(|(s, e)| (s, e, p.label()))).collect();
    ranges.sort_unstable();
    let mut end = size_of::<ArchiveHeader>() as u64;
    for (start, stop, label) in ranges {
        if start != end {
            check.fail(misplaced(end, start, label));
        }
        end = end.max(stop);
    }
    if end < length {
        check.fail(misplaced(end, length, "end of the file"));
    }
    check.with_detail(format!("{length} bytes"))
}

/// The error of a part that begins at `start`, if the part before it ends at `end`.
fn misplaced(end: u64, start: u64, part: &str) -> Error {
    let what = if end < start {
        format!("{} bytes before it belong to nothing", start.saturating_sub(end))
    } else {
        format!("begins {} bytes before the end of what comes before it", end.saturating_sub(start))
    };
    Error::new(ErrorKind::Damaged { what: what.into() }, part.to_owned(), start)
}

fn chunk_checks() -> (Check, Check) {
    (Check::new("chunk checksums"), Check::new("chunk values"))
}

fn check_chunks(chunks: &[Chunk<'_>], types: bool, progress: &Progress) -> [Check; 2] {
    progress.announce(chunks.iter().map(|chunk| chunk.part().stored_size()).fold(0, u64::saturating_add));
    let results: Vec<_> = chunks
        .par_iter()
        .map(|chunk| {
            let (mut sums, mut values) = chunk_checks();
            let (sum, walked) = threads::join(|| chunk.check_checksum(), || check_values(chunk, types));
            sums.note(chunk.part().check_padding());
            sums.note(sum);
            let walked = values.note(walked);
            progress.advance(chunk.part().stored_size());
            (sums, values, walked.flatten())
        })
        .collect();
    let (mut bytes, mut inferred) = (0u64, Inferred::default());
    let (mut sums, mut values) = chunk_checks();
    for (own_sums, own_values, walked) in results {
        (sums, values) = (sums.merge(own_sums), values.merge(own_values));
        if let Some((length, rules)) = walked {
            bytes = bytes.saturating_add(length);
            inferred.add(rules);
        }
    }
    values.detail = match inferred.describe() {
        _ if !types => "not read: the type table is damaged".into(),
        None => format!("{bytes} bytes used up"),
        Some(rules) => format!("{bytes} bytes used up, {rules}"),
    };
    [sums.with_detail(counted(chunks.len(), "chunk")), values]
}

/// The values of all readable chunks that are read by rules which no known file confirms.
pub(super) fn inferred(archive: &VrbArchive) -> Inferred {
    let (chunks, _) = archive.known_chunks();
    let found: Vec<_> = chunks.par_iter().filter_map(|chunk| check_values(chunk, true).ok().flatten()).collect();
    let mut all = Inferred::default();
    found.into_iter().for_each(|(_, rules)| all.add(rules));
    all
}

/// Checks that all values can be read.
pub(super) fn check_all_values(archive: &VrbArchive) -> Result<()> {
    archive.chunks()?.par_iter().try_for_each(|chunk| check_values(chunk, true).map(drop))
}

/// Decodes a chunk and walks it to its last byte. Returns its length, and the unconfirmed rules that were followed. Without
/// types, nothing is known about the values, and the chunk is only decoded.
fn check_values(chunk: &Chunk<'_>, types: bool) -> Result<Option<(u64, Inferred)>> {
    chunk.check_alone()?;
    let decoded;
    let data = match chunk.part().kept() {
        Some(kept) => kept,
        None => {
            // Not kept: a chunk is read once, and all chunks together may exceed the memory.
            decoded = chunk.decode()?;
            &decoded
        }
    };
    if !types {
        return Ok(None);
    }
    let mut walker = chunk.root_in(data)?.walk();
    walker.check()?;
    walker.expect_end()?;
    Ok(Some((data.bytes().len() as u64, walker.inferred)))
}
