//! The elements of a text model: XML without attributes, whose root element is named after the file.
//!
//! The root's name may begin with a digit and may contain blanks, so that no strict XML parser reads it.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    reason = "positions are of one file in memory, of at most 2^26 bytes, which the parser has read"
)]

use crate::bytes::View;
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;
use memchr::{memchr_iter, memmem};
use quick_xml::Reader;
use quick_xml::errors::SyntaxError;
use quick_xml::escape;
use quick_xml::events::Event;
use std::borrow::Cow;
use std::ops::Range;

/// The greatest depth of elements. Real skeletons have about 20 levels of nodes.
const MAX_DEPTH: usize = 256;

/// The largest file that is parsed. Real files have less than a megabyte.
const MAX_SIZE: usize = 1 << 26;

/// The first bytes of BigWorld's packed XML.
pub(crate) const PACKED_MAGIC: [u8; 4] = [0x45, 0x4E, 0xA1, 0x62];

/// A byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// An element, by positions in the file.
#[derive(Debug)]
struct Element {
    name: Range<u32>,
    /// The text before the first child, without blanks at both ends.
    text: Range<u32>,
    /// The number of the first element after this one's descendants.
    end: u32,
}

/// The elements of a file, each before its descendants.
#[derive(Debug)]
pub(crate) struct Document {
    elements: Vec<Element>,
    /// The number of line ends before each block of the file, so that a million errors do not count them a million times.
    lines: Vec<usize>,
}

/// The size of a block of [`Document::lines`].
const BLOCK: usize = 1 << 12;

fn line_ends(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// Refuses what is no text: BigWorld's packed XML.
pub(crate) fn check_head(source: &Source) -> Result<()> {
    if source.bytes().starts_with(&PACKED_MAGIC) {
        let what = "packed XML of BigWorld (its first bytes are 45 4E A1 62); only text is read";
        return Err(source.view("header").error(ErrorKind::Unsupported { what: what.into() }));
    }
    Ok(())
}

/// The bytes after a byte order mark, blanks and comments. A comment without an end is no comment.
fn after_comments(data: &[u8]) -> &[u8] {
    let mut rest = data.strip_prefix(MARK).unwrap_or(data).trim_ascii_start();
    while let Some(comment) = rest.strip_prefix(b"<!--")
        && let Some(end) = memmem::find(comment, b"-->")
    {
        rest = comment.get(end + 3..).expect("the end of a comment").trim_ascii_start();
    }
    rest
}

/// Whether `data`, the beginning of a file or all of it, may be a text model: it has tags, or comments alone, or is packed.
pub(crate) fn has_tags(data: &[u8]) -> bool {
    match after_comments(data) {
        [] => data.contains(&b'<'),
        rest => rest.starts_with(b"<") || data.starts_with(&PACKED_MAGIC),
    }
}

/// Whether `data` begins with a root element whose name ends in `ending`.
pub(crate) fn has_root(data: &[u8], ending: &str) -> bool {
    let rest = after_comments(data);
    let head = rest.get(..rest.len().min(512)).expect("a prefix");
    let tag = head.strip_prefix(b"<").and_then(|rest| rest.split(|&byte| byte == b'>').next());
    tag.is_some_and(|tag| tag.trim_ascii_end().to_ascii_lowercase().ends_with(ending.as_bytes()))
}

/// `what` is wrong at an offset: the line is what an editor shows.
fn damaged(view: View<'_>, at: usize, what: impl std::fmt::Display) -> Error {
    let before = view.data().get(..at).unwrap_or(view.data());
    damaged_in_line(line_ends(before) + 1, view, at, what)
}

fn damaged_in_line(line: usize, view: View<'_>, at: usize, what: impl std::fmt::Display) -> Error {
    view.at(at).error(ErrorKind::damaged(format!("line {line}: {what}")))
}

impl Document {
    /// Parses all of `source`.
    ///
    /// # Errors
    /// `Limit` for a file that is larger than any real one, and `Damaged`, with the line, if it is not UTF-8, is no XML, or has
    /// elements deeper than any real file.
    pub(crate) fn parse(source: &Source) -> Result<Self> {
        let view = source.view("text");
        if source.bytes().len() > MAX_SIZE {
            let (what, value) = ("bytes of a text model", source.bytes().len() as u64);
            return Err(view.error(ErrorKind::Limit { what, value, limit: MAX_SIZE as u64 }));
        }
        let text = std::str::from_utf8(source.bytes());
        let text = text.map_err(|error| damaged(view, error.valid_up_to(), "it is not UTF-8"))?;
        let skipped = if source.bytes().starts_with(MARK) { MARK.len() } else { 0 };
        let mut parser = Parser { view, elements: Vec::new(), open: Vec::new() };
        let mut reader = Reader::from_str(text.get(skipped..).expect("a mark is a character"));
        // The names of roots contain blanks, which quick-xml takes for the beginning of attributes.
        reader.config_mut().check_end_names = false;
        loop {
            let from = skipped + usize::try_from(reader.buffer_position()).expect("it is in memory");
            let event = reader.read_event();
            let to = skipped + usize::try_from(reader.buffer_position()).expect("it is in memory");
            match event {
                Ok(Event::Start(tag)) => parser.begin(from + 1..from + 1 + tag.len())?,
                Ok(Event::Empty(tag)) => {
                    parser.begin(from + 1..from + 1 + tag.len())?;
                    parser.end(from, from + 1..from + 1 + tag.len())?;
                }
                Ok(Event::End(tag)) => parser.end(from, from + 2..from + 2 + tag.len())?,
                Ok(Event::Text(_) | Event::GeneralRef(_)) => parser.text(from..to)?,
                Ok(Event::Comment(_) | Event::Decl(_)) => (),
                Ok(Event::CData(_) | Event::PI(_) | Event::DocType(_)) => {
                    return Err(damaged(view, from, "CDATA, instructions and document types are in no text model"));
                }
                Ok(Event::Eof) => break,
                Err(error) => {
                    let what = match &error {
                        quick_xml::Error::Syntax(SyntaxError::UnclosedTag) => "a tag has no >".to_owned(),
                        other => format!("it is no XML: {other}"),
                    };
                    let at = skipped + usize::try_from(reader.error_position()).expect("it is in memory");
                    return Err(damaged(view, at, what));
                }
            }
        }
        parser.finish()
    }

    pub(crate) fn root<'d>(&'d self, source: &'d Source) -> ElementRef<'d> {
        ElementRef { document: self, source, index: 0 }
    }

    /// The element `index`, as [`ElementRef::index`] returns it.
    pub(crate) fn node<'d>(&'d self, source: &'d Source, index: u32) -> ElementRef<'d> {
        ElementRef { document: self, source, index }
    }
}

struct Parser<'s> {
    view: View<'s>,
    elements: Vec<Element>,
    /// The elements that are not closed yet, by number.
    open: Vec<u32>,
}

