//! The facts about this build and this machine that a report of a fault needs.

use super::entries::object;
use super::{Context, Outcome};
use crate::archive::Cache;
use crate::table::Value;
use crate::threads;

/// The C library and the linker that the target takes, as in its triple.
const ABI: &str = if cfg!(target_env = "gnu") {
    "gnu"
} else if cfg!(target_env = "musl") {
    "musl"
} else if cfg!(target_env = "msvc") {
    "msvc"
} else {
    ""
};

pub(super) fn run(context: &Context) -> Outcome {
    let target = [std::env::consts::ARCH, std::env::consts::OS, ABI].join("-");
    let features = if cfg!(feature = "parquet") { "parquet" } else { "" };
    let mode = if cfg!(debug_assertions) { "debug" } else { "release" };
    let cache = Cache::default_folder().map(|folder| folder.to_string_lossy().into_owned());
    let facts = object([
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("target", target.trim_end_matches('-').into()),
        ("build", mode.into()),
        ("features", features.into()),
        ("threads", Value::owned(threads::count().to_string())),
        ("cache", cache.into()),
    ]);
    let mut entries = context.entries(false)?;
    entries.add(|out| Ok(out.value(&facts)?))?;
    entries.finish()
}
