//! Tests of writing: each format's writer against a plain reader of its bytes, and the command.

mod command;
mod exported;
mod items;
mod meshes;
mod places;
mod rules;
mod scripts;
mod set;
mod sql;
mod text_models;
mod undo;
mod wdata;
mod wdb;
mod writers;
