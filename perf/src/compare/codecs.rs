//! Archives, next to the bare codecs on the same bytes.

use super::run::{Run, pool};
use crate::inputs::archive;
use crate::record::Bound::AtMost;
use crate::turns::turns;
use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::vrage::vrb::VrbArchive;
use assetq_sample::vrb::Codec;
use flate2::read::ZlibDecoder;
use std::hint::black_box;
use std::io::{Read as _, Write};
use xxhash_rust::xxh64::xxh64;

/// Counts what is written to it.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Stored bytes of every chunk, and their size when decoded.
type Parts<'a> = Vec<(&'a [u8], usize)>;

fn bare(codec: Codec, parts: &Parts<'_>) -> usize {
    let decode = |&(stored, size): &(&[u8], usize)| {
        assert_ne!(xxh64(stored, 1), 0);
        match codec {
            Codec::Zlib | Codec::Deflate => {
                let mut out = Vec::with_capacity(size);
                ZlibDecoder::new(stored).read_to_end(&mut out).expect("it decodes");
                black_box(&out).len()
            }
            Codec::Brotli => {
                let mut out = Vec::with_capacity(size);
                brotli_decompressor::BrotliDecompress(&mut { stored }, &mut out).expect("it decodes");
                black_box(&out).len()
            }
            Codec::None => {
                let mut count = Count(0);
                count.write_all(stored).expect("it counts");
                count.0
            }
        }
    };
    parts.iter().map(decode).sum()
}

pub fn run(run: &mut Run) {
    // All of them in the same thread, whose memory was touched before.
    let one = pool(1);
    for (name, codec) in [("stored", Codec::None), ("zlib", Codec::Zlib), ("brotli", Codec::Brotli)] {
        let source = Source::open(archive(name, codec)).expect("it can be mapped");
        let archive = VrbArchive::open(source.clone()).expect("it is an archive");
        let chunks = archive.chunks().expect("they lie in the file");
        let parts: Parts<'_> = chunks
            .iter()
            .map(|chunk| {
                let entry = chunk.part().entry();
                let [at, stored, size] =
                    [entry.offset, entry.entry_size, entry.uncompressed_size].map(|n| n.get() as usize);
                (&source.bytes()[at..at + stored], size)
            })
            .collect();
        let ours = || {
            let archive = VrbArchive::open(source.clone()).expect("it is an archive");
            let chunks = archive.chunks().expect("they lie in the file");
            chunks.iter().map(|chunk| chunk.data().expect("it decodes").bytes().len()).sum::<usize>()
        };
        let expected = parts.iter().map(|part| part.1).sum::<usize>();
        assert_eq!([ours(), bare(codec, &parts)], [expected; 2]);
        let check = || assert!(VrbArchive::open(source.clone()).expect("opens").verify(&Default::default()).is_ok());
        let times = one.install(|| {
            turns(
                run.rounds(16),
                &mut [
                    &mut || assert_eq!(ours(), expected),
                    &mut || assert_eq!(bare(codec, &parts), expected),
                    &mut || check(),
                ],
            )
        });
        let mb = expected / 1_000_000;
        let what = format!("read {mb} MB in {name} chunks / bare codec + XXH64");
        run.ratio("codecs", &what, [&times[0], &times[1]], 1, Some(AtMost(1.1)));
        let what = format!("verify {mb} MB in {name} chunks / bare codec + XXH64");
        run.ratio("codecs", &what, [&times[2], &times[1]], 1, None);
    }
}
