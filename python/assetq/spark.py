"""Files as tables of Spark 4.1 and newer, read in place by its workers.

    from assetq.spark import AssetqDataSource

    spark.dataSource.register(AssetqDataSource)
    plates = spark.read.format("assetq").option("table", "armor_plates").load("builds/**/*.geometry")

Each worker needs this package, and the files under the same paths. Options: ``table`` (default: the main table),
``columns`` (some columns, with commas between), ``where`` (a condition of assetq), ``partitionBytes``,
``skipDamaged`` (``true`` leaves out damaged rows and files with a warning in the worker's log). A schema that is given
with ``.schema(…)`` selects its columns.

Spark passes conditions if ``spark.sql.python.filterPushdown.enabled`` is ``true``; the option ``pushdown`` must be
``true`` as well, because a data source learns of the setting only by an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ._scan import PARTITION_BYTES, Condition, Partition, Scan, scan
from ._types import Error

__all__ = ["AssetqDataSource"]


class AssetqDataSource(DataSource):
    """One table of the files that a pattern matches, as the format ``assetq``."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "assetq"

    def _scan(self) -> Scan:
        path = self.options.get("path")
        if path is None:
            raise Error("load(…) needs the files: a path, a glob, or ARCHIVE:GLOB", "syntax")
        # Executors work in folders of their own. Before a `:` may be a game's name instead of a path.
        outer, mark, _ = path.partition(":")
        if not mark or os.path.exists(outer):
            path = os.path.abspath(path)
        skip_damaged = self.options.get("skipDamaged", "false").lower() == "true"
        found = scan(path, self.options.get("table"), skip_damaged=skip_damaged)
        if self.options.get("where") is not None:
            found = found.where(self.options["where"])
        if self.options.get("columns") is not None:
            found = found.columns(*(name.strip() for name in self.options["columns"].split(",")))
        return found

    def schema(self) -> StructType:
        """The columns of the table, after the column ``file``."""
        return from_arrow_schema(_signed(self._scan().arrow_schema()))

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the columns in ``schema``."""
        size = int(self.options.get("partitionBytes", PARTITION_BYTES))
        of = _FilteringReader if self.options.get("pushdown", "false").lower() == "true" else _Reader
        return of(self._scan().columns(*schema.names), schema, size)


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
    def __init__(self, scan: Scan, schema: StructType, size: int) -> None:
        self._scan = scan
        self._schema = schema
        self._size = size

    def partitions(self) -> list[_Part]:
        # Spark reads a source of no partitions as one of one.
        empty = Partition(self._scan, ())
        return [_Part(part) for part in self._scan.partitions(self._size) or [empty]]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        assert isinstance(partition, _Part)
        yield from partition.part.batches(to_arrow_schema(self._schema, timezone="UTC"))


_OPS = {
    datasource.EqualTo: "=",
    datasource.EqualNullSafe: "=",
    datasource.LessThan: "<",
    datasource.LessThanOrEqual: "<=",
    datasource.GreaterThan: ">",
    datasource.GreaterThanOrEqual: ">=",
    datasource.In: "in",
    datasource.IsNull: "null",
    datasource.IsNotNull: "not null",
}


class _FilteringReader(_Reader):
    def pushFilters(self, filters: list[datasource.Filter]) -> Iterable[datasource.Filter]:
        """Uses the conditions that the engine knows; Spark checks all of them again."""
        for each in filters:
            op = _OPS.get(type(each))
            attribute: tuple[str, ...] = getattr(each, "attribute", ())
            if op is not None and len(attribute) == 1:
                self._scan = self._scan.prune(Condition(attribute[0], op, getattr(each, "value", None)))
            yield each
