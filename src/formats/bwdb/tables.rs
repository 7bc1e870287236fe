//! The tables of the three formats. A table is a name, columns, and how to count rows and read one cell.

mod ahead;
mod nested;
mod paths;
mod space;

pub(super) use space::{instances, models, space};

use super::hashmap::{Bucket, occupied};
use super::prototypes::KIND;
use super::prototypes::{self as p, Layout, PrototypeType, known_property_name};
use super::record::{Field, FieldInfo, Leaf, List, NameId, Prototype, Shown, Walker};
use super::walk::{self, field_value};
use super::{Blob, Database, Models, Names};
use crate::bytes::View;
use crate::error::Result;
use crate::table::search::search_terminated;
use crate::table::{Column, IndexCursor, Kind, Literal, Role, RowCursor, Table, Value, no_cell};
use ahead::FarCursor;
use nested::{Children, Nested};
use paths::PathsTable;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Positions of rows that were counted: for each parent, the row behind its last child.
#[derive(Debug, Default)]
pub(super) struct Counts(RwLock<HashMap<&'static str, Arc<[usize]>>>);

impl Counts {
    fn get(&self, table: &'static str, count: impl FnOnce() -> Vec<usize>) -> Arc<[usize]> {
        if let Some(ends) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Arc::clone(ends);
        }
        let mut sum = 0usize;
        let ends: Arc<[usize]> = count()
            .into_iter()
            .map(|n| {
                sum = sum.saturating_add(n);
                sum
            })
            .collect();
        Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(table).or_insert(ends))
    }
}

type Len<'a> = Box<dyn Fn() -> Result<usize> + Send + Sync + 'a>;
type Cell<'a> = Box<dyn Fn(usize, usize) -> Result<Value<'a>> + Send + Sync + 'a>;
type Find<'a> = Box<dyn Fn(usize, &Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a>;
type Search<'a> = Box<dyn Fn(usize, &Literal) -> Option<Vec<usize>> + Send + Sync + 'a>;

/// A table made of what differs from table to table.
struct Lazy<'a> {
    name: &'static str,
    columns: Vec<Column>,
    label: usize,
    len: Len<'a>,
    cell: Cell<'a>,
    find: Find<'a>,
    /// The columns that `find` answers for.
    finds: Vec<usize>,
    search: Search<'a>,
    /// Whether `cell` says itself which rows there are not, so that they need not be counted.
    checked: bool,
    /// A column whose cells lie anywhere in the file, and what looks for those of several rows at once.
    far: Option<(usize, ahead::Look<'a>)>,
}

impl fmt::Debug for Lazy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> Lazy<'a> {
    fn new(
        name: &'static str,
        columns: Vec<Column>,
        len: impl Fn() -> Result<usize> + Send + Sync + 'a,
        cell: impl Fn(usize, usize) -> Result<Value<'a>> + Send + Sync + 'a,
    ) -> Self {
        let label = label(&columns);
        Self {
            name,
            columns,
            label,
            len: Box::new(len),
            cell: Box::new(cell),
            find: Box::new(|_, _| None),
            finds: Vec::new(),
            search: Box::new(|_, _| None),
            checked: false,
            far: None,
        }
    }

    fn with_search(mut self, search: impl Fn(usize, &Literal) -> Option<Vec<usize>> + Send + Sync + 'a) -> Self {
        self.search = Box::new(search);
        self
    }

    fn with_find(
        mut self,
        columns: &[usize],
        find: impl Fn(usize, &Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a,
    ) -> Self {
        self.find = Box::new(find);
        self.finds = columns.to_vec();
        self
    }
}

/// The column by which people name a row.
fn label(columns: &[Column]) -> usize {
    let find = |wanted: &&str| columns.iter().position(|column| column.name == *wanted);
    ["path", "name", "text", "material_name"].iter().find_map(find).unwrap_or(0)
}

