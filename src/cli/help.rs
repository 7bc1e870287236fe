//! The help of commands: what it lists, and its examples, unwrapped.

use super::global::Format;
use super::topics;
use clap::builder::{PossibleValuesParser, StyledStr, TypedValueParser as _};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, ValueEnum as _};
use std::ffi::OsString;
use std::path::Path;

/// The heading of options that all commands have.
pub(super) const GLOBAL: &str = "Global options";

/// Help without examples: these follow unwrapped, because a wrapped line cannot be pasted.
const WITHOUT_EXAMPLES: &str = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}";

/// The greatest width of help in columns.
pub(super) const WIDTH: usize = 80;

/// Commands that programs and scripts run, and people do not look for.
const FOR_MACHINES: [&str; 3] = ["textconv", "completions", "man"];

/// Where a command's help leads for the options that all commands have.
const GLOBAL_OPTIONS: &str = "\nGlobal options: see `assetq help options`\n";

pub(super) fn without_global(root: Command) -> Command {
    root.mut_args(|arg| if arg.get_help_heading() == Some(GLOBAL) { arg.hide(true) } else { arg })
}

/// Adds what fits to the error of a command that does not exist, or of an argument that a command does not take.
pub(super) fn add_tip(error: &mut clap::Error, parser: &Command) {
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            quoted(error, ContextKind::InvalidSubcommand).map(|given| tip_of_command(given, parser))
        }
        ErrorKind::UnknownArgument => {
            let given = quoted(error, ContextKind::InvalidArg);
            given.and_then(|given| tip_of_option(given).or_else(|| tip_of_file(given, error)))
        }
        // `-name` of Unix's find is `-n ame` here.
        ErrorKind::ValueValidation if quoted(error, ContextKind::InvalidValue) == Some("ame") => {
            tip_of_option("--name")
        }
        _ => None,
    };
    // Clap's way to pass an option as a value makes it a name that no file has.
    let is_option = quoted(error, ContextKind::InvalidArg).is_some_and(is_option);
    for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        // The usage has the suggestion in it.
        if tip.is_some() && error.remove(kind).is_some() {
            error.remove(ContextKind::Usage);
        }
    }
    if tip.is_some() || is_option {
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
}

/// Makes the line of a file alone, which a desktop starts for a file that is dropped on the program, one of `view`.
pub(super) fn add_view(args: &mut Vec<OsString>, parser: &Command) {
    if let [_, file] = &**args
        && !file.as_encoded_bytes().starts_with(b"-")
        && Path::new(file).exists()
        && file != "help"
        && parser.find_subcommand(file).is_none()
    {
        args.insert(1, "view".into());
    }
}

/// Why an argument of Windows has options in it, if one has: `\"` at the end of a folder in quotes is a quote of its name.
pub(super) fn tip_of_quote(args: &[OsString]) -> Option<String> {
    let given = args.iter().filter_map(|arg| arg.to_str()).find(|arg| arg.contains("\" -"))?;
    Some(format!(
        "{given} is one argument, as \\\" is a quote in it: leave out the \\ before the quote that ends a folder"
    ))
}

/// Whether an argument looks like an option and not like a number.
fn is_option(given: &str) -> bool {
    given.starts_with('-') && given.trim_start_matches('-').starts_with(|first: char| first.is_ascii_alphabetic())
}

