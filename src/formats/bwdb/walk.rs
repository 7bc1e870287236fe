//! Walks over records: as values with names and paths resolved, by shape, and the `cat` of a resource.

use super::prototypes::{Record, misc_type_name};
use super::record::{Leaf, ListInfo, NameId, PathId, Prototype, Walker};
use super::{Database, State};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::relations::IdTexts;
use crate::table::{Value, Visitor};
use std::borrow::Cow;

/// Texts of ids.
pub trait NameLookup: Send + Sync {
    /// The text of a name id, if known.
    ///
    /// # Errors
    /// When the text is damaged.
    fn name(&self, id: NameId) -> Result<Option<Cow<'_, str>>>;

    /// The path of a path id, if known.
    ///
    /// # Errors
    /// When the path is damaged.
    fn path(&self, id: PathId) -> Result<Option<Cow<'_, str>>>;

    /// Prefetches the texts of these ids before they are read one by one, because memory serves many independent
    /// requests in the time of one.
    fn ahead(&self, ids: &Ids) {
        let _ = ids;
    }
}

/// Visited ids, whose texts may be anywhere in a file.
#[derive(Debug, Default)]
pub struct Ids {
    /// Ids of names.
    pub names: Vec<NameId>,
    /// Ids of paths.
    pub paths: Vec<PathId>,
}

impl<'a> Walker<'a> for Ids {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        match leaf {
            Leaf::Name(id) => self.names.push(id),
            Leaf::Path(PathId(0)) | Leaf::Value(_) => {}
            Leaf::Path(id) => self.paths.push(id),
        }
    }

    fn begin(&mut self, _: &'static str) {}
    fn end(&mut self) {}

    /// Lists are visited only if they are lists of ids, because the data of other lists may be long.
    fn begin_list(&mut self, _: &'static str, list: &ListInfo<'a>) -> bool {
        const MANY: usize = 64;
        list.stride <= size_of::<u64>() && list.len <= MANY
    }

    fn end_list(&mut self) {}
    fn damage(&mut self, _: &'static str, _: Error) {}

    fn texts_only(&self) -> bool {
        true
    }
}

/// No names: ids are shown.
#[derive(Debug, Clone, Copy)]
pub struct ById;

impl NameLookup for ById {
    fn name(&self, _: NameId) -> Result<Option<Cow<'_, str>>> {
        Ok(None)
    }
    fn path(&self, _: PathId) -> Result<Option<Cow<'_, str>>> {
        Ok(None)
    }
}

/// The names of other files and of lists.
impl NameLookup for crate::archive::names::NameSources {
    fn name(&self, id: NameId) -> Result<Option<Cow<'_, str>>> {
        IdTexts::name(self, id.0)
    }

    fn path(&self, id: PathId) -> Result<Option<Cow<'_, str>>> {
        IdTexts::path(self, id.0)
    }
}

/// Builds values during a walk. Keeps damage in `errors`.
pub(super) struct ValueBuilder<'a, 'n> {
    names: &'a dyn NameLookup,
    /// The fields that were walked.
    fields: Vec<(Cow<'a, str>, Value<'a>)>,
    /// Lists and maps that are open, with their names.
    open: Vec<(&'static str, Value<'a>)>,
    budget: &'n Budget,
    pub(super) errors: Vec<Error>,
}

impl<'a, 'n> ValueBuilder<'a, 'n> {
    pub(super) fn new(names: &'a dyn NameLookup, budget: &'n Budget) -> Self {
        Self { names, fields: Vec::new(), open: Vec::new(), budget, errors: Vec::new() }
    }