impl Table for Lazy<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        (self.len)()
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        if column >= self.columns.len() || !self.checked && row >= self.len()? {
            return Err(no_cell(self.name, row, column));
        }
        (self.cell)(row, column)
    }

    fn cursor(&self, first: usize) -> Box<dyn RowCursor + '_> {
        let rows = IndexCursor::new(self, first, |row| Ok(row < self.len()?));
        match &self.far {
            Some((column, look)) => Box::new(FarCursor::new(rows, first, *column, look)),
            None => Box::new(rows),
        }
    }

    fn splits(&self) -> bool {
        true
    }

    fn finds(&self, column: usize) -> bool {
        self.finds.contains(&column)
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        (self.find)(column, key)
    }

    fn search(&self, column: usize, literal: &Literal) -> Option<Vec<usize>> {
        (self.search)(column, literal)
    }

    fn label(&self) -> usize {
        self.label
    }
}

/// The tables of an `assets.bin`.
pub(super) fn all(db: &Database) -> Vec<Box<dyn Table + '_>> {
    let mut tables: Vec<Box<dyn Table + '_>> =
        vec![Box::new(PathsTable::new(db)), resources(db), strings(db), databases(db)];
    let blobs: Vec<Blob<'_>> = db.databases().flatten().collect();
    let blob = |prototype| blobs.iter().copied().find(|b| b.prototype() == Some(prototype));
    for &prototype in PrototypeType::ALL {
        if let Some(blob) = blob(prototype) {
            prototype_tables(db, blob, prototype, &mut tables);
        }
    }
    tables
}

