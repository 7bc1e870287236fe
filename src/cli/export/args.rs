//! The arguments of `export`.

use crate::archive;
use crate::archive::Address;
use crate::cli::files::path_below;
use crate::cli::{Context, Failure};
use crate::scene::{self, TextureMode};
use crate::ship::PartKind;
use crate::write::hive::{Partition, file_name};
use clap::ValueEnum as _;
use std::path::{Path, PathBuf};

/// A ship, and the parts of it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct ShipArgs {
    /// For a game: put this ship together, by its name, index, id or title
    #[arg(long, value_name = "SHIP")]
    pub(in crate::cli) ship: Vec<String>,
    /// For a ship: its hull, by upgrade or component; the last upgrade if not given
    #[arg(long, value_name = "HULL", requires = "ship")]
    pub(in crate::cli) hull: Option<String>,
    /// For a ship: only these parts
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS", requires = "ship")]
    pub(in crate::cli) parts: Vec<ShipPartArg>,
    /// For a ship: add its armour, in colours by thickness, below a node of its own
    #[arg(long, requires = "ship")]
    pub(in crate::cli) armor: bool,
    /// For a ship: add these camouflages, by title or name, as variants of its materials, for GLB; all of the ship without NAMES
    #[arg(long, requires = "ship", value_name = "NAMES", value_delimiter = ',', num_args = 0..=1)]
    pub(in crate::cli) camouflages: Option<Vec<String>>,
}

/// As [`PartKind`].
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(in crate::cli) enum ShipPartArg {
    /// The hull.
    Hull,
    /// Turrets of the main battery.
    Guns,
    /// Turrets of the secondary battery.
    Secondaries,
    /// Torpedo launchers.
    Torpedoes,
    /// Anti-aircraft guns.
    AntiAir,
    /// Directors, finders, radars and other things.
    Other,
}

impl From<ShipPartArg> for PartKind {
    fn from(part: ShipPartArg) -> Self {
        match part {
            ShipPartArg::Hull => Self::Hull,
            ShipPartArg::Guns => Self::Guns,
            ShipPartArg::Secondaries => Self::Secondaries,
            ShipPartArg::Torpedoes => Self::Torpedoes,
            ShipPartArg::AntiAir => Self::AntiAir,
            ShipPartArg::Other => Self::Other,
        }
    }
}

/// Write tables, a mesh or a map as files for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  assetq export assets.bin --to paths.parquet
  assetq export assets.bin --table render_sets --to sets.csv --columns path,name,mfm_path
  assetq export assets.bin --table resources --to ships.ndjson --where \"path ~ '*/ship/*' and size > 100\"
  assetq export assets.bin --all-tables --to tables/ --as parquet
  assetq export assets.bin --table materials,visuals --to builds/ --as parquet --partition build=15.2
  assetq export assets.bin --to - --as csv | head
  assetq export ship.geometry --to ship.glb --lod 0
  assetq export wows:content/location/harbour/buoy/buoy.geometry --to buoy.glb --texture-size 1024
  assetq export models.geometry --with models.bin --with space.bin --to space.glb
  assetq export town.wdata --to town.svg
  assetq export ship.geometry --to ship.svg
  assetq export deck_a.dds --to deck.png       a texture; `assetq refs ship.geometry . --tree` names those of a model
  assetq export wows \"*/hull_a.dds\" --to hull.png
                                               a texture of a game; `assetq refs PATH.geometry wows --tree` names them
  assetq export wows --ship Aurora --to aurora.glb --texture-size 1024
  assetq export wows \"content/gameplay/*.geometry\" --to ships/ --as glb

