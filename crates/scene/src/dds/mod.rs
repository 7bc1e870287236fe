//! DirectDraw Surface textures, `.dds`, and the tiers `.dd2`, `.dd1` and `.dd0` of World of Warships.
//!
//! [`Dds::open`] reads the header alone: 128 bytes, or 148. The bytes are described in docs/formats/textures.md.

pub mod layout;
mod tables;
mod verify;

use crate::bytes::{Cursor, View, clamp_to_usize, le, peek_u32};
use crate::error::{ErrorKind, Result};
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value};
use crate::texture::{self, Level, MAX_LAYERS, MAX_SIZE, Masks, Shape, TexelFormat, Texture};
use assetq_core::{Openable, Options};
use layout::{DdsHeader, Dx10, PixelFormat};
use std::borrow::Cow;

/// The fault of a header whose texture is too small for its levels.
const MORE_LEVELS: &str = "number of levels, more than its size has";

#[derive(Debug)]
pub struct Dds {
    source: Source,
    shape: Shape,
    headers: usize,
    /// Whether its levels are transformed by a proprietary library.
    is_prepared: bool,
}

impl Dds {
    /// Opens `source`. Reads the header; the levels need not be there.
    ///
    /// # Errors
    /// `OutOfBounds` if the header does not fit, `BadMagic`, and `BadValue` for sizes and numbers of levels that no
    /// texture has.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let view = source.view("header");
        Cursor::new(view).magic(&layout::MAGIC)?;
        let header = view.read::<DdsHeader>()?;
        require(view, &header.size, "header size, which is 124", |size| size == layout::HEADER_SIZE)?;
        let mut cursor = Cursor::new(view.skip(size_of::<DdsHeader>()).part("DX10 header"));
        let has_dx10 = header.format.flags.get() & layout::FOUR_CC != 0 && header.format.four_cc == *b"DX10";
        let dx10 = has_dx10.then(|| cursor.read::<Dx10>()).transpose()?;
        let (shape, headers) = (shape(view, header, dx10)?, cursor.position());
        let is_prepared = matches!(shape.format, TexelFormat::Bc7)
            && headers == layout::PREPARED_AT
            && peek_u32(source.bytes(), headers) == Some(layout::PREPARED)
            && expected_size(&shape, headers) != Some(source.bytes().len() as u64);
        Ok(Self { source, shape, headers, is_prepared })
    }

    /// The texture's tier, by the ending of its name: `dds`, `dd2`, `dd1` or `dd0`. `None` for another name.
    pub fn tier(&self) -> Option<&'static str> {
        texture::tier(self.source.name())
    }

    /// The bytes that its headers and levels need. `None` if texels have no known size.
    pub fn expected_size(&self) -> Option<u64> {
        expected_size(&self.shape, self.headers)
    }
}

fn expected_size(shape: &Shape, headers: usize) -> Option<u64> {
    shape.offset(shape.layers, 0)?.checked_add(headers as u64)
}

/// An error at `field` of the header unless its value passes `test`.
fn require<'a>(view: View<'a>, field: &'a le::U32, what: &'static str, test: impl FnOnce(u32) -> bool) -> Result<()> {
    if test(field.get()) { Ok(()) } else { Err(view.locate(field).bad_value(what, field.get())) }
}

fn is_size(size: u32) -> bool {
    (1..=MAX_SIZE).contains(&size)
}

fn shape<'a>(view: View<'a>, header: &'a DdsHeader, dx10: Option<&'a Dx10>) -> Result<Shape> {
    let (width, height) = (header.width.get(), header.height.get());
    require(view, &header.width, "width, which is 1 to 16384", is_size)?;
    require(view, &header.height, "height, which is 1 to 16384", is_size)?;
    let caps2 = header.caps2.get();
    let is_volume = match dx10 {
        Some(dx10) => dx10.dimension.get() == layout::DX10_VOLUME,
        None => caps2 & layout::VOLUME != 0,
    };
    if is_volume {
        require(view, &header.depth, "depth, which is 1 to 16384", is_size)?;
    }
    let depth = if is_volume { header.depth.get() } else { 1 };
    let most = u32::BITS.saturating_sub(width.max(height).max(depth).leading_zeros());
    // Some tools count a level after the one of a single texel.
    require(view, &header.mips, MORE_LEVELS, |mips| mips <= most.saturating_add(1))?;
    let faces = match dx10 {
        Some(dx10) if dx10.misc.get() & layout::DX10_CUBE != 0 => 6,
        Some(_) => 0,
        None if caps2 & layout::CUBE != 0 => (caps2 & layout::FACES).count_ones(),
        None => 0,
    };
    let layers = match dx10 {
        Some(dx10) => dx10.array_size.get().saturating_mul(faces.max(1)),
        None => faces.max(1),
    };
    if let Some(dx10) = dx10
        && !(1..=MAX_LAYERS).contains(&layers)
    {
        return Err(view.locate(&dx10.array_size).bad_value("array size, which is 1 to 2048", layers));
    }
    let format = match dx10 {
        Some(dx10) => TexelFormat::from_dxgi(dx10.format.get()),
        None => texels(view.locate(&header.format), &header.format)?,
    };
    let mips = header.mips.get().clamp(1, most);
    Ok(Shape { format, width, height, depth, layers, mips, is_cube: faces == 6 })
}

