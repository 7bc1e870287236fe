//! A zero-copy, memory-mapped query engine for game-asset files.
//!
//! A file is mapped, not loaded. Opening reads its headers; a lookup probes the file's own index and allocates nothing;
//! records, texts and rows borrow from the map. Compressed parts are decoded on demand, once, in parallel.
//!
//! | family | files | module |
//! |---|---|---|
//! | World of Warships prototype database | `assets.bin`, `models.bin`, `space.bin` | [`bwdb`] |
//! | World of Warships geometry | `.geometry`, `.splash` | [`geometry`] |
//! | World of Warships archives | `.idx`, `.pkg`, the game's folder | [`wows`] |
//! | World of Warships text models of mods | `.visual`, `.model`, `.mfm` | [`text_models`] |
//! | Space Engineers 2 | VRage 3 archives `.vrb`, the content folder | [`vrb`], `se2` |
//! | Rusty Hearts | maps `.wdata`, the game's folder | [`wdata`], [`rusty_hearts`] |
//! | FINAL FANTASY XIII trilogy | sheets `.wdb`, WPD packs, textures, the data folder | [`wdb`], [`gtex`], [`white`] |
//! | DirectDraw textures | `.dds` | [`dds`] |
//!
//! # Any file
//!
//! [`Asset::open`] detects the format and opens the file. The [`Reader`] of every format has tables, entries and checks;
//! [`diff`], [`refs`], `find`, `sql` and the outputs in `write` use nothing else.
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! use assetq::{Asset, Source, report::Progress};
//!
//! // `Source::open` maps a file. Bytes in memory work as well; samples of all formats are in `assetq_sample`.
//! let bytes = assetq_sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3]), ("stern", [2.0; 3], [3.0; 3])]);
//! let asset = Asset::open(Source::from_vec("ship.splash", bytes))?;
//! assert_eq!(asset.format().name(), "splash");
//!
//! let table = asset.reader().table("boxes").expect("the format has this table");
//! let mut rows = table.cursor(0);
//! let mut names = Vec::new();
//! while rows.advance()? {
//!     names.push(rows.value(0)?.to_string());
//! }
//! assert_eq!(names, ["bow", "stern"]);
//! assert!(asset.reader().verify(&Progress::default()).is_ok());
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
//! use assetq::bwdb::{Database, prototypes::Record};
//!
//! let db = Database::open(Source::from_vec("assets.bin", demo(1, Size::Small)))?;
//! let path = "content/gameplay/usa/ship/submarine/USS000_Antenna/USS0001.visual";
//! let resource = db.lookup_path(path)?.expect("it is in the sample");
//! assert_eq!(resource.id(), Database::path_id(path));
//! if let Some(Record::Visual(visual)) = resource.record()? {
//!     let set = visual.render_sets()?.get(0).expect("it has a render set")?;
//!     let material = db.path(set.mfm()?.0)?.expect("the material has a path");
//!     assert!(material.ends_with(".mfm"));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A `.geometry` pairs vertices with indices, and decodes their buffers:
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, geometry::demo};
//! use assetq::{Source, geometry::Geometry};
//!
//! let geometry = Geometry::open(Source::from_vec("ship.geometry", demo(1, Size::Small)))?;
//! let group = geometry.groups()?.groups.first().expect("it has a group");
//! let vertices = geometry.mapped_vertices(group.vertices)?;
//! let triangles = geometry.mapped_indices(group.indices)?.triangles();
//! assert_eq!((vertices.len(), triangles.count()), (81, 128));
//! assert_eq!(vertices.positions().expect("the format has positions").len(), 81);
//! # Ok(())
//! # }
//! ```
//!
//! A `.vrb` describes its own values; one of them is found by its path, and the others are skipped:
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, vrb::demo};
//! use assetq::{Source, table::Value, vrb::VrbArchive};
//!
//! let archive = VrbArchive::open(Source::from_vec("savegame.vrb", demo(1, Size::Small)))?;
//! let (chunk, value) = archive.find("Bounds.Max.Y")?.expect("the sample has the value");
//! assert_eq!((chunk.name(), value.leaf()?), ("[Main]", Some(Value::F32(2.5))));
//! # Ok(())
//! # }
//! ```
//!
//! A `.wdata` finds the boxes of one type without a walk over the others, and the boxes at a position:
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, wdata::demo};
//! use assetq::{Source, table::Region, wdata::{BoxType, Map}};
//!
//! let map = Map::open(Source::from_vec("town.wdata", demo(1, Size::Small)))?;
//! let portal = map.boxes(BoxType::PortalBox)?.get(0).expect("the sample has a portal");
//! let at = portal.obb()?.expect("a portal has a position").position;
//! assert_eq!(portal.name()?.to_string(), "portal_000");
//! assert!(map.boxes_at(&Region::Point(at.map(|n| n.get().into())))?.boxes.contains(&(BoxType::PortalBox, 0)));
//! # Ok(())
//! # }
//! ```
//!
//! A `.wdb` finds a record by its name, and extracts fields of 1 to 32 bits from its words:
//!
//! ```
//! # fn main() -> assetq::Result<()> {
//! # use assetq_sample::{Size, wdb::demo};
//! use assetq::{Source, table::Value, wdb::Sheet};
//!
//! let sheet = Sheet::open(Source::from_vec("sheet.wdb", demo(1, Size::Small)))?;
//! let field = sheet.fields().iter().position(|field| field.name == "u9SaveIndex").expect("the sample has the field");
//! let record = sheet.find("r0000005").and_then(|row| sheet.record(row)).expect("the sample has the record");
//! assert_eq!(record.value(field)?, Value::Uint(280));
//! # Ok(())
//! # }
//! ```
//!
//! # Custom formats and tables
//!
//! [`table::DeclaredTable`] declares a table column by column over any rows. A format implements [`Reader`] and [`FileFormat`],
//! and [`Format::add`] adds it to [`Asset::open`] and every command: `examples/custom_format` is a small one, and the whole
//! command line works on its files.
//!
//! # Hostile files
//!
//! Every byte of a file may be an attack. No bytes lead to a panic or an endless loop, the depth of recursion is limited by
//! the program, and memory and time are bounded by the size of the file and by the query: counts, offsets and sizes are
//! checked against the file before their use, walks have bounds, chains detect cycles, and decompressed parts have limits
//! of their own ([`ErrorKind::Limit`]).
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
//!   [`source::exit_when_a_mapped_file_shrinks`], which `assetq` calls, the process ends with one line on standard error and
//!   exit code 4 instead.
//!
//! # Features
//!
//! Without features the library has tables, queries, edits, outputs, pages and pictures, and reads `.dds` alone.
//!
//! | feature | default | contents |
//! |---|---|---|
//! | `wows` | by `cli` | World of Warships |
//! | `vrage` | by `cli` | Space Engineers 2 |
//! | `rusty-hearts` | by `cli` | Rusty Hearts |
//! | `ff13` | by `cli` | FINAL FANTASY XIII trilogy |
//! | `sql` | by `cli` | queries in SQL, by SQLite over the mapped tables: `sql` |
//! | `parquet` | yes | rows as Parquet and Arrow IPC, and streams of record batches |
//! | `remote` | | files on web servers and in object stores: `Source::open_url`, and URLs wherever [`Options::source`] takes a path |
//! | `cli` | yes | the command `assetq`, for programs that add formats to it: `cli` |
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
#[doc(hidden)]
pub mod games;

