"""The build backend of the package: maturin, which packs the module, and the command `assetq` beside it.

maturin packs a module or a program, not both. So the program and the extension of DuckDB are built first, from the same crates and with the same
settings, and put into the folder whose `scripts` are installed on the path.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import *  # noqa: F403  what is not defined below is maturin's

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "assetq.data" / "scripts"
# As in pyproject.toml, so that most crates are built once for both. Published wheels: MATURIN_PEP517_ARGS="--profile dist-unwind".
PROFILE = "release-unwind"


def given_settings(config_settings):
    """The settings of maturin that cargo knows."""
    settings = argparse.ArgumentParser(add_help=False)
    for name in ["--profile", "--target", "--target-dir"]:
        settings.add_argument(name)
    settings.add_argument("--locked", action="store_true")
    return settings.parse_known_args(maturin.get_maturin_pep517_args(config_settings))[0]


def build_command(config_settings):
    """Builds the program."""
    given = given_settings(config_settings)
    command = ["cargo", "build", "--manifest-path", str(HERE / "Cargo.toml"), "--package", "assetq", "--bin", "assetq"]
    command += ["--profile", given.profile or PROFILE, "--message-format", "json-render-diagnostics"]
    command += [part for name in ["target", "target_dir"] if (value := getattr(given, name))
                for part in (f"--{name.replace('_', '-')}", value)]  # fmt: skip
    command += ["--locked"] if given.locked else []
    print("Running `{}`".format(" ".join(command)), flush=True)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    program = Path([found for message in messages if (found := message.get("executable"))][-1])
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy(program, SCRIPTS)


def build_extension(config_settings):
    """Builds the extension of DuckDB into the package."""
    given = given_settings(config_settings)
    # In a package of sources this file lies beside its folder.
    package = next(path for folder in (HERE.parent, HERE) if (path := folder / "duckdb" / "package").is_file())
    command = [sys.executable, str(package), "--profile", given.profile or PROFILE, "--out", str(HERE / "assetq")]
    command += ["--target", given.target] if given.target else []
    command += ["--locked"] if given.locked else []
    subprocess.run(command, check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build_command(config_settings)
    build_extension(config_settings)
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    build_command(config_settings)
    build_extension(config_settings)
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    # maturin expects the folder of the command, which sources do not have.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    # maturin expects the folder of the command before the command is built.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
