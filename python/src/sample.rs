//! Valid files of every format, to try things on.

use crate::error::simple;
use assetq::write::atomic_file::{AtomicFile, Overwrite};
use assetq_sample::{self as sample, Contents, Make, Size};
use pyo3::prelude::*;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes a valid file or folder of every format into `folder`: a small world, or random contents if there is a seed.
#[pyfunction]
#[pyo3(name = "sample")]
#[pyo3(signature = (folder, *, size="small", seed=None, altered=false))]
pub fn sample_(py: Python<'_>, folder: PathBuf, size: &str, seed: Option<u64>, altered: bool) -> PyResult<Vec<String>> {
    let size = match size {
        "small" => Size::Small,
        "full" => Size::Full,
        _ => return Err(simple("syntax", format!("no size {size:?}: there are small and full"))),
    };
    let (contents, seed) = Contents::of(seed, size);
    let files = contents.files.iter().chain(if altered { contents.altered } else { &[] });
    py.detach(|| {
        let mut made = Vec::new();
        for (name, _, make) in files {
            let make: &Make = make;
            let path = folder.join(name);
            write(&path, &make(seed, size)).map_err(|error| failed(&path, &error))?;
            made.push(path);
        }
        let put_into = |folder: &Path, make: sample::MakeFolder| {
            let mut wrong = None;
            let done = make(seed, size, &mut |path: &str, bytes: &[u8]| {
                let path = folder.join(path);
                write(&path, bytes).map_err(|error| {
                    wrong = Some(failed(&path, &error));
                    sample::Stopped
                })
            });
            match (done, wrong) {
                (Err(sample::Stopped), Some(wrong)) => Err(wrong),
                _ => Ok(()),
            }
        };
        put_into(&folder, contents.beside)?;
        for (name, _, make) in contents.folders {
            let inside = folder.join(name);
            put_into(&inside, *make)?;
            made.push(inside);
        }
        Ok(made.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
    })
}

/// Writes a new file. One that is there stays, and is an error unless it is the same.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_file() && fs::read(path)? == bytes {
        return Ok(());
    }
    let mut file = AtomicFile::create_with_folders(path, Overwrite::Refuse)?;
    file.write_all(bytes)?;
    file.commit()
}

fn failed(path: &Path, error: &io::Error) -> PyErr {
    simple("io", format!("{}: cannot write: {error}", path.to_string_lossy()))
}
