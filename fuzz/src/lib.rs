//! The fuzz targets of assetq: see `README.md`.

pub mod harness;

/// Makes the only worker of the process the thread that fuzzes: coverage then follows from the input alone.
pub fn one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no pool yet");
}
