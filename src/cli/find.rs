use super::stdout::Stdout;
use super::{Context, Failure, Format, Outcome, Unit};
use crate::archive::{Address, Archive, Game};
use crate::find::{self, FindOptions, Hit, Pattern, PatternOptions, Syntax};
use crate::report::counted;
use crate::table::filter::{Bound, Filter};
use crate::table::glob::{Glob, has_uppercase};
use crate::table::{Kind, RowCursor, Table, Value};
use crate::writable::keys;
use crate::write::rows::RowWriter;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = Format::ROWS;

/// Find paths, names, strings, numbers and ids in files
///
/// Without wildcards TEXT matches anywhere. With one of * ? [ { it is a glob for the whole text; '*' also matches '/'. Upper
/// and lower case are equal unless TEXT has an upper-case letter. A regular expression distinguishes them unless -i is given.
///
/// Only the last component of a path is searched: a matching folder is found once, without its contents. TEXT with a '/' is
/// matched against the whole path, and must reach into the last component unless it is a glob or a regular expression. With
/// --full-path TEXT may match anywhere in the path.
///
/// TEXT that is a number, an id (0x…, 16 hex digits) or a GUID also finds the cells that equal it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq find Aurora assets.bin                paths and strings with this in them
  assetq find \"*.visual\" assets.bin            paths that end like this
  assetq find japan/ship assets.bin            the folder, not what is in it; with -p all of that, too
  assetq find -e \"^XSC5\\d\\d_\" assets.bin -t paths -n 20
  assetq find Aurora old.bin new.bin           in which of two files: see the column file
  assetq find Aurora \"wows@*\"                  in which builds of a game: paths of files
  assetq find Aurora \"wows@*:content/*\"        what these files of each build hold; wows@*:* all files
  assetq find Lindenite se2-mod/               every file below a folder
  assetq find 61.5 savegame.vrb                a number, in texts and as a value
  assetq find UraniumIngot se2                 an item of a game with its GUID, by which savegame.vrb names it
  assetq find potion \"ff13:*\"                 what the files of another game hold
  assetq find \"*.dds\" assets.bin --count       how many there are")]
pub(super) struct Args {
    /// The text to find; it may also follow the files
    text: PathBuf,
    /// The files; a folder means all files below it, a glob in quotes the matching files. Of a game's folder, the paths of its
    /// files: GAME:* also means what they hold
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Treat TEXT as a glob for the whole text, even without wildcards
    #[arg(long, short, group = "syntax")]
    glob: bool,
    /// Take TEXT as a regular expression
    #[arg(long, short = 'e', group = "syntax")]
    regex: bool,
    /// Treat TEXT literally, even with wildcards in it
    #[arg(long, short = 'F', group = "syntax")]
    fixed: bool,
    /// Upper and lower case are the same
    #[arg(long, short)]
    ignore_case: bool,
    /// Upper and lower case differ
    #[arg(long, short = 's', conflicts_with = "ignore_case")]
    case_sensitive: bool,
    /// Find paths by their folders as well
    #[arg(long, short = 'p')]
    full_path: bool,
    /// Only this table, in all of its columns
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
    /// Only rows for which this holds, as in "size > 10k"; tables without these columns are left out
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    condition: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "count")]
    limit: Option<usize>,
    /// Show only the number in each table; for paths that are found by name, nothing else is read
    #[arg(long, short)]
    count: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let syntax = match (args.glob, args.regex, args.fixed) {
        (true, ..) => Syntax::Glob,
        (_, true, _) => Syntax::Regex,
        (.., true) => Syntax::Text,
        _ => Syntax::Auto,
    };
    let (entry, files) = context.entry_and_files(&args.text, &args.files)?;
    let text = &*entry.to_string_lossy();
    let smart_case = !args.case_sensitive && syntax != Syntax::Regex && !has_uppercase(text);
    let ignore_case = args.ignore_case || smart_case;
    let options = PatternOptions { syntax, ignore_case, full_path: args.full_path };
    let pattern = Pattern::new(text, options)?;
    let filter = args.condition.as_deref().map(Filter::parse).transpose()?;
    let search = Search { args, context, pattern, filter };
    let files = context.files(&files)?;
    let found = if args.count { search.count(&files)? } else { search.list(&files)? };
    if found == 0 && !files.is_empty() {
        let of_what = args.condition.as_ref().map_or_else(String::new, |text| format!(" where {text}"));
        let hint = match text.strip_suffix('/') {
            Some(folder) if !args.full_path => {
                format!("; {folder:?} finds the folder, --full-path all that is in it")
            }
            _ => search.hint(text, options, &files),
        };
        // A file that cannot be read may contain the text.
        let place = if context.has_failed() { " in what could be read" } else { "" };
        context.not_found(&format!("nothing with {text:?}{of_what} was found{place}{hint}"));
    }
    Ok(())
}

