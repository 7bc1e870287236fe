"""Exported files as other programs read them: each cell is the one that the module has."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import assetq
from test_command import COMMAND
from test_duckdb import files, identifier, quoted, tables

duckdb = pytest.importorskip("duckdb")
pyarrow = pytest.importorskip("pyarrow")
#: Rows of a table that are compared.
ROWS = 20_000


def exported(file: str, table: str, to: Path) -> Path:
    """The file with the rows of a table, in the format of the ending of its name."""
    command = [COMMAND, "export", file, "--table", table, "--to", to, "--force"]
    subprocess.run(command, check=True, capture_output=True)
    return to


def plain(cell: Any) -> Any:
    """A cell without the differences of types between programs: lists are lists, and NaN is a text."""
    if isinstance(cell, float):
        return "NaN" if math.isnan(cell) else cell
    if isinstance(cell, dict):
        return {name: plain(value) for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [plain(value) for value in cell]
    return cell


def plain_rows(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    return [[plain(cell) for cell in row] for row in rows]


def test_parquet_and_arrow_have_the_same_rows_in_every_reader(samples: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    polars = pytest.importorskip("polars")
    compared = 0
    for file in files(samples):
        for name, table in tables(file):
            try:
                own = pyarrow.table(table)
            except (pyarrow.ArrowException, assetq.Error, OSError):
                continue
            if own.num_rows > ROWS:
                continue
            where = f"{file} {name}"
            to = exported(file, name, tmp_path / "rows.parquet")
            read = parquet.read_table(to)
            assert read.schema.equals(own.schema, check_metadata=False), where
            expected = plain_rows(zip(*(column.to_pylist() for column in own.columns)))
            assert plain_rows(zip(*(column.to_pylist() for column in read.columns))) == expected, where
            arrow = pyarrow.ipc.open_file(exported(file, name, tmp_path / "rows.arrow")).read_all()
            assert plain_rows(zip(*(column.to_pylist() for column in arrow.columns))) == expected, where
            scalar = [field.name for field in own.schema if not pyarrow.types.is_nested(field.type)]
            if scalar:
                places = [own.schema.get_field_index(column) for column in scalar]
                expected = [[row[place] for place in places] for row in expected]
                names = ", ".join(map(identifier, scalar))
                asked = duckdb.sql(f"SELECT {names} FROM read_parquet({quoted(str(to))})").fetchall()
                assert plain_rows(asked) == expected, where
                assert plain_rows(polars.read_parquet(to, columns=scalar).rows()) == expected, where
            compared += 1
    assert compared > 100


def test_json_and_csv_have_as_many_rows_and_the_same_texts(samples: Path, tmp_path: Path) -> None:
    """CSV as DuckDB reads it without a guess of types, beside the objects of NDJSON."""
    compared = 0
    for file in files(samples):
        for name, table in tables(file):
            try:
                count = pyarrow.table(table).num_rows
            except (pyarrow.ArrowException, assetq.Error, OSError):
                continue
            if not 0 < count <= ROWS:
                continue
            where = f"{file} {name}"
            lines = exported(file, name, tmp_path / "rows.ndjson").read_text("utf-8").splitlines()
            rows = [json.loads(line) for line in lines]
            assert rows == json.loads(exported(file, name, tmp_path / "rows.json").read_text("utf-8")), where
            assert len(rows) == count, where
            source = quoted(str(exported(file, name, tmp_path / "rows.csv")))
            options = "header = true, all_varchar = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"'"
            names = {column: "VARCHAR" for column in rows[0]}
            read = duckdb.sql(f"SELECT * FROM read_csv({source}, {options}, columns = {names})").fetchall()
            texts = [[cell for cell in row.values()] for row in rows]
            assert len(read) == count, where
            for found, expected in zip(read, texts):
                same = [text == cell for text, cell in zip(found, expected) if isinstance(cell, str) and cell]
                assert all(same), f"{where}: {found} {expected}"
            compared += 1
    assert compared > 100
