//! Whole maps: generated ones in every version, and damaged ones.

use assetq::formats::report::Progress;
use assetq::formats::rusty_hearts::wdata::{BoxType, Choice, Map, OrientedBox, Section, TextForm, TriggerLayout};
use assetq::formats::{ErrorKind, Reader as _};
use assetq::table::{Region, Table, Tree, Value, column_index};
use assetq::view::scene::{Context, Options as SceneOptions, SceneFormat, Shapes as _};
use assetq::{Asset, Source};
use assetq_sample::wdata::{Spec, Written, demo, write};
use assetq_sample::{Size, Writer};

use crate::common::maps::assert_all;

fn open(bytes: Vec<u8>) -> Map {
    Map::open(Source::from_vec("town.wdata", bytes)).unwrap()
}

/// Every version that has event boxes, with both trigger layouts where there are two.
fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    let others = [(5, 3), (4, 2), (3, 3), (2, 1), (1, 1)];
    for main in 1..=22 {
        for event_box in if main >= 7 { 1..=9 } else { 1..=1 } {
            // The other versions depend on nothing: all of them meet each main version, but not each event box's.
            let mut combinations = vec![others[event_box as usize % 5]];
            if event_box == 1 {
                combinations = others.to_vec();
            }
            for (ani_bg, item_box) in combinations {
                let layouts = [TriggerLayout::Triggers, TriggerLayout::Scripts];
                for triggers in layouts.into_iter().take(if main >= 9 { 2 } else { 1 }) {
                    let (seed, counts_nul) = (specs.len() as u64, specs.len().is_multiple_of(2));
                    specs.push(Spec { ani_bg, item_box, triggers, seed, counts_nul, ..Spec::new(main, event_box) });
                }
            }
        }
    }
    specs
}

mod reads {
    use super::*;

    #[test]
    fn every_version_and_both_trigger_layouts() {
        let specs = specs();
        assert_eq!(specs.len(), 6 * 5 + 2 * (5 + 8) + 14 * (5 + 8) * 2);
        for spec in specs {
            assert_all(&spec, &write(&spec));
        }
    }

    #[test]
    fn server_side_files_that_end_behind_the_triggers() {
        for triggers in [TriggerLayout::Triggers, TriggerLayout::Scripts] {
            let spec = Spec { server_side: true, triggers, ..Spec::new(20, 8) };
            let written = write(&spec);
            assert_all(&spec, &written);
            let map = open(written.bytes);
            assert!(map.is_server_side().unwrap() && map.section(Section::Scenes).unwrap().is_none());
        }
        assert!(!open(write(&Spec::new(20, 8)).bytes).is_server_side().unwrap());
    }

    #[test]
    fn blocks_in_any_order() {
        let mut order: [usize; 19] = std::array::from_fn(|i| i);
        order.reverse();
        order.swap(3, 11);
        let spec = Spec { block_order: order, ..Spec::new(22, 9) };
        let written = write(&spec);
        assert_all(&spec, &written);
        let map = open(written.bytes);
        let in_file: Vec<u8> = map.box_types().unwrap().iter().map(|t| t.number()).collect();
        let expected: Vec<u8> = order.iter().filter(|&&n| spec.boxes[n] > 0).map(|&n| n as u8).collect();
        assert_eq!(in_file, expected);
        let table = map.table("event_boxes").unwrap();
        let offset = column_index(&*table, "offset").unwrap();
        let offsets: Vec<String> =
            (0..table.len().unwrap()).map(|r| table.value(r, offset).unwrap().to_string()).collect();
        let numbers: Vec<u64> = offsets.iter().map(|o| o.parse().unwrap()).collect();
        assert!(numbers.is_sorted() && numbers.len() == spec.boxes.iter().sum::<u32>() as usize);
    }

    #[test]
    fn a_table_of_fewer_types() {
        let mut spec = Spec { box_types: 12, ..Spec::new(8, 3) };
        spec.boxes[12..].fill(0);
        assert_all(&spec, &write(&spec));
    }

    #[test]
    fn no_boxes_at_all() {
        let spec = Spec { boxes: [0; 19], ..Spec::new(22, 9) };
        assert_all(&spec, &write(&spec));
    }

    #[test]
    fn event_boxes_have_what_all_have_in_common() {
        let written = write(&Spec::new(22, 9));
        let map = open(written.bytes.clone());
        let table = map.table("event_boxes").unwrap();
        let own = map.table("portal_boxes").unwrap();
        let column = |t: &dyn Table, name: &str| column_index(t, name).unwrap();
        let of_type: Vec<usize> = (0..table.len().unwrap())
            .filter(|&r| table.value(r, column(&*table, "type_name")).unwrap() == "PortalBox".into())
            .collect();
        assert_eq!(of_type.len(), own.len().unwrap());
        for (number, row) in of_type.into_iter().enumerate() {
            for name in ["index", "name", "pos_x", "rot_w", "ext_z", "offset"] {
                let (a, b) = (column(&*table, name), column(&*own, name));
                assert_eq!(table.value(row, a).unwrap(), own.value(number, b).unwrap(), "{name}");
            }
            assert_eq!(table.value(row, column(&*table, "type")).unwrap(), Value::Uint(7));
        }
    }

    #[test]
    fn both_text_forms() {
        for (counts_nul, form) in [(true, TextForm::CountsNul), (false, TextForm::NoNul)] {
            let map = open(write(&Spec { counts_nul, ..Spec::new(22, 9) }).bytes);
            assert_eq!(map.text_form(), form);
            assert!(map.path("model_path").unwrap().unwrap() == ".\\world\\town\\town.mmp");
            assert_eq!(map.path("event_box_path").unwrap(), None);
            assert!(map.path("no_such_path").is_err());
        }
    }

