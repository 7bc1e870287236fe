//! Open files.

use crate::edit::{self, Edit};
use crate::error::{OrRaise as _, missing_file, raised, simple};
use crate::mesh::{ArmorModel, Mesh};
use crate::table::Table;
use crate::{ask, database, mesh, value};
use assetq::formats::Reader;
use assetq::formats::report::Progress;
use assetq::query::archive;
use assetq::query::archive::names::NameSources;
use assetq::query::archive::{Archive, Cache, Oodle};
use assetq::query::files::{FilePattern, FormatOf};
use assetq::table::Tree;
use assetq::{Options, Source};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file or folder that is mapped, and how it was opened.
#[derive(Clone)]
pub struct Opened {
    pub inner: assetq::Asset,
    pub options: Options,
}

/// A file or folder of any format, until it is closed.
#[pyclass(frozen, module = "assetq")]
pub struct Asset {
    name: String,
    /// `None` once it is closed.
    opened: Mutex<Option<Opened>>,
    edits: Mutex<Vec<Edit>>,
}

impl Asset {
    fn new(inner: assetq::Asset, options: Options) -> Self {
        let name = inner.source().name().to_owned();
        Self { name, opened: Mutex::new(Some(Opened { inner, options })), edits: Mutex::default() }
    }

    /// The file.
    ///
    /// # Errors
    /// If it was closed.
    pub fn opened(&self) -> PyResult<Opened> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone();
        opened.ok_or_else(|| simple("closed", format!("{}: this file was closed", self.name)))
    }
}

/// Opens the file or folder at `address`, or with `ARCHIVE:INNER` the file in an archive.
#[pyfunction]
#[pyo3(signature = (address, *, mmap=true, cache=true, strict=false, names=Vec::new(), format_of=None))]
pub fn open(
    py: Python<'_>,
    address: PathBuf,
    mmap: bool,
    cache: bool,
    strict: bool,
    names: Vec<PathBuf>,
    format_of: Option<String>,
) -> PyResult<Asset> {
    let mut options = Options::default();
    (options.no_mmap, options.strict) = (!mmap, strict);
    if let Some(folder) = Cache::default_folder().filter(|_| cache) {
        options = options.with(Arc::new(Cache::in_folder(folder)));
    }
    if let Some(oodle) = Oodle::of_environment() {
        options = options.with(Arc::new(oodle));
    }
    if let Some(format) = format_of {
        options = options.with(Arc::new(FormatOf(format)));
    }
    py.detach(|| {
        let mut known = NameSources::default();
        for file in &names {
            known.add_file(file, &options).map_err(|error| raised(&file.to_string_lossy(), &error))?;
        }
        let options = if names.is_empty() { options } else { options.with(Arc::new(known)) };
        let inner = assetq::query::files::open(&address, &options).or_raise_missing_file(&address.to_string_lossy())?;
        Ok(Asset::new(inner, options))
    })
}

/// The addresses of files with their sizes, 0 for a folder, and what cannot be listed.
type Listed = (Vec<(String, u64)>, Vec<PyErr>);

/// The files that `pattern` matches.
#[pyfunction]
pub fn list_files(py: Python<'_>, pattern: PathBuf) -> PyResult<Listed> {
    let list = py.detach(|| FilePattern::parse(&pattern).list(&pattern, &Options::default(), &Progress::default()));
    let list = list.or_raise_missing_file(&pattern.to_string_lossy())?;
    let damaged = list.damaged().iter().map(|(name, error)| raised(name, error)).collect();
    let on_disk = |path: &Path| path.metadata().map_or(0, |data| if data.is_file() { data.len() } else { 0 });
    let files = list.addresses().enumerate().map(|(n, path)| {
        let size = list.size(n).unwrap_or_else(|| on_disk(&path));
        (path.to_string_lossy().into_owned(), size)
    });
    Ok((files.collect(), damaged))
}

/// Opens a copy of a file in memory.
#[pyfunction]
#[pyo3(signature = (data, name="bytes"))]
pub fn from_bytes(py: Python<'_>, data: &[u8], name: &str) -> PyResult<Asset> {
    let source = Source::from_vec(name, data.to_vec());
    let inner = py.detach(|| assetq::Asset::open(source)).or_raise(name)?;
    Ok(Asset::new(inner, Options::default()))
}