fn short(range: &Range<usize>) -> Range<u32> {
    let [start, end] = [range.start, range.end].map(|at| u32::try_from(at).expect("a file has at most 2^26 bytes"));
    start..end
}

impl Parser<'_> {
    fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.view.data().get(range.clone()).expect("the parser reads within the file")
    }

    /// `range` without blanks at both ends.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let bytes = self.bytes(&range);
        let start = range.start + (bytes.len() - bytes.trim_ascii_start().len());
        start..start + bytes.trim_ascii().len()
    }

    fn begin(&mut self, name: Range<usize>) -> Result<()> {
        let name = self.trimmed(name);
        if self.open.is_empty() && !self.elements.is_empty() {
            return Err(damaged(self.view, name.start, "a second root element"));
        }
        if self.open.len() >= MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} elements in each other");
            return Err(damaged(self.view, name.start, what));
        }
        if self.bytes(&name).contains(&b'=') {
            return Err(damaged(self.view, name.start, "an attribute, which no text model has"));
        }
        let number = u32::try_from(self.elements.len()).expect("fewer elements than bytes");
        let text = short(&(name.end..name.end));
        self.elements.push(Element { name: short(&name), text, end: number + 1 });
        self.open.push(number);
        Ok(())
    }

    fn end(&mut self, at: usize, name: Range<usize>) -> Result<()> {
        let Some(number) = self.open.pop() else {
            return Err(damaged(self.view, at, "an end without a beginning"));
        };
        let count = u32::try_from(self.elements.len()).expect("fewer elements than bytes");
        let element = self.elements.get_mut(number as usize).expect("an open element exists");
        element.end = count;
        let expected = element.name.start as usize..element.name.end as usize;
        let name = self.trimmed(name);
        let (expected, found) = (self.bytes(&expected), self.bytes(&name));
        if expected != found {
            let [expected, found] = [expected, found].map(String::from_utf8_lossy);
            return Err(damaged(self.view, at, format!("{found:?} ends {expected:?}")));
        }
        Ok(())
    }

    fn text(&mut self, range: Range<usize>) -> Result<()> {
        let text = self.trimmed(range);
        if text.is_empty() {
            return Ok(());
        }
        let Some(&number) = self.open.last() else {
            return Err(damaged(self.view, text.start, "text outside of the root element"));
        };
        let is_last = number as usize + 1 == self.elements.len();
        let element = self.elements.get_mut(number as usize).expect("an open element exists");
        // Text, a reference such as `&amp;`, and more text are one.
        let joined = if element.text.is_empty() { text.start } else { element.text.start as usize };
        if !is_last {
            return Err(damaged(self.view, text.start, "text after an element"));
        }
        element.text = short(&(joined..text.end));
        Ok(())
    }

    fn finish(self) -> Result<Document> {
        if let Some(&number) = self.open.last() {
            let element = self.elements.get(number as usize).expect("an open element exists");
            let at = element.name.start as usize;
            let name = self.bytes(&(at..element.name.end as usize));
            return Err(damaged(self.view, at, format!("{:?} has no end", String::from_utf8_lossy(name))));
        }
        if self.elements.is_empty() {
            return Err(damaged(self.view, 0, "no element"));
        }
        let mut lines = vec![0];
        for block in self.view.data().chunks(BLOCK) {
            lines.push(lines.last().expect("the first number") + line_ends(block));
        }
        Ok(Document { elements: self.elements, lines })
    }
}

