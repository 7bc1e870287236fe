//! Layouts of records as data, for builds of the game whose layouts are not built in.

use super::built_in::built_in_structs;
use super::record::{FieldInfo, Form, Type, TypeKind};
use crate::bytes::without_bom;
use crate::codec::murmur3;
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Layouts of record types, read from a text in the notation of `docs/formats`.
///
/// ```
/// use assetq::formats::wows::bwdb::Layouts;
/// let text = "
/// ## TrailPrototype, 20
///
/// table: trails
/// schema: 1234ABCD
///
/// | offset | type | field |
/// |---|---|---|
/// | 00 | path | texture |
/// | 08 | f32x3 | color: the rest of the cell is a remark |
/// | 14 | u32 | key_count |
/// | 18 | `[f32x2; key_count]` | keys |
/// ";
/// let layouts = Layouts::parse(text, "trails.md")?;
/// assert_eq!(layouts.get("TrailPrototype").unwrap().lines().nth(1), Some("00 path texture"));
/// # Ok::<(), assetq::Error>(())
/// ```
///
/// The text is Markdown. Only these parts count:
/// - A heading, or a line in bold, `Name, SIZE` begins a struct; the number of a section may precede it. Offsets and
///   sizes are hexadecimal.
/// - A table with the heads `offset`, `type` and `field` has a row for each field. Types are `u8`, `u16`, `i16`, `u32`,
///   `i32`, `u64`, `f32`, `f32x2`, `f32x3`, `f32x4`, `f32x16`, `flag`, `name`, `path`, `text`, a struct that is declared
///   earlier or built in, and `[T; n]`: a pointer to the number of `T` in the field `n`. A field without a name is called
///   by its offset. Bytes without a row are unused.
/// - `schema:` has the schema checksums of the records of this layout: it applies to these records only. Without it, a
///   layout applies if the records fit it.
/// - `table:` is the name of the table that shows the records, or the elements of an array of this struct in a record.
///   Structs with the name of a built-in struct need no table.
///
/// A struct is the layout of the records of a database whose magic is the MurmurHash3 of its name.
#[derive(Debug, Clone, Default)]
pub struct Layouts {
    declared: Vec<Declared>,
}

/// A struct of a text, and the records that it is the layout of.
#[derive(Debug, Clone)]
struct Declared {
    of: &'static Type,
    magic: u32,
    schemas: Vec<u32>,
}

/// Bytes of a text at most.
const MAX_TEXT: usize = 1 << 20;
/// Bytes of a struct at most.
pub(super) const MAX_SIZE: u32 = 1 << 16;
/// The greatest depth of structs in structs: walks recurse as deep.
const MAX_DEPTH: usize = 32;
/// The greatest depth of the built-in structs.
const BUILT_IN_DEPTH: usize = 12;

impl Layouts {
    /// Reads layouts from `text`. Errors call it `name`.
    ///
    /// # Errors
    /// `Damaged` with the line: for a malformed row, size or name, overlapping fields, counts that are not fields, or a text without
    /// any struct.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut parser = Parser::default();
        parser.run(text).map(|()| parser.layouts).map_err(|(line, what)| {
            let what = if line == 0 { what } else { format!("line {line}: {what}") };
            Error::of_part(ErrorKind::Damaged { what: what.into() }, name.to_owned())
        })
    }

    /// These layouts, with the layouts of `more` tried before them.
    #[must_use]
    pub fn extended(&self, more: Self) -> Self {
        let mut declared = more.declared;
        declared.extend(self.declared.iter().cloned());
        Self { declared }
    }

    /// The text of the struct `name`: its name and size, then its fields, a line each.
    pub fn get(&self, name: &str) -> Option<String> {
        self.declared.iter().find(|declared| declared.of.name == name).map(|declared| declared.of.to_string())
    }

    /// The built-in structs in the same form, by their names.
    pub fn built_in() -> impl Iterator<Item = (&'static str, String)> {
        built_in_structs().map(|of| (of.name, of.to_string()))
    }

    /// The layouts of records with this magic and schema checksum, and whether the checksum selects them.
    pub(super) fn of(&self, magic: u32, checksum: u32) -> impl Iterator<Item = (&'static Type, bool)> {
        let named = self.declared.iter().filter(move |declared| declared.magic == magic);
        let known = named.clone().filter(move |declared| declared.schemas.contains(&checksum));
        let any = named.filter(|declared| declared.schemas.is_empty());
        known.map(|declared| (declared.of, true)).chain(any.map(|declared| (declared.of, false)))
    }
}

