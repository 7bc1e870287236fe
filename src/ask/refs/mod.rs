//! What entries refer to, and what refers to them, across files.
//!
//! What an entry refers to is read from its record. What refers to it is found by one pass over the references of all
//! records on all cores, for any number of entries at once.

use crate::asset::{Asset, Format};
use crate::codec::cityhash64;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::bwdb::layout::PathEntry;
use crate::formats::bwdb::prototypes::{Record, Visual};
use crate::formats::bwdb::references::{Budget, By, Collector, Reference};
use crate::formats::bwdb::{Blob, Database, Models, Space, State};
use crate::formats::geometry::Geometry;
use crate::formats::geometry::layout::Mapping;
use crate::id::Id64;
use crate::report::{Check, Progress};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// A reference of an entry to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The entry that refers; `None` for what is no entry, as the instances of a space, and for records that belong
    /// to none.
    pub from: Option<u64>,
    /// The entry that it refers to.
    pub to: u64,
    /// The table in which the reference stands.
    pub table: &'static str,
    /// The row there.
    pub row: usize,
    /// Where in the row, as in `render_sets[2].mfm`.
    pub column: String,
}

/// What a pass over a file found.
#[derive(Debug)]
pub struct Found {
    /// The references, in file order.
    pub edges: Vec<Edge>,
    /// What could not be read.
    pub damage: Check,
    /// Which parts of the file were left out, and why.
    pub notes: Vec<String>,
}

impl Found {
    fn new() -> Self {
        Self { edges: Vec::new(), damage: Check::new("references"), notes: Vec::new() }
    }
}

/// Which references are wanted: the id that is referred to, and how.
pub type Keep<'k> = &'k (dyn Fn(u64, By) -> bool + Sync);

/// The references in `asset` that `keep` wants. Formats other than prototype databases, `models.bin` and `space.bin`
/// have none.
pub fn scan(asset: &Asset, keep: Keep<'_>) -> Found {
    scan_with(asset, keep, &Progress::default())
}

/// As [`scan`]; `progress` counts paths and records.
pub fn scan_with(asset: &Asset, keep: Keep<'_>, progress: &Progress) -> Found {
    if let Some(db) = asset.get() {
        scan_database(db, keep, progress)
    } else if let Some(models) = asset.get() {
        scan_models(models, keep, progress)
    } else if let Some(space) = asset.get() {
        scan_space(space, keep)
    } else {
        Found::new()
    }
}

/// Whether `asset` is of a format that knows references.
pub fn refers(asset: &Asset) -> bool {
    [Format::BWDB, Format::MODELS, Format::SPACE].contains(&asset.format())
}

/// What the entry `id` refers to, as far as `asset` says. Texts count where they are paths of the file.
pub fn of(asset: &Asset, id: u64) -> Found {
    if let Some(db) = asset.get() {
        of_resource(db, id)
    } else if let Some(models) = asset.get() {
        of_model(models, id)
    } else {
        Found::new()
    }
}

/// Whether `asset` has an entry with this id: a path, a resource, or a model of a `models.bin`.
pub fn has(asset: &Asset, id: u64) -> bool {
    if let Some(db) = asset.get::<Database>() {
        matches!(db.lookup(id), Ok(Some(_))) || db.paths().find(id).is_some()
    } else {
        asset.get::<Models>().is_some_and(|models| models.find(id).is_some())
    }
}

/// Every id that some files have, for asking often.
#[derive(Debug)]
pub struct Known<'a> {
    databases: Vec<&'a Database>,
    models: HashSet<u64>,
}

impl<'a> Known<'a> {
    /// The ids of these files.
    pub fn new(assets: impl IntoIterator<Item = &'a Asset>) -> Self {
        let mut known = Self { databases: Vec::new(), models: HashSet::new() };
        for asset in assets {
            known.databases.extend(asset.get::<Database>());
            if let Some(models) = asset.get::<Models>() {
                known.models.extend(models.models().filter_map(|m| m.id().ok()).map(|id| id.0));
            }
        }
        known
    }

    /// Whether one of the files is a prototype database.
    pub fn has_database(&self) -> bool {
        !self.databases.is_empty()
    }

    /// Whether one of the files has this id.
    pub fn has(&self, id: u64) -> bool {
        self.models.contains(&id)
            || self.databases.iter().any(|db| matches!(db.lookup(id), Ok(Some(_))) || db.paths().find(id).is_some())
    }
}

/// The reference of a path to the folder that it lies in.
pub const PARENT: &str = "parent_id";

fn parent(entry: &PathEntry, row: usize) -> Option<Edge> {
    let to = Database::parent_of(entry)?;
    Some(Edge { from: Some(entry.self_id.get()), to, table: "paths", row, column: PARENT.to_owned() })
}

