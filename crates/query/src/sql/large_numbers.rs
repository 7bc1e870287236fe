//! Ids from 2^63 up that a statement has as numbers. SQLite has no such whole numbers: it rounds a decimal one to a float, and takes a
//! hexadecimal one as a number below 0. In a comparison with an id both are texts that no id has.

use super::fault::Fault;
use super::script::skip;
use crate::threads::lock;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};
use std::collections::HashMap;
use std::sync::Mutex;

/// The numbers from 2^63 up in the statements of a connection, by what SQLite makes of them.
#[derive(Debug, Default)]
pub(super) struct LargeNumbers(Mutex<KnownNumbers>);

/// Numbers of more than 64 bits are no ids, and may be equal to ids in SQLite.
#[derive(Debug, Default)]
struct KnownNumbers {
    /// The numbers by the text that SQLite compares with texts.
    by_text: HashMap<String, u128>,
    /// The numbers by the bits of the float that SQLite rounds them to.
    by_float: HashMap<u64, u128>,
}

impl LargeNumbers {
    /// Notes the numbers of a statement. Later statements may read a view that has them.
    ///
    /// # Errors
    /// When two numbers are one number to SQLite.
    pub(super) fn note(&self, sql: &str, connection: &Connection) -> Result<(), Fault> {
        let mut known = lock(&self.0);
        for (digits, number) in large_numbers(sql) {
            let query = format!("SELECT {digits}, CAST({digits} AS TEXT)");
            let asked = connection.query_row(&query, [], |row| Ok((row.get::<_, Value>(0)?, row.get::<_, String>(1)?)));
            // A number that SQLite refuses is an error of the statement.
            let Ok((held, text)) = asked else { continue };
            if let Some(other) = known.by_text.get(&text).filter(|other| **other != number) {
                let what = format!("SQL rounds numbers from 2^63 up, so that {other} and {number} are equal");
                return Err(Fault::message(format!("{what}: write ids in quotes, as in '{number}'")));
            }
            known.by_text.insert(text, number);
            if let Value::Real(float) = held {
                known.by_float.insert(float.to_bits(), number);
            }
        }
        Ok(())
    }

    /// The number that SQLite has as `value`.
    pub(super) fn number(&self, value: ValueRef<'_>) -> Option<u64> {
        let known = lock(&self.0);
        let number = match value {
            ValueRef::Text(text) => known.by_text.get(str::from_utf8(text).ok()?),
            ValueRef::Integer(number) if number < 0 => known.by_text.get(itoa::Buffer::new().format(number)),
            ValueRef::Real(float) => known.by_float.get(&float.to_bits()),
            _ => None,
        };
        u64::try_from(*number?).ok()
    }
}

/// The whole numbers from 2^63 up in a statement, with their digits there.
fn large_numbers(sql: &str) -> impl Iterator<Item = (&str, u128)> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        while let Some(c) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = skip(rest).map_or(word.max(c.len_utf8()), |(length, _)| length);
            let (token, after) = rest.split_at(length);
            rest = after;
            if let Some(number) = whole_number(token).filter(|number| *number >= 1 << 63) {
                return Some((token, number));
            }
        }
        None
    })
}

/// The value of a whole number in a statement: decimal, or hexadecimal after `0x`. Digits may be divided by `_`.
fn whole_number(token: &str) -> Option<u128> {
    if !token.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = token.replace('_', "");
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_two_to_the_63_up_are_found_outside_of_quotes_and_comments() {
        let numbers = |sql| large_numbers(sql).map(|(_, number)| number).collect::<Vec<_>>();
        assert_eq!(
            numbers("id=9223372036854775808 OR id IN (0xFFFFFFFFFFFFFFFE,0X8000000000000001)"),
            [1 << 63, (1 << 64) - 2, (1 << 63) + 1]
        );
        assert_eq!(numbers("SELECT 18_446_744_073_709_551_615, 18446744073709551616"), [(1 << 64) - 1, 1 << 64]);
        for sql in [
            "SELECT 9223372036854775807, 0x7FFFFFFFFFFFFFFF, 1e19, 92233720368547758.08",
            "SELECT '9223372036854775808', \"9223372036854775808\" -- 9223372036854775808",
            "SELECT a9223372036854775808, é9223372036854775808, _9223372036854775808",
            "SELECT 0x, 0xé, 9é",
        ] {
            assert_eq!(numbers(sql), [0; 0], "{sql}");
        }
    }

    #[test]
    fn a_number_is_known_by_what_sqlite_makes_of_it() {
        let connection = Connection::open_in_memory().unwrap();
        let numbers = LargeNumbers::default();
        numbers.note("SELECT 10846579268199408787, 0x9686CA6075246493", &connection).unwrap();
        for value in ["10846579268199408787", "0x9686CA6075246493"] {
            for sql in [format!("SELECT {value}"), format!("SELECT CAST({value} AS TEXT)")] {
                let held: Value = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
                assert_eq!(numbers.number(ValueRef::from(&held)), Some(0x9686_CA60_7524_6493), "{sql}");
            }
        }
        assert_eq!(numbers.number(ValueRef::Real(1.0)), None);
        // The same one again is known, and SQLite rounds its neighbour to the same float.
        numbers.note("SELECT 10846579268199408787, 18446744073709551615", &connection).unwrap();
        for neighbour in ["10846579268199408788", "18446744073709551616"] {
            let fault = numbers.note(&format!("SELECT {neighbour}"), &connection).unwrap_err().to_string();
            assert!(fault.ends_with(&format!("write ids in quotes, as in '{neighbour}'")), "{fault}");
        }
    }
}
