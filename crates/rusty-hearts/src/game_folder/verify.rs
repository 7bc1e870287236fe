//! Lists what is wrong with a list and with the places that it names.

use super::RustyHeartsArchive;
use crate::archive;
use crate::error::{Error, ErrorKind};
use crate::report::{Check, Progress, Report, counted};

/// Checks all but the contents of files, which `--deep` does.
pub(super) fn game(game: &RustyHeartsArchive, progress: &Progress) -> Report {
    let list = game.list();
    let mut check = Check::new("list").with_detail(format!(
        "{} bytes decoded, {}, {} without a name",
        list.bytes.len(),
        counted(list.len(), "file"),
        counted(list.unnamed, "record")
    ));
    if list.left > 0 {
        let what = format!("{} bytes left over after the stream", list.left).into();
        let at = game.list_source().bytes().len().saturating_sub(list.left);
        check.fail(game.list_source().view("list").at(at).error(ErrorKind::Damaged { what }));
    }
    let mut paths = Check::new("paths").with_detail("each is there once");
    for (n, path) in list.repeated() {
        paths.fail_with(|| {
            let what = format!("{path:?} is the path of an earlier file, which alone is found by it").into();
            Error::of_part(ErrorKind::Damaged { what }, format!("file {n}"))
        });
    }
    let mut report = Report::from(vec![check, paths]);
    archive::verify_places(game, &mut report, progress);
    report
}
