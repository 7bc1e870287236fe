//! The history of one entry through all builds: its addition, each change of each field, and its removal.
//!
//! An entry consists of all rows of a file with one path, id or key: for a ship's visual the rows of `paths`,
//! `resources`, `visuals`, its render sets and its nodes. Columns with positions are ignored.

use crate::archive::{self, Archive, File};
use crate::asset::Asset;
use crate::codec::crc32;
use crate::compare::differ;
use crate::diff::{Seeker, path_of_key};
use crate::error::{Error, ErrorKind, Result};
use crate::find;
use crate::id;
use crate::options::Options;
use crate::reader::{FileFormat, Reader};
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Guid, Kind, Role, Table, Value};
use crate::writable::{Cells, keys};
use std::collections::BTreeMap;

/// Rows of one table that an entry may have.
const MOST_ROWS: usize = 1 << 16;

/// An entry in one build: its rows, by table and by the marks that distinguish the rows of one table, with their fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntryState(BTreeMap<(String, RowIdentity), Cells>);

/// The marks that distinguish the rows of an entry in one table: the other parts of their keys, and the number of
/// earlier rows with the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct RowIdentity {
    key: Vec<String>,
    number: Option<u64>,
    repeated: usize,
}

impl RowIdentity {
    fn text(&self) -> String {
        let repeated = (self.repeated > 0).then(|| format!("#{}", self.repeated));
        let parts: Vec<String> =
            self.key.iter().cloned().chain(self.number.map(|number| number.to_string())).chain(repeated).collect();
        parts.join("  ")
    }
}

impl EntryState {
    /// The entry `entry` of `asset`, in all tables or in the given `tables`. Empty without such an entry.
    ///
    /// # Errors
    /// The first damage in one of its rows, and `Limit` if it has too many.
    pub fn read(asset: &Asset, entry: &str, tables: &[String]) -> Result<Self> {
        let mut state = Self::default();
        for table in asset.reader().tables() {
            if tables.is_empty() || tables.iter().any(|name| name == table.name()) {
                state.add(&*table, entry)?;
            }
        }
        Ok(state)
    }

    /// The file at `path` of an archive: its id, size and CRC-32, which is computed from its bytes if the archive has no CRC, such
    /// as a snapshot for the files that it contains.
    ///
    /// # Errors
    /// Damage of its entry, and the errors of [`archive::open`] if its bytes are needed.
    pub fn read_file(archive: &dyn Archive, path: &str) -> Result<Self> {
        let mut state = Self::default();
        let files: Vec<File<'_>> = match archive.has_lists() {
            true => archive.positions(path)?.into_iter().map(|n| archive.file(n)).collect::<Result<_>>()?,
            false => archive.find(path)?.into_iter().collect(),
        };
        for file in files {
            let crc32 = match file.crc32 {
                Some(crc32) => crc32,
                None => crc32(archive::open(archive, &file, "")?.bytes()),
            };
            let id = file.id.map(|id| ("id".into(), Value::Id64(id)));
            let rest = [("size".into(), file.size.into()), ("crc32".into(), Value::Id32(crc32))];
            let key = file.list.iter().map(|list| list.clone().into_owned()).collect();
            let part = RowIdentity { key, ..RowIdentity::default() };
            state.0.insert((archive::FILES.to_owned(), part), id.into_iter().chain(rest).collect());
        }
        Ok(state)
    }

    /// Whether the entry is not there.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, table: &dyn Table, entry: &str) -> Result<()> {
        let columns = table.columns();
        let keys: Vec<usize> = keys(table).collect();
        let asked: Vec<(usize, Value<'_>)> = keys.iter().flat_map(|&key| asked(table, key, entry)).collect();
        let mut rows = Vec::new();
        for (column, value) in &asked {
            rows.extend(find::rows_with(table, *column, value)?);
        }
        rows.sort_unstable();
        rows.dedup();
        if rows.len() > MOST_ROWS {
            let (value, limit) = (rows.len() as u64, MOST_ROWS as u64);
            let kind = ErrorKind::Limit { what: "rows of one entry", value, limit };
            return Err(Error::of_part(kind, table.name().to_owned()));
        }
        let paths: Vec<usize> = keys.iter().filter_map(|&key| path_of_key(table, key)).collect();
        let mut seeker = Seeker::new(table);
        for row in rows {
            let cursor = seeker.seek(row)?;
            let mut part = RowIdentity::default();
            for &key in &keys {
                let mut is_entry = false;
                for (column, value) in &asked {
                    let is_of_key = *column == key || path_of_key(table, key) == Some(*column);
                    is_entry |= is_of_key && cursor.value(*column)? == *value;
                }
                match cursor.value(key)? {
                    _ if is_entry => {}
                    Value::Uint(number) if part.number.is_none() => part.number = Some(number),
                    value => part.key.push(value.to_string()),
                }
            }
            let mut fields = Cells::new();
            for (at, column) in columns.iter().enumerate() {
                if matches!(column.role, Role::Key | Role::Place) || paths.contains(&at) {
                    continue;
                }
                // The text of a hash is more useful than the hash.
                if let Some(text) = table.text_of(at)
                    && !cursor.value(text)?.is_null()
                {
                    continue;
                }
                let value = cursor.value(at)?;
                if !value.is_null() {
                    fields.push((column.name.clone(), value.into_owned()));
                }
            }
            let mut key = (table.name().to_owned(), part);
            while self.0.contains_key(&key) {
                key.1.repeated += 1;
            }
            self.0.insert(key, fields);
        }
        Ok(())
    }
}