    #[test]
    fn typed_fields() {
        let spec = Spec { wild: false, ..Spec::new(22, 9) };
        let written = write(&spec);
        let map = open(written.bytes.clone());
        let expected = written.table("waypoint_boxes")[1];
        let waypoint = map.boxes(BoxType::WaypointBox).unwrap().get(1).unwrap();
        assert!(waypoint.name().unwrap() == "waypoint_001");
        assert_eq!(waypoint.get("id").unwrap(), Value::Int(101));
        assert_eq!(waypoint.ints("links").unwrap().iter().map(|id| id.get()).collect::<Vec<_>>(), [100, 102]);
        let distances = waypoint.floats("link_distances").unwrap().iter().map(|d| Value::F32(d.get()));
        let stored = expected.iter().find(|(name, _)| *name == "link_distances").unwrap();
        assert_eq!(Value::List(distances.collect()), stored.1);
        let category = written.table("camera_boxes")[0].iter().find(|(name, _)| *name == "category").unwrap();
        let camera = map.boxes(BoxType::CameraBox).unwrap().get(0).unwrap();
        assert_eq!(camera.get("category").unwrap().to_string(), category.1.to_string());
        assert!(waypoint.ints("range").is_err() && waypoint.text("id").is_err() && waypoint.get("nothing").is_err());
        let old = open(write(&Spec::new(22, 7)).bytes);
        let target = old.boxes(BoxType::CameraTargetBox).unwrap().get(0).unwrap();
        assert_eq!(target.get("name_text_id").unwrap(), Value::Null);
        assert!(target.text("name_deprecated").unwrap().is_some());
    }

    /// A scene has no place, and fields of other versions are null.
    #[test]
    fn records_lack_what_their_kind_or_version_lacks() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        let scene = map.section(Section::Scenes).unwrap().unwrap().get(0).unwrap();
        assert!(scene.name().unwrap() == "" && scene.obb().unwrap().is_none() && scene.volume().unwrap().is_none());
        let targets = map.boxes(BoxType::CameraTargetBox).unwrap();
        assert_eq!(targets.get(0).unwrap().text("name_deprecated").unwrap(), None);
        assert!(!targets.is_empty() && targets.len() == map.box_count(BoxType::CameraTargetBox).unwrap() as usize);
        assert_eq!(BoxType::CameraTargetBox.to_string(), "CameraTargetBox");
        let old = open(write(&Spec::new(6, 1)).bytes);
        assert!(old.boxes(BoxType::PortalBox).unwrap().is_empty() && old.box_count(BoxType::PortalBox).unwrap() == 0);
    }

    #[test]
    fn the_demo_of_both_sizes() {
        for (size, at_least) in [(Size::Small, 10_000), (Size::Full, 400_000)] {
            let bytes = demo(3, size);
            assert!(bytes.len() >= at_least, "{}", bytes.len());
            assert_eq!(bytes, demo(3, size));
            assert!(bytes != demo(4, size));
            let asset = Asset::open(Source::from_vec("demo.wdata", bytes)).unwrap();
            assert_eq!(asset.format(), assetq::formats::rusty_hearts::WDATA);
            assert!(asset.reader().verify(&Progress::default()).is_ok());
        }
    }
}

mod triggers {
    use super::*;

    #[test]
    fn the_layout_that_ends_the_file_is_chosen() {
        for triggers in [TriggerLayout::Triggers, TriggerLayout::Scripts] {
            let map = open(write(&Spec { triggers, ..Spec::new(9, 4) }).bytes);
            assert_eq!(map.trigger_layout().unwrap(), (triggers, Choice::EndsTheFile));
        }
        assert_eq!(open(write(&Spec::new(8, 4)).bytes).trigger_layout().unwrap().1, Choice::OnlyOne);
    }

    #[test]
    fn the_document_is_followed_when_both_fit() {
        let spec = Spec { trigger_count: 0, scenes: 0, scene_resources: 0, ..Spec::new(22, 9) };
        let map = open(write(&spec).bytes);
        assert_eq!(map.trigger_layout().unwrap(), (TriggerLayout::Scripts, Choice::BothFit));
        assert!(map.verify(&Progress::default()).is_ok());
    }

    #[test]
    fn the_document_is_followed_when_neither_fits() {
        let mut bytes = write(&Spec { triggers: TriggerLayout::Scripts, ..Spec::new(22, 9) }).bytes;
        bytes.extend([1, 2, 3]);
        let map = open(bytes);
        assert_eq!(map.trigger_layout().unwrap(), (TriggerLayout::Scripts, Choice::NeitherFits));
        assert_eq!(map.table("scripts").unwrap().len().unwrap(), 11);
        let report = map.verify(&Progress::default());
        let end = report.checks.iter().find(|c| c.name == "end").unwrap();
        assert!(end.findings()[0].to_string().contains("3 bytes left over"), "{:?}", end.findings());
    }

    #[test]
    fn info_names_the_layout() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        let facts = map.facts();
        let fact = |name: &str| facts.iter().find(|(n, _)| n == name).unwrap().1.to_string();
        assert_eq!(fact("trigger_layout"), "triggers");
        assert!(fact("trigger_layout_reason").contains("last byte"));
        assert_eq!(fact("event_box_version"), "9");
        assert_eq!(fact("script_condition_count2"), "1");
        assert_eq!(fact("bytes_left_over"), "0");
    }
}

mod questions {
    use super::*;

    #[test]
    fn boxes_at_a_point_are_those_that_contain_it() {
        let map = open(demo(5, Size::Full));
        let all: Vec<(BoxType, usize, OrientedBox)> = BoxType::ALL
            .into_iter()
            .flat_map(|t| {
                let boxes = map.boxes(t).unwrap();
                boxes.iter().enumerate().map(move |(n, r)| (t, n, r.volume().unwrap().unwrap())).collect::<Vec<_>>()
            })
            .collect();
        let mut hits = 0;
        for probe in all.iter().step_by(97) {
            let point = probe.2.center;
            let found = map.boxes_at(&Region::Point(point)).unwrap();
            // By the corners: a point is inside when it lies between all pairs of opposite faces.
            let expected: Vec<_> = all
                .iter()
                .filter(|(_, _, v)| {
                    let [base, x, y, _, z, ..] = v.corners();
                    [x, y, z].iter().all(|edge| {
                        let dot = |p: [f64; 3]| (0..3).map(|i| (p[i] - base[i]) * (edge[i] - base[i])).sum::<f64>();
                        (0.0..=dot(*edge)).contains(&dot(point))
                    })
                })
                .map(|(t, n, _)| (*t, *n))
                .collect();
            assert!(expected.contains(&(probe.0, probe.1)));
            assert_eq!(found.boxes, expected);
            assert_eq!(found.undecided, 0);
            hits += expected.len();
        }
        assert!(hits > 30);
    }

