//! Walks everything and lists what is wrong.

use super::hashmap::{Bucket, Modulus};
use super::layout::{BwdbHeader, PathEntry};
use super::prototypes::{Material, MergedModel, Prototype, Skeleton, SpaceLight};
use super::reach::SomeRecords;
use super::record::{Elements, Type, Typed as _, Walker, Wanted};
use super::{Blob, Database, Models, Space, State};
use crate::budget::Budget;
use crate::bytes::{Overlay, View};
use crate::codec::{cityhash64, crc32, murmur3, spread};
use crate::error::{Error, ErrorKind, Result};
use crate::id::{Id32, Id64};
use crate::reader::{Reader as _, Section};
use crate::report::{Check, Progress, Report, counted};
use crate::threads::prelude::*;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::ops::Range;

/// The number of rows in a worker's share.
const CHUNK: usize = 4096;

/// The largest number of bytes after all known parts that the checksum still covers, whatever the size of the file.
const FAR: u64 = 64 << 20;

type Job<'a> = Box<dyn Fn() -> Check + Send + Sync + 'a>;

pub(super) fn database(db: &Database, progress: &Progress) -> Report {
    progress.announce(db.source.bytes().len() as u64);
    let mut jobs: Vec<Job<'_>> = vec![
        Box::new(|| checksum(db)),
        Box::new(|| sections(db)),
        Box::new(|| map(db, "strings map", db.spans.string_buckets.get(), db.string_slots, |slot| string(db, slot))),
        Box::new(|| string_pool(db)),
        Box::new(|| {
            let records: Vec<Option<usize>> = db.databases().map(|blob| blob.ok().map(|b| b.len())).collect();
            let mut check =
                map(db, "resources map", db.resource_buckets(), db.resource_slots, |slot| resource(db, slot, &records));
            let unnamed = db.resources().filter(|resource| matches!(resource.state(), State::Unnamed(_))).count();
            if unnamed > 0 {
                let note = "in state 1 or 2, which no reader explains: their records are not followed";
                check.detail = format!("{}; {unnamed} resources {note}", check.detail);
            }
            check
        }),
        Box::new(|| paths(db)),
    ];
    for index in 0..db.database_count() {
        jobs.push(Box::new(move || records(db, index, progress)));
    }
    let checks = jobs.into_par_iter().map(|job| job()).collect();
    Report { checks }
}

fn checksum(db: &Database) -> Check {
    let mut check = Check::new("checksum");
    let view = db.source.view("header");
    let Some(header) = check.note(view.read::<BwdbHeader>()) else { return check };
    let stored = header.checksum.get();
    let body = view.skip(size_of::<BwdbHeader>()).rest();
    // The checksum covers at most twice the known part of the file, and FAR bytes more.
    let length = db.source.bytes().len() as u64;
    let end = all_sections(db).iter().map(|s| s.offset.saturating_add(s.size)).fold(0, u64::max);
    if length > end.saturating_mul(2).saturating_add(FAR) {
        let what = format!("{} bytes after everything that the file refers to", length.saturating_sub(end)).into();
        let error = Error::new(ErrorKind::Damaged { what }, "header", end);
        check.fail(error);
        return check.with_detail("not computed over that many bytes");
    }
    let murmur = murmur3(body);
    if murmur == stored {
        return check.with_detail(format!("MurmurHash3 0x{stored:08X}"));
    }
    let crc = crc32(body);
    if crc == stored {
        return check.with_detail(format!("CRC-32 0x{stored:08X}"));
    }
    for (algorithm, computed) in [("MurmurHash3", murmur), ("CRC-32", crc)] {
        let (stored, computed) = (stored.into(), computed.into());
        check.fail(view.locate(&header.checksum).error(ErrorKind::Checksum { algorithm, stored, computed }));
    }
    check
}

/// All sections, in file order; the pool of path names among them, which has no entry of its own in the header: it is
/// where the names point.
pub(super) fn all_sections(db: &Database) -> Vec<Section> {
    let mut sections = db.sections();
    let names = db.paths().entries().iter().filter_map(|e| name_span(db, e));
    if let Some((start, end)) = names.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
        sections.push(Section::new("path names", start as u64, end.saturating_sub(start) as u64, None));
        sections.sort_by_key(|s| s.offset);
    }
    sections
}

