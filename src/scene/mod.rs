//! Meshes of a `.geometry` named, paired and placed by what other files know of them: the visuals of a database, the
//! merged models of a space, and the instances of a space.

use crate::asset::Asset;
use crate::budget::Budget;
use crate::codec::cityhash64;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::bwdb::prototypes::{MergedModel, PrototypeType, Record, Visual};
use crate::formats::bwdb::record::{NameId, PathId};
use crate::formats::bwdb::{Database, Models, Names, Space};
use crate::formats::geometry::Geometry;
use crate::formats::geometry::export::{Options, Scene};
use crate::formats::geometry::mesh::{Model, Placement, RenderSet};
use crate::id::{Id32, Id64};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is known besides the `.geometry`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// A prototype database: gives names, and the visuals where there is no `models.bin`.
    pub database: Option<&'a Database>,
    /// The merged models of the space that the `.geometry` belongs to.
    pub models: Option<&'a Models>,
    /// The instances of the space.
    pub space: Option<&'a Space>,
}

impl<'a> Context<'a> {
    /// The context that these files give, whichever they are.
    ///
    /// # Errors
    /// `Unsupported` for a file that knows nothing of meshes.
    pub fn from_assets(assets: impl IntoIterator<Item = &'a Asset>) -> Result<Self> {
        let mut context = Self::default();
        for asset in assets {
            if let Some(database) = asset.get() {
                context.database = Some(database);
            } else if let Some(models) = asset.get() {
                context.models = Some(models);
            } else if let Some(space) = asset.get() {
                context.space = Some(space);
            } else {
                let what = format!("naming or placing meshes by a {} file", asset.format());
                return Err(Error::without_offset(ErrorKind::Unsupported { what: what.into() }, ""));
            }
        }
        Ok(context)
    }
}

/// The scene of `geometry`, named and placed as far as `context` knows. Without render sets the file's own hints pair
/// its mappings, which the notes say.
///
/// # Errors
/// When the mappings do not lie in the file, when a `space.bin` comes without its `models.bin`, and `NotFound` when
/// no visual of the database draws this file.
pub fn scene<'g>(geometry: &'g Geometry, context: Context<'_>, options: Options) -> Result<Scene<'g>> {
    let name = geometry.source().stem();
    let models = match (context.models, context.database) {
        (Some(models), _) => merged_models(models, context.database)?,
        (None, Some(database)) => visuals_of(database, geometry)?,
        (None, None) => Vec::new(),
    };
    let groups =
        if models.is_empty() { Cow::Borrowed(geometry.groups()?) } else { Cow::Owned(geometry.groups_of(&models)?) };
    let placements = match (context.space, context.models) {
        (None, _) => None,
        (Some(space), Some(models)) => Some(placements(space, models)),
        (Some(_), None) => {
            let what = "the models.bin that the instances of the space.bin refer to".to_owned();
            return Err(Error::without_offset(ErrorKind::NotFound { what }, ""));
        }
    };
    let (placements, strangers) = placements.map_or((None, 0), |(placed, strangers)| (Some(placed), strangers));
    let mut scene = Scene::new(name, geometry, &groups, placements.as_deref(), options);
    if strangers > 0 {
        scene.notes.push(format!("{strangers} instances are of models that the models.bin does not have"));
    }
    Ok(scene)
}

/// The models of a `models.bin`, in file order, named by `database` where it knows them.
///
/// # Errors
/// When a model's arrays leave the file.
pub fn merged_models(models: &Models, database: Option<&Database>) -> Result<Vec<Model>> {
    let budget = parts(models.source().bytes().len());
    let mut name_model = |(i, merged): (usize, MergedModel<'_>)| {
        let read = || model(&merged.visual()?, path(database, merged.id()?)?, database, &budget);
        read().map_err(|e| e.within(format_args!("model {i}")))
    };
    models.models().enumerate().map(&mut name_model).collect()
}

