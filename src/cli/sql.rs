mod answers;
mod duckdb;
mod export;
mod many;
#[cfg(feature = "terminal")]
mod prompt;

use super::arguments::exists;
use super::edited_file::{EditOutput, EditTarget, ShownAs};
use super::{Context, Exit, Failure, Format, Outcome};
use crate::asset::Asset;
use crate::edit::Editor;
use crate::error::Error;
use crate::files::{FilePattern, FileSet, describing_files};
use crate::report::counted;
use crate::source::bounded::Bounded;
use crate::source::text_input::TextInput;
use crate::sql::{Answer, Fault, FileEdits, Input, Session, keep, statements};
use answers::{dot, failure_in, is_command, say_left_out, show, watched};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Ndjson, Format::Csv, Format::Patch];

/// Query files in SQL
///
/// Tables of a single file have their own names. Each of several files is a schema with the name of the file, or the
/// given name in NAME=FILE; with more than ten files a table is called "NAME.TABLE", with these quotes. A folder or a glob
/// means all its files of one format as one: their tables have the rows of all of them, with a first column file. SQLite
/// databases are accepted, too. Input files are never changed: UPDATE, INSERT and DELETE write a new file (--to NEW),
/// unless --in-place is given, which changes each file of a folder or glob by itself (--undo is a folder then). A SELECT with --to OUT writes its answer as csv, json, ndjson, parquet or arrow, by the ending of OUT. `assetq info
/// FILE` lists tables and columns.
///
/// The first argument is the query, unless it is the name of a file: then, and with -, statements are read from
/// standard input, on a terminal with a prompt.
///
/// Ids are text like 0x000000000000002A; '000000000000002A' (16 digits are always hexadecimal), '0x2a', '42' and 42 equal
/// that, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq sql \"SELECT path FROM paths WHERE name LIKE '%.visual' LIMIT 5\" assets.bin
  assetq sql \"SELECT * FROM resources WHERE id = path_id('content/gameplay')\" assets.bin
  assetq sql \"SELECT n.path FROM new.paths n LEFT JOIN old.paths o USING (id) WHERE o.id IS NULL\" old=a.bin new=b.bin
  assetq sql \"SELECT entity, path, o.value AS old, n.value AS new FROM old.fields o JOIN new.fields n USING (entity, path) WHERE o.value IS NOT n.value\" old=wows@7000000 new=wows --to changed.csv
  assetq sql \"SELECT type, count(*) AS n FROM resources GROUP BY type ORDER BY n DESC\" assets.bin -f csv
  assetq sql \"SELECT file, sum(triangles) FROM armor_models GROUP BY 1\" \"wows:content/**/*.geometry\"
  assetq sql \"SELECT * FROM visuals\" assets.bin --into visuals.sqlite
  assetq sql \"SELECT type, count(*) AS n FROM resources GROUP BY type\" assets.bin --to types.parquet
  assetq sql \"SELECT thickness, sum(area) FROM armor_plates GROUP BY 1\" ship.geometry --with GameParams.data
  assetq sql \"UPDATE records SET uHp = uHp * 2\" enemy.wdb --to harder.wdb --undo undo.ndjson
  assetq sql \"UPDATE properties SET value = replace(value, 'hull_a', 'blue_a')\" \"*.mfm\" --in-place --undo undo
  assetq sql \"EXPLAIN QUERY PLAN SELECT name FROM paths WHERE id IN ('0x2A', '0x2B')\" assets.bin
  assetq sql --engine duckdb \"SELECT type, sum(size) FROM resources GROUP BY ALL\" assets.bin
  assetq sql assets.bin                        a prompt; .help says what it can do

Besides SQLite's functions: path_id('content/…') and name_id('…') give ids, hex(n) writes a number as an id,
X REGEXP 'pattern' searches with a regular expression. Words of SQL are names in double quotes only; the table \"values\"
is also called fields, and a column \"index\" position. A statement without rows is no failure: the exit code is 0.")]
pub(super) struct SqlArgs {
    /// The query, or - to read it from standard input
    query: Option<String>,
    /// The files, each perhaps with a name for its schema: NAME=FILE
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Keep the rows as a table of a new database: .db, .sqlite or .sqlite3
    #[arg(long, value_name = "OUT")]
    into: Option<PathBuf>,
    /// The name of that table
    #[arg(long, value_name = "NAME", default_value = "result", requires = "into")]
    as_table: String,
    #[command(flatten)]
    pub(super) output: EditOutput,
    /// For --to OUT.csv: begin with a byte order mark, by which Excel knows that the text is UTF-8
    #[arg(long, requires = "to")]
    bom: bool,
    /// For armour of geometry: the parameters that state how thick plates are (GameParams.data)
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// The engine: SQLite, which is built in, or the user's own program duckdb, for whole tables
    #[arg(long, value_name = "ENGINE", default_value = "sqlite")]
    engine: Engine,
    /// Leave damaged rows out and count them, rather than stop at the first one; the exit code is still 3
    #[arg(long)]
    skip_damaged: bool,
}

