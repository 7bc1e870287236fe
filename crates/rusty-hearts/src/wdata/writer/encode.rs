//! Encodes records: edited fields in a new form, other fields with their old bytes.

use super::edits::FieldValues;
use crate::bytes::{Cursor, View};
use crate::compare::same_value;
use crate::error::{Error, Result};
use crate::table::Value;
use crate::wdata::fields::{
    self, ALONE, Counts, ListPosition, MapField, StoredKind, decode_kind, skip_field, skip_item,
};
use crate::wdata::shapes::RecordShape;
use crate::wdata::space::volume_of;
use crate::wdata::{Map, MapRecord, TextForm};
use crate::writable::{refused, short, short_text, single, whole_number};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Makes the bytes of records of a map.
pub(super) struct Encoder<'m>(pub(super) &'m Map);

/// An unchanged value: the cursor at its first byte, and its position in its list.
type Old<'m> = Option<(Cursor<'m>, ListPosition)>;

impl<'m> Encoder<'m> {
    pub(super) fn record(
        &self,
        shape: &'static RecordShape,
        fields: &FieldValues,
        old: Option<&MapRecord<'m>>,
    ) -> Result<Vec<u8>> {
        if shape.placed && old.is_none() && !fields.contains_key(&shape.number("name")) {
            return Err(refused("a new row needs a name"));
        }
        let new: Vec<Option<&Value<'static>>> = (0..shape.fields.len()).map(|at| fields.get(&at)).collect();
        let mut out = Vec::new();
        self.fields(shape.fields, &new, ALONE, old.map(|record| (record.cursor, ALONE)), &mut out)?;
        if shape.placed {
            let mut cursor = Cursor::new(View::new(&out, shape.name));
            fields::read_text(&mut cursor)?;
            let had_space = old.map(MapRecord::volume).transpose()?.is_none_or(|volume| volume.is_some());
            // All numbers of an edit are finite; other numbers were in the file before.
            if had_space && volume_of(cursor.read()?).is_none() {
                let what = "columns rot_x, rot_y, rot_z, rot_w: 0 0 0 0 does not fit: the box would describe no space";
                return Err(refused(what));
            }
        }
        Ok(out)
    }

