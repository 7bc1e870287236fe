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
    skip_damaged: bool = False,
    mmap: bool = True,
    strict: bool = False,
    names: Iterable[str | os.PathLike[str]] = (),
    format_of: str | None = None,
) -> _duckdb_types.DuckDBPyConnection:
    """A connection of DuckDB with a view for each table of ``files``, whose rows are read from the files in place.

    The views of a single file have the names of its tables. Several files are catalogs that are called after them, with a
    number where a name is taken: ``item.records``, ``item_2.records``. Nothing is written into ``database``: there a
    single file is such a catalog, too, whose tables are found after the database's own. ``FROM resources('0x…')`` is a
    single entry of the view ``resources``, by the file's own index.

    The options are those of ``open``; ``skip_damaged`` leaves damaged rows out. Other files can be queried, too:
    ``FROM 'assets.bin'`` is the main table, ``FROM assetq('assets.bin', 'resources')`` another one.
    """
    try:
        import duckdb
    except ImportError:
        raise Error('DuckDB is not installed: pip install "assetq[duckdb]"', "unsupported") from None
    extension = Path(os.environ.get("ASSETQ_DUCKDB_EXTENSION") or EXTENSION)
    if not extension.is_file():
        raise Error(f"{extension}: this package was built without the extension of DuckDB", "not_found")
    # DuckDB loads extensions with another signature only if an option allows it before the start.
    connection = duckdb.connect(os.fspath(database), config={**(config or {}), "allow_unsigned_extensions": True})
    connection.execute(f"LOAD {quoted(os.fspath(extension))}")
    options = f", skip_damaged := {skip_damaged}, mmap := {mmap}, strict := {strict}"
    if listed := ", ".join(quoted(os.fspath(name)) for name in names):
        options += f", names := [{listed}]"
    if format_of is not None:
        options += f", format_of := {quoted(format_of)}"
    is_own = os.fspath(database) != ":memory:"
    functions = column(connection, "SELECT DISTINCT function_name FROM duckdb_functions()")
    catalogs = column(connection, "SELECT database_name FROM duckdb_databases() UNION SELECT schema_name FROM duckdb_schemas()")
    for given in files:
        file, prefix = os.fspath(given), ""
        if len(files) > 1 or is_own:
            catalog = identifier(distinct(stem(file), catalogs))
            connection.execute(f"ATTACH ':memory:' AS {catalog} (READ_WRITE)")
            prefix = f"{catalog}."
        views: set[str] = set()
        for (table,) in connection.execute(f"SELECT name FROM assetq_tables({quoted(file)}{options})").fetchall():
            view = distinct(table, views)
            call = f"assetq({quoted(file)}, {quoted(table)}{options}"
            connection.execute(f"CREATE VIEW {prefix}{identifier(view)} AS FROM {call})")
            # A function of DuckDB is not hidden. DuckDB 1.4 takes a bare name as a text.
            if view.lower() not in functions:
                macro = f"{prefix}{identifier(view)}(entry) AS TABLE FROM {call}, key := CAST(entry AS VARCHAR))"
                connection.execute(f"CREATE MACRO {macro}")
    if is_own and len(files) == 1:
        (own,) = connection.execute("SELECT current_database(), current_schema()").fetchall()
        path = f"{'.'.join(map(identifier, own))},{prefix}main"
        connection.execute(f"SET search_path = {quoted(path)}")
    return connection


def column(connection: _duckdb_types.DuckDBPyConnection, query: str) -> set[str]:
    """The texts of the only column, in lower case: DuckDB's names are equal in any case."""
    return {text.lower() for (text,) in connection.execute(query).fetchall()}


def stem(file: str) -> str:
    """The name of a file, or of the file in an archive, without its endings."""
    return Path(file).name.rstrip(":").rsplit(":", 1)[-1].split(".")[0] or "file"


def distinct(name: str, taken: set[str]) -> str:
    """``name``, with a number if it is among ``taken``, to which it is added."""
    numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    free = name if name.lower() not in taken else next(each for each in numbered if each.lower() not in taken)
    taken.add(free.lower())
    return free


def quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name of SQL."""
    return '"' + name.replace('"', '""') + '"'
