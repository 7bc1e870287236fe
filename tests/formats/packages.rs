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
    for file in fs::read_dir(folder.path().join("winget")).unwrap().map(|file| file.unwrap().path()) {
        let manifest: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(manifest["ManifestVersion"], "1.12.0", "{}", file.display());
        assert_eq!(manifest["PackageVersion"], version);
    }
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

/// The crates that a lock file has in several versions.
fn in_several_versions(lock: &str) -> BTreeSet<&str> {
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let mut met = BTreeSet::new();
    names.filter(|name| !met.insert(*name)).collect()
}

/// `deny.toml` gives the reason for each of them. `cargo deny` itself does not notice a reason that nothing needs any more.
#[test]
fn each_crate_in_several_versions_has_its_reason() {
    let text = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (deny, locks) = (text("deny.toml"), ["Cargo.lock", "fuzz/Cargo.lock"].map(text));
    let found: BTreeSet<&str> = locks.iter().flat_map(|lock| in_several_versions(lock)).collect();
    let (_, skipped) = deny.split_once("\nskip = [\n").unwrap();
    let (skipped, _) = skipped.split_once("\n]").unwrap();
    let named = skipped.lines().map(|line| line.split('"').nth(1).unwrap()).collect();
    assert_eq!(found, named, "left: the lock files; right: deny.toml");
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

/// The code of a file, without comments and tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap().lines();
    code.map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

const GAMES: [&str; 4] = ["ff13", "rusty-hearts", "vrage", "wows"];

/// Public items of `core` and `scene` that the package of one game alone uses, and why they stay.
const OF_ONE_GAME: [(&str, &str); 16] = [
    ("AXES", "figures begin with it"),
    ("BudgetShare", "it spends what a budget counts"),
    ("ChartLink", "a part of charts, which pages show"),
    ("Graphs", "a facet that the commands cat and export use"),
    ("Influences", "the bones of a solid's vertices, which pages turn"),
    ("ItemList", "a part of tables, which edits use"),
    ("Leaves", "a part of tables, which edits use"),
    ("MeshPlace", "a part of meshes of a GLB"),
    ("Patches", "the bytes of edits, which the reader of the example uses, too"),
    ("RowBudget", "it raises the limit of a budget"),
    ("Surface", "a part of meshes of a GLB"),
    ("TextureSet", "a facet that the command export uses"),
    ("band", "the scale of colours by thickness, which pages show"),
    ("Variant", "a part of models, which the writer of GLB writes"),
    ("parts_for", "it divides work for `parts`"),
    ("two_edits", "the error of patches"),
];

/// An item of `core` or `scene` is for several games, or for the packages above them; an item for one game is in its package.
#[test]
fn no_item_of_core_and_scene_is_of_one_game() {
    let declared = regex::Regex::new(
        r"(?m)^pub (?:const fn|unsafe fn|fn|struct|enum|trait|const|static|type) (?:fn )?([A-Za-z]\w*)",
    );
    let (declared, words) = (declared.unwrap(), regex::Regex::new(r"\w+").unwrap());
    let mut all = Vec::new();
    let folders = ["core", "scene", "query", "view"].iter().chain(&GAMES).map(|name| (*name, format!("crates/{name}")));
    let others = ["src", "python/src", "capi/src", "duckdb/src"].map(|folder| ("above", folder.to_owned()));
    for (package, folder) in folders.chain(others) {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        all.extend(files.into_iter().map(|file| (package, code(&file))));
    }
    let texts: Vec<(&str, BTreeSet<&str>)> = all
        .iter()
        .map(|(package, code)| (*package, words.find_iter(code).map(|word| word.as_str()).collect()))
        .collect();
    let mut met = BTreeSet::new();
    for (number, (_, code)) in all.iter().enumerate().filter(|(_, (package, _))| ["core", "scene"].contains(package)) {
        for item in declared.captures_iter(code).map(|found| found.get(1).unwrap().as_str()) {
            let users = texts.iter().enumerate().filter(|(user, (_, words))| *user != number && words.contains(item));
            let users: BTreeSet<&str> = users.map(|(_, (package, _))| *package).collect();
            if users.len() == 1 && users.iter().all(|user| GAMES.contains(user)) {
                met.insert(item);
            }
        }
    }
    let allowed: BTreeSet<&str> = OF_ONE_GAME.iter().map(|(item, _)| *item).collect();
    assert_eq!(met, allowed, "left: items of one game; right: those with a reason");
}

/// The files of a package by their modules, and the modules that each uses.
struct Imports {
    code: BTreeMap<Vec<String>, String>,
    /// The paths of re-exported items, by the module and the name there.
    passed_on: BTreeMap<(Vec<String>, String), Vec<String>>,
}

/// The paths of a `use`, with braces written out.
fn expanded(tree: &str) -> Vec<String> {
    let Some((before, inner)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.strip_suffix('}').unwrap_or(inner).chars() {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(&format!("{}{part}", before.trim()))).collect()
}

impl Imports {
    fn of(package: &str) -> Self {
        let folder = root().join("crates").join(package).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        let module = |file: &Path| -> Vec<String> {
            let parts = file.strip_prefix(&folder).unwrap().with_extension("");
            let parts = parts.iter().map(|part| part.to_str().unwrap().to_owned());
            parts.filter(|part| part != "mod" && part != "lib").collect()
        };
        let code = files.iter().map(|file| (module(file), code(file))).collect();
        let mut all = Self { code, passed_on: BTreeMap::new() };
        let public = regex::Regex::new(r"(?m)^pub(?:\([a-z: ]*\))? use ([^;]+);").unwrap();
        for (module, code) in &all.code {
            for path in public.captures_iter(code).flat_map(|found| expanded(&found[1])) {
                let Some(path) = all.absolute(module, &path) else { continue };
                all.passed_on.insert((module.clone(), path.last().unwrap().clone()), path);
            }
        }
        all
    }

    /// The path from the root of the package, if it is one of the package.
    fn absolute(&self, module: &[String], path: &str) -> Option<Vec<String>> {
        let mut parts = path.split("::").map(str::trim).peekable();
        let mut at = match *parts.peek()? {
            "crate" => Vec::new(),
            "super" | "self" => module.to_vec(),
            child => {
                let of_child = [module, &[child.to_owned()]].concat();
                self.code.contains_key(&of_child).then(|| module.to_vec())?
            }
        };
        for part in parts.filter(|part| !["crate", "self"].contains(part)) {
            if part == "super" { drop(at.pop()) } else { at.push(part.to_owned()) }
        }
        Some(at).filter(|at| !at.is_empty())
    }

    /// The module whose file declares the item at a path.
    fn declaring(&self, path: &[String], depth: usize) -> Vec<String> {
        let known = (0..=path.len()).rev().find(|len| self.code.contains_key(&path[..*len])).unwrap_or(0);
        let (module, rest) = path.split_at(known);
        let passed = rest.first().and_then(|name| self.passed_on.get(&(module.to_vec(), name.clone())));
        passed.filter(|_| depth < 8).map_or_else(|| module.to_vec(), |path| self.declaring(path, depth + 1))
    }

    /// The modules that each module takes something from. The root of the package passes things on, and declares none.
    fn arrows(&self) -> BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> {
        let (uses, public) = (r"(?m)^\s*use ([^;]+);", r"(?m)^\s*pub(\([a-z: ]*\))? use [^;]+;");
        let [uses, public, inline] =
            [uses, public, r"\b[a-z_0-9]+(?:::\w+)+"].map(|one| regex::Regex::new(one).unwrap());
        let mut all = BTreeMap::new();
        for (module, code) in &self.code {
            let code = public.replace_all(code, "");
            let used = uses.captures_iter(&code).flat_map(|found| expanded(&found[1]));
            let rest = uses.replace_all(&code, "");
            let inline: Vec<String> = inline.find_iter(&rest).map(|found| found.as_str().to_owned()).collect();
            let paths = used.chain(inline).filter_map(|path| self.absolute(module, &path));
            let from = paths.map(|path| self.declaring(&path, 0)).filter(|from| from != module && !from.is_empty());
            all.insert(module, from.collect());
        }
        all
    }
}

/// Files in a circle are read together, so that a circle has few.
#[test]
fn at_most_three_files_of_core_and_scene_need_each_other() {
    for package in ["core", "scene"] {
        let imports = Imports::of(package);
        let arrows = imports.arrows();
        let mut reached = BTreeMap::new();
        for start in imports.code.keys() {
            let (mut met, mut open) = (BTreeSet::new(), vec![start.clone()]);
            while let Some(module) = open.pop() {
                open.extend(arrows[&module].iter().filter(|next| met.insert((*next).clone())).cloned());
            }
            reached.insert(start, met);
        }
        for (start, met) in &reached {
            let circle: Vec<String> =
                met.iter().filter(|other| reached[other].contains(*start)).map(|other| other.join("/")).collect();
            assert!(circle.len() <= 3, "{package}: {circle:#?}");
        }
        if package == "core" {
            let two = |module: &[&str]| module.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
            assert!(arrows[&two(&["archive", "cache"])].contains(&two(&["archive", "recent"])), "imports are found");
        }
    }
}

/// Words of declarations: what they mean is the same in all packages.
#[test]
fn the_words_of_declarations_name_one_type_each() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("crates"), &mut files);
    let declared = regex::Regex::new(r"\bpub (?:struct|enum|trait|union|type) (Field|FieldType|Record)\b").unwrap();
    let mut met: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        for found in declared.captures_iter(&fs::read_to_string(&file).unwrap()) {
            met.entry(found[1].to_owned()).or_default().push(file.display().to_string());
        }
    }
    met.retain(|_, files| files.len() > 1);
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
