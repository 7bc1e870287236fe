use super::Database;
use super::layout::{BlobHeader, DatabaseEntry};
use super::prototypes::{Layout, PrototypeType, Record, type_name};
use crate::bytes::{View, le};
use crate::error::{ErrorKind, Result};
use crate::id::Id32;

/// The schema checksum of models without skeleton extenders.
const MODEL_V14: u32 = 0xD6B1_1569;

/// One database: all records of one prototype type, and what they point to.
#[derive(Debug, Clone, Copy)]
pub struct Blob<'a> {
    index: usize,
    entry: &'a DatabaseEntry,
    /// Where the blob begins.
    view: View<'a>,
    records: View<'a>,
    count: usize,
    layout: Result<Layout, Raw>,
}

/// Why records cannot be taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raw {
    UnknownType,
    TooShort { size: usize },
    Pointers { size: usize },
}

impl<'a> Blob<'a> {
    pub(super) fn open(index: usize, entry: &'a DatabaseEntry, at: View<'a>) -> Result<Self> {
        let within = |e: crate::Error| e.within(format_args!("database {index}"));
        let view = at.follow(entry.data.get()).map_err(within)?.part("blob");
        let size = entry.size.get() as usize;
        view.take(size).map_err(within)?;
        let header = view.read::<BlobHeader>().map_err(within)?;
        let stored = header.count.get();
        let count = usize::try_from(stored).ok().filter(|&c| c <= size);
        let count = count.ok_or_else(|| within(view.bad_value("number of records", stored)))?;
        let records = view.follow(header.records.get()).map_err(within)?.part("records");
        let mut blob = Self { index, entry, view, records, count, layout: Err(Raw::UnknownType) };
        let layout = match PrototypeType::from_magic(entry.magic.get()) {
            Some(PrototypeType::Model) if entry.checksum.get() == MODEL_V14 => Some(Layout::ModelV14),
            known => known.map(Layout::Current),
        };
        if let Some(layout) = layout {
            blob.layout = blob.fits(layout).map(|()| layout);
        }
        Ok(blob)
    }

    /// Whether records of this layout fit into the blob, and those at its start point behind all records, as they do
    /// in the files of every build. This tells builds with other record sizes apart, as no file states the size.
    fn fits(&self, layout: Layout) -> Result<(), Raw> {
        let size = layout.size();
        let end = self.end();
        let records_end = self.count.checked_mul(size).and_then(|len| self.records.position().checked_add(len));
        let Some(records_end) = records_end.filter(|&e| e <= end) else { return Err(Raw::TooShort { size }) };
        for record in 0..self.count.min(4) {
            let record = self.records.skip(record.saturating_mul(size));
            for field in layout.pointers() {
                let target = record
                    .skip(field)
                    .read::<le::I64>()
                    .and_then(|pointer| record.follow_nullable(pointer.get()))
                    .map_err(|_| Raw::Pointers { size })?;
                if target.is_some_and(|t| t.position() < records_end || t.position() > end) {
                    return Err(Raw::Pointers { size });
                }
            }
        }
        Ok(())
    }

    /// Its number.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The MurmurHash3 of its type's name.
    pub fn magic(&self) -> u32 {
        self.entry.magic.get()
    }

    /// The MurmurHash3 of its type's schema.
    pub fn checksum(&self) -> u32 {
        self.entry.checksum.get()
    }

    /// Bytes of the blob, its header included.
    pub fn size(&self) -> usize {
        self.entry.size.get() as usize
    }

