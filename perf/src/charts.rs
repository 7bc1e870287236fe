//! A record as pictures.

use crate::record::{Bound, Growth, Latency, Ratio, Record, Threads};
use crate::table::{number, time};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fs;
use std::path::{Path, PathBuf};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

const GOOD: RGBColor = RGBColor(46, 125, 50);
const BAD: RGBColor = RGBColor(198, 40, 40);
const NONE: RGBColor = RGBColor(69, 90, 120);
const GRID: RGBColor = RGBColor(214, 214, 214);
/// Colours of lines, told apart by people who see few of them.
const LINES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

/// Draws every chart that the record has numbers for.
pub fn draw(record: &Record) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("charts");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let machine = &record.machine;
    let on = format!("{}, {} cores, {}", machine.cpu, machine.cores, record.date);
    let chart = |name: &str, size: (u32, u32), draw: &dyn Fn(&Area<'_>) -> Drawn| {
        let path = folder.join(name);
        picture(&path, size, draw).expect("it can be drawn");
        println!("{name}");
    };
    let bars: Vec<&Ratio> = record.ratios.iter().filter(|r| r.group != "process").collect();
    chart("ratios.svg", (1180, 100 + 27 * bars.len() as u32), &|area| ratios(area, &bars, &on));
    chart("size.svg", (1180, 560), &|area| growth(area, &record.growth, &on));
    chart("threads.svg", (900, 520), &|area| threads(area, record, &on));
    chart("latency.svg", (1180, 520), &|area| latency(area, &record.latency, &on));
}

fn picture(path: &Path, size: (u32, u32), draw: &dyn Fn(&Area<'_>) -> Drawn) -> Drawn {
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&WHITE)?;
    draw(&area)?;
    area.present()?;
    Ok(())
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_text_style(&(1000, 1000)).color(&BLACK)
}

fn anchored(size: i32, h: HPos, v: VPos) -> TextStyle<'static> {
    font(size).pos(Pos::new(h, v))
}

fn title(area: &Area<'_>, text: &str, on: &str) -> Drawn {
    area.draw(&Text::new(text.to_owned(), (16, 14), font(20)))?;
    area.draw(&Text::new(on.to_owned(), (16, 40), font(13)))?;
    Ok(())
}

