//! A file in an archive, shown as an entry.

use super::{Archive, File};
use crate::error::Result;
use crate::table::{Value, Visitor};

/// Shows the facts that an archive has of the file at `path`, never its bytes. `false` when there is no such file; nothing has
/// been shown then.
///
/// # Errors
/// As [`Archive::find`], and when `out` fails.
pub fn show(archive: &dyn Archive, path: &str, out: &mut dyn Visitor) -> Result<bool> {
    let Some(file) = archive.find(path)? else { return Ok(false) };
    out.begin_map()?;
    fields(&file, out)?;
    if archive.has_lists() {
        out.field("list", &file.list.as_deref().map_or(Value::Null, Value::text))?;
    }
    out.end_map()?;
    Ok(true)
}

/// The facts that every archive has of a file, as fields of a map that is open.
pub(crate) fn fields(file: &File<'_>, out: &mut dyn Visitor) -> Result<()> {
    out.field("path", &Value::text(&file.path))?;
    out.field("id", &file.id.map_or(Value::Null, Value::Id64))?;
    out.field("size", &file.size.into())?;
    out.field("stored_size", &file.stored_size.into())?;
    out.field("codec", &Value::Text(file.codec.name()))?;
    out.field("crc32", &file.crc32.map_or(Value::Null, Value::Id32))?;
    out.field("volume", &file.volume.as_deref().map_or(Value::Null, Value::text))?;
    out.field("offset", &file.offset.into())?;
    out.field("installed", &file.installed.into())
}
