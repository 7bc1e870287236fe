//! Edited files: ids and materials in place, and meshes from GLB.

use assetq::edit::{Change, Edit, Editor, Pieces, TableEdits, Writable};
use assetq::formats::report::Progress;
use assetq::formats::wows::geometry::export::{Options, Scene};
use assetq::formats::wows::geometry::{Geometry, Splash};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::table::Value;
use assetq::view::scene::glb;
use assetq::write::atomic_file::Overwrite;
use assetq::{Asset, Result, Source};
use assetq_sample::Size;
use assetq_sample::geometry::{GeometryBuilder, Mapping, PlateShape, demo, pack_vertices, splash, surface};
use serde_json::{Value as Json, json};

fn open(bytes: &[u8]) -> Geometry {
    Geometry::open(Source::from_vec("ship.geometry", bytes.to_vec())).unwrap()
}

fn glb(bytes: &[u8]) -> Vec<u8> {
    let geometry = open(bytes);
    let groups = geometry.groups().cloned().unwrap();
    let mut options = Options::default();
    options.lod = None;
    let scene = Scene::new("ship", &geometry, &groups, None, options);
    let mut out = Vec::new();
    glb::write(&scene.model(), &mut out).unwrap();
    out
}

/// The file with all meshes of a GLB, read back by the editor as `patch` does it.
fn patched(bytes: &[u8], glb: &[u8]) -> Result<Vec<u8>> {
    noted(bytes, glb).map(|(new, _)| new)
}

/// The same, with the notes.
fn noted(bytes: &[u8], glb: &[u8]) -> Result<(Vec<u8>, Vec<String>)> {
    let Patched { new, left_out, notes } = patched_in_part(bytes, glb)?;
    assert_eq!(left_out, Vec::<String>::new());
    Ok((new, notes))
}

/// The file with the meshes of a GLB, what it does not hold of them, and what is said.
struct Patched {
    new: Vec<u8>,
    left_out: Vec<String>,
    notes: Vec<String>,
}

fn patched_in_part(bytes: &[u8], glb: &[u8]) -> Result<Patched> {
    let asset = Asset::open(Source::from_vec("ship.geometry", bytes.to_vec())).unwrap();
    let mut editor = Editor::new(&asset)?;
    editor.meshes(glb)?;
    let (left_out, notes) = (editor.summary().2.to_vec(), editor.notes().to_vec());
    let plan = editor.finish()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new.geometry");
    plan.write(&to, Overwrite::Refuse)?.commit()?;
    let new = std::fs::read(to).unwrap();
    assert!(plan.pieces().inverse(bytes).bytes(&new) == bytes);
    Ok(Patched { new, left_out, notes })
}

fn refused(result: Result<Vec<u8>>, words: &[&str]) {
    let error = result.map(drop).expect_err("must be refused");
    assert!(matches!(error.kind(), ErrorKind::Syntax { .. }), "{error:?}");
    let text = error.to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not say {word:?}"));
}

fn findings(bytes: &[u8]) -> Vec<String> {
    let report = open(bytes).verify(&Progress::default());
    report.checks.iter().flat_map(|c| c.findings().iter().map(move |e| format!("{}: {e}", c.name))).collect()
}

/// A GLB as its description and its numbers.
fn split(glb: &[u8]) -> (String, Vec<u8>) {
    let size = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    (String::from_utf8(glb[20..20 + size].to_vec()).unwrap(), glb[28 + size..].to_vec())
}

