//! The tables of sheets and packs.

use super::pack::{Pack, PackedSheet};
use super::{FieldKind, Sheet, SheetRecord};
use crate::table::{Column, DeclaredTable, Table, Value};

pub(super) fn of_sheet(sheet: &Sheet) -> Vec<Box<dyn Table + '_>> {
    vec![records(sheet, "records"), sections(sheet), fields(sheet)]
}

/// The tables of a pack: its entries, and, if some of them are sheets, the list of sheets and their records.
pub(super) fn of_pack(pack: &Pack) -> Vec<Box<dyn Table + '_>> {
    let mut tables: Vec<Box<dyn Table + '_>> = vec![entries(pack)];
    if !pack.sheets().is_empty() {
        tables.push(sheets(pack));
        let opened = pack.sheets().iter().filter_map(PackedSheet::opened);
        tables.extend(opened.map(|(name, sheet)| records(sheet, name)));
    }
    tables
}

/// The records of a sheet; in a pack under the name of its entry.
fn records<'a>(sheet: &'a Sheet, name: &'a str) -> Box<dyn Table + 'a> {
    let mut columns = sheet.columns.iter().cloned();
    let entries = sheet.records();
    let table = DeclaredTable::new(
        name,
        || Ok(entries.len()),
        |row| Ok(entries.get(row).map(|entry| SheetRecord::new(sheet, entry))),
    );
    let table = table
        .columns(columns.next(), |record, _| Ok(Value::Text(record.name())))
        .found_by(|key| match key.as_text() {
            // A name with escaped bytes has two readings: comparing all of them is right.
            Some(name) => (!name.contains("\\x")).then(|| Ok(sheet.rows_named(&name).collect())),
            None => Some(Ok(Vec::new())),
        })
        .label()
        .columns(columns, SheetRecord::value)
        .with_writable_rows();
    Box::new(table)
}

fn sections(sheet: &Sheet) -> Box<dyn Table + '_> {
    let table = DeclaredTable::over("sections", sheet.section_entries())
        .column(Column::text("name").brief().key(), |(_, entry)| Ok(Value::Text(entry.name_text())))
        .column(Column::uint("offset").brief().place(), |(_, entry)| {
            Ok(sheet.source.view("").at(entry.offset.get() as usize).offset().into())
        })
        .column(Column::uint("size").brief(), |(_, entry)| Ok(entry.size.get().into()))
        .derived();
    Box::new(table)
}

fn fields(sheet: &Sheet) -> Box<dyn Table + '_> {
    let table = DeclaredTable::over("fields", sheet.fields())
        .column(Column::uint("index").brief().place(), |(index, _)| Ok((*index).into()))
        .column(Column::text("name").brief().key(), |(_, field)| Ok(Value::text(&field.name)))
        .column(Column::text("kind").brief(), |(_, field)| Ok(field.kind.name().into()))
        .column(Column::uint("bits").brief(), |(_, field)| Ok(field.bits.into()))
        .column(Column::uint("offset").brief().place(), |(_, field)| Ok(field.offset.into()))
        .column(Column::uint("bit").brief().place(), |(_, field)| Ok(field.shift.into()))
        .column(Column::text("fault"), |(_, field)| match field.kind {
            FieldKind::Fault(fault) => Ok(fault.to_string().into()),
            _ => Ok(Value::Null),
        });
    Box::new(table)
}

fn entries(pack: &Pack) -> Box<dyn Table + '_> {
    let table = DeclaredTable::over("entries", pack.entries())
        .column(Column::text("name").brief().key(), |(_, entry)| Ok(Value::Text(entry.name_text())))
        .column(Column::text("extension").brief().key(), |(_, entry)| Ok(Value::Text(entry.extension_text())))
        .column(Column::uint("offset").brief().place(), |(_, entry)| {
            Ok(pack.source().view("").at(entry.offset.get() as usize).offset().into())
        })
        .column(Column::uint("size").brief(), |(_, entry)| Ok(entry.size.get().into()))
        .column(Column::id64("content"), |(row, _)| pack.content(*row).map(Value::Id64));
    Box::new(table)
}

fn sheets(pack: &Pack) -> Box<dyn Table + '_> {
    let table = DeclaredTable::over("sheets", pack.sheets())
        .column(Column::text("entry").brief().key(), |(_, packed)| Ok(Value::text(&packed.name)))
        .column(Column::text("table").brief(), |(_, packed)| Ok(packed.opened().map(|(table, _)| table).into()))
        .column(Column::text("sheet").brief(), |(_, packed)| {
            Ok(packed.sheet()?.sheet_name()?.map_or(Value::Null, Value::Text))
        })
        .column(Column::uint("records").brief(), |(_, packed)| Ok(packed.sheet()?.records().len().into()))
        .column(Column::uint("fields").brief(), |(_, packed)| Ok(packed.sheet()?.fields().len().into()))
        .column(Column::uint("record_size"), |(_, packed)| Ok(packed.sheet()?.record_size().into()))
        .derived();
    Box::new(table)
}