/// A struct whose fields are being parsed.
struct Open {
    line: usize,
    name: String,
    size: usize,
    table: Option<String>,
    schemas: Vec<u32>,
    fields: Vec<FieldLine>,
}

impl Open {
    /// The field of a row, which follows these fields.
    fn field(&self, row: &FieldLine, before: &[FieldInfo]) -> Result<FieldInfo, Wrong> {
        let FieldLine { at, of, .. } = *row;
        let form = match &row.count {
            None => Form::Inline,
            Some(count) => {
                let found = self.fields.iter().position(|field| field.name == *count && field.is_count());
                let count = found
                    .ok_or_else(|| format!("{count} is no field with a count: a u8, u16, u32 or i32 of this struct"))?;
                Form::Array { count }
            }
        };
        let field = FieldInfo { name: leak(row.name.clone()), at, of, form, told_in: None };
        let end = at.saturating_add(field.size());
        if end > self.size {
            return Err(format!("{} ends at {end:X}, past the struct's {:X} bytes", row.name, self.size));
        }
        let mut others = before.iter().zip(&self.fields);
        let on = others.find(|(other, _)| at < other.at.saturating_add(other.size()) && other.at < end);
        if let Some((_, FieldLine { line, .. })) = on {
            return Err(format!("{} lies on the field of line {line}", row.name));
        }
        match before.iter().any(|other| other.name == row.name) {
            true => Err(format!("a second field {}", row.name)),
            false => Ok(field),
        }
    }
}

struct FieldLine {
    line: usize,
    at: usize,
    name: String,
    of: &'static Type,
    /// The field with the number of elements, for an array.
    count: Option<String>,
}

impl FieldLine {
    /// Whether it may be the number of elements of an array.
    fn is_count(&self) -> bool {
        let is_number = matches!(self.of.kind(), TypeKind::U8 | TypeKind::U16 | TypeKind::U32 | TypeKind::I32);
        is_number && self.count.is_none()
    }
}

#[derive(Default)]
struct Parser {
    layouts: Layouts,
    open: Option<Open>,
    /// The depth of each struct of the text.
    depths: HashMap<&'static str, usize>,
    in_code: bool,
    in_table: bool,
}

type Wrong = String;

impl Parser {
    fn run(&mut self, text: &str) -> Result<(), (usize, Wrong)> {
        if text.len() > MAX_TEXT {
            return Err((0, format!("more than {MAX_TEXT} bytes")));
        }
        for (number, line) in (1..).zip(without_bom(text).lines()) {
            self.line(number, line.trim()).map_err(|what| (number, what))?;
        }
        self.end()?;
        match self.layouts.declared.is_empty() {
            true => Err((0, "it has no layout: a heading `Name, SIZE` and a table of fields".into())),
            false => Ok(()),
        }
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), Wrong> {
        if line.starts_with("```") {
            (self.in_code, self.in_table) = (!self.in_code, false);
            return Ok(());
        }
        if self.in_code {
            return Ok(());
        }
        if line.starts_with('#') || line.starts_with("**") {
            self.end().map_err(|(line, what)| format!("in the struct of line {line}: {what}"))?;
            self.open = heading(line)?.map(|(name, size)| Open {
                line: number,
                name: name.to_owned(),
                size,
                table: None,
                schemas: Vec::new(),
                fields: Vec::new(),
            });
            return Ok(());
        }
        if let Some(row) = line.strip_prefix('|') {
            return self.row(number, row);
        }
        self.in_table = false;
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Some(table) = line.strip_prefix("table:") {
            let table = plain(table);
            open.table = Some(identifier(table).filter(|name| *name == table).ok_or("a table is one word")?.to_owned());
        } else if let Some(schemas) = line.strip_prefix("schema:") {
            for schema in schemas.split([',', ' ']).map(plain).filter(|schema| !schema.is_empty()) {
                open.schemas.push(hex(schema, u32::MAX)?);
            }
        }
        Ok(())
    }

