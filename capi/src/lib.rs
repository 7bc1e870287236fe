//! assetq for C: files, tables as Arrow C streams, lookups, entries as JSON.
//!
//! Every function checks its pointers for null, returns errors as values, and catches panics. It cannot check where
//! pointers lead: its requirements are listed under Safety.

#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]

// A panic must unwind to the boundary, where it becomes an error.
#[cfg(panic = "abort")]
compile_error!("panics must unwind here: build with --profile release-unwind");

mod answers;
mod boundary;
mod file;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use assetq::formats::wows::bwdb::{Database, Location as At, State};
use assetq::query::archive;
use assetq::table::Tree;
use assetq::write::json;
use assetq::write::stream::Selection;
use assetq::{Asset, Options, Source};
pub use file::File;

pub use boundary::Failure;
use boundary::{answered, bytes, places, slice, text, texts, unsupported};
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr;

/// The location of a resource's record.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The number of the record in its database; -1 if the file does not contain the resource.
    pub record: i32,
    /// The number of the database.
    pub database: u8,
    /// 0 if the record can be read, 3 if the resource was deleted.
    pub state: u8,
}

impl Location {
    const NONE: Self = Self { record: -1, database: 0, state: 0 };

    fn of(at: Option<At>) -> Self {
        let Some(at) = at else { return Self::NONE };
        let state = match at.state() {
            State::Valid => 0,
            State::Deleted => 3,
            State::Unnamed(number) => number,
        };
        let record = i32::try_from(at.record_index()).expect("a location has 24 bits for the record");
        let database = u8::try_from(at.database_index()).expect("a location has 6 bits for the database");
        Self { record, database, state }
    }
}

impl File {
    fn new(asset: Asset, options: Options) -> Box<Self> {
        let tables = asset.reader().tables().iter().map(|table| boundary::c_text(table.name())).collect();
        let (name, format) = (boundary::c_text(asset.source().name()), boundary::c_text(asset.format().name()));
        Box::new(Self { asset, options, name, format, tables })
    }

    fn failure(&self, error: &assetq::Error) -> Failure {
        Failure::of(self.asset.source().name(), error)
    }

    fn database(&self) -> Result<&Database, Failure> {
        let what = || format!("looking up ids in a {} file", self.asset.format());
        self.asset.get().ok_or_else(|| unsupported(what()))
    }
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn assetq_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

/// Opens the file or folder at `address`, or with `ARCHIVE:INNER` a file in an archive. A folder or a glob opens all its
/// files as one, whose tables have a first column `file`. Reads headers only. Returns NULL on failure. Close the file by `assetq_close`.
///
/// # Safety
/// `address` is a text, `error` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_open(address: *const c_char, error: *mut *mut Failure) -> *mut File {
    let open = || {
        // SAFETY: the caller promises a text.
        let address = unsafe { text(address, "address") }?;
        assetq::formats::list();
        let mut options = Options::default();
        if let Some(folder) = archive::Cache::default_folder() {
            options = options.with(std::sync::Arc::new(archive::Cache::in_folder(folder)));
        }
        if let Some(oodle) = archive::Oodle::of_environment() {
            options = options.with(std::sync::Arc::new(oodle));
        }
        let asset = assetq::query::files::open(Path::new(address), &options).map_err(|e| Failure::of(address, &e))?;
        Ok(Box::into_raw(File::new(asset, options)))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), open) }
}

/// Opens a copy of the `size` bytes at `data`. Returns NULL on failure. Close the file by `assetq_close`.
///
/// # Safety
/// `data` leads to `size` bytes, `name` is a text, `error` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_open_bytes(
    data: *const u8,
    size: usize,
    name: *const c_char,
    error: *mut *mut Failure,
) -> *mut File {
    let open = || {
        // SAFETY: the caller promises a text.
        let name = unsafe { text(name, "name") }?;
        assetq::formats::list();
        // SAFETY: the caller promises `size` bytes.
        let data = unsafe { bytes(data, size) }?;
        let asset = Asset::open(Source::from_vec(name, data.to_vec())).map_err(|e| Failure::of(name, &e))?;
        Ok(Box::into_raw(File::new(asset, Options::default())))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), open) }
}

