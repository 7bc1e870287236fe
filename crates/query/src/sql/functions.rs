//! SQL functions in addition to SQLite's.

use super::cells::{ID_COLLATION, order_of_ids};
use super::large_numbers::LargeNumbers;
use crate::id;
use crate::regex;
use crate::table::Value;
use ::regex::Regex;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{self, ValueRef};
use rusqlite::{Connection, Error, Result};
use std::fmt::Write as _;
use std::sync::Arc;

/// The functions and their descriptions, for `.help` and for completion.
pub(super) const FUNCTIONS: [(&str, &str); 10] = [
    ("path_id('content/…')", "the id of a path"),
    ("name_id('…')", "the id of a name"),
    ("hex(id)", "a whole number as an id, 0x and 16 digits; anything else as SQLite's hex"),
    ("text REGEXP 'pattern'", "whether a regular expression finds something in the text"),
    ("sqrt(x)", "the square root"),
    ("pow(x, y)", "x to the power of y"),
    ("exp(x)", "e to the power of x; ln(x) is its inverse, log(x) the logarithm to base 10, log(b, x) to base b"),
    ("floor(x)", "the whole number below; ceil(x) the one above, trunc(x) the one towards zero"),
    (
        "sin(x)",
        "the sine of radians; also cos, tan, asin, acos, atan, atan2(y, x), sinh, cosh, tanh, asinh, acosh, atanh",
    ),
    ("pi()", "half a turn in radians; radians(x) and degrees(x) convert angles"),
];

pub(super) fn add(connection: &Connection, numbers: &Arc<LargeNumbers>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let large = Arc::clone(numbers);
    connection.create_collation(ID_COLLATION, move |a, b| order_of_ids(a, b, &large))?;
    connection.create_scalar_function("path_id", 1, flags, |context| {
        Ok(text(context, 0)?.map(|path| Value::Id64(id::of_path(&path)).to_string()))
    })?;
    connection.create_scalar_function("name_id", 1, flags, |context| {
        Ok(text(context, 0)?.map(|name| Value::Id32(id::of_name(&name)).to_string()))
    })?;
    let large = Arc::clone(numbers);
    connection.create_scalar_function("hex", 1, flags, move |context| Ok(hex(context.get_raw(0), &large)))?;
    connection.create_scalar_function("regexp", 2, flags, regexp)?;
    add_mathematics(connection, flags)
}

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// The mathematical functions that SQLite has only if it is compiled with them.
fn add_mathematics(connection: &Connection, flags: FunctionFlags) -> Result<()> {
    const OF_ONE: [(&str, OfOne); 20] = [
        ("acos", f64::acos),
        ("acosh", f64::acosh),
        ("asin", f64::asin),
        ("asinh", f64::asinh),
        ("atan", f64::atan),
        ("atanh", f64::atanh),
        ("cos", f64::cos),
        ("cosh", f64::cosh),
        ("degrees", f64::to_degrees),
        ("exp", f64::exp),
        ("ln", |x| positive(x).ln()),
        ("log", |x| positive(x).log10()),
        ("log10", |x| positive(x).log10()),
        ("log2", |x| positive(x).log2()),
        ("radians", f64::to_radians),
        ("sin", f64::sin),
        ("sinh", f64::sinh),
        ("sqrt", f64::sqrt),
        ("tan", f64::tan),
        ("tanh", f64::tanh),
    ];
    const OF_TWO: [(&str, OfTwo); 5] = [
        ("atan2", f64::atan2),
        ("log", |base, x| positive(x).ln() / positive(base).ln()),
        ("mod", |x, y| x % y),
        ("pow", f64::powf),
        ("power", f64::powf),
    ];
    const ROUNDING: [(&str, OfOne); 4] =
        [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];
    for (name, function) in OF_ONE {
        connection.create_scalar_function(name, 1, flags, move |context| Ok(number(context, 0).map(function)))?;
    }
    for (name, function) in OF_TWO {
        connection.create_scalar_function(name, 2, flags, move |context| {
            Ok(number(context, 0).zip(number(context, 1)).map(|(x, y)| function(x, y)))
        })?;
    }
    for (name, function) in ROUNDING {
        connection.create_scalar_function(name, 1, flags, move |context| match context.get_raw(0) {
            ValueRef::Integer(whole) => Ok(Some(types::Value::Integer(whole))),
            _ => Ok(number(context, 0).map(|x| types::Value::Real(function(x)))),
        })?;
    }
    connection.create_scalar_function("pi", 0, flags, |_| Ok(std::f64::consts::PI))
}

/// `x`, if it has a logarithm. SQLite turns NaN into null.
fn positive(x: f64) -> f64 {
    if x > 0.0 { x } else { f64::NAN }
}

