//! One entry whole, with the names and ids in it followed.

use super::tables::{RecordTable, Rows};
use super::{BoxType, Map};
use crate::bytes::Utf16;
use crate::error::Result;
use crate::table::{Table as _, Value, Visitor};
use std::borrow::Cow;

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
        let table = RecordTable::new(map, rows);
        match rest.parse::<usize>() {
            Ok(row) if table.record(row).is_some() => found.push((rows, row)),
            _ => damage = named_so(&table, rows, rest, &mut found),
        }
    }
    if found.is_empty() {
        map.find_all_boxes();
        for rows in places() {
            damage = damage.and(named_so(&RecordTable::new(map, rows), rows, entry, &mut found));
        }
    }
    let Some((&(rows, row), others)) = found.split_first() else {
        // What was asked for may be where nothing can be read.
        return damage.map(|()| false);
    };
    show(map, rows, row, others, out)?;
    Ok(true)
}

/// Adds the rows of `table` that are called `name`.
fn named_so(table: &RecordTable<'_>, rows: Rows, name: &str, found: &mut Vec<(Rows, usize)>) -> Result<()> {
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
    let table = RecordTable::new(map, rows);
    out.begin_map()?;
    out.field("table", &rows.name().into())?;
    for (number, column) in table.columns().iter().enumerate() {
        out.field(&column.name, &table.value(row, number)?)?;
    }
    let references = references(map, &table, row)?;
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
fn references<'m>(map: &'m Map, table: &RecordTable<'m>, row: usize) -> Result<Vec<Value<'m>>> {
    let mut all = Vec::new();
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
        names(map, &column.name, &value, &mut all)?;
    }
    Ok(all)
}

/// Follows the names in a field and in everything in it.
fn names(map: &Map, field: &str, value: &Value<'_>, all: &mut Vec<Value<'_>>) -> Result<()> {
    match value {
        Value::List(values) => values.iter().try_for_each(|value| names(map, field, value, all)),
        Value::Map(values) => values.iter().try_for_each(|(name, value)| {
            // The entries of a list are known by the name of the list.
            let inner = matches!(value, Value::List(_));
            names(map, if inner { name } else { field }, value, all)
        }),
        Value::Utf16(text) if !text.is_empty() => {
            let target = match field {
                "ani_bg_name"
                | "render_ani_list"
                | "no_render_ani_list"
                | "render_ani_bg_user"
                | "no_render_ani_bg_user" => find(map, [Rows::AniBgs], *text)?,
                "render_item_list" | "no_render_item_list" | "render_item_box_user" | "no_render_item_box_user" => {
                    find(map, [Rows::ItemBoxes], *text)?
                }
                "render_gimmick_list" | "no_render_gimmick_list" | "render_gimmick_user" | "no_render_gimmick_user" => {
                    find(map, [Rows::Gimmicks], *text)?
                }
                "pvs_event_entries" => find(map, BoxType::ALL.map(Rows::Boxes), *text)?,
                "event_entries" => resource(map, *text)?,
                _ => return Ok(()),
            };
            all.push(reference(field, Value::owned(text.to_string()), target));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The first placed record of that name.
fn find<const N: usize>(map: &Map, rows: [Rows; N], name: Utf16<'_>) -> Result<Option<(&'static str, usize)>> {
    for rows in rows {
        if rows == Rows::Boxes(BoxType::UnusedBox) {
            continue;
        }
        let table = RecordTable::new(map, rows);
        for row in 0..table.readable() {
            if let Some((_, _, record)) = table.record(row)
                && record.name()? == name
            {
                return Ok(Some((rows.name(), row)));
            }
        }
    }
    Ok(None)
}

/// The scene resource of that key or alias.
fn resource(map: &Map, key: Utf16<'_>) -> Result<Option<(&'static str, usize)>> {
    let Some(resources) = map.scene_resources()? else { return Ok(None) };
    for (row, resource) in resources.iter().enumerate() {
        let aliases = match resource.get("aliases")? {
            Value::List(aliases) => aliases,
            _ => Vec::new(),
        };
        let is_it = |value: &Value<'_>| matches!(value, Value::Utf16(text) if *text == key);
        if is_it(&resource.get("key")?) || aliases.iter().any(is_it) {
            return Ok(Some((resource.shape().name, row)));
        }
    }
    Ok(None)
}

fn reference<'a>(field: &str, value: Value<'a>, target: Option<(&'static str, usize)>) -> Value<'a> {
    let (table, row) = target.unzip();
    Value::Map(vec![
        (Cow::Borrowed("field"), Value::owned(field.to_owned())),
        (Cow::Borrowed("value"), value),
        (Cow::Borrowed("table"), table.into()),
        (Cow::Borrowed("index"), row.into()),
    ])
}
