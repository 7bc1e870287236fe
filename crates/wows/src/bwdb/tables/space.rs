//! The tables of the files of a space.

use super::super::prototypes as p;
use super::super::record::Typed as _;
use super::super::{ById, Models, Space};
use super::id64;
use super::records::{Lead, Origin, Records, Row, rows_of, with_fields};
use super::rows::ModelRows;
use super::rows_of as list_rows;
use crate::archive::names::NameSources;
use crate::bwdb::row_targets::{RowTarget, lists_of};
use crate::bytes::View;
use crate::error::Result;
use crate::id;
use crate::relations::IdTexts;
use crate::table::{Accepts, Column, DeclaredTable, OrientedBox, Table, Value, no_cell};

pub(in crate::bwdb) fn models(models: &Models) -> Vec<Box<dyn Table + '_>> {
    let rows = ModelRows(models);
    let table = rows_of("models", models.source(), || models.len(), move |row| p::MergedModel::read(rows.view(row)?))
        .column(Column::uint("index").brief().place(), |row: &Row<p::MergedModel<'_>>| Ok(row.number.into()))
        .column(Column::id64("id").brief().key().unique().writable(), |row| Ok(Value::Id64(row.read()?.id()?.0)))
        .found_by(|key| Some(Ok(models.all_with(id64(key)?))))
        .column(path_column(&models.names).accepts(Accepts::Path), |row| {
            Ok(models.names().path(row.read()?.id()?.0)?.map_or(Value::Null, Value::Text))
        })
        .found_by(|key| by_path(&models.names, key, |id| models.all_with(id)))
        // Numbers of rows elsewhere, which the file stores: of a skeleton of this file, of a collision model of another.
        .column(Column::uint("skeleton_index").brief().accepts(Accepts::Bits(32)), |row| {
            Ok(row.read()?.skeleton_index()?.into())
        })
        .column(Column::uint("first_geometry").brief().accepts(Accepts::Bits(16)), |row| {
            Ok(row.read()?.first_geometry()?.into())
        })
        .column(Column::uint("geometry_count").brief().accepts(Accepts::Bits(16)), |row| {
            Ok(row.read()?.geometry_count()?.into())
        });
    let table = with_fields(table, "models", p::MergedModel::OF, models.names(), |merged| Ok(merged.view()));
    let mut tables: Vec<Box<dyn Table + '_>> = vec![Box::new(table.with_positional_rows())];
    for (name, target) in lists_of(p::MergedModel::OF) {
        tables.push(match target {
            // The file's own skeletons, to which `skeleton_index` leads, replace the empty ones inside of the visuals.
            RowTarget::Nodes { .. } => list_rows(name, SkeletonRows(models), RowTarget::Nodes { at: 0 }),
            target => list_rows(name, rows, target),
        });
    }
    tables
}

/// The column of the paths of ids: for people, if there are names to resolve them.
pub(super) fn path_column(names: &NameSources) -> Column {
    let column = Column::text("path").resolved().in_folders();
    if names.is_empty() { column } else { column.brief() }
}

/// The rows with the path `key`: the rows with its id, if the names contain it.
pub(super) fn by_path(
    names: &NameSources,
    key: &Value<'_>,
    with_id: impl Fn(u64) -> Vec<usize>,
) -> Option<Result<Vec<usize>>> {
    let Value::Text(path) = key else { return None };
    let id = id::of_path(path);
    let known = IdTexts::path(names, id).map(|known| known.is_some_and(|known| known == *path));
    Some(known.map(|known| if known { with_id(id) } else { Vec::new() }))
}

#[derive(Clone, Copy)]
struct SkeletonRows<'a>(&'a Models);

impl<'a> Records<'a> for SkeletonRows<'a> {
    fn len(self) -> usize {
        self.0.skeleton_count()
    }

    fn view(self, row: usize) -> Result<View<'a>> {
        self.0.skeleton(row).map(|s| s.view()).ok_or_else(|| no_cell("skeletons", row, 0))
    }

    fn leads(self) -> Vec<Lead<'a>> {
        vec![Lead::number(Column::uint("skeleton").brief().key(), self.len())]
    }

    fn origin(self) -> Origin<'a> {
        Origin { names: self.0.names(), file: self.0.source(), counts: &self.0.counts }
    }
}

pub(in crate::bwdb) fn space(space: &Space) -> Vec<Box<dyn Table + '_>> {
    let lights = rows_of(
        "point_lights",
        space.source(),
        || space.light_count(),
        |row| space.light(row).ok_or_else(|| no_cell("point_lights", row, 0)),
    );
    let lights = lights.column(Column::uint("index").brief().place(), |row| Ok(row.number.into()));
    let lights = with_fields(lights, "point_lights", p::SpaceLight::OF, &ById, |light| Ok(light.view()))
        .with_box(|light| Ok(Some(OrientedBox::of_point(light.read()?.position()?))));
    vec![Box::new(instances(space)), Box::new(lights)]
}

pub(in crate::bwdb) fn instances(space: &Space) -> impl Table + '_ {
    let all = space.instances();
    DeclaredTable::over("instances", all)
        .random_access()
        .with_positional_rows()
        .column(Column::uint("index").brief().place(), |(row, _)| Ok((*row).into()))
        .found_by(|key| match key {
            Value::Uint(row) => Some(Ok(usize::try_from(*row).into_iter().filter(|row| *row < all.len()).collect())),
            _ => None,
        })
        .column(Column::id64("id").brief().key().writable(), |(_, instance)| Ok(Value::Id64(instance.id.get())))
        .found_by(|key| Some(Ok(space.all_with(id64(key)?))))
        .column(path_column(&space.names).accepts(Accepts::Path), |(_, instance)| {
            Ok(IdTexts::path(&*space.names, instance.id.get())?.map_or(Value::Null, Value::Text))
        })
        .found_by(|key| by_path(&space.names, key, |id| space.all_with(id)))
        .column(Column::text("name").brief().key().accepts(Accepts::OrNull), |(_, instance)| {
            Ok(space.instance_name(instance)?.into())
        })
        .column(Column::floats("transform").accepts(Accepts::Numbers(16)), |(_, instance)| {
            Ok(Value::floats(instance.transform.iter().map(|v| v.get())))
        })
        .column(Column::uint("flags").brief().accepts(Accepts::Bits(32)), |(_, instance)| {
            Ok(instance.flags.get().into())
        })
        // The last row of the matrix is the position.
        .columns(["x", "y", "z"].map(|name| Column::f32(name).brief().writable()), |(_, instance), axis| {
            Ok(instance.transform.get(axis.saturating_add(12)).map(|v| v.get()).into())
        })
        .with_box(|(_, instance)| {
            let [.., x, y, z, _] = instance.transform.map(|v| v.get());
            Ok(Some(OrientedBox::of_point([x, y, z])))
        })
        .column(Column::uint("offset").place(), |(_, instance)| {
            Ok(space.source().view("instances").locate(*instance).offset().into())
        })
}
