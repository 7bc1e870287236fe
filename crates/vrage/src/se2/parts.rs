//! The parts of files that are read: records of an archive of values, by the interface of all readers; and of `.def` files, the two
//! members that name a definition.

use crate::error::{Error, ErrorKind, Result};
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{Guid, Value, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The prefix of the GUID in a reference.
pub(super) const REFERENCE: &str = "{G}";

/// The GUID that a value is or refers to.
pub(super) fn guid_of(value: &Value<'_>) -> Option<Guid> {
    match value {
        Value::Guid(guid) => Some(*guid),
        value => {
            let text = value.as_text()?;
            Guid::parse(text.strip_prefix(REFERENCE).unwrap_or(&text))
        }
    }
}

/// Calls `take` with the `wanted` members, null if absent, of every record in `entry` that has the first of them.
///
/// # Errors
/// When the entry is damaged. `take` was called with the records before.
pub(super) fn records(
    reader: &dyn Reader,
    entry: &str,
    wanted: &[&str],
    take: &mut dyn FnMut(&[Value<'static>]),
) -> Result<()> {
    let mut walk = Walk { wanted, open: Vec::new(), member: None, take };
    reader.cat(entry, &mut walk).map(drop)
}

/// A walk over an entry, which keeps the wanted members of the records that are open.
struct Walk<'w> {
    wanted: &'w [&'w str],
    open: Vec<Vec<Value<'static>>>,
    member: Option<usize>,
    take: &'w mut dyn FnMut(&[Value<'static>]),
}

impl Visitor for Walk<'_> {
    fn begin_map(&mut self) -> Result<()> {
        self.member = None;
        // Made when the first member is met: most records have none.
        self.open.push(Vec::new());
        Ok(())
    }

    fn key(&mut self, name: &str) -> Result<()> {
        self.member = self.wanted.iter().position(|wanted| *wanted == name);
        Ok(())
    }

    fn end_map(&mut self) -> Result<()> {
        self.member = None;
        if let Some(fields) = self.open.pop().filter(|fields| !fields.is_empty()) {
            (self.take)(&fields);
        }
        Ok(())
    }

    fn begin_list(&mut self) -> Result<()> {
        self.member = None;
        Ok(())
    }

    fn end_list(&mut self) -> Result<()> {
        Ok(())
    }

    fn leaf(&mut self, value: &Value<'_>) -> Result<()> {
        if let (Some(member), Some(fields)) = (self.member.take(), self.open.last_mut()) {
            fields.resize(self.wanted.len(), Value::Null);
            if let Some(field) = fields.get_mut(member) {
                *field = value.clone().into_owned();
            }
        }
        Ok(())
    }
}

/// The members of a definition that say what it is.
#[derive(Debug)]
pub(super) struct StoredDefinition {
    pub(super) guid: Guid,
    pub(super) ty: Option<String>,
    pub(super) parent: Option<Guid>,
}

/// The definition that a `.def` file holds, or the one that a `.partialdef` file, the source of a `.def`, describes.
pub(super) fn definition_of(file: &Source, partial: bool) -> Result<StoredDefinition> {
    let parsed = if partial { parse_partial(file.bytes()) } else { parse_definition(file.bytes()) };
    parsed.map_err(|what| damaged(file, what))
}

fn damaged(file: &Source, what: String) -> Error {
    file.view("definition").error(ErrorKind::Damaged { what: what.into() })
}

/// A text without the mark that some editors write before it.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// As [`definition_of`] of a `.def` file; the error says what is wrong.
fn parse_definition(bytes: &[u8]) -> Result<StoredDefinition, String> {
    /// The end of the name of the class that builds a definition, which is written in place of the definition's type.
    const BUILDER: &str = "ObjectBuilder";
    let def = members(unmarked(bytes)).map_err(|error| error.to_string())?;
    let ty = text_in(&def, "$Type", "its $Type")?;
    let ty = ty.map(|ty| ty.strip_suffix(BUILDER).map_or_else(|| ty.clone(), str::to_owned));
    let value = def.get("$Value").map(|value| members(value.get().as_bytes())).transpose();
    let value = value.map_err(|_| "its $Value is no object")?.ok_or("it has no $Value.Guid")?;
    Ok(StoredDefinition { guid: own_guid(&value, "$Value.Guid")?, ty, parent: None })
}

/// As [`parse_definition`], of a `.partialdef` file.
fn parse_partial(bytes: &[u8]) -> Result<StoredDefinition, String> {
    const NONE: &str = "it has no $Value.Manipulator";
    let def = members(unmarked(bytes)).map_err(|error| error.to_string())?;
    let value = def.get("$Value").ok_or(NONE)?;
    let value = members(value.get().as_bytes()).map_err(|_| "its $Value is no object")?;
    let changed = value.get("Manipulator").ok_or(NONE)?;
    let changed = members(changed.get().as_bytes()).map_err(|_| "its $Value.Manipulator is no object")?;
    let ty = text_in(&value, "DefinitionType", "its $Value.DefinitionType")?;
    let parent = text_in(&value, "BaseDefinition", "its $Value.BaseDefinition")?.and_then(|text| Guid::parse(&text));
    Ok(StoredDefinition { guid: own_guid(&changed, "$Value.Manipulator.Guid")?, ty, parent })
}

