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

/// Adds what fits to the error of a command that does not exist, or of an option that a command does not have.
pub(super) fn add_tip(error: &mut clap::Error, parser: &Command) {
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => quoted(error, ContextKind::InvalidSubcommand)
            .filter(|given| Path::new(given).exists() || error.get(ContextKind::SuggestedSubcommand).is_none())
            .map(|given| {
                let shown = parser.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
                let shown: Vec<&str> = shown.filter(|name| !FOR_MACHINES.contains(name)).collect();
                let all = shown.join(", ");
                match Path::new(given).exists() {
                    true => format!("a command precedes the file, as in 'assetq info {given}'; the commands are {all}"),
                    false => format!("the commands are {all}; 'assetq ls FILE -t TABLE' lists a table"),
                }
            }),
        ErrorKind::UnknownArgument => quoted(error, ContextKind::InvalidArg).and_then(tip_of_option),
        _ => None,
    };
    if let Some(tip) = tip {
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
}

fn quoted(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// The equivalent of an option that other programs have.
fn tip_of_option(given: &str) -> Option<String> {
    let name = given.trim_start_matches('-');
    Some(match name {
        "o" | "out" | "output" => "'--to OUT' names the output, of commands that write one".to_owned(),
        "csv" | "json" | "ndjson" => format!("'-f {name}' writes this format"),
        "parquet" | "arrow" | "glb" => format!("'assetq export FILE --to OUT.{name}' writes this format"),
        "sort" | "sort-by" | "order" | "order-by" => {
            "'assetq ls FILE --sort COLUMN:desc' sorts rows, and so does ORDER BY in 'assetq sql'".to_owned()
        }
        "filter" => "'--where CONDITION' selects rows".to_owned(),
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
