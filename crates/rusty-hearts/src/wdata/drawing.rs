use super::Map;
use super::plan::FloorPlan;
use crate::error::Result;
use crate::lazy::Lazy;
use crate::scene::figure::Figure;
use crate::scene::{Context, Drawing, Options, SceneFormat, Shapes, no_such_kind};
use std::io::Write;

/// All boxes are drawn, and no other file has data about them.
impl Shapes for Map {
    fn kinds(&self) -> &'static [SceneFormat] {
        &[SceneFormat::Glb, SceneFormat::Svg, SceneFormat::Png]
    }

    fn draw<'a>(&'a self, _: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(Boxes { map: self, plan: Lazy::default() }))
    }
}

struct Boxes<'a> {
    map: &'a Map,
    /// The chart for pages and pictures, built on first use.
    plan: Lazy<FloorPlan>,
}

impl Boxes<'_> {
    fn as_figure(&self) -> Result<Figure<'_>> {
        let plan = self.plan.get_or_try_init(|| FloorPlan::read(self.map))?;
        Ok(Figure::Chart(plan.chart(self.map.title())))
    }
}

impl Drawing for Boxes<'_> {
    fn figure(&self) -> Result<Option<Figure<'_>>> {
        self.as_figure().map(Some)
    }

    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            SceneFormat::Glb => self.map.write_glb(out).map(|()| Vec::new()),
            SceneFormat::Svg => Ok(left_out(self.map.write_plan(out)?.without_place)),
            SceneFormat::Obj | SceneFormat::Png => Err(no_such_kind(kind)),
        }
    }

    fn picture_notes(&self) -> Result<Vec<String>> {
        let Figure::Chart(chart) = self.as_figure()? else { return Ok(Vec::new()) };
        Ok(left_out(chart.without_place))
    }
}

/// The note on boxes that are not drawn.
fn left_out(count: usize) -> Vec<String> {
    match count {
        0 => Vec::new(),
        1 => vec!["1 entry without a place in space is not drawn".to_owned()],
        count => vec![format!("{count} entries without a place in space are not drawn")],
    }
}
