//! Meshes that come back from another program beside other files than they left with.

use crate::common::run;
use assetq::formats::id;
use assetq_sample::geometry::{GeometryBuilder, Mapping, pack_vertices, surface, turret};
use assetq_sample::text_models::{Dialect, Node, RenderSet, level, turret_visual, visual};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Meshes by the names of their render sets, each of `rows` by eight quads, 20 units long or as long as stated.
fn geometry(meshes: &[(&str, u32, f32)]) -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let (mut all, mut all_indices) = (Vec::new(), Vec::new());
    for (name, rows, length) in meshes {
        let (vertices, indices) = surface(*rows, 8, *length, 1);
        let mapping = |what: &str, start: usize, count: usize| {
            let id = id::of_name(&format!("{name}.{what}"));
            Mapping { id, buffer: 0, density: 0, start: start as u32, count: count as u32 }
        };
        builder.vertex_mapping(mapping("vertices", all.len(), vertices.len()));
        builder.index_mapping(mapping("indices", all_indices.len(), indices.len()));
        all.extend(vertices);
        all_indices.extend(indices);
    }
    builder.vertex_buffer("set3/xyznuvtbpc", 28, &pack_vertices("set3/xyznuvtbpc", 28, &all), true);
    builder.index_buffer(2, &all_indices, true);
    builder.build()
}

const ROOT: Node<'static> = Node { name: "Scene Root", parent: None, position: [0.0; 3] };

fn set(name: &'static str, node: &'static str, lod: usize) -> RenderSet<'static> {
    RenderSet { name, node, material: "steel", mfm: "content/steel.mfm", lod }
}

/// Changes the description of a GLB, which may not get longer.
fn described(glb: &Path, change: impl FnOnce(&mut Value)) {
    let mut bytes = fs::read(glb).unwrap();
    let size = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut root: Value = serde_json::from_slice(&bytes[20..20 + size]).unwrap();
    change(&mut root);
    let mut text = root.to_string().into_bytes();
    assert!(text.len() <= size);
    text.resize(size, b' ');
    bytes[20..20 + size].copy_from_slice(&text);
    fs::write(glb, bytes).unwrap();
}

/// As Blender does by default.
fn without_extras(glb: &Path) {
    described(glb, |root| {
        for mesh in root["meshes"].as_array_mut().unwrap() {
            mesh.as_object_mut().unwrap().remove("extras");
        }
    });
}

/// Deletes the last mesh as Blender does: the node above it stays.
fn without_last_mesh(glb: &Path) {
    described(glb, |root| {
        let last = root["meshes"].as_array_mut().unwrap();
        last.pop().unwrap();
        let last = last.len() as u64;
        let nodes = root["nodes"].as_array_mut().unwrap();
        let of_mesh = nodes.iter_mut().find(|node| node["mesh"] == last).unwrap();
        of_mesh.as_object_mut().unwrap().remove("mesh");
    });
}

