//! Writes Rusty Hearts folders: a list, `f00X.dat`, and the volumes that it names (docs/formats/rusty_hearts.md).

pub mod wdata;

use super::{Size, Writer, dds};
use crate::random::Rng;
use assetq_core::codec::crc32;
use assetq_rusty_hearts::game_folder::layout::LIST;
use flate2::write::ZlibEncoder;
use std::io::Write as _;

pub const VOLUMES: u8 = 10;

/// The volume that the game's tools put a file into: DJB2 of the name's bytes.
pub fn volume_of(name: &str) -> u8 {
    let bytes = name.encode_utf16().flat_map(u16::to_le_bytes);
    let hash = bytes.fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(byte.into()));
    (hash % u32::from(VOLUMES)) as u8
}

/// The records of a list before packing.
#[derive(Debug, Default)]
pub struct ListRecords(Writer);

impl ListRecords {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record. `hash` is the result of [`hash`].
    pub fn record(&mut self, name: &str, volume: u8, size: i32, hash: u32, offset: i64) -> &mut Self {
        self.0.add(name.encode_utf16().count() as u16);
        self.0.all(name.encode_utf16());
        self.0.push([volume]);
        self.0.add(size);
        self.0.add(hash);
        self.0.add(offset);
        self
    }

    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// The hash of a file's bytes in a record: CRC-32 without the final inversion.
pub fn hash(bytes: &[u8]) -> u32 {
    !crc32(bytes)
}

/// `bytes` of records as the file that holds them: deflated, and enciphered with `key`.
pub fn pack(bytes: &[u8], key: &[u8; 256]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory");
    packed.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
}

/// Writes a realistic folder, file by file, with `write`; returns the names (with `\`) and bytes of its files.
pub fn folder(seed: u64, size: Size, key: &[u8; 256], write: impl FnMut(&str, Vec<u8>)) -> Vec<(String, Vec<u8>)> {
    let mut rng = Rng::with_seed(seed);
    let mut files = vec![
        (r"world\town\town_01.wdata".to_owned(), wdata::demo(seed, Size::Small)),
        (r"world\dungeon\d001\d001.wdata".to_owned(), wdata::demo(seed.wrapping_add(1), Size::Small)),
        (r"table\item.rh".to_owned(), (0..500).map(|_| rng.u8(..)).collect()),
        (r"texture\캐릭터\hair.dds".to_owned(), dds::demo(seed, Size::Small)),
        ("empty.txt".to_owned(), Vec::new()),
    ];
    for n in 0..size.pick(20, 100_000) {
        let bytes = (0..rng.usize(1..64)).map(|_| rng.u8(..)).collect();
        files.push((format!(r"effect\e{:03}\effect_{n:06}.mgm", n % 500), bytes));
    }
    pack_folder(&files, key, write);
    files
}

/// Writes the list and the volumes of these files, whose names have `\`.
pub fn pack_folder(files: &[(String, Vec<u8>)], key: &[u8; 256], mut write: impl FnMut(&str, Vec<u8>)) {
    let mut volumes = vec![Vec::<u8>::new(); usize::from(VOLUMES)];
    let mut records = ListRecords::new();
    for (name, bytes) in files {
        let number = volume_of(name);
        let volume = &mut volumes[usize::from(number)];
        records.record(name, number, bytes.len() as i32, hash(bytes), volume.len() as i64);
        volume.extend_from_slice(bytes);
    }
    write(LIST, pack(records.bytes(), key));
    for (number, volume) in volumes.into_iter().enumerate() {
        write(&format!("{number:03}.pck"), volume);
    }
}