/// The engine that runs the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// SQLite, in this process
    Sqlite,
    /// The program duckdb, with the extension of assetq
    Duckdb,
}

pub(super) fn run(args: &SqlArgs, context: &Context) -> Outcome {
    let (query, files) = args.parts()?;
    if args.engine == Engine::Duckdb {
        return duckdb::run(query.as_deref(), &files, args, context);
    }
    if let Some(out) = &args.into {
        check_database(out)?;
        for (other, options) in [(&args.output.to, "--into and --to"), (&args.output.undo, "--into and --undo")] {
            other.iter().try_for_each(|other| context.check_different([out, other], options))?;
        }
    }
    let is_terminal = cfg!(feature = "terminal") && std::io::stdin().is_terminal();
    let text = match query {
        Some(query) if query != "-" => Some(query),
        _ if is_terminal && args.into.is_none() => None,
        None if args.into.is_none() && !args.output.is_given() => None,
        _ => Some(from_stdin()?.into()),
    };
    let has_many = files.iter().any(|file| FilePattern::parse(&named(file).1).is_many());
    let mut inputs = open(&files, true, args, context)?;
    if let Some(text) = &text {
        inputs.add_describing_files(text, args, context)?;
    }
    if args.output.is_given() {
        let session = inputs.session(false, args, context)?;
        if let Some(text) = text.as_deref().filter(|text| export::is_query(text, &session)) {
            session.notes().iter().for_each(|note| context.say(note));
            let ran = export::run(text, args, &session, context);
            return finish(&session, ran, context);
        }
        if let ([given], [(_, Input::Asset(asset))], Some(text)) = (&*files, &*inputs.named, &text)
            && let Some(set) = asset.get::<FileSet>()
        {
            return many::run(text, &named(given).1, set, args, context);
        }
        // Of several files, one is written.
        if has_many {
            inputs = open(&files, false, args, context)?;
        }
    }
    let session = inputs.session(args.output.is_given(), args, context)?;
    if let Some(out) = &args.into {
        context.check_new(out, args.output.force)?;
    }
    for note in session.notes() {
        context.say(note);
    }
    let ran = match text.as_deref() {
        Some(text) => all(text, args, &session, context),
        #[cfg(feature = "terminal")]
        None if is_terminal => prompt::run(&session, context),
        None => script(&session, context),
    };
    finish(&session, ran, context)?;
    if args.output.is_given() {
        write(&session, &inputs.paths, &args.output, ShownAs::default(), context)
    } else {
        Ok(())
    }
}

/// Reports what statements left out, after they ran.
fn finish(session: &Session, ran: Result<(), Failure>, context: &Context) -> Outcome {
    say_left_out(session, context);
    session.assets().for_each(|asset| context.warn(asset));
    ran
}

