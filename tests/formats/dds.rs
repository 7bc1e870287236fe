//! Textures: headers, levels, damage, and pixels against a second way of decoding them.

use crate::common;
use assetq::formats::Reader;
use assetq::formats::dds::Dds;
use assetq::table::Value;
use assetq::view::texture::{Masks, TexelFormat, Texture, decode};
use assetq::{Asset, Format, Source};
use assetq_sample::dds::{DdsBuilder, Texels, demo, flat, flat_block};
use assetq_sample::{FOLDERS, Size};
use std::collections::BTreeMap;

fn open(bytes: Vec<u8>) -> assetq::Result<Dds> {
    Dds::open(Source::from_vec("x.dds", bytes))
}

const DXT1: Texels = Texels::FourCc(*b"DXT1");

#[test]
fn a_header_lists_size_levels_and_format() {
    let cases = [
        (DXT1, "BC1", 8),
        (Texels::FourCc(*b"DXT3"), "BC2", 16),
        (Texels::FourCc(*b"DXT5"), "BC3", 16),
        (Texels::FourCc(*b"ATI1"), "BC4", 8),
        (Texels::FourCc(*b"BC5U"), "BC5", 16),
        (Texels::Dxgi(95), "BC6H", 16),
        (Texels::Dxgi(98), "BC7", 16),
    ];
    for (texels, name, block) in cases {
        let builder = DdsBuilder { mips: 4, cube: true, ..DdsBuilder::new(texels, 20, 8) };
        // 5 by 2 blocks, 3 by 1, 2 by 1, 1 by 1.
        let size = 6 * (10 + 3 + 2 + 1) * block;
        let dds = open(builder.build(&vec![0; size])).unwrap();
        let shape = dds.shape();
        assert_eq!((shape.width, shape.height, shape.mips, shape.layers), (20, 8, 4, 6), "{name}");
        assert_eq!((shape.format.name().as_ref(), shape.kind()), (name, "cube"));
        let report = dds.verify(&Default::default());
        assert!(report.checks.iter().all(|check| check.is_ok()), "{name}: {report:?}");
        let level = dds.level(5, 2).unwrap();
        assert_eq!((level.width, level.height, level.texels.rest().len()), (5, 2, 2 * block), "{name}");
        assert!(dds.level(6, 0).is_err() && dds.level(0, 4).is_err());
    }
}

#[test]
fn levels_say_where_they_are() {
    let dds = open(demo(1, Size::Small)).unwrap();
    let table = dds.table("levels").unwrap();
    let cell = |row, name: &str| {
        let column = table.columns().iter().position(|column| column.name == name).unwrap();
        table.value(row, column).unwrap().to_string()
    };
    assert_eq!((cell(0, "offset"), cell(0, "size"), cell(0, "width")), ("128".into(), "2048".into(), "64".into()));
    assert_eq!((cell(1, "offset"), cell(1, "size")), ("2176".into(), "512".into()));
    assert_eq!((cell(6, "width"), cell(6, "size")), ("1".into(), "8".into()));
}

