//! The documents of the repository: what they state is compared with the files, packages and workflows that they name.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most characters of a line. Rows of tables and blocks of code have as many as they need.
const COLUMNS: usize = 120;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// A document: its path in the repository, and its text.
struct Page {
    path: String,
    text: String,
}

impl Page {
    /// The lines outside of blocks of code, with their numbers.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_code = false;
        (1..).zip(self.text.lines()).filter(move |(_, line)| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }

    /// Records state what held on their day.
    fn is_record(&self) -> bool {
        self.path.starts_with("perf/record/")
    }
}

/// All documents. Folders of build output and of other programs are left out.
fn pages() -> Vec<Page> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let path = folder.join(&name);
            if entry.file_type().unwrap().is_dir() {
                let is_ours = !name.starts_with('.') && !["target", "dist", "demo", "corpus"].contains(&name.as_str());
                folders.extend(is_ours.then_some(path));
            } else if name.ends_with(".md") {
                let path = path.to_str().unwrap().replace('\\', "/");
                found.push(Page { text: text(&path), path });
            }
        }
    }
    assert!(found.len() > 40, "{} documents", found.len());
    found
}

#[test]
fn lines_of_documents_fit_into_a_window() {
    let mut long = Vec::new();
    for page in pages() {
        for (number, line) in page.prose().filter(|(_, line)| !line.trim_start().starts_with('|')) {
            let columns = line.chars().count();
            if columns > COLUMNS {
                long.push(format!("{}:{number}: {columns} columns: {line}", page.path));
            }
        }
    }
    assert!(long.is_empty(), "one sentence a line, broken at a clause before column {COLUMNS}: {long:#?}");
}

