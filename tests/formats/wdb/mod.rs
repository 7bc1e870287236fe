//! Tests of FINAL FANTASY XIII sheets and packs: reading, damage, and the command line.

#[cfg(feature = "cli")]
mod command;
mod damage;
mod reader;
mod sheets;
