//! Files on web servers and in object stores, read in ranges.
//!
//! On Linux the whole file has a range of addresses, and the system calls back for each page that is read first: then the
//! block of the page is fetched. Elsewhere the file is downloaded.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "positions in files of at most `isize::MAX` bytes, as answers are checked"
)]

#[cfg(target_os = "linux")]
mod fault;
mod location;
mod object;
mod sign;

pub use object::RemoteStats;
pub use object::check_faults;

use crate::error::{Error, Result};
use bytes::Bytes;
use location::Location;
pub(super) use object::Object;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are fetched at first: headers, and small files as a whole. A whole number of blocks.
const HEAD: u64 = 1 << 16;
/// Bytes that a download fetches with one request.
const PORTION: u64 = 1 << 23;
/// Seconds to wait for a server, unless the environment says otherwise.
const PATIENCE: u64 = 30;

/// Called during downloads of whole files with the file's name, the bytes received and the size: at first with 0 bytes. A
/// setting for [`Options::with`](crate::Options::with).
#[allow(missing_debug_implementations, clippy::type_complexity, reason = "a function")]
pub struct OnDownload(pub Box<dyn Fn(&str, u64, u64) + Send + Sync>);

/// The bytes of the file at `url`. `whole` downloads all of them at once.
pub(super) fn open(url: &str, whole: bool, on_download: Option<&OnDownload>) -> Result<(Bytes, Arc<Object>)> {
    let patience = setting("ASSETQ_REMOTE_TIMEOUT").and_then(|seconds| seconds.parse().ok()).unwrap_or(PATIENCE);
    let patience = Duration::from_secs(patience.clamp(1, 3600));
    let (object, head) = Object::open(Location::of(url, &setting)?, HEAD, patience)?;
    let object = Arc::new(object);
    if object.len() == head.len() as u64 {
        return Ok((head.into(), object));
    }
    #[cfg(target_os = "linux")]
    if !whole && let Some(bytes) = fault::map(&object, &head)? {
        return Ok((bytes, object));
    }
    let _ = whole;
    Ok((download(&object, &head, on_download)?, object))
}

/// The value of a variable of the environment; `None` if it is empty.
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The bytes of the whole file, in a file without a name that ends with the process.
fn download(object: &Object, head: &[u8], on_download: Option<&OnDownload>) -> Result<Bytes> {
    let mut file = tempfile::tempfile().map_err(unsaved)?;
    file.write_all(head).map_err(unsaved)?;
    let (mut at, mut done) = (head.len() as u64, 0);
    loop {
        if let Some(on) = on_download {
            (on.0)(object.name(), done, object.len());
        }
        if at >= object.len() {
            break;
        }
        let end = object.len().min(at + PORTION);
        let mut written = Ok(());
        object.fetch(at..end, &mut |bytes| {
            if written.is_ok() {
                written = file.write_all(bytes);
            }
        })?;
        written.map_err(unsaved)?;
        (at, done) = (end, end);
    }
    super::map::map(&file, object.name(), Path::new("")).map_err(|e| Error::io("cannot map", e))
}

fn unsaved(error: io::Error) -> Error {
    Error::io("cannot save the download", error)
}

/// The requests of all files of this process.
pub fn totals() -> RemoteStats {
    object::TOTAL.stats()
}

/// From now on, bytes of a file on a server that cannot be fetched end the process with one line on standard error and
/// exit code 4, before anything uses other bytes in their place. For commands.
pub fn exit_when_a_server_fails() {
    #[cfg(target_os = "linux")]
    fault::end_process_on_faults();
}

/// Reads a byte of each page of `bytes` that a system call is about to read, because they may come from a file on a server: a
/// process without privileges is not called back for reads of the system.
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_os = "linux")]
    fault::touch(bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
