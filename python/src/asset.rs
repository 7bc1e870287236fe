//! Open files.

use crate::error::{OrRaise as _, missing_file, raised, simple};
use crate::mesh::{ArmorModel, Mesh};
use crate::table::Table;
use crate::{ask, database, mesh, value};
use assetq::formats::Reader;
use assetq::formats::report::Progress;
use assetq::query::archive;
use assetq::query::archive::names::NameSources;
use assetq::query::archive::{Archive, Cache};
use assetq::query::files::FilePattern;
use assetq::table::Tree;
use assetq::{Options, Source};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file or folder of any format.
#[pyclass(frozen, module = "assetq")]
pub struct Asset {
    pub inner: assetq::Asset,
    options: Options,
}

/// Opens the file or folder at `address`, or with `ARCHIVE:INNER` the file in an archive.
#[pyfunction]
#[pyo3(signature = (address, *, mmap=true, cache=true, strict=false, names=Vec::new()))]
pub fn open(
    py: Python<'_>,
    address: PathBuf,
    mmap: bool,
    cache: bool,
    strict: bool,
    names: Vec<PathBuf>,
) -> PyResult<Asset> {
    let mut options = Options::default();
    (options.no_mmap, options.strict) = (!mmap, strict);
    if let Some(folder) = Cache::default_folder().filter(|_| cache) {
        options = options.with(Arc::new(Cache::at(folder)));
    }
    py.detach(|| {
        let mut known = NameSources::default();
        for file in &names {
            known.add_file(file, &options).map_err(|error| raised(&file.to_string_lossy(), &error))?;
        }
        let options = if names.is_empty() { options } else { options.with(Arc::new(known)) };
        let inner = assetq::query::files::open(&address, &options).or_raise_missing_file(&address.to_string_lossy())?;
        Ok(Asset { inner, options })
    })
}

/// The addresses of the files that `pattern` matches, and their sizes; 0 for a folder.
#[pyfunction]
pub fn list_files(py: Python<'_>, pattern: PathBuf) -> PyResult<Vec<(String, u64)>> {
    let list = py.detach(|| FilePattern::of(&pattern).list(&pattern, &Options::default(), &Progress::default()));
    let list = list.or_raise_missing_file(&pattern.to_string_lossy())?;
    if let Some((name, error)) = list.damaged().first() {
        return Err(raised(name, error));
    }
    let on_disk = |path: &Path| path.metadata().map_or(0, |data| if data.is_file() { data.len() } else { 0 });
    let file = |(n, path): (usize, PathBuf)| {
        let size = list.size(n).unwrap_or_else(|| on_disk(&path));
        (path.to_string_lossy().into_owned(), size)
    };
    Ok(list.addresses().enumerate().map(file).collect())
}

/// Opens a copy of a file in memory.
#[pyfunction]
#[pyo3(signature = (data, name="bytes"))]
pub fn from_bytes(py: Python<'_>, data: &[u8], name: &str) -> PyResult<Asset> {
    let source = Source::from_vec(name, data.to_vec());
    let inner = py.detach(|| assetq::Asset::open(source)).or_raise(name)?;
    Ok(Asset { inner, options: Options::default() })
}

impl Asset {
    pub fn file(&self) -> &str {
        self.inner.source().name()
    }

    pub fn reader(&self) -> &dyn Reader {
        self.inner.reader()
    }

    fn archive(&self) -> PyResult<&dyn Archive> {
        self.reader().archive().ok_or_else(|| self.unsupported("has no files in it"))
    }

    /// The exception for a question that files of this format do not answer.
    pub fn unsupported(&self, what: &str) -> PyErr {
        simple("unsupported", format!("{}: a {} file {what}", self.file(), self.inner.format()))
    }

    fn no_entry(&self, entry: &str) -> PyErr {
        simple("not_found", format!("{}: no entry {entry:?}", self.file()))
    }
}

