//! Values without parts as bytes.

use super::super::record::{Type, TypeKind};
use crate::id;
use crate::table::Value;
use crate::writable::{single, whole_number};

/// The bytes of a value, which was shown as `old`; else the values that fit.
pub(super) fn leaf_bytes(of: &Type, old: &Value<'_>, new: &Value<'_>) -> Result<Vec<u8>, String> {
    if let Some(count) = of.kind().floats() {
        return vector(count.into(), old, new);
    }
    if let Some((least, most)) = of.kind().integers() {
        let number = whole_number(new).filter(|number| (least..=most).contains(number));
        let number = number.ok_or_else(|| format!("a whole number from {least} to {most}"))?;
        return Ok(number.to_le_bytes().into_iter().take(of.size).collect());
    }
    match of.kind() {
        TypeKind::Flag => match new {
            Value::Bool(truth) => Ok(vec![(*truth).into()]),
            _ => Err("true or false".to_owned()),
        },
        TypeKind::F32 => float(old, new).map(|number| number.to_le_bytes().into()).ok_or_else(|| "a number".to_owned()),
        TypeKind::Name => {
            let id = reference(TypeKind::Name, old, new).and_then(|id| u32::try_from(id).ok());
            id.map(|id| id.to_le_bytes().into()).ok_or_else(|| "a name, or its id as 0x and 8 digits,".to_owned())
        }
        TypeKind::Path => {
            let id = reference(TypeKind::Path, old, new);
            id.map(|id| id.to_le_bytes().into()).ok_or_else(|| "a path, or its id as 0x and 16 digits,".to_owned())
        }
        _ => Err(format!("nothing, as values of the type {} are not written,", of.name)),
    }
}

/// The id of a text: of a name or of a path, which is not empty.
fn hash(of: TypeKind, text: &str) -> Option<u64> {
    if of == TypeKind::Name { Some(id::of_name(text).into()) } else { (!text.is_empty()).then(|| id::of_path(text)) }
}

/// The id of a value: an id, the hash of a text, or both. If both are present, the edited one is used.
pub(super) fn reference(of: TypeKind, old: &Value<'_>, new: &Value<'_>) -> Option<u64> {
    match new {
        Value::Id64(id) => Some(*id),
        Value::Id32(id) => Some((*id).into()),
        Value::Null => (of == TypeKind::Path).then_some(0),
        Value::Text(text) => {
            let id = if of == TypeKind::Name { id::parse32(text).map(u64::from) } else { id::parse(text) };
            id.filter(|_| text.starts_with("0x")).or_else(|| hash(of, text))
        }
        Value::Map(entries) => {
            if let Some(id) = edited_member(old, new, &["id"]) {
                return reference(of, &Value::Null, &Value::owned(id));
            }
            if let Some(text) = edited_member(old, new, &["text", "path"]) {
                return hash(of, &text);
            }
            let id = entries.iter().find(|(name, _)| name == "id").map(|(_, value)| value);
            id.and_then(|id| if matches!(id, Value::Map(_)) { None } else { reference(of, &Value::Null, id) })
        }
        _ => None,
    }
}

/// The text of a member with one of these names, if it changed and is not empty.
fn edited_member(old: &Value<'_>, new: &Value<'_>, names: &[&str]) -> Option<String> {
    let [old, new] = [old, new].map(|map| {
        let Value::Map(entries) = map else { return None };
        entries.iter().find(|(name, _)| names.contains(&&**name)).map(|(_, value)| value.to_string())
    });
    new.filter(|text| !text.is_empty() && old.as_ref() != Some(text))
}

/// Whether a value contains a reference, whose text may be unknown to a reader.
pub(super) fn refers(value: &Value<'_>) -> bool {
    match value {
        Value::Map(entries) => {
            let is_reference = entries.len() == 2
                && entries.iter().any(|(name, _)| name == "id")
                && entries.iter().any(|(name, _)| matches!(&**name, "text" | "path"));
            is_reference || entries.iter().any(|(_, value)| refers(value))
        }
        Value::List(values) => values.iter().any(refers),
        _ => false,
    }
}

/// The single-precision number that a value is. null keeps one that is not finite.
fn float(old: &Value<'_>, new: &Value<'_>) -> Option<f32> {
    match (old, new) {
        (Value::F32(old), Value::Null) if !old.is_finite() => Some(*old),
        _ => single(new),
    }
}

fn vector(count: usize, old: &Value<'_>, new: &Value<'_>) -> Result<Vec<u8>, String> {
    let old = match old {
        Value::List(old) => old.as_slice(),
        _ => &[],
    };
    let numbers = match new {
        Value::List(numbers) if numbers.len() == count => numbers,
        _ => return Err(format!("a list of {count} numbers")),
    };
    let mut bytes = Vec::new();
    for (i, number) in numbers.iter().enumerate() {
        let number = float(old.get(i).unwrap_or(&Value::Null), number);
        bytes.extend(number.ok_or_else(|| format!("a list of {count} numbers"))?.to_le_bytes());
    }
    Ok(bytes)
}
