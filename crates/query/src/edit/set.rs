//! One value of an entry, named by its path: `Bounds.Max.Y`, `r0000005.u7Race`, `PATH.lods[0].extent`.

use super::{Editor, ValueSource, refused};
use crate::asset::Asset;
use crate::error::{Error, ErrorKind, Result};
use crate::find::{self, paths_named};
use crate::reader::Reader;
use crate::reader::entry::row_of;
use crate::table::path::{Path, Step};
use crate::table::{Accepts, Column, Kind, Table, Tree, Value, column_index, nearest_rows};
use crate::writable::{self, short, short_text};
use std::borrow::Cow;

/// Where the name of an entry may end in `path`, from the longest name to the shortest one.
fn ends(path: &str) -> Vec<usize> {
    let mut quoted = false;
    let mut found = Vec::new();
    for (at, sign) in path.char_indices() {
        match sign {
            '"' => quoted = !quoted,
            '.' | '[' if !quoted && at > 0 => found.push(at),
            _ => {}
        }
    }
    found.push(path.len());
    found.reverse();
    found
}

/// The steps of a text like `.lods[0]["odd name"].extent`.
fn steps(text: &str) -> Result<Path<'_>> {
    let path = match text.strip_prefix('.') {
        Some(name) => Path::parse(name).filter(|_| !name.is_empty() && !name.starts_with('[')),
        None => Path::parse(text).filter(|_| text.is_empty() || text.starts_with('[')),
    };
    let what = "is no path to a value: steps are .NAME, [NUMBER] and [\"NAME\"]";
    path.ok_or_else(|| refused(format!("{} {what}", short_text(text))))
}

/// Whether the value at a path can be set to a text.
type Fits<'f> = &'f dyn Fn(&str, &str) -> bool;

/// `now` with the value at `steps` replaced by the value in the text `given`; `at` is the path so far, for messages.
fn replaced(now: Value<'static>, steps: &[Step<'_>], given: &str, at: &str, fits: Fits<'_>) -> Result<Value<'static>> {
    let Some((step, rest)) = steps.split_first() else { return leaf(&now, given, at, fits) };
    match (step, now) {
        (Step::Name(name), Value::Map(mut members)) => {
            let Some(member) = member_of(&mut members, name) else {
                let names = members.iter().map(|(name, _)| &**name);
                let hint = crate::suggest::hint_or_all(name, "there are", names);
                return Err(refused(format!("{}: no value {}{hint}", short_text(at), short_text(name))));
            };
            *member = replaced(std::mem::take(member), rest, given, &format!("{at}.{name}"), fits)?;
            Ok(Value::Map(members))
        }
        (Step::Index(index), Value::List(mut items)) => {
            let len = items.len();
            let Some(item) = items.get_mut(*index as usize) else {
                return Err(refused(format!("{}: no item [{index}]: it has {len}, from [0] on", short_text(at))));
            };
            *item = replaced(std::mem::take(item), rest, given, &format!("{at}[{index}]"), fits)?;
            Ok(Value::List(items))
        }
        (step, other) => {
            let step = match step {
                Step::Name(name) => short_text(name),
                Step::Index(index) | Step::Key(index) => format!("[{index}]"),
            };
            Err(refused(format!("{}: no value {step} in it: it is {}", short_text(at), kind_of(&other))))
        }
    }
}

/// The member `name`: of the object, else of the only member whose members have this name. `cat` shows a record as a
/// member of its entry.
fn member_of<'v>(members: &'v mut [(Cow<'static, str>, Value<'static>)], name: &str) -> Option<&'v mut Value<'static>> {
    if members.iter().any(|(own, _)| own == name) {
        return members.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value);
    }
    let mut holders = members.iter_mut().filter_map(|(_, value)| match value {
        Value::Map(inner) => inner.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value),
        _ => None,
    });
    holders.next().filter(|_| holders.next().is_none())
}

/// Values that are tried for a message.
const TRIED: usize = 32;

/// Adds the paths of the values below `at`, each with the text of another value, beginning with the last one.
fn add_leaves(members: &[(Cow<'static, str>, Value<'static>)], at: &str, leaves: &mut Vec<(String, String)>) {
    for (name, value) in members.iter().rev() {
        if leaves.len() >= TRIED {
            return;
        }
        let path = format!("{at}.{name}");
        match value {
            Value::Map(inner) => add_leaves(inner, &path, leaves),
            Value::List(_) | Value::Null => {}
            value => leaves.push((path, text_of_another(value))),
        }
    }
}

