//! The command line: one file a command, with its arguments and its run.
//!
//! The user's arguments end here: a command opens files through its context, reads tables and entries, and writes
//! through it, as rows or as entries, so that every command speaks every output format.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "numbers of rows, columns and bytes in memory, which readers have checked"
)]

mod arguments;
mod cache;
mod cat;
mod changes;
mod completions;
mod context;
mod diff;
mod edited_file;
mod entries;
mod environment;
mod export;
mod extract;
mod failure;
mod file_names;
mod files;
mod find;
mod games;
mod global;
mod help;
mod history;
mod info;
mod ls;
mod man;
mod output_files;
mod pager;
mod patch;
mod progress;
mod refs;
mod reports;
mod resolve;
mod rows;
mod sample;
mod set;
mod settings;
mod snapshot;
mod sort;
mod sql;
mod stdout;
mod string;
mod textconv;
mod topics;
mod tour;
mod verify;
mod view;

pub use crate::source::signals::Allocator;
use crate::threads;
use crate::write::text::escape;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum as _};
use context::Context;
use failure::{Exit, Failure, Outcome};
use global::{Format, Global};
use pager::complain;
use progress::Unit;
use std::ffi::OsString;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

/// Query game-asset files in place: World of Warships databases and geometry, VRage archives, Rusty Hearts maps,
/// FINAL FANTASY XIII sheets.
///
/// Files are mapped, not loaded: a query of one entry takes no longer than the start of a process.
#[derive(Debug, Parser)]
#[command(name = "assetq", version, propagate_version = true, max_term_width = help::WIDTH, after_help = topics::EXAMPLES)]
struct Cli {
    #[command(flatten, next_help_heading = help::GLOBAL)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

macro_rules! commands {
    ($($command:ident: $module:ident::$args:ident,)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command($module::$args),)+
            Completions(completions::Args),
            PathsInside(completions::InsideArgs),
            Man(man::Args),
        }

        impl Command {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$command(_) => stringify!($module),)+
                    Self::Completions(_) => "completions",
                    Self::PathsInside(_) => "paths-inside",
                    Self::Man(_) => "man",
                }
            }

            fn run(self, context: &Context) -> Outcome {
                match self {
                    $(Self::$command(args) => $module::run(&args, context),)+
                    Self::Completions(args) => completions::run(&args, help::documented(Cli::command()), context),
                    Self::PathsInside(args) => completions::inside(&args, context),
                    Self::Man(args) => man::run(&args, help::documented(Cli::command()), context),
                }
            }
        }

        /// The values of `-f` that each command takes.
        const FORMATS: &[(&str, &[Format])] = &[$((stringify!($module), $module::FORMATS),)+];
    };
}

/// The values of `-f` that the command `name` takes; none if it writes files or a script.
fn formats(name: &str) -> &'static [Format] {
    FORMATS.iter().find(|(command, _)| *command == name).map_or(&[], |(_, formats)| formats)
}

/// Refuses a value of `-f` that the command does not take. A command that writes no rows has no use for a format of rows.
fn check_format(command: &str, format: Format) -> Result<(), Failure> {
    let taken = formats(command);
    if taken.contains(&format) || taken.is_empty() && Format::ROWS.contains(&format) {
        return Ok(());
    }
    let value = format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let takers = FORMATS.iter().filter(|(_, formats)| formats.contains(&format));
    let takers: Vec<&str> = takers.map(|(command, _)| *command).collect();
    Err(Failure::usage(format!("-f {value} works with these commands only: {}", takers.join(", "))))
}

commands! {
    Info: info::Args,
    Ls: ls::Args,
    Cat: cat::Args,
    Refs: refs::Args,
    Resolve: resolve::Args,
    String: string::Args,
    Diff: diff::DiffArgs,
    History: history::Args,
    Set: set::Args,
    Patch: patch::Args,
    Textconv: textconv::Args,
    Export: export::ExportArgs,
    View: view::ViewArgs,
    Sql: sql::SqlArgs,
    Verify: verify::Args,
    Extract: extract::Args,
    Snapshot: snapshot::Args,
    Cache: cache::Args,
    Find: find::Args,
    Games: games::Args,
    Sample: sample::Args,
}

impl Command {
    /// Whether its output is for reading, so that a terminal shows it in a pager.
    fn is_paged(&self) -> bool {
        match self {
            Self::Info(_)
            | Self::Ls(_)
            | Self::Cat(_)
            | Self::Refs(_)
            | Self::Resolve(_)
            | Self::String(_)
            | Self::Diff(_)
            | Self::History(_)
            | Self::Find(_) => true,
            Self::Sql(args) => args.is_paged(),
            _ => false,
        }
    }

    /// Whether its output goes into a file that the command line names.
    fn is_diverted(&self) -> bool {
        matches!(self, Self::Diff(args) if args.writes_file())
    }

