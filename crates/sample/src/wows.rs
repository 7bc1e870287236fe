//! Builds World of Warships archives: an index and its volumes for a test, and whole folders of a game.

mod armor;
pub mod bwdb;
pub mod gameparams;
pub mod geometry;
pub mod pickle;
pub mod prototypes;
pub mod records;
pub mod ship;
pub mod space;
pub mod text_models;
pub mod world;

use super::dds::{DdsBuilder, Texels};
use super::writer::bytes;
use super::{Size, Writer, deflate};
use crate::random::Rng;
use assetq_core::codec::{cityhash64, crc32, murmur3};
use assetq_wows::game_folder::Variant;
use assetq_wows::game_folder::layout::MAGIC;
use std::collections::HashSet;

/// The decoded size of a block of Oodle.
const OODLE_BLOCK: usize = 256 << 10;

/// The encoding of a stored file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Uncompressed.
    Stored,
    /// Uncompressed, under the numbers of another publisher.
    StoredAs6,
    /// A deflate stream.
    Deflated,
    /// A container for the Oodle library, whose blocks are packed by a toy codec: pairs of a count and a byte.
    Oodle,
}

/// The entry of a file, before it is written: a test may alter it.
#[derive(Debug, Clone)]
pub struct FileEntry {
    pub id: u64,
    pub volume: u64,
    pub offset: u64,
    pub method: u32,
    pub codec: u32,
    pub stored_size: u32,
    pub crc32: u32,
    pub size: u64,
}

/// A folder or a file with its name, before it is written: a test may alter it.
#[derive(Debug, Clone)]
pub struct NameEntry {
    pub id: u64,
    pub parent: u64,
    /// The name without its NUL.
    pub name: Vec<u8>,
}

/// An unfinished index and its volumes.
///
/// ```
/// use assetq::query::archive::Archive as _;
/// use assetq_sample::wows::{How, Package};
/// use assetq::formats::wows::game_folder::{Variant, WowsArchive};
/// let mut package = Package::new(Variant::V2, "gui_0001.pkg");
/// package.file("gui/icon.png", b"...", How::Stored);
/// let game = WowsArchive::open(assetq::Source::from_vec("gui.idx", package.index()), &Default::default())?;
/// assert_eq!(game.find("gui/icon.png")?.map(|file| file.size), Some(3));
/// # Ok::<(), assetq::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Package {
    variant: Variant,
    pub names: Vec<NameEntry>,
    named: HashSet<u64>,
    pub files: Vec<FileEntry>,
    /// Names and bytes.
    pub volumes: Vec<(String, Vec<u8>)>,
}

impl Package {
    /// An index with one volume of this name.
    pub fn new(variant: Variant, volume: &str) -> Self {
        let (names, named, files, volumes) = Default::default();
        let mut package = Self { variant, names, named, files, volumes };
        package.volume(volume);
        package
    }

    pub fn volume(&mut self, name: &str) -> &mut Self {
        self.volumes.push((name.to_owned(), Vec::new()));
        self
    }

    /// Adds the names of a path and all of its folders; returns its id.
    pub fn name(&mut self, path: &str) -> u64 {
        let id = cityhash64(path.as_bytes());
        if self.named.insert(id) {
            let (parent, name) = match path.rsplit_once('/') {
                Some((folder, name)) => (self.name(folder), name),
                None => (cityhash64(b"."), path),
            };
            self.names.push(NameEntry { id, parent, name: name.into() });
        }
        id
    }

    pub fn file(&mut self, path: &str, bytes: &[u8], how: How) -> &mut Self {
        let ([method, codec], stored) = pack(bytes, how);
        self.packed(path, [method, codec], &stored, crc32(bytes), bytes.len() as u64)
    }

    /// Adds a file whose bytes are packed already.
    pub fn packed(&mut self, path: &str, how: [u32; 2], stored: &[u8], crc32: u32, size: u64) -> &mut Self {
        let id = self.name(path);
        let (name, volume) = self.volumes.last_mut().expect("a volume");
        let (offset, volume_id) = (volume.len() as u64, volume_id(name));
        volume.extend_from_slice(stored);
        volume.extend_from_slice(&bytes([0, crc32]));
        volume.extend_from_slice(&size.to_le_bytes());
        let [method, codec] = how;
        let stored_size = stored.len() as u32;
        self.files.push(FileEntry { id, volume: volume_id, offset, method, codec, stored_size, crc32, size });
        self
    }

