//! Whole `.geometry` and `.splash` files: generated, hostile and real ones.

use crate::common::files_in;
use assetq::formats::Reader;
use assetq::formats::report::Progress;
use assetq::formats::wows::geometry::mesh::Pairing;
use assetq::formats::wows::geometry::{Attribute, Geometry, Splash, VertexFormat, material_name};
use assetq::formats::wows::models::{Model, RenderSet};
use assetq::table::{Tree, Value, column_index};
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::geometry::{
    GeometryBuilder, HullShape, Mapping, PlateShape, Vertex, demo, demo_splash, encd, encode_vertices, pack_half,
    pack_normal, pack_vertices, splash, surface,
};

fn open(bytes: Vec<u8>) -> Geometry {
    Geometry::open(Source::from_vec("test.geometry", bytes)).unwrap()
}

fn findings(reader: &dyn Reader) -> Vec<String> {
    let report = reader.verify(&Progress::default());
    report.checks.iter().flat_map(|c| c.findings().iter().map(|e| format!("{}: {e}", c.name))).collect()
}

/// Reads every cell of every table, every entry and every check; gives how many cells could be read.
fn read_everything(reader: &dyn Reader) -> usize {
    let mut cells = 0;
    for table in reader.tables() {
        let mut rows = table.cursor(0);
        // A hostile count may promise more rows than a test has time for.
        for _ in 0..40 {
            if !matches!(rows.advance(), Ok(true)) {
                break;
            }
            cells += (0..table.columns().len()).filter(|&c| rows.value(c).is_ok()).count();
        }
    }
    reader.sections();
    reader.facts();
    let _ = reader.cat("vertex_buffers/0", &mut Tree::default());
    let _ = reader.cat("CM_PA_united.armor", &mut Tree::default());
    reader.verify(&Progress::default());
    cells
}

fn triangle_set(indices: impl Iterator<Item = u32>) -> Vec<[u32; 3]> {
    let all: Vec<u32> = indices.collect();
    all.chunks_exact(3)
        .map(|t| {
            let least = (0..3).min_by_key(|&i| t[i]).unwrap();
            [t[least], t[(least + 1) % 3], t[(least + 2) % 3]]
        })
        .collect()
}

