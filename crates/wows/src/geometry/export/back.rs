//! Meshes of a GLB as vertices and indices of the groups that they were written from.
//!
//! An unchanged number keeps its bytes: where the GLB has the number that the file's own is written as, the file's own
//! stays.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::boxes::HIT_BOXES;
use super::glb::STREAMS;
use super::part::{PartShape, ScenePart, mirror, unit};
use super::{Options, Scene};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::content::turned;
use crate::geometry::mesh::{Group, Groups, cross};
use crate::geometry::{Attribute, Geometry, METRES, VertexFormat, Vertices};
use crate::scene::figure::Solid;
use crate::writable::refused;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use gltf::{Accessor, Document, Primitive, buffer};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;

/// A GLB file with a valid description. Its numbers are checked when they are read.
pub(in crate::geometry) struct Glb<'b> {
    document: Document,
    binary: Option<Cow<'b, [u8]>>,
}

/// A mesh as described in the glTF.
#[derive(Clone)]
pub(in crate::geometry) struct Mesh<'g> {
    pub name: &'g str,
    /// The ids of the vertex mapping and of the index mapping that it was written from, if it has them.
    pub ids: Option<(u32, u32)>,
    /// Units of models for a unit of its positions.
    scale: f32,
    primitive: Option<Primitive<'g>>,
}

impl Mesh<'_> {
    #[cold]
    fn refuse(&self, what: impl Display) -> Error {
        refused(format!("mesh {:?}: {what}", self.name))
    }
}

#[cold]
fn damaged(what: impl Into<Cow<'static, str>>) -> Error {
    Error::of_part(ErrorKind::damaged(what), "GLB")
}

#[cold]
fn unreadable(error: &gltf::Error) -> Error {
    let gltf::Error::Validation(faults) = error else {
        return damaged(format!("it is no valid binary glTF 2.0: {error}"));
    };
    let mut what = "its description is not valid".to_owned();
    if let [(path, fault), more @ ..] = &**faults {
        what = format!("{what}: {path}: {fault}");
        if !more.is_empty() {
            what = format!("{what}, and {} more faults", more.len());
        }
    }
    damaged(what)
}

impl<'b> Glb<'b> {
    /// Reads and validates the description.
    ///
    /// # Errors
    /// `Damaged` for bytes that are no valid binary glTF 2.0, wrong usage for one that needs an extension.
    pub fn parse(bytes: &'b [u8]) -> Result<Self> {
        /// Bytes of the header, with which the length at offset 8 begins. The reader takes a smaller length for a huge one.
        const HEADER: u32 = 12;
        let length = bytes.get(8..).and_then(<[u8]>::first_chunk).map(|length| u32::from_le_bytes(*length));
        if length.is_none_or(|length| length < HEADER) {
            return Err(damaged("it is no valid binary glTF 2.0: it ends in its header"));
        }
        let container = gltf::binary::Glb::from_slice(bytes).map_err(|error| unreadable(&error))?;
        let root: gltf::json::Root =
            gltf::json::deserialize::from_slice(&container.json).map_err(|error| damaged(error.to_string()))?;
        if let Some(extension) = root.extensions_required.first() {
            let what =
                "is required to read this GLB, and assetq reads none: export it without compression and extensions";
            return Err(refused(format!("the glTF extension {extension:?} {what}")));
        }
        // The library's validation expects these accessors to exist.
        let mut attributes =
            root.meshes.iter().flat_map(|mesh| &mesh.primitives).flat_map(|one| one.attributes.values());
        if let Some(bad) = attributes.find(|accessor| accessor.value() >= root.accessors.len()) {
            return Err(damaged(format!("accessor {bad} of {} is missing", root.accessors.len())));
        }
        let document = Document::from_json(root).map_err(|error| unreadable(&error))?;
        Ok(Self { document, binary: container.bin })
    }

