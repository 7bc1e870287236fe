//! One entry whole, with the names and ids in it followed.

use super::tables::{Found, Rows, records};
use super::{BoxType, Map, Records};
use crate::error::Result;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Tables in which entries are looked for, in this order.
fn places() -> impl Iterator<Item = Rows> {
    BoxType::ALL.into_iter().filter(|t| *t != BoxType::UnusedBox).map(Rows::Boxes).chain(Rows::OTHERS)
}

/// Shows an entry: `TABLE/INDEX`, `TABLE/NAME`, or a name, which is looked for in all tables.
pub(super) fn cat(map: &Map, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
    let named = entry.split_once('/').and_then(|(table, rest)| Some((places().find(|p| p.name() == table)?, rest)));
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
        for rows in places() {
            damage = damage.and(named_so(map, rows, entry, &mut found));
        }
    }
    let Some((&(rows, row), others)) = found.split_first() else {
        // What was asked for may be where nothing can be read.
        return damage.map(|()| false);
    };
    show(map, rows, row, others, out)?;
    Ok(true)
}

/// Adds the rows that are called `name`.
fn named_so(map: &Map, rows: Rows, name: &str, found: &mut Vec<(Rows, usize)>) -> Result<()> {
    let table = records(map, rows);
    // A scene is known by the name in its second record and by its file.
    let labels = ["name", "key", "file"].iter().filter_map(|l| table.columns().iter().position(|c| c.name == **l));
    let labels: Vec<usize> = labels.collect();
    let mut cursor = table.cursor(0);
    while cursor.advance()? {
        if labels.iter().any(|&l| matches!(cursor.value(l), Ok(Value::Utf16(text)) if text == name)) {
            found.push((rows, cursor.row()));
        }
    }
    Ok(())
}

fn show(map: &Map, rows: Rows, row: usize, others: &[(Rows, usize)], out: &mut dyn Visitor) -> Result<()> {
    let table = records(map, rows);
    out.begin_map()?;
    out.field("table", &rows.name().into())?;
    for (number, column) in table.columns().iter().enumerate() {
        out.field(&column.name, &table.value(row, number)?)?;
    }
    let references = references(map, &*table, row)?;
    if !references.is_empty() {
        out.field("references", &Value::List(references))?;
    }
    if !others.is_empty() {
        // More entries have this name.
        let others = others.iter().map(|(rows, row)| Value::owned(format!("{}/{row}", rows.name())));
        out.field("also", &Value::List(others.collect()))?;
    }
    out.end_map()
}

/// What an entry refers to by name or id: the field, what stands there, and the table and row that it leads to.
fn references(map: &Map, table: &dyn Table, row: usize) -> Result<Vec<Value<'static>>> {
    let (mut all, mut names) = (Vec::new(), Names { map, tables: HashMap::new() });
    for (number, column) in table.columns().iter().enumerate() {
        let value = table.value(row, number)?;
        if column.name == "links" && table.name() == BoxType::WaypointBox.shape().name {
            let Value::List(ids) = value else { continue };
            for id in ids {
                let Value::Int(number) = id else { continue };
                let target = i32::try_from(number).ok().map(|id| map.waypoint(id)).transpose()?.flatten();
                let target = target.map(|(number, _)| (BoxType::WaypointBox.shape().name, number));
                all.push(reference("links", Value::Int(number), target));
            }
            continue;
        }
        names.follow(&column.name, &value, &mut all)?;
    }
    Ok(all)
}

/// The records that a field names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    AniBgs,
    ItemBoxes,
    Gimmicks,
    EventBoxes,
    SceneResources,
}

impl Named {
    fn by(field: &str) -> Option<Self> {
        Some(match field {
            "ani_bg_name"
            | "render_ani_list"
            | "no_render_ani_list"
            | "render_ani_bg_user"
            | "no_render_ani_bg_user" => Self::AniBgs,
            "render_item_list" | "no_render_item_list" | "render_item_box_user" | "no_render_item_box_user" => {
                Self::ItemBoxes
            }
            "render_gimmick_list" | "no_render_gimmick_list" | "render_gimmick_user" | "no_render_gimmick_user" => {
                Self::Gimmicks
            }
            "pvs_event_entries" => Self::EventBoxes,
            "event_entries" => Self::SceneResources,
            _ => return None,
        })
    }
}

/// Tables by the names of their records. Each is walked once, however many names there are to follow.
struct Names<'m> {
    map: &'m Map,
    tables: HashMap<Named, HashMap<String, (&'static str, usize)>>,
}

impl Names<'_> {
    /// Follows the names in a field and in everything in it.
    fn follow(&mut self, field: &str, value: &Value<'_>, all: &mut Vec<Value<'static>>) -> Result<()> {
        match value {
            Value::List(values) => values.iter().try_for_each(|value| self.follow(field, value, all)),
            Value::Map(values) => values.iter().try_for_each(|(name, value)| {
                // The entries of a list are known by the name of the list.
                let inner = matches!(value, Value::List(_));
                self.follow(if inner { name } else { field }, value, all)
            }),
            Value::Utf16(text) if !text.is_empty() => {
                if let Some(named) = Named::by(field) {
                    let name = text.to_string();
                    let target = self.table(named)?.get(&name).copied();
                    all.push(reference(field, Value::owned(name), target));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The first record of each name.
    fn table(&mut self, named: Named) -> Result<&HashMap<String, (&'static str, usize)>> {
        let map = self.map;
        Ok(match self.tables.entry(named) {
            Entry::Occupied(table) => table.into_mut(),
            Entry::Vacant(free) => free.insert(match named {
                Named::AniBgs => by_name([map.ani_bgs()?])?,
                Named::ItemBoxes => by_name([map.item_boxes()?])?,
                Named::Gimmicks => by_name([map.gimmicks()?])?,
                Named::EventBoxes => {
                    by_name(BoxType::ALL.into_iter().map(|t| map.boxes(t)).collect::<Result<Vec<_>>>()?)?
                }
                Named::SceneResources => match map.scene_resources()? {
                    Some(resources) => by_key(resources)?,
                    None => HashMap::new(),
                },
            }),
        })
    }
}

fn by_name<'m>(all: impl IntoIterator<Item = Records<'m>>) -> Result<HashMap<String, (&'static str, usize)>> {
    let mut names = HashMap::new();
    for records in all {
        for (row, record) in records.iter().enumerate() {
            names.entry(record.name()?.to_string()).or_insert((records.shape().name, row));
        }
    }
    Ok(names)
}

/// Scene resources by their keys and aliases.
fn by_key(resources: Records<'_>) -> Result<HashMap<String, (&'static str, usize)>> {
    let mut names = HashMap::new();
    for (row, resource) in resources.iter().enumerate() {
        let mut add = |name: &Value<'_>| {
            if let Value::Utf16(name) = name {
                names.entry(name.to_string()).or_insert((resources.shape().name, row));
            }
        };
        add(&resource.get("key")?);
        if let Value::List(aliases) = resource.get("aliases")? {
            aliases.iter().for_each(add);
        }
    }
    Ok(names)
}

fn reference(field: &str, value: Value<'static>, target: Option<(&'static str, usize)>) -> Value<'static> {
    let (table, row) = target.unzip();
    Value::Map(vec![
        (Cow::Borrowed("field"), Value::owned(field.to_owned())),
        (Cow::Borrowed("value"), value),
        (Cow::Borrowed("table"), table.into()),
        (Cow::Borrowed("index"), row.into()),
    ])
}
