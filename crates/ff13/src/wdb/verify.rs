//! Walks everything of a sheet or a pack and lists what is wrong.

use super::directory::{damaged, entry_view, name_key};
use super::layout::{WdbEntry, WdbHeader};
use super::pack::Pack;
use super::sections::{self, MAX_TEXT, Sections, bits};
use super::{FieldKind, Naming, Sheet, SheetField, SheetRecord};
use crate::error::ErrorKind;
use crate::report::{Check, Progress, Report, counted};
use crate::source::Source;
use crate::threads::prelude::*;
use std::mem::offset_of;
use std::ops::Range;

/// The number of records in a worker's share.
const CHUNK: usize = 4096;

/// The size of words and numbers of a section, by its name.
const UNITS: [(&str, usize); 9] = [
    (sections::ARRAY, 4),
    (sections::ARRAY_INFO, 4),
    (sections::ARRAY_LIST, 4),
    (sections::KINDS, 4),
    (sections::TYPES, 4),
    (sections::VERSION, 4),
    (sections::NAME_COUNT, 4),
    (sections::KINDS_BYTES, 1),
    (sections::NAMES, 1),
];

pub(super) fn sheet(sheet: &Sheet, progress: &Progress) -> Report {
    let records = sheet.records();
    progress.announce(records.len() as u64);
    let entries = entries(&sheet.source, sheet.entries, |index| index >= sheet.sections);
    let checks =
        vec![header(&sheet.source), entries, sections(sheet), fields(sheet), texts(sheet), cells(sheet, progress)];
    Report { checks }
}

pub(super) fn pack(pack: &Pack, progress: &Progress) -> Report {
    let mut report = Report::default();
    report.checks.push(header(pack.source()));
    report.checks.push(entries(pack.source(), pack.entries().len(), |_| false));
    for packed in pack.sheets() {
        match packed.sheet() {
            Ok(opened) => report.checks.extend(sheet(opened, progress).checks.into_iter().map(|mut check| {
                check.name = format!("{}: {}", packed.name, check.name).into();
                check
            })),
            Err(error) => {
                let mut check = Check::new(format!("{}: opens", packed.name));
                check.fail(error);
                report.checks.push(check);
            }
        }
    }
    report
}

fn header(source: &Source) -> Check {
    let mut check = Check::new("header");
    let view = source.view("header");
    if let Some(header) = check.note(view.read::<WdbHeader>())
        && header.reserved != [0; 8]
    {
        let view = view.skip(offset_of!(WdbHeader, reserved));
        check.fail(view.bad_value("reserved bytes", u64::from_be_bytes(header.reserved)));
    }
    check
}

/// Names, reserved bytes and positions of the entries. The order of records by name is reported, not judged: it is
/// unknown whether the games need it.
fn entries(source: &Source, count: usize, is_record: impl Fn(usize) -> bool) -> Check {
    let mut check = Check::new("entries");
    let entries = super::directory::entries(source, count);
    for (index, entry) in entries.iter().enumerate() {
        let view = entry_view(source, index);
        if name_key(&entry.name) != u128::from_be_bytes(entry.name) {
            check.fail_with(|| damaged(view, format!("bytes after the end of the name {:?}", entry.name_text())));
        }
        if std::str::from_utf8(entry.name_bytes()).is_err() {
            check.fail_with(|| damaged(view, format!("the name {:?} is not UTF-8", entry.name_text())));
        }
        if is_record(index) && entry.extension != [0; 8] {
            let view = view.skip(offset_of!(WdbEntry, extension));
            check.fail_with(|| view.bad_value("reserved bytes", u64::from_be_bytes(entry.extension)));
        }
    }
    let table = size_of::<WdbHeader>().saturating_add(size_of_val(entries));
    for (index, what) in misplaced(entries.iter().map(WdbEntry::range), table, source.bytes().len()) {
        check.fail_with(|| {
            let name = entries.get(index).expect("a number of these entries").name_text();
            damaged(
                entry_view(source, index).skip(offset_of!(WdbEntry, offset)),
                format!("the data of {name:?} {what}"),
            )
        });
    }
    // In order of name and then of row, so that the second of two equal names is the one that is named.
    let mut names: Vec<(u128, u64, usize)> = entries
        .iter()
        .enumerate()
        .map(|(index, e)| (e.key(), if is_record(index) { 0 } else { u64::from_be_bytes(e.extension) }, index))
        .collect();
    let in_order = names.iter().filter(|(_, _, index)| is_record(*index)).is_sorted_by_key(|(key, _, _)| key);
    names.par_sort_unstable();
    let mut doubled: Vec<usize> = names
        .windows(2)
        .filter_map(|pair| match pair {
            [(a, x, _), (b, y, index)] if (a, x) == (b, y) => Some(*index),
            _ => None,
        })
        .collect();
    doubled.sort_unstable();
    for index in doubled {
        check.fail_with(|| {
            let name = entries.get(index).expect("a number of these entries").name_text();
            damaged(entry_view(source, index), format!("the name {name:?} is there before"))
        });
    }
    let records = (0..count).filter(|&index| is_record(index)).count();
    let detail = match records {
        0 => counted(count, "entry"),
        _ => format!(
            "{}, {} {}in the order of their names",
            counted(count, "entry"),
            counted(records, "record"),
            if in_order { "" } else { "not " }
        ),
    };
    check.with_detail(detail)
}

