//! The price list of a toy shop: a header, the items, and their makers. All of it is one declaration; the commands follow.

use assetq::formats::bytes::le;
use assetq::formats::schema::{Array, DeclaredFile, FileSchema};

assetq::formats::schema! {
    /// The magic `TOYS`, and the number of records of each array.
    pub struct Header: 12 {
        magic: [u8; 4],
        items: le::U32 => "items",
        makers: le::U32 => "makers",
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

/// The format.
#[derive(Debug)]
pub struct Toys;

impl FileSchema for Toys {
    const NAME: &'static str = "toy";
    const ENDINGS: &'static [&'static str] = &[".toy"];
    const MAGIC: &'static [u8] = b"TOYS";
    const ARRAYS: &'static [Array] = &[Array::of::<Item>("items"), Array::of::<Maker>("makers")];
    type Header = Header;
}

/// An open price list.
pub type Toy = DeclaredFile<Toys>;

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
