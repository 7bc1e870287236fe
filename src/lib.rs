//! A zero-copy, memory-mapped query engine for game-asset files.
//!
//! A file is mapped, not loaded. Opening reads its headers; a lookup probes the file's own index and allocates nothing;
//! records, texts and rows borrow from the map. Compressed parts are decoded on demand, once, in parallel.
//!
//! | I want | function | feature |
//! |---|---|---|
//! | the tables of any file | [`Asset::open`], [`Asset::table`], then `rows()` | its game |
//! | one row, by id, path or name | `asset.table("records")?.row("r0000005")?` | its game |
//! | a cell as a number or text | [`table::Row::get`] | |
//! | the files of an archive, and the bytes of one | [`Asset::archive`], [`Asset::read`] | its game |
//! | an answer in SQL | `sql::query` | `sql` |
//! | what changed between two builds | [`diff::tables`] | |
//! | one value changed, in a new file | [`edit::AssetEdit`] | |
//! | a mesh as GLB, a map as SVG | [`view::draw`] | |
//! | what refers to an entry | [`query::refs`] | |
//! | a text, wherever it is | [`query::find`] | |
//! | CSV, JSON, Parquet | [`mod@write`] | Parquet: `parquet` |
//! | all damage of a file | [`formats::Reader::verify`] | |
//! | a format of my own | [`formats`], [`Format::add`] | |
//! | the command with it | `cli` | `cli` |
//!
//! `examples/first.rs` has ten first programs of at most eight lines.
//!
//! | family | files | module in [`formats`] |
//! |---|---|---|
//! | World of Warships | `assets.bin`, `models.bin`, `space.bin`, `.geometry`, `.splash`, `.visual`, `.model`, `.mfm`, `GameParams.data`, the game's folder, its `.idx` | `wows` |
//! | Space Engineers 2 | VRage 3 archives `.vrb`, the content folder | `vrage` |
//! | Rusty Hearts | maps `.wdata`, the game's folder | `rusty_hearts` |
//! | FINAL FANTASY XIII trilogy | sheets `.wdb`, WPD packs, textures, the data folder | `ff13` |
//! | DirectDraw textures | `.dds` | `dds` |
//!
//! # Any file
//!
//! [`Asset::open`] takes a path, an address (`GAME:content/assets.bin` is a file in an archive), or bytes; it detects the
//! format. The reader of every format has tables, entries and checks; queries, edits and outputs use nothing else.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! use assetq::{Asset, Source};
//!
//! // `Asset::open("ship.splash")` maps a file. Samples of all formats are in `assetq_sample`.
//! let bytes = assetq_sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3]), ("stern", [2.0; 3], [3.0; 3])]);
//! let asset = Asset::open(Source::from_vec("ship.splash", bytes))?;
//! assert_eq!(asset.format().name(), "splash");
//!
//! let mut names = Vec::new();
//! for row in asset.table("boxes")?.rows() {
//!     names.push(row?.get::<String>("name")?);
//! }
//! assert_eq!(names, ["bow", "stern"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Single families
//!
//! The modules of the families offer more than tables. A prototype database looks up a path and reads its record, each
//! field in place:
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, bwdb::demo};
//! use assetq::Source;
//! use assetq::formats::wows::bwdb::{Database, prototypes::Prototype};
//!
//! let db = Database::open(Source::from_vec("assets.bin", demo(1, Size::Small)))?;
//! let id = Database::path_id("content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual");
//! if let Some(Prototype::Visual(visual)) = db.record(id)? {
//!     for set in visual.render_sets()? {
//!         let material = db.path(set?.mfm()?)?.expect("the material has a path");
//!         assert!(material.ends_with(".mfm"));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Each module of [`formats`] has such readers: `wows::geometry` decodes meshes, `vrage::vrb` finds a value by its path,
//! `rusty_hearts::wdata` finds the boxes at a position, `ff13::wdb` reads records of sheets. The folder `examples` has a program for
//! each.
//!
//! # Custom formats and tables
//!
//! [`table::DeclaredTable`] declares a table column by column over any rows, and [`schema!`](formats::schema!) the structs of a file
//! with their columns. A format implements [`Reader`](formats::Reader) and [`FileFormat`](formats::FileFormat), as in
//! `examples/custom_format`; [`Format::add`] adds it to [`Asset::open`] and every command, and the whole command line works on its
//! files. [`table::validate`] checks what its tables declare.
//!
//! # Hostile files
//!
//! Every byte of a file may be an attack. No bytes lead to a panic or an endless loop, the depth of recursion is limited by
//! the program, and memory and time are bounded by the size of the file and by the query: counts, offsets and sizes are
//! checked against the file before their use, walks have bounds, chains detect cycles, and decompressed parts have limits
//! of their own ([`formats::ErrorKind::Limit`]).
//!
//! An [`Error`] names the fault, its part, its absolute offset, and the value. Damage is never read as a default, and is
//! local: a damaged record is an error of its own cells, and its neighbours remain readable.
//!
//! # The safety of `Source::open`
//!
//! Rust assumes that borrowed bytes do not change. A map cannot guarantee that, because another program may write to the
//! file: [`Source::open`] is a safe function on the condition that **no program changes the file while it is open**. On
//! network drives, and in a folder that a patcher is working in, use [`Source::read`], which copies the file first
//! (`--no-mmap` on the command line). [`Source::from_vec`] takes bytes from elsewhere. If a mapped file changes in spite of
//! this condition:
//!
//! - Numbers may be from the old file or from the new one. Each access is checked against the mapped length, so that the
//!   worst result is a wrong value or an error.
//! - Borrowed text may no longer be UTF-8: undefined behaviour for the code that uses it.
//! - If the file becomes shorter, the system stops the process by `SIGBUS` at the first access past the new end. After
//!   [`formats::source::exit_when_a_mapped_file_shrinks`], which `assetq` calls, the process ends with one line on standard error and
//!   exit code 4 instead.
//!
//! # Features
//!
//! Without features the library has tables, queries, edits, outputs and pages, and reads `.dds` alone.
//!
//! | feature | default | contents |
//! |---|---|---|
//! | `wows` | by `cli` | World of Warships |
//! | `vrage` | by `cli` | Space Engineers 2 |
//! | `rusty-hearts` | by `cli` | Rusty Hearts |
//! | `ff13` | by `cli` | FINAL FANTASY XIII trilogy |
//! | `sql` | by `cli` | queries in SQL, by SQLite over the mapped tables: `sql` |
//! | `parquet` | yes | rows as Parquet and Arrow IPC, and streams of record batches |
//! | `cli` | yes | the command `assetq`, for programs that add formats to it: `cli` |
//! | `terminal` | yes | for the command: a prompt for SQL, progress bars, the width of tables, Ctrl-C |
//!
//! Builders that write valid files of every format, for tests, are the package `assetq-sample`.

