//! assetq for C: files, tables as Arrow C streams, lookups, entries as JSON.
//!
//! Every function here checks its pointers for null, takes whatever goes wrong for an error of its own, and lets no panic
//! pass. What it cannot check it says under Safety: that pointers lead to what they should lead to.

// A panic must unwind to the boundary, where it becomes an error.
#[cfg(panic = "abort")]
compile_error!("panics must unwind here: build with --profile release-unwind");

mod boundary;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use assetq::bwdb::{Database, Location as At, State};
use assetq::write::json;
use assetq::write::stream::Selection;
use assetq::{Asset, Options, Source, archive, table::Tree};
pub use boundary::Failure;
use boundary::{answered, bytes, places, slice, text, texts, unsupported};
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr;

/// An open file.
pub struct File {
    asset: Asset,
    options: Options,
    name: CString,
    format: CString,
    tables: Vec<CString>,
}

/// Where the record of a resource is.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The number of the record in its database; -1 where the file does not have the resource.
    pub record: i32,
    /// The number of the database.
    pub database: u8,
    /// 0 where the record can be read, 3 where the resource was deleted.
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
        // As many bits as the file has for them.
        let record = i32::try_from(at.record_index()).unwrap_or(i32::MAX);
        Self { record, database: u8::try_from(at.database_index()).unwrap_or(u8::MAX), state }
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

/// Opens the file or folder at `address`, or with `ARCHIVE:INNER` the file in an archive. Reads headers only. NULL where
/// that fails; otherwise to be closed by `assetq_close`.
///
/// # Safety
/// `address` is a text, `error` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_open(address: *const c_char, error: *mut *mut Failure) -> *mut File {
    let open = || {
        // SAFETY: the caller promises a text.
        let address = unsafe { text(address, "address") }?;
        let mut options = Options::default();
        if let Some(folder) = archive::Cache::default_folder() {
            options = options.with(std::sync::Arc::new(archive::Cache::at(folder)));
        }
        let asset = Asset::open_at(Path::new(address), &options).map_err(|e| Failure::of(address, &e))?;
        Ok(Box::into_raw(File::new(asset, options)))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), open) }
}

/// Opens the file whose `size` bytes are at `data`, of which a copy is made. NULL where that fails; otherwise to be closed
/// by `assetq_close`.
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
        // SAFETY: the caller promises so many bytes.
        let data = unsafe { bytes(data, size) }?;
        let asset = Asset::open(Source::from_vec(name, data.to_vec())).map_err(|e| Failure::of(name, &e))?;
        Ok(Box::into_raw(File::new(asset, Options::default())))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), open) }
}

/// Opens the file that `inner` names in an archive. NULL where that fails; otherwise to be closed by `assetq_close`, before
/// the archive or after it.
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

/// Closes a file. Streams of its tables stay as they are. NULL is no file and nothing happens.
///
/// # Safety
/// `file` is NULL, or was opened by one of these functions and not closed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_close(file: *mut File) {
    if !file.is_null() {
        // SAFETY: the caller promises that it comes from `Box::into_raw` and is not used any more.
        let file = unsafe { Box::from_raw(file) };
        boundary::quietly(|| drop(file));
    }
}

/// The address by which a file was opened.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_name(file: *const File) -> *const c_char {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(ptr::null(), |file| file.name.as_ptr())
}

/// The format of a file, as `bwdb` or `geometry`.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_format(file: *const File) -> *const c_char {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(ptr::null(), |file| file.format.as_ptr())
}

/// How many tables a file has.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_table_count(file: *const File) -> usize {
    // SAFETY: the caller promises an open file.
    unsafe { boundary::file(file) }.map_or(0, |file| file.tables.len())
}

/// The name of table `n`, from 0; NULL behind the last one. The first one is the main table.
///
/// # Safety
/// `file` is an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_table_name(file: *const File, n: usize) -> *const c_char {
    // SAFETY: the caller promises an open file.
    let file = unsafe { boundary::file(file) };
    file.ok().and_then(|file| file.tables.get(n)).map_or(ptr::null(), |name| name.as_ptr())
}

