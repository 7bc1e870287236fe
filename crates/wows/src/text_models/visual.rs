//! Visuals, `.visual`: nodes, render sets and levels of detail.

use super::document::{Document, ElementRef};
use super::references::{PathCell, Texts};
use crate::archive;
use crate::bwdb::product;
use crate::error::Result;
use crate::geometry::mesh::{HardPoint, SkeletonNode};
use crate::id;
use crate::lazy::Lazy;
use crate::models::{Model, Placements, RenderSet};
use crate::options::Options;
use crate::reader::entry::check_cells;
use crate::reader::{Facet, Reader, facets};
use crate::relations::Relations;
use crate::report::{Check, Progress, Report};
use crate::scene::{ShapeData, ShapeLink};
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Kind, Table, Value, ValueShape};
use crate::writable::Writable;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The ending of names of files.
pub(super) const ENDING: &str = ".visual";

/// A transform that changes nothing.
const IDENTITY: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Materials that are looked for. Real visuals have a few.
const MOST_MATERIALS: usize = 64;

/// The names of the elements with the rows of a transform.
const ROWS: [&str; 4] = ["row0", "row1", "row2", "row3"];

/// An open `.visual` file.
#[derive(Debug)]
pub struct VisualFile {
    pub(super) source: Source,
    options: Options,
    parts: Lazy<Parts>,
    texts: Lazy<Texts>,
}

/// The elements that are rows of tables, by number.
#[derive(Debug)]
pub(super) struct Parts {
    document: Document,
    nodes: Vec<NodePosition>,
    pub(super) render_sets: Vec<u32>,
    pub(super) lods: Vec<u32>,
}

#[derive(Debug)]
struct NodePosition {
    element: u32,
    /// The row of the node above.
    parent: Option<usize>,
}

/// The place of the vertices of a render set.
#[derive(Debug, Clone, Copy)]
pub struct SetTransform {
    /// The transform to the model.
    pub transform: [f32; 16],
    /// Whether the set is in the space of the world: only vertices with bones have its transform then.
    pub is_world: bool,
}

/// A number of a transform without the digits that products of several transforms lose.
fn rounded(number: f32) -> f32 {
    let whole = number.round();
    if (number - whole).abs() < 1e-5 { whole + 0.0 } else { number }
}

/// Whether two transforms are equal, if rounding of texts and of sums does not count.
fn is_same_place(a: &[f32; 16], b: &[f32; 16]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5 * (1.0 + a.abs()))
}

/// The names that a render set gives to its buffers: see [`VisualFile`].
struct BufferNames<'v> {
    vertices: Cow<'v, str>,
    indices: Cow<'v, str>,
}

/// A cell of a text that may be absent.
pub(super) fn cell(text: Option<Cow<'_, str>>) -> Value<'_> {
    text.map_or(Value::Null, Value::Text)
}

/// A cell of the number in the child `name`.
pub(super) fn number<'v>(node: ElementRef<'v>, name: &str) -> Result<Value<'v>> {
    Ok(node.child(name).map(ElementRef::number).transpose()?.into())
}

/// A cell of the flag in the child `name`.
pub(super) fn flag<'v>(node: ElementRef<'v>, name: &str) -> Result<Value<'v>> {
    Ok(node.child(name).map(ElementRef::flag).transpose()?.into())
}

pub(super) fn text_list(name: &'static str) -> Column {
    Column::nested(name).shaped(Some(ValueShape::list(ValueShape::of(Kind::Text))))
}

/// A cell of the texts of the children called `name`; null if `list` is absent.
pub(super) fn texts<'v>(list: Option<ElementRef<'v>>, name: &'v str) -> Result<Value<'v>> {
    let Some(list) = list else { return Ok(Value::Null) };
    Ok(Value::List(list.children_named(name).map(|item| item.text().map(Value::Text)).collect::<Result<_>>()?))
}

