//! A folder in the shape of the Mods SDK. `ASSETQ_SDK=80000` has as many models as the real one, and `ASSETQ_SDK_FOLDER` keeps it.

use crate::common::run;
use assetq_sample::text_models::sdk;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

struct Sdk {
    folder: PathBuf,
    models: usize,
    _dir: TempDir,
}

impl Sdk {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let folder = std::env::var_os("ASSETQ_SDK_FOLDER").map_or_else(|| dir.path().join("SDK"), PathBuf::from);
        let models = std::env::var("ASSETQ_SDK").map_or(80, |count| count.parse().unwrap());
        sdk(models, |path, bytes| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap())?;
            fs::write(path, bytes)
        })
        .unwrap();
        Self { folder, models, _dir: dir }
    }

    fn run(&self, code: i32, args: &[&str]) -> (String, String) {
        run(&self.folder, code, args)
    }
}

#[test]
fn all_files_of_an_sdk_are_read() {
    let sdk = Sdk::new();
    let guns = sdk.models.div_ceil(4);
    let query = "SELECT count(*), count(DISTINCT file), count(DISTINCT mfm) FROM render_sets";
    let (out, _) = sdk.run(0, &["sql", query, "**/*.visual", "-f", "csv"]);
    assert_eq!(out.lines().nth(1).unwrap(), format!("{},{},{}", 2 * sdk.models, sdk.models, guns + 1));
    let (out, _) = sdk.run(0, &["sql", "SELECT max(extent), count(parent) FROM models", "**/*.model", "-f", "csv"]);
    assert_eq!(out.lines().nth(1).unwrap(), format!("16,{}", sdk.models - sdk.models / 4));
    let (out, _) = sdk.run(1, &["refs", "--dangling", ".", "-f", "csv"]);
    assert_eq!(out.lines().count(), 1 + 2 * guns, "only textures are missing");
    sdk.run(0, &["verify", "**/*.mfm"]);
}

/// A damaged file is named, and the names of the others count.
#[test]
fn a_damaged_file_leaves_the_names_of_its_folder() {
    let sdk = Sdk::new();
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("models.bin"), assetq_sample::space::models_bin(1, assetq_sample::Size::Small)).unwrap();
    fs::write(sdk.folder.join("bad.visual"), "<bad.visual>\n<node>").unwrap();
    let names = sdk.folder.to_str().unwrap();
    let args = ["ls", "models.bin", "--names", names];
    let (_, said) = run(dir.path(), 0, &args);
    let expected = "names of 1 file are left out, which cannot be read; the first: bad.visual: ";
    assert!(said.contains(expected) && said.contains("line 2"), "{said}");
    let (_, said) = run(dir.path(), 3, &[&args[..], &["--strict"]].concat());
    assert!(said.contains("bad.visual"), "{said}");
}
