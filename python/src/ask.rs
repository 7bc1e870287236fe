//! Questions about whole files: SQL, differences, references, checks.

use crate::asset::opened;
use crate::error::{self, OrRaise as _, raised, simple};
use crate::table::Answer;
use crate::value;
use assetq::diff::{self, Side};
use assetq::formats::relations::IdTexts;
use assetq::formats::report::{Progress, Report};
use assetq::query::refs;
use assetq::sql::{Input, Session, statements};
use assetq::table::filter::{self, Filter};
use assetq::table::{RowBuffer, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::borrow::Cow;
use std::path::PathBuf;

/// The findings of `verify`, as `assetq.Report`.
pub fn report<'py>(py: Python<'py>, file: &str, report: &Report) -> PyResult<Bound<'py, PyAny>> {
    let check = |check: &assetq::formats::report::Check| {
        let findings = PyList::new(py, error::list(file, check.findings()))?;
        value::class(py, "Check")?.call1((&*check.name, check.is_ok(), &*check.detail, check.found(), findings))
    };
    let checks = report.checks.iter().map(check).collect::<PyResult<Vec<_>>>()?;
    value::class(py, "Report")?.call1((report.is_ok(), PyList::new(py, checks)?))
}

/// Runs the statements of `query`; returns the rows of the last one with a result.
pub fn answer(query: &str, inputs: Vec<(String, Input)>, skip_damaged: bool) -> PyResult<Answer> {
    let session = Session::new(inputs, skip_damaged).map_err(|fault| error::of_sql(&fault))?;
    let mut last = RowBuffer::default();
    for statement in statements(query) {
        let mut rows = Vec::new();
        let mut answer = session.ask(statement).map_err(|fault| error::of_sql(&fault))?;
        let asked = answer.rows(|cells| {
            rows.push(cells.iter().map(|cell| cell.clone().into_owned()).collect());
            Ok::<(), assetq::sql::Fault>(())
        });
        asked.map_err(|fault| error::of_sql(&fault))?;
        if !answer.columns().is_empty() {
            last = assetq::sql::buffer(answer.columns(), rows);
        }
    }
    let files: Vec<String> = session.assets().map(|asset| asset.source().name().to_owned()).collect();
    let left_out = session.take_left_out();
    let damage = left_out
        .errors
        .into_iter()
        .map(|(file, error)| (files.get(file).expect("damage is of a file of the session").clone(), error));
    Ok(Answer::new(last, damage.collect(), left_out.rows.saturating_add(left_out.tables)))
}

/// Asks files in SQL: each is a schema that is called after the file, or as the keyword says.
#[pyfunction]
#[pyo3(signature = (query, *files, skip_damaged=false, **named))]
pub fn sql(
    py: Python<'_>,
    query: &str,
    files: &Bound<'_, PyTuple>,
    skip_damaged: bool,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Answer> {
    let mut inputs = Vec::new();
    let mut add = |name: Option<String>, file: Bound<'_, PyAny>| {
        let database = file.extract::<PathBuf>().ok().filter(|path| Input::is_database(path));
        let (stem, input) = match database {
            Some(path) => (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), Input::Database(path)),
            None => {
                let asset = opened(py, &file)?;
                (asset.source().stem().to_owned(), Input::Asset(asset))
            }
        };
        inputs.push((name.unwrap_or(stem), input));
        Ok::<(), PyErr>(())
    };
    for file in files {
        add(None, file)?;
    }
    for (name, file) in named.into_iter().flat_map(|named| named.iter()) {
        add(Some(name.extract()?), file)?;
    }
    py.detach(|| answer(query, inputs, skip_damaged))
}

/// A row that differs, with nothing borrowed.
struct Change {
    table: String,
    kind: &'static str,
    key: Value<'static>,
    old: Option<Vec<(Cow<'static, str>, Value<'static>)>>,
    new: Option<Vec<(Cow<'static, str>, Value<'static>)>>,
}

type Compared = (Vec<Change>, Vec<(String, assetq::Error)>, Vec<String>);

