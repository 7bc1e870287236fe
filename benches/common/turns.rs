//! Times of several ways of doing the same, measured in turns so that all of them meet the same machine.

use std::time::{Duration, Instant};

/// Runs each of `ways` once a round; gives the times of each, a time a round. Every round begins with another way.
pub fn turns(rounds: usize, ways: &mut [&mut dyn FnMut()]) -> Vec<Vec<Duration>> {
    let count = ways.len();
    let mut times = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds {
        for way in (0..count).map(|turn| (round + turn) % count) {
            let start = Instant::now();
            ways[way]();
            times[way].push(start.elapsed());
        }
    }
    times
}

/// The middle one.
pub fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}
