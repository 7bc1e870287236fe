//! The names that files of a crate use of each other, read from their code.
//!
//! A file uses another one if a path in its code leads to an item that the other one defines, through any `pub use` on
//! the way. Re-exports themselves, `mod` lines and code of tests do not count.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names that a file uses, by the file that defines them.
pub type Used = BTreeMap<String, BTreeSet<String>>;

/// A module: its own items, the names that `use` brings in, and the paths in its code.
#[derive(Default)]
struct Module {
    file: String,
    items: HashSet<String>,
    imports: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    paths: Vec<Vec<String>>,
    /// Modules in files of their own that only tests have.
    tests: Vec<String>,
}

/// The files below `folder` with this ending.
pub fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
}

/// The words and signs of code, without comments and literals.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut all, mut rest) = (Vec::new(), code);
    while let Some(first) = rest.chars().next() {
        let raw = rest.trim_start_matches('b').strip_prefix('r').map(|raw| (raw, raw.trim_start_matches('#')));
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some((raw, text)) = raw.filter(|(_, text)| text.starts_with('"')) {
            let end = format!("\"{}", "#".repeat(raw.len() - text.len()));
            let start = rest.len() - text.len() + 1;
            start + rest[start..].find(&end).unwrap() + end.len()
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c: char| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            end.unwrap() + 2
        } else if first == '\'' {
            // A lifetime has no second quote.
            let end = if rest[1..].starts_with('\\') { rest[3..].find('\'').map(|end| end + 3) } else { None };
            let next = rest[1..].chars().next().map_or(1, |c| c.len_utf8() + 1);
            end.or(rest[next..].starts_with('\'').then_some(next)).map_or(1, |end| end + 1)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let token = &rest[..len];
        if !first.is_whitespace() && !token.starts_with("//") && !token.ends_with(['"', '#', '\'']) || token == "#" {
            all.push(token);
        }
        rest = &rest[len..];
    }
    all
}

/// The position after the group whose bracket is at `open`.
fn group_end(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The position after the item that begins at `at`, with its attributes.
fn item_end(tokens: &[&str], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at = if matches!(*token, "{" | "(" | "[") { group_end(tokens, at) } else { at + 1 };
        if matches!(*token, "{" | ";") {
            return at;
        }
    }
    at
}

/// The paths of a tree of imports, each with the name that it gets.
fn tree(tokens: &[&str], prefix: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match *token {
            "::" => {}
            "as" => {
                name = tokens.get(at).map(|name| (*name).to_owned());
                at += 1;
            }
            "{" => {
                let end = group_end(tokens, at - 1);
                tree(&tokens[at..end - 1], &path, found);
                (path, at) = (Vec::new(), end);
            }
            "," => {
                keep(path, name.take(), found);
                path = prefix.to_vec();
            }
            word => path.push(word.to_owned()),
        }
    }
    keep(path, name, found);
}

fn keep(mut path: Vec<String>, name: Option<String>, found: &mut Vec<(Vec<String>, String)>) {
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last().cloned() {
        found.push((path, name.unwrap_or(last)));
    }
}

/// Reads the modules of a file: its own, and those within.
fn read(tokens: &[&str], path: &[String], file: &str, modules: &mut BTreeMap<Vec<String>, Module>) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    let (mut at, mut depth, mut public) = (0, 0, false);
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).copied().unwrap_or("");
        match *token {
            "#" if next == "[" => {
                let end = group_end(tokens, at + 1);
                let is_test = tokens[at..end].starts_with(&["#", "[", "cfg", "(", "test"])
                    || tokens[at..end].starts_with(&["#", "[", "cfg", "(", "all", "(", "test"]);
                at = if is_test { item_end(tokens, end) } else { end };
                if let [.., "mod", name, ";"] = tokens[end..at] {
                    module.tests.push(name.to_owned());
                }
                continue;
            }
            "mod" if tokens.get(at + 2) == Some(&"{") => {
                let end = group_end(tokens, at + 2);
                let inner: Vec<String> = path.iter().cloned().chain([next.to_owned()]).collect();
                read(&tokens[at + 3..end - 1], &inner, file, modules);
                (at, public) = (end, false);
                continue;
            }
            "use" => {
                let end = at + tokens[at..].iter().position(|token| *token == ";").unwrap() + 1;
                let mut found = Vec::new();
                tree(&tokens[at + 1..end - 1], &[], &mut found);
                for (path, name) in found {
                    if name == "*" {
                        module.globs.push(path[..path.len() - 1].to_vec());
                        continue;
                    }
                    if !public {
                        module.paths.push(path.clone());
                    }
                    if depth == 0 || !module.imports.contains_key(&name) {
                        module.imports.insert(name, path);
                    }
                }
                (at, public) = (end, false);
                continue;
            }
            "pub" => {
                public = true;
                at = if next == "(" { group_end(tokens, at + 1) } else { at + 1 };
                continue;
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" if depth == 0 => {
                module.items.insert(next.to_owned());
            }
            "macro_rules" => {
                module.items.extend(tokens.get(at + 2).map(|name| (*name).to_owned()));
            }
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        public = false;
        let mut path = vec![(*token).to_owned()];
        while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|word| is_name(word)) {
            path.push(tokens[at + 2].to_owned());
            at += 2;
        }
        if is_name(token) && (path.len() > 1 || !module.globs.is_empty()) {
            module.paths.push(path);
        }
        at += 1;
    }
    modules.insert(path.to_vec(), module);
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Where a path leads.
enum Target<'m> {
    Module(Vec<String>),
    /// An item, and the file that defines it.
    Item(&'m str, String),
}

