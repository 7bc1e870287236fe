//! Values as text and as JSON.

pub mod json;
pub mod plain;
