//! Packed meshes, next to the decoder alone and to the public reader with its decoder in Rust.

use super::run::{Run, pool};
use crate::bare::Blobs;
use crate::inputs;
use crate::record::Bound::{AtLeast, AtMost};
use crate::turns::turns;
use assetq::Source;
use assetq::formats::wows::geometry::Geometry;
use std::hint::black_box;
use wowsunpack::models::geometry::parse_geometry;

pub fn run(run: &mut Run) {
    let source = Source::open(inputs::geometry_of(100)).expect("it can be mapped");
    let open = || Geometry::open(source.clone()).expect("it is a geometry");
    let g = open();
    let blobs = Blobs::of(&g);
    let decode = || {
        let g = open();
        assert!(g.decode_all().is_empty());
        g
    };
    let theirs = || {
        let g = parse_geometry(source.bytes()).expect("the public crate reads it");
        let vertices = g.merged_vertices.iter().map(|v| v.data.decode().expect("it decodes"));
        let vertices: Vec<Vec<u8>> = vertices.collect();
        (vertices, g.merged_indices.iter().map(|i| i.data.decode().expect("it decodes")).collect::<Vec<_>>())
    };
    let (ours, public) = (decode(), theirs());
    for (i, vertices) in public.0.iter().enumerate() {
        assert!(ours.vertex_bytes(i).expect("it decodes") == vertices, "vertex buffer {i} differs");
    }
    for (i, indices) in public.1.iter().enumerate() {
        let indices = indices.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b));
        assert!(ours.indices(i).expect("it decodes").iter().eq(indices), "index buffer {i} differs");
    }
    assert_eq!([blobs.decode(), blobs.bytes], [ours.decoded_size().expect("sizes are known"); 2]);
    drop((ours, public));
    // All of them in the same thread, whose memory was touched before.
    let one = pool(1);
    let whole = || drop(black_box(decode()));
    let times = one.install(|| {
        turns(
            run.rounds(20),
            &mut [&mut || whole(), &mut || assert_eq!(blobs.decode(), blobs.bytes), &mut || drop(black_box(theirs()))],
        )
    });
    let what = "decode 100 MB on one core / meshopt alone";
    run.ratio("geometry", what, [&times[0], &times[1]], 1, Some(AtMost(1.05)));
    run.ratio("geometry", "wowsunpack decode / decode on one core", [&times[2], &times[0]], 1, None);

    let public = parse_geometry(source.bytes()).expect("the public crate reads it");
    let count = g.vertices_prototypes().expect("they lie in the file").len();
    let ours = || {
        let g = open();
        (0..count).map(|i| black_box(g.vertex_bytes(i).expect("it decodes")).len()).sum::<usize>()
    };
    let decode = |i: usize| black_box(public.merged_vertices[i].data.decode().expect("it decodes")).len();
    let theirs = || (0..count).map(decode).sum::<usize>();
    let expected = ours();
    assert_eq!(theirs(), expected);
    let times =
        turns(run.rounds(20), &mut [&mut || assert_eq!(theirs(), expected), &mut || assert_eq!(ours(), expected)]);
    run.ratio("geometry", "wowsunpack vertices / vertices on one core", [&times[0], &times[1]], 1, Some(AtLeast(5.0)));

    let buffers = |g: &Geometry| g.vertices_prototypes().expect("they lie in the file").len();
    let public = || parse_geometry(source.bytes()).expect("the public crate reads it").merged_vertices.len();
    assert_eq!(buffers(&g), public());
    let times = turns(run.rounds(200), &mut [&mut || assert!(buffers(&open()) > 0), &mut || assert!(public() > 0)]);
    run.ratio("geometry", "open / wowsunpack parse", [&times[0], &times[1]], 1, Some(AtMost(1.0)));
}