mod reading {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let (vertices, indices) = surface(6, 9, 4.0, 7);
        let bytes = pack_vertices("set3/xyznuv2tbpc", 32, &vertices);
        for (packed, width) in [(true, 2), (false, 2), (true, 4), (false, 4)] {
            let mut builder = GeometryBuilder::new();
            builder.vertex_buffer("set3/xyznuv2tbpc", 32, &bytes, packed);
            builder.index_buffer(width, &indices, packed);
            let count = (vertices.len() as u32, indices.len() as u32);
            builder.vertex_mapping(Mapping { id: 0xA1, buffer: 0, density: 5, start: 0, count: count.0 });
            builder.index_mapping(Mapping { id: 0xB1, buffer: 0, density: 5, start: 0, count: count.1 });
            let g = open(builder.build());
            assert_eq!(findings(&g), [""; 0]);
            let buffer = g.vertex_buffer(0).unwrap();
            assert_eq!(buffer.encoded().unwrap().is_some(), packed);
            assert_eq!(g.vertex_bytes(0).unwrap(), bytes);
            let mut own = vec![0; buffer.size().unwrap()];
            buffer.decode_into(&mut own).unwrap();
            assert_eq!(own, bytes);
            let read = g.indices(0).unwrap();
            assert_eq!(triangle_set(read.iter()), triangle_set(indices.iter().copied()));
            // A buffer that starts between two words takes the detour.
            let mut own = vec![0; indices.len() * width + 1];
            g.index_buffer(0).unwrap().decode_into(&mut own[1..]).unwrap();
            let words = own[1..].chunks_exact(width).map(|b| b.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)));
            assert_eq!(words.collect::<Vec<_>>(), read.iter().collect::<Vec<_>>());
            let v = g.mapped_vertices(g.vertex_mapping(0xA1).unwrap().unwrap()).unwrap();
            assert_eq!(v.positions().unwrap().nth(11), Some(vertices[11].position));
            let uv2 = v.uv2s().unwrap().nth(30).unwrap();
            assert!((uv2[0] - vertices[30].uv2[0]).abs() < 1e-3 && (uv2[1] - 0.5).abs() < 1e-3);
            let tangent = v.tangents().unwrap().nth(30).unwrap();
            assert!(tangent.iter().zip(vertices[30].tangent).all(|(a, b)| (a - b).abs() < 0.008));
            assert_eq!(g.vertex_mapping(0xB1).unwrap(), None);
        }
    }

    /// Every stride that the codec knows, and block borders.
    #[test]
    fn every_stride_decodes() {
        let mut random = fastrand::Rng::with_seed(3);
        for stride in (4..=256).step_by(4) {
            let bytes: Vec<u8> = (0..stride * 300).map(|i| (i / stride) as u8 ^ random.u8(..) & 3).collect();
            let mut builder = GeometryBuilder::new();
            builder.vertex_buffer("set3/unheard_of", stride, &bytes, true);
            let g = open(builder.build());
            assert_eq!(g.vertex_bytes(0).unwrap(), bytes, "{stride}");
        }
    }

    #[test]
    fn an_unknown_format_gives_positions_and_says_what_it_left() {
        let mut builder = GeometryBuilder::new();
        let vertex = [[1.0f32, 2.0, 3.0].map(f32::to_le_bytes).as_flattened(), &[9; 8]].concat();
        builder.vertex_buffer("set4/xyzwhatever", 20, &vertex.repeat(3), false);
        let g = open(builder.build());
        let v = g.vertices(0).unwrap();
        assert_eq!(v.positions().unwrap().collect::<Vec<_>>(), [[1.0, 2.0, 3.0]; 3]);
        assert!(v.normals().is_none());
        assert_eq!(v.format().left(), 8);
        let facts = g.facts();
        let (_, said) = facts.iter().find(|(name, _)| name == "formats_not_read").unwrap();
        assert!(said.to_string().contains("only positions are read, 8 bytes a vertex left"), "{said}");
        assert!(findings(&g)[0].contains("is not known"));
    }

    #[test]
    fn the_demo_is_whole() {
        let g = open(demo(5, Size::Small));
        assert_eq!(findings(&g), [""; 0]);
        assert_eq!(demo(5, Size::Small), demo(5, Size::Small));
        assert_ne!(demo(5, Size::Small), demo(6, Size::Small));
        let groups = g.groups().unwrap();
        assert_eq!(groups.groups.len(), 5);
        assert!(groups.groups.iter().all(|g| g.pairing == Pairing::Count && g.vertices == g.indices), "{groups:?}");
        assert!(g.sections().iter().all(|s| s.name != "unmapped"));
        let s = Splash::open(Source::from_vec("demo.splash", demo_splash(5, Size::Small))).unwrap();
        assert_eq!(findings(&s), [""; 0]);
        assert_eq!(s.boxes().unwrap().count(), 8);
    }

    #[test]
    fn all_zero_is_an_empty_file() {
        let asset = Asset::open(Source::from_vec("Exterior/models.geometry", vec![0; 72])).unwrap();
        assert_eq!(asset.format(), assetq::formats::wows::GEOMETRY);
        assert_eq!(findings(asset.reader()), [""; 0]);
        assert!(asset.reader().tables().iter().all(|t| t.len().unwrap() == 0));
    }

    #[test]
    fn armor_and_hulls() {
        let plate = |material, layer, x: f32| PlateShape {
            material,
            layer,
            triangles: vec![[[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 0.0, 1.0]]],
        };
        let mut builder = GeometryBuilder::new();
        builder.armor("CM_A", vec![plate(12, 1, 0.5), plate(300, 2, 1.5)]);
        builder.armor("CM_B", vec![]);
        builder.armor("CM_C", vec![plate(47, 3, 2.5)]);
        builder.collision("", vec![HullShape::cuboid([0.0; 3], [1.0, 2.0, 3.0])]);
        let g = open(builder.build());
        let about = findings(&g);
        assert_eq!(about.len(), 0, "{about:?}");
        assert_eq!(material_name(12), Some("Bottom"));
        let table = g.table("armor_triangles").unwrap();
        assert_eq!(table.len().unwrap(), 3);
        let cell = |row, name| table.value(row, column_index(table.as_ref(), name).unwrap()).unwrap();
        assert_eq!(cell(1, "material_id"), Value::Uint(300));
        assert_eq!(cell(1, "material"), Value::Null);
        assert_eq!(cell(2, "model"), Value::Uint(2));
        assert_eq!(cell(2, "x1"), Value::F32(2.5));
        assert_eq!(cell(2, "z2"), Value::F32(1.0));
        let hull = g.collision_model(0).unwrap().hulls().unwrap().next().unwrap().unwrap();
        assert_eq!((hull.vertices().len(), hull.edges().len(), hull.face_count()), (8, 12, 6));
        assert_eq!(hull.bounds(), Some(([0.0; 3], [1.0, 2.0, 3.0])));
        assert_eq!(g.table("hull_vertices").unwrap().value(7, 5).unwrap(), Value::F32(3.0));
        assert!(g.table("hull_vertices").unwrap().value(8, 5).is_err());
    }

    #[test]
    fn entries_are_shown() {
        let g = open(demo(5, Size::Small));
        let show = |entry: &str| {
            let mut tree = Tree::default();
            g.cat(entry, &mut tree).unwrap().then(|| tree.into_value().to_string())
        };
        let id = g.vertex_mappings().unwrap()[1].mapping_id.get();
        let shown = show(&format!("0x{id:08X}")).unwrap();
        assert!(shown.starts_with("{vertex_mapping: {index: 1, mapping_id: 0x"), "{shown}");
        assert!(shown.contains("pairing: texel density and count"), "{shown}");
        assert!(show("CM_PA_united.armor").unwrap().contains("triangles: 12"));
        assert!(show("index_buffers/0").unwrap().contains("index_size: 2"));
        for absent in ["0x00000001", "index_buffers/9", "nothing", ""] {
            assert_eq!(show(absent), None, "{absent}");
        }
    }
}

