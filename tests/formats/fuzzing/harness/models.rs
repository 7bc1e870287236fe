//! Files of the builders, and parts of them that are changed before the file is built: no change of a finished file reaches the inside of a
//! codec, a cipher or a checksum.

use super::input::{self, Field, File, any, below, fields, lie, one_of};
use arbitrary::Unstructured;
use assetq::formats::ff13::white::GameKind;
use assetq::formats::ff13::white::layout::EntryLayout;
use assetq::formats::rusty_hearts::game_folder::Key;
use assetq::formats::rusty_hearts::wdata::TriggerLayout;
use assetq::formats::wows::game_folder::Variant;
use assetq::{Format, Options};
use assetq_sample::wows::{How, Package};
use assetq_sample::{ALTERED, FILES, Size, gameparams, geometry, rusty_hearts, se2, vrb, wdata, wdb, white, wows};
use std::sync::{Arc, LazyLock};

/// Formats that are read by one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Bwdb,
    Geometry,
    Vrb,
    Wdata,
    Wdb,
    Params,
    Text,
    Archive,
}

/// A valid file.
#[derive(Debug)]
pub struct Model {
    pub family: Family,
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub fields: Vec<Field>,
    /// Whether nothing is wrong with it.
    pub is_valid: bool,
}

impl Model {
    fn new(family: Family, name: &'static str, bytes: Vec<u8>) -> Self {
        let fields = fields(&bytes);
        Self { family, name, bytes, fields, is_valid: true }
    }

    /// Makes the checksum of a changed file right, where the format has one over what was changed.
    pub fn seal(&self, bytes: &mut [u8]) {
        match self.family {
            Family::Vrb if bytes.len() >= 200 => vrb::seal(bytes),
            Family::Archive if self.name.ends_with(".idx") => wows::seal(bytes),
            _ => {}
        }
    }
}

fn family_of(format: Format) -> Family {
    match format {
        f if [assetq::formats::wows::BWDB, assetq::formats::wows::MODELS, assetq::formats::wows::SPACE]
            .contains(&f) =>
        {
            Family::Bwdb
        }
        f if f == assetq::formats::vrage::VRB => Family::Vrb,
        f if f == assetq::formats::rusty_hearts::WDATA => Family::Wdata,
        f if [assetq::formats::ff13::WDB, assetq::formats::ff13::WPD].contains(&f) => Family::Wdb,
        f if f == assetq::formats::wows::GAMEPARAMS => Family::Params,
        f if [assetq::formats::wows::VISUAL, assetq::formats::wows::MODEL, assetq::formats::wows::MFM].contains(&f) => {
            Family::Text
        }
        // A format without a target of its own is read by this one.
        _ => Family::Geometry,
    }
}

/// All valid files.
pub fn all() -> &'static [Model] {
    static ALL: LazyLock<Vec<Model>> = LazyLock::new(|| {
        let mut models = Vec::new();
        for seed in [1, 2] {
            for (name, format, make) in FILES.iter().chain([&ALTERED]) {
                models.push(Model::new(family_of(*format), name, make(seed, Size::Small)));
            }
        }
        models.push(Model::new(Family::Vrb, "plain.vrb", plain_vrb().build()));
        models.push(Model::new(Family::Vrb, "sets.vrb", se2::definition_sets(&[])));
        models.push(Model::new(Family::Vrb, "blueprint.vrb", se2::blueprint(&[se2::guid(1), se2::guid(2)])));
        let shared = assetq_sample::space::models_that_share(3, 2);
        models.push(Model { is_valid: false, ..Model::new(Family::Bwdb, "models.bin", shared) });
        models.push(Model::new(Family::Wdb, "first.wdb", wdb::generated(3, wdb::Game::First, 6, 12).build()));
        models.push(Model::new(Family::Geometry, "many.geometry", geometry::many(3, 12, 1)));
        models.push(Model::new(Family::Geometry, "turret.geometry", geometry::turret()));
        for variant in VARIANTS {
            models.push(Model::new(Family::Archive, "content.idx", package(variant).index()));
        }
        // It does not say which game it is of.
        let list = white_list(EntryLayout::First);
        models.push(Model { is_valid: false, ..Model::new(Family::Archive, "filelistu.win32.bin", list) });
        models
    });
    &ALL
}

