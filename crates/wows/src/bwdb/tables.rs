//! The tables of the three formats. A table is a name, columns, and how to count rows and read one cell.

mod cells;
mod children;
mod file;
mod nested;
mod paths;
mod records;
mod rows;
mod space;
mod uber;

pub(super) use space::{instances, models, space};
pub(super) use uber::{UBER_TABLES, uber};

use super::declared::Type;
use super::prototypes::{self as p, Layout, PrototypeType};
use super::record::Walker;
use super::{Blob, Database};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Table, no_cell};
use cells::{cell_of, field_columns, may_be_searched};
use children::{Properties, children, material_properties, visual_children};
use nested::{Children, Nested};
use records::{Records as _, Row, records, table_of, with_own_texts, within};
use rows::DatabaseRows;

/// The tables of an `assets.bin`.
pub(super) fn all(db: &Database) -> Vec<Box<dyn Table + '_>> {
    with_blobs(db).into_iter().map(|(_, table)| table).collect()
}

/// The database whose records table `name` shows; `None` if there is no such table, or a database is damaged.
pub(super) fn blob_of<'a>(db: &'a Database, name: &str) -> Option<Blob<'a>> {
    let is_damaged = db.databases().any(|blob| blob.is_err());
    let shown = with_blobs(db).into_iter().find(|(_, table)| table.name() == name);
    shown.filter(|_| !is_damaged).and_then(|(blob, _)| blob)
}

/// The tables, each with the database of its records, if it shows records of one.
fn with_blobs(db: &Database) -> Vec<(Option<Blob<'_>>, Box<dyn Table + '_>)> {
    let mut tables: Vec<Box<dyn Table + '_>> =
        vec![paths::table(db), file::resources(db), file::strings(db), file::databases(db)];
    let mut of_tables = vec![None; tables.len()];
    let blobs: Vec<Blob<'_>> = db.databases().flatten().collect();
    for &prototype in PrototypeType::ALL {
        if let Some(&blob) = blobs.iter().find(|blob| blob.prototype() == Some(prototype)) {
            prototype_tables(db, blob, prototype, &mut tables);
            of_tables.resize(tables.len(), Some(blob));
        }
    }
    for blob in blobs {
        if let Some(Layout::Declared(of)) = blob.layout() {
            declared_tables(db, blob, of, &mut tables);
            of_tables.resize(tables.len(), Some(blob));
        }
    }
    of_tables.into_iter().zip(tables).collect()
}

/// Why there is no table `name`, if its records are shown raw.
pub(super) fn absent(db: &Database, name: &str) -> Option<String> {
    let raw = db.databases().flatten().filter(|blob| blob.layout().is_none());
    let presumed = raw.flat_map(|blob| blob.presumed(&db.layouts).map(move |presumed| (blob, presumed)));
    presumed.into_iter().find_map(|(blob, presumed)| {
        let mut tables = Vec::new();
        match presumed.layout()? {
            Layout::Declared(of) => declared_tables(db, presumed, of, &mut tables),
            layout => prototype_tables(db, presumed, layout.prototype()?, &mut tables),
        }
        tables.iter().any(|table| table.name() == name).then(|| blob.note()).flatten()
    })
}

/// The tables of records whose layout is declared by data: one of the records, and one for each kind of struct that has
/// a table and that they have arrays of. The first array of a struct counts.
fn declared_tables<'a>(db: &'a Database, blob: Blob<'a>, of: &'static Type, tables: &mut Vec<Box<dyn Table + 'a>>) {
    let rows = DatabaseRows { db, blob };
    let name = Layout::Declared(of).table();
    let (columns, sources) = field_columns(of.fields);
    let records = with_own_texts(table_of(name, rows, move |row| rows.view(row)), of.fields, &sources);
    let records = records.columns(columns, move |row: &Row<View<'a>>, column| {
        let source = sources.get(column).copied().ok_or_else(|| no_cell(name, row.number, column))?;
        let view = *row.read()?;
        let cell = cell_of(|field, walker| of.walk_field(view, field, walker), source, rows.names(), row.budget.get());
        cell.map_err(|error| within(name, row.number, error))
    });
    let mut new: Vec<Box<dyn Table + 'a>> = vec![Box::new(records)];
    for field in 0..of.fields.len() {
        if let Some(element) = of.element(field)
            && let Some(table) = element.table
            && new.iter().all(|other| other.name() != table)
        {
            new.push(declared_children(table, rows, DeclaredElements { of, field, element }));
        }
    }
    // Another database may have one of this name.
    new.retain(|table| tables.iter().all(|other| other.name() != table.name()));
    tables.append(&mut new);
}

