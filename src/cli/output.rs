//! Files that appear under their name only once they are whole.

use super::{Context, Failure};
use crate::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The exit code of a command that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// The files that are being written, under the names that they have until they are whole.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is unfinished when the user interrupts the command.
fn remove_on_interrupt() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where no handler can be set, an interrupted command leaves its `.part`, never half a file under its name.
        let _ = ctrlc::set_handler(|| {
            // Kept locked to the end, so that no further file is begun.
            let unfinished = unfinished();
            for part in &*unfinished {
                let _ = fs::remove_file(part);
            }
            std::process::exit(INTERRUPTED);
        });
    });
}

/// A file on its way: removed again unless it is kept.
struct Part(PathBuf);

impl Part {
    /// Hidden, as engines read a folder of files while one is added.
    fn beside(path: &Path) -> Self {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".part");
        let part = path.with_file_name(name);
        remove_on_interrupt();
        unfinished().push(part.clone());
        Self(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        // Gone already where it was kept; that it cannot be removed changes nothing.
        let _ = fs::remove_file(&self.0);
        unfinished.retain(|part| *part != self.0);
    }
}

impl Context {
    /// Writes a file under its final name only once it is whole. Its folder is made where there is none.
    pub(super) fn create(
        &self,
        path: &Path,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |e| Failure::in_file(&path.to_string_lossy(), &Error::io("cannot write", e));
        self.create_as(path, |part| {
            let mut file = BufWriter::with_capacity(1 << 16, File::create(part).map_err(failed)?);
            write(&mut file)?;
            file.into_inner().map_err(|e| failed(e.into_error()))?;
            Ok(())
        })
    }

    /// As [`Context::create`], for what opens the file itself, under the name that it is told.
    pub(super) fn create_as(
        &self,
        path: &Path,
        write: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |e| Failure::in_file(&path.to_string_lossy(), &Error::io("cannot write", e));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let part = Part::beside(path);
        write(&part.0)?;
        fs::rename(&part.0, path).map_err(failed)
    }
}
