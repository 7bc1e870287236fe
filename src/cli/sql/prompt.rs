//! The prompt: statements from a terminal, with history and completion.

use super::answers::{DOT_COMMANDS, dot, is_command, say_left_out, show, watched};
use crate::cli::pager::message;
use crate::cli::stdout::RowForm;
use crate::cli::{Context, Exit, Failure, complain};
use crate::sql::{Fault, Session, Statement, TableName, function_names, in_sql, is_complete, statements};
use crate::write::text::escape;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, Helper};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use unicode_width::UnicodeWidthStr as _;

const PROMPT: &str = "assetq> ";
/// The prompt for further lines of a statement, as wide as the first one.
const CONTINUED: &str = "   ...> ";
/// How often a statement is asked to stop. The next Ctrl-C ends the process.
const PATIENCE: u32 = 2;
/// How often Ctrl-C was pressed during this statement.
static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
const HISTORY: usize = 10_000;

/// Words of SQL that are offered for completion.
const KEYWORDS: &str = "\
    ALL AND AS ASC BETWEEN BY CASE CAST CREATE CROSS DESC DISTINCT ELSE END EXCEPT EXISTS EXPLAIN FROM GLOB GROUP \
    HAVING IN INNER INTERSECT IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER OVER PARTITION PLAN QUERY REGEXP \
    SELECT TABLE TEMP THEN UNION USING VALUES VIEW WHEN WHERE WITH";

fn failed(error: ReadlineError) -> Failure {
    match error {
        ReadlineError::Io(error) => crate::error::Error::io("cannot read the terminal", error).into(),
        other => Failure::new(Exit::Io, format!("cannot read the terminal: {other}")),
    }
}

fn editor(session: &Session) -> rustyline::Result<Editor<SqlCompleter, FileHistory>> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(false);
    let config = config.max_history_size(HISTORY)?.history_ignore_space(true).build();
    let history = FileHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(SqlCompleter::new(session)));
    Ok(editor)
}

pub(super) fn run(session: &Session, context: &Context) -> Result<(), Failure> {
    let mut editor = editor(session).map_err(failed)?;
    let history = history_file();
    if let Some(file) = &history {
        // A missing or unreadable history does not prevent questions.
        let _ = editor.load_history(file);
    }
    // Without a handler Ctrl-C ends the process, which loses no data.
    let stop = session.stopper();
    let _ = ctrlc::set_handler(move || {
        stop();
        // SQLite stops between two steps, and one call of a function is one step.
        if INTERRUPTS.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            crate::source::signals::remove_unfinished();
            std::process::exit(130);
        }
    });
    crate::source::signals::restore_terminal_when_ended();
    context.say("a statement ends with a ;   .tables lists tables, help says more, quit leaves");
    let (mut text, mut form) = (String::new(), context.row_form());
    loop {
        let is_first = text.trim().is_empty();
        let is_after_blank = text.ends_with("\n");
        match editor.readline(if is_first { PROMPT } else { CONTINUED }) {
            Ok(line) if is_first => text = line,
            // In the middle of a statement a word such as `quit` is a part of it, unless an empty line precedes it.
            Ok(line) if is_after_blank && is_command(&line) => {
                if !dot(line.trim(), session, &mut form, context)? {
                    return Ok(());
                }
                continue;
            }
            Ok(line) => {
                if line.trim().is_empty() && !is_after_blank {
                    context.say("a statement ends with a ;   Ctrl-C drops it, and help says more");
                }
                text.push('\n');
                text.push_str(line.trim_end());
            }
            // The text that was typed so far is dropped, as in a shell.
            Err(ReadlineError::Interrupted) => text.clear(),
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
        let is_whole = is_command(&text) || is_complete(&text);
        if let Some(names) = editor.helper_mut() {
            names.typed = if is_whole { String::new() } else { text.clone() };
        }
        if text.trim().is_empty() || !is_whole {
            continue;
        }
        let text = std::mem::take(&mut text);
        let added = editor.add_history_entry(text.trim_end());
        if let (Ok(true), Some(file)) = (added, &history) {
            // A history that cannot be kept is no reason to stop.
            let _ = editor.append_history(file);
        }
        if is_command(&text) {
            if !dot(text.trim(), session, &mut form, context)? {
                return Ok(());
            }
            continue;
        }
        answer_all(&text, session, form, context)?;
        say_left_out(session, context);
    }
}

