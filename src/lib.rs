//! A zero-copy, memory-mapped query engine for five families of game-asset files.
//!
//! A file is mapped, not loaded. Opening reads its headers; a lookup probes the file's own index and allocates nothing;
//! records, texts and rows borrow from the map. Compressed parts are decoded when they are asked for, once, in parallel.
//!
//! | family | files | module |
//! |---|---|---|
//! | World of Warships prototype database | `assets.bin`, `models.bin`, `space.bin` | [`bwdb`] |
//! | World of Warships archives | `.idx`, `.pkg`, the game's folder | [`wows`] |
//! | World of Warships geometry | `.geometry`, `.splash` | [`geometry`] |
//! | VRage 3 archives | `.vrb` | [`vrb`] |
//! | Rusty Hearts maps | `.wdata` | [`wdata`] |
//! | FINAL FANTASY XIII sheets and packs | `.wdb`, WPD | [`wdb`] |
//!
//! # Any file
//!
//! [`Asset::open`] tells the format and opens the file. Whatever it is, its [`Reader`] has tables, entries and checks,
//! and [`diff`], [`refs`], `find`, `sql` and the outputs in `write` ask for nothing else.
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! use assetq::{Asset, Source, report::Progress};
//!
//! // `Source::open` maps a file. Bytes from elsewhere serve as well; samples of all formats are in `assetq::sample`.
//! let bytes = assetq::sample::geometry::splash(&[("bow", [-1.0; 3], [1.0; 3]), ("stern", [2.0; 3], [3.0; 3])]);
//! let asset = Asset::open(Source::from_vec("ship.splash", bytes))?;
//! assert_eq!(asset.format().name(), "splash");
//!
//! let table = asset.reader().table("boxes").expect("the format has it");
//! let mut rows = table.cursor(0);
//! let mut names = Vec::new();
//! while rows.advance()? {
//!     names.push(rows.value(0)?.to_string());
//! }
//! assert_eq!(names, ["bow", "stern"]);
//! assert!(asset.reader().verify(&Progress::default()).ok());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! # A family by itself
//!
//! The modules of the families know more than tables. A prototype database looks a path up and reads the record there,
//! each field in place:
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! # use assetq::sample::{Size, bwdb::demo};
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
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! A `.geometry` pairs vertices with indices, and decodes the buffers behind them:
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! # use assetq::sample::{Size, geometry::demo};
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
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! A `.vrb` says itself what its values are; one of them is found by its path, and the others are passed over:
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! # use assetq::sample::{Size, vrb::demo};
//! use assetq::{Source, table::Value, vrb::Archive};
//!
//! let archive = Archive::open(Source::from_vec("savegame.vrb", demo(1, Size::Small)))?;
//! let (chunk, value) = archive.find("Bounds.Max.Y")?.expect("the sample has it");
//! assert_eq!((chunk.name(), value.leaf()?), ("[Main]", Some(Value::F32(2.5))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! A `.wdata` finds the boxes of one type without walking over the others, and knows what stands where:
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! # use assetq::sample::{Size, wdata::demo};
//! use assetq::{Source, table::Place, wdata::{BoxType, Map}};
//!
//! let map = Map::open(Source::from_vec("town.wdata", demo(1, Size::Small)))?;
//! let portal = map.boxes(BoxType::PortalBox)?.get(0).expect("the sample has a portal");
//! let at = portal.obb()?.expect("a portal stands somewhere").position;
//! assert_eq!(portal.name()?.to_string(), "portal_000");
//! assert!(map.boxes_at(&Place::Point(at.map(|n| n.get().into())))?.boxes.contains(&(BoxType::PortalBox, 0)));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! A `.wdb` finds a record by its name, and cuts fields of 1 to 32 bits out of its words:
//!
//! ```
//! # #[cfg(feature = "sample")]
//! # fn main() -> assetq::Result<()> {
//! # use assetq::sample::{Size, wdb::demo};
//! use assetq::{Source, table::Value, wdb::Sheet};
//!
//! let sheet = Sheet::open(Source::from_vec("sheet.wdb", demo(1, Size::Small)))?;
//! let field = sheet.fields().iter().position(|field| field.name == "u9SaveIndex").expect("the sample has it");
//! let record = sheet.find("r0000005").and_then(|row| sheet.record(row)).expect("the sample has it");
//! assert_eq!(record.value(field)?, Value::Uint(280));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "sample"))]
//! # fn main() {}
//! ```
//!
//! # A format or a table of your own
//!
//! [`table::TableOf`] declares a table column by column over anything that has rows. A format implements [`Reader`] and
//! [`FileFormat`], and [`Format::add`] makes [`Asset::open`] and every command know it: `examples/custom_format` is one
//! of a hundred lines, and the whole command line works on its files.
//!
//! # What hostile files can do
//!
//! Every byte of a file is taken for an attack. Whatever the bytes, nothing panics or runs without end, recursion is as
//! deep as the program says and not as the file does, and memory and time stay within bounds that follow from the size of
//! the file and from what is asked for: counts, offsets and sizes are held against the file before they are used, walks
//! have bounds, chains notice cycles, and decompressed parts have limits besides ([`ErrorKind::Limit`]).
//!
//! An [`Error`] says what is wrong, in which part, at which absolute offset, and with what value. Damage is never read as
//! a default, and stays where it is: a damaged record is an error of its own cells, and those beside it are readable.
//!
//! # What the safety of `Source::open` rests on
//!
//! Rust takes for granted that borrowed bytes do not change. A map cannot promise that, as another program may write to
//! the file: [`Source::open`] is a safe function on the condition that **nobody changes the file while it is open**.
//! Where that does not hold, as on network drives and in a folder that a patcher works in, [`Source::read`] copies the
//! file first (`--no-mmap` on the command line), and [`Source::from_vec`] takes bytes that came another way. A mapped file
//! that changes all the same does this:
//!
//! - Numbers may be of the old file or of the new one. Each access is checked by itself against the length that was
//!   mapped, so the worst of it is a wrong value or an error.
//! - Text that was UTF-8 when it was lent may not be any more: undefined behaviour for whoever holds it.
//! - Where the file became shorter, the system stops the process by `SIGBUS` at the first touch behind the new end. With
//!   [`source::exit_when_a_mapped_file_shrinks`], which `assetq` calls, it ends with one line on standard error and exit
//!   code 4 instead.
//!
//! # Features
//!
//! | feature | default | has | needs |
//! |---|---|---|---|
//! | (none) | | readers, tables, [`diff`], [`refs`], `verify` | |
//! | `filter` | | conditions on rows, as in `size > 10k and name ~ "*.dds"`: `table::filter` | |
//! | `find` | | texts by substring, glob and regular expression in all tables: `find` | |
//! | `glb` | | shapes of maps as binary glTF | |
//! | `export` | | rows as text, JSON, NDJSON and CSV: `write`; shapes as GLB, OBJ and SVG: [`scene`] | `glb`, `texture` |
//! | `edit` | | files written anew with edits: `edit` | `export` |
//! | `parquet` | yes | rows as Parquet and Arrow IPC | `export` |
//! | `sql` | | questions in SQL, by SQLite over the mapped tables: `sql` | `export`, `filter` |
//! | `mfm` | | materials of mods of World of Warships: `mfm` | |
//! | `se2` | | the content folder of Space Engineers 2, whose definitions are JSON: `se2` | |
//! | `texture` | | textures decoded and written as PNG: [`texture`] | |
//! | `sample` | | builders that write valid files of every format, for tests: `sample` | |
//! | `cli` | yes | the command `assetq`, for programs that add formats to it: `cli` | all but `parquet` |

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

