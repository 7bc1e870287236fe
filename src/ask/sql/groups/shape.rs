//! The questions that are answered by groups, and the statements that take their answers from them.

use super::clauses::{
    COMPOUND, Clauses, Side, Tables, alias_of, column_of, end_of, equal_columns, sides_of, span, split, without_alias,
};
use super::condition::{Condition, Parser};
use super::sources::SourceTables;
use super::token::{Placed, Token, tokens};
use crate::ask::sql::cells::declared;
use crate::ask::sql::file::OpenFile;
use crate::ask::sql::names::quoted;
use crate::table::{Column, Kind};
use std::ops::Range;
use std::sync::Arc;

/// The most columns that rows are grouped by.
pub(super) const MOST_KEYS: usize = 4;
/// The most aggregates of one question.
const MOST_CALLS: usize = 16;

/// An aggregate of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) what: What,
    /// `None` for `count(*)`.
    pub(super) column: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Count,
    CountDistinct,
    Sum,
    Total,
    Avg,
    Min,
    Max,
}

impl What {
    fn of(name: &str) -> Option<Self> {
        const NAMES: [(&str, What); 6] = [
            ("count", What::Count),
            ("sum", What::Sum),
            ("total", What::Total),
            ("avg", What::Avg),
            ("min", What::Min),
            ("max", What::Max),
        ];
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, what)| *what)
    }

    /// Whether the answer for cells of this kind is the same in whichever order they are read.
    fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Count => true,
            Self::CountDistinct => is_key(kind),
            Self::Sum | Self::Total | Self::Avg => matches!(kind, Kind::Bool | Kind::Int | Kind::Uint),
            Self::Min | Self::Max => kind != Kind::Guid && is_key(kind) || matches!(kind, Kind::F32 | Kind::F64),
        }
    }
}

/// Whether equal cells of this kind are one group in SQLite, too.
pub(super) const fn is_key(kind: Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::Int | Kind::Uint | Kind::Id64 | Kind::Id32 | Kind::Guid | Kind::Text)
}

/// The aggregate that a part of a statement begins with. `None` if it begins with a call of a function, other than those
/// of `PLAIN` and `also`, whose value need not be the same for a whole group.
fn aggregate(part: &[Placed], also: &[&str]) -> Option<Option<What>> {
    let [Placed { token: Token::Word(word), .. }, open, ..] = part else { return Some(None) };
    if !open.is_sign("(") {
        return Some(None);
    }
    let what = What::of(word);
    let is_plain = || also.iter().chain(&PLAIN).any(|known| known.eq_ignore_ascii_case(word));
    (what.is_some() || is_plain()).then_some(what)
}

/// A question about the rows of one table, or of two that are joined.
pub(in crate::ask::sql) struct Question {
    pub(super) source: Source,
    /// The columns whose cells make a group.
    pub(super) keys: Vec<usize>,
    /// The declarations of these columns in SQL.
    pub(super) declared: Vec<String>,
    /// Whether the groups descend by each of these columns.
    pub(super) descends: Vec<bool>,
    /// Whether rows are grouped: without, all rows are one group, which exists without rows.
    pub(super) is_grouped: bool,
    pub(super) calls: Vec<Call>,
    pub(super) condition: Option<Condition>,
    /// The groups that LIMIT leaves; `None` for all.
    pub(super) first: Option<First>,
}

/// The tables of a question, by their numbers in their files.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) table: (Arc<OpenFile>, usize),
    /// The second table, and the columns of both that are equal. The columns of the second follow the columns of the first.
    pub(super) joined: Option<(Arc<OpenFile>, usize, [usize; 2])>,
}

impl Source {
    fn of(side: &Side) -> Self {
        Self { table: (Arc::clone(&side.file), side.table), joined: None }
    }

    /// The tables; `None` if there is no such table, or the tables cannot be joined here.
    pub(super) fn tables(&self) -> Option<SourceTables<'_>> {
        let (file, table) = &self.table;
        let first = file.table(*table)?;
        match &self.joined {
            None => Some(SourceTables::one(first)),
            Some((file, table, on)) => SourceTables::two([first, file.table(*table)?], *on),
        }
    }
}

