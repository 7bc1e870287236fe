//! The tables that show records of a type and the arrays in them: readers and writers of tables follow from the declarations.

use super::prototypes::{Layout, Material, Skeleton};
use super::record::{Form, Type, Typed as _};
use crate::bytes::View;
use crate::error::Result;

/// The things that a table has a row for.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowTarget {
    Records(&'static Type),
    Elements(ArrayRef),
    Properties,
    /// A node of a skeleton at an offset in the record.
    Nodes {
        at: usize,
    },
}

/// An array in a struct at an offset in a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrayRef {
    pub at: usize,
    pub of: &'static Type,
    /// The number of the field.
    pub field: usize,
}

impl ArrayRef {
    pub fn element(self) -> &'static Type {
        self.of.field(self.field).of
    }

    pub fn elements(self, record: View<'_>) -> Result<super::record::Elements<'_>> {
        self.of.array(record.skip(self.at), self.field)
    }
}

/// The tables of records with a layout, the table of the records first.
pub(super) fn tables_of(layout: Layout) -> Vec<(&'static str, RowTarget)> {
    let of = layout.of();
    let mut tables = vec![(layout.table(), RowTarget::Records(of))];
    if of == Material::OF {
        tables.push(("material_properties", RowTarget::Properties));
    }
    tables.extend(lists_of(of));
    tables
}

/// The tables of the arrays in records of a type: of each array of a type with a table, and of skeletons. Arrays of later structs
/// precede arrays of earlier ones, and skeletons follow. The first array of a table counts.
pub(super) fn lists_of(of: &'static Type) -> Vec<(&'static str, RowTarget)> {
    let mut lists = Vec::new();
    collect(of, 0, &mut lists);
    lists.sort_by_key(|(_, target)| match target {
        RowTarget::Elements(array) => (false, std::cmp::Reverse(array.at)),
        _ => (true, std::cmp::Reverse(0)),
    });
    let mut tables: Vec<(&'static str, RowTarget)> = Vec::new();
    for list in lists {
        if tables.iter().all(|(table, _)| *table != list.0) {
            tables.push(list);
        }
    }
    tables
}

/// The rows of the table `name` of an array in records of a type.
pub(super) fn list_named(of: &'static Type, name: &str) -> Option<RowTarget> {
    lists_of(of).into_iter().find(|(table, _)| *table == name).map(|(_, target)| target)
}

fn collect(of: &'static Type, at: usize, lists: &mut Vec<(&'static str, RowTarget)>) {
    for (field, info) in of.fields().iter().enumerate() {
        let inner = at.saturating_add(info.at);
        match (info.form, info.of.table, info.told_in) {
            (Form::Array { .. }, Some(table), _) => {
                lists.push((table, RowTarget::Elements(ArrayRef { at, of, field })));
            }
            (Form::Inline, _, Some(table)) if info.of == Skeleton::OF => {
                lists.push((table, RowTarget::Nodes { at: inner }));
            }
            (Form::Inline, ..) => collect(info.of, inner, lists),
            _ => {}
        }
    }
}
