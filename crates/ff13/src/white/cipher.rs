//! The cipher of lists (docs/formats/white.md §2).
//!
//! A block of 8 bytes depends on its number and on one of 32 keys, and on no other block. The published programs describe the cipher with
//! two tables and arithmetic on halves, which is equivalent to the arithmetic here.

use crate::threads::prelude::*;

pub(super) const BLOCK: usize = 8;

/// The number of bytes in a thread's share.
const SHARE: usize = 64 << 10;

/// The 32 keys of a seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys([u64; 32]);

impl Keys {
    pub(super) fn new(seed: &[u8; 16]) -> Self {
        let [a, _, c, _, _, _, _, _, _, j, _, _, m, ..] = *seed;
        // The published programs shift a signed number.
        let sign = if j >= 0x80 { 0xFF } else { 0 };
        let mut first = [c.wrapping_add(0x45), a, j, m, sign, sign, sign, sign];
        let mut before: Option<u8> = None;
        for byte in &mut first {
            if let Some(before) = before {
                *byte = (byte.wrapping_add(0xD4).wrapping_add(before)) ^ (before << 2) ^ 0x45;
            }
            before = Some(*byte);
        }
        let mut next = u64::from_le_bytes(first);
        Self(std::array::from_fn(|_| {
            let key = next;
            next = next.wrapping_mul(5);
            key
        }))
    }

    /// The key of block `n`, the number that is added to each of its bytes, and the number that its two halves are
    /// mixed with.
    fn of(&self, n: u64) -> (u64, u8, u64) {
        let [low, ..] = n.to_le_bytes();
        let key = *self.0.get(usize::from(low % 32)).expect("there are 32 keys");
        let shift = key.to_le_bytes().iter().fold(0xC0u8, |sum, byte| sum.wrapping_sub(*byte));
        let at = n.wrapping_mul(8);
        let mix = (at | at << 10 | at << 20 | at << 30).wrapping_add(0xA165_2347);
        (key, shift, mix)
    }

    fn decrypt_block(&self, n: u64, stored: [u8; BLOCK]) -> [u8; BLOCK] {
        let (key, shift, mix) = self.of(n);
        let [low, ..] = n.to_le_bytes();
        let mut before = low ^ 0x45;
        let bytes = stored.map(|byte| {
            let plain = (byte ^ before).wrapping_add(shift);
            before = byte;
            plain
        });
        let value = u64::from_le_bytes(bytes).wrapping_sub(key) ^ mix ^ key;
        value.rotate_left(32).to_le_bytes()
    }

    /// Deciphers `stored`, on all cores; trailing bytes that do not fill a block are unchanged.
    pub(super) fn decrypt(&self, stored: &[u8]) -> Vec<u8> {
        let mut bytes = stored.to_vec();
        bytes.par_chunks_mut(SHARE).enumerate().for_each(|(share, bytes)| {
            let first = (share as u64).saturating_mul((SHARE / BLOCK) as u64);
            for (n, block) in (first..).zip(bytes.chunks_exact_mut(BLOCK)) {
                if let Some(stored) = block.first_chunk().copied() {
                    block.copy_from_slice(&self.decrypt_block(n, stored));
                }
            }
        });
        bytes
    }
}

/// The sum of every fourth byte.
pub(super) fn checksum(data: &[u8]) -> u32 {
    data.as_chunks::<4>().0.iter().fold(0u32, |sum, &[first, ..]| sum.wrapping_add(first.into()))
}
