//! The outputs of a command: standard output, and files that get their name only once they are complete.

use super::output::{Stdout, is_stdout};
use super::{Context, Exit, Failure, Outcome};
use crate::atomic_file::{self, AtomicFile, FileId, Overwrite, check, output_of};
use crate::source::FileState;
use std::collections::HashSet;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

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
        Stdout::new(self.pager().clone(), self.lost().clone())
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

pub(super) fn check_new(to: &Path, force: bool, is_read: impl Fn(&FileId) -> bool) -> Result<(), Failure> {
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
pub(super) fn leave_nothing_when_ended() {
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

pub(super) fn refused(error: io::Error) -> Failure {
    match (error.kind(), output_of(&error)) {
        (ErrorKind::AlreadyExists, Some(to)) => {
            Failure::new(Exit::Io, format!("{to}: it exists; --force writes over it"))
        }
        _ => error.into(),
    }
}
