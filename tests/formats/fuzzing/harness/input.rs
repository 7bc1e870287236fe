//! Files made of any bytes: one that a builder writes, and lies about some of its fields; or the bytes as they are.

use super::models::{self, Family};
use arbitrary::{Arbitrary, Unstructured};
use assetq::{Asset, Options, Source};

/// A file to be read.
#[derive(Debug, Clone)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
    pub options: Options,
    /// Whether a builder wrote it and nothing was changed.
    pub is_valid: bool,
}

impl File {
    pub fn open(&self) -> assetq::Result<Asset> {
        Asset::open_with(Source::from_vec(&self.name, self.bytes.clone()), &self.options)
    }
}

/// A value; its default where no bytes are left.
pub fn any<'a, T: Arbitrary<'a> + Default>(u: &mut Unstructured<'a>) -> T {
    u.arbitrary().unwrap_or_default()
}

/// A number below `end`, which is at least 1.
pub fn below(u: &mut Unstructured<'_>, end: usize) -> usize {
    u.int_in_range(0..=end.max(1) - 1).unwrap_or_default()
}

/// One of `items`.
pub fn one_of<'i, T>(u: &mut Unstructured<'_>, items: &'i [T]) -> &'i T {
    &items[below(u, items.len())]
}

/// Tables of a file that are asked in one run: a prototype database has 60 of them, and each has its turn.
const TABLES: usize = 6;

/// The numbers of the tables whose turn it is.
pub fn turn(u: &mut Unstructured<'_>, count: usize) -> impl Fn(&usize) -> bool + use<> {
    let first = below(u, count);
    move |table| (table + count - first) % count.max(1) < TABLES
}

/// The bytes that are left, as text.
pub fn rest_as_text(u: &mut Unstructured<'_>) -> String {
    let rest = u.bytes(u.len()).unwrap_or_default();
    String::from_utf8_lossy(rest).into_owned()
}

/// In place of the number of a model: the bytes themselves are the file.
pub const RAW: u8 = 0xFF;

/// A file of `family`, or of any family for `None`.
pub fn file(u: &mut Unstructured<'_>, family: Option<Family>) -> File {
    let chosen: u8 = any(u);
    let models: Vec<_> = models::all().iter().filter(|model| family.is_none_or(|of| of == model.family)).collect();
    if chosen == RAW {
        let name = one_of(u, &models).name.to_owned();
        let bytes = u.bytes(u.len()).unwrap_or_default().to_vec();
        return File { name, bytes, options: Options::default(), is_valid: false };
    }
    let parts = models::parts(family);
    let chosen = usize::from(chosen) % (models.len() + parts.len());
    match models.get(chosen) {
        Some(model) => {
            let mut bytes = model.bytes.clone();
            let lies = lie(u, &mut bytes, &model.fields);
            if lies > 0 && any::<u8>(u) & 1 == 0 {
                model.seal(&mut bytes);
            }
            File {
                name: model.name.to_owned(),
                bytes,
                options: Options::default(),
                is_valid: lies == 0 && model.is_valid,
            }
        }
        None => parts[chosen - models.len()](u),
    }
}

/// A place in a file where a small number stands, as counts, sizes, offsets and pointers are.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub at: usize,
    pub width: usize,
}

/// The most fields of a file that are kept: those at its beginning, where headers are.
const MOST_FIELDS: usize = 4096;

/// The places in `bytes` that look like counts, sizes, offsets and pointers.
pub fn fields(bytes: &[u8]) -> Vec<Field> {
    let len = bytes.len() as u64;
    let mut fields = Vec::new();
    let mut at = 0;
    while at + 4 <= bytes.len() && fields.len() < MOST_FIELDS {
        let narrow = u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
        let wide = bytes.get(at..at + 8).map(|b| i64::from_le_bytes(b.try_into().unwrap()));
        if wide.is_some_and(|wide| wide != 0 && wide.unsigned_abs() <= len) {
            fields.push(Field { at, width: 8 });
        }
        if (1..=len).contains(&narrow) {
            fields.push(Field { at, width: 4 });
        }
        // Headers may be packed. After them, interesting fields are aligned, or found by chance.
        at += if at < 256 { 1 } else { 4 };
    }
    fields
}

