//! Parameters of a game: the pickle read into arenas next to the values of a public crate, and the memory of both.

use super::run::Run;
use crate::heap::peak;
use crate::inputs;
use crate::record::Bound::AtMost;
use crate::record::{Ratio, Spread};
use crate::turns::turns;
use assetq::Source;
use assetq::formats::wows::gameparams::{Params, Pickle};
use assetq_sample::{Size, gameparams};
use serde_pickle::DeOptions;
use std::hint::black_box;

pub fn run(run: &mut Run) {
    let path = inputs::cached("GameParams.data", || gameparams::demo(1, Size::Full));
    let stored = Source::open(&path).expect("it can be mapped");
    let params = Params::open(stored).expect("it has parameters");
    let pickle = params.pickle().expect("it is sound").source().clone();
    let ours = || Pickle::read(pickle.clone()).expect("it is sound");
    let options = || DeOptions::new().replace_unresolved_globals().replace_recursive_structures();
    let theirs = || serde_pickle::value_from_slice(pickle.bytes(), options()).expect("it is sound");
    let megabytes = pickle.bytes().len() / 1_000_000;
    let times = turns(run.rounds(12), &mut [&mut || drop(black_box(ours())), &mut || drop(black_box(theirs()))]);
    let what = format!("read a pickle of {megabytes} MB into arenas / into values by serde-pickle");
    run.ratio("params", &what, [&times[0], &times[1]], 1, Some(AtMost(0.25)));
    let (arenas, _) = peak(ours);
    let (values, _) = peak(theirs);
    // The arenas stand beside the pickle.
    let size = pickle.bytes().len();
    let [arenas, values] = [arenas + size, values + size].map(|bytes| bytes as f64 / size as f64);
    run.record.ratios.push(Ratio {
        group: "params".to_owned(),
        what: "memory for each byte of a pickle, in bytes; beside it serde-pickle's".to_owned(),
        seconds: [arenas, values],
        ratio: Spread::of([arenas]),
        bound: Some(AtMost(5.0)),
    });
}
