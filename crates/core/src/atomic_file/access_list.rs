//! The access list of a file on Windows, which decides who may read it.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io::{self, ErrorKind};
use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;

#[link(name = "advapi32")]
unsafe extern "system" {
    fn GetFileSecurityW(name: *const u16, parts: u32, descriptor: *mut c_void, len: u32, needed: *mut u32) -> i32;
    fn SetFileSecurityW(name: *const u16, parts: u32, descriptor: *const c_void) -> i32;
}

const OWNER_AND_GROUP: u32 = 1 | 2;
const ACCESS_LIST: u32 = 4;

/// Copies the access list of the file at `from`, and its owner and group if this user may give files to them.
///
/// # Errors
/// If the list cannot be kept: the file could be open to more users then.
pub(super) fn copy_access_list(from: &Path, to: &Path) -> io::Result<()> {
    let Some(mut descriptor) = descriptor(from).map_err(not_kept)? else { return Ok(()) };
    keep_inheritance(&mut descriptor);
    set_parts(to, OWNER_AND_GROUP | ACCESS_LIST, &descriptor)
        .or_else(|_| set_parts(to, ACCESS_LIST, &descriptor))
        .map_err(not_kept)
}

/// Sets parts of the security descriptor of a file to those of `descriptor`, which the system wrote.
fn set_parts(file: &Path, parts: u32, descriptor: &[u32]) -> io::Result<()> {
    let name = name_of(file);
    // SAFETY: the name ends in 0, and the descriptor is whole.
    let done = unsafe { SetFileSecurityW(name.as_ptr(), parts, descriptor.as_ptr().cast()) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The security descriptor of a file; `None` on a file system that has none.
fn descriptor(file: &Path) -> io::Result<Option<Vec<u32>>> {
    const INVALID_FUNCTION: i32 = 1;
    const NOT_SUPPORTED: i32 = 50;
    const INSUFFICIENT_BUFFER: i32 = 122;
    let (name, mut needed) = (name_of(file), 0);
    let mut descriptor: Vec<u32> = Vec::new();
    // Another program may lengthen it meanwhile.
    for _ in 0..8 {
        let len = u32::try_from(size_of_val(&*descriptor)).unwrap_or(u32::MAX);
        let parts = OWNER_AND_GROUP | ACCESS_LIST;
        // SAFETY: the name ends in 0, and the buffer has `len` bytes. A descriptor has fields of four bytes.
        let done =
            unsafe { GetFileSecurityW(name.as_ptr(), parts, descriptor.as_mut_ptr().cast(), len, &raw mut needed) };
        if done != 0 {
            return Ok(Some(descriptor));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(INSUFFICIENT_BUFFER) => descriptor = vec![0; (needed as usize).div_ceil(size_of::<u32>())],
            Some(INVALID_FUNCTION | NOT_SUPPORTED) => return Ok(None),
            _ => return Err(error),
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

/// Entries that come from the folder stay marked so, if they are.
fn keep_inheritance(descriptor: &mut [u32]) {
    /// The control word is in the upper half of the first field.
    const IS_INHERITED: u32 = 0x0400 << 16;
    const INHERIT: u32 = 0x0100 << 16;
    if let Some(control) = descriptor.first_mut().filter(|control| **control & IS_INHERITED != 0) {
        *control |= INHERIT;
    }
}

fn name_of(file: &Path) -> Vec<u16> {
    file.as_os_str().encode_wide().chain([0]).collect()
}

fn not_kept(error: io::Error) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("the access list cannot be kept: {error}"))
}