/// Overwrites, cuts and moves some of `bytes`; gives the number of changes.
pub fn lie(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>, fields: &[Field]) -> usize {
    let count = usize::from(any::<u8>(u) % 8);
    for _ in 0..count {
        let len = bytes.len();
        if len == 0 {
            break;
        }
        match any::<u8>(u) % 16 {
            0..=9 if !fields.is_empty() => {
                let field = *one_of(u, fields);
                overwrite(u, bytes, field, fields);
            }
            0..=12 => {
                let field = Field { at: below(u, len), width: *one_of(u, &[1, 2, 4, 8]) };
                overwrite(u, bytes, field, fields);
            }
            13 => bytes.truncate(below(u, len)),
            14 => {
                let (from, to, size) = (below(u, len), below(u, len), below(u, 256));
                let size = size.min(len - from.max(to));
                bytes.copy_within(from..from + size, to);
            }
            _ => {
                let (at, size) = (below(u, len), below(u, 64));
                if any::<u8>(u) & 1 == 0 {
                    let end = (at + size).min(len);
                    bytes.drain(at..end);
                } else {
                    bytes.splice(at..at, std::iter::repeat_n(0, size));
                }
            }
        }
    }
    count
}

fn overwrite(u: &mut Unstructured<'_>, bytes: &mut [u8], field: Field, fields: &[Field]) {
    let Field { at, width } = field;
    if at + width > bytes.len() {
        return;
    }
    let read = |field: Field| {
        let mut value = [0; 8];
        let end = (field.at + field.width).min(bytes.len());
        let stretch = bytes.get(field.at..end).unwrap_or_default();
        value[..stretch.len()].copy_from_slice(stretch);
        u64::from_le_bytes(value)
    };
    let (own, len) = (read(field), bytes.len() as u64);
    let signed_max = u64::MAX >> (65 - 8 * width.min(8));
    let value = match any::<u8>(u) % 20 {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => signed_max,
        4 => signed_max + 1,
        5 => len,
        6 => len - 1,
        7 => len + 1,
        8 => own.wrapping_add(1),
        9 => own.wrapping_sub(1),
        10 => own.wrapping_mul(2),
        11 => own.wrapping_neg(),
        12 if !fields.is_empty() => read(*one_of(u, fields)),
        13 => at as u64,
        14 => (at as u64).wrapping_neg(),
        15 => len - at as u64,
        16 => own.wrapping_add_signed(i64::from(any::<i8>(u))),
        17 => u64::from(any::<u8>(u)),
        18 => u64::from(any::<u16>(u)),
        _ => any(u),
    };
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Removes, replaces, repeats and cuts tags and values of XML; gives the number of changes.
pub fn text_of_tags(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> usize {
    const TEXTS: [&str; 10] =
        ["", "nan", "1 2 3 4 5", "&amp;", "&x;", "<node>", "</node>", "<material/>", "<renderSet>\t", "<![CDATA["];
    let lies = usize::from(any::<u8>(u) % 8);
    for _ in 0..lies {
        let tags: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'<').collect();
        let Some(&start) = tags.get(below(u, tags.len())) else { break };
        let end = bytes[start..].iter().position(|&byte| byte == b'>').map_or(bytes.len(), |len| start + len + 1);
        let next = bytes[end..].iter().position(|&byte| byte == b'<').map_or(bytes.len(), |len| end + len);
        let text = one_of(u, &TEXTS).repeat(1 + usize::from(any::<u8>(u) % 4) * 100);
        match any::<u8>(u) % 5 {
            0 => drop(bytes.drain(start..end)),
            1 => drop(bytes.splice(end..next, text.bytes())),
            2 => drop(bytes.splice(start..start, text.bytes())),
            3 => {
                let (from, to) = (*one_of(u, &tags), *one_of(u, &tags));
                let stretch = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(start..start, stretch);
            }
            _ => bytes.truncate(end),
        }
    }
    lies
}
