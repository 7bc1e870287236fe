"""One table over many files, in partitions that other processes and machines can read."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import url2pathname

from ._assetq import Table, list_files
from ._assetq import open as open_file
from ._types import Column, Error, NotFoundError

if TYPE_CHECKING:
    import polars as _polars_types
    import pyarrow as _arrow
    import ray.data as _ray_data

__all__ = ["Condition", "Partition", "Piece", "Scan", "scan"]

#: The column with the file of a row.
FILE = "file"
#: Bytes of a partition of several files, and of a piece of one file.
PARTITION_BYTES = 64 << 20
#: Bytes that a file counts for besides its own: the cost of opening it.
OPEN_BYTES = 64 << 10


class Piece(NamedTuple):
    """A file, or some of its rows."""

    #: The address that opens the file.
    address: str
    #: The size of the file in bytes; of a range of rows, its share of them.
    size: int
    #: The number of the first row.
    first: int = 0
    #: The number after the last row; ``None`` for all rows that follow.
    end: int | None = None


class Condition(NamedTuple):
    """A comparison of a column with a value, for pruning and for the engine's filter."""

    #: The name of the column.
    column: str
    #: ``=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``null`` or ``not null``.
    op: str
    #: The value; a tuple of values for ``in``.
    value: Any = None


def scan(
    pattern: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    table: str | None = None,
    *,
    skip_damaged: bool = False,
) -> Scan:
    """One table of all files that ``pattern`` matches, which are opened when their rows are read.

    ``pattern`` is a file, a glob (``builds/**/*.geometry``), a folder, a glob in an archive
    (``GAME:content/**/*.geometry``), one of these after ``file://``, or several of these.
    The rows are the rows of the files in order of their paths, with the path in a first column ``file``; a column
    ``file`` of the table itself is ``file_2``. Without ``table`` it is the main table of the first file. Its columns are
    the columns of the first file. With ``skip_damaged``, damaged rows and files are left out with a warning, and the
    first file is the first one that can be read; otherwise the first damage is an error.
    """
    patterns = [pattern] if isinstance(pattern, (str, os.PathLike)) else list(pattern)
    if not patterns:
        raise NotFoundError("no pattern is given", "not_found")
    # A file that several patterns match is read once.
    files = tuple(dict.fromkeys(piece for each in patterns for piece in _files(os.fspath(each), skip_damaged)))
    origin, first = _first(files, table, skip_damaged)
    schema = (Column(FILE, "text", "key"), *first.schema)
    return Scan(first.name, schema, files, origin, tuple(column.name for column in schema), (), (), skip_damaged)


def local_path(path: str) -> str:
    """The path of a ``file:`` URL; any other path as it is."""
    if not path.startswith("file:/"):
        return path
    host, _, below = path.removeprefix("file:").removeprefix("//").partition("/")
    if host not in ("", "localhost"):
        raise Error(f"{path}: the files of the host {host} are read by a path on this machine", "unsupported")
    return url2pathname(f"/{below}")


def _files(pattern: str, skip_damaged: bool) -> list[Piece]:
    listed, damaged = list_files(local_path(pattern))
    for error in damaged:
        if not skip_damaged or not listed:
            raise error
        warnings.warn(f"{error}: left out", stacklevel=3)
    if not listed:
        raise NotFoundError(f"{pattern}: no file matches", "not_found")
    return [Piece(address, size) for address, size in listed]


def _first(files: tuple[Piece, ...], table: str | None, skip_damaged: bool) -> tuple[str, Table]:
    """The address of the first file that can be read, and its table."""
    damage: list[Error] = []
    for file in files:
        try:
            return file.address, _open_table(file.address, table)
        except NotFoundError:
            raise
        except Error as error:
            if not skip_damaged:
                raise
            damage.append(error)
    raise damage[0]


def _open_table(address: str, table: str | None) -> Table:
    """A table of a file, or its main table, by the names that its columns have beside the column ``file``."""
    asset = open_file(address)
    return asset[asset.tables[0] if table is None else table]._beside(FILE)