mod pairing {
    use super::*;

    fn two_alike(turned: bool) -> Geometry {
        alike(turned, [10, 11])
    }

    /// The same, whose vertex mappings have these ids.
    fn alike(turned: bool, ids: [u32; 2]) -> Geometry {
        let (vertices, indices) = surface(4, 5, 4.0, 1);
        // The same mesh again, with its vertices in another order.
        let n = vertices.len() as u32;
        let mut order: Vec<u32> = (0..n).collect();
        fastrand::Rng::with_seed(8).shuffle(&mut order);
        let other: Vec<_> = order.iter().map(|&i| vertices[i as usize]).collect();
        let place = |i: u32| order.iter().position(|&o| o == i).unwrap() as u32;
        let other_indices: Vec<u32> = indices.iter().map(|&i| place(i)).collect();
        let mut builder = GeometryBuilder::new();
        let all = [vertices, other].concat();
        let all_indices = if turned { [other_indices, indices].concat() } else { [indices, other_indices].concat() };
        let half = all_indices.len() as u32 / 2;
        builder.vertex_buffer("set3/xyznuvtbpc", 28, &pack_vertices("set3/xyznuvtbpc", 28, &all), true);
        builder.index_buffer(2, &all_indices, false);
        for (i, id) in (0..).zip(ids) {
            builder.vertex_mapping(Mapping { id, buffer: 0, density: 0, start: n * i, count: n });
            builder.index_mapping(Mapping { id: 20 + i, buffer: 0, density: 0, start: half * i, count: half });
        }
        open(builder.build())
    }

    #[test]
    fn normals_decide_between_ranges_of_one_size() {
        for turned in [false, true] {
            let g = two_alike(turned);
            let groups = &g.groups().unwrap().groups;
            let pairs: Vec<_> = groups.iter().map(|g| (g.indices, g.vertices)).collect();
            assert_eq!(pairs, if turned { [(0, 1), (1, 0)] } else { [(0, 0), (1, 1)] });
            assert!(groups.iter().all(|g| g.pairing == Pairing::Normals), "{groups:?}");
        }
    }

    #[test]
    fn render_sets_name_exactly() {
        let g = two_alike(false);
        let set = |name: &str, vertices, indices| RenderSet {
            name: name.into(),
            material: Some("steel".into()),
            mfm: None,
            vertices,
            indices,
        };
        let model = Model {
            name: "ship.model".into(),
            render_sets: vec![set("bow", 11, 20), set("none", 1, 2), set("stern", 10, 21)],
            lods: vec![vec![0, 2], vec![2]],
            ..Model::default()
        };
        let groups = g.groups_of(&[model]).unwrap();
        let found: Vec<_> = groups.groups.iter().map(|g| (g.name.as_str(), g.vertices, g.indices, &*g.lods)).collect();
        assert_eq!(found, [("bow", 1, 0, &[0][..]), ("stern", 0, 1, &[0, 1][..])]);
        assert_eq!(groups.notes, ["1 render sets name mappings that this file does not have"]);
        // Of two mappings with one id the first counts.
        let model = Model { render_sets: vec![set("bow", 10, 20)], ..Model::default() };
        assert_eq!(alike(false, [10, 10]).groups_of(&[model]).unwrap().groups[0].vertices, 0);
    }

