//! ENCD blobs (docs/formats/geometry.md §4.2): vertex and index buffers as meshoptimizer's codecs pack them.
//!
//! The decoder is the C++ library's own. On x86 it uses its SSSE3 path if the processor supports it; on ARM it uses
//! NEON. It is safe for any payload, but a damaged one may decode to nonsense. The safe wrapper of the `meshopt` crate
//! fixes the vertex size at compile time and cannot fill a caller's buffer, so that this module makes the two calls
//! into the library.
#![allow(unsafe_code)]

use crate::bytes::le;
use crate::error::ErrorKind;
use meshopt::ffi;

/// `ENCD` as the little-endian number that begins such a blob.
pub const MAGIC: u32 = 0x4443_4E45;

/// The greatest size of a vertex in the codec; sizes are multiples of 4.
pub const MAX_STRIDE: usize = 256;

/// A packed blob: 8 bytes of header, then the codec's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encd<'a> {
    /// The number of vertices or indices, from the header.
    pub count: u32,
    pub payload: &'a [u8],
}

impl<'a> Encd<'a> {
    /// The blob in its parts, if it begins with [`MAGIC`].
    pub fn parse(blob: &'a [u8]) -> Option<Self> {
        let (header, payload) = blob.split_first_chunk::<8>()?;
        let [magic, count] = zerocopy::transmute_ref!(header);
        let _: (&le::U32, &le::U32) = (magic, count);
        (magic.get() == MAGIC).then_some(Self { count: count.get(), payload })
    }
}

/// Whether the vertex codec supports vertices of `stride` bytes.
pub const fn is_stride(stride: usize) -> bool {
    stride > 0 && stride <= MAX_STRIDE && stride.is_multiple_of(4)
}

/// The number of vertices of `stride` bytes in `len` bytes, which are called `what`.
fn count_of(len: usize, stride: usize, what: &'static str) -> Result<usize, ErrorKind> {
    if !is_stride(stride) {
        return Err(bad("vertex stride for the codec", stride));
    }
    len.checked_div(stride).filter(|_| len.is_multiple_of(stride)).ok_or_else(|| bad(what, len))
}

/// Whether `payload` could hold `count` vertices of `stride` bytes: a lower bound of the codec's output, so that no
/// memory is allocated for an impossible count.
pub fn can_hold_vertices(payload: &[u8], count: usize, stride: usize) -> bool {
    // A block holds as many vertices as fit into 8 KiB, in steps of 16 and at most 256. For each it stores at least a
    // byte a channel (version 0) or two bits a channel (version 1).
    let per_block = 8192usize.checked_div(stride).map_or(0, |n| (n & !15).min(256));
    let a_block = if payload.first() == Some(&0xA0) { stride } else { stride / 4 };
    match count.checked_add(per_block.saturating_sub(1)).and_then(|n| n.checked_div(per_block)) {
        Some(blocks) => payload.len() > blocks.saturating_mul(a_block).saturating_add(stride),
        None => false,
    }
}

/// Whether `payload` could hold `count` indices: a byte for each triangle, and a header and a table of 17 bytes.
pub const fn can_hold_indices(payload: &[u8], count: usize) -> bool {
    payload.len() >= (count / 3).saturating_add(17)
}

/// Decodes vertices of `stride` bytes into `out`, which must have their exact size.
///
/// # Errors
/// `BadValue` for a stride that the codec does not know or an `out` that is not a multiple of it; `Codec` when the
/// payload is not one of `out.len() / stride` vertices.
pub fn decode_vertices(payload: &[u8], stride: usize, out: &mut [u8]) -> Result<(), ErrorKind> {
    let count = count_of(out.len(), stride, "length of the output")?;
    // SAFETY: `out` is writable for `count * stride` bytes, as many as the decoder writes; `payload` is readable for
    // its length and the decoder checks every read against it. `stride` meets the decoder's assertions.
    let code = unsafe {
        ffi::meshopt_decodeVertexBuffer(out.as_mut_ptr().cast(), count, stride, payload.as_ptr(), payload.len())
    };
    said("meshopt vertices", code)
}

