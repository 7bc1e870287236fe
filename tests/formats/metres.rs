//! Figures, which pages and pictures show, and the GLB of the same drawing: the same boxes, in metres.

use crate::common::{cubes, writer};
use assetq::formats::wows::ship::{Query, Ship};
use assetq::query::archive::Address;
use assetq::query::files;
use assetq::view::scene::figure::{Chart, Figure, Solids};
use assetq::view::scene::matrix::Matrix;
use assetq::view::scene::{Context, Drawing, Options, SceneFormat, Shapes};
use assetq::{Asset, Options as OpenOptions, Source};
use assetq_sample::ship::SHIP;
use assetq_sample::{FILES, Size};
use std::collections::HashMap;
use std::convert::Infallible;
use tempfile::TempDir;

/// The least and the greatest coordinates of a shape at a place.
type Corners = [[f64; 3]; 2];

fn around(points: impl Iterator<Item = [f64; 3]>) -> Corners {
    points.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], point| {
        [[0, 1, 2].map(|k| low[k].min(point[k])), [0, 1, 2].map(|k| high[k].max(point[k]))]
    })
}

fn boxes_of_solids(solids: &Solids<'_>) -> Vec<Corners> {
    let unit = f64::from(solids.metres.unwrap_or(1.0));
    let places = solids.places.iter().map(|place| {
        let matrix = place.matrix.map(Matrix::of_numbers);
        let positions = solids.solids[place.solid].positions().map(|v| v.map(f64::from));
        around(positions.map(|v| matrix.as_ref().map_or(v, |matrix| matrix.placed(v)).map(|v| v * unit)))
    });
    places.collect()
}

/// The map is left-handed, and glTF is right-handed.
fn boxes_of_chart(chart: &Chart) -> Vec<Corners> {
    let unit = f64::from(chart.metres.unwrap_or(1.0));
    let boxes = chart.boxes.iter().map(|one| {
        let corners = (0..8).map(|corner| {
            let at = |k: usize| -> f64 {
                let sides = one.sides.iter().enumerate();
                let moved = sides.map(|(n, side)| if corner >> n & 1 == 0 { -side[k] } else { side[k] });
                (one.center[k] + moved.sum::<f64>()) * unit
            };
            [-at(0), at(1), at(2)]
        });
        around(corners)
    });
    boxes.collect()
}

/// The box of each mesh of a GLB at each of its places, as other programs show it.
fn boxes_of_glb(bytes: &[u8]) -> Vec<Corners> {
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).unwrap();
    let mut matrices = HashMap::new();
    let mut open: Vec<(gltf::Node<'_>, Matrix)> =
        document.default_scene().unwrap().nodes().map(|root| (root, Matrix::scale(1.0))).collect();
    let mut meshes = Vec::new();
    while let Some((node, above)) = open.pop() {
        let matrix = above.after(&Matrix::of_columns(node.transform().matrix()));
        open.extend(node.children().map(|child| (child, matrix)));
        matrices.insert(node.index(), matrix);
        meshes.extend(node.mesh().map(|mesh| (node, mesh)));
    }
    let boxes = meshes.into_iter().map(|(node, mesh)| {
        // Bones stand still, so that all of them put a vertex into one place.
        let matrix = match node.skin() {
            None => matrices[&node.index()],
            Some(skin) => {
                let inverse = skin.reader(|_| blob.as_deref()).read_inverse_bind_matrices().unwrap().next().unwrap();
                matrices[&skin.joints().next().unwrap().index()].after(&Matrix::of_columns(inverse))
            }
        };
        let read = |primitive: gltf::Primitive<'_>| {
            let positions = primitive.reader(|_| blob.as_deref()).read_positions().unwrap();
            positions.map(|v| matrix.placed(v.map(f64::from))).collect::<Vec<_>>()
        };
        around(mesh.primitives().flat_map(read))
    });
    boxes.collect()
}

/// Whether two boxes are the same except for rounding; a box of a map without a size is a small cube in a GLB.
fn is_same(shown: &Corners, written: &Corners) -> bool {
    let has_size = shown[0] != shown[1];
    [0, 1, 2].into_iter().all(|k| {
        let limit = 1e-4 * shown[0][k].abs().max(shown[1][k].abs()).max(1.0);
        let is_near = |a: f64, b: f64| (a - b).abs() < limit;
        match has_size {
            true => is_near(shown[0][k], written[0][k]) && is_near(shown[1][k], written[1][k]),
            false => is_near(shown[0][k], f64::midpoint(written[0][k], written[1][k])),
        }
    })
}

