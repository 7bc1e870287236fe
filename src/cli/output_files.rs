//! The files that a command writes: they get their name once they are complete, and replace no file that it reads.

use super::stdout::is_stdout;
use super::{Context, Exit, Failure, Outcome};
use crate::asset::Asset;
use crate::atomic_file::{
    self, AtomicFile, FileId, Overwrite, are_same_output, check, check_folder, is_inside, is_stream, missing_folders,
    output_of,
};
use crate::edit::read::ChangesFormat;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The files that a run reads, which no output replaces, and the folders that it writes.
#[derive(Default)]
pub(super) struct UsedFiles {
    read: RefCell<HashSet<FileId>>,
    /// The files of opened archives, and folders all of whose files are read.
    archive_files: RefCell<HashSet<PathBuf>>,
    /// The folders that the command writes, and makes if they are missing.
    written_folders: RefCell<Vec<PathBuf>>,
    made_folders: RefCell<MadeFolders>,
}

/// Folders that a command makes. Those without a file are removed at the end, so that a failure leaves none.
#[derive(Default)]
pub(super) struct MadeFolders(BTreeSet<PathBuf>);

impl MadeFolders {
    /// The folders on the ways to `folders` that are missing so far.
    pub(super) fn of<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Self {
        let folders: HashSet<&Path> = folders.into_iter().collect();
        let mut made = Self::default();
        folders.into_iter().for_each(|folder| made.add(folder));
        made
    }

