//! The states that a file can be in.

use crate::command::Place;
use crate::common::damage::with_damaged_row;
use crate::subject::{Subject, samples};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Copied into an empty folder.
    Alone,
    /// Among its companions, where it comes from: in the folder of its mod.
    Beside,
    /// Copied, and neither the file nor its folder can be written to.
    ReadOnly,
    /// A loose file in the folder of mods of a game.
    InGame,
    /// Inside of an archive.
    Inner,
    /// By a pattern that two copies match.
    Pattern,
    /// Some of its bytes are damaged, so that at least one row cannot be read.
    Damaged,
    /// By a pattern that a cut copy and a dangling link match, too.
    BadNeighbour,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Beside => "beside its companions",
            Self::ReadOnly => "read-only",
            Self::InGame => "in a game's folder of mods",
            Self::Inner => "inside of an archive",
            Self::Pattern => "by a pattern",
            Self::Damaged => "with a damaged row",
            Self::BadNeighbour => "with unreadable neighbours",
        }
    }

    /// Whether the file can be in this state.
    pub fn has(self, subject: &Subject) -> bool {
        match self {
            Self::Inner => subject.is_inner,
            Self::InGame => !subject.is_inner && is_of_wows(subject.format) && subject.ending() != "",
            Self::Pattern | Self::BadNeighbour => {
                !subject.is_inner && subject.ending() != "" && subject.format != "gtex"
            }
            Self::Damaged => !subject.is_inner && subject.damaged.get_or_init(|| damaged(subject)).is_some(),
            _ => !subject.is_inner,
        }
    }

    /// Brings the file into this state.
    pub fn place(self, subject: &Subject) -> Place {
        let mut place = self.made(subject);
        place.number = self as usize;
        place
    }

    fn made(self, subject: &Subject) -> Place {
        let dir = TempDir::new().unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let name = subject.file_name();
        let file = folder.join(name);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        match self {
            Self::Inner => return Place::new(subject.address.clone(), None, folder, Some(dir)),
            Self::Beside => {
                return Place::new(subject.address.clone(), Some(subject.file().into()), subject.folder().into(), None);
            }
            Self::InGame => {
                let game = dir.path().join("game");
                copy_folder(&samples().join("wows"), &game);
                let content = game.join("res_mods/0.10.0.0/content/loops");
                fs::create_dir_all(&content).unwrap();
                fs::copy(subject.file(), content.join(name)).unwrap();
                let address = format!("{}:content/loops/{name}", game.display());
                return Place::new(address, None, game, Some(dir));
            }
            _ => {
                fs::copy(subject.file(), &file).unwrap();
                companions_of_one_file(subject, &folder);
            }
        }
        match self {
            Self::Alone => Place::new(text(&file), Some(file), folder, Some(dir)),
            Self::ReadOnly => {
                let mut rights = fs::metadata(&file).unwrap().permissions();
                rights.set_readonly(true);
                fs::set_permissions(&file, rights).unwrap();
                Place::new(text(&file), Some(file), folder, Some(dir))
            }
            Self::Damaged => {
                fs::write(&file, subject.damaged.get().unwrap().as_ref().unwrap()).unwrap();
                let mut place = Place::new(text(&file), Some(file), folder, Some(dir));
                place.lacking.push(place.address.clone());
                place
            }
            _ => {
                let ending = subject.ending();
                fs::copy(subject.file(), folder.join(format!("another.{ending}"))).unwrap();
                let mut place = Place::new(format!("{}/*.{ending}", folder.display()), None, folder, Some(dir));
                if self == Self::BadNeighbour {
                    let bytes = fs::read(subject.file()).unwrap();
                    fs::write(place.folder.join(format!("cut.{ending}")), &bytes[..bytes.len() / 2]).unwrap();
                    place.lacking.push(text(&place.folder.join(format!("cut.{ending}"))));
                    #[cfg(unix)]
                    {
                        std::os::unix::fs::symlink("nowhere", place.folder.join(format!("link.{ending}"))).unwrap();
                        place.lacking.push(text(&place.folder.join(format!("link.{ending}"))));
                    }
                }
                place
            }
        }
    }
}

/// Formats of the game whose folder of mods the state is about.
fn is_of_wows(format: &str) -> bool {
    ["bwdb", "models", "space", "geometry", "splash", "visual", "model", "mfm", "dds"].contains(&format)
}

/// The files without which a file cannot be opened at all.
fn companions_of_one_file(subject: &Subject, folder: &Path) {
    if subject.format == "gtex" {
        fs::copy(subject.folder().join("model.imgb"), folder.join("model.imgb")).unwrap();
    }
}

/// The file with a damaged row.
fn damaged(subject: &Subject) -> Option<Vec<u8>> {
    with_damaged_row(&subject.name, subject.file_name(), &fs::read(subject.file()).ok()?)
}

/// Copies a folder and all below it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            fs::copy(&entry, &target).unwrap();
        }
    }
}
