//! What is known of a file in an archive, shown as an entry.

use super::Archive;
use crate::error::Result;
use crate::table::{Value, Visitor};

/// Shows what the archive says of the file at `path`, never its bytes. `false` when there is no such file; nothing has been
/// shown then.
///
/// # Errors
/// As [`Archive::find`], and when `out` fails.
pub fn show(archive: &dyn Archive, path: &str, out: &mut dyn Visitor) -> Result<bool> {
    let Some(file) = archive.find(path)? else { return Ok(false) };
    let optional =
        |text: &Option<std::borrow::Cow<'_, str>>| text.clone().map_or(Value::Null, Value::Text).into_owned();
    out.begin_map()?;
    out.field("path", &Value::text(&file.path))?;
    out.field("id", &file.id.map_or(Value::Null, Value::Id64))?;
    out.field("size", &file.size.into())?;
    out.field("stored_size", &file.stored_size.into())?;
    out.field("codec", &Value::Text(file.codec.name()))?;
    out.field("crc32", &file.crc32.map_or(Value::Null, Value::Id32))?;
    out.field("volume", &optional(&file.volume))?;
    out.field("offset", &file.offset.into())?;
    out.field("installed", &file.installed.into())?;
    if archive.has_lists() {
        out.field("list", &optional(&file.list))?;
    }
    out.end_map()?;
    Ok(true)
}
