//! Files of any format: telling which one it is, and opening it.

use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::reader::{FileFormat, Likeness, Reader};
use crate::scene;
use crate::source::Source;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// A format. The built-in formats are constants of this type; [`Format::of`] gives the format of any reader.
#[derive(Clone, Copy)]
pub struct Format(&'static Entry);

struct Entry {
    name: &'static str,
    endings: &'static [&'static str],
    is_folder: fn(&Path) -> bool,
    likeness: fn(&[u8]) -> Likeness,
    open: fn(Source, &Options) -> Result<Box<dyn Reader>>,
    configure: Configure,
}

/// [`FileFormat::configure`].
type Configure = fn(&str, &[u8], &str, &Options) -> Result<Option<Options>>;

/// Formats of other crates, which are detected before the built-in ones.
static ADDED: RwLock<Vec<Format>> = RwLock::new(Vec::new());

impl Format {
    /// The format whose files `T` reads.
    pub const fn of<T: FileFormat>() -> Self {
        Self(
            const {
                &Entry {
                    name: T::NAME,
                    endings: T::ENDINGS,
                    is_folder: T::is_folder,
                    likeness: T::likeness,
                    open: |source, options| Ok(Box::new(T::open_as(source, options)?)),
                    configure: T::configure,
                }
            },
        )
    }

    /// Makes every later [`Asset::open`] of this process know this format too, and the commands with it. A format of
    /// the same name is replaced.
    pub fn add(self) {
        let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
        added.retain(|format| *format != self);
        added.push(self);
    }

    /// The name that outputs use.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// All formats, the added ones first. Copied, so that no lock is held while a format looks at a file: its code may
    /// detect the format of another file, or add a format.
    fn all() -> Vec<Self> {
        let mut all = ADDED.read().unwrap_or_else(PoisonError::into_inner).clone();
        all.extend(Self::BUILT_IN);
        all
    }

    /// Adds the setting `setting` to `options`, of the format that declares it: see [`FileFormat::configure`].
    ///
    /// # Errors
    /// As [`FileFormat::configure`], and `NotFound` where no format has such a setting.
    pub fn configure(setting: &str, given: &[u8], from: &str, options: &Options) -> Result<Options> {
        for format in Self::all() {
            if let Some(options) = (format.0.configure)(setting, given, from, options)? {
                return Ok(options);
            }
        }
        Err(Error::of_part(ErrorKind::NotFound { what: format!("the setting {setting}") }, from.to_owned()))
    }

    /// The format of `source`: by its magic if the format has one, then by the ending of the file name, then by the
    /// plausibility of the header. A folder is detected by the names in it.
    ///
    /// # Errors
    /// `UnknownFormat` with the first bytes, `UnknownFolder`.
    pub fn detect(source: &Source) -> Result<Self> {
        let data = source.bytes();
        let name = source.name().to_ascii_lowercase();
        let all = Self::all();
        let all = || all.iter().copied();
        if let Some(folder) = source.path().filter(|path| data.is_empty() && path.is_dir()) {
            let found = all().find(|format| (format.0.is_folder)(folder));
            return found.ok_or_else(|| Error::of_part(ErrorKind::UnknownFolder, ""));
        }
        let like = |wanted: Likeness| all().find(|format| (format.0.likeness)(data) == wanted);
        let by_name = || all().find(|format| format.0.endings.iter().any(|ending| name.ends_with(ending)));
        like(Likeness::Magic).or_else(by_name).or_else(|| like(Likeness::Shape)).ok_or_else(|| {
            let head = data.get(..data.len().min(8)).unwrap_or_default().to_vec();
            Error::new(ErrorKind::UnknownFormat { head }, "", 0)
        })
    }
}

impl Format {
    /// Guesses the format of a file from its name and first bytes: by its magic, then by the ending of its name.
    pub fn guess(name: &str, head: &[u8]) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let all = Self::all();
        let all = || all.iter().copied();
        let by_magic = all().find(|format| (format.0.likeness)(head) == Likeness::Magic);
        by_magic.or_else(|| all().find(|format| format.0.endings.iter().any(|ending| name.ends_with(ending))))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An open file of any format. A clone is the same open file.
#[derive(Debug, Clone)]
pub struct Asset {
    format: Format,
    reader: Arc<dyn Reader>,
}

impl Asset {
    /// Opens `source` as a file of the format that it is of. Reads headers only.
    ///
    /// # Errors
    /// `UnknownFormat`, and the errors of the headers.
    pub fn open(source: Source) -> Result<Self> {
        Self::open_with(source, &Options::default())
    }

