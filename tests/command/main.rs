//! The command and the questions that it asks: as a program is run, with its outputs, exit codes and files.
#![cfg(feature = "cli")]
#![allow(missing_docs, clippy::pedantic, clippy::restriction)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod archives;
mod ask;
mod cli;
mod companions;
mod edit;
#[cfg(unix)]
mod faults;
mod games;
mod left_out;
mod many;
mod names;
#[cfg(unix)]
mod oodle;
mod sdk;
mod ship;
mod tasks;
mod textconv;
#[cfg(unix)]
mod view;
mod windows;
mod world;