    /// The index, its tables in the order of docs/formats/wows.md, not aligned.
    pub fn index(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(64 + self.names.len() * 64 + self.files.len() * 48);
        w.push(MAGIC);
        w.all([self.variant.number(), 0, if self.variant == Variant::V1 { 32 } else { 64 }]);
        let (metadata, name_size, volume_size) = match self.variant {
            Variant::V2 => (40, 32, 24),
            Variant::V1 => (24, 24, 16),
        };
        let metadata = w.zeros(metadata);
        let names = self.write_names(&mut w, name_size);
        let files = w.position();
        for file in &self.files {
            if self.variant == Variant::V2 {
                w.all([file.id, file.volume, file.offset]);
                w.all([file.method, file.codec, file.stored_size, file.crc32]);
                w.add(file.size);
            } else {
                w.add(file.offset);
                w.all([0, file.stored_size, file.crc32, file.size as u32, file.method, file.codec]);
                w.all([file.id, file.volume]);
            }
        }
        let volumes = self.write_volumes(&mut w, volume_size);
        let counts = [self.names.len(), self.files.len(), self.volumes.len()];
        let places = [names, files, volumes].map(|at| at - 16);
        let mut m = Writer::new();
        if self.variant == Variant::V2 {
            m.all(counts.map(|count| count as u32));
            m.add(0);
            m.all(places.map(|place| place as u64));
        } else {
            m.all(counts.into_iter().zip(places).flat_map(|(count, place)| [count as u32, place as u32]));
        }
        w.patch(metadata, m.bytes());
        let mut index = w.into_bytes();
        seal(&mut index);
        index
    }

    /// Appends the entries of names, and the pool of names after them. A name's pointer is relative to its entry, or to
    /// `name_len` in it.
    fn write_names(&self, w: &mut Writer, size: usize) -> usize {
        let start = w.position();
        let mut text = start + self.names.len() * size;
        for entry in &self.names {
            let (at, len) = (w.position(), entry.name.len() + 1);
            if self.variant == Variant::V2 {
                w.all([len as u64, (text - at) as u64, entry.id, entry.parent]);
            } else {
                w.all([entry.id, entry.parent]);
                w.all([len as u32, (text - at - 16) as u32]);
            }
            text += len;
        }
        for entry in &self.names {
            w.text(&entry.name);
        }
        start
    }

    fn write_volumes(&self, w: &mut Writer, size: usize) -> usize {
        let start = w.position();
        let mut text = start + self.volumes.len() * size;
        for (name, _) in &self.volumes {
            let (at, len) = (w.position(), name.len() + 1);
            let id = volume_id(name);
            match self.variant {
                Variant::V2 => w.all([len as u64, (text - at) as u64, id]),
                Variant::V1 => {
                    w.add(id);
                    w.all([len as u32, (text - at - 8) as u32])
                }
            };
            text += len;
        }
        for (name, _) in &self.volumes {
            w.text(name);
        }
        start
    }
}

/// The id of a volume is the hash of its file's path, which older indexes name with its folder.
pub fn volume_id(name: &str) -> u64 {
    cityhash64(name.strip_prefix("//.//").unwrap_or(name).as_bytes())
}

