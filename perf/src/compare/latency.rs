//! How the times of single calls are spread.

use super::run::{Run, open};
use crate::inputs;
use crate::owned::Parsed;
use crate::questions::ids;
use crate::record::Latency;
use crate::spawn::Order;
use std::hint::black_box;
use std::time::Instant;

pub fn run(run: &mut Run) {
    let path = inputs::database();
    let db = open(&path);
    let parsed = Parsed::parse(db.source().bytes());
    let (hits, misses) = ids(&db);
    let mut note = |what: &str, ids: &[u64], call: &mut dyn FnMut(u64)| {
        let time = |&id: &u64| {
            let start = Instant::now();
            call(id);
            start.elapsed().as_secs_f64()
        };
        run.record.latency.push(Latency::of(what, ids.iter().map(time).collect()));
    };
    note("the clock alone", &hits, &mut |id| _ = black_box(id));
    note("lookup, hit", &hits, &mut |id| _ = black_box(db.lookup(id).expect("it is sound")));
    note("lookup, miss", &misses, &mut |id| _ = black_box(db.lookup(id).expect("it is sound")));
    note("hashbrown get, hit", &hits, &mut |id| _ = black_box(parsed.resources.get(&id)));
    note("hashbrown get, miss", &misses, &mut |id| _ = black_box(parsed.resources.get(&id)));

    let binary = super::process::binary().to_str().expect("the path is text").to_owned();
    let (entry, _) = super::process::entry(&path);
    let db = path.to_str().expect("the path is text").to_owned();
    let version = vec![binary.clone(), "--version".to_owned()];
    let resolve = [&binary, "resolve", &entry, "--db", &db].map(str::to_owned).to_vec();
    let order = Order { commands: vec![version, resolve], rounds: run.rounds(1000), drop: Vec::new() };
    for (what, costs) in ["process: --version", "process: resolve PATH"].into_iter().zip(order.run()) {
        run.record.latency.push(Latency::of(what, costs.iter().map(|cost| cost.seconds).collect()));
    }
}
