//! The `assetq` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: assetq::cli::Allocator = assetq::cli::Allocator;

fn main() -> ExitCode {
    assetq::cli::main()
}