impl VisualFile {
    fn read(source: Source, options: &Options) -> Result<Self> {
        Ok(Self { source, options: options.clone(), parts: Lazy::default(), texts: Lazy::default() })
    }

    pub(super) fn parts(&self) -> Result<&Parts> {
        self.parts.get_or_try_init(|| {
            let document = Document::parse(&self.source)?;
            let root = document.root(&self.source);
            let mut nodes = Vec::new();
            for above in root.child("skeleton").into_iter().chain([root]) {
                add_nodes(above, &mut nodes);
            }
            let sets = root.child("renderSets").into_iter().chain([root]);
            let render_sets = sets.flat_map(|list| list.children_named("renderSet")).map(ElementRef::index).collect();
            let lods = root
                .child("lods")
                .into_iter()
                .flat_map(|list| list.children_named("lod"))
                .map(ElementRef::index)
                .collect();
            Ok(Parts { document, nodes, render_sets, lods })
        })
    }

    pub(super) fn node(&self, element: u32) -> Result<ElementRef<'_>> {
        Ok(self.parts()?.document.node(&self.source, element))
    }

    /// The render sets, with the ids of the buffers that they draw, and the levels of detail.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn model(&self) -> Result<Model> {
        let parts = self.parts()?;
        let mut model = Model { name: self.source.stem().to_owned(), ..Model::default() };
        for &element in &parts.render_sets {
            let set = self.node(element)?;
            let Some(names) = buffer_names(set)? else { continue };
            let name = set.text_of("name")?.unwrap_or_else(|| stem(&names.vertices).to_owned().into());
            let path = of_material(set, "mfm")?;
            model.render_sets.push(RenderSet {
                name: name.into_owned(),
                material: of_material(set, "identifier")?.map(Cow::into_owned),
                mfm: path.map(|path| id::of_path(&path)),
                vertices: id::of_name(&names.vertices),
                indices: id::of_name(&names.indices),
            });
        }
        let mut numbers = HashMap::new();
        for (number, set) in model.render_sets.iter().enumerate() {
            numbers.entry(set.name.as_str()).or_insert(number);
        }
        let mut lods = Vec::new();
        for &element in &parts.lods {
            let Some(list) = self.node(element)?.child("renderSets") else { continue };
            let mut sets = Vec::new();
            for name in list.children_named("renderSet") {
                sets.extend(numbers.get(&*name.text()?));
            }
            lods.push(sets);
        }
        model.lods = lods;
        Ok(model)
    }

    /// The name of each node, and its transform to the model. The transform of a node that is damaged is an error.
    fn places(&self) -> Result<Vec<HardPoint>> {
        let mut places: Vec<HardPoint> = Vec::new();
        for position in &self.parts()?.nodes {
            let node = self.node(position.element)?;
            let above = position.parent.and_then(|parent| places.get(parent)).map_or(IDENTITY, |above| above.transform);
            let name = node.text_of("identifier")?.map_or_else(String::new, Cow::into_owned);
            places.push(HardPoint { name, transform: product(&transform(node)?, &above) });
        }
        Ok(places)
    }

    /// The nodes, each after the node above it.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn skeleton(&self) -> Result<Vec<SkeletonNode>> {
        let nodes = self.parts()?.nodes.iter().map(|position| {
            let node = self.node(position.element)?;
            let name = node.text_of("identifier")?.map_or_else(String::new, Cow::into_owned);
            Ok(SkeletonNode { name, parent: position.parent, transform: transform(node)? })
        });
        nodes.collect()
    }

    /// The names of the nodes on which each render set hangs, by the id of its vertices.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn bones(&self) -> Result<HashMap<u32, Vec<String>>> {
        let mut bones = HashMap::new();
        for &element in &self.parts()?.render_sets {
            let set = self.node(element)?;
            let Some(names) = buffer_names(set)? else { continue };
            let nodes = set.child("nodes").unwrap_or(set).children_named("node");
            let nodes = nodes.map(|node| node.text().map(Cow::into_owned)).collect::<Result<Vec<String>>>()?;
            bones.insert(id::of_name(&names.vertices), nodes);
        }
        Ok(bones)
    }

    /// The nodes on which other models are put.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn hard_points(&self) -> Result<Vec<HardPoint>> {
        Ok(self.places()?.into_iter().filter(|place| place.name.starts_with("HP_")).collect())
    }

    /// The transform of each render set whose nodes all stand in one place which is not where the model is, by the id of its vertices.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn transforms(&self) -> Result<HashMap<u32, SetTransform>> {
        let places = self.places()?;
        let by_name: HashMap<&str, &HardPoint> = places.iter().map(|place| (place.name.as_str(), place)).collect();
        let mut transforms = HashMap::new();
        for &element in &self.parts()?.render_sets {
            let set = self.node(element)?;
            let is_world = set.child("treatAsWorldSpaceObject").map(ElementRef::flag).transpose()? == Some(true);
            let mut placed = Vec::new();
            for node in set.child("nodes").unwrap_or(set).children_named("node") {
                placed.push(by_name.get(&*node.text()?).map(|place| place.transform.map(rounded)));
            }
            let (Some(Some(transform)), Some(names)) = (placed.first().copied(), buffer_names(set)?) else { continue };
            if transform != IDENTITY
                && placed.iter().all(|node| node.is_some_and(|node| is_same_place(&node, &transform)))
            {
                transforms.insert(id::of_name(&names.vertices), SetTransform { transform, is_world });
            }
        }
        Ok(transforms)
    }

    /// The materials that do not lie near the file, each once. Materials of the game itself are not looked for. `None` if the file is in no
    /// folder.
    fn missing_materials(&self) -> Option<Vec<String>> {
        // Damage is reported by the tables.
        let paths: BTreeSet<String> = self.paths().ok()?.into_iter().map(|cell| cell.path).collect();
        let mods = paths.into_iter().filter(|path| !path.starts_with("content/")).take(MOST_MATERIALS);
        let mut missing = Vec::new();
        for path in mods {
            if !archive::is_near(&self.source, &self.options, &path)? {
                missing.push(path);
            }
        }
        Some(missing)
    }

    fn missing_note(&self) -> Option<String> {
        let missing = self.missing_materials().filter(|missing| !missing.is_empty())?;
        Some(format!("not at hand: {}", missing.join(", ")))
    }

    /// The paths of the materials of the render sets.
    pub(super) fn paths(&self) -> Result<Vec<PathCell>> {
        let mut paths = Vec::new();
        for (row, &set) in self.parts()?.render_sets.iter().enumerate() {
            if let Some(path) = of_material(self.node(set)?, "mfm")? {
                paths.push(PathCell { path: path.into_owned(), table: "render_sets", row, column: "mfm".into() });
            }
        }
        Ok(paths)
    }

    /// The paths of materials, and the names of nodes, render sets, their buffers and materials.
    pub(super) fn texts(&self) -> Result<&Texts> {
        self.texts.get_or_try_init(|| {
            let mut names: Vec<String> = self.places()?.into_iter().map(|place| place.name).collect();
            for &element in &self.parts()?.render_sets {
                let set = self.node(element)?;
                if let Some(buffers) = buffer_names(set)? {
                    names.push(stem(&buffers.vertices).to_owned());
                    names.extend([buffers.vertices, buffers.indices].map(Cow::into_owned));
                }
                names.extend(of_material(set, "identifier")?.map(Cow::into_owned));
            }
            Ok(Texts::new(self.paths()?.into_iter().map(|cell| cell.path), names))
        })
    }
}

