//! Codecs beside a second decoder: meshoptimizer's beside `meshopt-rs`, which is pure Rust; zlib and Brotli beside Python's.
//!
//! Two decoders give the same bytes for each stream that both decode. A second decoder may refuse more, or panic.

use crate::common::files_in;
use assetq::Source;
use assetq::formats::wows::geometry::{Geometry, encd};
use assetq_sample::geometry::surface;
use assetq_sample::{FILES, Size};
use fastrand::Rng;
use std::panic::catch_unwind;

/// Bytes with runs, with small differences, or of chance.
fn content(rng: &mut Rng, len: usize, period: usize) -> Vec<u8> {
    let kind = rng.u8(..4);
    (0..len)
        .map(|at| match kind {
            0 => rng.u8(..),
            1 => (at / period) as u8 ^ (rng.u8(..) & 3),
            2 => (at % period) as u8,
            _ => rng.u8(..) & (at / 97) as u8,
        })
        .collect()
}

/// Copies of `bytes` with a few changed ones, and its beginnings.
fn damaged(rng: &mut Rng, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..4).map(|_| bytes[..rng.usize(..=bytes.len())].to_vec()).collect();
    for _ in 0..12 {
        let mut copy = bytes.to_vec();
        for _ in 0..rng.usize(1..4) {
            if let Some(byte) = rng.choice(copy.iter_mut()) {
                *byte ^= 1 << rng.u8(..8);
            }
        }
        all.push(copy);
    }
    all
}

mod meshes {
    use super::*;
    use meshopt_rs::index::buffer::decode_index_buffer;
    use meshopt_rs::vertex::buffer::decode_vertex_buffer;

    /// Vertices by the second decoder, which knows their size when it is compiled, and the old version of the codec alone.
    fn vertices(payload: &[u8], stride: usize, count: usize) -> Option<Vec<u8>> {
        macro_rules! by_stride {
            ($($size:literal)*) => {
                match stride {
                    $($size => {
                        let mut out = vec![[0u8; $size]; count];
                        decode_vertex_buffer(&mut out, payload).is_ok().then(|| out.concat())
                    })*
                    _ => None,
                }
            };
        }
        // All sizes in formats of the game, and those at the ends.
        catch_unwind(|| by_stride!(4 8 12 16 20 24 28 32 36 40 44 48 52 60 64 128 252 256)).ok().flatten()
    }

    fn indices(payload: &[u8], count: usize) -> Option<Vec<u32>> {
        let decode = || {
            let mut out = vec![0u32; count];
            decode_index_buffer(&mut out, payload).is_ok().then_some(out)
        };
        catch_unwind(decode).ok().flatten()
    }

    /// Compares both decoders. Returns whether both decode the payload.
    fn same_vertices(payload: &[u8], stride: usize, count: usize) -> bool {
        let mut ours = vec![0; stride * count];
        let is_ours = encd::decode_vertices(payload, stride, &mut ours).is_ok();
        let theirs = vertices(payload, stride, count);
        assert!(!is_ours || theirs.as_ref().is_none_or(|theirs| *theirs == ours), "{count} vertices of {stride} bytes");
        is_ours && theirs.is_some()
    }

    fn same_indices(payload: &[u8], count: usize) -> bool {
        let mut ours = vec![0u32; count];
        let is_ours = encd::decode_indices(payload, &mut ours).is_ok();
        let theirs = indices(payload, count);
        assert!(!is_ours || theirs.as_ref().is_none_or(|theirs| *theirs == ours), "{count} indices");
        is_ours && theirs.is_some()
    }

    #[test]
    fn vertices_are_those_of_a_decoder_in_pure_rust() {
        let mut rng = Rng::with_seed(11);
        let mut of_damaged = 0;
        for stride in [4, 12, 16, 20, 28, 32, 36, 64, 128, 256] {
            for count in [1, 2, 15, 16, 17, 255, 256, 257, 900] {
                let bytes = content(&mut rng, stride * count, stride);
                let payload = encd::encode_vertices(&bytes, stride, &[0xA0]).unwrap();
                assert!(same_vertices(&payload, stride, count), "{count} vertices of {stride} bytes");
                assert_eq!(vertices(&payload, stride, count).unwrap(), bytes);
                for payload in damaged(&mut rng, &payload) {
                    of_damaged += usize::from(same_vertices(&payload, stride, count));
                }
            }
        }
        // Many damaged payloads are payloads of other content.
        assert!(of_damaged > 100, "{of_damaged} damaged payloads were decoded");
    }