fn compare(
    old: &assetq::Asset,
    new: &assetq::Asset,
    wanted: &[String],
    condition: Option<&str>,
) -> assetq::Result<Compared> {
    let tables = diff::tables(old, new, wanted)?;
    let filter = condition.map(Filter::parse).transpose()?;
    let name = |side| if side == Side::Old { old } else { new }.source().name().to_owned();
    let (mut changes, mut damage) = (Vec::new(), Vec::new());
    let (mut understood, mut not_understood) = (filter.is_none(), None);
    for table in &tables {
        let bind = |side| match (&filter, table.side(side)) {
            (Some(filter), Some(table)) => filter.bind(table.columns()).map(Some),
            _ => Ok(None),
        };
        let bound: [Option<filter::Bound>; 2] = match (bind(Side::Old), bind(Side::New)) {
            (Ok(old), Ok(new)) => [old, new],
            // Tables without the columns of the condition are left out, unless no table has them.
            (Err(error), _) | (_, Err(error)) => {
                if wanted.is_empty() {
                    not_understood.get_or_insert(error);
                    continue;
                }
                return Err(error);
            }
        };
        understood = true;
        let found = table.find(&Progress::default(), 0);
        damage.extend(found.faults.iter().map(|(side, error)| (name(*side), error.clone())));
        let mut pairs = found.pairs().collect();
        if filter.is_some() {
            table.retain_matching(&mut pairs, &bound, &mut |side, error| damage.push((name(side), error)));
        }
        for pair in pairs {
            let change = table.change(pair, &mut |side, error| damage.push((name(side), error)));
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for field in change.fields {
                let key: Cow<'static, str> = Cow::Owned(field.name.to_string());
                old.push((key.clone(), field.old.into_owned()));
                new.push((key, field.new.into_owned()));
            }
            changes.push(Change {
                table: table.name().to_owned(),
                kind: change.kind.name(),
                key: change.key.into_owned(),
                old: pair.old.map(|_| old),
                new: pair.new.map(|_| new),
            });
        }
    }
    match not_understood {
        Some(error) if !understood => Err(error),
        _ => Ok((changes, damage, diff::notes(old, new))),
    }
}

/// The rows that differ between two files of one format.
#[pyfunction]
#[pyo3(name = "diff")]
#[pyo3(signature = (old, new, *, tables=Vec::new(), r#where=None))]
pub fn diff_<'py>(
    py: Python<'py>,
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    tables: Vec<String>,
    r#where: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (old, new) = (opened(py, old)?, opened(py, new)?);
    let compared = py.detach(|| compare(&old, &new, &tables, r#where));
    let (changes, damage, notes) = compared.or_raise("")?;
    let class = value::class(py, "Change")?;
    let side = |fields: &Option<Vec<(Cow<'static, str>, Value<'static>)>>| {
        let dict = |fields: &Vec<(Cow<'static, str>, Value<'static>)>| {
            value::dict(py, fields.iter().map(|(name, value)| (Cow::Borrowed(&**name), value)))
        };
        fields.as_ref().map(dict).transpose()
    };
    let change = |change: &Change| {
        let key = value::object(py, &change.key)?;
        class.call1((&*change.table, change.kind, key, side(&change.old)?, side(&change.new)?))
    };
    let changes = changes.iter().map(change).collect::<PyResult<Vec<_>>>()?;
    let damage: Vec<PyErr> = damage.iter().map(|(file, error)| raised(file, error)).collect();
    value::class(py, "Found")?.call1((PyList::new(py, changes)?, PyList::new(py, damage)?, notes))
}

/// A reference, with nothing borrowed but its file.
struct Reference {
    direction: &'static str,
    id: Option<u64>,
    table: String,
    column: String,
    file: usize,
    row: usize,
    entry: Option<u64>,
    path: Option<String>,
}

/// Paths of ids, from any file that knows some.
struct Paths<'a>(Vec<(&'a str, &'a dyn IdTexts)>);

impl<'a> Paths<'a> {
    fn new(assets: &'a [assetq::Asset]) -> Self {
        let texts = |asset: &'a assetq::Asset| Some((asset.source().name(), asset.reader().relations()?.texts()?));
        Self(assets.iter().filter_map(texts).collect())
    }

    fn get(&self, id: u64) -> PyResult<Option<String>> {
        for (file, texts) in &self.0 {
            if let Some(path) = texts.path(id).or_raise(file)? {
                return Ok(Some(path.into_owned()));
            }
        }
        Ok(None)
    }
}

/// The references of an entry, and the references to it, across files.
#[pyfunction]
#[pyo3(name = "refs")]
#[pyo3(signature = (entry, *files, to=true, from_=true))]
pub fn refs_<'py>(
    py: Python<'py>,
    entry: &Bound<'py, PyAny>,
    files: &Bound<'py, PyTuple>,
    to: bool,
    from_: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let assets = files.iter().map(|file| opened(py, &file)).collect::<PyResult<Vec<_>>>()?;
    let paths = Paths::new(&assets);
    let id = match value::id(entry)? {
        Some(id) => id,
        None => {
            let path: Cow<'_, str> = entry.extract()?;
            // A build that hashes paths in another way knows better than the hash.
            let known = paths.0.iter().find_map(|(_, texts)| texts.id_of_path(&path));
            known.unwrap_or_else(|| assetq::formats::id::of_path(&path))
        }
    };
    let found = py.detach(|| {
        let (mut references, mut damage, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |file: usize, direction: &'static str, found: refs::Found| {
            for edge in found.edges {
                let other = if direction == "to" { Some(edge.to) } else { edge.from };
                let path = other.map_or(Ok(None), |id| paths.get(id))?;
                let (table, column, row) = (edge.table.to_owned(), edge.column, edge.row);
                references.push(Reference { direction, id: other, table, column, file, row, entry: Some(id), path });
            }
            damage.extend(found.damage.findings().iter().map(|error| (file, error.clone())));
            notes.extend(found.notes);
            Ok::<(), PyErr>(())
        };
        for (file, asset) in assets.iter().enumerate().filter(|_| to) {
            add(file, "to", refs::references_of(asset, id))?;
        }
        for (file, asset) in assets.iter().enumerate().filter(|_| from_) {
            add(file, "from", refs::scan(asset, &|to, _| to == id))?;
        }
        Ok::<_, PyErr>((references, damage, notes))
    });
    listed(py, &assets, found?)
}

