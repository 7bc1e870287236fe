"""Connections of DuckDB whose views are the tables of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._types import Error

if TYPE_CHECKING:
    import duckdb as _duckdb_types

#: The extension, which is part of the wheel.
EXTENSION = Path(__file__).with_name("assetq.duckdb_extension")


def connect(
    *files: str | os.PathLike[str],
    database: str | os.PathLike[str] = ":memory:",
    config: dict[str, Any] | None = None,
    **options: bool,
) -> _duckdb_types.DuckDBPyConnection:
    """A connection of DuckDB with a view for each table of ``files``, whose rows are read from the files in place.

    The views of a single file have the names of its tables. Several files are schemas that are called after them.
    ``options`` are ``skip_damaged``, ``mmap`` and ``strict``. Other files can be queried, too: ``FROM 'assets.bin'``
    is the main table, ``FROM assetq('assets.bin', 'resources')`` another one.
    """
    unknown = options.keys() - {"skip_damaged", "mmap", "strict"}
    if unknown:
        raise TypeError(f"connect() has no option {', '.join(sorted(unknown))}; there are skip_damaged, mmap, strict")
    try:
        import duckdb
    except ImportError:
        raise Error('DuckDB is not installed: pip install "assetq[duckdb]"', "unsupported") from None
    extension = Path(os.environ.get("ASSETQ_DUCKDB_EXTENSION") or EXTENSION)
    if not extension.is_file():
        raise Error(f"{extension}: this package was built without the extension of DuckDB", "not_found")
    # DuckDB loads extensions that others signed only if it is told so before it starts.
    connection = duckdb.connect(os.fspath(database), config={**(config or {}), "allow_unsigned_extensions": True})
    connection.execute(f"LOAD {quoted(os.fspath(extension))}")
    named = "".join(f", {name} := {'true' if given else 'false'}" for name, given in options.items())
    for schema, path in zip(schemas(files), files):
        file = os.fspath(path)
        prefix = ""
        if len(files) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {identifier(schema)}")
            prefix = f"{identifier(schema)}."
        for (table,) in connection.execute(f"SELECT name FROM assetq_tables({quoted(file)}{named})").fetchall():
            scan = f"assetq({quoted(file)}, {quoted(table)}{named})"
            connection.execute(f"CREATE OR REPLACE VIEW {prefix}{identifier(table)} AS FROM {scan}")
    return connection


def schemas(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The names of the files' schemas, each of which is there once."""
    names: list[str] = []
    for file in files:
        stem = Path(os.fspath(file)).name.split(".")[0] or "file"
        others = (f"{stem}_{number}" for number in range(2, len(names) + 3))
        names.append(stem if stem not in names else next(name for name in others if name not in names))
    return names


def quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name of SQL."""
    return '"' + name.replace('"', '""') + '"'