/// Makes a file of parts that it lies about.
pub type Parts = fn(&mut Unstructured<'_>) -> File;

/// The files of `family` that are built from parts, or such files of all families.
pub fn parts(family: Option<Family>) -> &'static [Parts] {
    match family {
        None => &[
            vrb_of_parts,
            wdata_of_version,
            wdb_of_fields,
            index_of_entries,
            list_in_cipher,
            list_in_zlib,
            pack_of_files,
            params_of_pickle,
            text_of_tags,
        ],
        Some(Family::Vrb) => &[vrb_of_parts],
        Some(Family::Wdata) => &[wdata_of_version],
        Some(Family::Wdb) => &[wdb_of_fields, pack_of_files],
        Some(Family::Params) => &[params_of_pickle],
        Some(Family::Text) => &[text_of_tags],
        Some(Family::Archive) => &[index_of_entries, list_in_cipher, list_in_zlib],
        Some(Family::Bwdb | Family::Geometry) => &[],
    }
}

fn lied(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> usize {
    let fields = fields(bytes);
    lie(u, bytes, &fields)
}

fn made(name: &str, bytes: Vec<u8>, lies: usize) -> File {
    File { name: name.to_owned(), bytes, options: Options::default(), is_valid: lies == 0 }
}

fn plain_vrb() -> vrb::ArchiveBuilder {
    static WORLD: LazyLock<vrb::ArchiveBuilder> = LazyLock::new(|| {
        let world = vrb::world();
        let none = vrb::Codec::None;
        let mut builder = vrb::ArchiveBuilder::new(&world.types, world.world, none, vrb::world_values(&world, 1, 3))
            .chunk("Vertex_0", world.mesh, none, vrb::mesh(1, 5))
            .chunk("Entities", world.entities, none, vrb::entities(&world, 1, 2));
        builder.tables = none;
        builder
    });
    WORLD.clone()
}

fn vrb_of_parts(u: &mut Unstructured<'_>) -> File {
    let mut builder = plain_vrb();
    let mut lies = lied(u, &mut builder.types);
    let chunk = below(u, builder.chunks.len());
    lies += lied(u, &mut builder.chunks[chunk].data);
    if any::<u8>(u) & 3 == 3 {
        // Another root, so that bytes are read as another type's.
        builder.chunks[chunk].root = 0x200 + i32::from(any::<u8>(u) % 64);
        lies += 1;
    }
    builder.chunks[chunk].codec = *one_of(u, &[vrb::Codec::None, vrb::Codec::Zlib, vrb::Codec::Deflate]);
    made("parts.vrb", builder.build(), lies)
}

fn wdata_of_version(u: &mut Unstructured<'_>) -> File {
    let (main, event_box) = (1 + below(u, 22) as i32, 1 + below(u, 9) as i32);
    let event_box = if main >= 7 { event_box } else { 1 };
    let (ani_bg, item_box) = *one_of(u, &[(5, 3), (4, 2), (3, 3), (2, 1), (1, 1)]);
    let bits: u8 = any(u);
    let triggers = if main >= 9 && bits & 1 == 1 { TriggerLayout::Scripts } else { TriggerLayout::Triggers };
    let spec = wdata::Spec {
        ani_bg,
        item_box,
        triggers,
        counts_nul: bits & 2 == 0,
        wild: bits & 4 == 0,
        trigger_count: u32::from(bits >> 4 & 3),
        seed: u64::from(bits),
        ..wdata::Spec::new(main, event_box)
    };
    let mut bytes = wdata::write(&spec).bytes;
    let lies = lied(u, &mut bytes);
    made("town.wdata", bytes, lies)
}

fn wdb_of_fields(u: &mut Unstructured<'_>) -> File {
    let game = *one_of(u, &[wdb::Game::First, wdb::Game::Later]);
    let (seed, records, columns) = (any::<u8>(u), below(u, 12), 1 + below(u, 20));
    let mut bytes = wdb::generated(seed.into(), game, records, columns).build();
    let lies = lied(u, &mut bytes);
    made("sheet.wdb", bytes, lies)
}

/// A pack of a pack of a sheet, each lied about.
fn pack_of_files(u: &mut Unstructured<'_>) -> File {
    let mut sheet = wdb::generated(1, wdb::Game::Later, 3, 4).build();
    let mut lies = lied(u, &mut sheet);
    let mut inner = wdb::pack(&[("item", "wdb", sheet.clone()), ("text", "txt", b"text".to_vec())]);
    lies += lied(u, &mut inner);
    let mut bytes = wdb::pack(&[("inner", "bin", inner), ("item", "wdb", sheet)]);
    lies += lied(u, &mut bytes);
    made("pack.bin", bytes, lies)
}

/// Pickles of every protocol and root, written by CPython: three lines each; the second is the pickle.
pub fn pickles() -> &'static [Vec<u8>] {
    static PICKLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let lines = include_str!("../../vectors/gameparams.txt").lines().skip(1).step_by(3);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        lines.map(|line| line.as_bytes().chunks(2).map(byte).collect()).collect()
    });
    &PICKLES
}

