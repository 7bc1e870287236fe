//! Compares the contents of two records, at any position of the records and their arrays, also in two files.
//!
//! Declared fields are compared by their bytes, pointers by their targets; padding between fields is ignored. Names and
//! paths are compared by their ids.

use super::types::{Elements, Type};
use super::{Leaf, NameId, NameLookup, PathId, Typed as _, ValueBuilder, Walker};
pub use crate::budget::{Budget, BudgetShare};
use crate::bwdb::prototypes::{Layout, Material, Prototype, known_property_name};
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
    if layout.of().same(old, new, share)? {
        return Ok(true);
    }
    match (Prototype::read(layout, old)?, Prototype::read(layout, new)?) {
        // Its arrays may have equal contents in another order.
        (Prototype::Material(old), Prototype::Material(new)) => same_material(&old, &new, share),
        _ => Ok(false),
    }
}

/// The properties of a material in the order of their names; `None` when a name repeats.
fn properties<'a>(material: &Material<'a>) -> Result<Option<Vec<(NameId, Leaf<'a>)>>> {
    let named = material.properties()?.map(|property| property.map(|p| (p.name, p.value())));
    let mut named: Vec<_> = named.collect::<Result<_>>()?;
    named.sort_by_key(|(name, _)| name.0);
    Ok(named.is_sorted_by(|a, b| a.0.0 < b.0.0).then_some(named))
}

fn same_leaf(old: &Leaf<'_>, new: &Leaf<'_>) -> bool {
    match (old, new) {
        (Leaf::Name(a), Leaf::Name(b)) => a == b,
        (Leaf::Path(a), Leaf::Path(b)) => a == b,
        (Leaf::Text(a), Leaf::Text(b)) => a == b,
        // As text, which shows all digits, so that NaN equals itself.
        (Leaf::Value(a), Leaf::Value(b)) => a == b || a.to_string() == b.to_string(),
        _ => false,
    }
}

fn same_material(old: &Material<'_>, new: &Material<'_>, share: &mut BudgetShare<'_>) -> Result<bool> {
    let (Some(a), Some(b)) = (properties(old)?, properties(new)?) else { return Ok(false) };
    let mut alike = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && same_leaf(&a.1, &b.1));
    for field in Material::OF.own_fields().map(|number| Material::OF.field(number)) {
        alike &= field.of.same(old.view().skip(field.at), new.view().skip(field.at), share)?;
    }
    Ok(alike)
}

/// A hash that equal records share, except for floats with several forms of one value. `None` for a damaged record, and for a record
/// with excessively overlapping arrays.
pub fn digest(record: &Prototype<'_>, share: &mut BudgetShare<'_>) -> Option<u64> {
    let mut digest = Digest { hasher: DefaultHasher::new(), share, sound: true };
    let named = match record {
        Prototype::Material(material) => properties(material).ok()?.map(|properties| (material, properties)),
        _ => None,
    };
    match named {
        // Its arrays may be in any order.
        Some((material, properties)) => {
            for (name, leaf) in properties {
                digest.leaf("name", Leaf::Name(name));
                digest.leaf("value", leaf);
            }
            let own = Material::OF.own_fields();
            own.for_each(|number| Material::OF.walk_field(material.view(), number, &mut digest));
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
            Leaf::Text(text) => drop(write!(self, "{text};")),
        }
    }

    fn begin_list(&mut self, _: &'static str, list: &Elements<'a>) -> bool {
        self.hasher.write_usize(list.len);
        let afforded = self.share.spend(list.view, list.bytes()).is_ok();
        self.sound &= afforded;
        afforded
    }

    fn damage(&mut self, _: &'static str, _: Error) {
        self.sound = false;
    }
}

/// Called with the name of each field that differs, and its values in both records; null in a record without the field.
pub type Out<'a, 'o> = &'o mut dyn FnMut(&str, Value<'a>, Value<'a>);

