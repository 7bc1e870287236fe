use super::layout::ModelsHeader;
use super::prototypes::MergedModel;
use super::record::Prototype as _;
use super::{tables, verify, walk};
use crate::archive::names::NameSources;
use crate::budget::Budget;
use crate::bytes::{is_hole, no_hole, peek_u32};
use crate::error::Result;
use crate::id;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::{FileFormat, Likeness, Reader, Section};
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::scene::Placements;
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

pub use super::prototypes::Skeleton;

/// An open `models.bin` (docs/formats/bwdb.md §8): the models of a space, each with its visual in one record.
#[derive(Debug)]
pub struct Models {
    source: Source,
    pub(super) counts: tables::Counts,
    models: usize,
    models_at: usize,
    skeletons: usize,
    skeletons_at: usize,
    /// The file itself has none.
    pub(super) names: Arc<NameSources>,
    /// For asking often whether a model has an id.
    pub(super) ids: Lazy<HashSet<u64>>,
}

impl Models {
    /// Opens `source`: reads its header and checks that models and skeletons are in the file.
    ///
    /// # Errors
    /// When they do not.
    pub fn open(source: Source) -> Result<Self> {
        let view = source.view("header");
        let header = view.read::<ModelsHeader>()?;
        no_hole(view, size_of::<ModelsHeader>())?;
        let array = |part, pointer: i64, count: usize, stride: usize| {
            let start = view.part(part);
            if count == 0 {
                return Ok(0);
            }
            let start = start.follow(pointer)?;
            start.take(count.saturating_mul(stride))?;
            Ok(start.position())
        };
        let (models, skeletons) = (header.models.get() as usize, usize::from(header.skeletons.get()));
        let models_at = array("models", header.models_data.get(), models, Self::MODEL_SIZE)?;
        let skeletons_at = array("skeletons", header.skeletons_data.get(), skeletons, Self::SKELETON_SIZE)?;
        Ok(Self {
            counts: tables::Counts::default(),
            models,
            models_at,
            skeletons,
            skeletons_at,
            names: Arc::default(),
            ids: Lazy::default(),
            source,
        })
    }

    /// Bytes of one model.
    pub const MODEL_SIZE: usize = <MergedModel<'static> as super::record::Field>::SIZE;
    /// Bytes of one skeleton.
    pub const SKELETON_SIZE: usize = <Skeleton<'static> as super::record::Field>::SIZE;

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Number of models.
    pub fn len(&self) -> usize {
        self.models
    }

    /// Whether there are no models.
    pub fn is_empty(&self) -> bool {
        self.models == 0
    }

    /// The model with this number; `None` past the end.
    pub fn model(&self, index: usize) -> Option<MergedModel<'_>> {
        let at = index.checked_mul(Self::MODEL_SIZE)?.checked_add(self.models_at)?;
        let view = self.source.view("model").at(at);
        (index < self.models).then(|| super::record::Field::read(view).ok()).flatten()
    }

    /// The models in file order.
    pub fn models(&self) -> impl Iterator<Item = MergedModel<'_>> {
        (0..self.models).filter_map(|i| self.model(i))
    }

    /// How many models there are.
    pub fn model_count(&self) -> usize {
        self.models
    }

    /// The number of the model with this path id, by a scan: there are some hundreds.
    pub fn find(&self, path_id: u64) -> Option<usize> {
        self.models().position(|m| m.id().is_ok_and(|id| id.0 == path_id))
    }

    /// The numbers of all models with this path id: several if the file repeats an id.
    pub(super) fn all_with(&self, path_id: u64) -> Vec<usize> {
        let has = |index: &usize| self.model(*index).and_then(|m| m.id().ok()).is_some_and(|id| id.0 == path_id);
        (0..self.models).filter(has).collect()
    }

    /// The model with this path id.
    pub fn lookup(&self, path_id: u64) -> Option<MergedModel<'_>> {
        self.find(path_id).and_then(|i| self.model(i))
    }

    /// The range of the models, if there are any.
    #[cfg(feature = "edit")]
    pub(super) fn models_at(&self) -> usize {
        self.models_at
    }

    /// The range of the skeletons, if there are any.
    #[cfg(feature = "edit")]
    pub(super) fn skeletons_at(&self) -> usize {
        self.skeletons_at
    }

    /// Number of skeletons.
    pub fn skeleton_count(&self) -> usize {
        self.skeletons
    }

    /// The skeleton with this number; `None` past the end.
    pub fn skeleton(&self, index: usize) -> Option<Skeleton<'_>> {
        let at = index.checked_mul(Self::SKELETON_SIZE)?.checked_add(self.skeletons_at)?;
        let view = self.source.view("skeleton").at(at);
        (index < self.skeletons).then(|| super::record::Field::read(view).ok()).flatten()
    }

    pub(super) fn names(&self) -> &dyn super::NameLookup {
        &*self.names
    }
}

