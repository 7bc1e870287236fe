//! Modules use lower floors only, and files use each other in no circles. docs/architecture.md lists the floors, from the
//! top down, and draws the modules; `ASSETQ_BLESS=1` draws the arrows again.

mod imports;

use imports::Used;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files in circles inside of one folder: mostly a file's type in `mod.rs`, and what is built from it. The number may fall only.
const IN_ONE_FOLDER: usize = 30;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> (PathBuf, String) {
    let path = root().join("docs/architecture.md");
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// The text between a fence of this kind and its end.
fn fenced<'p>(page: &'p str, kind: &str) -> &'p str {
    let (_, text) = page.split_once(&format!("```{kind}\n")).unwrap_or_else(|| panic!("the page has no {kind}"));
    text.split_once("```").unwrap().0
}

/// The floor of each module of the page's list; 0 is the top.
fn floors(page: &str) -> HashMap<String, usize> {
    let lines = fenced(page, "floors").lines().enumerate();
    let mut floors: HashMap<String, usize> =
        lines.flat_map(|(floor, line)| line.split_whitespace().map(move |name| (name.to_owned(), floor))).collect();
    let own = floors.remove("formats/*").expect("the floor of the formats");
    floors.extend(formats().into_iter().map(|format| (format!("formats/{format}"), own)));
    floors
}

/// The names of the folders of formats.
fn formats() -> Vec<String> {
    let folders = fs::read_dir(root().join("src/formats")).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.is_dir()).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The longest of the modules that `file` is in: each format, and each query, is a module of its own.
fn module(file: &str, is_module: impl Fn(&str) -> bool) -> Option<String> {
    let path = file.trim_end_matches(".rs");
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(|end| path.get(..end)).filter(|name| is_module(name)).last().map(str::to_owned)
}

