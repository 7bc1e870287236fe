//! Decodes the packed buffers of `.geometry` files with assetq and with `meshopt-rs`, the pure-Rust decoder that
//! `wowsunpack` 0.45 uses, compares every byte and prints how long each takes on one core.
//!
//! `cargo run --release -- FILE...`; without files, a generated one of twelve buffers of 250,000 vertices.

use assetq::Source;
use assetq::geometry::Geometry;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best time of some runs.
fn time(mut run: impl FnMut()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..7).map(once).min().unwrap_or_default()
}

fn vertices(payload: &[u8], stride: usize, out: &mut [u8]) {
    macro_rules! by_stride {
        ($($n:literal)+) => {
            match stride {
                $($n => {
                    let (out, _) = out.as_chunks_mut::<$n>();
                    meshopt_rs::vertex::buffer::decode_vertex_buffer(out, payload).expect("decodes");
                })+
                _ => panic!("no file seen has vertices of {stride} bytes"),
            }
        };
    }
    by_stride!(16 20 24 28 32 36 40);
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let generated = || Source::from_vec("12x250k", assetq::sample::geometry::many(12, 250_000, 1));
    let sources: Vec<Source> = match paths.as_slice() {
        [] => vec![generated()],
        paths => paths.iter().map(|p| Source::open(p).expect("opens")).collect(),
    };
    let [mut ours, mut theirs] = [[Duration::ZERO; 2]; 2];
    let mut bytes = [0usize; 2];
    for source in sources {
        let name = source.name().to_owned();
        let g = Geometry::open(source).expect("opens");
        for i in 0..g.vertices_prototypes().expect("has vertices").len() {
            let buffer = g.vertex_buffer(i).expect("has it");
            let Some(encoded) = buffer.encoded().expect("lies in the file") else { continue };
            let mut out = vec![0; buffer.size().expect("has a size")];
            ours[0] += time(|| buffer.decode_into(black_box(&mut out)).expect("decodes"));
            let mut other = vec![0; out.len()];
            theirs[0] += time(|| vertices(encoded.payload, buffer.stride(), black_box(&mut other)));
            assert!(out == other, "{name}: vertex buffer {i} differs");
            bytes[0] += out.len();
        }
        for i in 0..g.indices_prototypes().expect("has indices").len() {
            let buffer = g.index_buffer(i).expect("has it");
            let Some(encoded) = buffer.encoded().expect("lies in the file") else { continue };
            let mut out = vec![0; buffer.size().expect("has a size")];
            ours[1] += time(|| buffer.decode_into(black_box(&mut out)).expect("decodes"));
            let mut other = vec![0u32; buffer.count().expect("has a count")];
            theirs[1] += time(|| {
                meshopt_rs::index::buffer::decode_index_buffer(black_box(&mut other), encoded.payload)
                    .expect("decodes");
            });
            assert!(g.indices(i).expect("decodes").iter().eq(other), "{name}: index buffer {i} differs");
            bytes[1] += out.len();
        }
    }
    for (i, what) in ["vertices", "indices"].into_iter().enumerate() {
        let speed = |time: Duration| bytes[i] as f64 / time.as_secs_f64() / 1e9;
        println!(
            "{what}: {} bytes, all equal; assetq {:.2} GB/s, meshopt-rs {:.2} GB/s: {:.1} times",
            bytes[i],
            speed(ours[i]),
            speed(theirs[i]),
            theirs[i].as_secs_f64() / ours[i].as_secs_f64()
        );
    }
}