    /// Returns the scale of each mesh in the scene, by number: metres for a unit of its positions. A mesh without a node has that of
    /// models.
    ///
    /// # Errors
    /// Wrong usage for a node that moves or turns a mesh, as vertices have no place but their own, and for a mesh in two sizes.
    fn scales(&self) -> Result<Vec<f32>> {
        let nodes = self.document.nodes();
        let children: HashSet<usize> =
            nodes.clone().flat_map(|node| node.children().map(|child| child.index()).collect::<Vec<_>>()).collect();
        let mut open: Vec<(gltf::Node<'_>, f32)> =
            nodes.filter(|node| !children.contains(&node.index())).map(|node| (node, 1.0)).collect();
        let mut met = HashSet::new();
        let mut scales: Vec<Option<f32>> = vec![None; self.document.meshes().len()];
        while let Some((node, above)) = open.pop() {
            // A damaged file may give a node several parents.
            if !met.insert(node.index()) || node.name() == Some(HIT_BOXES) {
                continue;
            }
            let scale = uniform_scale(node.transform().matrix());
            let scale = above * scale.ok_or_else(|| refuse_node(&node, "is moved, turned or skewed"))?;
            let known = node.mesh().and_then(|mesh| scales.get_mut(mesh.index()));
            if let Some(known) = known
                && known.replace(scale).is_some_and(|known| known != scale)
            {
                return Err(refuse_node(&node, "shows a mesh in another size"));
            }
            open.extend(node.children().map(|child| (child, scale)));
        }
        Ok(scales.into_iter().map(|scale| scale.unwrap_or(METRES)).collect())
    }

    /// The GLB's meshes, without hit boxes.
    ///
    /// # Errors
    /// Wrong usage for meshes that are moved or turned, or have several materials.
    pub fn meshes(&self) -> Result<Vec<Mesh<'_>>> {
        let scales = self.scales()?;
        let hit_boxes = self.document.nodes().filter(|node| node.name() == Some(HIT_BOXES));
        let hit_boxes = hit_boxes.flat_map(|root| root.children().filter_map(|node| node.mesh()).collect::<Vec<_>>());
        let hit_boxes: BTreeSet<usize> = hit_boxes.map(|mesh| mesh.index()).collect();
        let mut meshes = Vec::new();
        for one in self.document.meshes().filter(|mesh| !hit_boxes.contains(&mesh.index())) {
            let (ids, name) = (ids_of(&one), one.name().unwrap_or_default());
            if one.primitives().len() > 1 {
                let what = "has more than one material; a render group has one";
                return Err(refused(format!("mesh {name:?} {what}")));
            }
            let scale = scales.get(one.index()).copied().unwrap_or(METRES) / METRES;
            meshes.push(Mesh { name, ids, scale, primitive: one.primitives().next() });
        }
        Ok(meshes)
    }

    fn bytes(&self, buffer: &buffer::Buffer<'_>) -> Option<&[u8]> {
        self.binary.as_deref().filter(|_| buffer.index() == 0 && matches!(buffer.source(), buffer::Source::Bin))
    }

    /// Checks that `count` elements of `size` bytes at `offset` of a view lie in it, and the view in the GLB. Returns the bytes
    /// from the first element on, and the distance between elements.
    fn check(&self, view: &buffer::View<'_>, offset: usize, count: usize, size: usize) -> Result<(&[u8], usize)> {
        let Some(bytes) = self.bytes(&view.buffer()) else {
            return Err(refused("the GLB has numbers in another file: export it as one .glb file"));
        };
        let stride = view.stride().unwrap_or(size);
        if stride < size {
            return Err(damaged(format!("elements of {size} bytes, {stride} bytes apart, overlap")));
        }
        let last = stride.checked_mul(count.saturating_sub(1)).and_then(|last| offset.checked_add(last));
        let is_inside = last.and_then(|last| last.checked_add(size)).is_some_and(|end| end <= view.length());
        let bytes = bytes.get(view.offset()..).and_then(|bytes| bytes.get(..view.length()));
        let elements = bytes.filter(|_| is_inside).and_then(|bytes| bytes.get(offset..));
        let elements = elements.ok_or_else(|| damaged(format!("an accessor of {count} elements leaves its buffer")))?;
        Ok((elements, stride))
    }

