//! Compression with the settings that the games use.

use crate::threads::prelude::*;
use brotli::concat::{BroCatli, BroCatliResult};
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use std::io::{self, Write as _};

/// The Brotli quality that VRAGE 3 has (docs/formats/vrb.md §2), and its window as a power of two.
const BROTLI: (u8, u8) = (4, 22);

/// Compresses `data` as a bare Brotli stream, with the quality and the window of VRAGE 3. The game's encoder is a different one, so that
/// the bytes differ.
pub fn to_brotli(data: &[u8]) -> io::Result<Vec<u8>> {
    // The game's stream is flushed before it is closed, which leaves an empty meta-block at its end.
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 1 << 16, BROTLI.0.into(), BROTLI.1.into());
    encoder.write_all(data)?;
    encoder.flush()?;
    Ok(encoder.into_inner())
}

/// Bytes that one core compresses by itself: few enough that all cores end at nearly the same time. The first bytes of a
/// part have less to refer to than in one stream: a chunk of 12.5 MB grows by 0.7 % against parts of 6 MiB.
const PART: usize = 2 << 20;

/// The encoder's size hint for a part. For a hint of 1 MiB or more it takes a hash table that does not fit into the caches of
/// a core: a chunk of 12.5 MB is 0.7 % smaller, and takes up to 1.7 times as long.
const PART_HINT: usize = 1;

/// As [`to_brotli`], on all cores: parts that do not refer to each other, joined into one stream. Which parts depends on
/// nothing but `data`.
pub fn to_brotli_on_all_cores(data: &[u8]) -> io::Result<Vec<u8>> {
    let parts = data.len().div_ceil(PART);
    if parts < 2 {
        return to_brotli(data);
    }
    let share = data.len().div_ceil(parts);
    let parts: Vec<(usize, &[u8])> = data.chunks(share).enumerate().collect();
    let compressed = parts.par_iter().map(|(number, part)| {
        let params = BrotliEncoderParams {
            quality: BROTLI.0.into(),
            lgwin: BROTLI.1.into(),
            appendable: true,
            catable: *number > 0,
            size_hint: PART_HINT,
            ..BrotliEncoderParams::default()
        };
        let mut encoder = brotli::CompressorWriter::with_params(Vec::new(), 1 << 16, &params);
        encoder.write_all(part)?;
        Ok(encoder.into_inner())
    });
    let streams = compressed.collect::<io::Result<Vec<Vec<u8>>>>()?;
    // Where two meet, a few bits more.
    let room = streams.iter().map(|stream| stream.len().saturating_add(8)).fold(8, usize::saturating_add);
    let (mut joined, mut end, mut join) = (vec![0; room], 0, BroCatli::new());
    for stream in &streams {
        join.new_brotli_file();
        match join.stream(stream, &mut 0, &mut joined, &mut end) {
            BroCatliResult::NeedsMoreInput | BroCatliResult::Success => {}
            other => return Err(unjoined(other)),
        }
    }
    match join.finish(&mut joined, &mut end) {
        BroCatliResult::Success => {}
        other => return Err(unjoined(other)),
    }
    joined.truncate(end);
    Ok(joined)
}

fn unjoined(result: BroCatliResult) -> io::Error {
    io::Error::other(format!("parts of a Brotli stream: {result:?}"))
}

/// `data` as a deflate stream: `wrapped` by a zlib header and an Adler-32 (RFC 1950), or bare (RFC 1951).
pub fn to_zlib(data: &[u8], wrapped: bool) -> io::Result<Vec<u8>> {
    let level = Compression::new(4);
    if wrapped {
        let mut encoder = ZlibEncoder::new(Vec::new(), level);
        encoder.write_all(data)?;
        return encoder.finish();
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(data)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec;

    #[test]
    fn parts_that_are_compressed_at_once_are_one_stream() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()
        };
        // Numbers that share most of their bytes.
        let data: Vec<u8> = (0..PART / 3).flat_map(|_| [next()[0] & 15, 0, 3, 0, next()[1] & 1, 0, 0, 0]).collect();
        for len in [0, 1, PART, PART + 1, data.len()] {
            let stream = to_brotli_on_all_cores(&data[..len]).unwrap();
            assert!(codec::brotli(&stream, len).unwrap() == data[..len], "{len}");
        }
        let (one, many) = (to_brotli(&data).unwrap().len(), to_brotli_on_all_cores(&data).unwrap().len());
        assert!(many < one + one / 50, "{many} and {one} bytes");
    }
}
