//! Archives, of one file and as folders of a game: their tables, their files, and addresses that lead into them.

use super::input::{File, any, below, file, lie, one_of, rest_as_text};
use super::models::Family;
use super::{ask, read};
use arbitrary::Unstructured;
use assetq::formats::report::Progress;
use assetq::query::archive;
use assetq::query::archive::{Address, Archive};
use assetq::{Asset, Options};
use assetq_sample::{FOLDERS, Size, wows};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use tempfile::TempDir;

/// The folder of a game; each run replaces one of its files.
#[derive(Debug)]
struct Folder {
    dir: TempDir,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// The files that have lists of others.
    lists: Vec<PathBuf>,
    changed: Option<PathBuf>,
}

impl Folder {
    fn all() -> Vec<Self> {
        let make = |(_, _, make): &(_, _, assetq_sample::MakeFolder)| {
            let dir = TempDir::new().unwrap();
            let mut files = BTreeMap::new();
            make(1, Size::Small, &mut |path, bytes| {
                let path = dir.path().join("game").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, bytes).unwrap();
                files.insert(path, bytes.to_vec());
                Ok(())
            })
            .unwrap();
            let is_list = |path: &&PathBuf| {
                let name = path.file_name().unwrap().to_string_lossy();
                name.ends_with(".idx")
                    || name.contains("filelist")
                    || name.ends_with(".dat")
                    || name.contains("Definition")
            };
            let lists = files.keys().filter(is_list).cloned().collect();
            Self { dir, files, lists, changed: None }
        };
        FOLDERS.iter().map(make).collect()
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("game")
    }
}

pub fn archives(data: &[u8]) {
    let mut u = Unstructured::new(data);
    if any::<u8>(&mut u) & 1 == 0 {
        let file: File = file(&mut u, Some(Family::Archive));
        if let Ok(asset) = file.open() {
            ask(&mut u, &asset, &Options::default());
        }
        return;
    }
    static FOLDERS: LazyLock<Mutex<Vec<Folder>>> = LazyLock::new(|| Mutex::new(Folder::all()));
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = below(&mut u, folders.len());
    let folder = &mut folders[folder];
    if let Some(path) = folder.changed.take() {
        fs::write(&path, &folder.files[&path]).unwrap();
    }
    let all: Vec<PathBuf> = folder.files.keys().cloned().collect();
    let among = if any::<u8>(&mut u) & 3 > 0 && !folder.lists.is_empty() { &folder.lists } else { &all };
    let path = one_of(&mut u, among).clone();
    let mut bytes = folder.files[&path].clone();
    let fields = super::input::fields(&bytes);
    if lie(&mut u, &mut bytes, &fields) > 0 {
        if path.extension().is_some_and(|extension| extension == "idx") && any::<u8>(&mut u) & 1 == 0 {
            wows::seal(&mut bytes);
        }
        fs::write(&path, &bytes).unwrap();
        folder.changed = Some(path);
    }
    // A mapped file that is rewritten would change under its reader.
    let mut options = Options::default();
    options.no_mmap = true;
    let root = folder.path();
    if let Ok(source) = options.source(&root)
        && let Ok(asset) = Asset::open_with(source, &options)
    {
        ask(&mut u, &asset, &options);
        let inner = rest_as_text(&mut u);
        let _ = archive::open_inside(&asset, &inner, &options);
        for mark in [":", "@", "/"] {
            // Not out of the folder: what lies there is no matter of the input.
            if !inner.contains("..") && !inner.contains('\0') {
                let _ = Address::parse(PathBuf::from(format!("{}{mark}{inner}", root.display()))).open(&options);
            }
        }
    }
}

/// Asks the archive, or its tables, or searches it, or checks all of it.
fn ask(u: &mut Unstructured<'_>, asset: &Asset, options: &Options) {
    let Some(archive) = asset.reader().archive() else { return };
    match any::<u8>(u) % 4 {
        0 => files(archive, options),
        1 => read::ask(u, asset, false),
        2 => ask::search(asset, "*.wdata"),
        _ => {
            let mut report = asset.reader().verify(&Progress::default());
            archive::verify_places(archive, &mut report, &Progress::default());
            archive::verify_deep(archive, &mut report, &Progress::default());
        }
    }
}

fn files(archive: &dyn Archive, options: &Options) {
    let len = archive.len().unwrap_or(1);
    for n in (0..len.min(read::ROWS)).chain([len, usize::MAX]) {
        let _ = archive.game().map(|game| game.identity(n));
        let Ok(file) = archive.file(n) else { continue };
        assert!(n < len, "file {n} of {len}");
        let (found, position) = (archive.find(&file.path), archive.position(&file.path));
        // Where files are found by the hash of their path, one whose id lies is only listed.
        if file.id.is_none_or(|id| id == assetq::formats::id::of_path(&file.path)) {
            assert!(found.is_ok_and(|found| found.is_some()), "{:?} is not found", file.path);
            assert!(position.is_ok_and(|position| position.is_some()), "{:?} has no position", file.path);
        }
        archive.stamp(&file.path);
        let _ = archive::head(archive, &file, 64);
        let _ = archive.check(&file);
        if n < 24
            && let Ok(inner) = archive::open_file(archive, &file, "GAME", options)
        {
            assert_eq!(inner.source().bytes().len() as u64, file.size);
            inner.reader().tables();
        }
        if let Some(id) = file.id {
            let _ = archive.game().map(|game| game.path_of(id));
        }
    }
    let _ = archive.volumes();
    let _ = archive.builds();
    let _ = archive.builds().map(|builds| builds.snapshot());
    let _ = archive::choose(archive, |path| path.ends_with(".wdb"), |_| {});
}