/// The first groups by ORDER BY.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct First {
    pub(super) count: usize,
    /// Places among the columns of the question and its aggregates, and whether the groups descend by them.
    pub(super) terms: Vec<(usize, bool)>,
}

impl First {
    /// The first terms, as far as they are aggregates, by their numbers.
    pub(super) fn leading_calls(&self, keys: usize) -> Vec<(usize, bool)> {
        self.terms.iter().map_while(|(term, descends)| Some((term.checked_sub(keys)?, *descends))).collect()
    }
}

/// Rewrites the parts of a statement that are such questions, so that each takes its rows from the table of groups that
/// `name` names. `None` if no part is.
pub(in crate::ask::sql) fn rewrite(
    text: &str,
    tables: &Tables<'_>,
    name: &mut dyn FnMut(Question) -> String,
) -> Option<String> {
    let all = tokens(text)?;
    if !all.first().is_some_and(|first| first.is_word("select") || first.is_word("with")) {
        return None;
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (at, token) in all.iter().enumerate() {
        if token.is_word("select") {
            let end = end_of(&all, at);
            let Some(clauses) = all.get(at..end).and_then(Clauses::new) else { continue };
            let select = || Select::new(&clauses, &all, tables).or_else(|| Select::joined(&clauses, &all, tables));
            if let Some(select) = select() {
                edits.extend(select.edits(name));
            } else if let Some(join) = Join::new(&clauses, &all, tables) {
                edits.extend(join.edits(name));
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    let mut rewritten = String::new();
    let mut from = 0usize;
    edits.sort_by_key(|(at, _)| at.start);
    for (at, new) in edits {
        rewritten.push_str(text.get(from..at.start)?);
        rewritten.push_str(&new);
        from = at.end;
    }
    rewritten.push_str(text.get(from..)?);
    Some(rewritten)
}

/// A SELECT of one table, or of two that are joined.
struct Select<'c, 't> {
    clauses: &'c Clauses<'t>,
    sides: Vec<Side>,
    source: Source,
    /// The columns of all tables, as the file has them, and their names in SQL.
    columns: Vec<Column>,
    names: Vec<String>,
    keys: Vec<usize>,
    /// Grouped columns that are named with their tables.
    references: Vec<(Range<usize>, usize)>,
    calls: Vec<(Range<usize>, Call)>,
    condition: Option<Condition>,
    /// Whether ORDER BY and LIMIT are about it alone, and not about a compound of several.
    is_whole: bool,
}

/// Words and functions before a bracket that have one meaning for a row, so that they may be about groups as well.
const PLAIN: [&str; 34] = [
    "abs", "and", "as", "between", "by", "case", "cast", "coalesce", "else", "format", "glob", "hex", "ifnull", "iif",
    "in", "instr", "length", "like", "limit", "lower", "ltrim", "not", "nullif", "or", "path_id", "printf", "replace",
    "round", "rtrim", "substr", "then", "trim", "upper", "when",
];

impl<'c, 't> Select<'c, 't> {
    fn new(clauses: &'c Clauses<'t>, all: &[Placed], tables: &Tables<'_>) -> Option<Self> {
        let side = Side::new(clauses.from, all, tables)?;
        let source = Source::of(&side);
        Self::of(clauses, vec![side], source, all)
    }

    /// A SELECT of two tables that are joined by an equal pair of ids or whole numbers.
    fn joined(clauses: &'c Clauses<'t>, all: &[Placed], tables: &Tables<'_>) -> Option<Self> {
        let (sides, word, on) = sides_of(clauses.from, all, tables)?;
        let on = equal_columns(&sides, on).filter(|_| word.is_word("on"))?;
        let [first, second] = &sides;
        let joined = Some((Arc::clone(&second.file), second.table, on));
        let source = Source { joined, ..Source::of(first) };
        let this = Self::of(clauses, sides.into(), source, all)?;
        // Equal floats may differ by their signs, and SQLite keeps the one of the first row.
        let depends_on_order = |(_, call): &(_, Call)| {
            let kind = call.column.and_then(|column| this.kind(column));
            matches!(call.what, What::Min | What::Max) && matches!(kind, Some(Kind::F32 | Kind::F64))
        };
        let mut names: Vec<String> =
            this.keys.iter().filter_map(|key| Some(this.names.get(*key)?.to_lowercase())).collect();
        names.sort_unstable();
        let is_sure =
            !this.calls.iter().any(depends_on_order) && names.windows(2).all(|pair| pair.first() != pair.last());
        is_sure.then_some(this)
    }

    fn of(clauses: &'c Clauses<'t>, sides: Vec<Side>, source: Source, all: &[Placed]) -> Option<Self> {
        let is_compound = |token: &Placed| COMPOUND.iter().any(|word| token.is_word(word));
        let is_whole = !all.iter().any(is_compound);
        let columns = source.tables()?.columns().cloned().collect();
        let mut names = Vec::new();
        for side in &sides {
            names.extend(side.columns.iter().cloned());
            // SQL knows the first columns of a wide table only, and the numbers of others are not used.
            names.resize(
                names.len().checked_add(side.rows()?.columns().len())?.checked_sub(side.columns.len())?,
                String::new(),
            );
        }
        let (keys, references, calls, condition) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut this = Self { clauses, sides, source, columns, names, keys, references, calls, condition, is_whole };
        this.keys = this.read_keys()?;
        for part in [clauses.items, clauses.having, clauses.tail] {
            this.read_calls(part)?;
        }
        let is_question = (!this.calls.is_empty() || !clauses.group.is_empty()) && this.calls.len() <= MOST_CALLS;
        this.condition = this.read_condition()?;
        is_question.then_some(this)
    }

    /// The column that the first of `tokens` names, perhaps after the name of its table, and the number of these tokens.
    fn column(&self, tokens: &[Placed]) -> Option<(usize, usize)> {
        let ((side, column), length) = column_of(&self.sides, None, tokens)??;
        let before = self.sides.iter().take(side).filter_map(|side| Some(side.rows()?.columns().len())).sum::<usize>();
        Some((before.checked_add(column)?, length))
    }

    fn is_column(&self, tokens: &[Placed]) -> Option<usize> {
        self.column(tokens).filter(|(_, length)| *length == tokens.len()).map(|(column, _)| column)
    }

    fn kind(&self, column: usize) -> Option<Kind> {
        Some(self.columns.get(column)?.kind)
    }

    /// The columns after GROUP BY: names, aliases of items, or numbers of items.
    fn read_keys(&self) -> Option<Vec<usize>> {
        let Some((by, keys)) = self.clauses.group.split_first() else { return Some(Vec::new()) };
        if !by.is_word("by") {
            return None;
        }
        let items: Vec<&[Placed]> = split(self.clauses.items);
        let mut columns = Vec::new();
        for key in split(keys) {
            let column = match key {
                [Placed { token: Token::Integer(number), .. }] => {
                    let item = items.get(usize::try_from(*number).ok()?.checked_sub(1)?)?;
                    self.is_column(without_alias(item))?
                }
                key => match self.is_column(key) {
                    Some(column) => column,
                    None => {
                        let [key] = key else { return None };
                        let name = key.name()?;
                        let item = items
                            .iter()
                            .find(|item| alias_of(item).is_some_and(|alias| alias.eq_ignore_ascii_case(name)));
                        self.is_column(without_alias(item?))?
                    }
                },
            };
            if !is_key(self.kind(column)?) {
                return None;
            }
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        (columns.len() <= MOST_KEYS).then_some(columns)
    }

    /// The groups that LIMIT leaves, where it is a number and all terms of ORDER BY are grouped columns and aggregates that are
    /// numbers, in SQLite's plain order.
    fn first(&self) -> Option<First> {
        let tail = self.clauses.tail;
        let limit = tail.iter().position(|token| token.is_word("limit"))?;
        let [_, Placed { token: Token::Integer(count), .. }] = tail.get(limit..)? else { return None };
        let [order, by, terms @ ..] = tail.get(..limit)? else { return None };
        if !self.is_whole || !order.is_word("order") || !by.is_word("by") || !self.clauses.having.is_empty() {
            return None;
        }
        let items = split(self.clauses.items);
        let place = |tokens: &[Placed]| {
            let is_number = |call: &Call| !matches!(call.what, What::Min | What::Max);
            let call = self.calls.iter().position(|(at, call)| span(tokens).as_ref() == Some(at) && is_number(call));
            let key = || self.keys.iter().position(|key| self.is_column(tokens) == Some(*key));
            call.and_then(|call| call.checked_add(self.keys.len())).or_else(key)
        };
        let term = |term: &[Placed]| {
            let (last, before) = term.split_last()?;
            let descends = last.is_word("desc");
            let term = if descends || last.is_word("asc") { before } else { term };
            let item = match term {
                [Placed { token: Token::Integer(number), .. }] => {
                    Some(*items.get(usize::try_from(*number).ok()?.checked_sub(1)?)?)
                }
                [name] => items.iter().copied().find(|item| {
                    alias_of(item).zip(name.name()).is_some_and(|(alias, name)| alias.eq_ignore_ascii_case(name))
                }),
                _ => None,
            };
            Some((place(item.map_or(term, without_alias))?, descends))
        };
        let terms: Option<Vec<(usize, bool)>> = split(terms).into_iter().map(term).collect();
        Some(First { count: usize::try_from(*count).ok()?, terms: terms? })
    }

    /// Reads the aggregates and the grouped columns in a part of the statement; `None` if anything else in it is not the
    /// same for a whole group.
    fn read_calls(&mut self, part: &[Placed]) -> Option<()> {
        let mut at = 0usize;
        while let Some(token) = part.get(at) {
            let rest = part.get(at..)?;
            if let Some(what) = aggregate(rest, &[])? {
                let (call, length) = self.call(what, rest.get(2..)?)?;
                let last = rest.get(length.checked_add(1)?)?;
                self.calls.push((token.at.start..last.at.end, call));
                at = at.checked_add(length)?.checked_add(2)?;
                continue;
            }
            let is_alias =
                at.checked_sub(1).and_then(|before| part.get(before)).is_some_and(|before| before.is_word("as"));
            match self.column(rest) {
                // An alias that is also the name of a column: the clause decides which of them counts.
                Some(_) if is_alias && self.keys.is_empty() => return None,
                Some((column, _)) if is_alias && !self.keys.contains(&column) => return None,
                Some((column, length)) if self.keys.contains(&column) => {
                    // A name alone means the same for groups.
                    let named = rest.get(..length).filter(|named| named.len() > 1).and_then(span);
                    self.references.extend(named.map(|named| (named, column)));
                    at = at.checked_add(length)?;
                }
                Some(_) => return None,
                None => {
                    let is_row_number = ["rowid", "oid", "_rowid_"].iter().any(|word| token.is_word(word));
                    // A star, or a name of another table.
                    let is_star = token.is_sign("*") && (at == 0 || part.get(at.checked_sub(1)?)?.is_sign(","));
                    if is_row_number || is_star || token.is_sign(".") {
                        return None;
                    }
                    at = at.checked_add(1)?;
                }
            }
        }
        Some(())
    }

    /// The aggregate with the arguments that `rest` begins with, and their number of tokens with the closing bracket.
    fn call(&self, mut what: What, rest: &[Placed]) -> Option<(Call, usize)> {
        let (first, after) = rest.split_first()?;
        if what == What::Count && first.is_sign("*") && after.first()?.is_sign(")") {
            return Some((Call { what, column: None }, 2));
        }
        let (rest, more) = match first.is_word("distinct") {
            true if what == What::Count => {
                what = What::CountDistinct;
                (after, 1usize)
            }
            // The least of different cells is the least of all.
            true if matches!(what, What::Min | What::Max) => (after, 1),
            true => return None,
            false => (rest, 0),
        };
        let (column, length) = self.column(rest)?;
        if !rest.get(length)?.is_sign(")") || !what.takes(self.kind(column)?) {
            return None;
        }
        Some((Call { what, column: Some(column) }, length.checked_add(more)?.checked_add(1)?))
    }

    /// The order of groups. SQLite sorts them as the terms of ORDER BY are sorted if there are as many terms, so that groups
    /// with equal terms remain in this order.
    fn descends(&self) -> Vec<bool> {
        let end = self.clauses.tail.iter().position(|token| token.is_word("limit"));
        let order = self.clauses.tail.get(..end.unwrap_or(self.clauses.tail.len())).unwrap_or_default();
        let terms = split(order);
        let by = self.clauses.group.get(1..).unwrap_or_default();
        let is_same = !order.is_empty() && terms.len() == split(by).len();
        let descends = |term: &&[Placed]| is_same && term.last().is_some_and(|last| last.is_word("desc"));
        let mut descends: Vec<bool> = terms.iter().map(descends).collect();
        descends.resize(self.keys.len(), false);
        descends
    }

    fn read_condition(&self) -> Option<Option<Condition>> {
        if self.clauses.filter.is_empty() {
            return Some(None);
        }
        let column = |tokens: &[Placed]| self.column(tokens);
        let parser = Parser { tokens: self.clauses.filter, columns: &self.columns, column: &column, at: 0, depth: 0 };
        let condition = parser.whole()?;
        (!condition.is_probe(&self.source.tables()?)).then_some(Some(condition))
    }

    /// The edits of the statement's text that take the rows from the groups.
    fn edits(&self, name: &mut dyn FnMut(Question) -> String) -> Vec<(Range<usize>, String)> {
        let question = Question {
            source: self.source.clone(),
            keys: self.keys.clone(),
            declared: declarations(&self.keys, &self.names, &self.columns),
            descends: self.descends(),
            is_grouped: !self.clauses.group.is_empty(),
            calls: self.calls.iter().map(|(_, call)| *call).collect(),
            condition: self.condition.clone(),
            first: self.first(),
        };
        let alias = self.sides.first().map(|side| quoted(&side.alias)).unwrap_or_default();
        let groups = format!("temp.{} AS {alias}", quoted(&name(question)));
        let mut edits: Vec<(Range<usize>, String)> =
            (0..).zip(&self.calls).map(|(number, (at, _))| (at.clone(), quoted(&call_name(number)))).collect();
        // Groups of joined rows have the name of the first table.
        let references = self
            .references
            .iter()
            .filter_map(|(at, column)| Some((at.clone(), format!("{alias}.{}", quoted(self.names.get(*column)?)))));
        edits.extend(references);
        let Clauses { from, filter, group, having, .. } = self.clauses;
        edits.extend(span(from).map(|at| (at, groups)));
        // The groups contain only rows that match WHERE. HAVING becomes the condition on groups.
        let end = |tokens: &[Placed]| tokens.last().map(|token| token.at.end);
        if let (Some(from), Some(to)) = (end(from), end(group).or(end(filter))) {
            edits.push((from..to, String::new()));
        }
        if let (Some(before), Some(having)) = (end(group).or(end(filter)).or(end(from)), span(having)) {
            edits.push((before..having.start, " WHERE ".to_owned()));
        }
        edits
    }
}

/// A SELECT of two tables that are joined by one pair of columns, with aggregates of one of them: `count(*)` of the rows is
/// the sum of the counts of its groups. Each group is one row of the join.
struct Join {
    own: Side,
    keys: Vec<usize>,
    calls: Vec<(Range<usize>, Call)>,
}

impl Join {
    fn new(clauses: &Clauses<'_>, all: &[Placed], tables: &Tables<'_>) -> Option<Self> {
        let (sides, word, on) = sides_of(clauses.from, all, tables)?;
        if clauses.group.is_empty() {
            return None;
        }
        let shared = match on {
            [open, column, close] if word.is_word("using") && open.is_sign("(") && close.is_sign(")") => {
                Some(column.name()?)
            }
            _ if word.is_word("using") => return None,
            on => equal_columns(&sides, on).map(|_| None)?,
        };
        let of = |own: usize| Self::of(own, &sides, shared, clauses);
        let [first, second] = &sides;
        let larger = usize::from(second.len() > first.len());
        let (own, keys, calls) = of(larger).or_else(|| of(1usize.checked_sub(larger)?))?;
        Some(Self { own: sides.into_iter().nth(own)?, keys, calls })
    }

    /// The columns by which the rows of table `own` must be grouped, and the aggregates, if all are about it.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn of(
        own: usize,
        sides: &[Side],
        shared: Option<&str>,
        clauses: &Clauses<'_>,
    ) -> Option<(usize, Vec<usize>, Vec<(Range<usize>, Call)>)> {
        let side = sides.get(own)?;
        let (mut keys, mut calls) = (Vec::new(), Vec::new());
        let joined = clauses.from.iter().position(|token| token.is_word("on") || token.is_word("using"))?;
        let parts =
            [clauses.items, clauses.from.get(joined..)?, clauses.filter, clauses.group, clauses.having, clauses.tail];
        for part in parts {
            let mut at = 0usize;
            while let Some(token) = part.get(at) {
                let rest = part.get(at..)?;
                if let Some(what) = aggregate(rest, &["on", "using"])? {
                    let (column, length) = match rest.get(2..)? {
                        [star, close, ..] if what == What::Count && star.is_sign("*") && close.is_sign(")") => {
                            (None, 1)
                        }
                        rest => {
                            let ((of, column), length) = column_of(sides, shared, rest)??;
                            let is_own = of == own && rest.get(length)?.is_sign(")");
                            (Some(column).filter(|_| is_own)?.into(), length)
                        }
                    };
                    let is_taken = match column {
                        Some(column) => what.takes(side.kind(column)?),
                        None => true,
                    };
                    // The parts of other aggregates do not add up.
                    if !is_taken || !matches!(what, What::Count | What::Sum | What::Min | What::Max) {
                        return None;
                    }
                    let end = rest.get(length.checked_add(2)?)?.at.end;
                    calls.push((token.at.start..end, Call { what, column }));
                    at = at.checked_add(length)?.checked_add(3)?;
                    continue;
                }
                let is_star = token.is_sign("*") && (at == 0 || part.get(at.checked_sub(1)?)?.is_sign(","));
                if is_star || ["rowid", "oid", "_rowid_", "distinct"].iter().any(|word| token.is_word(word)) {
                    return None;
                }
                match column_of(sides, shared, rest)? {
                    Some(((of, column), length)) => {
                        let is_alias = at.checked_sub(1).and_then(|at| part.get(at)).is_some_and(|t| t.is_word("as"));
                        if is_alias || of == own && !is_key(side.kind(column)?) {
                            return None;
                        }
                        if of == own && !keys.contains(&column) {
                            keys.push(column);
                        }
                        at = at.checked_add(length)?;
                    }
                    None if token.is_sign(".") => return None,
                    None => at = at.checked_add(1)?,
                }
            }
        }
        if let Some(shared) = shared {
            let column = side.columns.iter().position(|column| column.eq_ignore_ascii_case(shared))?;
            if !keys.contains(&column) {
                keys.push(column);
            }
        }
        let is_small = keys.len() <= MOST_KEYS && !calls.is_empty() && calls.len() <= MOST_CALLS;
        is_small.then_some((own, keys, calls))
    }

    fn edits(self, name: &mut dyn FnMut(Question) -> String) -> Vec<(Range<usize>, String)> {
        let Self { own, keys, calls } = self;
        let all = calls.iter().map(|(_, call)| *call).collect();
        let (descends, condition) = (vec![false; keys.len()], None);
        let columns = own.rows().map_or(&[][..], |table| table.columns());
        let question = Question {
            source: Source::of(&own),
            declared: declarations(&keys, &own.columns, columns),
            keys,
            descends,
            is_grouped: true,
            calls: all,
            condition,
            first: None,
        };
        let mut edits = vec![(own.at, format!("temp.{} AS {}", quoted(&name(question)), quoted(&own.alias)))];
        edits.extend((0..).zip(calls).map(|(number, (at, call))| {
            let sum = match call.what {
                What::Min => "min",
                What::Max => "max",
                _ => "sum",
            };
            (at, format!("{sum}({}.{})", quoted(&own.alias), quoted(&call_name(number))))
        }));
        edits
    }
}

/// The declarations of grouped columns in SQL.
fn declarations(keys: &[usize], names: &[String], columns: &[Column]) -> Vec<String> {
    let declare = |key: &usize| Some(format!("{} {}", quoted(names.get(*key)?), declared(columns.get(*key)?.kind)));
    keys.iter().filter_map(declare).collect()
}

/// The name of an aggregate in the table of groups.
pub(super) fn call_name(number: usize) -> String {
    format!("assetq {number}")
}