/// The values of a row of `entry` in the key column `key`, or in the column of its paths, if `entry` may be
/// such a key or a path.
fn asked<'e>(table: &dyn Table, key: usize, entry: &'e str) -> Vec<(usize, Value<'e>)> {
    let own = match table.columns()[key].kind {
        Kind::Text | Kind::Any => Some(Value::text(entry)),
        Kind::Id64 => id::parse(entry).map(Value::Id64),
        Kind::Id32 => id::parse32(entry).map(Value::Id32),
        Kind::Guid => Guid::parse(entry).map(Value::Guid),
        // Numbers distinguish rows of one entry.
        _ => None,
    };
    let path = path_of_key(table, key).map(|path| (path, Value::text(entry)));
    own.map(|own| (key, own)).into_iter().chain(path).collect()
}

/// An event in the life of a row of the entry, or of one of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The row is there in the first build that is known.
    Present,
    /// The row was inserted.
    Added,
    /// A field has another value.
    Changed,
    /// The row was deleted.
    Removed,
}

impl EventKind {
    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// A line of the history.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryEvent {
    /// The build in which it is so.
    pub build: String,
    /// The event.
    pub kind: EventKind,
    /// The table of the row.
    pub table: String,
    /// The mark that distinguishes the row from others of the entry in that table; empty for a single row.
    pub part: String,
    /// The changed field; `None` if the whole row was inserted or deleted.
    pub field: Option<String>,
    /// The old value, or all fields of the deleted row.
    pub old: Value<'static>,
    /// The new value, or all fields of the inserted row.
    pub new: Value<'static>,
}

impl HistoryEvent {
    /// An event of a row, still without its values.
    fn new(build: &str, (table, part): &(String, RowIdentity), kind: EventKind) -> Self {
        let (build, table, part) = (build.to_owned(), table.clone(), part.text());
        Self { build, kind, table, part, field: None, old: Value::Null, new: Value::Null }
    }
}

/// The history of one entry. It is a file with one table, `history`, so that it is written and queried like any file.
#[derive(Debug)]
pub struct History {
    source: Source,
    events: Vec<HistoryEvent>,
}

impl History {
    /// The history of `entry` in these builds, the oldest first. The caller leaves out unknown builds.
    pub fn new(entry: &str, builds: &[(String, EntryState)]) -> Self {
        let (mut events, mut before) = (Vec::new(), None);
        for (build, state) in builds {
            between(build, before, state, &mut events);
            before = Some(state);
        }
        Self { source: Source::from_vec(entry, Vec::new()), events }
    }

    /// The events, in order.
    pub fn events(&self) -> &[HistoryEvent] {
        &self.events
    }
}

fn between(build: &str, before: Option<&EntryState>, after: &EntryState, events: &mut Vec<HistoryEvent>) {
    let nothing = EntryState::default();
    let came = if before.is_some() { EventKind::Added } else { EventKind::Present };
    let old_rows = &before.unwrap_or(&nothing).0;
    for (key, fields) in old_rows.iter().filter(|(key, _)| !after.0.contains_key(key)) {
        events.push(HistoryEvent {
            old: Value::Map(fields.clone()),
            ..HistoryEvent::new(build, key, EventKind::Removed)
        });
    }
    for (key, fields) in &after.0 {
        let Some(old) = old_rows.get(key) else {
            events.push(HistoryEvent { new: Value::Map(fields.clone()), ..HistoryEvent::new(build, key, came) });
            continue;
        };
        let gone = old.iter().filter(|(name, _)| fields.iter().all(|(other, _)| other != name));
        let mut differing = Vec::new();
        for (name, _) in gone.chain(fields) {
            differ(name.clone(), value_in(old, name), value_in(fields, name), &mut differing);
        }
        events.extend(differing.into_iter().map(|field| HistoryEvent {
            field: Some(field.name.into_owned()),
            old: field.old.into_owned(),
            new: field.new.into_owned(),
            ..HistoryEvent::new(build, key, EventKind::Changed)
        }));
    }
}

fn value_in(fields: &Cells, name: &str) -> Value<'static> {
    fields.iter().find(|(other, _)| other == name).map_or(Value::Null, |(_, value)| value.clone())
}

