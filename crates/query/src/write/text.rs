//! Text for people: entries as an indented outline, rows in aligned columns.
//!
//! All of it leaves through a [`TextPage`], which cleans it: names and texts are the file's to choose.

pub use crate::escape::escape;

use super::{cannot_write, plain};
use crate::error::Result;
use crate::table::{Value, Visitor};
use std::borrow::Cow;
use std::io::Write;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Lines for people. Text that is put into a line is [escaped](escape), so that only the page itself breaks lines and
/// makes text bold or coloured.
#[derive(Debug)]
pub struct TextPage<W> {
    out: W,
    style: Style,
}

/// Whether a page is bold and coloured anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// Emphasized text, for terminals.
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

impl<W: Write> TextPage<W> {
    /// A page written to `out`.
    pub fn new(out: W, style: Style) -> Self {
        Self { out, style }
    }

    /// Adds `text` to the line.
    pub fn put_text(&mut self, text: &str) -> Result<()> {
        self.out.write_all(escape(text).as_bytes()).map_err(cannot_write)
    }

    /// Adds `text` to the line, so that it stands out.
    pub fn put_marked(&mut self, text: &str, mark: Mark) -> Result<()> {
        match self.style {
            Style::Bold => write!(self.out, "\x1b[{}m{}\x1b[0m", mark as u8, escape(text)).map_err(cannot_write),
            Style::Plain => self.put_text(text),
        }
    }

    /// Ends the line.
    pub fn end_line(&mut self) -> Result<()> {
        self.out.write_all(b"\n").map_err(cannot_write)
    }

    /// Adds `text` to the line, and ends it.
    pub fn line(&mut self, text: &str) -> Result<()> {
        self.put_text(text)?;
        self.end_line()
    }

    /// Passes everything on.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(cannot_write)
    }
}

/// Writes an entry as an outline: a field a line, indented by two for each level; lists of plain values on one line.
#[derive(Debug)]
pub struct Outline<W> {
    page: TextPage<W>,
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
        Self { page: TextPage::new(out, Style::Plain), open: Vec::new(), pending: false, inline: None }
    }

    fn begin_line(&mut self) -> Result<()> {
        // The outermost level has no indentation.
        let depth = self.open.len() - 1;
        write!(self.page.out, "{:1$}", "", depth * 2).map_err(cannot_write)
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
            self.page.put_text("-")?;
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
        self.page.put_text(name)?;
        self.page.put_text(":")?;
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
        let shown = if value.is_null() { "-".into() } else { escape(&text) };
        if let Some(inline) = &mut self.inline {
            if inline.text.len() + shown.len() <= LINE {
                inline.text.push_str(if inline.count == 0 { "" } else { ", " });
                inline.text.push_str(&shown);
                inline.count += 1;
                return Ok(());
            }
            self.flush_inline(false)?;
            self.inline = Some(Inline { text: shown.into_owned(), count: 1 });
            return Ok(());
        }
        self.element()?;
        let space = if std::mem::take(&mut self.pending) { " " } else { "" };
        self.page.put_text(space)?;
        self.page.line(&shown)
    }
}

/// How a column of [`Aligned`] gives way if the table is wider than the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fit {
    /// Cells are whole, as ids and numbers are.
    Whole,
    /// A long cell is cut, with an ellipsis: in the middle of paths, at the end of other texts.
    Cut,
    /// A long cell continues on the next line. For the last column.
    Wrap,
}

/// A column of [`Aligned`].
#[derive(Debug, Clone)]
pub struct AlignedColumn {
    header: String,
    right: bool,
    fit: Fit,
    is_key: bool,
}

impl AlignedColumn {
    /// A column of numbers, aligned to the right.
    pub fn number(header: impl Into<String>) -> Self {
        Self { header: cleaned(header.into()), right: true, fit: Fit::Whole, is_key: false }
    }

    /// A column of texts.
    pub fn text(header: impl Into<String>, fit: Fit) -> Self {
        Self { header: cleaned(header.into()), right: false, fit, is_key: false }
    }

    /// Marks the column as a part of what identifies a row: other columns are left out first.
    #[must_use]
    pub fn key(self, is_key: bool) -> Self {
        Self { is_key, ..self }
    }
}

