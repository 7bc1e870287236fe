//! Edits of the output of `cat`.

use assetq::table::Value;

/// The value at `path` of a tree: names and numbers.
pub fn at<'t>(tree: &'t mut Value<'static>, path: &[&str]) -> &'t mut Value<'static> {
    let Some((first, rest)) = path.split_first() else { return tree };
    let inner = match tree {
        Value::Map(entries) => &mut entries.iter_mut().find(|(key, _)| key == first).unwrap().1,
        Value::List(items) => &mut items[first.parse::<usize>().unwrap()],
        other => panic!("{other}: {first}"),
    };
    at(inner, rest)
}