    /// Whether the command may write over a file that it reads.
    fn may_replace_input(&self) -> bool {
        match self {
            Self::Set(set::Args { output, .. })
            | Self::Patch(patch::Args { output, .. })
            | Self::Sql(sql::SqlArgs { output, .. }) => output.in_place || output.force,
            Self::Extract(args) => args.force,
            Self::Snapshot(args) => args.force,
            _ => false,
        }
    }
}

/// Runs the command that the process was started with, as the program `assetq` does. A program that knows a format more
/// adds it first, with [`Format::add`](crate::Format::add).
pub fn main() -> ExitCode {
    crate::source::exit_when_a_mapped_file_shrinks();
    crate::atomic_file::keep_running_at_size_limits();
    crate::atomic_file::exit_when_memory_runs_out();
    // The process ends before long: taking the parser apart would cost more than many a question does.
    ExitCode::from(run_line(&mut ManuallyDrop::new(Cli::command()), std::env::args_os()).code())
}

/// Runs one command; the first argument is the name of the program. Signal handlers are not changed: a mapped file that
/// becomes shorter meanwhile ends the process, unless
/// [`exit_when_a_mapped_file_shrinks`](crate::source::exit_when_a_mapped_file_shrinks) was called.
pub fn run_from<A: Into<OsString> + Clone>(args: impl IntoIterator<Item = A>) -> ExitCode {
    ExitCode::from(run_line(&mut Cli::command(), args).code())
}

fn run_line<A: Into<OsString> + Clone>(parser: &mut clap::Command, args: impl IntoIterator<Item = A>) -> Exit {
    let mut args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    help::add_view(&mut args, parser);
    if let Some(help) = help::asked(Cli::command, &args) {
        let mut out = anstream::stdout();
        return printed(out.write_all(help.as_bytes()).and_then(|()| out.flush()));
    }
    if args.len() < 2 {
        // A failure of standard error cannot be reported.
        let _ = anstream::stderr().write_all(topics::short().as_bytes());
        return Exit::Usage;
    }
    let tip = help::tip_of_quote(&args).filter(|_| cfg!(windows));
    let exit = run_args(parser, args);
    if let Some(tip) = tip.filter(|_| exit != Exit::Done) {
        complain(&tip);
    }
    exit
}

fn run_args(parser: &mut clap::Command, args: Vec<OsString>) -> Exit {
    let keeps_order = args.iter().any(|argument| argument == "--");
    let parsed = parser.try_get_matches_from_mut(args);
    let mut cli = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => cli,
        Err(mut error) if error.use_stderr() => {
            help::add_tip(&mut error, parser);
            // A failure of standard error cannot be reported.
            let _ = if std::env::args_os().any(|argument| is_unclean(&argument)) {
                // The message quotes arguments unescaped.
                let text = error.render().to_string();
                text.lines().try_for_each(|line| writeln!(std::io::stderr(), "{}", escape(line)))
            } else {
                error.print()
            };
            return Exit::Usage;
        }
        Err(help) => return printed(help.print().and_then(|()| std::io::stdout().flush())),
    };
    cli.global.keeps_order = keeps_order;
    run(cli)
}

fn printed(help: std::io::Result<()>) -> Exit {
    ended(help.map_err(stdout::failure_of_stdout).map(|()| Exit::Done))
}

/// Runs a command of the tour. It does not stop in a pager.
fn run_in_tour(words: &[String]) -> Result<Exit, Failure> {
    let mut cli = Cli::try_parse_from(words).map_err(|error| Failure::usage(error.to_string()))?;
    cli.global.no_pager = true;
    cli.global.quiet = true;
    Ok(run(cli))
}

fn run(cli: Cli) -> Exit {
    if let Some(wanted) = cli.global.threads {
        let threads = threads::limit(wanted.into());
        if threads < wanted.into() {
            complain(&format!("--threads {wanted} is more than this machine has cores for: using {threads}"));
        }
    }
    if let Err(failure) = check_format(cli.command.name(), cli.global.format) {
        return ended(Err(failure));
    }
    let (pages, is_diverted) = (cli.command.is_paged(), cli.command.is_diverted());
    let mut global = cli.global;
    // Windows replaces no file that is mapped.
    global.no_mmap |= cfg!(windows) && cli.command.may_replace_input();
    ended(Context::new(global, pages, is_diverted).and_then(|context| context.close(cli.command.run(&context))))
}

/// Returns the exit code of a command, and reports its failure.
fn ended(ran: Result<Exit, Failure>) -> Exit {
    match ran {
        Ok(exit) => exit,
        Err(failure) if failure.closed_pipe => Exit::Done,
        Err(failure) => {
            complain(&failure.message);
            failure.exit
        }
    }
}

/// Whether an argument contains characters that terminals take for commands.
fn is_unclean(argument: &std::ffi::OsStr) -> bool {
    let text = argument.to_string_lossy();
    escape(&text) != text
}