/// The text of a member, if there is one.
fn text_in(object: &HashMap<String, &RawValue>, name: &str, what: &str) -> Result<Option<String>, String> {
    let text = object.get(name).map(|value| serde_json::from_str(value.get())).transpose();
    text.map_err(|_| format!("{what} is no text"))
}

fn own_guid(object: &HashMap<String, &RawValue>, what: &str) -> Result<Guid, String> {
    let guid = text_in(object, "Guid", &format!("its {what}"))?.ok_or_else(|| format!("it has no {what}"))?;
    let short = || guid.chars().take(80).collect::<String>();
    Guid::parse(&guid).ok_or_else(|| format!("its {what} is {:?}", short()))
}

/// The texts in a file that are GUIDs, and the members that hold them.
pub(super) type GuidsOf = Vec<(String, String)>;

/// The texts in the `$Value` of a `.def`, or in the `Manipulator` of a `.partialdef`, that are GUIDs, with or without the mark of a
/// reference.
pub(super) fn guids(file: &Source) -> Result<GuidsOf> {
    let json: Json =
        serde_json::from_slice(unmarked(file.bytes())).map_err(|error| damaged(file, error.to_string()))?;
    let mut found = GuidsOf::new();
    if let Some(value) = json.get("$Value") {
        collect(value.get("Manipulator").unwrap_or(value), &mut String::new(), &mut found);
    }
    Ok(found)
}

/// Adds the GUIDs in `value` at the path `trail`. `serde_json` limits the depth.
fn collect(value: &Json, trail: &mut String, found: &mut GuidsOf) {
    /// Bytes of a path that are shown: each GUID has one.
    const SHOWN: usize = 256;
    let length = trail.len();
    match value {
        Json::String(text) if guid_of(&Value::text(text)).is_some() => {
            let (shown, _) = trail.split_at(trail.floor_char_boundary(SHOWN));
            found.push((shown.to_owned(), text.clone()));
        }
        Json::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                trail.push_str(&format!("[{n}]"));
                collect(item, trail, found);
                trail.truncate(length);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                trail.push_str(if length > 0 { "." } else { "" });
                trail.push_str(name);
                collect(member, trail, found);
                trail.truncate(length);
            }
        }
        _ => {}
    }
}

/// The members of a JSON object, not parsed themselves.
fn members(text: &[u8]) -> serde_json::Result<HashMap<String, &RawValue>> {
    serde_json::from_slice(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Guid, Option<String>)> {
        let read = definition_of(&Source::from_vec("a.def", text.as_bytes().to_vec()), false);
        read.map(|found| (found.guid, found.ty))
    }

    #[test]
    fn a_definition_says_its_guid_and_its_type() {
        let guid = "7e9ebc0b-f48a-4f33-9a2e-8d54ea2603a0";
        let text = format!(
            r#"{{"$Bundles": {{"VRage": "2.0"}}, "$Type": "Game2:Keen.ItemObjectBuilder", "$Value": {{"X": [{{"Guid": 1}}], "Guid": "{}"}}}}"#,
            guid.to_uppercase()
        );
        for text in [text.clone(), format!("\u{feff}{text}")] {
            let (found, ty) = read(&text).unwrap();
            assert_eq!((found.to_string().as_str(), ty.as_deref()), (guid, Some("Game2:Keen.Item")));
        }
        let untyped = format!(r#"{{"$Value": {{"Guid": "{guid}"}}}}"#);
        assert_eq!(read(&untyped).unwrap().1, None);
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            assert!(read(&text[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_definition_says_why() {
        for (text, why) in [
            ("", "EOF"),
            ("[]", "expected a map"),
            ("{}", "it has no $Value.Guid"),
            (r#"{"$Value": {}}"#, "it has no $Value.Guid"),
            (r#"{"$Value": []}"#, "its $Value is no object"),
            (r#"{"$Value": {"Guid": 7}}"#, "its $Value.Guid is no text"),
            (r#"{"$Value": {"Guid": "no"}}"#, "its $Value.Guid is \"no\""),
            (r#"{"$Type": 1}"#, "its $Type is no text"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("definition: ") && error.contains(why), "{text}: {error}");
        }
        // As deep as the file says, and no deeper than the program does.
        assert!(read(&format!(r#"{{"X": {}"#, "[".repeat(1 << 20))).is_err());
    }
}
