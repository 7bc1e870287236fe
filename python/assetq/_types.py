"""Records that the engine hands out, and its exception."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Iterable, Iterator, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Change",
    "Check",
    "Column",
    "Error",
    "Found",
    "Locations",
    "MissingFileError",
    "NotFoundError",
    "Reference",
    "Report",
    "Row",
]


class Error(Exception):
    """A fault, with its part, its file and its absolute offset.

    ``kind`` is one of ``io``, ``unknown_format``, ``git_lfs_pointer``, ``unknown_folder``, ``unsupported``,
    ``bad_magic``, ``bad_version``, ``out_of_bounds``, ``bad_pointer``, ``bad_value``, ``checksum``, ``codec``, ``text``, ``cycle``, ``limit``,
    ``not_found``, ``not_installed``, ``syntax``, ``damaged`` and ``closed``.
    """

    #: What kind of fault it is.
    kind: str
    #: The part of the file that it concerns; empty for the whole file.
    part: str
    #: The absolute file offset of the bytes that show it, where there are such.
    offset: int | None
    #: The file, where it is about one.
    file: str | None

    def __init__(
        self, message: str, kind: str = "", part: str = "", offset: int | None = None, file: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.part = part
        self.offset = offset
        self.file = file

    def __str__(self) -> str:
        # KeyError shows its message in quotes.
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str, int | None, str | None]]:
        return type(self), (str(self), self.kind, self.part, self.offset, self.file)


class NotFoundError(Error, KeyError):
    """A table, column or entry that a file does not have."""


class MissingFileError(Error, FileNotFoundError):
    """A file that does not exist, on this machine or in an archive."""

    def __init__(
        self, message: str, kind: str = "", part: str = "", offset: int | None = None, file: str | None = None
    ) -> None:
        super().__init__(message, kind, part, offset, file)
        self.errno = errno.ENOENT
        self.strerror = message
        self.filename = file


class Row(tuple[Any, ...]):
    """The cells of a row, in the order of the columns and by their names: ``row[0]``, ``row["size"]``."""

    __slots__ = ()
    #: The names of the columns, with their numbers.
    numbers: ClassVar[dict[str, int]] = {}

    @classmethod
    def of_columns(cls, names: Iterable[str]) -> type[Row]:
        """The class of rows with these columns."""
        return type("Row", (cls,), {"__slots__": (), "numbers": {name: n for n, name in enumerate(names)}})

    def __getitem__(self, key: Any) -> Any:  # type: ignore[override]
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        number = self.numbers.get(key)
        if number is None:
            raise NotFoundError(f"no column {key!r}; there are {', '.join(self.numbers)}", "not_found")
        return tuple.__getitem__(self, number)

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (tuple(self.numbers), tuple(self))


def _row(names: tuple[str, ...], cells: tuple[Any, ...]) -> Row:
    return Row.of_columns(names)(cells)


class Column(NamedTuple):
    """A column of a table."""

    #: Its name.
    name: str
    #: The kind of its cells: ``bool``, ``int``, ``uint``, ``f32``, ``f64``, ``id64``, ``id32``, ``guid``, ``text``,
    #: ``nested`` or ``any``. Any cell may be ``None`` besides.
    kind: str
    #: The role of its cells in their row: ``value``, ``key``, ``place``, ``reference`` or ``resolved``.
    role: str


class Locations(NamedTuple):
    """Where the records of many ids are: arrays as long as that of the ids."""

    #: The number of the record in its database; -1 for an id that the file does not have.
    record: NDArray[np.int32]
    #: The number of the database.
    database: NDArray[np.uint8]
    #: 0 where the record can be read, 3 where the resource was deleted.
    state: NDArray[np.uint8]


class Check(NamedTuple):
    """One check of a file."""

    #: Its name.
    name: str
    #: Whether nothing was found.
    ok: bool
    #: What was looked at.
    detail: str
    #: How many errors were found.
    found: int
    #: The first of them, at most 100.
    findings: list[Error]


class Report(NamedTuple):
    """What ``verify`` found."""

    #: Whether every check passed.
    ok: bool
    #: The checks, in the order in which they were made.
    checks: list[Check]


class Change(NamedTuple):
    """A row that differs between two files."""

    #: Its table.
    table: str
    #: ``added``, ``removed`` or ``changed``.
    change: str
    #: What the row is known by in both files: one value, or a dict of them.
    key: Any
    #: Its fields in the old file that differ; all of them where it was removed, ``None`` where it was added.
    old: dict[str, Any] | None
    #: Its fields in the new file.
    new: dict[str, Any] | None


class Reference(NamedTuple):
    """A reference of one entry to another."""

    #: ``to`` where the entry that was asked for refers, ``from`` where it is referred to.
    direction: str
    #: The id of the other entry, where it has one.
    id: str | None
    #: The path of the other entry, where a file knows it.
    path: str | None
    #: The table in which the reference stands.
    table: str
    #: The place in its row.
    column: str
    #: The file.
    file: str
    #: The row.
    row: int
    #: The id of the entry that was asked for, or of the one that refers to nothing that exists.
    entry: str | None


T = TypeVar("T")


class Found(Generic[T]):
    """A list of what was found, with the damage that was met on the way."""

    def __init__(self, items: list[T], damage: list[Error], notes: list[str]) -> None:
        #: What was found.
        self.items = items
        #: Parts of the files that could not be read.
        self.damage = damage
        #: Parts that were left out, and why.
        self.notes = notes

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]

    def __repr__(self) -> str:
        return f"<assetq.Found: {len(self.items)} items, {len(self.damage)} damaged parts>"


# They are seen under the name by which they are had.
for _name in __all__:
    globals()[_name].__module__ = "assetq"