    fn row(&mut self, number: usize, row: &str) -> Result<(), Wrong> {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(plain).collect();
        if cells == ["offset", "type", "field"] {
            self.in_table = true;
            return match self.open {
                Some(_) => Ok(()),
                None => Err("fields without a heading `Name, SIZE` above them".into()),
            };
        }
        let Some(open) = self.open.as_mut().filter(|_| self.in_table) else { return Ok(()) };
        let [at, of, rest] = cells.as_slice() else { return Err("a field has an offset, a type and a name".into()) };
        if !at.is_empty() && at.chars().all(|c| matches!(c, '-' | ':')) {
            return Ok(());
        }
        let at = hex(at, MAX_SIZE)? as usize;
        if *of == "-" {
            // Bytes that are named as unused.
            return Ok(());
        }
        let (element, count) = match of.strip_prefix('[') {
            Some(array) => {
                let array = array.strip_suffix(']').and_then(|array| array.split_once(';'));
                let (element, count) = array.ok_or("an array is written `[type; field with the count]`")?;
                (element.trim(), Some(count.trim().to_owned()))
            }
            None => (*of, None),
        };
        let above = self.layouts.declared.iter().rev().map(|declared| declared.of).find(|of| of.name == element);
        let known = above.or_else(|| Type::built_in(element));
        let of = known.ok_or_else(|| format!("{element:?} is no type: none that is built in, and no struct above"))?;
        let name = identifier(rest).map_or_else(|| format!("unknown_{at:02x}"), str::to_owned);
        open.fields.push(FieldLine { line: number, at, name, of, count });
        Ok(())
    }

    /// Ends the current struct.
    fn end(&mut self) -> Result<(), (usize, Wrong)> {
        self.in_table = false;
        let Some(open) = self.open.take().filter(|open| !open.fields.is_empty()) else { return Ok(()) };
        let built_in = Type::built_in(&open.name);
        let name: &'static str = leak(open.name.clone());
        let mut depth = 0usize;
        let mut fields: Vec<FieldInfo> = Vec::new();
        for row in &open.fields {
            fields.push(open.field(row, &fields).map_err(|what| (row.line, what))?);
            depth = depth.max(self.depths.get(row.of.name).map_or(BUILT_IN_DEPTH, |depth| *depth).saturating_add(1));
        }
        if depth > MAX_DEPTH {
            return Err((open.line, "structs in structs too deep".into()));
        }
        self.depths.insert(name, depth);
        let table = open.table.map(leak).or_else(|| built_in.and_then(|of| of.table));
        let of = Type::of_fields(name, open.size, table, Box::leak(fields.into_boxed_slice()));
        let of: &'static Type = Box::leak(Box::new(of.declared()));
        self.layouts.declared.push(Declared { of, magic: murmur3(name.as_bytes()), schemas: open.schemas });
        Ok(())
    }
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// A cell or a word without the marks of Markdown.
fn plain(text: &str) -> &str {
    text.trim().trim_matches('`').trim()
}

/// The name at the start of `text`, if only a remark follows it.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let remark = rest.is_empty() || rest.starts_with([' ', ',', ':', ';', '(', '*', '`']);
    (remark && name.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(name)
}

fn hex(text: &str, most: u32) -> Result<u32, Wrong> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let sign = digits.starts_with('+');
    let value = u32::from_str_radix(digits, 16).ok().filter(|value| !sign && *value <= most);
    value.ok_or_else(|| format!("{text:?} is no hexadecimal number up to {most:X}"))
}

