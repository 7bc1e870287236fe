//! The three kinds of files as commands see them.

use super::layout::ModelsHeader;
use super::layout::{Body, BwdbHeader};
use super::layout::{Instance, SpaceHeader};
use super::models::Models;
use super::record::ValueBuilder;
use super::space::{ARRAYS, Space};
use super::text_layouts::Layouts;
use super::{Database, cat, compare, layout, tables, verify};
use crate::budget::Budget;
use crate::compare::Comparison;
use crate::error::{Error, Result};
use crate::hole::is_hole;
use crate::id;
use crate::models::Placements;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets, setting_text};
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::scene::{ShapeData, Shapes};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use crate::writable::Writable;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use zerocopy::FromBytes as _;

/// The caller's options of this type, or the default.
pub(super) fn option<T: Default + Send + Sync + 'static>(options: &Options) -> Arc<T> {
    options.get().unwrap_or_default()
}

impl FileFormat for Database {
    const NAME: &'static str = "bwdb";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The database of models, materials and effects";
    /// The models of World of Warships: Legends, which are beside its database. Their error names the game.
    const ENDINGS: &'static [&'static str] = &["prototypes.index.data", "prototypes.data"];
    const OWN_ENDINGS: &'static [&'static str] = &["assets.bin"];
    /// Records of other builds have other fields.
    const OWN_TABLES: bool = true;

    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_magic([layout::MAGIC, layout::MAGIC_IN_ORDER].iter().any(|magic| data.starts_with(magic)))
    }

    /// `layouts`: those that are tried before the built-in ones, the last file first.
    fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Option<Options>> {
        if setting != "layouts" {
            return Ok(None);
        }
        let known = option::<Layouts>(options);
        Ok(Some(options.clone().with(Arc::new(known.extended(Layouts::parse(&setting_text(given, from)?, from)?)))))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        let name = source.name().to_ascii_lowercase();
        if Self::likeness(source.bytes()) == Likeness::No && Self::ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            return Err(crate::legends(source.view("")));
        }
        let db = Self::open_with(source, option::<Layouts>(options))?;
        Ok(Self { more_names: option(options), ..db })
    }
}

impl Reader for Database {
    fn source(&self) -> &Source {
        &self.source
    }

    fn version(&self) -> String {
        match self.source.view("header").read::<BwdbHeader>() {
            Ok(h) => format!("{}.{}", h.version, h.packed),
            Err(_) => String::new(),
        }
    }

    fn sections(&self) -> Vec<Section> {
        let (s, from) = (&self.spans, &self.source);
        let view = from.view("");
        let mut sections = vec![
            Section::new("header", view.offset(), size_of::<BwdbHeader>() as u64, None),
            Section::new("body header", view.skip(size_of::<BwdbHeader>()).offset(), size_of::<Body>() as u64, None),
            s.string_buckets.section("strings.buckets", from),
            s.string_values.section("strings.values", from),
            s.string_data.section("strings.data", from),
            s.resource_buckets.section("resources.buckets", from),
            s.resource_values.section("resources.values", from),
            s.paths.section("paths", from),
            s.databases.section("databases", from),
        ];
        for blob in self.databases().flatten() {
            let name = format!("database {} {}", blob.index(), blob.type_name_or_magic());
            sections.push(Section::new(name, blob.view().offset(), blob.size() as u64, Some(blob.len() as u64)));
        }
        sections.sort_by_key(|s| s.offset);
        sections
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Relations, Placements, ShapeData, Writable]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::all(self)
    }

    fn absent(&self, table: &str) -> Option<String> {
        tables::absent(self, table)
    }

    /// The type of a damaged database is not known, so that any table may be its table.
    fn table_damage(&self, _: &str) -> Option<Error> {
        self.databases().find_map(Result::err)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let mut facts = Vec::new();
        if let Ok(header) = self.source.view("header").read::<BwdbHeader>() {
            facts.push(("checksum".into(), Value::Id32(header.checksum.get())));
        }
        let notes = self.databases().filter_map(|blob| match blob {
            Ok(blob) => blob.note().map(Value::owned),
            Err(error) => Some(Value::owned(error.to_string())),
        });
        let notes: Vec<Value<'_>> = notes.collect();
        if !notes.is_empty() {
            facts.push(("notes".into(), Value::List(notes)));
        }
        facts
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        cat::cat_resource(self, entry, out)
    }

    fn compared<'a>(&'a self, new: &'a dyn Reader) -> Option<Box<dyn Comparison<'a> + 'a>> {
        let new: &dyn Any = new;
        Some(Box::new(compare::DatabaseComparison { old: self, new: new.downcast_ref()? }))
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::database(self, progress)
    }
}

