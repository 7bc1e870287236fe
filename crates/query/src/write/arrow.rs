//! Arrow: record batches in memory, and as they lie there in a file or a stream (IPC).

pub use super::batch::ArrowBatches;

use super::batch::{BatchBuilder, BatchSink};
use super::cannot_write;
use crate::error::{Error, Result};
use crate::table::Column;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use std::io::{self, Write};

/// Writes rows as Arrow IPC.
pub type ArrowRows<W> = ArrowBatches<ArrowOutput<W>>;

/// A file or a stream of Arrow IPC.
pub enum ArrowOutput<W: Write> {
    File(Box<FileWriter<W>>),
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write> ArrowRows<W> {
    /// Rows with these columns, written to `out` as a file, which can be mapped and entered anywhere; `metadata` says
    /// where they come from.
    pub fn file(out: W, columns: &[Column], metadata: &[(&str, String)]) -> Result<Self> {
        let mut batches = BatchBuilder::new(columns);
        let schema = batches.schema_with(metadata);
        let out = FileWriter::try_new(out, &schema).map_err(failed)?;
        Ok(Self::with(batches, ArrowOutput::File(Box::new(out))))
    }

    /// As [`ArrowRows::file`], as a stream, which is read from its beginning on while it is written.
    pub fn stream(out: W, columns: &[Column], metadata: &[(&str, String)]) -> Result<Self> {
        let mut batches = BatchBuilder::new(columns);
        let schema = batches.schema_with(metadata);
        let out = StreamWriter::try_new(out, &schema).map_err(failed)?;
        Ok(Self::with(batches, ArrowOutput::Stream(Box::new(out))))
    }
}

impl<W: Write> BatchSink for ArrowOutput<W> {
    fn take(&mut self, batch: RecordBatch) -> Result<()> {
        match self {
            Self::File(out) => out.write(&batch),
            Self::Stream(out) => out.write(&batch),
        }
        .map_err(failed)
    }

    fn end(&mut self) -> Result<()> {
        match self {
            Self::File(out) => out.finish(),
            Self::Stream(out) => out.finish(),
        }
        .map_err(failed)
    }
}

fn failed(error: ArrowError) -> Error {
    cannot_write(match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    })
}
