//! Edits of a file in one expression.

use super::{Change, Edit, Editor, Outcome, refused};
use crate::asset::Asset;
use crate::atomic_file::Overwrite;
use crate::error::Result;
use crate::table::Value;
use std::path::Path;

/// Edits of an [`Asset`] in one expression.
///
/// ```
/// # fn main() -> assetq::Result<()> {
/// use assetq::{Asset, edit::AssetEdit as _};
///
/// # let sheet = assetq_sample::wdb::demo(1, assetq_sample::Size::Small);
/// # let new = std::env::temp_dir().join(format!("assetq-chain-{}.wdb", std::process::id()));
/// # let asset = Asset::open(assetq::Source::from_vec("sheet.wdb", sheet))?;
/// let edited = asset.edit().set("records", "r0000005", "u9SaveIndex", 300)?.write(&new)?;
/// assert_eq!(edited.table("records")?.row("r0000005")?.get::<u64>("u9SaveIndex")?, 300);
/// // A file that is there stays.
/// assert!(asset.edit().write(&new).is_err());
/// # drop(edited);
/// # std::fs::remove_file(&new).expect("it is there");
/// # Ok(())
/// # }
/// ```
pub trait AssetEdit {
    /// The file without edits.
    fn edit(&self) -> EditChain<'_>;
}

impl AssetEdit for Asset {
    fn edit(&self) -> EditChain<'_> {
        EditChain { asset: self, editor: None }
    }
}

/// Edits of a file, each checked when it is added. [`Editor`] takes edits from patches and tables.
#[derive(Debug)]
pub struct EditChain<'a> {
    asset: &'a Asset,
    /// Made for the first edit.
    editor: Option<Editor<'a>>,
}

impl<'a> EditChain<'a> {
    /// Changes one cell: of the row with the key `key`.
    ///
    /// # Errors
    /// `Syntax` for a format that is not written, a missing table, row or column, a derived column, and a value that does not
    /// fit.
    pub fn set<'v>(
        self,
        table: &str,
        key: impl Into<Value<'v>>,
        column: &str,
        value: impl Into<Value<'v>>,
    ) -> Result<Self> {
        let cells = vec![(column.to_owned().into(), value.into().into_owned())];
        self.change(table, key.into(), Change::Set(cells))
    }

    /// Inserts a row with these cells besides its key.
    ///
    /// # Errors
    /// As [`EditChain::set`].
    pub fn insert<'v>(
        self,
        table: &str,
        key: impl Into<Value<'v>>,
        cells: impl IntoIterator<Item = (&'v str, Value<'v>)>,
    ) -> Result<Self> {
        let cells = cells.into_iter().map(|(column, value)| (column.to_owned().into(), value.into_owned())).collect();
        self.change(table, key.into(), Change::Add(cells))
    }

    /// Deletes the row with the key `key`.
    ///
    /// # Errors
    /// As [`EditChain::set`].
    pub fn delete<'v>(self, table: &str, key: impl Into<Value<'v>>) -> Result<Self> {
        self.change(table, key.into(), Change::Remove)
    }

    fn change(self, table: &str, key: Value<'_>, change: Change) -> Result<Self> {
        let mut editor = self.editor.map_or_else(|| Editor::new(self.asset), Ok)?;
        if let Outcome::LeftOut(why) = editor.edit(Edit::new(Some(table), key.into_owned(), change))? {
            return Err(refused(why));
        }
        Ok(Self { editor: Some(editor), ..self })
    }

    /// Writes the new file to `to`, where no file may be. It gets its name once it was read back and compared with the edits.
    /// [`EditPlan::write`](super::EditPlan::write) replaces files, too.
    ///
    /// # Errors
    /// If the format cannot store the edits, or the file exists or cannot be written.
    pub fn write(self, to: impl AsRef<Path>) -> Result<Asset> {
        let editor = self.editor.map_or_else(|| Editor::new(self.asset), Ok)?;
        editor.finish()?.write(to.as_ref(), Overwrite::Refuse)?.commit()
    }
}
