//! The price list of a toy shop: a header, the items, and their makers. The structs are declared once, with their columns; tables,
//! edits and checks follow from the declaration.

use assetq::formats::bytes::{Cursor, View, le};
use assetq::formats::reader::{Facet, Section, facets};
use assetq::formats::schema::{Field, Record};
use assetq::formats::writable::patches::Patches;
use assetq::formats::writable::{Pieces, TableEdits, Writable, cell, refused};
use assetq::formats::{FileFormat, Reader};
use assetq::table::{DeclaredTable, Table};
use assetq::{Options, Result, Source};
use std::mem::size_of;

assetq::formats::schema! {
    /// The magic `TOYS`, and the number of records of each array.
    pub struct Header: 12 {
        magic: [u8; 4],
        items: le::U32,
        makers: le::U32,
    }

    /// An item.
    pub struct Item: 0x1C {
        name: [u8; 16] as str => "name".brief().key().writable(),
        price: le::U32 => "price".brief().writable(),
        weight: le::F32 => "weight".brief().writable(),
        /// The id of its maker.
        maker: le::U32 => "maker".brief().reference().refers_to("makers").writable(),
    }

    /// A maker of items.
    pub struct Maker: 0x14 {
        id: le::U32 => "id".brief().key().unique().writable(),
        name: [u8; 16] as str => "name".brief().writable(),
    }
}

/// Records that follow one another, shown as a table.
#[derive(Debug)]
struct Array {
    name: &'static str,
    fields: &'static [Field],
    /// Bytes of a record.
    size: usize,
    start: usize,
    count: usize,
    /// The offset of the header's number of records.
    count_at: usize,
}

impl Array {
    /// The array of `T` at the cursor.
    fn read<T: Record>(name: &'static str, count: &le::U32, header: View<'_>, cursor: &mut Cursor<'_>) -> Result<Self> {
        let (size, start, count_at) = (size_of::<T>(), cursor.position(), header.locate(count).position());
        let held = usize::try_from(count.get()).ok().and_then(|count| Some((count, count.checked_mul(size)?)));
        match held {
            Some((count, bytes)) if cursor.skip(bytes).is_ok() => {
                Ok(Self { name, fields: T::FIELDS, size, start, count, count_at })
            }
            _ => Err(header.locate(count).bad_value(name, count.get())),
        }
    }
}

/// An open price list.
#[derive(Debug)]
pub struct Toy {
    source: Source,
    /// The items, then the makers.
    arrays: [Array; 2],
}

impl FileFormat for Toy {
    const NAME: &'static str = "toy";
    const ENDINGS: &'static [&'static str] = &[".toy"];
    const MAGIC: &'static [u8] = b"TOYS";

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        let view = source.view("header");
        Cursor::new(view).magic(Self::MAGIC)?;
        let mut cursor = Cursor::new(view);
        let header: &Header = cursor.read()?;
        let items = Array::read::<Item>("items", &header.items, view, &mut cursor)?;
        let makers = Array::read::<Maker>("makers", &header.makers, view, &mut cursor)?;
        cursor.expect_end()?;
        Ok(Self { source, arrays: [items, makers] })
    }
}

impl Toy {
    fn record(&self, array: &Array, row: usize) -> View<'_> {
        self.source.view(array.name).at(array.start).skip(row.saturating_mul(array.size))
    }

    fn table<'t>(&'t self, array: &'t Array) -> Box<dyn Table + 't> {
        let rows = move |row| Ok((row < array.count).then(|| self.record(array, row)));
        let table = DeclaredTable::new(array.name, || Ok(array.count), rows);
        Box::new(table.fields(array.fields, |record| Ok(*record)).random_access().with_writable_rows())
    }
}

impl Reader for Toy {
    fn source(&self) -> &Source {
        &self.source
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        self.arrays.iter().map(|array| self.table(array)).collect()
    }

    fn sections(&self) -> Vec<Section> {
        let header = Section::new("header", 0, size_of::<Header>() as u64, None);
        let arrays = self.arrays.iter().map(|array| {
            let size = array.count.saturating_mul(array.size) as u64;
            Section::new(array.name, array.start as u64, size, Some(array.count as u64))
        });
        std::iter::once(header).chain(arrays).collect()
    }
}

impl Writable for Toy {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let mut patches = Patches::default();
        let mut moved = Vec::new();
        for edits in edits {
            let array = self.arrays.iter().find(|array| array.name == edits.table);
            let array = array.ok_or_else(|| refused(format!("{}: rows of this table are not written", edits.table)))?;
            let table = self.table(array);
            patches.set(table.columns(), edits, |row| Ok(self.record(array, row)))?;
            let (mut count, mut last) = (array.count, Vec::new());
            for &row in &edits.remove {
                let record = self.record(array, row);
                moved.push((record.position()..record.skip(array.size).position(), Vec::new()));
                count = count.saturating_sub(1);
            }
            for cells in &edits.add {
                for (column, field) in array.fields.iter().enumerate() {
                    let bytes = cell(cells, column).and_then(|value| field.encode(value));
                    let missing = || refused(format!("{}: a new row needs a {}", array.name, field.name));
                    last.extend(bytes.ok_or_else(missing)?);
                }
                count = count.saturating_add(1);
            }
            let end = self.record(array, array.count).position();
            moved.push((end..end, last));
            let new = u32::try_from(count).map_err(|_| refused(format!("{}: {count} rows do not fit", array.name)))?;
            patches.write_at(array.count_at, &new.to_le_bytes())?;
        }
        let mut stretches: Vec<_> = patches.into_stretches().chain(moved).collect();
        stretches.sort_by_key(|(range, _)| (range.start, range.end));
        Pieces::replaced(self.source.bytes().len(), stretches)
    }
}
/// A file with these items (name, price, weight, maker), of the makers 1 and 2.
pub fn build(items: &[(&str, u32, f32, u32)]) -> Vec<u8> {
    let mut bytes =
        [&b"TOYS"[..], &u32::try_from(items.len()).unwrap_or(u32::MAX).to_le_bytes(), &2u32.to_le_bytes()].concat();
    for (name, price, weight, maker) in items {
        bytes.extend(padded(name));
        bytes.extend([price.to_le_bytes(), weight.to_le_bytes(), maker.to_le_bytes()].concat());
    }
    for (id, name) in [(1u32, "Woodworks"), (2, "Tin & Son")] {
        bytes.extend(id.to_le_bytes().into_iter().chain(padded(name)));
    }
    bytes
}

fn padded(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().chain([0; 16]).take(16)
}