/// Writes rows in aligned columns. Widths come from the first rows; a later cell that is wider moves its row only, unless
/// the table has a width that it fits into.
#[derive(Debug)]
pub struct Aligned<W> {
    page: TextPage<W>,
    columns: Vec<AlignedColumn>,
    fit_into: Option<usize>,
    has_header: bool,
    /// Columns that the caller left out, and the option that shows them.
    left_out: Vec<String>,
    option: &'static str,
    waiting: Vec<Vec<String>>,
    /// The width of each column; `None` for a column that does not fit.
    widths: Option<Vec<Option<usize>>>,
    /// The cells of the current row: as a line if they have their final width, else one by one.
    line: String,
    cells: Vec<String>,
    in_line: usize,
    scratch: String,
}

fn cleaned(text: String) -> String {
    match escape(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text,
    }
}

/// Rows that are read before the widths are set.
const SAMPLE: usize = 200;
/// The widest that a column is made if the table has no width to fit into.
const WIDEST: usize = 72;
/// The narrowest that a column is made, so that users can still distinguish its cells.
const NARROWEST: usize = 12;
const GAP: usize = 2;

impl<W: Write> Aligned<W> {
    /// A table with these columns.
    pub fn new(out: W, columns: Vec<AlignedColumn>, style: Style) -> Self {
        Self {
            page: TextPage::new(out, style),
            columns,
            fit_into: None,
            has_header: true,
            left_out: Vec::new(),
            option: "",
            waiting: Vec::new(),
            widths: None,
            line: String::new(),
            cells: Vec::new(),
            in_line: 0,
            scratch: String::new(),
        }
    }

    /// Fits the table into a terminal of `width` columns. Columns that do not fit are left out, and named after the last
    /// row.
    #[must_use]
    pub fn fit_into(self, width: Option<usize>) -> Self {
        Self { fit_into: width, ..self }
    }

    /// Leaves the line of column names out.
    #[must_use]
    pub fn without_header(self) -> Self {
        Self { has_header: false, ..self }
    }

    /// Names columns that the rows lack, and the option of the command that shows them.
    #[must_use]
    pub fn without_columns(self, left_out: Vec<String>, option: &'static str) -> Self {
        Self { left_out, option, ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) -> Result<()> {
        cells.iter().for_each(|cell| self.cell(&Value::text(cell)));
        self.end_row()
    }

    pub(super) fn cell(&mut self, value: &Value<'_>) {
        self.scratch.clear();
        match value {
            Value::Null => self.scratch.push('-'),
            value => plain::push_escaped(value, &mut self.scratch),
        }
        match (&self.widths, self.fit_into) {
            (Some(widths), None) => {
                let column = self.columns.get(self.in_line).zip(widths.get(self.in_line));
                if let Some((column, Some(width))) = column {
                    let is_last = self.in_line + 1 == self.columns.len();
                    self.line.push_str(if self.in_line == 0 { "" } else { "  " });
                    // Blanks at the end of a line are removed.
                    let width = if is_last && !column.right { 0 } else { *width };
                    push_aligned(&mut self.line, &self.scratch, width, column.right);
                }
                self.in_line += 1;
            }
            _ => self.cells.push(self.scratch.clone()),
        }
    }

    /// Ends the row whose cells were added one by one.
    pub(super) fn end_row(&mut self) -> Result<()> {
        if std::mem::take(&mut self.in_line) == 0 {
            let cells = std::mem::take(&mut self.cells);
            if self.widths.is_some() {
                return self.write(&cells);
            }
            self.waiting.push(cells);
            return if self.waiting.len() >= SAMPLE { self.start() } else { Ok(()) };
        }
        self.line.truncate(self.line.trim_end().len());
        self.line.push('\n');
        // The cells are clean.
        let written = self.page.out.write_all(self.line.as_bytes());
        self.line.clear();
        written.map_err(cannot_write)
    }

    pub(super) fn discard_row(&mut self) {
        self.line.clear();
        self.cells.clear();
        self.in_line = 0;
    }

    fn start(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let columns = self.columns.iter().enumerate();
        let rooms = columns.map(|(at, column)| self.room(column, waiting.iter().filter_map(move |row| row.get(at))));
        let rooms: Vec<Room> = rooms.collect();
        self.widths = Some(match self.fit_into {
            Some(width) => fit(&rooms, width),
            None => rooms.into_iter().map(|room| Some(room.natural.min(WIDEST))).collect(),
        });
        let headers: Vec<String> = self.columns.iter().map(|column| column.header.clone()).collect();
        for line in self.lines(&headers).iter().filter(|_| self.has_header) {
            self.page.put_marked(line, Mark::Bold)?;
            self.page.end_line()?;
        }
        waiting.iter().try_for_each(|row| self.write(row))
    }

    /// The widths that a column with these cells may have.
    fn room<'c>(&self, column: &AlignedColumn, cells: impl Iterator<Item = &'c String> + Clone) -> Room {
        let header = if self.has_header { column.header.width() } else { 0 };
        let natural = cells.clone().map(|cell| cell.width()).fold(header, usize::max);
        let least = match column.fit {
            Fit::Whole => natural,
            // A part of an id identifies nothing, so ids stay whole in columns of texts as well.
            Fit::Cut | Fit::Wrap => {
                cells.filter(|cell| is_id(cell)).map(String::len).fold(header.max(NARROWEST), usize::max)
            }
        };
        Room { least: least.min(natural), natural, is_key: column.is_key }
    }

