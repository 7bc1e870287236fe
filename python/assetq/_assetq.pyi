"""The engine."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ._types import Change, Column, Error, Found, Locations, Reference, Report, Row

_Address = str | os.PathLike[str]
_File = Asset | _Address
_Id = int | str

__all__ = [
    "Answer",
    "ArmorModel",
    "Asset",
    "Mesh",
    "Resource",
    "Rows",
    "Table",
    "__version__",
    "armor_material",
    "dangling",
    "diff",
    "format_id",
    "from_bytes",
    "list_files",
    "name_id",
    "open",
    "parse_id",
    "path_id",
    "refs",
    "sample",
    "sql",
]
__version__: str

def open(
    address: _Address,
    *,
    mmap: bool = True,
    cache: bool = True,
    strict: bool = False,
    names: list[_Address] = ...,
    format_of: str | None = None,
) -> Asset:
    """Opens the file or folder at ``address``, or with ``ARCHIVE:INNER`` the file in an archive.

    A folder that is no archive, a glob, or ``GAME@*`` opens all its files of one format as one: each table has the rows
    of all files, with a first column ``file`` and, for builds, a second one ``build``. Of files of several formats,
    ``format_of`` chooses one, as ``"wdb"``. A damaged file is left out, and ``warnings`` names it; with ``strict`` it is
    an error.

    ``mmap=False`` reads a copy, for files that others may change meanwhile. ``cache=False`` keeps no decoded files of
    archives in the user's cache. With ``strict`` a warning is an error. ``names`` are archives, databases, or lists of
    texts that tell what ids stand for.
    """

def list_files(pattern: _Address) -> tuple[list[tuple[str, int]], list[Error]]:
    """The addresses of the files that ``pattern`` matches, with their sizes, 0 for a folder, and what cannot be listed."""

def from_bytes(data: bytes, name: str = "bytes") -> Asset:
    """Opens a copy of a file in memory."""

def sql(query: str, *files: _File, skip_damaged: bool = False, **named: _File) -> Answer:
    """Asks files in SQL, as ``assetq.sql("SELECT * FROM new.paths EXCEPT SELECT * FROM old.paths", old=a, new=b)``.

    The tables of a single file are there by their own names; of several each file is a schema, called after the file or
    as the keyword says. A database of SQLite may be among them; nothing is ever written to it.
    """

def diff(
    old: _File, new: _File, *, tables: list[str] = ..., where: str | None = None
) -> Found[Change]:
    """The rows that differ between two files of one format, paired by what they are known by."""

def refs(entry: _Id, *files: _File, to: bool = True, from_: bool = True) -> Found[Reference]:
    """What an entry (an id or a path) refers to, and what refers to it, across files."""

def dangling(*files: _File) -> Found[Reference]:
    """The references to ids that are in none of the files."""

def path_id(path: str) -> int:
    """The id of a path, as World of Warships computes it."""

def name_id(name: str) -> int:
    """The id of a name, as World of Warships computes it."""

def format_id(id: int, bits: int = 64) -> str:
    """The text of an id of 64 or 32 bits, as in tables: ``0x000000000000002A``."""

def parse_id(text: str) -> int:
    """The number of an id: ``0x`` and up to 16 digits, 16 hexadecimal digits, or decimal."""

def armor_material(id: int) -> str | None:
    """The name of a collision material in recent builds of World of Warships."""

def sample(folder: _Address, *, size: str = "small", seed: int | None = None, altered: bool = False) -> list[str]:
    """Writes a valid file or folder of every format into ``folder``, to try things on; gives their paths.

    ``size="full"`` makes them as large as the games' own, ``altered`` a later build of ``assets.bin`` besides.
    """

@final
class Asset:
    """An open file or folder of any format; ``for name in asset`` goes over the names of its tables."""

    @property
    def name(self) -> str:
        """The address by which it was opened."""
    @property
    def format(self) -> str:
        """Its format, as ``bwdb`` or ``geometry``."""
    @property
    def version(self) -> str:
        """The version that the file states; empty where the format has none."""
    @property
    def size(self) -> int:
        """Its bytes; 0 for a folder."""
    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the file, in addition to its tables."""
    @property
    def warnings(self) -> list[str]:
        """Faults that reading has gone on from."""
    @property
    def tables(self) -> list[str]:
        """The names of its tables; the first one is the main table."""
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, table: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, table: str, /) -> Table:
        """The table of this name."""
    def cat(self, entry: _Id) -> Any:
        """One entry whole, as dicts and lists, with its references resolved."""
    def raw(self, entry: str) -> bytes:
        """The decoded bytes of an entry that is stored as a stretch of bytes."""
    def read(self, path: str | None = None) -> bytes:
        """The bytes of the file, or the decoded bytes of the file at ``path`` in an archive."""
    def open(self, inner: str) -> Asset:
        """Opens the file that ``inner`` names in this archive."""
    def verify(self, *, deep: bool = False) -> Report:
        """Checks everything that can be checked; with ``deep`` also the files in an archive."""
    def sql(self, query: str, *, skip_damaged: bool = False) -> Answer:
        """Asks the tables of this file in SQL."""
    def lookup(self, id: _Id) -> Resource | None:
        """The resource of a prototype database with this id, by one probe of the file's own index."""
    def lookup_path(self, path: str) -> Resource | None:
        """The resource of a prototype database at this path."""
    def lookup_many(self, ids: NDArray[np.uint64]) -> Locations:
        """Where the records of many ids are. The array must not be changed meanwhile."""
    def path_of(self, id: _Id) -> str | None:
        """The path that an id stands for."""
    def name_of(self, id: _Id) -> str | None:
        """The name that an id of 32 bits stands for."""
    def meshes(self, *with_: _File) -> list[Mesh]:
        """The render groups of a geometry, named and paired as the files in ``with_`` (``assets.bin``, ``models.bin``)
        know them; without such, by the file's own hints, which ``Mesh.pairing`` names. A file in ``with_`` that does not
        draw this geometry is a warning."""
    def armor(self) -> list[ArmorModel]:
        """The armour models of a geometry."""
    def glb(self, *with_: _File, lod: int | None = 0, parts: list[str] | None = None) -> bytes:
        """The shapes of the file as binary glTF. ``lod=None`` means all levels of detail; ``parts`` are some of
        ``meshes`` (the default), ``armor`` and ``collision``. What the command notes is a warning; ``patch`` takes the
        meshes back."""

    def set(self, entry: str, value: Any, *, table: str | None = None) -> None:
        """Changes one value of what ``write`` writes, as ``db.set("Bounds.Max.Y", 7.5)``: an entry as ``cat`` takes it,
        and the steps to the value. With ``table``, ``entry`` is ``ROW.COLUMN``."""
    def patch(
        self, changes: _Address | bytes | Iterable[dict[str, Any]], *, table: str | None = None
    ) -> list[str]:
        """Adds changes to what ``write`` writes: the rows of a patch or exported rows, as dicts or in a file (.ndjson,
        .json, .csv), or the meshes of a binary glTF, as bytes or in a file. Returns what the file makes of such meshes."""
    def write(self, path: _Address, *, overwrite: bool = False) -> None:
        """Writes a copy of the file with all changes, after it was read back and compared with them."""
    def close(self) -> None:
        """Closes the file, as leaving ``with assetq.open(...) as db`` does. Tables, meshes and resources that were taken
        from it keep it open as long as they are there."""
    def __enter__(self) -> Asset: ...
    def __exit__(self, *_raised: object) -> None: ...

