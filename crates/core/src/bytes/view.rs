use super::{Overlay, le};
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use zerocopy::FromBytes;

/// A position in a file, with the whole file around it and the name of the current part.
#[derive(Clone, Copy)]
#[must_use]
pub struct View<'a> {
    data: &'a [u8],
    at: usize,
    /// No pointer leads to an earlier position.
    first: usize,
    origin: u64,
    part: &'static str,
}

impl<'a> View<'a> {
    /// The first byte of `data`, for reads that belong to `part`.
    #[inline]
    pub const fn new(data: &'a [u8], part: &'static str) -> Self {
        Self { data, at: 0, first: 0, origin: 0, part }
    }

    /// This view, for a `data` that begins at `origin` of an outer file.
    #[inline]
    pub const fn with_origin(mut self, origin: u64) -> Self {
        self.origin = origin;
        self
    }

    /// Renames the part, at the same position.
    #[inline]
    pub const fn part(mut self, part: &'static str) -> Self {
        self.part = part;
        self
    }

    /// The position `at` from the start of the data. Not checked: reads are.
    #[inline]
    pub const fn at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    /// `count` bytes further on. Not checked: reads are.
    #[inline]
    pub const fn skip(mut self, count: usize) -> Self {
        self.at = self.at.saturating_add(count);
        self
    }

    /// Pointers lead no further back than `first`, counted from the start of the data. The position is the same.
    #[inline]
    pub const fn since(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// Cuts the data at `end`, counted from the start of the data. The position is the same.
    #[inline]
    pub fn until(mut self, end: usize) -> Self {
        self.data = self.data.get(..end).unwrap_or(self.data);
        self
    }

    /// The position from the start of the data.
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The position in the outermost file, as errors name it.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.origin.saturating_add(self.at as u64)
    }