/// Why a statement was not answered: a fault of the statement or its data, or a failure of the output.
#[derive(Debug)]
enum Asked {
    Fault(Fault),
    Failure(Failure),
}

impl From<Fault> for Asked {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn answer(statement: Statement<'_>, session: &Session, form: RowForm, context: &Context) -> Result<(), Asked> {
    let mut answer = session.ask(statement)?;
    watched(session, context, || show(&mut answer, form, context)).map_err(Asked::Failure)
}

/// Answers statements, until one fails or the user has seen enough.
fn answer_all(text: &str, session: &Session, form: RowForm, context: &Context) -> Result<(), Failure> {
    let stop: Arc<dyn Fn() + Send + Sync> = Arc::new(session.stopper());
    for statement in statements(text) {
        INTERRUPTS.store(0, Ordering::Relaxed);
        if let Some(wide) = context.settings.pages {
            context.pager.restart(wide, Arc::clone(&stop));
        }
        let answered = answer(statement, session, form, context);
        if context.pager.finish() {
            // The user has left the pager, and the statement was stopped.
            return Ok(());
        }
        match answered {
            Ok(()) => {}
            Err(Asked::Fault(fault)) => {
                explain(text, fault);
                return Ok(());
            }
            Err(Asked::Failure(failure)) if failure.exit == Exit::Io => return Err(failure),
            Err(Asked::Failure(failure)) => {
                complain(&failure.message);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Shows an error below its position.
fn explain(text: &str, fault: Fault) {
    if let Fault::Statement { at: Some(at), .. } = &fault {
        let (before, rest) = text.split_at_checked(*at).unwrap_or((text, ""));
        let first = before.rfind('\n').map_or(0, |end| end + 1);
        let before = &before[first..];
        let line = format!("{before}{}", rest.lines().next().unwrap_or(rest));
        message(&escape(line.trim_end()));
        message(&format!("{:width$}^", "", width = escape(before).width()));
    }
    complain(&Failure::from(fault).message);
}

/// The file of the history, in a folder that is created if missing.
fn history_file() -> Option<PathBuf> {
    let variables = if cfg!(windows) {
        &[("LOCALAPPDATA", "assetq")][..]
    } else {
        &[("XDG_STATE_HOME", "assetq"), ("HOME", ".local/state/assetq")]
    };
    let folders = variables.iter().filter_map(|(name, below)| Some((PathBuf::from(std::env::var_os(name)?), below)));
    let state = folders.filter(|(path, _)| path.is_absolute()).map(|(path, below)| path.join(below)).next()?;
    std::fs::create_dir_all(&state).ok()?;
    Some(state.join("sql_history"))
}

struct SqlCompleter {
    schemas: Vec<String>,
    tables: Vec<TableName>,
    functions: Vec<String>,
    /// The lines of the statement before the one that is being typed.
    typed: String,
}

impl SqlCompleter {
    fn new(session: &Session) -> Self {
        let schemas = session.schemas().map(str::to_owned).collect();
        let tables = session.tables().collect();
        Self { schemas, tables, functions: function_names(), typed: String::new() }
    }

    /// The words that may start at `word`, given the text before it and the whole text.
    fn candidates(&self, before: &str, text: &str) -> Vec<String> {
        if let Some(owner) = before.strip_suffix('.') {
            let owner = last_word(owner).trim_matches('"');
            let (mut found, mut columns) = (Vec::new(), Vec::new());
            for table in &self.tables {
                if table.schema.as_deref().is_some_and(|schema| schema.eq_ignore_ascii_case(owner)) {
                    found.push(in_sql(&table.name));
                }
                if table.name.eq_ignore_ascii_case(owner) {
                    columns.extend(table.columns.iter().map(|column| in_sql(column)));
                }
            }
            found.append(&mut columns);
            // After an alias any column is possible.
            return if found.is_empty() { self.columns(text) } else { found };
        }
        let functions = self.functions.iter().map(|name| format!("{name}("));
        let keywords = KEYWORDS.split(' ').map(str::to_owned);
        let tables = self.tables.iter().map(|table| in_sql(&table.name));
        let schemas = self.schemas.iter().filter(|_| self.schemas.len() > 1).map(|name| in_sql(name));
        self.columns(text).into_iter().chain(tables).chain(schemas).chain(functions).chain(keywords).collect()
    }

    /// The columns of the tables that the text names, or of all.
    fn columns(&self, text: &str) -> Vec<String> {
        let text = text.to_ascii_lowercase();
        let tables = self.tables.iter().filter(|table| text.contains(&table.name.to_ascii_lowercase()));
        let some: Vec<&TableName> = tables.collect();
        let tables = if some.is_empty() { self.tables.iter().collect() } else { some };
        tables.into_iter().flat_map(|table| &table.columns).map(|column| in_sql(column)).collect()
    }
}

/// The name that `text` ends with, with the quote that it begins with.
fn last_word(text: &str) -> &str {
    let closed = text.strip_suffix('"').and_then(|inner| inner.rfind('"')).and_then(|start| text.get(start..));
    closed.unwrap_or_else(|| {
        let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        let start = start.strip_suffix('"').unwrap_or(start);
        &text[start.len()..]
    })
}

fn pair(text: String) -> Pair {
    Pair { display: text.clone(), replacement: text }
}

impl Completer for SqlCompleter {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..at).unwrap_or(line);
        if typed.trim_start().starts_with('.') && !typed.contains(char::is_whitespace) {
            let commands = DOT_COMMANDS.iter().filter_map(|(name, _)| name.split_whitespace().next());
            let fitting = commands.filter(|name| name.starts_with(typed.trim_start()));
            return Ok((0, fitting.map(|name| pair(name.to_owned())).collect()));
        }
        let word = last_word(typed);
        let start = typed.len() - word.len();
        let wanted = word.trim_start_matches('"').to_lowercase();
        let text = format!("{} {line}", self.typed);
        let mut found = self.candidates(&typed[..start], &text);
        found.retain(|candidate| {
            (!wanted.is_empty() || typed.ends_with('.'))
                && candidate.trim_start_matches('"').to_lowercase().starts_with(&wanted)
                && !(word.starts_with('"') && KEYWORDS.split(' ').any(|keyword| keyword == candidate))
                // A name that the terminal could take for a command is not completed.
                && escape(candidate) == candidate.as_str()
        });
        found.sort_unstable();
        found.dedup();
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Validator for SqlCompleter {}

impl Hinter for SqlCompleter {
    type Hint = String;
}

impl Highlighter for SqlCompleter {}

impl Helper for SqlCompleter {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Input;

    #[test]
    fn words_end_at_what_is_no_name() {
        for (text, word) in
            [("SELECT pa", "pa"), ("x.\"two wo\"", "\"two wo\""), ("a=\"b", "\"b"), ("f(", ""), ("", "")]
        {
            assert_eq!(last_word(text), word, "{text}");
        }
    }

    #[test]
    fn completes_tables_columns_and_words() {
        use assetq_sample::{Size, bwdb};
        let asset = |name| {
            let source = crate::Source::from_vec(name, bwdb::demo(1, Size::Small));
            (name.to_owned(), Input::Asset(crate::Asset::open(source).unwrap()))
        };
        let session = Session::new(vec![asset("old"), asset("new")], false).unwrap();
        let names = SqlCompleter::new(&session);
        let history = FileHistory::new();
        let complete = |text: &str| -> Vec<String> {
            let (_, found) = names.complete(text, text.len(), &rustyline::Context::new(&history)).unwrap();
            found.into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(complete("SELECT * FROM res"), ["resources"]);
        assert_eq!(complete("SELECT * FROM paths WHERE par"), ["PARTITION", "parent_id"]);
        assert_eq!(complete("SELECT paths."), ["id", "name", "parent_id", "path"]);
        assert_eq!(complete("SELECT * FROM old.pat"), ["paths"]);
        assert_eq!(complete("SELECT databases.in"), ["\"index\""]);
        assert_eq!(complete("SELECT * FROM ol"), ["old"]);
        assert_eq!(complete(".ta"), [".tables"]);
        assert_eq!(complete("SELECT path_"), ["path_id("]);
        assert_eq!(complete("SELECT substr"), ["substr(", "substring("]);
        assert_eq!(complete("SELECT atan"), ["atan(", "atan2(", "atanh("]);
        assert_eq!(complete("SELECT load_ext"), [""; 0], "no statement may call it");
    }
}
