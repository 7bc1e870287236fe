//! The models of World of Warships: Legends, against a plain reader of their two files, and with damage in both.

use crate::common::{damaged, errors_of};
use assetq::formats::wows::bwdb::uber::UberModels;
use assetq::formats::{ErrorKind, Reader};
use assetq::table::{Tree, Value};
use assetq::{Asset, Source};
use assetq_sample::uber::{self, UberModel, demo_models};
use assetq_sample::{Size, wows};
use std::collections::BTreeMap;

fn open(index: Vec<u8>, data: Vec<u8>) -> assetq::Result<UberModels> {
    let data = Source::from_vec("prototypes.data", data);
    UberModels::open(Source::from_vec("prototypes.index.data", index), Some(data))
}

fn demo() -> ([Vec<u8>; 2], Vec<UberModel>) {
    let models = demo_models(3, Size::Small);
    (uber::pair(&models), models)
}

/// The cells of a table by the names of their columns, each as text.
fn rows(models: &UberModels, table: &str) -> Vec<BTreeMap<String, String>> {
    let table = models.table(table).unwrap();
    let cell = |row: usize, column: usize| table.value(row, column).unwrap().to_string();
    let names = || table.columns().iter().map(|column| column.name.to_string());
    (0..table.len().unwrap())
        .map(|row| names().enumerate().map(|(column, name)| (name, cell(row, column))).collect())
        .collect()
}

/// A reader that shares nothing with the library: positions as legends.md has them.
struct Plain<'a>(&'a [u8]);

impl Plain<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0[at..at + N].try_into().unwrap()
    }
    fn u16(&self, at: usize) -> usize {
        u16::from_le_bytes(self.bytes(at)).into()
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }
    fn f32(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.bytes(at))
    }
    /// The target of the pointer at `base + field`.
    fn follow(&self, base: usize, field: usize) -> usize {
        (base as i64 + self.u64(base + field) as i64) as usize
    }
    fn floats(&self, at: usize, count: usize) -> String {
        let floats = (0..count).map(|n| Value::F32(self.f32(at + 4 * n)).to_string());
        format!("[{}]", floats.collect::<Vec<_>>().join(", "))
    }
    fn id64(&self, at: usize) -> String {
        format!("0x{:016X}", self.u64(at))
    }
    fn id32(&self, at: usize) -> String {
        format!("0x{:08X}", self.u32(at))
    }
}

/// Compares cells of one row.
fn same(row: &BTreeMap<String, String>, expected: &[(&str, String)]) {
    for (column, value) in expected {
        assert_eq!(&row[*column], value, "{column} of {row:?}");
    }
}