/// Opens the file `inner` of an archive. Returns NULL on failure. Close the file by `assetq_close`, before the archive
/// or after it.
///
/// # Safety
/// `archive` is an open file, `inner` is a text, `error` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_open_inside(
    archive: *const File,
    inner: *const c_char,
    error: *mut *mut Failure,
) -> *mut File {
    let open = || {
        // SAFETY: the caller promises an open file and a text.
        let (file, inner) = (unsafe { boundary::file(archive) }?, unsafe { text(inner, "inner") }?);
        let asset = archive::open_inside(&file.asset, inner, &file.options).map_err(|e| file.failure(&e))?;
        Ok(Box::into_raw(File::new(asset, file.options.clone())))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), open) }
}

/// Closes a file. Streams of its tables remain valid. Does nothing for NULL.
///
/// # Safety
/// `file` is NULL, or was opened by one of these functions and is not closed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_close(file: *mut File) {
    if !file.is_null() {
        // SAFETY: the caller promises that it comes from `Box::into_raw` and is not used any more.
        let file = unsafe { Box::from_raw(file) };
        boundary::quietly(|| drop(file));
    }
}

/// The address of an open file.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_name(file: *const File) -> *const c_char {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(ptr::null(), |file| file.name.as_ptr())
}

/// The format of a file, such as `bwdb` or `geometry`.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_format(file: *const File) -> *const c_char {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(ptr::null(), |file| file.format.as_ptr())
}

/// The number of tables of a file.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_table_count(file: *const File) -> usize {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(0, |file| file.tables.len())
}

/// The name of table `n`, from 0; NULL past the last. Table 0 is the main table.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_table_name(file: *const File, n: usize) -> *const c_char {
    // SAFETY: the caller promises an open file.
    let file = unsafe { boundary::file(file) };
    file.ok().and_then(|file| file.tables.get(n)).map_or(ptr::null(), |name| name.as_ptr())
}

/// Rows of a table as an Arrow C stream, which a thread reads ahead: the named columns, or all for NULL, and the rows
/// that match `condition`, such as `size > 10k`, or all for NULL. Returns 0, or -1 on failure; the stream itself
/// reports later errors. Release the stream, before the file is closed or after.
///
/// # Safety
/// `file` is an open file, `table` a text, `columns` NULL or `column_count` texts, `condition` NULL or a text, `out` a place
/// for a stream, `error` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_table(
    file: *const File,
    table: *const c_char,
    columns: *const *const c_char,
    column_count: usize,
    condition: *const c_char,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut Failure,
) -> c_int {
    let stream = || {
        // SAFETY: the caller promises an open file and a text.
        let (file, table) = (unsafe { boundary::file(file) }?, unsafe { text(table, "table") }?);
        let mut rows = Selection::new(file.asset.clone(), table).map_err(|e| file.failure(&e))?;
        if !condition.is_null() {
            // SAFETY: the caller promises a text if it is not null.
            rows = rows.filter(unsafe { text(condition, "condition") }?).map_err(|e| file.failure(&e))?;
        }
        if !columns.is_null() {
            // SAFETY: the caller promises `column_count` texts if it is not null.
            rows = rows.columns(&unsafe { texts(columns, column_count) }?).map_err(|e| file.failure(&e))?;
        }
        let stream = FFI_ArrowArrayStream::new(Box::new(rows.batches().map_err(|e| file.failure(&e))?));
        // SAFETY: the caller promises a place for a stream.
        unsafe { boundary::put(out, stream) }?;
        Ok(0)
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, stream) }
}

/// The answer to statements of SQL about the tables of a file, as an Arrow C stream: the rows of the last statement with a
/// result. They are held in memory. Returns 0, or -1 on failure.
///
/// # Safety
/// `file` is an open file, `query` a text, `out` a place for a stream, `error` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_sql(
    file: *const File,
    query: *const c_char,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut Failure,
) -> c_int {
    let stream = || {
        // SAFETY: the caller promises an open file and a text.
        let (file, query) = (unsafe { boundary::file(file) }?, unsafe { text(query, "query") }?);
        let rows = assetq::sql::query(&file.asset, query).and_then(|rows| answers::stream(&rows));
        // SAFETY: the caller promises a place for a stream.
        unsafe { boundary::put(out, rows.map_err(|e| file.failure(&e))?) }?;
        Ok(0)
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, stream) }
}

