//! How cost grows with the file: what is flat, and what is linear.

use super::process;
use super::run::{Run, on, open};
use crate::heap::peak;
use crate::inputs;
use crate::owned::Parsed;
use crate::questions::{ids, list, sum};
use crate::record::Bound::AtMost;
use crate::spawn::Order;
use crate::turns::turns;
use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::wows::geometry::Geometry;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use wowsunpack::models::assets_bin::parse_assets_bin;

/// Slopes on logarithmic axes: what does not grow, and what grows as the file does.
const FLAT: f64 = 0.1;
const LINEAR: f64 = 1.1;

/// Costs by what and unit, a point a size.
type Points = BTreeMap<(&'static str, &'static str), Vec<(f64, f64)>>;

/// A measured quantity, its unit, and the allowed slope.
const BOUNDS: [(&str, &str, Option<f64>); 23] = [
    ("open", "s", Some(FLAT)),
    ("open + lookup", "s", Some(FLAT)),
    ("resolve PATH, whole process", "s", Some(FLAT)),
    ("lookup in an open file", "s", None),
    ("hashbrown get", "s", None),
    ("path of an id, by scanning", "s", Some(LINEAR)),
    ("all paths", "s", Some(LINEAR)),
    ("verify", "s", Some(LINEAR)),
    ("diff, whole process", "s", Some(LINEAR)),
    ("decode of geometry", "s", Some(LINEAR)),
    // The cost of new memory of that size alone.
    ("as many bytes copied into new memory", "s", None),
    ("full parse + lookup", "s", None),
    ("wowsunpack parse + lookup", "s", None),
    ("open + lookup", "MB", Some(FLAT)),
    // Pages of the file count, which the kernel maps by up to 2 MB where the file is large enough.
    ("resolve PATH, whole process", "MB", None),
    ("path of an id, by scanning", "MB", Some(FLAT)),
    ("all paths", "MB", Some(LINEAR)),
    ("verify", "MB", Some(LINEAR)),
    ("decode of geometry", "MB", Some(LINEAR)),
    ("full parse + lookup", "MB", None),
    ("wowsunpack parse + lookup", "MB", None),
    ("diff, whole process", "MB", Some(LINEAR)),
    ("ls, whole process", "s", Some(LINEAR)),
];

pub fn run(run: &mut Run) {
    let sizes: &[usize] = if run.quick { &[1, 10, 100] } else { &[1, 10, 100, 1000] };
    let binary = process::binary().to_str().expect("the path is text").to_owned();
    let mut points = Points::new();
    for &mb in sizes {
        let path = inputs::database_of(mb);
        // Large files need fewer rounds, and have less time for them.
        let rounds = run.rounds((4000 / mb).clamp(5, 60));
        let altered = process::has(&binary, "diff").then(|| inputs::altered_of(mb));
        processes(&mut points, &binary, &path, altered.as_deref(), rounds);
        database(&mut points, &path, rounds);
        decode(&mut points, &inputs::geometry_of(mb), rounds);
    }
    for (what, unit, bound) in BOUNDS {
        if let Some(points) = points.remove(&(what, unit)) {
            run.growth(what, unit, points, bound.map(AtMost));
        }
    }
    assert!(points.is_empty(), "{:?} have no bound", points.keys());
}

/// Sizes are measured one after the other, so the machine may have been busier for one: its least says most.
fn least(times: &[Duration]) -> f64 {
    times.iter().min().expect("there are rounds").as_secs_f64()
}

fn size(path: &Path) -> f64 {
    std::fs::metadata(path).expect("it exists").len() as f64 / 1e6
}