impl FileFormat for History {
    const NAME: &'static str = "history";

    fn open_as(_: Source, _: &Options) -> Result<Self> {
        Err(Error::of_part(ErrorKind::Unsupported { what: "reading a history".into() }, ""))
    }
}

impl Reader for History {
    fn source(&self) -> &Source {
        &self.source
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        type EventRow<'a> = (usize, &'a HistoryEvent);
        let table = DeclaredTable::<EventRow<'_>>::over("history", &self.events)
            .column(Column::text("build").brief(), |(_, event)| Ok(Value::text(&event.build)))
            .column(Column::text("change").brief(), |(_, event)| Ok(event.kind.name().into()))
            .column(Column::text("table").brief(), |(_, event)| Ok(Value::text(&event.table)))
            .column(Column::text("part").brief(), |(_, event)| {
                Ok(if event.part.is_empty() { Value::Null } else { Value::text(&event.part) })
            })
            .column(Column::text("field").brief(), |(_, event)| Ok(event.field.as_deref().into()))
            .column(Column::new("old", Kind::Any).brief(), |(_, event)| Ok(event.old.clone()))
            .column(Column::new("new", Kind::Any).brief(), |(_, event)| Ok(event.new.clone()));
        vec![Box::new(table)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assetq_sample::wdb::{Cell, Game, Sheet};

    fn state(rows: &[(&str, i64)], entry: &str) -> EntryState {
        let mut sheet = Sheet::new(Game::Later, "Monsters").fields(["sName", "u16HitPoints"]);
        for (name, points) in rows {
            sheet = sheet.record(name, [Cell::from(*name), (*points).into()]);
        }
        EntryState::read(&Asset::open(Source::from_vec("a.wdb", sheet.build())).unwrap(), entry, &[]).unwrap()
    }

    #[test]
    fn an_entry_comes_changes_and_goes() {
        let builds = [
            &[("golem", 1)][..],
            &[("golem", 1), ("bat", 3)],
            &[("bat", 3)],
            &[("wolf", 0), ("bat", 5)],
            &[("wolf", 0)],
        ];
        let of = |entry: &str| {
            let builds: Vec<_> =
                builds.iter().enumerate().map(|(n, rows)| (n.to_string(), state(rows, entry))).collect();
            let told = |event: &HistoryEvent| {
                let field = event.field.as_deref().unwrap_or("-");
                format!("{} {} {field} {} {}", event.build, event.kind.name(), event.old, event.new)
            };
            History::new(entry, &builds).events().iter().map(told).collect::<Vec<_>>()
        };
        assert_eq!(
            of("bat"),
            [
                "1 added -  {sName: bat, u16HitPoints: 3}",
                "3 changed u16HitPoints 3 5",
                "4 removed - {sName: bat, u16HitPoints: 5} "
            ]
        );
        assert_eq!(of("golem")[0], "0 present -  {sName: golem, u16HitPoints: 1}");
        assert!(of("nobody").is_empty());
    }

    /// Rows of one key are compared in their order.
    #[test]
    fn rows_with_one_key_have_events_of_their_own() {
        let builds = [&[("bat", 1), ("bat", 2)][..], &[("bat", 1), ("bat", 5)], &[("bat", 1)]];
        let builds: Vec<_> = builds.iter().enumerate().map(|(n, rows)| (n.to_string(), state(rows, "bat"))).collect();
        let history = History::new("bat", &builds);
        let events = history.events().iter().map(|event| {
            let field = event.field.as_deref().unwrap_or("-");
            format!("{} {} {field} {} {}", event.build, event.kind.name(), event.old, event.new)
        });
        assert_eq!(
            events.collect::<Vec<_>>(),
            [
                "0 present -  {sName: bat, u16HitPoints: 1}",
                "0 present -  {sName: bat, u16HitPoints: 2}",
                "1 changed u16HitPoints 2 5",
                "2 removed - {sName: bat, u16HitPoints: 5} "
            ]
        );
    }

    #[test]
    fn an_entry_of_very_many_rows_is_refused() {
        let rows = vec![("bat", 1); MOST_ROWS + 1];
        let sheet =
            rows.iter().fold(Sheet::new(Game::Later, "Monsters").fields(["u16HitPoints"]), |sheet, (name, points)| {
                sheet.record(name, [Cell::Int(*points)])
            });
        let asset = Asset::open(Source::from_vec("a.wdb", sheet.build())).unwrap();
        let error = EntryState::read(&asset, "bat", &[]).err().unwrap().to_string();
        assert!(error.contains("rows of one entry") && error.contains("65537"), "{error}");
    }

    #[test]
    fn a_history_is_made_of_builds_and_is_not_a_file() {
        let error = History::open_as(Source::from_vec("a", Vec::new()), &Options::default()).unwrap_err();
        assert!(error.to_string().contains("reading a history"), "{error}");
    }
}