    /// The elements of an accessor.
    fn elements(&self, accessor: &Accessor<'_>) -> Result<Elements> {
        /// Elements of an accessor without bytes of its own, which are zeros unless it lists others.
        const ZEROS: usize = 1 << 20;
        let (count, kind) = (accessor.count(), accessor.data_type());
        let components = accessor.dimensions().multiplicity();
        if count == 0 {
            return Ok(Elements { components, all: Vec::new() });
        }
        if matches!(accessor.dimensions(), Dimensions::Mat2 | Dimensions::Mat3 | Dimensions::Mat4) {
            return Err(damaged("an accessor of matrices"));
        }
        let mut all = match (accessor.view(), accessor.sparse()) {
            (Some(view), _) => self.numbers(&view, accessor.offset(), count, kind, components)?,
            (None, Some(_)) if count <= ZEROS => vec![[0.0; 4]; count],
            (None, Some(_)) => return Err(damaged(format!("an accessor of {count} zeros: {ZEROS} fit"))),
            (None, None) => return Err(damaged("an accessor without numbers")),
        };
        if let Some(sparse) = accessor.sparse() {
            let (indices, values, few) = (sparse.indices(), sparse.values(), sparse.count());
            if few == 0 || few > count {
                return Err(damaged(format!("{few} sparse elements of {count}")));
            }
            let values = self.numbers(&values.view(), values.offset(), few, kind, components)?;
            let index_type = match indices.index_type() {
                IndexType::U8 => DataType::U8,
                IndexType::U16 => DataType::U16,
                IndexType::U32 => DataType::U32,
            };
            let indices = self.numbers(&indices.view(), indices.offset(), few, index_type, 1)?;
            let mut before = None;
            for ([index, ..], value) in indices.into_iter().zip(values) {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of 32 bits")]
                let element = all.get_mut(index as usize).filter(|_| before.is_none_or(|before| before < index));
                let Some(element) = element else {
                    let what = format!("sparse index {index} of {count} elements, out of order or out of range");
                    return Err(damaged(what));
                };
                *element = value;
                before = Some(index);
            }
        }
        if accessor.normalized() {
            // The number for 1.
            let greatest: f64 = match kind {
                DataType::I8 => i8::MAX.into(),
                DataType::U8 => u8::MAX.into(),
                DataType::I16 => i16::MAX.into(),
                DataType::U16 => u16::MAX.into(),
                DataType::U32 | DataType::F32 => {
                    return Err(damaged("a normalized accessor of a type that cannot be normalized"));
                }
            };
            all.as_flattened_mut().iter_mut().for_each(|number| *number = (*number / greatest).max(-1.0));
        }
        Ok(Elements { components, all })
    }

    /// The numbers of `count` elements at an offset of a view.
    fn numbers(
        &self,
        view: &buffer::View<'_>,
        offset: usize,
        count: usize,
        kind: DataType,
        components: usize,
    ) -> Result<Vec<[f64; 4]>> {
        let (bytes, stride) = self.check(view, offset, count, kind.size().saturating_mul(components))?;
        let elements = bytes.chunks(stride).take(count);
        Ok(match kind {
            DataType::I8 => filled(elements, components, |bytes| i8::from_le_bytes(bytes).into()),
            DataType::U8 => filled(elements, components, |bytes| u8::from_le_bytes(bytes).into()),
            DataType::I16 => filled(elements, components, |bytes| i16::from_le_bytes(bytes).into()),
            DataType::U16 => filled(elements, components, |bytes| u16::from_le_bytes(bytes).into()),
            DataType::U32 => filled(elements, components, |bytes| u32::from_le_bytes(bytes).into()),
            DataType::F32 => filled(elements, components, |bytes| f32::from_le_bytes(bytes).into()),
        })
    }

