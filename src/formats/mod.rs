//! The formats: a folder each, none of which knows another.

pub mod bwdb;
pub mod geometry;
pub mod vrb;
pub mod wdata;
pub mod wdb;