pub fn seal(index: &mut [u8]) {
    if index.len() >= 16 {
        let checksum = murmur3(&index[16..]);
        index[8..12].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn pack(bytes: &[u8], how: How) -> ([u32; 2], Vec<u8>) {
    match how {
        How::Stored => ([0, 0], bytes.to_vec()),
        How::StoredAs6 => ([6, 0], bytes.to_vec()),
        How::Deflated => ([5, 1], deflate(bytes, 6, false)),
        How::Oodle => ([6, 7], oodle(bytes)),
    }
}

/// A container of blocks of run lengths.
fn oodle(bytes: &[u8]) -> Vec<u8> {
    let blocks = bytes.chunks(OODLE_BLOCK).map(|block| {
        let runs = block.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255));
        runs.flat_map(|run| [run.len() as u8, run[0]]).collect()
    });
    let blocks: Vec<Vec<u8>> = blocks.collect();
    let mut w = Writer::new();
    w.all([48 + 4 * blocks.len() as u64, 1, bytes.len() as u64, blocks.iter().map(|block| block.len() as u64).sum()]);
    w.all([blocks.len() as u32, OODLE_BLOCK as u32, 0, 0, 0, 0]);
    w.all(blocks.iter().map(|block| block.len() as u32));
    w.push(blocks.concat());
    w.into_bytes()
}

/// The builds of [`game`], the newest one last.
pub const BUILDS: [&str; 2] = ["7000000", "7100000"];
/// The volume of [`game`] that is missing.
pub const MISSING_VOLUME: &str = "gui_0001.pkg";
/// The file of [`game`] that only a library named by the user decodes.
pub const OODLE_FILE: &str = "content/gameplay/common/textures/sky_n.dds";

/// Passes all files of a game's folder to `write`, under their paths in it.
///
/// There are two builds, whose ships have belts of different thickness. The newer one has an `assets.bin`, geometries and textures under paths that it names, a space,
/// a loose file, a mod, a missing volume, and a file of a proprietary codec.
///
/// # Errors
/// The errors of `write`.
pub fn game<E>(seed: u64, size: Size, mut write: impl FnMut(&str, &[u8]) -> Result<(), E>) -> Result<(), E> {
    let assets = bwdb::demo_with_files(seed, size);
    let [old, new] = BUILDS;
    let mut older = Package::new(Variant::V2, "content_0000.pkg");
    older.file("content/assets.bin", &bwdb::demo(seed.wrapping_add(1), Size::Small), How::Deflated);
    older.file("content/removed.xml", b"<removed/>", How::Stored);
    older.file("content/GameParams.data", &gameparams::demo_before(seed), How::StoredAs6);
    write_package(&older, old, "content", &mut write)?;

    let mut content = Package::new(Variant::V2, "content_0001.pkg");
    content.file("content/assets.bin", &assets.bytes, How::Deflated);
    let meshes = assets.files.iter().filter(|path| path.ends_with(".geometry")).take(4);
    let textures = assets.files.iter().filter(|path| path.ends_with(".dds")).take(40);
    let written: HashSet<&String> = meshes.clone().chain(textures.clone()).collect();
    let (mesh, splash) = (geometry::demo(seed, Size::Small), geometry::demo_splash(seed, Size::Small));
    for path in meshes {
        content.file(path, &mesh, How::Deflated);
        content.file(&path.replace(".geometry", ".splash"), &splash, How::Stored);
    }
    for (model, bytes) in [(gameparams::HULL, geometry::battleship()), (gameparams::GUN, geometry::gun())] {
        content.file(&model.replace(".model", ".geometry"), &bytes, How::Deflated);
    }
    content.file(&gameparams::HULL.replace(".model", ".splash"), &splash, How::Stored);
    let named: Vec<String> = textures.clone().take(2).cloned().collect();
    content.file("content/GameParams.data", &gameparams::demo_naming(seed, Size::Small, &named), How::StoredAs6);
    content.volume("content_0002.pkg");
    for (n, path) in textures.enumerate() {
        let how = [How::Deflated, How::Stored, How::StoredAs6][n % 3];
        content.file(path, &texture(seed + n as u64, 200 + n * 60), how);
    }
    content.file(OODLE_FILE, &texture(seed, 3000), How::Oodle);
    content.file("content/mods.xml", b"<mods><none/></mods>", How::Deflated);
    write_package(&content, new, "content", &mut write)?;

    let mut spaces = Package::new(Variant::V2, "spaces_0001.pkg");
    spaces.file("spaces/sample/models.bin", &space::models_bin(seed, size), How::Deflated);
    spaces.file("spaces/sample/space.bin", &space::space_bin(seed, size), How::Deflated);
    spaces.file("spaces/sample/models.geometry", &mesh, How::Stored);
    spaces.file("content/location/rock.mfm", b"<material/>", How::Stored);
    for model in space::model_paths(size) {
        spaces.file(&model, b"<model/>", How::Stored);
    }
    write_package(&spaces, new, "spaces", &mut write)?;

    let mut gui = Package::new(Variant::V2, MISSING_VOLUME);
    gui.file("gui/battle/aim.png", &texture(seed, 900), How::Stored);
    gui.file("gui/battle/aim.xml", b"<aim><size>32</size></aim>", How::Deflated);
    write(&format!("bin/{new}/idx/gui.idx"), &gui.index())?;

    if size == Size::Full {
        many(seed, &assets.files, &written, new, &mut write)?;
    }
    let texts = gameparams::demo_mo(seed, Size::Small);
    write(&format!("bin/{new}/res/texts/en/LC_MESSAGES/global.mo"), &texts)?;
    write("res_mods/0.9.0.0/content/mods.xml", b"<mods><old/></mods>")?;
    write("res_mods/0.10.0.0/content/mods.xml", b"<mods><all/></mods>")
}