/// Refuses a name for a database that other programs would take for another kind of file.
fn check_database(out: &Path) -> Result<(), Failure> {
    if out
        .extension()
        .is_some_and(|ending| ["db", "sqlite", "sqlite3"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
    {
        return Ok(());
    }
    let what = "--into writes a database of SQLite: .db, .sqlite or .sqlite3; --to OUT writes .csv, .json, .ndjson, .parquet or .arrow";
    Err(Failure::usage(format!("{}: {what}", out.to_string_lossy())))
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = Bounded::new(TextInput::new(std::io::stdin().lock()), SCRIPT).read_to_string(&mut text);
    read.map_err(|error| Error::io("cannot read standard input", error))?;
    Ok(text)
}

/// Writes the file that statements have changed.
fn write(session: &Session, paths: &[PathBuf], output: &EditOutput, shown: ShownAs<'_>, context: &Context) -> Outcome {
    let edits = session.edits()?;
    if edits.len() > 1 {
        return Err(Failure::usage("SQL: these statements change several files; one is written at a time"));
    }
    let Some((file, edits)) = edits.into_iter().next() else {
        return Err(Failure::new(Exit::NotFound, "SQL: nothing is written: these statements match no row"));
    };
    let Some((asset, path)) = session.assets().nth(file).zip(paths.get(file)) else {
        return Err(Failure::usage("SQL: there is no file to write"));
    };
    let target = EditTarget::new(path, asset.clone(), output, context)?;
    let failed = Failure::of_file(&path);
    target.prepare(edited(&target, edits, context).map_err(failed)?, output, context)?.commit(output, shown, context)
}

/// The editor of `target` with the edits that statements make in it.
fn edited<'t>(target: &'t EditTarget, edits: FileEdits, context: &Context) -> Result<Editor<'t>, Error> {
    let mut editor = target.editor(context)?;
    match edits {
        FileEdits::Rows(edits) => edits.into_iter().try_for_each(|edit| editor.resolved_edits(edit))?,
        FileEdits::Steps(steps) => editor.steps(*steps),
    }
    Ok(editor)
}

const SCRIPT: u64 = 16 << 20;

impl SqlArgs {
    /// Whether the answer is for reading: not at a prompt, nor if a file is written.
    pub(super) fn is_paged(&self) -> bool {
        let is_asked = matches!(self.parts(), Ok((Some(query), _)) if query != "-");
        is_asked && self.into.is_none() && !self.output.is_given()
    }

    /// The query, if the first argument is one, and the files.
    fn parts(&self) -> Result<(Option<Cow<'_, str>>, Vec<PathBuf>), Failure> {
        let Some(query) = &self.query else { return Ok((None, Vec::new())) };
        if is_file(query) {
            let mut others = self.files.iter().filter_map(|file| file.to_str());
            if others.any(|text| text.contains(char::is_whitespace) && !is_file(text)) {
                let what = "the query comes before the files, as in: assetq sql \"SELECT * FROM paths\" assets.bin";
                return Err(Failure::usage(what));
            }
            let files = std::iter::once(query.into()).chain(self.files.iter().cloned());
            return Ok((None, files.collect()));
        }
        // A query of one word is treated as a missing file.
        if query != "-" && !query.contains(char::is_whitespace) && !query.contains(';') {
            return Err(Failure::usage(format!("{query}: neither a file nor a query")));
        }
        Ok((Some(query.into()), self.files.clone()))
    }
}

/// Whether an argument is a file, a folder, a file in an archive, or one of them with a name.
fn is_file(argument: &str) -> bool {
    exists(Path::new(argument))
        || !argument.contains(char::is_whitespace) && FilePattern::parse(Path::new(argument)).is_many()
        || argument.split_once('=').is_some_and(|(_, path)| exists(Path::new(path)))
}

/// The opened files under the names of their schemas.
struct Inputs {
    named: Vec<(String, Input)>,
    /// The positions of files that are not databases.
    paths: Vec<PathBuf>,
}

impl Inputs {
    fn session(&self, is_for_writing: bool, args: &SqlArgs, context: &Context) -> Result<Session, Failure> {
        // A damaged file among many is left out, and so are damaged rows.
        let mut all = self.named.iter().flat_map(|(_, input)| assets(input));
        let has_set = all.any(|asset| asset.get::<FileSet>().is_some());
        let skips = args.skip_damaged || has_set && !context.options().strict;
        let named = self.named.clone();
        Ok(match is_for_writing {
            true => Session::for_writing(named, skips, context.options())?,
            false => Session::new(named, skips)?,
        })
    }

    /// Adds the files that describe the others of a game to the schema of the game, if statements name tables of them.
    fn add_describing_files(&mut self, text: &str, args: &SqlArgs, context: &Context) -> Result<(), Failure> {
        let is_game =
            |(_, input): &(String, Input)| matches!(input, Input::Asset(asset) if !describing_files(asset).is_empty());
        if !self.named.iter().any(is_game) {
            return Ok(());
        }
        // SQLite names one missing table of a statement at a time.
        while let Some((at, file)) = self.missing_file(text, args, context)? {
            let before = self.named[..=at].iter().map(|(_, input)| assets(input).len()).sum();
            self.paths.insert(before, file.source().name().into());
            let mut together = assets(&self.named[at].1).to_vec();
            together.push(file);
            self.named[at].1 = Input::Assets(together);
        }
        Ok(())
    }