    /// As [`Asset::open`], with more than the file to go by.
    pub fn open_with(source: Source, options: &Options) -> Result<Self> {
        let format = Format::detect(&source)?;
        Ok(Self { format, reader: (format.0.open)(source, options)?.into() })
    }

    /// A reader of several files of `format`.
    #[cfg(feature = "filter")]
    pub(crate) fn of_format(format: Format, reader: impl Reader) -> Self {
        Self { format, reader: Arc::new(reader) }
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The bytes it reads.
    pub fn source(&self) -> &Source {
        self.reader.source()
    }

    /// The reader, as every command sees it.
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// The reader of one format, such as [`crate::bwdb::Database`]; `None` for a file of another format.
    pub fn get<T: Reader>(&self) -> Option<&T> {
        let reader: &dyn Any = &*self.reader;
        reader.downcast_ref()
    }
}

impl<T: FileFormat> From<T> for Asset {
    fn from(reader: T) -> Self {
        Self { format: Format::of::<T>(), reader: Arc::new(reader) }
    }
}

impl<'a> scene::Context<'a> {
    /// The context that these files give, whichever they are.
    ///
    /// # Errors
    /// `Unsupported` for a file that knows nothing of meshes.
    pub fn from_assets(assets: impl IntoIterator<Item = &'a Asset>) -> Result<Self> {
        let mut context = Self::default();
        for asset in assets {
            let Some(placements) = asset.reader().placements() else {
                let what = format!("naming or placing meshes by a {} file", asset.format());
                return Err(Error::of_part(ErrorKind::Unsupported { what: what.into() }, ""));
            };
            context.add(placements, asset.reader().relations().and_then(|relations| relations.texts()));
        }
        Ok(context)
    }
}

#[cfg(all(test, feature = "sample"))]
mod tests {
    use super::*;
    use crate::sample::{FILES, Size};
    use crate::table::Table;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// A format whose code looks at the head of a file again, while another thread adds a format.
    #[derive(Debug)]
    struct Nested(Source);

    const MAGIC: &[u8] = b"a file in a file: ";

    impl Reader for Nested {
        fn source(&self) -> &Source {
            &self.0
        }

        fn tables(&self) -> Vec<Box<dyn Table + '_>> {
            Vec::new()
        }
    }

    impl FileFormat for Nested {
        const NAME: &'static str = "nested";

        fn likeness(data: &[u8]) -> Likeness {
            let Some(inner) = data.strip_prefix(MAGIC) else { return Likeness::No };
            thread::scope(|scope| scope.spawn(|| Format::of::<Self>().add()).join()).unwrap();
            Likeness::by_magic(Format::detect(&Source::from_vec("inner", inner.to_vec())).is_ok())
        }

        fn open_as(source: Source, _: &Options) -> Result<Self> {
            Ok(Self(source))
        }
    }

    #[test]
    fn a_format_detects_the_format_of_another_file_while_a_format_is_added() {
        Format::of::<Nested>().add();
        let (_, inner, make) = FILES[0];
        assert_eq!(Format::detect(&Source::from_vec("x", make(1, Size::Small))).unwrap(), inner);
        let (done, waits) = mpsc::channel();
        thread::spawn(move || {
            let bytes = [MAGIC, &make(1, Size::Small)].concat();
            done.send(Format::detect(&Source::from_vec("x", bytes)).unwrap())
        });
        assert_eq!(waits.recv_timeout(Duration::from_secs(60)).unwrap().name(), "nested");
    }

    #[test]
    fn a_file_is_told_without_its_name() {
        for (name, format, make) in FILES {
            assert_eq!(Format::detect(&Source::from_vec("x", make(1, Size::Small))).unwrap(), *format, "{name}");
        }
    }

    #[test]
    fn a_real_file_is_told_without_its_name() {
        let Some(samples) = std::env::var_os("ASSETQ_SAMPLES") else {
            return eprintln!("skipped: ASSETQ_SAMPLES is not set");
        };
        let folders = [
            ("geometry", Format::GEOMETRY),
            ("models_bin", Format::MODELS),
            ("space_bin", Format::SPACE),
            ("splash", Format::SPLASH),
            ("vrb", Format::VRB),
            ("wdb", Format::WDB),
            ("wpd", Format::WPD),
        ];
        for (folder, format) in folders {
            for entry in std::fs::read_dir(std::path::Path::new(&samples).join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let bytes = std::fs::read(&path).unwrap();
                assert_eq!(Format::detect(&Source::from_vec("x", bytes)).unwrap(), format, "{}", path.display());
            }
        }
    }
}
