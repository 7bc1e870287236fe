//! Materials of geometry: channels as glTF has them, opacity, and notes on textures that are not at hand.

use assetq::formats::wows::geometry::Geometry;
use assetq::view::scene::{Context, Drawing, Options, SceneFormat, Shapes as _, TextureMode};
use assetq::view::texture::Masks;
use assetq::view::texture_files::TextureFiles;
use assetq::{Asset, Source};
use assetq_sample::dds::{DdsBuilder, Texels, flat};
use assetq_sample::{Size, geometry::demo};
use std::path::Path;

/// A texture of one texel's colour.
fn texture(rgba: [u8; 4]) -> Vec<u8> {
    DdsBuilder::new(Texels::Masks(32, Masks::RGBA8.channels), 4, 4).build(&rgba.repeat(16))
}

fn mfm(fx: &str, properties: &str) -> String {
    let texture =
        |slot: &str, name: &str| format!("<property>\t{slot}\n<Texture>\tcontent\\ship\\{name}\t</Texture></property>");
    let textures = [
        texture("diffuseMap", "hull_a.tga"),
        texture("normalMap", "hull_n.dds"),
        texture("metallicGlossMap", "hull_mg.dds"),
        texture("ambientOcclusionMap", "hull_ao.dds"),
        texture("detailMap", "detail.dds"),
    ];
    format!("<hull.mfm><fx>\tshaders/{fx}\t</fx>{}{properties}</hull.mfm>", textures.concat())
}

/// A geometry with the material `mfm` in a folder with its textures.
struct Ship {
    folder: tempfile::TempDir,
    geometry: Geometry,
    material: Asset,
}

impl Ship {
    fn new(mfm: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let textures = folder.path().join("content/ship");
        std::fs::create_dir_all(&textures).unwrap();
        let write = |name: &str, bytes: Vec<u8>| std::fs::write(textures.join(name), bytes).unwrap();
        write("hull_a.dds", texture([200, 100, 50, 80]));
        write("hull_n.dds", texture([204, 128, 255, 255]));
        write("hull_mg.dds", texture([200, 40, 255, 255]));
        write("hull_ao.dds", texture([90, 90, 90, 255]));
        let geometry = Geometry::open(Source::from_vec("hull.geometry", demo(1, Size::Small))).unwrap();
        let material = Asset::open(Source::from_vec("hull.mfm", mfm.as_bytes().to_vec())).unwrap();
        Self { folder, geometry, material }
    }

    fn files(&self) -> TextureFiles {
        let mut files = TextureFiles::new(&Default::default());
        files.add_folder(&self.folder.path().join("content/ship"));
        files
    }

    fn draw<T>(&self, options: Options, files: Option<&TextureFiles>, with: impl FnOnce(&dyn Drawing) -> T) -> T {
        let mut context = Context::from_assets([&self.material]).unwrap();
        if let Some(files) = files {
            context.textures = Some(files);
        }
        with(&*self.geometry.draw(&context, options).unwrap())
    }

    fn glb(&self, options: Options) -> Glb {
        self.draw(options, Some(&self.files()), |drawing| {
            let mut out = Vec::new();
            drawing.write(SceneFormat::Glb, &mut out).unwrap();
            Glb(gltf::Gltf::from_slice(&out).unwrap())
        })
    }
}

fn png() -> Options {
    let mut options = Options::default();
    options.textures = TextureMode::Png;
    options
}

struct Glb(gltf::Gltf);

impl Glb {
    fn material(&self) -> gltf::Material<'_> {
        self.0.materials().find(|material| material.name() == Some("hull")).unwrap()
    }

    /// The first pixel of a texture's image, its red repeated if it is grey.
    fn pixel(&self, texture: &gltf::Texture<'_>) -> Vec<u8> {
        assert_eq!(texture.sampler().wrap_s(), gltf::texture::WrappingMode::Repeat);
        let gltf::image::Source::View { view, mime_type: "image/png" } = texture.source().source() else {
            panic!("the image is in the file");
        };
        let bytes = &self.0.blob.as_ref().unwrap()[view.offset()..][..view.length()];
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (4, 4));
        pixels[..info.color_type.samples()].to_vec()
    }
}

