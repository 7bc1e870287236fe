//! Damage of every format: samples that are cut, and samples with changed bytes, are read to their end.
//!
//! Nothing panics, nothing takes long, and errors have the offset of the fault. `ASSETQ_CASES` multiplies the damage.

use crate::common::damage::with_damaged_row;
use crate::common::errors_of;
use crate::wdata::damaged::small;
use assetq::formats::ErrorKind;
use assetq::formats::ff13::white::GameKind;
use assetq::formats::ff13::white::layout::EntryLayout;
use assetq::formats::rusty_hearts::game_folder::layout::KEY;
use assetq::{Asset, Error, Format, Options, Source};
use assetq_sample::{self as sample, FILES, Size, gameparams, rusty_hearts, vrb, wdb, white, wows};
use fastrand::Rng;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are read of each sample with one kind of damage, so that large samples take no longer than small ones.
const READ: usize = 200_000;
/// The time to read a sample: thousands of times more than it takes.
const LONGEST: Duration = Duration::from_secs(10);

/// A sample, or the inside of a sample, before its codec, cipher or checksum.
struct Whole {
    name: &'static str,
    bytes: Vec<u8>,
    /// Makes the file of the bytes.
    wrap: fn(Vec<u8>) -> Vec<u8>,
    options: Options,
    /// The lengths at which a shorter file is complete; `None` if there are many.
    complete: Option<Vec<usize>>,
    /// Whether a checksum covers all bytes after the first 16.
    is_checksummed: bool,
}

impl Whole {
    fn new(name: &'static str, bytes: Vec<u8>) -> Self {
        let (options, complete) = (Options::default(), Some(Vec::new()));
        Self { name, bytes, wrap: |bytes| bytes, options, complete, is_checksummed: false }
    }

    fn wrapped(name: &'static str, bytes: Vec<u8>, wrap: fn(Vec<u8>) -> Vec<u8>) -> Self {
        Self { wrap, ..Self::new(name, bytes) }
    }

    fn with(self, kind: GameKind) -> Self {
        Self { options: Options::default().with(Arc::new(kind)), ..self }
    }

    /// Reads the file of these bytes to its end, and returns its format and the errors met.
    fn read(&self, bytes: Vec<u8>, damage: &str) -> (Option<Format>, Vec<Error>) {
        let started = Instant::now();
        let source = Source::from_vec(self.name, (self.wrap)(bytes));
        let (format, errors) = match Asset::open_with(source, &self.options) {
            Ok(asset) => {
                counts_are_proven(&asset, damage);
                (Some(asset.format()), errors_of(&asset))
            }
            Err(error) => (None, vec![error]),
        };
        assert!(started.elapsed() < LONGEST, "{} {damage}: {:?}", self.name, started.elapsed());
        for error in &errors {
            assert!(has_place(error), "{} {damage}: {error:?} has no offset", self.name);
        }
        (format, errors)
    }
}

/// A number of rows that is known is the number of rows that are found, whatever the file states.
fn counts_are_proven(asset: &Asset, damage: &str) {
    for table in asset.reader().tables() {
        let Some(known) = table.known_len() else { continue };
        let (mut rows, mut found) = (table.cursor_over(0, Some(&[])), 0);
        while found <= known && rows.advance().is_ok_and(|more| more) {
            found += 1;
        }
        assert_eq!(found, known, "{} {damage}: {}", asset.source().name(), table.name());
        assert_eq!(table.len().ok(), Some(known), "{} {damage}: {}", asset.source().name(), table.name());
    }
}

/// Whether an error has the offset of the fault, which may be an offset of an inner file. A limit is about the whole file, and an entry
/// of a decoded list is named by its number.
fn has_place(error: &Error) -> bool {
    let is_of_whole =
        matches!(error.kind(), ErrorKind::UnknownFormat { .. } | ErrorKind::Limit { .. } | ErrorKind::NotFound { .. });
    let part = error.part();
    error.offset().is_some() || is_of_whole || part.contains(" at 0x") || part.starts_with("file ")
}

