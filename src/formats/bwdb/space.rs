use super::layout::{Instance, SpaceHeader};
use super::prototypes::SpaceLight;
use super::{tables, verify};
use crate::archive::names::NameSources;
use crate::bytes::{View, no_hole, peek_u32};
use crate::error::Result;
use crate::id;
use crate::options::Options;
use crate::reader::{FileFormat, Likeness, Reader, Section};
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::scene::Placements;
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::sync::Arc;

/// An open `space.bin` (docs/formats/bwdb.md §9): the placed models of a space, and its point lights.
#[derive(Debug)]
pub struct Space {
    source: Source,
    arrays: [(usize, usize); 8],
    /// The file itself has none.
    pub(super) names: Arc<NameSources>,
}

/// The arrays of a `space.bin` in header order, with the size of an entry where it is known. The second, third and
/// last ones are named by the place of their count: nothing says what they hold.
pub(super) const ARRAYS: [(&str, usize); 8] = [
    ("instances", size_of::<Instance>()),
    ("array_04", 0x58),
    ("array_08", 0x68),
    ("point_lights", <SpaceLight<'static> as super::record::Field>::SIZE),
    ("probes", 0x70),
    ("decals", 0x70),
    ("array_18", 0),
    ("array_1c", 0),
];
const INSTANCES: usize = 0;
const LIGHTS: usize = 3;

impl Space {
    /// Opens `source`: reads its header and checks that every array is in the file.
    ///
    /// # Errors
    /// When one does not.
    pub fn open(source: Source) -> Result<Self> {
        let view = source.view("header");
        let header = view.read::<SpaceHeader>()?;
        no_hole(view, size_of::<SpaceHeader>())?;
        let mut arrays = [(0usize, 0usize); 8];
        for (slot, ((name, stride), (count, data))) in
            arrays.iter_mut().zip(ARRAYS.iter().zip(header.counts.iter().zip(&header.data)))
        {
            let count = count.get() as usize;
            if count > 0 {
                let start = view.part(name).follow(data.get())?;
                start.take(count.saturating_mul(*stride))?;
                *slot = (start.position(), count);
            }
        }
        Ok(Self { source, arrays, names: Arc::default() })
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        &self.source
    }

    fn array(&self, index: usize) -> (View<'_>, usize) {
        let (at, count) = self.arrays.get(index).copied().unwrap_or_default();
        (self.source.view("").at(at), count)
    }

    /// The position of an array, and its number of entries.
    #[cfg(feature = "edit")]
    pub(super) fn place_of(&self, index: usize) -> (usize, usize) {
        self.arrays.get(index).copied().unwrap_or_default()
    }

    /// The placed models, in file order.
    pub fn instances(&self) -> &[Instance] {
        let (view, count) = self.array(INSTANCES);
        view.array(count).unwrap_or_default()
    }

    /// The identifier that some instances carry.
    ///
    /// # Errors
    /// When it leaves the file or is not UTF-8.
    pub fn instance_name<'a>(&'a self, instance: &'a Instance) -> Result<Option<&'a str>> {
        let view = self.source.view("instance name").locate(&instance.name);
        view.packed_str().map(|name| Some(name).filter(|n| !n.is_empty()))
    }

    /// Number of point lights.
    pub fn light_count(&self) -> usize {
        self.array(LIGHTS).1
    }

    /// The point light with this number; `None` past the end.
    pub fn light(&self, index: usize) -> Option<SpaceLight<'_>> {
        let (view, count) = self.array(LIGHTS);
        let skip = index.checked_mul(<SpaceLight<'_> as super::record::Field>::SIZE)?;
        (index < count).then(|| super::record::Field::read(view.part("point light").skip(skip)).ok()).flatten()
    }
}

impl FileFormat for Space {
    const NAME: &'static str = "space";
    const ENDINGS: &'static [&'static str] = &["space.bin"];

    fn likeness(data: &[u8]) -> Likeness {
        // Eight counts and eight pointers. The first pointer that is not null leads to the end of the header (§9).
        let count =
            peek_u32(data, 0).is_some_and(|count| (count as usize).saturating_mul(size_of::<Instance>()) <= data.len());
        let mut pointers = (0x20..0x60).step_by(8).map(|at| peek_u32(data, at));
        let first = pointers.find(|pointer| *pointer != Some(0));
        Likeness::by_shape(data.len() >= 0x60 && count && first == Some(Some(0x60)))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Ok(Self { names: options.get().unwrap_or_default(), ..Self::open(source)? })
    }
}

impl Reader for Space {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        String::new()
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections =
            vec![Section::new("header", self.source.view("").offset(), size_of::<SpaceHeader>() as u64, None)];
        for (index, (name, stride)) in ARRAYS.into_iter().enumerate() {
            let (view, count) = self.array(index);
            if count > 0 {
                let size = count.saturating_mul(stride) as u64;
                sections.push(Section::new(name, view.offset(), size, Some(count as u64)));
            }
        }
        sections.sort_by_key(|s| s.offset);
        sections
    }

    #[cfg(feature = "edit")]
    fn writable(&self) -> Option<&dyn crate::writable::Writable> {
        Some(self)
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::space(self)
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let by_name =
            || self.instances().iter().position(|i| self.instance_name(i).is_ok_and(|n| n.is_some_and(|n| n == entry)));
        let by_id = || {
            let id = id::parse(entry)?;
            self.instances().iter().position(|i| i.id.get() == id)
        };
        let by_index = || entry.parse().ok().filter(|&i: &usize| i < self.instances().len());
        let Some(index) = by_index().or_else(by_id).or_else(by_name) else { return Ok(false) };
        let table = tables::instances(self);
        out.begin_map()?;
        let mut failed = None;
        for (column, info) in table.columns().iter().enumerate() {
            let value = table.value(index, column).unwrap_or_else(|e| {
                failed.get_or_insert(e);
                Value::Null
            });
            out.field(&info.name, &value)?;
        }
        out.end_map()?;
        failed.map_or(Ok(true), Err)
    }

    fn relations(&self) -> Option<&dyn Relations> {
        Some(self)
    }

    fn placements(&self) -> Option<&dyn Placements> {
        Some(self)
    }

    #[cfg(feature = "export")]
    fn shapes(&self) -> Option<&dyn crate::scene::Shapes> {
        Some(self)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::space(self, progress)
    }
}
