//! Single files: the reader returns the values that the builder was given, in every version that the builders write.

use super::{cases, name, path, text};
use crate::common::maps::assert_all;
use assetq::formats::Reader as _;
use assetq::formats::rusty_hearts::wdata::TriggerLayout;
use assetq::formats::vrage::vrb::VrbArchive;
use assetq::formats::wows::bwdb::{Database, State};
use assetq::formats::wows::geometry::{Geometry, Splash};
use assetq::table::{Tree, Value};
use assetq::{Asset, Source};
use assetq_sample::Size;
use assetq_sample::bwdb::DatabaseBuilder;
use assetq_sample::geometry::{GeometryBuilder, HullShape, Mapping, PlateShape, splash};
use assetq_sample::vrb::{ArchiveBuilder, Codec, TypesBuilder, ValuesBuilder, builtin, flags, member};
use assetq_sample::wdata::{Spec, write};
use assetq_sample::wdb::{self, Cell, Game, Sheet};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn open(name: &str, bytes: Vec<u8>) -> Asset {
    Asset::open(Source::from_vec(name, bytes)).unwrap()
}

/// The cells of a column as text.
fn column(asset: &Asset, table: &str, column: &str) -> Vec<String> {
    let table = asset.reader().table(table).unwrap();
    let at = assetq::table::column_index(&*table, column).unwrap();
    (0..table.len().unwrap()).map(|row| table.value(row, at).unwrap().to_string()).collect()
}

