use super::Dds;
use crate::table::{Column, DeclaredTable, Table, Value};
use crate::texture::{self, Shape};

pub(super) fn all(dds: &Dds) -> Vec<Box<dyn Table + '_>> {
    vec![textures(dds), levels(dds)]
}

/// The one row that the file has in the table of textures of a folder or game.
fn textures(dds: &Dds) -> Box<dyn Table + '_> {
    let source = &dds.source;
    let table = DeclaredTable::<Shape>::new(texture::TABLE, || Ok(1), |row| Ok((row == 0).then_some(dds.shape)))
        .column(Column::text("path").brief().place(), |_| Ok(Value::text(source.name())));
    let table = texture::columns(table, |shape| Ok(Some(*shape)))
        .column(Column::text("tier").brief().place(), |_| Ok(dds.tier().into()))
        .column(Column::uint("size").brief(), |_| Ok(source.bytes().len().into()));
    Box::new(table)
}

fn levels(dds: &Dds) -> Box<dyn Table + '_> {
    let shape = dds.shape;
    let levels = (0..shape.layers).flat_map(|layer| (0..shape.mips).map(move |mip| (layer, mip)));
    let levels: Vec<(u32, u32)> = levels.collect();
    let count = levels.len();
    let headers = dds.source.view("").skip(dds.headers).offset();
    let table = DeclaredTable::new("levels", move || Ok(count), move |row| Ok(levels.get(row).copied()))
        .column(Column::uint("layer").brief().key(), |&(layer, _)| Ok(layer.into()))
        .column(Column::uint("mip").brief().key(), |&(_, mip)| Ok(mip.into()))
        .columns(["width", "height", "depth"].map(|name| Column::uint(name).brief()), move |&(_, mip), axis| {
            Ok(shape.extent(mip).get(axis).copied().into())
        })
        .column(Column::uint("size").brief(), move |&(_, mip)| Ok(shape.level_size(mip).into()))
        .column(Column::uint("offset").place(), move |&(layer, mip)| {
            Ok(shape.offset(layer, mip).and_then(|at| at.checked_add(headers)).into())
        })
        // The texels have no columns: their checksum lets `diff` find levels that differ.
        .column(Column::id32("crc32"), move |&(layer, mip)| {
            let at = shape.offset(layer, mip).and_then(|at| usize::try_from(at).ok());
            let size = shape.level_size(mip).and_then(|size| usize::try_from(size).ok());
            let Some((at, size)) = at.zip(size) else { return Ok(Value::Null) };
            Ok(Value::Id32(crate::codec::crc32(dds.source.view("level").skip(dds.headers).skip(at).take(size)?)))
        });
    Box::new(table)
}