    /// The triangles of a mesh of `count` vertices, however its indices describe them.
    fn triangles(&self, mesh: &Mesh<'_>, primitive: &Primitive<'_>, count: usize) -> Result<Vec<[u32; 3]>> {
        let indices = match (primitive.indices(), u32::try_from(count)) {
            (Some(accessor), _) => self.elements(&accessor)?.whole("indices")?,
            (None, Ok(count)) => (0..count).collect(),
            (None, Err(_)) => return Err(mesh.refuse(format_args!("{count} vertices are more than indices can name"))),
        };
        if let Some(bad) = indices.iter().find(|index| **index as usize >= count) {
            return Err(mesh.refuse(format_args!("index {bad} of {count} vertices")));
        }
        let triangles: Vec<[u32; 3]> = match primitive.mode() {
            Mode::Triangles if indices.len().is_multiple_of(3) => indices.as_chunks().0.to_vec(),
            Mode::Triangles => {
                return Err(mesh.refuse(format_args!("{} indices are no whole triangles", indices.len())));
            }
            Mode::TriangleStrip => {
                let all = indices.array_windows::<3>().zip([false, true].into_iter().cycle());
                // Triangles without an area join strips.
                let whole = all.filter(|([a, b, c], _)| a != b && b != c && a != c);
                whole.map(|(&[a, b, c], odd)| if odd { [a, c, b] } else { [a, b, c] }).collect()
            }
            Mode::TriangleFan => {
                let (first, rest) = indices.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
                rest.array_windows::<2>().map(|[b, c]| [*b, *c, first]).collect()
            }
            mode => {
                let what = "a render group has triangles: make faces of them, or leave the mesh out";
                return Err(mesh.refuse(format_args!("its primitives are {mode:?}; {what}")));
            }
        };
        if triangles.is_empty() { Err(mesh.refuse("it has no triangles")) } else { Ok(triangles) }
    }

    fn surface(&self, mesh: &Mesh<'_>) -> Result<Surface> {
        let primitive = mesh.primitive.as_ref().ok_or_else(|| mesh.refuse("it has no vertices"))?;
        let positions = primitive.get(&gltf::Semantic::Positions);
        let positions = positions.ok_or_else(|| mesh.refuse("it has no positions"))?;
        let mut positions = self.elements(&positions)?.all::<3>("POSITION")?;
        if mesh.scale != 1.0 {
            positions.iter_mut().flatten().for_each(|v| *v *= mesh.scale);
        }
        let triangles = self.triangles(mesh, primitive, positions.len())?;
        Ok(Surface { positions, triangles })
    }
}

/// The positions of the vertices of a mesh, and its triangles.
struct Surface {
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

#[cold]
fn refuse_node(node: &gltf::Node<'_>, what: &str) -> Error {
    let apply = "apply that to its vertices in the program that wrote the GLB";
    refused(format!("node {:?} {what}: {apply}", node.name().unwrap_or("without a name")))
}

/// The ids of the mappings of a mesh: see [`Mesh::ids`].
fn ids_of(mesh: &gltf::Mesh<'_>) -> Option<(u32, u32)> {
    let extras: serde_json::Value = serde_json::from_str(mesh.extras().as_ref()?.get()).ok()?;
    let [vertices, indices] = ["vertices", "indices"].map(|key| crate::id::parse32(extras.get(key)?.as_str()?));
    vertices.zip(indices)
}

/// The numbers of elements, with zeros after them.
fn filled<'b, const N: usize>(
    elements: impl Iterator<Item = &'b [u8]>,
    components: usize,
    number: impl Fn([u8; N]) -> f64,
) -> Vec<[f64; 4]> {
    let elements = elements.map(|element| {
        let mut all = [0.0; 4];
        let numbers = element.as_chunks().0.iter().take(components);
        all.iter_mut().zip(numbers).for_each(|(to, bytes)| *to = number(*bytes));
        all
    });
    elements.collect()
}

/// The factor of a matrix that scales all axes equally; `None` for any other matrix.
fn uniform_scale(matrix: [[f32; 4]; 4]) -> Option<f32> {
    let [[scale, ..], ..] = matrix;
    let expected = [[scale, 0.0, 0.0, 0.0], [0.0, scale, 0.0, 0.0], [0.0, 0.0, scale, 0.0], [0.0, 0.0, 0.0, 1.0]];
    (matrix == expected && scale.is_normal() && scale > 0.0).then_some(scale)
}

