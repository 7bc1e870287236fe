//! The packages: what uses what, and who knows a game.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The output of a command of cargo.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let done = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

/// The packages of the workspace, as cargo describes them.
fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let mut metadata: Value = serde_json::from_slice(&metadata).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

fn name(of: &Value) -> String {
    of["name"].as_str().unwrap().to_owned()
}

/// The packages of the engine, each with those that it depends on outside of tests.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let is_ours = |name: &String| name.starts_with("assetq-");
    let mut found = BTreeMap::new();
    for package in packages() {
        let all = package["dependencies"].as_array().unwrap().iter();
        let uses = all.filter(|one| one["kind"].is_null()).map(name).filter(is_ours).collect();
        found.insert(name(&package), uses);
    }
    found
}

/// Files of every package, beside its sources.
const MANIFESTS: [&str; 4] = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];
/// Files of the package `assetq`: its page opens the first three, and its documentation includes the last.
const PAGES: [&str; 4] = ["CHANGELOG.md", "LICENSE", "README.md", "docs/guide/rust.md"];

/// Tests, documents, scripts and output of runs are in the repository alone.
#[test]
fn a_published_package_holds_its_sources_and_little_more() {
    for package in packages().iter().filter(|package| package["publish"].is_null()).map(name) {
        let listed = cargo(&["package", "--list", "--offline", "--allow-dirty", "--package", &package]);
        let listed = String::from_utf8(listed).unwrap().replace('\\', "/");
        let is_needed = |file: &&str| {
            file.starts_with("src/") || MANIFESTS.contains(file) || package == "assetq" && PAGES.contains(file)
        };
        let others: Vec<&str> = listed.lines().filter(|file| !is_needed(file)).collect();
        assert!(others.is_empty(), "{package}: {others:#?}");
    }
}

/// The version that files of other tools state. `release/version` raises all of them.
const STATED: [(&str, &str); 4] = [
    ("blender/blender_manifest.toml", "\nversion = \"VERSION\"\n"),
    ("duckdb/description.yml", "\n  version: VERSION\n"),
    ("duckdb/description.yml", "\n  ref: vVERSION\n"),
    ("docs/guide/rust.md", "\nassetq = { version = \"VERSION\","),
];

#[test]
fn all_packages_have_one_version_and_depend_on_exactly_that() {
    let version = env!("CARGO_PKG_VERSION");
    for package in packages() {
        assert_eq!(package["version"], version, "{}", package["name"]);
        for used in package["dependencies"].as_array().unwrap().iter().filter(|used| !used["path"].is_null()) {
            // A dependency by its path alone is of tests, or of a package that is not published.
            let needs = used["req"].as_str().unwrap();
            let is_published = package["publish"].is_null() && used["kind"].is_null();
            let is_exact = needs == format!("={version}") || needs == "*" && !is_published;
            assert!(is_exact, "{} needs {} {needs}", package["name"], used["name"]);
        }
    }
    for (file, line) in STATED {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(&line.replace("VERSION", version)), "{file} does not state {version}");
    }
}

/// Whether Python can run the scripts of a release.
fn has_python() -> bool {
    let done = Command::new("python3").args(["-c", "import tomllib"]).output();
    let has = done.is_ok_and(|done| done.status.success());
    if !has {
        eprintln!("skipped: Python 3.11 is not installed");
    }
    has
}

fn python(arguments: &[&Path]) {
    let done = Command::new("python3").arg("-B").args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn manifests_of_package_managers_name_the_address_and_the_licence() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for (target, ending) in [
        ("x86_64-pc-windows-msvc", "zip"),
        ("aarch64-apple-darwin", "tar.gz"),
        ("x86_64-apple-darwin", "tar.gz"),
        ("aarch64-unknown-linux-gnu", "tar.gz"),
        ("x86_64-unknown-linux-gnu", "tar.gz"),
    ] {
        fs::write(folder.path().join(format!("assetq-{version}-{target}.{ending}.sha256")), "00  archive\n").unwrap();
    }
    python(&[&root().join("release/manifests"), folder.path(), folder.path()]);
    let scoop: Value = serde_json::from_slice(&fs::read(folder.path().join("scoop/assetq.json")).unwrap()).unwrap();
    assert_eq!(scoop["homepage"], env!("CARGO_PKG_REPOSITORY"));
    assert_eq!(scoop["license"], "MIT");
    assert_eq!(scoop["version"], version);
}

