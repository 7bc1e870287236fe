//! A cache for the next query of a file: the last files remain open, with their indexes, and the cells of their last columns
//! remain in memory, as DuckDB stores them.

use crate::vector::KeptVector;
use assetq::query::archive::names::NameSources;
use assetq::query::files;
use assetq::{Asset, Options};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// Files that are kept open. Windows does not let other programs replace a mapped file.
const MOST: usize = if cfg!(windows) { 0 } else { 8 };
/// Bytes of columns that are kept of all files together.
const MOST_BYTES: usize = 512 << 20;
/// Rows of a kept chunk: as many as a vector holds.
pub const ROWS: usize = 2048;

/// An open file, and what tells whether a file of its name is still the same.
struct Kept {
    path: PathBuf,
    no_mmap: bool,
    strict: bool,
    state: FileState,
    names: Vec<NamesFile>,
    asset: Asset,
    columns: Arc<KeptColumns>,
}

/// The columns that are kept of a file, by table and number.
#[derive(Default)]
pub struct KeptColumns(Mutex<HashMap<(String, usize), Arc<KeptColumn>>>);

impl KeptColumns {
    /// The column with this number of a table of `len` rows.
    pub fn column(&self, table: &str, number: usize, len: usize) -> Arc<KeptColumn> {
        let mut columns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(columns.entry((table.to_owned(), number)).or_insert_with(|| Arc::new(KeptColumn::new(len))))
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A column, as far as it was read.
pub struct KeptColumn {
    /// The rows of the table.
    len: usize,
    chunks: Box<[OnceLock<KeptVector>]>,
    /// Chunks that are missing.
    missing: AtomicUsize,
    bytes: AtomicUsize,
}

/// The bytes of all columns.
static BYTES: AtomicUsize = AtomicUsize::new(0);

impl KeptColumn {
    fn new(len: usize) -> Self {
        let chunks: Box<[_]> = std::iter::repeat_with(OnceLock::new).take(len.div_ceil(ROWS)).collect();
        Self { len, missing: AtomicUsize::new(chunks.len()), chunks, bytes: AtomicUsize::new(0) }
    }

    /// Whether all rows are kept.
    pub fn is_complete(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }

    /// The rows from `first` on, the first row of a chunk.
    pub fn chunk(&self, first: usize) -> Option<&KeptVector> {
        self.chunks.get(first / ROWS)?.get().filter(|_| first.is_multiple_of(ROWS))
    }

    /// Whether the `rows` rows from `first` on are a whole chunk that is missing.
    pub fn has_room(&self, first: usize, rows: usize) -> bool {
        let is_whole = first.is_multiple_of(ROWS) && rows == self.len.saturating_sub(first).min(ROWS);
        is_whole && self.chunks.get(first / ROWS).is_some_and(|chunk| chunk.get().is_none())
    }

    /// Keeps the chunk from row `first` on. `None` if the columns have too many bytes; they are then dropped, except the ones that queries
    /// use.
    pub fn keep(&self, first: usize, vector: KeptVector) -> Option<&KeptVector> {
        let place = self.chunks.get(first / ROWS)?;
        let bytes = vector.bytes();
        if BYTES.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > MOST_BYTES {
            BYTES.fetch_sub(bytes, Ordering::Relaxed);
            KEPT.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|file| file.columns.clear());
            return None;
        }
        if place.set(vector).is_err() {
            // Another query was faster, and its cells are equal.
            BYTES.fetch_sub(bytes, Ordering::Relaxed);
            return place.get();
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.missing.fetch_sub(1, Ordering::Release);
        place.get()
    }
}

impl Drop for KeptColumn {
    fn drop(&mut self) {
        BYTES.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

/// The state of a file. A file that was written or replaced differs in it.
#[derive(PartialEq, Eq, Clone, Copy)]
struct FileState {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    number: (u64, u64),
}

impl FileState {
    /// The state of a file; `None` for anything else, such as a pattern or a folder.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            number: {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.dev(), metadata.ino())
            },
        })
    }
}

