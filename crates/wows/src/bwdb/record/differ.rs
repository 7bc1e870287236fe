//! Compares the contents of two records, at any position of the records and their arrays, also in two files.
//!
//! Declared fields are compared by their bytes, pointers by their targets; padding between fields is ignored. Names and
//! paths are compared by their ids.

pub use super::field::{Differ, Out};
use super::field::{plainly, said};
use super::{Field as _, Leaf, ListInfo, NameId, NameLookup, Prototype as _, Walker};
pub use crate::budget::{Budget, BudgetShare};
use crate::bwdb::prototypes::{Layout, Material, Record};
use crate::bwdb::walk::record_fields;
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::table::Value;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hasher as _};

/// Whether two records of one layout have equal contents.
///
/// # Errors
/// When one of them is damaged, or their arrays overlap without measure.
pub fn same_record<'a>(layout: Layout, old: View<'a>, new: View<'a>, share: &mut BudgetShare<'_>) -> Result<bool> {
    if layout.same(old, new, share)? {
        return Ok(true);
    }
    match (Record::read(layout, old)?, Record::read(layout, new)?) {
        // Its arrays may have equal contents in another order.
        (Record::Material(old), Record::Material(new)) => same_material(&old, &new),
        _ => Ok(false),
    }
}

/// The properties of a material in the order of their names; `None` when a name repeats.
fn properties<'a>(material: &Material<'a>) -> Result<Option<Vec<(NameId, Leaf<'a>)>>> {
    let named = material.properties()?.map(|property| property.map(|p| (p.name, p.value)));
    let mut named: Vec<_> = named.collect::<Result<_>>()?;
    named.sort_by_key(|(name, _)| name.0);
    Ok(named.is_sorted_by(|a, b| a.0.0 < b.0.0).then_some(named))
}

fn same_leaf(old: &Leaf<'_>, new: &Leaf<'_>) -> bool {
    match (old, new) {
        (Leaf::Name(a), Leaf::Name(b)) => a == b,
        (Leaf::Path(a), Leaf::Path(b)) => a == b,
        // As text, which shows all digits, so that NaN equals itself.
        (Leaf::Value(a), Leaf::Value(b)) => a == b || a.to_string() == b.to_string(),
        _ => false,
    }
}

fn same_material(old: &Material<'_>, new: &Material<'_>) -> Result<bool> {
    let own = |m: &Material<'_>| Ok::<_, Error>((m.fx()?, m.collision_flags()?, m.sort_order()?));
    let (Some(a), Some(b)) = (properties(old)?, properties(new)?) else { return Ok(false) };
    let alike = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same_leaf(&a.1, &b.1));
    Ok(alike && own(old)? == own(new)?)
}

/// A hash that equal records share, except for floats with several forms of one value. `None` for a damaged record, and for a record
/// with excessively overlapping arrays.
pub fn digest(record: &Record<'_>, share: &mut BudgetShare<'_>) -> Option<u64> {
    let mut digest = Digest { hasher: DefaultHasher::new(), share, sound: true };
    let named = match record {
        Record::Material(material) => properties(material).ok()?.map(|properties| (material, properties)),
        _ => None,
    };
    match named {
        // Its arrays may be in any order.
        Some((material, properties)) => {
            for (name, leaf) in properties {
                digest.leaf("name", Leaf::Name(name));
                digest.leaf("value", leaf);
            }
            digest.leaf("fx", Leaf::Path(material.fx().ok()?));
            digest.leaf("collision_flags", Leaf::Value(material.collision_flags().ok()?.into()));
            digest.leaf("sort_order", Leaf::Value(material.sort_order().ok()?.into()));
        }
        None => record.walk_fields(&mut digest),
    }
    digest.sound.then(|| digest.hasher.finish())
}

struct Digest<'d, 'b> {
    hasher: DefaultHasher,
    share: &'d mut BudgetShare<'b>,
    sound: bool,
}

impl fmt::Write for Digest<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.hasher.write(text.as_bytes());
        Ok(())
    }
}

impl<'a> Walker<'a> for Digest<'_, '_> {
    fn leaf(&mut self, _: &'static str, leaf: Leaf<'a>) {
        match leaf {
            Leaf::Name(id) => self.hasher.write_u32(id.0),
            Leaf::Path(id) => self.hasher.write_u64(id.0),
            // To a hasher writing does not fail.
            Leaf::Value(value) => drop(write!(self, "{value};")),
        }
    }