#[test]
fn a_damaged_header_is_an_error_at_its_field() {
    let good = flat(16, [1, 2, 3]);
    let cases: [(usize, u32, &str); 8] = [
        (0, 0x20534445, "offset 0x0"),
        (4, 100, "header size, which is 124"),
        (12, 0, "height, which is 1 to 16384"),
        (12, 16_385, "offset 0xc"),
        (16, u32::MAX, "width, which is 1 to 16384"),
        (28, 7, "number of levels, more than its size has: 7 is not allowed (at offset 0x1c)"),
        (28, u32::MAX, "offset 0x1c"),
        (80, 0, "pixel format flags"),
    ];
    for (at, value, expected) in cases {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = open(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{at}: {error}");
    }
    let array = DdsBuilder::new(Texels::Dxgi(98), 4, 4);
    let mut bytes = array.build(&[0; 16]);
    bytes[140..144].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = open(bytes).unwrap_err().to_string();
    assert!(error.contains("array size") && error.contains("0x8c"), "{error}");
}

#[test]
fn one_level_too_many_is_a_finding_and_refuses_nothing() {
    let mut bytes = flat(16, [1, 2, 3]);
    bytes[28..32].copy_from_slice(&6u32.to_le_bytes());
    let dds = open(bytes).unwrap();
    assert_eq!(dds.shape().mips, 5);
    assert!(dds.level(0, 4).is_ok() && dds.level(0, 5).is_err());
    let report = dds.verify(&Default::default());
    let found: Vec<String> = report.checks.iter().flat_map(|c| c.findings()).map(ToString::to_string).collect();
    assert_eq!(found, ["header: number of levels, more than its size has: 6 is not allowed (at offset 0x1c)"]);
}

#[test]
fn signed_bumps_are_decoded_and_palettes_unsupported() {
    let with_flags = |flags: u32| {
        let mut bytes = DdsBuilder::new(Texels::Masks(16, [0xFF, 0xFF00, 0, 0]), 2, 1).build(&[0x80, 0x7F, 0, 0x40]);
        bytes[80..84].copy_from_slice(&flags.to_le_bytes());
        bytes
    };
    let dds = open(with_flags(0x8_0000)).unwrap();
    assert_eq!(dds.shape().format.name(), "V8U8");
    assert!(dds.verify(&Default::default()).is_ok());
    assert_eq!(decode(&dds.level(0, 0).unwrap()).unwrap().rgba, [[0, 255, 0, 255], [128, 192, 0, 255]]);
    for flags in [0x20, 0x200, 0x4_0000] {
        let error = open(with_flags(flags)).unwrap_err();
        assert!(matches!(error.kind(), assetq::formats::ErrorKind::Unsupported { .. }), "{error}");
    }
}

#[test]
fn bytes_after_the_end_are_found() {
    let bytes = demo(1, Size::Small);
    let dds = open([bytes, vec![0]].concat()).unwrap();
    let report = dds.verify(&Default::default());
    let found: Vec<String> = report.checks.iter().flat_map(|c| c.findings()).map(ToString::to_string).collect();
    assert_eq!(found, ["levels: 1 bytes follow the last level (at offset 0xb38)"]);
}

#[test]
fn a_texture_without_its_magic_is_not_taken_for_a_geometry() {
    // Counts and pointers as a geometry has them at its beginning, which lead nowhere.
    let mut bytes = flat(64, [9, 9, 9]);
    bytes[..0x18].copy_from_slice(&[7, 0, 0, 0].repeat(6));
    bytes[0x18..0x48].copy_from_slice(&[0x48, 0, 0, 0, 1, 0, 0, 0].repeat(6));
    assert!(Format::detect(&Source::from_vec("x", bytes)).is_err());
    assert_eq!(Format::detect(&Source::from_vec("x", flat(4, [0; 3]))).unwrap(), assetq::formats::DDS);
}

#[test]
fn texels_with_masks_become_pixels() {
    let cases: [(Texels, &str, &[u8], [u8; 4]); 6] = [
        (Texels::Masks(32, Masks::RGBA8.channels), "RGBA8", &[1, 2, 3, 4], [1, 2, 3, 4]),
        (Texels::Masks(32, [0xFF_0000, 0xFF00, 0xFF, 0]), "RGB8", &[1, 2, 3, 4], [3, 2, 1, 255]),
        (Texels::Masks(24, [0xFF_0000, 0xFF00, 0xFF, 0]), "RGB8", &[1, 2, 3], [3, 2, 1, 255]),
        (Texels::Masks(16, [0xF800, 0x07E0, 0x001F, 0]), "R5G6B5", &[0b0001_1111, 0b1000_0000], [132, 0, 255, 255]),
        (Texels::Dxgi(61), "L8", &[77], [77, 77, 77, 255]),
        (Texels::Dxgi(115), "R4G4B4A4", &[0xA5, 0xF0], [0, 170, 85, 255]),
    ];
    for (texels, name, stored, expected) in cases {
        let dds = open(DdsBuilder::new(texels, 3, 2).build(&stored.repeat(6))).unwrap();
        assert_eq!(dds.shape().format.name(), name);
        let pixels = decode(&dds.level(0, 0).unwrap()).unwrap();
        assert_eq!(pixels.rgba, [expected; 6], "{name}");
    }
}

/// BC1 as its documents describe it, texel by texel.
fn plain_bc1(block: &[u8], x: usize, y: usize) -> [f64; 3] {
    let colour = |at: usize| {
        let bits = u16::from_le_bytes([block[at], block[at + 1]]);
        [(bits >> 11, 31.0), (bits >> 5 & 63, 63.0), (bits & 31, 31.0)].map(|(v, most)| f64::from(v) * 255.0 / most)
    };
    let (a, b) = (colour(0), colour(2));
    let is_opaque = block[..2].iter().rev().cmp(block[2..4].iter().rev()).is_gt();
    let mix = |p: f64| [0, 1, 2].map(|c: usize| a[c] * (1.0 - p) + b[c] * p);
    match (block[4 + y] >> (2 * x) & 3, is_opaque) {
        (0, _) => a,
        (1, _) => b,
        (2, true) => mix(1.0 / 3.0),
        (3, true) => mix(2.0 / 3.0),
        (2, false) => mix(0.5),
        _ => [0.0; 3],
    }
}

#[test]
fn blocks_become_pixels_in_their_places() {
    let mut rng = fastrand::Rng::with_seed(3);
    let builder = DdsBuilder::new(DXT1, 10, 6);
    let blocks = builder.blocks(|_, _| [(); 8].map(|()| rng.u8(..)));
    let dds = open(builder.build(&blocks)).unwrap();
    let pixels = decode(&dds.level(0, 0).unwrap()).unwrap();
    for (n, [r, g, b, _]) in pixels.rgba.iter().enumerate() {
        let (x, y) = (n % 10, n / 10);
        let block = &blocks[(y / 4 * 3 + x / 4) * 8..][..8];
        let expected = plain_bc1(block, x % 4, y % 4);
        for (found, expected) in [r, g, b].into_iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 0.51, "{x} {y}: {found} {expected}");
        }
    }
}

