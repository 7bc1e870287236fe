//! The tables of the three formats. A table is a name, columns, and how to count rows and read one cell.

mod file;
mod nested;
mod paths;
mod space;

pub(super) use space::{instances, models, space};

use super::declared::{self, Type};
use super::owners::Alias;
use super::prototypes::KIND;
use super::prototypes::{self as p, Layout, PrototypeType, known_property_name};
use super::record::{Field, FieldColumns, FieldInfo, Form, Leaf, List, NameId, PathId, Prototype, Walker};
use super::walk::{self, Ids, field_value};
use super::{Blob, Database, Models, NameLookup};
use crate::budget::{Budget, RowBudget};
use crate::bytes::View;
use crate::error::Result;
use crate::source::Source;
use crate::table::{Accepts, Column, DeclaredTable, Find, Kind, Role, Table, Value, no_cell};
use nested::{Children, Nested};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// Positions of counted rows: for each parent, the end of its children's rows. A file caches them by the unique names
/// of its tables, because the tables themselves are built for each query.
#[derive(Debug, Default)]
pub(super) struct Counts(RwLock<HashMap<&'static str, Arc<[usize]>>>);

impl Counts {
    fn has(&self, table: &'static str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(table)
    }

    /// The positions of a table, counting at most `most` rows: the parent at which the rows exceed this limit, and all
    /// later parents, have no position.
    fn get(&self, table: &'static str, most: usize, count: impl FnOnce() -> Vec<usize>) -> Arc<[usize]> {
        if let Some(ends) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Arc::clone(ends);
        }
        let mut sum = 0usize;
        let ends: Arc<[usize]> = count()
            .into_iter()
            .map_while(|n| {
                sum = sum.saturating_add(n);
                (sum <= most).then_some(sum)
            })
            .collect();
        Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(table).or_insert(ends))
    }
}

/// The tables of an `assets.bin`.
pub(super) fn all(db: &Database) -> Vec<Box<dyn Table + '_>> {
    let mut tables: Vec<Box<dyn Table + '_>> =
        vec![paths::table(db), file::resources(db), file::strings(db), file::databases(db)];
    let blobs: Vec<Blob<'_>> = db.databases().flatten().collect();
    let blob = |prototype| blobs.iter().copied().find(|b| b.prototype() == Some(prototype));
    for &prototype in PrototypeType::ALL {
        if let Some(blob) = blob(prototype) {
            prototype_tables(db, blob, prototype, &mut tables);
        }
    }
    for blob in blobs {
        if let Some(Layout::Declared(of)) = blob.layout() {
            declared_tables(db, blob, of, &mut tables);
        }
    }
    tables
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
            tables.push(material_properties(rows));
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

/// A leading column of every table of some records. Its cells describe the record with a given number.
struct Lead<'a> {
    column: Column,
    get: Box<dyn Fn(usize) -> Result<Value<'a>> + Send + Sync + 'a>,
    find: Option<Find<'a>>,
    /// As in [`DeclaredTable::found_if`].
    finds: Option<Box<dyn Fn() -> bool + Send + Sync + 'a>>,
    /// Touches the cells of some records, as in [`DeclaredTable::looked_ahead`].
    look: Option<Box<dyn Fn(Range<usize>) + Send + Sync + 'a>>,
}

impl<'a> Lead<'a> {
    fn new(column: Column, get: impl Fn(usize) -> Result<Value<'a>> + Send + Sync + 'a) -> Self {
        Self { column, get: Box::new(get), find: None, finds: None, look: None }
    }

