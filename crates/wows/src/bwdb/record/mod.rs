//! The machinery of prototype views: a declaration of a struct's fields gives typed getters, a walk over all of
//! them, and the columns of its table.

mod declare;
pub mod differ;
mod field;
mod leaves;
mod values;
mod walker;

pub use declare::{FieldInfo, Form, Prototype};
pub(super) use declare::{prototype, tile};
pub(super) use field::{Differ, Element, Traits, follow, follow_one, same_arrays};
pub use field::{Field, FieldColumns, FieldType, List};
pub(super) use leaves::Count;
pub use leaves::{Flag, Text};
pub use values::{ById, Ids, NameLookup};
pub(super) use values::{ValueBuilder, field_value, single_leaf};
pub use walker::{HeldTexts, Leaf, ListInfo, NameId, PathId, Walker};
