//! Questions: the condition of a row by `--where`, the same in SQL, and a plain loop over all rows find the same ones.

use super::cases;
use assetq::sql::{Input, Session, statements};
use assetq::table::filter::Filter;
use assetq::table::{Kind, Table, Value};
use assetq::{Asset, Source};
use assetq_sample::{FILES, Size};
use proptest::prelude::*;
use proptest::sample::Index;

/// A comparison of a column with what one of its cells holds.
#[derive(Debug, Clone)]
struct Asked {
    column: Index,
    row: Index,
    op: &'static str,
    is_null: bool,
}

fn asked() -> impl Strategy<Value = Asked> {
    let op = prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]);
    (any::<Index>(), any::<Index>(), op, prop::bool::weighted(0.1)).prop_map(|(column, row, op, is_null)| {
        let op = if is_null && op != "!=" { "=" } else { op };
        Asked { column, row, op, is_null }
    })
}

/// How a cell and a value compare: numbers by number, text by its bytes. A comparison with a cell that is null is unknown.
fn plainly(cell: &Value<'_>, op: &str, value: &Value<'_>) -> Option<bool> {
    let order = match (cell, value) {
        (cell, Value::Null) => return Some(matches!(cell, Value::Null) == (op == "=")),
        (Value::Null, _) => None,
        (Value::Bool(a), Value::Bool(b)) => a.partial_cmp(b),
        (Value::Uint(a), Value::Uint(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Int(b)) => a.partial_cmp(b),
        (Value::Id64(a), Value::Id64(b)) => a.partial_cmp(b),
        (Value::Id32(a), Value::Id32(b)) => a.partial_cmp(b),
        (Value::F32(a), Value::F32(b)) => a.partial_cmp(b),
        (Value::F64(a), Value::F64(b)) => a.partial_cmp(b),
        (a, b) => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => a.as_bytes().partial_cmp(b.as_bytes()),
            _ => panic!("{a:?} and {b:?} are of two kinds"),
        },
    };
    order.map(|order| match op {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// A value as a condition and a statement hold it; `None` for one that has no such form.
fn literals(value: &Value<'_>) -> Option<[String; 2]> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    Some(match value {
        Value::Bool(truth) => [truth.to_string(), i32::from(*truth).to_string()],
        Value::Int(_) | Value::Uint(0..=0x7FFF_FFFF_FFFF_FFFF) => [value.to_string(), value.to_string()],
        // Digits without a point or an exponent are an integer in SQL.
        Value::F32(number) if number.is_finite() => [value.to_string(), assetq::write::json::to_string(value).unwrap()],
        Value::F64(number) if number.is_finite() => [value.to_string(), value.to_string()],
        Value::Id64(_) | Value::Id32(_) => [quoted(&value.to_string()), quoted(&value.to_string())],
        value => {
            let text = value.as_text().filter(|text| !text.contains('\0'))?;
            [quoted(&text), quoted(&text)]
        }
    })
}

/// Columns whose cells are all of one kind that all three ways compare alike.
fn columns(table: &dyn Table) -> Vec<usize> {
    let plain = |kind: Kind| {
        matches!(
            kind,
            Kind::Bool | Kind::Int | Kind::Uint | Kind::F32 | Kind::F64 | Kind::Text | Kind::Id64 | Kind::Id32
        )
    };
    let columns = table.columns().iter().enumerate();
    columns.filter(|(_, column)| plain(column.kind)).map(|(at, _)| at).collect()
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn a_filter_sql_and_a_plain_loop_find_the_same_rows(
        seed in any::<u64>(),
        all in prop::collection::vec((asked(), asked(), any::<bool>(), any::<bool>()), FILES.len()),
    ) {
        for ((name, _, make), (first, second, both, not)) in FILES.iter().zip(&all) {
            let bytes = make(seed, Size::Small);
            let asset = Asset::open(Source::from_vec(name, bytes.clone())).unwrap();
            let input = Input::Asset(Asset::open(Source::from_vec(name, bytes)).unwrap());
            let session = Session::new(vec![((*name).to_owned(), input)], false).unwrap();
            for table in asset.reader().tables() {
                let (rows, columns) = (table.len().unwrap().min(2000), columns(&*table));
                if rows == 0 || columns.is_empty() {
                    continue;
                }
                let of = |asked: &Asked| {
                    let column = columns[asked.column.index(columns.len())];
                    let value = if asked.is_null { Value::Null } else { table.value(asked.row.index(rows), column).unwrap() };
                    let [literal, sql] = match &value {
                        Value::Null => ["null".to_owned(), "NULL".to_owned()],
                        value => literals(value)?,
                    };
                    let quoted = format!("\"{}\"", table.columns()[column].name.replace('"', "\"\""));
                    // `= null` of a condition is `IS NULL` of SQL.
                    let op = match (&value, asked.op) {
                        (Value::Null, "!=") => "!=",
                        (Value::Null, _) => "=",
                        // Neither truth is less than the other.
                        (Value::Bool(_), "<" | ">") => "!=",
                        (Value::Bool(_), "<=" | ">=") => "=",
                        (_, op) => op,
                    };
                    let in_sql = match (&value, op) { (Value::Null, "=") => "IS", (Value::Null, _) => "IS NOT", (_, op) => op };
                    Some((column, op, value.into_owned(), format!("{quoted} {op} {literal}"), format!("{quoted} {in_sql} {sql}")))
                };
                let (Some(a), Some(b)) = (of(first), of(second)) else { continue };
                let join = if *both { "and" } else { "or" };
                let negate = if *not { "not " } else { "" };
                let condition = format!("{negate}({} {join} {})", a.3, b.3);
                let statement = format!("SELECT rowid FROM \"{}\" WHERE {negate}({} {join} {})", table.name(), a.4, b.4);
                let holds = |row: usize| {
                    let cell = |of: &(usize, &str, Value<'static>, String, String)| {
                        plainly(&table.value(row, of.0).unwrap(), of.1, &of.2)
                    };
                    // One that is false decides `and`, one that is true decides `or`.
                    let decided = [cell(&a), cell(&b)].contains(&Some(!both));
                    let joined = if decided { Some(!both) } else { cell(&a).and(cell(&b)) };
                    joined == Some(!not)
                };
                let len = table.len().unwrap();
                let plain: Vec<usize> = (0..len).filter(|&row| holds(row)).collect();

                let bound = Filter::parse(&condition).unwrap().bind(table.columns()).unwrap();
                let mut filtered = Vec::new();
                let mut cursor = table.cursor(0);
                while cursor.advance().unwrap() {
                    if bound.matches(&*cursor).unwrap() {
                        filtered.push(cursor.row());
                    }
                }
                prop_assert_eq!(&filtered, &plain, "{} {} {}", name, table.name(), condition);
                // As the commands do it, which may look rows up.
                let mut selected = Vec::new();
                let mut walk = bound.walk_over(&*table, None);
                while walk.advance().unwrap() {
                    if bound.matches(&*walk).unwrap() {
                        selected.push(walk.row());
                    }
                }
                prop_assert_eq!(&selected, &plain, "{} {} {}", name, table.name(), condition);

                let mut asked = Vec::new();
                for statement in statements(&statement) {
                    session.ask(statement).unwrap().rows::<assetq::sql::Fault>(|cells| {
                        asked.push(cells[0].to_string().parse::<usize>().unwrap());
                        Ok(())
                    }).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                }
                asked.sort_unstable();
                prop_assert_eq!(&asked, &plain, "{} {}", name, statement);
            }
        }
    }

    /// A row by its number equals the row of a walk, and a row that a lookup by a cell finds has the cell.
    #[test]
    fn rows_are_the_same_whichever_way_they_are_come_to(seed in any::<u64>(), at in any::<Index>()) {
        for (name, _, make) in FILES {
            let asset = Asset::open(Source::from_vec(name, make(seed, Size::Small))).unwrap();
            for table in asset.reader().tables() {
                let len = table.len().unwrap();
                let show = |value: Value<'_>| format!("{value:?}");
                let mut walked = Vec::new();
                let mut cursor = table.cursor(0);
                while cursor.advance().unwrap() {
                    let cells = 0..table.columns().len();
                    walked.push(cells.map(|column| show(cursor.value(column).unwrap())).collect::<Vec<_>>());
                }
                prop_assert_eq!(walked.len(), len, "{} {}", name, table.name());
                if len == 0 {
                    continue;
                }
                let row = at.index(len);
                for (column, walked_cell) in walked[row].iter().enumerate() {
                    let value = table.value(row, column).unwrap();
                    prop_assert_eq!(&show(value.clone()), walked_cell, "{} {} {}", name, table.name(), row);
                    if !value.is_null() && let Some(found) = table.find(column, &value) {
                        let scanned: Vec<usize> = (0..len).filter(|&other| walked[other][column] == *walked_cell).collect();
                        let mut found = found.unwrap();
                        found.sort_unstable();
                        prop_assert_eq!(found, scanned, "{} {} {}", name, table.name(), column);
                    }
                }
                let mut later = table.cursor(row);
                prop_assert!(later.advance().unwrap());
                prop_assert_eq!(show(later.value(0).unwrap()), walked[row][0].clone());
            }
        }
    }
}
