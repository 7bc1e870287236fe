//! Checked access to the bytes of a file: all of it goes through here.
//!
//! A [`View`] is the whole file and a position in it, so that a relative pointer can lead backwards and an error can
//! say where in the file it was. A [`Cursor`] reads one thing after another.

mod cursor;
mod text;
mod view;

pub use cursor::Cursor;
pub use text::Utf16;
pub use view::{PackedString, View};

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

/// The little-endian number at `at`, where `data` has one: for looks at a file whose format is not known yet.
pub fn peek_u32(data: &[u8], at: usize) -> Option<u32> {
    Some(le::U32::from_bytes(*data.get(at..)?.first_chunk()?).get())
}