    #[test]
    fn triangles_are_the_same_whichever_corner_they_begin_with() {
        let content = |indices: &[u32]| {
            let mut builder = GeometryBuilder::new();
            builder.index_buffer(2, indices, false);
            builder.index_mapping(Mapping { id: 1, buffer: 0, density: 0, start: 0, count: indices.len() as u32 });
            let g = open(builder.build());
            let table = g.table("index_mappings").unwrap();
            let column = column_index(&*table, "content").unwrap();
            table.value(0, column).unwrap().into_owned()
        };
        let plain = content(&[0, 1, 2, 3, 5, 4]);
        assert_eq!(content(&[1, 2, 0, 4, 3, 5]), plain);
        assert!(content(&[0, 2, 1, 3, 5, 4]) != plain, "this one is turned over");
        // Those that are no whole triangle are read, too.
        assert!(content(&[0, 1, 2, 3]) != content(&[0, 1, 2, 4]));
    }

    #[test]
    fn equal_ids_are_pairs() {
        let bytes = assetq_sample::geometry::many(3, 60, 1);
        let g = open(bytes);
        assert!(g.groups().unwrap().groups.iter().all(|g| g.pairing == Pairing::SameId && g.vertices == g.indices));
    }
}

mod hostile {
    use super::*;

    fn small() -> Vec<u8> {
        demo(1, Size::Small)
    }

    fn put(bytes: &mut [u8], at: usize, value: impl AsRef<[u8]>) {
        bytes[at..at + value.as_ref().len()].copy_from_slice(value.as_ref());
    }

    /// Where the struct of vertex buffer 0 of the demo lies.
    fn vertices_struct(bytes: &[u8]) -> usize {
        i64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize
    }

    #[test]
    fn payloads_of_any_shorter_length_are_errors() {
        let (vertices, indices) = surface(5, 6, 4.0, 1);
        let bytes = pack_vertices("set3/xyznuvtbpc", 28, &vertices);
        let payload = encode_vertices(&bytes, 28);
        let mut of_indices = GeometryBuilder::new();
        of_indices.index_buffer(2, &indices, true);
        let g = open(of_indices.build());
        let index_payload = g.index_buffer(0).unwrap().encoded().unwrap().unwrap().payload.to_vec();
        for len in 0..payload.len() {
            let mut builder = GeometryBuilder::new();
            builder.vertex_blob("set3/xyznuvtbpc", 28, encd(vertices.len(), payload[..len].to_vec()));
            let error = open(builder.build()).vertex_bytes(0).unwrap_err();
            assert!(error.to_string().starts_with("vertex buffer 0: "), "{error}");
        }
        for len in 0..index_payload.len() {
            let mut builder = GeometryBuilder::new();
            builder.index_blob(2, encd(indices.len(), index_payload[..len].to_vec()));
            let error = open(builder.build()).indices(0).unwrap_err();
            assert!(error.to_string().starts_with("index buffer 0: "), "{error}");
        }
    }

    #[test]
    fn counts_of_indices_that_cannot_be_true_are_told_before_anything_is_decoded() {
        let (_, indices) = surface(5, 6, 4.0, 1);
        let mut builder = GeometryBuilder::new();
        builder.index_buffer(2, &indices, true);
        let g = open(builder.build());
        let payload = g.index_buffer(0).unwrap().encoded().unwrap().unwrap().payload.to_vec();
        let most = (payload.len() - 17 + 1) * 3;
        for (count, says) in [
            (indices.len() + 1, "whole triangles"),
            (most, "more than the payload can hold"),
            (3 << 28, "more than the payload can hold"),
        ] {
            let mut builder = GeometryBuilder::new();
            builder.index_blob(2, encd(count, payload.clone()));
            let error = open(builder.build()).index_buffer(0).unwrap().size().unwrap_err().to_string();
            assert!(error.contains(says), "{count}: {error}");
        }
        assert_eq!(g.index_buffer(0).unwrap().size().unwrap(), indices.len() * 2);
    }