/// Follows `path` from the code of the module `from`. `None` for items of other crates.
fn target<'m>(
    modules: &'m BTreeMap<Vec<String>, Module>,
    from: &[String],
    path: &[String],
    steps: usize,
) -> Option<Target<'m>> {
    let steps = steps.checked_sub(1)?;
    let (mut module, mut rest) = (from.to_vec(), path);
    while let Some((first, next)) = rest.split_first() {
        match &**first {
            "crate" => module.clear(),
            "super" => drop(module.pop()),
            "self" => {}
            name => {
                let own = modules.get(&module)?;
                let inner: Vec<String> = module.iter().cloned().chain([name.to_owned()]).collect();
                if modules.contains_key(&inner) {
                    module = inner;
                } else if own.items.contains(name) {
                    return Some(Target::Item(&own.file, name.to_owned()));
                } else if let Some(import) = own.imports.get(name).filter(|import| import[..] != [name]) {
                    match target(modules, &module, import, steps)? {
                        Target::Module(found) => module = found,
                        item => return Some(item),
                    }
                } else {
                    let whole = |glob: &Vec<String>| glob.iter().chain(rest).cloned().collect::<Vec<_>>();
                    return own.globs.iter().find_map(|glob| target(modules, &module, &whole(glob), steps));
                }
            }
        }
        rest = next;
    }
    Some(Target::Module(module))
}

/// The names that each file of the crate in `root` uses of the other ones. Files are named by their path below `root`.
pub fn of_crate(root: &Path) -> BTreeMap<String, Used> {
    let mut all = Vec::new();
    files(root, "rs", &mut all);
    let mut modules = BTreeMap::new();
    for file in &all {
        let name = file.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let mut path: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if path.last().is_some_and(|last| last == "mod") || matches!(&*name, "lib.rs") {
            path.pop();
        }
        read(&tokens(&fs::read_to_string(file).unwrap()), &path, &name, &mut modules);
    }
    let tests: Vec<Vec<String>> = modules
        .iter()
        .flat_map(|(path, module)| module.tests.iter().map(|name| path.iter().chain([name]).cloned().collect()))
        .collect();
    modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    let mut used: BTreeMap<String, Used> = BTreeMap::new();
    for (path, module) in &modules {
        let of_file = used.entry(module.file.clone()).or_default();
        for reached in &module.paths {
            if let Some(Target::Item(file, item)) = target(&modules, path, reached, 6)
                && file != module.file
            {
                of_file.entry(file.to_owned()).or_default().insert(item);
            }
        }
    }
    used
}

/// The files that use each other, directly or through others: each circle once.
pub fn circles(used: &BTreeMap<String, Used>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = used
        .keys()
        .map(|file| {
            let (mut found, mut next) = (BTreeSet::new(), vec![file]);
            while let Some(file) = next.pop() {
                next.extend(used.get(file).into_iter().flat_map(Used::keys).filter(|file| found.insert(*file)));
            }
            (file, found)
        })
        .collect();
    let circle = |file: &String| -> Vec<String> {
        reached[file].iter().filter(|other| reached[**other].contains(file)).map(|other| (*other).clone()).collect()
    };
    let all: BTreeSet<Vec<String>> = used.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    all.into_iter().collect()
}
