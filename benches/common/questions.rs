//! Queries of a prototype database, the same in every bench.

use assetq::formats::Reader as _;
use assetq::formats::wows::bwdb::{Database, Location};
use assetq::table::Value;
use std::io::Write;

/// Ids of resources in random order, and as many that are not there.
pub fn ids(db: &Database) -> (Vec<u64>, Vec<u64>) {
    let mut hits: Vec<u64> = db.resources().map(|r| r.id()).collect();
    let mut rng = fastrand::Rng::with_seed(9);
    rng.shuffle(&mut hits);
    let misses = (0..hits.len()).map(|_| rng.u64(..)).collect();
    (hits, misses)
}

/// How many of `ids` there are, and where, one by one.
pub fn sum(db: &Database, ids: &[u64]) -> usize {
    ids.iter().filter_map(|&id| db.lookup(id).unwrap()).map(|r| r.record_index() + 1).sum()
}

/// The same, all at once.
pub fn sum_many(db: &Database, ids: &[u64], out: &mut [Option<Location>]) -> usize {
    db.lookup_many(ids, out).unwrap();
    out.iter().flatten().map(|r| r.record_index() + 1).sum()
}

/// All paths, a line each, as `ls` writes them.
pub fn list(db: &Database, out: &mut impl Write) -> usize {
    let table = db.table("paths").unwrap();
    let mut cursor = table.cursor(0);
    let mut count = 0;
    while cursor.advance().unwrap() {
        let Value::Text(path) = cursor.value(3).unwrap() else { panic!() };
        out.write_all(path.as_bytes()).unwrap();
        out.write_all(b"\n").unwrap();
        count += 1;
    }
    count
}