/// A visual puts the vertices of a skinned mesh, and the node of another one, elsewhere than the geometry alone. A GLB of assetq says
/// where; another program drops that, and the names of joints or meshes are left to tell.
#[test]
fn a_mesh_comes_back_beside_the_visual_that_it_left_with() {
    let node = |name, parent, position| Node { name, parent, position };
    let hull_visual =
        visual("x", Dialect::Old, &[ROOT, node("Hull", Some(0), [0.0, 2.0, 0.0])], &[set("HullShape", "Hull", 0)]);
    for (bytes, beside, with, without) in [
        (turret(), turret_visual(), "its joint \"Rotate_Y_BlendBone\" is a node", "its joints are only numbered"),
        (geometry(&[("HullShape", 8, 20.0)]), hull_visual, "it is moved, and its name", "it is moved, and its name"),
    ] {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("alone")).unwrap();
        for file in ["x.geometry", "alone/x.geometry"] {
            fs::write(at(file), &bytes).unwrap();
        }
        fs::write(at("x.visual"), &beside).unwrap();
        let patch = |code, file: &str, glb: &str, more: &[&str]| {
            let (_, said) =
                run(dir.path(), code, &[&["patch", file, glb, "--to", "new.geometry", "--force"], more].concat());
            assert!(code != 0 || fs::read(at("new.geometry")).unwrap() == bytes, "{file} {glb}: other bytes; {said}");
            said
        };
        run(dir.path(), 0, &["export", "x.geometry", "--to", "with.glb"]);
        run(dir.path(), 0, &["export", "x.geometry", "--no-companions", "--to", "without.glb"]);
        patch(0, "alone/x.geometry", "with.glb", &[]);
        patch(0, "x.geometry", "without.glb", &[]);
        without_extras(&at("with.glb"));
        without_extras(&at("without.glb"));
        let said = patch(2, "alone/x.geometry", "with.glb", &[]);
        assert!(said.contains(with) && said.contains("with x.visual, and comes back with this file beside"), "{said}");
        let said = patch(2, "x.geometry", "without.glb", &[]);
        assert!(said.contains(without) && said.contains("comes back with --no-companions"), "{said}");
        // Both pieces of advice work.
        patch(0, "x.geometry", "without.glb", &["--no-companions"]);
        fs::copy(at("x.visual"), at("alone/x.visual")).unwrap();
        patch(0, "alone/x.geometry", "with.glb", &[]);
    }
}

/// The coarser level has one mesh. Its node is kept, and shows that the GLB had all levels.
#[test]
fn a_deleted_mesh_is_named_if_its_level_has_no_other() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let bytes = geometry(&[("HullShape", 8, 20.0), ("Hull_lod1Shape", 4, 20.0)]);
    fs::write(at("x.geometry"), &bytes).unwrap();
    let nodes = [ROOT];
    let visual = |name: &str, set| visual(name, Dialect::Old, &nodes, &[set]);
    fs::write(at("x.visual"), visual("x", set("HullShape", "Scene Root", 0))).unwrap();
    fs::write(at("x_lod1.visual"), visual("x_lod1", set("Hull_lod1Shape", "Scene Root", 0))).unwrap();
    fs::write(at("x.model"), level("x", "x", Some("x_lod1"), 4.0)).unwrap();
    fs::write(at("x_lod1.model"), level("x_lod1", "x_lod1", None, 8.0)).unwrap();
    let patch = || {
        let (_, said) = run(dir.path(), 0, &["patch", "x.geometry", "x.glb", "--to", "new.geometry", "--force"]);
        assert!(fs::read(at("new.geometry")).unwrap() == bytes, "{said}");
        said
    };
    run(dir.path(), 0, &["export", "x.geometry", "--to", "x.glb"]);
    assert!(!patch().contains("keep their"), "a GLB has the finest level, unless others are asked for");
    run(dir.path(), 0, &["export", "x.geometry", "--lod", "all", "--to", "x.glb", "--force"]);
    assert!(!patch().contains("keep their"));
    without_last_mesh(&at("x.glb"));
    let said = patch();
    assert!(said.contains("keep their vertices") && said.contains(": Hull_lod1Shape\n"), "{said}");
}

/// Without a visual, levels are guessed by boxes: the mesh of another box is of all levels, also of the one that the GLB has.
#[test]
fn a_deleted_mesh_of_a_lone_geometry_is_named() {
    let dir = TempDir::new().unwrap();
    let bytes = geometry(&[("A", 8, 20.0), ("B", 4, 20.0), ("C", 3, 5.0)]);
    fs::write(dir.path().join("x.geometry"), &bytes).unwrap();
    run(dir.path(), 0, &["export", "x.geometry", "--to", "x.glb"]);
    let patch = || run(dir.path(), 0, &["patch", "x.geometry", "x.glb", "--to", "new.geometry", "--force"]).1;
    assert!(!patch().contains("keep their"));
    without_last_mesh(&dir.path().join("x.glb"));
    let said = patch();
    let name = format!("group_{:08X}", id::of_name("C.indices"));
    assert!(said.contains("keep their vertices") && said.contains(&format!(": {name}\n")), "{said}");
}

