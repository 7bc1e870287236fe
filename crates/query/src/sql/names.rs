//! Names as SQL writes them.

use std::collections::{HashMap, HashSet};

/// Makes `names` distinct for SQLite: a later duplicate gets a number at its end.
pub(super) fn unique<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let given: HashSet<String> = names.clone().map(str::to_ascii_lowercase).collect();
    let mut taken: HashMap<String, u64> = HashMap::new();
    let unique = names.map(|name| {
        // A statement ends at a NUL.
        let name = name.replace('\0', "\u{FFFD}");
        let Some(&number) = taken.get(&name.to_ascii_lowercase()) else {
            taken.insert(name.to_ascii_lowercase(), 2);
            return name;
        };
        let mut numbers = (number..).map(|number| (number, format!("{name}_{number}")));
        let free = numbers.find(|(_, new)| {
            let new = new.to_ascii_lowercase();
            !given.contains(&new) && !taken.contains_key(&new)
        });
        let (number, free) = free.expect("fewer names than numbers are taken");
        taken.insert(name.to_ascii_lowercase(), number + 1);
        taken.insert(free.to_ascii_lowercase(), 2);
        free
    });
    unique.collect()
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name, quoted if necessary.
pub fn in_sql(name: &str) -> String {
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !is_one_of(KEYWORDS, name) { name.to_owned() } else { quoted(name) }
}

/// Words of SQL that need quotes as names, as far as tables and columns of files have such names.
const KEYWORDS: &str = "add all and as case check default from group index order references table to values where";

/// Whether `name` is one of `words`, in upper or lower case.
pub(super) fn is_one_of(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_by_case_only_get_numbers() {
        let names = ["Item", "item", "item_2", "ITEM", "", "a\0b"];
        assert_eq!(unique(names.into_iter()), ["Item", "item_3", "item_2", "ITEM_4", "", "a\u{FFFD}b"]);
    }
}
