//! Lists what is wrong with lists, and with the places in images that they name.

use super::WhiteArchive;
use crate::archive;
use crate::report::{Check, Progress, Report, counted};

/// Checks all but the contents of files, which `--deep` does.
pub(super) fn game(game: &WhiteArchive, progress: &Progress) -> Report {
    let mut report = Report::default();
    for n in 0..game.lists.len() {
        let mut check = Check::new(format!("list {}", game.name_of(n)));
        // A list that cannot be read is an error of the files.
        if let Ok(list) = game.list(n) {
            check.note(list.check());
            if let Some(mismatch) = &list.mismatch {
                check.fail(mismatch.clone());
            }
            list.inflate_all();
            let mut bytes = 0usize;
            for texts in (0..list.chunks.len()).filter_map(|n| list.chunk(n)) {
                match texts {
                    Ok(texts) => bytes = bytes.saturating_add(texts.len()),
                    Err(error) => check.fail(error.clone()),
                }
            }
            let last = list.chunks.len().checked_sub(1).and_then(|last| list.chunk(last)?.as_ref().ok());
            let end = last.is_some_and(|texts| texts.ends_with(b"end\0") || texts.ends_with(b"end"));
            let (files, chunks) = (list.files, list.chunks.len());
            let end = if end { "ends with \"end\"" } else { "does not end with \"end\"" };
            check.detail =
                format!("{}, {} of {bytes} bytes; the last {end}", counted(files, "file"), counted(chunks, "chunk"));
        }
        report.checks.push(check);
    }
    archive::verify_places(game, &mut report, progress);
    report
}