/// The checks of a file as an Arrow C stream with the columns `check`, `ok`, `detail`, `found` (how many errors) and `first` (the
/// first error, or null). Returns 0 if every check passed, 1 if some did not, and -1 on failure.
///
/// # Safety
/// `file` is an open file, `out` a place for a stream, `error` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_verify(
    file: *const File,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut Failure,
) -> c_int {
    let stream = || {
        // SAFETY: the caller promises an open file.
        let file = unsafe { boundary::file(file) }?;
        let (rows, is_ok) = answers::verify(&file.asset);
        let rows = answers::stream(&rows).map_err(|e| file.failure(&e))?;
        // SAFETY: the caller promises a place for a stream.
        unsafe { boundary::put(out, rows) }?;
        Ok(c_int::from(!is_ok))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, stream) }
}

/// The differences between two files of one format, as an Arrow C stream with a row for each cell: `table`, `change` (`added`,
/// `removed` or `changed`), `key`, `column`, `old` and `new`, the last two as JSON. Returns 0 for equal files, 1 if they
/// differ, and -1 on failure, also for damage.
///
/// # Safety
/// `old` and `new_file` are open files, `out` a place for a stream, `error` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_diff(
    old: *const File,
    new_file: *const File,
    out: *mut FFI_ArrowArrayStream,
    error: *mut *mut Failure,
) -> c_int {
    let stream = || {
        // SAFETY: the caller promises open files.
        let (old, new) = (unsafe { boundary::file(old) }?, unsafe { boundary::file(new_file) }?);
        let rows = answers::diff(&old.asset, &new.asset).map_err(|e| old.failure(&e))?;
        let stream = answers::stream(&rows).map_err(|e| old.failure(&e))?;
        // SAFETY: the caller promises a place for a stream.
        unsafe { boundary::put(out, stream) }?;
        Ok(c_int::from(!rows.values().is_empty()))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, stream) }
}