/// The elements of an accessor, each filled up with zeros.
struct Elements {
    components: usize,
    all: Vec<[f64; 4]>,
}

impl Elements {
    /// All elements of `N` components or more.
    fn all<const N: usize>(&self, name: &str) -> Result<Vec<[f32; N]>> {
        if self.components < N {
            return Err(refused(format!("{name}: {N} numbers are needed, and it has {}", self.components)));
        }
        #[allow(clippy::cast_possible_truncation, reason = "singles, or whole numbers that are checked where used")]
        let singles =
            self.all.iter().map(|all| std::array::from_fn(|n| all.get(n).map_or(0.0, |number| *number as f32)));
        Ok(singles.collect())
    }

    /// All elements as whole numbers.
    fn whole(&self, name: &str) -> Result<Vec<u32>> {
        let numbers = self.all.iter().map(|[number, ..]| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
            let whole = (number.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(number)).then_some(*number as u32);
            whole.ok_or_else(|| refused(format!("{name}: {number} is no index")))
        });
        numbers.collect()
    }
}

/// Triangles by the bits of their corners, in order, whatever their first corners.
type Outline = Vec<[[u32; 3]; 3]>;

fn outline(positions: &[[f32; 3]], triangles: impl IntoIterator<Item = [u32; 3]>) -> Outline {
    let corners = triangles.into_iter().map(|triangle| {
        triangle.map(|index| {
            let position = positions.get(index as usize).expect("indices of both were checked");
            // Adding zero makes a negative zero positive.
            position.map(|v| (v + 0.0).to_bits())
        })
    });
    let mut all: Outline = corners.map(turned).collect();
    all.sort_unstable();
    all
}

/// The armour and the collision hulls of a file, which are written to a GLB and not read from one.
#[derive(Default)]
pub(in crate::geometry) struct Fixed(OnceCell<Vec<Outline>>);

impl Fixed {
    /// Whether a mesh is one of these shapes and unchanged.
    pub fn has(&self, geometry: &Geometry, glb: &Glb<'_>, mesh: &Mesh<'_>) -> bool {
        let shapes = self.0.get_or_init(|| {
            let options = Options { meshes: false, ..Options::default() };
            let scene = Scene::new("", geometry, &Groups::default(), None, options);
            scene.parts.iter().map(|part| outline(&part.positions().collect::<Vec<_>>(), part.triangles())).collect()
        });
        let Ok(Surface { positions, triangles }) = glb.surface(mesh) else { return false };
        shapes.contains(&outline(&positions, triangles))
    }
}

/// The change of a group by a mesh; `None` if it does not change.
pub(in crate::geometry) struct GroupChange {
    pub vertices: Option<Vec<u8>>,
    pub indices: Option<Vec<u32>>,
    /// The data of the mesh that the group has no place for, in words.
    pub left_out: Vec<String>,
}

/// Names the data of a mesh that vertices of `format` have no place for.
fn left_out(mesh: &Mesh<'_>, primitive: &Primitive<'_>, format: &VertexFormat) -> Vec<String> {
    let names = primitive.attributes().map(|(semantic, _)| semantic.to_string());
    let unread =
        names.filter(|name| !STREAMS.iter().any(|known| known.semantic == name && format.has(known.attribute)));
    let what = "is left out: vertices of this group have none";
    let mut all: Vec<String> = unread.map(|name| format!("mesh {:?}: {name} {what}", mesh.name)).collect();
    if primitive.morph_targets().len() > 0 {
        all.push(format!("mesh {:?}: its shape keys (morph targets) are left out: render groups have none", mesh.name));
    }
    all
}

/// A mesh while it is compared with its group.
struct Laid<'g, 'a> {
    glb: &'g Glb<'g>,
    mesh: &'g Mesh<'g>,
    old: Vertices<'a>,
    format: VertexFormat,
    /// Whether there are as many vertices as before, so that each is known by its number.
    same_count: bool,
    out: Vec<u8>,
}

