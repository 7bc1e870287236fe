//! The price list of a toy shop. Numbers are little-endian:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0x00 | 4 | `TOYS` |
//! | 0x04 | 4 | how many items there are |
//! | 0x08 | 24 each | the items: a name of 16 bytes, filled up with NULs; the price, an integer; the weight, a float |

use assetq::Options;
use assetq::bytes::{Cursor, View};
use assetq::reader::{FileFormat, Likeness, Reader, Section};
use assetq::report::{Check, Progress, Report};
use assetq::table::{Column, DeclaredTable, Kind, Table, Visitor};
use assetq::{ErrorKind, Result, Source};

const MAGIC: [u8; 4] = *b"TOYS";
const HEADER: usize = 8;
/// An item as it lies in the file.
type Stored = [u8; 24];

/// An open price list.
#[derive(Debug)]
pub struct Toy {
    source: Source,
    count: usize,
}

/// Where an item lies. Each of its fields is read when it is asked for, so that a damaged one leaves the others readable.
#[derive(Debug)]
struct Item<'a>(View<'a>);

impl<'a> Item<'a> {
    fn name(&self) -> Result<&'a str> {
        let name = self.0.take(16)?;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        self.0.utf8(name.get(..end).unwrap_or(name))
    }

    fn price(&self) -> Result<u32> {
        Cursor::new(self.0.skip(16)).u32()
    }

    fn weight(&self) -> Result<f32> {
        Cursor::new(self.0.skip(20)).f32()
    }
}

impl Toy {
    /// Every read goes through [`View`] or [`Cursor`], which check it against the file, and know the offset for errors.
    fn header(source: &Source) -> Result<usize> {
        let mut cursor = Cursor::new(source.view("header"));
        let here = cursor.view();
        if cursor.take(MAGIC.len())? != MAGIC {
            return Err(here.error(ErrorKind::Damaged { what: "it does not begin with TOYS".into() }));
        }
        // A count of more items than the file can hold ends here, before anything believes it.
        cursor.count("items", size_of::<Stored>())
    }

    fn items(&self) -> View<'_> {
        self.source.view("items").at(HEADER)
    }

    /// The item of this number, or `None` after the last one, in constant time.
    fn item(&self, number: usize) -> Result<Option<Item<'_>>> {
        let stored: &[Stored] = self.items().array(self.count)?;
        Ok(stored.get(number).map(|item| Item(self.items().locate(item))))
    }

    /// A file with these items: for tests, and for those who have no file at hand.
    pub fn build(items: &[(&str, u32, f32)]) -> Vec<u8> {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let mut bytes = [MAGIC, count.to_le_bytes()].concat();
        for (name, price, weight) in items {
            let name = name.bytes().chain([0; 16]).take(16);
            bytes.extend(name.chain(price.to_le_bytes()).chain(weight.to_le_bytes()));
        }
        bytes
    }
}

/// Detects the format and opens its files.
impl FileFormat for Toy {
    const NAME: &'static str = "toy";
    const ENDINGS: &'static [&'static str] = &[".toy"];

    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_magic(data.starts_with(&MAGIC))
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        let count = Self::header(&source)?;
        Ok(Self { source, count })
    }
}

/// The questions that every command asks of a file.
impl Reader for Toy {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        String::new()
    }

    fn sections(&self) -> Vec<Section> {
        let at = |part, at| self.source.view(part).at(at).offset();
        let items = self.count.saturating_mul(size_of::<Stored>());
        vec![
            Section::new("header", at("header", 0), HEADER as u64, None),
            Section::new("items", at("items", HEADER), items as u64, Some(self.count as u64)),
        ]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let items = DeclaredTable::new("items", || Ok(self.count), |row| self.item(row))
            .column(Column::new("name", Kind::Text).brief().key(), |item| Ok(item.name()?.into()))
            .column(Column::new("price", Kind::Uint).brief(), |item| Ok(item.price()?.into()))
            .column(Column::new("weight", Kind::F32).brief(), |item| Ok(item.weight()?.into()))
            .random_access();
        vec![Box::new(items)]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        for number in 0..self.count {
            let Some(item) = self.item(number)? else { break };
            if item.name().is_ok_and(|name| name == entry) {
                out.begin_map()?;
                out.field("name", &entry.into())?;
                out.field("price", &item.price()?.into())?;
                out.field("weight", &item.weight()?.into())?;
                out.end_map()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn verify(&self, progress: &Progress) -> Report {
        progress.announce(self.count as u64);
        let mut items = Check::new("items").with_detail(format!("{} items", self.count));
        for number in 0..self.count {
            let name = self.item(number).and_then(|item| item.map(|item| item.name()).transpose());
            items.note(name.map_err(|error| error.context(format_args!("item {number}"))));
            progress.advance(1);
        }
        let mut end = Check::new("end").with_detail("nothing after the items");
        let behind = self.count.saturating_mul(size_of::<Stored>());
        end.note(Cursor::new(self.items().skip(behind).part("end")).expect_end());
        vec![items, end].into()
    }
}