    #[test]
    fn wrong_counts_and_strides_name_the_buffer_and_leave_the_rest() {
        let whole = small();
        let at = vertices_struct(&whole);
        let data = at + i64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        let count = u32::from_le_bytes(whole[data + 4..data + 8].try_into().unwrap());
        type Change = fn(&mut [u8], usize, usize, u32);
        let changes: [(Change, &str); 12] = [
            (|b, _, data, n| put(b, data + 4, (n + 64).to_le_bytes()), "meshopt vertices"),
            (|b, _, data, n| put(b, data + 4, (n - 64).to_le_bytes()), "meshopt vertices"),
            (|b, _, data, n| put(b, data + 4, (n + 500).to_le_bytes()), "meshopt vertices"),
            (|b, _, data, _| put(b, data + 4, u32::MAX.to_le_bytes()), "vertex count"),
            (|b, _, data, _| put(b, data + 8, [0x55]), "no header of this codec"),
            (|b, at, _, _| put(b, at + 0x1C, [0, 0]), "vertex stride"),
            (|b, at, _, _| put(b, at + 0x1C, [3, 0]), "vertex stride"),
            (|b, at, _, _| put(b, at + 0x1C, [0, 2]), "vertex stride"),
            (|b, at, _, _| put(b, at + 0x18, u32::MAX.to_le_bytes()), "bytes needed"),
            (|b, at, _, _| put(b, at, (-(at as i64)).to_le_bytes()), "leads into the header"),
            (|b, at, _, _| put(b, at, i64::MIN.to_le_bytes()), "leads outside"),
            (|b, at, _, _| put(b, at, 0i64.to_le_bytes()), "null pointer"),
        ];
        for (i, (change, says)) in changes.into_iter().enumerate() {
            let mut bytes = whole.clone();
            change(&mut bytes, at, data, count);
            let g = open(bytes);
            let Err(error) = g.vertex_bytes(0) else { panic!("{i}: decodes") };
            let error = error.to_string();
            assert!(error.starts_with("vertex buffer 0: ") && error.contains(says), "{i}: {error}");
            assert_eq!(g.vertex_bytes(0).unwrap_err().to_string(), error, "the same when asked again");
            assert!(g.vertex_bytes(1).is_ok());
            assert!(g.indices(0).is_ok());
            assert_eq!(g.decode_all().len(), 1);
            assert!(findings(&g).iter().any(|f| f.contains("vertex buffer 0")), "{i}");
            read_everything(&g);
        }
    }

    #[test]
    fn an_array_out_of_the_file_leaves_the_others() {
        let mut bytes = small();
        put(&mut bytes, 0x30, i64::MAX.to_le_bytes());
        let g = open(bytes);
        assert!(g.indices_prototypes().is_err());
        assert!(g.vertex_bytes(0).is_ok() && g.decode_all().is_empty());
        assert!(g.armor_model(0).unwrap().plates().unwrap().all(|p| p.is_ok()));
        let found = findings(&g);
        assert!(found[0].starts_with("header: index buffers: pointer"), "{found:?}");
        assert!(!found.iter().any(|f| f.starts_with("vertex buffers")), "{found:?}");
    }

    /// The codec packs vertices in groups: a count that is off by less shows in the mappings.
    #[test]
    fn counts_that_are_off_by_one_are_found() {
        let whole = small();
        let at = vertices_struct(&whole);
        let data = at + i64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        let count = u32::from_le_bytes(whole[data + 4..data + 8].try_into().unwrap());
        for (count, says) in [(count + 1, "are mapped"), (count - 1, "past the end of its buffer")] {
            let mut bytes = whole.clone();
            put(&mut bytes, data + 4, count.to_le_bytes());
            let found = findings(&open(bytes));
            assert!(found.iter().any(|f| f.contains(says)), "{found:?}");
        }
    }

    #[test]
    fn a_format_name_without_end_is_an_error_of_its_buffer() {
        let whole = small();
        let at = vertices_struct(&whole);
        for size in [u32::MAX, 5, 1 << 20] {
            let mut bytes = whole.clone();
            put(&mut bytes, at + 8, size.to_le_bytes());
            let g = open(bytes);
            let error = g.vertices(0).unwrap_err().to_string();
            assert!(error.starts_with("vertex buffer 0: format name: "), "{error}");
            assert!(g.vertex_bytes(0).is_ok());
            assert!(g.vertices(1).is_ok());
        }
    }