@dataclass(frozen=True)
class Scan:
    """Rows of one table of many files. Nothing is read before rows are requested; it can be sent to other processes."""

    #: The name of the table.
    table: str
    _schema: tuple[Column, ...]
    #: The files, in order.
    files: tuple[Piece, ...]
    _origin: str
    _chosen: tuple[str, ...]
    _where: tuple[str, ...]
    _pruning: tuple[str, ...]
    _skip_damaged: bool

    @property
    def schema(self) -> list[Column]:
        """Its columns."""
        by_name = {column.name: column for column in self._schema}
        return [by_name[name] for name in self._chosen]

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return list(self._chosen)

    def columns(self, *names: str) -> Scan:
        """The same rows with these columns only, in this order."""
        for name in names:
            if name not in self._chosen:
                known = ", ".join(self._chosen)
                raise NotFoundError(f"table {self.table}: no column {name} (there are {known})", "not_found")
        return replace(self, _chosen=names)

    def where(self, condition: str) -> Scan:
        """The rows that satisfy ``condition``, as for a table of one file; the path ``file`` is no column of that."""
        self._first_table().where(condition)
        return replace(self, _where=(*self._where, condition))

    def prune(self, *conditions: Condition) -> Scan:
        """The rows that may satisfy all ``conditions``, and perhaps others. Conditions on ``file`` leave out whole files.

        It is for query engines, which check their conditions again.
        """
        kinds = {column.name: column.kind for column in self._schema}
        known = tuple(each for each in conditions if each.column in kinds)
        files = tuple(file for file in self.files if all(_may_hold(each, file.address) for each in known))
        texts = (_text(each, kinds[each.column]) for each in known if each.column != FILE)
        return replace(self, files=files, _pruning=(*self._pruning, *(text for text in texts if text is not None)))

    def partitions(self, size: int = PARTITION_BYTES) -> list[Partition]:
        """Parts of about ``size`` bytes: several small files, or a range of the rows of a large one.

        A partition can be sent to other processes. Files of at least twice ``size`` are opened to count their rows.
        """
        scan, left = replace(self, files=()), size
        parts: list[Partition] = []
        pieces: list[Piece] = []
        for piece in self._pieces(max(size, 1)):
            cost = piece.size + OPEN_BYTES
            if pieces and cost > left:
                parts.append(Partition(scan, tuple(pieces)))
                pieces, left = [], size
            pieces.append(piece)
            left -= cost
        return [*parts, Partition(scan, tuple(pieces))] if pieces else parts

    def _first_table(self) -> Table:
        return _open_table(self._origin, self.table)

    def _pieces(self, size: int) -> Iterator[Piece]:
        for file in self.files:
            count = file.size // size
            if count > 1:
                try:
                    table = _open_table(file.address, self.table)
                    count = min(count, len(table) if table.is_random_access else 0)
                except Error:
                    # The reader of the partition reports the fault, or leaves the file out.
                    count = 0
            if count < 2:
                yield file
                continue
            ends = [len(table) * n // count for n in range(count + 1)]
            for first, end in zip(ends, ends[1:]):
                yield Piece(file.address, file.size // count, first, end)

    def arrow_schema(self) -> _arrow.Schema:
        """The schema of the rows in Arrow."""
        import pyarrow

        own = pyarrow.schema(self._first_table())
        file = pyarrow.field(FILE, pyarrow.string())
        return pyarrow.schema([file if name == FILE else own.field(name) for name in self._chosen])

    def to_arrow(self) -> _arrow.RecordBatchReader:
        """The rows as a reader of pyarrow, which DuckDB and others take. It reads each time that it is called."""
        import pyarrow

        schema = self.arrow_schema()
        batches = (batch for part in self.partitions() for batch in part.batches(schema))
        return pyarrow.RecordBatchReader.from_batches(schema, batches)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.arrow_schema().__arrow_c_schema__()

    def to_polars(self) -> _polars_types.LazyFrame:
        """The rows as a lazy frame. Polars requests columns, conditions and the number of rows, and no more is read."""
        from ._polars import lazy_frame

        return lazy_frame(self)

    def to_ray(self, **options: Any) -> _ray_data.Dataset:
        """The rows as a data set of Ray, with a read task for each partition; ``options`` are those of ``read_datasource``."""
        from ._ray import dataset

        return dataset(self, **options)


@dataclass(frozen=True)
class Partition:
    """Some files, or a range of the rows of one file. It can be sent to another process, which opens the files there."""

    #: The rows of the files that are selected; it has no files of its own.
    scan: Scan
    #: The files.
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        """The size of its files in bytes, or of its share of one."""
        return sum(piece.size for piece in self.pieces)

    def tables(self) -> Iterator[tuple[Piece, Table]]:
        """Each file with its own table, less the columns that the table does not have."""
        scan = self.scan
        for piece in self.pieces:
            try:
                table = _open_table(piece.address, scan.table)
                for condition in (*scan._where, *scan._pruning):
                    table = table.where(condition)
                table = table.slice(piece.first, piece.end)
                known = table.column_names
                # Some column tells the number of rows; which rows are damaged, all columns tell.
                some = known if scan._skip_damaged else known[:1]
                table = table.columns(*([name for name in scan._chosen if name in known] or some))
            except Error as error:
                if not scan._skip_damaged:
                    raise
                warnings.warn(f"{piece.address}: left out: {error}", stacklevel=2)
                continue
            if not scan._skip_damaged:
                yield piece, table
                continue
            table = table.skip_damaged()
            yield piece, table
            if table.damage_count:
                count, first = table.damage_count, table.damage[0]
                faults = "1 fault" if count == 1 else f"{count} faults, the first"
                warnings.warn(f"rows left out for {faults}: {first}", stacklevel=2)

    def batches(self, schema: _arrow.Schema | None = None) -> Iterator[_arrow.RecordBatch]:
        """The rows as record batches of pyarrow, in the columns and types of ``schema``."""
        import pyarrow

        wanted = self.scan.arrow_schema() if schema is None else schema
        for piece, table in self.tables():
            file = pyarrow.scalar(piece.address)
            for stream in table._batches():
                batch = pyarrow.RecordBatchReader.from_stream(stream).read_next_batch()
                own = set(batch.schema.names)
                columns = [
                    pyarrow.repeat(file, len(batch)).cast(field.type)
                    if field.name == FILE
                    else batch[field.name].cast(field.type)
                    if field.name in own
                    else pyarrow.nulls(len(batch), field.type)
                    for field in wanted
                ]
                # Batches without columns keep their number of rows.
                yield pyarrow.RecordBatch.from_arrays(columns, schema=wanted) if columns else batch.select([])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _may_hold(condition: Condition, file: str) -> bool:
    """Whether rows of ``file`` may satisfy ``condition``."""
    column, op, value = condition
    if column != FILE:
        return True
    if op in ("null", "not null"):
        return op == "not null"
    if op == "in":
        return any(each == file for each in value)
    if not isinstance(value, str):
        return True
    # Engines order texts by their bytes, too.
    own, other = file.encode(), value.encode()
    return {"=": own == other, "<": own < other, "<=": own <= other, ">": own > other, ">=": own >= other}.get(op, True)


#: The texts of ids and GUIDs that are compared as texts by engines, and as numbers by the engine of assetq.
_EXACT = {
    "id64": re.compile("0x[0-9A-F]{16}"),
    "id32": re.compile("0x[0-9A-F]{8}"),
    "guid": re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
}
#: Strict comparisons of floats are not strict here: a double between two floats is rounded to one of them.
_LOOSE = {"<": "<=", ">": ">="}
#: Values of ``in`` that are compared with each row.
_MOST_VALUES = 100


def _text(condition: Condition, kind: str) -> str | None:
    """The condition in the engine's words, or ``None`` if there is no condition that holds for all its rows."""
    column, op, value = condition
    if op in ("null", "not null"):
        # Floats that are not finite are null in Arrow only.
        is_sure = kind in ("bool", "int", "uint", "id64", "id32", "guid", "text")
        return f"{_named(column)} {'=' if op == 'null' else '!='} null" if is_sure else None
    if op == "in":
        if not 0 < len(value) <= _MOST_VALUES:
            return None
        each = [_text(Condition(column, "=", one), kind) for one in value]
        return None if None in each else f"({' or '.join(filter(None, each))})"
    if op not in ("=", "<", "<=", ">", ">="):
        return None
    if kind in ("int", "uint"):
        literal = str(value) if isinstance(value, int) and not isinstance(value, bool) else None
    elif kind in ("f32", "f64"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # A literal has no exponent.
        literal = format(Decimal(repr(float(value))), "f") if is_number and math.isfinite(value) else None
        op = _LOOSE.get(op, op)
    elif kind == "bool":
        literal = str(value).lower() if isinstance(value, bool) and op == "=" else None
    elif kind == "text":
        literal = _quoted(value) if isinstance(value, str) else None
    elif kind in _EXACT:
        literal = _quoted(value) if isinstance(value, str) and _EXACT[kind].fullmatch(value) else None
    else:
        literal = None
    return None if literal is None else f"{_named(column)} {op} {literal}"