    #[test]
    fn indices_are_those_of_a_decoder_in_pure_rust() {
        let mut rng = Rng::with_seed(12);
        let mut of_damaged = 0;
        for round in 0..60 {
            let most = [3, 20, 300, 70_000, u32::MAX][round % 5];
            let given = match round % 3 {
                0 => surface(2 + round as u32 % 9, 3 + round as u32 % 5, 4.0, round as u64).1,
                1 => (0..3 * rng.u32(1..200)).map(|at| (at / 2 + rng.u32(..5)) % most).collect(),
                _ => (0..3 * rng.u32(1..200)).map(|_| rng.u32(..most)).collect::<Vec<_>>(),
            };
            for version in [0xE0, 0xE1] {
                let payload = encd::encode_indices(&given, &[version]).unwrap();
                assert!(same_indices(&payload, given.len()), "{given:?}");
                for payload in damaged(&mut rng, &payload) {
                    of_damaged += usize::from(same_indices(&payload, given.len()));
                }
            }
        }
        assert!(of_damaged > 100, "{of_damaged} damaged payloads were decoded");
    }

    #[test]
    fn buffers_of_real_files_are_those_of_a_decoder_in_pure_rust() {
        let mut compared = 0;
        let files =
            files_in("geometry").into_iter().map(|path| (path.display().to_string(), Source::open(path).unwrap()));
        let sample = FILES.iter().find(|(name, ..)| *name == "ship.geometry").unwrap();
        let sample = (sample.0.to_owned(), Source::from_vec(sample.0, (sample.2)(1, Size::Small)));
        for (name, source) in files.chain([sample]) {
            let Ok(geometry) = Geometry::open(source) else { continue };
            for number in 0..geometry.vertices_prototypes().unwrap().len() {
                let buffer = geometry.vertex_buffer(number).unwrap();
                if let Some(blob) = buffer.encoded().unwrap() {
                    let (stride, count) = (buffer.stride(), blob.count as usize);
                    assert!(
                        same_vertices(blob.payload, stride, count),
                        "{name}: buffer {number} of vertices, {stride} bytes each"
                    );
                    compared += 1;
                }
            }
            for number in 0..geometry.indices_prototypes().unwrap().len() {
                if let Some(blob) = geometry.index_buffer(number).unwrap().encoded().unwrap() {
                    assert!(same_indices(blob.payload, blob.count as usize), "{name}: buffer {number} of indices");
                    compared += 1;
                }
            }
        }
        assert!(compared >= 2, "{compared} buffers");
    }
}

mod streams {
    use super::*;
    use assetq::formats::ErrorKind;
    use assetq::formats::vrage::vrb::{Compression, Options, VrbArchive};
    use assetq_core::codec;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// Reads a line for each stream: a codec, a direction or a level, and hexadecimal digits. Writes the result, or `-`.
    const PYTHON: &str = r#"
import sys, zlib
try:
    import brotli
except ImportError:
    brotli = None
print(brotli is not None)
wbits = {"zlib": 15, "deflate": -15}
for line in sys.stdin:
    codec, what, digits = line.rstrip("\n").split(" ")
    data = bytes.fromhex(digits)
    try:
        if what != "decode" and codec == "brotli":
            out = brotli.compress(data, quality=int(what), lgwin=10 + int(what))
        elif what != "decode":
            packer = zlib.compressobj(int(what), zlib.DEFLATED, wbits[codec])
            out = packer.compress(data) + packer.flush()
        elif codec == "brotli":
            out = brotli.decompress(data)
        else:
            unpacker = zlib.decompressobj(wbits[codec])
            out = unpacker.decompress(data)
            if not unpacker.eof or unpacker.unused_data:
                raise ValueError
        print(out.hex())
    except Exception:
        print("-")
"#;

