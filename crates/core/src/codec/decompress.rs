//! Decompression whose output is bounded by a declared size, which it must meet exactly.

use crate::error::ErrorKind;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use std::borrow::Cow;
use std::cell::Cell;

/// The first allocation, before a stream has filled it.
const FIRST_ROOM: usize = 64 << 10;

/// The usual greatest number of decoded bytes for a byte of input: allocated at once.
const USUAL: usize = 4;

/// Unfinished output. Memory grows with the stream, not with the declared size: a small file that declares gigabytes costs at most twice
/// the bytes that it really holds, or a few times its own size.
struct Output {
    codec: &'static str,
    bytes: Vec<u8>,
    len: usize,
    size: usize,
    /// One more byte, which reveals output beyond the declared size.
    spill: [u8; 1],
}

impl Output {
    fn new(codec: &'static str, size: usize, input: usize) -> Self {
        let first = input.saturating_mul(USUAL).max(FIRST_ROOM).min(size);
        Self { codec, bytes: vec![0; first], len: 0, size, spill: [0] }
    }

    fn error(&self, message: impl Into<Cow<'static, str>>) -> ErrorKind {
        ErrorKind::Codec { codec: self.codec, message: message.into() }
    }

    /// Room for the next bytes; one byte when the declared size is reached.
    fn room(&mut self) -> Result<&mut [u8], ErrorKind> {
        if self.len == self.bytes.len() && self.len < self.size {
            let grown = self.len.saturating_mul(2).clamp(1, self.size);
            if self.bytes.try_reserve_exact(grown.saturating_sub(self.len)).is_err() {
                return Err(ErrorKind::no_memory(grown as u64));
            }
            self.bytes.resize(grown, 0);
        }
        Ok(match self.bytes.get_mut(self.len..) {
            Some(room) if !room.is_empty() => room,
            _ => &mut self.spill,
        })
    }

    /// Notes `count` bytes as written to the buffer.
    fn wrote(&mut self, count: usize) -> Result<(), ErrorKind> {
        self.len = self.len.saturating_add(count);
        if self.len > self.size {
            return Err(self.error(format!("more than the declared {} bytes come out", self.size)));
        }
        Ok(())
    }

    /// The output of a stream that has ended with `left` bytes of input unused.
    fn finish(mut self, left: usize) -> Result<Vec<u8>, ErrorKind> {
        if left != 0 {
            return Err(self.error(format!("{left} bytes left over after the stream")));
        }
        if self.len != self.size {
            return Err(self.error(format!("{} bytes come out, {} are declared", self.len, self.size)));
        }
        self.bytes.truncate(self.len);
        Ok(self.bytes)
    }
}

/// Decodes a bare Brotli stream that is `size` bytes long when decoded.
///
/// # Errors
/// `Codec` when the stream is damaged, ends early, holds more or less than `size` bytes, or does not end with `input`.
pub fn brotli(input: &[u8], size: usize) -> Result<Vec<u8>, ErrorKind> {
    let mut out = Output::new("brotli", size, input.len());
    let alloc = StandardAlloc::default;
    // "Strict" refuses the large-window extension with its ring buffer of a gigabyte.
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let (mut unread, mut read, mut total) = (input.len(), 0, 0);
    loop {
        let room = out.room()?;
        let (mut free, mut wrote) = (room.len(), 0);
        let result =
            BrotliDecompressStream(&mut unread, &mut read, input, &mut free, &mut wrote, room, &mut total, &mut state);
        out.wrote(wrote)?;
        match result {
            BrotliResult::ResultSuccess => return out.finish(unread),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => {
                return Err(out.error(format!("the stream ends early, after {total} bytes")));
            }
            BrotliResult::ResultFailure => return Err(out.error(format!("damaged stream after {total} bytes"))),
        }
    }
}

/// Decodes a deflate stream that is `size` bytes long when decoded, with the zlib wrapper (RFC 1950) or bare (RFC
/// 1951). A wrapped stream begins with 0x78, and its two header bytes, as a big-endian number, are a multiple of 31.
/// The stream's Adler-32 is checked.
///
/// # Errors
/// `Codec` when the stream is damaged, ends early, holds more or less than `size` bytes, or does not end with `input`.
pub fn zlib(input: &[u8], size: usize) -> Result<Vec<u8>, ErrorKind> {
    inflate(input, size, is_wrapped(input))
}

/// Whether [`zlib`] treats a stream as wrapped.
pub fn is_wrapped(input: &[u8]) -> bool {
    matches!(input.first_chunk(), Some(&[0x78, flags]) if u16::from_be_bytes([0x78, flags]).is_multiple_of(31))
}

