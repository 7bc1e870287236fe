//! An edited tree of a resource, in the form of `cat`: every member of its record, at any depth.

use super::super::Database;
use super::super::cat::cat_resource;
use super::super::prototypes::{Layout, PROPERTY_KINDS, PrototypeType, TEXTURE};
use super::super::record::{Type, TypeKind};
use super::area::{EditedPosition, Members, Writer, member};
use super::properties::property;
use super::value::reference;
use crate::compare::same_value;
use crate::error::Result;
use crate::id::Id64;
use crate::table::{Tree, Value};
use crate::writable::patches::Patches;
use crate::writable::{EntryEdit, like, no_entry, refused, short, short_text};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The member of an entry that contains the members of the record.
const RECORD: &str = "value";

/// The members of a material that are not fields, and the members of each property.
const PROPERTIES: &str = "properties";

/// The file after a change of a resource's record to `new`, and the tree that `cat` then shows.
pub(super) fn edited(db: &Database, entry: &str, new: &Value<'static>) -> Result<EntryEdit> {
    let mut tree = Tree::default();
    if !cat_resource(db, entry, &mut tree)? {
        return Err(no_entry(entry));
    }
    let EntryTrees { facts, before, after } = EntryTrees::of(entry, tree.into_value(), new, |members| {
        let facts = members.iter().filter(|(name, _)| name != RECORD).cloned().collect();
        (facts, as_members(member(members, RECORD)).to_vec())
    })?;
    if before.is_empty() && after.is_empty() {
        return Ok(EntryEdit::Edits(Vec::new()));
    }
    if before.is_empty() {
        return wrong(entry, "it has no record that is laid out");
    }
    let Value::Id64(id) = member(&facts, "id") else { return Err(no_entry(entry)) };
    let resource = db.lookup(*id)?.ok_or_else(|| no_entry(entry))?;
    let (blob, record) = (resource.database()?, resource.record_index());
    if let Some(other) = db.owners(blob.index(), record).find(|other| other != id) {
        let what = "has the same record and would change, too: edit rows of both in a table, alike";
        return wrong(entry, format_args!("{} {what}", Id64(other)));
    }
    let place = EditedPosition::old(blob.record_span(record)?.0);
    let layout = blob.layout().ok_or_else(|| no_entry(entry))?;
    let mut patches = Patches::default();
    let mut area = db.area(blob);
    let mut out = Writer { patches: &mut patches, area: &mut area, what: entry.to_owned() };
    let this = layout.of();
    let (before, after) = (&before[..], &after[..]);
    let mut shown = wanted_members(this, before, after);
    if layout == Layout::Current(PrototypeType::Material) {
        let (Value::List(had), Value::List(has)) = (member(before, PROPERTIES), member(after, PROPERTIES)) else {
            return wrong(entry, format_args!("{PROPERTIES}: a list fits"));
        };
        if had.len() != has.len() {
            return wrong(entry, format_args!("{PROPERTIES}: {} are there, and none comes or goes", had.len()));
        }
        for (index, (old, new)) in had.iter().zip(has).enumerate() {
            set_property(&mut out, place, index, as_members(old), as_members(new))?;
        }
        let properties = had.iter().zip(has).map(|(old, new)| wanted_property(as_members(old), as_members(new)));
        shown.push((PROPERTIES.into(), Value::List(properties.collect())));
        let [before, after] = [before, after]
            .map(|members| members.iter().filter(|(name, _)| name != PROPERTIES).cloned().collect::<Vec<_>>());
        out.set_members(place, this, Some(&before), &after)?;
    } else {
        out.set_members(place, this, Some(before), after)?;
    }
    let pieces = db.pieces(patches, BTreeMap::from([(blob.index(), area)]))?;
    Ok(EntryEdit::Shown(pieces, Value::Map(vec![(RECORD.into(), Value::Map(shown))])))
}

/// The fixed facts of an entry, and the members of its record before and after an edit.
pub(super) struct EntryTrees {
    pub facts: Vec<(Cow<'static, str>, Value<'static>)>,
    pub before: Vec<(Cow<'static, str>, Value<'static>)>,
    pub after: Vec<(Cow<'static, str>, Value<'static>)>,
}

impl EntryTrees {
    /// The trees of an entry that `cat` shows as `old`. `split` returns its facts and the members of its record.
    pub fn of(
        entry: &str,
        old: Value<'static>,
        new: &Value<'static>,
        split: impl Fn(
            &Members<'static>,
        ) -> (Vec<(Cow<'static, str>, Value<'static>)>, Vec<(Cow<'static, str>, Value<'static>)>),
    ) -> Result<Self> {
        let Some(new) = like(&old, new.clone()) else {
            return wrong(entry, "its form is another than that of the entry, as `cat ENTRY -f json` shows it");
        };
        let (Value::Map(old), Value::Map(new)) = (&old, &new) else {
            return wrong(entry, "an object as `cat ENTRY -f json` shows it fits");
        };
        let ((facts, before), (stated, after)) = (split(old), split(new));
        for (name, new) in stated.iter().filter(|(name, _)| !matches!(&**name, "offset" | "size")) {
            if !same_value(member(&facts, name), new) {
                return wrong(entry, format_args!("{name}: {} does not fit: it says which record this is", short(new)));
            }
        }
        Ok(Self { facts, before, after })
    }
}