/// Moves the first vertex of the mesh called `name`.
fn move_vertex(glb: &Path, name: &str, by: f32) {
    let mut bytes = fs::read(glb).unwrap();
    let size = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let root: Value = serde_json::from_slice(&bytes[20..20 + size]).unwrap();
    let mesh = root["meshes"].as_array().unwrap().iter().find(|mesh| mesh["name"] == name).unwrap();
    let at = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let accessor = &root["accessors"][at(&mesh["primitives"][0]["attributes"]["POSITION"])];
    let view = &root["bufferViews"][at(&accessor["bufferView"])];
    let start = 20 + size + 8 + at(&view["byteOffset"]) + at(&accessor["byteOffset"]);
    let moved = f32::from_le_bytes(bytes[start..start + 4].try_into().unwrap()) + by;
    bytes[start..start + 4].copy_from_slice(&moved.to_le_bytes());
    fs::write(glb, bytes).unwrap();
}

/// Equal guns of a ship have one range of vertices and of indices.
#[test]
fn a_mesh_that_shares_its_vertices_changes_alone() {
    for is_packed in [false, true] {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let mut builder = GeometryBuilder::new();
        let (vertices, indices) = surface(4, 8, 20.0, 1);
        let names = ["GunA", "GunB", "GunC", "Hull"];
        for (number, name) in (0..).zip(names) {
            let mapping = |what: &str, count: usize| {
                let id = id::of_name(&format!("{name}.{what}"));
                let start = if name == "Hull" { count } else { 0 };
                Mapping { id, buffer: 0, density: number, start: start as u32, count: count as u32 }
            };
            builder.vertex_mapping(mapping("vertices", vertices.len()));
            builder.index_mapping(mapping("indices", indices.len()));
        }
        let (format, twice) = ("set3/xyznuvtbpc", [&vertices[..], &vertices].concat());
        builder.vertex_buffer(format, 28, &pack_vertices(format, 28, &twice), is_packed);
        builder.index_buffer(2, &[&indices[..], &indices].concat(), is_packed);
        fs::write(at("x.geometry"), builder.build()).unwrap();
        fs::write(at("names.txt"), names.map(|name| format!("{name}.vertices\n{name}.indices\n")).concat()).unwrap();
        run(dir.path(), 0, &["export", "x.geometry", "--to", "old.glb", "--names", "names.txt", "--lod", "all"]);
        let rows = |file: &str| -> Vec<Vec<String>> {
            let query = "SELECT start, count, content FROM vertex_mappings";
            let (rows, _) = run(dir.path(), 0, &["sql", query, file, "-f", "csv"]);
            rows.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
        };
        let old = rows("x.geometry");
        // Which mappings have equal vertices after the edit, if these meshes move by so much.
        let cases = [
            (vec![("GunA", 0.25)], [0, 1, 1, 3]),
            (vec![("GunB", 0.25), ("GunC", 0.5)], [0, 1, 2, 3]),
            (vec![("GunA", 0.25), ("GunC", 0.25)], [0, 1, 0, 3]),
            (vec![("GunA", 0.25), ("GunB", 0.25), ("GunC", 0.25)], [0, 0, 0, 3]),
        ];
        for (moves, alike) in cases {
            fs::copy(at("old.glb"), at("new.glb")).unwrap();
            moves.iter().for_each(|(name, by)| move_vertex(&at("new.glb"), name, *by));
            run(dir.path(), 0, &["patch", "x.geometry", "new.glb", "--to", "new.geometry", "--force"]);
            run(dir.path(), 0, &["verify", "new.geometry"]);
            let new = rows("new.geometry");
            for (number, name) in names.into_iter().enumerate() {
                let is_moved = moves.iter().any(|(moved, _)| *moved == name);
                assert_eq!(new[number][2] != old[number][2], is_moved, "{moves:?}: {name}");
                assert_eq!(new[number][1], old[number][1]);
                // Equal vertices are stored once.
                assert_eq!(new[number], new[alike[number]], "{moves:?}: {name}");
            }
        }
    }
}
