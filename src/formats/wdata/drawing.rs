use super::Map;
use crate::error::Result;
use crate::scene::{Context, Drawing, Kind, Options, Shapes, no_such_kind};
use std::io::Write;

/// Boxes are drawn whole, and no other file knows of them.
impl Shapes for Map {
    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Glb, Kind::Svg]
    }

    fn draw<'a>(&'a self, _: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(Boxes(self)))
    }
}

struct Boxes<'a>(&'a Map);

impl Drawing for Boxes<'_> {
    fn write(&self, kind: Kind, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            Kind::Glb => self.0.write_glb(out).map(|()| Vec::new()),
            Kind::Svg => Ok(match self.0.write_plan(out)?.without_place {
                0 => Vec::new(),
                count => vec![format!("{count} entries without a place in space are not drawn")],
            }),
            Kind::Obj => Err(no_such_kind(kind)),
        }
    }
}
