//! Comparisons of a whole database with a damaged one.

use super::edit::BIN;
use assetq::diff::{self, Side};
use assetq::formats::report::Progress;
use assetq_sample::Size;
use assetq_sample::bwdb::{altered, demo};
use fastrand::Rng;
use std::collections::BTreeSet;

/// The sides and messages of all damage that a comparison meets, and the tables with differing rows.
type Met = (Vec<(Side, String)>, BTreeSet<String>);

fn compared(old: &[u8], new: &[u8]) -> Option<Met> {
    let [old, new] = [old, new].map(|bytes| assetq::Asset::open(assetq::Source::from_vec(BIN, bytes.to_vec())));
    let (old, new) = (old.ok()?, new.ok()?);
    let (mut met, mut differing) = (Vec::new(), BTreeSet::new());
    let names: Vec<String> = old.reader().tables().iter().map(|table| table.name().to_owned()).collect();
    for names in [&[][..], &names] {
        for table in diff::tables(&old, &new, names).ok()? {
            let found = table.find(&Progress::default(), 0);
            met.extend(found.faults.iter().map(|(side, error)| (*side, error.to_string())));
            for pair in found.pairs() {
                differing.insert(table.name().to_owned());
                table.change(pair, &mut |side, error| met.push((side, error.to_string())));
            }
        }
    }
    Some((met, differing))
}

/// A word of the file that no longer fits is damage of this file, whichever of the two it is; what can be read is compared.
#[test]
fn damage_is_found_on_the_side_of_its_file() {
    let (whole, other) = (demo(1, Size::Small), altered(1, Size::Small).bytes);
    let (_, expected) = compared(&whole, &other).unwrap();
    assert!(expected.contains("resources"), "{expected:?}");
    let (mut damaged_files, mut still_compared) = (0, 0);
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        let mut damaged = whole.clone();
        // A pointer or a count, most likely: words of records are small numbers.
        let at = loop {
            let at = rng.usize(0x10..whole.len() / 8) * 8;
            let word = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
            if (1..0x1000).contains(&word) {
                break at;
            }
        };
        damaged[at..at + 8].fill([0x7F, 0xFF, 0x3E][seed as usize % 3]);
        for (old, new, side) in [(&damaged, &other, Side::Old), (&other, &damaged, Side::New)] {
            let Some((met, differing)) = compared(old, new) else { continue };
            assert!(met.iter().all(|(of, _)| *of == side), "seed {seed}, {at:#x}: {side:?} {met:?}");
            damaged_files += usize::from(!met.is_empty());
            still_compared += usize::from(!met.is_empty() && differing.contains("resources"));
        }
    }
    assert!(damaged_files > 15 && still_compared > 8, "{damaged_files} {still_compared}");
}
