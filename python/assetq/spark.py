"""Files as tables of Spark 4.1 and newer, read in place by its workers.

    from assetq.spark import AssetqDataSource

    spark.dataSource.register(AssetqDataSource)
    plates = spark.read.format("assetq").option("table", "armor_plates").load("builds/**/*.geometry")

Each worker needs this package, and the files under the same paths. ``load`` takes a path, a glob, ``ARCHIVE:GLOB``, one of
these after ``file://``, or a list of these. Options: ``table`` (default: the main table), ``columns`` (some columns, with
commas between), ``where`` (a condition of assetq), ``partitionBytes``, ``skipDamaged`` (``true`` leaves out damaged rows and
files with a warning in the worker's log). Another option is an error. A schema that is given with ``.schema(…)`` selects
its columns.

Conditions of Spark are not taken over. Spark 4.1 to 4.3 keep them for later queries of the same frame, and a data source
cannot notice it. ``where`` leaves out rows before Spark sees them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ._scan import PARTITION_BYTES, Partition, Scan, local_path, scan
from ._types import Error

__all__ = ["AssetqDataSource"]


#: The options, with what each of them takes. Spark itself gives ``path`` or ``paths``.
_OPTIONS = {
    "table": "a table's name",
    "columns": "names of columns, with commas between",
    "where": "a condition",
    "partitionBytes": "a number of bytes, such as 67108864",
    "skipDamaged": "true or false",
}


class AssetqDataSource(DataSource):
    """One table of the files that a pattern matches, as the format ``assetq``."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "assetq"

    def _scan(self) -> Scan:
        known = {"path", "paths", *map(str.lower, _OPTIONS)}
        unknown = sorted(name for name in self.options if name.lower() not in known)
        if unknown:
            raise Error(f"no option {', '.join(unknown)} (there are {', '.join(_OPTIONS)})", "syntax")
        paths = json.loads(self.options.get("paths", "[]"))
        paths += [self.options["path"]] if "path" in self.options else []
        if not paths:
            raise Error("load(…) needs the files: a path, a glob, ARCHIVE:GLOB, or a list of these", "syntax")
        skip_damaged = self._checked("skipDamaged", "false", "true|false") == "true"
        found = scan(map(_absolute, paths), self.options.get("table"), skip_damaged=skip_damaged)
        if self.options.get("where") is not None:
            found = found.where(self.options["where"])
        if self.options.get("columns") is not None:
            found = found.columns(*(name.strip() for name in self.options["columns"].split(",")))
        return found

    def _checked(self, option: str, default: str, form: str) -> str:
        """The value of an option in lower case, which must have a form."""
        given = self.options.get(option, default)
        if re.fullmatch(form, given, re.IGNORECASE) is None:
            raise Error(f"option {option} takes {_OPTIONS[option]}, not {given!r}", "syntax")
        return given.lower()

    def schema(self) -> StructType:
        """The columns of the table, after the column ``file``."""
        return from_arrow_schema(_signed(self._scan().arrow_schema()))

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns in ``schema``."""
        size = int(self._checked("partitionBytes", str(PARTITION_BYTES), "[1-9][0-9]{0,17}"))
        return _Reader(self._scan().columns(*schema.names), to_arrow_schema(schema), size)


def _absolute(path: str) -> str:
    """A path for executors, which work in folders of their own."""
    path = local_path(path)
    # Before a `:` may be a game's name instead of a path.
    outer, mark, _ = path.partition(":")
    return os.path.abspath(path) if not mark or os.path.exists(outer) else path


def _signed(schema: pyarrow.Schema) -> pyarrow.Schema:
    """Spark has no unsigned numbers of 64 bits; decimals of 20 digits hold them all."""
    is_wide = pyarrow.types.is_uint64
    return pyarrow.schema(
        [field.with_type(pyarrow.decimal128(20, 0)) if is_wide(field.type) else field for field in schema]
    )


@dataclass
class _Part(InputPartition):
    part: Partition


class _Reader(DataSourceReader):
    def __init__(self, scan: Scan, schema: pyarrow.Schema, size: int) -> None:
        self._scan = scan
        self._schema = schema
        self._size = size

    def partitions(self) -> list[_Part]:
        # Spark reads a source of no partitions as one of one.
        empty = Partition(self._scan, ())
        return [_Part(part) for part in self._scan.partitions(self._size) or [empty]]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        assert isinstance(partition, _Part)
        yield from partition.part.batches(self._schema)
