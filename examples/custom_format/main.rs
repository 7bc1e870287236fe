//! A format of your own: the module `toy` declares it, and one line makes every command of `assetq` know it.
//!
//! ```sh
//! cargo run --example custom_format -- sql 'SELECT name, price * weight FROM items' shop.toy
//! ```
//!
//! Without arguments it writes two files, and shows what can be asked of them.

pub mod toy;

use assetq::{Format, cli};
use std::process::ExitCode;
use std::{env, fs, io, iter};
use toy::Toy;

/// The command `assetq`, with one format more.
pub fn main() -> io::Result<ExitCode> {
    Format::of::<Toy>().add();
    if env::args_os().len() > 1 {
        return Ok(cli::main());
    }

    let dir = env::temp_dir().join("assetq-toys");
    fs::create_dir_all(&dir)?;
    let [old, new] = ["old.toy", "new.toy"].map(|name| dir.join(name).to_string_lossy().into_owned());
    fs::write(&old, toy::build(&[("kite", 7, 0.5, 1), ("marble", 1, 0.02, 1), ("robot", 40, 1.25, 2)]))?;
    fs::write(&new, toy::build(&[("kite", 9, 0.5, 1), ("marble", 1, 0.02, 1), ("top", 3, 0.1, 1)]))?;
    for command in [
        &["info", &old][..],
        &["ls", &old, "--where", "price > 3"],
        &["cat", &old, "robot"],
        &["sql", "SELECT sum(price) AS price, sum(weight) AS weight FROM items", &old],
        &["diff", &old, &new],
        &["verify", &old, &new],
    ] {
        println!("\n$ assetq {}", command.join(" "));
        // Its exit code is that of `assetq`: 1 where files differ, for one.
        let _ = cli::run_from(iter::once("assetq").chain(command.iter().copied()));
    }
    Ok(ExitCode::SUCCESS)
}
