"""One table over many files: the same rows for every engine, and no more read than needed."""

from __future__ import annotations

import json
import pickle
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assetq
from assetq import Condition, Scan

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def ships(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with geometries of two ships in several folders, and a file of another format."""
    folder = tmp_path_factory.mktemp("ships")
    for path in ("a/bow.geometry", "a/b/stern.geometry", "c/mid.geometry"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(samples / "ship.geometry", folder / path)
    shutil.copy(samples / "ship.splash", folder / "c")
    return folder


@pytest.fixture(scope="module")
def many_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 50,000 texts. The last text leads outside of the file."""
    count = 50_000
    texts = [f"text {number}".encode() for number in range(count)]
    places, at = [], 28 + 16 * count
    for text in texts:
        places += [len(text), at]
        at += len(text) + 1
    keys, places[-1] = places[:], at * 2
    data = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    data += struct.pack(f"<{4 * count}I", *keys, *places) + b"".join(text + b"\0" for text in texts)
    path = tmp_path_factory.mktemp("texts") / "many.mo"
    path.write_bytes(data)
    return path


def rows_by_sql(folder: Path, query: str) -> Rows:
    """The answers of the engine's own SQL for each file, after the file's path."""
    files = sorted(map(str, folder.glob("**/*.geometry")))
    rows = ((file, *row) for file in files for row in assetq.open(file).sql(query))
    # SQL has single floats by their shortest decimals.
    return [tuple(float(np.float32(cell)) if isinstance(cell, float) else cell for cell in row) for row in rows]


def vertices(ships: Path) -> Scan:
    return assetq.scan(ships / "**/*.geometry", "vertices")


def test_a_scan_lists_files_and_opens_one(ships: Path) -> None:
    scan = vertices(ships)
    assert [piece.address for piece in scan.files] == sorted(map(str, ships.glob("**/*.geometry")))
    assert scan.column_names[:2] == ["file", assetq.open(scan.files[0].address)["vertices"].column_names[0]]
    assert [column.kind for column in scan.columns("x", "file").schema] == ["f32", "text"]
    with pytest.raises(assetq.NotFoundError, match="nope"):
        scan.columns("nope")
    with pytest.raises(assetq.NotFoundError, match="no file"):
        assetq.scan(ships / "*.nope")
    with pytest.raises(assetq.Error, match="nope"):
        scan.where("nope = 1")


def test_several_patterns_and_urls_of_files(ships: Path) -> None:
    stern, bow, mid = (str(path) for path in sorted(ships.glob("**/*.geometry")))
    addresses = lambda pattern: [piece.address for piece in assetq.scan(pattern, "vertices").files]  # noqa: E731
    assert addresses([ships / "c/*.geometry", bow, f"{ships}/**/mid*.geometry"]) == [mid, bow]
    assert addresses(f"{ships.as_uri()}/**/*.geometry") == addresses(f"file:{ships}/**/*.geometry") == [stern, bow, mid]
    spaced = ships.parent / "two words"
    spaced.mkdir()
    shutil.copy(bow, spaced)
    assert addresses((spaced / "bow.geometry").as_uri()) == [str(spaced / "bow.geometry")]
    with pytest.raises(assetq.Error, match="host nas"):
        assetq.scan("file://nas/share/bow.geometry")
    with pytest.raises(assetq.NotFoundError, match=r"\*\.nope: no file"):
        assetq.scan([bow, ships / "*.nope"])


def test_a_table_with_a_column_file_of_its_own(samples: Path) -> None:
    town = samples / "town.wdata"
    own = assetq.open(town)["scenes"]
    texts = [row["file"] for row in own]
    scan = assetq.scan(town, "scenes")
    assert scan.column_names == ["file", *("file_2" if name == "file" else name for name in own.column_names)]
    (part,) = scan.columns("file_2").where(f"file_2 = '{texts[0]}'").partitions()
    assert [row["file_2"] for _, table in part.tables() for row in table] == texts[:1] != texts
    with pytest.raises(assetq.Error, match="file_2"):
        scan.where("file = 'x'")
    polars = pytest.importorskip("polars")
    frame = scan.to_polars().filter(polars.col("file_2") == texts[1]).select("file", "file_2").collect()
    assert frame.rows() == [(str(town), texts[1])]
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(scan)["file_2"].to_pylist() == texts


def test_partitions_are_files_and_ranges_of_rows(ships: Path, samples: Path) -> None:
    scan = vertices(ships).columns("file", "index")
    (whole,) = scan.partitions()
    assert len(whole.pieces) == 3 and whole.size == sum(file.size for file in scan.files)
    each = scan.partitions(1)
    assert [part.pieces for part in each] == [(file,) for file in scan.files], "no row is found without those before it"
    sent = pickle.loads(pickle.dumps(each))
    read = [(piece.address, *row) for part in sent for piece, table in part.tables() for row in table]
    assert read == rows_by_sql(ships, 'SELECT "index" FROM vertices')

    nodes = assetq.scan(samples / "assets.bin", "skeleton_nodes").columns("index")
    parts = nodes.partitions(nodes.files[0].size // 4)
    count = len(assetq.open(samples / "assets.bin")["skeleton_nodes"])
    assert [piece.end for part in parts for piece in part.pieces] == [count * n // 4 for n in range(1, 5)]
    rows = [row for part in parts for _, table in part.tables() for row in table]
    assert rows == list(assetq.open(samples / "assets.bin")["skeleton_nodes"].columns("index"))


def test_arrow_and_duckdb_have_the_rows_of_sql(ships: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    scan = vertices(ships).columns("file", "index", "x")
    table = pyarrow.table(scan)
    expected = rows_by_sql(ships, 'SELECT "index", x FROM vertices')
    assert [tuple(row.values()) for row in table.to_pylist()] == expected and table.schema == scan.arrow_schema()
    assert pyarrow.table(scan.where("x > 0").columns("file")).num_rows == sum(row[2] > 0 for row in expected)
    duckdb = pytest.importorskip("duckdb")
    counted = duckdb.sql('SELECT file, count(*) FROM scan WHERE x > 0 GROUP BY 1 ORDER BY 1').fetchall()
    assert counted == rows_by_sql(ships, "SELECT count(*) FROM vertices WHERE x > 0")


def test_polars_reads_what_a_query_needs(ships: Path) -> None:
    polars = pytest.importorskip("polars")
    lazy = vertices(ships).to_polars()
    col = polars.col
    some = lazy.filter((col("x") > 0.1) & (col("index") < 50)).select("file", "index", "x").collect()
    expected = rows_by_sql(ships, 'SELECT "index", x FROM vertices')
    assert some.rows() == [row for row in expected if row[2] > 0.1 and row[1] < 50] != []
    assert lazy.select(polars.len()).collect().item() == len(expected)
    assert lazy.head(7).select("index").collect().rows() == [row[1:2] for row in expected[:7]]
    last = str(ships / "c/mid.geometry")
    by_file = lazy.filter(col("file") == last).group_by("file").agg(polars.len()).collect()
    assert by_file.rows() == [(last, len(expected) // 3)]
    assert lazy.filter(col("x").is_null()).collect().height == 0


def test_polars_reads_no_further_than_the_rows_that_are_requested(many_texts: Path) -> None:
    polars = pytest.importorskip("polars")
    lazy = assetq.scan(many_texts).to_polars()
    assert lazy.head(5).collect().height == 5
    assert lazy.filter(polars.col("text").str.ends_with("9")).head(5).collect().height == 5
    with pytest.raises(Exception, match="many.mo"):
        lazy.collect()


def test_conditions_leave_out_files_and_rows_that_cannot_match(ships: Path) -> None:
    scan = vertices(ships)
    first = scan.files[0].address
    assert [file.address for file in scan.prune(Condition("file", "in", (first, "other"))).files] == [first]
    assert scan.prune(Condition("file", "null")).files == ()
    assert scan.prune(Condition("file", ">", first)).files == scan.files[1:]
    # Rows for which the condition may hold are kept: the exact comparison is the query engine's.
    for condition, text in {
        Condition("x", ">", 0.1): "x >= 0.1",
        Condition("index", "in", (3, 5)): '"index" = 3 or "index" = 5',
        Condition("index", ">=", 3.5): None,
        Condition("x", "null"): None,
        Condition("index", "not null"): '"index" != null',
        Condition("nope", "=", 1): None,
    }.items():
        (part,) = scan.prune(condition).partitions()
        expected = assetq.open(first)["vertices"]
        assert len(next(part.tables())[1]) == len(expected if text is None else expected.where(text)), condition


def test_a_condition_never_leaves_out_a_row_that_an_engine_would_choose(ships: Path, samples: Path) -> None:
    scan = vertices(ships)
    x = max(row[0] for row in assetq.open(scan.files[0].address)["vertices"].columns("x"))
    # A double just below the greatest float is rounded to that float by the engine of assetq.
    (part,) = scan.prune(Condition("x", ">", float(np.nextafter(x, -1)))).partitions()
    assert any(row == (x,) for _, table in part.tables() for row in table.columns("x"))
    # An id in another form differs as a text, and texts of ids are compared.
    paths = assetq.scan(samples / "assets.bin", "paths")
    (part,) = paths.prune(Condition("id", "<", "0xF0")).partitions()
    assert [len(table) for _, table in part.tables()] == [len(assetq.open(samples / "assets.bin")["paths"])]
    for much in (1 << 200, float("inf"), float("nan"), 1e300, -1e-300):
        (part,) = scan.prune(Condition("index", "<", much), Condition("x", "<", much)).partitions()
        assert next(part.tables())


def test_conditions_of_all_kinds_keep_the_rows_that_match(samples: Path) -> None:
    polars = pytest.importorskip("polars")
    values = {"id64": "0x0000000000000001", "text": "it's", "bool": True, "f32": 0.5, "f64": -2.5, "int": -1, "uint": 3}
    seen = set()
    # The pixels beside the header of a texture are no file that opens by itself.
    for path in sorted(path for path in samples.iterdir() if path.suffix != ".imgb"):
        for name in assetq.open(path):
            table = assetq.open(path)[name]
            if "file" in map(str.lower, table.column_names):
                continue
            lazy = assetq.scan(path, name, skip_damaged=True).to_polars()
            for column in table.schema:
                if column.kind not in values or (path, column.kind) in seen:
                    continue
                seen.add((path, column.kind))
                whole = polars.DataFrame(table.columns(column.name).skip_damaged())
                cells = whole[column.name].drop_nulls().to_list()
                for value in [*cells[len(cells) // 2 :][:1], values[column.kind]]:
                    value = polars.lit(value, whole.schema[column.name])
                    cell = polars.col(column.name)
                    for holds in (cell == value, cell < value, cell >= value, cell.is_null(), cell.is_not_null()):
                        got = lazy.filter(holds).select(column.name).collect()
                        assert got.equals(whole.filter(holds)), (path, name, holds)


def test_damage_is_an_error_unless_it_is_left_out(ships: Path, tmp_path: Path) -> None:
    shutil.copytree(ships, tmp_path / "ships")
    damaged = tmp_path / "ships/a/bow.geometry"
    damaged.write_bytes(damaged.read_bytes()[:100])
    pattern = tmp_path / "ships/**/*.geometry"
    read = [table for part in assetq.scan(tmp_path / "ships/c/*.geometry").partitions() for table in part.tables()]
    assert len(read) == 1
    with pytest.raises(assetq.Error, match="bow.geometry"):
        for part in assetq.scan(pattern, "vertices").partitions():
            list(part.tables())
    with pytest.warns(UserWarning, match="bow.geometry: left out"):
        (part,) = assetq.scan(pattern, "vertices", skip_damaged=True).partitions()
        assert len(list(part.tables())) == 2


def test_the_first_file_is_the_first_one_that_can_be_read(ships: Path, tmp_path: Path) -> None:
    shutil.copytree(ships, tmp_path / "ships")
    first = tmp_path / "ships/a/b/stern.geometry"
    first.write_bytes(b"")
    pattern = tmp_path / "ships/**/*.geometry"
    with pytest.raises(assetq.Error, match="stern.geometry"):
        assetq.scan(pattern, "vertices")
    scan = assetq.scan(pattern, "vertices", skip_damaged=True)
    assert len(scan.files) == 3 and scan.column_names == assetq.scan(ships / "c/*.geometry", "vertices").column_names
    with pytest.warns(UserWarning, match="stern.geometry: left out"):
        assert sum(len(table) for part in scan.partitions() for _, table in part.tables()) > 0
    with pytest.raises(assetq.NotFoundError, match="nope"):
        assetq.scan(pattern, "nope", skip_damaged=True)
    for path in (tmp_path / "ships").glob("**/*.geometry"):
        path.write_bytes(b"")
    with pytest.raises(assetq.Error, match="stern.geometry"):
        assetq.scan(pattern, "vertices", skip_damaged=True)


@pytest.fixture
def damaged_row(samples: Path, tmp_path: Path) -> Path:
    """A database with a path that is its own parent, so that its row cannot be read."""
    data = bytearray((samples / "assets.bin").read_bytes())
    own = int(assetq.open(samples / "assets.bin")["paths"].numpy("id")[0]).to_bytes(8, "little")
    at = data.rindex(own)
    data[at + 8 : at + 16] = own
    path = tmp_path / "assets.bin"
    path.write_bytes(data)
    return path


def test_the_error_of_a_damaged_row_names_its_file(damaged_row: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    scan = assetq.scan(damaged_row, "paths")
    named = "assets.bin: .*paths"
    with pytest.raises(assetq.Error, match=named) as raised:
        scan.to_arrow().read_all()
    assert raised.value.file == str(damaged_row)
    with pytest.raises(Exception, match=named):
        pyarrow.table(scan)
    with pytest.raises(Exception, match=named):
        pyarrow.table(assetq.open(damaged_row)["paths"])
    polars = pytest.importorskip("polars")
    with pytest.raises(Exception, match=named):
        polars.DataFrame(assetq.open(damaged_row)["paths"])
    with pytest.raises(Exception, match=named):
        scan.to_polars().collect()
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(Exception, match=named):
        duckdb.sql("SELECT * FROM scan").fetchall()


def test_ray_names_the_file_of_a_damaged_row(damaged_row: Path) -> None:
    pytest.importorskip("ray.data")
    with pytest.raises(Exception, match="assets.bin: .*paths"):
        assetq.scan(damaged_row, "paths").to_ray().take_all()


def test_counts_leave_out_the_rows_that_lists_leave_out(damaged_row: Path) -> None:
    paths = assetq.open(damaged_row)["paths"]
    rows = list(paths.skip_damaged())
    assert 0 < len(rows) < len(paths)
    assert len(paths.skip_damaged()) == len(rows)
    scan = assetq.scan(damaged_row, "paths", skip_damaged=True).columns("file")
    with pytest.warns(UserWarning, match="rows left out"):
        assert sum(len(batch) for part in scan.partitions() for batch in part.batches()) == len(rows)


def test_files_in_an_archive(samples: Path) -> None:
    scan = assetq.scan(f"{samples / 'wows'}:content/gameplay/**/*.geometry", "vertices")
    assert len(scan.files) == 6 and all(file.size > 0 for file in scan.files)
    counts = [len(table) for part in scan.partitions() for _, table in part.tables()]
    assert counts == [len(assetq.open(file.address)["vertices"]) for file in scan.files]


def test_ray_reads_partitions(ships: Path) -> None:
    ray = pytest.importorskip("ray.data")
    data = vertices(ships).columns("file", "index").to_ray()
    rows = sorted((row["file"], row["index"]) for row in data.take_all())
    assert rows == sorted(rows_by_sql(ships, 'SELECT "index" FROM vertices'))


def test_a_block_of_ray_has_many_batches(many_texts: Path) -> None:
    pytest.importorskip("ray.data")
    scan = assetq.scan(many_texts, skip_damaged=True)
    data = scan.to_ray().materialize()
    assert (data.num_blocks(), data.count()) == (len(scan.partitions()), 49_999)


def test_spark_has_the_rows_of_sql(ships: Path, samples: Path, damaged_row: Path) -> None:
    """On two executors, each a process of its own."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    script = Path(__file__).with_name("spark_cluster.py")
    arguments = [sys.executable, script, ships, samples / "assets.bin", damaged_row]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-5000:]
    answers = json.loads(done.stdout)
    expected = rows_by_sql(ships, "SELECT count(*) FROM vertices WHERE x > 0.5")
    assert [tuple(row) for row in answers["counted"]] == expected
    # No query keeps the conditions of an earlier one.
    count = sum(row[1] for row in rows_by_sql(ships, "SELECT count(*) FROM vertices"))
    assert (answers["all"], answers["union"], answers["self_join"]) == (count, count, sum(row[1] for row in expected))
    assert answers["paths"] == [str(ships / "c/mid.geometry"), str(ships / "a/bow.geometry")]
    assert answers["by_id"] == 1
    assert "assets.bin: " in answers["damaged"]
    assert "no option pushdown (there are table, columns, where, partitionBytes, skipDamaged)" in answers["pushdown"]
    assert "partitionBytes takes a number of bytes, such as 67108864, not '64m'" in answers["partitionBytes"]
    assert "skipDamaged takes true or false, not 'yes'" in answers["skipDamaged"]