/// A number as a cell of JSON, or of a float's own width, that is the same when its bits are.
fn bits(value: &Value<'_>) -> String {
    match value {
        Value::F32(number) => format!("{:08x}", number.to_bits()),
        other => format!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn a_database_has_the_paths_texts_and_resources_that_it_was_given(
        paths in btree_map(path(), (0u32..4, 0usize..64, 0usize..1 << 20), 1..24),
        texts in btree_set(text(), 1..24),
        roomy in any::<bool>(),
    ) {
        let room = |count: usize| (count as u32 * 3 / 2 + 1).next_power_of_two();
        let mut builder = match roomy {
            true => DatabaseBuilder::default(),
            false => DatabaseBuilder::with_capacities(room(texts.len()), room(paths.len())),
        };
        for (path, (state, database, record)) in &paths {
            let id = builder.path(path);
            builder.resource(id, *database, *record, *state);
        }
        texts.iter().for_each(|text| { builder.string(text); });
        let asset = open("assets.bin", builder.build());
        let db = asset.get::<Database>().unwrap();
        let mut folders = BTreeSet::new();
        for (path, (state, _, record)) in &paths {
            folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
            folders.insert(path.clone());
            let resource = db.lookup_path(path).unwrap().unwrap();
            let expected = [State::Valid, State::Unnamed(1), State::Unnamed(2), State::Deleted][*state as usize];
            prop_assert_eq!((resource.state(), resource.record_index()), (expected, *record));
            prop_assert_eq!(db.path(resource.id()).unwrap(), Some(path.clone()));
            prop_assert!(db.lookup(!resource.id()).unwrap().is_none());
        }
        let listed: BTreeSet<String> = column(&asset, "paths", "path").into_iter().collect();
        prop_assert_eq!(&listed, &folders);
        prop_assert_eq!(column(&asset, "resources", "path").into_iter().collect::<BTreeSet<_>>(), paths.keys().cloned().collect());
        prop_assert_eq!(column(&asset, "strings", "text").into_iter().collect::<BTreeSet<_>>(), texts.clone());
        for text in &texts {
            let id = assetq_core::codec::murmur3(text.as_bytes());
            prop_assert_eq!(db.string(id).unwrap(), Some(&**text));
        }
    }

    #[test]
    fn a_geometry_has_the_buffers_and_shapes_that_it_was_given(
        vertices in vec((vec(any::<[u8; 28]>(), 0..70), any::<bool>()), 0..4),
        indices in vec((vec(any::<[u16; 3]>(), 0..50), any::<bool>(), any::<bool>()), 0..4),
        mappings in vec((any::<u32>(), any::<u16>(), 0u32..9, 0u32..9), 0..5),
        armor in btree_map(name(), vec((any::<u16>(), 1u16..5, vec(any::<[[i16; 3]; 3]>(), 0..4)), 0..4), 0..3),
        hulls in btree_map(name(), vec(any::<[[i8; 3]; 2]>(), 0..3), 0..3),
    ) {
        let mut builder = GeometryBuilder::new();
        for (vertices, packed) in &vertices {
            builder.vertex_buffer("set3/xyznuvtbpc", 28, &vertices.concat(), *packed);
        }
        for (indices, packed, wide) in &indices {
            let indices: Vec<u32> = indices.iter().flatten().map(|&index| index.into()).collect();
            builder.index_buffer(if *wide { 4 } else { 2 }, &indices, *packed);
        }
        for &(id, density, start, count) in &mappings {
            builder.vertex_mapping(Mapping { id, buffer: 0, density, start, count });
        }
        for (name, plates) in &armor {
            let plates = plates.iter().map(|(material, layer, triangles)| PlateShape {
                material: *material,
                layer: *layer,
                triangles: triangles.iter().map(|t| t.map(|corner| corner.map(f32::from))).collect(),
            });
            builder.armor(name, plates.collect());
        }
        for (name, boxes) in &hulls {
            let boxes = boxes.iter().map(|[a, b]| HullShape::cuboid(a.map(f32::from), b.map(f32::from)));
            builder.collision(name, boxes.collect());
        }
        let asset = open("ship.geometry", builder.build());
        let geometry = asset.get::<Geometry>().unwrap();
        for (at, (vertices, _)) in vertices.iter().enumerate() {
            prop_assert_eq!(geometry.vertex_bytes(at).unwrap(), &vertices.concat()[..]);
        }
        for (at, (indices, ..)) in indices.iter().enumerate() {
            let found: Vec<[u32; 3]> = geometry.indices(at).unwrap().triangles().collect();
            // Encoding keeps triangles, and turns them.
            let turned = |mut t: [u32; 3]| { let least = (0..3).min_by_key(|&i| t[i]).unwrap(); t.rotate_left(least); t };
            let expected: Vec<_> = indices.iter().map(|t| turned(t.map(u32::from))).collect();
            prop_assert_eq!(found.into_iter().map(turned).collect::<Vec<_>>(), expected);
        }
        let found: Vec<_> = geometry.vertex_mappings().unwrap().iter().map(|m| (m.mapping_id.get(), m.items_offset.get(), m.items_count.get())).collect();
        prop_assert_eq!(found, mappings.iter().map(|m| (m.0, m.2, m.3)).collect::<Vec<_>>());
        for (at, (name, plates)) in armor.iter().enumerate() {
            let model = geometry.armor_model(at).unwrap();
            prop_assert_eq!(model.name().unwrap(), name);
            let triangles: usize = plates.iter().map(|plate| plate.2.len()).sum();
            let listed = column(&asset, "armor_triangles", "model").iter().filter(|model| **model == at.to_string()).count();
            prop_assert_eq!(listed, triangles);
        }
        prop_assert_eq!(column(&asset, "collision_models", "name"), hulls.keys().cloned().collect::<Vec<_>>());
    }

    #[test]
    fn a_splash_has_the_boxes_that_it_was_given(boxes in vec((text(), any::<[f32; 3]>(), any::<[f32; 3]>()), 0..20)) {
        let given: Vec<_> = boxes.iter().map(|(name, min, max)| (&**name, *min, *max)).collect();
        let asset = open("ship.splash", splash(&given));
        prop_assert!(asset.get::<Splash>().is_some());
        let table = asset.reader().table("boxes").unwrap();
        prop_assert_eq!(table.len().unwrap(), boxes.len());
        for (row, (name, min, max)) in boxes.iter().enumerate() {
            prop_assert_eq!(table.value(row, 0).unwrap().to_string(), name.clone());
            for (at, number) in min.iter().chain(max).enumerate() {
                prop_assert_eq!(bits(&table.value(row, at + 1).unwrap()), bits(&Value::F32(*number)));
            }
        }
    }

    /// The forms of both games; sheets of the first game contain no names of fields.
    #[test]
    fn a_sheet_has_the_records_that_it_was_given(
        later in any::<bool>(),
        kinds in vec(0usize..9, 1..14),
        records in btree_map("[a-z][a-z0-9_]{0,14}", vec((any::<i32>(), 0usize..5, any::<f32>()), 14), 0..12),
    ) {
        let letters = ["s", "f", "u", "i", "u7", "i9", "u16", "f16", "s4"];
        let kinds: Vec<&str> = kinds.iter().map(|&kind| letters[if later { kind } else { kind % 4 }]).collect();
        let names: Vec<String> = kinds.iter().enumerate().map(|(at, kind)| format!("{kind}Field{at}")).collect();
        let texts = ["", "one", "two words", "\u{fc}\u{65e5}", "beast"];
        let mut sheet = Sheet::new(if later { Game::Later } else { Game::First }, "Any").fields(names.iter().map(String::as_str));
        let mut expected = Vec::new();
        for (name, cells) in &records {
            let mut shown = Vec::new();
            let cells: Vec<Cell> = kinds.iter().zip(cells).map(|(kind, (number, text, float))| {
                let width = kind[1..].parse().unwrap_or(32u32);
                let (cell, value) = match (kind.as_bytes()[0], kind.len()) {
                    (b's', _) => (Cell::from(texts[*text]), Value::text(texts[*text])),
                    (b'f', 1) => (Cell::Float(*float), Value::F32(*float)),
                    (b'u', _) => {
                        let number = (*number as u32) >> (32 - width);
                        (Cell::Int(number.into()), Value::Uint(number.into()))
                    }
                    _ => {
                        let number = *number >> (32 - width);
                        (Cell::Int(number.into()), Value::Int(number.into()))
                    }
                };
                shown.push(value);
                cell
            }).collect();
            sheet = sheet.record(name, cells);
            expected.push((name, shown));
        }
        let asset = open("any.wdb", sheet.build());
        let table = asset.reader().table("records").unwrap();
        prop_assert_eq!(table.len().unwrap(), records.len());
        for (row, (name, cells)) in expected.iter().enumerate() {
            prop_assert_eq!(&&table.value(row, 0).unwrap().to_string(), name);
            for (at, value) in cells.iter().enumerate() {
                let found = table.value(row, at + 1).unwrap();
                // Without a name it is not known whether a word has a sign.
                match (&found, value) {
                    (Value::Text(found), Value::Text(text)) => prop_assert_eq!(found, text),
                    (Value::F32(_), _) => prop_assert_eq!(bits(&found), bits(value)),
                    (Value::Id32(found), Value::Int(number)) => prop_assert_eq!(*found, *number as u32),
                    (Value::Id32(found), Value::Uint(number)) => prop_assert_eq!(u64::from(*found), *number),
                    _ => prop_assert_eq!(found.to_string(), value.to_string(), "{}", names[at]),
                }
            }
        }
    }

    #[test]
    fn a_pack_has_the_files_that_it_was_given(files in btree_map("[a-z][a-z0-9_]{0,14}", ("[a-z]{0,6}", super::bytes()), 1..8)) {
        let given: Vec<_> = files.iter().map(|(name, (ending, bytes))| (&**name, &**ending, bytes.clone())).collect();
        let asset = open("pack.bin", wdb::pack(&given));
        let archive = asset.reader().archive().unwrap();
        prop_assert_eq!(archive.len().unwrap(), files.len());
        for (name, (ending, bytes)) in &files {
            let path = if ending.is_empty() { name.clone() } else { format!("{name}.{ending}") };
            let file = archive.find(&path).unwrap().unwrap();
            let found = assetq::query::archive::open(archive, &file, "pack").unwrap();
            prop_assert_eq!(found.bytes(), &bytes[..]);
        }
    }

    /// Every version of every part, with any number of records of each kind.
    #[test]
    fn a_map_has_the_records_that_it_was_given(
        versions in (1i32..=22, 1i32..=9, 1i32..=5, 1i32..=3),
        flags in any::<[bool; 4]>(),
        boxes in vec(prop_oneof![Just(0u32), 0u32..4], 19),
        counts in (0u32..4, 0u32..4, 0u32..4, 0u32..4, 0u32..4, 0u32..4),
        seed in any::<u64>(),
    ) {
        let (main, event_box, ani_bg, item_box) = versions;
        let scripts = flags[0] && main >= 9;
        let spec = Spec {
            ani_bg,
            item_box,
            triggers: if scripts { TriggerLayout::Scripts } else { TriggerLayout::Triggers },
            counts_nul: flags[1],
            // No file has boxes of this type: they are an error.
            boxes: std::array::from_fn(|i| if i == 14 { 0 } else { boxes[i] }),
            ani_bgs: counts.0,
            item_boxes: counts.1,
            gimmicks: counts.2,
            // Without one, both layouts are the same bytes.
            trigger_count: counts.3.max(1),
            scenes: counts.4,
            scene_resources: counts.5,
            wild: flags[2],
            seed,
            ..Spec::new(main, event_box)
        };
        assert_all(&spec, &write(&spec));
    }

    #[test]
    fn an_archive_of_vrage_has_the_values_that_it_was_given(
        leaves in vec((any::<i32>(), any::<u64>(), any::<f32>(), any::<bool>(), proptest::option::of(text())), 0..12),
        entries in btree_map(name(), any::<i32>(), 0..8),
        codecs in (0usize..4, 0usize..4, 0usize..4),
    ) {
        let mut types = TypesBuilder::new();
        let root = types.next_model();
        let next = |n: u32| assetq::formats::vrage::vrb::ModelId(root.0 + n);
        let (items, item, counts) = (next(1), next(2), next(3));
        let of = |id: assetq::formats::vrage::vrb::ModelId| assetq::formats::vrage::vrb::TypeId(id.0);
        let root_type = types.named(0, 0, "Any:Any.Root");
        types.composite(root_type, flags::CLASS, 0, &[member("Items", items), member("Counts", counts)]);
        let item_type = types.named(1, 0, "Any:Any.Item");
        let ty = types.generic(builtin::LIST, &[item_type]);
        types.list(ty, item);
        let fields = [
            member("Number", builtin::INT32), member("Wide", builtin::UINT64), member("Float", builtin::SINGLE),
            member("Truth", builtin::BOOLEAN), member("Text", builtin::STRING),
        ];
        types.composite(item_type, flags::STRUCT, 0, &fields);
        let ty = types.generic(builtin::DICTIONARY, &[of(builtin::STRING), of(builtin::INT32)]);
        types.dictionary(ty, builtin::STRING, builtin::INT32);

        let mut data = ValuesBuilder::new();
        data.present().count(leaves.len() as u32);
        let mut expected = Vec::new();
        for (number, wide, float, truth, text) in &leaves {
            data.i32(*number).u64(*wide).f32(*float).bool(*truth);
            match text {
                Some(text) => data.string(text),
                None => data.null(),
            };
            expected.push((
                Value::Int((*number).into()).to_string(),
                Value::Uint(*wide).to_string(),
                bits(&Value::F32(*float)),
                *truth,
                text.clone(),
            ));
        }
        data.count(entries.len() as u32);
        for (key, number) in &entries {
            data.string(key).i32(*number);
        }
        let data = data.into_bytes();
        let codec = |n: usize| [Codec::None, Codec::Zlib, Codec::Deflate, Codec::Brotli][n];
        let mut builder = ArchiveBuilder::new(&types, root, codec(codecs.0), data.clone());
        builder.tables = codec(codecs.1);
        let bytes = builder.chunk("Other", root, codec(codecs.2), data).build();
        let archive = VrbArchive::open(Source::from_vec("any.vrb", bytes)).unwrap();
        for chunk in ["[Main]", "Other"] {
            let mut tree = Tree::default();
            prop_assert!(archive.cat(chunk, &mut tree).unwrap());
            let Value::Map(members) = tree.into_value() else { panic!("a record is a map") };
            let members: BTreeMap<String, Value<'_>> = members.into_iter().map(|(name, value)| (name.into_owned(), value)).collect();
            let Value::List(items) = &members["Items"] else { panic!("a list is a list") };
            let found: Vec<_> = items.iter().map(|item| {
                let Value::Map(cells) = item else { panic!("an item is a map") };
                let cell = |at: usize| &cells[at].1;
                let text = cell(4);
                (
                    cell(0).to_string(), cell(1).to_string(), bits(cell(2)), *cell(3) == Value::Bool(true),
                    (*text != Value::Null).then(|| text.to_string()),
                )
            }).collect();
            prop_assert_eq!(&found, &expected);
            let counts: BTreeMap<String, String> = match &members["Counts"] {
                Value::Map(counts) => counts.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(counts, entries.iter().map(|(key, number)| (key.clone(), number.to_string())).collect::<BTreeMap<_, _>>());
        }
    }

    /// Of `models.bin` and `space.bin` the builder makes what it makes of a seed.
    #[test]
    fn models_and_spaces_of_any_seed_are_whole(seed in any::<u64>()) {
        for (name, _, make) in assetq_sample::FILES {
            let asset = open(name, make(seed, Size::Small));
            let report = asset.reader().verify(&Default::default());
            prop_assert!(report.is_ok(), "{}: {:?}", name, report);
            if *name == "models.bin" {
                let expected: Vec<String> = assetq_sample::space::model_ids(Size::Small).iter().map(|id| format!("0x{id:016X}")).collect();
                prop_assert_eq!(column(&asset, "models", "id"), expected);
            }
        }
    }
}
