//! Walks over records as values, with the texts of their ids.

use super::{Elements, Leaf, NameId, PathId, Type, Walker, Wanted};
use crate::budget::Budget;
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::relations::IdTexts;
use crate::table::{Value, Visitor};
use std::borrow::Cow;

/// Texts of ids.
pub trait NameLookup: IdTexts + Send {
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
            Leaf::Path(PathId(0)) | Leaf::Value(_) | Leaf::Text(_) => {}
            Leaf::Path(id) => self.paths.push(id),
        }
    }

    /// Lists are visited only if they are lists of ids, because the data of other lists may be long.
    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        const MANY: usize = 64;
        list.of.size <= size_of::<u64>() && list.len <= MANY
    }

    fn damage(&mut self, _: &'static str, _: Error) {}

    fn wanted(&self) -> Wanted {
        Wanted::Texts
    }
}

/// No names: ids are shown.
#[derive(Debug, Clone, Copy)]
pub struct ById;

impl IdTexts for ById {}

impl NameLookup for ById {}

/// The names of other files and of lists.
impl NameLookup for crate::archive::names::NameSources {}

/// Builds values during a walk. Keeps damage in `errors`.
pub(in crate::bwdb) struct ValueBuilder<'a, 'n> {
    names: &'a dyn NameLookup,
    fields: Vec<(Cow<'a, str>, Value<'a>)>,
    /// Lists and maps that are open, with their names.
    pub(in crate::bwdb) open: Vec<(&'static str, Value<'a>)>,
    budget: &'n Budget,
    pub(in crate::bwdb) errors: Vec<Error>,
}

impl<'a, 'n> ValueBuilder<'a, 'n> {
    pub(in crate::bwdb) fn new(names: &'a dyn NameLookup, budget: &'n Budget) -> Self {
        Self { names, fields: Vec::new(), open: Vec::new(), budget, errors: Vec::new() }
    }

    pub(in crate::bwdb) fn into_fields(self) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
        (self.fields, self.errors)
    }

    /// Shows the fields that were walked as members of `out`, and ends it.
    pub(in crate::bwdb) fn show(self, out: &mut dyn Visitor) -> Result<bool> {
        for (name, value) in &self.fields {
            out.field(name, value)?;
        }
        out.end_map()?;
        self.errors.into_iter().next().map_or(Ok(true), Err)
    }

    pub(in crate::bwdb) fn put(&mut self, name: &'static str, value: Value<'a>) {
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

fn reference<'a>(id: Value<'a>, what: &'static str, text: Value<'a>) -> Value<'a> {
    Value::Map(vec![("id".into(), id), (what.into(), text)])
}

impl<'a> Walker<'a> for ValueBuilder<'a, '_> {
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>) {
        let value = match leaf {
            Leaf::Value(value) => value,
            Leaf::Text(text) => Value::text(text),
            Leaf::Name(id) => {
                let text = self.names.name(id.0);
                let text = self.resolved(text);
                reference(Value::Id32(id.0), "text", text)
            }
            Leaf::Path(PathId(0)) => Value::Null,
            Leaf::Path(id) => {
                let path = self.names.path(id.0);
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

    fn begin_list(&mut self, name: &'static str, list: &Elements<'a>) -> bool {
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

/// The value of the field with a number, with the texts of its references.
pub(in crate::bwdb) fn field_value<'a>(
    of: &Type,
    view: View<'a>,
    field: usize,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> Result<Value<'a>> {
    let mut shown = ValueBuilder::new(names, budget);
    of.walk_field(view, field, &mut shown);
    let (fields, errors) = shown.into_fields();
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(fields.into_iter().next().map_or(Value::Null, |(_, value)| value)),
    }
}
