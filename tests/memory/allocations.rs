//! Allocations of lookups and of files with hostile counts.

use crate::GLOBAL;
use assetq::formats::wows::bwdb::Database;
use assetq::{Asset, Source};
use assetq_sample::{Size, bwdb::demo};
use stats_alloc::Region;

pub fn lookups_allocate_nothing_and_hostile_counts_little() {
    let bytes = demo(1, Size::Small);
    let db = Database::open(Source::from_vec("assets.bin", bytes.clone())).unwrap();
    let ids: Vec<u64> = db.resources().map(|r| r.id()).collect();
    let names: Vec<u32> = db.strings().map(|(id, _)| id).collect();
    let visual = db.path(ids[0]).unwrap().unwrap();
    let mut out = vec![None; ids.len()];

    let region = Region::new(GLOBAL);
    for &id in &ids {
        let resource = db.lookup(id).unwrap().unwrap();
        assert!(resource.bytes().unwrap().is_some());
        assert!(resource.record().unwrap().is_some());
        assert!(db.lookup(!id).unwrap().is_none());
    }
    for &name in &names {
        assert!(db.string(name).unwrap().is_some());
    }
    assert_eq!(db.lookup_many(&ids, &mut out).unwrap(), ids.len());
    assert!(db.lookup_path(&visual).unwrap().is_some());
    assert_eq!(region.change().allocations, 0, "{:?}", region.change());

    // Every count of the headers, as large as it can be said.
    for at in (0x10..0x70).step_by(4) {
        for value in [u32::MAX, 1 << 31, 0x00FF_FFFF] {
            let mut bad = bytes.clone();
            bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let region = Region::new(GLOBAL);
            if let Ok(asset) = Asset::open(Source::from_vec("assets.bin", bad)) {
                asset.reader().verify(&Default::default());
                asset.reader().tables().iter().for_each(|t| drop(t.len()));
            }
            let made = region.change().bytes_allocated;
            assert!(made < 64 * bytes.len(), "{made} bytes for {value:#x} at {at:#x}");
        }
    }
}