/// An argument that is a number, or a text of one.
fn number(context: &Context<'_>, argument: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "SQLite computes with floats, too")]
    match context.get_raw(argument) {
        ValueRef::Integer(whole) => Some(whole as f64),
        ValueRef::Real(number) => Some(number),
        // Rust also reads words such as `inf`.
        ValueRef::Text(text) => str::from_utf8(text).ok()?.trim().parse().ok().filter(|x: &f64| x.is_finite()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// An argument as text; numbers are written out, as SQLite does.
fn text(context: &Context<'_>, argument: usize) -> Result<Option<String>> {
    Ok(match context.get_raw(argument) {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
    })
}

/// The bits of a whole number and the number of an id in its fixed form; bytes and other text byte by byte.
fn hex(value: ValueRef<'_>, numbers: &LargeNumbers) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Real(_) if let Some(number) = numbers.number(value) => Value::Id64(number).to_string(),
        ValueRef::Integer(number) => Value::Id64(number.cast_unsigned()).to_string(),
        ValueRef::Real(real) => digits(real.to_string().as_bytes()),
        ValueRef::Text(text @ [b'0', b'x' | b'X', ..])
            if let Some(id) = str::from_utf8(text).ok().and_then(id::parse) =>
        {
            Value::Id64(id).to_string()
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => digits(bytes),
    }
}

pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // To write to a text does not fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// `text REGEXP pattern`, which SQLite calls as `regexp(pattern, text)`.
fn regexp(context: &Context<'_>) -> Result<Option<bool>> {
    let (Some(pattern), Some(text)) = (text(context, 0)?, text(context, 1)?) else { return Ok(None) };
    let regex = context.get_or_create_aux(0, |_: ValueRef<'_>| {
        regex::parse(&pattern)
            .and_then(|_| Regex::new(&pattern).map_err(|error| regex::last_line(&error.to_string())))
            .map_err(|what| Error::UserFunctionError(format!("regular expression: {what}").into()))
    })?;
    Ok(Some(regex.is_match(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(sql: &str) -> rusqlite::types::Value {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection, &Arc::default()).unwrap();
        connection.query_row(&format!("SELECT {sql}"), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn hex_of_ids_and_of_everything_else() {
        let plain = |sql: &str| -> rusqlite::types::Value {
            Connection::open_in_memory().unwrap().query_row(&format!("SELECT {sql}"), [], |row| row.get(0)).unwrap()
        };
        for sql in ["hex(x'00ff')", "hex('abc')", "hex('12')", "hex('0xZZ')", "hex(NULL)", "hex(1.5)", "hex('ü')"] {
            assert_eq!(value(sql), plain(sql), "{sql}");
        }
        assert_eq!(value("hex(-1)"), "0xFFFFFFFFFFFFFFFF".to_owned().into());
        assert_eq!(value("hex(42)"), "0x000000000000002A".to_owned().into());
        assert_eq!(value("hex('0x2a')"), "0x000000000000002A".to_owned().into());
    }

    #[test]
    fn ids_of_paths_and_names() {
        let id = Value::Id64(crate::codec::cityhash64(b"content/gameplay")).to_string();
        assert_eq!(value("path_id('content/gameplay')"), id.into());
        assert_eq!(value("name_id('diffuseMap')"), "0x820F0280".to_owned().into());
        assert_eq!(value("path_id(NULL)"), rusqlite::types::Value::Null);
        // As SQLite's own functions do, these take a number as its text.
        assert_eq!([value("path_id(42)"), value("path_id(1.5)")], [value("path_id('42')"), value("path_id('1.5')")]);
    }

    #[test]
    fn mathematics_answer_as_those_of_sqlite() {
        use types::Value::{Integer, Null, Real};
        for (sql, answer) in [
            ("sqrt(16)", Real(4.0)),
            ("sqrt('16')", Real(4.0)),
            ("sqrt(-1)", Null),
            ("sqrt('0x00000000000000AA')", Null),
            ("pow(2, 10)", Real(1024.0)),
            ("pow(2, NULL)", Null),
            ("log(1000)", Real(1000f64.log10())),
            ("log(2, 8)", Real(8f64.ln() / 2f64.ln())),
            ("ln(0)", Null),
            ("exp(0)", Real(1.0)),
            ("ceil(1.5)", Real(2.0)),
            ("floor(-1.5)", Real(-2.0)),
            ("trunc(7)", Integer(7)),
            ("mod(7.5, 2)", Real(1.5)),
            ("cos(pi())", Real(-1.0)),
            ("sin(0)", Real(0.0)),
            ("degrees(pi())", Real(180.0)),
            ("atan2(0, 1)", Real(0.0)),
        ] {
            assert_eq!(value(sql), answer, "{sql}");
        }
    }

    #[test]
    fn regular_expressions() {
        assert_eq!(value("'content/a.dds' REGEXP '\\.dds$'"), 1.into());
        assert_eq!(value("'content/a.dds' REGEXP '^a'"), 0.into());
        assert_eq!(value("NULL REGEXP 'a'"), rusqlite::types::Value::Null);
        let connection = Connection::open_in_memory().unwrap();
        add(&connection, &Arc::default()).unwrap();
        for (pattern, what) in [("a(", "unclosed group"), ("a{0,50000}", "come to 50000 characters")] {
            let answer =
                connection.query_row(&format!("SELECT 'a' REGEXP '{pattern}'"), [], |row| row.get::<_, i64>(0));
            assert!(answer.unwrap_err().to_string().contains(what), "{pattern}");
        }
    }
}
