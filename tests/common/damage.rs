//! A damaged copy of any file: the loops, the damage suite and the packages of other languages read the same one.

use assetq::formats::ErrorKind;
use assetq::{Asset, Source};

/// The file with four bytes overwritten, so that a row of a table is unreadable and the file still opens. `None` if no such place
/// was found. `seed` chooses the places that are tried.
pub fn with_damaged_row(seed: &str, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    const TRIES: usize = 40;
    if bytes.len() < 64 || bytes.len() > 1 << 20 {
        return None;
    }
    (0..TRIES).find_map(|attempt| {
        let number = crc32fast::hash(format!("{seed}\0damage\0{attempt}").as_bytes());
        let at = number as usize % (bytes.len() - 4);
        let mut damaged = bytes.to_vec();
        damaged[at..at + 4].fill(0xff);
        let asset = Asset::open(Source::from_vec(name, damaged.clone())).ok()?;
        let is_lost = asset.reader().tables().iter().any(|table| {
            let rows = table.known_len().filter(|rows| (1..=3000).contains(rows));
            rows.is_some_and(|rows| {
                let mut cells = (0..rows).flat_map(|row| (0..table.columns().len()).map(move |column| (row, column)));
                cells.any(|(row, column)| {
                    let error = table.value(row, column).err();
                    error.is_some_and(|error| !matches!(error.kind(), ErrorKind::NotInstalled { .. }))
                })
            })
        });
        is_lost.then_some(damaged)
    })
}