    /// The lines of a row: more than one only if its last cell wraps.
    fn lines(&self, cells: &[String]) -> Vec<String> {
        let mut lines = vec![String::new()];
        let widths = self.widths.as_deref().expect("widths are set before the first line");
        let mut is_first = true;
        for ((cell, column), &width) in cells.iter().zip(&self.columns).zip(widths) {
            let Some(width) = width else { continue };
            let line = &mut lines[0];
            line.push_str(if std::mem::replace(&mut is_first, false) { "" } else { "  " });
            match column.fit {
                Fit::Cut if self.fit_into.is_some() => push_aligned(line, &cut(cell, width), width, column.right),
                Fit::Wrap if self.fit_into.is_some() => {
                    let indent = line.width();
                    let mut parts = wrap(cell, width);
                    let more = parts.split_off(1);
                    line.push_str(&parts[0]);
                    lines.extend(more.iter().map(|part| format!("{:indent$}{part}", "")));
                }
                _ => push_aligned(line, cell, width, column.right),
            }
        }
        for line in &mut lines {
            line.truncate(line.trim_end().len());
        }
        lines
    }

    fn write(&mut self, cells: &[String]) -> Result<()> {
        self.lines(cells).iter().try_for_each(|line| self.page.line(line))
    }

    /// Writes the rows that are still waiting, names all columns that are left out, and passes everything on.
    pub fn finish(&mut self) -> Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            self.start()?;
        }
        let widths = self.widths.iter().flatten();
        let narrow = self.columns.iter().zip(widths).filter(|(_, width)| width.is_none());
        let mut names: Vec<&str> = narrow.map(|(column, _)| column.header.as_str()).collect();
        let option = match (names.is_empty(), self.option) {
            (true, option) => option.to_owned(),
            (false, "") => "--wide".to_owned(),
            (false, option) => format!("{option} --wide"),
        };
        names.extend(self.left_out.iter().map(String::as_str));
        // Without rows nothing is missing.
        if !names.is_empty() && self.widths.is_some() {
            let note = more_columns(&names, &option);
            let lines = match self.fit_into {
                Some(width) => wrap(&note, width),
                None => vec![note],
            };
            lines.iter().try_for_each(|line| self.page.line(line))?;
        }
        self.page.flush()
    }
}

/// The note about columns that are left out, and the option that shows them.
pub fn more_columns(names: &[&str], option: &str) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("… {} more column{plural} with {option}: {}", names.len(), names.join(" "))
}

/// Appends a cell, which is as wide as its column.
fn push_aligned(line: &mut String, cell: &str, width: usize, right: bool) {
    const BLANKS: &str = "                                                                                ";
    // Clean ASCII has a column for each byte.
    let own = if cell.is_ascii() { cell.len() } else { cell.width() };
    let mut blanks = width.saturating_sub(own);
    if !right {
        line.push_str(cell);
    }
    while blanks > 0 {
        let some = blanks.min(BLANKS.len());
        line.push_str(&BLANKS[..some]);
        blanks -= some;
    }
    if right {
        line.push_str(cell);
    }
}

