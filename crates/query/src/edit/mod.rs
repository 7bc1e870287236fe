//! Edits of any format, and the files that they produce.
//!
//! An [`Edit`] is a row of `diff`: the key of a row with its changed cells, an inserted row, or a deleted row. Edits are resolved against
//! a reader ([`TableEdits`]: numbers of rows and columns, values of the columns' kinds). A format that writes ([`Writable`]) returns the
//! new file as [`Pieces`]: ranges of the old file, and new bytes. Bytes that no edit touches are copied.
//!
//! [`Column::writable`] and [`Column::accepts`](crate::table::Column::accepts) declare a column as writable. All other columns are derived,
//! such as offsets and counts.
//!
//! [`Column::writable`]: crate::table::Column::writable

mod chain;
mod check;
mod copy;
mod editor;
pub mod patch;
mod plan;
pub mod read;
mod resolve;
mod restore;
mod rules;
mod set;

pub use crate::writable::{
    Cells, Change, ColumnValues, Edit, EditPosition, EntryEdit, NTH, Piece, Pieces, Reached, ReadBack, Seal,
    TableEdits, ValueSource, Writable, differs, is_same, key_of, refused,
};
pub use crate::writable::{Item, ListEdit, Lists, agrees};
pub use chain::{AssetEdit, EditChain};
#[cfg(feature = "sql")]
pub(crate) use editor::writable;
pub use editor::{Editor, Steps, check_writable};
pub use patch::Unpatched;
pub use plan::{EditPlan, Written};
#[cfg(feature = "sql")]
pub(crate) use resolve::rows_may_change;
pub use resolve::{Outcome, check_cell, insert_cells, put_cell};
pub use restore::{Fingerprint, Restore};
