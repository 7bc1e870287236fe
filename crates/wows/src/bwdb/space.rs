use super::layout::{Instance, SpaceHeader};
use super::models::array_at;
use super::prototypes::SpaceLight;
use crate::archive::names::NameSources;
use crate::bytes::View;
use crate::error::Result;
use crate::hole::no_hole;
use crate::packed_string::PackedString;
use crate::source::Source;
use assetq_core::{Openable, Options};
use std::sync::Arc;

/// An open `space.bin` (docs/formats/bwdb.md §9): the placed models of a space, and its point lights.
#[derive(Debug)]
pub struct Space {
    pub(super) source: Source,
    /// The position of each of [`ARRAYS`], and its number of entries.
    pub(super) arrays: [(usize, usize); 8],
    /// The file itself has none.
    pub(super) names: Arc<NameSources>,
}

/// The arrays of a `space.bin` in header order, with the size of an entry where it is known. The second, third and
/// last ones are named by the place of their count: nothing says what they hold.
pub(super) const ARRAYS: [(&str, usize); 8] = [
    ("instances", size_of::<Instance>()),
    ("array_04", 0x58),
    ("array_08", 0x68),
    ("point_lights", <SpaceLight<'static> as super::record::Typed>::SIZE),
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
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let view = source.view("header");
        let header = view.read::<SpaceHeader>()?;
        no_hole(view, size_of::<SpaceHeader>())?;
        let mut arrays = [(0usize, 0usize); 8];
        for (slot, ((name, stride), (count, data))) in
            arrays.iter_mut().zip(ARRAYS.iter().zip(header.counts.iter().zip(&header.data)))
        {
            let count = count.get() as usize;
            *slot = (array_at(view.part(name), data, count, *stride)?, count);
        }
        Ok(Self { source, arrays, names: Arc::default() })
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The position of an array, and its number of entries.
    pub(super) fn array(&self, index: usize) -> (View<'_>, usize) {
        let (at, count) = *self.arrays.get(index).expect("arrays are named by constants");
        (self.source.view("").at(at), count)
    }

    /// The placed models, in file order.
    pub fn instances(&self) -> &[Instance] {
        let (view, count) = self.array(INSTANCES);
        view.array(count).expect("opening checked that the array is in the file")
    }

    /// The numbers of all instances of the model with this path id.
    pub(super) fn all_with(&self, path_id: u64) -> Vec<usize> {
        let instances = self.instances().iter().enumerate();
        instances.filter(|(_, instance)| instance.id.get() == path_id).map(|(row, _)| row).collect()
    }

    /// The identifier that some instances carry.
    ///
    /// # Errors
    /// When it leaves the file or is not UTF-8.
    pub fn instance_name<'a>(&'a self, instance: &'a Instance) -> Result<Option<&'a str>> {
        let view = self.source.view("instance name").locate(&instance.name);
        PackedString::text_at(&view).map(|name| Some(name).filter(|n| !n.is_empty()))
    }

    pub fn light_count(&self) -> usize {
        self.array(LIGHTS).1
    }

    /// The point light with this number; `None` past the end.
    pub fn light(&self, index: usize) -> Option<SpaceLight<'_>> {
        let (view, count) = self.array(LIGHTS);
        let skip = index.checked_mul(<SpaceLight<'_> as super::record::Typed>::SIZE)?;
        (index < count).then(|| super::record::Typed::read(view.part("point light").skip(skip)).ok()).flatten()
    }
}