    /// A file of a game with a table that statements name and that no file here has, and the place of the game among the inputs.
    fn missing_file(&self, text: &str, args: &SqlArgs, context: &Context) -> Result<Option<(usize, Asset)>, Failure> {
        let session = self.session(false, args, context)?;
        for missing in statements(text).filter_map(|statement| session.missing_table(statement)) {
            let (schema, table) =
                missing.split_once('.').map_or((None, &*missing), |(schema, table)| (Some(schema), table));
            for (at, (name, input)) in self.named.iter().enumerate() {
                let [game, known @ ..] = assets(input) else { continue };
                if schema.is_some_and(|schema| !schema.eq_ignore_ascii_case(name)) {
                    continue;
                }
                // An earlier statement may make the table. If not, the message of the statement names files that cannot be opened.
                let Ok(file) = context.inside_with_table(game, table) else { continue };
                let is_new = |file: &Asset| known.iter().all(|known| known.source().name() != file.source().name());
                if let Some(file) = file.filter(is_new) {
                    return Ok(Some((at, file)));
                }
            }
        }
        Ok(None)
    }
}

/// The asset files of an input: none for a database.
fn assets(input: &Input) -> &[Asset] {
    match input {
        Input::Asset(asset) => std::slice::from_ref(asset),
        Input::Assets(assets) => assets,
        _ => &[],
    }
}

/// Opens the files. With `sets`, the files of a pattern are one input.
fn open(given: &[PathBuf], sets: bool, args: &SqlArgs, context: &Context) -> Result<Inputs, Failure> {
    let (mut inputs, mut paths) = (Vec::new(), Vec::new());
    for argument in given {
        let (name, path) = named(argument);
        if Input::is_database(&path) {
            context.reads(&[&path]);
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            let name = name.unwrap_or_else(|| stem.to_string_lossy().into_owned());
            inputs.push((name, Input::Database(path)));
            continue;
        }
        let pattern = FilePattern::parse(&path);
        if pattern.is_many() && sets {
            let asset = context.open_all_with(&path, &args.with, None)?;
            let stem = pattern.stem().unwrap_or_else(|| asset.format().name());
            inputs.push((name.unwrap_or_else(|| stem.to_owned()), Input::Asset(asset)));
            paths.push(path);
            continue;
        }
        let files = context.files_without_archives(std::slice::from_ref(&path))?;
        for file in &files {
            inputs.push(open_one(name.clone(), file, args, context)?);
            paths.push(file.clone());
        }
    }
    Ok(Inputs { named: inputs, paths })
}

/// Opens a file under this name of its schema, or its own.
fn open_one(name: Option<String>, file: &Path, args: &SqlArgs, context: &Context) -> Result<(String, Input), Failure> {
    let asset = context.open_with(file, &args.with)?;
    Ok((name.unwrap_or_else(|| asset.source().stem().to_owned()), Input::Asset(asset)))
}

/// The name and the file of `NAME=FILE`; an existing file with a `=` in its name is that file.
fn named(argument: &Path) -> (Option<String>, PathBuf) {
    let parts = argument.to_str().filter(|_| !exists(argument)).and_then(|text| text.split_once('='));
    match parts {
        Some((name, path)) if !name.is_empty() => (Some(name.to_owned()), path.into()),
        _ => (None, argument.to_owned()),
    }
}

/// The documents on standard output. JSON is one document.
#[derive(Debug, Clone)]
struct Documents {
    are_counted: bool,
    count: usize,
}

impl Documents {
    /// `has_changes` tells whether the changes of edits are printed.
    fn new(has_changes: bool, context: &Context) -> Self {
        Self { are_counted: context.format() == Format::Json, count: usize::from(has_changes) }
    }

    /// Adds answers.
    ///
    /// # Errors
    /// Wrong usage for several documents of JSON.
    fn add(&mut self, answers: usize) -> Result<(), Failure> {
        self.count += answers;
        if self.are_counted && answers > 0 && self.count > 1 {
            let what = "-f json is one document, for the rows of one statement; -f ndjson writes the rows of several";
            return Err(Failure::usage(format!("SQL: {what}")));
        }
        Ok(())
    }
}

