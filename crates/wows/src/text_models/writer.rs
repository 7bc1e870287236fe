//! Edits of values by their keys. The bytes of a value are replaced, and all others stay, tabs too.

use super::document::ElementRef;
use super::material::property;
use super::visual::material;
use super::{Material, ModelFile, VisualFile};
use crate::error::Result;
use crate::reader::Reader;
use crate::table::{Value, no_cell};
use crate::writable::{EntryEdit, Pieces, TableEdits, Writable, edit_of_row, no_entry, refused, short, short_text};
use quick_xml::escape;
use std::borrow::Cow;
use std::ops::Range;

/// A value to be written, and the range of the old one.
type Stretch = (Range<usize>, Vec<u8>);

/// Whether XML may hold the character, as itself or as a reference.
fn is_of_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..) && !matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

/// The text that stands for a value in a file: blanks separate numbers.
fn text_of(value: &Value<'_>) -> Result<String> {
    Ok(match value {
        Value::Text(text) if text.chars().any(|c| !is_of_xml(c)) => {
            return Err(refused(format!("{} does not fit: XML has no way to write such a character", short(value))));
        }
        Value::Text(text) if !text.is_empty() && text.trim_ascii().len() == text.len() => text.clone().into_owned(),
        Value::List(items) => items.iter().map(text_of).collect::<Result<Vec<_>>>()?.join(" "),
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::F32(_) => value.to_string(),
        other => {
            let what = "a number, a flag, or a text that neither is empty nor has blanks at its ends, does";
            return Err(refused(format!("{} does not fit: {what}", short(other))));
        }
    })
}

/// Replaces the text of `node`, which must have one, by `text`.
fn stretch(node: Option<ElementRef<'_>>, column: &str, text: &str) -> Result<Stretch> {
    match node.map(ElementRef::text_range).filter(|range| !range.is_empty()) {
        Some(range) => Ok((range, escape::escape(text).into_owned().into_bytes())),
        None => Err(refused(format!("column {column}: the file has no such element in this row, or an empty one"))),
    }
}

fn column_name(reader: &dyn Reader, table: &str, column: usize) -> Result<Cow<'static, str>> {
    let columns = reader.table(table);
    let found = columns.as_ref().and_then(|table| table.columns().get(column));
    found.map(|column| column.name.clone()).ok_or_else(|| no_cell(table, 0, column))
}

/// The file of `len` bytes with the changed cells of `edits`, each as `stretch` returns it for its table, row and column.
fn replaced(
    len: usize,
    edits: &[TableEdits],
    stretch: impl Fn(&str, usize, usize, &Value<'_>) -> Result<Stretch>,
) -> Result<Pieces> {
    let mut stretches = Vec::new();
    for edits in edits {
        if !edits.add.is_empty() || !edits.remove.is_empty() {
            return Err(refused(format!("table {}: rows can be changed, but not inserted or deleted", edits.table)));
        }
        for (row, cells) in &edits.set {
            for (column, value) in cells {
                stretches.push(stretch(&edits.table, *row, *column, value)?);
            }
        }
    }
    stretches.sort_by_key(|(range, _)| range.start);
    Pieces::replaced(len, stretches)
}

impl Writable for VisualFile {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        replaced(self.source.bytes().len(), edits, |table, row, column, value| {
            let name = column_name(self, table, column)?;
            let elements = if table == "lods" { &self.parts()?.lods } else { &self.parts()?.render_sets };
            let element = elements.get(row).ok_or_else(|| no_cell("visual", row, column))?;
            let node = self.node(*element)?;
            let node = match &*name {
                "material" => material(node).and_then(|node| node.child("identifier")),
                "mfm" => material(node).and_then(|node| node.child("mfm")),
                "world_space" => node.child("treatAsWorldSpaceObject"),
                "extent" => node.child("extent"),
                _ => node.child("castsShadow"),
            };
            stretch(node, &name, &text_of(value)?)
        })
    }
}

impl Writable for ModelFile {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        let root = self.root()?;
        replaced(self.source.bytes().len(), edits, |table, _, column, value| {
            let (name, text) = (column_name(self, table, column)?, text_of(value)?);
            let (node, ending) = match &*name {
                "visual" => (super::model::visual_element(root)?, super::visual::ENDING),
                "parent" => (root.child("parent"), super::model::ENDING),
                "extent" => return stretch(root.child("extent"), &name, &text),
                _ => return stretch(root.child("castsShadow"), &name, &text),
            };
            let Some(stem) = text.strip_suffix(ending).filter(|stem| !stem.is_empty() && !stem.contains('\\')) else {
                let text = short_text(&text);
                return Err(refused(format!("{text} does not fit: a path that ends in {ending} does")));
            };
            // Older files leave the ending out.
            let has_ending = node.map(ElementRef::text).transpose()?.is_some_and(|old| old.ends_with(ending));
            stretch(node, "path", if has_ending { &text } else { stem })
        })
    }
}

impl Writable for Material {
    fn write(&self, edits: &[TableEdits]) -> Result<Pieces> {
        replaced(self.source.bytes().len(), edits, |_, row, column, value| {
            let (Some(place), Some((name, _))) = (self.places.get(row), self.surface.properties.get(row)) else {
                return Err(no_cell("properties", row, column));
            };
            let text = text_of(value)?;
            if property(&place.kind, &text).is_none() || text.contains('\\') || place.range.is_empty() {
                let text = short_text(&text);
                return Err(refused(format!("property {name}: {text} does not fit: a {} does", place.kind)));
            }
            Ok((place.range.clone(), escape::escape(&*text).into_owned().into_bytes()))
        })
    }

    /// `cat` shows the value of a property under the name of its kind.
    fn entry(&self, entry: &str, new: &Value<'static>) -> Result<Option<EntryEdit>> {
        let row = self.surface.properties.iter().position(|(name, _)| name == entry);
        let (Some(row), Some(table)) = (row, self.tables().into_iter().next()) else { return Err(no_entry(entry)) };
        let value = match new {
            Value::Map(members) => members.first().filter(|_| members.len() == 1),
            _ => None,
        };
        let Some((_, value)) = value.filter(|(name, _)| matches!(&**name, "texture" | "value")) else {
            return Err(refused("a property is an object of its value, as `cat ENTRY -f json` shows it"));
        };
        let edit = edit_of_row(&*table, row, &vec![("value".into(), value.clone())])?;
        Ok(Some(EntryEdit::Edits(edit.into_iter().collect())))
    }
}
