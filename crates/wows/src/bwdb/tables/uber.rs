//! The tables of the models of World of Warships: Legends.

use super::children::material_properties;
use super::records::{Lead, Origin, Records, records, table_of, with_fields};
use super::space::{by_path, path_column};
use super::{id64, number};
use crate::budget::Budget;
use crate::bwdb::lists::{ArrayRef, list_named};
use crate::bwdb::record::{Elements, Field, List, PathId};
use crate::bwdb::uber::{ModelSpan, UberMaterial, UberModel, UberModels, UberVisual};
use crate::bytes::View;
use crate::error::{ErrorKind, Result};
use crate::relations::IdTexts;
use crate::schema::Record as _;
use crate::table::{Column, RowEnds, Table, Value, no_cell};
use std::ops::Range;
use std::sync::Arc;

/// The tables, the main one first. Without `prototypes.data` only this one exists.
pub(in crate::bwdb) const UBER_TABLES: [&str; 7] =
    ["models", "lods", "visuals", "render_sets", "skeleton_nodes", "materials", "material_properties"];

/// Why an array of a struct is found.
const DECLARED: &str = "the struct declares an array with this table";

pub(in crate::bwdb) fn uber(models: &UberModels) -> Vec<Box<dyn Table + '_>> {
    let [all, lods, visuals, render_sets, nodes, materials, _] = UBER_TABLES;
    let rows = ModelRows(models);
    let table = table_of(all, rows, move |row| Ok((row, models.blob(row))));
    let table = table.fields(ModelSpan::FIELDS, |row| models.span(row.number));
    if !models.has_models() {
        return vec![Box::new(table)];
    }
    let table = with_fields(table, all, UberModel::OF, rows.names(), |(_, model)| {
        let view: &View<'_> = model.as_ref().map_err(crate::Error::clone)?;
        view.take(UberModel::SIZE).map(|_| *view)
    });
    let [level, visual, material] = [lods, visuals, materials].map(|name| PartRows::new(models, name));
    vec![
        Box::new(table),
        records(lods, level, level.array.element()),
        records(visuals, visual, visual.array.element()),
        super::rows_of(render_sets, visual, list_named(UberVisual::OF, render_sets).expect(DECLARED)),
        super::rows_of(nodes, rows, list_named(UberModel::OF, nodes).expect(DECLARED)),
        records(materials, material, material.array.element()),
        material_properties::<_, UberMaterial<'_>>(material),
    ]
}

/// The columns of a model; `model` is the number of a row's model, and `rows` the rows of a model.
fn leads<'a>(
    models: &'a UberModels,
    model: impl Fn(usize) -> Result<usize> + Copy + Send + Sync + 'a,
    rows: impl Fn(usize) -> Range<usize> + Copy + Send + Sync + 'a,
) -> Vec<Lead<'a>> {
    let path = Lead::new(path_column(&models.names), move |row| match models.id(model(row)?) {
        Some(id) => Ok(IdTexts::path(&*models.names, id)?.map_or(Value::Null, Value::Text)),
        None => Ok(Value::Null),
    });
    vec![
        Lead::new(Column::uint("model").brief().place(), move |row| Ok(model(row)?.into()))
            .found_by(move |key| Some(Ok(rows(number(key)?).collect()))),
        Lead::new(Column::id64("id").brief().key(), move |row| {
            Ok(models.id(model(row)?).map_or(Value::Null, Value::Id64))
        })
        .found_by(move |key| Some(Ok(models.find(id64(key)?).into_iter().flat_map(rows).collect()))),
        path.found_by(move |key| {
            by_path(&models.names, key, |id| models.find(id).into_iter().flat_map(rows).collect())
        }),
    ]
}

#[derive(Clone, Copy)]
struct ModelRows<'a>(&'a UberModels);

impl<'a> Records<'a> for ModelRows<'a> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.blob(row)
    }

    fn leads(self) -> Vec<Lead<'a>> {
        leads(self.0, Ok, move |row| row..row.saturating_add(1).min(self.len()))
    }

    fn origin(self) -> Origin<'a> {
        Origin { names: &*self.0.names, file: self.0.data(), counts: &self.0.counts }
    }
}

