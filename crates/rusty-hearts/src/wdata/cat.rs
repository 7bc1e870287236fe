//! One whole entry, with its names and ids resolved.

use super::fields::{MapField, StoredKind};
use super::tables::{Found, RecordTable, records};
use super::{BoxType, Map, MapRecord, MapRecords, Section, shapes};
use crate::error::Result;
use crate::table::{Value, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The rows that `entry` names: `TABLE/INDEX`, `TABLE/NAME`, or a name, which is looked for in all tables.
pub(super) fn find(map: &Map, entry: &str) -> Result<Vec<(RecordTable, usize)>> {
    let named =
        entry.split_once('/').and_then(|(table, rest)| Some((RecordTable::all().find(|p| p.name() == table)?, rest)));
    let mut found = Vec::new();
    let mut damage = Ok(());
    if let Some((rows, rest)) = named {
        match rest.parse::<usize>() {
            Ok(row) if Found::new(map, rows).get(row).is_some() => found.push((rows, row)),
            _ => damage = named_so(map, rows, rest, &mut found),
        }
    }
    if found.is_empty() {
        map.find_all_boxes();
        for rows in RecordTable::all() {
            damage = damage.and(named_so(map, rows, entry, &mut found));
        }
    }
    // The requested entry may be among unreadable ones.
    if found.is_empty() { damage.map(|()| found) } else { Ok(found) }
}

/// Adds the rows that people know by `name`.
fn named_so(map: &Map, rows: RecordTable, name: &str, found: &mut Vec<(RecordTable, usize)>) -> Result<()> {
    let records = Found::new(map, rows);
    for row in 0..records.len() {
        let Some(of_row) = records.get(row) else { break };
        // A scene is known by the name in its second record and by its file.
        if records.records_of(&of_row).any(|record| is_named(&record, name)) {
            found.push((rows, row));
        }
    }
    records.fault()
}

fn is_named(record: &MapRecord<'_>, name: &str) -> bool {
    let mut labels = record.shape().fields.iter().enumerate().filter(|(_, field)| field.is_label);
    labels.any(|(number, _)| record.text(number).is_ok_and(|label| label.is_some_and(|label| label == *name)))
}

/// Shows the first of the rows that an entry names.
pub(super) fn show(map: &Map, found: &[(RecordTable, usize)], out: &mut dyn Visitor) -> Result<bool> {
    let Some((&(rows, row), others)) = found.split_first() else { return Ok(false) };
    let table = records(map, rows);
    out.begin_map()?;
    out.field("table", &rows.name().into())?;
    for (number, column) in table.columns().iter().enumerate() {
        out.field(&column.name, &table.value(row, number)?)?;
    }
    let references = references(map, rows, row)?;
    if !references.is_empty() {
        out.field("references", &Value::List(references))?;
    }
    if !others.is_empty() {
        // More entries have this name.
        let others = others.iter().map(|(rows, row)| Value::owned(format!("{}/{row}", rows.name())));
        out.field("also", &Value::List(others.collect()))?;
    }
    out.end_map()?;
    Ok(true)
}

/// The names and ids in an entry: the field, its text or number, and the table and row of its target.
fn references(map: &Map, rows: RecordTable, row: usize) -> Result<Vec<Value<'static>>> {
    let (mut all, mut names) = (Vec::new(), RecordNames { map, tables: HashMap::new() });
    let records = Found::new(map, rows);
    let Some(row) = records.get(row) else { return Ok(all) };
    for record in records.records_of(&row) {
        for (number, field) in record.shape().fields.iter().enumerate() {
            names.follow(field, &record.get(number)?, &mut all)?;
        }
    }
    Ok(all)
}

/// Tables by the names of their records. Each is walked once, for any number of names.
struct RecordNames<'m> {
    map: &'m Map,
    tables: HashMap<RecordTable, HashMap<String, (&'static str, usize)>>,
}

impl RecordNames<'_> {
    /// Follows the names and ids in a field and in all that is in it.
    fn follow(&mut self, field: &MapField, value: &Value<'_>, all: &mut Vec<Value<'static>>) -> Result<()> {
        match field.names {
            Some(rows) => self.resolve(field.name, rows, value, all),
            None => self.look_into(&field.kind, value, all),
        }
    }

    fn look_into(&mut self, kind: &StoredKind, value: &Value<'_>, all: &mut Vec<Value<'static>>) -> Result<()> {
        match (kind, value) {
            (StoredKind::Array(item, _) | StoredKind::List(item, _), Value::List(values)) => {
                values.iter().try_for_each(|value| self.look_into(item, value, all))
            }
            (StoredKind::Record(fields), Value::Map(values)) => {
                // The values of a record leave its counts out.
                let fields = fields.iter().filter(|field| !matches!(field.kind, StoredKind::Count));
                fields.zip(values).try_for_each(|(field, (_, value))| self.follow(field, value, all))
            }
            _ => Ok(()),
        }
    }

    /// Follows all names and ids in `value`.
    fn resolve(
        &mut self,
        field: &str,
        rows: RecordTable,
        value: &Value<'_>,
        all: &mut Vec<Value<'static>>,
    ) -> Result<()> {
        match value {
            Value::List(values) => values.iter().try_for_each(|value| self.resolve(field, rows, value, all)),
            Value::Map(values) => values.iter().try_for_each(|(_, value)| self.resolve(field, rows, value, all)),
            Value::Int(number) => {
                let target = i32::try_from(*number).ok().map(|id| self.map.waypoint(id)).transpose()?.flatten();
                let target = target.map(|(number, _)| (BoxType::WaypointBox.shape().name, number));
                all.push(reference(field, Value::Int(*number), target));
                Ok(())
            }
            Value::Utf16(text) if !text.is_empty() => {
                let name = text.to_string();
                let target = self.table(rows)?.get(&name).copied();
                all.push(reference(field, Value::owned(name), target));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The first record of each name.
    fn table(&mut self, rows: RecordTable) -> Result<&HashMap<String, (&'static str, usize)>> {
        let free = match self.tables.entry(rows) {
            Entry::Occupied(table) => return Ok(table.into_mut()),
            Entry::Vacant(free) => free,
        };
        let resources = RecordTable::Section(Section::SceneResources);
        let boxes = BoxType::ALL.map(RecordTable::Boxes).to_vec();
        let mut names = HashMap::new();
        for table in if rows == RecordTable::EventBoxes { boxes } else { vec![rows] } {
            let Some(run) = table.run(self.map)? else { continue };
            for (row, record) in MapRecords::new(self.map, run).iter().enumerate() {
                // The name or key is the first field.
                let mut own = vec![record.get(0)?];
                if rows == resources
                    && let Value::List(aliases) = record.get(ALIASES)?
                {
                    own.extend(aliases);
                }
                for name in own.iter().filter_map(Value::as_text) {
                    names.entry(name.into_owned()).or_insert((run.shape.name, row));
                }
            }
        }
        Ok(free.insert(names))
    }
}

const ALIASES: usize = shapes::SCENE_RESOURCES.number("aliases");

fn reference(field: &str, value: Value<'static>, target: Option<(&'static str, usize)>) -> Value<'static> {
    let (table, row) = target.unzip();
    Value::Map(vec![
        (Cow::Borrowed("field"), Value::owned(field.to_owned())),
        (Cow::Borrowed("value"), value),
        (Cow::Borrowed("table"), table.into()),
        (Cow::Borrowed("index"), row.into()),
    ])
}
