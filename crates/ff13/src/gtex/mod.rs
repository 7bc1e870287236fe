//! Textures of the FINAL FANTASY XIII trilogy: descriptions in `.trb` and `.txbh`, texels in the `.imgb` beside them.
//!
//! Descriptions are found by their magic, wherever in the file they are. The bytes are described in docs/formats/textures.md §4.

pub mod layout;
mod sections;

use crate::archive;
use crate::bytes::{Cursor, View};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::report::{Check, Progress, Report};
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table, Value};
use crate::texture::{self, Level, MAX_SIZE, Masks, Shape, TexelFormat, Texture, TextureSet};
use layout::{GtexHeader, LevelEntry};
use std::borrow::Cow;
use std::sync::OnceLock;

#[derive(Debug)]
pub struct Textures {
    source: Source,
    texels: Option<Source>,
    /// The position of each description, found on first use.
    at: OnceLock<Vec<usize>>,
    /// Whether the file has the bytes that its sections state.
    checked: OnceLock<Result<()>>,
}

/// Bytes of a file that are searched for descriptions: many times more than the largest file has.
const SEARCHED: usize = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Gtex<'a> {
    header: View<'a>,
    shape: Shape,
    levels: &'a [LevelEntry],
    texels: Option<&'a Source>,
}

impl Textures {
    /// Opens `source`; `texels` is its `.imgb`, if it is at hand.
    ///
    /// # Errors
    /// `BadMagic` if it is no such file.
    pub fn open(source: Source, texels: Option<Source>) -> Result<Self> {
        Cursor::new(source.view("header")).magic(&layout::FILE_MAGIC)?;
        Ok(Self { source, texels, at: OnceLock::new(), checked: OnceLock::new() })
    }

    fn at(&self) -> &[usize] {
        self.at.get_or_init(|| {
            let bytes = self.source.bytes();
            let searched = bytes.get(..SEARCHED).unwrap_or(bytes);
            memchr::memmem::find_iter(searched, &layout::MAGIC).collect()
        })
    }

    pub fn len(&self) -> usize {
        self.at().len()
    }

    pub fn is_empty(&self) -> bool {
        self.at().is_empty()
    }

    /// Why further textures may not be found: the file was cut, or is too large to be searched to its end.
    fn damage(&self) -> Option<Error> {
        if let Err(error) = self.checked.get_or_init(|| sections::check(&self.source)) {
            return Some(error.clone());
        }
        let size = self.source.bytes().len();
        let what = "bytes of a file that are searched for textures";
        let kind = ErrorKind::Limit { what, value: size as u64, limit: SEARCHED as u64 };
        (size > SEARCHED).then(|| self.source.view("textures").at(SEARCHED).error(kind))
    }

    /// Texture `n`; `None` after the last one.
    ///
    /// # Errors
    /// `BadValue` for sizes that no texture has, and `OutOfBounds` if its levels leave the file.
    pub fn get(&self, n: usize) -> Result<Option<Gtex<'_>>> {
        let Some(&at) = self.at().get(n) else { return Ok(None) };
        let view = self.source.view("texture").at(at);
        let header = view.read::<GtexHeader>()?;
        for (what, field) in [("width", &header.width), ("height", &header.height)] {
            if !(1..=MAX_SIZE).contains(&field.get().into()) {
                return Err(view.locate(field).bad_value(what, field.get()));
            }
        }
        let (width, height) = (u32::from(header.width.get()), u32::from(header.height.get()));
        let mips = u32::from(header.mips);
        let most = u32::BITS.saturating_sub(width.max(height).leading_zeros());
        if !(1..=most).contains(&mips) {
            return Err(view.locate(&header.mips).bad_value("number of levels", mips));
        }
        let format = match header.format {
            3 | 4 => TexelFormat::Masked(Masks::RGBA8),
            0x18 => TexelFormat::Bc1,
            0x19 => TexelFormat::Bc2,
            0x1A => TexelFormat::Bc3,
            other => return Err(view.locate(&header.format).bad_value("format of texels", other)),
        };
        let (layers, depth) = match header.kind {
            0 => (1, 1),
            1 => (6, 1),
            2 => (1, u32::from(header.depth.get()).max(1)),
            other => return Err(view.locate(&header.kind).bad_value("kind of texture", other)),
        };
        let shape = Shape { format, width, height, depth, layers, mips, is_cube: layers == 6 };
        let count = mips.saturating_mul(layers) as usize;
        let levels = view.skip(header.levels.get() as usize).part("levels").array(count)?;
        Ok(Some(Gtex { header: view, shape, levels, texels: self.texels.as_ref() }))
    }
}

