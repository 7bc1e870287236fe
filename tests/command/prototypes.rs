//! The models of World of Warships: Legends, by every command: two files that are one database.

use crate::common::run;
use assetq_sample::Size;
use assetq_sample::uber::{UberModel, demo_models, pair};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes the two files of these models into `dir`.
fn write(dir: &Path, models: &[UberModel]) {
    fs::create_dir_all(dir).unwrap();
    for (name, bytes) in ["prototypes.index.data", "prototypes.data"].iter().zip(pair(models)) {
        fs::write(dir.join(name), bytes).unwrap();
    }
}

#[test]
fn every_command_reads_both_files_as_one() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let mut models = demo_models(1, Size::Small);
    write(dir, &models);
    let gun = models[0].clone();
    let texture = gun.materials[0].path.replace(".mfm", "_a.dds");
    fs::write(dir.join("names.txt"), format!("{}\n{texture}\n", gun.path)).unwrap();
    let names = ["--names", "names.txt"];
    let said = |code: i32, args: &[&str]| run(dir, code, args).0.replace("\r\n", "\n");
    for file in ["prototypes.index.data", "prototypes.data"] {
        let ls = said(0, &[&["ls", file, "*AG000*", "-c", "path,level_count", "-f", "csv"], &names[..]].concat());
        assert_eq!(ls, format!("path,level_count\n{},{}\n", gun.path, gun.levels.len()));
        assert!(said(0, &["cat", file, &gun.path]).contains("material_count"));
        assert!(said(0, &["resolve", &gun.path, "--db", file]).contains("ModelUber"));
        let sql = "SELECT count(*) AS n FROM material_properties p JOIN models m USING (id) WHERE p.type = 'vec4'";
        let materials: usize = models.iter().map(|model| model.materials.len()).sum();
        assert_eq!(said(0, &["sql", sql, file, "-f", "csv"]), format!("n\n{materials}\n"));
        assert!(said(0, &[&["find", "AG000_Gun_0_a", file], &names[..]].concat()).contains("material_properties"));
        assert!(said(0, &[&["refs", &texture, file], &names[..]].concat()).contains("properties.diffuseMap"));
        assert!(said(0, &["verify", file]).contains("prototypes ok"));
        assert!(said(0, &["info", file]).contains("not checked with a real file"));
    }
    // An extent of one level, in the other file than the one that is named.
    models[0].levels[0].extent = 77.5;
    write(&dir.join("new"), &models);
    let diff = said(1, &["diff", "prototypes.index.data", "new/prototypes.index.data", "-f", "ndjson"]);
    assert_eq!(diff.lines().count(), 1, "{diff}");
    assert!(diff.contains("\"lods\"") && diff.contains("77.5"), "{diff}");
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    let dir = TempDir::new().unwrap();
    write(dir.path(), &demo_models(1, Size::Small));
    fs::rename(dir.path().join("prototypes.data"), dir.path().join("elsewhere.data")).unwrap();
    let (out, _) = run(dir.path(), 0, &["info", "prototypes.index.data"]);
    assert!(out.contains("put it beside prototypes.index.data"), "{out}");
    let (_, err) = run(dir.path(), 1, &["ls", "prototypes.index.data", "-t", "lods"]);
    assert!(err.contains("the models are in prototypes.data, which is not beside"), "{err}");
    // Nothing is known of the references of a model that cannot be read.
    let path = &demo_models(1, Size::Small)[0].path;
    let (_, err) = run(dir.path(), 1, &["refs", path, "prototypes.index.data"]);
    assert!(err.contains("prototypes.data, which holds the models") && !err.contains("nothing"), "{err}");
    fs::rename(dir.path().join("elsewhere.data"), dir.path().join("prototypes.data")).unwrap();
    fs::remove_file(dir.path().join("prototypes.index.data")).unwrap();
    let (_, err) = run(dir.path(), 1, &["ls", "prototypes.data"]);
    assert!(err.contains("prototypes.index.data") && err.contains("must be beside it"), "{err}");
}
