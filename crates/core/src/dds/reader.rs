//! The format as commands see it.

use super::{Dds, layout, tables, verify};
use crate::error::Result;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value};
use crate::texture::{Shape, Texture};
use std::borrow::Cow;

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
