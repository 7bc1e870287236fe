//! The meshes of a GLB: their numbers, and where their nodes put them.

#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Matrix;
use crate::writable::refused;
use gltf::accessor::sparse::IndexType;
use gltf::accessor::{DataType, Dimensions};
use gltf::mesh::Mode;
use gltf::{Accessor, Document, Primitive, Semantic, buffer};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;

/// A GLB file with a valid description. Its numbers are checked when they are read.
pub struct Glb<'b> {
    document: Document,
    binary: Option<Cow<'b, [u8]>>,
}

/// A mesh as described in the glTF.
pub struct Mesh<'g> {
    pub name: &'g str,
    /// The name of a node that shows it. A program may have renamed one of the two.
    pub object: Option<&'g str>,
    /// Its other statements, as JSON.
    pub extras: Option<&'g str>,
    /// The parts of it, one for each material.
    pub primitives: Vec<Primitive<'g>>,
    pub places: Vec<MeshPlace>,
    /// The names of the joints that move it.
    pub joints: Option<Vec<Option<&'g str>>>,
}

/// A node that shows a mesh.
#[derive(Debug)]
pub struct MeshPlace {
    /// Its matrix to the scene.
    pub world: Matrix,
    /// Its matrix to the node above it.
    pub local: Matrix,
}

impl Mesh<'_> {
    #[cold]
    pub fn refuse(&self, what: impl Display) -> Error {
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
        let root: gltf::json::Root = serde_json::from_slice(&container.json)
            .and_then(|root| serde_json::from_value(only_meshes(root)))
            .map_err(|error| damaged(error.to_string()))?;
        if let Some(extension) = root.extensions_required.iter().find(|name| !is_harmless(name)) {
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

    /// Whether it was written with several levels of detail: the nodes above their meshes stay if these are deleted.
    pub fn has_levels(&self) -> bool {
        self.document
            .nodes()
            .any(|node| node.mesh().is_none() && node.name().map(plain).is_some_and(super::levels::is_named))
    }

    /// The matrix of each node to the scene, by number. Nodes called `left_out`, nodes below them, and nodes in circles have none.
    fn worlds(&self, left_out: &str) -> Vec<Option<Matrix>> {
        let nodes: Vec<gltf::Node<'_>> = self.document.nodes().collect();
        let children: HashSet<usize> =
            nodes.iter().flat_map(|node| node.children().map(|child| child.index()).collect::<Vec<_>>()).collect();
        let mut worlds: Vec<Option<Matrix>> = vec![None; nodes.len()];
        let roots = nodes.iter().filter(|node| !children.contains(&node.index())).cloned();
        let mut open: Vec<(gltf::Node<'_>, Matrix)> = roots.map(|node| (node, Matrix::scale(1.0))).collect();
        let mut met = HashSet::new();
        while let Some((node, above)) = open.pop() {
            // A damaged file may give a node several parents.
            if !met.insert(node.index()) || node.name().is_some_and(|name| plain(name) == left_out) {
                continue;
            }
            let world = above.after(&Matrix::of_columns(node.transform().matrix()));
            if let Some(place) = worlds.get_mut(node.index()) {
                *place = Some(world);
            }
            open.extend(node.children().map(|child| (child, world)));
        }
        worlds
    }

    /// The GLB's meshes. A mesh is left out if its node, or a node above it, is called `left_out`.
    ///
    /// # Errors
    /// `Damaged` for skins whose matrices leave their buffer.
    pub fn meshes(&self, left_out: &str) -> Result<Vec<Mesh<'_>>> {
        let worlds = self.worlds(left_out);
        let mut shown: BTreeMap<usize, Vec<gltf::Node<'_>>> = BTreeMap::new();
        for node in self.document.nodes() {
            if let Some(mesh) = node.mesh() {
                shown.entry(mesh.index()).or_default().push(node);
            }
        }
        let mut meshes = Vec::new();
        for one in self.document.meshes() {
            let nodes = shown.remove(&one.index()).unwrap_or_default();
            let placed = nodes.iter().filter_map(|node| Some((node, (*worlds.get(node.index())?)?)));
            let placed: Vec<(&gltf::Node<'_>, Matrix)> = placed.collect();
            if placed.is_empty() && !nodes.is_empty() {
                continue;
            }
            let mut mesh = Mesh {
                name: one.name().unwrap_or_default(),
                object: placed.first().and_then(|(node, _)| node.name()),
                extras: one.extras().as_ref().map(|extras| extras.get()),
                primitives: one.primitives().collect(),
                places: Vec::new(),
                joints: None,
            };
            for (node, world) in placed {
                match node.skin() {
                    // Joints move a mesh with a skin, and its node does not.
                    Some(skin) => {
                        mesh.places.extend(self.bound(&skin, &worlds)?);
                        mesh.joints = Some(skin.joints().map(|joint| joint.name()).collect());
                    }
                    None => {
                        let local = Matrix::of_columns(node.transform().matrix());
                        mesh.places.push(MeshPlace { world, local });
                    }
                }
            }
            meshes.push(mesh);
        }
        Ok(meshes)
    }

    /// The place of a mesh by each joint of its skin.
    fn bound(&self, skin: &gltf::Skin<'_>, worlds: &[Option<Matrix>]) -> Result<Vec<MeshPlace>> {
        /// Joints that are looked at. A group has no more bones.
        const MOST: usize = 256;
        let joints = skin.joints().take(MOST).map(|joint| worlds.get(joint.index()).copied().flatten());
        let joints: Vec<Option<Matrix>> = joints.collect();
        let inverse = match skin.inverse_bind_matrices() {
            None => vec![Matrix::scale(1.0); joints.len()],
            Some(accessor) => self.matrices(&accessor, joints.len())?,
        };
        let places = joints.into_iter().zip(inverse).filter_map(|(joint, inverse)| {
            let world = joint?.after(&inverse);
            Some(MeshPlace { world, local: world })
        });
        Ok(places.collect())
    }

    /// The first `count` matrices of an accessor.
    fn matrices(&self, accessor: &Accessor<'_>, count: usize) -> Result<Vec<Matrix>> {
        const SIZE: usize = 64;
        let is_fit = accessor.dimensions() == Dimensions::Mat4 && accessor.data_type() == DataType::F32;
        let Some(view) = accessor.view().filter(|_| is_fit && accessor.count() >= count) else {
            return Err(damaged(format!("a skin of {count} joints without as many matrices")));
        };
        if count == 0 {
            return Ok(Vec::new());
        }
        let (bytes, stride) = self.check(&view, accessor.offset(), count, SIZE)?;
        let matrices = bytes.chunks(stride).take(count).map(|bytes| {
            let mut numbers = [0.0; 16];
            let stored = bytes.as_chunks::<4>().0.iter();
            numbers.iter_mut().zip(stored).for_each(|(to, bytes)| *to = f32::from_le_bytes(*bytes));
            Matrix::of_numbers(&numbers)
        });
        Ok(matrices.collect())
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
                let what = "triangles are read: make faces of them, or leave the mesh out";
                return Err(mesh.refuse(format_args!("its primitives are {mode:?}; {what}")));
            }
        };
        Ok(triangles)
    }

    /// The positions of the vertices of all parts of a mesh, and its triangles.
    pub fn surface(&self, mesh: &Mesh<'_>) -> Result<Surface> {
        let (mut all, mut triangles) = (Vec::new(), Vec::new());
        for primitive in &mesh.primitives {
            let accessor = primitive.get(&Semantic::Positions).ok_or_else(|| mesh.refuse("it has no positions"))?;
            let positions = self.elements(&accessor)?.all::<3>("POSITION")?;
            let first =
                u32::try_from(all.len()).map_err(|_| mesh.refuse("it has more vertices than indices can name"))?;
            let own = self.triangles(mesh, primitive, positions.len())?.into_iter();
            triangles.extend(own.map(|corners| corners.map(|corner| corner.saturating_add(first))));
            all.extend(positions);
            // Parts may share their numbers, and a damaged file has many parts.
            let most = self.binary.as_deref().map_or(0, |binary| binary.len().saturating_mul(4));
            if all.len().max(triangles.len()) > most {
                return Err(damaged(format!("mesh {:?} has more vertices than the GLB has numbers", mesh.name)));
            }
        }
        if let Some(bad) = all.iter().flatten().find(|v| !v.is_finite()) {
            return Err(mesh.refuse(format_args!("{bad} is no coordinate")));
        }
        if triangles.is_empty() {
            Err(mesh.refuse("it has no triangles"))
        } else {
            Ok(Surface { positions: all, triangles })
        }
    }

    /// An attribute of the vertices of a mesh; `None` if a part lacks it.
    pub fn values<const N: usize>(&self, mesh: &Mesh<'_>, name: &str) -> Result<Option<Vec<[f32; N]>>> {
        let mut all = Vec::new();
        for primitive in &mesh.primitives {
            let Some((_, accessor)) = primitive.attributes().find(|(semantic, _)| semantic.to_string() == name) else {
                return Ok(None);
            };
            let positions = primitive.get(&Semantic::Positions).map_or(0, |positions| positions.count());
            let values = self.elements(&accessor)?.all::<N>(name)?;
            if values.len() != positions {
                return Err(mesh.refuse(format_args!("{name}: {} values for {positions} vertices", values.len())));
            }
            all.extend(values);
        }
        match all.iter().flatten().find(|number| !number.is_finite()) {
            Some(bad) => Err(mesh.refuse(format_args!("{name}: {bad} does not fit: a finite number does"))),
            None => Ok(Some(all).filter(|all| !all.is_empty())),
        }
    }
}