/// A walk over two records that shows their differences.
pub struct Differ<'a, 'o> {
    names: [&'a dyn NameLookup; 2],
    out: Out<'a, 'o>,
    path: String,
    /// Errors of parts that could not be read.
    errors: Vec<Error>,
    budget: &'o Budget,
}

/// The text of a name or a path, or its id.
fn said<'a>(leaf: Leaf<'a>, names: &dyn NameLookup, errors: &mut Vec<Error>) -> Value<'a> {
    let (text, id) = match leaf {
        Leaf::Value(value) => return value,
        Leaf::Text(text) => return Value::text(text),
        Leaf::Path(PathId(0)) => return Value::Null,
        Leaf::Name(id) => (names.name(id.0), Value::Id32(id.0)),
        Leaf::Path(id) => (names.path(id.0), Value::Id64(id.0)),
    };
    match text {
        Ok(text) => text.map_or(id, |text| Value::owned(text.into_owned())),
        Err(error) => {
            errors.push(error);
            id
        }
    }
}

/// `value` with the text of each reference in place of it and its id.
fn plainly(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Map(mut parts) => match &mut *parts {
            [(id, id_value), (what, text)] if id == "id" && matches!(&**what, "text" | "path") => {
                std::mem::take(if text.is_null() { id_value } else { text })
            }
            _ => Value::Map(parts.into_iter().map(|(name, value)| (name, plainly(value))).collect()),
        },
        Value::List(values) => Value::List(values.into_iter().map(plainly).collect()),
        leaf => leaf,
    }
}

/// Calls `out` with the fields in which two records differ, with the names and paths that each file knows. Returns the errors
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
    match (Prototype::read(layout, old), Prototype::read(layout, new)) {
        (Ok(Prototype::Material(a)), Ok(Prototype::Material(b))) => differ.materials(&a, &b),
        (Ok(_), Ok(_)) => {
            let outcome = layout.of().differ(old, new, &mut differ);
            differ.errors.extend(outcome.err());
        }
        (a, b) => differ.errors.extend(a.err().into_iter().chain(b.err())),
    }
    differ.errors
}

/// The fields of a record, with names and paths in place of references: for records with different layouts.
pub fn plain_fields<'a>(
    record: &Prototype<'a>,
    names: &'a dyn NameLookup,
    budget: &Budget,
) -> (Vec<(Cow<'a, str>, Value<'a>)>, Vec<Error>) {
    let (fields, errors) = record_fields(record, names, budget);
    (fields.into_iter().map(|(name, value)| (name, plainly(value))).collect(), errors)
}

