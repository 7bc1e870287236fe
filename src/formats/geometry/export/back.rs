//! Meshes of a GLB as vertices and indices of the groups that they were written from.
//!
//! An unchanged number keeps its bytes: where the GLB has the number that the file's own is written as, the file's own
//! stays.

use super::part::{Part, Shape, mirror};
use crate::edit::refused;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::geometry::mesh::Group;
use crate::formats::geometry::{Attribute, Geometry, VertexFormat, Vertices};
use gltf_json::accessor::{ComponentType, Type};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Index, Root, mesh::Primitive};

/// A GLB file.
pub(in crate::formats::geometry) struct Glb<'b> {
    root: Root,
    binary: &'b [u8],
}

/// A mesh, as the description has it.
#[derive(Clone, Copy)]
pub(in crate::formats::geometry) struct Mesh<'g> {
    pub name: &'g str,
    /// The ids of the vertex mapping and of the index mapping that it was written from, where it says so.
    pub ids: Option<(u32, u32)>,
    primitive: Option<&'g Primitive>,
}

#[cold]
fn damaged(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::without_offset(ErrorKind::Damaged { what: what.into() }, "GLB")
}

/// The first `N` bytes of `bytes` from `at` on.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.copied().ok_or_else(|| damaged(format!("it ends before offset {:#x}", at.saturating_add(N))))
}

impl<'b> Glb<'b> {
    /// Reads the description; the numbers are read when they are asked for.
    pub fn parse(bytes: &'b [u8]) -> Result<Self> {
        if bytes.get(..4) != Some(b"glTF") || array(bytes, 4)? != 2u32.to_le_bytes() {
            return Err(damaged("it is no binary glTF 2.0"));
        }
        let (mut text, mut binary): (&[u8], &[u8]) = (&[], &[]);
        let mut at = 12usize;
        while at < bytes.len() {
            let size = u32::from_le_bytes(array(bytes, at)?) as usize;
            let kind: [u8; 4] = array(bytes, at.saturating_add(4))?;
            let start = at.saturating_add(8);
            let end = start.saturating_add(size);
            let chunk = bytes.get(start..end).ok_or_else(|| damaged(format!("a chunk of {size} bytes leaves it")))?;
            match &kind {
                b"JSON" => text = chunk,
                b"BIN\0" => binary = chunk,
                _ => {}
            }
            at = end;
        }
        let root = Root::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        Ok(Self { root, binary })
    }

    /// Its meshes that are shown. A node that puts one elsewhere is refused, as vertices have no place but their own.
    pub fn meshes(&self) -> Result<Vec<Mesh<'_>>> {
        for node in &self.root.nodes {
            let still = node.matrix.is_none_or(|m| m == IDENTITY)
                && node.translation.is_none_or(|t| t == [0.0; 3])
                && node.rotation.is_none_or(|r| r.0 == [0.0, 0.0, 0.0, 1.0])
                && node.scale.is_none_or(|s| s == [1.0; 3]);
            if !still {
                let name = node.name.as_deref().unwrap_or_default();
                let what = "is moved, turned or scaled: apply that to its vertices in the program that wrote the GLB";
                return Err(refused(format!("node {name:?} {what}")));
            }
        }
        let mesh = |mesh: &'_ gltf_json::Mesh| -> Result<(String, Option<(u32, u32)>)> {
            let name = mesh.name.clone().unwrap_or_default();
            let extras = mesh.extras.as_ref().map(|raw| raw.get());
            let extras: Option<serde_json::Value> = extras.and_then(|text| serde_json::from_str(text).ok());
            let id = |key: &str| crate::id::parse32(extras.as_ref()?.get(key)?.as_str()?);
            Ok((name, id("vertices").zip(id("indices"))))
        };
        let mut meshes = Vec::new();
        for one in &self.root.meshes {
            let (_, ids) = mesh(one)?;
            let name = one.name.as_deref().unwrap_or_default();
            if one.primitives.len() > 1 {
                let what = "has more than one material; a render group has one";
                return Err(refused(format!("mesh {name:?} {what}")));
            }
            meshes.push(Mesh { name, ids, primitive: one.primitives.first() });
        }
        Ok(meshes)
    }

    /// The elements of an accessor: `N` components each, in `size` bytes.
    fn elements(&self, accessor: Index<gltf_json::Accessor>) -> Result<Elements<'b>> {
        let accessor = self.root.accessors.get(accessor.value()).ok_or_else(|| damaged("an accessor is missing"))?;
        let view = accessor.buffer_view.and_then(|view| self.root.buffer_views.get(view.value()));
        let view = view.filter(|view| view.buffer.value() == 0 && accessor.sparse.is_none());
        let view = view.ok_or_else(|| damaged("an accessor whose numbers do not lie in the file, or are sparse"))?;
        let (Valid(component), Valid(kind)) = (accessor.component_type, accessor.type_) else {
            return Err(damaged("an accessor of a type that is not known"));
        };
        let number = |n: u64| usize::try_from(n).map_err(|_| damaged("an accessor that leaves the file"));
        let width = match component.0 {
            ComponentType::I8 | ComponentType::U8 => 1,
            ComponentType::I16 | ComponentType::U16 => 2,
            ComponentType::U32 | ComponentType::F32 => 4usize,
        };
        let components = match kind {
            Type::Scalar => 1,
            Type::Vec2 => 2,
            Type::Vec3 => 3,
            Type::Vec4 => 4usize,
            _ => return Err(damaged("an accessor of matrices")),
        };
        let size = width.saturating_mul(components);
        let stride = view.byte_stride.map_or(size, |stride| stride.0).max(size);
        let start = number(view.byte_offset.map_or(0, |at| at.0))?;
        let end = start.saturating_add(number(view.byte_length.0)?);
        let first = start.saturating_add(number(accessor.byte_offset.map_or(0, |at| at.0))?);
        let count = number(accessor.count.0)?;
        let bytes = self.binary.get(first..end).unwrap_or_default();
        let need = count.saturating_sub(1).saturating_mul(stride).saturating_add(size);
        if count > 0 && need > bytes.len() {
            return Err(damaged(format!("an accessor of {count} elements leaves its buffer")));
        }
        Ok(Elements { bytes, count, stride, width, components, component: component.0 })
    }
}

