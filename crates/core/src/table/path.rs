//! Paths of values in trees, as tables of leaves write them: `A.b[3]["odd name"]`.

use std::fmt::Write as _;

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
pub fn quoted_name(text: &str) -> Option<(String, &str)> {
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