/// A bar for each ratio on one logarithmic axis: what it is, how it was spread, what was wanted.
fn ratios(area: &Area<'_>, ratios: &[&Ratio], on: &str) -> Drawn {
    const LEFT: i32 = 470;
    const RIGHT: i32 = 1040;
    const TOP: i32 = 84;
    const ROW: i32 = 27;
    title(area, "Time of A / time of B: bars are medians, whiskers all rounds", on)?;
    let keys = [("target met", GOOD), ("target not met", BAD), ("no target", NONE), ("target", BLACK)];
    for (i, (text, colour)) in (0..).zip(keys) {
        let at = RIGHT - 390 + i * 130;
        let half = if colour == BLACK { 1 } else { 7 };
        area.draw(&Rectangle::new([(at - half, 40), (at + half, 54)], colour.mix(0.75).filled()))?;
        area.draw(&Text::new(text, (at + 13, 47), anchored(13, HPos::Left, VPos::Center)))?;
    }
    let ends = ratios.iter().flat_map(|r| [Some(r.ratio.min), Some(r.ratio.max), r.bound.map(Bound::value)]).flatten();
    let (low, high) = ends.fold((0.5f64, 2f64), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    let x = |value: f64| LEFT + ((value.log10() - low) / (high - low) * f64::from(RIGHT - LEFT)) as i32;
    let bottom = TOP + ROW * ratios.len() as i32;
    for power in low as i32..=high as i32 {
        let value = 10f64.powi(power);
        let line = vec![(x(value), TOP), (x(value), bottom)];
        area.draw(&PathElement::new(line, if power == 0 { BLACK.mix(0.6) } else { GRID.mix(1.0) }))?;
        let label = if value >= 1.0 { format!("{value}") } else { format!("1/{}", 10f64.powi(-power)) };
        area.draw(&Text::new(label, (x(value), TOP - 16), anchored(13, HPos::Center, VPos::Top)))?;
    }
    for (i, ratio) in ratios.iter().enumerate() {
        let top = TOP + ROW * i as i32 + 5;
        let middle = top + 8;
        let value = ratio.ratio.median;
        let colour = match ratio.bound {
            Some(bound) if bound.met(value) => GOOD,
            Some(_) => BAD,
            None => NONE,
        };
        let (from, to) = (x(value).min(x(1.0)), x(value).max(x(1.0)).max(x(value).min(x(1.0)) + 1));
        area.draw(&Rectangle::new([(from, top), (to, top + 16)], colour.mix(0.75).filled()))?;
        area.draw(&PathElement::new(vec![(x(ratio.ratio.min), middle), (x(ratio.ratio.max), middle)], BLACK.mix(0.7)))?;
        area.draw(&Text::new(ratio.what.clone(), (LEFT - 10, middle), anchored(13, HPos::Right, VPos::Center)))?;
        let mut said = number(value);
        if let Some(bound) = ratio.bound {
            let at = x(bound.value());
            area.draw(&Rectangle::new([(at - 1, top - 3), (at + 1, top + 19)], BLACK.filled()))?;
            said = format!("{said}  ({bound})");
        }
        area.draw(&Text::new(said, (RIGHT + 10, middle), anchored(13, HPos::Left, VPos::Center)))?;
    }
    Ok(())
}

/// Least and greatest.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

/// A number of seconds at an axis: no digits that say nothing.
fn tick(seconds: f64) -> String {
    let said = time(seconds);
    match said.split_once(' ') {
        Some((value, unit)) if value.contains('.') => {
            format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => said,
    }
}

/// Cost by size, time on the left, memory on the right.
fn growth(area: &Area<'_>, growth: &[Growth], on: &str) -> Drawn {
    title(area, "How cost grows with the file (both axes logarithmic; flat: the file does not matter)", on)?;
    let (_, below) = area.split_vertically(60);
    let (left, right) = below.split_horizontally(650);
    let names = [
        "full parse + lookup",
        "wowsunpack parse + lookup",
        "verify",
        "all paths",
        "path of an id, by scanning",
        "resolve PATH, whole process",
        "open + lookup",
    ];
    // The same colour for the same work on both sides.
    let named = |unit: &str| {
        let found = |(name, colour)| Some((growth.iter().find(|g| g.unit == unit && g.what == name)?, colour));
        // The memory of a process is not what it allocates.
        let same = |g: &(&Growth, RGBColor)| unit == "s" || !g.0.what.contains("process");
        names.into_iter().zip(LINES).filter_map(found).filter(same).collect::<Vec<_>>()
    };
    lines(&left, &named("s"), "time", tick)?;
    lines(&right, &named("MB"), "memory allocated at most", |mb| match mb {
        mb if mb >= 1.0 => format!("{mb} MB"),
        mb if mb >= 1e-3 => format!("{} kB", (mb * 1e3).round()),
        mb => format!("{} B", (mb * 1e6).round()),
    })
}

/// Draws a line for each entry of a legend, and returns the area below. Within the axes a legend would need room without data.
fn legend<'a>(area: &Area<'a>, entries: &[(String, RGBAColor)]) -> Result<Area<'a>, Box<dyn std::error::Error>> {
    const LINE: i32 = 19;
    let (above, below) = area.split_vertically(LINE * entries.len() as i32 + 6);
    for (at, (text, colour)) in (0..).zip(entries) {
        let y = LINE * at + LINE / 2;
        above.draw(&PathElement::new([(84, y), (106, y)], colour.stroke_width(4)))?;
        above.draw(&Text::new(text.clone(), (114, y), anchored(13, HPos::Left, VPos::Center)))?;
    }
    Ok(below)
}