    fn begin(&mut self, _: &'static str) {}

    fn end(&mut self) {}

    fn begin_list(&mut self, _: &'static str, list: &ListInfo<'a>) -> bool {
        self.hasher.write_usize(list.len);
        let afforded = self.share.spend(list.view, list.bytes()).is_ok();
        self.sound &= afforded;
        afforded
    }

    fn end_list(&mut self) {}

    fn damage(&mut self, _: &'static str, _: Error) {
        self.sound = false;
    }
}

/// Tells `out` the fields in which two records differ, with the names and paths that each file knows. Gives the errors
/// of parts that could not be read.
pub fn differ_record<'a, 'o>(
    layout: Layout,
    old: View<'a>,
    new: View<'a>,
    names: [&'a dyn NameLookup; 2],
    out: Out<'a, 'o>,
    budget: &'o Budget,
) -> Vec<Error> {
    let mut differ = Differ { names, out, path: String::new(), errors: Vec::new(), budget };
    match (Record::read(layout, old), Record::read(layout, new)) {
        (Ok(Record::Material(a)), Ok(Record::Material(b))) => differ.materials(&a, &b),
        (Ok(_), Ok(_)) => {
            let outcome = layout.differ(old, new, &mut differ);
            differ.errors.extend(outcome.err());
        }
        (a, b) => differ.errors.extend(a.err().into_iter().chain(b.err())),
    }
    differ.errors
}

/// The fields of a record, with names and paths in place of references: for records with different layouts.
pub fn plain_fields<'a>(
    record: &Record<'a>,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
    let (fields, errors) = record_fields(record, names, budget);
    (fields.into_iter().map(|(name, value)| (name, plainly(value))).collect(), errors)
}

impl<'a> Differ<'a, '_> {
    /// Two materials: their properties by name, and their other fields.
    fn materials(&mut self, old: &Material<'a>, new: &Material<'a>) {
        match (properties(old), properties(new)) {
            (Ok(Some(a)), Ok(Some(b))) => self.properties(a, b),
            (Ok(_), Ok(_)) => {
                // Names that repeat: by array, as stored.
                if let Err(error) = Material::differ(old.view(), new.view(), self) {
                    self.errors.push(error);
                }
                return;
            }
            (a, b) => self.errors.extend(a.err().into_iter().chain(b.err())),
        }
        self.within("fx", |differ| {
            let (a, b) = (old.fx()?, new.fx()?);
            if a != b {
                differ.leaf(Leaf::Path(a), Leaf::Path(b));
            }
            Ok(())
        });
        self.within("collision_flags", |differ| {
            let (a, b) = (old.collision_flags()?, new.collision_flags()?);
            if a != b {
                differ.leaf(Leaf::Value(a.into()), Leaf::Value(b.into()));
            }
            Ok(())
        });
        self.within("sort_order", |differ| {
            let (a, b) = (old.sort_order()?, new.sort_order()?);
            if a != b {
                differ.leaf(Leaf::Value(a.into()), Leaf::Value(b.into()));
            }
            Ok(())
        });
    }

    fn properties(&mut self, old: Vec<(NameId, Leaf<'a>)>, new: Vec<(NameId, Leaf<'a>)>) {
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let key = match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some(a), Some(b)) => a.0.0.min(b.0.0),
                (Some(one), None) | (None, Some(one)) => one.0.0,
            };
            let (a, b) = (old.next_if(|a| a.0.0 == key), new.next_if(|b| b.0.0 == key));
            if let (Some(a), Some(b)) = (&a, &b)
                && same_leaf(&a.1, &b.1)
            {
                continue;
            }
            let id = NameId(key);
            let [of_old, of_new] = self.names;
            let stored = of_old.name(id).ok().flatten().or_else(|| of_new.name(id).ok().flatten());
            let name = match (stored, crate::bwdb::prototypes::known_property_name(id)) {
                (Some(name), _) => name.into_owned(),
                (None, Some(known)) => known.to_owned(),
                (None, None) => Value::Id32(key).to_string(),
            };
            self.within(&format!("properties.{name}"), |differ| {
                match (a, b) {
                    (Some(a), Some(b)) => differ.leaf(a.1, b.1),
                    (a, b) => {
                        let [a, b] = [(a, of_old), (b, of_new)].map(|(property, names)| {
                            property.map_or(Value::Null, |(_, leaf)| said(leaf, names, &mut differ.errors))
                        });
                        (differ.out)(&differ.path, a, b);
                    }
                }
                Ok(())
            });
        }
    }
}
