//! GLB, OBJ and SVG, read back by other programs.

use crate::common::files_in;
use assetq::formats::wows::geometry::Geometry;
use assetq::formats::wows::geometry::export::{Options, Scene};
use assetq::formats::wows::models::{Model, Placement, RenderSet};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::view::scene::Context;
use assetq::view::scene::{obj, svg};
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::geometry::{GeometryBuilder, HullShape, Mapping, demo, many, pack_vertices, surface};
use gltf::mesh::util::ReadIndices;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn open(bytes: Vec<u8>) -> Geometry {
    Geometry::open(Source::from_vec("test.geometry", bytes)).unwrap()
}

fn scene(g: &Geometry) -> Scene<'_> {
    let groups = g.groups().cloned().unwrap_or_default();
    let mut options = Options::default();
    options.lod = None;
    Scene::new("ship", g, &groups, None, options)
}

fn glb(scene: &Scene<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    assetq::view::scene::glb::write(&scene.model(), &mut out).unwrap();
    out
}

/// A GLB read by the `gltf` crate: what it holds, and the triangles of each node with their normals.
struct Read {
    document: gltf::Document,
    blob: Vec<u8>,
}

impl Read {
    fn new(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len() % 4, 0);
        let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).unwrap();
        Self { document, blob: blob.unwrap_or_default() }
    }

    fn nodes(&self) -> impl Iterator<Item = gltf::Node<'_>> {
        self.document.nodes().filter(|n| n.mesh().is_some())
    }

    fn positions(&self, node: &gltf::Node<'_>) -> Vec<[f32; 3]> {
        let primitive = node.mesh().unwrap().primitives().next().unwrap();
        primitive.reader(|_| Some(&self.blob)).read_positions().unwrap().collect()
    }

    fn normals(&self, node: &gltf::Node<'_>) -> Vec<[f32; 3]> {
        let primitive = node.mesh().unwrap().primitives().next().unwrap();
        primitive.reader(|_| Some(&self.blob)).read_normals().unwrap().collect()
    }

    fn indices(&self, node: &gltf::Node<'_>) -> Vec<u32> {
        let primitive = node.mesh().unwrap().primitives().next().unwrap();
        match primitive.reader(|_| Some(&self.blob)).read_indices() {
            Some(ReadIndices::U16(all)) => all.map(u32::from).collect(),
            Some(ReadIndices::U32(all)) => all.collect(),
            Some(ReadIndices::U8(_)) => panic!("bytes are not written"),
            None => (0..self.positions(node).len() as u32).collect(),
        }
    }

    /// The share of triangles that turn left around the normal of their first corner.
    fn left(&self, node: &gltf::Node<'_>) -> f64 {
        let (p, n, i) = (self.positions(node), self.normals(node), self.indices(node));
        let mut counts = [0u32; 2];
        for t in i.chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|k| p[t[k] as usize]);
            let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
            let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            let side: f32 = (0..3).map(|k| cross[k] * n[t[0] as usize][k]).sum();
            if side != 0.0 {
                counts[usize::from(side > 0.0)] += 1;
            }
        }
        f64::from(counts[1]) / f64::from((counts[0] + counts[1]).max(1))
    }
}