fn quoted(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Words of other programs, and the command that does what they say.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["list", "dir", "tables", "table", "rows", "head", "show"], "'assetq ls FILE' lists rows"),
    (&["tree"], "'assetq ls FILE --tree' shows folders as a tree"),
    (
        &["columns", "schema", "describe", "stat", "stats", "count", "inspect"],
        "'assetq info FILE' shows tables and columns",
    ),
    (&["search", "grep", "rg"], "'assetq find TEXT FILE' finds texts"),
    (&["get", "print", "entry"], "'assetq cat FILE ENTRY' shows an entry"),
    (&["query", "select", "sqlite"], "'assetq sql QUERY FILE' runs SQL"),
    (&["unpack", "unzip", "decompress", "untar"], "'assetq extract ARCHIVE --to DIR' unpacks files"),
    (
        &["convert", "save", "dump", "to", "csv", "json", "parquet", "glb"],
        "'assetq export FILE --to OUT' writes a file of another kind",
    ),
    (
        &["pack", "repack", "import", "apply", "merge", "write", "put"],
        "'assetq patch FILE CHANGES --to NEW' puts rows, entries and meshes back",
    ),
    (
        &["edit", "change", "update", "replace", "modify"],
        "'assetq set FILE PATH VALUE --to NEW' changes a value, and UPDATE in 'assetq sql' many",
    ),
    (
        &["insert", "add", "delete", "remove", "rm"],
        "INSERT and DELETE in 'assetq sql QUERY FILE --to NEW' add and remove rows",
    ),
    (
        &["undo", "revert", "restore"],
        "'assetq patch FILE UNDO --in-place' takes an edit back, with the file that --undo wrote",
    ),
    (&["compare", "changes", "delta", "cmp"], "'assetq diff OLD NEW' compares files"),
    (&["log", "blame", "changelog"], "'assetq history ENTRY GAME' compares builds"),
    (&["open", "render", "preview", "html", "browse"], "'assetq view FILE' shows a page"),
    (&["check", "validate", "lint", "test"], "'assetq verify FILE' checks a file"),
    (&["lookup", "id", "hash"], "'assetq resolve ID' looks ids and paths up"),
    (&["references", "usages", "uses", "deps"], "'assetq refs ID FILE' lists references"),
    (&["backup", "keep"], "'assetq snapshot GAME --to DIR' keeps a build"),
    (&["example", "examples"], "'assetq sample DIR' writes a file of every format"),
    (&["version"], "'assetq --version' prints the version"),
];

fn tip_of_command(given: &str, parser: &Command) -> String {
    let shown = parser.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let shown: Vec<&str> = shown.filter(|name| !FOR_MACHINES.contains(name)).collect();
    let all = shown.join(", ");
    // No command has a sign of paths and patterns in its name.
    if Path::new(given).exists() || given.contains(['/', '\\', '*', '.', ':']) {
        return format!("a command precedes the file, as in 'assetq info {given}'; the commands are {all}");
    }
    let given = given.to_lowercase();
    if let Some((_, command)) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&&*given)) {
        return format!("{command}; the commands are {all}");
    }
    match crate::suggest::nearest(&given, shown).first() {
        Some(near) => format!("did you mean '{near}'? the commands are {all}"),
        None => format!("the commands are {all}; 'assetq ls FILE -t TABLE' lists a table"),
    }
}

/// How a command with one file takes several, and which command compares one entry of two files.
fn tip_of_file(given: &str, error: &clap::Error) -> Option<String> {
    let usage = match error.get(ContextKind::Usage)? {
        ContextValue::StyledStr(usage) => usage.to_string(),
        _ => return None,
    };
    if given.starts_with('-') {
        return None;
    }
    // A shell puts the names of many files in place of a pattern.
    if usage.contains(" ls ") {
        let ending = Path::new(given).extension().map_or_else(|| "bin".into(), |ending| ending.to_string_lossy());
        return Some(format!(
            "several files go by a folder or by a pattern in quotes, as in 'assetq ls \"*.{ending}\"'"
        ));
    }
    let takes_entry = [" diff ", " cat "].iter().any(|name| usage.contains(name));
    takes_entry.then(|| {
        "'assetq history ENTRY OLD NEW' compares one entry, and 'assetq find TEXT OLD NEW' finds names in several files"
            .to_owned()
    })
}

