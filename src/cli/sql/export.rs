//! Answers written as files that hold a table, as `export` writes them.

use super::{SqlArgs, show, watched};
use crate::cli::export::{KindArg, RowSource, check_bom, table_kind, write, write_bom};
use crate::cli::stdout::is_stdout;
use crate::cli::{Context, Failure};
use crate::sql::{Answer, Session, statements};
use crate::table::{Column, Kind, Value};
use crate::write::rows::RowSink;
use std::path::Path;

/// Whether no statement changes a row. A statement that is not understood counts as a change: its error is reported when it
/// runs.
pub(super) fn is_query(text: &str, session: &Session) -> bool {
    statements(text)
        .all(|statement| statement.is_query_or_edit() && session.ask(statement).is_ok_and(|answer| answer.is_query()))
}

/// Writes the answer of the statements into OUT of `--to`, or only shows it with `--dry-run`.
pub(super) fn run(text: &str, args: &SqlArgs, session: &Session, context: &Context) -> Result<(), Failure> {
    let output = &args.output;
    let option = [(output.in_place, "--in-place"), (output.undo.is_some(), "--undo"), (args.into.is_some(), "--into")];
    if let Some((_, option)) = option.iter().find(|(is_given, _)| *is_given) {
        let what = format!("SQL: these statements change nothing: their answer goes to --to OUT, without {option}");
        return Err(Failure::usage(what));
    }
    let mut all = statements(text);
    let (Some(statement), None) = (all.next(), all.next()) else {
        return Err(Failure::usage("SQL: --to OUT takes the answer of one statement"));
    };
    let mut answer = session.ask(statement)?;
    let file = output.to.as_deref().filter(|to| !is_stdout(to));
    let kind = file.map(table_kind).transpose()?;
    check_bom(args.bom, kind)?;
    watched(session, context, || match file.zip(kind).filter(|_| !output.dry_run) {
        Some((to, kind)) => into(to, kind, &mut answer, args, session, context),
        None => show(&mut answer, context.row_form(), context),
    })
}

fn into(
    to: &Path,
    kind: KindArg,
    answer: &mut Answer<'_>,
    args: &SqlArgs,
    session: &Session,
    context: &Context,
) -> Result<(), Failure> {
    context.check_new(to, args.output.force)?;
    let kinds = if kind.has_types() { kinds(answer, session)? } else { vec![Kind::Any; answer.columns().len()] };
    let names = answer.columns().iter().map(|column| column.name.clone());
    let columns: Vec<Column> = names.zip(&kinds).map(|(name, kind)| Column::named(name, *kind)).collect();
    let metadata = [("assetq.version", env!("CARGO_PKG_VERSION").to_owned())];
    context.create(to, args.output.force, |out| {
        write_bom(args.bom, to, out)?;
        write(to, kind, out, &columns, &metadata, TypedAnswer { answer, kinds })
    })
}

/// The kind of each column, by all of its cells: whole numbers among floats are floats if they are exact as such, and any other column
/// of several kinds is one of text.
fn kinds(answer: &mut Answer<'_>, session: &Session) -> Result<Vec<Kind>, Failure> {
    /// Doubles hold all whole numbers up to here.
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    let mut kinds: Vec<(Option<Kind>, bool)> = vec![(None, true); answer.columns().len()];
    answer.rows::<Failure>(|cells| {
        for ((kind, is_exact), cell) in kinds.iter_mut().zip(cells) {
            let of_cell = match cell.kind() {
                None => continue,
                Some(kind @ (Kind::Bool | Kind::Int | Kind::F64 | Kind::Nested)) => kind,
                Some(_) => Kind::Text,
            };
            *is_exact &= !matches!(cell, Value::Int(number) if number.unsigned_abs() > EXACT);
            *kind = Some(match (*kind, of_cell) {
                (Some(Kind::Int), Kind::F64) | (Some(Kind::F64), Kind::Int) => Kind::F64,
                (Some(kind), of_cell) if kind != of_cell => Kind::Any,
                (_, of_cell) => of_cell,
            });
        }
        Ok(())
    })?;
    // The rows are read again, and damage is counted then.
    session.take_left_out();
    let known = answer.columns().iter().map(|column| column.kind);
    let kinds = kinds.into_iter().zip(known).map(|((kind, is_exact), known)| match kind.or(known) {
        Some(Kind::F64) if !is_exact => Kind::Any,
        kind => kind.unwrap_or(Kind::Any),
    });
    Ok(kinds.collect())
}

/// An answer, and the kinds of its columns.
struct TypedAnswer<'a, 's> {
    answer: &'a mut Answer<'s>,
    kinds: Vec<Kind>,
}

impl RowSource for TypedAnswer<'_, '_> {
    fn rows_into(self, mut sink: impl RowSink) -> Result<(), Failure> {
        let Self { answer, kinds } = self;
        let has_floats = kinds.contains(&Kind::F64);
        answer.rows::<Failure>(|cells| {
            if !has_floats {
                return Ok(sink.row(cells)?);
            }
            let cells = cells.iter().zip(&kinds).map(|(cell, kind)| match cell {
                #[expect(clippy::cast_precision_loss, reason = "a column with others is no column of floats")]
                Value::Int(number) if *kind == Kind::F64 => Value::F64(*number as f64),
                cell => cell.borrowed(),
            });
            Ok(sink.row(&cells.collect::<Vec<_>>())?)
        })?;
        Ok(sink.finish()?)
    }
}
