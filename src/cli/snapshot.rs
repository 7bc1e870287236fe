use super::extract::decoded;
use super::names::unfit_path;
use super::{Context, Exit, Failure, Outcome};
use crate::archive::choose;
use crate::error::Error;
use crate::source::Source;
use crate::table::glob::Glob;
use crate::table::{Column, Kind, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Keep of a game what is needed to compare it with later builds
///
/// The indexes, and the files that match: without globs the database, where there is one. DIR is an archive again, which
/// tells of all files and holds the bytes of those that were kept; it takes one build after another. A file that an earlier
/// build there has with the same bytes takes no room: it is linked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq snapshot GAME --to builds             the newest build: its indexes and its content/assets.bin
  assetq snapshot GAME@13015811 --to builds 'content/*.bin' 'spaces/*/space.bin'
  assetq diff builds@13015811 GAME             what the next build brought")]
pub(super) struct Args {
    /// The archive
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,
    /// Which files are kept besides the indexes: globs over their paths
    #[arg(value_name = "GLOB")]
    globs: Vec<String>,
    /// The folder that takes the snapshot
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Replace this build, where the folder has it
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let asset = context.open(&args.archive)?;
    let name = asset.source().name();
    let failed = |error: Error| Failure::in_file(name, &error);
    let archive = asset.reader().archive();
    let snapshot = archive.map_or(Ok(None), |archive| archive.snapshot()).map_err(failed)?;
    let (Some(archive), Some(snapshot)) = (archive, snapshot) else {
        let what = format!("{name}: a {} file has no index that stands alone", asset.format());
        return Err(Failure::new(Exit::Usage, what));
    };
    let home = args.to.join(&snapshot.folder);
    if home.symlink_metadata().is_ok() && !args.force {
        let what = format!("{}: it exists; --force writes it anew", home.to_string_lossy());
        return Err(Failure::new(Exit::Io, what));
    }
    let globs = match (&*args.globs, archive.database()) {
        ([], Some(database)) if archive.find(database).map_err(failed)?.is_some() => vec![Glob::new(database, false)?],
        (globs, _) => globs.iter().map(|glob| Glob::smart_case(glob)).collect::<Result<_, _>>()?,
    };
    let wanted = |path: &str| globs.iter().any(|glob| glob.is_match(path));
    let files = if globs.is_empty() {
        Vec::new()
    } else {
        choose(archive, wanted, |error| context.damaged(name, &error)).map_err(failed)?
    };
    if files.is_empty() && !args.globs.is_empty() {
        context.not_found(&format!("{name}: nothing in it matches {:?}", args.globs.join(" ")));
    }

    // The folder gets its name once all of it is there.
    let part = Part::new(&home)?;
    let mut rows = Vec::new();
    context.with_progress("snapshot", |progress| {
        let sizes = files.iter().map(|(_, file)| file.size).fold(0, u64::saturating_add);
        progress.announce(sizes);
        for (from, to) in &snapshot.indexes {
            let index =
                context.options().source_in_folder(from).map_err(|e| Failure::in_file(&from.to_string_lossy(), &e))?;
            rows.push(part.put(to, index.bytes(), context)?);
        }
        for (path, file) in &files {
            let put = || match unfit_path(path) {
                Some(why) => {
                    let what = format!("{name}: {path:?} is not kept, as its name is not fit for a file: {why}");
                    Err(Failure::new(Exit::Damaged, what))
                }
                None => part.put(&format!("{}/{path}", snapshot.loose), decoded(archive, file, name)?.bytes(), context),
            };
            match put() {
                Ok(row) => rows.push(row),
                // The disk does not become larger with the next file; the other failures are of this one.
                Err(failure) if failure.exit == Exit::Io => return Err(failure),
                Err(failure) => context.failed(&failure),
            }
            progress.advance(file.size);
        }
        Ok::<_, Failure>(())
    })?;
    part.keep(&home)?;
    let columns = [Column::new("path", Kind::Text), Column::new("size", Kind::Uint), Column::new("shared", Kind::Bool)];
    let mut out = context.rows(&columns)?;
    for Kept { path, size, shared } in rows {
        let path = home.join(path);
        out.row(&[Value::Text(path.to_string_lossy()), size.into(), shared.into()])?;
    }
    out.finish()?;
    context.warn(&asset);
    Ok(Exit::Done)
}

/// A file of a snapshot.
struct Kept {
    path: String,
    size: u64,
    /// Whether an earlier build had it, too.
    shared: bool,
}

/// The folder of a build in the making.
struct Part {
    folder: tempfile::TempDir,
    /// The folders of other builds.
    others: Vec<PathBuf>,
}

impl Part {
    fn new(home: &Path) -> Result<Self, Failure> {
        let builds = home.parent().unwrap_or(home);
        let make = || {
            fs::create_dir_all(builds)?;
            let others = fs::read_dir(builds)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
            let folder = tempfile::Builder::new().prefix(".assetq-").suffix(".part").tempdir_in(builds)?;
            Ok(Self { folder, others })
        };
        make().map_err(|error| in_folder(builds, "cannot make the snapshot", error))
    }

    /// Puts a file there: as a link to the one of another build, where that has the same bytes.
    fn put(&self, path: &str, bytes: &[u8], context: &Context) -> Result<Kept, Failure> {
        let to = self.folder.path().join(path);
        let is_same = |other: &Path| {
            let as_long = other.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
            as_long && Source::open(other).is_ok_and(|other| other.bytes() == bytes)
        };
        let link = |other: PathBuf| {
            fs::create_dir_all(to.parent()?).ok()?;
            fs::hard_link(other, &to).ok()
        };
        let same = self.others.iter().map(|other| other.join(path)).find(|other| is_same(other));
        let shared = same.and_then(link).is_some();
        if !shared {
            context.create(&to, false, |out| Ok(out.write_all(bytes)?))?;
        }
        Ok(Kept { path: path.to_owned(), size: bytes.len() as u64, shared })
    }

    /// Gives the folder its name, in place of the one that has it.
    fn keep(self, home: &Path) -> Result<(), Failure> {
        let failed = |error| in_folder(home, "cannot write the snapshot", error);
        if home.symlink_metadata().is_ok() {
            fs::remove_dir_all(home).map_err(failed)?;
        }
        let part = self.folder.keep();
        fs::rename(&part, home).map_err(|error| {
            let _ = fs::remove_dir_all(&part);
            failed(error)
        })
    }
}

fn in_folder(folder: &Path, action: &'static str, error: io::Error) -> Failure {
    Failure::in_file(&folder.to_string_lossy(), &Error::io(action, error))
}
