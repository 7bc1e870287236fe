//! Text models: `.visual`, `.model`, `.mfm`, `.info`.

mod plain;

use assetq::formats::ErrorKind;
use assetq::formats::id;
use assetq::formats::relations::IdTexts as _;
use assetq::query::archive::Cache;
use assetq::query::archive::names::NameSources;
use assetq::view::scene::{Context, SceneFormat, Shapes, TextureMode};
use assetq::view::texture_files::TextureFiles;
use assetq::{Asset, Options, Source};
use assetq_sample::text_models::{self as build, Dialect, Node, Property, RenderSet};

const NODES: [Node<'_>; 3] = [
    Node { name: "Scene Root", parent: None, position: [0.0; 3] },
    Node { name: "Turret", parent: Some(0), position: [0.0, 1.5, 0.0] },
    Node { name: "HP_gunFire1", parent: Some(1), position: [0.25, 0.0, -2.0] },
];

const SETS: [RenderSet<'_>; 2] = [
    RenderSet { name: "TurretShape", node: "Turret", material: "PBS_Gun", mfm: "mods/gun/turret.mfm", lod: 0 },
    RenderSet { name: "Turret_lod1Shape", node: "Turret", material: "PBS_Gun", mfm: "mods/gun/turret.mfm", lod: 1 },
];

/// Samples of the three formats in both dialects.
fn samples() -> [(&'static str, Vec<u8>); 6] {
    let full = assetq_sample::Size::Full;
    [
        ("a.visual", build::demo_visual(1, full)),
        ("old.visual", build::demo_old_visual(1, full)),
        ("old.model", build::demo_model(1, full)),
        ("a.model", build::model("a", "mods/gun/a.visual")),
        ("a.mfm", build::demo_material(1, full)),
        ("a.info", build::demo_info(1, full)),
    ]
}

/// Texts that no value, name or tag of a file should be.
const WRONG: [&str; 18] = [
    "",
    "nan",
    "-inf",
    "1e39",
    "0x1",
    "1 2 3 4 5",
    "1,5",
    "&#0;",
    "&x;",
    "<",
    "</",
    "<!--",
    "<![CDATA[",
    "<?x",
    "<!DOCTYPE x",
    "<x y='1'/>",
    "\u{feff}",
    "\0",
];

/// A copy of `whole` with damage of the kind `kind`.
fn damage(rng: &mut fastrand::Rng, whole: &[u8], kind: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let at = rng.usize(..bytes.len());
    let tags: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'<').collect();
    let tag = *rng.choice(&tags).unwrap();
    let end = tag + bytes[tag..].iter().position(|&byte| byte == b'>').unwrap() + 1;
    let insert = |bytes: &mut Vec<u8>, at: usize, text: &str| drop(bytes.splice(at..at, text.bytes()));
    match kind % 10 {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << rng.u8(..8),
        2 => drop(bytes.drain(tag..end)),
        3 => bytes.extend_from_within(tag..),
        4 => insert(&mut bytes, end, rng.choice(&WRONG).unwrap()),
        // The text after a tag.
        5 => {
            let next = bytes[end..].iter().position(|&byte| byte == b'<').map_or(bytes.len(), |len| end + len);
            bytes.splice(end..next, rng.choice(&WRONG).unwrap().bytes());
        }
        6 => insert(&mut bytes, end, &"<node>".repeat(rng.usize(..400))),
        7 => insert(&mut bytes, end - 1, &format!(" a=\"{}\"", "x".repeat(rng.usize(..100_000)))),
        8 => insert(&mut bytes, at, &"<".repeat(rng.usize(1..100_000))),
        _ => bytes = crate::common::damaged(rng, whole),
    }
    bytes
}