#[test]
fn a_texture_without_a_small_level_is_halved() {
    let ship = Ship::new(&mfm("PBS_ship.fx", ""));
    let sizes = |size| {
        let mut options = png();
        options.texture_size = size;
        let Glb(glb) = ship.glb(options);
        let blob = glb.blob.as_ref().unwrap();
        let width = |image: gltf::Image<'_>| {
            let gltf::image::Source::View { view, .. } = image.source() else { panic!("the image is in the file") };
            u32::from_be_bytes(blob[view.offset() + 16..][..4].try_into().unwrap())
        };
        glb.images().map(width).collect::<Vec<_>>()
    };
    assert_eq!([sizes(4), sizes(2), sizes(1)], [[4; 4], [2; 4], [1; 4]]);
}

#[test]
fn channels_become_those_of_gltf() {
    let ship = Ship::new(&mfm("PBS_ship.fx", "<property>doubleSided<Bool>true</Bool></property>"));
    let glb = ship.glb(png());
    let material = glb.material();
    let pbr = material.pbr_metallic_roughness();
    assert_eq!(glb.pixel(&pbr.base_color_texture().unwrap().texture()), [200, 100, 50], "its opacity is left out");
    // x is 0.6, so z is 0.8: 0.9 of 255. Blue was a mask.
    assert_eq!(glb.pixel(&material.normal_texture().unwrap().texture()), [204, 128, 229]);
    assert_eq!(glb.pixel(&pbr.metallic_roughness_texture().unwrap().texture()), [255, 55, 40]);
    assert_eq!(glb.pixel(&material.occlusion_texture().unwrap().texture()), [90]);
    assert_eq!((pbr.base_color_factor(), pbr.metallic_factor(), pbr.roughness_factor()), ([1.0; 4], 1.0, 1.0));
    assert_eq!(material.alpha_mode(), gltf::material::AlphaMode::Opaque);
    assert!(material.double_sided() && material.emissive_texture().is_none());
    let extras: serde_json::Value = serde_json::from_str(material.extras().as_ref().unwrap().get()).unwrap();
    assert_eq!(extras["fx"], "shaders/PBS_ship.fx");
    assert_eq!(extras["textures"]["detailMap"], "content/ship/detail.dds", "a slot that is not used");
    assert_eq!(extras["properties"]["doubleSided"], true);
}

#[test]
fn opacity_counts_where_the_shader_or_a_test_says_so() {
    use gltf::material::AlphaMode;
    let test = "<property>alphaTestEnable<Bool>true</Bool></property><property>alphaReference<Int>51</Int></property>";
    let cases = [
        ("PBS_ship.fx", test, AlphaMode::Mask, Some(0.2)),
        ("glass_material.fx", "", AlphaMode::Blend, None),
        ("wire_material.fx", "", AlphaMode::Mask, Some(0.5)),
    ];
    for (fx, properties, mode, cut) in cases {
        let glb = Ship::new(&mfm(fx, properties)).glb(png());
        let material = glb.material();
        assert_eq!((material.alpha_mode(), material.alpha_cutoff()), (mode, cut), "{fx}");
        let base = material.pbr_metallic_roughness().base_color_texture().unwrap();
        assert_eq!(glb.pixel(&base.texture()), [200, 100, 50, 80], "{fx}");
    }
}

#[test]
fn a_material_emits_the_colour_of_its_paint_on_demand() {
    let power = "<property>emissivePower<Float>1.75</Float></property>";
    let ship = Ship::new(&mfm("PBS_ship_emissive.fx", power));
    assert!(ship.glb(png()).material().emissive_texture().is_none());
    let mut options = png();
    options.emissive = true;
    let glb = ship.glb(options);
    assert_eq!(glb.pixel(&glb.material().emissive_texture().unwrap().texture()), [200, 100, 50]);
    let json = glb.0.document.into_json();
    assert_eq!(json.extensions_used, ["KHR_materials_emissive_strength"]);
}