fn wrong<T>(entry: &str, what: impl Display) -> Result<T> {
    Err(refused(format!("{}: {what}", short_text(entry))))
}

fn as_members<'v>(value: &'v Value<'static>) -> &'v Members<'static> {
    match value {
        Value::Map(members) => members,
        _ => &[],
    }
}

/// Writes a property of the material at `place`.
fn set_property<'a>(
    out: &mut Writer<'_, 'a>,
    place: EditedPosition<'a>,
    index: usize,
    before: &Members<'static>,
    after: &Members<'static>,
) -> Result<()> {
    for (name, new) in after {
        let old = member(before, name);
        if same_value(old, new) {
            continue;
        }
        let column = match &**name {
            "name" => "name_id",
            "value" => "value",
            other => {
                let what = "does not fit: the kind of a property stays";
                return Err(out.refuse(format_args!("{PROPERTIES}[{index}]: {other}: {} {what}", short(new))));
            }
        };
        let what = format!("{}: {PROPERTIES}[{index}]: {name}", out.what);
        let mut out = Writer { patches: out.patches, area: out.area, what };
        property(&mut out, place, index, column, old, new)?;
    }
    Ok(())
}

/// Removes the numbers of elements that `new` has from `old`, or that are of a new struct. A number that the edit has changed
/// stays: it is refused unless it is right.
pub(super) fn without_counts(of: &'static Type, old: &Value<'_>, new: &mut Value<'static>) {
    match new {
        Value::List(items) => {
            let had: &[Value<'_>] = if let Value::List(had) = old { had } else { &[] };
            let olds = had.iter().chain(std::iter::repeat(&Value::Null));
            items.iter_mut().zip(olds).for_each(|(new, old)| without_counts(of, old, new));
        }
        Value::Map(members) if !of.fields().is_empty() => {
            let before: &Members<'_> = if let Value::Map(before) = old { before } else { &[] };
            members.retain(|(name, value)| {
                let is_count = of.field_named(name).is_some_and(|field| of.is_count(field));
                !is_count || !before.is_empty() && !same_value(member(before, name), value)
            });
            for (name, value) in members {
                if let Some(field) = of.field_named(name) {
                    without_counts(of.field(field).of, member(before, name), value);
                }
            }
        }
        _ => {}
    }
}

/// The members in the written form of `cat`: ids for references, and no counts, which are derived.
pub(super) fn wanted_members(
    this: &'static Type,
    before: &Members<'static>,
    after: &Members<'static>,
) -> Vec<(Cow<'static, str>, Value<'static>)> {
    let stored = after.iter().filter_map(|(name, value)| {
        let field = this.field_named(name).filter(|field| !this.is_count(*field))?;
        Some((name.clone(), wanted(this.field(field).of, member(before, name), value)))
    });
    stored.collect()
}

/// The value in the written form of `cat`: ids for references.
pub(super) fn wanted(of: &'static Type, old: &Value<'static>, new: &Value<'static>) -> Value<'static> {
    match new {
        Value::List(items) if of.kind().floats().is_none() || matches!(items.first(), Some(Value::List(_))) => {
            let had: &[Value<'static>] = if let Value::List(had) = old { had } else { &[] };
            let olds = had.iter().chain(std::iter::repeat(&Value::Null));
            Value::List(items.iter().zip(olds).map(|(new, old)| wanted(of, old, new)).collect())
        }
        Value::Map(members) if !of.fields().is_empty() => Value::Map(wanted_members(of, as_members(old), members)),
        _ => match of.kind() {
            kind @ (TypeKind::Name | TypeKind::Path) => wanted_id(kind, old, new),
            _ => new.clone(),
        },
    }
}

fn wanted_id(of: TypeKind, old: &Value<'static>, new: &Value<'static>) -> Value<'static> {
    let id = reference(of, old, new);
    let id = match of {
        TypeKind::Name => id.and_then(|id| u32::try_from(id).ok()).map(Value::Id32),
        _ => id.map(Value::Id64),
    };
    // A value that is no reference is refused when it is written.
    id.map_or_else(|| new.clone(), |id| Value::Map(vec![("id".into(), id)]))
}

fn wanted_property(before: &Members<'static>, after: &Members<'static>) -> Value<'static> {
    let is_texture = member(before, "kind").as_text().as_deref() == PROPERTY_KINDS.get(TEXTURE).copied();
    let wanted = after.iter().map(|(name, new)| {
        let old = member(before, name);
        let new = match &**name {
            "name" => wanted_id(TypeKind::Name, old, new),
            "value" if is_texture => wanted_id(TypeKind::Path, old, new),
            _ => new.clone(),
        };
        (name.clone(), new)
    });
    Value::Map(wanted.collect())
}
