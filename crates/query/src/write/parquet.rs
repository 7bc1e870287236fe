//! Parquet: rows in groups of a bounded size, dictionaries and statistics for each column, zstd.

use super::batch::{ArrowBatches, BatchBuilder};
use super::cannot_write;
use crate::error::{Error, Result};
use crate::table::Column;
use crate::threads::lock;
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Rows of one group, which engines share among their workers.
const GROUP_ROWS: usize = 122_880;
/// Encoded bytes after which a group ends whatever its rows: they are held in memory.
const GROUP_BYTES: usize = 64 << 20;

/// Batches that are read and not encoded yet: as many as keep the encoder busy while a slow row is read. More would
/// have readers take its core from the encoder, where encoding takes longest.
const WAITING: usize = 2;

/// A sink of rows for a file that another thread encodes, so that reading and encoding overlap.
pub type ParquetRows<'w> = ArrowBatches<Box<dyn FnMut(RecordBatch) -> Result<()> + 'w>>;

/// Writes the rows that `rows` hands over as Parquet into `out`; `metadata` says where they come from.
///
/// # Errors
/// Errors of `rows`, and of an output that cannot be written.
pub fn write<E: From<Error>>(
    out: impl Write + Send,
    columns: &[Column],
    metadata: &[(&str, String)],
    rows: impl FnOnce(ParquetRows<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let batches = BatchBuilder::new(columns);
    let options = ArrowWriterOptions::new().with_properties(properties(metadata));
    let out = Mutex::new(ArrowWriter::try_new_with_options(out, batches.schema(), options).map_err(failed)?);
    thread::scope(|scope| {
        let (encoder, waiting) = sync_channel::<RecordBatch>(WAITING);
        let encoding = thread::Builder::new()
            .spawn_scoped(scope, || waiting.into_iter().try_for_each(|batch| lock(&out).write(&batch)));
        let Ok(encoding) = encoding else {
            // No thread to be had: rows are encoded as they come.
            return rows(ParquetRows::with(batches, Box::new(|batch| lock(&out).write(&batch).map_err(failed))));
        };
        let encode =
            move |batch| encoder.send(batch).map_err(|_| cannot_write(io::Error::other("encoding has stopped")));
        let read = rows(ParquetRows::with(batches, Box::new(encode)));
        // Where encoding failed, reading could not go on, and the first of them says why.
        match encoding.join() {
            Ok(encoded) => encoded.map_err(failed)?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        read
    })?;
    lock(&out).finish().map_err(failed)?;
    Ok(())
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

fn failed(error: ParquetError) -> Error {
    cannot_write(match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    })
}