    /// Adds the folders on the way to `folder` that are missing so far.
    fn add(&mut self, folder: &Path) {
        self.0.extend(missing_folders(folder).map(Path::to_owned));
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        // A folder follows the folders in it, and a folder with files in it stays.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

impl Context {
    /// Registers input files, which are never overwritten.
    pub(super) fn reads<P: AsRef<Path>>(&self, files: &[P]) {
        self.used.read.borrow_mut().extend(files.iter().filter_map(|file| FileId::of(file.as_ref())));
    }

    /// Registers the file that contains `asset`, and the files of an archive. They are never overwritten.
    pub(super) fn reads_asset(&self, asset: &Asset) {
        if let Some((path, _)) = asset.source().on_disk() {
            self.reads(&[path]);
        }
        if let Some(archive) = asset.reader().archive() {
            self.used.archive_files.borrow_mut().extend(archive.files_on_disk());
        }
    }

    pub(super) fn files_read(&self) -> ReadFiles {
        ReadFiles::new(self.used.read.borrow().clone(), &self.used.archive_files.borrow())
    }

    /// Registers a folder that the command writes. It and folders in it are made if they are missing; an output that is a
    /// file needs a folder that exists.
    pub(super) fn writes_folder(&self, folder: &Path) {
        self.used.made_folders.borrow_mut().add(folder);
        self.used.written_folders.borrow_mut().push(folder.to_owned());
    }

    pub(super) fn is_in_written_folder(&self, to: &Path) -> bool {
        self.used.written_folders.borrow().iter().any(|folder| to.starts_with(folder))
    }

    /// Refuses to write over a file that is read, or over any other unless that is wanted, and to write into a folder that
    /// does not exist, unless the command writes that folder.
    pub(super) fn check_new(&self, to: &Path, force: bool) -> Result<(), Failure> {
        if is_stdout(to) {
            return Ok(());
        }
        if !self.is_in_written_folder(to) {
            check_folder(to)?;
        }
        // Most outputs are new, and no file of an archive is looked up for them.
        check_new(to, force, || FileId::of(to).is_some() && self.files_read().contains(to))
    }

    /// Refuses two outputs that are one file; `options` are the options of both.
    pub(super) fn check_different(&self, outputs: [&Path; 2], options: &str) -> Result<(), Failure> {
        let [one, other] = outputs;
        if is_stdout(one) || is_stdout(other) || !are_same_output(one, other) {
            return Ok(());
        }
        Err(Failure::usage(format!("{}: {options} are one file; give them different names", other.to_string_lossy())))
    }

    /// Writes a file, which gets its final name only when it is complete.
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

    /// Has the output of `print` go into the file at `to`, which gets its name if `print` succeeds.
    pub(super) fn divert(&self, to: Option<&Path>, force: bool, print: impl FnOnce() -> Outcome) -> Outcome {
        let Some(to) = to.filter(|to| !is_stdout(to)) else { return print() };
        self.pager.divert(self.new_file(to, force)?);
        let printed = print();
        let file = self.pager.diverted();
        printed?;
        file.map_or(Ok(()), AtomicFile::commit).map_err(refused)
    }

    /// As [`Context::check_new`], for an undo patch. An old one may be the only way back, so no message advises to write over it.
    pub(super) fn check_new_undo(&self, to: &Path, force: bool) -> Result<(), Failure> {
        if !force && !is_stdout(to) {
            check(to, Overwrite::Refuse).map_err(undo_refused)?;
        }
        self.check_new(to, force)
    }

    /// Begins an undo patch of the file at `model`: no user may read it who may not read that.
    pub(super) fn new_undo(&self, to: &Path, force: bool, model: Option<&Path>) -> Result<AtomicFile, Failure> {
        let mut file = self.new_file(to, force)?;
        model.map_or(Ok(()), |model| file.restrict_as(model))?;
        Ok(file)
    }

    /// As [`Context::files_read`], for code that writes files itself.
    pub(super) fn outputs(&self) -> ReadFiles {
        leave_nothing_when_ended();
        self.files_read()
    }

    /// As [`Context::create`], for code that opens the file itself, at the path that it receives.
    pub(super) fn create_as(
        &self,
        to: &Path,
        force: bool,
        write: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // To open a pipe waits for a reader.
        let file = if is_stream(to) { None } else { Some(self.new_file(to, force)?) };
        let Some(part) = file.as_ref().and_then(AtomicFile::part_path) else {
            return Err(Failure::usage(format!("{}: is no file", to.display())));
        };
        write(part)?;
        file.map_or(Ok(()), AtomicFile::commit).map_err(refused)
    }

    fn new_file(&self, to: &Path, force: bool) -> Result<AtomicFile, Failure> {
        self.check_new(to, force)?;
        leave_nothing_when_ended();
        let in_folder = self.is_in_written_folder(to);
        if let Some(folder) = to.parent().filter(|_| in_folder) {
            self.used.made_folders.borrow_mut().add(folder);
        }
        let create = if in_folder { AtomicFile::create_with_folders } else { AtomicFile::create };
        create(to, Overwrite::if_forced(force)).map_err(refused)
    }
}

fn check_new(to: &Path, force: bool, is_read: impl Fn() -> bool) -> Result<(), Failure> {
    check(to, Overwrite::if_forced(force)).map_err(refused)?;
    if is_read() {
        return Err(Failure::usage(format!("{}: is one of the files that are read", to.to_string_lossy())));
    }
    Ok(())
}

#[derive(Debug, Default)]
pub(super) struct ReadFiles {
    files: HashSet<FileId>,
    /// Folders all of whose files are read.
    folders: Vec<FileId>,
}

impl ReadFiles {
    /// These files, and the files and folders at `paths`.
    pub(super) fn new(mut files: HashSet<FileId>, paths: &HashSet<PathBuf>) -> Self {
        let mut folders = Vec::new();
        for path in paths {
            let Some(id) = FileId::of(path) else { continue };
            if path.is_dir() {
                folders.push(id);
            } else {
                files.insert(id);
            }
        }
        Self { files, folders }
    }

    fn contains(&self, path: &Path) -> bool {
        FileId::of(path).is_some_and(|id| self.files.contains(&id))
            || path.exists() && self.folders.iter().any(|folder| is_inside(path, folder))
    }

    /// As [`Context::create`], for several threads, in a folder that is made if it is missing. The file is safe from a power failure once [`sync_files`] was called.
    pub(super) fn create(&self, to: &Path, force: bool, bytes: &[u8]) -> Result<(), Failure> {
        // Without force no file that exists is written over, whether it is read or not.
        if force {
            check_new(to, force, || self.contains(to))?;
        }
        let mut file = AtomicFile::create_with_folders(to, Overwrite::if_forced(force)).map_err(refused)?;
        file.write_all(bytes)?;
        file.commit_unsynced().map_err(refused)
    }
}

/// Refuses a name for a patch by whose ending `patch` would read another form than the lines of JSON that are written.
pub(super) fn check_patch_name(to: &Path) -> Result<(), Failure> {
    match ChangesFormat::of_name(&to.to_string_lossy()) {
        Ok(None | Some(ChangesFormat::Ndjson)) => Ok(()),
        _ => Err(Failure::usage(format!("{}: a patch is written as .ndjson or .jsonl", to.display()))),
    }
}

/// Has an interrupted command remove the files that it has not finished.
pub(super) fn leave_nothing_when_ended() {
    #[cfg(all(feature = "terminal", not(unix)))]
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

/// As [`refused`], for an undo patch.
pub(super) fn undo_refused(error: io::Error) -> Failure {
    match (error.kind(), output_of(&error)) {
        (ErrorKind::AlreadyExists, Some(to)) => {
            let what = "it exists, and may be the only way back from an earlier edit; give --undo another name";
            Failure::new(Exit::Io, format!("{to}: {what}"))
        }
        _ => refused(error),
    }
}