    fn found_by(mut self, find: impl Fn(&Value<'_>) -> Option<Result<Vec<usize>>> + Send + Sync + 'a) -> Self {
        self.find = Some(Box::new(find));
        self
    }

    fn found_if(mut self, finds: impl Fn() -> bool + Send + Sync + 'a) -> Self {
        self.finds = Some(Box::new(finds));
        self
    }

    fn looked_ahead(mut self, look: impl Fn(Range<usize>) + Send + Sync + 'a) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    /// The number of a record, below `count`.
    fn number(column: Column, count: usize) -> Self {
        Self::new(column, |row| Ok(row.into())).found_by(move |key| match key {
            Value::Uint(row) => Some(Ok(usize::try_from(*row).into_iter().filter(|&row| row < count).collect())),
            _ => None,
        })
    }
}

/// The rows that `with_id` finds for the hash of `path`, if their path is `path`: a file may give an id to any path.
fn at_path(db: &Database, path: &str, with_id: impl Fn(u64) -> Result<Vec<usize>>) -> Result<Vec<usize>> {
    let id = Database::path_id(path);
    let rows = with_id(id)?;
    let is_its = rows.is_empty() || db.path(id)?.is_some_and(|found| found == path);
    Ok(if is_its { rows } else { Vec::new() })
}

/// The origin of a table's records, and the columns that every table of them begins with.
trait Records<'a>: Copy + Send + Sync + 'a {
    /// Whether comparing two files compares these records with the resources that they are of.
    const DERIVED: bool = false;

    fn len(self) -> usize;
    fn view(self, row: usize) -> Result<View<'a>>;
    fn leads(self) -> Vec<Lead<'a>>;
    fn names(self) -> &'a dyn NameLookup;
    fn file(self) -> &'a Source;
    fn counts(self) -> &'a Counts;

    /// The number of records. Rows after them show records again, under other keys.
    fn stored(self) -> usize {
        self.len()
    }

    /// As [`Table::sharing`].
    fn sharing(self, row: usize) -> Vec<usize> {
        let _ = row;
        Vec::new()
    }

    /// The stretch of the file in which the records' own texts lie.
    fn texts(self) -> Range<usize> {
        0..self.file().bytes().len()
    }
}

/// A row for each record, known by the smallest id of its valid resources, and after them a row for each further one.
#[derive(Clone, Copy)]
struct DatabaseRows<'a> {
    db: &'a Database,
    blob: Blob<'a>,
}

impl<'a> DatabaseRows<'a> {
    fn aliases(self) -> &'a [Alias] {
        self.db.aliases(self.blob.index())
    }

    /// The further resource that a row is of.
    fn alias(self, row: usize) -> Option<&'a Alias> {
        self.aliases().get(row.checked_sub(self.blob.len())?)
    }

    fn record(self, row: usize) -> usize {
        if row < self.blob.len() { row } else { self.alias(row).map_or(row, |alias| alias.record) }
    }

    fn id(self, row: usize) -> Option<u64> {
        match self.alias(row) {
            Some(alias) => Some(alias.id),
            None => self.db.owner(self.blob.index(), row),
        }
    }

    /// All rows of a record.
    fn of_record(self, record: usize) -> impl Iterator<Item = usize> {
        let aliases = self.aliases();
        let [start, end] =
            [record, record.saturating_add(1)].map(|n| aliases.partition_point(|alias| alias.record < n));
        let base = self.blob.len();
        std::iter::once(record)
            .filter(move |record| *record < base)
            .chain((start..end).map(move |at| base.saturating_add(at)))
    }

    /// The row of a valid resource with this id, if its record is one of these.
    fn with_id(self, id: u64) -> Result<Option<usize>> {
        let found = self.db.lookup(id)?.filter(|r| r.state() == super::State::Valid);
        let Some(found) = found.filter(|r| r.database_index() == self.blob.index()) else { return Ok(None) };
        let mut rows = self.of_record(found.record_index());
        let own = rows.next();
        Ok(rows.find(|&row| self.alias(row).is_some_and(|alias| alias.id == id)).or(own))
    }
}