#[derive(Debug, Clone, Copy)]
struct Room {
    least: usize,
    natural: usize,
    is_key: bool,
}

/// The widths of columns that are at most `most` wide, if they may be cut.
fn narrowed(rooms: &[Room], most: usize) -> impl Iterator<Item = usize> {
    rooms.iter().map(move |room| room.natural.min(most.max(room.least)))
}

fn total(rooms: &[Room], most: usize) -> usize {
    narrowed(rooms, most).sum::<usize>() + rooms.len().saturating_sub(1) * GAP
}

/// The widths of columns in a terminal of `width`: the widest columns that may be cut give way first. If that is not
/// enough, the last columns have no width, and keys only after all others.
fn fit(rooms: &[Room], width: usize) -> Vec<Option<usize>> {
    let (mut shown, mut places): (Vec<Room>, Vec<usize>) = (rooms.to_vec(), (0..rooms.len()).collect());
    while shown.len() > 1 && total(&shown, 0) > width {
        let place = shown.iter().rposition(|room| !room.is_key).unwrap_or(shown.len() - 1);
        shown.remove(place);
        places.remove(place);
    }
    // The largest limit with which the columns fit.
    let (mut low, mut high) = (0, width);
    while low < high {
        let middle = low.midpoint(high + 1);
        if total(&shown, middle) <= width { low = middle } else { high = middle - 1 }
    }
    // The remainder of the division, column by column.
    let mut left = width.saturating_sub(total(&shown, low));
    let mut all = vec![None; rooms.len()];
    for ((place, room), mut own) in places.into_iter().zip(&shown).zip(narrowed(&shown, low)) {
        if left > 0 && own == low && room.natural > low {
            own += 1;
            left -= 1;
        }
        all[place] = Some(own);
    }
    all
}

/// Whether a cell is an id or a GUID.
fn is_id(cell: &str) -> bool {
    let digits = cell.strip_prefix("0x").unwrap_or(cell);
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_hex && (cell.starts_with("0x") && matches!(cell.len(), 10 | 18) || cell.len() == 36)
}

/// `text` with an ellipsis in place of the part that does not fit into `width`: the middle of a path, whose name is at
/// its end, and the end of any other text.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let room = width.saturating_sub(1);
    let is_path = text.contains('/') && !text.contains(' ');
    let tail_room = if is_path { room * 2 / 3 } else { 0 };
    let head = taken(text.chars(), room - tail_room);
    let tail: String = taken(text.chars().rev(), tail_room).chars().rev().collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// The first characters that fit into `width`.
fn taken(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut taken = 0;
    let fitting = chars.take_while(|c| {
        taken += c.width().unwrap_or(0);
        taken <= width
    });
    fitting.collect()
}

