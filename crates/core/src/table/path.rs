//! Paths of values in trees, as tables of leaves write them: `A.b[3]["odd name"]`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A way from a value into it.
///
/// - `Name`: the member of a record, or the entry of a dictionary with this key. Dots separate names.
/// - `["any text"]`: the same for names with other characters; `\"` and `\\` stand for `"` and `\`. A key that is not a
///   string goes by its text, as `["ee500208-f417-4c95-8cb1-4021bf7a979f"]`.
/// - `[3]`: the fourth element of a list, or the value of the fourth entry of a dictionary.
/// - `[3]#key`: the key of that entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path<'p>(Vec<Step<'p>>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'p> {
    /// The step to a member or the value of a key.
    Name(Cow<'p, str>),
    /// The step to an element, or the value of an entry.
    Index(u32),
    /// The step to the key of an entry.
    Key(u32),
}

impl<'p> Path<'p> {
    /// The path that `text` writes; `None` when it writes none. The empty text is the path to the value itself.
    pub fn parse(text: &'p str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix("[\"") {
                let (name, left) = quoted_name(quoted)?;
                steps.push(Step::Name(name.into()));
                rest = left;
            } else if let Some(number) = rest.strip_prefix('[') {
                let (number, left) = number.split_once(']')?;
                let index = number.parse().ok().filter(|_| number.bytes().all(|b| b.is_ascii_digit()))?;
                let left_of_key = left.strip_prefix("#key");
                steps.push(if left_of_key.is_some() { Step::Key(index) } else { Step::Index(index) });
                rest = left_of_key.unwrap_or(left);
            } else {
                // Every name except the first is preceded by a dot.
                let name = if steps.is_empty() { rest } else { rest.strip_prefix('.')? };
                let end = name.find(['.', '[', '#']).unwrap_or(name.len());
                let (name, left) = name.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
                steps.push(Step::Name(name.into()));
                rest = left;
            }
        }
        Some(Self(steps))
    }

    pub fn steps(&self) -> &[Step<'p>] {
        &self.0
    }
}

/// Writes the path as the table of values does.
impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for step in &self.0 {
            match step {
                Step::Name(name) => push_name(&mut text, name),
                Step::Index(index) => push_index(&mut text, *index),
                Step::Key(index) => {
                    push_index(&mut text, *index);
                    text.push_str("#key");
                }
            }
        }
        f.write_str(&text)
    }
}

/// Appends the step to the member `name`: after a dot, or in brackets and quotes where it has signs of its own.
pub fn push_name(path: &mut String, name: &str) {
    if !name.is_empty() && name.chars().all(|c: char| !matches!(c, '.' | '[' | ']' | '#' | '"' | '\\' | '\0'..=' ')) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        return;
    }
    path.push_str("[\"");
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            path.push('\\');
        }
        path.push(c);
    }
    path.push_str("\"]");
}

/// The name before `"]` in a path, as [`push_name`] writes it, and what follows.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return Some((name, text.get(at..)?.strip_prefix("\"]")?)),
            '\\' => name.push(signs.next()?.1),
            other => name.push(other),
        }
    }
    None
}

/// Appends the step to element or entry `index`.
pub fn push_index(path: &mut String, index: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(path, "[{index}]");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_quotes() {
        let path = Path::parse(r#"DefinitionSets["a.\"b\\"][3]#key.Guid[7]"#).unwrap();
        let expected = [
            Step::Name("DefinitionSets".into()),
            Step::Name("a.\"b\\".into()),
            Step::Key(3),
            Step::Name("Guid".into()),
            Step::Index(7),
        ];
        assert_eq!(path.steps(), expected);
        assert_eq!(Path::parse("").unwrap().steps(), []);
        assert_eq!(Path::parse("[0]").unwrap().steps(), [Step::Index(0)]);
    }

    #[test]
    fn what_is_no_path() {
        for text in
            [".a", "a.", "a..b", "a[", "a[]", "a[-1]", "a[+1]", "a[99999999999]", "a[1]b", "[\"a", "[\"a\"", "a#key"]
        {
            assert_eq!(Path::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for name in ["World", "<Guid>k__BackingField", "", "a.b", "a b", "\"", "\\", "[0]", "#key", "ä€😀", "tab\t"]
        {
            for first in ["", "root", "root[2]"] {
                let mut path = first.to_owned();
                push_name(&mut path, name);
                push_index(&mut path, 4);
                let parsed = Path::parse(&path).unwrap_or_else(|| panic!("{path}"));
                let [.., Step::Name(last), Step::Index(4)] = parsed.steps() else { panic!("{path}") };
                assert_eq!(last, name);
            }
        }
    }
}
