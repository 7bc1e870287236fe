//! Parquet: rows in groups of a bounded size, dictionaries and statistics for each column, zstd.

use super::batch::Batches;
use super::rows::RowSink;
use crate::error::{Error, Result};
use crate::table::{Column, Value};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};

/// Rows of one group, which is what engines share among their workers.
const GROUP_ROWS: usize = 122_880;
/// Encoded bytes after which a group ends whatever its rows: what is held in memory.
const GROUP_BYTES: usize = 64 << 20;

/// Writes rows as Parquet.
#[derive(Debug)]
pub struct ParquetRows<W: Write + Send> {
    batches: Batches,
    out: ArrowWriter<W>,
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

impl<W: Write + Send> ParquetRows<W> {
    /// Rows with these columns, written to `out`; `metadata` says where they come from.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn new(out: W, columns: &[Column], metadata: &[(&str, String)]) -> Result<Self> {
        let batches = Batches::new(columns);
        let options = ArrowWriterOptions::new().with_properties(properties(metadata));
        let out = ArrowWriter::try_new_with_options(out, batches.schema(), options).map_err(failed)?;
        Ok(Self { batches, out })
    }
}

impl<W: Write + Send> RowSink for ParquetRows<W> {
    fn row(&mut self, cells: &[Value<'_>]) -> Result<()> {
        self.batches.push(cells)?;
        if self.batches.is_full() { self.out.write(&self.batches.take()?).map_err(failed) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<()> {
        self.out.write(&self.batches.take()?).map_err(failed)?;
        self.out.finish().map_err(failed)?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error),
        other => io::Error::other(other),
    };
    Error::io("cannot write", error)
}
