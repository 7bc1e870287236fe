//! Holes: headers of zeros, as an interrupted download leaves them.

use crate::bytes::View;
use crate::error::{ErrorKind, Result};

/// Whether a header is all zeros and more bytes follow. A header without a magic is all zeros in an empty file; with more bytes, `data`
/// is not a file of the format but, for example, a hole of an interrupted download.
pub fn is_hole(data: &[u8], header: usize) -> bool {
    let parts = data.split_at_checked(header);
    parts.is_some_and(|(header, rest)| !rest.is_empty() && header.iter().all(|byte| *byte == 0))
}

/// An error where [`is_hole`].
pub fn no_hole(file: View<'_>, header: usize) -> Result<()> {
    if is_hole(file.rest(), header) {
        let what = "a header of zeros, as in an empty file, with more bytes after it".into();
        return Err(file.error(ErrorKind::Damaged { what }));
    }
    Ok(())
}