fn lines(area: &Area<'_>, found: &[(&Growth, RGBColor)], axis: &str, say: fn(f64) -> String) -> Drawn {
    // From the line that ends at the top to the one at the bottom.
    let mut found = found.to_vec();
    found.sort_by(|(a, _), (b, _)| {
        let last = |growth: &Growth| growth.points.last().map_or(0.0, |point| point.1);
        last(b).total_cmp(&last(a))
    });
    let entries =
        found.iter().map(|(growth, colour)| (format!("{} (power {:.2})", growth.what, growth.slope), colour.to_rgba()));
    let area = &legend(area, &entries.collect::<Vec<_>>())?;
    let points = || found.iter().flat_map(|(growth, _)| &growth.points);
    if points().next().is_none() {
        return Ok(());
    }
    let ((left, right), (low, high)) = (ends(points().map(|p| p.0)), ends(points().map(|p| p.1.max(1e-9))));
    let (x, y) = (left * 0.9..right * 1.1, low * 0.8..high * 1.25);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(78)
        .build_cartesian_2d(x.log_scale(), y.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_desc("size of the file")
        .y_desc(axis)
        .x_label_formatter(&|mb| format!("{mb} MB"))
        .y_label_formatter(&|value| say(*value))
        .label_style(font(13))
        .axis_desc_style(font(14))
        .draw()?;
    for (growth, colour) in found {
        let points = growth.points.iter().map(|&(mb, cost)| (mb, cost.max(1e-9)));
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?;
    }
    Ok(())
}

/// Speed-up by threads, next to what the machine gives and to the ideal.
fn threads(area: &Area<'_>, record: &Record, on: &str) -> Drawn {
    title(area, "What more threads give", on)?;
    let (_, below) = area.split_vertically(60);
    let most = record.threads.iter().flat_map(|t| &t.speedup).map(|s| s.0).max().unwrap_or(1) as f64;
    let top = record.threads.iter().flat_map(|t| &t.speedup).map(|s| s.1.median).fold(most, f64::max) * 1.04;
    let last = |thread: &Threads| thread.speedup.last().map_or(1.0, |s| s.1.median);
    let mut found: Vec<_> = record.threads.iter().zip(LINES).collect();
    found.sort_by(|(a, _), (b, _)| last(b).total_cmp(&last(a)));
    let mut targets: Vec<f64> = record.threads.iter().filter_map(|t| t.bound).map(Bound::value).collect();
    targets.dedup();
    let mut entries = vec![("ideal (dashed)".to_owned(), BLACK.mix(0.5))];
    entries.extend(found.iter().map(|(thread, colour)| {
        let wanted = thread.bound.map_or(String::new(), |bound| format!(", wanted {bound}"));
        (format!("{} ({}{wanted})", thread.what, number(last(thread))), colour.to_rgba())
    }));
    entries
        .extend(targets.iter().map(|target| (format!("wanted of {most} threads: {target} (dotted)"), BAD.to_rgba())));
    let below = legend(&below, &entries)?;
    let mut chart = ChartBuilder::on(&below)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(1.0..most * 1.02, 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(most as usize)
        .x_label_formatter(&|n| if n.fract() == 0.0 { format!("{n}") } else { String::new() })
        .x_desc("threads")
        .y_desc("times as fast as one thread")
        .label_style(font(13))
        .axis_desc_style(font(14))
        .draw()?;
    chart.draw_series(DashedLineSeries::new([(1.0, 1.0), (most, most)], 6, 5, BLACK.mix(0.5).into()))?;
    for target in targets {
        chart.draw_series(DashedLineSeries::new([(1.0, target), (most, target)], 2, 4, BAD.into()))?;
    }
    for (thread, colour) in found {
        let points = thread.speedup.iter().map(|(n, spread)| (*n as f64, spread.median));
        let width = if thread.what.contains("limit") { 4 } else { 2 };
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(width)))?;
        chart.draw_series(points.map(|point| Circle::new(point, 4, colour.filled())))?;
    }
    Ok(())
}

