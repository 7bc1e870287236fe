use super::number::{Number, number};
use super::*;
use crate::error::{Error, ErrorKind};
use crate::table::{Guid, Kind, Value};

/// Rows of every kind of cell.
struct Cells {
    columns: Vec<Column>,
    rows: Vec<Vec<Value<'static>>>,
}

impl Table for Cells {
    fn name(&self) -> &str {
        "cells"
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> Result<usize> {
        Ok(self.rows.len())
    }

    fn value(&self, row: usize, column: usize) -> Result<Value<'_>> {
        // One damaged cell: the name of the last row.
        if (row, column) == (5, 0) {
            return Err(Error::new(ErrorKind::Damaged { what: "a hole".into() }, "name", 0x99));
        }
        Ok(self.rows[row][column].clone())
    }

    fn find(&self, column: usize, key: &Value<'_>) -> Option<Result<Vec<usize>>> {
        // Backwards, as an index may well give them.
        let rows = (0..self.rows.len()).rev().filter(|&row| self.rows[row][column] == *key);
        (column == 1).then(|| Ok(rows.collect()))
    }
}

fn cells() -> Cells {
    let columns = [
        ("name", Kind::Text),
        ("id", Kind::Id64),
        ("size", Kind::Uint),
        ("delta", Kind::Int),
        ("scale", Kind::F32),
        ("ok", Kind::Bool),
        ("two words", Kind::Any),
        ("guid", Kind::Guid),
    ];
    let guid = Guid([0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]);
    let row = |name: &'static str, id: u64, size: u64, delta: i64, scale: f32, ok: bool, any: Value<'static>| {
        vec![name.into(), Value::Id64(id), size.into(), delta.into(), scale.into(), ok.into(), any, guid.into()]
    };
    Cells {
        columns: columns.map(|(name, kind)| Column::new(name, kind)).into(),
        rows: vec![
            row("content/a.dds", 0xA330_4644_2D83_27FC, 10, -1, 0.1, true, Value::Null),
            row("content/sub/b.dds", 2, 10_000, 0, 1.5, false, 7u64.into()),
            row("c's.txt", 2, 1_500_000, 5, f32::NAN, true, "7".into()),
            row("", u64::MAX, u64::MAX, i64::MIN, -0.0, false, vec![1u64, 2].into()),
            row("10", 0, 0, i64::MAX, 1e30, true, 2.5f64.into()),
            row("damaged", 5, 11, 11, 11.0, false, Value::Null),
        ],
    }
}

/// The rows that match `text`, by a walk and, if possible, by a probe: both must be equal.
fn rows(text: &str) -> Vec<usize> {
    let table = cells();
    let bound = Filter::parse(text).and_then(|f| f.bind(&table.columns)).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut walked = Vec::new();
    let mut cursor = table.cursor_over(0, None);
    while cursor.advance().unwrap() {
        if bound.matches(&*cursor).unwrap_or(false) {
            walked.push(cursor.row());
        }
    }
    let mut probed = Vec::new();
    let mut cursor = bound.walk_over(&table, None);
    while cursor.advance().unwrap() {
        if bound.matches(&*cursor).unwrap_or(false) {
            probed.push(cursor.row());
        }
    }
    assert_eq!(walked, probed, "{text}");
    walked
}

