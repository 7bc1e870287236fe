//! Models that a database and a space put together of meshes in a `.geometry`, and their places.

use super::prototypes::{Material, NO_PARENT, Prototype, PrototypeType, SkeletonExtender, Visual, known_property_name};
use super::record::{Leaf, NameId};
use super::{Database, Models, Space};
use crate::budget::Budget;
use crate::codec::cityhash64;
use crate::error::{Error, ErrorKind, Result};
use crate::file_name;
use crate::id::{Id32, Id64};
use crate::models::{self, Drawn, Instance, Model, Placements, Property, RenderSet, Surface};
use crate::relations::IdTexts;
use crate::scene::ShapeData;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl ShapeData for Database {}

impl Placements for Database {
    /// The render sets of the visual `id` if it draws `file`: if it refers to a trailing part of the path `file`, or to a
    /// path with the same file name.
    fn drawn_by(&self, id: u64, file: &str) -> Result<Vec<Drawn>> {
        let Some(visual) = self.visual_with(id)? else { return Ok(Vec::new()) };
        let (drawn, file) = (visual.geometry()?.0, file.replace('\\', "/"));
        if !ids_of(&file).any(|id| id == drawn) && !has_name_of(self, drawn, &file)? {
            return Ok(Vec::new());
        }
        render_sets(&visual, self)
    }

    fn models_of(&self, file: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        Some(visuals_of(self, file, vertices))
    }

    fn visual(&self, path: &str) -> Result<Option<models::Visual>> {
        let Some(found) = self.lookup_path(path)? else { return Ok(None) };
        let mut extenders = Vec::new();
        let visual = match found.record()? {
            Some(Prototype::Visual(visual)) => Some(visual),
            Some(Prototype::Model(model)) => {
                extenders = model.skeleton_extenders()?.collect::<Result<Vec<_>>>()?;
                self.visual_with(model.visual()?.0)?
            }
            Some(Prototype::ModelV14(model)) => self.visual_with(model.visual()?.0)?,
            _ => None,
        };
        let Some(visual) = visual else { return Ok(None) };
        let budget = parts(self.source().bytes().len());
        let mut nodes = nodes(&visual, self, &budget)?;
        for extender in extenders {
            if let Some(Prototype::SkeletonExtender(extender)) = self.record(extender)? {
                extend(&mut nodes, &extender, self, &budget)?;
            }
        }
        let model = model(&visual, None, path.to_owned(), Some(self), &budget)?;
        let geometry = self::path(Some(self), visual.geometry()?.0)?;
        Ok(Some(models::Visual { geometry, model, nodes }))
    }