/// Histograms: single lookups on the left, whole processes on the right.
fn latency(area: &Area<'_>, latency: &[Latency], on: &str) -> Drawn {
    title(area, "How the times of single calls are spread (dashed: medians)", on)?;
    let (_, below) = area.split_vertically(60);
    let (left, right) = below.split_horizontally(590);
    let (processes, calls): (Vec<_>, Vec<_>) = latency.iter().partition(|l| l.what.starts_with("process"));
    let calls: Vec<_> = calls.into_iter().filter(|l| !l.what.ends_with("miss")).collect();
    histograms(&left, &calls, "one lookup, the clock's own time in it", None)?;
    let start = processes.iter().find(|l| l.what.contains("version")).map(|l| l.p50 + 1e-3);
    histograms(&right, &processes, "one process", start)
}

fn histograms(area: &Area<'_>, latency: &[&Latency], axis: &str, target: Option<f64>) -> Drawn {
    use crate::record::BUCKETS;
    let share = |l: &Latency| l.buckets.iter().map(|b| b.1).sum::<u64>() as f64;
    let Some(low) = latency.iter().map(|l| l.buckets[0].0).reduce(f64::min) else { return Ok(()) };
    // The record has the times beyond the slowest hundredth.
    let high = latency.iter().map(|l| l.p99 * 1.5).chain(target.map(|t| t * 1.2)).fold(low, f64::max);
    let shares = latency.iter().flat_map(|l| l.buckets.iter().map(|b| b.1 as f64 / share(l)));
    let top = shares.fold(0.0, f64::max) * 1.04;
    // In the order of the medians, from left to right.
    let mut found: Vec<_> = latency.iter().zip(LINES).collect();
    found.sort_by(|(a, _), (b, _)| a.p50.total_cmp(&b.p50));
    let mut entries: Vec<_> = found
        .iter()
        .map(|(latency, colour)| {
            (format!("{}: p50 {}, p99 {}", latency.what, time(latency.p50), time(latency.p99)), colour.to_rgba())
        })
        .collect();
    entries.extend(target.map(|_| ("wanted: within 1 ms of --version".to_owned(), BLACK.to_rgba())));
    let area = &legend(area, &entries)?;
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(low.log10() - 0.05..high.log10(), 0.0..top)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .x_labels(7)
        .x_desc(axis)
        .y_desc("share of the calls")
        .x_label_formatter(&|power| tick(10f64.powf(*power)))
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .label_style(font(13))
        .axis_desc_style(font(14))
        .draw()?;
    for (latency, colour) in found {
        let all = share(latency);
        // Steps: up at the lower edge of a bucket, down at its upper edge.
        let steps = latency.buckets.iter().filter(|b| b.0 < high).flat_map(|&(edge, count)| {
            let (edge, height) = (edge.log10(), count as f64 / all);
            let to = (edge + 1.0 / BUCKETS).min(high.log10());
            [(edge, 0.0), (edge, height), (to, height), (to, 0.0)]
        });
        let steps: Vec<(f64, f64)> = steps.collect();
        chart.draw_series(AreaSeries::new(steps, 0.0, colour.mix(0.25)).border_style(colour.stroke_width(2)))?;
        let line = [(latency.p50.log10(), 0.0), (latency.p50.log10(), top)];
        chart.draw_series(DashedLineSeries::new(line, 6, 4, colour.stroke_width(2)))?;
    }
    if let Some(target) = target {
        chart.draw_series(LineSeries::new([(target.log10(), 0.0), (target.log10(), top)], BLACK.stroke_width(2)))?;
    }
    Ok(())
}