/// Why there is no table called `name`, where the records that it would show are shown raw.
pub(super) fn absent(db: &Database, name: &str) -> Option<String> {
    let raw = db.databases().flatten().filter(|blob| blob.layout().is_none());
    raw.filter_map(|blob| Some((blob, blob.presumed()?))).find_map(|(blob, (presumed, prototype))| {
        let mut tables = Vec::new();
        prototype_tables(db, presumed, prototype, &mut tables);
        tables.iter().any(|table| table.name() == name).then(|| blob.note()).flatten()
    })
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
            let own = ["property_count", "fx", "collision_flags", "sort_order"];
            tables.push(records::<p::Material<'a>, _>(name, rows, Some(&own)));
            tables.push(material_properties(rows));
        }
        PrototypeType::Visual => {
            tables.push(records::<p::Visual<'a>, _>(name, rows, Some(VISUAL_COLUMNS)));
            visual_children(rows, Ok, tables);
        }
        PrototypeType::SkeletonExtender => {
            tables.push(records::<p::SkeletonExtender<'a>, _>(name, rows, None));
        }
        PrototypeType::Model if blob.layout() == Some(Layout::ModelV14) => {
            tables.push(records::<p::ModelV14<'a>, _>(name, rows, Some(MODEL_COLUMNS)));
            tables.push(children::<p::ModelV14<'a>, p::Dye<'a>, _>("dyes", rows, |m| m.dyes()));
        }
        PrototypeType::Model => {
            tables.push(records::<p::Model<'a>, _>(name, rows, Some(MODEL_COLUMNS)));
            tables.push(children::<p::Model<'a>, p::Dye<'a>, _>("dyes", rows, |m| m.dyes()));
        }
        PrototypeType::PointLight => tables.push(records::<p::PointLight<'a>, _>(name, rows, None)),
        PrototypeType::Effect => {
            let own = ["max_emitting_duration", "system_count"];
            tables.push(records::<p::Effect<'a>, _>(name, rows, Some(&own)));
            tables.push(children::<p::Effect<'a>, p::System<'a>, _>("effect_systems", rows, |e| e.systems()));
        }
        PrototypeType::VelocityField => tables.push(records::<p::VelocityField<'a>, _>(name, rows, None)),
        PrototypeType::EffectPreset => tables.push(records::<p::EffectPreset<'a>, _>(name, rows, None)),
        PrototypeType::EffectMetadata => {
            tables.push(records::<p::EffectMetadata<'a>, _>(name, rows, Some(&["count"])));
            tables.push(children::<p::EffectMetadata<'a>, p::EffectParameter<'a>, _>("effect_parameters", rows, |m| {
                m.entries()
            }));
        }
        PrototypeType::AtlasContour => tables.push(records::<p::AtlasContour<'a>, _>(name, rows, None)),
    }
}

const VISUAL_COLUMNS: &[&str] =
    &["geometry", "underwater", "abovewater", "render_set_count", "lod_count", "min", "max"];
const MODEL_COLUMNS: &[&str] = &["visual", "misc_type", "skeleton_extenders", "animations", "dye_count"];

/// Where the records of a table come from, and which columns every table of them begins with.
trait Rows<'a>: Copy + Send + Sync + 'a {
    fn len(self) -> usize;
    fn view(self, row: usize) -> Result<View<'a>>;
    fn lead_columns(self) -> Vec<Column>;
    fn lead_value(self, row: usize, column: usize) -> Result<Value<'a>>;
    /// The columns that `find` answers for.
    fn finds(self) -> &'static [usize];
    fn find(self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>>;
    fn names(self) -> &'a dyn Names;
    fn counts(self) -> &'a Counts;
}

#[derive(Clone, Copy)]
struct DatabaseRows<'a> {
    db: &'a Database,
    blob: Blob<'a>,
}

impl<'a> Rows<'a> for DatabaseRows<'a> {
    fn len(self) -> usize {
        self.blob.len()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.blob.record_span(row).map(|(view, _)| view)
    }

    fn lead_columns(self) -> Vec<Column> {
        vec![
            Column::new("record", Kind::Uint).brief().place(),
            Column::new("id", Kind::Id64).key(),
            Column::new("path", Kind::Text).brief().resolved(),
        ]
    }

    fn lead_value(self, row: usize, column: usize) -> Result<Value<'a>> {
        let id = || self.db.owners().id(self.db, self.blob.index(), row);
        match column {
            0 => Ok(row.into()),
            1 => Ok(id().map(Value::Id64).unwrap_or_default()),
            _ => id().map_or(Ok(Value::Null), |id| self.db.paths().path(id).map(Value::from)),
        }
    }

    fn finds(self) -> &'static [usize] {
        if self.db.hashes_paths() { &[0, 1, 2] } else { &[0, 1] }
    }

    fn find(self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        let id = match (column, key) {
            (0, Value::Uint(record)) => {
                return Some(Ok(usize::try_from(*record).into_iter().filter(|&r| r < self.blob.len()).collect()));
            }
            (1, Value::Id64(id)) => *id,
            (2, Value::Text(path)) if self.db.hashes_paths() => Database::path_id(path),
            _ => return None,
        };
        Some(self.db.lookup(id).map(|found| {
            found
                .filter(|r| r.state() == super::State::Valid && r.database_index() == self.blob.index())
                .map(|r| r.record_index())
                // Where two resources share a record, the row belongs to one of them.
                .filter(|&record| self.db.owners().id(self.db, self.blob.index(), record) == Some(id))
                .into_iter()
                .collect()
        }))
    }

    fn names(self) -> &'a dyn Names {
        self.db
    }

    fn counts(self) -> &'a Counts {
        &self.db.counts
    }
}

#[derive(Clone, Copy)]
struct ModelRows<'a>(&'a Models);

impl<'a> Rows<'a> for ModelRows<'a> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.model(row).map(|m| m.view()).ok_or_else(|| no_cell("models", row, 0))
    }

    fn lead_columns(self) -> Vec<Column> {
        vec![Column::new("model", Kind::Uint).brief().place(), Column::new("id", Kind::Id64).brief().key()]
    }

    fn lead_value(self, row: usize, column: usize) -> Result<Value<'a>> {
        match column {
            0 => Ok(row.into()),
            _ => Ok(Value::Id64(p::MergedModel::read(self.view(row)?)?.id()?.0)),
        }
    }

    fn finds(self) -> &'static [usize] {
        &[1]
    }

    fn find(self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        match (column, key) {
            (1, Value::Id64(id)) => Some(Ok(self.0.find(*id).into_iter().collect())),
            _ => None,
        }
    }

    fn names(self) -> &'a dyn Names {
        self.0.names()
    }

    fn counts(self) -> &'a Counts {
        &self.0.counts
    }
}

/// A column made of a declared field, or of one half of a reference.
#[derive(Clone, Copy)]
struct FieldColumn {
    field: usize,
    half: Half,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    Whole,
    Id,
    Text,
}

