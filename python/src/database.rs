//! Lookups in prototype databases.

use crate::asset::Opened;
use crate::error::{OrRaise as _, simple};
use crate::value;
use assetq::formats::relations::{EntryLocation, IdTexts};
use assetq::formats::wows::bwdb::{Database, Location, State};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A resource of a prototype database: where its record is.
#[pyclass(frozen, module = "assetq")]
pub struct Resource {
    asset: Opened,
    id: u64,
    location: Location,
}

impl Opened {
    fn database(&self) -> PyResult<&Database> {
        self.inner.get().ok_or_else(|| self.unsupported("is no prototype database, in which ids are looked up"))
    }

    fn texts(&self) -> PyResult<&dyn IdTexts> {
        let texts = self.reader().relations().and_then(|relations| relations.texts());
        texts.ok_or_else(|| self.unsupported("knows no texts of ids"))
    }
}

fn id_of(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let syntax = || simple("syntax", format!("{given} is no id: a number, or a text like 0x000000000000002A"));
    value::id(given)?.ok_or_else(syntax)
}

pub fn lookup(asset: &Opened, id: &Bound<'_, PyAny>) -> PyResult<Option<Resource>> {
    let found = asset.database()?.lookup(id_of(id)?).or_raise(asset.file())?;
    Ok(found.map(|found| Resource { asset: asset.clone(), id: found.id(), location: found.location() }))
}

pub fn lookup_path(py: Python<'_>, asset: &Opened, path: &str) -> PyResult<Option<Resource>> {
    let (db, file) = (asset.database()?, asset.file());
    let found = py.detach(|| db.lookup_path(path).map(|found| found.map(|r| (r.id(), r.location()))));
    Ok(found.or_raise(file)?.map(|(id, location)| Resource { asset: asset.clone(), id, location }))
}

/// Numbers of an array at once, on all cores.
pub fn lookup_many<'py>(
    py: Python<'py>,
    asset: &Opened,
    ids: &PyReadonlyArray1<'py, u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let db = asset.database()?;
    let given;
    let ids: &[u64] = match ids.as_slice() {
        Ok(ids) => ids,
        // Every second one of another array, for example.
        Err(_) => {
            given = ids.as_array().to_vec();
            &given
        }
    };
    let found = py.detach(|| {
        let mut found = vec![None; ids.len()];
        db.lookup_many(ids, &mut found)?;
        let record =
            found.iter().map(|at| at.map_or(-1, |at| i32::try_from(at.record_index()).unwrap_or(-1))).collect();
        let database = found.iter().map(|at| at.map_or(0, |at| byte(at.database_index()))).collect();
        let state = found.iter().map(|at| at.map_or(0, |at| state_number(at.state()))).collect();
        Ok::<(Vec<i32>, Vec<u8>, Vec<u8>), assetq::Error>((record, database, state))
    });
    let (record, database, state) = found.or_raise(asset.file())?;
    let arrays = (PyArray1::from_vec(py, record), PyArray1::from_vec(py, database), PyArray1::from_vec(py, state));
    value::class(py, "Locations")?.call1(arrays)
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).expect("a location has 6 bits for the database")
}

fn state_number(state: State) -> u8 {
    match state {
        State::Valid => 0,
        State::Deleted => 3,
        State::Unnamed(number) => number,
    }
}

pub fn path_of(asset: &Opened, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(asset.texts()?.path(id_of(id)?).or_raise(asset.file())?.map(Into::into))
}

pub fn name_of(asset: &Opened, id: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let number = id_of(id)?;
    let Ok(id) = u32::try_from(number) else {
        return Err(simple("syntax", format!("{number:#x} is no id of a name, which has 32 bits")));
    };
    Ok(asset.texts()?.name(id).or_raise(asset.file())?.map(Into::into))
}

#[pymethods]
impl Resource {
    #[getter]
    fn id(&self) -> u64 {
        self.id
    }

    #[getter]
    fn database(&self) -> usize {
        self.location.database_index()
    }

    #[getter]
    fn record(&self) -> usize {
        self.location.record_index()
    }

    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::object(py, &self.location.state().into())
    }

    #[getter]
    fn path(&self) -> PyResult<Option<String>> {
        let asset = &self.asset;
        asset.database()?.path(self.id).or_raise(asset.file())
    }

    #[getter]
    fn r#type(&self) -> PyResult<Option<String>> {
        Ok(self.entry()?.and_then(|entry| entry.kind))
    }

    #[getter]
    fn offset(&self) -> PyResult<Option<u64>> {
        Ok(self.entry()?.and_then(|entry| entry.place).map(|(offset, _)| offset))
    }

    #[getter]
    fn size(&self) -> PyResult<Option<usize>> {
        Ok(self.entry()?.and_then(|entry| entry.place).map(|(_, size)| size))
    }

    /// The bytes of the record, if the size of records is known.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let asset = &self.asset;
        let bytes = asset.database()?.resource(self.id, self.location).bytes().or_raise(asset.file())?;
        Ok(bytes.map(|bytes| PyBytes::new(py, bytes)))
    }

    fn __repr__(&self) -> String {
        let (database, record) = (self.database(), self.record());
        format!("<assetq.Resource 0x{:016X}: record {record} of database {database}>", self.id)
    }
}

impl Resource {
    fn entry(&self) -> PyResult<Option<EntryLocation>> {
        let asset = &self.asset;
        let entries = asset.reader().relations().and_then(|relations| relations.entries());
        let Some(entries) = entries else { return Ok(None) };
        let mut damaged = None;
        let found = entries.resolve(&format!("0x{:016X}", self.id), false, &mut |error| {
            damaged.get_or_insert(error);
        });
        match (found, damaged) {
            (Ok(entry), None) => Ok(entry),
            (Err(error), _) | (Ok(_), Some(error)) => Err(error).or_raise(asset.file()),
        }
    }
}
