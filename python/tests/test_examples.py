"""The README's lines and the examples, run as a user runs them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import plain
import pytest

import assetq

ROOT = Path(__file__).parents[1]
DOCS = ROOT.parent
EXAMPLES = ROOT / "examples"


def run(*arguments: str | Path) -> str:
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_readme_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    wanted = {"polars", "duckdb", "pyarrow"}
    whole = all(importlib.util.find_spec(name) for name in wanted)
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks if whole else blocks[:1]))
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert ".visual" in done.stdout and "Change(" in done.stdout and "VisualPrototype" in done.stdout
    if not whole:
        pytest.skip("its second block needs polars, duckdb and pyarrow")


PAGES = {
    str(page.relative_to(DOCS)): blocks
    for page in [DOCS / "README.md", *sorted((DOCS / "docs/guide").glob("*.md"))]
    # Spark is a cluster of its own, and Blender a program: see test_blender.py.
    if (blocks := [block for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) if not re.search("spark|bpy", block)])
}


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_in_a_folder_of_samples(page: str, tmp_path: Path) -> None:
    for name in ("polars", "duckdb"):
        pytest.importorskip(name)
    assetq.sample(tmp_path, altered=True)
    script = [sys.executable, "-c", "\n".join(PAGES[page])]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_pages_with_python_are_found() -> None:
    assert {"README.md", "docs/guide/python.md", "docs/guide/duckdb.md"} < PAGES.keys()


@pytest.mark.parametrize("example", ["armour", "blocks", "builds", "plan"])
def test_an_example_without_arguments_prints_how_it_is_called(example: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / f"{example}.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and done.stderr.startswith(f"usage: {example}.py "), done.stderr


def test_ships_by_armour(samples: Path, tmp_path: Path) -> None:
    armour = load("armour")
    game = assetq.open(samples / "wows")
    by_layer = armour.ships(game, "content/gameplay/*.geometry", None)
    assert len(by_layer) == 6
    path = next(iter(by_layer))
    (tmp_path / "ship.geometry").write_bytes(game.read(path))
    expected: Counter[str] = Counter()
    for plate in plain.plates(tmp_path / "ship.geometry"):
        corners = np.array(plate.corners).reshape(-1, 3, 3)
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        expected[f"layer {plate.layer}"] += float(np.linalg.norm(cross, axis=1).sum() / 2)
    assert by_layer[path].keys() == expected.keys()
    assert all(abs(by_layer[path][band] - area) < 1e-3 for band, area in expected.items())
    # The material with most area is 25 mm thick, by its number or by its name; of the others nothing is known.
    plates = plain.plates(tmp_path / "ship.geometry")
    material, layer = plates[0].material, plates[0].layer
    for name in (str(material), assetq.armor_material(material)):
        (tmp_path / "mm.csv").write_text(f"material,layer,mm\n{name},{layer},25\n")
        out = run(EXAMPLES / "armour.py", samples / "wows", "--thickness", tmp_path / "mm.csv")
        assert "25 mm: " in out and "not in the table: " in out
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not there: no plot")
    run(EXAMPLES / "armour.py", samples / "wows", "--plot", tmp_path / "armour.png")
    assert (tmp_path / "armour.png").read_bytes().startswith(b"\x89PNG")


def test_two_builds_compared(samples: Path) -> None:
    out = run(EXAMPLES / "builds.py", samples / "assets.bin", samples / "altered.bin")
    assert re.search(r"^paths: \d+ added$", out, re.MULTILINE) and " -> " in out


def test_blocks_of_a_blueprint(samples: Path) -> None:
    blueprint, game = samples / "se2/Blueprints/Miner/grid.json.vrb", samples / "se2"
    out = run(EXAMPLES / "blocks.py", blueprint, game)
    counts = {name: int(count) for count, name in map(str.split, out.splitlines())}
    entities = sum(1 for row in assetq.open(blueprint)["values"].dicts() if row["path"].endswith(".Definition"))
    assert sum(counts.values()) == entities > 0
    assert {"Battery", "Gyroscope"} <= counts.keys(), "the game names the blocks"
    assert list(counts.values()) == sorted(counts.values(), reverse=True)


def test_a_map_from_above(samples: Path, tmp_path: Path) -> None:
    plan = load("plan")
    town = assetq.open(samples / "town.wdata")
    places = plan.places(town)
    assert sum(map(len, places.values())) == len(town["event_boxes"])
    portals = [[row["pos_x"], row["pos_z"]] for row in town["portal_boxes"].dicts()]
    assert portals in [rows.tolist() for rows in places.values()]
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not there: no plot")
    run(EXAMPLES / "plan.py", samples / "town.wdata", tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