    #[test]
    fn indices_beyond_their_vertices_are_found() {
        let (vertices, mut indices) = surface(3, 4, 4.0, 1);
        indices[5] = vertices.len() as u32;
        let mut builder = GeometryBuilder::new();
        builder.vertex_buffer("set3/xyznuvtbpc", 28, &pack_vertices("set3/xyznuvtbpc", 28, &vertices), true);
        builder.index_buffer(2, &indices, false);
        builder.vertex_mapping(Mapping { id: 1, buffer: 0, density: 0, start: 0, count: vertices.len() as u32 });
        builder.index_mapping(Mapping { id: 1, buffer: 0, density: 0, start: 0, count: indices.len() as u32 });
        let found = findings(&open(builder.build()));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("index 20 of 20 vertices"), "{found:?}");
    }

    #[test]
    fn blobs_that_lie_on_each_other_cost_no_more_than_a_few_times_the_file() {
        // Ten thousand buffers that all claim the same megabyte of zeros.
        let zeros = vec![0u8; 1 << 20];
        let mut builder = GeometryBuilder::new();
        for _ in 0..10_000 {
            builder.vertex_blob("", 4, Vec::new());
        }
        let mut bytes = builder.build();
        let structs = vertices_struct(&bytes);
        let target = bytes.len();
        bytes.extend(encd(zeros.len() / 4, encode_vertices(&zeros, 4)));
        for i in 0..10_000 {
            let at = structs + 0x20 * i;
            put(&mut bytes, at, ((target - at) as i64).to_le_bytes());
            let size = bytes.len() as u32 - target as u32;
            put(&mut bytes, at + 0x18, size.to_le_bytes());
        }
        let g = open(bytes);
        let error = g.vertex_bytes(3).unwrap_err().to_string();
        assert!(error.contains("bytes of all buffers decoded"), "{error}");
        assert_eq!(g.decode_all().len(), 1);
        assert!(findings(&g).iter().any(|f| f.contains("more than the limit")));
    }

    #[test]
    fn damaged_models_keep_what_comes_before() {
        let mut builder = GeometryBuilder::new();
        let plate = PlateShape { material: 1, layer: 1, triangles: vec![[[0.0; 3]; 3]] };
        builder.armor("a", vec![plate.clone(), plate.clone()]);
        builder.armor("b", vec![plate]);
        let mut bytes = builder.build();
        let at = i64::from_le_bytes(bytes[0x40..0x48].try_into().unwrap()) as usize;
        let data = at + 0x40;
        // The second plate of the first model says that it has more vertices than the model has bytes.
        put(&mut bytes, data + 0x20 + 0x20 + 48 + 28, 60u32.to_le_bytes());
        let g = open(bytes.clone());
        let table = g.table("armor_plates").unwrap();
        let mut rows = table.cursor(0);
        assert!(rows.advance().unwrap() && rows.advance().unwrap());
        assert_eq!(rows.value(0).unwrap(), Value::Uint(1), "the second model is read");
        let error = rows.advance().unwrap_err().to_string();
        assert!(error.starts_with("armor model 0: plate 1: "), "{error}");
        assert!(findings(&g).iter().any(|f| f.contains("armor model 0: plate 1")));
        // Whatever the count, no array is read after damage.
        put(&mut bytes, data + 0x1C, 9u32.to_le_bytes());
        let g = open(bytes);
        let plates: Vec<bool> = g.armor_model(0).unwrap().plates().unwrap().map(|plate| plate.is_ok()).collect();
        assert_eq!(plates, [true, false]);
    }

    #[test]
    fn boxes_that_do_not_fit_are_found() {
        let mut builder = GeometryBuilder::new();
        let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        builder.armor("a", vec![PlateShape { material: 1, layer: 1, triangles: vec![triangle] }]);
        let whole = builder.build();
        let plate = i64::from_le_bytes(whole[0x40..0x48].try_into().unwrap()) as usize + 0x40;
        for (corner, value, says) in [
            (plate + 4, -2.0f32, "its box is larger than its vertices need"),
            (plate + 16, 0.5, "vertex 1 leaves its box"),
            (plate - 0x10, 0.5, "leaves the model's box"),
        ] {
            let mut bytes = whole.clone();
            put(&mut bytes, corner, value.to_le_bytes());
            let found = findings(&open(bytes));
            assert!(found.iter().any(|f| f.contains(says)), "{says}: {found:?}");
        }
    }

    #[test]
    fn findings_lead_to_the_mapping_or_the_buffer() {
        let (vertices, _) = surface(2, 2, 1.0, 7);
        let mut builder = GeometryBuilder::new();
        builder.vertex_buffer("set3/xyznuv2tbpc", 32, &pack_vertices("set3/xyznuv2tbpc", 32, &vertices), false);
        builder.index_buffer(2, &[0, 1, 2, 0, 1, 2, 7, 0, 1, 2], false);
        for (id, start, count) in [(1, 0, 3), (2, 3, 4)] {
            builder.vertex_mapping(Mapping { id, buffer: 0, density: 5, start: 0, count: 3 });
            builder.index_mapping(Mapping { id, buffer: 0, density: 5, start, count });
        }
        let check = |bytes: Vec<u8>, expected: &[(&str, usize, u64)]| {
            let array = |pointer: usize| u64::from_le_bytes(bytes[pointer..pointer + 8].try_into().unwrap());
            let report = open(bytes.clone()).verify(&Progress::default());
            let found: Vec<_> = report.checks.iter().flat_map(|check| check.findings()).collect();
            let expected = expected.iter().map(|(says, pointer, skip)| (*says, Some(array(*pointer) + skip)));
            for ((says, offset), error) in expected.zip(&found) {
                assert!(error.to_string().contains(says), "{says}: {found:?}");
                assert_eq!(error.offset(), offset, "{found:?}");
            }
            found.len()
        };
        let (index_mappings, vertex_buffers, index_buffers) = (0x20, 0x28, 0x30);
        let mapped = ("items, but only 3 are mapped", vertex_buffers, 0);
        let unmapped = ("items, but only 7 are mapped", index_buffers, 0);
        let triangles = ("group 1: 4 indices are not whole triangles", index_mappings, 0x10);
        let range = ("group 1: index 7 of 3 vertices", index_mappings, 0x10);
        assert_eq!(check(builder.build(), &[mapped, unmapped, triangles, range]), 4);
        // With an id that no vertices have, groups are paired by their counts.
        builder.index_mapping(Mapping { id: 3, buffer: 0, density: 5, start: 7, count: 3 });
        let left = ("1 index mappings have no vertices that fit", index_mappings, 0);
        assert_eq!(check(builder.build(), &[mapped, left]), 2);
    }

    #[test]
    fn no_hull_is_looked_for_behind_a_damaged_one() {
        let cube = HullShape::cuboid([0.0; 3], [1.0; 3]);
        let mut builder = GeometryBuilder::new();
        builder.collision("c", vec![cube.clone(), cube]);
        let mut bytes = builder.build();
        let data = i64::from_le_bytes(bytes[0x38..0x40].try_into().unwrap()) as usize + 0x20;
        // There are nine, says the model, and the second one has more corners than the model has bytes.
        put(&mut bytes, data + 4, 9u32.to_le_bytes());
        let (corners, edges, faces) = (4 + 8 * 12, 4 + 12 * 8, 4 + 6 * (4 + 4 * 8 + 4));
        put(&mut bytes, data + 8 + corners + edges + faces, 60_000u32.to_le_bytes());
        let g = open(bytes);
        let hulls: Vec<bool> = g.collision_model(0).unwrap().hulls().unwrap().map(|hull| hull.is_ok()).collect();
        assert_eq!(hulls, [true, false]);
    }

    #[test]
    fn hulls_that_are_none_are_found() {
        let cube = HullShape::cuboid([0.0; 3], [1.0; 3]);
        let (mut open_cube, mut corner_too_many, mut fin) = (cube.clone(), cube.clone(), cube.clone());
        open_cube.faces.pop();
        corner_too_many.vertices.push([0.5; 3]);
        fin.faces.push(vec![0, 4, 3]);
        let mut builder = GeometryBuilder::new();
        builder.collision("c", vec![cube, open_cube, corner_too_many, fin]);
        let g = open(builder.build());
        let found = findings(&g);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("hull 2: 9 corners - 12 edges + 6 faces is 3, not 2"), "{found:?}");
        assert!(found[1].contains("hull 3: edge"), "{found:?}");
        let report = g.verify(&Progress::default());
        assert!(report.checks.iter().any(|c| c.detail.contains("4 hulls") && c.detail.contains("the 1 that lack")));
    }

    #[test]
    fn corners_of_a_splash_are_in_order() {
        let turned = splash(&[("t", [1.0; 3], [0.0; 3])]);
        let s = Splash::open(Source::from_vec("x.splash", turned)).unwrap();
        assert!(findings(&s)[0].contains("no corners in order"));
    }

    #[test]
    fn a_splash_box_that_cannot_be_read_is_a_finding() {
        let mut boxes = splash(&[("one", [0.0; 3], [1.0; 3]), ("two", [0.0; 3], [1.0; 3])]);
        *boxes.iter_mut().rev().find(|byte| **byte == b'o').unwrap() = 0xFF;
        let s = Splash::open(Source::from_vec("x.splash", boxes)).unwrap();
        assert!(findings(&s)[0].contains("box 1"), "{:?}", findings(&s));
    }
}