impl<'a> Records<'a> for DatabaseRows<'a> {
    const DERIVED: bool = true;

    fn len(self) -> usize {
        self.blob.len().saturating_add(self.aliases().len())
    }

    fn stored(self) -> usize {
        self.blob.len()
    }

    fn sharing(self, row: usize) -> Vec<usize> {
        if self.aliases().is_empty() {
            return Vec::new();
        }
        let rows: Vec<usize> = self.of_record(self.record(row)).collect();
        if rows.len() > 1 { rows } else { Vec::new() }
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.blob.record_span(self.record(row)).map(|(view, _)| view)
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let id = move |row| self.id(row);
        let with_id = move |id: u64| self.with_id(id).map(|row| row.into_iter().collect());
        let path = Lead::new(Column::text("path").brief().resolved().in_folders(), move |row| match id(row) {
            Some(id) => self.db.path(id).map(Value::from),
            None => Ok(Value::Null),
        });
        vec![
            Lead::new(Column::uint("record").brief().place(), move |row| Ok(self.record(row).into())).found_by(
                move |key| match key {
                    Value::Uint(record) => Some(Ok(usize::try_from(*record)
                        .into_iter()
                        .flat_map(|record| self.of_record(record))
                        .collect())),
                    _ => None,
                },
            ),
            Lead::new(Column::id64("id").key(), move |row| Ok(id(row).map(Value::Id64).unwrap_or_default()))
                .found_by(move |key| if let Value::Id64(id) = key { Some(with_id(*id)) } else { None }),
            path.found_by(move |key| match key {
                Value::Text(path) => Some(at_path(self.db, path, with_id)),
                _ => None,
            })
            .found_if(move || self.db.hashes_paths())
            .looked_ahead(move |rows| self.db.paths().ahead(rows.filter_map(id))),
        ]
    }

    fn names(self) -> &'a dyn NameLookup {
        self.db
    }

    fn file(self) -> &'a Source {
        &self.db.source
    }

    fn counts(self) -> &'a Counts {
        &self.db.counts
    }

    fn texts(self) -> Range<usize> {
        self.blob.view().position()..self.blob.end()
    }
}

#[derive(Clone, Copy)]
struct ModelRows<'a>(&'a Models);

impl<'a> Records<'a> for ModelRows<'a> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.model(row).map(|m| m.view()).ok_or_else(|| no_cell("models", row, 0))
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let id = Lead::new(Column::id64("id").brief().key(), move |row| {
            Ok(Value::Id64(p::MergedModel::read(self.view(row)?)?.id()?.0))
        });
        vec![
            Lead::number(Column::uint("model").brief().place(), self.len()),
            id.found_by(move |key| match key {
                Value::Id64(id) => Some(Ok(self.0.all_with(*id))),
                _ => None,
            }),
        ]
    }

    fn names(self) -> &'a dyn NameLookup {
        self.0.names()
    }

    fn file(self) -> &'a Source {
        self.0.source()
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

/// The columns of a struct's fields, except fields that another table or column contains.
fn field_columns(fields: &'static [FieldInfo]) -> (Vec<Column>, Vec<FieldColumn>) {
    let mut columns = Vec::new();
    let mut sources = Vec::new();
    for (field, info) in fields.iter().enumerate().filter(|(_, field)| field.told_in.is_none()) {
        let mut push = |name: Cow<'static, str>, kind, half| {
            let role = match half {
                Half::Id if kind == Kind::Id64 => Role::Reference,
                Half::Text => Role::Resolved,
                Half::Id | Half::Whole => Role::Value,
            };
            let brief = half == Half::Text || (half == Half::Whole && kind != Kind::Nested && columns.len() < 8);
            let accepts = accepts(fields, info, half);
            let shape = (kind == Kind::Nested).then(|| declared::shape(fields, info)).flatten();
            columns.push(Column { name, kind, brief, role, wide: false, accepts, folders: false, shape });
            sources.push(FieldColumn { field, half });
        };
        match info.shown {
            FieldColumns::Plain(kind) => push(info.name.into(), kind, Half::Whole),
            FieldColumns::Name => {
                push(format!("{}_id", info.name).into(), Kind::Id32, Half::Id);
                push(info.name.into(), Kind::Text, Half::Text);
            }
            FieldColumns::Path => {
                push(format!("{}_id", info.name).into(), Kind::Id64, Half::Id);
                push(format!("{}_path", info.name).into(), Kind::Text, Half::Text);
            }
        }
    }
    (columns, sources)
}

/// The values that may be written to the column of a field.
fn accepts(fields: &[FieldInfo], info: &FieldInfo, half: Half) -> Accepts {
    let is_count = fields.iter().any(|field| matches!(field.form, Form::Array { count } if count == info.name));
    match (half, info.form, info.of) {
        // How many elements an array has follows from it.
        _ if is_count => Accepts::Nothing,
        (Half::Text, _, "name") => Accepts::Name,
        (Half::Text, ..) => Accepts::Path,
        (_, Form::Inline, "u8") => Accepts::Bits(8),
        (_, Form::Inline, "u16" | "i16") => Accepts::Bits(16),
        (_, Form::Inline, "u32" | "i32") => Accepts::Bits(32),
        (_, Form::Inline, "u64") => Accepts::Bits(64),
        (_, Form::Inline, "f32x2") => Accepts::Numbers(2),
        (_, Form::Inline, "f32x3") => Accepts::Numbers(3),
        (_, Form::Inline, "f32x4") => Accepts::Numbers(4),
        (_, Form::Inline, "f32x16") => Accepts::Numbers(16),
        _ => Accepts::Any,
    }
}

