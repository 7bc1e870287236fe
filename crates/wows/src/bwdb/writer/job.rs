//! A table to write: its rows in the file, the patches of their bytes, and the edits that cannot be applied.

use super::super::declared::Type;
use super::super::prototypes::{self as p, Layout, PrototypeType};
use super::super::record::{FieldColumns, Prototype};
use super::area::Struct;
use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::table::{Table, Value, column_index};
use crate::writable::patches::Patches;
use crate::writable::{ColumnValues, EditPosition, Item, ListEdit, TableEdits, cell_named, refused, short_text};

/// The things that a table has a row for.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowTarget {
    /// A record.
    Records(Struct),
    /// An element of an array in a struct at an offset in the record.
    Elements { at: usize, of: Struct, array: &'static str, element: Struct },
    /// A property of a material.
    Properties,
    /// A node of a skeleton at an offset in the record.
    Nodes { at: usize },
}

impl RowTarget {
    /// Whether these cells of a row require rewriting the whole list.
    pub(super) fn rearranges(self, table: &dyn Table, cells: &ColumnValues) -> bool {
        let columns: &[&str] = match self {
            Self::Properties => &["type"],
            Self::Nodes { .. } => &["name_id", PARENT],
            Self::Records(_) | Self::Elements { .. } => &[],
        };
        columns.iter().any(|column| cell_named(table, cells, column).is_some())
    }
}

pub(super) fn elements<'a, P: Prototype<'a>, E: Prototype<'a>>(at: usize, array: &'static str) -> RowTarget {
    RowTarget::Elements { at, of: Struct::built_in::<P>(), array, element: Struct::built_in::<E>() }
}

/// The rows of a table of records with one layout; `None` if it shows no such records.
pub(super) fn rows_of(layout: Layout, table: &str) -> Option<RowTarget> {
    if layout.table() == table {
        return Some(RowTarget::Records(match layout {
            Layout::Declared(of) => Struct::of(of),
            Layout::ModelV14 => Struct::built_in::<p::ModelV14<'_>>(),
            Layout::Current(prototype) => Struct::of(Type::built_in(prototype.name())?),
        }));
    }
    Some(match (layout, table) {
        (Layout::Declared(of), _) => {
            let mut arrays = (0..of.fields.len()).filter_map(|field| Some((of.fields.get(field)?, of.element(field)?)));
            let (field, element) = arrays.find(|(_, element)| element.table == Some(table))?;
            RowTarget::Elements { at: 0, of: Struct::of(of), array: field.name, element: Struct::of(element) }
        }
        (Layout::Current(PrototypeType::Material), "material_properties") => RowTarget::Properties,
        (Layout::Current(PrototypeType::Visual), _) => visual_rows(0, table)?,
        (Layout::Current(PrototypeType::Model), "dyes") => elements::<p::Model<'_>, p::Dye<'_>>(0, "dyes"),
        (Layout::ModelV14, "dyes") => elements::<p::ModelV14<'_>, p::Dye<'_>>(0, "dyes"),
        (Layout::Current(PrototypeType::Effect), "effect_systems") => {
            elements::<p::Effect<'_>, p::System<'_>>(0, "systems")
        }
        (Layout::Current(PrototypeType::EffectMetadata), "effect_parameters") => {
            elements::<p::EffectMetadata<'_>, p::EffectParameter<'_>>(0, "entries")
        }
        _ => return None,
    })
}

/// The rows of a table of parts of visuals, at an offset in the record.
pub(super) fn visual_rows(at: usize, table: &str) -> Option<RowTarget> {
    Some(match table {
        "render_sets" => elements::<p::Visual<'_>, p::RenderSet<'_>>(at, "render_sets"),
        "lods" => elements::<p::Visual<'_>, p::Lod<'_>>(at, "lods"),
        "skeleton_nodes" => RowTarget::Nodes { at },
        _ => return None,
    })
}

/// The number of the field that a column shows.
pub(super) fn field_of(of: Struct, column: &str) -> Option<usize> {
    let is_id = |field: &usize| {
        of.fields.get(*field).is_some_and(|field| matches!(field.shown, FieldColumns::Name | FieldColumns::Path))
    };
    let id = column.strip_suffix("_id").and_then(|name| of.field(name)).filter(is_id);
    id.or_else(|| of.field(column).filter(|field| !is_id(field) || column == "id"))
}

/// A table that is written, and its edits.
pub(super) struct Job<'t, 'p> {
    pub(super) table: &'t dyn Table,
    pub(super) patches: &'p mut Patches,
    /// Columns of the table that are derived, or contain texts of ids.
    pub(super) follows: &'p mut Vec<(String, usize)>,
}

impl Job<'_, '_> {
    pub(super) fn follow(&mut self, column: usize) {
        follow(self.follows, self.table.name(), column);
    }

    pub(super) fn number(&self, row: usize, column: &str) -> Result<usize> {
        let at = column_index(self.table, column).ok_or_else(|| refused(format!("no column {column}")))?;
        match self.table.value(row, at)? {
            Value::Uint(number) => usize::try_from(number).map_err(|_| refused(format!("no row has number {number}"))),
            _ => Err(refused(format!("{}: row {row} has no {column}", self.table.name()))),
        }
    }
}

/// The name of a column with an edited cell.
pub(super) fn column_name(table: &dyn Table, column: usize) -> &str {
    &table.columns().get(column).expect("edits are resolved to columns of the table").name
}

/// Registers a column that is derived, or contains texts of ids.
pub(super) fn follow(follows: &mut Vec<(String, usize)>, table: &str, column: usize) {
    if !follows.iter().any(|(other, at)| other == table && *at == column) {
        follows.push((table.to_owned(), column));
    }
}

/// The table `name` of a reader.
pub(super) fn table<'a>(reader: &'a dyn Reader, name: &str) -> Result<Box<dyn Table + 'a>> {
    reader.table(name).ok_or_else(|| refused(format!("no table {}", short_text(name))))
}

/// Why a list cannot be written, and the edit that is to blame, if it is one.
pub(super) struct Wrong {
    pub at: Option<EditPosition>,
    pub error: Error,
}

impl Wrong {
    pub fn new(at: EditPosition, error: Error) -> Self {
        Self { at: Some(at), error }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { at: None, error }
    }
}

/// A list that is written, its edits among the edits of its table, and its items after them.
#[derive(Clone, Copy)]
pub(super) struct Listed<'e> {
    pub edits: &'e TableEdits,
    pub list: &'e ListEdit,
    pub items: &'e [Item],
}

impl<'e> Listed<'e> {
    /// The row and the cells of an edited item that is kept.
    pub fn edited(self, item: usize) -> Option<&'e (usize, ColumnValues)> {
        self.edits.set.get(*self.list.set.get(&item)?)
    }
}

/// The column of the number of a node's parent.
pub(super) const PARENT: &str = "parent";