#[test]
fn any_blocks_of_any_format_decode() {
    let mut rng = fastrand::Rng::with_seed(5);
    for number in 0..=132 {
        let TexelFormat::Dxgi(_) = TexelFormat::from_dxgi(number) else {
            for (width, height) in [(1, 1), (3, 7), (64, 64)] {
                let builder = DdsBuilder::new(Texels::Dxgi(number), width, height);
                let bytes: Vec<u8> = (0..64 * 64 * 4).map(|_| rng.u8(..)).collect();
                let dds = open(builder.build(&bytes)).unwrap();
                let pixels = decode(&dds.level(0, 0).unwrap()).unwrap();
                assert_eq!(pixels.rgba.len(), (width * height) as usize, "{number}");
            }
            continue;
        };
        let dds = open(DdsBuilder::new(Texels::Dxgi(number), 4, 4).build(&[0; 64])).unwrap();
        let error = dds.level(0, 0).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&format!("DXGI {number}")), "{error}");
    }
}

#[test]
fn transformed_texels_are_refused_by_name() {
    let builder = DdsBuilder::new(Texels::Dxgi(98), 16, 16);
    let bytes = builder.build(&[&[0xBC, 0x07, 0, 0][..], &[0; 300]].concat());
    let error = open(bytes).unwrap().level(0, 0).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("bc7prep") && error.contains("0x94"), "{error}");
    // A block may begin so by chance.
    let bytes = builder.build(&[&[0xBC, 0x07, 0, 0][..], &[0; 252]].concat());
    assert!(open(bytes).unwrap().level(0, 0).is_ok());
}

