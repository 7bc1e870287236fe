"""Tables: rows, conditions, columns, and what takes Arrow."""

from __future__ import annotations

import json
import struct
import threading
from pathlib import Path

import numpy as np
import plain
import pytest

import assetq


def test_every_format_opens_and_every_table_reads(samples: Path) -> None:
    opened = {}
    # The pixels beside the header of a texture are no file that opens by itself.
    for path in sorted(path for path in samples.iterdir() if path.suffix != ".imgb"):
        asset = assetq.open(path)
        opened[asset.format] = asset
        assert asset.tables and list(asset) == asset.tables and len(asset) == len(asset.tables)
        for name in asset:
            table = asset[name].skip_damaged()
            rows = list(table)
            assert all(len(row) == len(table.column_names) for row in rows), (path, name)
            assert [tuple(row.values()) for row in table.dicts()] == rows or has_nan(rows)
    assert len(opened) >= 13


def has_nan(rows: list[tuple[object, ...]]) -> bool:
    return "nan" in repr(rows).lower()


def test_rows_are_those_of_a_plain_reader(samples: Path) -> None:
    boxes = assetq.open(samples / "ship.splash")["boxes"]
    assert list(boxes) == plain.boxes(samples / "ship.splash")
    assert len(boxes) == 8
    paths = assetq.open(samples / "assets.bin")["paths"].columns("id", "parent_id", "name")
    expected = plain.paths(samples / "assets.bin")
    ids = [(int(own, 16), int(parent or "0", 16), name) for own, parent, name in paths]
    assert ids == expected
    assert paths.column_names == ["id", "parent_id", "name"]
    assert [column.kind for column in paths.schema] == ["id64", "id64", "text"]


def test_where_is_what_python_would_choose(samples: Path) -> None:
    vertices = assetq.open(samples / "ship.geometry")["vertices"]
    chosen = vertices.where("x > 0 and index < 50").columns("index", "x")
    expected = [(row["index"], row["x"]) for row in vertices.dicts() if row["x"] > 0 and row["index"] < 50]
    assert list(chosen) == expected and len(chosen) == len(expected) > 0
    assert list(chosen.where("index >= 10")) == [row for row in expected if row[0] >= 10]
    assert chosen.name == "vertices" and bool(chosen) and "vertices" in repr(chosen)


