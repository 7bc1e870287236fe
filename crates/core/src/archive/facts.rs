//! The facts that `info` shows of every archive.

use super::Archive;
use crate::table::Value;
use std::borrow::Cow;

/// The number of files of an archive and of its volumes, the bytes of these, and the volumes that are not installed.
pub fn facts(archive: &dyn Archive) -> Vec<(Cow<'static, str>, Value<'static>)> {
    let mut facts = vec![("files".into(), archive.len().map_or(Value::Null, Value::from))];
    if let Ok(volumes) = archive.volumes() {
        let there = volumes.iter().filter_map(|volume| volume.size).fold(0, u64::saturating_add);
        let missing = volumes.iter().filter(|volume| volume.size.is_none());
        let missing: Vec<_> = missing.map(|volume| Value::text(&volume.name).into_owned()).collect();
        facts.push(("volumes".into(), volumes.len().into()));
        facts.push(("volume_bytes".into(), there.into()));
        facts.push(("not_installed".into(), Value::List(missing)));
    }
    facts
}
