use super::Map;
#[cfg(feature = "view")]
use super::plan::Plan;
use crate::error::Result;
#[cfg(feature = "view")]
use crate::lazy::Lazy;
#[cfg(feature = "view")]
use crate::scene::sight::Sight;
use crate::scene::{Context, Drawing, Kind, Options, Shapes, no_such_kind};
use std::io::Write;

/// All boxes are drawn, and no other file has data about them.
impl Shapes for Map {
    fn kinds(&self) -> &'static [Kind] {
        &[
            Kind::Glb,
            Kind::Svg,
            #[cfg(feature = "view")]
            Kind::Png,
        ]
    }

    fn draw<'a>(&'a self, _: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(Boxes {
            map: self,
            #[cfg(feature = "view")]
            plan: Lazy::default(),
        }))
    }
}

struct Boxes<'a> {
    map: &'a Map,
    /// The chart for pages and pictures, built on first use.
    #[cfg(feature = "view")]
    plan: Lazy<Plan>,
}

#[cfg(feature = "view")]
impl Boxes<'_> {
    fn as_sight(&self) -> Result<Sight<'_>> {
        let plan = self.plan.get_or_try_init(|| Plan::read(self.map))?;
        Ok(Sight::Chart(plan.chart(self.map.title())))
    }
}

impl Drawing for Boxes<'_> {
    #[cfg(feature = "view")]
    fn sight(&self) -> Result<Option<Sight<'_>>> {
        self.as_sight().map(Some)
    }

    fn write(&self, kind: Kind, out: &mut dyn Write) -> Result<Vec<String>> {
        let left_out = |count: usize| match count {
            0 => Vec::new(),
            1 => vec!["1 entry without a place in space is not drawn".to_owned()],
            count => vec![format!("{count} entries without a place in space are not drawn")],
        };
        match kind {
            Kind::Glb => self.map.write_glb(out).map(|()| Vec::new()),
            Kind::Svg => Ok(left_out(self.map.write_plan(out)?.without_place)),
            #[cfg(feature = "view")]
            Kind::Png => {
                let sight = self.as_sight()?;
                crate::write::picture::write(&sight, out)?;
                let Sight::Chart(chart) = sight else { return Ok(Vec::new()) };
                Ok(left_out(chart.without_place))
            }
            Kind::Obj => Err(no_such_kind(kind)),
        }
    }
}
