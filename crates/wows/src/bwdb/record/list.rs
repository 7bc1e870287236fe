//! Arrays outside of records.

use super::Typed;
use crate::bytes::{View, le};
use crate::error::{ErrorKind, Result};
use std::marker::PhantomData;

/// An array outside of the record, read element by element.
#[derive(Debug, Clone, Copy)]
pub struct List<'a, T> {
    view: View<'a>,
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<'a, T: Typed<'a>> Iterator for List<'a, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.len = self.len.checked_sub(1)?;
        let first = T::read(self.view);
        self.view = self.view.skip(T::SIZE);
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<'a, T: Typed<'a>> List<'a, T> {
    /// The `count` elements at the target of the pointer at `at`, relative to `base`.
    ///
    /// # Errors
    /// When the pointer or the elements leave the file.
    pub fn follow(base: View<'a>, at: usize, count: usize) -> Result<Self> {
        Ok(Self { view: follow(base, at, count, T::SIZE)?, len: count, element: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the elements.
    pub fn view(&self) -> View<'a> {
        self.view
    }

    /// The element at `index`; `None` past the end.
    pub fn get(&self, index: usize) -> Option<Result<T>> {
        let skip = index.checked_mul(T::SIZE)?;
        (index < self.len).then(|| T::read(self.view.skip(skip)))
    }

    pub fn iter(&self) -> Self {
        *self
    }
}

/// The number of elements that a field states.
pub(in crate::bwdb) fn checked_count<T: Copy + Into<i128>>(count: T, view: View<'_>) -> Result<usize>
where
    usize: TryFrom<T>,
{
    usize::try_from(count).map_err(|_| view.bad_value("count", count))
}

/// The position of the single element at the target of the pointer at `at`, relative to `base`.
pub(in crate::bwdb) fn follow_one(base: View<'_>, at: usize) -> Result<View<'_>> {
    base.follow_field(base.skip(at).read::<le::I64>()?.get(), at)
}

/// The place of the `count` elements of `size` bytes that the pointer at `at` leads to, relative to `base`. Without
/// elements the pointer is not looked at.
pub(in crate::bwdb) fn follow<'a>(base: View<'a>, at: usize, count: usize, size: usize) -> Result<View<'a>> {
    if count == 0 {
        return Ok(base);
    }
    let view = follow_one(base, at)?;
    match count.checked_mul(size) {
        Some(bytes) => view.take(bytes).map(|_| view),
        None => Err(view.error(ErrorKind::OutOfBounds { need: u64::MAX, have: view.rest().len() as u64 })),
    }
}