#[test]
fn one_script_raises_the_version_everywhere() {
    if !has_python() {
        return;
    }
    let copy = tempfile::tempdir().unwrap();
    let mut files = vec!["Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "release/project.py", "release/version"];
    files.extend(STATED.map(|(file, _)| file));
    for file in files {
        fs::create_dir_all(copy.path().join(file).parent().unwrap()).unwrap();
        fs::copy(root().join(file), copy.path().join(file)).unwrap();
    }
    python(&[&copy.path().join("release/version"), Path::new("98.7.6")]);
    for (file, line) in STATED {
        let text = fs::read_to_string(copy.path().join(file)).unwrap();
        assert!(text.contains(&line.replace("VERSION", "98.7.6")), "{file}: {text}");
    }
    let manifest = fs::read_to_string(copy.path().join("Cargo.toml")).unwrap();
    let pins = manifest.lines().filter(|line| line.starts_with("assetq-") && line.contains("path = ")).count();
    assert_eq!(manifest.matches("version = \"=98.7.6\"").count(), pins);
    assert_eq!(manifest.matches("\nversion = \"98.7.6\"\n").count(), 1);
    let lock = fs::read_to_string(copy.path().join("Cargo.lock")).unwrap();
    assert_eq!(lock.matches("\nversion = \"98.7.6\"\n").count(), packages().len());
}

#[test]
fn tables_and_queries_use_the_core_alone_and_shapes_and_textures_the_scene() {
    let arrows = arrows();
    assert!(arrows["assetq-core"].is_empty(), "{:?}", arrows["assetq-core"]);
    for upper in ["query", "scene", "vrage"] {
        let uses: Vec<&String> = arrows[&format!("assetq-{upper}")].iter().collect();
        assert_eq!(uses, ["assetq-core"], "assetq-{upper}");
    }
    for upper in ["ff13", "rusty-hearts", "view", "wows"] {
        let uses: Vec<&String> = arrows[&format!("assetq-{upper}")].iter().collect();
        assert_eq!(uses, ["assetq-core", "assetq-scene"], "assetq-{upper}");
    }
    assert!(!arrows["assetq-sample"].contains("assetq-query"));
    assert_eq!(arrows["assetq"].len(), 9, "the face uses all of them: {:?}", arrows["assetq"]);
}

/// A person who installs from sources waits for the build; who downloads a wheel does not.
#[test]
fn packages_for_python_are_optimized_at_link_time_only_where_they_are_published() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    assert!(text("python/pyproject.toml").contains("\nprofile = \"release-unwind\"\n"));
    assert!(text("python/build_backend.py").contains("\nPROFILE = \"release-unwind\"\n"));
    assert!(text("Cargo.toml").contains("\n[profile.release-unwind]\ninherits = \"release\"\npanic = \"unwind\"\n"));
    let wheels = text(".github/workflows/wheels.yml");
    assert!(wheels.contains("MATURIN_PEP517_ARGS: --profile dist-unwind\n"), "{wheels}");
}

/// Names of games, and words of their formats.
const WORDS: [&str; 12] = [
    "bwdb",
    "camouflage",
    "ff13",
    "gameparams",
    "prototype",
    "rusty",
    "vrage",
    "vrb",
    "warships",
    "wdata",
    "wdb",
    "wows",
];

/// All files of Rust below `folder`, without tests.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            into.push(path);
        }
    }
}

