mod manifest;

use super::extract::decoded;
use super::file_names::check_fit;
use super::output_files::{MadeFolders, ReadFiles};
use super::{Context, Exit, Failure, Format, Outcome};
use crate::archive::{File, Game, choose};
use crate::atomic_file::{FileId, PartFolder, changed, is_inside, replace, sync_files, sync_folder};
use crate::diff;
use crate::paths::{glob_of, joined};
use crate::source::signals::UnfinishedFolder;
use crate::source::{FileState, Source};
use crate::table::glob::Glob;
use crate::table::{Kind, Value};
use manifest::{Manifest, foreign_file};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Save the parts of a game that a later comparison needs
///
/// These are the indexes, the loose files and the matching files; without globs, the database if present. DIR is an
/// archive: it lists all files and holds the bytes of the saved ones. It takes one build after another. A file that is
/// equal in an earlier build takes no space: it is linked. DIR is no folder of the archive itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq snapshot wows --to builds             the newest build: its indexes and its content/assets.bin
  assetq snapshot wows@7000000 --to builds \"content/*.bin\" \"spaces/*/space.bin\"
  assetq diff builds@7000000 wows             what the next build brought")]
pub(super) struct Args {
    /// The archive
    archive: PathBuf,
    /// The files of volumes to save: globs over their paths
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// The folder for the snapshot
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Replace this build if it exists in the folder, and a snapshot has written all its files
    #[arg(long)]
    pub(super) force: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.archive)?;
    let name = asset.source().name();
    let failed = Failure::of_file(name);
    let archive = asset.reader().archive();
    let snapshot = archive.and_then(|archive| archive.builds()).map_or(Ok(None), Game::snapshot).map_err(failed)?;
    let (Some(archive), Some(snapshot)) = (archive, snapshot) else {
        return Err(Failure::usage(format!("{name}: a {} file has no index that stands alone", asset.format())));
    };
    diff::is_whole(&asset)?;
    let home = joined(&args.to, &snapshot.folder);
    let own = asset.source().path().and_then(FileId::of);
    if own.is_some_and(|own| is_inside(&home, &own))
        || FileId::of(&home).is_some_and(|home| snapshot.indexes.iter().any(|(index, _)| is_inside(index, &home)))
    {
        let what = format!("{}: the archive lies there; a snapshot needs another folder", args.to.display());
        return Err(Failure::usage(what));
    }
    check_replaced(&home)?;
    if home.symlink_metadata().is_ok() && !args.force {
        return Err(Failure::new(Exit::Io, format!("{}: it exists; --force replaces it", home.display())));
    }
    let globs = match (&*args.globs, archive.database()) {
        ([], Some(database)) if archive.find(database).map_err(failed)?.is_some() => vec![Glob::new(database, false)?],
        (globs, _) => globs.iter().map(|glob| Glob::smart_case(&glob_of(glob))).collect::<Result<_, _>>()?,
    };
    let is_wanted = |path: &str| globs.iter().any(|glob| glob.is_match(path));
    // No index lists a loose file: without its bytes, the build would seem to lack it.
    let is_kept = |file: &File<'_>| file.volume.is_none() || is_wanted(&file.path);
    let files = choose(archive, is_kept, |error| context.damaged(name, &error)).map_err(failed)?;
    if !args.globs.is_empty() && !files.iter().any(|(_, file)| is_wanted(&file.path)) {
        context.not_found(&format!("{name}: nothing in it matches {:?}", args.globs.join(" ")));
    }

    // The folder gets its name once it is complete.
    let mut part = UnfinishedBuild::new(&home, context)?;
    let mut rows = Vec::new();
    context.with_progress("snapshot", |progress| {
        let sizes = files.iter().map(|(_, file)| file.size).fold(0, u64::saturating_add);
        progress.announce(sizes);
        for (from, to) in &snapshot.indexes {
            let index = context.options().source_in_folder(from).map_err(Failure::of_file(&from))?;
            rows.push(part.put(to, index.bytes())?);
        }
        for (path, file) in &files {
            let kept = check_fit(path, name, "kept")
                .and_then(|()| part.put(&format!("{}/{path}", snapshot.loose), decoded(archive, file, name)?.bytes()));
            match kept {
                Ok(row) => rows.push(row),
                // A full disk affects the next files, too; other failures affect only this file.
                Err(failure) if failure.exit == Exit::Io => return Err(failure),
                Err(failure) => context.failed(&failure),
            }
            progress.advance(file.size);
        }
        Ok::<_, Failure>(())
    })?;
    context.warn(&asset);
    // Windows renames no folder with open files, and the archive may be the replaced folder.
    drop(asset);
    part.commit(&home, context)?;
    let mut out = context.rows_of([("path", Kind::Text), ("size", Kind::Uint), ("shared", Kind::Bool)])?;
    for Kept { path, size, shared } in rows {
        let path = joined(&home, &path);
        out.row(&[Value::Text(path.to_string_lossy()), size.into(), shared.into()])?;
    }
    Ok(out.finish()?)
}

