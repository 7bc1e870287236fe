//! Modules use lower floors only. docs/architecture.md lists the floors, from the top down.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each module of the page's list; 0 is the top.
fn floors(page: &str) -> HashMap<String, usize> {
    let (_, list) = page.split_once("```floors\n").expect("the page lists the floors");
    let (list, _) = list.split_once("```").unwrap();
    let modules =
        list.lines().enumerate().flat_map(|(floor, line)| line.split_whitespace().map(move |name| (name, floor)));
    modules.map(|(name, floor)| (name.to_owned(), floor)).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The module of a path such as `formats::bwdb::Database`: each format and each query is one of its own.
fn module(path: &[&str], floors: &HashMap<String, usize>) -> Option<String> {
    let both = path.get(..2).map(|parts| parts.join("/"));
    let first = path.first().map(|part| (*part).to_owned());
    both.into_iter().chain(first).find(|name| floors.contains_key(name))
}

/// The modules that code names by `crate::…`. `exported` has the modules of names that the crate's root exports.
fn used(code: &str, floors: &HashMap<String, usize>, exported: &HashMap<&str, &str>) -> Vec<String> {
    let parts = code.split("crate::").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
        let path: Vec<&str> = rest[..end].split("::").collect();
        let root = exported.get(path[0]).copied();
        module(&root.map_or_else(|| path.clone(), |module| module.split('/').collect()), floors)
    });
    parts.collect()
}

#[test]
fn modules_use_lower_floors_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let floors = floors(&fs::read_to_string(root.join("docs/architecture.md")).unwrap());
    let exported = HashMap::from([
        ("Asset", "asset"),
        ("Format", "asset"),
        ("Error", "error"),
        ("ErrorKind", "error"),
        ("Result", "error"),
        ("FileFormat", "reader"),
        ("Reader", "reader"),
        ("Options", "options"),
        ("Source", "source"),
        ("bwdb", "formats/bwdb"),
        ("geometry", "formats/geometry"),
        ("diff", "ask/diff"),
        ("names", "archive"),
    ]);
    let mut all = Vec::new();
    files(&root.join("src"), &mut all);
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    for file in all {
        let path = file.strip_prefix(root.join("src")).unwrap().with_extension("");
        let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
        let Some(own) = module(&parts, &floors) else {
            if !matches!(parts[..], ["lib" | "main"] | ["ask", "mod"]) {
                wrong.push(format!("{} is on no floor", path.display()));
            }
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\n").next().unwrap().split("#[cfg(all(test").next().unwrap();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for other in used(&lines.collect::<Vec<_>>().join("\n"), &floors, &exported) {
            arrows += 1;
            if other != own && floors[&other] <= floors[&own] {
                wrong.push(format!("{} is on the floor of {own} and uses {other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(arrows > 1000, "{arrows} arrows: the paths of the code are read");
}