@final
class Table:
    """Rows of a table, read when they are asked for. Takers of Arrow (pyarrow, polars, DuckDB, pandas) take it as it is.

    Cells are ``None``, ``bool``, ``int``, ``float``, ``str``, and lists and dicts of them. Ids are text like
    ``0x000000000000002A``; ``numpy`` has their numbers. To Arrow nested cells of one shape go as lists
    and structs, others as JSON, and floats that are not finite as null.
    """

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
    @property
    def schema(self) -> list[Column]:
        """Its columns."""
    def where(self, condition: str) -> Table:
        """The rows that satisfy ``condition``, such as ``size > 10k and name ~ "*.dds"``."""
    def columns(self, *names: str) -> Table:
        """The same rows with these columns only, in this order."""
    def slice(self, first: int, end: int | None = None) -> Table:
        """The rows with the numbers from ``first`` on, up to ``end``. ``where`` does not change the numbers."""
    @property
    def is_random_access(self) -> bool:
        """Whether a walk may begin at any row without extra cost, so that several readers can each read a slice."""
    def skip_damaged(self) -> Table:
        """The same rows less those that are damaged or cannot be found, which ``damage`` lists once they were met.
        Otherwise the first damage is an error."""
    @property
    def damage(self) -> list[Error]:
        """Why rows were left out: an error for each damaged row, and one where rows cannot be found; at most 100."""
    @property
    def damage_count(self) -> int:
        """The number of these errors."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[Row]: ...
    def dicts(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""
    def find(self, key: _Id, column: str | None = None) -> list[dict[str, Any]]:
        """The rows whose ``column`` equals ``key``, by the file's own index where it has one. Without ``column``, the
        one that rows are found by."""
    def numpy(self, column: str) -> NDArray[Any]:
        """A column of numbers, ids or truths as an array; ids are whole numbers in it."""
    def arrow(self) -> Any:
        """The rows as a table of pyarrow, which must be installed."""
    def to_polars(self) -> Any:
        """The rows as a frame of polars, which must be installed."""
    def to_pandas(self) -> Any:
        """The rows as a frame of pandas, which must be installed, and pyarrow."""
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def _batches(self) -> Iterator[Any]: ...
    def _beside(self, name: str) -> Table: ...

@final
class Rows:
    """Rows one after another, read ahead by a thread of the engine."""

    def __iter__(self) -> Rows: ...
    def __next__(self) -> Any: ...

@final
class Answer:
    """The rows that answer a statement of SQL. Takers of Arrow take it as it is."""

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
    @property
    def schema(self) -> list[Column]:
        """Its columns."""
    @property
    def damage(self) -> list[Error]:
        """Why rows were left out with ``skip_damaged``: an error for each of the first damaged rows, and one for each
        table with rows that cannot be found."""
    @property
    def damage_count(self) -> int:
        """The number of damaged rows and of these tables."""
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Row]: ...
    def dicts(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts."""
    def arrow(self) -> Any:
        """The rows as a table of pyarrow, which must be installed."""
    def to_polars(self) -> Any:
        """The rows as a frame of polars, which must be installed."""
    def to_pandas(self) -> Any:
        """The rows as a frame of pandas, which must be installed, and pyarrow."""
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Resource:
    """A resource of a prototype database: where its record is."""

    @property
    def id(self) -> int:
        """Its id, the hash of its path."""
    @property
    def database(self) -> int:
        """The number of the database that holds its record."""
    @property
    def record(self) -> int:
        """The number of its record there."""
    @property
    def state(self) -> str | int:
        """``valid`` where its record can be read, ``deleted`` where it may belong to something else."""
    @property
    def path(self) -> str | None:
        """Its path."""
    @property
    def type(self) -> str | None:
        """The type of its record, as ``VisualPrototype``."""
    @property
    def offset(self) -> int | None:
        """The offset of its record in the file, where its size shows."""
    @property
    def size(self) -> int | None:
        """The bytes of its record."""
    def bytes(self) -> bytes | None:
        """The bytes of its record, if the size of records is known."""

