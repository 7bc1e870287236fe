//! A plan of a map, seen from above, as SVG.
//!
//! Y is up and the axes are left-handed: in the picture, x points right and z points up.

use super::Volume;
use super::waypoints::RANGE;
use super::{BoxType, Map, Records};
use crate::error::{Error, Result};
use crate::escape::Xml;
use crate::scene::figure::{Chart, ChartBox, ChartKind, ChartLink};
use crate::scene::outline::{LABEL, Point, Taken, area, hull};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// The longer side of the drawing, in pixels.
const DRAWING: f64 = 1400.0;
const MARGIN: f64 = 40.0;
const LEGEND: f64 = 300.0;

const WARP_MAP_NAME: usize = BoxType::PortalBox.shape().number("warp_map_name");
const WARP_MAP_ID: usize = BoxType::PortalBox.shape().number("warp_map_id");
const WARP_PORTAL_ID: usize = BoxType::PortalBox.shape().number("warp_portal_id");

/// Counts of the outlines that a plan shows, and of the records that it leaves out as they have no place.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Outlines drawn.
    pub outlines: usize,
    /// The number of records that describe no space.
    pub without_place: usize,
}

/// A kind of outline: its class in the file, its colour, and its name in the legend.
struct OutlineKind {
    class: String,
    color: Color,
    name: &'static str,
    /// The table of its records.
    table: &'static str,
    count: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Color(pub(super) u8, pub(super) u8, pub(super) u8);

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The colour of a type of boxes.
pub(super) const fn color(box_type: BoxType) -> Color {
    match box_type {
        BoxType::CameraBox => Color(0x5b, 0x8d, 0xef),
        BoxType::RespawnBox => Color(0xd6, 0x27, 0x28),
        BoxType::StartPointBox => Color(0x1a, 0x9c, 0x3c),
        BoxType::TriggerBox => Color(0xff, 0x7f, 0x0e),
        BoxType::SkidBox => Color(0x17, 0xbe, 0xcf),
        BoxType::EventHitBox => Color(0xb0, 0x10, 0x60),
        BoxType::NpcBox => Color(0x8c, 0x56, 0x4b),
        BoxType::PortalBox => Color(0x7b, 0x2f, 0xbe),
        BoxType::SelectMapPortalBox => Color(0xb5, 0x6c, 0xe2),
        BoxType::InAreaBox => Color(0xbc, 0xbd, 0x22),
        BoxType::EtcBox => Color(0x7f, 0x7f, 0x7f),
        BoxType::CameraBlockBox => Color(0x1f, 0x3f, 0x8f),
        BoxType::CutoffBox => Color(0x40, 0x40, 0x40),
        BoxType::CameraTargetBox => Color(0x2f, 0xa8, 0xc0),
        BoxType::UnusedBox => Color(0, 0, 0),
        BoxType::MiniMapIconBox => Color(0xe3, 0x77, 0xc2),
        BoxType::EnvironmentReverbBox => Color(0x98, 0xc3, 0x79),
        BoxType::WaypointBox => Color(0x0b, 0x6e, 0x4f),
        BoxType::ObstacleBox => Color(0xa0, 0x52, 0x2d),
    }
}

struct Outline {
    /// Number of its kind.
    kind: usize,
    /// The number of the record in its table.
    row: usize,
    volume: Volume,
    corners: Vec<Point>,
    name: String,
    /// The target, for portals.
    target: Option<String>,
    area: f64,
}

/// Everything on the plan, in the coordinates of the map.
#[derive(Default)]
pub(super) struct FloorPlan {
    kinds: Vec<OutlineKind>,
    outlines: Vec<Outline>,
    /// Centre and range of each waypoint.
    waypoints: Vec<([f64; 3], f64)>,
    /// The start and the end of each link, and whether it leads back, too.
    links: Vec<([f64; 3], [f64; 3], bool)>,
    without_place: usize,
}

impl Map {
    /// Writes a plan of the map as SVG: outlines of all that has a place, waypoints with their links, portals with
    /// their targets, a legend and a scale.
    ///
    /// # Errors
    /// When a record cannot be read, or `out` fails.
    pub fn write_plan(&self, out: &mut dyn Write) -> Result<Drawn> {
        let plan = FloorPlan::read(self)?;
        let drawn = Drawn { outlines: plan.outlines.len(), without_place: plan.without_place };
        plan.write(&self.title(), out).map_err(|e| Error::io("cannot write", e))?;
        Ok(drawn)
    }
}

impl Map {
    /// The title of drawings.
    pub(super) fn title(&self) -> String {
        format!("{} (main version {})", self.source().stem(), self.versions().main)
    }
}

impl FloorPlan {
    pub(super) fn read(map: &Map) -> Result<Self> {
        map.find_all_boxes();
        let mut plan = Self::default();
        for box_type in BoxType::ALL {
            let records = map.boxes(box_type)?;
            let class = format!("t{}", box_type.number());
            plan.add(records, Some(box_type), box_type.name(), class, color(box_type))?;
        }
        plan.add(map.ani_bgs()?, None, "AniBG", "bg".to_owned(), Color(0xb0, 0xb0, 0xb0))?;
        plan.add(map.item_boxes()?, None, "ItemBox", "item".to_owned(), Color(0xd4, 0xa0, 0x17))?;
        plan.add(map.gimmicks()?, None, "Gimmick", "gim".to_owned(), Color(0xc0, 0x39, 0x2b))?;
        plan.add_waypoints(map)?;
        plan.outlines.sort_by(|a, b| b.area.total_cmp(&a.area));
        Ok(plan)
    }

