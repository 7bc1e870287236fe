//! Parquet: rows in groups of a bounded size, dictionaries and statistics for each column, zstd.

use super::batch::Batches;
use super::rows::{Met, RowSink};
use crate::error::{Error, Result};
use crate::table::{Column, RowCursor, Table, Value};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Rows of one group, which is what engines share among their workers.
const GROUP_ROWS: usize = 122_880;
/// Encoded bytes after which a group ends whatever its rows: what is held in memory.
const GROUP_BYTES: usize = 64 << 20;

/// Batches that are read and not encoded yet: as many as keep the encoder busy while a slow row is read. More would have
/// readers take its core from it, where it is what takes longest.
const WAITING: usize = 2;

/// Takes rows for a file that another thread encodes, so that reading and encoding go on at once.
#[derive(Debug)]
pub struct ParquetRows {
    batches: Batches,
    encoder: SyncSender<RecordBatch>,
}

/// Writes the rows that `rows` hands over as Parquet into `out`; `metadata` says where they come from.
///
/// # Errors
/// What `rows` fails with, and when the output cannot be written.
pub fn write<E: From<Error>>(
    out: impl Write + Send,
    columns: &[Column],
    metadata: &[(&str, String)],
    rows: impl FnOnce(ParquetRows) -> Result<(), E>,
) -> Result<(), E> {
    let batches = Batches::new(columns);
    let options = ArrowWriterOptions::new().with_properties(properties(metadata));
    let mut out = ArrowWriter::try_new_with_options(out, batches.schema(), options).map_err(failed)?;
    let (encoder, waiting) = sync_channel::<RecordBatch>(WAITING);
    thread::scope(|scope| {
        let encoded = scope.spawn(move || {
            waiting.iter().try_for_each(|batch| out.write(&batch))?;
            out.finish()
        });
        let read = rows(ParquetRows { batches, encoder });
        // Where encoding failed, reading could not go on, and the first of them says why.
        match encoded.join() {
            Ok(encoded) => encoded.map_err(failed)?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        read
    })
}

/// The settings of every file that is written: zstd, dictionaries, statistics, groups of a bounded size, and `metadata`
/// as keys and values.
pub fn properties(metadata: &[(&str, String)]) -> WriterProperties {
    let pairs = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
    WriterProperties::builder()
        .set_created_by(concat!("assetq version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_max_row_group_bytes(Some(GROUP_BYTES))
        .set_key_value_metadata(Some(pairs))
        .build()
}

/// Hands a batch to the encoder.
fn send(encoder: &SyncSender<RecordBatch>, batch: RecordBatch) -> Result<()> {
    let stopped = |_| Error::io("cannot write", io::Error::other("encoding has stopped"));
    encoder.send(batch).map_err(stopped)
}

impl RowSink for ParquetRows {
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        self.batches.add(cells, |batch| send(&self.encoder, batch))
    }

    fn row_of(&mut self, row: &dyn RowCursor, columns: &[usize]) -> Result<()> {
        self.batches.add_row(row, columns, |batch| send(&self.encoder, batch))
    }

    fn rows_of<E: From<Error>>(
        &mut self,
        table: &dyn Table,
        columns: &[usize],
        met: impl FnMut(Met) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        self.batches.read_all(table, columns, met, |batch| Ok(send(&self.encoder, batch)?))
    }

    fn finish(&mut self) -> Result<()> {
        self.batches.hand_over(|batch| send(&self.encoder, batch))
    }
}

fn failed(error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    };
    Error::io("cannot write", error)
}