    /// The fields that were walked.
    pub(super) fn into_fields(self) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
        (self.fields, self.errors)
    }

    fn put(&mut self, name: &'static str, value: Value<'a>) {
        match self.open.last_mut() {
            Some((_, Value::List(values))) => values.push(value),
            Some((_, Value::Map(fields))) => fields.push((Cow::Borrowed(name), value)),
            None => self.fields.push((Cow::Borrowed(name), value)),
            Some(_) => {}
        }
    }

    fn close(&mut self) {
        if let Some((name, value)) = self.open.pop() {
            self.put(name, value);
        }
    }

    fn resolved(&mut self, text: Result<Option<Cow<'a, str>>>) -> Value<'a> {
        match text {
            Ok(text) => text.map_or(Value::Null, Value::Text),
            Err(error) => {
                self.errors.push(error);
                Value::Null
            }
        }
    }
}

/// The id and the text of a reference.
fn reference<'a>(id: Value<'a>, what: &'static str, text: Value<'a>) -> Value<'a> {
    Value::Map(vec![("id".into(), id), (what.into(), text)])
}

impl<'a> Walker<'a> for ValueBuilder<'a, '_> {
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>) {
        let value = match leaf {
            Leaf::Value(value) => value,
            Leaf::Name(id) => {
                let text = self.names.name(id);
                let text = self.resolved(text);
                reference(Value::Id32(id.0), "text", text)
            }
            Leaf::Path(PathId(0)) => Value::Null,
            Leaf::Path(id) => {
                let path = self.names.path(id);
                let path = self.resolved(path);
                reference(Value::Id64(id.0), "path", path)
            }
        };
        self.put(name, value);
    }

    fn begin(&mut self, name: &'static str) {
        self.open.push((name, Value::Map(Vec::new())));
    }

    fn end(&mut self) {
        self.close();
    }

    fn begin_list(&mut self, name: &'static str, list: &ListInfo<'a>) -> bool {
        if let Err(error) = self.budget.spend_at(list.view, list.bytes()) {
            self.damage(name, error);
            return false;
        }
        self.open.push((name, Value::List(Vec::new())));
        true
    }

    fn end_list(&mut self) {
        self.close();
    }

    fn damage(&mut self, name: &'static str, error: Error) {
        self.put(name, Value::Null);
        self.errors.push(if name.is_empty() { error } else { error.context(name) });
    }
}

/// Visits a field that is one leaf, and keeps nothing around it: most cells are such fields.
#[derive(Default)]
struct Single<'a> {
    met: Option<Result<Leaf<'a>>>,
    has_parts: bool,
}

impl<'a> Walker<'a> for Single<'a> {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        self.met.get_or_insert(Ok(leaf));
    }

    fn begin(&mut self, _: &'static str) {
        self.has_parts = true;
    }

    fn end(&mut self) {}

    fn begin_list(&mut self, _: &'static str, _: &ListInfo<'a>) -> bool {
        self.has_parts = true;
        false
    }

    fn end_list(&mut self) {}

    fn damage(&mut self, name: &'static str, error: Error) {
        self.met = Some(Err(if name.is_empty() { error } else { error.context(name) }));
    }
}

/// The leaf of a field; `None` if it has parts. `walk` shows the field with a number to a walker.
pub(super) fn single_leaf<'a>(walk: impl Fn(usize, &mut dyn Walker<'a>), field: usize) -> Result<Option<Leaf<'a>>> {
    let mut single = Single::default();
    walk(field, &mut single);
    if single.has_parts { Ok(None) } else { single.met.transpose() }
}

/// The value of one field, with the texts of its references; `walk` shows the field with a number to a walker.
pub(super) fn field_value<'a>(
    walk: impl Fn(usize, &mut dyn Walker<'a>),
    field: usize,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let mut shown = ValueBuilder::new(names, budget);
    walk(field, &mut shown);
    let (fields, errors) = shown.into_fields();
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(fields.into_iter().next().map_or(Value::Null, |(_, value)| value)),
    }
}