/// An index that the decoder can write.
trait Index {}
impl Index for u16 {}
impl Index for u32 {}

/// Decodes indices into `out`, which must have their exact size. The codec stores 32 bits; of 16-bit indices the higher bits are
/// dropped, as in the game.
///
/// # Errors
/// `BadValue` when `out` does not hold whole triangles; `Codec` when the payload is not one of `out.len()` indices.
#[allow(private_bounds, reason = "no other type is an index")]
pub fn decode_indices<T: Index>(payload: &[u8], out: &mut [T]) -> Result<(), ErrorKind> {
    if !out.len().is_multiple_of(3) {
        return Err(bad("count of indices, which must be whole triangles", out.len()));
    }
    // SAFETY: `T` is u16 or u32, so `out` is writable and aligned for `out.len()` integers of that size; `payload` is
    // readable for its length and the decoder checks every read against it. The count meets the decoder's assertions.
    let code = unsafe {
        ffi::meshopt_decodeIndexBuffer(
            out.as_mut_ptr().cast(),
            out.len(),
            size_of::<T>(),
            payload.as_ptr(),
            payload.len(),
        )
    };
    said("meshopt indices", code)
}

/// Encodes vertices of `stride` bytes with the version of the codec that made `like`.
///
/// # Errors
/// `BadValue` for a stride that the codec does not know or `data` that are not a multiple of it.
pub fn encode_vertices(data: &[u8], stride: usize, like: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let count = count_of(data.len(), stride, "length of the vertices")?;
    // SAFETY: `count_of` checks all that the function asserts.
    let bound = unsafe { ffi::meshopt_encodeVertexBufferBound(count, stride) };
    let mut out = vec![0; bound];
    let version = i32::from(like.first() != Some(&0xA0));
    // SAFETY: `data` is readable for `count * stride` bytes, and `out` writable for its length, which the encoder keeps to.
    // The level is one of 0 to 3, and the version one of 0 and 1.
    let size = unsafe {
        let (to, from) = (out.as_mut_ptr(), data.as_ptr());
        ffi::meshopt_encodeVertexBufferLevel(to, out.len(), from.cast(), count, stride, 2, version)
    };
    finished(out, size, "meshopt vertices")
}

/// Encodes the indices of whole triangles with the version of the codec that made `like`.
///
/// # Errors
/// `BadValue` for indices that are no whole triangles.
pub fn encode_indices(indices: &[u32], like: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    use std::sync::{Mutex, PoisonError};
    /// The version is one for the whole process.
    static VERSION: Mutex<()> = Mutex::new(());
    if !indices.len().is_multiple_of(3) {
        return Err(bad("count of indices, which must be whole triangles", indices.len()));
    }
    let vertices = indices.iter().max().map_or(0, |max| (*max as usize).saturating_add(1));
    let version = i32::from(like.first() != Some(&0xE0));
    let alone = VERSION.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: nothing but this function encodes indices, and no two threads do so at once, as `alone` is held. The
    // count meets the functions' assertions, `indices` is readable for it, and `out` writable for its length, which the
    // encoder keeps to.
    let (out, size) = unsafe {
        ffi::meshopt_encodeIndexVersion(version);
        let mut out = vec![0; ffi::meshopt_encodeIndexBufferBound(indices.len(), vertices)];
        let size = ffi::meshopt_encodeIndexBuffer(out.as_mut_ptr(), out.len(), indices.as_ptr(), indices.len());
        (out, size)
    };
    drop(alone);
    finished(out, size, "meshopt indices")
}

fn finished(mut out: Vec<u8>, size: usize, codec: &'static str) -> Result<Vec<u8>, ErrorKind> {
    if size == 0 {
        return Err(ErrorKind::Codec { codec, message: "the encoder has no room".into() });
    }
    out.truncate(size);
    Ok(out)
}

#[cold]
fn bad(what: &'static str, value: usize) -> ErrorKind {
    ErrorKind::BadValue { what: what.into(), value: value as i128 }
}