/// The words of `text` as lines of at most `width`. A longer word has a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
        let columns = vec![AlignedColumn::number("n"), AlignedColumn::text("name", Fit::Cut)];
        let mut table = Aligned::new(&mut out, columns, Style::Plain);
        table.row(vec!["5".into(), "日本".into()]).unwrap();
        table.row(vec!["10".into(), "x".into()]).unwrap();
        table.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " n  name\n 5  日本\n10  x\n");
    }

    /// Rows past the sample are written without waiting.
    #[test]
    fn cells_one_by_one_are_aligned_as_whole_rows() {
        let columns =
            [AlignedColumn::text("name", Fit::Cut), AlignedColumn::number("n"), AlignedColumn::text("t", Fit::Cut)];
        let texts = ["x", "日本", "a\nb", "", "e\u{301}", " blank ", "longer than its column by far"];
        let row = |number: usize| {
            let text = texts[number % texts.len()];
            [
                text.into(),
                Value::F32(number as f32 / 4.0),
                if number.is_multiple_of(3) { Value::Null } else { text.into() },
            ]
        };
        let (mut whole, mut single) = (Vec::new(), Vec::new());
        let mut by_row = Aligned::new(&mut whole, columns.to_vec(), Style::Plain);
        let mut by_cell = Aligned::new(&mut single, columns.to_vec(), Style::Plain);
        let shown = |cell: &Value<'_>| if cell.is_null() { "-".to_owned() } else { cell.to_string() };
        for number in 0..SAMPLE * 2 {
            // The last text is in no row of the sample.
            let row = row(if number < SAMPLE { number - number % 7 + number % 6 } else { number });
            by_row.row(row.iter().map(shown).collect()).unwrap();
            row.iter().for_each(|cell| by_cell.cell(cell));
            by_cell.end_row().unwrap();
        }
        by_row.finish().unwrap();
        by_cell.finish().unwrap();
        drop((by_row, by_cell));
        let (whole, single) = (String::from_utf8(whole).unwrap(), String::from_utf8(single).unwrap());
        assert_eq!(whole, single);
        assert!(whole.lines().all(|line| line == line.trim_end()) && whole.contains("by far"));
    }

    fn fitted(width: usize, columns: &[AlignedColumn], rows: &[&[&str]]) -> String {
        let mut out = Vec::new();
        let mut table = Aligned::new(&mut out, columns.to_vec(), Style::Plain).fit_into(Some(width));
        for row in rows {
            table.row(row.iter().map(|cell| (*cell).to_owned()).collect()).unwrap();
        }
        table.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_fits_into_the_terminal() {
        let columns = [
            AlignedColumn::text("id", Fit::Whole),
            AlignedColumn::text("path", Fit::Cut),
            AlignedColumn::number("size"),
            AlignedColumn::text("text", Fit::Cut),
        ];
        let row = ["0xA33046442D8327FC", "content/gameplay/usa/ship/USS001.visual", "1024", "a text of several words"];
        let wide = fitted(120, &columns, &[&row]);
        assert!(wide.contains(row[1]) && wide.contains(row[3]), "{wide}");
        let narrow = fitted(60, &columns, &[&row]);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines[1], "0xA33046442D8327FC  conte…001.visual  1024  a text of sever…");
        let tiny = fitted(36, &columns, &[&row, &row]);
        assert_eq!(tiny.lines().nth(1).unwrap().chars().count(), 36, "{tiny}");
        let words: Vec<&str> = tiny.split_whitespace().collect();
        assert!(words.join(" ").ends_with("… 2 more columns with --wide: size text"), "{tiny}");
        for width in 1..150 {
            for line in fitted(width, &columns, &[&row]).lines() {
                // An id stays whole on the narrowest terminal, and so does a word.
                assert!(line.width() <= width.max(18), "{width}: {line}");
            }
        }
    }

    #[test]
    fn keys_are_left_out_last_and_all_hidden_columns_are_named() {
        let text = |name: &str| AlignedColumn::text(name, Fit::Whole);
        let columns = [text("ship"), text("belt"), text("deck"), text("chunk").key(true)];
        let row = ["USS Sample", "307 mm", "38 mm", "[Main]"];
        let mut out = Vec::new();
        let table = Aligned::new(&mut out, columns.to_vec(), Style::Plain).fit_into(Some(30));
        let mut table = table.without_columns(vec!["area".to_owned()], "--long");
        table.row(row.map(str::to_owned).to_vec()).unwrap();
        table.finish().unwrap();
        drop(table);
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(
            shown,
            "ship        belt    chunk\nUSS Sample  307 mm  [Main]\n… 2 more columns with --long\n--wide: deck area\n"
        );
    }

    #[test]
    fn the_last_column_wraps() {
        let columns = [AlignedColumn::text("table", Fit::Whole), AlignedColumn::text("columns", Fit::Wrap)];
        let shown = fitted(20, &columns, &[&["paths", "id name parent_id path"]]);
        assert_eq!(shown, "table  columns\npaths  id name\n       parent_id\n       path\n");
    }

    /// Names, headers, keys and values alike; only a page breaks lines.
    #[test]
    fn whatever_is_shown_is_cleaned() {
        let hostile = "a\x1b]0;t\x07\n\u{202e}";
        let shown = "a\\u{1b}]0;t\\u{7}\\n\\u{202e}";
        let mut out = Vec::new();
        let columns = [hostile, "n"].map(|name| AlignedColumn::text(name, Fit::Cut)).to_vec();
        let mut table = Aligned::new(&mut out, columns, Style::Plain);
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
        let mut page = TextPage::new(&mut out, Style::Bold);
        page.put_marked(hostile, Mark::Red).unwrap();
        page.line(hostile).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("\x1b[31m{shown}\x1b[0m{shown}\n"));
    }
}