const IDENTITY: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// The elements of an accessor, which are known to lie in the file.
struct Elements<'b> {
    bytes: &'b [u8],
    count: usize,
    stride: usize,
    width: usize,
    components: usize,
    component: ComponentType,
}

impl Elements<'_> {
    /// Component `component` of element `element`, as a number.
    fn number(&self, element: usize, component: usize) -> f64 {
        let at = element.saturating_mul(self.stride).saturating_add(component.saturating_mul(self.width));
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let two = bytes.first_chunk::<2>().copied().unwrap_or_default();
        let four = bytes.first_chunk::<4>().copied().unwrap_or_default();
        match self.component {
            ComponentType::I8 => bytes.first().map_or(0, |b| i8::from_le_bytes([*b])).into(),
            ComponentType::U8 => bytes.first().copied().unwrap_or_default().into(),
            ComponentType::I16 => i16::from_le_bytes(two).into(),
            ComponentType::U16 => u16::from_le_bytes(two).into(),
            ComponentType::U32 => u32::from_le_bytes(four).into(),
            ComponentType::F32 => f32::from_le_bytes(four).into(),
        }
    }

    /// All elements of `N` components or more.
    fn all<const N: usize>(&self, name: &str) -> Result<Vec<[f32; N]>> {
        if self.components < N {
            return Err(refused(format!("{name}: {N} numbers are needed, and it has {}", self.components)));
        }
        #[allow(clippy::cast_possible_truncation, reason = "singles, or whole numbers that are checked where used")]
        let element = |i| std::array::from_fn(|component| self.number(i, component) as f32);
        Ok((0..self.count).map(element).collect())
    }

    /// All elements as whole numbers.
    fn whole(&self, name: &str) -> Result<Vec<u32>> {
        let element = |i| {
            let number = self.number(i, 0);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
            let whole = (number.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(&number)).then_some(number as u32);
            whole.ok_or_else(|| refused(format!("{name}: {number} is no index")))
        };
        (0..self.count).map(element).collect()
    }
}

/// The change that a mesh makes to a group; `None` where it stays as it is.
pub(in crate::formats::geometry) struct Change {
    pub vertices: Option<Vec<u8>>,
    pub indices: Option<Vec<u32>>,
}

