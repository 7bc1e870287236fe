//! Which format a file has, and the one thing that all readers offer: [`Reader`].

use crate::bytes::le;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::bwdb::layout::{MAGIC, MAGIC_IN_ORDER};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The formats that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// World of Warships prototype database, `assets.bin`.
    Bwdb,
    /// World of Warships merged models of a space, `models.bin`.
    Models,
    /// World of Warships instances of a space, `space.bin`.
    Space,
    /// World of Warships geometry, `.geometry`.
    Geometry,
    /// World of Warships hit-location boxes, `.splash`.
    Splash,
    /// VRage 3 archive, `.vrb`.
    Vrb,
    /// Rusty Hearts map, `.wdata`.
    Wdata,
    /// FINAL FANTASY XIII trilogy sheet, `.wdb`.
    Wdb,
    /// FINAL FANTASY XIII trilogy pack that holds no sheet.
    Wpd,
}

impl Format {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwdb => "bwdb",
            Self::Models => "models",
            Self::Space => "space",
            Self::Geometry => "geometry",
            Self::Splash => "splash",
            Self::Vrb => "vrb",
            Self::Wdata => "wdata",
            Self::Wdb => "wdb",
            Self::Wpd => "wpd",
        }
    }

    /// The format of `source`: by its magic where the format has one, else by whether its header makes sense. Where
    /// more than one could be meant, the file name decides.
    ///
    /// # Errors
    /// `UnknownFormat` with the first bytes.
    pub fn detect(source: &Source) -> Result<Self> {
        let data = source.bytes();
        let name = source.name().to_ascii_lowercase();
        if [MAGIC, MAGIC_IN_ORDER].iter().any(|magic| data.starts_with(magic)) {
            return Ok(Self::Bwdb);
        }
        if data.starts_with(b"VR3B") {
            return Ok(Self::Vrb);
        }
        if data.starts_with(b"WPD\0") {
            // A sheet's first entry is one of its sections, whose names begin with '!'.
            return Ok(if data.get(0x10) == Some(&b'!') { Self::Wdb } else { Self::Wpd });
        }
        if is_wdata(data) {
            return Ok(Self::Wdata);
        }
        // The others have no magic.
        let by_name = [
            (".geometry", Self::Geometry),
            (".splash", Self::Splash),
            ("models.bin", Self::Models),
            ("space.bin", Self::Space),
        ];
        if let Some((_, format)) = by_name.into_iter().find(|(ending, _)| name.ends_with(ending)) {
            return Ok(format);
        }
        if is_geometry(data) {
            Ok(Self::Geometry)
        } else if is_models(data) {
            Ok(Self::Models)
        } else if is_space(data) {
            Ok(Self::Space)
        } else if is_splash(data) {
            Ok(Self::Splash)
        } else {
            let head = data.get(..data.len().min(8)).unwrap_or_default().to_vec();
            Err(Error::new(ErrorKind::UnknownFormat { head }, "", 0))
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(le::U32::from_bytes(*data.get(at..)?.first_chunk()?).get())
}

/// A counted UTF-16 "stairwaygames.", with or without its NUL.
fn is_wdata(data: &[u8]) -> bool {
    let signature = "stairwaygames.".encode_utf16().flat_map(u16::to_le_bytes);
    matches!(data.first_chunk(), Some([14 | 15, 0])) && data.iter().skip(2).take(28).copied().eq(signature)
}

/// Six counts and six pointers, of which the first one that is not null leads right behind the header.
fn is_geometry(data: &[u8]) -> bool {
    let pointers = (0..6usize).map(|i| u32_at(data, 0x18usize.saturating_add(i.saturating_mul(8))));
    data.len() >= 0x48 && matches!(pointers.flatten().find(|&p| p != 0), None | Some(0x48))
}

/// A count of models that lie right behind the header, or none.
fn is_models(data: &[u8]) -> bool {
    let pointer = u32_at(data, 0x08).zip(u32_at(data, 0x0C));
    data.len() >= 0x18 && pointer == if u32_at(data, 0) == Some(0) { Some((0, 0)) } else { Some((0x18, 0)) }
}

/// A header of 0x60 bytes whose instances lie right behind it.
fn is_space(data: &[u8]) -> bool {
    data.len() >= 0x60
        && u32_at(data, 0).is_some_and(|count| count as usize <= data.len() / 0x70)
        && [0x30, 0x40].iter().any(|&at| u32_at(data, at) == Some(0x60))
}

/// A count, and a name of a sane length behind it.
fn is_splash(data: &[u8]) -> bool {
    let (count, length) = (u32_at(data, 0), u32_at(data, 4));
    match (count, length) {
        (Some(0), None) => data.len() == 4,
        (Some(1..=65_536), Some(length @ 1..=255)) => {
            data.iter().skip(8).take(length as usize).all(|b| b.is_ascii_graphic() || *b == b' ')
        }
        _ => false,
    }
}

/// A named stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Absolute file offset.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// Entries in it, where it has entries.
    pub count: Option<u64>,
}

impl Section {
    /// A section of `size` bytes at `offset`.
    pub fn new(name: impl Into<Cow<'static, str>>, offset: u64, size: u64, count: Option<u64>) -> Self {
        Self { name: name.into(), offset, size, count }
    }
}

/// What every format offers to every command: a new format implements this and is done.
pub trait Reader: Send + Sync {
    /// The version that the file states, as people write it; empty where the format has none.
    fn version(&self) -> String;

    /// The stretches of the file, in file order.
    fn sections(&self) -> Vec<Section>;

    /// Its tables; the first one is the main table.
    fn tables(&self) -> Vec<Box<dyn Table + '_>>;