    fn add(
        &mut self,
        records: Records<'_>,
        box_type: Option<BoxType>,
        name: &'static str,
        class: String,
        color: Color,
    ) -> Result<()> {
        records.check()?;
        if records.is_empty() {
            return Ok(());
        }
        let kind = self.kinds.len();
        for (row, record) in records.iter().enumerate() {
            let Some(volume) = record.volume()? else {
                self.without_place = self.without_place.saturating_add(1);
                continue;
            };
            let corners = hull(volume.corners().map(|[x, _, z]| [x, z]).to_vec());
            let target = match box_type {
                Some(BoxType::PortalBox) => {
                    let (map, id) = (record.get(WARP_MAP_NAME)?, record.get(WARP_MAP_ID)?);
                    Some(format!("{map} (map {id}, portal {})", record.get(WARP_PORTAL_ID)?))
                }
                Some(BoxType::SelectMapPortalBox) => Some("a map that the player selects".to_owned()),
                _ => None,
            };
            let area = area(&corners);
            let name = record.name()?.to_string();
            self.outlines.push(Outline { kind, row, volume, corners, name, target, area });
        }
        self.kinds.push(OutlineKind { class, color, name, table: records.shape().name, count: records.len() });
        Ok(())
    }

    fn add_waypoints(&mut self, map: &Map) -> Result<()> {
        let waypoints = map.boxes(BoxType::WaypointBox)?;
        for waypoint in waypoints.iter() {
            if let Some(volume) = waypoint.volume()? {
                let range = match waypoint.get(RANGE)? {
                    crate::table::Value::F32(range) => f64::from(range),
                    _ => 0.0,
                };
                self.waypoints.push((volume.center, range));
            }
        }
        let mut known = HashSet::new();
        for link in map.links() {
            let link = link?;
            if let Some(to) = link.to {
                known.insert((link.from.0, to.0));
            }
        }
        for link in map.links() {
            let link = link?;
            let Some(to) = link.to else { continue };
            let back = known.contains(&(to.0, link.from.0));
            // A link in both directions is drawn once.
            if back && to.0 < link.from.0 {
                continue;
            }
            if let (Some(a), Some(b)) = (link.from.1.volume()?, to.1.volume()?) {
                self.links.push((a.center, b.center, back));
            }
        }
        Ok(())
    }

    /// The plan as pages and pictures show it.
    pub(super) fn chart(&self, name: String) -> Chart<'_> {
        let kinds = self.kinds.iter().map(|kind| {
            let Color(r, g, b) = kind.color;
            ChartKind { name: kind.name, table: kind.table, colour: [r, g, b] }
        });
        let boxes = self.outlines.iter().map(|Outline { kind, row, volume, corners, name, target, .. }| {
            let mut sides = volume.axes;
            for (side, half) in sides.iter_mut().zip(volume.half) {
                side.iter_mut().for_each(|v| *v *= half);
            }
            let target = target.as_deref();
            ChartBox { kind: *kind, row: *row, name, target, center: volume.center, sides, outline: corners }
        });
        Chart {
            name,
            kinds: kinds.collect(),
            boxes: boxes.collect(),
            ranges: self.waypoints.clone(),
            links: self.links.iter().map(|&(from, to, back)| ChartLink { from, to, back }).collect(),
            without_place: self.without_place,
            notes: Vec::new(),
        }
    }

    /// The bounds of everything.
    fn bounds(&self) -> (Point, Point) {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in self.outlines.iter().flat_map(|outline| &outline.corners) {
            for ((low, high), value) in low.iter_mut().zip(&mut high).zip(point) {
                *low = low.min(*value);
                *high = high.max(*value);
            }
        }
        if self.outlines.is_empty() { ([0.0; 2], [1.0; 2]) } else { (low, high) }
    }

