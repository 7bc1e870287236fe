use super::edited_file::{EditOutput, EditTarget};
use super::{Context, Failure, Format, Outcome};
use std::path::PathBuf;

/// The values of `-f` that the command takes.
pub(super) const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Ndjson, Format::Csv, Format::Patch];

/// Write a copy of a file with one value changed
///
/// ENTRY is what `assetq cat FILE ENTRY` takes, followed by the steps to the value: .NAME for a member or a column,
/// [NUMBER] for an item of a list. The new file is read back and compared before it gets its name, as by `assetq patch`,
/// which makes many changes at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq set savegame.vrb HoursPlayed 7.5 --to new.vrb
  assetq set savegame.vrb HoursPlayed 7.5 --in-place --undo undo.ndjson
  assetq patch savegame.vrb undo.ndjson --in-place   as it was, byte for byte
  assetq set savegame.vrb \"Linde Station.Blocks[0].Inventory[0].Amount\" 500 --to richer.vrb
  assetq set enemy.wdb e_golem.u7DropRate 30 --dry-run
  assetq set assets.bin \"buoy.visual.lods[0].extent\" 90 --to new.bin
  assetq set town.wdata \"To the Sunken Mill.pos_x\" 1500 --to new.wdata
  assetq set pack.bin:item.wdb it_potion.u16Price 1 --to new-pack.bin
  assetq set models.bin \"2.lods[0].extent\" 90 --to new-models.bin")]
pub(super) struct Args {
    /// The file
    file: PathBuf,
    /// The entry, and the steps to its value
    entry: String,
    /// The new value, as `assetq cat` shows it; lists and objects in JSON
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: String,
    #[command(flatten)]
    pub(super) output: EditOutput,
    /// The table of the row, if ENTRY is ROW.COLUMN of another table than the main one
    #[arg(long, short, value_name = "TABLE")]
    table: Option<String>,
}

pub(super) fn run(args: &Args, context: &Context) -> Outcome {
    let target = EditTarget::open(&args.file, &args.output, context)?;
    let file = args.file.to_string_lossy();
    let failed = Failure::of_file(&*file);
    let mut editor = target.editor(context).map_err(failed)?;
    editor.set_value(args.table.as_deref(), &args.entry, &args.value).map_err(failed)?;
    target.finish(editor, &args.output, context)
}