fn joined(text: &str, binary: &[u8]) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &text[..]), (b"BIN\0", binary)] {
        out.extend((chunk.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// Where the numbers of an attribute of mesh `mesh` begin in the buffer, as another reader says.
fn place_of(glb: &[u8], mesh: usize, semantic: &gltf::Semantic) -> usize {
    let read = gltf::Gltf::from_slice(glb).unwrap();
    let primitive = read.meshes().nth(mesh).unwrap().primitives().next().unwrap();
    let accessor = primitive.get(semantic).unwrap();
    accessor.view().unwrap().offset() + accessor.offset()
}

fn one(rows: u32, columns: u32, format: &str, stride: usize, packed: bool, seed: u64) -> Vec<u8> {
    let mut builder = GeometryBuilder::new();
    let (vertices, indices) = surface(rows, columns, 20.0, seed);
    let mapping = |count: usize| Mapping { id: 0x77, buffer: 0, density: 5, start: 0, count: count as u32 };
    builder.vertex_buffer(format, stride, &pack_vertices(format, stride, &vertices), packed);
    builder.index_buffer(2, &indices, packed);
    builder.vertex_mapping(mapping(vertices.len()));
    builder.index_mapping(mapping(indices.len()));
    let triangle = [[0.0; 3], [0.0, 1.0, 0.0], [0.0, 1.0, 2.0]];
    builder.armor("a.armor", vec![PlateShape { material: 3, layer: 1, triangles: vec![triangle] }]);
    builder.build()
}

/// Triangles whatever their first corner.
fn triangles(geometry: &Geometry, mapping: usize) -> Vec<[u32; 3]> {
    let turned = |[a, b, c]: [u32; 3]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap();
    geometry.mapped_indices(mapping).unwrap().triangles().map(turned).collect()
}

#[test]
fn a_glb_that_was_not_edited_changes_nothing() {
    for bytes in [demo(1, Size::Small), demo(2, Size::Small), one(4, 5, "set3/xyznuvpc", 20, false, 3)] {
        assert!(patched(&bytes, &glb(&bytes)).unwrap() == bytes);
    }
}

#[test]
fn a_mesh_comes_back_in_the_unit_of_models_whatever_its_nodes_scale() {
    let bytes = one(4, 5, "set3/xyznuvpc", 20, false, 3);
    let (text, binary) = split(&glb(&bytes));
    let scale = "\"scale\":[15.0,15.0,15.0]";
    assert_eq!(text.matches(scale).count(), 2, "meshes and armour: {text}");
    // A program that applies the scale to the vertices, and one that leaves half of it on the node.
    for (of_node, factor) in [(1.0f32, 15.0f32), (2.5, 6.0)] {
        let at = place_of(&glb(&bytes), 0, &gltf::Semantic::Positions);
        let mut scaled = binary.clone();
        for value in scaled[at..at + 30 * 12].as_chunks_mut::<4>().0 {
            *value = (f32::from_le_bytes(*value) * factor).to_le_bytes();
        }
        let text = text.replace(scale, &format!("\"scale\":[{of_node:?},{of_node:?},{of_node:?}]"));
        assert!(patched_in_part(&bytes, &joined(&text, &scaled)).unwrap().new == bytes, "vertices that nobody moved");
    }
}

/// A node that was moved, turned or mirrored since the mesh was written moves the vertices.
#[test]
fn a_moved_object_moves_its_vertices() {
    let bytes = one(4, 5, "set3/xyznuvtbpc", 28, false, 3);
    let (text, binary) = split(&glb(&bytes));
    let old = open(&bytes);
    let vertices = old.mapped_vertices(0).unwrap();
    for (node, moved) in [
        ("\"scale\":[15.0,15.0,15.0],\"translation\":[0.0,30.0,0.0]", |[x, y, z]: [f32; 3]| [x, y + 2.0, z]),
        ("\"scale\":[15.0,15.0,7.5]", |[x, y, z]: [f32; 3]| [x, y, z * 0.5]),
        ("\"scale\":[-15.0,15.0,15.0]", |[x, y, z]: [f32; 3]| [-x, y, z]),
        // A quarter turn around the vertical axis of the right-handed scene.
        ("\"scale\":[15.0,15.0,15.0],\"rotation\":[0.0,0.70710677,0.0,0.70710677]", |[x, y, z]: [f32; 3]| [-z, y, x]),
    ] as [(&str, fn([f32; 3]) -> [f32; 3]); 4]
    {
        let glb = joined(&text.replacen("\"scale\":[15.0,15.0,15.0]", node, 1), &binary);
        let (new, notes) = noted(&bytes, &glb).unwrap();
        assert!(notes.iter().any(|note| note.contains("moved, turned or scaled")), "{notes:?}");
        let new = open(&new);
        let now = new.mapped_vertices(0).unwrap();
        let near = |a: [f32; 3], b: [f32; 3], limit: f32| a.iter().zip(b).all(|(a, b)| (a - b).abs() < limit);
        for (old, now) in vertices.positions().unwrap().zip(now.positions().unwrap()) {
            assert!(near(moved(old), now, 1e-4), "{node}: {old:?} {now:?}");
        }
        // Triangles turn around the normals as before.
        let side = |g: &Geometry| {
            let (v, mut sides) = (g.mapped_vertices(0).unwrap(), [0; 2]);
            for corners in g.mapped_indices(0).unwrap().triangles() {
                let [a, b, c] = corners.map(|corner| v.positions().unwrap().nth(corner as usize).unwrap());
                let normal = v.normals().unwrap().nth(corners[0] as usize).unwrap();
                let minus = |p: [f32; 3], q: [f32; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
                let ([x, y, z], [u, v, w]) = (minus(b, a), minus(c, a));
                let turn = [y * w - z * v, z * u - x * w, x * v - y * u];
                let dot: f32 = turn.iter().zip(normal).map(|(a, b)| a * b).sum();
                sides[usize::from(dot > 0.0)] += 1;
            }
            sides
        };
        assert_eq!(side(&old), side(&new), "{node}");
    }
    let flat = joined(&text.replacen("\"scale\":[15.0,15.0,15.0]", "\"scale\":[15.0,0.0,15.0]", 1), &binary);
    refused(patched(&bytes, &flat), &["group_00000077", "flat"]);
}

/// Nodes without a mesh, such as hard points, cameras and lights, are moved as anyone likes; a scene may have no nodes.
#[test]
fn what_is_no_mesh_does_not_matter() {
    let bytes = one(4, 5, "set3/xyznuvtbpc", 28, false, 3);
    let (text, binary) = split(&glb(&bytes));
    let mut root: Json = serde_json::from_str(&text).unwrap();
    let camera = json!({ "name": "Camera", "camera": 0, "translation": [7, 4, 3], "rotation": [0, 1, 0, 0], "scale": [1, 2, 3] });
    let light = json!({ "name": "HP_gunFire1", "matrix": vec![0.5; 16], "extensions": { "KHR_lights_punctual": { "light": 9 } } });
    root["nodes"].as_array_mut().unwrap().extend([camera, light]);
    root["scenes"].as_array_mut().unwrap().push(json!({ "name": "Scene" }));
    root["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 99 } } }]);
    root["animations"] = json!([{ "channels": [], "samplers": [] }]);
    assert!(patched(&bytes, &joined(&root.to_string(), &binary)).unwrap() == bytes);
}

/// Other programs renumber vertices, split them by normals that they round, leave out tangents and vertices that no triangle has,
/// and write a triangle once.
#[test]
fn an_unedited_mesh_of_another_program_changes_nothing() {
    for (format, stride) in
        [("set3/xyznuvtbpc", 28), ("set3/xyznuvrpc", 24), ("set3/xyznuvtbipc", 32), ("set3/xyznuviiiwwpc", 28)]
    {
        let bytes = one(4, 5, format, stride, true, 3);
        let geometry = open(&bytes);
        let old = geometry.mapped_vertices(0).unwrap();
        let all: Vec<[u32; 3]> = triangles(&geometry, 0);
        // Each corner of each triangle is a vertex of its own, whose normal is a little off.
        let normals: Vec<[f32; 3]> = old.normals().unwrap().collect();
        let (positions, uvs): (Vec<_>, Vec<_>) = (old.positions().unwrap().collect(), old.uvs().unwrap().collect());
        let mut glb =
            ByHand { views: vec![], accessors: vec![], binary: vec![], primitive: json!({ "attributes": {} }) };
        // Mirrored vertices turn triangles around.
        let corners: Vec<usize> =
            all.iter().rev().flat_map(|[a, b, c]| [*a, *c, *b]).map(|corner| corner as usize).collect();
        let place = |at: &usize| [-positions[*at][0], positions[*at][1], positions[*at][2]];
        let normal =
            |(n, at): (usize, &usize)| [-normals[*at][0] + (n % 5) as f32 * 1e-3, normals[*at][1], normals[*at][2]];
        let count = corners.len();
        let mut floats = |name: &str, kind: &str, numbers: Vec<f32>| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            let view = glb.view(&bytes);
            let ends = json!({ "bufferView": view, "min": [-9, -9, -99], "max": [9, 9, 99] });
            glb.primitive["attributes"][name] = glb.accessor(FLOAT, kind, count, ends).into();
        };
        floats("POSITION", "VEC3", corners.iter().flat_map(place).collect());
        floats("NORMAL", "VEC3", corners.iter().enumerate().flat_map(normal).collect());
        floats("TEXCOORD_0", "VEC2", corners.iter().flat_map(|at| uvs[*at].map(|uv| 1.0 - (1.0 - uv))).collect());
        let (new, notes) = noted(&bytes, &glb.build(|_| ())).unwrap();
        assert!(new == bytes && notes.is_empty(), "{format}: {notes:?}");
        // Without a triangle, the others keep their vertices.
        let fewer =
            glb.accessor(FLOAT, "VEC3", count - 3, json!({ "bufferView": 0, "min": [-9, -9, -99], "max": [9, 9, 99] }));
        glb.primitive["attributes"]["POSITION"] = fewer.into();
        for (name, at) in [("NORMAL", 1), ("TEXCOORD_0", 2)] {
            let kind = if at == 1 { "VEC3" } else { "VEC2" };
            glb.primitive["attributes"][name] =
                glb.accessor(FLOAT, kind, count - 3, json!({ "bufferView": at })).into();
        }
        let (new, notes) = noted(&bytes, &glb.build(|_| ())).unwrap();
        assert_eq!(notes, [""; 0]);
        let new = open(&new);
        let kept: Vec<&[u8]> = old.bytes().chunks(stride).collect();
        assert!(new.mapped_vertices(0).unwrap().bytes().chunks(stride).all(|vertex| kept.contains(&vertex)));
        assert_eq!(new.mapped_indices(0).unwrap().triangles().count(), all.len() - 1);
    }
}

/// Tangents of changed vertices are computed, if the mesh has none; the others keep their bytes.
#[test]
fn tangents_are_computed_for_changed_vertices_without_any() {
    let bytes = one(12, 16, "set3/xyznuvtbpc", 28, true, 3);
    let (text, mut binary) = split(&glb(&bytes));
    let mut root: Json = serde_json::from_str(&text).unwrap();
    root["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("TANGENT");
    let at = place_of(&glb(&bytes), 0, &gltf::Semantic::Positions) + 100 * 12;
    let y = f32::from_le_bytes(binary[at + 4..at + 8].try_into().unwrap());
    binary[at + 4..at + 8].copy_from_slice(&(y + 0.001).to_le_bytes());
    let (new, notes) = noted(&bytes, &joined(&root.to_string(), &binary)).unwrap();
    assert_eq!(notes, ["mesh \"group_00000077\": it has no TANGENT: computed for 1 vertex that changed"]);
    let (old, new) = (open(&bytes), open(&new));
    let (old, new) = (old.mapped_vertices(0).unwrap(), new.mapped_vertices(0).unwrap());
    let changed = old.bytes().chunks(28).zip(new.bytes().chunks(28)).enumerate().filter(|(_, (old, new))| old != new);
    assert_eq!(changed.map(|(number, _)| number).collect::<Vec<_>>(), [100]);
    // The surface is smooth: the tangent differs from the file's by some degrees at most.
    let of = |v: &assetq::formats::wows::geometry::Vertices<'_>| {
        (v.tangents().unwrap().nth(100).unwrap(), v.binormals().unwrap().nth(100).unwrap())
    };
    let dot = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let ((t, b), (u, c)) = (of(&old), of(&new));
    assert!(dot(t, u) > 0.9 && dot(b, c) > 0.9, "{t:?} {u:?} {b:?} {c:?}");
}

#[test]
fn directions_are_normalized_and_numbers_that_are_none_refused() {
    let bytes = one(4, 5, "set3/xyznuvtbpc", 28, false, 3);
    let written = glb(&bytes);
    let (text, binary) = split(&written);
    for semantic in [gltf::Semantic::Normals, gltf::Semantic::Tangents] {
        let at = place_of(&written, 0, &semantic);
        let with = |vector: [f32; 3]| {
            let mut changed = binary.clone();
            changed[at..at + 12].copy_from_slice(vector.map(f32::to_le_bytes).as_flattened());
            patched(&bytes, &joined(&text, &changed))
        };
        let short = with([0.0, 0.6, 0.8]).unwrap();
        assert!(short != bytes);
        for length in [0.001, 10.0, 1e30] {
            assert!(with([0.0, 0.6 * length, 0.8 * length]).unwrap() == short, "{semantic:?} {length}");
        }
        for bad in [f32::NAN, f32::INFINITY] {
            refused(with([0.0, bad, 1.0]), &[&semantic.to_string(), "a finite number"]);
        }
    }
}

#[test]
fn vertices_that_were_moved_are_read_where_they_were_put() {
    for (format, stride) in [("set3/xyznuvtbpc", 28), ("set3/xyznuviiiwwpc", 28), ("set3/xyznuv2tbpc", 32)] {
        for packed in [false, true] {
            let bytes = one(4, 5, format, stride, packed, 3);
            let (text, mut binary) = split(&glb(&bytes));
            let at = place_of(&glb(&bytes), 0, &gltf::Semantic::Positions) + 7 * 12;
            for (axis, value) in [1.25f32, -2.5, 100.0].into_iter().enumerate() {
                binary[at + axis * 4..][..4].copy_from_slice(&value.to_le_bytes());
            }
            let new = patched(&bytes, &joined(&text, &binary)).unwrap();
            let (before, after) = (open(&bytes), open(&new));
            assert_eq!(after.vertex_buffer(0).unwrap().encoded().unwrap().is_some(), packed);
            let (old, now) = (before.mapped_vertices(0).unwrap(), after.mapped_vertices(0).unwrap());
            assert_eq!(now.positions().unwrap().nth(7), Some([-1.25, -2.5, 100.0]));
            for (i, (old, now)) in old.bytes().chunks(stride).zip(now.bytes().chunks(stride)).enumerate() {
                assert_eq!(old[12..], now[12..], "all but the position of vertex {i}");
                assert_eq!(old[..12] == now[..12], i != 7);
            }
            assert_eq!(triangles(&before, 0), triangles(&after, 0));
            assert_eq!(findings(&new), Vec::<String>::new());
            // Put back, everything decodes as before.
            let back = patched(&new, &glb(&bytes)).unwrap();
            assert_eq!(open(&back).mapped_vertices(0).unwrap().bytes(), old.bytes());
        }
    }
}

/// A different mesh, with more or fewer vertices: all attributes are encoded in the format, later parts of the file move, and the
/// other groups of the buffer are kept.
#[test]
fn a_mesh_with_other_vertices_is_packed_and_what_lies_behind_moves() {
    for (format, stride) in [("set3/xyznuvtbpc", 28), ("set3/xyznuviiiwwpc", 28), ("set3/xyznuvrpc", 24)] {
        for (rows, columns) in [(9, 11), (2, 3)] {
            for packed in [false, true] {
                let (bytes, other) =
                    (one(4, 5, format, stride, packed, 3), one(rows, columns, format, stride, packed, 9));
                let new = patched(&bytes, &glb(&other)).unwrap();
                assert_eq!(findings(&new), Vec::<String>::new());
                let (new, other) = (open(&new), open(&other));
                let (found, wanted) = (new.mapped_vertices(0).unwrap(), other.mapped_vertices(0).unwrap());
                assert_eq!(found.len(), wanted.len());
                let positions =
                    |v: &assetq::formats::wows::geometry::Vertices<'_>| v.positions().unwrap().collect::<Vec<_>>();
                // A vertex with bones is where an old one is if it is less than a hair away.
                let apart = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                let pairs = positions(&found).into_iter().zip(positions(&wanted));
                assert!(pairs.map(|(a, b)| apart(a, b)).all(|apart| apart < 3e-5));
                let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2.5 / 127.5);
                assert!(found.normals().unwrap().zip(wanted.normals().unwrap()).all(|(a, b)| near(a, b)));
                if let (Some(a), Some(b)) = (found.binormals(), wanted.binormals()) {
                    assert!(found.tangents().unwrap().zip(wanted.tangents().unwrap()).all(|(a, b)| near(a, b)));
                    assert!(a.zip(b).all(|(a, b)| near(a, b)));
                }
                assert!(found.uvs().unwrap().eq(wanted.uvs().unwrap()));
                let bones =
                    |v: &assetq::formats::wows::geometry::Vertices<'_>| v.bone_indices().map(|b| b.collect::<Vec<_>>());
                let weights =
                    |v: &assetq::formats::wows::geometry::Vertices<'_>| v.weights().map(|w| w.collect::<Vec<_>>());
                let radii =
                    |v: &assetq::formats::wows::geometry::Vertices<'_>| v.radii().map(|r| r.collect::<Vec<_>>());
                assert_eq!(
                    (bones(&found), weights(&found), radii(&found)),
                    (bones(&wanted), weights(&wanted), radii(&wanted))
                );
                assert_eq!(triangles(&new, 0), triangles(&other, 0));
                assert_eq!(new.armor_model(0).unwrap().name().unwrap(), "a.armor");
                assert_eq!(new.table("armor_plates").unwrap().len().unwrap(), 1);
            }
        }
    }
    // In a buffer of several groups, a group that grows moves the following groups.
    let bytes = demo(4, Size::Small);
    let (text, mut binary) = split(&glb(&bytes));
    let at = place_of(&glb(&bytes), 1, &gltf::Semantic::Positions);
    binary[at..at + 4].copy_from_slice(&5.0f32.to_le_bytes());
    let new = patched(&bytes, &joined(&text, &binary)).unwrap();
    let (before, after) = (open(&bytes), open(&new));
    for group in &before.groups().unwrap().groups {
        let same =
            before.mapped_vertex_bytes(group.vertices).unwrap() == after.mapped_vertex_bytes(group.vertices).unwrap();
        assert_eq!(triangles(&before, group.indices), triangles(&after, group.indices));
        let edited = before.groups().unwrap().groups[1].vertices == group.vertices;
        assert_eq!(same, !edited);
    }
}

#[test]
fn meshes_that_do_not_fit_are_refused_with_what_does() {
    let bytes = one(4, 5, "set3/xyznuviiiwwpc", 28, true, 3);
    let (text, binary) = split(&glb(&bytes));
    let number = |at: usize, value: f32| {
        let mut binary = binary.clone();
        binary[at..at + 4].copy_from_slice(&value.to_le_bytes());
        patched(&bytes, &joined(&text, &binary))
    };
    let uvs = place_of(&glb(&bytes), 0, &gltf::Semantic::TexCoords(0));
    refused(number(uvs, 1e6), &["texture coordinate", "half float"]);
    let positions = place_of(&glb(&bytes), 0, &gltf::Semantic::Positions);
    refused(number(positions, f32::NAN), &["group_00000077", "no coordinate"]);
    // A mesh without bones, with other vertices, for a format that has them: the nearest old vertices give theirs.
    let other = one(6, 5, "set3/xyznuvpc", 20, true, 3);
    let (new, notes) = noted(&bytes, &glb(&other)).unwrap();
    assert!(notes.iter().any(|note| note.contains("JOINTS_0, WEIGHTS_0 of 24 vertices")), "{notes:?}");
    assert_eq!(open(&new).mapped_vertices(0).unwrap().weights().unwrap().next(), Some([0, 75, 180, 0]));
    let mut stranger = GeometryBuilder::new();
    let (vertices, indices) = surface(2, 3, 1.0, 1);
    let mapping = |count: usize| Mapping { id: 0x99, buffer: 0, density: 5, start: 0, count: count as u32 };
    stranger.vertex_buffer("set3/xyznuvpc", 20, &pack_vertices("set3/xyznuvpc", 20, &vertices), true);
    stranger.index_buffer(2, &indices, true);
    stranger.vertex_mapping(mapping(vertices.len()));
    stranger.index_mapping(mapping(indices.len()));
    refused(patched(&bytes, &glb(&stranger.build())), &["group_00000099"]);
    let error = patched(&bytes, b"glTF\x02\0\0\0").map(drop).unwrap_err();
    assert!(!matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
}

/// A GLB that is written by hand: a mesh of five vertices in a plane, whose normals look at the viewer.
struct ByHand {
    views: Vec<Json>,
    accessors: Vec<Json>,
    binary: Vec<u8>,
    primitive: Json,
}

const CORNERS: [[f32; 3]; 5] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
const UVS: [[f32; 2]; 5] = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5], [0.25, 1.0]];
const BYTE: u32 = 5121;
const SHORT: u32 = 5123;
const INT: u32 = 5125;
const FLOAT: u32 = 5126;

impl ByHand {
    fn new() -> Self {
        let primitive = json!({ "attributes": {}, "mode": 4 });
        let mut glb = Self { views: vec![], accessors: vec![], binary: vec![], primitive };
        let ends = json!({ "min": [0, 0, 0], "max": [1, 2, 0] });
        glb.floats("POSITION", "VEC3", CORNERS.as_flattened(), ends);
        glb.floats("NORMAL", "VEC3", [[0.0f32, 0.0, 1.0]; 5].as_flattened(), json!({}));
        glb.floats("TEXCOORD_0", "VEC2", UVS.as_flattened(), json!({}));
        glb.indices(&[0, 1, 2]);
        glb
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        self.views.push(json!({ "buffer": 0, "byteOffset": self.binary.len(), "byteLength": bytes.len() }));
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    fn accessor(&mut self, component: u32, kind: &str, count: usize, more: Json) -> usize {
        let mut accessor = json!({ "componentType": component, "type": kind, "count": count });
        accessor.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, name: &str, kind: &str, numbers: &[f32], mut more: Json) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        more["bufferView"] = self.view(&bytes).into();
        self.primitive["attributes"][name] = self.accessor(FLOAT, kind, 5, more).into();
    }

    fn indices(&mut self, indices: &[u16]) {
        let view = self.view(&indices.iter().flat_map(|index| index.to_le_bytes()).collect::<Vec<u8>>());
        let accessor = self.accessor(SHORT, "SCALAR", indices.len(), json!({ "bufferView": view }));
        self.primitive["indices"] = accessor.into();
    }

    /// The GLB, after `change` of its description.
    fn build(&self, change: impl FnOnce(&mut Json)) -> Vec<u8> {
        let mut root = json!({
            "asset": { "version": "2.0" },
            "buffers": [{ "byteLength": self.binary.len() }],
            "bufferViews": self.views,
            "accessors": self.accessors,
            "meshes": [{ "name": "group_00000077", "primitives": [self.primitive] }],
            "nodes": [{ "mesh": 0, "scale": [15, 15, 15] }],
            "scenes": [{ "nodes": [0] }],
            "scene": 0,
        });
        change(&mut root);
        joined(&root.to_string(), &self.binary)
    }
}

type Written = (Vec<[f32; 3]>, Vec<[f32; 2]>, Vec<[u32; 3]>);

/// The vertices, texture coordinates and triangles of the first mesh, as it is written to a GLB and read by another reader.
fn written(bytes: &[u8]) -> Written {
    let read = gltf::Gltf::from_slice(&glb(bytes)).unwrap();
    let primitive = read.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| read.blob.as_deref());
    let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
    let turned = |[a, b, c]: [u32; 3]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap();
    let mut triangles: Vec<[u32; 3]> = indices.as_chunks().0.iter().copied().map(turned).collect();
    triangles.sort_unstable();
    let uvs = reader.read_tex_coords(0).unwrap().into_f32();
    (reader.read_positions().unwrap().collect(), uvs.collect(), triangles)
}

/// The expected triangles follow section 3.7.2.1 of the glTF specification, by hand.
#[test]
fn strips_and_fans_are_read_as_triangles() {
    let old = one(4, 5, "set3/xyznuvpc", 20, false, 3);
    let (list, strip, fan) = (4, 5, 6);
    for (mode, indices, wanted) in [
        (list, &[0, 1, 2, 1, 3, 2][..], &[[0, 1, 2], [1, 3, 2]][..]),
        (strip, &[0, 1, 2, 3, 4], &[[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        // Two strips, joined by triangles without an area.
        (strip, &[0, 1, 2, 2, 3, 1], &[[0, 1, 2], [1, 3, 2]]),
        (fan, &[0, 1, 3, 2], &[[0, 1, 3], [0, 3, 2]]),
    ] {
        let mut glb = ByHand::new();
        glb.indices(indices);
        glb.primitive["mode"] = mode.into();
        let (positions, uvs, triangles) = written(&patched(&old, &glb.build(|_| ())).unwrap());
        assert_eq!((&positions[..], &uvs[..]), (&CORNERS[..], &UVS[..]));
        assert_eq!(triangles, wanted, "mode {mode}: {indices:?}");
    }
    // Without indices, the vertices are taken in order.
    let mut glb = ByHand::new();
    glb.primitive.as_object_mut().unwrap().remove("indices");
    glb.primitive["mode"] = strip.into();
    assert_eq!(written(&patched(&old, &glb.build(|_| ())).unwrap()).2, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
    for (mode, name) in [(0, "Points"), (1, "Lines"), (3, "LineStrip")] {
        glb.primitive["mode"] = mode.into();
        refused(patched(&old, &glb.build(|_| ())), &["group_00000077", name]);
    }
}

#[test]
fn numbers_are_read_however_they_are_stored() {
    let old = one(4, 5, "set3/xyznuvpc", 20, false, 3);
    let uvs = |glb: &ByHand| written(&patched(&old, &glb.build(|_| ())).unwrap()).1;
    let near = |found: &[[f32; 2]], wanted: &[[f32; 2]]| {
        let pairs = found.as_flattened().iter().zip(wanted.as_flattened());
        assert!(found.len() == wanted.len() && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}");
    };
    // Whole numbers stand for fractions of the greatest one: 13107 / 65535 and 51 / 255 are 0.2.
    let shorts: [[u16; 2]; 5] = [[0, 65535], [13107, 32768], [0, 0], [0, 0], [65535, 0]];
    let bytes: [[u8; 4]; 5] = [[0, 255, 9, 9], [51, 128, 9, 9], [0; 4], [0; 4], [255, 0, 9, 9]];
    let wanted = [[0.0, 1.0], [0.2, 0.5], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]];
    let mut glb = ByHand::new();
    let view = glb.view(&shorts.as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
    let accessor = glb.accessor(SHORT, "VEC2", 5, json!({ "bufferView": view, "normalized": true }));
    glb.primitive["attributes"]["TEXCOORD_0"] = accessor.into();
    near(&uvs(&glb), &wanted);
    let view = glb.view(bytes.as_flattened());
    glb.views[view]["byteStride"] = 4.into();
    let accessor = glb.accessor(BYTE, "VEC2", 5, json!({ "bufferView": view, "normalized": true }));
    glb.primitive["attributes"]["TEXCOORD_0"] = accessor.into();
    near(&uvs(&glb), &[[0.0, 1.0], [0.2, 0.502], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);

    // Interleaved: position, texture coordinate and four bytes of something else for each vertex.
    let mut glb = ByHand::new();
    let vertex = |(corner, uv): (&[f32; 3], &[f32; 2])| -> Vec<u8> {
        let numbers = corner.iter().chain(uv).flat_map(|number| number.to_le_bytes());
        numbers.chain([0xFF; 4]).collect()
    };
    let view = glb.view(&CORNERS.iter().zip(&UVS).flat_map(vertex).collect::<Vec<u8>>());
    glb.views[view]["byteStride"] = 24.into();
    let ends = json!({ "bufferView": view, "min": [0, 0, 0], "max": [1, 2, 0] });
    let (corners, uvs_of) = (
        glb.accessor(FLOAT, "VEC3", 5, ends),
        glb.accessor(FLOAT, "VEC2", 5, json!({ "bufferView": view, "byteOffset": 12 })),
    );
    glb.primitive["attributes"]["POSITION"] = corners.into();
    glb.primitive["attributes"]["TEXCOORD_0"] = uvs_of.into();
    let (positions, uvs_read, _) = written(&patched(&old, &glb.build(|_| ())).unwrap());
    assert_eq!((&positions[..], &uvs_read[..]), (&CORNERS[..], &UVS[..]));

    // Sparse: vertices 2 and 4 are elsewhere; all texture coordinates but the last one are zeros without bytes.
    let mut glb = ByHand::new();
    let (indices, values) =
        (glb.view(&[2, 4]), glb.view(&[0.0f32, 1.0, 0.25, 0.0, 3.0, 0.0].map(f32::to_le_bytes).concat()));
    let sparse = |indices: usize, kind: u32, values: usize, count: usize| {
        let indices = json!({ "bufferView": indices, "componentType": kind });
        json!({ "count": count, "indices": indices, "values": { "bufferView": values } })
    };
    glb.accessors[0]["sparse"] = sparse(indices, BYTE, values, 2);
    let (last, value) = (glb.view(&4u32.to_le_bytes()), glb.view(&[0.75f32, 0.25].map(f32::to_le_bytes).concat()));
    let accessor = glb.accessor(FLOAT, "VEC2", 5, json!({ "sparse": sparse(last, INT, value, 1) }));
    glb.primitive["attributes"]["TEXCOORD_0"] = accessor.into();
    let (positions, uvs_read, _) = written(&patched(&old, &glb.build(|_| ())).unwrap());
    let moved = [CORNERS[0], CORNERS[1], [0.0, 1.0, 0.25], CORNERS[3], [0.0, 3.0, 0.0]];
    assert_eq!((&positions[..], &uvs_read[..4], uvs_read[4]), (&moved[..], &[[0.0; 2]; 4][..], [0.75, 0.25]));

    // Numbers that lie elsewhere, overlap or are out of order.
    let damaged = |change: &dyn Fn(&mut Json), word: &str| {
        let error = patched(&old, &glb.build(change)).unwrap_err().to_string();
        assert!(error.contains(word), "{error:?} does not say {word:?}");
    };
    damaged(&|root| root["accessors"][0]["sparse"]["indices"]["byteOffset"] = 1.into(), "leaves its buffer");
    damaged(&|root| root["accessors"][0]["sparse"]["count"] = 6.into(), "6 sparse elements of 5");
    damaged(&|root| root["accessors"][0]["sparse"]["indices"]["bufferView"] = 0.into(), "out of order");
    damaged(&|root| root["bufferViews"][0]["byteStride"] = 8.into(), "overlap");
    damaged(&|root| root["accessors"][0]["bufferView"] = 99.into(), "accessors[0].bufferView");
    damaged(&|root| root["buffers"][0]["uri"] = "ship.bin".into(), "one .glb file");
    for (member, value) in [("count", json!(6)), ("count", json!(u64::MAX)), ("byteOffset", json!(u64::MAX))] {
        damaged(&|root| root["accessors"][1][member] = value.clone(), "leaves its buffer");
    }
    for value in [0u64, 1 << 40] {
        damaged(&|root| root["accessors"][accessor]["count"] = json!(value), "");
    }
}

/// Attributes that few formats have: a vertex stores them, or cannot.
#[test]
fn bones_ids_radii_and_colours_are_stored_or_refused() {
    let mesh = |name: &str, kind: &str, of_vertex: &[f32]| {
        let mut glb = ByHand::new();
        glb.floats(name, kind, &of_vertex.repeat(5), json!({}));
        glb.build(|_| ())
    };
    let patched = |format: &str, glb: &[u8]| patched(&one(4, 5, format, 24, false, 3), glb);
    let read = |bytes: Vec<u8>| open(&bytes);

    let new = read(patched("set3/xyznuvipc", &mesh("_ID", "SCALAR", &[70.0])).unwrap());
    assert!(new.mapped_vertices(0).unwrap().ids().unwrap().eq([70; 5]));
    for wrong in [7.5, -1.0, 16_777_216.0] {
        let what = format!("_ID: {wrong} does not fit: a whole number does");
        refused(patched("set3/xyznuvipc", &mesh("_ID", "SCALAR", &[wrong])), &[&what]);
    }
    let new = read(patched("set3/xyznuvoipc", &mesh("_COLOUR", "VEC4", &[1.0, 2.0, 3.0, 255.0])).unwrap());
    assert!(new.mapped_vertices(0).unwrap().colours().unwrap().eq([[1, 2, 3, 255]; 5]));
    for wrong in [256.0, 0.5] {
        let what = format!("_COLOUR: [1.0, 2.0, 3.0, {wrong:?}] does not fit: four bytes do");
        refused(patched("set3/xyznuvoipc", &mesh("_COLOUR", "VEC4", &[1.0, 2.0, 3.0, wrong])), &[&what]);
    }
    let new = read(patched("set3/xyznuvrpc", &mesh("_RADIUS", "SCALAR", &[0.5])).unwrap());
    assert!(new.mapped_vertices(0).unwrap().radii().unwrap().eq([0.5; 5]));

    // Each vertex has four joints, and the file stores three. Weights are parts of 255.
    let old = one(4, 5, "set3/xyznuviiiwwpc", 28, true, 3);
    let mut glb = ByHand::new();
    let view = glb.view(&[1, 2, 3, 4].repeat(5));
    glb.primitive["attributes"]["JOINTS_0"] = glb.accessor(BYTE, "VEC4", 5, json!({ "bufferView": view })).into();
    glb.floats("WEIGHTS_0", "VEC4", &[0.3, 0.4, 0.2, 0.1].repeat(5), json!({}));
    let (new, notes) = noted(&old, &glb.build(|_| ())).unwrap();
    let kept =
        "mesh \"group_00000077\": 5 vertices with more than three bones; those with the greatest weights are kept";
    assert!(notes.iter().any(|note| note == kept), "{notes:?}");
    let weights = [(2, 113), (1, 85), (3, 57)];
    assert!(open(&new).mapped_vertices(0).unwrap().influences().unwrap().eq([weights; 5]));
}

/// A file of a later build: its vertices can be moved, because positions come first in each format.
#[test]
fn vertices_of_an_unknown_format_are_moved_and_not_added() {
    let (vertices, indices) = surface(4, 5, 20.0, 3);
    let bytes: Vec<u8> = vertices.iter().flat_map(|v| [&bytes_of(v.position)[..], &[9; 8]].concat()).collect();
    let mut builder = GeometryBuilder::new();
    let mapping = |count: usize| Mapping { id: 0x77, buffer: 0, density: 5, start: 0, count: count as u32 };
    builder.vertex_buffer("set3/xyzq", 20, &bytes, false);
    builder.index_buffer(2, &indices, false);
    builder.vertex_mapping(mapping(vertices.len()));
    builder.index_mapping(mapping(indices.len()));
    let old = builder.build();
    let (text, mut binary) = split(&glb(&old));
    let first = place_of(&glb(&old), 0, &gltf::Semantic::Positions);
    binary[first..first + 4].copy_from_slice(&0.5f32.to_le_bytes());
    let new = open(&patched(&old, &joined(&text, &binary)).unwrap()).mapped_vertices(0).unwrap().bytes().to_vec();
    assert_eq!((&new[4..], f32::from_le_bytes(new[..4].try_into().unwrap())), (&bytes[4..], -0.5));
    let what = "its vertex format is not known, so that its vertices can move and no more";
    refused(patched(&old, &ByHand::new().build(|_| ())), &["group_00000077", what]);
}

fn bytes_of(position: [f32; 3]) -> Vec<u8> {
    position.map(f32::to_le_bytes).as_flattened().to_vec()
}

#[test]
fn what_a_glb_has_beside_the_groups_is_named() {
    let old = one(4, 5, "set3/xyznuvpc", 20, false, 3);
    let mut glb = ByHand::new();
    let required = json!(["KHR_draco_mesh_compression"]);
    let needs = patched(&old, &glb.build(|root| root["extensionsRequired"] = required.clone()));
    refused(needs, &["KHR_draco_mesh_compression", "export it without"]);
    glb.floats("COLOR_0", "VEC3", CORNERS.as_flattened(), json!({}));
    let more = |root: &mut Json| {
        let mut mesh = root["meshes"][0].clone();
        mesh["name"] = "Cube".into();
        root["meshes"].as_array_mut().unwrap().push(mesh);
    };
    let Patched { left_out, notes, .. } = patched_in_part(&old, &glb.build(more)).unwrap();
    assert!(notes.iter().any(|note| note.contains("group_00000077") && note.contains("COLOR_0")), "{notes:?}");
    assert!(left_out.len() == 1 && left_out[0].contains("\"Cube\" is left out"), "{left_out:?}");
    let two = |root: &mut Json| {
        let primitive = root["meshes"][0]["primitives"][0].clone();
        root["meshes"][0]["primitives"].as_array_mut().unwrap().push(primitive);
    };
    let (_, notes) = noted(&old, &glb.build(two)).unwrap();
    let drawn = "mesh \"group_00000077\": it has 2 materials; the render group draws all of it with its own one";
    assert!(notes.iter().any(|note| note == drawn), "{notes:?}");

    // Armour goes out with the meshes. It is named once it is edited.
    let (text, mut binary) = split(&self::glb(&old));
    assert!(text.contains("a.armor"), "{text}");
    let armor = place_of(&self::glb(&old), 1, &gltf::Semantic::Positions);
    binary[armor..armor + 4].copy_from_slice(&(-7.0f32).to_le_bytes());
    let Patched { new, left_out, .. } = patched_in_part(&old, &joined(&text, &binary)).unwrap();
    assert!(new == old && left_out.len() == 1 && left_out[0].contains("a.armor"), "{left_out:?}");
}

/// Materials of plates and ids of mappings: two or four bytes, at the places that the format document says.
#[test]
fn materials_and_ids_are_written_in_place() {
    let bytes = one(4, 5, "set3/xyznuvpc", 20, true, 3);
    let geometry = open(&bytes);
    let write = |table: &str, column: usize, value: Value<'static>| {
        let set = vec![(0, vec![(column, value)])];
        let pieces: Pieces = geometry.write(&[TableEdits { table: table.into(), set, ..Default::default() }])?;
        assert!(pieces.is_in_place(bytes.len()));
        Ok(pieces.bytes(&bytes))
    };
    let differ = |new: &[u8]| (0..bytes.len()).filter(|&i| bytes[i] != new[i]).collect::<Vec<_>>();
    let plate = geometry.armor_model(0).unwrap().span().unwrap().0 as usize + 0x20;
    let new = write("armor_plates", 2, 250u32.into()).unwrap();
    assert_eq!(
        (differ(&new), new[plate], open(&new).table("armor_plates").unwrap().len().unwrap()),
        (vec![plate], 250, 1)
    );
    assert_eq!(differ(&write("armor_plates", 4, 2u32.into()).unwrap()), [plate + 2]);
    // The vertex mappings begin after the header.
    let new = write("vertex_mappings", 1, Value::Id32(0x0102_0304)).unwrap();
    assert_eq!((differ(&new), &new[0x48..0x4C]), (vec![0x48, 0x49, 0x4A, 0x4B], &[4, 3, 2, 1][..]));
    refused(write("vertices", 2, 1.0f32.into()), &["vertices"]);
}

/// An edit that fits by itself, and leaves triangles without their vertices.
#[test]
fn edits_that_would_damage_the_file_are_refused() {
    let old = demo(1, Size::Small);
    let asset = Asset::open(Source::from_vec("ship.geometry", old.clone())).unwrap();
    let table = asset.reader().table("vertex_mappings").unwrap();
    let column = table.columns().iter().position(|column| column.name == "texel_density").unwrap();
    let density = |row| table.value(row, column).unwrap().into_owned();
    assert_ne!(density(0), density(1));
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("ship.geometry");
    let mut editor = Editor::new(&asset).unwrap();
    editor.set_cell("vertex_mappings", 0, column, density(1)).unwrap();
    let written = editor.finish().unwrap().write(&to, Overwrite::Refuse).map(|_| old);
    refused(written, &["the file would be damaged by these edits", "indices in range", "no vertices that fit"]);
    assert!(!to.exists());
}

/// The flags of a vertex buffer say what its format says.
#[test]
fn flags_that_contradict_the_format_are_found() {
    let bytes = demo(1, Size::Small);
    let header = i64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
    for (at, name) in [(header + 0x1E, "skinned"), (header + 0x1F, "bumped")] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let found = findings(&damaged);
        assert!(found.iter().any(|found| found.contains(&format!("flag {name} is"))), "{found:?}");
    }
}

#[test]
fn hostile_glbs_and_files_never_panic() {
    let bytes = demo(5, Size::Small);
    let first = glb(&bytes);
    let mut rng = fastrand::Rng::with_seed(5);
    for round in 0..160 {
        let (mut file, mut hostile) = (bytes.clone(), first.clone());
        for _ in 0..rng.usize(1..5) {
            if round % 2 == 0 {
                let at = if rng.bool() { rng.usize(..hostile.len().min(9000)) } else { rng.usize(..hostile.len()) };
                hostile[at] = rng.u8(..);
            } else {
                let at = if rng.bool() { rng.usize(..600) } else { rng.usize(..file.len()) };
                file[at] = rng.u8(..);
                let at = place_of(&first, 0, &gltf::Semantic::Positions) + split(&first).0.len() + 28;
                hostile[at] ^= 1;
            }
        }
        let Ok(geometry) = Geometry::open(Source::from_vec("x.geometry", file.clone())) else { continue };
        if let Ok(Some(pieces)) = geometry.with_meshes(&hostile) {
            let _ = Geometry::open(Source::from_vec("x.geometry", pieces.bytes(&file)));
        }
    }
}

#[test]
fn meshes_of_real_files_go_out_and_come_back() {
    let Some(folder) = std::env::var_os("ASSETQ_SAMPLES") else {
        println!("skipped: ASSETQ_SAMPLES is not set");
        return;
    };
    for file in std::fs::read_dir(std::path::Path::new(&folder).join("geometry")).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let geometry = open(&bytes);
        if bytes.len() > 1_000_000 || geometry.groups().is_ok_and(|groups| groups.groups.is_empty()) {
            continue;
        }
        let out = glb(&bytes);
        assert!(patched(&bytes, &out).unwrap() == bytes, "{}", path.display());
        let (text, mut binary) = split(&out);
        let at = place_of(&out, 0, &gltf::Semantic::Positions);
        let x = f32::from_le_bytes(binary[at..at + 4].try_into().unwrap());
        binary[at..at + 4].copy_from_slice(&(x + 0.5).to_le_bytes());
        let new = patched(&bytes, &joined(&text, &binary)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(findings(&new).len() <= findings(&bytes).len(), "{}: {:?}", path.display(), findings(&new));
        let after = open(&new);
        let mut moved = 0;
        for mapping in 0..geometry.vertex_mappings().unwrap().len() {
            let (old, now) =
                (geometry.mapped_vertex_bytes(mapping).unwrap(), after.mapped_vertex_bytes(mapping).unwrap());
            moved += usize::from(old != now);
        }
        assert_eq!(moved, 1, "{}", path.display());
    }
}

/// A `.splash` file, edited by rows, read back and compared on the way, and undone.
fn splash_with(bytes: &[u8], edits: Vec<Edit>) -> Result<Vec<u8>> {
    let asset = Asset::open(Source::from_vec("ship.splash", bytes.to_vec()))?;
    let mut editor = Editor::new(&asset)?;
    edits.into_iter().try_for_each(|edit| editor.edit(edit).map(drop))?;
    let plan = editor.finish()?;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("new.splash");
    plan.write(&to, Overwrite::Refuse)?.commit()?;
    let new = std::fs::read(to).unwrap();
    assert_eq!(plan.pieces().inverse(bytes).bytes(&new), bytes);
    Ok(new)
}

fn cells<const N: usize>(cells: [(&'static str, f32); N]) -> Vec<(std::borrow::Cow<'static, str>, Value<'static>)> {
    cells.into_iter().map(|(name, number)| (name.into(), number.into())).collect()
}

fn of_box(name: &str, change: Change) -> Edit {
    Edit::new(Some("boxes"), Value::owned(name.to_owned()), change)
}

#[test]
fn splash_boxes_are_moved_come_and_go() {
    let (one, other) = (("CM_SB_bow_1", [-1.0; 3], [0.5; 3]), ("CM_SB_aft", [2.0; 3], [4.0; 3]));
    let old = splash(&[one, other]);
    assert_eq!(splash_with(&old, vec![]).unwrap(), old);
    let moved = Change::Set(cells([("min_y", -3.0), ("max_x", 7.0)]));
    let new = splash_with(&old, vec![of_box("CM_SB_bow_1", moved)]).unwrap();
    assert_eq!(new, splash(&[("CM_SB_bow_1", [-1.0, -3.0, -1.0], [7.0, 0.5, 0.5]), other]));
    let corners = [("min_x", 1.0), ("min_y", 1.0), ("min_z", 1.0), ("max_x", 2.0), ("max_y", 2.0), ("max_z", 2.0)];
    let renamed = Change::Set(vec![("name".into(), "CM_SB_stern".into())]);
    let edits = vec![
        of_box("CM_SB_bow_1", Change::Remove),
        of_box("CM_SB_aft", renamed),
        of_box("CM_SB_tower", Change::Add(cells(corners))),
    ];
    let new = splash_with(&old, edits).unwrap();
    assert_eq!(new, splash(&[("CM_SB_stern", other.1, other.2), ("CM_SB_tower", [1.0; 3], [2.0; 3])]));
    // Bytes after the boxes are kept.
    let with_more = [&old[..], b"more"].concat();
    let new = splash_with(&with_more, vec![of_box("CM_SB_bow_1", Change::Remove)]).unwrap();
    assert_eq!(new, [&splash(&[other])[..], b"more"].concat());
}

#[test]
fn a_splash_box_goes_out_as_json_and_comes_back() {
    let old = splash(&[("CM_SB_bow_1", [-1.0; 3], [0.5; 3])]);
    let asset = Asset::open(Source::from_vec("ship.splash", old)).unwrap();
    let corner = |x: f32| Value::List(vec![x.into(), (-1.0f32).into(), (-1.0f32).into()]);
    let tree = |name: &'static str, x: f32| Value::Map(vec![("name".into(), name.into()), ("min".into(), corner(x))]);
    let made = |name: &'static str, x: f32| {
        let mut editor = Editor::new(&asset).unwrap();
        editor.entry("CM_SB_bow_1", tree(name, x))?;
        let pieces = editor.finish()?.pieces().clone();
        Ok::<_, assetq::Error>(pieces.bytes(asset.source().bytes()))
    };
    assert_eq!(made("CM_SB_bow_1", -1.0).unwrap(), asset.source().bytes());
    let moved = splash(&[("CM_SB_bow_2", [-2.0, -1.0, -1.0], [0.5; 3])]);
    assert_eq!(made("CM_SB_bow_2", -2.0).unwrap(), moved);
    refused(made("CM_SB_bow_1", 2.0), &["column min_x", "2 does not fit"]);
}

#[test]
fn splash_boxes_that_do_not_fit_are_refused_with_what_does() {
    let old = splash(&[("CM_SB_bow_1", [-1.0; 3], [0.5; 3])]);
    let long = "n".repeat(256);
    for (name, change, words) in [
        ("CM_SB_bow_1", Change::Set(cells([("max_z", -2.0)])), &["min_z", "-1 does not fit", "-2"][..]),
        ("CM_SB_bow_1", Change::Set(vec![("name".into(), Value::owned(long))]), &["column name", "at most 255 bytes"]),
        ("CM_SB_bow_1", Change::Set(vec![("name".into(), "Bögen".into())]), &["column name", "1 to 255 ASCII"]),
        ("new", Change::Add(cells([("min_x", 1.0)])), &["\"new\"", "column min_y is missing"]),
    ] {
        refused(splash_with(&old, vec![of_box(name, change)]), words);
    }
    // A box after damage is not known, so neither is the number of boxes.
    let torn = &splash(&[("CM_SB_bow_1", [-1.0; 3], [0.5; 3]), ("CM_SB_aft", [2.0; 3], [4.0; 3])])[..60];
    assert!(splash_with(torn, vec![of_box("CM_SB_bow_1", Change::Remove)]).is_err());
}

#[test]
fn real_splash_files_are_the_same_without_an_edit_and_after_its_undo() {
    for path in crate::common::files_in("splash") {
        let old = std::fs::read(&path).unwrap();
        assert_eq!(splash_with(&old, vec![]).unwrap(), old);
        let name = Splash::open(Source::from_vec("x.splash", old.clone())).unwrap();
        let name = name.boxes().unwrap().next().unwrap().unwrap().name.to_owned();
        let moved = splash_with(&old, vec![of_box(&name, Change::Set(cells([("min_x", -500.0)])))]).unwrap();
        assert!(moved.len() == old.len() && moved != old);
        assert_eq!(splash_with(&old, vec![of_box(&name, Change::Remove)]).unwrap().len() + 28 + name.len(), old.len());
    }
}