/// The positions of the vertices of a mesh, and its triangles.
pub struct Surface {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// The members of a glTF that meshes need. Scenes, materials, animations, cameras and lights are not read, so that nothing in them
/// matters.
fn only_meshes(mut root: Json) -> Json {
    fn keep(object: &mut Json, names: &[&str]) {
        if let Some(object) = object.as_object_mut() {
            object.retain(|name, _| names.contains(&name.as_str()));
        }
    }
    fn each(list: Option<&mut Json>) -> impl Iterator<Item = &mut Json> {
        list.and_then(Json::as_array_mut).into_iter().flatten()
    }
    let lists = ["accessors", "asset", "buffers", "bufferViews", "extensionsRequired", "meshes", "nodes", "skins"];
    keep(&mut root, &lists);
    each(root.get_mut("nodes")).for_each(|node| {
        keep(node, &["children", "matrix", "mesh", "name", "rotation", "scale", "skin", "translation"]);
    });
    for mesh in each(root.get_mut("meshes")) {
        keep(mesh, &["extras", "name", "primitives"]);
        each(mesh.get_mut("primitives")).for_each(|one| keep(one, &["attributes", "indices", "mode", "targets"]));
    }
    each(root.get_mut("skins")).for_each(|skin| keep(skin, &["inverseBindMatrices", "joints"]));
    root
}

/// Whether vertices and triangles are the same without this extension.
fn is_harmless(extension: &str) -> bool {
    extension == "KHR_mesh_quantization"
        || ["KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_"]
            .iter()
            .any(|kind| extension.starts_with(kind))
}

/// The name without the number that another program puts after a name that is taken.
pub fn plain(name: &str) -> &str {
    let numbered = name.rsplit_once('.').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    numbered.map_or(name, |(plain, _)| plain)
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