impl Texture for Gtex<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn level(&self, layer: u32, mip: u32) -> Result<Level<'_>> {
        let shape = self.shape;
        let row = layer.saturating_mul(shape.mips).saturating_add(mip) as usize;
        let entry = self.levels.get(row).filter(|_| layer < shape.layers && mip < shape.mips);
        let entry = entry.ok_or_else(|| texture::no_level(&shape, layer, mip))?;
        let at = self.header.part("levels").locate(entry);
        let size = entry.size.get();
        if shape.level_size(mip) != Some(size.into()) {
            let at = at.locate(&entry.size);
            return Err(at.bad_value("bytes of a level, which its format and size state otherwise", size));
        }
        let Some(texels) = self.texels else {
            return Err(at.error(ErrorKind::NotInstalled { what: "the .imgb file with the texels".to_owned() }));
        };
        let texels = texels.view("imgb").at(entry.offset.get() as usize);
        texels.take(size as usize)?;
        let texels = texels.until(texels.position().saturating_add(size as usize));
        let [width, height, depth] = shape.extent(mip);
        Ok(Level { format: shape.format, width, height, depth, texels })
    }
}

impl FileFormat for Textures {
    const NAME: &'static str = "gtex";
    const GAME: &'static str = "FINAL FANTASY XIII trilogy";
    const ABOUT: &'static str = "Textures";
    const ENDINGS: &'static [&'static str] = &[".trb", ".txbh"];
    const MAGIC: &'static [u8] = &layout::FILE_MAGIC;

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        let texels = archive::beside(&source, options, &format!("{}.imgb", source.stem()))?;
        Self::open(source, texels)
    }
}

impl Reader for Textures {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let start = self.source.view("");
        let (header, data) = start.data().split_at(layout::HEADER_SIZE.min(start.data().len()));
        let data_at = start.at(header.len()).offset();
        vec![
            Section::new("header", start.offset(), header.len() as u64, None),
            Section::new("data", data_at, data.len() as u64, Some(self.at().len() as u64)),
        ]
    }

    fn facets(&self) -> &'static [Facet] {
        facets![TextureSet]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let table = DeclaredTable::<(usize, Gtex<'_>)>::new(
            texture::TABLE,
            || Ok(self.at().len()),
            |n| Ok(self.get(n).map_err(|error| error.context(format_args!("texture {n}")))?.map(|found| (n, found))),
        )
        .column(Column::uint("texture").brief().key(), |(n, _)| Ok((*n).into()));
        let table = texture::columns(table, |(_, found)| Ok(Some(found.shape)))
            .column(Column::uint("size").brief(), |(_, found)| {
                Ok(found.levels.iter().map(|level| u64::from(level.size.get())).sum::<u64>().into())
            })
            .column(Column::uint("offset").place(), |(_, found)| Ok(found.header.offset().into()))
            .column(Column::uint("imgb_offset").place(), |(_, found)| {
                Ok(found.levels.first().map(|level| level.offset.get()).into())
            });
        vec![Box::new(table.damaged(|| self.damage()))]
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let imgb = self.texels.as_ref().map(|texels| Value::text(texels.name()));
        vec![("textures".into(), self.at().len().into()), ("imgb".into(), imgb.into())]
    }

    fn verify(&self, progress: &Progress) -> Report {
        let mut textures = Check::new("textures").with_detail(format!("{} textures", self.at().len()));
        let mut levels = Check::new("levels");
        if self.texels.is_none() {
            levels = levels.with_detail("not checked: the .imgb file with the texels is not at hand");
        }
        self.damage().into_iter().for_each(|error| textures.fail(error));
        progress.announce(self.at().len() as u64);
        for n in 0..self.at().len() {
            let found = self.get(n).map_err(|error| error.context(format_args!("texture {n}")));
            progress.advance(1);
            let Some(found) = textures.note(found).flatten().filter(|_| self.texels.is_some()) else { continue };
            for layer in 0..found.shape.layers {
                for mip in 0..found.shape.mips {
                    levels.note(found.level(layer, mip).map_err(|error| error.context(format_args!("texture {n}"))));
                }
            }
        }
        Report { checks: vec![textures, levels] }
    }
}

impl TextureSet for Textures {
    fn textures(&self) -> Vec<(String, Result<Box<dyn Texture + '_>>)> {
        let textures = (0..self.at().len()).filter_map(|n| Some((n, self.get(n).transpose()?)));
        let lost = self.damage().map(|error| (self.at().len(), Err(error)));
        textures
            .chain(lost)
            .map(|(n, found)| (n.to_string(), found.map(|found| Box::new(found) as Box<dyn Texture + '_>)))
            .collect()
    }
}