def test_find_uses_a_key(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    path = next(row["path"] for row in db["resources"].dicts() if row["path"].endswith(".visual"))
    by_id = db["resources"].find(assetq.path_id(path))
    assert [row["path"] for row in by_id] == [path]
    assert db["resources"].find(assetq.format_id(assetq.path_id(path))) == by_id
    assert db["resources"].find(path, "path") == by_id
    assert db["resources"].find(1) == []
    box = assetq.open(samples / "ship.splash")["boxes"]
    name = plain.boxes(samples / "ship.splash")[2][0]
    assert [row["name"] for row in box.find(str(name))] == [name]


def test_numpy_columns_have_the_numbers(samples: Path) -> None:
    boxes = assetq.open(samples / "ship.splash")["boxes"]
    expected = plain.boxes(samples / "ship.splash")
    assert boxes.numpy("min_x").dtype == np.float32
    assert boxes.numpy("min_x").tolist() == [box[1] for box in expected]
    ids = assetq.open(samples / "assets.bin")["resources"].numpy("id")
    assert ids.dtype == np.uint64
    assert set(ids.tolist()) == {r.id for r in plain.resources(samples / "assets.bin") if r.id}
    with pytest.raises(assetq.Error) as raised:
        boxes.numpy("name")
    assert raised.value.kind == "unsupported"


def test_arrow_reaches_pyarrow_as_it_is(samples: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    boxes = assetq.open(samples / "ship.splash")["boxes"]
    table = pyarrow.table(boxes)
    assert table.column_names == boxes.column_names
    assert [tuple(row.values()) for row in table.to_pylist()] == list(boxes)
    assert pyarrow.schema(boxes) == table.schema
    assert pyarrow.table(boxes.where("min_x > 1e30")).num_rows == 0
    # What is nested and of one shape comes as lists and structs, the same as what Python has.
    assets = assetq.open(samples / "assets.bin")
    for table in (assets["visuals"].columns("min", "path"), assets["render_sets"].columns("nodes")):
        assert pyarrow.table(table).to_pylist() == list(table.dicts())
    assert pyarrow.schema(assets["visuals"]).field("min").type == pyarrow.list_(pyarrow.field("item", pyarrow.float32()))
    # Of several shapes it comes as JSON.
    values = assets["material_properties"].columns("value")
    for row, text in zip(values.dicts(), pyarrow.table(values).to_pylist()):
        if isinstance(row["value"], list):
            assert np.float32(json.loads(text["value"])).tolist() == row["value"]


def test_arrow_reaches_polars_duckdb_and_pandas(samples: Path) -> None:
    boxes = assetq.open(samples / "ship.splash")["boxes"]
    rows, taken = list(boxes), 0
    try:
        import polars

        assert polars.DataFrame(boxes).rows() == rows
        taken += 1
    except ImportError:
        pass
    try:
        import duckdb

        assert duckdb.sql("SELECT * FROM boxes").fetchall() == rows
        assert duckdb.sql("SELECT count(*) FROM boxes WHERE min_x > 0").fetchall() == [(len(boxes.where("min_x > 0")),)]
        taken += 1
    except ImportError:
        pass
    try:
        import pandas

        assert [tuple(row) for row in pandas.DataFrame.from_arrow(boxes).itertuples(index=False)] == rows
        taken += 1
    except ImportError:
        pass
    if not taken:
        pytest.skip("none of polars, duckdb and pandas is there")


def test_a_damaged_row_is_an_error_unless_it_is_left_out(samples: Path, tmp_path: Path) -> None:
    data = bytearray((samples / "assets.bin").read_bytes())
    (own, _, _) = plain.paths(samples / "assets.bin")[0]
    at = data.rindex(struct.pack("<Q", own))
    # The path becomes its own folder.
    data[at + 8 : at + 16] = struct.pack("<Q", own)
    paths = assetq.from_bytes(bytes(data), "assets.bin")["paths"]
    with pytest.raises(assetq.Error) as raised:
        list(paths)
    assert raised.value.kind == "cycle" and "paths" in raised.value.part and raised.value.file == "assets.bin"
    rest = paths.skip_damaged()
    count = len(plain.paths(samples / "assets.bin"))
    left = len(list(rest))
    assert 0 < left < count and rest.damage_count == count - left
    assert [type(error) for error in rest.damage[:1]] == [assetq.Error] and rest.damage[0].kind == "cycle"
    try:
        import pyarrow
    except ImportError:
        return
    with pytest.raises(Exception, match="cycle"):
        pyarrow.table(paths)
    assert pyarrow.table(paths.skip_damaged()).num_rows == left


def test_a_walk_that_is_left_keeps_nothing(samples: Path) -> None:
    before = threading.active_count()
    table = assetq.open(samples / "ship.geometry")["vertices"]
    for _ in range(50):
        assert next(iter(table))
    assert threading.active_count() == before


def test_python_goes_on_while_the_engine_works(samples: Path) -> None:
    """Threads of Python iterate over one table at once, each over all of its rows."""
    table = assetq.open(samples / "ship.geometry")["triangles"]
    rows, seen = list(table), []
    threads = [threading.Thread(target=lambda: seen.append(list(table))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [rows] * 8
    shared, parts = iter(table), []
    threads = [threading.Thread(target=lambda: parts.append(list(shared))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sum(parts, [])) == sorted(rows)


def test_names_that_are_not_there_are_errors_with_those_that_are(samples: Path) -> None:
    asset = assetq.open(samples / "ship.splash")
    assert "boxes" in asset and "nope" not in asset
    for ask in (lambda: asset["nope"], lambda: asset["boxes"].columns("nope"), lambda: asset["boxes"].where("nope = 1")):
        with pytest.raises(assetq.Error, match="nope") as raised:
            ask()
        assert raised.value.kind in ("not_found", "syntax")


def test_rows_go_to_other_libraries_by_name(samples: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = assetq.open(samples / "assets.bin")["databases"].columns("type", "records")
    expected = table.arrow()
    assert expected.equals(pyarrow.table(table))
    polars = pytest.importorskip("polars")
    assert table.to_polars().equals(polars.DataFrame(table))
    pytest.importorskip("pandas")
    assert list(table.to_pandas().columns) == ["type", "records"]


def test_a_notebook_shows_the_first_rows(samples: Path) -> None:
    db = assetq.open(samples / "assets.bin")
    html = db["databases"].columns("type", "records")._repr_html_()
    assert "<th>type</th>" in html and "<td>MaterialPrototype</td>" in html
    assert db["paths"]._repr_html_().count("<tr>") == 21
    assert "&lt;b&gt;" in db.sql("SELECT '<b>' AS text")._repr_html_()
