//! Relative pointers of a file whose parts move.

#![allow(clippy::arithmetic_side_effects, reason = "differences of places in 128 bits")]

use crate::error::Result;
use crate::writable::refused;

/// A pointer: where it lies, the place that it counts from, and its value.
pub type Pointer = (usize, usize, i64);

/// Hands each pointer whose value changes to `put`, with its place in the old file and its new value. `moved` tells
/// where a place of the old file comes to lie. A pointer of zero leads nowhere, and stays.
///
/// # Errors
/// A distance that no pointer can say, and those of `put`.
pub fn repointed(
    pointers: impl IntoIterator<Item = Pointer>,
    moved: impl Fn(usize) -> usize,
    mut put: impl FnMut(usize, i64) -> Result<()>,
) -> Result<()> {
    for (at, base, pointer) in pointers.into_iter().filter(|(.., pointer)| *pointer != 0) {
        let target = isize::try_from(pointer).ok().and_then(|pointer| base.checked_add_signed(pointer));
        let Some(target) = target else { continue };
        let new = i64::try_from(moved(target) as i128 - moved(base) as i128);
        let new = new.map_err(|_| refused("the file would be larger than its pointers can say"))?;
        if new != pointer {
            put(at, new)?;
        }
    }
    Ok(())
}
