//! Text for people: entries as an indented outline, rows in aligned columns.

use crate::error::{Error, Result};
use crate::table::{Value, Visitor};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

fn io(error: std::io::Error) -> Error {
    Error::io("cannot write", error)
}

/// Writes an entry as an outline: a field a line, indented by two for each level; lists of plain values on one line.
#[derive(Debug)]
pub struct Outline<W> {
    out: W,
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
        Self { out, open: Vec::new(), pending: false, inline: None }
    }

    fn indent(&mut self, level: usize) -> Result<()> {
        write!(self.out, "{:1$}", "", level.saturating_mul(2)).map_err(io)
    }

    fn line(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).map_err(io)
    }

    /// The depth at which a line inside of the innermost level begins; the outermost level has no indentation.
    fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// Shows what was collected of a list so far, because something that is not plain comes.
    fn flush_inline(&mut self, ends: bool) -> Result<()> {
        let Some(inline) = self.inline.take() else { return Ok(()) };
        if self.pending {
            self.pending = false;
            if ends {
                return self.line(&format!(" [{}]\n", inline.text));
            }
            self.line("\n")?;
        }
        if inline.count > 0 {
            self.indent(self.depth())?;
            self.line(&format!("- [{}]\n", inline.text))?;
        }
        Ok(())
    }

    /// Begins the line of an element of a list; values of maps have their key's line already.
    fn element(&mut self) -> Result<()> {
        self.flush_inline(false)?;
        if self.open.last() == Some(&Level::List) && !self.pending {
            self.indent(self.depth())?;
            self.line("-")?;
            self.pending = true;
        }
        Ok(())
    }

    fn begin(&mut self, level: Level) -> Result<()> {
        self.element()?;
        if self.pending && level == Level::Map {
            self.line("\n")?;
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
            self.line("\n")?;
        }
        self.indent(self.depth())?;
        self.line(&format!("{name}:"))?;
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
        self.line(&format!("{space}{shown}\n"))
    }
}

/// `text` without characters that would move the cursor of a terminal.
pub fn clean(text: &str) -> Cow<'_, str> {
    // Most text is ASCII, which is judged without a branch for each byte.
    let plain = text.bytes().fold(true, |plain, b| plain & matches!(b, b' '..=b'~'));
    if plain || !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// Writes rows in aligned columns. Widths come from the first rows; a later cell that is wider moves its row only.
#[derive(Debug)]
pub struct Aligned<W> {
    out: W,
    header: Vec<String>,
    right: Vec<bool>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    style: Style,
}

/// How headers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Bold, for terminals.
    Bold,
    /// As plain text.
    Plain,
}

/// Rows that are read before the widths are set.
const SAMPLE: usize = 200;
/// The widest that a column is made.
const WIDEST: usize = 72;

impl<W: Write> Aligned<W> {
    /// Columns with these headers; `right` says which ones are aligned to the right.
    pub fn new(out: W, header: Vec<String>, right: Vec<bool>, style: Style) -> Self {
        Self { out, header, right, waiting: Vec::new(), widths: None, style }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn row(&mut self, cells: Vec<String>) -> Result<()> {
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
        match self.style {
            Style::Bold => writeln!(self.out, "\x1b[1m{}\x1b[0m", header.trim_end()),
            Style::Plain => writeln!(self.out, "{}", header.trim_end()),
        }
        .map_err(io)?;
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
        writeln!(self.out, "{}", line.trim_end()).map_err(io)
    }

    /// Writes what is still waiting, and passes everything on.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(&mut self) -> Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            self.start()?;
        }
        self.out.flush().map_err(io)
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

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\n"), "a\\u{1b}[2Jb\\n");
    }
}
