use super::{Context, Failure, Outcome};
use crate::archive::{Address, MARK, NESTED, is_archive, tables};
use crate::asset::Asset;
use crate::escape::escape;
use crate::formats::BuiltIn;
use crate::paths::slashed;
use crate::table::{Table, Tree, Value, advance};
use clap_complete::Shell;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// Print a completion script for a shell
///
/// In bash, zsh, fish and PowerShell it also completes paths inside of archives, as in GAME:content/ga<TAB>, tables after -t, columns after -c, entries
/// after `cat FILE`, builds after GAME@, and installed games.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq completions bash > ~/.local/share/bash-completion/completions/assetq
  assetq completions zsh > ~/.zfunc/_assetq    with fpath+=~/.zfunc before compinit in ~/.zshrc
  assetq completions fish > ~/.config/fish/completions/assetq.fish
  assetq completions powershell | Out-String | Invoke-Expression    in the file $PROFILE")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// `commands` are the documented commands.
pub(super) fn run(args: &Args, mut commands: clap::Command, context: &Context) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut commands, "assetq", &mut script);
    let inner = match args.shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        Shell::PowerShell => {
            let text = String::from_utf8_lossy(&script).replace(REGISTERED, "$global:assetqCommands = {");
            script = text.into_bytes();
            POWERSHELL
        }
        _ => "",
    };
    script.extend_from_slice(inner.as_bytes());
    context.print(&script)
}

/// The script asks the program first: it knows files, tables, columns and entries, and answers nothing for other words.
/// Bash splits words at `:`, so that the reply is only the last part. It inserts a reply literally: names of files are
/// quoted, so that no character in them is special.
const BASH: &str = r#"
_assetq_inside() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}"
    local -a words
    read -ra words <<< "$line"
    [[ -z "$word" ]] && words+=("")
    local keep="" found
    [[ "$COMP_WORDBREAKS" == *:* && "$word" == *:* ]] && keep="${word%"${word##*:}"}"
    COMPREPLY=()
    while IFS= read -r found; do
        printf -v found '%q' "${found#"$keep"}"
        COMPREPLY+=("$found")
    done < <("${COMP_WORDS[0]}" paths-inside -- "${words[@]:1}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 0 && "$word" != ?*:* ]]; then
        _assetq "$@"
        return
    fi
    [[ "${COMPREPLY[0]}" == *[/:] ]] && compopt -o nospace 2>/dev/null
}
complete -F _assetq_inside -o bashdefault -o default assetq
"#;

const ZSH: &str = r#"
_assetq_inside() {
    local -a found
    found=(${(f)"$(${words[1]} paths-inside -- ${(Q)words[2,CURRENT-1]} "$PREFIX" 2>/dev/null)"})
    if (( $#found )); then
        compadd -S '' -- $found
    elif [[ "$PREFIX" != ?*:* ]]; then
        _assetq "$@"
    fi
}
compdef _assetq_inside assetq
"#;

const FISH: &str = r#"
complete -c assetq -a '(assetq paths-inside -- (commandline -opc | tail -n +2) (commandline -ct) 2>/dev/null)'
"#;

/// The beginning of clap's script block for PowerShell.
const REGISTERED: &str = "Register-ArgumentCompleter -Native -CommandName 'assetq' -ScriptBlock {";

/// Windows PowerShell 5 drops empty arguments. Names with signs of PowerShell are quoted.
const POWERSHELL: &str = r#"
Register-ArgumentCompleter -Native -CommandName 'assetq' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { "$_" } })
    $word = $wordToComplete.Trim('"', "'")
    if ($word -eq '' -and $PSVersionTable.PSVersion.Major -lt 7) { $word = '""' }
    $found = @(& assetq paths-inside '--' @words $word 2>$null)
    if ($found.Count -eq 0) { return & $global:assetqCommands $wordToComplete $commandAst $cursorPosition }
    foreach ($one in $found) {
        $text = if ($one -match '^[\w./:@\\-]+$') { $one } else { "'" + $one.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $one, 'ParameterValue', $one)
    }
}
"#;

/// Print the words that may stand in place of the last one: for completion scripts
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:\n  assetq paths-inside GAME:content/ga\n  assetq paths-inside -- ls x.geometry -t ar"
)]
pub(super) struct InsideArgs {
    /// The words of the command line after the name of the program, up to the cursor
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
}

