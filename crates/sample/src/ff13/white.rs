//! Writes data folders of the FINAL FANTASY XIII trilogy: lists, plain and enciphered, and images (docs/formats/white.md).

use super::wdb;
use crate::random::Rng;
use crate::{Size, Writer, deflate};
use assetq_ff13::white::GameKind;
use assetq_ff13::white::layout::{CRYPT_TAG, EntryLayout, ListEntry, SECTOR};
use zerocopy::IntoBytes as _;

#[derive(Debug, Clone)]
pub struct Listed {
    /// The number by which scripts know it.
    pub code: u32,
    pub kind: u8,
    /// `SECTOR:SIZE:STORED:PATH`.
    pub text: Vec<u8>,
}

pub fn layout_of(game: GameKind) -> EntryLayout {
    if game == GameKind::First { EntryLayout::First } else { EntryLayout::Later }
}

/// A plain list of these files, in chunks of at most `chunk` bytes of texts.
pub fn list(layout: EntryLayout, files: &[Listed], chunk: usize) -> Vec<u8> {
    let mut chunks = vec![Vec::new()];
    let mut entries = Writer::new();
    for file in files {
        let last: &Vec<u8> = chunks.last().expect("there is one");
        if !last.is_empty() && last.len() + file.text.len() + 1 > chunk {
            chunks.push(Vec::new());
        }
        let number = chunks.len() - 1;
        let texts = &mut chunks[number];
        let entry = ListEntry::new(layout, file.code, file.kind, number as u16, texts.len() as u16);
        entries.push(entry.as_bytes());
        texts.extend_from_slice(&file.text);
        texts.push(0);
    }
    chunks.last_mut().expect("there is one").extend(b"end\0");
    let mut out = Writer::new();
    let info = 12 + entries.bytes().len();
    out.all([info, info + 12 * chunks.len(), files.len()].map(|number| number as u32));
    out.push(entries.bytes());
    let streams: Vec<Vec<u8>> = chunks.iter().map(|texts| deflate(texts, 6, true)).collect();
    let mut at = 0;
    for (texts, stream) in chunks.iter().zip(&streams) {
        out.all([texts.len(), stream.len(), at].map(|number| number as u32));
        at += stream.len();
    }
    out.push(streams.concat());
    out.into_bytes()
}

/// `list` between the header and the trailer of an enciphered list, but in plain form, as the published programs leave it.
pub fn with_crypt_header(list: &[u8], seed: [u8; 16]) -> Vec<u8> {
    let size = list.len().next_multiple_of(8);
    let mut out = Writer::new();
    out.push(seed);
    out.all([(size as u32).to_be(), CRYPT_TAG, 0, 0]);
    out.push(list);
    out.align(8);
    let sum = out.bytes()[32..].iter().step_by(4).fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
    out.all([size as u32, sum]);
    out.into_bytes()
}

pub fn encrypt(list: &[u8], seed: [u8; 16]) -> Vec<u8> {
    let mut bytes = with_crypt_header(list, seed);
    let sign = if seed[9] >= 0x80 { 0xFF } else { 0 };
    let mut first = [seed[2].wrapping_add(0x45), seed[0], seed[9], seed[12], sign, sign, sign, sign];
    for i in 1..8 {
        let before = first[i - 1];
        first[i] = first[i].wrapping_add(0xD4).wrapping_add(before) ^ (before << 2) ^ 0x45;
    }
    let first = u64::from_le_bytes(first);
    for (n, block) in bytes[32..].chunks_exact_mut(8).enumerate() {
        let key = (0..n % 32).fold(first, |key, _| key.wrapping_mul(5));
        let sum = key.to_le_bytes().iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        let at = 8 * n as u64;
        let mix = (at | at << 10 | at << 20 | at << 30).wrapping_add(0xA165_2347);
        let plain = u64::from_le_bytes(block.try_into().expect("8 bytes")).rotate_left(32);
        let mixed = (plain ^ key ^ mix).wrapping_add(key).to_le_bytes();
        let mut before = n as u8 ^ 0x45;
        for (byte, mixed) in block.iter_mut().zip(mixed) {
            before ^= mixed.wrapping_add(sum).wrapping_sub(0xC0);
            *byte = before;
        }
    }
    bytes
}

#[derive(Debug, Default)]
pub struct Image(Writer);

