"""A second reader of the same bytes: nothing but `struct`, and what docs/formats says."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple


class Resource(NamedTuple):
    id: int
    state: int
    database: int
    record: int


def resources(path: Path) -> list[Resource]:
    """The resources of a prototype database, in the order of the slots of its map."""
    data = path.read_bytes()
    base = 0x10 + 0x28
    (capacity,) = struct.unpack_from("<I", data, base)
    buckets, values = (base + at for at in struct.unpack_from("<qq", data, base + 8))
    found = []
    for slot in range(capacity):
        key, occupied = struct.unpack_from("<QQ", data, buckets + 16 * slot)
        (value,) = struct.unpack_from("<I", data, values + 4 * slot)
        if occupied:
            found.append(Resource(key, value & 3, value >> 2 & 0x3F, value >> 8))
    return found


def paths(path: Path) -> list[tuple[int, int, str]]:
    """The id, the parent's id and the name of each path."""
    data = path.read_bytes()
    base = 0x10 + 0x40
    (count,) = struct.unpack_from("<I", data, base)
    (pointer,) = struct.unpack_from("<q", data, base + 8)
    found = []
    for n in range(count):
        at = base + pointer + 32 * n
        own, parent, length, _, text = struct.unpack_from("<QQIIq", data, at)
        name = data[at + 16 + text : at + 16 + text + length - 1].decode()
        found.append((own, parent, name))
    return found


def boxes(path: Path) -> list[tuple[object, ...]]:
    """The boxes of a `.splash`: name, and two corners."""
    data = path.read_bytes()
    (count,) = struct.unpack_from("<I", data)
    at, found = 4, []
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, at)
        name = data[at + 4 : at + 4 + length].decode()
        corners = struct.unpack_from("<6f", data, at + 4 + length)
        found.append((name, *corners))
        at += 4 + length + 24
    return found


class Plate(NamedTuple):
    material: int
    layer: int
    corners: list[tuple[float, float, float]]


def plates(path: Path) -> list[Plate]:
    """The plates of the only armour model of a small sample, found by the tag that begins its data."""
    data = path.read_bytes()
    at = data.index(struct.pack("<I", 0x8000_0001))
    (count,) = struct.unpack_from("<I", data, at + 0x1C)
    at += 0x20
    found = []
    for _ in range(count):
        material, layer = struct.unpack_from("<HH", data, at)
        (vertices,) = struct.unpack_from("<I", data, at + 0x1C)
        at += 0x20
        corners = [struct.unpack_from("<3f", data, at + 16 * n) for n in range(vertices)]
        found.append(Plate(material, layer, corners))
        at += 16 * vertices
    return found


def glb_json(data: bytes) -> dict[str, object]:
    """The JSON chunk of a binary glTF."""
    import json

    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    loaded: dict[str, object] = json.loads(data[20 : 20 + size])
    return loaded
