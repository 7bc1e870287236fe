"""What the package costs beside the engine alone.

    cargo build --profile dist -p assetq-python --example engine
    python python/perf/measure.py target/dist/examples/engine FULL

The package is the installed one; it must be a release build. FULL is a folder of `assetq.sample(FULL, size="full")`. The
best of all rounds counts on both sides: what a machine does besides only ever adds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow

import assetq

ROUNDS = 7


def best(*ways: Callable[[], object]) -> list[float]:
    """Milliseconds of each way, in turns."""
    found = [float("inf")] * len(ways)
    for _ in range(ROUNDS):
        for n, way in enumerate(ways):
            start = time.perf_counter()
            way()
            found[n] = min(found[n], (time.perf_counter() - start) * 1000)
    return found


def row(what: str, here: float, there: float, wanted: str) -> None:
    print(f"| {what} | {here:.1f} ms | {there:.1f} ms | {here / there:.2f} | {wanted} |", flush=True)


def process(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    program, folder = sys.argv[1], Path(sys.argv[2])
    db, save = assetq.open(folder / "assets.bin"), assetq.open(folder / "savegame.vrb")
    ids = np.random.default_rng(1).choice(db["resources"].numpy("id"), 1_000_000)
    with tempfile.NamedTemporaryFile() as file:
        ids.tofile(file.name)
        said = subprocess.run([program, folder, file.name, str(ROUNDS)], capture_output=True, text=True, check=True)
    alone = {name: float(ms) for name, ms in (line.split() for line in said.stdout.splitlines())}
    print("| what | from Python | beside it | ratio | wanted |\n|---|---|---|---|---|")
    row("a million ids / by the engine", *best(lambda: db.lookup_many(ids)), alone["lookup_many"], "at most 1.3")
    for table in (db["paths"], save["values"]):
        arrow = pyarrow.table(table)
        what = f"{arrow.num_rows:,} rows of {table.name}"
        row(f"{what} to pyarrow / batches", *best(lambda: pyarrow.table(table)), alone[table.name], "at most 1.2")
        try:
            import polars

            took, whole = best(lambda: polars.DataFrame(table), lambda: polars.DataFrame(arrow))
            row(f"{what} to polars / batches", took, alone[table.name], "")
            row(f"{what}: pyarrow's to polars / batches", whole, alone[table.name], "")
        except ImportError:
            pass
        try:
            import duckdb

            ask = "SELECT count(*), max(path) FROM "
            took, rest = best(
                lambda given=table: duckdb.sql(ask + "given").fetchall(),
                lambda given=arrow: duckdb.sql(ask + "given").fetchall(),
            )
            row(f"{what}: greatest path by DuckDB / by DuckDB from pyarrow", took, rest, "")
        except ImportError:
            pass
    empty, imported = best(process("pass"), process("import assetq"))
    row("a process with the import / without", imported, empty, "at most 30 ms more")


if __name__ == "__main__":
    main()
