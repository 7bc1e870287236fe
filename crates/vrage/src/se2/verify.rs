//! Checks the files of definitions.

use super::Se2Archive;
use crate::archive;
use crate::error::{Error, ErrorKind};
use crate::report::{Check, Progress, Report};

/// Checks all but the contents of other files, which `--deep` does.
pub(super) fn game(game: &Se2Archive, progress: &Progress) -> Report {
    let gathered = game.gathered();
    let all = &gathered.definitions;
    let with_file = all.iter().filter(|definition| definition.file.is_some()).count();
    let parents = all.iter().filter_map(|definition| definition.parent);
    let elsewhere = parents.filter(|parent| gathered.position(*parent).is_none()).count();
    let mut definitions = Check::new("definitions").with_detail(format!(
        "{} definitions, {with_file} with a .def file; {elsewhere} take values from one that is not here",
        all.len()
    ));
    for error in &gathered.failed {
        definitions.fail_with(|| error.clone());
    }
    for path in &gathered.repeated {
        definitions
            .fail_with(|| Error::of_part(ErrorKind::damaged("its GUID is that of an earlier file"), path.clone()));
    }
    let mut report = Report::from(vec![definitions]);
    archive::verify_places(game, &mut report, progress);
    report
}