/// A mesh while it is compared with its group.
struct Laid<'g, 'a> {
    glb: &'g Glb<'g>,
    mesh: Mesh<'g>,
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
pub(in crate::formats::geometry) fn lay(
    geometry: &Geometry,
    group: &Group,
    glb: &Glb<'_>,
    mesh: Mesh<'_>,
) -> Result<Change> {
    let (old, indices) = (geometry.mapped_vertices(group.vertices)?, geometry.mapped_indices(group.indices)?);
    let shape = Shape::group(old, indices);
    let flip = matches!(shape, Shape::Group { flip: true, .. });
    let part = Part::new(group.name.clone(), shape, 0, None, &mut Vec::new())?;
    let refuse = |what: String| refused(format!("mesh {:?}: {what}", mesh.name));
    let Some(primitive) = mesh.primitive else { return Err(refuse("it has no vertices".into())) };
    let attribute = |name: &str| {
        let found = primitive.attributes.iter().find(|(semantic, _)| match semantic {
            Valid(semantic) => semantic.to_string() == name,
            _ => false,
        });
        found.map(|(_, accessor)| *accessor)
    };
    let positions = attribute("POSITION").ok_or_else(|| refuse("it has no positions".into()))?;
    let positions = glb.elements(positions)?.all::<3>("POSITION")?;
    let count = positions.len();
    let format = *old.format();
    let same_count = count == old.len();
    if !same_count && !format.is_known() {
        return Err(refuse("its vertex format is not known, so that its vertices can move and no more".into()));
    }
    if let Some(bad) = positions.iter().flatten().find(|v| !v.is_finite()) {
        return Err(refuse(format!("{bad} is no coordinate")));
    }
    let bytes = count.saturating_mul(format.stride());
    let out = if same_count { old.bytes().get(..bytes).unwrap_or_default().to_vec() } else { vec![0; bytes] };
    let mut laid = Laid { glb, mesh, old, format, same_count, out };
    let before = part.as_ref();
    laid.put(Attribute::Position, &positions, before.map(|p| p.positions()), |p| {
        Ok(mirror(p).map(f32::to_le_bytes).as_flattened().to_vec())
    })?;
    laid.rest(&attribute, before)?;
    let vertices = (!same_count || laid.out != old.bytes()).then_some(laid.out);

    let new = match primitive.indices {
        Some(accessor) => glb.elements(accessor)?.whole("indices")?,
        None => (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(),
    };
    if new.is_empty() || !new.len().is_multiple_of(3) {
        return Err(refuse(format!("{} indices are no whole triangles", new.len())));
    }
    if let Some(bad) = new.iter().find(|index| **index as usize >= count) {
        return Err(refuse(format!("index {bad} of {count} vertices")));
    }
    let before: Vec<u32> = before.into_iter().flat_map(|part| part.triangles()).flatten().collect();
    let turned = |[a, b, c]: [u32; 3]| if flip { [a, c, b] } else { [a, b, c] };
    let indices = (before != new).then(|| new.as_chunks().0.iter().flat_map(|t| turned(*t)).collect());
    Ok(Change { vertices, indices })
}

impl<'g> Laid<'g, '_> {
    #[cold]
    fn refuse(&self, what: impl std::fmt::Display) -> Error {
        refused(format!("mesh {:?}: {what}", self.mesh.name))
    }

    /// Writes an attribute of all vertices by `encode`, but for values that `before` gives as well.
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
            return Err(self.refuse(format_args!("{attribute:?}: {} values for as many vertices fit", new.len())));
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

    /// The values of an attribute that vertices of the format have; `None` where they have none, or keep theirs.
    fn values<const N: usize>(
        &self,
        attribute: Attribute,
        name: &str,
        accessor: Option<Index<gltf_json::Accessor>>,
    ) -> Result<Option<Vec<[f32; N]>>> {
        if !self.format.has(attribute) {
            return Ok(None);
        }
        match accessor {
            Some(accessor) => self.glb.elements(accessor)?.all::<N>(name).map(Some),
            None if self.same_count => Ok(None),
            None => Err(self.refuse(format_args!(
                "it has other vertices than before, and no {name}, which vertices of this group have"
            ))),
        }
    }

    fn rest(
        &mut self,
        attribute: &impl Fn(&str) -> Option<Index<gltf_json::Accessor>>,
        before: Option<&Part<'_>>,
    ) -> Result<()> {
        let old = self.old;
        let normals = self.values::<3>(Attribute::Normal, "NORMAL", attribute("NORMAL"))?;
        if let Some(normals) = &normals {
            self.put(Attribute::Normal, normals, before.and_then(Part::normals), |n| Ok(packed(mirror(n))))?;
        }
        let tangents = self.values::<4>(Attribute::Tangent, "TANGENT", attribute("TANGENT"))?;
        if let Some(tangents) = &tangents {
            self.put(Attribute::Tangent, tangents, before.and_then(Part::tangents), |[x, y, z, _]| {
                Ok(packed(mirror([x, y, z])))
            })?;
            self.binormals(normals.as_deref(), tangents, before)?;
        }
        let halves = |[u, v]: [f32; 2]| {
            let pair = half(u - 0.5).zip(half(v - 0.5));
            let (u, v) =
                pair.ok_or_else(|| refused(format!("texture coordinate {u}, {v} does not fit a half float")))?;
            Ok([u.to_le_bytes(), v.to_le_bytes()].concat())
        };
        if let Some(uvs) = self.values::<2>(Attribute::Uv, "TEXCOORD_0", attribute("TEXCOORD_0"))? {
            self.put(Attribute::Uv, &uvs, old.uvs(), halves)?;
        }
        if let Some(uvs) = self.values::<2>(Attribute::Uv2, "TEXCOORD_1", attribute("TEXCOORD_1"))? {
            self.put(Attribute::Uv2, &uvs, old.uv2s(), halves)?;
        }
        if let Some(bones) = self.values::<3>(Attribute::Bones, "_BONES", attribute("_BONES"))? {
            let before = old.bone_indices().map(|all| all.map(|b| b.map(f32::from)));
            self.put(Attribute::Bones, &bones, before, |bones| {
                let bytes = bones.map(|bone| byte(bone).and_then(|bone| bone.checked_mul(3)));
                let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
                bytes.ok_or_else(|| refused(format!("bones {bones:?} do not fit: numbers from 0 to 85 do")))
            })?;
        }
        let four = |name: &'static str| {
            move |values: [f32; 4]| {
                let bytes: Option<Vec<u8>> = values.into_iter().map(byte).collect();
                bytes.ok_or_else(|| refused(format!("{name}: {values:?} does not fit: four bytes do")))
            }
        };
        if let Some(weights) = self.values::<4>(Attribute::Weights, "_BONE_WEIGHTS", attribute("_BONE_WEIGHTS"))? {
            let before = old.weights().map(|all| all.map(|w| w.map(f32::from)));
            self.put(Attribute::Weights, &weights, before, four("_BONE_WEIGHTS"))?;
        }
        if let Some(colours) = self.values::<4>(Attribute::Colour, "_COLOUR", attribute("_COLOUR"))? {
            let before = old.colours().map(|all| all.map(|c| c.map(f32::from)));
            self.put(Attribute::Colour, &colours, before, four("_COLOUR"))?;
        }
        if let Some(radii) = self.values::<1>(Attribute::Radius, "_RADIUS", attribute("_RADIUS"))? {
            let before = old.radii().map(|all| all.map(|r| [r]));
            self.put(Attribute::Radius, &radii, before, |[r]| Ok(r.to_le_bytes().to_vec()))?;
        }
        if let Some(ids) = self.values::<1>(Attribute::Id, "_ID", attribute("_ID"))? {
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
        before: Option<&Part<'_>>,
    ) -> Result<()> {
        let normals = match normals {
            Some(normals) => normals.to_vec(),
            None => before.and_then(Part::normals).map(Iterator::collect).unwrap_or_default(),
        };
        let both: Vec<[f32; 7]> =
            normals.iter().zip(tangents).map(|([a, b, c], [x, y, z, side])| [*a, *b, *c, *x, *y, *z, *side]).collect();
        let old = before.and_then(|part| {
            let pair = |(n, t): ([f32; 3], [f32; 4])| {
                let ([a, b, c], [x, y, z, side]) = (n, t);
                [a, b, c, x, y, z, side]
            };
            Some(part.normals()?.zip(part.tangents()?).map(pair))
        });
        self.put(Attribute::Binormal, &both, old, |[a, b, c, x, y, z, side]| {
            let across = [b * z - c * y, c * x - a * z, a * y - b * x].map(|v| if side < 0.0 { -v } else { v });
            Ok(packed(mirror(across)))
        })
    }
}

/// A vector of length 1 in three bytes.
fn packed(vector: [f32; 3]) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
    let byte = |v: f32| ((v + 1.0) * 127.5).round().clamp(0.0, 255.0) as u8;
    vector.map(byte).to_vec()
}

/// The byte that a number is.
fn byte(number: f32) -> Option<u8> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
    (number.fract() == 0.0 && (0.0..=255.0).contains(&number)).then_some(number as u8)
}

/// The half float nearest to a number; `None` where it is too large, infinite or no number.
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
    use crate::formats::geometry::half as to_float;

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
            let [x, ..] = crate::formats::geometry::unpack_normal([bits, 0, 0]);
            assert_eq!(packed([x, 0.0, 0.0])[0], bits);
        }
    }
}
