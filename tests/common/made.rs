//! Edits by the library, and their results.

use assetq::edit::{Edit, Editor, Outcome, Restore};
use assetq::table::Value;
use assetq::write::atomic_file::Overwrite;
use assetq::{Asset, Options, Source};
use std::fs;
use tempfile::TempDir;

/// The result of edits.
pub struct Made {
    pub bytes: Vec<u8>,
    pub outcomes: Vec<Outcome>,
    pub undo: Restore,
}

/// Makes these edits of a file; it is read back and compared on the way.
pub fn edited(name: &str, bytes: &[u8], edits: Vec<Edit>) -> assetq::Result<Made> {
    let dir = TempDir::new().unwrap();
    let (old, new) = (dir.path().join(name), dir.path().join(format!("new/{name}")));
    fs::write(&old, bytes).unwrap();
    let asset = Asset::open_with(Source::open(&old)?, &Options::default())?;
    let mut editor = Editor::new(&asset)?;
    let outcomes = edits.into_iter().map(|edit| editor.edit(edit)).collect::<Result<Vec<_>, _>>()?;
    let plan = editor.finish()?;
    let written = plan.write(&new, Overwrite::Refuse)?;
    let undo = plan.undo(&written);
    assert!(!new.exists(), "it has a name before it is kept");
    written.commit()?;
    Ok(Made { bytes: fs::read(&new).unwrap(), outcomes, undo })
}

/// The bytes that an undo brings back.
pub fn undone(name: &str, bytes: &[u8], undo: &Restore) -> Vec<u8> {
    let dir = TempDir::new().unwrap();
    let (old, new) = (dir.path().join(name), dir.path().join("back"));
    fs::write(&old, bytes).unwrap();
    let asset = Asset::open(Source::open(&old).unwrap()).unwrap();
    let mut editor = Editor::new(&asset).unwrap();
    assert!(editor.restore(undo).unwrap());
    editor.finish().unwrap().write(&new, Overwrite::Refuse).unwrap().commit().unwrap();
    fs::read(&new).unwrap()
}

/// Cells by name.
pub fn cells<const N: usize>(cells: [(&'static str, Value<'static>); N]) -> assetq::edit::Cells {
    cells.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