/// Rows of a table as an Arrow C stream, read ahead by a thread while they are taken: the columns that are named, or with
/// NULL all, and the rows for which `condition` holds, as in `size > 10k`, or with NULL all. Gives 0, or -1 where that
/// fails; an error on the way is the stream's own. The stream is to be released, before the file is closed or after.
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
            // SAFETY: the caller promises a text where it is not null.
            rows = rows.filter(unsafe { text(condition, "condition") }?).map_err(|e| file.failure(&e))?;
        }
        if !columns.is_null() {
            // SAFETY: the caller promises so many texts where it is not null.
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

/// Where the record of the resource with this id is, by one probe of the file's own index. Gives 1 where the file has it, 0
/// where it does not, -1 where it is no prototype database.
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
            // SAFETY: the caller promises a place where it is not null.
            unsafe { boundary::put(out, at) }?;
        }
        Ok(c_int::from(at != Location::NONE))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// As `assetq_lookup`, for the resource at a path; its id is put into `id`.
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
            // SAFETY: the caller promises a place where it is not null.
            unsafe { boundary::put(id, found.id()) }?;
        }
        if !out.is_null() {
            // SAFETY: the caller promises a place where it is not null.
            unsafe { boundary::put(out, at) }?;
        }
        Ok(c_int::from(at != Location::NONE))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// Looks up `count` ids at once, thousands of them on all cores. Gives how many the file has, or -1 where it is no prototype
/// database.
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
        // SAFETY: the caller promises so many numbers.
        let ids = unsafe { slice(ids, count, "ids") }?;
        // SAFETY: the caller promises places for `count` locations.
        let out = unsafe { places(out, count, "out") }?;
        let mut found = vec![None; ids.len()];
        let known = file.database()?.lookup_many(ids, &mut found).map_err(|e| file.failure(&e))?;
        out.iter_mut().zip(found).for_each(|(out, at)| _ = out.write(Location::of(at)));
        Ok(i64::try_from(known).unwrap_or(i64::MAX))
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, -1, lookup) }
}

/// One entry whole as JSON, with its references resolved. NULL where that fails or the file has no such entry; otherwise to
/// be freed by `assetq_text_free`.
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
            let kind = assetq::ErrorKind::NotFound { what: format!("entry {entry:?}") };
            return Err(file.failure(&assetq::Error::without_offset(kind, "")));
        }
        let json = json::to_string(&tree.into_value()).map_err(|e| file.failure(&e))?;
        Ok(boundary::c_text(&json).into_raw())
    };
    // SAFETY: the caller promises NULL or a place.
    unsafe { answered(error, ptr::null_mut(), cat) }
}

/// Frees a text that one of these functions gave to be freed. NULL is no text and nothing happens.
///
/// # Safety
/// `text` is NULL, or was given to be freed and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller promises that it comes from `CString::into_raw` and is not used any more.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// The id of a path, as World of Warships computes it; 0 for what is no text.
///
/// # Safety
/// `path` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_path_id(path: *const c_char) -> u64 {
    // SAFETY: the caller promises a text.
    unsafe { text(path, "path") }.map_or(0, assetq::id::of_path)
}

/// The id of a name, as World of Warships computes it; 0 for what is no text.
///
/// # Safety
/// `name` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_name_id(name: *const c_char) -> u32 {
    // SAFETY: the caller promises a text.
    unsafe { text(name, "name") }.map_or(0, assetq::id::of_name)
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

/// The kind of an error: `io`, `unknown_format`, `unknown_folder`, `unsupported`, `bad_magic`, `bad_version`,
/// `out_of_bounds`, `bad_pointer`, `bad_value`, `checksum`, `codec`, `text`, `cycle`, `limit`, `not_found`, `not_installed`,
/// `syntax`, `damaged`; `argument` where the call itself is wrong, and `panic` for a fault of the library.
///
/// # Safety
/// `error` is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_kind(error: *const Failure) -> *const c_char {
    // SAFETY: the caller promises an error.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.kind.as_ptr())
}

/// The part of the file that an error concerns; empty for the whole file.
///
/// # Safety
/// `error` is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_part(error: *const Failure) -> *const c_char {
    // SAFETY: the caller promises an error.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.part.as_ptr())
}

/// Puts the absolute file offset that an error shows at into `offset`; `false` where it has none.
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

/// Frees an error. NULL is none and nothing happens.
///
/// # Safety
/// `error` is NULL, or was given by one of these functions and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn assetq_error_free(error: *mut Failure) {
    if !error.is_null() {
        // SAFETY: the caller promises that it comes from `Box::into_raw` and is not used any more.
        drop(unsafe { Box::from_raw(error) });
    }
}