    /// Boxes that are far away are left out by their sizes alone.
    #[test]
    fn boxes_at_a_line_or_a_box_are_those_that_meet_it() {
        let map = open(demo(5, Size::Full));
        let volumes = |t: BoxType| -> Vec<OrientedBox> {
            map.boxes(t).unwrap().iter().map(|record| record.volume().unwrap().unwrap()).collect()
        };
        let all: Vec<(BoxType, Vec<OrientedBox>)> = BoxType::ALL.into_iter().map(|t| (t, volumes(t))).collect();
        let mut rng = fastrand::Rng::with_seed(5);
        let mut hits = 0;
        for probe in all.iter().flat_map(|(_, volumes)| volumes).step_by(97) {
            let mut beside = |far: f64| probe.center.map(|c| c + far * (rng.f64() - 0.5));
            for place in [
                Region::Segment(beside(1.0), beside(400.0)),
                Region::Segment(beside(40.0), beside(40.0)),
                Region::Segment(probe.center, probe.center),
                Region::Box(beside(1.0), beside(400.0)),
                Region::Box(beside(40.0), beside(40.0)),
            ] {
                let met = |(t, volumes): &(BoxType, Vec<OrientedBox>)| {
                    let numbers = volumes.iter().enumerate().filter(|(_, volume)| volume.is_at(&place));
                    numbers.map(|(number, _)| (*t, number)).collect::<Vec<_>>()
                };
                let expected: Vec<_> = all.iter().flat_map(met).collect();
                assert_eq!(map.boxes_at(&place).unwrap().boxes, expected, "{place:?}");
                hits += expected.len();
            }
        }
        assert!(hits > 100, "{hits}");
    }

    #[test]
    fn rows_of_every_table_with_places_can_be_asked_where_they_are() {
        let map = open(demo(5, Size::Small));
        let gimmick = map.section(Section::Gimmicks).unwrap().unwrap().get(2).unwrap();
        let [x, y, z] = gimmick.obb().unwrap().unwrap().position.map(|v| f64::from(v.get()));
        let table = map.table("gimmicks").unwrap();
        let at = |place: &Region| -> Vec<usize> {
            (0..table.len().unwrap()).filter(|row| table.is_at(*row, place).unwrap().unwrap()).collect()
        };
        assert!(at(&Region::Point([x, y, z])).contains(&2));
        assert!(at(&Region::Segment([x, y + 1e4, z], [x, y - 1e4, z])).contains(&2));
        assert_eq!(at(&Region::Box([-1e6; 3], [1e6; 3])), [0, 1, 2, 3]);
        assert_eq!(at(&Region::Box([-1e6; 3], [-1e5; 3])), [0; 0]);
        assert!(map.table("paths").unwrap().is_at(0, &Region::Point([0.0; 3])).is_none());
        assert!(map.table("scenes").unwrap().is_at(0, &Region::Point([0.0; 3])).is_none());
    }

    #[test]
    fn links_lead_to_waypoints() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        let links: Vec<_> =
            map.links().map(|link| link.unwrap()).map(|l| (l.from.0, l.to_id, l.to.unwrap().0)).collect();
        assert_eq!(
            links,
            [
                (0, 101, 1),
                (1, 100, 0),
                (1, 102, 2),
                (2, 101, 1),
                (2, 103, 3),
                (3, 102, 2),
                (3, 104, 4),
                (4, 103, 3),
                (4, 100, 0)
            ]
        );
        let table = map.table("waypoint_links").unwrap();
        assert_eq!(table.len().unwrap(), 9);
        assert_eq!(table.value(2, column_index(&*table, "to_id").unwrap()).unwrap(), Value::Int(102));
        assert_eq!(table.value(2, column_index(&*table, "to_index").unwrap()).unwrap(), Value::Uint(2));
    }

    fn cat(map: &Map, entry: &str) -> Option<Value<'static>> {
        let mut tree = Tree::default();
        map.cat(entry, &mut tree).unwrap().then(|| tree.into_value())
    }

    fn get<'v>(value: &'v Value<'_>, name: &str) -> &'v Value<'v> {
        let Value::Map(fields) = value else { panic!("{value:?}") };
        &fields.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    #[test]
    fn one_entry_with_its_references() {
        let map = open(demo(3, Size::Small));
        let waypoint = cat(&map, "waypoint_003").unwrap();
        assert_eq!(get(&waypoint, "table"), &Value::owned("waypoint_boxes".into()));
        let Value::List(references) = get(&waypoint, "references") else { panic!() };
        let targets: Vec<_> = references.iter().map(|r| get(r, "index").clone()).collect();
        assert_eq!(targets, [Value::Uint(2), Value::Uint(4)]);
        let portal = cat(&map, "portal_boxes/1").unwrap();
        assert_eq!(get(&portal, "name"), &Value::owned("portal_001".into()));
        assert!(cat(&map, "nobody").is_none() && cat(&map, "portal_boxes/99").is_none());
    }

    #[test]
    fn names_lead_to_what_they_name() {
        let map = open(demo(3, Size::Small));
        let mut followed = std::collections::BTreeMap::new();
        for entry in ["event_hit_boxes/0", "camera_boxes/0", "camera_boxes/1", "scenes/0", "scenes/1"] {
            let shown = cat(&map, entry).unwrap();
            let Value::List(references) = get(&shown, "references") else { panic!() };
            for reference in references {
                let (value, table) = (get(reference, "value").to_string(), get(reference, "table").to_string());
                let Value::Uint(row) = get(reference, "index") else { panic!("{reference:?}") };
                // Believable names are numbered like the records that have them.
                assert_eq!(value.rsplit('_').next().unwrap().parse::<u64>().unwrap(), *row);
                *followed.entry(table).or_insert(0) += 1;
            }
        }
        let tables: Vec<&str> = followed.keys().map(String::as_str).collect();
        assert_eq!(tables, ["ani_bgs", "gimmicks", "item_boxes", "scene_resources", "trigger_boxes"]);
    }

    #[test]
    fn an_alias_leads_to_its_resource() {
        let text = |text: &str| -> Vec<u8> {
            let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
            [units.len() as u16].iter().chain(&units).flat_map(|unit| unit.to_le_bytes()).collect()
        };
        let written = write(&Spec { wild: false, scenes: 3, scene_resources: 6, ..Spec::new(22, 9) });
        let map = open(written.bytes.clone());
        let resources = map.table("scene_resources").unwrap();
        let aliases = column_index(&*resources, "aliases").unwrap();
        let of_row = |row| match resources.value(row, aliases).unwrap() {
            Value::List(aliases) => aliases.first().map(|alias| (row, alias.to_string())),
            other => panic!("{other:?}"),
        };
        let (row, alias) = (0..6).find_map(of_row).expect("a resource with an alias");
        // The first scene that names a resource by its key names this one by its alias.
        let scenes = written.start("scenes");
        let is_key = |at: &usize| (0..6).any(|n| written.bytes[*at..].starts_with(&text(&format!("resource_{n:03}"))));
        let at = (scenes..written.bytes.len()).find(is_key).expect("a scene that names a resource");
        let mut bytes = written.bytes.clone();
        bytes.splice(at..at + text("resource_000").len(), text(&alias));
        let map = open(bytes);
        let shown: Vec<_> = (0..3).filter_map(|n| cat(&map, &format!("scenes/{n}"))).collect();
        let references = shown.iter().flat_map(|scene| match get(scene, "references") {
            Value::List(references) => references,
            other => panic!("{other:?}"),
        });
        let led: Vec<_> = references.filter(|r| get(r, "value").to_string() == alias).collect();
        assert_eq!(led.len(), 1, "{led:?}");
        assert_eq!(get(led[0], "table"), &Value::text("scene_resources"));
        assert_eq!(get(led[0], "index"), &Value::Uint(row as u64));
    }

    #[test]
    fn entries_of_one_name_are_all_told() {
        let mut written = write(&Spec { wild: false, ..Spec::new(22, 9) });
        // Call gimmick 1 what gimmick 0 is called.
        let name: Vec<u8> = "gimmick_001".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let gimmicks = written.start("gimmicks");
        let at = gimmicks + written.bytes[gimmicks..].windows(name.len()).position(|w| w == name).unwrap();
        written.bytes[at + name.len() - 2] = b'0';
        let map = open(written.bytes);
        let first = cat(&map, "gimmick_000").unwrap();
        assert_eq!(get(&first, "index"), &Value::Uint(0));
        assert_eq!(get(&first, "also"), &Value::List(vec![Value::owned("gimmicks/1".into())]));
    }
}

