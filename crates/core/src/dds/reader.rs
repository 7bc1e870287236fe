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
        let at = |at: usize| self.source.view("").at(at).offset();
        let size = self.source.bytes().len();
        let headers = self.headers.min(size);
        let count = u64::from(self.shape.layers).saturating_mul(self.shape.mips.into());
        vec![
            Section::new("header", at(0), headers as u64, None),
            Section::new("levels", at(headers), size.saturating_sub(headers) as u64, Some(count)),
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