#[test]
fn textures_that_are_not_at_hand_are_named() {
    let ship = Ship::new(&mfm("PBS_ship.fx", ""));
    ship.draw(png(), None, |drawing| {
        let notes = drawing.notes().join("\n");
        assert!(notes.contains("texture content/ship/hull_a.tga is not at hand"), "{notes}");
        let mut out = Vec::new();
        drawing.write(SceneFormat::Glb, &mut out).unwrap();
        let glb = Glb(gltf::Gltf::from_slice(&out).unwrap());
        assert!(glb.material().pbr_metallic_roughness().base_color_texture().is_none());
        assert_eq!(glb.material().pbr_metallic_roughness().base_color_factor()[3], 1.0);
    });
}

#[test]
fn a_damaged_texture_is_left_out_and_named() {
    let ship = Ship::new(&mfm("PBS_ship.fx", ""));
    let path = ship.folder.path().join("content/ship/hull_n.dds");
    std::fs::write(&path, &texture([0; 4])[..140]).unwrap();
    ship.draw(png(), Some(&ship.files()), |drawing| {
        let [error] = drawing.damage() else { panic!("{:?}", drawing.damage()) };
        let error = error.to_string();
        assert!(error.contains("hull_n.dds") && error.contains("offset 0x80"), "{error}");
    });
}

#[test]
fn an_obj_has_its_materials_and_images_beside_it() {
    let ship = Ship::new(&mfm("PBS_ship.fx", ""));
    ship.draw(png(), Some(&ship.files()), |drawing| {
        let beside = drawing.beside(SceneFormat::Obj).unwrap();
        let names: Vec<&str> = beside.iter().map(|(name, _)| name.as_str()).collect();
        let images = ["hull_a.base.png", "hull_n.normal.png", "hull_mg.metal_rough.png", "hull_ao.occlusion.png"];
        assert_eq!(names.first(), Some(&"hull.mtl"));
        assert!(images.iter().all(|image| names.contains(image)), "{names:?}");
        let mtl = String::from_utf8(beside[0].1.clone()).unwrap();
        assert!(mtl.contains("newmtl hull\n") && mtl.contains("map_Kd hull_a.base.png\n"), "{mtl}");
        let mut out = Vec::new();
        drawing.write(SceneFormat::Obj, &mut out).unwrap();
        let obj = String::from_utf8(out).unwrap();
        assert!(obj.contains("mtllib hull.mtl\n") && obj.contains("usemtl hull\n"));
        assert!(drawing.beside(SceneFormat::Glb).unwrap().is_empty());
    });
}

#[test]
fn files_are_written_as_they_are() {
    let ship = Ship::new(&mfm("PBS_ship.fx", ""));
    let mut options = png();
    options.textures = TextureMode::Files;
    ship.draw(options, Some(&ship.files()), |drawing| {
        let beside = drawing.beside(SceneFormat::Glb).unwrap();
        assert!(beside.contains(&("hull_a.dds".to_owned(), texture([200, 100, 50, 80]))));
        assert_eq!(beside.len(), 4);
        assert_eq!(drawing.notes().iter().filter(|note| note.contains("detail.dds")).count(), 1);
    });
}

#[test]
fn the_largest_tier_within_the_size_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, size: u32, colour| std::fs::write(folder.path().join(name), flat(size, colour)).unwrap();
    write("a.dds", 16, [255, 0, 0]);
    write("a.dd2", 32, [0, 255, 0]);
    write("a.dd1", 64, [0, 0, 255]);
    let mut files = TextureFiles::new(&Default::default());
    files.add_folder(folder.path());
    let cases = [(8, 8, [255, 0, 0]), (31, 16, [255, 0, 0]), (32, 32, [0, 255, 0]), (4096, 64, [0, 0, 255])];
    for (size, width, [r, g, b]) in cases {
        let pixels = files.pixels("any/where/a.tga", size).unwrap().unwrap();
        assert_eq!((pixels.width, pixels.rgba[0]), (width, [r, g, b, 255]), "{size}");
    }
    assert!(files.pixels("b.dds", 64).unwrap().is_none());
    // Paths that lead out of the folder are no paths of a game.
    std::fs::write(folder.path().parent().unwrap().join("assetq-outside.dds"), flat(4, [0; 3])).unwrap();
    assert!(files.pixels("../assetq-outside.dds", 64).unwrap().is_none());
    let _ = std::fs::remove_file(folder.path().parent().unwrap().join("assetq-outside.dds"));
    assert!(Path::new("/").exists());
}