mod drawings {
    use super::*;
    use assetq::view::scene::{Context, Options, SceneFormat};

    fn drawn(map: &Map, format: SceneFormat) -> Vec<u8> {
        let mut out = Vec::new();
        map.draw(&Context::default(), Options::default()).unwrap().write(format, &mut out).unwrap();
        out
    }

    fn plan(map: &Map) -> String {
        String::from_utf8(drawn(map, SceneFormat::Svg)).unwrap()
    }

    #[test]
    fn a_plan_shows_everything_that_has_a_place() {
        let map = open(demo(3, Size::Small));
        let svg = plan(&map);
        let boxes: usize = BoxType::ALL.iter().map(|t| map.boxes(*t).unwrap().len()).sum();
        let others = [Section::AniBgs, Section::ItemBoxes, Section::Gimmicks];
        let others: usize = others.map(|section| map.section(section).unwrap().unwrap().len()).iter().sum();
        // Each outline and each sample of the legend.
        let kinds = 18 + 3;
        assert_eq!(svg.matches("<polygon ").count(), boxes + others + kinds);
        assert_eq!(svg.matches("<title>PortalBox portal_").count(), 4);
        let portal = map.boxes(BoxType::PortalBox).unwrap().get(0).unwrap();
        let target = portal.text("warp_map_name").unwrap().unwrap().to_string();
        assert!(svg.contains(&format!("<title>PortalBox portal_000 leads to {target} (map ")));
        assert!(svg.contains(&format!(">\u{2192} {target} (map ")), "the target is written beside the portal");
        // 30 waypoints in a chain, and one link back from the last to the first.
        assert_eq!(svg.matches("<line class=\"link\" x1").count(), 30 + 2);
        assert!(svg.contains("units</text>") && svg.contains("WaypointBox (30)"));
    }