impl<'a> Differ<'a, '_> {
    /// The number of plain values above which a list shows its elements one by one.
    const SHORT: usize = 16;

    /// Goes into the field `name`.
    pub(super) fn within(&mut self, name: &str, go: impl FnOnce(&mut Self) -> Result<()>) {
        let len = self.path.len();
        if !self.path.is_empty() && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(name);
        if let Err(error) = go(self) {
            self.errors.push(error.context(&self.path));
        }
        self.path.truncate(len);
    }

    /// The current field, if it has no parts.
    pub(super) fn leaf(&mut self, old: Leaf<'a>, new: Leaf<'a>) {
        let [of_old, of_new] = self.names;
        let ids = match (&old, &new) {
            (Leaf::Name(a), Leaf::Name(b)) => Some((Value::Id32(a.0), Value::Id32(b.0))),
            (Leaf::Path(a), Leaf::Path(b)) => Some((Value::Id64(a.0), Value::Id64(b.0))),
            _ => None,
        };
        let mut values = (said(old, of_old, &mut self.errors), said(new, of_new, &mut self.errors));
        if let Some(ids) = ids
            && values.0 == values.1
        {
            // Two ids of one text.
            values = ids;
        }
        (self.out)(&self.path, values.0, values.1);
    }

    /// Whether the walk need not go into a part.
    pub(super) fn same(&mut self, of: &Type, old: View<'a>, new: View<'a>) -> Result<bool> {
        of.same(old, new, &mut BudgetShare::new(self.budget))
    }

    /// Shows the current field as a whole: null in a record that lacks it.
    pub(super) fn whole(&mut self, of: &Type, old: Option<View<'a>>, new: Option<View<'a>>) -> Result<()> {
        for view in [old, new].into_iter().flatten() {
            // To compare it with itself costs its length.
            self.same(of, view, view)?;
        }
        let [of_old, of_new] = self.names;
        let old = self.shown(of_old, |walker| old.into_iter().for_each(|view| of.walk(view, "", walker)));
        let new = self.shown(of_new, |walker| new.into_iter().for_each(|view| of.walk(view, "", walker)));
        (self.out)(&self.path, old, new);
        Ok(())
    }

    /// Shows the differences of two arrays.
    pub(super) fn arrays(&mut self, old: &Elements<'a>, new: &Elements<'a>) -> Result<()> {
        let of = old.of;
        if of.traits.leaf && (old.len != new.len || old.len <= Self::SHORT) {
            if !old.same(new, &mut BudgetShare::new(self.budget))? {
                let [of_old, of_new] = self.names;
                let old = self.shown(of_old, |walker| old.walk("", walker));
                let new = self.shown(of_new, |walker| new.walk("", walker));
                (self.out)(&self.path, old, new);
            }
            return Ok(());
        }
        for index in 0..old.len.max(new.len) {
            let (a, b) = (old.get(index), new.get(index));
            if let (Some(a), Some(b)) = (a, b)
                && self.same(of, a, b)?
            {
                continue;
            }
            self.within(&format!("[{index}]"), |differ| match (a, b) {
                (Some(a), Some(b)) => of.differ(a, b, differ),
                _ => differ.whole(of, a, b),
            });
        }
        Ok(())
    }

    fn shown(&mut self, names: &'a dyn NameLookup, walk: impl FnOnce(&mut dyn Walker<'a>)) -> Value<'a> {
        let mut shown = ValueBuilder::new(names, self.budget);
        walk(&mut shown);
        let (fields, errors) = shown.into_fields();
        self.errors.extend(errors);
        fields.into_iter().next().map_or(Value::Null, |(_, value)| plainly(value))
    }

    /// Two materials: their properties by name, and their other fields.
    fn materials(&mut self, old: &Material<'a>, new: &Material<'a>) {
        match (properties(old), properties(new)) {
            (Ok(Some(a)), Ok(Some(b))) => self.properties(a, b),
            (Ok(_), Ok(_)) => {
                // Names that repeat: by array, as stored.
                let outcome = Material::OF.differ(old.view(), new.view(), self);
                return self.errors.extend(outcome.err());
            }
            (a, b) => self.errors.extend(a.err().into_iter().chain(b.err())),
        }
        Material::OF.own_fields().for_each(|field| Material::OF.differ_field(old.view(), new.view(), field, self));
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
            let stored = of_old.name(key).ok().flatten().or_else(|| of_new.name(key).ok().flatten());
            let name = match (stored, known_property_name(id)) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bwdb::Database;
    use crate::error::ErrorKind;
    use crate::relations::IdTexts;
    use crate::source::Source;
    use assetq_sample::{Size, bwdb};

    /// The texts that a file has for all ids.
    enum Texts {
        None,
        One,
        Torn,
    }

    impl IdTexts for Texts {
        fn path(&self, _: u64) -> Result<Option<Cow<'_, str>>> {
            match self {
                Self::None => Ok(None),
                Self::One => Ok(Some("one".into())),
                Self::Torn => Err(Error::of_part(ErrorKind::damaged("no text"), "strings")),
            }
        }

        fn name(&self, id: u32) -> Result<Option<Cow<'_, str>>> {
            self.path(id.into())
        }
    }

    impl NameLookup for Texts {}

    fn database() -> Database {
        Database::open(Source::from_vec("assets.bin", bwdb::demo(1, Size::Small))).unwrap()
    }

    /// The fields in which materials differ, with both values, and the errors. Materials that repeat a name are left out.
    fn differences(database: &Database, texts: &Texts) -> (Vec<[String; 3]>, Vec<String>) {
        let is_material = |layout: Layout| layout.table() == "materials";
        let materials = database.databases().flatten().find(|blob| blob.layout().is_some_and(is_material)).unwrap();
        let budget = Budget::new("bytes", u64::MAX);
        let (mut fields, mut errors) = (Vec::new(), Vec::new());
        let layout = materials.layout().unwrap();
        let places = (0..materials.len()).map(|record| materials.record_span(record).unwrap().0);
        let places: Vec<View<'_>> = places
            .filter(|view| match Prototype::read(layout, *view) {
                Ok(Prototype::Material(material)) => properties(&material).unwrap().is_some(),
                _ => false,
            })
            .collect();
        for pair in places.windows(2) {
            let [old, new] = [pair[0], pair[1]];
            let mut out = |name: &str, old: Value<'_>, new: Value<'_>| {
                fields.push([name.to_owned(), old.to_string(), new.to_string()])
            };
            let met = differ_record(layout, old, new, [texts; 2], &mut out, &budget);
            errors.extend(met.iter().map(Error::to_string));
        }
        (fields, errors)
    }

    fn is_id(text: &str) -> bool {
        text.strip_prefix("0x").is_some_and(|digits| digits.len() >= 8)
    }

    #[test]
    fn names_that_no_file_has_are_shown_as_ids() {
        let database = database();
        let (fields, errors) = differences(&database, &Texts::None);
        assert!(errors.is_empty(), "{errors:?}");
        let mut names = fields.iter().filter_map(|[name, ..]| name.strip_prefix("properties.")).peekable();
        assert!(names.peek().is_some() && names.all(is_id), "{fields:?}");
        // A text that cannot be read is an error, and its id is shown.
        let (torn, errors) = differences(&database, &Texts::Torn);
        assert_eq!(torn, fields);
        assert!(!errors.is_empty() && errors.iter().all(|error| error.contains("strings: no text")), "{errors:?}");
    }

    #[test]
    fn two_ids_of_one_text_are_shown_as_ids() {
        let (fields, errors) = differences(&database(), &Texts::One);
        assert!(errors.is_empty(), "{errors:?}");
        assert!(fields.iter().all(|[_, old, new]| old != new), "{fields:?}");
        assert!(fields.iter().any(|[name, old, new]| name == "fx" && is_id(old) && is_id(new)), "{fields:?}");
    }

    #[test]
    fn damaged_records_are_errors_and_have_no_digest() {
        let database = database();
        let budget = Budget::new("bytes", u64::MAX);
        for table in ["materials", "visuals"] {
            let is_named = |layout: Layout| layout.table() == table;
            let blob = database.databases().flatten().find(|blob| blob.layout().is_some_and(is_named)).unwrap();
            let layout = blob.layout().unwrap();
            let (whole, size) = blob.record_span(0).unwrap();
            let bytes = vec![0x7F; size];
            let [torn, short] = [&bytes[..], &bytes[..2]].map(|bytes| View::new(bytes, "record"));
            for view in [torn, short] {
                for (old, new) in [(view, whole), (whole, view)] {
                    let mut out = |_: &str, _: Value<'_>, _: Value<'_>| {};
                    let errors = differ_record(layout, old, new, [&Texts::None; 2], &mut out, &budget);
                    assert!(!errors.is_empty(), "{table}");
                    assert_ne!(
                        same_record(layout, old, new, &mut BudgetShare::new(&budget)).ok(),
                        Some(true),
                        "{table}"
                    );
                }
            }
            let digest = |view| digest(&Prototype::read(layout, view).unwrap(), &mut BudgetShare::new(&budget));
            assert!(digest(whole).is_some() && digest(whole) == digest(whole) && digest(torn).is_none(), "{table}");
        }
    }

    #[test]
    fn values_of_properties_are_equal_if_kind_and_value_are() {
        let leaves = [
            Leaf::Name(NameId(1)),
            Leaf::Name(NameId(2)),
            Leaf::Path(PathId(1)),
            Leaf::Path(PathId(2)),
            Leaf::Text("a"),
            Leaf::Text("b"),
            Leaf::Value(Value::F32(f32::NAN)),
            Leaf::Value(Value::F32(1.0)),
        ];
        for (a, old) in leaves.iter().enumerate() {
            for (b, new) in leaves.iter().enumerate() {
                assert_eq!(same_leaf(old, new), a == b, "{a} {b}");
            }
        }
    }
}