const OFFERED: usize = 200;

/// Rows whose names are looked at: a person waits for the answer.
const LOOKED_AT: usize = 1_000_000;

/// Commands that take an entry of a file.
const OF_ENTRIES: [&str; 6] = ["cat", "history", "ls", "refs", "resolve", "set"];

pub(super) fn inside(args: &InsideArgs, context: &Context) -> Outcome {
    let Some((word, before)) = args.words.split_last() else { return Ok(()) };
    let line = Line { before, word };
    let found = line.words(context)?.map_or_else(|| addresses(word, context), Ok)?;
    let mut out = context.stdout();
    // Shells show replies literally on the terminal, and a line is one reply.
    for found in found.iter().filter(|found| matches!(escape(found), Cow::Borrowed(_))).take(OFFERED) {
        writeln!(out, "{found}")?;
    }
    Ok(out.flush()?)
}

struct Line<'l> {
    before: &'l [String],
    word: &'l str,
}

impl Line<'_> {
    /// The words that may stand in place of the last one; `None` if it is a file, or the beginning of an address.
    fn words(&self, context: &Context) -> Result<Option<BTreeSet<String>>, Failure> {
        let last = self.before.last().map_or("", String::as_str);
        if !["-t", "--table", "-c", "--columns", "--sort"].contains(&last) {
            return self.files_or_entries(context);
        }
        let Some(file) = self.file(context)? else { return Ok(Some(BTreeSet::new())) };
        let names: Vec<String> = if matches!(last, "-t" | "--table") {
            file.reader().tables().iter().map(|table| table.name().to_owned()).collect()
        } else {
            let table = context.table(&file, self.option(&["-t", "--table"]))?;
            table.columns().iter().map(|column| column.name.to_string()).collect()
        };
        // Of a list such as `name,path,si`, the last name.
        let (kept, begun) = self.word.split_at(self.word.rfind(',').map_or(0, |comma| comma + 1));
        let fitting = names.iter().filter(|name| name.starts_with(begun));
        Ok(Some(fitting.map(|name| format!("{kept}{name}")).collect()))
    }

    fn files_or_entries(&self, context: &Context) -> Result<Option<BTreeSet<String>>, Failure> {
        let command = self.before.first().map_or("", String::as_str);
        if command.is_empty() || self.word.starts_with('-') {
            return Ok(None);
        }
        if let Some((archive, begun)) = self.word.rsplit_once('@')
            && !begun.contains(['/', ':'])
            && Address::parse(Path::new(archive)).exists()
        {
            let archive = context.open(Path::new(archive))?;
            let builds = archive.reader().table("builds").map(|table| next_parts(&*table, table.label(), begun));
            let builds = builds.transpose()?;
            let at = &self.word[..self.word.len() - begun.len()];
            return Ok(Some(builds.into_iter().flatten().map(|build| format!("{at}{build}")).collect()));
        }
        if Address::parse(Path::new(self.word)).inner().is_some() {
            return Ok(None);
        }
        if let Some(file) = self.file(context)?.filter(|_| OF_ENTRIES.contains(&command)) {
            return entries(&file, self.word).map(Some);
        }
        // Whether a prefix names a game depends on the games of this machine.
        let games = BuiltIn::prefixes().filter(|prefix| !self.word.is_empty() && prefix.name.starts_with(self.word));
        let games: BTreeSet<_> =
            games.filter(|prefix| (prefix.folder)().is_ok()).map(|prefix| format!("{}{MARK}", prefix.name)).collect();
        let mut entries = std::fs::read_dir(".").into_iter().flatten().flatten();
        let is_game =
            !games.is_empty() && !entries.any(|entry| entry.file_name().to_string_lossy().starts_with(self.word));
        Ok(Some(games).filter(|_| is_game))
    }

    fn option(&self, names: &[&str]) -> Option<&str> {
        let at = self.before.iter().position(|word| names.contains(&word.as_str()))?;
        self.before.get(at + 1).map(String::as_str)
    }

    fn file(&self, context: &Context) -> Result<Option<Asset>, Failure> {
        let mut arguments = self.before.iter().skip(1).map(Path::new);
        let file = arguments.find(|path| Address::parse(path).exists() && (!path.is_dir() || is_archive(path)));
        file.map(|path| context.open(path)).transpose()
    }
}