/// Checks that no sections overlap, and notes the gaps between them.
fn sections(db: &Database) -> Check {
    let mut check = Check::new("sections");
    for index in 0..db.database_count() {
        check.note(db.database(index));
    }
    let sections = all_sections(db);
    let (mut unmapped, end) = check_overlaps(&sections, &mut check);
    unmapped = unmapped.saturating_add((db.source.bytes().len() as u64).saturating_sub(end));
    let count = sections.len();
    check.with_detail(match unmapped {
        0 => format!("{}, no gaps", counted(count, "section")),
        gap => format!("{}, {} between or after them", counted(count, "section"), counted(gap, "byte")),
    })
}

/// Checks that no sections, which are in order, overlap. Returns the bytes between them, and their end.
fn check_overlaps(sections: &[Section], check: &mut Check) -> (u64, u64) {
    let (mut unmapped, mut end, mut last) = (0u64, 0u64, "");
    for section in sections.iter().filter(|section| section.size > 0) {
        if section.offset < end {
            let what = format!("{} begins inside of {last}", section.name);
            check.fail(Error::new(ErrorKind::Damaged { what: what.into() }, section.name.clone(), section.offset));
        }
        unmapped = unmapped.saturating_add(section.offset.saturating_sub(end));
        let section_end = section.offset.saturating_add(section.size);
        if section_end > end {
            (end, last) = (section_end, &section.name);
        }
    }
    (unmapped, end)
}

fn name_span(db: &Database, entry: &PathEntry) -> Option<(usize, usize)> {
    let view = db.source.view("").locate(&entry.name);
    let start = view.follow(entry.name.text.get()).ok()?.position();
    Some((start, start.checked_add(entry.name.size.get() as usize)?))
}

/// Checks that a lookup finds every key, and finds it once; and each occupied slot by `value`.
fn map<B: Bucket + Overlay + Sync>(
    db: &Database,
    name: &'static str,
    buckets: &[B],
    modulus: Modulus,
    value: impl Fn(usize) -> Result<()> + Sync,
) -> Check {
    let view = db.source.view(name);
    let mut check = Check::new(name);
    let capacity = buckets.len();
    let empty = buckets.iter().position(|bucket| !bucket.is_occupied());
    if empty.is_none() && capacity > 0 {
        let what = "no slot is empty, so that looking for what is not there visits all of them".into();
        check.fail(view.error(ErrorKind::Damaged { what }));
    }
    // Walks once around from the slot after an empty one: `run` occupied slots precede the current one.
    let first = empty.unwrap_or(0);
    let mut run = 0usize;
    let mut seen = HashTable::<u64>::new();
    let mut occupied = 0usize;
    for (slot, bucket) in buckets.iter().enumerate().cycle().skip(first).take(capacity) {
        if !bucket.is_occupied() {
            run = 0;
            continue;
        }
        let k = bucket.key();
        occupied = occupied.saturating_add(1);
        let home = modulus.slot(k);
        let distance =
            if slot >= home { slot.wrapping_sub(home) } else { slot.wrapping_add(capacity).wrapping_sub(home) };
        if distance > run && empty.is_some() {
            let what = format!("key {k:#x} in slot {slot} cannot be reached from its slot {home}");
            check.fail(view.locate(bucket).error(ErrorKind::Damaged { what: what.into() }));
        }
        run = run.saturating_add(1);
        match seen.entry(spread(k), |&other| other == k, |&other| spread(other)) {
            Entry::Vacant(place) => drop(place.insert(k)),
            Entry::Occupied(_) => {
                let what = format!("key {k:#x} is in the map twice, again in slot {slot}");
                check.fail(view.locate(bucket).error(ErrorKind::Damaged { what: what.into() }));
            }
        }
    }
    let slots = buckets.par_iter().enumerate().with_min_len(CHUNK).filter(|(_, bucket)| bucket.is_occupied());
    let values = slots.fold(
        || Check::new(name),
        |mut check, (slot, _)| {
            check.note(value(slot));
            check
        },
    );
    let values = values.reduce(|| Check::new(name), Check::merge);
    check.merge(values).with_detail(format!("{occupied} of {capacity} slots occupied"))
}

fn string(db: &Database, slot: usize) -> Result<()> {
    let text = db.string_in_slot(slot)?;
    let bucket = db.spans.string_buckets.get().get(slot);
    let Some(bucket) = bucket.filter(|b| b.key.get() != Database::name_id(text)) else { return Ok(()) };
    let what = format!("key {} is not the MurmurHash3 of its text {text:?}", Id32(bucket.key.get()));
    Err(db.source.view("strings map").locate(bucket).error(ErrorKind::Damaged { what: what.into() }))
}

