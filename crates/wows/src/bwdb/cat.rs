//! The `cat` of a resource.

use super::walk::record_fields;
use super::{Database, State};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::table::{Value, Visitor};

/// `cat`: one resource with its path, its place and its record, or an error for each part that cannot be read.
pub(super) fn cat_resource(db: &Database, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
    let id = match crate::id::parse(entry) {
        Some(id) => id,
        None => match db.lookup_path(entry)? {
            Some(resource) => resource.id(),
            None => Database::path_id(entry),
        },
    };
    let resource = db.lookup(id)?;
    let path = db.path(id);
    if resource.is_none() && matches!(path, Ok(None)) {
        return Ok(false);
    }
    let mut errors: Vec<Error> = Vec::new();
    out.begin_map()?;
    out.field("id", &Value::Id64(id))?;
    out.field("path", &path.map_err(|error| errors.push(error)).ok().flatten().into())?;
    let Some(resource) = resource else {
        out.field("type", &Value::Null)?;
        out.field("note", &"a path without a prototype".into())?;
        out.end_map()?;
        return Ok(true);
    };
    let blob = resource.database();
    out.field("type", &blob.as_ref().ok().map(|b| b.type_name_or_magic()).into())?;
    out.field("database", &resource.database_index().into())?;
    out.field("record", &resource.record_index().into())?;
    out.field("state", &resource.state().into())?;
    match blob {
        Err(error) => errors.push(error),
        Ok(blob) if resource.state() == State::Valid => match blob.record(resource.record_index()) {
            Ok(Some(record)) => {
                let (view, size) = blob.record_span(resource.record_index())?;
                out.field("offset", &view.offset().into())?;
                out.field("size", &size.into())?;
                let (fields, more) = record_fields(&record, db, &Budget::of_arrays(db.source.bytes().len()));
                out.field("value", &Value::Map(fields))?;
                errors.extend(more);
            }
            Ok(None) => out.field("note", &blob.note().into())?,
            Err(error) => errors.push(error),
        },
        Ok(_) => out.field("note", &"the record is not valid and not followed".into())?,
    }
    out.end_map()?;
    errors.into_iter().next().map_or(Ok(true), Err)
}