/// The equivalent of an option that other programs have.
fn tip_of_option(given: &str) -> Option<String> {
    let name = given.trim_start_matches('-');
    if name.len() == given.len() {
        return None;
    }
    Some(match name {
        "o" | "out" | "output" => "'--to OUT' names the output, of commands that write one".to_owned(),
        "csv" | "json" | "ndjson" => format!("'-f {name}' writes this format"),
        "parquet" | "arrow" | "glb" => format!("'assetq export FILE --to OUT.{name}' writes this format"),
        "sort" | "sort-by" | "order" | "order-by" => {
            "'assetq ls FILE --sort COLUMN:desc' sorts rows, and so does ORDER BY in 'assetq sql'".to_owned()
        }
        "filter" => "'--where CONDITION' selects rows".to_owned(),
        "bom" => "'assetq export FILE --to OUT.csv --bom' writes it".to_owned(),
        "n" | "limit" | "head" | "top" => {
            "'assetq ls FILE --limit 10' shows the first rows, and so does LIMIT 10 in 'assetq sql'".to_owned()
        }
        "name" | "iname" | "text" | "pattern" | "regexp" => {
            "'assetq find TEXT FILE...' finds names and texts, and 'assetq ls FILE GLOB' lists names".to_owned()
        }
        "ship" => "`assetq history NAME OLD NEW` shows what changed for a ship, \
            `assetq ls GAME -t armor -w \"ship ~ '*NAME*'\"` lists what a table has of it, and \
            `assetq export GAME --ship NAME --to OUT` puts it together"
            .to_owned(),
        "missing" | "broken" | "unresolved" => {
            "'assetq refs --dangling FILE' lists references to what is missing".to_owned()
        }
        "near" | "around" | "within" => {
            "'assetq ls FILE --at 0,0,0' shows what is at a point, and --box what is in a box".to_owned()
        }
        _ => return None,
    })
}

/// The commands with all their arguments, for help and man pages: `root` has what parsing a command line needs.
pub(super) fn documented(root: Command) -> Command {
    root.mut_subcommands(|sub| {
        let formats = super::formats(sub.get_name());
        let names: Vec<_> = formats.iter().filter_map(Format::to_possible_value).collect();
        let format = Arg::new("format").long("format").short('f').value_name("FORMAT").help_heading(GLOBAL);
        let format =
            format.help("How output is written").default_value("text").display_order(0).hide(formats.is_empty());
        let parser = PossibleValuesParser::new(names).try_map(|name| Format::from_str(&name, true));
        sub.arg(format.value_parser(parser))
    })
}

/// The help that a command line requests: clap's help, and the unwrapped examples. `None` without a request.
pub(super) fn asked(root: impl Fn() -> Command, args: &[OsString]) -> Option<String> {
    let is_asked = args.iter().skip(1).any(|arg| arg == "-h" || arg == "--help" || arg == "help");
    // The words of another command line are no request.
    if !is_asked || args.get(1).is_some_and(|name| name == "paths-inside") {
        return None;
    }
    if let Some(page) = topics::requested(&root, args) {
        return Some(page);
    }
    let mut root = without_global(documented(root())).help_template(WITHOUT_EXAMPLES).mut_subcommands(|sub| {
        // A command has formats of its own.
        sub.help_template(WITHOUT_EXAMPLES)
            .mut_arg("format", |arg| arg.help_heading(None::<&str>).display_order(usize::MAX))
    });
    let error = root.try_get_matches_from_mut(args).err()?;
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return None;
    }
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str()).filter(|word| *word != "help");
    let command = words.find_map(|word| root.find_subcommand(word)).unwrap_or(&root);
    let examples = command.get_after_help().map_or_else(String::new, |examples| format!("\n{examples}\n"));
    Some(format!("{}{GLOBAL_OPTIONS}{examples}", error.render().ansi()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_swallows_options_is_found() {
        let of = |args: &[&str]| tip_of_quote(&args.iter().map(OsString::from).collect::<Vec<_>>());
        let tip = of(&["assetq", "extract", "pack.bin", "--to", "out dir\" --force"]).unwrap();
        assert!(tip.starts_with("out dir\" --force is one argument, as \\\" is a quote in it"), "{tip}");
        assert_eq!(of(&["assetq", "sql", "SELECT \"a\" FROM b", "--to", "out dir"]), None);
    }
}
