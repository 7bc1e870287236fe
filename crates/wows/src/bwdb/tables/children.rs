//! Tables with a row for each element of the arrays in records.

use super::cells::{field_cell, field_columns, ids_of, may_be_searched};
use super::nested::{Children, Nested};
use super::records::Records;
use crate::bwdb::prototypes as p;
use crate::bwdb::prototypes::{StoredProperty, known_property_name};
use crate::bwdb::record::{Field, Ids, Leaf, List, NameId, PathId, Prototype};
use crate::bytes::View;
use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::table::{Accepts, Column, Kind, Table, Value, no_cell};
use std::borrow::Cow;
use std::ops::Range;

/// A row for each element of an array of structs.
pub(super) fn children<'a, P: Field<'a> + 'a, C: Prototype<'a> + 'a, R: Records<'a>>(
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

pub(super) struct Elements<L> {
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
pub(super) fn visual_children<'a, P: Field<'a> + 'a, R: Records<'a>>(
    rows: R,
    visual: impl Fn(P) -> Result<p::Visual<'a>> + Send + Sync + Copy + 'a,
    tables: &mut Vec<Box<dyn Table + 'a>>,
) {
    tables.push(children::<P, p::RenderSet<'a>, _>("render_sets", rows, move |r| visual(r)?.render_sets()));
    tables.push(children::<P, p::Lod<'a>, _>("lods", rows, move |r| visual(r)?.lods()));
    tables.push(skeleton_nodes(rows, move |view| visual(P::read(view)?)?.skeleton()));
}

pub(super) fn skeleton_nodes<'a, R: Records<'a>>(
    rows: R,
    skeleton: impl Fn(View<'a>) -> Result<p::Skeleton<'a>> + Send + Sync + 'a,
) -> Box<dyn Table + 'a> {
    Nested::new("skeleton_nodes", rows, SkeletonNodes(skeleton))
        .field(Column::id32("name_id").writable(), |node| Ok(Id32(node.name()?.0)))
        .field(Column::text("name").brief().resolved().accepts(Accepts::Name), move |node| {
            rows.names().name(node.name()?)
        })
        .looked_ahead()
        .field(Column::uint("parent").brief().accepts(Accepts::OrNull), |node| {
            let parent = node.skeleton.parents()?.get(node.index).ok_or_else(|| node.missing())??;
            Ok(Some(parent).filter(|parent| *parent != 0xFFFF))
        })
        .column(Column::floats("matrix").accepts(Accepts::Numbers(16)), |node| {
            Ok(Value::floats(node.skeleton.matrices()?.get(node.index).ok_or_else(|| node.missing())??))
        })
        .build()
}

pub(super) struct Node<'a> {
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

pub(super) struct SkeletonNodes<S>(S);

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

/// A row for each property of the materials `rows`.
pub(super) fn material_properties<'a, R: Records<'a>, C>(rows: R, properties: C) -> Box<dyn Table + 'a>
where
    C: Children<'a, Row = StoredProperty<'a>>,
{
    let names = rows.names();
    Nested::new("material_properties", rows, properties)
        .field(Column::id32("name_id").writable(), |property| Ok(Id32(property.name.0)))
        .field(Column::text("name").brief().resolved().accepts(Accepts::Name), |property| {
            let name = names.name(property.name)?;
            Ok(name.or_else(|| known_property_name(property.name).map(Cow::Borrowed)))
        })
        .looked_ahead()
        .field(Column::text("type").brief().writable(), |property| Ok(property.kind))
        .column(
            Column::new("value", Kind::Any).brief().writable().texts_of("texture_id").typed_by("type"),
            move |property| match property.value() {
                Leaf::Value(value) => Ok(value),
                Leaf::Path(PathId(0)) => Ok(Value::Null),
                Leaf::Path(id) => Ok(names.path(id)?.map(Value::Text).unwrap_or_default()),
                Leaf::Name(_) => Ok(Value::Null),
            },
        )
        .field(Column::id64("texture_id").reference().accepts(Accepts::OrNull), |property| {
            Ok(property.path().map(|id| Id64(id.0)))
        })
        .build()
}

pub(super) struct Properties;

impl<'a> Children<'a> for Properties {
    type Row = StoredProperty<'a>;

    /// A name and a reference.
    fn size(&self) -> usize {
        4 + 2
    }

    fn count(&self, record: View<'a>) -> Result<usize> {
        Ok(p::Material::read(record)?.property_count()?.into())
    }

    fn row(&self, record: View<'a>, index: usize) -> Result<StoredProperty<'a>> {
        p::Material::read(record)?.stored_property(index)
    }

    fn ids(&self, record: View<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let material = p::Material::read(record)?;
        rows.map(|index| material.stored_property(index)).try_for_each(|property| {
            let property = property?;
            ids.names.push(property.name);
            ids.paths.extend(property.path().filter(|id| id.0 != 0));
            Ok(())
        })
    }
}