/// The elements of the arrays of all models, in order. A model that cannot be read has one row with its error. If models overlap
/// so much that there are more elements than any file of this size has, the rows end with an error.
#[derive(Clone, Copy)]
struct PartRows<'a> {
    models: &'a UberModels,
    name: &'static str,
    array: ArrayRef,
}

impl<'a> PartRows<'a> {
    fn new(models: &'a UberModels, name: &'static str) -> Self {
        let of = UberModel::OF;
        let field = of.fields().iter().position(|field| field.of.table == Some(name));
        let field = field.expect(DECLARED);
        Self { models, name, array: ArrayRef { at: 0, of, field } }
    }

    fn elements(self, model: usize) -> Result<Elements<'a>> {
        self.array.elements(self.models.model(model)?.view())
    }

    /// The rows of each model.
    fn ends(self) -> Arc<RowEnds> {
        let models = self.models;
        models.counts.get(self.name, models.data().bytes().len(), self.array.element().size, || {
            (0..models.len()).map(|row| self.elements(row).map_or(1, |elements| elements.len)).collect()
        })
    }

    fn rows_of(self, model: usize) -> Range<usize> {
        self.ends().rows(model)
    }

    /// The model of a row, and the number of the row's element.
    fn place(self, row: usize) -> Result<(usize, usize)> {
        let ends = self.ends();
        if let Some(place) = ends.locate(row) {
            return Ok(place);
        }
        if row > ends.total() || ends.parts() == self.models.len() {
            return Err(no_cell(self.name, row, 0));
        }
        let what = "bytes of the arrays of all models, which overlap";
        let limit = Budget::of_arrays(self.models.data().bytes().len()).limit();
        let kind = ErrorKind::Limit { what, value: limit.saturating_add(1), limit };
        Err(self.models.span(ends.parts())?.error(kind))
    }

    /// The element's id in an array beside it, such as the path of a material.
    fn beside<T: Field<'a>>(self, row: usize, ids: impl Fn(&UberModel<'a>) -> Result<List<'a, T>>) -> Result<T> {
        let (model, index) = self.place(row)?;
        ids(&self.models.model(model)?)?.get(index).ok_or_else(|| no_cell(self.name, row, 0))?
    }

    fn path_of(self, id: PathId) -> Result<Value<'a>> {
        match id {
            PathId(0) => Ok(Value::Null),
            id => Ok(self.names().path(id.0)?.map_or(Value::Null, Value::Text)),
        }
    }
}

impl<'a> Records<'a> for PartRows<'a> {
    fn len(self) -> usize {
        let ends = self.ends();
        ends.total().saturating_add(usize::from(ends.parts() < self.models.len()))
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        let (model, index) = self.place(row)?;
        self.elements(model)?.get(index).ok_or_else(|| no_cell(self.name, row, 0))
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let mut all = leads(self.models, move |row| Ok(self.place(row)?.0), move |model| self.rows_of(model));
        if self.array.element() != UberMaterial::OF {
            all.push(Lead::new(Column::uint("level").brief().key(), move |row| Ok(self.place(row)?.1.into())));
            all.push(Lead::new(Column::id64("level_id").reference(), move |row| {
                Ok(Value::Id64(self.beside(row, UberModel::model_ids)?.0))
            }));
            return all;
        }
        all.push(Lead::new(Column::uint("material").brief().key(), move |row| Ok(self.place(row)?.1.into())));
        all.push(Lead::new(Column::id64("mfm_id").reference(), move |row| {
            Ok(Value::Id64(self.beside(row, UberModel::material_ids)?.0))
        }));
        all.push(Lead::new(Column::text("mfm_path").brief().resolved(), move |row| {
            self.path_of(self.beside(row, UberModel::material_ids)?)
        }));
        all.push(Lead::new(Column::id32("material_name_id"), move |row| {
            Ok(Value::Id32(self.beside(row, UberModel::material_names)?.0))
        }));
        all.push(Lead::new(Column::text("material_name").brief().resolved(), move |row| {
            let name = self.beside(row, UberModel::material_names)?;
            Ok(self.names().name(name.0)?.map_or(Value::Null, Value::Text))
        }));
        all
    }

    fn origin(self) -> Origin<'a> {
        ModelRows(self.models).origin()
    }
}