    fn copy(&self, range: Range<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.source().bytes().get(range).expect("a range that was read"));
    }

    /// The fields of a record. `None` keeps the old field, or is empty in an inserted record.
    fn fields(
        &self,
        fields: &'static [MapField],
        new: &[Option<&Value<'static>>],
        place: ListPosition,
        mut old: Old<'m>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut lengths: BTreeMap<usize, (usize, &'static str)> = BTreeMap::new();
        for (field, value) in fields.iter().zip(new) {
            let (StoredKind::List(_, number), Some(value)) = (field.kind, value) else { continue };
            let length = match value {
                Value::List(items) => items.len(),
                // Of two lists with one count a version may store only one.
                Value::Null => continue,
                other => return Err(does_not_fit(field, other, "a list")),
            };
            match lengths.insert(number, (length, field.name)) {
                Some((other, name)) if other != length => {
                    let what = format!(
                        "column {}: {length} items do not fit: {name} has {other}, and both have as many",
                        field.name
                    );
                    return Err(refused(what));
                }
                _ => {}
            }
        }
        let (mut before, mut now) = (Counts::default(), Counts::default());
        for (field, value) in fields.iter().zip(new) {
            let had = match &mut old {
                Some((cursor, of)) => {
                    let held = field.gate.holds(self.0.versions(), *of, &before);
                    let start = *cursor;
                    skip_field(field, cursor, self.0.versions(), *of, &mut before)?;
                    held.then(|| (start, start.position()..cursor.position()))
                }
                None => None,
            };
            let holds = field.gate.holds(self.0.versions(), place, &now);
            if let StoredKind::Count = field.kind {
                let number = now.len;
                let asked = lengths.get(&number).copied();
                let kept = if old.is_some() { before.get(number) } else { 0 };
                if let (false, Some((1.., name))) = (holds, asked) {
                    return Err(refused(format!("column {name}: maps of this version do not store it")));
                }
                let count = if holds { asked.map_or(kept, |(count, _)| count) } else { 0 };
                now.push(count);
                if holds {
                    let count = i32::try_from(count).map_err(|_| refused("a list is too long"))?;
                    out.extend_from_slice(&count.to_le_bytes());
                }
                continue;
            }
            if !holds {
                match value {
                    Some(value) if !value.is_null() && !matches!(value, Value::List(items) if items.is_empty()) => {
                        return Err(does_not_fit(
                            field,
                            value,
                            "nothing, as maps of this version do not store it here",
                        ));
                    }
                    _ => continue,
                }
            }
            self.field(field, *value, had, place, [&before, &now], out)?;
        }
        Ok(())
    }

    fn field(
        &self,
        field: &'static MapField,
        value: Option<&Value<'static>>,
        had: Option<(Cursor<'m>, Range<usize>)>,
        place: ListPosition,
        [before, now]: [&Counts; 2],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (value, had) = match (value, had) {
            // Null is how a float that is not finite is shown.
            (None | Some(Value::Null), Some((_, range))) => {
                if let StoredKind::List(_, number) = field.kind
                    && before.get(number) != now.get(number)
                {
                    let (count, has) = (now.get(number), before.get(number));
                    let what = format!(
                        "column {}: it has {has} items, and is to have {count}, as the other list does",
                        field.name
                    );
                    return Err(refused(what));
                }
                if matches!(value, Some(Value::Null)) && !matches!(field.kind, StoredKind::Float) {
                    return Err(does_not_fit(field, &Value::Null, "a value"));
                }
                self.copy(range, out);
                return Ok(());
            }
            (None | Some(Value::Null), None) => {
                let count = if let StoredKind::List(_, number) = field.kind { now.get(number) } else { 0 };
                if count > 0 {
                    return Err(refused(format!(
                        "column {}: {count} items are needed, as the other list has",
                        field.name
                    )));
                }
                if matches!(field.kind, StoredKind::Float) {
                    out.extend_from_slice(&field.default.to_le_bytes());
                    return Ok(());
                }
                return self.nothing(&field.kind, out);
            }
            (Some(value), had) => (value, had),
        };
        let cursor = had.map(|(cursor, _)| cursor);
        match field.kind {
            StoredKind::List(item, number) => {
                let Value::List(items) = value else { return Err(does_not_fit(field, value, "a list")) };
                self.items(field, item, items, cursor.map(|cursor| (cursor, before.get(number))), out)
            }
            ref kind => self.one(field, kind, value, place, cursor.map(|cursor| (cursor, place)), out),
        }
    }

    fn items(
        &self,
        field: &'static MapField,
        item: &'static StoredKind,
        items: &[Value<'static>],
        mut old: Option<(Cursor<'m>, usize)>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        for (at, value) in items.iter().enumerate() {
            let was = match &mut old {
                Some((cursor, count)) if at < *count => {
                    let (start, place) = (*cursor, ListPosition::of(at, *count));
                    skip_item(item, cursor, self.0.versions(), place)?;
                    Some((start, place))
                }
                _ => None,
            };
            self.one(field, item, value, ListPosition::of(at, items.len()), was, out)?;
        }
        Ok(())
    }

    /// One value; an equal one keeps its old bytes: a boolean that is neither 0 nor 1, and a text with or without its
    /// NUL.
    fn one(
        &self,
        field: &'static MapField,
        kind: &'static StoredKind,
        value: &Value<'static>,
        place: ListPosition,
        old: Old<'m>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some((mut cursor, was)) = old
            && was == place
        {
            let start = cursor.position();
            let decoded = decode_kind(kind, &mut cursor, self.0.versions(), was)?;
            if same_value(&decoded, value) {
                self.copy(start..cursor.position(), out);
                return Ok(());
            }
        }
        let number = match kind {
            StoredKind::Bool => match value {
                Value::Bool(truth) => Some(u32::from(*truth).to_le_bytes()),
                _ => whole_number(value)
                    .filter(|n| (0..=1).contains(n))
                    .and_then(|n| Some(u32::try_from(n).ok()?.to_le_bytes())),
            },
            StoredKind::Int | StoredKind::Count | StoredKind::List(..) => {
                whole_number(value).and_then(|n| Some(i32::try_from(n).ok()?.to_le_bytes()))
            }
            StoredKind::Uint => whole_number(value).and_then(|n| Some(u32::try_from(n).ok()?.to_le_bytes())),
            StoredKind::Float => single(value).filter(|number| number.is_finite()).map(f32::to_le_bytes),
            StoredKind::Text => {
                let stored = match old {
                    Some((mut cursor, _)) => Some(fields::read_text(&mut cursor)?),
                    None => None,
                };
                let has_nul = stored.and_then(|text| text.units().last()).map(|unit| unit.get() == 0);
                return self.text(field.name, value, has_nul, out);
            }
            StoredKind::Array(item, count) => {
                let Value::List(items) = value else { return Err(does_not_fit(field, value, "a list")) };
                if items.len() != *count {
                    return Err(does_not_fit(field, value, &format!("a list of {count}")));
                }
                return self.items(field, item, items, old.map(|(cursor, _)| (cursor, *count)), out);
            }
            StoredKind::Record(fields) => {
                let Value::Map(parts) = value else { return Err(does_not_fit(field, value, "an object")) };
                let mut names = parts.iter().map(|(name, _)| name);
                if let Some(name) = names.find(|name| !fields.iter().any(|f| f.name == **name && !f.is_count())) {
                    return Err(refused(format!(
                        "column {}: there is no member {name}",
                        field.name,
                        name = short_text(name)
                    )));
                }
                let new = fields.iter().map(|f| parts.iter().find(|(name, _)| *name == f.name).map(|(_, value)| value));
                return self.fields(fields, &new.collect::<Vec<_>>(), place, old, out);
            }
        };
        let what = match kind {
            StoredKind::Bool => "true or false",
            StoredKind::Float => "a finite number in its range",
            StoredKind::Uint => "a whole number from 0 to 4294967295",
            _ => "a whole number from -2147483648 to 2147483647",
        };
        out.extend_from_slice(&number.ok_or_else(|| does_not_fit(field, value, what))?);
        Ok(())
    }

    /// The bytes of a missing field in an inserted record.
    fn nothing(&self, kind: &'static StoredKind, out: &mut Vec<u8>) -> Result<()> {
        match kind {
            StoredKind::Text => self.text("", &Value::text(""), None, out),
            StoredKind::Array(item, count) => (0..*count).try_for_each(|at| match item {
                StoredKind::Record(fields) => {
                    let place = ListPosition::of(at, *count);
                    self.fields(fields, &vec![None; fields.len()], place, None, out)
                }
                item => self.nothing(item, out),
            }),
            StoredKind::Record(fields) => self.fields(fields, &vec![None; fields.len()], ALONE, None, out),
            StoredKind::List(..) => Ok(()),
            _ => {
                out.extend_from_slice(&[0; 4]);
                Ok(())
            }
        }
    }

    /// A text, with a NUL if the old text had one, or if the texts of the map have one.
    fn text(&self, field: &str, value: &Value<'_>, has_nul: Option<bool>, out: &mut Vec<u8>) -> Result<()> {
        let text: Cow<'_, str> = match value.as_text() {
            Some(text) if !text.contains('\0') => text,
            _ => {
                let value = short(value);
                return Err(refused(format!("column {field}: {value} does not fit: a text without NUL")));
            }
        };
        let mut units: Vec<u16> = text.encode_utf16().collect();
        if has_nul.unwrap_or(self.0.text_form() == TextForm::CountsNul) {
            units.push(0);
        }
        let count = u16::try_from(units.len()).map_err(|_| {
            refused(format!("column {field}: a text of {} units does not fit: at most 65535 with its NUL", units.len()))
        })?;
        out.extend_from_slice(&count.to_le_bytes());
        out.extend(units.into_iter().flat_map(u16::to_le_bytes));
        Ok(())
    }
}

#[cold]
fn does_not_fit(field: &MapField, value: &Value<'_>, what: &str) -> Error {
    refused(format!("column {}: {} does not fit: {what}", field.name, short(value)))
}
