//! The arms of a compound select. SQLite states the declared types of its first arm only.

use super::names::is_one_of;
use super::script::skip;
use std::ops::Range;

/// The arms of the compound select that `text` is, each as a statement of its own: with the words before the first SELECT, such as a
/// WITH clause, and without ORDER BY and LIMIT. Empty for any other statement. SQL has no names like these words outside of quotes.
pub(super) fn arms(text: &str) -> Vec<String> {
    let mut arms: Vec<Range<usize>> = Vec::new();
    // The place at which the next arm begins, once its first word is known.
    let mut is_between = true;
    let mut end = text.len();
    for (at, word) in outer_words(text) {
        match word {
            word if is_between && is_one_of("SELECT VALUES", word) => {
                arms.push(at..text.len());
                is_between = false;
            }
            word if is_one_of("UNION EXCEPT INTERSECT", word) => {
                arms.last_mut().into_iter().for_each(|arm| arm.end = at);
                is_between = true;
            }
            word if !arms.is_empty() && is_one_of("ORDER LIMIT", word) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let ([first, _, ..], [.., last]) = (&*arms, &*arms) else { return Vec::new() };
    let (before, last) = (&text[..first.start], last.start);
    let arms = arms.iter().map(|arm| if arm.start == last { arm.start..end } else { arm.clone() });
    arms.map(|arm| format!("{before}{}", text[arm].trim_end_matches([';', ' ']))).collect()
}

/// The compound selects in the parentheses of a statement, each by its arms as [`arms`] has them. They see the WITH clause of the
/// statement.
pub(super) fn inner(text: &str) -> Vec<Vec<String>> {
    let first = outer_words(text).find(|(_, word)| is_one_of("SELECT VALUES", word));
    let before = first.map_or("", |(at, _)| &text[..at]);
    let (mut open, mut found, mut at) = (Vec::new(), Vec::new(), 0usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((length, _)) = skip(rest) {
            at += length;
            continue;
        }
        if rest.starts_with('(') {
            open.push(at + 1);
        } else if rest.starts_with(')')
            && let Some(start) = open.pop()
        {
            found.push(arms(&text[start..at]).iter().map(|arm| format!("{before}{arm}")).collect());
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    found.retain(|arms: &Vec<String>| !arms.is_empty());
    found
}

/// The words of a statement outside of parentheses, quotes and comments, with their places.
fn outer_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut at, mut depth) = (0usize, 0usize);
    std::iter::from_fn(move || {
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some((length, _)) = skip(rest) {
                at += length;
                continue;
            }
            let start = at;
            let length = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
            if length > 0 {
                at += length;
                if depth == 0 {
                    return Some((start, &rest[..length]));
                }
                continue;
            }
            let sign = rest.chars().next()?;
            at += sign.len_utf8();
            match sign {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_statements() {
        assert_eq!(
            arms("SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1 LIMIT 2;"),
            ["SELECT a FROM t", "SELECT b FROM u"]
        );
        assert_eq!(
            arms("WITH t(x) AS (SELECT 1 UNION SELECT 2)\nselect x FROM t except /* UNION */ values (1), (2);"),
            [
                "WITH t(x) AS (SELECT 1 UNION SELECT 2)\nselect x FROM t",
                "WITH t(x) AS (SELECT 1 UNION SELECT 2)\nvalues (1), (2)"
            ]
        );
        let one = "SELECT 'x UNION SELECT', \"union\" FROM (SELECT 1 UNION SELECT 2) ORDER BY 1";
        for text in [one, "VALUES (1), (2)", "", "UNION", "SELECT 1 AS reunion", "UNION SELECT 1", "ORDER SELECT"] {
            assert_eq!(arms(text), [""; 0], "{text}");
        }
        assert_eq!(arms("SELECT 1 INTERSECT SELECT 2 UNION SELECT 3").len(), 3);
        assert_eq!(inner(one), [["SELECT 1", "SELECT 2"]]);
        assert_eq!(
            inner("WITH t AS (SELECT 1) SELECT (2) FROM (SELECT ')' FROM t EXCEPT SELECT 3)"),
            [["WITH t AS (SELECT 1) SELECT ')' FROM t", "WITH t AS (SELECT 1) SELECT 3"]]
        );
    }
}
