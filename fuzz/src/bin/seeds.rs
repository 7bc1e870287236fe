//! Writes the seeds of all targets to `corpus/TARGET/`, and `dictionary.txt`.

use assetq_fuzz::harness::{TARGETS, dictionary};
use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::write(root.join("dictionary.txt"), dictionary())?;
    for target in TARGETS {
        let folder = root.join("corpus").join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), seed)?;
        }
    }
    Ok(())
}