    /// Where the blob begins.
    pub fn view(&self) -> View<'a> {
        self.view
    }

    /// The position behind its last byte.
    pub(super) fn end(&self) -> usize {
        self.view.position().saturating_add(self.size())
    }

    /// The position behind its last record, where its records are laid out.
    pub(super) fn records_end(&self) -> Option<usize> {
        self.records.position().checked_add(self.count.checked_mul(self.record_size()?)?)
    }

    /// Where the records begin.
    pub fn records(&self) -> View<'a> {
        self.records
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How its records are laid out, where that is known.
    pub fn layout(&self) -> Option<Layout> {
        self.layout.ok()
    }

    /// Its type, where its records are laid out.
    pub fn prototype(&self) -> Option<PrototypeType> {
        match self.layout.ok()? {
            Layout::Current(prototype) => Some(prototype),
            Layout::ModelV14 => Some(PrototypeType::Model),
        }
    }

    /// The name of its type, where it is known.
    pub fn type_name(&self) -> Option<&'static str> {
        type_name(self.magic())
    }

    /// The name of its type, or its magic.
    pub fn type_name_or_magic(&self) -> String {
        self.type_name().map_or_else(|| Id32(self.magic()).to_string(), str::to_owned)
    }

    /// Bytes of one record, where they are known.
    pub fn record_size(&self) -> Option<usize> {
        self.layout.ok().map(Layout::size)
    }

    /// Why its records are shown raw, if they are.
    pub fn note(&self) -> Option<String> {
        let name = self.type_name_or_magic();
        let why = match self.layout {
            Ok(_) => return None,
            Err(Raw::UnknownType) if self.type_name().is_some() => "its layout is not known".to_owned(),
            Err(Raw::UnknownType) => "its type is not known".to_owned(),
            Err(Raw::TooShort { size }) => format!("it is too short for {} records of {size:#x} bytes", self.count),
            Err(Raw::Pointers { size }) => format!("its records do not have the known size of {size:#x} bytes"),
        };
        Some(format!("database {} ({name}) is shown raw: {why}", self.index))
    }

    /// Where a record lies, and its size.
    ///
    /// # Errors
    /// When there is no such record, or records are shown raw.
    pub fn record_span(&self, record: usize) -> Result<(View<'a>, usize)> {
        if record >= self.count {
            let what = format!("record {record} of {} in database {}", self.count, self.index);
            return Err(self.records.error(ErrorKind::NotFound { what }));
        }
        let Some(size) = self.record_size() else {
            let what = self.note().unwrap_or_default().into();
            return Err(self.records.error(ErrorKind::Unsupported { what }));
        };
        Ok((self.records.skip(record.saturating_mul(size)), size))
    }

    /// A record; `None` where records are shown raw.
    ///
    /// # Errors
    /// When there is no such record.
    pub fn record(&self, record: usize) -> Result<Option<Record<'a>>> {
        match self.layout {
            Ok(layout) => Record::read(layout, self.record_span(record)?.0).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// For each database, the slot of the resource that a record belongs to.
#[derive(Debug)]
pub(super) struct Owners {
    databases: Vec<Vec<u32>>,
}

const NONE: u32 = u32::MAX;

impl Owners {
    pub(super) fn build(db: &Database) -> Self {
        let count = |blob: Result<Blob<'_>>| blob.ok().filter(|b| b.layout().is_some()).map_or(0, |b| b.len());
        let mut databases: Vec<Vec<u32>> = db.databases().take(64).map(|b| vec![NONE; count(b)]).collect();
        let values = db.spans.resource_values.get();
        for (slot, (bucket, value)) in (0u32..).zip(db.resource_buckets().iter().zip(values)) {
            let resource = super::Location(value.get());
            if bucket.occupied.get() == 0 || resource.state() != super::State::Valid {
                continue;
            }
            let owner = databases.get_mut(resource.database_index()).and_then(|d| d.get_mut(resource.record_index()));
            // The first resource with a record is the one that is shown.
            if let Some(owner @ &mut NONE) = owner {
                *owner = slot;
            }
        }
        Self { databases }
    }

    /// The path id of the resource with this record.
    pub(super) fn id(&self, db: &Database, database: usize, record: usize) -> Option<u64> {
        let slot = *self.databases.get(database)?.get(record)?;
        db.resource_buckets().get(slot as usize).filter(|_| slot != NONE).map(|b| b.key.get())
    }
}
