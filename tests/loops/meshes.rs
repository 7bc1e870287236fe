//! Meshes that leave as GLB and come back.

use crate::command::{Place, assetq};
use crate::subject::Subject;
use crate::{Ended, broken};
use std::fs;

/// Options of the export: the meshes, all levels, and each other kind of shape beside them.
const FORMS: &[&[&str]] = &[
    &[],
    &["--lod", "all"],
    &["--only", "meshes"],
    &["--only", "meshes,armor,collision,splash"],
    &["--no-companions"],
];

/// Each form of GLB patched back without an edit.
pub fn back(subject: &Subject, place: &Place) -> Ended {
    if subject.format != "geometry" {
        return Ended::Absent("no meshes");
    }
    for form in FORMS {
        let glb = place.path("meshes.glb");
        let mut args = vec!["export", &place.address, "--to", &glb, "--force"];
        args.extend(*form);
        let answer = assetq(&args);
        if answer.code == 1 && answer.err.contains("there are no meshes") {
            return Ended::Absent("a file of zeros");
        }
        if answer.code != 0 {
            broken!("{}", answer.shown());
        }
        let new = place.path(&format!("new-{}", subject.file_name()));
        // Its extras say where the vertices of a mesh belong, whether a visual is beside the file or not.
        let answer = assetq(&["patch", &place.address, &glb, "--to", &new, "--force"]);
        if answer.code != 0 || !answer.out.is_empty() {
            broken!("{form:?}: {}", answer.shown());
        }
        if fs::read(&new).unwrap() != fs::read(subject.file()).unwrap() {
            broken!("{form:?}: other bytes");
        }
    }
    Ended::Whole
}
