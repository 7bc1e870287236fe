//! Edits of a file, which are kept until they are written.

use crate::asset::Opened;
use crate::error::{OrRaise as _, raised, simple};
use assetq::edit::Editor;
use assetq::edit::read::{self, ChangesFormat, InputRow};
use assetq::write::atomic_file::Overwrite;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An edit that fits the file.
#[derive(Clone)]
pub enum Edit {
    /// A value of an entry, or of a row and column of a table.
    Value { table: Option<String>, entry: String, value: String },
    /// Rows of a patch, or rows as they were exported.
    Rows { table: Option<String>, name: String, form: ChangesFormat, rows: Arc<[u8]> },
    /// The meshes of a binary glTF.
    Meshes(Arc<[u8]>),
}

/// The beginning of a binary glTF.
const GLB: &[u8] = b"glTF";

/// A value as JSON.
pub fn json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// The rows of a file of changes, or of an iterable of dicts; or a binary glTF, as bytes or in a file.
pub fn changes(given: &Bound<'_, PyAny>, table: Option<String>) -> PyResult<Edit> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return match bytes.as_bytes() {
            glb if glb.starts_with(GLB) => Ok(Edit::Meshes(glb.into())),
            _ => Err(simple("syntax", "bytes of changes are a binary glTF".to_owned())),
        };
    }
    if let Ok(path) = given.extract::<PathBuf>() {
        let name = path.to_string_lossy().into_owned();
        let failed = |error: std::io::Error| raised(&name, &assetq::Error::io("cannot read", error));
        let rows = std::fs::read(&path).map_err(failed)?;
        if rows.starts_with(GLB) {
            return Ok(Edit::Meshes(rows.into()));
        }
        let form = ChangesFormat::of_name(&name).or_raise(&name)?.unwrap_or_else(|| ChangesFormat::of_head(&rows));
        return Ok(Edit::Rows { table, name, form, rows: rows.into() });
    }
    let mut rows = String::new();
    for row in given.try_iter()? {
        let row = row?;
        if !row.is_instance_of::<PyDict>() {
            return Err(simple("syntax", format!("a row of changes is a dict, not {}", row.get_type().name()?)));
        }
        rows.push_str(&json(&row)?);
        rows.push('\n');
    }
    Ok(Edit::Rows { table, name: "changes".to_owned(), form: ChangesFormat::Ndjson, rows: rows.into_bytes().into() })
}

/// Checks that `edits` fit the file, without writing one.
pub fn check(file: &Opened, edits: &[Edit]) -> PyResult<()> {
    editor(file, edits).map(drop)
}

/// Notes on the meshes of the edits, and names of the parts that the file cannot hold.
pub fn said(file: &Opened, edits: &[Edit]) -> PyResult<Vec<String>> {
    let editor = editor(file, edits)?;
    Ok([editor.notes(), editor.summary().2].concat())
}

/// Writes a copy with `edits` to `to`, after it was read back and compared.
pub fn write(file: &Opened, edits: &[Edit], to: &Path, overwrite: bool) -> PyResult<()> {
    let plan = editor(file, edits)?.finish().or_raise(file.file())?;
    let overwrite = if overwrite { Overwrite::Replace } else { Overwrite::Refuse };
    let written = plan.write(to, overwrite).and_then(|written| written.commit());
    written.map(drop).or_raise(&to.to_string_lossy())
}

fn editor<'a>(file: &'a Opened, edits: &[Edit]) -> PyResult<Editor<'a>> {
    let mut editor = Editor::with_options(&file.inner, &file.options).or_raise(file.file())?;
    for edit in edits {
        match edit {
            Edit::Value { table, entry, value } => {
                editor.set_value(table.as_deref(), entry, value).or_raise(file.file())?;
            }
            Edit::Rows { table, name, form, rows } => {
                let each = &mut |row: InputRow<'_>| add(&mut editor, table.as_deref(), row);
                read::rows(&**rows, *form, each).and_then(|()| editor.match_exported()).or_raise(name)?;
            }
            Edit::Meshes(glb) => editor.meshes(glb).or_raise(file.file())?,
        }
    }
    match editor.summary() {
        (_, _, []) => Ok(editor),
        // `said` lists meshes that the file cannot hold.
        _ if edits.iter().any(|edit| matches!(edit, Edit::Meshes(_))) => Ok(editor),
        (_, _, left_out) => Err(simple("syntax", format!("{}: {}", file.file(), left_out.join("; ")))),
    }
}

fn add(editor: &mut Editor<'_>, table: Option<&str>, row: InputRow<'_>) -> assetq::Result<()> {
    match row {
        InputRow::Edit(mut edit) => {
            edit.table = edit.table.or_else(|| table.map(Arc::from));
            editor.edits([edit])
        }
        InputRow::Restore(restore) if !editor.is_restored() => editor.restore(&restore).map(drop),
        InputRow::Columns(names) => editor.exported_columns(table, &names),
        InputRow::Blank { cells, from } if !editor.is_restored() => editor.exported_blank(table, cells, from),
        InputRow::Exported { origin, cells, from } if !editor.is_restored() => {
            let row = editor.exported(table, cells, from, false);
            row.map_err(|error| error.context(format_args!("row {origin}")))
        }
        _ => Ok(()),
    }
}
