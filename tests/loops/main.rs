//! Loops: what leaves comes back. Each file of the samples and each real file, in each state that a file can be in, goes each
//! way out and back, by the command as a user runs it.
//!
//! The table is made of [`subjects`], [`State`] and [`LOOPS`]: a new sample, format, state or loop joins all others by itself.
//! [`exceptions::CELLS`] names the cells that cannot hold, with the reason; a cell there that does hold is a failure, too.
//! By default some cells of the table run, the same ones each time; `ASSETQ_CASES` is the number for each loop.
#![cfg(feature = "cli")]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]
#![allow(clippy::disallowed_methods, reason = "a test needs no fallback where no thread can be started")]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod command;
mod compared;
mod counted;
mod edited;
mod exceptions;
mod exported;
mod meshes;
mod state;
mod subject;

use command::Place;
use rayon::prelude::*;
use state::State;
use subject::{Subject, subjects};

/// The end of a loop for one file in one state.
#[derive(Debug)]
pub enum Ended {
    /// Everything came back.
    Whole,
    /// The file has no such way out, for this reason.
    Absent(&'static str),
    /// Something did not come back: the command and its answer.
    Broken(String),
}

/// Returns from a loop that is broken.
#[macro_export]
macro_rules! broken {
    ($($what:tt)*) => { return $crate::Ended::Broken(format!($($what)*)) };
}

/// A way out and back.
#[derive(Debug)]
pub struct Loop {
    pub name: &'static str,
    pub states: &'static [State],
    pub run: fn(&Subject, &Place) -> Ended,
}

/// States of a file that is read alone, as one file that is whole.
const WHOLE: &[State] = &[State::Alone, State::Beside, State::ReadOnly, State::InGame];

/// States in which rows are read: all of them.
const READ: &[State] = &[
    State::Alone,
    State::Beside,
    State::ReadOnly,
    State::InGame,
    State::Inner,
    State::Pattern,
    State::Damaged,
    State::BadNeighbour,
];

/// Every way out that can be read, and the way back.
const LOOPS: &[Loop] = &[
    Loop { name: "diff of a copy", states: WHOLE, run: compared::with_copy },
    Loop { name: "diff of copied folders", states: &[State::Beside], run: compared::folders },
    Loop { name: "rows to patch", states: &[State::Alone, State::Beside, State::ReadOnly], run: exported::rows },
    Loop { name: "entries to patch", states: &[State::Alone, State::Beside, State::ReadOnly], run: exported::entries },
    Loop { name: "meshes to patch", states: &[State::Alone, State::Beside, State::InGame], run: meshes::back },
    Loop { name: "edit, patch and undo", states: &[State::Alone, State::Beside, State::ReadOnly], run: edited::undone },
    Loop { name: "edit of several files and undo", states: &[State::Pattern], run: edited::several },
    Loop { name: "pages of rows", states: READ, run: counted::pages },
    Loop { name: "one number", states: READ, run: counted::counts },
    Loop { name: "left out", states: &[State::Damaged, State::BadNeighbour], run: counted::left_out },
    Loop { name: "advice", states: &[State::Alone, State::Pattern], run: advice::works },
];

/// The number of cells of each loop that run.
fn cases() -> usize {
    std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(25)
}

/// A number that differs between cells and is the same in each run.
pub fn hash(parts: &[&str]) -> usize {
    crc32fast::hash(parts.join("\0").as_bytes()) as usize
}

/// Runs a loop for its cells, and compares those that are broken with the exceptions.
fn run(name: &str) {
    let found = LOOPS.iter().find(|known| known.name == name).unwrap();
    let mut cells: Vec<(&Subject, State)> = subjects()
        .iter()
        .flat_map(|subject| found.states.iter().map(move |&state| (subject, state)))
        .filter(|(subject, state)| state.has(subject))
        .collect();
    cells.sort_by_key(|(subject, state)| hash(&[name, &subject.name, state.name()]));
    cells.truncate(cases());
    let broken: Vec<String> = cells
        .par_iter()
        .filter_map(|(subject, state)| {
            let place = state.place(subject);
            let ended = (found.run)(subject, &place);
            let excepted = exceptions::reason(name, *state, &subject.name);
            match (ended, excepted) {
                (Ended::Broken(what), None) => {
                    Some(format!("{} ({}, {}): {what}", subject.name, state.name(), place.address))
                }
                (Ended::Whole, Some(_)) => {
                    Some(format!("{} ({}) holds: remove it from the exceptions", subject.name, state.name()))
                }
                _ => None,
            }
        })
        .collect();
    assert!(broken.is_empty(), "{name}: {} of {} cells\n{}", broken.len(), cells.len(), broken.join("\n"));
}

macro_rules! loops {
    ($($function:ident: $name:literal),* $(,)?) => {
        $(#[test] fn $function() { run($name); })*

        #[test]
        fn every_loop_has_a_test() {
            let tested = [$($name),*];
            assert_eq!(LOOPS.iter().map(|known| known.name).collect::<Vec<_>>(), tested);
        }
    };
}

loops! {
    a_file_equals_its_copy_anywhere: "diff of a copy",
    a_folder_equals_its_copy: "diff of copied folders",
    exported_rows_give_the_same_bytes: "rows to patch",
    shown_entries_give_the_same_bytes: "entries to patch",
    exported_meshes_give_the_same_bytes: "meshes to patch",
    edits_are_listed_patched_and_undone: "edit, patch and undo",
    edits_of_several_files_are_undone: "edit of several files and undo",
    pages_are_together_the_one_answer: "pages of rows",
    every_way_to_count_gives_one_number: "one number",
    what_is_left_out_is_named: "left out",
    advice_in_messages_works: "advice",
}
