//! References in records: every path id in them, however deep, and every text of a path.

use super::prototypes::{Material, MergedModel, Prototype, TEXTURE, known_property_name, split_reference};
use super::record::{Elements, Leaf, NameId, Walker};
use super::{Database, NameLookup};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::id::{self, Id32};
use crate::relations::{By, Keep};
use std::fmt::Write as _;

/// A reference to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The path id of the resource.
    pub id: u64,
    /// The field of the reference, such as `render_sets[2].mfm`. A texture of a material has the name of its property, such as
    /// `properties.diffuseMap`.
    pub column: String,
    /// The reference's form.
    pub by: By,
}

/// Collects the references that `keep` selects.
pub struct Collector<'k> {
    keep: Keep<'k>,
    budget: &'k Budget,
    /// The steps from the record to the current position.
    steps: Vec<Step>,
    /// References that were kept.
    pub found: Vec<Reference>,
    /// Errors of parts that could not be read.
    pub errors: Vec<Error>,
}

enum Step {
    Field(&'static str),
    /// The next element of a list.
    Element(usize),
}

impl<'k> Collector<'k> {
    /// Keeps the references for which `keep` holds.
    pub fn new(keep: Keep<'k>, budget: &'k Budget) -> Self {
        Self { keep, budget, steps: Vec::new(), found: Vec::new(), errors: Vec::new() }
    }

    /// Adds the references of a record of `db`.
    pub fn record(&mut self, record: &Prototype<'_>, db: &Database) {
        let first = self.found.len();
        record.walk_fields(self);
        if let (Prototype::Material(material), Some(found)) = (record, self.found.get_mut(first..))
            && !found.is_empty()
            && let Err(error) = name_textures(material, db, found)
        {
            self.errors.push(error);
        }
    }

    /// Adds the references of a model of a `models.bin`, and its own id as `id`.
    pub fn merged(&mut self, model: &MergedModel<'_>) {
        model.walk_fields(self);
    }

    fn meet(&mut self, name: &'static str, id: u64, by: By) {
        if id == 0 || !(self.keep)(id, by) {
            return;
        }
        let mut column = String::new();
        for step in &self.steps {
            match step {
                Step::Field(name) => push_name(&mut column, name),
                // To a string writing does not fail.
                Step::Element(index) => drop(write!(column, "[{index}]")),
            }
        }
        push_name(&mut column, name);
        self.found.push(Reference { id, column, by });
    }

    /// Advances to the next element after the end of an element.
    fn next(&mut self) {
        if let Some(Step::Element(index)) = self.steps.last_mut() {
            *index = index.saturating_add(1);
        }
    }
}

fn push_name(column: &mut String, name: &str) {
    if !column.is_empty() && !name.is_empty() {
        column.push('.');
    }
    column.push_str(name);
}

impl<'a> Walker<'a> for Collector<'_> {
    fn leaf(&mut self, name: &'static str, leaf: Leaf<'a>) {
        match leaf {
            Leaf::Path(id) => self.meet(name, id.0, By::Id),
            Leaf::Text(text) if text.contains(['/', '\\']) => self.meet(name, id::of_path(text), By::Text),
            Leaf::Text(_) | Leaf::Value(_) | Leaf::Name(_) => {}
        }
        self.next();
    }

    fn begin(&mut self, name: &'static str) {
        self.steps.push(Step::Field(name));
    }

    fn end(&mut self) {
        self.steps.pop();
        self.next();
    }

    fn begin_list(&mut self, name: &'static str, list: &Elements<'a>) -> bool {
        if !list.of.traits.refers || list.len == 0 {
            return false;
        }
        if let Err(error) = self.budget.spend_at(list.view, list.bytes()) {
            self.errors.push(error.context(name));
            return false;
        }
        self.steps.push(Step::Field(name));
        self.steps.push(Step::Element(0));
        true
    }

    fn end_list(&mut self) {
        self.steps.pop();
        self.steps.pop();
        self.next();
    }

    fn damage(&mut self, name: &'static str, error: Error) {
        self.errors.push(if name.is_empty() { error } else { error.context(name) });
        self.next();
    }
}

/// Calls textures by the properties that they are the values of.
fn name_textures(material: &Material<'_>, db: &Database, found: &mut [Reference]) -> Result<()> {
    let (names, refs) = (material.property_names()?, material.property_refs()?);
    for (name, reference) in names.iter().zip(refs.iter()) {
        let (name, (kind, value)) = (name?, split_reference(reference?));
        if kind != TEXTURE {
            continue;
        }
        let column = format!("textures[{value}]");
        for found in found.iter_mut().filter(|found| found.column == column) {
            found.column = property_column(db, name)?;
        }
    }
    Ok(())
}

/// The column of a reference that is the value of a property.
fn property_column(names: &dyn NameLookup, name: NameId) -> Result<String> {
    let text = names.name(name.0)?;
    Ok(match text.as_deref().or(known_property_name(name)) {
        Some(text) => format!("properties.{text}"),
        None => format!("properties.{}", Id32(name.0)),
    })
}
