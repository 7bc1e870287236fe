//! Models that a database and a space put together of meshes in a `.geometry`, and their places.

use super::prototypes::{MergedModel, PrototypeType, Record, Visual};
use super::record::NameId;
use super::{Database, Models, Space};
use crate::budget::Budget;
use crate::codec::cityhash64;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{Id32, Id64};
use crate::relations::Texts;
use crate::scene::{Drawn, Instance, Model, RenderSet, Stage};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Stage for Database {
    /// A visual draws the file that it names: by the id of its path, of which any part may be given, or by its file name.
    fn drawn_by(&self, id: u64, file: &str) -> Result<Vec<Drawn>> {
        let Some(Record::Visual(visual)) = self.lookup(id)?.map(|r| r.record()).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let (drawn, file) = (visual.geometry()?.0, file.replace('\\', "/"));
        if !ids_of(&file).any(|id| id == drawn) && !has_name_of(self, drawn, &file)? {
            return Ok(Vec::new());
        }
        render_sets(&visual, self)
    }

    fn models_of(&self, file: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        Some(visuals_of(self, file, vertices))
    }
}

impl Stage for Models {
    fn drawn_by(&self, id: u64, _: &str) -> Result<Vec<Drawn>> {
        self.lookup(id).map_or_else(|| Ok(Vec::new()), |model| render_sets(&model.visual()?, &*self.names))
    }

    fn models(&self, texts: Option<&dyn Texts>) -> Option<Result<Vec<Model>>> {
        Some(merged_models(self, texts))
    }
}

impl Stage for Space {
    fn instances(&self) -> Option<Vec<Instance>> {
        let instance =
            |i: &super::layout::Instance| Instance { id: i.id.get(), transform: i.transform.map(|v| v.get()) };
        Some(self.instances().iter().map(instance).collect())
    }
}

fn render_sets(visual: &Visual<'_>, texts: &dyn Texts) -> Result<Vec<Drawn>> {
    let mut drawn = Vec::new();
    for set in visual.render_sets()?.iter() {
        let set = set?;
        let name = texts.name(set.name()?.0)?.map(Cow::into_owned);
        drawn.push(Drawn { name, vertices: set.vertices_name()?.0, indices: set.indices_name()?.0 });
    }
    Ok(drawn)
}

/// The models of a `models.bin`, in file order, named by `texts` where those know them.
fn merged_models(models: &Models, texts: Option<&dyn Texts>) -> Result<Vec<Model>> {
    let budget = parts(models.source().bytes().len());
    let mut name_model = |(i, merged): (usize, MergedModel<'_>)| {
        let read = || {
            let id = merged.id()?.0;
            model(&merged.visual()?, Some(id), path(texts, id)?, texts, &budget)
        };
        read().map_err(|e| e.within(format_args!("model {i}")))
    };
    models.models().enumerate().map(&mut name_model).collect()
}

/// The visuals of `database` that draw `file`: visuals that name the id of its path (of any part of it, as files may
/// lie anywhere), else those whose file has the same name and whose render sets have some of the mappings in
/// `vertices`. `NotFound` without any.
fn visuals_of(database: &Database, file: &str, vertices: &BTreeSet<u32>) -> Result<Vec<Model>> {
    let mut by_geometry: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
    for blob in database.databases() {
        let blob = blob?;
        if blob.prototype() != Some(PrototypeType::Visual) {
            continue;
        }
        for record in 0..blob.len() {
            if let Some(Record::Visual(visual)) = blob.record(record)? {
                by_geometry.entry(visual.geometry()?.0).or_default().push((blob.index(), record));
            }
        }
    }
    let file = file.replace('\\', "/");
    let exact = ids_of(&file).find_map(|id| by_geometry.get(&id));
    let found = match exact {
        Some(found) => found.clone(),
        None => {
            let mut found = Vec::new();
            for (&id, visuals) in &by_geometry {
                if has_name_of(database, id, &file)? {
                    found.extend(visuals);
                }
            }
            found
        }
    };
    let budget = parts(database.source().bytes().len());
    let mut models = Vec::new();
    for place in found {
        let Some(Record::Visual(visual)) = database.database(place.0)?.record(place.1)? else {
            continue;
        };
        let id = database.owner(place.0, place.1);
        let name = match id {
            Some(id) => path(Some(database), id)?,
            None => format!("visual {}", place.1),
        };
        let model = model(&visual, id, name, Some(database), &budget)?;
        if exact.is_some() || model.render_sets.iter().any(|set| vertices.contains(&set.vertices)) {
            models.push(model);
        }
    }
    if models.is_empty() {
        let what = format!("a visual of the database that draws {file}");
        return Err(Error::without_offset(ErrorKind::NotFound { what }, ""));
    }
    Ok(models)
}

/// The ids that a file may have, of which only some of the last parts of the path are known.
fn ids_of(file: &str) -> impl Iterator<Item = u64> {
    let tails = std::iter::successors(Some(file), |path| path.split_once('/').map(|(_, tail)| tail));
    tails.map(|tail| cityhash64(tail.as_bytes()))
}

/// Whether the path with this id ends with the name of `file`.
fn has_name_of(database: &Database, id: u64, file: &str) -> Result<bool> {
    Ok(database.path(id)?.is_some_and(|path| path.rsplit('/').next() == file.rsplit('/').next()))
}

/// The path with this id, or the id where the path is not known.
fn path(texts: Option<&dyn Texts>, id: u64) -> Result<String> {
    let known = texts.map(|texts| texts.path(id)).transpose()?.flatten();
    Ok(known.map_or_else(|| Id64(id).to_string(), Cow::into_owned))
}

/// The text with this id, or the id where the text is not known.
fn text(texts: Option<&dyn Texts>, id: NameId) -> Result<String> {
    let known = texts.map(|texts| texts.name(id.0)).transpose()?.flatten();
    Ok(known.map_or_else(|| Id32(id.0).to_string(), Cow::into_owned))
}

/// A budget for the parts of all models of a file of `size` bytes: each has more than a byte, where they do not lie on each
/// other.
fn parts(size: usize) -> Budget {
    Budget::new("render sets and levels of detail, which lie on each other", size as u64)
}

fn spend(budget: &Budget, count: usize) -> Result<()> {
    budget.spend(count as u64).map_err(|kind| Error::without_offset(kind, "visual"))
}

fn model(
    visual: &Visual<'_>,
    id: Option<u64>,
    name: String,
    texts: Option<&dyn Texts>,
    budget: &Budget,
) -> Result<Model> {
    spend(budget, visual.render_sets()?.len())?;
    let mut numbers = HashMap::new();
    let mut render_sets = Vec::new();
    for (number, set) in visual.render_sets()?.iter().enumerate() {
        let set = set?;
        numbers.entry(set.name()?.0).or_insert(number);
        render_sets.push(RenderSet {
            name: text(texts, set.name()?)?,
            material: Some(text(texts, set.material_name()?)?),
            vertices: set.vertices_name()?.0,
            indices: set.indices_name()?.0,
        });
    }
    let mut lods = Vec::new();
    for lod in visual.lods()?.iter() {
        let mut shown = Vec::new();
        let names = lod?.render_sets()?;
        spend(budget, names.len())?;
        for name in names.iter() {
            shown.extend(numbers.get(&name?.0));
        }
        lods.push(shown);
    }
    Ok(Model { id, name, render_sets, lods })
}
