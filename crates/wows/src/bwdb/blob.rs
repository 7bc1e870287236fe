use super::layout::{BlobHeader, DatabaseEntry};
use super::prototypes::{Layout, Prototype, PrototypeType, type_name};
use super::raw::samples;
use super::record::{Elements, Walker, Wanted};
use super::text_layouts::Layouts;
use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id32;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// One database: all records of one prototype type, and the data that they point to.
#[derive(Debug, Clone, Copy)]
pub struct Blob<'a> {
    index: usize,
    entry: &'a DatabaseEntry,
    /// The start of the blob.
    view: View<'a>,
    records: View<'a>,
    count: usize,
    layout: Result<Layout, Raw>,
}

/// Why the records cannot be split into fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw {
    UnknownType,
    TooShort {
        size: usize,
        known: bool,
    },
    /// Of `of` checked records, `bad` have an array outside of the allowed range.
    Arrays {
        size: usize,
        bad: u16,
        of: u16,
    },
}

/// The layout of the records of each database, found out when it is first opened: as many as resources can name.
#[derive(Debug)]
pub(super) struct FoundLayouts([OnceLock<Result<Layout, Raw>>; FoundLayouts::KEPT]);

impl Default for FoundLayouts {
    fn default() -> Self {
        Self([const { OnceLock::new() }; Self::KEPT])
    }
}

impl FoundLayouts {
    const KEPT: usize = 64;

    fn get(&self, index: usize, find: impl FnOnce() -> Result<Layout, Raw>) -> Result<Layout, Raw> {
        match self.0.get(index) {
            Some(kept) => *kept.get_or_init(find),
            None => find(),
        }
    }
}

impl<'a> Blob<'a> {
    pub(super) fn open(
        index: usize,
        entry: &'a DatabaseEntry,
        at: View<'a>,
        layouts: &Layouts,
        found: &FoundLayouts,
    ) -> Result<Self> {
        let size = entry.size.get() as usize;
        let raw = Err(Raw::UnknownType);
        let view = match at.follow_nullable(entry.data.get())? {
            Some(view) => view.part("blob"),
            None if size == 0 => at.part("blob"),
            None => return Err(at.error(ErrorKind::BadPointer { value: 0 })),
        };
        let blob = Self { index, entry, view, records: view, count: 0, layout: raw };
        if size == 0 {
            // Not even a header: of no records.
            let layout = candidates(&blob, layouts).next().map_or(raw, |(layout, _)| Ok(layout));
            return Ok(Self { layout, ..blob });
        }
        view.take(size)?;
        // Pointers of records lead nowhere else (docs/formats/bwdb.md §5.2).
        let view = view.since(view.position()).until(view.position().saturating_add(size));
        let blob = Self { view, records: view, ..blob };
        if let Some(need) = Some(size_of::<BlobHeader>()).filter(|&need| need > size) {
            return Err(view.error(ErrorKind::OutOfBounds { need: need as u64, have: size as u64 }));
        }
        let header = view.read::<BlobHeader>()?;
        let stored = header.count.get();
        let count = usize::try_from(stored).ok().filter(|&c| c <= size);
        let count = count.ok_or_else(|| view.bad_value("number of records", stored))?;
        let records = view.follow_stored(&header.records)?.part("records");
        let blob = Self { records, count, ..blob };
        let layout = found.get(index, || blob.find_layout(layouts));
        if let Err(Raw::TooShort { size, known: true }) = layout {
            let what =
                format!("{count} records of {size:#x} bytes do not fit into a database of {} bytes", blob.size());
            return Err(view.error(ErrorKind::Damaged { what: what.into() }));
        }
        let blob = Self { layout, ..blob };
        let first = blob.records_end().unwrap_or_else(|| view.position());
        Ok(Self { records: records.since(first), ..blob })
    }

    /// Finds the layout of the records. No file states their size: a known schema checksum settles it, otherwise a sample of the
    /// records. The sample distinguishes records of another size from a few damaged ones.
    fn find_layout(&self, layouts: &Layouts) -> Result<Layout, Raw> {
        let mut first = None;
        for (layout, known) in candidates(self, layouts) {
            match self.fits(layout, known) {
                Ok(()) => return Ok(layout),
                Err(raw) => first = first.or(Some(raw)),
            }
        }
        Err(first.unwrap_or(Raw::UnknownType))
    }

    fn fits(&self, layout: Layout, known: bool) -> Result<(), Raw> {
        let size = layout.size();
        let end = self.end();
        let records_end = self.count.checked_mul(size).and_then(|len| self.records.position().checked_add(len));
        let Some(records_end) = records_end.filter(|&e| e <= end) else { return Err(Raw::TooShort { size, known }) };
        if known {
            return Ok(());
        }
        let mut arrays = Arrays { inside: records_end..=end, sound: 0, bad: 0 };
        let (mut bad, mut of) = (0u16, 0u16);
        for record in samples(self.count, SAMPLES) {
            let before = (arrays.sound, arrays.bad);
            match Prototype::read(layout, self.records.skip(record.saturating_mul(size))) {
                Ok(record) => record.walk_fields(&mut arrays),
                Err(_) => arrays.bad = arrays.bad.saturating_add(1),
            }
            if (arrays.sound, arrays.bad) != before {
                of = of.saturating_add(1);
                bad = bad.saturating_add(u16::from(arrays.bad != before.1));
            }
        }
        // A single bad array is treated as damage.
        let damaged = arrays.bad <= 1 || bad <= of.saturating_sub(bad);
        if damaged { Ok(()) } else { Err(Raw::Arrays { size, bad, of }) }
    }

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