/// Says what the Khronos validator finds in each file; `None` where node or the package is not installed.
fn validate(files: &[(String, Vec<u8>)]) -> Option<Vec<String>> {
    let script = r#"
        const validator = require('gltf-validator'), fs = require('fs');
        (async () => {
            for (const file of process.argv.slice(1)) {
                const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 5 });
                const worst = report.issues.messages.filter(m => m.severity === 0)
                    .map(m => `${m.code} ${m.pointer}: ${m.message}`).join('; ');
                console.log(`${report.issues.numErrors} errors ${worst}`);
            }
        })();"#;
    let there = Command::new("node").args(["-e", "require('gltf-validator')"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|s| s.success()) {
        println!("skipped: node with the package gltf-validator is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..files.len()).map(|i| folder.path().join(format!("{i}.glb"))).collect();
    for (path, (_, bytes)) in paths.iter().zip(files) {
        std::fs::File::create(path).unwrap().write_all(bytes).unwrap();
    }
    let out = Command::new("node").args(["-e", script]).args(&paths).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines.len(), files.len());
    Some(lines)
}

#[test]
fn a_generated_ship_reads_back() {
    let g = open(demo(4, Size::Small));
    let scene = scene(&g);
    assert!(scene.damage.is_empty(), "{:?}", scene.damage);
    let read = Read::new(&glb(&scene));
    // Five render groups, plates of six materials, two hulls.
    let materials: std::collections::BTreeSet<_> =
        g.armor_model(0).unwrap().plates().unwrap().map(|p| p.unwrap().header().material_id.get()).collect();
    assert_eq!(read.nodes().count(), 5 + materials.len() + 2);
    let first = read.nodes().next().unwrap();
    let vertices = g.mapped_vertices(g.groups().unwrap().groups[0].vertices).unwrap();
    let turned: Vec<_> = vertices.positions().unwrap().map(|[x, y, z]| [-x + 0.0, y, z]).collect();
    assert_eq!(read.positions(&first), turned);
    // The binormal of the surface is normal cross tangent, so that turning x around turns its side around.
    let primitive = first.mesh().unwrap().primitives().next().unwrap();
    let tangents: Vec<_> = primitive.reader(|_| Some(&read.blob)).read_tangents().unwrap().collect();
    assert!(tangents.len() == turned.len() && tangents.iter().all(|t| t[3] == -1.0));
    for node in read.nodes() {
        assert_eq!(read.left(&node), 1.0, "{:?}", node.name());
        let n = read.normals(&node);
        assert!(n.iter().all(|n| (n.iter().map(|c| c * c).sum::<f32>() - 1.0).abs() < 1e-4));
    }
    let hull = read.nodes().find(|n| n.name() == Some("collision 0/hull 0")).unwrap();
    // Six sides of two triangles.
    assert_eq!(read.positions(&hull).len(), 36);
    assert_eq!(hull.mesh().unwrap().primitives().next().unwrap().material().name(), Some("collision"));
}

#[test]
fn every_sample_reads_back_and_nothing_is_left_out() {
    for path in files_in("geometry") {
        let g = Geometry::open(Source::open(&path).unwrap()).unwrap();
        let scene = scene(&g);
        assert!(scene.damage.is_empty(), "{}: {:?}", path.display(), scene.damage);
        let read = Read::new(&glb(&scene));
        let triangles: u64 = read.nodes().map(|n| read.indices(&n).len() as u64 / 3).sum();
        let of_groups: u64 = g.index_mappings().unwrap().iter().map(|m| u64::from(m.items_count.get()) / 3).sum();
        let of_armor: u64 = (0..g.armor_prototypes().unwrap().len())
            .flat_map(|i| g.armor_model(i).unwrap().plates().unwrap())
            .map(|p| p.unwrap().triangles().len() as u64)
            .sum();
        let of_hulls: u64 = (0..g.collision_prototypes().unwrap().len())
            .flat_map(|i| g.collision_model(i).unwrap().hulls().unwrap())
            .flat_map(|h| h.unwrap().faces())
            .map(|f| f.vertices.len() as u64 - 2)
            .sum();
        assert_eq!(triangles, of_groups + of_armor + of_hulls, "{}", path.display());
        for node in read.nodes() {
            let indices = read.indices(&node);
            let vertices = read.positions(&node).len() as u32;
            assert!(indices.iter().all(|&i| i < vertices));
        }
        for hull_or_plate in read.nodes().filter(|n| n.name().unwrap().contains('/')) {
            assert!(read.left(&hull_or_plate) > 0.999, "{}: {:?}", path.display(), hull_or_plate.name());
        }
    }
}

#[test]
fn the_khronos_validator_finds_no_error() {
    let mut files = vec![
        ("demo".to_owned(), glb(&scene(&open(demo(1, Size::Small))))),
        ("empty".to_owned(), glb(&scene(&open(vec![0; 72])))),
        ("many".to_owned(), glb(&scene(&open(many(2, 500, 1))))),
    ];
    for (format, stride) in [("xyznuv2iiiwwtbpc", 40), ("xyznuviiiwwr", 32), ("xyznuv2tbipc", 36), ("xyznuvtboi", 32)] {
        files.push((format.into(), glb(&scene(&one_group(&format!("set3/{format}"), stride)))));
    }
    let placed = many(2, 500, 1);
    let placed = open(placed);
    files.push(("placed".into(), glb(&placed_scene(&placed))));
    for path in files_in("geometry") {
        let g = Geometry::open(Source::open(&path).unwrap()).unwrap();
        files.push((path.display().to_string(), glb(&scene(&g))));
    }
    if let Some(root) = std::env::var_os("ASSETQ_SAMPLES").map(PathBuf::from) {
        let file = |path: &str| Source::open(root.join(path)).unwrap();
        let g = Geometry::open(file("geometry/r01_military_navigation.models.geometry")).unwrap();
        let others = ["models_bin/r01_military_navigation.models.bin", "space_bin/r01_military_navigation.space.bin"]
            .map(|path| Asset::open(file(path)).unwrap());
        let context = Context::from_assets(&others).unwrap();
        let space = assetq::formats::wows::geometry::export::scene(&g, &context, Options::default()).unwrap();
        files.push(("space".into(), glb(&space)));
    }
    let Some(said) = validate(&files) else { return };
    for ((name, _), said) in files.iter().zip(said) {
        assert!(said.starts_with("0 errors"), "{name}: {said}");
    }
    // The check itself can fail.
    let mut broken = files[0].1.clone();
    let at = broken.windows(8).position(|w| w == b"POSITION").unwrap();
    broken[at..at + 8].copy_from_slice(b"POSITIOM");
    assert!(!validate(&[("broken".into(), broken)]).unwrap()[0].starts_with("0 errors"));
}

fn one_group(format: &str, stride: usize) -> Geometry {
    let (vertices, indices) = surface(5, 7, 4.0, 2);
    let mut builder = GeometryBuilder::new();
    builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &vertices), true);
    builder.index_buffer(2, &indices, true);
    builder.vertex_mapping(Mapping { id: 1, buffer: 0, density: 0, start: 0, count: vertices.len() as u32 });
    builder.index_mapping(Mapping { id: 2, buffer: 0, density: 0, start: 0, count: indices.len() as u32 });
    open(builder.build())
}