#[test]
fn core_scene_query_and_view_know_no_game() {
    let mut files = Vec::new();
    for name in ["core", "query", "scene", "view"] {
        sources(&root().join("crates").join(name).join("src"), &mut files);
    }
    let mut met = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().map(|line| line.split("//").next().unwrap_or_default().to_lowercase()) {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric());
            met.extend(words.filter(|word| WORDS.contains(word)).map(|word| format!("{}: {word}", file.display())));
        }
    }
    assert!(met.is_empty(), "{met:#?}");
}

#[test]
fn the_front_door_has_at_most_fifteen_names() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    assert!(!text.contains("doc(hidden)"), "what is public is documented");
    let mut names = BTreeSet::new();
    for line in text.lines() {
        if let Some(module) = line.strip_prefix("pub mod ") {
            names.insert(module.trim_end_matches([';', ' ', '{']));
        } else if let Some(used) = line.strip_prefix("pub use ") {
            let used = used.trim_end_matches(';').trim_end_matches('}');
            let used = used.rsplit_once('{').or_else(|| used.rsplit_once("::")).unwrap().1;
            names.extend(used.split(", "));
        }
    }
    assert_eq!(names.len(), 15, "{names:?}");
}

/// Files of formats with offsets or numbers of columns that stand by hand, how many, and why.
const BY_HAND: [(&str, usize, &str); 4] = [
    ("vrage/src/vrb/values.rs", 1, "the columns and their numbers are two lists, one below the other"),
    ("wows/src/bwdb/record/leaves.rs", 2, "the halves of a length are no struct"),
    ("wows/src/bwdb/record/union.rs", 1, "the words of a union are the declaration of all unions"),
    ("wows/src/gameparams/fields.rs", 1, "the columns and their numbers are two lists, one below the other"),
];

/// No column is known by its number, and no offset of a field stands beside its declaration.
#[test]
fn formats_ask_the_declarations_for_columns_and_offsets() {
    let offset = r"(at|entry|file|header|here|model|place|record|row|view)(\([^()]*\))?\.skip\((0x[0-9A-Fa-f]+|[2-9]|[1-9][0-9]+)\)";
    let column =
        r"table\.value\([^,()]+, [0-9]+\)|columns\(\)\.get\([0-9]|columns\[[0-9]|mod column\b|COLUMN: usize = [0-9]";
    let by_hand = regex::Regex::new(&format!("{offset}|{column}")).unwrap();
    for line in ["let a = view.skip(0x10);", "table.value(row, 1)?", "g.view(\"x\").skip(4)", "table.columns().get(2)"]
    {
        assert!(by_hand.is_match(line), "{line}");
    }
    let crates = root().join("crates");
    let mut files = Vec::new();
    for game in ["ff13", "rusty-hearts", "vrage", "wows"] {
        sources(&crates.join(game).join("src"), &mut files);
    }
    let mut met = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap().lines().map(|line| line.split("//").next().unwrap());
        let lines: Vec<&str> = code.filter(|line| by_hand.is_match(line)).map(str::trim).collect();
        let name = file.strip_prefix(&crates).unwrap().to_str().unwrap().replace('\\', "/");
        let allowed = BY_HAND.iter().find(|(allowed, ..)| *allowed == name).map_or(0, |(_, count, _)| *count);
        if lines.len() != allowed {
            met.insert(name, lines.join("\n"));
        }
    }
    assert!(met.is_empty(), "declare them, or ask View::locate and Column::field: {met:#?}");
}

#[test]
fn writers_ask_the_declarations_for_columns_and_offsets() {
    let by_hand = regex::Regex::new(
        r"(saturating_add|skip|at)\((0x[0-9A-F]+|[0-9]{1,3})\)|mod column|const [A-Z_]+: usize = (0x)?[0-9]+;",
    )
    .unwrap();
    for writer in ["wows/src/geometry/writer.rs", "wows/src/bwdb/writer/slots.rs", "wows/src/bwdb/writer/mod.rs"] {
        let text = fs::read_to_string(root().join("crates").join(writer)).unwrap();
        for line in text.lines().filter(|line| !line.contains("saturating_add(1)")) {
            assert!(!by_hand.is_match(line), "{writer}: {line}");
        }
    }
}
