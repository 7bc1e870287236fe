//! Text for people: entries as an indented outline, rows in aligned columns.
//!
//! All of it leaves through a [`Page`], which cleans it: names and texts are the file's to choose.

pub use crate::clean::clean;

use crate::error::{Error, Result};
use crate::table::{Value, Visitor};
use std::fmt::Write as _;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

fn io(error: std::io::Error) -> Error {
    Error::io("cannot write", error)
}

/// Lines for people. Text that is put into a line is [cleaned](clean), so that only the page itself breaks lines and
/// makes text bold or coloured.
#[derive(Debug)]
pub struct Page<W> {
    out: W,
    style: Style,
}

/// Whether a page is bold and coloured anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// As it is meant, for terminals.
    Bold,
    /// Plain text.
    Plain,
}

/// How a stretch of a line stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// Bold.
    Bold = 1,
    /// Red.
    Red = 31,
    /// Green.
    Green = 32,
    /// Yellow.
    Yellow = 33,
}

impl<W: Write> Page<W> {
    /// A page written to `out`.
    pub fn new(out: W, style: Style) -> Self {
        Self { out, style }
    }

    /// Adds `text` to the line.
    pub fn put(&mut self, text: &str) -> Result<()> {
        self.out.write_all(clean(text).as_bytes()).map_err(io)
    }

    /// Adds `text` to the line, so that it stands out.
    pub fn put_marked(&mut self, text: &str, mark: Mark) -> Result<()> {
        match self.style {
            Style::Bold => write!(self.out, "\x1b[{}m{}\x1b[0m", mark as u8, clean(text)).map_err(io),
            Style::Plain => self.put(text),
        }
    }

    /// Ends the line.
    pub fn end_line(&mut self) -> Result<()> {
        self.out.write_all(b"\n").map_err(io)
    }

    /// Adds `text` to the line, and ends it.
    pub fn line(&mut self, text: &str) -> Result<()> {
        self.put(text)?;
        self.end_line()
    }

    /// Passes everything on.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(io)
    }
}

/// Writes an entry as an outline: a field a line, indented by two for each level; lists of plain values on one line.
#[derive(Debug)]
pub struct Outline<W> {
    page: Page<W>,
    open: Vec<Level>,
    /// Whether the current line ends with a key or a dash and waits for its value.
    pending: bool,
    /// Plain values of the list that is being collected on one line.
    inline: Option<Inline>,
}

#[derive(Debug)]
struct Inline {
    text: String,
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Map,
    List,
}

/// A list of plain values is shown on one line up to this many characters; a longer one goes on below.
const LINE: usize = 100;

impl<W: Write> Outline<W> {
    /// An outline written to `out`.
    pub fn new(out: W) -> Self {
        Self { page: Page::new(out, Style::Plain), open: Vec::new(), pending: false, inline: None }
    }

    /// Begins a line inside of the innermost level.
    fn begin_line(&mut self) -> Result<()> {
        write!(self.page.out, "{:1$}", "", self.depth().saturating_mul(2)).map_err(io)
    }

    /// The depth at which a line inside of the innermost level begins; the outermost level has no indentation.
    fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// Shows the elements of a list that were collected so far, as the list ends or an element that is not plain comes.
    fn flush_inline(&mut self, ends: bool) -> Result<()> {
        let Some(inline) = self.inline.take() else { return Ok(()) };
        if self.pending {
            self.pending = false;
            if ends {
                return self.page.line(&format!(" [{}]", inline.text));
            }
            self.page.end_line()?;
        }
        if inline.count > 0 {
            self.begin_line()?;
            self.page.line(&format!("- [{}]", inline.text))?;
        }
        Ok(())
    }

    /// Begins the line of an element of a list; values of maps have their key's line already.
    fn element(&mut self) -> Result<()> {
        self.flush_inline(false)?;
        if self.open.last() == Some(&Level::List) && !self.pending {
            self.begin_line()?;
            self.page.put("-")?;
            self.pending = true;
        }
        Ok(())
    }

    fn begin(&mut self, level: Level) -> Result<()> {
        self.element()?;
        if self.pending && level == Level::Map {
            self.page.end_line()?;
            self.pending = false;
        }
        self.open.push(level);
        Ok(())
    }
}

impl<W: Write> Visitor for Outline<W> {
    fn begin_map(&mut self) -> Result<()> {
        self.begin(Level::Map)
    }

    fn key(&mut self, name: &str) -> Result<()> {
        if self.pending {
            self.page.end_line()?;
        }
        self.begin_line()?;
        self.page.put(name)?;
        self.page.put(":")?;
        self.pending = true;
        Ok(())
    }

    fn end_map(&mut self) -> Result<()> {
        self.open.pop();
        Ok(())
    }

    fn begin_list(&mut self) -> Result<()> {
        self.begin(Level::List)?;
        self.inline = Some(Inline { text: String::new(), count: 0 });
        Ok(())
    }

    fn end_list(&mut self) -> Result<()> {
        self.flush_inline(true)?;
        self.open.pop();
        Ok(())
    }

    fn leaf(&mut self, value: &Value<'_>) -> Result<()> {
        let text = value.to_string();
        // Cleaned here for its length.
        let shown = if value.is_null() { "-".into() } else { clean(&text) };
        if let Some(inline) = &mut self.inline {
            if inline.text.len().saturating_add(shown.len()) <= LINE {
                inline.text.push_str(if inline.count == 0 { "" } else { ", " });
                inline.text.push_str(&shown);
                inline.count = inline.count.saturating_add(1);
                return Ok(());
            }
            self.flush_inline(false)?;
            self.inline = Some(Inline { text: shown.into_owned(), count: 1 });
            return Ok(());
        }
        self.element()?;
        let space = if std::mem::take(&mut self.pending) { " " } else { "" };
        self.page.put(space)?;
        self.page.line(&shown)
    }
}