impl FileFormat for Models {
    const NAME: &'static str = "models";
    const ENDINGS: &'static [&'static str] = &["models.bin"];

    fn likeness(data: &[u8]) -> Likeness {
        // The models, or without models the skeletons, follow the header (§8).
        let pointer = |at: usize| peek_u32(data, at).zip(peek_u32(data, at.saturating_add(4)));
        let fits = match peek_u32(data, 0) {
            Some(0) => pointer(0x08) == Some((0, 0)) && matches!(pointer(0x10), Some((0 | 0x18, 0))),
            _ => pointer(0x08) == Some((0x18, 0)),
        };
        Likeness::by_shape(fits && !is_hole(data, size_of::<ModelsHeader>()))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Ok(Self { names: options.get().unwrap_or_default(), ..Self::open(source)? })
    }
}

impl Reader for Models {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        String::new()
    }

    fn sections(&self) -> Vec<Section> {
        let array = |name, at: usize, count: usize, stride: usize| {
            let size = count.saturating_mul(stride) as u64;
            Section::new(name, self.source.view("").at(at).offset(), size, Some(count as u64))
        };
        vec![
            Section::new("header", self.source.view("").offset(), size_of::<ModelsHeader>() as u64, None),
            array("models", self.models_at, self.models, Self::MODEL_SIZE),
            array("skeletons", self.skeletons_at, self.skeletons, Self::SKELETON_SIZE),
        ]
    }

    #[cfg(feature = "edit")]
    fn writable(&self) -> Option<&dyn crate::writable::Writable> {
        Some(self)
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::models(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let header = self.source.view("").read::<ModelsHeader>();
        vec![("bones".into(), header.ok().map(|h| h.bones.get()).into())]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let by_index = || entry.parse().ok().filter(|&i| i < self.models);
        let asked = id::parse(entry).unwrap_or_else(|| id::of_path(entry));
        let Some(index) = self.find(asked).or_else(by_index) else { return Ok(false) };
        let Some(model) = self.model(index) else { return Ok(false) };
        out.begin_map()?;
        out.field("index", &index.into())?;
        out.field("path", &self.names().path(model.id()?)?.map_or(Value::Null, Value::Text))?;
        out.field("offset", &model.view().offset().into())?;
        out.field("size", &Self::MODEL_SIZE.into())?;
        let budget = Budget::of_arrays(self.source.bytes().len());
        let mut shown = walk::ValueBuilder::new(self.names(), &budget);
        model.walk_fields(&mut shown);
        let (fields, errors) = shown.into_fields();
        for (name, value) in &fields {
            out.field(name, value)?;
        }
        out.end_map()?;
        errors.into_iter().next().map_or(Ok(true), Err)
    }

    fn relations(&self) -> Option<&dyn Relations> {
        Some(self)
    }

    fn placements(&self) -> Option<&dyn Placements> {
        Some(self)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::models(self, progress)
    }
}