/// Lays a mesh over the group that it was written from.
///
/// # Errors
/// Wrong usage where it has numbers that do not fit, or lacks some that vertices of the format have.
pub(in crate::geometry) fn lay(
    geometry: &Geometry,
    group: &Group,
    glb: &Glb<'_>,
    mesh: &Mesh<'_>,
) -> Result<GroupChange> {
    let (old, indices) = (geometry.mapped_vertices(group.vertices)?, geometry.mapped_indices(group.indices)?);
    let shape = PartShape::group(old, indices);
    let flip = matches!(shape, PartShape::Group { flip: true, .. });
    let part = ScenePart::new((&*group.name).into(), shape, 0, &mut Vec::new())?;
    let Surface { positions, triangles: new } = glb.surface(mesh)?;
    let count = positions.len();
    let format = *old.format();
    let same_count = count == old.len();
    if !same_count && !format.is_known() {
        return Err(mesh.refuse("its vertex format is not known, so that its vertices can move and no more"));
    }
    if let Some(bad) = positions.iter().flatten().find(|v| !v.is_finite()) {
        return Err(mesh.refuse(format_args!("{bad} is no coordinate")));
    }
    let out = if same_count { old.bytes().to_vec() } else { vec![0; count.saturating_mul(format.stride())] };
    let mut laid = Laid { glb, mesh, old, format, same_count, out };
    let before = part.as_ref();
    laid.put(Attribute::Position, &positions, before.map(|p| p.positions()), |p| {
        Ok(mirror(p).map(f32::to_le_bytes).as_flattened().to_vec())
    })?;
    laid.rest(before)?;
    let vertices = (!same_count || laid.out != old.bytes()).then_some(laid.out);

    let before: Vec<[u32; 3]> = before.into_iter().flat_map(|part| part.triangles()).collect();
    let indices = (before != new)
        .then(|| new.into_iter().flat_map(|[a, b, c]| if flip { [a, c, b] } else { [a, b, c] }).collect());
    let left_out = mesh.primitive.iter().flat_map(|primitive| left_out(mesh, primitive, &format)).collect();
    Ok(GroupChange { vertices, indices, left_out })
}