    #[test]
    fn a_box_is_drawn_where_it_is() {
        // One box of 200 by 100 units, not turned: x to the right and z to the top.
        let mut spec = Spec { boxes: [0; 19], ani_bgs: 0, item_boxes: 0, gimmicks: 0, wild: false, ..Spec::new(22, 9) };
        spec.boxes[2] = 2;
        let mut written = write(&spec);
        let mut at = written.start("start_point_boxes");
        for (x, z) in [(0.0f32, 0.0f32), (1000.0, 100.0)] {
            at += 2 + 2 * "start_point_000\0".len();
            let numbers = [x, 0.0, z, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 100.0, 10.0, 50.0];
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            written.bytes[at..at + 0x34].copy_from_slice(&bytes);
            at += 0x34 + 4;
        }
        let svg = plan(&open(written.bytes));
        // 1200 units are 1400 pixels, and the margin is 40: the second box is to the right of the first and above it.
        assert!(svg.contains(r#"points="40.0,273.3 273.3,273.3 273.3,156.7 40.0,156.7""#), "{svg}");
        assert!(svg.contains(r#"points="1206.7,156.7 1440.0,156.7 1440.0,40.0 1206.7,40.0""#), "{svg}");
    }

    #[test]
    fn names_are_escaped() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        let svg = plan(&map);
        let name = map.boxes(BoxType::WaypointBox).unwrap().iter().map(|w| w.name().unwrap().to_string());
        let odd =
            name.chain(map.section(Section::Gimmicks).unwrap().unwrap().iter().map(|g| g.name().unwrap().to_string()));
        assert!(odd.filter(|n| n.contains(['<', '&'])).count() > 0, "names with letters that XML keeps for itself");
        let inside = svg.split('<').skip(1).all(|tag| tag.contains('>'));
        assert!(inside && !svg.contains("& ") && !svg.contains("&<"));
    }

    #[test]
    fn wireframes_have_the_names_and_corners_of_the_boxes() {
        let map = open(demo(3, Size::Small));
        let bytes = drawn(&map, SceneFormat::Glb);
        let glb = gltf::Gltf::from_slice(&bytes).unwrap();
        let root = glb.default_scene().unwrap().nodes().next().unwrap();
        let (_, _, mirror) = root.transform().decomposed();
        assert_eq!(mirror, [-1.0, 1.0, 1.0]);
        let blob = glb.blob.as_deref().unwrap();
        let mut compared = 0;
        for group in root.children() {
            let Some(box_type) = BoxType::ALL.into_iter().find(|t| Some(t.shape().name) == group.name()) else {
                continue;
            };
            let boxes = map.boxes(box_type).unwrap();
            assert_eq!(group.children().count(), boxes.len());
            for (node, record) in group.children().zip(boxes.iter()) {
                assert!(record.name().unwrap() == node.name().unwrap());
                let primitive = node.mesh().unwrap().primitives().next().unwrap();
                assert_eq!(primitive.mode(), gltf::mesh::Mode::Lines);
                let reader = primitive.reader(|_| Some(blob));
                let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
                assert_eq!(indices.len(), 24);
                let matrix = node.transform().matrix();
                let corners = record.volume().unwrap().unwrap().corners();
                for (corner, point) in reader.read_positions().unwrap().enumerate() {
                    for axis in 0..3 {
                        let along =
                            |i: usize| f64::from(matrix[i][axis]) * f64::from([point[0], point[1], point[2], 1.0][i]);
                        let placed: f64 = (0..4).map(along).sum();
                        assert!((placed - corners[corner][axis]).abs() < 1e-2, "{placed} {:?}", corners[corner]);
                    }
                }
                compared += 1;
            }
        }
        assert_eq!(compared, BoxType::ALL.iter().map(|t| map.boxes(*t).unwrap().len()).sum::<usize>());
        assert!(root.children().any(|group| group.name() == Some("waypoint_links")));
    }
}

pub mod damaged {
    use super::*;

    /// One record of most kinds, with texts that are not empty: of empty ones, a part of a trigger list can look like a
    /// whole script list.
    pub fn small(main: i32, event_box: i32) -> Written {
        let boxes = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 3, 1];
        let spec =
            Spec { boxes, ani_bgs: 1, item_boxes: 1, gimmicks: 1, trigger_count: 1, ..Spec::new(main, event_box) };
        write(&Spec { wild: false, scenes: 1, scene_resources: 1, ..spec })
    }

    #[test]
    fn what_comes_before_the_damage_can_be_read() {
        let written = small(22, 9);
        let cut = written.start("npc_boxes") + 5;
        let map = open(written.bytes[..cut].to_vec());
        assert!(map.path("model_path").unwrap().is_some());
        let table = map.table("event_boxes").unwrap();
        let mut cursor = table.cursor(0);
        for _ in 0..6 {
            assert!(cursor.advance().unwrap());
        }
        let error = cursor.advance().unwrap_err();
        assert!(error.to_string().starts_with("npc_boxes"), "{error}");
        assert!(map.boxes(BoxType::EventHitBox).unwrap().check().is_ok());
        let error = map.section(Section::AniBgs).unwrap_err();
        assert!(error.offset().is_some(), "{error}");

        // Within the paths: those before the cut can be read.
        let cut = written.start("paths") + 60;
        let map = open(written.bytes[..cut].to_vec());
        assert!(map.path("model_path").unwrap().is_some());
        let error = map.path("nav_mesh_path").unwrap_err();
        assert!(error.to_string().contains("nav_mesh_path"), "{error}");
    }

    /// The event-box table's row of a type.
    fn row(written: &Written, box_type: BoxType) -> usize {
        written.start("event_box_index") + 4 + 8 * usize::from(box_type.number())
    }

    fn patched(written: &Written, at: usize, value: u32) -> Map {
        let mut bytes = written.bytes.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        open(bytes)
    }

    fn fails(map: &Map, box_type: BoxType, says: &str) {
        let error = map.boxes(box_type).and_then(|boxes| boxes.check()).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.to_string().contains(box_type.shape().name), "{error}");
        assert!(error.offset().is_some(), "{error}");
        assert!(!map.verify(&Progress::default()).is_ok());
    }

    #[test]
    fn offsets_that_lead_elsewhere() {
        let written = small(22, 9);
        let at = row(&written, BoxType::PortalBox);
        for offset in [0, 3, written.start("event_box_index") as u32, u32::MAX, written.bytes.len() as u32 + 1] {
            let map = patched(&written, at, offset);
            fails(&map, BoxType::PortalBox, "offset outside of the event boxes");
            assert!(map.boxes(BoxType::CameraBox).unwrap().check().is_ok());
        }
        fails(&patched(&written, at, written.bytes.len() as u32), BoxType::PortalBox, "more than fit");
    }

    #[test]
    fn types_that_overlap() {
        let written = small(22, 9);
        let at = row(&written, BoxType::PortalBox);
        let map = patched(&written, at, written.start("camera_boxes") as u32);
        fails(&map, BoxType::PortalBox, "camera_boxes begin at the same offset");
        fails(&map, BoxType::CameraBox, "portal_boxes begin at the same offset");
        let map = patched(&written, at, written.start("camera_boxes") as u32 + 100);
        fails(&map, BoxType::CameraBox, "runs into what begins at offset");
        assert!(map.boxes(BoxType::NpcBox).unwrap().check().is_ok());
    }

    #[test]
    fn counts_that_cannot_be() {
        let written = small(22, 9);
        for count in [1 << 31, u32::MAX, 5000] {
            let map = patched(&written, row(&written, BoxType::PortalBox) + 4, count);
            fails(&map, BoxType::PortalBox, "more than fit");
        }
        // One more than there are: the first can be read, the second runs into what comes next.
        let map = patched(&written, row(&written, BoxType::CameraBox) + 4, 2);
        assert_eq!(map.boxes(BoxType::CameraBox).unwrap().len(), 1);
        fails(&map, BoxType::CameraBox, "camera_boxes 1");
        for section in ["ani_bgs", "item_boxes", "gimmicks"] {
            for count in [1u32 << 31, i32::MAX as u32] {
                let map = patched(&written, written.start(section), count);
                let table = map.table(section).unwrap();
                let error = table.len().unwrap_err();
                assert!(error.to_string().starts_with(&format!("{section}: count: ")), "{error}");
                assert_eq!(error.offset(), Some(written.start(section) as u64));
            }
        }
    }

    #[test]
    fn type_14_and_more_than_19_types() {
        let written = small(22, 9);
        let map = patched(&written, row(&written, BoxType::UnusedBox) + 4, 1);
        let error = map.boxes(BoxType::UnusedBox).unwrap_err();
        assert!(error.to_string().contains("type 14") && matches!(error.kind(), ErrorKind::BadValue { .. }), "{error}");
        assert!(!map.verify(&Progress::default()).is_ok());
        for types in [20, 1 << 31, u32::MAX] {
            let map = patched(&written, written.start("event_box_index"), types);
            let error = map.boxes(BoxType::CameraBox).unwrap_err();
            assert!(error.to_string().contains("19 are known"), "{error}");
            assert_eq!(error.offset(), Some(written.start("event_box_index") as u64));
            assert!(map.path("nav_mesh_path").unwrap().is_some());
        }
    }

    #[test]
    fn versions_never_seen() {
        for main in [0, 23, -1, i32::MIN, i32::MAX] {
            let mut out = Writer::new();
            out.push(&write(&Spec::new(22, 9)).bytes[..32]);
            out.add(main);
            out.zeros(100);
            let error = Map::open(Source::from_vec("new.wdata", out.into_bytes())).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::BadVersion { found } if *found == i64::from(main)), "{error}");
            assert_eq!((error.offset(), error.part()), (Some(32), "main version"));
        }
        for event_box in [0, 10, -1] {
            let map = open(write(&Spec::new(22, event_box)).bytes);
            assert!(map.path("model_path").unwrap().is_some());
            let error = map.boxes(BoxType::TriggerBox).unwrap_err();
            assert_eq!(error.offset(), Some(36), "{error}");
            assert!(matches!(error.kind(), ErrorKind::BadVersion { .. }), "{error}");
        }
        let map = open(write(&Spec { ani_bg: 6, ..Spec::new(22, 9) }).bytes);
        assert!(matches!(map.section(Section::AniBgs).unwrap_err().kind(), ErrorKind::BadVersion { found: 6 }));
        let map = open(write(&Spec { item_box: -1, ..Spec::new(22, 9) }).bytes);
        assert!(matches!(map.section(Section::ItemBoxes).unwrap_err().kind(), ErrorKind::BadVersion { found: -1 }));
        assert!(map.section(Section::AniBgs).is_ok());
    }

    #[test]
    fn odd_surrogates_are_shown_and_found() {
        let mut written = write(&Spec { wild: false, ..Spec::new(22, 9) });
        let at = written.start("npc_boxes");
        written.bytes[at + 4..at + 6].copy_from_slice(&0xD800u16.to_le_bytes());
        let map = open(written.bytes);
        let npc = map.boxes(BoxType::NpcBox).unwrap().get(0).unwrap();
        assert_eq!(npc.name().unwrap().to_string(), "n\\u{d800}c_000");
        let report = map.verify(&Progress::default());
        let check = report.checks.iter().find(|c| c.name == "npc_boxes").unwrap();
        assert_eq!(check.found(), 1);
        assert!(check.findings()[0].to_string().starts_with("npc_boxes 0: not valid UTF-16 after 1 units"));
    }

    #[test]
    fn verify_counts_what_is_unusual_and_finds_what_is_wrong() {
        let spec = Spec { wild: false, ..Spec::new(22, 9) };
        let texts = |bytes: Vec<u8>| {
            let report = open(bytes).verify(&Progress::default());
            report.checks.iter().find(|c| c.name == "texts").unwrap().detail.clone()
        };
        let count = |detail: &str, number: usize| -> u64 {
            detail.split(' ').filter_map(|word| word.parse().ok()).nth(number).unwrap()
        };
        let (with, without) =
            (texts(write(&spec).bytes), texts(write(&Spec { counts_nul: false, ..spec.clone() }).bytes));
        assert!(count(&with, 0) > 100 && count(&with, 1) == 0, "{with}");
        assert_eq!((count(&without, 0), count(&without, 1)), (0, count(&with, 0)), "{without}");

        let written = write(&spec);
        // The last field of a portal is its flag; the name of the next type's first box follows it.
        let flag = written.start("select_map_portal_boxes") - 4;
        let mut bytes = written.bytes.clone();
        bytes[flag..flag + 4].copy_from_slice(&7u32.to_le_bytes());
        let map = open(bytes);
        let portals = map.boxes(BoxType::PortalBox).unwrap();
        assert_eq!(portals.get(portals.len() - 1).unwrap().get("active").unwrap(), Value::Bool(true));
        assert!(map.verify(&Progress::default()).is_ok());
        assert!(texts(map.source().bytes().to_vec()).contains("; 1 truth values other than 0 and 1"));

        let mut bytes = written.bytes.clone();
        let letter = written.start("npc_boxes") + 4;
        bytes[letter..letter + 2].fill(0);
        let report = open(bytes).verify(&Progress::default());
        let check = report.checks.iter().find(|c| c.name == "npc_boxes").unwrap();
        assert!(check.findings()[0].to_string().contains("a NUL in the middle of a text"), "{:?}", check.findings());
    }

    #[test]
    fn places_that_describe_no_space() {
        let mut written = write(&Spec { wild: false, ..Spec::new(22, 9) });
        let at = written.start("npc_boxes") + 2 + 2 * "npc_000\0".len();
        written.bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        let map = open(written.bytes);
        let place = Region::Point([0.0; 3]);
        assert_eq!(map.boxes_at(&place).unwrap().undecided, 1);
        let error = map.table("npc_boxes").unwrap().is_at(0, &place).unwrap().unwrap_err().to_string();
        assert!(error.contains("a place that describes no space (at offset 0x"), "{error}");
        assert!(!map.verify(&Progress::default()).is_ok());
        // A drawing leaves them out and counts them.
        let mut bytes = map.source().bytes().to_vec();
        for count in
            ["1 entry without a place in space is not drawn", "2 entries without a place in space are not drawn"]
        {
            let map = open(bytes.clone());
            let drawing = map.draw(&Context::default(), SceneOptions::default()).unwrap();
            assert_eq!(drawing.write(SceneFormat::Svg, &mut Vec::new()).unwrap(), [count]);
            let error = drawing.write(SceneFormat::Obj, &mut Vec::new()).unwrap_err().to_string();
            assert!(error.contains("shapes as Obj"), "{error}");
            let next =
                map.boxes(BoxType::NpcBox).unwrap().get(1).unwrap().offset() as usize + 2 + 2 * "npc_001\0".len();
            bytes[next..next + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        }
    }

    #[test]
    fn links_that_lead_nowhere_and_ids_used_twice() {
        let written = write(&Spec { wild: false, ..Spec::new(22, 9) });
        // The first waypoint: name, place, id, range, count, links.
        let at = written.start("waypoint_boxes") + 2 + 2 * "waypoint_000\0".len() + 0x34;
        for (at, says) in [(at, "another waypoint has id 101"), (at + 12, "leads to waypoint 999")] {
            let id = if says.contains("another") { 101 } else { 999 };
            let report = patched(&written, at, id).verify(&Progress::default());
            let check = report.checks.iter().find(|c| c.name == "waypoint_links").unwrap();
            assert!(check.findings().iter().any(|e| e.to_string().contains(says)), "{:?}", check.findings());
        }
    }
}

