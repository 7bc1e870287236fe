//! One record, read field by field.

use super::Map;
use super::OrientedBox;
use super::fields::{self, StoredKind};
use super::layout::Obb;
use super::shapes::{PLACE, RecordShape};
use crate::bytes::{Cursor, Overlay, Utf16, le};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;

/// A record in the file. Fields are located on demand; texts and lists of numbers are borrowed.
#[derive(Debug, Clone, Copy)]
pub struct MapRecord<'a> {
    map: &'a Map,
    shape: &'static RecordShape,
    /// The cursor at its first byte.
    pub(super) cursor: Cursor<'a>,
}

impl<'a> MapRecord<'a> {
    pub(super) const fn new(map: &'a Map, shape: &'static RecordShape, cursor: Cursor<'a>) -> Self {
        Self { map, shape, cursor }
    }

    pub fn shape(&self) -> &'static RecordShape {
        self.shape
    }

    /// The record's first byte's offset in the file.
    pub fn offset(&self) -> u64 {
        self.cursor.view().offset()
    }

    /// The name before its [`Obb`], without the NUL; empty if its kind has no name.
    ///
    /// # Errors
    /// `OutOfBounds` when the file ends before the record does.
    pub fn name(&self) -> Result<Utf16<'a>> {
        if self.shape.placed {
            fields::read_text(&mut { self.cursor }).map(Utf16::trim_nul)
        } else {
            Ok(Utf16::new(&[]))
        }
    }

    /// The record's box; `None` for a kind without a position.
    ///
    /// # Errors
    /// `OutOfBounds` when the file ends before the record does.
    pub fn obb(&self) -> Result<Option<&'a Obb>> {
        if !self.shape.placed {
            return Ok(None);
        }
        let mut cursor = self.cursor;
        fields::read_text(&mut cursor)?;
        cursor.read().map(Some)
    }

    /// The space of its box; `None` for a kind without a position, and if its [`Obb`] describes no space.
    pub fn volume(&self) -> Result<Option<OrientedBox>> {
        Ok(self.obb()?.and_then(super::space::volume_of))
    }

    /// An error of `kind` at its first byte.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        self.cursor.view().error(kind)
    }

    /// The cursor after name and [`Obb`].
    pub(super) fn own_fields(&self) -> Result<Cursor<'a>> {
        self.skip_place(PLACE.len()).map(|(cursor, _)| cursor)
    }

    /// The cursor after those fields of its place that precede `field`, and how many they are.
    fn skip_place(&self, field: usize) -> Result<(Cursor<'a>, usize)> {
        let mut cursor = self.cursor;
        let skipped = if self.shape.placed { field.min(PLACE.len()) } else { 0 };
        if let Some(numbers) = skipped.checked_sub(1) {
            fields::read_text(&mut cursor)?;
            cursor.skip(numbers.saturating_mul(size_of::<f32>()))?;
        }
        Ok((cursor, skipped))
    }

    /// A field, by its number or its name; null if this version lacks it.
    ///
    /// # Errors
    /// `NotFound` for an unknown name; `OutOfBounds` when the file ends before the field does.
    pub fn get(&self, field: impl FieldKey) -> Result<Value<'a>> {
        let field = field.number_in(self.shape)?;
        let (mut cursor, skipped) = self.skip_place(field)?;
        let fields = self.shape.fields.get(skipped..).expect("a shape with a place has its fields");
        fields::value(fields, field.saturating_sub(skipped), &mut cursor, self.map.versions())
    }

    /// The text of a field, without the NUL; `None` if this version lacks it.
    ///
    /// # Errors
    /// As [`MapRecord::get`], and when the field is not a text.
    pub fn text(&self, field: impl FieldKey) -> Result<Option<Utf16<'a>>> {
        match self.get(field)? {
            Value::Utf16(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            _ => Err(self.not(field, "a text")),
        }
    }

    /// The list of integers of a field, borrowed.
    ///
    /// # Errors
    /// As [`MapRecord::get`], and when the field is not such a list.
    pub fn ints(&self, field: impl FieldKey) -> Result<&'a [le::I32]> {
        self.numbers(field, |kind| matches!(kind, StoredKind::Int))
    }

    /// The list of floats of a field, borrowed.
    ///
    /// # Errors
    /// As [`MapRecord::get`], and when the field is not such a list.
    pub fn floats(&self, field: impl FieldKey) -> Result<&'a [le::F32]> {
        self.numbers(field, |kind| matches!(kind, StoredKind::Float))
    }

    fn numbers<T: Overlay>(&self, field: impl FieldKey, is_item: fn(&StoredKind) -> bool) -> Result<&'a [T]> {
        let number = field.number_in(self.shape)?;
        let is_list = self.shape.fields.get(number).is_some_and(|field| match field.kind {
            StoredKind::List(item, _) | StoredKind::Array(item, _) => is_item(item),
            _ => false,
        });
        if !is_list {
            return Err(self.not(field, "such a list"));
        }
        let (mut cursor, end) = self.locate(number)?;
        cursor.array(end.saturating_sub(cursor.position()) / 4)
    }

    /// The cursor at the start of a field, and the position of its end.
    pub(super) fn locate(&self, field: impl FieldKey) -> Result<(Cursor<'a>, usize)> {
        let number = field.number_in(self.shape)?;
        let (mut cursor, skipped) = self.skip_place(number)?;
        let fields = self.shape.fields.get(skipped..).expect("a shape with a place has its fields");
        let (start, end) = fields::locate(fields, number.saturating_sub(skipped), &mut cursor, self.map.versions())?;
        cursor.seek(start);
        Ok((cursor, end))
    }

    fn not(&self, field: impl FieldKey, what: &str) -> Error {
        let field = field.number_in(self.shape).ok().and_then(|number| self.shape.fields.get(number));
        let what = format!("{} is not {what}", field.map_or("", |field| field.name)).into();
        Error::of_part(ErrorKind::Unsupported { what }, self.shape.name)
    }
}

/// A field of a shape: its number, or its name.
pub trait FieldKey: Copy {
    /// Its number.
    fn number_in(self, shape: &'static RecordShape) -> Result<usize>;
}

impl FieldKey for usize {
    fn number_in(self, _: &'static RecordShape) -> Result<usize> {
        Ok(self)
    }
}

impl FieldKey for &str {
    fn number_in(self, shape: &'static RecordShape) -> Result<usize> {
        shape.field(self).ok_or_else(|| {
            let what = format!("field {self:?} not found");
            Error::of_part(ErrorKind::NotFound { what }, shape.name)
        })
    }
}
