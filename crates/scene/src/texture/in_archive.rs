//! The table of the textures in an archive.

use super::{HEADER, Shape, TABLE, Texture, tier};
use crate::archive::{self, Archive, File, damage, head};
use crate::asset::Asset;
use crate::error::{ErrorKind, Result};
use crate::source::Source;
use crate::table::{Column, Table, Value};
use std::cell::OnceCell;

struct TextureFile<'a> {
    file: File<'a>,
    /// Read on the first use of one of its columns.
    shape: OnceCell<Result<Option<Shape>>>,
}

impl TextureFile<'_> {
    /// The texture's shape, from its first bytes. `None` if the file is not installed, has a codec that is not decoded,
    /// or is no texture.
    fn shape(&self, archive: &dyn Archive) -> Result<Option<Shape>> {
        let shape = self.shape.get_or_init(|| {
            let bytes = match head(archive, &self.file, HEADER) {
                Ok(bytes) => bytes,
                Err(error) => {
                    return match error.kind() {
                        ErrorKind::NotInstalled { .. } | ErrorKind::Unsupported { .. } => Ok(None),
                        _ => Err(error),
                    };
                }
            };
            let asset = Asset::open(Source::from_vec(&self.file.path, bytes));
            let asset = asset.map_err(|error| error.context(&self.file.path))?;
            Ok(asset.reader().facet::<dyn Texture>().map(|texture| texture.shape()))
        });
        match shape {
            Ok(shape) => Ok(*shape),
            Err(error) => Err(error.clone()),
        }
    }
}

fn texture_files(archive: &dyn Archive) -> Result<Vec<usize>> {
    let all = 0..archive.len()?;
    Ok(all.filter(|n| archive.file(*n).is_ok_and(|file| tier(&file.path).is_some())).collect())
}

/// The textures among the files, by the endings of their names. Of each file the header alone is read.
pub fn in_archive(archive: &dyn Archive) -> Box<dyn Table + '_> {
    let table = archive::computed(
        TABLE,
        || texture_files(archive),
        |n| Ok(TextureFile { file: archive.file(*n)?, shape: OnceCell::new() }),
    );
    let table =
        table.column_of_row(Column::text("path").brief().key().in_folders(), |row| Ok(Value::text(&row.file.path)));
    let table = super::columns(table, move |row: &TextureFile<'_>| row.shape(archive))
        .column(Column::text("tier").brief(), |row| Ok(tier(&row.file.path).into()))
        .column(Column::uint("size").brief(), |row| Ok(row.file.size.into()));
    Box::new(table.own_texts(false).known(|| None).derived().opens_files().damaged(|| damage(archive)))
}
