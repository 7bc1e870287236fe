//! The models of World of Warships: Legends (docs/formats/legends.md §3): `prototypes.index.data` finds each in `prototypes.data`.

mod reader;
mod records;
mod relations;
mod verify;

pub use records::*;

use super::counts::Counts;
use super::record::Field as _;
use crate::archive::names::NameSources;
use crate::bytes::{Overlay, View, le};
use crate::error::{ErrorKind, Result};
use crate::schema;
use crate::source::Source;
use std::sync::Arc;

/// The part that errors in the index name.
const INDEX: &str = "prototypes.index.data";
/// The part that errors in a model name.
const DATA: &str = "prototypes.data";

schema! {
    /// The header of the index. Positions count from the start of the file.
    struct IndexHeader: 24 {
        count: le::U32,
        /// A seed or a checksum: no reader states which.
        checksum: le::U32,
        values: le::U64,
        keys: le::U64,
    }

    /// The place of a model: a u64 whose upper half is the position, and whose lower half is the size.
    pub struct ModelSpan: 0x0C {
        size: le::U32 => "size".brief(),
        position: le::U32 => "offset".brief().place(),
        unknown: le::U32 => "unknown",
    }
}

/// The models of World of Warships: Legends. The models are absent if `prototypes.data` is not beside its index.
#[derive(Debug)]
pub struct UberModels {
    /// The file that was opened.
    source: Source,
    index: Source,
    data: Option<Source>,
    count: usize,
    keys_at: usize,
    values_at: usize,
    pub(super) counts: Counts,
    /// The files themselves have none.
    pub(super) names: Arc<NameSources>,
}

/// The position of `count` structs at `field`'s value, which must lie in the file.
fn array_at<T: Overlay>(view: View<'_>, field: &le::U64, what: &'static str, count: usize) -> Result<usize> {
    let at = usize::try_from(field.get()).ok().filter(|at| view.at(*at).array::<T>(count).is_ok());
    at.ok_or_else(|| view.locate(field).bad_value(what, field.get()))
}

impl UberModels {
    /// Opens `index`, whose models are in `data`. Reads the header of the index.
    ///
    /// # Errors
    /// `BadValue` if the keys or the values of the index leave the file.
    pub fn open(index: Source, data: Option<Source>) -> Result<Self> {
        let view = index.view(INDEX);
        let header: &IndexHeader = view.read()?;
        let count = header.count.get() as usize;
        let values_at = array_at::<ModelSpan>(view, &header.values, "position of the values, which do not fit", count)?;
        let keys_at = array_at::<le::U64>(view, &header.keys, "position of the keys, which do not fit", count)?;
        let (counts, names, source) = (Counts::default(), Arc::default(), index.clone());
        Ok(Self { source, index, data, count, keys_at, values_at, counts, names })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn header(&self) -> Result<&IndexHeader> {
        self.index.view(INDEX).read()
    }

    fn keys(&self) -> &[le::U64] {
        self.index.view(INDEX).at(self.keys_at).array(self.count).expect("opening found the keys in the file")
    }

    fn spans(&self) -> &[ModelSpan] {
        self.index.view(INDEX).at(self.values_at).array(self.count).expect("opening found the values in the file")
    }

    pub fn id(&self, row: usize) -> Option<u64> {
        self.keys().get(row).map(|key| key.get())
    }

    /// The number of the model with this path id: a binary search, which relies on the order that `verify` checks.
    pub fn find(&self, path_id: u64) -> Option<usize> {
        self.keys().binary_search_by_key(&path_id, |key| key.get()).ok()
    }

    /// The place of a model in the index.
    pub(super) fn span(&self, row: usize) -> Result<View<'_>> {
        let span = self.spans().get(row).ok_or_else(|| crate::table::no_cell("models", row, 0))?;
        Ok(self.index.view(INDEX).locate(span))
    }

    /// Whether `prototypes.data` is at hand.
    pub fn has_models(&self) -> bool {
        self.data.is_some()
    }

    /// `prototypes.data`, or the index without it.
    pub(super) fn data(&self) -> &Source {
        self.data.as_ref().unwrap_or(&self.index)
    }

    /// The bytes of a model. No read through the view leaves its end.
    pub(super) fn blob(&self, row: usize) -> Result<View<'_>> {
        let at = self.span(row)?;
        let span: &ModelSpan = at.read()?;
        let Some(data) = &self.data else {
            let what = format!("{DATA}, which holds the models and must be beside {INDEX},");
            return Err(at.error(ErrorKind::NotInstalled { what }));
        };
        let (position, size) = (span.position.get() as usize, span.size.get() as usize);
        let end = position.saturating_add(size);
        if end > data.bytes().len() {
            let what = "end of a model, which is past the end of prototypes.data: is it of the same build?";
            return Err(at.bad_value(what, end as u64));
        }
        Ok(data.view(DATA).at(position).until(end))
    }

    /// A model.
    ///
    /// # Errors
    /// `NotInstalled` without `prototypes.data`, `BadValue` if the index leads out of it, `OutOfBounds` for a model that is
    /// shorter than its header.
    pub fn model(&self, row: usize) -> Result<UberModel<'_>> {
        UberModel::read(self.blob(row)?)
    }

    /// The model with this path id; `None` if the index lacks it.
    ///
    /// # Errors
    /// As [`UberModels::model`].
    pub fn lookup(&self, path_id: u64) -> Result<Option<UberModel<'_>>> {
        self.find(path_id).map(|row| self.model(row)).transpose()
    }
}