/// Compares the figure of a drawing with its GLB. Returns the number of boxes, and the GLB's other meshes.
fn compare(name: &str, drawing: &dyn Drawing) -> Option<(usize, usize)> {
    let shown = match drawing.figure().unwrap()? {
        Figure::Solids(solids) => boxes_of_solids(&solids),
        Figure::Chart(chart) => boxes_of_chart(chart),
    };
    let mut bytes = Vec::new();
    drawing.write(SceneFormat::Glb, &mut bytes).unwrap();
    let mut written = boxes_of_glb(&bytes);
    for one in &shown {
        let found = written.iter().position(|other| is_same(one, other));
        let found = found.unwrap_or_else(|| panic!("{name}: no mesh of the GLB is at {one:?}: {written:?}"));
        written.swap_remove(found);
    }
    Some((shown.len(), written.len()))
}

fn options() -> Options {
    Options { lod: None, ..Options::default() }
}

fn sample(name: &str) -> Asset {
    let (_, _, make) = FILES.iter().find(|(file, ..)| *file == name).unwrap();
    Asset::open(Source::from_vec(name, make(1, Size::Small))).unwrap()
}

#[test]
fn the_figure_of_each_format_agrees_with_its_glb() {
    let mut compared = Vec::new();
    for (name, ..) in FILES {
        let asset = sample(name);
        let Some(shapes) = asset.reader().facet::<dyn Shapes>() else { continue };
        if shapes.kinds().contains(&SceneFormat::Glb) {
            let drawing = shapes.draw(&Context::default(), options()).unwrap();
            compared.extend(compare(name, &*drawing).map(|counts| (*name, counts)));
        }
    }
    // The links of the waypoints are lines in space.
    assert_eq!(
        compared,
        [("space.bin", (26, 0)), ("ship.geometry", (13, 0)), ("ship.splash", (8, 0)), ("town.wdata", (123, 1))]
    );
}

#[test]
fn the_map_of_a_space_and_its_models_agree_with_their_glb() {
    let (space, models) = (sample("space.bin"), sample("models.bin"));
    let shapes = space.reader().facet::<dyn Shapes>().unwrap();
    let map = shapes.draw(&Context::from_assets([&models]).unwrap(), options()).unwrap();
    let Some(Figure::Chart(chart)) = map.figure().unwrap() else { panic!("a space is a map") };
    assert_eq!(chart.metres, Some(15.0));
    assert_eq!(compare("space.bin with models.bin", &*map), Some((26, 0)));
    let meshes = Asset::open(Source::from_vec("models.geometry", cubes())).unwrap();
    let shapes = meshes.reader().facet::<dyn Shapes>().unwrap();
    let models = shapes.draw(&Context::from_assets([&models, &space]).unwrap(), options()).unwrap();
    let (boxes, others) = compare("models.geometry", &*models).unwrap();
    assert_eq!((boxes, others), (25, 0));
}

#[test]
fn a_ship_agrees_with_its_glb() {
    let dir = TempDir::new().unwrap();
    let mut write = writer(dir.path());
    assetq_sample::ship::folder::<Infallible>(|path, bytes| {
        write(path, bytes.to_vec());
        Ok(())
    })
    .unwrap();
    let within = |inner: &str| Address::within(dir.path(), inner);
    let [game, params, database] =
        [dir.path().to_owned(), within("content/GameParams.data"), within("content/assets.bin")]
            .map(|address| files::open(&address, &OpenOptions::default()).unwrap());
    let query = Query { ship: SHIP.to_owned(), ..Query::default() };
    let ship = Ship::open(&game, &params, &database, &query, &OpenOptions::default()).unwrap();
    let options = Options { armor: true, collision: false, ..options() };
    let scene = ship.scene(&Context::from_assets([&database]).unwrap(), &options).unwrap();
    let (boxes, others) = compare("a ship", &scene).unwrap();
    assert!(boxes > 10 && others == 0, "{boxes} boxes, {others} others");
}
