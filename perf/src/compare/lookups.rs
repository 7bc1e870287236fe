//! Lookups in the file's own hash maps, next to hashbrown's on the same keys and to the public reader's.

use super::run::{Run, open, pool};
use crate::owned::Parsed;
use crate::questions::{ids, sum, sum_many};
use crate::record::Bound::AtMost;
use crate::turns::turns;
use assetq::formats::wows::bwdb::Location;
use assetq_core::codec::cityhash64;
use std::hint::black_box;
use wowsunpack::models::assets_bin::{PrototypeDatabase, parse_assets_bin};

/// As `sum`, by the public reader.
fn sum_public(public: &PrototypeDatabase<'_>, ids: &[u64]) -> usize {
    ids.iter().filter_map(|&id| public.lookup_r2p(id)).map(|v| (v >> 8) as usize + 1).sum()
}

pub fn run(run: &mut Run) {
    let db = open(&crate::inputs::database());
    let parsed = Parsed::parse(db.source().bytes());
    let public = parse_assets_bin(db.source().bytes()).expect("the public crate reads it");
    let (hits, misses) = ids(&db);
    let mut out = vec![None; hits.len()];
    // All of them in the same thread: `lookup_many` would ask others for help.
    let one = pool(1);
    for (kind, ids, expected) in [("hits", &hits, parsed.sum(&hits)), ("misses", &misses, 0)] {
        let rounds = run.rounds(60);
        let times = one.install(|| {
            let many = |out: &mut [Option<Location>]| sum_many(&db, black_box(ids), out);
            assert_eq!([sum(&db, ids), many(&mut out), parsed.sum(ids), sum_public(&public, ids)], [expected; 4]);
            turns(
                rounds,
                &mut [
                    &mut || assert_eq!(sum(&db, black_box(ids)), expected),
                    &mut || assert_eq!(many(&mut out), expected),
                    &mut || assert_eq!(parsed.sum(black_box(ids)), expected),
                    &mut || assert_eq!(sum_public(&public, black_box(ids)), expected),
                ],
            )
        });
        let mut note = |what: &str, a: usize, b: usize, bound| {
            run.ratio("lookups", &format!("{what}, {kind}"), [&times[a], &times[b]], ids.len(), bound);
        };
        note("lookup / hashbrown get", 0, 2, Some(AtMost(1.0)));
        note("lookup_many on one core / hashbrown get", 1, 2, Some(AtMost(0.5)));
        note("lookup / wowsunpack lookup_r2p", 0, 3, None);
    }

    let mut names: Vec<u32> = parsed.strings.keys().copied().collect();
    fastrand::Rng::with_seed(9).shuffle(&mut names);
    names.truncate(100_000);
    let len = |text: Option<&str>| text.map_or(0, str::len);
    let ours = || names.iter().map(|&id| len(db.string(id).expect("the pool is sound"))).sum::<usize>();
    let owned = || names.iter().map(|id| len(parsed.strings.get(id).map(String::as_str))).sum::<usize>();
    let theirs = || names.iter().map(|&id| len(public.strings.get_string_by_id(id))).sum::<usize>();
    let expected = owned();
    assert_eq!([ours(), theirs()], [expected; 2]);
    let times = turns(
        run.rounds(40),
        &mut [&mut || assert_eq!(ours(), expected), &mut || assert_eq!(owned(), expected), &mut || {
            assert_eq!(theirs(), expected)
        }],
    );
    run.ratio("lookups", "text of a name id / hashbrown get of a String", [&times[0], &times[1]], names.len(), None);
    run.ratio("lookups", "text of a name id / wowsunpack", [&times[0], &times[2]], names.len(), None);

    let paths: Vec<String> = hits.iter().take(20_000).map(|&id| parsed.path(id)).collect();
    let by_path = || paths.iter().filter(|path| db.lookup_path(path).expect("it is sound").is_some()).count();
    let by_hash = || {
        let found = |path: &&String| db.lookup(cityhash64(path.as_bytes())).expect("it is sound").is_some();
        paths.iter().filter(found).count()
    };
    assert_eq!([by_path(), by_hash()], [paths.len(); 2]);
    let times = turns(
        run.rounds(40),
        &mut [&mut || assert_eq!(by_path(), paths.len()), &mut || assert_eq!(by_hash(), paths.len())],
    );
    let bound = Some(AtMost(1.5));
    run.ratio("lookups", "lookup_path / its CityHash64 + lookup", [&times[0], &times[1]], paths.len(), bound);
}