#[test]
fn a_plain_reader_sees_the_same() {
    for seed in 0..20 {
        let [index, data] = uber::pair(&demo_models(seed, Size::Small));
        let models = open(index.clone(), data.clone()).unwrap();
        let (plain, data) = (Plain(&index), Plain(&data));
        let tables = ["models", "lods", "visuals", "render_sets", "skeleton_nodes", "materials", "material_properties"];
        let [all, lods, visuals, sets, nodes, materials, properties] = tables.map(|table| rows(&models, table));
        assert_eq!(all.len(), plain.u32(0) as usize);
        let mut at = [0; 6];
        let mut next = |table: usize| {
            at[table] += 1;
            at[table] - 1
        };
        for (n, row) in all.iter().enumerate() {
            let (values, keys) = (plain.u64(8) as usize, plain.u64(16) as usize);
            let span = plain.u64(values + 12 * n);
            let (blob, size, id) = ((span >> 32) as usize, span as u32, plain.id64(keys + 8 * n));
            let (levels, count) = (data.u32(blob) as usize, data.u32(blob + 4) as usize);
            let [variants, ids, visual, mfms, names, records] =
                [8, 16, 24, 32, 40, 48].map(|field| blob + data.u64(blob + field) as usize);
            same(
                row,
                &[
                    ("model", n.to_string()),
                    ("id", id.clone()),
                    ("offset", blob.to_string()),
                    ("size", size.to_string()),
                    ("level_count", levels.to_string()),
                    ("material_count", count.to_string()),
                ],
            );
            for level in 0..levels {
                let (variant, visual) = (variants + 0x48 * level, visual + 0x30 * level);
                let row = &lods[next(0)];
                same(
                    row,
                    &[("id", id.clone()), ("level", level.to_string()), ("level_id", data.id64(ids + 8 * level))],
                );
                same(row, &[("next_id", data.id64(variant)), ("visual_id", data.id64(variant + 8))]);
                same(row, &[("extent", Value::F32(data.f32(variant + 0x10)).to_string())]);
                let row = &visuals[next(1)];
                same(row, &[("level", level.to_string()), ("geometry_id", data.id64(visual + 0x18))]);
                same(row, &[("min", data.floats(visual, 3)), ("max", data.floats(visual + 12, 3))]);
                for set in 0..data.u32(visual + 0x20) as usize {
                    let at = data.follow(visual, 0x28) + 0x20 * set;
                    let row = &sets[next(2)];
                    same(row, &[("level", level.to_string()), ("index", set.to_string()), ("mfm_id", data.id64(at))]);
                    same(row, &[("material_name_id", data.id32(at + 8)), ("vertices_name_id", data.id32(at + 12))]);
                    same(
                        row,
                        &[("indices_name_id", data.id32(at + 16)), ("skinned", (data.0[at + 20] != 0).to_string())],
                    );
                    let palette = (0..usize::from(data.0[at + 21])).map(|n| data.id32(data.follow(at, 0x18) + 4 * n));
                    palette.for_each(|id| assert!(row["nodes"].contains(&id), "{row:?}"));
                }
            }
            for node in 0..data.u32(blob + 0x38) as usize {
                let base = blob + 0x38;
                let parent = data.u16(data.follow(base, 0x28) + 2 * node);
                let row = &nodes[next(3)];
                same(row, &[("index", node.to_string()), ("name_id", data.id32(data.follow(base, 0x18) + 4 * node))]);
                same(row, &[("matrix", data.floats(data.follow(base, 0x20) + 64 * node, 16))]);
                same(row, &[("parent", if parent == 0xFFFF { String::new() } else { parent.to_string() })]);
            }
            for material in 0..count {
                let at = records + 0x70 * material;
                let row = &materials[next(4)];
                same(row, &[("material", material.to_string()), ("mfm_id", data.id64(mfms + 8 * material))]);
                same(row, &[("material_name_id", data.id32(names + 4 * material)), ("fx_id", data.id64(at))]);
                same(row, &[("flags", data.u16(at + 0x0E).to_string())]);
                for property in 0..data.u16(at + 0x0C) {
                    let code = data.0[data.follow(at, 0x20) + property];
                    let (kind, number) = (usize::from(code & 7), usize::from(code >> 3));
                    let stride = [1, 4, 4, 8, 12, 8, 64, 16][kind];
                    let place = data.follow(at, 0x28 + 8 * kind) + stride * number;
                    let (kind, value) = match kind {
                        0 => ("bool", (data.0[place] != 0).to_string()),
                        1 => ("int", (data.u32(place) as i32).to_string()),
                        2 => ("float", Value::F32(data.f32(place)).to_string()),
                        3 => ("texture", String::new()),
                        4 => ("vec3", data.floats(place, 3)),
                        5 => ("vec2", data.floats(place, 2)),
                        6 => ("matrix", data.floats(place, 16)),
                        _ => ("vec4", data.floats(place, 4)),
                    };
                    let row = &properties[next(5)];
                    let texture = if kind == "texture" { data.id64(place) } else { String::new() };
                    same(row, &[("name_id", data.id32(data.follow(at, 0x18) + 4 * property)), ("type", kind.into())]);
                    same(row, &[("value", value), ("texture_id", texture), ("material", material.to_string())]);
                }
            }
        }
        let lens = [&lods, &visuals, &sets, &nodes, &materials, &properties].map(Vec::len);
        assert_eq!(lens, at);
    }
}

#[test]
fn a_model_is_found_by_its_path_and_shown_whole() {
    let ([index, data], all) = demo();
    let models = open(index, data).unwrap();
    for model in &all {
        let mut shown = Tree::default();
        assert!(models.cat(&model.path, &mut shown).unwrap());
        let shown = shown.into_value();
        let field = |name: &str| crate::common::field(&shown, name).clone();
        assert_eq!(field("level_count"), Value::Uint(model.levels.len() as u64));
        let Value::List(materials) = field("materials") else { panic!("{shown:?}") };
        assert_eq!(materials.len(), model.materials.len());
        for material in &materials {
            let Value::List(properties) = crate::common::field(material, "properties") else { panic!("{material:?}") };
            assert_eq!(properties.len(), 9);
        }
    }
    assert!(!models.cat("no/such.model", &mut Tree::default()).unwrap());
    let reader: &dyn Reader = &models;
    let entry =
        reader.relations().unwrap().entries().unwrap().resolve(&all[0].path, true, &mut |error| panic!("{error}"));
    assert_eq!(entry.unwrap().unwrap().kind.as_deref(), Some("ModelUber"));
}

