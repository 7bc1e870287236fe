//! The files of the table: one of each format from the samples, and all real files.

use assetq::table::{Accepts, Role};
use assetq::{Asset, Source};
use assetq_sample::Size;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A file of a known format.
#[derive(Debug)]
pub struct Subject {
    /// Its path below the folder of samples or of real files.
    pub name: String,
    /// Where it lies with its companions; an address if it is part of an archive.
    pub address: String,
    /// Whether it is part of an archive.
    pub is_inner: bool,
    pub format: &'static str,
    /// Whether edits of it are written.
    pub is_written: bool,
    /// The file with a damaged row, once a test asked for it; `None` in it if no damage was found to do that.
    pub damaged: OnceLock<Option<Vec<u8>>>,
    pub tables: Vec<TableInfo>,
}

/// The facts of a table that tests need.
#[derive(Debug)]
pub struct TableInfo {
    pub name: String,
    pub label: String,
    pub columns: Vec<ColumnInfo>,
    /// The number of rows, if the table can be counted.
    pub rows: Option<usize>,
}

#[derive(Debug)]
pub struct ColumnInfo {
    pub name: String,
    pub is_key: bool,
    pub is_writable: bool,
}

impl TableInfo {
    pub fn is_writable(&self) -> bool {
        self.columns.iter().any(|column| column.is_writable)
    }
}

/// Tables with more rows take a test longer than it is worth.
pub const ROWS: usize = 3000;

impl Subject {
    fn open(name: String, address: String, is_inner: bool) -> Option<Self> {
        let asset = Asset::open(&*address).ok()?;
        let tables = asset.reader().tables();
        let tables = tables.iter().map(|table| {
            let label = table.label();
            TableInfo {
                name: table.name().to_owned(),
                label: table.columns()[label].name.to_string(),
                rows: table.known_len(),
                columns: (table.columns().iter())
                    .map(|column| ColumnInfo {
                        name: column.name.to_string(),
                        is_key: column.role == Role::Key,
                        is_writable: column.accepts != Accepts::Nothing,
                    })
                    .collect(),
            }
        });
        let tables = tables.collect();
        let is_written = asset.reader().writable().is_some();
        Some(Self {
            name,
            is_inner,
            format: asset.format().name(),
            is_written,
            damaged: OnceLock::new(),
            tables,
            address,
        })
    }

    /// The file's own name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit(['/', ':']).next().unwrap()
    }

    /// The path of a file on the disk.
    pub fn file(&self) -> &Path {
        assert!(!self.is_inner);
        Path::new(&self.address)
    }

    pub fn folder(&self) -> &Path {
        self.file().parent().unwrap()
    }

    pub fn ending(&self) -> &str {
        self.file_name().rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// Small tables with a column that can be written.
    pub fn written_tables(&self) -> impl Iterator<Item = &TableInfo> {
        self.small_tables().filter(|table| self.is_written && table.is_writable())
    }

    /// Tables that are small enough for a test that reads all of their rows several times.
    pub fn small_tables(&self) -> impl Iterator<Item = &TableInfo> {
        self.tables.iter().filter(|table| table.rows.is_some_and(|rows| (1..=ROWS).contains(&rows)))
    }
}

/// The samples, made once.
pub fn samples() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let files = assetq_sample::FILES.iter().map(|(name, _, make)| (*name, *make));
        for (name, make) in files.chain(assetq_sample::BESIDE.iter().copied()) {
            fs::write(dir.path().join(name), make(3, Size::Small)).unwrap();
        }
        for (folder, _, make) in assetq_sample::FOLDERS {
            make(3, Size::Small, &mut |path, bytes| {
                let path = dir.path().join(folder).join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
                Ok(())
            })
            .unwrap();
        }
        dir
    });
    dir.path()
}

/// Every file of a known format: of the samples, of the archives among them, and of the real files.
pub fn subjects() -> &'static [Subject] {
    static ALL: OnceLock<Vec<Subject>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for (name, _, _) in assetq_sample::FILES {
            let path = samples().join(name);
            all.extend(Subject::open((*name).to_owned(), path.to_str().unwrap().to_owned(), false));
        }
        let archives = assetq_sample::FOLDERS.iter().map(|(name, ..)| *name).chain(["pack.bin"]);
        for archive in archives {
            inner(archive, &samples().join(archive), &mut all);
        }
        if let Some(real) = crate::common::samples() {
            let mut files = Vec::new();
            files_below(&real, &mut files);
            for path in files {
                let name = format!("real/{}", path.strip_prefix(&real).unwrap().to_str().unwrap());
                all.extend(Subject::open(name, path.to_str().unwrap().to_owned(), false));
            }
        }
        all
    })
}

/// The files of known formats in an archive.
fn inner(name: &str, path: &Path, all: &mut Vec<Subject>) {
    let Ok(asset) = Asset::open(path) else { return };
    let Ok(archive) = asset.archive() else { return };
    for number in 0..archive.len().unwrap() {
        let Ok(file) = archive.file(number) else { continue };
        let path = file.path.to_string();
        if asset.read(&path).is_ok_and(|source: Source| assetq::Format::detect(&source).is_ok()) {
            let address = format!("{}:{path}", asset.source().name());
            all.extend(Subject::open(format!("{name}:{path}"), address, true));
        }
    }
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}