/// The text of a value of this kind that differs: what identifies an entry can be set to itself alone.
fn text_of_another(value: &Value<'_>) -> String {
    match value {
        Value::Bool(now) => (!now).to_string(),
        Value::Text(_) | Value::Utf16(_) => format!("{value}_"),
        number if number.to_string().parse() == Ok(0.0) => "1".to_owned(),
        _ => "0".to_owned(),
    }
}

/// The value in the text `given`, of the kind of `now`.
fn leaf(now: &Value<'static>, given: &str, at: &str, fits: Fits<'_>) -> Result<Value<'static>> {
    let column = Column::new("value", Kind::Any).writable();
    let new = writable::fit(&column, Value::text(given), ValueSource::Text, Some(now));
    new.map_err(|_| {
        let kind = match now {
            Value::Map(members) => {
                let (shown, mut leaves) = (short_text(at), Vec::new());
                add_leaves(members, at, &mut leaves);
                return refused(match leaves.iter().find(|(path, text)| fits(path, text)) {
                    Some((path, _)) => {
                        format!("{shown} is an object: name one of its values, as in {}", short_text(path))
                    }
                    None => format!("{shown} is an object, and no value in it can be set alone"),
                });
            }
            other => kind_of(other),
        };
        refused(format!("{}: {} does not fit: {kind}", short_text(at), short_text(given)))
    })
}

fn kind_of(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Int(_) => "a whole number".to_owned(),
        Value::Uint(_) => "a whole number from 0".to_owned(),
        Value::F32(_) | Value::F64(_) => "a number".to_owned(),
        Value::Id64(_) | Value::Id32(_) => "an id".to_owned(),
        Value::Guid(_) => "a GUID".to_owned(),
        Value::Text(_) | Value::Utf16(_) => "a text".to_owned(),
        Value::List(items) => format!("a list of {}, in JSON: [0] names its first item", items.len()),
        Value::Map(_) => "an object".to_owned(),
    }
}

