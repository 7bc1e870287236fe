//! Pictures as PNG, drawn without a GPU: solids from the quarter and from above, and plans of maps.

mod canvas;
mod chart;
mod raster;
mod solids;
mod text;

use crate::error::{Error, ErrorKind, Result};
use crate::scene::figure::Figure;
use crate::scene::{Context, Drawing, Options, SceneFormat, Shapes, no_such_kind, nothing_to_draw};
use crate::write::cannot_write;
use assetq_core::Asset;
use assetq_core::atomic_file::{AtomicFile, Overwrite};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Draws `figure` as PNG.
///
/// # Errors
/// `Limit` when it has too many triangles for a picture, and `Io` when `out` fails.
pub fn write(figure: &Figure<'_>, out: &mut dyn Write) -> Result<()> {
    let picture = match figure {
        Figure::Solids(solids) => solids::draw(solids)?,
        Figure::Chart(chart) => chart::draw(chart)?,
    };
    let png = picture
        .encode_png()
        .map_err(|error| Error::of_part(ErrorKind::Codec { codec: "PNG", message: error.to_string().into() }, ""))?;
    out.write_all(&png).map_err(cannot_write)
}

/// Writes `drawing` in a form, and returns notes on skipped parts. Pictures are drawn here, from its figure.
///
/// # Errors
/// As [`Drawing::write`] and [`write()`]; `NotFound` for a picture of a drawing without shapes.
pub fn write_drawing(drawing: &dyn Drawing, kind: SceneFormat, out: &mut dyn Write) -> Result<Vec<String>> {
    if kind != SceneFormat::Png {
        return drawing.write(kind, out);
    }
    let figure = drawing.figure()?.ok_or_else(nothing_to_draw)?;
    write(&figure, out)?;
    drawing.picture_notes()
}