/// Shows the fields of a record in reading order: properties of a material with their names, the rest as stored.
pub(super) fn record_fields<'a>(
    record: &Record<'a>,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
    let mut shown = ValueBuilder::new(names, budget);
    match record {
        Record::Material(material) => {
            shown.begin_properties();
            match material.properties() {
                Ok(properties) => properties.for_each(|property| match property {
                    Ok(property) => {
                        let known = super::prototypes::known_property_name(property.name);
                        shown.begin("");
                        shown.leaf("name", Leaf::Name(property.name));
                        shown.fill_in_name(known);
                        shown.leaf("kind", Leaf::Value(property.kind.into()));
                        shown.leaf("value", property.value);
                        shown.end();
                    }
                    Err(error) => shown.damage("", error),
                }),
                Err(error) => shown.damage("", error),
            }
            shown.end_list();
            for (field, info) in super::prototypes::Material::FIELDS.iter().enumerate() {
                if matches!(info.name, "fx" | "collision_flags" | "sort_order") {
                    material.walk_field(field, &mut shown);
                }
            }
        }
        Record::Model(model) => {
            record.walk_fields(&mut shown);
            shown.name_misc_type(model.misc_type());
        }
        Record::ModelV14(model) => {
            record.walk_fields(&mut shown);
            shown.name_misc_type(model.misc_type());
        }
        other => other.walk_fields(&mut shown),
    }
    shown.into_fields()
}

impl<'a> ValueBuilder<'a, '_> {
    fn begin_properties(&mut self) {
        self.open.push(("properties", Value::List(Vec::new())));
    }

    /// Inserts a known name if the file has none.
    fn fill_in_name(&mut self, known: Option<&'static str>) {
        let (Some(known), Some((_, Value::Map(fields)))) = (known, self.open.last_mut()) else { return };
        if let Some((_, Value::Map(reference))) = fields.last_mut()
            && let Some((_, text @ Value::Null)) = reference.last_mut()
        {
            *text = known.into();
        }
    }

    fn name_misc_type(&mut self, misc_type: Result<u8>) {
        let name = misc_type.ok().and_then(misc_type_name);
        self.put("misc_type_name", name.into());
    }
}

/// `cat`: one resource with its path, its place and its record, or an error for each part that cannot be read.
pub(super) fn cat_resource(db: &Database, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
    let id = match crate::id::parse(entry) {
        Some(id) => id,
        None => match db.lookup_path(entry)? {
            Some(resource) => resource.id(),
            None => Database::path_id(entry),
        },
    };
    let resource = db.lookup(id)?;
    let path = db.path(id);
    if resource.is_none() && matches!(path, Ok(None)) {
        return Ok(false);
    }
    let mut first_error = None;
    let mut keep = |error: Error| {
        first_error.get_or_insert(error);
    };
    out.begin_map()?;
    out.field("id", &Value::Id64(id))?;
    let path = path.unwrap_or_else(|e| {
        keep(e);
        None
    });
    out.field("path", &path.into())?;
    let Some(resource) = resource else {
        out.field("type", &Value::Null)?;
        out.field("note", &"a path without a prototype".into())?;
        out.end_map()?;
        return Ok(true);
    };
    let blob = resource.database();
    out.field("type", &blob.as_ref().ok().map(|b| b.type_name_or_magic()).into())?;
    out.field("database", &resource.database_index().into())?;
    out.field("record", &resource.record_index().into())?;
    out.field("state", &resource.state().into())?;
    match blob {
        Err(error) => keep(error),
        Ok(blob) if resource.state() == State::Valid => match blob.record(resource.record_index()) {
            Ok(Some(record)) => {
                let (view, size) = blob.record_span(resource.record_index())?;
                out.field("offset", &view.offset().into())?;
                out.field("size", &size.into())?;
                let (fields, errors) = record_fields(&record, db, &Budget::of_arrays(db.source.bytes().len()));
                out.field("value", &Value::Map(fields))?;
                errors.into_iter().for_each(keep);
            }
            Ok(None) => out.field("note", &blob.note().into())?,
            Err(error) => keep(error),
        },
        Ok(_) => out.field("note", &"the record is not valid and not followed".into())?,
    }
    out.end_map()?;
    match first_error {
        Some(error) => Err(error),
        None => Ok(true),
    }
}