/// The entries that begin with `begun`: rows of the main table, paths of values, or the members of an entry before a dot.
fn entries(asset: &Asset, begun: &str) -> Result<BTreeSet<String>, Failure> {
    let reader = asset.reader();
    let mut found = BTreeSet::new();
    let tables = reader.tables();
    let leaves = tables.iter().find_map(|table| Some((table, table.nature().leaves?.path)));
    let main = tables.first().map(|table| (table, table.label()));
    for (table, column) in leaves.into_iter().chain(main) {
        found.extend(next_parts(&**table, column, begun)?);
    }
    if let Some((entry, member)) = begun.rsplit_once('.').filter(|_| found.is_empty()) {
        let mut tree = Tree::default();
        if reader.cat(entry, &mut tree)?
            && let Value::Map(members) = tree.into_value()
        {
            let names = members.iter().filter(|(name, _)| name.starts_with(member));
            found.extend(names.map(|(name, _)| format!("{entry}.{name}")));
        }
    }
    Ok(found)
}

/// The names in a column that begin with `begun`, up to the next `/`, `.` or `[` if they are paths.
fn next_parts(table: &dyn Table, column: usize, begun: &str) -> Result<BTreeSet<String>, Failure> {
    let ends: &[char] = match () {
        () if table.nature().leaves.is_some() => &['.', '['],
        () if table.columns().get(column).is_some_and(|column| column.folders) => &['/'],
        () => &[],
    };
    let mut rows = table.cursor_over(0, Some(&[column]));
    let mut found = BTreeSet::new();
    for _ in 0..LOOKED_AT {
        if found.len() > OFFERED || !advance(&mut *rows, drop) {
            break;
        }
        let Ok(value) = rows.value(column) else { continue };
        let name = value.to_string();
        let Some(rest) = name.strip_prefix(begun) else { continue };
        let end = rest.char_indices().find(|(at, sign)| *at > 0 && ends.contains(sign));
        let end = end.map_or(rest.len(), |(at, sign)| if sign == '/' { at + 1 } else { at });
        found.insert(format!("{begun}{}", &rest[..end]));
    }
    // A folder is offered with its slash.
    let folders: BTreeSet<String> = found.iter().filter_map(|name| Some(name.strip_suffix('/')?.to_owned())).collect();
    found.retain(|name| !folders.contains(name));
    Ok(found)
}

/// The addresses that begin like this one, up to the next folder.
fn addresses(word: &str, context: &Context) -> Result<BTreeSet<String>, Failure> {
    let path = Path::new(word);
    let address = Address::parse(path);
    let inner = match address.inner() {
        Some(inner) => inner,
        // The prefix of a game, such as `wows:`, leads to the folder itself.
        None if address.outer() != path && word.ends_with(MARK) => "",
        None => return Ok(BTreeSet::new()),
    };
    let before = &word[..word.len() - inner.len()];
    let outer = context.archive(&address)?;
    // As people on Windows write it: no name in an archive has a `\`.
    let slashed = slashed(inner);
    let inner = slashed.as_deref().unwrap_or(inner);
    let word = &format!("{before}{inner}");
    // A name may contain the mark: the text before a mark is an archive only if no name begins like the whole text.
    let inside = inner.match_indices(MARK).map(|(at, mark)| (Some(&inner[..at]), &inner[at + mark.len()..]));
    for (holder, begun) in std::iter::once((None, inner)).chain(inside).take(NESTED) {
        let holder = match holder {
            None => Ok(outer.clone()),
            Some(path) => context.open(Path::new(&format!("{before}{path}"))),
        };
        let Ok(holder) = holder else { continue };
        let Some(archive) = holder.reader().archive() else { continue };
        let Some(files) = tables(archive).into_iter().next() else { continue };
        let found = next_parts(&*files, files.label(), begun)?;
        if !found.is_empty() {
            let kept = &word[..word.len() - begun.len()];
            return Ok(found.iter().map(|next| format!("{kept}{next}")).collect());
        }
    }
    Ok(BTreeSet::new())
}
