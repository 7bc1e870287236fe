//! The price list of a toy shop: `TOYS`, the number of items, and the items ([`Item`]).

use assetq::formats::bytes::{Cursor, le};
use assetq::formats::reader::{FileFormat, Reader};
use assetq::table::{Column, DeclaredTable, Table};
use assetq::{Options, Result, Source};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

const MAGIC: &[u8] = b"TOYS";
const HEADER: usize = 8;

/// An item in the file.
#[derive(Debug, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Item {
    /// Filled up with NULs.
    name: [u8; 16],
    price: le::U32,
    weight: le::F32,
}

/// An open price list.
#[derive(Debug)]
pub struct Toy {
    source: Source,
    count: usize,
}

impl Toy {
    /// A file with these items.
    pub fn build(items: &[(&str, u32, f32)]) -> Vec<u8> {
        let mut bytes = [MAGIC, &u32::try_from(items.len()).unwrap_or(u32::MAX).to_le_bytes()].concat();
        for (name, price, weight) in items {
            let name = name.bytes().chain([0; 16]).take(16);
            bytes.extend(name.chain(price.to_le_bytes()).chain(weight.to_le_bytes()));
        }
        bytes
    }
}

/// Detects and opens files.
impl FileFormat for Toy {
    const NAME: &'static str = "toy";
    const ENDINGS: &'static [&'static str] = &[".toy"];
    const MAGIC: &'static [u8] = MAGIC;

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        // A `Cursor` checks each read against the file, and its errors have the offset.
        let mut cursor = Cursor::new(source.view("header"));
        cursor.magic(MAGIC)?;
        // More items than the file can hold are an error here, before anything uses their number.
        let count = cursor.count("items", size_of::<Item>())?;
        cursor.array::<Item>(count)?;
        cursor.expect_end()?;
        Ok(Self { source, count })
    }
}

/// Answers what all commands ask. The other methods of the trait are optional.
impl Reader for Toy {
    fn source(&self) -> &Source {
        &self.source
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let view = self.source.view("items").at(HEADER);
        let items = DeclaredTable::over("items", view.array::<Item>(self.count).unwrap_or_default())
            .column(Column::text("name").brief().key(), move |(_, item)| {
                let name = item.name.split(|byte| *byte == 0).next().unwrap_or_default();
                Ok(view.locate(&item.name).utf8(name)?.into())
            })
            .column(Column::uint("price").brief(), |(_, item)| Ok(item.price.get().into()))
            .column(Column::f32("weight").brief(), |(_, item)| Ok(item.weight.get().into()));
        vec![Box::new(items)]
    }
}
