use super::{Overlay, Utf16, View, le};
use crate::error::{ErrorKind, Result};

/// Reads one value after another. A failed read does not move it.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    view: View<'a>,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub const fn new(view: View<'a>) -> Self {
        Self { view }
    }

    #[inline]
    pub const fn view(&self) -> View<'a> {
        self.view
    }

    /// The position of the next read, from the start of the data.
    #[inline]
    pub const fn position(&self) -> usize {
        self.view.position()
    }

    /// Names the part that the next reads belong to.
    pub fn set_part(&mut self, part: &'static str) {
        self.view = self.view.part(part);
    }

    /// Moves to `at` from the start of the data; reads there are checked.
    pub fn seek(&mut self, at: usize) {
        self.view = self.view.at(at);
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `OutOfBounds` when there are fewer.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.view.take(len)?;
        self.view = self.view.skip(len);
        Ok(bytes)
    }

    /// Skips `len` bytes, which must exist.
    ///
    /// # Errors
    /// `OutOfBounds` when there are fewer.
    #[inline]
    pub fn skip(&mut self, len: usize) -> Result<()> {
        self.take(len).map(drop)
    }

    /// The next struct, in place.
    ///
    /// # Errors
    /// `OutOfBounds` when it does not fit.
    #[inline]
    pub fn read<T: Overlay>(&mut self) -> Result<&'a T> {
        let value = self.view.read()?;
        self.view = self.view.skip(size_of::<T>());
        Ok(value)
    }

    /// The next `count` structs, in place.
    ///
    /// # Errors
    /// `OutOfBounds` when they do not fit.
    #[inline]
    pub fn array<T: Overlay>(&mut self, count: usize) -> Result<&'a [T]> {
        let values = self.view.array(count)?;
        self.view = self.view.skip(size_of_val(values));
        Ok(values)
    }

    /// The next byte.
    ///
    /// # Errors
    /// `OutOfBounds` at the end.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.read::<u8>().copied()
    }

    /// Takes the magic of a format, of at most eight bytes.
    ///
    /// # Errors
    /// `BadMagic` when other bytes are here, `OutOfBounds` when there are fewer.
    pub fn magic(&mut self, expected: &[u8]) -> Result<()> {
        let here = self.view;
        let found = self.take(expected.len())?;
        if found == expected {
            return Ok(());
        }
        let [expected, found] =
            [expected, found].map(|bytes| bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)));
        Err(here.error(ErrorKind::BadMagic { expected, found }))
    }

    /// The next little-endian i32 as a count of items of at least `least` bytes each, so that an impossible count is
    /// found before its use.
    ///
    /// # Errors
    /// `BadValue` when it is negative or more than the rest of the data could hold.
    #[inline]
    pub fn count(&mut self, what: &'static str, least: usize) -> Result<usize> {
        let here = self.view;
        let stored = self.i32()?;
        match usize::try_from(stored) {
            Ok(count) if count.saturating_mul(least) <= self.view.rest().len() => Ok(count),
            _ => Err(here.bad_value(what, stored)),
        }
    }

    /// The next `units` UTF-16 units.
    ///
    /// # Errors
    /// `OutOfBounds` when there are fewer.
    #[inline]
    pub fn utf16(&mut self, units: usize) -> Result<Utf16<'a>> {
        self.array::<le::U16>(units).map(Utf16::new)
    }

    /// Checks that everything has been read.
    ///
    /// # Errors
    /// `Damaged`, with the number of bytes left over.
    pub fn expect_end(&self) -> Result<()> {
        match self.view.rest().len() {
            0 => Ok(()),
            left => Err(self.view.error(ErrorKind::Damaged { what: format!("{left} bytes left over").into() })),
        }
    }
}

macro_rules! numbers {
    ($($number:ident: $stored:ty,)+) => {
        impl Cursor<'_> {$(
            #[doc = concat!("The next little-endian ", stringify!($number), ".\n\n# Errors\n`OutOfBounds` at the end.")]
            #[inline]
            pub fn $number(&mut self) -> Result<$number> {
                self.read::<$stored>().map(|number| number.get())
            }
        )+}
    };
}

numbers! {
    u16: le::U16,
    u32: le::U32,
    i32: le::I32,
    f32: le::F32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_read_does_not_move() {
        let mut cursor = Cursor::new(View::new(&[1, 0, 0, 0, 9], "test"));
        assert_eq!(cursor.u32().unwrap(), 1);
        assert!(cursor.u32().is_err());
        assert_eq!(cursor.u8().unwrap(), 9);
        cursor.expect_end().unwrap();
    }

    #[test]
    fn counts_are_checked_against_what_is_left() {
        let bytes = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(Cursor::new(View::new(&bytes, "test")).count("boxes", 2).unwrap(), 3);
        assert!(Cursor::new(View::new(&bytes, "test")).count("boxes", 3).is_err());
        let error = Cursor::new(View::new(&[0xFF; 4], "test")).count("boxes", 0).unwrap_err();
        assert_eq!(error.to_string(), "test: boxes: -1 is not allowed (at offset 0x0)");
    }
}
