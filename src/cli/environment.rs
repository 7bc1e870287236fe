//! The facts about this build and this machine that a report of a fault needs.

use super::{Context, Exit, Format, Outcome};
use crate::archive::Cache;
use crate::table::Value;
use crate::threads;

/// The features of the library that change what the command does.
const FEATURES: [(&str, bool); 2] = [("parquet", cfg!(feature = "parquet")), ("remote", cfg!(feature = "remote"))];

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
    let features: Vec<&str> = FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let mode = if cfg!(debug_assertions) { "debug" } else { "release" };
    let cache = Cache::default_folder().map(|folder| folder.to_string_lossy().into_owned());
    let facts = [
        ("version", Some(env!("CARGO_PKG_VERSION").to_owned())),
        ("target", Some(target.trim_end_matches('-').to_owned())),
        ("build", Some(mode.to_owned())),
        ("features", Some(features.join(" "))),
        ("threads", Some(threads::count().to_string())),
        ("cache", cache),
    ];
    if context.format() == Format::Text {
        let mut page = context.page();
        for (name, value) in facts {
            page.line(&format!("{name}: {}", value.as_deref().unwrap_or("-")))?;
        }
        page.flush()?;
        return Ok(Exit::Done);
    }
    let mut entries = context.entries(false)?;
    entries.add(|out| {
        out.begin_map()?;
        for (name, value) in &facts {
            out.field(name, &value.as_deref().map_or(Value::Null, Value::text))?;
        }
        Ok(out.end_map()?)
    })?;
    entries.finish()?;
    Ok(Exit::Done)
}
