//! The `assetq` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    assetq::cli::main()
}
