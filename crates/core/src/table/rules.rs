//! Rules between rows, which columns declare: [`Column::unique`] and [`Column::refers_to`](super::Column::refers_to).

use super::{Column, Table, Value, advance};
use crate::compare::hash_value;
use crate::error::{Error, ErrorKind};
use crate::report::{Check, counted};
use crate::writable::{short, whole_number};
use std::collections::HashSet;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// The hashes of what a cell refers to: its items, or itself.
pub fn references<'v>(value: &'v Value<'v>, state: &RandomState) -> impl Iterator<Item = (u64, &'v Value<'v>)> {
    let items = match value {
        Value::List(items) => items,
        Value::Null => &[][..],
        one => std::slice::from_ref(one),
    };
    items.iter().map(|item| {
        let mut hasher = state.build_hasher();
        match whole_number(item) {
            Some(number) => hasher.write_i128(number),
            None => hash_value(item, &mut hasher),
        }
        (hasher.finish(), item)
    })
}

/// Checks the rules that the columns of `tables` declare, one check a column. A damaged cell breaks no rule.
pub fn check(tables: &[Box<dyn Table + '_>]) -> Vec<Check> {
    let state = RandomState::new();
    let mut checks = Vec::new();
    for table in tables {
        for (at, column) in table.columns().iter().enumerate() {
            if column.unique {
                checks.push(check_unique(&**table, at, column, &state));
            }
            if let Some(target) = column.refers_to.and_then(|name| tables.iter().find(|table| table.name() == name)) {
                checks.push(check_references(&**table, at, column, &**target, &state));
            }
        }
    }
    checks
}

/// Calls `each` with the row and the hash of every value in a column, and with the value.
fn each_reference(table: &dyn Table, column: usize, state: &RandomState, mut each: impl FnMut(usize, u64, &Value<'_>)) {
    let mut rows = table.cursor_over(0, Some(&[column]));
    while advance(&mut *rows, drop) {
        if let Ok(value) = rows.value(column) {
            references(&value, state).for_each(|(hash, item)| each(rows.row(), hash, item));
        }
    }
}

fn broken(table: &dyn Table, row: usize, what: String) -> Error {
    Error::of_part(ErrorKind::Damaged { what: what.into() }, format!("{} row {row}", table.name()))
}

fn check_unique(table: &dyn Table, at: usize, column: &Column, state: &RandomState) -> Check {
    let mut check = Check::new(format!("{}.{}", table.name(), column.name));
    let mut seen = HashSet::new();
    each_reference(table, at, state, |row, hash, value| {
        if !seen.insert(hash) {
            let name = &column.name;
            check.fail_with(|| broken(table, row, format!("column {name}: another row has {}, too", short(value))));
        }
    });
    check.with_detail(counted(seen.len(), "different value"))
}

fn check_references(table: &dyn Table, at: usize, column: &Column, target: &dyn Table, state: &RandomState) -> Check {
    let mut check = Check::new(format!("{}.{}", table.name(), column.name));
    let Some(id) = target.columns().iter().position(|column| column.unique) else { return check };
    let mut known = HashSet::new();
    each_reference(target, id, state, |_, hash, _| {
        known.insert(hash);
    });
    let mut count = 0u64;
    each_reference(table, at, state, |row, hash, value| {
        count += 1;
        if !known.contains(&hash) {
            let (name, target) = (&column.name, target.name());
            check.fail_with(|| broken(table, row, format!("column {name}: no row of {target} is {}", short(value))));
        }
    });
    check.with_detail(format!("{} to {}", counted(count, "reference"), target.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{DeclaredTable, Kind};

    #[test]
    fn a_unique_column_has_each_value_once_also_in_lists_and_null_is_none() {
        let cells = [Value::Uint(1), Value::Null, Value::List(vec![2u64.into(), 1u64.into()]), Value::Null];
        let column = Column { unique: true, ..Column::new("n", Kind::Nested) };
        let table = DeclaredTable::new("numbers", || Ok(4), |row| Ok(Some(row)))
            .column(column, |row| Ok(cells[*row].borrowed()));
        let checks = check(&[Box::new(table)]);
        let said = format!("{checks:?}");
        assert!(checks.len() == 1 && said.contains("numbers row 2: column n: another row has 1, too"), "{said}");
    }
}
