//! Rusty Hearts maps that hold what was written.

use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::report::Progress;
use assetq::formats::rusty_hearts::wdata::Map;
use assetq::table::{Table, Value, column_index};
use assetq_sample::wdata::{FieldValues, Spec, Written};

/// Values as they are compared: what is shown is the same, and floats are the same bits.
pub fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((an, av), (bn, bv))| an == bn && same(av, bv))
        }
        _ => match (a.as_text(), b.as_text()) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

/// Checks that a table holds exactly these rows: fields that a row leaves out are null.
pub fn assert_rows(table: &dyn Table, rows: &[&FieldValues], ours: &[&str]) {
    assert_eq!(table.len().unwrap(), rows.len(), "{}", table.name());
    for row in rows {
        for (name, _) in *row {
            assert!(column_index(table, name).is_some(), "{} has no {name}", table.name());
        }
    }
    let mut cursor = table.cursor(0);
    for row in rows {
        assert!(cursor.advance().unwrap());
        for (number, column) in table.columns().iter().enumerate() {
            if ours.contains(&&*column.name) {
                continue;
            }
            let expected = row.iter().find(|(name, _)| *name == column.name).map_or(&Value::Null, |(_, value)| value);
            let found = cursor.value(number).unwrap();
            assert!(same(expected, &found), "{}.{}: {expected:?} != {found:?}", table.name(), column.name);
        }
    }
    assert!(!cursor.advance().unwrap());
}

/// Checks that every table of the map holds the values that were written.
pub fn assert_all(spec: &Spec, written: &Written) {
    let map = Map::open(Source::from_vec("town.wdata", written.bytes.clone())).unwrap();
    let context = format!("{spec:?}");
    let mut compared = 0;
    for table in map.tables() {
        match table.name() {
            "event_boxes" | "waypoint_links" => continue,
            "scenes" => {
                let (cameras, elements) = (written.table("scenes"), written.table("scene_elements"));
                let joined: Vec<FieldValues> = (0..cameras.len())
                    .map(|i| cameras[i].iter().chain(elements.get(i).copied().into_iter().flatten()).cloned().collect())
                    .collect();
                assert_rows(&*table, &joined.iter().collect::<Vec<_>>(), &["index", "offset"]);
                compared += joined.len() + elements.len();
            }
            name => {
                let rows = written.table(name);
                assert_rows(&*table, &rows, &["index", "offset"]);
                compared += rows.len();
            }
        }
    }
    assert_eq!(compared, written.rows.len(), "{context}");
    let report = map.verify(&Progress::default());
    assert!(report.is_ok(), "{context}: {:?}", report.checks.iter().find(|c| !c.is_ok()));
    assert_eq!(map.trigger_layout().unwrap().0, spec.triggers, "{context}");
}
