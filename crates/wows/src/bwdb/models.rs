use super::counts::Counts;
use super::layout::ModelsHeader;
use super::prototypes::MergedModel;
use crate::archive::names::NameSources;
use crate::bytes::{View, le};
use crate::error::Result;
use crate::hole::no_hole;
use crate::lazy::Lazy;
use crate::source::Source;
use assetq_core::{Openable, Options};
use std::collections::HashSet;
use std::sync::Arc;

pub use super::prototypes::Skeleton;

/// An open `models.bin` (docs/formats/bwdb.md §8): the models of a space, each with its visual in one record.
#[derive(Debug)]
pub struct Models {
    pub(super) source: Source,
    pub(super) counts: Counts,
    pub(super) models: usize,
    pub(super) models_at: usize,
    pub(super) skeletons: usize,
    pub(super) skeletons_at: usize,
    /// The file itself has none.
    pub(super) names: Arc<NameSources>,
    /// For asking often whether a model has an id.
    pub(super) ids: Lazy<HashSet<u64>>,
}

/// The position of an array; 0 for an empty one.
pub(super) fn array_at<'a>(view: View<'a>, pointer: &'a le::I64, count: usize, stride: usize) -> Result<usize> {
    if count == 0 {
        return Ok(0);
    }
    let start = view.follow_stored(pointer)?;
    start.take(count.saturating_mul(stride))?;
    Ok(start.position())
}

impl Models {
    /// Opens `source`: reads its header and checks that models and skeletons are in the file.
    ///
    /// # Errors
    /// When they do not.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        let view = source.view("header");
        let header = view.read::<ModelsHeader>()?;
        no_hole(view, size_of::<ModelsHeader>())?;
        let (models, skeletons) = (header.models.get() as usize, usize::from(header.skeletons.get()));
        let models_at = array_at(view.part("models"), &header.models_data, models, Self::MODEL_SIZE)?;
        let skeletons_at = array_at(view.part("skeletons"), &header.skeletons_data, skeletons, Self::SKELETON_SIZE)?;
        Ok(Self {
            counts: Counts::default(),
            models,
            models_at,
            skeletons,
            skeletons_at,
            names: Arc::default(),
            ids: Lazy::default(),
            source,
        })
    }

    pub const MODEL_SIZE: usize = <MergedModel<'static> as super::record::Typed>::SIZE;
    pub const SKELETON_SIZE: usize = <Skeleton<'static> as super::record::Typed>::SIZE;

    pub fn source(&self) -> &Source {
        &self.source
    }

    pub fn len(&self) -> usize {
        self.models
    }

    pub fn is_empty(&self) -> bool {
        self.models == 0
    }

    /// The model with this number; `None` past the end.
    pub fn model(&self, index: usize) -> Option<MergedModel<'_>> {
        let at = index.checked_mul(Self::MODEL_SIZE)?.checked_add(self.models_at)?;
        let view = self.source.view("model").at(at);
        (index < self.models).then(|| super::record::Typed::read(view).ok()).flatten()
    }

    pub fn models(&self) -> impl Iterator<Item = MergedModel<'_>> {
        (0..self.models).filter_map(|i| self.model(i))
    }

    /// The number of the model with this path id, by a scan: there are some hundreds.
    pub fn find(&self, path_id: u64) -> Option<usize> {
        self.models().position(|m| m.id().is_ok_and(|id| id.0 == path_id))
    }

    /// The numbers of all models with this path id: several if the file repeats an id.
    pub(super) fn all_with(&self, path_id: u64) -> Vec<usize> {
        (0..self.models)
            .filter(|index| self.model(*index).and_then(|m| m.id().ok()).is_some_and(|id| id.0 == path_id))
            .collect()
    }

    /// The model with this path id.
    pub fn lookup(&self, path_id: u64) -> Option<MergedModel<'_>> {
        self.find(path_id).and_then(|i| self.model(i))
    }

    pub fn skeleton_count(&self) -> usize {
        self.skeletons
    }

    /// The skeleton with this number; `None` past the end.
    pub fn skeleton(&self, index: usize) -> Option<Skeleton<'_>> {
        let at = index.checked_mul(Self::SKELETON_SIZE)?.checked_add(self.skeletons_at)?;
        let view = self.source.view("skeleton").at(at);
        (index < self.skeletons).then(|| super::record::Typed::read(view).ok()).flatten()
    }

    pub(super) fn names(&self) -> &dyn super::NameLookup {
        &*self.names
    }
}
