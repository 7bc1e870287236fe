//! The rival of every question to a prototype database: all of it parsed into values of its own.

use hashbrown::HashMap;
use std::io::Write;

/// A whole database in owned values, as a parser makes it: names, resources and paths in maps. Records stay bytes,
/// which spares the rival most of its work.
pub struct Parsed {
    pub strings: HashMap<u32, String>,
    pub resources: HashMap<u64, u32>,
    pub paths: HashMap<u64, (u64, String)>,
    pub blobs: Vec<Vec<u8>>,
}

/// Little-endian reads of a file that is trusted.
#[derive(Clone, Copy)]
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }

    /// Where the pointer at `at` leads, from `base`.
    fn target(self, at: usize, base: usize) -> usize {
        (base as i64 + self.u64(at) as i64) as usize
    }

    fn text(self, at: usize, len: usize) -> String {
        String::from_utf8(self.0[at..at + len].to_vec()).unwrap()
    }

    /// Id, parent and name of every path, in file order.
    fn paths(self) -> impl Iterator<Item = (u64, u64, String)> {
        let (count, entries) = (self.u32(0x50) as usize, self.target(0x58, 0x50));
        (0..count).map(move |i| {
            let at = entries + i * 32;
            let name = self.text(self.target(at + 0x18, at + 0x10), self.u32(at + 0x10) as usize - 1);
            (self.u64(at), self.u64(at + 8), name)
        })
    }
}

impl Parsed {
    pub fn parse(bytes: &[u8]) -> Self {
        let file = Bytes(bytes);
        let (capacity, buckets) = (file.u32(0x10) as usize, file.target(0x18, 0x10));
        let (values, pool) = (file.target(0x20, 0x10), file.target(0x30, 0x10));
        let strings = (0..capacity).filter(|i| file.u32(buckets + i * 8 + 4) != 0).map(|i| {
            let at = pool + file.u32(values + i * 4) as usize;
            let len = bytes[at..].iter().position(|&b| b == 0).unwrap();
            (file.u32(buckets + i * 8), file.text(at, len))
        });
        let strings = strings.collect();
        let (capacity, buckets) = (file.u32(0x38) as usize, file.target(0x40, 0x38));
        let values = file.target(0x48, 0x38);
        let resources = (0..capacity)
            .filter(|i| file.u64(buckets + i * 16 + 8) != 0)
            .map(|i| (file.u64(buckets + i * 16), file.u32(values + i * 4)))
            .collect();
        let paths = file.paths().map(|(id, parent, name)| (id, (parent, name))).collect();
        let (count, entries) = (file.u32(0x60) as usize, file.target(0x68, 0x10));
        let blobs = (0..count).map(|i| {
            let at = entries + i * 24;
            let blob = file.target(at + 16, at);
            bytes[blob..blob + file.u32(at + 8) as usize].to_vec()
        });
        let blobs = blobs.collect();
        Self { strings, resources, paths, blobs }
    }

    pub fn path(&self, id: u64) -> String {
        path(&self.paths, id)
    }

    /// How many of `ids` there are, and where: a number to compare with what the map says.
    pub fn sum(&self, ids: &[u64]) -> usize {
        ids.iter().filter_map(|id| self.resources.get(id)).map(|v| (v >> 8) as usize + 1).sum()
    }
}

fn path(paths: &HashMap<u64, (u64, String)>, id: u64) -> String {
    match paths.get(&id) {
        Some((0, name)) => name.clone(),
        Some((parent, name)) => format!("{}/{name}", path(paths, *parent)),
        None => String::new(),
    }
}

/// All paths, a line each, parsing no more than that needs.
pub fn list(bytes: &[u8], out: &mut impl Write) -> usize {
    let mut order = Vec::new();
    let paths: HashMap<u64, (u64, String)> = Bytes(bytes)
        .paths()
        .map(|(id, parent, name)| {
            order.push(id);
            (id, (parent, name))
        })
        .collect();
    let texts: Vec<String> = order.iter().map(|&id| path(&paths, id)).collect();
    texts.iter().for_each(|text| writeln!(out, "{text}").unwrap());
    texts.len()
}
