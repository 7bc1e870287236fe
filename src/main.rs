//! The `assetq` command.

fn main() {}