    fn surface(&self, id: u64, texts: &dyn IdTexts) -> Option<Result<Surface>> {
        match self.record(id) {
            Ok(Some(Prototype::Material(material))) => Some(surface(&material, id, texts)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl Database {
    fn visual_with(&self, id: u64) -> Result<Option<Visual<'_>>> {
        match self.record(id)? {
            Some(Prototype::Visual(visual)) => Ok(Some(visual)),
            _ => Ok(None),
        }
    }
}

type Nodes = Vec<(String, [f32; 16])>;

/// The nodes of a visual, each with its transform to the model.
fn nodes(visual: &Visual<'_>, texts: &dyn IdTexts, budget: &Budget) -> Result<Nodes> {
    let skeleton = visual.skeleton()?;
    let (names, parents, matrices) = (skeleton.names()?, skeleton.parents()?, skeleton.matrices()?);
    spend(budget, names.len())?;
    let mut found: Vec<Option<[f32; 16]>> = vec![None; names.len()];
    for node in 0..found.len() {
        // Up to the nearest node that is known, then down again.
        let mut chain = Vec::new();
        let mut at = node;
        let mut above = loop {
            match (found.get(at), parents.get(at).transpose()?, matrices.get(at).transpose()?) {
                (Some(Some(known)), ..) => break Some(*known),
                (_, Some(_), _) if chain.len() > names.len() => {
                    return Err(parents.view().error(ErrorKind::Cycle { at: node as u64 }));
                }
                (_, Some(parent), Some(own)) => {
                    chain.push((at, own));
                    if parent == NO_PARENT {
                        break None;
                    }
                    at = usize::from(parent);
                }
                _ => return Err(parents.view().bad_value("parent of a node", at as u64)),
            }
        };
        for (at, own) in chain.into_iter().rev() {
            let to_model = above.map_or(own, |above| product(&own, &above));
            found.get_mut(at).into_iter().for_each(|slot| *slot = Some(to_model));
            above = Some(to_model);
        }
    }
    let named = names.iter().zip(found.into_iter().flatten());
    named.map(|(name, matrix)| Ok((text(Some(texts), name?)?, matrix))).collect()
}

/// Adds the nodes of an extender, each below a node that is there already. A node without such a parent stands on the model
/// itself.
fn extend(nodes: &mut Nodes, extender: &SkeletonExtender<'_>, texts: &dyn IdTexts, budget: &Budget) -> Result<()> {
    let (names, parents, matrices) = (extender.names()?, extender.parents()?, extender.matrices()?);
    spend(budget, names.len())?;
    let mut places: HashMap<String, [f32; 16]> = nodes.iter().cloned().collect();
    for ((name, parent), own) in names.iter().zip(parents.iter()).zip(matrices.iter()) {
        let [name, parent] = [text(Some(texts), name?)?, text(Some(texts), parent?)?];
        let own = own?;
        let matrix = places.get(&parent).map_or(own, |above| product(&own, above));
        places.insert(name.clone(), matrix);
        nodes.push((name, matrix));
    }
    Ok(())
}

/// The transform that is first `a` and then `b`: rows, for row vectors.
pub(crate) fn product(a: &[f32; 16], b: &[f32; 16]) -> [f32; 16] {
    let (rows, _) = a.as_chunks::<4>();
    let [p, q, r, s] = b.as_chunks::<4>().0 else { return *a };
    let mut out = [0.0; 16];
    for (to, [x, y, z, w]) in out.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
        for ((((to, p), q), r), s) in to.iter_mut().zip(p).zip(q).zip(r).zip(s) {
            *to = x * p + y * q + z * r + w * s;
        }
    }
    out
}

/// A material with the names of its properties and the paths of its textures. A texture whose path is not known is named by
/// its id.
fn surface(material: &Material<'_>, id: u64, texts: &dyn IdTexts) -> Result<Surface> {
    let mut surface = Surface::new(path(Some(texts), id)?);
    surface.fx = path(Some(texts), material.fx()?.0)?;
    for property in material.properties()? {
        let property = property?;
        let name = match known_property_name(property.name) {
            Some(name) => name.to_owned(),
            None => text(Some(texts), property.name)?,
        };
        let value = match property.value() {
            Leaf::Path(texture) => Property::Texture(path(Some(texts), texture.0)?),
            Leaf::Value(value) => Property::Value(value.into_owned()),
            _ => continue,
        };
        surface.properties.push((name, value));
    }
    Ok(surface)
}

impl ShapeData for Models {}

impl Placements for Models {
    fn drawn_by(&self, id: u64, _: &str) -> Result<Vec<Drawn>> {
        self.lookup(id).map_or_else(|| Ok(Vec::new()), |model| render_sets(&model.visual()?, &*self.names))
    }

    fn models(&self, texts: Option<&dyn IdTexts>) -> Option<Result<Vec<Model>>> {
        let budget = parts(self.source().bytes().len());
        let named = self.models().enumerate().map(|(number, merged)| {
            let named =
                merged.id().and_then(|id| model(&merged.visual()?, Some(id.0), path(texts, id.0)?, texts, &budget));
            named.map_err(|error| error.context(format_args!("model {number}")))
        });
        Some(named.collect())
    }
}

impl ShapeData for Space {}

impl Placements for Space {
    fn instances(&self) -> Option<Vec<Instance>> {
        let instances = self.instances().iter();
        Some(instances.map(|i| Instance { id: i.id.get(), transform: i.transform.map(|v| v.get()) }).collect())
    }
}

fn render_sets(visual: &Visual<'_>, texts: &dyn IdTexts) -> Result<Vec<Drawn>> {
    let mut drawn = Vec::new();
    for set in visual.render_sets()?.iter() {
        let set = set?;
        let name = texts.name(set.name()?.0)?.map(Cow::into_owned);
        drawn.push(Drawn { name, vertices: set.vertices_name()?.0, indices: set.indices_name()?.0 });
    }
    Ok(drawn)
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
            if let Some(Prototype::Visual(visual)) = blob.record(record)? {
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
        let Some(Prototype::Visual(visual)) = database.database(place.0)?.record(place.1)? else {
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
        let what = format!("no visual of the database draws {file}");
        return Err(Error::of_part(ErrorKind::NotFound { what }, ""));
    }
    Ok(models)
}

/// The possible ids of a file in the game: the hashes of all trailing parts of its path on this machine.
fn ids_of(file: &str) -> impl Iterator<Item = u64> {
    let tails = std::iter::successors(Some(file), |path| path.split_once('/').map(|(_, tail)| tail));
    tails.map(|tail| cityhash64(tail.as_bytes()))
}

/// Whether the path with this id ends with the name of `file`.
fn has_name_of(database: &Database, id: u64, file: &str) -> Result<bool> {
    Ok(database.path(id)?.is_some_and(|path| file_name(&path) == file_name(file)))
}

/// The path with this id, or the id if the path is unknown.
fn path(texts: Option<&dyn IdTexts>, id: u64) -> Result<String> {
    let known = texts.map(|texts| texts.path(id)).transpose()?.flatten();
    Ok(known.map_or_else(|| Id64(id).to_string(), Cow::into_owned))
}

/// The text with this id, or the id if the text is unknown.
fn text(texts: Option<&dyn IdTexts>, id: NameId) -> Result<String> {
    let known = texts.map(|texts| texts.name(id.0)).transpose()?.flatten();
    Ok(known.map_or_else(|| Id32(id.0).to_string(), Cow::into_owned))
}

/// A budget for the parts of all models of a file of `size` bytes: each has more than a byte, where they do not lie on each
/// other.
fn parts(size: usize) -> Budget {
    Budget::new("overlapping render sets and levels of detail", size as u64)
}

fn spend(budget: &Budget, count: usize) -> Result<()> {
    budget.spend(count as u64).map_err(|kind| Error::of_part(kind, "visual"))
}

fn model(
    visual: &Visual<'_>,
    id: Option<u64>,
    name: String,
    texts: Option<&dyn IdTexts>,
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
            mfm: Some(set.mfm()?.0),
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
    let bounds = Some([visual.min()?, visual.max()?]);
    Ok(Model { id, name, render_sets, lods, bounds })
}
