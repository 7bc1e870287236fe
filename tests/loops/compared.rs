//! Equal bytes are equal, wherever they lie.

use crate::command::{Place, assetq};
use crate::state::copy_folder;
use crate::subject::Subject;
use crate::{Ended, broken};
use std::fs;

/// `diff` of the file and its copy in an empty folder; in each second state, of the copy and the file.
pub fn with_copy(subject: &Subject, place: &Place) -> Ended {
    let copy = place.path(subject.file_name());
    fs::copy(subject.file(), &copy).unwrap();
    if subject.format == "gtex" {
        fs::copy(subject.folder().join("model.imgb"), place.path("model.imgb")).unwrap();
    }
    let mut sides = [&*place.address, &*copy];
    sides.rotate_left(place.number % 2);
    let answer = assetq(&["diff", sides[0], sides[1], "-f", "ndjson"]);
    if answer.code != 0 || !answer.out.is_empty() {
        broken!("{}", answer.shown());
    }
    Ended::Whole
}

/// `diff` of the file's folder and its copy, also into the files.
pub fn folders(_: &Subject, place: &Place) -> Ended {
    let copy = place.out.join("copy");
    let files = fs::read_dir(&place.folder).unwrap().count();
    if files > 40 {
        return Ended::Absent("a folder of this size is compared once, by another of its files");
    }
    copy_folder(&place.folder, &copy);
    for deep in [None, Some("--deep")] {
        let mut args = vec!["diff", place.folder.to_str().unwrap(), copy.to_str().unwrap(), "-f", "ndjson"];
        args.extend(deep);
        let answer = assetq(&args);
        if answer.code != 0 || !answer.out.is_empty() {
            broken!("{}", answer.shown());
        }
    }
    Ended::Whole
}
