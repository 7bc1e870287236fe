//! The speedup by threads, next to the machine's speedup of a loop that shares nothing.

#![allow(clippy::disallowed_methods)]

use super::run::{Run, open, pool};
use crate::owned::Parsed;
use crate::questions::ids;
use crate::record::{Bound, Bound::AtLeast, Spread, Threads};
use crate::turns::turns;
use crate::{inputs, machine};
use assetq::Source;
use assetq::formats::Reader as _;
use assetq::formats::vrage::vrb::VrbArchive;
use assetq::formats::wows::geometry::Geometry;
use assetq_sample::vrb::Codec;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::time::Duration;

/// Multiplications of the loop that shares nothing: some milliseconds.
const STEPS: u64 = 20_000_000;

pub fn run(run: &mut Run) {
    let cores = machine::cores();
    // All counts on small machines, powers of two on large ones.
    let counts: Vec<usize> = (1..=cores).filter(|&n| cores <= 8 || n.is_power_of_two() || n == cores).collect();
    let pools: Vec<ThreadPool> = counts.iter().map(|&n| pool(n)).collect();
    let mut note = |what: &str, rounds: usize, bound: Option<Bound>, work: &(dyn Fn(usize) + Sync)| {
        let mut ways: Vec<_> = pools.iter().zip(&counts).map(|(pool, &n)| move || pool.install(|| work(n))).collect();
        let mut ways: Vec<&mut dyn FnMut()> = ways.iter_mut().map(|way| way as &mut dyn FnMut()).collect();
        let times: Vec<Vec<Duration>> = turns(rounds, &mut ways);
        let speedup = counts.iter().zip(&times).map(|(&n, t)| (n, Spread::ratio(&times[0], t))).collect();
        run.record.threads.push(Threads { what: what.to_owned(), speedup, bound });
    };
    let rounds = |full: usize, quick: bool| if quick { (full / 4).max(3) } else { full };
    let quick = run.quick;

    // As much work for each thread count in all, so that the ideal is the number of threads.
    note("multiply loop: the machine's own limit", rounds(20, quick), None, &|n| {
        let parts = (0..n).into_par_iter().with_max_len(1).map(|_| machine::multiply(STEPS / n as u64));
        assert_ne!(parts.sum::<u64>(), 1);
    });

    let db = open(&inputs::database());
    let (hits, _) = ids(&db);
    // Asked of two cores.
    let bound = (cores == 2).then_some(AtLeast(1.8));
    let parsed = Parsed::parse(db.source().bytes());
    let million: Vec<u64> = hits.iter().copied().cycle().take(1_000_000).collect();
    for (ids, name) in [(&hits, "each id once"), (&million, "a million ids")] {
        let out = std::sync::Mutex::new(vec![None; ids.len()]);
        let values = std::sync::Mutex::new(vec![None; ids.len()]);
        note(&format!("lookup_many, {name}"), rounds(40, quick), bound, &|_| {
            let found = db.lookup_many(ids, &mut out.lock().expect("no one panics")).expect("lengths are equal");
            assert_eq!(found, ids.len());
        });
        // The machine's speedup for another table of the same keys, in pieces of the same length.
        note(&format!("hashbrown, {name}"), rounds(40, quick), None, &|_| {
            let mut values = values.lock().expect("no one panics");
            ids.par_chunks(8192).zip(values.par_chunks_mut(8192)).for_each(|(ids, values)| {
                ids.iter().zip(values).for_each(|(id, value)| *value = parsed.resources.get(id).copied());
            });
            assert!(values.last().is_some_and(Option::is_some));
        });
    }
    note("verify of assets.bin", rounds(8, quick), None, &|_| assert!(db.verify(&Default::default()).is_ok()));

    let source = Source::open(inputs::geometry_of(100)).expect("it can be mapped");
    let open = || Geometry::open(source.clone()).expect("it is a geometry");
    let size = open().decoded_size().expect("sizes are known");
    note("decode of geometry, 100 MB", rounds(12, quick), bound, &|_| {
        let g = open();
        assert!(g.decode_all().is_empty() && g.decoded_size().expect("sizes are known") == size);
    });
    let g = open();
    let vertices = g.vertices_prototypes().expect("they lie in the file").len();
    let len = |i: usize| g.vertex_buffer(i).expect("it exists").size().expect("it has a size");
    let buffers: Vec<Vec<u8>> = (0..vertices).map(|i| vec![1; len(i)]).collect();
    let buffers = std::sync::Mutex::new(buffers);
    note("decode into buffers that are there", rounds(12, quick), None, &|_| {
        let mut buffers = buffers.lock().expect("no one panics");
        buffers.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, out)| {
            g.vertex_buffer(i).expect("it exists").decode_into(out).expect("it decodes");
        });
    });

    let packed = Source::open(inputs::archive("zlib", Codec::Zlib)).expect("it can be mapped");
    note("verify of zlib chunks", rounds(8, quick), bound, &|_| {
        let archive = VrbArchive::open(packed.clone()).expect("it is an archive");
        assert!(archive.verify(&Default::default()).is_ok());
    });
}
