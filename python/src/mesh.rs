//! Meshes, armour and drawings.

use crate::asset::{Opened, opened};
use crate::error::{OrRaise as _, simple};
use assetq::formats::wows::geometry::mesh::{Group, Groups};
use assetq::formats::wows::geometry::{Geometry, Vertices, material_name, unpack_normal};
use assetq::view::scene::{Context, Options, SceneFormat, Shapes};
use assetq::write::text::escape;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::ffi::CString;

impl Opened {
    fn geometry(&self) -> PyResult<&Geometry> {
        self.inner.get().ok_or_else(|| self.unsupported("has no meshes: those are in .geometry files"))
    }
}

/// A render group: vertices, and triangles over them.
#[pyclass(frozen, module = "assetq")]
pub struct Mesh {
    asset: Opened,
    group: Group,
    model: Option<String>,
}

fn others(given: &Bound<'_, PyTuple>) -> PyResult<Vec<assetq::Asset>> {
    given.iter().map(|file| opened(given.py(), &file)).collect()
}

pub fn meshes(asset: &Opened, with: &Bound<'_, PyTuple>) -> PyResult<Vec<Mesh>> {
    let others = others(with)?;
    let geometry = asset.geometry()?;
    let groups = with.py().detach(|| {
        let context = Context::from_assets(&others)?;
        Ok::<Groups, assetq::Error>(geometry.groups_in(&context)?.into_owned())
    });
    let groups = groups.or_raise(asset.file())?;
    warn(with.py(), asset.file(), &groups.notes)?;
    let models = groups.models;
    let mesh = |group: Group| {
        let model = group.model.and_then(|n| models.get(n).cloned());
        Mesh { asset: asset.clone(), group, model }
    };
    Ok(groups.groups.into_iter().map(mesh).collect())
}

/// Warns of the notes that the command would print.
fn warn(py: Python<'_>, file: &str, notes: &[String]) -> PyResult<()> {
    notes.iter().try_for_each(|note| {
        let text = CString::new(escape(&format!("{file}: {note}")).into_owned())?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
    })
}

/// Rows of `N` numbers as an array of two dimensions.
fn rows<'py, const N: usize>(py: Python<'py>, rows: Vec<[f32; N]>) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let shape = (rows.len(), N);
    let array = Array2::from_shape_vec(shape, rows.into_flattened());
    Ok(array.map_err(|error| simple("unsupported", error.to_string()))?.into_pyarray(py))
}

impl Mesh {
    /// The array that `read` makes of the vertices, which are decoded with all others of their buffer.
    fn of_vertices<T: Send>(
        &self,
        py: Python<'_>,
        read: impl for<'v> FnOnce(&Vertices<'v>) -> T + Send,
    ) -> PyResult<T> {
        let asset = &self.asset;
        let geometry = asset.geometry()?;
        let read = py.detach(|| geometry.mapped_vertices(self.group.vertices).map(|vertices| read(&vertices)));
        read.or_raise(asset.file())
    }

    fn index_list(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let asset = &self.asset;
        let geometry = asset.geometry()?;
        let indices = py.detach(|| geometry.mapped_indices(self.group.indices).map(|i| i.iter().collect()));
        indices.or_raise(asset.file())
    }
}

type Rows2<'py> = PyResult<Option<Bound<'py, PyArray2<f32>>>>;

#[pymethods]
impl Mesh {
    #[getter]
    fn name(&self) -> &str {
        &self.group.name
    }

    #[getter]
    fn material(&self) -> Option<&str> {
        self.group.material.as_deref()
    }

    #[getter]
    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    #[getter]
    fn lods(&self) -> Vec<usize> {
        self.group.lods.clone()
    }

    #[getter]
    fn pairing(&self) -> String {
        self.group.pairing.to_string()
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Rows2<'py> {
        let found = self.of_vertices(py, |vertices| vertices.positions().map(|all| all.collect::<Vec<_>>()))?;
        found.map(|found| rows(py, found)).transpose()
    }

    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> Rows2<'py> {
        let found = self.of_vertices(py, |vertices| vertices.normals().map(|all| all.collect::<Vec<_>>()))?;
        found.map(|found| rows(py, found)).transpose()
    }

    #[getter]
    fn uvs<'py>(&self, py: Python<'py>) -> Rows2<'py> {
        let found = self.of_vertices(py, |vertices| vertices.uvs().map(|all| all.collect::<Vec<_>>()))?;
        found.map(|found| rows(py, found)).transpose()
    }

    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(PyArray1::from_vec(py, self.index_list(py)?))
    }

    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let list = self.index_list(py)?;
        // Indices at the end that are no whole triangle are left out; `verify` finds them.
        let triangles = list.as_chunks::<3>().0.to_vec();
        let array = Array2::from_shape_vec((triangles.len(), 3), triangles.into_flattened());
        Ok(array.map_err(|error| simple("unsupported", error.to_string()))?.into_pyarray(py))
    }

    fn __repr__(&self) -> String {
        format!("<assetq.Mesh {:?} of {:?}>", self.group.name, self.asset.file())
    }
}

