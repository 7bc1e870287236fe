//! Compression with the settings that the games use.

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use std::io::{self, Write as _};

/// The Brotli quality that VRAGE 3 has (docs/formats/vrb.md §2), and its window as a power of two.
const BROTLI: (u32, u32) = (4, 22);

/// `data` as a bare Brotli stream, with the quality and the window of VRAGE 3. Another encoder makes other choices under
/// the same settings, so the bytes are not the game's.
pub fn to_brotli(data: &[u8]) -> io::Result<Vec<u8>> {
    // The game's stream is flushed before it is closed, which leaves an empty meta-block at its end.
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 1 << 16, BROTLI.0, BROTLI.1);
    encoder.write_all(data)?;
    encoder.flush()?;
    Ok(encoder.into_inner())
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
