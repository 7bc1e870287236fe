//! The defaults of [`Reader::cat`](super::Reader::cat) and [`Reader::verify`](super::Reader::verify).

use crate::container::{Archive, File};
use crate::error::{Error, Result};
use crate::report::{Check, Progress, counted};
use crate::table::{Role, Table, Value, Visitor, advance};

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
pub fn fields(file: &File<'_>, out: &mut dyn Visitor) -> Result<()> {
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

/// Shows all cells of a row; a damaged cell is null, and the first error is returned after the last cell.
pub fn show_row(table: &dyn Table, row: usize, out: &mut dyn Visitor) -> Result<()> {
    let mut failed = Ok(());
    out.begin_map()?;
    for (column, info) in table.columns().iter().enumerate() {
        let value = table.value(row, column).unwrap_or_else(|error| {
            if failed.is_ok() {
                failed = Err(error);
            }
            Value::Null
        });
        out.field(&info.name, &value)?;
    }
    out.end_map()?;
    failed
}

/// The first row of `table` whose key is `entry`, if one column alone is the key.
pub fn row_of(table: &dyn Table, entry: &str) -> Result<Option<usize>> {
    let mut keys = (0..).zip(table.columns()).filter(|(_, column)| column.role == Role::Key);
    let (Some((key, _)), None) = (keys.next(), keys.next()) else { return Ok(None) };
    row_found(table, key, entry)
}

/// The first row of `table` whose label is `entry`.
pub(crate) fn row_named(table: &dyn Table, entry: &str) -> Result<Option<usize>> {
    row_found(table, table.label(), entry)
}

/// The first row of `table` whose cell in `column` is `entry`, by an index if there is one.
fn row_found(table: &dyn Table, column: usize, entry: &str) -> Result<Option<usize>> {
    match table.find(column, &Value::text(entry)) {
        Some(found) => Ok(found?.first().copied()),
        None => row_with(table, column, entry),
    }
}

/// The first row of `table` whose cell in `key` is shown as `entry`, by a walk.
fn row_with(table: &dyn Table, key: usize, entry: &str) -> Result<Option<usize>> {
    let mut rows = table.cursor_over(0, Some(&[key]));
    while rows.advance()? {
        // A damaged key is the key of no entry.
        if rows
            .value(key)
            .is_ok_and(|cell| cell.as_text().map_or_else(|| cell.to_string() == entry, |text| text == entry))
        {
            return Ok(Some(rows.row()));
        }
    }
    Ok(None)
}

/// Reads all cells of a table. A row that is damaged as a whole is one finding.
pub fn check_cells(table: &dyn Table, progress: &Progress) -> Check {
    if let Some(rows) = table.known_len() {
        progress.announce(rows as u64);
    }
    let mut check = Check::new(table.name().to_owned());
    let mut rows = table.cursor(0);
    let mut count = 0u64;
    while advance(&mut *rows, |error| check.fail(error)) {
        let mut last: Option<Error> = None;
        for column in 0..table.columns().len() {
            if let Err(error) = rows.value(column) {
                if last.as_ref().is_none_or(|last| last.to_string() != error.to_string()) {
                    check.fail(error.clone().context(format_args!("row {}", rows.row())));
                }
                last = Some(error);
            }
        }
        count += 1;
        progress.advance(1);
    }
    check.with_detail(counted(count, "row"))
}
