//! The text models beside a geometry: its visual, the visuals of its coarser levels, and their materials.

use super::visual::SetTransform;
use super::{Material, ModelFile, VisualFile};
use crate::archive;
use crate::error::Result;
use crate::geometry::mesh::{HardPoint, SkeletonNode};
use crate::id;
use crate::models::{Model, Placements, Surface};
use crate::options::Options;
use crate::relations::IdTexts;
use crate::source::Source;
use std::collections::{HashMap, HashSet};

/// Levels of detail that are followed from model to model. Real models have four.
const MAX_LEVELS: usize = 16;

/// The text models beside a geometry.
#[derive(Debug)]
pub struct Companions {
    model: Model,
    /// The paths of materials by their ids.
    materials: HashMap<u64, String>,
    /// The transforms of meshes that hang on a node, by the ids of their vertices.
    transforms: HashMap<u32, SetTransform>,
    hard_points: Vec<HardPoint>,
    /// The nodes that move meshes, by the ids of their vertices.
    bones: HashMap<u32, Vec<String>>,
    skeleton: Vec<SkeletonNode>,
    source: Source,
    options: Options,
}

/// The last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

impl Companions {
    /// The companions of the geometry `source`: the `.visual` with its stem, and the visuals of the models that the `.model` with
    /// its stem names. `None` without such a visual.
    ///
    /// # Errors
    /// When one of them is damaged or cannot be read.
    pub fn find(source: &Source, options: &Options) -> Result<Option<Self>> {
        let stem = source.stem();
        let mut visuals = Vec::new();
        let mut next = Some(format!("{stem}{}", super::model::ENDING));
        let mut seen = HashSet::new();
        visuals.extend(beside(source, options, &format!("{stem}{}", super::visual::ENDING))?);
        while let Some(name) = next.take().filter(|name| seen.len() < MAX_LEVELS && seen.insert(name.clone())) {
            let Some(file) = beside(source, options, &name)? else { break };
            let model = ModelFile::open(file).and_then(|model| Ok((model.visual()?, model.parent()?)));
            let (visual, parent) = model.map_err(|error| error.in_file(file_name(&name)))?;
            if let Some(visual) = visual.filter(|_| seen.len() > 1) {
                visuals.extend(beside(source, options, file_name(&visual))?);
            }
            next = parent.map(|path| file_name(&path).to_owned());
        }
        if visuals.is_empty() {
            return Ok(None);
        }
        let mut found = Self {
            model: Model { name: stem.to_owned(), ..Model::default() },
            materials: HashMap::new(),
            transforms: HashMap::new(),
            hard_points: Vec::new(),
            bones: HashMap::new(),
            skeleton: Vec::new(),
            source: source.clone(),
            options: options.clone(),
        };
        for visual in visuals {
            let name = visual.name().to_owned();
            let added = VisualFile::open(visual).and_then(|visual| found.add(&visual));
            added.map_err(|error| error.in_file(file_name(&name)))?;
        }
        Ok(Some(found))
    }

    /// Adds a visual with its levels of detail, or as the next level.
    fn add(&mut self, visual: &VisualFile) -> Result<()> {
        let Model { render_sets, lods, .. } = visual.model()?;
        let first = self.model.render_sets.len();
        let lods = if lods.is_empty() { vec![(0..render_sets.len()).collect()] } else { lods };
        self.model.render_sets.extend(render_sets);
        for lod in lods {
            self.model.lods.push(lod.into_iter().map(|set| set.saturating_add(first)).collect());
        }
        self.transforms.extend(visual.transforms()?);
        self.bones.extend(visual.bones()?);
        self.add_nodes(visual.skeleton()?);
        if first == 0 {
            self.hard_points = visual.hard_points()?;
        }
        self.materials.extend(visual.paths()?.into_iter().map(|cell| (id::of_path(&cell.path), cell.path)));
        Ok(())
    }

    /// The render sets of all levels.
    pub fn model(&self) -> &Model {
        &self.model
    }

    pub fn material(&self, id: u64) -> Option<&str> {
        self.materials.get(&id).map(String::as_str)
    }

    /// The transform of the mesh with these vertices, if it hangs on a node that has one.
    pub fn transform(&self, vertices: u32) -> Option<SetTransform> {
        self.transforms.get(&vertices).copied()
    }

    /// Adds nodes whose names are new. Visuals of coarser levels mostly have the nodes of the first.
    fn add_nodes(&mut self, nodes: Vec<SkeletonNode>) {
        let mut known: HashMap<String, usize> =
            self.skeleton.iter().enumerate().rev().map(|(number, node)| (node.name.clone(), number)).collect();
        let is_first = known.is_empty();
        let mut numbers = Vec::with_capacity(nodes.len());
        for node in nodes {
            let parent = node.parent.and_then(|parent| numbers.get(parent).copied());
            let number = known.get(&node.name).copied().filter(|_| !is_first).unwrap_or(self.skeleton.len());
            if number == self.skeleton.len() {
                known.insert(node.name.clone(), number);
                self.skeleton.push(SkeletonNode { parent, ..node });
            }
            numbers.push(number);
        }
    }

    /// The names of the nodes that move the mesh with these vertices, by the number of the bone.
    pub fn bones(&self, vertices: u32) -> &[String] {
        self.bones.get(&vertices).map_or(&[], Vec::as_slice)
    }

    /// The nodes of all visuals.
    pub fn skeleton(&self) -> &[SkeletonNode] {
        &self.skeleton
    }

    /// The nodes on which other models are put.
    pub fn hard_points(&self) -> &[HardPoint] {
        &self.hard_points
    }
}

/// The file `name` beside `source`, or in the folder `lods` there.
fn beside(source: &Source, options: &Options, name: &str) -> Result<Option<Source>> {
    match archive::beside(source, options, name)? {
        None => archive::beside(source, options, &format!("lods/{name}")),
        found => Ok(found),
    }
}

impl Placements for Companions {
    fn surface(&self, id: u64, _: &dyn IdTexts) -> Option<Result<Surface>> {
        let path = self.materials.get(&id)?;
        let file = archive::beside(&self.source, &self.options, file_name(path)).transpose()?;
        Some(file.and_then(Material::open).map(|material| {
            let mut surface = material.surface().clone();
            surface.name.clone_from(path);
            surface
        }))
    }
}
