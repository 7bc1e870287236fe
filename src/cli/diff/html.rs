//! Differences as HTML for the entry of a feed, without scripts and styles.
//!
//! Every text of a file is escaped.

use super::show::UNFOLDED;
use crate::cli::changes::{ChangedTable, KINDS, difference, lone_value, said, text};
use crate::diff::{ChangedRow, DifferenceKind as Happened, Pair};
use crate::escape::Xml;
use crate::table::Value;
use crate::write::text::escape;
use std::fmt::{self, Display};
use std::io::{self, Write};

/// Writes the number of differing rows of each table, with links. `first` is the number of the first table.
pub(super) fn counts(out: &mut dyn Write, found: &[ChangedTable<'_, '_>], first: usize) -> io::Result<()> {
    out.write_all(
        b"<table class=\"counts\">\n<thead><tr><th></th><th>added</th><th>removed</th><th>changed</th></tr></thead>\n",
    )?;
    for (n, found) in (first..).zip(found).filter(|(_, found)| !found.pairs.is_empty()) {
        let [added, removed, changed] = found.counts();
        write!(out, "<tr><th><a href=\"#t{n}\">{}</a></th>", Text(&found.name))?;
        writeln!(out, "<td>{added}</td><td>{removed}</td><td>{changed}</td></tr>")?;
    }
    out.write_all(b"</table>\n")
}

/// The rows of a table that differ, of each kind at most `limit`.
pub(super) fn table<'d>(
    out: &mut dyn Write,
    n: usize,
    found: &ChangedTable<'d, '_>,
    limit: usize,
    change: &dyn Fn(Pair) -> ChangedRow<'d>,
) -> io::Result<()> {
    if found.pairs.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section id=\"t{n}\">\n<h2>{}</h2>", Text(&found.name))?;
    for kind in KINDS {
        let (count, name) = (found.of_kind(kind).count(), kind.name());
        if count == 0 {
            continue;
        }
        let folded = count > UNFOLDED;
        match folded {
            true => writeln!(out, "<details><summary class=\"{name}\">{count} {name}</summary>")?,
            false => writeln!(out, "<p class=\"kind {name}\">{count} {name}</p>")?,
        }
        let list = kind != Happened::Changed;
        out.write_all(if list { b"<ul>\n" } else { b"" })?;
        for pair in found.of_kind(kind).take(limit) {
            let change = change(pair);
            if list { item(out, &change)? } else { row(out, &change)? }
        }
        out.write_all(if list { b"</ul>\n" } else { b"" })?;
        if let Some(more) = count.checked_sub(limit).filter(|&more| more > 0) {
            writeln!(out, "<p class=\"what\">… and {more} more</p>")?;
        }
        out.write_all(if folded { b"</details>\n" } else { b"" })?;
    }
    out.write_all(b"</section>\n")
}

fn item(out: &mut dyn Write, change: &ChangedRow<'_>) -> io::Result<()> {
    write!(out, "<li><code>{}</code>{}", Text(&text(&change.key)), What(change))?;
    for field in said(&change.fields) {
        if let Some(value) = lone_value(change, field) {
            write!(out, " <span class=\"what\">{} {}</span>", Text(&field.name), Cell(&field.name, value))?;
        }
    }
    out.write_all(b"</li>\n")
}

/// A row that changed, with its fields side by side.
fn row(out: &mut dyn Write, change: &ChangedRow<'_>) -> io::Result<()> {
    writeln!(out, "<div class=\"row\"><code>{}</code>{}\n<table>", Text(&text(&change.key)), What(change))?;
    for field in said(&change.fields) {
        let [old, new] = [&field.old, &field.new].map(|value| Cell(&field.name, value));
        let by = difference(&field.old, &field.new).map_or_else(String::new, |by| Text(&by).to_string());
        write!(out, "<tr><th>{}</th><td class=\"old\">{old}</td>", Text(&field.name))?;
        writeln!(out, "<td class=\"new\">{new}</td><td class=\"by\">{by}</td></tr>")?;
    }
    out.write_all(b"</table></div>\n")
}

/// Text of a file, with invisible characters escaped.
struct Text<'t>(&'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Xml(&escape(self.0)).fmt(f)
    }
}

/// The kind of a row, if known.
struct What<'c>(&'c ChangedRow<'c>);

impl Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            Some(what) => write!(f, " <span class=\"what\">{}</span>", Text(what)),
            None => Ok(()),
        }
    }
}

/// A cell: a colour with a sample of it, nothing for null.
struct Cell<'c>(&'c str, &'c Value<'c>);

impl Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(name, value) = self;
        if value.is_null() {
            return Ok(());
        }
        if let Some([r, g, b]) = colour(name, value) {
            write!(f, "<i class=\"swatch\" style=\"background:#{r:02x}{g:02x}{b:02x}\"></i>")?;
        }
        Text(&text(value)).fmt(f)
    }
}

/// The colour in a field with such a name: three or four numbers between 0 and 1.
pub(super) fn colour(name: &str, value: &Value<'_>) -> Option<[u8; 3]> {
    let name = name.rsplit('.').next()?.to_ascii_lowercase();
    let Value::List(parts) = value else { return None };
    if !(name.contains("color") || name.contains("colour")) || !matches!(parts.len(), 3 | 4) {
        return None;
    }
    let [r, g, b, ..] = &**parts else { return None };
    Some([part(r)?, part(g)?, part(b)?])
}

/// A part of a colour as a byte.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
fn part(part: &Value<'_>) -> Option<u8> {
    match *part {
        Value::F32(v) if (0.0..=1.0).contains(&v) => Some((v * 255.0).round() as u8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_shown_and_nothing_else_is_taken_for_one() {
        let value = Value::floats([1.0, 0.5, 0.0]);
        assert_eq!(colour("light.color", &value), Some([255, 128, 0]));
        assert_eq!(colour("position", &value), None);
        assert_eq!(colour("color", &Value::floats([1.0, 2.0, 0.0])), None);
        assert_eq!(colour("color", &Value::floats([1.0, 0.0])), None);
    }
}
