//! The parts of files that are read: records of an archive of values, by the interface of all readers; and of `.def` files, the two
//! members that name a definition.

use crate::error::{ErrorKind, Result};
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{Guid, Value, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The prefix of the GUID in a reference.
const REFERENCE: &str = "{G}";

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

/// Gives `take` the `wanted` members, null if absent, of every record in `entry` that has the first of them, as it is walked over.
///
/// # Errors
/// When the entry is damaged; the records before have been taken.
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

/// The GUID of the definition that a `.def` file holds, and its type.
pub(super) fn definition_of(file: &Source) -> Result<(Guid, Option<String>)> {
    parse_definition(file.bytes())
        .map_err(|what| file.view("definition").error(ErrorKind::Damaged { what: what.into() }))
}

/// As [`definition_of`]; the error says what is wrong.
fn parse_definition(bytes: &[u8]) -> Result<(Guid, Option<String>), String> {
    /// The mark that some editors write before a text.
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let text = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let def = members(text).map_err(|error| error.to_string())?;
    let ty: Option<String> = match def.get("$Type") {
        Some(ty) => serde_json::from_str(ty.get()).map_err(|_| "its $Type is no text")?,
        None => None,
    };
    let value = def.get("$Value").map(|value| members(value.get().as_bytes())).transpose();
    let value = value.map_err(|_| "its $Value is no object")?.ok_or("it has no $Value.Guid")?;
    let guid = value.get("Guid").ok_or("it has no $Value.Guid")?;
    let guid: String = serde_json::from_str(guid.get()).map_err(|_| "its $Value.Guid is no text")?;
    match Guid::parse(&guid) {
        Some(guid) => Ok((guid, ty)),
        None => Err(format!("its $Value.Guid is {:?}", guid.chars().take(80).collect::<String>())),
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
        definition_of(&Source::from_vec("a.def", text.as_bytes().to_vec()))
    }

    #[test]
    fn a_definition_says_its_guid_and_its_type() {
        let guid = "7e9ebc0b-f48a-4f33-9a2e-8d54ea2603a0";
        let text = format!(
            r#"{{"$Bundles": {{"VRage": "2.0"}}, "$Type": "Game2:Keen.Item", "$Value": {{"X": [{{"Guid": 1}}], "Guid": "{}"}}}}"#,
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
