//! Hashes of the contents of mappings and models, whatever their packing and position: equal hashes mean equal meshes.

use super::{Geometry, Indices};
use crate::codec::{contents, xxh64};
use crate::error::{Error, ErrorKind, Result};
use xxhash_rust::xxh64::Xxh64;

/// A part of a file whose content two files may share.
#[derive(Debug, Clone, Copy)]
pub(super) enum SharedContent {
    VertexMappings,
    IndexMappings,
    ArmorModels,
    CollisionModels,
}

/// The hash of each mapping's decoded items, or of each model's data.
pub(super) fn all(g: &Geometry, of: SharedContent) -> Vec<Result<u64>> {
    let limit = g.decode_limit();
    let count = match of {
        SharedContent::VertexMappings => g.vertex_mappings().map(<[_]>::len),
        SharedContent::IndexMappings => g.index_mappings().map(<[_]>::len),
        SharedContent::ArmorModels => g.armor_prototypes().map(<[_]>::len),
        SharedContent::CollisionModels => g.collision_prototypes().map(<[_]>::len),
    };
    if matches!(of, SharedContent::VertexMappings | SharedContent::IndexMappings) {
        // On all cores; an error of decoding is reported by the reader of the bytes.
        drop(g.decode_all());
    }
    // No rows, if their structs cannot be read: the table of the rows reports it.
    let Ok(count) = count else { return Vec::new() };
    contents(
        count,
        limit,
        |index| Ok(of.bytes(g, index)?.len() as u64),
        |index| match of {
            SharedContent::IndexMappings => Ok(triangles(g.mapped_indices(index)?)),
            _ => Ok(xxh64(of.bytes(g, index)?, 0)),
        },
    )
}

impl SharedContent {
    fn bytes(self, g: &Geometry, index: usize) -> Result<&[u8]> {
        match self {
            Self::VertexMappings => g.mapped_vertex_bytes(index),
            Self::IndexMappings => g.mapped_indices(index).map(|indices| indices.bytes()),
            Self::ArmorModels => g.armor_model(index)?.bytes(),
            Self::CollisionModels => g.collision_model(index)?.bytes(),
        }
    }
}

/// A hash of the triangles that does not depend on the first corner of each, nor on the width of indices: packers change both.
fn triangles(indices: Indices<'_>) -> u64 {
    const BLOCK: usize = 1 << 12;
    let mut hasher = Xxh64::new(0);
    let mut block = Vec::with_capacity(BLOCK);
    for triangle in indices.triangles() {
        let turned = turned(triangle);
        block.extend(turned.iter().flat_map(|corner| corner.to_le_bytes()));
        if block.len() > BLOCK {
            hasher.update(&block);
            block.clear();
        }
    }
    hasher.update(&block);
    // The remaining indices, if their number is not a multiple of three.
    for index in indices.iter().skip((indices.len() / 3).saturating_mul(3)) {
        hasher.update(&index.to_le_bytes());
    }
    hasher.digest()
}

/// The triangle with its least corner first, in the same order.
pub(super) fn turned<T: Ord + Copy>([a, b, c]: [T; 3]) -> [T; 3] {
    [a, b, c].min([b, c, a]).min([c, a, b])
}

pub(super) fn cell(contents: &[Result<u64>], row: usize) -> Result<u64> {
    match contents.get(row) {
        Some(Ok(content)) => Ok(*content),
        Some(Err(error)) => Err(error.clone()),
        None => Err(Error::of_part(ErrorKind::NotFound { what: format!("row {row} not found") }, "content")),
    }
}
