//! A plan of a map, seen from above, as SVG: outlines, waypoints with their links, portals with their targets, a legend and
//! a scale.
//!
//! Y is up and the axes are left-handed: in the picture, x points right and z points up.

use crate::error::Result;
use crate::escape::Xml;
use crate::figure::Chart;
use crate::outline::{LABEL, Point, Taken, area};
use crate::written;
use std::borrow::Cow;
use std::io::{self, Write};

/// The longer side of the drawing, in pixels.
const DRAWING: f64 = 1400.0;
const MARGIN: f64 = 40.0;
const LEGEND: f64 = 300.0;

/// A chart, and the place and the scale of the map on the page.
struct Plan<'c> {
    chart: &'c Chart,
    left: f64,
    top: f64,
    scale: f64,
}

/// The colours of waypoints and of targets of portals.
pub const WAYPOINT: [u8; 3] = [0x0b, 0x6e, 0x4f];
pub const PORTAL: [u8; 3] = [0x7b, 0x2f, 0xbe];

/// Writes a plan of `chart`.
///
/// # Errors
/// `Io` when `out` fails.
pub fn write_chart(chart: &Chart, out: &mut dyn Write) -> Result<()> {
    written(write(chart, out))
}

fn write(chart: &Chart, out: &mut dyn Write) -> io::Result<()> {
    let [[left, bottom], [right, top]] = chart.bounds();
    let longest = (right - left).max(top - bottom);
    let scale = if longest > 0.0 { DRAWING / longest } else { 1.0 };
    let plan = Plan { chart, left, top, scale };
    let (width, height) = ((right - left) * scale, (top - bottom) * scale);
    let legend_height = (chart.kinds.len() as f64 + 9.0) * 20.0;
    let (page_width, page_height) =
        (width + 3.0 * MARGIN + LEGEND, (height + 2.0 * MARGIN + 40.0).max(legend_height + 2.0 * MARGIN));
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{page_width:.0}" height="{page_height:.0}" viewBox="0 0 {page_width:.0} {page_height:.0}" font-family="DejaVu Sans, Arial, sans-serif">"##
    )?;
    writeln!(out, "<title>{}</title>", Xml(&chart.name))?;
    plan.style(out)?;
    writeln!(out, r##"<rect width="100%" height="100%" fill="#fff"/>"##)?;
    writeln!(
        out,
        r##"<rect x="{MARGIN}" y="{MARGIN}" width="{width:.1}" height="{height:.1}" fill="#fafafa" stroke="#ddd"/>"##
    )?;
    plan.outlines(out)?;
    plan.waypoints(out)?;
    plan.labels(MARGIN + width, out)?;
    plan.legend([width + 2.0 * MARGIN, MARGIN], out)?;
    plan.ruler(width, [MARGIN, MARGIN + height + 24.0], out)?;
    writeln!(out, "</svg>")
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

impl Plan<'_> {
    fn point(&self, [x, z]: Point) -> Point {
        [MARGIN + (x - self.left) * self.scale, MARGIN + (self.top - z) * self.scale]
    }

    fn above(&self, [x, _, z]: [f64; 3]) -> Point {
        self.point([x, z])
    }

    fn style(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<style>")?;
        writeln!(out, "polygon{{fill-opacity:.14;stroke-width:1.2}}")?;
        for (number, kind) in self.chart.kinds.iter().enumerate() {
            writeln!(out, ".k{number}{{fill:{c};stroke:{c}}}", c = hex(kind.colour))?;
        }
        let waypoint = hex(WAYPOINT);
        writeln!(out, ".link{{stroke:{waypoint};stroke-width:1.5;fill:none}}")?;
        writeln!(out, ".range{{stroke:{waypoint};stroke-width:.6;stroke-dasharray:3 3;fill:none}}")?;
        writeln!(out, ".node{{fill:{waypoint}}}")?;
        writeln!(
            out,
            ".label{{font-size:{LABEL}px;fill:#222;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:2px;stroke-opacity:.8}}"
        )?;
        writeln!(out, ".target{{font-style:italic;fill:{}}}", hex(PORTAL))?;
        writeln!(out, ".legend{{font-size:13px;fill:#222}}")?;
        writeln!(out, "</style>")?;
        writeln!(
            out,
            r##"<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{waypoint}"/></marker></defs>"##
        )
    }

    fn outlines(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        for one in &self.chart.boxes {
            let points = one.outline.iter().map(|corner| self.point(*corner));
            let points: Vec<String> = points.map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
            let name = self.chart.kinds.get(one.kind).map_or("", |kind| &kind.name);
            write!(out, r#"<polygon class="k{}" points="{}"><title>{name} "#, one.kind, points.join(" "))?;
            write!(out, "{}", Xml(&one.name))?;
            if let Some(target) = &one.target {
                write!(out, " leads to {}", Xml(target))?;
            }
            writeln!(out, "</title></polygon>")?;
        }
        writeln!(out, "</g>")
    }

    fn waypoints(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        for (center, range) in &self.chart.ranges {
            let [x, y] = self.above(*center);
            let radius = range * self.scale;
            if radius > 2.0 && radius < DRAWING {
                writeln!(out, r#"<circle class="range" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#)?;
            }
            writeln!(out, r#"<circle class="node" cx="{x:.1}" cy="{y:.1}" r="2.5"/>"#)?;
        }
        for link in &self.chart.links {
            let [[x1, y1], [x2, y2]] = [link.from, link.to].map(|end| self.above(end));
            let arrow = if link.back { "" } else { r#" marker-end="url(#to)""# };
            writeln!(out, r#"<line class="link" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"{arrow}/>"#)?;
        }
        writeln!(out, "</g>")
    }

    /// As many names as fit: portals and start points first, then the other outlines, the largest ones first. The
    /// others are shown under the pointer.
    fn labels(&self, right: f64, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g>")?;
        let mut taken = Taken::default();
        let (portals, others): (Vec<_>, Vec<_>) = self.chart.boxes.iter().partition(|one| one.target.is_some());
        for one in portals.into_iter().chain(others) {
            let [x, y] = self.above(one.center);
            let target = one.target.as_ref().map(|target| format!("\u{2192} {target}"));
            let longest = one.name.chars().count().max(target.as_ref().map_or(0, |t| t.chars().count()));
            let lines = if target.is_some() { 2.0 } else { 1.0 };
            // A letter of such text is about 0.6 of its height wide.
            let width = longest as f64 * LABEL * 0.6;
            let size = [width, lines * (LABEL + 2.0)];
            // No further out than half the margin.
            let reach = (width - MARGIN) / 2.0;
            let x = if MARGIN + reach < right - reach { x.clamp(MARGIN + reach, right - reach) } else { x };
            let step = (area(&one.outline).sqrt() * self.scale / 2.0).clamp(LABEL + 2.0, 60.0);
            let places = [0.0, step, -step, 2.0 * step, -2.0 * step].map(|down| [x, y + down]);
            let below = (lines - 1.0) * (LABEL + 2.0) / 2.0;
            let Some([x, y]) = places.into_iter().find(|[x, y]| taken.take([*x, y + below], size)) else { continue };
            if !one.name.is_empty() {
                writeln!(out, r#"<text class="label" x="{x:.1}" y="{:.1}">{}</text>"#, y + 3.0, Xml(&one.name))?;
            }
            if let Some(target) = target {
                let y = y + LABEL + 5.0;
                writeln!(out, r#"<text class="label target" x="{x:.1}" y="{y:.1}">{}</text>"#, Xml(&target))?;
            }
        }
        writeln!(out, "</g>")
    }

    fn legend(&self, [x, mut y]: Point, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, r#"<g class="legend">"#)?;
        // The texts, and the samples before them.
        let mut lines: Vec<(Cow<'_, str>, Cow<'_, str>)> = vec![(self.chart.name.as_str().into(), "".into())];
        for (number, kind) in self.chart.kinds.iter().enumerate() {
            let sample = format!(r#"<polygon class="k{number}" points="2,-6 26,-6 26,6 2,6"/>"#);
            lines.push((format!("{} ({})", kind.name, self.chart.count(number)).into(), sample.into()));
        }
        if !self.chart.ranges.is_empty() {
            let range = r#"<circle class="range" cx="14" cy="0" r="8"/><circle class="node" cx="14" cy="0" r="2.5"/>"#;
            lines.push(("waypoint and its range".into(), range.into()));
            lines.push(("link both ways".into(), r#"<line class="link" x1="2" y1="0" x2="26" y2="0"/>"#.into()));
            let one_way = r#"<line class="link" x1="2" y1="0" x2="26" y2="0" marker-end="url(#to)"/>"#;
            lines.push(("link one way".into(), one_way.into()));
        }
        if self.chart.boxes.iter().any(|one| one.target.is_some()) {
            let target = r#"<text class="label target" x="14" y="4">→ map</text>"#;
            lines.push(("where a portal leads".into(), target.into()));
        }
        if self.chart.without_place > 0 {
            let what = format!("{} not drawn, as they describe no space", self.chart.without_place);
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

    /// A line of a round length, with that length.
    fn ruler(&self, width: f64, [x, y]: Point, out: &mut dyn Write) -> io::Result<()> {
        let (unit, name) = self.chart.metres.map_or((1.0, "units"), |metres| (f64::from(metres), "m"));
        let scale = self.scale / unit;
        let about = (width / 5.0).max(60.0) / scale;
        let power = 10f64.powf(about.log10().floor());
        let steps = [5.0, 2.0, 1.0].into_iter().map(|step| step * power);
        let length = steps.into_iter().find(|length| *length <= about).unwrap_or(power);
        let (end, top, bottom) = (x + length * scale, y - 5.0, y);
        let (right, base) = (end + 8.0, y + 2.0);
        writeln!(
            out,
            r##"<g class="legend"><path d="M{x:.1} {top:.1}V{bottom:.1}H{end:.1}V{top:.1}" fill="none" stroke="#222"/><text x="{right:.1}" y="{base:.1}">{length} {name}</text></g>"##,
        )
    }
}
