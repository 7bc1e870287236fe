//! The clauses of a SELECT, and the tables and columns that their words name.

use super::token::Placed;
use crate::ask::sql::file::OpenFile;
use crate::table::{Kind, Table};
use std::ops::Range;
use std::sync::Arc;

/// The table that a name in a statement stands for, in its schema if it is named.
pub(in crate::ask::sql) type Tables<'a> = dyn Fn(Option<&str>, &str) -> Option<(Arc<OpenFile>, usize)> + 'a;

/// The words between the parts of a compound SELECT.
pub(super) const COMPOUND: [&str; 3] = ["union", "intersect", "except"];

/// The end of the SELECT that begins at token `start`: a closing bracket, the next part of a compound, or the end.
pub(super) fn end_of(all: &[Placed], start: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in all.iter().enumerate().skip(start) {
        if token.is_sign("(") {
            depth = depth.saturating_add(1);
        } else if token.is_sign(")") {
            match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return at,
            }
        } else if depth == 0 && COMPOUND.iter().any(|word| token.is_word(word)) {
            return at;
        }
    }
    all.len()
}

/// The clauses of a SELECT, without their first words.
pub(super) struct Clauses<'t> {
    pub(super) items: &'t [Placed],
    pub(super) from: &'t [Placed],
    pub(super) filter: &'t [Placed],
    /// From BY on to the columns.
    pub(super) group: &'t [Placed],
    pub(super) having: &'t [Placed],
    /// ORDER BY and LIMIT, with these words.
    pub(super) tail: &'t [Placed],
}

impl<'t> Clauses<'t> {
    pub(super) fn new(select: &'t [Placed]) -> Option<Self> {
        let mut depth = 0usize;
        let mut places: Vec<(usize, &str)> = Vec::new();
        const WORDS: [&str; 6] = ["from", "where", "group", "having", "order", "limit"];
        for (at, token) in select.iter().enumerate() {
            if token.is_sign("(") {
                depth = depth.saturating_add(1);
            } else if token.is_sign(")") {
                depth = depth.saturating_sub(1);
            } else if let Some(word) = WORDS.iter().find(|word| depth == 0 && token.is_word(word)) {
                places.push((at, word));
            }
            let is_other =
                ["over", "filter", "window", "distinct", "exists", "select"].iter().any(|w| token.is_word(w));
            // `count(DISTINCT column)`
            let is_count = token.is_word("distinct") && at > 1 && depth > 0;
            if is_other && at > 0 && !is_count {
                return None;
            }
        }
        let part = |word: &str| -> Option<&'t [Placed]> {
            let Some(place) = places.iter().position(|(_, known)| *known == word) else { return Some(&[]) };
            let start = places.get(place)?.0.checked_add(1)?;
            let end = places.get(place.checked_add(1)?).map_or(select.len(), |next| next.0);
            select.get(start..end)
        };
        // Each part once, in this order.
        let order = places.iter().map(|(_, word)| WORDS.iter().position(|known| known == word));
        if !order.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let first = |word: &str| places.iter().find(|(_, known)| *known == word).map(|(at, _)| *at);
        let tail = first("order").or(first("limit")).map_or(Some(&[][..]), |at| select.get(at..))?;
        Some(Self {
            items: select.get(1..first("from")?)?,
            from: part("from")?,
            filter: part("where")?,
            group: part("group")?,
            having: part("having")?,
            tail,
        })
    }
}

/// The place of some words in the text.
pub(super) fn span(tokens: &[Placed]) -> Option<Range<usize>> {
    Some(tokens.first()?.at.start..tokens.last()?.at.end)
}

/// One of two tables that are joined.
pub(super) struct Side {
    pub(super) file: Arc<OpenFile>,
    pub(super) table: usize,
    pub(super) columns: Vec<String>,
    pub(super) alias: String,
    /// The place of its name and alias in the text.
    pub(super) at: Range<usize>,
}

impl Side {
    pub(super) fn new(tokens: &[Placed], all: &[Placed], tables: &Tables<'_>) -> Option<Self> {
        let (file, table, alias) = table_of(tokens, all, tables)?;
        // A join of another kind.
        let is_word = |word: &&str| word.eq_ignore_ascii_case(&alias);
        if ["left", "right", "full", "cross", "natural", "inner", "outer"].iter().any(is_word) {
            return None;
        }
        Some(Self { columns: file.columns(table), file, table, alias, at: span(tokens)? })
    }

    pub(super) fn kind(&self, column: usize) -> Option<Kind> {
        Some(self.rows()?.columns().get(column)?.kind)
    }

    pub(super) fn rows(&self) -> Option<&dyn Table> {
        self.file.table(self.table)
    }

    pub(super) fn len(&self) -> usize {
        self.rows().and_then(|table| table.known_len()).unwrap_or(usize::MAX)
    }
}

/// Two tables that are joined, with ON or USING, and the tokens after it.
pub(super) type Sides<'t> = ([Side; 2], &'t Placed, &'t [Placed]);