#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::cast_possible_truncation
    )
)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod formats;

/// Queries of any files: by address and pattern, searches, references, histories.
///
/// ```
/// # fn main() -> assetq::Result<()> {
/// use assetq::query::archive::Address;
///
/// // The part before the first `:` is an archive if it exists; the part after it is a path in the archive.
/// let address = Address::parse("game:content/assets.bin");
/// assert_eq!(address.inner(), None, "there is no file or folder `game`");
/// # Ok(())
/// # }
/// ```
pub mod query {
    pub use assetq_core::archive::{self, Address, Cache};
    pub use assetq_query::{files, find, history, lines, refs};
}

/// Pages of tables and shapes, and shapes as files of other programs.
///
/// ```
/// # fn main() -> assetq::Result<()> {
/// # let geometry = assetq_sample::geometry::demo(1, assetq_sample::Size::Small);
/// # let glb = std::env::temp_dir().join(format!("assetq-view-{}.glb", std::process::id()));
/// let ship = assetq::Asset::open(assetq::Source::from_vec("ship.geometry", geometry))?;
/// assetq::view::draw(&ship, &glb)?;
/// # std::fs::remove_file(&glb).expect("it is there");
/// # Ok(())
/// # }
/// ```
pub mod view {
    pub use assetq_scene::{self as scene, draw, texture, texture_files};
    pub use assetq_view::page;
}

pub use assetq_core::{Asset, Error, Format, Options, Result, Source, table};
#[cfg(feature = "sql")]
pub use assetq_query::sql;
pub use assetq_query::{diff, edit, write};

// Short paths for the code of this package.
#[cfg(feature = "cli")]
use {
    assetq_core::{
        ErrorKind, archive, asset, atomic_file, bytes, codec, error, escape, id, options, paths, reader, report,
        source, suggest, threads, writable,
    },
    assetq_query::{files, find, history, lines, refs},
    assetq_scene::{self as scene, texture, texture_files},
    assetq_wows::{armor, models, ship},
    formats::games,
};

/// The examples of the guide.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../docs/guide/rust.md")]
struct Guide;
