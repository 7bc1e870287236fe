//! Lists of models, `.info`: the models of a ship in the Mods SDK. Only their names are read: the text of an element is a packed
//! program or tuple of Python.

use super::document::{self, Document, Node};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::options::Options;
use crate::reader::Reader;
use crate::source::Source;
use crate::table::{Column, DeclaredTable, Table, Value};
use assetq_core::Openable;

const ENDING: &str = ".info";

/// An open `.info` file.
#[derive(Debug)]
pub struct ModelList {
    source: Source,
    document: Lazy<Document>,
    /// The numbers of the elements of models.
    models: Lazy<Vec<u32>>,
}

impl ModelList {
    /// Opens `source`. Looks at the first bytes.
    ///
    /// # Errors
    /// `Unsupported` for packed XML.
    pub fn open(from: impl Openable) -> Result<Self> {
        let source = from.open_source(&Options::default())?;
        document::check_head(&source)?;
        Ok(Self { source, document: Lazy::default(), models: Lazy::default() })
    }

    fn root(&self) -> Result<Node<'_>> {
        Ok(self.document.get_or_try_init(|| Document::parse(&self.source))?.root(&self.source))
    }

    fn models(&self) -> Result<&[u32]> {
        Ok(self.models.get_or_try_init(|| Ok(self.root()?.children().map(Node::index).collect()))?)
    }
}

super::text_format!(ModelList, "info", ENDING, "The names of a ship's models in the Mods SDK", |source, _| Self::open(
    source
));

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
            .column(Column::text("name").brief().key(), |model: &Node<'_>| Ok(Value::text(model.name())))
            .column(Column::uint("size").brief(), |model| Ok(model.text_range().len().into()))
            .random_access();
        vec![Box::new(models)]
    }
}
