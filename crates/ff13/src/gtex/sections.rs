//! The sections around the descriptions of textures: their headers state sizes and places, which show whether the file was cut.

use super::SEARCHED;
use super::layout::{FILE_MAGIC, HEADER_SIZE};
use crate::bytes::View;
use crate::error::Result;
use crate::source::Source;

/// Bytes at whose multiples sections begin.
const ALIGNED: usize = 16;
/// The type of the section that lists the others, after its magic.
const LIST: &[u8] = b"RES ";
/// Positions in a section's header: its own size, and the size of the section.
const OWN_SIZE: usize = 0x0E;
const SIZE: usize = 0x10;
/// Positions in a list: the number of its rows, and the first row.
const ROW_COUNT: usize = 0x38;
const ROWS: usize = 0x40;

/// A row of the list: number, place after the rows, size, and a type.
type Row = [[u8; 4]; 4];

/// Checks that the file has all bytes that the headers of its sections state. A size of 0 states nothing: programs that pack such
/// files leave it out.
///
/// # Errors
/// `OutOfBounds` for a section, a header or a row that leaves the file.
pub(super) fn check(source: &Source) -> Result<()> {
    let file = source.view("sections");
    let is_little = file.take(HEADER_SIZE)?.get(OWN_SIZE..).and_then(<[u8]>::first_chunk).is_none_or(|size| {
        // The size of a header is small, and would be large in the other order.
        u16::from_le_bytes(*size) <= u16::from_be_bytes(*size)
    });
    let number = if is_little { u32::from_le_bytes } else { u32::from_be_bytes };
    let bytes = source.bytes();
    let searched = bytes.get(..SEARCHED).unwrap_or(bytes);
    for at in memchr::memmem::find_iter(searched, &FILE_MAGIC).filter(|at| at.is_multiple_of(ALIGNED)) {
        let section = source.view("section").at(at);
        section.take(HEADER_SIZE)?;
        section.take(number(*section.skip(SIZE).read()?) as usize)?;
    }
    if bytes.get(FILE_MAGIC.len()..).is_some_and(|kind| kind.starts_with(LIST)) {
        let count = number(*file.skip(ROW_COUNT).read()?) as usize;
        let rows = source.view("list of sections").at(ROWS);
        let all: &[Row] = rows.array(count)?;
        let data = source.view("section").at(ROWS).skip(size_of_val(all));
        all.iter().try_for_each(|[_, start, size, _]| check_row(data.skip(number(*start) as usize), number(*size)))?;
    }
    Ok(())
}

/// Checks the range of a row. The last rows are of texts, whose sizes are those in memory, and may exceed the file.
fn check_row(start: View<'_>, size: u32) -> Result<()> {
    let rest = start.rest();
    let head = rest.get(..FILE_MAGIC.len()).unwrap_or(rest);
    if FILE_MAGIC.starts_with(head) { start.take(size as usize).map(drop) } else { Ok(()) }
}
