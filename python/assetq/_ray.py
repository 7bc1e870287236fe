"""A scan as a data set of Ray."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from ._scan import Partition, Scan


def dataset(scan: Scan, **options: Any) -> ray.data.Dataset:
    """A data set that reads each partition in a task."""
    data: ray.data.Dataset = ray.data.read_datasource(_Source(scan), **options)
    return data


def _read(partition: Partition) -> Iterator[pyarrow.Table]:
    """The rows in blocks of the size that Ray wants, as each block is scheduled."""
    schema = partition.scan.arrow_schema()
    most = ray.data.DataContext.get_current().target_max_block_size or math.inf
    batches: list[pyarrow.RecordBatch] = []
    size = 0
    for batch in partition.batches(schema):
        if batches and size + batch.nbytes > most:
            yield pyarrow.Table.from_batches(batches, schema)
            batches, size = [], 0
        batches.append(batch)
        size += batch.nbytes
    yield pyarrow.Table.from_batches(batches, schema)


class _Source(Datasource):
    def __init__(self, scan: Scan) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self._scan = scan

    def get_name(self) -> str:
        return f"assetq {self._scan.table}"

    def estimate_inmemory_data_size(self) -> int | None:
        return sum(file.size for file in self._scan.files)

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        schema, tasks = self._scan.arrow_schema(), []
        for part in self._scan.partitions():
            files = tuple(dict.fromkeys(piece.address for piece in part.pieces))
            metadata = BlockMetadata(num_rows=None, size_bytes=part.size, input_files=files, exec_stats=None)
            tasks.append(ReadTask(partial(_read, part), metadata, schema, per_task_row_limit))
        return tasks
