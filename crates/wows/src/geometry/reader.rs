//! The format as commands see it.

use super::layout::GeometryHeader;
use super::{Geometry, NoCompanions, tables, verify, with_gaps};
use crate::bytes::View;
use crate::error::{Error, Result};
use crate::hole::is_hole;
use crate::materials;
use crate::models::Meshes;
use crate::options::Options;
use crate::reader::{Enriched, Facet, FileFormat, Likeness, Reader, Section, facets};
use crate::report::{Progress, Report};
use crate::scene::Shapes;
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::writable::Writable;
use std::borrow::Cow;
use std::sync::Arc;

impl FileFormat for Geometry {
    const NAME: &'static str = "geometry";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "Meshes, armour and collision hulls";
    const ENDINGS: &'static [&'static str] = &[".geometry"];

    /// `companions`: text models beside the file are not read.
    fn configure(setting: &str, _: &[u8], _: &str, options: &Options) -> Result<Option<Options>> {
        Ok((setting == "companions").then(|| options.clone().with(Arc::new(NoCompanions))))
    }

    fn likeness(data: &[u8]) -> Likeness {
        // Six counts and six pointers: the first pointer that is not null leads to the end of the header, and each array
        // ends in the file.
        let Ok(header) = View::new(data, "header").read::<GeometryHeader>() else { return Likeness::No };
        let fits = header.arrays().into_iter().all(|array| {
            let start = usize::try_from(array.pointer.get()).ok().filter(|&start| start >= size_of::<GeometryHeader>());
            let end = array.count.checked_mul(array.size).and_then(|bytes| start?.checked_add(bytes));
            array.count == 0 || end.is_some_and(|end| end <= data.len())
        });
        let first = header.arrays().map(|array| array.pointer.get()).into_iter().find(|&pointer| pointer != 0);
        let first_fits = first.is_none_or(|first| first == size_of::<GeometryHeader>() as i64);
        Likeness::by_shape(fits && first_fits && !is_hole(data, size_of::<GeometryHeader>()))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open_with(source, options)
    }
}

impl Reader for Geometry {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let end = self.source.bytes().len() as u64;
        let mut sections = with_gaps(self.pieces(), end);
        let origin = self.view("file").offset();
        sections.iter_mut().for_each(|s| s.offset = s.offset.saturating_add(origin));
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Meshes, Shapes, Enriched]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::all(self)
    }

    fn table(&self, name: &str) -> Option<Box<dyn Table + '_>> {
        tables::one(self, name)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        tables::facts(self)
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        tables::cat(self, entry, out)
    }

    fn entry_row(&self, entry: &str) -> Result<Option<(Box<dyn Table + '_>, usize)>> {
        tables::entry_row(self, entry)
    }

    fn warnings(&self) -> Vec<String> {
        // Only armour shows names of materials.
        let names = self.names.as_ref().filter(|_| self.armor_prototypes().is_ok_and(|all| !all.is_empty()));
        let of_names = names.and_then(|names| materials::warning(names.build()));
        of_names.into_iter().chain(names.and_then(|_| self.unknown_thickness())).collect()
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, progress)
    }
}

impl Enriched for Geometry {
    fn alone(&self) -> Option<&dyn Reader> {
        Some(Self::alone(self)? as &dyn Reader)
    }

    fn companion_damage(&self) -> Vec<Error> {
        // Parameters take a while to read: a command that shows no plates does not need them.
        let of_parameters = self.made.uses.get().and_then(|uses| uses.as_ref().err().cloned());
        self.companions().err().into_iter().chain(of_parameters).collect()
    }
}
