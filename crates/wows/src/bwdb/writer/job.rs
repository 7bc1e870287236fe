//! A table to write: its rows in the file, the patches of their bytes, and the edits that cannot be applied.

use super::Refuse;
use super::area::{Area, EditedPosition, To, Writer};
use super::properties::{PropertyCells, property};
use super::value::refers;
use crate::bwdb::prototypes as p;
use crate::bwdb::record::{Form, Type, Typed as _};
use crate::bwdb::row_targets::RowTarget;
use crate::bwdb::tables::field_of;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::{Accepts, Column, Table, Value, column_index};
use crate::writable::{
    ColumnValues, EditPosition, Item, ListEdit, Lists, TableEdits, cell, cell_named, refused, short_text,
};

/// Whether these cells of a row require rewriting the whole list.
pub(super) fn rearranges(rows: RowTarget, table: &dyn Table, cells: &ColumnValues) -> bool {
    let columns: &[&str] = match rows {
        RowTarget::Properties => &["type"],
        RowTarget::Nodes { .. } => &["name_id", PARENT],
        RowTarget::Records(_) | RowTarget::Elements(_) => &[],
    };
    columns.iter().any(|column| cell_named(table, cells, column).is_some())
}

pub(super) struct Job<'j, 'a> {
    pub table: &'j dyn Table,
    pub rows: RowTarget,
    pub edits: &'j TableEdits,
    pub out: Writer<'j, 'a>,
    /// Columns of the table that are derived, or contain texts of ids.
    pub follows: &'j mut Vec<(String, usize)>,
    pub refuse: Refuse<'j>,
}

