//! Standard output, whose lost writes a command reports.

use super::failure::Failure;
use super::pager::Pager;
use crate::atomic_file::of_output;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

const STDOUT: &str = "standard output";

/// Standard output, buffered. Its context learns of failed writes, even if no caller checks; a drop flushes everything.
pub(super) struct Stdout {
    out: BufWriter<Pager>,
    lost: Lost,
}

impl Stdout {
    /// Standard output through `pager`; `lost` notes what cannot be written.
    pub(super) fn new(pager: Pager, lost: Lost) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, pager), lost }
    }
}

/// Why standard output could not be written, if so.
#[derive(Debug, Default, Clone)]
pub(super) struct Lost(Arc<OnceLock<(ErrorKind, String)>>);

impl Lost {
    fn note<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.map_err(|error| {
            // The first error is the cause.
            let _ = self.0.set((error.kind(), error.to_string()));
            of_output(STDOUT, error)
        })
    }

    /// The failure of the command, if output was lost.
    pub(super) fn failure(&self) -> Option<Failure> {
        let (kind, what) = self.0.get()?;
        Some(lost(io::Error::new(*kind, what.as_str())))
    }
}

pub(super) fn lost(error: io::Error) -> Failure {
    of_output(STDOUT, error).into()
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lost.note(self.out.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.lost.note(self.out.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lost.note(self.out.flush())
    }
}

impl Drop for Stdout {
    fn drop(&mut self) {
        // Noted.
        let _ = self.flush();
    }
}

/// Whether OUT means standard output.
pub(super) fn is_stdout(to: &Path) -> bool {
    to == Path::new("-") || to == Path::new("/dev/stdout")
}