/// The visuals of `database` that draw `geometry`: those that name the id of its path (of any part of it, as files
/// may lie anywhere), else those whose file has the same name and whose render sets its mappings know.
///
/// # Errors
/// `NotFound` when there is none, and whatever is wrong with the visuals.
pub fn visuals_of(database: &Database, geometry: &Geometry) -> Result<Vec<Model>> {
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
    let file = geometry.source().name().replace('\\', "/");
    let mut tails = std::iter::successors(Some(file.as_str()), |path| path.split_once('/').map(|(_, tail)| tail));
    let exact = tails.find_map(|tail| by_geometry.get(&cityhash64(tail.as_bytes())));
    let found = match exact {
        Some(found) => found.clone(),
        None => {
            let name = file.rsplit('/').next().unwrap_or(&file);
            let mut found = Vec::new();
            for (&id, visuals) in &by_geometry {
                let path = database.path(id)?;
                if path.is_some_and(|path| path.rsplit('/').next() == Some(name)) {
                    found.extend(visuals);
                }
            }
            found
        }
    };
    let ids: BTreeSet<u32> = geometry.vertex_mappings()?.iter().map(|m| m.mapping_id.get()).collect();
    let budget = parts(database.source().bytes().len());
    let mut models = Vec::new();
    for place in found {
        let Some(Record::Visual(visual)) = database.database(place.0)?.record(place.1)? else {
            continue;
        };
        let name = match database.owner(place.0, place.1) {
            Some(id) => path(Some(database), PathId(id))?,
            None => format!("visual {}", place.1),
        };
        let model = model(&visual, name, Some(database), &budget)?;
        if exact.is_some() || model.render_sets.iter().any(|set| ids.contains(&set.vertices)) {
            models.push(model);
        }
    }
    if models.is_empty() {
        let what = format!("a visual of the database that draws {file}");
        return Err(Error::without_offset(ErrorKind::NotFound { what }, ""));
    }
    Ok(models)
}

/// The path with this id, or the id where the path is not known.
fn path(database: Option<&Database>, id: PathId) -> Result<String> {
    let known = match database {
        Some(database) => Names::path(database, id)?.map(Cow::into_owned),
        None => None,
    };
    Ok(known.unwrap_or_else(|| Id64(id.0).to_string()))
}

/// The text with this id, or the id where the text is not known.
fn text(database: Option<&Database>, id: NameId) -> Result<String> {
    let known = match database {
        Some(database) => database.string(id.0)?.map(str::to_owned),
        None => None,
    };
    Ok(known.unwrap_or_else(|| Id32(id.0).to_string()))
}

/// What all models of a file of `size` bytes may have: more than a byte each, where they do not lie on each other.
fn parts(size: usize) -> Budget {
    Budget::new("render sets and levels of detail, which lie on each other", size as u64)
}

fn spend(budget: &Budget, count: usize) -> Result<()> {
    budget.spend(count as u64).map_err(|kind| Error::without_offset(kind, "visual"))
}

fn model(visual: &Visual<'_>, name: String, database: Option<&Database>, budget: &Budget) -> Result<Model> {
    spend(budget, visual.render_sets()?.len())?;
    let mut numbers = HashMap::new();
    let mut render_sets = Vec::new();
    for (number, set) in visual.render_sets()?.iter().enumerate() {
        let set = set?;
        numbers.entry(set.name()?.0).or_insert(number);
        render_sets.push(RenderSet {
            name: text(database, set.name()?)?,
            material: Some(text(database, set.material_name()?)?),
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
    Ok(Model { name, render_sets, lods })
}

/// Where the instances of `space` put which model of `models`, and how many instances are of none of them.
fn placements(space: &Space, models: &Models) -> (Vec<Placement>, usize) {
    let id = |(i, m): (usize, MergedModel<'_>)| Some((m.id().ok()?.0, i));
    let numbers: HashMap<u64, usize> = models.models().enumerate().filter_map(id).collect();
    let mut strangers = 0usize;
    let mut placed = Vec::new();
    for instance in space.instances() {
        match numbers.get(&instance.id.get()) {
            Some(&model) => placed.push(Placement { model, transform: instance.transform.map(|v| v.get()) }),
            None => strangers = strangers.saturating_add(1),
        }
    }
    (placed, strangers)
}
