//! Names that the user may have meant: the nearest ones to a name that does not exist.

#![allow(clippy::arithmetic_side_effects, reason = "numbers of rows, bytes and texts in memory, which cannot overflow")]

use std::borrow::Cow;

/// The number of names that are suggested.
const MOST: usize = 3;
/// The likeness from which a name is suggested, from 0 to 1.
const ALIKE: f64 = 0.6;
/// Names that are less alike than the best one by this much are not suggested.
const NEAR_BEST: f64 = 0.15;

/// The product of the lengths of compared names up to which names are looked at, so that a hostile file costs little time.
const WORK: usize = 1 << 30;

/// The names that are most alike to `wanted`, the best one first.
pub fn nearest<N: AsRef<str>>(wanted: &str, names: impl IntoIterator<Item = N>) -> Vec<N> {
    let wanted = wanted.to_lowercase();
    let (mut best, mut work): (Vec<(f64, N)>, usize) = (Vec::new(), 0);
    for name in names {
        work += wanted.len().max(1) * name.as_ref().len();
        if work > WORK {
            break;
        }
        let alike = likeness(&wanted, name.as_ref());
        if alike < ALIKE {
            continue;
        }
        let place = best.partition_point(|(other, _)| *other >= alike);
        if place < MOST && !best.iter().any(|(_, other)| other.as_ref() == name.as_ref()) {
            best.insert(place, (alike, name));
            best.truncate(MOST);
        }
    }
    let top = best.first().map_or(0.0, |(alike, _)| *alike);
    best.into_iter().filter(|(alike, _)| *alike >= top - NEAR_BEST).map(|(_, name)| name).collect()
}

/// The nearest names as the end of a message: `; did you mean a or b?`, or nothing.
pub fn hint<N: AsRef<str>>(wanted: &str, names: impl IntoIterator<Item = N>) -> String {
    hint_of(&nearest(wanted, names))
}

/// Names that the user may have meant, as the end of a message.
pub fn hint_of(names: &[impl AsRef<str>]) -> String {
    let names: Vec<_> = names.iter().map(|name| as_one_word(name.as_ref())).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("; did you mean {name}?"),
        [first @ .., last] => format!("; did you mean {} or {last}?", first.join(", ")),
    }
}

/// The name in quotes, if shells would split it or replace parts of it.
fn as_one_word(name: &str) -> Cow<'_, str> {
    if name.contains(['"', '$', '`', '!']) && !name.starts_with('"') {
        return format!("'{}'", name.replace('\'', r"'\''")).into();
    }
    let is_plain = |c: char| !c.is_whitespace() && !"&|;<>()*?#'{},".contains(c);
    if name.starts_with('"') || name.chars().all(is_plain) { name.into() } else { format!("\"{name}\"").into() }
}

/// The nearest names, or if none is near `there_are` and all of them, as the end of a message.
pub fn hint_or_all<'n>(wanted: &str, there_are: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
    /// Names that are listed.
    const LISTED: usize = 40;
    /// Names that are listed although near ones are known.
    const FEW: usize = 12;
    let hint = hint(wanted, names.clone());
    let mut listed: Vec<&str> = names.take(LISTED + 1).collect();
    if !hint.is_empty() && listed.len() > FEW {
        return hint;
    }
    if listed.len() > LISTED {
        listed.truncate(LISTED);
        listed.push("…");
    }
    let separator = if hint.is_empty() { ";" } else { "" };
    format!("{hint}{separator} {there_are} {}", listed.join(", "))
}

/// How alike a name is to `wanted`, which is in lower case: 1 for the same name. Paths are alike if their last parts are.
fn likeness(wanted: &str, name: &str) -> f64 {
    let name = name.to_lowercase();
    // Quotes are no part of a name in SQL.
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(&name);
    if name == wanted {
        return 1.0;
    }
    let [wanted_last, name_last] = [wanted, name].map(|path| path.rsplit_once('/').map_or(path, |(_, last)| last));
    let is_path = wanted_last.len() < wanted.len() || name_last.len() < name.len();
    let of_last = if wanted_last == name_last { 1.0 } else { of_words(wanted_last, name_last) };
    if !is_path || of_last < ALIKE {
        return of_last;
    }
    // The folders decide between names that are as alike.
    of_last * 0.9 + edits(wanted, name) * 0.1
}