impl<'g> Laid<'g, '_> {
    /// Writes an attribute of all vertices by `encode`, except for values that `before` returns as well.
    fn put<const N: usize>(
        &mut self,
        attribute: Attribute,
        new: &[[f32; N]],
        before: Option<impl Iterator<Item = [f32; N]>>,
        encode: impl Fn([f32; N]) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let Some(at) = self.format.offset(attribute) else { return Ok(()) };
        let stride = self.format.stride();
        let mut before = before.filter(|_| self.same_count);
        if new.len().saturating_mul(stride) != self.out.len() {
            let what = format_args!("{attribute:?}: {} values for as many vertices fit", new.len());
            return Err(self.mesh.refuse(what));
        }
        for (vertex, value) in self.out.chunks_exact_mut(stride).zip(new) {
            if before.as_mut().and_then(Iterator::next) == Some(*value) {
                continue;
            }
            let bytes = encode(*value)?;
            if let Some(place) = vertex.get_mut(at..at.saturating_add(bytes.len())) {
                place.copy_from_slice(&bytes);
            }
        }
        Ok(())
    }

    /// The values of an attribute of the format's vertices; `None` if they lack it, or keep their values.
    fn values<const N: usize>(&self, attribute: Attribute) -> Result<Option<Vec<[f32; N]>>> {
        if !self.format.has(attribute) {
            return Ok(None);
        }
        let stream = STREAMS.iter().find(|stream| stream.attribute == attribute);
        let name = stream.expect("each attribute but binormals is written").semantic;
        let mut all = self.mesh.primitive.iter().flat_map(Primitive::attributes);
        let found = all.find(|(semantic, _)| semantic.to_string() == name);
        if found.is_none() && !self.same_count {
            return Err(self.mesh.refuse(format_args!(
                "it has other vertices than before, and no {name}, which vertices of this group have"
            )));
        }
        let values = found.map(|(_, accessor)| self.glb.elements(&accessor)?.all::<N>(name)).transpose()?;
        match values.iter().flatten().flatten().find(|number| !number.is_finite()) {
            Some(bad) => Err(self.mesh.refuse(format_args!("{name}: {bad} does not fit: a finite number does"))),
            None => Ok(values),
        }
    }

    /// As [`Self::put`] for the values of the mesh, if it has them. Returns them.
    fn set<const N: usize>(
        &mut self,
        attribute: Attribute,
        before: Option<impl Iterator<Item = [f32; N]>>,
        encode: impl Fn([f32; N]) -> Result<Vec<u8>>,
    ) -> Result<Option<Vec<[f32; N]>>> {
        let values = self.values(attribute)?;
        values.as_ref().map_or(Ok(()), |values| self.put(attribute, values, before, encode))?;
        Ok(values)
    }

    fn rest(&mut self, before: Option<&ScenePart<'_>>) -> Result<()> {
        let old = self.old;
        let normals =
            self.set(Attribute::Normal, before.and_then(Solid::normals), |normal| Ok(packed(mirror(normal))))?;
        let tangents = self.set(Attribute::Tangent, before.and_then(ScenePart::tangents), |[x, y, z, _]| {
            Ok(packed(mirror([x, y, z])))
        })?;
        if let Some(tangents) = tangents {
            self.binormals(normals.as_deref(), &tangents, before)?;
        }
        self.set(Attribute::Uv, old.uvs(), halves)?;
        self.set(Attribute::Uv2, old.uv2s(), halves)?;
        self.set(Attribute::Bones, old.bone_indices().map(|all| all.map(|b| b.map(f32::from))), |bones| {
            let bytes = bones.map(|bone| byte(bone).and_then(|bone| bone.checked_mul(3)));
            let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
            bytes.ok_or_else(|| refused(format!("bones {bones:?} do not fit: numbers from 0 to 85 do")))
        })?;
        self.set(Attribute::Weights, old.weights().map(|all| all.map(|w| w.map(f32::from))), |values| {
            four_bytes("_BONE_WEIGHTS", values)
        })?;
        self.set(Attribute::Colour, old.colours().map(|all| all.map(|c| c.map(f32::from))), |values| {
            four_bytes("_COLOUR", values)
        })?;
        self.set(Attribute::Radius, old.radii().map(|all| all.map(|r| [r])), |[r]| Ok(r.to_le_bytes().to_vec()))?;
        #[allow(clippy::cast_precision_loss, reason = "as they are written")]
        let ids = old.ids().map(|all| all.map(|id| [id as f32]));
        self.set(Attribute::Id, ids, |[id]| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
            let whole = (id.fract() == 0.0 && (0.0..16_777_216.0).contains(&id)).then_some(id as u32);
            let whole = whole.ok_or_else(|| refused(format!("_ID: {id} does not fit: a whole number does")))?;
            Ok(whole.to_le_bytes().to_vec())
        })?;
        Ok(())
    }

    /// Writes the binormals: across normal and tangent, on the side that the tangent says.
    fn binormals(
        &mut self,
        normals: Option<&[[f32; 3]]>,
        tangents: &[[f32; 4]],
        before: Option<&ScenePart<'_>>,
    ) -> Result<()> {
        let normals = match normals {
            Some(normals) => normals.to_vec(),
            None => before.and_then(Solid::normals).into_iter().flatten().collect(),
        };
        let both: Vec<[f32; 7]> =
            normals.into_iter().zip(tangents).map(|(normal, tangent)| joined(normal, *tangent)).collect();
        let old = before.and_then(|part| {
            Some(part.normals()?.zip(part.tangents()?).map(|(normal, tangent)| joined(normal, tangent)))
        });
        self.put(Attribute::Binormal, &both, old, |[a, b, c, x, y, z, side]| {
            let ([a, b, c], [x, y, z]) = (normalized([a, b, c]), normalized([x, y, z]));
            Ok(packed(mirror(cross([a, b, c], [x, y, z]).map(|v| if side < 0.0 { -v } else { v }))))
        })
    }
}