fn string_pool(db: &Database) -> Check {
    let mut check = Check::new("string pool");
    let bytes = db.spans.string_data.get();
    let view = db.source.view("strings.data").at(db.spans.string_data.start);
    match bytes.last() {
        None | Some(0) => {}
        Some(_) => {
            let end = view.skip(bytes.len().saturating_sub(1));
            check.fail(end.error(ErrorKind::Damaged { what: "the last text does not end with a NUL".into() }));
        }
    }
    // Found one by one, so that each bad text is named.
    let mut start = 0usize;
    while let Some(rest) = bytes.get(start..)
        && let Err(error) = std::str::from_utf8(rest)
    {
        let bad = start.saturating_add(error.valid_up_to());
        check.fail(view.skip(bad).error(ErrorKind::Text { encoding: "UTF-8", valid_up_to: 0 }));
        start = bytes.get(bad..).and_then(|b| memchr::memchr(0, b)).map_or(bytes.len(), |n| bad.saturating_add(n));
    }
    let texts = memchr::memchr_iter(0, bytes).count();
    check.with_detail(format!("{texts} texts"))
}

/// Checks that the record of a resource exists; `records` are the numbers of records of the readable databases.
fn resource(db: &Database, slot: usize, records: &[Option<usize>]) -> Result<()> {
    let Some(bucket) = db.resource_buckets().get(slot) else { return Ok(()) };
    let Some(resource) = db.resource_at(slot, bucket.key.get()) else { return Ok(()) };
    let here = db.source.view("resources map").locate(bucket);
    match resource.state() {
        State::Deleted | State::Unnamed(_) => Ok(()),
        State::Valid => {
            let records = records.get(resource.database_index()).copied().flatten();
            let records =
                records.ok_or_else(|| here.bad_value("database of a resource", resource.database_index() as i128))?;
            if resource.record_index() >= records {
                return Err(here.bad_value("record of a resource", resource.record_index() as i128));
            }
            Ok(())
        }
    }
}

/// Checks that names can be read, parents exist and end at the root, and ids belong to the paths.
fn paths(db: &Database) -> Check {
    let paths = db.paths();
    let entries = paths.entries();
    paths.build_index();
    let mut check = Check::new("paths");
    // 0 not seen, otherwise the number of the walk that saw it first.
    let mut seen = vec![0u32; entries.len()];
    for (walk, start) in (1u32..).zip(0..entries.len()) {
        let mut next = Some(start);
        while let Some(position) = next {
            let (Some(mark), Some(entry)) = (seen.get_mut(position), entries.get(position)) else { break };
            if *mark != 0 {
                if *mark == walk {
                    let at = entry.self_id.get();
                    check.fail(paths.view(entry).error(ErrorKind::Cycle { at }));
                }
                break;
            }
            *mark = walk;
            next = check.note(paths.parent(entry)).flatten();
        }
    }
    if !check.is_ok() {
        return check.with_detail(format!("{} paths", entries.len()));
    }
    let hashed = paths.hashes_paths().unwrap_or(false);
    let chunks = entries.par_chunks(CHUNK).enumerate().map(|(chunk, entries)| {
        let mut check = Check::new("paths");
        let mut path = String::new();
        for (offset, entry) in entries.iter().enumerate() {
            let position = chunk.saturating_mul(CHUNK).saturating_add(offset);
            if paths.find(entry.self_id.get()) != Some(position) {
                let what = format!("id {} is used by an earlier path already", Id64(entry.self_id.get()));
                check.fail(paths.view(entry).error(ErrorKind::Damaged { what: what.into() }));
            }
            if check.note(paths.write_path(position, &mut path)).is_none() {
                continue;
            }
            let id = cityhash64(path.as_bytes());
            if hashed && id != entry.self_id.get() {
                let what = format!("id {} is not the CityHash64 of {path:?}", Id64(entry.self_id.get()));
                check.fail(paths.view(entry).error(ErrorKind::Damaged { what: what.into() }));
            }
        }
        check
    });
    let note = if hashed { "ids are CityHash64" } else { "ids are not CityHash64: another build's hash" };
    chunks.reduce(|| Check::new("paths"), Check::merge).with_detail(format!("{} paths, {note}", entries.len()))
}

