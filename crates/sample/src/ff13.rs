//! Files and folders of the FINAL FANTASY XIII trilogy.

pub mod gtex;
pub mod wdb;
pub mod white;