fn field_cell<'a, T: Prototype<'a>>(
    record: &T,
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    cell_of(|field, walker| record.walk_field(field, walker), column, names, budget)
}

/// The cell of a column; `walk` shows a field of its row to a walker.
fn cell_of<'a>(
    walk: impl Fn(usize, &mut dyn Walker<'a>),
    column: FieldColumn,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let leaf = match walk::single_leaf(&walk, column.field)? {
        Some(leaf) => leaf,
        // A path id of 0 refers to nothing.
        None if column.half == Half::Id => return Ok(Value::Id64(0)),
        None => return field_value(&walk, column.field, names, budget),
    };
    match (column.half, leaf) {
        (_, Leaf::Value(value)) => Ok(value),
        (Half::Whole, _) => field_value(&walk, column.field, names, budget),
        (Half::Id, Leaf::Name(id)) => Ok(Value::Id32(id.0)),
        (Half::Text, Leaf::Name(id)) => Ok(names.name(id)?.map(Value::Text).unwrap_or_default()),
        (Half::Id, Leaf::Path(id)) => Ok(Value::Id64(id.0)),
        (Half::Text, Leaf::Path(PathId(0))) => Ok(Value::Null),
        (Half::Text, Leaf::Path(id)) => Ok(names.path(id)?.map(Value::Text).unwrap_or_default()),
    }
}

/// A record and its number, and the budget of its cells.
struct Row<T> {
    number: usize,
    record: Result<T>,
    budget: RowBudget,
}

impl<T> Row<T> {
    /// The row after `before`, if known, in a table of `rows` rows of `file`.
    fn new(number: usize, record: Result<T>, before: Option<Self>, rows: usize, file: &Source) -> Self {
        let budget = before.map_or_else(|| RowBudget::new(file.bytes().len(), rows), |before| before.budget.next());
        Self { number, record, budget }
    }

    /// The record, or the error of reading it.
    fn read(&self) -> Result<&T> {
        self.record.as_ref().map_err(crate::Error::clone)
    }
}

/// A table that begins with the columns that all tables of `rows` do.
fn table_of<'a, T: 'a, R: Records<'a>>(
    name: &'static str,
    rows: R,
    read: impl Fn(usize) -> Result<T> + Send + Sync + 'a,
) -> DeclaredTable<'a, Row<T>> {
    let locate = move |row, before| {
        let count = rows.len();
        Ok((row < count).then(|| Row::new(row, read(row), before, count, rows.file())))
    };
    let mut table = DeclaredTable::walked(name, move || Ok(rows.len()), locate).random_access();
    if R::DERIVED {
        table = table.derived().own_texts(false);
        let stored_len = move || Some(rows.stored()).filter(|stored| *stored < rows.len());
        table = table.shared_by(move |row| rows.sharing(row), stored_len);
    }
    rows.leads().into_iter().fold(table, |table, Lead { column, get, find, finds, look }| {
        let mut table = table.column(column, move |row: &Row<T>| get(row.number));
        if let Some(find) = find {
            table = table.found_by(find);
        }
        if let Some(finds) = finds {
            table = table.found_if(finds);
        }
        if let Some(look) = look {
            table = table.looked_ahead(move |ahead| {
                let end = ahead.end.min(rows.len());
                look(ahead.start..end);
                end
            });
        }
        table
    })
}

/// The columns of the fields of `P`, which `get` gets out of a row.
fn with_fields<'a, T: 'a, P: Prototype<'a> + 'a>(
    table: DeclaredTable<'a, Row<T>>,
    name: &'static str,
    names: &'a dyn NameLookup,
    get: impl Fn(&T) -> Result<P> + Send + Sync + 'a,
) -> DeclaredTable<'a, Row<T>> {
    let (columns, sources) = field_columns(P::FIELDS);
    let table = with_own_texts(table, P::FIELDS, &sources);
    table.columns(columns, move |row: &Row<T>, column| {
        let source = sources.get(column).copied().ok_or_else(|| no_cell(name, row.number, column))?;
        let cell = || field_cell(&get(row.read()?)?, source, names, row.budget.get());
        cell().map_err(|error| within(name, row.number, error))
    })
}

