//! Thin wrappers of the crates that hash and decode, with everything about an algorithm that the formats rely on.

mod compress;
mod decompress;
mod memory;
mod murmur;
mod oodle;

pub use compress::to_brotli_on_all_cores;
pub use compress::{to_brotli, to_zlib};
pub use decompress::is_wrapped;
pub use decompress::{ZlibSteps, brotli, deflate, inflate_head, zlib};
pub use memory::Memory;
pub use murmur::murmur3_of_both;
pub use oodle::Oodle;

use crate::bytes::hexadecimal;
use crate::error::{Error, ErrorKind, Result};
use crate::threads::prelude::*;
use sha2::{Digest as _, Sha256};

/// CityHash64 v1.1 without a seed: the id of a World of Warships path ('/' separators, case kept, no leading slash).
#[inline]
pub fn cityhash64(bytes: &[u8]) -> u64 {
    cityhasher::hash(bytes)
}

/// MurmurHash3_x86_32 with seed 0: the id of a World of Warships name, and the checksum of its files.
#[inline]
pub fn murmur3(bytes: &[u8]) -> u32 {
    mur3::murmurhash3_x86_32(bytes, 0)
}

/// The CRC-32 of parts that follow each other.
pub fn crc32_of<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// CRC-32 (IEEE), as in zip files.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The SHA-256 of pieces one after another, in hexadecimal digits.
pub fn sha256_of(pieces: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hexadecimal(&hash.finalize())
}

/// Spreads the bits of a number, so that small numbers and ids of hostile files suit a hash table, which looks at the first and the
/// last bits. It is no checksum.
#[inline]
pub fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    xxhash_rust::xxh64::xxh64(bytes, seed)
}

/// The hash of each of `count` pieces of a file, on all cores. Pieces may share bytes; pieces that overlap on purpose
/// could otherwise be hashed without end: all together have at most `limit` bytes.
pub fn contents(
    count: usize,
    limit: u64,
    length: impl Fn(usize) -> Result<u64>,
    hash: impl Fn(usize) -> Result<u64> + Send + Sync,
) -> Vec<Result<u64>> {
    // A piece without a length has no bytes to hash.
    let value = (0..count).filter_map(|at| length(at).ok()).fold(0, u64::saturating_add);
    if value > limit {
        let what = "bytes of all pieces together, which overlap";
        return vec![Err(Error::of_part(ErrorKind::Limit { what, value, limit }, "content")); count];
    }
    (0..count).into_par_iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids read from the game's own files (docs/formats/bwdb.md §1.4).
    #[test]
    fn path_ids_are_cityhash64() {
        let ship = "content/gameplay/japan/ship/destroyer/JSD011_Akizuki_1944/JSD011_Akizuki_1944";
        assert_eq!(cityhash64(b"content"), 0xA330_4644_2D83_27FC);
        assert_eq!(cityhash64(format!("{ship}.model").as_bytes()), 0x0DF5_A921_212A_899E);
        assert_eq!(cityhash64(format!("{ship}.mo").as_bytes()), 0x0A8F_A812_1416_5ECB);
    }

    #[test]
    fn name_ids_are_murmur3() {
        let known = [
            ("Scene Root", 0x10C3_0510),
            ("diffuseMap", 0x820F_0280),
            ("normalMap", 0x4858_745D),
            ("doubleSided", 0xA23C_BF8B),
            ("metallicGlossMap", 0x89BA_BFE7),
            ("MaterialPrototype", 0x5069_C471),
        ];
        for (name, id) in known {
            assert_eq!(murmur3(name.as_bytes()), id, "{name}");
        }
    }

    #[test]
    fn crc32_has_its_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn parts_that_follow_each_other_hash_as_one() {
        let whole: Vec<u8> = (0..1000u32).map(|i| (i * 7 % 251) as u8).collect();
        for step in [1, 2, 3, 5, 17, 999, 1000] {
            assert_eq!(crc32_of(whole.chunks(step)), crc32(&whole), "{step}");
        }
    }

    #[test]
    fn xxh64_has_its_check_values() {
        assert_eq!(xxh64(b"", 0), 0xEF46_DB37_51D8_E999);
        assert_eq!(xxh64(b"abc", 0), 0x44BC_2CF5_AD77_0999);
        assert_ne!(xxh64(b"abc", 1), xxh64(b"abc", 0));
    }
}
