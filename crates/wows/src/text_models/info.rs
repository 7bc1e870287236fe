//! Lists of models, `.info`: the models of a ship in the Mods SDK. Only their names are read: the text of an element is a packed
//! program or tuple of Python.

use super::document::{Document, ElementRef};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table, Value};

const ENDING: &str = ".info";

/// An open `.info` file.
#[derive(Debug)]
pub struct ModelList {
    source: Source,
    document: Lazy<Document>,
    models: Lazy<Vec<u32>>,
}

impl ModelList {
    fn read(source: Source, _: &Options) -> Result<Self> {
        Ok(Self { source, document: Lazy::default(), models: Lazy::default() })
    }

    fn root(&self) -> Result<ElementRef<'_>> {
        Ok(self.document.get_or_try_init(|| Document::parse(&self.source))?.root(&self.source))
    }

    fn models(&self) -> Result<&[u32]> {
        Ok(self.models.get_or_try_init(|| Ok(self.root()?.children().map(ElementRef::index).collect()))?)
    }
}

super::text_format!(ModelList, "info", ENDING, "The names of a ship's models in the Mods SDK");

impl Reader for ModelList {
    fn source(&self) -> &Source {
        &self.source
    }

    fn tables(&self) -> Vec<Box<dyn Table + '_>> {
        let models = DeclaredTable::new(
            "models",
            || Ok(self.models()?.len()),
            |row| self.models()?.get(row).map(|&model| Ok(self.root()?.sibling(model))).transpose(),
        );
        let models = models
            .column(Column::text("name").brief().key(), |model: &ElementRef<'_>| Ok(Value::text(model.name())))
            .column(Column::uint("size").brief(), |model| Ok(model.text_range().len().into()))
            .random_access();
        vec![Box::new(models)]
    }
}