/// The name and the size of the struct that a heading or a line in bold begins.
fn heading(line: &str) -> Result<Option<(&str, usize)>, Wrong> {
    let line = match line.strip_prefix("**") {
        Some(bold) => bold.split_once("**").map_or(bold, |(title, _)| title),
        None => line.trim_start_matches('#'),
    };
    let title = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let Some((name, size)) = title.split_once(',') else { return Ok(None) };
    let size = plain(size);
    let is_size = !size.is_empty() && size.chars().all(|c| c.is_ascii_hexdigit() || c == 'x');
    if identifier(name) != Some(name) || !is_size {
        return Ok(None);
    }
    match hex(size, MAX_SIZE)? {
        0 => Err("a struct of no bytes".into()),
        size => Ok(Some((name, size as usize))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Layouts::parse(text, "mine.md").unwrap_err().to_string()
    }

    const HEAD: &str = "| offset | type | field |\n|---|---|---|\n";

    #[test]
    fn structs_are_read_and_all_else_is_passed_over() {
        let text = format!(
            "# Records of my build\n\nProse, 12 words.\n\n## 2.1 Part, 0x0C\n\n{HEAD}| 00 | name | name |\n\
             | 04 | - | 4 bytes that nobody knows |\n| 08 | flag | *(open)* |\n\n**MyPrototype, 28**: what I found\n\n\
             schema: `1234ABCD`, 0x00000005\ntable: mine\n\n{HEAD}| 18 | `[Part; part_count]` | parts: some |\n\
             | 10 | u16 | part_count; the rest is padding |\n| 00 | `Skeleton2` | - |\n",
        );
        let error = wrong(&text);
        assert!(error.contains("line 22: \"Skeleton2\" is no type"), "{error}");
        let layouts =
            Layouts::parse(&text.replace("| 00 | `Skeleton2` | - |", "```\n| x |\n```\n| x | y |"), "").unwrap();
        assert_eq!(layouts.get("Part").unwrap(), "Part, C\n00 name name\n08 flag unknown_08\n");
        assert_eq!(
            layouts.get("MyPrototype").unwrap(),
            "MyPrototype, 28\n18 [Part; part_count] parts\n10 u16 part_count\n"
        );
        let magic = murmur3(b"MyPrototype");
        let of = |checksum| layouts.of(magic, checksum).map(|(of, known)| (of.table, known)).collect::<Vec<_>>();
        assert_eq!(of(0x1234_ABCD), [(Some("mine"), true)]);
        assert_eq!(of(5), [(Some("mine"), true)]);
        assert_eq!(of(6), []);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let one = |row: &str| format!("# A, 10\n{HEAD}| 00 | u8 | n |\n{row}\n");
        for (text, what) in [
            (HEAD.to_owned(), "line 1: fields without a heading"),
            (String::new(), "it has no layout"),
            ("# A, 10\n".into(), "it has no layout"),
            (one("| 0E | u32 | x |"), "line 5: x ends at 12, past the struct's 10 bytes"),
            (one("| 00 | flag | x |"), "line 5: x lies on the field of line 4"),
            (one("| 04 | u32 | n |"), "line 5: a second field n"),
            (one("| 08 | [u8; m] | x |"), "line 5: m is no field with a count"),
            (one("| 04 | f32 | m |\n| 08 | [u8; m] | x |"), "line 6: m is no field with a count"),
            (one("| 08 | [u8] | x |"), "line 5: an array is written"),
            (one("| 0G | u8 | x |"), "line 5: \"0G\" is no hexadecimal number"),
            (one("| 04 | u8 |"), "line 5: a field has an offset, a type and a name"),
            (one("| 04 | A | x |"), "line 5: \"A\" is no type"),
            ("# A, 0\n".into(), "line 1: a struct of no bytes"),
            ("# A, 10001\n".into(), "line 1: \"10001\" is no hexadecimal number up to 10000"),
            ("# A, 10\nschema: 12 xyz\n".into(), "line 2: \"xyz\" is no hexadecimal number"),
            ("# A, 10\ntable: a b\n".into(), "line 2: a table is one word"),
        ] {
            let error = wrong(&text);
            assert!(error.starts_with("mine.md: ") && error.contains(what), "{what}: {error}");
        }
        let nest = (1..=40).map(|i| format!("# A{i}, 10\n{HEAD}| 00 | A{} | a |\n", i - 1)).collect::<String>();
        let error = wrong(&format!("# A0, 8\n{HEAD}| 00 | u8 | a |\n{nest}"));
        assert!(error.contains("structs in structs too deep"), "{error}");
    }
}
