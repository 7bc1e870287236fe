//! Hit-location boxes, `.splash` (docs/formats/geometry.md §7): a count, and for each box its name and two corners.

use crate::bytes::{Cursor, le, peek_u32};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets};
use crate::report::{Check, Progress, Report};
use crate::scene::Shapes;
use crate::source::Source;
use crate::table::{Accepts, Column, DeclaredTable, Kind, OrientedBox, Table, Value, Visitor};
use crate::writable::Writable;
use assetq_core::Openable;
use std::ops::Range;
use std::sync::OnceLock;

mod drawing;
mod writer;

/// The size of a box with an empty name.
const LEAST: usize = 28;

/// The longest name that is written, as the file is known by a name that is not longer.
const LONGEST: u32 = 255;

/// The valid names of a box.
const NAME: Accepts = Accepts::Bytes(LONGEST);

/// An open `.splash` file.
#[derive(Debug)]
pub struct Splash {
    source: Source,
    /// The start of each box; found on first use.
    index: OnceLock<Index>,
}

#[derive(Debug)]
struct Index {
    boxes: Vec<usize>,
    /// The end of the last box.
    end: usize,
    damage: Option<Error>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplashBox<'a> {
    /// The box's name, as in `CM_SB_bow_1`.
    pub name: &'a str,
    /// The corner with the least coordinates.
    pub min: [f32; 3],
    /// The opposite corner.
    pub max: [f32; 3],
}

impl Splash {
    /// Opens `source`. Reads the count.
    ///
    /// # Errors
    /// `BadValue` for a count of boxes that the file cannot hold.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        Cursor::new(source.view("header")).count("boxes", LEAST)?;
        Ok(Self { source, index: OnceLock::new() })
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The splash's boxes, in order; ends after the first error.
    pub fn boxes(&self) -> Result<impl Iterator<Item = Result<SplashBox<'_>>> + '_> {
        Ok(self.stored()?.map(|stored| stored.map(|(_, found)| found)))
    }

    /// The first box called `name`.
    fn named(&self, name: &str) -> Result<Option<SplashBox<'_>>> {
        self.boxes()?.find(|found| found.as_ref().map_or(true, |found| found.name == name)).transpose()
    }

    /// As [`Splash::boxes`], each with its bytes.
    fn stored(&self) -> Result<impl Iterator<Item = Result<(Range<usize>, SplashBox<'_>)>> + '_> {
        let mut cursor = Cursor::new(self.source.view("header"));
        let count = cursor.count("boxes", LEAST)?;
        cursor.set_part("box");
        let mut failed = false;
        Ok((0..count).map_while(move |i| {
            let start = cursor.position();
            let result = (!failed).then(|| read(&mut cursor).map_err(|e| e.context(format_args!("box {i}"))))?;
            failed = result.is_err();
            Some(result.map(|found| (start..cursor.position(), found)))
        }))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index { boxes: Vec::new(), end: 4, damage: None };
            let walked = self.stored().and_then(|mut all| {
                all.try_for_each(|stored| {
                    let (range, _) = stored?;
                    index.boxes.push(range.start);
                    index.end = range.end;
                    Ok(())
                })
            });
            index.damage = walked.err();
            index
        })
    }
}

fn read<'a>(cursor: &mut Cursor<'a>) -> Result<SplashBox<'a>> {
    let size = cursor.count("length of a name", 1)?;
    let view = cursor.view();
    let name = view.utf8(cursor.take(size)?)?;
    let [min, max] = cursor.read::<[[le::F32; 3]; 2]>()?.map(|corner| corner.map(|c| c.get()));
    Ok(SplashBox { name, min, max })
}

/// Whether names are of such bytes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

impl FileFormat for Splash {
    const NAME: &'static str = "splash";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The hit boxes of a ship";
    const ENDINGS: &'static [&'static str] = &[".splash"];

    fn likeness(data: &[u8]) -> Likeness {
        // A count, then a name of a plausible length.
        Likeness::by_shape(match (peek_u32(data, 0), peek_u32(data, 4)) {
            (Some(0), None) => data.len() == 4,
            (Some(1..=65_536), Some(length @ 1..=LONGEST)) => {
                data.iter().skip(8).take(length as usize).all(|b| is_plain(*b))
            }
            _ => false,
        })
    }

    fn open_as(source: Source, _: &Options) -> Result<Self> {
        Self::open(source)
    }
}

impl Reader for Splash {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let origin = self.source.view("file").offset();
        let end = self.index().end as u64;
        let size = self.source.bytes().len() as u64;
        let mut sections = vec![
            Section::new("header", origin, 4, None),
            Section::new(
                "boxes",
                origin.saturating_add(4),
                end.saturating_sub(4),
                Some(self.index().boxes.len() as u64),
            ),
        ];
        if end < size {
            sections.push(Section::new("unmapped", origin.saturating_add(end), size.saturating_sub(end), None));
        }
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Shapes, Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let [min, max] = [["min_x", "min_y", "min_z"], ["max_x", "max_y", "max_z"]]
            .map(|names| names.map(|name| Column::f32(name).brief().writable()));
        let table = DeclaredTable::new(
            "boxes",
            || Ok(self.index().boxes.len()),
            |row| {
                let at = self.index().boxes.get(row);
                at.map(|at| read(&mut Cursor::new(self.source.view("box").at(*at)))).transpose()
            },
        )
        .column(Column::new("name", Kind::Text).brief().key().accepts(NAME), |found: &SplashBox<'_>| {
            Ok(found.name.into())
        })
        .columns(min, |found, axis| Ok(found.min.get(axis).copied().into()))
        .columns(max, |found, axis| Ok(found.max.get(axis).copied().into()))
        .with_writable_rows()
        .with_box(|found| Ok(Some(OrientedBox::of_corners(found.min, found.max))))
        .damaged(|| self.index().damage.clone());
        vec![Box::new(table)]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(found) = self.named(entry)? else { return Ok(false) };
        out.begin_map()?;
        out.field("name", &found.name.into())?;
        out.field("min", &Value::floats(found.min))?;
        out.field("max", &Value::floats(found.max))?;
        out.end_map()?;
        Ok(true)
    }

    fn verify(&self, progress: &Progress) -> Report {
        progress.announce(self.index().boxes.len() as u64);
        let mut boxes = Check::new("boxes").with_detail(format!("{} boxes", self.index().boxes.len()));
        let mut corners = Check::new("corners").with_detail("finite, and the first not beyond the second");
        match self.stored() {
            Err(error) => boxes.fail(error),
            Ok(all) => {
                for (i, stored) in all.enumerate() {
                    let Some((range, found)) = boxes.note(stored) else { continue };
                    if !found.min.iter().zip(&found.max).all(|(a, b)| a.is_finite() && b.is_finite() && a <= b) {
                        corners.fail(self.source.view("box").at(range.start).error(crate::ErrorKind::damaged(
                            format!("box {i} ({}) has no corners in order", found.name),
                        )));
                    }
                    progress.advance(1);
                }
            }
        }
        let mut end = Check::new("end").with_detail("nothing after the boxes");
        end.note(Cursor::new(self.source.view("end").at(self.index().end)).expect_end());
        Report { checks: vec![boxes, corners, end] }
    }
}
