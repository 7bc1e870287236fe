//! An open file, as programs in C hold it.

use assetq::{Asset, Options};
use std::ffi::CString;

/// An open file.
pub struct File {
    pub(crate) asset: Asset,
    pub(crate) options: Options,
    pub(crate) name: CString,
    pub(crate) format: CString,
    pub(crate) tables: Vec<CString>,
}