/// An element of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElementRef<'d> {
    document: &'d Document,
    source: &'d Source,
    index: u32,
}

impl<'d> ElementRef<'d> {
    fn element(self) -> &'d Element {
        self.document.elements.get(self.index as usize).expect("a node of this document")
    }

    fn slice(self, range: &Range<u32>) -> &'d str {
        let bytes = self.source.bytes().get(range.start as usize..range.end as usize);
        std::str::from_utf8(bytes.expect("a range of this file")).expect("the file was checked to be UTF-8")
    }

    pub(crate) fn index(self) -> u32 {
        self.index
    }

    /// The element `index` of the same document.
    pub(crate) fn sibling(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// The element's name.
    pub(crate) fn name(self) -> &'d str {
        self.slice(&self.element().name)
    }

    /// The text before the first child, without blanks at both ends.
    ///
    /// # Errors
    /// `Damaged` for an unknown entity.
    pub(crate) fn text(self) -> Result<Cow<'d, str>> {
        escape::unescape(self.slice(&self.element().text)).map_err(|error| self.error(error))
    }

    /// The range of the text, as in [`ElementRef::text`] but with entities, in the file.
    pub(crate) fn text_range(self) -> Range<usize> {
        let range = &self.element().text;
        range.start as usize..range.end as usize
    }

    /// The children, in order.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> {
        let mut next = self.index + 1;
        let end = self.element().end;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(Self { index: next, ..self })?;
            next = child.element().end;
            Some(child)
        })
    }

    /// The children called `name`.
    pub(crate) fn children_named(self, name: &'d str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The first child called `name`.
    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.children().find(|child| child.name() == name)
    }

    /// The text of the child `name`; `None` if it is absent or empty.
    pub(crate) fn text_of(self, name: &str) -> Result<Option<Cow<'d, str>>> {
        let text = self.child(name).map(Self::text).transpose()?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// The numbers in the element's text, at most `N`. Absent ones are as in `default`.
    ///
    /// # Errors
    /// `Damaged` for a text that is no finite number, or for more numbers.
    pub(crate) fn numbers<const N: usize>(self, default: [f32; N]) -> Result<[f32; N]> {
        let mut numbers = default;
        let text = self.text()?;
        let mut words = text.split_ascii_whitespace();
        for (number, word) in numbers.iter_mut().zip(&mut words) {
            *number = match word.parse::<f32>() {
                Ok(parsed) if parsed.is_finite() => parsed,
                _ => return Err(self.error(format!("{}: {word:?} is no finite number", self.name()))),
            };
        }
        match words.next() {
            Some(_) => Err(self.error(format!("{}: more than {N} numbers", self.name()))),
            None => Ok(numbers),
        }
    }

    /// The number in the element's text.
    pub(crate) fn number(self) -> Result<f32> {
        match self.text()?.is_empty() {
            true => Err(self.error(format!("{}: no number", self.name()))),
            false => self.numbers([0.0]).map(|[number]| number),
        }
    }

    /// The flag in the element's text.
    pub(crate) fn flag(self) -> Result<bool> {
        match &*self.text()? {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(self.error(format!("{}: {other:?} is neither true nor false", self.name()))),
        }
    }

    pub(crate) fn error(self, what: impl std::fmt::Display) -> Error {
        let (view, at) = (self.source.view("text"), self.element().name.start as usize);
        let block = at / BLOCK;
        let in_block = view.data().get(block * BLOCK..at).expect("a position in this file");
        let before = self.document.lines.get(block).expect("a block of this file");
        damaged_in_line(before + line_ends(in_block) + 1, view, at, what)
    }
}