fn write_package<E>(
    package: &Package,
    build: &str,
    name: &str,
    write: &mut impl FnMut(&str, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    write(&format!("bin/{build}/idx/{name}.idx"), &package.index())?;
    package.volumes.iter().try_for_each(|(name, bytes)| write(&format!("res_packages/{name}"), bytes))
}

/// A texture of about `size` bytes, whose pixels vary slowly.
fn texture(seed: u64, size: usize) -> Vec<u8> {
    let mut rng = Rng::with_seed(seed);
    let blocks = (size.max(136) - 128) / 8;
    let rows = blocks.div_ceil(4096);
    let builder = DdsBuilder::new(Texels::FourCc(*b"DXT1"), 4 * (blocks / rows) as u32, 4 * rows as u32);
    let mut pixel = 128u8;
    builder.build(&builder.blocks(|_, _| {
        [(); 8].map(|()| {
            if rng.u8(..8) == 0 {
                pixel = pixel.wrapping_add(rng.u8(..5)).wrapping_sub(2);
            }
            pixel
        })
    }))
}

/// The numbers of indexes and files of a whole game, including those of [`game`].
const FULL: (usize, usize) = (228, 400_000);
/// The number of distinct contents among the many files. Each content has many paths.
const CONTENTS: usize = 4096;

/// The many small files of a full game: files that the `assets.bin` refers to, and others.
fn many<E>(
    seed: u64,
    named: &[String],
    written: &HashSet<&String>,
    build: &str,
    write: &mut impl FnMut(&str, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut rng = Rng::with_seed(seed);
    let contents: Vec<([u32; 2], Vec<u8>, u32, u64)> = (0..CONTENTS)
        .map(|n| {
            let size = if n % 64 == 0 { rng.usize(20_000..100_000) } else { rng.usize(100..2_000) };
            let bytes = texture(rng.u64(..), size);
            let how = if n % 4 == 0 { How::Stored } else { How::Deflated };
            let (numbers, stored) = pack(&bytes, how);
            (numbers, stored, crc32(&bytes), bytes.len() as u64)
        })
        .collect();
    let (indexes, files) = FULL;
    // Without the indexes that `game` has written already.
    let indexes = indexes - 3;
    let named = named.iter().filter(|path| !written.contains(path)).cloned();
    let others = (0..).map(|n| {
        let item = n / 16;
        let (area, group) = (item % 23, item % 180);
        format!("content/gameplay/area_{area:02}/group_{group:03}/item_{item:05}/part_{n:06}.dds")
    });
    let mut paths = named.chain(others).take(files);
    let share = files.div_ceil(indexes);
    for number in 0..indexes {
        let name = format!("area_{number:03}");
        let mut package = Package::new(Variant::V2, &format!("{name}_0001.pkg"));
        for path in paths.by_ref().take(share) {
            let (numbers, stored, crc32, size) = &contents[rng.usize(..contents.len())];
            package.packed(&path, *numbers, stored, *crc32, *size);
        }
        write_package(&package, build, &name, write)?;
    }
    Ok(())
}