/// Decodes a bare deflate stream (RFC 1951). [`zlib`] would take one that begins with a stored block for a wrapped one.
pub fn deflate(input: &[u8], size: usize) -> Result<Vec<u8>, ErrorKind> {
    inflate(input, size, false)
}

fn inflate(input: &[u8], size: usize, wrapped: bool) -> Result<Vec<u8>, ErrorKind> {
    thread_local! {
        /// Creating the state takes longer than decoding a small file.
        static SPARE: Cell<Option<Decompress>> = const { Cell::new(None) };
    }
    let mut state = SPARE.take().unwrap_or_else(|| Decompress::new(wrapped));
    state.reset(wrapped);
    let decoded = inflate_with(&mut state, input, size, wrapped);
    SPARE.set(Some(state));
    decoded
}

fn inflate_with(state: &mut Decompress, input: &[u8], size: usize, wrapped: bool) -> Result<Vec<u8>, ErrorKind> {
    let mut out = Output::new(if wrapped { "zlib" } else { "deflate" }, size, input.len());
    loop {
        let (read, total) = (state.total_in(), state.total_out());
        let room = out.room()?;
        // Output with room for all bytes needs no window of the bytes before.
        let flush = if total == 0 && room.len() == size { FlushDecompress::Finish } else { FlushDecompress::None };
        let status = match state.decompress(unread(input, state), room, flush) {
            Ok(status) => status,
            Err(e) => return Err(out.error(format!("{e} (after {total} bytes)"))),
        };
        let wrote = in_memory(state.total_out().wrapping_sub(total));
        out.wrote(wrote)?;
        match status {
            Status::StreamEnd => return out.finish(unread(input, state).len()),
            // Nothing was read or written despite free space: the input is used up.
            Status::Ok | Status::BufError if wrote == 0 && state.total_in() == read => {
                return Err(out.error(format!("the stream ends early, after {total} bytes")));
            }
            Status::Ok | Status::BufError => {}
        }
    }
}

/// The input that `state` has not read.
fn unread<'i>(input: &'i [u8], state: &Decompress) -> &'i [u8] {
    input.split_at(in_memory(state.total_in())).1
}

/// A number of bytes that are, or were, in memory.
#[expect(clippy::expect_used, reason = "memory holds no more bytes than a number of the machine can count")]
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).expect("the bytes are in memory")
}

fn zlib_error(message: String) -> ErrorKind {
    ErrorKind::Codec { codec: "zlib", message: message.into() }
}

/// The first `most` decoded bytes of a deflate stream, or fewer if it ends or is damaged before.
pub fn inflate_head(input: &[u8], wrapped: bool, most: usize) -> Vec<u8> {
    let mut head = vec![0; most];
    let mut state = Decompress::new(wrapped);
    let _ = state.decompress(input, &mut head, FlushDecompress::None);
    head.truncate(in_memory(state.total_out()));
    head
}

/// A zlib stream of unknown decoded size, decoded step by step, so that the caller can stop early.
#[derive(Debug)]
pub struct ZlibSteps<'a> {
    input: &'a [u8],
    state: Decompress,
    limit: u64,
    ended: bool,
}

impl<'a> ZlibSteps<'a> {
    /// In bytes.
    pub const STEP: usize = 64 << 10;

    /// The stream at the start of `input`, with at most `limit` decoded bytes.
    pub fn new(input: &'a [u8], limit: u64) -> Self {
        Self { input, state: Decompress::new(true), limit, ended: false }
    }

    /// Appends the next bytes to `out`, at most [`ZlibSteps::STEP`]; returns `false` after the end of a stream with the
    /// right Adler-32.
    ///
    /// # Errors
    /// `Codec` when the stream is damaged or ends early, `Limit` when it has more bytes than it may.
    pub fn step(&mut self, out: &mut Vec<u8>) -> Result<bool, ErrorKind> {
        if self.ended {
            return Ok(false);
        }
        let (read, total) = (self.state.total_in(), self.state.total_out());
        if out.try_reserve(Self::STEP).is_err() {
            return Err(ErrorKind::no_memory(total.saturating_add(Self::STEP as u64)));
        }
        let old = out.len();
        out.resize(old.saturating_add(Self::STEP), 0);
        let status = self.state.decompress(self.unread(), out.split_at_mut(old).1, FlushDecompress::None);
        let wrote = in_memory(self.state.total_out().wrapping_sub(total));
        out.truncate(old.saturating_add(wrote));
        let status = status.map_err(|e| zlib_error(format!("{e} (after {total} bytes)")))?;
        let (value, limit) = (self.state.total_out(), self.limit);
        if value > limit {
            return Err(ErrorKind::Limit { what: "decoded bytes", value, limit });
        }
        match status {
            Status::StreamEnd => self.ended = true,
            Status::Ok | Status::BufError if wrote == 0 && self.state.total_in() == read => {
                return Err(zlib_error(format!("the stream ends early, after {total} bytes")));
            }
            Status::Ok | Status::BufError => {}
        }
        Ok(true)
    }