/// Declares that the table has texts of its own if one of its fields has.
fn with_own_texts<'a, R>(
    table: DeclaredTable<'a, R>,
    fields: &'static [FieldInfo],
    sources: &[FieldColumn],
) -> DeclaredTable<'a, R> {
    let holds_own = |source: &FieldColumn| fields.get(source.field).is_some_and(|field| field.texts.own);
    if sources.iter().any(holds_own) { table.own_texts(true) } else { table }
}

/// Appends the ids in the fields of a struct.
fn ids_of<'a, P: Prototype<'a>>(of: &P, ids: &mut Ids) {
    let fields = P::FIELDS.iter().enumerate().filter(|(_, field)| field.texts.any());
    fields.for_each(|(field, _)| of.walk_field(field, ids));
}

/// A row for each record.
fn records<'a, T: Prototype<'a> + Copy + 'a, R: Records<'a>>(name: &'static str, rows: R) -> Box<dyn Table + 'a> {
    let table = table_of(name, rows, move |row| T::read(rows.view(row)?));
    let touch = move |ahead: &[Range<usize>]| {
        let mut ids = Ids::default();
        let records = ahead.iter().cloned().flatten().map_while(|row| rows.view(row).ok());
        records.filter_map(|view| T::read(view).ok()).for_each(|record| ids_of(&record, &mut ids));
        rows.names().ahead(&ids);
    };
    Box::new(with_fields(table.prefetched_by(touch), name, rows.names(), |record: &T| Ok(*record)))
}

fn within(table: &str, row: usize, error: crate::Error) -> crate::Error {
    error.context(format_args!("{table} {row}"))
}

/// Whether a walk over its field meets the texts of a column.
const fn may_be_searched(shown: FieldColumns) -> bool {
    matches!(shown, FieldColumns::Plain(Kind::Nested | Kind::Text))
}

/// A row for each element of an array of structs.
fn children<'a, P: Field<'a> + 'a, C: Prototype<'a> + 'a, R: Records<'a>>(
    name: &'static str,
    rows: R,
    list: impl Fn(P) -> Result<List<'a, C>> + Send + Sync + 'a,
) -> Box<dyn Table + 'a> {
    let elements = Elements { name, list: move |record| list(P::read(record)?) };
    let mut table = Nested::new(name, rows, elements);
    let (columns, sources) = field_columns(C::FIELDS);
    for (column, source) in columns.into_iter().zip(sources) {
        table = table.column_within(column, move |element, budget| field_cell(element, source, rows.names(), budget));
        if let Some(info) = C::FIELDS.get(source.field).filter(|info| may_be_searched(info.shown)) {
            table = table.searched(info.texts, move |element: &C, walker| element.walk_field(source.field, walker));
        }
    }
    table.build()
}

struct Elements<L> {
    name: &'static str,
    list: L,
}

