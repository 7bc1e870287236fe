//! Hashes of what mappings and models hold, however it is packed and wherever it lies: equal ones are the same mesh.

use super::Geometry;
use crate::codec::contents;
use crate::error::{Error, ErrorKind, Result};

/// What has a content.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    VertexMappings,
    IndexMappings,
    ArmorModels,
    CollisionModels,
}

/// The hash of each mapping's decoded items, or of each model's data.
pub(super) fn all(g: &Geometry, of: Of) -> Vec<Result<u64>> {
    let limit = g.decode_limit();
    let count = match of {
        Of::VertexMappings => g.vertex_mappings().map(<[_]>::len),
        Of::IndexMappings => g.index_mappings().map(<[_]>::len),
        Of::ArmorModels => g.armor_prototypes().map(<[_]>::len),
        Of::CollisionModels => g.collision_prototypes().map(<[_]>::len),
    };
    if matches!(of, Of::VertexMappings | Of::IndexMappings) {
        // On all cores; what cannot be decoded is said where its bytes are wanted.
        drop(g.decode_all());
    }
    contents(count.unwrap_or(0), limit, |index| match of {
        Of::VertexMappings => g.mapped_vertex_bytes(index),
        Of::IndexMappings => g.mapped_indices(index).map(|indices| indices.bytes()),
        Of::ArmorModels => g.armor_model(index)?.bytes(),
        Of::CollisionModels => g.collision_model(index)?.bytes(),
    })
}

/// The cell of a row.
pub(super) fn cell(contents: &[Result<u64>], row: usize) -> Result<u64> {
    match contents.get(row) {
        Some(Ok(content)) => Ok(*content),
        Some(Err(error)) => Err(error.again()),
        None => Err(Error::without_offset(ErrorKind::NotFound { what: format!("row {row}") }, "content")),
    }
}