/// Draws the shapes of `asset` to the file `to`, in the form of its ending: `.glb`, `.obj`, `.svg` or `.png`. A file there is
/// replaced. Returns notes on skipped parts.
///
/// # Errors
/// `Syntax` for another ending, `Unsupported` for a file without shapes or a form that they cannot have, damage, and `Io`.
pub fn draw(asset: &Asset, to: impl AsRef<Path>) -> Result<Vec<String>> {
    let to = to.as_ref();
    let kind = match to.extension().and_then(OsStr::to_str) {
        Some("glb") => SceneFormat::Glb,
        Some("obj") => SceneFormat::Obj,
        Some("svg") => SceneFormat::Svg,
        Some("png") => SceneFormat::Png,
        _ => {
            let what = format!("{}: drawings end in .glb, .obj, .svg or .png", to.display()).into();
            return Err(Error::of_part(ErrorKind::Syntax { what }, ""));
        }
    };
    let shapes = asset.reader().facet::<dyn Shapes>().ok_or_else(|| no_such_kind(kind))?;
    let drawing = shapes.draw(&Context::default(), Options::of_kind(kind))?;
    for (name, bytes) in drawing.beside(kind)? {
        fs::write(to.with_file_name(name), bytes).map_err(cannot_write)?;
    }
    let mut file = AtomicFile::create(to, Overwrite::Replace).map_err(cannot_write)?;
    let mut notes = drawing.notes().to_vec();
    notes.extend(write_drawing(&*drawing, kind, &mut file)?);
    file.commit().map_err(cannot_write)?;
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::canvas::SIZE;
    use super::*;
    use crate::Source;
    use assetq_sample::geometry::{GeometryBuilder, PlateShape};
    use assetq_sample::{Size, wdata};
    use tiny_skia::Pixmap;

    /// The picture of a file, and how many of its pixels have a colour, or one next to it.
    fn picture(name: &str, bytes: Vec<u8>) -> (Pixmap, impl Fn([u8; 3]) -> usize) {
        let asset = Asset::open(Source::from_vec(name, bytes)).unwrap();
        let drawing =
            asset.reader().facet::<dyn Shapes>().unwrap().draw(&Context::default(), Options::default()).unwrap();
        let mut png = Vec::new();
        write_drawing(&*drawing, SceneFormat::Png, &mut png).unwrap();
        let picture = Pixmap::decode_png(&png).unwrap();
        let pixels = picture.pixels().to_vec();
        let is = |a: u8, b: u8| a.abs_diff(b) <= 1;
        let count = move |[r, g, b]: [u8; 3]| {
            pixels.iter().filter(|p| is(p.red(), r) && is(p.green(), g) && is(p.blue(), b)).count()
        };
        (picture, count)
    }

    #[test]
    fn plates_are_seen_from_above_and_hide_what_lies_below() {
        let plate = |material, y: f32, size: f32| PlateShape {
            material,
            layer: 1,
            triangles: vec![
                [[0.0, y, 0.0], [0.0, y, size], [size, y, size]],
                [[0.0, y, 0.0], [size, y, size], [size, y, 0.0]],
            ],
        };
        let mut builder = GeometryBuilder::new();
        builder.armor("hull.armor", vec![plate(12, 1.0, 8.0), plate(2, 0.0, 8.0), plate(47, 2.0, 4.0)]);
        let (picture, count) = picture("ship.geometry", builder.build());
        // From above a plate that lies flat has its material's own colour, and the legend repeats it.
        let colour = |id: u16| {
            let asset = Asset::open(Source::from_vec("ship.geometry", builder.build())).unwrap();
            let drawing =
                asset.reader().facet::<dyn Shapes>().unwrap().draw(&Context::default(), Options::default()).unwrap();
            let Some(Figure::Solids(solids)) = drawing.figure().unwrap() else { panic!("it has solids") };
            let found = solids.materials.iter().find(|tint| tint.name.starts_with(&format!("{id} "))).unwrap();
            let [r, g, b, _] = found.colour.map(|c| (c * 255.0).round() as u8);
            [r, g, b]
        };
        let legend = 12 * 12;
        let from_above = SIZE as usize * SIZE as usize;
        assert_eq!(picture.width(), 1248);
        assert_eq!(count(colour(2)), legend, "it lies below a plate of its own size");
        let near = |found: usize, expected: usize| found.abs_diff(expected) < expected / 50 + legend;
        assert!(near(count(colour(47)), from_above / 4), "{}", count(colour(47)));
        assert!(near(count(colour(12)), from_above * 3 / 4), "{}", count(colour(12)));
    }

    /// A sheet of two triangles, far from all others, would leave them a corner of the picture.
    #[test]
    fn a_picture_frames_what_holds_nearly_all_triangles() {
        let flat = |material, [x, z]: [f32; 2], size: f32| PlateShape {
            material,
            layer: 1,
            triangles: vec![
                [[x, 0.0, z], [x, 0.0, z + size], [x + size, 0.0, z + size]],
                [[x, 0.0, z], [x + size, 0.0, z + size], [x + size, 0.0, z]],
            ],
        };
        let blue = |plates: Vec<PlateShape>| {
            let mut builder = GeometryBuilder::new();
            builder.armor("hull.armor", plates);
            let [r, g, b] = crate::scene::colour_of_id(2).map(|c| (c * 255.0).round() as u8);
            picture("ship.geometry", builder.build()).1([r, g, b])
        };
        let small = || (0..100).map(|n| flat(2, [(n % 10) as f32, (n / 10) as f32], 1.0)).collect::<Vec<_>>();
        let alone = blue(small());
        let beside = blue([small(), vec![flat(12, [300.0, 300.0], 200.0)]].concat());
        assert!(alone > 10_000 && beside.abs_diff(alone) < alone / 20, "{alone} {beside}");
        // A large part of more triangles is framed, too.
        let two = (0..2).map(|n| flat(12, [300.0 + n as f32, 300.0], 200.0)).collect();
        assert!(blue([small(), two].concat()) < alone / 20);
    }

    #[test]
    fn a_map_has_its_types_in_the_legend() {
        let (picture, count) = picture("town.wdata", wdata::demo(1, Size::Small));
        assert!(picture.width() > 1200 && picture.height() > 400);
        // A portal's own colour: its square in the legend, and outlines.
        assert!(count([0x7b, 0x2f, 0xbe]) >= 12 * 12, "{}", count([0x7b, 0x2f, 0xbe]));
        // Names on a halo: the title and the legend alone have far fewer black pixels.
        assert!(count([0, 0, 0]) > 1500, "{}", count([0, 0, 0]));
    }
}
