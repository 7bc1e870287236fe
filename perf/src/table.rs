//! The record as a table.

use crate::record::{Bound, Record, Spread};

/// A time as people read it.
pub fn time(seconds: f64) -> String {
    match seconds.abs() {
        s if s >= 1.0 => format!("{seconds:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        s if s >= 1e-6 => format!("{:.2} µs", seconds * 1e6),
        _ => format!("{:.1} ns", seconds * 1e9),
    }
}

/// A ratio with three digits that say something.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn verdict(bound: Option<Bound>, value: f64) -> String {
    match bound {
        Some(bound) if bound.met(value) => format!("{bound} | yes"),
        Some(bound) => format!("{bound} | NO"),
        None => "- | -".to_owned(),
    }
}

fn spread(spread: Spread, text: fn(f64) -> String) -> String {
    [spread.min, spread.median, spread.max].map(text).join(" | ")
}

/// Prints every part that the record has, as Markdown.
pub fn print(record: &Record) {
    let machine = &record.machine;
    println!("{}, {} cores, {} GB, {}", record.date, machine.cores, machine.memory_gb, machine.cpu);
    part("| what | of | A | B | min | median | max | wanted | met |", &record.ratios, |r| {
        let text = if r.group == "process" { time } else { number };
        let [a, b] = r.seconds.map(time);
        let ratio = spread(r.ratio, text);
        format!("{} | {} | {a} | {b} | {ratio} | {}", r.what, r.group, verdict(r.bound, r.ratio.median))
    });
    part(
        "| process | warm min | median | max | cold median | cpu | peak MB | faults | major cold | instructions |",
        &record.processes,
        |p| {
            let or = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            let cold = or(p.cold.map(|cold| time(cold.median)));
            let (major, instructions) =
                (p.major_faults_cold.map(|n| n.to_string()), p.instructions.map(|n| n.to_string()));
            let (warm, cpu, peak) = (spread(p.warm, time), time(p.cpu.median), p.peak_mb);
            let tail = format!("{} | {} | {}", p.minor_faults, or(major), or(instructions));
            format!("{} | {warm} | {cold} | {cpu} | {peak:.1} | {tail}", p.command)
        },
    );
    part("| pages | touched | faults | of |", &record.pages, |p| {
        let touched = p.touched.map_or("-".to_owned(), |n| n.to_string());
        format!("{} | {touched} | {} | {}", p.what, p.faults, p.of)
    });
    part("| growth | smallest file | largest file | power | wanted | met |", &record.growth, |g| {
        let text = |(mb, cost): &(f64, f64)| match &*g.unit {
            "s" => format!("{} of {mb:.0} MB", time(*cost)),
            _ => format!("{} MB of {mb:.0} MB", number(*cost)),
        };
        let ends = [g.points.first(), g.points.last()].map(|p| p.map_or(String::new(), text));
        format!("{} | {} | {:.2} | {}", g.what, ends.join(" | "), g.slope, verdict(g.bound, g.slope))
    });
    part("| threads | speed-up min | median | max | by | wanted | met |", &record.threads, |t| {
        let Some((count, last)) = t.speedup.last() else { return t.what.clone() };
        format!("{} | {} | {count} | {}", t.what, spread(*last, number), verdict(t.bound, last.median))
    });
    part("| latency | p50 | p90 | p99 | max |", &record.latency, |l| {
        format!("{} | {}", l.what, [l.p50, l.p90, l.p99, l.max].map(time).join(" | "))
    });
    for why in &record.skipped {
        println!("skipped: {why}");
    }
}

fn part<T>(header: &str, rows: &[T], text: impl Fn(&T) -> String) {
    if rows.is_empty() {
        return;
    }
    println!("\n{header}");
    println!("|{}", "---|".repeat(header.matches('|').count() - 1));
    rows.iter().for_each(|row| println!("| {} |", text(row)));
}