#[test]
fn a_list_of_models_has_their_names_and_leaves_their_texts_unread() {
    let text = "<RootModels.info>\n\t<0AGM034.model>\tKAMAAABz\t</0AGM034.model>\n\t<AGM035.model></AGM035.model>\n</RootModels.info>\n";
    let asset = Asset::open(Source::from_vec("RootModels.info", text.into())).unwrap();
    assert_eq!(asset.format().name(), "info");
    assert_eq!(column(&asset, "models", "name"), ["0AGM034.model", "AGM035.model"]);
    assert_eq!(column(&asset, "models", "size"), ["8", "0"]);
    let cut = Asset::open(Source::from_vec("RootModels.info", text.as_bytes()[..40].to_vec())).unwrap();
    let error = cut.reader().tables()[0].len().unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}

#[test]
fn damaged_copies_end_in_an_answer_or_in_a_line() {
    let mut rng = fastrand::Rng::with_seed(27);
    for (name, whole) in samples() {
        let mut found = 0;
        for case in 0..300 {
            let bytes = damage(&mut rng, &whole, case);
            let errors = match Asset::open(Source::from_vec(name, bytes)) {
                Ok(asset) => crate::common::errors_of(&asset),
                Err(error) => vec![error],
            };
            found += usize::from(!errors.is_empty());
            for error in errors {
                let text = error.to_string();
                let is_absent = matches!(error.kind(), ErrorKind::NotFound { .. });
                let has_place = text.contains("line ") && error.offset().is_some();
                // A copy that does not begin with a tag is no text model.
                let is_foreign = matches!(error.kind(), ErrorKind::UnknownFormat { head } if !head.starts_with(b"<"));
                // Packed text has no lines, and an element that is missing has none.
                assert!(has_place || is_absent || is_foreign, "{name} {case}: {text}");
            }
        }
        assert!(found > 150, "{name}: only {found} damaged copies have errors");
    }
}

/// A million wrong values do not count the lines before them a million times.
#[test]
fn many_errors_of_a_large_file_take_no_time() {
    let lods = "<lod><extent>x</extent></lod>\n".repeat(200_000);
    let asset = open("a.visual", format!("<a.visual><lods>{lods}</lods></a.visual>").into_bytes());
    let table = asset.reader().table("lods").unwrap();
    let (started, last) = (std::time::Instant::now(), table.len().unwrap() - 1);
    for row in [0, last].into_iter().cycle().take(20_000) {
        assert!(table.value(row, 1).is_err());
    }
    let error = table.value(last, 1).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}: extent", last + 1)), "{error}");
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}

fn open(name: &str, bytes: Vec<u8>) -> Asset {
    Asset::open(Source::from_vec(name, bytes)).unwrap()
}

/// The cells of a column, as text.
fn column(asset: &Asset, table: &str, column: &str) -> Vec<String> {
    let table = asset.reader().table(table).unwrap();
    let column = table.columns().iter().position(|c| c.name == column).unwrap();
    let mut rows = table.cursor(0);
    let mut cells = Vec::new();
    while rows.advance().unwrap() {
        cells.push(rows.value(column).unwrap().to_string());
    }
    cells
}

#[test]
fn both_dialects_give_the_same_tables() {
    let [old, new] = [Dialect::Old, Dialect::New].map(|dialect| build::visual("0 a.b", dialect, &NODES, &SETS));
    let (old, new) = (open("old", old), open("new", new));
    for name in ["index", "name", "parent", "x", "y", "z", "transform", "rotate_min"] {
        assert_eq!(column(&old, "nodes", name), column(&new, "nodes", name), "{name}");
    }
    assert_eq!(column(&new, "nodes", "parent"), ["", "0", "1"]);
    assert_eq!(column(&new, "nodes", "z"), ["0", "0", "-2"]);
    for name in ["vertices", "indices", "vertices_id", "indices_id", "material", "mfm", "nodes", "world_space"] {
        assert_eq!(column(&old, "render_sets", name), column(&new, "render_sets", name), "{name}");
    }
    let ids = ["TurretShape.indices", "Turret_lod1Shape.indices"].map(|name| format!("0x{:08X}", id::of_name(name)));
    assert_eq!(column(&old, "render_sets", "indices_id"), ids);
    assert_eq!(column(&new, "render_sets", "name"), ["TurretShape", "Turret_lod1Shape"]);
    assert_eq!(column(&new, "lods", "extent"), ["4", "8"]);
    assert_eq!(column(&new, "lods", "render_sets"), ["[TurretShape]", "[Turret_lod1Shape]"]);
    assert_eq!(column(&old, "lods", "extent"), [""; 0]);
}