fn scan_database(db: &Database, keep: Keep<'_>, progress: &Progress) -> Found {
    /// Records that one core reads before it is worth asking another.
    const SHARE: usize = 1024;
    let mut found = Found::new();
    let entries = db.paths().entries();
    let refers = |blob: &Blob<'_>| blob.layout().is_some_and(|layout| layout.refers());
    let records = db.databases().flatten().filter(refers).map(|blob| blob.len()).fold(0, usize::saturating_add);
    progress.announce(records.saturating_add(entries.len()) as u64);
    let wanted = |(row, entry): (usize, &PathEntry)| parent(entry, row).filter(|edge| keep(edge.to, By::Id));
    found.edges = entries.par_iter().enumerate().with_min_len(1 << 14).filter_map(wanted).collect();
    progress.advance(entries.len() as u64);

    let budget = Budget::for_file(db.source().bytes().len());
    let mut places: Vec<((usize, usize), &'static str, Reference)> = Vec::new();
    for blob in db.databases() {
        let blob = match blob {
            Ok(blob) => blob,
            Err(error) => {
                found.damage.fail(error);
                continue;
            }
        };
        let Some(table) = blob.layout().map(|layout| layout.table()) else {
            found.notes.extend(blob.note());
            continue;
        };
        if !refers(&blob) {
            continue;
        }
        let share = |i: usize| {
            let first = i.saturating_mul(SHARE);
            let records = first..first.saturating_add(SHARE).min(blob.len());
            let mut kept = Vec::new();
            let mut damage = Check::new("references");
            progress.advance(records.len() as u64);
            for record in records {
                let (references, errors) = of_record(db, blob, record, keep, &budget);
                kept.extend(references.into_iter().map(|found| ((blob.index(), record), table, found)));
                errors.into_iter().for_each(|e| damage.fail(e.within(format_args!("{table} {record}"))));
            }
            (kept, damage)
        };
        let shares: Vec<_> = (0..blob.len().div_ceil(SHARE)).into_par_iter().map(share).collect();
        for (kept, damage) in shares {
            places.extend(kept);
            found.damage = found.damage.merge(damage);
        }
    }
    // Of a record with many references, each of many owners has all.
    let most = db.source().bytes().len();
    for ((database, record), table, Reference { id, column, .. }) in places {
        if found.edges.len() > most {
            let (value, limit) = (found.edges.len() as u64, most as u64);
            let kind = ErrorKind::Limit { what: "references from records that many resources share", value, limit };
            found.damage.fail(Error::without_offset(kind, table));
            break;
        }
        let edge = |from| Edge { from, to: id, table, row: record, column: column.clone() };
        // One record may belong to several entries, or to none.
        let before = found.edges.len();
        found.edges.extend(db.owners(database, record).map(|owner| edge(Some(owner))));
        if found.edges.len() == before {
            found.edges.push(edge(None));
        }
    }
    found
}

fn of_record(
    db: &Database,
    blob: Blob<'_>,
    record: usize,
    keep: Keep<'_>,
    budget: &Budget,
) -> (Vec<Reference>, Vec<Error>) {
    let mut collector = Collector::new(keep, budget);
    match blob.record(record) {
        Ok(Some(record)) => collector.record(&record, db),
        Ok(None) => {}
        Err(error) => collector.errors.push(error),
    }
    (collector.found, collector.errors)
}

fn scan_models(models: &Models, keep: Keep<'_>, progress: &Progress) -> Found {
    progress.announce(models.len() as u64);
    let budget = Budget::for_file(models.source().bytes().len());
    let mut found = Found::new();
    let read = |row: usize| {
        progress.advance(1);
        let mut collector = Collector::new(keep, &budget);
        let model = models.model(row);
        if let Some(model) = &model {
            collector.merged(model);
        }
        (row, model.and_then(|m| m.id().ok()).map(|id| id.0), collector.found, collector.errors)
    };
    let rows: Vec<_> = (0..models.len()).into_par_iter().with_min_len(64).map(read).collect();
    for (row, from, references, errors) in rows {
        errors.into_iter().for_each(|e| found.damage.fail(e.within(format_args!("models {row}"))));
        let edge = |Reference { id, column, .. }| Edge { from, to: id, table: "models", row, column };
        found.edges.extend(references.into_iter().map(edge));
    }
    found
}

fn scan_space(space: &Space, keep: Keep<'_>) -> Found {
    let instances = space.instances().iter().enumerate();
    let wanted = instances.map(|(row, instance)| (row, instance.id.get()));
    let wanted = wanted.filter(|&(_, to)| to != 0 && keep(to, By::Id));
    let edge = |(row, to)| Edge { from: None, to, table: "instances", row, column: "id".to_owned() };
    Found { edges: wanted.map(edge).collect(), ..Found::new() }
}

fn of_resource(db: &Database, id: u64) -> Found {
    let mut found = Found::new();
    let paths = db.paths();
    if let Some((row, entry)) = paths.find(id).and_then(|row| Some((row, paths.entries().get(row)?))) {
        found.edges.extend(parent(entry, row));
    }
    let Ok(Some(resource)) = db.lookup(id) else { return found };
    if resource.state() != State::Valid {
        found.notes.push(format!("{} is deleted or not valid, and its record is not followed", Id64(id)));
        return found;
    }
    let blob = match resource.database() {
        Ok(blob) => blob,
        Err(error) => {
            found.damage.fail(error);
            return found;
        }
    };
    let Some(table) = blob.layout().map(|layout| layout.table()) else {
        found.notes.extend(blob.note());
        return found;
    };
    let (budget, row) = (Budget::for_file(db.source().bytes().len()), resource.record_index());
    let (references, errors) = of_record(db, blob, row, &|_, _| true, &budget);
    errors.into_iter().for_each(|error| found.damage.fail(error.within(format_args!("{table} {row}"))));
    for Reference { id: to, column, by } in references {
        if by == By::Id || matches!(db.lookup(to), Ok(Some(_))) || paths.find(to).is_some() {
            found.edges.push(Edge { from: Some(id), to, table, row, column });
        }
    }
    found
}

fn of_model(models: &Models, id: u64) -> Found {
    let mut found = Found::new();
    let budget = Budget::for_file(models.source().bytes().len());
    if let Some((row, model)) = models.find(id).and_then(|row| Some((row, models.model(row)?))) {
        let keep = |_, by| by == By::Id;
        let mut collector = Collector::new(&keep, &budget);
        collector.merged(&model);
        collector.errors.into_iter().for_each(|e| found.damage.fail(e.within(format_args!("models {row}"))));
        // Its own id is no reference of its own.
        let others = collector.found.into_iter().filter(|reference| reference.column != "id");
        let edge = |Reference { id: to, column, .. }| Edge { from: Some(id), to, table: "models", row, column };
        found.edges.extend(others.map(edge));
    }
    found
}

/// A mesh of a `.geometry` that a visual draws: a mapping of vertices or of indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mesh {
    /// The id of the mapping.
    pub mapping_id: u32,
    /// The name of the render set that draws it, where it is known.
    pub name: Option<String>,
    /// The table that it stands in: `vertex_mappings` or `index_mappings`.
    pub table: &'static str,
    /// The row there.
    pub row: usize,
}

