"""The stubs: what they say is what there is, and the package's own code is typed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import assetq

ROOT = Path(__file__).parents[1]
USE = """
import numpy as np
import assetq

db: assetq.Asset = assetq.open("assets.bin")
for row in db["paths"].where("id = 1").columns("id"):
    print(row[0])
found: assetq.Found[assetq.Change] = assetq.diff(db, "new.bin")
keys: list[object] = [change.key for change in found]
record = db.lookup_many(np.array([1], dtype=np.uint64)).record
reveal_type(record)
mesh = assetq.open("ship.geometry").meshes(db)[0]
number: int = mesh.name
"""


def check(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not there")
    # The source folder has no engine in it: the installed package is what is checked.
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, env=dict(os.environ))


def test_stubs_say_what_there_is(tmp_path: Path) -> None:
    engines = {"spark": "pyspark", "_ray": "ray", "_polars": "polars"}
    absent = [module for module, engine in engines.items() if importlib.util.find_spec(engine) is None]
    allowed = tmp_path / "allowed"
    allowed.write_text("".join(f"assetq\\.{module}\n" for module in absent))
    options = ["--concise", "--mypy-config-file", ROOT / "pyproject.toml", "--allowlist", allowed]
    done = check("mypy.stubtest", "assetq", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_users_are_told_their_mistakes(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    done = check("mypy", "--strict", "use.py", cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and '"str"' in errors[0] and '"int"' in errors[0], done.stdout
    assert "signedinteger" in done.stdout or "int32" in done.stdout


def test_the_examples_are_typed(tmp_path: Path) -> None:
    done = check("mypy", "--ignore-missing-imports", *sorted((ROOT / "examples").glob("*.py")), cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_all_that_is_public_has_a_description() -> None:
    without = []
    for name in assetq.__all__:
        thing = getattr(assetq, name)
        if not name.startswith("_") and not isinstance(thing, str) and not (thing.__doc__ or "").strip():
            without.append(name)
    assert without == []
