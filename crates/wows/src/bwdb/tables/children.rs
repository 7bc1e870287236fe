//! Tables with a row for each element of the arrays in records.

use super::cells::{FieldPlace, cell_of, field_columns};
use super::nested::{Children, Nested};
use super::records::Records;
use crate::bwdb::prototypes::{self as p, Property, known_property_name};
use crate::bwdb::record::{Elements, Ids, Leaf, List, NameId, Typed};
use crate::bwdb::row_targets::ArrayRef;
use crate::bytes::View;
use crate::error::Result;
use crate::id::{Id32, Id64};
use crate::table::{Accepts, Column, Kind, Table, Value, no_cell};
use std::borrow::Cow;
use std::ops::Range;

/// A row for each element of an array of structs.
pub(super) fn children<'a, R: Records<'a>>(name: &'static str, rows: R, array: ArrayRef) -> Box<dyn Table + 'a> {
    let mut table = Nested::new(name, rows, array);
    let (columns, sources) = field_columns(array.element());
    for (column, source) in columns.into_iter().zip(sources) {
        table = table.column_within(column, move |element, budget| cell_of(*element, source, rows.names(), budget));
        let FieldPlace { at, of, field } = source.place;
        // A walk over the field meets the texts of the column.
        if let Kind::Nested | Kind::Text = source.place.info().shown() {
            table = table.searched(source.place.info().of.traits.texts, move |element: &View<'a>, walker| {
                of.walk_field(element.skip(at), field, walker);
            });
        }
    }
    table.build()
}

impl<'a> Children<'a> for ArrayRef {
    type List = Elements<'a>;
    type Row = View<'a>;

    fn size(&self) -> usize {
        self.element().size
    }

    fn list(&self, record: View<'a>) -> Result<Elements<'a>> {
        self.elements(record)
    }

    fn count(&self, elements: &Elements<'a>) -> Result<usize> {
        Ok(elements.len)
    }

    fn first(&self, elements: &Elements<'a>) -> Result<View<'a>> {
        Ok(elements.view)
    }

    fn row(&self, elements: &Elements<'a>, index: usize) -> Result<View<'a>> {
        elements.get(index).ok_or_else(|| no_cell(self.element().name, index, 0))
    }

    fn ids(&self, elements: &Elements<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        rows.filter_map(|index| elements.get(index)).for_each(|element| self.element().walk_fields(element, ids));
        Ok(())
    }
}

/// A row for each node of the skeletons at an offset in records.
pub(super) fn skeleton_nodes<'a, R: Records<'a>>(rows: R, at: usize) -> Box<dyn Table + 'a> {
    Nested::new("skeleton_nodes", rows, SkeletonNodes { at })
        .field(Column::id32("name_id").writable(), |node| Ok(Id32(node.name()?.0)))
        .field(Column::text("name").brief().resolved().accepts(Accepts::Name), move |node| {
            rows.names().name(node.name()?.0)
        })
        .looked_ahead()
        .field(Column::uint("parent").brief().accepts(Accepts::OrNull), |node| {
            let parent = node.nodes.skeleton.parents()?.get(node.index).ok_or_else(|| node.missing())??;
            Ok(Some(parent).filter(|parent| *parent != p::NO_PARENT))
        })
        .column(Column::floats("matrix").accepts(Accepts::Numbers(16)), |node| {
            Ok(Value::floats(node.nodes.skeleton.matrices()?.get(node.index).ok_or_else(|| node.missing())??))
        })
        .build()
}

/// The nodes of a skeleton.
#[derive(Clone, Copy)]
pub(super) struct NodeList<'a> {
    skeleton: p::Skeleton<'a>,
    names: List<'a, NameId>,
}

pub(super) struct SkeletonNode<'a> {
    nodes: NodeList<'a>,
    index: usize,
}

impl SkeletonNode<'_> {
    fn name(&self) -> Result<NameId> {
        self.nodes.names.get(self.index).ok_or_else(|| self.missing())?
    }

    #[cold]
    fn missing(&self) -> crate::Error {
        no_cell("skeleton_nodes", self.index, 0)
    }
}

struct SkeletonNodes {
    at: usize,
}

impl<'a> Children<'a> for SkeletonNodes {
    type List = NodeList<'a>;
    type Row = SkeletonNode<'a>;

    /// A name, a parent and a matrix.
    fn size(&self) -> usize {
        4 + 2 + 64
    }

    fn list(&self, record: View<'a>) -> Result<NodeList<'a>> {
        let skeleton = p::Skeleton::read(record.skip(self.at))?;
        Ok(NodeList { skeleton, names: skeleton.names()? })
    }

    fn count(&self, nodes: &NodeList<'a>) -> Result<usize> {
        Ok(nodes.names.len())
    }

    fn first(&self, nodes: &NodeList<'a>) -> Result<View<'a>> {
        Ok(nodes.names.view())
    }

    fn row(&self, nodes: &NodeList<'a>, index: usize) -> Result<SkeletonNode<'a>> {
        Ok(SkeletonNode { nodes: *nodes, index })
    }

    fn ids(&self, nodes: &NodeList<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        let mut names = rows.filter_map(|index| nodes.names.get(index));
        names.try_for_each(|name| name.map(|name| ids.names.push(name)))
    }
}

pub(super) fn material_properties<'a, R: Records<'a>>(rows: R) -> Box<dyn Table + 'a> {
    let names = rows.names();
    Nested::new("material_properties", rows, Properties)
        .field(Column::id32("name_id").writable(), |property| Ok(Id32(property.name.0)))
        .field(Column::text("name").brief().resolved().accepts(Accepts::Name), |property| {
            let name = names.name(property.name.0)?;
            Ok(name.or_else(|| known_property_name(property.name).map(Cow::Borrowed)))
        })
        .looked_ahead()
        .field(Column::text("type").brief().writable(), |property| Ok(property.kind))
        .column(
            Column::new("value", Kind::Any).brief().writable().texts_of("texture_id").typed_by("type"),
            move |property| match property.value() {
                Leaf::Value(value) => Ok(value),
                Leaf::Path(id) if id.0 != 0 => Ok(names.path(id.0)?.map_or(Value::Null, Value::Text)),
                Leaf::Path(_) | Leaf::Name(_) | Leaf::Text(_) => Ok(Value::Null),
            },
        )
        .field(Column::id64("texture_id").reference().accepts(Accepts::OrNull), |property| {
            Ok(property.path().map(|id| Id64(id.0)))
        })
        .build()
}

struct Properties;

impl<'a> Children<'a> for Properties {
    type List = p::Material<'a>;
    type Row = Property<'a>;

    /// A name and a reference.
    fn size(&self) -> usize {
        NameId::SIZE + u16::SIZE
    }

    fn list(&self, record: View<'a>) -> Result<p::Material<'a>> {
        p::Material::read(record)
    }

    fn count(&self, material: &p::Material<'a>) -> Result<usize> {
        Ok(material.property_count()?.into())
    }

    fn first(&self, material: &p::Material<'a>) -> Result<View<'a>> {
        Ok(material.property_names()?.view())
    }

    fn row(&self, material: &p::Material<'a>, index: usize) -> Result<Property<'a>> {
        material.property(index)
    }

    fn ids(&self, material: &p::Material<'a>, rows: Range<usize>, ids: &mut Ids) -> Result<()> {
        rows.map(|index| material.property(index)).try_for_each(|property| {
            let property = property?;
            ids.names.push(property.name);
            ids.paths.extend(property.path().filter(|id| id.0 != 0));
            Ok(())
        })
    }
}