#[test]
fn references_lead_to_files_of_the_game() {
    let ([index, data], all) = demo();
    let models = open(index, data).unwrap();
    let reader: &dyn Reader = &models;
    let relations = reader.relations().unwrap();
    let id = |path: &str| assetq::formats::wows::bwdb::Database::path_id(path);
    for model in all.iter().filter(|model| !model.materials.is_empty()) {
        let found = relations.references_of(id(&model.path));
        assert!(found.damage.is_ok());
        let to = |path: &str| found.edges.iter().find(|edge| edge.to == id(path)).map(|edge| edge.column.as_str());
        assert_eq!(to(&model.levels[0].visual), Some("levels[0].visual"));
        assert_eq!(to(&model.levels[0].geometry), Some("visuals[0].geometry"));
        assert_eq!(to(&model.materials[0].fx), Some("materials[0].fx"));
        let texture = model.materials[0].path.replace(".mfm", "_a.dds");
        assert_eq!(to(&texture), Some("materials[0].properties.diffuseMap"));
        assert_eq!(to(&model.path), None, "the model itself");
        // The other way round.
        let wanted = id(&texture);
        let all = relations.references(&|id, _| id == wanted, &Default::default());
        assert_eq!(all.edges.iter().map(|edge| edge.from).collect::<Vec<_>>(), [Some(id(&model.path))]);
    }
}

#[test]
fn either_file_finds_the_other_beside_it() {
    let ([index, data], all) = demo();
    let folder = tempfile::tempdir().unwrap();
    let [at_index, at_data] = ["prototypes.index.data", "prototypes.data"].map(|name| folder.path().join(name));
    std::fs::write(&at_data, &data).unwrap();
    let error = Asset::open(&*at_data).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotInstalled { .. }), "{error}");
    assert!(error.to_string().contains("prototypes.index.data"), "{error}");
    std::fs::write(&at_index, &index).unwrap();
    for path in [&at_index, &at_data] {
        let asset = Asset::open(&**path).unwrap();
        assert_eq!(asset.format(), assetq::formats::wows::PROTOTYPES);
        assert_eq!(asset.table("models").unwrap().len().unwrap(), all.len());
        assert!(asset.reader().verify(&Default::default()).is_ok());
    }
    // The index alone has the places of the models, and says where they are.
    std::fs::remove_file(&at_data).unwrap();
    let asset = Asset::open(&*at_index).unwrap();
    assert_eq!(asset.reader().tables().len(), 1);
    let error = asset.table("lods").err().unwrap();
    assert!(error.to_string().contains("the models are in prototypes.data"), "{error}");
    let facts = asset.reader().facts();
    let notes = facts.iter().find(|(name, _)| name == "notes").unwrap().1.to_string();
    assert!(notes.contains("not checked with a real file") && notes.contains("put it beside"), "{notes}");
}

#[test]
fn in_an_archive_the_files_find_each_other_and_the_names() {
    let ([index, data], all) = demo();
    let mut package = wows::Package::new(assetq::formats::wows::wows::Variant::Legends, "content.pkg");
    package.file("content/prototypes.index.data", &index, wows::How::Deflated);
    package.file("content/prototypes.data", &data, wows::How::Deflated);
    for model in &all {
        package.file(&model.path, b"", wows::How::Stored);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("content.idx"), package.index()).unwrap();
    for (name, volume) in &package.volumes {
        std::fs::write(folder.path().join(name), volume).unwrap();
    }
    for name in ["prototypes.index.data", "prototypes.data"] {
        let address = format!("{}:content/{name}", folder.path().join("content.idx").display());
        let asset = Asset::open(&*address).unwrap();
        let table = asset.table("lods").unwrap();
        let path: String = table.row_at(0).unwrap().get("path").unwrap();
        assert!(all.iter().any(|model| model.path == path), "{path}");
    }
}