/// A file that is open already, or the address of one.
pub fn opened(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<assetq::Asset> {
    match given.cast::<Asset>() {
        Ok(asset) => Ok(asset.get().inner.clone()),
        Err(_) => Ok(open(py, given.extract()?, true, true, false, Vec::new())?.inner),
    }
}

#[pymethods]
impl Asset {
    #[getter]
    fn name(&self) -> &str {
        self.file()
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.inner.format().name()
    }

    #[getter]
    fn version(&self) -> String {
        self.reader().version()
    }

    #[getter]
    fn size(&self) -> usize {
        self.inner.source().bytes().len()
    }

    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = self.reader().facts();
        value::dict(py, facts.iter().map(|(name, value)| (Cow::Borrowed(&**name), value)))
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.reader().warnings()
    }

    #[getter]
    fn tables(&self) -> Vec<String> {
        self.reader().tables().iter().map(|table| table.name().to_owned()).collect()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.tables())?.try_iter()?.into_any())
    }

    fn __contains__(&self, table: &str) -> bool {
        self.reader().table(table).is_some()
    }

    fn __len__(&self) -> usize {
        self.reader().tables().len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __getitem__(&self, table: &str) -> PyResult<Table> {
        Table::new(&self.inner, table).or_raise(self.file())
    }

    /// One entry whole, with its references resolved.
    fn cat<'py>(&self, py: Python<'py>, entry: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let entry = entry.str()?.to_string();
        let tree = py.detach(|| {
            let mut tree = Tree::default();
            let found = self.reader().cat(&entry, &mut tree)?;
            Ok(found.then(|| tree.into_value()))
        });
        value::object(py, &tree.or_raise(self.file())?.ok_or_else(|| self.no_entry(&entry))?)
    }

    /// The decoded bytes of an entry that is stored as a stretch of bytes.
    fn raw<'py>(&self, py: Python<'py>, entry: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.reader().raw(entry)).or_raise(self.file())?;
        Ok(PyBytes::new(py, bytes.ok_or_else(|| self.no_entry(entry))?))
    }

    /// The bytes of the file, or the bytes of the file at `path` in it.
    #[pyo3(signature = (path=None))]
    fn read<'py>(&self, py: Python<'py>, path: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        let Some(path) = path else { return Ok(PyBytes::new(py, self.inner.source().bytes())) };
        let archive = self.archive()?;
        let source = py.detach(|| {
            let Some(file) = archive.find(path)? else { return Ok(None) };
            archive::open(archive, &file, self.file()).map(Some)
        });
        let source = source.or_raise_missing_file(self.file())?;
        Ok(PyBytes::new(py, source.ok_or_else(|| missing_file(self.file(), path))?.bytes()))
    }

    /// Opens the file that `inner` names in this archive.
    fn open(&self, py: Python<'_>, inner: &str) -> PyResult<Self> {
        let _ = self.archive()?;
        let opened = py.detach(|| archive::open_inside(&self.inner, inner, &self.options));
        Ok(Self { inner: opened.or_raise_missing_file(self.file())?, options: self.options.clone() })
    }

    /// Checks everything that can be checked.
    #[pyo3(signature = (*, deep=false))]
    fn verify<'py>(&self, py: Python<'py>, deep: bool) -> PyResult<Bound<'py, PyAny>> {
        let report = py.detach(|| {
            let progress = Progress::default();
            let mut report = self.reader().verify(&progress);
            if let Some(archive) = self.reader().archive().filter(|_| deep) {
                archive::verify_deep(archive, &mut report, &progress);
            }
            report
        });
        ask::report(py, self.file(), &report)
    }

    /// Asks the tables of this file in SQL.
    #[pyo3(signature = (query, *, skip_damaged=false))]
    fn sql(&self, py: Python<'_>, query: &str, skip_damaged: bool) -> PyResult<crate::table::Answer> {
        let input = (self.inner.source().stem().to_owned(), assetq::sql::Input::Asset(self.inner.clone()));
        py.detach(|| ask::answer(query, vec![input], skip_damaged))
    }

    /// The resource with this id, by one probe of the file's own index.
    fn lookup<'py>(slf: &Bound<'py, Self>, id: &Bound<'py, PyAny>) -> PyResult<Option<database::Resource>> {
        database::lookup(slf, id)
    }

    /// The resource at this path.
    fn lookup_path(slf: &Bound<'_, Self>, path: &str) -> PyResult<Option<database::Resource>> {
        database::lookup_path(slf, path)
    }

    /// Where the records of many ids are.
    fn lookup_many<'py>(&self, py: Python<'py>, ids: numpy::PyReadonlyArray1<'py, u64>) -> PyResult<Bound<'py, PyAny>> {
        database::lookup_many(py, self, &ids)
    }

    /// The path that an id stands for.
    fn path_of(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        database::path_of(self, id)
    }

    /// The name that an id of 32 bits stands for.
    fn name_of(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        database::name_of(self, id)
    }

    /// The render groups of a geometry, named as the files in `with_` know them.
    #[pyo3(signature = (*with_))]
    fn meshes(slf: &Bound<'_, Self>, with_: &Bound<'_, PyTuple>) -> PyResult<Vec<Mesh>> {
        mesh::meshes(slf, with_)
    }

    /// The armour models of a geometry.
    fn armor(slf: &Bound<'_, Self>) -> PyResult<Vec<ArmorModel>> {
        mesh::armor(slf)
    }

    /// The shapes of the file as binary glTF.
    #[pyo3(
        signature = (*with_, lod=Some(0), parts=None),
        text_signature = "($self, *with_, lod=0, parts=None)"
    )]
    fn glb<'py>(
        &self,
        py: Python<'py>,
        with_: &Bound<'py, PyTuple>,
        lod: Option<usize>,
        parts: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        mesh::glb(py, self, with_, lod, parts)
    }

    fn __repr__(&self) -> String {
        format!("<assetq.Asset {:?}: {}>", self.file(), self.inner.format())
    }
}
