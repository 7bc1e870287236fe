//! A map as a drawing: outlines of all that has a place, and the graph of waypoints.

use super::waypoints::RANGE;
use super::{BoxType, Map, MapRecord, MapRecords, Section, glb};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::scene::figure::{Chart, ChartBox, ChartKind, ChartLink, Figure};
use crate::scene::outline::hull;
use crate::scene::{Context, Drawing, Options, SceneFormat, Shapes, no_such_kind, svg};
use crate::table::Value;
use std::collections::HashSet;
use std::io::Write;

/// The colours of the types of boxes by number, of animated backgrounds, of item boxes, and of gimmicks.
const COLOURS: [u32; BoxType::COUNT + 3] = [
    0x5b8def, 0xd62728, 0x1a9c3c, 0xff7f0e, 0x17becf, 0xb01060, 0x8c564b, 0x7b2fbe, 0xb56ce2, 0xbcbd22, 0x7f7f7f,
    0x1f3f8f, 0x404040, 0x2fa8c0, 0x000000, 0xe377c2, 0x98c379, 0x0b6e4f, 0xa0522d, 0xb0b0b0, 0xd4a017, 0xc0392b,
];

const WARP_MAP_NAME: usize = BoxType::PortalBox.shape().number("warp_map_name");
const WARP_MAP_ID: usize = BoxType::PortalBox.shape().number("warp_map_id");
const WARP_PORTAL_ID: usize = BoxType::PortalBox.shape().number("warp_portal_id");

/// The kinds of records with a place that the map has: name, colour, and records.
pub(super) fn placed(map: &Map) -> Result<Vec<(&'static str, [u8; 3], MapRecords<'_>)>> {
    map.find_all_boxes();
    let boxes = BoxType::ALL.into_iter().map(|box_type| (box_type.name(), map.boxes(box_type).map(Some)));
    let others = [("AniBG", Section::AniBgs), ("ItemBox", Section::ItemBoxes), ("Gimmick", Section::Gimmicks)];
    let others = others.into_iter().map(|(name, section)| (name, map.section(section)));
    let mut placed = Vec::new();
    for ((name, records), colour) in boxes.chain(others).zip(COLOURS) {
        let [_, colour @ ..] = colour.to_be_bytes();
        if let Some(records) = records?.filter(|records| records.count() > 0) {
            records.check()?;
            placed.push((name, colour, records));
        }
    }
    Ok(placed)
}

/// The target that a portal leads to, in words.
fn target(record: &MapRecord<'_>) -> Result<Option<String>> {
    if std::ptr::eq(record.shape(), BoxType::PortalBox.shape()) {
        let (map, id) = (record.get(WARP_MAP_NAME)?, record.get(WARP_MAP_ID)?);
        return Ok(Some(format!("{map} (map {id}, portal {})", record.get(WARP_PORTAL_ID)?)));
    }
    let selects = std::ptr::eq(record.shape(), BoxType::SelectMapPortalBox.shape());
    Ok(selects.then(|| "a map that the player selects".to_owned()))
}

fn chart(map: &Map) -> Result<Chart> {
    let name = format!("{} (main version {})", map.source().stem(), map.versions().main);
    let mut chart = Chart { name, ..Chart::default() };
    for (name, colour, records) in placed(map)? {
        let kind = chart.kinds.len();
        chart.kinds.push(ChartKind { name: name.to_owned(), table: records.shape().name, colour });
        for (row, record) in records.iter().enumerate() {
            let Some(volume) = record.volume()? else {
                chart.without_place = chart.without_place.saturating_add(1);
                continue;
            };
            let mut sides = volume.axes;
            for (side, half) in sides.iter_mut().zip(volume.half) {
                side.iter_mut().for_each(|v| *v *= half);
            }
            let outline = hull(volume.corners().map(|[x, _, z]| [x, z]).to_vec());
            let (name, target, center) = (record.name()?.to_string(), target(&record)?, volume.center);
            chart.boxes.push(ChartBox { kind, row, name, target, center, sides, outline });
        }
    }
    for waypoint in map.boxes(BoxType::WaypointBox)?.iter() {
        if let Some(volume) = waypoint.volume()? {
            let range = if let Value::F32(range) = waypoint.get(RANGE)? { range.into() } else { 0.0 };
            chart.ranges.push((volume.center, range));
        }
    }
    let links = map.links().collect::<Result<Vec<_>>>()?;
    let known: HashSet<(usize, usize)> = links.iter().filter_map(|link| Some((link.from.0, link.to?.0))).collect();
    for link in links {
        let ((from, start), Some((to, end))) = (link.from, link.to) else { continue };
        let back = known.contains(&(to, from));
        // A link in both directions is drawn once.
        if back && to < from {
            continue;
        }
        if let (Some(start), Some(end)) = (start.volume()?, end.volume()?) {
            chart.links.push(ChartLink { from: start.center, to: end.center, back });
        }
    }
    chart.sort();
    Ok(chart)
}

/// All boxes are drawn, and no other file has data about them.
impl Shapes for Map {
    fn kinds(&self) -> &'static [SceneFormat] {
        &[SceneFormat::Glb, SceneFormat::Svg]
    }

    fn draw<'a>(&'a self, _: &Context<'_>, _: Options) -> Result<Box<dyn Drawing + 'a>> {
        Ok(Box::new(MapDrawing { map: self, chart: Lazy::default() }))
    }
}

struct MapDrawing<'a> {
    map: &'a Map,
    chart: Lazy<Chart>,
}

impl MapDrawing<'_> {
    fn chart(&self) -> Result<&Chart> {
        self.chart.get_or_try_init(|| chart(self.map))
    }
}

impl Drawing for MapDrawing<'_> {
    fn figure(&self) -> Result<Option<Figure<'_>>> {
        Ok(Some(Figure::Chart(self.chart()?)))
    }

    fn write(&self, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
        match kind {
            SceneFormat::Glb => glb::write(self.map, out).map(|()| Vec::new()),
            SceneFormat::Svg => {
                let chart = self.chart()?;
                svg::write_chart(chart, out)?;
                Ok(match chart.without_place {
                    0 => Vec::new(),
                    1 => vec!["1 entry without a place in space is not drawn".to_owned()],
                    count => vec![format!("{count} entries without a place in space are not drawn")],
                })
            }
            SceneFormat::Obj => Err(no_such_kind(kind)),
        }
    }
}
