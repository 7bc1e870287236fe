//! The tables of the models of World of Warships: Legends.

use super::children::{children, material_properties, skeleton_nodes};
use super::nested::Children;
use super::records::{Lead, Records, records, table_of, with_fields};
use super::space::{by_path, path_column};
use crate::budget::Budget;
use crate::bwdb::NameLookup;
use crate::bwdb::counts::Counts;
use crate::bwdb::prototypes::StoredProperty;
use crate::bwdb::record::{Field, Ids, List, PathId};
use crate::bwdb::uber::{ModelSpan, UberLevel, UberMaterial, UberModel, UberModels, UberVisual};
use crate::bytes::View;
use crate::error::{ErrorKind, Result};
use crate::schema::Record as _;
use crate::source::Source;
use crate::table::{Column, Table, Value, no_cell};
use std::ops::Range;
use std::sync::Arc;

/// The tables, the main one first. Without `prototypes.data` only this one exists.
pub(in crate::bwdb) const UBER_TABLES: [&str; 7] =
    ["models", "lods", "visuals", "render_sets", "skeleton_nodes", "materials", "material_properties"];

pub(in crate::bwdb) fn uber(models: &UberModels) -> Vec<Box<dyn Table + '_>> {
    let [all, lods, visuals, render_sets, _, materials, _] = UBER_TABLES;
    let rows = ModelRows(models);
    let read = move |row| if models.has_models() { models.model(row).map(Some) } else { Ok(None) };
    let table = table_of(all, rows, move |row| Ok((row, read(row))));
    let table = table.fields(ModelSpan::FIELDS, |row| models.span(row.number));
    if !models.has_models() {
        return vec![Box::new(table)];
    }
    let table = with_fields(table, all, rows.names(), move |(row, model): &(usize, Result<Option<UberModel<'_>>>)| {
        model.clone()?.ok_or_else(|| no_cell(all, *row, 0))
    });
    let [level, visual, material] = [Part::Level, Part::Visual, Part::Material].map(|part| PartRows { models, part });
    vec![
        Box::new(table),
        records::<UberLevel<'_>, _>(lods, level),
        records::<UberVisual<'_>, _>(visuals, visual),
        children::<UberVisual<'_>, _, _>(render_sets, visual, |visual| visual.render_sets()),
        skeleton_nodes(rows, |view| UberModel::read(view)?.skeleton()),
        records::<UberMaterial<'_>, _>(materials, material),
        material_properties(material, Properties),
    ]
}

/// The columns of a model; `model` is the number of a row's model, and `rows` the rows of a model.
fn leads<'a>(
    models: &'a UberModels,
    model: impl Fn(usize) -> Result<usize> + Copy + Send + Sync + 'a,
    rows: impl Fn(usize) -> Range<usize> + Copy + Send + Sync + 'a,
) -> Vec<Lead<'a>> {
    let id = move |row| Ok(models.id(model(row)?));
    let with_id = move |id: u64| models.find(id).into_iter().flat_map(rows).collect::<Vec<usize>>();
    let path = move |row| match id(row)? {
        Some(id) => Ok(NameLookup::path(&*models.names, PathId(id))?.map_or(Value::Null, Value::Text)),
        None => Ok(Value::Null),
    };
    vec![
        Lead::new(Column::uint("model").brief().place(), move |row| Ok(model(row)?.into())).found_by(move |key| {
            match key {
                Value::Uint(model) => Some(Ok(usize::try_from(*model).into_iter().flat_map(rows).collect())),
                _ => None,
            }
        }),
        Lead::new(Column::id64("id").brief().key(), move |row| Ok(id(row)?.map(Value::Id64).unwrap_or_default()))
            .found_by(move |key| if let Value::Id64(id) = key { Some(Ok(with_id(*id))) } else { None }),
        Lead::new(path_column(&models.names), path).found_by(move |key| by_path(&models.names, key, with_id)),
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

    fn names(self) -> &'a dyn NameLookup {
        &*self.0.names
    }

    fn file(self) -> &'a Source {
        self.0.data()
    }

    fn counts(self) -> &'a Counts {
        &self.0.counts
    }
}

/// An array of a model whose elements are records.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Level,
    Visual,
    Material,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Level => "lods",
            Self::Visual => "visuals",
            Self::Material => "materials",
        }
    }

    const fn size(self) -> usize {
        match self {
            Self::Level => UberLevel::SIZE,
            Self::Visual => UberVisual::SIZE,
            Self::Material => UberMaterial::SIZE,
        }
    }

    /// The place and the number of the elements.
    fn span<'a>(self, model: &UberModel<'a>) -> Result<(View<'a>, usize)> {
        Ok(match self {
            Self::Level => model.levels()?.span(),
            Self::Visual => model.visuals()?.span(),
            Self::Material => model.materials()?.span(),
        })
    }
}

/// The elements of the arrays of all models, in order. A model that cannot be read has one row with its error. If models overlap
/// so much that there are more elements than any file of this size has, the rows end with an error.
#[derive(Clone, Copy)]
struct PartRows<'a> {
    models: &'a UberModels,
    part: Part,
}

