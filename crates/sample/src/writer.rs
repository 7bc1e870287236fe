//! [`Writer`]: an unfinished file.

use flate2::{Compress, Compression, FlushCompress};

/// A deflate stream of `bytes`, `wrapped` as zlib does or bare.
pub fn deflate(bytes: &[u8], level: u32, wrapped: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 1000 + 64);
    let mut state = Compress::new(Compression::new(level), wrapped);
    state.compress_vec(bytes, &mut out, FlushCompress::Finish).expect("memory does for an output");
    out
}

/// A number that files store as little-endian bytes.
pub trait Number: Copy {
    fn push(self, out: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Number for $number {
            fn push(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}

numbers!(u16 u32 u64 i16 i32 i64 f32 f64);

impl<N: Number> Number for &N {
    fn push(self, out: &mut Vec<u8>) {
        (*self).push(out);
    }
}

/// The bytes of numbers, one after another.
pub fn bytes<N: Number>(numbers: impl IntoIterator<Item = N>) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.into_iter().for_each(|number| number.push(&mut out));
    out
}

/// An unfinished file, with relative pointers that are filled in once their target is known.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// The next position.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    pub fn push(&mut self, bytes: impl AsRef<[u8]>) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes.as_ref());
        at
    }

    /// Appends a text and a NUL; returns its position.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> usize {
        let at = self.push(text);
        self.bytes.push(0);
        at
    }

    /// Appends a number; returns its position.
    pub fn add<N: Number>(&mut self, number: N) -> usize {
        self.all([number])
    }

    /// Appends numbers; returns the position of the first.
    pub fn all<N: Number>(&mut self, numbers: impl IntoIterator<Item = N>) -> usize {
        let at = self.bytes.len();
        numbers.into_iter().for_each(|number| number.push(&mut self.bytes));
        at
    }

    /// Appends `count` zero bytes; returns their position.
    pub fn zeros(&mut self, count: usize) -> usize {
        let at = self.bytes.len();
        self.bytes.resize(at + count, 0);
        at
    }

    /// Appends zero bytes up to the next multiple of `alignment`.
    pub fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    /// Overwrites the bytes at `at`, which must have been appended.
    pub fn patch(&mut self, at: usize, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Overwrites the number at `at`.
    pub fn set<N: Number>(&mut self, at: usize, number: N) {
        self.patch(at, bytes([number]));
    }

    /// Writes at `at` the relative pointer that leads from `base` to `target`.
    pub fn point(&mut self, at: usize, base: usize, target: usize) {
        self.set(at, target as i64 - base as i64);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