mod real {
    use super::*;

    #[test]
    fn every_sample_verifies() {
        for path in files_in("geometry").into_iter().chain(files_in("splash")) {
            let asset = Asset::open(Source::open(&path).unwrap()).unwrap();
            assert_eq!(findings(asset.reader()), [""; 0], "{}", path.display());
            assert!(asset.reader().sections().iter().all(|s| s.name != "unmapped"), "{}", path.display());
        }
    }

    #[test]
    fn every_vertex_format_is_known_and_normals_are_units() {
        let mut formats = std::collections::BTreeSet::new();
        for path in files_in("geometry") {
            let g = Geometry::open(Source::open(&path).unwrap()).unwrap();
            for i in 0..g.vertices_prototypes().unwrap().len() {
                let vertices = g.vertices(i).unwrap();
                formats.insert(g.vertex_buffer(i).unwrap().format_name().unwrap().to_owned());
                // Some vertices have no normal: three bytes in the middle.
                for n in vertices.normals().unwrap() {
                    let length = n.iter().map(|c| c * c).sum::<f32>().sqrt();
                    assert!((length - 1.0).abs() < 0.03 || length < 0.01, "{}: {n:?}", path.display());
                }
            }
        }
        assert!(formats.is_empty() || formats.len() == 7, "{formats:?}");
    }