/// An armour model: triangles, each with the collision material and the layer of its plate.
#[pyclass(frozen, module = "assetq")]
pub struct ArmorModel {
    name: String,
    vertices: Vec<f32>,
    normals: Vec<f32>,
    plates: Vec<u32>,
    materials: Vec<u16>,
    layers: Vec<u16>,
}

pub fn armor(py: Python<'_>, asset: &Opened) -> PyResult<Vec<ArmorModel>> {
    let geometry = asset.geometry()?;
    let models = py.detach(|| {
        let count = geometry.armor_prototypes()?.len();
        (0..count).map(|n| ArmorModel::read(geometry, n)).collect::<assetq::Result<Vec<_>>>()
    });
    models.or_raise(asset.file())
}

impl ArmorModel {
    fn read(geometry: &Geometry, number: usize) -> assetq::Result<Self> {
        let model = geometry.armor_model(number)?;
        let mut read = Self {
            name: model.name()?.to_owned(),
            vertices: Vec::new(),
            normals: Vec::new(),
            plates: Vec::new(),
            materials: Vec::new(),
            layers: Vec::new(),
        };
        for (number, plate) in (0u32..).zip(model.plates()?) {
            let plate = plate?;
            for corner in plate.triangles().as_flattened() {
                read.vertices.extend(corner.position.map(|n| n.get()));
                read.normals.extend(unpack_normal(corner.normal));
            }
            let count = plate.triangles().len();
            read.plates.extend(std::iter::repeat_n(number, count));
            read.materials.extend(std::iter::repeat_n(plate.header().material_id.get(), count));
            read.layers.extend(std::iter::repeat_n(plate.header().layer.get(), count));
        }
        Ok(read)
    }

    /// Three corners of three numbers for each triangle.
    fn corners<'py>(&self, py: Python<'py>, numbers: &[f32]) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let array = Array3::from_shape_vec((self.plates.len(), 3, 3), numbers.to_vec());
        Ok(array.map_err(|error| simple("unsupported", error.to_string()))?.into_pyarray(py))
    }
}

#[pymethods]
impl ArmorModel {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        self.corners(py, &self.vertices)
    }

    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        self.corners(py, &self.normals)
    }

    #[getter]
    fn plates<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.plates)
    }

    #[getter]
    fn material_ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, &self.materials)
    }

    #[getter]
    fn layers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u16>> {
        PyArray1::from_slice(py, &self.layers)
    }

    fn __repr__(&self) -> String {
        format!("<assetq.ArmorModel {:?}: {} triangles>", self.name, self.plates.len())
    }
}

/// The name of a collision material in recent builds of the game.
#[pyfunction]
pub fn armor_material(id: u16) -> Option<&'static str> {
    material_name(id)
}

pub fn glb<'py>(
    py: Python<'py>,
    asset: &Opened,
    with: &Bound<'py, PyTuple>,
    lod: Option<usize>,
    parts: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let others = others(with)?;
    let mut options = Options { lod, ..Options::of_kind(SceneFormat::Glb) };
    if let Some(parts) = parts {
        (options.meshes, options.armor, options.collision) = (false, false, false);
        for part in parts {
            match &*part {
                "meshes" => options.meshes = true,
                "armor" => options.armor = true,
                "collision" => options.collision = true,
                _ => return Err(simple("syntax", format!("no part {part:?}: there are meshes, armor and collision"))),
            }
        }
    }
    let shapes = asset.reader().facet::<dyn Shapes>().filter(|shapes| shapes.kinds().contains(&SceneFormat::Glb));
    let shapes = shapes.ok_or_else(|| asset.unsupported("has no shape"))?;
    let drawn = py.detach(|| {
        let context = Context::from_assets(&others)?;
        let drawing = shapes.draw(&context, options)?;
        // Damage is an error here, as a picture may be looked at without its warnings.
        if let Some(error) = drawing.damage().first() {
            return Err(error.clone());
        }
        let mut bytes = Vec::new();
        let written = drawing.write(SceneFormat::Glb, &mut bytes)?;
        Ok((bytes, [drawing.notes(), &written].concat()))
    });
    let (bytes, notes) = drawn.or_raise(asset.file())?;
    warn(py, asset.file(), &notes)?;
    Ok(PyBytes::new(py, &bytes))
}
