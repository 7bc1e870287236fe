//! Relative pointers of a file whose parts move.

#![allow(clippy::arithmetic_side_effects, reason = "differences of places in 128 bits")]

use crate::error::Result;
use crate::writable::refused;

/// A pointer: its offset, the offset that it counts from, and its value.
pub type Pointer = (usize, usize, i64);

/// Calls `put` with each pointer whose value changes: its offset in the old file, and its new value. `moved` maps an offset
/// of the old file to its offset in the new one. A null pointer is kept.
///
/// # Errors
/// `Syntax` if a distance does not fit the pointer, and the errors of `put`.
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