/// Locates the record of the resource with this id, by one probe of the file's own index. Returns 1 if the file
/// contains the resource, 0 if not, and -1 if the file is not a prototype database.
///
/// # Safety
/// `file` is an open file, `out` is NULL or a place for a location, `error` NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_lookup(
    file: *const File,
    id: u64,
    out: *mut Location,
    error: *mut *mut Failure,
) -> c_int {
    let lookup = || {
        // SAFETY: the caller promises an open file.
        let file = unsafe { boundary::file(file) }?;
        let found = file.database()?.lookup(id).map_err(|e| file.failure(&e))?;
        let at = Location::of(found.map(|found| found.location()));
        if !out.is_null() {
            // SAFETY: the caller promises a place if it is not null.
            unsafe { boundary::put(out, at) }?;
        }
        Ok(c_int::from(at != Location::NONE))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// As `assetq_lookup`, for the resource at a path; writes its id to `id`.
///
/// # Safety
/// As `assetq_lookup`; `path` is a text, `id` is NULL or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_lookup_path(
    file: *const File,
    path: *const c_char,
    id: *mut u64,
    out: *mut Location,
    error: *mut *mut Failure,
) -> c_int {
    let lookup = || {
        // SAFETY: the caller promises an open file and a text.
        let (file, path) = (unsafe { boundary::file(file) }?, unsafe { text(path, "path") }?);
        let found = file.database()?.lookup_path(path).map_err(|e| file.failure(&e))?;
        let at = Location::of(found.map(|found| found.location()));
        if let (false, Some(found)) = (id.is_null(), found) {
            // SAFETY: the caller promises a place if it is not null.
            unsafe { boundary::put(id, found.id()) }?;
        }
        if !out.is_null() {
            // SAFETY: the caller promises a place if it is not null.
            unsafe { boundary::put(out, at) }?;
        }
        Ok(c_int::from(at != Location::NONE))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// Looks up `count` ids at once, thousands of them on all cores. Returns the number of ids that the file contains, or
/// -1 if it is not a prototype database.
///
/// # Safety
/// `file` is an open file, `ids` leads to `count` numbers, `out` to as many locations, `error` is NULL or a place for a
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_lookup_many(
    file: *const File,
    ids: *const u64,
    count: usize,
    out: *mut Location,
    error: *mut *mut Failure,
) -> i64 {
    let lookup = || {
        // SAFETY: the caller promises an open file.
        let file = unsafe { boundary::file(file) }?;
        // SAFETY: the caller promises `count` numbers.
        let ids = unsafe { slice(ids, count, "ids") }?;
        // SAFETY: the caller promises places for `count` locations.
        let out = unsafe { places(out, count, "out") }?;
        let mut found = vec![None; ids.len()];
        let known = file.database()?.lookup_many(ids, &mut found).map_err(|e| file.failure(&e))?;
        out.iter_mut().zip(found).for_each(|(out, at)| _ = out.write(Location::of(at)));
        Ok(i64::try_from(known).expect("no slice has more numbers"))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// One whole entry as JSON, with its references resolved. Returns NULL on failure and for a missing entry. Free the
/// text by `assetq_text_free`.
///
/// # Safety
/// `file` is an open file, `entry` is a text, `error` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_cat(file: *const File, entry: *const c_char, error: *mut *mut Failure) -> *mut c_char {
    let cat = || {
        // SAFETY: the caller promises an open file and a text.
        let (file, entry) = (unsafe { boundary::file(file) }?, unsafe { text(entry, "entry") }?);
        let mut tree = Tree::default();
        if !file.asset.reader().cat(entry, &mut tree).map_err(|e| file.failure(&e))? {
            let kind = assetq::formats::ErrorKind::NotFound { what: format!("entry {entry:?} not found") };
            return Err(file.failure(&assetq::Error::of_part(kind, "")));
        }
        let json = json::to_string(&tree.into_value()).map_err(|e| file.failure(&e))?;
        Ok(boundary::c_text(&json).into_raw())
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), cat) }
}

/// Frees a text that one of these functions returned to be freed. Does nothing for NULL.
///
/// # Safety
/// `text` is NULL, or was returned to be freed and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller promises that it comes from `CString::into_raw` and is not used any more.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// The id of a path, as World of Warships computes it; 0 for invalid text.
///
/// # Safety
/// `path` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_path_id(path: *const c_char) -> u64 {
    // SAFETY: the caller promises a text.
    unsafe { text(path, "path") }.map_or(0, assetq::formats::id::of_path)
}

/// The id of a name, as World of Warships computes it; 0 for invalid text.
///
/// # Safety
/// `name` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_name_id(name: *const c_char) -> u32 {
    // SAFETY: the caller promises a text.
    unsafe { text(name, "name") }.map_or(0, assetq::formats::id::of_name)
}

/// The fault, in one line, with the file, the part and the offset.
///
/// # Safety
/// `error` is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_message(error: *const Failure) -> *const c_char {
    // SAFETY: the caller promises an error.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.message.as_ptr())
}

/// The kind of an error: `io`, `unknown_format`, `git_lfs_pointer`, `unknown_folder`, `unsupported`, `bad_magic`, `bad_version`,
/// `out_of_bounds`, `bad_pointer`, `bad_value`, `checksum`, `codec`, `text`, `cycle`, `limit`, `not_found`,
/// `not_installed`, `syntax`, `damaged`; `argument` if the call itself is wrong, and `panic` for a fault of the
/// library.
///
/// # Safety
/// `error` is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_kind(error: *const Failure) -> *const c_char {
    // SAFETY: the caller promises an error.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.kind.as_ptr())
}

/// The part of the file with the error; empty for the whole file.
///
/// # Safety
/// `error` is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_part(error: *const Failure) -> *const c_char {
    // SAFETY: the caller promises an error.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.part.as_ptr())
}

/// Writes the absolute file offset of an error to `offset`; returns `false` if it has none.
///
/// # Safety
/// `error` is an error, `offset` a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_offset(error: *const Failure, offset: *mut u64) -> bool {
    // SAFETY: the caller promises an error.
    let Some(at) = unsafe { error.as_ref() }.and_then(|error| error.offset) else { return false };
    // SAFETY: the caller promises a place.
    unsafe { boundary::put(offset, at) }.is_ok()
}

/// Frees an error. Does nothing for NULL.
///
/// # Safety
/// `error` is NULL, or was returned by one of these functions and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_free(error: *mut Failure) {
    if !error.is_null() {
        // SAFETY: the caller promises that it comes from `Box::into_raw` and is not used any more.
        drop(unsafe { Box::from_raw(error) });
    }
}
