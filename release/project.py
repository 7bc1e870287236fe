"""The facts of a release that several scripts need. Cargo.toml is where each of them is written."""

import hashlib
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
# What the package inherits from the workspace is read there.
PACKAGE = MANIFEST["package"] | MANIFEST["workspace"]["package"]
VERSION = PACKAGE["version"]
DESCRIPTION = PACKAGE["description"]
LICENSE = PACKAGE["license"]
# The address of the repository, from which every other address is made.
REPOSITORY = PACKAGE["repository"]
DOWNLOADS = f"{REPOSITORY}/releases/download/v{VERSION}"


def archive_name(target: str, package: str = "assetq") -> str:
    """The name of the archive of `target`. `[package.metadata.binstall]` in Cargo.toml states it too."""
    return f"{package}-{VERSION}-{target}.{'zip' if 'windows' in target else 'tar.gz'}"


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