impl<'j, 'a> Job<'j, 'a> {
    /// Writes the changed rows and the lists with inserted and deleted rows. `record` locates the record with a number, unless it is
    /// deleted. Returns the table and the numbers of the inserted rows, if any.
    pub fn write(
        &mut self,
        record: impl Fn(&Area<'a>, usize) -> Result<Option<EditedPosition<'a>>>,
    ) -> Result<Option<(String, Vec<usize>)>> {
        let (table, edits, rows) = (self.table, self.edits, self.rows);
        let lists = Lists::new(table, edits, |set| rearranges(rows, table, set))?;
        for (number, list) in &lists.0 {
            if let Some(place) = record(self.out.area, *number)? {
                self.list(place, list)?;
            }
        }
        for (row, cells) in &edits.set {
            let number = self.number(*row, 0);
            if number.as_ref().is_ok_and(|number| lists.0.contains_key(number)) {
                continue;
            }
            self.attempt(EditPosition::Set(*row), |job| match record(job.out.area, number?)? {
                Some(place) => job.row(place, *row, cells),
                None => Ok(()),
            })?;
        }
        Ok((!edits.add.is_empty() && !lists.0.is_empty()).then(|| (edits.table.clone(), lists.added(edits))))
    }

    /// Writes the inserted records, without their lists. A row without a cell for an array, a text or one of the columns `optional` has
    /// an empty one.
    pub fn insert(&mut self, of: &'static Type, optional: &[&str]) -> Result<()> {
        for (number, cells) in self.edits.add.iter().enumerate() {
            self.attempt(EditPosition::Add(number), |job| {
                job.out.what = format!("{}: the inserted row with number {number}", job.table.name());
                let place = EditedPosition::new(To::Record(number.saturating_mul(of.size)));
                let mut missing = Vec::new();
                for (number, column) in job.table.columns().iter().enumerate().filter(|(_, column)| is_stored(column)) {
                    let Some(field) = field_of(of, &column.name) else { continue };
                    let info = field.info();
                    match cell(cells, number) {
                        Some(value) => job.out.set(place.skip(field.at), field.of, field.field, None, value)?,
                        None if matches!(info.form, Form::Array { .. }) || info.of.traits.texts.own => {}
                        None if optional.contains(&&*column.name) => {}
                        None => missing.push(&*column.name),
                    }
                }
                job.out.check_counts()?;
                match missing.is_empty() {
                    true => Ok(()),
                    false => Err(job.out.refuse(format_args!("these columns are missing: {}", missing.join(", ")))),
                }
            })?;
        }
        Ok(())
    }

    pub fn refuse_rows(&mut self) -> Result<()> {
        let TableEdits { table, add, remove, .. } = self.edits;
        let added = (0..add.len()).map(EditPosition::Add);
        for at in added.chain(remove.iter().copied().map(EditPosition::Remove)) {
            (self.refuse)(at, refused(format!("rows of {table} can neither be added nor removed")))?;
        }
        Ok(())
    }

    /// Writes one row, completely or not at all.
    fn attempt(&mut self, at: EditPosition, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let mark = self.out.patches.mark();
        write(self).or_else(|error| {
            self.back_to(mark);
            (self.refuse)(at, error)
        })
    }

    pub fn back_to(&mut self, mark: usize) {
        self.out.patches.back_to(mark);
        self.out.area.counts.clear();
    }

    /// Writes the cells of one row, of a record at `place`.
    fn row(&mut self, place: EditedPosition<'a>, row: usize, cells: &ColumnValues) -> Result<()> {
        let item = match self.table.nature().item() {
            Some(item) if !cells.is_empty() => self.number(row, item)?,
            _ => 0,
        };
        match self.rows {
            RowTarget::Records(of) => self.fields(place, of, row, cells),
            RowTarget::Elements(_) if cells.is_empty() => Ok(()),
            RowTarget::Elements(array) => {
                self.out.what = format!("{}: row {row}", self.table.name());
                let (place, elements) = self.out.elements(place.skip(array.at), array.of, array.field)?;
                if item >= elements.len {
                    return Err(self.out.refuse("this is not written"));
                }
                self.fields(place.skip(item.saturating_mul(elements.of.size)), elements.of, row, cells)
            }
            RowTarget::Properties => {
                PropertyCells::of(self.table, cells)?;
                cells.iter().try_for_each(|(column, new)| {
                    let old = self.old(row, *column, new)?;
                    let name = column_name(self.table, *column);
                    if name == "value" && new.is_null() {
                        // A texture with an unknown path has no text; its id identifies it.
                        if cell_named(self.table, cells, "texture_id").is_none() {
                            let what = "null does not fit: a value of its kind, or the path of a texture, does";
                            return Err(self.out.refuse(what));
                        }
                        self.follow(*column);
                    } else if property(&mut self.out, place, item, name, &old, new)? {
                        self.follow_named(&["value", "texture_id"]);
                    }
                    Ok(())
                })
            }
            RowTarget::Nodes { at } => cells.iter().try_for_each(|(column, new)| {
                let old = self.old(row, *column, new)?;
                if column_name(self.table, *column) != "matrix" {
                    return Err(self.out.refuse("this is not written"));
                }
                let matrices = p::Skeleton::number_of("matrices");
                self.out.set_element(place.skip(at), p::Skeleton::OF, matrices, item, Some(&old), new)
            }),
        }
    }

    /// Writes the cells of a row that shows the fields of a struct.
    pub fn fields(
        &mut self,
        place: EditedPosition<'a>,
        of: &'static Type,
        row: usize,
        cells: &ColumnValues,
    ) -> Result<()> {
        for (column, new) in cells {
            let old = self.old(row, *column, new)?;
            let field = field_of(of, column_name(self.table, *column));
            let field = field.ok_or_else(|| self.out.refuse("this is not written"))?;
            self.out.set(place.skip(field.at), field.of, field.field, Some(&old), new)?;
        }
        self.out.what = format!("{}: row {row}", self.table.name());
        self.out.check_counts()
    }

    /// The cell that is written next.
    fn old(&mut self, row: usize, column: usize, new: &Value<'_>) -> Result<Value<'j>> {
        let old = self.table.value(row, column)?;
        if refers(&old) || refers(new) {
            self.follow(column);
        }
        self.out.what = format!("{}: row {row}: column {}", self.table.name(), column_name(self.table, column));
        Ok(old)
    }

    /// Registers a column that is derived, or contains texts of ids.
    fn follow(&mut self, column: usize) {
        let table = self.table.name();
        if !self.follows.iter().any(|(other, at)| other == table && *at == column) {
            self.follows.push((table.to_owned(), column));
        }
    }

    pub fn follow_named(&mut self, columns: &[&str]) {
        let table = self.table;
        columns.iter().filter_map(|name| column_index(table, name)).for_each(|column| self.follow(column));
    }

    fn number(&self, row: usize, column: usize) -> Result<usize> {
        match self.table.value(row, column)? {
            Value::Uint(number) => usize::try_from(number).map_err(|_| refused(format!("no row has number {number}"))),
            _ => Err(refused(format!("{}: row {row} has no {}", self.table.name(), column_name(self.table, column)))),
        }
    }

    /// The row and the cells of an edited item that is kept.
    pub fn edited(&self, list: &ListEdit, item: usize) -> Option<&'j (usize, ColumnValues)> {
        self.edits.set.get(*list.set.get(&item)?)
    }
}

/// Whether a column has cells of its own.
pub(super) fn is_stored(column: &Column) -> bool {
    !matches!(column.accepts, Accepts::Nothing | Accepts::Path | Accepts::Name)
}

/// The name of a column with an edited cell.
pub(super) fn column_name(table: &dyn Table, column: usize) -> &str {
    &table.columns().get(column).expect("edits are resolved to columns of the table").name
}

pub(super) fn table<'a>(reader: &'a dyn Reader, name: &str) -> Result<Box<dyn Table + 'a>> {
    reader.table(name).ok_or_else(|| refused(format!("no table {}", short_text(name))))
}

/// Why a list cannot be written, and the edit that is to blame, if it is one.
pub(super) struct Wrong {
    pub at: Option<EditPosition>,
    pub error: Error,
}

impl Wrong {
    pub fn new(at: EditPosition, error: Error) -> Self {
        Self { at: Some(at), error }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { at: None, error }
    }
}

/// A list that is written, and its items after the edits.
#[derive(Clone, Copy)]
pub(super) struct Listed<'e> {
    pub list: &'e ListEdit,
    pub items: &'e [Item],
}

/// The column of the number of a node's parent.
pub(super) const PARENT: &str = "parent";
