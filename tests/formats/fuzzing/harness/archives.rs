//! Archives, of one file and as folders of a game: their tables, their files, and addresses that lead into them.

use super::folder::{Folder, unmapped};
use super::input::{File, any, below, file, lie, one_of, rest_as_text};
use super::models::Family;
use super::{ask, read};
use arbitrary::Unstructured;
use assetq::formats::report::Progress;
use assetq::query::archive;
use assetq::query::archive::{Address, Archive};
use assetq::{Asset, Options};
use assetq_sample::{FOLDERS, Size, wows};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Whether a file has a list of others.
fn is_list(name: &str) -> bool {
    name.ends_with(".idx") || name.contains("filelist") || name.ends_with(".dat") || name.contains("Definition")
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
    static GAMES: LazyLock<Mutex<Vec<Folder>>> = LazyLock::new(|| {
        let folder =
            |(_, _, make): &(_, _, assetq_sample::MakeFolder)| Folder::new(|put| make(1, Size::Small, put).unwrap());
        Mutex::new(FOLDERS.iter().map(folder).collect())
    });
    let mut folders = GAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = below(&mut u, folders.len());
    let folder = &mut folders[folder];
    let lists = folder.files(is_list);
    let paths = if any::<u8>(&mut u) & 3 > 0 && !lists.is_empty() { lists } else { folder.files(|_| true) };
    let path = one_of(&mut u, &paths).clone();
    folder.change(&path, |bytes| {
        let fields = super::input::fields(bytes);
        let is_changed = lie(&mut u, bytes, &fields) > 0;
        if is_changed && path.extension().is_some_and(|extension| extension == "idx") && any::<u8>(&mut u) & 1 == 0 {
            wows::seal(bytes);
        }
        is_changed
    });
    let options = unmapped();
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
    let _ = archive::choose(archive, |file| file.path.ends_with(".wdb"), |_| {});
}