/// Adds the nodes below `above`, each before the nodes below it.
fn add_nodes(above: ElementRef<'_>, nodes: &mut Vec<NodePosition>) {
    let mut waiting: Vec<(u32, Option<usize>)> = Vec::new();
    let mut below = Vec::new();
    let mut next = Some((above, None));
    while let Some((node, parent)) = next {
        below.extend(node.children_named("node").map(|child| (child.index(), parent)));
        waiting.extend(below.drain(..).rev());
        next = waiting.pop().map(|(element, parent)| {
            nodes.push(NodePosition { element, parent });
            (above.sibling(element), Some(nodes.len().saturating_sub(1)))
        });
    }
}

/// The material of a render set: its own, or that of its primitive group.
pub(super) fn material(set: ElementRef<'_>) -> Option<ElementRef<'_>> {
    set.child("material").or_else(|| set.child("geometry")?.child("primitiveGroup")?.child("material"))
}

/// The text of the child `name` of a render set's material.
fn of_material<'v>(set: ElementRef<'v>, name: &str) -> Result<Option<Cow<'v, str>>> {
    material(set).map_or(Ok(None), |material| material.text_of(name))
}

/// A name without the ending of vertices.
fn stem(name: &str) -> &str {
    name.strip_suffix(".vertices").unwrap_or(name)
}

