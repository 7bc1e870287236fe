//! Properties of materials: changed values, and inserted and deleted rows.

use super::super::prototypes::{self as p, PROPERTY_KINDS, PROPERTY_VALUES, TEXTURE};
use super::super::record::{Elements, Type, Typed as _};
use super::area::{EditedPosition, Writer};
use super::job::{Job, Listed, Wrong, column_name};
use crate::error::Result;
use crate::table::{Table, Value, column_index};
use crate::writable::{ColumnValues, EditPosition, Item, cell_named, refused, short};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Writes a property of the material at `place`; returns whether it is a texture.
pub(super) fn property<'a>(
    out: &mut Writer<'_, 'a>,
    place: EditedPosition<'a>,
    index: usize,
    column: &str,
    old: &Value<'_>,
    new: &Value<'_>,
) -> Result<bool> {
    let of = p::Material::OF;
    if column == "name_id" {
        let names = p::Material::number_of("property_names");
        return out.set_element(place, of, names, index, Some(old), new).map(|()| false);
    }
    let material = p::Material::read(place.view)?;
    // A property with an unreadable value cannot be written.
    material.property(index)?;
    let refs = material.property_refs()?;
    let reference = refs.get(index).transpose()?.ok_or_else(|| out.refuse("there is no such property"))?;
    let (kind, at) = p::split_reference(reference);
    let array = PROPERTY_VALUES.get(kind).copied().ok_or_else(|| out.refuse("its kind is not known"))?;
    if column == "texture_id" && new.is_null() {
        return Err(out.refuse("null does not fit: the path of a texture, or its id, does"));
    }
    if column == "texture_id" && kind != TEXTURE {
        return Err(out.refuse("this property is no texture: its value is in the column value"));
    }
    let mut same = 0usize;
    for other in refs.iter() {
        same = same.saturating_add(usize::from(other? == reference));
    }
    if same > 1 {
        // Another property of the material has the same value; it is not the one that was named.
        let at = out.push_element(place, of, array, new)?;
        let reference = p::reference_to(kind, at);
        let reference = reference.ok_or_else(|| out.refuse("it has no room for another value of this kind"))?;
        let refs = p::Material::number_of("property_refs");
        out.set_element(place, of, refs, index, None, &reference.into())?;
    } else {
        out.set_element(place, of, array, at, Some(old), new)?;
    }
    Ok(kind == TEXTURE)
}

/// The cells of a property in rows.
#[derive(Default)]
pub(super) struct PropertyCells<'e> {
    name: Option<u32>,
    kind: Option<usize>,
    value: Option<&'e Value<'static>>,
    texture: Option<&'e Value<'static>>,
}

impl<'e> PropertyCells<'e> {
    pub(super) fn of(table: &dyn Table, cells: &'e [(usize, Value<'static>)]) -> Result<Self> {
        let mut said = Self::default();
        for (at, value) in cells {
            match (column_name(table, *at), value) {
                ("name_id", Value::Id32(name)) => said.name = Some(*name),
                ("type", value) => {
                    let kind = PROPERTY_KINDS.iter().position(|kind| value.as_text().as_deref() == Some(*kind));
                    said.kind = Some(kind.ok_or_else(|| {
                        let (name, value, kinds) = (table.name(), short(value), PROPERTY_KINDS.join(", "));
                        refused(format!("{name}: column type: {value} does not fit: {kinds} do"))
                    })?);
                }
                ("value", value) => said.value = Some(value).filter(|value| !value.is_null()),
                ("texture_id", value) => said.texture = Some(value).filter(|value| !value.is_null()),
                _ => {}
            }
        }
        match (said.texture, said.value) {
            (Some(id), Some(value)) if !is_path_of(value, id) => {
                let (name, value, id) = (table.name(), short(value), short(id));
                Err(refused(format!("{name}: column value: {value} does not fit: texture_id is {id}")))
            }
            _ => Ok(said),
        }
    }

    /// Checks that the cells are of a property of this kind.
    fn check(&self, kind: usize) -> Result<()> {
        if let Some(id) = self.texture.filter(|_| kind != TEXTURE) {
            let kind = PROPERTY_KINDS.get(kind).copied().unwrap_or("unknown");
            return Err(refused(format!("column texture_id: {} does not fit: the type is {kind}", short(id))));
        }
        Ok(())
    }

    fn value(&self, kind: usize) -> Option<&'e Value<'static>> {
        if kind == TEXTURE { self.texture.or(self.value) } else { self.value }
    }
}

