use super::edited_file::{EditOutput, EditTarget};
use super::{Context, Failure, Format, Outcome};
use crate::asset::Asset;
use crate::edit::read::{self, ChangesFormat, InputRow};
use crate::edit::{Edit, Editor, check_writable};
use crate::error::Error;
use crate::source::bounded::Bounded;
use crate::source::text_input::TextInput;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _};
use std::path::{Path, PathBuf};

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Ndjson, Format::Csv, Format::Patch];

/// Write an edited copy of a file
///
/// CHANGES are rows of `assetq diff OLD NEW -f patch`, or edited rows of `assetq export FILE`: csv, json or ndjson, by
/// their ending, or - for standard input; or an edited .glb of a geometry's meshes. The new file is read back and
/// compared with the changes before it gets its name; the differences are shown as rows of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq export enemy.wdb --to enemies.csv           then edit enemies.csv in a spreadsheet, and
  assetq patch enemy.wdb enemies.csv --to new.wdb --undo undo.ndjson
  assetq patch new.wdb undo.ndjson --in-place        as it was, byte for byte
  assetq diff vanilla.wdb modded.wdb -f patch > mod.ndjson
  assetq patch newer.wdb mod.ndjson --to modded.wdb  a mod, made for one build and put on another
  assetq patch savegame.vrb main.json --entry \"[Main]\" --to new.vrb
  assetq patch pack.bin:enemy.wdb enemies.csv --to new.bin
  assetq export turret.geometry --to turret.glb      then edit the meshes in Blender, and
  assetq patch turret.geometry turret.glb --to new.geometry
  assetq patch pack.bin icon.dds --entry icon.dds --to new/pack.bin
  assetq patch wows:content/x.geometry mod.ndjson --to res_mods
  echo '{\"table\":\"records\",\"change\":\"changed\",\"key\":\"it_potion\",\"new\":{\"u16BuyPrice\":1}}' | \\
    assetq patch item.wdb - --dry-run

Rows that CHANGES leaves out stay (--delete-missing removes them), and so do columns; new rows need --insert. Where the
file has another old value than a patch expects, that edit is left out and named, and the exit code is 1.")]
pub(super) struct Args {
    /// The file
    file: PathBuf,
    /// The changes: ndjson, json, csv or glb; - for standard input
    changes: PathBuf,
    #[command(flatten)]
    pub(super) output: EditOutput,
    /// The table of exported rows, if not the main table
    #[arg(long, short, value_name = "TABLE", conflicts_with = "entry")]
    table: Option<String>,
    /// CHANGES is this entry: .json as `assetq cat FILE ENTRY -f json` writes it, or another file for a pack
    #[arg(long, value_name = "ENTRY")]
    entry: Option<String>,
    /// Insert exported rows with new keys
    #[arg(long)]
    insert: bool,
    /// Delete rows that the export lacks
    #[arg(long, conflicts_with = "entry")]
    delete_missing: bool,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    if !is_stdin(&args.changes) {
        context.reads(&[&args.changes]);
    }
    args.output.check_given()?;
    let asset = context.open(&args.file)?;
    // A format that is not written is the reason, whatever CHANGES is. An archive may contain the file that is edited.
    if asset.reader().archive().is_none() {
        check_writable(&asset).map_err(Failure::of_file(&args.file))?;
    }
    let given = if args.entry.is_none() { Some(Changes::open(&args.changes)?) } else { None };
    let target = match given.as_ref().and_then(|given| given.target(&args.file, &asset)) {
        Some(inner) => EditTarget::open(&inner, &args.output, context)?,
        None => EditTarget::new(&args.file, asset, &args.output, context)?,
    };
    let failed = Failure::of_file(&args.file);
    let mut editor = target.editor(context).map_err(failed)?;
    match &args.entry {
        None => given.map_or(Ok(()), |given| changes(given, args, &mut editor))?,
        Some(entry) if is_inner_file(args, &target) => {
            let bytes = Bounded::new(BufReader::new(opened(&args.changes)?), CHANGES).bytes();
            let bytes = bytes.map_err(|error| Failure::io(&args.changes, "cannot read", error))?;
            editor.file(entry, bytes).map_err(failed)?;
        }
        Some(entry) => {
            let mut text = String::new();
            let read = Bounded::new(open(&args.changes)?, CHANGES).read_to_string(&mut text);
            read.map_err(|error| Failure::io(&args.changes, "cannot read", error))?;
            let new = read::value(&text).map_err(Failure::of_file(&args.changes))?;
            editor.entry(entry, new).map_err(failed)?;
        }
    }
    target.finish(editor, &args.output, context)
}

/// Whether CHANGES is a file to put into an archive, and no text of an entry.
fn is_inner_file(args: &Args, target: &EditTarget) -> bool {
    let is_json = args.changes.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    !is_json && !is_stdin(&args.changes) && target.asset.reader().archive().is_some()
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if is_stdin(path) {
        return Ok(Box::new(TextInput::new(BufReader::new(std::io::stdin()))));
    }
    Ok(Box::new(TextInput::new(BufReader::with_capacity(1 << 16, opened(path)?))))
}

