//! Arrow: record batches in memory, and as they lie there in a file or a stream (IPC).

use super::batch::{BatchSink, Batches};
use super::cannot_write;
use crate::error::{Error, Result};
use crate::table::Column;
use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use std::io::{self, Write};

/// Writes rows as Arrow IPC.
#[derive(Debug)]
pub struct ArrowRows<W: Write> {
    batches: Batches,
    out: Output<W>,
}

enum Output<W: Write> {
    File(Box<FileWriter<W>>),
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write> Output<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::File(out) => out.write(batch),
            Self::Stream(out) => out.write(batch),
        }
        .map_err(failed)
    }
}

impl<W: Write> std::fmt::Debug for Output<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Stream(_) => "Stream",
        })
    }
}

impl<W: Write> ArrowRows<W> {
    /// Rows with these columns, written to `out` as a file, which can be mapped and entered anywhere; `metadata` says
    /// where they come from.
    pub fn file(out: W, columns: &[Column], metadata: &[(&str, String)]) -> Result<Self> {
        let mut batches = Batches::new(columns);
        let schema = batches.schema_with(metadata);
        let out = Output::File(Box::new(FileWriter::try_new(out, &schema).map_err(failed)?));
        Ok(Self { batches, out })
    }

    /// As [`ArrowRows::file`], as a stream, which is read from its beginning on while it is written.
    pub fn stream(out: W, columns: &[Column], metadata: &[(&str, String)]) -> Result<Self> {
        let mut batches = Batches::new(columns);
        let schema = batches.schema_with(metadata);
        let out = Output::Stream(Box::new(StreamWriter::try_new(out, &schema).map_err(failed)?));
        Ok(Self { batches, out })
    }
}

impl<W: Write> BatchSink for ArrowRows<W> {
    fn parts(&mut self) -> (&mut Batches, impl FnMut(RecordBatch) -> Result<()>) {
        (&mut self.batches, |batch| self.out.write(&batch))
    }

    fn end(&mut self) -> Result<()> {
        match &mut self.out {
            Output::File(out) => out.finish(),
            Output::Stream(out) => out.finish(),
        }
        .map_err(failed)
    }
}

/// Gathers rows into record batches and hands each one over that is full.
pub struct ArrowBatches<H> {
    batches: Batches,
    hand_over: H,
}

impl<H> std::fmt::Debug for ArrowBatches<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowBatches").field("batches", &self.batches).finish_non_exhaustive()
    }
}

impl<H: FnMut(RecordBatch) -> Result<()>> ArrowBatches<H> {
    /// Rows with these columns, handed to `hand_over`.
    pub fn new(columns: &[Column], hand_over: H) -> Self {
        Self { batches: Batches::new(columns), hand_over }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}

impl<H: FnMut(RecordBatch) -> Result<()>> BatchSink for ArrowBatches<H> {
    fn parts(&mut self) -> (&mut Batches, impl FnMut(RecordBatch) -> Result<()>) {
        (&mut self.batches, &mut self.hand_over)
    }
}

fn failed(error: ArrowError) -> Error {
    cannot_write(match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    })
}