#[test]
fn modules_use_lower_floors_only() {
    let floors = floors(&page().1);
    let used = imports::of_crate(&root().join("src"));
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    let floor = |file: &str| module(file, |name| floors.contains_key(name));
    for (file, names) in &used {
        let Some(own) = floor(file) else {
            if !matches!(&**file, "lib.rs" | "main.rs" | "ask/mod.rs") {
                wrong.push(format!("{file} is on no floor"));
            }
            continue;
        };
        for (other_file, items) in names {
            arrows += items.len();
            let Some(other) = floor(other_file) else { continue };
            if other != own && floors[&other] <= floors[&own] {
                wrong.push(format!("{file} is on the floor of {own} and uses {other}: {items:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(arrows > 4000, "{arrows} names: the paths of the code are read");
}

/// The circle, with the names that tie it.
fn ties(circle: &[String], used: &BTreeMap<String, Used>) -> String {
    let mut text = String::new();
    for file in circle {
        for (other, names) in used[file].iter().filter(|(other, _)| circle.contains(other)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            writeln!(text, "  {file} uses {other}: {}", names.join(", ")).unwrap();
        }
    }
    text
}

#[test]
fn files_of_different_folders_use_each_other_in_no_circles() {
    let (mut wrong, mut in_one_folder) = (String::new(), Vec::new());
    for folder in ["src", "capi/src", "fuzz/src", "perf/src", "python/src"] {
        let used = imports::of_crate(&root().join(folder));
        for circle in imports::circles(&used) {
            let folders: BTreeSet<Option<&Path>> = circle.iter().map(|file| Path::new(file).parent()).collect();
            if folders.len() > 1 {
                writeln!(wrong, "{folder}:\n{}", ties(&circle, &used)).unwrap();
            } else {
                in_one_folder.extend(circle.into_iter().map(|file| format!("{folder}/{file}")));
            }
        }
    }
    assert!(wrong.is_empty(), "files of different folders use each other in circles:\n{wrong}");
    let left = in_one_folder.len();
    assert!(left == IN_ONE_FOLDER, "{left} files are in circles, not {IN_ONE_FOLDER}: {in_one_folder:#?}");
}

#[test]
fn a_circle_is_found_through_a_re_export_and_a_macro() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\npub use b::deep::Deep;\n");
    write("a.rs", "use crate::Deep;\npub struct A(Deep); // crate::b::B\n");
    write("b/mod.rs", "pub mod deep;\npub struct B(&'static str);\n");
    write("b/deep.rs", "macro_rules! a { () => { $crate::a::A } }\npub struct Deep;\n#[cfg(test)]\nuse super::B;\n");
    let used = imports::of_crate(folder.path());
    assert_eq!(imports::circles(&used), [["a.rs", "b/deep.rs"]]);
    assert_eq!(ties(&["a.rs".into(), "b/deep.rs".into()], &used).lines().count(), 2);
    write("b/deep.rs", "pub struct Deep(&'static str, char);\nconst A: Deep = Deep(\"use crate::a::A;\", '\"');\n");
    assert!(imports::circles(&imports::of_crate(folder.path())).is_empty());
}

/// The modules of the picture, from the top down: the identifier in the picture and the name in the code.
fn drawn(picture: &str) -> Vec<(&str, &str)> {
    let boxes = picture.lines().filter_map(|line| line.trim().split_once("[\"<b>"));
    boxes.map(|(id, text)| (id, text.split_once("</b>").unwrap().0)).collect()
}

/// The lines of arrows between the modules of the picture: from each to those that it uses and that no other arrow reaches. Modules that are
/// not drawn are passed through.
fn arrows(picture: &str, used: &BTreeMap<String, Used>) -> String {
    let drawn = drawn(picture);
    let number = |file: &str| {
        let name = module(file, |name| drawn.iter().any(|(_, drawn)| *drawn == name))?;
        drawn.iter().position(|(_, drawn)| *drawn == name)
    };
    let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); drawn.len()];
    for (file, start) in used.keys().filter_map(|file| Some((file, number(file)?))) {
        let (mut seen, mut next) = (BTreeSet::new(), vec![file]);
        while let Some(file) = next.pop() {
            for other in used.get(file).into_iter().flat_map(Used::keys) {
                match number(other) {
                    Some(end) => drop(reached[start].insert(end)),
                    None if seen.insert(other) => next.push(other),
                    None => {}
                }
            }
        }
        reached[start].remove(&start);
    }
    // An arrow is left out if a longer way leads there.
    fn leads(reached: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
        reached[from].iter().any(|next| *next == to || leads(reached, *next, to))
    }
    let mut lines = String::new();
    for (start, (id, name)) in drawn.iter().enumerate() {
        assert!(reached[start].iter().all(|end| *end > start), "{name} uses a module above it in the picture");
        let near = |end: &&usize| !reached[start].iter().any(|next| next != *end && leads(&reached, *next, **end));
        let ends: Vec<&str> = reached[start].iter().filter(near).map(|end| drawn[*end].0).collect();
        if !ends.is_empty() {
            writeln!(lines, "    {id} --> {}", ends.join(" & ")).unwrap();
        }
    }
    lines
}

#[test]
fn the_picture_shows_what_modules_use() {
    let (path, page) = page();
    let picture = fenced(&page, "mermaid");
    let is_arrow = |line: &&str| line.contains("-->");
    let boxes: Vec<&str> = picture.lines().filter(|line| !is_arrow(line)).collect();
    let drawn =
        format!("{}\n{}", boxes.join("\n").trim_end(), arrows(picture, &imports::of_crate(&root().join("src"))));
    if std::env::var_os("ASSETQ_BLESS").is_some() {
        fs::write(path, page.replace(picture, &drawn)).unwrap();
        return;
    }
    assert!(drawn == picture, "the picture differs; with ASSETQ_BLESS=1 this test writes it:\n{drawn}");
}

/// The most files that name a format, outside of its folder.
const FILES_OF_A_FORMAT: usize = 8;

/// Whether `text` names the format as code, configuration and documents do. Its name may also be an ordinary word, as in
/// `hull.mfm`, which does not count.
fn names_format(text: &str, format: &str) -> bool {
    let upper = format.to_uppercase();
    let (before, after) = (["formats::", "assetq::", "sample::", "formats/", "mod "], ["::", ".md", " = "]);
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_start = |head: &str| !head.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    let named = text.match_indices(format).any(|(at, _)| {
        let (head, rest) = (&text[..at], &text[at + format.len()..]);
        let declares = head.is_empty() || head.ends_with('\n');
        is_start(head)
            && is_end(rest)
            && (before.iter().any(|word| head.ends_with(word))
                || after[..2].iter().any(|word| rest.starts_with(word))
                || declares && rest.starts_with(after[2]))
    });
    named || text.match_indices(&format!("Format::{upper}")).any(|(at, word)| is_end(&text[at + word.len()..]))
}

/// The files of the project that name the format, outside of its folder.
fn files_of(format: &str) -> Vec<String> {
    let mut all = vec![root().join("Cargo.toml"), root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["src", "tests", "examples", "benches", "fuzz", "docs", "perf", "python", "capi"] {
        for ending in ["rs", "toml", "md", "py", "pyi"] {
            imports::files(&root().join(folder), ending, &mut all);
        }
    }
    all.retain(|path| {
        let is_generated = path.components().any(|part| part.as_os_str() == "target");
        !is_generated && !path.starts_with(root().join("src/formats").join(format))
    });
    let named = all.into_iter().filter(|path| names_format(&fs::read_to_string(path).unwrap(), format));
    named.map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/")).collect()
}

/// The two smallest formats touch what every format has to touch, and little else. CONTRIBUTING.md lists these files.
#[test]
fn a_format_touches_few_files_outside_of_its_folder() {
    let mut formats: Vec<(usize, String)> = formats()
        .into_iter()
        .map(|format| {
            let mut files = Vec::new();
            imports::files(&root().join("src/formats").join(&format), "rs", &mut files);
            (files.iter().map(|file| fs::read_to_string(file).unwrap().lines().count()).sum(), format)
        })
        .collect();
    formats.sort();
    for (lines, format) in &formats[..2] {
        let files = files_of(format);
        assert!(files.contains(&"src/formats/mod.rs".to_owned()), "{format} is declared: {files:?}");
        let few = files.len() <= FILES_OF_A_FORMAT;
        assert!(few, "{} files name {format} ({lines} lines): {files:#?}", files.len());
    }
    assert!(
        names_format("pub mod mfm;", "mfm") && names_format("use a::mfm::B", "mfm") && !names_format("a.mfm", "mfm")
    );
}