@final
class Mesh:
    """A render group of a geometry. Each access of an array creates a new one."""

    @property
    def name(self) -> str:
        """Its name: the render set's, or one made from the id of its index mapping."""
    @property
    def material(self) -> str | None:
        """The name of its material, where a render set names it."""
    @property
    def model(self) -> str | None:
        """The model that it is part of, where a render set tells."""
    @property
    def lods(self) -> list[int]:
        """The levels of detail of its model that show it."""
    @property
    def pairing(self) -> str:
        """How its vertices and indices were found to belong together."""
    @property
    def positions(self) -> NDArray[np.float32] | None:
        """A row of three for each vertex."""
    @property
    def normals(self) -> NDArray[np.float32] | None:
        """A row of three for each vertex; ``None`` where the vertices have none."""
    @property
    def uvs(self) -> NDArray[np.float32] | None:
        """A row of two for each vertex; ``None`` where the vertices have none."""
    @property
    def indices(self) -> NDArray[np.uint32]:
        """Numbers of vertices, three a triangle."""
    @property
    def triangles(self) -> NDArray[np.uint32]:
        """A row of three numbers of vertices for each triangle."""

@final
class ArmorModel:
    """An armour model of a geometry. Its arrays have a row for each triangle."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def triangles(self) -> NDArray[np.float32]:
        """Three corners of three numbers for each triangle."""
    @property
    def normals(self) -> NDArray[np.float32]:
        """The normals of the corners."""
    @property
    def plates(self) -> NDArray[np.uint32]:
        """The number of the plate that each triangle is part of."""
    @property
    def material_ids(self) -> NDArray[np.uint16]:
        """The collision material of each triangle: see ``armor_material``."""
    @property
    def layers(self) -> NDArray[np.uint16]:
        """The layer of each triangle, from 1."""