/// Refuses to replace a folder with files that no snapshot wrote.
fn check_replaced(home: &Path) -> Result<(), Failure> {
    let foreign = match foreign_file(home) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        found => found.map_err(|error| Failure::io(home, "cannot read the old snapshot", error))?,
    };
    let Some(foreign) = foreign else { return Ok(()) };
    let what = "no snapshot wrote this file, so its folder is not replaced; give another folder";
    Err(Failure::usage(format!("{}: {what}", foreign.to_string_lossy())))
}

struct Kept {
    path: String,
    size: u64,
    /// Whether an earlier build contains it, too.
    shared: bool,
}

struct UnfinishedBuild {
    folder: PartFolder,
    /// The subfolders that were made so far.
    subfolders: HashSet<PathBuf>,
    unfinished: UnfinishedFolder,
    manifest: Manifest,
    outputs: ReadFiles,
    others: Vec<PathBuf>,
    /// The fingerprint of the folder to replace.
    replaced: Option<FileState>,
    _made: MadeFolders,
}

impl UnfinishedBuild {
    fn new(home: &Path, context: &Context) -> Result<Self, Failure> {
        let builds = home.parent().unwrap_or(home);
        Self::make(home, builds, context.outputs())
            .map_err(|error| Failure::io(builds, "cannot make the snapshot", error))
    }

    fn make(home: &Path, builds: &Path, outputs: ReadFiles) -> io::Result<Self> {
        let made = MadeFolders::of([builds]);
        fs::create_dir_all(builds)?;
        let others = fs::read_dir(builds)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        let replaced = FileState::read(home)?;
        let mut unfinished = UnfinishedFolder::default();
        let folder = PartFolder::create(builds)?;
        unfinished.add(folder.path())?;
        let (subfolders, manifest) = (HashSet::new(), Manifest::default());
        Ok(Self { folder, subfolders, unfinished, manifest, outputs, others, replaced, _made: made })
    }

    /// Adds a file: as a link to the file of another build if that has the same bytes.
    fn put(&mut self, path: &str, bytes: &[u8]) -> Result<Kept, Failure> {
        let to = joined(self.folder.path(), path);
        self.make_room(&to).map_err(|error| Failure::io(&to, "cannot make the snapshot", error))?;
        let same = self.others.iter().map(|other| other.join(path)).find(|other| {
            let as_long = other.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
            as_long && Source::open(other).is_ok_and(|other| other.bytes() == bytes)
        });
        let shared = same.is_some_and(|other| fs::hard_link(other, &to).is_ok());
        if !shared {
            self.outputs.create(&to, false, bytes)?;
        }
        self.manifest.add(path, bytes);
        Ok(Kept { path: path.to_owned(), size: bytes.len() as u64, shared })
    }

    /// Creates the folders of `file`, and registers them and the file for removal by a signal.
    fn make_room(&mut self, file: &Path) -> io::Result<()> {
        let Self { folder, subfolders, unfinished, .. } = self;
        let parents: Vec<&Path> = file.ancestors().skip(1).take_while(|parent| *parent != folder.path()).collect();
        for parent in parents.into_iter().rev() {
            if subfolders.insert(parent.to_owned()) {
                unfinished.add(parent)?;
                fs::create_dir(parent)?;
            }
        }
        unfinished.add(file)
    }

    /// Renames the folder to its final name. Removes the replaced folder afterwards.
    fn commit(mut self, home: &Path, context: &Context) -> Result<(), Failure> {
        let list = self.folder.path().join(manifest::NAME);
        self.make_room(&list).map_err(|error| Failure::io(&list, "cannot make the snapshot", error))?;
        self.outputs.create(&list, false, self.manifest.bytes())?;
        // Files may have been added since the first check.
        check_replaced(home)?;
        if let Some(old) = self.name(home).map_err(|error| Failure::io(home, "cannot write the snapshot", error))? {
            let path = old.path().to_owned();
            if let Err(error) = old.close() {
                let what = format!("{}: cannot remove the old snapshot: {error}", path.display());
                context.failed(&Failure::new(Exit::Io, what));
            }
        }
        Ok(())
    }