pub mod archive;
mod ask;
mod asset;
mod budget;
pub mod bytes;
mod clean;
#[cfg(feature = "cli")]
pub mod cli;
mod codec;
mod compare;
#[cfg(feature = "edit")]
pub mod edit;
pub mod error;
mod formats;
pub mod id;
mod lazy;
pub mod names;
pub mod reader;
pub mod relations;
pub mod report;
#[cfg(feature = "sample")]
pub mod sample;
pub mod scene;
pub mod source;
mod suggest;
pub mod table;
pub mod texture;
#[cfg(feature = "texture")]
pub mod texture_files;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "parts that only the command uses"))]
mod threads;
#[cfg(feature = "export")]
pub mod write;

#[cfg(feature = "find")]
pub use ask::find;
#[cfg(feature = "cli")]
pub use ask::history;
#[cfg(feature = "export")]
pub use ask::lines;
#[cfg(feature = "sql")]
pub use ask::sql;
pub use ask::{diff, refs};
pub use asset::{Asset, Format};
pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "mfm")]
pub use formats::mfm;
#[cfg(feature = "se2")]
pub use formats::se2;
pub use formats::{bwdb, dds, geometry, gtex, rusty_hearts, vrb, wdata, wdb, white, wows};
pub use reader::{FileFormat, Options, Reader};
pub use source::Source;

/// Internals that tests, benches and comparisons of this project reach for. It changes without notice.
#[doc(hidden)]
pub mod internals {
    pub mod codec {
        pub use crate::codec::*;
    }
}

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/rust.md")]
struct Guide;