/// The samples of all formats, the lists in the samples of folders, and the insides of packed samples.
fn all() -> Vec<Whole> {
    let file = |(name, format, make): &(&'static str, Format, sample::Make)| Whole {
        is_checksummed: [assetq::formats::wows::BWDB, assetq::formats::vrage::VRB].contains(format),
        // A pack ends with padding, and a map without its last part is complete.
        complete: match format.name() {
            "wpd" | "wdata" => None,
            // The end of the last line may be absent.
            "visual" | "model" | "mfm" | "info" => Some(vec![make(1, Size::Small).len() - 1]),
            _ => Some(Vec::new()),
        },
        ..Whole::new(name, make(1, Size::Small))
    };
    let mut all: Vec<Whole> = FILES.iter().map(file).collect();
    let [world, none] = [vrb::Codec::None; 2];
    let types = vrb::world();
    let mut plain = vrb::ArchiveBuilder::new(&types.types, types.world, world, vrb::world_values(&types, 3, 4));
    plain.tables = none;
    all.push(Whole::wrapped("plain.vrb", plain.build(), |mut bytes| {
        if bytes.len() >= 200 {
            vrb::seal(&mut bytes);
        }
        bytes
    }));
    for (main, event_box) in [(22, 9), (12, 5), (3, 1)] {
        let written = small(main, event_box);
        let complete = Some(vec![written.start("scenes")]);
        all.push(Whole { complete, ..Whole::new("town.wdata", written.bytes) });
    }
    all.push(Whole::new("first.wdb", wdb::generated(3, wdb::Game::First, 6, 12).build()));
    let pickle = gameparams::root(gameparams::entities(1, Size::Small, &[])).pickle();
    all.push(Whole::wrapped("GameParams.data", pickle, |bytes| gameparams::file(&bytes)));
    for variant in [assetq::formats::wows::game_folder::Variant::V2, assetq::formats::wows::game_folder::Variant::V1] {
        let mut package = wows::Package::new(variant, "v.pkg");
        package.file("a/b.txt", b"some text, some text", wows::How::Deflated);
        package.file("c.txt", b"plain", wows::How::Stored);
        all.push(Whole::new("x.idx", package.index()));
        all.push(Whole::wrapped("x.idx", package.index(), |mut bytes| {
            wows::seal(&mut bytes);
            bytes
        }));
    }
    let listed: Vec<white::Listed> =
        (0..6).map(|n| white::Listed { code: n, kind: 1, text: format!("{n:x}:1:1:file {n}").into_bytes() }).collect();
    let list = |layout| white::list(layout, &listed, 40);
    let later = || list(EntryLayout::Later);
    let name = "filelistu.win32.bin";
    all.push(Whole::new(name, list(EntryLayout::First)).with(GameKind::First));
    all.push(Whole::new(name, later()).with(GameKind::Second));
    all.push(Whole::new(name, white::with_crypt_header(&later(), [3; 16])).with(GameKind::Second));
    all.push(Whole::wrapped(name, later(), |list| white::encrypt(&list, [3; 16])).with(GameKind::Second));
    let mut records = rusty_hearts::ListRecords::new();
    let mut ends = Vec::new();
    for n in 0..12 {
        ends.push(records.bytes().len());
        records.record(&format!(r"folder\file {n}"), 0, 1, 0, n);
    }
    all.push(Whole::new("f00X.dat", rusty_hearts::pack(records.bytes(), &KEY)));
    let unpacked = Whole::wrapped("f00X.dat", records.bytes().to_vec(), |records| rusty_hearts::pack(&records, &KEY));
    all.push(Whole { complete: Some(ends), ..unpacked });
    all
}

/// The number of times that a sample of `len` bytes is read with one kind of damage.
fn count(len: usize) -> usize {
    let cases = std::env::var("ASSETQ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1);
    (READ / len.max(1)).clamp(16, 100) * cases
}

/// Some positions below `len`: all of a short file, else the first and last ones, and others between them.
fn positions(len: usize) -> impl Iterator<Item = usize> {
    let count = count(len);
    let (step, edge) = ((len / count).max(1), count / 4);
    (0..len).filter(move |at| at % step == 0 || *at < edge || *at >= len.saturating_sub(edge))
}

#[test]
fn every_sample_is_whole() {
    for whole in all() {
        let (format, errors) = whole.read(whole.bytes.clone(), "whole");
        assert!(format.is_some() && errors.is_empty(), "{}: {errors:?}", whole.name);
    }
}

#[test]
fn cuts_are_found() {
    for whole in all() {
        for len in positions(whole.bytes.len()) {
            let (_, errors) = whole.read(whole.bytes[..len].to_vec(), &format!("cut to {len}"));
            if let Some(complete) = &whole.complete {
                let size = whole.bytes.len();
                assert_eq!(
                    errors.is_empty(),
                    complete.contains(&len),
                    "{} cut to {len} of {size}: {errors:?}",
                    whole.name
                );
            }
        }
    }
}

#[test]
fn changed_bytes_end_well() {
    for whole in all() {
        for at in positions(whole.bytes.len()) {
            let flip = [0x01, 0x80, 0xFF, 0x55][at % 4];
            let mut bytes = whole.bytes.clone();
            bytes[at] ^= flip;
            let (_, errors) = whole.read(bytes, &format!("byte {at} turned by {flip:#x}"));
            let is_found = !whole.is_checksummed || at < 16 || !errors.is_empty();
            assert!(is_found, "{}: byte {at} turned by {flip:#x} is not found", whole.name);
        }
    }
}

#[test]
fn random_damage_ends_well() {
    for whole in all() {
        let mut rng = Rng::with_seed(11);
        for case in 0..count(whole.bytes.len()) {
            whole.read(crate::common::damaged(&mut rng, &whole.bytes), &format!("case {case}"));
        }
    }
}

/// Writes damaged samples into the folder that `ASSETQ_DAMAGED` names, for programs that load the library: python/tests/test_duckdb.py
/// reads them by DuckDB, and python/tests/test_routes.py those with a damaged row by every route.
#[test]
fn damage_is_kept_for_other_programs() {
    let Some(folder) = std::env::var_os("ASSETQ_DAMAGED").map(std::path::PathBuf::from) else { return };
    let mut rng = Rng::with_seed(13);
    for (number, whole) in all().iter().enumerate() {
        let len = whole.bytes.len();
        let cut = |rng: &mut Rng| whole.bytes[..rng.usize(..len)].to_vec();
        let cases = [cut(&mut rng), cut(&mut rng)].into_iter();
        let random = std::iter::repeat_with(|| crate::common::damaged(&mut rng, &whole.bytes)).take(4);
        for (case, bytes) in cases.chain(random).enumerate() {
            let folder = folder.join(format!("{number}-{case}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(whole.name), (whole.wrap)(bytes)).unwrap();
        }
    }
    // Beside a file lie the files that it is opened with.
    let rows = folder.join("rows");
    std::fs::create_dir_all(&rows).unwrap();
    for (name, make) in sample::BESIDE {
        std::fs::write(rows.join(name), make(1, Size::Small)).unwrap();
    }
    for (name, _, make) in FILES {
        if let Some(damaged) = with_damaged_row(name, name, &make(1, Size::Small)) {
            std::fs::write(rows.join(name), damaged).unwrap();
        }
    }
}
