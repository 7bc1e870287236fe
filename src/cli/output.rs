//! The outputs of a command: standard output, and files that get their name only once they are complete.

use super::pager::Pager;
use super::{Context, Exit, Failure, Outcome};
use crate::atomic_file::{self, AtomicFile, FileId, Overwrite, check, of_output, output_of};
use crate::source::FileState;

use std::collections::HashSet;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The name of standard output in errors.
const STDOUT: &str = "standard output";

/// Standard output, buffered. Its context learns of failed writes, even if no caller checks; a drop flushes everything.
pub(super) struct Stdout {
    out: BufWriter<Paged>,
    lost: Lost,
}

/// Standard output, perhaps through a pager.
struct Paged(Pager);

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(closed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(closed)
    }
}

/// `error`, as a closed pipe if Windows calls it a pipe that is not connected.
fn closed(error: io::Error) -> io::Error {
    const NOT_CONNECTED: i32 = 233;
    let is_closed = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    if is_closed { ErrorKind::BrokenPipe.into() } else { error }
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
    fn failure(&self) -> Option<Failure> {
        let (kind, what) = self.0.get()?;
        Some(lost(io::Error::new(*kind, what.as_str())))
    }
}

/// The failure of standard output.
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

impl Context {
    /// Ends a command with this result: reports output that was lost silently.
    pub(super) fn close(&self, ran: Outcome) -> Outcome {
        self.pager().finish();
        match (ran, self.lost().failure()) {
            (Ok(exit), None) => Ok(exit.max(self.worst())),
            (Ok(_), Some(lost)) => {
                self.worst();
                Err(lost)
            }
            (Err(failure), Some(lost)) if failure.exit != Exit::Io && !lost.closed_pipe => {
                self.complain(&failure.message);
                Err(lost)
            }
            (Err(failure), _) => Err(failure),
        }
    }

    /// Standard output.
    pub(super) fn stdout(&self) -> Stdout {
        Stdout { out: BufWriter::with_capacity(1 << 16, Paged(self.pager().clone())), lost: self.lost().clone() }
    }

    /// Refuses to write over a file that is read, or over any other unless that is wanted.
    pub(super) fn check_new(&self, to: &Path, force: bool) -> Result<(), Failure> {
        if is_stdout(to) {
            return Ok(());
        }
        check_new(to, force, |id| self.is_read(id))
    }

    /// Writes a file, which gets its final name only when it is complete. Creates its folder if missing.
    pub(super) fn create(
        &self,
        to: &Path,
        force: bool,
        write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if is_stdout(to) {
            let mut out = self.stdout();
            write(&mut out)?;
            return Ok(out.flush()?);
        }
        let mut file = self.new_file(to, force)?;
        write(&mut file)?;
        file.commit().map_err(refused)
    }

    /// Writes over a file that is in this state, or still missing: one that was read before it is written.
    pub(super) fn write_back(&self, to: &Path, state: Option<FileState>, bytes: &[u8]) -> Result<(), Failure> {
        self.check_new(to, true)?;
        leave_nothing_when_ended();
        let mut file = AtomicFile::create(to, Overwrite::IfUnchanged(state)).map_err(refused)?;
        file.write_all(bytes)?;
        file.commit().map_err(refused)
    }

    /// Settings that several threads need to write files.
    pub(super) fn outputs(&self) -> Outputs {
        leave_nothing_when_ended();
        Outputs { read: self.files_read() }
    }

    /// As [`Context::create`], for code that opens the file itself, at the path that it receives.
    pub(super) fn create_as(
        &self,
        to: &Path,
        force: bool,
        write: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let file = self.new_file(to, force)?;
        let Some(part) = file.part_path() else {
            return Err(Failure::new(Exit::Usage, format!("{}: is no file", to.to_string_lossy())));
        };
        write(part)?;
        file.commit().map_err(refused)
    }

    /// An interrupted command leaves no part of a file that it writes.
    pub(super) fn leaves_nothing(&self) {
        leave_nothing_when_ended();
    }

    fn new_file(&self, to: &Path, force: bool) -> Result<AtomicFile, Failure> {
        self.check_new(to, force)?;
        leave_nothing_when_ended();
        AtomicFile::create(to, Overwrite::if_forced(force)).map_err(refused)
    }
}

fn check_new(to: &Path, force: bool, is_read: impl Fn(&FileId) -> bool) -> Result<(), Failure> {
    check(to, Overwrite::if_forced(force)).map_err(refused)?;
    if FileId::of(to).is_some_and(|id| is_read(&id)) {
        let what = format!("{}: is one of the files that are read", to.to_string_lossy());
        return Err(Failure::new(Exit::Usage, what));
    }
    Ok(())
}

/// Files that several threads write.
pub(super) struct Outputs {
    read: HashSet<FileId>,
}

impl Outputs {
    /// As [`Context::create`]. The file is safe from a power failure once [`sync_files`] was called.
    pub(super) fn create(&self, to: &Path, force: bool, bytes: &[u8]) -> Result<(), Failure> {
        // Without force no file that exists is written over, whether it is read or not.
        if force {
            check_new(to, force, |id| self.read.contains(id))?;
        }
        let mut file = AtomicFile::create(to, Overwrite::if_forced(force)).map_err(refused)?;
        file.write_all(bytes)?;
        file.commit_unsynced().map_err(refused)
    }
}

/// Has an interrupted command remove the files that it has not finished.
fn leave_nothing_when_ended() {
    #[cfg(not(unix))]
    {
        // Where no handler can be set, an interrupted command leaves its part, never half a file under its name.
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            let _ = ctrlc::set_handler(|| {
                crate::source::signals::remove_unfinished();
                std::process::exit(130);
            });
        });
    }
    // After the handler of Ctrl-C, because Windows calls the last one first.
    atomic_file::remove_unfinished_when_ended();
}

fn refused(error: io::Error) -> Failure {
    match (error.kind(), output_of(&error)) {
        (ErrorKind::AlreadyExists, Some(to)) => {
            Failure::new(Exit::Io, format!("{to}: it exists; --force writes over it"))
        }
        _ => error.into(),
    }
}