fn said(codec: &'static str, code: i32) -> Result<(), ErrorKind> {
    let message = match code {
        0 => return Ok(()),
        -1 => "the payload has no header of this codec",
        -2 => "the payload ends early",
        -3 => "the payload does not end where the last element does",
        _ => "the payload cannot be decoded",
    };
    Err(ErrorKind::Codec { codec, message: message.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cube of meshoptimizer's own tests: four vertices of 12 bytes, encoded by version 0 (demo/tests.cpp,
    /// `kVertexDataV0`), and its index buffer (`kIndexDataV0`).
    const VERTICES: [u8; 85] = [
        0xa0, 0x01, 0x3f, 0x00, 0x00, 0x00, 0x58, 0x57, 0x58, 0x01, 0x26, 0x00, 0x00, 0x00, 0x01, 0x0c, 0x00, 0x00,
        0x00, 0x58, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x3f, 0x00, 0x00, 0x00, 0x17, 0x18,
        0x17, 0x01, 0x26, 0x00, 0x00, 0x00, 0x01, 0x0c, 0x00, 0x00, 0x00, 0x17, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    const INDICES: [u8; 27] = [
        0xe0, 0xf0, 0x10, 0xfe, 0xff, 0xf0, 0x0c, 0xff, 0x02, 0x02, 0x02, 0x00, 0x76, 0x87, 0x56, 0x67, 0x78, 0xa9,
        0x86, 0x65, 0x89, 0x68, 0x98, 0x01, 0x69, 0x00, 0x00,
    ];

    #[test]
    fn decodes_the_librarys_own_samples() {
        let mut indices = [0u16; 12];
        decode_indices(&INDICES, &mut indices).unwrap();
        assert_eq!(indices, [0, 1, 2, 2, 1, 3, 4, 6, 5, 7, 8, 9]);
        let mut vertices = [0xEEu8; 48];
        decode_vertices(&VERTICES, 12, &mut vertices).unwrap();
        let words = |v: [u16; 6]| v.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        assert_eq!(vertices[..12], words([0; 6]));
        assert_eq!(vertices[12..24], words([300, 0, 0, 0, 500, 0]));
    }

    #[test]
    fn every_shorter_payload_is_an_error() {
        for len in 0..INDICES.len() {
            assert!(decode_indices(&INDICES[..len], &mut [0u16; 12]).is_err(), "{len}");
        }
        for len in 0..VERTICES.len() {
            assert!(decode_vertices(&VERTICES[..len], 12, &mut [0; 48]).is_err(), "{len}");
        }
    }

    #[test]
    fn what_the_library_asserts_is_an_error_before_it() {
        for stride in [0, 3, 6, 260, 1 << 20] {
            assert!(decode_vertices(&VERTICES, stride, &mut [0; 48]).is_err(), "{stride}");
        }
        assert!(decode_vertices(&VERTICES, 12, &mut [0; 47]).is_err());
        assert!(decode_indices(&INDICES, &mut [0u32; 11]).is_err());
        assert!(!can_hold_vertices(&VERTICES, 10, 0));
    }

    #[test]
    fn counts_are_bounded_by_the_payload() {
        assert!(can_hold_vertices(&VERTICES, 4, 12));
        assert!(!can_hold_vertices(&VERTICES, usize::MAX, 12));
        assert!(!can_hold_indices(&INDICES, 3 * 11));
        // The encoder's best case: only zeros, for every stride.
        fn zeros<const N: usize>() {
            // More than one block; even more are similar, and take minutes under emulation.
            for (count, version) in [(1, 0), (1, 1), (300, 0), (700, 0), (700, 1)] {
                let encoded = meshopt::encode_vertex_buffer_level(&vec![[0u8; N]; count], 2, Some(version)).unwrap();
                assert!(can_hold_vertices(&encoded, count, N), "{count} of {N} in {}", encoded.len());
            }
        }
        zeros::<4>();
        zeros::<28>();
        zeros::<36>();
        zeros::<132>();
        zeros::<256>();
    }
}