/// The numbers of entries whose data leaves the file, begins in the table or overlaps other data.
fn misplaced(ranges: impl Iterator<Item = Range<usize>>, table: usize, file: usize) -> Vec<(usize, &'static str)> {
    let mut sorted: Vec<(usize, usize, usize)> = ranges.zip(0..).map(|(r, index)| (r.start, r.end, index)).collect();
    sorted.par_sort_unstable();
    let mut found = Vec::new();
    let mut reached = table;
    for (start, end, index) in sorted {
        if end > file {
            found.push((index, "leaves the file"));
            continue;
        }
        if start < end && start < reached {
            found.push((
                index,
                if start < table { "begins inside of the entry table" } else { "overlaps that of another" },
            ));
        }
        reached = reached.max(end);
    }
    found.sort_unstable();
    found
}

fn sections(sheet: &Sheet) -> Check {
    let mut check = Check::new("sections");
    let parts = sheet.parts();
    for (name, unit) in UNITS {
        let Some(Some((view, bytes))) = check.note(parts.bytes(name)) else { continue };
        // Arrays hold the targets of records; without records they are empty.
        let may_be_empty = name == sections::ARRAY;
        if !bytes.len().is_multiple_of(unit) || (bytes.is_empty() && !may_be_empty) {
            check.fail(view.bad_value("size of the section", bytes.len() as u64));
        }
    }
    for name in [sections::VERSION, sections::NAME_COUNT] {
        check.note(parts.number(name));
    }
    check.note(parts.sheet_name());
    check.note(parts.types());
    if let (Some(list), Some(_)) = (parts.view(sections::KINDS), parts.entry(sections::KINDS_BYTES)) {
        check.fail(damaged(list, "there is a !!strtypelistb, too; that one is used"));
    }
    if let (Some((view, bytes)), Ok(Some(declared))) =
        (parts.bytes(sections::NAMES).ok().flatten(), parts.number(sections::NAME_COUNT))
    {
        let named = sheet.layout.named;
        if declared as usize != named {
            check.fail(damaged(view, format!("{named} field names, {declared} announced")));
        }
        if !bytes.is_empty() && !bytes.ends_with(&[0]) {
            check.fail(damaged(view, "the last field name has no terminating NUL"));
        }
        if std::str::from_utf8(bytes).is_err() {
            check.fail(damaged(view, "field names that are not UTF-8"));
        }
    }
    if sheet.naming == Naming::Sheet && parts.entry(sections::NAME_COUNT).is_none() {
        check.fail(damaged(sheet.source.view("sections"), "there is no !structitemnum"));
    }
    let known = UNITS.iter().map(|(name, _)| *name).chain([sections::SHEET_NAME, sections::POOL]);
    let known: Vec<_> = known.collect();
    let unknown: Vec<_> =
        parts.entries.iter().map(WdbEntry::name_text).filter(|name| !known.contains(&&**name)).collect();
    let mut detail = format!("{} sections", parts.entries.len());
    if !unknown.is_empty() {
        detail.push_str(", unknown: ");
        detail.push_str(&unknown.join(", "));
    }
    check.with_detail(detail)
}

fn fields(sheet: &Sheet) -> Check {
    let mut check = Check::new("fields");
    let parts = sheet.parts();
    let view = [sections::NAMES, sections::KINDS_BYTES, sections::KINDS].into_iter().find_map(|name| parts.view(name));
    let view = view.unwrap_or_else(|| sheet.source.view("sections"));
    for field in sheet.fields() {
        if let FieldKind::Fault(fault) = field.kind {
            check.fail_with(|| damaged(view, format!("field {}: {fault}", field.name)));
        }
    }
    let left = sheet.fields().len().saturating_sub(sheet.layout.named);
    if sheet.naming == Naming::Sheet && left > 0 {
        check.fail(damaged(view, format!("the last {left} words of a record belong to no field")));
    }
    let names = match &sheet.naming {
        Naming::Sheet => "named in the sheet",
        Naming::Known { confirmed: true, .. } => "named by a known list that !!typelist confirms",
        Naming::Known { confirmed: false, .. } => "named by a known list that fits the words but not !!typelist",
        Naming::Unknown => "without names",
    };
    check.with_detail(format!(
        "{} {names}, {} a record",
        counted(sheet.fields().len(), "field"),
        counted(sheet.record_size(), "byte")
    ))
}