fn texels<'a>(view: View<'a>, format: &'a PixelFormat) -> Result<TexelFormat> {
    let flags = format.flags.get();
    if flags & layout::FOUR_CC != 0 {
        return Ok(TexelFormat::from_four_cc(format.four_cc));
    }
    if flags & layout::NOT_READ != 0 {
        let what = format!("texels of pixel format flags {flags:#x}").into();
        return Err(view.locate(&format.flags).error(ErrorKind::Unsupported { what }));
    }
    if flags & (layout::RGB | layout::LUMINANCE | layout::ALPHA | layout::SIGNED) == 0 {
        return Err(view.locate(&format.flags).bad_value("pixel format flags", flags));
    }
    let bits = format.bits.get();
    let what = "bits of a texel, which are 8, 16, 24 or 32";
    require(view, &format.bits, what, |bits| matches!(bits, 8 | 16 | 24 | 32))?;
    let [r, g, b, a] = format.masks.map(|mask| mask.get());
    if flags & layout::SIGNED != 0 {
        return Ok(TexelFormat::Signed(Masks { bits, channels: [r, g, b, a], is_grey: false }));
    }
    let is_grey = flags & layout::LUMINANCE != 0;
    let opacity = if flags & (layout::ALPHA_PIXELS | layout::ALPHA) != 0 { a } else { 0 };
    let channels = match flags & (layout::RGB | layout::LUMINANCE) {
        0 => [0, 0, 0, opacity],
        _ if is_grey => [r, 0, 0, opacity],
        _ => [r, g, b, opacity],
    };
    Ok(TexelFormat::Masked(Masks { bits, channels, is_grey }))
}

impl Texture for Dds {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn level(&self, layer: u32, mip: u32) -> Result<Level<'_>> {
        let shape = self.shape;
        if layer >= shape.layers || mip >= shape.mips {
            return Err(texture::no_level(&shape, layer, mip));
        }
        let view = self.source.view("levels").skip(self.headers);
        let place = shape.offset(layer, mip).zip(shape.level_size(mip)).filter(|_| !self.is_prepared);
        let Some((offset, size)) = place else {
            let what = match self.is_prepared {
                true => "BC7 texels that are transformed for compression (bc7prep)".into(),
                false => format!("texels of {}", shape.format.name()).into(),
            };
            return Err(view.error(ErrorKind::Unsupported { what }));
        };
        let (offset, size) = (clamp_to_usize(offset), clamp_to_usize(size));
        let texels = view.skip(offset);
        texels.take(size)?;
        let texels = texels.until(texels.skip(size).position());
        let [width, height, depth] = shape.extent(mip);
        Ok(Level { format: shape.format, width, height, depth, texels })
    }
}

impl FileFormat for Dds {
    const NAME: &'static str = "dds";
    const ABOUT: &'static str = "A texture";
    const ENDINGS: &'static [&'static str] = &[".dds", ".dd0", ".dd1", ".dd2"];
    const MAGIC: &'static [u8] = &layout::MAGIC;

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Reader for Dds {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        self.shape.format.name().into_owned()
    }

    fn sections(&self) -> Vec<Section> {
        let header = self.source.view("");
        let levels = header.skip(self.headers);
        let count = u64::from(self.shape.layers).checked_mul(self.shape.mips.into());
        vec![
            Section::new("header", header.offset(), self.headers as u64, None),
            Section::new("levels", levels.offset(), levels.rest().len() as u64, count),
        ]
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Texture]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::all(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let Shape { format, width, height, depth, layers, mips, .. } = self.shape;
        vec![
            ("kind".into(), self.shape.kind().into()),
            ("texels".into(), Value::Text(format.name())),
            ("width".into(), width.into()),
            ("height".into(), height.into()),
            ("depth".into(), depth.into()),
            ("layers".into(), layers.into()),
            ("mips".into(), mips.into()),
        ]
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, progress)
    }
}
