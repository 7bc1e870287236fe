//! Checked access to the bytes of a file: all accesses are here.
//!
//! A [`View`] is the whole file and a position in it, so that a relative pointer can lead backwards and an error can
//! say where in the file it was. A [`Cursor`] reads one thing after another.

mod cursor;
mod text;
mod view;

pub use cursor::Cursor;
pub use text::{BOM, Utf16, is_utf16, shown, without_bom};
pub use view::View;

pub use zerocopy::{big_endian as be, little_endian as le};

/// Values that can be laid over file bytes in place: any bit pattern valid, no alignment, no
/// interior mutability. Derive `FromBytes, KnownLayout, Immutable, Unaligned`.
pub trait Overlay:
    zerocopy::FromBytes + zerocopy::KnownLayout + zerocopy::Immutable + zerocopy::Unaligned + 'static
{
}
impl<T> Overlay for T where
    T: zerocopy::FromBytes + zerocopy::KnownLayout + zerocopy::Immutable + zerocopy::Unaligned + 'static
{
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number as a size or a position in memory. A number beyond the address space becomes the largest: greater than the length of
/// any slice, so that a comparison with a length ends as it would for the number itself. Not for numbers that are written or shown.
pub fn clamp_to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The little-endian number at `at`, if `data` is long enough: for the detection of formats.
pub fn peek_u32(data: &[u8], at: usize) -> Option<u32> {
    Some(le::U32::from_bytes(*data.get(at..)?.first_chunk()?).get())
}
