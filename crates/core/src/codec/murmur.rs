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

/// The MurmurHash3 of two files, the other one as parts that follow each other. A hash waits for its own last step nearly all of its
/// time, so that two at once take as long as one.
pub fn murmur3_of_both<'a>(one: &'a [u8], other: impl Iterator<Item = &'a [u8]>) -> (u32, u32) {
    let (mut a, mut b) = (Murmur::default(), Murmur::default());
    let mut rest = one;
    for part in other {
        let (left, after) = rest.split_at(part.len().min(rest.len()));
        let (right, beyond) = part.split_at(left.len());
        feed_both(&mut a, &mut b, left, right);
        b.feed(beyond);
        rest = after;
    }
    a.feed(rest);
    (a.finish(), b.finish())
}

/// Feeds `left` and `right`, of one length, to two hashes that have had the same number of bytes, or feeds no bytes.
fn feed_both(a: &mut Murmur, b: &mut Murmur, left: &[u8], right: &[u8]) {
    // The bytes up to the end of the block.
    let head = (4usize.wrapping_sub(a.held) & 3).min(left.len());
    let ((l_head, left), (r_head, right)) = (left.split_at(head), right.split_at(head));
    a.feed(l_head);
    b.feed(r_head);
    let ((left, l_tail), (right, r_tail)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    (a.hash, b.hash) = hashes(a.hash, b.hash, left, right);
    a.count(size_of_val(left));
    b.count(size_of_val(right));
    a.feed(l_tail);
    b.feed(r_tail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::murmur3;

    #[test]
    fn two_hashes_at_once_are_each_that_of_the_whole() {
        let bytes: Vec<u8> = (0..1000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let expected: Vec<u32> = (0..bytes.len()).map(|len| murmur3(&bytes[..len])).collect();
        for (len, other, pace) in [
            (0, 0, 1),
            (1, 999, 7),
            (999, 998, 4),
            (512, 512, 5),
            (512, 511, 63),
            (3, 4, 3),
            (777, 777, 13),
            (600, 601, 1000),
            (5, 6, 1000),
        ] {
            let both = murmur3_of_both(&bytes[..len], bytes[..other].chunks(pace));
            assert_eq!(both, (expected[len], expected[other]), "{len}, {other} by {pace}");
        }
        // The parts of a file with one changed block.
        let edited = [&bytes[..400], &[9, 9, 9, 9], &bytes[404..]].concat();
        let parts = [&bytes[..400], &edited[400..404], &bytes[404..]];
        let both = murmur3_of_both(&bytes, parts.into_iter());
        assert_eq!(both, (murmur3(&bytes), murmur3(&edited)));
    }
}
