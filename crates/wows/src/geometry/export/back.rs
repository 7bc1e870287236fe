//! Meshes of a GLB as vertices and indices of the groups that they were written from.
//!
//! An unchanged number keeps its bytes: where the GLB has the number that the file's own is written as, the file's own
//! stays.

use super::boxes::HIT_BOXES;
use super::part::{ScenePart, Shape, mirror, unit};
use super::{Options, Scene};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::content::turned;
use crate::geometry::mesh::{Group, Groups};
use crate::geometry::{Attribute, Geometry, METRES, VertexFormat, Vertices};
use crate::writable::refused;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::util::{ItemIter, SparseIndicesIter};
use gltf::accessor::{DataType, Dimensions, Item, Iter};
use gltf::mesh::Mode;
use gltf::{Accessor, Document, Primitive, buffer};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt::Display;

/// A GLB file with a valid description. Its numbers are checked when they are read.
pub(in crate::geometry) struct Glb<'b> {
    document: Document,
    binary: Cow<'b, [u8]>,
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
    Error::of_part(ErrorKind::Damaged { what: what.into() }, "GLB")
}

#[cold]
fn unreadable(error: &gltf::Error) -> Error {
    let gltf::Error::Validation(faults) = error else {
        return damaged(format!("it is no valid binary glTF 2.0: {error}"));
    };
    let first = faults.first().map(|(path, fault)| format!(": {path}: {fault}")).unwrap_or_default();
    let more = faults.len().saturating_sub(1);
    let more = if more > 0 { format!(", and {more} more faults") } else { String::new() };
    damaged(format!("its description is not valid{first}{more}"))
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
        Ok(Self { document, binary: container.bin.unwrap_or_default() })
    }

    /// Returns the scale of each mesh in the scene, by number: metres for a unit of its positions. A mesh without a node has that of
    /// models.
    ///
    /// # Errors
    /// Wrong usage for a node that moves or turns a mesh, as vertices have no place but their own, and for a mesh in two sizes.
    fn scales(&self) -> Result<Vec<f32>> {
        let mut is_child = vec![false; self.document.nodes().len()];
        let children =
            self.document.nodes().flat_map(|node| node.children().map(|child| child.index()).collect::<Vec<_>>());
        children.for_each(|child| is_child.get_mut(child).into_iter().for_each(|is_child| *is_child = true));
        let top = self.document.nodes().zip(&is_child).filter(|(_, is_child)| !**is_child).map(|(node, _)| (node, 1.0));
        let mut open: Vec<(gltf::Node<'_>, f32)> = top.collect();
        let mut met = vec![false; is_child.len()];
        let mut scales: Vec<Option<f32>> = vec![None; self.document.meshes().len()];
        while let Some((node, above)) = open.pop() {
            // A damaged file may give a node several parents.
            let Some(met) = met.get_mut(node.index()).filter(|met| !**met) else { continue };
            *met = true;
            if node.name() == Some(HIT_BOXES) {
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

    /// The bytes of the buffer in the GLB.
    fn bytes(&self, buffer: &buffer::Buffer<'_>) -> Option<&[u8]> {
        (buffer.index() == 0 && matches!(buffer.source(), buffer::Source::Bin)).then_some(&*self.binary)
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

    /// Checks an accessor, so that the library's iterator over it neither fails nor ends early.
    fn check_accessor(&self, accessor: &Accessor<'_>) -> Result<()> {
        /// Elements of an accessor without bytes of its own, which are zeros unless it lists others.
        const ZEROS: usize = 1 << 20;
        let (count, size) = (accessor.count(), accessor.size());
        if accessor.normalized() && matches!(accessor.data_type(), DataType::U32 | DataType::F32) {
            return Err(damaged("a normalized accessor of a type that cannot be normalized"));
        }
        match (accessor.view(), accessor.sparse()) {
            (Some(view), _) => drop(self.check(&view, accessor.offset(), count, size)?),
            (None, Some(_)) if count <= ZEROS => {}
            (None, Some(_)) => return Err(damaged(format!("an accessor of {count} zeros: {ZEROS} fit"))),
            (None, None) => return Err(damaged("an accessor without numbers")),
        }
        let Some(sparse) = accessor.sparse() else { return Ok(()) };
        let (indices, values) = (sparse.indices(), sparse.values());
        if sparse.count() == 0 || sparse.count() > count {
            return Err(damaged(format!("{} sparse elements of {count}", sparse.count())));
        }
        self.check(&values.view(), values.offset(), sparse.count(), size)?;
        let kind = indices.index_type();
        let (bytes, stride) = self.check(&indices.view(), indices.offset(), sparse.count(), kind.size())?;
        let all = match kind {
            IndexType::U8 => SparseIndicesIter::U8(ItemIter::new(bytes, stride)),
            IndexType::U16 => SparseIndicesIter::U16(ItemIter::new(bytes, stride)),
            IndexType::U32 => SparseIndicesIter::U32(ItemIter::new(bytes, stride)),
        };
        let mut least = 0usize;
        for index in all.take(sparse.count()) {
            let index = index as usize;
            if index < least || index >= count {
                return Err(damaged(format!("sparse index {index} of {count} elements, out of order or out of range")));
            }
            least = index.saturating_add(1);
        }
        Ok(())
    }

    /// The elements of an accessor.
    fn elements(&self, accessor: &Accessor<'_>) -> Result<Elements> {
        if accessor.count() > 0 {
            self.check_accessor(accessor)?;
        }
        let all = match accessor.data_type() {
            _ if accessor.count() == 0 => Some(Vec::new()),
            DataType::I8 => self.numbers::<i8>(accessor),
            DataType::U8 => self.numbers::<u8>(accessor),
            DataType::I16 => self.numbers::<i16>(accessor),
            DataType::U16 => self.numbers::<u16>(accessor),
            DataType::U32 => self.numbers::<u32>(accessor),
            DataType::F32 => self.numbers::<f32>(accessor),
        };
        let all = all.ok_or_else(|| damaged("an accessor of matrices"))?;
        Ok(Elements { components: accessor.dimensions().multiplicity(), all })
    }

    /// The numbers of an accessor that was checked; `None` for matrices.
    fn numbers<C: Number>(&self, accessor: &Accessor<'_>) -> Option<Vec<[f64; 4]>> {
        let bytes = |buffer: buffer::Buffer<'_>| self.bytes(&buffer);
        let accessor = accessor.clone();
        let greatest = if accessor.normalized() { Some(C::GREATEST) } else { None };
        Some(match accessor.dimensions() {
            Dimensions::Scalar => Iter::<C>::new(accessor, bytes)?.map(|number| filled([number], greatest)).collect(),
            Dimensions::Vec2 => Iter::<[C; 2]>::new(accessor, bytes)?.map(|pair| filled(pair, greatest)).collect(),
            Dimensions::Vec3 => Iter::<[C; 3]>::new(accessor, bytes)?.map(|three| filled(three, greatest)).collect(),
            Dimensions::Vec4 => Iter::<[C; 4]>::new(accessor, bytes)?.map(|four| filled(four, greatest)).collect(),
            Dimensions::Mat2 | Dimensions::Mat3 | Dimensions::Mat4 => return None,
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
    refused(format!("node {:?} {what}: {apply}", node.name().unwrap_or_default()))
}

/// The ids of the mappings of a mesh: see [`Mesh::ids`].
fn ids_of(mesh: &gltf::Mesh<'_>) -> Option<(u32, u32)> {
    let extras: serde_json::Value = serde_json::from_str(mesh.extras().as_ref()?.get()).ok()?;
    let [vertices, indices] = ["vertices", "indices"].map(|key| crate::id::parse32(extras.get(key)?.as_str()?));
    vertices.zip(indices)
}

/// The numbers of an element, with zeros after them. Normalized numbers are parts of `greatest`.
fn filled<C: Number, const N: usize>(components: [C; N], greatest: Option<f64>) -> [f64; 4] {
    let mut all = [0.0; 4];
    for (number, component) in all.iter_mut().zip(components) {
        let value: f64 = component.into();
        *number = greatest.map_or(value, |greatest| (value / greatest).max(-1.0));
    }
    all
}

/// The factor of a matrix that scales all axes equally; `None` for any other matrix.
fn uniform_scale(matrix: [[f32; 4]; 4]) -> Option<f32> {
    let [[scale, ..], ..] = matrix;
    let expected = [[scale, 0.0, 0.0, 0.0], [0.0, scale, 0.0, 0.0], [0.0, 0.0, scale, 0.0], [0.0, 0.0, 0.0, 1.0]];
    (matrix == expected && scale.is_normal() && scale > 0.0).then_some(scale)
}

/// A type of numbers in accessors.
trait Number: Item + Copy + Into<f64> {
    /// The number for 1 if numbers are normalized.
    const GREATEST: f64;
}

impl Number for i8 {
    const GREATEST: f64 = 127.0;
}

impl Number for u8 {
    const GREATEST: f64 = 255.0;
}

impl Number for i16 {
    const GREATEST: f64 = 32_767.0;
}

impl Number for u16 {
    const GREATEST: f64 = 65_535.0;
}

impl Number for u32 {
    const GREATEST: f64 = 4_294_967_295.0;
}

impl Number for f32 {
    const GREATEST: f64 = 1.0;
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
            let position = positions.get(index as usize).copied().unwrap_or_default();
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
pub(in crate::geometry) struct Change {
    pub vertices: Option<Vec<u8>>,
    pub indices: Option<Vec<u32>>,
    /// The data of the mesh that the group has no place for, in words.
    pub left_out: Vec<String>,
}

/// The attributes of vertices that are read, by their names in a GLB.
const ATTRIBUTES: [(&str, Attribute); 10] = [
    ("POSITION", Attribute::Position),
    ("NORMAL", Attribute::Normal),
    ("TANGENT", Attribute::Tangent),
    ("TEXCOORD_0", Attribute::Uv),
    ("TEXCOORD_1", Attribute::Uv2),
    ("_BONES", Attribute::Bones),
    ("_BONE_WEIGHTS", Attribute::Weights),
    ("_COLOUR", Attribute::Colour),
    ("_RADIUS", Attribute::Radius),
    ("_ID", Attribute::Id),
];

/// Names the data of a mesh that vertices of `format` have no place for.
fn left_out(mesh: &Mesh<'_>, primitive: &Primitive<'_>, format: &VertexFormat) -> Vec<String> {
    let names = primitive.attributes().map(|(semantic, _)| semantic.to_string());
    let unread =
        names.filter(|name| !ATTRIBUTES.iter().any(|(known, attribute)| known == name && format.has(*attribute)));
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
pub(in crate::geometry) fn lay(geometry: &Geometry, group: &Group, glb: &Glb<'_>, mesh: &Mesh<'_>) -> Result<Change> {
    let (old, indices) = (geometry.mapped_vertices(group.vertices)?, geometry.mapped_indices(group.indices)?);
    let shape = Shape::group(old, indices);
    let flip = matches!(shape, Shape::Group { flip: true, .. });
    let part = ScenePart::new(group.name.clone(), shape, 0, None, &mut Vec::new())?;
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
    Ok(Change { vertices, indices, left_out })
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
    fn values<const N: usize>(&self, attribute: Attribute, name: &str) -> Result<Option<Vec<[f32; N]>>> {
        if !self.format.has(attribute) {
            return Ok(None);
        }
        let mut all = self.mesh.primitive.iter().flat_map(Primitive::attributes);
        match all.find(|(semantic, _)| semantic.to_string() == name) {
            Some((_, accessor)) => self.glb.elements(&accessor)?.all::<N>(name).map(Some),
            None if self.same_count => Ok(None),
            None => Err(self.mesh.refuse(format_args!(
                "it has other vertices than before, and no {name}, which vertices of this group have"
            ))),
        }
    }

    /// Refuses numbers of an attribute that are infinite or not numbers.
    fn finite(&self, name: &str, numbers: &[f32]) -> Result<()> {
        match numbers.iter().find(|number| !number.is_finite()) {
            Some(bad) => Err(self.mesh.refuse(format_args!("{name}: {bad} does not fit: a finite number does"))),
            None => Ok(()),
        }
    }

    fn rest(&mut self, before: Option<&ScenePart<'_>>) -> Result<()> {
        let old = self.old;
        let normals = self.values::<3>(Attribute::Normal, "NORMAL")?;
        if let Some(normals) = &normals {
            self.finite("NORMAL", normals.as_flattened())?;
            self.put(Attribute::Normal, normals, before.and_then(ScenePart::normals), |n| Ok(packed(mirror(n))))?;
        }
        let tangents = self.values::<4>(Attribute::Tangent, "TANGENT")?;
        if let Some(tangents) = &tangents {
            self.finite("TANGENT", tangents.as_flattened())?;
            self.put(Attribute::Tangent, tangents, before.and_then(ScenePart::tangents), |[x, y, z, _]| {
                Ok(packed(mirror([x, y, z])))
            })?;
            self.binormals(normals.as_deref(), tangents, before)?;
        }
        if let Some(uvs) = self.values::<2>(Attribute::Uv, "TEXCOORD_0")? {
            self.put(Attribute::Uv, &uvs, old.uvs(), halves)?;
        }
        if let Some(uvs) = self.values::<2>(Attribute::Uv2, "TEXCOORD_1")? {
            self.put(Attribute::Uv2, &uvs, old.uv2s(), halves)?;
        }
        if let Some(bones) = self.values::<3>(Attribute::Bones, "_BONES")? {
            let before = old.bone_indices().map(|all| all.map(|b| b.map(f32::from)));
            self.put(Attribute::Bones, &bones, before, |bones| {
                let bytes = bones.map(|bone| byte(bone).and_then(|bone| bone.checked_mul(3)));
                let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
                bytes.ok_or_else(|| refused(format!("bones {bones:?} do not fit: numbers from 0 to 85 do")))
            })?;
        }
        if let Some(weights) = self.values::<4>(Attribute::Weights, "_BONE_WEIGHTS")? {
            let before = old.weights().map(|all| all.map(|w| w.map(f32::from)));
            self.put(Attribute::Weights, &weights, before, |values| four_bytes("_BONE_WEIGHTS", values))?;
        }
        if let Some(colours) = self.values::<4>(Attribute::Colour, "_COLOUR")? {
            let before = old.colours().map(|all| all.map(|c| c.map(f32::from)));
            self.put(Attribute::Colour, &colours, before, |values| four_bytes("_COLOUR", values))?;
        }
        if let Some(radii) = self.values::<1>(Attribute::Radius, "_RADIUS")? {
            self.finite("_RADIUS", radii.as_flattened())?;
            let before = old.radii().map(|all| all.map(|r| [r]));
            self.put(Attribute::Radius, &radii, before, |[r]| Ok(r.to_le_bytes().to_vec()))?;
        }
        if let Some(ids) = self.values::<1>(Attribute::Id, "_ID")? {
            #[allow(clippy::cast_precision_loss, reason = "as they are written")]
            let before = old.ids().map(|all| all.map(|id| [id as f32]));
            self.put(Attribute::Id, &ids, before, |[id]| {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
                let whole = (id.fract() == 0.0 && (0.0..16_777_216.0).contains(&id)).then_some(id as u32);
                let whole = whole.ok_or_else(|| refused(format!("_ID: {id} does not fit: a whole number does")))?;
                Ok(whole.to_le_bytes().to_vec())
            })?;
        }
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
            None => before.and_then(ScenePart::normals).into_iter().flatten().collect(),
        };
        let both: Vec<[f32; 7]> =
            normals.iter().zip(tangents).map(|([a, b, c], [x, y, z, side])| [*a, *b, *c, *x, *y, *z, *side]).collect();
        let old = before.and_then(|part| {
            Some(part.normals()?.zip(part.tangents()?).map(|(n, t)| {
                let ([a, b, c], [x, y, z, side]) = (n, t);
                [a, b, c, x, y, z, side]
            }))
        });
        self.put(Attribute::Binormal, &both, old, |[a, b, c, x, y, z, side]| {
            let ([a, b, c], [x, y, z]) = (normalized([a, b, c]), normalized([x, y, z]));
            let across = [b * z - c * y, c * x - a * z, a * y - b * x].map(|v| if side < 0.0 { -v } else { v });
            Ok(packed(mirror(across)))
        })
    }
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

/// The byte that a number is.
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