    #[test]
    fn one_mesh_packed_by_two_versions_of_the_packer_is_the_same() {
        let files = files_in("geometry");
        let file = |name: &str| {
            let path = files.iter().find(|p| p.ends_with(name))?;
            Some(Geometry::open(Source::open(path).unwrap()).unwrap())
        };
        let Some((old, new)) = file("CM001_p2g_0.10.2.geometry").zip(file("CM001_p2g_0.11.5.geometry")) else { return };
        assert!(old.vertex_buffer(0).unwrap().encoded().unwrap().is_none());
        assert!(new.vertex_buffer(0).unwrap().encoded().unwrap().is_some());
        assert_eq!(old.vertex_bytes(0).unwrap(), new.vertex_bytes(0).unwrap());
        let triangles = |g: &Geometry| triangle_set(g.indices(0).unwrap().iter());
        assert_eq!(triangles(&old), triangles(&new));
    }

    #[test]
    fn every_shorter_prefix_of_a_blob_is_an_error() {
        for path in files_in("geometry") {
            let g = Geometry::open(Source::open(&path).unwrap()).unwrap();
            for i in 0..g.vertices_prototypes().unwrap().len() {
                let buffer = g.vertex_buffer(i).unwrap();
                let Some(encoded) = buffer.encoded().unwrap() else { continue };
                // Long payloads are cut at some hundred places, short ones everywhere.
                let mut out = vec![0; buffer.size().unwrap()];
                let step = (encoded.payload.len() * out.len() / 20_000_000).max(1);
                for len in (0..encoded.payload.len()).step_by(step) {
                    let cut = &encoded.payload[..len];
                    assert!(
                        assetq::formats::wows::geometry::encd::decode_vertices(cut, buffer.stride(), &mut out).is_err()
                    );
                }
            }
        }
    }

    #[test]
    fn pairs_by_id_where_ids_are_equal() {
        for path in files_in("geometry") {
            let g = Geometry::open(Source::open(&path).unwrap()).unwrap();
            let groups = g.groups().unwrap();
            assert_eq!(groups.groups.len(), g.index_mappings().unwrap().len(), "{}", path.display());
            let by_id = groups.groups.iter().filter(|g| g.pairing == Pairing::SameId).count();
            let merged = path.ends_with("r01_military_navigation.models.geometry");
            assert_eq!(by_id, if merged { 35 } else { 0 }, "{}", path.display());
        }
    }
}

#[test]
fn packing_is_the_inverse_of_unpacking() {
    for n in [[1.0, 0.0, 0.0], [0.6, -0.8, 0.0], [0.0, 0.0, -1.0]] {
        let [x, y, z, zero] = pack_normal(n);
        let back = assetq::formats::wows::geometry::unpack_normal([x, y, z]);
        assert!(zero == 0 && back.iter().zip(n).all(|(a, b)| (a - b).abs() < 0.008), "{n:?}");
    }
    for value in [0.25f32, -0.5, 1.0, 0.333, 100.0, 0.0] {
        assert!(
            (assetq::formats::wows::geometry::half(pack_half(value)) - value).abs() <= value.abs() / 1000.0,
            "{value}"
        );
    }
    let vertex = Vertex { id: 0xDEAD, colour: [1, 2, 3, 4], ..Vertex::default() };
    let bytes = pack_vertices("set3/xyznuvtboi", 32, &[vertex]);
    assert_eq!(bytes[28..], [1, 2, 3, 4]);
    assert!(VertexFormat::new("set3/xyznuvtboi", 32).has(Attribute::Colour));
}