/// The two tables of an inner join after FROM.
pub(super) fn sides_of<'t>(from: &'t [Placed], all: &[Placed], tables: &Tables<'_>) -> Option<Sides<'t>> {
    let join = from.iter().position(|token| token.is_word("join"))?;
    let left = from.get(..join)?;
    let left = match left {
        [left @ .., inner] if inner.is_word("inner") => left,
        left => left,
    };
    let rest = from.get(join.checked_add(1)?..)?;
    let on = rest.iter().position(|token| token.is_word("on") || token.is_word("using"))?;
    let sides = [Side::new(left, all, tables)?, Side::new(rest.get(..on)?, all, tables)?];
    let (word, on) = rest.get(on..)?.split_first()?;
    let [first, second] = &sides;
    (!first.alias.eq_ignore_ascii_case(&second.alias)).then_some((sides, word, on))
}

/// The columns of the first and of the second table that must be equal, if nothing else is after ON.
pub(super) fn equal_columns(sides: &[Side], on: &[Placed]) -> Option<[usize; 2]> {
    let (first, length) = column_of(sides, None, on)??;
    let (equal, rest) = on.get(length..)?.split_first()?;
    let (second, length) = column_of(sides, None, rest)??;
    if length != rest.len() || !(equal.is_sign("=") || equal.is_sign("==")) {
        return None;
    }
    match (first, second) {
        ((0, first), (1, second)) | ((1, second), (0, first)) => Some([first, second]),
        _ => None,
    }
}

/// The table and the column that the first of `tokens` name, and the number of these tokens; nothing within where they
/// name none. `None` for a name that both tables have.
pub(super) fn column_of(
    sides: &[Side],
    shared: Option<&str>,
    tokens: &[Placed],
) -> Option<Option<((usize, usize), usize)>> {
    let number = |side: &Side, name: &str| side.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
    let is_call = |at: usize| tokens.get(at).is_some_and(|next| next.is_sign("("));
    match tokens {
        [table, dot, column, ..] if dot.is_sign(".") => {
            let own =
                sides.iter().position(|side| table.name().is_some_and(|name| name.eq_ignore_ascii_case(&side.alias)));
            let found = own.and_then(|own| Some((own, number(sides.get(own)?, column.name()?)?)));
            Some(found.map(|found| (found, 3)))
        }
        [column, ..] if !is_call(1) => {
            let Some(name) = column.name() else { return Some(None) };
            let mut found = sides.iter().enumerate().filter_map(|(own, side)| Some((own, number(side, name)?)));
            match (found.next(), found.next()) {
                (Some(_), Some(_)) if shared.is_none_or(|shared| !shared.eq_ignore_ascii_case(name)) => None,
                (first, _) => Some(first.map(|first| (first, 1))),
            }
        }
        _ => Some(None),
    }
}

/// The one table after FROM, and the name by which the statement calls it.
pub(super) fn table_of(from: &[Placed], all: &[Placed], tables: &Tables<'_>) -> Option<(Arc<OpenFile>, usize, String)> {
    let (schema, name, rest) = match from {
        [schema, dot, name, rest @ ..] if dot.is_sign(".") => (Some(schema.name()?), name.name()?, rest),
        [name, rest @ ..] => (None, name.name()?, rest),
        [] => return None,
    };
    let alias = match rest {
        [] => name,
        [alias] => alias.name()?,
        [word, alias] if word.is_word("as") => alias.name()?,
        _ => return None,
    };
    // A common table expression of this name.
    let is_expression = |window: &[Placed]| match window {
        [other, next, ..] => {
            schema.is_none() && other.name().is_some_and(|other| other.eq_ignore_ascii_case(name)) && {
                next.is_word("as")
                    && window
                        .get(2)
                        .is_some_and(|open| open.is_sign("(") || open.is_word("materialized") || open.is_word("not"))
                    || next.is_sign("(")
            }
        }
        _ => false,
    };
    if all.first()?.is_word("with") && all.windows(3).any(is_expression) {
        return None;
    }
    let (file, table) = tables(schema, name)?;
    Some((file, table, alias.to_owned()))
}

/// The parts between commas that are in no brackets.
pub(super) fn split(tokens: &[Placed]) -> Vec<&[Placed]> {
    let mut depth = 0usize;
    let is_comma = |token: &Placed| {
        if token.is_sign("(") {
            depth = depth.saturating_add(1);
        } else if token.is_sign(")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is_sign(",")
    };
    tokens.split(is_comma).collect()
}

/// The name that an item of a SELECT is given.
pub(super) fn alias_of(item: &[Placed]) -> Option<&str> {
    match item {
        [.., word, alias] if word.is_word("as") => alias.name(),
        [.., before, alias] if before.name().is_some() => alias.name(),
        _ => None,
    }
}

pub(super) fn without_alias(item: &[Placed]) -> &[Placed] {
    match (alias_of(item), item) {
        (Some(_), [item @ .., word, _]) if word.is_word("as") => item,
        (Some(_), [item @ .., _]) => item,
        _ => item,
    }
}
