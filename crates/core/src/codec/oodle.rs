//! Oodle, a proprietary codec: decoded by the library that the user's own game has, loaded on first use.
//!
//! No decoder is linked. The library runs in this process: docs/unsafe.md states what is checked and what is not.
#![allow(unsafe_code)]

use crate::error::ErrorKind;
use crate::paths::of_variable;
use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{io, ptr};

/// `OodleLZ_Decompress`: the packed bytes and their length, the place for the decoded bytes and its length, whether to
/// survive damaged bytes, whether to compare checksums, verbosity, the window and its length, a callback and its
/// argument, scratch memory and its length, and the threads to use. Returns the decoded length; 0 is a failure.
#[rustfmt::skip]
type Decompress = unsafe extern "system" fn(
    *const u8, isize, *mut u8, isize, c_int, c_int, c_int, *mut c_void, isize, *mut c_void, *mut c_void, *mut c_void, isize, c_int,
) -> isize;

const FUZZ_SAFE: c_int = 1;
/// All of the work in the calling thread.
const UNTHREADED: c_int = 3;

/// The codec, by the path of its library.
#[derive(Debug)]
pub struct Oodle {
    path: PathBuf,
    decompress: OnceLock<Result<Decompress, ErrorKind>>,
    /// Held during a call: the library need not be safe for threads.
    calls: Mutex<()>,
}

impl Oodle {
    /// The variable of the environment that names the library.
    pub const VARIABLE: &str = "ASSETQ_OODLE";

    /// The library at `path`, which is loaded when the first file needs it.
    pub fn in_library(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), decompress: OnceLock::new(), calls: Mutex::new(()) }
    }

    /// The library that [`Oodle::VARIABLE`] names.
    pub fn of_environment() -> Option<Self> {
        of_variable(Self::VARIABLE).map(Self::in_library)
    }

    /// Fills `out` with the bytes that `packed` decodes to.
    ///
    /// # Errors
    /// `Io` if the library cannot be loaded or lacks the function; `Codec` if the function fails or returns another length.
    pub fn decode(&self, packed: &[u8], out: &mut [u8]) -> Result<(), ErrorKind> {
        let loaded = self.decompress.get_or_init(|| {
            load(&self.path).map_err(|error| {
                let source = Arc::new(io::Error::other(format!("{}: {error}", self.path.display())));
                ErrorKind::Io { action: "cannot load the library for Oodle", source }
            })
        });
        let decompress = *loaded.as_ref().map_err(ErrorKind::clone)?;
        let [packed_len, len] = [packed.len(), out.len()].map(usize::cast_signed);
        let call = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `packed` is readable for `packed_len` bytes and `out` is writable for `len`, because no slice has more
        // than `isize::MAX` bytes. All other pointers are null, which the function allows. The library stays loaded.
        // That the function keeps to these lengths is its own promise: the user named the library for that.
        let decoded = unsafe {
            decompress(
                packed.as_ptr(),
                packed_len,
                out.as_mut_ptr(),
                len,
                FUZZ_SAFE,
                0,
                0,
                ptr::null_mut(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                UNTHREADED,
            )
        };
        drop(call);
        let message = match decoded {
            decoded if decoded == len => return Ok(()),
            0 => "the library cannot decode it".into(),
            decoded => format!("the library decoded {decoded} bytes, not {len}").into(),
        };
        Err(ErrorKind::Codec { codec: "oodle", message })
    }
}

/// Loads the library at `path` for the rest of the process.
#[cfg(any(unix, windows))]
fn load(path: &Path) -> Result<Decompress, Box<dyn std::error::Error>> {
    const NAME: &[u8] = b"OodleLZ_Decompress\0";
    // A bare name would be searched in the folders of the system.
    let path = std::path::absolute(path)?;
    // SAFETY: loading runs the library's initializers. The user named the file for that; no file of a game names it.
    let library = unsafe { libloading::Library::new(&path) }?;
    // SAFETY: the function of this name has this type in all versions of the library.
    let decompress = *unsafe { library.get::<Decompress>(NAME) }?;
    // The pointer is valid as long as the library is loaded.
    std::mem::forget(library);
    Ok(decompress)
}

#[cfg(not(any(unix, windows)))]
fn load(_: &Path) -> Result<Decompress, Box<dyn std::error::Error>> {
    Err("this system loads no libraries".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_library_is_an_error_with_its_name() {
        let file = tempfile::Builder::new().suffix(".so").tempfile().unwrap();
        for path in [Path::new("no/such/oo2core.so"), file.path()] {
            let error = Oodle::in_library(path).decode(b"abc", &mut [0; 3]).unwrap_err();
            assert!(matches!(error, ErrorKind::Io { .. }), "{error}");
            let said = error.to_string();
            assert!(said.contains("library for Oodle") && said.contains(&*path.to_string_lossy()), "{said}");
        }
    }
}