One table of one file becomes OUT. Into a folder (OUT ends with '/', or is one, or there are more tables or files) go
OUT/TABLE.csv, with several files OUT/TABLE/FILE.csv, and with --partition OUT/TABLE/build=15.2/FILE.csv.")]
pub(in crate::cli) struct ExportArgs {
    /// The files; a folder means all files below it; after an archive, a path or a glob in it
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// The file or folder to write, '-' for standard output; its ending selects the kind: csv, json, ndjson, parquet,
    /// arrow, arrows (a stream), for geometry and maps glb, obj, svg, and for textures png
    #[arg(long, value_name = "OUT")]
    pub(in crate::cli) to: PathBuf,
    /// The kind of output, whatever the ending
    #[arg(long = "as", value_enum, value_name = "KIND")]
    pub(in crate::cli) kind: Option<KindArg>,
    /// These tables instead of the main one
    #[arg(long, short, value_name = "TABLE", value_delimiter = ',')]
    pub(in crate::cli) table: Vec<String>,
    /// For csv: begin with a byte order mark, by which Excel knows that the text is UTF-8
    #[arg(long)]
    pub(in crate::cli) bom: bool,
    /// All tables
    #[arg(long, conflicts_with = "table")]
    pub(in crate::cli) all_tables: bool,
    #[command(flatten)]
    pub(in crate::cli) rows: RowArgs,
    /// Write over files that exist
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// For geometry: a database that names and pairs its meshes (assets.bin or models.bin); for one in a game, the game's
    /// own is used without this
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) db: Option<PathBuf>,
    /// For geometry: more files that know of its meshes, such as the models.bin and space.bin of a space, a material
    /// (.mfm), a game or folder that has the textures, GameParams.data, which states how thick armour is, or for glb a
    /// .splash with hit boxes; one beside the geometry with its name is used without this
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) with: Vec<PathBuf>,
    /// For glb and obj of geometry: the form of textures; default: png
    #[arg(long, value_enum, value_name = "HOW")]
    pub(in crate::cli) textures: Option<TexturesArg>,
    /// For glb and obj of geometry: the greatest width and height of textures
    #[arg(long, value_name = "N", default_value_t = 2048)]
    pub(in crate::cli) texture_size: u32,
    /// For glb and obj of geometry: add an image of the light that materials emit
    #[arg(long)]
    pub(in crate::cli) emissive: bool,
    /// For geometry: which level of detail, 0 the finest, or all
    #[arg(long, value_name = "N", default_value = "0", value_parser = lod)]
    pub(in crate::cli) lod: Lod,
    /// For geometry: these parts, each below a node of its own in glb; if not given, meshes for glb and obj, and all parts for svg
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    pub(in crate::cli) only: Vec<PartArg>,
    #[command(flatten)]
    pub(super) level: LevelArgs,
    #[command(flatten)]
    pub(in crate::cli) ship: ShipArgs,
}

/// The columns and rows to write.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct RowArgs {
    /// Write these columns, in this order
    #[arg(long, short = 'c', value_delimiter = ',', value_name = "NAMES")]
    pub(super) columns: Vec<String>,
    /// Write only rows for which this holds, as in "size > 10k and name ~ '*.dds'"
    #[arg(long = "where", short = 'w', value_name = "CONDITION")]
    pub(super) condition: Option<String>,
    /// Write at most this many rows of each table
    #[arg(long, short = 'n', value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Put files into a folder of this name below that of their table, as the value of one more column for all rows
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) partition: Vec<Partition>,
    /// Leave damaged rows out and count them, rather than fail at the first one; the exit code is still 3
    #[arg(long)]
    pub(super) skip_damaged: bool,
}

/// The level of a texture to write.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct LevelArgs {
    /// For a texture: which level, 0 the largest
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) mip: u32,
    /// For an array of textures or a cube map: which of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) layer: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum KindArg {
    Csv,
    Json,
    Ndjson,
    /// Row groups, dictionaries, statistics, zstd
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrow IPC, a file
    #[cfg(feature = "parquet")]
    Arrow,
    /// Arrow IPC, a stream
    #[cfg(feature = "parquet")]
    Arrows,
    Glb,
    Obj,
    Svg,
    /// A level of a texture
    Png,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum TexturesArg {
    /// Colours alone
    None,
    /// As PNG: in a GLB, beside an OBJ
    Png,
    /// As the game's own files, beside the GLB or OBJ, which names them but does not use them
    Files,
}

impl TexturesArg {
    /// The mode for textures: PNG if the file has materials and no other mode was chosen.
    pub(super) fn mode_for(kind: scene::SceneFormat, asked: Option<Self>) -> TextureMode {
        match kind {
            scene::SceneFormat::Glb | scene::SceneFormat::Obj => asked.map_or(TextureMode::Png, Self::mode),
            scene::SceneFormat::Svg => TextureMode::None,
        }
    }