/// The files, the one that was read last at the end.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// A file with more names for ids.
type NamesFile = (PathBuf, FileState);

/// Opens a file as [`files::open`] does, with the names for ids of the files `names`.
fn open_with(path: &Path, options: &Options, names: &[PathBuf]) -> assetq::Result<Asset> {
    if names.is_empty() {
        return files::open(path, options);
    }
    let mut known = NameSources::default();
    for file in names {
        known.add_file(file, options).map_err(|error| error.context(file.display()))?;
    }
    files::open(path, &options.clone().with(Arc::new(known)))
}

/// Opens a file, unless an earlier query opened it with the same options and names. `None` for columns that are not kept.
pub fn open(path: &Path, options: &Options, names: &[PathBuf]) -> assetq::Result<(Asset, Option<Arc<KeptColumns>>)> {
    // An archive or a folder has no state.
    let states = names.iter().map(|file| Some((file.clone(), FileState::of(file)?))).collect::<Option<Vec<_>>>();
    let Some((state, states)) = FileState::of(path).zip(states).filter(|_| MOST > 0) else {
        return open_with(path, options, names).map(|asset| (asset, None));
    };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |kept: &Kept| {
        kept.path == path
            && (kept.no_mmap, kept.strict, kept.state) == (options.no_mmap, options.strict, state)
            && kept.names == states
    };
    if let Some(at) = kept.iter().position(same) {
        let found = kept.remove(at);
        let (asset, columns) = (found.asset.clone(), Arc::clone(&found.columns));
        kept.push(found);
        return Ok((asset, Some(columns)));
    }
    drop(kept);
    let asset = open_with(path, options, names)?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    // A file that was replaced is not read again.
    kept.retain(|other| other.path != path || other.state == state);
    let (path, no_mmap, strict) = (path.to_owned(), options.no_mmap, options.strict);
    let columns = Arc::<KeptColumns>::default();
    kept.push(Kept {
        path,
        no_mmap,
        strict,
        state,
        names: states,
        asset: asset.clone(),
        columns: Arc::clone(&columns),
    });
    let surplus = kept.len().saturating_sub(MOST);
    kept.drain(..surplus);
    Ok((asset, Some(columns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_chunks_are_kept_each_once() {
        let column = KeptColumn::new(ROWS + 7);
        assert!(column.has_room(0, ROWS) && column.has_room(ROWS, 7));
        // A part of a chunk, rows of two chunks, and rows past the end.
        for (first, rows) in [(0, ROWS - 1), (1, ROWS), (ROWS, 6), (2 * ROWS, 0), (2 * ROWS, 7)] {
            assert!(!column.has_room(first, rows), "{rows} rows from {first} on");
        }
        assert!(column.keep(ROWS, KeptVector::default()).is_some());
        assert!(!column.has_room(ROWS, 7) && !column.is_complete() && column.chunk(0).is_none());
        assert!(column.keep(0, KeptVector::default()).is_some() && column.keep(0, KeptVector::default()).is_some());
        assert!(column.is_complete() && column.chunk(0).is_some() && column.chunk(1).is_none());
    }

    #[test]
    fn a_file_that_was_written_is_opened_again() {
        let path = std::env::temp_dir().join(format!("assetq-kept-{}.splash", std::process::id()));
        let boxes = |count: usize| assetq_sample::geometry::splash(&vec![("bow", [-1.0; 3], [1.0; 3]); count]);
        let rows = || {
            let (asset, columns) = open(&path, &Options::default(), &[]).unwrap();
            (asset.reader().tables().first().unwrap().len().unwrap(), columns.map(|columns| Arc::as_ptr(&columns)))
        };
        fs::write(&path, boxes(1)).unwrap();
        let first = rows();
        assert_eq!((first.0, first), (1, rows()));
        fs::write(&path, boxes(2)).unwrap();
        assert_eq!(rows().0, 2);
        fs::remove_file(&path).unwrap();
        assert!(open(&path, &Options::default(), &[]).is_err());
    }
}