    /// The unread input: after the end of the stream, the bytes that do not belong to it.
    pub fn unread(&self) -> &'a [u8] {
        unread(self.input, &self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    fn deflated(data: &[u8], wrapped: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len() + 1024);
        let mut state = Compress::new(Compression::default(), wrapped);
        assert_eq!(state.compress_vec(data, &mut out, FlushCompress::Finish).unwrap(), Status::StreamEnd);
        out
    }

    /// Enough to make the output grow a few times.
    fn data() -> Vec<u8> {
        (0..300_000u32).flat_map(|i| (i / 50).to_le_bytes()).collect()
    }

    #[test]
    fn zlib_with_and_without_wrapper() {
        for wrapped in [true, false] {
            let (data, packed) = (data(), deflated(&data(), wrapped));
            assert_eq!(zlib(&packed, data.len()).unwrap(), data);
            for wrong in [data.len() - 1, data.len() + 1, 0, usize::MAX / 2] {
                assert!(zlib(&packed, wrong).is_err(), "{wrong}");
            }
            assert!(zlib(&packed[..packed.len() - 1], data.len()).is_err());
            let longer = [&packed[..], &[0]].concat();
            assert!(zlib(&longer, data.len()).unwrap_err().to_string().contains("1 bytes left over"));
        }
        assert!(zlib(&[], 0).is_err());
        assert!(zlib(&deflated(&[], true), 0).unwrap().is_empty());
    }

    #[test]
    fn a_stream_of_unknown_size_comes_in_steps() {
        let (data, packed) = (data(), deflated(&data(), true));
        let decode = |packed: &[u8], limit: u64| {
            let (mut steps, mut out, mut count) = (ZlibSteps::new(packed, limit), Vec::new(), 0);
            while steps.step(&mut out)? {
                count += 1;
                assert!(out.len() <= count * ZlibSteps::STEP);
            }
            Ok::<_, ErrorKind>((out, steps.unread().len()))
        };
        assert_eq!(decode(&packed, data.len() as u64).unwrap(), (data.clone(), 0));
        assert_eq!(decode(&[&packed[..], &[1, 2]].concat(), u64::MAX).unwrap().1, 2);
        let error = decode(&packed, data.len() as u64 - 1).unwrap_err();
        assert!(matches!(error, ErrorKind::Limit { .. }), "{error}");
        for end in [0, 1, 2, 3, packed.len() / 2, packed.len() - 5, packed.len() - 4, packed.len() - 1] {
            assert!(decode(&packed[..end], u64::MAX).is_err(), "{end}");
        }
        let mut wrong = packed;
        *wrong.last_mut().unwrap() ^= 1;
        assert!(decode(&wrong, u64::MAX).is_err(), "its Adler-32");
    }

    #[test]
    fn a_wrong_adler_is_found() {
        let mut packed = deflated(b"abcabcabc", true);
        *packed.last_mut().unwrap() ^= 1;
        assert!(zlib(&packed, 9).is_err());
    }

    /// The stored form of "abc" (RFC 7932): window bits, an uncompressed meta-block, an empty last one.
    #[test]
    fn brotli_meets_its_size_exactly() {
        let packed = [0x0B, 0x01, 0x80, b'a', b'b', b'c', 0x03];
        assert_eq!(brotli(&packed, 3).unwrap(), b"abc");
        for wrong in [0, 2, 4, usize::MAX / 2] {
            assert!(brotli(&packed, wrong).is_err(), "{wrong}");
        }
        for end in 0..packed.len() {
            assert!(brotli(&packed[..end], 3).is_err(), "{end}");
        }
        assert!(brotli(&[&packed[..], &[9]].concat(), 3).unwrap_err().to_string().contains("1 bytes left over"));
        assert!(brotli(&[0x3B], 0).unwrap().is_empty());
        assert!(brotli(&[0xFF; 8], 0).is_err());
    }
}