/// The names of the buffers of a render set: stated by older files, and derived from its name in newer ones.
fn buffer_names(set: ElementRef<'_>) -> Result<Option<BufferNames<'_>>> {
    if let Some(name) = set.text_of("name")? {
        return Ok(Some(BufferNames {
            vertices: format!("{name}.vertices").into(),
            indices: format!("{name}.indices").into(),
        }));
    }
    let Some(geometry) = set.child("geometry") else { return Ok(None) };
    let (vertices, indices) = (geometry.text_of("vertices")?, geometry.text_of("primitive")?);
    Ok(vertices.zip(indices).map(|(vertices, indices)| BufferNames { vertices, indices }))
}

/// The rows of a node's transform to the node above; the last one is its position.
fn transform(node: ElementRef<'_>) -> Result<[f32; 16]> {
    let mut transform = IDENTITY;
    let Some(stated) = node.child("transform") else { return Ok(transform) };
    for (row, name) in transform.as_chunks_mut::<4>().0.iter_mut().zip(ROWS) {
        if let Some(numbers) = stated.child(name) {
            *row = numbers.numbers(*row)?;
        }
    }
    Ok(transform)
}

/// A cell of a corner of the range in which a node turns, in degrees.
fn rotation<'v>(node: ElementRef<'v>, corner: &str) -> Result<Value<'v>> {
    let Some(limit) = node.child("rotate").and_then(|rotate| rotate.child(corner)) else { return Ok(Value::Null) };
    limit.numbers([0.0; 3]).map(Value::floats)
}

super::text_format!(VisualFile, "visual", ENDING, "The nodes and render sets of a mod");

impl Reader for VisualFile {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Relations, Placements, ShapeData, ShapeLink]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        vec![Box::new(self.render_sets()), Box::new(self.nodes()), Box::new(self.lods())]
    }

    fn notes(&self) -> Vec<String> {
        self.missing_note().map(|note| format!("materials that are {note}")).into_iter().collect()
    }

    fn verify(&self, progress: &Progress) -> Report {
        let tables = self.tables();
        let mut checks: Vec<Check> = tables.iter().map(|table| check_cells(&**table, progress)).collect();
        checks.extend(self.missing_note().map(|note| Check::new("materials").with_detail(note)));
        checks.into()
    }
}

/// The ending of the file with the meshes.
pub(super) const GEOMETRY: &str = ".geometry";

impl ShapeLink for VisualFile {
    fn shape_file(&self) -> Result<Option<String>> {
        Ok(Some(format!("{}{GEOMETRY}", self.source.stem())))
    }
}

/// The render sets name the meshes of a geometry.
impl ShapeData for VisualFile {}