/// Writes rows in aligned columns. Widths come from the first rows; a later cell that is wider moves its row only.
#[derive(Debug)]
pub struct Aligned<W> {
    page: Page<W>,
    header: Vec<String>,
    right: Vec<bool>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
}

fn cleaned(text: String) -> String {
    match clean(&text) {
        std::borrow::Cow::Owned(clean) => clean,
        std::borrow::Cow::Borrowed(_) => text,
    }
}

/// Rows that are read before the widths are set.
const SAMPLE: usize = 200;
/// The widest that a column is made.
const WIDEST: usize = 72;

impl<W: Write> Aligned<W> {
    /// Columns with these headers; `right` says which ones are aligned to the right.
    pub fn new(out: W, header: Vec<String>, right: Vec<bool>, style: Style) -> Self {
        let header = header.into_iter().map(cleaned).collect();
        Self { page: Page::new(out, style), header, right, waiting: Vec::new(), widths: None }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) -> Result<()> {
        // Cleaned here for their widths.
        let cells: Vec<String> = cells.into_iter().map(cleaned).collect();
        if self.widths.is_some() {
            return self.write(&cells);
        }
        self.waiting.push(cells);
        if self.waiting.len() >= SAMPLE { self.start() } else { Ok(()) }
    }

    fn start(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let width = |column: usize| {
            let cells = waiting.iter().filter_map(|row| row.get(column)).map(|c| c.width());
            let header = self.header.get(column).map_or(0, |h| h.width());
            cells.chain([header]).max().unwrap_or(0).min(WIDEST)
        };
        self.widths = Some((0..self.header.len()).map(width).collect());
        let header = self.format(&self.header);
        self.page.put_marked(header.trim_end(), Mark::Bold)?;
        self.page.end_line()?;
        waiting.iter().try_for_each(|row| self.write(row))
    }

    fn format(&self, cells: &[String]) -> String {
        let mut line = String::new();
        let widths = self.widths.as_deref().unwrap_or_default();
        for (column, cell) in cells.iter().enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            let pad = width.saturating_sub(cell.width());
            let right = self.right.get(column).copied().unwrap_or(false);
            line.push_str(if column == 0 { "" } else { "  " });
            // Writing to a string does not fail.
            let _ = if right { write!(line, "{:pad$}{cell}", "") } else { write!(line, "{cell}{:pad$}", "") };
        }
        line
    }

    fn write(&mut self, cells: &[String]) -> Result<()> {
        let line = self.format(cells);
        self.page.line(line.trim_end())
    }

    /// Writes the rows that are still waiting, and passes everything on.
    pub fn finish(&mut self) -> Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            self.start()?;
        }
        self.page.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_reads_like_the_entry() {
        let value = Value::Map(vec![
            ("name".into(), "hull".into()),
            ("min".into(), Value::floats([1.0, 2.0, 3.0])),
            (
                "sets".into(),
                Value::List(vec![
                    Value::Map(vec![("id".into(), Value::Id32(5)), ("nodes".into(), Value::List(vec![]))]),
                    Value::Map(vec![("id".into(), Value::Null)]),
                ]),
            ),
        ]);
        let mut out = Vec::new();
        Outline::new(&mut out).value(&value).unwrap();
        let expected = "name: hull\nmin: [1, 2, 3]\nsets:\n  -\n    id: 0x00000005\n    nodes: []\n  -\n    id: -\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_value_alone_is_a_line_of_its_own() {
        let mut out = Vec::new();
        Outline::new(&mut out).value(&"Hull".into()).unwrap();
        assert_eq!(out, b"Hull\n");
    }

    #[test]
    fn columns_are_aligned_by_display_width() {
        let mut out = Vec::new();
        let mut table = Aligned::new(&mut out, vec!["n".into(), "name".into()], vec![true, false], Style::Plain);
        table.row(vec!["5".into(), "日本".into()]).unwrap();
        table.row(vec!["10".into(), "x".into()]).unwrap();
        table.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " n  name\n 5  日本\n10  x\n");
    }

    /// Names, headers, keys and values alike; only a page breaks lines.
    #[test]
    fn whatever_is_shown_is_cleaned() {
        let hostile = "a\x1b]0;t\x07\n\u{202e}";
        let shown = "a\\u{1b}]0;t\\u{7}\\n\\u{202e}";
        let mut out = Vec::new();
        let mut table = Aligned::new(&mut out, vec![hostile.into(), "n".into()], vec![false, false], Style::Plain);
        table.row(vec!["x".into(), hostile.into()]).unwrap();
        table.finish().unwrap();
        let width = shown.len();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{shown}  n\n{:width$}  {shown}\n", "x"));
        let mut out = Vec::new();
        let inner = Value::Map(vec![(hostile.into(), hostile.into())]);
        let list = Value::List(vec![hostile.into(), "b".into()]);
        Outline::new(&mut out).value(&Value::Map(vec![(hostile.into(), inner), ("l".into(), list)])).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{shown}:\n  {shown}: {shown}\nl: [{shown}, b]\n"));
        let mut out = Vec::new();
        let mut page = Page::new(&mut out, Style::Bold);
        page.put_marked(hostile, Mark::Red).unwrap();
        page.line(hostile).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("\x1b[31m{shown}\x1b[0m{shown}\n"));
    }
}