/// Queries of any files: by address and pattern, searches, references, histories.
pub mod query {
    pub use assetq_core::archive::{self, Address, Cache};
    pub use assetq_query::{files, find, history, lines, refs};
}

/// Pages and pictures of tables and shapes.
pub mod view {
    pub use assetq_core::{scene, texture, texture_files};
    pub use assetq_view::{page, picture};
}

pub use assetq_core::{Asset, Error, Format, Options, Result, Source, table};
#[cfg(feature = "sql")]
pub use assetq_query::sql;
pub use assetq_query::{diff, edit, write};

#[doc(hidden)]
pub use assetq_core::archive::names;
#[doc(hidden)]
pub use assetq_core::{
    ErrorKind, FileFormat, Reader, archive, atomic_file, bytes, dds, error, id, reader, relations, report, scene,
    source, texture, texture_files,
};
#[cfg(feature = "ff13")]
#[doc(hidden)]
pub use assetq_ff13::{gtex, wdb, white};
#[doc(hidden)]
pub use assetq_query::{files, find, history, lines, refs};
#[cfg(feature = "rusty-hearts")]
#[doc(hidden)]
pub use assetq_rusty_hearts::{rusty_hearts, wdata};
#[cfg(feature = "vrage")]
#[doc(hidden)]
pub use assetq_vrage::{se2, vrb};
#[cfg(feature = "wows")]
#[doc(hidden)]
pub use assetq_wows::{armor, bwdb, gameparams, geometry, mo, ship, text_models, wows};

#[cfg(feature = "cli")]
use assetq_core::{asset, codec, escape, options, paths, threads, urls, writable};
#[cfg(feature = "cli")]
use assetq_view::picture;

/// Internals that tests, benches and comparisons of this project reach for. It changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use assetq_core::codec;
}

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/rust.md")]
struct Guide;
