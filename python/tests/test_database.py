"""Lookups in prototype databases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plain
import pytest

import assetq


def test_lookups_find_what_a_plain_reader_finds(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    for expected in plain.resources(samples / "assets.bin"):
        resource = db.lookup(expected.id)
        assert resource is not None
        assert (resource.id, resource.database, resource.record) == (expected.id, expected.database, expected.record)
        assert resource.state == {0: "valid", 3: "deleted"}.get(expected.state, expected.state)
        text = db.lookup(assetq.format_id(expected.id))
        assert text is not None and text.id == expected.id
    assert db.lookup(1) is None


def test_a_resource_knows_its_path_and_its_record(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    row = next(row for row in db["resources"].dicts() if row["type"] == "VisualPrototype" and row["state"] == "valid")
    resource = db.lookup_path(row["path"])
    assert resource is not None
    assert (resource.path, resource.type) == (row["path"], "VisualPrototype")
    assert (resource.offset, resource.size) == (row["offset"], row["size"])
    data = resource.bytes()
    if resource.offset is not None and resource.size is not None:
        assert data == db.read()[resource.offset :][: resource.size]
    assert db.lookup_path("\\" + row["path"].replace("/", "\\")) is not None
    assert db.lookup_path("content/nothing") is None


def test_many_ids_are_looked_up_at_once(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    known = {r.id: r for r in plain.resources(samples / "assets.bin")}
    rng = np.random.default_rng(1)
    ids = rng.choice(np.array([*known, 1, 2, 3], dtype=np.uint64), 100_000)
    found = db.lookup_many(ids)
    assert (found.record.dtype, found.database.dtype) == (np.int32, np.uint8)
    assert len(found.record) == len(found.state) == len(ids)
    for at in range(0, len(ids), 37):
        expected = known.get(int(ids[at]))
        if expected is None:
            assert found.record[at] == -1
        else:
            assert (found.record[at], found.database[at], found.state[at]) == (
                expected.record,
                expected.database,
                expected.state,
            )
    # Of another array every second one, which do not lie side by side.
    assert (db.lookup_many(ids[::2]).record == found.record[::2]).all()
    assert len(db.lookup_many(ids[:0]).record) == 0
    with pytest.raises(TypeError):
        db.lookup_many(ids.astype(np.float64))  # type: ignore[arg-type]


def test_ids_and_their_texts(samples: Path) -> None:
    assert assetq.path_id("content") == 0xA33046442D8327FC
    assert assetq.path_id("res\\content") == assetq.path_id("/content") == assetq.path_id("content")
    assert assetq.name_id("Scene Root") == 0x10C30510
    assert assetq.format_id(42) == "0x000000000000002A" and assetq.format_id(42, 32) == "0x0000002A"
    assert assetq.parse_id("000000000000002A") == assetq.parse_id("42") == 42
    with pytest.raises(assetq.Error):
        assetq.parse_id("content/a")
    with pytest.raises(assetq.Error):
        assetq.format_id(1 << 40, 32)
    db = assetq.open(samples / "assets.bin")
    assert db.path_of(assetq.path_id("content")) == "content" and db.path_of(1) is None
    (own, text) = next(iter(db["strings"]))
    assert db.name_of(own) == text


def test_files_that_are_no_database_say_so(samples: Path) -> None:
    splash = assetq.open(samples / "ship.splash")
    for ask in (lambda: splash.lookup(1), lambda: splash.path_of(1), lambda: splash.meshes(), lambda: splash.lookup_path("a")):
        with pytest.raises(assetq.Error) as raised:
            ask()
        assert raised.value.kind == "unsupported" and "splash" in str(raised.value)