impl Opened {
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
        Ok(asset) => Ok(asset.get().opened()?.inner),
        Err(_) => Ok(open(py, given.extract()?, true, true, false, Vec::new(), None)?.opened()?.inner),
    }
}

#[pymethods]
impl Asset {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.opened()?.inner.format().name())
    }

    #[getter]
    fn version(&self) -> PyResult<String> {
        Ok(self.opened()?.reader().version())
    }

    #[getter]
    fn size(&self) -> PyResult<usize> {
        Ok(self.opened()?.inner.source().bytes().len())
    }

    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let this = self.opened()?;
        let facts = this.reader().facts();
        value::dict(py, facts.iter().map(|(name, value)| (Cow::Borrowed(&**name), value)))
    }

    #[getter]
    fn warnings(&self) -> PyResult<Vec<String>> {
        Ok(self.opened()?.reader().warnings())
    }

    #[getter]
    fn tables(&self) -> PyResult<Vec<String>> {
        Ok(self.opened()?.reader().tables().iter().map(|table| table.name().to_owned()).collect())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.tables()?)?.try_iter()?.into_any())
    }

    fn __contains__(&self, table: &str) -> PyResult<bool> {
        Ok(self.opened()?.reader().table(table).is_some())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.opened()?.reader().tables().len())
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __getitem__(&self, table: &str) -> PyResult<Table> {
        Table::new(&self.opened()?.inner, table).or_raise(&self.name)
    }

    /// One entry whole, with its references resolved.
    fn cat<'py>(&self, py: Python<'py>, entry: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (this, entry) = (self.opened()?, entry.str()?.to_string());
        let tree = py.detach(|| {
            let mut tree = Tree::default();
            let found = this.reader().cat(&entry, &mut tree)?;
            Ok(found.then(|| tree.into_value()))
        });
        value::object(py, &tree.or_raise(&self.name)?.ok_or_else(|| this.no_entry(&entry))?)
    }

    /// The decoded bytes of an entry that is stored as a stretch of bytes.
    fn raw<'py>(&self, py: Python<'py>, entry: &str) -> PyResult<Bound<'py, PyBytes>> {
        let this = self.opened()?;
        let bytes = py.detach(|| this.reader().raw(entry)).or_raise(&self.name)?;
        Ok(PyBytes::new(py, bytes.ok_or_else(|| this.no_entry(entry))?))
    }

    /// The bytes of the file, or the bytes of the file at `path` in it.
    #[pyo3(signature = (path=None))]
    fn read<'py>(&self, py: Python<'py>, path: Option<&str>) -> PyResult<Bound<'py, PyBytes>> {
        let this = self.opened()?;
        let Some(path) = path else { return Ok(PyBytes::new(py, this.inner.source().bytes())) };
        let archive = this.archive()?;
        let source = py.detach(|| {
            let Some(file) = archive.find(path)? else { return Ok(None) };
            archive::open(archive, &file, this.file()).map(Some)
        });
        let source = source.or_raise_missing_file(&self.name)?;
        Ok(PyBytes::new(py, source.ok_or_else(|| missing_file(&self.name, path))?.bytes()))
    }

    /// Opens the file that `inner` names in this archive.
    fn open(&self, py: Python<'_>, inner: &str) -> PyResult<Self> {
        let this = self.opened()?;
        let _ = this.archive()?;
        let opened = py.detach(|| archive::open_inside(&this.inner, inner, &this.options));
        Ok(Self::new(opened.or_raise_missing_file(&self.name)?, this.options.clone()))
    }

    /// Checks everything that can be checked.
    #[pyo3(signature = (*, deep=false))]
    fn verify<'py>(&self, py: Python<'py>, deep: bool) -> PyResult<Bound<'py, PyAny>> {
        let this = self.opened()?;
        let report = py.detach(|| {
            let progress = Progress::default();
            let mut report = this.reader().verify(&progress);
            if let Some(archive) = this.reader().archive().filter(|_| deep) {
                archive::verify_deep(archive, &mut report, &progress);
            }
            report
        });
        ask::report(py, &self.name, &report)
    }

    /// Asks the tables of this file in SQL.
    #[pyo3(signature = (query, *, skip_damaged=false))]
    fn sql(&self, py: Python<'_>, query: &str, skip_damaged: bool) -> PyResult<crate::table::Answer> {
        let this = self.opened()?;
        let input = (this.inner.source().stem().to_owned(), assetq::sql::Input::Asset(this.inner));
        py.detach(|| ask::answer(query, vec![input], skip_damaged))
    }

    /// The resource with this id, by one probe of the file's own index.
    fn lookup(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<database::Resource>> {
        database::lookup(&self.opened()?, id)
    }

    /// The resource at this path.
    fn lookup_path(&self, py: Python<'_>, path: &str) -> PyResult<Option<database::Resource>> {
        database::lookup_path(py, &self.opened()?, path)
    }

    /// Where the records of many ids are.
    fn lookup_many<'py>(&self, py: Python<'py>, ids: numpy::PyReadonlyArray1<'py, u64>) -> PyResult<Bound<'py, PyAny>> {
        database::lookup_many(py, &self.opened()?, &ids)
    }

    /// The path that an id stands for.
    fn path_of(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        database::path_of(&self.opened()?, id)
    }

    /// The name that an id of 32 bits stands for.
    fn name_of(&self, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        database::name_of(&self.opened()?, id)
    }

    /// The render groups of a geometry, named as the files in `with_` know them.
    #[pyo3(signature = (*with_))]
    fn meshes(&self, with_: &Bound<'_, PyTuple>) -> PyResult<Vec<Mesh>> {
        mesh::meshes(&self.opened()?, with_)
    }

    /// The armour models of a geometry.
    fn armor(&self, py: Python<'_>) -> PyResult<Vec<ArmorModel>> {
        mesh::armor(py, &self.opened()?)
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
        mesh::glb(py, &self.opened()?, with_, lod, parts)
    }

    /// Changes one value of what `write` writes.
    #[pyo3(signature = (entry, value, *, table=None))]
    fn set(&self, py: Python<'_>, entry: String, value: &Bound<'_, PyAny>, table: Option<String>) -> PyResult<()> {
        let value = if let Ok(text) = value.extract::<String>() { text } else { edit::json(value)? };
        self.add(py, Edit::Value { table, entry, value })
    }

    /// Adds the rows of a patch, or of a file with one, or the meshes of a binary glTF, to what `write` writes.
    #[pyo3(signature = (changes, *, table=None))]
    fn patch(&self, py: Python<'_>, changes: &Bound<'_, PyAny>, table: Option<String>) -> PyResult<Vec<String>> {
        let edit = edit::changes(changes, table)?;
        let has_meshes = matches!(edit, Edit::Meshes(_));
        self.add(py, edit)?;
        if !has_meshes {
            return Ok(Vec::new());
        }
        let (this, edits) = (self.opened()?, self.edits());
        py.detach(|| edit::said(&this, &edits))
    }

    /// Writes a copy of the file with all changes.
    #[pyo3(signature = (path, *, overwrite=false))]
    fn write(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let (this, edits) = (self.opened()?, self.edits());
        py.detach(|| edit::write(&this, &edits, &path, overwrite))
    }

    /// Closes the file. Tables, meshes and resources that were taken from it keep it open as long as they are there.
    fn close(&self) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.edits.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        let format = self.format().unwrap_or("closed");
        format!("<assetq.Asset {:?}: {format}>", self.name)
    }
}

impl Asset {
    fn edits(&self) -> Vec<Edit> {
        self.edits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps an edit, once it fits the file. `write` checks all of them together.
    fn add(&self, py: Python<'_>, edit: Edit) -> PyResult<()> {
        let this = self.opened()?;
        py.detach(|| edit::check(&this, std::slice::from_ref(&edit)))?;
        self.edits.lock().unwrap_or_else(PoisonError::into_inner).push(edit);
        Ok(())
    }
}