fn all(text: &str, args: &SqlArgs, session: &Session, context: &Context) -> Result<(), Failure> {
    const SEVERAL: &str = "SQL: --into keeps the rows of one statement";
    // Checked before the first one is written. A statement may need a table that an earlier one makes.
    let queries = statements(text).filter(|statement| {
        statement.is_query_or_edit() && session.ask(*statement).is_ok_and(|answer| !answer.columns().is_empty())
    });
    let mut documents = Documents::new(args.output.is_given(), context);
    if args.into.is_some() || documents.are_counted {
        let queries = queries.count();
        if args.into.is_some() && queries > 1 {
            return Err(Failure::usage(SEVERAL));
        }
        documents.clone().add(queries)?;
    }
    let mut kept = false;
    let (mut edits, mut without_rows, mut noted) = (0usize, Vec::new(), BTreeSet::new());
    for (number, statement) in (1usize..).zip(statements(text)) {
        for note in session.ambiguous(statement.text) {
            if noted.insert(note.clone()) {
                context.note("SQL", &note);
            }
        }
        let mut answer = session.ask(statement).map_err(|fault| failure_in(text, fault))?;
        documents.add(usize::from(!answer.columns().is_empty()))?;
        match &args.into {
            Some(out) if !answer.columns().is_empty() => {
                if std::mem::replace(&mut kept, true) {
                    return Err(Failure::usage(SEVERAL));
                }
                watched(session, context, || into(out, args, &mut answer, context))?;
            }
            _ => watched(session, context, || show(&mut answer, context.row_form(), context))?,
        }
        if let Some(changed) = answer.changed_rows() {
            edits = edits.saturating_add(1);
            without_rows.extend((changed == 0).then_some(number));
        }
    }
    // Without any row, nothing is written, and the command fails.
    if args.output.is_given() && without_rows.len() < edits {
        without_rows.iter().for_each(|number| context.note("SQL", &format!("statement {number} changes no row")));
    }
    match &args.into {
        Some(_) if !kept => Err(Failure::usage("SQL: --into needs a statement that gives rows")),
        _ => Ok(()),
    }
}

/// Runs statements about the tables of `asset`, with the schema `name`.
pub(super) fn ask(name: &str, asset: Asset, text: &str, context: &Context) -> Result<(), Failure> {
    let session = Session::new(vec![(name.to_owned(), Input::Asset(asset))], false)?;
    for statement in statements(text) {
        let mut answer = session.ask(statement).map_err(|fault| failure_in(text, fault))?;
        watched(&session, context, || show(&mut answer, context.row_form(), context))?;
    }
    Ok(())
}

/// Runs the statements of standard input as they arrive.
fn script(session: &Session, context: &Context) -> Result<(), Failure> {
    let (mut text, mut form) = (String::new(), context.row_form());
    let mut documents = Documents::new(false, context);
    let mut lines = super::arguments::lines(std::io::stdin().lock());
    loop {
        let line = lines.next().transpose().map_err(|e| Error::io("cannot read standard input", e))?;
        let last = line.is_none();
        if let Some(line) = line {
            if text.trim().is_empty() && is_command(&line) {
                if !dot(line.trim(), session, &mut form, context)? {
                    return Ok(());
                }
                continue;
            }
            text.push_str(&line);
            text.push('\n');
        }
        if last || crate::sql::is_complete(&text) {
            for statement in statements(&text) {
                let mut answer = session.ask(statement).map_err(|fault| failure_in(&text, fault))?;
                documents.add(usize::from(!answer.columns().is_empty()))?;
                watched(session, context, || show(&mut answer, form, context))?;
            }
            text.clear();
        }
        if last {
            return Ok(());
        }
    }
}

/// Keeps an answer as a database.
fn into(out: &Path, args: &SqlArgs, answer: &mut Answer<'_>, context: &Context) -> Result<(), Failure> {
    let (table, mut rows) = (args.as_table.as_str(), 0);
    context.create_as(out, args.output.force, |part| {
        rows = keep(part, table, answer).map_err(|fault| match fault {
            Fault::Output(what) => Failure::new(Exit::Io, format!("{}: cannot write: {what}", out.to_string_lossy())),
            other => other.into(),
        })?;
        Ok(())
    })?;
    context.note(out, &format!("{} in {table}", counted(rows, "row")));
    Ok(())
}