/// A normal and a tangent, in which the binormal is.
fn joined([a, b, c]: [f32; 3], [x, y, z, side]: [f32; 4]) -> [f32; 7] {
    [a, b, c, x, y, z, side]
}

/// The vector with a length of 1. A vector without a direction stays.
fn normalized(vector: [f32; 3]) -> [f32; 3] {
    // Squares of the smallest and the largest numbers do not fit.
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
    unit(vector.map(|v| v / largest)).unwrap_or(vector)
}

/// The direction of a vector in three bytes.
fn packed(vector: [f32; 3]) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
    let bytes = normalized(vector).map(|v| ((v + 1.0) * 127.5).round().clamp(0.0, 255.0) as u8);
    bytes.to_vec()
}

/// A texture coordinate as two half floats.
fn halves([u, v]: [f32; 2]) -> Result<Vec<u8>> {
    let pair = half(u - 0.5).zip(half(v - 0.5));
    let (u, v) = pair.ok_or_else(|| refused(format!("texture coordinate {u}, {v} does not fit a half float")))?;
    Ok([u.to_le_bytes(), v.to_le_bytes()].concat())
}

fn four_bytes(name: &str, values: [f32; 4]) -> Result<Vec<u8>> {
    let bytes: Option<Vec<u8>> = values.into_iter().map(byte).collect();
    bytes.ok_or_else(|| refused(format!("{name}: {values:?} does not fit: four bytes do")))
}

fn byte(number: f32) -> Option<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
    (number.fract() == 0.0 && (0.0..=255.0).contains(&number)).then_some(number as u8)
}

/// The half float nearest to a number; `None` if it is too large, infinite or NaN.
fn half(number: f32) -> Option<u16> {
    let bits = number.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).ok()?;
    let magnitude = f32::from_bits(bits & 0x7FFF_FFFF);
    if !magnitude.is_finite() {
        return None;
    }
    // Adding and taking away a number whose last digit has the worth of the half's last digit rounds to that digit.
    let exponent = (magnitude.to_bits() >> 23).max(113);
    let last = f32::from_bits(exponent.saturating_add(13) << 23);
    let rounded = (magnitude + last) - last;
    if rounded > 65504.0 {
        return None;
    }
    // Exact now: the exponent is moved to the half's bias by a multiplication, which also takes small ones along.
    let moved = rounded * f32::from_bits(0x0780_0000);
    Some(sign | u16::try_from(moved.to_bits() >> 13).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::half as to_float;

    #[test]
    fn every_half_comes_back_and_numbers_between_go_to_the_nearest() {
        for bits in 0..=u16::MAX {
            let value = to_float(bits);
            if value.is_finite() {
                assert_eq!(half(value), Some(bits), "{value}");
            } else {
                assert_eq!(half(value), None);
            }
        }
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let value = (rng.f32() - 0.5) * 2f32.powi(rng.i32(-24..15));
            let bits = half(value).unwrap();
            let near = (to_float(bits) - value).abs();
            for other in
                [bits.wrapping_sub(1), bits.wrapping_add(1)].map(to_float).into_iter().filter(|v| v.is_finite())
            {
                assert!(near <= (other - value).abs(), "{value}");
            }
        }
        assert_eq!((half(65519.0), half(65536.0)), (Some(0x7BFF), None));
    }

    #[test]
    fn packed_vectors_come_back() {
        for bits in 0..=255u8 {
            let [x, ..] = crate::geometry::unpack_normal([bits, 0, 0]);
            let y = (1.0 - x * x).max(0.0).sqrt();
            assert_eq!(packed([x, y, 0.0])[0], bits);
        }
        // Vectors of any length keep their direction.
        for length in [1e-30, 0.1, 10.0, 1e30] {
            assert_eq!(packed([0.6 * length, 0.8 * length, 0.0]), packed([0.6, 0.8, 0.0]), "{length}");
        }
    }
}
