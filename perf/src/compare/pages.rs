//! Pages of a mapped file that questions touch.

use super::run::Run;
use crate::inputs;
use crate::record::Pages;
use crate::spawn::{PAGE, minor_faults};
use assetq::Source;
use assetq::formats::wows::bwdb::Database;
use assetq_core::codec::cityhash64;
use std::fs;
use std::path::Path;

/// Pages of the map of `path` that this process touched since `forget`, where the kernel counts that.
fn touched(path: &Path) -> Option<u64> {
    let maps = fs::read_to_string("/proc/self/smaps").ok()?;
    let after = maps.lines().skip_while(|line| !line.ends_with(path.to_str().expect("the path is text")));
    let line = after.skip(1).find(|line| line.starts_with("Referenced:"))?.to_owned();
    let kb: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kb * 1024 / PAGE as u64)
}

/// Lets the kernel forget what was touched so far.
fn forget() -> bool {
    fs::write("/proc/self/clear_refs", "1").is_ok()
}

pub fn run(run: &mut Run) {
    let path = fs::canonicalize(inputs::database()).expect("it exists");
    let (entry, _) = super::process::entry(&path);
    let id = cityhash64(entry.as_bytes());
    type Question<'q> = (&'q str, &'q dyn Fn(Source));
    let open = |source: Source| Database::open(source).expect("it is a database");
    let questions: [Question<'_>; 5] = [
        ("open", &|source| assert!(open(source).database_count() > 0)),
        ("open + lookup", &|source| assert!(open(source).lookup(id).expect("it is sound").is_some())),
        ("open + lookup + place of the record, as resolve PATH", &|source| {
            let db = open(source);
            let resource = db.lookup_path(&entry).expect("it is sound").expect("it exists");
            let blob = resource.database().expect("it is sound");
            assert!(blob.record_span(resource.record_index()).is_ok());
        }),
        ("the same + all bytes of the record", &|source| {
            let db = open(source);
            let resource = db.lookup(id).expect("it is sound").expect("it exists");
            assert!(resource.bytes().expect("it is sound").expect("it is valid").iter().any(|&b| b != 0));
        }),
        ("open + path of an id, by scanning", &|source| {
            assert_eq!(open(source).path(id).expect("it is sound").as_deref(), Some(&*entry));
        }),
    ];
    // Files on a disk may be mapped in pieces of megabytes, which tell nothing: the pages touched are counted in memory.
    let copy = Path::new("/dev/shm").join(format!("perf-{}.bin", std::process::id()));
    let countable = fs::copy(&path, &copy).is_ok() && forget();
    for (what, ask) in questions {
        // The question itself may touch memory for the first time, so it is asked before.
        ask(Source::open(&path).expect("it can be mapped"));
        let fresh = Source::open(&path).expect("it can be mapped");
        let before = minor_faults();
        ask(fresh.clone());
        let faults = minor_faults() - before;
        let touched = if countable { prefetched_by(ask, &copy) } else { None };
        let of = fresh.bytes().len().div_ceil(PAGE) as u64;
        run.record.pages.push(Pages { what: what.to_owned(), touched, faults, of });
    }
    // The copy may never have been made.
    let _ = fs::remove_file(&copy);
    if run.record.pages.iter().any(|pages| pages.touched.is_none()) {
        run.skip("pages touched: no room in /dev/shm, or the kernel counts none (/proc/self/clear_refs)");
    }
}

fn prefetched_by(ask: &dyn Fn(Source), path: &Path) -> Option<u64> {
    let source = Source::open(path).ok()?;
    // Maps all pages, so that touched pages are distinguished from pages that a fault maps in addition.
    let sum: u64 = source.bytes().iter().step_by(PAGE).map(|&b| u64::from(b)).sum();
    assert!(sum > 0);
    forget();
    ask(source.clone());
    touched(path)
}