fn of_words(wanted: &str, name: &str) -> f64 {
    let (short, long) = if wanted.len() < name.len() { (wanted, name) } else { (name, wanted) };
    let share = as_float(short.len()) / as_float(long.len().max(1));
    // A table of `portal_boxes` has portals.
    let one = short.strip_suffix('s').unwrap_or(short);
    if one.len() >= 3 && long.contains(one) {
        // A part of a name, such as a column without its prefix.
        return 0.7 + 0.25 * share;
    }
    // Names of such different lengths are far from each other.
    if share < ALIKE {
        return 0.0;
    }
    // A prefix that many names share makes no other name alike, as in PASB018_Iowa and PJSB018_Yamato.
    if let (Some((a, rest_of_a)), Some((b, rest_of_b))) = (wanted.split_once('_'), name.split_once('_'))
        && edits(a, b).min(edits(rest_of_a, rest_of_b)) < ALIKE
    {
        return 0.0;
    }
    edits(wanted, name)
}

/// 1 less the share of characters that must be edited.
fn edits(a: &str, b: &str) -> f64 {
    let longest = a.chars().count().max(b.chars().count()).max(1);
    1.0 - as_float(strsim::osa_distance(a, b)) / as_float(longest)
}

#[expect(clippy::cast_precision_loss, reason = "lengths of names are small")]
fn as_float(length: usize) -> f64 {
    length as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_suggested() {
        let columns = ["u7Race", "sName", "u16BuyPrice", "record", "records"];
        for (wanted, expected) in [
            ("Race", &["u7Race"][..]),
            ("SNAME", &["sName"]),
            ("u16buyprise", &["u16BuyPrice"]),
            ("recrods", &["records", "record"]),
            ("records_of_all", &["records", "record"]),
            ("zzz", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(wanted, columns), expected, "{wanted}");
        }
        assert_eq!(hint("recrods", columns), "; did you mean records or record?");
        assert_eq!(hint("nothing like it", columns), "");
        // A copied name is one argument.
        assert_eq!(
            hint_of(&["Mirabel, flower seller", "lods[0]"]),
            "; did you mean \"Mirabel, flower seller\" or lods[0]?"
        );
        assert_eq!(hint_of(&["5$ \"bill\""]), "; did you mean '5$ \"bill\"'?");
        assert_eq!(hint_of(&["Ann's $HOME"]), r"; did you mean 'Ann'\''s $HOME'?");
        let tables = ["event_boxes", "portal_boxes", "respawn_boxes", "skeleton_nodes"];
        assert_eq!(nearest("portals", tables), ["portal_boxes"]);
        assert_eq!(nearest("spawns", tables), ["respawn_boxes"]);
        assert_eq!(nearest("skeletn_node", tables), ["skeleton_nodes"]);
    }

    #[test]
    fn a_prefix_makes_no_name_alike() {
        let ships = ["PJSB018_Yamato_1944", "PASB017_Montana_1945", "PGSB108_Bismarck"];
        assert_eq!(nearest("PASB018_Iowa_1944", ships), [""; 0]);
        assert_eq!(nearest("PGSB108_Bismark", ships), ["PGSB108_Bismarck"]);
    }

    #[test]
    fn all_names_are_listed_unless_there_are_many() {
        let names: Vec<String> = (0..50).map(|n| format!("column{n:02}")).collect();
        let list = |wanted: &str, count: usize| hint_or_all(wanted, "there are", names[..count].iter().map(|n| &**n));
        assert_eq!(list("size", 2), "; there are column00, column01");
        assert_eq!(list("colum01", 2), "; did you mean column01 or column00? there are column00, column01");
        assert!(list("colum01", 50).ends_with('?'), "{}", list("colum01", 50));
        assert!(list("size", 50).ends_with(", column39, …"), "{}", list("size", 50));
    }

    #[test]
    fn paths_are_alike_by_their_last_part() {
        let paths = ["content/a/USS001.visual", "content/b/USS001.visual", "content/a/JSB900.visual", "content/a"];
        assert_eq!(nearest("content/b/uss0001.visual", paths)[0], "content/b/USS001.visual");
        assert_eq!(nearest("USS001.visual", paths), ["content/a/USS001.visual", "content/b/USS001.visual"]);
    }
}