impl FileFormat for Models {
    const NAME: &'static str = "models";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The models of a space";
    const ENDINGS: &'static [&'static str] = &["models.bin"];

    fn likeness(data: &[u8]) -> Likeness {
        // The models, or without models the skeletons, follow the header (§8).
        const END: i64 = size_of::<ModelsHeader>() as i64;
        let Ok((header, _)) = ModelsHeader::ref_from_prefix(data) else { return Likeness::by_shape(false) };
        let fits = match (header.models.get(), header.models_data.get()) {
            (0, 0) => matches!(header.skeletons_data.get(), 0 | END),
            (_, pointer) => pointer == END,
        };
        Likeness::by_shape(fits && !is_hole(data, size_of::<ModelsHeader>()))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Ok(Self { names: option(options), ..Self::open(source)? })
    }
}

impl Reader for Models {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let view = self.source.view("");
        let header = Section::new("header", view.offset(), size_of::<ModelsHeader>() as u64, None);
        let arrays = [
            ("models", self.models_at, self.models, Self::MODEL_SIZE),
            ("skeletons", self.skeletons_at, self.skeletons, Self::SKELETON_SIZE),
        ];
        let arrays = arrays.into_iter().map(|(name, at, count, stride)| {
            Section::new(name, view.at(at).offset(), count.saturating_mul(stride) as u64, Some(count as u64))
        });
        std::iter::once(header).chain(arrays).collect()
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Relations, Placements, ShapeData]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::models(self)
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let header = self.source.view("").read::<ModelsHeader>();
        vec![("bones".into(), header.ok().map(|h| h.bones.get()).into())]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let asked = id::parse(entry).unwrap_or_else(|| id::of_path(entry));
        let Some(index) = self.find(asked).or_else(|| entry.parse().ok().filter(|&i| i < self.models)) else {
            return Ok(false);
        };
        let Some(model) = self.model(index) else { return Ok(false) };
        out.begin_map()?;
        out.field("index", &index.into())?;
        out.field("path", &self.names().path(model.id()?.0)?.map_or(Value::Null, Value::Text))?;
        out.field("offset", &model.view().offset().into())?;
        out.field("size", &Self::MODEL_SIZE.into())?;
        let budget = Budget::of_arrays(self.source.bytes().len());
        let mut shown = ValueBuilder::new(self.names(), &budget);
        model.walk_fields(&mut shown);
        shown.show(out)
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::models(self, progress)
    }
}

impl FileFormat for Space {
    const NAME: &'static str = "space";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "A space: the places of its models";
    const ENDINGS: &'static [&'static str] = &["space.bin"];

    fn likeness(data: &[u8]) -> Likeness {
        // Eight counts and eight pointers. The first pointer that is not null leads to the end of the header (§9).
        let Ok((header, _)) = SpaceHeader::ref_from_prefix(data) else { return Likeness::by_shape(false) };
        let [instances, ..] = header.counts.map(|count| (count.get() as usize).saturating_mul(size_of::<Instance>()));
        let first = header.data.iter().map(|pointer| pointer.get()).find(|pointer| *pointer != 0);
        Likeness::by_shape(instances <= data.len() && first == Some(size_of::<SpaceHeader>() as i64))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Ok(Self { names: option(options), ..Self::open(source)? })
    }
}

impl Reader for Space {
    fn source(&self) -> &Source {
        &self.source
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

    fn facets(&self) -> &'static [Facet] {
        facets![Writable, Relations, Placements, ShapeData, Shapes]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::space(self)
    }

    fn entry_row(&self, entry: &str) -> Result<Option<(Box<dyn Table + '_>, usize)>> {
        let (all, id) = (self.instances(), id::parse(entry));
        let by_index = entry.parse().ok().filter(|&index| index < all.len());
        let by_id = by_index.or_else(|| all.iter().position(|instance| Some(instance.id.get()) == id));
        let found = by_id.or_else(|| all.iter().position(|i| self.instance_name(i).is_ok_and(|n| n == Some(entry))));
        Ok(found.map(|index| -> (Box<dyn Table + '_>, usize) { (Box::new(tables::instances(self)), index) }))
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::space(self, progress)
    }
}
