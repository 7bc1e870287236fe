"""Every way to rows has one answer: the command, the package, and the extension of DuckDB."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_command import COMMAND

import assetq
from assetq._duckdb import quoted


def files(samples: Path) -> Iterator[Path]:
    """A file or folder of every format, and a copy of each file with a damaged row if these copies are at hand."""
    yield from sorted(path for path in samples.iterdir() if path.suffix != ".imgb")
    damaged = os.environ.get("ASSETQ_DAMAGED")
    if damaged:
        # tests/formats/damage.rs writes them, beside the files that some are opened with.
        copies = (Path(damaged) / "rows").iterdir()
        yield from sorted(path for path in copies if not path.name.endswith((".imgb", "prototypes.data")))


def command(file: Path, table: str, *options: str) -> tuple[list[Any], int, str]:
    """The rows, the exit code and the messages of ``assetq ls``."""
    given = [COMMAND, "ls", file, "-t", table, "-f", "ndjson", *options]
    done = subprocess.run(given, capture_output=True, text=True, encoding="utf-8")
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr


def plain(cell: Any) -> Any:
    """A cell as in JSON: a float that is not finite is null."""
    if isinstance(cell, dict):
        return {str(name): plain(value) for name, value in cell.items()}
    if isinstance(cell, (list, tuple)):
        return [plain(value) for value in cell]
    if isinstance(cell, float):
        # The shortest text of a float of 32 bits differs as a double.
        narrow = struct.unpack("<f", struct.pack("<f", cell))[0] if abs(cell) < 3e38 else cell
        return None if cell != cell or abs(cell) == float("inf") else round(narrow, 6) if abs(narrow) < 1e6 else f"{narrow:.5e}"
    if isinstance(cell, int) and not isinstance(cell, bool):
        return plain(float(cell)) if abs(cell) < 1 << 24 else cell
    return cell


def test_every_route_has_the_same_rows_and_the_same_damage(samples: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    db = assetq.connect()
    damaged = set()
    for file in files(samples):
        asset = assetq.open(file)
        for name in asset.tables:
            where = f"{file} {name}"
            source = f"assetq({quoted(str(file))}, {quoted(name)}"
            rows, code, said = command(file, name, "--skip-damaged")
            table = asset[name].skip_damaged()
            assert [plain(row) for row in rows] == [plain(row) for row in table.dicts()], where
            # A count alone reads no cell, and counts a row with a damaged one.
            assert len(db.execute(f"FROM {source}, skip_damaged := true)").fetchall()) == len(rows), where
            first = table.damage[0] if table.damage_count else None
            assert code == (3 if first else 0), f"{where}: {said}"
            if not first:
                assert len(list(asset[name])) == len(db.execute(f"FROM {source})").fetchall()) == len(rows), where
                continue
            damaged.add(where)
            with pytest.raises(assetq.Error) as raised:
                list(asset[name])
            with pytest.raises(duckdb.Error) as told:
                db.execute(f"FROM {source})").fetchall()
            # Each is of one kind, and names where the fault is.
            assert raised.value.kind == first.kind, where
            for message in (str(raised.value), said, str(told.value)):
                assert place(first) in message, f"{where}: {first}: {message}"
    # A texture of a sample has no pixels; the other damage is of the copies.
    assert len(damaged) > (8 if "ASSETQ_DAMAGED" in os.environ else 0)


def test_every_route_gives_the_rows_around_a_list_that_cannot_be_read(
    samples: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    duckdb = pytest.importorskip("duckdb")
    data = bytearray((samples / "models.bin").read_bytes())
    # The position of the render sets of the first model.
    data[24 + 144 : 24 + 152] = b"\x7f" * 8
    file = tmp_path / "models.bin"
    file.write_bytes(data)
    query = 'SELECT model, "index" FROM render_sets'
    rows = [(row["model"], row["index"]) for row in assetq.open(samples / "models.bin")["render_sets"].dicts() if row["model"]]
    assert rows
    table = assetq.open(file)["render_sets"].skip_damaged()
    assert [(row["model"], row["index"]) for row in table.dicts()] == rows and len(table) == len(rows)
    missing = "render_sets of record 0: model: pointer "
    assert table.damage_count == 1 and missing in str(table.damage[0]) and table.damage[0].offset == 24 + 144
    answer = assetq.sql(query, file, skip_damaged=True)
    assert [tuple(row) for row in answer] == rows and answer.damage_count == 1 and missing in str(answer.damage[0])
    scan = assetq.scan(file, "render_sets", skip_damaged=True).columns("model", "index")
    with pytest.warns(UserWarning, match=f"rows left out for 1 fault: .*models.bin: {missing}"):
        found = [row for part in scan.partitions() for _, each in part.tables() for row in each]
    assert [tuple(row) for row in found] == rows
    out = tmp_path / "rows.csv"
    done = subprocess.run(
        [COMMAND, "export", file, "-t", "render_sets", "--skip-damaged", "--to", out],
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 3 and missing in done.stderr and len(out.read_text().splitlines()) == len(rows) + 1
    db = assetq.connect(file, skip_damaged=True)
    assert db.execute(query).fetchall() == rows
    db.close()
    said = capfd.readouterr().err
    assert f"assetq: rows of render_sets that cannot be found are left out: {file}: {missing}" in said
    # Otherwise the damage is an error of each.
    with pytest.raises(assetq.Error, match=missing):
        list(assetq.open(file)["render_sets"])
    with pytest.raises(duckdb.Error, match=missing):
        assetq.connect(file).execute(query).fetchall()


def place(error: assetq.Error) -> str:
    """The position of an error, as in messages."""
    found = re.search(r"at offset 0x[0-9A-Fa-f]+", str(error))
    return found.group() if found else error.kind