    /// All of the data, from its first byte on.
    #[inline]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The bytes from here on; empty past the end.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    /// An error of `kind` at this position.
    #[cold]
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.part, self.offset())
    }

    #[cold]
    pub fn bad_value(&self, what: &'static str, value: impl Into<i128>) -> Error {
        self.error(ErrorKind::BadValue { what: what.into(), value: value.into() })
    }

    #[cold]
    fn out_of_bounds(&self, need: u64) -> Error {
        self.error(ErrorKind::OutOfBounds { need, have: self.rest().len() as u64 })
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// `OutOfBounds` when there are fewer.
    #[inline]
    pub fn take(&self, len: usize) -> Result<&'a [u8]> {
        match self.at.checked_add(len).and_then(|end| self.data.get(self.at..end)) {
            Some(bytes) => Ok(bytes),
            None => Err(self.out_of_bounds(len as u64)),
        }
    }

    /// Borrows the struct at this position.
    ///
    /// # Errors
    /// `OutOfBounds` when it does not fit.
    #[inline]
    pub fn read<T: Overlay>(&self) -> Result<&'a T> {
        let bytes = self.take(size_of::<T>())?;
        T::ref_from_bytes(bytes).map_err(|_| self.out_of_bounds(size_of::<T>() as u64))
    }

    /// Borrows the `count` structs at this position.
    ///
    /// # Errors
    /// `OutOfBounds` when they do not fit.
    #[inline]
    pub fn array<T: Overlay>(&self, count: usize) -> Result<&'a [T]> {
        let Some(len) = count.checked_mul(size_of::<T>()) else { return Err(self.out_of_bounds(u64::MAX)) };
        <[T]>::ref_from_bytes(self.take(len)?).map_err(|_| self.out_of_bounds(len as u64))
    }

    /// The target of a relative pointer, with this position as the pointer's base.
    ///
    /// # Errors
    /// `BadPointer` when it is null or leads out of the data.
    #[inline]
    pub fn follow(&self, pointer: i64) -> Result<Self> {
        match self.follow_nullable(pointer)? {
            Some(target) => Ok(target),
            None => Err(self.error(ErrorKind::BadPointer { value: 0 })),
        }
    }

    /// As [`View::follow`], for a pointer at offset `field` from its base: an error has the offset of the pointer.
    #[inline]
    pub fn follow_field(&self, pointer: i64, field: usize) -> Result<Self> {
        self.follow(pointer).map_err(|_| self.skip(field).error(ErrorKind::BadPointer { value: pointer }))
    }

    /// As [`View::follow`], for a pointer in this file: an error has the offset of the pointer.
    ///
    /// # Errors
    /// `BadPointer`.
    #[inline]
    pub fn follow_stored(&self, pointer: &'a le::I64) -> Result<Self> {
        let value = pointer.get();
        self.follow(value).map_err(|_| self.locate(pointer).error(ErrorKind::BadPointer { value }))
    }

    /// As [`View::follow`], with `None` for the null pointer.
    ///
    /// # Errors
    /// `BadPointer` when it leads out of the data, or before the first position of [`View::since`]. The end of the data is allowed,
    /// because an empty array may be there.
    #[inline]
    pub fn follow_nullable(&self, pointer: i64) -> Result<Option<Self>> {
        if pointer == 0 {
            return Ok(None);
        }
        let target = isize::try_from(pointer).ok().and_then(|p| self.at.checked_add_signed(p));
        match target {
            Some(at) if self.first <= at && at <= self.data.len() => Ok(Some(self.at(at))),
            _ => Err(self.error(ErrorKind::BadPointer { value: pointer })),
        }
    }

    /// `bytes` as text, with an error that names this position.
    ///
    /// # Errors
    /// `Text` when they are not UTF-8.
    #[inline]
    pub fn utf8(&self, bytes: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(bytes)
            .map_err(|e| self.error(ErrorKind::Text { encoding: "UTF-8", valid_up_to: e.valid_up_to() as u64 }))
    }

    /// The view of a struct that was borrowed from this data, as the base of its relative pointers.
    /// Past the end unless `inner` is in this data.
    #[inline]
    pub fn locate<T: ?Sized>(&self, inner: &'a T) -> Self {
        let start = self.data.as_ptr().addr();
        let at = (&raw const *inner).cast::<u8>().addr().wrapping_sub(start);
        self.at(at.min(self.data.len()))
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} at {:#x} of {:#x})", self.part, self.offset(), self.data.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_both_ways_and_nowhere_else() {
        let data = [1u8, 2, 3, 4, 5, 6, 7, 8];
        let view = View::new(&data, "test").at(4);
        assert_eq!(view.follow(-4).unwrap().take(2).unwrap(), [1, 2]);
        assert_eq!(view.follow(3).unwrap().take(1).unwrap(), [8]);
        assert!(view.follow(4).unwrap().rest().is_empty());
        assert!(view.follow(5).is_err());
        assert!(view.follow(-5).is_err());
        assert!(view.follow(i64::MIN).is_err());
        assert!(view.follow(0).is_err());
        assert!(view.follow_nullable(0).unwrap().is_none());
    }

    #[test]
    fn pointers_lead_no_further_back_than_the_first_position() {
        let data = [1u8, 2, 3, 4, 5, 6, 7, 8];
        let view = View::new(&data, "test").since(2).at(4);
        assert_eq!(view.follow(-2).unwrap().take(1).unwrap(), [3]);
        assert!(view.follow(-3).is_err());
        assert!(view.skip(1).follow(-4).is_err());
    }

    #[test]
    fn counts_that_overflow_are_out_of_bounds() {
        let view = View::new(&[0; 8], "test");
        assert!(view.array::<le::U64>(usize::MAX).is_err());
        assert_eq!(view.array::<le::U32>(2).unwrap().len(), 2);
        assert!(view.skip(1).array::<le::U32>(2).is_err());
        assert!(view.skip(usize::MAX).take(1).is_err());
    }

    #[test]
    fn errors_name_the_place_in_the_outer_file() {
        let error = View::new(&[0; 8], "header").with_origin(0x100).at(6).read::<le::U32>().unwrap_err();
        assert_eq!(error.to_string(), "header: 4 bytes needed, 2 left (at offset 0x106)");
    }

    #[test]
    fn locates_what_it_lent() {
        let data = [0u8; 64];
        let view = View::new(&data, "test");
        let words = view.array::<le::U32>(16).unwrap();
        assert_eq!(view.locate(&words[5]).position(), 20);
        let elsewhere = le::U32::new(7);
        assert_eq!(View::new(&[], "empty").locate(&elsewhere).position(), 0);
    }
}