fn opened(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::io(path, "cannot open", error))
}

/// The largest size of CHANGES in bytes: the size of a FILE whose size is unknown.
const CHANGES: u64 = 1 << 30;

/// The number of edits that are passed to the editor at once.
const TOGETHER: usize = 1 << 10;

/// Passes edits to the editor, which needs none if an undo file has restored the bytes.
fn give(editor: &mut Editor<'_>, edits: &mut Vec<Edit>) -> Result<(), Error> {
    let edits = edits.drain(..);
    if editor.is_restored() { Ok(()) } else { editor.edits(edits) }
}

/// The opened CHANGES.
struct Changes {
    input: Box<dyn BufRead>,
    /// How its rows are written; `None` for meshes.
    form: Option<ChangesFormat>,
    /// The file in an archive that was edited, if this is the undo file of that edit.
    inner: Option<String>,
}

impl Changes {
    fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.to_string_lossy();
        let failed = Failure::of_file(path);
        let mut input = open(path)?;
        let head = input.fill_buf().map_err(|error| Failure::io(path, "cannot read", error))?;
        if head.starts_with(b"glTF") {
            return Ok(Self { input, form: None, inner: None });
        }
        if let Some(at) = head.iter().position(|byte| *byte == 0) {
            let what = "no text has: rows are csv, json or ndjson, and meshes are a binary glTF";
            return Err(Failure::usage(format!("{name}: it has a NUL byte at offset {at:#x}, which {what}")));
        }
        let form = ChangesFormat::of_name(&name).map_err(failed)?.unwrap_or_else(|| ChangesFormat::of_head(head));
        let mut inner = None;
        if form == ChangesFormat::Ndjson {
            let mut line = Vec::new();
            inner = read::inner_of_undo(&mut input, &mut line).map_err(failed)?;
            input = Box::new(Cursor::new(line).chain(input));
        }
        Ok(Self { input, form: Some(form), inner })
    }

    /// The file that is edited: `file`, or the file in it that the undo file is about.
    fn target(&self, file: &Path, asset: &Asset) -> Option<PathBuf> {
        let inner = self.inner.as_deref().filter(|_| asset.reader().archive().is_some())?;
        let mut address = file.as_os_str().to_owned();
        address.push(":");
        address.push(inner);
        Some(address.into())
    }
}

fn changes(changes: Changes, args: &Args, editor: &mut Editor<'_>) -> Result<(), Failure> {
    let name = args.changes.to_string_lossy();
    let failed = Failure::of_file(&args.changes);
    let Some(form) = changes.form else {
        let glb = Bounded::new(changes.input, CHANGES).bytes();
        let glb = glb.map_err(|error| Failure::io(&args.changes, "cannot read", error))?;
        return editor.meshes(&glb).map_err(failed);
    };
    let unit = if form == ChangesFormat::Json { "row" } else { "line" };
    let (mut exported, mut is_empty) = (false, true);
    let mut edits = Vec::new();
    let read = read::rows(Bounded::new(changes.input, CHANGES), form, &mut |row: InputRow| {
        is_empty = false;
        if let InputRow::Edit(mut edit) = row {
            if edit.table.is_none() {
                edit.table = args.table.as_deref().map(std::sync::Arc::from);
            }
            edits.push(edit);
            let is_full = edits.len() >= TOGETHER;
            return if is_full { give(editor, &mut edits) } else { Ok(()) };
        }
        give(editor, &mut edits)?;
        match row {
            InputRow::Restore(restore) if !editor.is_restored() => editor.restore(&restore).map(drop),
            InputRow::Columns(names) => {
                exported = true;
                editor.exported_columns(args.table.as_deref(), &names)
            }
            InputRow::Empty => {
                exported = true;
                Ok(())
            }
            InputRow::Blank { cells, from } if !editor.is_restored() => {
                editor.exported_blank(args.table.as_deref(), cells, from)
            }
            InputRow::Exported { origin, cells, from } if !editor.is_restored() => {
                exported = true;
                let row = editor.exported(args.table.as_deref(), cells, from, args.insert);
                row.map_err(|e| e.context(format_args!("{unit} {origin}")))
            }
            _ => Ok(()),
        }
    });
    read.and_then(|()| give(editor, &mut edits)).and_then(|()| editor.match_exported()).map_err(failed)?;
    if args.delete_missing {
        if !exported {
            let what = match is_empty {
                true => {
                    "it is empty; --delete-missing deletes all rows for the header line of a .csv, or [] in a .json"
                }
                false => "--delete-missing is for exported rows",
            };
            return Err(Failure::usage(format!("{name}: {what}")));
        }
        editor.delete_missing(args.table.as_deref()).map_err(failed)?;
    }
    Ok(())
}