/// The pool of texts and the string arrays.
fn texts(sheet: &Sheet) -> Check {
    let mut check = Check::new("texts");
    let parts = sheet.parts();
    let mut count = 0u64;
    if let Some(Some((mut view, pool))) = check.note(parts.bytes(sections::POOL)) {
        for stored in pool.split_inclusive(|&b| b == 0) {
            let Some(text) = stored.strip_suffix(&[0]) else {
                check.fail(damaged(view, "the last text has no terminating NUL"));
                break;
            };
            if let Err(error) = std::str::from_utf8(text) {
                let valid_up_to = error.valid_up_to() as u64;
                check.fail_with(|| view.error(ErrorKind::Text { encoding: "UTF-8", valid_up_to }));
            }
            if text.len() >= MAX_TEXT {
                let (value, limit) = (text.len() as u64, MAX_TEXT as u64);
                check.fail_with(|| view.error(ErrorKind::Limit { what: "bytes of a text", value, limit }));
            }
            count = count.saturating_add(1);
            view = view.skip(stored.len());
        }
    }
    let Some(arrays) = &sheet.arrays else { return check.with_detail(format!("{count} texts")) };
    let mut items = 0u64;
    match arrays {
        Err(error) => check.fail(error.clone()),
        Ok(arrays) => {
            let pool = pool_end(parts);
            let view = parts.view(sections::ARRAY).expect("the arrays were read from it");
            for (array, index) in (0..sheet.layout.arrays).flat_map(|a| (0..arrays.items(a)).map(move |i| (a, i))) {
                items = items.saturating_add(1);
                let item = u32::try_from(index).ok().and_then(|index| arrays.item(sheet.source.bytes(), array, index));
                if item.is_none_or(|offset| offset as usize >= pool) {
                    let offset = item.map_or(-1, i128::from);
                    check.fail_with(|| view.bad_value("offset in !!string", offset));
                }
            }
        }
    }
    check.with_detail(format!("{count} texts, {} arrays of {items} items", sheet.layout.arrays))
}

/// The first offset of the pool from which no text can begin: there is no NUL from there on.
fn pool_end(parts: Sections<'_>) -> usize {
    let last = parts.bytes(sections::POOL).ok().flatten().and_then(|(_, pool)| pool.iter().rposition(|&b| b == 0));
    last.map_or(0, |last| last.saturating_add(1))
}

/// The size of each record, and the cells that can be wrong: references to texts.
fn cells(sheet: &Sheet, progress: &Progress) -> Check {
    // Records of a sound sheet do not overlap. The limit bounds the walk over overlapping ones.
    let mut room = sheet.source.bytes().len();
    let bounded = sheet.records().iter().take_while(|entry| {
        let fits = entry.range().len() <= room;
        room = room.saturating_sub(entry.range().len());
        fits
    });
    let (records, skipped) = sheet.records().split_at(bounded.count());
    let end = pool_end(sheet.parts());
    let references: Vec<&SheetField> =
        sheet.fields().iter().filter(|f| matches!(f.kind, FieldKind::Text | FieldKind::ArrayText(_))).collect();
    let check = records
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut check = Check::new("records");
            for record in chunk.iter().map(|entry| SheetRecord::new(sheet, entry)) {
                record_cells(record, &references, end, &mut check);
            }
            progress.advance(chunk.len() as u64);
            check
        })
        .reduce(|| Check::new("records"), Check::merge);
    progress.advance(skipped.len() as u64);
    let mut detail = counted(sheet.records().len(), "record");
    if !skipped.is_empty() {
        detail += &format!(", {} of them not walked because they overlap", skipped.len());
    }
    check.with_detail(detail)
}

fn record_cells(record: SheetRecord<'_>, references: &[&SheetField], pool_end: usize, check: &mut Check) {
    let (sheet, entry) = (record.sheet, record.entry);
    let view = sheet.source.view("record").at(entry.range().start);
    if record.data.len() != sheet.layout.size {
        let (found, size) = (entry.range().len(), sheet.layout.size);
        check.fail_with(|| {
            let what = format!("record {} has {found} bytes, its sheet's fields take {size}", record.name());
            match view.take(found) {
                Ok(_) => damaged(view, what),
                Err(error) => error.context(format_args!("record {}", record.name())),
            }
        });
    }
    for field in references {
        let Some(word) = record.data.get(field.offset..).and_then(|at| at.first_chunk()) else { break };
        let word = u32::from_be_bytes(*word);
        let sound = match (field.kind, &sheet.arrays) {
            (FieldKind::Text, _) => (word as usize) < pool_end,
            // The check of texts looks at what the items hold.
            (FieldKind::ArrayText(array), Some(Ok(arrays))) => {
                (bits(word, field.shift.into(), field.bits) as usize) < arrays.items(array)
            }
            // Computed once, not for each record.
            _ => true,
        };
        if !sound {
            check.fail_with(|| sheet.no_cell(entry, record.data, field));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misplaced_data_is_told_apart() {
        let ranges = [100..120, 110..130, 90..95, 130..140, 190..210, 140..140, 130..131];
        let found = misplaced(ranges.into_iter(), 96, 200);
        assert_eq!(
            found,
            [
                (1, "overlaps that of another"),
                (2, "begins inside of the entry table"),
                (3, "overlaps that of another"),
                (4, "leaves the file"),
            ]
        );
    }
}