    /// The start of the blob.
    pub fn view(&self) -> View<'a> {
        self.view
    }

    pub(super) fn end(&self) -> usize {
        self.view.position().saturating_add(self.size())
    }

    /// The position after its last record, if the layout is known.
    pub(super) fn records_end(&self) -> Option<usize> {
        self.records.position().checked_add(self.count.checked_mul(self.record_size()?)?)
    }

    pub fn records(&self) -> View<'a> {
        self.records
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The layout of its records, if known.
    pub fn layout(&self) -> Option<Layout> {
        self.layout.ok()
    }

    pub(super) fn refers(&self) -> bool {
        self.layout().is_some_and(|layout| layout.of().traits.refers)
    }

    pub(super) fn presumed<'l>(self, layouts: &'l Layouts) -> impl Iterator<Item = Layout> + use<'l> {
        candidates(&self, layouts).map(|(layout, _)| layout)
    }

    /// The blob's type, if its layout is known.
    pub fn prototype(&self) -> Option<PrototypeType> {
        self.layout.ok()?.prototype()
    }

    /// The name of its type, if known.
    pub fn type_name(&self) -> Option<&'static str> {
        type_name(self.magic())
    }

    /// The name of its type, or its magic.
    pub fn type_name_or_magic(&self) -> String {
        self.type_name().map_or_else(|| Id32(self.magic()).to_string(), str::to_owned)
    }

    /// The size of one record in bytes, if known.
    pub fn record_size(&self) -> Option<usize> {
        self.layout.ok().map(Layout::size)
    }

    /// Why its records are shown raw, if so.
    pub fn note(&self) -> Option<String> {
        let name = self.type_name_or_magic();
        let why = match self.layout {
            Ok(_) => return None,
            Err(Raw::UnknownType) if self.type_name().is_some() => "its layout is not known".to_owned(),
            Err(Raw::UnknownType) => "its type is not known".to_owned(),
            Err(Raw::TooShort { size, .. }) => format!("it is too short for {} records of {size:#x} bytes", self.count),
            Err(Raw::Arrays { size, bad, of }) => format!(
                "read as records of {size:#x} bytes, {bad} of {of} checked ones have arrays that do not lie after \
                 the records: they have another size, or most are damaged"
            ),
        };
        Some(format!("database {} ({name}) is shown raw: {why}", self.index))
    }

    /// The place of a record, and its size.
    ///
    /// # Errors
    /// When there is no such record, or records are shown raw.
    pub fn record_span(&self, record: usize) -> Result<(View<'a>, usize)> {
        if record >= self.count {
            let what = format!("record {record} of {} in database {} not found", self.count, self.index);
            return Err(self.records.error(ErrorKind::NotFound { what }));
        }
        let Some(size) = self.record_size() else {
            let what = self.note().expect("records of unknown size have a note").into();
            return Err(self.records.error(ErrorKind::Unsupported { what }));
        };
        Ok((self.records.skip(record.saturating_mul(size)), size))
    }

    /// A record; `None` if records are shown raw.
    ///
    /// # Errors
    /// When there is no such record.
    pub fn record(&self, record: usize) -> Result<Option<Prototype<'a>>> {
        match self.layout {
            Ok(layout) => Prototype::read(layout, self.record_span(record)?.0).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// The possible layouts of the records of a database, the likeliest first, and whether the schema checksum selects
/// them.
fn candidates<'l>(blob: &Blob<'_>, layouts: &'l Layouts) -> impl Iterator<Item = (Layout, bool)> + use<'l> {
    let (magic, checksum) = (blob.magic(), blob.checksum());
    [true, false].into_iter().flat_map(move |wanted| {
        let declared = layouts.of(magic, checksum).map(|(of, known)| (Layout::Declared(of), known));
        declared.chain(Layout::known(magic, checksum)).filter(move |(_, known)| *known == wanted)
    })
}

/// Records that are looked at to see how all are laid out.
const SAMPLES: usize = 32;

/// Counts the arrays of records inside and outside of the allowed range. Empty arrays are ignored: no reader follows
/// their pointer.
struct Arrays {
    inside: RangeInclusive<usize>,
    sound: u32,
    bad: u32,
}

impl<'a> Walker<'a> for Arrays {
    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        let start = list.view.position();
        let inside = self.inside.contains(&start) && self.inside.contains(&start.saturating_add(list.bytes()));
        match (list.len, inside) {
            (0, _) => {}
            (_, true) => self.sound = self.sound.saturating_add(1),
            (_, false) => self.bad = self.bad.saturating_add(1),
        }
        false
    }

    fn damage(&mut self, _: &'static str, _: Error) {
        self.bad = self.bad.saturating_add(1);
    }

    fn wanted(&self) -> Wanted {
        Wanted::Pointers
    }
}
