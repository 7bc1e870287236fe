//! Formats of a header and arrays of records, by declaration alone.

use super::{Field, Record};
use crate::bytes::{Cursor, View};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::relations::Relations;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table, Value};
use crate::writable::patches::{Patches, new_record};
use crate::writable::{Pieces, TableEdits, Writable, refused};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// The declaration of a format: a magic, a header, and arrays of records that follow one another.
pub trait FileSchema: fmt::Debug + Send + Sync + 'static {
    /// The name that outputs use.
    const NAME: &'static str;
    /// Endings of file names, in lower case.
    const ENDINGS: &'static [&'static str];
    /// The first bytes of the header.
    const MAGIC: &'static [u8];
    /// The arrays after the header, in the order of the file; the first one is the main table.
    const ARRAYS: &'static [Array];
    /// The header. For each array it has a column with the array's name, which counts the records.
    type Header: Record;
}

/// An array of records, shown as a table.
#[derive(Debug)]
pub struct Array {
    /// The name of the table, and of the header's column with the count.
    pub name: &'static str,
    size: usize,
    fields: &'static [Field],
}

impl Array {
    /// The array `name` of records of type `T`.
    pub const fn of<T: Record>(name: &'static str) -> Self {
        Self { name, size: size_of::<T>(), fields: T::FIELDS }
    }

    fn columns(&self) -> Vec<Column> {
        self.fields.iter().map(Field::column).collect()
    }

    /// The position of a record; not checked, reads are.
    fn record<'a>(&self, start: View<'a>, row: usize) -> View<'a> {
        start.skip(row.saturating_mul(self.size))
    }
}

/// An open file of the format that `F` declares.
#[derive(Debug)]
pub struct DeclaredFile<F> {
    source: Source,
    /// The range of each array, and the number of its records.
    ranges: Vec<(Range<usize>, usize)>,
    schema: PhantomData<F>,
}

impl<F: FileSchema> DeclaredFile<F> {
    /// The header's field that counts the records of `array`.
    fn count_of(array: &Array) -> Result<&'static Field> {
        F::Header::FIELDS.iter().find(|field| field.column().name == array.name).ok_or_else(|| Self::no_count(array))
    }

    #[cold]
    fn no_count(array: &Array) -> Error {
        Error::of_part(ErrorKind::NotFound { what: format!("no field of the header counts {}", array.name) }, F::NAME)
    }

    fn arrays(&self) -> impl Iterator<Item = (&'static Array, View<'_>, usize)> {
        let arrays = F::ARRAYS.iter().zip(&self.ranges);
        arrays.map(|(array, (range, count))| (array, self.source.view(array.name).at(range.start), *count))
    }

    fn array_table<'a>(array: &'static Array, start: View<'a>, count: usize) -> Box<dyn Table + 'a> {
        let table = DeclaredTable::new(
            array.name,
            move || Ok(count),
            move |row| Ok((row < count).then(|| array.record(start, row))),
        );
        Box::new(table.fields(array.fields, |record| Ok(*record)).random_access().with_writable_rows())
    }
}

impl<F: FileSchema> FileFormat for DeclaredFile<F> {
    const NAME: &'static str = F::NAME;
    const ENDINGS: &'static [&'static str] = F::ENDINGS;
    const MAGIC: &'static [u8] = F::MAGIC;

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        let view = source.view("header");
        Cursor::new(view).magic(F::MAGIC)?;
        let mut cursor = Cursor::new(view);
        cursor.read::<F::Header>()?;
        let mut ranges = Vec::with_capacity(F::ARRAYS.len());
        for array in F::ARRAYS {
            let (field, start) = (Self::count_of(array)?, cursor.position());
            let Value::Uint(count) = field.value(view)? else { return Err(Self::no_count(array)) };
            let held = usize::try_from(count).ok();
            let held = held.filter(|count| count.checked_mul(array.size).is_some_and(|size| cursor.skip(size).is_ok()));
            let Some(held) = held else { return Err(view.skip(field.offset).bad_value(array.name, count)) };
            ranges.push((start..cursor.position(), held));
        }
        cursor.expect_end()?;
        Ok(Self { source, ranges, schema: PhantomData })
    }
}

impl<F: FileSchema> Reader for DeclaredFile<F> {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Relations, Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        self.arrays().map(|(array, start, count)| Self::array_table(array, start, count)).collect()
    }

    fn sections(&self) -> Vec<Section> {
        let header = Section::new("header", self.source.view("").offset(), size_of::<F::Header>() as u64, None);
        let arrays = self.arrays().zip(&self.ranges).map(|((array, start, count), (range, _))| {
            Section::new(array.name, start.offset(), range.len() as u64, Some(count as u64))
        });
        std::iter::once(header).chain(arrays).collect()
    }
}

impl<F: FileSchema> Writable for DeclaredFile<F> {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut patches = Patches::default();
        let mut moved = Vec::new();
        for edits in edits {
            let found = self.arrays().zip(&self.ranges).find(|((array, ..), _)| array.name == edits.table);
            let Some(((array, start, count), (range, _))) = found else {
                return Err(refused(format!("{}: rows of this table are not written", edits.table)));
            };
            let columns = array.columns();
            patches.set(&columns, edits, |row| Ok(array.record(start, row)))?;
            for row in &edits.remove {
                let record = array.record(start, *row);
                moved.push((record.position()..record.skip(array.size).position(), Vec::new()));
            }
            let mut last = Vec::new();
            for cells in &edits.add {
                last.extend(new_record(&columns, array.size, cells, edits)?);
            }
            moved.push((range.end..range.end, last));
            #[expect(clippy::arithmetic_side_effects, reason = "the deleted rows are some of the counted ones")]
            let count = count - edits.remove.len() + edits.add.len();
            let field = Self::count_of(array)?;
            let bytes = field.encode(&count.into());
            let bytes =
                bytes.ok_or_else(|| refused(format!("{}: the header cannot count {count} rows", array.name)))?;
            patches.write_at(field.offset, &bytes)?;
        }
        let mut stretches: Vec<_> = patches.into_stretches().chain(moved).collect();
        stretches.sort_by_key(|(range, _)| (range.start, range.end));
        Pieces::replaced(self.source.bytes().len(), stretches)
    }
}
