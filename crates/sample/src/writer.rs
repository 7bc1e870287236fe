//! [`Writer`]: an unfinished file.

/// An unfinished file, with relative pointers that are filled in once their target is known.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Starts empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts empty, with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// The next position.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Appends bytes; returns their position.
    pub fn push(&mut self, bytes: impl AsRef<[u8]>) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes.as_ref());
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

    /// Appends a little-endian u16; returns its position. The other widths below do the same.
    pub fn u16(&mut self, value: u16) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian u32.
    pub fn u32(&mut self, value: u32) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian i32.
    pub fn i32(&mut self, value: i32) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian u64.
    pub fn u64(&mut self, value: u64) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends a little-endian i64.
    pub fn i64(&mut self, value: i64) -> usize {
        self.push(value.to_le_bytes())
    }

    /// Appends little-endian floats; returns the position of the first.
    pub fn f32s(&mut self, values: &[f32]) -> usize {
        let at = self.bytes.len();
        values.iter().for_each(|v| self.bytes.extend_from_slice(&v.to_le_bytes()));
        at
    }

    /// Overwrites the bytes at `at`, which must have been appended.
    pub fn patch(&mut self, at: usize, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes at `at` the relative pointer that leads from `base` to `target`.
    pub fn point(&mut self, at: usize, base: usize, target: usize) {
        self.patch(at, (target as i64 - base as i64).to_le_bytes());
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The finished bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
