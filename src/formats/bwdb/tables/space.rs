//! The tables of the files of a space.

use super::super::prototypes as p;
use super::super::record::{Field as _, Prototype as _};
use super::super::{Models, Names, Space, walk};
use super::{Counts, FieldColumn, Lazy, MODEL_COLUMNS, ModelRows, Rows, VISUAL_COLUMNS};
use super::{children, field_cell, field_columns, skeleton_nodes, visual_children, within};
use crate::bytes::View;
use crate::error::Result;
use crate::table::{Column, Kind, Role, Table, Value, no_cell};

/// The tables of a `models.bin`.
pub(in crate::formats::bwdb) fn models(models: &Models) -> Vec<Box<dyn Table + '_>> {
    let rows = ModelRows(models);
    let own = ["skeleton_index", "first_geometry", "geometry_count"];
    let (mut own_columns, sources) = field_columns(p::MergedModel::FIELDS, Some(&own));
    // Numbers of rows elsewhere: of a skeleton of this file, of a collision model of another.
    own_columns.iter_mut().take(2).for_each(|column| column.role = Role::Place);
    let mut columns =
        vec![Column::new("index", Kind::Uint).brief().place(), Column::new("id", Kind::Id64).brief().key()];
    columns.extend(own_columns);
    let model_at = columns.len();
    let (model_columns, model_sources) = field_columns(p::Model::FIELDS, Some(MODEL_COLUMNS));
    columns.extend(model_columns);
    let visual_at = columns.len();
    let (visual_columns, visual_sources) = field_columns(p::Visual::FIELDS, Some(VISUAL_COLUMNS));
    columns.extend(visual_columns);
    let cell = move |row, column: usize| {
        let model = models.model(row).ok_or_else(|| no_cell("models", row, column))?;
        let source = |from: &[FieldColumn], at: usize| {
            column.checked_sub(at).and_then(|i| from.get(i).copied()).ok_or_else(|| no_cell("models", row, column))
        };
        let names = models.names();
        match column {
            0 | 1 => rows.lead_value(row, column),
            c if c < model_at => field_cell(&model, source(&sources, 2)?, names),
            c if c < visual_at => field_cell(&model.model()?, source(&model_sources, model_at)?, names),
            _ => field_cell(&model.visual()?, source(&visual_sources, visual_at)?, names),
        }
        .map_err(|e| within("models", row, e))
    };
    let main = Lazy::new("models", columns, move || Ok(models.len()), cell)
        .with_find(rows.finds(), move |c, key| rows.find(c, key));
    let mut tables: Vec<Box<dyn Table + '_>> = vec![Box::new(main)];
    visual_children::<p::MergedModel<'_>, _>(rows, |merged| merged.visual(), &mut tables);
    tables.push(children::<p::MergedModel<'_>, p::Dye<'_>, _>("dyes", rows, |merged| merged.model()?.dyes()));
    // The file's own skeletons, to which `skeleton_index` leads, replace the empty ones inside of the visuals.
    tables.retain(|t| t.name() != "skeleton_nodes");
    tables.push(skeleton_nodes(SkeletonRows(models), p::Skeleton::read));
    tables
}

/// The skeletons of a `models.bin`.
#[derive(Clone, Copy)]
struct SkeletonRows<'a>(&'a Models);

impl<'a> Rows<'a> for SkeletonRows<'a> {
    fn len(self) -> usize {
        self.0.skeleton_count()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.skeleton(row).map(|s| s.view()).ok_or_else(|| no_cell("skeletons", row, 0))
    }

    fn lead_columns(self) -> Vec<Column> {
        vec![Column::new("skeleton", Kind::Uint).brief().key()]
    }

    fn lead_value(self, row: usize, _: usize) -> Result<Value<'a>> {
        Ok(row.into())
    }

    fn finds(self) -> &'static [usize] {
        &[0]
    }

    fn find(self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        match (column, key) {
            (0, Value::Uint(row)) => Some(Ok(usize::try_from(*row).into_iter().filter(|&r| r < self.len()).collect())),
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

/// The tables of a `space.bin`.
pub(in crate::formats::bwdb) fn space(space: &Space) -> Vec<Box<dyn Table + '_>> {
    let lights = {
        let (own, sources) = field_columns(p::SpaceLight::FIELDS, None);
        let mut columns = vec![Column::new("index", Kind::Uint).brief().place()];
        columns.extend(own);
        let cell = move |row, column: usize| match column.checked_sub(1).and_then(|i| sources.get(i)) {
            Some(&source) => {
                let light = space.light(row).ok_or_else(|| no_cell("point_lights", row, column))?;
                field_cell(&light, source, &walk::ById).map_err(|e| within("point_lights", row, e))
            }
            None => Ok(row.into()),
        };
        Lazy::new("point_lights", columns, move || Ok(space.light_count()), cell)
    };
    vec![Box::new(instances(space)), Box::new(lights)]
}

pub(in crate::formats::bwdb) fn instances(space: &Space) -> impl Table + '_ {
    let columns = vec![
        Column::new("index", Kind::Uint).brief().place(),
        Column::new("id", Kind::Id64).brief().key(),
        Column::new("name", Kind::Text).brief().key(),
        Column::new("transform", Kind::Nested),
        Column::new("flags", Kind::Uint).brief(),
        Column::new("x", Kind::F32).brief(),
        Column::new("y", Kind::F32).brief(),
        Column::new("z", Kind::F32).brief(),
        Column::new("offset", Kind::Uint).place(),
    ];
    let cell = move |row: usize, column| {
        let instance = space.instances().get(row).ok_or_else(|| no_cell("instances", row, column))?;
        let component = |i: usize| Value::from(instance.transform.get(i).map(|v| v.get()));
        Ok(match column {
            0 => row.into(),
            1 => Value::Id64(instance.id.get()),
            2 => space.instance_name(instance)?.into(),
            3 => Value::floats(instance.transform.iter().map(|v| v.get())),
            4 => instance.flags.get().into(),
            5 => component(12),
            6 => component(13),
            7 => component(14),
            8 => space.source().view("instances").locate(instance).offset().into(),
            _ => return Err(no_cell("instances", row, column)),
        })
    };
    let find = move |column: usize, key: &Value<'_>| match (column, key) {
        (0, Value::Uint(row)) => {
            Some(Ok(usize::try_from(*row).into_iter().filter(|&r| r < space.instances().len()).collect()))
        }
        (1, Value::Id64(id)) => {
            let hits = space.instances().iter().enumerate().filter(|(_, i)| i.id.get() == *id);
            Some(Ok(hits.map(|(row, _)| row).collect()))
        }
        _ => None,
    };
    Lazy::new("instances", columns, move || Ok(space.instances().len()), cell).with_find(&[0, 1], find)
}