fn models() -> Vec<Model> {
    let set = |id: u32| RenderSet {
        name: format!("set {id}"),
        material: Some(format!("material {id}")),
        mfm: None,
        vertices: id,
        indices: id,
    };
    vec![
        Model {
            name: "two.model".into(),
            render_sets: vec![set(0), set(1)],
            lods: vec![vec![0], vec![1]],
            ..Model::default()
        },
        Model { name: "none.model".into(), ..Model::default() },
    ]
}

fn placed_scene(g: &Geometry) -> Scene<'_> {
    let at = |model, x: f32, mirror: f32| Placement {
        model,
        row: 0,
        transform: [mirror, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, x, 5.0, 7.0, 1.0],
    };
    let mut bad = at(0, 0.0, 1.0);
    bad.transform[3] = 2.0;
    let placements = [at(0, 10.0, 1.0), at(0, 20.0, -1.0), at(1, 0.0, 1.0), bad];
    Scene::new("space", g, &g.groups_of(&models()).unwrap(), Some(&placements), Options::default())
}

#[test]
fn a_space_shows_each_model_where_it_stands() {
    let g = open(many(2, 500, 1));
    let scene = placed_scene(&g);
    assert_eq!(scene.notes, ["1 instance of models without render groups here"]);
    assert_eq!(scene.damage.len(), 1);
    let read = Read::new(&glb(&scene));
    // Two places show the one mesh of the finest level.
    assert_eq!(read.document.meshes().count(), 1);
    assert_eq!(read.nodes().map(|n| n.name().unwrap().to_owned()).collect::<Vec<_>>(), ["set 0", "set 0"]);
    let root = read.document.default_scene().unwrap().nodes().next().unwrap();
    assert_eq!(root.transform().decomposed().2, [15.0; 3], "a unit is 15 m");
    let places: Vec<_> = root.children().map(|n| n.transform().matrix()).collect();
    // x is turned around, y and z stay.
    assert_eq!(places[0][3], [-10.0, 5.0, 7.0, 1.0]);
    assert_eq!(places[0][1], [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(places[1][0], [-1.0, 0.0, 0.0, 0.0]);
    assert_eq!(read.document.nodes().count(), 1 + 2 + 2);
    let mut obj = Vec::new();
    obj::write(&scene.model(), &mut obj).unwrap();
    let obj = String::from_utf8(obj).unwrap();
    assert_eq!(obj.lines().filter(|l| *l == "o set 0").count(), 2);
    let first: Vec<f32> =
        obj.lines().find_map(|l| l.strip_prefix("v ")).unwrap().split(' ').map(|v| v.parse().unwrap()).collect();
    // (x, y, z) goes to (x, -z, y) and then to (10, 5, 7), turned around, in metres.
    let first: Vec<f32> = first.iter().map(|v| v / 15.0).collect();
    let [x, y, z] = g.mapped_vertices(0).unwrap().positions().unwrap().next().unwrap();
    assert!(
        (first[0] + x + 10.0).abs() < 1e-5 && (first[1] - 5.0 + z).abs() < 1e-5 && (first[2] - 7.0 - y).abs() < 1e-5
    );
}

#[test]
fn levels_of_detail_are_chosen() {
    let g = open(many(2, 500, 1));
    let groups = g.groups_of(&models()).unwrap();
    let names = |lod| {
        let mut options = Options::default();
        options.lod = lod;
        let scene = Scene::new("x", &g, &groups, None, options);
        Read::new(&glb(&scene)).nodes().map(|n| n.name().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(Some(0)), ["set 0"]);
    assert_eq!(names(Some(1)), ["set 1"]);
    assert_eq!(names(Some(7)), ["set 1"], "the coarsest");
    // All levels: the finest is the scene, and each other one is a scene to which an extension leads.
    assert_eq!(names(None), ["set 0", "set 1"]);
    let mut options = Options::default();
    options.lod = None;
    let placements = [0.0, 1.0].map(|x| Placement {
        model: 0,
        row: 0,
        transform: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, 0.0, 0.0, 1.0],
    });
    for (placements, at) in [(None, 1), (Some(&placements[..]), 2)] {
        let bytes = glb(&Scene::new("x", &g, &groups, placements, options));
        let read = Read::new(&bytes);
        let scenes = read.document.scenes().map(|scene| {
            let root = scene.nodes().next().unwrap();
            let meshes = root.children().flat_map(|model| model.children().collect::<Vec<_>>());
            let meshes = meshes.map(|node| node.mesh().unwrap().name().unwrap().to_owned()).collect::<Vec<_>>();
            (root.index(), root.transform().decomposed().2, scene.name().unwrap().to_owned(), meshes)
        });
        let scenes: Vec<_> = scenes.filter(|(.., meshes)| !meshes.is_empty()).collect();
        let [(top, metres, _, first), (coarse, same, name, second)] = &*scenes else { panic!("{scenes:?}") };
        assert_eq!((first, second), (&vec!["set 0".to_owned(); at], &vec!["set 1".to_owned(); at]));
        assert_eq!((&**name, metres, same), ("x lod1", &[15.0; 3], &[15.0; 3]));
        let json = read.document.as_json();
        assert_eq!(json.extensions_used, ["MSFT_lod"]);
        let text = gltf::Glb::from_slice(&bytes).unwrap().json;
        let text: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(text["nodes"][*top]["extensions"], serde_json::json!({ "MSFT_lod": { "ids": [coarse] } }));
        let parents = json.nodes.iter().flat_map(|node| node.children.iter().flatten()).map(|child| child.value());
        let mut parents: Vec<_> = parents.collect();
        let all = parents.len();
        parents.sort_unstable();
        parents.dedup();
        assert_eq!(parents.len(), all, "a node has one parent");
    }
}

#[test]
fn obj_counts_from_one_through_all_objects() {
    let g = open(demo(4, Size::Small));
    let mut out = Vec::new();
    obj::write(&scene(&g).model(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let count = |what: &str| text.lines().filter(|l| l.starts_with(what)).count();
    let (mut least, mut most) = (usize::MAX, 0);
    for corner in text.lines().filter_map(|l| l.strip_prefix("f ")).flat_map(|f| f.split(' ')) {
        let position: usize = corner.split('/').next().unwrap().parse().unwrap();
        let normal: usize = corner.split('/').nth(2).unwrap().parse().unwrap();
        assert_eq!(position, normal);
        least = least.min(position);
        most = most.max(position);
    }
    assert_eq!((least, most), (1, count("v ")));
    assert_eq!(count("v "), count("vn "));
    assert_eq!(count("o "), Read::new(&glb(&scene(&g))).nodes().count());
}

#[test]
fn obj_refuses_coordinates_that_are_no_numbers_in_metres() {
    let mut builder = GeometryBuilder::new();
    let vertices = [[0.0; 3], [3e37, 0.0, 0.0], [0.0, 0.0, 1.0]];
    builder.collision("far", vec![HullShape { vertices: vertices.to_vec(), faces: vec![vec![0, 1, 2]] }]);
    let g = open(builder.build());
    let mut out = Vec::new();
    let error = obj::write(&scene(&g).model(), &mut out).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("hull 0: an OBJ with vertex 2 at [-3e37, ") && said.contains("in metres"), "{said}");
    assert!(out.is_empty(), "nothing is written");
}

#[test]
fn drawings_show_armor_and_hulls() {
    let g = open(demo(4, Size::Small));
    let mut out = Vec::new();
    svg::write(&scene(&g).model(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    let plates = g.table("armor_triangles").unwrap().len().unwrap();
    // Each triangle of plates and of two boxes in each of two views.
    assert_eq!(text.matches('Z').count(), 2 * (plates + 24));
    let id = g.armor_model(0).unwrap().plates().unwrap().next().unwrap().unwrap().header().material_id.get();
    assert!(text.contains(&format!(">{id} {}<", assetq::formats::wows::geometry::material_name(id).unwrap())));
    let bare = open(many(1, 100, 1));
    let error = svg::write(&scene(&bare).model(), &mut Vec::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotFound { .. }));
}

#[test]
fn what_is_damaged_is_left_out_and_named() {
    let (vertices, indices) = surface(3, 4, 4.0, 1);
    let mut bytes = pack_vertices("set3/xyznuvtbpc", 28, &vertices);
    bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut builder = GeometryBuilder::new();
    for (i, bytes) in [bytes, pack_vertices("set3/xyznuvtbpc", 28, &vertices)].iter().enumerate() {
        builder.vertex_buffer("set3/xyznuvtbpc", 28, bytes, true);
        builder.index_buffer(2, &indices, true);
        let i = i as u16;
        builder.vertex_mapping(Mapping { id: i.into(), buffer: i, density: 0, start: 0, count: vertices.len() as u32 });
        builder.index_mapping(Mapping { id: i.into(), buffer: i, density: 0, start: 0, count: indices.len() as u32 });
    }
    builder.collision("<&>", vec![HullShape { vertices: vec![[0.0; 3]; 3], faces: vec![vec![0, 1, 2]] }]);
    let g = open(builder.build());
    let scene = scene(&g);
    assert_eq!(scene.damage.len(), 1);
    let said = scene.damage[0].to_string();
    assert!(said.contains("group_00000000") && said.contains("vertex 0 is not a number"), "{said}");
    assert_eq!(Read::new(&glb(&scene)).nodes().count(), 2);
}

#[test]
fn flipped_bytes_never_panic() {
    let whole = demo(1, Size::Small);
    let mut random = fastrand::Rng::with_seed(5);
    let mut written = 0;
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..2 {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        let Ok(g) = Geometry::open(Source::from_vec("x.geometry", bytes)) else { continue };
        let groups = g.groups().cloned().unwrap_or_default();
        let scene = Scene::new("x", &g, &groups, None, Options::default());
        Read::new(&glb(&scene));
        // A flipped byte may put a vertex where no finite number of metres is, which is an error.
        let _ = obj::write(&scene.model(), &mut std::io::sink());
        let _ = svg::write(&scene.model(), &mut std::io::sink());
        written += 1;
    }
    assert!(written > 300, "{written}");
}
