"""The command that the wheel installs beside the module."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import assetq

COMMAND = Path(sysconfig.get_path("scripts")) / ("assetq.exe" if sys.platform == "win32" else "assetq")


def test_the_command_is_of_the_version_of_the_module() -> None:
    said = subprocess.run([COMMAND, "--version"], check=True, capture_output=True, text=True).stdout
    assert said == f"assetq {assetq.__version__}\n"


def test_the_command_reads_what_the_module_writes(tmp_path: Path) -> None:
    assetq.sample(tmp_path, seed=1)
    said = subprocess.run([COMMAND, "info", tmp_path / "sheet.wdb", "-f", "json"], check=True, capture_output=True).stdout
    assert json.loads(said)["format"] == "wdb"