    fn write(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let ([left, bottom], [right, top]) = self.bounds();
        let longest = (right - left).max(top - bottom);
        let scale = if longest > 0.0 { DRAWING / longest } else { 1.0 };
        let paper = Paper { left, top, scale };
        let (width, height) = ((right - left) * scale, (top - bottom) * scale);
        let legend_height = (self.kinds.len() as f64 + 9.0) * 20.0;
        let (page_width, page_height) =
            (width + 3.0 * MARGIN + LEGEND, (height + 2.0 * MARGIN + 40.0).max(legend_height + 2.0 * MARGIN));
        writeln!(
            out,
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{page_width:.0}" height="{page_height:.0}" viewBox="0 0 {page_width:.0} {page_height:.0}" font-family="DejaVu Sans, Arial, sans-serif">"##
        )?;
        writeln!(out, "<title>{}</title>", Xml(title))?;
        self.write_style(out)?;
        writeln!(out, r##"<rect width="100%" height="100%" fill="#fff"/>"##)?;
        writeln!(
            out,
            r##"<rect x="{MARGIN}" y="{MARGIN}" width="{width:.1}" height="{height:.1}" fill="#fafafa" stroke="#ddd"/>"##
        )?;
        self.write_outlines(&paper, out)?;
        self.write_waypoints(&paper, out)?;
        self.write_labels(&paper, MARGIN + width, out)?;
        self.write_legend(title, [width + 2.0 * MARGIN, MARGIN], out)?;
        write_scale(scale, width, [MARGIN, MARGIN + height + 24.0], out)?;
        writeln!(out, "</svg>")
    }

    fn write_style(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<style>")?;
        writeln!(out, "polygon{{fill-opacity:.14;stroke-width:1.2}}")?;
        for kind in &self.kinds {
            writeln!(out, ".{}{{fill:{c};stroke:{c}}}", kind.class, c = kind.color)?;
        }
        let waypoint = color(BoxType::WaypointBox);
        writeln!(out, ".link{{stroke:{waypoint};stroke-width:1.5;fill:none}}")?;
        writeln!(out, ".range{{stroke:{waypoint};stroke-width:.6;stroke-dasharray:3 3;fill:none}}")?;
        writeln!(out, ".node{{fill:{waypoint}}}")?;
        writeln!(
            out,
            ".label{{font-size:{LABEL}px;fill:#222;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:2px;stroke-opacity:.8}}"
        )?;
        writeln!(out, ".target{{font-style:italic;fill:{}}}", color(BoxType::PortalBox))?;
        writeln!(out, ".legend{{font-size:13px;fill:#222}}")?;
        writeln!(out, "</style>")?;
        writeln!(
            out,
            r##"<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{waypoint}"/></marker></defs>"##
        )
    }

    fn class(&self, kind: usize) -> (&str, &'static str) {
        self.kinds.get(kind).map_or(("", ""), |kind| (&kind.class, kind.name))
    }

    fn write_outlines(&self, paper: &Paper, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        let mut points = String::new();
        for outline in &self.outlines {
            points.clear();
            for corner in &outline.corners {
                let [x, y] = paper.point(*corner);
                // Writing to a string does not fail.
                let _ = write!(points, "{x:.1},{y:.1} ");
            }
            let (class, name) = self.class(outline.kind);
            write!(
                out,
                r#"<polygon class="{class}" points="{}"><title>{name} {}"#,
                points.trim_end(),
                Xml(&outline.name)
            )?;
            if let Some(target) = &outline.target {
                write!(out, " leads to {}", Xml(target))?;
            }
            writeln!(out, "</title></polygon>")?;
        }
        writeln!(out, "</g>")
    }

    fn write_waypoints(&self, paper: &Paper, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        for (center, range) in &self.waypoints {
            let [x, y] = paper.point(above(*center));
            let radius = range * paper.scale;
            if radius > 2.0 && radius < DRAWING {
                writeln!(out, r#"<circle class="range" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#)?;
            }
            writeln!(out, r#"<circle class="node" cx="{x:.1}" cy="{y:.1}" r="2.5"/>"#)?;
        }
        for (from, to, back) in &self.links {
            let ([x1, y1], [x2, y2]) = (paper.point(above(*from)), paper.point(above(*to)));
            let arrow = if *back { "" } else { r#" marker-end="url(#to)""# };
            writeln!(out, r#"<line class="link" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"{arrow}/>"#)?;
        }
        writeln!(out, "</g>")
    }

    /// As many names as fit: portals and start points first, then the other outlines, the largest ones first. The
    /// others are shown under the pointer.
    fn write_labels(&self, paper: &Paper, right: f64, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        let mut taken = Taken::default();
        let first = self.outlines.iter().filter(|outline| outline.target.is_some());
        for outline in first.chain(self.outlines.iter().filter(|outline| outline.target.is_none())) {
            let [x, y] = paper.point(above(outline.volume.center));
            let target = outline.target.as_ref().map(|target| format!("\u{2192} {target}"));
            let longest = outline.name.chars().count().max(target.as_ref().map_or(0, |t| t.chars().count()));
            let lines = if target.is_some() { 2.0 } else { 1.0 };
            // A letter of such text is about 0.6 of its height wide.
            let width = longest as f64 * LABEL * 0.6;
            let size = [width, lines * (LABEL + 2.0)];
            // No further out than half the margin.
            let reach = (width - MARGIN) / 2.0;
            let x = if MARGIN + reach < right - reach { x.clamp(MARGIN + reach, right - reach) } else { x };
            let step = (outline.area.sqrt() * paper.scale / 2.0).clamp(LABEL + 2.0, 60.0);
            let places = [0.0, step, -step, 2.0 * step, -2.0 * step].map(|down| [x, y + down]);
            let below = (lines - 1.0) * (LABEL + 2.0) / 2.0;
            let Some([x, y]) = places.into_iter().find(|[x, y]| taken.take([*x, y + below], size)) else { continue };
            if !outline.name.is_empty() {
                writeln!(out, r#"<text class="label" x="{x:.1}" y="{:.1}">{}</text>"#, y + 3.0, Xml(&outline.name))?;
            }
            if let Some(target) = target {
                let y = y + LABEL + 5.0;
                writeln!(out, r#"<text class="label target" x="{x:.1}" y="{y:.1}">{}</text>"#, Xml(&target))?;
            }
        }
        writeln!(out, "</g>")
    }

    fn write_legend(&self, title: &str, [x, mut y]: Point, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, r#"<g class="legend">"#)?;
        // The texts, and the samples before them.
        let mut lines: Vec<(Cow<'_, str>, Cow<'_, str>)> = vec![(title.into(), "".into())];
        for kind in &self.kinds {
            let sample = format!(r#"<polygon class="{}" points="2,-6 26,-6 26,6 2,6"/>"#, kind.class);
            lines.push((format!("{} ({})", kind.name, kind.count).into(), sample.into()));
        }
        if !self.waypoints.is_empty() {
            let range = r#"<circle class="range" cx="14" cy="0" r="8"/><circle class="node" cx="14" cy="0" r="2.5"/>"#;
            lines.push(("waypoint and its range".into(), range.into()));
            lines.push(("link both ways".into(), r#"<line class="link" x1="2" y1="0" x2="26" y2="0"/>"#.into()));
            let one_way = r#"<line class="link" x1="2" y1="0" x2="26" y2="0" marker-end="url(#to)"/>"#;
            lines.push(("link one way".into(), one_way.into()));
        }
        if self.outlines.iter().any(|outline| outline.target.is_some()) {
            let target = r#"<text class="label target" x="14" y="4">→ map</text>"#;
            lines.push(("where a portal leads".into(), target.into()));
        }
        if self.without_place > 0 {
            let what = format!("{} not drawn, as they describe no space", self.without_place);
            lines.push((what.into(), "".into()));
        }
        lines.push(("x leads to the right, z to the top".into(), "".into()));
        for (text, sample) in lines {
            y += 20.0;
            let indent = if sample.is_empty() { 0.0 } else { 34.0 };
            writeln!(
                out,
                r#"<g transform="translate({x:.1} {y:.1})">{sample}<text x="{indent}" y="4">{}</text></g>"#,
                Xml(&text)
            )?;
        }
        writeln!(out, "</g>")
    }
}

/// The place and the scale of the map on the page.
struct Paper {
    left: f64,
    top: f64,
    scale: f64,
}

impl Paper {
    fn point(&self, [x, z]: Point) -> Point {
        [MARGIN + (x - self.left) * self.scale, MARGIN + (self.top - z) * self.scale]
    }
}

fn above([x, _, z]: [f64; 3]) -> Point {
    [x, z]
}

/// A line of a round length, with that length.
fn write_scale(scale: f64, width: f64, [x, y]: Point, out: &mut dyn Write) -> io::Result<()> {
    let about = (width / 5.0).max(60.0) / scale;
    let power = 10f64.powf(about.log10().floor());
    let length = [5.0, 2.0, 1.0].into_iter().map(|step| step * power).find(|length| *length <= about).unwrap_or(power);
    let end = x + length * scale;
    writeln!(
        out,
        r##"<g class="legend"><path d="M{x:.1} {:.1}V{:.1}H{end:.1}V{:.1}" fill="none" stroke="#222"/><text x="{:.1}" y="{:.1}">{length} units</text></g>"##,
        y - 5.0,
        y,
        y - 5.0,
        end + 8.0,
        y + 2.0
    )
}