/// A pickle with changes, or any bytes as one, packed as the game packs them.
fn params_of_pickle(u: &mut Unstructured<'_>) -> File {
    let mut pickle = one_of(u, pickles()).clone();
    let lies = match any::<u8>(u) % 4 {
        0 => {
            pickle = u.arbitrary().unwrap_or_default();
            1
        }
        1 => {
            for _ in 0..1 + any::<u8>(u) % 4 {
                let at = below(u, pickle.len());
                pickle[at] = any(u);
            }
            1
        }
        _ => lied(u, &mut pickle),
    };
    made("GameParams.data", gameparams::file(&pickle), lies)
}

/// A text model whose tags and values are changed as wholes: bytes of chance are hardly ever XML.
fn text_of_tags(u: &mut Unstructured<'_>) -> File {
    let models: Vec<_> = all().iter().filter(|model| model.family == Family::Text).collect();
    let model = one_of(u, &models);
    let mut bytes = model.bytes.clone();
    let lies = input::text_of_tags(u, &mut bytes);
    made(model.name, bytes, lies)
}

pub const VARIANTS: [Variant; 2] = [Variant::V2, Variant::V1];

fn package(variant: Variant) -> Package {
    let mut package = Package::new(variant, "content_0001.pkg");
    package.file("content/item.wdb", &wdb::demo(1, Size::Small), How::Deflated);
    package.file("content/deep/er/ship.splash", &geometry::demo_splash(1, Size::Small), How::Stored);
    package.volume("content_0002.pkg");
    package.file("content/ship.geometry", &geometry::demo(1, Size::Small), How::Deflated);
    package.file("gui/icon.png", b"...", How::StoredAs6);
    package.file("gui/sky.dds", &[7; 300], How::Oodle);
    package
}

fn index_of_entries(u: &mut Unstructured<'_>) -> File {
    let mut package = package(*one_of(u, &VARIANTS));
    let mut lies = 0;
    for _ in 0..any::<u8>(u) % 6 {
        lies += 1;
        let other = below(u, package.names.len());
        let other = package.names[other].clone();
        let name = below(u, package.names.len());
        let name = &mut package.names[name];
        match any::<u8>(u) % 8 {
            // Folders in each other, without end.
            0 => name.parent = other.id,
            1 => name.id = other.id,
            2 => name.name = other.name,
            3 => name.name = one_of(u, &[&b".."[..], b"", b".", b"a/b", b"\\", b"\xFF", b"C:", b"\x1B[2J"]).to_vec(),
            4 => name.parent = any(u),
            _ => {
                let file = below(u, package.files.len());
                let file = &mut package.files[file];
                match any::<u8>(u) % 6 {
                    0 => file.offset = any(u),
                    1 => file.size = any(u),
                    2 => file.stored_size = any(u),
                    3 => (file.method, file.codec) = (any::<u8>(u).into(), any::<u8>(u).into()),
                    4 => file.id = other.id,
                    _ => file.volume = any(u),
                }
            }
        }
    }
    let mut bytes = package.index();
    let changes = lied(u, &mut bytes);
    if changes > 0 && any::<u8>(u) & 1 == 0 {
        wows::seal(&mut bytes);
    }
    made("content.idx", bytes, lies + changes)
}

fn white_list(layout: EntryLayout) -> Vec<u8> {
    let mut image = white::Image::default();
    let mut listed = Vec::new();
    for (n, path) in ["db/item.wdb", " ", "sys/script.clb", "zone/z001/event.bin"].into_iter().enumerate() {
        let text = image.add(path, &[n as u8; 100], n % 2 == 0);
        listed.push(white::Listed { code: n as u32, kind: n as u8, text });
    }
    white::list(layout, &listed, 64)
}

fn list_in_cipher(u: &mut Unstructured<'_>) -> File {
    let layout = *one_of(u, &[EntryLayout::First, EntryLayout::Later]);
    let mut list = white_list(layout);
    let lies = lied(u, &mut list);
    if layout == EntryLayout::Later {
        list = white::encrypt(&list, [any(u); 16]);
    }
    let kind = if layout == EntryLayout::First { GameKind::First } else { GameKind::Second };
    let options = Options::default().with(Arc::new(kind));
    File { options, ..made("filelistu.win32.bin", list, lies) }
}

fn list_in_zlib(u: &mut Unstructured<'_>) -> File {
    let key = [any::<u8>(u); 256];
    let mut records = rusty_hearts::ListRecords::new();
    records.record(r"world\town\town_01.wdata", 3, 900, 7, 0);
    records.record(r"texture\hair.dds", 9, 300, 8, 900);
    records.record("empty.txt", 0, 0, u32::MAX, 0);
    let mut list = records.bytes().to_vec();
    let lies = lied(u, &mut list);
    let options = Options::default().with(Arc::new(Key::new(key)));
    File { options, ..made("f00X.dat", rusty_hearts::pack(&list, &key), lies) }
}
