//! The fields of records in reading order, with the texts of their ids.

use super::prototypes::{Material, Prototype, known_property_name, misc_type_name};
use super::record::{Leaf, NameLookup, Typed as _, ValueBuilder, Walker};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::table::Value;
use std::borrow::Cow;

/// Shows the fields of a record in reading order: properties of a material with their names, the rest as stored.
pub(super) fn record_fields<'a>(
    record: &Prototype<'a>,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
    let mut shown = ValueBuilder::new(names, budget);
    match record {
        Prototype::Material(material) => {
            shown.show_properties(material);
            let own = Material::OF.own_fields();
            own.for_each(|field| Material::OF.walk_field(material.view(), field, &mut shown));
        }
        other => {
            other.walk_fields(&mut shown);
            match other {
                Prototype::Model(model) => shown.name_misc_type(model.misc_type()),
                Prototype::ModelV14(model) => shown.name_misc_type(model.misc_type()),
                _ => {}
            }
        }
    }
    shown.into_fields()
}

impl<'a> ValueBuilder<'a, '_> {
    /// Shows the properties of a material with their names.
    fn show_properties(&mut self, material: &Material<'a>) {
        // The list stands for no array of the file.
        self.open.push(("properties", Value::List(Vec::new())));
        match material.properties() {
            Ok(properties) => properties.for_each(|property| match property {
                Ok(property) => {
                    self.begin("");
                    self.leaf("name", Leaf::Name(property.name));
                    self.fill_in_name(known_property_name(property.name));
                    self.leaf("kind", Leaf::Value(property.kind.into()));
                    self.leaf("value", property.value());
                    self.end();
                }
                Err(error) => self.damage("", error),
            }),
            Err(error) => self.damage("", error),
        }
        self.end_list();
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
