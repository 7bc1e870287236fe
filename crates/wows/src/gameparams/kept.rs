//! Arenas of a pickle that was read, kept in the cache of decoded files and mapped from there.
//!
//! Cells of a kept pickle are checked at each access, like the cells of a pickle that was just read.

use super::arena::{PART, Pickle, Words};
use crate::archive::Cache;
use crate::bytes::le;
use crate::error::{ErrorKind, Result};
use crate::source::Source;
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The kind of kept files. The number changes when their content does.
const KIND: &str = "gameparams-1";
/// Stored bytes from which on arenas are kept: fewer are read faster than kept ones are found.
const LEAST: usize = 1 << 20;

/// The header of a kept file. The pickle, cells and containers follow.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    pickle: le::U64,
    cells: le::U64,
    containers: le::U64,
    root: le::U32,
    end: le::U32,
    protocol: u8,
}

/// The pickle in `stored`: from the cache, or read by `read` and kept.
pub(super) fn pickle(cache: Option<&Cache>, stored: &Source, read: impl FnOnce() -> Result<Pickle>) -> Result<Pickle> {
    let Some(cache) = cache.filter(|_| stored.bytes().len() >= LEAST) else { return read() };
    let key = Cache::key_of_derived(KIND, stored.bytes());
    if let Some(kept) = cache.derived(&key, KIND) {
        return open(&kept, stored.name()).ok_or_else(|| {
            crate::Error::of_part(
                ErrorKind::damaged("the kept file is not complete; `assetq cache clear` removes it"),
                PART,
            )
        });
    }
    let pickle = read()?;
    keep(cache, &key, &pickle);
    Ok(pickle)
}

/// The part of `len` bytes at a position.
fn after(start: usize, len: le::U64) -> Option<Range<usize>> {
    Some(start..start.checked_add(usize::try_from(len.get()).ok()?)?)
}

fn open(kept: &Source, name: &str) -> Option<Pickle> {
    let header: &Header = kept.view("kept arenas").read().ok()?;
    let data = after(size_of::<Header>(), header.pickle)?;
    let cells = after(data.end, header.cells)?;
    let containers = after(cells.end, header.containers)?;
    (containers.end == kept.bytes().len()).then_some(())?;
    let [cells, containers] =
        [cells, containers].map(|range| kept.share(range.start, range.len()).map(Words::of_bytes));
    Some(Pickle {
        data: kept.slice(data, name)?,
        cells: cells?,
        containers: containers?,
        root: header.root.get(),
        protocol: header.protocol,
        end: header.end.get(),
    })
}

fn keep(cache: &Cache, key: &str, pickle: &Pickle) {
    let parts = [pickle.data.bytes(), pickle.cells.bytes(), pickle.containers.bytes()];
    let [data, cells, containers] = parts;
    let [pickle_size, cells_size, containers_size] = parts.map(|bytes| le::U64::new(bytes.len() as u64));
    let header = Header {
        pickle: pickle_size,
        cells: cells_size,
        containers: containers_size,
        root: le::U32::new(pickle.root),
        end: le::U32::new(pickle.end),
        protocol: pickle.protocol,
    };
    cache.keep_derived(key, &[header.as_bytes(), data, cells, containers]);
}