/// The columns of a struct's fields: of those in `only`, or of all.
fn field_columns(fields: &'static [FieldInfo], only: Option<&[&str]>) -> (Vec<Column>, Vec<FieldColumn>) {
    let mut columns = Vec::new();
    let mut sources = Vec::new();
    for (field, info) in fields.iter().enumerate().filter(|(_, f)| only.is_none_or(|o| o.contains(&f.name))) {
        let mut push = |name: Cow<'static, str>, kind, half| {
            let role = match half {
                Half::Id if kind == Kind::Id64 => Role::Reference,
                Half::Text => Role::Resolved,
                Half::Id | Half::Whole => Role::Value,
            };
            let brief = half == Half::Text || (half == Half::Whole && kind != Kind::Nested && columns.len() < 8);
            columns.push(Column { name, kind, brief, role, wide: false });
            sources.push(FieldColumn { field, half });
        };
        match info.shown {
            Shown::Plain(kind) => push(info.name.into(), kind, Half::Whole),
            Shown::Name => {
                push(format!("{}_id", info.name).into(), Kind::Id32, Half::Id);
                push(info.name.into(), Kind::Text, Half::Text);
            }
            Shown::Path => {
                push(format!("{}_id", info.name).into(), Kind::Id64, Half::Id);
                push(format!("{}_path", info.name).into(), Kind::Text, Half::Text);
            }
        }
    }
    (columns, sources)
}

fn field_cell<'a, T: Prototype<'a>>(record: &T, column: FieldColumn, names: &dyn Names) -> Result<Value<'a>> {
    let value = match column.half {
        Half::Id => field_value(record, column.field, &walk::ById)?,
        Half::Whole | Half::Text => field_value(record, column.field, names)?,
    };
    match (column.half, value) {
        (Half::Whole, value) => Ok(value),
        (half, Value::Map(mut reference)) => {
            let at = usize::from(half == Half::Text);
            Ok(if at < reference.len() { reference.swap_remove(at).1 } else { Value::Null })
        }
        // A path id of 0 refers to nothing.
        (Half::Id, Value::Null) => Ok(Value::Id64(0)),
        (_, value) => Ok(value),
    }
}

/// A row for each record.
fn records<'a, T: Prototype<'a> + 'a, R: Rows<'a>>(
    name: &'static str,
    rows: R,
    only: Option<&[&str]>,
) -> Box<dyn Table + 'a> {
    let mut columns = rows.lead_columns();
    let lead = columns.len();
    let (own, sources) = field_columns(T::FIELDS, only);
    columns.extend(own);
    let cell = move |row, column: usize| match column.checked_sub(lead).and_then(|i| sources.get(i)) {
        Some(&source) => field_cell(&T::read(rows.view(row)?)?, source, rows.names()).map_err(|e| within(name, row, e)),
        None => rows.lead_value(row, column),
    };
    Box::new(
        Lazy::new(name, columns, move || Ok(rows.len()), cell).with_find(rows.finds(), move |c, key| rows.find(c, key)),
    )
}

fn within(table: &str, row: usize, error: crate::Error) -> crate::Error {
    error.within(format_args!("{table} {row}"))
}

/// A row for each element of an array of structs.
fn children<'a, P: Field<'a> + 'a, C: Prototype<'a> + 'a, R: Rows<'a>>(
    name: &'static str,
    rows: R,
    list: impl Fn(P) -> Result<List<'a, C>> + Send + Sync + 'a,
) -> Box<dyn Table + 'a> {
    let (own, sources) = field_columns(C::FIELDS, None);
    let elements = Elements { name, list: move |record| list(P::read(record)?), sources, names: rows.names() };
    Box::new(Nested::new(name, rows, own, elements))
}

struct Elements<'a, L> {
    name: &'static str,
    list: L,
    sources: Vec<FieldColumn>,
    names: &'a dyn Names,
}

impl<'a, C, L> Children<'a> for Elements<'a, L>
where
    C: Prototype<'a>,
    L: Fn(View<'a>) -> Result<List<'a, C>> + Send + Sync + 'a,
{
    type Row = C;

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok((self.list)(record)?.len())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<C> {
        (self.list)(record)?.get(index).ok_or_else(|| no_cell(self.name, index, 0))?
    }

    fn cell(&self, row: &C, column: usize) -> Result<Value<'a>> {
        let source = self.sources.get(column).copied().ok_or_else(|| no_cell(self.name, 0, column))?;
        field_cell(row, source, self.names)
    }

    fn nested_text(&self, column: usize) -> Option<bool> {
        let info = C::FIELDS.get(self.sources.get(column)?.field)?;
        (info.shown == Shown::Plain(Kind::Nested)).then_some(info.texts)
    }

    fn walk(&self, row: &C, column: usize, walker: &mut dyn Walker<'a>) {
        if let Some(source) = self.sources.get(column) {
            row.walk_field(source.field, walker);
        }
    }
}

