//! One record, read field by field.

use super::Map;
use super::Volume;
use super::fields::{self, StoredKind};
use super::layout::Obb;
use super::shapes::Shape;
use crate::bytes::{Cursor, Utf16, le};
use crate::error::{Error, ErrorKind, Result};
use crate::table::Value;

/// A record in the file. Fields are located on demand; texts and lists of numbers are borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    map: &'a Map,
    shape: &'static Shape,
    cursor: Cursor<'a>,
}

impl<'a> Record<'a> {
    pub(super) const fn new(map: &'a Map, shape: &'static Shape, cursor: Cursor<'a>) -> Self {
        Self { map, shape, cursor }
    }

    /// The record's kind: fields and table.
    pub fn shape(&self) -> &'static Shape {
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
        if self.shape.placed { self.stored_name().map(Utf16::trim_nul) } else { Ok(Utf16::new(&[])) }
    }

    /// The stored name, possibly with a NUL.
    pub(super) fn stored_name(&self) -> Result<Utf16<'a>> {
        fields::read_text(&mut self.cursor.clone())
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
    pub fn volume(&self) -> Result<Option<Volume>> {
        Ok(self.obb()?.and_then(super::space::volume_of))
    }

    /// An error of `kind` at its first byte.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        self.cursor.view().error(kind)
    }

    /// The cursor at its first byte.
    pub(super) const fn start(&self) -> Cursor<'a> {
        self.cursor
    }

    /// The cursor after name and [`Obb`].
    pub(super) fn own_fields(&self) -> Result<Cursor<'a>> {
        let mut cursor = self.cursor;
        if self.shape.placed {
            fields::read_text(&mut cursor)?;
            cursor.skip(size_of::<Obb>())?;
        }
        Ok(cursor)
    }

    /// The field with this number; null if this version lacks it.
    ///
    /// # Errors
    /// `OutOfBounds` when the file ends before the record does.
    pub fn value(&self, field: usize) -> Result<Value<'a>> {
        fields::value(self.shape.fields, field, &mut self.own_fields()?, self.map.versions())
    }

    /// The field `name`; null if this version lacks it.
    ///
    /// # Errors
    /// `NotFound` for an unknown name; `OutOfBounds` when the file ends before the field does.
    pub fn get(&self, name: &str) -> Result<Value<'a>> {
        self.value(self.number(name)?)
    }

    /// The text of field `name`, without the NUL; `None` if this version lacks it.
    ///
    /// # Errors
    /// As [`Record::get`], and when the field is not a text.
    pub fn text(&self, name: &str) -> Result<Option<Utf16<'a>>> {
        self.text_in(self.number(name)?)
    }

    /// As [`Record::text`], for the field with this number.
    pub(super) fn text_in(&self, field: usize) -> Result<Option<Utf16<'a>>> {
        match self.value(field)? {
            Value::Utf16(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            _ => Err(self.not(field, "a text")),
        }
    }

    /// The integer of field `name`; `None` if this version lacks it.
    ///
    /// # Errors
    /// As [`Record::get`], and when the field is not an integer.
    pub fn int(&self, name: &str) -> Result<Option<i64>> {
        self.int_in(self.number(name)?)
    }

    /// As [`Record::int`], for the field with this number.
    pub(super) fn int_in(&self, field: usize) -> Result<Option<i64>> {
        match self.value(field)? {
            Value::Int(value) => Ok(Some(value)),
            Value::Uint(value) => Ok(i64::try_from(value).ok()),
            Value::Null => Ok(None),
            _ => Err(self.not(field, "an integer")),
        }
    }

    /// The list of integers of field `name`, borrowed.
    ///
    /// # Errors
    /// As [`Record::get`], and when the field is not such a list.
    pub fn ints(&self, name: &str) -> Result<&'a [le::I32]> {
        self.ints_in(self.number(name)?)
    }

    /// As [`Record::ints`], for the field with this number.
    pub(super) fn ints_in(&self, field: usize) -> Result<&'a [le::I32]> {
        self.numbers(field, |kind| matches!(kind, StoredKind::Int))
    }

    /// The list of floats of field `name`, borrowed.
    ///
    /// # Errors
    /// As [`Record::get`], and when the field is not such a list.
    pub fn floats(&self, name: &str) -> Result<&'a [le::F32]> {
        self.floats_in(self.number(name)?)
    }

    /// As [`Record::floats`], for the field with this number.
    pub(super) fn floats_in(&self, field: usize) -> Result<&'a [le::F32]> {
        self.numbers(field, |kind| matches!(kind, StoredKind::Float))
    }

    fn numbers<T: crate::bytes::Overlay>(&self, number: usize, is_item: fn(&StoredKind) -> bool) -> Result<&'a [T]> {
        let is_list = self.shape.fields.get(number).is_some_and(|field| match field.kind {
            StoredKind::List(item, _) | StoredKind::Array(item, _) => is_item(item),
            _ => false,
        });
        if !is_list {
            return Err(self.not(number, "such a list"));
        }
        let mut cursor = self.own_fields()?;
        let (start, end) = fields::locate(self.shape.fields, number, &mut cursor, self.map.versions())?;
        cursor.seek(start);
        cursor.array(end.saturating_sub(start) / 4)
    }

    fn number(&self, name: &str) -> Result<usize> {
        self.shape.field(name).ok_or_else(|| {
            let what = format!("field {name:?} not found");
            Error::of_part(ErrorKind::NotFound { what }, self.shape.name)
        })
    }

    fn not(&self, field: usize, what: &str) -> Error {
        let name = self.shape.fields.get(field).map_or("", |field| field.name);
        let what = format!("{name} is not {what}").into();
        Error::of_part(ErrorKind::Unsupported { what }, self.shape.name)
    }
}