#[test]
fn files_of_two_builds_are_an_error_that_names_both() {
    let ([index, data], _) = demo();
    let size = data.len();
    let last = last_in(&open(index.clone(), data.clone()).unwrap());
    let models = open(index, data[..size - 100].to_vec()).unwrap();
    let report = models.verify(&Default::default());
    assert!(!report.is_ok());
    let error = models.model(last).unwrap_err().to_string();
    for part in ["prototypes.data", "same build", "prototypes.index.data", &size.to_string()] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// The row of the model that is last in `prototypes.data`.
fn last_in(models: &UberModels) -> usize {
    let rows = rows(models, "models");
    (0..rows.len()).max_by_key(|row| rows[*row]["offset"].parse::<u64>().unwrap()).unwrap()
}

#[test]
fn wrong_counts_and_positions_are_errors_at_their_field() {
    let ([index, data], _) = demo();
    let patched = |at: usize, value: u64, of: &[u8]| {
        let mut bytes = of.to_vec();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (at, what) in [(8, "position of the values"), (16, "position of the keys")] {
        let error = open(patched(at, u64::MAX, &index), data.clone()).unwrap_err();
        assert!(error.to_string().contains(what) && error.offset() == Some(at as u64), "{error}");
    }
    // Keys that do not ascend are found by the check, as the search relies on them.
    let report = open(patched(24, u64::MAX, &index), data.clone()).unwrap().verify(&Default::default());
    assert!(report.checks.iter().any(|check| check.name == "index" && !check.is_ok()), "{report:?}");
    // In the first blob of the data, at offset 0.
    let read = |at: usize, value: u64| {
        let models = open(index.clone(), patched(at, value, &data)).unwrap();
        let report = models.verify(&Default::default());
        let findings = report.checks.iter().flat_map(|check| check.findings()).map(ToString::to_string);
        findings.collect::<Vec<_>>().join("\n")
    };
    for (at, value, part) in [
        (0x00, u64::MAX, "levels"),
        (0x08, 1 << 40, "levels"),
        (0x10, 8, "do not follow the levels"),
        (0x18, 8, "do not follow the model ids"),
        (0x20, 0, "out of order"),
        (0x30, 1 << 40, "materials"),
        (0x38, u64::from(u32::MAX), "name_map_names"),
        (0x58, 1 << 40, "matrices"),
    ] {
        let found = read(at, value);
        assert!(found.contains(part), "{at:#x} {part}: {found}");
        assert!(found.contains("at offset 0x"), "{found}");
    }
}

#[test]
fn damage_of_either_file_ends_in_errors() {
    let ([index, data], _) = demo();
    let mut rng = fastrand::Rng::with_seed(17);
    let mut found = 0;
    for case in 0..600 {
        let (index, data) = match case % 2 {
            0 => (index.clone(), damaged(&mut rng, &data)),
            _ => (damaged(&mut rng, &index), data.clone()),
        };
        let Ok(models) = open(index, data) else {
            found += 1;
            continue;
        };
        let errors = errors_of(&Asset::from(models));
        found += usize::from(!errors.is_empty());
        for error in errors {
            let is_limit = matches!(error.kind(), ErrorKind::Limit { .. } | ErrorKind::NotFound { .. });
            assert!(is_limit || error.offset().is_some(), "case {case}: {error}");
        }
    }
    assert!(found > 200, "{found}");
}

/// Keys that all lead to one model of many levels: a small file describes many rows, which are bounded by its size.
#[test]
fn models_that_overlap_have_a_limit() {
    let mut model = demo_models(1, Size::Small).swap_remove(4);
    let level = model.levels[0].clone();
    model.levels = vec![level; 2000];
    let [index, data] = uber::pair(&[model]);
    let many = 20_000u32;
    let span = &index[index.len() - 12..];
    let mut all = [many.to_le_bytes(), [0; 4]].concat();
    all.extend((24 + 8 * u64::from(many)).to_le_bytes());
    all.extend(24u64.to_le_bytes());
    (0..u64::from(many)).for_each(|key| all.extend(key.to_le_bytes()));
    (0..many).for_each(|_| all.extend(span));
    let models = open(all, data).unwrap();
    let table = models.table("lods").unwrap();
    let rows = table.len().unwrap();
    assert!(rows < 2000 * 20_000 / 100, "{rows}");
    let error = table.value(rows - 1, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}
