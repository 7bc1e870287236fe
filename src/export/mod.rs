//! Rows and entries written out. A new output is one file here, and works on every format.

pub mod csv;
pub mod json;
pub mod mesh;
pub mod rows;
pub mod text;