/// A row for each element of an array of structs that are declared by data.
fn declared_children<'a>(
    name: &'static str,
    rows: DatabaseRows<'a>,
    elements: DeclaredElements,
) -> Box<dyn Table + 'a> {
    let element = elements.element;
    let mut table = Nested::new(name, rows, elements);
    let (columns, sources) = field_columns(element.fields);
    for (column, source) in columns.into_iter().zip(sources) {
        table = table.column_within(column, move |view: &View<'a>, budget| {
            cell_of(|field, walker| element.walk_field(*view, field, walker), source, rows.names(), budget)
        });
        if let Some(info) = element.fields.get(source.field).filter(|info| may_be_searched(info.shown)) {
            let walk =
                move |view: &View<'a>, walker: &mut dyn Walker<'a>| element.walk_field(*view, source.field, walker);
            table = table.searched(info.texts, walk);
        }
    }
    table.build()
}

struct DeclaredElements {
    of: &'static Type,
    /// The number of the array among the fields.
    field: usize,
    element: &'static Type,
}

impl<'a> Children<'a> for DeclaredElements {
    type Row = View<'a>;

    fn size(&self) -> usize {
        self.element.size
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok(self.of.array(record, self.field)?.1)
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<View<'a>> {
        let (view, len) = self.of.array(record, self.field)?;
        let skip = index.checked_mul(self.element.size).filter(|_| index < len);
        Ok(view.skip(skip.ok_or_else(|| no_cell(self.element.name, index, 0))?))
    }
}

fn prototype_tables<'a>(
    db: &'a Database,
    blob: Blob<'a>,
    prototype: PrototypeType,
    tables: &mut Vec<Box<dyn Table + 'a>>,
) {
    let rows = DatabaseRows { db, blob };
    let name = prototype.table();
    match prototype {
        PrototypeType::Material => {
            tables.push(records::<p::Material<'a>, _>(name, rows));
            tables.push(material_properties(rows, Properties));
        }
        PrototypeType::Visual => {
            tables.push(records::<p::Visual<'a>, _>(name, rows));
            visual_children(rows, Ok, tables);
        }
        PrototypeType::SkeletonExtender => {
            tables.push(records::<p::SkeletonExtender<'a>, _>(name, rows));
        }
        PrototypeType::Model if blob.layout() == Some(Layout::ModelV14) => {
            tables.push(records::<p::ModelV14<'a>, _>(name, rows));
            tables.push(children::<p::ModelV14<'a>, p::Dye<'a>, _>("dyes", rows, |m| m.dyes()));
        }
        PrototypeType::Model => {
            tables.push(records::<p::Model<'a>, _>(name, rows));
            tables.push(children::<p::Model<'a>, p::Dye<'a>, _>("dyes", rows, |m| m.dyes()));
        }
        PrototypeType::PointLight => tables.push(records::<p::PointLight<'a>, _>(name, rows)),
        PrototypeType::Effect => {
            tables.push(records::<p::Effect<'a>, _>(name, rows));
            tables.push(children::<p::Effect<'a>, p::System<'a>, _>("effect_systems", rows, |e| e.systems()));
        }
        PrototypeType::VelocityField => tables.push(records::<p::VelocityField<'a>, _>(name, rows)),
        PrototypeType::EffectPreset => tables.push(records::<p::EffectPreset<'a>, _>(name, rows)),
        PrototypeType::EffectMetadata => {
            tables.push(records::<p::EffectMetadata<'a>, _>(name, rows));
            tables.push(children::<p::EffectMetadata<'a>, p::EffectParameter<'a>, _>("effect_parameters", rows, |m| {
                m.entries()
            }));
        }
        PrototypeType::AtlasContour => tables.push(records::<p::AtlasContour<'a>, _>(name, rows)),
    }
}
