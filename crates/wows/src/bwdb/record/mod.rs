//! The machinery of prototype views: a declaration of a struct's fields gives a [`Type`], from which walks, comparisons and the
//! columns of tables follow, and typed getters.

mod declare;
pub mod differ;
mod leaves;
mod list;
mod types;
mod union;
mod values;
mod walker;

pub use declare::Typed;
pub(super) use declare::{number_of, prototype, tile, unions};
pub use leaves::{Flag, NotLaidOut, ResourceRef, Text};
pub use list::List;
pub(super) use list::{checked_count, follow_one};
pub use types::{Elements, FieldInfo, Form, Type, TypeKind};
pub(super) use union::{KIND, UnionKind};
pub use values::{ById, Ids, NameLookup};
pub(super) use values::{ValueBuilder, field_value};
pub use walker::{HeldTexts, Leaf, NameId, PathId, Walker, Wanted};
