use super::{Context, Exit, Outcome};
use crate::archive::{Address, Archive, MARK, NESTED};
use crate::asset::Asset;
use crate::escape::escape;
use clap_complete::Shell;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// Print a completion script for a shell
///
/// In bash, zsh and fish it also completes paths inside of archives, as in GAME:content/ga<TAB>.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq completions bash > ~/.local/share/bash-completion/completions/assetq
  assetq completions zsh > ~/.zfunc/_assetq    with fpath+=~/.zfunc before compinit in ~/.zshrc
  assetq completions fish > ~/.config/fish/completions/assetq.fish
  assetq completions powershell >> $PROFILE")]
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
        _ => "",
    };
    script.extend_from_slice(inner.as_bytes());
    let mut out = context.stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The script runs the program for words with a `:`. Bash splits words there, so that the reply is only the last part.
/// It inserts a reply literally: names of files are quoted, so that no character in them is special.
const BASH: &str = r#"
_assetq_inside() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}"
    if [[ "$word" != ?*:* ]]; then
        _assetq "$@"
        return
    fi
    local keep="" found
    [[ "$COMP_WORDBREAKS" == *:* ]] && keep="${word%"${word##*:}"}"
    COMPREPLY=()
    while IFS= read -r found; do
        printf -v found '%q' "${found#"$keep"}"
        COMPREPLY+=("$found")
    done < <("${COMP_WORDS[0]}" paths-inside "$word" 2>/dev/null)
    [[ "${COMPREPLY[0]}" == */ ]] && compopt -o nospace 2>/dev/null
}
complete -F _assetq_inside -o bashdefault -o default assetq
"#;

const ZSH: &str = r#"
_assetq_inside() {
    if [[ "$PREFIX" == ?*:* ]]; then
        local -a found
        found=(${(f)"$(${words[1]} paths-inside "$PREFIX" 2>/dev/null)"})
        compadd -S '' -- $found
    else
        _assetq "$@"
    fi
}
compdef _assetq_inside assetq
"#;

const FISH: &str = r#"
complete -c assetq -n 'string match -q "?*:*" -- (commandline -ct)' -a '(assetq paths-inside (commandline -ct) 2>/dev/null)'
"#;

/// Print the addresses that begin like this one, up to the next folder: for completion scripts
#[derive(Debug, clap::Args)]
#[command(hide = true, after_help = "Example:\n  assetq paths-inside GAME:content/ga")]
pub(super) struct InsideArgs {
    /// The beginning of an address
    #[arg(value_name = "ADDRESS")]
    address: String,
}

/// The greatest number of offered addresses.
const OFFERED: usize = 200;

pub(super) fn inside(args: &InsideArgs, context: &Context) -> Outcome {
    let path = Path::new(&args.address);
    let address = Address::of(path);
    let inner = match address.inner() {
        Some(inner) => inner,
        // The prefix of a game, such as `wows:`, leads to the folder itself.
        None if address.outer() != path && args.address.ends_with(MARK) => "",
        None => return Ok(Exit::Done),
    };
    let before = args.address.strip_suffix(inner).unwrap_or_default();
    let outer = context.archive(&address)?;
    let mut out = context.stdout();
    // A name may contain the mark: the text before a mark is an archive only if no name begins like the whole text.
    let inside = inner
        .match_indices(MARK)
        .filter_map(|(at, mark)| Some((inner.get(..at), inner.get(at.saturating_add(mark.len())..)?)));
    for (holder, begun) in std::iter::once((None, inner)).chain(inside).take(NESTED) {
        let holder = match holder {
            None => Asset::clone(&outer),
            Some(path) => match context.open(Path::new(&format!("{before}{path}"))) {
                Ok(holder) => holder,
                Err(_) => continue,
            },
        };
        let Some(archive) = holder.reader().archive() else { continue };
        let found = offered(archive, begun)?;
        let kept = args.address.strip_suffix(begun).unwrap_or_default();
        for next in &found {
            writeln!(out, "{kept}{next}")?;
        }
        if !found.is_empty() {
            break;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The paths that begin with `begun`, up to the next `/`.
fn offered(archive: &dyn Archive, begun: &str) -> crate::Result<BTreeSet<String>> {
    let mut offered = BTreeSet::new();
    for n in 0..archive.len()? {
        let Ok(file) = archive.file(n) else { continue };
        let Some(rest) = file.path.strip_prefix(begun) else { continue };
        // Shells show replies literally on the terminal, and a line is one path.
        if matches!(escape(&file.path), Cow::Owned(_)) {
            continue;
        }
        let end = rest.find('/').map_or(rest.len(), |at| at.saturating_add(1));
        let next = format!("{begun}{}", rest.get(..end).unwrap_or_default());
        if offered.len() < OFFERED || offered.contains(&next) {
            offered.insert(next);
        }
    }
    Ok(offered)
}
