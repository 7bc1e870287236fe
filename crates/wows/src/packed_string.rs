//! Counted references to texts.

use crate::bytes::{View, le};
use crate::error::{ErrorKind, Result};
use std::mem::offset_of;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// A counted reference to text outside of the struct (docs/formats/bwdb.md §1.3, 0x10 bytes).
/// The base of its pointer is the packed string itself.
#[derive(Debug, Clone, Copy, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct PackedString {
    /// Bytes of the text, the terminating NUL included.
    pub size: le::U32,
    _pad: [u8; 4],
    /// Relative to this struct.
    pub text: le::I64,
}
const _: () = assert!(size_of::<PackedString>() == 0x10);

impl PackedString {
    /// The bytes of the text of the struct at `view`, without the terminating NUL.
    ///
    /// # Errors
    /// `OutOfBounds` or `BadPointer` when the text leaves the file; `Damaged` when the terminating NUL is missing.
    #[inline]
    pub fn bytes_at<'a>(view: &View<'a>) -> Result<&'a [u8]> {
        let string = view.read::<Self>()?;
        let size = string.size.get() as usize;
        if size == 0 {
            return Ok(&[]);
        }
        let text = view.follow_field(string.text.get(), offset_of!(Self, text))?;
        match text.take(size)?.split_last() {
            None => Ok(&[]),
            Some((0, text)) => Ok(text),
            Some(_) => Err(view.error(ErrorKind::Damaged { what: "text does not end with a NUL".into() })),
        }
    }

    /// The text of the struct at `view`.
    ///
    /// # Errors
    /// As [`PackedString::bytes_at`], and `Text` when it is not UTF-8.
    #[inline]
    pub fn text_at<'a>(view: &View<'a>) -> Result<&'a str> {
        view.utf8(Self::bytes_at(view)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(size: u32, pointer: i64, text: &[u8]) -> Vec<u8> {
        let mut bytes = size.to_le_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(pointer.to_le_bytes());
        bytes.extend(text);
        bytes
    }

    #[test]
    fn packed_strings() {
        let good = packed(6, 16, b"visual\0");
        assert!(PackedString::text_at(&View::new(&good, "name")).is_err(), "size without its NUL");
        let good = packed(7, 16, b"visual\0");
        assert_eq!(PackedString::text_at(&View::new(&good, "name")).unwrap(), "visual");
        assert_eq!(PackedString::text_at(&View::new(&packed(0, 99, b""), "name")).unwrap(), "");
        assert!(PackedString::text_at(&View::new(&packed(8, 16, b"visual\0"), "name")).is_err());
        let error = PackedString::text_at(&View::new(&packed(3, 16, b"\xFFa\0"), "name")).unwrap_err();
        assert!(error.to_string().contains("UTF-8"), "{error}");
    }
}
