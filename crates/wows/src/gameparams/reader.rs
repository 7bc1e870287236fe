//! The format as commands see it.

use super::entities::Entities;
use super::{Client, MARK, NodeKind, Params, is_legends, op, tables, verify, walk};
use crate::armor::Plating;
use crate::error::{Error, Result};
use crate::materials;
use crate::options::Options;
use crate::reader::{Enriched, Facet, FileFormat, Likeness, NameSource, Reader, Section, facets};
use crate::relations::Relations;
use crate::report::{Progress, Report};
use crate::source::Source;
use crate::table::{Table, Value, Visitor};
use std::borrow::Cow;

/// Whether a pickle of entities begins so. Their container is first: a dictionary, a list or a tuple.
fn is_pickle(head: &[u8]) -> bool {
    match head {
        [op::EMPTY_DICT | op::EMPTY_LIST, next, ..] => matches!(*next, op::BINPUT | op::LONG_BINPUT | op::MARK),
        [op::MARK, next, ..] => matches!(*next, op::LIST | op::DICT | op::EMPTY_DICT | op::MARK),
        [op::PROTO, 1..=5, next, ..] => matches!(*next, op::EMPTY_DICT | op::EMPTY_LIST | op::MARK | op::FRAME),
        _ => false,
    }
}

impl FileFormat for Params {
    const NAME: &'static str = "gameparams";
    const GAME: &'static str = "World of Warships";
    const ABOUT: &'static str = "The parameters of ships, weapons and all else";
    const ENDINGS: &'static [&'static str] = &["gameparams.data", "gameparams_py2.data", "gameparams_py3.data"];

    fn likeness(data: &[u8]) -> Likeness {
        /// Decoded bytes that tell a pickle from other streams.
        const ENOUGH: usize = 4;
        /// Stored bytes that give as many.
        const HEAD: usize = 1 << 12;
        if is_legends(data) {
            return Likeness::by_shape(data.get(MARK.len()..).is_some_and(is_pickle));
        }
        let Some(client) = Client::of(data) else { return Likeness::No };
        let stored = data.get(client.skipped()..).unwrap_or(data);
        let head: Vec<u8> = stored.iter().rev().take(HEAD).copied().collect();
        Likeness::by_shape(is_pickle(&crate::codec::inflate_head(&head, true, ENOUGH)))
    }

    fn open_as(source: Source, options: &Options) -> Result<Self> {
        Self::open_with(source, options)
    }
}

impl Reader for Params {
    fn source(&self) -> &Source {
        &self.source
    }

    fn sections(&self) -> Vec<Section> {
        let size = self.source.bytes().len() as u64;
        let entities = self.entities().ok().map(|entities| entities.len() as u64);
        vec![Section::new(self.client.section(), self.source.view("stream").offset(), size, entities)]
    }

    fn facets(&self) -> &'static [Facet] {
        facets![Relations, Plating, NameSource, Enriched]
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        tables::all(self)
    }

    fn table(&self, name: &str) -> Option<Box<dyn Table + '_>> {
        tables::one(self, name)
    }

    fn notes(&self) -> Vec<String> {
        let has_titles = self.names.is_some() || self.texts_beside().is_ok_and(|texts| texts.is_some());
        let note = "titles are in the texts of the game: a global.mo beside the file, or --names global.mo, shows them";
        if has_titles { Vec::new() } else { vec![note.to_owned()] }
    }

    fn facts(&self) -> Vec<(Cow<'static, str>, Value<'_>)> {
        let Ok(pickle) = self.pickle() else { return Vec::new() };
        let types = self.types().ok().map(|types| types.into_iter().map(|(kind, count)| (kind.into(), count.into())));
        let root = pickle.root();
        let shape = match root.kind() {
            NodeKind::Dict if root.get("").is_some_and(|realm| realm.kind() == NodeKind::Dict) => {
                "dictionary of realms".to_owned()
            }
            NodeKind::Dict => "dictionary of entities".to_owned(),
            _ => format!("list of {}", root.len()),
        };
        vec![
            ("build".into(), self.build().map_or(Value::Null, Value::text)),
            ("decoded_size".into(), pickle.source().bytes().len().into()),
            ("protocol".into(), pickle.protocol().into()),
            ("root".into(), shape.into()),
            ("entities".into(), self.entities().map_or(0, Entities::len).into()),
            ("types".into(), types.map(|types| Value::Map(types.collect())).into()),
            (
                "unproven".into(),
                Value::List(vec![
                    Value::text(
                        "that plates are as thick as stated for their layer and material: checked on keys of ships of \
                         0.11.2 and plates of other ships, never on both of one ship",
                    ),
                    Value::Text(
                        format!(
                            "names of materials: they are of the builds {}; keys of 0.11.2 fit them",
                            materials::builds()
                        )
                        .into(),
                    ),
                    Value::text(
                        "which modernizations fit a ship: the rule is read from the lists of both, not from the game",
                    ),
                ]),
            ),
        ]
    }

    /// An entity with all of its values, by its name, its index, its id or its title.
    fn cat(&self, entry: &str, out: &mut dyn Visitor) -> Result<bool> {
        let Some(entity) = self.find(entry)? else { return Ok(false) };
        let name = entity.name()?;
        walk::show(entity.node(), &self.budget()?, out).map_err(|error| error.context(name))?;
        Ok(true)
    }

    fn warnings(&self) -> Vec<String> {
        materials::warning(self.build()).into_iter().collect()
    }

    fn verify(&self, progress: &Progress) -> Report {
        verify::verify(self, progress)
    }
}

impl Enriched for Params {
    fn alone(&self) -> Option<&dyn Reader> {
        Some(Self::alone(self)? as &dyn Reader)
    }

    fn companion_damage(&self) -> Vec<Error> {
        self.texts_beside().err().into_iter().collect()
    }
}

impl NameSource for Params {}
