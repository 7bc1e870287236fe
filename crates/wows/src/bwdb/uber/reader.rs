//! The models of Legends as commands see them.

use super::super::record::{Field as _, Leaf, ValueBuilder, Walker as _};
use super::super::{reader::option, tables};
use super::{DATA, INDEX, IndexHeader, ModelSpan, UberMaterial, UberModel, UberModels, verify};
use crate::archive;
use crate::budget::Budget;
use crate::bytes::{View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::id;
use crate::options::Options;
use crate::reader::{Facet, FileFormat, Likeness, Reader, Section, facets};
use crate::relations::{IdTexts, Relations};
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;

const INDEX_ENDING: &str = ".index.data";
const DATA_ENDING: &str = ".data";

/// The name of the other file of a pair, and whether `name` is the index.
fn partner(name: &str) -> (String, bool) {
    let name = name.rsplit(['/', '\\', archive::MARK]).next().unwrap_or(name);
    match (without(name, INDEX_ENDING), without(name, DATA_ENDING)) {
        (Some(stem), _) => (format!("{stem}{DATA_ENDING}"), true),
        (None, Some(stem)) => (format!("{stem}{INDEX_ENDING}"), false),
        // Known by its first bytes: only an index is.
        (None, None) => (DATA.to_owned(), true),
    }
}

/// `name` without its ending, if it has this one in any case.
fn without<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let (stem, found) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    found.eq_ignore_ascii_case(ending).then_some(stem)
}

/// Whether `data` begins with an index: `None` if its parts are not in it.
fn has_index(data: &[u8]) -> Option<bool> {
    /// Keys that are compared.
    const KEYS: usize = 64;
    let view = View::new(data, INDEX);
    let header: &IndexHeader = view.read().ok()?;
    let count = header.count.get() as usize;
    let spans: &[ModelSpan] = view.at(usize::try_from(header.values.get()).ok()?).array(count).ok()?;
    let keys: &[le::U64] = view.at(usize::try_from(header.keys.get()).ok()?).array(count).ok()?;
    let size = size_of::<IndexHeader>().saturating_add(size_of_val(spans)).saturating_add(size_of_val(keys));
    let ascends = keys.iter().zip(keys.iter().skip(1)).take(KEYS).all(|(a, b)| a.get() < b.get());
    Some(count > 0 && size <= data.len() && ascends)
}

impl FileFormat for UberModels {
    const NAME: &'static str = "prototypes";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The models of Legends";
    const ENDINGS: &'static [&'static str] = &[INDEX, DATA];

    fn likeness(data: &[u8]) -> Likeness {
        Likeness::by_shape(has_index(data) == Some(true))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        let (other, is_index) = partner(source.name());
        let beside = archive::beside(&source, options, &other)?;
        let opened = if is_index {
            Self::open(source, beside)?
        } else {
            let index = beside.ok_or_else(|| {
                let what = format!("{other}, which finds the models in this file and must be beside it,");
                Error::of_part(ErrorKind::NotInstalled { what }, "")
            })?;
            Self { source: source.clone(), ..Self::open(index, Some(source))? }
        };
        Ok(Self { names: option(options), ..opened })
    }
}

impl Reader for UberModels {
    fn source(&self) -> &Source {
        &self.source
    }

    /// The sections of the index, whichever file was opened.
    fn sections(&self) -> Vec<Section> {
        let view = self.index.view("");
        let mut sections = vec![Section::new("header", view.offset(), size_of::<IndexHeader>() as u64, None)];
        let arrays = [("values", self.values_at, size_of::<ModelSpan>()), ("keys", self.keys_at, size_of::<le::U64>())];
        for (name, at, size) in arrays {
            let size = size.saturating_mul(self.len()) as u64;
            sections.push(Section::new(name, view.at(at).offset(), size, Some(self.len() as u64)));
        }
        sections.sort_by_key(|section| section.offset);
        sections
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::uber(self)
    }

    /// Fewer tables without `prototypes.data`.
    fn has_own_tables(&self) -> bool {
        true
    }

    fn absent(&self, table: &str) -> Option<String> {
        let is_of_models = tables::UBER_TABLES.iter().skip(1).any(|other| *other == table);
        (is_of_models && !self.has_models()).then(|| format!("the models are in {DATA}, which is not beside {INDEX}"))
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let mut notes = vec![Value::text(
            "of World of Warships: Legends, as public readers describe it; not checked with a real file",
        )];
        if !self.has_models() {
            notes.push(Value::owned(format!("the models are in {DATA}: put it beside {INDEX}")));
        }
        vec![
            ("checksum".into(), self.header().ok().map(|header| Value::Id32(header.checksum.get())).into()),
            ("index".into(), Value::text(self.index.name())),
            ("data".into(), self.data.as_ref().map(|data| Value::text(data.name())).into()),
            ("notes".into(), Value::List(notes)),
        ]
    }

    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let asked = id::parse(entry).unwrap_or_else(|| id::of_path(entry));
        let by_number = entry.parse().ok().filter(|&row| row < self.len());
        let Some(row) = self.find(asked).or(by_number) else { return Ok(false) };
        let id = self.id(row).unwrap_or(asked);
        let view = self.blob(row)?;
        out.begin_map()?;
        out.field("model", &row.into())?;
        out.field("id", &Value::Id64(id))?;
        out.field("path", &IdTexts::path(&*self.names, id)?.map_or(Value::Null, Value::Text))?;
        out.field("offset", &view.offset().into())?;
        out.field("size", &view.rest().len().into())?;
        let budget = Budget::of_arrays(self.data().bytes().len());
        let mut shown = ValueBuilder::new(&*self.names, &budget);
        match self.model(row) {
            Ok(model) => show(&model, &budget, &mut shown),
            Err(error) => shown.damage("", error),
        }
        shown.show(out)
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Relations]
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::models(self, progress)
    }
}

/// Shows the fields of a model, and its materials with the values of their properties.
fn show<'a>(model: &UberModel<'a>, budget: &Budget, shown: &mut ValueBuilder<'a, '_>) {
    for (field, info) in UberModel::FIELDS.iter().enumerate() {
        if info.told_in != Some("materials") {
            UberModel::OF.walk_field(model.view(), field, shown);
        }
    }
    shown.begin_values("materials");
    if let Err(error) = show_materials(model, budget, shown) {
        shown.damage("", error);
    }
    shown.end_list();
}

fn show_materials<'a>(model: &UberModel<'a>, budget: &Budget, shown: &mut ValueBuilder<'a, '_>) -> Result<()> {
    let (ids, names, materials) = (model.material_ids()?, model.material_names()?, model.materials()?);
    for ((id, name), material) in ids.zip(names).zip(materials) {
        match id.and_then(|id| Ok((id, name?, material?))) {
            Ok((id, name, material)) => {
                shown.begin("");
                shown.leaf("mfm", Leaf::Path(id));
                shown.leaf("name", Leaf::Name(name));
                let own = UberMaterial::FIELDS.iter().enumerate().filter(|(_, info)| info.told_in.is_none());
                own.for_each(|(field, _)| UberMaterial::OF.walk_field(material.view(), field, shown));
                shown.show_properties(material.properties(budget));
                shown.end();
            }
            Err(error) => shown.damage("", error),
        }
    }
    Ok(())
}