fn records(db: &Database, index: usize, progress: &Progress) -> Check {
    let blob = match db.database(index) {
        Ok(blob) => blob,
        Err(error) => {
            let mut check = Check::new(format!("database {index}"));
            check.fail(error);
            return check;
        }
    };
    let name = format!("database {index} {}", blob.type_name_or_magic());
    progress.advance(blob.size() as u64);
    let (Some(start), detail) = (blob.records_end(), counted(blob.len(), "record")) else {
        return Check::new(name).with_detail(blob.note().expect("records of unknown size have a note"));
    };
    let budget = Budget::of_arrays(db.source.bytes().len());
    let chunks = blob.len().div_ceil(CHUNK);
    let checks = (0..chunks).into_par_iter().map(|chunk| {
        let from = chunk.saturating_mul(CHUNK);
        let mut pointers = Pointers::new(start..blob.end(), &budget, Check::new(name.clone()));
        (from..blob.len().min(from.saturating_add(CHUNK))).for_each(|record| pointers.note_record(blob, record));
        pointers.check
    });
    checks.reduce(|| Check::new(name.clone()), Check::merge).with_detail(detail)
}

/// As [`database`], for some records alone.
pub(super) fn some_records(db: &Database, some: &SomeRecords<'_>) -> Check {
    let SomeRecords { blob, records } = some;
    let check = Check::new(format!("database {} {}", blob.index(), blob.type_name_or_magic()));
    let Some(start) = blob.records_end() else { return check };
    let budget = Budget::of_arrays(db.source.bytes().len());
    let mut pointers = Pointers::new(start..blob.end(), &budget, check);
    records.iter().for_each(|record| pointers.note_record(*blob, *record));
    pointers.check
}

/// Checks that arrays are in the allowed range, and notes unreadable parts.
struct Pointers<'b> {
    /// The allowed range of arrays.
    inside: Range<usize>,
    budget: &'b Budget,
    check: Check,
    record: usize,
    /// The positions of the visited arrays, if requested.
    spans: Option<Vec<Range<usize>>>,
}

impl<'b> Pointers<'b> {
    fn new(inside: Range<usize>, budget: &'b Budget, check: Check) -> Self {
        Self { inside, budget, check, record: 0, spans: None }
    }

    fn note_record(&mut self, blob: Blob<'_>, record: usize) {
        self.record = record;
        match blob.record(record) {
            Ok(Some(typed)) => {
                typed.walk_fields(self);
                if let Prototype::Material(material) = typed {
                    self.note_properties(&material);
                }
            }
            Ok(None) => {}
            Err(error) => self.check.fail(error),
        }
    }

    /// Notes the properties of a material that cannot be read.
    fn note_properties(&mut self, material: &Material<'_>) {
        let errors = match material.properties() {
            Ok(properties) => properties.filter_map(Result::err).collect(),
            Err(error) => vec![error],
        };
        let record = self.record;
        errors
            .into_iter()
            .for_each(|error| self.check.fail(error.context(format_args!("MaterialPrototype record {record}"))));
    }
}

impl<'a> Walker<'a> for Pointers<'_> {
    fn begin_list(&mut self, name: &'static str, list: &Elements<'a>) -> bool {
        if list.len == 0 {
            return false;
        }
        let start = list.view.position();
        let end = start.saturating_add(list.bytes());
        if start < self.inside.start || end > self.inside.end {
            let what = "leads out of the data of its database".into();
            self.damage(name, list.view.error(ErrorKind::Damaged { what }));
            return false;
        }
        if let Some(spans) = &mut self.spans {
            spans.push(start..end);
        }
        if list.of.traits.plain {
            return false;
        }
        let spent = self.budget.spend_at(list.view, list.bytes());
        spent.map_err(|error| self.damage(name, error)).is_ok()
    }

    fn damage(&mut self, name: &'static str, error: Error) {
        let record = self.record;
        self.check.fail(error.context(format_args!("record {record}: {name}")));
    }

    fn wanted(&self) -> Wanted {
        Wanted::Pointers
    }
}

/// Checks the arrays of parts of a file. Adds the ranges of the arrays to `spans`.
fn walk_parts<'a>(
    name: &'static str,
    of: &Type,
    parts: impl ExactSizeIterator<Item = Option<View<'a>>>,
    budget: &Budget,
    spans: &mut Vec<Range<usize>>,
) -> Check {
    let check = Check::new(name).with_detail(format!("{} {name}", parts.len()));
    let mut pointers = Pointers::new(0..0, budget, check);
    pointers.spans = Some(Vec::new());
    for (record, part) in parts.enumerate() {
        pointers.record = record;
        match part {
            Some(view) => {
                pointers.inside = 0..view.data().len();
                of.walk_fields(view, &mut pointers);
            }
            None => pointers.check.fail(crate::table::no_cell(name, record, 0)),
        }
    }
    spans.extend(pointers.spans.into_iter().flatten());
    pointers.check
}