/// The tables of what a visual holds; `visual` gets it out of the record.
fn visual_children<'a, P: Field<'a> + 'a, R: Rows<'a>>(
    rows: R,
    visual: impl Fn(P) -> Result<p::Visual<'a>> + Send + Sync + Copy + 'a,
    tables: &mut Vec<Box<dyn Table + 'a>>,
) {
    tables.push(children::<P, p::RenderSet<'a>, _>("render_sets", rows, move |r| visual(r)?.render_sets()));
    tables.push(children::<P, p::Lod<'a>, _>("lods", rows, move |r| visual(r)?.lods()));
    tables.push(skeleton_nodes(rows, move |view| visual(P::read(view)?)?.skeleton()));
}

fn skeleton_nodes<'a, R: Rows<'a>>(
    rows: R,
    skeleton: impl Fn(View<'a>) -> Result<p::Skeleton<'a>> + Send + Sync + 'a,
) -> Box<dyn Table + 'a> {
    let own = vec![
        Column::new("name_id", Kind::Id32),
        Column::new("name", Kind::Text).brief().resolved(),
        Column::new("parent", Kind::Uint).brief(),
        Column::new("matrix", Kind::Nested),
    ];
    Box::new(Nested::new("skeleton_nodes", rows, own, SkeletonNodes { skeleton, names: rows.names() }))
}

struct SkeletonNodes<'a, S> {
    skeleton: S,
    names: &'a dyn Names,
}

impl<'a, S: Fn(View<'a>) -> Result<p::Skeleton<'a>> + Send + Sync + 'a> Children<'a> for SkeletonNodes<'a, S> {
    type Row = (p::Skeleton<'a>, usize);

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok((self.skeleton)(record)?.names()?.len())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<Self::Row> {
        Ok(((self.skeleton)(record)?, index))
    }

    fn cell(&self, &(skeleton, index): &Self::Row, column: usize) -> Result<Value<'a>> {
        let missing = || no_cell("skeleton_nodes", index, column);
        let name = || skeleton.names()?.get(index).ok_or_else(missing)?;
        match column {
            0 => Ok(Value::Id32(name()?.0)),
            1 => Ok(self.names.name(name()?)?.map(Value::Text).unwrap_or_default()),
            2 => match skeleton.parents()?.get(index).ok_or_else(missing)?? {
                0xFFFF => Ok(Value::Null),
                parent => Ok(parent.into()),
            },
            _ => Ok(Value::floats(skeleton.matrices()?.get(index).ok_or_else(missing)??)),
        }
    }

    const NAME: usize = 1;

    fn names(&self, record: View<'a>, rows: Range<usize>) -> Result<Vec<NameId>> {
        let names = (self.skeleton)(record)?.names()?;
        rows.filter_map(|index| names.get(index)).collect()
    }
}

fn material_properties<'a>(rows: DatabaseRows<'a>) -> Box<dyn Table + 'a> {
    let own = vec![
        Column::new("name_id", Kind::Id32),
        Column::new("name", Kind::Text).brief().resolved(),
        Column::new("type", Kind::Text).brief(),
        Column::new("value", Kind::Any).brief(),
        Column::new("texture_id", Kind::Id64).reference(),
    ];
    Box::new(Nested::new("material_properties", rows, own, Properties(rows.db)))
}

struct Properties<'a>(&'a Database);

impl<'a> Children<'a> for Properties<'a> {
    type Row = p::Property<'a>;

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok(p::Material::read(record)?.property_count()?.into())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<p::Property<'a>> {
        p::Material::read(record)?.property(index)
    }

    fn cell(&self, property: &p::Property<'a>, column: usize) -> Result<Value<'a>> {
        Ok(match (column, &property.value) {
            (0, _) => Value::Id32(property.name.0),
            (1, _) => match self.0.string(property.name.0)? {
                Some(name) => name.into(),
                None => known_property_name(property.name).into(),
            },
            (2, _) => property.kind.into(),
            (3, Leaf::Value(value)) => value.clone(),
            (3, Leaf::Path(id)) => self.0.paths().path(id.0)?.into(),
            (4, Leaf::Path(id)) => Value::Id64(id.0),
            _ => Value::Null,
        })
    }

    const NAME: usize = 1;

    fn names(&self, record: View<'a>, rows: Range<usize>) -> Result<Vec<NameId>> {
        let names = p::Material::read(record)?.property_names()?;
        rows.filter_map(|index| names.get(index)).collect()
    }
}

