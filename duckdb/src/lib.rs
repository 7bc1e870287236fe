//! assetq for DuckDB: tables of game-asset files, read from the map while a query runs.
//!
//! The extension uses DuckDB's stable C API only, so that one binary serves all versions from 1.4 on. Every callback catches panics and
//! returns errors as DuckDB errors.

#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, clippy::unwrap_used))]

// A panic must unwind to the boundary, where it becomes an error.
#[cfg(panic = "abort")]
compile_error!("panics must unwind here: build with --profile release-unwind");

mod api;
mod boundary;
mod functions;
mod kept;
mod scan;
mod vector;

use api::{Handle, api};
use std::ffi::{c_char, c_void};
use std::ptr;

/// The functions that DuckDB passes to an extension that it loads.
#[repr(C)]
#[derive(Debug)]
pub struct Access {
    set_error: unsafe extern "C" fn(Handle, *const c_char),
    get_database: unsafe extern "C" fn(Handle) -> *mut Handle,
    get_api: unsafe extern "C" fn(Handle, *const c_char) -> *const c_void,
}

/// Registers the functions of the extension. DuckDB calls it once, when it loads the extension.
///
/// # Safety
/// Only DuckDB calls it: `info` and `access` are what its header declares.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_init_c_api(info: Handle, access: *const Access) -> bool {
    // SAFETY: DuckDB passes pointers to objects that exist during this call. `get_api` returns null or the functions of the requested
    // version, which exist as long as DuckDB runs.
    unsafe {
        let access = &*access;
        let table = (access.get_api)(info, c"v1.2.0".as_ptr());
        if table.is_null() {
            return false;
        }
        api::load(table);
        let (database, mut connection) = ((access.get_database)(info), ptr::null_mut());
        if database.is_null() || (api().connect)(*database, &mut connection) != 0 {
            (access.set_error)(info, c"assetq: cannot connect to the database".as_ptr());
            return false;
        }
        let registered = boundary::caught(|| {
            let registered = functions::register(connection);
            if registered {
                (api().add_replacement_scan)(*database, functions::replace, ptr::null_mut(), None);
            }
            Ok(registered)
        });
        (api().disconnect)(&mut connection);
        if !matches!(registered, Ok(true)) {
            (access.set_error)(info, c"assetq: cannot register its functions".as_ptr());
        }
        matches!(registered, Ok(true))
    }
}
