//! When two values are the same, and which parts of nested ones differ.

use crate::table::Value;
use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};

/// A field that differs. The value is null on a side that has no such field or row.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange<'a> {
    /// The field's name; parts of nested fields as in `render_sets[2].mfm`.
    pub name: Cow<'a, str>,
    pub old: Value<'a>,
    pub new: Value<'a>,
}

/// Whether two values are equal. Floats are compared by their bits, whole numbers and texts by their value.
pub fn same_value(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
        (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same_value(&a.1, &b.1))
        }
        (Value::Int(a), Value::Uint(b)) | (Value::Uint(b), Value::Int(a)) => u64::try_from(*a).is_ok_and(|a| a == *b),
        (Value::Text(a), Value::Utf16(b)) | (Value::Utf16(b), Value::Text(a)) => *a == b.to_string(),
        (a, b) => a == b,
    }
}

/// The hash of some values, one after another.
pub fn hash_values<'v>(values: impl IntoIterator<Item = &'v Value<'v>>, state: &RandomState) -> u64 {
    let mut hasher = state.build_hasher();
    values.into_iter().for_each(|value| hash_value(value, &mut hasher));
    hasher.finish()
}

/// Feeds `value` to `state`; equal values feed the same data.
pub fn hash_value(value: &Value<'_>, state: &mut impl Hasher) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Bool(v) => (1u8, v).hash(state),
        Value::Int(v) => (2u8, i128::from(*v)).hash(state),
        Value::Uint(v) => (2u8, i128::from(*v)).hash(state),
        Value::F32(v) => (3u8, v.to_bits()).hash(state),
        Value::F64(v) => (4u8, v.to_bits()).hash(state),
        Value::Id64(v) => (5u8, v).hash(state),
        Value::Id32(v) => (6u8, v).hash(state),
        Value::Guid(v) => (7u8, v).hash(state),
        Value::Text(v) => (8u8, &**v).hash(state),
        Value::Utf16(v) => (8u8, v.to_string()).hash(state),
        Value::List(values) => {
            (9u8, values.len()).hash(state);
            values.iter().for_each(|value| hash_value(value, state));
        }
        Value::Map(values) => {
            (10u8, values.len()).hash(state);
            for (name, value) in values {
                name.hash(state);
                hash_value(value, state);
            }
        }
    }
}

/// Adds the differences between two values of the field `name`. Maps and lists of maps are compared by member; a list
/// of plain values, such as a position, differs as a whole.
pub fn differ<'a>(name: Cow<'a, str>, old: Value<'a>, new: Value<'a>, fields: &mut Vec<FieldChange<'a>>) {
    if same_value(&old, &new) {
        return;
    }
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => {
            let mut new: Vec<_> = new.into_iter().map(Some).collect();
            for (part, old) in old {
                let found = new.iter_mut().find(|slot| slot.as_ref().is_some_and(|(other, _)| *other == part));
                let new = found.and_then(Option::take).map_or(Value::Null, |(_, new)| new);
                differ(format!("{name}.{part}").into(), old, new, fields);
            }
            for (part, new) in new.into_iter().flatten() {
                differ(format!("{name}.{part}").into(), Value::Null, new, fields);
            }
        }
        (Value::List(old), Value::List(new)) if is_branch(&old) || is_branch(&new) => {
            let (mut old, mut new) = (old.into_iter(), new.into_iter());
            for index in 0usize.. {
                match (old.next(), new.next()) {
                    (None, None) => break,
                    (old, new) => {
                        let (old, new) = (old.unwrap_or(Value::Null), new.unwrap_or(Value::Null));
                        differ(format!("{name}[{index}]").into(), old, new, fields);
                    }
                }
            }
        }
        (old, new) => fields.push(FieldChange { name, old, new }),
    }
}

fn is_branch(list: &[Value<'_>]) -> bool {
    list.iter().any(|value| matches!(value, Value::Map(_) | Value::List(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::DefaultHasher;

    fn hash(value: &Value<'_>) -> u64 {
        let mut state = DefaultHasher::new();
        hash_value(value, &mut state);
        state.finish()
    }

    #[test]
    fn same_values_have_the_same_hash() {
        let pairs = [
            (Value::Int(5), Value::Uint(5)),
            (Value::F32(f32::NAN), Value::F32(f32::NAN)),
            (Value::F64(0.1), Value::F64(0.1)),
            (Value::Guid(crate::table::Guid([7; 16])), Value::Guid(crate::table::Guid([7; 16]))),
            (Value::floats([1.0, 2.0]), Value::floats([1.0, 2.0])),
        ];
        for (a, b) in pairs {
            assert!(same_value(&a, &b));
            assert_eq!(hash(&a), hash(&b));
        }
        for (a, b) in [
            (Value::F32(0.0), Value::F32(-0.0)),
            (Value::Int(-1), Value::Uint(u64::MAX)),
            (Value::Id32(1), Value::Id64(1)),
        ] {
            assert!(!same_value(&a, &b) && hash(&a) != hash(&b), "{a} {b}");
        }
    }

    #[test]
    fn nested_values_differ_in_their_parts() {
        let map = |parts: Vec<(&'static str, Value<'static>)>| {
            Value::Map(parts.into_iter().map(|(n, v)| (n.into(), v)).collect())
        };
        let old = map(vec![
            ("fov", 1.0f32.into()),
            ("at", Value::floats([1.0, 2.0])),
            ("sets", Value::List(vec![map(vec![("id", 1u8.into())]), map(vec![("id", 2u8.into())])])),
            ("gone", true.into()),
        ]);
        let new = map(vec![
            ("at", Value::floats([1.0, 3.0])),
            ("fov", 1.0f32.into()),
            ("sets", Value::List(vec![map(vec![("id", 7u8.into())])])),
            ("more", 5u8.into()),
        ]);
        let mut fields = Vec::new();
        differ("camera".into(), old, new, &mut fields);
        let shown: Vec<String> = fields.iter().map(|f| format!("{}: {} -> {}", f.name, f.old, f.new)).collect();
        assert_eq!(
            shown,
            [
                "camera.at: [1, 2] -> [1, 3]",
                "camera.sets[0].id: 1 -> 7",
                "camera.sets[1]: {id: 2} -> ",
                "camera.gone: true -> ",
                "camera.more:  -> 5"
            ]
        );
    }
}