/// Whether a value is the path of a texture, or its id.
fn is_path_of(value: &Value<'_>, id: &Value<'_>) -> bool {
    match value {
        Value::Text(path) => *id == Value::Id64(crate::id::of_path(path)),
        value => value == id,
    }
}

impl PropertyCells<'_> {
    /// The name, the kind and the value of the property `name` of a kind, whose value has the number `at`, with these cells.
    fn edited(&self, out: &Writer<'_, '_>, name: u32, kind: usize, at: usize) -> Result<(u32, usize, Stored)> {
        let (name, new_kind) = (self.name.unwrap_or(name), self.kind.unwrap_or(kind));
        self.check(new_kind)?;
        match self.value(new_kind) {
            None if new_kind == kind => Ok((name, kind, Stored::Kept(at))),
            None => Err(out.refuse("a property of another type needs a value of that type, too")),
            Some(value) => Ok((name, new_kind, Stored::New(stored(out, p::Material::OF, new_kind, value)?))),
        }
    }
}

/// A value of a property as it will be.
enum Stored {
    /// That with this number among the old ones of its kind.
    Kept(usize),
    New(Vec<u8>),
}

impl<'a> Job<'_, 'a> {
    /// Writes the properties of the material at `place`: their names, their references, and the arrays with their values. Values that
    /// no property has any more are deleted.
    pub fn properties(&mut self, place: EditedPosition<'a>, Listed { list, items }: Listed<'_>) -> Result<(), Wrong> {
        let (name, of) = (self.table.name(), p::Material::OF);
        let material = p::Material::read(place.view)?;
        let (old_names, old_refs) = (material.property_names()?, material.property_refs()?);
        let mut new: Vec<(u32, usize, Stored)> = Vec::with_capacity(items.len());
        for (number, item) in items.iter().enumerate() {
            let entry = match item {
                Item::New(at) => {
                    self.out.what = format!("{name}: the row that comes at index {number}");
                    let cells = self.edits.add.get(*at).map_or(&[][..], |set| set);
                    fresh(&self.out, of, self.table, cells)
                        .map_err(|error| Wrong::new(EditPosition::Add(*at), error))?
                }
                Item::Kept(index) => {
                    // A material with an unreadable value is not rearranged.
                    material.property(*index)?;
                    let (old, reference) = old_names.get(*index).zip(old_refs.get(*index)).expect("it was read");
                    let (old, (kind, at)) = (old?.0, p::split_reference(reference?));
                    let Some((row, cells)) = self.edited(list, *index) else {
                        new.push((old, kind, Stored::Kept(at)));
                        continue;
                    };
                    self.out.what = format!("{name}: row {row}");
                    let edited = PropertyCells::of(self.table, cells).and_then(|said| {
                        if said.kind.unwrap_or(kind) == TEXTURE || kind == TEXTURE {
                            self.follow_named(&["value", "texture_id"]);
                        }
                        said.edited(&self.out, old, kind, at)
                    });
                    edited.map_err(|error| Wrong::new(EditPosition::Set(*row), error))?
                }
            };
            new.push(entry);
        }
        self.out.what = name.to_owned();
        Ok(arrange(&mut self.out, place, of, &material, new)?)
    }
}

