//! Answers about whole files, as Arrow streams.

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use assetq::diff::{self, DifferenceKind};
use assetq::formats::report::Progress;
use assetq::table::{Column, Kind, RowBuffer, Table as _, Value};
use assetq::write::arrow::ArrowBatches;
use assetq::write::json;
use assetq::write::rows::RowSink as _;
use assetq::{Asset, Result};

/// The rows as a stream of batches.
pub(crate) fn stream(rows: &RowBuffer) -> Result<FFI_ArrowArrayStream> {
    let mut batches = Vec::new();
    let mut sink = ArrowBatches::new(rows.columns(), |batch| {
        batches.push(Ok(batch));
        Ok(())
    });
    let schema = sink.schema();
    rows.values().iter().try_for_each(|row| sink.row(row))?;
    sink.finish()?;
    drop(sink);
    Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema))))
}

/// The checks of a file, and whether all passed.
pub(crate) fn verify(asset: &Asset) -> (RowBuffer, bool) {
    let report = asset.reader().verify(&Progress::default());
    let rows = report.checks.iter().map(|check| {
        let first = check.findings().first().map_or(Value::Null, |error| Value::owned(error.to_string()));
        let (name, detail) = (Value::owned(check.name.to_string()), Value::owned(check.detail.clone()));
        vec![name, Value::Bool(check.is_ok()), detail, Value::Uint(check.found()), first]
    });
    let columns = [
        ("check", Kind::Text),
        ("ok", Kind::Bool),
        ("detail", Kind::Text),
        ("found", Kind::Uint),
        ("first", Kind::Text),
    ];
    let columns = columns.map(|(name, kind)| Column::named(name.to_owned(), kind));
    (RowBuffer::new("checks", columns.into(), rows.collect()), report.is_ok())
}

/// A row for each cell that differs.
pub(crate) fn diff(old: &Asset, new: &Asset) -> Result<RowBuffer> {
    let mut rows = Vec::new();
    for table in &diff::tables(old, new, &[])? {
        for change in table.changes()? {
            let key = json::to_string(&change.key)?;
            for field in &change.fields {
                let texts = [table.name(), change.kind.name(), &key, &field.name];
                let mut row: Vec<_> = texts.map(|text| Value::owned(text.to_owned())).into();
                for (value, absent) in [(&field.old, DifferenceKind::Added), (&field.new, DifferenceKind::Removed)] {
                    row.push(if change.kind == absent { Value::Null } else { Value::owned(json::to_string(value)?) });
                }
                rows.push(row);
            }
        }
    }
    let columns = ["table", "change", "key", "column", "old", "new"].map(Column::text);
    Ok(RowBuffer::new("changes", columns.into(), rows))
}
