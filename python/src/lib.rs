//! The engine as the Python module `assetq._assetq`, which the package `assetq` wraps.
//!
//! Objects keep their file open. The lock of Python is released while the engine works, and no thread of the engine takes it.

#![allow(clippy::expect_used, reason = "for what no input can reach: each message states why")]

// A panic must unwind to the boundary, where it becomes an error.
#[cfg(panic = "abort")]
compile_error!("panics must unwind here: build with --profile release-unwind");

mod ask;
mod asset;
mod database;
mod edit;
mod error;
mod mesh;
mod sample;
mod table;
mod value;

/// The engine.
#[pyo3::pymodule]
mod _assetq {
    #[pymodule_export]
    use crate::ask::{dangling, diff_, format_id, name_id, parse_id, path_id, refs_, sql};
    #[pymodule_export]
    use crate::asset::{Asset, from_bytes, list_files, open};
    #[pymodule_export]
    use crate::database::Resource;
    #[pymodule_export]
    use crate::mesh::{ArmorModel, Mesh, armor_material};
    #[pymodule_export]
    use crate::sample::sample_;
    #[pymodule_export]
    use crate::table::{Answer, RowIterator, Table};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