fn processes(points: &mut Points, binary: &str, path: &Path, altered: Option<&Path>, rounds: usize) {
    let (entry, _) = process::entry(path);
    let file = path.to_str().expect("the path is text");
    let resolve = [binary, "resolve", &entry, "--db", file].map(str::to_owned).to_vec();
    let ls = [binary, "ls", file].map(str::to_owned).to_vec();
    let mut commands = vec![resolve, ls];
    if let Some(altered) = altered {
        let altered = altered.to_str().expect("the path is text");
        commands.push([binary, "diff", "--stat", file, altered].map(str::to_owned).to_vec());
    }
    let costs = Order { commands, rounds, drop: Vec::new() }.run();
    let names = ["resolve PATH, whole process", "ls, whole process", "diff, whole process"];
    for (what, costs) in names.into_iter().zip(costs) {
        // That files differ is an answer too, with an exit code of its own.
        assert!(costs.iter().all(|cost| matches!(cost.code, 0 | 1)), "{what} failed");
        let seconds = costs.iter().map(|cost| cost.seconds).fold(f64::MAX, f64::min);
        points.entry((what, "s")).or_default().push((size(path), seconds));
        if !what.starts_with("ls") {
            points.entry((what, "MB")).or_default().push((size(path), costs[0].peak_mb));
        }
    }
}

fn database(points: &mut Points, path: &Path, rounds: usize) {
    let db = open(path);
    let source = db.source();
    let parsed = Parsed::parse(source.bytes());
    let (hits, _) = ids(&db);
    let some = &hits[..hits.len().min(20_000)];
    let expected = parsed.sum(some);
    let id = hits[hits.len() / 2];
    let text = parsed.path(id);
    let count = db.paths().len();
    let find = || assert!(open(path).lookup(id).expect("it is sound").is_some());
    let resolve = || assert_eq!(open(path).path(id).expect("it is sound").as_deref(), Some(&*text));
    let all = || assert_eq!(list(&open(path), &mut std::io::sink()), count);
    let check = || assert!(open(path).verify(&Default::default()).is_ok());
    let full = || assert!(Parsed::parse(source.bytes()).resources.contains_key(&id));
    let public = || assert!(parse_assets_bin(source.bytes()).expect("it parses").lookup_r2p(id).is_some());
    type Work<'w> = &'w (dyn Fn() + Sync);
    type Way<'w> = (&'static str, usize, Option<Work<'w>>, Work<'w>);
    let ways: [Way<'_>; 9] = [
        ("open", 1, None, &|| drop(black_box(open(path)))),
        ("open + lookup", 1, Some(&find), &find),
        ("lookup in an open file", some.len(), None, &|| assert_eq!(sum(&db, some), expected)),
        ("hashbrown get", some.len(), None, &|| assert_eq!(parsed.sum(some), expected)),
        ("path of an id, by scanning", 1, Some(&resolve), &resolve),
        ("all paths", 1, Some(&all), &all),
        ("verify", 1, Some(&check), &check),
        ("full parse + lookup", 1, Some(&full), &full),
        ("wowsunpack parse + lookup", 1, Some(&public), &public),
    ];
    for (what, calls, memory, way) in ways {
        // Short work is done often in a turn.
        let repeat = if what.starts_with("open") { 50 } else { 1 };
        let times = turns(rounds, &mut [&mut || (0..repeat).for_each(|_| way())]);
        let seconds = least(&times[0]) / (calls * repeat) as f64;
        points.entry((what, "s")).or_default().push((size(path), seconds));
        if let Some(work) = memory {
            let bytes = on(1, || peak(work).0);
            points.entry((what, "MB")).or_default().push((size(path), bytes as f64 / 1e6));
        }
    }
}

fn decode(points: &mut Points, path: &Path, rounds: usize) {
    let source = Source::open(path).expect("it can be mapped");
    let decode = || {
        let g = Geometry::open(source.clone()).expect("it is a geometry");
        assert!(g.decode_all().is_empty());
        g.decoded_size().expect("sizes are known")
    };
    let mb = decode() as f64 / 1e6;
    let times = turns(rounds.min(12), &mut [&mut || assert!(on(1, decode) > 0)]);
    points.entry(("decode of geometry", "s")).or_default().push((mb, least(&times[0])));
    let bytes = vec![1u8; (mb * 1e6) as usize];
    let times = turns(rounds.min(12), &mut [&mut || drop(black_box(bytes.clone()))]);
    points.entry(("as many bytes copied into new memory", "s")).or_default().push((mb, least(&times[0])));
    let bytes = on(1, || peak(decode).0);
    points.entry(("decode of geometry", "MB")).or_default().push((mb, bytes as f64 / 1e6));
}