mod writer {
    use super::*;
    use assetq::edit::{ColumnValues, EntryEdit, TableEdits, Writable as _};

    #[derive(Debug, Clone, Copy)]
    enum Row {
        Set(usize),
        Add,
        Remove(usize),
    }
    use Row::{Add, Remove, Set};

    /// The columns of a table by their names, and a column past the last one by any other name.
    fn cells(map: &Map, table: &str, cells: &[(&str, Value<'static>)]) -> ColumnValues {
        let table = map.table(table).unwrap();
        let column = |name: &str| column_index(&*table, name).unwrap_or(table.columns().len());
        cells.iter().map(|(name, value)| (column(name), value.clone())).collect()
    }

    /// The message of the writer, which other programs may give edits that no reader has checked.
    fn refusal(map: &Map, table: &str, row: Row, set: &[(&str, Value<'static>)]) -> String {
        let mut edits = TableEdits { table: table.to_owned(), ..TableEdits::default() };
        match row {
            Set(row) => edits.set.push((row, cells(map, table, set))),
            Add => edits.add.push(cells(map, table, set)),
            Remove(row) => edits.remove.push(row),
        }
        let mut edits = vec![edits];
        let made = map.settle(&mut edits).and_then(|()| map.write(&edits));
        made.err().unwrap_or_else(|| panic!("{table} {row:?} {set:?} is written")).to_string()
    }

    fn object(members: &[(&'static str, Value<'static>)]) -> Value<'static> {
        Value::Map(members.iter().map(|(name, value)| ((*name).into(), value.clone())).collect())
    }

    fn list(items: impl IntoIterator<Item = Value<'static>>) -> Value<'static> {
        Value::List(items.into_iter().collect())
    }

    #[test]
    fn each_refusal_names_the_column_the_value_and_what_fits() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        let views = |view: Value<'static>| ("camera_infos", list(vec![view; 4]));
        for (table, row, set, message) in [
            ("waypoint_links", Set(0), &[][..], "table waypoint_links follows from others and is not written"),
            ("portal_boxes", Set(0), &[("offset", Value::Uint(1))], "column offset is not written"),
            ("portal_boxes", Set(0), &[("no such", Value::Uint(1))], "portal_boxes"),
            ("portal_boxes", Set(999), &[("id", Value::Int(1))], "portal_boxes"),
            ("portal_boxes", Add, &[("id", Value::Int(1))], "portal_boxes: new row 0: a new row needs a name"),
            (
                "portal_boxes",
                Set(0),
                &[("id", Value::Null)],
                "portal_boxes: row 0: column id: null does not fit: a value",
            ),
            (
                "portal_boxes",
                Set(0),
                &[("id", "x".into())],
                "column id: \"x\" does not fit: a whole number from -2147483648",
            ),
            ("portal_boxes", Set(0), &[("active", Value::Int(2))], "column active: 2 does not fit: true or false"),
            (
                "portal_boxes",
                Set(0),
                &[("pos_x", Value::F32(f32::INFINITY))],
                "does not fit: a finite number in its range",
            ),
            (
                "portal_boxes",
                Set(0),
                &[("warp_map_name", Value::Int(1))],
                "column warp_map_name: 1 does not fit: a text without NUL",
            ),
            ("portal_boxes", Set(0), &[("warp_map_name", "a\0b".into())], "does not fit: a text without NUL"),
            (
                "event_hit_boxes",
                Set(0),
                &[("state", Value::Int(-1))],
                "column state: -1 does not fit: a whole number from 0 to 4294967295",
            ),
            ("event_hit_boxes", Set(0), &[("hit_times", Value::Uint(1))], "column hit_times: 1 does not fit: a list"),
            ("skid_boxes", Set(0), &[("velocity", Value::Uint(1))], "column velocity: 1 does not fit: a list"),
            (
                "skid_boxes",
                Set(0),
                &[("velocity", Value::floats([1.0]))],
                "column velocity: [1] does not fit: a list of 3",
            ),
            ("camera_boxes", Set(0), &[views(Value::Uint(1))], "column camera_infos: 1 does not fit: an object"),
            (
                "camera_boxes",
                Set(0),
                &[views(object(&[("zoom", Value::Uint(1))]))],
                "column camera_infos: there is no member \"zoom\"",
            ),
            (
                "waypoint_boxes",
                Set(0),
                &[("links", list([])), ("link_distances", list([Value::F32(1.0)]))],
                "column link_distances: 1 items do not fit: links has 0, and both have as many",
            ),
            (
                "waypoint_boxes",
                Add,
                &[("name", "new".into()), ("links", list([Value::Int(100)]))],
                "waypoint_boxes: new row 0: column link_distances: 1 items are needed, as the other list has",
            ),
            ("event_boxes", Add, &[("name", "new".into())], "a new row of event_boxes needs a type_name"),
            ("event_boxes", Set(0), &[("offset", Value::Uint(1))], "column offset is not written"),
            ("scripts", Add, &[("kind", "event".into())], "a new row of scripts needs a kind and a path"),
            (
                "scripts",
                Set(0),
                &[("kind", "event".into())],
                "column kind: the kind of a script cannot change: remove it and add one",
            ),
            ("scripts", Remove(0), &[], "scripts: script_dir cannot go"),
        ] {
            let said = refusal(&map, table, row, set);
            assert!(said.contains(message), "{table} {row:?} {set:?}: {said}");
        }
    }

    #[test]
    fn a_map_without_such_records_refuses_them() {
        let scripts = Spec { triggers: TriggerLayout::Scripts, ..Spec::new(22, 9) };
        let server = Spec { server_side: true, ..Spec::new(20, 8) };
        let name = ("name", "new".into());
        for (spec, table, set, message) in [
            (
                &scripts,
                "triggers",
                &[name.clone()][..],
                "triggers: this map lists scripts instead of triggers, so that it has no such rows",
            ),
            (&server, "scenes", &[], "scenes: this map ends after the triggers, so that it has no such rows"),
            (
                &Spec::new(19, 9),
                "scenes",
                &[("scene_indices", list([Value::Uint(1)]))],
                "scenes: column scene_indices: a map of version 19 has none; from 20 on maps do",
            ),
            (
                &Spec::new(6, 1),
                "portal_boxes",
                std::slice::from_ref(&name),
                "portal_boxes: the table of event boxes of this map has no such type",
            ),
        ] {
            let said = refusal(&open(write(spec).bytes), table, Add, set);
            assert!(said.contains(message), "{table}: {said}");
        }
        // Lists of a camera's view, from version 4 of the event boxes on.
        let view = |lists: &[(&'static str, Value<'static>)]| [("camera_infos", list(vec![object(lists); 4]))];
        let old = open(write(&Spec::new(22, 3)).bytes);
        for (lists, message) in [
            (
                view(&[("pvs_bg_ids", list([Value::Uint(1)]))]),
                "column pvs_bg_ids: maps of this version do not store it",
            ),
            (
                view(&[("build_pvs", true.into())]),
                "column build_pvs: true does not fit: nothing, as maps of this version do not store it here",
            ),
        ] {
            let said = refusal(&old, "camera_boxes", Set(0), &lists);
            assert!(said.contains(message), "{said}");
        }
    }

    /// A new row has the defaults of its fields: no text, 0, no items, and each record of a fixed number of them.
    #[test]
    fn a_new_row_needs_its_name_only() {
        let map = open(write(&Spec::new(22, 9)).bytes);
        for (table, shown) in [
            (
                "respawn_boxes",
                &[
                    ("enemy_name", ""),
                    ("respawn_time", "0"),
                    ("difficulty", "[false, false, false, false, false]"),
                    ("scale_x", "1"),
                ][..],
            ),
            ("event_hit_boxes", &[("hit_times", "[]"), ("direction", "[0, 0, 0]"), ("state", "0")]),
            ("camera_boxes", &[("category", "0"), ("rot_w", "1")]),
        ] {
            let edits = TableEdits {
                table: table.to_owned(),
                add: vec![cells(&map, table, &[("name", "new".into())])],
                ..TableEdits::default()
            };
            let made = open(map.write(&[edits]).unwrap().bytes(map.source().bytes()));
            let (rows, last) = (made.table(table).unwrap(), map.table(table).unwrap().len().unwrap());
            let cell = |name: &str| rows.value(last, column_index(&*rows, name).unwrap()).unwrap().into_owned();
            assert_eq!((rows.len().unwrap(), cell("name").to_string()), (last + 1, "new".to_owned()));
            for (column, shown) in shown {
                assert_eq!(cell(column).to_string(), *shown, "{table}.{column}");
            }
            if table == "camera_boxes" {
                let Value::List(views) = cell("camera_infos") else { panic!("a list of views") };
                assert_eq!(views.len(), 4);
                assert_eq!(get_member(&views[3], "pvs_bg_ids"), Value::List(vec![]));
            }
        }
    }

    fn get_member(value: &Value<'static>, name: &str) -> Value<'static> {
        let Value::Map(members) = value else { panic!("{value:?}") };
        members.iter().find(|(member, _)| member == name).unwrap_or_else(|| panic!("no {name}")).1.clone()
    }

    #[test]
    fn an_entry_is_written_as_an_object_of_its_columns() {
        let map = open(demo(3, Size::Small));
        let mut tree = Tree::default();
        assert!(map.cat("portal_001", &mut tree).unwrap());
        let shown = tree.into_value();
        let same = map.entry("portal_001", &shown).unwrap();
        assert!(matches!(same, Some(EntryEdit::Edits(edits)) if edits.is_empty()));
        for (entry, new, message) in [
            ("nobody", shown.clone(), "nobody"),
            ("portal_001", Value::Uint(1), "an entry is an object of columns"),
            ("portal_001", object(&[("colour", Value::Uint(1))]), "the entry has no \"colour\""),
            ("portal_001", object(&[("table", "scenes".into())]), "table follows from others and is not written"),
        ] {
            let said = map.entry(entry, &new).unwrap_err().to_string();
            assert!(said.contains(message), "{said}");
        }
    }

    /// Where new boxes belong is unknown if the boxes of another type are damaged.
    #[test]
    fn boxes_of_a_new_type_need_the_end_of_all_boxes() {
        let mut spec = Spec { wild: false, ..Spec::new(22, 9) };
        spec.boxes[BoxType::PortalBox as usize] = 0;
        let mut bytes = write(&spec).bytes;
        let last = *open(bytes.clone()).box_types().unwrap().last().unwrap();
        let at = open(bytes.clone()).boxes(last).unwrap().get(0).unwrap().offset() as usize;
        // The name of the first of these boxes does not end.
        bytes[at..at + 2].fill(0xFF);
        let said = refusal(&open(bytes), "portal_boxes", Add, &[("name", "new".into())]);
        assert!(said.contains(last.shape().name) && said.contains("0x"), "{said}");
    }
}
