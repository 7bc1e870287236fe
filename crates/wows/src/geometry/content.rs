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
    let bytes = |index| match of {
        SharedContent::VertexMappings => g.mapped_vertex_bytes(index),
        SharedContent::IndexMappings => g.mapped_indices(index).map(|indices| indices.bytes()),
        SharedContent::ArmorModels => g.armor_model(index)?.bytes(),
        SharedContent::CollisionModels => g.collision_model(index)?.bytes(),
    };
    let hash = |index| match of {
        SharedContent::IndexMappings => Ok(triangles(g.mapped_indices(index)?)),
        _ => Ok(xxh64(bytes(index)?, 0)),
    };
    contents(count.unwrap_or(0), limit, |index| Ok(bytes(index)?.len() as u64), hash)
}

/// The hash of triangles, whichever of its corners each begins with, as packers turn them, and however wide indices are.
fn triangles(indices: Indices<'_>) -> u64 {
    const BLOCK: usize = 1 << 12;
    let mut hasher = Xxh64::new(0);
    let mut block = Vec::with_capacity(BLOCK);
    for [a, b, c] in indices.triangles() {
        let least = a.min(b).min(c);
        let turned = if least == a {
            [a, b, c]
        } else if least == b {
            [b, c, a]
        } else {
            [c, a, b]
        };
        block.extend(turned.iter().flat_map(|corner| corner.to_le_bytes()));
        if block.len() > BLOCK {
            hasher.update(&block);
            block.clear();
        }
    }
    hasher.update(&block);
    // The remaining indices, if their number is not a multiple of three.
    let whole = indices.len() / 3;
    for at in whole.saturating_mul(3)..indices.len() {
        hasher.update(&indices.get(at).unwrap_or_default().to_le_bytes());
    }
    hasher.digest()
}

/// The cell of a row.
pub(super) fn cell(contents: &[Result<u64>], row: usize) -> Result<u64> {
    match contents.get(row) {
        Some(Ok(content)) => Ok(*content),
        Some(Err(error)) => Err(error.clone()),
        None => Err(Error::of_part(ErrorKind::NotFound { what: format!("row {row} not found") }, "content")),
    }
}
