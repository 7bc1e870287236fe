//! The fuzz targets of assetq: see `README.md`.

// Among the tests, because the published package has the tests and not this folder.
#[path = "../../tests/formats/fuzzing/harness/mod.rs"]
pub mod harness;

use harness::{TARGETS, dictionary, kept};
use std::path::Path;
use std::{fs, io, process};

/// Makes the only worker of the process the thread that fuzzes: coverage then follows from the input alone.
///
/// Where the variable `SEEDS` is set, writes the seeds and the kept inputs of all targets to `corpus/TARGET/` below the folder that it names,
/// and `dictionary.txt`, and ends. A program of its own for that could not be linked without libFuzzer, which the counters of
/// coverage call.
pub fn start() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no pool yet");
    if let Some(folder) = std::env::var_os("SEEDS") {
        write_seeds(folder.as_ref()).expect("seeds are written");
        process::exit(0);
    }
}

fn write_seeds(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root)?;
    fs::write(root.join("dictionary.txt"), dictionary())?;
    for target in TARGETS {
        let folder = root.join("corpus").join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), seed)?;
        }
        for (number, input) in kept(target.name).into_iter().enumerate() {
            fs::write(folder.join(format!("kept-{number:04}")), input)?;
        }
    }
    Ok(())
}