#[test]
fn a_model_names_its_visual_with_an_ending() {
    let level = build::level("a", r"mods\gun\a", Some("mods/gun/lods/a_lod1"), 6.0);
    let old = open("a.model", level);
    assert_eq!(column(&old, "models", "visual"), ["mods/gun/a.visual"]);
    assert_eq!(column(&old, "models", "parent"), ["mods/gun/lods/a_lod1.model"]);
    assert_eq!(column(&old, "models", "extent"), ["6"]);
    let new = open("a.model", build::model("a", "mods/gun/a.visual"));
    assert_eq!(column(&new, "models", "visual"), ["mods/gun/a.visual"]);
    assert_eq!(column(&new, "models", "parent"), [""]);
    assert_eq!(column(&new, "models", "animations"), ["[]"]);
}

#[test]
fn a_material_has_values_of_its_kinds() {
    let properties = [
        Property { name: "diffuseMap", kind: "Texture", value: r"mods\gun\a.dds" },
        Property { name: "glow", kind: "Float", value: "0.5000" },
        Property { name: "tint", kind: "Vector3", value: "1 0.5 0" },
    ];
    for name in ["hull", "0cb6", "4 a"] {
        let material = open("x", build::material(name, "a.fx", &properties));
        assert_eq!(material.format().name(), "mfm");
        assert_eq!(column(&material, "properties", "value"), ["mods/gun/a.dds", "0.5", "[1, 0.5, 0]"]);
    }
}

/// The error of opening and reading these bytes.
fn error(name: &str, text: &str) -> String {
    let asset = match Asset::open(Source::from_vec(name, text.as_bytes().to_vec())) {
        Ok(asset) => asset,
        Err(error) => return error.to_string(),
    };
    crate::common::errors_of(&asset).first().map(ToString::to_string).unwrap()
}