impl<'a> PartRows<'a> {
    /// For each model, the end of its rows.
    fn ends(self) -> Arc<[usize]> {
        let Self { models, part } = self;
        let rows = |row| models.model(row).and_then(|model| part.span(&model)).map_or(1, |(_, len)| len);
        models.counts.get(part.name(), self.most(), || (0..models.len()).map(rows).collect())
    }

    fn most(self) -> usize {
        let limit = usize::try_from(self.budget().limit()).unwrap_or(usize::MAX);
        limit.checked_div(self.part.size()).unwrap_or(0)
    }

    fn budget(self) -> Budget {
        Budget::of_arrays(self.models.data().bytes().len())
    }

    fn rows_of(self, model: usize) -> Range<usize> {
        let ends = self.ends();
        let start = model.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        start..ends.get(model).copied().unwrap_or(start)
    }

    /// The model of a row, and the number of the row's element.
    fn place(self, row: usize) -> Result<(usize, usize)> {
        let ends = self.ends();
        let model = ends.partition_point(|end| *end <= row);
        let start = model.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
        if model < ends.len() {
            return Ok((model, row.saturating_sub(start)));
        }
        if row > start || ends.len() == self.models.len() {
            return Err(no_cell(self.part.name(), row, 0));
        }
        let what = "bytes of the arrays of all models, which overlap";
        let limit = self.budget().limit();
        let kind = ErrorKind::Limit { what, value: limit.saturating_add(1), limit };
        Err(self.models.span(model)?.error(kind))
    }

    /// The element's id in an array beside it, such as the path of a material.
    fn beside<T: Field<'a>>(self, row: usize, ids: impl Fn(&UberModel<'a>) -> Result<List<'a, T>>) -> Result<T> {
        let (model, index) = self.place(row)?;
        ids(&self.models.model(model)?)?.get(index).ok_or_else(|| no_cell(self.part.name(), row, 0))?
    }

    fn path_of(self, id: PathId) -> Result<Value<'a>> {
        match id {
            PathId(0) => Ok(Value::Null),
            id => Ok(self.names().path(id)?.map_or(Value::Null, Value::Text)),
        }
    }
}

impl<'a> Records<'a> for PartRows<'a> {
    fn len(self) -> usize {
        let ends = self.ends();
        ends.last().copied().unwrap_or(0).saturating_add(usize::from(ends.len() < self.models.len()))
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        let (model, index) = self.place(row)?;
        let (view, len) = self.part.span(&self.models.model(model)?)?;
        if index >= len {
            return Err(no_cell(self.part.name(), row, 0));
        }
        Ok(view.skip(index.saturating_mul(self.part.size())))
    }

    fn leads(self) -> Vec<Lead<'a>> {
        let mut all = leads(self.models, move |row| Ok(self.place(row)?.0), move |model| self.rows_of(model));
        let index = move |row| Ok(self.place(row)?.1.into());
        if self.part != Part::Material {
            let id = move |row| self.beside(row, UberModel::model_ids);
            all.push(Lead::new(Column::uint("level").brief().key(), index));
            all.push(Lead::new(Column::id64("level_id").reference(), move |row| Ok(Value::Id64(id(row)?.0))));
            return all;
        }
        let id = move |row| self.beside(row, UberModel::material_ids);
        let name = move |row| self.beside(row, UberModel::material_names);
        all.push(Lead::new(Column::uint("material").brief().key(), index));
        all.push(Lead::new(Column::id64("mfm_id").reference(), move |row| Ok(Value::Id64(id(row)?.0))));
        all.push(Lead::new(Column::text("mfm_path").brief().resolved(), move |row| self.path_of(id(row)?)));
        all.push(Lead::new(Column::id32("material_name_id"), move |row| Ok(Value::Id32(name(row)?.0))));
        all.push(Lead::new(Column::text("material_name").brief().resolved(), move |row| {
            Ok(self.names().name(name(row)?)?.map_or(Value::Null, Value::Text))
        }));
        all
    }

    fn names(self) -> &'a dyn NameLookup {
        &*self.models.names
    }

    fn file(self) -> &'a Source {
        self.models.data()
    }

    fn counts(self) -> &'a Counts {
        &self.models.counts
    }
}

struct Properties;

impl<'a> Children<'a> for Properties {
    type Row = StoredProperty<'a>;

    /// A name and a code.
    fn size(&self) -> usize {
        4 + 1
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok(UberMaterial::read(record)?.property_count()?.into())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<StoredProperty<'a>> {
        UberMaterial::read(record)?.property(index)
    }

    fn ids(&self, record: View<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let material = UberMaterial::read(record)?;
        rows.map(|index| material.property(index)).try_for_each(|property| {
            let property = property?;
            ids.names.push(property.name);
            ids.paths.extend(property.path().filter(|id| id.0 != 0));
            Ok(())
        })
    }
}