    fn digits(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn bytes_of(line: &str) -> Option<Vec<u8>> {
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        (line != "-").then(|| line.as_bytes().chunks(2).map(pair).collect())
    }

    /// The answers of Python, and whether it has Brotli; `None` without Python. `ASSETQ_PYTHON` names another one.
    fn python(lines: &[(&str, String, Vec<u8>)]) -> Option<(bool, Vec<Option<Vec<u8>>>)> {
        let program = std::env::var_os("ASSETQ_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(program);
        command.args(["-c", PYTHON]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            eprintln!("skipped: there is no Python");
            return None;
        };
        let text: String =
            lines.iter().map(|(codec, what, data)| format!("{codec} {what} {}\n", digits(data))).collect();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        writer.join().unwrap();
        let (first, rest) = out.split_once('\n').unwrap();
        let has_brotli = first == "True";
        if !has_brotli {
            eprintln!("Brotli is skipped: Python has no package brotli");
        }
        Some((has_brotli, rest.lines().map(bytes_of).collect()))
    }

    /// Our decoder of a codec.
    fn decode(codec: &str, data: &[u8], size: usize) -> Result<Vec<u8>, ErrorKind> {
        match codec {
            "zlib" => codec::zlib(data, size),
            "deflate" => codec::deflate(data, size),
            _ => codec::brotli(data, size),
        }
    }

    /// Streams of our encoders and of the builder's.
    fn ours(data: &[u8]) -> [(&'static str, Vec<u8>); 4] {
        [
            ("zlib", codec::to_zlib(data, true).unwrap()),
            ("deflate", codec::to_zlib(data, false).unwrap()),
            ("brotli", codec::to_brotli(data).unwrap()),
            ("brotli", codec::to_brotli_on_all_cores(data).unwrap()),
        ]
    }

    fn contents() -> Vec<Vec<u8>> {
        let mut rng = Rng::with_seed(13);
        let lengths = [0, 1, 2, 100, 5_000, 70_000];
        let chance = lengths.into_iter().map(|len| content(&mut rng, len, 37));
        chance.chain(FILES.iter().take(3).map(|(_, _, make)| make(1, Size::Small))).collect()
    }

    #[test]
    fn python_decodes_what_is_encoded_and_the_other_way_round() {
        let contents = contents();
        let mut asked = Vec::new();
        for data in &contents {
            asked.extend(ours(data).map(|(codec, stream)| (codec, "decode".to_owned(), stream, data)));
            for codec in ["zlib", "deflate", "brotli"] {
                asked.extend([0, 1, 6, 9].map(|level| (codec, level.to_string(), data.clone(), data)));
            }
        }
        let lines: Vec<_> = asked.iter().map(|(codec, what, data, _)| (*codec, what.clone(), data.clone())).collect();
        let Some((has_brotli, answers)) = python(&lines) else { return };
        assert_eq!(answers.len(), asked.len());
        for ((codec, what, _, data), answer) in asked.into_iter().zip(answers) {
            if codec == "brotli" && !has_brotli {
                continue;
            }
            let answer = answer.unwrap_or_else(|| panic!("Python refuses {codec}, {what}, of {} bytes", data.len()));
            if what == "decode" {
                assert!(answer == *data, "Python decodes {codec} of {} bytes to {}", data.len(), answer.len());
            } else {
                let decoded = decode(codec, &answer, data.len());
                assert!(decoded.is_ok_and(|decoded| decoded == *data), "{codec} of level {what}, {} bytes", data.len());
            }
        }
    }

    #[test]
    fn python_refuses_the_damaged_streams_that_are_refused() {
        let mut rng = Rng::with_seed(14);
        let mut asked = Vec::new();
        for data in contents().into_iter().filter(|data| data.len() < 6_000) {
            for (codec, stream) in ours(&data) {
                asked.extend(damaged(&mut rng, &stream).into_iter().map(|stream| (codec, "decode".to_owned(), stream)));
            }
        }
        let Some((has_brotli, answers)) = python(&asked) else { return };
        let mut decoded = 0;
        for ((codec, _, stream), answer) in asked.iter().zip(answers) {
            // `zlib` takes a stream without the usual header for a bare one, as the game does.
            let is_bare = *codec == "zlib" && !codec::is_wrapped(stream);
            if is_bare || *codec == "brotli" && !has_brotli {
                continue;
            }
            match answer {
                Some(answer) => {
                    let ours = decode(codec, stream, answer.len());
                    assert!(ours.is_ok_and(|ours| ours == answer), "Python decodes {codec} {stream:?}");
                    decoded += 1;
                }
                // The declared sizes of streams of the samples.
                None => [0, 1, 2, 100, 5_000].into_iter().for_each(|size| {
                    assert!(decode(codec, stream, size).is_err(), "Python refuses {codec} {stream:?}, {size} bytes");
                }),
            }
        }
        assert!(decoded > 20, "{decoded} damaged streams were decoded");
    }

    /// Chunks of the sample and of real files.
    #[test]
    fn python_decodes_the_parts_of_archives() {
        let sample = FILES.iter().find(|(name, ..)| *name == "savegame.vrb").unwrap();
        let sample = VrbArchive::open(Source::from_vec(sample.0, (sample.2)(1, Size::Small))).unwrap();
        let real = files_in("vrb").into_iter().filter(|path| path.extension() == Some("vrb".as_ref()));
        let real =
            real.map(|path: std::path::PathBuf| VrbArchive::open(Source::open(Path::new(&path)).unwrap()).unwrap());
        let (mut lines, mut expected) = (Vec::new(), Vec::new());
        for archive in real.chain([sample]) {
            let chunks = archive.chunks().unwrap();
            for part in archive.tables_of_contents().into_iter().chain(chunks.iter().map(|chunk| chunk.part())) {
                let stored = part.stored(archive.source()).unwrap();
                let codec = match part.compression().unwrap() {
                    Compression::Brotli => "brotli",
                    Compression::Zlib if codec::is_wrapped(stored.bytes()) => "zlib",
                    Compression::Zlib => "deflate",
                    _ => continue,
                };
                lines.push((codec, "decode".to_owned(), stored.bytes().to_vec()));
                expected.push(part.decode(archive.source(), &Options::default().limits).unwrap());
            }
        }
        let Some((has_brotli, answers)) = python(&lines) else { return };
        assert!(!lines.is_empty());
        for (((codec, ..), expected), answer) in lines.iter().zip(&expected).zip(answers) {
            let is_known = has_brotli || *codec != "brotli";
            assert!(
                !is_known || answer.is_some_and(|answer| answer == expected.bytes()),
                "{codec} of {} bytes",
                expected.bytes().len()
            );
        }
    }
}