struct Search<'a> {
    args: &'a Args,
    context: &'a Context,
    pattern: Pattern,
    filter: Option<Filter>,
}

impl Search<'_> {
    /// The first looser search for `text` that does find something, as the end of a message.
    fn hint(&self, text: &str, options: PatternOptions, files: &[PathBuf]) -> String {
        /// Files that are searched again for a hint.
        const FEW: usize = 64;
        let ignore_case = PatternOptions { ignore_case: true, ..options };
        let full_path = PatternOptions { full_path: true, ..options };
        let is_glob = matches!(options.syntax, Syntax::Glob | Syntax::Auto) && Glob::is_glob(text);
        let anywhere = format!("*{}*", text.trim_matches('*'));
        // Paths begin without a slash.
        let from_root = text.trim_start_matches('/');
        let is_from_root = from_root.len() < text.len() && !from_root.is_empty();
        let looser = [
            (text, ignore_case, "; -i ignores case".to_owned()),
            (text, full_path, "; -p also searches the folders of paths".to_owned()),
            (from_root, options, format!("; paths begin without a '/': '{from_root}'")),
            (&*anywhere, options, Glob::hint(text)),
            (
                text,
                PatternOptions { full_path: true, ..ignore_case },
                "; -i -p ignores case, and searches folders".to_owned(),
            ),
        ];
        let tried = [true, true, is_from_root, is_glob && !is_from_root, is_glob];
        let looser = looser.into_iter().zip(tried).filter(|(_, is_tried)| *is_tried && files.len() <= FEW);
        let found = looser
            .map(|(looser, _)| looser)
            .find(|(text, options, _)| Pattern::new(text, *options).is_ok_and(|pattern| self.finds(files, &pattern)));
        found.map_or_else(String::new, |(.., hint)| hint)
    }

    /// The condition, as far as the columns of a table decide it.
    fn filter_of(&self, table: &dyn Table) -> crate::Result<Option<Bound>> {
        let Some(filter) = &self.filter else { return Ok(None) };
        filter.decidable(table.columns()).as_ref().unwrap_or(filter).bind(table.columns()).map(Some)
    }

    /// Whether one of the files has a match. Damage was reported before.
    fn finds(&self, files: &[PathBuf], pattern: &Pattern) -> bool {
        let mut look = FindOptions::default();
        look.count_only = true;
        files.iter().filter_map(|path| self.context.open(path).ok()).any(|asset| {
            let tables = match &self.args.table {
                Some(name) => asset
                    .reader()
                    .table(name)
                    .into_iter()
                    .map(|table| {
                        let columns = find::columns(&*table, pattern, true);
                        (table, columns)
                    })
                    .collect(),
                None => find::tables(&asset, pattern),
            };
            tables.iter().any(|(table, columns)| {
                let Ok(filter) = self.filter_of(&**table) else {
                    return false;
                };
                let flow = find::each_of(
                    &**table,
                    columns,
                    pattern,
                    &look,
                    |_| (),
                    |hit| {
                        let is_meant = filter.as_ref().is_none_or(|filter| filter.matches(hit.row).unwrap_or(false));
                        Ok::<_, Failure>(if is_meant { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                    },
                );
                flow.is_ok_and(|flow| flow.is_break())
            })
        })
    }

    fn list(&self, files: &[PathBuf]) -> Result<usize, Failure> {
        let columns = [
            ("file", Kind::Text),
            ("table", Kind::Text),
            ("key", Kind::Any),
            ("column", Kind::Text),
            ("text", Kind::Text),
        ];
        let mut out = self.context.rows_of(columns)?;
        let is_for_people =
            self.context.format() == Format::Text && !self.context.typed.wide && self.args.limit.is_none();
        let (mut found, mut repeated) = (0, RepeatedKeys::default());
        self.each(files, |file, table, hit| {
            if self.args.limit == Some(found) {
                return Ok(ControlFlow::Break(()));
            }
            found += 1;
            if is_for_people && repeated.is_repeated(file, table, hit, &mut out)? {
                return Ok(ControlFlow::Continue(()));
            }
            let key = self.context.or_damaged(file, key(table, hit.row));
            out.row(&[file.into(), table.name().into(), key.into(), (*hit.name).into(), (*hit.text).into()])?;
            Ok(if self.args.limit == Some(found) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        repeated.finish(&mut out)?;
        out.finish()?;
        if repeated.count > 0 {
            let rows = counted(repeated.count, "row");
            self.context.say(&format!("{rows} with a key that is shown above; --wide and -f csv list each"));
        }
        Ok(found)
    }

    fn count(&self, files: &[PathBuf]) -> Result<usize, Failure> {
        let columns = [("file", Kind::Text), ("table", Kind::Text), ("count", Kind::Uint)];
        let mut out = self.context.rows_of(columns)?;
        let mut counts: Vec<(String, String, usize)> = Vec::new();
        self.each(files, |file, table, _| {
            match counts.last_mut() {
                Some(last) if last.0 == file && last.1 == table.name() => last.2 += 1,
                _ => counts.push((file.to_owned(), table.name().to_owned(), 1)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (file, table, count) in &counts {
            out.row(&[file.as_str().into(), table.as_str().into(), (*count).into()])?;
        }
        out.finish()?;
        Ok(counts.len())
    }

    /// Calls `each` with the hits, file by file and table by table, until it breaks off.
    fn each(
        &self,
        files: &[PathBuf],
        mut each: impl FnMut(&str, &dyn Table, &Hit<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        self.context.with_progress_of("find", Unit::Rows, |progress| {
            // A table or a condition that fits no file is a mistake in the query.
            let (mut mistake, mut asked) = (None, false);
            // The first archive with the address of its files, and the names of the others.
            let (mut first, mut others) = (None, Vec::new());
            let mut look = FindOptions::default();
            (look.count_only, look.progress) = (self.args.count, Some(progress));
            for path in files {
                let Some(asset) = self.context.or_failed(self.context.open(path)) else { continue };
                let file = asset.source().name();
                let tables = match &self.args.table {
                    Some(name) => self.context.table(&asset, Some(name)).map(|table| {
                        let columns = find::columns(&*table, &self.pattern, true);
                        vec![(table, columns)]
                    }),
                    None => Ok(find::tables(&asset, &self.pattern)),
                };
                let tables = tables.unwrap_or_else(|failure| {
                    mistake.get_or_insert(failure);
                    Vec::new()
                });
                for (table, columns) in &tables {
                    let table = &**table;
                    let filter = match self.filter_of(table) {
                        Ok(filter) => filter,
                        Err(error) => {
                            mistake.get_or_insert(error.into());
                            continue;
                        }
                    };
                    asked = true;
                    let flow = find::each_of(
                        table,
                        columns,
                        &self.pattern,
                        &look,
                        |error| self.context.damaged(file, &error),
                        |hit| {
                            let holds = filter.as_ref().map_or(Ok(true), |filter| filter.matches(hit.row));
                            match self.context.or_damaged(file, holds) {
                                Some(true) => each(file, table, hit),
                                _ => Ok(ControlFlow::Continue(())),
                            }
                        },
                    )?;
                    if flow.is_break() {
                        self.context.warn(&asset);
                        return Ok(());
                    }
                }
                self.context.warn(&asset);
                if self.args.table.is_none()
                    && let Some(archive) = asset.reader().archive()
                    && !archive.shows_contents()
                {
                    match &first {
                        None => first = Some((file.to_owned(), Address::within(path, "*"), each_build(archive, file))),
                        Some(_) => others.push(file.to_owned()),
                    }
                }
            }
            if let Some((file, inside, builds)) = &first {
                let others = match &*others {
                    [] => String::new(),
                    [other] => format!(" and the files of {other}"),
                    others => format!(" and the files of {}", counted(others.len(), "other")),
                };
                let inside = inside.display();
                let what = format!("its files{others} were not opened; write '{inside}' to search them{builds}");
                self.context.note(file, &what);
            }
            mistake.filter(|_| !asked).map_or(Ok(()), Err)
        })
    }
}

/// Rows of an entry whose keys hold its name, as all fields of a ship do: people see the first one, and how many follow.
#[derive(Default)]
struct RepeatedKeys {
    /// The last hit in each key column of the table.
    last: Vec<RepeatedKey>,
    /// All rows that were not shown.
    count: usize,
}

struct RepeatedKey {
    file: String,
    table: String,
    entry: Value<'static>,
    column: String,
    text: String,
    more: usize,
}

impl RepeatedKeys {
    /// Whether the hit repeats a key of the entry that was shown. Shows how often the key before it was repeated.
    fn is_repeated(
        &mut self,
        file: &str,
        table: &dyn Table,
        hit: &Hit<'_>,
        out: &mut RowWriter<Stdout>,
    ) -> Result<bool, Failure> {
        if self.last.first().is_some_and(|last| last.file != file || last.table != table.name()) {
            self.finish(out)?;
        }
        let Some(first) = keys(table).next().filter(|_| keys(table).any(|key| key == hit.column)) else {
            return Ok(false);
        };
        let Ok(entry) = hit.row.value(first) else { return Ok(false) };
        let at = self.last.iter().position(|last| last.column == hit.name);
        if let Some(last) = at.and_then(|at| self.last.get_mut(at))
            && last.entry == entry
            && last.text == hit.text
        {
            last.more += 1;
            self.count += 1;
            return Ok(true);
        }
        if let Some(last) = at.map(|at| self.last.remove(at)) {
            last.show(out)?;
        }
        let (column, text) = (hit.name.to_string(), hit.text.to_string());
        let (file, table, entry) = (file.to_owned(), table.name().to_owned(), entry.into_owned());
        self.last.push(RepeatedKey { file, table, entry, column, text, more: 0 });
        Ok(false)
    }

    /// Ends a table.
    fn finish(&mut self, out: &mut RowWriter<Stdout>) -> Result<(), Failure> {
        self.last.drain(..).try_for_each(|last| last.show(out))
    }
}

impl RepeatedKey {
    fn show(self, out: &mut RowWriter<Stdout>) -> Result<(), Failure> {
        let Self { file, table, entry, column, more, .. } = self;
        if more > 0 {
            let more = format!("… {more} more");
            out.row(&[Value::text(&file), Value::text(&table), entry, Value::text(&column), Value::text(&more)])?;
        }
        Ok(())
    }
}

/// The key of a row: its value, or the list of its keys, or its number if it has none.
fn key<'r>(table: &dyn Table, row: &'r dyn RowCursor) -> crate::Result<Value<'r>> {
    let mut cells: Vec<Value<'r>> = keys(table).map(|index| row.value(index)).collect::<Result<_, _>>()?;
    Ok(match cells.len() {
        0 => row.row().into(),
        1 => cells.swap_remove(0),
        _ => Value::List(cells),
    })
}

/// The end of a note on a game with several builds: the address of the files of them all. `name` is that of the game, perhaps with a
/// build.
fn each_build(archive: &dyn Archive, name: &str) -> String {
    let builds = archive.builds().map_or(&[][..], Game::build_names);
    if builds.len() < 2 {
        return String::new();
    }
    let named = name.rsplit_once('@').filter(|(_, build)| builds.iter().any(|known| known == build));
    let game = named.map_or(name, |(game, _)| game);
    format!(", or '{game}@*:*' for all its builds")
}