impl<'a, C, L> Children<'a> for Elements<L>
where
    C: Prototype<'a> + 'a,
    L: Fn(View<'a>) -> Result<List<'a, C>> + Send + Sync + 'a,
{
    type Row = C;

    fn size(&self) -> usize {
        C::SIZE
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok((self.list)(record)?.len())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<C> {
        (self.list)(record)?.get(index).ok_or_else(|| no_cell(self.name, index, 0))?
    }

    fn ids(&self, record: View<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let list = (self.list)(record)?;
        rows.filter_map(|index| list.get(index)).try_for_each(|element| element.map(|element| ids_of(&element, ids)))
    }
}

/// The tables of a visual's arrays; `visual` gets it out of the record.
fn visual_children<'a, P: Field<'a> + 'a, R: Records<'a>>(
    rows: R,
    visual: impl Fn(P) -> Result<p::Visual<'a>> + Send + Sync + Copy + 'a,
    tables: &mut Vec<Box<dyn Table + 'a>>,
) {
    tables.push(children::<P, p::RenderSet<'a>, _>("render_sets", rows, move |r| visual(r)?.render_sets()));
    tables.push(children::<P, p::Lod<'a>, _>("lods", rows, move |r| visual(r)?.lods()));
    tables.push(skeleton_nodes(rows, move |view| visual(P::read(view)?)?.skeleton()));
}

fn skeleton_nodes<'a, R: Records<'a>>(
    rows: R,
    skeleton: impl Fn(View<'a>) -> Result<p::Skeleton<'a>> + Send + Sync + 'a,
) -> Box<dyn Table + 'a> {
    Nested::new("skeleton_nodes", rows, SkeletonNodes(skeleton))
        .column(Column::id32("name_id").writable(), |node| Ok(Value::Id32(node.name()?.0)))
        .column(Column::text("name").brief().resolved().accepts(Accepts::Name), move |node| {
            Ok(rows.names().name(node.name()?)?.map(Value::Text).unwrap_or_default())
        })
        .looked_ahead()
        .column(Column::uint("parent").brief().accepts(Accepts::OrNull), |node| {
            match node.skeleton.parents()?.get(node.index).ok_or_else(|| node.missing())?? {
                0xFFFF => Ok(Value::Null),
                parent => Ok(parent.into()),
            }
        })
        .column(Column::floats("matrix").accepts(Accepts::Numbers(16)), |node| {
            Ok(Value::floats(node.skeleton.matrices()?.get(node.index).ok_or_else(|| node.missing())??))
        })
        .build()
}

struct Node<'a> {
    skeleton: p::Skeleton<'a>,
    index: usize,
}

impl Node<'_> {
    fn name(&self) -> Result<NameId> {
        self.skeleton.names()?.get(self.index).ok_or_else(|| self.missing())?
    }

    #[cold]
    fn missing(&self) -> crate::Error {
        no_cell("skeleton_nodes", self.index, 0)
    }
}

struct SkeletonNodes<S>(S);

impl<'a, S: Fn(View<'a>) -> Result<p::Skeleton<'a>> + Send + Sync + 'a> Children<'a> for SkeletonNodes<S> {
    type Row = Node<'a>;

    /// A name, a parent and a matrix.
    fn size(&self) -> usize {
        4 + 2 + 64
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok((self.0)(record)?.names()?.len())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<Node<'a>> {
        Ok(Node { skeleton: (self.0)(record)?, index })
    }

    fn ids(&self, record: View<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let names = (self.0)(record)?.names()?;
        rows.filter_map(|index| names.get(index)).try_for_each(|name| name.map(|name| ids.names.push(name)))
    }
}

fn material_properties<'a>(rows: DatabaseRows<'a>) -> Box<dyn Table + 'a> {
    let db = rows.db;
    Nested::new("material_properties", rows, Properties)
        .column(Column::id32("name_id").writable(), |property| Ok(Value::Id32(property.name.0)))
        .column(Column::text("name").brief().resolved().accepts(Accepts::Name), |property| {
            match NameLookup::name(db, property.name)? {
                Some(name) => Ok(Value::Text(name)),
                None => Ok(known_property_name(property.name).into()),
            }
        })
        .looked_ahead()
        .column(Column::text("type").brief().writable(), |property| Ok(property.kind.into()))
        .column(Column::new("value", Kind::Any).brief().writable(), |property| match &property.value {
            Leaf::Value(value) => Ok(value.clone()),
            Leaf::Path(id) => Ok(db.path(id.0)?.into()),
            Leaf::Name(_) => Ok(Value::Null),
        })
        .texts_of("texture_id")
        .typed_by("type")
        .column(Column::id64("texture_id").reference().accepts(Accepts::OrNull), |property| match &property.value {
            Leaf::Path(id) => Ok(Value::Id64(id.0)),
            _ => Ok(Value::Null),
        })
        .build()
}

struct Properties;

impl<'a> Children<'a> for Properties {
    type Row = p::Property<'a>;

    /// A name and a reference.
    fn size(&self) -> usize {
        4 + 2
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok(p::Material::read(record)?.property_count()?.into())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<p::Property<'a>> {
        p::Material::read(record)?.property(index)
    }

    fn ids(&self, record: View<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let material = p::Material::read(record)?;
        rows.map(|index| material.property(index)).try_for_each(|property| {
            let p::Property { name, value, .. } = property?;
            ids.names.push(name);
            ids.leaf("", value);
            Ok(())
        })
    }
}
