//! Differences as a page: a part for each table; a script shows and filters its rows.

use crate::cli::changes::{ChangedTable, KINDS, difference, lone_value, said, text};
use crate::diff::{ChangedRow, DifferenceKind as Happened, Pair};
use crate::error::Result;
use crate::scene::two_versions::TwoVersions;
use crate::table::Value;
use assetq_view::page::{Block, Page, PageSection, TextColumn, numbers, scene};
use serde_json::json;
use std::io::Write;
use std::iter;

/// Tables that differ, ready to be written.
#[derive(Default)]
pub(super) struct Tables {
    blocks: Vec<(String, Block)>,
    parts: Vec<PageSection>,
}

impl Tables {
    /// Adds a table, of each kind of change at most `limit` rows.
    pub(super) fn add<'d>(
        &mut self,
        found: &ChangedTable<'d, '_>,
        limit: usize,
        change: &dyn Fn(Pair) -> ChangedRow<'d>,
    ) -> Result<()> {
        if found.pairs.is_empty() {
            return Ok(());
        }
        let (mut kinds, mut keys, mut whats, mut fields) =
            (Vec::new(), TextColumn::default(), TextColumn::default(), TextColumn::default());
        let mut is_moved = true;
        for (number, kind) in (0..).zip(KINDS) {
            for change in found.of_kind(kind).take(limit).map(change) {
                kinds.push(number);
                is_moved &=
                    change.kind == Happened::Changed && change.fields.iter().all(|field| field.name == "offset");
                keys.push(Some(&text(&change.key)))?;
                whats.push(change.what.as_deref())?;
                fields.push(Some(&shown(&change)))?;
            }
        }
        let (block, rows) = (format!("d{}", self.parts.len()), kinds.len());
        let columns = [
            ("kinds", numbers(kinds)),
            ("keys", keys.to_bytes()),
            ("whats", whats.to_bytes()),
            ("fields", fields.to_bytes()),
        ];
        for (name, bytes) in columns {
            self.blocks.push((format!("{block}.{name}"), Block::new(&bytes)?));
        }
        // Rows that only moved in the file are no reason to begin with this table.
        let meta = json!({ "block": block, "rows": rows, "counts": found.counts(), "count": found.pairs.len(), "moved": is_moved });
        let id = format!("diff={}", found.name);
        self.parts.push(PageSection { id, kind: "diff", title: found.name.clone(), meta });
        Ok(())
    }

    /// Writes the page, with both versions of a shape in one scene.
    pub(super) fn write(self, out: &mut dyn Write, title: &str, overlay: Option<&TwoVersions<'_>>) -> Result<()> {
        let about = if self.parts.is_empty() { "no differences" } else { "what differs" };
        let mut page = Page::new(out, title, about)?;
        if let Some(overlay) = overlay {
            scene::add(&mut page, &overlay.as_figure())?;
        }
        for (name, block) in &self.blocks {
            page.add(name, block)?;
        }
        self.parts.into_iter().for_each(|part| page.part(part));
        page.finish()
    }
}

/// Trailing parts of a path of increasing length, and then the whole path without end.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let begins = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
    begins.filter_map(|begin| path.get(begin..)).chain(iter::repeat(path))
}

/// The two sides by the ends of their names, from the first folder that differs. A report that is passed on should not show the rest of
/// the path.
pub(super) fn title(old: &str, new: &str) -> String {
    let (old, new) = short_names(old, new);
    format!("{old} → {new}")
}

/// The ends of two names that tell them apart.
pub(in crate::cli) fn short_names<'n>(old: &'n str, new: &'n str) -> (&'n str, &'n str) {
    let mut both = ends(old).zip(ends(new));
    let names = if old == new { both.next() } else { both.find(|(old, new)| old != new) };
    names.unwrap_or((old, new))
}

/// The details of a row besides its key, as JSON: the name of each field, its values, by how much it differs, and the
/// colours that the values are.
fn shown(change: &ChangedRow<'_>) -> String {
    let fields = said(&change.fields).into_iter().filter_map(|field| {
        if change.kind != Happened::Changed {
            lone_value(change, field)?;
        }
        let [(old, was), (new, is)] = [&field.old, &field.new].map(|value| {
            let colour = colour(&field.name, value).map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"));
            ((!value.is_null()).then(|| text(value)), colour)
        });
        Some(json!([field.name, old, new, difference(&field.old, &field.new), was, is]))
    });
    fields.collect::<serde_json::Value>().to_string()
}

/// The colour in a field with such a name: three or four numbers between 0 and 1.
fn colour(name: &str, value: &Value<'_>) -> Option<[u8; 3]> {
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

    #[test]
    fn a_title_says_of_paths_as_much_as_tells_them_apart() {
        for (old, new, said) in [
            ("/home/me/old.wdb", "new.wdb", "old.wdb → new.wdb"),
            ("/home/me/old/res/a.bin", "new/res/a.bin", "old/res/a.bin → new/res/a.bin"),
            ("a.bin", "mods\\a.bin", "a.bin → mods\\a.bin"),
            ("/games/wows@1", "/games/wows@2", "wows@1 → wows@2"),
            ("/home/me/a.bin", "/home/me/a.bin", "a.bin → a.bin"),
        ] {
            assert_eq!(title(old, new), said);
        }
    }
}