#[test]
fn errors_have_a_line_and_an_offset() {
    for (text, expected) in [
        ("<a.visual>\n<node>\n</a.visual>", "line 3: \"a.visual\" ends \"node\" (at offset 0x12)"),
        ("<a.visual>\n<node/>", "line 1: \"a.visual\" has no end (at offset 0x1)"),
        ("<a.visual></a.visual>\n<b></b>", "line 2: a second root element (at offset 0x17)"),
        ("<a.visual b=\"c\"></a.visual>", "line 1: an attribute, which no text model has (at offset 0x1)"),
        ("<a.visual>\n<![CDATA[x]]></a.visual>", "line 2: CDATA, instructions and document types are in no text model"),
        ("<a.visual>\n<b/>text</a.visual>", "line 2: text after an element (at offset 0xf)"),
        ("<!-- nothing -->", "line 1: no element (at offset 0x0)"),
    ] {
        let error = error("a.visual", text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let rows = |row: &str| {
        error("a.visual", &format!("<a.visual>\n<node><transform>\n<row3>{row}</row3></transform></node></a.visual>"))
    };
    assert!(
        rows("1 2 nan").contains("line 3: row3: \"nan\" is no finite number (at offset 0x1e)"),
        "{}",
        rows("1 2 nan")
    );
    assert!(rows("1 2 3 4 5").contains("line 3: row3: more than 4 numbers"), "{}", rows("1 2 3 4 5"));
    let deep = format!("<a.visual>{}{}</a.visual>", "<node>".repeat(300), "</node>".repeat(300));
    let expected = "line 1: more than 256 elements in each other (at offset 0x605)";
    assert!(error("a.visual", &deep).contains(expected), "{}", error("a.visual", &deep));
    let far = error(
        "a.visual",
        &format!("<a.visual>{}<lods><lod><extent>x</extent></lod></lods></a.visual>", "\n".repeat(9000)),
    );
    assert!(far.contains("line 9001: extent: \"x\" is no finite number (at offset 0x233e)"), "{far}");
    let packed = Asset::open(Source::from_vec("a.visual", vec![0x45, 0x4E, 0xA1, 0x62, 0])).unwrap_err().to_string();
    assert!(packed.contains("packed XML of BigWorld"), "{packed}");
    let float = error("a.mfm", "<a.mfm>\n<fx>a.fx</fx><property>p<Float>x</Float></property></a.mfm>");
    assert!(float.contains("line 2: property p: \"x\" is no Float (at offset 0x21)"), "{float}");
}

/// A folder with the sample of a geometry, `ship.geometry`, and these files.
fn folder(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut write = crate::common::writer(folder.path());
    write("ship.geometry", assetq_sample::geometry::demo(1, assetq_sample::Size::Small));
    for (name, bytes) in files {
        write(name, bytes.clone());
    }
    drop(write);
    folder
}

const MFM: &str = "PnFMods/gun/hull.mfm";

/// The render sets of the sample of a geometry, at these levels of detail, on the node Turret.
fn sets(levels: &[(&'static str, usize)]) -> Vec<RenderSet<'static>> {
    let set = |&(name, lod)| RenderSet { name, node: "Turret", material: "PBS_Gun", mfm: MFM, lod };
    levels.iter().map(set).collect()
}

fn material() -> Vec<u8> {
    let texture = Property { name: "diffuseMap", kind: "Texture", value: "PnFMods/gun/hull_a.tga" };
    build::material("hull", "shaders/PBS_ship.fx", &[texture])
}

/// The names of a geometry's groups come from the visual beside it. Its bytes are what is compared.
#[test]
fn a_geometry_equals_its_copy_and_its_edited_copy_differs_in_the_edit_alone_wherever_they_lie() {
    use crate::common::run;
    let visual =
        build::visual("ship", Dialect::New, &NODES, &sets(&[("hull_0_lod0Shape", 0), ("hull_1_lod0Shape", 0)]));
    let folder = folder(&[("ship.visual", visual)]);
    let at = folder.path();
    std::fs::create_dir(at.join("alone")).unwrap();
    std::fs::copy(at.join("ship.geometry"), at.join("alone/ship.geometry")).unwrap();
    for [old, new] in [["ship.geometry", "alone/ship.geometry"], ["alone/ship.geometry", "ship.geometry"]] {
        for table in [&[][..], &["-t", "render_groups"]] {
            assert_eq!(
                run(at, 0, &[&["diff", old, new, "-f", "ndjson"], table].concat()).0,
                "",
                "{old} {new} {table:?}"
            );
        }
        assert_eq!(run(at, 0, &["diff", old, new, "-f", "patch"]).0, "", "{old} {new}");
    }
    // The geometry alone pairs mappings by their densities.
    let update = ["vertex_mappings", "index_mappings"]
        .map(|table| format!("UPDATE {table} SET texel_density = 77 WHERE rowid = 0"))
        .join("; ");
    for (file, to) in [("ship.geometry", &["--dry-run"][..]), ("ship.geometry", &["--to", "alone/new.geometry"])] {
        let (rows, _) = run(at, 0, &[&["sql", &update, file, "-f", "ndjson"], to].concat());
        let tables: Vec<&str> = rows.lines().map(|row| row.split('"').nth(3).unwrap()).collect();
        assert_eq!(tables, ["vertex_mappings", "index_mappings"], "{file} {to:?}: {rows}");
    }
}

#[test]
fn a_geometry_is_read_with_the_visual_beside_it() {
    let all = sets(&[("hull_0_lod0Shape", 0), ("hull_0_lod1Shape", 1), ("hull_1_lod0Shape", 0), ("elsewhereShape", 0)]);
    let folder = folder(&[
        ("ship.visual", build::visual("ship", Dialect::New, &NODES, &all)),
        ("ship.model", build::model("ship", "PnFMods/gun/ship.visual")),
        ("hull.mfm", material()),
        ("hull_a.dds", assetq_sample::dds::demo(1, assetq_sample::Size::Small)),
    ]);
    let path = folder.path().join("ship.geometry");
    let asset = Asset::open(Source::open(&path).unwrap()).unwrap();
    assert_eq!(
        column(&asset, "render_groups", "name")[..3],
        ["hull_0_lod0Shape", "hull_0_lod1Shape", "hull_1_lod0Shape"]
    );
    let (hits, _) = crate::common::run(folder.path(), 0, &["find", "hull_1_lod0Shape", "ship.geometry"]);
    assert!(hits.contains("render_groups"), "{hits}");
    assert_eq!(column(&asset, "render_groups", "material"), ["PBS_Gun", "PBS_Gun", "PBS_Gun", "", ""]);
    assert_eq!(column(&asset, "render_groups", "mfm")[..3], [MFM; 3]);
    assert_eq!(column(&asset, "render_groups", "lod"), ["0", "1", "0", "", ""]);
    assert!(column(&asset, "render_groups", "name")[3].starts_with("group_"), "others are paired by hints");
    let report = asset.reader().verify(&Default::default());
    let names = report.checks.iter().find(|check| check.name == "names of groups").unwrap();
    let detail = &names.detail;
    assert!(detail.starts_with("visuals name 3 of 5 groups, and not group_"), "{detail}");
    assert!(detail.ends_with("no group is called elsewhereShape"), "{detail}");

    let alone = assetq::Format::configure("companions", &[], "", &Options::default()).unwrap();
    let alone = Asset::open_with(Source::open(&path).unwrap(), &alone).unwrap();
    assert!(column(&alone, "render_groups", "name").iter().all(|name| name.starts_with("group_")));

    let mut files = TextureFiles::new(&Options::default());
    files.add_folder(folder.path());
    let mut context = Context::default();
    context.textures = Some(&files);
    let mut options = assetq::view::scene::Options::default();
    options.textures = TextureMode::Png;
    let drawing = asset.reader().facet::<dyn Shapes>().unwrap().draw(&context, options).unwrap();
    let mut glb = Vec::new();
    drawing.write(SceneFormat::Glb, &mut glb).unwrap();
    let glb = gltf::Gltf::from_slice(&glb).unwrap();
    let mesh = glb.nodes().find(|node| node.name() == Some("hull_0_lod0Shape")).unwrap();
    let material = mesh.mesh().unwrap().primitives().next().unwrap().material();
    assert!(material.pbr_metallic_roughness().base_color_texture().is_some());
    assert_eq!(mesh.transform().matrix()[3][..3], [0.0, 1.5, 0.0], "it hangs on the node Turret");
    assert!(glb.nodes().all(|node| node.name() != Some("hull_0_lod1Shape")), "the finest level is shown");
    let muzzle = glb.nodes().find(|node| node.name() == Some("HP_gunFire1")).unwrap();
    assert_eq!(muzzle.transform().matrix()[3][..3], [-0.25, 1.5, -2.0], "x is turned around");
    assert!(muzzle.mesh().is_none());
}

#[test]
fn levels_of_an_older_model_are_found_by_its_parents() {
    let level = |sets: &[RenderSet<'_>]| build::visual("ship", Dialect::Old, &NODES, sets);
    let folder = folder(&[
        ("ship.visual", level(&sets(&[("hull_0_lod0Shape", 0)]))),
        ("ship.model", build::level("ship", "mods/ship", Some("mods/lods/ship_lod1"), 6.0)),
        ("lods/ship_lod1.model", build::level("ship_lod1", "mods/lods/ship_lod1", Some("mods/lods/ship_lod2"), 20.0)),
        ("lods/ship_lod1.visual", level(&sets(&[("hull_0_lod1Shape", 0)]))),
        // A model that is its own parent.
        ("lods/ship_lod2.model", build::level("ship_lod2", r"mods\lods\ship_lod2", Some("mods/lods/ship_lod2"), 99.0)),
        ("lods/ship_lod2.visual", level(&sets(&[("hull_0_lod2Shape", 0)]))),
    ]);
    let asset = Asset::open(Source::open(folder.path().join("ship.geometry")).unwrap()).unwrap();
    assert_eq!(
        column(&asset, "render_groups", "name")[..3],
        ["hull_0_lod0Shape", "hull_0_lod1Shape", "hull_0_lod2Shape"]
    );
    assert_eq!(column(&asset, "render_groups", "lod")[..3], ["0", "1", "2"]);
}

#[test]
fn a_damaged_visual_leaves_its_geometry_readable() {
    let folder = folder(&[("ship.visual", b"<ship.visual>\n<node>".to_vec())]);
    let asset = Asset::open(Source::open(folder.path().join("ship.geometry")).unwrap()).unwrap();
    let groups = asset.reader().table("render_groups").unwrap();
    assert!((0..5).all(|row| groups.value(row, 0).is_ok()), "the groups are known by the hints of the file");
    let mut rows = groups.cursor(5);
    let error = rows.advance().unwrap_err().to_string();
    assert!(error.contains("in ship.visual at 0xf: line 2: "), "after the last row: {error}");
    let errors = crate::common::errors_of(&asset);
    assert!(errors.iter().any(|error| error.to_string().contains("ship.visual")), "{errors:?}");
}

#[test]
fn text_models_refer_to_files_by_path_and_have_names() {
    let visual = open("ship.visual", build::visual("ship", Dialect::New, &NODES, &sets(&[("aShape", 0)])));
    let model = open("ship.model", build::level("ship", "mods/ship", Some("mods/lods/ship_lod1"), 6.0));
    let material = open("hull.mfm", material());
    let edges = |asset: &Asset| -> Vec<(u64, String)> {
        let relations = asset.reader().relations().unwrap();
        let found = relations.references(&|_, _| true, &Default::default());
        found.edges.into_iter().map(|edge| (edge.to, edge.column)).collect()
    };
    assert_eq!(edges(&visual), [(id::of_path(MFM), "mfm".to_owned())]);
    assert_eq!(
        edges(&model),
        [
            (id::of_path("mods/ship.visual"), "visual".into()),
            (id::of_path("mods/lods/ship_lod1.model"), "parent".into())
        ]
    );
    assert_eq!(edges(&material), [(id::of_path("PnFMods/gun/hull_a.tga"), "diffuseMap".to_owned())]);
    let mut names = NameSources::default();
    names.add_asset(visual);
    names.add_asset(material);
    for name in ["aShape", "aShape.vertices", "aShape.indices", "HP_gunFire1", "PBS_Gun", "diffuseMap"] {
        assert_eq!(names.name(id::of_name(name)).unwrap().as_deref(), Some(name));
    }
    assert_eq!(names.path(id::of_path(MFM)).unwrap().as_deref(), Some(MFM));
}

/// Names of a folder are read once and kept. A change of any file makes another file of the cache.
#[test]
fn names_of_a_folder_are_kept_until_a_file_changes() {
    let dir = tempfile::tempdir().unwrap();
    let mut write = crate::common::writer(dir.path());
    let written = build::sdk(8, |path, bytes| {
        write(&format!("SDK/{path}"), bytes.to_vec());
        Ok::<(), ()>(())
    });
    written.unwrap();
    let cache = std::sync::Arc::new(Cache::in_folder(dir.path().join("cache")).with_limits(1, 1 << 30));
    let kept = |count: usize| assert_eq!(cache.files().unwrap().len(), count);
    let options = Options::default().with(std::sync::Arc::clone(&cache));
    let names = |options: &Options| {
        let mut names = NameSources::default();
        names.add_folder(&dir.path().join("SDK"), options, &Default::default()).unwrap();
        names
    };
    let has = |names: &NameSources, name: &str| names.name(id::of_name(name)).unwrap().as_deref() == Some(name);
    let last = "AGM00001_4in50_lod3Shape.vertices";
    for _ in 0..2 {
        let names = names(&options);
        assert!(has(&names, last) && !has(&names, "newShape") && names.left_out().is_empty());
        let mfm = "content/gameplay/germany/gun/main/AGM00001_4in50/AGM00001_4in50.mfm";
        assert_eq!(names.path(id::of_path(mfm)).unwrap().as_deref(), Some(mfm));
        kept(1);
    }
    // The mapped file answers.
    let bytes = std::fs::read(&cache.files().unwrap()[0].path).unwrap();
    assert!(bytes.windows(last.len()).any(|text| text == last.as_bytes()));
    write("SDK/new.visual", build::visual("new", Dialect::New, &NODES, &sets(&[("newShape", 0)])));
    assert!(has(&names(&options), "newShape"));
    kept(2);
    // A file that cannot be read is left out, also later.
    write("SDK/content/bad.visual", b"<bad.visual>".to_vec());
    for _ in 0..2 {
        let names = names(&options);
        assert!(has(&names, last) && has(&names, "newShape"));
        let [said] = names.left_out() else { panic!("{:?}", names.left_out()) };
        assert!(said.contains("names of 1 file are left out") && said.contains("content/bad.visual: "), "{said}");
        kept(3);
    }
    assert_eq!(names(&Options::default()).left_out().len(), 1, "without a cache");
    let mut strict = options;
    strict.strict = true;
    let error = NameSources::default().add_folder(&dir.path().join("SDK"), &strict, &Default::default()).unwrap_err();
    assert!(error.to_string().contains("bad.visual"), "{error}");
}

#[test]
fn groups_of_real_mods_have_their_names() {
    for path in crate::common::files_in("mods/iowa/gun").into_iter().chain(crate::common::files_in("mods/colossus/gun"))
    {
        if path.extension().is_none_or(|ending| ending != "geometry") {
            continue;
        }
        let asset = Asset::open(Source::open(&path).unwrap()).unwrap();
        for (name, lod) in column(&asset, "render_groups", "name").iter().zip(column(&asset, "render_groups", "lod")) {
            assert!(!name.starts_with("group_") && !lod.is_empty(), "{}: {name} {lod:?}", path.display());
        }
    }
}

/// Compares all tables of a file with the tables of a plain reader.
fn is_as_plain(name: &str, bytes: Vec<u8>) {
    let root = plain::Tag::parse(std::str::from_utf8(&bytes).unwrap());
    let asset = open(name, bytes);
    let tables = match asset.format().name() {
        "visual" => plain::visual(&root),
        "model" => plain::model(&root),
        "info" => plain::info(&root),
        _ => plain::material(&root),
    };
    assert_eq!(tables.len(), asset.reader().tables().len());
    for (table, columns) in tables {
        for (column, cells) in columns {
            assert_eq!(self::column(&asset, table, column), cells, "{name}: {table}.{column}");
        }
    }
    let errors = crate::common::errors_of(&asset);
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn tables_are_those_of_a_plain_reader() {
    samples().into_iter().for_each(|(name, bytes)| is_as_plain(name, bytes));
    let compared = build::sdk(12, |path, bytes| {
        is_as_plain(path, bytes.to_vec());
        Ok::<(), ()>(())
    });
    compared.unwrap();
}

#[test]
fn tables_of_real_text_models_are_those_of_a_plain_reader() {
    let mut folders: Vec<_> = crate::common::samples().into_iter().map(|samples| samples.join("mods")).collect();
    let mut counts = [0; 3];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(at) =
                ["visual", "model", "mfm"].iter().position(|ending| path.extension().is_some_and(|e| e == *ending))
            {
                is_as_plain(&path.to_string_lossy(), std::fs::read(&path).unwrap());
                counts[at] += 1;
            }
        }
    }
    assert!(crate::common::samples().is_none() || counts.iter().all(|count| *count >= 4), "{counts:?}");
}

/// A turret of two bones that mirror, as the game's bones do. Its GLB has them without a mirror, as joints of a skin.
#[test]
fn vertices_with_bones_have_a_skin_of_the_nodes_of_the_visual() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gun.geometry");
    std::fs::write(&path, assetq_sample::geometry::turret()).unwrap();
    std::fs::write(folder.path().join("gun.visual"), build::turret_visual()).unwrap();
    let asset = Asset::open(Source::open(&path).unwrap()).unwrap();
    let drawing = asset.reader().facet::<dyn Shapes>().unwrap().draw(&Context::default(), Default::default()).unwrap();
    let mut bytes = Vec::new();
    drawing.write(SceneFormat::Glb, &mut bytes).unwrap();
    let glb = gltf::Gltf::from_slice(&bytes).unwrap();
    let node = glb.nodes().find(|node| node.mesh().is_some()).unwrap();
    let skin = node.skin().unwrap();
    let names: Vec<_> = skin.joints().map(|joint| joint.name().unwrap().to_owned()).collect();
    assert_eq!(names[..2], ["Rotate_Y_BlendBone", "Rotate_X_BlendBone"], "the bones of the render set, by number");
    assert!(names.contains(&"Rotate_Y".to_owned()) && names.contains(&"Rotate_X".to_owned()), "{names:?}");
    // The joints have the positions of the file's nodes, and no joint mirrors.
    let world = |name: &str| {
        let mut world = [0.0f32; 3];
        let mut next = glb.nodes().find(|node| node.name() == Some(name));
        while let Some(node) = next {
            let (at, turn, scale) = node.transform().decomposed();
            assert!(scale.iter().all(|scale| *scale > 0.0) && turn[3].abs() > 0.99, "{name}: {scale:?} {turn:?}");
            world = [0, 1, 2].map(|axis| world[axis] * scale[axis] + at[axis]);
            next = glb.nodes().find(|above| above.children().any(|child| child.index() == node.index()));
        }
        world
    };
    assert_eq!(world("Rotate_X"), [0.0, 0.75 * 15.0, 15.0]);
    assert_eq!(world("HP_gunFire1"), [0.0, 0.75 * 15.0, 150.0]);
    assert_eq!(world("Rotate_X_BlendBone"), [0.0; 3]);
    // The stored vertices are mirrored along z; the vertices of the GLB lie at the nodes.
    let geometry = asset.get::<assetq::formats::wows::geometry::Geometry>().unwrap();
    let stored = geometry.mapped_vertices(0).unwrap();
    let primitive = node.mesh().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| glb.blob.as_deref());
    for ([x, y, z], stored) in reader.read_positions().unwrap().zip(stored.positions().unwrap()) {
        assert_eq!([-x, y, -z].map(|v| v + 0.0), stored.map(|v| v + 0.0));
    }
    let joints: Vec<[u16; 4]> = reader.read_joints(0).unwrap().into_u16().collect();
    let weights: Vec<[u8; 4]> = reader.read_weights(0).unwrap().into_u8().collect();
    assert_eq!((joints[0], weights[0]), ([0, 1, 0, 0], [180, 75, 0, 0]), "the second weight of the file is the first");
    // It comes back, also when another program has dropped the extras and put the vertices where the scene has them.
    let mut editor = assetq::edit::Editor::new(&asset).unwrap();
    editor.meshes(&bytes).unwrap();
    assert_eq!(editor.summary(), (0, 1, &[][..]));
}