fn resources<'a>(db: &'a Database) -> Box<dyn Table + 'a> {
    let columns = vec![
        Column::new("id", Kind::Id64).brief().key(),
        Column::new("path", Kind::Text).brief().resolved(),
        Column::new("type", Kind::Text).brief(),
        Column::new("database", Kind::Uint).place(),
        Column::new("record", Kind::Uint).place(),
        Column::new("state", Kind::Any),
        Column::new("offset", Kind::Uint).place(),
        Column::new("size", Kind::Uint),
    ];
    let slots = Arc::new(Slots::new(db.resource_buckets(), &db.resource_rows));
    let (of_cell, of_find, of_far) = (Arc::clone(&slots), Arc::clone(&slots), Arc::clone(&slots));
    let look = move |rows: Range<usize>| {
        let slots = rows.map_while(|row| of_far.slot("resources", row).ok());
        db.paths().ahead(slots.filter_map(|slot| Some(db.resource_buckets().get(slot)?.key.get())));
    };
    // Opened once for all rows; one that is damaged says so each time.
    let blobs: Vec<Option<Blob<'a>>> = db.databases().map(Result::ok).collect();
    let blob = move |resource: &super::Resource<'a>| match blobs.get(resource.database_index()) {
        Some(Some(blob)) => Ok(*blob),
        _ => resource.database(),
    };
    let cell = move |row, column| {
        let slot = of_cell.slot("resources", row)?;
        let id = db.resource_buckets().get(slot).map_or(0, |b| b.key.get());
        let resource = db.resource_at(slot, id).ok_or_else(|| no_cell("resources", row, column))?;
        let place = || match resource.state() {
            super::State::Valid => {
                let blob = blob(&resource)?;
                // Of records that are shown raw the size is not known.
                blob.layout().map(|_| blob.record_span(resource.record_index())).transpose()
            }
            _ => Ok(None),
        };
        Ok(match column {
            0 => Value::Id64(id),
            1 => db.paths().path(id)?.into(),
            2 => {
                let blob = blob(&resource)?;
                blob.type_name().map_or_else(|| Value::owned(blob.type_name_or_magic()), Value::text)
            }
            3 => resource.database_index().into(),
            4 => resource.record_index().into(),
            5 => resource.state().into(),
            6 => place()?.map(|(view, _)| view.offset()).into(),
            _ => place()?.map(|(_, size)| size).into(),
        })
    };
    let find = move |column: usize, key: &Value<'_>| {
        let id = match (column, key) {
            (0, Value::Id64(id)) => *id,
            (1, Value::Text(path)) if db.hashes_paths() => Database::path_id(path),
            _ => return None,
        };
        let slot = super::hashmap::find(db.resource_buckets(), db.resource_slots, id);
        Some(Ok(slot.and_then(|slot| of_find.row(slot)).into_iter().collect()))
    };
    let finds: &[usize] = if db.hashes_paths() { &[0, 1] } else { &[0] };
    let table = Lazy::new("resources", columns, move || Ok(db.resource_count()), cell).with_find(finds, find);
    Box::new(Lazy { checked: true, far: Some((1, Box::new(look))), ..table })
}

/// The rows of a map's table and its slots.
struct Slots<'a, B> {
    buckets: &'a [B],
    rows: &'a crate::Lazy<Vec<u32>>,
    /// The row that was found last without them, and in the lower half its slot.
    last: AtomicU64,
    asked: AtomicU32,
}

/// Rows that are found by counting before a list of all is worth its while.
const FEW_ROWS: u32 = 8;

impl<'a, B: Bucket> Slots<'a, B> {
    fn new(buckets: &'a [B], rows: &'a crate::Lazy<Vec<u32>>) -> Self {
        Self { buckets, rows, last: AtomicU64::new(u64::MAX), asked: AtomicU32::new(0) }
    }

