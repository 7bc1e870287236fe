"""A scan as a lazy frame of Polars."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars
from polars.io.plugins import register_io_source

from ._scan import FILE, Condition, Piece, Scan


def lazy_frame(scan: Scan) -> polars.LazyFrame:
    """A frame that reads what a query needs of ``scan``."""
    own = polars.DataFrame(scan._first_table().slice(0, 0)).schema
    types = {name: polars.String() if name == FILE else own[name] for name in scan.column_names}

    def read(
        columns: list[str] | None, predicate: polars.Expr | None, count: int | None, batch: int | None
    ) -> Iterator[polars.DataFrame]:
        chosen = columns if columns is not None else scan.column_names
        needed = [*chosen]
        some = scan
        if predicate is not None:
            names = predicate.meta.root_names()
            needed += [name for name in dict.fromkeys(names) if name not in chosen]
            some = scan.prune(*_conditions(predicate))
        for piece, rows in _batches(some.columns(*needed)):
            frame = polars.DataFrame(rows)
            known = frame.columns
            frame = frame.with_columns(
                polars.lit(piece.address if name == FILE else None, types[name]).alias(name)
                for name in needed
                if name not in known
            )
            if predicate is not None:
                frame = frame.filter(predicate)
            frame = frame.select(polars.col(name).cast(types[name]) for name in chosen)
            if count is not None:
                frame = frame.head(count)
                count -= len(frame)
            yield frame
            if count == 0:
                return

    detail = f"{len(scan.files)} files"
    return register_io_source(read, schema=types, explain_name=f"assetq {scan.table}", explain_detail=detail)


def _batches(scan: Scan) -> Iterator[tuple[Piece, Any]]:
    """The record batches of all rows, one after another: a query may need the first ones only."""
    for partition in scan.partitions():
        for piece, table in partition.tables():
            for batch in table._batches():
                yield piece, batch


_OPS = {"Eq": "=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _conditions(predicate: polars.Expr) -> list[Condition]:
    """The comparisons that hold for all rows of ``predicate``. Polars checks the predicate itself in any case."""
    try:
        return list(_of(json.loads(predicate.meta.serialize(format="json"))))
    except (ValueError, polars.exceptions.PolarsError):
        # The form of expressions is Polars' own: of an unknown one nothing is used.
        return []


def _of(node: Any) -> Iterator[Condition]:
    match node:
        case {"BinaryExpr": {"left": left, "op": "And", "right": right}}:
            yield from _of(left)
            yield from _of(right)
        case {"BinaryExpr": {"left": {"Column": str(column)}, "op": str(op), "right": {"Literal": literal}}}:
            yield from _compared(column, _OPS.get(op), literal)
        case {"BinaryExpr": {"left": {"Literal": literal}, "op": str(op), "right": {"Column": str(column)}}}:
            yield from _compared(column, _TURNED.get(_OPS.get(op, "")), literal)
        case {"Column": str(column)}:
            yield Condition(column, "=", True)
        case {"Function": {"input": [{"Column": str(column)}], "function": {"Boolean": "IsNull"}}}:
            yield Condition(column, "null")
        case {"Function": {"input": [{"Column": str(column)}], "function": {"Boolean": "IsNotNull"}}}:
            yield Condition(column, "not null")


def _compared(column: str, op: str | None, literal: Any) -> Iterator[Condition]:
    match literal:
        case {"Dyn": {**typed}} | {"Scalar": {**typed}} if op is not None and len(typed) == 1:
            (value,) = typed.values()
            if isinstance(value, (bool, int, float, str)):
                yield Condition(column, op, value)
