//! MurmurHash3_x86_32 of two files at once.

/// The state of the hash over consecutive parts.
#[derive(Debug, Default)]
struct Murmur {
    hash: u32,
    /// The bytes of an incomplete block.
    rest: [u8; 4],
    held: usize,
    len: u32,
}

#[inline(always)]
fn mixed(block: [u8; 4]) -> u32 {
    u32::from_le_bytes(block).wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}

#[inline(always)]
fn stepped(hash: u32, mixed: u32) -> u32 {
    (hash ^ mixed).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
}

#[inline(always)]
fn step(hash: u32, block: [u8; 4]) -> u32 {
    stepped(hash, mixed(block))
}

/// Two hashes over the same number of blocks. Equal blocks are mixed once, and while all earlier blocks are equal, too, one hash serves
/// for both.
fn hashes(a: u32, b: u32, left: &[[u8; 4]], right: &[[u8; 4]]) -> (u32, u32) {
    match (std::ptr::eq(left, right), a == b) {
        (true, true) => {
            let hash = left.iter().fold(a, |hash, block| step(hash, *block));
            (hash, hash)
        }
        (true, false) => left.iter().fold((a, b), |(a, b), block| {
            let mixed = mixed(*block);
            (stepped(a, mixed), stepped(b, mixed))
        }),
        (false, _) => left.iter().zip(right).fold((a, b), |(a, b), (l, r)| (step(a, *l), step(b, *r))),
    }
}

impl Murmur {
    fn count(&mut self, bytes: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "the length counts modulo 2^32")]
        let bytes = bytes as u32;
        self.len = self.len.wrapping_add(bytes);
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        let mut bytes = bytes;
        while self.held > 0
            && let Some((first, more)) = bytes.split_first()
        {
            self.hold(*first);
            bytes = more;
        }
        let (blocks, rest) = bytes.as_chunks::<4>();
        self.hash = blocks.iter().fold(self.hash, |hash, block| step(hash, *block));
        rest.iter().for_each(|byte| self.hold(*byte));
    }

    fn hold(&mut self, byte: u8) {
        if let Some(place) = self.rest.get_mut(self.held) {
            *place = byte;
        }
        self.held = self.held.saturating_add(1);
        if self.held == self.rest.len() {
            self.hash = step(self.hash, self.rest);
            (self.rest, self.held) = ([0; 4], 0);
        }
    }

    fn finish(&self) -> u32 {
        let mut hash = self.hash ^ mixed(self.rest) ^ self.len;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
        hash ^ (hash >> 16)
    }
}

/// The MurmurHash3 of two files, each as parts that follow each other. A hash waits for its own last step nearly all of its
/// time, so that two at once take as long as one.
pub fn murmur3_of_both<'a>(
    mut one: impl Iterator<Item = &'a [u8]>,
    mut other: impl Iterator<Item = &'a [u8]>,
) -> (u32, u32) {
    let (mut a, mut b) = (Murmur::default(), Murmur::default());
    let (mut left, mut right): (&[u8], &[u8]) = (&[], &[]);
    loop {
        while left.is_empty()
            && let Some(part) = one.next()
        {
            left = part;
        }
        while right.is_empty()
            && let Some(part) = other.next()
        {
            right = part;
        }
        // The bytes up to the end of the block.
        let (before, same) = (4usize.wrapping_sub(a.held) & 3, a.held == b.held);
        let both = left.len().min(right.len());
        match both.checked_sub(before).filter(|both| same && *both >= 4) {
            Some(both) => {
                let end = before.saturating_add(both & !3);
                let (l, r) = (left.split_at(end), right.split_at(end));
                let (l_head, l_blocks) = l.0.split_at(before);
                let (r_head, r_blocks) = r.0.split_at(before);
                a.feed(l_head);
                b.feed(r_head);
                (a.hash, b.hash) = hashes(a.hash, b.hash, l_blocks.as_chunks::<4>().0, r_blocks.as_chunks::<4>().0);
                a.count(l_blocks.len());
                b.count(r_blocks.len());
                (left, right) = (l.1, r.1);
            }
            None if left.is_empty() && right.is_empty() => return (a.finish(), b.finish()),
            None => {
                // Bytes that are too few for a block of both, or at different offsets of blocks.
                let few = if both == 0 || !same { usize::MAX } else { both };
                let (l, r) = (left.split_at(few.min(left.len())), right.split_at(few.min(right.len())));
                a.feed(l.0);
                b.feed(r.0);
                (left, right) = (l.1, r.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::murmur3;

    #[test]
    fn two_hashes_at_once_are_each_that_of_the_whole() {
        let bytes: Vec<u8> = (0..1000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let expected: Vec<u32> = (0..bytes.len()).map(|len| murmur3(&bytes[..len])).collect();
        for (len, step, other, pace) in [
            (0, 1, 0, 1),
            (1, 1, 999, 7),
            (999, 4, 998, 4),
            (512, 5, 512, 5),
            (512, 64, 511, 63),
            (3, 2, 4, 3),
            (777, 1000, 777, 13),
            (600, 4, 601, 1000),
            (5, 1000, 6, 1000),
        ] {
            let both = murmur3_of_both(bytes[..len].chunks(step), bytes[..other].chunks(pace));
            assert_eq!(both, (expected[len], expected[other]), "{len} by {step}, {other} by {pace}");
        }
        // The parts of a file with one changed block.
        let edited = [&bytes[..400], &[9, 9, 9, 9], &bytes[404..]].concat();
        let parts = [&bytes[..400], &edited[400..404], &bytes[404..]];
        let both = murmur3_of_both(std::iter::once(&bytes[..]), parts.into_iter());
        assert_eq!(both, (murmur3(&bytes), murmur3(&edited)));
    }
}
