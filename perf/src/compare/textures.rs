//! A geometry written as GLB with its textures, next to the bare codecs on the same textures.

use super::run::{Run, pool};
use crate::heap::peak;
use crate::inputs;
use crate::record::Bound::AtMost;
use crate::record::{Ratio, Spread};
use crate::turns::turns;
use assetq::formats::wows::geometry::Geometry;
use assetq::view::scene::{Context, Options, SceneFormat, Shapes as _, TextureMode};
use assetq::view::texture_files::TextureFiles;
use assetq::{Asset, Source};
use assetq_sample::dds::{DdsBuilder, Texels};
use assetq_sample::{Size, geometry};
use std::hint::black_box;
use std::path::Path;

/// Texels on a side of each texture.
const SIDE: u32 = 2048;
/// Slots of the material, and the number in DXGI of each texture's format: normals have BC7, as in the game.
const SLOTS: [(&str, &str, u32); 4] = [
    ("diffuseMap", "hull_a.dds", 71),
    ("normalMap", "hull_n.dds", 98),
    ("metallicGlossMap", "hull_mg.dds", 71),
    ("ambientOcclusionMap", "hull_ao.dds", 71),
];

/// A texture whose blocks vary slowly, so that PNG has something to compress.
fn texture(format: u32) -> Vec<u8> {
    let builder = DdsBuilder::new(Texels::Dxgi(format), SIDE, SIDE);
    let mut random = fastrand::Rng::with_seed(1);
    let block = |_, [x, y]: [u32; 2]| {
        let colour = ((x / 8 + y / 8) as u16).wrapping_mul(0x0841);
        let [a, b] = [colour, colour.wrapping_add(random.u16(..0x20))].map(u16::to_le_bytes);
        let pattern = random.u32(..).to_le_bytes();
        [a[0], a[1], b[0], b[1], pattern[0], pattern[1], pattern[2], pattern[3]]
    };
    match format {
        71 => builder.build(&builder.blocks(block)),
        _ => {
            // Mode 6 of BC7: two colours, and a step between them for each texel.
            let mut random = fastrand::Rng::with_seed(2);
            builder.build(&builder.blocks(|_, _| {
                let mut block = random.u128(..).to_le_bytes();
                block[0] = 0x40;
                block
            }))
        }
    }
}

/// Decodes each texture, and writes it as PNG.
fn bare(textures: &[Vec<u8>]) -> usize {
    let side = SIDE as usize;
    let one = |(stored, (_, _, format)): (&Vec<u8>, &(&str, &str, u32))| {
        let mut rgba = vec![0u8; side * side * 4];
        let size = if *format == 71 { 8 } else { 16 };
        for (n, block) in stored[148..].chunks_exact(size).enumerate() {
            let at = n / (side / 4) * side * 16 + n % (side / 4) * 16;
            match format {
                71 => bcdec_rs::bc1(block, &mut rgba[at..], side * 4),
                _ => bcdec_rs::bc7(block, &mut rgba[at..], side * 4),
            }
        }
        let rgb: Vec<u8> = rgba.as_chunks().0.iter().flat_map(|[r, g, b, _]: &[u8; 4]| [*r, *g, *b]).collect();
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, SIDE, SIDE);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().expect("memory takes it");
        writer.write_image_data(&rgb).expect("memory takes it");
        writer.finish().expect("memory takes it");
        black_box(out).len()
    };
    textures.iter().zip(&SLOTS).map(one).sum()
}

pub fn run(run: &mut Run) {
    let mut folder = Path::new("").to_owned();
    let mut textures = Vec::new();
    for (_, name, format) in SLOTS {
        let path = inputs::cached(name, || texture(format));
        textures.push(std::fs::read(&path).expect("it can be read"));
        folder = path.parent().expect("it is in a folder").to_owned();
    }
    let slot = |(slot, name, _): &(&str, &str, u32)| format!("<property>{slot}<Texture>{name}</Texture></property>");
    let mfm =
        format!("<hull.mfm><fx>shaders/PBS_ship.fx</fx>{}</hull.mfm>", SLOTS.iter().map(slot).collect::<String>());
    let material = Asset::open(Source::from_vec("hull.mfm", mfm.into_bytes())).expect("it is a material");
    let geometry = Geometry::open(Source::from_vec("hull.geometry", geometry::demo(1, Size::Small)));
    let geometry = geometry.expect("it is a geometry");
    let mut files = TextureFiles::new(&assetq::Options::default());
    files.add_folder(&folder);
    let export = || {
        let mut context = Context::from_assets([&material]).expect("it is a material");
        context.textures = Some(&files);
        let options = Options { textures: TextureMode::Png, ..Options::default() };
        let drawing = geometry.draw(&context, options).expect("it is sound");
        let mut out = Vec::new();
        drawing.write(SceneFormat::Glb, &mut out).expect("memory takes it");
        out.len()
    };
    assert!(export() > bare(&textures) / 2, "the images are in it");
    // All of them in the same thread, whose memory was touched before.
    let one = pool(1);
    let times = one.install(|| {
        turns(
            run.rounds(8),
            &mut [
                &mut || {
                    black_box(export());
                },
                &mut || {
                    black_box(bare(&textures));
                },
            ],
        )
    });
    let what = format!("write a GLB with four textures of {SIDE} texels / decode and PNG alone");
    run.ratio("textures", &what, [&times[0], &times[1]], 1, Some(AtMost(1.5)));
    let (most, written) = peak(|| one.install(export));
    let megabytes = most.saturating_sub(2 * written) as f64 / f64::from(1 << 20);
    run.record.ratios.push(Ratio {
        group: "textures".to_owned(),
        what: "memory of a thread beside the images and the file, in MB".to_owned(),
        seconds: [megabytes, megabytes],
        ratio: Spread::of([megabytes]),
        bound: Some(AtMost(64.0)),
    });
}
