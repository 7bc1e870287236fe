//! Textures of the FINAL FANTASY XIII trilogy, whose texels are in another file.

use assetq::formats::Reader;
use assetq::formats::ff13::gtex::Textures;
use assetq::table::{Tree, Value};
use assetq::view::texture::{self, decode};
use assetq::{Asset, Source};
use assetq_sample::gtex::{demo, demo_imgb};
use assetq_sample::{Size, dds::flat_block};

fn open(trb: Vec<u8>, imgb: Option<Vec<u8>>) -> Textures {
    let imgb = imgb.map(|bytes| Source::from_vec("model.imgb", bytes));
    Textures::open(Source::from_vec("model.trb", trb), imgb).unwrap()
}

#[test]
fn texels_are_read_from_the_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let trb = folder.path().join("model.trb");
    std::fs::write(&trb, demo(1, Size::Small)).unwrap();
    std::fs::write(folder.path().join("model.imgb"), demo_imgb(1, Size::Small)).unwrap();
    let asset = Asset::open_at(&trb, &Default::default()).unwrap();
    assert_eq!(asset.format(), assetq::formats::ff13::GTEX);
    assert!(asset.reader().verify(&Default::default()).checks.iter().all(|check| check.is_ok()));
    let textures = texture::textures(asset.reader());
    let shapes: Vec<_> = textures.iter().map(|(_, texture)| texture.as_ref().unwrap().shape()).collect();
    let listed: Vec<_> = shapes.iter().map(|s| (s.format.name(), s.width, s.mips, s.layers, s.kind())).collect();
    let expected = [("BC1", 16, 3, 1, "2d"), ("BC1", 8, 1, 6, "cube"), ("RGBA8", 2, 1, 1, "2d")];
    assert!(listed.iter().zip(expected).all(|(a, b)| (a.0.as_ref(), a.1, a.2, a.3, a.4) == b), "{listed:?}");
    let pixels = |n: usize, layer, mip| decode(&textures[n].1.as_ref().unwrap().level(layer, mip).unwrap()).unwrap();
    assert_eq!(pixels(2, 0, 0).rgba, [[1, 2, 3, 4], [5, 6, 7, 8]]);
    // The last level of 4 by 4 texels is one block, which stands at a multiple of 128 in the other file.
    let imgb = demo_imgb(1, Size::Small);
    let block = &imgb[256..264];
    let [r, g, b, _] = pixels(0, 0, 2).rgba[0];
    assert_eq!(flat_block([r, g, b]), block);
    assert_ne!(pixels(1, 0, 0), pixels(1, 5, 0), "faces differ");
}

#[test]
fn a_file_without_its_texels_lists_its_textures_and_names_what_is_missing() {
    let textures = open(demo(1, Size::Small), None);
    assert_eq!(textures.table("textures").unwrap().len().unwrap(), 3);
    let error =
        assetq::view::texture::Texture::level(&textures.get(0).unwrap().unwrap(), 0, 0).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains(".imgb"), "{error}");
}

#[test]
fn an_entry_without_code_of_the_format_is_a_row_of_the_table() {
    let textures = open(demo(1, Size::Small), None);
    let mut shown = Tree::default();
    assert!(textures.cat("1", &mut shown).unwrap());
    let shown = shown.into_value();
    let field = |name: &str| crate::common::field(&shown, name).to_string();
    assert_eq!([field("texture"), field("width"), field("kind")], ["1", "8", "cube"]);
    let mut none = Tree::default();
    assert!(!textures.cat("3", &mut none).unwrap());
    assert_eq!(none.into_value(), Value::Null);
}

/// The place of a texture's description.
fn description(trb: &[u8], number: usize) -> usize {
    (0..trb.len()).filter(|at| trb[*at..].starts_with(b"GTEX")).nth(number).unwrap()
}

/// The findings of `verify`, and whether the table of textures ends with damage.
fn findings(trb: Vec<u8>) -> (Vec<String>, bool) {
    let textures = open(trb, Some(demo_imgb(1, Size::Small)));
    let report = textures.verify(&Default::default());
    let found = report.checks.iter().flat_map(|check| check.findings()).map(ToString::to_string).collect();
    (found, textures.table("textures").unwrap().len().is_err())
}

/// The headers of sections state their sizes: a cut between two textures is damage, too.
#[test]
fn a_cut_file_is_damaged_wherever_it_was_cut() {
    let good = demo(1, Size::Small);
    assert_eq!(findings(good.clone()), (vec![], false));
    // Consoles store the headers in the other order.
    let big = in_other_order(&good);
    assert_eq!(findings(big.clone()), (vec![], false));
    for whole in [&good, &big] {
        for len in 4..whole.len() {
            let (found, is_damaged) = findings(whole[..len].to_vec());
            assert!(!found.is_empty() && is_damaged, "{len} of {} bytes", whole.len());
        }
    }
    // Without sizes, which some programs leave out, the list of sections still shows what is missing.
    let mut bare = good;
    let starts: Vec<usize> = (0..bare.len()).filter(|at| bare[*at..].starts_with(b"SEDB")).collect();
    starts.iter().for_each(|start| bare[start + 0x10..start + 0x14].fill(0));
    assert_eq!(findings(bare.clone()), (vec![], false));
    for len in [40, 0x3F, 0x50, description(&bare, 1) - 8, description(&bare, 2)] {
        let (found, is_damaged) = findings(bare[..len].to_vec());
        assert!(!found.is_empty() && is_damaged, "{len}");
    }
}

/// The file with the numbers of its sections in the other order of bytes.
fn in_other_order(trb: &[u8]) -> Vec<u8> {
    let mut big = trb.to_vec();
    let starts: Vec<usize> = (0..trb.len()).filter(|at| trb[*at..].starts_with(b"SEDB")).collect();
    for start in starts {
        big[start + 0x0E..start + 0x10].reverse();
        big[start + 0x10..start + 0x14].reverse();
    }
    let rows = u32::from_le_bytes(trb[0x38..0x3C].try_into().unwrap()) as usize;
    let numbers = std::iter::once(0x38).chain((0x40..0x40 + rows * 16).step_by(4));
    numbers.for_each(|at| big[at..at + 4].reverse());
    big
}

#[test]
fn damage_is_an_error_at_its_field() {
    let good = demo(1, Size::Small);
    let first = description(&good, 0);
    let cases: [(usize, &[u8], &str); 6] = [
        (first + 6, &[99], "format of texels: 99"),
        (first + 7, &[6], "number of levels: 6"),
        (first + 9, &[3], "kind of texture: 3"),
        (first + 10, &[0, 0], "width: 0 is not allowed (at offset 0xba)"),
        (first + 16, &[255; 4], "levels: "),
        (first + 28, &[0, 0, 0, 7], "bytes of a level"),
    ];
    for (at, bytes, expected) in cases {
        let mut trb = good.clone();
        trb[at..at + bytes.len()].copy_from_slice(bytes);
        let report = open(trb, Some(demo_imgb(1, Size::Small))).verify(&Default::default());
        let found: Vec<String> = report.checks.iter().flat_map(|c| c.findings()).map(ToString::to_string).collect();
        assert!(found.iter().any(|error| error.contains(expected)), "{expected}: {found:?}");
    }
    let short = demo_imgb(1, Size::Small)[..200].to_vec();
    assert!(open(good, Some(short)).verify(&Default::default()).checks.iter().any(|check| !check.is_ok()));
}