/// The references to ids that are in none of the files.
#[pyfunction]
#[pyo3(signature = (*files))]
pub fn dangling<'py>(py: Python<'py>, files: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let assets = files.iter().map(|file| opened(py, &file)).collect::<PyResult<Vec<_>>>()?;
    let found = py.detach(|| {
        let (mut references, mut damage, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let known = refs::KnownIds::new(&assets);
        let paths = Paths::new(&assets);
        if !known.has_texts() {
            notes.push("no assets.bin among the files: references to what only it has count as dangling".to_owned());
        }
        for (file, asset) in assets.iter().enumerate() {
            let found = refs::scan(asset, &|id, by| by == refs::By::Id && !known.has(id));
            for edge in found.edges {
                let path = paths.get(edge.to)?;
                let (table, column, row) = (edge.table.to_owned(), edge.column, edge.row);
                let (id, entry) = (Some(edge.to), edge.from);
                references.push(Reference { direction: "to", id, table, column, file, row, entry, path });
            }
            damage.extend(found.damage.findings().iter().map(|error| (file, error.clone())));
            notes.extend(found.notes);
        }
        Ok::<_, PyErr>((references, damage, notes))
    });
    listed(py, &assets, found?)
}

type References = (Vec<Reference>, Vec<(usize, assetq::Error)>, Vec<String>);

fn listed<'py>(
    py: Python<'py>,
    assets: &[assetq::Asset],
    (references, damage, notes): References,
) -> PyResult<Bound<'py, PyAny>> {
    let name = |file: usize| assets.get(file).map_or("", |asset| asset.source().name());
    let class = value::class(py, "Reference")?;
    let id = |id: Option<u64>| value::object(py, &id.map_or(Value::Null, Value::Id64));
    let made = |r: &Reference| {
        let file = name(r.file);
        let path = r.path.as_deref();
        class.call1((r.direction, id(r.id)?, path, &*r.table, &*r.column, file, r.row, id(r.entry)?))
    };
    let references = references.iter().map(made).collect::<PyResult<Vec<_>>>()?;
    let damage: Vec<PyErr> = damage.iter().map(|(file, error)| raised(name(*file), error)).collect();
    value::class(py, "Found")?.call1((PyList::new(py, references)?, PyList::new(py, damage)?, notes))
}

/// The id of a path, as World of Warships computes it.
#[pyfunction]
pub fn path_id(path: &str) -> u64 {
    assetq::formats::id::of_path(path)
}

/// The id of a name, as World of Warships computes it.
#[pyfunction]
pub fn name_id(name: &str) -> u32 {
    assetq::formats::id::of_name(name)
}

/// The text of an id in the form of all outputs.
#[pyfunction]
#[pyo3(signature = (id, bits=64))]
pub fn format_id(id: u64, bits: u8) -> PyResult<String> {
    match (bits, u32::try_from(id)) {
        (64, _) => Ok(assetq::formats::id::Id64(id).to_string()),
        (32, Ok(id)) => Ok(assetq::formats::id::Id32(id).to_string()),
        _ => Err(simple("syntax", format!("{id:#x} is no id of {bits} bits; ids have 64 or 32"))),
    }
}

/// The number of an id in any of its forms.
#[pyfunction]
pub fn parse_id(text: &str) -> PyResult<u64> {
    assetq::formats::id::parse(text)
        .ok_or_else(|| simple("syntax", format!("{text:?} is no id like 0x000000000000002A")))
}