/// Checks what the models and skeletons of a `models.bin` point to. The ranges are all that they, their arrays and the sections cover.
fn walk_models(models: &Models) -> (Check, Check, Vec<Range<usize>>) {
    let budget = Budget::of_arrays(models.source().bytes().len());
    let mut spans = Vec::new();
    let parts = (0..models.len()).map(|index| models.model(index).map(|model| model.view()));
    let records = walk_parts("models", MergedModel::OF, parts, &budget, &mut spans);
    let parts = (0..models.skeleton_count()).map(|index| models.skeleton(index).map(|skeleton| skeleton.view()));
    let skeletons = walk_parts("skeletons", Skeleton::OF, parts, &budget, &mut spans);
    let origin = models.source().view("").offset();
    spans.extend(models.sections().iter().filter_map(|s| {
        let start = usize::try_from(s.offset.checked_sub(origin)?).ok()?;
        Some(start..start.checked_add(usize::try_from(s.size).ok()?)?)
    }));
    (records, skeletons, spans)
}

/// The end of the last bytes that something refers to.
pub(super) fn end_of_models(models: &Models) -> usize {
    walk_models(models).2.into_iter().map(|span| span.end).fold(0, usize::max)
}

pub(super) fn models(models: &Models, progress: &Progress) -> Report {
    progress.announce(models.source().bytes().len() as u64);
    let (records, skeletons, spans) = walk_models(models);
    let mut links = Check::new("skeleton links").with_detail(format!("{} skeletons", models.skeleton_count()));
    for model in models.models() {
        let Some(skeleton) = links.note(model.skeleton_index()) else { continue };
        if skeleton as usize >= models.skeleton_count() {
            let at = MergedModel::OF.field(MergedModel::number_of("skeleton_index")).at;
            links.fail(model.view().skip(at).bad_value("skeleton of a model", skeleton));
        }
    }
    Report { checks: vec![records, skeletons, links, coverage(models.source().view("models.bin"), spans)] }
}

/// Ranges that no section and no array covers: a note, and an error only after the last section and array.
fn coverage(view: View<'_>, mut spans: Vec<Range<usize>>) -> Check {
    let mut check = Check::new("coverage");
    spans.sort_by_key(|s| s.start);
    let mut end = 0usize;
    let mut gaps = Vec::new();
    for span in spans {
        if span.start > end {
            gaps.push(end..span.start);
        }
        end = end.max(span.end);
    }
    let used = gaps.into_iter().filter(|gap| view.data().get(gap.clone()).is_none_or(|b| b.iter().any(|&b| b != 0)));
    let unmapped: usize = used.map(|gap| gap.len()).sum();
    let left = view.data().len().saturating_sub(end);
    if left > 0 {
        check.fail(view.at(end).error(ErrorKind::Damaged { what: format!("{left} bytes left over").into() }));
    }
    check.with_detail(match unmapped {
        0 => "every byte accounted for".to_owned(),
        n => format!("{} that nothing refers to", counted(n, "byte")),
    })
}

pub(super) fn space(space: &Space, progress: &Progress) -> Report {
    let source = space.source();
    let len = source.bytes().len();
    progress.announce(len as u64);
    let mut instances = Check::new("instances").with_detail(counted(space.instances().len(), "instance"));
    for instance in space.instances() {
        instances.note(space.instance_name(instance));
        if let Some(bad) = instance.transform.iter().find(|v| !v.get().is_finite()) {
            let view = source.view("transform");
            instances.fail(view.locate(bad).error(ErrorKind::Damaged { what: "not a finite number".into() }));
        }
    }
    let parts = (0..space.light_count()).map(|index| space.light(index).map(|light| light.view()));
    let lights = walk_parts("point lights", SpaceLight::OF, parts, &Budget::of_arrays(len), &mut Vec::new());
    let sections = space.sections();
    let mut layout = Check::new("sections");
    check_overlaps(&sections, &mut layout);
    let unread: Vec<_> = sections
        .iter()
        .filter(|s| s.name.starts_with("array") || s.name == "probes" || s.name == "decals")
        .map(|s| s.name.as_ref())
        .collect();
    let detail = if unread.is_empty() { String::new() } else { format!("not laid out: {}", unread.join(", ")) };
    Report { checks: vec![layout.with_detail(detail), instances, lights] }
}