#[test]
fn comparisons() {
    for (text, expected) in [
        ("size = 10", vec![0]),
        ("size == 0xA", vec![0]),
        ("size != 10", vec![1, 2, 3, 4, 5]),
        ("size > 10k", vec![2, 3]),
        ("size >= 10K", vec![1, 2, 3]),
        ("size = 1.5M", vec![2]),
        ("size < 0.5", vec![4]),
        ("size > 18446744073709551614", vec![3]),
        ("size > 9.5", vec![0, 1, 2, 3, 5]),
        ("delta < 0", vec![0, 3]),
        ("delta > -1.5", vec![0, 1, 2, 4, 5]),
        ("delta <= -1", vec![0, 3]),
        ("delta = -9223372036854775808", vec![3]),
        ("scale = 0.1", vec![0]),
        ("scale = 0", vec![3]),
        ("scale > 1e29", vec![4]),
        ("scale != 1.5", vec![0, 3, 4, 5]),
        ("ok = true", vec![0, 2, 4]),
        ("ok != true", vec![1, 3, 5]),
        ("ok = 0", vec![1, 3, 5]),
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
}

#[test]
fn text_and_globs() {
    for (text, expected) in [
        ("name = 'content/a.dds'", vec![0]),
        ("name = \"c's.txt\"", vec![2]),
        ("name = 'c''s.txt'", vec![2]),
        ("name = ''", vec![3]),
        ("name = 10", vec![4]),
        ("name ~ '*.dds'", vec![0, 1]),
        ("name ~ 'content/*'", vec![0, 1]),
        ("name ~ 'CONTENT/*'", vec![]),
        ("name !~ '*.{dds,txt}'", vec![3, 4]),
        ("name > 'c'", vec![0, 1, 2]),
        ("id ~ '0xA3*'", vec![0]),
        ("id ~ '0xa3*'", vec![0]),
        ("size ~ '10*'", vec![0, 1]),
        ("guid = '00112233-4455-6677-8899-AABBCCDDEEFF'", vec![0, 1, 2, 3, 4, 5]),
        ("\"two words\" = 7", vec![1, 2]),
        ("`two words` = '[1, 2]'", vec![3]),
        // Of values of several kinds, numbers only.
        ("\"two words\" > 2", vec![1, 4]),
        ("\"two words\" <= '7'", vec![1, 4]),
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
}

#[test]
fn a_comparison_with_null_is_unknown() {
    for (text, expected) in [
        ("\"two words\" = null", vec![0, 5]),
        ("\"two words\" != NULL", vec![1, 2, 3, 4]),
        ("\"two words\" IS NULL", vec![0, 5]),
        ("\"two words\" is not null", vec![1, 2, 3, 4]),
        ("not \"two words\" is null", vec![1, 2, 3, 4]),
        ("\"two words\" != 7", vec![3, 4]),
        ("not \"two words\" = 7", vec![3, 4]),
        ("not not \"two words\" = 7", vec![1, 2]),
        ("not (\"two words\" = 7 or size = 11)", vec![3, 4]),
        ("not (\"two words\" = 7 and size = 0)", vec![0, 1, 2, 3, 4, 5]),
        ("\"two words\" = 7 or size = 10", vec![0, 1, 2]),
        ("\"two words\" <= 7 or \"two words\" > 7", vec![1, 4]),
        ("\"two words\" ~ '*'", vec![1, 2, 3, 4]),
        ("\"two words\" !~ '7'", vec![3, 4]),
        ("\"two words\" not like '7'", vec![3, 4]),
        ("not scale > 1 and not scale <= 1", vec![]),
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
}

#[test]
fn tests_of_sql() {
    for (text, expected) in [
        ("name LIKE 'CONTENT/%'", vec![0, 1]),
        ("name not like '%.dds'", vec![2, 3, 4]),
        ("name GLOB 'content/[ab].dds'", vec![0]),
        ("name glob 'Content/*'", vec![]),
        ("id like '0xa3%'", vec![0]),
        ("size in (10, 0xB, 10k)", vec![0, 1, 5]),
        ("size NOT IN (10, 11) and ok = true", vec![2, 4]),
        ("name in ('c''s.txt')", vec![2]),
        ("size between 10 and 10k and ok = false", vec![1, 5]),
        ("size not between 10 and 10k", vec![2, 3, 4]),
        ("\"two words\" not in (7)", vec![3, 4]),
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
}

#[test]
fn ids_are_compared_by_value_however_they_are_written() {
    for text in
        ["id = 0xA33046442D8327FC", "id = '0xa33046442d8327fc'", "id = 'A33046442D8327FC'", "ID = 11758975885699655676"]
    {
        assert_eq!(rows(text), [0], "{text}");
    }
    assert_eq!(rows("id = 0000000000000002"), [1, 2]);
    assert_eq!(rows("id > 0xA33046442D8327FB"), [0, 3]);
}

#[test]
fn words_join_conditions() {
    for (text, expected) in [
        ("size > 5 and size < 20", vec![0, 5]),
        ("size = 10 or size = 0 and ok = false", vec![0]),
        ("(size = 10 or size = 0) and ok = true", vec![0, 4]),
        ("not size = 10 AND NOT (ok = true or delta = 0)", vec![3, 5]),
        ("not not size=10", vec![0]),
    ] {
        assert_eq!(rows(text), expected, "{text}");
    }
}

fn candidates(text: &str) -> Option<Vec<usize>> {
    let table = cells();
    let bound = Filter::parse(text).unwrap().bind(&table.columns).unwrap();
    bound.candidates(&table)
}

#[test]
fn key_columns_are_probed() {
    assert_eq!(candidates("id = 2"), Some(vec![1, 2]));
    assert_eq!(candidates("size > 5 and id = 2"), Some(vec![1, 2]));
    assert_eq!(candidates("id = 2 or id = 0 or id = 2"), Some(vec![1, 2, 4]));
    assert_eq!(candidates("id = 2 or size = 1"), None);
    assert_eq!(candidates("not id = 2"), None);
    assert_eq!(candidates("id != 2"), None);
    assert_eq!(candidates("size = 10"), None);
    // The rest of the condition is still evaluated.
    assert_eq!(rows("size > 10k and id = 2"), [2]);
}

#[test]
fn a_damaged_cell_is_an_error_of_its_row() {
    let table = cells();
    let bound = Filter::parse("name ~ '*'").unwrap().bind(&table.columns).unwrap();
    let (mut count, mut damaged) = (0, Vec::new());
    let mut cursor = bound.walk_over(&table, None);
    while cursor.advance().unwrap() {
        match bound.matches(&*cursor) {
            Ok(matches) => count += usize::from(matches),
            Err(error) => damaged.push(error.offset()),
        }
    }
    assert_eq!((count, damaged), (5, vec![Some(0x99)]));
    // A cell is not read if an earlier one decides.
    assert_eq!(rows("size = 11 or name = 'x'"), [5]);
}

#[test]
fn what_makes_no_sense_is_said_with_its_place() {
    for (text, what) in [
        ("", "a column is needed (at character 1)"),
        ("size", "an operator is needed after size: = != < <= > >= ~ !~, or like, glob, in, between, is null (at"),
        ("size not 5", "an operator is needed after size"),
        ("size is 5", "null is needed after 'is'; other values are compared by = and != (at character 9)"),
        ("size in 5", "values in parentheses, with commas between them, are needed after 'in' (at character 9)"),
        ("size in ()", "a value is needed after the operator (at character 10)"),
        ("size in (1 2)", "values in parentheses"),
        ("size in (1,", "a value is needed after the operator (at character 12)"),
        ("size in (1, null)", "no value equals null; use 'is null' (at character 13)"),
        ("size between 1 or 2", "'and' is needed between the two values (at character 16)"),
        ("size >", "a value is needed after the operator (at character 7)"),
        ("size > 10 20", "20 comes where 'and', 'or' or the end should (at character 11)"),
        ("(size > 10", "this parenthesis is not closed (at character 1)"),
        ("size > 10)", ") comes where"),
        ("name = über", "text goes in quotes: 'über' (at character 8)"),
        ("name = 'x", "this quote is not closed (at character 8)"),
        ("size > 10q", "10q is not a number"),
        ("size ; 10", "; means nothing here (at character 6)"),
        ("size ! 10", "! means nothing here"),
        ("10 = size", "a column is needed, not 10 (at character 1)"),
        ("size = 1 and", "a column is needed (at character 13)"),
        ("siez = 1", "there is no column siez; did you mean size? there are name, id, size"),
        ("size = 'many'", "column size holds numbers, not 'many'"),
        ("id = 'content'", "column id holds ids like 0x1F, not 'content'"),
        ("id = -1", "column id holds ids"),
        ("ok = 7", "column ok holds true or false, not '7'"),
        ("size < null", "null can be compared with = and != only"),
        ("name ~ '[a'", "glob: [a: a '[' without its ']'"),
    ] {
        let table = cells();
        let error = Filter::parse(text).and_then(|f| f.bind(&table.columns)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Syntax { .. }));
        assert!(error.to_string().contains(what), "{text}: {error}");
    }
}

#[test]
fn a_pattern_has_a_longest_length() {
    let bind =
        |len: usize| Filter::parse(&format!("name like '{}'", "a".repeat(len))).unwrap().bind(&cells().columns).err();
    assert!(bind(pattern::LONGEST).is_none());
    let error = bind(pattern::LONGEST + 1).unwrap().to_string();
    assert!(error.contains("a pattern of 50001 bytes; the limit is 50000"), "{error}");
}

#[test]
fn nesting_is_bounded_and_nothing_panics() {
    for (open, close) in [("(", ")"), ("not ", ""), ("not(", ")")] {
        let [shallow, deep] =
            [20, 100_000].map(|times| Filter::parse(&format!("{}a = 1{}", open.repeat(times), close.repeat(times))));
        assert!(shallow.is_ok());
        assert!(deep.unwrap_err().to_string().contains("nested too deeply"));
    }
    let parts = [
        "a", "=", "(", ")", "not", "and", "or", "'", "\"", "1", "-", ".", "k", "0x", "~", "!", "<", " ", "é", "null",
        "in", ",", "like", "between", "is",
    ];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..state % 12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(parts[(state >> 33) as usize % parts.len()]);
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let _ = Filter::parse(&text).map(|f| f.bind(&cells().columns).is_ok());
    }
}

#[test]
fn comparisons_are_bounded() {
    for word in [" or ", " and ", " and not ", " or (size = 2) and "] {
        assert!(Filter::parse(&["size = 1"; 500].join(word)).is_ok());
        let error = Filter::parse(&["size = 1"; 1001].join(word)).unwrap_err();
        assert!(error.to_string().contains("more than 1000 comparisons"), "{word}");
    }
}

/// A row that counts the reads of its cells.
struct Counted(std::cell::Cell<usize>);

impl RowCursor for Counted {
    fn advance(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn row(&self) -> usize {
        0
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        self.0.set(self.0.get() + 1);
        Ok(column.into())
    }
}

#[test]
fn a_cell_is_read_once_for_all_comparisons_in_a_row() {
    let columns = [Column::new("a", Kind::Uint), Column::new("b", Kind::Uint)];
    for (text, matches, read) in [
        ("a = 5 or a = 6 or (a > 7 and a < 3) or not a = 0", false, 1),
        ("a = 0 and a < 9 and b = 1 and b != 7", true, 2),
        ("a = 1 or b = 0 or a = 2 or b = 1", true, 4),
    ] {
        let row = Counted(std::cell::Cell::new(0));
        let bound = Filter::parse(text).unwrap().bind(&columns).unwrap();
        assert_eq!((bound.matches(&row).unwrap(), row.0.get()), (matches, read), "{text}");
    }
}

#[test]
fn numbers_are_whole_where_they_can_be() {
    for (text, expected) in [
        ("10", Some(Number::Int(10))),
        ("-2k", Some(Number::Int(-2000))),
        ("1.5k", Some(Number::Int(1500))),
        ("2.25M", Some(Number::Int(2_250_000))),
        ("1.0005k", Some(Number::Float(1000.5))),
        ("0.5", Some(Number::Float(0.5))),
        (".5G", Some(Number::Int(500_000_000))),
        ("1e3", Some(Number::Float(1000.0))),
        ("0xFFFFFFFFFFFFFFFF", Some(Number::Int(u64::MAX.into()))),
        ("0x", None),
        ("0x+1", None),
        ("k", None),
        ("inf", None),
        ("nan", None),
        ("-", None),
        ("--1", None),
        ("1m", None),
        ("", None),
    ] {
        assert_eq!(number(text), expected, "{text}");
    }
}

/// Files whose table shows one value for all of their rows are opened only if a row may match.
#[test]
fn a_condition_that_known_cells_decide_matches_no_row() {
    let cells = cells();
    let may = |text: &str| {
        let bound = Filter::parse(text).unwrap().bind(&cells.columns).unwrap();
        bound.may_match(&|column| (column == 0).then(|| "ship.bin".into()))
    };
    for text in ["name = 'ship.bin'", "name ~ '*.bin' and size > 3", "name = 'a' or size > 3", "not name = 'a'"] {
        assert!(may(text), "{text}");
    }
    for text in ["name = 'a'", "name ~ 'a*' and size > 3", "name = 'a' or name = 'b'", "not (name ~ 's*' or size > 3)"]
    {
        assert!(!may(text), "{text}");
    }
}

#[test]
fn a_condition_names_each_of_its_columns_once() {
    let cells = cells();
    let bound = Filter::parse("size > 3 and not (name = 'a' or size < 1)").unwrap().bind(&cells.columns).unwrap();
    let mut columns = Vec::new();
    bound.add_columns(&mut columns);
    assert_eq!(columns, [2, 0]);
}
