//! Input with a limit: a pipe or a device may never end.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "bytes of a buffer, and sums that exceed their limits by a buffer at most"
)]

use crate::bytes::clamp_to_usize;
use std::io::{self, BufRead, ErrorKind, Read};

/// Reads up to `most` bytes of its input, and fails if there are more.
#[derive(Debug)]
pub struct Bounded<R> {
    from: R,
    most: u64,
    left: u64,
    /// The limit of a line in bytes, and the size of the current line so far.
    longest: u64,
    line: u64,
}

impl<R: BufRead> Bounded<R> {
    pub fn new(from: R, most: u64) -> Self {
        Self { from, most, left: most, longest: most, line: 0 }
    }

    /// Sets a limit for lines, which are kept in memory: at most `longest` bytes each.
    pub fn with_lines(self, longest: u64) -> Self {
        Self { longest, ..self }
    }

    /// All of its bytes.
    ///
    /// # Errors
    /// `FileTooLarge` for more bytes than the limit.
    pub fn bytes(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let ready = self.from.fill_buf()?;
        if self.left == 0 && !ready.is_empty() {
            let what = format!("it has more than {} bytes, and no more are read", self.most);
            return Err(io::Error::new(ErrorKind::FileTooLarge, what));
        }
        if self.line > self.longest {
            let what = format!("a line of more than {} bytes", self.longest);
            return Err(io::Error::new(ErrorKind::FileTooLarge, what));
        }
        Ok(ready.get(..clamp_to_usize(self.left)).unwrap_or(ready))
    }

    fn consume(&mut self, bytes: usize) {
        self.left -= bytes as u64;
        if bytes > 0 && self.longest < self.most {
            // Buffered bytes need no further read.
            let consumed = self.from.fill_buf().ok().and_then(|ready| ready.get(..bytes));
            self.line = match consumed.and_then(|consumed| memchr::memrchr(b'\n', consumed)) {
                Some(end) => (bytes - end - 1) as u64,
                None => self.line + bytes as u64,
            };
        }
        self.from.consume(bytes);
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bytes_as_fit_are_read_and_one_more_is_an_error() {
        assert_eq!(Bounded::new(&[7; 1000][..], 1000).bytes().unwrap(), [7; 1000]);
        let error = Bounded::new(&[7; 1001][..], 1000).bytes().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
        let mut lines = Bounded::new(io::BufReader::new(io::repeat(b'\n')), 3).lines();
        assert_eq!(lines.by_ref().take(3).filter(Result::is_ok).count(), 3);
        assert!(lines.next().unwrap().is_err());
    }

    #[test]
    fn a_line_without_an_end_is_an_error_before_all_may_be_read() {
        let endless = io::BufReader::new(io::repeat(b'x'));
        let error = Bounded::new(endless, 1 << 30).with_lines(100_000).bytes().unwrap_err();
        assert!(error.to_string().contains("a line of more than 100000 bytes"), "{error}");
        let text = "1234567\n".repeat(50_000);
        let read = Bounded::new(io::BufReader::new(text.as_bytes()), 1 << 30).with_lines(8).bytes();
        assert_eq!(read.unwrap().len(), text.len());
    }
}