    /// The table called `name`.
    fn table(&self, name: &str) -> Option<Box<dyn Table + '_>> {
        self.tables().into_iter().find(|t| t.name() == name)
    }

    /// What `info` shows besides sections and tables.
    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        Vec::new()
    }

    /// Shows one entry whole, with its references resolved. `false` when there is no such entry; nothing has been
    /// shown then.
    ///
    /// # Errors
    /// When the entry is damaged (what could be read has been shown), or `out` fails.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool>;

    /// The decoded bytes of an entry that is stored as a stretch of bytes, before anything is made of them; also of
    /// one whose meaning cannot be read. `None` when there is no such entry.
    ///
    /// # Errors
    /// When the bytes cannot be decoded.
    fn raw(&self, entry: &str) -> Result<Option<&[u8]>> {
        let _ = entry;
        Ok(None)
    }

    /// What reading has noticed so far and gone on from: a checksum that does not match, for one.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks everything that can be checked, and lists what is wrong rather than stop at the first finding.
    fn verify(&self, progress: &Progress) -> Report;
}

/// What people may say besides the name of a file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Field names for sheets that carry none, instead of the built-in ones.
    pub fields: Option<Arc<crate::formats::wdb::KnownFields>>,
    /// Whether a warning ([`Reader::warnings`]) is an error, in formats that check what they read.
    pub strict: bool,
}

/// An open file of any format.
#[derive(Debug)]
#[non_exhaustive]
pub enum Asset {
    /// A prototype database.
    Bwdb(Box<crate::formats::bwdb::Database>),
    /// The merged models of a space.
    Models(Box<crate::formats::bwdb::Models>),
    /// The instances of a space.
    Space(Box<crate::formats::bwdb::Space>),
    /// Geometry.
    Geometry(Box<crate::formats::geometry::Geometry>),
    /// Hit-location boxes.
    Splash(Box<crate::formats::geometry::Splash>),
    /// A sheet.
    Wdb(Box<crate::formats::wdb::Sheet>),
    /// A pack.
    Wpd(Box<crate::formats::wdb::Pack>),
    /// A Rusty Hearts map.
    Wdata(Box<crate::formats::wdata::Map>),
    /// An archive.
    Vrb(Box<crate::formats::vrb::Archive>),
}

impl Asset {
    /// Opens `source` as whatever it is. Reads headers only.
    ///
    /// # Errors
    /// `UnknownFormat`, `Unsupported` for a format that this build does not read, and whatever is wrong with the
    /// headers.
    pub fn open(source: Source) -> Result<Self> {
        Self::open_with(source, &Options::default())
    }

    /// As [`Asset::open`], with more than the file to go by.
    ///
    /// # Errors
    /// As [`Asset::open`].
    pub fn open_with(source: Source, options: &Options) -> Result<Self> {
        let fields = || options.fields.clone().unwrap_or_else(crate::formats::wdb::KnownFields::builtin);
        match Format::detect(&source)? {
            Format::Bwdb => crate::formats::bwdb::Database::open(source).map(|v| Self::Bwdb(Box::new(v))),
            Format::Models => crate::formats::bwdb::Models::open(source).map(|v| Self::Models(Box::new(v))),
            Format::Space => crate::formats::bwdb::Space::open(source).map(|v| Self::Space(Box::new(v))),
            Format::Geometry => crate::formats::geometry::Geometry::open(source).map(|v| Self::Geometry(Box::new(v))),
            Format::Splash => crate::formats::geometry::Splash::open(source).map(|v| Self::Splash(Box::new(v))),
            Format::Wdb => crate::formats::wdb::Sheet::open_with(source, &fields()).map(|v| Self::Wdb(Box::new(v))),
            Format::Wpd => crate::formats::wdb::Pack::open_with(source, fields()).map(|v| Self::Wpd(Box::new(v))),
            Format::Wdata => crate::formats::wdata::Map::open(source).map(|v| Self::Wdata(Box::new(v))),
            Format::Vrb => {
                let options = crate::formats::vrb::Options { strict: options.strict, ..Default::default() };
                crate::formats::vrb::Archive::open_with(source, options).map(|v| Self::Vrb(Box::new(v)))
            }
        }
    }

    /// Its format.
    pub fn format(&self) -> Format {
        match self {
            Self::Bwdb(_) => Format::Bwdb,
            Self::Models(_) => Format::Models,
            Self::Space(_) => Format::Space,
            Self::Geometry(_) => Format::Geometry,
            Self::Splash(_) => Format::Splash,
            Self::Wdb(_) => Format::Wdb,
            Self::Wpd(_) => Format::Wpd,
            Self::Wdata(_) => Format::Wdata,
            Self::Vrb(_) => Format::Vrb,
        }
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        match self {
            Self::Bwdb(v) => v.source(),
            Self::Models(v) => v.source(),
            Self::Space(v) => v.source(),
            Self::Geometry(v) => v.source(),
            Self::Splash(v) => v.source(),
            Self::Wdb(v) => v.source(),
            Self::Wpd(v) => v.source(),
            Self::Wdata(v) => v.source(),
            Self::Vrb(v) => v.source(),
        }
    }

    /// What it offers to every command.
    pub fn reader(&self) -> &dyn Reader {
        match self {
            Self::Bwdb(v) => &**v,
            Self::Models(v) => &**v,
            Self::Space(v) => &**v,
            Self::Geometry(v) => &**v,
            Self::Splash(v) => &**v,
            Self::Wdb(v) => &**v,
            Self::Wpd(v) => &**v,
            Self::Wdata(v) => &**v,
            Self::Vrb(v) => &**v,
        }
    }
}

/// An id argument: `0x` and hex digits, 16 hex digits, or a decimal number. `None` for anything else, such as a path.
pub fn parse_id(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'));
    }
    if text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return u64::from_str_radix(text, 16).ok();
    }
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