impl Placements for VisualFile {
    fn models_of(&self, _: &str, vertices: &BTreeSet<u32>) -> Option<Result<Vec<Model>>> {
        match self.model() {
            Ok(model) if model.render_sets.iter().any(|set| vertices.contains(&set.vertices)) => Some(Ok(vec![model])),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// A row: its number, and its element.
type Row<'v> = (usize, ElementRef<'v>);

impl VisualFile {
    fn rows<'v>(&'v self, name: &'static str, elements: fn(&Parts) -> &[u32]) -> DeclaredTable<'v, Row<'v>> {
        DeclaredTable::new(
            name,
            move || Ok(elements(self.parts()?).len()),
            move |row| elements(self.parts()?).get(row).map(|&element| Ok((row, self.node(element)?))).transpose(),
        )
        .column(Column::uint("index").brief().key(), |(row, _)| Ok((*row).into()))
    }

    /// The number of a row, the row of the node above, and the node.
    fn node_in(&self, row: usize) -> Result<Option<(usize, Option<usize>, ElementRef<'_>)>> {
        let Some(position) = self.parts()?.nodes.get(row) else { return Ok(None) };
        Ok(Some((row, position.parent, self.node(position.element)?)))
    }

    fn nodes(&self) -> impl Table {
        DeclaredTable::new("nodes", || Ok(self.parts()?.nodes.len()), |row| self.node_in(row))
            .column(Column::uint("index").brief().key(), |(row, _, _)| Ok((*row).into()))
            .column(Column::text("name").brief(), |(_, _, node)| Ok(cell(node.text_of("identifier")?)))
            .column(Column::uint("parent").brief(), |(_, parent, _)| Ok((*parent).into()))
            .columns(["x", "y", "z"].map(|axis| Column::f32(axis).brief()), |(_, _, node), axis| {
                let [.., x, y, z, _] = transform(*node)?;
                Ok([x, y, z].get(axis).copied().into())
            })
            .column(Column::floats("transform"), |(_, _, node)| Ok(Value::floats(transform(*node)?)))
            .column(Column::floats("rotate_min"), |(_, _, node)| rotation(*node, "min"))
            .column(Column::floats("rotate_max"), |(_, _, node)| rotation(*node, "max"))
    }

    fn render_sets(&self) -> impl Table {
        self.rows("render_sets", |parts| &parts.render_sets)
            .column(Column::text("name").brief(), |(_, set)| Ok(cell(set.text_of("name")?)))
            .column(Column::text("vertices"), |(_, set)| Ok(cell(buffer_names(*set)?.map(|names| names.vertices))))
            .column(Column::text("indices"), |(_, set)| Ok(cell(buffer_names(*set)?.map(|names| names.indices))))
            .column(Column::id32("vertices_id").brief().reference(), |(_, set)| {
                Ok(buffer_names(*set)?.map_or(Value::Null, |names| Value::Id32(id::of_name(&names.vertices))))
            })
            .column(Column::id32("indices_id").brief().reference(), |(_, set)| {
                Ok(buffer_names(*set)?.map_or(Value::Null, |names| Value::Id32(id::of_name(&names.indices))))
            })
            .column(Column::text("material").brief().writable(), |(_, set)| Ok(cell(of_material(*set, "identifier")?)))
            .column(Column::text("mfm").brief().writable(), |(_, set)| Ok(cell(of_material(*set, "mfm")?)))
            .column(text_list("nodes"), |(_, set)| texts(Some(set.child("nodes").unwrap_or(*set)), "node"))
            .column(Column::bool("world_space").writable(), |(_, set)| flag(*set, "treatAsWorldSpaceObject"))
    }

    fn lods(&self) -> impl Table {
        self.rows("lods", |parts| &parts.lods)
            .column(Column::f32("extent").brief().writable(), |(_, lod)| number(*lod, "extent"))
            .column(Column::bool("casts_shadow").brief().writable(), |(_, lod)| flag(*lod, "castsShadow"))
            .column(text_list("render_sets").brief(), |(_, lod)| texts(lod.child("renderSets"), "renderSet"))
    }
}