    /// Renames the complete folder to its final name. Returns the replaced folder.
    fn name(self, home: &Path) -> io::Result<Option<TempDir>> {
        let Self { folder, unfinished, replaced, .. } = self;
        sync_files(folder.path())?;
        if FileState::read(home)? != replaced {
            return Err(changed());
        }
        unfinished.finish()?;
        let (folder, _lock) = folder.into_parts();
        let old = match replaced {
            Some(_) => Some(exchange(folder, home)?),
            None => {
                replace(folder.path(), home, None)?;
                // The folder is no longer under its temporary name.
                let _ = folder.keep();
                None
            }
        };
        sync_folder(home.parent().unwrap_or(home))?;
        Ok(old)
    }
}

/// Renames `new` to `home`, and returns the folder that had this name.
fn exchange(new: TempDir, home: &Path) -> io::Result<TempDir> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        // Some file systems do not support it.
        if renameat_with(CWD, new.path(), CWD, home, RenameFlags::EXCHANGE).is_ok() {
            return Ok(new);
        }
    }
    exchange_by_moves(new, home)
}

/// As [`exchange`], with a moment without a folder named `home`.
fn exchange_by_moves(new: TempDir, home: &Path) -> io::Result<TempDir> {
    let builds = home.parent().unwrap_or(home);
    let old = tempfile::Builder::new().prefix(".assetq-").suffix(".old").tempdir_in(builds)?;
    let aside = old.path().join("old");
    replace(home, &aside, None)?;
    if let Err(error) = replace(new.path(), home, None) {
        if replace(&aside, home, None).is_err() {
            // Both are kept, rather than neither.
            let _ = (old.keep(), new.keep());
        }
        return Err(error);
    }
    let _ = new.keep();
    Ok(old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn folder(path: PathBuf, text: &str) {
        fs::create_dir_all(path.join("idx")).unwrap();
        fs::write(path.join("idx/a"), text).unwrap();
    }

    #[test]
    fn folders_change_places_and_the_old_one_is_there_until_then() {
        let builds = TempDir::new().unwrap();
        let home = builds.path().join("1");
        for swap in [exchange, exchange_by_moves] {
            let _ = fs::remove_dir_all(&home);
            folder(home.clone(), "old");
            let new = TempDir::new_in(builds.path()).unwrap();
            folder(new.path().to_owned(), "new");
            let old = swap(new, &home).unwrap();
            assert_eq!(fs::read(home.join("idx/a")).unwrap(), b"new");
            old.close().unwrap();
            assert_eq!(fs::read_dir(builds.path()).unwrap().count(), 1);
        }
        // Without a new folder the old one gets its name back.
        let new = TempDir::new_in(builds.path()).unwrap();
        fs::remove_dir(new.path()).unwrap();
        assert!(exchange_by_moves(new, &home).is_err());
        assert_eq!(fs::read(home.join("idx/a")).unwrap(), b"new");
        assert_eq!(fs::read_dir(builds.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_snapshot_that_another_program_replaced_meanwhile_stays() {
        let builds = TempDir::new().unwrap();
        let home = builds.path().join("1");
        folder(home.clone(), "old");
        let global = crate::cli::Cli::try_parse_from(["assetq", "cache"]).unwrap().global;
        let context = Context::new(global, false, false).unwrap();
        let write = |text: &[u8]| {
            let mut part = UnfinishedBuild::new(&home, &context).unwrap();
            part.put("idx/a", text).unwrap();
            part
        };
        fs::remove_dir_all(&home).unwrap();
        write(b"old").commit(&home, &context).unwrap();
        let part = write(b"ours");
        fs::rename(&home, builds.path().join("2")).unwrap();
        write(b"theirs").commit(&home, &context).unwrap();
        let failure = part.commit(&home, &context).unwrap_err();
        assert!(failure.exit == Exit::Io && failure.message.contains("it changed after it was opened"), "{failure:?}");
        assert_eq!(fs::read(home.join("idx/a")).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(builds.path()).unwrap().count(), 2);
    }
}
