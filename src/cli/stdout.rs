//! Standard output, whose lost writes a command reports.

use super::entries::Entries;
use super::pager::Pager;
use super::settings::Settings;
use super::{Context, Failure, Format};
use crate::atomic_file::of_output;
use crate::table::{Column, Kind};
use crate::write::rows::{RowFormat, RowWriter};
use crate::write::text::TextPage;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

const STDOUT: &str = "standard output";

/// Standard output, buffered. Its context learns of failed writes, even if no caller checks; a drop flushes everything.
pub(super) struct Stdout {
    out: BufWriter<Pager>,
    lost: LostOutput,
}

impl Stdout {
    /// Standard output through `pager`; `lost` notes what cannot be written.
    pub(super) fn new(pager: Pager, lost: LostOutput) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, pager), lost }
    }
}

/// Why standard output could not be written, if so.
#[derive(Debug, Default, Clone)]
pub(super) struct LostOutput(Arc<OnceLock<(ErrorKind, String)>>);

impl LostOutput {
    fn note<T>(&self, written: io::Result<T>) -> io::Result<T> {
        written.map_err(|error| {
            // The first error is the cause.
            let _ = self.0.set((error.kind(), error.to_string()));
            of_output(STDOUT, error)
        })
    }

    /// The failure of the command, if output was lost.
    pub(super) fn failure(&self) -> Option<Failure> {
        let (kind, what) = self.0.get()?;
        Some(failure_of_stdout(io::Error::new(*kind, what.as_str())))
    }
}

/// The failure of a command that could not write to standard output.
pub(super) fn failure_of_stdout(error: io::Error) -> Failure {
    of_output(STDOUT, error).into()
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lost.note(self.out.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.lost.note(self.out.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lost.note(self.out.flush())
    }
}

impl Drop for Stdout {
    fn drop(&mut self) {
        // Noted.
        let _ = self.flush();
    }
}

/// How rows are written.
#[derive(Clone, Copy)]
pub(super) struct RowForm {
    pub(super) format: Format,
    /// Whether the names of columns precede the rows.
    pub(super) has_header: bool,
}

impl Context {
    pub(super) fn stdout(&self) -> Stdout {
        Stdout::new(self.pager.clone(), self.lost.clone())
    }

    pub(super) fn page(&self) -> TextPage<Stdout> {
        TextPage::new(self.stdout(), self.settings.style)
    }

    pub(super) fn print_line(&self, line: &str) -> Result<(), Failure> {
        let mut page = self.page();
        page.line(line)?;
        Ok(page.flush()?)
    }

    /// Writes all of standard output.
    pub(super) fn print(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = self.stdout();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    pub(super) fn rows_of<const N: usize>(
        &self,
        columns: [(&'static str, Kind); N],
    ) -> Result<RowWriter<Stdout>, Failure> {
        self.rows(&columns.map(|(name, kind)| Column::new(name, kind)))
    }

    pub(super) fn rows(&self, columns: &[Column]) -> Result<RowWriter<Stdout>, Failure> {
        self.rows_in(self.row_form(), columns)
    }

    /// The form of rows that the options state.
    pub(super) fn row_form(&self) -> RowForm {
        RowForm { format: self.format(), has_header: true }
    }

    pub(super) fn rows_in(&self, form: RowForm, columns: &[Column]) -> Result<RowWriter<Stdout>, Failure> {
        let rows = if form.has_header { RowWriter::new } else { RowWriter::without_header };
        let Settings { style, width, .. } = self.settings;
        let format = match form.format.into() {
            RowFormat::EscapedCsv if !self.settings.is_terminal => RowFormat::Csv,
            format => format,
        };
        Ok(rows(self.stdout(), format, columns, style)?.fit_into(width))
    }

    /// Whole entries on standard output: one object or, with `many`, an array of any length.
    pub(super) fn entries(&self, many: bool) -> Result<Entries<Stdout>, Failure> {
        Entries::new(self.stdout(), self.format(), many)
    }
}

/// Whether OUT means standard output.
pub(super) fn is_stdout(to: &Path) -> bool {
    to == Path::new("-") || to == Path::new("/dev/stdout")
}