/// The meshes in `geometry` that the visual `id` of `asset` draws: a visual of a database draws those of the file that
/// it names, a model of a `models.bin` those of any file that has its mappings. None where `id` is no visual.
///
/// # Errors
/// When the visual or the mappings cannot be read.
pub fn meshes(asset: &Asset, id: u64, geometry: &Geometry) -> Result<Vec<Mesh>> {
    let (visual, db) = if let Some(db) = asset.get::<Database>() {
        match db.lookup(id)?.map(|r| r.record()).transpose()?.flatten() {
            Some(Record::Visual(visual)) if draws(db, &visual, geometry)? => (visual, Some(db)),
            _ => return Ok(Vec::new()),
        }
    } else {
        match asset.get::<Models>().and_then(|models| models.lookup(id)) {
            Some(model) => (model.visual()?, None),
            None => return Ok(Vec::new()),
        }
    };
    // The first mapping with an id is the one that counts.
    let rows = |mappings: &[Mapping]| -> HashMap<u32, usize> {
        mappings.iter().enumerate().rev().map(|(row, mapping)| (mapping.mapping_id.get(), row)).collect()
    };
    let (vertices, indices) = (rows(geometry.vertex_mappings()?), rows(geometry.index_mappings()?));
    let mut meshes = Vec::new();
    for set in visual.render_sets()?.iter() {
        let set = set?;
        let text = db.map(|db| db.string(set.name()?.0)).transpose()?.flatten();
        let (vertex, index) = (set.vertices_name()?.0, set.indices_name()?.0);
        for (mapping_id, table, rows) in [(vertex, "vertex_mappings", &vertices), (index, "index_mappings", &indices)] {
            let name = text.map(str::to_owned);
            meshes.extend(rows.get(&mapping_id).map(|&row| Mesh { mapping_id, name, table, row }));
        }
    }
    Ok(meshes)
}

/// Whether `visual` names this file: by the id of its path, of which any part may be given, or by its file name.
fn draws(db: &Database, visual: &Visual<'_>, geometry: &Geometry) -> Result<bool> {
    let id = visual.geometry()?.0;
    let file = geometry.source().name().replace('\\', "/");
    let mut tails = std::iter::successors(Some(file.as_str()), |path| path.split_once('/').map(|(_, tail)| tail));
    if tails.any(|tail| cityhash64(tail.as_bytes()) == id) {
        return Ok(true);
    }
    Ok(db.path(id)?.is_some_and(|path| path.rsplit('/').next() == file.rsplit('/').next()))
}