/// A change of one sentence is then a change of its lines alone.
#[test]
fn each_sentence_of_a_document_begins_a_line() {
    // Heads in bold type stand before their sentence, and remarks in parentheses inside of one.
    let without = Regex::new(r"`[^`]*`|\([^()]*\)|\*\*[^*]*\*\*|^\s*[0-9]+\. ").unwrap();
    let two = Regex::new(r"[.?!] [A-Z]").unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        for (number, line) in page.prose().filter(|(_, line)| !line.trim_start().starts_with(['|', '#'])) {
            if two.is_match(&without.replace_all(line, "")) {
                wrong.push(format!("{}:{number}: {line}", page.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The anchor that a heading gets on the pages of the repository's host.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A picture of many megabytes makes a document slow, and one that no document names is never looked at again.
#[test]
fn each_picture_is_named_by_a_document_and_is_small() {
    let all: String = pages().iter().map(|page| text(&page.path)).collect();
    for picture in fs::read_dir(root().join("docs/pictures")).unwrap().map(|entry| entry.unwrap()) {
        let name = picture.file_name().into_string().unwrap();
        assert!(name == "make" || all.contains(&format!("pictures/{name})")), "no document names {name}");
        assert!(picture.metadata().unwrap().len() < 300_000, "{name} has 300 kB or more");
    }
}

#[test]
fn links_of_documents_lead_to_files_and_headings() {
    let link = Regex::new(r"\]\(([^()\s]+)\)").unwrap();
    let (mut wrong, mut followed) = (Vec::new(), 0);
    for page in pages() {
        for (number, line) in page.prose() {
            for target in link.captures_iter(line).map(|found| found.get(1).unwrap().as_str()) {
                if target.contains("://") {
                    continue;
                }
                followed += 1;
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let of_page = root().join(&page.path);
                let path = if file.is_empty() { of_page } else { of_page.parent().unwrap().join(file) };
                let has_heading = || {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    text.lines().any(|line| line.starts_with('#') && anchor(line) == heading)
                };
                if !path.exists() || !heading.is_empty() && !has_heading() {
                    wrong.push(format!("{}:{number}: {target}", page.path));
                }
            }
        }
    }
    assert!(wrong.is_empty() && followed > 100, "of {followed} links lead nowhere: {wrong:#?}");
}

#[test]
fn paths_tests_and_packages_that_documents_name_exist() {
    let folders = "benches|blender|capi|crates|docs|duckdb|examples|fuzz|perf|python|release|src|tests";
    let path = Regex::new(&format!(r"`((?:\.ci|\.github|{folders})/[a-z0-9_./-]*)`")).unwrap();
    let test = Regex::new(r"cargo .*--test ([a-z_]+)").unwrap();
    let package = Regex::new(r"cargo .*(?:-p|--package) assetq-([a-z0-9-]+)").unwrap();
    let (mut wrong, mut named) = (BTreeSet::new(), 0);
    for page in pages().iter().filter(|page| !page.is_record()) {
        let mut check = |name: &str, places: &[String]| {
            named += 1;
            if !places.iter().any(|place| root().join(place).exists()) {
                wrong.insert(format!("{}: {name}", page.path));
            }
        };
        for found in path.captures_iter(&page.text).map(|found| found[1].to_owned()) {
            // From the root, or from the folder of the page.
            let folder = Path::new(&page.path).parent().unwrap();
            check(&found, &[found.clone(), folder.join(&found).to_str().unwrap().to_owned()]);
        }
        for found in test.captures_iter(&page.text) {
            check(&found[0], &[format!("tests/{}", &found[1]), format!("tests/{}.rs", &found[1])]);
        }
        for found in package.captures_iter(&page.text) {
            check(&found[0], &[format!("crates/{}", &found[1]), found[1].to_owned()]);
        }
    }
    assert!(wrong.is_empty() && named > 100, "of {named} names nothing is there: {wrong:#?}");
}

const NUMBERS: [&str; 25] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "twenty-one",
    "twenty-two",
    "twenty-three",
    "twenty-four",
];

/// Asserts that the word before or after these words is this number, wherever a document has them.
#[track_caller]
fn assert_counted(number: usize, pattern: &str) {
    let pattern = Regex::new(&format!("(?i){}", pattern.replace('N', &format!("({})", NUMBERS.join("|"))))).unwrap();
    let mut stated = 0;
    for page in pages().iter().filter(|page| !page.is_record()) {
        for found in pattern.captures_iter(&page.text.replace('\n', " ")) {
            assert_eq!(found[1].to_lowercase(), NUMBERS[number], "{}: {}", page.path, &found[0]);
            stated += 1;
        }
    }
    assert!(stated > 0, "no document has {pattern}");
}

#[test]
fn documents_count_the_fuzz_targets() {
    let files = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap().count();
    let targets = text("fuzz/Cargo.toml").matches("\n[[bin]]\n").count();
    assert_eq!(files, targets, "each target has a file");
    assert_counted(targets, r"\bN (libFuzzer )?targets\b");
    let run = text("fuzz/run");
    let sanitized = run.lines().find_map(|line| line.strip_prefix("with_sanitizer=\" ")).unwrap();
    assert_counted(sanitized.trim_end_matches(" \"").split(' ').count(), r"\bN of (?:the|all) targets\b");
}

#[test]
fn documents_count_and_name_the_files_with_unsafe_code() {
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::from("crates"), PathBuf::from("src")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs")
                && text(path.to_str().unwrap()).contains("allow(unsafe_code)")
            {
                found.insert(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    assert_counted(found.len(), r"\bN files (?:of the library )?contain `unsafe`");
    let page = text("docs/unsafe.md");
    for file in &found {
        assert!(page.contains(&format!("`{file}`")), "docs/unsafe.md does not argue for {file}");
    }
}

/// All files of Rust below a folder of the repository, by their paths.
fn sources(folder: &str) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().map(Result::unwrap) {
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn unsafe_blocks_functions_and_implementations_are_counted_by_file() {
    let [blocks, functions, implementations] =
        [r"\bunsafe \{", r#"\bunsafe (?:extern "[a-zC]+" )?fn \w"#, r"\bunsafe impl\b"]
            .map(|of| Regex::new(of).unwrap());
    let mut found = BTreeSet::new();
    for path in ["capi/src", "crates", "duckdb/src", "python/src", "src"].into_iter().flat_map(sources) {
        let text = text(&path);
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap().lines();
        let code = code.map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
        let counts = [&blocks, &functions, &implementations].map(|of| of.find_iter(&code).count());
        if let [blocks, functions, implementations] = counts
            && counts != [0; 3]
        {
            found.insert(format!("| `{path}` | {blocks} | {functions} | {implementations} |"));
        }
    }
    let page = text("docs/unsafe.md");
    let stated: BTreeSet<String> = page.lines().filter(|line| line.contains(".rs` | ")).map(str::to_owned).collect();
    assert_eq!(found, stated, "left: the code; right: docs/unsafe.md");
}

#[test]
fn each_promise_names_a_test_that_exists() {
    let named = Regex::new(r"`(tests/[a-z/_]+\.rs)`: (`[a-z0-9_]+`(?:, `[a-z0-9_]+`)*)").unwrap();
    let page = text("SECURITY.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---")).collect();
    let rows = rows.iter().filter(|row| !row.ends_with("| tests |"));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for row in rows {
        let mut is_shown = false;
        for found in named.captures_iter(row) {
            let code = text(&found[1]);
            for test in found[2].split(", ").map(|test| test.trim_matches('`')) {
                is_shown = true;
                if !code.contains(&format!("fn {test}(")) {
                    wrong.push(format!("{}: no test {test}", &found[1]));
                }
            }
        }
        assert!(is_shown, "no test is named: {row}");
        count += 1;
    }
    assert!(wrong.is_empty() && count > 10, "of {count} promises: {wrong:#?}");
}

/// A moved tag of an action could change what a release contains. A commit cannot be moved.
#[test]
fn workflows_name_each_action_by_its_commit() {
    let pinned = Regex::new(r"^[\w-]+/[\w-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$").unwrap();
    let mut used = BTreeSet::new();
    for workflow in ["ci", "pages", "release", "wheels"] {
        let text = text(&format!(".github/workflows/{workflow}.yml"));
        let actions = text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: "));
        used.extend(actions.filter(|action| !action.starts_with("./")).map(str::to_owned));
    }
    let names: BTreeSet<&str> = used.iter().map(|action| action.split('@').next().unwrap()).collect();
    assert!(used.iter().all(|action| pinned.is_match(action)), "{used:#?}");
    assert_eq!(names.len(), used.len(), "all workflows use one version of an action: {used:#?}");
}

/// A figure such as `1.92 ms` or `2,244`: its value in seconds or as a ratio, and half of its last digit.
fn figure(cell: &str) -> (f64, f64) {
    let cell = cell.trim_matches('*').replace(',', "");
    let (number, unit) = cell.split_once(' ').unwrap_or((&cell, ""));
    let unit = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        _ => panic!("no unit: {cell}"),
    };
    let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half = 0.5 / 10f64.powi(digits.try_into().unwrap());
    (number.parse::<f64>().unwrap() * unit, half * unit)
}

#[test]
fn figures_of_documents_are_those_of_the_newest_record() {
    let records = fs::read_dir(root().join("perf/record")).unwrap().map(|entry| entry.unwrap().path());
    let newest = records.filter(|path| path.extension().is_some_and(|ending| ending == "json")).max().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&fs::read(newest).unwrap()).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    for page in ["README.md", "perf/README.md"] {
        let (text, mut compared) = (text(page), 0);
        for row in text.lines().filter(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let of_row = |ratio: &&serde_json::Value| ratio["what"] == cells[0];
            let Some(ratio) = record["ratios"].as_array().unwrap().iter().find(of_row) else { continue };
            let measured = [&ratio["seconds"][0], &ratio["seconds"][1], &ratio["ratio"]["median"]].map(number);
            for (cell, measured) in cells[1..].iter().zip(measured) {
                let (stated, half) = figure(cell);
                assert!(
                    (stated - measured).abs() <= half * 1.001,
                    "{page}: {row}: {cell}, but the record has {measured}"
                );
            }
            compared += 1;
        }
        assert!(compared > 5, "{page}: {compared} rows of the record");
    }
}

/// The jobs of a workflow: their names and what they do.
fn jobs(workflow: &str) -> Vec<(&str, &str)> {
    let (_, jobs) = workflow.split_once("\njobs:\n").unwrap();
    let name = Regex::new(r"(?m)^  ([a-z-]+):\n").unwrap();
    let names: Vec<_> = name.captures_iter(jobs).map(|found| found.get(1).unwrap()).collect();
    let ends = names.iter().skip(1).map(|next| next.start()).chain([jobs.len()]);
    names.iter().zip(ends).map(|(name, end)| (name.as_str(), &jobs[name.end()..end])).collect()
}

#[test]
fn contributing_lists_the_jobs_of_ci_and_what_they_run() {
    let workflow = text(".github/workflows/ci.yml");
    let page = text("CONTRIBUTING.md");
    let rows = page.lines().skip_while(|line| *line != "| job | runs | checks |").skip(2);
    let rows: Vec<Vec<&str>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let jobs = jobs(&workflow);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), jobs.iter().map(|job| job.0).collect::<Vec<_>>());
    for (row, (name, steps)) in rows.iter().zip(jobs) {
        for command in row[1].split('`').skip(1).step_by(2) {
            assert!(steps.contains(command), "{name}: no step has {command}");
        }
    }
}
