//! Memory for the output of codecs.

use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// From this size on, memory uses huge pages, if the system has them.
const HUGE: usize = 4 << 20;

/// Zeroed bytes for a codec to write into.
///
/// The first touch of a page goes through the kernel, which for pages of 4 KiB takes about as long as decoding the
/// bytes that they hold. Huge pages need 512 times fewer touches.
#[derive(Debug)]
pub enum Memory {
    Heap(Vec<u8>),
    Huge(MmapMut),
}

impl Memory {
    /// `len` bytes.
    pub fn zeroed(len: usize) -> Self {
        match if len < HUGE { None } else { MmapMut::map_anon(len).ok() } {
            Some(map) => {
                // A hint: without it, small pages work as well.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Self::Huge(map)
            }
            None => Self::Heap(vec![0; len]),
        }
    }
}

impl Deref for Memory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Huge(map) => map,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Huge(map) => map,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_are_zeroed_and_can_be_written() {
        for len in [0, 1, HUGE - 1, HUGE, HUGE + 1] {
            let mut memory = Memory::zeroed(len);
            assert_eq!((memory.len(), memory.iter().max().copied().unwrap_or(0)), (len, 0));
            memory.fill(7);
            assert!(memory.iter().all(|&b| b == 7), "{len}");
            assert_eq!(matches!(memory, Memory::Huge(_)), len >= HUGE);
        }
    }
}