impl Image {
    /// Adds a file, as it is or as a zlib stream; gives the text of its entry.
    pub fn add(&mut self, path: &str, bytes: &[u8], deflated: bool) -> Vec<u8> {
        let packed = if deflated { deflate(bytes, 6, true) } else { bytes.to_vec() };
        let sector = self.0.push(&packed) / SECTOR as usize;
        self.0.align(SECTOR as usize);
        format!("{sector:x}:{:x}:{:x}:{path}", bytes.len(), packed.len()).into_bytes()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// A file as [`folder`] wrote it.
#[derive(Debug, Clone)]
pub struct Written {
    /// The list that names it.
    pub list: &'static str,
    pub path: Option<String>,
    pub bytes: Vec<u8>,
}

fn noise(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.u8(..4)).collect()
}

/// A path that two lists have.
const SHEET: &str = "db/resident/item.wdb";

/// Writes a believable data folder of `game`, file by file, with `write`; gives the files in it, in the order of the lists.
/// The lists of XIII-2 and Lightning Returns are enciphered.
pub fn folder(seed: u64, size: Size, game: GameKind, write: impl FnMut(&str, Vec<u8>)) -> Vec<Written> {
    let mut rng = Rng::with_seed(seed);
    let mut english = vec![
        (Some("db/resident/wdbpack.bin".to_owned()), wdb::demo_pack(seed, Size::Small)),
        (Some(SHEET.to_owned()), wdb::demo(seed, Size::Small)),
        (Some("txtres/resident/system/txtres_us.ztr".to_owned()), noise(&mut rng, 300)),
        (None, noise(&mut rng, 100)),
    ];
    english.extend((0..size.pick(60, 30_000)).map(|n| {
        let path = format!("chr/pc/c{:03}/bin/c{n:05}.win32.imgb", n % 250);
        (Some(path), noise(&mut rng, 20 + n % 90))
    }));
    let voices = vec![
        (Some("sound/pack/8000/voice_jp.win32.scd".to_owned()), noise(&mut rng, 500)),
        // The same path in both lists: the first list's file is the one that the path alone names.
        (Some(SHEET.to_owned()), wdb::demo(seed.wrapping_add(1), Size::Small)),
    ];
    let scripts = vec![(Some("sys/script.clb".to_owned()), noise(&mut rng, 80))];
    let zone = vec![(Some("zone/z001/event.bin".to_owned()), noise(&mut rng, 4000)), (None, Vec::new())];
    let images = [
        ("sys", "filelistc.win32.bin", "white_imgc.win32.bin", voices),
        ("sys", "filelistu.win32.bin", "white_imgu.win32.bin", english),
        ("sys", "filelist_scru.win32.bin", "white_scru.win32.bin", scripts),
        ("zone", "filelist_z001u.win32.bin", "white_z001u_img.win32.bin", zone),
    ];
    self::write(game, images, size.pick(512, 0x7000), seed as u8, write)
}

/// The files of an image: folder, name of the list, name of the image, and each file's path, if any, with its bytes.
pub type ImageFiles = (&'static str, &'static str, &'static str, Vec<(Option<String>, Vec<u8>)>);

/// Writes the data folder of `game` with these images, file by file, with `write`; gives the files in it.
pub fn write(
    game: GameKind,
    images: impl IntoIterator<Item = ImageFiles>,
    chunk: usize,
    seed: u8,
    mut write: impl FnMut(&str, Vec<u8>),
) -> Vec<Written> {
    let data = game.folder();
    let mut written = Vec::new();
    for (folder, list_name, image_name, files) in images {
        let mut image = Image::default();
        let mut listed = Vec::new();
        for (n, (path, bytes)) in files.into_iter().enumerate() {
            let text = image.add(path.as_deref().unwrap_or(" "), &bytes, n % 2 == 0);
            listed.push(Listed { code: 0x0100_0000 + n as u32, kind: (n % 5) as u8, text });
            written.push(Written { list: list_name, path, bytes });
        }
        let plain = list(layout_of(game), &listed, chunk);
        let seed = std::array::from_fn(|i| seed.wrapping_mul(31).wrapping_add(i as u8).wrapping_mul(17));
        let bytes = if game == GameKind::First { plain } else { encrypt(&plain, seed) };
        write(&format!("{data}/{folder}/{list_name}"), bytes);
        write(&format!("{data}/{folder}/{image_name}"), image.into_bytes());
    }
    written
}