#[test]
fn a_png_holds_the_pixels() {
    let dds = open(DdsBuilder::new(DXT1, 8, 4).build(&[flat_block([255, 0, 0]), flat_block([0, 0, 255])].concat()));
    let png = decode(&dds.unwrap().level(0, 0).unwrap()).unwrap().to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (8, 4, png::ColorType::Rgb));
    let row = [[255, 0, 0].repeat(4), [0, 0, 255].repeat(4)].concat();
    assert_eq!(pixels, row.repeat(4));
}

#[test]
fn a_game_lists_its_textures() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, make) = FOLDERS.iter().find(|(name, ..)| *name == "wows").unwrap();
    let mut write = common::writer(folder.path());
    make(1, Size::Small, &mut |path, bytes| {
        write(path, bytes.to_vec());
        Ok(())
    })
    .unwrap();
    let game = Asset::open_at(folder.path(), &Default::default()).unwrap();
    let table = game.reader().table("textures").unwrap();
    let mut formats: BTreeMap<String, usize> = BTreeMap::new();
    let mut cursor = table.cursor(0);
    let column = |name: &str| table.columns().iter().position(|column| column.name == name).unwrap();
    while cursor.advance().unwrap() {
        let format = cursor.value(column("format")).unwrap();
        *formats.entry(format.to_string()).or_default() += 1;
        let is_known = format != Value::Null;
        assert_eq!(cursor.value(column("width")).unwrap() != Value::Null, is_known);
        assert_eq!(cursor.value(column("tier")).unwrap(), Value::from("dds"));
    }
    // One file has a codec that is not decoded.
    assert_eq!(formats.get("BC1"), Some(&4), "{formats:?}");
    assert_eq!(formats.values().sum::<usize>(), 5, "{formats:?}");
}

/// CRC-32 of the pixels of the largest level: of BC5 and BC7 as Pillow 12 and texture2ddecoder 1.0.5 decode them, of BC1 and
/// BC3 by exact arithmetic with NumPy, rounded. (Pillow truncates the colours of these, and is off by 1 therefore.)
const REAL: &[(&str, &str, u32)] = &[
    ("AGA002_40mm_Bofors_Mk1_n.dds", "BC7", 0x01A5_B8BC),
    ("BPT008_Air_Torpedo_18in_MkVIII_a.dds", "BC1", 0x1136_758E),
    ("BPT008_Air_Torpedo_18in_MkVIII_ao.dds", "BC1", 0x1D78_351D),
    ("BPT008_Air_Torpedo_18in_MkVIII_mg.dds", "BC1", 0x4630_0FF4),
    ("BPT008_Air_Torpedo_18in_MkVIII_n.dds", "BC7", 0x4803_BC39),
    ("C010_Grid_8_alpha_a.dds", "BC3", 0x04EC_EEC7),
    ("Emblem_n.dds", "BC5", 0xC806_8DDE),
    ("JAF017_Mitsubishi_A6M2_N_float_a.dds", "BC3", 0x78D4_E75D),
    ("default_ao.dds", "BC1", 0x344A_E9F9),
];

#[test]
fn real_textures_have_the_pixels_of_another_decoder() {
    for path in common::files_in("dds") {
        let Some((name, format, crc)) =
            REAL.iter().find(|(name, ..)| path.file_name().is_some_and(|file| file == *name))
        else {
            continue;
        };
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Format::detect(&Source::from_vec("x", bytes.clone())).unwrap(), assetq::formats::DDS);
        let dds = open(bytes).unwrap();
        assert_eq!(dds.shape().format.name(), *format, "{name}");
        assert!(dds.verify(&Default::default()).checks.iter().all(|check| check.is_ok()), "{name}");
        let pixels = decode(&dds.level(0, 0).unwrap()).unwrap();
        assert_eq!(crc32fast::hash(pixels.rgba.as_flattened()), *crc, "{name}");
    }
}
