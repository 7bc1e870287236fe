//! The mesh decoder alone, called by its own crate.

use assetq::formats::wows::geometry::Geometry;
use std::hint::black_box;

/// The blobs of a file as the decoder wants them: payload, count, stride or size of an index.
pub struct Blobs<'a> {
    vertices: Vec<(&'a [u8], usize)>,
    indices: Vec<(&'a [u8], usize, usize)>,
    /// Bytes of all of them, decoded.
    pub bytes: u64,
}

impl<'a> Blobs<'a> {
    pub fn of(g: &'a Geometry) -> Self {
        let vertices: Vec<_> = (0..g.vertices_prototypes().unwrap().len())
            .map(|i| {
                let buffer = g.vertex_buffer(i).unwrap();
                assert_eq!(buffer.stride(), 28);
                (buffer.encoded().unwrap().unwrap().payload, buffer.count().unwrap())
            })
            .collect();
        let indices: Vec<_> = (0..g.indices_prototypes().unwrap().len())
            .map(|i| {
                let buffer = g.index_buffer(i).unwrap();
                (buffer.encoded().unwrap().unwrap().payload, buffer.count().unwrap(), buffer.index_size().unwrap())
            })
            .collect();
        let bytes = vertices.iter().map(|v| v.1 * 28).sum::<usize>() + indices.iter().map(|i| i.1 * i.2).sum::<usize>();
        Self { vertices, indices, bytes: bytes as u64 }
    }

    /// Decodes all of them. What is decoded is kept to the end, as a file keeps it: most of the time of large buffers
    /// goes into the first touch of their memory.
    pub fn decode(&self) -> u64 {
        let vertices: Vec<_> = self
            .vertices
            .iter()
            .map(|&(payload, count)| meshopt::decode_vertex_buffer::<[u8; 28]>(payload, count).unwrap())
            .collect();
        let (mut narrow, mut wide) = (Vec::new(), Vec::new());
        for &(payload, count, width) in &self.indices {
            match width {
                2 => narrow.push(meshopt::decode_index_buffer::<u16>(payload, count).unwrap()),
                _ => wide.push(meshopt::decode_index_buffer::<u32>(payload, count).unwrap()),
            }
        }
        let vertices: usize = black_box(&vertices).iter().map(|v| v.len() * 28).sum();
        let narrow: usize = black_box(&narrow).iter().map(|v| v.len() * 2).sum();
        let wide: usize = black_box(&wide).iter().map(|v| v.len() * 4).sum();
        (vertices + narrow + wide) as u64
    }
}