    fn all(&self) -> &'a [u32] {
        self.rows.get_or_init(|| occupied(self.buckets))
    }

    /// The slot of a row of the table called `table`.
    fn slot(&self, table: &str, row: usize) -> Result<usize> {
        let last = self.last.load(Ordering::Relaxed);
        if self.rows.get().is_none() && last >> 32 == row as u64 {
            return Ok(usize::try_from(last & u64::from(u32::MAX)).unwrap_or(usize::MAX));
        }
        self.all().get(row).map(|&slot| slot as usize).ok_or_else(|| no_cell(table, row, 0))
    }

    /// The row of an occupied slot.
    fn row(&self, slot: usize) -> Option<usize> {
        let number = u32::try_from(slot).ok()?;
        if self.rows.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < FEW_ROWS {
            let before = self.buckets.get(..slot)?.iter().filter(|bucket| bucket.is_occupied()).count();
            self.last.store((before as u64) << 32 | u64::from(number), Ordering::Relaxed);
            return Some(before);
        }
        self.all().binary_search(&number).ok()
    }
}

fn strings(db: &Database) -> Box<dyn Table + '_> {
    let columns = vec![Column::new("id", Kind::Id32).brief().key(), Column::new("text", Kind::Text).brief()];
    let buckets = db.spans.string_buckets.get();
    let slots = Arc::new(Slots::new(buckets, &db.string_rows));
    let (of_cell, of_find) = (Arc::clone(&slots), Arc::clone(&slots));
    let cell = move |row, column| {
        let slot = of_cell.slot("strings", row)?;
        match column {
            0 => Ok(Value::Id32(buckets.get(slot).ok_or_else(|| no_cell("strings", row, column))?.key.get())),
            _ => db.string_in_slot(slot).map(Value::text),
        }
    };
    let find = move |column: usize, key: &Value<'_>| {
        let id = match (column, key) {
            (0, Value::Id32(id)) => *id,
            (1, Value::Text(text)) => Database::name_id(text),
            _ => return None,
        };
        let slot = super::hashmap::find(buckets, db.string_slots, id.into());
        let row = slot.and_then(|slot| of_find.row(slot));
        Some(match (row, key) {
            // Another text may have the same hash.
            (Some(row), Value::Text(text)) => {
                db.string(id).map(|found| if found == Some(&**text) { vec![row] } else { Vec::new() })
            }
            (row, _) => Ok(row.into_iter().collect()),
        })
    };
    let search = move |column: usize, literal: &Literal| {
        let start = |row: usize| db.start_in_slot(*db.string_rows().get(row)? as usize);
        let search = || search_terminated(db.source.bytes(), &db.string_span(), db.string_count(), start, literal);
        if column == 1 { search() } else { None }
    };
    let table =
        Lazy::new("strings", columns, move || Ok(db.string_count()), cell).with_find(&[0, 1], find).with_search(search);
    Box::new(Lazy { checked: true, ..table })
}

fn databases(db: &Database) -> Box<dyn Table + '_> {
    let columns = vec![
        Column::new("index", Kind::Uint).brief().place(),
        Column::new("type", Kind::Text).brief().key(),
        Column::new("magic", Kind::Id32).brief().key(),
        Column::new("checksum", Kind::Id32),
        Column::new("records", Kind::Uint).brief(),
        Column::new("record_size", Kind::Uint).brief(),
        Column::new("size", Kind::Uint).brief().place(),
        Column::new("offset", Kind::Uint).place(),
        Column::new("note", Kind::Text).brief(),
    ];
    let cell = move |row, column| {
        let blob = db.database(row)?;
        Ok(match column {
            0 => row.into(),
            1 => blob.type_name().into(),
            2 => Value::Id32(blob.magic()),
            3 => Value::Id32(blob.checksum()),
            4 => blob.len().into(),
            5 => blob.record_size().into(),
            6 => blob.size().into(),
            7 => blob.view().offset().into(),
            _ => blob.note().into(),
        })
    };
    let mut table = Lazy::new("databases", columns, move || Ok(db.database_count()), cell);
    table.label = 1;
    Box::new(table)
}
