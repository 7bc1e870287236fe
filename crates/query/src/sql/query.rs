//! Statements about one file in one expression.

use super::{Fault, Input, ResultColumn, Session, statements};
use crate::asset::Asset;
use crate::error::Result;
use crate::table::{Column, Kind, RowBuffer, Value};

/// Runs the statements of `sql` over the tables of `asset`, and returns the rows of the last statement with a result. All
/// rows are held in memory; [`Session`] streams them.
///
/// ```
/// # fn main() -> assetq::Result<()> {
/// # let sheet = assetq_sample::wdb::demo(1, assetq_sample::Size::Small);
/// # let asset = assetq::Asset::open(assetq::Source::from_vec("sheet.wdb", sheet))?;
/// for row in &assetq::sql::query(&asset, "SELECT record, u9SaveIndex AS save FROM records LIMIT 2")? {
///     println!("{}", row?.get::<i64>("save")?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Syntax` for a statement that SQLite refuses, and the damage of a row that it reads.
pub fn query(asset: &Asset, sql: &str) -> Result<RowBuffer> {
    let session = Session::new(vec![(asset.source().stem().to_owned(), Input::Asset(asset.clone()))], false)?;
    let mut last = RowBuffer::default();
    for statement in statements(sql) {
        let mut answer = session.ask(statement)?;
        let mut rows = Vec::new();
        answer.rows(|cells| {
            rows.push(cells.iter().map(|cell| cell.clone().into_owned()).collect());
            Ok::<(), Fault>(())
        })?;
        if !answer.columns().is_empty() {
            last = buffer(answer.columns(), rows);
        }
    }
    Ok(last)
}

/// Rows of SQLite with the kinds that all cells of a column have, because SQL promises none.
pub fn buffer(columns: &[ResultColumn], mut rows: Vec<Vec<Value<'static>>>) -> RowBuffer {
    let columns = columns.iter().enumerate();
    let columns = columns.map(|(n, column)| Column::named(column.name.clone(), settle(&mut rows, n, column.kind)));
    RowBuffer::new("answer", columns.collect(), rows)
}

/// The kind that all cells of a column have.
fn settle(rows: &mut [Vec<Value<'static>>], column: usize, declared: Option<Kind>) -> Kind {
    let mut kind = declared;
    for cell in rows.iter().filter_map(|row| row.get(column)) {
        let of_cell = match cell {
            Value::Null => continue,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::F64(_) => Kind::F64,
            Value::Text(_) | Value::List(_) | Value::Map(_) => match kind {
                Some(kind) if !matches!(kind, Kind::Bool | Kind::Int | Kind::F64) => kind,
                Some(_) => Kind::Any,
                None => Kind::Text,
            },
            _ => Kind::Any,
        };
        kind = Some(match (kind, of_cell) {
            (None, of_cell) => of_cell,
            (Some(kind), of_cell) if kind == of_cell => kind,
            (Some(Kind::Int), Kind::F64) | (Some(Kind::F64), Kind::Int) => Kind::F64,
            _ => Kind::Any,
        });
    }
    if kind == Some(Kind::F64) {
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Value::Int(number) = cell {
                #[expect(clippy::cast_precision_loss, reason = "as SQLite does where it adds the two")]
                let number = *number as f64;
                *cell = Value::F64(number);
            }
        }
    }
    kind.unwrap_or(Kind::Any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use assetq_sample::{Size, wdb};

    /// SQLite promises no kind for a computed column: whole numbers next to fractions are fractions, and a column of numbers and texts
    /// has any kind.
    #[test]
    fn a_column_of_an_answer_has_the_kind_of_all_its_cells() {
        let asset = Asset::open(Source::from_vec("sheet.wdb", wdb::demo(1, Size::Small))).unwrap();
        for (cells, kind, shown) in [
            ("1, 2", Kind::Int, vec![Value::Int(1), Value::Int(2)]),
            ("1, 2.5", Kind::F64, vec![Value::F64(1.0), Value::F64(2.5)]),
            ("2.5, 1", Kind::F64, vec![Value::F64(2.5), Value::F64(1.0)]),
            ("'a', 'b'", Kind::Text, vec!["a".into(), "b".into()]),
            ("1, 'b'", Kind::Any, vec![Value::Int(1), "b".into()]),
            ("'a', 2", Kind::Any, vec!["a".into(), Value::Int(2)]),
            ("NULL, 'b'", Kind::Text, vec![Value::Null, "b".into()]),
            ("NULL, NULL", Kind::Any, vec![Value::Null, Value::Null]),
        ] {
            let statement = format!("SELECT {}", cells.replace(", ", " AS cell UNION ALL SELECT "));
            let answer = query(&asset, &statement).unwrap();
            let values: Vec<Value<'_>> = answer.values().iter().map(|row| row[0].clone()).collect();
            assert_eq!((crate::table::Table::columns(&answer)[0].kind, values), (kind, shown), "{cells}");
        }
    }
}