fn stored(out: &Writer<'_, '_>, of: &'static Type, kind: usize, value: &Value<'_>) -> Result<Vec<u8>> {
    let array = PROPERTY_VALUES.get(kind).ok_or_else(|| out.refuse("its kind is not known"))?;
    out.leaf(of.field(*array).of, &Value::Null, value)
}

/// A property that is inserted as a row with these cells.
fn fresh(
    out: &Writer<'_, '_>,
    of: &'static Type,
    table: &dyn Table,
    cells: &[(usize, Value<'static>)],
) -> Result<(u32, usize, Stored)> {
    let said = PropertyCells::of(table, cells)?;
    said.kind.map_or(Ok(()), |kind| said.check(kind))?;
    let value = said.kind.and_then(|kind| said.value(kind));
    match (said.name, said.kind, value) {
        (Some(name), Some(kind), Some(value)) => Ok((name, kind, Stored::New(stored(out, of, kind, value)?))),
        (name, kind, value) => {
            let value_of = if kind == Some(TEXTURE) { "texture_id" } else { "value" };
            let columns = [("name_id", name.is_none()), ("type", kind.is_none()), (value_of, value.is_none())];
            let missing: Vec<&str> = columns.iter().filter(|(_, is)| *is).map(|(column, _)| *column).collect();
            Err(out.refuse(format_args!("these columns are missing: {}", missing.join(", "))))
        }
    }
}

/// Writes the arrays of a material that has these properties.
fn arrange<'a>(
    out: &mut Writer<'_, 'a>,
    place: EditedPosition<'a>,
    of: &'static Type,
    material: &p::Material<'a>,
    new: Vec<(u32, usize, Stored)>,
) -> Result<()> {
    let mut had: BTreeSet<(usize, usize)> = BTreeSet::new();
    for reference in material.property_refs()?.iter() {
        had.insert(p::split_reference(reference?));
    }
    let mut old: Vec<Vec<&[u8]>> = Vec::new();
    for array in PROPERTY_VALUES {
        let elements: Elements<'_> = of.array(place.view, array)?;
        old.push(elements.view.take(elements.bytes())?.chunks_exact(elements.of.size).collect());
    }
    // The values of each kind in the order of their properties, and the new numbers of kept values.
    let mut values: Vec<Vec<Cow<'_, [u8]>>> = vec![Vec::new(); PROPERTY_VALUES.len()];
    let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let (mut names, mut refs) = (Vec::new(), Vec::new());
    for (name, kind, stored) in new {
        let all = values.get_mut(kind).expect("its type is one of the kinds");
        let (bytes, number) = match stored {
            Stored::New(bytes) => (Some(Cow::Owned(bytes)), all.len()),
            Stored::Kept(at) => match numbers.get(&(kind, at)) {
                Some(number) => (None, *number),
                None => {
                    let bytes = old.get(kind).and_then(|old| old.get(at)).expect("the property was read");
                    numbers.insert((kind, at), all.len());
                    (Some(Cow::Borrowed(*bytes)), all.len())
                }
            },
        };
        all.extend(bytes);
        let reference = p::reference_to(kind, number);
        let reference = reference.ok_or_else(|| out.refuse("it has no room for another value of this kind"))?;
        names.extend_from_slice(&name.to_le_bytes());
        refs.extend_from_slice(&reference.to_le_bytes());
    }
    // Values without a property are kept.
    for (kind, (old, all)) in old.iter().zip(&mut values).enumerate() {
        let lone = old.iter().enumerate().filter(|(at, _)| !had.contains(&(kind, *at)));
        all.extend(lone.map(|(_, bytes)| Cow::Borrowed(*bytes)));
    }
    for (array, values) in PROPERTY_VALUES.into_iter().zip(&values) {
        out.set_flat(place, of, array, &values.concat())?;
    }
    out.set_flat(place, of, p::Material::number_of("property_names"), &names)?;
    out.set_flat(place, of, p::Material::number_of("property_refs"), &refs)
}

/// Normalizes the cells of an inserted property to the values that the file will show: for a texture the id, because its path may be
/// unknown.
pub(super) fn settle(table: &dyn Table, set: &mut ColumnValues) -> Result<()> {
    let [value, texture] = ["value", "texture_id"].map(|name| column_index(table, name));
    if let (Some(Value::Text(path)), Some(id), Some(texture)) =
        (cell_named(table, set, "value"), cell_named(table, set, "texture_id"), texture)
    {
        // The path of another row's texture was copied beside a new id.
        let old = Value::Id64(crate::id::of_path(path));
        let is_copied = old != *id && has_cell(table, texture, &old)?;
        set.retain(|(column, _)| !is_copied || Some(*column) != value);
    }
    let said = PropertyCells::of(table, set)?;
    if said.kind != Some(TEXTURE) {
        return Ok(());
    }
    let id = match said.value(TEXTURE) {
        Some(Value::Text(path)) if path.is_empty() => {
            return Err(refused("column value: \"\" does not fit: the path of a texture does".to_owned()));
        }
        Some(Value::Text(path)) => Value::Id64(crate::id::of_path(path)),
        Some(id) => id.clone(),
        None => return Ok(()),
    };
    set.retain(|(column, _)| ![value, texture].contains(&Some(*column)));
    set.extend(texture.map(|at| (at, id)));
    Ok(())
}

/// Whether a row of the table has this cell.
fn has_cell(table: &dyn Table, column: usize, wanted: &Value<'_>) -> Result<bool> {
    let mut rows = table.cursor_over(0, Some(&[column]));
    while rows.advance()? {
        if rows.value(column).is_ok_and(|cell| cell == *wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id;
    use crate::table::{Column, DeclaredTable, Kind};

    /// A row that was copied from another row has the path of the other texture beside its own id: the id counts.
    #[test]
    fn a_copied_path_is_replaced_by_the_id_and_another_path_is_refused() {
        let rows = [id::of_path("a.dds")];
        let table = DeclaredTable::over("material_properties", &rows)
            .column(Column::new("type", Kind::Text), |_| Ok(Value::Text(PROPERTY_KINDS[TEXTURE].into())))
            .column(Column::new("value", Kind::Any), |_| Ok(Value::text("a.dds")))
            .column(Column::new("texture_id", Kind::Id64), |(_, row)| Ok(Value::Id64(**row)));
        let settled = |value: Value<'static>, texture: Value<'static>| {
            let mut set = vec![(0, Value::Text(PROPERTY_KINDS[TEXTURE].into())), (1, value), (2, texture)];
            set.retain(|(_, cell)| !cell.is_null());
            settle(&table, &mut set).map_err(|error| error.to_string())?;
            Ok(set.into_iter().skip(1).collect::<Vec<_>>())
        };
        let (new, null) = (Value::Id64(7), Value::Null);
        let own = Value::Id64(id::of_path("b.dds"));
        assert_eq!(settled(Value::text("a.dds"), new.clone()), Ok(vec![(2, new.clone())]));
        assert_eq!(settled(new.clone(), new.clone()), Ok(vec![(2, new.clone())]));
        assert_eq!(settled(Value::text("b.dds"), null.clone()), Ok(vec![(2, own.clone())]));
        assert_eq!(settled(Value::text("b.dds"), own.clone()), Ok(vec![(2, own)]));
        assert_eq!(settled(null.clone(), null.clone()), Ok(vec![]));
        let refused = |value, texture| -> String { settled(value, texture).unwrap_err() };
        let what = "material_properties: column value: \"b.dds\" does not fit: texture_id is";
        assert!(refused(Value::text("b.dds"), new).contains(what));
        assert!(refused(Value::text(""), null).contains("column value: \"\" does not fit: the path of a texture does"));
    }
}
