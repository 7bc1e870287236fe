//! Questions to a whole database, next to parsing it.

use super::run::{Run, open, pool};
use crate::owned::{Parsed, list as list_owned};
use crate::questions::{ids, list};
use crate::record::Bound::{AtLeast, AtMost};
use crate::turns::turns;
use crate::{inputs, machine};
use assetq::Source;
use assetq::formats::Reader as _;
use assetq_core::codec::murmur3;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::time::Duration;
use wowsunpack::models::assets_bin::parse_assets_bin;

pub fn run(run: &mut Run) {
    one_question(run);
    all_paths(run);
    verify(run);
}

/// From nothing to the answer to one question.
fn one_question(run: &mut Run) {
    let path = inputs::database();
    let source = Source::open(&path).expect("it can be mapped");
    let parsed = Parsed::parse(source.bytes());
    let (hits, _) = ids(&open(&path));
    let id = hits[0];
    let ours = || open(&path).lookup(id).expect("it is sound").map(|r| r.record_index());
    let owned = || Parsed::parse(source.bytes()).resources.get(&id).map(|v| (v >> 8) as usize);
    let theirs = || parse_assets_bin(source.bytes()).expect("it parses").lookup_r2p(id).map(|v| (v >> 8) as usize);
    let expected = ours();
    assert!(expected.is_some() && owned() == expected && theirs() == expected);
    let times = turns(
        run.rounds(20),
        &mut [&mut || assert_eq!(owned(), expected), &mut || assert_eq!(theirs(), expected), &mut || {
            assert_eq!(ours(), expected)
        }],
    );
    let bound = Some(AtLeast(1000.0));
    run.ratio("database", "full parse + lookup / open + lookup", [&times[0], &times[2]], 1, bound);
    run.ratio("database", "wowsunpack parse + lookup / open + lookup", [&times[1], &times[2]], 1, None);

    // The other way round, from an id to its path, no map of the file helps.
    let deep = hits.iter().copied().max_by_key(|&id| parsed.path(id).matches('/').count()).expect("there are ids");
    let ours = || open(&path).path(deep).expect("it is sound").expect("it exists");
    let theirs = || {
        let db = parse_assets_bin(source.bytes()).expect("it parses");
        let index = db.build_self_id_index();
        db.reconstruct_path(index[&deep], &index)
    };
    assert_eq!(ours(), parsed.path(deep));
    assert_eq!(ours(), theirs());
    let times = turns(run.rounds(20), &mut [&mut || drop(black_box(ours())), &mut || drop(black_box(theirs()))]);
    let what = "open + path of an id / wowsunpack parse + index + path";
    run.ratio("database", what, [&times[0], &times[1]], 1, None);
}

fn all_paths(run: &mut Run) {
    let path = inputs::database();
    let source = Source::open(&path).expect("it can be mapped");
    let to = path.with_extension("paths");
    let create = || BufWriter::with_capacity(1 << 16, File::create(&to).expect("it can be written"));
    let ours = || list(&open(&path), &mut create());
    let owned = || list_owned(source.bytes(), &mut create());
    let theirs = || {
        let db = parse_assets_bin(source.bytes()).expect("it parses");
        let index = db.build_self_id_index();
        let mut out = create();
        (0..db.paths_storage.len()).for_each(|i| writeln!(out, "{}", db.reconstruct_path(i, &index)).expect("writes"));
        db.paths_storage.len()
    };
    let written = |list: &dyn Fn() -> usize| (list(), murmur3(&std::fs::read(&to).expect("it was written")));
    let expected = written(&ours);
    assert_eq!([written(&owned), written(&theirs)], [expected; 2]);
    let count = expected.0;
    let times = turns(
        run.rounds(12),
        &mut [&mut || assert_eq!(owned(), count), &mut || assert_eq!(theirs(), count), &mut || {
            assert_eq!(ours(), count)
        }],
    );
    let bound = Some(AtLeast(3.0));
    run.ratio("database", "all paths with owned strings / from the map", [&times[0], &times[2]], 1, bound);
    run.ratio("database", "all paths by wowsunpack / from the map", [&times[1], &times[2]], 1, None);
}

/// The checksum is one serial chain; everything else goes on beside it.
fn verify(run: &mut Run) {
    let db = open(&inputs::database());
    let body = &db.source().bytes()[16..];
    let (one, all) = (pool(1), pool(machine::cores()));
    let check = || assert!(db.verify(&Default::default()).is_ok());
    let expected = murmur3(body);
    let public = |bytes: &[u8]| murmur3::murmur3_32(&mut &bytes[..], 0).expect("memory can be read");
    assert_eq!(public(body), expected);
    let times = turns(
        run.rounds(12),
        &mut [
            &mut || all.install(check),
            &mut || one.install(check),
            &mut || assert_eq!(murmur3(black_box(body)), expected),
            &mut || assert_ne!(machine::murmur_chain(body.len() / 4), 0),
            &mut || assert_eq!(public(black_box(body)), expected),
        ],
    );
    // On one thread checksum and walk come one after the other.
    let slower = |alone: &Duration, hash: &Duration| alone.saturating_sub(*hash).max(*hash);
    let slower: Vec<Duration> = times[1].iter().zip(&times[2]).map(|(alone, hash)| slower(alone, hash)).collect();
    let what = "verify / the slower of its checksum and its walk";
    run.ratio("database", what, [&times[0], &slower], 1, Some(AtMost(1.2)));
    run.ratio("database", "checksum / its chain alone, nothing read", [&times[2], &times[3]], 1, Some(AtMost(1.1)));
    run.ratio("database", "checksum / murmur3 crate", [&times[2], &times[4]], 1, Some(AtMost(1.0)));
}