    fn mode(self) -> TextureMode {
        match self {
            Self::None => TextureMode::None,
            Self::Png => TextureMode::Png,
            Self::Files => TextureMode::Files,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum PartArg {
    Meshes,
    Armor,
    Collision,
    /// The hit boxes of a .splash, in a GLB
    Splash,
}

/// A level of detail, or all of them.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Lod(pub(super) Option<usize>);

fn lod(text: &str) -> Result<Lod, String> {
    match text {
        "all" => Ok(Lod(None)),
        number => number.parse().map(|n| Lod(Some(n))).map_err(|_| "a number or `all` is needed".to_owned()),
    }
}

impl ExportArgs {
    /// Whether nothing selects tables, columns or rows.
    pub(super) fn is_of_whole_file(&self) -> bool {
        let has_tables = self.all_tables || !self.table.is_empty() || !self.rows.columns.is_empty();
        !has_tables && self.rows.condition.is_none() && self.rows.limit.is_none()
    }

    /// The kind of output: the given one, else that of the ending of OUT.
    pub(super) fn kind(&self) -> Result<KindArg, Failure> {
        self.kind.map_or_else(|| kind_of(&self.to), Ok)
    }

    /// The parts of geometry to draw.
    pub(super) fn parts(&self, kind: scene::SceneFormat) -> scene::Options {
        let is_glb = kind == scene::SceneFormat::Glb;
        if self.only.is_empty() {
            let is_given = self.with.iter().any(|path| path.extension().is_some_and(|ending| ending == "splash"));
            return scene::Options { boxes: is_glb && is_given, ..scene::Options::of_kind(kind) };
        }
        let has = |part| self.only.contains(&part);
        scene::Options {
            meshes: has(PartArg::Meshes),
            armor: has(PartArg::Armor),
            collision: has(PartArg::Collision),
            boxes: is_glb && has(PartArg::Splash),
            ..scene::Options::default()
        }
    }
}

impl KindArg {
    /// The form of a drawing; other kinds are tables or textures.
    pub(super) fn drawing(self) -> Option<scene::SceneFormat> {
        match self {
            Self::Glb => Some(scene::SceneFormat::Glb),
            Self::Obj => Some(scene::SceneFormat::Obj),
            Self::Svg => Some(scene::SceneFormat::Svg),
            _ => None,
        }
    }

    pub(super) fn is_drawing(self) -> bool {
        self == Self::Png || self.drawing().is_some()
    }

    /// Whether each column of a file of this kind has one type.
    pub(in crate::cli) fn has_types(self) -> bool {
        !matches!(self, Self::Csv | Self::Json | Self::Ndjson)
    }

    /// The ending of files that are written so.
    #[expect(clippy::expect_used, reason = "no kind is hidden from the command line")]
    pub(super) fn ending(self) -> String {
        self.to_possible_value().expect("each kind has a name").get_name().to_owned()
    }
}

/// The kind of output for the ending of a file.
pub(super) fn kind_of(path: &Path) -> Result<KindArg, Failure> {
    let ending = path.extension().map_or_else(String::new, |ending| ending.to_string_lossy().to_ascii_lowercase());
    KindArg::from_str(&ending, true).map_err(|_| {
        let known: Vec<String> = KindArg::value_variants().iter().map(|kind| kind.ending()).collect();
        let instead = match &*ending {
            "db" | "sqlite" | "sqlite3" => "; for a database: assetq sql QUERY FILE --into OUT",
            "gltf" => "; glb is glTF in one file",
            "xls" | "xlsx" | "ods" => "; spreadsheets open csv",
            "jsonl" => "; ndjson is an object a line",
            "html" | "htm" => "; for a page: assetq view FILE --to OUT",
            _ => "",
        };
        let what = format!(
            "{}: export writes {}, by the ending of OUT or by --as KIND{instead}",
            path.to_string_lossy(),
            known.join(", ")
        );
        Failure::usage(what)
    })
}

/// The arguments: after an archive, a path or a glob in it may replace `ARCHIVE:GLOB`.
pub(super) fn given(args: &ExportArgs, context: &Context) -> Vec<PathBuf> {
    let mut given: Vec<PathBuf> = Vec::new();
    for file in &args.files {
        let inner = file.to_str().filter(|_| !Address::parse(file).exists());
        match (inner, given.last_mut()) {
            (Some(inner), Some(last)) if context.holds_files(last) => *last = Address::within(last, inner),
            _ => given.push(file.clone()),
        }
    }
    given
}

/// The path of a file's drawing or table in `folder`: below the file's folders in its archive, or in the given folder.
pub(super) fn in_folder(folder: &Path, args: &ExportArgs, file: &Path, kind: KindArg) -> PathBuf {
    let address = Address::parse(file);
    let inner = match address.inner() {
        Some(inner) => inner.to_owned(),
        None => path_below(&args.files, file).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"),
    };
    let mut to = folder.to_owned();
    let mut parts = inner.split(['/', archive::MARK]).peekable();
    while let Some(part) = parts.next() {
        match parts.peek() {
            Some(_) => to.push(file_name(part)),
            None => {
                let stem = Path::new(part).file_stem().map_or(part.into(), |stem| stem.to_string_lossy());
                to.push(format!("{}.{}", file_name(&stem), kind.ending()));
            }
        }
    }
    to
}
