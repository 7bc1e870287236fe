//! All tables of a file, of a game, or of the files that a pattern matches.

use crate::external;
use crate::source::{Damage, Source};
use crate::table::AssetTable;
use assetq::files::FileSet;
use assetq::report::Check;
use assetq::{Asset, Error, Options};
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider};
use datafusion::common::{TableReference, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::sync::Arc;

/// Rows of a file that are worth a partition of their own.
const PARTITION_ROWS: usize = 8192;

/// Adds all tables of `address` to the default schema of `session`: of a file, a folder, a glob, a game, or a path or
/// glob in a game (`GAME:content/**/*.geometry`). The first damaged row or file that a query meets is an error.
///
/// Opens the file, or the first file of a pattern, and blocks while it does.
///
/// # Errors
/// When no file can be opened, or a table of the same name exists.
pub fn register(session: &SessionContext, address: impl AsRef<Path>) -> Result<AssetCatalog> {
    let catalog = AssetCatalog::open(address)?;
    catalog.register(session)?;
    Ok(catalog)
}

/// The tables of a file, of a game, or of all files that a pattern matches.
#[derive(Debug, Clone)]
pub struct AssetCatalog {
    asset: Asset,
    damage: Damage,
    partition_rows: usize,
}

impl AssetCatalog {
    /// Opens the file or pattern at `address`: see [`register`].
    ///
    /// # Errors
    /// When no file can be opened, or a folder cannot be listed.
    pub fn open(address: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(address, &Options::default())
    }

    /// As [`AssetCatalog::open`], with settings of assetq.
    ///
    /// # Errors
    /// As [`AssetCatalog::open`].
    pub fn open_with(address: impl AsRef<Path>, options: &Options) -> Result<Self> {
        let address = address.as_ref();
        let asset = assetq::files::open(address, options);
        let asset = asset.map_err(|error| external(error.context(address.to_string_lossy())))?;
        Ok(Self::new(asset))
    }

    /// The tables of an open file.
    pub fn new(asset: Asset) -> Self {
        Self { asset, damage: Damage::default(), partition_rows: PARTITION_ROWS }
    }

    /// Whether the first damaged row or file that a query meets is an error, which is the default. With `false` damaged rows and files are
    /// left out, and [`AssetCatalog::take_left_out`] lists them.
    #[must_use]
    pub fn strict(self, is_strict: bool) -> Self {
        Self { damage: Damage::new(is_strict), ..self }
    }

    /// Sets the number of rows from which on a file is divided into several partitions. Default: 8192.
    #[must_use]
    pub fn partition_rows(self, rows: usize) -> Self {
        Self { partition_rows: rows.max(1), ..self }
    }

    /// The open file, or the open pattern.
    pub fn asset(&self) -> &Asset {
        &self.asset
    }

    /// The names of the tables; the first one is the main table.
    pub fn table_names(&self) -> Vec<String> {
        self.asset.reader().tables().iter().map(|table| table.name().to_owned()).collect()
    }

    /// The table called `name`.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn table(&self, name: &str) -> Result<Arc<AssetTable>> {
        let source =
            Source::new(self.asset.clone(), name, self.damage.clone(), self.partition_rows).map_err(external)?;
        Ok(Arc::new(AssetTable::new(source)))
    }

    /// Adds all tables to the default schema of `session`.
    ///
    /// # Errors
    /// When a table of the same name exists. Then no table is added.
    pub fn register(&self, session: &SessionContext) -> Result<()> {
        self.check_list()?;
        for name in self.table_names() {
            if session.table_exist(TableReference::bare(name.as_str()))? {
                return plan_err!("a table {name} exists: add these tables under a schema of their own");
            }
        }
        for name in self.table_names() {
            session.register_table(TableReference::bare(name.as_str()), self.table(&name)?)?;
        }
        Ok(())
    }

    /// Adds all tables to a new schema of `session`, so that a table is called `schema.table`.
    ///
    /// # Errors
    /// When the session has no default catalog.
    pub fn register_as(&self, session: &SessionContext, schema: &str) -> Result<()> {
        self.check_list()?;
        let tables = MemorySchemaProvider::new();
        for name in self.table_names() {
            let table = self.table(&name)?;
            tables.register_table(name, table)?;
        }
        let default = session.state().config_options().catalog.default_catalog.clone();
        match session.catalog(&default) {
            Some(catalog) => catalog.register_schema(schema, Arc::new(tables)).map(drop),
            None => exec_err!("the session has no catalog {default}"),
        }
    }

    /// The damaged rows that queries left out since the last call, and all damaged files that were left out so far.
    pub fn take_left_out(&self) -> Check {
        let mut left_out = self.damage.take();
        for (file, error) in self.damaged_files() {
            left_out.fail(error.context(file));
        }
        left_out
    }

    fn damaged_files(&self) -> Vec<(String, Error)> {
        let Some(set) = self.asset.get::<FileSet>() else { return Vec::new() };
        [set.list().damaged(), set.left_out().as_slice()].concat()
    }

    /// Refuses a list that lacks files because a folder cannot be read, unless damage is left out.
    fn check_list(&self) -> Result<()> {
        let list = self.asset.get::<FileSet>().map_or(&[][..], |set| set.list().damaged());
        match list.first() {
            Some((file, error)) if self.damage.is_strict() => Err(external(error.clone().context(file))),
            _ => Ok(()),
        }
    }
}
