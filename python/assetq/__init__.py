"""Game-asset files as tables, trees and meshes.

>>> import assetq
>>> folder = getfixture("samples")
>>> db = assetq.open(folder / "assets.bin")
>>> db.format, len(db["paths"])
('bwdb', 68)
>>> [row for row in db["databases"].where("records > 5").columns("type", "records")]
[('MaterialPrototype', 8)]

A file is mapped, not loaded: opening reads its headers, and whatever is asked for is read in place. Nobody may change a
file while it is open; ``open(..., mmap=False)`` reads a copy where that cannot be promised.
"""

from ._assetq import (
    Answer,
    ArmorModel,
    Asset,
    Mesh,
    Resource,
    Rows,
    Table,
    __version__,
    armor_material,
    dangling,
    diff,
    format_id,
    from_bytes,
    name_id,
    open,
    parse_id,
    path_id,
    refs,
    sample,
    sql,
)
from ._duckdb import connect
from ._scan import Condition, Partition, Piece, Scan, scan
from ._types import (
    Change,
    Check,
    Column,
    Error,
    Found,
    Locations,
    MissingFileError,
    NotFoundError,
    Reference,
    Report,
    Row,
)

__all__ = [
    "Answer",
    "ArmorModel",
    "Asset",
    "Change",
    "Check",
    "Column",
    "Condition",
    "Error",
    "Found",
    "Locations",
    "Mesh",
    "MissingFileError",
    "NotFoundError",
    "Partition",
    "Piece",
    "Reference",
    "Report",
    "Resource",
    "Row",
    "Rows",
    "Scan",
    "Table",
    "__version__",
    "armor_material",
    "connect",
    "dangling",
    "diff",
    "format_id",
    "from_bytes",
    "name_id",
    "open",
    "parse_id",
    "path_id",
    "refs",
    "sample",
    "scan",
    "sql",
]