/// The rows of `table` that `key` names: by their label, else by their key, else by their number in the first column.
fn rows_named(table: &dyn Table, key: &str) -> Result<Vec<usize>> {
    for column in std::iter::once(table.label()).chain(writable::keys(table)).chain([0]) {
        let found = rows_with(table, column, key)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The rows whose cell in `column` is the value in the text `key`.
fn rows_with(table: &dyn Table, column: usize, key: &str) -> Result<Vec<usize>> {
    match writable::key(&table.columns()[column], &Value::text(key)) {
        Some(wanted) => find::rows_with(table, column, &wanted),
        None => Ok(Vec::new()),
    }
}

/// Whether the value at a path below `entry` can be set to a text, without a change to the file.
fn fits_in<'a>(asset: &'a Asset, table: Option<&'a str>, entry: &'a str) -> impl Fn(&str, &str) -> bool {
    move |path, given| {
        let is_derived = path.rsplit('.').next().is_some_and(|name| is_derived(asset.reader(), table, entry, name));
        !is_derived && Editor::new(asset).is_ok_and(|mut editor| editor.set_value(table, path, given).is_ok())
    }
}

/// Whether `name` is a derived column of the table of an entry: the given one, else the one that shows it, else the main one.
fn is_derived(reader: &dyn Reader, table: Option<&str>, entry: &str, name: &str) -> bool {
    let rows = match (table, reader.entry_row(entry)) {
        (Some(table), _) => reader.table(table),
        (None, Ok(Some((rows, _)))) => Some(rows),
        (None, _) => reader.tables().into_iter().next(),
    };
    rows.is_some_and(|rows| {
        rows.columns().iter().any(|column| column.name == name && column.accepts == Accepts::Nothing)
    })
}

impl Editor<'_> {
    /// Changes the value at `path` to the value in the text `given`. The path is an entry as `cat` takes it, followed by
    /// the steps to the value: `Bounds.Max.Y`, `r0000005.u7Race`, `PATH.lods[0].extent`. With a table it is a row of the
    /// table and a column.
    ///
    /// # Errors
    /// `NotFound` for a missing entry. `Syntax` for a missing or derived value, and for a text that does not fit.
    pub fn set_value(&mut self, table: Option<&str>, path: &str, given: &str) -> Result<()> {
        if table.is_some() {
            return self.set_in_row(table, path, given);
        }
        let reader = self.asset.reader();
        for end in ends(path) {
            let (entry, rest) = path.split_at(end);
            let Some((entry, shown)) = entry_named(reader, entry)? else { continue };
            let path = steps(rest)?;
            let steps = path.steps();
            return match replaced(shown, steps, given, &entry, &fits_in(self.asset, None, &entry)) {
                Ok(new) => match self.writable.entry(&entry, &new)? {
                    Some(edit) => self.take_entry(&entry, edit),
                    None => match reader.entry_row(&entry)? {
                        Some((table, _)) if reader.tables().first().is_some_and(|main| main.name() != table.name()) => {
                            self.entry(&entry, new)
                        }
                        _ => self.set_in(None, &entry, steps, given),
                    },
                },
                // Some columns are no part of the tree, and a column names what fits.
                Err(_) if self.has_column(steps)? => self.set_in(None, &entry, steps, given),
                Err(error) => Err(error),
            };
        }
        Err(self.no_entry(None, path))
    }

    /// Whether the first step is a column of the main table.
    fn has_column(&mut self, steps: &[Step<'_>]) -> Result<bool> {
        let table = &*self.resolved(None)?.table;
        Ok(matches!(steps.first(), Some(Step::Name(name)) if column_index(table, name).is_some()))
    }

    fn set_in_row(&mut self, table: Option<&str>, path: &str, given: &str) -> Result<()> {
        for end in ends(path) {
            let (key, rest) = path.split_at(end);
            let rows = self.resolved(table)?;
            if !rows_named(&*rows.table, key)?.is_empty() {
                return self.set_in(table, key, steps(rest)?.steps(), given);
            }
        }
        Err(self.no_entry(table, path))
    }

    /// Changes a cell of a row, or of an item in a list of the row: `2.lods[0].extent` is row [0] of row 2 in `lods`.
    fn set_in(&mut self, table: Option<&str>, key: &str, steps: &[Step<'_>], given: &str) -> Result<()> {
        let (asset, given_table) = (self.asset, table);
        let reader = asset.reader();
        let (mut name, mut steps) = (table, steps);
        let mut item = None;
        if let [Step::Name(list), Step::Index(index), rest @ ..] = steps
            && column_index(&*self.resolved(table)?.table, list).is_none()
            && reader.table(list).is_some_and(|table| table.nature().item().is_some())
        {
            (name, item, steps) = (Some(&**list), Some(*index), rest);
        }
        let named = match item {
            Some(_) => rows_named(&*self.resolved(given_table)?.table, key)?,
            None => Vec::new(),
        };
        let rows = self.resolved(name)?;
        let table = &*rows.table;
        // Items of lists begin with the number of their row.
        let items = named.iter().map(|row| rows_with(table, 0, &row.to_string()));
        let mut found = match item {
            Some(_) => items.collect::<Result<Vec<_>>>()?.concat(),
            None => rows_named(table, key)?,
        };
        if let (Some(index), Some(at)) = (item, table.nature().item()) {
            let wanted = Value::Uint(index.into());
            found.retain(|row| table.value(*row, at).is_ok_and(|value| crate::compare::same_value(&value, &wanted)));
        }
        let shown = short_text(key);
        let [row] = found[..] else {
            let which = item.map_or_else(String::new, |index| format!(" with item [{index}]"));
            let what = match found.len() {
                0 => format!("{}: no row {shown}{which}", table.name()),
                many => format!("{}: {many} rows are named {shown}: `sql UPDATE` or `patch` says which", table.name()),
            };
            return Err(refused(what));
        };
        let Some((Step::Name(column), rest)) = steps.split_first() else {
            let columns = table.columns().iter().filter(|column| column.accepts != Accepts::Nothing);
            let names = columns.map(|column| &*column.name).take(8).collect::<Vec<_>>().join(", ");
            return Err(refused(format!("{shown} is a whole row: name one of its values, as in ENTRY.NAME: {names}")));
        };
        let at = rows.column(column)?.0;
        let outcome = match rest {
            [] => rows.set_cell(row, at, Value::owned(given.to_owned()), ValueSource::Text)?,
            steps => {
                let now = rows.table.value(row, at)?.into_owned();
                let new = replaced(now, steps, given, &format!("{key}.{column}"), &fits_in(asset, given_table, key))?;
                rows.set_cell(row, at, new, ValueSource::Typed)?
            }
        };
        self.note(&outcome);
        Ok(())
    }

    fn no_entry(&mut self, table: Option<&str>, path: &str) -> Error {
        let end = ends(path).get(1).copied().unwrap_or(path.len());
        let (entry, rest) = path.split_at(end);
        let reader = self.asset.reader();
        let near = self.resolved(table).map_or_else(|_| Vec::new(), |rows| nearest_rows(entry, &*rows.table));
        // A name that several rows share is no entry everywhere.
        let near = near.iter().filter(|name| table.is_some() || tree_of(reader, name).is_ok_and(|tree| tree.is_some()));
        let near: Vec<String> = near.map(|name| format!("{name}{rest}")).collect();
        // Tables that only repeat texts of others are not read for a message.
        let mut others = reader.tables();
        others.retain(|other| table.is_none() && !other.nature().texts_elsewhere);
        if let Some(other) = others.iter().skip(1).find(|other| matches!(row_of(&***other, entry), Ok(Some(_)))) {
            let what =
                format!("no entry {}; table {} contains it: add -t {1}", short(&Value::text(path)), other.name());
            return Error::of_part(ErrorKind::NotFound { what }, "");
        }
        let hint = crate::suggest::hint_of(&near);
        let how =
            if hint.is_empty() { "; ENTRY is what `assetq cat` takes, with .NAME or [NUMBER] after it" } else { "" };
        let what = format!("no entry {}{hint}{how}", short(&Value::text(path)));
        Error::of_part(ErrorKind::NotFound { what }, "")
    }
}

/// The entry of this name, or with this last part of its path, and its tree. An entry that is named only by the last part
/// must be the only one.
fn entry_named(reader: &dyn Reader, name: &str) -> Result<Option<(String, Value<'static>)>> {
    if let Some(tree) = tree_of(reader, name)? {
        return Ok(Some((name.to_owned(), tree)));
    }
    match &paths_named(reader, name, 2)[..] {
        [] => Ok(None),
        [path] => Ok(tree_of(reader, path)?.map(|tree| (path.clone(), tree))),
        [one, other, ..] => {
            let (one, other) = (short_text(one), short_text(other));
            Err(refused(format!(
                "{} is the name of several entries: {one}, {other}; give a whole path",
                short_text(name)
            )))
        }
    }
}

fn tree_of(reader: &dyn Reader, entry: &str) -> Result<Option<Value<'static>>> {
    let mut tree = Tree::default();
    Ok(reader.cat(entry, &mut tree)?.then(|| tree.into_value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_an_entry_and_steps_into_it() {
        let ends_of = |path: &'static str| ends(path).into_iter().map(|end| &path[..end]).collect::<Vec<_>>();
        assert_eq!(ends_of("a/b.visual.lods[0]"), ["a/b.visual.lods[0]", "a/b.visual.lods", "a/b.visual", "a/b"]);
        assert_eq!(ends_of("[Main]"), ["[Main]"]);
        assert_eq!(ends_of("S[\"a.b\"].c"), ["S[\"a.b\"].c", "S[\"a.b\"]", "S"]);
        assert_eq!(
            steps(".a[3][\"o\\\"d.d\"].b").unwrap().steps(),
            [Step::Name("a".into()), Step::Index(3), Step::Name("o\"d.d".into()), Step::Name("b".into())]
        );
        for wrong in ["a", ".", "[", "[x]", "[\"a", ".a.", "[-1]"] {
            assert!(steps(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_value_keeps_its_kind() {
        let set = |now: Value<'static>, given| {
            leaf(&now, given, "x", &|path, _| path != "x.offset").map_err(|error| error.to_string())
        };
        assert_eq!(set(Value::F32(2.5), "7.5"), Ok(Value::F32(7.5)));
        assert_eq!(set(Value::Uint(1), "3"), Ok(Value::Uint(3)));
        assert_eq!(set(Value::Bool(false), "true"), Ok(Value::Bool(true)));
        assert_eq!(set(Value::owned("1".to_owned()), "2"), Ok(Value::owned("2".to_owned())));
        assert_eq!(set(Value::Uint(1), "-3").unwrap_err(), "\"x\": \"-3\" does not fit: a whole number from 0");
        let map = Value::Map(vec![("offset".into(), Value::Uint(1)), ("a".into(), Value::Uint(1))]);
        assert_eq!(set(map, "3").unwrap_err(), "\"x\" is an object: name one of its values, as in \"x.a\"");
        let map = Value::Map(vec![("offset".into(), Value::Uint(1))]);
        assert_eq!(set(map, "3").unwrap_err(), "\"x\" is an object, and no value in it can be set alone");
        for (now, what) in [
            (Value::Bool(true), "true or false"),
            (Value::Int(-1), "a whole number"),
            (Value::F64(0.5), "a number"),
            (Value::Guid(crate::table::Guid([1; 16])), "a GUID"),
            (Value::List(vec![Value::Uint(1); 2]), "a list of 2, in JSON: [0] names its first item"),
        ] {
            assert_eq!(set(now, "far").unwrap_err(), format!("\"x\": \"far\" does not fit: {what}"));
        }
    }

    /// The last value is tried first, also in objects of objects; among very many values not all are tried.
    #[test]
    fn the_message_for_an_object_names_a_value_that_can_be_set() {
        let named = |now: &Value<'static>, settable: &str| {
            let tried = std::cell::Cell::new(0);
            let fits = |path: &str, _: &str| {
                tried.set(tried.get() + 1);
                path.ends_with(settable)
            };
            (leaf(now, "1", "x", &fits).unwrap_err().to_string(), tried.get())
        };
        let inner = Value::Map(vec![("a".into(), Value::Bool(true)), ("list".into(), Value::List(Vec::new()))]);
        let nested = Value::Map(vec![("inner".into(), inner), ("b".into(), Value::Null)]);
        let what = "\"x\" is an object: name one of its values, as in \"x.inner.a\"";
        assert_eq!(named(&nested, "a"), (what.to_owned(), 1));
        let many = Value::Map((0..40).map(|n| (format!("n{n}").into(), Value::Uint(n))).collect());
        let what = "\"x\" is an object: name one of its values, as in \"x.n38\"";
        assert_eq!(named(&many, "n38"), (what.to_owned(), 2));
        assert_eq!(named(&many, "n2"), ("\"x\" is an object, and no value in it can be set alone".to_owned(), 32));
    }

    /// A record as `cat` shows it: a member of its entry.
    fn record() -> Value<'static> {
        let place = Value::Map(vec![("x".into(), Value::F32(1.0)), ("y".into(), Value::F32(2.0))]);
        let lods = Value::List(vec![Value::Uint(7), Value::Uint(8)]);
        let record = Value::Map(vec![("place".into(), place), ("lods".into(), lods)]);
        let (id, title) = (Value::Id64(5), Value::text("Yamato"));
        Value::Map(vec![
            ("id".into(), id),
            ("title".into(), title),
            ("owner".into(), Value::Null),
            ("visual".into(), record),
        ])
    }

    fn set_at(path: &str, given: &str) -> Result<String, String> {
        let path = steps(path).unwrap();
        let new = replaced(record(), path.steps(), given, "ship", &|_, _| true);
        new.map(|new| new.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_is_replaced_where_its_path_leads() {
        let shown = record().to_string();
        let with = |old, new| Ok(shown.replacen(old, new, 1));
        assert_eq!(set_at(".visual.lods[1]", "9"), with("8", "9"));
        // The only member that has a member of this name may be left out.
        assert_eq!(set_at(".place.y", "2.5"), with("y: 2", "y: 2.5"));
        assert_eq!(set_at(".lods[0]", "3"), with("7", "3"));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_refused_with_what_is_there() {
        for (path, what) in [
            (".visual.lods[2]", "\"ship.visual.lods\": no item [2]: it has 2, from [0] on"),
            (".visual.length", "\"ship.visual\": no value \"length\"; there are place, lods"),
            (".visual[0]", "\"ship.visual\": no value [0] in it: it is an object"),
            (".visual.lods.extent", "\"ship.visual.lods\": no value \"extent\" in it: it is a list of 2"),
            (".place.x[1]", "\"ship.place.x\": no value [1] in it: it is a number"),
            (".id.high", "\"ship.id\": no value \"high\" in it: it is an id"),
            (".title.length", "\"ship.title\": no value \"length\" in it: it is a text"),
            (".owner.id", "\"ship.owner\": no value \"id\" in it: it is null"),
        ] {
            let said = set_at(path, "1").unwrap_err();
            assert!(said.starts_with(what), "{said}");
        }
    }
}
