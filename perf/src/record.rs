//! The measurements of a run, as written to `record/` and drawn by `charts`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, fs};

/// One run on one machine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Day of the run, UTC.
    pub date: String,
    pub machine: Machine,
    /// Whether rounds were few.
    pub quick: bool,
    pub ratios: Vec<Ratio>,
    pub processes: Vec<Process>,
    pub growth: Vec<Growth>,
    pub threads: Vec<Threads>,
    pub latency: Vec<Latency>,
    pub pages: Vec<Pages>,
    /// Measurements that were not possible, with reasons.
    pub skipped: Vec<String>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gb: u64,
    pub system: String,
}

impl Machine {
    /// A name for files: the processor and how many cores, letters and digits only.
    pub fn slug(&self) -> String {
        let words = self.cpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        let cpu = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
        format!("{cpu}-{}c", self.cores)
    }
}

/// The folder of records.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("record")
}

/// The record that is named, or the newest.
pub fn read(path: Option<PathBuf>) -> Record {
    let newest = || {
        let files = fs::read_dir(folder()).expect("there are records").flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|e| e == "json")).max().expect("there is a record")
    };
    let text = fs::read_to_string(path.unwrap_or_else(newest)).expect("the record can be read");
    serde_json::from_str(&text).expect("it is a record")
}

impl Record {
    /// Writes it under its date and machine; gives where.
    pub fn write(&self) -> PathBuf {
        let path = folder().join(format!("{}-{}.json", self.date, self.machine.slug()));
        fs::create_dir_all(folder()).expect("the folder can be made");
        fs::write(&path, serde_json::to_string_pretty(self).expect("a record is json") + "\n")
            .expect("it can be written");
        path
    }
}

/// A target for a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    pub fn met(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }

    pub fn value(self) -> f64 {
        match self {
            Self::AtMost(value) | Self::AtLeast(value) => value,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(value) => write!(f, "<= {value}"),
            Self::AtLeast(value) => write!(f, ">= {value}"),
        }
    }
}

/// Least, middle and greatest of what the rounds gave.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Self { min: values[0], median: values[values.len() / 2], max: values[values.len() - 1] }
    }

    /// Of the ratios that `a` has to `b` in each round.
    pub fn ratio(a: &[Duration], b: &[Duration]) -> Self {
        Self::of(a.iter().zip(b).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()))
    }
}

/// How long one thing took next to another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ratio {
    pub group: String,
    /// As "A / B".
    pub what: String,
    /// Seconds of A, of B: the middle ones.
    pub seconds: [f64; 2],
    pub ratio: Spread,
    pub bound: Option<Bound>,
}

/// The cost of a whole process, from its start to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Process {
    pub command: String,
    /// Seconds.
    pub warm: Spread,
    /// The same with the file and the program dropped from the page cache.
    pub cold: Option<Spread>,
    /// Seconds of both processors, user and system.
    pub cpu: Spread,
    pub peak_mb: f64,
    pub minor_faults: u64,
    /// With nothing in the page cache.
    pub major_faults_cold: Option<u64>,
    /// Instructions by callgrind.
    pub instructions: Option<u64>,
}

/// How a cost grows with the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Growth {
    pub what: String,
    /// Of the costs: "s" or "MB".
    pub unit: String,
    /// Size of the file in MB, and cost.
    pub points: Vec<(f64, f64)>,
    /// Of the line through the points where both axes are logarithmic: 0 flat, 1 linear.
    pub slope: f64,
    pub bound: Option<Bound>,
}

/// How much faster more threads are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Threads {
    pub what: String,
    /// Numbers of threads, and the time of one thread divided by their time.
    pub speedup: Vec<(usize, Spread)>,
    /// For the last of them.
    pub bound: Option<Bound>,
}

/// How the times of single calls are spread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Latency {
    pub what: String,
    /// Seconds: half of the calls are faster, and so on.
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
    /// Lower edge in seconds, and how many calls; an edge is the last one by `BUCKET`.
    pub buckets: Vec<(f64, u64)>,
}

/// Buckets a power of ten.
pub const BUCKETS: f64 = 20.0;

impl Latency {
    pub fn of(what: &str, mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share) as usize];
        let mut buckets: Vec<(f64, u64)> = Vec::new();
        for &value in &seconds {
            let edge = 10f64.powf((value.max(1e-9).log10() * BUCKETS).floor() / BUCKETS);
            match buckets.last_mut() {
                Some((last, count)) if *last == edge => *count += 1,
                _ => buckets.push((edge, 1)),
            }
        }
        Self { what: what.to_owned(), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0), buckets }
    }
}

/// Pages of the file that a question touches, and faults that the kernel takes to map them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pages {
    pub what: String,
    pub touched: Option<u64>,
    pub faults: u64,
    /// Of the whole file.
    pub of: u64,
}

/// The slope of the line through points, both of whose axes are logarithmic.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.max(1e-12).ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let over: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    over / logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_the_power() {
        let points = |power: f64| [1.0, 10.0, 100.0].map(|x: f64| (x, 3.0 * x.powf(power)));
        assert!((slope(&points(1.0)) - 1.0).abs() < 1e-9);
        assert!(slope(&points(0.0)).abs() < 1e-9);
    }

    #[test]
    fn a_slug_has_no_blanks() {
        let machine = Machine { cpu: "AMD EPYC (tm) 7763".into(), cores: 2, ..Machine::default() };
        assert_eq!(machine.slug(), "amd-epyc-tm-7763-2c");
    }

    #[test]
    fn buckets_hold_every_call() {
        let latency = Latency::of("x", vec![1e-6, 1.01e-6, 5e-6, 1e-3]);
        assert_eq!(latency.buckets.iter().map(|b| b.1).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(latency.max, 1e-3);
    }
}
